//! Dense tensors: all elements, row-major and without gaps, in a buffer.
#![expect(unsafe_code, reason = "vouches for the room of a value")]

use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, Immutable, IndexCell, Room, Value};
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_support::TensorMetadata;
use tfrt_support::{DType, Error, ErrorCode};

use crate::buffer::{Elements, ElementsMut, HostBuffer, OwnedElements, OwnedElementsMut};
use crate::element::{self, Element};
use crate::error::TensorError;
use crate::identity;
use crate::shape::{FixedRankShape, Shape};
use crate::tensor::{self, Tensor};
use crate::tensor_type::TensorType;
use crate::view::{TensorView, TensorViewMut};
use crate::with_element;

/// A tensor whose elements lie in host memory, row-major.
///
/// A handle: cloning shares the elements, [`copied`](Self::copied) copies them. A kernel that reads
/// takes `&DenseHostTensor`, one that writes `&mut DenseHostTensor`; the elements themselves are
/// borrowed from the buffer, because other tensors may share it.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::{DenseHostTensor, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let mut tensor = DenseHostTensor::from_elements(&allocator, Shape::new(&[2, 2])?, &[1.0_f32, 2.0, 3.0, 4.0])?;
/// tensor.elements_mut::<f32>()?[3] = 0.5;
/// assert_eq!(tensor.view::<f32, 2>()?[[1, 1]], 0.5);
/// assert_eq!(
///     tensor.to_string(),
///     "DenseHostTensor dtype = f32, shape = [2, 2], \
///      values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 5.000000e-01]",
/// );
/// # Ok::<(), tfrt_tensor::TensorError>(())
/// ```
// Invariant D1: the buffer has as many bytes as type and shape say, aligned for the elements.
// Upheld by the constructors.
#[derive(Clone)]
pub struct DenseHostTensor {
    dtype: DType,
    shape: Shape,
    buffer: HostBuffer,
}

impl DenseHostTensor {
    /// Creates a tensor of zeros.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`], and [`TensorError::NoElements`] for types whose elements have
    /// no size.
    #[inline]
    pub fn zeroed(
        allocator: &Arc<dyn HostAllocator>,
        dtype: DType,
        shape: Shape,
    ) -> Result<Self, TensorError> {
        let buffer = HostBuffer::zeroed(allocator, element::size_bytes(dtype, &shape)?, 1)?;
        Ok(Self {
            dtype,
            shape,
            buffer,
        })
    }

    /// Creates a tensor of unspecified elements, for kernels that write all of them. An allocator
    /// that keeps memory for reuse does not clear it, so the elements may be those of an earlier
    /// tensor.
    ///
    /// # Errors
    /// Those of [`zeroed`](Self::zeroed).
    #[inline]
    pub fn unspecified(
        allocator: &Arc<dyn HostAllocator>,
        dtype: DType,
        shape: Shape,
    ) -> Result<Self, TensorError> {
        let buffer = HostBuffer::unspecified(allocator, element::size_bytes(dtype, &shape)?)?;
        Ok(Self {
            dtype,
            shape,
            buffer,
        })
    }

