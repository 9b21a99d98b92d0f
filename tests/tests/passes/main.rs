//! Passes keep what programs do: random programs give the same results and the same effects before
//! and after, under any work queue.
//!
//! `TFRT_STRESS=N` tries N programs of each kind instead of some.

mod kernels;

mod bench;

mod with_chains;

mod chain_free;

use tfrt_compiler::passes::{Pass, Pipeline};

tfrt::link!(tfrt_kernels);

#[test]
fn every_pass_stands_alone_in_a_pipeline() {
    for pass in Pass::all() {
        let pipeline = Pipeline::parse(pass.name).map(|pipeline| pipeline.to_string());
        assert_eq!(pipeline.as_deref(), Ok(pass.name));
    }
}
