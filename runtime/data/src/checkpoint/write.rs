//! Writing the state of stages.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome, Values};

/// What a stage writes its state to; see [`Draw::save`].
///
/// A [`StateReader`](super::StateReader) reads the state, with calls of the same names in the same
/// order. If a value is pending, the stage writes again, from the start, once the value is
/// available.
#[derive(Debug)]
pub struct StateWriter<'a> {
    bytes: Vec<u8>,
    /// What has to become available first. What is written is of no use while there is something.
    awaited: Vec<AnyRef>,
    save_number: u64,
    ctx: &'a ExecutionContext,
}

impl<'a> StateWriter<'a> {
    pub(crate) fn new(ctx: &'a ExecutionContext) -> Self {
        Self::of_save(0, ctx)
    }

    /// Returns the writer of the iterator's save with this number.
    pub(crate) fn of_save(save_number: u64, ctx: &'a ExecutionContext) -> Self {
        Self {
            bytes: Vec::new(),
            awaited: Vec::new(),
            save_number,
            ctx,
        }
    }

    /// Returns the number of the save: stages that write again because a value was pending write
    /// for the same one.
    pub(crate) fn save_number(&self) -> u64 {
        self.save_number
    }

    /// Returns the written bytes, or the values to wait for.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Vec<AnyRef>> {
        match self.awaited.is_empty() {
            true => Ok(self.bytes),
            false => Err(self.awaited),
        }
    }

    /// Returns the context of the save.
    #[must_use]
    pub fn exec_ctx(&self) -> &'a ExecutionContext {
        self.ctx
    }

    /// Says that the stage has to write again when this value is available.
    pub fn wait_for(&mut self, value: AnyRef) {
        self.awaited.push(value);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes what somebody else has written.
    pub(crate) fn append(&mut self, state: &[u8]) {
        self.raw(state);
    }

    /// Writes a number.
    pub fn u64(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    /// Writes a number.
    pub fn i64(&mut self, number: i64) {
        self.raw(&number.to_le_bytes());
    }

    /// Writes how many of something follow.
    pub fn count(&mut self, count: usize) {
        self.u64(count as u64);
    }

    /// Writes a truth value.
    pub fn bool(&mut self, truth: bool) {
        self.raw(&[u8::from(truth)]);
    }

    /// Writes bytes, and how many there are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// Writes a value: a number, a string, a tensor, an error, or a dataset of given values.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn value(&mut self, value: &AnyRef) -> Result<(), Error> {
        if value.is_available() {
            return super::values::write(self, value);
        }
        self.wait_for(value.clone());
        Ok(())
    }

    /// Writes values, and how many there are.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn values(&mut self, values: &Values) -> Result<(), Error> {
        self.count(values.len());
        values.iter().try_for_each(|value| self.value(value))
    }

    /// Writes an outcome with all of its values.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn outcome(&mut self, outcome: &Outcome) -> Result<(), Error> {
        match outcome {
            Outcome::Element(values) => {
                self.raw(&[0]);
                self.values(values)
            }
            Outcome::End(values) => {
                self.raw(&[1]);
                self.values(values)
            }
            Outcome::Error(error) => {
                self.raw(&[2]);
                self.value(error)
            }
        }
    }

    /// Writes a result, once its outcome is known.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn result(&mut self, result: &IterationResult) -> Result<(), Error> {
        match result.clone().into_outcome() {
            Ok(outcome) => self.outcome(&outcome),
            Err(pending) => {
                self.wait_for(pending.into_any());
                Ok(())
            }
        }
    }

    /// Writes results, and how many there are.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn results<'r>(
        &mut self,
        results: impl ExactSizeIterator<Item = &'r IterationResult>,
    ) -> Result<(), Error> {
        self.count(results.len());
        let mut results = results;
        results.try_for_each(|result| self.result(result))
    }

    /// Writes outcomes, and how many there are.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn outcomes<'r>(
        &mut self,
        outcomes: impl ExactSizeIterator<Item = &'r Outcome>,
    ) -> Result<(), Error> {
        self.count(outcomes.len());
        let mut outcomes = outcomes;
        outcomes.try_for_each(|outcome| self.outcome(outcome))
    }

    /// Writes the state of an input.
    ///
    /// # Errors
    /// If it cannot be saved.
    pub fn input(&mut self, input: &mut dyn Draw) -> Result<(), Error> {
        self.section(|to| input.save(to))
    }

    /// Writes what `write` does, and how many bytes that is.
    pub(crate) fn section(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let start = self.bytes.len();
        self.u64(0);
        write(self)?;
        let len = (self.bytes.len() - start - size_of::<u64>()) as u64;
        self.bytes[start..start + size_of::<u64>()].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }

    /// Returns the error of a stage that cannot be saved.
    #[cold]
    #[must_use]
    pub fn unsupported<T: ?Sized>(&self) -> Error {
        unsupported::<T>()
    }
}

/// Returns the error of a stage without functions that save and restore it.
#[cold]
pub(super) fn unsupported<T: ?Sized>() -> Error {
    let stage = std::any::type_name::<T>();
    Error::new(format!(
        "the pipeline does not support checkpoints: `{stage}` cannot be saved"
    ))
    .with_code(ErrorCode::Unimplemented)
}
