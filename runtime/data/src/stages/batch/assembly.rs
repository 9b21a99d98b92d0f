//! A batch under construction: elements are copied into the rows of its tensors.

use std::fmt;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, ByteString};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, TensorMetadata};
use tfrt_tensor::{DenseHostTensor, HostBuffer, OwnedElementsMut, StringHostTensor};

use super::BatchComponent;
use crate::dataset::invalid;
use crate::numbers::scalar;
use crate::result::{Outcome, Values};
use crate::stages::row::{self, matches, misfit, shape_of, unsuitable};

/// The metadata of each component of an element.
pub(super) type Expected = SmallVec<[TensorMetadata; 2]>;

/// The rows of a batch so far.
#[derive(Debug)]
pub(super) struct Assembly {
    batch_size: usize,
    first: Option<First>,
    /// The number of added results.
    num_added: usize,
    /// The number of rows among them: elements and failed draws.
    num_rows: usize,
    components: SmallVec<[Component; 2]>,
    /// Whether the first element determines the components.
    takes_any: bool,
    has_no_memory: bool,
    /// The metadata of the elements of the first batch of an iterator, if it applies to the other
    /// batches.
    shared: Option<Arc<OnceLock<Expected>>>,
}

/// The first result, without its values.
#[derive(Clone, Debug)]
enum First {
    Element,
    End,
    Error(AnyRef),
}

/// One component of a batch.
#[derive(Debug)]
struct Component {
    kind: BatchComponent,
    state: State,
}

enum State {
    /// No element has been seen.
    Empty,
    Rows {
        metadata: TensorMetadata,
        row_bytes: usize,
        buffer: HostBuffer,
        bytes: OwnedElementsMut<u8>,
    },
    /// Strings, or tensors of strings.
    Strings {
        metadata: TensorMetadata,
        strings: Vec<Vec<u8>>,
    },
    /// An element was an error, or did not fit.
    Failed(AnyRef),
}

impl Assembly {
    /// Creates an empty batch. Without `components`, the first element determines them.
    pub(super) fn new(
        batch_size: usize,
        components: &[BatchComponent],
        shared: Option<Arc<OnceLock<Expected>>>,
    ) -> Self {
        let component = |&kind: &BatchComponent| Component {
            kind,
            state: State::Empty,
        };
        Self {
            batch_size,
            first: None,
            num_added: 0,
            num_rows: 0,
            components: components.iter().map(component).collect(),
            takes_any: components.is_empty(),
            has_no_memory: false,
            shared,
        }
    }

    /// Returns the number of components, if it is known.
    pub(super) fn num_components(&self) -> Option<usize> {
        match self.takes_any && self.components.is_empty() {
            true => None,
            false => Some(self.components.len()),
        }
    }

    /// Returns `true` if there was no memory for the tensors.
    pub(super) fn has_no_memory(&self) -> bool {
        self.has_no_memory
    }

    /// Returns the first result, without values, or `None` if none has been added.
    pub(super) fn first_outcome(&self) -> Option<Outcome> {
        Some(match self.first.as_ref()? {
            First::Element => Outcome::Element(Values::new()),
            First::End => Outcome::END,
            First::Error(error) => Outcome::Error(error.clone()),
        })
    }

    /// Adds a result with available values.
    pub(super) fn add(&mut self, outcome: Outcome, ctx: &ExecutionContext) {
        let index = self.num_added;
        self.num_added += 1;
        let first = match &outcome {
            Outcome::Element(_) => First::Element,
            Outcome::End(_) => First::End,
            Outcome::Error(error) => First::Error(error.clone()),
        };
        self.first.get_or_insert(first);
        match outcome {
            Outcome::Element(values) => self.add_row(index, &values, ctx),
            Outcome::Error(error) => {
                self.num_rows += 1;
                self.fail_all(&error);
            }
            Outcome::End(_) => {}
        }
    }

