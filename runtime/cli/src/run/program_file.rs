//! The file from which a program is loaded, given as a file or compiled from text.

use crate::arguments::DiagnosticArguments;
use crate::diagnostics::SourceMap;
use crate::failure::Failure;
use crate::front_end::{FrontEnd, Purpose};
use crate::input::{Input, Kind};

use super::function_arguments::{ArgumentNames, written_names};

/// A program as a BEF file.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    /// The format in which it was given.
    pub(crate) kind: Kind,
    /// The file.
    pub(crate) bef: Vec<u8>,
    /// The text, if it was given as text, and files next to it.
    pub(crate) sources: SourceMap,
    /// The names of functions' arguments in the text.
    pub(crate) argument_names: ArgumentNames,
}

impl ProgramFile {
    /// Takes a file as it is, and translates text. `program` is the name that complaints start
    /// with.
    pub(crate) fn of_input(
        program: &str,
        front_end: &FrontEnd,
        input: Input,
        with_chains_threaded: bool,
        diagnostics: DiagnosticArguments,
    ) -> Result<Self, Failure> {
        let mut sources = input.sources();
        let kind = input.kind();
        let mut argument_names = ArgumentNames::new();
        let bef = match kind {
            Kind::Bef if with_chains_threaded => {
                return Err(Failure::new(format!(
                    "{program}: {} is a BEF file, but `--thread-chains` needs MLIR text",
                    input.name
                )));
            }
            Kind::Bef => input.bytes,
            Kind::Text => {
                let text = input.text()?;
                sources.insert(&*input.name, text);
                argument_names = names_in(text);
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
        Ok(Self {
            kind,
            bef,
            sources,
            argument_names,
        })
    }
}

/// Returns the names of functions' arguments in a text, which files do not contain.
fn names_in(text: &str) -> ArgumentNames {
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect();
    let code = code.join("\n");
    let functions = code.split("func ").skip(1).filter_map(|function| {
        let (_, named) = function.split_once('@')?;
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || "$._-".contains(char);
        let end = named.find(|char| !is_of_name(char))?;
        let (name, rest) = named.split_at(end);
        Some((name.to_owned(), written_names(rest)))
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_called_what_the_text_calls_them() {
        let names = names_in(
            "// func @no(%a: i32)\nfunc @f(%x: i32,\n  %y: i32) -> i32 {}\nfunc private @g()",
        );
        assert_eq!(names["f"], ["x", "y"]);
        assert!(names["g"].is_empty() && !names.contains_key("no"));
    }
}
