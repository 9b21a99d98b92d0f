//! Models of [`Turn`](super::Turn). What their kernels write has no ordering of its own.

use std::sync::Arc;

use loom::thread::{self, JoinHandle};

use super::*;

/// The kernels of a function of two segments, in order.
struct Function {
    turn: Turn,
    /// Each is 1 once its kernel has run.
    written: [AtomicU32; 3],
    num_runs: [AtomicU32; 3],
    /// The number of times that the second segment was enqueued.
    num_handed: AtomicU32,
}

impl Function {
    fn new() -> Arc<Self> {
        let zeros = || [(); 3].map(|()| AtomicU32::new(0));
        Arc::new(Self {
            turn: Turn::new(),
            written: zeros(),
            num_runs: zeros(),
            num_handed: AtomicU32::new(0),
        })
    }

    /// Runs the kernel at a position, which reads what the kernels before it have written.
    fn run(&self, position: usize) {
        for before in &self.written[..position] {
            assert_eq!(before.load(Ordering::Relaxed), 1, "T3");
        }
        self.written[position].store(1, Ordering::Relaxed);
        self.num_runs[position].fetch_add(1, Ordering::Relaxed);
    }

    /// Leaves the order. What the kernels before the position have written is seen.
    fn leave(&self) -> Position {
        let left = self.turn.leave();
        for before in &self.written[..left.index] {
            assert_eq!(before.load(Ordering::Relaxed), 1, "T3");
        }
        left
    }

    /// Runs a segment of one kernel in order. Returns the position at which the order was left, if
    /// it was.
    fn run_segment(&self, position: usize) -> Option<Position> {
        if !self.turn.begin(position, Phase::Running) {
            return Some(self.leave());
        }
        self.run(position);
        let goes_on = self.turn.finish(position, Phase::Idle);
        (!goes_on).then(|| self.leave())
    }

    /// Runs the first segment, whose kernels end before `end`. It enqueues the second one when it
    /// is at `handed_at`; another thread runs that one at once. Returns the positions at which the
    /// tasks of both segments have left the order, if they have.
    fn run_and_hand_over(
        self: &Arc<Self>,
        handed_at: usize,
        end: usize,
    ) -> (Option<Position>, Option<Position>) {
        let phase_at = |position| match position {
            _ if position == end => Phase::Idle,
            _ if position == handed_at => Phase::Between,
            _ => Phase::Running,
        };
        let mut other = None;
        let mut first = None;
        assert!(self.turn.begin(0, phase_at(0)), "nothing has begun");
        for position in 0..end {
            if position == handed_at {
                other = Some(self.hand_over(end));
                if !self.turn.go_on(position) {
                    first = Some(self.leave());
                    break;
                }
            }
            self.run(position);
            if !self.turn.finish(position, phase_at(position + 1)) {
                first = Some(self.leave());
                break;
            }
        }
        let other = other.expect("the segment is enqueued before the order can be left");
        (first, other.join().expect("a model does not panic"))
    }

    fn hand_over(self: &Arc<Self>, position: usize) -> JoinHandle<Option<Position>> {
        self.num_handed.fetch_add(1, Ordering::Relaxed);
        let function = Arc::clone(self);
        thread::spawn(move || function.run_segment(position))
    }

    fn num_runs(&self) -> Vec<u32> {
        let counts = self.num_runs.iter();
        counts.map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

/// T1 to T3: the second segment begins while the first one runs, or after it. Either it runs in
/// order and reads what the first one has written; or both see one position at which the order was
/// left, and no kernel after it has run.
#[test]
fn loom_a_task_that_comes_early_leaves_the_order() {
    loom::model(|| {
        let function = Function::new();
        let other = {
            let function = Arc::clone(&function);
            thread::spawn(move || function.run_segment(1))
        };
        let first = function.run_segment(0);
        let second = other.join().expect("a model does not panic");
        let runs = function.num_runs();
        match second {
            None => {
                assert_eq!(first, None);
                assert_eq!(runs, [1, 1, 0]);
            }
            Some(left) => {
                assert!(first.is_none_or(|first| first == left));
                assert_eq!(runs[1], 0);
                // The task that was running continues with its kernel.
                assert_eq!(runs[0] == 1, left.index == 1 || left.is_running);
            }
        }
    });
}

/// T3: a task that leaves the order sees what the kernels before the position have written.
#[test]
fn loom_a_task_that_leaves_sees_what_has_run() {
    loom::model(|| {
        let function = Function::new();
        let other = {
            let function = Arc::clone(&function);
            thread::spawn(move || function.leave())
        };
        function.run_segment(0);
        other.join().expect("a model does not panic");
    });
}

/// T1 to T3, with `Between`: a segment of two kernels enqueues another one before its first kernel
/// or between the two, and a thread runs that one at once.
///
/// Either all kernels run in order. Or both tasks see the same position; the kernels before it have
/// run, and the one at it if it was running; a kernel that was not started when the order was left
/// between kernels is not run by anyone who follows the order.
fn check_a_segment_that_hands_over(handed_at: usize) {
    loom::model(move || {
        let function = Function::new();
        let (first, second) = function.run_and_hand_over(handed_at, 2);
        let runs = function.num_runs();
        assert_eq!(function.num_handed.load(Ordering::Relaxed), 1);
        match second {
            None => {
                assert_eq!(first, None);
                assert_eq!(runs, [1, 1, 1]);
            }
            Some(left) => {
                // The order may be left after the first segment has ended, but not before the
                // second one was enqueued.
                assert!(first.is_none_or(|first| first == left));
                assert_eq!(first.is_none(), left.index == 2);
                assert!(left.index >= handed_at);
                let num_run = left.index + usize::from(left.is_running);
                let expected = [0, 1, 2].map(|position| u32::from(position < num_run));
                assert_eq!(runs, expected);
            }
        }
    });
}

#[test]
fn loom_a_segment_hands_over_before_its_first_kernel() {
    check_a_segment_that_hands_over(0);
}

#[test]
fn loom_a_segment_hands_over_between_its_kernels() {
    check_a_segment_that_hands_over(1);
}
