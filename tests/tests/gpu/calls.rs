//! The calls that each kernel makes, in which order.
//!
//! `tests/gpu/calls.txt` lists the sequences of calls of each kernel; `TFRT_BLESS=1` writes it
//! anew.
//! Calls after the kernel has returned, of those that wait, are listed as `(later)`.
//!
//! These calls are left out, because they depend on what happened before: changes of the current
//! context; what destroys values, which their last user does; pinned blocks for arrays of pointers,
//! which come from a pool; and the wait of a copy for an earlier copy of the same host memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tfrt::host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt::prelude::*;
use tfrt_gpu::platform::{Gpu, GpuChoice};

use super::program::{Compiled, over_emulated_cuda};

/// Kernels that no program runs here.
const NOT_RUN: &[&str] = &[
    "tfrt_gpu.get_entry_point",
    "tfrt_gpu.streamify",
    "tfrt_gpu.dnn.",
];

/// Marks the beginnings and ends of kernels in the log.
#[derive(Debug)]
struct Marks;

impl TracingSink for Marks {
    fn begin(&self, activity: Activity<'_>) {
        let kernel = activity.kernel.map_or("-", |run| run.name);
        tfrt_emulated_cuda::write_to_log(&format!("begin {kernel}")).unwrap();
    }

    fn end(&self) {
        tfrt_emulated_cuda::write_to_log("end").unwrap();
    }

    fn event(&self, _name: &str) {}
}

/// The sequences of calls, by kernel.
pub type Calls = BTreeMap<String, BTreeSet<String>>;

/// Reads the list in the tree.
pub fn recorded() -> Calls {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let mut calls = Calls::new();
    for line in text.lines() {
        let (kernel, sequence) = line.split_once(':').unwrap();
        let sequences = calls.entry(kernel.to_owned()).or_default();
        sequences.insert(sequence.trim().to_owned());
    }
    calls
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("gpu/calls.txt")
}

/// Whether a call is part of a sequence.
fn counts(kernel: &str, symbol: &str) -> bool {
    let destroys = ["Destroy", "Free", "Unload", "Release", "Unregister"];
    let is_left_out = match symbol {
        "cuCtxSetCurrent" | "cuCtxSynchronize" => true,
        "cuMemHostAlloc" => kernel != "tfrt_gpu.mem.allocate_host",
        "cuEventQuery" => kernel != "tfrt_gpu.event.synchronize",
        "cuStreamSynchronize" => kernel != LATER,
        _ => {
            kernel != "tfrt_gpu.mem.deallocate" && destroys.iter().any(|part| symbol.contains(part))
        }
    };
    !is_left_out
}

/// The name under which calls outside of kernels are listed.
const LATER: &str = "(later)";

/// The kernels that wait, and so make calls after they have returned.
const WAITING: [&str; 4] = [
    "tfrt_gpu.stream.synchronize",
    "tfrt_gpu.event.synchronize",
    "tfrt_gpu.ccl.create",
    "tfrt_gpu.ccl.execute",
];

/// Calls that are left out of the list because they depend on what happened before.
const UNLISTED: [(&str, &str); 3] = [
    ("tfrt_gpu.blas.trsm.batch", "cuMemHostAlloc"),
    ("tfrt_gpu.solver.potrf.batch", "cuMemHostAlloc"),
    ("tfrt_gpu.mem.copy", "cuStreamSynchronize"),
];

/// Whether a kernel makes a call, by the list in the tree.
pub fn makes(recorded: &Calls, kernel: &str, symbol: &str) -> bool {
    let has = |name: &str| {
        let mut sequences = recorded.get(name).into_iter().flatten();
        sequences.any(|sequence| sequence.split(' ').any(|call| call == symbol))
    };
    has(kernel) || (WAITING.contains(&kernel) && has(LATER)) || UNLISTED.contains(&(kernel, symbol))
}

fn read(log: &str) -> Calls {
    let mut calls = Calls::new();
    // By thread: the kernels that run, and their calls so far.
    let mut open: BTreeMap<&str, Vec<(&str, Vec<&str>)>> = BTreeMap::new();
    // By thread: the open group of collectives outside of kernels.
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in log.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let (thread, what) = (words.next().unwrap(), words.next().unwrap());
        let kernels = open.entry(thread).or_default();
        match what {
            "begin" => kernels.push((words.next().unwrap(), Vec::new())),
            "end" => {
                let (kernel, sequence) = kernels.pop().unwrap();
                if kernel.starts_with("tfrt_gpu.") {
                    let sequences = calls.entry(kernel.to_owned()).or_default();
                    sequences.insert(sequence.join(" "));
                }
            }
            symbol => {
                let name = symbol.trim_end_matches("_v2");
                match kernels.last_mut() {
                    // A wait may ask any number of times.
                    Some((_, sequence)) if symbol == "cuEventQuery" && !sequence.is_empty() => {}
                    Some((kernel, sequence)) if counts(kernel, symbol) => sequence.push(name),
                    None if counts(LATER, symbol) => {
                        let group = groups.entry(thread).or_default();
                        group.push(name);
                        // What lies between the start and the end of a group belongs together.
                        if group[0] != "ncclGroupStart" || name == "ncclGroupEnd" {
                            let sequences = calls.entry(LATER.to_owned()).or_default();
                            sequences.insert(std::mem::take(group).join(" "));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    calls
}

#[test]
fn every_kernel_makes_the_recorded_calls() {
    let Ok(log) = over_emulated_cuda("every_kernel_makes_the_recorded_calls") else {
        tracing::set_sink(Some(Arc::new(Marks)));
        tracing::enable(TracingLevel::Debug);
        for program in &Compiled::all() {
            for function in &program.functions {
                let gpu = Gpu::open(GpuChoice::Cuda).unwrap();
                let error = program.run(function, gpu);
                assert!(
                    error.is_none() || ["network", "failing"].contains(&&**function),
                    "{function}: {error:?}"
                );
            }
        }
        return;
    };
    let log = fs::read_to_string(log).unwrap();
    let found = read(&log);
    let mut text = String::new();
    for (kernel, sequences) in &found {
        for sequence in sequences {
            writeln!(text, "{}", format!("{kernel}: {sequence}").trim_end()).unwrap();
        }
    }
    if std::env::var_os("TFRT_BLESS").is_some() {
        fs::write(path(), text).unwrap();
        return;
    }
    assert_eq!(text, fs::read_to_string(path()).unwrap());
    // Every kernel is there.
    let registry = KernelRegistry::from_link().unwrap();
    let names = registry.kernels().map(|kernel| kernel.name().to_owned());
    for name in names.filter(|name| name.starts_with("tfrt_gpu.")) {
        let is_exempt = NOT_RUN.iter().any(|prefix| name.starts_with(prefix));
        assert!(
            is_exempt || found.contains_key(&name),
            "`{name}` is not run"
        );
    }
    // Nothing is left: the last line that counts objects counts none.
    let last = log
        .lines()
        .rfind(|line| line.split(' ').count() == 4)
        .unwrap();
    assert!(last.ends_with(" 0"), "{last}");
}
