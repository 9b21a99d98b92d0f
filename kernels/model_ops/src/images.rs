//! Images: resizing, and conversion between channels and space.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::number::{Number, with_number};
use crate::pieces;
use crate::shapes::permuted;
use crate::{
    Slots, allocate, axes_of, dense, invalid, product, real_numbers, real_tensor, unspecified,
    whole_numbers,
};

/// Moves channels to blocks of pixels: the block is the outer part of the channels, or the inner
/// one with `columns_first`.
///
/// # Errors
/// If the tensor does not contain images, or its channels do not fill blocks.
#[tfrt_op("nn.DepthToSpace")]
fn depth_to_space(
    x: &AnyRef,
    #[attr] block: i64,
    #[attr(default = false)] columns_first: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.DepthToSpace";
    let x = dense(x)?;
    let (&[n, c, h, w], Ok(block @ 1..)) = (x.shape().dims(), usize::try_from(block)) else {
        return Err(invalid(format!(
            "`{OP}`: expected images and a positive block size"
        )));
    };
    if !c.is_multiple_of(block.saturating_mul(block)) {
        return Err(invalid(format!(
            "`{OP}`: {c} channels cannot be divided into blocks of size {block}"
        )));
    }
    let depth = c / (block * block);
    let (split, perm) = match columns_first {
        true => ([n, depth, block, block, h, w], [0, 1, 4, 2, 5, 3]),
        false => ([n, block, block, depth, h, w], [0, 3, 4, 1, 5, 2]),
    };
    let moved = permuted(OP, &pieces::with_dims(&x, &split)?, &perm, ctx)?;
    pieces::with_dims(&moved, &[n, depth, h * block, w * block])
}

/// Moves blocks of pixels to channels.
///
/// # Errors
/// If the tensor does not contain images, or its pixels do not fill blocks.
#[tfrt_op("nn.SpaceToDepth")]
fn space_to_depth(
    x: &AnyRef,
    #[attr] block: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.SpaceToDepth";
    let x = dense(x)?;
    let (&[n, c, h, w], Ok(block @ 1..)) = (x.shape().dims(), usize::try_from(block)) else {
        return Err(invalid(format!(
            "`{OP}`: expected images and a positive block size"
        )));
    };
    if !h.is_multiple_of(block) || !w.is_multiple_of(block) {
        return Err(invalid(format!(
            "`{OP}`: {h} × {w} pixels cannot be divided into blocks of size {block}"
        )));
    }
    let split = [n, c, h / block, block, w / block, block];
    let moved = permuted(
        OP,
        &pieces::with_dims(&x, &split)?,
        &[0, 3, 5, 1, 2, 4],
        ctx,
    )?;
    pieces::with_dims(&moved, &[n, c * block * block, h / block, w / block])
}

/// How many sources of places are found at once, so that those of a large result are never all in
/// memory.
const TAPS: usize = 4096;

/// The resizing of one axis.
struct Axis<'a> {
    mode: &'a Mode<'a>,
    /// The extent of the operand, and that of the result.
    extent: usize,
    output: usize,
    scale: f32,
    /// Where `tf_crop_and_resize` begins and ends, as parts of the operand.
    region: (f32, f32),
}

/// The attributes of a resize.
struct Mode<'a> {
    mode: &'a str,
    coordinates: &'a str,
    nearest: &'a str,
    cubic_coeff: f64,
    excludes_outside: bool,
    antialias: bool,
}

