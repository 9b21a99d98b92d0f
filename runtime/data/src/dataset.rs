//! Datasets: descriptions of sequences, from which iterators are made.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_support::{Error, ErrorCode};

use crate::cardinality::Cardinality;
use crate::checked_work_ahead::CheckedWorkAhead;
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::identity;
use crate::iterator::{DataIterator, Draw};
use crate::observation;

/// How many stages may stand above each other. Every level uses stack while an element is drawn.
pub const MAX_HEIGHT: u32 = 100;

/// One stage of a pipeline: what a [`Dataset`] is made of.
///
/// A stage is a description. It does no work and does not change;
/// [`make_iterator`](Self::make_iterator) makes the state of one pass. A user's own dataset is a
/// type with this trait, another one with [`Draw`], and a kernel that makes the first:
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::{Dataset, Draw, IterationResult, Outcome, Position, Stage};
/// use tfrt_host::ExecutionContext;
///
/// /// The numbers from `from` down to one.
/// #[derive(Debug)]
/// struct Countdown {
///     from: i64,
/// }
///
/// impl Stage for Countdown {
///     fn name(&self) -> &'static str {
///         "countdown"
///     }
///
///     fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
///         Box::new(CountdownIterator { next: self.from })
///     }
/// }
///
/// #[derive(Debug)]
/// struct CountdownIterator {
///     next: i64,
/// }
///
/// impl Draw for CountdownIterator {
///     fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
///         if self.next <= 0 {
///             return Outcome::END.into();
///         }
///         self.next -= 1;
///         Outcome::one(AnyRef::available(self.next + 1)).into()
///     }
/// }
///
/// let dataset = Dataset::new(Countdown { from: 3 })?;
/// assert_eq!(dataset.name(), "countdown");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub trait Stage: fmt::Debug + Send + Sync + Any {
    /// Returns the name of the stage, as in `tfrt_data.NAME_dataset`.
    fn name(&self) -> &'static str;

    /// Returns the height of the highest dataset that the stage holds; see [`Dataset::height`]. A
    /// stage with inputs must say so.
    fn input_height(&self) -> u32 {
        0
    }

    /// Returns the number of elements, without drawing one.
    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    /// Returns the types of the components of the elements, as far as they are known.
    fn element_types(&self) -> ElementTypes {
        ElementTypes::UNKNOWN
    }

    /// Writes everything that determines the elements: attributes, functions, then inputs. A
    /// pipeline with another description refuses a checkpoint.
    fn describe(&self, to: &mut StageDescription<'_>) {
        let _ = to;
    }

    /// Returns `true` if drawing the same elements again is cheap and unobservable: neither the
    /// stage nor its inputs call a function or read a file. A checkpoint above it then has numbers
    /// of elements in place of elements.
    fn is_cheap_to_redraw(&self) -> bool {
        false
    }

    /// Returns `true` if iterators can [seek](Draw::seek): the number of elements is known, and an
    /// iterator can move to each of them without drawing the elements before it. A shuffle above
    /// the stage is then restored without drawing the delivered elements again.
    fn is_seekable(&self) -> bool {
        false
    }

    /// Returns the same stage over a share of the files that its elements come from, for worker
    /// `index` of `num_workers`: all workers together have the elements of the stage, in another
    /// order. Returns `None` if the elements do not come from files, or if an element depends on
    /// others.
    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        let _ = (num_workers, index);
        None
    }

    /// Makes the state of one pass, from the start, and the states of its inputs.
    fn make_iterator(&self, position: Position) -> Box<dyn Draw>;
}

/// Where an iterator stands: under how many others.
///
/// ```
/// use tfrt_data::Position;
///
/// assert!(Position::ROOT.below().depth() > Position::ROOT.depth());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    depth: u32,
    /// See [`root`](Self::root).
    root: u64,
    /// The number of the stage above plus one, if stages are observed.
    observed: u32,
    keeps_order: bool,
    /// How many elements may overtake another one where the order is not kept, if the pipeline says
    /// so.
    max_skew: Option<u64>,
    /// How many elements sources read ahead, if the pipeline says so.
    read_ahead: Option<CheckedWorkAhead>,
}

impl Position {
    /// That of an iterator that a consumer draws from.
    pub const ROOT: Self = Self {
        depth: 0,
        root: 0,
        observed: 0,
        keeps_order: true,
        max_skew: None,
        read_ahead: None,
    };

