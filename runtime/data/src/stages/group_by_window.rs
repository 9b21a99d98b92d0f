//! Elements grouped by a key.
//!
//! ```text
//!              ┌─ key 0: a c      a window of three is complete:
//!  input ──key─┤                  reduce(1, dataset of b d f) ──► its elements
//!              └─ key 1: b d f
//! ```
//!
//! At the end of the input, incomplete windows are reduced in the order of their keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::interleave::{Opening, open_known, take_out};
use super::padded_batch::PaddedComponent;
use super::whole::WholeDraw;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, invalid, positive_size};
use crate::declared_state::Caller;
use crate::declared_state::opener::Opener;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_outer_state, check_parameters, check_results};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};
use crate::typed::IntoElementFunction;

#[derive(Clone, Debug)]
struct GroupByWindow {
    name: &'static str,
    input: Dataset,
    key: BoundFunction,
    reduce: BoundFunction,
    windows: Windows,
}

/// The sizes of windows.
#[derive(Clone, Debug)]
enum Windows {
    OfSize(usize),
    /// The key function returns a length, and the key is the number of its bucket. Bucket `i` has
    /// the lengths below boundary `i`; one more bucket has the remaining lengths.
    OfBuckets {
        boundaries: Arc<[i64]>,
        sizes: Arc<[usize]>,
    },
}

impl Windows {
    /// Returns the key for a result of the key function.
    fn key(&self, returned: i64) -> i64 {
        match self {
            Self::OfSize(_) => returned,
            Self::OfBuckets { boundaries, .. } => {
                boundaries.partition_point(|&boundary| boundary <= returned) as i64
            }
        }
    }

    fn size(&self, key: i64) -> usize {
        match self {
            Self::OfSize(size) => *size,
            Self::OfBuckets { sizes, .. } => {
                let size = usize::try_from(key).ok().and_then(|key| sizes.get(key));
                size.copied().unwrap_or(1)
            }
        }
    }
}

