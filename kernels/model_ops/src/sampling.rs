//! Interpolation between pixels, and images assembled from windows.

use tfrt::prelude::*;
use tfrt_compute::sampling::{self, Border, Interpolation, Sampler, Taps};
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::number::{Number, with_number, with_real, with_size};
use crate::windows::{Layout, Placed, spatial};
use crate::{
    Slots, advance, allocate, dense, extents, invalid, made, product, real_numbers, room, scratch,
    strides, whole_numbers,
};

/// The maximum number of samples of a region for one element.
const MAX_SAMPLES: f64 = 65_536.0;

/// Samples images at the positions of a grid, `[batch, places…, dimensions]`, whose coordinates
/// range from -1 to 1, with the last dimension first. The `mode` is `nearest`, `linear` or `cubic`;
/// values beyond the border are `zeros`, those of the `border`, or its `reflection`.
///
/// # Errors
/// If the grid does not match the images, or a mode does not exist.
#[tfrt_op("nn.GridSample")]
fn grid_sample(
    x: &AnyRef,
    grid: &AnyRef,
    #[attr] mode: &str,
    #[attr] padding: &str,
    #[attr(default = false)] align_corners: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.GridSample";
    let (x, grid) = (dense(x)?, dense(grid)?);
    let (batch, channels, dims) = spatial(OP, &x)?;
    let rank = dims.len();
    let fits = match grid.shape().dims() {
        [first, places @ .., last] => *first == batch && places.len() == rank && *last == rank,
        _ => false,
    };
    if !fits {
        return Err(invalid(format!(
            "`{OP}`: a grid of {} is incompatible with images of {}",
            grid.metadata(),
            x.metadata()
        )));
    }
    let no_mode = |name: &str| invalid(format!("`{OP}`: unknown mode `{name}`"));
    let interpolation = match mode {
        "nearest" => Interpolation::Nearest,
        "linear" => Interpolation::Linear,
        "cubic" => Interpolation::Cubic,
        other => return Err(no_mode(other)),
    };
    let border = match padding {
        "zeros" => Border::Zeros,
        "border" => Border::Edge,
        "reflection" => Border::Mirror,
        other => return Err(no_mode(other)),
    };
    let sampler = Sampler::new(interpolation, border, align_corners);
    let shape = [&[batch, channels], &grid.shape().dims()[1..=rank]].concat();
    let (places, pixels) = (product(&shape[2..]), product(dims));
    let mut y = allocate(ctx, x.dtype(), &shape)?;
    let (from, grid) = (real_numbers(OP, &x, ctx)?, real_numbers(OP, &grid, ctx)?);
    with_number!(OP, x.dtype(), T => {
        let mut to = y.elements_mut::<T>()?;
        let mut taps = vec![Taps::default(); rank];
        for (number, place) in grid.chunks_exact(rank.max(1)).enumerate() {
            for axis in 0..rank {
                let coordinate = sampler.coordinate(place[rank - 1 - axis], dims[axis]);
                // In single precision, so that halves between pixels are halves.
                taps[axis] = sampler.taps(f64::from(coordinate as f32), dims[axis]);
            }
            let (image, place) = (number / places, number % places);
            for channel in 0..channels {
                let plane = image * channels + channel;
                let value = sampling::read(&from[plane * pixels..][..pixels], dims, &taps);
                to[plane * places + place] = <T as Number>::of_f64(value);
            }
        }
        Ok(())
    })?;
    Ok(y)
}

