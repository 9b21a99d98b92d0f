//! Cropping and resizing.

use std::str::FromStr;
use std::sync::Arc;

use fast_image_resize::images::{CroppedImage, Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::decode::MAX_PIXELS;
use crate::{allocate, extents, invalid};

/// The interpolation of a pixel of the result. The centre of pixel i of the result is at
/// `(i + 0.5) · old extent / new extent - 0.5` of the image, as in TensorFlow with half-pixel
/// centres.
///
/// ```
/// use tfrt_images::resize::Method;
///
/// assert_eq!("area".parse::<Method>()?, Method::Area);
/// # Ok::<(), tfrt::prelude::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The nearest pixel.
    Nearest,
    /// Interpolation between the four nearest pixels.
    #[default]
    Bilinear,
    /// Interpolation between the sixteen nearest pixels.
    Bicubic,
    /// The mean of the part of the image that the pixel covers: the best method for reducing an
    /// image.
    Area,
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "nearest" => Self::Nearest,
            "bilinear" => Self::Bilinear,
            "bicubic" => Self::Bicubic,
            "area" => Self::Area,
            _ => {
                return Err(invalid(format!(
                    "expected a method `nearest`, `bilinear`, `bicubic` or `area`, found `{name}`"
                )));
            }
        })
    }
}

impl Method {
    fn algorithm(self) -> ResizeAlg {
        match self {
            Self::Nearest => ResizeAlg::Nearest,
            Self::Bilinear => ResizeAlg::Interpolation(FilterType::Bilinear),
            Self::Bicubic => ResizeAlg::Interpolation(FilterType::CatmullRom),
            Self::Area => ResizeAlg::Convolution(FilterType::Box),
        }
    }
}

/// A part of an image, in pixels.
///
/// ```
/// use tfrt_images::resize::CropBox;
///
/// let middle = CropBox { top: 8, left: 8, height: 16, width: 16 };
/// assert_eq!(middle.top + middle.height, 24);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CropBox {
    /// The first row.
    pub top: usize,
    /// The first column.
    pub left: usize,
    /// The number of rows.
    pub height: usize,
    /// The number of columns.
    pub width: usize,
}

impl CropBox {
    /// Returns a region that lies within an image.
    pub(crate) fn check(self, [height, width]: [usize; 2]) -> Result<()> {
        let is_within = |start: usize, len: usize, extent: usize| {
            start.checked_add(len).is_some_and(|end| end <= extent)
        };
        if is_within(self.top, self.height, height) && is_within(self.left, self.width, width) {
            return Ok(());
        }
        let Self {
            top,
            left,
            height: rows,
            width: columns,
        } = self;
        Err(invalid(format!(
            "expected a region within an image of {height} rows and {width} columns, found {rows} \
             rows from row {top} and {columns} columns from column {left}"
        )))
    }
}

/// Returns the part of an image. Elements may be of any type.
///
/// # Errors
/// If the tensor is not an image, the region is not within it, or there is no memory.
pub fn crop(
    image: &DenseHostTensor,
    region: CropBox,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let [height, width, channels] = extents(image)?;
    region.check([height, width])?;
    let dtype = image.dtype();
    let element_bytes = dtype.size_bytes().unwrap_or(0);
    let mut cropped = allocate(dtype, [region.height, region.width, channels], allocator)?;
    let from = image.buffer().read()?;
    let mut to = cropped.buffer_mut().write()?;
    let pixel_bytes = channels * element_bytes;
    let row_bytes = region.width * pixel_bytes;
    if row_bytes > 0 {
        for (row, to) in to.chunks_exact_mut(row_bytes).enumerate() {
            let start = ((region.top + row) * width + region.left) * pixel_bytes;
            to.copy_from_slice(&from[start..start + row_bytes]);
        }
    }
    drop(to);
    Ok(cropped)
}

/// Returns the image with another height and width.
///
/// # Errors
/// If the elements are not of type u8 or f32, the image has no pixels or more than four channels,
/// or the result has no pixels or too many.
pub fn resize(
    image: &DenseHostTensor,
    new: [usize; 2],
    method: Method,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let [height, width, _] = extents(image)?;
    let whole = CropBox {
        top: 0,
        left: 0,
        height,
        width,
    };
    crop_and_resize(image, whole, new, method, allocator)
}