    /// Creates a tensor whose elements are all `value`.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn filled<T: Element>(
        allocator: &Arc<dyn HostAllocator>,
        shape: Shape,
        value: T,
    ) -> Result<Self, TensorError> {
        Self::from_fn(allocator, shape, |_| value)
    }

    /// Creates a tensor of these elements, in row-major order.
    ///
    /// # Errors
    /// [`TensorError::WrongNumElements`] and [`TensorError::OutOfMemory`].
    pub fn from_elements<T: Element>(
        allocator: &Arc<dyn HostAllocator>,
        shape: Shape,
        elements: &[T],
    ) -> Result<Self, TensorError> {
        if shape.num_elements() != elements.len() {
            return Err(TensorError::WrongNumElements {
                expected: shape.num_elements(),
                found: elements.len(),
            });
        }
        let buffer = HostBuffer::copied(allocator, elements)?;
        Ok(Self {
            dtype: T::DTYPE,
            shape,
            buffer,
        })
    }

    /// Creates a tensor of elements that are computed from their row-major positions. The memory is
    /// not cleared first.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn from_fn<T: Element>(
        allocator: &Arc<dyn HostAllocator>,
        shape: Shape,
        element: impl FnMut(usize) -> T,
    ) -> Result<Self, TensorError> {
        let buffer = HostBuffer::from_fn(allocator, shape.num_elements(), element)?;
        Ok(Self {
            dtype: T::DTYPE,
            shape,
            buffer,
        })
    }

    /// Creates a tensor whose elements `compute` writes, all of them: before, they are unspecified.
    /// Returns what `compute` returns, too.
    ///
    /// For kernels of few elements this is the cheapest way: the elements of a new tensor need not
    /// be borrowed.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{HostAllocator, Malloc};
    /// use tfrt_tensor::{DenseHostTensor, Shape, TensorError};
    ///
    /// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    /// let shape = Shape::new(&[2])?;
    /// let (ones, len) = DenseHostTensor::computed(&allocator, shape, |elements: &mut [f32]| {
    ///     elements.fill(1.0);
    ///     elements.len()
    /// })?;
    /// assert_eq!((&ones.elements::<f32>()?[..], len), (&[1.0, 1.0][..], 2));
    /// # Ok::<(), TensorError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    #[inline]
    pub fn computed<T: Element, R>(
        allocator: &Arc<dyn HostAllocator>,
        shape: Shape,
        compute: impl FnOnce(&mut [T]) -> R,
    ) -> Result<(Self, R), TensorError> {
        let (buffer, returned) = HostBuffer::computed(allocator, shape.num_elements(), compute)?;
        let tensor = Self {
            dtype: T::DTYPE,
            shape,
            buffer,
        };
        Ok((tensor, returned))
    }

    /// Like [`computed`](Self::computed), for a tensor of the shape of this one. `failed` converts
    /// the error: converting the whole result would copy the tensor.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{HostAllocator, Malloc};
    /// use tfrt_tensor::{DenseHostTensor, TensorError};
    ///
    /// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    /// let x = DenseHostTensor::vector(&[1.5_f32, -2.5])?;
    /// let zeros = x.computed_like(
    ///     &allocator,
    ///     |elements: &mut [i32]| elements.fill(0),
    ///     |error| error.to_string(),
    /// );
    /// let zeros = zeros.expect("there is memory for two elements");
    /// assert_eq!((zeros.shape(), &zeros.elements::<i32>()?[..]), (x.shape(), &[0, 0][..]));
    /// # Ok::<(), TensorError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`], converted.
    #[inline]
    pub fn computed_like<T: Element, E>(
        &self,
        allocator: &Arc<dyn HostAllocator>,
        compute: impl FnOnce(&mut [T]),
        failed: impl FnOnce(TensorError) -> E,
    ) -> Result<Self, E> {
        // D1: to divide the bytes takes less time than to multiply the dimensions.
        let len = match T::DTYPE == self.dtype {
            true => self.buffer.len_bytes() / size_of::<T>(),
            false => self.num_elements(),
        };
        match HostBuffer::computed(allocator, len, compute) {
            Ok((buffer, ())) => Ok(Self {
                dtype: T::DTYPE,
                shape: self.shape.clone(),
                buffer,
            }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Creates a tensor of rank 1 from the system heap, for arguments that are created outside of a
    /// request, and for tests.
    ///
    /// ```
    /// use tfrt_tensor::{DenseHostTensor, Shape, TensorError};
    ///
    /// let column = DenseHostTensor::vector(&[1.5_f32, -2.5])?.reshaped(Shape::new(&[2, 1])?)?;
    /// assert_eq!(column.shape().to_string(), "[2, 1]");
    /// # Ok::<(), TensorError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn vector<T: Element>(elements: &[T]) -> Result<Self, TensorError> {
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        Self::from_elements(&allocator, Shape::new(&[elements.len()])?, elements)
    }

    /// Returns a tensor of the same shape, with each element computed from that of this tensor.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_host::allocator::{HostAllocator, Malloc};
    /// use tfrt_tensor::{DenseHostTensor, TensorError};
    ///
    /// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    /// let x = DenseHostTensor::vector(&[1.5_f32, -2.5])?;
    /// let rounded = x.map(&allocator, |x: f32| x.round() as i32)?;
    /// assert_eq!(*rounded.elements::<i32>()?, [2, -3]);
    /// # Ok::<(), TensorError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements), and [`TensorError::OutOfMemory`].
    pub fn map<T: Element, U: Element>(
        &self,
        allocator: &Arc<dyn HostAllocator>,
        mut f: impl FnMut(T) -> U,
    ) -> Result<Self, TensorError> {
        let elements = self.elements::<T>()?;
        Self::from_fn(allocator, self.shape.clone(), |index| f(elements[index]))
    }

    /// Creates a tensor from the bytes of a buffer, without copying them.
    ///
    /// # Errors
    /// [`TensorError::WrongBufferSize`] and [`TensorError::Misaligned`] if they are not such
    /// elements, and [`TensorError::NoElements`] for types whose elements have no size.
    pub fn from_buffer(
        dtype: DType,
        shape: Shape,
        buffer: HostBuffer,
    ) -> Result<Self, TensorError> {
        let expected = element::size_bytes(dtype, &shape)?;
        if buffer.len_bytes() != expected {
            return Err(TensorError::WrongBufferSize {
                expected,
                found: buffer.len_bytes(),
            });
        }
        let align = dtype.align_bytes().unwrap_or(1);
        if !buffer.address().is_multiple_of(align) {
            return Err(TensorError::Misaligned { expected: align });
        }
        Ok(Self {
            dtype,
            shape,
            buffer,
        })
    }

    /// Returns a copy of the tensor, in separate memory.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`], and [`TensorError::Conflict`] if they are being written.
    pub fn copied(&self, allocator: &Arc<dyn HostAllocator>) -> Result<Self, TensorError> {
        Ok(Self {
            dtype: self.dtype,
            shape: self.shape.clone(),
            buffer: HostBuffer::copied(allocator, &self.buffer.read()?)?,
        })
    }

    /// Creates a tensor with the elements of an operand, which a kernel may change and return. It
    /// reuses the operand's memory if the kernel holds the last reference, and is a copy otherwise.
    ///
    /// The kernel takes the operand as `&AnyRef`: the executor drops its own reference to a value
    /// with the last kernel that uses it.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_host::HostContext;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let host = HostContext::builder().build();
    /// let operand = AnyRef::available(DenseHostTensor::vector(&[1.0_f32, 2.0]).unwrap());
    /// let copy = {
    ///     let _another_reference = operand.clone();
    ///     DenseHostTensor::make_exclusive(&operand, host.allocator()).unwrap()
    /// };
    /// let itself = DenseHostTensor::make_exclusive(&operand, host.allocator()).unwrap();
    /// let place = |tensor: &DenseHostTensor| tensor.elements::<f32>().unwrap().as_ptr();
    /// assert_ne!(place(&copy), place(&itself));
    /// assert_eq!(place(&operand.try_read().unwrap()), place(&itself));
    /// ```
    ///
    /// # Errors
    /// If the operand is not a dense tensor, or is being written; the errors of
    /// [`copied`](Self::copied).
    pub fn make_exclusive(
        operand: &AnyRef,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<Self, Error> {
        let tensor = operand
            .try_read::<Self>()
            .map_err(|error| Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument))?;
        if operand.is_unique() && tensor.is_exclusive() {
            return Ok(tensor.clone());
        }
        Ok(tensor.copied(allocator)?)
    }

    /// Returns a tensor that shares the elements, with another shape of the same size.
    ///
    /// # Errors
    /// [`TensorError::WrongNumElements`].
    pub fn reshaped(&self, shape: Shape) -> Result<Self, TensorError> {
        if shape.num_elements() != self.num_elements() {
            return Err(TensorError::WrongNumElements {
                expected: self.num_elements(),
                found: shape.num_elements(),
            });
        }
        Ok(Self {
            dtype: self.dtype,
            shape,
            buffer: self.buffer.clone(),
        })
    }

    /// Returns the type of the elements and the shape.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(self.dtype, &self.shape)
    }

    /// Returns the type of the elements.
    #[inline]
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the sizes of the dimensions.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the number of elements.
    #[inline]
    #[must_use]
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// Returns the buffer of the elements.
    #[inline]
    #[must_use]
    pub fn buffer(&self) -> &HostBuffer {
        &self.buffer
    }

    /// Returns the buffer, for writing bytes regardless of their type.
    #[inline]
    #[must_use]
    pub fn buffer_mut(&mut self) -> &mut HostBuffer {
        &mut self.buffer
    }

    /// Returns the buffer of the elements.
    #[must_use]
    pub fn into_buffer(self) -> HostBuffer {
        self.buffer
    }

    /// Returns `true` if this tensor is the only holder of memory that came from an allocator, so a
    /// result may reuse it.
    #[inline]
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.buffer.is_exclusive()
    }

    /// Borrows the elements for reading, in row-major order.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`], and [`TensorError::Conflict`] if they are being written.
    #[inline]
    pub fn elements<T: Element>(&self) -> Result<Elements<'_, T>, TensorError> {
        self.expect::<T>()?;
        self.buffer.elements()
    }

    /// Borrows the elements for writing, in row-major order.
    ///
    /// # Errors
    /// [`TensorError::WrongDType`], and [`TensorError::Conflict`] if they are being read or
    /// written, or are read-only.
    #[inline]
    pub fn elements_mut<T: Element>(&mut self) -> Result<ElementsMut<'_, T>, TensorError> {
        self.expect::<T>()?;
        self.buffer.elements_mut()
    }

    /// Borrows the elements for reading for the lifetime of the result, for tasks that continue
    /// after the kernel has returned.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements).
    pub fn elements_owned<T: Element>(&self) -> Result<OwnedElements<T>, TensorError> {
        self.expect::<T>()?;
        self.buffer.elements_owned()
    }

    /// Borrows the elements for writing for the lifetime of the result, for tasks that continue
    /// after the kernel has returned.
    ///
    /// # Errors
    /// Those of [`elements_mut`](Self::elements_mut).
    pub fn elements_mut_owned<T: Element>(&mut self) -> Result<OwnedElementsMut<T>, TensorError> {
        self.expect::<T>()?;
        self.buffer.elements_mut_owned()
    }

    /// Borrows the elements for reading by coordinates.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements), and [`TensorError::Shape`] for another rank.
    pub fn view<T: Element, const RANK: usize>(
        &self,
    ) -> Result<TensorView<'_, T, RANK>, TensorError> {
        let shape = FixedRankShape::try_from(self.shape())?;
        Ok(TensorView::new(shape, self.elements()?))
    }

    /// Borrows the elements for writing by coordinates.
    ///
    /// # Errors
    /// Those of [`elements_mut`](Self::elements_mut), and [`TensorError::Shape`] for another rank.
    pub fn view_mut<T: Element, const RANK: usize>(
        &mut self,
    ) -> Result<TensorViewMut<'_, T, RANK>, TensorError> {
        let shape = FixedRankShape::try_from(self.shape())?;
        Ok(TensorViewMut::new(shape, self.elements_mut()?))
    }

    /// Returns all elements in the format of programs, separated by commas.
    ///
    /// # Errors
    /// [`TensorError::Conflict`] if they are being written; [`TensorError::NoElements`] for types
    /// without elements.
    pub fn elements_text(&self) -> Result<String, TensorError> {
        with_element!(self.dtype(), T => tensor::List(&self.elements::<T>()?).to_string())
    }

    /// Returns the only element.
    ///
    /// # Errors
    /// Those of [`elements`](Self::elements), and [`TensorError::WrongNumElements`] unless there is
    /// exactly one.
    pub fn to_scalar<T: Element>(&self) -> Result<T, TensorError> {
        match *self.elements::<T>()? {
            [element] => Ok(element),
            ref elements => Err(TensorError::WrongNumElements {
                expected: 1,
                found: elements.len(),
            }),
        }
    }

    /// Checks that the tensor has this shape.
    ///
    /// # Errors
    /// [`TensorError::WrongShape`].
    pub fn expect_shape(&self, expected: &Shape) -> Result<(), TensorError> {
        if self.shape() == expected {
            return Ok(());
        }
        Err(TensorError::WrongShape {
            expected: Box::new(expected.clone()),
            found: Box::new(self.shape().clone()),
        })
    }

    #[inline]
    fn expect<T: Element>(&self) -> Result<(), TensorError> {
        if self.dtype() == T::DTYPE {
            Ok(())
        } else {
            Err(TensorError::WrongDType {
                expected: T::DTYPE,
                found: self.dtype(),
            })
        }
    }
}