/// Resizes a tensor, along the axes of `axes` or all: operands are the tensor, the region of
/// `tf_crop_and_resize`, factors, and sizes. Factors or sizes may be omitted.
///
/// Extents and coordinates are computed in single precision, in the order of ONNX Runtime: where a
/// coordinate is nearly whole, the last bit decides which element is the nearest.
///
/// The coordinates `align_corners` count the last element of the unrounded extent,
/// `align_last_elements` that of the rounded one. The nearest element `simple` is the one above
/// where the axis shrinks, else the one below.
///
/// # Errors
/// If neither is present, their number differs from that of the axes, or a mode does not exist.
#[tfrt_op("nn.Resize")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn resize(
    operands: &[AnyRef],
    #[attr] mode: &str,
    #[attr] coordinates: &str,
    #[attr] nearest: &str,
    #[attr(default = -0.75)] cubic_coeff: f32,
    #[attr(default = false)] exclude_outside: bool,
    #[attr(default = false)] antialias: bool,
    #[attr(default = 0.0)] extrapolation: f32,
    #[attr] aspect: Option<&str>,
    #[attr] axes: Option<&[i64]>,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Resize";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let axes = match axes {
        Some(axes) => axes_of(OP, axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let numbers = |slot: usize| -> Result<Option<Vec<f64>>> {
        let operand = slots
            .get(slot)?
            .filter(|operand| operand.num_elements() > 0);
        operand
            .map(|operand| real_numbers(OP, &operand))
            .transpose()
    };
    let (roi, scales) = (numbers(1)?, numbers(2)?);
    let sizes = slots.get(3)?.filter(|sizes| sizes.num_elements() > 0);
    let sizes = sizes.map(|sizes| whole_numbers(OP, &sizes)).transpose()?;
    let count = scales
        .as_ref()
        .map(Vec::len)
        .or(sizes.as_ref().map(Vec::len));
    if count != Some(axes.len()) || roi.as_ref().is_some_and(|roi| roi.len() != 2 * axes.len()) {
        return Err(invalid(format!(
            "`{OP}`: expected a factor or a size for each of {} axes",
            axes.len()
        )));
    }
    let mode = Mode {
        mode,
        coordinates,
        nearest,
        cubic_coeff: f64::from(cubic_coeff),
        excludes_outside: exclude_outside,
        antialias,
    };
    let factors = factors(&axes, dims, scales.as_deref(), sizes.as_deref(), aspect);
    let mut resized = Vec::with_capacity(axes.len());
    let mut output = dims.to_vec();
    for (position, (&axis, &(scale, extent))) in axes.iter().zip(&factors).enumerate() {
        if !scale.is_finite() || scale <= 0.0 || !(0.0..9e15).contains(&extent) {
            return Err(invalid(format!(
                "`{OP}`: expected a positive and finite scale, found {scale}"
            )));
        }
        let region = roi.as_ref().map_or((0.0, 1.0), |roi| {
            (roi[position] as f32, roi[axes.len() + position] as f32)
        });
        output[axis] = extent as usize;
        let plan = Axis {
            mode: &mode,
            extent: dims[axis],
            output: output[axis],
            scale,
            region,
        };
        resized.push((axis, plan));
    }
    // The memory of the result is there before any work depends on its size.
    let mut result = unspecified(ctx, x.dtype(), &output)?;
    if result.num_elements() == 0 {
        return Ok(result);
    }
    resized.sort_by_key(|(axis, _)| *axis);
    let mut values = real_tensor(OP, &x, ctx)?;
    for (axis, plan) in &resized {
        if !plan.is_identity()? {
            values = plan.apply(&values, *axis, ctx)?;
        }
    }
    for (axis, plan) in &resized {
        plan.fill_outside(&mut values, *axis, f64::from(extrapolation))?;
    }
    with_number!(OP, x.dtype(), T => {
        let values = values.elements::<f64>()?;
        let mut elements = result.elements_mut::<T>()?;
        for (element, &value) in elements.iter_mut().zip(values.iter()) {
            *element = T::of_f64(if T::IS_REAL { value } else { value.round_ties_even() });
        }
        Ok(())
    })?;
    Ok(result)
}

