//! The standard kernel library.
//!
//! Every kernel here is an ordinary function with `#[tfrt_kernel]`: nothing in this crate has access to the runtime that any
//! other crate of kernels would lack. Link it with [`tfrt::link!`], and its kernels can be named by programs:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! tfrt::link!(tfrt_kernels);
//!
//! let registry = KernelRegistry::from_link()?;
//! let add = registry.get("tfrt.add.i32").expect("it is linked");
//! assert_eq!(add.op().summary, "Gives the sum of two numbers.");
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! | modules | kernels |
//! |---|---|
//! | [`constants`], [`arithmetic`], [`comparison`], [`cast`], [`print`](mod@print) | `tfrt.*` on scalars |
//! | [`chains`], [`control_flow`], [`device`] | `tfrt.*` that order, call and choose |
//! | [`shapes`] | `ts.*`, `ts_sync.*` |
//! | [`dense_tensors`], [`sparse_tensors`], [`string_tensors`], [`tensor_files`] | `tfrt_dht.*`, `coo.*`, `tfrt_sht.*`, `btf.*`, and their `_sync` twins |
//! | [`eigen`] | `eigen.*`: convolution, normalisation, pooling, products, and their gradients |
//! | [`core_runtime`] | `corert.*`, `corert_sync.*`: ops that run one by one, on tensor handles |
//! | [`ops`] | `tf.*`, `tfrt_test.*`: ops of the Core Runtime for the processor |
//! | [`tf_sync`] | `tf_sync.*`: TensorFlow's ops in synchronous functions |
//! | [`test`](mod@test) | `tfrt_test.*`, `vt.*` and native functions, for tests |
//! | [`tutorial`] | `tfrt_tutorial.*` |
//! | [`dialects`] | ops that are declared, so that programs can be read and written, and have no kernel here |
//!
//! Every op is documented in `REFERENCE.md` beside this crate's manifest, which `tfrt ops --format=markdown` writes.
//!
//! Ops that tools may drop when nobody uses their results are marked `pure`. Those are few: the reference marks constants,
//! arithmetic that has a custom form, and chains, and what it keeps is kept here.
#![forbid(unsafe_code)]

pub mod constants;

pub mod arithmetic;

pub mod comparison;

pub mod cast;

pub mod print;

pub mod chains;

pub mod device;

pub mod control_flow;

pub mod shapes;

pub mod dense_tensors;

pub mod sparse_tensors;

pub mod string_tensors;

pub mod tensor_files;

pub mod packed_weights;

pub mod eigen;

pub mod core_runtime;

pub mod ops;

pub mod tf_sync;

pub mod test;

pub mod tutorial;

pub mod dialects;

mod numeric;

mod rules;

mod scalar;

mod scratch;

mod text;
