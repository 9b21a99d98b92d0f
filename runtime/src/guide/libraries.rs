//! How kernels get into a program, and why one is missing.
//!
//! # Linking
//!
//! `#[tfrt_kernel]` collects its kernels when the program is linked:
//! [`KernelRegistry::from_link`](crate::kernel::KernelRegistry::from_link) contains every kernel of
//! every crate that is part of the binary. You do not have to maintain a list.
//!
//! There is one trap. **A crate that is not named in the code is not part of the binary**, even if
//! the manifest lists it: the linker leaves it out, and with it its kernels. So name the crates in
//! the binary and in each integration test:
//!
//! ```
//! # use {tfrt as my_kernels, tfrt as tfrt_kernels};
//! tfrt::link!(my_kernels, tfrt_kernels);
//! ```
//!
//! The error message lists the linked dialects:
//!
//! ```text
//! unknown kernel name 'my.add'; no kernels of `my` are linked (linked: tfrt): the linker omits
//! crates that nothing refers to; link the kernel crate with `tfrt::link!`, or load it as a kernel
//! library
//! ```
//!
//! # Names
//!
//! A name belongs to one kernel. Two crates that register the same name cannot be linked into one
//! program. The error at start-up gives both locations:
//!
//! ```text
//! `my.add` is registered twice: at a/src/lib.rs:12 and at b/src/lib.rs:7
//! ```
//!
//! To avoid collisions, use the name of the crate as the dialect.
//!
//! # Registries by hand
//!
//! A host that needs only some kernels can fill a registry itself. The option `kernel_set` makes
//! the macro declare a type that stands for all kernels of a function:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Returns true.
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
//! A crate of kernels can also be loaded at run time by a program that was built without it. Its
//! crate type is `cdylib`, and it contains one invocation of a macro; `tfrt new --lib` creates such
//! a crate.
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
//! The ops of the library, `#[tfrt_op]`, are called by name like those of the program.
//!
//! Rust does not have a stable layout of types, so library and program must be *built alike*: with
//! the same compiler, from the same source of the runtime, with the same panic strategy, and with
//! debug assertions in both or in neither. The library contains a fingerprint of its build. A
//! library with another fingerprint is refused before any of its code runs, and the message shows
//! both:
//!
//! ```text
//! couldn't load library `libmy_kernels.so`: built differently from this program: build the library with `cargo build --release`
//!   expected: rustc 1.95.0 (…), x86_64-unknown-linux-gnu, 64-bit, tfrt 0.1.0 (source 6f1d…), panic unwind, debug assertions off
//!   found:    rustc 1.95.0 (…), x86_64-unknown-linux-gnu, 64-bit, tfrt 0.1.0 (source 6f1d…), panic unwind, debug assertions on
//! ```
//!
//! Here the library is a debug build and the program is not. From Rust,
//! [`KernelRegistry::load_library`](crate::kernel::KernelRegistry::load_library) loads a library;
//! it is `unsafe`, because loading native code runs it. A library is never unloaded.
//! [`kernel::library`](crate::kernel::library) describes what a library shares with the program.
