//! Batches of elements of different lengths, without padding.
//!
//! ```text
//!  [1 2 3]            values      1 2 3 4 5 6
//!  [4]        ──►     row splits  0 3 4 6
//!  [5 6]
//! ```

use smallvec::SmallVec;
use tfrt_async::{AnyRef, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::gather::{Assemble, Gather};
use super::padded_batch::{Failure, row_of};
use crate::cardinality::Cardinality;
use crate::dataset::{Dataset, Position, Stage, invalid, positive_size};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::numbers::{is_number, scalar};
use crate::result::{Outcome, Values};

#[derive(Clone, Debug)]
struct RaggedBatch {
    input: Dataset,
    batch_size: usize,
    drops_remainder: bool,
}

impl Stage for RaggedBatch {
    fn name(&self) -> &'static str {
        "ragged_batch"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        let size = self.batch_size as u64;
        let num_batches = |len: u64| match self.drops_remainder {
            true => len / size,
            false => len.div_ceil(size),
        };
        self.input.cardinality().map(num_batches)
    }

    /// Known only for numbers: a tensor becomes one or two tensors, depending on its rank.
    fn element_types(&self) -> ElementTypes {
        let inputs = self.input.element_types();
        let are_numbers = inputs.iter().all(|ty| ty.is_some_and(is_number));
        match inputs.num_components() {
            Some(count) if are_numbers => {
                ElementTypes::new(std::iter::repeat_n(Some(DenseHostTensor::MLIR_TYPE), count))
            }
            _ => ElementTypes::UNKNOWN,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("batch_size", self.batch_size);
        to.attribute("drop_remainder", self.drops_remainder);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let input = self.input.iterator_below(position);
        Gather::iterator(input, self.batch_size, self.drops_remainder, Ragged)
    }
}

#[derive(Debug)]
struct Ragged;

impl Assemble for Ragged {
    /// An error of any element is the error of the batch: the number of tensors of a failed
    /// component is unknown.
    fn assemble(&self, rows: &[Outcome], ctx: &ExecutionContext) -> Outcome {
        let mut elements: Vec<&Values> = Vec::with_capacity(rows.len());
        for row in rows {
            match row {
                Outcome::Element(values) => elements.push(values),
                Outcome::Error(error) => return Outcome::Error(error.clone()),
                Outcome::End(_) => {}
            }
        }
        let num_components = elements.first().map_or(0, |first| first.len());
        let mut values = Values::new();
        for position in 0..num_components {
            match assemble_component(position, num_components, &elements, ctx) {
                Ok(tensors) => values.extend(tensors),
                Err(Failure::Element(error)) => return Outcome::Error(error),
                Err(Failure::Batch(error)) => return Outcome::error(ctx.emit_error(error)),
            }
        }
        Outcome::Element(values)
    }
}

/// Returns the tensors of a component: one for numbers; values and row splits for tensors.
fn assemble_component(
    position: usize,
    num_components: usize,
    elements: &[&Values],
    ctx: &ExecutionContext,
) -> Result<Values, Failure> {
    let mut first: Option<(DType, SmallVec<[usize; 6]>)> = None;
    let mut num_rows = 0_usize;
    let mut splits: Vec<i64> = vec![0];
    for (index, values) in elements.iter().enumerate() {
        let value = values
            .get(position)
            .filter(|_| values.len() == num_components);
        let Some(value) = value else {
            return Err(invalid(format!(
                "element {index} of the batch: expected {num_components} components, as in the \
                 first element, found {}",
                values.len()
            ))
            .into());
        };
        let row = row_of(value, index)?;
        let (dtype, dims) = first.get_or_insert_with(|| (row.dtype, row.dims.into()));
        // Only the first dimension may differ.
        if *dtype != row.dtype || dims.len() != row.dims.len() || dims.get(1..) != row.dims.get(1..)
        {
            return Err(invalid(format!(
                "element {index} of the batch is {} {:?}, the first is {dtype} {dims:?}",
                row.dtype, row.dims
            ))
            .into());
        }
        num_rows = num_rows.saturating_add(row.dims.first().copied().unwrap_or(1));
        splits.push(i64::try_from(num_rows).unwrap_or(i64::MAX));
    }
    let Some((dtype, mut dims)) = first else {
        return Err(Error::new("the batch is empty").into());
    };
    let is_scalar = dims.is_empty();
    match dims.first_mut() {
        Some(dim) => *dim = num_rows,
        None => dims.push(num_rows),
    }
    let tensor = concatenated(position, elements, dtype, &dims, ctx)?;
    let mut tensors = Values::new();
    tensors.push(AnyRef::available(tensor));
    if !is_scalar {
        let splits = DenseHostTensor::vector(&splits).map_err(Error::from)?;
        tensors.push(AnyRef::available(splits));
    }
    Ok(tensors)
}

/// Concatenates the rows of all elements.
fn concatenated(
    position: usize,
    elements: &[&Values],
    dtype: DType,
    dims: &[usize],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor, Failure> {
    let size = dtype.size_bytes().unwrap_or(0);
    let size_bytes = dims
        .iter()
        .try_fold(size, |bytes, dim| bytes.checked_mul(*dim));
    let align = dtype.align_bytes().unwrap_or(1);
    let buffer = size_bytes.map(|bytes| HostBuffer::zeroed(ctx.allocator(), bytes, align));
    let Some(Ok(mut buffer)) = buffer else {
        let error = Error::new("failed to create uninitialized tensor");
        return Err(error.with_code(ErrorCode::ResourceExhausted).into());
    };
    {
        let mut bytes = buffer.write().map_err(Error::from)?;
        let mut place = 0;
        let mut copy = |row: &[u8]| {
            bytes[place..place + row.len()].copy_from_slice(row);
            place += row.len();
        };
        for values in elements {
            let value = &values[position];
            if let Some((_, number)) = scalar(value) {
                copy(&number[..size]);
            } else if let Some(tensor) = value.get::<DenseHostTensor>() {
                copy(&tensor.buffer().read().map_err(Error::from)?);
            }
        }
    }
    let shape = Shape::new(dims).map_err(Error::from)?;
    Ok(DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(Error::from)?)
}

impl Dataset {
    /// Returns batches of `batch_size` consecutive elements, without padding. A component of
    /// tensors that differ in their first dimension becomes two: a tensor of all rows, and a tensor
    /// of type `i64` with the index of the first row of each element, followed by the number of
    /// rows. A component of numbers becomes one tensor. With `drops_remainder`, a smaller last
    /// batch is dropped.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let upto = |len: i64| {
    ///     DenseHostTensor::vector(&(0..len).collect::<Vec<_>>()).map_err(Error::from)
    /// };
    /// let batches = Dataset::range(1, 4, 1)?.map(upto)?.ragged_batch(3, false)?;
    /// let mut batches = batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&ctx);
    /// let (values, row_splits) = batches.next().expect("there is one")?;
    /// assert_eq!(&*values.elements::<i64>()?, [0, 0, 1, 0, 1, 2]);
    /// assert_eq!(&*row_splits.elements::<i64>()?, [0, 1, 3, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn ragged_batch(&self, batch_size: i64, drops_remainder: bool) -> Result<Self, Error> {
        Self::new(RaggedBatch {
            input: self.clone(),
            batch_size: positive_size("batch_size", batch_size)?,
            drops_remainder,
        })
    }
}
