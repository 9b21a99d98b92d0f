//! `tfrt test-model`: runs models on recorded inputs and compares their outputs with recorded ones.
//!
//! A case is a folder with `model.onnx` and folders `test_data_set_K`, each with `input_I.pb` and
//! `output_I.pb`, in the format of the ONNX project; or a StableHLO file whose functions compare
//! their results: see `stablehlo`. Each case runs on a separate thread, so one that panics or takes
//! too long does not affect others. The memory of runs is filled with a pattern before it is used,
//! so that kernels that read what they have not written are found.

mod stablehlo;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use clap::Parser;
use serde::{Deserialize, Serialize};
use tfrt_host::allocator::ArenaAllocator;
use tfrt_host::{HostContext, RequestContext, RequestContextBuilder};
use tfrt_import::compare::{self, Tolerance};
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::{Limits, ModelValue, Session};
use tfrt_onnx::graph::ValueType;
use tfrt_onnx::import::{ImportFailure, Options};
use tfrt_onnx::{Model, OnnxOps, tensor_file, test_case};
use tfrt_support::escape::escaped;
use tfrt_tensor::ListHostTensor;

use crate::failure::{CliError, Failure, WithCauses};
use crate::front_end::FrontEnd;
use crate::import::counted;
use crate::libraries::LibraryArguments;
use crate::model_errors::described;
use crate::model_limits::ModelLimitArguments;
use crate::output;
use crate::rewrites::{self, RewriteArguments};
use crate::run;

const EXAMPLES: &str = "\
Examples:
  tfrt test-model test_conv_basic          run one test case
  tfrt test-model --filter conv node/      run all cases in `node/` whose name contains `conv`
  tfrt test-model --outputs out node/      run all cases, and write the computed outputs to `out`
  tfrt test-model abs.mlir                 run a StableHLO file that compares its results

A test case is a folder with `model.onnx`, `test_data_set_0/input_0.pb`, `output_0.pb` and so on. The
exit status is 0 if all cases pass.";

/// The number of failures that are printed in full.
const MAX_SHOWN_FAILURES: usize = 50;

/// Run ONNX test cases and compare the results with the expected outputs
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Test cases, folders of test cases, or StableHLO files
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// A file that lists test cases, one per line
    #[arg(long, value_name = "LIST")]
    cases_from: Option<PathBuf>,

    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// The number of cases to run at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// The maximum time of a case, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    /// The relative tolerance [default: the tolerance of the case, or 1e-3]
    #[arg(long)]
    rtol: Option<f64>,

    /// The absolute tolerance [default: the tolerance of the case, or 1e-7]
    #[arg(long)]
    atol: Option<f64>,

    /// Write computed outputs to this folder, as `CASE/test_data_set_K/output_I.pb`
    #[arg(long, value_name = "DIR")]
    outputs: Option<PathBuf>,

    /// Append the progress and results to a file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,

    #[command(flatten)]
    rewrites: RewriteArguments,

    #[command(flatten)]
    limits: ModelLimitArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Pass,
    /// There is no expectation to compare with.
    Computed,
    Wrong,
    Unsupported,
    Error,
    Timeout,
}

/// A record in the file of events.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Begin {
        case: &'a str,
    },
    End {
        case: &'a str,
        status: Status,
        message: &'a str,
        ms: u64,
    },
}

/// A case: its name and its folder, or its file.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    folder: PathBuf,
}

/// Returns `true` if a path is a StableHLO file, judged by its name alone.
fn is_text(path: &Path) -> bool {
    path.is_file()
        && path
            .extension()
            .is_some_and(|extension| extension == "mlir")
}

/// The result of a case.
#[derive(Debug)]
struct Outcome {
    status: Status,
    message: String,
    /// The ops of its graph.
    ops: Vec<String>,
}

