//! The parameters of a handler for each event, which are the same in every SDK.

use hookbox::EventKind;

use crate::exit::Exit;

/// An event, as templates use it.
#[derive(Clone, Copy)]
pub struct Shape {
    pub kind: EventKind,
    /// True if the event is about a tool call.
    pub call: bool,
    /// The event's own data: its parameter name and its type.
    pub input: Option<(&'static str, &'static str)>,
    /// True if the event has a response.
    pub answers: bool,
}

impl Shape {
    /// The event with this name: its name in `wit/`, or its usual one.
    pub fn by_name(name: &str) -> anyhow::Result<Self> {
        let is_it = |kind: &&EventKind| kind.interface() == name || kind.name() == name;
        let known = || EventKind::ALL.iter().filter(|kind| Self::of(**kind).is_some());
        known().find(is_it).and_then(|kind| Self::of(*kind)).ok_or_else(|| {
            let names: Vec<_> = known().map(|kind| kind.interface()).collect();
            let both = known().flat_map(|kind| [kind.interface(), kind.name()]);
            let near = hookbox::config::nearest(name, both).map(|near| format!(" (did you mean `{near}`?)"));
            let message = format!("unknown event `{name}`{}", near.unwrap_or_default());
            Exit::Usage.advised(message, &[&format!("the events are {}", names.join(", "))])
        })
    }

    /// The shape of an event. `other-event` has no type, so it has no template.
    fn of(kind: EventKind) -> Option<Self> {
        use EventKind as K;
        let event = Some(("event", "Event"));
        let (call, input) = match kind {
            K::OtherEvent => return None,
            K::PreToolUse => (true, None),
            K::PostToolUse => (true, Some(("output", "ToolOutput"))),
            K::PostToolUseFailure => (true, Some(("failure", "Failure"))),
            K::PermissionRequest | K::CanUseTool => (true, event),
            _ => (false, event),
        };
        Some(Self { kind, call, input, answers: kind != K::AgentEvent })
    }

    /// The name in the form `PreToolUse`.
    pub fn pascal(&self) -> &'static str {
        self.kind.name()
    }

    /// The name in the form `pre_tool_use`.
    pub fn snake(&self) -> String {
        self.kind.interface().replace('-', "_")
    }

    /// The name in the form `pretooluse`.
    pub fn flat(&self) -> String {
        self.kind.interface().replace('-', "")
    }

    /// Returns true if the template's hook denies something. Only `PreToolUse` has an obvious example.
    pub fn denies(&self) -> bool {
        self.kind == EventKind::PreToolUse
    }
}
