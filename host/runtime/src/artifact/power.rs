//! The power of a component as its bytes tell it, and what an update changes of that.

use std::{collections::BTreeSet, fmt};

use hookbox_sandbox::component::Inspection;

/// The events that a component handles and the interfaces that it asks for. A component brings no grants: what it asks for
/// it gets only where the configuration grants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Power {
    /// Events that it handles, by the names of the contract's interfaces.
    pub exports: BTreeSet<String>,
    /// `state`, `http`, `llm`, and interfaces of others by their names without versions, for example
    /// `wasi:filesystem/types`.
    pub imports: BTreeSet<String>,
}

impl Power {
    /// The power of a component.
    pub fn of(found: &Inspection) -> Self {
        let bare = |name: &String| name.split_once('@').map_or(name.as_str(), |(name, _)| name).to_owned();
        let others = found.inert.iter().chain(&found.refused).map(bare);
        Self {
            exports: found.handles.iter().map(|kind| kind.interface().to_owned()).collect(),
            imports: found.asks.iter().map(ToString::to_string).chain(others).collect(),
        }
    }
}

/// One difference between a component as it was approved and as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It asks for an interface that it did not ask for.
    Asks(String),
    /// It asks for an interface no more.
    AsksNoMore(String),
    /// It handles another event.
    Handles(String),
    /// It handles an event no more.
    HandlesNoMore(String),
    /// Its publisher is another one, or unknown now.
    Publisher(Option<String>, Option<String>),
    /// It was attested, and is not any more.
    AttestationLost,
    /// Its size in bytes.
    Size(u64, u64),
    /// Its version, as its publisher calls it.
    Version(String, String),
}

impl Change {
    /// Returns true if the change has to be approved: more power, or less that is known of where the component came from. A
    /// gate that no longer handles an event is less of a gate, so that has to be approved too.
    pub fn needs_approval(&self) -> bool {
        matches!(
            self,
            Self::Asks(_) | Self::Handles(_) | Self::HandlesNoMore(_) | Self::Publisher(..) | Self::AttestationLost
        )
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |publisher: &Option<String>| publisher.clone().unwrap_or_else(|| "unknown".to_owned());
        match self {
            Self::Asks(what) => write!(f, "+ asks for {what}"),
            Self::AsksNoMore(what) => write!(f, "- asks for {what}"),
            Self::Handles(event) => write!(f, "+ handles {event}"),
            Self::HandlesNoMore(event) => write!(f, "- handles {event}"),
            Self::Publisher(before, after) => write!(f, "! publisher {} -> {}", known(before), known(after)),
            Self::AttestationLost => f.write_str("! attested before, not attested now"),
            Self::Size(before, after) => write!(f, "  size {before} -> {after} bytes"),
            Self::Version(before, after) => write!(f, "  version {before} -> {after}"),
        }
    }
}

/// The differences in power, in a stable order.
pub(super) fn changes(before: &Power, after: &Power) -> Vec<Change> {
    let new = |before: &BTreeSet<String>, after: &BTreeSet<String>, of: fn(String) -> Change| {
        after.difference(before).cloned().map(of).collect::<Vec<_>>()
    };
    [
        new(&before.imports, &after.imports, Change::Asks),
        new(&after.imports, &before.imports, Change::AsksNoMore),
        new(&before.exports, &after.exports, Change::Handles),
        new(&after.exports, &before.exports, Change::HandlesNoMore),
    ]
    .concat()
}
