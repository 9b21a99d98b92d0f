//! See `programs::text_bef_text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tfrt_fuzz::programs::text_bef_text(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tfrt_fuzz::mutate_text::in_place(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