/// Computes the grid of affine maps of an image's positions, for `nn.GridSample`: for maps
/// `[batch, d, d + 1]` and the shape `[batch, channels, …]` with d spatial extents.
///
/// # Errors
/// If the maps do not match the shape.
#[tfrt_op("nn.AffineGrid")]
fn affine_grid(
    theta: &AnyRef,
    size: &AnyRef,
    #[attr(default = false)] align_corners: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.AffineGrid";
    let theta = dense(theta)?;
    let size = extents(OP, &whole_numbers(OP, &dense(size)?)?)?;
    let rank = size.len().saturating_sub(2);
    if !(2..=3).contains(&rank) || theta.shape().dims() != [size[0], rank, rank + 1] {
        return Err(invalid(format!(
            "`{OP}`: maps of {} are incompatible with the size {size:?}",
            theta.metadata()
        )));
    }
    let (batch, dims) = (size[0], &size[2..]);
    let shape = [&[batch], dims, &[rank]].concat();
    Shape::new(&shape)?;
    let numbers = real_numbers(OP, &theta, ctx)?;
    let coordinate = |at: usize, extent: usize| {
        let (at, extent) = (at as f64, extent as f64);
        match align_corners {
            true if extent <= 1.0 => -1.0,
            true => 2.0 * at / (extent - 1.0) - 1.0,
            false => (2.0 * at + 1.0) / extent - 1.0,
        }
    };
    let own = strides(dims);
    let places = product(dims).max(1);
    with_real!(OP, theta.dtype(), T => made(ctx, &shape, |at| {
        let (row, place) = (at % rank, at / rank % places);
        let map = &numbers[(at / rank / places * rank + row) * (rank + 1)..][..=rank];
        let sum = (0..rank).map(|axis| {
            let along = place / own[axis] % dims[axis];
            // The last dimension is named first.
            map[rank - 1 - axis] * coordinate(along, dims[axis])
        });
        T::of_f64(sum.sum::<f64>() + map[rank])
    }))
}

/// Returns the four pixels around a place of an image of a region, and their weights; none beyond
/// the border by more than a pixel.
fn around(y: f64, x: f64, height: usize, width: usize) -> Option<[(usize, f64); 4]> {
    let is_inside = (-1.0..=height as f64).contains(&y) && (-1.0..=width as f64).contains(&x);
    if !is_inside || height == 0 || width == 0 {
        return None;
    }
    let axis = |at: f64, extent: usize| {
        let at = at.max(0.0);
        let low = at as usize;
        if low >= extent - 1 {
            (extent - 1, extent - 1, 0.0)
        } else {
            (low, low + 1, at - low as f64)
        }
    };
    let ((top, bottom, v), (left, right, u)) = (axis(y, height), axis(x, width));
    Some([
        (top * width + left, (1.0 - v) * (1.0 - u)),
        (top * width + right, (1.0 - v) * u),
        (bottom * width + left, v * (1.0 - u)),
        (bottom * width + right, v * u),
    ])
}

