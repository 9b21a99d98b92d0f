//! The rows of tensors, one after the other: what a batch undoes.

use smallvec::SmallVec;
use tfrt_async::{AnyRef, ByteString};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::function::At;
use crate::iterator::{Draw, cannot_seek};
use crate::numbers::number;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Clone, Debug)]
struct Unbatch {
    input: Dataset,
}

impl Stage for Unbatch {
    fn name(&self) -> &'static str {
        "unbatch"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        match num_rows_of_given(&self.input) {
            Some(num_rows) => Cardinality::Finite(num_rows.iter().sum()),
            None => self.input.cardinality().at_most(),
        }
    }

    fn element_types(&self) -> ElementTypes {
        let num_components = self.input.element_types().num_components();
        num_components.map_or(ElementTypes::UNKNOWN, ElementTypes::of_unknown)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        num_rows_of_given(&self.input).is_some()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self { input };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(UnbatchMachine {
            input: self.input.iterator_below(position),
            drawn: None,
            tensors: SmallVec::new(),
            rows: 0..0,
            num_rows: num_rows_of_given(&self.input),
            num_rows_sought: 0,
            num_drawn: 0,
        }))
    }
}

#[derive(Debug)]
struct UnbatchMachine {
    input: Box<dyn Draw>,
    /// What was drawn, until all of it is there.
    drawn: Option<IterationResult>,
    /// The components of the current batch.
    tensors: SmallVec<[Rows; 2]>,
    /// Its rows that were not handed out.
    rows: std::ops::Range<usize>,
    /// The number of rows of each tensor, if all tensors are given: the rows can then be sought.
    num_rows: Option<Box<[u64]>>,
    /// The number of rows to skip in the next tensor after a seek.
    num_rows_sought: usize,
    /// The number of drawn results.
    num_drawn: u64,
}

/// A tensor that is taken apart.
#[derive(Debug)]
enum Rows {
    Dense(DenseHostTensor),
    Strings(StringHostTensor),
}

impl Rows {
    fn of(value: &AnyRef) -> Option<Self> {
        if let Some(tensor) = value.get::<DenseHostTensor>() {
            return Some(Self::Dense(tensor.clone()));
        }
        let strings = value.try_read::<StringHostTensor>().ok()?;
        Some(Self::Strings((*strings).clone()))
    }

    fn to_value(&self) -> AnyRef {
        match self {
            Self::Dense(tensor) => AnyRef::available(tensor.clone()),
            Self::Strings(tensor) => AnyRef::available(tensor.clone()),
        }
    }

    /// Returns the number of rows, or `None` for a single value.
    fn len(&self) -> Option<usize> {
        match self {
            Self::Dense(tensor) => tensor.shape().dim(0),
            Self::Strings(tensor) => tensor.shape().dim(0),
        }
    }

    fn row(&self, index: usize) -> Result<AnyRef, Error> {
        match self {
            Self::Dense(tensor) => row_of(tensor, index),
            Self::Strings(tensor) => row_of_strings(tensor, index),
        }
    }
}

impl Machine for UnbatchMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if let Some(index) = self.rows.next() {
                let row = self.tensors.iter().map(|tensor| tensor.row(index));
                let outcome = match row.collect::<Result<Values, Error>>() {
                    Ok(values) => Outcome::Element(values),
                    Err(error) => {
                        let at = At::new("unbatch", self.num_drawn.saturating_sub(1));
                        Outcome::Error(at.emit(error, ctx))
                    }
                };
                return StepResult::Answer(outcome);
            }
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::Element(values)) => {
                    if let Some(awaited) = values.iter().find(|value| !value.is_available()) {
                        let awaited = awaited.clone();
                        self.drawn = Some(Outcome::Element(values).into());
                        return StepResult::Wait(awaited);
                    }
                    let at = At::new("unbatch", self.num_drawn);
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    if let Some(failed) = values.iter().find(|value| value.is_error()) {
                        return StepResult::Answer(Outcome::Error(failed.clone()));
                    }
                    if let Err(error) = self.begin(&values) {
                        return StepResult::Answer(Outcome::Error(at.emit(error, ctx)));
                    }
                }
                Ok(outcome) => {
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    return StepResult::Answer(outcome);
                }
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        // Only tensors without rows come here.
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_drawn);
        to.count(self.num_rows_sought);
        to.results(self.drawn.iter())?;
        // Rows that were handed out are not needed.
        let tensors = match self.rows.is_empty() {
            true => &[],
            false => &self.tensors[..],
        };
        to.count(self.rows.start);
        let tensors: Values = tensors.iter().map(Rows::to_value).collect();
        to.values(&tensors)?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_drawn = from.u64()?;
        self.num_rows_sought = from.at_most(usize::MAX)?;
        self.drawn = from.results()?.pop_front();
        let start = from.at_most(usize::MAX)?;
        let tensors = from.values()?;
        if !tensors.is_empty() {
            self.begin(&tensors)?;
            self.rows.start = start.min(self.rows.end);
        }
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let Some(num_rows) = &self.num_rows else {
            return Err(cannot_seek::<Self>(num_before));
        };
        let (mut tensor, mut rest) = (0, num_before);
        for &num_rows in num_rows {
            if rest < num_rows {
                break;
            }
            rest -= num_rows;
            tensor += 1;
        }
        (self.drawn, self.rows, self.num_drawn) = (None, 0..0, tensor);
        // The end follows the last tensor.
        self.num_rows_sought = usize::try_from(rest).unwrap_or(usize::MAX);
        self.input.seek(tensor)
    }
}

