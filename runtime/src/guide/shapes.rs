//! Shapes and memory decided outside of kernels.
//!
//! A kernel that makes a large result would first find out how large, then allocate, then compute. The first two are better
//! known to the runtime: to check programs early, to plan memory, to use a buffer again. So a kernel may leave them to two
//! functions beside it:
//!
//! - a *metadata function*: from the shapes and element types of operands, and from attributes, those of the results;
//! - a *workspace function*: how many elements of scratch memory the kernel needs.
//!
//! Neither sees any data, and both can be asked without the kernel. The kernel takes `#[out]` parameters, which are results
//! that are there already, and `#[workspace]`, which is zeroed memory for the duration of the call.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// A list of numbers. Tensors are such types; any type can be.
//! #[derive(Debug, PartialEq, Value)]
//! #[value("!shapes.row", mutable)]
//! struct Row(Vec<f32>);
//!
//! impl Shaped for Row {
//!     fn metadata(&self) -> TensorMetadata {
//!         TensorMetadata::new(DType::F32, [self.0.len()])
//!     }
//! }
//!
//! impl Preallocated for Row {
//!     fn allocate(_ctx: &ExecutionContext, metadata: &TensorMetadata) -> Result<Self> {
//!         Ok(Self(vec![0.0; metadata.extents.iter().product()]))
//!     }
//! }
//!
//! /// Sums over windows.
//! #[tfrt_kernel("shapes.window_sums", metadata = window_shape)]
//! fn window_sums(row: &Row, #[attr] width: i64, #[out] sums: &mut Row) -> Result<()> {
//!     for (sum, window) in sums.0.iter_mut().zip(row.0.windows(usize::try_from(width)?)) {
//!         *sum = window.iter().sum();
//!     }
//!     Ok(())
//! }
//!
//! /// As many sums as there are windows.
//! fn window_shape(row: &TensorMetadata, width: i64) -> Result<TensorMetadata> {
//!     let (len, width) = (row.extents[0], usize::try_from(width)?);
//!     if !(1..=len).contains(&width) {
//!         return Err(Error::new(format!("no window of {width} in a row of {len}")).with_code(ErrorCode::InvalidArgument));
//!     }
//!     Ok(TensorMetadata::new(DType::F32, [len - width + 1]))
//! }
//!
//! let sums = |width: i64| {
//!     let row = testing::made(|| Row(vec![1.0, 2.0, 3.0, 4.0]));
//!     testing::kernel("shapes.window_sums").operands((row,)).attribute("width", width).run()
//! };
//! sums(2).expect_value(Row(vec![3.0, 5.0, 7.0]));
//! sums(5).expect_error("no window of 5 in a row of 4").with_code(ErrorCode::InvalidArgument);
//! ```
//!
//! The metadata function takes one [`TensorMetadata`](crate::prelude::TensorMetadata) for each operand that the kernel
//! takes as `&T` or `&mut T`, and every attribute, in the order of the kernel's parameters; it gives the metadata of each
//! `#[out]`, several as a tuple. The compiler checks that the two signatures fit. Such a kernel returns nothing, or
//! `Result<()>`: all its results are `#[out]`, and so it is for kernels with a workspace.
//!
//! # Workspace
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//! # #[derive(Debug, PartialEq, Value)]
//! # #[value("!shapes.samples", mutable)]
//! # struct Samples(Vec<f32>);
//! # impl Shaped for Samples {
//! #     fn metadata(&self) -> TensorMetadata { TensorMetadata::new(DType::F32, [self.0.len()]) }
//! # }
//!
//! /// Replaces each number by the difference to the one before it.
//! #[tfrt_kernel("shapes.differences", workspace = as_many)]
//! fn differences(samples: &mut Samples, #[workspace] before: &mut [f32]) {
//!     before.copy_from_slice(&samples.0);
//!     for (difference, pair) in samples.0.iter_mut().skip(1).zip(before.windows(2)) {
//!         *difference = pair[1] - pair[0];
//!     }
//! }
//!
//! /// One element for each sample.
//! fn as_many(samples: &TensorMetadata) -> usize {
//!     samples.extents[0]
//! }
//!
//! /// Sums up, so that there is something to see.
//! #[tfrt_kernel("shapes.sum")]
//! fn sum(samples: &Samples) -> f32 {
//!     samples.0.iter().sum()
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%samples: !shapes.samples, %ready: !tfrt.chain) -> f32 {
//!       %done = "shapes.differences"(%samples, %ready) : (!shapes.samples, !tfrt.chain) -> !tfrt.chain
//!       %last = "shapes.sum"(%samples, %done) : (!shapes.samples, !tfrt.chain) -> f32
//!       tfrt.return %last : f32
//!     }
//!     "#,
//! )
//! .call("main", (testing::made(|| Samples(vec![1.0, 4.0, 9.0])), Chain))
//! .expect_value(9.0_f32);
//! ```
