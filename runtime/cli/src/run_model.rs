//! `tfrt run MODEL`: runs a model of another system, ONNX or StableHLO, on tensors from files.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_host::{HostContext, RequestContextBuilder};
use tfrt_import::names::shown;
use tfrt_import::program::{FUNCTION, Program};
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::stored::{WeightCheck, may_be_stored};
use tfrt_import::{ImportError, InputDim, InputType, Limits, Session};
use tfrt_kernels::packed_weights::PackedWeights;
use tfrt_onnx::import::Options;
use tfrt_onnx::{Model, tensor_file};
use tfrt_support::escape::escaped;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::statistics::Statistics;
use tfrt_tensor::{DenseHostTensor, HostBuffer, I1, Shape, Tensor};

use crate::failure::Failure;
use crate::input::Input;
use crate::model_errors::described;
use crate::output;
use crate::rewrites::RewriteArguments;
use crate::run::LimitArguments;
use crate::stored;

/// What `tfrt run` takes for models.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArguments {
    /// An input of an ONNX model, read from a `.pb` file or a format that `tfrt tensors` reads.
    /// `#KEY` selects a tensor in the file. May be repeated
    #[arg(long = "input", value_name = "NAME=FILE[#KEY]")]
    inputs: Vec<String>,

    /// Write an output of an ONNX model to a file, in the format of its extension. May be repeated
    #[arg(long = "output", value_name = "NAME=FILE")]
    outputs: Vec<String>,

    /// The value of a symbolic dimension of random inputs [default: 1]. May be repeated
    #[arg(long = "dim", value_name = "NAME=VALUE")]
    dims: Vec<String>,

    /// Compare the SHA-256 of the files that the weights of an imported program are in, not only
    /// their sizes
    #[arg(long = "verify-weights")]
    verifies_weights: bool,

    #[command(flatten)]
    rewrites: RewriteArguments,
}

impl ModelArguments {
    /// Refuses arguments that a program would ignore.
    pub(crate) fn refuse_for_program(&self) -> Result<(), Failure> {
        let given = [
            ("--input", &self.inputs),
            ("--output", &self.outputs),
            ("--dim", &self.dims),
        ];
        let given = given.iter().find(|(_, values)| !values.is_empty());
        let given = given.map(|(option, _)| *option);
        let verifies = self.verifies_weights.then_some("--verify-weights");
        match given.or(verifies) {
            Some(option) => Err(Failure::Usage(format!(
                "error: `{option}` applies to models, but the file is a program; `--arg` gives \
                 arguments of functions"
            ))),
            None => Ok(()),
        }
    }
}

/// What is done about inputs that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are an error.
    Refuse,
    /// They are random numbers.
    FillIn,
}

/// The format of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelKind {
    Onnx,
    StableHlo,
    /// Bytecode of StableHLO, which only yields an error.
    Bytecode,
    /// A program that `tfrt import` has written.
    Program,
}

/// Returns the format of a model, detected by its content, or `None` if the file is not a model.
/// ONNX models begin with the version of the format, which neither text nor BEF files do; StableHLO
/// is text with ops of its dialect.
pub(crate) fn model_kind(path: &str) -> Option<ModelKind> {
    const FIRST_FIELD: u8 = 0x08;
    const FIRST_OF_BEF: u8 = 0x0B;
    // What can be read only once, such as a pipe, is a program.
    if path == "-" || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = std::fs::File::open(path).ok()?;
    let mut first = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, 4), &mut first).ok()?;
    if *first.first()? == FIRST_FIELD {
        return Some(ModelKind::Onnx);
    }
    if tfrt_stablehlo::is_bytecode(&first) {
        return Some(ModelKind::Bytecode);
    }
    let is_plain = !first[0].is_ascii_control() || first[0].is_ascii_whitespace();
    if !is_plain && *first.first()? != FIRST_OF_BEF {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    if may_be_stored(&bytes) {
        return Some(ModelKind::Program);
    }
    let text = std::str::from_utf8(&bytes).ok().filter(|_| is_plain)?;
    tfrt_stablehlo::is_stablehlo(text).then_some(ModelKind::StableHlo)
}

