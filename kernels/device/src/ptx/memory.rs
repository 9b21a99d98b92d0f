//! Elements of arrays: their addresses, loads and stores.

use super::body::{Class, Code, Register, line};
use crate::tree::Scalar;

impl Code {
    /// Returns the address of an element.
    pub(super) fn element(&mut self, base: Register, index: Register, ty: Scalar) -> Register {
        let (offset, address) = (self.register(Class::Long), self.register(Class::Long));
        let shift = ty.size_bytes().trailing_zeros();
        line!(self, "shl.b64 {offset}, {index}, {shift}");
        line!(self, "add.u64 {address}, {base}, {offset}");
        address
    }

    pub(super) fn load(&mut self, space: &str, address: Register, ty: Scalar) -> Register {
        let to = self.register(Class::of(ty));
        if ty == Scalar::Bool {
            let byte = self.register(Class::Word);
            line!(self, "ld.{space}.u8 {byte}, [{address}]");
            line!(self, "setp.ne.u32 {to}, {byte}, 0");
        } else {
            line!(self, "ld.{space}.{} {to}, [{address}]", suffix(ty));
        }
        to
    }

    pub(super) fn store(&mut self, space: &str, address: Register, value: Register, ty: Scalar) {
        if ty == Scalar::Bool {
            let byte = self.register(Class::Word);
            line!(self, "selp.u32 {byte}, 1, 0, {value}");
            line!(self, "st.{space}.u8 [{address}], {byte}");
        } else {
            line!(self, "st.{space}.{} [{address}], {value}", suffix(ty));
        }
    }
}

/// The suffix of loads and stores.
fn suffix(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "u8",
        Scalar::I32 | Scalar::U32 => "u32",
        Scalar::I64 | Scalar::U64 => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    }
}
