//! Elements whose tensors are on a device before they are asked for.
//!
//! ```text
//!  input ──► tensors on the host ──copy──► handles of tensors on the device ──► consumer
//!            └── `buffer` elements, whose copies are under way or done ──┘
//! ```
//!
//! A copy is enqueued when its element is drawn, in front of the ops that the consumer will enqueue
//! on the device; large tensors go through the pinned memory that the device reuses. Elements are
//! kept on the host until they are handed out, because checkpoints contain host tensors.

use std::collections::VecDeque;

use tfrt::core::{CoreRuntime, TensorHandle};
use tfrt::data::{
    Cardinality, Dataset, Draw, IterationResult, Outcome, Position, Stage, StageDescription,
    StateReader, StateWriter, Values, are_available,
};
use tfrt::host::device::DeviceRef;
use tfrt::prelude::*;
use tfrt_tensor::TensorRef;

/// The largest number of elements that may be on the device before they are asked for.
const MAX_BUFFER: i64 = 1 << 20;

/// The name of the stage.
const NAME: &str = "prefetch_to_device";

/// Creates a dataset of the same elements, with their tensors on a device: each tensor is the
/// handle of a copy there. Other components, such as numbers and strings, are unchanged. The copies
/// of `buffer` elements, or of one without it, are made before the elements are requested.
///
/// # Errors
/// `buffer must be between 0 and 1048576, not N`. If a tensor cannot be copied, the component is an
/// error.
#[tfrt_kernel(
    "tfrt_data.prefetch_to_device",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn prefetch_to_device_kernel(
    input: &Dataset,
    device: DeviceRef,
    #[attr] buffer: Option<i64>,
) -> Result<Dataset> {
    prefetch_to_device(input, &device, buffer.unwrap_or(1))
}

/// Returns the same elements, with a [`TensorHandle`] of a copy on `device` in place of each
/// tensor. The copies of `buffer` elements are made before the elements are requested.
///
/// ```
/// use tfrt::core::{EagerContext, TensorHandle};
/// use tfrt::data::{Dataset, Outcome};
/// use tfrt::host::RequestContextBuilder;
/// use tfrt::prelude::*;
/// use tfrt_kernels::data::device::prefetch_to_device;
///
/// let host = HostContext::builder().build();
/// let eager = EagerContext::builder(host.clone()).build()?;
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
/// // `GPU:0`, if there is one.
/// let device = tfrt::core::CoreRuntime::of(&host).host_device().clone();
/// let batches = Dataset::range(0, 4, 1)?.batch(2)?;
/// let mut iterator = prefetch_to_device(&batches, &device, 2)?.iterator();
/// // A pipeline that makes elements later has outcomes to wait for.
/// let Ok(Outcome::Element(values)) = iterator.draw(&ctx).into_outcome() else {
///     panic!("a range knows its elements");
/// };
/// let batch = values[0].try_read::<TensorHandle>().map_err(Error::other)?;
/// assert_eq!(eager.to_vec::<i64>(&batch)?, [0, 1]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// If the number is negative or larger than 2^20, or datasets are nested too deep.
pub fn prefetch_to_device(input: &Dataset, device: &DeviceRef, buffer: i64) -> Result<Dataset> {
    if !(0..=MAX_BUFFER).contains(&buffer) {
        let message = format!("buffer must be between 0 and {MAX_BUFFER}, not {buffer}");
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    }
    Dataset::new(PrefetchToDevice {
        input: input.clone(),
        device: device.clone(),
        buffer: buffer as usize,
    })
}

#[derive(Clone, Debug)]
struct PrefetchToDevice {
    input: Dataset,
    device: DeviceRef,
    buffer: usize,
}

impl Stage for PrefetchToDevice {
    fn name(&self) -> &'static str {
        NAME
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        // Not the device: a pass may go on on another one.
        to.input(&self.input);
    }

    fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset>> {
        let shared = self.input.stage().share_files(num_workers, index)?;
        Some(shared.and_then(|input| {
            Dataset::new(Self {
                input,
                ..self.clone()
            })
        }))
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(DeviceIterator {
            input: self.input.iterator_below(position),
            device: self.device.clone(),
            buffer: self.buffer,
            copied: VecDeque::new(),
        })
    }
}

#[derive(Debug)]
struct DeviceIterator {
    input: Box<dyn Draw>,
    device: DeviceRef,
    buffer: usize,
    /// Oldest first.
    copied: VecDeque<Copied>,
}

/// An element on the host and on the device.
#[derive(Debug)]
struct Copied {
    host: IterationResult,
    /// Nothing after a restore, until the next draw.
    device: Option<IterationResult>,
}

impl Draw for DeviceIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        for restored in self
            .copied
            .iter_mut()
            .filter(|copied| copied.device.is_none())
        {
            restored.device = Some(copy(restored.host.clone(), &self.device, ctx));
        }
        while self.copied.len() <= self.buffer {
            let host = self.input.draw(ctx);
            let device = Some(copy(host.clone(), &self.device, ctx));
            self.copied.push_back(Copied { host, device });
        }
        let oldest = self.copied.pop_front();
        oldest
            .and_then(|copied| copied.device)
            .unwrap_or_else(|| Outcome::END.into())
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<()> {
        to.results(self.copied.iter().map(|copied| &copied.host))?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        let restored = from.results()?.into_iter();
        self.copied = restored.map(|host| Copied { host, device: None }).collect();
        from.input(&mut *self.input)
    }

    fn seek(&mut self, num_before: u64) -> Result<()> {
        self.copied.clear();
        self.input.seek(num_before)
    }
}

/// Returns a result with its tensors on a device. Copies begin as soon as the tensors are there.
fn copy(host: IterationResult, device: &DeviceRef, ctx: &ExecutionContext) -> IterationResult {
    match host.into_outcome() {
        Ok(outcome) => copy_outcome(outcome, device, ctx).into(),
        Err(pending) => {
            let (promise, copied) = IterationResult::pending();
            let (device, ctx) = (device.clone(), ctx.clone());
            IterationResult::Pending(pending).and_then_for(promise, move |outcome, promise| {
                promise.emplace(copy_outcome(outcome, &device, &ctx));
            });
            copied
        }
    }
}

fn copy_outcome(outcome: Outcome, device: &DeviceRef, ctx: &ExecutionContext) -> Outcome {
    let Outcome::Element(values) = outcome else {
        return outcome;
    };
    if are_available(&values) {
        let copies = values.iter().map(|value| copy_value(value, device, ctx));
        return Outcome::Element(copies.collect());
    }
    let copies: Values = values
        .iter()
        .map(|value| {
            if value.is_available() {
                return copy_value(value, device, ctx);
            }
            let (promise, copied) = AnyRef::indirect();
            let (device, ctx) = (device.clone(), ctx.clone());
            value.and_then_for(promise, move |value, promise| {
                promise.forward_to(copy_value(value, &device, &ctx));
            });
            copied
        })
        .collect();
    Outcome::Element(copies)
}

/// Returns the handle of a copy of an available tensor, or another available value unchanged.
fn copy_value(value: &AnyRef, device: &DeviceRef, ctx: &ExecutionContext) -> AnyRef {
    if value.is_error() || TensorRef::read(value).is_err() {
        return value.clone();
    }
    let host = CoreRuntime::of(ctx.host()).host_device().clone();
    let handle = TensorHandle::of_value(host, value.clone()).transfer_to_inferred(ctx, device);
    let failed = handle.tensor().filter(|tensor| tensor.is_error());
    match failed {
        Some(error) => error.clone(),
        None => AnyRef::available(handle),
    }
}