/// Crops regions of images and resizes them: each element is the mean (`avg`) or the greatest
/// (`max`) of samples of its part of the region. Operands are the images, `[regions, 4]` corners
/// and the index of each region's image. `half_pixel` shifts corners by minus half a pixel.
///
/// # Errors
/// If the operands do not fit together, an image does not exist, or a region needs too many
/// samples.
#[tfrt_op("nn.RoiAlign")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn roi_align(
    x: &AnyRef,
    rois: &AnyRef,
    images: &AnyRef,
    #[attr] mode: &str,
    #[attr] height: i64,
    #[attr] width: i64,
    #[attr(default = 0)] sampling_ratio: i64,
    #[attr(default = 1.0)] scale: f32,
    #[attr(default = true)] half_pixel: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.RoiAlign";
    let (x, rois, images) = (dense(x)?, dense(rois)?, dense(images)?);
    let size = extents(OP, &[height, width])?;
    let images = whole_numbers(OP, &images)?;
    let (&[batch, channels, rows, columns], true) =
        (x.shape().dims(), rois.shape().dims() == [images.len(), 4])
    else {
        return Err(invalid(format!(
            "`{OP}`: {} regions of {} are incompatible with images of {}",
            images.len(),
            rois.metadata(),
            x.metadata()
        )));
    };
    let takes_mean = match mode {
        "avg" => true,
        "max" => false,
        other => return Err(invalid(format!("`{OP}`: unknown mode `{other}`"))),
    };
    let shape = [images.len(), channels, size[0], size[1]];
    let mut y = allocate(ctx, x.dtype(), &shape)?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let (from, rois) = (real_numbers(OP, &x, ctx)?, real_numbers(OP, &rois, ctx)?);
    let offset = if half_pixel { 0.5 } else { 0.0 };
    let mut values = scratch::<f64>(ctx, y.num_elements())?;
    for (region, corners) in rois.chunks_exact(4).enumerate() {
        let image = usize::try_from(images[region]).ok();
        let image = image.filter(|&image| image < batch).ok_or_else(|| {
            invalid(format!(
                "`{OP}`: expected an image index below {batch}, found {}",
                images[region]
            ))
        })?;
        let corner = |at: usize| corners[at] * f64::from(scale) - offset;
        let extent = |low: usize| {
            let extent = corner(low + 2) - corner(low);
            if half_pixel { extent } else { extent.max(1.0) }
        };
        let parts = [extent(1) / size[0] as f64, extent(0) / size[1] as f64];
        let samples = parts.map(|part| match sampling_ratio {
            1.. => sampling_ratio as f64,
            _ => part.ceil().max(0.0),
        });
        let count = samples[0] * samples[1];
        if count.is_nan() || count > MAX_SAMPLES {
            return Err(invalid(format!(
                "`{OP}`: region {region} needs more than {MAX_SAMPLES} samples per element"
            )));
        }
        let [down, across] = samples.map(|count| count as usize);
        let mut taps = room(OP, down * across)?;
        for place in 0..size[0] * size[1] {
            let (row, column) = ((place / size[1]) as f64, (place % size[1]) as f64);
            taps.clear();
            for sample in 0..down * across {
                let (i, j) = (
                    (sample / across) as f64 + 0.5,
                    (sample % across) as f64 + 0.5,
                );
                let y = corner(1) + (row + i / samples[0]) * parts[0];
                let x = corner(0) + (column + j / samples[1]) * parts[1];
                taps.push(around(y, x, rows, columns));
            }
            for channel in 0..channels {
                let plane = &from[(image * channels + channel) * rows * columns..];
                let products = taps.iter().map(|taps| {
                    taps.map_or([0.0; 4], |taps| taps.map(|(at, weight)| weight * plane[at]))
                });
                let to = (region * channels + channel) * size[0] * size[1] + place;
                values[to] = if takes_mean {
                    products.flatten().sum::<f64>() / taps.len().max(1) as f64
                } else {
                    products.flatten().reduce(f64::max).unwrap_or(0.0)
                };
            }
        }
    }
    with_real!(OP, x.dtype(), T => {
        for (to, &value) in y.elements_mut::<T>()?.iter_mut().zip(&*values) {
            *to = T::of_f64(value);
        }
        Ok(())
    })?;
    Ok(y)
}

