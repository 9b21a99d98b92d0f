//! Images: resizing, and conversion between channels and space.

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::number::{Number, with_number};
use crate::pieces;
use crate::shapes::permuted;
use crate::{Slots, advance, axes_of, dense, invalid, made, product, real_numbers, whole_numbers};

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

/// The resizing of one axis.
struct Axis {
    output: usize,
    /// The sources of each output place and their weights; none outside of the image.
    taps: Vec<Option<Vec<(usize, f64)>>>,
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
    let mut plans = Vec::with_capacity(dims.len());
    for (axis, &extent) in dims.iter().enumerate() {
        let Some(position) = axes.iter().position(|&found| found == axis) else {
            let taps = (0..extent).map(|at| Some(vec![(at, 1.0)])).collect();
            plans.push(Axis {
                output: extent,
                taps,
            });
            continue;
        };
        let (scale, output) = factors[position];
        if !scale.is_finite() || scale <= 0.0 || !(0.0..9e15).contains(&output) {
            return Err(invalid(format!(
                "`{OP}`: expected a positive and finite scale, found {scale}"
            )));
        }
        let region = roi.as_ref().map_or((0.0, 1.0), |roi| {
            (roi[position], roi[axes.len() + position])
        });
        plans.push(mode.plan(extent, output, scale, region)?);
    }
    let output: Vec<usize> = plans.iter().map(|plan| plan.output).collect();
    let from = real_numbers(OP, &x)?;
    let (values, is_outside) = applied(&from, dims, &plans);
    let extrapolation = f64::from(extrapolation);
    with_number!(OP, x.dtype(), T => {
        made(ctx, &output, |at| {
            let value = if is_outside[at] { extrapolation } else { values[at] };
            T::of_f64(if T::IS_REAL { value } else { value.round_ties_even() })
        })
    })
}

/// Returns the factor and the output extent of each axis.
fn factors(
    axes: &[usize],
    dims: &[usize],
    scales: Option<&[f64]>,
    sizes: Option<&[i64]>,
    aspect: Option<&str>,
) -> Vec<(f64, f64)> {
    let extent = |position: usize| dims[axes[position]] as f64;
    let positions = 0..axes.len();
    if let Some(scales) = scales {
        return positions
            .map(|at| (scales[at], (extent(at) * scales[at]).floor()))
            .collect();
    }
    let sizes = sizes.unwrap_or_default();
    let ratios = positions.clone().map(|at| sizes[at] as f64 / extent(at));
    let common = match aspect {
        Some("not_larger") => ratios.clone().reduce(f64::min),
        Some("not_smaller") => ratios.clone().reduce(f64::max),
        _ => None,
    };
    match common {
        Some(scale) => positions
            .map(|at| (scale, (scale * extent(at)).round()))
            .collect(),
        None => ratios
            .enumerate()
            .map(|(at, ratio)| (ratio, sizes[at] as f64))
            .collect(),
    }
}

impl Mode<'_> {
    fn plan(&self, extent: usize, output: f64, scale: f64, region: (f64, f64)) -> Result<Axis> {
        let len = extent as f64;
        let exact = len * scale;
        let coordinate = |at: f64| match self.coordinates {
            "asymmetric" => Some(at / scale),
            "half_pixel" => Some((at + 0.5) / scale - 0.5),
            "pytorch_half_pixel" if output > 1.0 => Some((at + 0.5) / scale - 0.5),
            "pytorch_half_pixel" => Some(0.0),
            "half_pixel_symmetric" => {
                let adjustment = output / exact;
                let offset = len / 2.0 * (1.0 - adjustment);
                Some(offset + (at + 0.5) / scale - 0.5)
            }
            "align_corners" if exact > 1.0 => Some(at * (len - 1.0) / (exact - 1.0)),
            "align_corners" => Some(0.0),
            "tf_half_pixel_for_nn" => Some((at + 0.5) / scale),
            "tf_crop_and_resize" if output > 1.0 => Some(
                region.0 * (len - 1.0) + at * (region.1 - region.0) * (len - 1.0) / (output - 1.0),
            ),
            "tf_crop_and_resize" => Some(0.5 * (region.0 + region.1) * (len - 1.0)),
            _ => None,
        };
        let no_mode = |name: &str| invalid(format!("`nn.Resize`: unknown mode `{name}`"));
        let output = output as usize;
        let mut taps = Vec::new();
        for at in 0..output {
            let x = coordinate(at as f64).ok_or_else(|| no_mode(self.coordinates))?;
            if self.coordinates == "tf_crop_and_resize" && !(0.0..=len - 1.0).contains(&x) {
                taps.push(None);
                continue;
            }
            let found = match self.mode {
                "nearest" => {
                    let place = match self.nearest {
                        "round_prefer_floor" if x.fract() == 0.5 => x.floor(),
                        "round_prefer_floor" => x.round(),
                        "round_prefer_ceil" => (x + 0.5).floor(),
                        "floor" => x.floor(),
                        "ceil" => x.ceil(),
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
            };
            let inside = |place: f64| (0.0..len).contains(&place);
            let found = if self.excludes_outside && self.mode != "nearest" {
                let kept: Vec<_> = found
                    .into_iter()
                    .filter(|&(place, _)| inside(place))
                    .collect();
                let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
                kept.into_iter()
                    .map(|(place, weight)| (place, weight / sum))
                    .collect()
            } else {
                found
            };
            let clamped = |place: f64| place.clamp(0.0, (len - 1.0).max(0.0)) as usize;
            taps.push(Some(
                found
                    .into_iter()
                    .map(|(place, weight)| (clamped(place), weight))
                    .collect(),
            ));
        }
        Ok(Axis { output, taps })
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

/// Applies the plans axis by axis. Also returns which elements are outside.
fn applied(from: &[f64], dims: &[usize], plans: &[Axis]) -> (Vec<f64>, Vec<bool>) {
    let mut values = from.to_vec();
    let mut shape = dims.to_vec();
    for (axis, plan) in plans.iter().enumerate() {
        let is_identity =
            plan.output == shape[axis]
                && plan.taps.iter().enumerate().all(
                    |(at, taps)| matches!(taps.as_deref(), Some([(place, 1.0)]) if *place == at),
                );
        if is_identity {
            continue;
        }
        let (inner, extent) = (product(&shape[axis + 1..]), shape[axis]);
        let outer = product(&shape[..axis]);
        let mut next = Vec::with_capacity(outer * plan.output * inner);
        for outer in 0..outer {
            for taps in &plan.taps {
                for column in 0..inner {
                    let places = taps.iter().flatten();
                    let value = places.map(|&(place, weight)| {
                        weight * values[(outer * extent + place) * inner + column]
                    });
                    next.push(value.sum());
                }
            }
        }
        values = next;
        shape[axis] = plan.output;
    }
    let mut index = vec![0; shape.len()];
    let is_outside = (0..product(&shape)).map(|_| {
        let outside = index
            .iter()
            .zip(plans)
            .any(|(&at, plan)| plan.taps[at].is_none());
        advance(&mut index, &shape);
        outside
    });
    let is_outside = is_outside.collect();
    (values, is_outside)
}
