//! Columns of Arrow as tensors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    self as t, ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Schema, TimeUnit};
use arrow_select::take::take;
use half::f16;
use tfrt_async::AnyRef;
use tfrt_data::Values;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, I1, Shape, StringHostTensor, TensorError};

use super::{ColumnarOptions, Nulls};
use crate::files::OpenFile;
use crate::read_ahead;

/// So many rows are read at once if each of them is an element.
pub(super) const NUM_ROWS_AT_ONCE: u64 = 1024;

/// The places of the columns that are read.
pub(super) fn positions(
    schema: &Schema,
    options: &ColumnarOptions,
    file: &OpenFile,
) -> Result<Vec<usize>, Error> {
    let Some(names) = &options.columns else {
        return Ok((0..schema.fields().len()).collect());
    };
    let position = |name: &String| {
        schema.index_of(name).map_err(|_| {
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|field| &**field.name())
                .collect();
            let found = names.join("`, `");
            file.error(format_args!("expected a column `{name}`, found `{found}`"))
        })
    };
    names.iter().map(position).collect()
}

/// Rows as an element. `row_in_file` returns the number in the file of a row of the batch.
pub(super) fn element(
    batch: &RecordBatch,
    columns: &[usize],
    nulls: Nulls,
    row_in_file: impl Fn(u64) -> u64,
    file: &OpenFile,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<read_ahead::Element, Error> {
    if columns.is_empty() {
        return Err(file.error("expected columns, found none"));
    }
    let mut values = Values::new();
    let mut len_bytes = 0;
    for &position in columns {
        let field = batch.schema();
        let name = field.field(position).name();
        let column = bytes_of_media(batch.column(position));
        if column.len() != batch.num_rows() {
            let (expected, found) = (batch.num_rows(), column.len());
            return Err(file.error(format_args!(
                "column `{name}`: expected {expected} rows in a batch, found {found}"
            )));
        }
        len_bytes += column.get_array_memory_size();
        // Some nulls are in the values of a dictionary, and some in its keys.
        let present = column
            .logical_nulls()
            .filter(|nulls| nulls.null_count() > 0);
        if let (Nulls::Error, Some(present)) = (nulls, &present) {
            let row = present.iter().position(|is_there| !is_there).unwrap_or(0);
            let message = format_args!(
                "row {}, column `{name}`: expected a value, found none",
                row_in_file(row as u64)
            );
            return Err(file.error(message));
        }
        let tensor = tensor(&*column, allocator).map_err(|error| {
            let message = error.message();
            file.error(format_args!("column `{name}`: {message}"))
        })?;
        values.push(tensor);
        if nulls == Nulls::Mask {
            let is_there =
                |row: usize| I1::from(present.as_ref().is_none_or(|present| present.is_valid(row)));
            let shape = Shape::new(&[column.len()]).map_err(TensorError::from)?;
            values.push(AnyRef::available(DenseHostTensor::from_fn(
                allocator, shape, is_there,
            )?));
        }
    }
    Ok(read_ahead::Element { values, len_bytes })
}

/// The bytes of a column of images or sounds, as the library `datasets` stores them: a structure
/// with the fields `bytes` and `path`. Other columns stay as they are.
fn bytes_of_media(column: &ArrayRef) -> ArrayRef {
    let Some(structure) = column.as_struct_opt() else {
        return Arc::clone(column);
    };
    match (
        structure.column_names().as_slice(),
        structure.column_by_name("bytes"),
    ) {
        (["bytes", "path"] | ["path", "bytes"], Some(bytes)) => Arc::clone(bytes),
        _ => Arc::clone(column),
    }
}

/// A column as a tensor with a row for each of its values; those that are missing are zero.
fn tensor(column: &dyn Array, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, Error> {
    let column_type = column.data_type();
    match column_type {
        DataType::Int8 => numbers::<Int8Type>(column, 0, allocator),
        DataType::Int16 => numbers::<Int16Type>(column, 0, allocator),
        DataType::Int32 => numbers::<Int32Type>(column, 0, allocator),
        DataType::Int64 => numbers::<Int64Type>(column, 0, allocator),
        DataType::UInt8 => numbers::<UInt8Type>(column, 0, allocator),
        DataType::UInt16 => numbers::<UInt16Type>(column, 0, allocator),
        DataType::UInt32 => numbers::<UInt32Type>(column, 0, allocator),
        DataType::UInt64 => numbers::<UInt64Type>(column, 0, allocator),
        DataType::Float16 => numbers::<t::Float16Type>(column, f16::NAN, allocator),
        DataType::Float32 => numbers::<Float32Type>(column, f32::NAN, allocator),
        DataType::Float64 => numbers::<Float64Type>(column, f64::NAN, allocator),
        // Dates and times since the beginning of 1970, times of the day, and durations are the
        // integers that the file has for them, in the unit of the column.
        DataType::Date32 => numbers::<t::Date32Type>(column, 0, allocator),
        DataType::Date64 => numbers::<t::Date64Type>(column, 0, allocator),
        DataType::Time32(TimeUnit::Second) => numbers::<t::Time32SecondType>(column, 0, allocator),
        DataType::Time32(_) => numbers::<t::Time32MillisecondType>(column, 0, allocator),
        DataType::Time64(TimeUnit::Microsecond) => {
            numbers::<t::Time64MicrosecondType>(column, 0, allocator)
        }
        DataType::Time64(_) => numbers::<t::Time64NanosecondType>(column, 0, allocator),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => numbers::<t::TimestampSecondType>(column, 0, allocator),
            TimeUnit::Millisecond => numbers::<t::TimestampMillisecondType>(column, 0, allocator),
            TimeUnit::Microsecond => numbers::<t::TimestampMicrosecondType>(column, 0, allocator),
            TimeUnit::Nanosecond => numbers::<t::TimestampNanosecondType>(column, 0, allocator),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => numbers::<t::DurationSecondType>(column, 0, allocator),
            TimeUnit::Millisecond => numbers::<t::DurationMillisecondType>(column, 0, allocator),
            TimeUnit::Microsecond => numbers::<t::DurationMicrosecondType>(column, 0, allocator),
            TimeUnit::Nanosecond => numbers::<t::DurationNanosecondType>(column, 0, allocator),
        },
        DataType::Boolean => {
            let column = column.as_boolean();
            let truth = |row| I1::from(column.is_valid(row) && column.value(row));
            let tensor = DenseHostTensor::from_fn(allocator, vector(column.len())?, truth)?;
            Ok(AnyRef::available(tensor))
        }
        DataType::Utf8 => strings(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => strings(column.as_string::<i64>().iter()),
        DataType::Utf8View => strings(column.as_string_view().iter()),
        DataType::Binary => strings(column.as_binary::<i32>().iter()),
        DataType::LargeBinary => strings(column.as_binary::<i64>().iter()),
        DataType::BinaryView => strings(column.as_binary_view().iter()),
        DataType::FixedSizeBinary(_) => strings(column.as_fixed_size_binary().iter()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            check_size(dictionary)?;
            let values = take(dictionary.values(), dictionary.keys(), None);
            tensor(&*values.map_err(Error::other)?, allocator)
        }
        DataType::FixedSizeList(_, size) => {
            let list = column.as_fixed_size_list();
            let size = usize::try_from(*size).unwrap_or(0);
            let inner = list.values();
            if inner.null_count() > 0 || list.null_count() > 0 {
                return Err(Error::new("lists with missing values are not supported"));
            }
            let inner = tensor(&**inner, allocator)?;
            let Some(inner) = inner.get::<DenseHostTensor>() else {
                return Err(Error::new(format!(
                    "expected lists of numbers, found {column_type}"
                )));
            };
            let mut dims = vec![column.len(), size];
            dims.extend(inner.shape().dims().iter().skip(1));
            Ok(AnyRef::available(
                inner.reshaped(Shape::new(&dims).map_err(TensorError::from)?)?,
            ))
        }
        other => Err(Error::new(format!("columns of {other} are not supported"))),
    }
}

fn vector(len: usize) -> Result<Shape, Error> {
    Ok(Shape::new(&[len]).map_err(TensorError::from)?)
}

/// The values of a column of numbers, in place if there are none missing and they are aligned.
fn numbers<T: ArrowPrimitiveType>(
    column: &dyn Array,
    missing: T::Native,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<AnyRef, Error>
where
    T::Native: Element,
{
    let dtype = <T::Native as Element>::DTYPE;
    let column = column.as_primitive::<T>();
    let shape = vector(column.len())?;
    let tensor = if column.null_count() > 0 {
        let value = |row| {
            if column.is_valid(row) {
                column.value(row)
            } else {
                missing
            }
        };
        DenseHostTensor::from_fn(allocator, shape, value)?
    } else {
        let bytes = column.values().inner().clone();
        let is_aligned = (bytes.as_ptr() as usize).is_multiple_of(dtype.align_bytes().unwrap_or(1));
        if is_aligned && bytes.len() == column.len() * size_of::<T::Native>() {
            DenseHostTensor::from_buffer(dtype, shape, HostBuffer::from_owner(Lent(bytes))?)?
        } else {
            DenseHostTensor::from_elements(allocator, shape, column.values().as_ref())?
        }
    };
    Ok(AnyRef::available(tensor))
}

/// Arrow's memory, kept by a tensor.
struct Lent(Buffer);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

fn strings<B: AsRef<[u8]>>(values: impl Iterator<Item = Option<B>>) -> Result<AnyRef, Error> {
    let bytes = |value: Option<B>| {
        value
            .map(|bytes| bytes.as_ref().to_vec())
            .unwrap_or_default()
    };
    let strings: Vec<Vec<u8>> = values.map(bytes).collect();
    Ok(AnyRef::available(StringHostTensor::new(
        vector(strings.len())?,
        strings,
    )?))
}

/// The most bytes that a column of a batch has without its dictionary. A small file could name a
/// large value as often as it likes.
const MAX_DECODED_BYTES: usize = 1 << 30;

/// Refuses dictionaries whose rows would take too much memory.
fn check_size(dictionary: &dyn AnyDictionaryArray) -> Result<(), Error> {
    let values = dictionary.values();
    let largest = match values.data_type() {
        DataType::Utf8 => largest(values.as_string::<i32>().iter()),
        DataType::LargeUtf8 => largest(values.as_string::<i64>().iter()),
        DataType::Utf8View => largest(values.as_string_view().iter()),
        DataType::Binary => largest(values.as_binary::<i32>().iter()),
        DataType::LargeBinary => largest(values.as_binary::<i64>().iter()),
        DataType::BinaryView => largest(values.as_binary_view().iter()),
        // Values of one size, or lists of a few levels: what the dictionary itself takes.
        _ => values.get_array_memory_size() / values.len().max(1),
    };
    match dictionary.keys().len().checked_mul(largest) {
        Some(len_bytes) if len_bytes <= MAX_DECODED_BYTES => Ok(()),
        _ => Err(Error::new(format!(
            "expected a dictionary whose rows have at most {MAX_DECODED_BYTES} bytes, found {} rows \
             of up to {largest} bytes",
            dictionary.keys().len()
        ))),
    }
}

fn largest<B: AsRef<[u8]>>(values: impl Iterator<Item = Option<B>>) -> usize {
    let sizes = values.flatten().map(|value| value.as_ref().len());
    sizes.max().unwrap_or(0)
}

/// What a function of Arrow returns. The crates check much of a damaged file, but not everything:
/// what they panic at is an error of the file.
pub(super) fn guarded<T, E: std::fmt::Display>(
    file: &OpenFile,
    f: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => result.map_err(|error| file.error(error)),
        Err(_) => Err(file.error("the file is damaged")),
    }
}
