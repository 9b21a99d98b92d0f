//! One of several datasets for each element: by the numbers of another dataset, or at random.

use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_alike, common_types};
use crate::function::At;
use crate::iterator::Draw;
use crate::philox::Philox;
use crate::result::{IterationResult, Outcome};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};

#[derive(Debug)]
struct Choose {
    by: By,
    inputs: Box<[Dataset]>,
}

/// What chooses the input of each element.
#[derive(Clone, Debug)]
enum By {
    /// The elements of a dataset: numbers of inputs.
    Numbers(Dataset),
    /// A generator with these seeds; each input as often as its weight says.
    Weights {
        seeds: (i64, i64),
        weights: Box<[f64]>,
    },
}

impl Stage for Choose {
    fn name(&self) -> &'static str {
        match self.by {
            By::Numbers(_) => "choose_from",
            By::Weights { .. } => "sample_from",
        }
    }

    fn input_height(&self) -> u32 {
        let numbers = match &self.by {
            By::Numbers(numbers) => Some(numbers),
            By::Weights { .. } => None,
        };
        let inputs = self.inputs.iter().chain(numbers);
        inputs.map(Dataset::height).max().unwrap_or(0)
    }

    fn cardinality(&self) -> Cardinality {
        match &self.by {
            By::Numbers(numbers) => numbers.cardinality().at_most(),
            By::Weights { weights, .. } => {
                let inputs = self.inputs.iter().zip(weights);
                let chosen = inputs.filter(|(_, weight)| **weight > 0.0);
                let cardinalities = chosen.map(|(input, _)| input.cardinality());
                cardinalities.fold(Cardinality::Finite(0), Cardinality::plus)
            }
        }
    }

    fn element_types(&self) -> ElementTypes {
        common_types(&self.inputs)
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        match &self.by {
            By::Numbers(numbers) => to.input(numbers),
            By::Weights { seeds, weights } => {
                to.attribute("seeds", format_args!("{seeds:?}"));
                to.attribute("weights", format_args!("{weights:?}"));
            }
        }
        for input in &self.inputs {
            to.input(input);
        }
    }

    fn is_cheap_to_redraw(&self) -> bool {
        let are_cheap = self.inputs.iter().all(Dataset::is_cheap_to_redraw);
        match &self.by {
            By::Numbers(numbers) => are_cheap && numbers.is_cheap_to_redraw(),
            By::Weights { .. } => are_cheap,
        }
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let inputs = self.inputs.iter();
        Box::new(Serial::new(ChooseMachine {
            chooser: match &self.by {
                By::Numbers(numbers) => Chooser::Numbers {
                    input: numbers.iterator_below(position),
                    drawn: None,
                    num_drawn: 0,
                },
                By::Weights { seeds, weights } => Chooser::Weights {
                    generator: Philox::new(seeds.0, seeds.1),
                    num_generated: 0,
                    weights: weights.clone(),
                },
            },
            inputs: inputs
                .map(|input| Some(input.iterator_below(position)))
                .collect(),
            chosen: None,
            drawn: None,
            has_ended: false,
        }))
    }
}

#[derive(Debug)]
struct ChooseMachine {
    chooser: Chooser,
    /// Nothing in the place of one that has ended.
    inputs: Vec<Option<Box<dyn Draw>>>,
    /// The input of the next element, once it is chosen.
    chosen: Option<usize>,
    /// What was drawn from it, and is not known yet.
    drawn: Option<IterationResult>,
    has_ended: bool,
}

#[derive(Debug)]
enum Chooser {
    Numbers {
        input: Box<dyn Draw>,
        /// What was drawn, and is not known yet.
        drawn: Option<IterationResult>,
        num_drawn: u64,
    },
    Weights {
        generator: Philox,
        num_generated: u64,
        weights: Box<[f64]>,
    },
}

/// What a choice came to.
enum Choice {
    Input(usize),
    Answer(Outcome),
    Wait(tfrt_async::AnyRef),
}

