//! `tfrt data`: shows and converts files of rows, and measures how fast they are read.

use std::cell::Cell as Slot;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tfrt_async::AnyRef;
use tfrt_data::Observation;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_readers::schema::{Cell, Column};
use tfrt_readers::table::{Table, TableFormat, cells_of, create, next_row};
use tfrt_support::Error;
use tfrt_support::escape::escaped;

use crate::failure::{CliError, Failure};
use crate::output;
use crate::stages::StagesReport;

const EXAMPLES: &str = "\
Examples:
  tfrt data inspect rows.csv                   print the format and the columns
  tfrt data head -n 2 rows.csv                 print the first two rows
  tfrt data convert rows.csv rows.tfrecord     convert a file
  tfrt data bench rows.tfrecord --seconds 0.1  measure the reading speed

Formats: tfrecord (examples, or bytes), csv, txt (lines), parquet, arrow, btf, npy, npz, safetensors.
Compressed files are decompressed while they are read. Parquet and Arrow require a build with
`--features full`.";

/// Inspect, convert and benchmark files of tabular data
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the format, the columns, the first rows and the number of rows of a file; reads the
    /// whole file
    Inspect {
        #[command(flatten)]
        file: FileArguments,
    },
    /// Print the first rows of a file
    Head {
        #[command(flatten)]
        file: FileArguments,

        /// The number of rows to print
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        rows: u64,
    },
    /// Write the rows of a file to another file
    Convert {
        #[command(flatten)]
        file: FileArguments,

        /// The file to write
        output: String,

        /// The format of the output file [default: follows from its extension]
        #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
        to: Option<TableFormat>,
    },
    /// Read a file repeatedly, and print the rate of rows and bytes, and the times of the stages
    Bench {
        #[command(flatten)]
        file: FileArguments,

        /// How long to read, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
        seconds: f64,
    },
}

#[derive(Debug, clap::Args)]
struct FileArguments {
    /// The file to read
    path: String,

    /// The format of the file [default: detected from its content and name]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<TableFormat>,
}

fn parse_format(name: &str) -> Result<TableFormat, CliError> {
    let names = TableFormat::NAMES;
    TableFormat::from_name(name)
        .ok_or_else(|| CliError::new(format!("expected one of {}", names.join(", "))))
}

fn parse_seconds(text: &str) -> Result<f64, CliError> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        _ => Err(CliError::new("expected a positive number")),
    }
}

/// Runs the tool.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.action {
        Action::Inspect { file } => inspect(file),
        Action::Head { file, rows } => head(file, *rows),
        Action::Convert { file, output, to } => convert(file, output, *to),
        Action::Bench { file, seconds } => bench(file, *seconds),
    }
}

/// Returns a request on a queue with one thread for reading.
fn context() -> Result<ExecutionContext, Failure> {
    let queue = create_queue("mstd:1,1").map_err(|error| Failure::caused("error", error))?;
    // What goes wrong is told by the command.
    let host = HostContext::builder()
        .queue(queue)
        .diagnostic_handler(|_| ())
        .build();
    Ok(ExecutionContext::new(
        RequestContextBuilder::new(host).build(),
    ))
}

fn failed(error: &Error) -> Failure {
    Failure::caused("error", error.clone())
}

fn open(file: &FileArguments, ctx: &ExecutionContext) -> Result<Table, Failure> {
    Table::open(&file.path, file.from, ctx).map_err(|error| failed(&error))
}

