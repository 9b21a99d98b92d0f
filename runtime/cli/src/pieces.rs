//! Inputs that are processed in pieces, and held against the expectations in their comments.

use std::io::Stderr;

use anstream::AutoStream;
use clap::Args;
use tfrt_ir::split_input_file;

use crate::arguments::DiagnosticArguments;
use crate::diagnostics::Reporter;
use crate::failure::Failure;
use crate::input::{BEF_MAGIC, Input};
use crate::output;

/// How an input is divided, and what becomes of its diagnostics.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct PieceArguments {
    /// Process the pieces between lines `// -----` one by one, as if each were a file
    #[arg(long = "split-input-file")]
    split_input_file: bool,

    /// Succeed if exactly the diagnostics happen that comments `// expected-error {{text}}` expect
    #[arg(long = "verify-diagnostics")]
    verify_diagnostics: bool,

    #[command(flatten)]
    pub(crate) diagnostics: DiagnosticArguments,
}

/// Processes every piece of an input and writes what came out, one after the other.
///
/// Without verification a piece that fails lets the whole fail, but not before every other piece had its turn. With it,
/// what counts is whether the diagnostics are the expected ones.
pub(crate) fn process(
    input: &Input,
    arguments: PieceArguments,
    output_path: &str,
    mut process_piece: impl FnMut(
        &str,
        &str,
        &mut Reporter<AutoStream<Stderr>>,
    ) -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    let text = input.text()?;
    let pieces = if arguments.split_input_file {
        split_input_file(text, &input.name)
            .into_iter()
            .map(|piece| (piece.name, piece.text))
            .collect()
    } else {
        vec![(input.name.clone(), text)]
    };
    let mut written = Vec::new();
    let mut is_well = true;
    for (name, text) in pieces {
        let sources = input.sources_with(&name, text);
        let mut reporter = if arguments.verify_diagnostics {
            arguments.diagnostics.verifying(sources)
        } else {
            arguments.diagnostics.printing(sources)
        };
        match process_piece(text, &name, &mut reporter) {
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