/// Returns a part of the image with another height and width, without a copy in between. Pixels
/// outside of the part have no influence.
///
/// # Errors
/// Those of [`crop`] and [`resize`].
pub fn crop_and_resize(
    image: &DenseHostTensor,
    region: CropBox,
    [new_height, new_width]: [usize; 2],
    method: Method,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let [height, width, channels] = extents(image)?;
    region.check([height, width])?;
    let pixel_type = match (image.dtype(), channels) {
        (DType::Ui8, 1) => PixelType::U8,
        (DType::Ui8, 2) => PixelType::U8x2,
        (DType::Ui8, 3) => PixelType::U8x3,
        (DType::Ui8, 4) => PixelType::U8x4,
        (DType::F32, 1) => PixelType::F32,
        (DType::F32, 2) => PixelType::F32x2,
        (DType::F32, 3) => PixelType::F32x3,
        (DType::F32, 4) => PixelType::F32x4,
        (dtype, channels) => {
            return Err(invalid(format!(
                "expected an image of type u8 or f32 with one to four channels, found {dtype} \
                 with {channels}"
            )));
        }
    };
    if region.height == 0 || region.width == 0 {
        return Err(invalid(
            "expected an image with pixels to resize, found none",
        ));
    }
    let num_pixels = new_height.saturating_mul(new_width);
    if num_pixels == 0 || num_pixels > MAX_PIXELS {
        return Err(invalid(format!(
            "expected a new size of 1 to {MAX_PIXELS} pixels, found {new_height} rows and \
             {new_width} columns"
        )));
    }
    let extent =
        |extent: usize| u32::try_from(extent).map_err(|_| invalid("the image is too large"));
    let dtype = image.dtype();
    let mut resized = allocate(dtype, [new_height, new_width, channels], allocator)?;
    let from = image.buffer().read()?;
    let mut to = resized.buffer_mut().write()?;
    let source = ImageRef::new(extent(width)?, extent(height)?, &from, pixel_type);
    let target = Image::from_slice_u8(extent(new_width)?, extent(new_height)?, &mut to, pixel_type);
    let unsuitable =
        |error: &dyn std::fmt::Display| invalid(format!("cannot resize an image: {error}"));
    let source = source.map_err(|error| unsuitable(&error))?;
    let mut target = target.map_err(|error| unsuitable(&error))?;
    // A view of the part alone: the crop box of the options would let pixels around it count.
    let part = CroppedImage::new(
        &source,
        extent(region.left)?,
        extent(region.top)?,
        extent(region.width)?,
        extent(region.height)?,
    );
    let part = part.map_err(|error| unsuitable(&error))?;
    // Alpha is a channel like the others, as in TensorFlow.
    let options = ResizeOptions::new()
        .resize_alg(method.algorithm())
        .use_alpha(false);
    Resizer::new()
        .resize(&part, &mut target, &options)
        .map_err(|error| unsuitable(&error))?;
    drop(target);
    drop(to);
    Ok(resized)
}

pub(crate) fn number(name: &str, value: i64) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| invalid(format!("{name} must be non-negative, found {value}")))
}

pub(crate) fn region_of(top: i64, left: i64, height: i64, width: i64) -> Result<CropBox> {
    Ok(CropBox {
        top: number("top", top)?,
        left: number("left", left)?,
        height: number("height", height)?,
        width: number("width", width)?,
    })
}

pub(crate) fn method_of(name: Option<&str>) -> Result<Method> {
    name.map_or(Ok(Method::default()), str::parse)
}

/// Returns the part of an image with `height` rows from `top` and `width` columns from `left`.
///
/// # Errors
/// If the part is not within the image.
#[tfrt_kernel(
    "tfrt_image.crop",
    chain = none,
    results(cropped),
    format = "operands attr-dict"
)]
fn crop_kernel(
    image: &DenseHostTensor,
    top: i64,
    left: i64,
    height: i64,
    width: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    crop(image, region_of(top, left, height, width)?, ctx.allocator())
}

/// Returns an image with another height and width. `method` is `nearest`, `bilinear` (the default),
/// `bicubic`, or `area`, which is the mean of the pixels that become one. Sampling uses pixel
/// centres. The elements are of type u8 or f32.
///
/// # Errors
/// If the image is of another type or has more than four channels, or the size is not positive.
#[tfrt_kernel(
    "tfrt_image.resize",
    chain = none,
    results(resized),
    format = "operands attr-dict"
)]
fn resize_kernel(
    image: &DenseHostTensor,
    height: i64,
    width: i64,
    #[attr] method: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let new = [number("height", height)?, number("width", width)?];
    resize(image, new, method_of(method)?, ctx.allocator())
}

/// Returns a part of an image with another height and width: `tfrt_image.crop` and
/// `tfrt_image.resize` in one step.
///
/// # Errors
/// Those of the two.
#[tfrt_kernel(
    "tfrt_image.crop_and_resize",
    chain = none,
    results(resized),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "a region and a size")]
fn crop_and_resize_kernel(
    image: &DenseHostTensor,
    top: i64,
    left: i64,
    height: i64,
    width: i64,
    new_height: i64,
    new_width: i64,
    #[attr] method: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let region = region_of(top, left, height, width)?;
    let new = [
        number("new_height", new_height)?,
        number("new_width", new_width)?,
    ];
    crop_and_resize(image, region, new, method_of(method)?, ctx.allocator())
}
