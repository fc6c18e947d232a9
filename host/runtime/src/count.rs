//! The part of a hook's output that counts: after the failure policy, the authority and degradation.

use hookbox_protocol::{
    Cause, DecisionKind, Dialect, Event, EventKind, Failure, FailurePolicy, HookOutput, Note, NoteKind,
    authority::{Authority, express, keep_digits},
    dialect::{EventSpec, is_same_client},
    failure::failed_output,
    json::Object,
    output::{RewriteBounds, is_deciding},
};
use hookbox_sandbox::Run;
use serde_json::Value;

use crate::{
    config,
    hooks::{Entry, Hooks},
};

/// Returns what counts of a hook's output: applies the failure policy, then the authority, then degradation.
pub(crate) fn count(hooks: &Hooks, event: &Event, entry: &Entry, run: &mut Run) -> Box<HookOutput> {
    let Entry { hook, bounds: authority, .. } = entry;
    let spec = hooks.dialect().spec_of(event);
    let Run { result, notes, .. } = run;
    let closes = |cause| policy(hooks, spec, hook, cause) != FailurePolicy::Ignore;
    if let Ok(output) = &*result
        && let Some(why) = misfit(event, output, notes).filter(|_| closes(Cause::BadOutput))
    {
        *result = Err(Failure::new(Cause::BadOutput, format!("output: {why}")));
        notes.retain(|note| !note.misfit);
    }
    notes.retain(|note| note.kind != NoteKind::Misfit);
    let granted = authority.as_ref().filter(|_| !hook.observe_only).and_then(|bounds| {
        let (failure, granted) = unauthorised(hooks, event, bounds, result.as_ref().ok()?, notes)?;
        *result = Err(failure);
        Some(granted)
    });
    let mut counted = match result {
        // Usually the output is empty.
        Ok(output) if output.is_silent() => return Box::default(),
        Ok(output) => {
            let mut output = output.clone();
            keep_digits(event, &mut output);
            if let Some(authority) = authority {
                notes.extend(authority.limit(hooks.dialect(), event, &mut output));
            }
            output
        }
        Err(failure) => {
            let (output, note) = failed_output(spec, &hook.name, failure, policy(hooks, spec, hook, failure.cause));
            notes.extend(note);
            let mut counted = with_granted(output, granted);
            if is_lost_redaction(hooks, spec, hook, failure.cause) {
                // Degradation turns null into a withheld result.
                (counted.updated, counted.rewrite_bounds) = (Some(Value::Null), RewriteBounds::default());
            }
            Box::new(counted)
        }
    };
    if hook.observe_only && !counted.is_silent() {
        notes.push(Note::dropped("an observer cannot decide"));
        *counted = HookOutput::default();
    }
    notes.extend(express(hooks.dialect(), event, authority.as_ref(), &mut counted));
    counted
}

/// The failure of a hook that rewrote what its authority does not include, and the rest of its output: a denial or
/// question, and the granted part of the rewrite. Drops its context, because that describes the lost rewrite.
///
/// decisions.md#authority: "A rewrite that is lost for lack of authority is a failure of its hook".
fn unauthorised(
    hooks: &Hooks,
    event: &Event,
    bounds: &Authority,
    output: &HookOutput,
    notes: &mut Vec<Note>,
) -> Option<(Failure, HookOutput)> {
    if output.updated.is_none() && output.updated_tool.is_none() {
        return None;
    }
    let mut output = output.clone();
    keep_digits(event, &mut output);
    let needed = bounds.missing(hooks.dialect(), event, &output)?;
    notes.extend(bounds.limit(hooks.dialect(), event, &mut output));
    let strict = output.decision_kind() >= Some(DecisionKind::Ask);
    let granted = HookOutput {
        decision: output.decision.filter(|_| strict),
        reason: output.reason.filter(|_| strict),
        interrupt: output.interrupt,
        halt: output.halt,
        updated: output.updated,
        rewrite_bounds: output.rewrite_bounds,
        ..HookOutput::default()
    };
    let why = format!("its rewrite exceeds its authority; add {} to its entry", config::authority_text(&needed));
    Some((Failure::new(Cause::Authority, why), granted))
}

