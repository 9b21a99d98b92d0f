//! Runs StableHLO files as test cases: their functions compare computed with expected tensors.
//!
//! A file may have several programs, separated by lines `// -----`. Each runs `@main`, or every
//! public function if the program has no `@main`. A function with arguments is only imported,
//! because the file has no inputs for it.

use std::path::Path;
use std::sync::Arc;

use tfrt_host::HostContext;
use tfrt_import::compare::{self, Tolerance};
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::{Limits, Session};
use tfrt_onnx::tensor_file;
use tfrt_stablehlo::check::{Check, Closeness};
use tfrt_stablehlo::import::{HloImportFailure, Imported, Options};
use tfrt_stablehlo::{Function, HloModel};
use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::{Outcome, Status};
use crate::failure::{CliError, WithCauses};
use crate::rewrites;

/// Ops with an unspecified order of summation, so that the low bits of their results may differ.
const SUMS: &[&str] = &[
    "stablehlo.batch_norm_grad",
    "stablehlo.batch_norm_inference",
    "stablehlo.batch_norm_training",
    "stablehlo.convolution",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_conv",
    "stablehlo.fft",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
];

/// The status of a case that ended early, and the reason.
type Ended = (Status, String);

fn failed(error: &(dyn std::error::Error + 'static)) -> Ended {
    (Status::Error, WithCauses(error).to_string())
}

/// Runs a case.
pub(super) fn try_case(
    path: &Path,
    host: &Arc<HostContext>,
    rules: &RewriteRules,
    limits: &Limits,
    tolerances: [Option<f64>; 2],
    outputs: Option<&Path>,
) -> Outcome {
    let mut case = Run {
        host,
        rules,
        limits,
        tolerances,
        outputs,
        ops: Vec::new(),
        num_runs: 0,
        num_checks: 0,
    };
    let (status, message) = match case.file(path) {
        Ok(()) if case.num_checks > 0 => (Status::Pass, String::new()),
        Ok(()) => (Status::Computed, String::new()),
        Err(ended) => ended,
    };
    case.ops.sort();
    case.ops.dedup();
    Outcome {
        status,
        message,
        ops: case.ops,
    }
}

struct Run<'a> {
    host: &'a Arc<HostContext>,
    rules: &'a RewriteRules,
    limits: &'a Limits,
    tolerances: [Option<f64>; 2],
    outputs: Option<&'a Path>,
    ops: Vec<String>,
    num_runs: usize,
    num_checks: usize,
}

