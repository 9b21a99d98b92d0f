//! Iterators: the state of one pass over a dataset.

use std::any::Any;
use std::fmt;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, Value};
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position};
use crate::identity;
use crate::observation;
use crate::result::{IterationResult, Outcome};

/// The state of one pass over a [stage](crate::Stage): what elements are drawn from.
///
/// Calls never overlap. Several results may be outstanding; they belong to the calls in the same
/// order.
pub trait Draw: Send + Sync + fmt::Debug + 'static {
    /// Draws the next element. Does not block: the result, or values of the element, may be
    /// pending.
    ///
    /// Functions that the draw calls run in `ctx`: as part of its request, until the request is
    /// cancelled.
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult;

    /// Draws the next element as [`draw`](Self::draw) does, for a consumer that wants one payload
    /// of a type `T`: `payload` is an `Option<T>` without one. Where the element is such a payload
    /// at once, writes it there and returns `None`: making a value costs several times as much as
    /// writing a number. By default, draws a value.
    ///
    /// ```
    /// use std::any::Any;
    ///
    /// use tfrt_async::AnyRef;
    /// use tfrt_data::{Dataset, Draw, IterationResult, Outcome, Position, Stage};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// /// Zero, over and over again.
    /// #[derive(Debug)]
    /// struct Zeros;
    ///
    /// impl Stage for Zeros {
    ///     fn name(&self) -> &'static str {
    ///         "zeros"
    ///     }
    ///
    ///     fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
    ///         Box::new(Zeros)
    ///     }
    /// }
    ///
    /// impl Draw for Zeros {
    ///     fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
    ///         Outcome::one(AnyRef::available(0_i64)).into()
    ///     }
    ///
    ///     fn draw_payload(&mut self, ctx: &ExecutionContext, payload: &mut dyn Any) -> Option<IterationResult> {
    ///         match payload.downcast_mut() {
    ///             Some(payload) => {
    ///                 *payload = Some(0_i64);
    ///                 None
    ///             }
    ///             None => Some(self.draw(ctx)),
    ///         }
    ///     }
    /// }
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let zeros = Dataset::new(Zeros)?;
    /// let mut elements = zeros.elements::<i64, _>(&ctx);
    /// assert_eq!(elements.next().transpose()?, Some(0));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    fn draw_payload(
        &mut self,
        ctx: &ExecutionContext,
        payload: &mut dyn Any,
    ) -> Option<IterationResult> {
        let _ = payload;
        Some(self.draw(ctx))
    }

    /// Writes the state from which [`restore`](Self::restore) restores a new iterator, with the
    /// states of its inputs. It includes elements that were drawn ahead and not returned. May be
    /// called again without a draw in between, if a value had to be waited for.
    ///
    /// # Errors
    /// If a stage does not support checkpoints, which is the default, or holds an element that
    /// cannot be written.
    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        Err(to.unsupported::<Self>())
    }

    /// Restores a new iterator to the state that another one has written. The bytes are untrusted:
    /// a restore must neither panic nor use more memory than a small multiple of their size.
    ///
    /// # Errors
    /// If it is not such a state.
    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        Err(from.unsupported::<Self>())
    }

    /// Moves to the element with the number `num_before`, counted from 0, or to the end, without
    /// drawing the elements before it. It is called only if the stage is
    /// [seekable](crate::Stage::is_seekable), at any time.
    ///
    /// # Errors
    /// If the iterator cannot seek, which is the default.
    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        Err(cannot_seek::<Self>(num_before))
    }
}

/// Returns the failed draw of an iterator that wrote no payload where it says so.
#[cold]
fn missing_payload() -> IterationResult {
    Outcome::error(Error::new("a draw returned neither a payload nor a result")).into()
}

/// Returns the error of an iterator that cannot seek.
#[cold]
pub(crate) fn cannot_seek<T: ?Sized>(num_before: u64) -> Error {
    let iterator = std::any::type_name::<T>();
    Error::new(format!("`{iterator}` cannot seek to element {num_before}"))
        .with_code(ErrorCode::Unimplemented)
}

impl Draw for Box<dyn Draw> {
    #[inline]
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        (**self).draw(ctx)
    }

    #[inline]
    fn draw_payload(
        &mut self,
        ctx: &ExecutionContext,
        payload: &mut dyn Any,
    ) -> Option<IterationResult> {
        (**self).draw_payload(ctx, payload)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        (**self).save(to)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        (**self).restore(from)
    }

    fn seek(&mut self, num_before: u64) -> Result<(), Error> {
        (**self).seek(num_before)
    }
}

/// An iterator as a value. It keeps its dataset.
///
/// Draws change it, so programs order them by chains. Two concurrent draws are an error, not a
/// race.
///
/// ```
/// use tfrt_data::{Dataset, Outcome};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let mut iterator = Dataset::range(5, 6, 1)?.iterator();
/// let Ok(Outcome::Element(values)) = iterator.draw(&ctx).into_outcome() else {
///     panic!("a range knows its elements");
/// };
/// assert_eq!(values[0].get::<i64>(), Some(&5));
/// assert!(matches!(iterator.draw(&ctx).into_outcome(), Ok(Outcome::End(_))));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct DataIterator {
    // The state may refer to what the dataset keeps, so it goes first.
    state: Box<dyn Draw>,
    dataset: Dataset,
    /// That of the current save, or of the next one.
    save_number: u64,
}

impl DataIterator {
    /// Creates an iterator at the start of `dataset`.
    pub(crate) fn new(dataset: Dataset) -> Self {
        Self {
            state: observation::make_iterator(&dataset, Position::of_new_root()),
            dataset,
            save_number: 1,
        }
    }

    pub(crate) fn save_number(&self) -> u64 {
        self.save_number
    }

    /// Says that the current save has succeeded or failed, or is given up for a draw.
    #[inline]
    pub(crate) fn begin_next_save(&mut self) {
        self.save_number = self.save_number.wrapping_add(1);
    }

    /// Returns the dataset.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Returns the state.
    pub(crate) fn state_mut(&mut self) -> &mut dyn Draw {
        &mut *self.state
    }

    /// Draws the next element; see [`Draw::draw`].
    #[inline]
    pub fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        self.begin_next_save();
        self.state.draw(ctx)
    }

    /// Draws the next element as a payload, or as a value if it is none at once; see
    /// [`Draw::draw_payload`].
    #[inline]
    pub(crate) fn draw_payload<T: Value>(
        &mut self,
        ctx: &ExecutionContext,
    ) -> Result<T, IterationResult> {
        let mut payload: Option<T> = None;
        self.begin_next_save();
        match self.state.draw_payload(ctx, &mut payload) {
            Some(result) => Err(result),
            None => payload.ok_or_else(missing_payload),
        }
    }

    /// Draws from the iterator that is the payload of a value.
    ///
    /// # Errors
    /// If the value is not an iterator, or another draw is in progress, because the program lacks a
    /// chain.
    #[inline]
    pub fn draw_from(value: &AnyRef, ctx: &ExecutionContext) -> Result<IterationResult, Error> {
        match value.try_write::<Self>() {
            Ok(mut iterator) => Ok(iterator.draw(ctx)),
            Err(error) => Err(Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)),
        }
    }
}

impl Value for DataIterator {
    const MLIR_TYPE: &'static str = "!tfrt_data.iterator";
    const IS_MUTABLE: bool = true;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}
