//! Hostile guests. Each is a test of its own that says how it ends: in which failure, in which refusal to load, or in an
//! answer that does no harm. After each of them an honest neighbour on the same engine still answers, in time.
//!
//! Hostile servers (slow ones, redirects to private addresses, names that resolve to loopback) are in
//! `host/runtime/tests/http.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[macro_use]
mod stage;

mod abi;
mod answers;
mod binaries;
mod floods;
mod loops;
mod memory;
mod mutations;
mod powers;
mod probes;
mod tenants;

/// At least 60, each a test with the exact fault it must end in.
#[test]
fn there_are_enough_of_them() {
    let all = [
        abi::NAMES,
        answers::NAMES,
        binaries::NAMES,
        floods::NAMES,
        loops::NAMES,
        memory::NAMES,
        mutations::NAMES,
        powers::NAMES,
        probes::NAMES,
        tenants::NAMES,
    ]
    .concat();
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "no name twice");
    assert!(all.len() >= 60, "{}", all.len());
}
