//! Conversions from one kind of tensor to another.
//!
//! A [`ConversionRegistry`] starts with those between host tensors; a device adds its own, which
//! may return a value that becomes available later.
//!
//! | from | to | |
//! |---|---|---|
//! | dense, string, scalar | the same kind | a copy in separate memory |
//! | scalar, sparse | dense | every element in its place |
//! | sparse | scalar | if it is one value |

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_async::{AnyRef, Value};
use tfrt_host::ExecutionContext;
use tfrt_host::allocator::HostAllocator;
use tfrt_host::device::DeviceRef;
use tfrt_support::{Error, ErrorCode};

use crate::coo::CooHostTensor;
use crate::dense::DenseHostTensor;
use crate::error::TensorError;
use crate::scalar::ScalarHostTensor;
use crate::string::StringHostTensor;
use crate::tensor::Tensor;
use crate::tensor_type::TensorType;

/// The context of a conversion.
#[derive(Clone, Copy, Debug)]
pub struct ConversionContext<'a> {
    /// The execution context.
    pub exec_ctx: &'a ExecutionContext,
    /// The device of the tensor.
    pub source: &'a DeviceRef,
    /// The device of the result.
    pub destination: &'a DeviceRef,
}

impl ConversionContext<'_> {
    fn allocator(&self) -> &Arc<dyn HostAllocator> {
        self.exec_ctx.allocator()
    }
}

/// Converts a tensor from one kind to another. The returned value may become available later.
pub type Conversion = fn(&dyn Tensor, ConversionContext<'_>) -> AnyRef;

/// A conversion of a linked crate. Registered with `inventory::submit!`, it is one of the
/// [linked conversions](ConversionRegistry::linked).
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_support::Error;
/// use tfrt_tensor::convert::{ConversionContext, ConversionRegistration, ConversionRegistry};
/// use tfrt_tensor::{ScalarHostTensor, Shape, Tensor, TensorType};
///
/// fn cannot(_tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
///     AnyRef::error(Error::new("nothing is remote"))
/// }
///
/// inventory::submit! {
///     ConversionRegistration {
///         from: TensorType::SCALAR_HOST,
///         to: TensorType::REMOTE,
///         conversion: cannot,
///     }
/// }
/// # use std::sync::Arc;
/// # use tfrt_host::device::{CpuDevice, DeviceRef};
/// # use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// # let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// # let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
/// # let context = ConversionContext { exec_ctx: &exec_ctx, source: &cpu, destination: &cpu };
/// let scalar = ScalarHostTensor::new(Shape::new(&[2])?, 5_i32);
/// let remote = ConversionRegistry::linked().convert(&scalar, TensorType::REMOTE, context);
/// assert_eq!(remote.error_if_present().unwrap().message(), "nothing is remote");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ConversionRegistration {
    /// The kind of the source.
    pub from: TensorType,
    /// The kind of the result.
    pub to: TensorType,
    /// The conversion.
    pub conversion: Conversion,
}

inventory::collect!(ConversionRegistration);

/// The available conversions, by their source and destination kinds.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::device::{CpuDevice, DeviceRef};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_tensor::convert::{ConversionContext, ConversionRegistry};
/// use tfrt_tensor::{DenseHostTensor, ScalarHostTensor, Shape, TensorType};
///
/// let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
/// let context = ConversionContext { exec_ctx: &exec_ctx, source: &cpu, destination: &cpu };
///
/// let registry = ConversionRegistry::with_host_conversions();
/// let scalar = ScalarHostTensor::new(Shape::new(&[2])?, 5_i32);
/// let dense = registry.convert(&scalar, TensorType::DENSE_HOST, context);
/// assert_eq!(*dense.try_read::<DenseHostTensor>()?.elements::<i32>()?, [5, 5]);
///
/// let nowhere = registry.convert(&scalar, TensorType::REMOTE, context);
/// assert_eq!(
///     nowhere.error_if_present().unwrap().message(),
///     "cannot find conversion function for [ScalarHost]->[Remote]",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConversionRegistry {
    conversions: HashMap<(TensorType, TensorType), Conversion>,
}

impl ConversionRegistry {
    /// Creates a registry without conversions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry of the conversions between host tensors.
    #[must_use]
    pub fn with_host_conversions() -> Self {
        let (dense, scalar) = (TensorType::DENSE_HOST, TensorType::SCALAR_HOST);
        let (string, sparse) = (TensorType::STRING_HOST, TensorType::COO_HOST);
        let pairs: [((TensorType, TensorType), Conversion); 6] = [
            ((dense, dense), copy_dense),
            ((string, string), copy_string),
            ((scalar, scalar), copy_scalar),
            ((scalar, dense), expand_scalar),
            ((sparse, dense), scatter),
            ((sparse, scalar), collapse),
        ];
        Self {
            conversions: pairs.into(),
        }
    }

