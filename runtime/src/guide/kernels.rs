//! Every form of a kernel.
//!
//! # Operands
//!
//! A parameter without a marker is an operand. Its type determines how it is bound:
//!
//! | parameter | binds | the kernel starts when |
//! |---|---|---|
//! | `T` | a copy of the operand, for numbers and types that are `Clone` | it is available |
//! | `&T` | the operand, borrowed | it is available |
//! | `&str`, `String`, `&[u8]` | a [string](super::values#strings), or its bytes | it is available |
//! | `&dyn Trait` | the operand, of any of [several types](super::tensors#tensors-of-any-kind) | it is available |
//! | `&mut T` | the operand, borrowed mutably; only for [mutable](super::values#values-that-change) types | it is available |
//! | `Option<T>`, `Option<&T>`, `Option<&str>` | the last operand, which is optional in programs | it is available |
//! | `Operands<'_, T>` | all remaining operands | all are available |
//! | [`AnyRef`](crate::prelude::AnyRef), `&AnyRef` | a reference, whatever its type | it is available, unless [`non_strict`](super::asynchrony#late-operands) |
//! | [`AsyncValueRef<T>`](crate::prelude::AsyncValueRef) | a reference to a `T` | the same |
//! | `&[AnyRef]` | references to all remaining operands | the same |
//!
//! If an operand is an error, the kernel is skipped and your function is not called, unless it
//! takes references and is `non_strict`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Appends numbers to a string.
//! #[tfrt_kernel("forms.join")]
//! fn join(text: &str, numbers: Operands<'_, i32>) -> String {
//!     numbers.iter().fold(text.to_owned(), |text, number| format!("{text} {number}"))
//! }
//!
//! testing::kernel("forms.join").operands(("a", 1, 2)).run().expect_value("a 1 2");
//! ```
//!
//! An optional operand can have a default instead: `#[operand(default = 7)] count: i32`.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Rounds down, to multiples of ten by default.
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
//! A leading underscore is not part of the declared name: `_chain: Chain` is the operand `chain`.
//!
//! Other parameters are not operands. They may appear anywhere in the list:
//!
//! | parameter | meaning |
//! |---|---|
//! | `#[attr] name: A` | an [attribute](super::attributes), a constant of the program |
//! | [`Attributes<'_>`](crate::prelude::Attributes) | all attributes, under any names |
//! | [`FunctionRef`](crate::prelude::FunctionRef), `&FunctionRef` | a [function](super::functions) by its symbol; with `#[region]`, a region of the op |
//! | `&[FunctionRef]` | a list of functions |
//! | [`Function<(A,), (R,)>`](crate::prelude::Function), [`Region<(A,), (R,)>`](crate::prelude::Region) | a function or region with a signature that the loader checks |
//! | `#[out] name: &mut T` | a [preallocated](super::shapes) result |
//! | `#[workspace] name: &mut [T]` | [scratch memory](super::shapes#workspace) for the call |
//! | [`Res<T>`](crate::prelude::Res), `&Res<T>` | a [shared resource](super::resources#a-resource-as-a-parameter) |
//! | [`&ExecutionContext`](crate::prelude::ExecutionContext) | the context of the kernel: request, host, queue, location in the program |
//! | [`&HostContext`](crate::prelude::HostContext) | the services that requests share: queue, timers, devices, memory |
//! | [`&RequestContext`](crate::prelude::RequestContext) | the request: its data, its resources, whether it is cancelled |
//!
//! To keep a context for later, take the `ExecutionContext` by value, or one of the other two in an
//! `Arc`.
//!
//! # Results
//!
//! | return type | results |
//! |---|---|
//! | nothing, `()` | no result |
//! | `T` | one result |
//! | `(A, B)`, up to 8 | one result for each element |
//! | `Vec<T>` | as many results as the op has in the program; another number is an error |
//! | `AsyncValueRef<T>`, `AnyRef`, `Vec<AnyRef>` | results that may [come later](super::asynchrony#promises), or operands that are passed on |
//! | `Result<…>` of these | the same, or one [error](super::errors) for all results |
//! | `(Result<A>, Result<B>)` | each result its own value or error |
//!
//! Large results whose shape is known in advance are better [preallocated](super::shapes), as
//! `#[out]` parameters.
//!
//! `results(quotient, remainder)` names the results, for messages and documentation.
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
//! /// Splits a string into words, as many as the op has results.
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
//! A function may have several names, `#[tfrt_kernel("a.old", "a.new")]`. A generic function
//! becomes a kernel for every type in a list, and the name distinguishes the instances. Constants
//! can be listed too. Several lists form all combinations:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Raises to a power by repeated multiplication.
//! #[tfrt_kernel("forms.power{N}.{T}", T = [i32, i64, f64, u32 as "ui32"], N = [2, 3])]
//! fn power<T: Value + Copy + std::ops::Mul<Output = T>, const N: u32>(number: T) -> T {
//!     (1..N).fold(number, |power, _| power * number)
//! }
//!
//! testing::kernel("forms.power2.i64").operands((5_i64,)).run().expect_value(25_i64);
//! testing::kernel("forms.power3.ui32").operands((2_u32,)).run().expect_value(8_u32);
//! ```
//!
//! `u32 as "ui32"` gives the spelling of the type in the name if it differs from Rust: MLIR calls
//! this type `ui32`.
//!
//! # Options
//!
//! They follow the names. [The table of all options](crate#options) is on the front page; in short:
//!
//! - the effects of the kernel: `side_effecting`, `effect = "class"`, `pure`, `chain = none`: see
//!   [chains](super::chains);
//! - where it runs: `blocking`, `non_strict`, `sync`: see [asynchrony](super::asynchrony);
//! - its syntax and verification: `format`, `verify`, `results`, `alias`: see
//!   [dialects](super::dialects);
//! - `raw` for functions that take the [frame](super::functions#frames) itself.
//!
//! # What the macro leaves alone
//!
//! The function remains an ordinary function: callable, documented, with its own visibility, lints
//! and `#[cfg]`. A kernel under `#[cfg]` exists exactly when its function does. A crate that
//! renames this one in its manifest needs no option; a crate that reaches it through another one
//! says `crate = path::to::tfrt`.
//!
//! # Kernels of synchronous functions
//!
//! A function of a program may be marked `attributes {tfrt.sync}`. It then runs from start to end
//! on the calling thread, in program order, and suits many small steps that never wait. Its kernels
//! are marked `sync` and can have neither references nor chains.
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
//! A function can be both kinds of kernel, under two names:
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
