//! Inference: what is known of tensors before anything runs.
//!
//! Preconditions: the program is verified. The attribute `corert.arguments` of a function has the
//! metadata of its arguments; missing metadata is unknown.
//!
//! The metadata function of each op is called with the known metadata of its operands and with its
//! attributes, in program order; the result becomes its attribute `corert.results`. If an operand
//! is only partially known, the partial metadata function of the op is called, if it has one. An
//! error, or metadata that contradicts the previous attribute, is an error at the op. Running the
//! pass twice changes nothing more.
//!
//! Cost: one run of a metadata function for each op.

use std::collections::HashMap;

use tfrt_attr::AttrValue;
use tfrt_compiler::attribute_value;
use tfrt_core::OpRegistry;
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_ir::{Module, OpId, ValueId};
use tfrt_support::{DType, Diagnostic, TensorMetadata};

use crate::call::{Call, error_at, handle_arguments, is_handle, known_results};
use crate::{metadata, names};

/// The metadata of the fully known values of a function.
pub(crate) type Known = HashMap<ValueId, TensorMetadata>;

/// The known metadata of the values of a function.
type Partly = HashMap<ValueId, PartialMetadata>;

/// Infers the metadata of every handle of a function. Returns what contradicts.
pub fn infer_metadata(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let mut known = of_arguments(module, func);
    let mut findings = Vec::new();
    let Some(block) = module.entry_block(func) else {
        return findings;
    };
    for op in module.block_ops(block).to_vec() {
        let results = module.results(op).iter().copied();
        let handles: Vec<ValueId> = results
            .filter(|&result| is_handle(module, result))
            .collect();
        if handles.is_empty() {
            continue;
        }
        let told = match told_results(module, op, ops, &known) {
            Ok(told) => told,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        let said = known_results(module, op);
        let mut all = Vec::with_capacity(handles.len());
        for (index, &handle) in handles.iter().enumerate() {
            let told = told.get(index).unwrap_or(&PartialMetadata::UNKNOWN);
            let said = said.get(index).unwrap_or(&PartialMetadata::UNKNOWN);
            let metadata = told.and(said).unwrap_or_else(|| {
                let message = format!(
                    "result {index}: inferred {told}, but `{}` declares {said}",
                    names::RESULTS
                );
                findings.push(error_at(module, op, message));
                told.clone()
            });
            known.insert(handle, metadata.clone());
            all.push(metadata);
        }
        // A type of tensors cannot say less than the type of their elements.
        if all.iter().any(|told| told.dtype.is_some()) {
            let results = metadata::to_attribute(module, &all);
            module.set_attr(op, names::RESULTS, results);
        }
    }
    findings
}

/// Returns the known metadata of the arguments of a function.
fn of_arguments(module: &Module, func: OpId) -> Partly {
    let said = match module.attr(func, names::ARGUMENTS) {
        Some(said) => metadata::from_attribute(module, said),
        None => Vec::new(),
    };
    let handles = handle_arguments(module, func).into_iter();
    handles.zip(said).collect()
}

/// Returns the metadata that was fully inferred before, for all values of a function.
pub(crate) fn inferred(module: &Module, func: OpId) -> Known {
    let mut partly = of_arguments(module, func);
    let ops = module
        .entry_block(func)
        .map_or(&[][..], |block| module.block_ops(block));
    for &op in ops {
        let results = module.results(op).iter().copied();
        let handles = results.filter(|&result| is_handle(module, result));
        partly.extend(handles.zip(known_results(module, op)));
    }
    let known = partly.into_iter();
    known
        .filter_map(|(value, partly)| Some((value, partly.known()?)))
        .collect()
}

/// Returns the fully known metadata of the results of an op; `None` for others.
pub(crate) fn results_of(
    module: &Module,
    op: OpId,
    ops: &OpRegistry,
    known: &Known,
) -> Result<Vec<Option<TensorMetadata>>, Diagnostic> {
    let operands = module.operands(op).iter();
    let partly = operands.filter_map(|value| Some((*value, known.get(value)?.clone().into())));
    let told = told_results(module, op, ops, &partly.collect())?;
    Ok(told.iter().map(PartialMetadata::known).collect())
}

/// Returns the inferred metadata of the results of an op.
fn told_results(
    module: &Module,
    op: OpId,
    ops: &OpRegistry,
    known: &Partly,
) -> Result<Vec<PartialMetadata>, Diagnostic> {
    let Some(call) = Call::of(module, op) else {
        return Ok(vec![of_other_op(module, op, known)]);
    };
    let registered = call.device_type(module, ops).and_then(|ty| {
        // Before the op is placed, its device may be a part of a name that says no type. What an op
        // returns does not depend on its device.
        let on_any = || {
            let mut types = ops.device_types();
            types.find_map(|ty| call.registered(ops, ty))
        };
        call.registered(ops, &ty).or_else(on_any)
    });
    let (Some(registered), Some(attrs)) = (registered, call.attrs(module)) else {
        return Ok(Vec::new());
    };
    let operands = call.arguments(module).iter();
    let operands = operands.map(|value| known.get(value).cloned().unwrap_or_default());
    let operands: Vec<PartialMetadata> = operands.collect();
    if !registered.tells_of(&operands) {
        return Ok(Vec::new());
    }
    let num_results = call.results(module).len();
    let told = registered
        .check_counts(operands.len(), num_results)
        .and_then(|()| registered.partial_metadata(&operands, &attrs));
    told.map_err(|error| {
        let message = format!("`{}`: {}", call.name, error.message());
        let mut finding = error_at(module, op, message);
        for (index, operand) in operands.iter().enumerate() {
            let place = crate::call::place(module, op);
            finding = finding.with_note(place, format!("operand {index} is {operand}"));
        }
        finding
    })
}

/// What an op tells that runs no other op: a constant, or a copy.
fn of_other_op(module: &Module, op: OpId, known: &Partly) -> PartialMetadata {
    let name = module.op_name(op);
    if name == names::COPY_TO_DEVICE || name.starts_with("corert.transfer") {
        let operand = module.operands(op).first();
        let operand = operand.and_then(|operand| known.get(operand));
        return operand.cloned().unwrap_or_default();
    }
    of_constant(module, op).map_or(PartialMetadata::UNKNOWN, PartialMetadata::from)
}

/// Returns the metadata of a constant.
fn of_constant(module: &Module, op: OpId) -> Option<TensorMetadata> {
    let name = module.op_name(op);
    if name == names::CONSTANT {
        let AttrValue::Dense(dense) = attribute_value(module, module.attr(op, "value")?)? else {
            return None;
        };
        return of_dims(dense.dtype, &dense.dims);
    }
    let dtype = name.strip_prefix("corert.create_dense_tensor.")?;
    let AttrValue::Array(dims) = attribute_value(module, module.attr(op, "shape")?)? else {
        return None;
    };
    let dims = dims.iter().map(|dim| match dim {
        AttrValue::Scalar(dim) => i64::try_from(dim.bits()).ok(),
        _ => None,
    });
    of_dims(dtype_named(dtype)?, &dims.collect::<Option<Vec<i64>>>()?)
}

fn of_dims(dtype: DType, dims: &[i64]) -> Option<TensorMetadata> {
    let extents = dims.iter().map(|&dim| usize::try_from(dim).ok());
    let extents: Vec<usize> = extents.collect::<Option<_>>()?;
    Some(TensorMetadata::new(dtype, &extents[..]))
}

/// Returns the element type of a kernel's name.
fn dtype_named(name: &str) -> Option<DType> {
    let all = [
        DType::Ui8,
        DType::Ui16,
        DType::Ui32,
        DType::Ui64,
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
    ];
    all.into_iter().find(|dtype| dtype.to_string() == name)
}
