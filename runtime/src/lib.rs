//! A kernel authoring framework and dataflow runtime.
//!
//! A kernel is a plain function. From its signature, `#[tfrt_kernel]` derives the adapter, the
//! declaration of the op, the chain plumbing and the registration.
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// A point on a grid.
//! #[derive(Clone, Value)]
//! #[value("!my.coordinate")]
//! pub struct Coordinate {
//!     x: i32,
//!     y: i32,
//! }
//!
//! /// Makes a coordinate.
//! #[tfrt_kernel("my.create_coordinate")]
//! fn create_coordinate(x: i32, y: i32) -> Coordinate {
//!     Coordinate { x, y }
//! }
//!
//! /// Prints a coordinate.
//! #[tfrt_kernel("my.print_coordinate", side_effecting)]
//! fn print_coordinate(coordinate: &Coordinate) {
//!     println!("({}, {})", coordinate.x, coordinate.y);
//! }
//!
//! let registry = KernelRegistry::from_link()?;
//! let print = registry.get("my.print_coordinate").expect("it is linked");
//! assert_eq!(print.op().operands.len(), 2); // The chain was added.
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! The [`guide`] is the complete documentation; [`testing`] runs kernels and programs in tests.
//! This page is a summary.
//!
//! # Kernels
//!
//! A parameter without a marker is an operand; `#[attr]` makes it an attribute. [`guide::kernels`]
//! lists every type of parameter and result, and [`guide::attributes`] the types of attributes. In
//! short:
//!
//! - An operand is a payload (`T`, `&T`, `&mut T`), a reference to a value (`AnyRef`,
//!   `AsyncValueRef<T>`), or the rest of the operands (`Operands<'_, T>`, `&[AnyRef]`). Functions,
//!   shared resources and contexts are parameters, too.
//! - A function returns nothing, a value, a tuple of values, or references to values that become
//!   available later. If it returns a `Result`, the error becomes the error of all results. An
//!   `async fn` runs on the work queue, and a function marked `blocking` on the blocking pool.
//! - A kernel with effects (`side_effecting`, or a `&mut` operand) has a chain as its last operand
//!   and last result, unless it has a parameter or result of type [`Chain`](prelude::Chain), or the
//!   option `chain = none`.
//! - Types of values derive [`Value`](prelude::Value), with their name in programs:
//!   `#[value("!my.type")]`, or `#[value("!my.type", mutable)]` if kernels may take them as `&mut`.
//!
//! # Several kernels from one function
//!
//! A generic function becomes a kernel for each value in a list, and the name distinguishes them.
//! Several lists form all combinations. `as` gives the spelling of a type whose name in MLIR
//! differs from Rust.
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Returns the larger number.
//! #[tfrt_kernel("my.max.{T}", T = [i32, f32, u32 as "ui32"])]
//! fn max<T: Value + PartialOrd>(a: T, b: T) -> T {
//!     if b > a { b } else { a }
//! }
//!
//! /// Multiplies by a constant, with quotient and remainder by ten.
//! #[tfrt_kernel("my.times.{N}", N = [2, 3 as "three"], results(tens, ones))]
//! fn times<const N: i32>(number: i32) -> (i32, i32) {
//!     (number * N / 10, number * N % 10)
//! }
//!
//! let registry = KernelRegistry::from_link()?;
//! assert!(registry.get("my.max.ui32").is_some() && registry.get("my.times.three").is_some());
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! # Options
//!
//! Options follow the names of the kernel:
//!
//! | option | meaning |
//! |---|---|
//! | `side_effecting`, `effect = "random"` | the kernel has effects of the class `io` or of another class; chains order the effects of a class |
//! | `reads = "random"` | the kernel has no effects, but depends on those of a class: it is ordered with them, and may be removed if its results are unused |
//! | `pure` | the kernel only computes its results, although its signature suggests an effect |
//! | `chain = none` | the order of its effects does not matter |
//! | `non_strict` | the kernel starts before operands of type `AnyRef`, `AsyncValueRef<T>` and `&[AnyRef]` are available |
//! | `blocking` | the kernel may block: it runs on the blocking pool |
//! | `sync` | the kernel is for functions `attributes {tfrt.sync}`; it has neither references nor chains |
//! | `sync = "my.add.sync"` | the function is also such a kernel, under this name |
//! | `metadata = path`, `workspace = path` | functions that compute the shapes of `#[out]` results and the size of the workspace |
//! | `elementwise`, `reduce(identity = 0.0, combine = add)` | the function computes with numbers: it becomes kernels of tensors, for the CPU and GPUs |
//! | `results(quotient, remainder)` | the names of the results |
//! | `alias(result = operand)` | the result shares the memory of the operand |
//! | `format = "$a attr-dict"` | the custom syntax of the op; without it, the op only has its generic form |
//! | `verify = path::to::function` | checks an op beyond its declaration |
//! | `named_results`, `isolated`, `call`, `cheap`, `cost_attribute`, `printed_generically` | hints for printing, verification, inlining and streams; see [`OpTraits`](ods::OpTraits) |
//! | `attribute_names = free` | programs may use any names for attributes and symbols; they are matched in sorted order |
//! | `raw` | the function takes the frame, and options declare the op |
//! | `kernel_set = Name` | declares a type that stands for the kernels of the function: see [`guide::libraries`] |
//! | `crate = path::to::tfrt` | the path of this crate, if it is reached through another one; not needed for a renamed dependency |
//!
//! # Values that become available later
//!
//! The simplest way is an `async fn`. A kernel that hands its work to another thread returns a
//! reference and keeps the promise:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Adds on another thread.
//! #[tfrt_kernel("my.add_elsewhere")]
//! fn add_elsewhere(a: i32, b: i32) -> AsyncValueRef<i32> {
//!     let (promise, sum) = AsyncValueRef::unconstructed();
//!     std::thread::spawn(move || promise.emplace(a + b)); // Dropping it would make the value an error.
//!     sum
//! }
//! # assert!(KernelRegistry::from_link()?.get("my.add_elsewhere").is_some());
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! # Ops
//!
//! `#[tfrt_op]` makes a function of tensors an op: a kernel that can also be called by its name,
//! one by one, from Rust. See [`guide::ops`].
//!
//! # Frames
//!
//! A kernel that cannot be expressed as a signature, such as control flow, takes its
//! [`KernelFrame`](prelude::KernelFrame) with `raw`. Types are `any`, `"!my.type"` or a Rust type,
//! after an optional `variadic`, `mut` or `ref` (may be unavailable):
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Calls a function.
//! #[tfrt_kernel("my.apply", raw, non_strict, operands(arguments: ref variadic any), attrs(count: i64 = 1), symbols(callee),
//!               results(values: variadic any))]
//! fn apply(frame: &mut KernelFrame<'_>) -> Result<()> {
//!     let callee = frame.function(0)?;
//!     assert!(frame.attribute::<i64>(0)? > 0);
//!     let (context, arguments) = (frame.exec_ctx(), frame.arguments());
//!     callee.execute_into(context, arguments, frame.results());
//!     Ok(())
//! }
//! # assert!(KernelRegistry::from_link()?.get("my.apply").is_some());
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
#![forbid(unsafe_code)]

