//! Random removal of elements, so that the classes get the requested frequencies.

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::whole::WholeDraw;
use crate::cardinality::Cardinality;
use crate::checkpoint::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, Position, Stage, invalid};
use crate::declared_state::Caller;
use crate::description::StageDescription;
use crate::element_types::{ElementTypes, check_outer_state, check_parameters, check_results};
use crate::function::{At, BoundFunction, ElementFunction};
use crate::iterator::Draw;
use crate::philox::Philox;
use crate::result::{IterationResult, Outcome, Values};
use crate::token::{Machine, STEPS_PER_TASK, Serial, StepResult, go_on_later};
use crate::typed::IntoElementFunction;

const NAME: &str = "rejection_resample";

/// The initial count of each class, if frequencies are estimated: the first elements must not
/// determine the estimate alone.
const NUM_SEEN_AT_FIRST: u64 = 10;

#[derive(Clone, Debug)]
struct Resample {
    input: Dataset,
    class: BoundFunction,
    /// The requested frequency of each class.
    target: Box<[f64]>,
    /// The frequency of each class in the input; estimated if it is not given.
    initial: Option<Box<[f64]>>,
    seeds: (i64, i64),
}

impl Stage for Resample {
    fn name(&self) -> &'static str {
        NAME
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().at_most()
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<i64>().followed_by(&self.input.element_types())
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        self.class.describe(to);
        to.attribute("target", format_args!("{:?}", self.target));
        if let Some(initial) = &self.initial {
            to.attribute("initial", format_args!("{initial:?}"));
        }
        to.attribute("seeds", format_args!("{:?}", self.seeds));
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ResampleMachine {
            input: self.input.iterator_below(position),
            class: Caller::new(NAME, &self.class, position),
            stage: self.clone(),
            drawn: WholeDraw::default(),
            asked: None,
            num_drawn: 0,
            numbers: Philox::new(self.seeds.0, self.seeds.1),
            num_decided: 0,
            num_seen: vec![NUM_SEEN_AT_FIRST; self.target.len()],
        }))
    }
}

#[derive(Debug)]
struct ResampleMachine {
    input: Box<dyn Draw>,
    class: Caller,
    stage: Resample,
    drawn: WholeDraw,
    /// The element whose class is pending, and the result of the class function.
    asked: Option<(Values, Values, At)>,
    num_drawn: u64,
    numbers: Philox,
    /// The number of decisions; each used one random number.
    num_decided: u64,
    /// The number of elements of each class.
    num_seen: Vec<u64>,
}

impl Machine for ResampleMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        for _ in 0..STEPS_PER_TASK {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if let Some((values, answer, at)) = self.asked.take() {
                match class_in(&answer, self.num_seen.len()) {
                    Ok(Class::Known(class)) => {
                        if self.accepts(class) {
                            return StepResult::Answer(with_class(class, values));
                        }
                    }
                    Ok(Class::Failed(error)) => return StepResult::Answer(Outcome::Error(error)),
                    Ok(Class::Pending(awaited)) => {
                        self.asked = Some((values, answer, at));
                        return StepResult::Wait(awaited);
                    }
                    Err(error) => return StepResult::Answer(Outcome::Error(at.emit(error, ctx))),
                }
                continue;
            }
            match self.drawn.next(&mut *self.input, ctx) {
                Ok(Outcome::Element(values)) => {
                    let at = At::new(NAME, self.num_drawn);
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    let answer = self.class.call(ctx, &values, at);
                    self.asked = Some((values, answer, at));
                }
                Ok(outcome) => {
                    self.num_drawn = self.num_drawn.wrapping_add(1);
                    return StepResult::Answer(outcome);
                }
                Err(awaited) => return StepResult::Wait(awaited),
            }
        }
        go_on_later(ctx)
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.u64(self.num_drawn);
        to.u64(self.num_decided);
        self.num_seen.iter().for_each(|&count| to.u64(count));
        self.class.save(to)?;
        self.drawn.save(to)?;
        let asked = self.asked.as_ref();
        let asked = asked.map(|(values, ..)| Outcome::Element(values.clone()).into());
        to.results(asked.iter())?;
        if let Some((_, answer, _)) = &self.asked {
            self.class.save_answer(answer, to)?;
        }
        to.input(&mut *self.input)
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.num_drawn = from.u64()?;
        self.num_decided = from.u64()?;
        self.numbers.skip(self.num_decided);
        for count in &mut self.num_seen {
            *count = from.u64()?;
            if *count > u64::MAX / 2 {
                return Err(damaged("a class was seen too often"));
            }
        }
        self.class.restore(from)?;
        self.drawn.restore(from)?;
        if let Some(Ok(Outcome::Element(values))) = from
            .results()?
            .pop_front()
            .map(IterationResult::into_outcome)
        {
            let at = At::new(NAME, self.num_drawn.saturating_sub(1));
            let answer = self.class.restore_answer(&values, from, at)?;
            self.asked = Some((values, answer, at));
        }
        from.input(&mut *self.input)
    }
}

