//! Twelve common mistakes and their error messages.
//!
//! # The kernel exists, but the program does not find it
//!
//! ```text
//! program.mlir:3:8: error: unknown kernel name 'my.add'; no kernels of `my` are linked
//! (linked: tfrt): the linker omits crates that nothing refers to; link the kernel crate with
//! `tfrt::link!`, or load it as a kernel library
//! ```
//!
//! Or, if the program uses the custom form of the op: `custom op 'my.add' is unknown`.
//!
//! The crate is in the manifest, but the code does not name it: write `tfrt::link!(my_kernels);` at
//! the top of the binary or integration test. If the message says `did you mean`, the name is
//! misspelled. See [libraries](super::libraries).
//!
//! # Two kernels with the same name
//!
//! ```text
//! `my.add` is registered twice: at src/arithmetic.rs:12 and at src/lib.rs:40
//! ```
//!
//! A list of instances overlaps with another kernel, or two crates use the same dialect and name.
//! Every test that links both fails in the same way.
//!
//! # A type that is not a value
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
//!  = note: add `#[derive(Value)] #[value("!my.type")]` to your type, with its MLIR name
//!  = note: `i8` to `i64`, `u8` to `u64`, floats, `bool` and `ByteString` are values already, and kernels take and return `String`; put
//!          a type of somebody else into a `struct` of yours
//! ```
//!
//! So a kernel on `Vec<f32>` takes `struct Samples(Vec<f32>)`, or a [tensor](super::tensors).
//! `usize` is not a value, because programs move between machines: take an `i64`, and convert it.
//!
//! # A parameter that is meant as an attribute
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Repeats a string. `times` is an operand, because it is not marked as an attribute.
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
//! `{times = 2}` is an `i64`, always. A parameter `#[attr] times: i32` needs `{times = 2 : i32}`,
//! and `#[attr] scale: f32` needs `{scale = 2.0 : f32}`. The message gives the expected type: see
//! [attributes](super::attributes#types).
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
//! # A missing chain
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
//! /// Returns the content of the cell.
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
//! let arguments = || (testing::value_from(Cell::default), testing::later(7), Chain);
//! program("", "").call("main", arguments()).expect_value(0); // Too early.
//! program(", %done", ", !tfrt.chain").under_every_queue().call("main", arguments()).expect_value(7);
//! ```
//!
//! [`under_every_queue`](crate::testing::TestProgram::under_every_queue) fails for the first
//! program. The program does not order the read after the write, so the cell may be read as soon as
//! it exists. Pass the chain of the writer to the reader, or write the program without chains and
//! let `tfrt opt --thread-chains` derive them.
//!
//! # An undeclared effect
//!
//! A kernel that prints but does not declare the effect has no chain: two of them print in any
//! order, and `--thread-chains` does not order them. Add `side_effecting`.
//!
//! # Blocking a compute thread
//!
//! A kernel that sleeps, reads a socket, or waits for another value with
//! [`await_values`](crate::prelude::HostContext::await_values) blocks a thread that should compute.
//! The latter is refused with the error `a task cannot wait for the work queue that runs it`. Make
//! the kernel an `async fn` and `.await` the value, or mark it `blocking`. See
//! [asynchrony](super::asynchrony).
//!
//! # A promise that is never kept
//!
//! A promise that is *dropped* becomes an error. If a promise is *kept forever*, in a list that is
//! never processed, everything that depends on it waits forever. A test fails after a minute and
//! names the missing result.
//!
//! # A kernel that keeps its frame
//!
//! Borrowed operands end with the call. A task or thread that outlives it needs owned data: take
//! `T` or `AsyncValueRef<T>`, or use an `async fn`, which may borrow.
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
//! The two lines below the message show the difference: the compiler, the source, or debug and
//! release. See [plug-ins](super::libraries#plug-ins).
