//! Consecutive elements as one, each component in a tensor with one row per element.
//!
//! A batch draws all of its elements at once, so that pending elements are computed concurrently.
//! Available elements are copied as they are drawn; from the first pending element on, the rest of
//! the batch is assembled when all elements are available.
//!
//! The waiter for the elements is registered with the newest of them, and counts as its consumer as
//! long as the batch has one: a batch without consumers drops its elements from the newest to the
//! oldest, as their producers expect.

mod answer;

mod assembly;

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, AsyncValueRef, Chain, Promise, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode, TensorMetadata};
use tfrt_tensor::DenseHostTensor;

use self::answer::{Answer, WholeBatch, when_complete, with_values};
use self::assembly::{Assembly, Expected};
use super::MAX_DRAWS_PAST_END;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, positive_size};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, ValuePromises, are_available};

/// The largest number of pending results of a batch: each takes memory until it is known, here and
/// in the stage below.
pub(super) const MAX_PENDING: usize = 1 << 20;

/// What the components of the elements of a batch are.
///
/// ```
/// use tfrt_data::{BatchComponent, Dataset};
/// use tfrt_support::DType;
///
/// let pairs = [BatchComponent::Tensor, BatchComponent::Scalar(DType::I64)];
/// assert!(Dataset::range(0, 4, 1)?.batch_with(0, &pairs, false, false).is_err());
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchComponent {
    /// Numbers or truth values of this type.
    Scalar(DType),
    /// Dense tensors in host memory.
    Tensor,
    /// Numbers, truth values, strings, or tensors of these; elements of one batch are alike.
    Any,
}

#[derive(Clone, Debug)]
struct Batch {
    input: Dataset,
    batch_size: usize,
    components: SmallVec<[BatchComponent; 2]>,
    has_same_metadata: bool,
    drops_remainder: bool,
}