/// The class of an element.
enum Class {
    Known(usize),
    Failed(AnyRef),
    Pending(AnyRef),
}

fn class_in(answer: &Values, num_classes: usize) -> Result<Class, Error> {
    let [class] = &answer[..] else {
        return Err(invalid(format!(
            "expected a class function with one result, found {} results",
            answer.len()
        )));
    };
    if !class.is_available() {
        return Ok(Class::Pending(class.clone()));
    }
    if class.is_error() {
        return Ok(Class::Failed(class.clone()));
    }
    let Some(&number) = class.get::<i64>() else {
        let found = class.mlir_type().unwrap_or("none");
        return Err(invalid(format!(
            "expected a class of type `i64`, found `{found}`"
        )));
    };
    match usize::try_from(number) {
        Ok(class) if class < num_classes => Ok(Class::Known(class)),
        _ => Err(invalid(format!(
            "expected a class below {num_classes}, found {number}"
        ))),
    }
}

fn with_class(class: usize, mut values: Values) -> Outcome {
    values.insert(0, AnyRef::available(class as i64));
    Outcome::Element(values)
}

impl ResampleMachine {
    /// Decides whether an element of a class is delivered. Uses one random number.
    fn accepts(&mut self, class: usize) -> bool {
        self.num_decided = self.num_decided.wrapping_add(1);
        let chance = f64::from(self.numbers.next_u32()) / (f64::from(u32::MAX) + 1.0);
        self.num_seen[class] = self.num_seen[class].saturating_add(1);
        let target = &self.stage.target;
        // The ratio of the requested to the actual frequency. Counts serve as well as
        // frequencies, since only the proportions of these ratios matter.
        let demand = |class: usize| {
            let present = match &self.stage.initial {
                Some(initial) => initial[class],
                None => self.num_seen[class] as f64,
            };
            if present > 0.0 {
                target[class] / present
            } else {
                0.0
            }
        };
        let largest = (0..target.len()).map(demand).fold(0.0, f64::max);
        chance * largest < demand(class)
    }
}

/// Checks that these are the frequencies of the given number of classes.
fn check_frequencies(name: &str, frequencies: &[f64], num_classes: usize) -> Result<(), Error> {
    if frequencies.len() != num_classes {
        return Err(invalid(format!(
            "expected {num_classes} frequencies in `{name}`, found {}",
            frequencies.len()
        )));
    }
    let wrong = |frequency: &&f64| !(0.0..f64::INFINITY).contains(*frequency);
    if let Some(frequency) = frequencies.iter().find(wrong) {
        return Err(invalid(format!(
            "expected a frequency of at least 0 in `{name}`, found {frequency}"
        )));
    }
    if !frequencies.iter().any(|&frequency| frequency > 0.0) {
        return Err(invalid(format!("expected a frequency above 0 in `{name}`")));
    }
    Ok(())
}

impl Dataset {
    /// Removes random elements of frequent classes, so that the classes get the frequencies of
    /// `target`. `class` returns the class of an element, a number of type `i64`, which becomes the
    /// first component. `initial` has the frequencies of the input; without it, they are estimated
    /// from the elements. Equal seeds make equal choices.
    ///
    /// ```
    /// use tfrt_data::Dataset;
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// // One in four is of class 1, which is wanted as often as class 0.
    /// let numbers = Dataset::range(0, 4000, 1)?;
    /// let is_rare = |x: i64| i64::from(x % 4 == 0);
    /// let fair = numbers.rejection_resample(is_rare, &[0.5, 0.5], Some(&[0.75, 0.25]), 1, 2)?;
    /// let found = fair.elements::<(i64, i64), _>(&ctx).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(found.iter().filter(|(class, _)| *class == 1).count(), 1000);
    /// assert!((1850..2150).contains(&found.len()));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are no classes, a frequency is negative or not finite, or all are zero, `initial`
    /// has another number of classes, the function does not take the components or return a class,
    /// as far as types are known, or datasets are nested too deep.
    pub fn rejection_resample<M>(
        &self,
        class: impl IntoElementFunction<M>,
        target: &[f64],
        initial: Option<&[f64]>,
        seed: i64,
        seed2: i64,
    ) -> Result<Self, Error> {
        let class: ElementFunction = class.into_element_function();
        check_parameters(NAME, &class, &[], self)?;
        check_outer_state(NAME, &class, &[])?;
        check_results(NAME, &class, &ElementTypes::of::<i64>())?;
        check_frequencies("target", target, target.len())?;
        if let Some(initial) = initial {
            check_frequencies("initial", initial, target.len())?;
        }
        Self::new(Resample {
            input: self.clone(),
            class: BoundFunction::new(class, &[]),
            target: target.into(),
            initial: initial.map(Box::from),
            seeds: (seed, seed2),
        })
    }
}
