//! Ops: calling one operation at a time.
//!
//! A program is a graph that is known before it runs. Sometimes you want the opposite: to call one
//! operation from Rust, look at its result, and decide what to call next, as with NumPy or
//! TensorFlow's eager mode. The *Core Runtime* provides this. The operations that it calls by name
//! are *ops*.
//!
//! An op is a kernel that takes and returns tensors. `#[tfrt_op]` makes a function both: graphs run
//! it as a kernel, and Rust code calls it by name with tensors.
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
//! This op does four things that a plain kernel does not:
//!
//! - The function is generic, but there is *one* op. `T = [f32, f64, i64]` lists the element types
//!   that it supports, and the first operand of type `T` selects one at each call. An `i8` is
//!   refused with an error that lists the supported types.
//! - The parameters are elements. A slice holds all elements of a dense tensor; a `TensorView` also
//!   has a rank and indices. The runtime borrows them, and refuses tensors of another rank.
//! - `#[out]` is a result that the runtime has allocated with the shape that `mat_vec_shape`
//!   returned.
//! - The call returns at once. `product` is a *handle*: its metadata is known immediately, and its
//!   tensor when the work is done.
//!
//! # Where errors appear
//!
//! A metadata function sees shapes and element types, but no data. It runs when the op is called,
//! so an error that it returns is an error of the call, with the line of the caller. An error of
//! the function itself is an error of the call if the op ran before the call returned. If the op
//! ran later, because it waited for operands or is an `async fn`, the error is that of the handle,
//! and of all handles computed from it. Other work continues.
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
//! [`tfrt::core::metadata`](crate::core::metadata) has functions for the common cases:
//! `metadata = broadcast` is the shape to which two operands are broadcast, and
//! `metadata = same_as` is the shape of the only operand. The option takes a path, so import the
//! function. Call others, such as `reduce` and `concat`, from a function like the one above.
//!
//! A metadata function takes the metadata of *every* operand, in order, and then any of the
//! attributes, each with the type of its parameter; the compiler checks the signature. If it cannot
//! tell a shape without data, it returns `None` for that result. Without a metadata function,
//! nothing is known before the op has run.
//!
//! An error says more than its message: `error.place()` is the line of the call that failed first,
//! and `error.call()` describes that call, whichever handles passed the error on.
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// Returns the tensor, which is not empty.
//! #[tfrt_op("ops.NotEmpty")]
//! fn not_empty(x: DenseHostTensor) -> Result<DenseHostTensor> {
//!     if x.num_elements() == 0 {
//!         return Err(Error::new("there is no element"));
//!     }
//!     Ok(x)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! let eager = EagerContext::builder(host).build()?;
//! let nothing = eager.tensor([0.0_f32; 0])?;
//! let error = eager.op("ops.NotEmpty")?.call(&[&nothing]).unwrap_err();
//! assert_eq!(error.message(), "there is no element");
//! assert_eq!(error.call(), Some("ops.NotEmpty(f32 [0]) on CPU:0"));
//! assert!(error.place().to_string().contains(".rs:"));
//! # Ok(())
//! # }
//! ```
//!
//! Compilers ask about shapes before there are tensors, and may know them in part.
//! `partial = path` names a function for that, from what is known of the operands to the most that
//! holds for the results: [`partial`](crate::core::metadata::partial) has one for each common case.
//! With `metadata = broadcast, partial = partial::broadcast`, the sum of an `f32 [?, 3]` and an
//! `f32 [4, 1]` is known to be an `f32 [4, 3]`. Without such a function nothing is known of the
//! result.
//!
//! A context with several devices chooses the one that is cheapest. `cost = path` names a function
//! that takes the same parameters as a metadata function, and estimates how many microseconds the
//! op takes on a device of its type. Without it, the speed that the
//! [device](crate::host::device::Device::bytes_per_microsecond) states is used, if it states one.
//! The cost of moving operands, which depends on the [link](crate::host::device::LinkCost) between
//! two devices, is added. `EagerContext::explain` shows these numbers.
//!
//! # Attributes
//!
//! `#[attr]` parameters are matched by name, and a default replaces an attribute that the caller
//! omits:
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
//! This op takes its operand as an `&AnyRef`, a reference to the tensor rather than the tensor
//! itself. [`DenseHostTensor::make_exclusive`](crate::tensor::DenseHostTensor::make_exclusive)
//! returns the tensor in its own memory if the op holds the last reference, and a copy otherwise.
//! Here the caller still holds `x`, so it is copied.
//!
//! # Called by a Rust function
//!
//! A name in a string is checked when the program runs. `function = transposed_product` makes a
//! Rust function that calls the op, which the compiler checks: it takes the context, a
//! `&TensorHandle` for each operand (an `Option` of one where the op has one, `&[&TensorHandle]`
//! for all that remain), and each attribute by the type of its parameter. An attribute may be an
//! enum that derives `Attr`, here and in `op.attr("mode", Mode::Fast)`. The function has the
//! visibility and the documentation of the op's function.
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// Returns the sum of the products of elements, times a factor.
//! #[tfrt_op("ops.Dot", function = dot)]
//! fn dot_elements(a: &[f32], b: &[f32], #[attr] factor: f32) -> Result<DenseHostTensor> {
//!     let sum: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
//!     Ok(DenseHostTensor::vector(&[factor * sum])?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! # let eager = EagerContext::builder(host).build()?;
//! let a = eager.tensor([1.0_f32, 2.0])?;
//! let product = dot(&eager, &a, &a, 10.0)?;
//! assert_eq!(eager.to_scalar::<f32>(&product)?, 50.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Results in the memory of operands
//!
//! In `relu(&relu(&x))` no other code uses the intermediate tensor, so the result can reuse its
//! memory. `forward = x` allows this. The function then takes `x` as a `Forwarded<'_, T>`: either
//! the elements of `x`, separate from the result, or the information that the result already
//! contains them:
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// Returns the larger of each element and zero.
//! #[tfrt_op("ops.Relu", metadata = same, forward = x)]
//! fn relu(x: Forwarded<'_, f32>, #[out] y: &mut [f32]) {
//!     x.map_to(y, |x| x.max(0.0));
//! }
//!
//! fn same(x: &TensorMetadata) -> TensorMetadata {
//!     x.clone()
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! # let eager = EagerContext::builder(host).build()?;
//! let relu = eager.op("ops.Relu")?.ready()?;
//! // The handle is given away, so that the result takes its memory.
//! let y = relu.call_owned([eager.tensor([-1.0_f32, 2.0])?])?;
//! assert_eq!(eager.to_vec::<f32>(&y)?, [0.0, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Resources
//!
//! A tensor is a value: it never changes. State that changes, such as a variable or a random
//! generator, is a *resource*: an object of a type of your own that a
//! [`ResourceTensor`](crate::tensor::ResourceTensor) refers to. An op returns one, and others take
//! it with `#[resource]`. They run on the device that holds it. `effect = "class"` declares that
//! their calls run in program order, and `reads = "class"` that they run between such calls:
//!
//! ```
//! use std::sync::Mutex;
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// A number that calls share.
//! struct Total(Mutex<f32>);
//!
//! /// Returns a total of nothing.
//! #[tfrt_op("ops.NewTotal", function = new_total)]
//! fn make_total() -> ResourceTensor {
//!     ResourceTensor::new(Total(Mutex::new(0.0)))
//! }
//!
//! /// Adds to a total, and returns it.
//! #[tfrt_op("ops.AddTo", effect = "totals", function = add_to)]
//! fn add_to_total(#[resource] total: &Total, x: &[f32]) -> Result<DenseHostTensor> {
//!     let mut total = total.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
//!     *total += x.iter().sum::<f32>();
//!     Ok(DenseHostTensor::vector(&[*total])?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! # let eager = EagerContext::builder(host).build()?;
//! let total = new_total(&eager)?;
//! add_to(&eager, &total, &eager.tensor([1.0_f32, 2.0])?)?;
//! let sum = add_to(&eager, &total, &eager.tensor([4.0_f32])?)?;
//! assert_eq!(eager.to_scalar::<f32>(&sum)?, 7.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Effects
//!
//! Ops have no effects unless they declare them: `side_effecting`, `effect = "class"`, or a
//! parameter `&mut DenseHostTensor`. Effects of one class happen in the order of the calls of a
//! thread, and effects of two classes do not wait for each other; `side_effecting` alone is the
//! class `io`. All other ops wait only for their operands. In graphs, the same ops have a
//! [chain](super::chains).
//!
//! An op that writes to a parameter is ordered with all effects, and with every call of the thread
//! on the same tensor: it runs after earlier calls that read the tensor, and later calls,
//! `EagerContext::wait` and the methods that return elements see what it wrote. This includes other
//! tensors with the same elements, such as the result of a reshape. A pending result may turn out
//! to share the elements of an operand, so it is ordered like all operands of its call until it is
//! available. Not ordered are: `TensorHandle::value` and the text of a handle, which see the tensor
//! as it is; threads that use one tensor without waiting for each other; a pending handle whose
//! promise is fulfilled with the tensor by another thread at the time of the call; ops that are
//! declared with `raw`, which are taken to only read their operands; and parts of a tensor that
//! overlap without beginning at the same element. A function that is called as an op is taken to
//! write to all of its operands if an op of its program writes to a tensor.
//!
//! # Kinds of tensors
//!
//! An op receives dense tensors: a scalar tensor, which is one value for all elements, or a sparse
//! tensor is converted first. An op that takes them unconverted has a parameter such as
//! `&ScalarHostTensor`, or declares `accepts(scalar, sparse)` and takes a `&dyn Tensor`. String
//! tensors need a parameter `&StringHostTensor` or `accepts(string)`.
//!
//! `EagerContext::tensor` makes a string tensor of a string, or of a slice, vector or array of
//! strings, and `EagerContext::to_strings` returns the strings of one:
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! /// Returns the lengths of strings, in bytes.
//! #[tfrt_op("ops.Lengths")]
//! fn lengths(x: &StringHostTensor) -> Result<DenseHostTensor> {
//!     let lengths: Vec<i64> = x.strings().iter().map(|string| string.len() as i64).collect();
//!     Ok(DenseHostTensor::vector(&lengths)?)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
//! # let eager = EagerContext::builder(host).build()?;
//! let words = eager.tensor(["dataflow", "op"])?;
//! assert_eq!(eager.to_strings(&words)?, ["dataflow", "op"]);
//! let lengths = eager.op("ops.Lengths")?.call(&[&words])?;
//! assert_eq!(eager.to_vec::<i64>(&lengths)?, [8, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! # As kernels
//!
//! The op is also a kernel of the same name, in generic form:
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
//! Unlike other kernels, an op cannot take numbers, strings or functions as operands, and it runs
//! only when all its operands are available.
//!
//! # Scopes
//!
//! Scopes determine how the calls of a thread run, and end when they are dropped:
//! `eager.device("CPU:1")`, or with a part of a name such as `/task:1`; `eager.sync_mode()`;
//! `eager.with_request(request)`; and, for traces, `eager.name_scope("encoder")`.
//! `eager.spawn(work)` starts a task that inherits them:
//!
//! ```
//! use tfrt::core::EagerContext;
//! use tfrt::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let eager = EagerContext::builder(HostContext::builder().build()).build()?;
//! let _layer = eager.name_scope("loader");
//! let done = eager.spawn(|eager| {
//!     assert_eq!(eager.current_name_scope().as_deref(), Some("loader"));
//!     Ok(())
//! });
//! eager.host().await_values(&[done])?;
//! # Ok(())
//! # }
//! ```
//!
//! # Several devices
//!
//! An operand that is on another device than the op is copied there. The copy is kept with the
//! handle, so that later calls use it again; `max_copied_bytes` of the builder bounds the memory of
//! all copies, and copies are given up before a call runs out of memory. When an op writes to a
//! tensor, copies are made anew.
//!
//! # Functions as ops
//!
//! A function of a program that takes and returns tensor handles is an op, too. The first call with
//! tensors of given element types, shapes and devices prepares it: shapes are checked, unused ops
//! are removed, every op is assigned a device, and ops are lowered to their kernels. Later calls of
//! the same kind run the prepared function without handlers or intermediate handles.
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
//! If a context has several devices, the attribute `corert.device` of an op in the function says
//! where it runs, and `corert.colocate_with` names another op, by its `corert.name`, whose device
//! it shares. All others are placed where moving their operands costs least, together with the op,
//! as for ops that are called from Rust: `explain_function` of
//! [`FunctionOps`](crate::function_ops::FunctionOps) shows the numbers. The handler `cpu`, which
//! any op needs on a host without other devices, does not keep an op on the processor; a handler of
//! other devices limits it to these. The function is then
//! split into one part for each device. The parts exchange values, and the first failure ends all
//! of them. `tf.PartitionedCall` and `tf.StatefulPartitionedCall` call another function of the
//! program, named by the attribute `f`; a function that calls itself is refused. In a program that
//! runs op by op, the function is called when the op runs, and the depth of calls is limited.
//!
//! Before ops are placed, rewrite rules replace some of them by cheaper ops with the same result,
//! such as a product and a bias by one fused op. [`rewrite!`](macro@crate::function_ops::rewrite)
//! declares your own rules.
//!
//! Each step is a pass:
//! `tfrt opt --corert-infer-metadata --corert-place --corert-partition --corert-lower` shows the
//! transformed program, and `--corert-explain-placement` explains the placement of each op.
//!
//! # Several devices, and other forms
//!
//! `device = "gpu"` on a second function of the same name implements the op for another type of
//! device. Callers do not know which one runs, so both must have the same operands, attributes,
//! results and effects; if they differ, the first use is an error with both locations.
//!
//! `#[host]` on a parameter keeps this operand in host memory even then. Use it for operands that
//! the function itself reads, such as shapes and axes; they are never copied to the device.
//!
//! `tests/user_ops` in the repository is a crate with one op of each kind: `cargo run` calls them
//! all.
//!
//! `raw` is for ops whose attributes may have any type: the function takes its call, an
//! [`OpCall`](crate::core::OpCall), and there is no kernel. `metadata_only` registers a metadata
//! function for an op that runs elsewhere. The [macro's page](macro@crate::prelude::tfrt_op) shows
//! every form.