/// A model that was imported: its program, and for each input what is said of it.
struct LoadedModel {
    program: Program,
    inputs: Vec<(String, String)>,
}

/// Imports a model.
fn load(path: &str, kind: ModelKind) -> Result<LoadedModel, Failure> {
    let file = escaped(path);
    let of_file = || format!("error: {file}");
    match kind {
        ModelKind::Onnx => {
            let model = mapped(path).map_err(|error| Failure::caused("error", error))?;
            let program = model.import(&Options::default());
            let inputs = model.inputs();
            Ok(LoadedModel {
                inputs: inputs
                    .map(|input| (input.name.clone(), input.to_string()))
                    .collect(),
                program: program.map_err(|failure| Failure::caused(of_file(), failure))?,
            })
        }
        ModelKind::Bytecode => Err(bytecode(path)),
        ModelKind::Program => Err(Failure::new(format!(
            "error: {file}: expected a model, found a program"
        ))),
        ModelKind::StableHlo => {
            let model = stablehlo(path)?;
            let options = tfrt_stablehlo::import::Options::default();
            let function = model.function(&options.function);
            let function = function.map_err(|error| Failure::caused(of_file(), error))?;
            let imported = model.import(&options);
            let imported = imported.map_err(|failure| Failure::caused(of_file(), failure))?;
            let inputs = imported.program.inputs.iter().zip(&function.inputs);
            Ok(LoadedModel {
                inputs: inputs
                    .map(|(name, ty)| (name.clone(), format!("{name}: {ty}")))
                    .collect(),
                program: imported.program,
            })
        }
    }
}

/// Maps a model, so that its weights take no memory before they are used.
#[expect(unsafe_code, reason = "maps a file that the user names")]
fn mapped(path: &str) -> Result<Model, ImportError> {
    // SAFETY: 1: whoever runs the command must not change the model meanwhile, as the guide says.
    unsafe { Model::map(path, &Limits::default()) }
}

/// Returns the failure to read bytecode.
pub(crate) fn bytecode(path: &str) -> Failure {
    Failure::caused(
        format!("error: {}", escaped(path)),
        tfrt_stablehlo::BYTECODE_HELP,
    )
}

/// Imports a model, and applies all rewrites.
fn rewritten(path: &str, kind: ModelKind) -> Result<LoadedModel, Failure> {
    let mut model = load(path, kind)?;
    model.program.rewrite(&RewriteRules::default());
    Ok(model)
}

/// Reads a file of StableHLO.
pub(crate) fn stablehlo(path: &str) -> Result<tfrt_stablehlo::HloModel, Failure> {
    let input = Input::read(path)?;
    let model = tfrt_stablehlo::HloModel::from_text(input.text()?, path);
    model.map_err(|error| Failure::caused("error", error))
}

/// Returns the text of the program that a model becomes, under the name of its file.
pub(crate) fn imported(path: &str, kind: ModelKind) -> Result<Input, Failure> {
    if kind == ModelKind::Program {
        return Input::read(path);
    }
    Ok(Input {
        name: path.to_owned(),
        bytes: rewritten(path, kind)?.program.text.into_bytes(),
    })
}

/// A model that is ready to run, and tensors for its inputs.
pub(crate) struct ReadyModel {
    pub(crate) session: Session,
    pub(crate) inputs: Vec<(String, DenseHostTensor)>,
    pub(crate) weights_bytes: usize,
    /// How long the import took, and the loading after it.
    pub(crate) import_time: Duration,
    pub(crate) load_time: Duration,
}

/// A model that is loaded, and for each input what is said of it.
struct Loaded {
    session: Session,
    inputs: Vec<(String, String)>,
    input_types: Vec<Option<InputType>>,
    weights_bytes: usize,
    import_time: Duration,
}

