//! Decoding images.
//!
//! The decoders are those of `zune-jpeg`, `zune-png` and `image-webp`. Files may be damaged or
//! malicious: the size that a file states is checked before memory is allocated for it, and a panic
//! of a decoder becomes an error.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use image_webp::WebPDecoder;
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;
use zune_png::PngDecoder;

use crate::orientation::Orientation;
use crate::{allocate, invalid};

/// The maximum number of pixels of an image. A few bytes can claim many more than this, and the
/// decoder of a progressive JPEG image keeps 6 bytes for each.
pub const MAX_PIXELS: usize = 1 << 26;

/// Returns the pixels of an image in JPEG, PNG or WebP format, detected by its first bytes. Samples
/// of 16 bits are reduced to their upper 8. With `channels` 0, the image has the channels of the
/// file; otherwise it is converted to 1, 3 or 4.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_images::decode::decode;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let error = decode(b"GIF89a", 3, &allocator).unwrap_err();
/// assert_eq!(error.message(), "expected an image in JPEG, PNG or WebP format, found other bytes");
/// ```
///
/// # Errors
/// If the bytes are not such an image, are cut off or damaged, or claim more than [`MAX_PIXELS`]
/// pixels; JPEG images in CMYK.
pub fn decode(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    Ok(decode_file(data, channels, allocator)?.image)
}

/// Returns the pixels of an image as [`decode`] does, upright: turned as the EXIF data of the file
/// say. Cameras store images as they were held.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_images::decode::decode_upright;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// assert!(decode_upright(b"GIF89a", 3, &allocator).is_err());
/// ```
///
/// # Errors
/// As [`decode`]. Damaged EXIF data are ignored.
pub fn decode_upright(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let Decoded { image, orientation } = decode_file(data, channels, allocator)?;
    orientation.apply(image, allocator)
}

/// What a file contains.
struct Decoded {
    image: DenseHostTensor,
    orientation: Orientation,
}

fn decode_file(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Decoded> {
    if !matches!(channels, 0 | 1 | 3 | 4) {
        return Err(invalid(format!(
            "expected 0, 1, 3 or 4 channels, found {channels}"
        )));
    }
    let decoded = match data {
        [0xff, 0xd8, 0xff, ..] => guard("JPEG", || decode_jpeg(data, channels, allocator))?,
        [0x89, b'P', b'N', b'G', ..] => guard("PNG", || decode_png(data, allocator))?,
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => decode_webp(data, allocator)?,
        _ => {
            let message = "expected an image in JPEG, PNG or WebP format, found other bytes";
            return Err(invalid(message));
        }
    };
    Ok(Decoded {
        image: convert(decoded.image, channels, allocator)?,
        ..decoded
    })
}

/// Runs a decoder. A panic of it is an error: damaged files find the assertions that its makers did
/// not expect to fail.
fn guard(format: &str, decode: impl FnOnce() -> Result<Decoded>) -> Result<Decoded> {
    // A decoder that panicked is dropped, with the image that it wrote to.
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(undecodable(format, "the decoder panicked")))
}

/// Returns an image for the pixels that a file claims to have.
fn allocate_claimed(
    format: &str,
    [height, width, channels]: [usize; 3],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    if height.saturating_mul(width) > MAX_PIXELS {
        let message = format!(
            "a {format} image of {width} × {height} pixels is too large: expected at most \
             {MAX_PIXELS} pixels"
        );
        return Err(Error::new(message).with_code(ErrorCode::ResourceExhausted));
    }
    if height == 0 || width == 0 {
        return Err(invalid(format!(
            "cannot decode a {format} image: it has no pixels"
        )));
    }
    allocate(DType::Ui8, [height, width, channels], allocator)
}

#[cold]
fn undecodable(format: &str, error: impl std::fmt::Display) -> Error {
    Error::new(format!("cannot decode a {format} image: {error}")).with_code(ErrorCode::DataLoss)
}

/// The widest and highest image that formats can have, as long as the number of its pixels is
/// checked.
const MAX_EXTENT: usize = MAX_PIXELS;

