//! Hostile guests. Each is a test that asserts how the guest ends: in a certain failure, in a certain load error, or in
//! a harmless answer. After each guest, an ordinary component on the same engine must still answer in time.
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

/// There are at least 60 guests, each with the exact fault that it must end in.
#[test]
fn the_corpus_has_enough_cases() {
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
