//! Long models: import and rewriting take time in proportion to the length, and a constant stack.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::*;

/// Returns the processor time of this thread.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Imports and rewrites a model on a small stack. Returns the time of each step, and the number of
/// calls in the program before the rewrites.
fn measure(model: &ModelProto, stack_bytes: usize) -> ([Duration; 2], usize) {
    let file = model.encode_to_vec();
    let work = move || {
        let start = thread_time();
        let model = Model::from_bytes(file, &Limits::default()).unwrap();
        let mut program = model.import(&Options::default()).unwrap();
        let imported = thread_time();
        let num_lines = program.text.lines().count();
        program.rewrite_and_fold(&RewriteRules::default(), folding());
        let rewritten = thread_time();
        ([imported - start, rewritten - imported], num_lines)
    };
    let thread = std::thread::Builder::new().stack_size(stack_bytes);
    thread.spawn(work).unwrap().join().unwrap()
}

/// Checks that eight times as much takes far less than sixty-four times as long. Whatever else the
/// machine does can only make it look longer.
fn check(what: &str, model: impl Fn(usize) -> ModelProto, len: usize) {
    let [few_model, many_model] = [len / 8, len].map(model);
    let [first, second] = [(); 2].map(|()| measure(&few_model, STACK_BYTES));
    let few = [0, 1].map(|step| first.0[step].min(second.0[step]));
    for is_last in [false, true] {
        let (many, num_lines) = measure(&many_model, STACK_BYTES);
        assert!(
            num_lines > 7 * first.1,
            "{what}: {} and {num_lines} calls",
            first.1
        );
        if (0..2).all(|step| many[step] < 16 * few[step]) {
            return;
        }
        assert!(
            !is_last,
            "{what}: importing and rewriting took {few:?}, then {many:?}"
        );
    }
}

/// Much less than the recursion over so many nodes would take.
const STACK_BYTES: usize = 512 << 10;

/// The op of each node is another one than that of the next, so that none is repeated in vain.
fn chain(len: usize) -> ModelProto {
    let mut b = Builder::new(1);
    let mut y = b.input("x", &[4]);
    for index in 0..len {
        y = b.op(["Exp", "Neg", "Tanh", "Sin"][index % 4], &[&y]);
    }
    b.model(&[&y])
}

fn sum(len: usize) -> ModelProto {
    let mut b = Builder::new(1);
    let x = b.input("x", &[4]);
    let operands = vec![x.as_str(); len];
    let y = b.op("Sum", &operands);
    b.model(&[&y])
}

#[test]
fn chains_of_nodes_take_linear_time_and_a_constant_stack() {
    check("chain", chain, 100_000);
}

#[test]
fn values_of_many_uses_take_linear_time_and_a_constant_stack() {
    check("sum", sum, 50_000);
}
