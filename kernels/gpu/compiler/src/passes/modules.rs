//! Modules of device code and globals become functions that create them, once for each context.

use tfrt_ir::{
    Attribute, DenseElements, FloatType, Module, OpDiagnostics, OpId, Signedness, Type, TypeId,
    ValueId,
};
use tfrt_support::Diagnostic;

use super::edit::{self, BUFFER, Builder, CHAIN, CONTEXT, MODULE, RETURN, STREAM};
use super::ops::{num_bytes, num_elements};
use crate::dialects::{GLOBAL_TYPE, INITIAL_VALUE, element_type};

/// The attribute with the device code of a module.
const BINARY: &str = "binary";
/// The attribute with the globals of a module that the host initializes.
const CONSTANTS: &str = "constants";
/// The attribute of a global that is in a module.
const GPU_MODULE: &str = "gpu_module";

/// The most elements of the globals of a module that may become attributes.
const MAX_ELEMENTS: u64 = 1 << 22;

/// The highest rank of host tensors that kernels make.
const MAX_RANK: usize = 4;

/// Replaces the modules and globals of `root`. Returns the error in them.
pub(super) fn lower(module: &mut Module, root: OpId) -> Vec<Diagnostic> {
    let Some(block) = module.entry_block(root) else {
        return Vec::new();
    };
    let of_name = |module: &Module, name: &str| -> Vec<OpId> {
        let ops = module.block_ops(block).iter().copied();
        ops.filter(|&op| module.op_name(op) == name).collect()
    };
    let mut findings = Vec::new();
    // Initializers of a module read the globals, so these are replaced afterwards.
    let steps: [(&str, Lower); 2] = [("gpu.module", gpu_module), ("memref.global", global)];
    let mut room = MAX_ELEMENTS;
    for (name, lower) in steps {
        for op in of_name(module, name) {
            match lower(module, root, op, &mut room) {
                Ok(func) => {
                    let index = module.op_index(op);
                    if let (Some(func), Some(index)) = (func, index) {
                        module.insert_op(block, index, func);
                    }
                    module.erase_op(op);
                }
                Err(Refusal::Stays) => {}
                Err(Refusal::Message(message)) => {
                    let diagnose = OpDiagnostics { shows_op: true };
                    findings.push(diagnose.op_error(module, op, message));
                }
            }
        }
    }
    findings
}

/// Makes the function for an op, or nothing if the op vanishes. The last argument is how many
/// elements the module may still initialize.
type Lower = fn(&mut Module, OpId, OpId, &mut u64) -> Result<Option<OpId>, Refusal>;

/// The reasons why an op is not replaced.
enum Refusal {
    /// It has no source to be created from; the pass reports it as a remaining op.
    Stays,
    /// It is wrong.
    Message(String),
}

/// `gpu.module` becomes a function that loads it.
fn gpu_module(
    module: &mut Module,
    root: OpId,
    op: OpId,
    room: &mut u64,
) -> Result<Option<OpId>, Refusal> {
    let (Some(name), Some(binary)) = (
        module.symbol_name(op).map(str::to_owned),
        module.attr(op, BINARY),
    ) else {
        return Err(Refusal::Stays);
    };
    let Attribute::String(image) = module.attribute(binary) else {
        return Err(Refusal::Stays);
    };
    if image.is_empty() {
        return Ok(None);
    }
    let mut image = image.to_vec();
    image.push(0);
    let constants = constants_of(module, root, op, room)?;
    let location = module.op_location(op);
    let (func, block) = edit::create_function(module, &name, &[CONTEXT], &[MODULE], location);
    let context = module.block_arguments(block)[0];
    let mut builder = Builder {
        module,
        block,
        location,
    };
    let image = builder.module.string_attr(image);
    let mut loaded = builder.value(
        "tfrt_gpu.module.load",
        &[context],
        &[("data", image)],
        MODULE,
    );
    if !constants.is_empty() {
        let mut chain = builder.merge(&[]);
        let stream = builder.value("tfrt_gpu.stream.create", &[context], &[], STREAM);
        for (name, value) in constants {
            let symbol = builder.module.string_attr(&name);
            let attributes = [("name", symbol)];
            let buffer =
                builder.value("tfrt_gpu.module.get_global", &[loaded], &attributes, BUFFER);
            chain = initialize(&mut builder, &value, [buffer, stream, chain]);
        }
        let operands = [stream, chain];
        let done = builder.value("tfrt_gpu.stream.synchronize", &operands, &[], CHAIN);
        loaded = builder.value("tfrt_gpu.alias", &[loaded, done], &[], MODULE);
    }
    builder.op(RETURN, &[loaded], &[], &[]);
    Ok(Some(func))
}

