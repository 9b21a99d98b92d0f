//! The options that choose a work queue.

use std::borrow::Cow;

use clap::Args;

/// The work queue of a host.
#[derive(Args, Debug)]
pub(crate) struct QueueArguments {
    /// The work queue: `s` runs kernels on the calling thread, `mstd:N,B` on N threads plus B
    /// threads for blocking work
    #[arg(
        long = "work_queue_type",
        value_name = "TYPE[:ARGUMENT]",
        default_value = "s"
    )]
    work_queue_type: String,

    /// The number of threads that run kernels: short for `--work_queue_type=mstd:N`, or `s` for 1
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "work_queue_type",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    threads: Option<u16>,
}

impl QueueArguments {
    /// Returns the description of the queue.
    pub(crate) fn config(&self) -> Cow<'_, str> {
        match self.threads {
            None => Cow::Borrowed(&self.work_queue_type),
            Some(1) => Cow::Borrowed("s"),
            Some(count) => Cow::Owned(format!("mstd:{count}")),
        }
    }
}
