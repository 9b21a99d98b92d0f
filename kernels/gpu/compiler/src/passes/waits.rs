//! `gpu.wait`: the joining of streams.
//!
//! ```text
//!   chain 0, stream ─┐
//!   chain 1, event 1 ─┼─► merged chain ─► stream waits for event 1, event 2 ─► chain, stream
//!   chain 2, event 2 ─┘
//! ```
//!
//! Other blocks use the result through an event, because they may run at any time, on separate
//! streams.

use tfrt_ir::{BlockId, OpId, Use, ValueId};

use super::edit::{self, Builder, CHAIN, EVENT, STREAM};
use super::ops::{Lowering, Parts, Place};

/// The reason why a wait for several streams remains.
pub(super) const MORE_THAN_ONE_STREAM: &str = "more than one stream";

/// Appends what makes a stream wait for all of these, and returns the chain of that.
pub(super) fn join(builder: &mut Builder<'_>, parts: &[Parts], stream: ValueId) -> ValueId {
    let mut chains: Vec<ValueId> = Vec::with_capacity(parts.len());
    for part in parts {
        if !chains.contains(&part.chain) {
            chains.push(part.chain);
        }
    }
    let mut chain = builder.merge(&chains);
    for part in parts {
        if let Place::Event(event) = part.place {
            let operands = [stream, event, chain];
            chain = builder.value("tfrt_gpu.stream.wait", &operands, &[], CHAIN);
        }
    }
    chain
}

/// Lowers a wait that returns a token. Returns whether it did.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    block: BlockId,
    op: OpId,
    end: Option<OpId>,
) -> bool {
    let &[result] = lowering.module.results(op) else {
        return false;
    };
    let tokens = lowering.module.operands(op).to_vec();
    let parts = tokens
        .iter()
        .map(|&token| Parts::of(lowering.module, token));
    let Some(parts) = parts.collect::<Option<Vec<Parts>>>() else {
        return false;
    };
    let streams = parts.iter().filter_map(|part| match part.place {
        Place::Stream(stream) => Some(stream),
        Place::Event(_) => None,
    });
    let mut streams: Vec<ValueId> = streams.collect();
    streams.dedup();
    if streams.len() > 1 {
        lowering.reasons.insert(op, MORE_THAN_ONE_STREAM);
        return false;
    }
    let new = match (&tokens[..], streams.first()) {
        (&[token], Some(_)) => token,
        (_, stream) => {
            let stream = stream.copied().or_else(|| stream_of(lowering, block, op));
            let Some(stream) = stream else {
                return false;
            };
            let mut builder = lowering.builder(block, op);
            let chain = join(&mut builder, &parts, stream);
            builder.token(chain, stream)
        }
    };
    through_event(lowering, block, op, end, new);
    lowering.module.replace_all_uses(result, new);
    true
}

/// Returns the stream of a block, or a new one.
fn stream_of(lowering: &mut Lowering<'_>, block: BlockId, op: OpId) -> Option<ValueId> {
    let mut arguments = lowering.module.block_arguments(block).iter().copied();
    if let Some(stream) = arguments.find(|&value| edit::is_a(lowering.module, value, STREAM)) {
        return Some(stream);
    }
    let context = lowering.context(op)?;
    let mut builder = lowering.builder(block, op);
    Some(builder.value("tfrt_gpu.stream.create", &[context], &[], STREAM))
}

/// Makes the uses of the result of `op` in other blocks, and in the end of this one, use the token
/// `new` after an event.
fn through_event(
    lowering: &mut Lowering<'_>,
    block: BlockId,
    op: OpId,
    end: Option<OpId>,
    new: ValueId,
) {
    let result = lowering.module.results(op)[0];
    // The rest of this block is in no block while it is lowered.
    let is_elsewhere = |used: &Use| {
        let place = lowering.module.op_block(used.op);
        place.is_some_and(|place| place != block) || end == Some(used.op)
    };
    let uses: Vec<Use> = lowering.module.uses(result).filter(is_elsewhere).collect();
    if uses.is_empty() {
        return;
    }
    let mut builder = lowering.builder(block, op);
    let types = [CHAIN, EVENT].map(|ty| edit::type_of(builder.module, ty));
    let parts = builder.typed(edit::CAST, &[new], &[], types.to_vec());
    let token = builder.token(parts[0], parts[1]);
    for used in uses {
        lowering.module.set_operand(used.op, used.operand, token);
    }
}
