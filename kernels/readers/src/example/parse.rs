//! Parsing examples by a schema.

use std::sync::Arc;

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::Values as Components;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{DType, Error, ErrorCode};

use super::num_values;
use super::wire::{Field, Malformed, Reader};
use crate::column::Values;
use crate::schema::{Cell, Column, ColumnShape, Missing, Schema};

/// The components of an example: see [`parse_examples`](super::parse_examples).
///
/// ```
/// use std::sync::Arc;
/// use prost::Message;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_readers::example::{Example, Feature, parse_example};
///
/// let example = Example::of([("label", Feature::int64([7])), ("pixels", Feature::float([0.5; 4]))]);
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let schema = "label: i64, pixels: f32 [2, 2]".parse()?;
/// let values = parse_example(&example.encode_to_vec(), &schema, &allocator)?;
/// assert_eq!(values[0].get::<i64>(), Some(&7));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
///
/// # Errors
/// If the schema has types that features do not have; if the bytes are not an example; if a feature
/// that has no default is missing, or has other values than the schema says.
pub fn parse_example(
    bytes: &[u8],
    schema: &Schema,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Components, Error> {
    super::check_types(schema)?;
    let mut found: Vec<Option<&[u8]>> = vec![None; schema.columns().len()];
    find_features(bytes, schema, &mut found).map_err(not_an_example)?;
    let mut components = Components::new();
    let mut scalars = Scalars::default();
    for (column, feature) in schema.columns().iter().zip(found) {
        add_component(column, feature, allocator, &mut scalars, &mut components)?;
    }
    Ok(components)
}

/// Lists for the values of scalar features, which become values of their own. All features of a
/// record share them, so that a scalar does not allocate a list.
#[derive(Debug)]
pub(super) struct Scalars {
    integers: Values,
    floats: Values,
}

impl Default for Scalars {
    fn default() -> Self {
        Self {
            integers: Values::new(DType::I64),
            floats: Values::new(DType::F32),
        }
    }
}

impl Scalars {
    /// Returns an empty list for the values of a column, if it is a column of scalars.
    fn list_for(&mut self, column: &Column) -> Option<&mut Values> {
        let list = match (&column.shape, column.dtype) {
            (ColumnShape::Scalar, DType::I64) => &mut self.integers,
            (ColumnShape::Scalar, DType::F32) => &mut self.floats,
            _ => return None,
        };
        list.clear();
        Some(list)
    }
}

/// Returns the error of the reference, which does not say what is wrong with the bytes.
#[cold]
pub(super) fn not_an_example(_: Malformed) -> Error {
    Error::new("failed to parse example.proto from string").with_code(ErrorCode::DataLoss)
}

/// Finds the features of an example. Of several ones with the same name, the last counts.
pub(super) fn find_features<'a>(
    bytes: &'a [u8],
    schema: &Schema,
    found: &mut [Option<&'a [u8]>],
) -> Result<(), Malformed> {
    let mut example = Reader::new(bytes);
    while !example.is_at_end() {
        if let (1, field) = example.field()? {
            let Field::Bytes(features) = field else {
                return Err(Malformed::FieldType);
            };
            find_entries(features, schema, found)?;
        }
    }
    Ok(())
}

/// Finds the entries of a map from names to features.
pub(super) fn find_entries<'a>(
    bytes: &'a [u8],
    schema: &Schema,
    found: &mut [Option<&'a [u8]>],
) -> Result<(), Malformed> {
    let mut features = Reader::new(bytes);
    // Records that were written by the same program have their features in the same order.
    let mut expected = 0;
    while !features.is_at_end() {
        let (1, field) = features.field()? else {
            continue;
        };
        let Field::Bytes(entry) = field else {
            return Err(Malformed::FieldType);
        };
        let mut entry = Reader::new(entry);
        let (mut name, mut feature): (&[u8], &[u8]) = (&[], &[]);
        while !entry.is_at_end() {
            match entry.field()? {
                (1, Field::Bytes(bytes)) => name = bytes,
                // A message that comes in two parts is their sum, but nobody writes that.
                (2, Field::Bytes(bytes)) => feature = bytes,
                (1 | 2, _) => return Err(Malformed::FieldType),
                _ => {}
            }
        }
        let columns = schema.columns();
        let is_it = |column: &Column| column.name.as_bytes() == name;
        let index = match columns.get(expected) {
            Some(column) if is_it(column) => Some(expected),
            _ => columns.iter().position(is_it),
        };
        match index {
            Some(index) => {
                expected = index + 1;
                found[index] = Some(feature);
            }
            // Names of columns are UTF-8 by their type.
            None => drop(std::str::from_utf8(name).map_err(|_| Malformed::Name)?),
        }
    }
    Ok(())
}

/// Adds what becomes of a feature, if there is one.
pub(super) fn add_component(
    column: &Column,
    feature: Option<&[u8]>,
    allocator: &Arc<dyn HostAllocator>,
    scalars: &mut Scalars,
    components: &mut Components,
) -> Result<(), Error> {
    let mut own_list;
    let values = match scalars.list_for(column) {
        Some(list) => list,
        None => {
            own_list = Values::new(column.dtype);
            &mut own_list
        }
    };
    let is_there = read_column(column, feature, values)?;
    components.push(match &column.shape {
        ColumnShape::Scalar => single(values),
        ColumnShape::Fixed(dims) => values.take_tensor(dims, allocator)?,
        ColumnShape::Variable => {
            let len = values.len();
            values.take_tensor(&[len], allocator)?
        }
    });
    if column.missing == Missing::Mask {
        components.push(AnyRef::available(is_there));
    }
    Ok(())
}

/// Adds the values of a feature behind others, or what stands for them if it is missing. Returns
/// whether it was there. If it fails, some may have been added.
pub(super) fn read_column(
    column: &Column,
    feature: Option<&[u8]>,
    values: &mut Values,
) -> Result<bool, Error> {
    let num_before = values.len();
    let wanted = num_values(&column.shape);
    if let (Some(feature), DType::I64 | DType::F32, Some(wanted)) = (feature, column.dtype, wanted)
    {
        // What the schema claims is not believed beyond what the record can have.
        values.reserve(wanted.min(feature.len()));
    }
    let kind = match feature {
        Some(feature) => read_feature(feature, column, values)?,
        None => None,
    };
    let is_there = kind.is_some();
    if !is_there {
        match (&column.missing, wanted) {
            // A feature without values has none of the right type.
            (Missing::Error, None) if feature.is_some() => {}
            (Missing::Error, _) => return Err(missing(column, feature.is_some())),
            (Missing::Default(cell), Some(wanted)) => values.push_many(cell, wanted, column)?,
            (Missing::Mask, Some(wanted)) => {
                values.push_many(&Cell::zero(column.dtype), wanted, column)?;
            }
            (_, None) => {}
        }
    }
    let found = values.len() - num_before;
    match wanted {
        Some(wanted) if wanted != found => Err(wrong(
            column,
            format_args!("{wanted} values, found {found}"),
        )),
        _ => Ok(is_there),
    }
}

/// The value of a feature that has one.
fn single(values: &mut Values) -> AnyRef {
    match values {
        Values::I64(values) => AnyRef::available(values[0]),
        Values::F32(values) => AnyRef::available(values[0]),
        Values::Strings(values) => {
            AnyRef::available(ByteString::from(values.pop().unwrap_or_default()))
        }
        values => unreachable!("features do not have {values:?}"),
    }
}

/// Adds the values of a feature behind others. Nothing if it has no kind.
pub(super) fn read_feature(
    bytes: &[u8],
    column: &Column,
    values: &mut Values,
) -> Result<Option<u32>, Error> {
    let mut feature = Reader::new(bytes);
    let num_before = values.len();
    let mut kind = None;
    while !feature.is_at_end() {
        let (number, field) = feature.field().map_err(not_an_example)?;
        let Field::Bytes(list) = field else {
            match number {
                1..=3 => return Err(not_an_example(Malformed::FieldType)),
                _ => continue,
            }
        };
        if !(1..=3).contains(&number) {
            continue;
        }
        if kind != Some(number) {
            // The last kind counts.
            values.truncate(num_before);
            kind = Some(number);
        }
        let read = match (number, &mut *values) {
            (1, Values::Strings(values)) => read_strings(list, values),
            (2, Values::F32(values)) => read_floats(list, values),
            (3, Values::I64(values)) => read_integers(list, values),
            // Another kind is wrong only if it is the last one.
            _ => Ok(()),
        };
        read.map_err(not_an_example)?;
    }
    let (found, is_right) = match (kind, &*values) {
        (None, _) => return Ok(None),
        (Some(1), values) => ("bytes", matches!(values, Values::Strings(_))),
        (Some(2), values) => ("float", matches!(values, Values::F32(_))),
        (Some(_), values) => ("int64", matches!(values, Values::I64(_))),
    };
    match is_right {
        true => Ok(kind),
        false => Err(wrong(
            column,
            format_args!("values of type {}, found {found}", column.dtype),
        )),
    }
}

fn read_strings(bytes: &[u8], values: &mut Vec<Vec<u8>>) -> Result<(), Malformed> {
    let mut list = Reader::new(bytes);
    while !list.is_at_end() {
        match list.field()? {
            (1, Field::Bytes(bytes)) => values.push(bytes.to_vec()),
            (1, _) => return Err(Malformed::FieldType),
            _ => {}
        }
    }
    Ok(())
}

fn read_floats(bytes: &[u8], values: &mut Vec<f32>) -> Result<(), Malformed> {
    let mut list = Reader::new(bytes);
    while !list.is_at_end() {
        match list.field()? {
            (1, Field::Bytes(packed)) => {
                let (chunks, rest) = packed.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(Malformed::Truncated);
                }
                values.extend(chunks.iter().map(|&bytes| f32::from_le_bytes(bytes)));
            }
            (1, Field::Four(bytes)) => values.push(f32::from_le_bytes(bytes)),
            (1, _) => return Err(Malformed::FieldType),
            _ => {}
        }
    }
    Ok(())
}

