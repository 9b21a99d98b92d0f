//! Ops and types as text: how to define a dialect.
//!
//! A *dialect* is the common prefix of a family of ops and types. It exists as soon as a kernel or
//! a type uses the prefix, without a declaration. This page describes optional declarations.
//!
//! # Syntax
//!
//! An op is written in its generic form, `"my.add"(%a, %b) : (i32, i32) -> i32`, unless its kernel
//! declares a custom form. The `format` consists of literals in backticks, `$name` for operands,
//! attributes, functions and regions, and directives:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Adds a constant.
//! #[tfrt_kernel("dialects.plus", format = "$number `plus` $constant attr-dict")]
//! fn plus(number: i32, #[attr] constant: i32) -> i32 {
//!     number + constant
//! }
//!
//! testing::program(
//!     r#"
//!     func @main(%x: i32) -> i32 {
//!       %sum = dialects.plus %x plus 3
//!       tfrt.return %sum : i32
//!     }
//!     "#,
//! )
//! .call("main", (4,))
//! .expect_value(7);
//! ```
//!
//! Types that follow from the declaration are omitted. [`ods::format`](crate::ods::format)
//! describes the language. Parser and printer both follow the format, so that `tfrt opt` prints
//! what it reads. A format that omits an operand is a compile error.
//!
//! # Rules
//!
//! Counts, types and attributes are checked against the declaration in every program. A function
//! checks everything else: it takes an op and reports errors:
//!
//! ```
//! use tfrt::ods::instance::{AttrInstance, OpInstance};
//! use tfrt::ods::verify::Breach;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Takes every n-th number.
//! #[tfrt_kernel("dialects.every", verify = check_step)]
//! fn every(len: i64, #[attr] step: i64) -> i64 {
//!     len / step
//! }
//!
//! fn check_step(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
//!     if let Some(AttrInstance::Int(step, _)) = op.attribute("step")
//!         && step <= 0
//!     {
//!         breaches.push(Breach::op(format!("requires a step above zero, found {step}")));
//!     }
//! }
//!
//! testing::kernel("dialects.every").operands((10_i64,)).attribute("step", 3_i64).run().expect_value(3_i64);
//! testing::kernel("dialects.every").operands((10_i64,)).attribute("step", 0_i64).expect_refused("requires a step above zero, found 0");
//! ```
//!
//! Such rules help the authors of programs. A kernel must not rely on them for safety, because a
//! file need not come from text.
//!
//! # Ops without kernels
//!
//! [`declare_op!`](crate::declare_op) declares an op that only compilers use, or whose kernel is
//! defined elsewhere. Its options are those of a `raw` kernel:
//!
//! ```
//! tfrt::declare_op! {
//!     /// Swaps rows and columns.
//!     "dialects.transpose",
//!     operands(matrix: "!dialects.matrix"),
//!     results(transposed: "!dialects.matrix"),
//!     format = "$matrix attr-dict"
//! }
//! # fn main() {}
//! ```
//!
//! # Facts of a dialect
//!
//! [`declare_dialects!`](crate::declare_dialects) declares properties of a whole dialect:
//!
//! ```
//! use tfrt::ods::{DialectDef, UnknownTypes};
//!
//! const DIALECTS: &[DialectDef] = &[DialectDef {
//!     // These types, and no others: a misspelled one is an error in the text.
//!     types: &["matrix", "vector"],
//!     unknown_types: UnknownTypes::Rejected("unknown type of algebra: "),
//!     // Every op must be declared.
//!     allows_unknown_ops: false,
//!     // Ops may move from the body of a function into its caller.
//!     allows_inlining: true,
//!     ..DialectDef::new("dialects_algebra")
//! }];
//!
//! tfrt::declare_dialects!(DIALECTS);
//! # fn main() {}
//! ```
//!
//! `allows_inlining` is `false` by default, and `tfrt opt --inline` does not inline functions with
//! ops of such a dialect. Set it to `true` if the meaning of all ops is independent of the function
//! that contains them.
