//! Checkpoints: the rest of a pass as bytes.
//!
//! A checkpoint has the state of every stage, so that another process can deliver exactly the
//! elements that the saved iterator would have delivered. Elements that were drawn ahead count as
//! not delivered. A stage that holds such elements writes them by value, and a save waits until
//! they are available: nothing is recorded while a pipeline runs, and functions of elements are not
//! called again. A stage whose inputs are cheap to draw from again, such as numbers, instead writes
//! the number of delivered elements, and draws them again.
//!
//! ```text
//!  magic │ version │ byte order │ description of the pipeline │ state of the last stage │ checksum
//!   8 B       u32        u8          stage, attributes …                  …                u64
//!
//!  state of a stage:  what it writes, with the states of its inputs in between, each behind its length
//! ```
//!
//! Numbers are little endian. Elements of tensors are in the byte order of the machine, which the
//! header records.

mod read;

mod values;

mod write;

use std::fmt;

use tfrt_async::{AnyRef, AsyncValueRef, Chain, run_when_ready};
use tfrt_host::ExecutionContext;
use tfrt_support::fnv::Fnv1a;
use tfrt_support::{Error, ErrorCode};

pub use read::StateReader;
pub use write::StateWriter;

use crate::dataset::Dataset;
use crate::description::{Description, Node};
use crate::iterator::DataIterator;
use crate::result::Outcome;

const MAGIC: &[u8; 8] = b"TFRTDATA";
const VERSION: u32 = 3;
const IS_BIG_ENDIAN: u8 = cfg!(target_endian = "big") as u8;

/// How far [`DataIterator::try_save`] came.
#[derive(Clone)]
#[must_use]
pub enum Saving {
    /// The checkpoint.
    Saved(Vec<u8>),
    /// Elements that were drawn ahead are pending. Try again when this value is available.
    Waiting(AnyRef),
}

impl fmt::Debug for Saving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Saved(bytes) => write!(f, "Saved({} bytes)", bytes.len()),
            Self::Waiting(value) => f.debug_tuple("Waiting").field(value).finish(),
        }
    }
}

impl DataIterator {
    /// Returns a checkpoint of the iterator, if it can be had now.
    ///
    /// Results that were drawn and are still pending count as delivered; elements that stages have
    /// drawn ahead do not. All calls until one succeeds or fails, without a draw in between, are
    /// one save: it need not have what iterators of other consumers do to a state that functions
    /// share after the first call.
    ///
    /// # Errors
    /// If a stage cannot be saved, holds an element of a type that cannot be written, or has a
    /// function of a program that draws random numbers or uses other state than input and output.
    /// The cancellation of the request of `ctx`.
    pub fn try_save(&mut self, ctx: &ExecutionContext) -> Result<Saving, Error> {
        if let Some(error) = ctx
            .request()
            .cancel_value()
            .and_then(AnyRef::error_if_present)
        {
            return Err(error.clone());
        }
        let saving = self.write_checkpoint(ctx);
        if !matches!(saving, Ok(Saving::Waiting(_))) {
            self.begin_next_save();
        }
        saving
    }

    fn write_checkpoint(&mut self, ctx: &ExecutionContext) -> Result<Saving, Error> {
        let mut to = StateWriter::of_save(self.save_number(), ctx);
        to.raw(MAGIC);
        to.raw(&VERSION.to_le_bytes());
        to.raw(&[IS_BIG_ENDIAN]);
        let description = Description::of(self.dataset());
        description.check_functions()?;
        to.description(&description);
        to.input(self.state_mut())?;
        match to.finish() {
            Ok(mut bytes) => {
                let checksum = checksum(&bytes);
                bytes.extend_from_slice(&checksum.to_le_bytes());
                Ok(Saving::Saved(bytes))
            }
            Err(awaited) => Ok(Saving::Waiting(all_of(&awaited))),
        }
    }

    /// Returns a checkpoint of the iterator: a [`Dataset::restore`] of the same pipeline delivers
    /// the rest of its elements, bit for bit.
    ///
    /// Waits for elements that were drawn ahead, so tasks of a work queue must not call it; see
    /// [`try_save`](Self::try_save).
    ///
    /// ```
    /// use tfrt_data::{Dataset, Outcome};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let numbers = Dataset::range(0, 10, 1)?.prefetch(3)?;
    /// let mut iterator = numbers.iterator();
    /// drop(iterator.draw(&ctx));
    /// let checkpoint = iterator.save(&ctx)?;
    ///
    /// let mut restored = numbers.restore(&checkpoint, &ctx)?;
    /// let Ok(Outcome::Element(values)) = restored.draw(&ctx).into_outcome() else {
    ///     panic!("there are nine more");
    /// };
    /// assert_eq!(values[0].get::<i64>(), Some(&1));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `try_save`, and if the thread must not wait.
    pub fn save(&mut self, ctx: &ExecutionContext) -> Result<Vec<u8>, Error> {
        loop {
            match self.try_save(ctx)? {
                Saving::Saved(bytes) => return Ok(bytes),
                Saving::Waiting(value) => ctx.host().await_available(&[value])?,
            }
        }
    }
}

