//! `tfrt run MODEL`: runs a model of another system, ONNX or StableHLO, on tensors from files.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt_host::HostContext;
use tfrt_host::kernel::KernelRegistry;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, FUNCTION, Program, ProgramBuilder, Weight};
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::stored::{WeightCheck, may_be_stored};
use tfrt_import::{ImportError, InputDim, InputType, Limits, ModelValue, Session};
use tfrt_kernels::packed_weights::PackedWeights;
use tfrt_onnx::graph::ValueType;
use tfrt_onnx::import::Options;
use tfrt_onnx::{Model, OnnxOps};
use tfrt_support::escape::escaped;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, ListHostTensor};

use crate::failure::Failure;
use crate::import::{split_at_last, write_warnings};
use crate::input::Input;
use crate::model_errors::described;
use crate::model_limits::ModelLimitArguments;
use crate::model_values::{self, DeclaredValue, Made};
use crate::output;
use crate::progress::Progress;
use crate::rewrites::{self, RewriteArguments};
use crate::run::LimitArguments;
use crate::stored;

/// What commands that run models take for them.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArguments {
    /// An input of a model: a `.pb` file or one that `tfrt tensors` reads, with `#KEY` for a tensor
    /// in it; a literal such as `3` or `[[1,2],[3,4]]`; `zeros`, `random` or `random:SEED`. May be
    /// repeated
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,

    /// The value of a symbolic dimension of random inputs [default: 1]. May be repeated
    #[arg(long = "dim", value_name = "NAME=VALUE")]
    dims: Vec<String>,

    /// Convert inputs of a model to the declared element types. By default, another type is an
    /// error
    #[arg(long = "cast-inputs")]
    casts_inputs: bool,

    /// Compare the SHA-256 of the files that the weights of an imported program are in, not only
    /// their sizes
    #[arg(long = "verify-weights")]
    verifies_weights: bool,

    #[command(flatten)]
    rewrites: RewriteArguments,

    #[command(flatten)]
    limits: ModelLimitArguments,
}

impl ModelArguments {
    /// Refuses arguments that a program would ignore.
    pub(crate) fn refuse_for_program(&self) -> Result<(), Failure> {
        refuse([
            ("--input", !self.inputs.is_empty()),
            ("--dim", !self.dims.is_empty()),
            ("--verify-weights", self.verifies_weights),
            ("--cast-inputs", self.casts_inputs),
        ])
    }
}

/// The same for commands that use the outputs of models.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelRunArguments {
    #[command(flatten)]
    model: ModelArguments,

    /// Write an output of a model to a file, in the format of its extension: `.npy`, `.npz`,
    /// `.safetensors`, `.pb` or `.txt`. May be repeated
    #[arg(long = "output", value_name = "NAME=FILE")]
    outputs: Vec<String>,

    /// Write every output of a model to a folder, as `output_0.pb` and so on
    #[arg(long = "outputs", value_name = "FOLDER")]
    outputs_folder: Option<String>,
}

impl ModelRunArguments {
    /// Refuses arguments that a program would ignore.
    pub(crate) fn refuse_for_program(&self) -> Result<(), Failure> {
        self.model.refuse_for_program()?;
        refuse([
            ("--output", !self.outputs.is_empty()),
            ("--outputs", self.outputs_folder.is_some()),
        ])
    }
}

/// Refuses the first of the options of models that is given for a program.
fn refuse<const N: usize>(options: [(&str, bool); N]) -> Result<(), Failure> {
    match options.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::Usage(format!(
            "error: `{option}` applies to models, but the file is a program; `--arg` gives \
             arguments of functions"
        ))),
        None => Ok(()),
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
/// Most ONNX models begin with the version of the format, which neither text nor BEF files do, and
/// others are read for it; StableHLO is text with ops of its dialect.
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
    let is_bef = *first.first()? == FIRST_OF_BEF;
    let bytes = std::fs::read(path).ok()?;
    if may_be_stored(&bytes) {
        return Some(ModelKind::Program);
    }
    let is_control = |&byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    match std::str::from_utf8(&bytes) {
        Ok(text) if !bytes.iter().any(is_control) => {
            tfrt_stablehlo::is_stablehlo(text).then_some(ModelKind::StableHlo)
        }
        _ => (!is_bef && tfrt_onnx::is_onnx(&bytes)).then_some(ModelKind::Onnx),
    }
}

