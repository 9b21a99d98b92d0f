//! See `programs::mlir_parse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tfrt_fuzz::programs::mlir_parse(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tfrt_fuzz::mutate_text::in_place(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
