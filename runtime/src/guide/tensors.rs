//! Kernels on arrays of numbers.
//!
//! Tensors are values like any other. Those in host memory are in [`tfrt::tensor`](crate::tensor),
//! which needs the feature `tensor` of this crate, on by default:
//! [`DenseHostTensor`](crate::tensor::DenseHostTensor), and tensors of scalars, strings and sparse
//! data. All of them have the type `!t.tensor` in programs.
//!
//! # A new tensor
//!
//! This is a complete custom op: declared, registered, documented, and called.
//!
//! ```
//! use tfrt::{prelude::*, testing};
//! use tfrt::tensor::{DenseHostTensor, TensorError};
//!
//! /// Returns `a * x + b`.
//! #[tfrt_kernel("tensors.axpb")]
//! fn axpb(a: f32, x: &DenseHostTensor, b: f32, ctx: &ExecutionContext) -> Result<DenseHostTensor, TensorError> {
//!     x.map(ctx.allocator(), |x: f32| a * x + b)
//! }
//!
//! let x = DenseHostTensor::vector(&[1.0_f32, 2.0])?;
//! let outcome = testing::kernel("tensors.axpb").operands((2.0_f32, x, 1.0_f32)).run();
//! outcome.with_value(0, |y: &DenseHostTensor| assert_eq!(*y.elements::<f32>().unwrap(), [3.0, 5.0]));
//! # let wrong = testing::kernel("tensors.axpb").operands((2.0_f32, DenseHostTensor::vector(&[1_i32])?, 1.0_f32)).run();
//! # wrong.expect_error("expected elements of type f32, found i32");
//! # Ok::<(), TensorError>(())
//! ```
//!
//! A program calls it as `"tensors.axpb"(%a, %x, %b) : (f32, !t.tensor, f32) -> !t.tensor`.
//!
//! The element type is not part of the Rust type. A kernel that asks for `f32` elements of a tensor
//! with another element type fails with an error. Use the allocator of the context: memory is
//! charged to the request, which may have a limit.
//!
//! # Tensors of any kind
//!
//! A kernel that only needs what all tensors have in common takes a `&dyn Tensor`: dense, scalar,
//! string and sparse ones alike.
//!
//! ```
//! use tfrt::{prelude::*, testing};
//! use tfrt::tensor::{DenseHostTensor, ScalarHostTensor, Shape, Tensor};
//!
//! /// Returns the number of elements.
//! #[tfrt_kernel("tensors.num_elements")]
//! fn num_elements(x: &dyn Tensor) -> i64 {
//!     x.shape().num_elements() as i64
//! }
//!
//! let num_elements = || testing::kernel("tensors.num_elements");
//! num_elements().operands((DenseHostTensor::vector(&[1.0_f32, 2.0])?,)).run().expect_value(2_i64);
//! num_elements().operands((ScalarHostTensor::new(Shape::new(&[3])?, 7_i32),)).run().expect_value(3_i64);
//! num_elements().operands((7,)).expect_refused("operand #0 must be !t.tensor type, but got 'i32'");
//! # Ok::<(), tfrt::tensor::TensorError>(())
//! ```
//!
//! `downcast_ref` distinguishes the kinds. Other traits can be taken in the same way once they
//! declare which values they accept: see [`Object`](crate::kernel::Object).
//!
//! # Changing a tensor in place
//!
//! ```
//! use tfrt::{prelude::*, testing};
//! use tfrt::tensor::{DenseHostTensor, TensorError};
//!
//! /// Adds `b` to every element.
//! #[tfrt_kernel("tensors.increase")]
//! fn increase(x: &mut DenseHostTensor, b: f32) -> Result<(), TensorError> {
//!     x.elements_mut::<f32>()?.iter_mut().for_each(|x| *x += b);
//!     Ok(())
//! }
//! # let x = DenseHostTensor::vector(&[1.0_f32, 2.0])?;
//! # testing::kernel("tensors.increase").operands((x.clone(), 1.0_f32)).run().expect_done();
//! # assert_eq!(*x.elements::<f32>()?, [2.0, 3.0]);
//! # Ok::<(), TensorError>(())
//! ```
//!
//! With `&mut`, the kernel has a [chain](super::chains). The elements are borrowed while they are
//! in use: if two kernels use one buffer at the same time without a chain between them, one of them
//! fails with an error; there is no data race.
//!
//! # Preallocated tensors
//!
//! If the runtime knows the shape of the result before the kernel runs, it can check programs early
//! and preallocate the result: see [shapes](super::shapes). A result with the shape and type of its
//! operand has the operand's metadata:
//!
//! ```
//! use tfrt::{prelude::*, testing};
//! use tfrt::tensor::{DenseHostTensor, TensorError};
//!
//! /// Returns `a * x + b`.
//! #[tfrt_kernel("tensors.axpb_into", metadata = TensorMetadata::clone)]
//! fn axpb_into(a: f32, x: &DenseHostTensor, b: f32, #[out] y: &mut DenseHostTensor) -> Result<(), TensorError> {
//!     let (x, mut y) = (x.elements::<f32>()?, y.elements_mut::<f32>()?);
//!     y.iter_mut().zip(&*x).for_each(|(y, x)| *y = a * x + b);
//!     Ok(())
//! }
//! # let x = DenseHostTensor::vector(&[1.0_f32, 2.0])?;
//! # let outcome = testing::kernel("tensors.axpb_into").operands((2.0_f32, x, 1.0_f32)).run();
//! # outcome.with_value(0, |y: &DenseHostTensor| assert_eq!(*y.elements::<f32>().unwrap(), [3.0, 5.0]));
//! # Ok::<(), TensorError>(())
//! ```
