//! The power of a component according to its bytes, and its changes in an update.

use std::{collections::BTreeSet, fmt};

use hookbox_sandbox::component::Inspection;

/// The events that a component handles and the interfaces that it imports. It gets an interface only if the
/// configuration grants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Power {
    /// The events that it handles, by the names of the contract's interfaces.
    pub exports: BTreeSet<String>,
    /// `state`, `http`, `llm`, and other interfaces by their names without versions, such as `wasi:filesystem/types`.
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

/// A difference between the approved and the current component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It imports a new interface.
    Asks(String),
    /// It no longer imports an interface.
    AsksNoMore(String),
    /// It handles a new event.
    Handles(String),
    /// It no longer handles an event.
    HandlesNoMore(String),
    /// Its publisher changed, or is unknown now.
    Publisher(Option<String>, Option<String>),
    /// It is no longer attested.
    AttestationLost,
    /// Its size in bytes.
    Size(u64, u64),
    /// The version that the publisher gave it.
    Version(String, String),
    /// A lower version than before, or none any more: an old signature of an old component is still valid.
    Downgrade(String, String),
}

impl Change {
    /// Returns true if the change needs approval: more power, or less information about the component's origin. A gate
    /// that no longer handles an event protects less, so that needs approval too.
    pub fn needs_approval(&self) -> bool {
        matches!(
            self,
            Self::Asks(_)
                | Self::Handles(_)
                | Self::HandlesNoMore(_)
                | Self::Publisher(..)
                | Self::AttestationLost
                | Self::Downgrade(..)
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
            Self::Downgrade(before, after) => write!(f, "! version {before} -> {after}, which is older"),
        }
    }
}

/// The change of a version.
pub(super) fn version(before: Option<&str>, after: Option<&str>) -> Option<Change> {
    let word = |version: Option<&str>| version.unwrap_or("unknown").to_owned();
    let is_older = match (before, after) {
        (Some(before), Some(after)) => order(after) < order(before),
        (before, _) => before.is_some(),
    };
    let change = if is_older { Change::Downgrade } else { Change::Version };
    (before != after).then(|| change(word(before), word(after)))
}

/// The place of a version among others: its numbers, and whether it is a release or comes before one (`-rc1`).
fn order(version: &str) -> (Vec<u64>, bool, Vec<u64>) {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    };
    let version = version.split_once('+').map_or(version, |(version, _)| version);
    let (release, before) = version.split_once('-').map_or((version, None), |(release, rest)| (release, Some(rest)));
    let mut release = numbers(release);
    // 1.2 and 1.2.0 are the same version.
    while release.last() == Some(&0) {
        release.pop();
    }
    (release, before.is_none(), before.map(numbers).unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::{Change, version};

    #[test]
    fn an_older_version_needs_approval() {
        for (before, after) in
            [("1.2.0", "1.1.9"), ("1.10", "1.9"), ("2", "1"), ("1.2.0", "1.2.0-rc1"), ("1-rc2", "1-rc1")]
        {
            let there = version(Some(before), Some(after));
            assert!(matches!(there, Some(Change::Downgrade(..))), "{before} {after}");
            let back = version(Some(after), Some(before));
            assert!(matches!(back, Some(Change::Version(..))), "{after} {before}");
        }
        assert!(version(Some("1"), None).is_some_and(|change| change.needs_approval()));
        assert!(version(None, Some("1")).is_some_and(|change| !change.needs_approval()));
        assert!(version(Some("1.0"), Some("1.0.0")).is_some_and(|change| !change.needs_approval()));
        assert_eq!(version(Some("1"), Some("1")), None);
    }
}
