//! Inputs that are split and processed part by part, and compared with the expectations in their
//! comments.

use std::io::Stderr;

use anstream::AutoStream;
use clap::Args;
use tfrt_ir::split_input_file;

use crate::arguments::DiagnosticArguments;
use crate::diagnostics::Reporter;
use crate::failure::Failure;
use crate::input::{BEF_MAGIC, Input};
use crate::output;

/// How to split an input, and how to check its diagnostics.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct SplitArguments {
    /// Split the input at `// -----` lines, and process each part as a separate file
    #[arg(long = "split-input-file")]
    split_input_file: bool,

    /// Succeed if the diagnostics are exactly those in `// expected-error {{text}}` comments
    #[arg(long = "verify-diagnostics")]
    verify_diagnostics: bool,

    #[command(flatten)]
    pub(crate) diagnostics: DiagnosticArguments,
}

/// Processes every part of an input and writes the outputs, one after another.
///
/// Without `--verify-diagnostics`, the result is a failure if any part fails, but all parts are
/// processed first. With it, the result depends only on whether the diagnostics are the expected
/// ones.
pub(crate) fn process(
    input: &Input,
    arguments: SplitArguments,
    output_path: &str,
    mut process_part: impl FnMut(
        &str,
        &str,
        &mut Reporter<AutoStream<Stderr>>,
    ) -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    let text = input.text()?;
    let parts = if arguments.split_input_file {
        split_input_file(text, &input.name)
            .into_iter()
            .map(|part| (part.name, part.text))
            .collect()
    } else {
        vec![(input.name.clone(), text)]
    };
    let mut written = Vec::new();
    let mut is_well = true;
    for (name, text) in parts {
        let sources = input.sources_with(&name, text);
        let mut reporter = if arguments.verify_diagnostics {
            arguments.diagnostics.verifying(sources)
        } else {
            arguments.diagnostics.printing(sources)
        };
        match process_part(text, &name, &mut reporter) {
            Ok(bytes) => written.extend(bytes),
            Err(Failure::Reported) => is_well &= arguments.verify_diagnostics,
            Err(failure) => return Err(failure),
        }
        is_well &= reporter.finish();
    }
    if is_well || output_path == "-" {
        if written.starts_with(&BEF_MAGIC) {
            output::write_binary(output_path, &written, "a BEF file")?;
        } else {
            output::write(output_path, &written)?;
        }
    }
    is_well.then_some(()).ok_or(Failure::Reported)
}
