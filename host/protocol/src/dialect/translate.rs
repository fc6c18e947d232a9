//! Translation of events for hooks that are written in another client's dialect.

use crate::event::{Event, EventKind, ToolCall};
use crate::protocol::Dialect;

/// Returns true if both dialects belong to the same client: a dialect and its profiles.
pub fn is_same_client(one: &dyn Dialect, other: &dyn Dialect) -> bool {
    let base = |dialect: &dyn Dialect| dialect.name().split('@').next().unwrap_or_default();
    base(one) == base(other)
}

/// Returns the other names of a caller's tool for matchers in another dialect: its names in Claude Code and in that
/// dialect's client.
pub fn other_names(tool: &str, caller: &dyn Dialect, written: &dyn Dialect) -> Vec<&'static str> {
    let mut names = caller.also_called(tool).to_vec();
    if !is_same_client(caller, written) {
        let is_tool = |name: &&str| *name == tool || names.contains(name);
        let rows = written.tool_names().iter().filter(|(_, claudes)| claudes.iter().any(is_tool));
        let own: Vec<&str> = rows.flat_map(|(own, _)| own.iter().copied()).collect();
        names.extend(own);
    }
    names
}

/// Translates an event of the caller to another dialect. `None`: that dialect does not have the event.
pub fn translate(event: &Event, caller: &dyn Dialect, written: &dyn Dialect) -> Option<Event> {
    let kind = event.kind();
    let known = kind != EventKind::OtherEvent && written.specs().iter().any(|spec| spec.kind == kind);
    let name = |tool: &str| {
        let is_own = |name: &str| written.tool_names().iter().any(|(own, _)| own.contains(&name));
        if is_own(tool) {
            return tool.to_owned();
        }
        // A client without its own names uses Claude Code's. Some clients send these anyway.
        let claudes =
            caller.tool_names().iter().find_map(|(own, claudes)| own.contains(&tool).then(|| claudes.first())?);
        let others = other_names(tool, caller, written);
        others.iter().copied().find(|name| is_own(name)).or(claudes.copied()).unwrap_or(tool).to_owned()
    };
    known.then(|| {
        let call = event.call.as_ref().map(|call| ToolCall { name: name(&call.name), ..call.clone() });
        Event::new(written, event.context.clone(), call, event.input.clone())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use serde_json::{Value, json};

    use super::{other_names, translate};
    use crate::dialect::by_name;

    #[test]
    fn one_matcher_matches_a_tool_under_every_clients_name() {
        let shells = [
            ("claude", "Bash"),
            ("codebuddy", "Bash"),
            ("blade", "Bash"),
            ("codex", "Bash"),
            ("copilot", "bash"),
            ("gemini", "run_shell_command"),
            ("opencode", "bash"),
            ("picoclaw", "exec"),
        ];
        for (caller, tool) in shells {
            for (written, name) in shells {
                let names = other_names(tool, by_name(caller).unwrap(), by_name(written).unwrap());
                assert!(tool == name || names.contains(&name), "{caller} {tool} under {written}: {names:?}");
                assert!(tool == "Bash" || names.contains(&"Bash"), "{caller}: {names:?}");
            }
        }
    }

    #[test]
    fn an_event_is_translated_to_the_files_dialect() {
        let wire = br#"{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#;
        let (gemini, claude) = (by_name("gemini").unwrap(), by_name("claude").unwrap());
        let event = gemini.decode_event(wire, None).unwrap();
        let translated: Value = translate(&event, gemini, claude).unwrap().raw.value().clone();
        assert_eq!(translated["hook_event_name"], "PreToolUse");
        assert_eq!(
            (&translated["tool_name"], &translated["tool_input"]),
            (&json!("Bash"), &json!({ "command": "ls" }))
        );
        let back = translate(&translate(&event, gemini, claude).unwrap(), claude, gemini).unwrap();
        assert_eq!((back.name.as_str(), back.call.unwrap().name.as_str()), ("BeforeTool", "run_shell_command"));
        // With this event name, Copilot itself uses Claude's tool names.
        let copilot = by_name("copilot").unwrap();
        let wire = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
        let event = copilot.decode_event(wire, None).unwrap();
        assert_eq!(translate(&event, copilot, claude).unwrap().call.unwrap().name, "Bash");
        // Claude's specification has no event for the model.
        let wire = br#"{"hook_event_name":"BeforeModel","llm_request":{"model":"m","messages":[]}}"#;
        assert!(translate(&gemini.decode_event(wire, None).unwrap(), gemini, claude).is_none());
    }
}
