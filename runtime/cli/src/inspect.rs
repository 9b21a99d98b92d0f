//! `tfrt inspect`: a readable dump of a BEF file, or of the file that an MLIR program is compiled
//! to.

use std::collections::HashMap;

use clap::Parser;
use tfrt_bef::dump::{DumpOptions, dump};
use tfrt_ods::{Arity, OpDef, ResultDef, TypeConstraint};

use crate::arguments::DiagnosticArguments;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, Purpose};
use crate::input::{Input, Kind};
use crate::libraries::LibraryArguments;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt inspect program.bef          show all sections, tables, functions and kernels
  tfrt inspect --hex program.bef    show the bytes, too
  tfrt inspect program.mlir         show the file that the program is translated to
  tfrt inspect model.onnx           show what the model says beside its nodes, and its program
  tfrt translate --mlir-to-bef program.mlir | tfrt inspect -

Each line starts with an offset in the file. In a damaged file, each error is shown after the record
in which it was found, and the exit status is 1.";

/// Print the contents of a BEF file, even if it is damaged
///
/// Print the documentation, metadata and ignored parts of an ONNX model, then the file that its
/// program is translated to.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The BEF file, or a program as MLIR text, which is translated first; `-` reads standard input
    #[arg(default_value = "-")]
    file: String,

    /// Print the bytes of each record next to it
    #[arg(long)]
    hex: bool,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,

    #[command(flatten)]
    libraries: LibraryArguments,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(program, &arguments.libraries)?;
    let defs: HashMap<&str, &OpDef> = front_end.op_defs().map(|def| (def.name, def)).collect();
    let declared_results = |kernel: &str, position: usize| {
        declared_result(defs.get(kernel)?, position).map(str::to_owned)
    };
    #[cfg(feature = "onnx")]
    if let Some(notes) = crate::model_file::notes(&arguments.file)? {
        output::write("-", notes.as_bytes())?;
    }
    let input = Input::read_program(&arguments.file, front_end.kernels())?;
    let bytes = match input.kind() {
        Kind::Bef => input.bytes,
        Kind::Text => translate(&front_end, &input, arguments.diagnostics)?,
    };
    let options = DumpOptions {
        hex: arguments.hex,
        declared_results: Some(&declared_results),
    };
    let mut text = Vec::new();
    let written = dump(&bytes, options, &mut text);
    let num_errors = written.map_err(Failure::of_output)?;
    output::write("-", &text)?;
    if num_errors == 0 {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

/// Returns the BEF file that a program is compiled to.
fn translate(
    front_end: &FrontEnd,
    input: &Input,
    diagnostics: DiagnosticArguments,
) -> Result<Vec<u8>, Failure> {
    let text = input.text()?;
    let mut reporter = diagnostics.printing(input.sources_with(&input.name, text));
    let purpose = Purpose::File {
        optional_sections: true,
    };
    front_end.translate(text, &input.name, purpose, &mut reporter)
}

/// Returns the spelling of the type of a result, where the declaration leaves only one.
fn declared_result(def: &OpDef, position: usize) -> Option<&'static str> {
    let (result, before) = def.results.get(..=position)?.split_last()?;
    // Results behind a variadic one are at no known position.
    let is_alone = |result: &ResultDef| result.arity == Arity::One;
    match result.ty {
        TypeConstraint::Exact(spelling) if before.iter().all(is_alone) => Some(spelling),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static PAIR: OpDef = OpDef {
        results: &[
            ResultDef::new("first", TypeConstraint::Exact("i32")),
            ResultDef::new("second", TypeConstraint::Any),
        ],
        ..OpDef::new("my.pair")
    };

    #[test]
    fn only_exact_types_are_compared() {
        let declared = [0, 1, 2].map(|position| declared_result(&PAIR, position));
        assert_eq!(declared, [Some("i32"), None, None]);
        assert_eq!(declared_result(&OpDef::new("my.nothing"), 0), None);
    }
}
