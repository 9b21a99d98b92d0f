//! Tensors that are known when a program is imported.
//!
//! Rules scale the filters of convolutions and move their channels. These are most of the bytes of
//! many models, so they are not copied by each rule: [`ChangedFilters`] note the changes, and the
//! first reader gets a copy that all of them were made to. That is a session that packs its
//! weights, or a rule that needs the numbers, as the one that joins equal constants does for the
//! smallest of them.

use std::sync::OnceLock;

use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape, TensorError};

/// A tensor, or filters that are changed when they are first read.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Tensor(DenseHostTensor),
    Filters(ChangedFilters),
}

/// Filters of convolutions that are scaled, moved or both.
///
/// A session packs filters one after another, so that the allocator can use the memory of one copy
/// for the next. Clones share the copy only if it was made before.
///
/// Invariants: `source` has elements of single precision and as many as `shape`; there are as many
/// `factors` as filters; with channels last, `shape` has four dimensions.
#[derive(Clone, Debug)]
pub(crate) struct ChangedFilters {
    /// `[filters, channels, …]`
    source: DenseHostTensor,
    /// A factor for each filter, in double precision, as is the product.
    factors: Option<Vec<f64>>,
    has_channels_last: bool,
    /// The shape of the changed filters.
    shape: Shape,
    changed: OnceLock<DenseHostTensor>,
}

/// The side of the squares in which weights are moved. A square takes 16 KiB.
///
/// The time of squares of 64, 32 and 16, as a part of that without squares in the same run: 0.74,
/// 0.95 and 1.50 for 512 filters of 512 channels and 3 x 3 weights, and 0.60, 0.67 and 1.08 for 256
/// filters of 1024 channels and one weight (Sapphire Rapids, all processors busy). Vectors that
/// were just written number by number are read only once all of the numbers are in the cache.
const SIDE: usize = 64;

impl ChangedFilters {
    /// Returns filters of which each is multiplied by a factor. Returns `None` if the filters are
    /// not of single precision, or if the factors are more or fewer.
    pub(crate) fn scaled(filters: &DenseHostTensor, factors: Vec<f64>) -> Option<Self> {
        let shape = filters.shape();
        let fits = filters.dtype() == DType::F32 && shape.dims().first() == Some(&factors.len());
        fits.then(|| Self {
            source: filters.clone(),
            factors: Some(factors),
            has_channels_last: false,
            shape: shape.clone(),
            changed: OnceLock::new(),
        })
    }

    /// Returns filters `[filters, channels, rows, columns]` as
    /// `[rows, columns, channels, filters]`. Returns `None` if they have another rank, are not of
    /// single precision, or cannot be read.
    pub(crate) fn with_channels_last(filters: &Constant) -> Option<Self> {
        let &[num_filters, channels, rows, columns] = filters.shape().dims() else {
            return None;
        };
        if filters.dtype() != DType::F32 {
            return None;
        }
        let (source, factors) = match filters {
            Constant::Filters(scaled) if scaled.is_only_scaled() => {
                (&scaled.source, scaled.factors.clone())
            }
            _ => (filters.tensor().ok()?, None),
        };
        Some(Self {
            source: source.clone(),
            factors,
            has_channels_last: true,
            shape: Shape::new(&[rows, columns, channels, num_filters]).ok()?,
            changed: OnceLock::new(),
        })
    }

    /// Returns `true` if the filters are still to be scaled, and nothing else.
    fn is_only_scaled(&self) -> bool {
        !self.has_channels_last && self.changed.get().is_none()
    }

    /// Returns the changed filters.
    fn tensor(&self) -> Result<&DenseHostTensor, TensorError> {
        if let Some(changed) = self.changed.get() {
            return Ok(changed);
        }
        let shape = self.shape.clone();
        let mut changed = DenseHostTensor::zeroed(&crate::malloc(), DType::F32, shape)?;
        {
            let from = self.source.elements::<f32>()?;
            let mut to = changed.elements_mut::<f32>()?;
            debug_assert_eq!(from.len(), to.len());
            self.write(&from, &mut to);
        }
        self.source.buffer().give_back();
        Ok(self.changed.get_or_init(|| changed))
    }