/// Tolerances that a case may state.
#[derive(Default, Deserialize)]
struct CaseData {
    rtol: Option<f64>,
    atol: Option<f64>,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let host = HostContext::builder()
        .registry(Arc::clone(front_end.kernels()))
        .limits(run::default_limits())
        .build();
    let rules = arguments.rewrites.rules()?;
    let cases = find_cases(program, arguments)?;
    if cases.is_empty() {
        return Err(Failure::new(format!(
            "{program}: expected at least one test case, found none"
        )));
    }
    let events = match &arguments.events {
        None => None,
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let failed = |error| failed(program, path, error);
            Some(Mutex::new(file.map_err(failed)?))
        }
    };
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.clamp(1, cases.len()) {
            scope.spawn(|| {
                // Relaxed: the counter orders nothing but itself.
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run_case(case, arguments, &rules, &host, events.as_ref());
                    let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    // Folders of one name are cases of their own.
                    let name = match outcomes.contains_key(&case.name) {
                        true => case.folder.display().to_string(),
                        false => case.name.clone(),
                    };
                    outcomes.insert(name, outcome);
                }
            });
        }
    });
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    output::write("-", report(&outcomes).as_bytes())?;
    let is_good = |outcome: &Outcome| matches!(outcome.status, Status::Pass | Status::Computed);
    match outcomes.values().all(is_good) {
        true => Ok(()),
        false => Err(Failure::Reported),
    }
}

/// Returns the failure to use a file or folder.
fn failed(program: &str, path: &Path, error: std::io::Error) -> Failure {
    Failure::caused(format!("{program}: {}", path.display()), error)
}

fn find_cases(program: &str, arguments: &Arguments) -> Result<Vec<Case>, Failure> {
    let mut paths = arguments.paths.clone();
    if let Some(list) = &arguments.cases_from {
        let text = std::fs::read_to_string(list).map_err(|error| failed(program, list, error))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        paths.extend(lines.map(PathBuf::from));
    }
    let mut cases = Vec::new();
    let mut add = |folder: PathBuf| {
        let name = match is_text(&folder) {
            true => folder.file_stem(),
            false => folder.file_name(),
        };
        let name = name.map_or_else(|| folder.to_string_lossy(), |name| name.to_string_lossy());
        let is_wanted = arguments
            .filter
            .as_ref()
            .is_none_or(|filter| name.contains(filter));
        if is_wanted {
            cases.push(Case {
                name: name.into_owned(),
                folder: folder.clone(),
            });
        }
    };
    for path in paths {
        if path.join("model.onnx").is_file() || path.is_file() {
            add(path);
            continue;
        }
        let entries = std::fs::read_dir(&path).map_err(|error| failed(program, &path, error))?;
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.sort();
        let folders = folders.into_iter();
        folders
            .filter(|folder| folder.join("model.onnx").is_file() || is_text(folder))
            .for_each(&mut add);
    }
    Ok(cases)
}