/// Returns the factor and the output extent of each axis.
fn factors(
    axes: &[usize],
    dims: &[usize],
    scales: Option<&[f64]>,
    sizes: Option<&[i64]>,
    aspect: Option<&str>,
) -> Vec<(f32, f64)> {
    let extent = |position: usize| dims[axes[position]];
    // Single precision does not have every extent.
    let scaled = |position: usize, scale: f32| match scale {
        1.0 => extent(position) as f64,
        _ => f64::from(extent(position) as f32 * scale),
    };
    let positions = 0..axes.len();
    if let Some(scales) = scales {
        return positions
            .map(|at| (scales[at] as f32, scaled(at, scales[at] as f32).floor()))
            .collect();
    }
    let sizes = sizes.unwrap_or_default();
    // An axis that keeps its extent has the factor 1, an empty one too.
    let ratios = positions
        .clone()
        .map(|at| match usize::try_from(sizes[at]) {
            Ok(size) if size == extent(at) => 1.0,
            _ => sizes[at] as f32 / extent(at) as f32,
        });
    let common = match aspect {
        Some("not_larger") => ratios.clone().reduce(f32::min),
        Some("not_smaller") => ratios.clone().reduce(f32::max),
        _ => None,
    };
    match common {
        Some(scale) => positions
            .map(|at| (scale, scaled(at, scale).round()))
            .collect(),
        None => ratios
            .enumerate()
            .map(|(at, ratio)| match sizes[at] {
                // Nothing is scaled, so that any factor will do.
                0 => (1.0, 0.0),
                size => (ratio, size as f64),
            })
            .collect(),
    }
}

