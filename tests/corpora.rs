//! The seeds of the fuzz targets as ordinary tests, and checks of the list of targets.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use hookbox_testing::fuzzing;
use proptest::{collection::vec, prelude::*};

/// A target's name and its function.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("authority", fuzzing::authority),
    ("component", fuzzing::component),
    ("configuration", fuzzing::configuration),
    ("decode", fuzzing::decode),
    ("encode", |data| _ = fuzzing::encode(data)),
    ("merge", fuzzing::merge),
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_seed_passes() {
    for (target, run) in TARGETS {
        let folder = fuzz().join("seeds").join(target);
        let seeds = names(&folder);
        assert!(seeds.len() > 1, "{target} has no seeds");
        for seed in seeds {
            run(&fs::read(folder.join(seed)).unwrap());
        }
    }
    // A valid component, intact and with changed bytes.
    let frozen = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frozen/guest-0.2.0.wasm")).unwrap();
    for at in (0..frozen.len()).step_by(frozen.len() / 40) {
        let mut broken = frozen.clone();
        broken[at] ^= 0x55;
        fuzzing::component(&broken);
        fuzzing::component(&frozen[..at]);
    }
    fuzzing::component(&frozen);
}

/// The list has exactly the fuzz targets, each with seeds. The workspace's build compiles the targets.
#[test]
fn every_target_has_its_seeds() {
    let known: Vec<String> = TARGETS.iter().map(|(name, _)| format!("{name}.rs")).collect();
    assert_eq!(names(&fuzz().join("fuzz_targets")), known);
    for (name, _) in TARGETS {
        let text = fs::read_to_string(fuzz().join("fuzz_targets").join(format!("{name}.rs"))).unwrap();
        assert!(text.contains(&format!("(hookbox_testing::fuzzing::{name});")), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_broken_configuration_is_an_error(which in 0..4_usize, at: prop::sample::Index, bytes in vec(any::<u8>(), 0..4)) {
        let folder = fuzz().join("seeds/configuration");
        let mut text = fs::read(folder.join(&names(&folder)[which])).unwrap();
        let at = at.index(text.len());
        text.splice(at..(at + 1).min(text.len()), bytes);
        fuzzing::configuration(&text);
    }
}
