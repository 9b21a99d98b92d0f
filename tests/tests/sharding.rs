//! Pipelines that several processes share out among themselves, over the loopback interface: each
//! element is delivered by one of them, whatever the sizes are, and although one is killed.
//!
//! This binary is the workers, too. A worker is told its place, draws its share, and hands each
//! element to the test, which waits for the next one until it has told so. Now and then it hands
//! over a checkpoint. What a killed worker delivered behind its last checkpoint counts for nothing;
//! another worker goes on from there.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt::data::Dataset;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_readers::text::list_files_dataset;
use tfrt_readers::tfrecord::{RecordWriter, tf_record_dataset};

/// Where workers find the test.
const ADDRESS: &str = "TFRT_TEST_SHARDING_ADDRESS";

/// How long a worker may be silent.
const LIMIT: Duration = Duration::from_secs(100);

/// How many elements are between two checkpoints.
const CHECKPOINT_EVERY: usize = 4;

fn main() -> ExitCode {
    if let Ok(address) = env::var(ADDRESS) {
        return match work(&address) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let trials = vec![
        Trial::test("every_element_is_in_one_shard", || {
            for num_elements in [0, 1, 4, 103] {
                for num_shards in [1, 2, 5, 7] {
                    check(Share::Elements, num_elements, num_shards, None)?;
                }
            }
            Ok(())
        }),
        Trial::test("every_file_is_in_one_shard", || {
            for num_shards in [1, 2, 3, 7] {
                check(Share::Files, 40, num_shards, None)?;
            }
            Ok(())
        }),
        Trial::test(
            "a_killed_worker_is_replaced_from_its_last_checkpoint",
            || {
                for share in [Share::Elements, Share::Files] {
                    // Behind nothing, between checkpoints, right behind one, and late.
                    for num_delivered in [0, 2, CHECKPOINT_EVERY, 9] {
                        check(share, 40, 3, Some(num_delivered))?;
                    }
                }
                Ok(())
            },
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What is shared out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Share {
    /// Every worker reads all files, and keeps some of the elements.
    Elements,
    /// Every worker reads some of the files.
    Files,
}

/// The share of one worker of the records in a folder.
fn pipeline(share: Share, folder: &str, num_shards: i64, index: i64) -> Result<Dataset> {
    let records = |path: ByteString| tf_record_dataset(&path.to_string());
    let files = list_files_dataset(folder)?;
    match share {
        Share::Elements => files.flat_map(records)?.shard(num_shards, index),
        Share::Files => files.shard(num_shards, index)?.flat_map(records),
    }
}

/// Draws a share. A line from the test says which one: share, folder, number of shards, index, and
/// the checkpoint to go on from.
fn work(address: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut output = TcpStream::connect(address)?;
    let mut input = BufReader::new(output.try_clone()?).lines();
    let task = input.next().ok_or("expected a task")??;
    let [share, folder, num_shards, index, checkpoint] =
        <[&str; 5]>::try_from(task.split('\t').collect::<Vec<_>>())
            .map_err(|_| "expected a task")?;
    let share = match share {
        "elements" => Share::Elements,
        _ => Share::Files,
    };
    let host = HostContext::builder()
        .queue(tfrt::queue::create_queue("mstd:1,1")?)
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let dataset = pipeline(share, folder, num_shards.parse()?, index.parse()?)?;
    let mut elements = match checkpoint {
        "" => dataset.elements::<ByteString, _>(&ctx),
        checkpoint => dataset.elements_from(&bytes_of(checkpoint)?, &ctx)?,
    };
    let mut num_delivered = 0;
    while let Some(element) = elements.next() {
        writeln!(output, "element {}", element?)?;
        input.next().ok_or("expected an answer")??;
        num_delivered += 1;
        if num_delivered % CHECKPOINT_EVERY == 0 {
            writeln!(output, "checkpoint {}", text_of(&elements.save()?))?;
        }
    }
    writeln!(output, "end")?;
    Ok(())
}

fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let places = (0..text.len()).step_by(2);
    places
        .map(|place| u8::from_str_radix(&text[place..place + 2], 16))
        .collect()
}

/// A folder with records in files of different sizes, some of them empty.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, num_records: usize) -> Result<Self, Failed> {
        let name = format!("sharding-{}-{name}", std::process::id());
        let folder = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        fs::create_dir_all(&folder.0)?;
        let mut next = 0_usize;
        for (number, len) in [0, 3, 1, 20, 0, usize::MAX].into_iter().enumerate() {
            let mut writer = RecordWriter::new(Vec::new());
            let end = num_records.min(next.saturating_add(len));
            for record in next..end {
                writer.write(format!("record {record}").as_bytes())?;
            }
            next = next.max(end);
            fs::write(
                folder.0.join(format!("{number}.tfrecord")),
                writer.finish()?,
            )?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A worker that is gone at the latest when the test is.
struct Worker {
    child: Child,
    input: std::io::Lines<BufReader<TcpStream>>,
    output: TcpStream,
}

impl Worker {
    fn start(task: &str) -> Result<Self, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let child = Command::new(env::current_exe()?)
            .env(ADDRESS, listener.local_addr()?.to_string())
            .stdin(Stdio::null())
            .spawn()?;
        // If it ends before it comes, so does the test, by its own limit.
        let (mut output, _) = listener.accept()?;
        output.set_read_timeout(Some(LIMIT))?;
        writeln!(output, "{task}")?;
        let input = BufReader::new(output.try_clone()?).lines();
        Ok(Self {
            child,
            input,
            output,
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lets workers deliver all shares. If a number is given, the first worker is killed when it has
/// delivered so many elements, and replaced.
fn check(
    share: Share,
    num_records: usize,
    num_shards: usize,
    killed_at: Option<usize>,
) -> Result<(), Failed> {
    let name = format!("{share:?}-{num_records}-{num_shards}-{killed_at:?}");
    let folder = Folder::new(&name, num_records)?;
    let share_name = match share {
        Share::Elements => "elements",
        Share::Files => "files",
    };
    let task = |index: usize, checkpoint: &str| {
        let folder = folder.0.display();
        format!("{share_name}\t{folder}\t{num_shards}\t{index}\t{checkpoint}")
    };
    // All of them run at the same time, and are asked in turns.
    let mut workers = (0..num_shards)
        .map(|index| Worker::start(&task(index, "")))
        .collect::<Result<Vec<_>, _>>()?;
    let mut delivered: BTreeMap<String, usize> = BTreeMap::new();
    let mut killed_at = killed_at;
    for index in 0..num_shards {
        let mut checkpoint = String::new();
        // Behind the last checkpoint.
        let mut recent: Vec<String> = Vec::new();
        let mut num_delivered = 0;
        loop {
            if index == 0 && killed_at == Some(num_delivered) {
                killed_at = None;
                workers[0].child.kill()?;
                workers[0] = Worker::start(&task(0, &checkpoint))?;
                recent.clear();
            }
            let worker = &mut workers[index];
            let line = worker.input.next().ok_or("a worker ended early")??;
            match line.split_once(' ') {
                Some(("element", element)) => {
                    recent.push(element.to_owned());
                    num_delivered += 1;
                    writeln!(worker.output, "next")?;
                }
                Some(("checkpoint", state)) => {
                    checkpoint = state.to_owned();
                    for element in recent.drain(..) {
                        *delivered.entry(element).or_default() += 1;
                    }
                }
                _ => break,
            }
        }
        for element in recent {
            *delivered.entry(element).or_default() += 1;
        }
    }
    let expected = (0..num_records).map(|record| (format!("record {record}"), 1));
    let expected: BTreeMap<String, usize> = expected.collect();
    match delivered == expected {
        true => Ok(()),
        false => Err(format!(
            "{name}: expected each of {num_records} records once, found {delivered:?}"
        )
        .into()),
    }
}