impl Axis<'_> {
    /// Returns where a place of the result lies in the operand.
    fn coordinate(&self, at: usize) -> Result<f32> {
        let (at, len, scale) = (at as f32, self.extent as f32, self.scale);
        let (output, exact) = (self.output as f32, len * scale);
        let (start, end) = self.region;
        Ok(match self.mode.coordinates {
            "asymmetric" => at / scale,
            "half_pixel" => (at + 0.5) / scale - 0.5,
            "pytorch_half_pixel" if output > 1.0 => (at + 0.5) / scale - 0.5,
            "pytorch_half_pixel" => 0.0,
            "half_pixel_symmetric" => {
                let adjustment = output / exact;
                let offset = len / 2.0 * (1.0 - adjustment);
                offset + (at + 0.5) / scale - 0.5
            }
            "align_corners" if exact > 1.0 => at * (len - 1.0) / (exact - 1.0),
            "align_last_elements" if output > 1.0 => at * (len - 1.0) / (output - 1.0),
            "align_corners" | "align_last_elements" => 0.0,
            "tf_half_pixel_for_nn" => (at + 0.5) / scale,
            "tf_crop_and_resize" if output > 1.0 => {
                start * (len - 1.0) + at * (end - start) * (len - 1.0) / (output - 1.0)
            }
            "tf_crop_and_resize" => 0.5 * (start + end) * (len - 1.0),
            other => return Err(no_mode(other)),
        })
    }

    /// Returns `true` if a coordinate lies outside of the operand, where the result has the value
    /// for extrapolation.
    fn is_outside(&self, coordinate: f32) -> bool {
        self.mode.coordinates == "tf_crop_and_resize"
            && !(0.0..=self.extent as f32 - 1.0).contains(&coordinate)
    }

    /// Adds the sources of a place of the result and their weights; none if it is outside.
    fn taps(&self, at: usize, taps: &mut Vec<(usize, f64)>) -> Result<()> {
        let x = self.coordinate(at)?;
        if self.is_outside(x) {
            return Ok(());
        }
        let mut found = self.mode.taps(x.into(), self.scale.into())?;
        let len = self.extent as f64;
        if self.mode.excludes_outside && self.mode.mode != "nearest" {
            found.retain(|(place, _)| (0.0..len).contains(place));
            let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
            found.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        let clamped = |place: f64| place.clamp(0.0, (len - 1.0).max(0.0)) as usize;
        taps.extend(
            found
                .into_iter()
                .map(|(place, weight)| (clamped(place), weight)),
        );
        Ok(())
    }

    /// Returns `true` if every place of the result has one source, which is the same place.
    fn is_identity(&self) -> Result<bool> {
        if self.extent != self.output {
            return Ok(false);
        }
        let mut taps = Vec::new();
        for at in 0..self.output {
            taps.clear();
            self.taps(at, &mut taps)?;
            if taps != [(at, 1.0)] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a tensor of double precision, resized along an axis.
    fn apply(
        &self,
        values: &DenseHostTensor,
        axis: usize,
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        let mut dims = values.shape().dims().to_vec();
        let (inner, outer) = (product(&dims[axis + 1..]), product(&dims[..axis]));
        dims[axis] = self.output;
        let mut result = allocate(ctx, DType::F64, &dims)?;
        let from = values.elements::<f64>()?;
        let mut to = result.elements_mut::<f64>()?;
        let (mut taps, mut ends) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < self.output {
            taps.clear();
            ends.clear();
            // The sources of a few places, which serve all rows.
            while taps.len() < TAPS && ends.len() < TAPS && first + ends.len() < self.output {
                self.taps(first + ends.len(), &mut taps)?;
                ends.push(taps.len());
            }
            for outer in 0..outer {
                let from = &from[outer * self.extent * inner..][..self.extent * inner];
                let to = &mut to[(outer * self.output + first) * inner..][..ends.len() * inner];
                let mut start = 0;
                for (to, &end) in to.chunks_exact_mut(inner).zip(&ends) {
                    for (column, to) in to.iter_mut().enumerate() {
                        let taps = taps[start..end].iter();
                        let parts =
                            taps.map(|&(place, weight)| weight * from[place * inner + column]);
                        *to = parts.sum();
                    }
                    start = end;
                }
            }
            first += ends.len();
        }
        drop(to);
        drop(from);
        Ok(result)
    }

    /// Writes a value to all places that are outside of the operand along an axis.
    fn fill_outside(&self, values: &mut DenseHostTensor, axis: usize, value: f64) -> Result<()> {
        if self.mode.coordinates != "tf_crop_and_resize" {
            return Ok(());
        }
        let dims = values.shape().dims().to_vec();
        let (inner, outer) = (product(&dims[axis + 1..]), product(&dims[..axis]));
        let mut values = values.elements_mut::<f64>()?;
        for at in 0..self.output {
            if self.is_outside(self.coordinate(at)?) {
                for outer in 0..outer {
                    values[(outer * self.output + at) * inner..][..inner].fill(value);
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn no_mode(name: &str) -> Error {
    invalid(format!("`nn.Resize`: unknown mode `{name}`"))
}

impl Mode<'_> {
    /// Returns the places around a coordinate and their weights.
    fn taps(&self, x: f64, scale: f64) -> Result<Vec<(f64, f64)>> {
        Ok(match self.mode {
            "nearest" => {
                let place = match self.nearest {
                    "round_prefer_floor" if x.fract() == 0.5 => x.floor(),
                    "round_prefer_floor" => x.round(),
                    "round_prefer_ceil" => (x + 0.5).floor(),
                    "floor" => x.floor(),
                    "ceil" => x.ceil(),
                    "simple" if scale < 1.0 => x.ceil(),
                    "simple" => x.floor(),
                    other => return Err(no_mode(other)),
                };
                vec![(place, 1.0)]
            }
            "linear" => self.kernel(x, scale, 1.0, |x| (1.0 - x.abs()).max(0.0)),
            "cubic" => {
                let a = self.cubic_coeff;
                self.kernel(x, scale, 2.0, |x| match x.abs() {
                    x if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
                    x if x < 2.0 => ((x - 5.0) * x + 8.0) * x * a - 4.0 * a,
                    _ => 0.0,
                })
            }
            other => return Err(no_mode(other)),
        })
    }

    /// Returns the places around a coordinate and their weights; with antialiasing a kernel is
    /// stretched where the axis shrinks.
    fn kernel(
        &self,
        x: f64,
        scale: f64,
        radius: f64,
        weight: impl Fn(f64) -> f64,
    ) -> Vec<(f64, f64)> {
        let factor = if self.antialias { scale.min(1.0) } else { 1.0 };
        let reach = radius / factor;
        let first = (x - reach).floor() as i64 + 1;
        let last = (x + reach).ceil() as i64 - 1;
        let places = (first.min(last)..=last.max(first)).map(|place| place as f64);
        let found: Vec<(f64, f64)> = places
            .map(|place| (place, weight((place - x) * factor)))
            .collect();
        let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
        match self.antialias {
            true => found
                .into_iter()
                .map(|(place, weight)| (place, weight / sum))
                .collect(),
            false => found,
        }
    }
}
