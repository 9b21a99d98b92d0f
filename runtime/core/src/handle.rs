//! Tensor handles: what an op takes and returns.
//!
//! ```text
//!  TensorHandle ─┬─ tensor     an async value: available, pending, or an error
//!                ├─ metadata   known, or pending
//!                └─ device     known, or pending
//! ```
//!
//! An op returns its handles at once. Metadata can be available before the tensor, so that the
//! shapes of a whole program can be checked before any of it is computed.

mod promise;

mod payload;

mod transfer;

mod copies;

use std::fmt;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, AsyncValueRef, Immutable, Promise, Value};
use tfrt_host::device::DeviceRef;
use tfrt_support::TensorMetadata;
use tfrt_support::{DType, Error, ErrorCode, Extents};
use tfrt_tensor::{DenseHostTensor, Tensor, TensorRef};

use copies::Copies;

use crate::identity;

pub(crate) use copies::CopyBudget;
pub use copies::CopyStats;
pub use promise::HandlePromise;
pub use transfer::inferred_tensor_type;
pub(crate) use transfer::{is_in_host_memory, same_device};

/// Metadata that becomes available later.
pub type PendingMetadata = AsyncValueRef<MetadataValue>;

/// The metadata of a tensor, as a value.
///
/// ```
/// use tfrt_async::AsyncValueRef;
/// use tfrt_core::MetadataValue;
/// use tfrt_support::{DType, TensorMetadata};
///
/// let value = AsyncValueRef::available(MetadataValue(TensorMetadata::new(DType::F32, [2])));
/// assert_eq!(value.get().unwrap().0.to_string(), "f32 [2]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataValue(pub TensorMetadata);

impl Value for MetadataValue {
    const MLIR_TYPE: &'static str = "!corert.metadata";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for MetadataValue {}

/// The metadata of a handle.
#[derive(Clone, Debug)]
pub enum MetadataPart {
    /// It is known.
    Known(TensorMetadata),
    /// It becomes known later.
    Pending(PendingMetadata),
}

/// The device of a handle.
#[derive(Clone, Debug)]
pub enum DevicePart {
    /// It is known.
    Known(DeviceRef),
    /// It becomes known later.
    Pending(AsyncValueRef<DeviceRef>),
}

impl From<TensorMetadata> for MetadataPart {
    fn from(metadata: TensorMetadata) -> Self {
        Self::Known(metadata)
    }
}

impl From<PendingMetadata> for MetadataPart {
    fn from(metadata: PendingMetadata) -> Self {
        Self::Pending(metadata)
    }
}

impl From<DeviceRef> for DevicePart {
    fn from(device: DeviceRef) -> Self {
        Self::Known(device)
    }
}

impl From<AsyncValueRef<DeviceRef>> for DevicePart {
    fn from(device: AsyncValueRef<DeviceRef>) -> Self {
        Self::Pending(device)
    }
}

impl MetadataPart {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Known(_) => None,
            Self::Pending(metadata) => metadata.error_if_present(),
        }
    }
}

impl DevicePart {
    fn error(&self) -> Option<&Error> {
        match self {
            Self::Known(_) => None,
            Self::Pending(device) => device.error_if_present(),
        }
    }
}

/// A tensor of the Core Runtime, its metadata and its device, each of which may be pending.
///
/// Cloning shares the tensor. The default is an invalid handle: one that was taken, or never set.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_async::AnyRef;
/// use tfrt_core::TensorHandle;
/// use tfrt_host::device::{CpuDevice, DeviceRef};
/// use tfrt_support::{DType, TensorMetadata};
/// use tfrt_tensor::{DenseHostTensor, TensorError};
///
/// let cpu = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
/// let vector = DenseHostTensor::vector(&[1_i32, 2])?;
/// let handle = TensorHandle::of_tensor(cpu.clone(), vector);
/// assert_eq!(handle.to_string(), "DenseHostTensor dtype = i32, shape = [2], values = [1, 2]");
/// assert_eq!(handle.metadata(), Some(TensorMetadata::new(DType::I32, [2])));
///
/// let (_promise, later) = AnyRef::indirect();
/// let pending = TensorHandle::new(cpu, TensorMetadata::new(DType::F32, [3]), later);
/// assert_eq!(format!("{pending:?}"), "future TensorHandle with metadata f32 [3]");
/// assert_eq!(TensorHandle::default().to_string(), "NULL TensorHandle!");
/// # Ok::<(), TensorError>(())
/// ```
#[derive(Clone, Default)]
pub struct TensorHandle {
    tensor: Option<AnyRef>,
    metadata: Metadata,
    device: Option<DevicePart>,
    /// Copies of the tensor on other devices.
    copies: Copies,
}

