//! Ops on a GPU, one by one.
//!
//! ```text
//!  EagerContext, corert.* ──► op for `gpu` ──► GpuCall ──► work on the stream of the device
//!                                                 │
//!        EagerGpu: context, stream, allocator, ───┘
//!        handles of libraries, loaded kernels
//! ```
//!
//! An [`EagerGpu`] is the device `GPU:N` of a host. It is opened when a program first names it, and
//! all ops on it enqueue their work on its one stream. So an op returns at once, and the tensors
//! that it returns may not be written yet: whoever reads them does so on the same stream, or copies
//! them to the host, which waits.
//!
//! An op for GPUs is a function of its call, registered like every op:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt_gpu::eager::{DeviceKernel, GpuCall};
//!
//! /// Adds one to each element.
//! #[tfrt_op("my.Increment", raw, device = "gpu")]
//! fn increment(call: &mut OpCall<'_>) -> Result<()> {
//!     const KERNEL: DeviceKernel = DeviceKernel {
//!         name: "increment",
//!         image: |_gpu| Ok(INCREMENT.to_owned()),
//!     };
//!     let mut call = GpuCall::new(call)?;
//!     let x = call.tensor(0)?;
//!     call.expect_dtype(x, &[DType::F32])?;
//!     let y = call.allocate(x.dtype(), x.shape().clone())?;
//!     call.launch(KERNEL, x.num_elements(), &[x.into(), (&y).into()])?;
//!     call.set_result(0, y);
//!     Ok(())
//! }
//!
//! const INCREMENT: &str = "
//!     .version 7.0
//!     .target sm_70
//!     .address_size 64
//!     .visible .entry increment(.param .u64 n, .param .u64 x, .param .u64 y) {
//!         .reg .pred %p<2>;
//!         .reg .b32 %r<4>;
//!         .reg .f32 %f<3>;
//!         .reg .b64 %rd<8>;
//!         mov.u32 %r1, %ctaid.x;
//!         mov.u32 %r2, %ntid.x;
//!         mov.u32 %r3, %tid.x;
//!         mul.wide.u32 %rd1, %r1, %r2;
//!         cvt.u64.u32 %rd2, %r3;
//!         add.u64 %rd1, %rd1, %rd2;
//!         ld.param.u64 %rd2, [n];
//!         setp.ge.u64 %p1, %rd1, %rd2;
//!         @%p1 bra DONE;
//!         ld.param.u64 %rd3, [x];
//!         ld.param.u64 %rd4, [y];
//!         shl.b64 %rd5, %rd1, 2;
//!         add.u64 %rd6, %rd3, %rd5;
//!         add.u64 %rd7, %rd4, %rd5;
//!         ld.global.f32 %f1, [%rd6];
//!         add.rn.f32 %f2, %f1, 0f3F800000;
//!         st.global.f32 [%rd7], %f2;
//!     DONE:
//!         ret;
//!     }";
//!
//! use tfrt::core::EagerContext;
//! use tfrt::host::HostContext;
//! use tfrt_gpu::host_device::{HostDevice, Options};
//! use tfrt_gpu::platform::Gpu;
//!
//! let host = HostContext::builder().build();
//! // Threads of this process stand in for a GPU.
//! Gpu::install(&host, HostDevice::open(Options::default()));
//! let gpu = host.device("GPU:0")?;
//! let eager = EagerContext::builder(host).device(gpu.0).build()?;
//! let x = eager.tensor([1.0_f32, 2.5])?;
//! let y = eager.op("my.Increment")?.ready()?.call(&[&x])?;
//! assert_eq!(y.device().unwrap().0.name(), "GPU:0");
//! assert_eq!(eager.to_vec::<f32>(&y)?, [2.0, 3.5]);
//! # Ok::<(), tfrt::Error>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `device` | [`EagerGpu`]: the device and what it owns |
//! | `call` | [`GpuCall`]: what an op does its work with |
//! | `transfer` | tensors from and to the host, and between devices |
//! | `staging` | pinned memory on the way of large tensors |
//! | `timeline` | the times of ops, for traces |
//! | `code`, `layout` | device code of the ops, and how elements of operands lie in memory |
//! | `ops` | the ops of this crate |

mod device;

mod call;

mod transfer;

mod staging;

mod timeline;

mod code;

mod layout;

mod ops;

pub use call::{GpuCall, KernelArgument};
pub use device::{DeviceKernel, EagerGpu};
