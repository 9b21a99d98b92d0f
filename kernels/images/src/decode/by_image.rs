//! GIF and BMP images, decoded by the crate `image`.

use std::io::{Cursor, ErrorKind};
use std::sync::Arc;

use image::{ImageDecoder, ImageError, Limits};
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use super::{Decoded, allocate_claimed, convert, undecodable};
use crate::orientation::Orientation;

/// Returns the first frame of a GIF image, on its screen. It has an alpha channel if a pixel is
/// transparent, because the palette says so or the frame does not cover it.
#[cfg(feature = "gif")]
pub(super) fn decode_gif(data: &[u8], allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    let decoder = image::codecs::gif::GifDecoder::new(Cursor::new(data));
    let decoded = decode_by("GIF", data, decoder, allocator)?;
    let pixels = decoded.image.elements::<u8>()?;
    let is_opaque = pixels.chunks_exact(4).all(|pixel| pixel[3] == u8::MAX);
    drop(pixels);
    Ok(match is_opaque {
        true => Decoded {
            image: convert(decoded.image, 3, allocator)?,
            ..decoded
        },
        false => decoded,
    })
}

/// Returns a BMP image.
#[cfg(feature = "bmp")]
pub(super) fn decode_bmp(data: &[u8], allocator: &Arc<dyn HostAllocator>) -> Result<Decoded> {
    let decoder = image::codecs::bmp::BmpDecoder::new(Cursor::new(data));
    decode_by("BMP", data, decoder, allocator)
}

fn decode_by<D: ImageDecoder>(
    format: &str,
    data: &[u8],
    decoder: image::ImageResult<D>,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Decoded> {
    let wrong = |error| undecodable(format, error);
    let ends_in = |what: &str| {
        let found = format!("found the end of the file at byte {}", data.len());
        undecodable(format, format_args!("expected more of its {what}, {found}"))
    };
    let mut decoder = decoder.map_err(|error| match error {
        error if is_end(&error) => ends_in("headers"),
        error => wrong(error),
    })?;
    let (width, height) = decoder.dimensions();
    let num_channels = usize::from(decoder.color_type().channel_count());
    if decoder.color_type().bytes_per_pixel() as usize != num_channels {
        return Err(undecodable(format, "expected samples of 8 bits"));
    }
    let extents = [height as usize, width as usize, num_channels];
    let mut image: DenseHostTensor = allocate_claimed(format, extents, allocator)?;
    // The decoder takes memory for a frame that does not fill the screen from the global heap. The
    // allocator has granted the screen, so a frame may be as large as that.
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(decoder.total_bytes());
    decoder.set_limits(limits).map_err(wrong)?;
    decoder
        .read_image(&mut image.elements_mut::<u8>()?)
        .map_err(|error| match error {
            ImageError::Limits(_) => undecodable(
                format,
                format_args!("expected a frame of at most {width} × {height} pixels"),
            ),
            error if is_end(&error) => ends_in("pixels"),
            error => wrong(error),
        })?;
    Ok(Decoded {
        image,
        height: height as usize,
        orientation: Orientation::default(),
    })
}

/// Returns `true` if a file ends too early.
fn is_end(error: &ImageError) -> bool {
    match error {
        ImageError::IoError(error) => error.kind() == ErrorKind::UnexpectedEof,
        // The decoder of GIF has an error of its own, and only its text is public.
        ImageError::Decoding(error) => error.to_string().ends_with("Unexpected End of File"),
        _ => false,
    }
}