fn inspect(file: &FileArguments) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let mut text = format!("format: {}\n", table.format().name());
    for column in table.schema().columns() {
        // As a schema of one column.
        let shown = tfrt_readers::schema::Schema::new(vec![column.clone()]);
        let shown = shown.map_or_else(|_| column.name.clone(), |schema| schema.to_string());
        text.push_str(&format!("column: {}\n", escaped(&shown)));
    }
    output::write("-", text.as_bytes())?;
    let progress = Progress::new(table.num_rows(), "reading");
    let (mut num_rows, mut num_errors) = (0_u64, 0_u64);
    let mut iterator = table.rows().iterator();
    let mut first_error = None;
    loop {
        match next_row(&mut iterator, &ctx) {
            Ok(Some(row)) => {
                if num_rows < NUM_INSPECTED {
                    let line = shown_row(&table, &row).map_err(|error| failed(&error))?;
                    output::print_line(&format!("row {num_rows}: {line}"))?;
                }
                num_rows += 1;
            }
            Ok(None) => break,
            Err(error) => {
                num_errors += 1;
                first_error.get_or_insert(error);
            }
        }
        progress.advance_to(num_rows);
    }
    drop(progress);
    output::print_line(&format!("rows: {num_rows}"))?;
    match first_error {
        None => Ok(()),
        Some(error) => Err(Failure::new(format!(
            "error: {} (errors: {num_errors} in total)",
            error.message()
        ))),
    }
}

fn head(file: &FileArguments, max_rows: u64) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let mut iterator = table.rows().iterator();
    for _ in 0..max_rows {
        let Some(row) = next_row(&mut iterator, &ctx).map_err(|error| failed(&error))? else {
            break;
        };
        let line = shown_row(&table, &row).map_err(|error| failed(&error))?;
        output::print_line(&line)?;
    }
    Ok(())
}

/// A row in one line.
fn shown_row(table: &Table, row: &[AnyRef]) -> Result<String, Error> {
    let columns = table.schema().columns().iter().zip(row);
    let fields = columns.map(|(column, value)| {
        let cells = cells_of(value, column)?;
        Ok(format!(
            "{}: {}",
            escaped(&column.name),
            shown(column, &cells)
        ))
    });
    let fields: Vec<String> = fields.collect::<Result<_, Error>>()?;
    Ok(fields.join(", "))
}

/// The number of rows that `inspect` prints.
const NUM_INSPECTED: u64 = 2;

/// The maximum numbers of printed values of a row and characters of a string.
const MAX_VALUES: usize = 8;
const MAX_CHARACTERS: usize = 60;

/// Returns the values of a column in a row, in one line.
fn shown(column: &Column, cells: &[Cell]) -> String {
    let one = |cell: &Cell| match cell {
        Cell::Truth(truth) => truth.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Float(number) if column.dtype == tfrt_support::DType::F32 => {
            (*number as f32).to_string()
        }
        Cell::Float(number) => number.to_string(),
        Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().count() <= MAX_CHARACTERS => format!("\"{}\"", escaped(text)),
            Ok(text) => {
                let start: String = text.chars().take(MAX_CHARACTERS).collect();
                format!("\"{}…\" ({} bytes)", escaped(&start), bytes.len())
            }
            Err(_) => format!("{} bytes", bytes.len()),
        },
    };
    match cells {
        [cell] => one(cell),
        cells => {
            let shown: Vec<String> = cells.iter().take(MAX_VALUES).map(one).collect();
            let dots = if cells.len() > MAX_VALUES {
                ", …"
            } else {
                ""
            };
            format!("[{}{dots}]", shown.join(", "))
        }
    }
}

fn convert(file: &FileArguments, path: &str, stated: Option<TableFormat>) -> Result<(), Failure> {
    let format = stated
        .or_else(|| TableFormat::of_name(path))
        .ok_or_else(|| {
            let names = TableFormat::NAMES.join(", ");
            Failure::new(format!(
                "unknown format of `{path}`: use `--to FORMAT`, where FORMAT is one of {names}"
            ))
        })?;
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let target = Target::new(path);
    let mut writer =
        create(&target.written, format, table.schema()).map_err(|error| failed(&error))?;
    let progress = Progress::new(table.num_rows(), "converting");
    let written = table.write_to(&mut *writer, &ctx, |num_rows| progress.advance_to(num_rows));
    drop(progress);
    drop(writer);
    let num_rows = written.map_err(|error| failed(&error))?;
    target.finish()?;
    output::print_line(&format!("wrote {num_rows} rows to {path}"))
}