    /// Creates a registry of the conversions between host tensors, and of those that linked crates
    /// register. A pair of kinds that has several conversions has none: converting is an error,
    /// because the order of linked registrations means nothing.
    #[must_use]
    pub fn linked() -> Self {
        let mut registry = Self::with_host_conversions();
        for registered in inventory::iter::<ConversionRegistration> {
            let ConversionRegistration {
                from,
                to,
                conversion,
            } = *registered;
            if registry.register(from, to, conversion).is_err() {
                registry.conversions.insert((from, to), registered_twice);
            }
        }
        registry
    }

    /// Adds a conversion.
    ///
    /// # Errors
    /// Returns the kinds if a conversion between them exists, which is kept.
    pub fn register(
        &mut self,
        from: TensorType,
        to: TensorType,
        conversion: Conversion,
    ) -> Result<(), (TensorType, TensorType)> {
        match self.conversions.get(&(from, to)) {
            Some(_) => Err((from, to)),
            None => {
                self.conversions.insert((from, to), conversion);
                Ok(())
            }
        }
    }

    /// Converts a tensor. If the conversion is unknown, fails or panics, the result is an error
    /// value.
    #[must_use]
    pub fn convert(
        &self,
        tensor: &dyn Tensor,
        to: TensorType,
        context: ConversionContext<'_>,
    ) -> AnyRef {
        let from = tensor.tensor_type();
        match self.conversions.get(&(from, to)) {
            Some(conversion) => {
                let name = format_args!("[{}]->[{}]", from.name(), to.name());
                let converted = catch_unwind(AssertUnwindSafe(|| conversion(tensor, context)));
                converted.unwrap_or_else(|payload| {
                    let error = panicked(name, payload);
                    AnyRef::error(error)
                })
            }
            None => AnyRef::error(TensorError::NoConversion { from, to }.into()),
        }
    }
}

/// Stands for a pair of kinds with several conversions.
fn registered_twice(tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
    let from = tensor.tensor_type().name();
    AnyRef::error(Error::new(format!(
        "a conversion of [{from}] is registered twice for the same destination"
    )))
}

/// Returns the error of a conversion that panicked. What it left half done is its own.
#[cold]
fn panicked(name: fmt::Arguments<'_>, payload: Box<dyn Any + Send>) -> Error {
    let message = match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(message), _) => message,
        (None, Some(message)) => message.as_str(),
        (None, None) => "an unknown payload",
    };
    let message = format!("the conversion {name} panicked: {message}");
    // A payload may panic while it is dropped, which is ignored; what that leaves is better leaked
    // than dropped.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    Error::new(message).with_code(ErrorCode::Internal)
}

/// Returns the result of a conversion, or its error, with `out_of_memory` for lack of memory.
fn value<T: Value>(result: Result<T, TensorError>, out_of_memory: &str) -> AnyRef {
    match result {
        Ok(tensor) => AnyRef::available(tensor),
        Err(TensorError::OutOfMemory { .. }) => {
            AnyRef::error(Error::new(out_of_memory).with_code(ErrorCode::ResourceExhausted))
        }
        Err(error) => AnyRef::error(error.into()),
    }
}

const CANNOT_COPY: &str = "out of memory copying tensor";
const CANNOT_SCATTER: &str = "out of memory converting coo tensor to dht tensor";

fn copy_dense(tensor: &dyn Tensor, context: ConversionContext<'_>) -> AnyRef {
    let copied = tensor
        .expect::<DenseHostTensor>(TensorType::DENSE_HOST)
        .and_then(|tensor| tensor.copied(context.allocator()));
    value(copied, CANNOT_COPY)
}

fn copy_string(tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
    let copied = tensor.expect::<StringHostTensor>(TensorType::STRING_HOST);
    value(copied.cloned(), CANNOT_COPY)
}

fn copy_scalar(tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
    let copied = tensor.expect::<ScalarHostTensor>(TensorType::SCALAR_HOST);
    value(copied.cloned(), CANNOT_COPY)
}

fn expand_scalar(tensor: &dyn Tensor, context: ConversionContext<'_>) -> AnyRef {
    let expanded = tensor
        .expect::<ScalarHostTensor>(TensorType::SCALAR_HOST)
        .and_then(|tensor| tensor.to_dense(context.allocator()));
    value(expanded, CANNOT_COPY)
}

