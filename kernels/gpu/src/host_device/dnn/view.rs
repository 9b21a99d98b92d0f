//! Tensors in the memory of the device.

use crate::api::DevicePtr;
use crate::host_device::fault::Fault;
use crate::host_device::memory::DeviceMemory;
use crate::host_device::numbers::{Number, Stored};

/// The most elements of a tensor, and how far they may lie apart: this device is for small
/// networks.
const MAX_LEN: usize = 1 << 26;
const MAX_SPAN: usize = 1 << 40;

/// A tensor in memory: the sizes of its dimensions in elements, and their distances in vectors.
/// Vectors are consecutive elements along the second dimension, the channels; most tensors have
/// vectors of one element.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) stored: Stored,
    pub(super) dims: Vec<usize>,
    strides: Vec<usize>,
    vector_len: usize,
    pub(super) pointer: DevicePtr,
}

impl View {
    pub(super) fn new(
        stored: Option<Stored>,
        dims: &[i64],
        strides: &[i64],
        pointer: DevicePtr,
    ) -> Option<Self> {
        Self::of_vectors((stored, 1), dims, strides, pointer)
    }

    /// Returns a tensor whose channels are in vectors of `vector_len` elements. Its sizes and
    /// distances count vectors.
    pub(super) fn of_vectors(
        (stored, vector_len): (Option<Stored>, usize),
        dims: &[i64],
        strides: &[i64],
        pointer: DevicePtr,
    ) -> Option<Self> {
        let sizes = |numbers: &[i64]| -> Option<Vec<usize>> {
            numbers
                .iter()
                .map(|number| usize::try_from(*number).ok())
                .collect()
        };
        let (mut dims, strides) = (sizes(dims)?, sizes(strides)?);
        let span = dims
            .iter()
            .zip(&strides)
            .try_fold(0_usize, |span, (dim, stride)| {
                span.checked_add(dim.saturating_sub(1).checked_mul(*stride)?)
            });
        let channels = dims.get_mut(1)?;
        *channels = channels.checked_mul(vector_len)?;
        let len = dims
            .iter()
            .try_fold(1_usize, |len, dim| len.checked_mul(*dim));
        let is_small = len? <= MAX_LEN && span? <= MAX_SPAN;
        (dims.len() == strides.len() && dims.len() >= 3 && is_small).then_some(Self {
            stored: stored?,
            dims,
            strides,
            vector_len,
            pointer,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Returns the position of the element with these coordinates.
    pub(super) fn place(&self, at: &[usize]) -> u64 {
        let channel = at[1];
        let vectors = at.iter().zip(&self.strides).enumerate();
        let vectors = vectors.map(|(dimension, (index, stride))| match dimension {
            1 => channel / self.vector_len * stride,
            _ => index * stride,
        });
        (vectors.sum::<usize>() * self.vector_len + channel % self.vector_len) as u64
    }

    /// Returns all elements, row-major.
    pub(super) fn read(&self, memory: &DeviceMemory) -> Result<Vec<f64>, Fault> {
        let mut numbers = Vec::with_capacity(self.len());
        for_each(&self.dims, |at| {
            let offset = self.place(at) * self.stored.width() as u64;
            let element = self.stored.read(memory, self.pointer.offset(offset), 1)?;
            numbers.extend(element.first().map(|number| number.re));
            Ok(())
        })?;
        Ok(numbers)
    }

    pub(super) fn write(&self, memory: &mut DeviceMemory, numbers: &[f64]) -> Result<(), Fault> {
        let mut next = numbers.iter();
        for_each(&self.dims, |at| {
            let offset = self.place(at) * self.stored.width() as u64;
            let number = Number {
                re: next.next().copied().unwrap_or_default(),
                im: 0.0,
            };
            self.stored
                .write(memory, self.pointer.offset(offset), &[number])
        })
    }
}

/// Visits all coordinates, row-major.
pub(super) fn for_each(
    dims: &[usize],
    mut visit: impl FnMut(&[usize]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if dims.contains(&0) {
        return Ok(());
    }
    let mut at = vec![0; dims.len()];
    loop {
        visit(&at)?;
        let mut dimension = dims.len();
        loop {
            if dimension == 0 {
                return Ok(());
            }
            dimension -= 1;
            at[dimension] += 1;
            if at[dimension] < dims[dimension] {
                break;
            }
            at[dimension] = 0;
        }
    }
}

/// Returns the number of an element, row-major.
pub(super) fn flat(dims: &[usize], at: &[usize]) -> usize {
    dims.iter()
        .zip(at)
        .fold(0, |index, (dim, at)| index * dim + at)
}