/// Returns the globals that the host initializes in a module, with their values.
fn constants_of(
    module: &Module,
    root: OpId,
    op: OpId,
    room: &mut u64,
) -> Result<Vec<(String, Numbers)>, Refusal> {
    let Some(constants) = module.attr(op, CONSTANTS) else {
        return Ok(Vec::new());
    };
    let Attribute::Array(names) = module.attribute(constants) else {
        let message = format!("expects `{CONSTANTS}` to be a list of globals");
        return Err(Refusal::Message(message));
    };
    let mut found = Vec::new();
    for &name in names {
        let Some(name) = module.attribute_flat_symbol(name) else {
            let message = format!("expects `{CONSTANTS}` to be a list of globals");
            return Err(Refusal::Message(message));
        };
        let global = module.lookup_symbol(root, name);
        let Some(global) = global.filter(|&op| module.op_name(op) == "memref.global") else {
            return Err(Refusal::Message(format!(
                "refers to the unknown global `{name}`"
            )));
        };
        let Some(numbers) = Numbers::of(module, global, room)? else {
            return Err(Refusal::Message(format!(
                "refers to the global `{name}`, which has no value"
            )));
        };
        found.push((name.to_owned(), numbers));
    }
    Ok(found)
}

/// `memref.global` becomes a function that returns its memory.
fn global(
    module: &mut Module,
    _root: OpId,
    op: OpId,
    room: &mut u64,
) -> Result<Option<OpId>, Refusal> {
    let Some(name) = module.symbol_name(op).map(str::to_owned) else {
        return Err(Refusal::Stays);
    };
    let location = module.op_location(op);
    let of_module = module.attr(op, GPU_MODULE);
    let of_module = of_module.and_then(|of| module.attribute_flat_symbol(of));
    if let Some(of_module) = of_module.map(str::to_owned) {
        let (func, block) = edit::create_function(module, &name, &[CONTEXT], &[BUFFER], location);
        let context = module.block_arguments(block)[0];
        let mut builder = Builder {
            module,
            block,
            location,
        };
        let loaded = builder.once(&of_module, context, MODULE);
        let symbol = builder.module.string_attr(&name);
        let attributes = [("name", symbol)];
        let buffer = builder.value("tfrt_gpu.module.get_global", &[loaded], &attributes, BUFFER);
        builder.op(RETURN, &[buffer], &[], &[]);
        return Ok(Some(func));
    }
    let Some(numbers) = Numbers::of(module, op, room)? else {
        return Err(Refusal::Stays);
    };
    let Some(size) = num_bytes(module, numbers.memory) else {
        return Err(Refusal::Stays);
    };
    let (func, block) = edit::create_function(module, &name, &[CONTEXT], &[BUFFER], location);
    let context = module.block_arguments(block)[0];
    let mut builder = Builder {
        module,
        block,
        location,
    };
    let allocator = builder.value(
        "tfrt_gpu.allocator.create",
        &[context],
        &[],
        "!tfrt_gpu.allocator",
    );
    let stream = builder.value("tfrt_gpu.stream.create", &[context], &[], STREAM);
    let size = builder.constant("i64", size);
    let chain = builder.merge(&[]);
    let operands = [allocator, stream, size, chain];
    let buffer = builder.value("tfrt_gpu.mem.allocate", &operands, &[], BUFFER);
    let chain = initialize(&mut builder, &numbers, [buffer, stream, chain]);
    let done = builder.value("tfrt_gpu.stream.synchronize", &[stream, chain], &[], CHAIN);
    let buffer = builder.value("tfrt_gpu.alias", &[buffer, done], &[], BUFFER);
    builder.op(RETURN, &[buffer], &[], &[]);
    Ok(Some(func))
}

/// Appends the copy of numbers to a buffer, and returns its chain.
fn initialize(
    builder: &mut Builder<'_>,
    numbers: &Numbers,
    [buffer, stream, chain]: [ValueId; 3],
) -> ValueId {
    let Numbers {
        kind, dims, values, ..
    } = numbers;
    let sizes = dims.iter();
    let sizes: Vec<_> = sizes
        .map(|&size| builder.module.integer_attr(size.into(), 64))
        .collect();
    let shape = builder
        .module
        .intern_attribute(Attribute::Array(sizes.into()));
    let values: Vec<_> = values
        .iter()
        .map(|value| {
            let value = without_sign(builder.module, value.clone());
            builder.module.intern_attribute(value)
        })
        .collect();
    let values = builder
        .module
        .intern_attribute(Attribute::Array(values.into()));
    let create = format!("tfrt_dht.create_uninitialized_tensor.{kind}.{}", dims.len());
    let tensor = builder.value(&create, &[], &[("shape", shape)], "!t.tensor");
    let set = format!("tfrt_dht.set_tensor_with_constant_values.{kind}");
    let chain = builder.value(&set, &[tensor, chain], &[("values", values)], CHAIN);
    let host = builder.op(
        "tfrt_dht.get_buffer",
        &[tensor, chain],
        &[],
        &["!ht.host_buffer", CHAIN],
    );
    let operands = [buffer, host[0], stream, host[1]];
    builder.value("tfrt_gpu.mem.copy", &operands, &[], CHAIN)
}