    fn add_row(&mut self, index: usize, values: &Values, ctx: &ExecutionContext) {
        let row = self.num_rows;
        self.num_rows += 1;
        if self.takes_any && self.components.is_empty() {
            self.components.extend(values.iter().map(|_| Component {
                kind: BatchComponent::Any,
                state: State::Empty,
            }));
        }
        if values.len() != self.components.len() {
            let (expected, found) = (self.components.len(), values.len());
            let s = if expected == 1 { "" } else { "s" };
            let message = format!("expected elements with {expected} component{s}, found {found}");
            let error = AnyRef::error(ctx.emit_error(invalid(message)));
            return self.fail_all(&error);
        }
        let shared = self.shared.as_ref().and_then(|shared| shared.get());
        for (position, (component, value)) in self.components.iter_mut().zip(values).enumerate() {
            if let State::Failed(_) = component.state {
                continue;
            }
            if value.is_error() {
                component.state = State::Failed(value.clone());
                continue;
            }
            let expected = shared.and_then(|expected| expected.get(position));
            let batch_size = self.batch_size;
            if let Err(problem) = component.add(value, index, row, batch_size, expected, ctx) {
                self.has_no_memory |= matches!(problem, Problem::NoMemory(_));
                let (Problem::NoMemory(error) | Problem::Misfit(error)) = problem;
                component.state = State::Failed(AnyRef::error(ctx.emit_error(error)));
            }
        }
        if let Some(shared) = &self.shared
            && shared.get().is_none()
        {
            let metadata = self
                .components
                .iter()
                .map(|component| match &component.state {
                    State::Rows { metadata, .. } | State::Strings { metadata, .. } => {
                        Some(metadata.clone())
                    }
                    State::Empty | State::Failed(_) => None,
                });
            if let Some(metadata) = metadata.collect::<Option<Expected>>() {
                // Only the first batch reaches this point before the metadata is known.
                let _ = shared.set(metadata);
            }
        }
    }

    fn fail_all(&mut self, error: &AnyRef) {
        for component in &mut self.components {
            if !matches!(component.state, State::Failed(_)) {
                component.state = State::Failed(error.clone());
            }
        }
    }

    /// Returns the batch. With `drops_remainder`, an incomplete batch becomes the end.
    pub(super) fn finish(self, drops_remainder: bool, ctx: &ExecutionContext) -> Outcome {
        match self.first {
            None | Some(First::End) => return Outcome::END,
            Some(First::Error(error)) => return Outcome::Error(error),
            Some(First::Element) => {}
        }
        let (num_rows, batch_size) = (self.num_rows, self.batch_size);
        if drops_remainder && num_rows < batch_size {
            return Outcome::END;
        }
        let values = self.components.into_iter().map(|component| {
            match component.state.into_tensor(num_rows, batch_size, ctx) {
                Ok(value) => value,
                Err(error) => AnyRef::error(ctx.emit_error(error)),
            }
        });
        Outcome::Element(values.collect())
    }
}

/// The reason that an element cannot be a row.
enum Problem {
    NoMemory(Error),
    Misfit(Error),
}

impl Component {
    /// Copies a value, which is not an error, into a row. `index` is its index among the results of
    /// the batch.
    fn add(
        &mut self,
        value: &AnyRef,
        index: usize,
        row: usize,
        batch_size: usize,
        expected: Option<&TensorMetadata>,
        ctx: &ExecutionContext,
    ) -> Result<(), Problem> {
        if let BatchComponent::Scalar(_) | BatchComponent::Any = self.kind
            && let Some((dtype, bytes)) = scalar(value)
            && (self.kind == BatchComponent::Any || self.kind == BatchComponent::Scalar(dtype))
        {
            let size_bytes = dtype.size_bytes().unwrap_or(0);
            return self.add_bytes(
                dtype,
                &[],
                &bytes[..size_bytes],
                index,
                row,
                batch_size,
                expected,
                ctx,
            );
        }
        if let BatchComponent::Tensor | BatchComponent::Any = self.kind
            && let Some(tensor) = value.get::<DenseHostTensor>()
        {
            let bytes = tensor
                .buffer()
                .read()
                .map_err(|error| Problem::Misfit(error.into()))?;
            let dims = tensor.shape().dims();
            return self.add_bytes(
                tensor.dtype(),
                dims,
                &bytes,
                index,
                row,
                batch_size,
                expected,
                ctx,
            );
        }
        if self.kind == BatchComponent::Any {
            if let Some(string) = value.get::<ByteString>() {
                let string = string.as_bytes().to_vec();
                return self.add_strings(&[], [string], index, expected);
            }
            if let Ok(tensor) = value.try_read::<StringHostTensor>() {
                let strings = tensor.strings().iter().cloned();
                return self.add_strings(tensor.shape().dims(), strings, index, expected);
            }
        }
        let wanted = match self.kind {
            BatchComponent::Scalar(dtype) => format!("a number of type {dtype}"),
            BatchComponent::Tensor => "a dense tensor".to_owned(),
            BatchComponent::Any => "a number, a string or a tensor".to_owned(),
        };
        Err(Problem::Misfit(unsuitable(&wanted, value, index)))
    }

