//! What the standard kernels and ops do: one binary, since linking one for each module would take
//! much longer. Tests of what a process has once, such as its traces and its registry, are binaries
//! of their own.

mod control_flow;
mod eager_repeated_calls;
mod function_ops;
mod images;
mod numeric;
mod numpy;
mod op_library;
mod pipelines;
mod reuse;
mod rewrites;
mod variables;
