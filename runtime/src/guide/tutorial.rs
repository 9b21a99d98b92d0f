//! From an empty folder to a program that runs your own kernels.
//!
//! # A crate
//!
//! ```console
//! $ tfrt new --runtime path/to/the/runtime shapes
//! Created `shapes`: a crate with kernels and a driver.
//!
//!   cd shapes
//!   cargo test
//!   cargo run -- run programs/main.mlir
//! ```
//!
//! The crate has four parts, like every crate of kernels:
//!
//! | file | contains |
//! |---|---|
//! | `src/lib.rs` | the kernels, and their tests |
//! | `src/main.rs` | the driver: the command line of the runtime, with these kernels linked |
//! | `programs/main.mlir` | a program made of them |
//! | `tests/programs.rs` | the tests of the programs |
//!
//! # A kernel
//!
//! A kernel is a function marked `#[tfrt_kernel]`. Programs refer to it by its name, which consists
//! of a *dialect*, the prefix of all names in your crate, a dot, and the name of the op.
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Returns the area of a rectangle.
//! #[tfrt_kernel("tutorial.area")]
//! fn area(width: f32, height: f32) -> f32 {
//!     width * height
//! }
//! # tfrt::testing::kernel("tutorial.area").operands((2.0_f32, 3.0_f32)).run().expect_value(6.0_f32);
//! ```
//!
//! That is all. The parameters are the operands, the return type is the result, and the doc comment
//! is the documentation. The kernel is available in every test, driver or host that links the
//! crate. The function itself is unchanged and can be called from Rust.
//!
//! # A program
//!
//! Programs are MLIR text. `%x` is a value and `@main` a function. An op consists of a name,
//! operands, and the types of its operands and results:
//!
//! ```mlir
//! func @main() -> f32 {
//!   %width = tfrt.constant.f32 2.0
//!   %height = tfrt.constant.f32 3.0
//!   %area = "tutorial.area"(%width, %height) : (f32, f32) -> f32
//!   tfrt.return %area : f32
//! }
//! ```
//!
//! `tfrt.constant.f32` is a kernel of the standard library, written in a short custom form; any
//! kernel can [have one](super::dialects#syntax). `tfrt.return` ends every function.
//!
//! ```console
//! $ cargo run -- run programs/area.mlir
//! Choosing memory leak check allocator.
//! Choosing single-threaded work queue.
//! --- Running 'main':
//! 'main' returned 6.000000e+00
//! $ cargo run -- run --work_queue_type=mstd programs/area.mlir      # on all cores
//! ```
//!
//! The driver runs functions that take arguments if you pass them with `--arg`. Other functions,
//! [tests](crate::testing) and [programs that embed the runtime](super::embedding) can call them,
//! too.
//!
//! # A type
//!
//! Numbers, Booleans and strings are built in. Other types derive [`Value`](crate::prelude::Value),
//! with their name in programs:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// A rectangle with sides along the axes.
//! #[derive(Clone, Debug, PartialEq, Value)]
//! #[value("!tutorial.rectangle")]
//! struct Rectangle {
//!     width: f32,
//!     height: f32,
//! }
//!
//! /// Makes a rectangle.
//! ///
//! /// # Errors
//! /// `a side of -1 is negative`
//! #[tfrt_kernel("tutorial.rectangle")]
//! fn rectangle(width: f32, height: f32) -> Result<Rectangle> {
//!     match [width, height].into_iter().find(|side| *side < 0.0) {
//!         Some(side) => Err(Error::new(format!("a side of {side} is negative"))),
//!         None => Ok(Rectangle { width, height }),
//!     }
//! }
//!
//! /// Prints a rectangle.
//! #[tfrt_kernel("tutorial.print", side_effecting)]
//! fn print(rectangle: &Rectangle) {
//!     println!("{} x {}", rectangle.width, rectangle.height);
//! }
//! ```
//!
//! Three things are new. `Rectangle` is taken by reference: a parameter may be `T` or `&T`. The
//! first kernel can fail: it returns a [`Result`](crate::Result). Printing is an *effect*, declared
//! by `side_effecting`: the macro adds a chain as the last operand and the last result of the
//! kernel, so that programs can order it.
//!
//! # A test
//!
//! ```
//! # use tfrt::prelude::*;
//! # #[derive(Clone, Debug, PartialEq, Value)]
//! # #[value("!tutorial_test.rectangle")]
//! # struct Rectangle { width: f32, height: f32 }
//! # #[tfrt_kernel("tutorial_test.rectangle")]
//! # fn rectangle(width: f32, height: f32) -> Result<Rectangle> {
//! #     if height < 0.0 { Err(Error::new(format!("a side of {height} is negative"))) } else { Ok(Rectangle { width, height }) }
//! # }
//! # #[tfrt_kernel("tutorial_test.print", side_effecting)]
//! # fn print(rectangle: &Rectangle) { println!("{} x {}", rectangle.width, rectangle.height); }
//! use tfrt::testing;
//!
//! testing::kernel("tutorial_test.rectangle")
//!     .operands((1.0_f32, -1.0_f32))
//!     .run()
//!     .expect_error("a side of -1 is negative");
//!
//! testing::program(
//!     r#"
//!     func @main(%width: f32, %height: f32, %ready: !tfrt.chain) -> !tfrt.chain {
//!       %small = "tutorial_test.rectangle"(%width, %width) : (f32, f32) -> !tutorial_test.rectangle
//!       %large = "tutorial_test.rectangle"(%height, %height) : (f32, f32) -> !tutorial_test.rectangle
//!       %first = "tutorial_test.print"(%small, %ready) : (!tutorial_test.rectangle, !tfrt.chain) -> !tfrt.chain
//!       %second = "tutorial_test.print"(%large, %first) : (!tutorial_test.rectangle, !tfrt.chain) -> !tfrt.chain
//!       tfrt.return %second : !tfrt.chain
//!     }
//!     "#,
//! )
//! .under_every_queue()
//! .call("main", (1.0_f32, 2.0_f32, Chain))
//! .expect_done();
//! ```
//!
//! The second rectangle is always printed after the first, because `%first` connects the two. The
//! rectangles themselves may be created at the same time.
//!
//! Next steps: [kernels](super::kernels) describes every form of a kernel, and
//! [mistakes](super::mistakes) explains the errors of the compiler, the loader and the run.
