//! Pipelines: sequences of passes, and their notation.
//!
//! ```text
//! pipeline := entries | (`module` | `builtin.module`) `(` entries `)`
//! entries  := entry (`,` entry)*
//! entry    := step | (`func` | `builtin.func` | `func.func`) `(` step (`,` step)* `)`
//! step     := pass (`{` option=value* `}`)?
//! ```
//!
//! The program is the module that a pipeline may name. A single pass runs on the program. A pass in
//! the parentheses of `func` runs on each function directly in the program; all passes in the
//! parentheses run on one function before the next function has its turn. Blanks are ignored.

use std::fmt;

use tfrt_ir::{Module, OpId, VerifyOptions, verify};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Diagnostic, Place, Severity};

use super::{Pass, PassOptions, PassScope};

/// The file name in the location of an error in a pipeline.
pub const PIPELINE_SOURCE: &str = "<Pass-Pipeline-Parser>";

/// A sequence of passes.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::passes::Pipeline;
/// use tfrt_ir::{Module, Registry};
///
/// let mut pipeline = Pipeline::parse("inline, func(canonicalize)").unwrap();
/// pipeline.append(Pipeline::parse("tfrt-print-stream").unwrap());
/// assert_eq!(pipeline.to_string(), "inline,func(canonicalize),tfrt-print-stream");
///
/// let mut module = Module::new(Arc::new(Registry::default()));
/// assert!(pipeline.run(&mut module, None).is_empty());
///
/// let error = Pipeline::parse("inline,outline").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "<Pass-Pipeline-Parser>:1:8: error: 'outline' does not refer to a registered pass; did you mean `inline`?"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    entries: Vec<Group>,
}

#[derive(Clone, Debug)]
enum Group {
    /// Runs on the program.
    Whole(ConfiguredPass),
    /// Run on each function directly in the program.
    Functions(Vec<ConfiguredPass>),
}

/// A pass and its options.
#[derive(Clone, Debug)]
struct ConfiguredPass {
    pass: &'static Pass,
    options: PassOptions,
}

impl ConfiguredPass {
    fn run_on(&self, module: &mut Module, op: OpId) -> Vec<Diagnostic> {
        self.pass.run_on(module, op, &self.options)
    }
}

impl fmt::Display for ConfiguredPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.pass.name, self.options)
    }
}

impl Pipeline {
    /// Parses a pipeline.
    ///
    /// # Errors
    /// Returns the error in the text, with its location in [`PIPELINE_SOURCE`].
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut parser = Parser { text, position: 0 };
        let is_anchored = parser.anchor();
        let mut entries = vec![parser.entry()?];
        while parser.consume(',') {
            entries.push(parser.entry()?);
        }
        if is_anchored && !parser.consume(')') {
            return Err(parser.error("expected `,` or `)`"));
        }
        parser.skip_blanks();
        match parser.rest().chars().next() {
            None => Ok(Self { entries }),
            Some(found) => {
                let comma = if is_anchored { "" } else { "`,` or " };
                Err(parser.error(format!(
                    "expected {comma}the end of the pipeline, found `{found}`"
                )))
            }
        }
    }

    /// Appends the passes of another pipeline.
    pub fn append(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// Returns `true` if the program may be written without chains, because a pass adds them.
    #[must_use]
    pub fn fills_in_chains(&self) -> bool {
        let fills_in = |step: &ConfiguredPass| step.pass.fills_in_chains;
        self.entries.iter().any(|entry| match entry {
            Group::Whole(step) => fills_in(step),
            Group::Functions(steps) => steps.iter().any(fills_in),
        })
    }

    /// Runs every pass on a verified program, and returns their diagnostics.
    ///
    /// With `verify_each`, the program is verified after each entry, and the run ends at the first
    /// violation. It is among the returned errors, and is a bug of the last pass that ran. Debug
    /// builds verify in any case.
    ///
    /// # Panics
    /// In debug builds, if `verify_each` is `None` and a pass leaves a program that is not well
    /// formed.
    pub fn run(&self, module: &mut Module, verify_each: Option<VerifyOptions>) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for entry in &self.entries {
            findings.extend(entry.run(module));
            match verify_each {
                Some(options) => findings.extend(verify(module, &options)),
                None => debug_assert!(
                    verify(module, &VerifyOptions::default()).is_empty(),
                    "`{entry}` leaves a program that is well formed"
                ),
            }
            if findings
                .iter()
                .any(|found| found.severity == Severity::Error)
            {
                break;
            }
        }
        findings
    }
}

impl Group {
    fn run(&self, module: &mut Module) -> Vec<Diagnostic> {
        let root = module.root();
        match self {
            Self::Whole(step) => step.run_on(module, root),
            Self::Functions(steps) => {
                let functions: Vec<OpId> = module.functions(root).collect();
                let mut findings = Vec::new();
                for func in functions {
                    for step in steps {
                        findings.extend(step.run_on(module, func));
                    }
                }
                findings
            }
        }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.entries)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(step) => step.fmt(f),
            Self::Functions(steps) => {
                f.write_str("func(")?;
                write_list(f, steps)?;
                f.write_str(")")
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, elements: &[impl fmt::Display]) -> fmt::Result {
    for (index, element) in elements.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(f, "{comma}{element}")?;
    }
    Ok(())
}

