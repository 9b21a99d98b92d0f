//! Chains: the order of effects.
//!
//! # Why
//!
//! Two kernels that are not connected by a value may run in any order, or at the same time. This is
//! correct for kernels that only compute. It is wrong for kernels that print, write a file, draw a
//! random number, or change a value in place, because their order is observable. Programs connect
//! such kernels by a *chain*, `!tfrt.chain`: a value without content that becomes available.
//!
//! ```text
//!   tfrt.new.chain ──► print("a") ──chain──► print("b") ──chain──► …
//! ```
//!
//! # What the author says
//!
//! You do not declare chains, only effects. From these the macro decides whether the kernel has a
//! chain as its last operand and its last result:
//!
//! | the kernel | is declared | has a chain |
//! |---|---|---|
//! | only computes | without options | no |
//! | writes an operand | `&mut T` | yes |
//! | prints, sends, writes files | `side_effecting`, which is `effect = "io"` | yes |
//! | has effects that are ordered only among each other | `effect = "random"` | yes |
//! | has no effects, but depends on those of others | `reads = "random"` | yes |
//! | has effects whose order does not matter | `side_effecting, chain = none` | no |
//! | has no effects, although its signature suggests some | `pure` | no |
//! | handles chains itself | a parameter or result of type [`Chain`](crate::prelude::Chain) | as declared |
//!
//! The added chain is optional in programs, both the operand and the result. A kernel without a
//! chain also accepts one after its operands and starts after it; this is how a program orders a
//! reader after a writer. (Kernels that take all remaining operands as `&[AnyRef]` receive it as
//! one of them, and `chain = none` refuses it.)
//!
//! ```
//! use std::sync::Mutex;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// A sheet of paper, shared and with a lock inside: kernels take it as `&Paper`.
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
//! /// Reads. It is not ordered with the writes unless the program passes it a chain.
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
//! .call("main", (testing::value_from(Paper::default), Chain))
//! .expect_value("hello world");
//! ```
//!
//! [`under_every_queue`](crate::testing::TestProgram::under_every_queue) runs the program in many
//! orders: every kernel is delayed, and ready kernels run in an order that depends on a seed. A
//! missing chain shows as a result that differs, and the test names the queue, such as `random:3`,
//! [under](crate::testing::TestProgram::under) which the failure can be repeated:
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
//! .call("main", (testing::value_from(Sheet::default), Chain))
//! .expect_value("hello"); // Fails: under some queue `@main` returns an empty string.
//! # });
//! # let message = failed.unwrap_err().downcast::<String>().unwrap();
//! # assert!(message.contains("under the queue `"), "{message}");
//! ```
//!
//! # An error in a chain
//!
//! If a kernel fails, its chain is an error, too, and the effects after it are skipped. A failed
//! kernel is thus never followed by effects that rely on it.
//!
//! The chain of an `async fn`, or of a kernel on the blocking pool, is ready when the work is done,
//! not when it starts.
//!
//! # Several chains
//!
//! `tfrt.new.chain` starts one. `tfrt.merge.chains` waits for several, so that independent effects
//! may run in parallel and join again.
//!
//! # Deriving chains
//!
//! You do not have to write chains. The option `--thread-chains` of `tfrt run`, `tfrt translate`
//! and `tfrt opt` accepts a program without any, and adds those that the declarations require; so
//! do [`text::compile_without_chains`](crate::text::compile_without_chains), and in tests
//! [`without_chains`](crate::testing::TestProgram::without_chains):
//!
//! - ops with effects of one class stay in program order; different classes are independent;
//! - an op that writes an operand runs after all earlier readers and writers of it, and a reader
//!   runs after the last writer; readers may run in parallel; a result that is declared as an
//!   `alias` of an operand counts as that operand;
//! - chains that are implied by data or by other chains are omitted.
//!
//! The documentation of the pass, [`thread_chains`](crate::text::compiler::passes::thread_chains),
//! has the details.
//!
//! Declare effects as narrowly as possible: `effect = "random"` for a generator of random numbers
//! orders draws relative to each other, but not relative to prints. A kernel that
//! `reads = "random"`, for example to count the draws, runs between the draws before and after it,
//! in parallel with others that only read; `canonicalize` removes it if its results are unused.
//!
//! # Chains give order, borrows give safety
//!
//! A program with a missing chain is wrong, but not unsafe: a kernel that would write while another
//! one reads fails instead; see [values that change](super::values#values-that-change).
