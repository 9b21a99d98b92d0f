//! Objects that live on a device from one op to the next: variables, random generators, tables.
//!
//! Ops pass them to each other as a [`ResourceTensor`]: a tensor that holds one object and cannot
//! be converted.

use std::any::{Any, type_name};
use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_support::{DType, Error, ErrorCode};

use crate::error::TensorError;
use crate::identity;
use crate::shape::Shape;
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;

/// A reference to an object of any type, as a tensor without elements. Clones share the object,
/// which lives as long as any reference.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tfrt_tensor::ResourceTensor;
///
/// struct Counter(AtomicU64);
///
/// let counter = ResourceTensor::new(Counter(AtomicU64::new(7)));
/// assert_eq!(counter.get::<Counter>()?.0.fetch_add(1, Ordering::Relaxed), 7);
/// assert_eq!(counter.to_string(), "ResourceTensor type = Counter");
/// let error = counter.get::<String>().unwrap_err();
/// assert_eq!(
///     error.message(),
///     "expected a resource of type `String`, found one of type `Counter`"
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone)]
pub struct ResourceTensor {
    object: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
    shape: Shape,
}

impl ResourceTensor {
    /// Creates a reference to a new object.
    #[must_use]
    pub fn new<T: Any + Send + Sync>(object: T) -> Self {
        Self::of(Arc::new(object))
    }

    /// Creates a reference to an object that may be shared.
    #[must_use]
    pub fn of<T: Any + Send + Sync>(object: Arc<T>) -> Self {
        Self {
            object,
            type_name: short_name::<T>(),
            shape: Shape::scalar(),
        }
    }

    /// Returns the object.
    ///
    /// # Errors
    /// If it has another type.
    pub fn get<T: Any>(&self) -> Result<&T, Error> {
        self.object.downcast_ref().ok_or_else(|| {
            Error::new(format!(
                "expected a resource of type `{}`, found one of type `{}`",
                short_name::<T>(),
                self.type_name
            ))
            .with_code(ErrorCode::InvalidArgument)
        })
    }
}

/// Returns the name of a type without the path of its module.
fn short_name<T>() -> &'static str {
    let name = type_name::<T>();
    let path = name.split('<').next().unwrap_or(name);
    let start = path.rfind("::").map_or(0, |colons| colons + 2);
    &name[start..]
}

impl Tensor for ResourceTensor {
    fn dtype(&self) -> DType {
        DType::Resource
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::RESOURCE_HOST
    }

    fn to_text(&self) -> Result<String, TensorError> {
        Ok(format!("ResourceTensor type = {}", self.type_name))
    }
}

tensor::impl_text!(ResourceTensor);

impl Value for ResourceTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for ResourceTensor {}
