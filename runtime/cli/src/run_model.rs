//! `tfrt run MODEL`: runs a model of another system, ONNX or StableHLO, on tensors from files.

mod in_time;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt_host::HostContext;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, ProgramBuilder, Weight};
use tfrt_import::stored::WeightCheck;
use tfrt_import::{InputDim, InputType, ModelValue, Session};
use tfrt_kernels::packed_weights::PackedWeights;
use tfrt_onnx::graph::ValueType;
use tfrt_support::escape::escaped;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{DType, Error};
use tfrt_tensor::ListHostTensor;

use crate::failure::Failure;
use crate::import::{split_at_last, write_warnings};
use crate::model_errors::described;
use crate::model_file::{self, ModelKind};
use crate::model_limits::ModelLimitArguments;
use crate::model_values::{self, DeclaredValue, Made, split};
use crate::output;
use crate::progress::Progress;
use crate::rewrites::RewriteArguments;
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
    let mut model = model_file::load(file, kind, given, &limits, host.registry())?;
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
    let outputs = session.outputs().to_vec();
    let mut wanted = Vec::new();
    for given in &arguments.outputs {
        let (name, file) = split(given, &outputs, "output")?;
        wanted.push((name, file));
    }
    let results = in_time::run(limits, session, inputs).map_err(|error| {
        Failure::new(format!("error: {}: {}", escaped(file), described(&error)))
    })?;
    if let Some(folder) = &arguments.outputs_folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::caused(format!("error: {}", escaped(folder)), error))?;
    }
    let names = outputs.iter().zip(&output_types);
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

/// Returns the failure of a model.
fn failed(error: Error) -> Failure {
    Failure::caused("error", error)
}
