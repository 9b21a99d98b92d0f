//! The options that limit the parts of models.

use tfrt_import::{Limit, Limits};

/// How large the parts of a model may be.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelLimitArguments {
    /// The maximum nesting depth of graphs
    #[arg(long, help_heading = "Limits of models", value_name = "LEVELS", default_value_t = Limits::default().get(Limit::Subgraphs))]
    max_subgraphs: u64,

    /// The maximum nesting depth of calls of functions
    #[arg(long, help_heading = "Limits of models", value_name = "LEVELS", default_value_t = Limits::default().get(Limit::FunctionCalls))]
    max_function_calls: u64,

    /// The maximum number of nodes after functions are inlined
    #[arg(long, help_heading = "Limits of models", value_name = "NODES", default_value_t = Limits::default().get(Limit::Nodes))]
    max_nodes: u64,

    /// The maximum number of dimensions of a tensor
    #[arg(long, help_heading = "Limits of models", value_name = "DIMENSIONS", default_value_t = Limits::default().get(Limit::Rank))]
    max_rank: u64,

    /// The maximum size of a dimension
    #[arg(long, help_heading = "Limits of models", value_name = "EXTENT", default_value_t = Limits::default().get(Limit::Extent))]
    max_extent: u64,

    /// The maximum number of elements of an attribute
    #[arg(long, help_heading = "Limits of models", value_name = "ELEMENTS", default_value_t = Limits::default().get(Limit::ListElements))]
    max_list_elements: u64,

    /// The maximum length of a string, in bytes
    #[arg(long, help_heading = "Limits of models", value_name = "BYTES", default_value_t = Limits::default().get(Limit::TextBytes))]
    max_text_bytes: u64,

    /// The maximum size of a sparse tensor after expansion, in bytes
    #[arg(long, help_heading = "Limits of models", value_name = "BYTES", default_value_t = Limits::default().get(Limit::DenseBytes))]
    max_dense_bytes: u64,

    /// The maximum size of the resulting program, in bytes
    #[arg(long, help_heading = "Limits of models", value_name = "BYTES", default_value_t = Limits::default().get(Limit::ProgramBytes))]
    max_program_bytes: u64,

    /// The maximum size of the results of an op that is computed when the model is loaded, in bytes
    #[arg(long, help_heading = "Limits of models", value_name = "BYTES", default_value_t = Limits::default().get(Limit::FoldedResultBytes))]
    max_folded_result_bytes: u64,

    /// The maximum number of bytes that ops read and write when the model is loaded; 0 leaves all
    /// ops to the runs
    #[arg(long, help_heading = "Limits of models", value_name = "BYTES", default_value_t = Limits::default().get(Limit::FoldedBytes))]
    max_folded_bytes: u64,
}

impl ModelLimitArguments {
    /// Returns the limits, as given or by default.
    pub(crate) fn limits(&self) -> Limits {
        let given = [
            (Limit::Subgraphs, self.max_subgraphs),
            (Limit::FunctionCalls, self.max_function_calls),
            (Limit::Nodes, self.max_nodes),
            (Limit::Rank, self.max_rank),
            (Limit::Extent, self.max_extent),
            (Limit::ListElements, self.max_list_elements),
            (Limit::TextBytes, self.max_text_bytes),
            (Limit::DenseBytes, self.max_dense_bytes),
            (Limit::ProgramBytes, self.max_program_bytes),
            (Limit::FoldedResultBytes, self.max_folded_result_bytes),
            (Limit::FoldedBytes, self.max_folded_bytes),
        ];
        given
            .into_iter()
            .fold(Limits::default(), |limits, (limit, value)| {
                limits.with(limit, value)
            })
    }
}
