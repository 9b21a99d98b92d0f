//! The options of the rewrites of models.

use tfrt_import::program::Program;
use tfrt_import::rewrite::{Applied, RewriteRules};

use crate::failure::Failure;

/// Which rewrites apply to a model.
#[derive(clap::Args, Debug)]
pub(crate) struct RewriteArguments {
    /// Import the model as it is, or without the rewrites of these names
    #[arg(
        long,
        value_name = "RULE,…",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true
    )]
    no_fuse: Option<Vec<String>>,
}

impl RewriteArguments {
    /// Returns `true` if rewrites are switched off.
    pub(crate) fn are_given(&self) -> bool {
        self.no_fuse.is_some()
    }

    /// Returns the rules that apply.
    pub(crate) fn rules(&self) -> Result<RewriteRules, Failure> {
        match &self.no_fuse {
            None => Ok(RewriteRules::default()),
            Some(names) if names.is_empty() => Ok(RewriteRules::none()),
            Some(names) => {
                let rules = RewriteRules::without(names.iter().map(String::as_str));
                rules.map_err(|error| Failure::Usage(format!("error: {error}")))
            }
        }
    }

    /// Rewrites a program. Returns the rules that were applied.
    pub(crate) fn apply(&self, program: &mut Program) -> Result<Vec<Applied>, Failure> {
        Ok(program.rewrite(&self.rules()?))
    }
}
