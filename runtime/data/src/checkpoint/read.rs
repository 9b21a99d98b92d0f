//! Reading the state of stages.

use std::collections::VecDeque;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::{damaged, values};
use crate::declared_state::RestoredStates;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};

/// What a stage reads its state from; see [`Draw::restore`].
///
/// Every read is checked. Whatever the bytes are, a read neither panics nor reserves more memory
/// than there are bytes.
#[derive(Debug)]
pub struct StateReader<'a> {
    /// What was not read.
    rest: &'a [u8],
    ctx: &'a ExecutionContext,
    /// How many datasets of given values are around what is read.
    pub(super) depth: u32,
    /// Shared with the readers of inner iterators, some of which read later.
    restored: Option<RestoredStates>,
}

impl<'a> StateReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], ctx: &'a ExecutionContext) -> Self {
        Self {
            rest: bytes,
            ctx,
            depth: 0,
            restored: None,
        }
    }

    /// Lets it share the restored states of the reader of the whole checkpoint.
    pub(crate) fn sharing(mut self, restored: RestoredStates) -> Self {
        self.restored = Some(restored);
        self
    }

    /// Returns the declared states that the checkpoint has restored so far.
    pub(crate) fn restored_states(&mut self) -> &RestoredStates {
        self.restored.get_or_insert_default()
    }

    /// Says that everything was read.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.rest {
            [] => Ok(()),
            _ => Err(damaged("the state of a stage is longer than expected")),
        }
    }

    /// Returns the context of the restored iterator.
    #[must_use]
    pub fn exec_ctx(&self) -> &'a ExecutionContext {
        self.ctx
    }

    pub(super) fn raw(&mut self, len: usize) -> Result<&'a [u8], Error> {
        match self.rest.split_at_checked(len) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(damaged("unexpected end of the data")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let bytes = self.raw(N)?;
        bytes
            .try_into()
            .map_err(|_| damaged("unexpected end of the data"))
    }

    /// Reads a number.
    ///
    /// # Errors
    /// If there is none.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// If there is none.
    pub fn i64(&mut self) -> Result<i64, Error> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads how many of something follow. Each takes a byte at least.
    ///
    /// # Errors
    /// If there is no number, or it is larger than the number of bytes that are left.
    pub fn count(&mut self) -> Result<usize, Error> {
        let count = self.u64()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() => Ok(count),
            _ => Err(damaged("unexpected end of the data")),
        }
    }

    /// Reads a number that is at most `max`.
    ///
    /// # Errors
    /// If there is none, or it is larger.
    pub fn at_most(&mut self, max: usize) -> Result<usize, Error> {
        match usize::try_from(self.u64()?) {
            Ok(number) if number <= max => Ok(number),
            _ => Err(damaged("a number is out of range")),
        }
    }

    /// Reads a truth value.
    ///
    /// # Errors
    /// If there is none.
    pub fn bool(&mut self) -> Result<bool, Error> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("expected 0 or 1 as a boolean")),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let len = self.count()?;
        self.raw(len)
    }

    /// Reads text.
    pub(super) fn text(&mut self) -> Result<String, Error> {
        let text = std::str::from_utf8(self.bytes()?);
        text.map(str::to_owned)
            .map_err(|_| damaged("a name is not UTF-8"))
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If there is none, or no memory for it.
    pub fn value(&mut self) -> Result<AnyRef, Error> {
        values::read(self)
    }

    /// Reads values.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn values(&mut self) -> Result<Values, Error> {
        let count = self.count()?;
        (0..count).map(|_| self.value()).collect()
    }

    /// Reads an outcome.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn outcome(&mut self) -> Result<Outcome, Error> {
        match self.byte()? {
            0 => Ok(Outcome::Element(self.values()?)),
            1 => Ok(Outcome::End(self.values()?)),
            2 => match self.value()? {
                error if error.is_error() => Ok(Outcome::Error(error)),
                _ => Err(damaged("a failed draw has no error")),
            },
            _ => Err(damaged("an outcome of unknown kind")),
        }
    }

    /// Reads a result.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn result(&mut self) -> Result<IterationResult, Error> {
        self.outcome().map(IterationResult::from)
    }

    /// Reads results.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn results(&mut self) -> Result<VecDeque<IterationResult>, Error> {
        let count = self.count()?;
        (0..count).map(|_| self.result()).collect()
    }

    /// Reads outcomes.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn outcomes(&mut self) -> Result<Vec<Outcome>, Error> {
        let count = self.count()?;
        (0..count).map(|_| self.outcome()).collect()
    }

    /// Reads the state of an input into a new iterator.
    ///
    /// # Errors
    /// If the state is not one of this input.
    pub fn input(&mut self, input: &mut dyn Draw) -> Result<(), Error> {
        let mut state = self.sub_reader()?;
        input.restore(&mut state)?;
        state.finish()
    }

    /// Returns a reader of the state of an input.
    fn sub_reader(&mut self) -> Result<Self, Error> {
        let bytes = self.bytes()?;
        Ok(Self {
            rest: bytes,
            ctx: self.ctx,
            restored: Some(self.restored_states().clone()),
            depth: self.depth,
        })
    }

    /// Returns the error of a stage that cannot be restored.
    #[cold]
    #[must_use]
    pub fn unsupported<T: ?Sized>(&self) -> Error {
        super::write::unsupported::<T>()
    }
}
