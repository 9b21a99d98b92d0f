//! Decoding images.
//!
//! The decoders are those of `zune-jpeg`, `zune-png` and `image-webp` and, with the features `gif`
//! and `bmp`, of `image`. Files may be damaged or malicious: the size that a file states is checked
//! before memory is allocated for it, and a panic of a decoder becomes an error.

#[cfg(any(feature = "gif", feature = "bmp"))]
mod by_image;
mod jpeg;
mod reduce;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use image_webp::WebPDecoder;
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;
use zune_png::PngDecoder;
use zune_png::zune_core::bytestream::ZCursor;
use zune_png::zune_core::options::DecoderOptions;

use self::reduce::reduce;
use crate::orientation::Orientation;
use crate::resize::{CropBox, Method, crop_and_resize, method_of, number, region_of};
use crate::{allocate, invalid};

/// The maximum number of pixels of an image. A few bytes can claim many more than this, and the
/// decoder of a progressive JPEG image keeps 6 bytes for each.
pub const MAX_PIXELS: usize = 1 << 26;

/// How to decode images.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_images::decode::DecodeOptions;
/// use tfrt_images::resize::{CropBox, Method};
///
/// # fn eye(file: &[u8]) -> tfrt::prelude::Result<()> {
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let options = DecodeOptions { channels: 3, ..DecodeOptions::default() };
/// let part = CropBox { top: 8, left: 40, height: 100, width: 100 };
/// // Rows behind the 108th are not decoded.
/// let eye = options.decode_crop_and_resize(file, part, [32, 32], Method::Area, &allocator)?;
/// assert_eq!(eye.shape().dims(), [32, 32, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// 0 for the channels of the file; 1, 3 or 4 to convert to these.
    pub channels: usize,
    /// Whether to turn images as the EXIF data of the file say. Cameras store images as they were
    /// held.
    pub is_upright: bool,
    /// 1, 2, 4 or 8: an image with this part of the rows and columns, rounded up. Each pixel is
    /// the mean of a square block of that many pixels a side, counted from the upper left corner
    /// of the image as it is stored. Blocks at the lower and right edge are cut off.
    ///
    /// A JPEG image is reduced after its whole transform, so that results do not depend on its
    /// subsampling; what becomes faster are the steps behind.
    pub dct_scale: usize,
}

impl Default for DecodeOptions {
    /// Whole images with the channels of their files, as they are stored.
    fn default() -> Self {
        Self {
            channels: 0,
            is_upright: false,
            dct_scale: 1,
        }
    }
}

