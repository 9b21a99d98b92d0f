//! Tensors as record batches: one column of the type `arrow.fixed_shape_tensor`, and one row.
//!
//! The type is an extension of lists of a fixed size: the elements of the tensor are the elements
//! of the list, in row-major order, and the metadata of the column has the shape as JSON. The
//! column is read by hand: the extension types of Arrow's crate take `permutations` for the name of
//! `permutation`. So are batches: the reader of that crate panics at some that are damaged.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_flight::FlightData;
use arrow_flight::utils::batches_to_flight_data;
use arrow_ipc::{Endianness, MessageHeader, root_as_message};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde_json::{Value, json};
use tfrt_host::allocator::HostAllocator;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, HostBuffer, I1, Shape, TensorError, size_bytes};
use tonic::Status;

/// The name of the extension type.
const EXTENSION: &str = "arrow.fixed_shape_tensor";

/// The name of the column that is sent. Columns that are received may have any name.
const COLUMN: &str = "tensor";

/// The type of the elements in Arrow, if there is one.
fn arrow_type(dtype: DType) -> Option<DataType> {
    Some(match dtype {
        DType::Ui8 => DataType::UInt8,
        DType::Ui16 => DataType::UInt16,
        DType::Ui32 => DataType::UInt32,
        DType::Ui64 => DataType::UInt64,
        DType::I1 => DataType::Boolean,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::F16 => DataType::Float16,
        DType::F32 => DataType::Float32,
        DType::F64 => DataType::Float64,
        // Not numbers of one element: Arrow has no type for them.
        DType::Bf16
        | DType::Complex64
        | DType::Complex128
        | DType::String
        | DType::Resource
        | DType::Variant
        | DType::QUi8
        | DType::QUi16
        | DType::QI8
        | DType::QI16
        | DType::QI32 => return None,
    })
}

/// Returns the schema of tensors with this metadata.
pub(super) fn schema(dtype: DType, shape: &Shape) -> Result<Schema, Status> {
    let element = arrow_type(dtype).ok_or_else(|| {
        let message = format!("Arrow has no type for the elements of a tensor of {dtype}");
        Status::failed_precondition(message)
    })?;
    let size = i32::try_from(shape.num_elements()).map_err(|_| {
        let found = shape.num_elements();
        Status::failed_precondition(format!(
            "a list of Arrow has at most {} elements, and the tensor has {found}",
            i32::MAX
        ))
    })?;
    let list = DataType::FixedSizeList(Arc::new(Field::new_list_field(element, true)), size);
    let field = Field::new(COLUMN, list, false).with_metadata(HashMap::from([
        (EXTENSION_TYPE_NAME_KEY.to_owned(), EXTENSION.to_owned()),
        (
            EXTENSION_TYPE_METADATA_KEY.to_owned(),
            json!({ "shape": shape.dims() }).to_string(),
        ),
    ]));
    Ok(Schema::new(vec![field]))
}

/// Encodes a tensor: the schema, and a record batch with one row.
pub(super) fn encode(tensor: &DenseHostTensor) -> Result<Vec<FlightData>, Status> {
    let schema = Arc::new(schema(tensor.dtype(), tensor.shape())?);
    let unreadable = |error: TensorError| Status::unavailable(error.to_string());
    let unencoded = |error: ArrowError| Status::internal(error.to_string());
    let DataType::FixedSizeList(element, size) = schema.field(0).data_type() else {
        return Err(Status::internal("the column is not a list"));
    };
    let values: ArrayRef = match tensor.dtype() {
        DType::I1 => {
            let elements = tensor.elements::<I1>().map_err(unreadable)?;
            let truths = elements.iter().map(|truth| bool::from(*truth));
            Arc::new(BooleanArray::from(truths.collect::<Vec<bool>>()))
        }
        dtype => {
            // In memory of Arrow, which is aligned for all types.
            let bytes = tensor.buffer().read().map_err(unreadable)?;
            let buffer = Buffer::from(&*bytes);
            numbers(dtype, buffer, tensor.num_elements()).map_err(unencoded)?
        }
    };
    let list = FixedSizeListArray::try_new_with_length(Arc::clone(element), *size, values, None, 1);
    let column: ArrayRef = Arc::new(list.map_err(unencoded)?);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).map_err(unencoded)?;
    batches_to_flight_data(&schema, [&batch]).map_err(unencoded)
}

