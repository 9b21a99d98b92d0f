//! The FFT library of the host device.

use std::f64::consts::FRAC_PI_2;

use super::driver::Shared;
use super::fault::Fault;
use super::memory::DeviceMemory;
use super::numbers::{Number, Stored, ZERO, conjugate, minus, plus, times};
use crate::api::fft::Fft;
use crate::api::fft::{Layout, Plan};
use crate::api::handle::{FftHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

/// A plan, and its stream and workspace.
#[derive(Clone, Debug)]
pub(super) struct HostPlan {
    plan: Plan,
    stream: Option<StreamHandle>,
    work_area: DevicePtr,
}

/// The number types of a transform's input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    RealToComplex,
    ComplexToReal,
    ComplexToComplex,
}

/// Returns the kind of a `cufftType`, and whether its numbers are of double precision.
fn kind(transform: i32) -> Option<(Kind, bool)> {
    Some(match transform {
        0x2a => (Kind::RealToComplex, false),
        0x2c => (Kind::ComplexToReal, false),
        0x29 => (Kind::ComplexToComplex, false),
        0x6a => (Kind::RealToComplex, true),
        0x6c => (Kind::ComplexToReal, true),
        0x69 => (Kind::ComplexToComplex, true),
        _ => return None,
    })
}

/// The most elements of one transform.
const MAX_LEN: i64 = 1 << 24;

/// The longest odd factor of a dimension: lines of odd length take eight times their memory.
const MAX_ODD: i64 = 1 << 20;

/// The reported bytes of a transform's work area.
const WORK_BYTES: usize = 16;

impl Fft for Shared {
    fn plan(&self, current: &Current, plan: &Plan) -> GpuResult<(FftHandle, usize)> {
        const CALL: &str = "cufftMakePlanMany64(plan, rank, dims, layouts, type, batch, &size)";
        self.0
            .enter_library("cufftMakePlanMany64", CALL, Status::Fft)?;
        self.0.check_context(CALL, current.context())?;
        let invalid = |status| GpuError::new(CALL, status);
        if kind(plan.transform).is_none() || plan.batch < 0 {
            return Err(invalid(Status::FFT_INVALID_VALUE));
        }
        let all = plan
            .dims
            .iter()
            .try_fold(plan.batch.max(1), |len, dim| len.checked_mul(*dim));
        if plan.batch == 0 || all.is_none_or(|all| all > 4 * MAX_LEN) {
            return Err(invalid(Status::FFT_INVALID_SIZE));
        }
        let len = plan.dims.iter().try_fold(1_i64, |len, dim| {
            len.checked_mul(*dim)
                .filter(|len| (1..=MAX_LEN).contains(len))
        });
        // No dimension is 0 where there is a length, so that each has an odd part.
        let is_long = |dim: &i64| dim >> dim.trailing_zeros() > MAX_ODD;
        if len.is_none() || !(1..=3).contains(&plan.dims.len()) || plan.dims.iter().any(is_long) {
            return Err(invalid(Status::FFT_INVALID_SIZE));
        }
        for layout in [&plan.input, &plan.output] {
            if layout.embed.len() != plan.dims.len() || layout.stride <= 0 || layout.distance < 0 {
                return Err(invalid(Status::FFT_INVALID_VALUE));
            }
        }
        let handle = self.0.new_handle();
        let plan = HostPlan {
            plan: plan.clone(),
            stream: None,
            work_area: DevicePtr::NULL,
        };
        lock(&self.0.libraries).plans.insert(handle, plan);
        Ok((FftHandle(handle), WORK_BYTES))
    }

    fn destroy(&self, handle: FftHandle) -> GpuResult<()> {
        const CALL: &str = "cufftDestroy(plan)";
        self.0.enter_library("cufftDestroy", CALL, Status::Fft)?;
        match lock(&self.0.libraries).plans.remove(&handle.0) {
            Some(_) => Ok(()),
            None => Err(GpuError::new(CALL, Status::FFT_INVALID_PLAN)),
        }
    }

    fn workspace_size(&self, handle: FftHandle) -> GpuResult<usize> {
        const CALL: &str = "cufftGetSize(plan, &size)";
        self.0.enter_library("cufftGetSize", CALL, Status::Fft)?;
        self.change(CALL, handle, |_| {})?;
        Ok(WORK_BYTES)
    }

