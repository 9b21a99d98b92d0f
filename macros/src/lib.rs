//! The kernel macros: entry points and their documentation. The implementation is in
//! `tfrt-macros-backend`.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use tfrt_macros_backend::facade::Facade;

/// Turns a function into a kernel: derives the adapter, the declaration of the op and the
/// registration.
///
/// The function itself is unchanged and can be called as before. It must be a free function: a
/// function in an `impl` or a trait cannot be registered.
///
/// ```
/// use tfrt::prelude::*;
///
/// /// Returns the sum of two numbers.
/// #[tfrt_kernel("my.add")]
/// fn add(a: i32, b: i32) -> i32 {
///     a.wrapping_add(b)
/// }
///
/// tfrt::testing::kernel("my.add").operands((1, 2)).run().expect_value(3);
/// assert_eq!(add(1, 2), 3);
/// ```
///
/// # Operands
///
/// A parameter without a marker is an operand. The page
/// [`tfrt::guide::kernels`](../tfrt/guide/kernels/index.html) lists every type of parameter and
/// result.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.scale")]
/// fn scale(number: i32, #[operand(default = 10)] by: i32) -> i32 {
///     number * by
/// }
///
/// #[tfrt_kernel("my.concat")]
/// fn concat(first: &[u8], rest: Operands<'_, ByteString>) -> ByteString {
///     rest.iter().fold(first.to_vec(), |bytes, piece| [&bytes, piece.as_bytes()].concat()).into()
/// }
///
/// #[tfrt_kernel("my.pick", non_strict)]
/// fn pick(first: bool, a: AnyRef, b: AnyRef) -> AnyRef {
///     if first { a } else { b }
/// }
///
/// use tfrt::testing;
/// testing::kernel("my.scale").operands((4,)).run().expect_value(40);
/// testing::kernel("my.concat").operands(("a", "b", "c")).run().expect_value("abc");
/// let pick = testing::kernel("my.pick").operands((true, 1, testing::error("unused"))).results(["i32"]);
/// pick.non_strict().run().expect_value(1);
/// ```
///
/// # Attributes
///
/// `#[attr]` makes a parameter an attribute with the name of the parameter; `#[attr("name")]` and
/// `#[attr(name = "…")]` give another name. An attribute with `default = …` or of type `Option` is
/// optional. The page [`tfrt::guide::attributes`](../tfrt/guide/attributes/index.html) lists the
/// types of attributes, which include enums that derive [`Attr`]. `Attributes<'_>` takes all
/// attributes, without their names.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[derive(Attr)]
/// enum Padding {
///     Same,
///     Valid,
/// }
///
/// #[tfrt_kernel("my.window")]
/// fn window(
///     #[attr] name: &str,
///     #[attr("ksize")] extents: &[i64],
///     #[attr(default = 1)] stride: i64,
///     #[attr(default = Padding::Valid)] padding: Padding,
/// ) -> String {
///     let padding = if matches!(padding, Padding::Same) { "same" } else { "valid" };
///     format!("{name} {extents:?} {stride} {padding}")
/// }
///
/// #[tfrt_kernel("my.sum_attributes")]
/// fn sum_attributes(numbers: Attributes<'_>) -> Result<i32> {
///     (0..numbers.len()).map(|index| numbers.get::<i32>(index)).sum()
/// }
///
/// let program = tfrt::testing::program(r#"
///     func @main() -> (!tfrt.string, i32) {
///       %text = "my.window"() {name = "pool", ksize = [2, 2]} : () -> !tfrt.string
///       %sum = "my.sum_attributes"() {a = 1 : i32, b = 2 : i32} : () -> i32
///       tfrt.return %text, %sum : !tfrt.string, i32
///     }
/// "#);
/// program.call("main", ()).expect_values(("pool [2, 2] 1 valid", 3));
/// ```
///
/// # Functions and regions
///
/// `Function<(A,), (R,)>` is a function that programs name by its symbol, and `Region<(A,), (R,)>`
/// a region of the op. The loader refuses functions with another signature. `FunctionRef` takes any
/// function, or with `#[region]` any region, and `&[FunctionRef]` a list of symbols. An op may
/// leave out an `Option<FunctionRef>`: it has all functions that are optional, or none of them.
/// Their names come after those of its other functions in the order of bytes.
///
/// ```
/// use tfrt::prelude::*;
///
/// /// Applies a function twice.
/// #[tfrt_kernel("my.twice")]
/// fn twice(body: Region<(i32,), (i32,)>, number: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
///     let (once,) = body.call(ctx, (number,));
///     let (twice,) = body.call_later(ctx, (once,));
///     twice
/// }
///
/// #[tfrt_kernel("my.double")]
/// fn double(number: i32) -> i32 {
///     2 * number
/// }
///
/// let program = tfrt::testing::program(r#"
///     func @main(%x: i32) -> i32 {
///       %y = "my.twice"(%x) ({
///       ^bb0(%z: i32):
///         %w = "my.double"(%z) : (i32) -> i32
///         tfrt.return %w : i32
///       }) : (i32) -> i32
///       tfrt.return %y : i32
///     }
/// "#);
/// program.call("main", (5,)).expect_value(20);
/// ```
///
/// # Contexts and resources
///
/// `&ExecutionContext`, `&HostContext` and `&RequestContext` are the contexts of the call. `Res<T>`
/// and `&Res<T>` are objects that kernels of a host, a client or a request share; see [`Resource`].
///
/// # Results
///
/// A function returns nothing, a value, a tuple of up to 8 results, a `Vec` of all remaining
/// results, or a `Result` of these. Its error type is `tfrt::Error`, a string, or any error that is
/// `Send + Sync`.
///
/// The option `results(a, b)` names them, and `alias(result = operand)` declares that a result
/// shares the memory of an operand.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.div_rem", results(quotient, remainder))]
/// fn div_rem(a: i32, b: i32) -> Result<(i32, i32)> {
///     let quotient = a.checked_div(b).ok_or_else(|| Error::new("division by zero"))?;
///     Ok((quotient, a - quotient * b))
/// }
///
/// tfrt::testing::kernel("my.div_rem").operands((7, 2)).run().expect_values((3, 1));
/// tfrt::testing::kernel("my.div_rem").operands((7, 0)).run().expect_error("division by zero");
/// ```
///
/// # Preallocated results
///
/// `#[out] name: &mut T` is a result that the kernel fills; `T` is `Preallocated`, as tensors are.
/// `metadata = path` is a function that computes what to allocate. Its parameters are the metadata
/// of every operand that the kernel takes as `&T` or `&mut T`, and every attribute, in their order.
/// It returns a `TensorMetadata`, a tuple with one for each `#[out]`, or a `Result` of these.
/// Likewise, `workspace = path` computes the number of elements of `#[workspace] name: &mut [f32]`,
/// which are zero when the kernel starts.
///
/// Both functions are part of the declaration. The loader calls them, and refuses programs whose
/// shapes do not match.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[derive(Debug, PartialEq, Value)]
/// #[value("!my.vector", mutable)]
/// struct Vector(Vec<f32>);
///
/// impl Shaped for Vector {
///     fn metadata(&self) -> TensorMetadata {
///         TensorMetadata::new(DType::F32, [self.0.len()])
///     }
/// }
///
/// impl Preallocated for Vector {
///     fn allocate(_ctx: &ExecutionContext, metadata: &TensorMetadata) -> Result<Self> {
///         Ok(Vector(vec![0.0; metadata.num_elements().unwrap_or(0)]))
///     }
/// }
///
/// /// Returns `a * x + b`.
/// #[tfrt_kernel("my.axpb", metadata = same)]
/// fn axpb(a: f32, x: &Vector, b: f32, #[out] y: &mut Vector) {
///     y.0.iter_mut().zip(&x.0).for_each(|(y, x)| *y = a * x + b);
/// }
///
/// fn same(x: &TensorMetadata) -> TensorMetadata {
///     x.clone()
/// }
///
/// let x = tfrt::testing::value_from(|| Vector(vec![1.0, 2.0]));
/// let outcome = tfrt::testing::kernel("my.axpb").operands((2.0_f32, x, 1.0_f32)).run();
/// outcome.with_value(0, |y: &Vector| assert_eq!(y.0, [3.0, 5.0]));
/// ```
///
/// # Effects and chains
///
/// With `side_effecting`, `effect = "class"` or an operand `&mut T`, the kernel has a chain as its
/// last operand and its last result. The chains keep effects of a class in order. A kernel that
/// handles the chain itself has a parameter or result of type `Chain`, and `chain = none` declares
/// that the order does not matter.
///
/// `reads = "class"` declares that the kernel does not have an effect, but depends on those of a
/// class. It also has a chain and is ordered with the effects, but not with other kernels that only
/// read. Passes may remove it if its results are unused.
///
/// `pure` declares that there is no effect, although the signature suggests one. `effect_free`
/// declares this only to the executor, which may then run the kernel at any time, or twice; passes
/// neither move nor remove the op.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[derive(Debug, PartialEq, Value)]
/// #[value("!my.log", mutable)]
/// struct Log(Vec<i64>);
///
/// #[tfrt_kernel("my.push", results(len))]
/// fn push(log: &mut Log, number: i64) -> i64 {
///     log.0.push(number);
///     log.0.len() as i64
/// }
///
/// let declared = KernelRegistry::from_link()?.op("my.push").map(|op| (op.operands.len(), op.results.len()));
/// assert_eq!(declared, Some((3, 2)));
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// # Where and when it runs
///
/// A plain function runs at once, on the thread that finds it ready. A `blocking` kernel runs on
/// the blocking pool, an `async fn` is polled on the work queue, and a `non_strict` kernel starts
/// before operands that it takes as references are available. `sync` makes it a kernel for
/// functions `attributes {tfrt.sync}`, without references and chains; with `sync = "name"` it is
/// both.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.add_later")]
/// async fn add_later(a: AsyncValueRef<i32>, b: i32) -> Result<i32> {
///     Ok(a.await?.get().copied().unwrap_or_default() + b)
/// }
///
/// #[tfrt_kernel("my.read", blocking)]
/// fn read(path: &str) -> std::io::Result<String> {
///     std::fs::read_to_string(path)
/// }
///
/// #[tfrt_kernel("my.negate", sync = "my_sync.negate")]
/// fn negate(number: i32) -> i32 {
///     -number
/// }
///
/// let program = tfrt::testing::program(r#"
///     func @now(%x: i32) -> i32 attributes {tfrt.sync} {
///       %y = "my_sync.negate"(%x) : (i32) -> i32
///       tfrt.return %y : i32
///     }
///     func @later(%x: i32) -> i32 {
///       %y = "my.negate"(%x) : (i32) -> i32
///       %z = "my.add_later"(%y, %y) : (i32, i32) -> i32
///       tfrt.return %z : i32
///     }
/// "#);
/// program.call("now", (3,)).expect_value(-3);
/// program.call("later", (3,)).expect_value(-6);
/// tfrt::testing::kernel("my.read").operands(("/no/such/file",)).run().expect_error("No such file");
/// ```
///
/// # Families
///
/// A generic function is a kernel for each combination of the listed values. `{T}` in the name is
/// replaced with the spelling of the value: its Rust name, or the text after `as`. Constants work
/// like types.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.fill.{T}.{N}", T = [i32, i64, f32, f64, u32 as "ui32"], N = [1, 2, 3, 4])]
/// fn fill<T: Value + Clone, const N: usize>(value: T) -> Vec<T> {
///     vec![value; N]
/// }
///
/// let registry = KernelRegistry::from_link()?;
/// assert!(registry.get("my.fill.ui32.3").is_some());
/// assert_eq!(registry.kernels().filter(|kernel| kernel.name().starts_with("my.fill.")).count(), 20);
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// # Custom syntax
///
/// `format = "…"` declares the syntax of the op, in the language of
/// [`tfrt::ods::format`](../tfrt/ods/format/index.html). A format that does not match the function
/// is a compile error.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.shift", format = "$number `by` $amount attr-dict")]
/// fn shift(number: i32, #[attr] amount: i32) -> i32 {
///     number + amount
/// }
///
/// let program = tfrt::testing::program(
///     "func @main(%x: i32) -> i32 {\n  %y = my.shift %x by 4\n  tfrt.return %y : i32\n}",
/// );
/// program.call("main", (3,)).expect_value(7);
/// ```
///
/// # Frames
///
/// With `raw`, the function takes its frame, `&mut KernelFrame<'_>`, and returns nothing or
/// `Result<()>`. Options declare the op: `operands(…)`, `results(…)`, `attrs(…)`, `symbols(…)`,
/// `symbol_list(…)` and `regions(…)`. The type of an operand or result is `any`, `"!my.type"`,
/// `one_of("i32", "i64")`, `same_as(operand)` or a Rust type, after an optional `variadic`,
/// `optional`, `mut` or `ref`.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_kernel("my.count", raw, operands(values: variadic any), results(count: i64))]
/// fn count(frame: &mut KernelFrame<'_>) {
///     let count = frame.num_arguments() as i64;
///     frame.set_result(0, AnyRef::available(count));
/// }
///
/// tfrt::testing::kernel("my.count").operands((1, 2.5_f32)).run().expect_value(2_i64);
/// ```
///
/// # One source, two devices
///
/// With `elementwise`, the function is a [device function](macro@tfrt_device) of numbers, which the
/// kernel applies to each element of dense tensors. Tensors of different shapes are broadcast.
/// There are two kernels: `my.gelu` for host tensors, and `my.gelu.gpu` for a stream, whose
/// operands are the stream, the tensors or buffers, the one for the result, and a chain.
///
/// `reduce(identity = 0.0, combine = add)` applies the function to each element and combines the
/// results into one, in an order that is the same on both devices. `combine` is `add`, `mul`,
/// `min`, `max`, `and`, `or`, `xor`, or the path of a device function of two numbers, which must
/// be associative and commutative, except for rounding. The result of no elements is the identity.
/// With `axes = [-1]`, it combines along these axes only; negative ones count from the last.
/// `keep_dims = true` keeps them in the result, with an extent of 1.
///
/// `grid(block = [32, 8], blocks = […], shape = […], initial = 0)` runs the function in each thread
/// of a grid, with indices of its own, shared memory, barriers and atomic operations, for what the
/// other two cannot say. Its parameters are a `&Grid`, operands `&View<f32, 2>` or numbers, shared
/// arrays `&mut Shared<f32, 256>`, and the result `&mut OutView<f32, 2>`, of `tfrt::device::grid`.
/// The function becomes one of host tensors. The guide of `tfrt-gpu` explains the options.
///
/// All three are also options of [`#[tfrt_op]`](macro@tfrt_op).
///
/// ```
/// use tfrt::device::math::erf;
/// use tfrt::prelude::*;
///
/// /// The Gaussian error linear unit.
/// #[tfrt_kernel("my.gelu", elementwise)]
/// fn gelu(x: f32) -> f32 {
///     0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
/// }
///
/// /// Returns the sum of the squares.
/// #[tfrt_kernel("my.sum_of_squares", reduce(identity = 0.0, combine = add))]
/// fn square(x: f32) -> f32 {
///     x * x
/// }
///
/// let x = DenseHostTensor::vector(&[1.0_f32, 2.0, 3.0])?;
/// let sum = tfrt::testing::kernel("my.sum_of_squares").operands((x,)).run();
/// sum.with_value(0, |sum: &DenseHostTensor| assert_eq!(sum.to_scalar::<f32>(), Ok(14.0)));
/// assert_eq!(gelu(0.0), 0.0);
///
/// /// Returns the largest element of each row.
/// #[tfrt_kernel("my.row_max", reduce(identity = f32::MIN, combine = max, axes = [-1]))]
/// fn row_max(x: f32) -> f32 {
///     x
/// }
///
/// use tfrt::device::grid::{Grid, OutView, Shared, View};
///
/// /// Reverses the blocks of a vector.
/// #[tfrt_kernel("my.reverse", grid(block = [4]))]
/// fn reverse(grid: &Grid, x: &View<f32, 1>, row: &mut Shared<f32, 4>, y: &mut OutView<f32, 1>) {
///     row[grid.thread(0)] = x[grid.index(0)];
///     grid.barrier();
///     y[grid.index(0)] = row[3 - grid.thread(0)];
/// }
///
/// let x = DenseHostTensor::vector(&[1.0_f32, 2.0, 3.0, 4.0])?;
/// let mut y = DenseHostTensor::vector(&[0.0_f32; 4])?;
/// reverse(&x, &mut y)?;
/// assert_eq!(*y.elements::<f32>()?, [4.0, 3.0, 2.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Further options
///
/// | option | meaning |
/// |---|---|
/// | `"a.b", "a.c"` | several names for one kernel |
/// | `verify = path` | checks an op beyond its declaration |
/// | `fold = path` | computes the only result as a constant, if it is known without running the op; see `tfrt::ods::fold` |
/// | `kernel_set = Name` | declares a type `Name` that stands for the kernels of the function, for `KernelRegistry::add_all` |
/// | `named_results`, `isolated`, `call`, `forwards`, `chooses`, `loops`, `parallel`, `cheap`, `constant`, `cost_attribute`, `chain_source`, `chain_merge`, `printed_generically` | traits for printer, verifier, passes and stream analysis; see `tfrt::ods::OpTraits` |
/// | `crate = path::to::tfrt` | the path of the facade, in a crate that reaches it through another one; the name of a renamed dependency is read from the manifest |
#[proc_macro_attribute]
pub fn tfrt_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    tfrt_macros_backend::kernel(Facade::FromManifest, options.into(), item.into()).into()
}

