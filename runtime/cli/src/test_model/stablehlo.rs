//! StableHLO files as test cases, and the outputs that are wanted of them.

use std::path::Path;
use std::sync::Arc;

use tfrt_host::HostContext;
use tfrt_import::Limits;
use tfrt_import::rewrite::RewriteRules;
use tfrt_onnx::tensor_file;
use tfrt_stablehlo::test_case::{CaseFailure, Runner};
use tfrt_tensor::DenseHostTensor;

use super::{Outcome, Status};
use crate::failure::{CliError, WithCauses};

/// Runs a case.
pub(super) fn try_case(
    path: &Path,
    host: &Arc<HostContext>,
    rules: &RewriteRules,
    limits: &Limits,
    tolerances: [Option<f64>; 2],
    outputs: Option<&Path>,
) -> Outcome {
    let file = match std::fs::read(path) {
        Ok(file) => file,
        Err(error) => {
            return Outcome {
                status: Status::Error,
                message: WithCauses(&error).to_string(),
                ops: Vec::new(),
            };
        }
    };
    let runner = Runner {
        host,
        rules,
        limits,
        request: &|| super::poisoned_request(host),
        tolerances,
        results: &|run, names, results| match outputs {
            Some(outputs) => {
                let folder = outputs.join(format!("test_data_set_{run}"));
                Ok(write_outputs(&folder, names, results)?)
            }
            None => Ok(()),
        },
    };
    let outcome = runner.run(&file, &path.display().to_string());
    let (status, message) = match outcome.failure {
        None if outcome.num_checks > 0 => (Status::Pass, String::new()),
        None => (Status::Computed, String::new()),
        Some(CaseFailure::Unsupported(message)) => (Status::Unsupported, message),
        Some(CaseFailure::Type(message)) => (Status::Wrong, message),
        Some(CaseFailure::Difference(place, difference)) => {
            let wrong = CliError::caused(place, difference);
            (Status::Wrong, WithCauses(&wrong).to_string())
        }
        Some(CaseFailure::Error(error)) => (Status::Error, WithCauses(&*error).to_string()),
    };
    Outcome {
        status,
        message,
        ops: outcome.ops,
    }
}

fn write_outputs(
    folder: &Path,
    names: &[String],
    results: &[DenseHostTensor],
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
