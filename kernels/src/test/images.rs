//! Images: tensors of height, width and channels.

use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_compute::cast::CastTo;
use tfrt_compute::resize::bilinear;
use tfrt_tensor::{DenseHostTensor, Element, Shape, TensorError};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::on_queue;
use crate::numeric::no_memory;

/// Returns the pixels of an image in JPEG format: a tensor of type u8 and shape
/// `[height, width, 3]`, red, green and blue.
///
/// # Errors
/// `image does not have jpeg format`, `cannot allocate tensor`, and errors in the data.
#[tfrt_kernel(
    "tfrt_test.decode_jpeg",
    chain = none,
    results(image),
    format = "operands attr-dict"
)]
async fn decode_jpeg(data: &[u8], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    on_queue(ctx).await;
    decode(data, ctx.allocator())
}

/// The first bytes of every image in JPEG format.
const SIGNATURE: [u8; 3] = [0xFF, 0xD8, 0xFF];

/// The most pixels that an image may have. A few bytes can claim many more than this, and the
/// decoder of a progressive image keeps 6 bytes for each.
pub const MAX_PIXELS: usize = 1 << 26;

/// Returns the pixels of an image in JPEG format, of any colour space and coding, as red, green and
/// blue bytes.
///
/// They differ by a few units from those of other decoders, because the format does not specify
/// rounding.
///
/// ```
/// use std::sync::Arc;
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_kernels::test::images;
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let error = images::decode(b"\x89PNG", &allocator).unwrap_err();
/// assert_eq!(error.message(), "image does not have jpeg format");
/// ```
///
/// # Errors
/// If the bytes are not such an image, or there is no memory for it.
pub fn decode(data: &[u8], allocator: &Arc<dyn HostAllocator>) -> Result<DenseHostTensor> {
    if !data.starts_with(&SIGNATURE) {
        return Err(Error::new("image does not have jpeg format"));
    }
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
    decoder.decode_headers().map_err(undecodable)?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    if width * height > MAX_PIXELS {
        let text =
            format!("{CANNOT_ALLOCATE}: an image of {width} times {height} pixels is too large");
        return Err(Error::new(text).with_code(ErrorCode::ResourceExhausted));
    }
    let mut image = allocate(allocator, DType::Ui8, &[height, width, 3])?;
    decoder
        .decode_into(&mut image.elements_mut::<u8>()?)
        .map_err(undecodable)?;
    Ok(image)
}

#[cold]
fn undecodable(error: impl std::fmt::Display) -> Error {
    Error::new(format!("cannot decode image: {error}")).with_code(ErrorCode::InvalidArgument)
}

/// Returns a tensor of these extents.
fn allocate(
    allocator: &Arc<dyn HostAllocator>,
    dtype: DType,
    extents: &[usize; 3],
) -> Result<DenseHostTensor> {
    Shape::new(extents)
        .map_err(TensorError::from)
        .and_then(|shape| DenseHostTensor::zeroed(allocator, dtype, shape))
        .map_err(|error| no_memory(CANNOT_ALLOCATE, error))
}

const CANNOT_ALLOCATE: &str = "cannot allocate tensor";

/// Returns an image in another size, interpolated between the four nearest points, as numbers of
/// type f32. The elements of the image are of type u8 or f32.
///
/// Pixel i of the result is read at i · (old extent / new extent): there is no shift by half a
/// pixel.
///
/// # Errors
/// `input tensor shape must be 3` if the image has another rank, `cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_test.resize_bilinear",
    chain = none,
    results(resized),
    format = "operands attr-dict"
)]
async fn resize_bilinear(
    image: &DenseHostTensor,
    height: i64,
    width: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    on_queue(ctx).await;
    match image.dtype() {
        DType::Ui8 => resize::<u8>(image, [height, width], ctx.allocator()),
        DType::F32 => resize::<f32>(image, [height, width], ctx.allocator()),
        found => Err(TensorError::WrongDType {
            expected: DType::Ui8,
            found,
        }
        .into()),
    }
}

fn resize<T: Element + CastTo<f32>>(
    image: &DenseHostTensor,
    [height, width]: [i64; 2],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let extents = image.shape().to_array::<3>();
    let old @ [_, _, channels] = extents.map_err(|_| Error::new("input tensor shape must be 3"))?;
    let new_extent = |extent| {
        usize::try_from(extent)
            .map_err(|_| Error::new(format!("{CANNOT_ALLOCATE}: an extent of {extent}")))
    };
    let new @ [new_height, new_width] = [new_extent(height)?, new_extent(width)?];
    let mut resized = allocate(allocator, DType::F32, &[new_height, new_width, channels])?;
    bilinear(
        old,
        new,
        &image.elements::<T>()?,
        &mut resized.elements_mut::<f32>()?,
    )?;
    Ok(resized)
}
