//! The authority that a hook lacks for its rewrite.

use serde_json::Value;

use super::{
    Authority, Power, Rewrite, express,
    limit::lost_alone,
    rewrite::{carried, granted},
};
use crate::{
    Dialect,
    event::Event,
    json::token,
    output::{DecisionKind, HookOutput},
};

impl Authority {
    /// Returns the authority that the rewrite of an output needs, if this one does not grant all of it. `None` also for
    /// a rewrite that would have no effect even if it were granted, because the dialect's own rules drop it.
    ///
    /// decisions.md#authority: "A rewrite that is lost for lack of authority is a failure of its hook".
    pub fn missing(&self, dialect: &dyn Dialect, event: &Event, output: &HookOutput) -> Option<Self> {
        let Rewrite::Only(pointers) = &self.rewrite else { return None };
        let old = carried(event);
        let beyond = output.updated.as_ref().filter(|new| granted(&old, new, pointers) != **new);
        if beyond.is_none() && output.updated_tool.is_none() || !counts(dialect, event, output) {
            return None;
        }
        let rewrite = match beyond {
            Some(new) if output.updated_tool.is_none() => {
                let mut needed = pointers.clone();
                needed.extend(differences(&old, new).into_iter().filter(|pointer| !pointers.contains(pointer)));
                Rewrite::Only(needed)
            }
            _ => Rewrite::All,
        };
        let mut needed = Self { rewrite, ..self.clone() };
        if output.decision_kind() == Some(DecisionKind::Allow) && !needed.decide.contains(&Power::Allow) {
            needed.decide.push(Power::Allow);
        }
        Some(needed)
    }
}

/// Returns true if the verdict of this output alone depends on its rewrite.
fn counts(dialect: &dyn Dialect, event: &Event, output: &HookOutput) -> bool {
    let alone = |mut output: HookOutput| {
        express(dialect, event, None, &mut output);
        let merged = dialect.merge(event, &[output]).output;
        (merged.updated, merged.updated_tool, merged.decision, merged.halt)
    };
    let mut without = output.clone();
    lost_alone(dialect.spec_of(event), &mut without);
    alone(output.clone()) != alone(without)
}

/// Returns the members that differ, as JSON pointers. If one value is not an object, it is the pointer to the whole.
fn differences(old: &Value, new: &Value) -> Vec<String> {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return vec![String::new()] };
    let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(value)).map(|(key, _)| key);
    let removed = old.keys().filter(|key| !new.contains_key(*key));
    changed.chain(removed).map(|key| format!("/{}", token(key))).collect()
}
