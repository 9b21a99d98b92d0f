//! Waiting without blocking.
//!
//! A thread that runs kernels must not wait: it has other kernels to run. Work that takes its time is handed to somebody,
//! and the kernel returns values that are *not available yet*. There are three ways, from the plain to the particular.
//!
//! # `async fn`
//!
//! A kernel may be an `async fn`. It is polled at once, and from then on as a task of the work queue whenever what it
//! awaits is there. Operands are borrowed for as long as it runs.
//!
//! ```
//! use std::time::Duration;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Gives the number, after some time.
//! #[tfrt_kernel("async.after")]
//! async fn after(number: i32, #[attr] milliseconds: i64, host: &HostContext) -> Result<i32> {
//!     host.timers().sleep(Duration::from_millis(u64::try_from(milliseconds)?)).await;
//!     Ok(number)
//! }
//!
//! testing::kernel("async.after").operands((3,)).attribute("milliseconds", 1_i64).under_every_queue().run().expect_value(3);
//! testing::kernel("async.after").operands((3,)).attribute("milliseconds", -1_i64).run().expect_error("out of range");
//! ```
//!
//! Any future can be awaited that is `Send` and wakes its task: the queue is the executor. A reactor that wants its own
//! thread, as those of sockets do, must be running somewhere. [`AsyncValueRef`](crate::prelude::AsyncValueRef) and
//! [`AnyRef`](crate::prelude::AnyRef) can be awaited too; what comes out is the value, or its error.
//!
//! A request that is [cancelled](super::errors#cancellation) drops the futures of its kernels.
//!
//! # The blocking pool
//!
//! Code that blocks, on a file or a lock or a foreign library, is marked `blocking`, and runs on threads kept for that:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Reads a file.
//! #[tfrt_kernel("async.read_file", blocking)]
//! fn read_file(path: &str) -> std::io::Result<String> {
//!     std::fs::read_to_string(path)
//! }
//!
//! let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
//! let read = testing::kernel("async.read_file").operands((manifest,)).run();
//! read.with_value(0, |text: &ByteString| assert!(text.starts_with(b"[package]")));
//! testing::kernel("async.read_file").operands(("/nowhere",)).run().expect_error("No such file");
//! ```
//!
//! # Promises
//!
//! A kernel that hands the work to somebody else makes a value and keeps the promise of it. `emplace` makes the value
//! available, `set_error` makes it an error; a promise that is dropped makes it an error, too, so that nobody waits for
//! ever.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Adds, as a task of the queue.
//! #[tfrt_kernel("async.add_in_task")]
//! fn add_in_task(a: i64, b: i64, ctx: &ExecutionContext) -> AsyncValueRef<i64> {
//!     let (promise, sum) = AsyncValueRef::unconstructed();
//!     ctx.enqueue(move || match a.checked_add(b) {
//!         Some(sum) => promise.emplace(sum),
//!         None => promise.set_error(Error::new("too large")),
//!     });
//!     sum
//! }
//!
//! testing::kernel("async.add_in_task").operands((1_i64, 2_i64)).under_every_queue().run().expect_value(3_i64);
//! testing::kernel("async.add_in_task").operands((i64::MAX, 2_i64)).run().expect_error("too large");
//! ```
//!
//! A task of [`enqueue`](crate::prelude::ExecutionContext::enqueue) must not block, as a kernel must not. A result of type
//! `AsyncValueRef<Chain>` is a chain that is ready later.
//!
//! # Late operands
//!
//! A kernel starts when *all* its operands are there. One that can do something before that is marked `non_strict`, and
//! takes what may be late by reference. A program has a say, too: an op runs non-strictly if it carries the attribute
//! `bef.nonstrict`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Chooses one of two values, without waiting for the other.
//! #[tfrt_kernel("async.choose", non_strict, results(chosen))]
//! fn choose(first: bool, a: AnyRef, b: AnyRef) -> AnyRef {
//!     if first { a } else { b }
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%first: i1, %a: i32, %b: i32) -> i32 {
//!       %chosen = "async.choose"(%first, %a, %b) {bef.nonstrict} : (i1, i32, i32) -> i32
//!       tfrt.return %chosen : i32
//!     }
//!     "#,
//! )
//! .call("main", (false, testing::error("not chosen"), testing::later(2)))
//! .expect_value(2);
//! ```
//!
//! What is waited for: operands taken as values. If all are taken by reference, the kernel starts with its *first* operand.
//! A reference may be late, there, or an error: the kernel looks, awaits, or passes it on.