/// A model that was imported: its program, and for each input what is said of it.
struct LoadedModel {
    program: Program,
    inputs: Vec<DeclaredValue>,
    outputs: Vec<ValueType>,
    warnings: Vec<String>,
}

/// Imports a model, whose ops may be those of kernels, too. Given inputs for which the model has
/// values take their place.
fn load(
    path: &str,
    kind: ModelKind,
    given: &mut Vec<String>,
    limits: &Limits,
    kernels: &KernelRegistry,
) -> Result<LoadedModel, Failure> {
    let file = escaped(path);
    let of_file = || format!("error: {file}");
    match kind {
        ModelKind::Onnx => {
            let model = mapped(path, limits).map_err(|error| Failure::caused("error", error))?;
            let mut options = Options::default();
            options.limits = limits.clone();
            options.given = taken_by_model(given, &model, limits)?;
            options.ops = OnnxOps::of_kernels(kernels);
            let program = model.import(&options);
            let inputs = model.inputs().map(|input| DeclaredValue {
                name: input.name.clone(),
                shown: input.to_string(),
                ty: input.ty.clone(),
            });
            let outputs = model.outputs().iter();
            Ok(LoadedModel {
                inputs: inputs.collect(),
                outputs: outputs.map(|output| output.ty.clone()).collect(),
                warnings: model.warnings().to_vec(),
                program: program.map_err(|failure| Failure::caused(of_file(), failure))?,
            })
        }
        ModelKind::Bytecode => Err(bytecode(path)),
        ModelKind::Program => Err(Failure::new(format!(
            "error: {file}: expected a model, found a program"
        ))),
        ModelKind::StableHlo => {
            let model = stablehlo(path)?;
            let mut options = tfrt_stablehlo::import::Options::default();
            options.limits = limits.clone();
            let function = model.function(&options.function);
            let function = function.map_err(|error| Failure::caused(of_file(), error))?;
            let imported = model.import(&options);
            let imported = imported.map_err(|failure| Failure::caused(of_file(), failure))?;
            let inputs = imported.program.inputs.iter().zip(&function.inputs);
            let inputs = inputs.map(|(name, ty)| DeclaredValue {
                name: name.clone(),
                shown: format!("{name}: {ty}"),
                ty: ValueType::Unknown,
            });
            Ok(LoadedModel {
                inputs: inputs.collect(),
                outputs: vec![ValueType::Unknown; imported.program.outputs.len()],
                warnings: Vec::new(),
                program: imported.program,
            })
        }
    }
}

/// Takes out the inputs for which the model has values.
fn taken_by_model(
    given: &mut Vec<String>,
    model: &Model,
    limits: &Limits,
) -> Result<HashMap<String, DenseHostTensor>, Failure> {
    let optional: Vec<String> = model
        .optional_inputs()
        .map(|input| input.name.clone())
        .collect();
    let needed = model.inputs().map(|input| input.name.clone());
    let known: Vec<String> = needed.chain(optional.iter().cloned()).collect();
    let mut tensors = HashMap::new();
    let mut rest = Vec::new();
    for given in given.drain(..) {
        // Unknown names are reported with those of the program.
        match split(&given, &known, "input") {
            Ok((name, value)) if optional.iter().any(|known| known == name) => {
                let info = model.optional_inputs().find(|input| input.name == name);
                let ty = info.map_or(&ValueType::Unknown, |input| &input.ty);
                let declared = InputType {
                    dtype: ty.element_dtype(),
                    dims: None,
                };
                let read = model_values::read(value, ty, Some(&declared), &[], limits)?;
                let ModelValue::Tensor(tensor) = read else {
                    return Err(Failure::new(format!(
                        "error: input `{}`: expected a tensor",
                        shown(name)
                    )));
                };
                tensors.insert(name.to_owned(), tensor);
            }
            _ => rest.push(given),
        }
    }
    *given = rest;
    Ok(tensors)
}

