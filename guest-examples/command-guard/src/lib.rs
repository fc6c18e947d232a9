//! Refuses shell commands that destroy files or devices: `rm -rf`, `mkfs`, `dd if=`, `> /dev/sda`.
//!
//! A deny list prevents mistakes, not attacks: `$(printf 'r%s' m) -rf /` gets past it. Use a sandbox against attacks.

mod danger;
mod shell;

use hookbox_guest::prelude::*;

struct CommandGuard;

impl PreToolUse for CommandGuard {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        Ok(objection(call).map_or_else(pass, deny))
    }
}

/// The same check for permission requests. Under picoclaw a failing hook denies in `approve_tool` but not in
/// `before_tool`.
impl PermissionRequest for CommandGuard {
    fn handle(_: &EventContext, call: &ToolCall, _: &permission_request::Event) -> Result<permission_request::Output> {
        Ok(objection(call).map_or_else(pass, deny))
    }
}

hookbox_guest::export!(CommandGuard: PreToolUse, PermissionRequest);

/// Checks the string `command` of any tool (`Bash`, `exec`, …).
fn objection(call: &ToolCall) -> Option<String> {
    let why = danger::find(call.input.str("/command")?)?;
    Some(format!("{why} is not allowed here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(command: &str) -> Result<Output> {
        <CommandGuard as PreToolUse>::handle(
            &EventContext::default(),
            &ToolCall::new("Bash", json!({"command": command})),
        )
    }

    #[test]
    fn refuses_with_the_reason() {
        assert_eq!(decide("rm -rf /"), Ok(deny("`rm -rf` is not allowed here")));
        assert_eq!(decide("echo x > /dev/sda"), Ok(deny("writing to `/dev/sda` is not allowed here")));
    }

    #[test]
    fn has_no_decision_on_other_calls() {
        assert_eq!(decide("ls -la"), Ok(pass()));
        let read = ToolCall::new("Read", json!({"file_path": "/etc/passwd"}));
        assert_eq!(<CommandGuard as PreToolUse>::handle(&EventContext::default(), &read), Ok(pass()));
    }

    #[test]
    fn refuses_if_the_user_would_be_asked() {
        let call = ToolCall::new("exec", json!({"action": "run", "command": "sudo mkfs.ext4 /dev/sda1"}));
        let decision = <CommandGuard as PermissionRequest>::handle(
            &EventContext::default(),
            &call,
            &permission_request::Event::default(),
        );
        assert_eq!(decision, Ok(deny("`mkfs` is not allowed here")));
    }
}
