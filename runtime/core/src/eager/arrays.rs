//! Arrays of the crate `ndarray` as tensors, and tensors as its views.

use std::sync::Arc;

use ndarray::{ArrayBase, ArrayViewD, Data, Dimension, IxDyn};
use tfrt_async::AnyRef;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{Error, ErrorCode, Extents};
use tfrt_tensor::{DenseHostTensor, Element, Elements, Shape};

use super::{EagerContext, ToTensor, at_caller};
use crate::handle::TensorHandle;

/// An array in any memory layout: its elements are copied in row-major order.
impl<S, D> ToTensor for &ArrayBase<S, D>
where
    S: Data<Elem: Element>,
    D: Dimension,
{
    fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
        let shape = Shape::new(self.shape())?;
        let tensor = match self.as_slice() {
            Some(elements) => DenseHostTensor::from_elements(allocator, shape, elements)?,
            None => {
                let mut elements = self.iter();
                let next = |_| {
                    *elements
                        .next()
                        .expect("an array has as many elements as its shape says")
                };
                DenseHostTensor::from_fn(allocator, shape, next)?
            }
        };
        Ok(AnyRef::available(tensor))
    }
}

impl<S, D> ToTensor for ArrayBase<S, D>
where
    S: Data<Elem: Element>,
    D: Dimension,
{
    fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
        (&self).to_tensor(allocator)
    }
}

impl EagerContext {
    /// Waits for a dense tensor and reads it as an array: in place in host memory, and from a copy
    /// if it is in the memory of another device.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let matrix = array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// let handle = eager.tensor(matrix.t())?;
    /// assert_eq!(handle.metadata().unwrap().to_string(), "f32 [2, 3]");
    /// let sums = eager.with_array::<f32, _>(&handle, |view| view.sum_axis(Axis(1)))?;
    /// assert_eq!(sums, array![9.0, 12.0].into_dyn());
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec); an error if the handle was made with another shape than
    /// that of its tensor.
    #[track_caller]
    pub fn with_array<T: Element, R>(
        &self,
        handle: &TensorHandle,
        read: impl FnOnce(ArrayViewD<'_, T>) -> R,
    ) -> Result<R, Error> {
        let read = |elements: &Elements<'_, T>| {
            let dims = handle.shape().unwrap_or_else(|| Extents::from([0]));
            match ArrayViewD::from_shape(IxDyn(&dims), elements) {
                Ok(view) if view.len() == elements.len() => Ok(read(view)),
                // A handle may be made of any parts.
                _ => Err(Error::new(format!(
                    "expected a tensor of the shape {dims} of its handle, found {} elements",
                    elements.len()
                ))
                .with_code(ErrorCode::InvalidArgument)),
            }
        };
        let at_caller = at_caller();
        self.with_elements(handle, read)?.map_err(at_caller)
    }
}