/// Makes a function an op, which programs call by name with tensors, and a kernel of that name for
/// graphs.
///
/// Operands and results are tensors. All other parameters are attributes, marked with `#[attr]`, or
/// come from the context. The signature and the doc comment determine the kernel with its
/// declaration, and the registration by which [op handlers](../tfrt/core/handler/index.html) and
/// the [eager context](../tfrt/core/struct.EagerContext.html) find the op.
///
/// ```
/// use tfrt::core::EagerContext;
/// use tfrt::prelude::*;
///
/// /// Adds a multiple of one tensor to another.
/// #[tfrt_op("my.Axpy", T = [f32, f64], metadata = same_as_first)]
/// fn axpy<T: Element + From<f32> + std::ops::Add<Output = T> + std::ops::Mul<Output = T>>(
///     x: &[T],
///     y: &[T],
///     #[attr(default = 1.0)] alpha: f32,
///     #[out] z: &mut [T],
/// ) {
///     for (z, (x, y)) in z.iter_mut().zip(x.iter().zip(y)) {
///         *z = T::from(alpha) * *x + *y;
///     }
/// }
///
/// fn same_as_first(x: &TensorMetadata, y: &TensorMetadata, _alpha: f32) -> Result<TensorMetadata> {
///     if x.extents != y.extents {
///         return Err(Error::new(format!("cannot add {x} to {y}")));
///     }
///     Ok(x.clone())
/// }
///
/// let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
/// let eager = EagerContext::builder(host).build()?;
/// let (x, y) = (eager.tensor([1.0_f32, 2.0])?, eager.tensor([10.0_f32, 20.0])?);
/// let z = eager.op("my.Axpy")?.attr("alpha", 3.0_f32)?.call(&[&x, &y])?;
/// assert_eq!(eager.to_vec::<f32>(&z)?, [13.0, 26.0]);
///
/// let numbers = eager.tensor([1, 2])?;
/// let error = eager.op("my.Axpy")?.call(&[&numbers, &numbers]).unwrap_err();
/// assert_eq!(error.message(), "`my.Axpy` does not support i32; supported: f32, f64");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Parameters
///
/// | parameter | takes |
/// |---|---|
/// | `&DenseHostTensor`, `&ScalarHostTensor`, `&StringHostTensor`, `&CooHostTensor` | the next operand, a tensor of this kind |
/// | `&dyn Tensor` | the next operand, of any kind |
/// | `&[f32]`, `TensorView<'_, f32, 2>` | the elements of the next operand, which is dense; a view also checks the rank |
/// | `&AnyRef`, `AnyRef`, `AsyncValueRef<T>` | a reference to the next operand. `DenseHostTensor::make_exclusive` reuses its memory for the result if there are no other references |
/// | `&mut DenseHostTensor` | the next operand, which the function writes: an effect |
/// | `#[resource] v: &Variable` | the object of the next operand, a `ResourceTensor`. The op runs on the device that holds it, and takes part in the order of effects |
/// | `#[host] axes: &[i64]` | the next operand, in any of these forms, in host memory regardless of the device that runs the op |
/// | `x: Forwarded<'_, f32>` | the elements of the next operand, unless the result reuses its memory: with `forward = x` |
/// | `Option<…>` of these | the last operand, which is optional |
/// | `Operands<'_, DenseHostTensor>`, `&[AnyRef]` | all remaining operands |
/// | `#[out] y: &mut DenseHostTensor`, `&mut [f32]`, `TensorViewMut<'_, f32, 2>` | a preallocated result, with the metadata that the metadata function returned |
/// | `#[workspace] scratch: &mut [f32]` | memory for the duration of the call |
/// | `#[attr] a: A`, `Option<A>`, `#[attr(default = 1)]`, `#[attr("name")]` | an attribute, matched by name |
/// | `&ExecutionContext`, `&HostContext`, `&RequestContext`, `Res<T>` | the context, or an object shared by calls |
///
/// The function returns its results like a [kernel](macro@tfrt_kernel): a tensor, an `AnyRef`, an
/// `AsyncValueRef<T>`, a tuple or a `Vec` of them, nothing, or a `Result` of any of these.
/// `async fn` and `blocking` work as for kernels.
///
/// # Metadata
///
/// `metadata = path` names a function that computes the metadata of the results, so shapes are
/// checked at the call, before any data is available. It takes a `&TensorMetadata` for *every*
/// operand, regardless of the type of the parameter; an `Option<&TensorMetadata>` for an optional
/// operand; `&[TensorMetadata]` for all remaining operands; and every attribute with the type of
/// its parameter, in the order of the parameters. It returns a `TensorMetadata`, a tuple or a `Vec`
/// of them for several results, or a `Result` of these. An `Option` replaces metadata that only the
/// tensor determines; the metadata of `#[out]` results must be known.
///
/// ```
/// use tfrt::core::EagerContext;
/// use tfrt::prelude::*;
///
/// /// Returns the elements that are not zero, of which nobody knows the number before.
/// #[tfrt_op("my.NonZero", metadata = vector_of_some_length)]
/// fn non_zero(ctx: &ExecutionContext, x: &DenseHostTensor) -> Result<DenseHostTensor> {
///     let found: Vec<f32> = x.elements::<f32>()?.iter().copied().filter(|x| *x != 0.0).collect();
///     let shape = tfrt::tensor::Shape::new(&[found.len()])?;
///     Ok(DenseHostTensor::from_elements(ctx.allocator(), shape, &found)?)
/// }
///
/// fn vector_of_some_length(x: &TensorMetadata) -> Result<Option<TensorMetadata>> {
///     match x.dtype {
///         DType::F32 => Ok(None),
///         other => Err(Error::new(format!("no zeros among {other}"))),
///     }
/// }
///
/// let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
/// let eager = EagerContext::builder(host).build()?;
/// let found = eager.op("my.NonZero")?.call(&[&eager.tensor([0.0_f32, 3.0])?])?;
/// assert_eq!(eager.to_vec::<f32>(&found)?, [3.0]);
/// let error = eager.op("my.NonZero")?.call(&[&eager.tensor([1])?]).unwrap_err();
/// assert_eq!(error.message(), "no zeros among i32");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `partial = path` names a function for partially known metadata: it takes a `&PartialMetadata`
/// for every operand, attributes as above, and returns a `PartialMetadata` for each result.
/// Compilers call it for tensors with unknown dimensions.
///
/// `cost = path` names a function that estimates how long the op takes on a device of its type: it
/// takes operands and attributes like a metadata function, and returns a number of microseconds.
/// The placement of ops adds it to the cost of moving operands.
///
/// With `metadata_only` the function *is* the metadata function of an op that runs elsewhere. Its
/// attributes are marked with `#[attr]`.
///
/// # Element types
///
/// `T = [f32, i32]` lists the element types that a generic function supports. One op takes them
/// all: the first operand whose type contains `T`, as in `&[T]` or `TensorView<'_, T, 2>`,
/// determines the type, and the other operands with `T` must have the same type. For other types
/// the call fails with the message of `unsupported = "no product of {dtype}"`. With `{T}` in the
/// name, `"my.Add.{T}"`, there is one op for each type instead.
///
/// # Kinds of tensors, effects, devices
///
/// | option | means |
/// |---|---|
/// | `accepts(scalar, string, sparse)` | tensors of these kinds are passed unconverted; others are converted to dense tensors, or refused. A parameter such as `&ScalarHostTensor` implies it |
/// | `side_effecting`, `effect = "class"`, or a parameter `&mut T` | the op takes part in the order of effects; other ops have no effects |
/// | `device = "gpu"` | the op for another type of device. Its kernel is `my.Add.gpu`. All functions of one op must have the same operands, attributes, results and effects |
/// | `forward = x`, `forward = [a, b]` | the only `#[out]` result takes the memory of the first of these operands that has its element type and shape and no other references |
/// | `function = multiply` | generates a Rust function `multiply` that calls the op: it takes the context, operands and attributes |
/// | `raw` | the function takes its call, `&mut OpCall<'_>`, and there is no kernel: for attributes of any type. Its metadata function takes an `&OpQuery<'_>` |
/// | `"my.Add", "my.AddV2"` | several names |
/// | `crate = path::to::tfrt` | the path of the facade, in a crate that reaches it through another one |
///
/// ```
/// use tfrt::core::EagerContext;
/// use tfrt::prelude::*;
///
/// /// Returns each element times a factor.
/// #[tfrt_op("my.Scale", metadata = scaled, forward = x, function = scale)]
/// fn scale_elements(x: Forwarded<'_, f32>, #[attr] factor: f32, #[out] y: &mut [f32]) {
///     x.map_to(y, |x| factor * x);
/// }
///
/// fn scaled(x: &TensorMetadata, _factor: f32) -> TensorMetadata {
///     x.clone()
/// }
///
/// let host = HostContext::builder().registry(KernelRegistry::from_link()?.into()).build();
/// let eager = EagerContext::builder(host).build()?;
/// let y = scale(&eager, &eager.tensor([1.0_f32, 2.0])?, 1.5)?;
/// assert_eq!(eager.to_vec::<f32>(&y)?, [1.5, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `reads`, `pure`, `effect_free`, `results`, `alias`, `verify`, `workspace`, `cheap`,
/// `cost_attribute`, `parallel` and `named_results` apply to the kernel: see [`macro@tfrt_kernel`].
///
/// ```
/// use tfrt::core::EagerContext;
/// use tfrt::prelude::*;
///
/// /// Returns as many zeros as the attribute `len` says, which is of any integer type.
/// #[tfrt_op("my.Zeros", raw)]
/// fn zeros(call: &mut OpCall<'_>) -> Result<()> {
///     let attrs = call.attrs();
///     let len = attrs.get::<i64>("len").or_else(|| attrs.get::<i32>("len").map(i64::from));
///     let len = usize::try_from(len.ok_or("`len` is missing")?)?;
///     call.set_result(0, AnyRef::available(DenseHostTensor::vector(&vec![0.0_f32; len])?));
///     Ok(())
/// }
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// let zeros = eager.op("my.Zeros")?.attr("len", 2)?.call(&[])?;
/// assert_eq!(eager.to_vec::<f32>(&zeros)?, [0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[proc_macro_attribute]
pub fn tfrt_op(options: TokenStream, item: TokenStream) -> TokenStream {
    tfrt_macros_backend::op(Facade::FromManifest, options.into(), item.into()).into()
}