/// Maps a model, so that its weights take no memory before they are used.
#[expect(unsafe_code, reason = "maps a file that the user names")]
pub(crate) fn mapped(path: &str, limits: &Limits) -> Result<Model, ImportError> {
    // SAFETY: 1: whoever runs the command must not change the model meanwhile, as the guide says.
    unsafe { Model::map(path, limits) }
}

/// Returns the failure to read bytecode.
pub(crate) fn bytecode(path: &str) -> Failure {
    Failure::caused(
        format!("error: {}", escaped(path)),
        tfrt_stablehlo::BYTECODE_HELP,
    )
}

/// Imports a model, and applies all rewrites.
fn rewritten(
    path: &str,
    kind: ModelKind,
    kernels: &Arc<KernelRegistry>,
) -> Result<LoadedModel, Failure> {
    let limits = Limits::default();
    let mut model = load(path, kind, &mut Vec::new(), &limits, kernels)?;
    let host = rewrites::host_of_import(kernels);
    rewrites::apply(&mut model.program, &RewriteRules::default(), &host, &limits)
        .map_err(failed)?;
    Ok(model)
}

/// Reads a file of StableHLO.
pub(crate) fn stablehlo(path: &str) -> Result<tfrt_stablehlo::HloModel, Failure> {
    let input = Input::read(path)?;
    let model = tfrt_stablehlo::HloModel::from_text(input.text()?, path);
    model.map_err(|error| Failure::caused("error", error))
}

/// Returns the text of the program that a model becomes, under the name of its file.
pub(crate) fn imported(
    path: &str,
    kind: ModelKind,
    kernels: &Arc<KernelRegistry>,
) -> Result<Input, Failure> {
    if kind == ModelKind::Program {
        return Input::read(path);
    }
    Ok(Input {
        name: path.to_owned(),
        bytes: rewritten(path, kind, kernels)?.program.text.into_bytes(),
    })
}

/// A model that is ready to run, and tensors for its inputs.
pub(crate) struct ReadyModel {
    pub(crate) session: Session,
    pub(crate) inputs: Vec<(String, ModelValue)>,
    /// The types of the outputs in files.
    output_types: Vec<ValueType>,
    pub(crate) weights_bytes: usize,
    /// From the first byte that is read to the program.
    pub(crate) import_time: Duration,
    /// From the first byte that is read until the model can run.
    pub(crate) load_time: Duration,
}

/// A model that is loaded, and for each input what is said of it.
struct Loaded {
    session: Session,
    inputs: Vec<DeclaredValue>,
    input_types: Vec<Option<InputType>>,
    output_types: Vec<ValueType>,
    weights_bytes: usize,
    import_time: Duration,
}

