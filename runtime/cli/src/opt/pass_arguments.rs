//! The flags that select passes, which run in the order of the command line.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use tfrt_compiler::passes::{Pass, Pipeline};
use tfrt_support::Diagnostic;

const PIPELINE: &str = "pass-pipeline";

/// The texts of pipelines: a flag `--inline` is the pipeline `inline`, and `--pass=a=1` is
/// `pass{a=1}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassArguments {
    pipelines: Vec<String>,
}

/// Text that is not a valid pipeline.
pub(crate) struct Mistake<'a> {
    /// The text as typed.
    pub(crate) text: &'a str,
    /// The error in it.
    pub(crate) diagnostic: Diagnostic,
}

impl PassArguments {
    /// Everything in one pipeline.
    pub(crate) fn pipeline(&self) -> Result<Pipeline, Mistake<'_>> {
        let mut whole = Pipeline::default();
        for text in &self.pipelines {
            let pipeline = Pipeline::parse(text);
            whole.append(pipeline.map_err(|diagnostic| Mistake { text, diagnostic })?);
        }
        Ok(whole)
    }
}

/// Returns the summary of a pass, with its options.
fn help_of(pass: &Pass) -> String {
    match pass.options {
        [] => pass.summary.to_owned(),
        options => format!("{}; options: {}", pass.summary, options.join(", ")),
    }
}

// Derived arguments forget in which order flags of different names stood, so these are declared and
// read by hand.
impl Args for PassArguments {
    fn augment_args(command: Command) -> Command {
        let flags = Pass::all().into_iter().map(|pass| {
            let flag = Arg::new(pass.name)
                .long(pass.name)
                .help(help_of(pass))
                .help_heading("Passes")
                .action(ArgAction::Append)
                .default_missing_value("");
            if pass.options.is_empty() {
                return flag.num_args(0);
            }
            flag.num_args(0..=1)
                .require_equals(true)
                .value_name("OPTION=VALUE …")
        });
        command.args(flags).arg(
            Arg::new(PIPELINE)
                .long(PIPELINE)
                .value_name("PASS,…")
                .help(
                    "Run passes in this order; `func(PASS,…)` runs its passes on one function at \
                     a time",
                )
                .help_heading("Passes")
                .action(ArgAction::Append),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PassArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut placed: Vec<(usize, String)> = Vec::new();
        for name in Pass::all()
            .into_iter()
            .map(|pass| pass.name)
            .chain([PIPELINE])
        {
            if let (Some(indices), Some(texts)) =
                (matches.indices_of(name), matches.get_many::<String>(name))
            {
                let pipelines = texts.map(|text| match name {
                    PIPELINE => text.clone(),
                    pass if text.is_empty() => pass.to_owned(),
                    pass => format!("{pass}{{{text}}}"),
                });
                placed.extend(indices.zip(pipelines));
            }
        }
        placed.sort_unstable();
        let pipelines = placed.into_iter().map(|(_, text)| text).collect();
        Ok(Self { pipelines })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_run_in_the_order_of_the_command_line() {
        let command = PassArguments::augment_args(Command::new("opt"));
        let typed = [
            "opt",
            "--tfrt-print-stream",
            "--inline",
            "--pass-pipeline=func(canonicalize)",
            "--inline",
        ];
        let matches = command.get_matches_from(typed);
        let arguments = PassArguments::from_arg_matches(&matches).unwrap_or_default();
        let pipeline = arguments.pipeline().map(|pipeline| pipeline.to_string());
        assert_eq!(
            pipeline.ok().as_deref(),
            Some("tfrt-print-stream,inline,func(canonicalize),inline")
        );
    }
}
