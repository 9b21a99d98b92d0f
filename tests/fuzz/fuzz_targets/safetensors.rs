//! See `DataFormat::read`.
#![no_main]

use tfrt_fuzz::data_files::DataFormat;
use tfrt_tensor::file::FileFormat;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = DataFormat::Tensors(FileFormat::Safetensors).read(bytes);
});
