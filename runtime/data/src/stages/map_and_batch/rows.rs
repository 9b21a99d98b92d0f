//! The rows of a batch, written in any order.
//!
//! The tensor of a component is allocated when the first value for it arrives; that of any row will
//! do. A value that differs from it, or is an error, is noted with its index, and the memory is
//! freed: the batch will be an error. Which error that is depends on the order of the rows, and is
//! decided when all of them are there: [`Rows::finish`] returns what adding them in their order
//! would have made.

use std::collections::BTreeMap;

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, TensorMetadata};
use tfrt_tensor::{DenseHostTensor, HostBuffer, OwnedElementsMut, StringHostTensor};

use crate::result::{Outcome, Values};
use crate::stages::row::{self, Row, matches, misfit, shape_of, unsuitable};

/// Rows of at least this size are copied by several threads at a time, each with a borrow of its
/// row. Smaller ones are copied one after the other, which is shorter than what such borrows take.
const MIN_SHARED_BYTES: usize = 4096;

/// What the results of a batch have become so far.
#[derive(Debug)]
pub(super) struct Rows {
    batch_size: usize,
    components: SmallVec<[Component; 2]>,
    first: Option<First>,
    num_results: usize,
    /// The indices of the results that are ends, as they came.
    ends: Vec<usize>,
    /// The first result that is a failed draw.
    failed: Option<(usize, AnyRef)>,
}

/// What the result with index 0 is, and so the batch, without its values.
#[derive(Clone, Debug)]
pub(super) enum First {
    Element,
    End,
    Error(AnyRef),
}

impl First {
    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Element(_) => Self::Element,
            Outcome::End(_) => Self::End,
            Outcome::Error(error) => Self::Error(error.clone()),
        }
    }
}

#[derive(Debug, Default)]
struct Component {
    /// That of the first value that arrived.
    metadata: Option<TensorMetadata>,
    memory: Memory,
    /// The rows that are not like the first value that arrived.
    exceptions: BTreeMap<usize, Exception>,
}

/// Where the rows of a component are.
#[derive(Debug, Default)]
enum Memory {
    /// No value has arrived.
    #[default]
    None,
    /// The component is an error.
    Freed,
    /// Each row is written under the lock of the batch.
    Small {
        row_bytes: usize,
        buffer: HostBuffer,
        bytes: OwnedElementsMut<u8>,
    },
    /// Each row is borrowed to write it.
    Large {
        row_bytes: usize,
        buffer: HostBuffer,
    },
    /// So many strings for each row.
    Strings {
        row_len: usize,
        strings: Vec<Vec<u8>>,
    },
    /// The memory could not be allocated.
    Refused(Error),
}

#[derive(Debug)]
enum Exception {
    /// The value is an error.
    Error(AnyRef),
    /// It cannot be a row.
    Unsuitable(Error),
    /// It is another row than the first value that arrived.
    Misfit(TensorMetadata),
}

/// A row that is yet to be copied to its place, which nobody else uses.
#[derive(Debug)]
pub(super) struct RowCopy {
    component: usize,
    index: usize,
    to: HostBuffer,
}

impl RowCopy {
    /// Copies the row from the values of its element.
    ///
    /// # Errors
    /// If somebody writes the element at the same time: the row, and the error.
    pub(super) fn run(mut self, element: &Values) -> Result<(), (Self, Error)> {
        let mut copy = || -> Result<(), Error> {
            let from = element.get(self.component);
            if let Some(from) = from.and_then(|from| from.get::<DenseHostTensor>()) {
                let from = from.buffer().read()?;
                self.to.write()?.copy_from_slice(&from);
            }
            Ok(())
        };
        copy().map_err(|error| (self, error))
    }
}

impl Rows {
    /// Creates the rows of a batch of elements with so many components.
    pub(super) fn new(batch_size: usize, num_components: usize) -> Self {
        Self {
            batch_size,
            components: std::iter::repeat_with(Component::default)
                .take(num_components)
                .collect(),
            first: None,
            num_results: 0,
            ends: Vec::new(),
            failed: None,
        }
    }

    /// Returns the number of components.
    pub(super) fn num_components(&self) -> usize {
        self.components.len()
    }

    /// Returns `true` if there was no memory for the tensors.
    pub(super) fn has_no_memory(&self) -> bool {
        let mut components = self.components.iter();
        components.any(|component| matches!(component.memory, Memory::Refused(_)))
    }

