//! Columns on their way from a file to tensors.

#[cfg(feature = "csv")]
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_data::Values as Components;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Element, I1, Shape, StringHostTensor, TensorError};

#[cfg(feature = "csv")]
use crate::decimal::Decimal;
use crate::schema::{Cell, Column, Missing};

/// The values of a column in some rows, and which of them were there.
#[derive(Clone, Debug)]
pub(crate) struct MaskedValues {
    pub(crate) values: Values,
    /// Which values were there, one for each row, if somebody asks.
    mask: Option<Vec<I1>>,
}

impl MaskedValues {
    /// No values of a column.
    pub(crate) fn new(column: &Column) -> Self {
        Self {
            values: Values::new(column.dtype),
            mask: (column.missing == Missing::Mask).then(Vec::new),
        }
    }

    /// Says whether the value of the next row was there.
    #[inline]
    pub(crate) fn push_mask(&mut self, is_there: bool) {
        if let Some(mask) = &mut self.mask {
            mask.push(is_there.into());
        }
    }

    /// Moves rows of one value each from others of the same column. In their place, others have
    /// some values.
    #[cfg(feature = "csv")]
    pub(crate) fn move_from(&mut self, other: &mut Self, rows: Range<usize>) {
        self.values.move_from(&mut other.values, rows.clone());
        if let (Some(mask), Some(other)) = (&mut self.mask, &other.mask) {
            mask.extend_from_slice(&other[rows]);
        }
    }

    /// Takes back what was added behind the first `num_rows` rows of so many values.
    pub(crate) fn truncate(&mut self, num_rows: usize, values_per_row: usize) {
        self.values.truncate(num_rows * values_per_row);
        if let Some(mask) = &mut self.mask {
            mask.truncate(num_rows);
        }
    }

    /// Adds the components of the column: a tensor of rows of the shape `dims` and, if somebody
    /// asks, one that says which were there. No rows are left, unless it fails.
    pub(crate) fn take_tensors(
        &mut self,
        num_rows: usize,
        dims: &[usize],
        allocator: &Arc<dyn HostAllocator>,
        components: &mut Components,
    ) -> Result<(), Error> {
        let shape = [&[num_rows], dims].concat();
        components.push(self.values.take_tensor(&shape, allocator)?);
        if let Some(mask) = &mut self.mask {
            components.push(dense(mask, &[num_rows], allocator)?);
        }
        Ok(())
    }
}

/// Values of one type.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    I1(Vec<I1>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Ui8(Vec<u8>),
    Ui16(Vec<u16>),
    Ui32(Vec<u32>),
    Ui64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Strings(Vec<Vec<u8>>),
}

impl Values {
    /// No values of a type that a schema allows.
    pub(crate) fn new(dtype: DType) -> Self {
        match dtype {
            DType::I1 => Self::I1(Vec::new()),
            DType::I8 => Self::I8(Vec::new()),
            DType::I16 => Self::I16(Vec::new()),
            DType::I32 => Self::I32(Vec::new()),
            DType::I64 => Self::I64(Vec::new()),
            DType::Ui8 => Self::Ui8(Vec::new()),
            DType::Ui16 => Self::Ui16(Vec::new()),
            DType::Ui32 => Self::Ui32(Vec::new()),
            DType::Ui64 => Self::Ui64(Vec::new()),
            DType::F32 => Self::F32(Vec::new()),
            DType::F64 => Self::F64(Vec::new()),
            _ => Self::Strings(Vec::new()),
        }
    }

