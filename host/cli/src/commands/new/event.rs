//! What a handler of each event takes, which is alike in every SDK.

use hookbox::EventKind;

use crate::exit::Exit;

/// An event as a template sees it.
#[derive(Clone, Copy)]
pub struct Shape {
    pub kind: EventKind,
    /// It is about a tool's call.
    pub call: bool,
    /// What comes beside: its name as a parameter, and as a type.
    pub input: Option<(&'static str, &'static str)>,
    /// Something can be answered.
    pub answers: bool,
}

impl Shape {
    /// By its name in `wit/`, or in the field's words.
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

    /// `other-event` has no type of its own, so there is nothing to begin with.
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

    /// `PreToolUse`.
    pub fn pascal(&self) -> &'static str {
        self.kind.name()
    }

    /// `pre_tool_use`.
    pub fn snake(&self) -> String {
        self.kind.interface().replace('-', "_")
    }

    /// `pretooluse`.
    pub fn flat(&self) -> String {
        self.kind.interface().replace('-', "")
    }

    /// Returns true if the template's hook denies something: the one event where everybody knows what.
    pub fn denies(&self) -> bool {
        self.kind == EventKind::PreToolUse
    }
}