/// Registers how nodes of an ONNX op with a domain of its own are imported.
///
/// `tfrt_onnx` exports it: `use tfrt_onnx::onnx_op;`. On a function with
/// [`#[tfrt_op]`](macro@tfrt_op), in either order, a node becomes a call of the op; see
/// `tfrt_onnx::OnnxLowering::Op` for its operands and attributes. On any other function, the
/// function is the importer:
/// `fn(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError>`. The guide
/// `tfrt_onnx::guide::add_an_op` has examples of both.
///
/// | option | meaning |
/// |---|---|
/// | `domain = "com.example"` | the domain of the op; not ONNX's own |
/// | `name = "Frob"` | the name of the op in its domain |
/// | `since = 1` | the version of the domain since which this is the meaning of the op |
/// | `crate = path::to::tfrt_onnx` | the path of `tfrt-onnx`, in a crate that reaches it through another one |
///
/// A function may have several `#[onnx_op]`, for other names or versions.
#[proc_macro_attribute]
pub fn onnx_op(options: TokenStream, item: TokenStream) -> TokenStream {
    tfrt_macros_backend::onnx_op(Facade::FromManifest, options.into(), item.into()).into()
}

/// Makes a function of numbers a device function: it runs on the processor and on GPUs, with the
/// same bits.
///
/// It stays a Rust function, which can be called and tested as before. Other device functions may
/// call it, also across modules and crates. With `elementwise` or `reduce(…)`,
/// [`#[tfrt_kernel]`](macro@tfrt_kernel) makes kernels of a device function.
///
/// ```
/// use tfrt::prelude::*;
///
/// #[tfrt_device]
/// fn softplus(x: f32) -> f32 {
///     if x > 20.0 { x } else { x.exp().ln_1p() }
/// }
///
/// /// Returns `x * tanh(softplus(x))`.
/// #[tfrt_kernel("my.mish", elementwise)]
/// fn mish(x: f32) -> f32 {
///     x * softplus(x).tanh()
/// }
///
/// assert_eq!(mish(0.0), 0.0);
/// let x = DenseHostTensor::vector(&[0.0_f32, 30.0])?;
/// let result = tfrt::testing::kernel("my.mish").operands((x,)).run();
/// result.with_value(0, |y: &DenseHostTensor| assert_eq!(*y.elements::<f32>().unwrap(), [0.0, 30.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Subset
///
/// | | |
/// |---|---|
/// | types | `bool`, `i32`, `u32`, `i64`, `u64`, `f32`, `f64` |
/// | statements | `let`, `let mut`, `=`, `+=` and the like, `return` |
/// | control flow | `if`, `for i in a..b` and `a..=b` with `break` and `continue`, blocks |
/// | operators | arithmetic, comparisons, `&`, `\|`, `^`, `!`, `<<`, `>>`, `&&`, `\|\|`, `as` |
/// | methods | those of [`tfrt::device::numbers`](../tfrt/device/numbers/index.html), such as `exp`, `min`, `mul_add` |
/// | calls | of device functions by their paths; `f32::max(x, y)`, `f32::from_bits(n)` |
/// | constants | of the types above, such as `f32::INFINITY` or `std::f32::consts::PI` |
///
/// Everything else is a compile error that says what to write instead. The documentation of
/// [`tfrt::device`](../tfrt/device/index.html) defines every operation: integers wrap around,
/// floats are never fused unless `mul_add` is written, and no operation panics. Math functions are
/// those of [`tfrt::device::math`](../tfrt/device/math/index.html), with documented errors, in the
/// Rust function as well.
#[proc_macro_attribute]
pub fn tfrt_device(options: TokenStream, item: TokenStream) -> TokenStream {
    tfrt_macros_backend::device(Facade::FromManifest, options.into(), item.into()).into()
}

