//! Ops and types as text: dialects of one's own.
//!
//! A *dialect* is the prefix that a family of ops and types shares. It exists as soon as a kernel or a type has the prefix;
//! nothing need be declared. This page is about what can be.
//!
//! # Syntax
//!
//! An op is written in its generic form, `"my.add"(%a, %b) : (i32, i32) -> i32`, unless its kernel says how else. The
//! `format` has literals in backticks, `$name` for operands, attributes, functions and regions, and directives:
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
//! The types of operands, results and attributes need not be written, as the declaration knows them.
//! [`ods::format`](crate::ods::format) has the language. Parser and printer both follow the format, so that `tfrt opt`
//! prints what it reads; a format that says nothing of an operand is refused by the compiler.
//!
//! # Rules
//!
//! The declaration is checked in every program: counts, types, attributes. What it cannot say is said by a function, which
//! sees one op and notes what is wrong:
//!
//! ```
//! use tfrt::ods::instance::{AttrInstance, OpInstance};
//! use tfrt::ods::verify::Breach;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Takes every n-th of the numbers that there are.
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
//! Rules are for people who write programs. A kernel must not rely on them for safety: files need not come from text.
//!
//! # Ops without kernels
//!
//! An op that is only for compilers, or whose kernel lives elsewhere, is declared by a constant; the same record that the
//! macro derives from a signature:
//!
//! ```
//! use tfrt::ods::{OpDef, OperandDef, ResultDef, TypeConstraint};
//!
//! static TRANSPOSE: OpDef = OpDef {
//!     summary: "Swaps rows and columns.",
//!     operands: &[OperandDef::new("matrix", TypeConstraint::Exact("!dialects.matrix"))],
//!     results: &[ResultDef::new("transposed", TypeConstraint::Exact("!dialects.matrix"))],
//!     assembly_format: Some("$matrix attr-dict"),
//!     ..OpDef::new("dialects.transpose")
//! };
//!
//! tfrt::declare_ops!(TRANSPOSE);
//! # fn main() {}
//! ```
//!
//! # Facts of a dialect
//!
//! What no op can say about its dialect, [`declare_dialects!`](crate::declare_dialects) says:
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
//! `allows_inlining` is `false` unless you say otherwise: `tfrt opt --inline` leaves a function alone that has an op of a
//! dialect which nobody vouched for. An op may be moved if it means the same wherever it stands; one that asks in which
//! function it is does not.
