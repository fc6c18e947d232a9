//! Random sets of hooks, and the laws of decisions.md, "Authority", that their outcome must obey.

use hookbox_protocol::{
    Decision, Dialect, Event, EventKind, Halt, HookOutput, Scope,
    authority::{Authority, Power, Rewrite, express, merge},
    dialect::{self, EventSpec},
    event::Input,
    output::RewriteBounds,
};
use serde_json::{Value, json};

use crate::event;

/// One hook. Without an authority it is a command, which may do everything.
#[derive(Debug, Clone)]
pub struct Hook {
    authority: Option<Authority>,
    said: HookOutput,
}

impl Hook {
    fn may(&self, power: Power) -> bool {
        self.authority.as_ref().is_none_or(|authority| authority.decide.contains(&power))
    }
}

/// Derives choices from bytes; 0 when no bytes are left.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or_default()) % bound
    }
    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
    fn some<T>(&mut self, item: T) -> Option<T> {
        (self.below(2) == 1).then_some(item)
    }
}

/// Returns the value that every event carries here.
fn carried() -> Value {
    json!({ "n": 1, "s": "secret", "o": { "a": "secret", "b": 2 }, "l": [1, "secret"] })
}

const POINTERS: [&str; 9] = ["", "/n", "/s", "/o", "/o/a", "/o/new", "/l", "/l/1", "/new"];

/// Creates up to five hooks. All values from a hook contain its number.
pub fn hooks(data: &[u8]) -> Vec<Hook> {
    let mut choices = Choices(data.iter());
    let count = 1 + choices.below(5);
    (0..count).map(|number| hook(number, &mut choices)).collect()
}

fn hook(number: usize, choices: &mut Choices<'_>) -> Hook {
    let authority = (choices.below(4) > 0).then(|| Authority {
        decide: Power::ALL.into_iter().filter(|_| choices.below(2) == 1).collect(),
        rewrite: match choices.below(4) {
            0 => Rewrite::All,
            // Granting the whole prompt or list is likely, but too many such grants would hide the others.
            some => Rewrite::Only((0..some).map(|_| choices.of(&POINTERS).to_owned()).collect()),
        },
        context: choices.below(2) == 1,
        system_message: choices.below(2) == 1,
        env: choices.of(&[vec![], vec!["*".to_owned()], vec![format!("E{number}")]]),
    });
    let text = |what: &str| format!("{what}-{number}.");
    let decisions = [Decision::Allow, Decision::Ask, Decision::Defer, Decision::Deny, Decision::Skip];
    let decision = match choices.below(16) {
        0..=6 => None,
        7..=12 => Some(Decision::Allow),
        13 => Some(Decision::Respond(json!({ "for_llm": text("respond") }))),
        _ => Some(choices.of(&decisions)),
    };
    let halt = (choices.below(10) == 1)
        .then(|| Halt { scope: choices.of(&[Scope::Turn, Scope::Session]), reason: Some(text("halt")) });
    let object = |key: String| [(key, json!(text("value")))].into_iter().collect();
    let said = HookOutput {
        decision,
        reason: choices.some(text("reason")),
        updated: (choices.below(3) > 0).then(|| rewritten(number, choices)),
        updated_tool: (choices.below(6) == 1).then(|| text("tool")),
        interrupt: choices.below(4) == 1,
        context: choices.some(text("context")),
        system_message: choices.some(text("message")),
        suppress_output: choices.below(3) == 1,
        halt,
        env: choices.some(object(format!("E{number}"))).unwrap_or_default(),
        extra: choices.some(object(format!("extra{number}"))).unwrap_or_default(),
        ..HookOutput::default()
    };
    Hook { authority, said }
}

/// Returns the carried value with some parts changed by pointer.
fn rewritten(number: usize, choices: &mut Choices<'_>) -> Value {
    let mut value = carried();
    for _ in 0..=choices.below(4) {
        let text = format!("rewrite-{number}.");
        let new = choices.of(&[
            json!(text),
            json!({ "a": text, "b": 2 }),
            json!([text]),
            json!([1, text]),
            json!({ "b": 2 }),
        ]);
        match choices.below(9) {
            0 => value = new,
            1 => drop(value.as_object_mut().map(|o| o.shift_remove("o"))),
            2 => drop(value.as_object_mut().map(|o| o.insert("new".into(), new))),
            3 => drop(value.pointer_mut("/o").and_then(Value::as_object_mut).map(|o| o.insert("new".into(), new))),
            other => drop(value.pointer_mut(POINTERS[other % 8 + 1]).map(|place| *place = new)),
        }
    }
    value
}

