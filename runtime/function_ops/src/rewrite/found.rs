//! What a pattern was found to be.

use tfrt_attr::{AttrValue, DenseAttr, Scalar};
use tfrt_compiler::attribute_value;
use tfrt_ir::{AttrId, Module, OpId, ValueId};
use tfrt_ods::OpTraits;
use tfrt_support::{DType, TensorMetadata};

use super::Pattern;
use crate::call::{Call, device_attribute};
use crate::known::Known;

/// Ops of a function that match a pattern.
///
/// Values are identified by the names of the pattern, ops by their numbers in the order in which
/// they are written.
#[derive(Debug)]
pub struct Match<'a> {
    module: &'a Module,
    known: &'a Known,
    values: Vec<(&'static str, ValueId)>,
    calls: Vec<Call>,
}

impl<'a> Match<'a> {
    /// Returns the match of a pattern whose outermost op is `root`, if it is one.
    pub(crate) fn of(
        pattern: &Pattern,
        root: OpId,
        module: &'a Module,
        known: &'a Known,
    ) -> Option<Self> {
        let mut found = Self {
            module,
            known,
            values: Vec::new(),
            calls: Vec::new(),
        };
        found.has(pattern, root).then_some(found)
    }

    /// Returns `true` if an op and what it is computed from are what a pattern says.
    fn has(&mut self, pattern: &Pattern, op: OpId) -> bool {
        let Pattern::Op(name, operands) = pattern else {
            return false;
        };
        let Some(call) = Call::of(self.module, op) else {
            return false;
        };
        let arguments = call.arguments(self.module).to_vec();
        if call.name != *name || call.is_ordered || arguments.len() != operands.len() {
            return false;
        }
        let is_used = |result: &ValueId| self.module.uses(*result).len() != 0;
        if call.results(self.module).iter().skip(1).any(is_used) {
            return false;
        }
        if let Some(root) = self.calls.first()
            && (device_attribute(self.module, op) != device_attribute(self.module, root.op)
                || call.handler(self.module) != root.handler(self.module))
        {
            return false;
        }
        self.calls.push(call);
        operands
            .iter()
            .zip(arguments)
            .all(|(operand, value)| self.has_operand(operand, value))
    }

    fn has_operand(&mut self, pattern: &Pattern, value: ValueId) -> bool {
        match pattern {
            Pattern::Value(name) => match self.value(name) {
                Some(found) => found == value,
                None => {
                    self.values.push((name, value));
                    true
                }
            },
            Pattern::Op(..) => match self.module.defining_op(value) {
                // The first result is the one that patterns mean.
                Some(op) if self.module.results(op).first() == Some(&value) => {
                    self.has(pattern, op)
                }
                _ => false,
            },
        }
    }

