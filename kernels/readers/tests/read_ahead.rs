//! How far readers read ahead, and where they tell it.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use common::{Folder, all, context};
use tfrt_data::{Dataset, Observation, PipelineOptions, WorkAhead};
use tfrt_host::ExecutionContext;
use tfrt_readers::files::{Files, OpenFile};
use tfrt_readers::policy::OnError;
use tfrt_readers::read_ahead::{Element, Format, ReadElements, dataset};
use tfrt_support::Error;

/// How many bytes an element says that it takes.
const LEN_BYTES: usize = 1000;

/// As many numbers as a file says, counted as they are read.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Format for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn open(&self, file: OpenFile, _: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
        let len = String::from_utf8(file.read_whole()?).map_err(Error::other)?;
        Ok(Box::new(Numbers {
            num_left: len.parse().map_err(Error::other)?,
            next: 0,
            num_read: Arc::clone(&self.0),
        }))
    }
}

struct Numbers {
    num_left: usize,
    next: i64,
    num_read: Arc<AtomicUsize>,
}

impl ReadElements for Numbers {
    fn read_element(&mut self, _: &ExecutionContext) -> Option<Result<Element, Error>> {
        self.num_left = self.num_left.checked_sub(1)?;
        self.num_read.fetch_add(1, Ordering::Relaxed);
        self.next += 1;
        Some(Ok(Element::one(self.next - 1, LEN_BYTES)))
    }
}

/// A file of so many elements, and how many were read.
fn counted(folder: &Folder, len: usize) -> (Dataset, Arc<AtomicUsize>) {
    let path = folder.write("numbers", len.to_string());
    let num_read = Arc::default();
    let format = Counted(Arc::clone(&num_read));
    let numbers = dataset(format, &Files::from(&path), OnError::Fail).unwrap();
    (numbers, num_read)
}

/// Keeps other tests away: an observation sees the stages of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many elements are read for the first one.
fn num_read_at_first(change: impl FnOnce(Dataset) -> Dataset) -> usize {
    let folder = Folder::new("read-ahead-first");
    let (numbers, num_read) = counted(&folder, 10_000);
    let mut elements = change(numbers).elements::<i64, _>(&context("mstd:2,1"));
    assert_eq!(elements.next().unwrap().unwrap(), 0);
    num_read.load(Ordering::Relaxed)
}

#[test]
fn sources_read_as_far_ahead_as_the_pipeline_says() {
    let _alone = alone();
    // One more is for the request.
    assert_eq!(num_read_at_first(|numbers| numbers), 81);
    for (num_ahead, expected) in [(1, 2), (5, 6), (300, 301)] {
        let fixed = |numbers: Dataset| numbers.with_read_ahead(num_ahead).unwrap();
        assert_eq!(num_read_at_first(fixed), expected);
        // The outer number counts.
        let inner = |numbers: Dataset| numbers.with_read_ahead(7).unwrap().skip(0).unwrap();
        assert_eq!(num_read_at_first(|numbers| fixed(inner(numbers))), expected);
    }
    let (numbers, _) = counted(&Folder::new("read-ahead-wrong"), 1);
    for wrong in [-2, 0, (1 << 20) + 1] {
        let error = numbers.with_read_ahead(wrong).unwrap_err();
        let expected = format!("read_ahead must be -1 or between 1 and 1048576, not {wrong}");
        assert_eq!(error.message(), expected);
    }
}

#[test]
fn a_tuned_source_stays_within_its_memory() {
    let _alone = alone();
    // The largest number of elements that are held between draws. The elements are drawn until
    // there have been `expected`.
    let max_held = |budget: usize, expected: usize| {
        let folder = Folder::new("read-ahead-budget");
        let (numbers, num_read) = counted(&folder, 1 << 40);
        let ctx = context("mstd:2,1");
        let options = PipelineOptions::default().with_ram_budget(budget as u64);
        options.install(ctx.host());
        let tuned = numbers.with_read_ahead(WorkAhead::tuned(100)).unwrap();
        let mut elements = tuned.elements::<i64, _>(&ctx);
        let (mut num_drawn, mut max_held) = (0, 0);
        while max_held < expected {
            elements.next().unwrap().unwrap();
            num_drawn += 1;
            max_held = max_held.max(num_read.load(Ordering::Relaxed) - num_drawn);
        }
        for _ in 0..1000 {
            elements.next().unwrap().unwrap();
            num_drawn += 1;
            max_held = max_held.max(num_read.load(Ordering::Relaxed) - num_drawn);
        }
        max_held
    };
    // With the one that is handed out.
    assert_eq!(max_held(3 * LEN_BYTES, 2), 2);
    assert_eq!(max_held(4 * LEN_BYTES - 1, 2), 2);
    // The element that is requested is read in any case.
    assert_eq!(max_held(1, 0), 0);
    assert!(max_held(1 << 30, 50) >= 50);
}

