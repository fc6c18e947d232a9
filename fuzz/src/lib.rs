//! Defines fuzz targets. Under cargo-fuzz, libFuzzer drives the target. Otherwise the target is a program that runs on
//! the given files, such as an input that libFuzzer found.

use std::{env, fs};

/// Makes a target of a function of bytes.
#[macro_export]
macro_rules! target {
    ($run:path) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            let _ = $run(data);
        });

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::replay(|data| _ = $run(data))
        }
    };
}

/// Runs a target on each file of the command line.
///
/// # Errors
/// A file cannot be read.
pub fn replay(run: impl Fn(&[u8])) -> std::io::Result<()> {
    env::args_os().skip(1).try_for_each(|file| fs::read(file).map(|data| run(&data)))
}
