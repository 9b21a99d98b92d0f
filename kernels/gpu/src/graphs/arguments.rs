//! The arguments that a graph was captured with.

use tfrt::async_value::Immutable;
use tfrt::prelude::*;

use crate::api::DevicePtr;
use crate::values::{BlasHandle, Buffer, DnnHandle, FftHandle, GpuContext, GpuFunction, GpuModule};

/// An argument, as far as the work of a graph depends on it.
///
/// A key is equal to another only if the same work follows from both.
#[derive(Clone, Debug)]
pub(super) enum ArgumentKey {
    /// Memory. The call has the buffer, so its memory exists.
    Memory(DevicePtr, usize),
    /// A number of a type, by its bits.
    Number(&'static str, u64),
    /// A value that never changes, which is kept.
    Value(AnyRef),
}

impl PartialEq for ArgumentKey {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory(one, one_bytes), Self::Memory(other, other_bytes)) => {
                (one, one_bytes) == (other, other_bytes)
            }
            (Self::Number(one, one_bits), Self::Number(other, other_bits)) => {
                (one, one_bits) == (other, other_bits)
            }
            (Self::Value(one), Self::Value(other)) => one.ptr_eq(other),
            _ => false,
        }
    }
}

/// Returns the keys of arguments, whose types are spelled `types`.
///
/// # Errors
/// The reason why a graph cannot depend on one of them.
pub(super) fn key(arguments: &[AnyRef], types: &[&str]) -> Result<Vec<ArgumentKey>, String> {
    let types = types.iter().chain(std::iter::repeat(&"any"));
    let keys = arguments.iter().zip(types).map(|(argument, ty)| {
        key_of(argument).ok_or_else(|| format!("a graph cannot depend on a value of type `{ty}`"))
    });
    keys.collect()
}

fn key_of(argument: &AnyRef) -> Option<ArgumentKey> {
    if let Some(buffer) = argument.get::<Buffer>() {
        return Some(ArgumentKey::Memory(buffer.pointer(), buffer.num_bytes()));
    }
    let is_handle = argument.is::<GpuFunction>()
        || argument.is::<GpuModule>()
        || argument.is::<GpuContext>()
        || argument.is::<BlasHandle>()
        || argument.is::<DnnHandle>()
        || argument.is::<FftHandle>();
    if is_handle {
        return Some(ArgumentKey::Value(argument.clone()));
    }
    number::<i32>(argument, |value| u64::from(value.cast_unsigned()))
        .or_else(|| number::<u32>(argument, |value| u64::from(*value)))
        .or_else(|| number::<i64>(argument, |value| value.cast_unsigned()))
        .or_else(|| number::<u64>(argument, |value| *value))
        .or_else(|| number::<f32>(argument, |value| u64::from(value.to_bits())))
        .or_else(|| number::<f64>(argument, |value| value.to_bits()))
        .or_else(|| number::<bool>(argument, |value| u64::from(*value)))
}

fn number<T: Value + Immutable>(
    argument: &AnyRef,
    bits: impl FnOnce(&T) -> u64,
) -> Option<ArgumentKey> {
    let value = argument.get::<T>()?;
    Some(ArgumentKey::Number(T::MLIR_TYPE, bits(value)))
}
