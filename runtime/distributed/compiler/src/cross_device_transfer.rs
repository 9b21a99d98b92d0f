//! Transfers across devices: copies the handles that an op takes to its device.
//!
//! Preconditions: the program is verified.
//!
//! ```text
//!  %y = corert.executeop(%gpu) "tf.Relu"(%x) {device = "/device:GPU:0"} : 1     %x is on CPU:0
//!
//!  becomes
//!
//!  %d = tfrt.get_device %ch {device_name = "GPU:0"}
//!  %k = corert.get_dst_tensor_type %x, %d
//!  %z = corert.transfer %x, %d, %k
//!  %y = corert.executeop(%gpu) "tf.Relu"(%z) {device = "/device:GPU:0"} : 1
//! ```
//!
//! The device of an op is its attribute `device`, or the attribute `device` of the op that it runs;
//! the device of an argument of the function is the argument's attribute `tfrt.device`. The default
//! is the first CPU. Only the part of a device's name that its own task uses counts: its type in
//! upper case, and its number, which is 0 if there is none.
//!
//! A block has one transfer for each value and destination. Transfers follow the first argument of
//! their block that is a chain, and otherwise a new chain: to find a device has no effects.
//!
//! The op that ends a body takes its handles from everywhere, and so do the ops of transfers. So
//! running the pass twice changes nothing more. Cost: linear in the number of ops.

use std::collections::HashMap;

use tfrt_ir::symbols::ARGUMENT_ATTRIBUTES;
use tfrt_ir::{Attribute, BlockId, Module, OpId, ValueDef, ValueId};
use tfrt_ods::OpTraits;

use crate::builder::{Builder, is_of_type};
use crate::encapsulate::entry;
use crate::names;

/// The device of values and ops that do not name one.
const DEFAULT_DEVICE: &str = "CPU:0";

/// Copies the handles that ops of a function take from other devices.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed_compiler::transfer_across_devices;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
///
/// let registry = Arc::new(Registry::new([], [])?);
/// let source = r#"
///   func @f(%c: !tfrt.chain, %x: !corert.tensorhandle) {
///     "my.use"(%x) {device = "/device:GPU:1"} : (!corert.tensorhandle) -> ()
///   }"#;
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let mut module = parse(source, "p.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let func = module.functions(module.root()).next().ok_or("no function")?;
/// transfer_across_devices(&mut module, func);
/// let text = print(&module, &PrintOptions::default());
/// assert!(text.contains(r#""tfrt.get_device"(%arg0) {device_name = "GPU:1"}"#), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transfer_across_devices(module: &mut Module, func: OpId) {
    let mut transferred: HashMap<(BlockId, ValueId, String), ValueId> = HashMap::new();
    let mut chains: HashMap<BlockId, ValueId> = HashMap::new();
    for op in module.walk(func) {
        let Some(block) = module.op_block(op).filter(|_| op != func) else {
            continue;
        };
        if takes_from_everywhere(module, op) {
            continue;
        }
        let destination = device_of_op(module, op);
        for (index, value) in module.operands(op).to_vec().into_iter().enumerate() {
            let stays = !is_of_type(module, value, names::HANDLE_TYPE)
                || device_of_value(module, func, value) == destination;
            if stays {
                continue;
            }
            let key = (block, value, destination.clone());
            let copy = match transferred.get(&key) {
                Some(copy) => *copy,
                None => {
                    let chain = match chains.get(&block) {
                        Some(chain) => *chain,
                        None => chain_of(module, block),
                    };
                    chains.insert(block, chain);
                    let copy = transfer(module, op, (value, chain), &destination);
                    transferred.insert(key, copy);
                    copy
                }
            };
            module.set_operand(op, index, copy);
        }
    }
}

fn takes_from_everywhere(module: &Module, op: OpId) -> bool {
    let of_transfer = [names::TRANSFER, names::TENSOR_TYPE_ON_DEVICE];
    let def = module.op_def(op);
    of_transfer.contains(&module.op_name(op))
        || def.is_some_and(|def| def.traits.contains(OpTraits::TERMINATOR))
}

