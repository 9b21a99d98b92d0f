//! The order of effects, and their errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tfrt::core::HandlePromise;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{block_on, eager, handle, message};

/// What effects did, in order.
static EFFECTS: Mutex<Vec<f32>> = Mutex::new(Vec::new());

/// Notes the first element.
#[tfrt_op("eager_test.Note", side_effecting)]
fn note(x: &DenseHostTensor) -> Result<()> {
    let first = x.elements::<f32>()?.first().copied().unwrap_or(f32::NAN);
    EFFECTS.lock().unwrap().push(first);
    Ok(())
}

#[test]
fn effects_of_a_thread_keep_their_order() -> Result<()> {
    for queue in ["s", "mstd:4"] {
        let eager = eager(queue);
        EFFECTS.lock().unwrap().clear();
        let note = eager.op("eager_test.Note")?.results(0).ready()?;
        let later = eager.op("tfrt_test.async.noop_no_md")?.ready()?;
        for number in 0..20 {
            let mut x = eager.tensor([number as f32])?;
            if number % 3 == 0 {
                x = later.call(&[&x])?;
            }
            let [] = note.call_array(&[&x])?;
        }
        let done = eager.synchronize();
        let future = std::pin::pin!(done);
        block_on(&eager, future)?;
        let expected: Vec<f32> = (0..20).map(|number| number as f32).collect();
        assert_eq!(*EFFECTS.lock().unwrap(), expected, "under {queue}");
    }
    Ok(())
}

/// The number of times that it was called.
static NUM_CALLS: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls.
#[tfrt_op("eager_test.Counted", side_effecting)]
fn counted(_x: &DenseHostTensor) {
    NUM_CALLS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn error_that_a_call_returned_is_not_told_again() {
    let eager = eager("s");
    let x = eager.tensor([1.5_f32]).expect("there is memory");
    let counted = eager.op("eager_test.Counted").expect("it is linked");
    let counted = counted.ready().expect("no attributes");
    assert!(message(counted.call_array::<0>(&[])).contains("operand"));
    assert_eq!(message(counted.call_array::<0>(&[&x])), "no error");
    assert_eq!(NUM_CALLS.load(Ordering::Relaxed), 1);
}

#[test]
fn synchronize_is_about_the_thread_that_called_it() -> Result<()> {
    let eager = eager("s");
    let later = eager.op("tfrt_test.async.noop_no_md")?;
    let later = later.call(&[&eager.tensor([1.0_f32])?])?;
    // Nobody is told of this error by the call.
    let bad = handle(eager.op("tfrt_test.cast")?.call(&[&later]));
    let note = eager.op("eager_test.Note")?.results(0).ready()?;
    let [] = note.call_array(&[&bad])?;
    let done = eager.synchronize();
    let elsewhere = {
        let eager = Arc::clone(&eager);
        std::thread::spawn(move || message(block_on(&eager, std::pin::pin!(done))))
    };
    let told = elsewhere.join().expect("it does not panic");
    assert_eq!(told, "missing 'type' attribute");
    let again = message(block_on(&eager, std::pin::pin!(eager.synchronize())));
    assert_eq!(again, "no error", "it was told once");
    Ok(())
}

/// What effects of several classes did, in order.
static ORDER: Mutex<Vec<&str>> = Mutex::new(Vec::new());

/// Notes that it ran.
#[tfrt_op("eager_test.NoteOne", effect = "one")]
fn note_one(_x: &DenseHostTensor) {
    ORDER.lock().unwrap().push("one");
}

/// Notes that it ran.
#[tfrt_op("eager_test.NoteTwo", effect = "two")]
fn note_two(_x: &DenseHostTensor) {
    ORDER.lock().unwrap().push("two");
}

/// Notes that it ran; nobody knows what else it does.
#[tfrt_op("eager_test.NoteAny", raw, side_effecting)]
fn note_any(_call: &mut OpCall<'_>) {
    ORDER.lock().unwrap().push("any");
}

#[test]
fn effects_wait_for_those_of_their_class() -> Result<()> {
    let eager = eager("s");
    let op = |name: &str| eager.op(name)?.results(0).ready();
    let (one, two) = (op("eager_test.NoteOne")?, op("eager_test.NoteTwo")?);
    let any = op("eager_test.NoteAny")?;
    let x = eager.tensor([1.0_f32])?;
    let (promise, pending) = HandlePromise::new();
    let [] = one.call_array(&[&pending])?;
    let [] = one.call_array(&[&x])?;
    assert!(ORDER.lock().unwrap().is_empty(), "the second one waits");
    let [] = two.call_array(&[&x])?;
    assert_eq!(*ORDER.lock().unwrap(), ["two"], "another class does not");
    let [] = any.call_array(&[&x])?;
    let [] = two.call_array(&[&x])?;
    let done = eager.synchronize();
    assert_eq!(*ORDER.lock().unwrap(), ["two"], "all wait");
    promise.forward_to(&x);
    block_on(&eager, std::pin::pin!(done))?;
    let expected = ["two", "one", "one", "any", "two"];
    assert_eq!(*ORDER.lock().unwrap(), expected);
    Ok(())
}

/// Fails when it runs.
#[tfrt_op("eager_test.FailOne", effect = "one")]
fn fail_one(x: &DenseHostTensor) -> Result<()> {
    let first = x.elements::<f32>()?.first().copied().unwrap_or_default();
    Err(Error::new(format!("no effect of {first}")))
}

/// Fails when it runs.
#[tfrt_op("eager_test.FailTwo", effect = "two")]
fn fail_two(x: &DenseHostTensor) -> Result<()> {
    fail_one(x)
}

#[test]
fn errors_of_two_classes_are_told_one_after_the_other() -> Result<()> {
    let eager = eager("s");
    let (promise, pending) = HandlePromise::new();
    for name in ["eager_test.FailTwo", "eager_test.FailOne"] {
        let [] = eager
            .op(name)?
            .results(0)
            .ready()?
            .call_array(&[&pending])?;
    }
    promise.forward_to(&eager.tensor([2.5_f32])?);
    let synchronize = || block_on(&eager, std::pin::pin!(eager.synchronize()));
    let describe = |outcome: Result<()>| {
        let error = outcome.unwrap_err();
        assert_eq!(error.message(), "no effect of 2.5");
        error.kernel().map(str::to_owned)
    };
    assert_eq!(
        describe(synchronize()).as_deref(),
        Some("eager_test.FailTwo")
    );
    assert_eq!(
        describe(synchronize()).as_deref(),
        Some("eager_test.FailOne")
    );
    synchronize()
}