    fn write(&self, from: &[f32], to: &mut [f32]) {
        let &[num_filters, ..] = self.source.shape().dims() else {
            return;
        };
        if from.is_empty() {
            return;
        }
        let filter_len = from.len() / num_filters;
        if self.has_channels_last {
            return self.write_moved(from, filter_len, to);
        }
        let filters = from
            .chunks_exact(filter_len)
            .zip(to.chunks_exact_mut(filter_len));
        for (filter, (from, to)) in filters.enumerate() {
            self.change(filter, from, to.iter_mut());
        }
    }

    /// Writes filters with the channels last.
    ///
    /// The weights at one position of all filters lie a filter apart, often a power of two, so that
    /// their cache lines displace each other. Squares of filters and positions are transposed in an
    /// array of their own.
    fn write_moved(&self, from: &[f32], filter_len: usize, to: &mut [f32]) {
        let &[rows, columns, channels, num_filters] = self.shape.dims() else {
            return;
        };
        let taps = rows * columns;
        let mut square = [[0.0; SIDE]; SIDE];
        for first in (0..num_filters).step_by(SIDE) {
            let width = SIDE.min(num_filters - first);
            for position in (0..filter_len).step_by(SIDE) {
                let positions = position..filter_len.min(position + SIDE);
                for column in 0..width {
                    let filter = first + column;
                    let weights = &from[filter * filter_len..][positions.clone()];
                    let to = square.iter_mut().map(|row| &mut row[column]);
                    self.change(filter, weights, to);
                }
                for (row, position) in square.iter().zip(positions) {
                    let (channel, tap) = (position / taps, position % taps);
                    let start = (tap * channels + channel) * num_filters + first;
                    to[start..start + width].copy_from_slice(&row[..width]);
                }
            }
        }
    }

    /// Writes weights of a filter, multiplied by its factor.
    #[inline(always)]
    fn change<'t>(&self, filter: usize, from: &[f32], to: impl Iterator<Item = &'t mut f32>) {
        let weights = to.zip(from);
        match &self.factors {
            None => weights.for_each(|(to, &weight)| *to = weight),
            Some(factors) => {
                let factor = factors[filter];
                weights.for_each(|(to, &weight)| *to = (f64::from(weight) * factor) as f32);
            }
        }
    }
}

impl From<DenseHostTensor> for Constant {
    fn from(tensor: DenseHostTensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<ChangedFilters> for Constant {
    fn from(filters: ChangedFilters) -> Self {
        Self::Filters(filters)
    }
}

impl Constant {
    /// Returns the tensor.
    ///
    /// # Errors
    /// If filters are to be changed: if memory is short, or if the original ones are being written.
    pub(crate) fn tensor(&self) -> Result<&DenseHostTensor, TensorError> {
        match self {
            Self::Tensor(tensor) => Ok(tensor),
            Self::Filters(filters) => filters.tensor(),
        }
    }

    /// Returns the tensor, and gives up what it is made of.
    ///
    /// # Errors
    /// As of [`tensor`](Self::tensor).
    pub(crate) fn into_tensor(self) -> Result<DenseHostTensor, TensorError> {
        self.tensor().cloned()
    }

    /// Returns the tensor, unless filters are still to be changed.
    pub(crate) fn ready(&self) -> Option<&DenseHostTensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Filters(filters) => filters.changed.get(),
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Tensor(tensor) => tensor.dtype(),
            Self::Filters(_) => DType::F32,
        }
    }

    pub(crate) fn shape(&self) -> &Shape {
        match self {
            Self::Tensor(tensor) => tensor.shape(),
            Self::Filters(filters) => &filters.shape,
        }
    }

    /// Returns how many bytes all elements take.
    pub(crate) fn len_bytes(&self) -> usize {
        match self {
            Self::Tensor(tensor) => tensor.buffer().len_bytes(),
            Self::Filters(filters) => filters.source.buffer().len_bytes(),
        }
    }