/// What a handle keeps of the metadata of its tensor.
#[derive(Clone, Default)]
enum Metadata {
    /// Nothing, because the handle has no metadata.
    #[default]
    None,
    /// Nothing, because the tensor has it: it is available and dense. So a call of an op does not
    /// copy the shape of its result.
    OfTensor,
    /// What is known, or becomes known, without the tensor.
    Part(MetadataPart),
}

impl Metadata {
    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    fn error(&self) -> Option<&Error> {
        match self {
            Self::Part(part) => part.error(),
            Self::None | Self::OfTensor => None,
        }
    }
}

/// An operand as the ops of its device take it.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) tensor: &'a AnyRef,
    pub(crate) dtype: DType,
    pub(crate) extents: &'a Extents,
}

/// An operand that is a dense tensor, as kernels take it.
#[derive(Clone, Copy)]
pub(crate) struct DenseOperand<'a> {
    pub(crate) tensor: &'a AnyRef,
    /// The payload of the tensor.
    pub(crate) dense: &'a DenseHostTensor,
}

impl DenseOperand<'_> {
    /// Returns `true` if the operand has this metadata.
    #[inline(always)]
    pub(crate) fn has(&self, metadata: &TensorMetadata) -> bool {
        metadata.dtype == self.dense.dtype() && *self.dense.shape() == metadata.extents
    }
}

impl Operand<'_> {
    pub(crate) fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(self.dtype, self.extents.clone())
    }
}

// Mutable: a kernel that has the last reference to a handle moves it out of its value, so that an
// op may reuse the memory of the tensor.
impl Value for TensorHandle {
    const MLIR_TYPE: &'static str = "!corert.tensorhandle";
    const IS_MUTABLE: bool = true;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

/// Making handles.
impl TensorHandle {
    /// No handle at all.
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "each use is a handle of its own"
    )]
    pub const INVALID: Self = Self {
        tensor: None,
        metadata: Metadata::None,
        device: None,
        copies: Copies::NONE,
    };

    /// Makes a handle of these parts. If one of them is already an error, every part that can be an
    /// error becomes that error.
    #[must_use]
    pub fn new(
        device: impl Into<DevicePart>,
        metadata: impl Into<MetadataPart>,
        tensor: AnyRef,
    ) -> Self {
        let (device, metadata) = (device.into(), metadata.into());
        let error = match (&metadata, &device) {
            // Both are values: the error of the metadata comes first.
            (MetadataPart::Pending(_), DevicePart::Pending(_)) => metadata
                .error()
                .or_else(|| tensor.error_if_present())
                .or_else(|| device.error()),
            _ => tensor
                .error_if_present()
                .or_else(|| metadata.error())
                .or_else(|| device.error()),
        };
        match error {
            None => Self {
                tensor: Some(tensor),
                metadata: Metadata::Part(metadata),
                device: Some(device),
                copies: Copies::NONE,
            },
            Some(error) => Self::failed(error.clone(), metadata, device),
        }
    }

    /// Creates a handle whose parts that can be errors are one.
    #[cold]
    fn failed(error: Error, metadata: MetadataPart, device: DevicePart) -> Self {
        let metadata = match metadata {
            MetadataPart::Known(_) => metadata,
            MetadataPart::Pending(_) => AsyncValueRef::error(error.clone()).into(),
        };
        let device = match device {
            DevicePart::Known(_) => device,
            DevicePart::Pending(_) => AsyncValueRef::error(error.clone()).into(),
        };
        Self {
            tensor: Some(AnyRef::error(error)),
            metadata: Metadata::Part(metadata),
            device: Some(device),
            copies: Copies::NONE,
        }
    }

    /// Creates a handle of an available tensor.
    #[must_use]
    pub fn of_tensor<T: Tensor + Value>(device: DeviceRef, tensor: T) -> Self {
        let metadata = Tensor::metadata(&tensor);
        let tensor = AnyRef::available(tensor);
        match tensor.get::<DenseHostTensor>() {
            Some(_) => Self::of_dense(device, tensor),
            None => Self::new(device, metadata, tensor),
        }
    }

    /// Makes a handle of a dense tensor that is available.
    #[inline]
    pub(crate) fn of_dense(device: DeviceRef, tensor: AnyRef) -> Self {
        debug_assert!(
            tensor.get::<DenseHostTensor>().is_some(),
            "the metadata of the handle is that of the tensor"
        );
        Self {
            tensor: Some(tensor),
            metadata: Metadata::OfTensor,
            device: Some(DevicePart::Known(device)),
            copies: Copies::NONE,
        }
    }

    /// Creates a handle of a value that is a tensor, or becomes one: metadata is taken from the
    /// tensor.
    #[must_use]
    pub fn of_value(device: impl Into<DevicePart>, tensor: AnyRef) -> Self {
        match device.into() {
            DevicePart::Known(device) if tensor.get::<DenseHostTensor>().is_some() => {
                Self::of_dense(device, tensor)
            }
            device => Self::new(device, metadata_of(&tensor), tensor),
        }
    }

    /// Creates a handle that is an error in each of its parts.
    #[must_use]
    pub fn error(error: Error) -> Self {
        Self {
            tensor: Some(AnyRef::error(error.clone())),
            metadata: Metadata::Part(AsyncValueRef::error(error.clone()).into()),
            device: Some(AsyncValueRef::error(error).into()),
            copies: Copies::NONE,
        }
    }
}

