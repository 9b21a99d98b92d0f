//! Jobs: blocks that anybody may run, each once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_compute::convolution::{Conv2dShape, Convolution, ConvolutionOperands, Padding, Window};
use tfrt_compute::job::{Job, Plan, Progress};
use tfrt_compute::parallel::{Parallel, ScopedThreads, Serial};
use tfrt_compute::rows::RowPlan;

use crate::support::{Random, run};

#[test]
fn the_last_block_finishes_the_job_whoever_runs_it() {
    let mut random = Random::new(50);
    let window = Window::new(40, 3, 1, 1, Padding::Same).expect("a window");
    let shape = Conv2dShape::new(1, window, window, 8, 40).expect("a shape");
    let plan = Convolution::new(shape, 4);
    let (input, filter) = (
        random.f32s(shape.input_len()),
        random.f32s(shape.filter_len()),
    );
    let mut packed = vec![0.0; plan.packed_filter_len()];
    plan.pack_filter(&filter, &mut packed).expect("lengths");
    let expected = run(
        &plan,
        &Serial,
        ConvolutionOperands::new(&input, &packed),
        vec![0.0; shape.output_len()],
    );

    let job = Arc::new(Job::new(plan, vec![0.0; shape.output_len()]).expect("lengths"));
    assert!(job.blocks() > 3, "several threads have something to do");
    let operands = Arc::new((input, packed));
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let (job, operands) = (Arc::clone(&job), Arc::clone(&operands));
            std::thread::spawn(move || {
                let mut workspace = vec![0.0; job.workspace_len()];
                let operands = ConvolutionOperands::new(&operands.0, &operands.1);
                let blocks = (thread..job.blocks()).step_by(3);
                blocks
                    .filter(|&block| {
                        job.run_block(block, operands, &mut workspace)
                            .expect("lengths")
                            == Progress::Finished
                    })
                    .count()
            })
        })
        .collect();
    let finished: usize = threads
        .into_iter()
        .map(|thread| thread.join().expect("no panic"))
        .sum();
    assert_eq!(finished, 1);
    let job = Arc::try_unwrap(job).expect("all threads are done");
    assert_eq!(job.into_output(), expected);
}

#[test]
fn a_block_runs_once() {
    let plan = RowPlan::<u8>::new(4, 1, 1, 1).expect("a shape");
    let job = Job::new(plan, [0_u8; 4]).expect("lengths");
    let fill = |_: std::ops::Range<usize>, part: &mut [u8]| part.fill(1);
    assert_eq!(
        job.run_block(0, &fill, &mut []).expect("lengths"),
        Progress::Finished
    );
    let again = catch_unwind(AssertUnwindSafe(|| job.run_block(0, &fill, &mut [])));
    assert_eq!(
        again
            .expect_err("a second run")
            .downcast_ref::<String>()
            .expect("a message"),
        "block 0 ran twice"
    );
    assert!(
        catch_unwind(AssertUnwindSafe(|| job.run_block(1, &fill, &mut []))).is_err(),
        "there is no such block"
    );
    assert_eq!(job.into_output(), [1; 4]);
}

#[test]
fn a_dropped_job_frees_its_output() {
    struct Counted(Vec<u8>, Arc<AtomicUsize>);
    impl AsMut<[u8]> for Counted {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let plan = RowPlan::<u8>::new(3, 1, 0, 1).expect("a shape");
    drop(Job::new(plan.clone(), Counted(vec![0; 3], Arc::clone(&dropped))).expect("lengths"));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    assert!(Job::new(plan.clone(), Counted(vec![0; 2], Arc::clone(&dropped))).is_err());
    assert_eq!(
        dropped.load(Ordering::Relaxed),
        2,
        "a refused output is dropped"
    );
    let output = Job::new(plan, Counted(vec![7; 3], Arc::clone(&dropped)))
        .expect("lengths")
        .into_output();
    assert_eq!(
        (dropped.load(Ordering::Relaxed), &output.0[..]),
        (2, &[7; 3][..])
    );
}

/// Runs some blocks twice, or leaves some out.
struct Faulty {
    runs: Vec<usize>,
}

impl Parallel for Faulty {
    fn width(&self) -> usize {
        4
    }

    fn run(&self, _: usize, body: &(dyn Fn(usize) + Sync)) {
        self.runs.iter().for_each(|&block| body(block));
    }
}

#[test]
fn faulty_parallels_are_noticed() {
    let plan = RowPlan::<u8>::new(2, 1, 1 << 19, 2).expect("a shape");
    assert_eq!(plan.blocks(), 2);
    for runs in [vec![0, 0], vec![0], vec![0, 2], vec![]] {
        let faulty = Faulty { runs };
        let result =
            catch_unwind(|| plan.run(&faulty, &|_, part| part.fill(1), &mut [0; 2], &mut []));
        assert!(result.is_err(), "{:?}", faulty.runs);
    }
}

#[test]
fn rows_partition_the_output() {
    for (rows, width) in [(0, 3), (1, 3), (7, 2), (100, 3)] {
        let plan = RowPlan::<u16>::new(rows, 3, usize::MAX, width).expect("a shape");
        let mut output = vec![0; rows * 3];
        let number = |rows: std::ops::Range<usize>, part: &mut [u16]| {
            assert_eq!(part.len(), rows.len() * 3);
            for (row, part) in rows.zip(part.chunks_exact_mut(3)) {
                part.iter_mut().for_each(|x| *x += row as u16 + 1);
            }
        };
        plan.run(&ScopedThreads::new(width), &number, &mut output, &mut [])
            .expect("lengths");
        assert!(
            output
                .iter()
                .enumerate()
                .all(|(place, &x)| x as usize == place / 3 + 1),
            "each row once"
        );
    }
}