fn load_session(
    file: &str,
    kind: ModelKind,
    arguments: &ModelArguments,
    host: &Arc<HostContext>,
    start: Instant,
) -> Result<Loaded, Failure> {
    if kind == ModelKind::Program {
        return load_stored(file, arguments, host, start);
    }
    if arguments.verifies_weights {
        return Err(Failure::Usage(
            "error: `--verify-weights` applies to programs that `tfrt import` has written"
                .to_owned(),
        ));
    }
    let mut model = load(file, kind)?;
    arguments.rewrites.apply(&mut model.program)?;
    let import_time = start.elapsed();
    let weights = model.program.weights.iter();
    let weights_bytes = weights
        .map(|weight| weight.tensor.buffer().len_bytes())
        .sum();
    let input_types = model.program.input_types.clone();
    Ok(Loaded {
        session: Session::load_as_is(model.program, file, host).map_err(failed)?,
        inputs: model.inputs,
        input_types,
        weights_bytes,
        import_time,
    })
}

/// Loads a program that `tfrt import` has written.
fn load_stored(
    file: &str,
    arguments: &ModelArguments,
    host: &Arc<HostContext>,
    start: Instant,
) -> Result<Loaded, Failure> {
    if arguments.rewrites.are_given() {
        return Err(Failure::Usage(
            "error: `--no-fuse` applies to models: a program was rewritten when it was imported"
                .to_owned(),
        ));
    }
    let check = match arguments.verifies_weights {
        true => WeightCheck::Digest,
        false => WeightCheck::Size,
    };
    let stored = stored::read(file, host.registry(), check)?;
    let stored = stored.ok_or_else(|| {
        Failure::new(format!(
            "error: {}: expected a table of the program's inputs and weights, found none",
            escaped(file)
        ))
    })?;
    let inputs = stored.inputs().map(|(name, declared)| {
        let shown = match declared {
            Some(declared) => format!("{}: {declared}", shown(name)),
            None => shown(name).to_string(),
        };
        (name.to_owned(), shown)
    });
    Ok(Loaded {
        inputs: inputs.collect(),
        input_types: stored.inputs().map(|(_, ty)| ty.cloned()).collect(),
        weights_bytes: stored.weights_bytes(),
        import_time: start.elapsed(),
        session: Session::of_stored(stored, host).map_err(failed)?,
    })
}

/// Imports and loads a model, and reads or makes its inputs.
pub(crate) fn ready(
    file: &str,
    kind: ModelKind,
    arguments: &ModelArguments,
    missing: Missing,
    host: &Arc<HostContext>,
) -> Result<ReadyModel, Failure> {
    let start = Instant::now();
    // The command runs nothing else, so that all weights may be packed.
    PackedWeights::of(host).set_max_bytes(usize::MAX);
    let limits = Limits::default();
    let Loaded {
        session,
        inputs: shown_inputs,
        input_types,
        weights_bytes,
        import_time,
    } = load_session(file, kind, arguments, host, start)?;
    let load_time = start.elapsed() - import_time;
    let mut inputs = Vec::new();
    for given in &arguments.inputs {
        let (name, file) = split(given, session.inputs(), "input")?;
        inputs.push((name.to_owned(), read(file, &limits)?));
    }
    let is_given = |name: &str| inputs.iter().any(|(given, _)| given == name);
    let all = session.inputs().iter().zip(&input_types);
    let absent: Vec<_> = all.filter(|(name, _)| !is_given(name)).collect();
    if missing == Missing::Refuse && !absent.is_empty() {
        let shown = shown_inputs.iter().filter(|(name, _)| !is_given(name));
        let shown: Vec<&str> = shown.map(|(_, shown)| shown.as_str()).collect();
        let message = format!("error: missing inputs: {}", shown.join("; "));
        return Err(Failure::new(message));
    }
    let mut made = Vec::new();
    for (name, declared) in absent {
        let tensor = random_input(declared.as_ref(), &arguments.dims);
        let tensor = tensor.map_err(|what| {
            let name = shown(name);
            Failure::new(format!(
                "error: input `{name}`: {what}; give it with `--input`"
            ))
        })?;
        made.push((name.clone(), tensor));
    }
    inputs.extend(made);
    Ok(ReadyModel {
        session,
        inputs,
        weights_bytes,
        import_time,
        load_time,
    })
}

