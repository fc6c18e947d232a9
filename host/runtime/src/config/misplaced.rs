//! Failure policies in places where they have no effect. These are errors, because the hook would fail open.

use hookbox_protocol::{
    Dialect, EventKind,
    json::{Object, token},
};
use serde_json::Value;

use super::{
    CAN_USE_TOOL,
    diagnostic::{Finding, nearest},
};

/// Policies that belong in a handler.
const OF_HANDLERS: [&str; 2] = ["onFailure", "onTimeout"];

/// Policies that belong in blade's `hooks`.
const OF_BLADE: [&str; 2] = ["failureBehavior", "timeoutBehavior"];

/// The policy that a misplaced top-level key resembles.
fn policy(key: &str) -> Option<&'static str> {
    nearest(&key.replace(['_', '-'], ""), OF_HANDLERS.into_iter().chain(OF_BLADE))
}

/// Returns true for a misplaced top-level key that resembles a policy.
pub(super) fn is_policy(key: &str) -> bool {
    policy(key).is_some()
}

/// Reports misplaced policies beside `hooks`, blade's policies under another dialect, and a permission callback under a
/// dialect without one.
///
/// decisions.md#failures: "A failure policy in a position where nothing reads it is a configuration error".
pub(super) fn policies(dialect: &dyn Dialect, file: &Object, found: &mut Vec<Finding>) {
    let blade = dialect.name().split('@').next() == Some("blade");
    for (key, policy) in file.keys().filter_map(|key| Some((key, policy(key)?))) {
        let finding = Finding::error(format!("/{}", token(key)), format!("`{key}` has no effect here"));
        found.push(finding.help(if OF_HANDLERS.contains(&policy) {
            format!("write `{policy}` in a handler, or `\"failClosed\": true` here for all of them")
        } else if blade {
            format!("write `{policy}` inside `hooks`")
        } else {
            "only blade has it: write `\"failClosed\": true` here, or `onFailure` in a handler".to_owned()
        }));
    }
    let hooks = file.get("hooks").and_then(Value::as_object);
    for key in OF_BLADE.into_iter().filter(|key| !blade && hooks.is_some_and(|hooks| hooks.contains_key(*key))) {
        let finding = Finding::error(format!("/hooks/{key}"), format!("{} has no `{key}`", dialect.name()));
        found.push(finding.help("write `\"failClosed\": true` at the top of the file, or `onFailure` in a handler"));
    }
    if file.get("hooksConfig").is_some_and(|config| config.get("failClosed").is_some()) {
        let finding = Finding::error("/hooksConfig/failClosed", "`failClosed` has no effect here");
        found.push(finding.help("write it at the top of the file"));
    }
    let supported = dialect.specs().iter().any(|spec| spec.kind == EventKind::CanUseTool);
    let named = |object: Option<&Object>| object.is_some_and(|object| object.contains_key(CAN_USE_TOOL));
    for (pointer, object) in [("", Some(file)), ("/hooks", hooks)] {
        if !supported && named(object) {
            let message = format!("{} has no `{CAN_USE_TOOL}`, so it is never called", dialect.name());
            let finding = Finding::error(format!("{pointer}/{CAN_USE_TOOL}"), message);
            found.push(finding.help("only blade and blade-callback have it: use a hook before a tool runs"));
        }
    }
}