    fn set_stream(&self, handle: FftHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cufftSetStream(plan, stream)";
        self.0.enter_library("cufftSetStream", CALL, Status::Fft)?;
        self.0.queue(CALL, stream)?;
        self.change(CALL, handle, |plan| plan.stream = Some(stream))
    }

    fn set_work_area(&self, handle: FftHandle, workspace: DevicePtr) -> GpuResult<()> {
        const CALL: &str = "cufftSetWorkArea(plan, area)";
        self.0
            .enter_library("cufftSetWorkArea", CALL, Status::Fft)?;
        self.change(CALL, handle, |plan| plan.work_area = workspace)
    }

    fn execute(
        &self,
        _current: &Current,
        handle: FftHandle,
        input: DevicePtr,
        output: DevicePtr,
        direction: i32,
    ) -> GpuResult<()> {
        const CALL: &str = "cufftExec(plan, input, output, direction)";
        self.0.enter_library("cufftExec", CALL, Status::Fft)?;
        let invalid = |status| GpuError::new(CALL, status);
        let plan = lock(&self.0.libraries).plans.get(&handle.0).cloned();
        let plan = plan.ok_or_else(|| invalid(Status::FFT_INVALID_PLAN))?;
        let stream = plan
            .stream
            .ok_or_else(|| invalid(Status::FFT_INVALID_PLAN))?;
        if plan.work_area.is_null() {
            return Err(invalid(Status::FFT_NO_WORKSPACE));
        }
        let queue = self.0.queue(CALL, stream)?;
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            // The library would use it.
            let mut area = [0; WORK_BYTES];
            memory.read(plan.work_area.address(), &mut area)?;
            for index in 0..plan.plan.batch {
                transform(&mut memory, &plan.plan, index, [input, output], direction)?;
            }
            Ok(())
        })
    }
}

impl Shared {
    fn change(
        &self,
        call: &'static str,
        handle: FftHandle,
        change: impl FnOnce(&mut HostPlan),
    ) -> GpuResult<()> {
        match lock(&self.0.libraries).plans.get_mut(&handle.0) {
            Some(plan) => {
                change(plan);
                Ok(())
            }
            None => Err(GpuError::new(call, Status::FFT_INVALID_PLAN)),
        }
    }
}

/// Returns the places of the elements of one transform in memory, in elements, row-major.
fn places(dims: &[usize], layout: &Layout, index: i64) -> Result<Vec<u64>, Fault> {
    let too_large = || Fault::illegal_address("the layout of a transform is too large");
    let start = layout.distance.checked_mul(index).ok_or_else(too_large)?;
    let mut places = vec![start];
    for (dim, &len) in dims.iter().enumerate() {
        // An element of this dimension spans the inner sizes of the memory around the data.
        let inner = &layout.embed[dim + 1..];
        let span = inner
            .iter()
            .try_fold(layout.stride, |span, size| span.checked_mul(*size));
        let span = span.ok_or_else(too_large)?;
        let mut next = Vec::with_capacity(places.len() * len);
        for place in places {
            for element in 0..len as i64 {
                let offset = span.checked_mul(element);
                let sum = offset.and_then(|offset| place.checked_add(offset));
                next.push(sum.ok_or_else(too_large)?);
            }
        }
        places = next;
    }
    let places = places.into_iter().map(u64::try_from);
    places.collect::<Result<_, _>>().map_err(|_| too_large())
}