/// So many elements are printed.
const MAX_PRINTED: usize = 16;

impl Tensor for DenseHostTensor {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn tensor_type(&self) -> TensorType {
        TensorType::DENSE_HOST
    }

    fn to_text(&self) -> Result<String, TensorError> {
        with_element!(self.dtype(), T => {
            let elements = self.elements::<T>()?;
            let shown = tensor::List(&elements[..elements.len().min(MAX_PRINTED)]);
            let end = if elements.len() > MAX_PRINTED { ", ... ]" } else { "]" };
            format!("DenseHostTensor dtype = {}, shape = {}, values = [{shown}{end}", self.dtype(), self.shape())
        })
    }
}

tensor::impl_text!(DenseHostTensor);

/// Nearly every kernel on tensors checks that an operand is a dense tensor.
static INDEX: IndexCell<DenseHostTensor> = IndexCell::new();

impl Value for DenseHostTensor {
    const MLIR_TYPE: &'static str = tensor::TENSOR_MLIR_TYPE;
    const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = Some(|| &INDEX);
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
    // The bytes keep their borrows: see `BufferConflict`.
    const HANDLE: Option<fn(&Self) -> Self> = Some(Self::clone);
    const ROOM: Option<Room<Self>> = {
        let layout = Room::<Self>::layout();
        let fits = layout.size() <= HostBuffer::ROOM_BYTES && layout.align() <= 64;
        // Under the model checker, atomics keep their history, so that values are larger.
        assert!(
            fits || cfg!(loom),
            "a value of a dense tensor fits the room of its buffer"
        );
        match fits {
            // SAFETY: 1: the buffer keeps the room, which is large enough, for the value until
            // `release_room`, even if its last handle is dropped.
            true => Some(unsafe {
                Room::new(
                    |tensor| tensor.buffer.claim_room(),
                    HostBuffer::release_room,
                )
            }),
            false => None,
        }
    };
}

