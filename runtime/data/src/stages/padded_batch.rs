//! Batches of elements of different shapes: each component becomes a tensor with room for the
//! largest element.
//!
//! ```text
//!  [1 2 3]            1 2 3
//!  [4]        ──►     4 · ·      padded to the largest of the batch, or to a given size
//!  [5 6]              5 6 ·
//! ```

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::batch::tensors_for;
use super::gather::{Assemble, Gather};
use crate::cardinality::Cardinality;
use crate::dataset::{Dataset, Position, Stage, invalid, positive_size};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::numbers::scalar;
use crate::result::{Outcome, Values};

/// How one component of a [padded batch](Dataset::padded_batch_with) is padded.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::PaddedComponent;
///
/// // Rows of at most 100 tokens, and -1 where there is none.
/// let tokens = PaddedComponent::default()
///     .with_extents(&[Some(100)])
///     .with_padding(AnyRef::available(-1_i64));
/// # drop(tokens);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PaddedComponent {
    extents: Option<Box<[Option<usize>]>>,
    padding: Option<AnyRef>,
}

impl PaddedComponent {
    /// Sets the sizes of the dimensions of each row. A dimension without a size, which is the
    /// default, has the size of the largest element of the batch.
    #[must_use]
    pub fn with_extents(mut self, extents: &[Option<usize>]) -> Self {
        self.extents = Some(extents.into());
        self
    }

    /// Sets the padding, a number of the type of the elements. The default is zero.
    #[must_use]
    pub fn with_padding(mut self, padding: AnyRef) -> Self {
        self.padding = Some(padding);
        self
    }
}

#[derive(Clone, Debug)]
struct PaddedBatch {
    input: Dataset,
    batch_size: usize,
    /// None at all: each is padded to the largest, with zeros.
    components: Vec<PaddedComponent>,
    drops_remainder: bool,
}

impl Stage for PaddedBatch {
    fn name(&self) -> &'static str {
        "padded_batch"
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

    fn element_types(&self) -> ElementTypes {
        tensors_for(&self.input)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("batch_size", self.batch_size);
        to.attribute("drop_remainder", self.drops_remainder);
        for (index, component) in self.components.iter().enumerate() {
            if let Some(extents) = &component.extents {
                to.attribute(&format!("extents_{index}"), format_args!("{extents:?}"));
            }
            if let Some((dtype, bytes)) = component.padding.as_ref().and_then(scalar) {
                let bits = u64::from_ne_bytes(bytes);
                let name = format!("padding_{index}");
                to.attribute(&name, format_args!("{dtype} {bits:#x}"));
            }
        }
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
        Gather::iterator(input, self.batch_size, self.drops_remainder, self.clone())
    }
}

/// The elements of one component of one element.
pub(super) struct Row<'a> {
    pub(super) dtype: DType,
    pub(super) dims: &'a [usize],
}

impl Assemble for PaddedBatch {
    /// As with other batches, a batch fails if its first element does, and a component is an error
    /// if it is an error in any element.
    fn assemble(&self, rows: &[Outcome], ctx: &ExecutionContext) -> Outcome {
        let mut elements: Vec<&Values> = Vec::with_capacity(rows.len());
        // The first failed draw, and how many elements are in front of it.
        let mut failed = None;
        for (index, row) in rows.iter().enumerate() {
            match row {
                Outcome::Element(values) => elements.push(values),
                Outcome::Error(error) if index == 0 => return Outcome::Error(error.clone()),
                Outcome::Error(error) => {
                    failed.get_or_insert((elements.len(), error));
                }
                Outcome::End(_) => {}
            }
        }
        let Some(first) = elements.first() else {
            return Outcome::END;
        };
        let num_components = first.len();
        let assemble = |position: usize| {
            if let Some((num_in_front, error)) = failed {
                let in_front = elements[..num_in_front].iter();
                let mut values = in_front.filter_map(|values| values.get(position));
                return values
                    .find(|value| value.is_error())
                    .unwrap_or(error)
                    .clone();
            }
            match self.assemble_component(position, num_components, &elements, ctx) {
                Ok(tensor) => AnyRef::available(tensor),
                Err(Failure::Element(error)) => error,
                Err(Failure::Batch(error)) => AnyRef::error(ctx.emit_error(error)),
            }
        };
        Outcome::Element((0..num_components).map(assemble).collect())
    }
}

