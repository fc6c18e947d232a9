//! Holds back shell commands that destroy files, devices, repositories, packages, systems and services.
//!
//! [`judge`] is all of it; the rest of this file is the hook.
#![deny(missing_docs)]

pub mod config;
mod judge;
mod rule;
mod target;

use hookbox_guest::prelude::*;

pub use config::Config;
pub use judge::{Verdict, judge};

struct CommandGuard;

impl PreToolUse for CommandGuard {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        Ok(match objection(call)? {
            Some(Verdict::Deny(why)) => deny(why),
            Some(Verdict::Ask(why)) => ask(why),
            None => pass(),
        })
    }
}

/// The same where the user is about to be asked: under `PicoClaw` a `before_tool` hook that fails is passed over, and an
/// `approve_tool` hook that fails has denied.
impl PermissionRequest for CommandGuard {
    fn handle(_: &EventContext, call: &ToolCall, _: &permission_request::Event) -> Result<permission_request::Output> {
        Ok(match objection(call)? {
            Some(Verdict::Deny(why)) => deny(why),
            // The user is asked anyway.
            Some(Verdict::Ask(_)) | None => pass(),
        })
    }
}

hookbox_guest::export!(CommandGuard: PreToolUse, PermissionRequest);

/// Members of an input that hold the command in the known clients: a text, or the words of one.
const PLACES: [&str; 4] = ["/command", "/cmd", "/script", "/commands"];

fn objection(call: &ToolCall) -> Result<Option<Verdict>> {
    let commands: Vec<String> = PLACES.iter().filter_map(|place| command(call.input.get(place)?)).collect();
    if commands.is_empty() {
        return Ok(None);
    }
    let config: Config = hookbox_guest::config::get()?;
    let verdicts = commands.iter().filter_map(|command| judge(command, &config));
    Ok(verdicts.min_by_key(|verdict| matches!(verdict, Verdict::Ask(_))))
}

/// A text, or an array of words as Codex has it: each is quoted, so that it stays one.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let quoted = |word: &Value| Some(format!("'{}'", word.as_str()?.replace('\'', "'\\''")));
            words.iter().map(quoted).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(input: Value, config: Value) -> Result<Output> {
        hookbox_guest::testing::host().config(config);
        <CommandGuard as PreToolUse>::handle(&EventContext::default(), &ToolCall::new("Bash", input))
    }

    #[test]
    fn denies_asks_and_lets_through() {
        let why = "`rm -rf /` deletes / and everything in it";
        assert_eq!(decide(json!({"command": "rm -rf /"}), json!({})), Ok(deny(why)));
        assert_eq!(decide(json!({"command": ["bash", "-lc", "rm -rf /"]}), json!({})), Ok(deny(why)));
        let why = "`git reset --hard` throws away changes that are not committed";
        assert_eq!(decide(json!({"command": "git reset --hard"}), json!({})), Ok(ask(why)));
        assert_eq!(decide(json!({"command": "git reset --hard"}), json!({"git": "deny"})), Ok(deny(why)));
        assert_eq!(decide(json!({"command": "git reset --hard"}), json!({"git": "pass"})), Ok(pass()));
        assert_eq!(decide(json!({"command": "ls -la"}), json!({})), Ok(pass()));
        assert_eq!(decide(json!({"file_path": "/etc/passwd"}), json!({})), Ok(pass()));
    }

    #[test]
    fn a_configuration_that_it_does_not_know_is_a_failure() {
        assert!(decide(json!({"command": "ls"}), json!({"gti": "deny"})).is_err());
        assert!(decide(json!({"command": "ls"}), json!({"git": "maybe"})).is_err());
    }

    #[test]
    fn denies_if_the_user_would_be_asked() {
        hookbox_guest::testing::host();
        let request = |command: &str| {
            let call = ToolCall::new("exec", json!({"action": "run", "command": command}));
            let event = permission_request::Event::default();
            <CommandGuard as PermissionRequest>::handle(&EventContext::default(), &call, &event)
        };
        assert_eq!(request("sudo mkfs.ext4 /dev/sda1"), Ok(deny("`mkfs.ext4 /dev/sda1` destroys what is on a device")));
        assert_eq!(request("git reset --hard"), Ok(pass()));
    }
}
