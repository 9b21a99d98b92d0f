//! Counts and times of the stages of pipelines, while they are observed.
//!
//! Without an observation, an iterator is the one that its stage made, and nothing is counted.
//! During an observation, every stage of a new iterator is wrapped in a cover, which forwards draws
//! and reads the clock:
//!
//! ```text
//!  draw ──► cover of `batch` ──► batch ──► cover of `map` ──► map ──► …
//!             │ under way: from the call until the outcome and all values are available
//!             └ drawing: inside the call, without the covers below
//! ```
//!
//! A cover only watches values, so it changes neither the elements nor the times of draws.
//! Iterators of the same stage are counted together: those of several passes, and those that a
//! `repeat` or an `interleave` makes one after the other.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tfrt_async::{AnyRef, BorrowError, ByteString, TypeIndex};
use tfrt_host::ExecutionContext;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, StringHostTensor, element_bytes};

use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position};
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values, are_available};

/// Stages beyond this number are counted together with others of the same name.
const MAX_NUM_STAGES: usize = 1000;

/// Whether an [`Observation`] is alive. Orders nothing: relaxed.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    nodes: Vec::new(),
    places: None,
});

thread_local! {
    /// The time in covers inside the current one, on this thread.
    static NESTED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Counts the elements and draws of the stages of all iterators that are made during its lifetime.
/// A process has one observation at a time: a new one starts from zero.
///
/// ```
/// use tfrt_data::{Dataset, Observation};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let observation = Observation::start();
/// let squares = Dataset::range(0, 10, 1)?.map(|x: i64| x * x)?;
/// assert_eq!(squares.elements::<i64, _>(&ctx).count(), 10);
///
/// let stages = observation.stages();
/// let names: Vec<&str> = stages.stages.iter().map(|stage| &*stage.name).collect();
/// assert_eq!(names, ["map", "range"]);
/// assert_eq!(stages.stages[1].num_elements, 10);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the observation"]
pub struct Observation(());

/// The counts of an [`Observation`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedStages {
    /// The stages, each above its inputs.
    pub stages: Vec<StageCounts>,
    /// The time from the first draw until the last element was available.
    pub elapsed: Duration,
}

/// The counts of one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageCounts {
    /// The name of the stage.
    pub name: String,
    /// The index of the stage above, which draws from it.
    pub parent: Option<usize>,
    /// The number of stages above it.
    pub depth: usize,
    /// The number of delivered elements.
    pub num_elements: u64,
    /// The number of failed draws and of elements with an error among their values.
    pub num_errors: u64,
    /// The approximate number of bytes in the payloads of its elements.
    pub num_bytes: u64,
    /// The time inside its draws, without the draws of the stages below.
    pub drawing: Duration,
    /// The time in which at least one draw was under way.
    pub active: Duration,
    /// The total time of all draws. Divided by `active`, it is the mean number of draws under way.
    pub under_way: Duration,
    /// The largest number of draws that were under way at once.
    pub max_under_way: u64,
    /// The number of elements that the stage works on at a time, if it has such a number: the last
    /// one if the stage tunes it.
    pub work_ahead: Option<usize>,
    /// How often the stage has changed this number.
    pub num_moves: u64,
    /// The largest number of bytes of the elements that the stage held during a draw, if it holds
    /// elements. It is an estimate, from a sample of its draws.
    pub max_held_bytes: Option<u64>,
}

impl Observation {
    /// Starts an observation.
    pub fn start() -> Self {
        *lock() = Registry::default();
        IS_ACTIVE.store(true, Ordering::Relaxed);
        Self(())
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn stages(&self) -> ObservedStages {
        lock().observed()
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        IS_ACTIVE.store(false, Ordering::Relaxed);
    }
}

impl ObservedStages {
    /// Returns the time that the stage itself takes: draws of the stage were under way, and none of
    /// the stages below.
    #[must_use]
    pub fn own_time(&self, index: usize) -> Duration {
        let below = self
            .stages
            .iter()
            .filter(|stage| stage.parent == Some(index));
        let below: Duration = below.map(|stage| stage.active).sum();
        let active = self
            .stages
            .get(index)
            .map_or(Duration::ZERO, |stage| stage.active);
        active.saturating_sub(below)
    }