    /// Adds a value. Its type is that of the column, as the schema was checked and [`Cell::parse`]
    /// promises.
    pub(crate) fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Self::I1(values), Cell::Truth(truth)) => values.push(truth.into()),
            (Self::F32(values), Cell::Float(number)) => values.push(number as f32),
            (Self::F64(values), Cell::Float(number)) => values.push(number),
            (Self::Strings(values), Cell::Bytes(bytes)) => values.push(bytes),
            (Self::I8(values), Cell::Integer(number)) => values.push(number as i8),
            (Self::I16(values), Cell::Integer(number)) => values.push(number as i16),
            (Self::I32(values), Cell::Integer(number)) => values.push(number as i32),
            (Self::I64(values), Cell::Integer(number)) => values.push(number as i64),
            (Self::Ui8(values), Cell::Integer(number)) => values.push(number as u8),
            (Self::Ui16(values), Cell::Integer(number)) => values.push(number as u16),
            (Self::Ui32(values), Cell::Integer(number)) => values.push(number as u32),
            (Self::Ui64(values), Cell::Integer(number)) => values.push(number as u64),
            (values, cell) => unreachable!("{cell:?} is not a value of {values:?}"),
        }
    }

    /// Adds the value that a text stands for, as [`Cell::parse`] does. Returns false, and adds
    /// nothing, if there is none.
    #[inline]
    pub(crate) fn push_text(&mut self, text: &[u8]) -> bool {
        // By far the most columns of text are of these types. Going by way of a cell costs as much
        // as parsing.
        fn push<T: FromStr>(values: &mut Vec<T>, text: &[u8]) -> bool {
            let number = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse().ok());
            number.map(|number| values.push(number)).is_some()
        }
        match self {
            Self::F32(values) => push(values, text),
            Self::F64(values) => push(values, text),
            Self::I64(values) => push(values, text),
            Self::I32(values) => push(values, text),
            Self::Strings(values) => {
                values.push(text.to_vec());
                true
            }
            other => match Cell::parse(other.dtype(), text) {
                Some(cell) => {
                    other.push(cell);
                    true
                }
                None => false,
            },
        }
    }

    /// Adds a short number, as [`push_text`](Self::push_text) adds its text. Returns false, and
    /// adds nothing, if the type takes more than that to find the value.
    #[cfg(feature = "csv")]
    #[inline]
    pub(crate) fn push_decimal(&mut self, number: Decimal) -> bool {
        fn push<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
            value.map(|value| values.push(value)).is_some()
        }
        match self {
            Self::F32(values) => push(values, number.to_f32()),
            Self::F64(values) => push(values, Some(number.to_f64())),
            Self::I64(values) => push(values, number.to_i32().map(i64::from)),
            Self::I32(values) => push(values, number.to_i32()),
            _ => false,
        }
    }

    /// The type of the values.
    fn dtype(&self) -> DType {
        match self {
            Self::I1(_) => DType::I1,
            Self::I8(_) => DType::I8,
            Self::I16(_) => DType::I16,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::Ui8(_) => DType::Ui8,
            Self::Ui16(_) => DType::Ui16,
            Self::Ui32(_) => DType::Ui32,
            Self::Ui64(_) => DType::Ui64,
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::Strings(_) => DType::String,
        }
    }

    /// Moves values from others of the same type. In their place, others have some values.
    #[cfg(feature = "csv")]
    pub(crate) fn move_from(&mut self, other: &mut Self, range: Range<usize>) {
        match (self, other) {
            (Self::I1(to), Self::I1(from)) => to.extend_from_slice(&from[range]),
            (Self::I8(to), Self::I8(from)) => to.extend_from_slice(&from[range]),
            (Self::I16(to), Self::I16(from)) => to.extend_from_slice(&from[range]),
            (Self::I32(to), Self::I32(from)) => to.extend_from_slice(&from[range]),
            (Self::I64(to), Self::I64(from)) => to.extend_from_slice(&from[range]),
            (Self::Ui8(to), Self::Ui8(from)) => to.extend_from_slice(&from[range]),
            (Self::Ui16(to), Self::Ui16(from)) => to.extend_from_slice(&from[range]),
            (Self::Ui32(to), Self::Ui32(from)) => to.extend_from_slice(&from[range]),
            (Self::Ui64(to), Self::Ui64(from)) => to.extend_from_slice(&from[range]),
            (Self::F32(to), Self::F32(from)) => to.extend_from_slice(&from[range]),
            (Self::F64(to), Self::F64(from)) => to.extend_from_slice(&from[range]),
            (Self::Strings(to), Self::Strings(from)) => {
                to.extend(from[range].iter_mut().map(std::mem::take));
            }
            (to, from) => unreachable!("{from:?} are not of the type of {to:?}"),
        }
    }

    /// Takes back what was added behind the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Self::I1(values) => values.truncate(len),
            Self::I8(values) => values.truncate(len),
            Self::I16(values) => values.truncate(len),
            Self::I32(values) => values.truncate(len),
            Self::I64(values) => values.truncate(len),
            Self::Ui8(values) => values.truncate(len),
            Self::Ui16(values) => values.truncate(len),
            Self::Ui32(values) => values.truncate(len),
            Self::Ui64(values) => values.truncate(len),
            Self::F32(values) => values.truncate(len),
            Self::F64(values) => values.truncate(len),
            Self::Strings(values) => values.truncate(len),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::I1(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Ui8(values) => values.len(),
            Self::Ui16(values) => values.len(),
            Self::Ui32(values) => values.len(),
            Self::Ui64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Strings(values) => values.len(),
        }
    }

    /// About how much memory a tensor of the values takes.
    pub(crate) fn len_bytes(&self) -> usize {
        match self {
            Self::Strings(values) => values
                .iter()
                .map(|value| value.len() + size_of::<Vec<u8>>())
                .sum(),
            numbers => numbers.len() * numbers.dtype().size_bytes().unwrap_or(0),
        }
    }

    /// A tensor of the values; none are left.
    pub(crate) fn take_tensor(
        &mut self,
        shape: &[usize],
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<AnyRef, Error> {
        match self {
            Self::I1(values) => dense(values, shape, allocator),
            Self::I8(values) => dense(values, shape, allocator),
            Self::I16(values) => dense(values, shape, allocator),
            Self::I32(values) => dense(values, shape, allocator),
            Self::I64(values) => dense(values, shape, allocator),
            Self::Ui8(values) => dense(values, shape, allocator),
            Self::Ui16(values) => dense(values, shape, allocator),
            Self::Ui32(values) => dense(values, shape, allocator),
            Self::Ui64(values) => dense(values, shape, allocator),
            Self::F32(values) => dense(values, shape, allocator),
            Self::F64(values) => dense(values, shape, allocator),
            Self::Strings(values) => {
                let shape = Shape::new(shape).map_err(TensorError::from)?;
                let tensor = StringHostTensor::new(shape, std::mem::take(values))?;
                Ok(AnyRef::available(tensor))
            }
        }
    }
}

