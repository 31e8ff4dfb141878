#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| work_fuzz::targets::query(input));
