//! Images: resizing, and conversion between channels and space.

use tfrt::prelude::*;
use tfrt_kernels::numeric::{after, start_rows};
use tfrt_tensor::{DenseHostTensor, OwnedElements, OwnedElementsMut};

use crate::number::{Number, with_number, with_size};
use crate::pieces;
use crate::shapes::permuted;
use crate::{
    Slots, advance, allocate, axes_of, dense, invalid, product, real_numbers, real_tensor, strides,
    unspecified, whole_numbers,
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
    let refused = || {
        invalid(format!(
            "`{OP}`: {c} channels cannot be divided into blocks of size {block}"
        ))
    };
    let area = block.checked_mul(block).ok_or_else(refused)?;
    if !c.is_multiple_of(area) {
        return Err(refused());
    }
    let depth = c / area;
    let (split, perm) = match columns_first {
        true => ([n, depth, block, block, h, w], [0, 1, 4, 2, 5, 3]),
        false => ([n, block, block, depth, h, w], [0, 3, 4, 1, 5, 2]),
    };
    let moved = permuted(OP, &pieces::with_dims(&x, &split)?, &perm, ctx)?;
    let extent = |extent: usize| extent.checked_mul(block).ok_or_else(refused);
    pieces::with_dims(&moved, &[n, depth, extent(h)?, extent(w)?])
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
    let refused = || {
        invalid(format!(
            "`{OP}`: {h} × {w} pixels cannot be divided into blocks of size {block}"
        ))
    };
    if !h.is_multiple_of(block) || !w.is_multiple_of(block) {
        return Err(refused());
    }
    let area = block.checked_mul(block);
    let channels = area.and_then(|area| c.checked_mul(area));
    let channels = channels.ok_or_else(refused)?;
    let split = [n, c, h / block, block, w / block, block];
    let moved = permuted(
        OP,
        &pieces::with_dims(&x, &split)?,
        &[0, 3, 5, 1, 2, 4],
        ctx,
    )?;
    pieces::with_dims(&moved, &[n, channels, h / block, w / block])
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
/// `tf_crop_and_resize`, factors, and sizes. Either factors or sizes are given.
///
/// Extents and coordinates are computed in single precision, in the order of ONNX Runtime: where a
/// coordinate is nearly whole, the last bit decides which element is the nearest.
///
/// The coordinates `align_corners` count the last element of the unrounded extent,
/// `align_last_elements` that of the rounded one. The nearest element `simple` is the one above
/// where the axis shrinks, else the one below.
///
/// # Errors
/// If neither or both are present, their number differs from that of the axes, a mode does not
/// exist, or the region that it needs is omitted.
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
) -> Result<AnyRef> {
    const OP: &str = "nn.Resize";
    let slots = Slots::new(OP, operands, slots);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let axes = match axes {
        Some(axes) => axes_of(OP, axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let numbers = |slot: usize| -> Result<Option<OwnedElementsMut<f64>>> {
        let operand = slots
            .get(slot)?
            .filter(|operand| operand.num_elements() > 0);
        operand
            .map(|operand| real_numbers(OP, &operand, ctx))
            .transpose()
    };
    let (roi, scales) = (numbers(1)?, numbers(2)?);
    let sizes = slots.get(3)?.filter(|sizes| sizes.num_elements() > 0);
    let sizes = sizes.map(|sizes| whole_numbers(OP, &sizes)).transpose()?;
    if scales.is_some() && sizes.is_some() {
        return Err(invalid(format!(
            "`{OP}`: expected either factors or sizes, found both"
        )));
    }
    if coordinates == "tf_crop_and_resize" && roi.is_none() {
        return Err(invalid(format!(
            "`{OP}`: the coordinates `{coordinates}` need a region, found none"
        )));
    }
    let count = scales
        .as_ref()
        .map(|scales| scales.len())
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
        return Ok(AnyRef::available(result));
    }
    resized.sort_by_key(|(axis, _)| *axis);
    let is_short = |extent: &usize| *extent <= MAX_PLANNED;
    let has_short_axes = dims.iter().chain(&output).all(is_short);
    if has_short_axes && coordinates != "tf_crop_and_resize" {
        if mode.mode == "nearest" {
            pick_nearest(OP, &x, &resized, &mut result)?;
            return Ok(AnyRef::available(result));
        }
        if let Some(planes) = Planes::new(&x, &resized)? {
            let (from, output) = (
                x.elements_owned::<f32>()?,
                result.elements_mut_owned::<f32>()?,
            );
            let done = planes.start(from, output, ctx)?;
            return Ok(after(done, result));
        }
    }
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
    Ok(AnyRef::available(result))
}

/// Axes up to this extent are resized with the sources of all places in memory.
const MAX_PLANNED: usize = 1 << 16;

/// Copies the nearest element to each place of a result.
fn pick_nearest(
    op: &'static str,
    x: &DenseHostTensor,
    resized: &[(usize, Axis<'_>)],
    result: &mut DenseHostTensor,
) -> Result<()> {
    let own = strides(x.shape().dims());
    let dims = result.shape().dims().to_vec();
    let mut sources: Vec<Vec<usize>> = dims.iter().map(|&extent| (0..extent).collect()).collect();
    for (axis, plan) in resized {
        let mut taps = Vec::with_capacity(plan.output);
        for at in 0..plan.output {
            plan.taps(at, &mut taps)?;
        }
        sources[*axis] = taps.into_iter().map(|(place, _)| place).collect();
    }
    // What is behind the last axis that changes is copied at once.
    let is_changed = |axis: &usize| {
        !sources[*axis]
            .iter()
            .copied()
            .eq(0..x.shape().dims()[*axis])
    };
    let last = (0..dims.len()).rfind(is_changed).unwrap_or(0);
    let (rows, inner) = (
        dims.get(..last).unwrap_or_default(),
        product(dims.get(last + 1..).unwrap_or_default()),
    );
    let columns = match sources.get(last) {
        Some(columns) => &columns[..],
        // A scalar has one element.
        None => &[0],
    };
    with_size!(op, x.dtype(), N => {
        let from = x.buffer().read()?;
        let from = from.as_chunks::<N>().0;
        let mut to = result.buffer_mut().write()?;
        let to = to.as_chunks_mut::<N>().0;
        let row_len = columns.len() * inner;
        let (mut index, mut before) = (vec![0; rows.len()], None);
        for row in 0..product(rows) {
            let places = index.iter().zip(&sources).zip(&own);
            let first: usize = places.map(|((&at, sources), own)| sources[at] * own).sum();
            let start = row * row_len;
            if before == Some(first) {
                to.copy_within(start - row_len..start, start);
            } else {
                let to = &mut to[start..][..row_len];
                if inner == 1 {
                    let from = &from[first..];
                    for (to, &column) in to.iter_mut().zip(columns) {
                        *to = from[column];
                    }
                } else {
                    for (to, column) in to.chunks_exact_mut(inner).zip(columns) {
                        to.copy_from_slice(&from[first + column * inner..][..inner]);
                    }
                }
            }
            before = Some(first);
            advance(&mut index, rows);
        }
        Ok(())
    })
}

/// The sources of each place of an axis: those of a place end where those of the next begin.
struct Taps {
    /// Elements of the operand, and their weights.
    taps: Vec<(usize, f64)>,
    ends: Vec<usize>,
    extent: usize,
}

impl Taps {
    /// Returns the sources of an axis that is not resized.
    fn identity(extent: usize) -> Self {
        Self {
            taps: (0..extent).map(|at| (at, 1.0)).collect(),
            ends: (1..=extent).collect(),
            extent,
        }
    }

    fn of(plan: &Axis<'_>) -> Result<Self> {
        let (mut taps, mut ends) = (Vec::new(), Vec::with_capacity(plan.output));
        for at in 0..plan.output {
            plan.taps(at, &mut taps)?;
            ends.push(taps.len());
        }
        Ok(Self {
            taps,
            ends,
            extent: plan.extent,
        })
    }

    /// Returns the sources of each place.
    fn places(&self) -> impl Iterator<Item = &[(usize, f64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.taps[start..end])
    }
}

/// The most elements of a plane's rows in double precision that are all in memory.
const MAX_WIDE: usize = 1 << 21;

/// The elements of rows in double precision that are in memory of a larger plane.
const HELD_ELEMENTS: usize = 1 << 18;

/// Some rows of a plane in double precision.
struct WideRows {
    rows: Vec<f64>,
    /// The row of the operand in each place for one.
    held: Vec<Option<usize>>,
    /// The row of the result.
    sums: Vec<f64>,
}

impl WideRows {
    fn new(num_columns: usize) -> Self {
        let num_rows = (HELD_ELEMENTS / num_columns.max(1)).max(1);
        Self {
            rows: vec![0.0; num_rows * num_columns],
            held: vec![None; num_rows],
            sums: vec![0.0; num_columns],
        }
    }
}

/// The resizing of planes of single precision: of the last two axes and no other.
struct Planes {
    rows: Taps,
    columns: Taps,
}

impl Planes {
    /// Returns the resizing of a tensor if it is one of planes.
    fn new(x: &DenseHostTensor, resized: &[(usize, Axis<'_>)]) -> Result<Option<Self>> {
        let dims = x.shape().dims();
        let &[.., num_rows, num_columns] = dims else {
            return Ok(None);
        };
        if x.dtype() != DType::F32 {
            return Ok(None);
        }
        let mut planes = Self {
            rows: Taps::identity(num_rows),
            columns: Taps::identity(num_columns),
        };
        for (axis, plan) in resized {
            match dims.len() - axis {
                1 => planes.columns = Taps::of(plan)?,
                2 => planes.rows = Taps::of(plan)?,
                _ if plan.is_identity()? => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(planes))
    }

    /// Starts the resizing, plane by plane.
    fn start(
        self,
        from: OwnedElements<f32>,
        output: OwnedElementsMut<f32>,
        ctx: &ExecutionContext,
    ) -> Result<AsyncValueRef<Chain>> {
        let from_len = self.rows.extent * self.columns.extent;
        let row_len = self.rows.ends.len() * self.columns.ends.len();
        let operations = 4 * output.len();
        start_rows(ctx, output, row_len, operations, move |planes, part| {
            let num_columns = self.columns.ends.len();
            let planes = planes.zip(part.chunks_exact_mut(row_len));
            let planes = planes.map(|(plane, to)| (&from[plane * from_len..][..from_len], to));
            if self.rows.extent * num_columns <= MAX_WIDE {
                let mut wide = vec![0.0; self.rows.extent * num_columns];
                planes.for_each(|(from, to)| self.apply(from, &mut wide, to));
            } else {
                let mut wide = WideRows::new(num_columns);
                planes.for_each(|(from, to)| self.apply_by_row(from, &mut wide, to));
            }
        })
    }

    /// Resizes a row of the operand, to double precision.
    fn widen(&self, from: &[f32], wide: &mut [f64]) {
        for (wide, taps) in wide.iter_mut().zip(self.columns.places()) {
            *wide = match *taps {
                [(place, weight)] => weight * f64::from(from[place]),
                [(a, of_a), (b, of_b)] => of_a * f64::from(from[a]) + of_b * f64::from(from[b]),
                ref taps => taps
                    .iter()
                    .map(|&(place, weight)| weight * f64::from(from[place]))
                    .sum(),
            };
        }
    }

    /// Resizes a plane row by row of the result: only the rows that it needs next are widened.
    fn apply_by_row(&self, from: &[f32], wide: &mut WideRows, to: &mut [f32]) {
        let WideRows { rows, held, sums } = wide;
        held.fill(None);
        let num_columns = sums.len();
        let num_held = held.len();
        for (to, taps) in to.chunks_exact_mut(num_columns).zip(self.rows.places()) {
            // The neutral element of addition, so that a zero keeps its sign.
            sums.fill(-0.0);
            for &(place, weight) in taps {
                let slot = place % num_held;
                let row = &mut rows[slot * num_columns..][..num_columns];
                if held[slot] != Some(place) {
                    let extent = self.columns.extent;
                    self.widen(&from[place * extent..][..extent], row);
                    held[slot] = Some(place);
                }
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += weight * *x;
                }
            }
            for (to, &sum) in to.iter_mut().zip(&*sums) {
                *to = sum as f32;
            }
        }
    }

    /// Resizes a plane: first all of its rows, to double precision, then the columns of these.
    fn apply(&self, from: &[f32], wide: &mut [f64], to: &mut [f32]) {
        let num_columns = self.columns.ends.len();
        let rows = from.chunks_exact(self.columns.extent.max(1));
        for (from, wide) in rows.zip(wide.chunks_exact_mut(num_columns)) {
            self.widen(from, wide);
        }
        for (to, taps) in to.chunks_exact_mut(num_columns).zip(self.rows.places()) {
            let row = |place: usize| &wide[place * num_columns..][..num_columns];
            match *taps {
                [(place, weight)] => {
                    for (to, x) in to.iter_mut().zip(row(place)) {
                        *to = (weight * x) as f32;
                    }
                }
                [(a, of_a), (b, of_b)] => {
                    for ((to, a), b) in to.iter_mut().zip(row(a)).zip(row(b)) {
                        *to = (of_a * a + of_b * b) as f32;
                    }
                }
                ref taps => {
                    for (column, to) in to.iter_mut().enumerate() {
                        let parts = taps
                            .iter()
                            .map(|&(place, weight)| weight * row(place)[column]);
                        *to = parts.sum::<f64>() as f32;
                    }
                }
            }
        }
    }
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
