//! The keys of metric series, created once.

use std::sync::{Arc, PoisonError, RwLock};

use hookbox_protocol::{EventKind, json::shorten};
use metrics::Key;

/// The number of hooks per configuration with separate series.
const HOOKS: usize = 250;
/// The label of all other hooks.
const OTHERS: &str = "(others)";
/// The maximum length of a label, in characters.
const LABEL: usize = 100;

/// The label of a hook, from its index in the configuration and its name. Short, and without control characters or
/// characters that change the direction of text.
pub(crate) fn label(place: usize, name: &str) -> Arc<str> {
    if place >= HOOKS {
        return OTHERS.into();
    }
    let unsafe_ = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    shorten(name, LABEL).replace(unsafe_, "\u{fffd}").into()
}

/// The result of an event: its kind, the verdict and the cause of a failure.
type ResultKey = (EventKind, &'static str, &'static str);

/// The keys of `N` series by the result of an event. Creating a key takes longer than counting, so each is created
/// once. It is a list because there are few results, and comparing them is faster than hashing.
#[derive(Debug)]
pub(crate) struct Series<const N: usize>(RwLock<Vec<(ResultKey, Arc<[Key; N]>)>>);

impl<const N: usize> Default for Series<N> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<const N: usize> Series<N> {
    /// The keys for a result. Creates them on first use.
    pub(crate) fn of(&self, came_to: ResultKey, make: impl FnOnce() -> [Key; N]) -> Arc<[Key; N]> {
        let find = |known: &[(ResultKey, Arc<_>)]| {
            known.iter().find(|(known, _)| *known == came_to).map(|(_, keys)| Arc::clone(keys))
        };
        if let Some(keys) = find(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return keys;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        find(&known).unwrap_or_else(|| {
            let keys = Arc::new(make());
            known.push((came_to, Arc::clone(&keys)));
            keys
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{HOOKS, LABEL, label};

    #[test]
    fn a_label_is_short_and_plain() {
        assert_eq!(&*label(0, "guard.wasm"), "guard.wasm");
        assert_eq!(&*label(0, "a\nb\u{1b}[2J\u{202e}\u{9b}"), "a\u{fffd}b\u{fffd}[2J\u{fffd}\u{fffd}");
        assert_eq!(label(0, &"é".repeat(1 << 20)).chars().count(), LABEL + 1);
        assert_eq!(label(HOOKS, "one too many"), label(HOOKS + 1, "another"));
    }
}
