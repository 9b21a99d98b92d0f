//! The example that learns on several tasks, with less to learn.
//!
//! This binary is the tasks, too.

#[path = "../../examples/learn_together/main.rs"]
#[expect(dead_code, reason = "its `main` trains for longer than a test may")]
mod example;

use std::process::ExitCode;

use example::check_weights;
use example::launch::{self, Kill, Outcome};
use example::task::{self, Lesson};
use libtest_mimic::{Arguments, Failed, Trial};

const LESSON: Lesson = Lesson {
    num_steps: 24,
    batch_len: 24,
    num_hidden: 16,
    num_tests: 60,
    steps_per_checkpoint: 8,
};

fn main() -> ExitCode {
    if task::is_one() {
        return match task::run(LESSON) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let trials = vec![
        Trial::test(
            "tasks_learn_together_what_one_learns_alone",
            tasks_learn_the_same,
        ),
        Trial::test("survivors_go_on_from_a_checkpoint", survivors_go_on),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn learn(num_tasks: usize, kill: Option<Kill>) -> Result<Outcome, Failed> {
    Ok(launch::tasks(num_tasks, LESSON, kill)?)
}

fn tasks_learn_the_same() -> Result<(), Failed> {
    let alone = learn(1, None)?;
    for num_tasks in [2, 4] {
        check_weights(&alone, &learn(num_tasks, None)?);
    }
    Ok(())
}

fn survivors_go_on() -> Result<(), Failed> {
    let alone = learn(1, None)?;
    let survivors = learn(4, Some(Kill { task: 2, step: 16 }))?;
    check_weights(&alone, &survivors);
    for task in [0, 1, 3] {
        let lines = &survivors.lines[task];
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        let is_told = has("/job:worker/task:2") && has("3 tasks go on with step 16");
        if !is_told || has("step 0 ") {
            return Err(format!("task {task} said {lines:?}").into());
        }
    }
    Ok(())
}