/// A file that takes its name only when it is whole: half a file would pass for a whole one, and
/// the file of this name may be the one that is read.
struct Target<'a> {
    path: &'a str,
    /// The path to which the rows are written: the requested path itself, if it is not a file but,
    /// for example, a pipe.
    written: String,
}

impl<'a> Target<'a> {
    fn new(path: &'a str) -> Self {
        let is_other = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let written = match is_other {
            true => path.to_owned(),
            false => format!("{path}.partial-{}", std::process::id()),
        };
        Self { path, written }
    }

    fn finish(self) -> Result<(), Failure> {
        if self.written == self.path {
            return Ok(());
        }
        std::fs::rename(&self.written, self.path).map_err(|error| {
            let path = self.path;
            Failure::caused(format!("error: cannot write `{path}`"), error)
        })
    }
}

impl Drop for Target<'_> {
    /// Removes an incomplete file.
    fn drop(&mut self) {
        if self.written != self.path {
            // After a rename, there is nothing to remove.
            let _ = std::fs::remove_file(&self.written);
        }
    }
}

fn bench(file: &FileArguments, seconds: f64) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let num_bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    let limit = Duration::from_secs_f64(seconds);
    let progress = Progress::new(None, "reading");
    let (mut num_rows, mut num_passes) = (0_u64, 0_u64);
    let mut first_row = None;
    let start = Instant::now();
    while start.elapsed() < limit || num_passes == 0 {
        let mut iterator = table.rows().iterator();
        while next_row(&mut iterator, &ctx)
            .map_err(|error| failed(&error))?
            .is_some()
        {
            first_row.get_or_insert_with(|| start.elapsed());
            num_rows += 1;
            progress.advance_to(num_rows);
        }
        num_passes += 1;
    }
    let elapsed = start.elapsed().as_secs_f64();
    drop(progress);
    let megabytes = (num_bytes * num_passes) as f64 / 1e6;
    let mut text = format!(
        "{num_passes} passes in {elapsed:.3} s: {:.0} rows/s, {:.1} MB/s; first row after {:.3} ms\n\n",
        num_rows as f64 / elapsed,
        megabytes / elapsed,
        first_row.unwrap_or_default().as_secs_f64() * 1e3,
    );
    // To look at the clock for each element takes time, too.
    let stages = observe(&table, limit, &ctx).map_err(|error| failed(&error))?;
    // A string takes all that is written to it.
    let _ = stages.write(&mut text);
    output::write("-", text.as_bytes())
}

/// Observes the stages in a separate pass, which ends after `limit`.
fn observe(table: &Table, limit: Duration, ctx: &ExecutionContext) -> Result<StagesReport, Error> {
    let observation = Observation::start();
    let start = Instant::now();
    let mut iterator = table.rows().iterator();
    while start.elapsed() < limit && next_row(&mut iterator, ctx)?.is_some() {}
    let elapsed = start.elapsed();
    Ok(StagesReport::new(observation.stages(), elapsed))
}

/// The time between two lines of progress.
const PERIOD: Duration = Duration::from_secs(10);

/// The number of rows read so far, on standard error: a bar if that is a terminal, and otherwise a
/// line every ten seconds.
struct Progress {
    bar: ProgressBar,
    what: &'static str,
    num_rows: Option<u64>,
    /// When lines are written.
    lines: Option<Slot<Instant>>,
    start: Instant,
}

