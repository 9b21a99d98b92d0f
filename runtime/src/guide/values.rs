//! What flows between kernels.
//!
//! # Types that are there
//!
//! | Rust | MLIR |
//! |---|---|
//! | `bool` | `i1` |
//! | `i8`, `i16`, `i32`, `i64` | `i8`, `i16`, `i32`, `i64` |
//! | `u8`, `u16`, `u32`, `u64` | `ui8`, `ui16`, `ui32`, `ui64` |
//! | `f32`, `f64`, and `f16`, `bf16` of the crate `half` | `f32`, `f64`, `f16`, `bf16` |
//! | [`ByteString`](crate::prelude::ByteString), as `&str`, `String` or `&[u8]` | `!tfrt.string`: see [texts](#texts) |
//! | [`Chain`](crate::prelude::Chain) | `!tfrt.chain` |
//! | `DenseHostTensor` and its like of the crate `tfrt-tensor` | `!t.tensor`: see [tensors](super::tensors) |
//!
//! Not among them: `usize` and `isize`, which differ between machines, and the collections of Rust: see below.
//!
//! # Texts
//!
//! Values of type `!tfrt.string` hold bytes, as those of C++ do: text mostly, but also images and encoded records. A kernel
//! takes them as what it needs. One that asks for text fails with an error that says where there is none:
//!
//! ```
//! use tfrt::{prelude::*, testing};
//!
//! /// Returns the number of characters.
//! #[tfrt_kernel("values.num_characters")]
//! fn num_characters(text: &str) -> i64 {
//!     text.chars().count() as i64
//! }
//!
//! /// Returns the bytes without the first.
//! #[tfrt_kernel("values.without_first")]
//! fn without_first(bytes: &[u8]) -> ByteString {
//!     bytes.get(1..).unwrap_or_default().into()
//! }
//!
//! let count = testing::kernel("values.num_characters");
//! count.operands(("caf\u{e9}",)).run().expect_value(4_i64);
//!
//! let cut = testing::kernel("values.without_first").operands((ByteString::from(b"\xff\xd8"),)).run();
//! cut.expect_value(ByteString::from(b"\xd8"));
//!
//! let count = testing::kernel("values.num_characters").operands((ByteString::from(b"ab\xff"),));
//! count.run().expect_error("operand `text` of `values.num_characters`: expected UTF-8 text, found byte 0xff at 2");
//! ```
//!
//! `String` owns the text, and `Option<&str>` and its like may be left out. Results are a `String` or a `ByteString`. What
//! stands for payloads names the payload: `AsyncValueRef<ByteString>`, `Operands<'_, ByteString>`.
//!
//! # Types of one's own
//!
//! Whatever is `Send + Sync + 'static` can be a value. It says how programs spell its type: `!`, the dialect, a dot, a
//! name.
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// A line of a log.
//! #[derive(Clone, Debug, PartialEq, Value)]
//! #[value("!values.line")]
//! struct Line {
//!     level: u8,
//!     text: String,
//! }
//!
//! /// A type with a parameter: one spelling stands for every `Batch<T>`.
//! #[derive(Value)]
//! #[value("!values.batch")]
//! struct Batch<T> {
//!     items: Vec<T>,
//! }
//! ```
//!
//! With `display` behind the spelling, tools print a result of the type as its [`Display`](std::fmt::Display) does;
//! without, they say only of which type it is.
//!
//! Two Rust types may share a spelling, as the batches do. The text then looks right when it is not, and the mistake is
//! found when the kernel reads its operand: an [error](super::errors) that names both types, never a wrong cast.
//!
//! Values are shared, not copied: an edge of the graph is a pointer with a count. A parameter of type `T` clones the
//! payload, which suits numbers; take `&T` of everything else.
//!
//! # When payloads are dropped
//!
//! A payload is dropped when nothing refers to its value any more: no kernel still has to read it, and neither the caller
//! nor another value holds it.
//!
//! - The operands of a kernel are dropped when the kernel is done, before its results are passed on. So a buffer whose last
//!   reader is done is gone, or [unique](crate::prelude::AnyRef::is_unique), by the time that the next kernel runs.
//! - That holds for `async fn` and `blocking` kernels, too. They are done when their future is, or when they return.
//! - A kernel that is skipped because of an error or a cancelled request drops its operands as if it had run.
//! - A payload whose `Drop` panics harms nobody: the panic is caught, reported to the diagnostic handler of the host, and
//!   changes no result. The payloads beside it are dropped as well.
//!
//! # Values that change
//!
//! Most values never change once they are there, and are read from any thread without further ado. A type that kernels
//! write into says `mutable`:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// A list that grows.
//! #[derive(Debug, PartialEq, Value)]
//! #[value("!values.list", mutable)]
//! struct List(Vec<i32>);
//!
//! /// Appends a number.
//! #[tfrt_kernel("values.append")]
//! fn append(list: &mut List, number: i32) {
//!     list.0.push(number);
//! }
//!
//! /// How long the list is.
//! #[tfrt_kernel("values.len")]
//! fn len(list: &List) -> i64 {
//!     list.0.len() as i64
//! }
//!
//! let list = || testing::made(|| List(vec![7]));
//! let program = testing::program(
//!     r#"
//!     func @append_and_count(%list: !values.list, %ready: !tfrt.chain) -> i64 {
//!       %number = "values.len"(%list) : (!values.list) -> i64
//!       %seven = "values.seven"(%number) : (i64) -> i32
//!       %appended = "values.append"(%list, %seven, %ready) : (!values.list, i32, !tfrt.chain) -> !tfrt.chain
//!       %len = "values.len"(%list, %appended) : (!values.list, !tfrt.chain) -> i64
//!       tfrt.return %len : i64
//!     }
//!     "#,
//! );
//! program.under_every_queue().call("append_and_count", (list(), Chain)).expect_value(2_i64);
//! # #[tfrt_kernel("values.seven")]
//! # fn seven(_number: i64) -> i32 { 7 }
//! ```
//!
//! `append` writes, so the macro gave it a chain. `len` only reads and has none of its own; but *every* strict kernel
//! accepts a chain behind its operands and ignores it, so that the program can say "after that". See
//! [chains](super::chains).
//!
//! What if a program forgets the chain? The write and the read may then meet. That is no data race: a kernel *borrows* what
//! it reads or writes, and whoever comes second gets an error that names both sides. Passing one value twice is caught the
//! same way:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! #[derive(Value)]
//! #[value("!borrows.list", mutable)]
//! struct List(Vec<i32>);
//!
//! /// Appends one list to another.
//! #[tfrt_kernel("borrows.append_all")]
//! fn append_all(list: &mut List, other: &List) {
//!     list.0.extend(&other.0);
//! }
//!
//! testing::program(
//!     r#"
//!     func @double(%list: !borrows.list, %ready: !tfrt.chain) -> !tfrt.chain {
//!       %done = "borrows.append_all"(%list, %list, %ready) : (!borrows.list, !borrows.list, !tfrt.chain) -> !tfrt.chain
//!       tfrt.return %done : !tfrt.chain
//!     }
//!     "#,
//! )
//! .call("double", (testing::made(|| List(vec![1])), Chain))
//! .expect_error("`borrows.append_all` cannot read operand `other`: the value is being written by another kernel");
//! ```
//!
//! A payload that takes care of itself, an atomic number or something behind a `Mutex`, needs no `mutable`: kernels take
//! `&T`, and say [`side_effecting`](super::chains) if their order matters.
//!
//! # Results that are operands
//!
//! A kernel that gives back what it was given takes and returns references; nothing is cloned but the pointer. If the
//! result shares memory with an operand in some other way, `alias(result = operand)` says so, for passes that derive
//! chains.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Gives the first operand, once the second is there, too.
//! #[tfrt_kernel("values.after", results(same))]
//! fn after(value: AnyRef, _other: AnyRef) -> AnyRef {
//!     value
//! }
//!
//! let after = testing::kernel("values.after").operands((3, testing::later(1.5_f32)));
//! after.results(["i32"]).run().expect_value(3);
//! ```
