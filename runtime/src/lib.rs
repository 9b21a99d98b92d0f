//! A kernel authoring framework and dataflow runtime.
//!
//! A kernel is a plain function. From its signature `#[tfrt_kernel]` derives everything that the runtime needs: the
//! adapter, the declaration, the chain plumbing and the registration.
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
//! # Kernels
//!
//! Unmarked parameters are operands. A parameter is one of:
//!
//! | parameter | binds |
//! |---|---|
//! | `T`, `&T`, `&str` | the payload of the next operand |
//! | `&mut T` | the same, to be written: borrowed for the duration of the call |
//! | `AnyRef`, `&AnyRef`, `AsyncValueRef<T>` | a reference to the next operand |
//! | `Operands<'_, T>`, `&[AnyRef]` | all the operands that remain |
//! | `#[attr] name: A` | the attribute `name`; also `#[attr("name")]` and `#[attr(name = "…", default = …)]` |
//! | `FunctionRef`, `&FunctionRef`, `&[FunctionRef]` | functions named by symbols, or with `#[region]` a region |
//! | `&ExecutionContext`, `&HostContext`, `&RequestContext`, or the latter in an `Arc` | the context |
//!
//! A function returns nothing, a value, a tuple of values, or references to values that become available later; a `Result`
//! of these makes its error the error of all results, and a `Result` inside a tuple that of one. `Vec<AnyRef>` fills all
//! slots that remain. An `async fn` runs on the work queue, and a function marked `blocking` on the blocking pool.
//!
//! A kernel with effects (`side_effecting`, or a `&mut` operand) gets a chain as its last operand and last result, unless
//! it has one of type [`Chain`](prelude::Chain) itself, or says `chain = none`.
//!
//! A kernel that needs more takes its frame: see `raw` and [`kernel::KernelFrame`].
#![forbid(unsafe_code)]

pub use tfrt_async as async_value;
pub use tfrt_attr as attr;
pub use tfrt_bef as bef;
pub use tfrt_executor as executor;
pub use tfrt_host as host;
pub use tfrt_host::kernel;
pub use tfrt_host::value_cell;
pub use tfrt_macros::{Value, tfrt_kernel};
pub use tfrt_ods as ods;
pub use tfrt_queue as queue;
pub use tfrt_support as support;
pub use tfrt_support::{Error, ErrorCode};

#[doc(hidden)]
pub use tfrt_host::__private;

/// A result whose error is an [`Error`], as kernels return it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a crate of kernels uses.
pub mod prelude {
    pub use tfrt_async::{AnyRef, AsyncValueRef, Chain};
    pub use tfrt_attr::{AggregateView, CompilationUnitView, DenseView, ShapeView};
    pub use tfrt_host::kernel::{
        AttributeParam, KernelFrame, KernelRegistry, Operands, SyncKernelFrame,
    };
    pub use tfrt_host::{ExecutionContext, FunctionRef, HostContext, RequestContext};
    pub use tfrt_support::{DType, Error, ErrorCode};

    pub use crate::Result;
    // The trait and the derive of one name.
    pub use tfrt_async::Value;
    pub use tfrt_macros::{Value, tfrt_kernel};
}

/// Keeps crates of kernels in the program, although nothing else names them: a linker leaves out what nobody refers to.
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

/// Declares ops that have no kernel, from statics of type [`OpDef`](ods::OpDef).
///
/// ```
/// use tfrt::ods::{OpDef, OpTraits};
///
/// static RETURN: OpDef = OpDef { traits: OpTraits::TERMINATOR, ..OpDef::new("my.return") };
///
/// tfrt::declare_ops!(RETURN);
///
/// let registry = tfrt::kernel::KernelRegistry::from_link()?;
/// assert!(registry.op("my.return").is_some() && registry.get("my.return").is_none());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
#[macro_export]
macro_rules! declare_ops {
    ($($op:path),+ $(,)?) => {
        $crate::__private::submit! { $crate::kernel::registry::OpRegistration(&[$(&$op),+]) }
    };
}

/// States facts of dialects that no declaration of an op can state, from a constant list of [`DialectDef`](ods::DialectDef).
///
/// ```
/// use tfrt::kernel::registry::DialectRegistration;
/// use tfrt::ods::DialectDef;
///
/// const DIALECTS: &[DialectDef] = &[DialectDef { types: &["matrix"], ..DialectDef::new("my_algebra") }];
///
/// tfrt::declare_dialects!(DIALECTS);
///
/// assert!(DialectRegistration::linked().any(|dialect| dialect.name == "my_algebra"));
/// ```
#[macro_export]
macro_rules! declare_dialects {
    ($dialects:expr) => {
        $crate::__private::submit! { $crate::kernel::registry::DialectRegistration($dialects) }
    };
}

/// Registers a Rust function that programs call as they call their own: `func private @native_add(…)` with the attribute
/// `tfrt.native`.
///
/// ```
/// use tfrt::kernel::registry::NativeCall;
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
            $crate::kernel::registry::NativeFunction { name: $name, execute: $function }
        }
    };
}