fn decode_jpeg(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Decoded> {
    let wrong = |error| undecodable("JPEG", error);
    require_end_of_jpeg(data)?;
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(MAX_EXTENT)
        .set_max_height(MAX_EXTENT);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
    decoder.decode_headers().map_err(wrong)?;
    let found = decoder.input_colorspace();
    if let Some(ColorSpace::CMYK | ColorSpace::YCCK) = found {
        let message = "cannot decode a JPEG image: the CMYK color space is not supported";
        return Err(Error::new(message).with_code(ErrorCode::Unimplemented));
    }
    // The brightness of a colour image is what the file has; colours of a grey one are made below.
    let (colors, num_channels) = match (found, channels) {
        (Some(ColorSpace::Luma), _) | (_, 1) => (ColorSpace::Luma, 1),
        _ => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(colors));
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let mut image = allocate_claimed("JPEG", [height, width, num_channels], allocator)?;
    decoder
        .decode_into(&mut image.elements_mut::<u8>()?)
        .map_err(wrong)?;
    let exif = decoder.exif().map(|exif| Orientation::of_exif(exif));
    Ok(Decoded {
        image,
        orientation: exif.unwrap_or_default(),
    })
}

/// Finds the mark that ends a JPEG file. The decoder fills missing parts of a truncated file with
/// grey, without an error.
///
/// Behind the first mark, a file consists of segments, which begin with a mark and their length,
/// and of coded pixels behind a segment of the kind "start of scan". In coded pixels, a byte 0xff
/// stands in front of a zero or a restart mark, and otherwise begins the next segment.
fn require_end_of_jpeg(data: &[u8]) -> Result<()> {
    const END: u8 = 0xd9;
    const START_OF_SCAN: u8 = 0xda;
    let mut rest = data.get(2..).unwrap_or_default();
    let mut is_scan = false;
    while let [first, tail @ ..] = rest {
        let [kind, behind @ ..] = tail else { break };
        match (*first, *kind) {
            // A mark may have any number of such bytes in front.
            (0xff, 0xff) => rest = tail,
            (0xff, END) => return Ok(()),
            (0xff, 0x00 | 0x01 | 0xd0..=0xd7) => rest = behind,
            (0xff, kind) => {
                let length = behind
                    .first_chunk()
                    .map_or(0, |&len| u16::from_be_bytes(len));
                rest = behind.get(usize::from(length)..).unwrap_or_default();
                is_scan = kind == START_OF_SCAN;
            }
            _ if is_scan => {
                let len = tail.iter().position(|&byte| byte == 0xff);
                rest = &tail[len.unwrap_or(tail.len())..];
            }
            // The decoder says what is wrong with such a file.
            _ => return Ok(()),
        }
    }
    let len_bytes = data.len();
    Err(undecodable(
        "JPEG",
        format_args!("the data ends at byte {len_bytes}"),
    ))
}

fn decode_png(data: &[u8], allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    let wrong = |error| undecodable("PNG", error);
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .png_set_confirm_crc(true)
        .png_set_strip_to_8bit(true)
        .set_max_width(MAX_EXTENT)
        .set_max_height(MAX_EXTENT);
    let mut decoder = PngDecoder::new_with_options(ZCursor::new(data), options);
    decoder.decode_headers().map_err(wrong)?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let num_channels = decoder
        .colorspace()
        .map_or(0, |colors| colors.num_components());
    let mut image = allocate_claimed("PNG", [height, width, num_channels], allocator)?;
    decoder
        .decode_into(&mut image.elements_mut::<u8>()?)
        .map_err(wrong)?;
    let exif = decoder.info().and_then(|info| info.exif.as_deref());
    Ok(Decoded {
        image,
        orientation: exif.map(Orientation::of_exif).unwrap_or_default(),
    })
}

fn decode_webp(data: &[u8], allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    let wrong = |error| undecodable("WebP", error);
    let mut decoder = WebPDecoder::new(Cursor::new(data)).map_err(wrong)?;
    decoder.set_memory_limit(MAX_PIXELS * 4);
    let (width, height) = decoder.dimensions();
    let num_channels = if decoder.has_alpha() { 4 } else { 3 };
    let extents = [height as usize, width as usize, num_channels];
    let mut image = allocate_claimed("WebP", extents, allocator)?;
    decoder
        .read_image(&mut image.elements_mut::<u8>()?)
        .map_err(wrong)?;
    let exif = decoder.exif_metadata().map_err(wrong)?;
    let orientation = exif.map(|exif| Orientation::of_exif(&exif));
    Ok(Decoded {
        image,
        orientation: orientation.unwrap_or_default(),
    })
}

/// Returns the image with other channels: 0 for those that it has.
fn convert(
    image: DenseHostTensor,
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let [height, width, found] = crate::extents(&image)?;
    if channels == 0 || channels == found {
        return Ok(image);
    }
    let mut converted = allocate(DType::Ui8, [height, width, channels], allocator)?;
    let from = image.elements::<u8>()?;
    let mut to = converted.elements_mut::<u8>()?;
    let pixels = from.chunks_exact(found).zip(to.chunks_exact_mut(channels));
    for (from, to) in pixels {
        let (color, alpha) = match *from {
            [grey] => ([grey; 3], 255),
            [grey, alpha] => ([grey; 3], alpha),
            [red, green, blue] => ([red, green, blue], 255),
            [red, green, blue, alpha] => ([red, green, blue], alpha),
            _ => ([0; 3], 255),
        };
        match to {
            [grey] => *grey = brightness(color),
            [red, green, blue] => [*red, *green, *blue] = color,
            [red, green, blue, last] => {
                [*red, *green, *blue] = color;
                *last = alpha;
            }
            _ => {}
        }
    }
    drop(to);
    Ok(converted)
}

/// Returns the brightness of a colour, as JPEG weighs it.
fn brightness([red, green, blue]: [u8; 3]) -> u8 {
    let sum = 19_595 * u32::from(red) + 38_470 * u32::from(green) + 7_471 * u32::from(blue);
    // The weights add up to 2^16.
    ((sum + (1 << 15)) >> 16) as u8
}

/// Returns the pixels of an image in JPEG, PNG or WebP format: a tensor of type u8 and shape
/// `[height, width, channels]`. With `channels`, the image is converted to 1 (grey), 3 (red, green,
/// blue) or 4 (with alpha); without it, it has those of the file. With `upright`, it is turned as
/// the EXIF data of the file say.
///
/// # Errors
/// If the bytes are not such an image, are cut off, or have more than 2^26 pixels; JPEG images in
/// CMYK.
#[tfrt_kernel(
    "tfrt_image.decode",
    chain = none,
    results(image),
    format = "operands attr-dict"
)]
fn decode_kernel(
    data: &[u8],
    #[attr] channels: Option<i64>,
    #[attr] upright: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let channels = channels.unwrap_or(0);
    let num_channels = usize::try_from(channels)
        .map_err(|_| invalid(format!("expected 0, 1, 3 or 4 channels, found {channels}")))?;
    match upright {
        Some(true) => decode_upright(data, num_channels, ctx.allocator()),
        _ => decode(data, num_channels, ctx.allocator()),
    }
}