fn run_case(
    case: &Case,
    arguments: &Arguments,
    rules: &RewriteRules,
    host: &Arc<HostContext>,
    events: Option<&Mutex<std::fs::File>>,
) -> Outcome {
    write_event(events, &Event::Begin { case: &case.name });
    let start = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let (own_case, own_host) = (case.clone(), Arc::clone(host));
    let (rtol, atol) = (arguments.rtol, arguments.atol);
    let folder = arguments
        .outputs
        .as_ref()
        .map(|folder| folder.join(&case.name));
    let rules = rules.clone();
    // A case that takes too long keeps its thread until the process ends.
    let limits = arguments.limits.limits();
    std::thread::spawn(move || {
        let outcome = match own_case.folder.is_file() {
            true => stablehlo::try_case(
                &own_case.folder,
                &own_host,
                &rules,
                &limits,
                [rtol, atol],
                folder.as_deref(),
            ),
            false => try_case(
                &own_case,
                &own_host,
                &rules,
                &limits,
                [rtol, atol],
                folder.as_deref(),
            ),
        };
        let _ = sender.send(outcome);
    });
    let timeout = Duration::from_secs(arguments.timeout);
    let outcome = receiver.recv_timeout(timeout).unwrap_or_else(|error| {
        let (status, message) = match error {
            mpsc::RecvTimeoutError::Timeout => (
                Status::Timeout,
                format!("it ran for more than {} s", arguments.timeout),
            ),
            mpsc::RecvTimeoutError::Disconnected => (Status::Error, "it panicked".to_owned()),
        };
        Outcome {
            status,
            message,
            ops: Vec::new(),
        }
    });
    let event = Event::End {
        case: &case.name,
        status: outcome.status,
        message: &outcome.message,
        ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    write_event(events, &event);
    outcome
}

fn write_event(events: Option<&Mutex<std::fs::File>>, event: &Event<'_>) {
    let Some(file) = events else {
        return;
    };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    if let Ok(line) = serde_json::to_string(event) {
        // Whoever reads the events sees that they end.
        let _ = writeln!(file, "{line}");
        let _ = file.flush();
    }
}

/// Returns a request whose memory is filled with a pattern.
fn poisoned_request(host: &Arc<HostContext>) -> Arc<RequestContext> {
    let arena = ArenaAllocator::new_poisoned(Arc::clone(host.allocator()));
    let request = RequestContextBuilder::new(Arc::clone(host)).allocator(Arc::new(arena));
    request.build()
}

fn try_case(
    case: &Case,
    host: &Arc<HostContext>,
    rules: &RewriteRules,
    limits: &Limits,
    [rtol, atol]: [Option<f64>; 2],
    outputs: Option<&Path>,
) -> Outcome {
    let mut ops = Vec::new();
    let ended = |status: Status, message: String| (status, message);
    let mut attempt = || -> Result<(Status, String), (Status, String)> {
        let error = |error: &(dyn std::error::Error + 'static)| {
            ended(Status::Error, WithCauses(error).to_string())
        };
        let model = Model::open(case.folder.join("model.onnx"), limits).map_err(|e| error(&e))?;
        ops = model
            .graph()
            .nodes
            .iter()
            .map(|node| node.op.clone())
            .collect();
        ops.sort();
        ops.dedup();
        let mut options = Options::default();
        options.limits = limits.clone();
        options.ops = OnnxOps::of_kernels(host.registry());
        let mut program = model.import(&options).map_err(|failure| match &failure {
            ImportFailure::Unsupported(_) => ended(Status::Unsupported, failure.to_string()),
            ImportFailure::Broken(_) => error(&failure),
        })?;
        rewrites::apply(&mut program, rules, host, limits).map_err(|e| error(&e))?;
        let session = Session::load_as_is(program, "model.onnx", host).map_err(|e| error(&e))?;
        let data = std::fs::read(case.folder.join("data.json"));
        let data: CaseData = data
            .ok()
            .and_then(|data| serde_json::from_slice(&data).ok())
            .unwrap_or_default();
        let tolerance = Tolerance {
            relative: rtol.or(data.rtol).unwrap_or(1e-3),
            absolute: atol.or(data.atol).unwrap_or(1e-7),
            ulps: 0,
        };
        let mut is_compared = false;
        // The first difference. Later data sets are run all the same, as their outputs are wanted.
        let mut first_wrong = None;
        for set in 0.. {
            let folder = case.folder.join(format!("test_data_set_{set}"));
            if !folder.is_dir() {
                break;
            }
            let mut inputs = Vec::new();
            for (index, name) in session.inputs().iter().enumerate() {
                let path = folder.join(format!("input_{index}.pb"));
                let declared = model.inputs().find(|input| input.name == *name);
                let ty = declared.map_or(&ValueType::Unknown, |input| &input.ty);
                let value = match path.exists() || !matches!(ty, ValueType::Optional(_)) {
                    true => read_value(&path, ty, limits).map_err(|e| error(&e))?,
                    // A value that is absent has no file.
                    false => ListHostTensor::absent().into(),
                };
                inputs.push((name.as_str(), value));
            }
            let found = session
                .run_values_in_request(&poisoned_request(host), &inputs)
                .map_err(|error| ended(Status::Error, described(&error)))?;
            let types: Vec<&ValueType> = model.outputs().iter().map(|output| &output.ty).collect();
            if let Some(outputs) = outputs {
                let to = outputs.join(format!("test_data_set_{set}"));
                write_outputs(&to, session.outputs(), &types, &found).map_err(|e| error(&e))?;
            }
            let beyond = folder.join(format!("output_{}.pb", found.len()));
            if beyond.exists() {
                let message = format!("data set {set}: the model has only {} outputs", found.len());
                first_wrong.get_or_insert(message);
                continue;
            }
            for (index, found) in found.iter().enumerate() {
                let path = folder.join(format!("output_{index}.pb"));
                if !path.exists() {
                    continue;
                }
                is_compared = true;
                let expected = read_value(&path, types[index], limits).map_err(|e| error(&e))?;
                let is_random = test_case::is_random(&model);
                let compared = compare::compare_values(found, &expected, tolerance, is_random);
                if let Err(difference) = compared {
                    let name = escaped(&session.outputs()[index]).to_string();
                    let place = format!("data set {set}, output `{name}`");
                    let wrong = CliError::caused(place, difference);
                    first_wrong.get_or_insert_with(|| WithCauses(&wrong).to_string());
                }
            }
        }
        if let Some(message) = first_wrong {
            return Err(ended(Status::Wrong, message));
        }
        Ok(ended(
            if is_compared {
                Status::Pass
            } else {
                Status::Computed
            },
            String::new(),
        ))
    };
    let (status, message) = match attempt() {
        Ok(ended) | Err(ended) => ended,
    };
    Outcome {
        status,
        message,
        ops,
    }
}

fn read_value(path: &Path, ty: &ValueType, limits: &Limits) -> Result<ModelValue, CliError> {
    let place = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| CliError::caused(&*place, error))?;
    tensor_file::read_value(bytes, ty, limits).map_err(|error| CliError::caused(&*place, error))
}

