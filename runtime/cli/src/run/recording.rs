//! The tracing sink of a run, and the file that it writes.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use clap::ValueEnum;
use tfrt_host::log;
use tfrt_host::tracing::{self, DebugSink, SimpleSink, TraceRecorder, TracingLevel, TracingSink};

use crate::failure::Failure;

/// The variable with the file for the trace of a task: see `tfrt launch`.
pub(crate) const TRACE_VARIABLE: &str = "TFRT_TRACE";

/// Returns the file for a trace that the environment names.
pub(crate) fn path_in_environment() -> Option<String> {
    std::env::var(TRACE_VARIABLE)
        .ok()
        .filter(|path| !path.is_empty())
}

/// How much to record, as it is spelled on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LevelName {
    /// The whole run and each function
    Default,
    /// More detail, but not every kernel
    Verbose,
    /// Each kernel
    Debug,
}

/// One of our own sinks, as it is spelled on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SinkName {
    /// Discards all events
    None,
    /// Logs the events of each thread when the thread ends
    Simple,
    /// Prints a line to standard output when a scope begins or ends
    Debug,
}

/// A trace file that is being made. The process records until it is finished.
#[derive(Debug)]
pub(crate) struct Recording {
    path: String,
    /// Opened at the start, so that an unwritable file is reported before a long run. `None` is
    /// standard output.
    file: Option<File>,
    recorder: Arc<TraceRecorder>,
}

impl From<LevelName> for TracingLevel {
    fn from(level: LevelName) -> Self {
        match level {
            LevelName::Default => Self::Default,
            LevelName::Verbose => Self::Verbose,
            LevelName::Debug => Self::Debug,
        }
    }
}

impl SinkName {
    /// Makes it the sink of this process.
    pub(crate) fn register(self) {
        let sink: Option<Arc<dyn TracingSink>> = match self {
            Self::None => None,
            Self::Simple => Some(Arc::new(SimpleSink)),
            Self::Debug => Some(Arc::new(DebugSink::default())),
        };
        tracing::set_sink(sink);
    }
}

impl Recording {
    /// Starts to record for the file at `path`.
    pub(crate) fn start(path: &str, level: TracingLevel) -> Result<Self, Failure> {
        let file = match path {
            "-" => None,
            path => Some(File::create(path).map_err(|error| {
                Failure::caused(format!("cannot open output file '{path}'"), error)
            })?),
        };
        let recorder = Arc::new(TraceRecorder::new());
        tracing::set_sink(Some(Arc::clone(&recorder) as _));
        tracing::enable(level);
        Ok(Self {
            path: path.to_owned(),
            file,
            recorder,
        })
    }

    /// Stops to record and writes the file.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        tracing::disable();
        tracing::set_sink(None);
        let num_dropped = self.recorder.num_dropped();
        if num_dropped > 0 {
            log::warning!(
                "{num_dropped} activities are missing from '{}' because the buffer was full",
                self.path
            );
        }
        let written = match self.file {
            Some(file) => self.recorder.write(BufWriter::new(file)),
            None => self.recorder.write(BufWriter::new(std::io::stdout())),
        };
        written.map_err(|error| {
            let message = format!("cannot write output file '{}'", self.path);
            Failure::caused(message, error)
        })
    }
}
