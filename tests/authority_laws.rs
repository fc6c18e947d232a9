//! The laws of decisions.md, "Authority", over random hooks, pointers and orders, under every dialect.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_testing::authority_laws::{
    allows_only_what_may_be_allowed, changes_only_what_it_may, hooks, says_only_what_it_may,
};
use proptest::{collection::vec, prelude::*, test_runner::RngSeed};

proptest! {
    // The cases are the same in every run, so that a failure comes from the change under test. `just fuzz` looks for
    // new ones.
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_121),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_hook_changes_what_it_has_no_authority_over(bytes in vec(any::<u8>(), 200)) {
        changes_only_what_it_may(&hooks(&bytes));
    }

    #[test]
    fn no_allow_covers_a_rewrite_of_a_hook_that_may_not_allow(bytes in vec(any::<u8>(), 200)) {
        allows_only_what_may_be_allowed(&hooks(&bytes));
    }

    #[test]
    fn no_words_past_authority(bytes in vec(any::<u8>(), 200)) {
        says_only_what_it_may(&hooks(&bytes));
    }
}