    /// Returns the stage with the longest own time, or `None` if the consumer of the elements takes
    /// longer than the pipelines.
    #[must_use]
    pub fn bottleneck(&self) -> Option<usize> {
        let roots = self.stages.iter().filter(|stage| stage.parent.is_none());
        let active: Duration = roots.map(|stage| stage.active).sum();
        if active < self.elapsed / 2 {
            return None;
        }
        (0..self.stages.len())
            .rev()
            .max_by_key(|&index| self.own_time(index))
    }
}

/// All observed stages.
#[derive(Default)]
struct Registry {
    nodes: Vec<Node>,
    /// The numbers of the nodes, by place.
    places: Option<HashMap<Place, usize>>,
}

/// The identity of a stage.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
enum Place {
    /// The last stage of a pipeline, by the description of the pipeline.
    Root(String),
    /// An input from which a stage makes its iterator, by its number.
    Input { parent: usize, ordinal: usize },
    /// An input that is discovered later, by its name.
    Later { parent: usize, name: &'static str },
    /// The remaining stages of this name, beyond the limit.
    Rest(&'static str),
}

struct Node {
    name: &'static str,
    parent: Option<usize>,
    /// The address of the stage, as long as it lives.
    address: usize,
    /// The number of inputs so far of the iterator under construction; `None` if there is none.
    num_inputs: Option<usize>,
    counts: Arc<Counts>,
}

/// The state of the counts of a stage.
#[derive(Debug)]
struct Counts {
    /// The name of its track in a trace.
    track: Arc<str>,
    state: Mutex<CountState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CountState {
    num_elements: u64,
    num_errors: u64,
    num_bytes: u64,
    drawing: Duration,
    active: Duration,
    under_way: Duration,
    num_under_way: u64,
    max_under_way: u64,
    work_ahead: Option<usize>,
    num_moves: u64,
    max_held_bytes: Option<u64>,
    /// The time since which draws have been under way.
    active_since: Option<Instant>,
    /// When the first draw that has ended began, and when the last one has ended.
    ended: Option<(Instant, Instant)>,
}

impl Registry {
    /// Returns the node of a stage below node `parent`.
    fn node_of(&mut self, dataset: &Dataset, parent: Option<usize>) -> usize {
        let name = dataset.name();
        let address = std::ptr::from_ref(dataset.stage()).cast::<()>().addr();
        // The registry may have been emptied since the iterator above was made.
        let place = match parent.and_then(|parent| Some((parent, self.nodes.get_mut(parent)?))) {
            None => Place::Root(dataset.description().to_string()),
            Some((parent, node)) => match &mut node.num_inputs {
                Some(num_inputs) => {
                    let ordinal = *num_inputs;
                    *num_inputs += 1;
                    Place::Input { parent, ordinal }
                }
                None => {
                    // A `repeat` makes a new iterator of the same input.
                    let mut siblings = self.nodes.iter();
                    let known = siblings
                        .position(|node| node.parent == Some(parent) && node.address == address);
                    match known {
                        Some(known) => return known,
                        None => Place::Later { parent, name },
                    }
                }
            },
        };
        let place = match self.nodes.len() < MAX_NUM_STAGES {
            true => place,
            false => Place::Rest(name),
        };
        let places = self.places.get_or_insert_default();
        if let Some(&known) = places.get(&place)
            && self.nodes[known].name == name
        {
            self.nodes[known].address = address;
            return known;
        }
        let number = self.nodes.len();
        let parent = match place {
            Place::Input { parent, .. } | Place::Later { parent, .. } => Some(parent),
            Place::Root(_) | Place::Rest(_) => None,
        };
        places.insert(place, number);
        self.nodes.push(Node {
            name,
            parent,
            address,
            num_inputs: None,
            counts: Arc::new(Counts {
                track: format!("stage {number}: {name}").into(),
                state: Mutex::default(),
            }),
        });
        number
    }

    fn observed(&self) -> ObservedStages {
        let mut stages = Vec::with_capacity(self.nodes.len());
        let roots = (0..self.nodes.len()).filter(|&node| self.nodes[node].parent.is_none());
        for root in roots {
            self.add(root, None, 0, &mut stages);
        }
        let ended = self
            .nodes
            .iter()
            .filter_map(|node| node.counts.lock().ended);
        let ended = ended.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let elapsed = ended.map(|(first, last)| last.saturating_duration_since(first));
        ObservedStages {
            stages,
            elapsed: elapsed.unwrap_or_default(),
        }
    }

    /// Adds a stage and the stages below it. Pipelines are at most `MAX_HEIGHT` stages high.
    fn add(&self, node: usize, parent: Option<usize>, depth: usize, to: &mut Vec<StageCounts>) {
        let place = to.len();
        let state = *self.nodes[node].counts.lock();
        to.push(StageCounts {
            name: self.nodes[node].name.to_owned(),
            parent,
            depth,
            num_elements: state.num_elements,
            num_errors: state.num_errors,
            num_bytes: state.num_bytes,
            drawing: state.drawing,
            active: state.active + state.active_since.map_or(Duration::ZERO, |at| at.elapsed()),
            under_way: state.under_way,
            max_under_way: state.max_under_way,
            work_ahead: state.work_ahead,
            num_moves: state.num_moves,
            max_held_bytes: state.max_held_bytes,
        });
        for below in 0..self.nodes.len() {
            if self.nodes[below].parent == Some(node) {
                self.add(below, Some(place), depth + 1, to);
            }
        }
    }
}

fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the iterator of a stage at `position`, with a cover during an observation.
#[inline]
pub(crate) fn make_iterator(dataset: &Dataset, position: Position) -> Box<dyn Draw> {
    let is_looked_at = IS_ACTIVE.load(Ordering::Relaxed) || tracing::is_active(TracingLevel::Debug);
    match is_looked_at {
        false => dataset.stage().make_iterator(position),
        true => make_covered(dataset, position),
    }
}

#[cold]
fn make_covered(dataset: &Dataset, position: Position) -> Box<dyn Draw> {
    let (number, counts) = {
        let mut registry = lock();
        let number = registry.node_of(dataset, position.observed());
        registry.nodes[number].num_inputs = Some(0);
        (number, Arc::clone(&registry.nodes[number].counts))
    };
    let draw = dataset.stage().make_iterator(position.observed_as(number));
    if let Some(node) = lock().nodes.get_mut(number) {
        node.num_inputs = None;
    }
    Box::new(Cover { draw, counts })
}

/// An observed iterator.
#[derive(Debug)]
struct Cover {
    draw: Box<dyn Draw>,
    counts: Arc<Counts>,
}

impl Draw for Cover {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        let start = Instant::now();
        self.counts.begin(start);
        let outer = NESTED.replace(Duration::ZERO);
        let result = self.draw.draw(ctx);
        let end = Instant::now();
        let inside = end.saturating_duration_since(start);
        let nested = NESTED.replace(outer + inside);
        let drawing = inside.saturating_sub(nested);
        if let IterationResult::Known(outcome) = &result
            && let Some(delivered) = delivered_at_once(outcome)
        {
            self.counts.end(drawing, start, end, delivered);
            return result;
        }
        self.counts.lock().drawing += drawing;
        let under_way = UnderWay {
            counts: Arc::clone(&self.counts),
            start,
        };
        match &result {
            IterationResult::Known(outcome) => under_way.watch(outcome),
            IterationResult::Pending(pending) => {
                pending
                    .as_any()
                    .watch(move |value| match value.get::<Outcome>() {
                        Some(outcome) => under_way.watch(outcome),
                        None => under_way.end(Delivered::Error),
                    });
            }
        }
        result
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        self.draw.save(to)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.draw.restore(from)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        self.draw.seek(num_before)
    }
}

/// Where a stage tells how many elements it works on at a time: the counts of the stage, during an
/// observation, and the trace.
#[derive(Debug)]
pub(crate) struct Decisions {
    stage: &'static str,
    counts: Option<Arc<Counts>>,
}

impl Decisions {
    /// Returns the place for the stage whose iterator stands at `position`.
    pub(crate) fn of(stage: &'static str, at: Position) -> Self {
        let counts = counts_of(stage, at);
        Self { stage, counts }
    }

    /// Tells the number from now on.
    pub(crate) fn tell(&self, work_ahead: usize) {
        let track: &str = match &self.counts {
            Some(counts) => {
                let mut state = counts.lock();
                if let Some(before) = state.work_ahead.replace(work_ahead) {
                    state.num_moves += u64::from(before != work_ahead);
                }
                &counts.track
            }
            None => self.stage,
        };
        tracing::event(TracingLevel::Verbose, || {
            format!("{track}: works on {work_ahead} at a time")
        });
    }
}

/// Returns the counts of the stage whose iterator stands at a position, during an observation.
fn counts_of(stage: &'static str, at: Position) -> Option<Arc<Counts>> {
    let number = at.observed()?;
    let registry = lock();
    let node = registry.nodes.get(number)?;
    // The registry may have been emptied, and filled again, since the iterator was made.
    (node.name == stage).then(|| Arc::clone(&node.counts))
}

/// Where a stage tells how many bytes of elements it holds during a draw.
///
/// ```
/// use tfrt_data::{HeldBytes, Position};
///
/// // In `Stage::make_iterator`, with the name of the stage and its position.
/// let mut held = HeldBytes::of("my_buffer", Position::ROOT);
/// // In draws. Outside of an observation, nothing is computed.
/// held.tell(|| unreachable!("nobody observes the stage"));
/// ```
#[derive(Debug)]
pub struct HeldBytes {
    counts: Option<Arc<Counts>>,
    num_told: u64,
}

impl HeldBytes {
    /// Returns the place for the stage whose iterator stands at `position`.
    #[must_use]
    pub fn of(stage: &'static str, position: Position) -> Self {
        Self {
            counts: counts_of(stage, position),
            num_told: 0,
        }
    }

    /// Tells the number of bytes, during an observation. It may take time to compute, so only a
    /// part of the draws ask for it.
    #[inline]
    pub fn tell(&mut self, num_bytes: impl FnOnce() -> u64) {
        if self.counts.is_some() {
            self.tell_observer(num_bytes);
        }
    }

    #[cold]
    fn tell_observer(&mut self, num_bytes: impl FnOnce() -> u64) {
        const EVERY: u64 = 64;
        let number = self.num_told;
        self.num_told += 1;
        if let Some(counts) = &self.counts
            && (number.is_power_of_two() || number.is_multiple_of(EVERY))
        {
            let num_bytes = num_bytes();
            let mut state = counts.lock();
            state.max_held_bytes = state.max_held_bytes.max(Some(num_bytes));
        }
    }
}

/// Returns the approximate number of bytes in the payloads of results. Those that are pending count
/// as zero.
pub(crate) fn bytes_of_results<'a>(results: impl Iterator<Item = &'a IterationResult>) -> u64 {
    let outcome = |result: &'a IterationResult| match result {
        IterationResult::Known(outcome) => bytes_of_outcome(outcome),
        IterationResult::Pending(pending) => pending.get().map_or(0, bytes_of_outcome),
    };
    results.map(outcome).sum()
}

/// Returns the approximate number of bytes in the payloads of an outcome.
pub(crate) fn bytes_of_outcome(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Element(values) => payload_bytes(values),
        Outcome::End(_) | Outcome::Error(_) => 0,
    }
}

