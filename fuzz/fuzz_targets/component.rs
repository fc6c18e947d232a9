#![cfg_attr(fuzzing, no_main)]
hookbox_fuzz::target!(hookbox_testing::fuzzing::component);