/// Returns a tensor of random numbers, the same in every run: from -1 to 1, or 0 and 1 for
/// integers.
fn random_input(declared: Option<&InputType>, bound: &[String]) -> Result<DenseHostTensor, String> {
    let dims = declared.and_then(|declared| declared.dims.as_ref());
    let (Some(dims), Some(dtype)) = (dims, declared.and_then(|declared| declared.dtype)) else {
        return Err("the model does not declare its element type and shape".to_owned());
    };
    let mut extents = Vec::with_capacity(dims.len());
    for dim in dims {
        extents.push(match dim {
            InputDim::Fixed(extent) => *extent,
            InputDim::Unknown => 1,
            InputDim::Symbol(name) => {
                let value = bound
                    .iter()
                    .find_map(|bound| bound.strip_prefix(name.as_str())?.strip_prefix('='));
                match value.map(str::parse) {
                    None => 1,
                    Some(Ok(extent)) => extent,
                    Some(Err(_)) => {
                        return Err(format!("`--dim {}` is not a number", shown(name)));
                    }
                }
            }
        });
    }
    let shape = Shape::new(&extents).map_err(|error| error.to_string())?;
    let mut state = 1_u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    macro_rules! made {
        ($($dtype:ident => $number:expr),* $(,)?) => {
            match dtype {
                $(DType::$dtype => {
                    let number = $number;
                    DenseHostTensor::from_fn(&allocator, shape, |_| number(next()))
                })*
                other => return Err(format!("random numbers of type {other} are not supported")),
            }
        };
    }
    let real = |bits: u64| bits as f64 / f64::from(1 << 23) - 1.0;
    let tensor = made! {
        F32 => |bits| real(bits) as f32,
        F64 => real,
        I64 => |bits: u64| (bits % 2) as i64,
        I32 => |bits: u64| (bits % 2) as i32,
        Ui8 => |bits: u64| (bits % 2) as u8,
        I1 => |bits: u64| I1::from(bits % 2 == 1),
    };
    tensor.map_err(|error| error.to_string())
}

/// Runs a model within limits, and prints or writes its outputs.
pub(crate) fn run(
    file: &str,
    kind: ModelKind,
    arguments: &ModelArguments,
    missing: Missing,
    limits: LimitArguments,
    host: &Arc<HostContext>,
) -> Result<(), Failure> {
    let ReadyModel {
        session, inputs, ..
    } = ready(file, kind, arguments, missing, host)?;
    let mut wanted = Vec::new();
    for given in &arguments.outputs {
        let (name, file) = split(given, session.outputs(), "output")?;
        wanted.push((name, file));
    }
    let inputs: Vec<(&str, DenseHostTensor)> = inputs
        .iter()
        .map(|(name, tensor)| (name.as_str(), tensor.clone()))
        .collect();
    let results = run_within(limits, &session, &inputs, host).map_err(|error| {
        Failure::new(format!("error: {}: {}", escaped(file), described(&error)))
    })?;
    for (name, tensor) in session.outputs().iter().zip(&results) {
        if let Some((_, file)) = wanted.iter().find(|(wanted, _)| wanted == name) {
            write(file, name, tensor)?;
        } else if wanted.is_empty() {
            let shown = format!("{}: {}{}", shown(name), tensor.metadata(), summary(tensor));
            output::print_line(&shown)?;
        }
    }
    Ok(())
}

/// Runs a model as a request of its own, which is cancelled when its time is over.
fn run_within(
    limits: LimitArguments,
    session: &Session,
    inputs: &[(&str, DenseHostTensor)],
    host: &Arc<HostContext>,
) -> Result<Vec<DenseHostTensor>, Error> {
    let request = limits
        .start(RequestContextBuilder::new(Arc::clone(host)))
        .build();
    let waited = format!("gave up after {:?}", limits.timeout().unwrap_or_default());
    let too_late = Error::new(waited).with_code(ErrorCode::DeadlineExceeded);
    let timer = limits.timeout().map(|timeout| {
        let (request, too_late) = (Arc::clone(&request), too_late.clone());
        let give_up = move || request.cancel_with(too_late);
        host.timers().schedule_after(timeout, give_up)
    });
    let results = session.run_in_request(&request, inputs);
    if let Some(timer) = timer {
        timer.cancel();
    }
    results.map_err(|error| {
        let reason = request.cancel_value();
        match reason.and_then(|value| value.error_if_present()) {
            Some(reason) if reason.is_same(&too_late) => too_late,
            _ => limits.passed_deadline(FUNCTION, &request).unwrap_or(error),
        }
    })
}

