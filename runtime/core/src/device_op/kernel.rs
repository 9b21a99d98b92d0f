//! Ops that are kernels: the attributes and operands of a call, as a kernel takes them.

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_attr::{AttrValue, Scalar};
use tfrt_host::kernel::attribute_kind::{check_kind, stored_code};
use tfrt_host::kernel::panic::catch;
use tfrt_host::kernel::{AttributeList, FunctionList, KernelDescriptor, KernelFrame};
use tfrt_ods::binding::ABSENT;
use tfrt_ods::constraint::FloatKind;
use tfrt_ods::metadata::{MetadataQuery, NoMetadata};
use tfrt_ods::{AttrDef, AttrDefault, AttrKind, OpDef};
use tfrt_support::metadata::TensorMetadata;
use tfrt_support::{DType, Error, ErrorCode};

use super::dispatch::Dispatch;
use crate::attrs::OpAttrs;
use crate::op::ResultMetadata;

/// Most kernels have no more attributes.
const NUM_IN_PLACE: usize = 8;

type Offsets = SmallVec<[u32; NUM_IN_PLACE]>;

/// Runs a kernel for a call.
pub(super) fn run(kernel: KernelDescriptor, has_chain: bool, dispatch: &mut Dispatch<'_>) {
    let Dispatch {
        ctx,
        attrs,
        tensors,
        results,
        chain,
        ..
    } = dispatch;
    let op = kernel.op();
    let mut with_defaults = None;
    let bound = bind(op, attrs, &mut with_defaults);
    let offsets = match bound {
        Ok(offsets) => offsets,
        Err(error) => {
            let error = AnyRef::error(ctx.emit_error(error));
            results.fill(Some(error.clone()));
            if let Some(chain) = chain {
                *chain = error;
            }
            return;
        }
    };
    let attributes = AttributeList {
        section: with_defaults.as_ref().unwrap_or(attrs).section(),
        offsets: &offsets,
    };
    if !has_chain {
        let mut frame = KernelFrame::new(
            ctx,
            op,
            tensors,
            attributes,
            FunctionList::default(),
            results,
        );
        let outcome = catch(op.name, || {
            kernel.invoke_checked(&mut frame);
            Ok(())
        });
        if let Err(error) = outcome {
            results.fill(Some(AnyRef::error(ctx.emit_error(error))));
        }
        return;
    }
    // The chain of a kernel with effects is its last operand and its last result.
    tensors.push(chain.take().unwrap_or_else(AnyRef::ready_chain));
    let mut slots: SmallVec<[Option<AnyRef>; NUM_IN_PLACE]> = SmallVec::new();
    slots.resize_with(results.len() + 1, || None);
    let mut frame = KernelFrame::new(
        ctx,
        op,
        tensors,
        attributes,
        FunctionList::default(),
        &mut slots,
    );
    let outcome = catch(op.name, || {
        kernel.invoke_checked(&mut frame);
        Ok(())
    });
    if let Err(error) = outcome {
        slots.fill(Some(AnyRef::error(ctx.emit_error(error))));
    }
    **chain = slots.pop().flatten();
    for (result, slot) in results.iter_mut().zip(slots) {
        *result = slot;
    }
}

/// What the declaration of a kernel tells of the metadata of its results.
pub(super) fn metadata(
    kernel: KernelDescriptor,
    operands: &[TensorMetadata],
    attrs: &OpAttrs,
) -> Result<ResultMetadata, Error> {
    let op = kernel.op();
    let Some(function) = op.metadata else {
        return Ok(ResultMetadata::new());
    };
    let mut with_defaults = None;
    let offsets = bind(op, attrs, &mut with_defaults)?;
    let operands: SmallVec<[Option<TensorMetadata>; 4]> =
        operands.iter().cloned().map(Some).collect();
    let told = function(&MetadataQuery {
        operands: &operands,
        section: with_defaults.as_ref().unwrap_or(attrs).section(),
        attributes: &offsets,
    });
    match told {
        Ok(metadata) => Ok(metadata.into_iter().map(Some).collect()),
        Err(NoMetadata::Unknown) => Ok(ResultMetadata::new()),
        Err(NoMetadata::Refused(error)) => Err(error),
    }
}

/// Where the attributes of a kernel are, in the order of its declaration. Where defaults are missing, `with_defaults` is the set
/// that has them.
pub(crate) fn bind(
    op: &OpDef,
    attrs: &OpAttrs,
    with_defaults: &mut Option<OpAttrs>,
) -> Result<Offsets, Error> {
    let lacks_default = |declared: &AttrDef| {
        !attrs.contains(declared.name)
            && declared
                .default
                .is_some_and(|default| !matches!(default, AttrDefault::Absent))
    };
    if op.attributes.iter().any(lacks_default) {
        let mut completed = attrs.clone();
        for declared in op
            .attributes
            .iter()
            .filter(|declared| lacks_default(declared))
        {
            if let Some(value) = default_value(declared) {
                completed.set(declared.name, &value)?;
            }
        }
        *with_defaults = Some(completed);
    }
    let attrs = with_defaults.as_ref().unwrap_or(attrs);
    op.attributes
        .iter()
        .map(|declared| place(op, declared, attrs))
        .collect()
}

fn place(op: &OpDef, declared: &AttrDef, attrs: &OpAttrs) -> Result<u32, Error> {
    let name = declared.name;
    match attrs.place(name) {
        Some(found) => {
            check_kind(op, declared, found.code, attrs.section(), found.offset)?;
            Ok(found.offset)
        }
        None if declared.is_optional() => Ok(ABSENT),
        None => Err(missing(op, name)),
    }
}

/// The default of an attribute, as a value.
fn default_value(declared: &AttrDef) -> Option<AttrValue> {
    let scalar = |dtype, bits| Scalar::new(dtype, bits).map(AttrValue::from);
    match declared.default? {
        AttrDefault::Bool(value) => Some(Scalar::bool(value).into()),
        AttrDefault::Int(value) => {
            let code = stored_code(&declared.kind)?;
            let tfrt_attr::AttrKind::Scalar(dtype) = code.kind() else {
                return None;
            };
            let width = 8 * u32::try_from(dtype.size_bytes()?).ok()?;
            let mask = u64::MAX >> (u64::BITS - width);
            // Two's complement, cut to the width of the type, which the declaration was checked to hold.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let bits = value as u64 & mask;
            scalar(dtype, bits)
        }
        AttrDefault::Float(value) => match declared.kind {
            AttrKind::Float(FloatKind::F64) => Some(Scalar::f64(value).into()),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest number is meant"
            )]
            AttrKind::Float(FloatKind::F32) => Some(Scalar::f32(value as f32).into()),
            AttrKind::Float(FloatKind::F16) => Some(Scalar::f16(half::f16::from_f64(value)).into()),
            AttrKind::Float(FloatKind::Bf16) => {
                Some(Scalar::bf16(half::bf16::from_f64(value)).into())
            }
            _ => scalar(DType::F64, value.to_bits()),
        },
        AttrDefault::String(text) => Some(AttrValue::string(text)),
        AttrDefault::EmptyArray => Some(AttrValue::Array(Vec::new())),
        AttrDefault::Absent => None,
    }
}

#[cold]
fn missing(op: &OpDef, name: &str) -> Error {
    Error::new(format!("`{}` needs the attribute `{name}`", op.name))
        .with_code(ErrorCode::InvalidArgument)
}
