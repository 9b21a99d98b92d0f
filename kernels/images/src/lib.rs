//! Images for input pipelines.
//!
//! An image is a dense tensor of shape `[height, width, channels]`, from the top row down, with one
//! channel (grey), two (grey and alpha), three (red, green and blue) or four (with alpha). The
//! elements of decoded images have the type u8.
//!
//! | module | functions | kernels |
//! |---|---|---|
//! | [`decode`](mod@decode) | [`decode`](decode::decode), [`decode_upright`](decode::decode_upright), [`DecodeOptions`](decode::DecodeOptions): JPEG, PNG, WebP, GIF and BMP, whole, reduced, or a part | `tfrt_image.decode`, `decode_crop_and_resize` |
//! | [`resize`](mod@resize) | [`resize`](resize::resize), [`crop`](resize::crop), [`crop_and_resize`](resize::crop_and_resize) | `tfrt_image.` and these names |
//! | [`pixels`] | [`flip`](pixels::flip), [`normalize`](pixels::normalize), [`to_channels_first`](pixels::to_channels_first) | `tfrt_image.` and these names |
//!
//! `tfrt::link!(tfrt_images);` makes the kernels available to programs. In Rust, call the functions
//! in the closures of a pipeline:
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::host::allocator::{HostAllocator, Malloc};
//! use tfrt_images::decode::decode;
//! use tfrt_images::resize::{Method, resize};
//!
//! # fn thumbnail(file: &[u8]) -> tfrt::prelude::Result<()> {
//! let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
//! let image = decode(file, 3, &allocator)?;
//! let thumbnail = resize(&image, [64, 64], Method::Area, &allocator)?;
//! assert_eq!(thumbnail.shape().dims(), [64, 64, 3]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod decode;

pub mod resize;

pub mod pixels;

mod orientation;

use std::sync::Arc;

use tfrt::host::allocator::HostAllocator;
use tfrt::ods::DialectDef;
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

const DIALECTS: &[DialectDef] = &[DialectDef {
    summary: "Images, as tensors with the dimensions height, width and channels.",
    ..DialectDef::new("tfrt_image")
}];

tfrt::declare_dialects!(DIALECTS);

/// Returns a new image of these extents.
fn allocate(
    dtype: DType,
    extents: [usize; 3],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let shape = Shape::new(&extents)?;
    Ok(DenseHostTensor::zeroed(allocator, dtype, shape)?)
}

/// Returns the height, width and channels of an image.
fn extents(image: &DenseHostTensor) -> Result<[usize; 3]> {
    image.shape().to_array::<3>().map_err(|_| {
        let shape = image.shape();
        invalid(format!(
            "expected an image of shape [height, width, channels], found {shape}"
        ))
    })
}

#[cold]
fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}
