//! Ops: one by one.
//!
//! A program is a graph, and a graph is known before it runs. Sometimes you want the opposite: call one operation, look at
//! what it returned, and decide what to call next, from Rust, as with NumPy or with TensorFlow's eager mode. The *Core Runtime* does that.
//! What it calls by name is an *op*.
//!
//! An op is a kernel that takes and returns tensors. `#[tfrt_op]` makes a function both: graphs run it as a kernel, and whoever has
//! tensors at hand calls it by its name.
//!
//! `tfrt new --ops shapes` creates a crate with an op and a test that calls it.
//!
//! # An op
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// The product of a matrix and a vector.
//! #[tfrt_op("ops.MatVec", T = [f32, f64, i64], metadata = mat_vec_shape)]
//! fn mat_vec<T: Element + std::iter::Sum + std::ops::Mul<Output = T>>(
//!     matrix: TensorView<'_, T, 2>,
//!     vector: &[T],
//!     #[out] product: &mut [T],
//! ) {
//!     for (row, product) in product.iter_mut().enumerate() {
//!         *product = matrix.row(row).iter().zip(vector).map(|(a, b)| *a * *b).sum();
//!     }
//! }
//!
//! /// `[m, n]` and `[n]` make `[m]`.
//! fn mat_vec_shape(matrix: &TensorMetadata, vector: &TensorMetadata) -> Result<TensorMetadata> {
//!     match (&*matrix.extents, &*vector.extents) {
//!         (&[m, n], &[len]) if len == n => Ok(TensorMetadata::new(matrix.dtype, [m])),
//!         _ => Err(Error::new(format!("cannot multiply {matrix} and {vector}"))),
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! let eager = EagerContext::builder(host).build()?;
//! let matrix = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]])?;
//! let vector = eager.tensor([1.0_f32, 10.0])?;
//! let product = eager.op("ops.MatVec")?.call(&[&matrix, &vector])?;
//! assert_eq!(eager.to_vec::<f32>(&product)?, [21.0, 43.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Four things happened that a kernel alone does not do:
//!
//! - The function is generic, and there is *one* op. `T = [f32, f64, i64]` are the element types that it is for; which one a call is about
//!   the first operand says that is written with `T`. An `i8` is refused, with the list of what is taken.
//! - The parameters are elements. A slice is all elements of a dense tensor; a `TensorView` has a rank, too, and indices. The runtime borrows them,
//!   and refuses tensors of another rank.
//! - `#[out]` is a result that the runtime allocated, as large as `mat_vec_shape` said.
//! - The call returned at once. `product` is a *handle*: its metadata is known already, and its tensor when the work is done.
//!
//! # What goes wrong, and when
//!
//! A metadata function sees shapes and element types, and no data. It runs when the op is called, so that what it refuses is the error
//! of the call, with the line that called. What the function itself finds, with the data in its hands, is the error of the call if the op ran
//! before the call returned. If it ran later, because it waited for operands or is an `async fn`, it is the error of the handle, and of all
//! handles that are computed from it. Nothing else stops.
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// The quotients of the elements of two tensors.
//! #[tfrt_op("ops.Divide", metadata = same_shape)]
//! fn divide(a: &[i32], b: &[i32], #[out] quotients: &mut [i32]) -> Result<()> {
//!     for (index, quotient) in quotients.iter_mut().enumerate() {
//!         let divided = a[index].checked_div(b[index]);
//!         *quotient = divided.ok_or_else(|| Error::new(format!("element {index} is divided by zero")))?;
//!     }
//!     Ok(())
//! }
//!
//! fn same_shape(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
//!     if a.extents == b.extents {
//!         Ok(a.clone())
//!     } else {
//!         Err(Error::new(format!("{a} and {b} differ in shape")))
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! let eager = EagerContext::builder(host).build()?;
//! let (a, b) = (eager.tensor([6, 8])?, eager.tensor([3, 0])?);
//!
//! // Known at the call.
//! let refused = eager.op("ops.Divide")?.call(&[&a, &eager.tensor([1])?]).unwrap_err();
//! assert_eq!(refused.message(), "i32 [2] and i32 [1] differ in shape");
//!
//! // Known when it runs.
//! let failed = eager.op("ops.Divide")?.call(&[&a, &b]).unwrap_err();
//! assert_eq!(failed.message(), "element 1 is divided by zero");
//! # Ok(())
//! # }
//! ```
//!
//! [`tfrt::core::metadata`](crate::core::metadata) has functions for the common cases: `metadata = broadcast` is the shape that two operands are stretched to,
//! `metadata = same_as` that of the only one; others, such as `reduce` and `concat`, are called by functions like the one above.
//!
//! A metadata function takes the metadata of *every* operand, in their order, and then what attributes there are, each by the type of its parameter;
//! the compiler says so if it does not. If it cannot tell a shape without data, it returns `None` for that result, and without a
//! metadata function nothing is known before the op has run.
//!
//! # Attributes
//!
//! `#[attr]` parameters are found by name, and defaults stand in for those that a caller leaves out:
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// Keeps elements between two bounds.
//! #[tfrt_op("ops.Clamp")]
//! fn clamp(
//!     x: &AnyRef,
//!     host: &HostContext,
//!     #[attr(default = 0.0)] low: f32,
//!     #[attr] high: Option<f32>,
//! ) -> Result<DenseHostTensor> {
//!     let mut y = DenseHostTensor::make_exclusive(x, host.allocator())?;
//!     for y in y.elements_mut::<f32>()?.iter_mut() {
//!         *y = y.max(low).min(high.unwrap_or(f32::INFINITY));
//!     }
//!     Ok(y)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! # let eager = EagerContext::builder(host).build()?;
//! let x = eager.tensor([-1.0_f32, 5.0])?;
//! let clamped = eager.op("ops.Clamp")?.attr("high", 2.0_f32)?.call(&[&x])?;
//! assert_eq!(eager.to_vec::<f32>(&clamped)?, [0.0, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! This op takes its operand as an `&AnyRef`, which is a reference to the tensor rather than the tensor itself.
//! [`DenseHostTensor::make_exclusive`](crate::tensor::DenseHostTensor::make_exclusive) returns the tensor in its own memory if the op holds the last reference,
//! and a copy if not. Here `x` is still held by the caller, and therefore copied.
//!
//! # Effects
//!
//! Ops have no effects, unless they say so: `side_effecting`, `effect = "class"`, or a parameter `&mut DenseHostTensor`. Calls of such ops from one thread
//! happen in the order of the program; all other ops wait for nothing but their operands. In graphs the same ops have a [chain](super::chains).
//!
//! # Kinds of tensors
//!
//! An op is given dense tensors: a scalar tensor, which is one value for all elements, or a sparse one is made dense before. An op that
//! takes them as they are has a parameter such as `&ScalarHostTensor`, or says `accepts(scalar, sparse)` and takes a `&dyn Tensor`. Strings
//! are taken by those that have a parameter `&StringHostTensor` or say `accepts(string)`.
//!
//! # As kernels
//!
//! The op is a kernel of the same name, with the generic form:
//!
//! ```
//! # use tfrt::prelude::*;
//! # #[tfrt_op("ops.Twice")]
//! # fn twice(x: &DenseHostTensor) -> Result<DenseHostTensor> {
//! #     let doubled: Vec<i32> = x.elements::<i32>()?.iter().map(|x| 2 * x).collect();
//! #     Ok(DenseHostTensor::vector(&doubled)?)
//! # }
//! let program = tfrt::testing::program(
//!     r#"func @main(%x: !t.tensor) -> !t.tensor {
//!       %y = "ops.Twice"(%x) : (!t.tensor) -> !t.tensor
//!       tfrt.return %y : !t.tensor
//!     }"#,
//! );
//! let x = tfrt::testing::value_from(|| DenseHostTensor::vector(&[1, 2]).unwrap());
//! let outcome = program.call("main", (x,));
//! outcome.with_value(0, |y: &DenseHostTensor| assert_eq!(*y.elements::<i32>().unwrap(), [2, 4]));
//! ```
//!
//! What a graph can do beyond it, an op cannot: it takes no numbers, texts or functions as operands, and runs when all of its operands are there.
//!
//! # Functions as ops
//!
//! A function of a program, from tensor handles to tensor handles, is an op, too. It is made ready by the first call with tensors of given
//! element types, shapes and devices: shapes are checked, what no result needs is left out, every op gets a device, and ops become
//! their kernels. Calls of the same kind after that run what was made, without handlers and handles in between.
//!
//! ```no_run
//! # #[cfg(feature = "function-ops")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use tfrt::core::EagerContext;
//! use tfrt::function_ops::{FunctionOps, FunctionProgram};
//! use tfrt::prelude::*;
//!
//! let source = r#"
//!     func @layer(%x: !corert.tensorhandle, %weights: !corert.tensorhandle) -> !corert.tensorhandle {
//!       %c = tfrt.new.chain
//!       %cpu = corert.get_op_handler %c "cpu"
//!       %y = corert.executeop(%cpu) "tf.MatMul"(%x, %weights) { transpose_a = false, transpose_b = false } : 1
//!       %z = corert.executeop(%cpu) "tf.Relu"(%y) : 1
//!       tfrt.return %z : !corert.tensorhandle
//!     }
//! "#;
//! let kernels = std::sync::Arc::new(KernelRegistry::from_link()?);
//! let program = FunctionProgram::from_text(source, "layer.mlir", &kernels)?;
//! let eager = EagerContext::builder(HostContext::builder().registry(kernels).build()).build()?;
//! let layer = eager.function_op(&program, "layer")?;
//! let z = layer.call(&[&eager.tensor([[1.0_f32, -2.0]])?, &eager.tensor([[1.0_f32], [2.0]])?])?;
//! assert_eq!(eager.to_vec::<f32>(&z)?, [0.0]);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "function-ops"))]
//! # fn main() {}
//! ```
//!
//! `cargo run -p tfrt-kernels --example function_op` runs a function like this one.
//!
//! Where a context has several devices, an op of the function says by its attribute `corert.device` where it runs, or by
//! `corert.colocate_with` which other op it follows, the one whose `corert.name` is the same. Others go where moving their operands costs least. The
//! function is then split into one for each device, which exchange values; the first failure ends all of them. `tf.PartitionedCall` and
//! `tf.StatefulPartitionedCall` call another function of the program, which their attribute `f` names; a function that calls itself is refused.
//! In a program that runs op by op they call it when they run, and the depth of calls is limited.
//!
//! Before ops are placed, rules replace some of them by others that compute the same with less work, such as a product and a bias by one op.
//! [`rewrite!`](macro@crate::function_ops::rewrite) declares rules of your own, for your ops.
//!
//! Each step is a pass, so that `tfrt opt --corert-infer-metadata --corert-place --corert-partition --corert-lower` shows what becomes of a
//! program, and `--corert-explain-placement` says why ops are where they are.
//!
//! # Several devices, and what else there is
//!
//! `device = "gpu"` on a second function of the same name is the op for devices of another type. Callers do not know which one runs, so that
//! both must have like operands, attributes, results and effects; an op of which this is not true fails at its first use, with both places.
//!
//! `raw` is for ops whose attributes may be of any type: the function takes its call, an [`OpCall`](crate::core::OpCall), and there is no kernel.
//! `metadata_only` registers a metadata function for an op that runs elsewhere. The [macro's page](macro@crate::prelude::tfrt_op) has every form.
