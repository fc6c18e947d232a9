//! What a hook may decide, whatever it says.

mod rewrite;

use serde_json::Value;

use crate::{
    event::{Event, EventKind, Input},
    output::{Decision, DecisionKind, HookOutput, Note, respond_text},
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

    /// Takes out of an output what exceeds this authority, towards safety, and tells what it took.
    ///
    /// - A decision becomes the nearest safer one that is granted, or none; never `allow`.
    /// - A halt becomes `deny`; on stop events, where `deny` means "keep going", it is dropped.
    /// - Of a rewrite only what is granted stays; all else is as the event has it. Another tool
    ///   ([`HookOutput::updated_tool`]) needs [`Rewrite::All`]: no pointer points at a tool's name.
    /// - [`HookOutput::updated_permissions`] needs `allow`, [`HookOutput::interrupt`] needs `abort`, [`HookOutput::env`] is context.
    /// - [`HookOutput::extra`] needs everything there is: nobody knows what a field that the contract does not know decides.
    /// - [`HookOutput::suppress_output`] hides only what the hook itself printed, so everybody may.
    pub fn limit(&self, event: &Event, output: &mut HookOutput) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.is_everything() {
            return notes;
        }
        self.limit_halt(event.kind(), output, &mut notes);
        self.limit_decision(event.kind(), output, &mut notes);
        self.limit_rewrite(event, output, &mut notes);
        let mut drop = |granted: bool, there: bool, what: &str| {
            if there && !granted {
                notes.push(Note::dropped(format!("this hook may not {what}")));
            }
            there && !granted
        };
        if drop(self.may(Power::Allow), output.updated_permissions.is_some(), "change permissions: that needs allow") {
            output.updated_permissions = None;
        }
        if drop(self.may(Power::Abort), output.interrupt, "end the turn with its denial: that needs abort") {
            output.interrupt = false;
        }
        if drop(self.context, output.context.is_some(), "add context") {
            output.context = None;
        }
        if drop(self.context, !output.env.is_empty(), "set environment variables: that needs context") {
            output.env.clear();
        }
        if drop(self.system_message, output.system_message.is_some(), "show the user a message") {
            output.system_message = None;
        }
        if drop(false, !output.extra.is_empty(), "pass fields through that the contract does not know") {
            output.extra.clear();
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
    fn nearest(&self, kind: EventKind, decision: DecisionKind) -> Option<DecisionKind> {
        instead(decision).iter().copied().find(|to| {
            // Where nobody is asked for a permission, `ask` would be degraded to the denial that is not granted.
            let sayable = *to == decision || *to != DecisionKind::Ask || asks(kind);
            sayable && self.may(power(*to))
        })
    }

    fn limit_halt(&self, kind: EventKind, output: &mut HookOutput, notes: &mut Vec<Note>) {
        if self.may(Power::Abort) {
            return;
        }
        let Some(halt) = output.halt.take() else { return };
        let keeps_going = matches!(kind, EventKind::Stop | EventKind::SubagentStop);
        match self.nearest(kind, DecisionKind::Deny).filter(|_| !keeps_going) {
            Some(to) => {
                if output.decision_kind() != Some(DecisionKind::Deny) {
                    (output.decision, output.reason) = (plain(to), halt.reason);
                }
                notes.push(Note::dropped(format!("this hook may not abort; it says {}", to.word())));
            }
            None => notes.push(Note::dropped("this hook may not abort")),
        }
    }

    fn limit_decision(&self, kind: EventKind, output: &mut HookOutput, notes: &mut Vec<Note>) {
        let Some(from) = output.decision_kind() else { return };
        let to = self.nearest(kind, from);
        if to == Some(from) {
            return;
        }
        if let Some(Decision::Respond(result)) = &output.decision {
            output.reason = Some(respond_text(result));
        }
        output.decision = to.and_then(plain);
        let word = from.word();
        if let Some(to) = to {
            notes.push(Note::dropped(format!("this hook may not {word}; it says {}", to.word())));
        } else {
            output.reason = None;
            notes.push(Note::dropped(format!("this hook may not {word}")));
        }
    }

    fn limit_rewrite(&self, event: &Event, output: &mut HookOutput, notes: &mut Vec<Note>) {
        let Rewrite::Only(pointers) = &self.rewrite else { return };
        let Some(wanted) = output.updated.take() else {
            if output.updated_tool.take().is_some() {
                lose_rewrite(event.kind(), output);
                notes.push(Note::dropped("this hook may not run another tool instead"));
            }
            return;
        };
        let old = carried(event);
        // The new input was made for the other tool.
        let kept = match output.updated_tool.take() {
            Some(_) => old.clone(),
            None => rewrite::granted(&old, &wanted, pointers),
        };
        let all_kept = kept == wanted;
        if kept != old {
            output.updated = Some(kept);
            if !all_kept {
                notes.push(Note::dropped("this hook may not rewrite all that it did; the rest is as it was"));
            }
        } else if !all_kept {
            lose_rewrite(event.kind(), output);
            notes.push(Note::dropped("this hook may not rewrite this"));
        }
    }
}

impl Power {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Deny, Self::Ask, Self::Allow, Self::Skip, Self::Respond, Self::Abort];
}

/// The power a decision needs. To defer is to leave it to the client, which then asks.
const fn power(decision: DecisionKind) -> Power {
    match decision {
        DecisionKind::Allow => Power::Allow,
        DecisionKind::Defer | DecisionKind::Ask => Power::Ask,
        DecisionKind::Skip => Power::Skip,
        DecisionKind::Respond => Power::Respond,
        DecisionKind::Deny => Power::Deny,
    }
}

/// For each decision, what may be said instead: the first that is granted, or nothing. All of it is as safe or safer,
/// but for a denial that may not be: there asking is as near as it gets.
const fn instead(decision: DecisionKind) -> &'static [DecisionKind] {
    match decision {
        DecisionKind::Allow => &[DecisionKind::Allow],
        DecisionKind::Defer => &[DecisionKind::Defer, DecisionKind::Deny],
        DecisionKind::Ask => &[DecisionKind::Ask, DecisionKind::Deny],
        DecisionKind::Skip => &[DecisionKind::Skip, DecisionKind::Deny, DecisionKind::Ask],
        DecisionKind::Respond => &[DecisionKind::Respond, DecisionKind::Deny, DecisionKind::Ask],
        DecisionKind::Deny => &[DecisionKind::Deny, DecisionKind::Ask],
    }
}

/// The rules that carry nothing.
const fn plain(kind: DecisionKind) -> Option<Decision> {
    match kind {
        DecisionKind::Allow => Some(Decision::Allow),
        DecisionKind::Ask => Some(Decision::Ask),
        DecisionKind::Defer => Some(Decision::Defer),
        DecisionKind::Deny => Some(Decision::Deny),
        DecisionKind::Skip => Some(Decision::Skip),
        DecisionKind::Respond => None,
    }
}

/// Whether the event is a question for a permission.
const fn asks(kind: EventKind) -> bool {
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
}

/// The permission was for the rewritten call, as in [`crate::degrade`].
fn lose_rewrite(kind: EventKind, output: &mut HookOutput) {
    if asks(kind) && output.decision_kind() == Some(DecisionKind::Allow) {
        (output.decision, output.reason) = (None, None);
    }
}

/// What an output's [`HookOutput::updated`] would replace.
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
