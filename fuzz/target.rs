//! A fuzz target: the one whose name the program has.
#![no_main]

mod targets;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| targets::run(env!("CARGO_BIN_NAME"), data));