fn numbers(dtype: DType, buffer: Buffer, num_elements: usize) -> Result<ArrayRef, ArrowError> {
    fn of<T: ArrowPrimitiveType>(buffer: Buffer, len: usize) -> Result<ArrayRef, ArrowError> {
        let elements = ScalarBuffer::new(buffer, 0, len);
        Ok(Arc::new(PrimitiveArray::<T>::try_new(elements, None)?))
    }
    match dtype {
        DType::Ui8 => of::<UInt8Type>(buffer, num_elements),
        DType::Ui16 => of::<UInt16Type>(buffer, num_elements),
        DType::Ui32 => of::<UInt32Type>(buffer, num_elements),
        DType::Ui64 => of::<UInt64Type>(buffer, num_elements),
        DType::I8 => of::<Int8Type>(buffer, num_elements),
        DType::I16 => of::<Int16Type>(buffer, num_elements),
        DType::I32 => of::<Int32Type>(buffer, num_elements),
        DType::I64 => of::<Int64Type>(buffer, num_elements),
        DType::F16 => of::<Float16Type>(buffer, num_elements),
        DType::F32 => of::<Float32Type>(buffer, num_elements),
        DType::F64 => of::<Float64Type>(buffer, num_elements),
        other => Err(ArrowError::NotYetImplemented(other.to_string())),
    }
}

/// The type of the tensors in a stream.
#[derive(Debug)]
pub(super) struct TensorSchema {
    dtype: DType,
    shape: Shape,
}

impl TensorSchema {
    /// Parses the first message of a stream, the schema.
    pub(super) fn parse(data: &FlightData) -> Result<Self, Status> {
        let found = header_of(data)?;
        if found != MessageHeader::Schema {
            return Err(unexpected("the schema", found));
        }
        let malformed =
            |error: &dyn std::fmt::Display| invalid(format!("malformed schema: {error}"));
        let message = root_as_message(&data.data_header).map_err(|error| malformed(&error))?;
        let is_little = |schema: arrow_ipc::Schema<'_>| schema.endianness() == Endianness::Little;
        if !message.header_as_schema().is_some_and(is_little) {
            return Err(invalid("expected numbers whose lowest byte comes first"));
        }
        let schema = Schema::try_from(data).map_err(|error| malformed(&error))?;
        let [field] = &schema.fields()[..] else {
            let found = schema.fields().len();
            return Err(invalid(format!("expected 1 column, found {found}")));
        };
        let (dtype, shape) = Self::of(field)?;
        Ok(Self { dtype, shape })
    }

    fn of(field: &Field) -> Result<(DType, Shape), Status> {
        let (name, data_type) = (field.name(), field.data_type());
        let wrong = |message: String| invalid(format!("column `{name}`: {message}"));
        if field.extension_type_name() != Some(EXTENSION) {
            let found = field
                .extension_type_name()
                .map_or_else(|| data_type.to_string(), str::to_owned);
            return Err(wrong(format!(
                "expected the type `{EXTENSION}`, found `{found}`"
            )));
        }
        let DataType::FixedSizeList(element, size) = data_type else {
            return Err(wrong(format!(
                "expected a list of fixed size as the storage of `{EXTENSION}`, found `{data_type}`"
            )));
        };
        let mut known = DType::ALL.into_iter();
        let is_element = |dtype: &DType| arrow_type(*dtype).as_ref() == Some(element.data_type());
        let dtype = known.find(is_element).ok_or_else(|| {
            let found = element.data_type();
            wrong(format!(
                "expected elements that are numbers or Booleans, found `{found}`"
            ))
        })?;
        let shape = shape_of(field.extension_type_metadata().unwrap_or_default()).map_err(wrong)?;
        let num_elements = shape.num_elements();
        if usize::try_from(*size) != Ok(num_elements) {
            return Err(wrong(format!(
                "a tensor of the shape {shape} has {num_elements} elements, and the lists have \
                 {size}"
            )));
        }
        Ok((dtype, shape))
    }

