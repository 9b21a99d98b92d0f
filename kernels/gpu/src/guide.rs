//! The guide page: kernels for GPUs.
//!
//! # Running a GPU program without a GPU
//!
//! `tfrt run --gpu=host program.mlir` runs a program on the [host device](crate::host_device):
//! threads and memory of the process stand in for the GPU. A program contains `CUDA` in either
//! case. The environment variable `TFRT_GPU=host` does the same for every tool, and for programs
//! that embed the runtime. Without it, kernels that need a device fail with an error that names the
//! missing part; all others run.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::executor::Program;
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//! use tfrt_gpu::platform::{Gpu, GpuChoice};
//!
//! tfrt::link!(tfrt_kernels, tfrt_gpu);
//!
//! let program = "
//!     func.func @seven() -> i32 {
//!       %ch0 = tfrt.new.chain
//!       %zero = tfrt.constant.i32 0
//!       %device = tfrt_gpu.device.get CUDA, %zero
//!       %context = tfrt_gpu.context.primary %device
//!       %stream = tfrt_gpu.stream.create %context
//!       %size = tfrt.constant.i64 4
//!       %buffer = tfrt_gpu.mem.allocate_host %context, %size, %ch0
//!       %seven = tfrt.constant.i32 7
//!       %ch1 = tfrt_gpu.mem.set %buffer, %seven, %stream, %ch0 : i32
//!       %ch2 = tfrt_gpu.stream.synchronize %stream, %ch1
//!       %found = tfrt_gpu.mem.load %buffer, %ch2 : i32
//!       tfrt.return %found : i32
//!     }";
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let file = tfrt::text::compile(program, "seven.mlir", &kernels)?;
//! let host = HostContext::builder().registry(kernels).build();
//! Gpu::install(&host, Gpu::open(GpuChoice::Host)?);
//!
//! let seven = Program::load(&host, &file)?.function("seven").ok_or("unknown function")?.typed::<(), (i32,)>()?;
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
//! let (result,) = seven.call(&ctx, ());
//! host.await_values(&[result.as_any().clone()])?;
//! assert_eq!(result.as_result()?, &7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order
//!
//! A kernel that puts work on a stream returns its chain as soon as the work is *enqueued*. So
//! chains order the work on one stream, but do not tell when it is done:
//!
//! | to order | write |
//! |---|---|
//! | work on one stream | chains between the kernels |
//! | work on two streams | `event.record` on one, `stream.wait` on the other |
//! | the host after the device | `stream.synchronize` or `event.synchronize` |
//!
//! A copy keeps both buffers until it is done, and freeing device memory waits for work that may
//! use it. Buffers, modules and contexts live as long as a value needs them.
//!
//! # Programs of MLIR
//!
//! `tfrt opt --gpu-to-tfrt-gpu` lowers a program of MLIR's `gpu`, `memref` and `async` dialects to
//! these kernels. The tokens that order such a program become chains and streams inside a block,
//! and chains and events across blocks. The crate `tfrt-gpu-compiler` explains each pass.
//! `--tfrt-set-entry-point` adds a function that describes the entry point and the sizes of its
//! buffers; `tfrt run-gpu` calls it:
//!
//! ```text
//! tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=main buffer_sizes=64,128' program.mlir | tfrt run-gpu
//! ```
//!
//! [`executor`](crate::executor) is the same for embedders.
//!
//! # Finding mistakes
//!
//! The host device reports what a GPU leaves undefined. A fault appears, as on a GPU, where the
//! stream is next synchronized, and makes the context unusable. Its message describes the mistake:
//!
//! | mistake | report |
//! |---|---|
//! | an access beyond a buffer | `CUDA_ERROR_ILLEGAL_ADDRESS`, with kernel, PTX line, block, thread, address, and the buffer before it |
//! | an access to freed memory | the same, with the buffer that was freed |
//! | a race in shared memory, a barrier that not all threads reach | `CUDA_ERROR_LAUNCH_FAILED`, with the line and the threads |
//! | a misaligned access | `CUDA_ERROR_MISALIGNED_ADDRESS` |
//! | an endless loop | `CUDA_ERROR_LAUNCH_TIMEOUT` |
//! | memory that was never written | its bytes are 0xFF: NaN, as a float |
//! | arguments that do not match the kernel | `CUDA_ERROR_INVALID_VALUE` at the launch, with the number of the argument |
//!
//! To see how a program handles failures, inject them: `TFRT_GPU_FAIL=cuMemAlloc@2=2` fails the
//! second allocation with status 2. Several are separated by commas, and calls of the libraries
//! have the names of their functions: `cublasGemmEx@1=13`.
//!
//! The host device interprets device code and computes everything else in double precision on one
//! thread. It is meant for tests.
