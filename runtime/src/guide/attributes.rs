//! Attributes: constants of an op that are known before the program runs.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Pads a string.
//! #[tfrt_kernel("attributes.pad")]
//! fn pad(text: &str, #[attr] width: i64, #[attr(default = " ")] with: &str) -> Result<String> {
//!     let width = usize::try_from(width).map_err(|_| Error::new(format!("a width of {width} is negative")))?;
//!     let missing = width.saturating_sub(text.chars().count());
//!     Ok(format!("{text}{}", with.repeat(missing)))
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%text: !tfrt.string) -> (!tfrt.string, !tfrt.string) {
//!       %blank = "attributes.pad"(%text) {width = 4 : i64} : (!tfrt.string) -> !tfrt.string
//!       %dots = "attributes.pad"(%text) {width = 4 : i64, with = "."} : (!tfrt.string) -> !tfrt.string
//!       tfrt.return %blank, %dots : !tfrt.string, !tfrt.string
//!     }
//!     "#,
//! )
//! .call("main", ("ab",))
//! .expect_values(("ab  ", "ab.."));
//! ```
//!
//! The attribute has the name of the parameter unless you give another one:
//! `#[attr("paddingWidth")]`, `#[attr(name = "paddingWidth", default = 4)]`. An attribute with a
//! default or of type `Option` is optional; all others are required. If the parameter is a
//! reference, strings and lists are read from the file without a copy.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Greets a person, or everyone.
//! #[tfrt_kernel("attributes.greet")]
//! fn greet(#[attr] name: Option<&str>) -> String {
//!     format!("hello, {}", name.unwrap_or("everybody"))
//! }
//!
//! testing::program(
//!     r#"
//!     func @main() -> (!tfrt.string, !tfrt.string) {
//!       %one = "attributes.greet"() {name = "Ada"} : () -> !tfrt.string
//!       %all = "attributes.greet"() : () -> !tfrt.string
//!       tfrt.return %one, %all : !tfrt.string, !tfrt.string
//!     }
//!     "#,
//! )
//! .call("main", ())
//! .expect_values(("hello, Ada", "hello, everybody"));
//! ```
//!
//! # Types
//!
//! | parameter | attribute |
//! |---|---|
//! | `bool` | `true`, `false` |
//! | `i8` … `i64`, `u8` … `u64` | `3 : i64`, `3 : ui8` |
//! | `f16`, `bf16`, `f32`, `f64` | `1.5 : f32` |
//! | `&str`, `String` | `"text"` |
//! | [`ByteString`](crate::prelude::ByteString) | `"\FF\D8"`: any bytes |
//! | `&[T]`, `Vec<T>` of numbers | `[1 : i32, 2 : i32]` |
//! | [`DType`](crate::prelude::DType) | `f32`, `i8`, any type that tensors can have |
//! | [`DenseView`](crate::prelude::DenseView) | `dense<[1, 2]> : tensor<2xi32>` |
//! | [`ShapeView`](crate::prelude::ShapeView) | `#corert.shape<2x?x3>` |
//! | [`AggregateView`](crate::prelude::AggregateView) | lists of anything, `[["a", 1 : i32], [0.5 : f32]]` |
//!
//! The type is part of the attribute: `width = 4` alone is an `i64`, so an `i32` parameter needs
//! `4 : i32`. An attribute of the wrong type is refused before the program runs, with the location
//! of the op:
//!
//! ```
//! # use tfrt::prelude::*;
//! # use tfrt::testing;
//! /// Returns the constant.
//! #[tfrt_kernel("attributes.constant")]
//! fn constant(#[attr] value: i32) -> i32 {
//!     value
//! }
//!
//! testing::kernel("attributes.constant").attribute("value", 4_i32).run().expect_value(4);
//! testing::kernel("attributes.constant").attribute("value", 4_i64).expect_refused("attribute 'value'");
//! testing::kernel("attributes.constant").expect_refused("requires attribute 'value'");
//! ```
//!
//! An attribute with the prefix of a dialect, such as `my.note`, is ignored by kernels that do not
//! declare it, and kept for tools. In a program that runs, any other undeclared attribute is an
//! error, so a misspelled optional attribute does not go unnoticed.
//!
//! # Choices
//!
//! An attribute with a fixed set of names is an enum that derives [`Attr`](crate::prelude::Attr).
//! Programs write the number of the variant in the generic form, and its name in a
//! [custom form](super::dialects#syntax):
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// How to treat the edges.
//! #[derive(Attr, Clone, Copy, Debug, PartialEq)]
//! enum Padding {
//!     Same,
//!     #[attr("none")]
//!     Valid,
//! }
//!
//! /// Returns the number of windows.
//! #[tfrt_kernel("attributes.windows", format = "$len $padding attr-dict")]
//! fn windows(len: i64, #[attr(default = Padding::Same)] padding: Padding) -> i64 {
//!     match padding {
//!         Padding::Same => len,
//!         Padding::Valid => len - 2,
//!     }
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%len: i64) -> (i64, i64) {
//!       %same = "attributes.windows"(%len) : (i64) -> i64
//!       %valid = attributes.windows %len none
//!       tfrt.return %same, %valid : i64, i64
//!     }
//!     "#,
//! )
//! .call("main", (10_i64,))
//! .expect_values((10_i64, 8_i64));
//! ```
//!
//! # Your own types
//!
//! Any other type that is read from an attribute implements
//! [`AttrParam`](crate::prelude::AttrParam). The value is checked when the kernel runs,
//! and an error names the kernel and the attribute.
//!
//! # Attributes without names
//!
//! A kernel that takes any attributes has a parameter of type
//! [`Attributes`](crate::prelude::Attributes), in which they are numbered in byte order of their
//! names.