impl Chooser {
    fn choose(&mut self, inputs: &[Option<Box<dyn Draw>>], ctx: &ExecutionContext) -> Choice {
        let (input, drawn, num_drawn) = match self {
            Self::Weights {
                generator,
                num_generated,
                weights,
            } => {
                *num_generated += 1;
                return match pick(generator.next_u32(), weights, inputs) {
                    Some(input) => Choice::Input(input),
                    None => Choice::Answer(Outcome::END),
                };
            }
            Self::Numbers {
                input,
                drawn,
                num_drawn,
            } => (input, drawn, num_drawn),
        };
        let result = drawn.take().unwrap_or_else(|| input.draw(ctx));
        let values = match result.into_outcome() {
            Ok(Outcome::Element(values)) => values,
            Ok(outcome) => {
                *num_drawn = num_drawn.wrapping_add(1);
                return Choice::Answer(outcome);
            }
            Err(pending) => {
                let awaited = pending.as_any().clone();
                *drawn = Some(IterationResult::Pending(pending));
                return Choice::Wait(awaited);
            }
        };
        if let Some(awaited) = values.iter().find(|value| !value.is_available()).cloned() {
            *drawn = Some(Outcome::Element(values).into());
            return Choice::Wait(awaited);
        }
        let at = At::new("choose_from", *num_drawn);
        *num_drawn = num_drawn.wrapping_add(1);
        let fail = |message: String| Choice::Answer(Outcome::Error(at.emit(invalid(message), ctx)));
        let [number] = &values[..] else {
            return fail(format!("expected one selector, found {}", values.len()));
        };
        if number.is_error() {
            return Choice::Answer(Outcome::Error(number.clone()));
        }
        let Some(&number) = number.get::<i64>() else {
            let found = number.mlir_type().unwrap_or("none");
            return fail(format!(
                "expected a selector of type `i64`, found `{found}`"
            ));
        };
        match usize::try_from(number)
            .ok()
            .filter(|&index| index < inputs.len())
        {
            Some(index) => Choice::Input(index),
            None => fail(format!(
                "expected a number below {}, found {number}",
                inputs.len()
            )),
        }
    }
}

/// Picks one of the inputs that have not ended, with a probability proportional to its weight.
fn pick(number: u32, weights: &[f64], inputs: &[Option<Box<dyn Draw>>]) -> Option<usize> {
    let open =
        || (0..inputs.len()).filter(|&index| inputs[index].is_some() && weights[index] > 0.0);
    let total: f64 = open().map(|index| weights[index]).sum();
    let mut rest = f64::from(number) / (f64::from(u32::MAX) + 1.0) * total;
    let mut last = None;
    for index in open() {
        last = Some(index);
        rest -= weights[index];
        if rest < 0.0 {
            break;
        }
    }
    last
}

