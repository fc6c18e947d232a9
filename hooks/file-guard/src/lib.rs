//! Keeps secrets from being read, and what decides over the machine from being written: by the tools of every client and by
//! command.
//!
//! [`judge`] is all of it; the rest of this file is the hook.
#![deny(missing_docs)]

mod access;
mod command;
pub mod config;
mod judge;
mod pattern;
mod place;
mod protected;

use hookbox_guest::prelude::{
    EventContext, Output, PermissionRequest, PreToolUse, Result, ToolCall, ask, deny, pass, permission_request,
};

pub use config::{Config, Decision};
pub use judge::{Asked, judge};

struct FileGuard;

impl PreToolUse for FileGuard {
    fn handle(context: &EventContext, call: &ToolCall) -> Result<Output> {
        Ok(match objection(context, call)? {
            Some((why, Decision::Deny)) => deny(why),
            Some((why, Decision::Ask)) => ask(why),
            None => pass(),
        })
    }
}

/// The same where the user is about to be asked: under `PicoClaw` a `before_tool` hook that fails is passed over, and an
/// `approve_tool` hook that fails has denied.
impl PermissionRequest for FileGuard {
    fn handle(
        context: &EventContext,
        call: &ToolCall,
        _: &permission_request::Event,
    ) -> Result<permission_request::Output> {
        Ok(match objection(context, call)? {
            Some((why, Decision::Deny)) => deny(why),
            // The user is asked anyway.
            _ => pass(),
        })
    }
}

hookbox_guest::export!(FileGuard: PreToolUse, PermissionRequest);

fn objection(context: &EventContext, call: &ToolCall) -> Result<Option<(String, Decision)>> {
    let config: Config = hookbox_guest::config::get()?;
    let folder = context.cwd.as_deref().or(context.project_dir.as_deref());
    Ok(judge(&Asked { tool: &call.name, input: call.input.value(), folder }, &config))
}

#[cfg(test)]
mod tests {
    use hookbox_guest::prelude::{Value, json};

    use super::*;

    fn decide(tool: &str, input: Value, config: Value) -> Result<Output> {
        hookbox_guest::testing::host().config(config);
        let context = EventContext { cwd: Some("/home/dev/project".into()), ..EventContext::default() };
        <FileGuard as PreToolUse>::handle(&context, &ToolCall::new(tool, input))
    }

    #[test]
    fn denies_asks_and_lets_through() {
        let why = "reading .env is not allowed here: `.env` is protected";
        assert_eq!(decide("Read", json!({"file_path": ".env"}), json!({})), Ok(deny(why)));
        assert_eq!(decide("Read", json!({"file_path": ".env"}), json!({"decision": "ask"})), Ok(ask(why)));
        assert_eq!(decide("Read", json!({"file_path": ".env"}), json!({"builtin": false})), Ok(pass()));
        assert_eq!(decide("Read", json!({"file_path": ".env"}), json!({"allow": [".env"]})), Ok(pass()));
        assert_eq!(decide("Read", json!({"file_path": "src/lib.rs"}), json!({})), Ok(pass()));
        let why = "reading src/lib.rs is not allowed here: `src/**` is protected";
        assert_eq!(decide("Read", json!({"file_path": "src/lib.rs"}), json!({"read": ["src/**"]})), Ok(deny(why)));
        let why = "writing .git/config is not allowed here: `.git/**` is protected";
        assert_eq!(decide("Bash", json!({"command": "echo x > .git/config"}), json!({})), Ok(deny(why)));
    }

    #[test]
    fn a_configuration_that_it_does_not_know_is_a_failure() {
        assert!(decide("Read", json!({"file_path": "a"}), json!({"raed": []})).is_err());
    }
}