/// Returns the greatest element of each part of regions of images, given by `[regions, 5]` image
/// indices and corners, which are scaled and rounded.
///
/// # Errors
/// If the operands do not match, or an image does not exist.
#[tfrt_op("nn.MaxRoiPool")]
fn max_roi_pool(
    x: &AnyRef,
    rois: &AnyRef,
    #[attr] height: i64,
    #[attr] width: i64,
    #[attr(default = 1.0)] scale: f32,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.MaxRoiPool";
    let (x, rois) = (dense(x)?, dense(rois)?);
    let size = extents(OP, &[height, width])?;
    let (&[batch, channels, rows, columns], &[regions, 5]) =
        (x.shape().dims(), rois.shape().dims())
    else {
        return Err(invalid(format!(
            "`{OP}`: regions of {} are incompatible with images of {}",
            rois.metadata(),
            x.metadata()
        )));
    };
    let mut y = allocate(ctx, x.dtype(), &[regions, channels, size[0], size[1]])?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let (from, rois) = (real_numbers(OP, &x, ctx)?, real_numbers(OP, &rois, ctx)?);
    let mut values = scratch::<f64>(ctx, y.num_elements())?;
    for (region, corners) in rois.chunks_exact(5).enumerate() {
        let image = Some(corners[0]).filter(|&image| (0.0..batch as f64).contains(&image));
        let image = image.ok_or_else(|| {
            invalid(format!(
                "`{OP}`: expected an image index below {batch}, found {}",
                corners[0]
            ))
        })? as usize;
        let corner = |at: usize| (corners[at] * f64::from(scale)).round();
        // Where the parts of an axis begin and end, cut to the image.
        let part = |low: usize, at: usize, count: usize, extent: usize| {
            let len = (corner(low + 2) - corner(low) + 1.0).max(1.0) / count as f64;
            let bound = |x: f64| (x + corner(low)).clamp(0.0, extent as f64) as usize;
            bound((at as f64 * len).floor())..bound(((at + 1) as f64 * len).ceil())
        };
        for place in 0..size[0] * size[1] {
            let down = part(2, place / size[1], size[0], rows);
            let across = part(1, place % size[1], size[1], columns);
            for channel in 0..channels {
                let plane = &from[(image * channels + channel) * rows * columns..];
                let parts = down
                    .clone()
                    .flat_map(|row| &plane[row * columns..][across.clone()]);
                let greatest = parts.copied().reduce(f64::max).unwrap_or(0.0);
                values[(region * channels + channel) * size[0] * size[1] + place] = greatest;
            }
        }
    }
    with_real!(OP, x.dtype(), T => {
        for (to, &value) in y.elements_mut::<T>()?.iter_mut().zip(&*values) {
            *to = T::of_f64(value);
        }
        Ok(())
    })?;
    Ok(y)
}