struct Parser<'a> {
    text: &'a str,
    /// The position in bytes.
    position: usize,
}

impl<'a> Parser<'a> {
    /// Parses the name of the program and `(`, if the pipeline begins with them.
    fn anchor(&mut self) -> bool {
        let start = self.position;
        let names_program = |(name, _)| matches!(name, "module" | "builtin.module");
        let is_anchored = self.name().is_ok_and(names_program) && self.consume('(');
        if !is_anchored {
            self.position = start;
        }
        is_anchored
    }

    fn entry(&mut self) -> Result<Group, Diagnostic> {
        let (name, start) = self.name()?;
        if !self.consume('(') {
            return self.pass(name, start, PassScope::Module).map(Group::Whole);
        }
        if !matches!(name, "func" | "builtin.func" | "func.func") {
            self.position = start;
            return Err(self.error(format!("expected `func` in front of `(`, found `{name}`")));
        }
        let mut passes = Vec::new();
        loop {
            let (name, start) = self.name()?;
            passes.push(self.pass(name, start, PassScope::Function)?);
            if self.consume(')') {
                return Ok(Group::Functions(passes));
            }
            if !self.consume(',') {
                return Err(self.error("expected `,` or `)`"));
            }
        }
    }

    fn pass(
        &mut self,
        name: &str,
        start: usize,
        scope: PassScope,
    ) -> Result<ConfiguredPass, Diagnostic> {
        let complaint = match Pass::find(name) {
            Some(pass) if scope == PassScope::Function && pass.scope == PassScope::Module => {
                format!("`{name}` runs on modules, not on single functions")
            }
            Some(pass) if pass.options.is_empty() && self.rest().starts_with('{') => {
                format!("`{name}` takes no options")
            }
            Some(pass) => return self.options(pass),
            None => {
                let meant = did_you_mean(&nearest(
                    name,
                    Pass::all().into_iter().map(|pass| pass.name),
                ));
                format!("'{name}' does not refer to a registered pass{meant}")
            }
        };
        self.position = start;
        Err(self.error(complaint))
    }

    /// Parses the options of a pass, if there are any.
    fn options(&mut self, pass: &'static Pass) -> Result<ConfiguredPass, Diagnostic> {
        let mut options = PassOptions::default();
        if self.consume('{') {
            let rest = self.rest();
            let Some(end) = rest.find('}') else {
                return Err(self.error("expected `}` after the options"));
            };
            options = PassOptions::parse(pass, &rest[..end])
                .map_err(|error| self.error(error.to_string()))?;
            self.position += end + 1;
        }
        Ok(ConfiguredPass { pass, options })
    }

    /// Parses a name, and returns it with its position.
    fn name(&mut self) -> Result<(&'a str, usize), Diagnostic> {
        self.skip_blanks();
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.error("expected the name of a pass"));
        }
        let start = self.position;
        self.position += name.len();
        Ok((name, start))
    }

    fn consume(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.position += wanted.len_utf8();
        }
        is_there
    }

    fn skip_blanks(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        let column = u32::try_from(self.position + 1).unwrap_or(u32::MAX);
        Diagnostic::error(Place::file(PIPELINE_SOURCE, 1, column), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let outcome = match Pipeline::parse(text) {
            Ok(pipeline) => pipeline.to_string(),
            Err(error) => error.to_string().replace(PIPELINE_SOURCE, ""),
        };
        assert_eq!(outcome, expected, "{text}");
    }

    #[test]
    fn passes_stand_alone_or_in_functions() {
        check("inline", "inline");
        check(
            " builtin.func( canonicalize ,tfrt-print-stream) , inline ",
            "func(canonicalize,tfrt-print-stream),inline",
        );
    }

    #[test]
    fn a_pipeline_may_name_the_program() {
        check("module(inline)", "inline");
        check(
            " builtin.module( inline , func(canonicalize) ) ",
            "inline,func(canonicalize)",
        );
    }

    #[test]
    fn mistakes_are_located() {
        check("", ":1:1: error: expected the name of a pass");
        check("inline,", ":1:8: error: expected the name of a pass");
        check(
            "inline canonicalize",
            ":1:8: error: expected `,` or the end of the pipeline, found `c`",
        );
        check(
            "func(inline)",
            ":1:6: error: `inline` runs on modules, not on single functions",
        );
        check("func(canonicalize", ":1:18: error: expected `,` or `)`");
        check(
            "inline,module(inline)",
            ":1:8: error: expected `func` in front of `(`, found `module`",
        );
        check("module(inline", ":1:14: error: expected `,` or `)`");
        check(
            "builtin.module(inline),inline",
            ":1:23: error: expected the end of the pipeline, found `,`",
        );
        check(
            "canonicalize{top-down=true}",
            ":1:1: error: `canonicalize` takes no options",
        );
        check(
            "zzzzzzzzz",
            ":1:1: error: 'zzzzzzzzz' does not refer to a registered pass",
        );
    }
}
