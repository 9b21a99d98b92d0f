//! `tfrt data`: shows, checks and converts files of rows, runs input pipelines, and measures how
//! fast both are.

mod bench;

mod convert;

mod index;

mod inspect;

mod progress;

mod run;

mod target;

mod verify;

use clap::{Parser, Subcommand};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_readers::table::{Table, TableFormat};
use tfrt_support::Error;

use crate::failure::{CliError, Failure};

const EXAMPLES: &str = "\
Examples:
  tfrt data inspect rows.csv                   print the format and the columns
  tfrt data head -n 2 rows.csv                 print the first two rows
  tfrt data convert rows.csv rows.tfrecord     convert a file
  tfrt data verify rows.csv rows.tfrecord      read two files, and list damaged rows
  tfrt data index rows.tfrecord                write an index of the records
  tfrt data run --print pipeline.mlir          print the elements of an input pipeline
  tfrt data bench rows.tfrecord --seconds 0.1  measure the reading speed

Formats: tfrecord (examples, or bytes), csv, txt (lines), parquet, arrow, tar (its files), btf, npy,
npz, safetensors.
Compressed files are decompressed while they are read. Parquet, Arrow and tar require a build with
`--features full`.";

/// Inspect, verify, convert and benchmark files of tabular data, and run input pipelines
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
    /// Read whole files, with all checksums, and print every error
    Verify {
        /// The files to read
        #[arg(required = true)]
        paths: Vec<String>,

        /// The format of the files [default: detected from their content and names]
        #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
        from: Option<TableFormat>,
    },
    /// Write an index of a file of records, for reading them in any order; the format is that of
    /// `tfrecord2idx`
    Index {
        /// The file of records, which must not be compressed
        path: String,

        /// The file to write [default: the path of the records, followed by `.idx`]
        #[arg(long, value_name = "FILE")]
        output: Option<String>,
    },
    /// Draw the elements of the input pipeline that a function of a program returns, and print
    /// their rate and the times of the stages
    Run(run::Arguments),
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
        Action::Inspect { file } => inspect::inspect(file),
        Action::Head { file, rows } => inspect::head(file, *rows),
        Action::Convert { file, output, to } => convert::convert(file, output, *to),
        Action::Verify { paths, from } => verify::verify(paths, *from),
        Action::Index { path, output } => index::write_index(path, output.as_deref()),
        Action::Run(arguments) => run::run(arguments),
        Action::Bench { file, seconds } => bench::bench(file, *seconds),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes away with the test.
    pub(super) struct Folder(std::path::PathBuf);

    impl Folder {
        pub(super) fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("tfrt-data-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        pub(super) fn path(&self, name: &str) -> String {
            self.0.join(name).to_str().unwrap().to_owned()
        }

        pub(super) fn names(&self) -> Vec<String> {
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

    pub(super) fn run_line(line: &[&str]) -> Result<(), Failure> {
        let line = ["data"].iter().chain(line);
        run(&Arguments::try_parse_from(line).unwrap())
    }
}
