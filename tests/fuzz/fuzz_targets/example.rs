//! See `DataFormat::read`.
#![no_main]

use tfrt_fuzz::data_files::DataFormat;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = DataFormat::Example.read(bytes);
});
