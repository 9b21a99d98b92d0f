//! Chains: the order of effects.
//!
//! # Why
//!
//! Two kernels that no value connects may run in any order, or at once. That is right for what only computes. It is wrong
//! for kernels that print, write a file, draw a random number, or change a value in place: their order can be seen. So
//! programs connect them by a value whose only content is that it is there: a *chain*, `!tfrt.chain`.
//!
//! ```text
//!   tfrt.new.chain ──► print("a") ──chain──► print("b") ──chain──► …
//! ```
//!
//! # What the author says
//!
//! Nothing about chains; only what the kernel does. From that the macro decides whether the kernel has a chain as its last
//! operand and its last result:
//!
//! | the kernel | says | has a chain |
//! |---|---|---|
//! | computes | nothing | no |
//! | writes an operand | `&mut T` | yes |
//! | prints, sends, writes files | `side_effecting`, which is `effect = "io"` | yes |
//! | has effects that matter only among its like | `effect = "random"` | yes |
//! | has no effects, and gives what depends on those of others | `reads = "random"` | yes |
//! | has effects whose order nobody minds | `side_effecting, chain = none` | no |
//! | looks as if it had effects, and has none | `pure` | no |
//! | is about chains itself | a parameter or result of type [`Chain`](crate::prelude::Chain) | where it says |
//!
//! Programs may leave the added chain out, operand and result alike. A kernel without a chain of its own accepts one behind
//! its operands all the same, and starts after it: that is how a reader is put behind a writer. (Kernels that take all that
//! remains as `&[AnyRef]` take it as one of those, and `chain = none` refuses it.)
//!
//! ```
//! use std::sync::Mutex;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// A sheet of paper. It is shared and locks itself: kernels take it by `&`.
//! #[derive(Debug, Default, Value)]
//! #[value("!chains.paper")]
//! struct Paper(Mutex<String>);
//!
//! impl Paper {
//!     fn with<R>(&self, f: impl FnOnce(&mut String) -> R) -> Result<R> {
//!         Ok(f(&mut *self.0.lock().map_err(|_| Error::new("the paper is torn"))?))
//!     }
//! }
//!
//! /// Writes.
//! #[tfrt_kernel("chains.write", side_effecting)]
//! fn write(paper: &Paper, #[attr] text: &str) -> Result<()> {
//!     paper.with(|paper| paper.push_str(text))
//! }
//!
//! /// Reads. It needs no place among the writes, unless the program gives it one.
//! #[tfrt_kernel("chains.read")]
//! fn read(paper: &Paper) -> Result<String> {
//!     paper.with(|paper| paper.clone())
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%paper: !chains.paper, %ready: !tfrt.chain) -> !tfrt.string {
//!       %hello = "chains.write"(%paper, %ready) {text = "hello "} : (!chains.paper, !tfrt.chain) -> !tfrt.chain
//!       %world = "chains.write"(%paper, %hello) {text = "world"} : (!chains.paper, !tfrt.chain) -> !tfrt.chain
//!       %text = "chains.read"(%paper, %world) : (!chains.paper, !tfrt.chain) -> !tfrt.string
//!       tfrt.return %text : !tfrt.string
//!     }
//!     "#,
//! )
//! .under_every_queue()
//! .call("main", (testing::made(Paper::default), Chain))
//! .expect_value("hello world");
//! ```
//!
//! [`under_every_queue`](crate::testing::Program::under_every_queue) runs the program in many orders: every kernel is held up, and those
//! that are ready run in an order that a seed decides. A chain that is missing shows there as a result that differs, and the test
//! names the queue, `random:3` for instance, [under](crate::testing::Program::under) which it fails again:
//!
//! ```
//! # use std::sync::Mutex;
//! # use tfrt::prelude::*;
//! # use tfrt::testing;
//! # #[derive(Debug, Default, Value)]
//! # #[value("!chains.sheet")]
//! # struct Sheet(Mutex<String>);
//! # /// Writes.
//! # #[tfrt_kernel("chains.write_on", side_effecting)]
//! # fn write_on(sheet: &Sheet, #[attr] text: &str) {
//! #     sheet.0.lock().unwrap().push_str(text);
//! # }
//! # /// Reads.
//! # #[tfrt_kernel("chains.read_off")]
//! # fn read_off(sheet: &Sheet) -> String {
//! #     sheet.0.lock().unwrap().clone()
//! # }
//! # let program = || {
//! testing::program(
//!     r#"
//!     func @main(%sheet: !chains.sheet, %ready: !tfrt.chain) -> !tfrt.string {
//!       %done = "chains.write_on"(%sheet, %ready) {text = "hello"} : (!chains.sheet, !tfrt.chain) -> !tfrt.chain
//!       %text = "chains.read_off"(%sheet) : (!chains.sheet) -> !tfrt.string
//!       tfrt.return %text : !tfrt.string
//!     }
//!     "#,
//! )
//! # };
//! # let failed = std::panic::catch_unwind(|| {
//! # program()
//! .under_every_queue()
//! .call("main", (testing::made(Sheet::default), Chain))
//! .expect_value("hello"); // Fails: under some queue `@main` gives an empty text.
//! # });
//! # let message = failed.unwrap_err().downcast::<String>().unwrap();
//! # assert!(message.contains("under the queue `"), "{message}");
//! ```
//!
//! # An error in a chain
//!
//! A kernel that fails gives an error for its chain, too: what was to come after it is skipped. A kernel whose results are
//! all errors to somebody is thus never followed by effects that assume it was done.
//!
//! A chain of an `async fn`, or of a kernel on the blocking pool, is ready when the work is done, not when it was begun.
//!
//! # Several chains
//!
//! `tfrt.new.chain` starts one. `tfrt.merge.chains` waits for several: independent effects may run side by side and meet
//! again.
//!
//! # Deriving chains
//!
//! Chains need not be written. `--thread-chains`, of `tfrt run`, `tfrt translate` and `tfrt opt`, takes a program in which
//! none is mentioned, and adds those that the declarations call for; so do
//! [`text::compile_without_chains`](crate::text::compile_without_chains), and in tests
//! [`without_chains`](crate::testing::Program::without_chains):
//!
//! - ops with effects of one class keep the order of the program; classes do not order each other;
//! - an op that writes an operand comes after whatever read or wrote it before, and a reader after the last writer; readers
//!   run side by side; a result that is declared `alias` of an operand counts as that operand;
//! - chains that data or other chains imply are left out.
//!
//! [`thread_chains`](crate::text::compiler::passes::thread_chains), the pass that does it, tells the whole of it.
//!
//! So declare effects as narrowly as they are: `effect = "random"` for a generator of random numbers keeps draws in order,
//! and lets prints pass. A kernel that `reads = "random"`, say to tell how many numbers were drawn, runs between the draws before
//! and behind it, at the same time as others that only read; `canonicalize` removes it if nobody uses what it gives.
//!
//! # Chains give order, borrows give safety
//!
//! A program that forgets a chain is wrong, but not unsafe: a kernel that would write what another reads gets an error
//! instead; see [values that change](super::values#values-that-change).
