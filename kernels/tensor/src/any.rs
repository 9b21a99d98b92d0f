//! Tensors of any kind behind a value of type `!t.tensor`.
//!
//! The kinds of this crate are in host memory. Other crates add kinds, such as tensors in the
//! memory of a device, each with a [`TensorKind`].

use std::fmt;
use std::ops::Deref;

use tfrt_async::{AnyRef, BorrowError, Immutable, ReadGuard, Value};
use tfrt_host::kernel::Object;

use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::list::ListHostTensor;
use crate::resource::ResourceTensor;
use crate::scalar::ScalarHostTensor;
use crate::string::StringHostTensor;
use crate::tensor::{self, Tensor};

/// A kind of tensor that another crate defines. Registered with `inventory::submit!`, it makes
/// values of its type readable as `dyn Tensor`.
///
/// ```
/// use std::fmt;
/// use tfrt_async::AnyRef;
/// use tfrt_support::DType;
/// use tfrt_tensor::{Shape, Tensor, TensorError, TensorKind, TensorRef, TensorType};
///
/// /// Nothing but zeros, which take no memory.
/// #[derive(Debug)]
/// struct Zeros(Shape);
///
/// impl Tensor for Zeros {
///     fn dtype(&self) -> DType {
///         DType::F32
///     }
///     fn shape(&self) -> &Shape {
///         &self.0
///     }
///     fn tensor_type(&self) -> TensorType {
///         TensorType::new("Zeros")
///     }
///     fn to_text(&self) -> Result<String, TensorError> {
///         Ok(format!("zeros {}", self.0))
///     }
/// }
/// # impl fmt::Display for Zeros {
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
/// #         f.write_str("zeros")
/// #     }
/// # }
/// # impl tfrt_async::Value for Zeros {
/// #     const MLIR_TYPE: &'static str = "!t.tensor";
/// # }
/// # impl tfrt_async::Immutable for Zeros {}
/// inventory::submit! { TensorKind::of::<Zeros>() }
///
/// let value = AnyRef::available(Zeros(Shape::new(&[2])?));
/// assert_eq!(TensorRef::read(&value)?.shape().dims(), [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TensorKind {
    read: for<'a> fn(&'a AnyRef) -> Option<&'a dyn Tensor>,
}

inventory::collect!(TensorKind);

impl TensorKind {
    /// Returns the kind whose tensors are values of type `T`.
    #[must_use]
    pub const fn of<T: Tensor + Value + Immutable>() -> Self {
        Self {
            read: |value| {
                let tensor: &dyn Tensor = value.get::<T>()?;
                Some(tensor)
            },
        }
    }

    /// Reads a value as a tensor of one of the registered kinds.
    fn find(value: &AnyRef) -> Option<&dyn Tensor> {
        inventory::iter::<Self>
            .into_iter()
            .find_map(|kind| (kind.read)(value))
    }
}

/// The payload of a value that is a tensor of any kind, while it is being read.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_tensor::{ScalarHostTensor, Shape, TensorRef};
///
/// let value = AnyRef::available(ScalarHostTensor::new(Shape::new(&[2])?, 5_i32));
/// assert_eq!(TensorRef::read(&value)?.shape().dims(), [2]);
/// assert!(TensorRef::read(&AnyRef::available(5_i32)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum TensorRef<'a> {
    /// All elements.
    Dense(ReadGuard<'a, DenseHostTensor>),
    /// One value for all elements.
    Scalar(ReadGuard<'a, ScalarHostTensor>),
    /// Byte strings.
    String(ReadGuard<'a, StringHostTensor>),
    /// The elements that are not zero.
    Coo(ReadGuard<'a, CooHostTensor>),
    /// A list of dense tensors.
    List(ReadGuard<'a, ListHostTensor>),
    /// A reference to an object.
    Resource(ReadGuard<'a, ResourceTensor>),
    /// A tensor of another crate's kind.
    Other(&'a dyn Tensor),
}

impl<'a> TensorRef<'a> {
    /// Borrows the payload of a value to read it.
    ///
    /// # Errors
    /// If the value does not have a payload, is not a tensor, or is being written.
    pub fn read(value: &'a AnyRef) -> Result<Self, BorrowError> {
        <dyn Tensor>::read(value)
    }
}

/// A kernel takes tensors of any kind as `&dyn Tensor`.
impl Object for dyn Tensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    type Guard<'a> = TensorRef<'a>;

    fn read(operand: &AnyRef) -> Result<TensorRef<'_>, BorrowError> {
        // Nearly every tensor is a dense one.
        if let Ok(dense) = operand.try_read() {
            return Ok(TensorRef::Dense(dense));
        }
        if operand.is::<ScalarHostTensor>() {
            operand.try_read().map(TensorRef::Scalar)
        } else if operand.is::<StringHostTensor>() {
            operand.try_read().map(TensorRef::String)
        } else if operand.is::<CooHostTensor>() {
            operand.try_read().map(TensorRef::Coo)
        } else if operand.is::<ListHostTensor>() {
            operand.try_read().map(TensorRef::List)
        } else if operand.is::<ResourceTensor>() {
            operand.try_read().map(TensorRef::Resource)
        } else if let Some(tensor) = TensorKind::find(operand) {
            Ok(TensorRef::Other(tensor))
        } else {
            operand.try_read().map(TensorRef::Dense)
        }
    }
}

impl Deref for TensorRef<'_> {
    type Target = dyn Tensor;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Dense(tensor) => &**tensor,
            Self::Scalar(tensor) => &**tensor,
            Self::String(tensor) => &**tensor,
            Self::Coo(tensor) => &**tensor,
            Self::List(tensor) => &**tensor,
            Self::Resource(tensor) => &**tensor,
            Self::Other(tensor) => *tensor,
        }
    }
}

impl fmt::Debug for TensorRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