/// Creates an event of this row that carries [`carried`].
fn carrying(spec: &EventSpec) -> Event {
    let mut event = event(spec);
    if let Some(call) = &mut event.call {
        call.input = carried().into();
    }
    match &mut event.input {
        Input::PostToolUse(result) => result.output = Some(carried().into()),
        Input::AfterLlm(answered) => answered.response = Some(carried().into()),
        Input::BeforeLlm(request) => {
            request.messages = Some(json!(["m"]).into());
            request.options = Some(carried().into());
        }
        _ => {}
    }
    event
}

/// Returns the final value that the client uses.
fn value(event: &Event, outcome: &HookOutput) -> Value {
    let original = match (&event.input, &event.call) {
        (Input::PostToolUse(result), _) => result.output.clone().map(Value::from),
        (Input::AfterLlm(answered), _) => answered.response.clone().map(Value::from),
        (Input::UserPromptSubmit(prompt), _) => Some(prompt.prompt.clone().into()),
        (Input::BeforeLlm(request), _) => {
            let mut members = json!({ "messages": request.messages, "options": request.options });
            let others =
                [("model", request.model.clone().map(Value::from)), ("tools", request.tools.clone().map(Value::from))];
            for (name, member) in others {
                members.as_object_mut().unwrap().extend(member.map(|member| (name.to_owned(), member)));
            }
            Some(members)
        }
        (_, Some(call)) => Some(call.input.clone().into()),
        _ => None,
    };
    outcome.updated.clone().or(original).unwrap_or_default()
}

/// Returns the outcome of the hooks, as the pipeline computes it. Rewrites of hooks for which `keep` is false are
/// dropped, and their other output is kept.
fn outcome(dialect: &dyn Dialect, event: &Event, hooks: &[Hook], keep: impl Fn(usize) -> bool) -> HookOutput {
    let mut seen = event.clone();
    let mut outputs = Vec::new();
    for (index, hook) in hooks.iter().enumerate() {
        let mut output = counted(dialect, &seen, hook);
        if !keep(index) {
            (output.updated, output.rewrite_bounds) = (None, RewriteBounds::default());
        }
        let last = dialect.stops(&seen, &output);
        dialect.rewrite(&mut seen, &output);
        outputs.push(output);
        if last {
            break;
        }
    }
    merge(dialect, event, &outputs).output
}

fn counted(dialect: &dyn Dialect, event: &Event, hook: &Hook) -> HookOutput {
    let mut output = hook.said.clone();
    // The form of the value depends on the kind of event.
    output.updated = output.updated.map(|updated| match event.kind() {
        EventKind::UserPromptSubmit => updated.to_string().into(),
        EventKind::BeforeLlm => json!({ "messages": ["m"], "options": updated }),
        _ => updated,
    });
    if let Some(authority) = &hook.authority {
        authority.limit(dialect, event, &mut output);
    }
    express(dialect, event, hook.authority.as_ref(), &mut output);
    output
}