/// A draw whose element is pending.
struct UnderWay {
    counts: Arc<Counts>,
    start: Instant,
}

/// The outcome of a draw.
#[derive(Clone, Copy)]
enum Delivered {
    Element { num_bytes: u64 },
    Error,
    Nothing,
}

impl UnderWay {
    /// Ends the draw when the values of the outcome are available.
    fn watch(self, outcome: &Outcome) {
        if let Some(delivered) = delivered_at_once(outcome) {
            return self.end(delivered);
        }
        let Outcome::Element(values) = outcome else {
            return;
        };
        let missing: Values = values
            .iter()
            .filter(|value| !value.is_available())
            .cloned()
            .collect();
        if missing.is_empty() {
            // The last one came while they were looked at.
            return self.end(delivered(values));
        }
        // Available values are counted now, so that no watcher keeps them alive.
        let known = delivered(values);
        let waits = Arc::new(Waits {
            num_missing: AtomicUsize::new(missing.len()),
            delivered: Mutex::new(known),
            under_way: Mutex::new(Some(self)),
        });
        for value in missing {
            let waits = Arc::clone(&waits);
            value.watch(move |value| waits.arrived(value));
        }
    }

    fn end(self, delivered: Delivered) {
        let end = Instant::now();
        self.counts.end(Duration::ZERO, self.start, end, delivered);
    }
}