fn transform(
    memory: &mut DeviceMemory,
    plan: &Plan,
    index: i64,
    [input, output]: [DevicePtr; 2],
    direction: i32,
) -> Result<(), Fault> {
    let Some((kind, is_double)) = kind(plan.transform) else {
        return Err(Fault::failed("unknown type of plan"));
    };
    let dims: Vec<usize> = plan
        .dims
        .iter()
        .map(|dim| usize::try_from(*dim).unwrap_or(0))
        .collect();
    // One half of the spectrum of real numbers says all.
    let mut half = dims.clone();
    if let Some(last) = half.last_mut() {
        *last = *last / 2 + 1;
    }
    let (real, complex) = if is_double {
        (Stored::F64, Stored::C64)
    } else {
        (Stored::F32, Stored::C32)
    };
    let (from, to) = match kind {
        Kind::RealToComplex => ((real, &dims), (complex, &half)),
        Kind::ComplexToReal => ((complex, &half), (real, &dims)),
        Kind::ComplexToComplex => ((complex, &dims), (complex, &dims)),
    };
    let mut numbers = Vec::new();
    for place in places(from.1, &plan.input, index)? {
        let at = input.offset(place * from.0.width() as u64);
        numbers.extend(from.0.read(memory, at, 1)?);
    }
    let is_inverse = match kind {
        Kind::RealToComplex => false,
        Kind::ComplexToReal => true,
        Kind::ComplexToComplex => direction == 1,
    };
    if kind == Kind::ComplexToReal {
        numbers = whole_spectrum(&numbers, &dims, &half);
    }
    all_dimensions(&mut numbers, &dims, is_inverse);
    let targets = places(to.1, &plan.output, index)?;
    let width = *dims.last().unwrap_or(&1);
    let kept = *to.1.last().unwrap_or(&1);
    let results = numbers.chunks(width).flat_map(|row| &row[..kept]);
    for (place, number) in targets.into_iter().zip(results) {
        let at = output.offset(place * to.0.width() as u64);
        to.0.write(memory, at, &[*number])?;
    }
    Ok(())
}

/// Returns the whole spectrum of real numbers, from one half of it: opposite frequencies are
/// conjugate.
fn whole_spectrum(half: &[Number], dims: &[usize], half_dims: &[usize]) -> Vec<Number> {
    let len: usize = dims.iter().product();
    let width = dims[dims.len() - 1];
    let half_width = half_dims[half_dims.len() - 1];
    let outer = &dims[..dims.len() - 1];
    let opposite_row = |mut row: usize| {
        let mut opposite = 0;
        let mut scale = 1;
        for &size in outer.iter().rev() {
            opposite += (size - row % size) % size * scale;
            row /= size;
            scale *= size;
        }
        opposite
    };
    let number = |index: usize| {
        let (row, column) = (index / width, index % width);
        if column < half_width {
            half[row * half_width + column]
        } else {
            conjugate(half[opposite_row(row) * half_width + width - column])
        }
    };
    (0..len).map(number).collect()
}

/// Transforms along each dimension in turn.
fn all_dimensions(numbers: &mut [Number], dims: &[usize], is_inverse: bool) {
    let mut stride = 1;
    for &len in dims.iter().rev() {
        let block = stride * len;
        for start in (0..numbers.len()).step_by(block) {
            for offset in start..start + stride {
                let line: Vec<Number> = (0..len)
                    .map(|index| numbers[offset + index * stride])
                    .collect();
                for (index, number) in line_transform(&line, is_inverse).into_iter().enumerate() {
                    numbers[offset + index * stride] = number;
                }
            }
        }
        stride = block;
    }
}

/// Returns a root of unity. Quarters of the circle are exact.
fn root(index: usize, len: usize, is_inverse: bool) -> Number {
    let quarters = 4 * (index % len);
    let (quarter, rest) = (quarters / len, quarters % len);
    let angle = FRAC_PI_2 * rest as f64 / len as f64;
    let (sin, cos) = if rest == 0 {
        (0.0, 1.0)
    } else {
        angle.sin_cos()
    };
    let (re, im) = match quarter {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    };
    Number {
        re,
        im: if is_inverse { im } else { -im },
    }
}

/// The odd length from which on a line is transformed by a convolution.
const MIN_CONVOLVED: usize = 64;

