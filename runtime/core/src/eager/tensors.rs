//! Conversions between Rust values and tensors.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{
    DenseHostTensor, Element, Elements, I1, ScalarHostTensor, Shape, StringHostTensor, TensorError,
};

use super::{EagerContext, at_caller, scope};
use crate::handle::{TensorHandle, is_in_host_memory};

/// A value that can be converted to a tensor: a number or a string, a slice, vector or array of
/// them, an array of arrays, or a tensor. With the feature `ndarray` also an array of that crate.
pub trait ToTensor {
    /// Converts the value to a tensor.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[doc(hidden)]
    fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error>;
}

fn dense<T: Element>(
    allocator: &Arc<dyn HostAllocator>,
    dims: &[usize],
    elements: &[T],
) -> Result<AnyRef, Error> {
    let tensor = DenseHostTensor::from_elements(allocator, Shape::new(dims)?, elements)?;
    Ok(AnyRef::available(tensor))
}

macro_rules! impl_number {
    ($($ty:ty)*) => {$(
        impl ToTensor for $ty {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                dense(allocator, &[], &[self])
            }
        }

        impl ToTensor for &[$ty] {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                dense(allocator, &[self.len()], self)
            }
        }

        impl ToTensor for Vec<$ty> {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                self[..].to_tensor(allocator)
            }
        }

        impl<const N: usize> ToTensor for [$ty; N] {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                self[..].to_tensor(allocator)
            }
        }

        impl<const M: usize, const N: usize> ToTensor for [[$ty; N]; M] {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                dense(allocator, &[M, N], self.as_flattened())
            }
        }

        impl<const L: usize, const M: usize, const N: usize> ToTensor for [[[$ty; N]; M]; L] {
            fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                dense(allocator, &[L, M, N], self.as_flattened().as_flattened())
            }
        }
    )*};
}

impl_number!(I1 u8 u16 u32 u64 i8 i16 i32 i64 half::f16 half::bf16 f32 f64);

impl ToTensor for bool {
    fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
        I1::from(self).to_tensor(allocator)
    }
}

impl ToTensor for &[bool] {
    fn to_tensor(self, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
        let elements: Vec<I1> = self.iter().map(|&element| I1::from(element)).collect();
        elements.to_tensor(allocator)
    }
}

fn strings<S: Into<String>>(
    dims: &[usize],
    strings: impl IntoIterator<Item = S>,
) -> Result<AnyRef, Error> {
    let strings = strings.into_iter().map(|string| string.into().into_bytes());
    let tensor = StringHostTensor::new(Shape::new(dims)?, strings.collect())?;
    Ok(AnyRef::available(tensor))
}

macro_rules! impl_string {
    ($($ty:ty)*) => {$(
        impl ToTensor for $ty {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                strings(&[], [self])
            }
        }

        impl ToTensor for &[$ty] {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                strings(&[self.len()], self.iter().cloned())
            }
        }

        impl ToTensor for Vec<$ty> {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                strings(&[self.len()], self)
            }
        }

        impl<const N: usize> ToTensor for [$ty; N] {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                strings(&[N], self)
            }
        }

        impl<const M: usize, const N: usize> ToTensor for [[$ty; N]; M] {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                strings(&[M, N], self.into_iter().flatten())
            }
        }
    )*};
}

impl_string!(&str String);

macro_rules! impl_tensor {
    ($($ty:ty)*) => {$(
        impl ToTensor for $ty {
            fn to_tensor(self, _allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
                Ok(AnyRef::available(self))
            }
        }
    )*};
}

impl_tensor!(DenseHostTensor ScalarHostTensor StringHostTensor);

