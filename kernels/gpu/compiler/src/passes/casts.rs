//! `--cast-tfrt-streamify`: resolves the casts that the other passes left.
//!
//! * A cast and its inverse vanish.
//! * A token made of a chain and a stream whose users only need events records an event on the
//!   stream.
//! * A constant index that is used as another integer becomes a constant of that type, and so does
//!   an `i32` that is used as a `ui32`.
//!
//! Any other cast is an error. Cost: linear in the number of ops.

use tfrt_compiler::passes::{Pass, PassScope};
use tfrt_ir::{Module, OpId, OpState, Signedness, Type, ValueId};

use super::edit::{self, Builder, CAST, CHAIN, CONTEXT, EVENT};
use super::ops::{Parts, Place};

/// The pass.
pub const PASS: Pass = Pass {
    name: "cast-tfrt-streamify",
    summary: "Resolve casts between tokens and the chains and streams that they contain",
    scope: PassScope::Module,
    run: |module, root, _| {
        for op in module.walk(root) {
            if module.op_name(op) == CAST {
                fold_inverse(module, op);
                fold_constant(module, op);
            }
        }
        edit::erase_unused_casts(module, root);
        record_events(module, root);
        edit::erase_unused_casts(module, root);
        super::illegal(module, root, |name| name == CAST, |_| None)
    },
    ..super::NO_PASS
};

/// Replaces the results of a cast by what its operands were cast from.
fn fold_inverse(module: &mut Module, op: OpId) {
    let operands = module.operands(op).to_vec();
    let results = module.results(op).to_vec();
    let is_same = edit::types_of(module, &operands) == edit::types_of(module, &results);
    let source = match is_same {
        true => Some(operands),
        false => edit::cast_source(module, &operands),
    };
    let Some(source) = source else {
        return;
    };
    if edit::types_of(module, &source) == edit::types_of(module, &results) {
        for (&result, &value) in results.iter().zip(&source) {
            module.replace_all_uses(result, value);
        }
    }
}

/// Makes the cast of a constant index a constant, cut to the width of its type.
fn fold_constant(module: &mut Module, op: OpId) {
    let (&[operand], &[result]) = (module.operands(op), module.results(op)) else {
        return;
    };
    let Some(constant) = module.defining_op(operand) else {
        return;
    };
    let spelling = module.type_spelling(module.value_type(result)).to_owned();
    let is_known = match module.op_name(constant) {
        "arith.constant" => {
            edit::is_a(module, operand, "index")
                || edit::is_a(module, operand, "i32") && spelling == "ui32"
        }
        // What such a cast has become.
        "tfrt.constant.i32" => spelling == "ui32",
        _ => false,
    };
    if !is_known {
        return;
    }
    let value = module.attr(constant, "value");
    let Some(value) = value.and_then(|value| module.attribute_int(value)) else {
        return;
    };
    let &Type::Integer { width, signedness } = module.ty(module.value_type(result)) else {
        return;
    };
    if !["i32", "i64", "ui32", "ui64"].contains(&&*spelling) {
        return;
    }
    let mut cut = value.rem_euclid(1 << width);
    if signedness != Signedness::Unsigned && cut >= 1 << (width - 1) {
        cut -= 1 << width;
    }
    let ty = module.value_type(result);
    let attribute = module.intern_attribute(tfrt_ir::Attribute::Integer { value: cut, ty });
    let mut state = OpState::new(format!("tfrt.constant.{spelling}"), module.op_location(op));
    state.attributes.push(("value".into(), attribute));
    state.result_types.push(ty);
    let new = module.create_op(state);
    if let (Some(block), Some(index)) = (module.op_block(op), module.op_index(op)) {
        module.insert_op(block, index, new);
    }
    let value = module.results(new)[0];
    module.replace_all_uses(result, value);
}

/// Records the events of tokens of which nothing else is wanted.
fn record_events(module: &mut Module, root: OpId) {
    for block in edit::blocks_inside(module, root) {
        for op in module.take_block_ops(block) {
            let Some((parts, stream)) = wanted_event(module, op) else {
                module.append_op(block, op);
                continue;
            };
            let location = module.op_location(op);
            let token = module.results(op)[0];
            let mut builder = Builder {
                module,
                block,
                location,
            };
            let context = builder.value("tfrt_gpu.stream.get_context", &[stream], &[], CONTEXT);
            let event = builder.value("tfrt_gpu.event.create", &[context], &[], EVENT);
            let operands = [event, stream, parts.chain];
            let chain = builder.value("tfrt_gpu.event.record", &operands, &[], CHAIN);
            for user in users(module, token) {
                let [to_chain, to_event] = [0, 1].map(|index| module.results(user)[index]);
                module.replace_all_uses(to_chain, chain);
                module.replace_all_uses(to_event, event);
                module.erase_op(user);
            }
            module.erase_op(op);
        }
    }
}

fn users(module: &Module, value: ValueId) -> Vec<OpId> {
    let uses = module.uses(value);
    uses.map(|used| used.op).collect()
}

/// Returns the parts of the token that a cast makes, with its stream, if all users of the token
/// want a chain and an event.
fn wanted_event(module: &Module, op: OpId) -> Option<(Parts, ValueId)> {
    let &[token] = module.results(op) else {
        return None;
    };
    if module.op_name(op) != CAST {
        return None;
    }
    let parts = Parts::of(module, token)?;
    let Place::Stream(stream) = parts.place else {
        return None;
    };
    let users = users(module, token);
    let wants_event = |user: &OpId| {
        let results = module.results(*user).iter();
        let types = results.map(|&result| module.type_spelling(module.value_type(result)));
        module.op_name(*user) == CAST && types.eq([CHAIN, EVENT])
    };
    (!users.is_empty() && users.iter().all(wants_event)).then_some((parts, stream))
}