fn everywhere(mut law: impl FnMut(&'static dyn Dialect, &EventSpec, &Event)) {
    for dialect in dialect::ALL {
        for spec in dialect.specs().iter().chain([dialect.other_spec()]) {
            law(*dialect, spec, &carrying(spec));
        }
    }
}

/// "No hook without authority over a value changes it in the verdict, whatever others say and in whatever order."
pub fn rewrites_stay_within_authority(hooks: &[Hook]) {
    everywhere(|dialect, spec, event| {
        if !spec.expressible.rewrite {
            return;
        }
        let with = outcome(dialect, event, hooks, |_| true);
        for (index, hook) in hooks.iter().enumerate() {
            let Some(Authority { rewrite: Rewrite::Only(pointers), .. }) = &hook.authority else { continue };
            let without = outcome(dialect, event, hooks, |other| other != index);
            let refuses = |output: &HookOutput| {
                output.halt.is_some() || matches!(output.decision, Some(Decision::Deny | Decision::Skip))
            };
            if refuses(&with) || refuses(&without) {
                // A refusal uses no value. A rewrite that the dialect cannot express is a refusal, too.
                continue;
            }
            let permission = matches!(event.kind(), EventKind::PermissionRequest | EventKind::CanUseTool);
            if permission && with.decision != without.decision {
                // Dropping the rewrite drops the hook's own allow, and all rewrites need that allow.
                continue;
            }
            let mut places = Vec::new();
            differences(&mut Vec::new(), Some(&value(event, &with)), Some(&value(event, &without)), &mut places);
            for place in places {
                let granted =
                    pointers.iter().any(|p| place == *p || p.is_empty() || place.starts_with(&format!("{p}/")));
                assert!(granted, "{} {}: {index} changed {place}\n{hooks:#?}", dialect.name(), spec.name);
            }
        }
    });
}

/// Collects the paths at which two values differ.
fn differences(at: &mut Vec<String>, one: Option<&Value>, other: Option<&Value>, found: &mut Vec<String>) {
    let mut below = |key: String, one: Option<&Value>, other: Option<&Value>| {
        at.push(key);
        differences(at, one, other, found);
        at.pop();
    };
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                below(key.clone(), one.get(key), other.get(key));
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            one.iter()
                .zip(other)
                .enumerate()
                .for_each(|(i, (one, other))| below(i.to_string(), Some(one), Some(other)));
        }
        _ if one == other => {}
        _ => found.push(at.iter().flat_map(|key| ["/", key.as_str()]).collect()),
    }
}

/// "An `allow` never covers a rewrite of a hook that may not allow", and an `allow` is for the whole of the rewrite
/// beside it.
pub fn allows_stay_within_authority(hooks: &[Hook]) {
    everywhere(|dialect, spec, event| {
        let allows = |output: &HookOutput| output.decision == Some(Decision::Allow);
        let outcome = outcome(dialect, event, hooks, |_| true);
        let (updated, tool) = (value(event, &outcome).to_string(), outcome.updated_tool.clone().unwrap_or_default());
        let place = || format!("{} {}\n{hooks:#?}\n{outcome:#?}", dialect.name(), spec.name);
        for (index, hook) in hooks.iter().enumerate() {
            let may = hook.may(Power::Allow);
            assert!(may || !allows(&outcome) || !updated.contains(&format!("rewrite-{index}.")), "{index} {}", place());
            assert!(may || !allows(&outcome) || !tool.contains(&format!("tool-{index}.")), "{index} {}", place());
            let counted = counted(dialect, event, hook);
            let said = &hook.said;
            if event.kind() == EventKind::PreToolUse && allows(said) && allows(&counted) {
                let same = said.updated == Some(carried());
                assert!(counted.updated == said.updated || same && counted.updated.is_none(), "{index} {}", place());
                assert_eq!(counted.updated_tool, said.updated_tool, "{index} {}", place());
            }
        }
    });
}

/// "Authority applies to the form in the verdict".
pub fn text_stays_within_authority(hooks: &[Hook]) {
    everywhere(|dialect, spec, event| {
        let outcome = outcome(dialect, event, hooks, |_| true);
        let place = || format!("{} {}\n{hooks:#?}\n{outcome:#?}", dialect.name(), spec.name);
        let of = |text: &Option<String>, index| text.as_ref().is_some_and(|text| text.contains(&format!("-{index}.")));
        for (index, hook) in hooks.iter().enumerate() {
            let Some(authority) = &hook.authority else { continue };
            let Authority { context, system_message, env, .. } = authority;
            assert!(*context || !of(&outcome.context, index), "context of {index}: {}", place());
            let message = *system_message && (*context || !dialect.name().starts_with("claude"));
            assert!(message || !of(&outcome.system_message, index), "message of {index}: {}", place());
            assert!(!env.is_empty() || !outcome.env.contains_key(&format!("E{index}")), "env of {index}: {}", place());
            let everything = *authority == Authority::trusted();
            assert!(
                everything || !outcome.extra.contains_key(&format!("extra{index}")),
                "extra of {index}: {}",
                place()
            );
        }
        let may_hide = |hook: &Hook| hook.authority.as_ref().is_none_or(|authority| authority.system_message);
        let hides = hooks.iter().any(|hook| hook.said.suppress_output && may_hide(hook));
        assert!(hides || !outcome.suppress_output, "hidden: {}", place());
    });
}