fn scatter(tensor: &dyn Tensor, context: ConversionContext<'_>) -> AnyRef {
    let scattered = tensor
        .expect::<CooHostTensor>(TensorType::COO_HOST)
        .and_then(|tensor| tensor.to_dense(context.allocator()));
    value(scattered, CANNOT_SCATTER)
}

fn collapse(tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
    let collapsed = tensor
        .expect::<CooHostTensor>(TensorType::COO_HOST)
        .and_then(CooHostTensor::to_scalar);
    value(collapsed, CANNOT_COPY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TensorRef;
    use crate::shape::Shape;
    use crate::testing::malloc;
    use tfrt_host::allocator::FixedSizeAllocator;
    use tfrt_host::device::CpuDevice;
    use tfrt_host::{HostContext, RequestContextBuilder};

    fn convert(tensor: &dyn Tensor, to: TensorType, allocator: Arc<dyn HostAllocator>) -> String {
        let host = HostContext::builder().allocator(allocator).build();
        let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
        let context = ConversionContext {
            exec_ctx: &exec_ctx,
            source: &cpu,
            destination: &cpu,
        };
        let value = ConversionRegistry::with_host_conversions().convert(tensor, to, context);
        match value.error_if_present() {
            Some(error) => error.message().to_owned(),
            None => TensorRef::read(&value).unwrap().to_string(),
        }
    }

    fn sample() -> DenseHostTensor {
        DenseHostTensor::from_elements(&malloc(), Shape::new(&[3]).unwrap(), &[1_i8, 0, 2]).unwrap()
    }

    #[test]
    fn every_host_conversion_keeps_the_elements() {
        let dense = sample();
        let sparse = CooHostTensor::from_dense(&dense, &malloc()).unwrap();
        let scalar = ScalarHostTensor::new(Shape::new(&[2]).unwrap(), 7_i8);
        let strings = StringHostTensor::new(Shape::scalar(), vec![b"x".to_vec()]).unwrap();
        let to = |tensor: &dyn Tensor, to| convert(tensor, to, malloc());
        assert_eq!(to(&dense, TensorType::DENSE_HOST), dense.to_string());
        assert_eq!(to(&sparse, TensorType::DENSE_HOST), dense.to_string());
        assert_eq!(to(&strings, TensorType::STRING_HOST), strings.to_string());
        assert_eq!(to(&scalar, TensorType::SCALAR_HOST), scalar.to_string());
        assert_eq!(
            to(&scalar, TensorType::DENSE_HOST),
            "DenseHostTensor dtype = i8, shape = [2], values = [7, 7]"
        );
        assert_eq!(
            to(&sparse, TensorType::SCALAR_HOST),
            "failed to convert coo tensor to scalar host tensor"
        );
        assert_eq!(
            to(&dense, TensorType::COO_HOST),
            "cannot find conversion function for [DenseHost]->[CooHost]"
        );
    }

    #[test]
    fn lack_of_memory_is_told_by_conversion() {
        let none = || -> Arc<dyn HostAllocator> { Arc::new(FixedSizeAllocator::new(0)) };
        let dense = sample();
        let sparse = CooHostTensor::from_dense(&dense, &malloc()).unwrap();
        assert_eq!(convert(&dense, TensorType::DENSE_HOST, none()), CANNOT_COPY);
        assert_eq!(
            convert(&sparse, TensorType::DENSE_HOST, none()),
            CANNOT_SCATTER
        );
    }

    #[test]
    fn a_conversion_that_panics_is_an_error() {
        fn broken(_tensor: &dyn Tensor, _context: ConversionContext<'_>) -> AnyRef {
            std::panic::resume_unwind(Box::new("no idea how"))
        }
        let mut registry = ConversionRegistry::new();
        let (dense, remote) = (TensorType::DENSE_HOST, TensorType::REMOTE);
        assert_eq!(registry.register(dense, remote, broken), Ok(()));
        let host = HostContext::builder().build();
        let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
        let context = ConversionContext {
            exec_ctx: &exec_ctx,
            source: &cpu,
            destination: &cpu,
        };
        let value = registry.convert(&sample(), remote, context);
        assert_eq!(
            value.error_if_present().map(Error::message),
            Some("the conversion [DenseHost]->[Remote] panicked: no idea how")
        );
    }

    #[test]
    fn a_pair_has_one_conversion() {
        let mut registry = ConversionRegistry::with_host_conversions();
        let dense = TensorType::DENSE_HOST;
        assert_eq!(
            registry.register(dense, dense, scatter),
            Err((dense, dense))
        );
        assert_eq!(
            registry.register(dense, TensorType::DENSE_GPU, copy_dense),
            Ok(())
        );
    }
}
