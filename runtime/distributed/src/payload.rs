//! Payloads: data that tasks send each other.

use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_async::{Immutable, Value};
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError, serialize};

use crate::cluster::TaskHandle;

/// The first buffer of a payload that says why there is no value. Neither a tensor, which is two
/// buffers, nor a chain, which is none, looks like it.
const ERROR_MARK: &[u8] = b"tfrt error";

/// A list of buffers. Cloning shares them.
///
/// ```
/// use tfrt_distributed::Payload;
/// use tfrt_host::HostContext;
/// use tfrt_tensor::DenseHostTensor;
///
/// let host = HostContext::builder().build();
/// let payload = Payload::of_tensor(&DenseHostTensor::vector(&[1_i32, 2])?);
/// assert_eq!(payload.buffers().len(), 2);
/// let tensor = payload.to_tensor(host.allocator()).unwrap();
/// assert_eq!(tensor.to_string(), "DenseHostTensor dtype = i32, shape = [2], values = [1, 2]");
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Payload {
    buffers: Arc<[HostBuffer]>,
    /// The task that has sent it, if it proved its name.
    sender: Option<TaskHandle>,
}

impl Payload {
    /// Creates a payload of these buffers.
    #[must_use]
    pub fn new(buffers: Vec<HostBuffer>) -> Self {
        Self {
            buffers: buffers.into(),
            sender: None,
        }
    }

    /// Returns the same payload, as one that a task has sent which proved its name.
    pub(crate) fn sent_by(self, task: TaskHandle) -> Self {
        Self {
            sender: Some(task),
            ..self
        }
    }

    /// Returns `true` if a task may have sent the payload: it has, or nobody knows who has.
    pub(crate) fn may_be_of(&self, task: TaskHandle) -> bool {
        self.sender.is_none_or(|sender| sender == task)
    }

    /// Creates the payload of a tensor: its metadata, and its buffer, which is shared.
    #[must_use]
    pub fn of_tensor(tensor: &DenseHostTensor) -> Self {
        let (metadata, elements) = tensor.serialize();
        let metadata = HostBuffer::from_owner(metadata);
        // Bytes of a vector are always a buffer.
        Self::new(metadata.into_iter().chain([elements]).collect())
    }

    /// Creates a payload that says why there is no value to send.
    #[must_use]
    pub fn of_error(error: &Error) -> Self {
        let parts = [
            ERROR_MARK.to_vec(),
            vec![error.code().number()],
            error.message().as_bytes().to_vec(),
        ];
        // Bytes of a vector are always a buffer.
        let buffers = parts.into_iter().map(HostBuffer::from_owner);
        Self::new(buffers.filter_map(Result::ok).collect())
    }

    /// Returns why there is no value, if the payload says so.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        let [mark, code, message] = self.buffers() else {
            return None;
        };
        if *mark.read().ok()? != *ERROR_MARK {
            return None;
        }
        let (code, message) = (code.read().ok()?, message.read().ok()?);
        let error = Error::new(String::from_utf8_lossy(&message).into_owned());
        let code = code.first().copied().and_then(ErrorCode::from_number);
        Some(error.with_code(code.unwrap_or(ErrorCode::Unknown)))
    }

    /// Returns the tensor of a payload that is one. Its buffer is the payload's, unless the
    /// elements are misaligned there.
    ///
    /// # Errors
    /// `malformed tensor payload: …`
    pub fn to_tensor(&self, allocator: &Arc<dyn HostAllocator>) -> Result<DenseHostTensor, Error> {
        let malformed = |what: String| {
            Error::new(format!("malformed tensor payload: {what}"))
                .with_code(ErrorCode::InvalidArgument)
        };
        let [metadata, elements] = self.buffers() else {
            let found = self.buffers().len();
            return Err(malformed(format!("expected 2 buffers, found {found}")));
        };
        let of_tensor = |error: TensorError| malformed(error.to_string());
        let metadata = metadata.read().map_err(of_tensor)?;
        let (dtype, shape) = serialize::parse_metadata(&metadata).map_err(of_tensor)?;
        match DenseHostTensor::from_buffer(dtype, shape.clone(), elements.clone()) {
            Err(TensorError::Misaligned { .. }) => {
                let mut copy =
                    DenseHostTensor::zeroed(allocator, dtype, shape).map_err(of_tensor)?;
                let bytes = elements.read().map_err(of_tensor)?;
                copy.buffer_mut()
                    .write()
                    .map_err(of_tensor)?
                    .copy_from_slice(&bytes);
                Ok(copy)
            }
            outcome => outcome.map_err(of_tensor),
        }
    }

    /// Returns the buffers.
    #[must_use]
    pub fn buffers(&self) -> &[HostBuffer] {
        &self.buffers
    }

    /// Returns the bytes of every buffer, to be sent.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if one of them is being written.
    pub fn to_bytes(&self) -> Result<Vec<Bytes>, TensorError> {
        let copy = |buffer: &HostBuffer| Ok(Bytes::copy_from_slice(&buffer.read()?));
        self.buffers().iter().map(copy).collect()
    }

    /// Creates a payload of received bytes, in memory of `allocator`.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn from_bytes(
        bytes: &[Bytes],
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<Self, TensorError> {
        // Buffers are aligned for elements of any type.
        let copy = |bytes: &Bytes| HostBuffer::copied(allocator, &bytes[..]);
        let buffers: Result<Vec<_>, TensorError> = bytes.iter().map(copy).collect();
        Ok(Self::new(buffers?))
    }
}

