//! Limits the output of one hook to its authority.

use super::{Authority, Power, Rewrite, env, rewrite};
use crate::{
    Dialect,
    degrade::{degrade, lose_allow},
    event::{Event, EventKind},
    output::{Decision, DecisionKind, HookOutput, Note, RewriteBounds, respond_text},
    protocol::EventSpec,
};

/// Degrades an output to what the event's row can express ([`degrade`]). It removes texts that would turn into
/// something beyond the hook's authority, such as a reason that becomes context. Without an `authority`, nothing is
/// removed.
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
    /// Removes or reduces the parts of an output that exceed this authority, always to something safer. The notes
    /// report them.
    ///
    /// - A decision becomes the nearest safer one that is granted, or none. It never becomes `allow`.
    /// - A halt becomes `deny`. On stop events, where `deny` means "keep going", it is dropped.
    /// - A rewrite keeps the granted parts; the others are as in the event. Another tool ([`HookOutput::updated_tool`])
    ///   needs [`Rewrite::All`], because no pointer names the tool. If a part is lost, the `allow` for the whole is lost too.
    /// - [`HookOutput::updated_permissions`] needs `allow`, [`HookOutput::interrupt`] needs `abort`.
    /// - [`HookOutput::env`] needs a grant of the name. Some names are always refused, even in fields unknown to the
    ///   dialect.
    /// - [`HookOutput::system_message`] needs `context` too, if the dialect's client gives it to the model.
    /// - [`HookOutput::suppress_output`] needs the authority for messages to the user, because it hides the output of
    ///   all hooks.
    /// - [`HookOutput::extra`] needs full authority, because the effect of an unknown field is unknown.
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

    /// The decision that replaces `decision` on an event of this kind.
    fn nearest(&self, kind: EventKind, decision: DecisionKind) -> Option<DecisionKind> {
        instead(decision).iter().copied().find(|to| {
            // On other events `ask` would be degraded to the denial that is not granted.
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
                let granted_part = if other_tool { old.clone() } else { rewrite::granted(&old, &wanted, pointers) };
                part_lost |= granted_part != wanted;
                output.updated = Some(granted_part).filter(|granted_part| *granted_part != old);
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

/// Removes a rewrite in the same way as [`Authority::limit`] does if no part of it is granted.
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

/// The authority that a decision needs. `defer` needs the authority to ask, because the client asks later.
const fn power(decision: DecisionKind) -> Power {
    match decision {
        DecisionKind::Allow => Power::Allow,
        DecisionKind::Defer | DecisionKind::Ask => Power::Ask,
        DecisionKind::Skip => Power::Skip,
        DecisionKind::Respond => Power::Respond,
        DecisionKind::Deny => Power::Deny,
    }
}

/// The replacements for each decision: the first one that is granted, or nothing. All are as safe or safer, except for
/// a denial that is not granted. `ask` is the nearest replacement for it.
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

/// The decisions without data.
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

/// Returns true if the event asks for a permission.
const fn asks(kind: EventKind) -> bool {
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
}