impl Dataset {
    /// Returns an iterator that continues where another one was [saved](DataIterator::save). The
    /// saved iterator was of the same pipeline, but may be from another process, on another queue,
    /// with other numbers of elements drawn ahead.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint, are damaged, or belong to another pipeline: the error
    /// names the first stage that differs.
    pub fn restore(
        &self,
        checkpoint: &[u8],
        ctx: &ExecutionContext,
    ) -> Result<DataIterator, Error> {
        let state = open(checkpoint)?;
        let mut from = StateReader::new(state, ctx);
        if from.raw(1)? != [IS_BIG_ENDIAN] {
            return Err(damaged(
                "expected the byte order of this machine, found another one",
            ));
        }
        let saved = from.description()?;
        if let Some(difference) = Description::of(self).difference(&saved) {
            return Err(of_another_pipeline(&difference));
        }
        let mut iterator = self.iterator();
        from.input(iterator.state_mut())?;
        from.finish()?;
        Ok(iterator)
    }

    /// Returns the pipeline in words.
    #[must_use]
    pub fn description(&self) -> Description {
        Description::of(self)
    }
}

impl Outcome {
    /// Encodes the outcome as in a checkpoint, without a header.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_data::Outcome;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let bytes = Outcome::one(AnyRef::available(7_i64)).to_bytes(&ctx)?;
    /// let Outcome::Element(values) = Outcome::from_bytes(&bytes, &ctx)? else {
    ///     panic!("it was an element");
    /// };
    /// assert_eq!(values[0].get::<i64>(), Some(&7));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a value is not available, or of a type that cannot be written.
    pub fn to_bytes(&self, ctx: &ExecutionContext) -> Result<Vec<u8>, Error> {
        let mut to = StateWriter::new(ctx);
        to.outcome(self)?;
        to.finish().map_err(|_| {
            let message = "expected an element whose values are available, found a pending one";
            Error::new(message).with_code(ErrorCode::FailedPrecondition)
        })
    }

    /// Decodes an outcome from [`to_bytes`](Self::to_bytes). Tensors are allocated in the host of
    /// `ctx`.
    ///
    /// # Errors
    /// If the bytes are not an outcome, or there is no memory for a tensor.
    pub fn from_bytes(bytes: &[u8], ctx: &ExecutionContext) -> Result<Self, Error> {
        let mut from = StateReader::new(bytes, ctx);
        let outcome = from.outcome()?;
        from.finish()?;
        Ok(outcome)
    }
}

/// Returns the bytes between the version and the checksum.
fn open(checkpoint: &[u8]) -> Result<&[u8], Error> {
    let Some(rest) = checkpoint.strip_prefix(MAGIC) else {
        return Err(damaged("unknown format"));
    };
    let Some((version, _)) = rest.split_first_chunk() else {
        return Err(damaged("unexpected end of the data"));
    };
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        let message =
            format!("expected a checkpoint of version {VERSION}, found version {version}");
        return Err(Error::new(message).with_code(ErrorCode::FailedPrecondition));
    }
    let Some((state, sum)) = checkpoint.split_last_chunk() else {
        return Err(damaged("unexpected end of the data"));
    };
    if checksum(state) != u64::from_le_bytes(*sum) {
        return Err(damaged("wrong checksum"));
    }
    Ok(state
        .get(MAGIC.len() + size_of::<u32>()..)
        .unwrap_or_default())
}

/// Computes a checksum. It detects damage but not malice, against which every read is checked.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    Fnv1a::of(bytes)
}

/// Returns a value that becomes available when all of these are.
pub(crate) fn all_of(awaited: &[AnyRef]) -> AnyRef {
    if let [value] = awaited {
        return value.clone();
    }
    let (promise, all) = AsyncValueRef::unconstructed();
    run_when_ready(awaited, move || promise.emplace(Chain));
    all.into_any()
}

#[cold]
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(format!("not a checkpoint of a pipeline: {what}")).with_code(ErrorCode::DataLoss)
}

#[cold]
fn of_another_pipeline(difference: &str) -> Error {
    Error::new(format!(
        "expected a checkpoint of this pipeline, found one of a different pipeline: {difference}"
    ))
    .with_code(ErrorCode::FailedPrecondition)
}

impl StateWriter<'_> {
    fn description(&mut self, description: &Description) {
        self.count(description.nodes.len());
        for node in &description.nodes {
            self.u64(node.depth.into());
            self.bytes(node.name.as_bytes());
            self.count(node.attributes.len());
            for (name, value) in &node.attributes {
                self.bytes(name.as_bytes());
                self.bytes(value.as_bytes());
            }
        }
    }

    /// Writes the state of an iterator that was made while the pipeline ran, with the description
    /// of its dataset.
    pub(crate) fn iterator_of(
        &mut self,
        dataset: &Dataset,
        iterator: &mut dyn crate::iterator::Draw,
    ) -> Result<(), Error> {
        let description = Description::of(dataset);
        description.check_functions()?;
        self.description(&description);
        self.input(iterator)
    }
}

impl StateReader<'_> {
    fn description(&mut self) -> Result<Description, Error> {
        let mut nodes = Vec::new();
        for _ in 0..self.count()? {
            let depth =
                u32::try_from(self.u64()?).map_err(|_| damaged("stages are nested too deeply"))?;
            let name = self.text()?;
            let mut attributes = Vec::new();
            for _ in 0..self.count()? {
                attributes.push((self.text()?, self.text()?));
            }
            nodes.push(Node {
                depth,
                name,
                attributes,
            });
        }
        Ok(Description::of_nodes(nodes))
    }

    /// Reads the state of an iterator of `dataset` that was made while the pipeline ran.
    pub(crate) fn iterator_of(
        &mut self,
        dataset: &Dataset,
        iterator: &mut dyn crate::iterator::Draw,
    ) -> Result<(), Error> {
        let saved = self.description()?;
        if let Some(difference) = Description::of(dataset).difference(&saved) {
            return Err(of_another_pipeline(&difference));
        }
        self.input(iterator)
    }
}
