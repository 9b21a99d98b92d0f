//! Verifiers of ops: the rules that declarations cannot express.

use tfrt::kernel::AttrParam;
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;

use crate::enums::{ComputeType, DataType, DnnDataType, keyword_of, scalar_types};

const BUFFER: &str = "!tfrt_gpu.buffer";

/// A copy is between buffers of the device and of the host.
pub(super) fn verify_copy(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    for (index, ty) in op.operand_types().iter().take(2).enumerate() {
        if !matches!(&**ty, BUFFER | "!ht.host_buffer") {
            breaches.push(Breach::op(format!(
                "operand #{index} must be buffer or host buffer, but got '{ty}'"
            )));
        }
    }
}

/// A load returns a number of the type that its attribute states.
pub(super) fn verify_load(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let types = op.result_types();
    if let (Some(AttrInstance::Type(stated)), [found]) = (op.attribute("type"), &types[..])
        && stated != *found
    {
        breaches.push(Breach::op(format!(
            "result #0 must be of the type '{stated}' of attribute 'type', but got '{found}'"
        )));
    }
}

/// The number of operands of a launch in front of the arguments.
const NUM_LAUNCH_PARAMETERS: usize = 10;

/// The sizes of a launch are all of 32 bits or all of 64 bits. The arguments are buffers or
/// numbers.
pub(super) fn verify_launch(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let types = op.operand_types();
    let Some(sizes) = types.get(2..8) else {
        return;
    };
    for (index, ty) in types.iter().enumerate().skip(NUM_LAUNCH_PARAMETERS) {
        if **ty != *BUFFER && !is_number(ty) {
            breaches.push(Breach::op(format!(
                "operand #{index} must be buffer or floating-point or integer, but got '{ty}'"
            )));
        }
    }
    for (index, ty) in sizes.iter().enumerate() {
        let is_size = matches!(&**ty, "ui32" | "ui64") && *ty == sizes[0];
        if !is_size {
            let index = index + 2;
            breaches.push(Breach::op(format!(
                "operand #{index} must be 64-bit unsigned integer or 32-bit unsigned integer like \
                 the other sizes, but got '{ty}'"
            )));
        }
    }
}

/// Returns `true` for the spelling of a type of floating point numbers or integers.
fn is_number(ty: &str) -> bool {
    let digits = ty
        .strip_prefix("bf")
        .or_else(|| ty.strip_prefix("si"))
        .or_else(|| ty.strip_prefix("ui"))
        .or_else(|| ty.strip_prefix(['f', 'i']));
    digits.is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the keyword of an attribute.
fn keyword<E: AttrParam>(op: &dyn OpInstance, name: &str) -> Option<&'static str> {
    match op.attribute(name)? {
        AttrInstance::Int(stored, _) => keyword_of::<E>(stored),
        _ => None,
    }
}

/// Whether operands have the type of scalars that goes with an attribute.
fn verify_scalars<E: AttrParam>(
    op: &dyn OpInstance,
    name: &str,
    operands: &[usize],
    message: Option<&str>,
    breaches: &mut Vec<Breach>,
) {
    let Some(keyword) = keyword::<E>(op, name) else {
        return;
    };
    let Some(expected) = scalar_types::<E>(keyword) else {
        let message = format!("could not infer type from {keyword}");
        return breaches.push(Breach::op(message));
    };
    let types = op.operand_types();
    for &operand in operands {
        let Some(found) = types.get(operand) else {
            return;
        };
        if !expected.contains(&&**found) {
            breaches.push(Breach::op(match message {
                Some(message) => message.to_owned(),
                None => format!(
                    "operand #{operand} must be {}, but got '{found}'",
                    expected[expected.len() - 1]
                ),
            }));
        }
    }
}

fn verify_one_type(op: &dyn OpInstance, names: &[&str], message: &str, breaches: &mut Vec<Breach>) {
    let mut found = names.iter().map(|name| keyword::<DataType>(op, name));
    let first = found.next().flatten();
    if found.any(|other| other != first) {
        breaches.push(Breach::op(message));
    }
}

