//! The files of models: how their formats are detected, and how they become programs.

use std::collections::HashMap;
use std::sync::Arc;

use tfrt_host::kernel::KernelRegistry;
use tfrt_import::names::shown;
use tfrt_import::program::Program;
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::stored::may_be_stored;
use tfrt_import::{ImportError, InputType, Limits, ModelValue};
use tfrt_onnx::graph::ValueType;
use tfrt_onnx::import::Options;
use tfrt_onnx::{Model, OnnxOps};
use tfrt_support::escape::escaped;
use tfrt_tensor::DenseHostTensor;

use crate::failure::Failure;
use crate::input::Input;
use crate::model_values::{self, DeclaredValue, split};
use crate::rewrites;

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
pub(crate) struct LoadedModel {
    pub(crate) program: Program,
    pub(crate) inputs: Vec<DeclaredValue>,
    pub(crate) outputs: Vec<ValueType>,
    pub(crate) warnings: Vec<String>,
}

/// Imports a model, whose ops may be those of kernels, too. Given inputs for which the model has
/// values take their place.
pub(crate) fn load(
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
        .map_err(|error| Failure::caused("error", error))?;
    Ok(model)
}

/// Returns lines with what an ONNX model says beyond what an import uses, or `None` for other
/// files.
pub(crate) fn notes(path: &str) -> Result<Option<String>, Failure> {
    if model_kind(path) != Some(ModelKind::Onnx) {
        return Ok(None);
    }
    let notes = tfrt_onnx::notes::all(Input::read(path)?.bytes, &Limits::default());
    let notes = notes
        .map_err(|error| Failure::caused(format!("error: {}", escaped(path)), error))?
        .into_iter();
    // An annotation may say nothing but its name.
    let lines = notes.map(|(name, text)| match text.is_empty() {
        true => format!("{name}\n"),
        false => format!("{name}: {text}\n"),
    });
    Ok(Some(lines.collect()))
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