fn dense<T: Element>(
    values: &mut Vec<T>,
    shape: &[usize],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<AnyRef, Error> {
    let shape = Shape::new(shape).map_err(TensorError::from)?;
    let tensor = DenseHostTensor::from_elements(allocator, shape, values)?;
    values.clear();
    Ok(AnyRef::available(tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [DType; 12] = [
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::Ui8,
        DType::Ui16,
        DType::Ui32,
        DType::Ui64,
        DType::F32,
        DType::F64,
        DType::String,
    ];

    #[test]
    fn texts_are_added_as_the_cells_that_they_stand_for() {
        let texts = [
            "0",
            "1",
            "-1",
            "+7",
            "007",
            "127",
            "128",
            "-129",
            "300",
            "65536",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775809",
            "1.5",
            "1e3",
            "-.5",
            "1e400",
            "16777217",
            "0.1",
            "inf",
            "nan",
            "true",
            "False",
            "x",
            "",
            " 1",
            "1_0",
            "0x10",
        ];
        for dtype in TYPES {
            for text in texts {
                let (mut by_cell, mut by_text) = (Values::new(dtype), Values::new(dtype));
                let cell = Cell::parse(dtype, text.as_bytes());
                let is_value = cell.is_some();
                cell.into_iter().for_each(|cell| by_cell.push(cell));
                assert_eq!(
                    by_text.push_text(text.as_bytes()),
                    is_value,
                    "{dtype} `{text}`"
                );
                assert_eq!(
                    format!("{by_text:?}"),
                    format!("{by_cell:?}"),
                    "{dtype} `{text}`"
                );
            }
            assert_eq!(Values::new(dtype).dtype(), dtype);
        }
    }

    #[cfg(feature = "csv")]
    #[test]
    fn short_numbers_are_added_as_their_texts() {
        for dtype in TYPES {
            for text in [
                "0", "-0", "7", "-12", "0.5", "-2.", "99999999", "16777217", "1.5e3",
            ] {
                let (mut by_number, mut by_text) = (Values::new(dtype), Values::new(dtype));
                let number = Decimal::parse(text.as_bytes(), 0..text.len());
                let is_added = number.is_some_and(|number| by_number.push_decimal(number));
                assert_eq!(by_number.len(), usize::from(is_added), "{dtype} `{text}`");
                if is_added {
                    assert!(by_text.push_text(text.as_bytes()), "{dtype} `{text}`");
                    assert_eq!(format!("{by_number:?}"), format!("{by_text:?}"));
                }
            }
        }
        let mut numbers = Values::new(DType::F32);
        let number = Decimal::parse(b"0.5", 0..3).expect("it is short");
        assert!(numbers.push_decimal(number));
    }

    #[cfg(feature = "csv")]
    #[test]
    fn values_can_be_moved_to_others() {
        for dtype in TYPES {
            let (mut from, mut to) = (Values::new(dtype), Values::new(dtype));
            for text in ["1", "0", "1", "0"] {
                assert!(from.push_text(text.as_bytes()));
            }
            assert!(to.push_text(b"0"));
            to.move_from(&mut from, 1..3);
            let mut expected = Values::new(dtype);
            for text in ["0", "0", "1"] {
                assert!(expected.push_text(text.as_bytes()));
            }
            assert_eq!(format!("{to:?}"), format!("{expected:?}"), "{dtype}");
        }
    }

    #[test]
    fn what_was_added_can_be_taken_back() {
        for dtype in TYPES {
            let mut values = Values::new(dtype);
            for text in ["1", "0", "1"] {
                assert!(values.push_text(text.as_bytes()));
            }
            values.truncate(2);
            assert_eq!(values.len(), 2, "{dtype}");
            values.truncate(5);
            assert_eq!(values.len(), 2, "{dtype}");
        }
    }
}