/// Returns true if failures block, the hook lost its rewrite of a result, and the event cannot be blocked.
///
/// decisions.md#authority: "Where failures block and the event cannot be blocked, the result is withheld".
fn is_lost_redaction(hooks: &Hooks, spec: &EventSpec, hook: &config::Hook, cause: Cause) -> bool {
    let closes = hook.on_failure.map_or(hooks.config.fail_closed, |policy| policy != FailurePolicy::Ignore);
    cause == Cause::Authority
        && closes
        && spec.kind == EventKind::PostToolUse
        && spec.expressible.rewrite
        && !spec.blockable
}

/// The output of the failure policy, combined with the rest of the hook's output. The stricter decision wins.
fn with_granted(failed: HookOutput, granted: Option<HookOutput>) -> HookOutput {
    let Some(granted) = granted else { return failed };
    if granted.decision_kind() >= failed.decision_kind() {
        granted
    } else {
        HookOutput { decision: failed.decision, reason: failed.reason, ..granted }
    }
}

/// The reason why an output does not fit the dialect. `None` if it denies or stops in any case.
///
/// decisions.md#outputs: "Where failures block, an output that does not fit the dialect blocks too".
fn misfit(event: &Event, output: &HookOutput, notes: &[Note]) -> Option<String> {
    if output.halt.is_some() || output.decision_kind() > Some(DecisionKind::Ask) {
        return None;
    }
    let translated = notes.iter().find(|note| note.misfit).map(|note| note.text.clone());
    let deciding = |of: &Object| of.keys().find(|key| is_deciding(key)).cloned();
    let inside = || {
        let places = output.extra.iter().filter(|(key, _)| {
            // On an event beyond the specification these keys are the form in which the hook decided.
            let is_form = event.kind() == EventKind::OtherEvent && *key == "hookSpecificOutput";
            key.replace('_', "").eq_ignore_ascii_case("hookSpecificOutput") && !is_form
        });
        let mut found = places.filter_map(|(key, value)| Some(format!("{key}/{}", deciding(value.as_object()?)?)));
        found.next()
    };
    translated.or_else(|| {
        let key = deciding(&output.extra).or_else(inside)?;
        Some(format!("/{key} has no effect in this dialect"))
    })
}

pub(crate) fn policy(hooks: &Hooks, spec: &EventSpec, hook: &config::Hook, cause: Cause) -> FailurePolicy {
    let configured = match cause {
        Cause::Timeout => hook.on_timeout,
        _ => hook.on_failure,
    };
    // decisions.md#failures: "A component of a registry that is not locked, approved, fetched and verified".
    if cause == Cause::Load && spec.blockable && matches!(&hook.handler, config::Handler::Wasm(wasm) if wasm.must_load)
    {
        return FailurePolicy::Deny;
    }
    configured.unwrap_or_else(|| {
        if spec.blockable && (hooks.config.fail_closed || is_exhausted_gate(hook, spec.kind, cause)) {
            FailurePolicy::Deny
        } else {
            command_dialect(hooks, hook).unwrap_or(hooks.dialect()).default_policy(spec.kind, cause)
        }
    })
}

/// decisions.md#failures: "A component that may only restrict denies when it exceeds one of its limits before a tool
/// runs"; "A command that was not started because hooks are nested too deep denies in the same way".
fn is_exhausted_gate(hook: &config::Hook, kind: EventKind, cause: Cause) -> bool {
    let component = matches!(hook.handler, config::Handler::Wasm(_));
    let gate = component && hook.bounds().is_some_and(|authority| authority.only_restricts());
    matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
        && (cause == Cause::TooDeep || cause.is_limit() && gate)
}

/// The dialect of a hook's JSON, if it is not the client's. Components use the contract's types instead.
pub(crate) fn command_dialect(hooks: &Hooks, hook: &config::Hook) -> Option<&'static dyn Dialect> {
    let speaks = matches!(hook.handler, config::Handler::Command { .. } | config::Handler::Http { .. });
    let written = hooks.config.written;
    (speaks && !is_same_client(written, hooks.dialect())).then_some(written)
}
