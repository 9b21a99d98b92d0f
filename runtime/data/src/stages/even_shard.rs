//! Shards of equal length, for workers that take their steps together.
//!
//! ```text
//!  three workers, seven elements      0 1 2 │ 3 4 5 │ 6        a group has one element per worker
//!  drop     worker 0: 0 3     worker 1: 1 4     worker 2: 2 5
//!  pad      worker 0: 0 3 6   worker 1: 1 4 6   worker 2: 2 5 6
//! ```
//!
//! Every worker draws all elements, so that it knows without communication whether the last group
//! is complete.

use std::fmt;
use std::str::FromStr;

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::iterator::Draw;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

/// The treatment of the last elements if shards would differ in length.
///
/// ```
/// use tfrt_data::UnevenShards;
///
/// assert_eq!("pad".parse::<UnevenShards>()?, UnevenShards::Pad);
/// assert_eq!(UnevenShards::Drop.to_string(), "drop");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnevenShards {
    /// Some workers get one more element than others.
    #[default]
    Keep,
    /// A worker without an element gets a copy of another worker's.
    Pad,
    /// The last elements are dropped.
    Drop,
}

impl FromStr for UnevenShards {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "keep" => Ok(Self::Keep),
            "pad" => Ok(Self::Pad),
            "drop" => Ok(Self::Drop),
            _ => Err(invalid(format!(
                "expected `keep`, `pad` or `drop`, found `{text}`"
            ))),
        }
    }
}

impl fmt::Display for UnevenShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "keep",
            Self::Pad => "pad",
            Self::Drop => "drop",
        })
    }
}

#[derive(Clone, Debug)]
struct EvenShard {
    input: Dataset,
    num_shards: usize,
    index: usize,
    is_padded: bool,
}

impl Stage for EvenShard {
    fn name(&self) -> &'static str {
        "even_shard"
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        let num_shards = self.num_shards as u64;
        self.input.cardinality().map(|len| match self.is_padded {
            true => len.div_ceil(num_shards),
            false => len / num_shards,
        })
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("num_shards", self.num_shards);
        to.attribute("index", self.index);
        to.attribute("is_padded", self.is_padded);
        to.input(&self.input);
    }

    fn is_cheap_to_redraw(&self) -> bool {
        self.input.is_cheap_to_redraw()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(EvenShardMachine {
            input: self.input.iterator_below(position),
            num_shards: self.num_shards,
            index: self.index,
            is_padded: self.is_padded,
            num_drawn: 0,
            drawn: None,
            kept: Vec::new(),
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct EvenShardMachine {
    input: Box<dyn Draw>,
    num_shards: usize,
    index: usize,
    is_padded: bool,
    /// The number of known elements of the group.
    num_drawn: usize,
    /// A drawn result whose outcome is pending.
    drawn: Option<IterationResult>,
    /// The elements of the group that this worker may need: its own, and the earlier ones, one of
    /// which it repeats if its own is missing.
    kept: Vec<Outcome>,
    has_ended: bool,
}

impl Machine for EvenShardMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if self.has_ended {
                return StepResult::Answer(Outcome::END);
            }
            if self.num_drawn == self.num_shards {
                return StepResult::Answer(self.end_group());
            }
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => {
                    self.has_ended = true;
                    if self.is_padded && self.num_drawn > 0 {
                        return StepResult::Answer(self.end_group());
                    }
                }
                Ok(outcome) => {
                    let is_own = self.num_drawn == self.index;
                    let is_in_front = self.is_padded && self.num_drawn < self.index;
                    if is_own || is_in_front {
                        self.kept.push(outcome);
                    }
                    self.num_drawn += 1;
                }
                Err(pending) => {
                    let awaited: AnyRef = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    return StepResult::Wait(awaited);
                }
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.count(self.num_drawn);
        to.results(self.drawn.iter())?;
        to.outcomes(self.kept.iter())?;
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        self.num_drawn = from.at_most(self.num_shards)?;
        self.drawn = from.results()?.pop_front();
        self.kept = from.outcomes()?;
        if self.kept.len() > self.num_drawn {
            return Err(damaged("a group holds more elements than were drawn"));
        }
        from.input(&mut *self.input)
    }
}

impl EvenShardMachine {
    /// Returns the element of this worker in a complete or padded group.
    fn end_group(&mut self) -> Outcome {
        let num_drawn = std::mem::take(&mut self.num_drawn);
        let mut kept = std::mem::take(&mut self.kept);
        let place = match self.is_padded {
            true => self.index % num_drawn.max(1),
            false => 0,
        };
        match place < kept.len() {
            true => kept.swap_remove(place),
            false => Outcome::END,
        }
    }
}

impl Dataset {
    /// Returns a shard as [`shard`](Self::shard) does. Unless `uneven` is `Keep`, all shards have
    /// the same length: workers that wait for each other in every step need the same number of
    /// steps.
    ///
    /// ```
    /// use tfrt_data::{Dataset, UnevenShards};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let share = |index, uneven| {
    ///     let shard = Dataset::range(0, 7, 1)?.shard_evenly(3, index, uneven)?;
    ///     shard.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()
    /// };
    /// assert_eq!(share(2, UnevenShards::Keep)?, [2, 5]);
    /// assert_eq!(share(2, UnevenShards::Pad)?, [2, 5, 6]);
    /// assert_eq!(share(0, UnevenShards::Drop)?, [0, 3]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `shard`; and if there are more than 2^20 shards.
    pub fn shard_evenly(
        &self,
        num_shards: i64,
        index: i64,
        uneven: UnevenShards,
    ) -> Result<Self, Error> {
        /// A worker may hold one element per shard.
        const MAX_NUM_SHARDS: i64 = 1 << 20;
        let shard = self.shard(num_shards, index)?;
        if uneven == UnevenShards::Keep {
            return Ok(shard);
        }
        if num_shards > MAX_NUM_SHARDS {
            return Err(invalid(format!(
                "num_shards must be at most {MAX_NUM_SHARDS}, not {num_shards}"
            )));
        }
        Self::new(EvenShard {
            input: self.clone(),
            num_shards: num_shards as usize,
            index: index as usize,
            is_padded: uneven == UnevenShards::Pad,
        })
    }
}
