//! Images: tensors of height, width and channels.

use tfrt::prelude::*;
use tfrt_compute::cast::CastTo;
use tfrt_compute::resize::bilinear;
use tfrt_tensor::{DenseHostTensor, Element, Shape, TensorError};

/// Gives an image in another size, interpolated between the four nearest points, as numbers of type f32. The elements of the
/// image are of type u8 or f32.
///
/// Pixel i of the result is read at i · (old extent / new extent): nothing is shifted by half a pixel.
///
/// # Errors
/// `input tensor shape must be 3` if the image has another rank, `cannot allocate tensor`.
#[tfrt_kernel(
    "tfrt_test.resize_bilinear",
    chain = none,
    results(resized),
    format = "operands attr-dict"
)]
fn resize_bilinear(
    image: &DenseHostTensor,
    height: i64,
    width: i64,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<DenseHostTensor>> {
    match image.dtype() {
        DType::Ui8 => resize::<u8>(image, [height, width], ctx),
        DType::F32 => resize::<f32>(image, [height, width], ctx),
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
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<DenseHostTensor>> {
    let extents = image.shape().to_array::<3>();
    let old @ [_, _, channels] = extents.map_err(|_| Error::new("input tensor shape must be 3"))?;
    let cannot_allocate = || Error::new("cannot allocate tensor");
    let new_extent = |extent| usize::try_from(extent).map_err(|_| cannot_allocate());
    let new @ [new_height, new_width] = [new_extent(height)?, new_extent(width)?];
    let mut resized = Shape::new(&[new_height, new_width, channels])
        .map_err(TensorError::from)
        .and_then(|shape| DenseHostTensor::zeroed(ctx.allocator(), DType::F32, shape))
        .map_err(|_| cannot_allocate())?;
    let image = image.elements_owned::<T>()?;
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || {
        let outcome = resized
            .elements_mut::<f32>()
            .map_err(Error::from)
            .and_then(|mut pixels| Ok(bilinear(old, new, &image, &mut pixels)?));
        drop(image);
        match outcome {
            Ok(()) => promise.emplace(resized),
            Err(error) => promise.set_error(error),
        }
    });
    Ok(result)
}
