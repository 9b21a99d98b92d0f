//! How kernels get into a program, and why one is missing.
//!
//! # Linking
//!
//! `#[tfrt_kernel]` collects its kernels when the program is linked:
//! [`KernelRegistry::from_link`](crate::kernel::KernelRegistry::from_link) has every kernel of every crate that is part of
//! the binary. No list is kept anywhere.
//!
//! There is one trap. **A crate that nothing names is no part of the binary**, whatever the manifest says: the linker
//! leaves it out, and its kernels with it. So a binary, and each integration test, names the crates it wants:
//!
//! ```
//! # use {tfrt as my_kernels, tfrt as tfrt_kernels};
//! tfrt::link!(my_kernels, tfrt_kernels);
//! ```
//!
//! The message that tells of the trap says which dialects are linked:
//!
//! ```text
//! unknown kernel name 'my.add'; no kernel of `my` is linked (linked: tfrt): a kernel crate that nothing refers to is left out by the
//! linker, so name it with `tfrt::link!`, or load it as a kernel library
//! ```
//!
//! # Names
//!
//! A name belongs to one kernel. Two crates that register the same name cannot be in one program, and the start says where
//! both are:
//!
//! ```text
//! `my.add` is registered twice: at a/src/lib.rs:12 and at b/src/lib.rs:7
//! ```
//!
//! Use the name of the crate as the dialect, and there is nothing to collide with.
//!
//! # Registries by hand
//!
//! A host that wants only some kernels fills a registry itself. The option `kernel_set` names a type that stands for all kernels
//! of a function; the macro makes it:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Says yes.
//! #[tfrt_kernel("libraries.yes", kernel_set = Yes)]
//! fn yes() -> bool {
//!     true
//! }
//!
//! let mut registry = KernelRegistry::new();
//! registry.add_all::<Yes>()?;
//! assert!(registry.get("libraries.yes").is_some());
//! assert_eq!(registry.suggest("libraries.yess"), ["libraries.yes"]);
//!
//! let twice = registry.add_all::<Yes>().unwrap_err();
//! assert!(twice.to_string().starts_with("`libraries.yes` is registered twice: at "));
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! # Plug-ins
//!
//! A crate of kernels can also be loaded by a program that was built without it. It is of the type `cdylib`, and says once,
//! at the top, that it is a kernel library; `tfrt new --lib` makes such a crate.
//!
//! ```
//! tfrt::export_kernels!();
//! # fn main() {}
//! ```
//!
//! ```console
//! $ tfrt run --kernel-library target/debug/libmy_kernels.so program.mlir
//! ```
//!
//! Rust has no stable layout of types, so that library and program must be *built alike*: by one compiler, from one source
//! of the runtime, with debug assertions in both or in neither, with one panic strategy. The library carries a fingerprint
//! of that; what does not match is refused before any of its code is used, and the message shows both:
//!
//! ```text
//! couldn't load library `libmy_kernels.so`: built differently from this program: build the library with `cargo build --release`
//!   expected: rustc 1.95.0 (…), x86_64-unknown-linux-gnu, 64-bit, tfrt 0.1.0 (source 6f1d…), panic unwind, debug assertions off
//!   found:    rustc 1.95.0 (…), x86_64-unknown-linux-gnu, 64-bit, tfrt 0.1.0 (source 6f1d…), panic unwind, debug assertions on
//! ```
//!
//! Here the library is a debug build and the program is not. From Rust,
//! [`KernelRegistry::load_library`](crate::kernel::KernelRegistry::load_library) loads a library; it is `unsafe`, because
//! loading code runs it. A library is never unloaded. See [`host::library`](crate::host::library) for what a library shares
//! with the program.