fn write_outputs(
    folder: &Path,
    names: &[String],
    types: &[&ValueType],
    values: &[ModelValue],
) -> Result<(), CliError> {
    let place = folder.display().to_string();
    std::fs::create_dir_all(folder).map_err(|error| CliError::caused(&*place, error))?;
    for (index, (name, value)) in names.iter().zip(values).enumerate() {
        let bytes = tensor_file::write_value(name, value, types[index]);
        let bytes = bytes.map_err(|error| CliError::caused(&*place, error))?;
        let path = folder.join(format!("output_{index}.pb"));
        std::fs::write(path, bytes).map_err(|error| CliError::caused(&*place, error))?;
    }
    Ok(())
}

/// Returns the number of passing cases of each op, the failures, and the number of cases with each
/// outcome.
fn report(outcomes: &BTreeMap<String, Outcome>) -> String {
    let mut ops: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut statuses: BTreeMap<Status, usize> = BTreeMap::new();
    let mut failures = String::new();
    let mut num_failures = 0;
    for (name, outcome) in outcomes {
        let is_good = matches!(outcome.status, Status::Pass | Status::Computed);
        *statuses.entry(outcome.status).or_default() += 1;
        for op in &outcome.ops {
            let (passed, all) = ops.entry(op).or_default();
            *passed += usize::from(is_good);
            *all += 1;
        }
        if !is_good {
            num_failures += 1;
            if num_failures <= MAX_SHOWN_FAILURES {
                let status = name_of(outcome.status);
                failures.push_str(&format!("{name}: {status}: {}\n", outcome.message));
            }
        }
    }
    let mut text = String::new();
    for (op, (passed, all)) in ops {
        text.push_str(&format!("{}\t{passed} of {all}\n", escaped(op)));
    }
    text.push_str(&failures);
    if num_failures > MAX_SHOWN_FAILURES {
        text.push_str(&format!("and {} more\n", num_failures - MAX_SHOWN_FAILURES));
    }
    let counts = statuses
        .iter()
        .map(|(&status, count)| format!("{count} {}", name_of(status)));
    text.push_str(&format!(
        "{}: {}\n",
        counted(outcomes.len(), "case"),
        counts.collect::<Vec<_>>().join(", ")
    ));
    text
}

fn name_of(status: Status) -> &'static str {
    match status {
        Status::Pass => "pass",
        Status::Computed => "computed",
        Status::Wrong => "wrong",
        Status::Unsupported => "unsupported",
        Status::Error => "error",
        Status::Timeout => "timeout",
    }
}
