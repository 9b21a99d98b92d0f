//! `tfrt data bench`: how fast the rows of a file are read.

use std::time::{Duration, Instant};

use tfrt_data::Observation;
use tfrt_host::ExecutionContext;
use tfrt_readers::table::{Table, next_row};
use tfrt_support::Error;

use super::progress::Progress;
use super::{FileArguments, context, failed, open};
use crate::failure::Failure;
use crate::output;
use crate::stages::StagesReport;

/// Reads a file for some seconds, and prints the rate and the times of the stages.
pub(super) fn bench(file: &FileArguments, seconds: f64) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let num_bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    let limit = Duration::from_secs_f64(seconds);
    let progress = Progress::new(None, "reading", &ctx);
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
