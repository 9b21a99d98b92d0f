//! What the columns of a file, or the features of a record, are.
//!
//! ```text
//!  image: str, pixels: f32 [28, 28], label: i64 = -1, ids: i64 [?], weight: f32?
//!  └name  └type        └shape              └default        └any number  └may be missing: one more component says whether it is there
//! ```

mod text;

use std::fmt;

use tfrt_async::{ByteString, Value};
use tfrt_data::ElementTypes;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

/// The columns that are read, in the order of the components.
///
/// It has a text form: columns separated by commas. A name with other characters than letters,
/// digits and `_-./` is in quotes.
///
/// ```
/// use tfrt_readers::schema::{ColumnShape, Missing, Schema};
/// use tfrt_support::DType;
///
/// let schema: Schema = "image: str, label: i64 = -1, weight: f32?".parse()?;
/// let label = &schema.columns()[1];
/// assert_eq!((&*label.name, label.dtype), ("label", DType::I64));
/// assert_eq!(label.shape, ColumnShape::Scalar);
/// assert_eq!(schema.columns()[2].missing, Missing::Mask);
/// assert_eq!(schema.num_components(), 4);
/// assert_eq!(schema.to_string(), "image: str, label: i64 = -1, weight: f32?");
///
/// let error = "label: i65".parse::<Schema>().unwrap_err();
/// assert_eq!(error.message(), "schema, at byte 7: expected an element type, found `i65`");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    columns: Vec<Column>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its elements: a number, `i1` or `str`.
    pub dtype: DType,
    /// What it has in each row.
    pub shape: ColumnShape,
    /// What stands for a value that a row lacks.
    pub missing: Missing,
}

/// What a column has in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnShape {
    /// One value.
    Scalar,
    /// A tensor of this shape.
    Fixed(Vec<usize>),
    /// Any number of values: a tensor of rank 1.
    Variable,
}

/// What stands for a value that a row lacks.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// It is an error.
    Error,
    /// This value.
    Default(Cell),
    /// Zero, or the empty string; the next component is `i1`, and says whether the value was there.
    Mask,
}

/// A single value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A truth value.
    Truth(bool),
    /// A whole number, in the range of its type.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// Zero, false, or the empty string.
    #[must_use]
    pub fn zero(dtype: DType) -> Self {
        match dtype {
            DType::I1 => Self::Truth(false),
            DType::F32 | DType::F64 => Self::Float(0.0),
            DType::String => Self::Bytes(Vec::new()),
            _ => Self::Integer(0),
        }
    }

    /// The value that a text stands for: numbers in decimal, truth values as `true`, `false`, `1`
    /// or `0`. Nothing if it is none of the type.
    #[must_use]
    #[inline]
    pub fn parse(dtype: DType, text: &[u8]) -> Option<Self> {
        if dtype == DType::String {
            return Some(Self::Bytes(text.to_vec()));
        }
        let text = std::str::from_utf8(text).ok()?;
        match dtype {
            DType::F64 => text.parse().ok().map(Self::Float),
            // Rounded once: by way of the larger type, some would be rounded twice.
            DType::F32 => text.parse::<f32>().ok().map(|x| Self::Float(x.into())),
            DType::I1 => match text {
                "1" | "true" | "True" | "TRUE" => Some(Self::Truth(true)),
                "0" | "false" | "False" | "FALSE" => Some(Self::Truth(false)),
                _ => None,
            },
            _ => {
                let number = text.parse::<i64>().map(i128::from);
                let number = number.or_else(|_| text.parse::<i128>()).ok()?;
                integer_range(dtype)?
                    .contains(&number)
                    .then_some(Self::Integer(number))
            }
        }
    }
}

/// The numbers of a type of integers.
fn integer_range(dtype: DType) -> Option<std::ops::RangeInclusive<i128>> {
    let bits = match dtype {
        DType::I8 | DType::Ui8 => 8,
        DType::I16 | DType::Ui16 => 16,
        DType::I32 | DType::Ui32 => 32,
        DType::I64 | DType::Ui64 => 64,
        _ => return None,
    };
    Some(match dtype {
        DType::Ui8 | DType::Ui16 | DType::Ui32 | DType::Ui64 => 0..=(1 << bits) - 1,
        _ => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
    })
}

/// Whether columns can have elements of the type.
pub(crate) fn is_supported(dtype: DType) -> bool {
    matches!(dtype, DType::I1 | DType::F32 | DType::F64 | DType::String)
        || integer_range(dtype).is_some()
}

/// Whether a tensor of this shape, of elements of any type, could be in memory.
fn is_addressable(dims: &[usize]) -> bool {
    const MAX_ELEMENTS: usize = isize::MAX as usize / size_of::<u64>();
    let num_elements = dims
        .iter()
        .try_fold(1_usize, |num, &dim| num.checked_mul(dim));
    num_elements.is_some_and(|num| num <= MAX_ELEMENTS)
}