/// Declares an op that has no kernel: one that only compilers use, or whose kernels are defined
/// elsewhere.
///
/// The declaration consists of a doc comment, the names and the options. The first paragraph of the
/// comment is the summary of the op, the rest its description. Options are those of a `raw`
/// [kernel](macro@tfrt_kernel): `operands(…)`, `results(…)`, `attrs(…)`, `symbols(…)`,
/// `symbol_list(…)`, `regions(…)`, `alias(…)`, `effect`, `reads`, `format`, `verify`, `fold`,
/// `attribute_names`, `crate`, and the traits of `tfrt::ods::OpTraits`. A wrong declaration does
/// not compile.
///
/// ```
/// use tfrt::prelude::*;
///
/// tfrt::declare_op! {
///     /// Sends a matrix to another machine.
///     ///
///     /// The machine must be known by the name `to`.
///     "algebra.send",
///     operands(matrix: "!algebra.matrix", in_chain: Chain),
///     attrs(to: String),
///     results(is_there: bool),
///     effect = "network",
///     format = "operands `to` $to attr-dict"
/// }
///
/// let registry = KernelRegistry::from_link()?;
/// let send = registry.op("algebra.send").expect("it is linked");
/// assert_eq!(send.summary, "Sends a matrix to another machine.");
/// assert!(send.place.line != 0 && registry.get("algebra.send").is_none());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// Ops that differ only in their names are declared together. `T = [f32, f64]` lists the values of
/// `{T}` in a name:
///
/// ```
/// use tfrt::prelude::*;
///
/// tfrt::declare_op! {
///     /// Ends a function.
///     "algebra.return", "algebra.stop", terminator, operands(values: variadic any)
/// }
///
/// tfrt::declare_op! {
///     /// Ends a function with numbers of one type.
///     "algebra.return.{T}", T = [f32, f64], terminator, operands(values: variadic any)
/// }
///
/// let registry = KernelRegistry::from_link()?;
/// for name in ["algebra.return", "algebra.stop", "algebra.return.f32", "algebra.return.f64"] {
///     assert!(registry.op(name).is_some(), "{name}");
/// }
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// In addition to the options of kernels, there are
///
/// | option | meaning |
/// |---|---|
/// | `terminator` | the op ends its block, and has no results |
/// | `sync` | the op is for synchronous functions |
/// | `attrs(value: any, values: [any])` | attributes of any type, and lists of them |
///
/// ```compile_fail
/// tfrt::declare_op! {
///     /// Shows an operand that it does not have.
///     "algebra.wrong", operands(a: "i32"), format = "$b attr-dict"
/// }
/// # fn main() {}
/// ```
#[proc_macro]
pub fn declare_op(options: TokenStream) -> TokenStream {
    tfrt_macros_backend::declare_op(Facade::FromManifest, options.into()).into()
}

