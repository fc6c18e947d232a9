#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| hookbox_testing::fuzzing::configuration(data));
