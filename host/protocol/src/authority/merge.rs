//! Merges the rewrites of hooks that have less than full authority with the other outputs.

use super::rewrite::{carried, change};
use crate::{
    Dialect, Outcome,
    event::{Event, EventKind},
    output::{Decision, DecisionKind, HookOutput, Note, RewriteBounds},
    protocol::Flow,
};

/// Merges as [`Dialect::merge`] does, under two laws (decisions.md, "Authority"):
///
/// - The verdict changes a value only if a hook with authority over it changed it, in any order of the hooks. A
///   [change](RewriteBounds::change) is applied to the value as merged so far.
/// - No `allow` covers the rewrite of a hook that may not allow: that `allow` is lost.
///
/// Outputs of hooks with full authority are merged as the dialect's specification says.
pub fn merge(dialect: &dyn Dialect, event: &Event, outputs: &[HookOutput]) -> Outcome {
    if outputs.iter().all(|output| output.rewrite_bounds == RewriteBounds::default()) {
        return dialect.merge(event, outputs);
    }
    let mut outputs = outputs.to_vec();
    let mut notes = drop_uncovered(event.kind(), &mut outputs);
    let uncovered = uncovered_apart(&outputs);
    notes.extend(make_changes(dialect, event, &mut outputs));
    let mut outcome = dialect.merge(event, &outputs);
    if outcome.output.decision_kind() == Some(DecisionKind::Allow)
        && let Some(mut without) = uncovered
    {
        make_changes(dialect, event, &mut without);
        if dialect.merge(event, &without).output.updated != outcome.output.updated {
            notes.extend(lose_allows(dialect, event, outputs, &mut outcome));
        }
    }
    outcome.notes.extend(notes);
    outcome
}

/// Drops rewrites on permission events whose hook may not allow. There, a rewrite is only valid together with an `allow`.
fn drop_uncovered(kind: EventKind, outputs: &mut [HookOutput]) -> Vec<(Option<usize>, Note)> {
    if !matches!(kind, EventKind::PermissionRequest | EventKind::CanUseTool | EventKind::OtherEvent) {
        return Vec::new();
    }
    let dropped = outputs.iter_mut().enumerate().filter(|(_, output)| output.rewrite_bounds.uncovered);
    dropped
        .map(|(index, output)| {
            (output.updated, output.rewrite_bounds) = (None, RewriteBounds::default());
            (Some(index), Note::dropped("its rewrite has no effect: it needs an allow, and this hook may not allow"))
        })
        .collect()
}

/// Returns the outputs without the rewrites that no `allow` covers, if there are such rewrites.
fn uncovered_apart(outputs: &[HookOutput]) -> Option<Vec<HookOutput>> {
    outputs.iter().any(|output| output.rewrite_bounds.uncovered).then(|| {
        let mut outputs = outputs.to_vec();
        for output in outputs.iter_mut().filter(|output| output.rewrite_bounds.uncovered) {
            output.updated = None;
        }
        outputs
    })
}

/// Replaces each change by a complete value: the rewrites of the hooks before it, with the change applied.
fn make_changes(dialect: &dyn Dialect, event: &Event, outputs: &mut [HookOutput]) -> Vec<(Option<usize>, Note)> {
    let mut notes = Vec::new();
    // In a chain each hook already saw the rewrites of the hooks before it, so its value is complete. The hooks of a
    // permission callback all get the same event, because the specification has only one callback.
    if dialect.flow() == Flow::Chained && event.kind() != EventKind::CanUseTool {
        return notes;
    }
    let old = carried(event);
    for index in 0..outputs.len() {
        let Some((new, true)) = outputs.get(index).and_then(|o| Some((o.updated.clone()?, o.rewrite_bounds.change)))
        else {
            continue;
        };
        // The decisions of this hook and of later ones influence earlier rewrites. Their own rewrites do not count yet.
        let mut before = outputs.to_vec();
        before.iter_mut().skip(index).for_each(|output| output.updated = None);
        let mut now = dialect.merge(event, &before).output.updated.unwrap_or_else(|| old.clone());
        let whole = change(&old, &new, &mut now);
        let Some(output) = outputs.get_mut(index) else { continue };
        output.updated = Some(now);
        if !whole {
            let mut lost = "what it rewrote a part of, another hook replaced";
            // The `allow` permitted the rewritten call only.
            if output.decision == Some(Decision::Allow) {
                (output.decision, output.reason, output.updated_permissions) = (None, None, None);
                lost = "what it rewrote a part of, another hook replaced, so it does not say allow either";
            }
            notes.push((Some(index), Note::dropped(lost)));
        }
    }
    notes
}

/// Merges again without any `allow`, and keeps the rewrites.
fn lose_allows(
    dialect: &dyn Dialect,
    event: &Event,
    mut outputs: Vec<HookOutput>,
    outcome: &mut Outcome,
) -> Vec<(Option<usize>, Note)> {
    let mut notes = Vec::new();
    for (index, output) in outputs.iter_mut().enumerate().filter(|(_, o)| o.decision == Some(Decision::Allow)) {
        (output.decision, output.reason, output.updated_permissions) = (None, None, None);
        notes.push((Some(index), Note::dropped("its allow is lost: a hook that may not allow rewrote the call")));
    }
    let updated = outcome.output.updated.take();
    *outcome = dialect.merge(event, &outputs);
    outcome.output.updated = updated;
    outcome.clause = "decisions.md#authority: An `allow` never covers a rewrite of a hook that may not allow";
    notes
}
