//! `eigen.*`: computations of neural networks on numbers of type f32. Images are batch, height,
//! width, channels; filters are height, width, input channels, output channels.
//!
//! All of them return immediately, with a chain that is ready when the tensor is written. The work
//! is divided among the workers; see `numeric`.

pub mod products;

pub mod padding;

pub mod pooling;

pub mod normalization;

pub mod convolution;

pub mod gradients;

mod window;

use std::fmt;

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

/// Checks that two sizes agree.
fn expect_equal(names: [&str; 2], found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(mismatch(
        "Dimensions does not match",
        names,
        [&found, &expected],
    ))
}

/// Checks that a parameter has an element for each channel.
fn expect_channels(
    names: [&str; 2],
    parameter: &DenseHostTensor,
    num_channels: usize,
) -> Result<()> {
    let [found] = parameter.shape().to_array()?;
    expect_equal(names, found, num_channels)
}

/// Checks that a tensor has a shape.
fn expect_shape(names: [&str; 2], tensor: &DenseHostTensor, expected: [usize; 4]) -> Result<()> {
    if tensor.shape().dims() == expected {
        return Ok(());
    }
    let expected = tfrt_tensor::Shape::new(&expected)?;
    let found = tensor.shape();
    Err(mismatch(
        "Tensor shapes do not match",
        names,
        [found, &expected],
    ))
}

#[cold]
fn mismatch(what: &str, names: [&str; 2], found: [&dyn fmt::Display; 2]) -> Error {
    let ([a, b], [a_is, b_is]) = (names, found);
    Error::new(format!("{what}: {a} is {a_is} and {b} is {b_is}"))
}