/// A draw that waits for several values.
struct Waits {
    /// The last decrement acquires the releases of the others.
    num_missing: AtomicUsize,
    delivered: Mutex<Delivered>,
    under_way: Mutex<Option<UnderWay>>,
}

impl Waits {
    fn arrived(&self, value: &AnyRef) {
        {
            let mut sum = self
                .delivered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *sum = match (*sum, delivered(std::slice::from_ref(value))) {
                (Delivered::Element { num_bytes }, Delivered::Element { num_bytes: more }) => {
                    Delivered::Element {
                        num_bytes: num_bytes + more,
                    }
                }
                _ => Delivered::Error,
            };
        }
        if self.num_missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let delivered = *self
                .delivered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let mut under_way = self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(under_way) = under_way.take() {
                under_way.end(delivered);
            }
        }
    }
}

/// Returns the outcome of a draw if everything about it is known.
fn delivered_at_once(outcome: &Outcome) -> Option<Delivered> {
    match outcome {
        // The usual case, with one look at each value.
        Outcome::Element(values) if values.iter().all(AnyRef::is_concrete) => {
            let num_bytes = payload_bytes(values);
            Some(Delivered::Element { num_bytes })
        }
        Outcome::Element(values) => are_available(values).then(|| delivered(values)),
        Outcome::End(_) => Some(Delivered::Nothing),
        Outcome::Error(_) => Some(Delivered::Error),
    }
}

