//! Every form that a kernel can have.
//!
//! # Operands
//!
//! A parameter without a marker is an operand, and its type says how it is bound:
//!
//! | parameter | binds | the kernel starts when |
//! |---|---|---|
//! | `T` | a copy of the operand: numbers, and what is `Clone` | it is available |
//! | `&T` | the operand, lent | it is available |
//! | `&str`, `String`, `&[u8]` | a [text](super::values#texts), or its bytes | it is available |
//! | `&dyn Trait` | the operand, of any of [several types](super::tensors#tensors-of-any-kind) | it is available |
//! | `&mut T` | the operand, lent to be written; only for [mutable](super::values#values-that-change) types | it is available |
//! | `Option<T>`, `Option<&T>`, `Option<&str>` | the last operand, which programs may leave out | it is available |
//! | `Operands<'_, T>` | all operands that remain | all are available |
//! | [`AnyRef`](crate::prelude::AnyRef), `&AnyRef` | a reference, whatever its type | it is available, unless [`non_strict`](super::asynchrony#late-operands) |
//! | [`AsyncValueRef<T>`](crate::prelude::AsyncValueRef) | a reference to a `T` | the same |
//! | `&[AnyRef]` | references to all that remain | the same |
//!
//! An operand that is an error skips the kernel: no function of yours sees it, unless it asks for references and is
//! `non_strict`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Puts numbers behind a text.
//! #[tfrt_kernel("forms.join")]
//! fn join(text: &str, numbers: Operands<'_, i32>) -> String {
//!     numbers.iter().fold(text.to_owned(), |text, number| format!("{text} {number}"))
//! }
//!
//! testing::kernel("forms.join").operands(("a", 1, 2)).run().expect_value("a 1 2");
//! ```
//!
//! An operand that may be left out can have a default instead: `#[operand(default = 7)] count: i32`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Rounds, to tens unless it is told otherwise.
//! #[tfrt_kernel("forms.round")]
//! fn round(number: i64, #[operand(default = 10)] to: i64) -> Result<i64> {
//!     let rest = number.checked_rem(to).ok_or_else(|| Error::new("cannot round to nothing"))?;
//!     Ok(number - rest)
//! }
//!
//! testing::kernel("forms.round").operands((123_i64,)).run().expect_value(120_i64);
//! testing::kernel("forms.round").operands((123_i64, 100_i64)).run().expect_value(100_i64);
//! ```
//!
//! A parameter whose name begins with an underscore is declared without it: `_chain: Chain` is the operand `chain`.
//!
//! Parameters with [`#[attr]`](super::attributes) are constants of the program, [`FunctionRef`s](super::functions) its
//! functions, and contexts come from the [request](super::resources):
//!
//! | parameter | is |
//! |---|---|
//! | [`&ExecutionContext`](crate::prelude::ExecutionContext) | where the kernel stands: request, host, queue, place in the program |
//! | [`&HostContext`](crate::prelude::HostContext) | what requests share: queue, timers, devices, memory |
//! | [`&RequestContext`](crate::prelude::RequestContext) | the request: its data, its resources, whether it is cancelled |
//!
//! They may stand anywhere among the others. The latter two can be had in an `Arc`, the first one by value, to be kept for
//! later.
//!
//! # Results
//!
//! | return type | gives |
//! |---|---|
//! | nothing, `()` | no result |
//! | `T` | one result |
//! | `(A, B)`, up to 8 | one result for each part |
//! | `Vec<T>` | all results that the program wants; their number must be right |
//! | `AsyncValueRef<T>`, `AnyRef`, `Vec<AnyRef>` | results that may [come later](super::asynchrony#promises), or operands that are passed on |
//! | `Result<…>` of these | the same, or one [error](super::errors) for all results |
//! | `(Result<A>, Result<B>)` | each result its own value or error |
//!
//! Results that are large and of a shape that can be told beforehand are better [allocated beforehand](super::shapes), as
//! `#[out]` parameters.
//!
//! Results are named after what they are, for messages and documentation: `results(quotient, remainder)`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Divides with remainder.
//! #[tfrt_kernel("forms.divide", results(quotient, remainder))]
//! fn divide(number: i32, by: i32) -> Result<(i32, i32)> {
//!     let quotient = number.checked_div(by).ok_or_else(|| Error::new("division by zero"))?;
//!     Ok((quotient, number % by))
//! }
//!
//! /// Cuts a text into words, as many as the program wants.
//! #[tfrt_kernel("forms.words", results(words))]
//! fn words(text: &str) -> Vec<String> {
//!     text.split(' ').map(str::to_owned).collect()
//! }
//!
//! testing::kernel("forms.divide").operands((7, 2)).run().expect_values((3, 1));
//! let two_strings = ["!tfrt.string", "!tfrt.string"];
//! let words = testing::kernel("forms.words").operands(("hello world",)).results(two_strings).run();
//! words.expect_values(("hello", "world"));
//! ```
//!
//! # Names and families
//!
//! One function may go by several names, `#[tfrt_kernel("a.old", "a.new")]`. And a generic function becomes a kernel for
//! every type in a list; the name tells them apart. Constants can be listed too, and several lists are combined in every
//! way:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Raises to a power, again and again.
//! #[tfrt_kernel("forms.power{N}.{T}", T = [i32, i64, f64, u32 as "ui32"], N = [2, 3])]
//! fn power<T: Value + Copy + std::ops::Mul<Output = T>, const N: u32>(number: T) -> T {
//!     (1..N).fold(number, |power, _| power * number)
//! }
//!
//! testing::kernel("forms.power2.i64").operands((5_i64,)).run().expect_value(25_i64);
//! testing::kernel("forms.power3.ui32").operands((2_u32,)).run().expect_value(8_u32);
//! ```
//!
//! `u32 as "ui32"` says how the name spells the type, where that differs from Rust: MLIR calls unsigned numbers `ui32`.
//!
//! # Options
//!
//! They follow the names. [The table of all options](crate#options) is on the front page; in short:
//!
//! - what the kernel does besides giving results: `side_effecting`, `effect = "class"`, `pure`, `chain = none`: see
//!   [chains](super::chains);
//! - where it runs: `blocking`, `non_strict`, `sync`: see [asynchrony](super::asynchrony);
//! - how programs write and check it: `format`, `verify`, `results`, `alias`: see [dialects](super::dialects);
//! - `raw` for functions that want the [frame](super::functions#frames) itself.
//!
//! # What the macro leaves alone
//!
//! The function stays a function: callable, documented, with its own visibility, lints and `#[cfg]`. A kernel under
//! `#[cfg]` is there exactly when its function is. A crate that renames this one in its manifest needs no option;
//! a crate that reaches it through another one says `crate = path::to::tfrt`.
//!
//! # Kernels of synchronous functions
//!
//! A function of a program may be marked `attributes {tfrt.sync}`. It then runs from first to last on the calling thread,
//! in an interpreter without reference counts: for many small steps that never wait. Its kernels are marked `sync`, and can
//! have neither references nor chains; their order is that of the program.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// One step of a pseudo-random generator.
//! #[tfrt_kernel("forms.step.sync", sync)]
//! fn step(state: i64) -> i64 {
//!     state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)
//! }
//!
//! testing::program(
//!     r#"
//!     func @two_steps(%state: i64) -> i64 attributes {tfrt.sync} {
//!       %one = "forms.step.sync"(%state) : (i64) -> i64
//!       %two = "forms.step.sync"(%one) : (i64) -> i64
//!       tfrt.return %two : i64
//!     }
//!     "#,
//! )
//! .call("two_steps", (0_i64,))
//! .expect_value(6_364_136_223_846_793_006_i64);
//! ```
//!
//! A function can be both, under two names:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Adds.
//! #[tfrt_kernel("forms.add", sync = "forms.add.sync")]
//! fn add(a: i32, b: i32) -> i32 {
//!     a.wrapping_add(b)
//! }
//!
//! for name in ["forms.add", "forms.add.sync"] {
//!     testing::kernel(name).operands((3, 4)).run().expect_value(7);
//! }
//! ```