impl Stage for Batch {
    fn name(&self) -> &'static str {
        "batch"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        let size = self.batch_size as u64;
        self.input
            .cardinality()
            .map(|len| match self.drops_remainder {
                true => len / size,
                false => len.div_ceil(size),
            })
    }

    fn element_types(&self) -> ElementTypes {
        match self.components.len() {
            0 => tensors_for(&self.input),
            count => tensors(count),
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("batch_size", self.batch_size);
        to.attribute("components", format_args!("{:?}", self.components));
        to.attribute("same_input_metadata", self.has_same_metadata);
        to.attribute("drop_remainder", self.drops_remainder);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn is_seekable(&self) -> bool {
        // The first element with metadata determines that of all batches.
        !self.has_same_metadata && self.input.is_seekable()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let share = |input| Self {
            input,
            ..self.clone()
        };
        self.input.share_files_of(num_workers, index, share)
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(BatchIterator {
            input: self.input.iterator_below(position),
            batch_size: self.batch_size,
            components: self.components.clone(),
            shared: self.has_same_metadata.then(SharedMetadata::default),
            drops_remainder: self.drops_remainder,
        })
    }
}

#[derive(Debug)]
struct BatchIterator {
    input: Box<dyn Draw>,
    batch_size: usize,
    components: SmallVec<[BatchComponent; 2]>,
    shared: Option<SharedMetadata>,
    drops_remainder: bool,
}

/// The metadata of the first element that has some, for all batches of an iterator.
#[derive(Debug, Default)]
struct SharedMetadata {
    expected: Arc<OnceLock<Expected>>,
    /// Available once the last started batch has examined its elements: batches fix the metadata in
    /// order.
    last: Option<AsyncValueRef<Chain>>,
}

impl SharedMetadata {
    fn is_settled(&self) -> bool {
        self.last.as_ref().is_none_or(AsyncValueRef::is_available)
    }

    fn save(&self, to: &mut StateWriter<'_>) {
        if let Some(last) = self.last.as_ref().filter(|last| !last.is_available()) {
            to.wait_for(last.as_any().clone());
        }
        let expected = self.expected.get();
        to.count(expected.map_or(0, SmallVec::len));
        for TensorMetadata { dtype, extents, .. } in expected.into_iter().flatten() {
            to.u64(dtype.code().into());
            to.count(extents.len());
            extents.iter().for_each(|&extent| to.count(extent));
        }
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let mut expected = Expected::new();
        for _ in 0..from.count()? {
            let code = from.at_most(u8::MAX.into())? as u8;
            let dtype = DType::from_code(code).ok_or_else(|| damaged("an unknown element type"))?;
            let rank = from.count()?;
            let extents = (0..rank).map(|_| from.at_most(usize::MAX));
            let extents = extents.collect::<Result<SmallVec<[usize; 6]>, Error>>()?;
            expected.push(TensorMetadata::new(dtype, &extents[..]));
        }
        if !expected.is_empty() {
            self.expected = Arc::new(OnceLock::from(expected));
        }
        Ok(())
    }
}

impl Draw for BatchIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        let expected = self.shared.as_ref().map(|shared| &shared.expected);
        let mut assembly = Assembly::new(self.batch_size, &self.components, expected.cloned());
        let mut later: Vec<IterationResult> = Vec::new();
        let mut num_left = self.batch_size as u64;
        let is_in_order = self.shared.as_ref().is_none_or(SharedMetadata::is_settled);
        while num_left > 0 {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Outcome::Error(cancelled.clone()).into();
            }
            num_left -= 1;
            let result = self.input.draw(ctx);
            match result {
                IterationResult::Known(Outcome::End(_)) => {
                    num_left = num_left.min(MAX_DRAWS_PAST_END);
                    match later.is_empty() && is_in_order {
                        true => assembly.add(Outcome::END, ctx),
                        false => later.push(Outcome::END.into()),
                    }
                }
                IterationResult::Known(outcome)
                    if later.is_empty() && is_in_order && is_complete(&outcome) =>
                {
                    assembly.add(outcome, ctx);
                    if assembly.has_no_memory() {
                        // However many there are: the batch is an error.
                        num_left = num_left.min(MAX_DRAWS_PAST_END);
                    }
                }
                result => later.push(result),
            }
            if later.len() > MAX_PENDING {
                return self.refuse(ctx);
            }
        }
        if later.is_empty() {
            return assembly.finish(self.drops_remainder, ctx).into();
        }
        self.finish_later(assembly, later, ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        if let Some(shared) = &self.shared {
            shared.save(to);
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        if let Some(shared) = &mut self.shared {
            shared.restore(from)?;
        }
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        let batch_size = self.batch_size as u64;
        self.input.seek(num_before.saturating_mul(batch_size))
    }
}

impl BatchIterator {
    /// Returns the outcome of a batch that would hold too many pending results. The elements that
    /// were drawn for it are lost.
    #[cold]
    fn refuse(&self, ctx: &ExecutionContext) -> IterationResult {
        let error = too_many_pending(MAX_PENDING, self.batch_size);
        Outcome::error(ctx.emit_error(error)).into()
    }

    /// Returns the result of a batch of which some elements are pending.
    fn finish_later(
        &mut self,
        assembly: Assembly,
        later: Vec<IterationResult>,
        ctx: &ExecutionContext,
    ) -> IterationResult {
        let previous = self.shared.as_mut().map(|shared| {
            let (promise, looked_at) = AsyncValueRef::unconstructed();
            (promise, shared.last.replace(looked_at))
        });
        let (looked_at, previous) = previous.map_or((None, None), |(looked_at, previous)| {
            (Some(looked_at), previous.map(AsyncValueRef::into_any))
        });
        let num_components = assembly.num_components().filter(|_| !self.drops_remainder);
        let Some(num_components) = num_components else {
            return self.finish_whole(assembly, later, (looked_at, previous), ctx);
        };
        // The end of a batch is the end of its first result.
        let first = assembly.first_outcome().or_else(|| match &later[0] {
            IterationResult::Known(first) => Some(first.clone()),
            IterationResult::Pending(_) => None,
        });
        let (answer, result) = match first {
            Some(first) => {
                let (promises, values) = ValuePromises::new(num_components);
                let outcome = with_values(first, values);
                (Answer::of_values(promises, looked_at), outcome.into())
            }
            None => {
                let (promise, result) = IterationResult::pending();
                let answer = Answer::of_outcome(promise, looked_at);
                if let IterationResult::Pending(first) = &later[0] {
                    answer.begin_with(first, num_components);
                }
                (answer, result)
            }
        };
        let ctx = ctx.clone();
        when_complete(later, previous, answer, move |outcomes, answer| {
            let mut assembly = assembly;
            for outcome in outcomes {
                assembly.add(outcome, &ctx);
            }
            answer.finish(num_components, || assembly.finish(false, &ctx));
        });
        result
    }

