//! Tensors of a file.
//!
//! The elements of a tensor are in one of three places: as raw bytes in the message, as numbers in
//! a typed field, or in another file. Raw bytes are not copied if they are aligned for their type,
//! so a tensor is a part of the mapped file.

use std::sync::Arc;

use bytes::Bytes;
use half::{bf16, f16};
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_import::files::FolderFiles;
use tfrt_import::names::shown;
use tfrt_import::{ImportError, Limit, Limits};
use tfrt_support::DType;
use tfrt_support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, I1, Shape, StringHostTensor};

use crate::element_type::ElementType;
use crate::external::{self, ExternalData};
use crate::proto::tensor_proto::DataLocation;
use crate::proto::{SparseTensorProto, TensorProto};

/// The elements of a tensor of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TensorData {
    /// Elements that all have one size.
    Dense(DenseHostTensor),
    /// Texts.
    Strings(StringHostTensor),
    /// Elements of a type that we do not have.
    Unsupported,
}

/// A tensor of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tensor {
    /// Its name, which may be empty.
    pub name: String,
    /// The type of its elements.
    pub element_type: ElementType,
    /// Its extents.
    pub dims: Vec<usize>,
    /// Its elements.
    pub data: TensorData,
    /// Where its elements lie as they are in memory, if they do.
    pub place: Option<TensorPlace>,
}

/// The place of a tensor's elements, in little-endian order.
///
/// ```
/// use tfrt_onnx::tensor::TensorPlace;
///
/// let place = TensorPlace { file: None, offset: 97 };
/// assert!(place.file.is_none(), "the file of the model itself");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlace {
    /// The file, by its path from the folder of the model; none for the model itself.
    pub file: Option<String>,
    /// The first byte.
    pub offset: u64,
}

/// The maximum product of an empty tensor's other extents.
const MAX_EMPTY_STEPS: u128 = 1 << 31;

impl Tensor {
    /// Creates a tensor of ours, as one of a file.
    ///
    /// # Errors
    /// If ONNX does not have its element type.
    pub fn of(name: &str, tensor: DenseHostTensor) -> Result<Self, ImportError> {
        let element_type = ElementType::from_dtype(tensor.dtype())
            .ok_or_else(|| ImportError::new(format!("ONNX has no type for {}", tensor.dtype())))?;
        Ok(Self {
            name: name.to_owned(),
            element_type,
            dims: tensor.shape().dims().to_vec(),
            data: TensorData::Dense(tensor),
            place: None,
        })
    }

