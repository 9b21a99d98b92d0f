//! Your first tensor program: it takes an array, applies a kernel of yours, and returns an array.
//!
//! # The kernel
//!
//! A tensor is an operand like any other. Its elements are borrowed as a slice of the expected
//! type. A new tensor is allocated with the allocator of the context, which enforces the memory
//! limit of the request:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::tensor::{DenseHostTensor, TensorError};
//! use tfrt::testing;
//!
//! /// Returns the softmax of a vector.
//! #[tfrt_kernel("first.softmax")]
//! fn softmax(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor, TensorError> {
//!     let elements = x.elements::<f32>()?;
//!     let largest = elements.iter().copied().fold(f32::NEG_INFINITY, f32::max);
//!     let sum: f32 = elements.iter().map(|x| (x - largest).exp()).sum();
//!     x.map(ctx.allocator(), |x: f32| (x - largest).exp() / sum)
//! }
//!
//! let x = DenseHostTensor::vector(&[0.0_f32, 0.0])?;
//! let outcome = testing::kernel("first.softmax").operands((x,)).run();
//! outcome.with_value(0, |y: &DenseHostTensor| assert_eq!(*y.elements::<f32>().unwrap(), [0.5, 0.5]));
//! # Ok::<(), TensorError>(())
//! ```
//!
//! # The program
//!
//! `softmax.mlir`, where all tensors are of type `!t.tensor`:
//!
//! ```mlir
//! func @main(%x: !t.tensor) -> !t.tensor {
//!   %y = "first.softmax"(%x) : (!t.tensor) -> !t.tensor
//!   tfrt.return %y : !t.tensor
//! }
//! ```
//!
//! # From the command line
//!
//! An argument may be a NumPy file, as written by `numpy.save("x.npy", x)`. Results are printed
//! with their elements:
//!
//! ```console
//! $ cargo run -- run --arg x=@x.npy softmax.mlir
//! Choosing memory leak check allocator.
//! Choosing single-threaded work queue.
//! --- Running 'main':
//! 'main' returned f32 [3]: [9.003057e-02, 2.447285e-01, 6.652409e-01]
//! ```
//!
//! `tfrt tensors x.npy` describes such a file.
//!
//! # From Rust
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::executor::Program;
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//! use tfrt::tensor::DenseHostTensor;
//! # /// Doubles.
//! # #[tfrt_kernel("first.twice")]
//! # fn twice(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
//! #     Ok(x.map(ctx.allocator(), |x: f32| 2.0 * x)?)
//! # }
//!
//! let source = r#"
//!     func @main(%x: !t.tensor) -> !t.tensor {
//!       %y = "first.twice"(%x) : (!t.tensor) -> !t.tensor
//!       tfrt.return %y : !t.tensor
//!     }
//! "#;
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let file = tfrt::text::compile(source, "twice.mlir", &kernels)?;
//! let host = HostContext::builder().registry(kernels).build();
//! let main = Program::load(&host, &file)?.function("main").ok_or("no function `main`")?;
//!
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
//! let results = main.execute(&ctx, &[AnyRef::available(DenseHostTensor::vector(&[1.5_f32])?)]);
//! host.await_values(&results)?;
//! let y = results[0].as_result::<DenseHostTensor>()?;
//! assert_eq!(*y.elements::<f32>()?, [3.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Next: [tensors](super::tensors) of every kind, changed in place and of fixed rank, and
//! [shapes](super::shapes), which let the runtime allocate results before a kernel runs.
