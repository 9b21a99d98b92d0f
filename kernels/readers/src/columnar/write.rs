//! Writing columnar files.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tfrt_async::AnyRef;
use tfrt_support::{DType, Error};

use crate::schema::Cell;
use crate::write::{Rows, WriteColumns, invalid, rows_of};

fn schema_of(columns: &[(String, DType)]) -> Result<SchemaRef, Error> {
    let field = |(name, dtype): &(String, DType)| {
        let data_type = match dtype {
            DType::I1 => DataType::Boolean,
            DType::I8 => DataType::Int8,
            DType::I16 => DataType::Int16,
            DType::I32 => DataType::Int32,
            DType::I64 => DataType::Int64,
            DType::Ui8 => DataType::UInt8,
            DType::Ui16 => DataType::UInt16,
            DType::Ui32 => DataType::UInt32,
            DType::Ui64 => DataType::UInt64,
            DType::F32 => DataType::Float32,
            DType::F64 => DataType::Float64,
            DType::String => DataType::Binary,
            other => {
                return Err(invalid(format!(
                    "column `{name}`: unsupported element type {other}"
                )));
            }
        };
        Ok(Field::new(name, data_type, false))
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Schema::new(fields)))
}

/// Rows as a record batch.
fn batch_of(schema: &SchemaRef, columns: &[AnyRef]) -> Result<RecordBatch, Error> {
    let (rows, num_rows) = rows_of(columns, schema.fields().len())?;
    let mut arrays = Vec::with_capacity(rows.len());
    for (rows, field) in rows.iter().zip(schema.fields()) {
        let name = field.name();
        let mut cells = Vec::with_capacity(num_rows);
        for index in 0..num_rows {
            match <[Cell; 1]>::try_from(rows.row(index)?) {
                Ok([cell]) => cells.push(cell),
                Err(cells) => {
                    let found = cells.len();
                    return Err(invalid(format!(
                        "column `{name}`: expected one value in a row, found {found}"
                    )));
                }
            }
        }
        arrays.push(array_of(rows, cells, field.data_type()).ok_or_else(|| {
            let (expected, found) = (field.data_type(), rows.dtype());
            invalid(format!(
                "column `{name}`: expected {expected}, found elements of type {found}"
            ))
        })?);
    }
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(Error::other)
}

fn array_of(rows: &Rows, cells: Vec<Cell>, data_type: &DataType) -> Option<ArrayRef> {
    macro_rules! integers {
        ($array:ty, $ty:ty, $cells:ident) => {
            Arc::new(
                $cells
                    .iter()
                    .map(|cell| match cell {
                        Cell::Integer(number) => (*number).try_into().ok(),
                        _ => None,
                    })
                    .collect::<Option<Vec<$ty>>>()
                    .map(<$array>::from)?,
            )
        };
    }
    let floats = |cells: &[Cell]| -> Option<Vec<f64>> {
        let number = |cell: &Cell| match cell {
            Cell::Float(number) => Some(*number),
            _ => None,
        };
        cells.iter().map(number).collect()
    };
    Some(match (data_type, rows.dtype()) {
        (DataType::Boolean, DType::I1) => {
            let truths: Vec<bool> = cells
                .iter()
                .map(|cell| *cell == Cell::Truth(true))
                .collect();
            Arc::new(BooleanArray::from(truths))
        }
        (DataType::Int8, DType::I8) => integers!(Int8Array, i8, cells),
        (DataType::Int16, DType::I16) => integers!(Int16Array, i16, cells),
        (DataType::Int32, DType::I32) => integers!(Int32Array, i32, cells),
        (DataType::Int64, DType::I64) => integers!(Int64Array, i64, cells),
        (DataType::UInt8, DType::Ui8) => integers!(UInt8Array, u8, cells),
        (DataType::UInt16, DType::Ui16) => integers!(UInt16Array, u16, cells),
        (DataType::UInt32, DType::Ui32) => integers!(UInt32Array, u32, cells),
        (DataType::UInt64, DType::Ui64) => integers!(UInt64Array, u64, cells),
        (DataType::Float32, DType::F32) => {
            let numbers: Vec<f32> = floats(&cells)?
                .into_iter()
                .map(|number| number as f32)
                .collect();
            Arc::new(Float32Array::from(numbers))
        }
        (DataType::Float64, DType::F64) => Arc::new(Float64Array::from(floats(&cells)?)),
        (DataType::Binary, DType::String) => {
            let bytes = |cell| match cell {
                Cell::Bytes(bytes) => bytes,
                _ => Vec::new(),
            };
            let values: Vec<Vec<u8>> = cells.into_iter().map(bytes).collect();
            Arc::new(BinaryArray::from_iter_values(values))
        }
        _ => return None,
    })
}

#[cfg(feature = "parquet")]
pub(super) fn parquet<W: Write + Send + fmt::Debug + 'static>(
    output: W,
    columns: &[(String, DType)],
) -> Result<Box<dyn WriteColumns>, Error> {
    let schema = schema_of(columns)?;
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let writer =
        parquet::arrow::ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties));
    let writer = Some(writer.map_err(Error::other)?);
    Ok(Box::new(ParquetWriter { schema, writer }))
}

#[cfg(feature = "parquet")]
struct ParquetWriter<W: Write + Send> {
    schema: SchemaRef,
    /// Nothing once the file is finished.
    writer: Option<parquet::arrow::ArrowWriter<W>>,
}

#[cfg(feature = "parquet")]
impl<W: Write + Send> WriteColumns for ParquetWriter<W> {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let batch = batch_of(&self.schema, columns)?;
        match &mut self.writer {
            Some(writer) => writer.write(&batch).map_err(Error::other),
            None => Err(invalid("the file is already finished".to_owned())),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let mut output = writer.into_inner().map_err(Error::other)?;
        output.flush().map_err(Error::other)
    }
}

#[cfg(feature = "arrow")]
pub(super) fn arrow<W: Write + Send + fmt::Debug + 'static>(
    output: W,
    columns: &[(String, DType)],
) -> Result<Box<dyn WriteColumns>, Error> {
    let schema = schema_of(columns)?;
    let writer = arrow_ipc::writer::FileWriter::try_new(output, &schema).map_err(Error::other)?;
    Ok(Box::new(ArrowFileWriter { schema, writer }))
}

#[cfg(feature = "arrow")]
struct ArrowFileWriter<W: Write> {
    schema: SchemaRef,
    writer: arrow_ipc::writer::FileWriter<W>,
}

#[cfg(feature = "arrow")]
impl<W: Write> WriteColumns for ArrowFileWriter<W> {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let batch = batch_of(&self.schema, columns)?;
        self.writer.write(&batch).map_err(Error::other)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.writer.finish().map_err(Error::other)?;
        self.writer.flush().map_err(Error::other)
    }
}
