#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| _ = hookbox_testing::fuzzing::encode(data));
