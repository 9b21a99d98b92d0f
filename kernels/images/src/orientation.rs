//! How images have to be turned to stand upright, which cameras write into EXIF data.
//!
//! A camera stores the rows as its sensor delivers them, and the number of an orientation:
//!
//! | number | an upright image is the stored one |
//! |---|---|
//! | 1 | unchanged |
//! | 2, 4 | mirrored from left to right, or from top to bottom |
//! | 3 | turned by 180 degrees |
//! | 6, 8 | turned by 90 degrees to the right, or to the left |
//! | 5, 7 | mirrored at the diagonal from the upper left, or from the upper right |

use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{allocate, extents};

/// An orientation: three steps that make an image upright, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Orientation {
    is_transposed: bool,
    is_mirrored: bool,
    is_upside_down: bool,
}

impl Orientation {
    /// Returns the orientation of this number.
    fn from_number(number: u16) -> Option<Self> {
        let (is_transposed, is_mirrored, is_upside_down) = match number {
            1 => (false, false, false),
            2 => (false, true, false),
            3 => (false, true, true),
            4 => (false, false, true),
            5 => (true, false, false),
            6 => (true, true, false),
            7 => (true, true, true),
            8 => (true, false, true),
            _ => return None,
        };
        Some(Self {
            is_transposed,
            is_mirrored,
            is_upside_down,
        })
    }

    /// Returns the orientation in EXIF data, which begins with the header of a TIFF file. Without
    /// one, or if the data are damaged, images are upright.
    pub(crate) fn of_exif(data: &[u8]) -> Self {
        find(data).and_then(Self::from_number).unwrap_or_default()
    }

    /// Returns an image upright.
    pub(crate) fn apply(
        self,
        image: DenseHostTensor,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor> {
        if self == Self::default() {
            return Ok(image);
        }
        let [height, width, channels] = extents(&image)?;
        let [rows, columns] = match self.is_transposed {
            true => [width, height],
            false => [height, width],
        };
        let mut upright = allocate(DType::Ui8, [rows, columns, channels], allocator)?;
        let from = image.elements::<u8>()?;
        let mut to = upright.elements_mut::<u8>()?;
        let pixels = to.chunks_exact_mut(channels.max(1));
        for (number, pixel) in pixels.enumerate() {
            let (row, column) = (number / columns, number % columns);
            let row = if self.is_upside_down {
                rows - 1 - row
            } else {
                row
            };
            let column = match self.is_mirrored {
                true => columns - 1 - column,
                false => column,
            };
            let place = match self.is_transposed {
                true => column * width + row,
                false => row * width + column,
            };
            pixel.copy_from_slice(&from[place * channels..][..channels]);
        }
        drop(to);
        Ok(upright)
    }
}

/// Finds the number of the orientation: a field of the first directory.
fn find(data: &[u8]) -> Option<u16> {
    /// Its tag, and the type of a number of 16 bits.
    const ORIENTATION: u16 = 0x0112;
    const SHORT: u16 = 3;
    const FIELD_BYTES: usize = 12;
    let is_little = match data.first_chunk()? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |data: &[u8], at: usize| {
        let bytes = *data.get(at..)?.first_chunk()?;
        Some(match is_little {
            true => u16::from_le_bytes(bytes),
            false => u16::from_be_bytes(bytes),
        })
    };
    let bytes = *data.get(4..)?.first_chunk()?;
    let directory = match is_little {
        true => u32::from_le_bytes(bytes),
        false => u32::from_be_bytes(bytes),
    };
    let directory = data.get(usize::try_from(directory).ok()?..)?;
    let num_fields = short(directory, 0)?;
    let mut fields = directory.get(2..)?.chunks_exact(FIELD_BYTES);
    let mut fields = fields.by_ref().take(num_fields.into());
    let found = fields
        .find(|field| (short(field, 0), short(field, 2)) == (Some(ORIENTATION), Some(SHORT)))?;
    short(found, 8)
}