impl EagerContext {
    /// Returns a handle of a tensor on the device of the host.
    ///
    /// ```
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let matrix = eager.tensor([[1_i64, 2], [3, 4]])?;
    /// assert_eq!(matrix.metadata().unwrap().to_string(), "i64 [2, 2]");
    /// assert_eq!(eager.to_scalar::<f32>(&eager.tensor(2.5_f32)?)?, 2.5);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn tensor(&self, value: impl ToTensor) -> Result<TensorHandle, Error> {
        let ctx = scope::execution_context(self);
        let tensor = value.to_tensor(ctx.allocator())?;
        Ok(TensorHandle::of_value(
            self.runtime.host_device().clone(),
            tensor,
        ))
    }

    /// Waits for a dense tensor in host memory and returns its elements.
    ///
    /// # Errors
    /// The error of the handle; an error if the tensor has another kind or element type, or is
    /// being written.
    #[track_caller]
    pub fn to_vec<T: Element>(&self, handle: &TensorHandle) -> Result<Vec<T>, Error> {
        self.with_elements(handle, |elements: &Elements<'_, T>| elements.to_vec())
    }

    /// Waits for a tensor of strings and returns them, in row-major order.
    ///
    /// ```
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let words = eager.tensor([["red", "green"], ["blue", "white"]])?;
    /// assert_eq!(words.metadata().unwrap().to_string(), "str [2, 2]");
    /// assert_eq!(eager.to_strings(&words)?, ["red", "green", "blue", "white"]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the handle; an error if the tensor has no strings, is being written, or has a
    /// string that is not UTF-8. Read the bytes of such strings from the `StringHostTensor`, which
    /// [`wait`](Self::wait) returns.
    #[track_caller]
    pub fn to_strings(&self, handle: &TensorHandle) -> Result<Vec<String>, Error> {
        let at_caller = at_caller();
        let invalid =
            |message: String| at_caller(Error::new(message).with_code(ErrorCode::InvalidArgument));
        let tensor = self.wait(handle)?;
        let found = tensor.try_read::<StringHostTensor>().map_err(|error| {
            let found = tfrt_tensor::TensorRef::read(tensor);
            invalid(match found {
                Ok(found) => format!(
                    "expected a tensor of strings, found {}",
                    found.tensor_type().name()
                ),
                Err(_) => error.to_string(),
            })
        })?;
        let texts = found.strings().iter().enumerate();
        let texts = texts.map(|(index, bytes)| match str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(invalid(format!("string {index} is not UTF-8: {error}"))),
        });
        texts.collect()
    }

    /// Waits for a dense tensor and returns its only element.
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec); an error if there is not exactly one element.
    #[track_caller]
    pub fn to_scalar<T: Element>(&self, handle: &TensorHandle) -> Result<T, Error> {
        let at_caller = at_caller();
        let only = self.with_elements(handle, |elements: &Elements<'_, T>| match elements[..] {
            [only] => Ok(only),
            _ => Err(elements.len()),
        })?;
        only.map_err(|count| {
            let error = Error::new(format!(
                "expected a tensor with one element, found {count} elements"
            ));
            at_caller(error.with_code(ErrorCode::InvalidArgument))
        })
    }

    /// Waits for a dense tensor and reads its elements: in place in host memory, and from a copy if
    /// they are in the memory of another device.
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec).
    #[track_caller]
    pub fn with_elements<T: Element, R>(
        &self,
        handle: &TensorHandle,
        read: impl FnOnce(&Elements<'_, T>) -> R,
    ) -> Result<R, Error> {
        let at_caller = at_caller();
        let mut tensor = self.wait(handle)?;
        let host = self.runtime.host_device();
        let copy;
        if handle
            .device()
            .is_some_and(|found| !is_in_host_memory(found))
        {
            copy = handle.transfer_to_inferred(&scope::execution_context(self), host);
            tensor = self.wait(&copy)?;
        }
        if let Ok(scalar) = tensor.try_read::<ScalarHostTensor>() {
            let ctx = scope::execution_context(self);
            let expanded = scalar.to_dense(ctx.allocator())?;
            return Ok(read(&expanded.elements::<T>()?));
        }
        let dense = tensor.try_read::<DenseHostTensor>().map_err(|_| {
            let found = tfrt_tensor::TensorRef::read(tensor)
                .map_or("something else", |tensor| tensor.tensor_type().name());
            let error = Error::new(format!(
                "expected a dense tensor in host memory, found {found}"
            ));
            at_caller(error.with_code(ErrorCode::InvalidArgument))
        })?;
        let elements = dense.elements::<T>();
        let elements = elements.map_err(|error| {
            let is_misfit = matches!(error, TensorError::WrongDType { .. });
            let error = at_caller(Error::from(error));
            match is_misfit {
                true => error.with_code(ErrorCode::InvalidArgument),
                false => error,
            }
        })?;
        Ok(read(&elements))
    }
}
