//! Tensors in host memory: shapes, buffers, and the tensors themselves.
//!
//! ```text
//!  Shape ─┐
//!         ├──────────────────┬─ DenseHostTensor ─── HostBuffer ─── HostAllocator, or an owner such as a mapped file
//!  DType ─┘                  ├─ ScalarHostTensor    one value
//!                            ├─ StringHostTensor    byte strings
//!                            ├─ CooHostTensor       entries: indices and values, both dense
//!                            └─ ListHostTensor      dense tensors one after another, or none at all
//! ```
//!
//! Each kind is a payload type of values of type `!t.tensor` and implements [`Tensor`]. A kernel
//! takes the kind that it needs: `&DenseHostTensor`, or `&mut DenseHostTensor` to write. The
//! elements are stored in a [`HostBuffer`], which tensors may share. They are borrowed while they
//! are in use, and a conflict is an error:
//!
//! ```
//! use std::sync::Arc;
//! use tfrt_host::allocator::{HostAllocator, Malloc};
//! use tfrt_tensor::{DenseHostTensor, Shape, TensorError};
//!
//! /// Adds `b` to each element of `a`.
//! fn add(a: &mut DenseHostTensor, b: &DenseHostTensor) -> Result<(), TensorError> {
//!     a.expect_shape(b.shape())?;
//!     let b = b.elements::<f32>()?;
//!     for (a, b) in a.elements_mut::<f32>()?.iter_mut().zip(&*b) {
//!         *a += b;
//!     }
//!     Ok(())
//! }
//!
//! let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
//! let mut a = DenseHostTensor::filled(&allocator, Shape::new(&[2])?, 1.0_f32)?;
//! let b = DenseHostTensor::filled(&allocator, Shape::new(&[2])?, 0.5_f32)?;
//! add(&mut a, &b)?;
//! assert_eq!(*a.elements::<f32>()?, [1.5, 1.5]);
//! // The same tensor twice, through two handles: an error, not a data race.
//! assert!(add(&mut a.clone(), &a).is_err());
//! # Ok::<(), TensorError>(())
//! ```
//!
//! This crate does not depend on kernels. Unsafe code is denied except in `buffer` and `element`,
//! which explain why they need it.
#![deny(unsafe_code)]

mod shape;

mod element;

mod metadata;

mod tensor_type;

mod tensor;

mod buffer;

mod dense;

mod view;

mod scalar;

mod string;

mod coo;

mod list;
mod resource;

mod any;

pub mod convert;

pub mod serialize;

mod error;

pub mod file;

pub mod statistics;

mod identity;

#[cfg(test)]
mod testing;

pub use any::{TensorKind, TensorRef};
pub use buffer::{
    BufferConflict, Elements, ElementsMut, FillingBuffer, HostBuffer, OwnedElements,
    OwnedElementsMut,
};
pub use coo::CooHostTensor;
pub use dense::DenseHostTensor;
pub use element::{Element, I1, Quantized, element_bytes, size_bytes};
pub use error::TensorError;
pub use list::ListHostTensor;
pub use resource::ResourceTensor;
pub use scalar::ScalarHostTensor;
pub use shape::{
    FixedRankShape, FixedRankSizes, MAX_ELEMENTS, PartialShape, Shape, ShapeError, Sizes,
};
pub use string::StringHostTensor;
pub use tensor::{TENSOR_MLIR_TYPE, Tensor};
pub use tensor_type::TensorType;
pub use view::{TensorView, TensorViewMut};

// What the expansion of `with_element` names.
#[doc(hidden)]
pub use {half, tfrt_support as support};
