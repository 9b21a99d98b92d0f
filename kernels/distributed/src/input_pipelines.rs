//! Input pipelines whose elements the members of a group share.
//!
//! A member knows its number and the number of members from its place in the group, so all members
//! run the same program.
//!
//! # Stopping together
//!
//! Members that wait for each other in every step must all take the same number of steps.
//! [`stop_together`] ends a dataset on all members where the first of them has no further element.
//! A collective in every step would cost more than it tells, so members agree on blocks:
//!
//! ```text
//!  member 0   draws 16 elements ──► 16 ─┐                           16 elements, then the next block
//!  member 1   draws 16 elements ──► 16 ─┼─ all-reduce: the least ─► 16
//!  member 0   draws the rest    ──► 16 ─┤                            9 elements, then the end
//!  member 1   draws the rest    ──►  9 ─┘                            9
//! ```
//!
//! Every pass begins with an agreement on its first block. It may differ from zero after a restore.
//! Members that are further than others repeat their part of the blocks that the others still lack.
//!
//! A checkpoint contains the elements that the stages above have drawn, and waits for them. These
//! stages must therefore draw ahead alike on all members.
//!
//! A member that is dropped before its end tells the others, whose next draw fails: nobody waits
//! for it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt::data::{
    Cardinality, Dataset, Draw, ElementTypes, IterationResult, Machine, Outcome, Position, Serial,
    Stage, StageDescription, StateReader, StateWriter, StepResult, UnevenShards,
};
use tfrt::distributed::DistContext;
use tfrt::distributed::collective::{self, Collective, Reduction};
use tfrt::prelude::*;
use tfrt_tensor::Shape;

/// How many elements members agree on at a time.
const BLOCK: usize = 16;

/// Creates a dataset of this member's share of the elements: those whose number, counted from 0,
/// has the member's position in the group as the remainder when divided by the number of members.
/// `uneven` determines the treatment of the last elements, as for `tfrt_data.shard_dataset`.
///
/// # Errors
/// `No collective group with name G.`,
/// `The current task T is not part of the collective group G`.
#[tfrt_kernel(
    "tfrt_dist.shard_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn shard_dataset(
    dist_context: &DistContext,
    collective_group: &str,
    input: &Dataset,
    #[attr] uneven: Option<&str>,
) -> Result<Dataset> {
    let uneven: UnevenShards = uneven.map_or(Ok(UnevenShards::Keep), str::parse)?;
    let (num_members, index) = place(dist_context, collective_group)?;
    input.shard_evenly(num_members, index, uneven)
}

/// Creates a dataset of this member's share of the files that the elements come from, or of the
/// records or elements, as `tfrt_data.auto_shard_dataset` does, with the member's position in the
/// group and the number of members.
///
/// # Errors
/// `No collective group with name G.`,
/// `The current task T is not part of the collective group G`.
#[tfrt_kernel(
    "tfrt_dist.auto_shard_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn auto_shard_dataset(
    dist_context: &DistContext,
    collective_group: &str,
    input: &Dataset,
) -> Result<Dataset> {
    let (num_members, index) = place(dist_context, collective_group)?;
    input.auto_shard(num_members, index)
}

/// Creates a dataset that ends on all members of a group where the first of them has no further
/// element. All members make the same number of passes. The key is the same on all members, and
/// differs from those of other collectives.
///
/// # Errors
/// `No collective group with name G.`,
/// `The current task T is not part of the collective group G`. Draws fail if a member stops before
/// the end, or is lost.
#[tfrt_kernel(
    "tfrt_dist.stop_together_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
)]
fn stop_together_dataset(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &Dataset,
) -> Result<Dataset> {
    stop_together(input, dist_context, collective_group, instance_key)
}

/// Returns the number of members of a group, and the position of this task.
fn place(context: &DistContext, group: &str) -> Result<(i64, i64)> {
    let (members, index) = collective::position_in(group, context.context())?;
    Ok((members.len() as i64, index as i64))
}

