//! Chains: values without content that order kernels.

use tfrt::prelude::*;

/// Starts a chain.
#[tfrt_kernel("tfrt.new.chain", pure, chain_source, chain = none, format = "attr-dict")]
fn new_chain() -> Chain {
    Chain
}

/// Returns a chain that is ready once every operand is available, and an error if one of them is an
/// error. The operands may have any type.
#[tfrt_kernel(
    "tfrt.merge.chains",
    pure,
    chain_merge,
    cheap,
    format = "$values attr-dict `:` type($values)"
)]
fn merge_chains(_values: &[AnyRef]) -> Chain {
    // The executor starts the kernel when all operands are there, which is all there is to wait
    // for.
    Chain
}

/// Returns the value itself, but only once the chain is ready.
#[tfrt_kernel("tfrt.alias.value")]
fn alias_value(_chain: Chain, value: AnyRef) -> AnyRef {
    value
}
