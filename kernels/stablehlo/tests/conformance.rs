//! The files of the StableHLO project that compare what they compute: each holds, fused and as it
//! is, on one thread and on two.
//!
//! `STABLEHLO_TEST_DATA` is a folder of such files, for example `stablehlo/testdata` or
//! `stablehlo/tests/interpret` of that project; folders in it are searched, too.
//!
//! `conformance/pending.txt` lists the files that do not pass, one a line: its name and the
//! outcome. A file that fails without being listed is a failure, and so is one that is listed and
//! passes. `TFRT_BLESS=1` writes the outcomes of this run to the list.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt::host::allocator::ArenaAllocator;
use tfrt::host::{HostContext, RequestContextBuilder};
use tfrt::prelude::KernelRegistry;
use tfrt::queue::create_queue;
use tfrt_import::Limits;
use tfrt_import::rewrite::RewriteRules;
use tfrt_stablehlo::test_case::{CaseFailure, Runner};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

const PENDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/pending.txt");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let Some(data) = std::env::var_os("STABLEHLO_TEST_DATA") else {
        println!("skipped: no StableHLO test data");
        return ExitCode::SUCCESS;
    };
    let kernels = KernelRegistry::from_link().expect("the kernels have names of their own");
    let kernels = Arc::new(kernels);
    let hosts = ["s", "mstd:2"].map(|queue| {
        let host = HostContext::builder().registry(Arc::clone(&kernels));
        host.queue(create_queue(queue).expect("a known queue"))
            .build()
    });
    let hosts = Arc::new(hosts);
    let text = std::fs::read_to_string(PENDING).expect("the list is there");
    let lines = text.lines().map(|line| {
        let (name, status) = line.split_once(' ').expect("a name and an outcome");
        (name.to_owned(), status.to_owned())
    });
    let listed: Arc<BTreeMap<String, String>> = Arc::new(lines.collect());
    let found = Arc::new(Mutex::new((*listed).clone()));
    let files = files(Path::new(&data));
    assert!(!files.is_empty(), "no files in {}", data.display());
    let trials = files.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let (hosts, listed, found) = (hosts.clone(), listed.clone(), found.clone());
        Trial::test(name.clone(), move || {
            let outcomes = run(&path, &hosts);
            // The first way that fails says what comes of the file.
            let failed = outcomes.iter().find(|(_, outcome)| outcome.0 != "pass");
            let (way, Outcome(status, message)) = failed.unwrap_or(&outcomes[0]);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match *status {
                "pass" => found.remove(&name),
                status => found.insert(name.clone(), status.to_owned()),
            };
            let listed = listed.get(&name).map_or("pass", String::as_str);
            match listed == *status {
                true => Ok(()),
                false => Err(Failed::from(format!(
                    "{way}: {listed} is listed, but it is {status}: {message}"
                ))),
            }
        })
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    if std::env::var_os("TFRT_BLESS").is_some() {
        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = found
            .iter()
            .map(|(name, status)| format!("{name} {status}\n"));
        std::fs::write(PENDING, lines.collect::<String>()).expect("the list can be written");
    }
    conclusion.exit_code()
}

/// Returns the files in a folder and in folders in it, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == "mlir") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// What comes of a file, and why.
struct Outcome(&'static str, String);

/// A way to run a file.
#[derive(Clone, Copy)]
struct Way {
    num_threads: usize,
    is_fused: bool,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fused = if self.is_fused { "fused" } else { "as it is" };
        write!(f, "{fused}, number of threads {}", self.num_threads)
    }
}

/// Runs a file in each way.
fn run(path: &Path, hosts: &[Arc<HostContext>; 2]) -> Vec<(Way, Outcome)> {
    let file = std::fs::read(path).expect("the file can be read");
    let file_name = path.display().to_string();
    let ways = [(1, true), (1, false), (2, true)];
    let outcomes = ways.map(|(num_threads, is_fused)| {
        let host = &hosts[num_threads - 1];
        let request = || {
            // Kernels that read what they have not written are found.
            let arena = ArenaAllocator::new_poisoned(Arc::clone(host.allocator()));
            let request = RequestContextBuilder::new(Arc::clone(host));
            request.allocator(Arc::new(arena)).build()
        };
        let rules = match is_fused {
            true => RewriteRules::default(),
            false => RewriteRules::none(),
        };
        let runner = Runner {
            host,
            rules: &rules,
            limits: &Limits::default(),
            request: &request,
            tolerances: [None, None],
            results: &|_, _, _| Ok(()),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| runner.run(&file, &file_name)));
        let way = Way {
            num_threads,
            is_fused,
        };
        let failure = match outcome {
            Ok(outcome) => outcome.failure,
            Err(_) => return (way, Outcome("panic", String::new())),
        };
        let outcome = match failure {
            None => Outcome("pass", String::new()),
            Some(CaseFailure::Unsupported(message)) => Outcome("unsupported", message),
            Some(CaseFailure::Type(message)) => Outcome("wrong", message),
            Some(CaseFailure::Difference(place, difference)) => {
                Outcome("wrong", format!("{place}: {difference}"))
            }
            Some(CaseFailure::Error(error)) => Outcome("error", error.to_string()),
        };
        (way, outcome)
    });
    outcomes.into()
}
