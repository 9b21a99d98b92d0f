//! What an observation says of the stages of pipelines. One observation lives at a time, so that
//! the tests here follow each other.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tfrt_data::{Dataset, IterationResult, Observation, ObservedStages};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// What the stages of a dataset of numbers do in a pass, and its elements.
fn observe(dataset: &Dataset, queue: &str) -> (ObservedStages, Vec<Result<i64, Error>>) {
    let ctx = context(queue);
    let observation = Observation::start();
    let elements = dataset.elements(&ctx).collect();
    (observation.stages(), elements)
}

fn lines(stages: &ObservedStages) -> Vec<String> {
    let line = |stage: &tfrt_data::StageCounts| {
        let indent = 2 * stage.depth;
        format!("{:indent$}{} {}", "", stage.name, stage.num_elements)
    };
    stages.stages.iter().map(line).collect()
}

#[test]
fn every_stage_counts_its_elements() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let small = Dataset::range(0, 3, 1).unwrap();
    let inner = small.clone();
    let dataset = small
        .repeat(2)
        .unwrap()
        .interleave(move |_: i64| inner.map(|x: i64| x + 1), 2, 1)
        .unwrap()
        .filter(|x: i64| x != 2)
        .unwrap();
    for queue in ["s", "mstd:2"] {
        let (stages, elements) = observe(&dataset, queue);
        assert_eq!(elements.len(), 12);
        assert_eq!(
            lines(&stages),
            [
                "filter 12",
                "  interleave 18",
                "    repeat 6",
                "      range 6",
                "    map 18",
                "      range 18"
            ],
            "{queue}"
        );
        assert_eq!(stages.stages[0].num_bytes, 12 * 8);
    }
}

#[test]
fn the_slow_stage_is_the_bottleneck() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let slow = |x: i64| {
        std::thread::sleep(Duration::from_millis(2));
        x
    };
    let numbers = Dataset::range(0, 30, 1).unwrap();
    let inline = numbers.map(slow).unwrap().prefetch(2).unwrap();
    let tasks = numbers.parallel_map(slow, 2).unwrap().skip(1).unwrap();
    for (dataset, queue, name) in [
        (inline, "s", "map"),
        (tasks.clone(), "s", "parallel_map"),
        (tasks, "mstd:2", "parallel_map"),
    ] {
        let (stages, _) = observe(&dataset, queue);
        let slowest = stages.bottleneck().unwrap();
        assert_eq!(stages.stages[slowest].name, name, "{queue}: {stages:?}");
        // Whatever else the machine does: sleeping takes its time.
        assert!(
            stages.own_time(slowest) >= Duration::from_millis(25),
            "{stages:?}"
        );
    }
}

#[test]
fn draws_under_way_are_counted() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // No call ends before all draws were made.
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let waiting = Arc::clone(&gate);
    let wait = move |x: i64| {
        drop(waiting.lock().unwrap_or_else(PoisonError::into_inner));
        x
    };
    let dataset = Dataset::range(0, 3, 1)
        .unwrap()
        .parallel_map(wait, 3)
        .unwrap();
    let ctx = context("mstd:3");
    let observation = Observation::start();
    let mut iterator = dataset.iterator();
    let draws: Vec<IterationResult> = (0..3).map(|_| iterator.draw(&ctx)).collect();
    drop(closed);
    for draw in draws {
        if let Err(pending) = draw.into_outcome() {
            let value = pending.as_any().clone();
            ctx.host().await_available(&[value]).unwrap();
        }
    }
    ctx.host().quiesce().unwrap();
    let stages = observation.stages();
    let map = &stages.stages[0];
    assert_eq!(
        (&*map.name, map.max_under_way, map.num_elements),
        ("parallel_map", 3, 3)
    );
    // They were under way at the same time.
    assert!(map.under_way > map.active, "{map:?}");
}

#[test]
fn errors_are_counted_and_others_are_elements() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let inverse = |x: i64| match x {
        0 => Err(Error::new("no inverse of 0")),
        x => Ok(60 / x),
    };
    let dataset = Dataset::range(-1, 3, 1).unwrap().map(inverse).unwrap();
    let (stages, elements) = observe(&dataset, "s");
    assert_eq!(elements.len(), 4);
    let map = &stages.stages[0];
    assert_eq!((map.num_elements, map.num_errors), (3, 1));
}

#[test]
fn an_observation_changes_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let dataset = Dataset::range(0, 100, 1)
        .unwrap()
        .shuffle(10, 1, 2)
        .unwrap();
    let dataset = dataset.prefetch(3).unwrap();
    let ctx = context("s");
    let plain: Vec<i64> = dataset.elements(&ctx).map(Result::unwrap).collect();
    let observation = Observation::start();
    // A checkpoint goes through, too.
    let mut first = dataset.elements::<i64, _>(&ctx);
    let mut observed: Vec<i64> = first.by_ref().take(40).map(Result::unwrap).collect();
    let checkpoint = first.save().unwrap();
    let rest = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    observed.extend(rest.map(Result::unwrap));
    drop(observation);
    assert_eq!(observed, plain);
}

#[test]
fn stages_that_hold_elements_tell_how_many_bytes() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let range = Dataset::range(0, 1000, 1).unwrap();
    let dataset = range
        .shuffle(100, 1, 2)
        .unwrap()
        .parallel_map(|x: i64| x, 4)
        .unwrap()
        .prefetch(9)
        .unwrap();
    let (stages, elements) = observe(&dataset, "s");
    assert_eq!(elements.len(), 1000);
    let held = stages.stages.iter().map(|stage| stage.max_held_bytes);
    let [Some(prefetch), Some(parallel_map), Some(shuffle), None] = held.collect::<Vec<_>>()[..]
    else {
        panic!("{stages:?}");
    };
    // A number has eight bytes. Those that are pending do not count.
    assert_eq!(shuffle, 800);
    assert!(prefetch <= 80 && parallel_map <= 32, "{stages:?}");
}