/// Returns the elements of a dataset up to the last one that all members of a group have an element
/// for. Members draw up to 16 elements ahead.
///
/// ```
/// use std::thread;
/// use tfrt::data::Dataset;
/// use tfrt_distributed_kernels::input_pipelines::stop_together;
/// # use std::sync::Arc;
/// # use std::sync::mpsc::channel;
/// # use tfrt::distributed::fabric::CommunicatorType;
/// # use tfrt::distributed::message::DistributedContextConfiguration;
/// # use tfrt::distributed::{DistContext, Server, ServerConfig};
/// # use tfrt::host::RequestContextBuilder;
/// # use tfrt::prelude::*;
/// # use tfrt::queue::create_queue;
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// # let configs = DistributedContextConfiguration::local_cluster(&addresses);
/// # let start = |address: &String| {
/// #     let host = HostContext::builder().queue(create_queue("mstd:2").unwrap()).build();
/// #     Server::new(&host, ServerConfig::new("in_process", address)).unwrap()
/// # };
/// # let servers = addresses.each_ref().map(start);
/// # let (sender, done) = channel();
/// # servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| sender.send(outcome).unwrap());
/// # let first = done.recv()?.unwrap();
/// # let contexts = [first, servers[1].context(7).unwrap()].map(DistContext::new);
/// // One member has five elements, and the other one three.
/// let count = |context: &DistContext, len: i64| -> Result<usize> {
///     let own = Dataset::range(0, len, 1)?;
///     let together = stop_together(&own, context, "group1", "epoch 1")?;
/// #   let host = Arc::clone(context.context().host());
/// #   let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
///     Ok(together.elements::<i64, _>(&ctx).count())
/// };
/// let counts = thread::scope(|scope| {
///     let other = scope.spawn(|| count(&contexts[1], 3));
///     [count(&contexts[0], 5), other.join().unwrap()]
/// });
/// for count in counts {
///     assert_eq!(count?, 3);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the group does not exist, the task is not a member, or datasets are nested too deep.
pub fn stop_together(
    input: &Dataset,
    context: &DistContext,
    group: &str,
    key: &str,
) -> Result<Dataset> {
    place(context, group)?;
    Dataset::new(StopTogether {
        input: input.clone(),
        agreement: Agreement {
            context: context.clone(),
            group: group.into(),
            key: key.into(),
        },
        num_passes: Arc::new(AtomicU64::new(0)),
    })
}

#[derive(Debug)]
struct StopTogether {
    input: Dataset,
    agreement: Agreement,
    /// The passes so far: members make the same passes in the same order. Orders nothing: relaxed.
    num_passes: Arc<AtomicU64>,
}

/// What the members of a group agree under.
#[derive(Clone)]
struct Agreement {
    context: DistContext,
    group: Arc<str>,
    key: Arc<str>,
}

impl fmt::Debug for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, key, .. } = self;
        write!(f, "Agreement {{ group: {group:?}, key: {key:?} }}")
    }
}

impl Stage for StopTogether {
    fn name(&self) -> &'static str {
        "stop_together"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        match self.input.cardinality() {
            // All members end, or none of them.
            Cardinality::Infinite => Cardinality::Infinite,
            _ => Cardinality::Unknown,
        }
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let pass = self.num_passes.fetch_add(1, Ordering::Relaxed);
        let key = format!("{}/pass {pass}", self.agreement.key).into();
        Box::new(Serial::new(StopTogetherMachine {
            input: self.input.iterator_below(position),
            agreement: Agreement {
                key,
                ..self.agreement.clone()
            },
            block: 0,
            pending: None,
            drawn: VecDeque::new(),
            num_in_block: 0,
            phase: Phase::Meeting(None),
        }))
    }
}

#[derive(Debug)]
struct StopTogetherMachine {
    input: Box<dyn Draw>,
    agreement: Agreement,
    /// The number of the block.
    block: u64,
    /// A drawn result whose outcome is pending.
    pending: Option<IterationResult>,
    /// The elements of the block that were not handed out, oldest first.
    drawn: VecDeque<Outcome>,
    /// The number of elements of the block, with those that were handed out.
    num_in_block: usize,
    phase: Phase,
}