/// The numbers that a global has at the start.
struct Numbers {
    /// The type of the memory.
    memory: TypeId,
    /// The name of the number type in kernels.
    kind: String,
    dims: Vec<u64>,
    /// The numbers, as attributes; two for a complex one.
    values: Vec<Attribute>,
}

impl Numbers {
    /// Returns the numbers of a global; none if it has no value. Takes them from `room`.
    fn of(module: &Module, op: OpId, room: &mut u64) -> Result<Option<Self>, Refusal> {
        let (Some(value), Some(memory)) =
            (module.attr(op, INITIAL_VALUE), module.attr(op, GLOBAL_TYPE))
        else {
            return Ok(None);
        };
        let (Attribute::Dense { elements, .. }, &Attribute::Type(memory)) =
            (module.attribute(value), module.attribute(memory))
        else {
            return Ok(None);
        };
        let Some(element) = element_type(module, memory) else {
            return Ok(None);
        };
        let (
            Some(kind),
            Type::MemRef {
                dims: Some(dims), ..
            },
        ) = (kind_of(module, element), module.ty(memory))
        else {
            return Ok(None);
        };
        let Some(count) = num_elements(module, memory).filter(|&count| count <= MAX_ELEMENTS)
        else {
            return Err(Refusal::Message(format!(
                "has too many elements to initialize: expected at most {MAX_ELEMENTS}"
            )));
        };
        *room = room.checked_sub(count).ok_or_else(|| {
            Refusal::Message(format!(
                "exceeds the limit of {MAX_ELEMENTS} initialized elements"
            ))
        })?;
        let Some(bytes) = tfrt_ir::dense_element_bytes(module, element) else {
            return Ok(None);
        };
        let mut values = Vec::new();
        match elements {
            DenseElements::Splat(one) => {
                for _ in 0..count {
                    push_number(module, element, one, &mut values);
                }
            }
            DenseElements::List(all) => {
                for one in all.chunks(bytes) {
                    push_number(module, element, one, &mut values);
                }
            }
            DenseElements::Strings(_) => return Ok(None),
        }
        Ok(Some(Self {
            memory,
            kind,
            dims: match dims.len() {
                0..=MAX_RANK => dims.iter().flatten().copied().collect(),
                // Only the bytes matter.
                _ => vec![count],
            },
            values,
        }))
    }
}

/// Returns the name of a type in kernels of host tensors.
fn kind_of(module: &Module, element: TypeId) -> Option<String> {
    Some(match module.ty(element) {
        Type::Integer { width: 1, .. } => "bool".to_owned(),
        Type::Integer {
            width,
            signedness: Signedness::Unsigned,
        } if *width <= 64 => format!("ui{width}"),
        Type::Integer { width, .. } if *width <= 64 => format!("i{width}"),
        Type::Float(
            float @ (FloatType::Bf16 | FloatType::F16 | FloatType::F32 | FloatType::F64),
        ) => float.spelling().to_owned(),
        Type::Complex(part) => match module.ty(*part) {
            Type::Float(FloatType::F32) => "complex64".to_owned(),
            Type::Float(FloatType::F64) => "complex128".to_owned(),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns a signed integer as a signless one, which the kernels take in its place.
fn without_sign(module: &mut Module, number: Attribute) -> Attribute {
    match number {
        Attribute::Integer { value, ty } => match *module.ty(ty) {
            Type::Integer {
                width,
                signedness: Signedness::Signed,
            } => Attribute::Integer {
                value,
                ty: module.intern_type(Type::Integer {
                    width,
                    signedness: Signedness::Signless,
                }),
            },
            _ => number,
        },
        _ => number,
    }
}

/// Adds a packed number as attributes.
fn push_number(module: &Module, ty: TypeId, bytes: &[u8], values: &mut Vec<Attribute>) {
    match module.ty(ty) {
        Type::Complex(part) => {
            for half in bytes.chunks(bytes.len() / 2) {
                push_number(module, *part, half, values);
            }
        }
        Type::Float(_) => values.push(Attribute::Float {
            bits: little_endian(bytes),
            ty,
        }),
        Type::Integer { width, signedness } => {
            // A number fills whole bytes, with its sign in the bits that it does not need.
            let excess = 64 - (*width).clamp(1, 64);
            let bits = little_endian(bytes) << excess;
            let is_signed = *signedness != Signedness::Unsigned && *width > 1;
            let value = if is_signed {
                i128::from(bits.cast_signed() >> excess)
            } else {
                i128::from(bits >> excess)
            };
            values.push(Attribute::Integer { value, ty });
        }
        _ => {}
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).rev();
    bytes.fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}
