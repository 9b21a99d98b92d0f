//! Any bytes as an attribute of any type.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tfrt_fuzz::targets::attribute(bytes));