/// Makes a type usable as a value.
///
/// `#[value("!dialect.name")]` gives the name of the type in programs. Options follow it:
///
/// - `mutable`: kernels may take it as `&mut T`, with exclusive access;
/// - `copied`: payloads are copied between kernels, which is cheaper for small types that are
///   `Copy`;
/// - `display`: tools print values using the `Display` of the type;
/// - `crate = path::to::tfrt`: the path of the facade, in a crate that does not depend on it
///   directly.
///
/// ```
/// use std::fmt;
/// use tfrt::prelude::*;
///
/// /// A point on a grid.
/// #[derive(Clone, Copy, Value)]
/// #[value("!my.point", copied, display)]
/// struct Point {
///     x: i32,
///     y: i32,
/// }
///
/// impl fmt::Display for Point {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "({}, {})", self.x, self.y)
///     }
/// }
///
/// let value = AnyRef::available(Point { x: 3, y: 4 });
/// assert_eq!(value.mlir_type(), Some("!my.point"));
/// assert_eq!(value.displayed().map(|shown| shown.to_string()).as_deref(), Some("(3, 4)"));
/// ```
#[proc_macro_derive(Value, attributes(value))]
pub fn derive_value(item: TokenStream) -> TokenStream {
    tfrt_macros_backend::derive_value(Facade::FromManifest, item.into()).into()
}