#[test]
fn a_source_tells_what_it_has_chosen() {
    let _alone = alone();
    // Stages of files of different names are counted apart.
    let (fixed, tuned) = (
        Folder::new("read-ahead-fixed"),
        Folder::new("read-ahead-tuned"),
    );
    let (others, _) = counted(&fixed, 1 << 40);
    let (numbers, _) = counted(&tuned, 1 << 40);
    let ctx = context("mstd:2,1");
    let observation = Observation::start();
    let fixed = others.with_read_ahead(64).unwrap();
    let tuned = numbers.with_read_ahead(-1).unwrap();
    assert_eq!(fixed.elements::<i64, _>(&ctx).next().unwrap().unwrap(), 0);

    let mut elements = tuned.elements::<i64, _>(&ctx);
    let mut expected = 0..;
    let stages = loop {
        for _ in 0..1000 {
            assert_eq!(elements.next().unwrap().unwrap(), expected.next().unwrap());
        }
        let stages = observation.stages().stages;
        if stages.iter().any(|stage| stage.num_moves > 0) {
            break stages;
        }
    };
    let sources = stages.iter().filter(|stage| stage.name == "counted");
    let chosen: Vec<_> = sources
        .map(|stage| (stage.work_ahead, stage.num_moves > 0))
        .collect();
    let [(Some(64), false), (Some(tuned), true)] = chosen[..] else {
        panic!("{stages:?}");
    };
    assert!(tuned < 1024, "{stages:?}");
}

/// One error, and an element that it cuts short, for which there is no memory.
#[derive(Debug)]
struct Torn;

impl Format for Torn {
    fn name(&self) -> &'static str {
        "torn"
    }

    fn open(&self, _: OpenFile, _: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
        Ok(Box::new(Self))
    }
}

impl ReadElements for Torn {
    fn read_element(&mut self, _: &ExecutionContext) -> Option<Result<Element, Error>> {
        Some(Err(Error::new("the row is torn")))
    }

    fn take_incomplete(&mut self, _: &ExecutionContext) -> Option<Result<Element, Error>> {
        Some(Err(Error::new("no memory")))
    }
}

#[test]
fn an_error_that_ends_a_pass_says_what_was_lost_in_front_of_it() {
    let _alone = alone();
    let folder = Folder::new("read-ahead-torn");
    let path = folder.write("torn", "");
    let lost = " (the incomplete element in front of it is lost: no memory)";
    for (on_error, note) in [
        (OnError::Stop, ""),
        (OnError::Skip { max: 3 }, " (errors skipped before: 3)"),
    ] {
        let torn = dataset(Torn, &Files::from(&path), on_error).unwrap();
        let found: Vec<Result<i64, String>> = all(&torn);
        assert_eq!(found, [Err(format!("the row is torn{note}{lost}"))]);
    }
}

#[test]
fn a_checkpoint_does_not_depend_on_how_far_a_source_reads_ahead() {
    let _alone = alone();
    let folder = Folder::new("read-ahead-saved");
    let (numbers, _) = counted(&folder, 500);
    let ctx = context("mstd:2,1");
    let ahead = |num_ahead: WorkAhead| numbers.with_read_ahead(num_ahead).unwrap();
    let mut saved = ahead(WorkAhead::fixed(7)).elements::<i64, _>(&ctx);
    assert!(saved.by_ref().take(200).map(Result::unwrap).eq(0..200));
    let checkpoint = saved.save().unwrap();
    for num_ahead in [
        WorkAhead::fixed(1),
        WorkAhead::fixed(400),
        WorkAhead::tuned(30),
    ] {
        let ahead = ahead(num_ahead);
        let rest = ahead.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
        assert!(rest.map(Result::unwrap).eq(200..500), "{num_ahead:?}");
    }
}
