//! What costs what, and what to do about it.
//!
//! # What is free
//!
//! - *Type checks.* The loader proves the types of values from the declarations, and kernels read proven operands without
//!   looking. What stays open is checked at each read: what kernels give as `any` or `AnyRef`, and types that share a
//!   spelling.
//! - *Chains that are ready.* The ready chain is one object of the process: making one allocates nothing.
//! - *Constants, attributes.* They lie in the file and are read in place: `&str` and `&[f32]` parameters copy nothing.
//! - *Names.* They are looked up once, when a program is loaded.
//!
//! # What a kernel costs
//!
//! What the runtime adds to the work of a kernel depends on what the kernel takes and returns, not on its annotations. In
//! instructions, for kernels that declare nothing, in a release build:
//!
//! | kernel | in a function of one stream | cost |
//! |---|---|---:|
//! | takes and returns numbers, `bool`, `Chain`, `copied` types | payloads are copied from place to place, nothing is allocated | 20 to 30 |
//! | the same, from a kernel library | as above | 40 |
//! | the same, with attributes, functions or `&ExecutionContext` | the context is prepared for it | 60 to 100 |
//! | takes `&T`, returns `T` of a shared type | a value is made and another one dropped | 300 to 500 |
//! | `async fn` that is ready when it is polled first | as above, polled in place | as above, and some 200 |
//! | `async fn` that waits, `blocking`, [`AsyncValueRef`](crate::prelude::AsyncValueRef) results | a task, and a waiter for each consumer | 1000 and more |
//!
//! A kernel of a program with several streams costs about 100 more under a queue that keeps an order (`s`), where the
//! executor counts operands; under `mstd` it follows the order of one thread until sharing is worth it. A call of a small
//! function costs about 300, a call from Rust 500. It follows:
//!
//! - A kernel that does next to nothing is dominated by that. Make kernels large: one `my.normalize`, not `subtract`,
//!   `square`, `sum`, `sqrt`, `divide`. Many small steps without waiting belong into a [synchronous
//!   function](super::kernels#kernels-of-synchronous-functions).
//! - A kernel that runs very long keeps its thread from everything else that was ready. Beyond a millisecond or so, split
//!   the work: [`host::parallel`](crate::host::parallel) runs blocks of a range on all threads.
//!
//! # Values
//!
//! - Numbers, `bool`, chains, and types of at most 16 bytes that say `#[value("!my.type", copied)]`, pass as bytes. A value of
//!   any other type is one block of memory, header and payload together; threads keep blocks of up to 1 KiB for the next
//!   value. A large payload is better behind a pointer (`Arc<[f32]>`, `Vec`): results are moved into their place.
//! - `T` as an operand clones. For numbers that is a copy; for the rest take `&T`.
//! - [`&mut T`](super::values#values-that-change) saves the allocation of a new result, and costs a chain. Between kernels
//!   that would run in order anyhow that is a gain.
//! - [`AnyRef::is_unique`](crate::prelude::AnyRef::is_unique) tells whether an operand, taken as `&AnyRef`, is the last reference, so
//!   that its buffer may be used again. For tensors, `DenseHostTensor::to_change` looks, and copies where somebody else might see.
//!
//! # Threads
//!
//! - Kernels run inline: what becomes ready runs next, on the same thread, and only what is left over is handed to others.
//!   A graph that is a line runs on one thread, without a single task.
//! - `tfrt graph` draws a program with its *streams*, which are the parts that run on one thread unless another is idle.
//! - Chains that are not needed serialise. Give effects [classes](super::chains), merge chains late, and let readers go
//!   side by side.
//! - Never block a compute thread, not for a lock that is held long either: `blocking`, or `async fn`.
//!
//! # Measuring
//!
//! ```console
//! $ tfrt run --trace trace.json --work_queue_type=mstd program.mlir     # every kernel, for https://ui.perfetto.dev
//! ```
//!
//! `tfrt_test.benchmark` of the standard library runs a region again and again and reports its times.
//!
//! Measure release builds. In a build with debug assertions every value is counted, and proven reads are checked all the
//! same.
//!
//! # Size and compile time
//!
//! A program that only executes files links no parser and no compiler: [`default-features =
//! false`](super::embedding#files). A kernel costs an adapter of its own per instance of a generic function; families of
//! hundreds of instances are paid for in code.
//!
//! A kernel like `fn(i32, i32) -> i32` takes the compiler about 6 ms in a debug build, half a millisecond of that in the macro,
//! and 33 kB of the binary; a crate of a thousand of them is linked in 0.3 s. (rustc 1.95 on x86-64, the thousand compiled
//! together.)
