//! Parsing sequence examples by a schema.

use std::fmt;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_data::Values as Components;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{Error, ErrorCode};

use super::parse::{Scalars, add_component, find_entries, read_feature, wrong};
use super::wire::{Field, Malformed, Reader};
use super::{check_types, num_values};
use crate::column::Values;
use crate::schema::{Column, ColumnShape, Missing, Schema};

/// What the components of a sequence example are.
///
/// ```
/// use tfrt_readers::example::SequenceSchema;
///
/// let schema = SequenceSchema::new(Some("length: i64".parse()?), Some("words: i64, vectors: f32 [3]".parse()?))?;
/// assert_eq!(schema.num_components(), 3);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SequenceSchema {
    context: Option<Schema>,
    sequences: Option<Schema>,
}

impl SequenceSchema {
    /// The columns of the context, and those of the sequences, whose shapes are those of each step.
    ///
    /// # Errors
    /// If a column is of a type that no feature has, or has any number of values in each step.
    pub fn new(context: Option<Schema>, sequences: Option<Schema>) -> Result<Self, Error> {
        for schema in context.iter().chain(&sequences) {
            check_types(schema)?;
        }
        for column in sequences.iter().flat_map(Schema::columns) {
            if column.shape == ColumnShape::Variable {
                return Err(wrong(
                    column,
                    format_args!("as many values in each step, found the shape `[?]`"),
                ));
            }
        }
        Ok(Self { context, sequences })
    }

    /// How many components elements have.
    #[must_use]
    pub fn num_components(&self) -> usize {
        let schemas = self.context.iter().chain(&self.sequences);
        schemas.map(Schema::num_components).sum()
    }
}

/// The schemas of the context and of the sequences, as far as there are any.
impl fmt::Display for SequenceSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(context) = &self.context {
            write!(f, "{context}")?;
        }
        f.write_str("; ")?;
        match &self.sequences {
            Some(sequences) => write!(f, "{sequences}"),
            None => Ok(()),
        }
    }
}

/// The components of a sequence example: those of the context, then those of the sequences, which
/// are tensors with a row for each step.
///
/// # Errors
/// If the bytes are not a sequence example; if a feature or a list that has no default is missing,
/// or has other values than the schema says.
pub fn parse_sequence_example(
    bytes: &[u8],
    schema: &SequenceSchema,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Components, Error> {
    let [context, sequences] = [&schema.context, &schema.sequences]
        .map(|schema| schema.as_ref().map_or(&[][..], Schema::columns));
    let mut found_context = vec![None; context.len()];
    let mut found_sequences = vec![None; sequences.len()];
    find(bytes, schema, &mut found_context, &mut found_sequences).map_err(not_one)?;
    let mut components = Components::new();
    let mut scalars = Scalars::default();
    for (column, feature) in context.iter().zip(found_context) {
        add_component(column, feature, allocator, &mut scalars, &mut components)?;
    }
    for (column, list) in sequences.iter().zip(found_sequences) {
        add_sequence(column, list, allocator, &mut components)?;
    }
    Ok(components)
}

#[cold]
fn not_one(found: Malformed) -> Error {
    Error::new(format!("expected a sequence example, found {found}")).with_code(ErrorCode::DataLoss)
}

fn find<'a>(
    bytes: &'a [u8],
    schema: &SequenceSchema,
    context: &mut [Option<&'a [u8]>],
    sequences: &mut [Option<&'a [u8]>],
) -> Result<(), Malformed> {
    let mut example = Reader::new(bytes);
    while !example.is_at_end() {
        match (example.field()?, &schema.context, &schema.sequences) {
            ((1, Field::Bytes(features)), Some(schema), _) => {
                find_entries(features, schema, context)?
            }
            ((2, Field::Bytes(lists)), _, Some(schema)) => find_entries(lists, schema, sequences)?,
            ((1 | 2, Field::Bytes(_)), ..) => {}
            ((1 | 2, _), ..) => return Err(Malformed::FieldType),
            _ => {}
        }
    }
    Ok(())
}

/// Adds what becomes of a list of features, if there is one.
fn add_sequence(
    column: &Column,
    list: Option<&[u8]>,
    allocator: &Arc<dyn HostAllocator>,
    components: &mut Components,
) -> Result<(), Error> {
    if list.is_none() && column.missing == Missing::Error {
        return Err(wrong(
            column,
            format_args!("a list in the record, found none"),
        ));
    }
    let step_len = num_values(&column.shape).unwrap_or(1);
    let mut values = Values::new(column.dtype);
    let mut num_steps = 0;
    let mut steps = Reader::new(list.unwrap_or_default());
    while !steps.is_at_end() {
        match steps.field().map_err(not_one)? {
            (1, Field::Bytes(feature)) => {
                let mut step = Values::new(column.dtype);
                read_feature(feature, column, &mut step)?;
                if step.len() != step_len {
                    let found = step.len();
                    let what = format_args!("{step_len} values in step {num_steps}, found {found}");
                    return Err(wrong(column, what));
                }
                values.append(step);
                num_steps += 1;
            }
            (1, _) => return Err(not_one(Malformed::FieldType)),
            _ => {}
        }
    }
    let mut dims = vec![num_steps];
    if let ColumnShape::Fixed(step_dims) = &column.shape {
        dims.extend(step_dims);
    }
    components.push(values.take_tensor(&dims, allocator)?);
    if column.missing == Missing::Mask {
        components.push(AnyRef::available(list.is_some()));
    }
    Ok(())
}

impl Values {
    /// Adds the values of a feature.
    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::F32(values), Self::F32(mut others)) => values.append(&mut others),
            (Self::I64(values), Self::I64(mut others)) => values.append(&mut others),
            (Self::Strings(values), Self::Strings(mut others)) => values.append(&mut others),
            (values, others) => unreachable!("{others:?} are not of the type of {values:?}"),
        }
    }
}