    fn add_strings(
        &mut self,
        dims: &[usize],
        row: impl IntoIterator<Item = Vec<u8>>,
        index: usize,
        expected: Option<&TensorMetadata>,
    ) -> Result<(), Problem> {
        if let State::Empty = self.state {
            if let Some(expected) = expected {
                check(expected, DType::String, dims, index)?;
            }
            self.state = State::Strings {
                metadata: TensorMetadata::new(DType::String, dims),
                strings: Vec::new(),
            };
        }
        match &mut self.state {
            State::Strings { metadata, strings } => {
                check(metadata, DType::String, dims, index)?;
                strings.extend(row);
                Ok(())
            }
            State::Rows { metadata, .. } => check(metadata, DType::String, dims, index),
            State::Empty | State::Failed(_) => Ok(()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one element, and where it goes")]
    fn add_bytes(
        &mut self,
        dtype: DType,
        dims: &[usize],
        bytes: &[u8],
        index: usize,
        row: usize,
        batch_size: usize,
        expected: Option<&TensorMetadata>,
        ctx: &ExecutionContext,
    ) -> Result<(), Problem> {
        if let State::Empty = self.state {
            if let Some(expected) = expected {
                check(expected, dtype, dims, index)?;
            }
            self.state = State::allocate(dtype, dims, batch_size, ctx)?;
        }
        let (metadata, row_bytes, rows) = match &mut self.state {
            State::Rows {
                metadata,
                row_bytes,
                bytes,
                ..
            } => (metadata, row_bytes, bytes),
            State::Strings { metadata, .. } => return check(metadata, dtype, dims, index),
            State::Empty | State::Failed(_) => return Ok(()),
        };
        check(metadata, dtype, dims, index)?;
        let start = row * *row_bytes;
        rows[start..start + *row_bytes].copy_from_slice(bytes);
        Ok(())
    }
}

fn check(
    expected: &TensorMetadata,
    dtype: DType,
    dims: &[usize],
    index: usize,
) -> Result<(), Problem> {
    match matches(expected, dtype, dims) {
        true => Ok(()),
        false => Err(Problem::Misfit(misfit(expected, dtype, dims, index))),
    }
}

impl State {
    fn allocate(
        dtype: DType,
        dims: &[usize],
        batch_size: usize,
        ctx: &ExecutionContext,
    ) -> Result<Self, Problem> {
        let metadata = TensorMetadata::new(dtype, dims);
        let (mut buffer, row_bytes) =
            row::allocate(&metadata, batch_size, ctx).map_err(Problem::NoMemory)?;
        let bytes = buffer.elements_mut_owned();
        let bytes = bytes.map_err(|error| Problem::NoMemory(error.into()))?;
        Ok(Self::Rows {
            metadata,
            row_bytes,
            buffer,
            bytes,
        })
    }

    /// Returns the tensor of the first rows.
    fn into_tensor(
        self,
        num_rows: usize,
        batch_size: usize,
        ctx: &ExecutionContext,
    ) -> Result<AnyRef, Error> {
        let (metadata, row_bytes, buffer, bytes) = match self {
            Self::Failed(error) => return Ok(error),
            Self::Empty => return Err(Error::new("the batch is empty")),
            Self::Strings { metadata, strings } => {
                let shape = shape_of(num_rows, &metadata)?;
                let tensor = StringHostTensor::new(shape, strings)?;
                return Ok(AnyRef::available(tensor));
            }
            Self::Rows {
                metadata,
                row_bytes,
                buffer,
                bytes,
            } => (metadata, row_bytes, buffer, bytes),
        };
        drop(bytes);
        row::tensor_of(&metadata, buffer, (num_rows, batch_size), row_bytes, ctx)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Rows { metadata, .. } => write!(f, "Rows({metadata:?})"),
            Self::Strings { metadata, .. } => write!(f, "Strings({metadata:?})"),
            Self::Failed(error) => write!(f, "Failed({error:?})"),
        }
    }
}