/// Asking handles.
impl TensorHandle {
    /// Returns `true` if the handle is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.tensor.is_some() && !self.metadata.is_none() && self.device.is_some()
    }

    /// Returns the tensor; `None` of an invalid handle.
    #[must_use]
    pub fn tensor(&self) -> Option<&AnyRef> {
        self.tensor.as_ref()
    }

    /// Returns the tensor, and an invalid handle in its place.
    #[must_use]
    pub fn release_tensor(&mut self) -> Option<AnyRef> {
        std::mem::take(self).tensor
    }

    /// Returns `true` if the tensor is available and not an error.
    #[inline]
    pub(crate) fn is_there(&self) -> bool {
        self.tensor.as_ref().is_some_and(AnyRef::is_concrete)
    }

    /// Returns the tensor, if it is dense and available.
    #[inline]
    fn dense(&self) -> Option<&DenseHostTensor> {
        self.tensor.as_ref()?.get()
    }

    /// Replaces the tensor. The metadata stays the same.
    pub(crate) fn map_tensor(&mut self, f: impl FnOnce(AnyRef) -> AnyRef) {
        if matches!(self.metadata, Metadata::OfTensor) {
            self.metadata = self.kept_metadata();
        }
        self.tensor = self.tensor.take().map(f);
        self.copies = Copies::NONE;
    }

    /// Returns the metadata, if it is known: by itself, or because the tensor is.
    #[must_use]
    pub fn metadata(&self) -> Option<TensorMetadata> {
        match &self.metadata {
            Metadata::None => None,
            Metadata::OfTensor => self.dense().map(DenseHostTensor::metadata),
            Metadata::Part(MetadataPart::Known(metadata)) => Some(metadata.clone()),
            Metadata::Part(MetadataPart::Pending(pending)) => match pending.get() {
                Some(MetadataValue(metadata)) => Some(metadata.clone()),
                None => read_metadata(self.tensor.as_ref()?).ok(),
            },
        }
    }

    /// Returns the type of the elements, if it is known.
    ///
    /// ```
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    /// use tfrt_support::{DType, Extents};
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let matrix = eager.tensor([[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(matrix.dtype(), Some(DType::I32));
    /// assert_eq!(matrix.shape(), Some(Extents::from([2, 3])));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        Some(self.metadata()?.dtype)
    }

    /// Returns the extents, if they are known.
    #[must_use]
    pub fn shape(&self) -> Option<Extents> {
        Some(self.metadata()?.extents)
    }

    /// Waits for the metadata.
    ///
    /// # Errors
    /// The error that the handle is.
    pub async fn metadata_later(&self) -> Result<TensorMetadata, Error> {
        if let (None, Metadata::Part(MetadataPart::Pending(pending))) =
            (self.metadata(), &self.metadata)
        {
            // An error is looked for below.
            let _ = pending.as_any().clone().await;
        }
        match (self.metadata(), self.metadata_failure()) {
            (Some(metadata), _) => Ok(metadata),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Err(not_valid()),
        }
    }

    /// Waits for the tensor, but not for ops that write to it:
    /// [`EagerContext::wait`](crate::EagerContext::wait) does.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_core::TensorHandle;
    /// use tfrt_support::Error;
    ///
    /// async fn wait(handle: &TensorHandle) -> Result<(), Error> {
    ///     println!("{}", handle.metadata_later().await?);
    ///     let tensor: AnyRef = handle.value().await?;
    ///     assert!(tensor.is_available());
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The error that the handle is.
    pub async fn value(&self) -> Result<AnyRef, Error> {
        let tensor = self.tensor.clone().ok_or_else(not_valid)?;
        let outcome = tensor.clone().await;
        match outcome.err().or_else(|| tensor.error_if_present().cloned()) {
            None => Ok(tensor),
            Some(error) => Err(error),
        }
    }

    /// Returns `true` if the elements are known to be of this type.
    pub(crate) fn is_of(&self, dtype: DType) -> bool {
        match (&self.metadata, self.dense()) {
            (Metadata::OfTensor, Some(dense)) => dense.dtype() == dtype,
            (Metadata::Part(MetadataPart::Known(metadata)), _) => metadata.dtype == dtype,
            _ => self
                .metadata()
                .is_some_and(|metadata| metadata.dtype == dtype),
        }
    }

    /// Returns the metadata, known or not; `None` of an invalid handle.
    #[must_use]
    pub fn metadata_part(&self) -> Option<MetadataPart> {
        match &self.metadata {
            Metadata::None => None,
            Metadata::OfTensor => self.metadata().map(MetadataPart::Known),
            Metadata::Part(part) => Some(part.clone()),
        }
    }

    /// Returns what a handle of the same tensor in another form keeps of its metadata.
    fn kept_metadata(&self) -> Metadata {
        self.metadata_part().map_or(Metadata::None, Metadata::Part)
    }

    /// Returns the reason why there will be no metadata.
    #[must_use]
    pub fn metadata_error(&self) -> Option<&Error> {
        self.metadata.error()?;
        self.tensor.as_ref()?.error_if_present()
    }

    /// Returns the reason why there will be no metadata, even if the tensor, which also fails, is
    /// still pending.
    #[must_use]
    pub fn metadata_failure(&self) -> Option<&Error> {
        let error = self.metadata.error()?;
        Some(self.error_if_present().unwrap_or(error))
    }

    /// Returns the tensor and its metadata, if both are available and the tensor is on this device,
    /// in a form that every op of the device takes.
    #[inline(always)]
    pub(crate) fn operand_on(&self, device: &DeviceRef) -> Option<Operand<'_>> {
        let (Some(tensor), Some(DevicePart::Known(found))) = (&self.tensor, &self.device) else {
            return None;
        };
        // A dense tensor has its metadata, whatever the handle keeps.
        let operand = match tensor.get::<DenseHostTensor>() {
            Some(dense) => Operand {
                tensor,
                dtype: dense.dtype(),
                extents: dense.shape().extents(),
            },
            None => self.foreign_operand(tensor, device)?,
        };
        same_device(found, device).then_some(operand)
    }

    /// Returns the tensor, if it is available, dense, and on this device.
    #[inline(always)]
    pub(crate) fn dense_operand_on(&self, device: &DeviceRef) -> Option<DenseOperand<'_>> {
        let (Some(tensor), Some(DevicePart::Known(found))) = (&self.tensor, &self.device) else {
            return None;
        };
        let dense = tensor.get::<DenseHostTensor>()?;
        same_device(found, device).then_some(DenseOperand { tensor, dense })
    }

    /// Does the work of [`operand_on`](Self::operand_on) for a tensor that is not dense.
    #[cold]
    fn foreign_operand<'a>(
        &'a self,
        tensor: &'a AnyRef,
        device: &DeviceRef,
    ) -> Option<Operand<'a>> {
        let Metadata::Part(MetadataPart::Known(metadata)) = &self.metadata else {
            return None;
        };
        let is_usable = tensor.is_concrete() && !is_in_host_memory(device);
        is_usable.then_some(Operand {
            tensor,
            dtype: metadata.dtype,
            extents: &metadata.extents,
        })
    }

    /// Returns the device, if it is known.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceRef> {
        match self.device.as_ref()? {
            DevicePart::Known(device) => Some(device),
            DevicePart::Pending(pending) => pending.get(),
        }
    }

    /// Returns `true` unless the tensor is known to be on this device.
    #[inline]
    pub(crate) fn may_be_elsewhere(&self, device: &DeviceRef) -> bool {
        match &self.device {
            Some(DevicePart::Known(found)) => !same_device(found, device),
            Some(DevicePart::Pending(pending)) => match pending.get() {
                Some(found) => !same_device(found, device),
                // An error stays one wherever it is.
                None => !pending.is_error(),
            },
            None => false,
        }
    }

    /// Returns the device, known or not; `None` of an invalid handle.
    #[must_use]
    pub fn device_part(&self) -> Option<&DevicePart> {
        self.device.as_ref()
    }

    /// Returns the error of the handle, if it is one: the error of the tensor, which is an error
    /// whenever the metadata is.
    #[must_use]
    pub fn error_if_present(&self) -> Option<&Error> {
        self.tensor.as_ref()?.error_if_present()
    }

    /// Returns the handle as programs print it, to the byte.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.tensor {
            Some(tensor) if !self.metadata.is_none() && tensor.is_concrete() => {
                match TensorRef::read(tensor) {
                    Ok(tensor) => match tensor.to_bytes() {
                        Ok(bytes) => bytes,
                        Err(error) => {
                            format!("{}: {error}", Tensor::metadata(&*tensor)).into_bytes()
                        }
                    },
                    Err(error) => format!("Error TensorHandle: '{error}'").into_bytes(),
                }
            }
            _ => self.state().into_bytes(),
        }
    }

    /// Returns the state of an unavailable tensor.
    fn state(&self) -> String {
        let (tensor, metadata) = match (&self.tensor, &self.metadata) {
            (None, Metadata::None) => return "NULL TensorHandle!".to_owned(),
            (_, Metadata::None) => return "Invalid TensorHandle with null metadata!".to_owned(),
            (None, _) => return "Invalid TensorHandle with null tensor!".to_owned(),
            (Some(tensor), metadata) => (tensor, metadata),
        };
        if let Some(error) = tensor.error_if_present() {
            return format!("Error TensorHandle: '{}'", error.message());
        }
        if let Some(metadata) = self.metadata() {
            return format!("future TensorHandle with metadata {metadata}");
        }
        match metadata.error() {
            Some(error) => {
                format!(
                    "future TensorHandle with error metadata '{}'",
                    error.message()
                )
            }
            None => "fully future TensorHandle with unresolved metadata".to_owned(),
        }
    }
}