    /// Decodes the second message of a stream, the record batch.
    pub(super) fn decode(
        &self,
        data: &FlightData,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor, Status> {
        let found = header_of(data)?;
        if found != MessageHeader::RecordBatch {
            return Err(unexpected("a record batch", found));
        }
        let message = root_as_message(&data.data_header);
        let message = message.map_err(|error| malformed_batch(error.to_string()))?;
        let batch = message
            .header_as_record_batch()
            .ok_or_else(|| malformed_batch("it is empty"))?;
        if batch.compression().is_some() {
            return Err(invalid("compressed record batches are not accepted"));
        }
        if batch.length() != 1 {
            let found = batch.length();
            return Err(invalid(format!(
                "expected a record batch with 1 row, which is the tensor, found {found} rows"
            )));
        }
        let elements = self.elements(batch, &data.data_body)?;
        let shape = self.shape.clone();
        let tensor = match self.dtype {
            DType::I1 => DenseHostTensor::from_fn(allocator, shape, |position| {
                I1::from((elements[position / 8] >> (position % 8)) & 1 == 1)
            }),
            dtype => HostBuffer::copied(allocator, elements)
                .and_then(|buffer| DenseHostTensor::from_buffer(dtype, shape, buffer)),
        };
        tensor.map_err(|error| match error {
            TensorError::OutOfMemory { .. } => Status::resource_exhausted(error.to_string()),
            error => malformed_batch(error.to_string()),
        })
    }

    /// Returns the bytes of the elements: those of the array of values, which is in the array of
    /// lists. Each has an entry, and a buffer that says which values are null.
    fn elements<'a>(
        &self,
        batch: arrow_ipc::RecordBatch<'_>,
        body: &'a [u8],
    ) -> Result<&'a [u8], Status> {
        let arrays = batch.nodes().into_iter().flatten();
        let arrays: Vec<_> = arrays
            .map(|node| (node.length(), node.null_count()))
            .collect();
        let [(num_lists, null_lists), (num_values, null_values)] = arrays[..] else {
            let found = arrays.len();
            return Err(malformed_batch(format!("expected 2 arrays, found {found}")));
        };
        let expected = (1, self.shape.num_elements());
        if i64::try_from(expected.1) != Ok(num_values) || num_lists != expected.0 {
            return Err(malformed_batch(format!(
                "expected {} list with {} elements, found {num_lists} with {num_values}",
                expected.0, expected.1
            )));
        }
        if null_lists != 0 {
            return Err(invalid("expected a tensor, found a null"));
        }
        match null_values {
            0 => {}
            1 => return Err(invalid("expected elements, found a null")),
            count => {
                return Err(invalid(format!("expected elements, found {count} nulls")));
            }
        }
        let buffers = batch.buffers().into_iter().flatten();
        let buffers: Vec<_> = buffers
            .map(|buffer| (buffer.offset(), buffer.length()))
            .collect();
        let [_, _, (offset, length)] = buffers[..] else {
            let found = buffers.len();
            return Err(malformed_batch(format!(
                "expected 3 buffers, found {found}"
            )));
        };
        let len_bytes = match self.dtype {
            // A bit each.
            DType::I1 => self.shape.num_elements().div_ceil(8),
            dtype => size_bytes(dtype, &self.shape)
                .map_err(|error| malformed_batch(error.to_string()))?,
        };
        let range = || {
            let start = usize::try_from(offset).ok()?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            body.get(start..end)?.get(..len_bytes)
        };
        range().ok_or_else(|| {
            let found = body.len();
            malformed_batch(format!(
                "expected {len_bytes} bytes of elements, found {length} at offset {offset} of \
                 {found}"
            ))
        })
    }
}

/// Parses the metadata of the extension type.
fn shape_of(metadata: &str) -> Result<Shape, String> {
    let malformed = |what: String| format!("malformed metadata of `{EXTENSION}`: {what}");
    let metadata: Value =
        serde_json::from_str(metadata).map_err(|error| malformed(error.to_string()))?;
    let numbers = |name: &str, value: &Value| {
        let numbers = value.as_array().and_then(|values| {
            let numbers = values
                .iter()
                .map(|value| usize::try_from(value.as_u64()?).ok());
            numbers.collect::<Option<Vec<usize>>>()
        });
        numbers.ok_or_else(|| malformed(format!("expected numbers as `{name}`, found {value}")))
    };
    let dims = metadata.get("shape");
    let dims = dims.ok_or_else(|| malformed("expected a `shape`, found none".to_owned()))?;
    let dims = numbers("shape", dims)?;
    let permutation = metadata.get("permutation").filter(|value| !value.is_null());
    if let Some(permutation) = permutation {
        let permutation = numbers("permutation", permutation)?;
        if !permutation.iter().copied().eq(0..dims.len()) {
            return Err(format!(
                "expected elements in row-major order, found those of the permutation \
                 {permutation:?}"
            ));
        }
    }
    Shape::new(&dims).map_err(|error| error.to_string())
}

/// Returns the kind of a message.
fn header_of(data: &FlightData) -> Result<MessageHeader, Status> {
    if data.data_header.is_empty() {
        return Ok(MessageHeader::NONE);
    }
    let message = root_as_message(&data.data_header);
    let message = message.map_err(|error| invalid(format!("malformed message: {error}")))?;
    Ok(message.header_type())
}

#[cold]
fn unexpected(expected: &str, found: MessageHeader) -> Status {
    match found.variant_name() {
        Some("NONE") => invalid(format!(
            "expected {expected}, found a message without a header"
        )),
        name => {
            let name = name.unwrap_or("of another kind");
            invalid(format!("expected {expected}, found a message {name}"))
        }
    }
}

#[cold]
fn malformed_batch(reason: impl std::fmt::Display) -> Status {
    invalid(format!("malformed record batch: {reason}"))
}

#[cold]
fn invalid(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

#[cfg(test)]
mod tests;