impl Column {
    /// A column with one value in each row, none of which may be missing.
    #[must_use]
    pub fn new(name: impl Into<String>, dtype: DType) -> Self {
        Self {
            name: name.into(),
            dtype,
            shape: ColumnShape::Scalar,
            missing: Missing::Error,
        }
    }

    /// What stands for a value that is missing; nothing if that is an error.
    #[must_use]
    pub fn default_value(&self) -> Option<Cell> {
        match &self.missing {
            Missing::Error => None,
            Missing::Default(cell) => Some(cell.clone()),
            Missing::Mask => Some(Cell::zero(self.dtype)),
        }
    }
}

impl Schema {
    /// A schema of these columns.
    ///
    /// # Errors
    /// If there is none, two have the same name, a type is not that of a column, or a default is
    /// not of the type of its column.
    pub fn new(columns: Vec<Column>) -> Result<Self, Error> {
        let invalid =
            |message: String| Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        if columns.is_empty() {
            return invalid("expected at least one column in the schema".to_owned());
        }
        for (index, column) in columns.iter().enumerate() {
            let Column { name, dtype, .. } = column;
            if columns[..index].iter().any(|other| other.name == *name) {
                return invalid(format!("column `{name}` is in the schema twice"));
            }
            if !is_supported(*dtype) {
                return invalid(format!(
                    "column `{name}`: files cannot contain elements of type {dtype}"
                ));
            }
            if let ColumnShape::Fixed(dims) = &column.shape
                && !is_addressable(dims)
            {
                return invalid(format!(
                    "column `{name}`: the shape {dims:?} has too many elements"
                ));
            }
            let is_of_type = match &column.missing {
                Missing::Default(Cell::Truth(_)) => *dtype == DType::I1,
                Missing::Default(Cell::Float(_)) => matches!(dtype, DType::F32 | DType::F64),
                Missing::Default(Cell::Bytes(_)) => *dtype == DType::String,
                Missing::Default(Cell::Integer(number)) => {
                    integer_range(*dtype).is_some_and(|range| range.contains(number))
                }
                Missing::Error | Missing::Mask => true,
            };
            if !is_of_type {
                return invalid(format!(
                    "column `{name}`: expected a default of type {dtype}"
                ));
            }
        }
        Ok(Self { columns })
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many components elements have: one for each column, and one more for each that may be
    /// missing.
    #[must_use]
    pub fn num_components(&self) -> usize {
        let is_masked = |column: &&Column| column.missing == Missing::Mask;
        self.columns.len() + self.columns.iter().filter(is_masked).count()
    }

    /// Returns the types of the components of a row.
    ///
    /// ```
    /// use tfrt_readers::schema::Schema;
    ///
    /// let schema: Schema = "image: str, pixels: f32 [28, 28], weight: f32?".parse()?;
    /// assert_eq!(schema.element_types().to_string(), "(!tfrt.string, !t.tensor, f32, i1)");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn element_types(&self) -> ElementTypes {
        let scalar = |dtype: DType| match dtype {
            DType::String => ByteString::MLIR_TYPE.to_owned(),
            number => number.to_string(),
        };
        let of_column = |column: &Column| {
            let ty = match column.shape {
                ColumnShape::Scalar => scalar(column.dtype),
                ColumnShape::Fixed(_) | ColumnShape::Variable => {
                    DenseHostTensor::MLIR_TYPE.to_owned()
                }
            };
            let mask = (column.missing == Missing::Mask).then(|| scalar(DType::I1));
            [Some(ty), mask].into_iter().flatten()
        };
        let types: Vec<String> = self.columns.iter().flat_map(of_column).collect();
        ElementTypes::new(types.iter().map(|ty| Some(&**ty)))
    }

    /// Returns the types of the components of several rows: each is a tensor.
    pub(crate) fn types_of_batches(&self) -> ElementTypes {
        let tensors = std::iter::repeat_n(Some(DenseHostTensor::MLIR_TYPE), self.num_components());
        ElementTypes::new(tensors)
    }

    /// The same schema without the columns whose rows are not single values, which some formats
    /// lack.
    ///
    /// # Errors
    /// If there is such a column.
    pub(crate) fn expect_scalars(&self, format: &str) -> Result<(), Error> {
        let is_tensor = |column: &&Column| column.shape != ColumnShape::Scalar;
        match self.columns.iter().find(is_tensor) {
            None => Ok(()),
            Some(Column { name, .. }) => {
                let message = format!("column `{name}`: {format} support only one value per row");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::print(self, f)
    }
}

impl std::str::FromStr for Schema {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text::parse(text)
    }
}
