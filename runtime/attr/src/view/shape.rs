//! Shapes in place.

use crate::code::AttrTypeCode;
use crate::error::AttrError;
use crate::read::{FromAttr, in_place};
use crate::verify;

/// A shape: the dimensions of a tensor, as far as they are known.
///
/// ```
/// use tfrt_attr::{AlignedBytes, AttrEncoder, AttrValue, FromAttr, ShapeView};
///
/// let mut encoder = AttrEncoder::new();
/// let offset = encoder.encode(&AttrValue::Shape(Some(vec![2, -1, 3])))?;
/// let section = AlignedBytes::from(encoder.as_bytes());
/// let shape = ShapeView::read(&section, offset)?;
/// assert_eq!(shape.dims(), Some(&[2, -1, 3][..]));
/// assert!(!shape.is_static());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeView<'a> {
    dims: Option<&'a [i64]>,
}

impl<'a> ShapeView<'a> {
    /// Returns the dimensions, outermost first, -1 for an unknown one, or `None` if the rank is
    /// unknown.
    #[must_use]
    pub fn dims(self) -> Option<&'a [i64]> {
        self.dims
    }

    /// Returns the number of dimensions, if it is known.
    #[must_use]
    pub fn rank(self) -> Option<usize> {
        self.dims.map(<[i64]>::len)
    }

    /// Returns `true` if every dimension is known.
    #[must_use]
    pub fn is_static(self) -> bool {
        self.dims
            .is_some_and(|dims| dims.iter().all(|&dim| dim >= 0))
    }
}

impl<'a> FromAttr<'a> for ShapeView<'a> {
    const EXPECTED: &'static str = "shape";

    fn is_stored_as(code: AttrTypeCode) -> bool {
        code == AttrTypeCode::SHAPE
    }

    fn read(section: &'a [u8], offset: u32) -> Result<Self, AttrError> {
        let offset = offset as usize;
        let dims = match verify::header(section, offset)? {
            None => None,
            Some(header) => {
                let dims = verify::shape(section, &header)?;
                Some(in_place(dims, header.end() - dims.len())?)
            }
        };
        Ok(Self { dims })
    }
}