/// Returns the outcome for the available values.
fn delivered(values: &[AnyRef]) -> Delivered {
    match values.iter().any(AnyRef::is_error) {
        true => Delivered::Error,
        false => Delivered::Element {
            num_bytes: payload_bytes(values),
        },
    }
}

/// Returns the approximate number of bytes of the payloads of values; those without one count as
/// zero.
fn payload_bytes(values: &[AnyRef]) -> u64 {
    let mut num_bytes = 0;
    // Rows of a table have many numbers of one type: which type is a number is found once.
    let mut number = TypeIndex::NONE;
    for value in values.iter().filter(|value| value.is_concrete()) {
        let ty = value.type_id();
        num_bytes += match ty == number {
            true => NUMBER_BYTES,
            false => large_payload_bytes(value).unwrap_or_else(|| {
                number = ty;
                NUMBER_BYTES
            }),
        };
    }
    num_bytes
}

/// What a number counts, of whatever type.
const NUMBER_BYTES: u64 = size_of::<u64>() as u64;

/// Returns the number of bytes of a payload of a type whose payloads differ in size, and `None` for
/// other types.
fn large_payload_bytes(value: &AnyRef) -> Option<u64> {
    if let Some(tensor) = value.get::<DenseHostTensor>() {
        let element_bytes = element_bytes(tensor.dtype()).unwrap_or(1);
        return Some((tensor.num_elements() * element_bytes) as u64);
    }
    if let Some(bytes) = value.get::<ByteString>() {
        return Some(bytes.as_bytes().len() as u64);
    }
    match value.try_read::<StringHostTensor>() {
        Ok(strings) => {
            let lens = strings.strings().iter().map(|string| string.len() as u64);
            Some(lens.sum())
        }
        Err(BorrowError::WrongType { .. }) => None,
        // It is being written.
        Err(_) => Some(0),
    }
}

impl Counts {
    fn lock(&self) -> MutexGuard<'_, CountState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, start: Instant) {
        let mut state = self.lock();
        state.num_under_way += 1;
        state.max_under_way = state.max_under_way.max(state.num_under_way);
        state.active_since.get_or_insert(start);
    }

    /// Counts a draw that has ended, and the time inside of it unless that was counted before.
    fn end(&self, drawing: Duration, start: Instant, end: Instant, delivered: Delivered) {
        if tracing::is_active(TracingLevel::Debug) {
            tracing::span(TracingLevel::Debug, &self.track, start);
        }
        let mut state = self.lock();
        state.drawing += drawing;
        match delivered {
            Delivered::Element { num_bytes } => {
                state.num_elements += 1;
                state.num_bytes += num_bytes;
            }
            Delivered::Error => state.num_errors += 1,
            Delivered::Nothing => {}
        }
        state.under_way += end.saturating_duration_since(start);
        state.ended = match state.ended {
            Some((first, last)) => Some((first.min(start), last.max(end))),
            None => Some((start, end)),
        };
        state.num_under_way = state.num_under_way.saturating_sub(1);
        if state.num_under_way == 0
            && let Some(since) = state.active_since.take()
        {
            state.active += end.saturating_duration_since(since);
        }
    }
}