impl Immutable for DenseHostTensor {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::BufferConflict;
    use crate::testing::malloc;

    #[test]
    fn a_tensor_of_the_same_shape_has_as_many_elements_whatever_their_type() {
        for dims in [&[][..], &[3], &[2, 3], &[2, 0]] {
            let shape = Shape::new(dims).unwrap();
            let tensor = DenseHostTensor::filled(&malloc(), shape.clone(), 7_i32).unwrap();
            let ones = |elements: &mut [i32]| elements.fill(1);
            let same = tensor
                .computed_like(&malloc(), ones, |error| error)
                .unwrap();
            let ones = |elements: &mut [f64]| elements.fill(1.0);
            let wider = tensor
                .computed_like(&malloc(), ones, |error| error)
                .unwrap();
            assert_eq!((same.shape(), wider.shape()), (&shape, &shape));
            assert_eq!(
                *same.elements::<i32>().unwrap(),
                vec![1; shape.num_elements()]
            );
            assert_eq!(
                *wider.elements::<f64>().unwrap(),
                vec![1.0; shape.num_elements()]
            );
        }
    }

    #[test]
    fn elements_are_of_one_type() {
        let tensor = DenseHostTensor::filled(&malloc(), Shape::scalar(), 7_i32).unwrap();
        assert_eq!(
            tensor.elements::<f32>().unwrap_err(),
            TensorError::WrongDType {
                expected: DType::F32,
                found: DType::I32
            }
        );
        assert_eq!(tensor.to_scalar::<i32>(), Ok(7));
    }

