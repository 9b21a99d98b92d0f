//! Runs StableHLO files as test cases: their functions compare computed with expected tensors.
//!
//! A file may have several programs, separated by lines `// -----`. Each runs `@main`, or every
//! public function if the program has no `@main`. A function with arguments is only imported,
//! because the file has no inputs for it.

use std::error::Error;
use std::sync::Arc;

use tfrt_host::{HostContext, RequestContext};
use tfrt_import::compare::{self, Difference, Tolerance};
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_import::{Limits, Session};
use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use crate::check::{Check, Closeness};
use crate::import::{HloImportFailure, Imported, Options};
use crate::model::{Function, HloModel};

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

type BoxedError = Box<dyn Error + Send + Sync>;

/// Takes the number of a run, and the names and tensors of its results.
pub type TakeResults<'a> =
    dyn Fn(usize, &[String], &[DenseHostTensor]) -> Result<(), BoxedError> + 'a;

/// How the programs of files run.
pub struct Runner<'a> {
    /// Runs the programs.
    pub host: &'a Arc<HostContext>,
    /// The rewrites that apply.
    pub rules: &'a RewriteRules,
    /// The limits on the programs.
    pub limits: &'a Limits,
    /// Begins the request of a run.
    pub request: &'a dyn Fn() -> Arc<RequestContext>,
    /// The relative and the absolute tolerance, in place of those of comparisons that are not
    /// exact.
    pub tolerances: [Option<f64>; 2],
    /// Takes the number of a run, and the names and tensors of its results.
    pub results: &'a TakeResults<'a>,
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("tolerances", &self.tolerances)
            .finish_non_exhaustive()
    }
}

/// What came of a file.
#[derive(Debug)]
pub struct CaseOutcome {
    /// The ops of its programs, in alphabetical order.
    pub ops: Vec<String>,
    /// How many comparisons held.
    pub num_checks: usize,
    /// Why the file is not a success.
    pub failure: Option<CaseFailure>,
}

/// Why a file is not a success.
#[derive(Debug)]
pub enum CaseFailure {
    /// The importer does not support it.
    Unsupported(String),
    /// A result has another type than declared.
    Type(String),
    /// A comparison, in a place, does not hold.
    Difference(String, Difference),
    /// A program is refused or fails.
    Error(BoxedError),
}

impl CaseFailure {
    fn error(error: impl Into<BoxedError>) -> Self {
        Self::Error(error.into())
    }
}

impl Runner<'_> {
    /// Runs the programs of a file.
    #[must_use]
    pub fn run(&self, file: &[u8], file_name: &str) -> CaseOutcome {
        let mut run = Run {
            runner: self,
            ops: Vec::new(),
            num_runs: 0,
            num_checks: 0,
        };
        let failure = run.file(file, file_name).err();
        run.ops.sort();
        run.ops.dedup();
        CaseOutcome {
            ops: run.ops,
            num_checks: run.num_checks,
            failure,
        }
    }

    /// Returns the tolerance of a comparison. Sums may differ by a fraction of the greatest number
    /// expected.
    fn tolerance(&self, check: &Check, expected: &DenseHostTensor, has_sums: bool) -> Tolerance {
        let part = if has_sums {
            part_of_greatest(expected)
        } else {
            0.0
        };
        let (relative, absolute, ulps) = match check.comparison {
            Closeness::Equal => {
                return Tolerance {
                    relative: 0.0,
                    absolute: 0.0,
                    ulps: 0,
                };
            }
            Closeness::Close { ulps } => (0.0, part, ulps),
            // At least as lenient as `Close`, for types with few digits.
            Closeness::AlmostEqual { tolerance } => (tolerance, tolerance.max(part), 3),
        };
        let [given_relative, given_absolute] = self.tolerances;
        Tolerance {
            relative: given_relative.unwrap_or(relative),
            absolute: given_absolute.unwrap_or(absolute),
            ulps,
        }
    }
}

/// The run of a file.
struct Run<'a> {
    runner: &'a Runner<'a>,
    ops: Vec<String>,
    num_runs: usize,
    num_checks: usize,
}

impl Run<'_> {
    fn file(&mut self, file: &[u8], file_name: &str) -> Result<(), CaseFailure> {
        if crate::is_bytecode(file) {
            return Err(CaseFailure::Unsupported(crate::BYTECODE_HELP.to_owned()));
        }
        let text = std::str::from_utf8(file);
        let text = text.map_err(|_| CaseFailure::error("expected UTF-8 text"))?;
        let parts = tfrt_ir::split_input_file(text, file_name);
        let has_several = parts.len() > 1;
        for part in parts.iter().filter(|part| !part.text.trim().is_empty()) {
            let name = if has_several { &part.name } else { file_name };
            let model = HloModel::from_text(part.text, name).map_err(CaseFailure::error)?;
            let functions = model.functions();
            let ops = model.op_counts().into_iter().map(|(name, _)| name);
            self.ops.extend(ops);
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

    fn function(&mut self, model: &HloModel, function: &Function) -> Result<(), CaseFailure> {
        let mut options = Options::default();
        options.function.clone_from(&function.name);
        options.has_checks = true;
        options.limits = self.runner.limits.clone();
        let imported = model.import(&options).map_err(|failure| match &failure {
            HloImportFailure::Unsupported(_) => CaseFailure::Unsupported(failure.to_string()),
            HloImportFailure::Broken(_) => CaseFailure::error(failure),
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
        let Runner {
            host,
            rules,
            limits,
            ..
        } = *self.runner;
        let folding = Folding::new(host, limits).map_err(CaseFailure::error)?;
        program.rewrite_and_fold(rules, folding);
        let session = Session::load_as_is(program, "model.mlir", host);
        let session = session.map_err(CaseFailure::error)?;
        let found = session.run_in_request(&(self.runner.request)(), &[]);
        let found = found.map_err(CaseFailure::error)?;
        let run = self.num_runs;
        self.num_runs += 1;
        let num_results = num_results.min(found.len());
        let (names, results) = (session.outputs(), &found[..num_results]);
        (self.runner.results)(run, names, results).map_err(CaseFailure::Error)?;
        for (found, declared) in found.iter().zip(&function.outputs) {
            let known = declared.known();
            if known.is_some_and(|declared| declared != (found.dtype(), found.shape().dims())) {
                let message = format!("expected {declared}, got {}", found.metadata());
                return Err(CaseFailure::Type(message));
            }
        }
        let has_sums = self.ops.iter().any(|op| SUMS.contains(&op.as_str()));
        let tensor = |name: &str| {
            let position = session.outputs().iter().position(|output| output == name);
            position.and_then(|position| found.get(position))
        };
        for check in &checks {
            let (Some(found), Some(expected)) = (tensor(&check.found), tensor(&check.expected))
            else {
                return Err(CaseFailure::error("a comparison has no outputs"));
            };
            let tolerance = self.runner.tolerance(check, expected, has_sums);
            compare::compare(found, expected, tolerance)
                .map_err(|difference| CaseFailure::Difference(check.place.clone(), difference))?;
            self.num_checks += 1;
        }
        Ok(())
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