    /// Returns the position of a new iterator that a consumer draws from, with a number of its own.
    pub(crate) fn of_new_root() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            root: LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
            ..Self::ROOT
        }
    }

    /// Returns the number of the iterator that the consumer draws from: all iterators below it have
    /// the same. It is 0 where an iterator was made at [`ROOT`](Self::ROOT).
    pub(crate) const fn root(self) -> u64 {
        self.root
    }

    /// Returns the position of the input of an iterator at this position.
    #[must_use]
    pub const fn below(self) -> Self {
        Self {
            depth: self.depth.saturating_add(1),
            ..self
        }
    }

    /// Returns the same position in a pipeline whose results may overtake each other; see
    /// [`Dataset::in_any_order`].
    #[must_use]
    pub const fn in_any_order(self) -> Self {
        Self {
            keeps_order: false,
            ..self
        }
    }

    /// Returns `true` unless results may overtake each other. If they may, an input that is drawn
    /// again can deliver its elements in another order: it is neither cheap to redraw nor seekable.
    #[must_use]
    pub const fn keeps_order(self) -> bool {
        self.keeps_order
    }

    /// Returns the same position in a pipeline in which so many elements may overtake another one,
    /// unless a stage above has said how many.
    pub(crate) const fn with_max_skew(self, max_skew: u64) -> Self {
        let max_skew = match self.max_skew {
            Some(max_skew) => max_skew,
            None => max_skew,
        };
        Self {
            max_skew: Some(max_skew),
            ..self
        }
    }

    /// Returns how many elements may overtake another one where the order is not kept.
    pub(crate) const fn max_skew(self) -> u64 {
        match self.max_skew {
            Some(max_skew) => max_skew,
            None => 1000,
        }
    }

    /// Returns the same position in a pipeline whose sources read so many elements ahead, unless a
    /// stage above has said how many.
    pub(crate) const fn reading_ahead(self, read_ahead: CheckedWorkAhead) -> Self {
        let read_ahead = match self.read_ahead {
            Some(read_ahead) => read_ahead,
            None => read_ahead,
        };
        Self {
            read_ahead: Some(read_ahead),
            ..self
        }
    }

    /// Returns how many elements sources read ahead, if the pipeline says so.
    pub(crate) const fn read_ahead(self) -> Option<CheckedWorkAhead> {
        self.read_ahead
    }

    /// Returns the number of iterators above this one.
    #[must_use]
    pub const fn depth(self) -> u32 {
        self.depth
    }

    /// Returns the number of the stage above, if stages are observed.
    pub(crate) fn observed(self) -> Option<usize> {
        self.observed.checked_sub(1).map(|number| number as usize)
    }

    /// Returns the same for an iterator of the stage with this number.
    pub(crate) fn observed_as(self, number: usize) -> Self {
        let observed = u32::try_from(number + 1).unwrap_or(0);
        Self { observed, ..self }
    }
}

/// A dataset: an immutable description of a sequence of elements, shared by all who refer to it.
///
/// It is a tree of [stages](Stage). Making one does no work; invalid parameters are reported at
/// once.
///
/// ```
/// use tfrt_data::{Dataset, Position};
///
/// let dataset = Dataset::range(0, 10, 1)?.skip(8)?;
/// assert_eq!((dataset.name(), dataset.height()), ("skip", 2));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone)]
pub struct Dataset {
    stage: Arc<dyn Stage>,
    height: u32,
    /// The types of the stage. They are computed once, since a tree may contain a dataset many
    /// times.
    element_types: ElementTypes,
}

impl Dataset {
    /// Returns the dataset whose last stage is `stage`.
    ///
    /// # Errors
    /// If there are more than [`MAX_HEIGHT`] stages above each other.
    pub fn new(stage: impl Stage) -> Result<Self, Error> {
        let height = stage.input_height().saturating_add(1);
        if height > MAX_HEIGHT {
            return Err(too_high());
        }
        Ok(Self {
            element_types: stage.element_types(),
            stage: Arc::new(stage),
            height,
        })
    }

