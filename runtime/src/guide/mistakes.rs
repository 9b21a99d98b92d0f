//! Twelve mistakes that everybody makes, and what they look like.
//!
//! # The kernel is there, and the program does not find it
//!
//! ```text
//! program.mlir:3:8: error: unknown kernel name 'my.add'; no kernel of `my` is linked (linked: tfrt): a kernel crate that nothing
//! refers to is left out by the linker, so name it with `tfrt::link!`, or load it as a kernel library
//! ```
//!
//! Or, where the program writes the op in a form of its own: `custom op 'my.add' is unknown`.
//!
//! The crate is in the manifest but nothing names it: write `tfrt::link!(my_kernels);` where the binary or the integration
//! test begins. If instead the message says `did you mean`, the name is misspelled. See [libraries](super::libraries).
//!
//! # Two kernels of one name
//!
//! ```text
//! `my.add` is registered twice: at src/arithmetic.rs:12 and at src/lib.rs:40
//! ```
//!
//! A list of instances overlaps with another kernel, or two crates use one dialect. Every test and doc test that links both
//! says the same.
//!
//! # A type that is no value
//!
//! ```compile_fail
//! use tfrt::prelude::*;
//!
//! struct Point(f32, f32);
//!
//! #[tfrt_kernel("mistakes.norm")]
//! fn norm(point: &Point) -> f32 {
//!     point.0.hypot(point.1)
//! }
//! ```
//!
//! ```text
//! error: `Point` cannot be the value of a register
//!  = note: write `#[derive(Value)] #[value("!my.type")]` on your type, with the name it has in MLIR
//!  = note: `i8` to `i64`, `u8` to `u64`, floats, `bool` and `ByteString` are values already, and kernels take and give `String`; put
//!          a type of somebody else into a `struct` of yours
//! ```
//!
//! So a kernel on `Vec<f32>` takes `struct Samples(Vec<f32>)`, or a [tensor](super::tensors). `usize` is no value, because
//! programs move between machines: take an `i64`, and convert it.
//!
//! # A parameter that is meant as an attribute
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Repeats. `times` is an operand: nothing marks it as a constant.
//! #[tfrt_kernel("mistakes.repeat")]
//! fn repeat(text: &str, times: i64) -> String {
//!     text.repeat(usize::try_from(times).unwrap_or(0))
//! }
//!
//! let refused = testing::kernel("mistakes.repeat").operands(("a",)).attribute("times", 2_i64);
//! refused.expect_refused("expected 2");
//! ```
//!
//! Write `#[attr] times: i64`.
//!
//! # The type of an attribute
//!
//! `{times = 2}` is an `i64`, always. A parameter `#[attr] times: i32` wants `{times = 2 : i32}`, and `#[attr] scale: f32`
//! wants `{scale = 2.0 : f32}`. The message names what was expected: see [attributes](super::attributes#types).
//!
//! # Writing what cannot be written
//!
//! ```compile_fail
//! use tfrt::prelude::*;
//!
//! #[derive(Value)]
//! #[value("!mistakes.list")]
//! struct List(Vec<i32>);
//!
//! #[tfrt_kernel("mistakes.push")]
//! fn push(list: &mut List) {
//!     list.0.push(1);
//! }
//! ```
//!
//! ```text
//! a kernel can write only into values of a mutable type: declare it as `#[value("…", mutable)]`, or return the new value
//! ```
//!
//! # A chain that is missing
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! #[derive(Debug, Default, Value)]
//! #[value("!mistakes.cell", mutable)]
//! struct Cell(i32);
//!
//! /// Sets the cell.
//! #[tfrt_kernel("mistakes.set")]
//! fn set(cell: &mut Cell, number: i32) {
//!     cell.0 = number;
//! }
//!
//! /// Gets what is in the cell.
//! #[tfrt_kernel("mistakes.get")]
//! fn get(cell: &Cell) -> i32 {
//!     cell.0
//! }
//!
//! let program = |after: &str, types: &str| {
//!     testing::program(&format!(
//!         r#"
//!         func @main(%cell: !mistakes.cell, %number: i32, %ready: !tfrt.chain) -> i32 {{
//!           %done = "mistakes.set"(%cell, %number, %ready) : (!mistakes.cell, i32, !tfrt.chain) -> !tfrt.chain
//!           %got = "mistakes.get"(%cell{after}) : (!mistakes.cell{types}) -> i32
//!           tfrt.return %got : i32
//!         }}
//!         "#
//!     ))
//! };
//! let arguments = || (testing::made(Cell::default), testing::later(7), Chain);
//! program("", "").call("main", arguments()).expect_value(0); // Too early.
//! program(", %done", ", !tfrt.chain").under_every_queue().call("main", arguments()).expect_value(7);
//! ```
//!
//! [`under_every_queue`](crate::testing::Program::under_every_queue) fails for the first program, whatever the arguments.
//! Nothing says that the cell is to be read after it is set, so it is read when it is there. Give the reader the chain of
//! the writer; or write the program without chains and let `tfrt opt --thread-chains` derive them.
//!
//! # An effect that is not said
//!
//! A kernel that prints, and says nothing about it, has no chain: two of them print in any order, and `--thread-chains`
//! finds nothing to order. Say `side_effecting`.
//!
//! # Blocking a compute thread
//!
//! A kernel that sleeps, reads a socket, or waits for another value with
//! [`await_values`](crate::prelude::HostContext::await_values) holds up a thread that should compute. The latter is
//! refused: the error says `a task of a work queue may not wait for the queue that runs it`. Make the kernel an `async fn`
//! and `.await` the value, or mark it `blocking`. See [asynchrony](super::asynchrony).
//!
//! # A promise that nobody keeps
//!
//! A promise that is *dropped* becomes an error. A promise that is *kept for ever*, in a list of waiters that is never
//! looked at, makes everything behind it wait for ever. A test notices after a minute, and says which result did not come.
//!
//! # A kernel that keeps its frame
//!
//! Operands by reference end with the call. A task or thread that goes on needs what it owns: take `T`, or
//! `AsyncValueRef<T>`, or make it an `async fn`, which may borrow.
//!
//! ```compile_fail
//! use tfrt::prelude::*;
//!
//! #[tfrt_kernel("mistakes.shout")]
//! fn shout(text: &str, ctx: &ExecutionContext) {
//!     ctx.enqueue(move || println!("{}!", text)); // error: borrowed data escapes outside of function
//! }
//! ```
//!
//! # A library that was built differently
//!
//! ```text
//! couldn't load library `libmy_kernels.so`: built differently from this program
//! ```
//!
//! The two lines below that message differ in one place: the compiler, the source, or debug against release. See
//! [plug-ins](super::libraries#plug-ins).