/// Computes deformable convolutions: each tap reads the image at its position plus an offset,
/// interpolated between pixels, times a mask. Operands are the images, the filters, the offsets
/// `[batch, offset groups · taps · dimensions, places…]`, a bias, and the mask
/// `[batch, offset groups · taps, places…]`; the last two may be omitted.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.DeformConv")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn deform_conv(
    operands: &[AnyRef],
    #[attr(default = 1)] group: i64,
    #[attr(default = 1)] offset_group: i64,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.DeformConv";
    let slots = Slots::new(OP, operands, slots);
    let (x, w) = (slots.need(0, "x")?, slots.need(1, "w")?);
    let offsets = slots.need(2, "offset")?;
    let (bias, mask) = (slots.get(3)?, slots.get(4)?);
    let (batch, channels, input) = spatial(OP, &x)?;
    let (filters, per_group, sizes) = spatial(OP, &w)?;
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let (group, bends) = (count(group), count(offset_group));
    let layout = Layout::new(OP, strides, dilations, pads, None);
    let placed = Placed::new(&layout, input, sizes)?;
    let (outputs, taps, rank) = (placed.outputs(), product(sizes), input.len());
    let fits = group > 0
        && bends > 0
        && per_group.checked_mul(group) == Some(channels)
        && filters.is_multiple_of(group)
        && channels.is_multiple_of(bends)
        && Some(offsets.shape().dims())
            == bends
                .checked_mul(taps * rank)
                .map(|wide| [&[batch, wide], &outputs[..]].concat())
                .as_deref()
        && mask.as_ref().is_none_or(|mask| {
            mask.shape().dims() == [&[batch, bends * taps], &outputs[..]].concat()
        })
        && bias
            .as_ref()
            .is_none_or(|bias| bias.shape().dims() == [filters]);
    if !fits {
        return Err(invalid(format!(
            "`{OP}`: filters of {} and offsets of {} are incompatible with images of {}",
            w.metadata(),
            offsets.metadata(),
            x.metadata()
        )));
    }
    let (places, pixels) = (product(&outputs), product(input));
    let mut y = allocate(ctx, x.dtype(), &[&[batch, filters], &outputs[..]].concat())?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let numbers = |tensor: &DenseHostTensor| real_numbers(OP, tensor, ctx);
    let (from, w, offsets) = (numbers(&x)?, numbers(&w)?, numbers(&offsets)?);
    let bias = bias.as_ref().map(numbers).transpose()?;
    let mask = mask.as_ref().map(numbers).transpose()?;
    let starts = placed.starts();
    let sampler = Sampler::new(Interpolation::Linear, Border::Zeros, true);
    let mut values = scratch::<f64>(ctx, y.num_elements())?;
    // What each tap of each channel reads at a place.
    let mut read = scratch::<f64>(ctx, channels.saturating_mul(taps))?;
    let mut index = vec![0; rank];
    for place in 0..places {
        for image in 0..batch {
            let mut tap_index = vec![0; rank];
            for tap in 0..taps {
                for bend in 0..bends {
                    let row = (image * bends + bend) * taps + tap;
                    let axes: Vec<Taps> = (0..rank)
                        .map(|axis| {
                            let offset = offsets[(row * rank + axis) * places + place];
                            let at = starts(axis, index[axis], tap_index[axis]) + offset;
                            sampler.taps(at, input[axis])
                        })
                        .collect();
                    let weight = mask.as_ref().map_or(1.0, |mask| mask[row * places + place]);
                    let each = channels / bends;
                    for channel in bend * each..(bend + 1) * each {
                        let plane = &from[(image * channels + channel) * pixels..][..pixels];
                        read[channel * taps + tap] = weight * sampling::read(plane, input, &axes);
                    }
                }
                advance(&mut tap_index, sizes);
            }
            for filter in 0..filters {
                let first = filter / (filters / group) * per_group * taps;
                let own = &w[filter * per_group * taps..][..per_group * taps];
                let sum: f64 = own.iter().zip(&read[first..]).map(|(w, x)| w * x).sum();
                let bias = bias.as_ref().map_or(0.0, |bias| bias[filter]);
                values[(image * filters + filter) * places + place] = sum + bias;
            }
        }
        advance(&mut index, &outputs);
    }
    with_real!(OP, x.dtype(), T => {
        for (to, &value) in y.elements_mut::<T>()?.iter_mut().zip(&*values) {
            *to = T::of_f64(value);
        }
        Ok(())
    })?;
    Ok(y)
}

/// Adds windows back to the image that they were taken from: `[batch, channels · taps, windows]` to
/// `[batch, channels, …]`. The second operand is the shape of the image, the third that of a
/// window.
///
/// # Errors
/// If the windows do not match the image.
#[tfrt_op("nn.Col2Im")]
fn col2im(
    x: &AnyRef,
    image: &AnyRef,
    block: &AnyRef,
    #[attr] strides: Option<&[i64]>,
    #[attr] dilations: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Col2Im";
    let x = dense(x)?;
    let shape = |tensor: &AnyRef| extents(OP, &whole_numbers(OP, &dense(tensor)?)?);
    let (image, block) = (shape(image)?, shape(block)?);
    Shape::new(&image)?;
    Shape::new(&block)?;
    let layout = Layout::new(OP, strides, dilations, pads, None);
    let placed = Placed::new(&layout, &image, &block)?;
    let (taps, windows) = (product(&block), product(&placed.outputs()));
    let (batch, channels) = match *x.shape().dims() {
        [batch, rows, columns] if columns == windows && rows.is_multiple_of(taps.max(1)) => {
            (batch, rows / taps.max(1))
        }
        _ => {
            return Err(invalid(format!(
                "`{OP}`: expected {windows} windows of {taps} elements, found {}",
                x.metadata()
            )));
        }
    };
    let mut y = allocate(ctx, x.dtype(), &[&[batch, channels], &image[..]].concat())?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let pixels = product(&image);
    with_number!(OP, x.dtype(), T => {
        let from = x.elements::<T>()?;
        let mut to = y.elements_mut::<T>()?;
        placed.for_each(|window, found| {
            for plane in 0..batch * channels {
                for &(tap, place) in found {
                    let to = &mut to[plane * pixels + place];
                    *to = Number::plus(*to, from[(plane * taps + tap) * windows + window]);
                }
            }
        });
        Ok(())
    })?;
    Ok(y)
}