impl fmt::Display for TensorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

/// Prints the handle as programs do.
impl fmt::Debug for TensorHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cold]
fn not_valid() -> Error {
    Error::new("the tensor handle is invalid").with_code(ErrorCode::InvalidArgument)
}

/// Returns the metadata of a value that is a tensor.
pub(crate) fn read_metadata(tensor: &AnyRef) -> Result<TensorMetadata, Error> {
    if let Some(error) = tensor.error_if_present() {
        return Err(error.clone());
    }
    let tensor = TensorRef::read(tensor).map_err(|error| Error::new(error.to_string()))?;
    Ok(Tensor::metadata(&*tensor))
}

/// Returns the metadata of a value that is a tensor, or becomes one.
pub(crate) fn metadata_of(tensor: &AnyRef) -> MetadataPart {
    if tensor.is_available() {
        return match read_metadata(tensor) {
            Ok(metadata) => metadata.into(),
            Err(error) => AsyncValueRef::error(error).into(),
        };
    }
    let (promise, pending) = AsyncValueRef::unconstructed();
    fill_metadata(promise, tensor);
    pending.into()
}

/// Fulfils a promise of metadata with that of a tensor, as soon as it is available.
pub(crate) fn fill_metadata(promise: Promise<MetadataValue>, tensor: &AnyRef) {
    tensor.and_then(move |tensor| match read_metadata(tensor) {
        Ok(metadata) => promise.emplace(MetadataValue(metadata)),
        Err(error) => promise.set_error(error),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tfrt_host::device::CpuDevice;
    use tfrt_tensor::DenseHostTensor;

    fn cpu() -> DeviceRef {
        DeviceRef(Arc::new(CpuDevice::new("CPU:0")))
    }

    fn failed<T: Value>(message: &str) -> AsyncValueRef<T> {
        AsyncValueRef::error(Error::new(message))
    }

    fn metadata() -> TensorMetadata {
        TensorMetadata::new(DType::I32, [2])
    }

    fn tensor() -> AnyRef {
        AnyRef::available(DenseHostTensor::vector(&[1_i32, 2]).unwrap())
    }

    fn message(handle: &TensorHandle) -> &str {
        handle.error_if_present().map_or("", Error::message)
    }

    #[test]
    fn an_error_of_any_part_is_the_error_of_the_tensor() {
        let tensor_error = || AnyRef::error(Error::new("tensor"));
        let handle = TensorHandle::new(failed("device"), failed("metadata"), tensor_error());
        assert_eq!(message(&handle), "metadata");
        assert_eq!(
            handle.metadata_error().map(Error::message),
            Some("metadata")
        );
        let handle = TensorHandle::new(cpu(), failed("metadata"), tensor_error());
        assert_eq!(message(&handle), "tensor");
        let handle = TensorHandle::new(failed("device"), metadata(), tensor());
        assert_eq!(message(&handle), "device");
        // What is known stays known.
        assert_eq!(handle.metadata(), Some(metadata()));
        assert!(handle.metadata_error().is_none() && handle.device().is_none());
    }

    #[test]
    fn metadata_is_known_as_soon_as_the_tensor_is() {
        let (_promise, pending) = AsyncValueRef::unconstructed();
        let handle = TensorHandle::new(cpu(), pending, tensor());
        assert_eq!(handle.metadata(), Some(metadata()));
        let (promise, later) = AnyRef::indirect();
        let handle = TensorHandle::of_value(cpu(), later);
        assert_eq!(handle.metadata(), None);
        promise.forward_to(tensor());
        assert_eq!(handle.metadata(), Some(metadata()));
    }

    #[test]
    fn the_text_says_what_is_known() {
        let later = || AnyRef::indirect();
        let (_tensor, pending_tensor) = later();
        let (promise, pending) = AsyncValueRef::unconstructed();
        let handle = TensorHandle::new(cpu(), pending.clone(), pending_tensor);
        assert_eq!(
            handle.to_string(),
            "fully future TensorHandle with unresolved metadata"
        );
        promise.set_error(Error::new("no shape"));
        assert_eq!(
            handle.to_string(),
            "future TensorHandle with error metadata 'no shape'"
        );
        assert_eq!(
            TensorHandle::error(Error::new("broken")).to_string(),
            "Error TensorHandle: 'broken'"
        );
        let mut taken = TensorHandle::new(cpu(), metadata(), tensor());
        assert!(taken.release_tensor().is_some());
        assert_eq!(taken.to_string(), "NULL TensorHandle!");
        let half = TensorHandle {
            metadata: Metadata::None,
            ..TensorHandle::new(cpu(), metadata(), tensor())
        };
        assert_eq!(half.to_string(), "Invalid TensorHandle with null metadata!");
        let half = TensorHandle {
            tensor: None,
            ..TensorHandle::new(cpu(), metadata(), tensor())
        };
        assert_eq!(half.to_string(), "Invalid TensorHandle with null tensor!");
    }
}
