//! Learns to recognise digits on several tasks that share the work:
//! `cargo run --release -p tfrt-models --example learn_together`.
//!
//! This starts the tasks as processes on this machine: one, two and four of them, which have the
//! same weights up to rounding after the first steps, and recognise as many digits at the end. Then
//! four again, of which one is killed: the others say who died, go on from a checkpoint without it,
//! and recognise as many digits, too.
//!
//! A task does what `task.rs` says. `tfrt launch`, `srun`, `mpirun` or Kubernetes can start the
//! tasks as well: `tfrt launch -n 4 -- target/release/examples/learn_together`.

pub mod launch;

pub mod task;

use tfrt::prelude::*;

use launch::{Kill, Outcome};
use task::Lesson;

tfrt::link!(tfrt_kernels, tfrt_models, tfrt_grpc);

/// As much as the example learns.
const LESSON: Lesson = Lesson {
    num_steps: 400,
    batch_len: 128,
    num_hidden: 128,
    num_tests: 1000,
    steps_per_checkpoint: 50,
};

/// The steps in which the weights stay the same up to rounding.
///
/// Later, rounding may decide whether a sum is above zero, so that a neuron takes part in a step of
/// one run and not in that of another. From there on, the weights drift apart: two runs of 400
/// steps ended with weights that differed by 0.006.
const FIRST_STEPS: Lesson = Lesson {
    num_steps: 20,
    ..LESSON
};

fn main() -> Result<()> {
    if task::is_one() {
        return task::run(LESSON);
    }
    let started = launch::tasks(1, FIRST_STEPS, None)?;
    let alone = launch::tasks(1, LESSON, None)?;
    println!("alone: {alone}");
    assert!(alone.num_right > 500, "a guess is right for one in ten");
    for num_tasks in [2, 4] {
        check_weights(&started, &launch::tasks(num_tasks, FIRST_STEPS, None)?);
        let together = launch::tasks(num_tasks, LESSON, None)?;
        println!("{num_tasks} tasks: {together}");
        check_digits(&alone, &together);
    }
    let kill = Kill { task: 2, step: 200 };
    let survivors = launch::tasks(4, LESSON, Some(kill))?;
    println!("4 tasks, one killed: {survivors}");
    check_digits(&alone, &survivors);
    Ok(())
}

/// Sums of gradients are rounded in another order: nothing else may differ.
pub fn check_weights(alone: &Outcome, together: &Outcome) {
    let distance = alone.distance(together);
    assert!(distance < 1e-3, "the weights differ by {distance}");
    check_digits(alone, together);
}

/// As many digits are recognised, but for those that are hard to tell.
fn check_digits(alone: &Outcome, together: &Outcome) {
    let differing = alone.num_right.abs_diff(together.num_right);
    assert!(differing <= 10, "{alone}, but together {together}");
}
