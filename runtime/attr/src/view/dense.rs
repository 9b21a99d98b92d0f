//! Dense tensors in place.

use tfrt_support::DType;

use crate::code::AttrTypeCode;
use crate::error::{AttrError, AttrProblem};
use crate::read::{Element, FromAttr, in_place};
use crate::verify;

/// A dense tensor: element type, dimensions, and the elements row-major and packed.
///
/// ```
/// use tfrt_attr::{AlignedBytes, AttrEncoder, AttrValue, DenseAttr, DenseView, FromAttr};
/// use tfrt_support::DType;
///
/// let value = DenseAttr { dtype: DType::I16, dims: vec![3], data: [7_i16.to_le_bytes(); 3].concat() };
/// let mut encoder = AttrEncoder::new();
/// let offset = encoder.encode(&AttrValue::Dense(value))?;
/// let section = AlignedBytes::from(encoder.as_bytes());
/// let dense = DenseView::read(&section, offset)?;
/// assert_eq!((dense.dtype(), dense.dims()), (DType::I16, &[3][..]));
/// assert_eq!(dense.elements::<i16>()?, [7, 7, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenseView<'a> {
    dtype: DType,
    num_elements: usize,
    dims: &'a [i64],
    data: &'a [u8],
    data_offset: usize,
}

impl<'a> DenseView<'a> {
    /// Returns the type of the elements.
    #[must_use]
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Returns the dimensions, outermost first; none is negative.
    #[must_use]
    pub fn dims(self) -> &'a [i64] {
        self.dims
    }

    /// Returns the number of elements: the product of the dimensions.
    #[must_use]
    pub fn num_elements(self) -> usize {
        self.num_elements
    }

    /// Returns the bytes of the elements.
    #[must_use]
    pub fn data(self) -> &'a [u8] {
        self.data
    }

    /// Returns the elements.
    ///
    /// # Errors
    /// If they are not of type `T`.
    pub fn elements<T: Element>(self) -> Result<&'a [T], AttrError> {
        if self.dtype == T::DTYPE {
            in_place(self.data, self.data_offset)
        } else {
            let problem = AttrProblem::WrongElementType {
                expected: T::DTYPE,
                found: self.dtype,
            };
            Err(AttrError::new(self.data_offset, problem))
        }
    }
}

impl<'a> FromAttr<'a> for DenseView<'a> {
    const EXPECTED: &'static str = "dense";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code == AttrTypeCode::DENSE
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        let header = verify::dense_header(section, offset as usize)?;
        let parts = verify::dense(section, &header)?;
        Ok(Self {
            dtype: parts.dtype,
            num_elements: parts.num_elements,
            dims: in_place(parts.dims, parts.data_offset - parts.dims.len())?,
            data: parts.data,
            data_offset: parts.data_offset,
        })
    }
}
