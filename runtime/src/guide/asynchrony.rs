//! Waiting without blocking.
//!
//! A thread that runs kernels must not block, because it has other kernels to run. A kernel hands
//! slow work to another thread or task, and returns values that are *not yet available*. There are
//! three ways, from the simplest to the most general.
//!
//! # `async fn`
//!
//! A kernel may be an `async fn`. It is polled immediately, and again as a task of the work queue
//! whenever it is woken. Operands are borrowed for as long as it runs.
//!
//! ```
//! use std::time::Duration;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns the number after some time.
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
//! Any future that is `Send` and wakes its task can be awaited: the queue is the executor. A future
//! that needs a reactor, such as one for sockets, needs that reactor to run on a thread of its own.
//! [`AsyncValueRef`](crate::prelude::AsyncValueRef) and [`AnyRef`](crate::prelude::AnyRef) can be
//! awaited too, and yield the value or its error.
//!
//! A request that is [cancelled](super::errors#cancellation) drops the futures of its kernels.
//!
//! # The blocking pool
//!
//! A kernel that blocks, on a file, a lock or a foreign library, is marked `blocking` and runs on a
//! separate pool of threads:
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
//! A kernel that hands its work to other code creates a value together with its promise. `emplace`
//! makes the value available, and `set_error` makes it an error. Dropping the promise makes it an
//! error, too, so that no consumer waits forever.
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
//! A task passed to [`enqueue`](crate::prelude::ExecutionContext::enqueue) must not block either. A
//! result of type `AsyncValueRef<Chain>` is a chain that is ready later.
//!
//! # Late operands
//!
//! A kernel starts when *all* its operands are available. A kernel that can start earlier is marked
//! `non_strict`, and takes the operands that may be late as references. A program can request this
//! as well: an op with the attribute `bef.nonstrict` runs non-strictly.
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
//! Such a kernel still waits for the operands that it takes as values. If it takes all operands as
//! references, it starts with its *first* available operand. A reference may be pending, available
//! or an error; the kernel can inspect it, await it, or pass it on.
