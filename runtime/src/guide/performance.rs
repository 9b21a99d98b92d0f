//! What kernels cost, and how to make programs fast.
//!
//! # What is free
//!
//! - *Type checks.* The loader proves the types of values from the declarations, and kernels read
//!   proven operands without a check. All other operands are checked at each read: results of type
//!   `any` or `AnyRef`, and types that share a spelling.
//! - *Chains that are ready.* They share one object per process, so creating one does not allocate.
//! - *Attributes.* They are read in place: `&str` and `&[f32]` parameters refer to the file.
//! - *Names.* They are looked up once, when a program is loaded.
//!
//! # What a kernel costs
//!
//! The overhead of a kernel depends on its parameters and results, not on its annotations. In
//! instructions, for kernels without annotations, in a release build:
//!
//! | kernel | in a function of one stream | cost |
//! |---|---|---:|
//! | takes and returns numbers, `bool`, `Chain`, `copied` types | payloads are copied, nothing is allocated | 20 to 30 |
//! | the same, from a kernel library | as above | 40 |
//! | the same, with attributes, functions or `&ExecutionContext` | the context is prepared for it | 60 to 100 |
//! | takes `&T`, returns `T` of a shared type | a value is created and another one dropped | 300 to 500 |
//! | `async fn` that is ready at the first poll | as above, polled in place | as above, and about 200 |
//! | `async fn` that waits, `blocking`, [`AsyncValueRef`](crate::prelude::AsyncValueRef) results | a task, and a waiter for each consumer | 1000 and more |
//!
//! In a function of several streams, a kernel costs about 100 more under a queue that keeps an
//! order (`s`), because the executor counts available operands; under `mstd` it follows a static
//! order on one thread until sharing pays off. A call of a small function costs about 300, a call
//! from Rust 500. Consequences:
//!
//! - Overhead dominates very small kernels. Write larger ones: one `my.normalize` instead of
//!   `subtract`, `square`, `sum`, `sqrt` and `divide`. Put many small steps that never wait into a
//!   [synchronous function](super::kernels#kernels-of-synchronous-functions).
//! - A long-running kernel delays other ready kernels on its thread. Split work beyond about a
//!   millisecond: [`host::parallel`](crate::host::parallel) runs blocks of a range on all threads.
//!
//! # Values
//!
//! - Numbers, `bool`, chains, and types of at most 16 bytes declared `#[value("!my.type", copied)]`
//!   are passed as bytes. A value of any other type is one block of memory with header and payload;
//!   threads reuse blocks of up to 1 KiB. Put a large payload behind a pointer (`Arc<[f32]>`,
//!   `Vec`), because results are moved.
//! - An operand of type `T` is cloned. For numbers that is a copy; for other types take `&T`.
//! - [`&mut T`](super::values#values-that-change) saves the allocation of a new result, but adds a
//!   chain. This pays off between kernels that run in order anyway.
//! - [`AnyRef::is_unique`](crate::prelude::AnyRef::is_unique) tells whether an operand, taken as
//!   `&AnyRef`, is the last reference, so that its buffer can be reused. For tensors,
//!   `DenseHostTensor::make_exclusive` reuses the buffer if it can, and copies it otherwise.
//!
//! # Threads
//!
//! - Kernels run inline: a kernel that becomes ready runs next on the same thread, and only the
//!   others become tasks. A linear graph runs on one thread without any task.
//! - `tfrt graph` draws a program with its *streams*: parts that run on one thread unless another
//!   thread is idle.
//! - Unnecessary chains serialise. Give effects [classes](super::chains), merge chains late, and
//!   let readers run in parallel.
//! - Never block a compute thread, including on a lock that is held for long: use `blocking` or an
//!   `async fn`.
//!
//! # Measuring
//!
//! ```console
//! $ tfrt run --trace trace.json --work_queue_type=mstd program.mlir     # every kernel, for https://ui.perfetto.dev
//! ```
//!
//! `tfrt_test.benchmark` of the standard library runs a region repeatedly and reports its times.
//! `tfrt bench` measures whole functions and their kernels.
//!
//! Measure release builds. With debug assertions, every value is counted, and even proven reads are
//! checked.
//!
//! # Size and compile time
//!
//! A program that only executes BEF files does not link the parser and the compiler:
//! [`default-features = false`](super::embedding#files). Each instance of a generic kernel has its
//! own adapter, so large families increase the size of the code.
//!
//! A kernel like `fn(i32, i32) -> i32` takes the compiler about 6 ms in a debug build, half a
//! millisecond of that in the macro, and 33 kB of the binary; a crate of a thousand of them is
//! linked in 0.3 s. (rustc 1.95 on x86-64, the thousand compiled together.)
