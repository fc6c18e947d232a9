//! What a hook may decide, whatever it says.

mod rewrite;

use serde_json::Value;

use crate::{
    answer::{Answer, Note, Rule, RuleKind, respond_text},
    event::{Event, Input, Kind},
};

/// One power over an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Deny, or block.
    Deny,
    /// Ask the user.
    Ask,
    /// Allow without asking the user.
    Allow,
    /// Leave the call out.
    Skip,
    /// Give the tool's result.
    Respond,
    /// End the turn or the session.
    Abort,
}

/// Which parts of a tool's input, its output, a prompt or a model request a hook may rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// Everything.
    All,
    /// What these JSON pointers point at, and what is below. None of them: nothing.
    Only(Vec<String>),
}

/// What a hook may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// The decisions it may make.
    pub decide: Vec<Power>,
    /// What it may rewrite.
    pub rewrite: Rewrite,
    /// Whether it may add to the model's context (and set session environment variables).
    pub context: bool,
    /// Whether it may show the user a message.
    pub system_message: bool,
}

impl Authority {
    /// Deny, ask and context: the default for anything that is not local.
    pub fn gate() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask],
            rewrite: Rewrite::Only(Vec::new()),
            context: true,
            system_message: false,
        }
    }

    /// What a gate may, and rewrite everything, with the `allow` a rewrite needs.
    pub fn rewriter() -> Self {
        Self { decide: vec![Power::Deny, Power::Ask, Power::Allow], rewrite: Rewrite::All, ..Self::gate() }
    }

    /// Everything.
    pub fn trusted() -> Self {
        Self {
            decide: vec![Power::Deny, Power::Ask, Power::Allow, Power::Skip, Power::Respond, Power::Abort],
            rewrite: Rewrite::All,
            context: true,
            system_message: true,
        }
    }

    /// Takes out of an answer what exceeds this authority, towards safety, and tells what it took.
    ///
    /// - A decision becomes the nearest safer one that is granted, or none; never `allow`.
    /// - A halt becomes `deny`; on stop events, where `deny` means "keep going", it is dropped.
    /// - Of a rewrite only what is granted stays; all else is as the event has it. Another tool
    ///   ([`Answer::updated_tool`]) needs [`Rewrite::All`]: no pointer points at a tool's name.
    /// - [`Answer::updated_permissions`] needs `allow`, [`Answer::interrupt`] needs `abort`, [`Answer::env`] is context.
    /// - [`Answer::extra`] needs everything there is: nobody knows what a field that the contract does not know decides.
    /// - [`Answer::suppress_output`] hides only what the hook itself printed, so everybody may.
    pub fn limit(&self, event: &Event, answer: &mut Answer) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.is_everything() {
            return notes;
        }
        self.limit_halt(event.kind(), answer, &mut notes);
        self.limit_rule(event.kind(), answer, &mut notes);
        self.limit_rewrite(event, answer, &mut notes);
        let mut drop = |granted: bool, there: bool, what: &str| {
            if there && !granted {
                notes.push(Note::dropped(format!("this hook may not {what}")));
            }
            there && !granted
        };
        if drop(self.may(Power::Allow), answer.updated_permissions.is_some(), "change permissions: that needs allow") {
            answer.updated_permissions = None;
        }
        if drop(self.may(Power::Abort), answer.interrupt, "end the turn with its denial: that needs abort") {
            answer.interrupt = false;
        }
        if drop(self.context, answer.context.is_some(), "add context") {
            answer.context = None;
        }
        if drop(self.context, !answer.env.is_empty(), "set environment variables: that needs context") {
            answer.env.clear();
        }
        if drop(self.system_message, answer.system_message.is_some(), "show the user a message") {
            answer.system_message = None;
        }
        if drop(false, !answer.extra.is_empty(), "pass fields through that the contract does not know") {
            answer.extra.clear();
        }
        notes
    }

    fn is_everything(&self) -> bool {
        Power::ALL.iter().all(|power| self.may(*power))
            && self.rewrite == Rewrite::All
            && self.context
            && self.system_message
    }

    fn may(&self, power: Power) -> bool {
        self.decide.contains(&power)
    }

    /// What is said instead of `rule` on an event of this kind.
    fn nearest(&self, kind: Kind, rule: RuleKind) -> Option<RuleKind> {
        instead(rule).iter().copied().find(|to| {
            // Where nobody is asked for a permission, `ask` would be degraded to the denial that is not granted.
            let sayable = *to == rule || *to != RuleKind::Ask || asks(kind);
            sayable && self.may(power(*to))
        })
    }

    fn limit_halt(&self, kind: Kind, answer: &mut Answer, notes: &mut Vec<Note>) {
        if self.may(Power::Abort) {
            return;
        }
        let Some(halt) = answer.halt.take() else { return };
        let keeps_going = matches!(kind, Kind::Stop | Kind::SubagentStop);
        match self.nearest(kind, RuleKind::Deny).filter(|_| !keeps_going) {
            Some(to) => {
                if answer.rule_kind() != Some(RuleKind::Deny) {
                    (answer.rule, answer.reason) = (plain(to), halt.reason);
                }
                notes.push(Note::dropped(format!("this hook may not abort; it says {}", to.word())));
            }
            None => notes.push(Note::dropped("this hook may not abort")),
        }
    }

    fn limit_rule(&self, kind: Kind, answer: &mut Answer, notes: &mut Vec<Note>) {
        let Some(from) = answer.rule_kind() else { return };
        let to = self.nearest(kind, from);
        if to == Some(from) {
            return;
        }
        if let Some(Rule::Respond(result)) = &answer.rule {
            answer.reason = Some(respond_text(result));
        }
        answer.rule = to.and_then(plain);
        let word = from.word();
        if let Some(to) = to {
            notes.push(Note::dropped(format!("this hook may not {word}; it says {}", to.word())));
        } else {
            answer.reason = None;
            notes.push(Note::dropped(format!("this hook may not {word}")));
        }
    }

    fn limit_rewrite(&self, event: &Event, answer: &mut Answer, notes: &mut Vec<Note>) {
        let Rewrite::Only(pointers) = &self.rewrite else { return };
        let Some(wanted) = answer.updated.take() else {
            if answer.updated_tool.take().is_some() {
                lose_rewrite(event.kind(), answer);
                notes.push(Note::dropped("this hook may not run another tool instead"));
            }
            return;
        };
        let old = carried(event);
        // The new input was made for the other tool.
        let kept = match answer.updated_tool.take() {
            Some(_) => old.clone(),
            None => rewrite::granted(&old, &wanted, pointers),
        };
        let all_kept = kept == wanted;
        if kept != old {
            answer.updated = Some(kept);
            if !all_kept {
                notes.push(Note::dropped("this hook may not rewrite all that it did; the rest is as it was"));
            }
        } else if !all_kept {
            lose_rewrite(event.kind(), answer);
            notes.push(Note::dropped("this hook may not rewrite this"));
        }
    }
}