fn load_session(
    file: &str,
    kind: ModelKind,
    arguments: &ModelArguments,
    given: &mut Vec<String>,
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
    let limits = arguments.limits.limits();
    let progress = Progress::start("importing");
    let mut model = load(file, kind, given, &limits, host.registry())?;
    arguments
        .rewrites
        .apply(&mut model.program, host, &limits)?;
    drop(progress);
    write_warnings(&model.warnings);
    let import_time = start.elapsed();
    let weights = model.program.weights.iter();
    let weights_bytes = weights.map(Weight::len_bytes).sum();
    let input_types = model.program.input_types.clone();
    let _progress = Progress::start("packing weights");
    Ok(Loaded {
        session: Session::load_as_is(model.program, file, host).map_err(failed)?,
        inputs: model.inputs,
        input_types,
        output_types: model.outputs,
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
    if let Some(option) = arguments.rewrites.given() {
        return Err(Failure::Usage(format!(
            "error: `{option}` applies to models: a program was rewritten when it was imported"
        )));
    }
    let check = match arguments.verifies_weights {
        true => WeightCheck::Digest,
        false => WeightCheck::Size,
    };
    let progress = Progress::start("reading weights");
    let stored = stored::read(file, host.registry(), &arguments.limits.limits(), check)?;
    drop(progress);
    let stored = stored.ok_or_else(|| {
        Failure::new(format!(
            "error: {}: expected a table of the program's inputs and weights, found none",
            escaped(file)
        ))
    })?;
    let type_of = |name: &str| {
        let list = stored.list(name);
        list.map_or(ValueType::Unknown, ValueType::of_list)
    };
    let inputs = stored.inputs().map(|(name, declared)| {
        let shown = match declared {
            Some(declared) => format!("{}: {declared}", shown(name)),
            None => shown(name).to_string(),
        };
        DeclaredValue {
            name: name.to_owned(),
            shown,
            ty: type_of(name),
        }
    });
    let outputs = stored.outputs().iter();
    Ok(Loaded {
        output_types: outputs.map(|name| type_of(name)).collect(),
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
    let limits = arguments.limits.limits();
    let mut given = arguments.inputs.clone();
    let Loaded {
        session,
        inputs: declared_inputs,
        input_types,
        output_types,
        weights_bytes,
        import_time,
    } = load_session(file, kind, arguments, &mut given, host, start)?;
    let load_time = start.elapsed();
    check_dims(&arguments.dims, &input_types)?;
    let mut inputs = Vec::new();
    for given in &given {
        let (name, file) = split(given, session.inputs(), "input")?;
        let declared = declared_inputs.iter().find(|input| input.name == name);
        let ty = declared.map_or(&ValueType::Unknown, |input| &input.ty);
        let known = session.inputs().iter().position(|input| input == name);
        let dtype = known.and_then(|at| input_types.get(at)?.as_ref());
        let mut value = model_values::read(file, ty, dtype, &arguments.dims, &limits)?;
        if let (true, Some(wanted)) = (arguments.casts_inputs, dtype.and_then(|ty| ty.dtype)) {
            value = cast(value, wanted, host).map_err(failed)?;
        }
        inputs.push((name.to_owned(), value));
    }
    for input in &declared_inputs {
        let is_given = inputs.iter().any(|(given, _)| *given == input.name);
        if !is_given && matches!(input.ty, ValueType::Optional(_)) {
            inputs.push((input.name.clone(), ListHostTensor::absent().into()));
        }
    }
    let is_given = |name: &str| inputs.iter().any(|(given, _)| given == name);
    let all = session.inputs().iter().zip(&input_types);
    let absent: Vec<_> = all.filter(|(name, _)| !is_given(name)).collect();
    if missing == Missing::Refuse && !absent.is_empty() {
        let shown = declared_inputs.iter();
        let shown = shown.filter(|input| !is_given(&input.name));
        let shown: Vec<&str> = shown.map(|input| input.shown.as_str()).collect();
        let message = format!("error: missing inputs: {}", shown.join("; "));
        return Err(Failure::new(message));
    }
    let mut made = Vec::new();
    for (name, declared) in absent {
        let tensor = Made::Random(1).tensor(declared.as_ref(), &arguments.dims);
        let tensor = tensor.map_err(|what| {
            let name = shown(name);
            Failure::new(format!(
                "error: input `{name}`: {what}; give it with `--input`"
            ))
        })?;
        made.push((name.clone(), tensor.into()));
    }
    inputs.extend(made);
    Ok(ReadyModel {
        session,
        inputs,
        output_types,
        weights_bytes,
        import_time,
        load_time,
    })
}

/// Refuses numbers for dimensions that no input has.
fn check_dims(given: &[String], input_types: &[Option<InputType>]) -> Result<(), Failure> {
    let types = input_types.iter().flatten();
    let dims = types.filter_map(|ty| ty.dims.as_ref()).flatten();
    let symbols = dims.filter_map(|dim| match dim {
        InputDim::Symbol(name) => Some(name.as_str()),
        InputDim::Fixed(_) | InputDim::Unknown => None,
    });
    let symbols: BTreeSet<&str> = symbols.collect();
    for given in given {
        let (name, _) = split_at_last(given, "--dim NAME=VALUE")?;
        if !symbols.contains(name) {
            let hint = did_you_mean(&nearest(name, symbols.iter().copied()));
            return Err(Failure::Usage(format!(
                "error: no input has a dimension `{}`{hint}",
                shown(name)
            )));
        }
    }
    Ok(())
}

/// Converts a tensor to another element type.
fn cast(value: ModelValue, wanted: DType, host: &Arc<HostContext>) -> Result<ModelValue, Error> {
    let tensor = match value {
        ModelValue::Tensor(tensor) if tensor.dtype() != wanted => tensor,
        other => return Ok(other),
    };
    let mut builder = ProgramBuilder::default();
    let x = builder.input("x");
    let to = [("DstT", Attr::Type(wanted))];
    let y = builder.call("tfrt.Cast", &[x], &to, 1, "--cast-inputs");
    let program = builder.finish(&[("y", y[0])]);
    let session = Session::load_as_is(program, "--cast-inputs", host)?;
    let mut outputs = session.run(&[("x", tensor)])?;
    let first = outputs.drain(..).next();
    first
        .map(ModelValue::from)
        .ok_or_else(|| Error::new("expected a converted input"))
}

/// Runs a model within limits, and prints or writes its outputs.
pub(crate) fn run(
    file: &str,
    kind: ModelKind,
    arguments: &ModelRunArguments,
    missing: Missing,
    limits: LimitArguments,
    host: &Arc<HostContext>,
) -> Result<(), Failure> {
    let ReadyModel {
        session,
        inputs,
        output_types,
        ..
    } = ready(file, kind, &arguments.model, missing, host)?;
    let mut wanted = Vec::new();
    for given in &arguments.outputs {
        let (name, file) = split(given, session.outputs(), "output")?;
        wanted.push((name, file));
    }
    let inputs: Vec<(&str, ModelValue)> = inputs
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let results = run_within(limits, &session, &inputs, host).map_err(|error| {
        Failure::new(format!("error: {}: {}", escaped(file), described(&error)))
    })?;
    if let Some(folder) = &arguments.outputs_folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::caused(format!("error: {}", escaped(folder)), error))?;
    }
    let names = session.outputs().iter().zip(&output_types);
    for (index, ((name, ty), value)) in names.zip(&results).enumerate() {
        if let Some(folder) = &arguments.outputs_folder {
            model_values::write(&format!("{folder}/output_{index}.pb"), name, value, ty)?;
        }
        if let Some((_, file)) = wanted.iter().find(|(wanted, _)| wanted == name) {
            model_values::write(file, name, value, ty)?;
        } else if wanted.is_empty() && arguments.outputs_folder.is_none() {
            let shown = format!("{}: {}", shown(name), model_values::summary(value));
            output::print_line(&shown)?;
        }
    }
    Ok(())
}

/// Runs a model as a request of its own, which is cancelled when its time is over.
fn run_within(
    limits: LimitArguments,
    session: &Session,
    inputs: &[(&str, ModelValue)],
    host: &Arc<HostContext>,
) -> Result<Vec<ModelValue>, Error> {
    let request = limits.start(session.request()).build();
    let waited = format!("gave up after {:?}", limits.timeout().unwrap_or_default());
    let too_late = Error::new(waited).with_code(ErrorCode::DeadlineExceeded);
    let timer = limits.timeout().map(|timeout| {
        let (request, too_late) = (Arc::clone(&request), too_late.clone());
        let give_up = move || request.cancel_with(too_late);
        host.timers().schedule_after(timeout, give_up)
    });
    let results = session.run_values_in_request(&request, inputs);
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

/// Returns the failure of a model.
fn failed(error: Error) -> Failure {
    Failure::caused("error", error)
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
