//! Verify, then decode, then print: no file makes the way back to MLIR panic, and what comes out is a program.
#![no_main]

use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_ir::{PrintOptions, Registry};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let file = BefFile::from_bytes(bytes);
    let decoded = tfrt_compiler::decode(&file, "fuzz.bef", &Arc::new(Registry::default()));
    match decoded.module {
        Some(module) => assert!(!tfrt_ir::print(&module, &PrintOptions::default()).is_empty()),
        None => assert!(!decoded.diagnostics.is_empty()),
    }
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tfrt_fuzz::mutate::in_place(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
