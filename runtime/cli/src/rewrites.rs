//! The options of the rewrites of models.

use std::sync::Arc;

use tfrt_host::HostContext;
use tfrt_host::kernel::KernelRegistry;
use tfrt_import::Limits;
use tfrt_import::program::Program;
use tfrt_import::rewrite::{Folding, RewriteRules, Rewriting};
use tfrt_support::Error;

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

    /// Where channels of images are kept: `auto` moves them last for convolutions, `as-is` does not
    #[arg(long, value_name = "LAYOUT", value_enum, default_value = "auto")]
    layout: Layout,
}

/// Where the channels of images are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    Auto,
    AsIs,
}

impl RewriteArguments {
    /// Returns an option that switches rewrites off.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let layout = (self.layout == Layout::AsIs).then_some("--layout");
        self.no_fuse.is_some().then_some("--no-fuse").or(layout)
    }

    /// Returns the rules that apply.
    pub(crate) fn rules(&self) -> Result<RewriteRules, Failure> {
        let rules = match &self.no_fuse {
            None => RewriteRules::default(),
            Some(names) if names.is_empty() => RewriteRules::none(),
            Some(names) => {
                let rules = RewriteRules::without(names.iter().map(String::as_str));
                rules.map_err(|error| Failure::Usage(format!("error: {error}")))?
            }
        };
        Ok(match self.layout {
            Layout::Auto => rules,
            Layout::AsIs => rules.without_layouts(),
        })
    }

    /// Rewrites a program, whose ops on constants the host computes.
    pub(crate) fn apply(
        &self,
        program: &mut Program,
        host: &Arc<HostContext>,
        limits: &Limits,
    ) -> Result<Rewriting, Failure> {
        let applied = apply(program, &self.rules()?, host, limits);
        applied.map_err(|error| Failure::caused("error", error))
    }
}

/// Rewrites a program, whose ops on constants the host computes.
pub(crate) fn apply(
    program: &mut Program,
    rules: &RewriteRules,
    host: &Arc<HostContext>,
    limits: &Limits,
) -> Result<Rewriting, Error> {
    Ok(program.rewrite_and_fold(rules, Folding::new(host, limits)?))
}

/// Returns a host for computations during an import.
pub(crate) fn host_of_import(kernels: &Arc<KernelRegistry>) -> Arc<HostContext> {
    HostContext::builder().registry(Arc::clone(kernels)).build()
}
