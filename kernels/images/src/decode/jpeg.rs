//! JPEG images.
//!
//! A file consists of segments, which begin with a mark and their length, and of coded pixels
//! behind each segment of the kind "start of scan". In coded pixels, a byte 0xff stands in front of
//! a zero or a restart mark, and otherwise begins the next segment.
//!
//! Coded pixels come in rows of units of 8 or 16 lines, from the top. A decoder cannot begin in the
//! middle, but it can stop: where only the upper rows are needed, it is given a file that states a
//! smaller height.

use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{Decoded, MAX_EXTENT, Wanted, allocate_claimed, undecodable};
use crate::orientation::Orientation;

/// Marks: the bytes behind 0xff.
const END: u8 = 0xd9;
const START_OF_SCAN: u8 = 0xda;

pub(super) fn decode(
    data: &[u8],
    wanted: &Wanted,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Decoded> {
    require_end(data)?;
    let Some(upper) = wanted.num_rows.and_then(|rows| UpperRows::of(data, rows)) else {
        return File::open(data)?.decode(wanted.channels, allocator);
    };
    // The upper rows of an image that is turned are other ones.
    if wanted.is_upright {
        let file = File::open(data)?;
        if file.orientation() != Orientation::default() {
            return file.decode(wanted.channels, allocator);
        }
    }
    let decoded = File::open(&upper.data)?.decode(wanted.channels, allocator)?;
    Ok(Decoded {
        height: upper.height_of_file,
        ..decoded
    })
}

/// A file whose header has been read.
struct File<'d> {
    decoder: JpegDecoder<ZCursor<&'d [u8]>>,
    options: DecoderOptions,
}

impl<'d> File<'d> {
    fn open(data: &'d [u8]) -> Result<Self> {
        let options = DecoderOptions::default()
            .set_strict_mode(true)
            .set_max_width(MAX_EXTENT)
            .set_max_height(MAX_EXTENT);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
        decoder
            .decode_headers()
            .map_err(|error| undecodable("JPEG", error))?;
        Ok(Self { decoder, options })
    }

    fn orientation(&self) -> Orientation {
        let exif = self.decoder.exif().map(|exif| Orientation::of_exif(exif));
        exif.unwrap_or_default()
    }

    fn decode(mut self, channels: usize, allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
        let found = self.decoder.input_colorspace();
        if let Some(ColorSpace::CMYK | ColorSpace::YCCK) = found {
            let message = "cannot decode a JPEG image: the CMYK color space is not supported";
            return Err(Error::new(message).with_code(ErrorCode::Unimplemented));
        }
        // The brightness of a colour image is what the file has; colours of a grey one are made
        // later.
        let (colors, num_channels) = match (found, channels) {
            (Some(ColorSpace::Luma), _) | (_, 1) => (ColorSpace::Luma, 1),
            _ => (ColorSpace::RGB, 3),
        };
        let options = self.options.jpeg_set_out_colorspace(colors);
        self.decoder.set_options(options);
        let (width, height) = self.decoder.dimensions().unwrap_or_default();
        let mut image = allocate_claimed("JPEG", [height, width, num_channels], allocator)?;
        self.decoder
            .decode_into(&mut image.elements_mut::<u8>()?)
            .map_err(|error| undecodable("JPEG", error))?;
        Ok(Decoded {
            image,
            height,
            orientation: self.orientation(),
        })
    }
}

/// A part of a file.
enum Part<'d> {
    /// A mark, and what follows it.
    Mark(u8, &'d [u8]),
    /// Bytes that belong neither to a segment nor to coded pixels.
    Unknown,
}

/// Returns the next part, and what follows it.
fn next_part<'d>(rest: &'d [u8], is_scan: bool) -> Option<(Part<'d>, &'d [u8])> {
    let mut rest = rest;
    loop {
        let [first, tail @ ..] = rest else {
            return None;
        };
        if *first == 0xff {
            let [kind, behind @ ..] = tail else {
                return None;
            };
            match *kind {
                // A mark may have any number of such bytes in front.
                0xff => rest = tail,
                0x00 | 0x01 | 0xd0..=0xd7 => rest = behind,
                END => return Some((Part::Mark(END, behind), behind)),
                kind => {
                    let length = behind
                        .first_chunk()
                        .map_or(0, |&len| u16::from_be_bytes(len));
                    let next = behind.get(usize::from(length)..).unwrap_or_default();
                    return Some((Part::Mark(kind, behind), next));
                }
            }
        } else if is_scan {
            rest = &tail[find_mark(tail)..];
        } else {
            return Some((Part::Unknown, rest));
        }
    }
}