/// What a member does.
#[derive(Debug)]
enum Phase {
    /// Agrees on the block to begin with.
    Meeting(Option<Answer>),
    /// Repeats its part of an earlier block, of which all members had every element.
    Repeating { block: u64, answer: Option<Answer> },
    /// Draws the elements of the block.
    Drawing,
    /// Agrees on the number of elements in the block.
    Agreeing(Answer),
    /// Hands out the elements that all members have.
    HandingOut { num_left: usize, is_last: bool },
    /// Every draw is answered by the end.
    Ended,
}

/// An agreement in progress: the least number of all members.
#[derive(Clone, Debug)]
struct Answer(AsyncValueRef<u64>);

impl Answer {
    /// Returns the agreed number, or what to wait for.
    fn get(&self) -> std::result::Result<Result<u64>, AnyRef> {
        match (self.0.get(), self.0.error_if_present()) {
            (Some(&least), _) => Ok(Ok(least)),
            (None, Some(error)) => Ok(Err(error.clone())),
            (None, None) => Err(self.0.as_any().clone()),
        }
    }
}

impl Agreement {
    fn collective(&self, what: impl fmt::Display) -> Collective {
        Collective {
            context: self.context.context().clone(),
            group: self.group.to_string(),
            key: format!("{}/{what}", self.key),
        }
    }

    /// Begins to agree on the least number of all members.
    fn least(&self, what: impl fmt::Display, own: u64) -> Answer {
        let collective = self.collective(what);
        let allocator = self.context.context().host().allocator();
        let shape = Shape::new(&[1]).map_err(Error::from);
        let tensors = shape.and_then(|shape| {
            let input = DenseHostTensor::from_elements(allocator, shape.clone(), &[own])?;
            Ok((
                input,
                DenseHostTensor::zeroed(allocator, DType::Ui64, shape)?,
            ))
        });
        let (promise, answer) = AsyncValueRef::unconstructed();
        match tensors {
            Ok((input, output)) => {
                let least = output.clone();
                collective::all_reduce(collective, Reduction::Min, input, output, move |outcome| {
                    let least = outcome.and_then(|()| Ok(least.to_scalar::<u64>()?));
                    match least {
                        Ok(least) => promise.emplace(least),
                        Err(error) => promise.set_error(error),
                    }
                });
            }
            Err(error) => {
                let abandoned = collective::abandon(&collective, &error);
                promise.set_error(abandoned.err().unwrap_or(error));
            }
        }
        Answer(answer)
    }

    /// Lets the next agreement of the others fail.
    fn leave(&self, what: impl fmt::Display) {
        let name = self.context.context().cluster().own_name();
        let error = Error::new(format!("{name} has stopped before the end of its elements"))
            .with_code(ErrorCode::Cancelled);
        // Nobody is left here to tell of an agreement in progress, which ends by itself.
        let _ = collective::abandon(&self.collective(what), &error);
    }
}

/// The key of the agreement on a block.
fn of_block(block: u64) -> String {
    format!("block {block}")
}

/// The key of the agreement on the first block.
const MEETING: &str = "first block";

impl Machine for StopTogetherMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        loop {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            match self.advance(ctx) {
                Ok(None) => {}
                Ok(Some(result)) => return result,
                Err(error) => {
                    // All members fail alike, so none of them waits for this one.
                    self.phase = Phase::Ended;
                    return StepResult::Answer(Outcome::error(ctx.emit_error(error)));
                }
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<()> {
        to.u64(self.block);
        to.count(self.num_in_block);
        to.results(self.pending.iter())?;
        to.outcomes(self.drawn.iter())?;
        to.input(&mut *self.input)
    }

