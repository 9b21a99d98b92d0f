//! The file that a program is loaded from, whether it was given as one or as text.

use crate::arguments::DiagnosticArguments;
use crate::diagnostics::SourceMap;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, Purpose};
use crate::input::{Input, Kind};

/// A program as a BEF file.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    /// What it was given as.
    pub(crate) kind: Kind,
    /// The file.
    pub(crate) bef: Vec<u8>,
    /// The text, if it was given as that, and files beside it.
    pub(crate) sources: SourceMap,
}

impl ProgramFile {
    /// Takes a file as it is, and translates text. `program` is the name that complaints start with.
    pub(crate) fn of_input(
        program: &str,
        front_end: &FrontEnd,
        input: Input,
        with_chains_threaded: bool,
        diagnostics: DiagnosticArguments,
    ) -> Result<Self, Failure> {
        let mut sources = input.sources();
        let kind = input.kind();
        let bef = match kind {
            Kind::Bef if with_chains_threaded => {
                return Err(Failure::Message(format!(
                    "{program}: {} is a BEF file, and `--thread-chains` reads programs as text",
                    input.name
                )));
            }
            Kind::Bef => input.bytes,
            Kind::Text => {
                let text = input.text()?;
                sources.insert(&*input.name, text);
                let mut reporter = diagnostics.printing(sources.clone());
                if with_chains_threaded {
                    front_end.translate_without_chains(
                        text,
                        &input.name,
                        Purpose::Run,
                        &mut reporter,
                    )?
                } else {
                    front_end.translate(text, &input.name, Purpose::Run, &mut reporter)?
                }
            }
        };
        Ok(Self { kind, bef, sources })
    }
}
