//! Writing rows as examples in records, and guessing the schema of such records.

use std::fmt;
use std::io::Write;

use prost::Message;
use tfrt_async::AnyRef;
use tfrt_support::{DType, Error, ErrorCode};

use super::message::{Example, Feature, Kind};
use crate::schema::{Cell, Column, ColumnShape, Missing, Schema};
use crate::tfrecord::RecordWriter;
use crate::write::{WriteColumns, invalid, rows_of};

/// Writes rows as records, each an example with one feature for each column. Integers and truth
/// values become `int64`, other numbers `float`.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_readers::example::ExampleWriter;
/// use tfrt_readers::tfrecord::RecordReader;
/// use tfrt_readers::write::WriteColumns;
/// use tfrt_tensor::DenseHostTensor;
///
/// let mut file = Vec::new();
/// let mut writer = ExampleWriter::new(&mut file, &["label"]);
/// writer.write(&[AnyRef::available(DenseHostTensor::vector(&[7_i64, 8])?)])?;
/// writer.finish()?;
/// drop(writer);
/// assert_eq!(RecordReader::new(&file[..]).count(), 2);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub struct ExampleWriter<W: Write> {
    writer: RecordWriter<W>,
    names: Vec<String>,
}

impl<W: Write> ExampleWriter<W> {
    /// A writer to `output`, which should be buffered.
    pub fn new(output: W, names: &[impl AsRef<str>]) -> Self {
        Self {
            writer: RecordWriter::new(output),
            names: names.iter().map(|name| name.as_ref().to_owned()).collect(),
        }
    }
}

impl<W: Write> WriteColumns for ExampleWriter<W> {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let (rows, num_rows) = rows_of(columns, self.names.len())?;
        for index in 0..num_rows {
            let mut features = Vec::with_capacity(rows.len());
            for (rows, name) in rows.iter().zip(&self.names) {
                let feature = feature_of(rows.row(index)?, rows.dtype());
                let feature =
                    feature.map_err(|what| invalid(format!("column `{name}`: {what}")))?;
                features.push((name.as_str(), feature));
            }
            let record = Example::of(features).encode_to_vec();
            self.writer.write(&record).map_err(Error::other)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(Error::other)
    }
}

impl<W: Write> fmt::Debug for ExampleWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExampleWriter")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// Why values cannot be a feature.
#[derive(Debug)]
enum FeatureError {
    TooLarge(i128),
    OtherType,
}

impl fmt::Display for FeatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(number) => {
                write!(f, "{number} is larger than the integers of features")
            }
            Self::OtherType => f.write_str("values of another type"),
        }
    }
}

impl std::error::Error for FeatureError {}

fn feature_of(cells: Vec<Cell>, dtype: DType) -> Result<Feature, FeatureError> {
    match dtype {
        DType::String => Ok(Feature::bytes(cells.into_iter().filter_map(
            |cell| match cell {
                Cell::Bytes(bytes) => Some(bytes),
                _ => None,
            },
        ))),
        DType::F32 | DType::F64 => Ok(Feature::float(cells.iter().filter_map(|cell| match cell {
            Cell::Float(number) => Some(*number as f32),
            _ => None,
        }))),
        _ => {
            let numbers = cells.iter().map(|cell| match cell {
                Cell::Truth(truth) => Ok(i64::from(*truth)),
                Cell::Integer(number) => {
                    i64::try_from(*number).map_err(|_| FeatureError::TooLarge(*number))
                }
                _ => Err(FeatureError::OtherType),
            });
            let numbers: Result<Vec<_>, FeatureError> = numbers.collect();
            Ok(Feature::int64(numbers?))
        }
    }
}

/// What the features of these records are: a feature has the shape of its values in all of them, or
/// any number of values. One that some records lack has a mask.
///
/// # Errors
/// If a record is not an example, has no features, or a feature has values of several types.
pub fn infer_example_schema(records: &[impl AsRef<[u8]>]) -> Result<Schema, Error> {
    let data_loss = |message: String| Error::new(message).with_code(ErrorCode::DataLoss);
    let mut columns: Vec<Column> = Vec::new();
    // In how many records each has values.
    let mut counts: Vec<usize> = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let example = Example::decode(record.as_ref())
            .map_err(|_| data_loss(format!("record {index} is not a `tf.Example`")))?;
        for (name, feature) in example
            .features
            .into_iter()
            .flat_map(|features| features.feature)
        {
            let Some(kind) = feature.kind else { continue };
            let dtype = match kind {
                Kind::Bytes(_) => DType::String,
                Kind::Float(_) => DType::F32,
                Kind::Int64(_) => DType::I64,
            };
            let shape = match kind.describe().0 {
                1 => ColumnShape::Scalar,
                len => ColumnShape::Fixed(vec![len]),
            };
            let known = columns.iter().position(|column| column.name == name);
            let known = known.unwrap_or_else(|| {
                counts.push(0);
                columns.push(Column {
                    shape: shape.clone(),
                    ..Column::new(name.clone(), dtype)
                });
                columns.len() - 1
            });
            counts[known] += 1;
            match &mut columns[known] {
                column if column.dtype != dtype => {
                    let expected = column.dtype;
                    return Err(data_loss(format!(
                        "record {index}: feature `{name}`: expected values of type {expected} as before, found {dtype}"
                    )));
                }
                column if column.shape != shape => column.shape = ColumnShape::Variable,
                _ => {}
            }
        }
    }
    for (column, count) in columns.iter_mut().zip(counts) {
        if count < records.len() {
            column.missing = Missing::Mask;
        }
    }
    Schema::new(columns)
}
