//! Models of other systems, measured like functions: a run is one inference, on inputs that are
//! given or random.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tfrt_async::AnyRef;
use tfrt_host::__runtime::FunctionTable;
use tfrt_host::{ExecutionContext, FunctionKind, FunctionRef, HostContext};
use tfrt_import::{ModelValue, Session};
use tfrt_kernels::packed_weights::PackedWeights;
use tfrt_support::Error;
use tfrt_support::escape::escaped;

use super::report::FunctionReport;
use crate::failure::Failure;
use crate::model_errors::described;
use crate::model_file::ModelKind;
use crate::run_model::{self, Missing, ModelArguments};

/// What is measured of a model beyond the times of its runs.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ModelReport {
    /// From the first byte that is read to the finished program.
    pub(super) import_ns: u64,
    /// From the first byte that is read until the model is ready to run.
    pub(super) load_ns: u64,
    /// The first run, which prepares the program for the shapes of its inputs.
    pub(super) first_run_ns: u64,
    /// The memory of intermediate results.
    #[serde(default)]
    pub(super) arena_bytes: u64,
    /// The most bytes of intermediate results that exist at once: the least possible arena.
    #[serde(default)]
    pub(super) live_bytes: u64,
    pub(super) weights_bytes: u64,
    pub(super) packed_bytes: u64,
    /// The most memory that the process has used; 0 if the system does not tell.
    pub(super) peak_rss_bytes: u64,
    /// The operations of a run that kernels report.
    pub(super) flops: u64,
}

/// A model as the only function of a table.
#[derive(Debug)]
struct ModelTable {
    session: Arc<Session>,
    inputs: Vec<(String, ModelValue)>,
}

impl ModelTable {
    fn run(&self) -> Result<Vec<ModelValue>, Error> {
        let inputs = self.inputs.iter();
        let inputs: Vec<(&str, ModelValue)> = inputs
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        self.session.run_values(&inputs)
    }
}

impl FunctionTable for ModelTable {
    fn name(&self, _: u32) -> &str {
        "main"
    }

    fn kind(&self, _: u32) -> FunctionKind {
        FunctionKind::Async
    }

    fn argument_types(&self, _: u32) -> Vec<&str> {
        Vec::new()
    }

    fn result_types(&self, id: u32) -> Vec<&str> {
        vec!["!t.tensor"; self.num_results(id)]
    }

    fn num_arguments(&self, _: u32) -> usize {
        0
    }

    fn num_results(&self, _: u32) -> usize {
        self.session.outputs().len()
    }

    fn attribute_section(&self) -> &[u8] {
        &[]
    }

    fn execute(
        self: Arc<Self>,
        _: u32,
        ctx: &ExecutionContext,
        _: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        match self.run() {
            Ok(outputs) => {
                for (slot, output) in results.iter_mut().zip(outputs) {
                    *slot = Some(match output {
                        ModelValue::Tensor(tensor) => AnyRef::available(tensor),
                        ModelValue::List(list) => AnyRef::available(list),
                    });
                }
            }
            Err(error) => {
                let error = ctx.emit_error(error);
                results.fill(Some(AnyRef::error(error)));
            }
        }
    }

    fn execute_sync(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error> {
        self.execute(id, ctx, arguments, results);
        let mut errors = results.iter().flatten();
        match errors.find_map(|result| result.error_if_present()) {
            Some(error) => Err(Error::new(error.message())),
            None => Ok(()),
        }
    }
}

/// Loads a model and runs it once. Returns it as a function, its session, and what that took.
pub(super) fn load(
    file: &str,
    kind: ModelKind,
    arguments: &ModelArguments,
    host: &Arc<HostContext>,
) -> Result<(FunctionRef, Arc<Session>, ModelReport), Failure> {
    let ready = run_model::ready(file, kind, arguments, Missing::FillIn, host)?;
    let packed_bytes = ready.session.packed_bytes() as u64;
    let session = Arc::new(ready.session);
    let table = ModelTable {
        session: Arc::clone(&session),
        inputs: ready.inputs,
    };
    let start = Instant::now();
    table.run().map_err(|error| {
        Failure::new(format!("error: {}: {}", escaped(file), described(&error)))
    })?;
    let report = ModelReport {
        import_ns: whole_ns(ready.import_time),
        load_ns: whole_ns(ready.load_time),
        first_run_ns: whole_ns(start.elapsed()),
        weights_bytes: ready.weights_bytes as u64,
        packed_bytes,
        ..ModelReport::default()
    };
    Ok((FunctionRef::new(Arc::new(table), 0), session, report))
}

impl ModelReport {
    /// Adds what is known after the runs.
    pub(super) fn finish(
        &mut self,
        host: &HostContext,
        session: &Session,
        functions: &[FunctionReport],
    ) {
        let memory = session.memory();
        self.arena_bytes = memory.held_bytes as u64;
        self.live_bytes = memory.peak_bytes as u64;
        self.packed_bytes += PackedWeights::of(host).num_bytes() as u64;
        self.peak_rss_bytes = peak_rss_bytes();
        let profiles = functions
            .iter()
            .filter_map(|function| function.profile.as_ref());
        self.flops = profiles
            .map(|profile| {
                let all: u64 = profile.kernels.iter().map(|kernel| kernel.flops).sum();
                all / profile.num_runs.max(1)
            })
            .sum();
    }

    /// Returns the report as a line of text.
    pub(super) fn line(&self) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        format!(
            "model: import {:.1} ms, ready after {:.1} ms, first run {:.1} ms; weights {:.1} MiB, packed \
             {:.1} MiB, arena {:.1} MiB for at most {:.1} MiB at once, peak memory {:.1} MiB\n",
            ms(self.import_ns),
            ms(self.load_ns),
            ms(self.first_run_ns),
            mib(self.weights_bytes),
            mib(self.packed_bytes),
            mib(self.arena_bytes),
            mib(self.live_bytes),
            mib(self.peak_rss_bytes),
        )
    }
}

fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the most memory that the process has used, as Linux tells.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}