impl Value for Payload {
    const MLIR_TYPE: &'static str = "!tfrt_dist.payload";
}

impl Immutable for Payload {}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_host::HostContext;

    fn buffer(bytes: &[u8]) -> HostBuffer {
        HostBuffer::from_owner(bytes.to_vec()).unwrap()
    }

    fn check(buffers: Vec<HostBuffer>, expected: &str) {
        let host = HostContext::builder().build();
        let error = Payload::new(buffers)
            .to_tensor(host.allocator())
            .unwrap_err();
        assert_eq!(error.message(), expected);
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    }

    #[test]
    fn a_payload_that_is_no_tensor_is_refused() {
        check(
            vec![],
            "malformed tensor payload: expected 2 buffers, found 0",
        );
        let metadata = serialize::metadata(
            tfrt_support::DType::I32,
            &tfrt_tensor::Shape::new(&[2]).unwrap(),
        );
        let short = Payload::new(vec![buffer(&metadata), buffer(&[0; 7])]);
        let host = HostContext::builder().build();
        let error = short.to_tensor(host.allocator()).unwrap_err();
        assert!(
            error.message().starts_with("malformed tensor payload: "),
            "{error}"
        );
        let wild = Payload::new(vec![buffer(&[9, 0, 0]), buffer(&[])]);
        assert!(wild.to_tensor(host.allocator()).is_err());
    }

    #[test]
    fn an_error_keeps_its_code_and_its_message() {
        let error = Error::new("no such file").with_code(ErrorCode::NotFound);
        let payload = Payload::of_error(&error);
        let host = HostContext::builder().build();
        let bytes = payload.to_bytes().unwrap();
        let received = Payload::from_bytes(&bytes, host.allocator()).unwrap();
        let found = received.error().unwrap();
        assert_eq!(found.message(), "no such file");
        assert_eq!(found.code(), ErrorCode::NotFound);
        let tensor = DenseHostTensor::vector(&[1_i32]).unwrap();
        for other in [
            Payload::of_tensor(&tensor),
            Payload::new(vec![]),
            Payload::new(vec![buffer(b"tfrt"), buffer(&[0]), buffer(b"x")]),
        ] {
            assert!(other.error().is_none(), "{other:?}");
        }
    }

    #[test]
    fn misaligned_elements_are_copied() {
        let metadata = serialize::metadata(
            tfrt_support::DType::I64,
            &tfrt_tensor::Shape::new(&[1]).unwrap(),
        );
        let host = HostContext::builder().build();
        let mut bytes = vec![0; 24];
        bytes[..17].fill(7);
        let whole = HostBuffer::from_owner(bytes).unwrap();
        let offset = (1..9)
            .find(|offset| !(whole.address() + offset).is_multiple_of(8))
            .unwrap();
        let elements = whole.slice(offset, 8).unwrap();
        let tensor = Payload::new(vec![buffer(&metadata), elements])
            .to_tensor(host.allocator())
            .unwrap();
        assert_eq!(
            *tensor.elements::<i64>().unwrap(),
            [i64::from_le_bytes([7; 8])]
        );
    }
}
