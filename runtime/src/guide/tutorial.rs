//! From nothing to a program that runs kernels of one's own.
//!
//! # A crate
//!
//! ```console
//! $ tfrt new --runtime path/to/the/runtime shapes
//! Created `shapes`: a crate of kernels with a driver.
//!
//!   cd shapes
//!   cargo test
//!   cargo run -- run programs/main.mlir
//! ```
//!
//! The crate has four parts, and they are all that a crate of kernels ever has:
//!
//! | file | is |
//! |---|---|
//! | `src/lib.rs` | the kernels, and their tests |
//! | `src/main.rs` | the driver: the command line of the runtime, with these kernels linked |
//! | `programs/main.mlir` | a program made of them |
//! | `tests/programs.rs` | the tests of the programs |
//!
//! # A kernel
//!
//! A kernel is a function with `#[tfrt_kernel]` on it. The name is what programs call it by: a *dialect*, which is the
//! prefix that your crate has for itself, a dot, and the rest.
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
//! Nothing else is to be done. The parameters are the operands, the return type is the result, the doc comment is the
//! documentation; a test, a driver or a host that links the crate has the kernel. The function itself stays what it was and
//! can be called from Rust.
//!
//! # A program
//!
//! Programs are MLIR text. `%x` is a value, `@main` a function; an op is a name, operands, and the types of what it takes
//! and gives:
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
//! `tfrt.constant.f32` is a kernel of the standard library, written in a short form of its own; any kernel can [have
//! one](super::dialects#syntax). `tfrt.return` ends every function.
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
//! A function that takes arguments is not run by the driver, but by other functions, by [tests](crate::testing), and by
//! [programs that embed the runtime](super::embedding).
//!
//! # A type
//!
//! Numbers, truth values and strings are there. Other types derive [`Value`](crate::prelude::Value), and say what programs
//! call them:
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
//! Three things are new. `Rectangle` is taken by reference: a parameter is `T` or `&T`, whatever the function needs. The
//! kernel can fail: it returns a [`Result`](crate::Result). And printing is an *effect*, which `side_effecting` says:
//! programs can order it, because the macro gives the kernel a chain as its last operand and last result.
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
//! The second rectangle is printed after the first, whatever threads there are, because `%first` leads from one to the
//! other. The rectangles themselves may be made at the same time.
//!
//! Where to go from here: [kernels](super::kernels) has every form that a function can have, [mistakes](super::mistakes)
//! what to do when the compiler, the loader or a run complains.
