//! One pass over an input pipeline, timed. `tests/benches/data/run` compares it with other
//! libraries.
//!
//! ```text
//! tfrt-benches-data [--threads=N] [--elements=N] [--observe] CASE [PATH]
//!
//! prints: seconds of the pass, elements, bytes of the largest resident set
//! ```
//!
//! With `--observe`, the stages are counted and timed during the pass. `--elements` is for the
//! cases that read nothing.
#![forbid(unsafe_code)]

use std::error::Error as StdError;
use std::process::ExitCode;
use std::time::Instant;

use tfrt::data::{Dataset, Observation, Outcome};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_images::decode::decode;
use tfrt_images::pixels::normalize;
use tfrt_images::resize::{Method, resize};
use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};
use tfrt_readers::csv::CsvOptions;
use tfrt_readers::schema::Schema;
use tfrt_readers::text::list_files_dataset;
use tfrt_readers::tfrecord::{TfRecordOptions, tf_record_dataset};
use tfrt_tensor::DenseHostTensor;

const HELP: &str = "expected one of `draw`, `range`, `arithmetic`, `batches`, `shuffle`, or one of `records`, `examples`, `csv`, `parquet`, `jpeg`, \
                    `png` and `first` with a path";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: &[&str]) -> Result<(), Box<dyn StdError>> {
    let (mut num_threads, mut num_wanted, mut observation) = (2, None, None);
    while let [option, rest @ ..] = arguments
        && option.starts_with("--")
    {
        match option.split_once('=').unwrap_or((option, "")) {
            ("--threads", number) => num_threads = number.parse()?,
            ("--elements", number) => num_wanted = Some(number.parse()?),
            ("--observe", _) => observation = Some(Observation::start()),
            _ => return Err(format!("unknown option `{option}`").into()),
        }
        arguments = rest;
    }
    // Where nothing is read, no thread is needed.
    let queue = match arguments {
        [_] => "s".to_owned(),
        _ => format!("mstd:{num_threads},2"),
    };
    let host = HostContext::builder()
        .queue(tfrt::queue::create_queue(&queue)?)
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let elements = |default: i64| num_wanted.unwrap_or(default);
    let start = Instant::now();
    let num_elements = match *arguments {
        ["draw"] => draw_available(&numbers(elements(10_000_000))?, &ctx),
        ["range"] => sum(&numbers(elements(10_000_000))?, &ctx)?,
        ["arithmetic"] => sum(&arithmetic(elements(10_000_000))?, &ctx)?,
        ["batches"] => {
            let batches = arithmetic(elements(1_000_000))?.batch(256)?;
            draw_all(&batches, &ctx, u64::MAX)?
        }
        ["shuffle"] => {
            let shuffled = numbers(elements(1_000_000))?.shuffle(10_000, 1, 2)?;
            draw_all(&shuffled.batch(32)?, &ctx, u64::MAX)?
        }
        ["records", path] => draw_all(&tf_record_dataset(path)?, &ctx, u64::MAX)?,
        ["examples", path] => {
            let columns: Vec<String> = (0..20).map(|index| format!("f{index}: f32")).collect();
            let schema: Schema = columns.join(", ").parse()?;
            let batches = TfRecordOptions::default().example_batches(path, schema, 128)?;
            draw_all(&batches, &ctx, u64::MAX)?
        }
        ["csv", path] => {
            let columns: Vec<String> = (0..20).map(|index| format!("c{index}: f32")).collect();
            let options = CsvOptions {
                schema: Some(columns.join(", ").parse()?),
                batch_size: Some(1024),
                ..CsvOptions::default()
            };
            draw_all(&options.dataset(path)?, &ctx, u64::MAX)?
        }
        ["parquet", path] => {
            let options = ColumnarOptions {
                batch_size: Some(1 << 16),
                ..ColumnarOptions::default()
            };
            let rows = options.dataset(ColumnarFormat::Parquet, path)?;
            draw_all(&rows, &ctx, u64::MAX)?
        }
        ["jpeg", folder] => draw_all(&photos(folder, &ctx)?, &ctx, u64::MAX)?,
        ["png", folder] => draw_all(&pictures(folder, &ctx)?, &ctx, u64::MAX)?,
        ["first", folder] => draw_all(&tf_record_dataset(folder)?.batch(32)?, &ctx, 1)?,
        _ => return Err(HELP.into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    drop(observation);
    println!("{seconds:.9} {num_elements} {}", largest_resident_bytes());
    Ok(())
}

fn numbers(len: i64) -> Result<Dataset> {
    Dataset::range(0, len, 1)
}

fn arithmetic(len: i64) -> Result<Dataset> {
    let next = numbers(len)?.map(|x: i64| x + 1)?;
    next.filter(|x: i64| x % 2 == 0)
}

/// Draws elements that are available, and nothing else; returns how many there are.
fn draw_available(dataset: &Dataset, ctx: &ExecutionContext) -> u64 {
    let mut iterator = dataset.iterator();
    let mut num_elements = 0;
    while let Ok(Outcome::Element(values)) = iterator.draw(ctx).into_outcome() {
        std::hint::black_box(values);
        num_elements += 1;
    }
    num_elements
}

/// Adds numbers up; returns how many there are.
fn sum(dataset: &Dataset, ctx: &ExecutionContext) -> Result<u64> {
    let (mut sum, mut num_elements) = (0_i64, 0);
    for number in dataset.elements::<i64, _>(ctx) {
        sum = sum.wrapping_add(number?);
        num_elements += 1;
    }
    std::hint::black_box(sum);
    Ok(num_elements)
}

/// Draws elements whatever they are, and waits for each.
fn draw_all(dataset: &Dataset, ctx: &ExecutionContext, max_elements: u64) -> Result<u64> {
    let mut iterator = dataset.iterator();
    let mut num_elements = 0;
    while num_elements < max_elements {
        let outcome = match iterator.draw(ctx).into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => {
                let value = pending.as_any().clone();
                ctx.host().await_available(&[value]).map_err(Error::other)?;
                Outcome::of_available(&pending)
            }
        };
        match outcome {
            Outcome::End(_) => break,
            Outcome::Error(error) => return Err(error_of(&error)),
            Outcome::Element(values) => {
                ctx.host().await_available(&values).map_err(Error::other)?;
                match values.iter().find(|value| value.is_error()) {
                    Some(error) => return Err(error_of(error)),
                    None => num_elements += 1,
                }
            }
        }
    }
    Ok(num_elements)
}

fn error_of(value: &AnyRef) -> Error {
    let error = value.error_if_present().cloned();
    error.unwrap_or_else(|| Error::new("expected an error"))
}

/// Photos of a folder, 224 by 224 and normalised, in batches of 32.
fn photos(folder: &str, ctx: &ExecutionContext) -> Result<Dataset> {
    let allocator = ctx.allocator().clone();
    let prepare = move |path: ByteString| -> Result<DenseHostTensor> {
        let file = std::fs::read(path.to_string()).map_err(Error::other)?;
        let image = decode(&file, 3, &allocator)?;
        let image = resize(&image, [224, 224], Method::Bilinear, &allocator)?;
        normalize(&image, 1.0 / 255.0, &[0.5], &[0.5], &allocator)
    };
    list_files_dataset(folder)?
        .parallel_map(prepare, -1)?
        .batch(32)?
        .prefetch(1)
}

/// Pictures of a folder, decoded.
fn pictures(folder: &str, ctx: &ExecutionContext) -> Result<Dataset> {
    let allocator = ctx.allocator().clone();
    let prepare = move |path: ByteString| -> Result<DenseHostTensor> {
        let file = std::fs::read(path.to_string()).map_err(Error::other)?;
        decode(&file, 3, &allocator)
    };
    list_files_dataset(folder)?.parallel_map(prepare, -1)
}

/// The most memory that the process has had; zero where the system does not tell.
fn largest_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0) * 1024
}
