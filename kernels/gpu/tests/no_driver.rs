//! Machines without a GPU: CUDA says what is missing, and nothing panics.

use tfrt::support::ErrorCode;
use tfrt_gpu::cuda::CudaDriver;
use tfrt_gpu::platform::{Gpu, GpuChoice};

#[test]
fn a_missing_driver_is_an_error_that_says_what_to_do() {
    if CudaDriver::open().is_ok() {
        println!("skipped: there is a CUDA driver");
        return;
    }
    let error = Gpu::open(GpuChoice::Cuda).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unavailable);
    assert_eq!(
        error.message(),
        "no GPU: the library `libcuda.so.1` of the CUDA driver is not installed; `--gpu=host`, or \
         the environment variable `TFRT_GPU=host`, runs GPU programs on threads of this process"
    );
}