impl DecodeOptions {
    /// Returns the pixels of an image in JPEG, PNG, WebP, GIF or BMP format, detected by its first
    /// bytes. Samples of 16 bits are reduced to their upper 8. Of an animation in GIF format, the
    /// first frame is decoded.
    ///
    /// # Errors
    /// If the bytes are not such an image, are cut off or damaged, or claim more than
    /// [`MAX_PIXELS`] pixels; JPEG images in CMYK; GIF and BMP images without the features `gif`
    /// and `bmp`; options with other numbers than they can have. Damaged EXIF data are ignored.
    pub fn decode(
        &self,
        data: &[u8],
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor> {
        let (image, _) = self.decode_rows(data, None, allocator)?;
        Ok(image)
    }

    /// Returns a part of an image with another height and width:
    /// [`crop_and_resize`] of the image that [`decode`](Self::decode) returns.
    ///
    /// Of a JPEG image, only the rows down to the end of the part are decoded, unless it is
    /// progressive or has to be turned. Damage in other rows goes unnoticed.
    ///
    /// # Errors
    /// Those of the two. Only the rows that are decoded count towards [`MAX_PIXELS`].
    pub fn decode_crop_and_resize(
        &self,
        data: &[u8],
        region: CropBox,
        new: [usize; 2],
        method: Method,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<DenseHostTensor> {
        let bottom = region.top.saturating_add(region.height);
        let (image, height) = self.decode_rows(data, Some(bottom), allocator)?;
        let [_, width, _] = crate::extents(&image)?;
        region.check([height, width])?;
        crop_and_resize(&image, region, new, method, allocator)
    }

    /// Returns an image and the height that it would have with all of its rows; at least those
    /// above the row `bottom` are there.
    fn decode_rows(
        &self,
        data: &[u8],
        bottom: Option<usize>,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<(DenseHostTensor, usize)> {
        let Self {
            channels,
            is_upright,
            dct_scale,
        } = *self;
        if !matches!(channels, 0 | 1 | 3 | 4) {
            return Err(invalid(format!(
                "expected 0, 1, 3 or 4 channels, found {channels}"
            )));
        }
        if !matches!(dct_scale, 1 | 2 | 4 | 8) {
            return Err(invalid(format!(
                "expected a `dct_scale` of 1, 2, 4 or 8, found {dct_scale}"
            )));
        }
        let wanted = Wanted {
            channels,
            is_upright,
            num_rows: bottom.map(|bottom| bottom.saturating_mul(dct_scale)),
        };
        let decoded = decode_file(data, &wanted, allocator)?;
        let image = convert(decoded.image, channels, allocator)?;
        let image = reduce(image, dct_scale, allocator)?;
        if is_upright && decoded.orientation != Orientation::default() {
            let image = decoded.orientation.apply(image, allocator)?;
            let [height, _, _] = crate::extents(&image)?;
            return Ok((image, height));
        }
        Ok((image, decoded.height.div_ceil(dct_scale)))
    }
}

/// Returns the pixels of an image with a number of channels; see [`DecodeOptions::decode`].
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_images::decode::decode;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let error = decode(b"%PDF-1.7", 3, &allocator).unwrap_err();
/// assert_eq!(error.message(), "expected an image in JPEG, PNG, WebP, GIF or BMP format, found other bytes");
/// ```
///
/// # Errors
/// Those of [`DecodeOptions::decode`].
pub fn decode(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let options = DecodeOptions {
        channels,
        ..DecodeOptions::default()
    };
    options.decode(data, allocator)
}

/// Returns the pixels of an image as [`decode`] does, upright: turned as the EXIF data of the file
/// say.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_images::decode::decode_upright;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// assert!(decode_upright(b"%PDF-1.7", 3, &allocator).is_err());
/// ```
///
/// # Errors
/// As [`decode`].
pub fn decode_upright(
    data: &[u8],
    channels: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let options = DecodeOptions {
        channels,
        is_upright: true,
        ..DecodeOptions::default()
    };
    options.decode(data, allocator)
}

/// What is needed of a file.
struct Wanted {
    channels: usize,
    is_upright: bool,
    /// The number of rows, from the first; all without a number.
    num_rows: Option<usize>,
}

/// What a file contains.
struct Decoded {
    /// The image, of which the lower rows may be missing.
    image: DenseHostTensor,
    /// The number of rows of the whole image.
    height: usize,
    orientation: Orientation,
}

fn decode_file(
    data: &[u8],
    wanted: &Wanted,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Decoded> {
    match data {
        [0xff, 0xd8, 0xff, ..] => guard("JPEG", || jpeg::decode(data, wanted, allocator)),
        [0x89, b'P', b'N', b'G', ..] => guard("PNG", || decode_png(data, allocator)),
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
        ] => decode_webp(data, allocator),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            guard("GIF", || decode_gif(data, allocator))
        }
        _ if is_bmp(data) => guard("BMP", || decode_bmp(data, allocator)),
        _ => {
            let message =
                "expected an image in JPEG, PNG, WebP, GIF or BMP format, found other bytes";
            Err(invalid(message))
        }
    }
}

/// Returns `true` if the bytes begin with the headers of a BMP image. Texts may begin with `BM`,
/// too, so the size of the second header has to be one that exists.
fn is_bmp(data: &[u8]) -> bool {
    const HEADER_BYTES: [u32; 8] = [12, 16, 40, 52, 56, 64, 108, 124];
    let size = data.get(14..).and_then(<[u8]>::first_chunk);
    let is_header = |size| HEADER_BYTES.contains(&u32::from_le_bytes(size));
    data.starts_with(b"BM") && size.is_some_and(|size| is_header(*size))
}

#[cfg(feature = "gif")]
use by_image::decode_gif;

#[cfg(feature = "bmp")]
use by_image::decode_bmp;

#[cfg(not(feature = "gif"))]
fn decode_gif(_data: &[u8], _allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    Err(missing("GIF", "gif"))
}

#[cfg(not(feature = "bmp"))]
fn decode_bmp(_data: &[u8], _allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    Err(missing("BMP", "bmp"))
}

/// Returns the error of a format whose feature is off.
#[cold]
#[cfg(not(all(feature = "gif", feature = "bmp")))]
fn missing(format: &str, feature: &str) -> Error {
    let message = format!("{format} images need the cargo feature `{feature}` of `tfrt-images`");
    Error::new(message).with_code(ErrorCode::Unimplemented)
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
    // Decoders end some of their messages with line breaks.
    let error = error.to_string();
    let message = format!("cannot decode a {format} image: {}", error.trim_end());
    Error::new(message).with_code(ErrorCode::DataLoss)
}

/// The widest and highest image that formats can have, as long as the number of its pixels is
/// checked.
const MAX_EXTENT: usize = MAX_PIXELS;

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
        height,
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
        height: height as usize,
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

/// Returns the pixels of an image in JPEG, PNG, WebP, GIF or BMP format: a tensor of type u8 and
/// shape `[height, width, channels]`. With `channels`, the image is converted to 1 (grey), 3 (red,
/// green, blue) or 4 (with alpha); without it, it has those of the file. With `upright`, it is
/// turned as the EXIF data of the file say. With a `dct_scale` of 2, 4 or 8, it has that part of
/// the rows and columns: each pixel is the mean of a block.
///
/// GIF and BMP images need the features `gif` and `bmp` of the library; of an animation, the first
/// frame is decoded.
///
/// # Errors
/// If the bytes are not such an image, are cut off, or have more than 2^26 pixels; JPEG images in
/// CMYK; if the library was built without the format.
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
    #[attr] dct_scale: Option<i64>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    options_of(channels, upright, dct_scale)?.decode(data, ctx.allocator())
}

/// Returns a part of an image in a format of `tfrt_image.decode` with another height and width:
/// `tfrt_image.decode` and `tfrt_image.crop_and_resize` in one step. Of a JPEG image, only the rows
/// down to the end of the part are decoded, unless it is progressive or has to be turned. The part
/// is one of the image that `tfrt_image.decode` returns, with `dct_scale` and `upright`.
///
/// # Errors
/// Those of the two.
#[tfrt_kernel(
    "tfrt_image.decode_crop_and_resize",
    chain = none,
    results(resized),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "a file, a region and a size")]
