//! The laws of decisions.md, "Authority", over random hooks, pointers and orders, under every dialect.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use hookbox_testing::authority_laws::{
    allows_stay_within_authority, hooks, rewrites_stay_within_authority, text_stays_within_authority,
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
    fn no_hook_changes_values_beyond_its_authority(bytes in vec(any::<u8>(), 200)) {
        rewrites_stay_within_authority(&hooks(&bytes));
    }

    #[test]
    fn no_allow_covers_a_rewrite_without_authority(bytes in vec(any::<u8>(), 200)) {
        allows_stay_within_authority(&hooks(&bytes));
    }

    #[test]
    fn no_text_beyond_authority(bytes in vec(any::<u8>(), 200)) {
        text_stays_within_authority(&hooks(&bytes));
    }
}
