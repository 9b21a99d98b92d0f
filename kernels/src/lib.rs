//! The standard kernel library.
//!
//! Every kernel here is an ordinary function marked `#[tfrt_kernel]`. This crate has no access to
//! the runtime that other kernel crates lack. Link it with [`tfrt::link!`] to make its kernels
//! available to programs:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! tfrt::link!(tfrt_kernels);
//!
//! let registry = KernelRegistry::from_link()?;
//! let add = registry.get("tfrt.add.i32").expect("it is linked");
//! assert_eq!(add.op().summary, "Returns the sum of two numbers.");
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
//! | [`data`] | `tfrt_data.*`: input pipelines, and the files that they read |
//! | [`ops`] | `tf.*`: ops of the Core Runtime for the processor, and with `test-kernels` `tfrt_test.*` |
//! | [`tf_sync`] | `tf_sync.*`: TensorFlow's ops in synchronous functions |
//! | `test` | `tfrt_test.*`, `vt.*` and native functions, for tests; behind the feature `test-kernels` |
//! | [`tutorial`] | `tfrt_tutorial.*` |
//! | [`dialects`] | ops that are declared without a kernel, so that programs with them can be read and written |
//!
//! `REFERENCE.md` next to this crate's manifest documents every op; `tfrt ops --format=markdown`
//! generates it.
//!
//! Ops that tools may remove when their results are unused are marked `pure`: constants, arithmetic
//! with a custom form, chains, and most of the kernels that create datasets, as in the reference.
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

pub mod numeric;

pub mod eigen;

pub mod core_runtime;

pub mod data;

pub mod ops;

pub mod tf_sync;

#[cfg(feature = "test-kernels")]
pub mod test;

pub mod tutorial;

pub mod dialects;

mod op_verifiers;

mod scalar;

mod scratch;

mod text;