fn decode_crop_and_resize_kernel(
    data: &[u8],
    top: i64,
    left: i64,
    height: i64,
    width: i64,
    new_height: i64,
    new_width: i64,
    #[attr] channels: Option<i64>,
    #[attr] upright: Option<bool>,
    #[attr] dct_scale: Option<i64>,
    #[attr] method: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let region = region_of(top, left, height, width)?;
    let new = [
        number("new_height", new_height)?,
        number("new_width", new_width)?,
    ];
    let options = options_of(channels, upright, dct_scale)?;
    options.decode_crop_and_resize(data, region, new, method_of(method)?, ctx.allocator())
}

fn options_of(
    channels: Option<i64>,
    upright: Option<bool>,
    dct_scale: Option<i64>,
) -> Result<DecodeOptions> {
    let channels = channels.unwrap_or(0);
    let channels = usize::try_from(channels)
        .map_err(|_| invalid(format!("expected 0, 1, 3 or 4 channels, found {channels}")))?;
    let dct_scale = dct_scale.unwrap_or(1);
    let dct_scale = usize::try_from(dct_scale).map_err(|_| {
        invalid(format!(
            "expected a `dct_scale` of 1, 2, 4 or 8, found {dct_scale}"
        ))
    })?;
    Ok(DecodeOptions {
        channels,
        is_upright: upright.unwrap_or(false),
        dct_scale,
    })
}