impl Run<'_> {
    fn file(&mut self, path: &Path) -> Result<(), Ended> {
        let text = std::fs::read(path).map_err(|error| failed(&error))?;
        if tfrt_stablehlo::is_bytecode(&text) {
            let help = tfrt_stablehlo::BYTECODE_HELP.to_owned();
            return Err((Status::Unsupported, help));
        }
        let text = String::from_utf8(text)
            .map_err(|_| (Status::Error, "expected UTF-8 text".to_owned()))?;
        let file_name = path.display().to_string();
        let parts = tfrt_ir::split_input_file(&text, &file_name);
        let has_several = parts.len() > 1;
        for part in parts.iter().filter(|part| !part.text.trim().is_empty()) {
            let name = if has_several { &part.name } else { &file_name };
            let model = HloModel::from_text(part.text, name).map_err(|error| failed(&error))?;
            let functions = model.functions();
            self.ops
                .extend(model.op_counts().into_iter().map(|(name, _)| name));
            let main = functions.iter().find(|function| function.name == "main");
            let run: Vec<&Function> = match main {
                Some(main) => vec![main],
                None => functions
                    .iter()
                    .filter(|function| function.is_entry)
                    .collect(),
            };
            for function in run {
                self.function(&model, function)?;
            }
        }
        Ok(())
    }

    fn function(&mut self, model: &HloModel, function: &Function) -> Result<(), Ended> {
        let mut options = Options::default();
        options.function.clone_from(&function.name);
        options.has_checks = true;
        options.limits = self.limits.clone();
        let imported = model.import(&options).map_err(|failure| match &failure {
            HloImportFailure::Unsupported(_) => (Status::Unsupported, failure.to_string()),
            HloImportFailure::Broken(_) => failed(&failure),
        })?;
        if !function.inputs.is_empty() {
            return Ok(());
        }
        let Imported {
            mut program,
            num_results,
            checks,
            ..
        } = imported;
        rewrites::apply(&mut program, self.rules, self.host, self.limits)
            .map_err(|error| failed(&error))?;
        let session = Session::load_as_is(program, "model.mlir", self.host)
            .map_err(|error| failed(&error))?;
        let request = super::poisoned_request(self.host);
        let found = session.run_in_request(&request, &[]);
        let found = found.map_err(|error| failed(&error))?;
        let run = self.num_runs;
        self.num_runs += 1;
        if let Some(outputs) = self.outputs {
            let folder = outputs.join(format!("test_data_set_{run}"));
            let results = found.iter().take(num_results);
            write_outputs(&folder, session.outputs(), results).map_err(|error| failed(&error))?;
        }
        for (found, declared) in found.iter().zip(&function.outputs) {
            if declared
                .known()
                .is_some_and(|declared| declared != (found.dtype(), found.shape().dims()))
            {
                let message = format!("expected {declared}, got {}", found.metadata());
                return Err((Status::Wrong, message));
            }
        }
        let sums = self.ops.iter().any(|op| SUMS.contains(&op.as_str()));
        let tensor = |name: &str| {
            let position = session.outputs().iter().position(|output| output == name);
            position.and_then(|position| found.get(position))
        };
        for check in &checks {
            let (Some(found), Some(expected)) = (tensor(&check.found), tensor(&check.expected))
            else {
                return Err((Status::Error, "a comparison has no outputs".to_owned()));
            };
            let tolerance = self.tolerance(check, expected, sums);
            compare::compare(found, expected, tolerance).map_err(|difference| {
                let wrong = CliError::caused(check.place.clone(), difference);
                (Status::Wrong, WithCauses(&wrong).to_string())
            })?;
            self.num_checks += 1;
        }
        Ok(())
    }

    /// Returns the tolerance of a comparison. Sums may differ by a fraction of the greatest number
    /// expected.
    fn tolerance(&self, check: &Check, expected: &DenseHostTensor, sums: bool) -> Tolerance {
        let part = if sums {
            part_of_greatest(expected)
        } else {
            0.0
        };
        let (relative, absolute, ulps) = match check.comparison {
            Closeness::Close { ulps } => (0.0, part, ulps),
            // At least as lenient as `Close`, for types with few digits.
            Closeness::AlmostEqual { tolerance } => (tolerance, tolerance.max(part), 3),
            _ => (0.0, 0.0, 0),
        };
        let [given_relative, given_absolute] = self.tolerances;
        match check.comparison {
            Closeness::Equal => Tolerance {
                relative,
                absolute,
                ulps,
            },
            _ => Tolerance {
                relative: given_relative.unwrap_or(relative),
                absolute: given_absolute.unwrap_or(absolute),
                ulps,
            },
        }
    }
}

/// Returns a small fraction of the greatest magnitude in a tensor. The fraction depends on the
/// element type.
fn part_of_greatest(tensor: &DenseHostTensor) -> f64 {
    let part = match tensor.dtype() {
        DType::F16 => 2e-3,
        DType::Bf16 => 1.6e-2,
        DType::F32 | DType::Complex64 => 1e-5,
        _ => 1e-12,
    };
    let numbers = match compare::complex_parts(tensor) {
        Some(parts) => parts,
        None => match tfrt_tensor::statistics::Statistics::of(tensor) {
            Ok(Some(statistics)) => vec![statistics.min, statistics.max],
            _ => Vec::new(),
        },
    };
    let finite = numbers.into_iter().filter(|number| number.is_finite());
    part * finite.fold(0.0, |greatest: f64, number| greatest.max(number.abs()))
}

fn write_outputs<'t>(
    folder: &Path,
    names: &[String],
    results: impl Iterator<Item = &'t DenseHostTensor>,
) -> Result<(), CliError> {
    let place = folder.display().to_string();
    std::fs::create_dir_all(folder).map_err(|error| CliError::caused(&*place, error))?;
    for (index, (name, tensor)) in names.iter().zip(results).enumerate() {
        let bytes = tensor_file::write(name, tensor);
        let bytes = bytes.map_err(|error| CliError::caused(&*place, error))?;
        let path = folder.join(format!("output_{index}.pb"));
        std::fs::write(path, bytes).map_err(|error| CliError::caused(&*place, error))?;
    }
    Ok(())
}