fn read_integers(bytes: &[u8], values: &mut Vec<i64>) -> Result<(), Malformed> {
    let mut list = Reader::new(bytes);
    while !list.is_at_end() {
        match list.field()? {
            (1, Field::Bytes(packed)) => {
                let mut packed = Reader::new(packed);
                while !packed.is_at_end() {
                    values.push(packed.varint()? as i64);
                }
            }
            (1, Field::Varint(number)) => values.push(number as i64),
            (1, _) => return Err(Malformed::FieldType),
            _ => {}
        }
    }
    Ok(())
}

#[cold]
fn missing(column: &Column, is_empty: bool) -> Error {
    let found = if is_empty {
        "one without values"
    } else {
        "none"
    };
    wrong(
        column,
        format_args!("a feature in the record, found {found}"),
    )
}

#[cold]
pub(super) fn wrong(column: &Column, what: std::fmt::Arguments<'_>) -> Error {
    let message = format!("feature `{}`: expected {what}", column.name);
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

impl Values {
    /// Adds a value so often. What the schema asks for may be more than there is memory for.
    fn push_many(&mut self, cell: &Cell, count: usize, column: &Column) -> Result<(), Error> {
        const MAX_DEFAULTS: usize = 1 << 24;
        if count > MAX_DEFAULTS {
            return Err(wrong(
                column,
                format_args!("at most {MAX_DEFAULTS} default values"),
            ));
        }
        for _ in 0..count {
            self.push(cell.clone());
        }
        Ok(())
    }

    fn reserve(&mut self, count: usize) {
        match self {
            Self::F32(values) => values.reserve(count),
            Self::I64(values) => values.reserve(count),
            _ => {}
        }
    }

    fn clear(&mut self) {
        match self {
            Self::F32(values) => values.clear(),
            Self::I64(values) => values.clear(),
            Self::Strings(values) => values.clear(),
            _ => {}
        }
    }
}