impl UnbatchMachine {
    fn begin(&mut self, values: &Values) -> Result<(), Error> {
        let tensor = |value: &AnyRef| {
            Rows::of(value).ok_or_else(|| {
                let found = value.mlir_type().unwrap_or("none");
                invalid(format!(
                    "expected a dense tensor to unbatch, found `{found}`"
                ))
            })
        };
        let tensors: SmallVec<[Rows; 2]> = values.iter().map(tensor).collect::<Result<_, _>>()?;
        let mut lengths = tensors.iter().map(Rows::len);
        let length = lengths.next().flatten();
        let Some(length) = length.filter(|_| lengths.all(|other| other == length)) else {
            return Err(invalid(
                "expected components with a first dimension of the same size",
            ));
        };
        let start = std::mem::take(&mut self.num_rows_sought).min(length);
        (self.tensors, self.rows) = (tensors, start..length);
        Ok(())
    }
}

/// Returns the number of rows of each element of a dataset, if all elements are given tensors.
fn num_rows_of_given(dataset: &Dataset) -> Option<Box<[u64]>> {
    let rows = |outcome: &Outcome| {
        let Outcome::Element(values) = outcome else {
            return None;
        };
        let [value] = &values[..] else { return None };
        let num_rows = match value.get::<DenseHostTensor>() {
            Some(tensor) => tensor.shape().dim(0),
            None => value.try_read::<StringHostTensor>().ok()?.shape().dim(0),
        };
        num_rows.map(|num_rows| num_rows as u64)
    };
    dataset.given_outcomes()?.iter().map(rows).collect()
}

/// Returns a row of a tensor: a number if the tensor has one dimension, and otherwise a tensor in
/// the same memory.
fn row_of(tensor: &DenseHostTensor, index: usize) -> Result<AnyRef, Error> {
    let dims = tensor.shape().dims();
    let row_dims = dims.get(1..).unwrap_or_default();
    let row_bytes = row_dims.iter().product::<usize>() * tensor.dtype().size_bytes().unwrap_or(0);
    if row_dims.is_empty() {
        let bytes = tensor.buffer().read()?;
        let bytes = bytes.get(index * row_bytes..(index + 1) * row_bytes);
        return number(tensor.dtype(), bytes.unwrap_or_default());
    }
    let buffer = tensor.buffer().slice(index * row_bytes, row_bytes)?;
    let row = DenseHostTensor::from_buffer(tensor.dtype(), Shape::new(row_dims)?, buffer)?;
    Ok(AnyRef::available(row))
}

/// Returns a row of a tensor of strings: a string if the tensor has one dimension, and otherwise a
/// tensor.
fn row_of_strings(tensor: &StringHostTensor, index: usize) -> Result<AnyRef, Error> {
    let row_dims = tensor.shape().dims().get(1..).unwrap_or_default();
    let row_len = row_dims.iter().product::<usize>();
    let row = tensor
        .strings()
        .get(index * row_len..(index + 1) * row_len)
        .unwrap_or_default();
    match row {
        [string] if row_dims.is_empty() => Ok(AnyRef::available(ByteString::from(&string[..]))),
        _ => {
            let row = StringHostTensor::new(Shape::new(row_dims)?, row.to_vec())?;
            Ok(AnyRef::available(row))
        }
    }
}

impl Dataset {
    /// Returns each row of the tensors in the elements as an element. Rows of a tensor with one
    /// dimension are numbers or strings.
    ///
    /// # Errors
    /// If datasets are nested too deep.
    pub fn unbatch(&self) -> Result<Self, Error> {
        Self::new(Unbatch {
            input: self.clone(),
        })
    }
}