    /// Members agree on their blocks anew, also on the one in progress.
    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<()> {
        // Blocks are counted on: their numbers stay far from the largest.
        self.block = from.at_most(usize::MAX / 2)? as u64;
        self.num_in_block = from.at_most(BLOCK)?;
        self.pending = from.results()?.pop_front();
        self.drawn = from.outcomes()?.into();
        self.drawn.truncate(self.num_in_block);
        from.input(&mut *self.input)
    }
}

impl StopTogetherMachine {
    /// Goes on to the next phase, or returns the result of the step.
    fn advance(&mut self, ctx: &ExecutionContext) -> Result<Option<StepResult>> {
        let next = match &mut self.phase {
            Phase::Meeting(answer) => {
                let answer =
                    answer.get_or_insert_with(|| self.agreement.least(MEETING, self.block));
                match answer.get() {
                    Err(awaited) => return Ok(Some(StepResult::Wait(awaited))),
                    Ok(block) => Phase::Repeating {
                        block: block?,
                        answer: None,
                    },
                }
            }
            Phase::Repeating { block, .. } if *block >= self.block => Phase::Drawing,
            Phase::Repeating { block, answer } => {
                let answer = answer
                    .get_or_insert_with(|| self.agreement.least(of_block(*block), BLOCK as u64));
                match answer.get() {
                    Err(awaited) => return Ok(Some(StepResult::Wait(awaited))),
                    Ok(agreed) => {
                        agreed?;
                        Phase::Repeating {
                            block: *block + 1,
                            answer: None,
                        }
                    }
                }
            }
            Phase::Drawing => {
                if let Some(awaited) = self.draw_block(ctx) {
                    return Ok(Some(StepResult::Wait(awaited)));
                }
                let own = self.num_in_block as u64;
                Phase::Agreeing(self.agreement.least(of_block(self.block), own))
            }
            Phase::Agreeing(answer) => match answer.get() {
                Err(awaited) => return Ok(Some(StepResult::Wait(awaited))),
                Ok(agreed) => {
                    let num_agreed = (agreed? as usize).min(self.num_in_block);
                    // Some were handed out before a checkpoint.
                    let num_handed_out = self.num_in_block - self.drawn.len();
                    Phase::HandingOut {
                        num_left: num_agreed.saturating_sub(num_handed_out),
                        is_last: num_agreed < BLOCK,
                    }
                }
            },
            Phase::HandingOut {
                num_left: 0,
                is_last: true,
            } => Phase::Ended,
            Phase::HandingOut { num_left: 0, .. } => {
                self.block += 1;
                self.num_in_block = 0;
                self.drawn.clear();
                Phase::Drawing
            }
            Phase::HandingOut { num_left, .. } => {
                *num_left -= 1;
                let oldest = self.drawn.pop_front();
                return Ok(Some(StepResult::Answer(oldest.unwrap_or(Outcome::END))));
            }
            Phase::Ended => return Ok(Some(StepResult::Answer(Outcome::END))),
        };
        self.phase = next;
        Ok(None)
    }

    /// Draws until the block is full or the input ends, or returns what to wait for.
    fn draw_block(&mut self, ctx: &ExecutionContext) -> Option<AnyRef> {
        while self.num_in_block < BLOCK {
            let drawn = self.pending.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => return None,
                Ok(outcome) => {
                    self.drawn.push_back(outcome);
                    self.num_in_block += 1;
                }
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.pending = Some(IterationResult::Pending(pending));
                    return Some(awaited);
                }
            }
        }
        None
    }
}

/// The next agreement of the others fails, unless all members know the end.
impl Drop for StopTogetherMachine {
    fn drop(&mut self) {
        let next = match &self.phase {
            Phase::Meeting(None) => MEETING.to_owned(),
            Phase::Meeting(Some(answer)) => {
                // Which block is the next one is known when the others are there.
                let (answer, agreement) = (answer.clone(), self.agreement.clone());
                answer.0.clone().and_then(move |_| {
                    if let Ok(Ok(block)) = answer.get() {
                        agreement.leave(of_block(block));
                    }
                });
                return;
            }
            Phase::Repeating { block, answer } => of_block(*block + u64::from(answer.is_some())),
            Phase::Drawing => of_block(self.block),
            Phase::Agreeing(_) | Phase::HandingOut { is_last: false, .. } => {
                of_block(self.block + 1)
            }
            Phase::HandingOut { is_last: true, .. } | Phase::Ended => return,
        };
        self.agreement.leave(next);
    }
}
