//! Remedies for errors of the sandbox, in the terms of the configuration and of hookbox's commands. The sandbox knows
//! neither.

use hookbox_protocol::Failure;
use hookbox_sandbox::{ALL_IN_USE, CONTRACT, Grant, LoadError};

/// Returns what to do about an error of loading a component, in one line.
pub fn remedy(error: &LoadError) -> String {
    match error {
        LoadError::Read { .. } => "build the hook, or correct `component` in the configuration".into(),
        LoadError::Changed { .. } => "look at it, then trust the configuration again with `hookbox trust`".into(),
        LoadError::TooLarge { .. } => "build it without debug information".into(),
        LoadError::NotWasm => "`component` must name the .wasm file that `hookbox build` makes".into(),
        LoadError::CoreModule => {
            "`hookbox build` makes components; a core module becomes one with `wasm-tools component new`".into()
        }
        LoadError::Invalid(_) => "build it again with `hookbox build`".into(),
        LoadError::Memory { mib, .. } => format!(r#"to grant it, add   "limits": {{ "memoryMiB": {mib} }}"#),
        LoadError::TooComplex(_) => "no ordinary hook is like this; for one that is, raise `compile` in `host`".into(),
        LoadError::Version { .. } => format!(
            "rebuild it with the SDK of {CONTRACT} (update `hookbox-guest`, then `hookbox build` in its folder), or \
            use the hookbox it was made for"
        ),
        LoadError::WrongType { .. } | LoadError::Link(_) => {
            format!("build it against {CONTRACT}, or use the hookbox it was made for")
        }
        LoadError::NoEvent => "export at least one event, for example `pre-tool-use`".into(),
        LoadError::NotGranted(grants) => format!("to grant it, add   {}", permissions(grants)),
        LoadError::Refused(_) => {
            "build it without sockets; use `hookbox:hooks/http` for requests and `state` for data".into()
        }
        LoadError::Directory { .. } => "create it, or take it out of `permissions`".into(),
        LoadError::Compiler { .. } => {
            "check that the program exists, and that the process may start others and open enough files".into()
        }
        LoadError::Engine(_) => {
            "lower `maxInstances`, or raise the process's limit on address space and threads".into()
        }
        _ => "run `hookbox check`".into(),
    }
}

/// Adds the setting to change to the message of a failed call.
pub(crate) fn advise(failure: &mut Failure) {
    if failure.message == ALL_IN_USE {
        failure.message.push_str("; try again, or raise `maxInstances`");
    }
}

/// The line of a configuration that grants these capabilities.
fn permissions(grants: &[Grant]) -> String {
    let example = |grant: &Grant| match grant {
        Grant::Http => r#"["https://example.com"]"#,
        _ => "true",
    };
    let members: Vec<_> = grants.iter().map(|grant| format!(r#""{grant}": {}"#, example(grant))).collect();
    format!(r#""permissions": {{ {} }}"#, members.join(", "))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use hookbox_protocol::Cause;

    use super::*;

    #[test]
    fn a_missing_grant_has_the_line_to_add() {
        let line = |grants: &[Grant]| remedy(&LoadError::NotGranted(grants.to_vec()));
        assert_eq!(line(&[Grant::State]), r#"to grant it, add   "permissions": { "state": true }"#);
        let both = r#"to grant it, add   "permissions": { "http": ["https://example.com"], "llm": true }"#;
        assert_eq!(line(&[Grant::Http, Grant::Llm]), both);
    }

    #[test]
    fn only_a_full_pool_names_the_setting() {
        let mut failures = [ALL_IN_USE, "too many open files"].map(|message| Failure::new(Cause::Busy, message));
        failures.iter_mut().for_each(advise);
        assert!(failures[0].message.ends_with("raise `maxInstances`"));
        assert_eq!(failures[1].message, "too many open files");
    }
}