impl Power {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Deny, Self::Ask, Self::Allow, Self::Skip, Self::Respond, Self::Abort];
}

/// The power a decision needs. To defer is to leave it to the client, which then asks.
const fn power(rule: RuleKind) -> Power {
    match rule {
        RuleKind::Allow => Power::Allow,
        RuleKind::Defer | RuleKind::Ask => Power::Ask,
        RuleKind::Skip => Power::Skip,
        RuleKind::Respond => Power::Respond,
        RuleKind::Deny => Power::Deny,
    }
}

/// For each decision, what may be said instead: the first that is granted, or nothing. All of it is as safe or safer,
/// but for a denial that may not be: there asking is as near as it gets.
const fn instead(rule: RuleKind) -> &'static [RuleKind] {
    match rule {
        RuleKind::Allow => &[RuleKind::Allow],
        RuleKind::Defer => &[RuleKind::Defer, RuleKind::Deny],
        RuleKind::Ask => &[RuleKind::Ask, RuleKind::Deny],
        RuleKind::Skip => &[RuleKind::Skip, RuleKind::Deny, RuleKind::Ask],
        RuleKind::Respond => &[RuleKind::Respond, RuleKind::Deny, RuleKind::Ask],
        RuleKind::Deny => &[RuleKind::Deny, RuleKind::Ask],
    }
}

/// The rules that carry nothing.
const fn plain(kind: RuleKind) -> Option<Rule> {
    match kind {
        RuleKind::Allow => Some(Rule::Allow),
        RuleKind::Ask => Some(Rule::Ask),
        RuleKind::Defer => Some(Rule::Defer),
        RuleKind::Deny => Some(Rule::Deny),
        RuleKind::Skip => Some(Rule::Skip),
        RuleKind::Respond => None,
    }
}

/// Whether the event is a question for a permission.
const fn asks(kind: Kind) -> bool {
    matches!(kind, Kind::PreToolUse | Kind::PermissionRequest | Kind::CanUseTool)
}

/// The permission was for the rewritten call, as in [`crate::degrade`].
fn lose_rewrite(kind: Kind, answer: &mut Answer) {
    if asks(kind) && answer.rule_kind() == Some(RuleKind::Allow) {
        (answer.rule, answer.reason) = (None, None);
    }
}

/// What an answer's [`Answer::updated`] would replace.
fn carried(event: &Event) -> Value {
    match (&event.input, &event.call) {
        (Input::PreToolUse(_) | Input::PermissionRequest(_) | Input::CanUseTool(_), Some(call)) => call.input.clone(),
        (Input::PostToolUse(input), _) => input.output.clone().unwrap_or_default(),
        (Input::UserPromptSubmit(input), _) => input.prompt.clone().into(),
        (Input::BeforeLlm(input), _) => {
            let members = [
                ("model", input.model.clone().map(Into::into)),
                ("messages", input.messages.clone()),
                ("tools", input.tools.clone()),
                ("options", input.options.clone()),
            ];
            members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
        }
        (Input::AfterLlm(input), _) => input.response.clone().unwrap_or_default(),
        _ => Value::Null,
    }
}
