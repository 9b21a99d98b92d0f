//! The values that flow between kernels.
//!
//! # Built-in types
//!
//! | Rust | MLIR |
//! |---|---|
//! | `bool` | `i1` |
//! | `i8`, `i16`, `i32`, `i64` | `i8`, `i16`, `i32`, `i64` |
//! | `u8`, `u16`, `u32`, `u64` | `ui8`, `ui16`, `ui32`, `ui64` |
//! | `f32`, `f64`, and `f16`, `bf16` of the crate `half` | `f32`, `f64`, `f16`, `bf16` |
//! | [`ByteString`](crate::prelude::ByteString), as `&str`, `String` or `&[u8]` | `!tfrt.string`: see [strings](#strings) |
//! | [`Chain`](crate::prelude::Chain) | `!tfrt.chain` |
//! | `DenseHostTensor` and the other tensors of [`tfrt::tensor`](crate::tensor) | `!t.tensor`: see [tensors](super::tensors) |
//!
//! `usize` and `isize` are missing because their size depends on the machine. Collections of Rust
//! need a type of your own: see below.
//!
//! # Strings
//!
//! Values of type `!tfrt.string` hold bytes, like strings in C++: mostly text, but also images and
//! encoded records. A kernel that takes them as text fails if they are not UTF-8, with an error
//! that gives the position:
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
//! count.run().expect_error("operand `text` of `values.num_characters`: expected UTF-8 text, found byte 0xff at offset 2, which does not start a character");
//! ```
//!
//! `String` takes an owned copy, and `Option<&str>` makes the operand optional. Results are a
//! `String` or a `ByteString`. Generic types name the payload, which is a `ByteString`:
//! `AsyncValueRef<ByteString>`, `Operands<'_, ByteString>`.
//!
//! # User-defined types
//!
//! Any type that is `Send + Sync + 'static` can be a value. The attribute gives its name in
//! programs: `!`, the dialect, a dot, a name.
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
//! /// A generic type: every `Batch<T>` has the same spelling.
//! #[derive(Value)]
//! #[value("!values.batch")]
//! struct Batch<T> {
//!     items: Vec<T>,
//! }
//! ```
//!
//! With `display` after the spelling, tools print a result of the type using its
//! [`Display`](std::fmt::Display); otherwise they print only its type.
//!
//! Two Rust types may share a spelling, as the batches do. A program that confuses them looks
//! correct, and the mistake is found when the kernel reads its operand: an [error](super::errors)
//! that names both types, never a wrong cast.
//!
//! Values are shared, not copied: an edge of the graph is a reference-counted pointer. A parameter
//! of type `T` clones the payload, which suits numbers; take `&T` for everything else.
//!
//! # When payloads are dropped
//!
//! A payload is dropped with the last reference to its value: when no kernel still has to read it,
//! and neither the caller nor another value holds it.
//!
//! - The operands of a kernel are dropped when the kernel is done, before its results are passed
//!   on. So after the last reader of a buffer, the buffer is freed, or
//!   [unique](crate::prelude::AnyRef::is_unique), before the next kernel runs.
//! - The same holds for `async fn` and `blocking` kernels. They are done when their future
//!   completes, or when they return.
//! - A kernel that is skipped because of an error or a cancelled request drops its operands as if
//!   it had run.
//! - A panic in the `Drop` of a payload is caught and reported to the diagnostic handler of the
//!   host. It does not change any result, and the remaining payloads are dropped as well.
//!
//! # Values that change
//!
//! Most values never change once they are available, so any thread can read them. A type that
//! kernels change in place is declared `mutable`:
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
//! /// Returns the length of the list.
//! #[tfrt_kernel("values.len")]
//! fn len(list: &List) -> i64 {
//!     list.0.len() as i64
//! }
//!
//! let list = || testing::value_from(|| List(vec![7]));
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
//! `append` writes, so the macro added a chain. `len` only reads and has no chain of its own, but
//! *every* strict kernel accepts a chain after its operands and ignores it, so that a program can
//! order it. See [chains](super::chains).
//!
//! If a program forgets the chain, the write and the read may overlap. That is not a data race: a
//! kernel *borrows* its operands, and the second borrow fails with an error that names both sides.
//! Passing one value twice is detected in the same way:
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
//! .call("double", (testing::value_from(|| List(vec![1])), Chain))
//! .expect_error("`borrows.append_all` cannot read operand `other`: the value is being written by another kernel");
//! ```
//!
//! A payload with its own synchronisation, such as an atomic number or a `Mutex`, does not need
//! `mutable`: kernels take `&T`, and are declared [`side_effecting`](super::chains) if their order
//! matters.
//!
//! # Results that are operands
//!
//! A kernel that passes an operand on takes and returns a reference; only the pointer is cloned. If
//! a result shares memory with an operand in another way, `alias(result = operand)` declares it for
//! passes that derive chains.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns the first operand once the second is available as well.
//! #[tfrt_kernel("values.after", results(same))]
//! fn after(value: AnyRef, _other: AnyRef) -> AnyRef {
//!     value
//! }
//!
//! let after = testing::kernel("values.after").operands((3, testing::later(1.5_f32)));
//! after.results(["i32"]).run().expect_value(3);
//! ```