/// Returns the index of the first byte 0xff, or the length.
fn find_mark(bytes: &[u8]) -> usize {
    // Whether a block has such a byte takes a few vector instructions; where it is takes many.
    let (blocks, _) = bytes.as_chunks::<32>();
    let num_without = blocks
        .iter()
        .take_while(|block| !block.iter().fold(false, |has, &byte| has | (byte == 0xff)))
        .count();
    let start = num_without * 32;
    let len = bytes[start..].iter().position(|&byte| byte == 0xff);
    len.map_or(bytes.len(), |len| start + len)
}

/// Finds the mark that ends a file. The decoder fills missing parts of a truncated file with grey,
/// without an error.
fn require_end(data: &[u8]) -> Result<()> {
    let (mut rest, mut is_scan) = (data.get(2..).unwrap_or_default(), false);
    while let Some((part, behind)) = next_part(rest, is_scan) {
        match part {
            Part::Mark(END, _) => return Ok(()),
            Part::Mark(kind, _) => is_scan = kind == START_OF_SCAN,
            // The decoder says what is wrong with such a file.
            Part::Unknown => return Ok(()),
        }
        rest = behind;
    }
    let len_bytes = data.len();
    Err(undecodable(
        "JPEG",
        format_args!("the data ends at byte {len_bytes}"),
    ))
}

/// A file of the upper rows of an image.
struct UpperRows {
    data: Vec<u8>,
    height_of_file: usize,
}

impl UpperRows {
    /// Returns the file of at least these rows; `None` if that is the whole image, or if the rows
    /// of the image do not follow each other in the file.
    fn of(data: &[u8], num_rows: usize) -> Option<Self> {
        let frame = Frame::of(data)?;
        // The colours of the last row may depend on the next row of units.
        let num_units = num_rows.div_ceil(frame.unit_height).saturating_add(1);
        let height = num_units.saturating_mul(frame.unit_height);
        if height >= frame.height {
            return None;
        }
        let stated = u16::try_from(height).ok()?.to_be_bytes();
        let mut upper = data.to_vec();
        upper
            .get_mut(frame.place_of_height..)?
            .get_mut(..2)?
            .copy_from_slice(&stated);
        Some(Self {
            data: upper,
            height_of_file: frame.height,
        })
    }
}

/// The header of an image whose rows follow each other in the file: all components are coded
/// together, in one scan.
struct Frame {
    height: usize,
    place_of_height: usize,
    /// The number of lines of a row of coded units.
    unit_height: usize,
}

impl Frame {
    fn of(data: &[u8]) -> Option<Self> {
        /// Frames of Huffman-coded pixels in one pass.
        const SEQUENTIAL: [u8; 2] = [0xc0, 0xc1];
        let mut rest = data.get(2..)?;
        let mut found = None;
        while let Some((Part::Mark(kind, segment), behind)) = next_part(rest, false) {
            // A segment is its length, then:
            match (kind, &found) {
                (kind, None) if SEQUENTIAL.contains(&kind) => {
                    // precision: 1 byte, height: 2, width: 2, and the number of components: 1,
                    // then for each its name, its sampling factors and its table: 1 byte each.
                    let [_, _, _, high, low, _, _, num, components @ ..] = segment else {
                        return None;
                    };
                    let (components, _) = components.as_chunks::<3>();
                    let components = components.get(..usize::from(*num))?;
                    let factors = components.iter().map(|[_, factors, _]| factors & 15);
                    let frame = Self {
                        height: u16::from_be_bytes([*high, *low]).into(),
                        place_of_height: data.len() - segment.len() + 3,
                        unit_height: 8 * usize::from(factors.max()?),
                    };
                    found = Some((frame, *num)).filter(|(frame, _)| frame.unit_height > 0);
                    found.as_ref()?;
                }
                (START_OF_SCAN, Some((_, num))) => {
                    let has_all = segment.get(2) == Some(num);
                    return found.filter(|_| has_all).map(|(frame, _)| frame);
                }
                (START_OF_SCAN, None) => return None,
                // A second frame.
                (kind, Some(_)) if SEQUENTIAL.contains(&kind) => return None,
                _ => {}
            }
            rest = behind;
        }
        None
    }
}