/// Returns the least, mean and greatest element of a tensor, and how many are NaN.
fn summary(tensor: &DenseHostTensor) -> String {
    match Statistics::of(tensor) {
        Ok(Some(found)) => format!(
            ", minimum {}, mean {}, maximum {}, {} NaN",
            found.min, found.mean, found.max, found.num_nan
        ),
        _ => String::new(),
    }
}

/// Returns the failure of a model.
fn failed(error: Error) -> Failure {
    Failure::caused("error", error)
}

/// Returns the failure to read or write a tensor file.
fn wrong(path: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    Failure::caused(format!("error: {}", escaped(path)), cause)
}

/// `NAME=FILE`: a name may contain `=`, so that the longest one that is known counts.
fn split<'a>(
    given: &'a str,
    known: &'a [String],
    what: &str,
) -> Result<(&'a str, &'a str), Failure> {
    let fits = |name: &&String| {
        given
            .strip_prefix(name.as_str())
            .is_some_and(|rest| rest.starts_with('='))
    };
    if let Some(name) = known.iter().filter(fits).max_by_key(|name| name.len()) {
        return Ok((name.as_str(), &given[name.len() + 1..]));
    }
    let name = given.split('=').next().unwrap_or_default();
    let hint = did_you_mean(&nearest(name, known.iter().map(String::as_str)));
    Err(Failure::Usage(format!(
        "error: unknown {what} `{}`{hint}",
        shown(name)
    )))
}

fn read(given: &str, limits: &Limits) -> Result<DenseHostTensor, Failure> {
    let (path, key) = match given.split_once('#') {
        Some((path, key)) => (path, Some(key)),
        None => (given, None),
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(path, error))?;
    if Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "pb")
    {
        let tensor = tensor_file::read(bytes, limits).map_err(|error| wrong(path, error))?;
        let dense = tensor.dense().cloned();
        return dense.ok_or_else(|| {
            wrong(
                path,
                format!("tensors of {} are not supported", tensor.element_type),
            )
        });
    }
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let file = HostBuffer::copied(&allocator, &bytes).map_err(|error| wrong(path, error))?;
    let tensors = FileFormat::detect(&bytes)
        .read(&file, &allocator)
        .map_err(|error| wrong(path, error))?;
    let found = match key {
        Some(key) => tensors.iter().find(|tensor| tensor.name == key),
        None if tensors.len() == 1 => tensors.first(),
        None => {
            return Err(wrong(
                path,
                format!(
                    "expected one tensor, found {}; select one with `#KEY`",
                    tensors.len()
                ),
            ));
        }
    };
    let found = found.ok_or_else(|| wrong(path, "no tensor has this name"))?;
    let dense = (&*found.tensor as &dyn Tensor).downcast_ref::<DenseHostTensor>();
    dense
        .cloned()
        .ok_or_else(|| wrong(path, "expected a dense tensor"))
}

fn write(path: &str, name: &str, tensor: &DenseHostTensor) -> Result<(), Failure> {
    let extension = Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str());
    let bytes = match extension {
        Some("pb") => tensor_file::write(name, tensor).map_err(|error| wrong(path, error))?,
        _ => {
            let format = extension.and_then(FileFormat::from_name);
            let format = format.ok_or_else(|| {
                wrong(
                    path,
                    "unknown extension: expected `.npy`, `.npz`, `.safetensors` or `.pb`",
                )
            })?;
            let tensors = [NamedTensor::new(name, tensor.clone())];
            format.write(&tensors).map_err(|error| wrong(path, error))?
        }
    };
    output::write(path, &bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::process::Command;

    use super::model_kind;

    #[test]
    fn a_pipe_is_left_to_its_reader() {
        let path = std::env::temp_dir().join(format!("tfrt-model-kind-{}", std::process::id()));
        let status = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(status.success());
        // Open for both, so that nothing waits for the other end.
        let mut pipe = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        pipe.write_all(b"\x0B\xEF\x00\x01more").unwrap();
        assert!(model_kind(path.to_str().unwrap()).is_none());
        let mut first = [0; 4];
        pipe.read_exact(&mut first).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(first, *b"\x0B\xEF\x00\x01");
    }
}
