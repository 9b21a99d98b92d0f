//! The target of sequences of requests: a task answers each of them as a model says, and has as
//! many objects, payloads, receivers, programs and executions as the model after each.
//!
//! An input is a list of steps of four bytes: what is asked for, in which context and by whom, and
//! what with. All are well formed; most mean something, because there are few contexts, objects and
//! keys.
//!
//! | module | contents |
//! |---|---|
//! | `step` | the steps, and the request of each |
//! | `model` | what a task does |

mod model;

mod step;

use crate::mutate::Random;
use crate::requests::pair::{self, Pair, Pending};

use model::{Answered, Model};
use step::Step;

/// How many steps of an input are taken.
const MAX_STEPS: usize = 64;

/// The contexts that the first task has, too.
const SHARED: [u64; 2] = [1, 2];

/// Takes the steps of an input. Returns `true` if something is under way at the end.
///
/// # Panics
/// If a task and the model differ, something stays, or a task panics.
pub fn compare(input: &[u8]) -> bool {
    let (steps, _) = input.as_chunks::<4>();
    let mut pair = Pair::start();
    for id in SHARED {
        pair.create_on_first(id);
    }
    let (mut model, mut pending): (Model, Vec<(usize, String, Pending)>) = Default::default();
    for (number, bytes) in steps.iter().take(MAX_STEPS).enumerate() {
        let step = Step::parse(*bytes);
        if model.is_ambiguous(&step) {
            continue;
        }
        let request = step.request(&pair, number);
        let text = format!("step {number}, of {:?}: {request:?}", step.caller);
        model.take(number, &step);
        let answer = pair.send(step.caller, request);
        pair.note_context(1, step.context_id);
        pending.push((number, text.clone(), answer));
        pending.retain(|(number, of, answer)| !is_answered(&model, *number, of, answer, &text));
        check_contexts(&pair, &model, &text);
    }
    let is_under_way = !pending.is_empty();
    let pending = pending.into_iter().map(|(_, text, answer)| (text, answer));
    pair.end(pending.collect());
    is_under_way
}

/// Compares what became of a request with the model. Returns `true` if it was answered.
fn is_answered(model: &Model, number: usize, of: &str, answer: &Pending, now: &str) -> bool {
    let (found, expected) = (answer.try_recv().ok(), model.answer(number));
    pair::check_answer(of, found.clone());
    let is_as_expected = match (&found, expected) {
        (None, None) | (Some(Ok(_)), Some(Answered::Done)) | (Some(_), Some(Answered::Ended)) => {
            true
        }
        (Some(Err(errors)), Some(Answered::Failed(code))) => {
            code.is_none_or(|code| errors.code() == code)
        }
        _ => false,
    };
    assert!(
        is_as_expected,
        "{of}\n  expected {expected:?}, found {found:?}\n  after {now}"
    );
    found.is_some()
}

/// Compares what contexts have with the model.
fn check_contexts(pair: &Pair, model: &Model, now: &str) {
    for id in step::CONTEXTS {
        let found = pair.context(1, id).map(|context| {
            let left = context.leftovers();
            [
                ("objects", left.num_objects),
                ("payloads", left.num_payloads),
                ("receivers", left.num_receivers),
                ("programs", context.programs().len()),
                ("executions", context.executions().len()),
            ]
        });
        let expected = model.counts(id);
        assert_eq!(found, expected, "context {id} after {now}");
    }
}

/// Some sequences that make sense.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    step::SEEDS
        .iter()
        .map(|steps| steps.as_flattened().to_vec())
        .collect()
}

/// Returns a sequence with some steps changed. `other` is another one, to take steps of.
#[must_use]
pub fn mutate(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut steps = input.as_chunks::<4>().0.to_vec();
    let (theirs, _) = other.as_chunks::<4>();
    for _ in 0..=random.below(6) {
        let at = random.below(steps.len() + 1);
        let new = [(); 4].map(|()| random.below(256) as u8);
        match random.below(8) {
            0 if at < steps.len() => steps[at][random.below(4)] = new[0],
            1 if at < steps.len() => steps[at] = new,
            2 if at < steps.len() => drop(steps.remove(at)),
            3 if at < steps.len() => {
                let to = random.below(steps.len());
                steps.swap(at, to);
            }
            4 if at < steps.len() => steps.insert(at, steps[at]),
            5 if !theirs.is_empty() => {
                let from = random.below(theirs.len());
                let len = random.below((theirs.len() - from).min(8) + 1);
                steps.splice(at..at, theirs[from..from + len].iter().copied());
            }
            _ => steps.insert(at, new),
        }
    }
    steps.truncate(MAX_STEPS);
    steps.as_flattened().to_vec()
}
