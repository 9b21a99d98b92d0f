//! The second phase: the bodies of the functions.

use std::collections::HashMap;

use tfrt_bef::format::KernelFlags;
use tfrt_bef::write::{Body, BodyKernel, KernelAttribute};
use tfrt_bef::{FunctionId, RegisterId};
use tfrt_ir::{AttrId, Attribute, Module, OpId, ValueId};
use tfrt_support::entity::EntityId;

use super::collect::{Collection, PlannedBody, is_return, is_symbol_list};
use super::locations::file_location;
use crate::stream_analysis::analyze_block;
use crate::stream_analysis::graph::{NodeId, StreamId};
use crate::{COST_ATTRIBUTE, NON_STRICT_ATTRIBUTE};

/// Defines the body of every function.
pub(super) fn define_bodies(module: &Module, collection: &mut Collection) {
    for planned in std::mem::take(&mut collection.bodies) {
        let body = body(module, collection, &planned);
        collection.builder.define_body(planned.function, body);
    }
}

fn body(module: &Module, collection: &mut Collection, planned: &PlannedBody) -> Body {
    let ops = module.block_ops(planned.block);
    let arguments = module.block_arguments(planned.block);
    let streams = analyze_block(module, planned.block);
    let registers = Registers::new(module, arguments, ops);
    let register_types = registers.values.iter().map(|&value| {
        let spelling = module.type_spelling(module.value_type(value));
        collection.builder.add_type(spelling)
    });
    let mut body = Body {
        location: Some(file_location(module, module.op_location(planned.owner))),
        root_stream: stream_number(streams.root()),
        num_arguments: arguments.len(),
        register_types: register_types.collect(),
        kernels: Vec::with_capacity(ops.len()),
        results: Vec::new(),
    };
    for (index, &op) in ops.iter().enumerate() {
        if is_return(module, op) {
            body.results = registers.of_all(module.operands(op));
        } else {
            let stream = stream_number(streams.of(NodeId::from_index(index)));
            body.kernels
                .push(kernel(module, collection, op, stream, &registers));
        }
    }
    body
}

fn kernel(
    module: &Module,
    collection: &mut Collection,
    op: OpId,
    stream: u32,
    registers: &Registers,
) -> BodyKernel {
    let mut kernel = BodyKernel {
        location: Some(file_location(module, module.op_location(op))),
        stream,
        operands: registers.of_all(module.operands(op)),
        results: registers.of_all(module.results(op)),
        ..BodyKernel::new(collection.builder.add_kernel_name(module.op_name(op)))
    };
    for &(name, attribute) in module.attributes(op) {
        let name = module.name(name);
        if name == COST_ATTRIBUTE {
            continue;
        }
        if name == NON_STRICT_ATTRIBUTE {
            kernel.flags = KernelFlags::NON_STRICT;
            continue;
        }
        let function = |attribute| function_of(module, collection, attribute);
        match (
            collection.attributes.get(&attribute),
            module.attribute(attribute),
        ) {
            (Some(&value), _) => kernel.attributes.push(KernelAttribute {
                name: name.to_owned(),
                value,
            }),
            (None, Attribute::Array(elements)) if is_symbol_list(module, elements) => {
                kernel
                    .functions
                    .extend(elements.iter().filter_map(|&element| function(element)));
            }
            (None, _) => kernel.functions.extend(function(attribute)),
        }
    }
    kernel.functions.extend(
        module
            .regions(op)
            .iter()
            .filter_map(|region| collection.regions.get(region)),
    );
    kernel
}

/// Returns the function that a symbol refers to. By E1 there is one.
fn function_of(module: &Module, collection: &Collection, attribute: AttrId) -> Option<FunctionId> {
    collection
        .functions
        .get(module.attribute_flat_symbol(attribute)?)
        .copied()
}

fn stream_number(stream: StreamId) -> u32 {
    // An id holds 32 bits.
    stream.index() as u32
}

/// The registers of a body: its arguments, then the results of its ops in program order.
struct Registers {
    values: Vec<ValueId>,
    numbers: HashMap<ValueId, RegisterId>,
}

impl Registers {
    fn new(module: &Module, arguments: &[ValueId], ops: &[OpId]) -> Self {
        let results = ops.iter().flat_map(|&op| module.results(op));
        let values: Vec<ValueId> = arguments.iter().chain(results).copied().collect();
        let numbers = values
            .iter()
            .enumerate()
            .map(|(index, &value)| (value, RegisterId::from_index(index)))
            .collect();
        Self { values, numbers }
    }

    /// Returns the registers of values, all of which the body defines, by E1.
    fn of_all(&self, values: &[ValueId]) -> Vec<RegisterId> {
        values
            .iter()
            .filter_map(|value| self.numbers.get(value).copied())
            .collect()
    }
}
