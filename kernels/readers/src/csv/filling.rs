//! Columns while rows are added to them.

use std::fmt;

use tfrt_support::DType;

use super::fields::Fields;
use crate::column::MaskedValues;
use crate::decimal::Decimal;
use crate::schema::{Cell, Column};

/// Returns about how much memory a row takes in its columns, whose fields have so many bytes.
pub(super) fn row_bytes(field_bytes: usize, num_columns: usize) -> usize {
    field_bytes + num_columns * size_of::<Cell>()
}

/// A column, and its values of the rows that were read.
#[derive(Debug)]
pub(super) struct Filling {
    pub(super) name: String,
    pub(super) dtype: DType,
    /// Which field of a row.
    pub(super) position: usize,
    default: Option<Cell>,
    pub(super) rows: MaskedValues,
}

impl Filling {
    pub(super) fn new(column: &Column, position: usize) -> Self {
        Self {
            name: column.name.clone(),
            dtype: column.dtype,
            position,
            default: column.default_value(),
            rows: MaskedValues::new(column),
        }
    }

    /// Adds the values in the rows of a text. If one fails, those in front of it were added.
    pub(super) fn add_rows(
        &mut self,
        text: &[u8],
        fields: &Fields,
        is_lossy: bool,
    ) -> Result<(), CellError> {
        let column = fields.column(self.position).ok_or(CellError::EndOfRow)?;
        for range in column {
            match Decimal::parse(text, range.clone()) {
                Some(number) if self.rows.values.push_decimal(number) => self.rows.push_mask(true),
                _ => self.add(text.get(range), is_lossy)?,
            }
        }
        Ok(())
    }

    /// Adds the value in a row, whose field is absent if the row is too short. Adds nothing if it
    /// fails.
    #[inline]
    pub(super) fn add(&mut self, field: Option<&[u8]>, is_lossy: bool) -> Result<(), CellError> {
        let Some(field) = field else {
            return Err(CellError::EndOfRow);
        };
        // Blanks around a number do not count. Alone, they are not a value.
        let text = match self.dtype {
            DType::String => field,
            _ => field.trim_ascii(),
        };
        let values = &mut self.rows.values;
        let is_there = match (text.is_empty(), &self.default) {
            (true, Some(default)) => {
                values.push(default.clone());
                false
            }
            (_, _) if self.dtype == DType::String => match String::from_utf8_lossy(field) {
                std::borrow::Cow::Borrowed(_) => values.push_text(field),
                std::borrow::Cow::Owned(text) if is_lossy => values.push_text(text.as_bytes()),
                std::borrow::Cow::Owned(_) => return Err(CellError::NotUtf8),
            },
            (is_empty, _) => match values.push_text(text) {
                true => true,
                false if is_empty => return Err(CellError::Empty),
                false => return Err(CellError::Other(shortened(field))),
            },
        };
        self.rows.push_mask(is_there);
        Ok(())
    }
}

/// What stands in place of a value.
#[derive(Debug)]
pub(super) enum CellError {
    EndOfRow,
    Empty,
    NotUtf8,
    /// Another text, which begins so.
    Other(String),
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfRow => f.write_str("found the end of the row"),
            Self::Empty => f.write_str("found nothing"),
            Self::NotUtf8 => f.write_str("found bytes that are not UTF-8"),
            Self::Other(text) => write!(f, "found `{text}`"),
        }
    }
}

impl std::error::Error for CellError {}

/// The beginning of a field, for a message.
fn shortened(field: &[u8]) -> String {
    const MAX_BYTES: usize = 40;
    let text = String::from_utf8_lossy(&field[..field.len().min(MAX_BYTES)]);
    let dots = if field.len() > MAX_BYTES { "…" } else { "" };
    format!("{text}{dots}")
}
