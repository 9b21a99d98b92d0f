//! Random programs that are written without chains: threaded, and passed on to other passes, they
//! do under every schedule what a sequential interpreter of the same program does.

mod choices;

mod program;

mod text;

mod sequential;

use proptest::prelude::prop;
use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;

use crate::bench::{Behaviour, Bench, num_programs, run_pipeline, runner, text_of};
use choices::{Choices, function};
use program::Program;

/// Every pass, before and after chains are there.
const PIPELINES: &[&str] = &[
    "thread-chains",
    "thread-chains,canonicalize",
    "thread-chains,inline",
    "canonicalize,inline,thread-chains",
    "inline,thread-chains,inline,canonicalize",
];

/// How many orders of tasks are tried for each program and pipeline.
const NUM_ORDERS: u64 = 4;

fn check(bench: &Bench, choices: &[Choices]) -> Result<(), TestCaseError> {
    let program = Program::new(choices);
    let source = text::of(&program);
    let Some(run) = sequential::run(&program) else {
        // It would run for too long.
        return Ok(());
    };
    let original = bench.read_without_chains(&source)?;
    for pipeline in PIPELINES {
        let mut module = original.clone();
        run_pipeline(pipeline, &mut module)?;
        let threaded = text_of(&module);
        let judge = |behaviour: Behaviour| {
            let behaviour = run.settle(behaviour);
            let expected = run.settle(run.behaviour.clone());
            prop_assert_eq!(
                behaviour,
                expected,
                "{}:\n{}\nof\n{}",
                pipeline,
                threaded,
                source
            );
            Ok(())
        };
        for behaviour in bench.run(&module)? {
            judge(behaviour)?;
        }
        for seed in 0..NUM_ORDERS {
            judge(bench.run_in_random_order(&module, seed)?)?;
        }

        let mut again = bench.read(&threaded)?;
        prop_assert_eq!(
            text_of(&again),
            threaded.clone(),
            "{} is read back",
            pipeline
        );
        run_pipeline("thread-chains", &mut again)?;
        prop_assert_eq!(text_of(&again), threaded, "{} is threaded once", pipeline);
    }
    Ok(())
}

#[test]
fn programs_without_chains_do_in_any_order_what_they_do_in_program_order() {
    let bench = Bench::new();
    let programs = prop::collection::vec(function(), 1..5);
    runner(num_programs(60))
        .run(&programs, |choices| check(&bench, &choices))
        .unwrap_or_else(|failure| panic!("{failure}"));
}