    /// Releases the memory of the file that a tensor is a part of, if it is one. The file stays in
    /// memory as long as other weights are parts of it. Changed filters do so when they are read.
    pub(crate) fn give_back(&self) {
        match self {
            Self::Tensor(tensor) => tensor.buffer().give_back(),
            Self::Filters(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Filters of which each weight has a number of its own.
    fn numbered(dims: &[usize]) -> DenseHostTensor {
        let shape = Shape::new(dims).unwrap();
        let numbers: Vec<f32> = (0..shape.num_elements()).map(|n| n as f32).collect();
        DenseHostTensor::from_elements(&crate::malloc(), shape, &numbers).unwrap()
    }

    fn factors_of(dims: &[usize]) -> Vec<f64> {
        (0..dims[0]).map(|filter| 0.5 + filter as f64).collect()
    }

    fn elements(constant: &Constant) -> Vec<f32> {
        let tensor = constant.tensor().unwrap();
        tensor.elements::<f32>().unwrap().to_vec()
    }

    /// The changed filters, weight by weight.
    fn expected(dims: [usize; 4], factors: Option<&[f64]>) -> Vec<f32> {
        let [filters, channels, rows, columns] = dims;
        let mut weights = Vec::new();
        for tap in 0..rows * columns {
            for channel in 0..channels {
                for filter in 0..filters {
                    let number = (filter * channels + channel) * rows * columns + tap;
                    let factor = factors.map_or(1.0, |factors| factors[filter]);
                    weights.push((number as f64 * factor) as f32);
                }
            }
        }
        weights
    }

    #[test]
    fn filters_are_changed_when_they_are_first_read() {
        for dims in [
            [1, 1, 1, 1],
            [70, 80, 1, 1],
            [64, 64, 1, 1],
            [65, 7, 3, 3],
            [3, 40, 2, 5],
            [0, 3, 2, 2],
            [2, 0, 1, 1],
            [2, 3, 0, 1],
            [2, 3, 1, 0],
        ] {
            let filters = numbered(&dims);
            let moved = ChangedFilters::with_channels_last(&filters.clone().into()).unwrap();
            let moved = Constant::Filters(moved);
            let [num_filters, channels, rows, columns] = dims;
            assert_eq!(moved.shape().dims(), [rows, columns, channels, num_filters]);
            assert!(moved.ready().is_none());
            assert_eq!(elements(&moved), expected(dims, None), "{dims:?}");
            assert!(moved.ready().is_some());

            let factors = factors_of(&dims);
            let scaled = ChangedFilters::scaled(&filters, factors.clone()).unwrap();
            let scaled = Constant::Filters(scaled);
            let both = ChangedFilters::with_channels_last(&scaled).unwrap().into();
            assert!(
                scaled.ready().is_none(),
                "moving reads what is not scaled yet"
            );
            assert_eq!(elements(&both), expected(dims, Some(&factors)), "{dims:?}");

            // Once the scaled filters are there, they are what is moved.
            elements(&scaled);
            let both = ChangedFilters::with_channels_last(&scaled).unwrap().into();
            assert_eq!(elements(&both), expected(dims, Some(&factors)), "{dims:?}");
        }
    }

    #[test]
    fn filters_of_other_ranks_are_scaled() {
        let dims = [3, 2, 5];
        let factors = factors_of(&dims);
        let scaled = ChangedFilters::scaled(&numbered(&dims), factors.clone()).unwrap();
        let scaled = elements(&scaled.into());
        for (number, weight) in scaled.into_iter().enumerate() {
            assert_eq!(weight, (number as f64 * factors[number / 10]) as f32);
        }
        assert!(ChangedFilters::scaled(&numbered(&dims), vec![1.0; 2]).is_none());
        assert!(ChangedFilters::with_channels_last(&numbered(&dims).into()).is_none());
    }

    #[test]
    fn filters_that_are_being_written_are_an_error() {
        let mut filters = numbered(&[2, 3, 1, 1]);
        let changed = Constant::from(ChangedFilters::scaled(&filters, vec![1.0; 2]).unwrap());
        let writing = filters.elements_mut::<f32>().unwrap();
        assert!(matches!(changed.tensor(), Err(TensorError::Conflict(_))));
        drop(writing);
        assert!(changed.tensor().is_ok());
    }
}