    #[test]
    fn tensors_of_one_buffer_are_not_written_while_read() {
        let tensor = DenseHostTensor::filled(&malloc(), Shape::new(&[4]).unwrap(), 1_u8).unwrap();
        let mut twin = tensor.reshaped(Shape::new(&[2, 2]).unwrap()).unwrap();
        let reading = tensor.elements::<u8>().unwrap();
        assert_eq!(
            twin.elements_mut::<u8>().unwrap_err(),
            TensorError::Conflict(BufferConflict::Read)
        );
        drop(reading);
        twin.elements_mut::<u8>().unwrap().fill(9);
        assert_eq!(*tensor.elements::<u8>().unwrap(), [9; 4]);
        assert!(!tensor.is_exclusive());
    }

    #[test]
    fn a_buffer_becomes_a_tensor_only_if_it_fits() {
        let buffer = HostBuffer::zeroed(&malloc(), 12, 4).unwrap();
        let make = |dtype, dims: &[usize], buffer: &HostBuffer| {
            DenseHostTensor::from_buffer(dtype, Shape::new(dims).unwrap(), buffer.clone())
        };
        assert!(make(DType::I32, &[3], &buffer).is_ok());
        assert_eq!(
            make(DType::F32, &[2, 2], &buffer).unwrap_err(),
            TensorError::WrongBufferSize {
                expected: 16,
                found: 12
            }
        );
        assert_eq!(
            make(DType::I16, &[3], &buffer.slice(1, 6).unwrap()).unwrap_err(),
            TensorError::Misaligned { expected: 2 }
        );
        assert_eq!(
            make(DType::String, &[3], &buffer).unwrap_err(),
            TensorError::NoElements {
                dtype: DType::String
            }
        );
    }