/// Writes elements back to the positions from which `nn.MaxPool` took them; all others are 0.
/// Operands are the elements, their positions, and the shape of the result, which is by default
/// computed from the windows.
///
/// # Errors
/// If the numbers of elements and positions differ, or a position does not exist.
#[tfrt_op("nn.MaxUnpool")]
fn max_unpool(
    operands: &[AnyRef],
    #[attr] kernel_shape: &[i64],
    #[attr] strides: Option<&[i64]>,
    #[attr] pads: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.MaxUnpool";
    let slots = Slots::new(OP, operands, None);
    let (x, indices) = (slots.need(0, "x")?, slots.need(1, "indices")?);
    let (batch, channels, input) = spatial(OP, &x)?;
    let rank = input.len();
    let numbers = |given: Option<&[i64]>, count: usize, missing: i64| {
        let given = given.map_or_else(|| vec![missing; count], <[i64]>::to_vec);
        let is_valid = given.len() == count && given.iter().all(|n| (0..1 << 31).contains(n));
        is_valid
            .then_some(given)
            .ok_or_else(|| invalid(format!("`{OP}`: expected {count} non-negative integers")))
    };
    let sizes = numbers(Some(kernel_shape), rank, 1)?;
    let steps = numbers(strides, rank, 1)?;
    let pads = numbers(pads, 2 * rank, 0)?;
    let mut own = vec![batch as i64, channels as i64];
    for axis in 0..rank {
        let len = (input[axis] as i128 - 1) * i128::from(steps[axis]) + i128::from(sizes[axis])
            - i128::from(pads[axis])
            - i128::from(pads[rank + axis]);
        own.push(i64::try_from(len).unwrap_or(-1));
    }
    let own = extents(OP, &own)?;
    let wanted = match slots.get(2)? {
        Some(shape) => extents(OP, &whole_numbers(OP, &shape)?)?,
        None => own.clone(),
    };
    let fits = wanted.len() == own.len() && wanted.iter().zip(&own).all(|(a, b)| a >= b);
    if !fits || indices.shape() != x.shape() {
        return Err(invalid(format!(
            "`{OP}`: {} and positions of {} are incompatible with a result of shape {wanted:?}",
            x.metadata(),
            indices.metadata()
        )));
    }
    let mut y = allocate(ctx, x.dtype(), &wanted)?;
    let places = whole_numbers(OP, &indices)?;
    let (total, from_strides, to_strides) = (
        Shape::new(&own)?.num_elements(),
        crate::strides(&own),
        crate::strides(&wanted),
    );
    with_size!(OP, x.dtype(), N => {
        let from = x.buffer().read()?;
        let mut to = y.buffer_mut().write()?;
        let to = to.as_chunks_mut::<N>().0;
        for (element, &place) in from.as_chunks::<N>().0.iter().zip(&places) {
            let known = usize::try_from(place).ok().filter(|&place| place < total);
            let place = known
                .ok_or_else(|| invalid(format!("`{OP}`: expected a position below {total}, found \
                                                {place}")))?;
            let at: usize = (0..own.len())
                .map(|axis| place / from_strides[axis] % own[axis] * to_strides[axis])
                .sum();
            to[at] = *element;
        }
        Ok(())
    })?;
    Ok(y)
}