/// Copies a handle in front of an op.
fn transfer(
    module: &mut Module,
    op: OpId,
    (value, chain): (ValueId, ValueId),
    destination: &str,
) -> ValueId {
    let mut build = Builder::before(module, op);
    let name = build.module.string_attr(destination);
    let name = vec![(names::DEVICE_NAME.to_owned(), name)];
    let device = build.value(names::GET_DEVICE, vec![chain], name, names::DEVICE_TYPE);
    let kind = vec![value, device];
    let kind = build.value(
        names::TENSOR_TYPE_ON_DEVICE,
        kind,
        Vec::new(),
        names::TENSOR_KIND_TYPE,
    );
    let copied = vec![value, device, kind];
    build.value(names::TRANSFER, copied, Vec::new(), names::HANDLE_TYPE)
}

/// Returns the first argument of a block that is a chain, or a new chain.
fn chain_of(module: &mut Module, block: BlockId) -> ValueId {
    let mut arguments = module.block_arguments(block).iter().copied();
    let first = arguments.find(|value| is_of_type(module, *value, names::CHAIN_TYPE));
    if let Some(chain) = first {
        return chain;
    }
    // The op that takes the handle is one of them.
    let first_op = module.block_ops(block)[0];
    let mut build = Builder::before(module, first_op);
    build.value(names::NEW_CHAIN, Vec::new(), Vec::new(), names::CHAIN_TYPE)
}

fn device_of_value(module: &Module, func: OpId, value: ValueId) -> String {
    match module.value_def(value) {
        ValueDef::Argument { block, index } if module.entry_block(func) == Some(block) => {
            let attributes = module.attr(func, ARGUMENT_ATTRIBUTES);
            let attributes = attributes.and_then(|list| match module.attribute(list) {
                Attribute::Array(attributes) => attributes.get(index).copied(),
                _ => None,
            });
            let named =
                attributes.and_then(|of_argument| entry(module, of_argument, names::VALUE_DEVICE));
            local_part(named.unwrap_or_default())
        }
        ValueDef::Argument { .. } => DEFAULT_DEVICE.to_owned(),
        ValueDef::Result { op, .. } if module.op_name(op) == names::TRANSFER => {
            let device = module.operands(op).get(1).copied();
            let found = device.and_then(|device| module.defining_op(device));
            let name = found.and_then(|found| module.attr(found, names::DEVICE_NAME));
            let name = name.and_then(|name| module.attribute_str(name));
            local_part(name.unwrap_or_default())
        }
        ValueDef::Result { op, .. } => device_of_op(module, op),
    }
}

fn device_of_op(module: &Module, op: OpId) -> String {
    let own = module.attr(op, names::DEVICE);
    let own = own.and_then(|device| module.attribute_str(device));
    let device = own.or_else(|| device_among_attributes(module, op));
    local_part(device.unwrap_or_default())
}

/// Returns the device among the attributes of the op that an op runs.
pub(crate) fn device_among_attributes(module: &Module, op: OpId) -> Option<&str> {
    let Attribute::Array(pairs) = module.attribute(module.attr(op, names::OP_ATTRIBUTES)?) else {
        return None;
    };
    pairs.iter().find_map(|pair| match module.attribute(*pair) {
        Attribute::Array(pair) => match **pair {
            [name, value] if module.attribute_str(name) == Some(names::DEVICE) => {
                module.attribute_str(value)
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the name of a device as its own task calls it, such as `GPU:0`.
fn local_part(device: &str) -> String {
    let local = match device.rsplit_once("/device:") {
        Some((_, local)) => local,
        None => device.trim_start_matches('/'),
    };
    let (ty, number) = local.split_once(':').unwrap_or((local, "0"));
    match ty {
        "" => DEFAULT_DEVICE.to_owned(),
        _ => format!("{}:{number}", ty.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::local_part;

    #[test]
    fn only_the_part_of_the_own_task_counts() {
        for (device, expected) in [
            ("", "CPU:0"),
            ("/job:localhost/replica:0/task:0/device:CPU:0", "CPU:0"),
            ("/job:worker/task:3/device:gpu:1", "GPU:1"),
            ("/device:GPU", "GPU:0"),
            ("gpu:2", "GPU:2"),
        ] {
            assert_eq!(local_part(device), expected, "{device}");
        }
    }
}
