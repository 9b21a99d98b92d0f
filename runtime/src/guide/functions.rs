//! Functions as parameters of kernels: how to define control flow.
//!
//! # Functions and regions
//!
//! A parameter of type [`FunctionRef`](crate::prelude::FunctionRef) is a function that the program
//! names by its symbol, such as `@f`. With `#[region]` it is a body inside the op. Both are called
//! in the same way, with the context of the kernel and references to the arguments. The call
//! returns at once; its results may become available later.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Calls a function with a number and one more, and adds what it returns.
//! #[tfrt_kernel("functions.both")]
//! async fn both(number: i32, #[function] f: FunctionRef, ctx: ExecutionContext) -> Result<i32> {
//!     let mut sum = 0;
//!     for argument in [number, number + 1] {
//!         let results = f.execute(&ctx, &[AnyRef::available(argument)]);
//!         let [result] = <[AnyRef; 1]>::try_from(results).map_err(|_| Error::new("expected a function with one result"))?;
//!         sum += result.await?.get::<i32>().ok_or_else(|| Error::new("expected a function that returns an i32"))?;
//!     }
//!     Ok(sum)
//! }
//!
//! /// Squares.
//! #[tfrt_kernel("functions.square")]
//! fn square(number: i32) -> i32 {
//!     number * number
//! }
//!
//! testing::program(
//!     r#"
//!     func @square(%x: i32) -> i32 {
//!       %square = "functions.square"(%x) : (i32) -> i32
//!       tfrt.return %square : i32
//!     }
//!     func @main(%x: i32) -> i32 {
//!       %sum = "functions.both"(%x) {f = @square} : (i32) -> i32
//!       tfrt.return %sum : i32
//!     }
//!     "#,
//! )
//! .under_every_queue()
//! .call("main", (3,))
//! .expect_value(25);
//! ```
//!
//! # Functions of a known type
//!
//! If the signature of the function is known, use `Function<(i32,), (i32,)>`, or `Region` for a
//! body. The loader refuses a program whose function has another type, and the call takes and
//! returns values:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Calls a function repeatedly.
//! #[tfrt_kernel("functions.iterate")]
//! async fn iterate(number: i32, times: i32, #[function] step: Function<(i32,), (i32,)>, ctx: ExecutionContext) -> Result<i32> {
//!     let mut number = number;
//!     for _ in 0..times {
//!         let (next,) = step.call(&ctx, (number,));
//!         number = *next.await?.get().ok_or_else(|| Error::new("the step gave nothing"))?;
//!     }
//!     Ok(number)
//! }
//!
//! let program = |kernel: &str, ty: &str| {
//!     testing::program(&format!(
//!         r#"
//!         func @double(%x: {ty}) -> {ty} {{
//!           %y = "{kernel}"(%x) : ({ty}) -> {ty}
//!           tfrt.return %y : {ty}
//!         }}
//!         func @main(%x: i32, %times: i32) -> i32 {{
//!           %y = "functions.iterate"(%x, %times) {{step = @double}} : (i32, i32) -> i32
//!           tfrt.return %y : i32
//!         }}
//!         "#
//!     ))
//! };
//! program("functions.double", "i32").under_every_queue().call("main", (3, 4)).expect_value(48);
//! program("functions.double_i64", "i64").expect_refused("`step`").on_line_with("functions.iterate");
//! # #[tfrt_kernel("functions.double")]
//! # fn double(number: i32) -> i32 { number * 2 }
//! # /// The same, wider.
//! # #[tfrt_kernel("functions.double_i64")]
//! # fn double_i64(number: i64) -> i64 { number * 2 }
//! ```
//!
//! # Functions of any type
//!
//! A kernel that returns the results of the function unchanged does not have to wait for them.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Runs the body if the condition holds, and passes the values on if it does not.
//! #[tfrt_kernel("functions.when", results(chosen))]
//! fn when(condition: bool, values: &[AnyRef], #[region] body: FunctionRef, ctx: &ExecutionContext) -> Vec<AnyRef> {
//!     match condition {
//!         true => body.execute(ctx, values),
//!         false => values.to_vec(),
//!     }
//! }
//!
//! let program = testing::program(
//!     r#"
//!     func @main(%condition: i1, %x: i32) -> i32 {
//!       %chosen = "functions.when"(%condition, %x) ({
//!       ^bb0(%value: i32):
//!         %twice = "functions.twice"(%value) : (i32) -> i32
//!         tfrt.return %twice : i32
//!       }) : (i1, i32) -> i32
//!       tfrt.return %chosen : i32
//!     }
//!     "#,
//! );
//! program.call("main", (true, 4)).expect_value(8);
//! program.call("main", (false, 4)).expect_value(4);
//! # #[tfrt_kernel("functions.twice")]
//! # fn twice(number: i32) -> i32 { number * 2 }
//! ```
//!
//! A body can only use the values that the op passes to it, not other values of the enclosing
//! function. A list of functions, `[@f, @g]`, is a parameter of type `&[FunctionRef]`. A parameter
//! of type `Option<FunctionRef>` may be left out, but only with all others of this type.
//!
//! `num_arguments` and `result_types` describe the function. Use [`verify`](super::dialects#rules)
//! to check programs early; a call with the wrong number of arguments returns errors as its
//! results.
//!
//! # Frames
//!
//! A kernel whose operands or results cannot be expressed as a signature is marked `raw`. It takes
//! the [`KernelFrame`](crate::prelude::KernelFrame): operands, attributes and functions by
//! position, and a slot for each result. Options replace the signature:
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Returns its operands in reverse order.
//! #[tfrt_kernel("functions.reverse", raw, operands(values: variadic any), results(reversed: variadic any))]
//! fn reverse(frame: &mut KernelFrame<'_>) -> Result<()> {
//!     let len = frame.num_arguments();
//!     if frame.num_results() != len {
//!         return Err(Error::new("expected as many results as operands"));
//!     }
//!     for index in 0..len {
//!         let value = frame.argument(len - 1 - index).clone();
//!         frame.set_result(index, value);
//!     }
//!     Ok(())
//! }
//!
//! let reverse = testing::kernel("functions.reverse").operands((1, "two"));
//! reverse.results(["!tfrt.string", "i32"]).run().expect_values(("two", 1));
//! ```
//!
//! Types in options are `any`, a spelling (`"i1"`), a Rust type, or `same_as(operand)`, after an
//! optional `variadic`, `mut`, or `ref` (an operand that may be late). `attrs(count: i64 = 1)`,
//! `symbols(callee)`, `symbol_list(branches)` and `regions(body)` describe the rest. A slot that is
//! left empty becomes an error.
//!
//! # Loops
//!
//! A kernel that calls a function in a loop must await each iteration, as `functions.both` does;
//! otherwise it starts the next one before the previous one is done. Use an `async fn` for this,
//! not recursion in the waiter of an iteration.
//!
//! # Native functions
//!
//! Conversely, a program can call a Rust function like one of its own:
//! [`native_function!`](crate::native_function).
