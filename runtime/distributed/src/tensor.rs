//! Tensors on another task.

use std::fmt;

use tfrt_async::{Immutable, Value};
use tfrt_support::DType;
use tfrt_tensor::{Shape, Tensor, TensorError, TensorKind, TensorType};

use crate::object::RemoteObjectId;

/// A tensor whose elements are an object of another task: its metadata, and the id of the object.
///
/// ```
/// use tfrt_distributed::{RemoteObjectId, RemoteTensor};
/// use tfrt_support::DType;
/// use tfrt_tensor::Shape;
///
/// let id = RemoteObjectId::new(7, 2, "/job:worker/task:1/device:CPU:0");
/// let tensor = RemoteTensor::new(DType::F32, Shape::new(&[2])?, id);
/// assert_eq!(
///     tensor.to_string(),
///     "RemoteTensor : RemoteObjectId{prefix_id: 7 local_id: 2 device: /job:worker/task:1/device:CPU:0} dtype = f32, shape = [2]"
/// );
/// # Ok::<(), tfrt_tensor::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RemoteTensor {
    dtype: DType,
    shape: Shape,
    id: RemoteObjectId,
}

impl RemoteTensor {
    /// Creates the tensor of the object `id`.
    #[must_use]
    pub fn new(dtype: DType, shape: Shape, id: RemoteObjectId) -> Self {
        Self { dtype, shape, id }
    }

    /// Returns the object.
    #[must_use]
    pub fn id(&self) -> &RemoteObjectId {
        &self.id
    }
}

impl fmt::Display for RemoteTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteTensor : {} {}", self.id, Metadata(self))
    }
}

struct Metadata<'a>(&'a RemoteTensor);

impl fmt::Display for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims = self.0.shape.dims();
        write!(f, "dtype = {}, shape = {dims:?}", self.0.dtype)
    }
}

impl Tensor for RemoteTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::REMOTE
    }

    fn to_text(&self) -> Result<String, TensorError> {
        Ok(self.to_string())
    }
}

impl Value for RemoteTensor {
    const MLIR_TYPE: &'static str = tfrt_tensor::TENSOR_MLIR_TYPE;
}

impl Immutable for RemoteTensor {}

// Kernels that take a tensor of any kind take remote ones, too.
inventory::submit! { TensorKind::of::<RemoteTensor>() }
