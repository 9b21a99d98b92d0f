//! Elements that are kept in files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_async::ByteString;
use tfrt_data::Dataset;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_readers::cache::{cache_in_file, snapshot};
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

fn context(queue: &str) -> ExecutionContext {
    let queue = create_queue(queue).unwrap();
    let host = HostContext::builder().queue(queue).build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// A folder that is removed with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("tfrt-kept-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The numbers below `stop`, and how many were made.
fn counted(stop: i64) -> (Dataset, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let numbers = Dataset::range(0, stop, 1).unwrap();
    let made = numbers.map(move |x: i64| {
        counter.fetch_add(1, Ordering::Relaxed);
        match x % 5 {
            3 => Err(Error::new("not this one")),
            _ => Ok(x),
        }
    });
    (made.unwrap(), count)
}

fn items(dataset: &Dataset, ctx: &ExecutionContext) -> Vec<Result<i64, String>> {
    let elements = dataset.elements::<i64, _>(ctx);
    elements
        .map(|item| item.map_err(|error| error.message().to_owned()))
        .collect()
}

#[test]
fn a_second_pass_reads_the_file() {
    for queue in ["s", "mstd:2,1"] {
        let folder = Folder::new(&format!("second-{}", queue.len()));
        let ctx = context(queue);
        let (numbers, count) = counted(100);
        let cached = cache_in_file(&numbers, &folder.file("numbers")).unwrap();
        let expected = items(&numbers, &ctx);
        assert_eq!(
            expected[3],
            Err("not this one, at element 3 of `map`".to_owned())
        );
        count.store(0, Ordering::Relaxed);
        assert_eq!(items(&cached, &ctx), expected);
        assert_eq!(count.load(Ordering::Relaxed), 100);
        assert_eq!(items(&cached, &ctx), expected);
        let again = cache_in_file(&numbers, &folder.file("numbers")).unwrap();
        assert_eq!(items(&again, &ctx), expected);
        assert_eq!(count.load(Ordering::Relaxed), 100, "read from the file");
        assert_eq!(folder.names(), ["numbers"]);
    }
}

#[test]
fn values_of_every_kind_are_kept_in_many_writes() {
    let folder = Folder::new("kinds");
    let ctx = context("mstd:2,1");
    let make = |x: i64| -> Result<(i64, ByteString, DenseHostTensor), Error> {
        let text = ByteString::from(format!("number {x}").as_bytes());
        Ok((x, text, DenseHostTensor::vector(&vec![x as f32; 50_000])?))
    };
    let rows = Dataset::range(0, 40, 1).unwrap().map(make).unwrap();
    let cached = cache_in_file(&rows, &folder.file("rows")).unwrap();
    for _ in 0..2 {
        let elements = cached.elements::<(i64, ByteString, DenseHostTensor), _>(&ctx);
        for (number, row) in elements.enumerate() {
            let (x, text, tensor) = row.unwrap();
            assert_eq!(
                (x, text.to_string()),
                (number as i64, format!("number {x}"))
            );
            assert!(
                tensor
                    .elements::<f32>()
                    .unwrap()
                    .iter()
                    .all(|&y| y == x as f32)
            );
        }
    }
}

#[test]
fn a_pass_that_was_not_finished_leaves_no_file() {
    let folder = Folder::new("unfinished");
    let ctx = context("s");
    let (numbers, _) = counted(10);
    let cached = cache_in_file(&numbers, &folder.file("numbers")).unwrap();
    assert_eq!(cached.elements::<i64, _>(&ctx).take(5).count(), 5);
    let cancelled = context("s");
    let mut elements = cached.elements::<i64, _>(&cancelled);
    assert!(elements.next().unwrap().is_ok());
    cancelled.request().cancel();
    assert!(elements.next().unwrap().is_err());
    drop(elements);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_file_of_another_pipeline_is_replaced() {
    let folder = Folder::new("other");
    let ctx = context("s");
    let cached = |stop| {
        let numbers = Dataset::range(0, stop, 1).unwrap();
        cache_in_file(&numbers, &folder.file("numbers")).unwrap()
    };
    assert_eq!(items(&cached(3), &ctx).len(), 3);
    assert_eq!(items(&cached(5), &ctx).len(), 5);
    assert_eq!(items(&cached(3), &ctx).len(), 3);
    // Side by side in a folder.
    let kept = |stop| {
        let numbers = Dataset::range(0, stop, 1).unwrap();
        snapshot(&numbers, &folder.file("snapshots/deep")).unwrap()
    };
    assert_eq!(
        (items(&kept(3), &ctx).len(), items(&kept(5), &ctx).len()),
        (3, 5)
    );
    let names = fs::read_dir(folder.0.join("snapshots/deep"))
        .unwrap()
        .count();
    assert_eq!(names, 2);
}

#[test]
fn a_file_that_cannot_be_written_is_one_error() {
    let folder = Folder::new("unwritable");
    let ctx = context("s");
    fs::write(folder.file("a file"), "no folder").unwrap();
    let path = folder.file("a file/numbers");
    let numbers = Dataset::range(0, 3, 1).unwrap();
    let cached = cache_in_file(&numbers, &path).unwrap();
    let error = format!("failed to write file {path} due to error: Not a directory");
    assert_eq!(items(&cached, &ctx), [Ok(0), Ok(1), Ok(2), Err(error)]);
}

#[test]
fn every_damage_is_an_error_or_written_anew() {
    let folder = Folder::new("damage");
    let ctx = context("s");
    let path = folder.file("numbers");
    let numbers = Dataset::range(0, 4, 1).unwrap();
    let cached = cache_in_file(&numbers, &path).unwrap();
    let expected = items(&cached, &ctx);
    let whole = fs::read(&path).unwrap();
    let header_len =
        12 + "TFRT elements, version 1\n".len() + numbers.description().to_string().len() + 4;
    let check = |bytes: &[u8], in_header: bool, what: &str| {
        fs::write(Path::new(&path), bytes).unwrap();
        let found = items(&cached, &ctx);
        match in_header {
            // Another pipeline's, as far as anybody can tell.
            true => assert_eq!(found, expected, "{what}"),
            false => assert!(found.iter().any(Result::is_err), "{what}: {found:?}"),
        }
    };
    for len in 0..whole.len() {
        check(&whole[..len], len < header_len, &format!("{len} bytes"));
    }
    for position in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[position] ^= 1 << (position % 8);
        check(&damaged, position < header_len, &format!("byte {position}"));
    }
}

#[test]
fn passes_are_restored_on_both_sides_of_the_file() {
    let folder = Folder::new("restored");
    let ctx = context("mstd:2,1");
    let (numbers, _) = counted(20);
    let cached = cache_in_file(&numbers, &folder.file("numbers")).unwrap();
    let expected = items(&numbers, &ctx);
    for pass in ["first", "second"] {
        for num_drawn in [0, 7, 20] {
            let mut elements = cached.elements::<i64, _>(&ctx);
            assert_eq!(elements.by_ref().take(num_drawn).count(), num_drawn);
            let checkpoint = elements.save().unwrap();
            drop(elements);
            let rest = cached.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
            let rest: Vec<_> = rest
                .map(|item| item.map_err(|error| error.message().to_owned()))
                .collect();
            assert_eq!(rest, expected[num_drawn..], "{pass} pass, {num_drawn}");
        }
        assert_eq!(items(&cached, &ctx), expected);
    }
}