impl Progress {
    fn new(num_rows: Option<u64>, what: &'static str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = match is_terminal {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(num_rows, target);
        let template = match num_rows {
            Some(_) => "{msg} [{bar:40}] {pos} of {len} rows, {per_sec}, {eta}",
            None => "{msg} {spinner} {pos} rows, {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        let start = Instant::now();
        Self {
            bar,
            what,
            num_rows,
            lines: (!is_terminal).then(|| Slot::new(start + PERIOD)),
            start,
        }
    }

    /// Shows the number of rows. Redraws rarely, however often this is called.
    fn advance_to(&self, num_rows: u64) {
        if !num_rows.is_multiple_of(256) {
            return;
        }
        self.bar.set_position(num_rows);
        if let Some(next) = &self.lines
            && Instant::now() >= next.get()
        {
            next.set(Instant::now() + PERIOD);
            eprintln!("{}", self.line(num_rows, self.start.elapsed()));
        }
    }

    /// What a line says of so many rows.
    fn line(&self, num_rows: u64, elapsed: Duration) -> String {
        let what = self.what;
        let rate = num_rows as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        match self.num_rows {
            Some(all) => {
                let left = all.saturating_sub(num_rows) as f64 / rate.max(f64::MIN_POSITIVE);
                format!("{what}: {num_rows} of {all} rows, {rate:.0} rows/s, {left:.0} s left")
            }
            None => format!("{what}: {num_rows} rows, {rate:.0} rows/s"),
        }
    }
}

impl Drop for Progress {
    /// Erases the bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_support::DType;

    /// A folder that goes away with the test.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("tfrt-data-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn path(&self, name: &str) -> String {
            self.0.join(name).to_str().unwrap().to_owned()
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap();
            let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<String> = entries
                .map(|entry| name(entry).into_string().unwrap())
                .collect();
            names.sort_unstable();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn run_line(line: &[&str]) -> Result<(), Failure> {
        let line = ["data"].iter().chain(line);
        run(&Arguments::try_parse_from(line).unwrap())
    }

    #[test]
    fn a_file_can_be_converted_onto_itself() {
        let folder = Folder::new("itself");
        let path = folder.path("rows.csv");
        std::fs::write(&path, "b,a\n1,2\n").unwrap();
        run_line(&["convert", &path, &path]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "b,a\n1,2\n");
        assert_eq!(folder.names(), ["rows.csv"]);
    }

    #[test]
    fn a_failed_conversion_leaves_the_old_file() {
        let folder = Folder::new("failed");
        let (from, to) = (folder.path("rows.csv"), folder.path("old.tfrecord"));
        std::fs::write(&from, "a,b\n1,2\n3\n").unwrap();
        std::fs::write(&to, "old").unwrap();
        let Err(Failure::Error(error)) = run_line(&["convert", &from, &to]) else {
            panic!("a row lacks a column");
        };
        let message = crate::failure::WithCauses(&error).to_string();
        assert!(message.contains("rows.csv"), "{message}");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "old");
        assert_eq!(folder.names(), ["old.tfrecord", "rows.csv"]);
    }

    #[test]
    fn lines_of_progress_say_how_long_it_takes() {
        let line = |num_rows| Progress::new(num_rows, "reading").line(500, Duration::from_secs(2));
        assert_eq!(line(None), "reading: 500 rows, 250 rows/s");
        assert_eq!(
            line(Some(1000)),
            "reading: 500 of 1000 rows, 250 rows/s, 2 s left"
        );
    }

    #[test]
    fn long_values_are_cut() {
        let numbers = Column::new("x", DType::I64);
        let many: Vec<Cell> = (0..9).map(Cell::Integer).collect();
        assert_eq!(shown(&numbers, &many), "[0, 1, 2, 3, 4, 5, 6, 7, …]");
        assert_eq!(shown(&numbers, &many[..1]), "0");
        let text = Column::new("s", DType::String);
        let long = Cell::Bytes("é".repeat(61).into_bytes());
        let expected = format!("\"{}…\" (122 bytes)", "é".repeat(60));
        assert_eq!(shown(&text, &[long]), expected);
        assert_eq!(shown(&text, &[Cell::Bytes(vec![0xff; 3])]), "3 bytes");
        assert_eq!(
            shown(&text, &[Cell::Bytes(b"\x1b[2J".to_vec())]),
            "\"\\1B[2J\""
        );
        let float = Column::new("f", DType::F32);
        assert_eq!(shown(&float, &[Cell::Float(f64::from(0.1_f32))]), "0.1");
    }
}