    /// Adds the result with this index, whose values are available. Returns the rows that the
    /// caller has to copy.
    pub(super) fn add(
        &mut self,
        index: usize,
        outcome: &Outcome,
        ctx: &ExecutionContext,
    ) -> SmallVec<[RowCopy; 2]> {
        self.num_results += 1;
        if index == 0 {
            self.first = Some(First::of(outcome));
        }
        match outcome {
            Outcome::Element(values) => {
                let batch_size = self.batch_size;
                let components = self.components.iter_mut().zip(values).enumerate();
                let copies = components.filter_map(|(component, (rows, value))| {
                    let to = rows.add(index, value, batch_size, ctx)?;
                    Some(RowCopy {
                        component,
                        index,
                        to,
                    })
                });
                return copies.collect();
            }
            Outcome::End(_) => self.ends.push(index),
            Outcome::Error(error) => {
                if self.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    self.failed = Some((index, error.clone()));
                }
                for component in &mut self.components {
                    component.memory.free();
                }
            }
        }
        SmallVec::new()
    }

    /// Notes that a row could not be copied.
    #[cold]
    pub(super) fn refuse(&mut self, copy: &RowCopy, error: Error) {
        if let Some(component) = self.components.get_mut(copy.component) {
            component.except(copy.index, Exception::Unsuitable(error));
        }
    }

    /// Returns the batch of all results. With `drops_remainder`, an incomplete batch becomes the
    /// end.
    pub(super) fn finish(mut self, drops_remainder: bool, ctx: &ExecutionContext) -> Outcome {
        match self.first {
            None | Some(First::End) => return Outcome::END,
            Some(First::Error(error)) => return Outcome::Error(error),
            Some(First::Element) => {}
        }
        let num_rows = self.num_results - self.ends.len();
        if drops_remainder && num_rows < self.batch_size {
            return Outcome::END;
        }
        self.ends.sort_unstable();
        let components = std::mem::take(&mut self.components);
        let values = components.into_iter().map(|component| {
            let failed = match component.failure(&self) {
                None => component.into_tensor(num_rows, &self, ctx),
                Some(Failure::Value(error)) => return error,
                Some(Failure::New(error)) => Err(error),
            };
            failed.unwrap_or_else(|error| AnyRef::error(ctx.emit_error(error)))
        });
        Outcome::Element(values.collect())
    }

    /// Calls `f` with each row that is not at its place, because ends came before it, and with the
    /// place that it moves to.
    fn for_each_moved(&self, mut f: impl FnMut(usize, usize)) {
        let mut ends = self.ends.iter().peekable();
        let first_end = self.ends.first().copied().unwrap_or(self.num_results);
        let mut place = first_end;
        for index in first_end..self.num_results {
            if ends.next_if(|end| **end == index).is_none() {
                f(index, place);
                place += 1;
            }
        }
    }
}

/// Why a component is an error.
enum Failure {
    /// It is this error.
    Value(AnyRef),
    /// It has not been reported.
    New(Error),
}

impl Component {
    /// Adds the value of a row. Returns the place that the caller has to copy it to, if that is not
    /// done.
    fn add(
        &mut self,
        index: usize,
        value: &AnyRef,
        batch_size: usize,
        ctx: &ExecutionContext,
    ) -> Option<HostBuffer> {
        if value.is_error() {
            self.except(index, Exception::Error(value.clone()));
            return None;
        }
        let Some(row) = Row::of(value) else {
            let error = unsuitable("a number, a string or a tensor", value, index);
            self.except(index, Exception::Unsuitable(error));
            return None;
        };
        let (dtype, dims) = row.metadata();
        match &self.metadata {
            Some(metadata) if matches(metadata, dtype, dims) => {}
            Some(_) => {
                let metadata = TensorMetadata::new(dtype, dims);
                self.except(index, Exception::Misfit(metadata));
                return None;
            }
            None => {
                let metadata = TensorMetadata::new(dtype, dims);
                if let Memory::None = self.memory {
                    self.memory = Memory::allocate(&row, &metadata, batch_size, ctx);
                }
                self.metadata = Some(metadata);
            }
        }
        match self.memory.write(index, &row) {
            Ok(place) => place,
            Err(error) => {
                self.except(index, Exception::Unsuitable(error));
                None
            }
        }
    }

    #[cold]
    fn except(&mut self, index: usize, exception: Exception) {
        self.exceptions.insert(index, exception);
        self.memory.free();
    }

    /// Returns why the component is an error, if it is: what is wrong with the first row that does
    /// not go with the rows before it.
    fn failure(&self, rows: &Rows) -> Option<Failure> {
        let refused = match &self.memory {
            Memory::Refused(error) => Some(error),
            _ => None,
        };
        if self.exceptions.is_empty() && rows.failed.is_none() && refused.is_none() {
            return None;
        }
        let first = match self.exceptions.get(&0) {
            Some(Exception::Misfit(first)) => Some(first),
            _ => self.metadata.as_ref(),
        };
        let wrong = |found: &TensorMetadata, index| {
            let first = first.filter(|first| *first != found)?;
            let error = misfit(first, found.dtype, &found.extents, index);
            Some(Failure::New(error))
        };
        (0..rows.num_results).find_map(|index| {
            if let Some((_, error)) = rows.failed.as_ref().filter(|failed| failed.0 == index) {
                return Some(Failure::Value(error.clone()));
            }
            if rows.ends.binary_search(&index).is_ok() {
                return None;
            }
            match (self.exceptions.get(&index), &self.metadata) {
                (Some(Exception::Error(error)), _) => Some(Failure::Value(error.clone())),
                (Some(Exception::Unsuitable(error)), _) => Some(Failure::New(error.clone())),
                (Some(Exception::Misfit(found)), _) => wrong(found, index),
                (None, Some(found)) => {
                    let refused = || Some(Failure::New(refused?.clone()));
                    wrong(found, index).or_else(refused)
                }
                (None, None) => None,
            }
        })
    }

