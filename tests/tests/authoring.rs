//! What authors can write, run as programs: each file is one kind of parameter or option.
//!
//! Expansions are held to the strictest rules that an author may have.
#![forbid(unsafe_code)]
#![deny(missing_docs, clippy::pedantic)]
#![expect(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    clippy::unnecessary_wraps,
    reason = "the signatures are what is tested"
)]

tfrt::link!(tfrt_kernels);

mod authoring {
    mod attributes;
    mod display;
    mod drops;
    mod functions;
    mod futures;
    mod hygiene;
    mod leaves;
    mod loading;
    mod objects;
    mod op_operands;
    mod ops;
    mod optional;
    mod preallocated;
    mod reports;
    mod resources;
    mod sync_twin;
    mod text;
}