    /// Returns the name of the last stage.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.stage.name()
    }

    /// Returns the number of stages above each other.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the number of elements, as far as the description determines it.
    #[must_use]
    pub fn cardinality(&self) -> Cardinality {
        self.stage.cardinality()
    }

    /// Returns the types of the components of the elements, as far as they are known.
    #[must_use]
    pub fn element_types(&self) -> ElementTypes {
        self.element_types.clone()
    }

    /// Returns the same dataset, and states the number of components of its elements, which some
    /// stages, such as an interleave, do not know by themselves. Stages above are checked against
    /// it. An element with another number of components is an error where it is used.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    ///
    /// let numbers = |x: i64| Dataset::range(0, x, 1);
    /// let all = Dataset::range(0, 9, 1)?.flat_map(numbers)?.with_num_components(1)?;
    /// let error = all.map(|x: i64, y: i64| x + y).unwrap_err();
    /// assert_eq!(error.message(), "`map` expects elements of type (i64, i64), found (?) from `interleave`");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number is negative, or known to be another one.
    pub fn with_num_components(mut self, num_components: i64) -> Result<Self, Error> {
        let Ok(number) = usize::try_from(num_components) else {
            return Err(invalid(format!(
                "arity must not be negative, not {num_components}"
            )));
        };
        match self.element_types.num_components() {
            None => self.element_types = ElementTypes::of_unknown(number),
            Some(found) if found == number => {}
            Some(found) => {
                let stage = self.name();
                return Err(invalid(format!(
                    "`{stage}` has elements of {found} components, not {number}"
                )));
            }
        }
        Ok(self)
    }

    /// Returns `true` if drawing the elements again costs little; see
    /// [`Stage::is_cheap_to_redraw`].
    #[must_use]
    pub fn is_cheap_to_redraw(&self) -> bool {
        self.stage.is_cheap_to_redraw()
    }

    /// Returns `true` if iterators can seek; see [`Stage::is_seekable`].
    #[must_use]
    pub fn is_seekable(&self) -> bool {
        self.stage.is_seekable()
    }

    /// Returns the last stage.
    #[must_use]
    pub fn stage(&self) -> &dyn Stage {
        &*self.stage
    }

    /// Returns the dataset that `rebuild` makes of a [share](Stage::share_files) of this one.
    pub(crate) fn share_files_of<S: Stage>(
        &self,
        num_workers: u64,
        index: u64,
        rebuild: impl FnOnce(Self) -> S,
    ) -> Option<Result<Self, Error>> {
        let shared = self.stage.share_files(num_workers, index)?;
        Some(shared.and_then(|input| Self::new(rebuild(input))))
    }

    /// Returns a new iterator, at the start, for a consumer.
    #[must_use]
    pub fn iterator(&self) -> DataIterator {
        DataIterator::new(self.clone())
    }

    /// Returns a new iterator for a stage whose own one stands at `position`.
    #[must_use]
    pub fn iterator_below(&self, position: Position) -> Box<dyn Draw> {
        observation::make_iterator(self, position.below())
    }

    /// Does the same as [`iterator_below`](Self::iterator_below), for a dataset that became known
    /// only while an iterator was in use.
    ///
    /// # Errors
    /// If there would be more than [`MAX_HEIGHT`] iterators above each other.
    pub fn try_iterator_below(&self, position: Position) -> Result<Box<dyn Draw>, Error> {
        if position.below().depth().saturating_add(self.height) > MAX_HEIGHT {
            return Err(too_high());
        }
        Ok(self.iterator_below(position))
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.fmt(f)
    }
}

impl Value for Dataset {
    const MLIR_TYPE: &'static str = "!tfrt_data.dataset";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for Dataset {}

/// Returns the height of a value that is a dataset or an iterator. A stage that keeps values of any
/// type may keep these, too.
pub(crate) fn height_of(value: &AnyRef) -> u32 {
    if let Some(dataset) = value.get::<Dataset>() {
        return dataset.height();
    }
    match value.try_read::<DataIterator>() {
        Ok(iterator) => iterator.dataset().height(),
        Err(_) => 0,
    }
}

#[cold]
fn too_high() -> Error {
    let message = format!("datasets are nested more than {MAX_HEIGHT} levels deep");
    Error::new(message).with_code(ErrorCode::ResourceExhausted)
}

/// Returns a parameter of a dataset that must be positive, such as the size of its batches.
///
/// ```
/// use tfrt_data::require_positive;
///
/// assert_eq!(require_positive("batch_size", 32_i64)?, 32);
/// let error = require_positive("batch_size", -1_i64).unwrap_err();
/// assert_eq!(error.message(), "batch_size must be positive, not -1");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
///
/// # Errors
/// If it is not positive: the error names it.
pub fn require_positive<N>(name: &str, value: N) -> Result<N, Error>
where
    N: Copy + Default + PartialOrd + fmt::Display,
{
    // The default of a number is zero.
    match value > N::default() {
        true => Ok(value),
        false => Err(invalid(format!("{name} must be positive, not {value}"))),
    }
}

/// Returns a number of what is held in memory, which must be positive.
pub(crate) fn positive_size(name: &str, size: i64) -> Result<usize, Error> {
    let size = require_positive(name, size)?;
    usize::try_from(size).map_err(|_| {
        let max = usize::MAX;
        invalid(format!("{name} must be at most {max}, not {size}"))
    })
}

#[cold]
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_number_may_be_wider_than_an_address() {
        let wide = u128::from(u64::MAX) + 1;
        assert_eq!(require_positive("num_bytes", wide).unwrap(), wide);
    }
}
