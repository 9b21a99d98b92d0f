//! Named values in records: `tf.Example` and `tf.SequenceExample`.
//!
//! Both are protocol buffers. An example has *features*, each a list of byte strings, of floats or
//! of integers. A sequence example has such features as its context, and lists of features, one for
//! each step of a sequence.
//!
//! A [`Schema`] says which features become components. Examples are parsed without an intermediate
//! message; `Example` is the message itself, for writing and for programs that look features up one
//! by one. It needs the feature `messages`, as do `ExampleWriter` and `infer_example_schema`.

mod columns;

#[cfg(feature = "messages")]
mod message;

mod parse;

mod sequence;

mod wire;

#[cfg(feature = "messages")]
mod write;

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{Dataset, ElementFunction, ElementTypes, Values};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode};

use crate::schema::{ColumnShape, Schema};

pub(crate) use columns::{ExampleColumns, check_batches};
#[cfg(feature = "messages")]
pub use message::{
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, Kind,
    SequenceExample,
};
pub use parse::parse_example;
pub use sequence::{SequenceSchema, parse_sequence_example};
#[cfg(feature = "messages")]
pub use write::{ExampleWriter, infer_example_schema};

/// The components of every record: those of the columns, in their order.
///
/// A feature with shape `[]` is a single value; one with a fixed shape is a tensor; one with `[?]`
/// is a tensor of rank 1.
///
/// ```
/// use tfrt_data::Dataset;
/// use tfrt_readers::example::parse_examples;
/// use tfrt_readers::tfrecord::tf_record_dataset;
///
/// let records = tf_record_dataset("train.tfrecord")?;
/// let samples = parse_examples(&records, "image: str, label: i64".parse()?)?;
/// assert_eq!(samples.name(), "map");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
///
/// # Errors
/// If a column is of a type that no feature has: these are `i64`, `f32` and `str`.
pub fn parse_examples(records: &Dataset, schema: Schema) -> Result<Dataset, Error> {
    check_types(&schema)?;
    let (name, num_results) = (format!("parse_examples({schema})"), schema.num_components());
    let results = schema.element_types();
    let parse = move |ctx: &ExecutionContext, values: &[AnyRef]| -> Result<Values, Error> {
        parse_example(record_of(values)?, &schema, ctx.allocator())
    };
    let function = ElementFunction::from_named_closure(name, 1, num_results, parse)
        .with_types(ElementTypes::of::<ByteString>(), results);
    records.map_with(function, &[])
}

/// The components of every record that is a sequence example: those of the context, then those of
/// the sequences.
///
/// # Errors
/// If a column is of a type that no feature has: these are `i64`, `f32` and `str`.
pub fn parse_sequence_examples(
    records: &Dataset,
    schema: SequenceSchema,
) -> Result<Dataset, Error> {
    let name = format!("parse_sequence_examples({schema})");
    let num_results = schema.num_components();
    let parse = move |ctx: &ExecutionContext, values: &[AnyRef]| -> Result<Values, Error> {
        parse_sequence_example(record_of(values)?, &schema, ctx.allocator())
    };
    let function = ElementFunction::from_named_closure(name, 1, num_results, parse).with_types(
        ElementTypes::of::<ByteString>(),
        ElementTypes::of_unknown(num_results),
    );
    records.map_with(function, &[])
}

fn record_of(values: &[AnyRef]) -> Result<&[u8], Error> {
    let record = values.first().and_then(|value| value.get::<ByteString>());
    record.map(ByteString::as_bytes).ok_or_else(|| {
        let found = values.first().and_then(AnyRef::mlir_type).unwrap_or("none");
        let message = format!("expected a record of type `!tfrt.string`, found `{found}`");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    })
}

/// Features are lists of integers, floats and strings.
pub(crate) fn check_types(schema: &Schema) -> Result<(), Error> {
    let is_wrong = |dtype: DType| !matches!(dtype, DType::I64 | DType::F32 | DType::String);
    match schema
        .columns()
        .iter()
        .find(|column| is_wrong(column.dtype))
    {
        None => Ok(()),
        Some(column) => {
            let message = format!(
                "feature `{}`: expected a type `i64`, `f32` or `str`, found `{}`",
                column.name, column.dtype
            );
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        }
    }
}

/// How many values a column has, if that is fixed.
fn num_values(shape: &ColumnShape) -> Option<usize> {
    match shape {
        ColumnShape::Scalar => Some(1),
        ColumnShape::Fixed(dims) => Some(dims.iter().product()),
        ColumnShape::Variable => None,
    }
}