    pub(crate) fn value(&self, name: &str) -> Option<ValueId> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }

    pub(crate) fn values(&self) -> &[(&'static str, ValueId)] {
        &self.values
    }

    pub(crate) fn call(&self, op: usize) -> Option<&Call> {
        self.calls.get(op)
    }

    pub(crate) fn attribute(&self, op: usize, name: &str) -> Option<AttrId> {
        let attributes = self.call(op)?.attributes(self.module);
        let found = attributes.into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    pub(crate) fn attributes(&self, op: usize) -> Vec<(String, AttrId)> {
        let call = self.call(op);
        call.map_or_else(Vec::new, |call| call.attributes(self.module))
    }

    /// Returns `true` if the only use of an op of the match is in the match.
    #[must_use]
    pub fn is_used_once(&self, op: usize) -> bool {
        let result = self
            .call(op)
            .and_then(|call| call.results(self.module).first());
        result.is_some_and(|&result| self.module.uses(result).len() == 1)
    }

    /// Returns the known metadata of a value.
    #[must_use]
    pub fn metadata(&self, name: &str) -> Option<&'a TensorMetadata> {
        self.known.full(self.value(name)?)
    }

    /// Returns the element type of a value.
    #[must_use]
    pub fn dtype(&self, name: &str) -> Option<DType> {
        self.metadata(name).map(|metadata| metadata.dtype)
    }

    /// Returns the number of dimensions of a value.
    #[must_use]
    pub fn rank(&self, name: &str) -> Option<usize> {
        self.metadata(name).map(|metadata| metadata.extents.len())
    }

    /// Returns the known metadata of the result of an op.
    #[must_use]
    pub fn result(&self, op: usize) -> Option<&'a TensorMetadata> {
        self.known
            .full(*self.call(op)?.results(self.module).first()?)
    }

    /// Returns an attribute of an op.
    #[must_use]
    pub fn attr(&self, op: usize, name: &str) -> Option<AttrValue> {
        attribute_value(self.module, self.attribute(op, name)?)
    }

    /// Returns an attribute of an op that is a truth value.
    #[must_use]
    pub fn flag(&self, op: usize, name: &str) -> Option<bool> {
        match self.attr(op, name)? {
            AttrValue::Scalar(scalar) if scalar.dtype() == DType::I1 => Some(scalar.bits() != 0),
            _ => None,
        }
    }

    /// Returns an attribute of an op that is a number of type `f32`.
    #[must_use]
    pub fn number(&self, op: usize, name: &str) -> Option<f32> {
        match self.attr(op, name)? {
            AttrValue::Scalar(scalar) if scalar.dtype() == DType::F32 => {
                u32::try_from(scalar.bits()).ok().map(f32::from_bits)
            }
            _ => None,
        }
    }

    /// Returns an attribute of an op that is a text.
    #[must_use]
    pub fn text(&self, op: usize, name: &str) -> Option<String> {
        match self.attr(op, name)? {
            AttrValue::String(text) => String::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// Returns an attribute of an op that is a list of texts.
    #[must_use]
    pub fn texts(&self, op: usize, name: &str) -> Option<Vec<String>> {
        let AttrValue::Array(texts) = self.attr(op, name)? else {
            return None;
        };
        let texts = texts.into_iter().map(|text| match text {
            AttrValue::String(text) => String::from_utf8(text).ok(),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the elements of a value that is a constant of the program.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<DenseAttr> {
        let op = self.module.defining_op(self.value(name)?)?;
        if !is_constant(self.module, op) {
            return None;
        }
        let (_, value) = self.module.attributes(op).iter().find(|(name, _)| {
            let name = self.module.name(*name);
            name == "value"
        })?;
        match attribute_value(self.module, *value)? {
            AttrValue::Dense(dense) => Some(dense),
            _ => None,
        }
    }

    /// Returns the elements of a constant of integers.
    #[must_use]
    pub fn integers(&self, name: &str) -> Option<Vec<i64>> {
        let constant = self.constant(name)?;
        let size = constant.dtype.size_bytes()?;
        let read = |bytes: &[u8]| match *bytes {
            [a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
            _ => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        };
        match constant.dtype {
            DType::I32 | DType::I64 => constant.data.chunks_exact(size).map(read).collect(),
            _ => None,
        }
    }

    /// Returns `true` if a value is a constant, all of whose elements are this number.
    #[must_use]
    pub fn is_all(&self, name: &str, number: i8) -> bool {
        let Some(constant) = self.constant(name) else {
            return false;
        };
        let element = match constant.dtype {
            DType::I8 => Scalar::i8(number).bits().to_le_bytes()[..1].to_vec(),
            DType::Ui8 => vec![number.cast_unsigned()],
            DType::I16 => i16::from(number).to_le_bytes().to_vec(),
            DType::I32 => i32::from(number).to_le_bytes().to_vec(),
            DType::I64 => i64::from(number).to_le_bytes().to_vec(),
            DType::F32 => f32::from(number).to_le_bytes().to_vec(),
            DType::F64 => f64::from(number).to_le_bytes().to_vec(),
            _ => return false,
        };
        !constant.data.is_empty()
            && constant
                .data
                .chunks(element.len())
                .all(|found| found == element)
    }

    /// Returns `true` if a value is a constant that changes nothing when it is added: zero, and the
    /// negative one of numbers that have two, as a positive one turns a negative zero around.
    #[must_use]
    pub fn is_neutral_in_sums(&self, name: &str) -> bool {
        let Some(constant) = self.constant(name) else {
            return false;
        };
        let (negative_f32, negative_f64) = ((-0.0_f32).to_le_bytes(), (-0.0_f64).to_le_bytes());
        let element: &[u8] = match constant.dtype {
            DType::F32 => &negative_f32,
            DType::F64 => &negative_f64,
            _ => return self.is_all(name, 0),
        };
        !constant.data.is_empty()
            && constant
                .data
                .chunks(element.len())
                .all(|found| found == element)
    }

    /// Returns `true` if the result of the outermost op is known to have the element type and shape
    /// of a value.
    #[must_use]
    pub fn is_like(&self, name: &str) -> bool {
        self.metadata(name).is_some() && self.result(0) == self.metadata(name)
    }

    /// Returns `true` if the replacement may omit a value: a constant, which is never waited for.
    pub(crate) fn may_be_dropped(&self, value: ValueId) -> bool {
        let op = self.module.defining_op(value);
        op.is_some_and(|op| is_constant(self.module, op))
    }
}

fn is_constant(module: &Module, op: OpId) -> bool {
    module
        .op_def(op)
        .is_some_and(|def| def.traits.contains(OpTraits::CONSTANT | OpTraits::PURE))
}