impl PaddedBatch {
    fn assemble_component(
        &self,
        position: usize,
        num_components: usize,
        elements: &[&Values],
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor, Failure> {
        let default = PaddedComponent::default();
        let component = match self.components.get(position) {
            Some(component) => component,
            None if self.components.is_empty() => &default,
            None => return Err(self.misfit(num_components)),
        };
        if !self.components.is_empty() && self.components.len() != num_components {
            return Err(self.misfit(num_components));
        }
        let mut shape: Option<(DType, SmallVec<[usize; 6]>)> = None;
        for (index, values) in elements.iter().enumerate() {
            let Some(value) = values
                .get(position)
                .filter(|_| values.len() == num_components)
            else {
                let message = format!(
                    "element {index} of the batch: expected {num_components} components, as in \
                     the first element, found {}",
                    values.len()
                );
                return Err(invalid(message).into());
            };
            let row = row_of(value, index)?;
            let Some((dtype, largest)) = &mut shape else {
                shape = Some((row.dtype, row.dims.into()));
                continue;
            };
            if *dtype != row.dtype || largest.len() != row.dims.len() {
                let first = elements[0].get(position).map(|value| row_of(value, 0));
                let Some(Ok(first)) = first else { continue };
                return Err(invalid(format!(
                    "element {index} of the batch is {} {:?}, the first is {} {:?}",
                    row.dtype, row.dims, first.dtype, first.dims
                ))
                .into());
            }
            for (extent, &dim) in largest.iter_mut().zip(row.dims) {
                *extent = dim.max(*extent);
            }
        }
        let Some((dtype, mut extents)) = shape else {
            return Err(Error::new("the batch is empty").into());
        };
        component.fix(&mut extents)?;
        let size = dtype.size_bytes().unwrap_or(0);
        let mut dims: SmallVec<[usize; 6]> = SmallVec::from_slice(&[elements.len()]);
        dims.extend_from_slice(&extents);
        let size_bytes = dims
            .iter()
            .try_fold(size, |bytes, dim| bytes.checked_mul(*dim));
        let align = dtype.align_bytes().unwrap_or(1);
        let buffer = size_bytes.map(|bytes| HostBuffer::zeroed(ctx.allocator(), bytes, align));
        let Some(Ok(mut buffer)) = buffer else {
            let error = Error::new("failed to create uninitialized tensor");
            return Err(error.with_code(ErrorCode::ResourceExhausted).into());
        };
        let row_bytes = extents.iter().product::<usize>() * size;
        {
            let mut bytes = buffer.write().map_err(Error::from)?;
            if let Some(padding) = component.padding_of(dtype)? {
                bytes
                    .chunks_exact_mut(size.max(1))
                    .for_each(|place| place.copy_from_slice(&padding[..size]));
            }
            for (index, values) in elements.iter().enumerate() {
                let place = &mut bytes[index * row_bytes..(index + 1) * row_bytes];
                copy_row(&values[position], place, &extents, size)?;
            }
        }
        let shape = Shape::new(&dims).map_err(Error::from)?;
        Ok(DenseHostTensor::from_buffer(dtype, shape, buffer).map_err(Error::from)?)
    }

    #[cold]
    fn misfit(&self, num_components: usize) -> Failure {
        let expected = self.components.len();
        let s = if expected == 1 { "" } else { "s" };
        let message =
            format!("expected elements with {expected} component{s}, found {num_components}");
        invalid(message).into()
    }
}

/// Why a component of a batch is an error.
pub(super) enum Failure {
    /// A value of an element is this one.
    Element(AnyRef),
    /// The elements do not fit.
    Batch(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Batch(error)
    }
}

/// Returns an available value as a row of a batch.
pub(super) fn row_of(value: &AnyRef, index: usize) -> Result<Row<'_>, Failure> {
    if let Some((dtype, _)) = scalar(value) {
        return Ok(Row { dtype, dims: &[] });
    }
    if let Some(tensor) = value.get::<DenseHostTensor>() {
        return Ok(Row {
            dtype: tensor.dtype(),
            dims: tensor.shape().dims(),
        });
    }
    if value.is_error() {
        return Err(Failure::Element(value.clone()));
    }
    Err(invalid(format!(
        "element {index} of the batch: expected a number or a dense tensor, found `{}`",
        value.mlir_type().unwrap_or("none")
    ))
    .into())
}

