//! Views of memory: `memref.view` and `memref.reinterpret_cast` become the buffer that they are of,
//! or a part of it.

use tfrt_ir::{Attribute, BlockId, Module, OpId, ValueId};

use super::edit::{self, BUFFER, Builder};
use super::ops::num_bytes;
use crate::dialects::has_no_offset;

/// Replaces the views inside an op, as far as their sizes and offsets are known.
pub(super) fn lower(module: &mut Module, func: OpId) {
    for block in edit::blocks_inside(module, func) {
        for op in module.take_block_ops(block) {
            let memory = match module.op_name(op) {
                "memref.view" => view(module, block, op),
                "memref.reinterpret_cast" => reinterpret_cast(module, block, op),
                _ => None,
            };
            match memory {
                Some(memory) => {
                    let result = module.results(op)[0];
                    module.replace_all_uses(result, memory);
                    module.erase_op(op);
                }
                None => module.append_op(block, op),
            }
        }
    }
}

/// Appends the part of a buffer that a view is of, and returns it as memory.
fn view(module: &mut Module, block: BlockId, op: OpId) -> Option<ValueId> {
    // Further operands are sizes of the result, which is of no fixed size then.
    let (&[source, shift], &[result]) = (module.operands(op), module.results(op)) else {
        return None;
    };
    let (from, to) = (module.value_type(source), module.value_type(result));
    let size = num_bytes(module, to)?;
    let is_whole = num_bytes(module, from) == Some(size) && constant(module, shift) == Some(0);
    let mut builder = Builder {
        location: module.op_location(op),
        module,
        block,
    };
    let mut buffer = builder.buffer(source);
    if !is_whole {
        let offset_type = edit::type_of(builder.module, "ui64");
        let shift = builder.cast(&[shift], &[offset_type])[0];
        let size = builder.constant("ui64", size);
        buffer = builder.value("tfrt_gpu.mem.view", &[buffer, shift, size], &[], BUFFER);
    }
    Some(builder.cast(&[buffer], &[to])[0])
}

/// Appends nothing but casts: the memory is that of the source.
fn reinterpret_cast(module: &mut Module, block: BlockId, op: OpId) -> Option<ValueId> {
    let (Some(&source), &[result]) = (module.operands(op).first(), module.results(op)) else {
        return None;
    };
    if !has_no_offset(module, op) {
        return None;
    }
    let to = module.value_type(result);
    let mut builder = Builder {
        location: module.op_location(op),
        module,
        block,
    };
    let buffer = builder.buffer(source);
    Some(builder.cast(&[buffer], &[to])[0])
}

/// Returns the number that a value is, if the program says so.
fn constant(module: &Module, value: ValueId) -> Option<i128> {
    let op = module.defining_op(value)?;
    if module.op_name(op) != "arith.constant" {
        return None;
    }
    match module.attribute(module.attr(op, "value")?) {
        Attribute::Integer { value, .. } => Some(*value),
        _ => None,
    }
}