/// Makes an enum without fields usable as an attribute, in declarations of kernels and ops and in
/// calls of ops from Rust.
///
/// Files and generic forms contain the number of a variant as an `i32`. Custom forms contain its
/// keyword: its name in snake case, or the one given by `#[attr("keyword")]` on the variant.
/// `#[attr(crate = path::to::tfrt)]` on the enum is the path of the facade, in a crate that does
/// not depend on it directly.
///
/// ```
/// use tfrt::kernel::AttrParam;
/// use tfrt::ods::AttrKind;
/// use tfrt::prelude::*;
///
/// #[derive(Attr)]
/// enum Activation {
///     Relu,
///     #[attr("LeakyRelu")]
///     LeakyRelu = 7,
/// }
///
/// let AttrKind::Enum(declared) = <Activation as AttrParam>::KIND else { unreachable!() };
/// assert_eq!(declared.value_of("LeakyRelu"), Some(7));
/// assert_eq!(declared.keyword_of(0), Some("relu"));
/// ```
#[proc_macro_derive(Attr, attributes(attr))]
pub fn derive_attr(item: TokenStream) -> TokenStream {
    tfrt_macros_backend::derive_attr(Facade::FromManifest, item.into()).into()
}

/// Lets kernels share an object of a type that implements `Default`.
///
/// With `#[resource(host)]` there is one object for all requests of a host, with
/// `#[resource(client)]` one for all requests that were built with the same `ResourceContext`, and
/// with `#[resource(request)]` one for each request. Implement the trait by hand if creating the
/// object takes more than a default, or can fail.
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use tfrt::prelude::*;
///
/// /// Counts events.
/// #[derive(Default, Resource)]
/// #[resource(request)]
/// struct Tally(AtomicI64);
///
/// #[tfrt_kernel("my.happen", side_effecting)]
/// fn happen(tally: Res<Tally>) -> i64 {
///     tally.0.fetch_add(1, Ordering::Relaxed) + 1
/// }
///
/// tfrt::testing::kernel("my.happen").run().expect_value(1_i64);
/// ```
#[proc_macro_derive(Resource, attributes(resource))]
pub fn derive_resource(item: TokenStream) -> TokenStream {
    tfrt_macros_backend::derive_resource(Facade::FromManifest, item.into()).into()
}
