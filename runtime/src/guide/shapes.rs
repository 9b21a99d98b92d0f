//! Shapes and memory that are determined outside the kernel.
//!
//! A kernel with a large result determines its size, allocates it, and computes it. The first two
//! steps are better left to the runtime, which can then check programs early, plan memory and reuse
//! buffers. Two functions next to the kernel describe them:
//!
//! - a *metadata function* computes the shapes and element types of the results from those of the
//!   operands and from attributes;
//! - a *workspace function* computes the number of elements of scratch memory.
//!
//! Neither sees any data, and both can be called without the kernel. The kernel takes `#[out]`
//! parameters, which are preallocated results, and `#[workspace]` parameters, which are zeroed
//! memory for the duration of the call.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// A list of numbers. Any type can be preallocated, not only tensors.
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
//! /// There are as many sums as windows.
//! fn window_shape(row: &TensorMetadata, width: i64) -> Result<TensorMetadata> {
//!     let (len, width) = (row.extents[0], usize::try_from(width)?);
//!     if !(1..=len).contains(&width) {
//!         return Err(Error::new(format!("no window of {width} in a row of {len}")).with_code(ErrorCode::InvalidArgument));
//!     }
//!     Ok(TensorMetadata::new(DType::F32, [len - width + 1]))
//! }
//!
//! let sums = |width: i64| {
//!     let row = testing::value_from(|| Row(vec![1.0, 2.0, 3.0, 4.0]));
//!     testing::kernel("shapes.window_sums").operands((row,)).attribute("width", width).run()
//! };
//! sums(2).expect_value(Row(vec![3.0, 5.0, 7.0]));
//! sums(5).expect_error("no window of 5 in a row of 4").with_code(ErrorCode::InvalidArgument);
//! ```
//!
//! The metadata function takes one [`TensorMetadata`](crate::prelude::TensorMetadata) for each
//! operand that the kernel takes as `&T` or `&mut T`, and every attribute, in the order of the
//! kernel's parameters; it returns the metadata of each `#[out]`, several as a tuple. The compiler
//! checks that the two signatures match. Such a kernel returns nothing or `Result<()>`: all its
//! results are `#[out]`. The same holds for kernels with a workspace.
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
//! /// Replaces each number with the difference to the previous one.
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
//! /// Returns the sum, to check the result.
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
//! .call("main", (testing::value_from(|| Samples(vec![1.0, 4.0, 9.0])), Chain))
//! .expect_value(9.0_f32);
//! ```