    #[test]
    fn copies_are_independent() {
        let tensor = DenseHostTensor::filled(&malloc(), Shape::new(&[2]).unwrap(), 1_i64).unwrap();
        let mut copy = tensor.copied(&malloc()).unwrap();
        copy.elements_mut::<i64>().unwrap()[0] = 5;
        assert_eq!(*tensor.elements::<i64>().unwrap(), [1, 1]);
    }

    #[test]
    fn sixteen_elements_are_printed_whole() {
        let text = |len| {
            DenseHostTensor::from_fn(&malloc(), Shape::new(&[len]).unwrap(), |index| index as i8)
                .unwrap()
                .to_string()
        };
        assert_eq!(
            text(0),
            "DenseHostTensor dtype = i8, shape = [0], values = []"
        );
        assert!(text(16).ends_with("14, 15]"));
        assert!(text(17).ends_with("14, 15, ... ]"));
    }

    /// Returns the address of the first element.
    fn place(tensor: &DenseHostTensor) -> usize {
        tensor.buffer.address()
    }

    #[test]
    fn a_value_of_a_small_tensor_lies_in_the_memory_of_its_elements() {
        let value = AnyRef::available(DenseHostTensor::vector(&[1.0_f32; 16]).unwrap());
        let tensor = value.get::<DenseHostTensor>().unwrap();
        assert!(tensor.is_exclusive() && value.is_unique());
        let distance = place(tensor) - value.address();
        assert_eq!(distance, HostBuffer::ROOM_BYTES + 64);
        // One block has room for one value.
        let other = AnyRef::available(tensor.clone());
        let other_place = place(other.get().unwrap());
        assert_eq!(other_place, place(tensor));
        assert_ne!(other_place.wrapping_sub(other.address()), distance);
        let large = AnyRef::available(DenseHostTensor::vector(&[1.0_f32; 17]).unwrap());
        let large_place = place(large.get().unwrap());
        assert_ne!(large_place.wrapping_sub(large.address()), distance);
    }