impl Machine for ChooseMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if self.has_ended {
                return StepResult::Answer(Outcome::END);
            }
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            let chosen = match self.chosen.take() {
                Some(chosen) => chosen,
                None => match self.chooser.choose(&self.inputs, ctx) {
                    Choice::Input(chosen) => chosen,
                    Choice::Wait(awaited) => return StepResult::Wait(awaited),
                    Choice::Answer(outcome) => {
                        self.has_ended = outcome.is_end();
                        return StepResult::Answer(outcome);
                    }
                },
            };
            let Some(input) = &mut self.inputs[chosen] else {
                // The number of one that has ended is passed over.
                continue;
            };
            let drawn = self.drawn.take();
            match drawn.unwrap_or_else(|| input.draw(ctx)).into_outcome() {
                Ok(Outcome::End(_)) => self.inputs[chosen] = None,
                Ok(outcome) => return StepResult::Answer(outcome),
                Err(pending) => {
                    let awaited = pending.as_any().clone();
                    self.drawn = Some(IterationResult::Pending(pending));
                    self.chosen = Some(chosen);
                    return StepResult::Wait(awaited);
                }
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.has_ended);
        to.bool(self.chosen.is_some());
        to.count(self.chosen.unwrap_or(0));
        to.results(self.drawn.iter())?;
        match &mut self.chooser {
            Chooser::Numbers {
                input,
                drawn,
                num_drawn,
            } => {
                to.u64(*num_drawn);
                to.results(drawn.iter())?;
                to.input(&mut **input)?;
            }
            Chooser::Weights { num_generated, .. } => to.u64(*num_generated),
        }
        for input in &mut self.inputs {
            to.bool(input.is_some());
            if let Some(input) = input {
                to.input(&mut **input)?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.has_ended = from.bool()?;
        let has_chosen = from.bool()?;
        let chosen = from.at_most(self.inputs.len())?;
        self.chosen = has_chosen
            .then_some(chosen)
            .filter(|&chosen| chosen < self.inputs.len());
        self.drawn = from.results()?.pop_front();
        match &mut self.chooser {
            Chooser::Numbers {
                input,
                drawn,
                num_drawn,
            } => {
                *num_drawn = from.u64()?;
                *drawn = from.results()?.pop_front();
                from.input(&mut **input)?;
            }
            Chooser::Weights {
                generator,
                num_generated,
                ..
            } => {
                *num_generated = from.u64()?;
                generator.skip(*num_generated);
            }
        }
        for input in &mut self.inputs {
            match input {
                Some(open) if from.bool()? => from.input(&mut **open)?,
                _ => *input = None,
            }
        }
        Ok(())
    }
}

impl Dataset {
    /// Returns elements of `inputs`: the next element of `numbers` is the number of the input to
    /// draw from. Numbers of inputs that have ended are skipped; the sequence ends with the
    /// numbers.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let turns = Dataset::range(0, 6, 1)?.map(|i: i64| i % 2)?;
    /// let chosen = Dataset::choose_from(&turns, &[Dataset::range(0, 9, 1)?, Dataset::range(100, 102, 1)?])?;
    /// let found = chosen.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found, [0, 100, 1, 101, 2]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the elements of two inputs are known to be of different types, or those of `numbers` not
    /// to be of type `i64`, or datasets are nested too deep.
    pub fn choose_from(numbers: &Self, inputs: &[Self]) -> Result<Self, Error> {
        ElementTypes::of::<i64>().expect_from("choose_from", numbers)?;
        check_alike("choose_from", inputs)?;
        Self::new(Choose {
            by: By::Numbers(numbers.clone()),
            inputs: inputs.into(),
        })
    }

    /// Returns all elements of `inputs` in their order, each from an input that is chosen at
    /// random, with a probability proportional to its weight among the inputs that have not ended.
    /// Equal seeds make equal choices.
    ///
    /// Without `weights`, the chances are equal. An input with the weight zero is never chosen.
    ///
    /// # Errors
    /// If the numbers of weights and inputs differ, a weight is negative or not finite, the
    /// elements of two inputs are known to be of different types, or datasets are nested too deep.
    pub fn sample_from(
        inputs: &[Self],
        weights: Option<&[f64]>,
        seed: i64,
        seed2: i64,
    ) -> Result<Self, Error> {
        check_alike("sample_from", inputs)?;
        let weights: Box<[f64]> = match weights {
            Some(weights) => weights.into(),
            None => inputs.iter().map(|_| 1.0).collect(),
        };
        if weights.len() != inputs.len() {
            return Err(invalid(format!(
                "expected a weight for each of {} datasets, found {}",
                inputs.len(),
                weights.len()
            )));
        }
        if let Some(weight) = weights
            .iter()
            .find(|weight| !(0.0..f64::INFINITY).contains(*weight))
        {
            return Err(invalid(format!(
                "expected a weight of at least 0, found {weight}"
            )));
        }
        Self::new(Choose {
            by: By::Weights {
                seeds: (seed, seed2),
                weights,
            },
            inputs: inputs.into(),
        })
    }
}