    /// Returns the elements, if they are of a type with a size that we have.
    #[must_use]
    pub fn dense(&self) -> Option<&DenseHostTensor> {
        match &self.data {
            TensorData::Dense(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// The context for reading tensors: the file of the messages, the files next to it, and the limits.
#[derive(Clone, Debug)]
pub(crate) struct TensorReader {
    pub(crate) file: HostBuffer,
    pub(crate) external: FolderFiles,
    pub(crate) limits: Limits,
}

impl TensorReader {
    /// Reads a tensor.
    pub(crate) fn read(&self, proto: &TensorProto) -> Result<Tensor, ImportError> {
        let name = proto.name();
        self.read_unnamed(proto)
            .map_err(|error| error.within(format!("tensor `{}`", shown(name))))
    }

    fn read_unnamed(&self, proto: &TensorProto) -> Result<Tensor, ImportError> {
        let element_type = ElementType::from_code(proto.data_type()).ok_or_else(|| {
            ImportError::new(format!("unknown element type {}", proto.data_type()))
        })?;
        let (shape, num_elements) = self.shape(&proto.dims)?;
        if proto.segment.is_some() {
            return Err(ImportError::new("segmented tensors are not supported"));
        }
        if proto.data_location() == DataLocation::External {
            if stores_elements(proto) {
                return Err(ImportError::new(
                    "expected elements in the model or in an external file, found both",
                ));
            }
            let expected = size_bytes(element_type, num_elements)?;
            let place = ExternalData::of(&proto.external_data)?;
            let bytes = external::read(&self.external, &place, expected)?;
            let place = TensorPlace {
                file: Some(place.location),
                offset: place.offset,
            };
            return self.of_buffer(proto, element_type, shape, bytes, Some(place));
        }
        if let Some(raw) = &proto.raw_data {
            let mut without_raw = proto.clone();
            without_raw.raw_data = None;
            if stores_elements(&without_raw) {
                return Err(ImportError::new(
                    "expected elements in `raw_data` or in a typed field, found both",
                ));
            }
            let expected = size_bytes(element_type, num_elements)?;
            if raw.len() as u64 != expected {
                return Err(ImportError::new(format!(
                    "expected {expected} bytes for {element_type} {shape}, found {}",
                    raw.len()
                )));
            }
            let (bytes, place) = self.part_of_file(raw)?;
            return self.of_buffer(proto, element_type, shape, bytes, place);
        }
        let data = typed_data(proto, element_type, shape.clone(), num_elements)?;
        Ok(Tensor {
            name: proto.name().to_owned(),
            element_type,
            dims: shape.dims().to_vec(),
            data,
            place: None,
        })
    }

    /// Returns the checked extents of a tensor, and the number of elements.
    fn shape(&self, dims: &[i64]) -> Result<(Shape, u64), ImportError> {
        self.limits.check(Limit::Rank, dims.len() as u64)?;
        let mut num_elements: u128 = 1;
        // Extents without elements are loops without end all the same.
        let mut num_steps: u128 = 1;
        let mut extents = Vec::with_capacity(dims.len());
        for &dim in dims {
            let extent = u64::try_from(dim).map_err(|_| {
                ImportError::new(format!("expected dimensions of at least 0, found {dim}"))
            })?;
            self.limits.check(Limit::Extent, extent)?;
            num_elements = num_elements.saturating_mul(u128::from(extent));
            num_steps = num_steps.saturating_mul(u128::from(extent.max(1)));
            extents.push(extent as usize);
        }
        let too_many =
            || ImportError::new(format!("a tensor of shape {dims:?} does not fit in memory"));
        let num_elements = u64::try_from(num_elements).map_err(|_| too_many())?;
        if num_elements == 0 && num_steps > MAX_EMPTY_STEPS {
            return Err(ImportError::new(format!(
                "a tensor of shape {dims:?} is empty, but its other dimensions are too large"
            )));
        }
        let shape = Shape::new(&extents).map_err(|_| too_many())?;
        Ok((shape, num_elements))
    }

    fn of_buffer(
        &self,
        proto: &TensorProto,
        element_type: ElementType,
        shape: Shape,
        bytes: HostBuffer,
        place: Option<TensorPlace>,
    ) -> Result<Tensor, ImportError> {
        let dims = shape.dims().to_vec();
        let data = match element_type.dtype() {
            Some(DType::String) => {
                return Err(ImportError::new("strings cannot be stored as raw bytes"));
            }
            Some(dtype) => TensorData::Dense(dense_of_bytes(dtype, shape, bytes)?),
            None => TensorData::Unsupported,
        };
        Ok(Tensor {
            name: proto.name().to_owned(),
            element_type,
            dims,
            data,
            place,
        })
    }

    /// Bytes of a message as the part of the file that they are.
    fn part_of_file(
        &self,
        bytes: &Bytes,
    ) -> Result<(HostBuffer, Option<TensorPlace>), ImportError> {
        let (start, file) = (bytes.as_ptr().addr(), self.file.address());
        let offset = start.checked_sub(file).filter(|offset| {
            offset
                .checked_add(bytes.len())
                .is_some_and(|end| end <= self.file.len_bytes())
        });
        let found = match offset {
            Some(offset) if !bytes.is_empty() => {
                let place = TensorPlace {
                    file: None,
                    offset: offset as u64,
                };
                let part = self.file.slice(offset, bytes.len());
                part.map(|part| (part, Some(place)))
            }
            // A message that was not read from the file, or no bytes at all.
            _ => HostBuffer::from_owner(bytes.clone()).map(|bytes| (bytes, None)),
        };
        found.map_err(|error| ImportError::new(error.to_string()))
    }

    /// Reads a sparse tensor, as the dense one that it stands for.
    pub(crate) fn read_sparse(&self, proto: &SparseTensorProto) -> Result<Tensor, ImportError> {
        let values = proto.values.as_ref();
        let values = values.ok_or_else(|| ImportError::new("a sparse tensor has no values"))?;
        let dense = self.read_sparse_unnamed(proto, values);
        dense.map_err(|error| error.within(format!("sparse tensor `{}`", shown(values.name()))))
    }

    fn read_sparse_unnamed(
        &self,
        proto: &SparseTensorProto,
        values: &TensorProto,
    ) -> Result<Tensor, ImportError> {
        let (shape, num_elements) = self.shape(&proto.dims)?;
        let values = self.read_unnamed(values)?;
        let size = size_bytes(values.element_type, num_elements)?;
        self.limits.check(Limit::DenseBytes, size)?;
        let indices = proto.indices.as_ref();
        let indices = indices.ok_or_else(|| ImportError::new("it has no indices"))?;
        let indices = self.read_unnamed(indices)?;
        let (Some(from), Some(indices)) = (values.dense(), indices.dense()) else {
            return Ok(Tensor {
                dims: shape.dims().to_vec(),
                data: TensorData::Unsupported,
                place: None,
                ..values
            });
        };
        let places = linear_places(&shape, indices, from.num_elements())?;
        let mut dense = DenseHostTensor::zeroed(&malloc(), from.dtype(), shape.clone())
            .map_err(tensor_error)?;
        {
            let width = from.dtype().size_bytes().unwrap_or(1);
            let bytes = from.buffer().read().map_err(tensor_error)?;
            let mut target = dense.buffer_mut().write().map_err(tensor_error)?;
            for (value, &place) in bytes.chunks_exact(width).zip(&places) {
                target[place * width..][..width].copy_from_slice(value);
            }
        }
        Ok(Tensor {
            dims: shape.dims().to_vec(),
            data: TensorData::Dense(dense),
            place: None,
            ..values
        })
    }
}

/// Returns the places of the values of a sparse tensor: `indices` has one number or one row of
/// coordinates for each.
fn linear_places(
    shape: &Shape,
    indices: &DenseHostTensor,
    num_values: usize,
) -> Result<Vec<usize>, ImportError> {
    let numbers = indices
        .elements::<i64>()
        .map_err(|_| ImportError::new("expected indices of type INT64"))?;
    let (dims, index_dims) = (shape.dims(), indices.shape().dims());
    let outside = |row: &[i64]| {
        ImportError::new(format!(
            "the index {row:?} is out of bounds for a tensor of shape {shape}"
        ))
    };
    if index_dims == [num_values] {
        let places = numbers.iter().map(|&number| {
            let place = usize::try_from(number).ok();
            let place = place.filter(|&place| place < shape.num_elements());
            place.ok_or_else(|| outside(&[number]))
        });
        return places.collect();
    }
    if index_dims != [num_values, dims.len()] {
        return Err(ImportError::new(format!(
            "expected indices of shape [{num_values}] or [{num_values}, {}], found {}",
            dims.len(),
            indices.shape()
        )));
    }
    let rows = (0..num_values).map(|row| &numbers[row * dims.len()..][..dims.len()]);
    let places = rows.map(|row| {
        row.iter()
            .zip(dims)
            .try_fold(0, |place, (&index, &extent)| {
                let index = usize::try_from(index).ok();
                let index = index.filter(|&index| index < extent);
                Ok(place * extent + index.ok_or_else(|| outside(row))?)
            })
    });
    places.collect()
}

/// Returns the size of this many elements, with sub-byte elements packed.
fn size_bytes(element_type: ElementType, num_elements: u64) -> Result<u64, ImportError> {
    let bits = element_type
        .bits()
        .ok_or_else(|| ImportError::new(format!("{element_type} cannot be stored as raw bytes")))?;
    num_elements
        .checked_mul(bits)
        .map(|bits| bits.div_ceil(8))
        .ok_or_else(|| ImportError::new("the elements do not fit in memory"))
}

/// Returns `true` if a message holds elements.
fn stores_elements(proto: &TensorProto) -> bool {
    proto.raw_data.as_ref().is_some_and(|raw| !raw.is_empty())
        || !proto.float_data.is_empty()
        || !proto.int32_data.is_empty()
        || !proto.int64_data.is_empty()
        || !proto.string_data.is_empty()
        || !proto.double_data.is_empty()
        || !proto.uint64_data.is_empty()
}

/// Returns a tensor of little-endian bytes: the bytes themselves, if they are aligned for their
/// type.
fn dense_of_bytes(
    dtype: DType,
    shape: Shape,
    bytes: HostBuffer,
) -> Result<DenseHostTensor, ImportError> {
    let align = dtype.align_bytes().unwrap_or(1);
    let bytes = if bytes.address().is_multiple_of(align) {
        bytes
    } else {
        let read = bytes.read().map_err(tensor_error)?;
        let copied = HostBuffer::copied(&malloc(), &read).map_err(tensor_error)?;
        bytes.give_back();
        copied
    };
    DenseHostTensor::from_buffer(dtype, shape, bytes).map_err(tensor_error)
}

fn typed_data(
    proto: &TensorProto,
    element_type: ElementType,
    shape: Shape,
    num_elements: u64,
) -> Result<TensorData, ImportError> {
    let Some(dtype) = element_type.dtype() else {
        return Ok(TensorData::Unsupported);
    };
    let floats = || of_numbers("float_data", &proto.float_data, &shape, |x: f32| x);
    let narrow = &proto.int32_data;
    // What does not fit the element type is cut, as where files are written.
    let dense = match dtype {
        DType::F32 => floats()?,
        DType::F64 => of_numbers("double_data", &proto.double_data, &shape, |x: f64| x)?,
        DType::I64 => of_numbers("int64_data", &proto.int64_data, &shape, |x: i64| x)?,
        DType::Ui64 => of_numbers("uint64_data", &proto.uint64_data, &shape, |x: u64| x)?,
        DType::Ui32 => of_numbers("uint64_data", &proto.uint64_data, &shape, |x: u64| x as u32)?,
        DType::I32 => of_numbers("int32_data", narrow, &shape, |x: i32| x)?,
        DType::I16 => of_numbers("int32_data", narrow, &shape, |x: i32| x as i16)?,
        DType::I8 => of_numbers("int32_data", narrow, &shape, |x: i32| x as i8)?,
        DType::Ui16 => of_numbers("int32_data", narrow, &shape, |x: i32| x as u16)?,
        DType::Ui8 => of_numbers("int32_data", narrow, &shape, |x: i32| x as u8)?,
        DType::I1 => of_numbers("int32_data", narrow, &shape, |x: i32| I1::from(x != 0))?,
        DType::F16 => of_numbers("int32_data", narrow, &shape, |x: i32| {
            f16::from_bits(x as u16)
        })?,
        DType::Bf16 => of_numbers("int32_data", narrow, &shape, |x: i32| {
            bf16::from_bits(x as u16)
        })?,
        DType::Complex64 => of_pairs("float_data", &proto.float_data, &shape)?,
        DType::Complex128 => of_pairs("double_data", &proto.double_data, &shape)?,
        DType::String => {
            expect_count("string_data", num_elements, proto.string_data.len())?;
            let strings = proto.string_data.iter();
            let strings = strings.map(|text| text.to_vec()).collect();
            let tensor = StringHostTensor::new(shape, strings).map_err(tensor_error)?;
            return Ok(TensorData::Strings(tensor));
        }
        other => {
            return Err(ImportError::new(format!(
                "{other} cannot be stored in a typed field"
            )));
        }
    };
    Ok(TensorData::Dense(dense))
}

fn expect_count(field: &str, expected: u64, found: usize) -> Result<(), ImportError> {
    if expected == found as u64 {
        return Ok(());
    }
    Err(ImportError::new(format!(
        "expected {expected} elements in `{field}`, found {found}"
    )))
}

fn of_numbers<From: Copy, To: Element>(
    field: &str,
    numbers: &[From],
    shape: &Shape,
    convert: impl Fn(From) -> To,
) -> Result<DenseHostTensor, ImportError> {
    expect_count(field, shape.num_elements() as u64, numbers.len())?;
    DenseHostTensor::from_fn(&malloc(), shape.clone(), |index| convert(numbers[index]))
        .map_err(tensor_error)
}

fn of_pairs<T: Copy>(
    field: &str,
    numbers: &[T],
    shape: &Shape,
) -> Result<DenseHostTensor, ImportError>
where
    Complex<T>: Element,
{
    expect_count(field, 2 * shape.num_elements() as u64, numbers.len())?;
    DenseHostTensor::from_fn(&malloc(), shape.clone(), |index| Complex {
        re: numbers[2 * index],
        im: numbers[2 * index + 1],
    })
    .map_err(tensor_error)
}

fn tensor_error(error: tfrt_tensor::TensorError) -> ImportError {
    ImportError::new(error.to_string())
}

/// Memory of the process.
pub(crate) fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}