    /// Returns the tensor of all rows.
    fn into_tensor(
        self,
        num_rows: usize,
        rows: &Rows,
        ctx: &ExecutionContext,
    ) -> Result<AnyRef, Error> {
        let Some(metadata) = self.metadata else {
            return Err(Error::new("the batch is empty"));
        };
        let (mut buffer, row_bytes) = match self.memory {
            Memory::Small {
                row_bytes,
                buffer,
                bytes,
            } => {
                drop(bytes);
                (buffer, row_bytes)
            }
            Memory::Large { row_bytes, buffer } => (buffer, row_bytes),
            Memory::Strings {
                row_len,
                mut strings,
            } => {
                rows.for_each_moved(|from, to| {
                    for offset in 0..row_len {
                        strings.swap(from * row_len + offset, to * row_len + offset);
                    }
                });
                strings.truncate(num_rows * row_len);
                let shape = shape_of(num_rows, &metadata)?;
                return Ok(AnyRef::available(StringHostTensor::new(shape, strings)?));
            }
            Memory::Refused(error) => return Err(error),
            Memory::None | Memory::Freed => return Err(Error::new("the batch is empty")),
        };
        if num_rows < rows.num_results {
            let mut bytes = buffer.write()?;
            rows.for_each_moved(|from, to| {
                let start = from * row_bytes;
                bytes.copy_within(start..start + row_bytes, to * row_bytes);
            });
        }
        let sizes = (num_rows, rows.batch_size);
        row::tensor_of(&metadata, buffer, sizes, row_bytes, ctx)
    }
}

impl Memory {
    /// Allocates the memory for rows like this one.
    fn allocate(
        row: &Row<'_>,
        metadata: &TensorMetadata,
        batch_size: usize,
        ctx: &ExecutionContext,
    ) -> Self {
        let row_len = match row {
            Row::Number(..) | Row::Tensor(_) => None,
            Row::String(_) => Some(1),
            Row::Strings(tensor) => Some(tensor.strings().len()),
        };
        if let Some(row_len) = row_len {
            let strings = Vec::new();
            return Self::Strings { row_len, strings };
        }
        let (mut buffer, row_bytes) = match row::allocate(metadata, batch_size, ctx) {
            Ok(allocated) => allocated,
            Err(error) => return Self::Refused(error),
        };
        if row_bytes >= MIN_SHARED_BYTES {
            return Self::Large { row_bytes, buffer };
        }
        match buffer.elements_mut_owned() {
            Ok(bytes) => Self::Small {
                row_bytes,
                buffer,
                bytes,
            },
            Err(error) => Self::Refused(error.into()),
        }
    }

    /// Writes a row, or returns its place, where the caller has to copy it.
    fn write(&mut self, index: usize, row: &Row<'_>) -> Result<Option<HostBuffer>, Error> {
        match (self, row) {
            (
                Self::Small {
                    row_bytes, bytes, ..
                },
                row,
            ) => {
                let start = index * *row_bytes;
                let to = &mut bytes[start..start + *row_bytes];
                match row {
                    Row::Number(_, number) => to.copy_from_slice(&number[..*row_bytes]),
                    Row::Tensor(tensor) => to.copy_from_slice(&tensor.buffer().read()?),
                    Row::String(_) | Row::Strings(_) => {}
                }
                Ok(None)
            }
            (Self::Large { row_bytes, buffer }, _) => {
                let place = buffer.slice(index * *row_bytes, *row_bytes)?;
                Ok(Some(place))
            }
            (Self::Strings { row_len, strings }, row) => {
                let (start, end) = (index * *row_len, (index + 1) * *row_len);
                if strings.len() < end {
                    strings.resize(end, Vec::new());
                }
                match row {
                    Row::String(string) => strings[start] = string.as_bytes().to_vec(),
                    Row::Strings(tensor) => strings[start..end].clone_from_slice(tensor.strings()),
                    Row::Number(..) | Row::Tensor(_) => {}
                }
                Ok(None)
            }
            (Self::None | Self::Freed | Self::Refused(_), _) => Ok(None),
        }
    }

    /// Frees the memory of a component that is an error.
    fn free(&mut self) {
        if !matches!(self, Self::Refused(_)) {
            *self = Self::Freed;
        }
    }
}