/// Transforms a line of any length by transforms of a power of two (Bluestein): in the exponent,
/// `2·j·k = j² + k² - (k - j)²`, so that the transform is a convolution with `root(-k²)` between
/// products with `root(k²)`.
fn convolved(line: &[Number], is_inverse: bool) -> Vec<Number> {
    let len = line.len();
    let padded = (2 * len - 1).next_power_of_two();
    let chirps: Vec<Number> = (0..len)
        .map(|index| root(index * index % (2 * len), 2 * len, is_inverse))
        .collect();
    let (mut numbers, mut filter) = (vec![ZERO; padded], vec![ZERO; padded]);
    for (index, (&number, &chirp)) in line.iter().zip(&chirps).enumerate() {
        numbers[index] = times(number, chirp);
        filter[index] = conjugate(chirp);
        filter[(padded - index) % padded] = conjugate(chirp);
    }
    let spectrum = line_transform(&numbers, false);
    let products = spectrum.into_iter().zip(line_transform(&filter, false));
    let products: Vec<Number> = products.map(|(one, other)| times(one, other)).collect();
    let scale = Number {
        re: 1.0 / padded as f64,
        im: 0.0,
    };
    let convolution = line_transform(&products, true).into_iter().zip(&chirps);
    convolution
        .map(|(number, &chirp)| times(times(number, chirp), scale))
        .collect()
}

/// Transforms a line: halves as long as its length is even; then by a convolution, or by the
/// definition if that is short.
fn line_transform(line: &[Number], is_inverse: bool) -> Vec<Number> {
    let len = line.len();
    if len < 2 {
        return line.to_vec();
    }
    if !len.is_multiple_of(2) && len >= MIN_CONVOLVED {
        return convolved(line, is_inverse);
    }
    if !len.is_multiple_of(2) {
        let term =
            |index: usize, out: usize| times(line[index], root(index * out, len, is_inverse));
        let sum = |out: usize| (0..len).fold(ZERO, |sum, index| plus(sum, term(index, out)));
        return (0..len).map(sum).collect();
    }
    let part = |first: usize| -> Vec<Number> {
        let numbers: Vec<Number> = line.iter().copied().skip(first).step_by(2).collect();
        line_transform(&numbers, is_inverse)
    };
    let (even, odd) = (part(0), part(1));
    let mut out = vec![ZERO; len];
    for index in 0..len / 2 {
        let turned = times(odd[index], root(index, len, is_inverse));
        out[index] = plus(even[index], turned);
        out[index + len / 2] = minus(even[index], turned);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_definition(line: &[Number], is_inverse: bool) -> Vec<Number> {
        let len = line.len();
        (0..len)
            .map(|out| {
                (0..len).fold(ZERO, |sum, index| {
                    plus(sum, times(line[index], root(index * out, len, is_inverse)))
                })
            })
            .collect()
    }

    #[test]
    fn a_line_is_transformed_as_defined() {
        for len in [1, 2, 3, 4, 6, 8, 12, 15, 16, 65, 67, 134, 210, 255] {
            let line: Vec<Number> = (0..len)
                .map(|index| Number {
                    re: (index * index % 7) as f64,
                    im: (index % 3) as f64 - 1.0,
                })
                .collect();
            for is_inverse in [false, true] {
                let expected = by_definition(&line, is_inverse);
                for (found, expected) in line_transform(&line, is_inverse).iter().zip(expected) {
                    let difference = minus(*found, expected);
                    assert!(difference.re.hypot(difference.im) < 1e-9, "{len}");
                }
            }
        }
    }

    #[test]
    fn quarters_of_the_circle_are_exact() {
        let parts = |index, is_inverse| {
            let root = root(index, 8, is_inverse);
            (root.re, root.im)
        };
        assert_eq!(parts(0, false), (1.0, 0.0));
        assert_eq!(parts(2, false), (0.0, -1.0));
        assert_eq!(parts(4, true), (-1.0, 0.0));
        assert_eq!(parts(14, true), (0.0, -1.0));
    }

    #[test]
    fn half_a_spectrum_of_real_numbers_says_all() {
        let dims = [3, 4];
        let mut numbers: Vec<Number> = (0..12)
            .map(|index| Number {
                re: (index * 5 % 11) as f64,
                im: 0.0,
            })
            .collect();
        all_dimensions(&mut numbers, &dims, false);
        let half: Vec<Number> = numbers
            .chunks(4)
            .flat_map(|row| row[..3].to_vec())
            .collect();
        for (found, expected) in whole_spectrum(&half, &dims, &[3, 3]).iter().zip(&numbers) {
            let difference = minus(*found, *expected);
            assert!(difference.re.hypot(difference.im) < 1e-9);
        }
    }
}