impl Stage for GroupByWindow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().at_most()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.key.describe(to);
        self.reduce.describe(to);
        match &self.windows {
            Windows::OfSize(size) => to.attribute("window_size", size),
            Windows::OfBuckets { boundaries, sizes } => {
                to.attribute("boundaries", format_args!("{boundaries:?}"));
                to.attribute("batch_sizes", format_args!("{sizes:?}"));
            }
        }
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(GroupByWindowMachine {
            input: self.input.iterator_below(position),
            key: Caller::new(self.name, &self.key, position),
            reduce: Opener::new(self.name, &self.reduce, position),
            stage: self.clone(),
            position,
            drawn: WholeDraw::default(),
            asked: None,
            num_drawn: 0,
            groups: BTreeMap::new(),
            num_windows: 0,
            current: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct GroupByWindowMachine {
    input: Box<dyn Draw>,
    key: Caller,
    reduce: Opener,
    stage: GroupByWindow,
    position: Position,
    drawn: WholeDraw,
    /// The element whose key is pending, and the result of the key function.
    asked: Option<Asked>,
    num_drawn: u64,
    /// The incomplete windows.
    groups: BTreeMap<i64, Vec<Outcome>>,
    /// The number of reduced windows.
    num_windows: u64,
    /// The dataset of the last reduced window.
    current: Option<Opening>,
    has_ended: bool,
}

#[derive(Debug)]
struct Asked {
    values: Values,
    answer: Values,
    at: At,
}

impl Machine for GroupByWindowMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if self.current.is_some() {
                match self.draw_from_current(ctx) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            if let Some(asked) = self.asked.take() {
                match self.add_to_group(asked, ctx) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            if self.has_ended {
                match self.groups.pop_first() {
                    Some((key, window)) => self.reduce(key, window, ctx),
                    None => return StepResult::Answer(Outcome::END),
                }
                continue;
            }
            match self.drawn.next(&mut *self.input, ctx) {
                Ok(Outcome::Element(values)) => {
                    let at = At::new(self.stage.name, self.num_drawn);
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    let answer = self.key.call(ctx, &values, at);
                    self.asked = Some(Asked { values, answer, at });
                }
                Ok(Outcome::End(_)) => self.has_ended = true,
                Ok(failed) => {
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    return StepResult::Answer(failed);
                }
                Err(awaited) => return StepResult::Wait(awaited),
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.u64(self.num_drawn);
        to.u64(self.num_windows);
        self.key.save(to)?;
        self.reduce.save(to)?;
        self.drawn.save(to)?;
        let asked = self.asked.as_ref();
        let asked =
            asked.map(|asked| IterationResult::from(Outcome::Element(asked.values.clone())));
        to.results(asked.iter())?;
        if let Some(asked) = &self.asked {
            self.key.save_answer(&asked.answer, to)?;
        }
        to.count(self.groups.len());
        for (key, window) in &self.groups {
            to.i64(*key);
            to.outcomes(window.iter())?;
        }
        to.bool(self.current.is_some());
        if let Some(current) = &mut self.current {
            current.save(&self.reduce, to)?;
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.num_drawn = from.u64()?;
        self.num_windows = from.u64()?;
        self.key.restore(from)?;
        self.reduce.restore(from)?;
        self.drawn.restore(from)?;
        if let Some(Ok(Outcome::Element(values))) = from
            .results()?
            .pop_front()
            .map(IterationResult::into_outcome)
        {
            let at = At::new(self.stage.name, self.num_drawn.saturating_sub(1));
            let answer = self.key.restore_answer(&values, from, at)?;
            self.asked = Some(Asked { values, answer, at });
        }
        for _ in 0..from.count()? {
            let key = from.i64()?;
            let window = from.outcomes()?;
            if window.len() >= self.stage.windows.size(key) {
                return Err(damaged("a group holds more elements than a window"));
            }
            self.groups.insert(key, window);
        }
        if from.bool()? {
            let name = self.stage.name;
            let opening = Opening::restore(from, name, &mut self.reduce, self.position)?;
            self.current = Some(opening);
        }
        from.input(&mut *self.input)
    }
}

impl GroupByWindowMachine {
    /// Returns the next element of the last reduced window, or `None` at its end.
    fn draw_from_current(&mut self, ctx: &ExecutionContext) -> Option<StepResult> {
        match self.current.take()? {
            Opening::Later(later) if !later.is_available() => {
                let awaited = later.as_any().clone();
                self.current = Some(Opening::Later(later));
                Some(StepResult::Wait(awaited))
            }
            Opening::Later(later) => {
                self.current = Some(take_out(&later));
                None
            }
            Opening::End => None,
            Opening::Failed(error) => Some(StepResult::Answer(Outcome::Error(error))),
            Opening::Inner(mut inner) => {
                let step = match inner.draw(ctx) {
                    Ok(Outcome::End(_)) => return None,
                    Ok(outcome) => StepResult::Answer(outcome),
                    Err(awaited) => StepResult::Wait(awaited),
                };
                self.current = Some(Opening::Inner(inner));
                Some(step)
            }
        }
    }

    /// Adds an element to its window once its key is available, and reduces a complete
    /// window.
    fn add_to_group(&mut self, asked: Asked, ctx: &ExecutionContext) -> Option<StepResult> {
        let fail = |asked: &Asked, message: String| {
            let error = asked.at.emit(invalid(message), ctx);
            Some(StepResult::Answer(Outcome::Error(error)))
        };
        let [key] = &asked.answer[..] else {
            let found = asked.answer.len();
            return fail(
                &asked,
                format!("expected a key function with one result, found {found} results"),
            );
        };
        if !key.is_available() {
            let awaited = key.clone();
            self.asked = Some(asked);
            return Some(StepResult::Wait(awaited));
        }
        if key.is_error() {
            return Some(StepResult::Answer(Outcome::Error(key.clone())));
        }
        let Some(&returned) = key.get::<i64>() else {
            let found = key.mlir_type().unwrap_or("none");
            return fail(
                &asked,
                format!("expected a key of type `i64`, found `{found}`"),
            );
        };
        let key = self.stage.windows.key(returned);
        let group = self.groups.entry(key).or_default();
        group.push(Outcome::Element(asked.values));
        if group.len() >= self.stage.windows.size(key)
            && let Some(window) = self.groups.remove(&key)
        {
            self.reduce(key, window, ctx);
        }
        None
    }

    fn reduce(&mut self, key: i64, window: Vec<Outcome>, ctx: &ExecutionContext) {
        let at = At::new(self.stage.name, self.num_windows);
        self.num_windows = self.num_windows.wrapping_add(1);
        self.current = Some(match Dataset::from_outcomes(window) {
            Ok(window) => {
                let arguments = [AnyRef::available(key), AnyRef::available(window)];
                let arguments = Outcome::Element(arguments.into_iter().collect());
                open_known(self.reduce.begin(), arguments, self.position, at, ctx)
            }
            Err(error) => Opening::Failed(at.emit(error, ctx)),
        });
    }
}

impl Dataset {
    /// Groups elements by key. `key` returns a number of type `i64` for each element. `reduce`
    /// takes a key and a dataset of `window_size` elements with this key, and returns the dataset
    /// that replaces them. The last windows may be smaller; they follow in the order of their keys.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let numbers = Dataset::range(0, 5, 1)?;
    /// let batches = numbers.group_by_window(|x: i64| x % 2, |_: i64, window: Dataset| window.batch(2), 2)?;
    /// let mut found = Vec::new();
    /// for batch in batches.elements::<DenseHostTensor, _>(&ctx) {
    ///     found.push(batch?.elements::<i64>()?.to_vec());
    /// }
    /// assert_eq!(found, [vec![0, 2], vec![1, 3], vec![4]]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the size is not positive, the functions have the wrong types, as far as they are known,
    /// or datasets are nested too deep.
    pub fn group_by_window<K, R>(
        &self,
        key: impl IntoElementFunction<K>,
        reduce: impl IntoElementFunction<R>,
        window_size: i64,
    ) -> Result<Self, Error> {
        self.group_by_window_with(
            key.into_element_function(),
            reduce.into_element_function(),
            window_size,
        )
    }

    /// Groups elements as [`group_by_window`](Self::group_by_window) does, with functions of
    /// programs or untyped closures.
    ///
    /// # Errors
    /// As `group_by_window`.
    pub fn group_by_window_with(
        &self,
        key: ElementFunction,
        reduce: ElementFunction,
        window_size: i64,
    ) -> Result<Self, Error> {
        const NAME: &str = "group_by_window";
        check_parameters(NAME, &key, &[], self)?;
        for function in [&key, &reduce] {
            check_outer_state(NAME, function, &[])?;
        }
        check_results(NAME, &key, &ElementTypes::of::<i64>())?;
        check_results(NAME, &reduce, &ElementTypes::of::<Self>())?;
        let expected = ElementTypes::of::<i64>().followed_by(&ElementTypes::of::<Self>());
        let found = reduce.parameter_types();
        if expected.conflicts_with(&found) {
            return Err(invalid(format!(
                "`{NAME}` expects a function of {expected} that reduces, found one of {found}"
            )));
        }
        Self::new(GroupByWindow {
            name: NAME,
            input: self.clone(),
            key: BoundFunction::new(key, &[]),
            reduce: BoundFunction::new(reduce, &[]),
            windows: Windows::OfSize(positive_size("window_size", window_size)?),
        })
    }

    /// Returns batches of elements of similar length, each padded to the longest element of the
    /// batch. `length` returns the length of an element, a number of type `i64`. Lengths below
    /// `boundaries[0]` are in the first bucket, those below `boundaries[1]` in the second, and so
    /// on; one more bucket has the remaining lengths. A batch of bucket `i` has `batch_sizes[i]`
    /// elements. The last batches may be smaller, unless `drops_remainder` is set. See
    /// [`padded_batch_with`](Self::padded_batch_with) for `components`.
    ///
    /// ```
    /// use tfrt_data::{Dataset, ElementFunction};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    /// use tfrt_tensor::DenseHostTensor;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let ones = |len: i64| DenseHostTensor::vector(&vec![1_i64; len as usize]).map_err(Error::from);
    /// let sentences = Dataset::range(1, 6, 1)?.map(ones)?;
    /// let length = |sentence: DenseHostTensor| sentence.num_elements() as i64;
    /// let batches = sentences.bucket_by_length(length, &[3], &[2, 3], &[], false)?;
    /// let mut shapes = Vec::new();
    /// for batch in batches.elements::<DenseHostTensor, _>(&ctx) {
    ///     shapes.push(batch?.shape().dims().to_vec());
    /// }
    /// assert_eq!(shapes, [[2, 2], [3, 5]]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the boundaries do not increase, the number of batch sizes is not the number of boundaries
    /// plus one, a size is not positive, the function does not take the components or return a
    /// length, as far as types are known, or datasets are nested too deep.
    pub fn bucket_by_length<K>(
        &self,
        length: impl IntoElementFunction<K>,
        boundaries: &[i64],
        batch_sizes: &[i64],
        components: &[PaddedComponent],
        drops_remainder: bool,
    ) -> Result<Self, Error> {
        const NAME: &str = "bucket_by_length";
        let length = length.into_element_function();
        check_parameters(NAME, &length, &[], self)?;
        check_outer_state(NAME, &length, &[])?;
        check_results(NAME, &length, &ElementTypes::of::<i64>())?;
        if batch_sizes.len() != boundaries.len() + 1 {
            return Err(invalid(format!(
                "expected {} batch sizes for {} boundaries, found {}",
                boundaries.len() + 1,
                boundaries.len(),
                batch_sizes.len()
            )));
        }
        if let Some(pair) = boundaries.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(invalid(format!(
                "expected boundaries that grow, found {} behind {}",
                pair[1], pair[0]
            )));
        }
        let sizes: Arc<[usize]> = batch_sizes
            .iter()
            .map(|&size| positive_size("batch_size", size))
            .collect::<Result<_, _>>()?;
        // A sample of the batches has the errors and the description.
        let sample = self.padded_batch_with(1, components, drops_remainder)?;
        let name = sample.own_description();
        let (components, window_sizes) = (components.to_vec(), Arc::clone(&sizes));
        let reduce = move |_: &ExecutionContext, values: &[AnyRef]| {
            let key = values.first().and_then(|key| key.get::<i64>());
            let key = key.and_then(|&key| usize::try_from(key).ok());
            let window = values.get(1).and_then(|window| window.get::<Self>());
            let (Some(key), Some(window)) = (key, window) else {
                return Err(invalid("expected a key and a window"));
            };
            let size = window_sizes.get(key).map_or(1, |&size| size as i64);
            let batch = window.padded_batch_with(size, &components, drops_remainder)?;
            Ok([AnyRef::available(batch)].into_iter().collect())
        };
        Self::new(GroupByWindow {
            name: NAME,
            input: self.clone(),
            key: BoundFunction::new(length, &[]),
            reduce: BoundFunction::new(
                ElementFunction::from_named_closure(name, 2, 1, reduce),
                &[],
            ),
            windows: Windows::OfBuckets {
                boundaries: boundaries.into(),
                sizes,
            },
        })
    }
}
