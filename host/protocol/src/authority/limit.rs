//! Cutting down what one hook says.

use super::{Authority, Power, Rewrite, env, rewrite};
use crate::{
    Dialect,
    degrade::{degrade, lose_allow},
    event::{Event, EventKind},
    output::{Decision, DecisionKind, HookOutput, Note, RewriteBounds, respond_text},
    protocol::EventSpec,
};

/// Makes an output sayable under the event's row ([`degrade`]), and takes out the words that become something the hook
/// has no authority for on the way: a reason that becomes context, context that becomes a message. Without an authority
/// there is nothing it may not say.
pub fn express(
    dialect: &dyn Dialect,
    event: &Event,
    authority: Option<&Authority>,
    output: &mut HookOutput,
) -> Vec<Note> {
    let spec = dialect.spec_of(event);
    let mut notes = Vec::new();
    if output.updated_tool.is_some() && !dialect.rewrites_tool(event.kind()) {
        output.updated_tool = None;
        lose_allow(spec, output);
        notes.push(Note::dropped(format!("{} has no place for another tool", spec.name)));
    }
    notes.extend(degrade(spec, output));
    if let Some(authority) = authority {
        authority.limit_words(dialect, output, &mut notes);
    }
    if output.updated.is_none() && output.updated_tool.is_none() {
        output.rewrite_bounds = RewriteBounds::default();
    }
    notes
}

impl Authority {
    /// Takes out of an output what exceeds this authority, towards safety, and tells what it took.
    ///
    /// - A decision becomes the nearest safer one that is granted, or none; never `allow`.
    /// - A halt becomes `deny`; on stop events, where `deny` means "keep going", it is dropped.
    /// - Of a rewrite only what is granted stays; all else is as the event has it. Another tool
    ///   ([`HookOutput::updated_tool`]) needs [`Rewrite::All`]: no pointer points at a tool's name. When any part of it is
    ///   lost, so is the `allow` beside it, which was for the whole.
    /// - [`HookOutput::updated_permissions`] needs `allow`, [`HookOutput::interrupt`] needs `abort`.
    /// - [`HookOutput::env`] needs a grant of the name; some names are refused to everybody, also
    ///   where the dialect does not know the field.
    /// - [`HookOutput::system_message`] needs `context` too, where the dialect's client gives it to the model.
    /// - [`HookOutput::suppress_output`] hides what all hooks say, so it needs the authority for messages to the user.
    /// - [`HookOutput::extra`] needs everything there is: nobody knows what a field that the contract does not know decides.
    pub fn limit(&self, dialect: &dyn Dialect, event: &Event, output: &mut HookOutput) -> Vec<Note> {
        let mut notes = Vec::new();
        self.limit_halt(event.kind(), output, &mut notes);
        self.limit_decision(event.kind(), output, &mut notes);
        self.limit_rewrite(dialect.spec_of(event), event, output, &mut notes);
        if !self.may(Power::Allow) && output.updated_permissions.take().is_some() {
            lost(&mut notes, "change permissions: that needs allow");
        }
        if !self.may(Power::Abort) && std::mem::take(&mut output.interrupt) {
            lost(&mut notes, "end the turn with its denial: that needs abort");
        }
        self.limit_words(dialect, output, &mut notes);
        env::limit(&self.env, &mut output.env, &mut notes);
        if !self.is_everything() && !output.extra.is_empty() {
            output.extra.clear();
            lost(&mut notes, "pass fields through that the contract does not know");
        }
        env::limit_unknown(&mut output.extra, &mut notes);
        notes
    }

    fn limit_words(&self, dialect: &dyn Dialect, output: &mut HookOutput, notes: &mut Vec<Note>) {
        if !self.context && output.context.take().or(output.feedback.take()).is_some() {
            lost(notes, "add context");
        }
        if !self.system_message && output.system_message.take().is_some() {
            lost(notes, "show the user a message");
        }
        if !self.context && dialect.message_is_context() && output.system_message.take().is_some() {
            lost(notes, "show a message that the model reads: that needs context");
        }
        if !self.system_message && std::mem::take(&mut output.suppress_output) {
            lost(notes, "hide what hooks print: that needs systemMessage");
        }
    }

    fn is_everything(&self) -> bool {
        Power::ALL.iter().all(|power| self.may(*power))
            && self.rewrite == Rewrite::All
            && self.context
            && self.system_message
            && self.env.iter().any(|name| name == env::ANY)
    }

    fn may(&self, power: Power) -> bool {
        self.decide.contains(&power)
    }

    /// What is said instead of `decision` on an event of this kind.
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

    fn limit_rewrite(&self, spec: &EventSpec, event: &Event, output: &mut HookOutput, notes: &mut Vec<Note>) {
        if let Rewrite::Only(pointers) = &self.rewrite {
            let wanted = output.updated.take();
            let other_tool = output.updated_tool.take().is_some();
            let mut part_lost = other_tool;
            if let Some(wanted) = wanted {
                let old = rewrite::carried(event);
                // The new input was made for the other tool.
                let kept = if other_tool { old.clone() } else { rewrite::granted(&old, &wanted, pointers) };
                part_lost |= kept != wanted;
                output.updated = Some(kept).filter(|kept| *kept != old);
            }
            if part_lost {
                lose_allow(spec, output);
                let rest = if output.updated.is_some() { "all that it did; the rest is as it was" } else { "this" };
                lost(notes, &format!("rewrite {rest}"));
            }
        }
        if output.updated.is_some() || output.updated_tool.is_some() {
            output.rewrite_bounds =
                RewriteBounds { change: matches!(self.rewrite, Rewrite::Only(_)), uncovered: !self.may(Power::Allow) };
        }
    }
}

/// Takes a rewrite out, as [`Authority::limit`] does where nothing of it is granted.
pub(super) fn lost_alone(spec: &EventSpec, output: &mut HookOutput) {
    (output.updated, output.updated_tool) = (None, None);
    lose_allow(spec, output);
}

fn lost(notes: &mut Vec<Note>, what: &str) {
    let note = Note::dropped(format!("this hook may not {what}"));
    if !notes.contains(&note) {
        notes.push(note);
    }
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