    #[test]
    fn elements_outlive_the_value_in_their_memory() {
        let value = AnyRef::available(DenseHostTensor::vector(&[1_i32, 2]).unwrap());
        let tensor = value.get::<DenseHostTensor>().unwrap().clone();
        assert!(!tensor.is_exclusive());
        drop(value);
        assert!(tensor.is_exclusive());
        assert_eq!(*tensor.elements::<i32>().unwrap(), [1, 2]);
        // The room is free again.
        let distance = HostBuffer::ROOM_BYTES + 64;
        let start = place(&tensor);
        let value = AnyRef::available(tensor);
        assert_eq!(start - value.address(), distance);
    }

    #[test]
    fn a_value_outlives_the_elements_in_its_block() {
        let mut value = AnyRef::available(DenseHostTensor::vector(&[1_i32, 2]).unwrap());
        let other = DenseHostTensor::vector(&[3_i32]).unwrap();
        let first = std::mem::replace(value.get_mut().unwrap(), other);
        drop(first);
        // The block of the first tensor is still that of the value: nothing else gets it.
        let more: Vec<DenseHostTensor> = (0..64)
            .map(|number| DenseHostTensor::vector(&[number; 16]).unwrap())
            .collect();
        let tensor = value.get::<DenseHostTensor>().unwrap();
        assert_eq!(*tensor.elements::<i32>().unwrap(), [3]);
        drop((value, more));
    }

    #[test]
    fn small_tensors_of_values_are_on_the_account_of_their_request() {
        use tfrt_host::allocator::RequestMemory;

        let request = Arc::new(RequestMemory::new(malloc(), 2 * (64 + 8)));
        let allocator: Arc<dyn HostAllocator> = request.clone();
        let vector = |number: i32| {
            let shape = Shape::new(&[2]).unwrap();
            DenseHostTensor::from_elements(&allocator, shape, &[number; 2])
        };
        let first = AnyRef::available(vector(1).unwrap());
        let second = vector(2).unwrap();
        assert_eq!(request.num_bytes(), 2 * (64 + 8));
        let refused = vector(3).unwrap_err();
        assert_eq!(refused, TensorError::OutOfMemory { size_bytes: 8 });
        let mut value = AnyRef::available(second);
        drop(first);
        assert_eq!(request.num_bytes(), 64 + 8);
        // The account ends with the elements, although the value still has its room.
        *value.get_mut().unwrap() = DenseHostTensor::vector(&[4_i32]).unwrap();
        assert_eq!(request.num_bytes(), 0);
    }

    #[test]
    fn value_and_elements_end_on_two_threads() {
        let allocator = malloc();
        for _ in 0..1000 {
            let shape = Shape::new(&[4]).unwrap();
            let tensor = DenseHostTensor::filled(&allocator, shape, 7_i32).unwrap();
            let value = AnyRef::available(tensor);
            let tensor = value.get::<DenseHostTensor>().unwrap().clone();
            std::thread::scope(|scope| {
                scope.spawn(move || drop(value));
                assert_eq!(*tensor.elements::<i32>().unwrap(), [7; 4]);
                drop(tensor);
            });
        }
    }
}