mod declare;

#[cfg(all(feature = "text", feature = "tensor"))]
pub mod guide;

#[cfg(feature = "text")]
pub mod text;

#[cfg(feature = "text")]
pub mod testing;

pub use tfrt_async as async_value;
pub use tfrt_attr as attr;
pub use tfrt_bef as bef;
#[cfg(feature = "core")]
pub use tfrt_core as core;
#[cfg(feature = "data")]
pub use tfrt_data as data;
#[cfg(feature = "device")]
pub use tfrt_device as device;
#[cfg(feature = "distributed")]
pub use tfrt_distributed as distributed;
pub use tfrt_executor as executor;
#[cfg(feature = "function-ops")]
pub use tfrt_function_ops as function_ops;
pub use tfrt_host as host;
pub use tfrt_host::kernel;
#[cfg(feature = "device")]
pub use tfrt_macros::tfrt_device;
#[cfg(feature = "core")]
pub use tfrt_macros::tfrt_op;
pub use tfrt_macros::{Attr, Resource, Value, declare_op, tfrt_kernel};
pub use tfrt_ods as ods;
pub use tfrt_queue as queue;
pub use tfrt_support as support;
pub use tfrt_support::{Error, ErrorCode};
#[cfg(feature = "tensor")]
pub use tfrt_tensor as tensor;

