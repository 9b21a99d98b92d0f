//! The compilation of programs that arrive as text.
//!
//! The pass parses the text against the declarations of the host's kernels, and verifies it. Errors
//! are printed on standard error; the task that sent the program is only notified of the failure.

use std::sync::Arc;

use tfrt::bef::BefFile;
use tfrt::distributed::function::{CompilerPass, LinkedPass, ParsedProgram, TEXT_PASS};
use tfrt::prelude::*;
use tfrt::support::{Diagnostics, Place};
use tfrt::text;
use tfrt::text::ir::Module;

/// The name of the program in diagnostics.
const FILE_NAME: &str = "-";

/// Reads programs as they are: compiling leaves them alone, and their results are on no device.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextPass;

impl CompilerPass for TextPass {
    fn parse(&self, program: &str, host: &HostContext) -> Result<Box<dyn ParsedProgram>> {
        Ok(Box::new(Parsed(read(program, host)?)))
    }
}

inventory::submit! {
    LinkedPass {
        name: TEXT_PASS,
        make: || Arc::new(TextPass),
    }
}

pub(crate) fn read(program: &str, host: &HostContext) -> Result<Module> {
    text::parse_program(program, FILE_NAME, host.registry()).map_err(report)
}

struct Parsed(Module);

impl ParsedProgram for Parsed {
    fn compile(&mut self, _host: &HostContext) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn to_file(&self) -> Result<BefFile> {
        to_file(&self.0)
    }
}

pub(crate) fn to_file(module: &Module) -> Result<BefFile> {
    text::smallest_file_of(module).map_err(report)
}

/// Prints errors on standard error.
fn report(found: Diagnostics) -> Error {
    for diagnostic in found.into_vec() {
        let (severity, message) = (diagnostic.severity, &diagnostic.message);
        match &diagnostic.place {
            Place::File { file, line, column } => {
                eprintln!("loc(\"{file}\":{line}:{column}): {severity}: {message}");
            }
            place => eprintln!("loc({place}): {severity}: {message}"),
        }
    }
    Error::new("the program is malformed").with_code(ErrorCode::MalformattedMlirFile)
}
