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
//! # Kernels of your own: one source, two devices
//!
//! A plain function of numbers becomes a kernel for host tensors and a kernel for GPUs. Functions
//! that it calls are marked `#[tfrt_device]`:
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
//! #[tfrt_device]
//! fn sigmoid(x: f32) -> f32 {
//!     1.0 / (1.0 + (-x).exp())
//! }
//!
//! /// Returns `x * sigmoid(beta * x)`.
//! #[tfrt_kernel("my.swish", elementwise)]
//! fn swish(x: f32, beta: f32) -> f32 {
//!     x * sigmoid(beta * x)
//! }
//!
//! /// Returns the largest size of a number.
//! #[tfrt_kernel("my.largest", reduce(identity = 0.0, combine = max))]
//! fn size(x: f32) -> f32 {
//!     x.abs()
//! }
//!
//! let program = r#"
//!     func.func @main() -> i32 {
//!       %ch0 = tfrt.new.chain
//!       %zero = tfrt.constant.i32 0
//!       %device = tfrt_gpu.device.get CUDA, %zero
//!       %context = tfrt_gpu.context.primary %device
//!       %stream = tfrt_gpu.stream.create %context
//!       %allocator = tfrt_gpu.allocator.create %context
//!       %size = tfrt.constant.i64 4096
//!       %four = tfrt.constant.i64 4
//!       %x = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch0
//!       %beta = tfrt_gpu.mem.allocate %allocator, %stream, %four, %ch0
//!       %found = tfrt_gpu.mem.allocate_host %context, %four, %ch0
//!       %two = tfrt.constant.f32 2.0
//!       %ch1 = tfrt_gpu.mem.set %x, %two, %stream, %ch0 : f32
//!       %ch2 = tfrt_gpu.mem.set %beta, %two, %stream, %ch1 : f32
//!       %ch3 = "my.swish.gpu"(%stream, %x, %beta, %x, %ch2) : (!tfrt_gpu.stream, !tfrt_gpu.buffer,
//!         !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
//!       %ch4 = "my.largest.gpu"(%stream, %x, %found, %ch3)
//!         : (!tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
//!       %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4
//!       %bits = tfrt_gpu.mem.load %found, %ch5 : i32
//!       tfrt.return %bits : i32
//!     }"#;
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let file = tfrt::text::compile(program, "swish.mlir", &kernels)?;
//! let host = HostContext::builder().registry(kernels).build();
//! Gpu::install(&host, Gpu::open(GpuChoice::Host)?);
//!
//! let main = Program::load(&host, &file)?.function("main").ok_or("unknown function")?.typed::<(), (i32,)>()?;
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
//! let (result,) = main.call(&ctx, ());
//! host.await_values(&[result.as_any().clone()])?;
//! // The Rust function, the kernel for host tensors and the one for GPUs return the same bits.
//! assert_eq!(*result.as_result()?, swish(2.0, 2.0).to_bits().cast_signed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The kernel for GPUs takes the stream, the operands, the result and a chain. Operands and result
//! are tensors (`tfrt_gpu.tensor.make`), which are broadcast, or buffers, which have one dimension.
//! The result is memory of the right size; it may be that of an operand of the same shape and
//! element type.
//!
//! | to write | use |
//! |---|---|
//! | each element of the result from one of each operand | `elementwise` |
//! | one number from all elements | `reduce(identity = …, combine = …)` |
//! | one number from the elements along some axes | `reduce(identity = …, combine = …, axes = [-1], keep_dims = true)` |
//! | a part of these for other functions | `#[tfrt_device]` |
//! | an op that is called by its name, on `CPU:0` and `GPU:0` | `#[tfrt_op("my.Gelu", elementwise)]` |
//! | a launch from Rust | [`device_functions::launch`](crate::device_functions::launch) |
//! | indices, shared memory, barriers, atomic operations | `grid(block = […])`: see [below](#grid-kernels) |
//! | anything else | PTX of a compiler, with `tfrt_gpu.module.load` |
//!
//! `#[tfrt_device]` lists what such a function may contain; everything else is a compile error at
//! its place. [`tfrt::device`](mod@tfrt::device) defines the operations, and
//! [`tfrt::device::math`] the errors of math functions. No compiler is needed at run time: the first launch of a kernel in a context
//! writes PTX for the architecture of the device, of compute capability 7.0 or later, and loads it.
//! Later launches find it loaded.
//!
//! # Grid kernels
//!
//! `elementwise` and `reduce` choose the elements of each thread. A `grid` kernel chooses them
//! itself: it is the function of one thread, which knows its place in the grid, and shares memory
//! with the threads of its block. It is still one source with the same bits on both devices:
//!
//! ```
//! use tfrt::device::grid::{Grid, OutView, Shared, View};
//! use tfrt::prelude::*;
//!
//! tfrt::link!(tfrt_kernels, tfrt_gpu);
//!
//! /// Returns the transposed matrix.
//! #[tfrt_kernel(
//!     "my.transpose",
//!     grid(
//!         block = [16, 16],
//!         blocks = [(input.extent(1) + 15) / 16, (input.extent(0) + 15) / 16],
//!         shape = [input.extent(1), input.extent(0)],
//!     )
//! )]
//! fn transpose(
//!     grid: &Grid,
//!     input: &View<f32, 2>,
//!     tile: &mut Shared<f32, { 16 * 17 }>,
//!     output: &mut OutView<f32, 2>,
//! ) {
//!     let x = grid.thread(0);
//!     let y = grid.thread(1);
//!     if grid.index(1) < input.extent(0) && grid.index(0) < input.extent(1) {
//!         tile[y * 17 + x] = input[[grid.index(1), grid.index(0)]];
//!     }
//!     grid.barrier();
//!     let row = grid.block(0) * 16 + y;
//!     let column = grid.block(1) * 16 + x;
//!     if row < output.extent(0) && column < output.extent(1) {
//!         output[[row, column]] = tile[x * 17 + y];
//!     }
//! }
//!
//! let numbers = DenseHostTensor::vector(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let matrix = numbers.reshaped(tfrt_tensor::Shape::new(&[2, 3])?)?;
//! let transposed = tfrt::testing::kernel("my.transpose").operands((matrix,)).run();
//! transposed.with_value(0, |found: &DenseHostTensor| {
//!     assert_eq!(*found.elements::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | option of `grid` | meaning |
//! |---|---|
//! | `block = [32, 8]` | the threads of a block along up to three axes, 1024 in all |
//! | `blocks = […]` | the number of blocks along each axis; by default, enough for one thread for each element of the result |
//! | `shape = […]` | the extents of the result; by default, those of the first operand with as many dimensions |
//! | `initial = 0` | what every element of the result is before the kernel runs |
//!
//! `blocks` and `shape` are computed from the extents of operands, as `i64`. The grid comes first;
//! the other parameters may be in any order:
//!
//! | parameter | meaning |
//! |---|---|
//! | `grid: &Grid` | the place of the thread: `grid.index(axis)`, `thread`, `threads`, `block`, `blocks` |
//! | `x: &View<f32, 2>` | an operand of two dimensions: `x[[row, column]]`, `x.extent(axis)` |
//! | `n: u32` | an operand of one element |
//! | `tile: &mut Shared<f32, 256>` | an array that the threads of a block share; it starts as zeros |
//! | `y: &mut OutView<f32, 2>` | the result, which is only written |
//!
//! Axis 0 of the grid is the one along which neighbouring threads run together: let it index the
//! last dimension. All indices are `u32`, and all are checked: one out of bounds is an error, on
//! the processor with the array, the block and the thread. `tile.atomic_add(i, 1)`, `atomic_min`,
//! `atomic_max`, `atomic_and`, `atomic_or` and `atomic_xor` combine integers. A sum of floats would
//! depend on the order of the threads, so it is refused; and so is `atomic_add` to a result without
//! `initial`.
//!
//! `grid.barrier()` waits for all threads of the block. It is a statement of the kernel, or of an
//! `if` or `for` whose condition and bounds are the same for all threads: they depend on constants,
//! extents, numbers among the operands, `grid.block` and the loops around them. Anything else is a
//! compile error at the barrier. On the processor, the parts between barriers are loops over the
//! threads of a block.
//!
//! Between two barriers, no thread may use what another one writes. A kernel that breaks this rule
//! may have other results on a GPU than on the processor. `--gpu=host` reports it for shared
//! memory: see [below](#debugging-without-a-gpu).
//!
//! # Ops, one by one
//!
//! A GPU is also a device of ops: `GPU:0` is opened when a program first names it. See
//! [`eager`](crate::eager) for how to write ops of your own, and `tfrt ops --device=gpu` for those
//! that there are.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::core::EagerContext;
//! use tfrt::host::HostContext;
//! use tfrt::prelude::KernelRegistry;
//! use tfrt_gpu::platform::{Gpu, GpuChoice};
//!
//! tfrt::link!(tfrt_kernels, tfrt_gpu);
//!
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let host = HostContext::builder().registry(kernels).build();
//! Gpu::install(&host, Gpu::open(GpuChoice::Host)?);
//! let gpu = host.device("GPU:0")?;
//! let eager = EagerContext::builder(host).device(gpu.0).build()?;
//!
//! let x = eager.tensor([[1.0_f32, -2.0], [3.0, 0.5]])?;
//! let y = {
//!     let _scope = eager.device("GPU:0")?;
//!     // The operand is copied once, and the copy is kept with its handle.
//!     let product = eager.op("tf.MatMul")?.attr("transpose_a", false)?.attr("transpose_b", false)?;
//!     let product = product.ready()?.call(&[&x, &x])?;
//!     eager.op("tf.Relu")?.ready()?.call(&[&product])?
//! };
//! // Reading waits for the device.
//! assert_eq!(eager.to_vec::<f32>(&y)?, [0.0, 0.0, 4.5, 0.0]);
//! # Ok::<(), tfrt::Error>(())
//! ```
//!
//! Outside of scopes, an op runs where moving its operands costs least, and ops on small integer
//! tensors in host memory, such as shapes, stay on the host. An op returns as soon as its work is
//! enqueued. A fault of the device appears where a tensor is next read, and later ops on that
//! device fail with it.
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
//! # Graphs
//!
//! Many small pieces of work cost the host more than the device. `tfrt_gpu.graph.execute` calls a
//! function whose first call captures its work as a graph, which later calls launch as a whole:
//!
//! ```text
//! func.func @step(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %x: !tfrt_gpu.buffer) -> !tfrt.chain { … }
//!
//! %ch1 = tfrt_gpu.graph.execute @step(%ch0, %s, %f, %x) : !tfrt_gpu.function, !tfrt_gpu.buffer
//! ```
//!
//! The function takes a chain and a stream first, and returns a chain. It may launch kernels, copy
//! and fill device memory, and call the libraries for products, transforms and layers. There is one
//! graph for each list of arguments: buffers count by address and size, numbers by value. Pass
//! modules, functions and handles as arguments; a graph keeps them as long as the resources of the
//! request live.
//!
//! Any other function runs as usual, with the same results. `tfrt_gpu.graph.print_reports`, and
//! [`graphs::reports`](crate::graphs::reports) for embedders, say how often each function ran as a
//! graph and why it did not.
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
//! # Debugging without a GPU
//!
//! The host device reports what a GPU leaves undefined. A fault appears, as on a GPU, where the
//! stream is next synchronized, and makes the context unusable. Its message names the kernel, the
//! line of the PTX with its instruction, the block and the thread. The line is that of the text
//! which was loaded: `module.load` counts from 1.
//!
//! An access out of bounds. The fifth thread of a launch over a buffer of four words:
//!
//! ```text
//! .version 7.0
//! .target sm_60
//! .address_size 64
//! .visible .entry fill(.param .u64 p) {
//!     .reg .b64 %rd<4>;
//!     .reg .b32 %r<2>;
//!     ld.param.u64 %rd1, [p];
//!     mov.u32 %r1, %tid.x;
//!     mul.wide.u32 %rd2, %r1, 4;
//!     add.s64 %rd3, %rd1, %rd2;
//!     st.global.u32 [%rd3], %r1;
//!     ret;
//! }
//! ```
//!
//! ```text
//! illegal address in kernel `fill` at line 11, `st.global.u32 [%rd3], %r1;`, block (0, 0, 0),
//! thread (4, 0, 0): cannot write 4 bytes of global memory at 0xa0000000010: write of 4 bytes at
//! 0xa0000000010: 4 bytes past the end of the buffer of 16 bytes at 0xa0000000000
//! ```
//!
//! A use after free. Addresses are never used again, so that a stale one is always found:
//!
//! ```text
//! .version 7.0
//! .target sm_60
//! .address_size 64
//! .visible .entry first(.param .u64 p) {
//!     .reg .b64 %rd<2>;
//!     .reg .b32 %r<2>;
//!     ld.param.u64 %rd1, [p];
//!     ld.global.u32 %r1, [%rd1];
//!     ret;
//! }
//! ```
//!
//! ```text
//! illegal address in kernel `first` at line 8, `ld.global.u32 %r1, [%rd1];`, block (0, 0, 0),
//! thread (0, 0, 0): cannot read 4 bytes of global memory at 0xa0000000000: read of 4 bytes at
//! 0xa0000000000: the buffer of 16 bytes at 0xa0000000000 was freed
//! ```
//!
//! A race between barriers. Each thread writes a word of shared memory and reads that of its
//! neighbour, without `bar.sync 0;` between the two:
//!
//! ```text
//! .version 7.0
//! .target sm_60
//! .address_size 64
//! .shared .b32 words[64];
//! .visible .entry swap(.param .u64 p) {
//!     .reg .b32 %r<7>;
//!     mov.u32 %r1, %tid.x;
//!     mov.u32 %r2, words;
//!     shl.b32 %r3, %r1, 2;
//!     add.s32 %r4, %r2, %r3;
//!     st.shared.u32 [%r4], %r1;
//!     xor.b32 %r5, %r4, 4;
//!     ld.shared.u32 %r6, [%r5];
//!     ret;
//! }
//! ```
//!
//! ```text
//! data race in kernel `swap` at line 11, `st.shared.u32 [%r4], %r1;`, block (0, 0, 0), thread (1,
//! 0, 0): this thread writes byte 4 of shared memory, which thread (0, 0, 0) read at line 13
//! without a barrier in between
//! ```
//!
//! A divergent barrier. Half of the threads wait at one barrier, and half at another:
//!
//! ```text
//! .version 7.0
//! .target sm_60
//! .address_size 64
//! .visible .entry half(.param .u64 p) {
//!     .reg .pred %p<2>;
//!     .reg .b32 %r<2>;
//!     mov.u32 %r1, %tid.x;
//!     setp.lt.u32 %p1, %r1, 32;
//!     @%p1 bra OTHER;
//!     bar.sync 0;
//!     bra DONE;
//!     OTHER: bar.sync 1;
//!     DONE: ret;
//! }
//! ```
//!
//! ```text
//! deadlock in kernel `half` at line 12, `bar.sync 1;`, block (0, 0, 0), thread (0, 0, 0):
//! divergent barrier or wrong mask: 0 threads have ended, but others wait: thread 0 at line 12,
//! thread 1 at line 12, thread 2 at line 12, thread 3 at line 12, …
//! ```
//!
//! | mistake | report |
//! |---|---|
//! | an access beyond a buffer, or to freed memory | `CUDA_ERROR_ILLEGAL_ADDRESS`, with the buffer |
//! | a race in shared memory, a barrier that not all threads reach | `CUDA_ERROR_LAUNCH_FAILED`, with the other threads |
//! | a misaligned access | `CUDA_ERROR_MISALIGNED_ADDRESS` |
//! | an endless loop | `CUDA_ERROR_LAUNCH_TIMEOUT` |
//! | memory that was never written | its bytes are 0xFF: NaN, as a float |
//! | arguments that do not match the kernel | `CUDA_ERROR_INVALID_VALUE` at the launch, with the number of the argument |
//! | a stream of one context with an event, a kernel or a library handle of another | `CUDA_ERROR_INVALID_HANDLE`, or the library's status, at the call |
//!
//! To see how a program handles failures, inject them: `TFRT_GPU_FAIL=cuMemAlloc@2=2` fails the
//! second allocation with status 2. Several are separated by commas, and calls of the libraries
//! have the names of their functions: `cublasGemmEx@1=13`. With `--gpu=cuda` the variable does the
//! same, and [`failures`](crate::failures) does so for embedders.
//!
//! The host device interprets device code and computes everything else in double precision on one
//! thread. It is meant for tests.