#[doc(hidden)]
pub use tfrt_host::__private;

/// A result of a kernel, whose error is an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The names that a crate of kernels needs.
pub mod prelude {
    pub use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Chain, Immutable};
    pub use tfrt_attr::{AggregateView, CompilationUnitView, DenseView, ShapeView};
    pub use tfrt_host::kernel::{
        AttrParam, Attributes, Function, KernelFrame, KernelRegistry, Operands, Preallocated,
        Region, Res, ResourceScope, Shaped,
    };
    pub use tfrt_host::{ExecutionContext, FunctionRef, HostContext, RequestContext};
    pub use tfrt_support::{DType, Error, ErrorCode, TensorMetadata};

    pub use crate::Result;
    // The traits and the derives of one name.
    pub use tfrt_async::Value;
    pub use tfrt_host::kernel::Resource;
    pub use tfrt_macros::{Attr, Resource, Value, tfrt_kernel};

    // What kernels for several devices are written with.
    #[cfg(feature = "device")]
    pub use tfrt_macros::tfrt_device;

    // What ops are written with.
    #[cfg(feature = "core")]
    pub use tfrt_core::{Forwarded, OpCall, OpQuery, ResultMetadata};
    #[cfg(feature = "core")]
    pub use tfrt_macros::tfrt_op;
    #[cfg(feature = "core")]
    pub use tfrt_tensor::{
        CooHostTensor, DenseHostTensor, Element, ResourceTensor, ScalarHostTensor,
        StringHostTensor, Tensor, TensorView, TensorViewMut,
    };
}

/// Makes this crate, whose crate type must be `cdylib`, a kernel library:
/// `tfrt run --kernel-library` and
/// [`KernelRegistry::load_library`](kernel::KernelRegistry::load_library) load it, with all kernels
/// that are linked into it.
///
/// Write it once, at the top of the crate. See [`kernel::library`] for the restrictions of a
/// library.
///
/// ```
/// use tfrt::prelude::*;
///
/// /// Returns twice a number.
/// #[tfrt_kernel("my.twice")]
/// fn twice(number: i32) -> i32 {
///     number * 2
/// }
///
/// tfrt::export_kernels!();
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_kernels {
    () => {
        /// The entry point that a program looks up in a kernel library.
        // The name is no other item's: it has the runtime's in it. The attribute says so to the
        // compiler, and is all that is unsafe here.
        #[unsafe(no_mangle)]
        pub extern "C" fn tfrt_kernel_library() -> *const $crate::__private::LibraryHeader {
            $crate::__private::library_header()
        }
    };
}

/// Links crates of kernels that the code does not refer to otherwise: the linker leaves out
/// unreferenced crates.
///
/// ```
/// tfrt::link!(tfrt);
/// ```
#[macro_export]
macro_rules! link {
    ($($library:ident),+ $(,)?) => {
        $(
            #[allow(unused_imports, clippy::single_component_path_imports)]
            use $library as _;
        )+
    };
}

/// Registers a Rust function that programs call like their own functions:
/// `func private @native_add(…)` with the attribute `tfrt.native`.
///
/// ```
/// use tfrt::kernel::NativeCall;
/// use tfrt::prelude::*;
///
/// fn native_add(call: NativeCall<'_>) {
///     let sum: i32 = call.arguments.iter().filter_map(AnyRef::get::<i32>).sum();
///     call.results[0] = Some(AnyRef::available(sum));
/// }
///
/// tfrt::native_function!("native_add", native_add);
///
/// assert!(KernelRegistry::from_link()?.native("native_add").is_some());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
#[macro_export]
macro_rules! native_function {
    ($name:literal, $function:path) => {
        $crate::__private::submit! {
            $crate::kernel::NativeFunction {
                name: $name,
                place: $crate::__private::SourcePlace {
                    file: $crate::__private::file!(),
                    line: $crate::__private::line!(),
                },
                execute: |call| $crate::__private::call_native($name, call, $function),
            }
        }
    };
}