/// All types of an `axpy` are one.
pub(super) fn verify_axpy(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let message = "typeAlpha, typeX, typeY and executionType need to match";
    let names = ["typeAlpha", "typeX", "typeY", "executionType"];
    verify_one_type(op, &names, message, breaches);
    verify_alpha(op, breaches);
}

/// All types of a `scal` are one.
pub(super) fn verify_scal(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let message = "typeAlpha, typeX, and executionType need to match";
    verify_one_type(
        op,
        &["typeAlpha", "typeX", "executionType"],
        message,
        breaches,
    );
    verify_alpha(op, breaches);
}

fn verify_alpha(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let message = "alpha's type doesn't match typeAlpha";
    verify_scalars::<DataType>(op, "typeAlpha", &[3], Some(message), breaches);
}

/// The matrices of a product have elements of one type, and its scalars have that of the
/// computation.
pub(super) fn verify_gemm(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let message = "typeA and typeB need to match";
    verify_one_type(op, &["typeA", "typeB"], message, breaches);
    let beta = if op.name().ends_with(".batch") {
        12
    } else {
        10
    };
    verify_scalars::<ComputeType>(op, "computeType", &[5, beta], None, breaches);
}

/// The scalar of a solver has the type of the matrices.
pub(super) fn verify_trsm(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    verify_scalars::<DataType>(op, "dataType", &[4], None, breaches);
}

/// The scalars of a fused convolution have the type that an attribute states. In the older form
/// they are buffers.
pub(super) fn verify_fused_convolution(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    const ALPHAS: [usize; 2] = [2, 10];
    verify_algorithm(op, 8, breaches);
    if op.attribute("scale_type").is_some() {
        return verify_scalars::<DnnDataType>(op, "scale_type", &ALPHAS, None, breaches);
    }
    let types = op.operand_types();
    let mut alphas = ALPHAS.iter().filter_map(|operand| types.get(*operand));
    if let Some(found) = alphas.find(|found| ***found != *BUFFER) {
        let message = format!("without 'scale_type', a scalar must be a buffer, but got '{found}'");
        breaches.push(Breach::op(message));
    }
}

/// The scalars have a type, by an attribute that the older form has under another name.
pub(super) fn verify_convolution(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let names = ["scale_type", "compute_type"].map(|name| op.attribute(name).is_some());
    match names {
        [false, false] => breaches.push(Breach::op("requires attribute 'scale_type'")),
        [true, true] => breaches.push(Breach::op(
            "has both the attribute 'scale_type' and its deprecated form 'compute_type'",
        )),
        _ => {}
    }
    verify_algorithm(op, 7, breaches);
}

/// An algorithm is a value of its own, or a plain number in the older form.
fn verify_algorithm(op: &dyn OpInstance, operand: usize, breaches: &mut Vec<Breach>) {
    let types = op.operand_types();
    if let Some(found) = types.get(operand)
        && !matches!(&**found, "ui64" | "!tfrt_gpu.dnn.convolution.algorithm")
    {
        breaches.push(Breach::op(format!(
            "operand #{operand} must be convolution algorithm type or 64-bit unsigned integer, \
             but got '{found}'"
        )));
    }
}

/// A plan has one to three dimensions, and strides to match.
pub(super) fn verify_fft(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let len = |name: &str| match op.attribute(name) {
        Some(AttrInstance::Array(elements)) => Some(elements.len()),
        _ => None,
    };
    let (Some(rank), Some(in_strides), Some(out_strides)) =
        (len("dims"), len("in_strides"), len("out_strides"))
    else {
        return;
    };
    if !(1..=3).contains(&rank) {
        breaches.push(Breach::op("dims should have rank 1, 2, or 3."));
    } else if in_strides != rank + 1 {
        breaches.push(Breach::op("in_strides should be one larger than dims."));
    } else if out_strides != rank + 1 {
        breaches.push(Breach::op("out_strides should be one larger than dims."));
    }
}