/// Copies an element to the start of each dimension of its place.
fn copy_row(value: &AnyRef, place: &mut [u8], extents: &[usize], size: usize) -> Result<(), Error> {
    if let Some((_, bytes)) = scalar(value) {
        place.copy_from_slice(&bytes[..size]);
        return Ok(());
    }
    let Some(tensor) = value.get::<DenseHostTensor>() else {
        return Ok(());
    };
    let bytes = tensor.buffer().read()?;
    copy_block(&bytes, tensor.shape().dims(), place, extents, size);
    Ok(())
}

/// Copies a block of these dimensions into one of these extents, none of which is smaller.
fn copy_block(bytes: &[u8], dims: &[usize], place: &mut [u8], extents: &[usize], size: usize) {
    if bytes.is_empty() {
        return;
    }
    if dims == extents {
        return place.copy_from_slice(bytes);
    }
    let ([len, dims @ ..], [_, extents @ ..]) = (dims, extents) else {
        return;
    };
    let part = bytes.len() / len;
    let stride = extents.iter().product::<usize>() * size;
    for (bytes, place) in bytes.chunks_exact(part).zip(place.chunks_exact_mut(stride)) {
        copy_block(bytes, dims, place, extents, size);
    }
}

impl PaddedComponent {
    /// Sets the sizes that are given, which must be large enough.
    fn fix(&self, extents: &mut [usize]) -> Result<(), Error> {
        let Some(given) = &self.extents else {
            return Ok(());
        };
        if given.len() != extents.len() {
            let (expected, found) = (extents.len(), given.len());
            let s = if expected == 1 { "" } else { "s" };
            return Err(invalid(format!(
                "expected {expected} padded size{s}, one for each dimension of an element, found \
                 {found}"
            )));
        }
        for (dimension, (extent, given)) in extents.iter_mut().zip(given).enumerate() {
            match *given {
                Some(given) if *extent > given => {
                    return Err(invalid(format!(
                        "dimension {dimension} of an element: expected at most {given}, the padded \
                         size, found {extent}"
                    )));
                }
                Some(given) => *extent = given,
                None => {}
            }
        }
        Ok(())
    }

    /// Returns the bytes of the padding, unless it is zero.
    fn padding_of(&self, dtype: DType) -> Result<Option<[u8; 8]>, Error> {
        let Some(padding) = &self.padding else {
            return Ok(None);
        };
        match scalar(padding) {
            Some((found, bytes)) if found == dtype => Ok(Some(bytes)),
            _ => Err(invalid(format!(
                "expected a padding of type {dtype}, the type of the elements, found `{}`",
                padding.mlir_type().unwrap_or("none")
            ))),
        }
    }
}

impl Dataset {
    /// Returns batches of `batch_size` consecutive elements, as [`batch_with`](Self::batch_with)
    /// does, for numbers and tensors of different shapes: each component is a tensor with one row
    /// per element, and a row has room for the largest element. Elements of a component have the
    /// same element type and number of dimensions.
    ///
    /// `components` defines the padding of each component; if it is empty, each is padded with
    /// zeros to the largest element of the batch. With `drops_remainder`, a smaller last batch is
    /// dropped.
    ///
    /// # Errors
    /// If the size is not positive, or datasets are nested too deep.
    pub fn padded_batch_with(
        &self,
        batch_size: i64,
        components: &[PaddedComponent],
        drops_remainder: bool,
    ) -> Result<Self, Error> {
        Self::new(PaddedBatch {
            input: self.clone(),
            batch_size: positive_size("batch_size", batch_size)?,
            components: components.to_vec(),
            drops_remainder,
        })
    }
}