    /// Returns the result of a batch with pending elements that may not exist, or may have any
    /// number of components: nothing is known of it before all elements are.
    fn finish_whole(
        &self,
        mut assembly: Assembly,
        later: Vec<IterationResult>,
        (looked_at, previous): (Option<Promise<Chain>>, Option<AnyRef>),
        ctx: &ExecutionContext,
    ) -> IterationResult {
        let (promise, result) = IterationResult::pending();
        let (drops_remainder, ctx) = (self.drops_remainder, ctx.clone());
        let promises = WholeBatch { promise, looked_at };
        when_complete(later, previous, promises, move |outcomes, promises| {
            let WholeBatch { promise, looked_at } = promises;
            for outcome in outcomes {
                assembly.add(outcome, &ctx);
            }
            if let Some(looked_at) = looked_at {
                looked_at.emplace(Chain);
            }
            promise.emplace(assembly.finish(drops_remainder, &ctx));
        });
        result
    }
}

/// Returns the error of a batch that would hold too many pending results.
pub(super) fn too_many_pending(max: usize, batch_size: usize) -> Error {
    let message = format!(
        "expected at most {max} unavailable elements in a batch of {batch_size}, found more"
    );
    Error::new(message).with_code(ErrorCode::ResourceExhausted)
}

/// Returns `true` if everything about a drawn result is known.
fn is_complete(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Element(values) => are_available(values),
        Outcome::End(_) | Outcome::Error(_) => true,
    }
}

/// Returns one tensor for each component of the elements of `input`.
pub(super) fn tensors_for(input: &Dataset) -> ElementTypes {
    match input.element_types().num_components() {
        Some(count) => tensors(count),
        None => ElementTypes::UNKNOWN,
    }
}

/// Returns the types of elements with these components.
fn expected_of(components: &[BatchComponent]) -> ElementTypes {
    if components.is_empty() {
        return ElementTypes::UNKNOWN;
    }
    let types: Vec<Option<String>> = components
        .iter()
        .map(|component| match component {
            BatchComponent::Scalar(dtype) => Some(dtype.to_string()),
            BatchComponent::Tensor => Some(DenseHostTensor::MLIR_TYPE.to_owned()),
            BatchComponent::Any => None,
        })
        .collect();
    ElementTypes::new(types.iter().map(Option::as_deref))
}

/// Returns so many tensors.
pub(super) fn tensors(count: usize) -> ElementTypes {
    ElementTypes::new(std::iter::repeat_n(Some(DenseHostTensor::MLIR_TYPE), count))
}

impl Dataset {
    /// Returns batches of `batch_size` consecutive elements: each component is a tensor with one
    /// row per element. The last batch may be smaller. If any value of a component is an error, so
    /// is the component of the batch.
    ///
    /// Without `components`, they are those of the first element of each batch, whatever they are.
    ///
    /// With `drops_remainder`, a smaller last batch is dropped.
    ///
    /// All elements of a batch have the same element type and shape; with `has_same_metadata`, so
    /// do those of all batches of an iterator.
    ///
    /// # Errors
    /// If the size is not positive, the elements cannot have these components, as far as is known,
    /// or datasets are nested too deep.
    pub fn batch_with(
        &self,
        batch_size: i64,
        components: &[BatchComponent],
        has_same_metadata: bool,
        drops_remainder: bool,
    ) -> Result<Self, Error> {
        expected_of(components).expect_from("batch", self)?;
        Self::new(Batch {
            input: self.clone(),
            batch_size: positive_size("batch_size", batch_size)?,
            components: components.into(),
            has_same_metadata,
            drops_remainder,
        })
    }
}
