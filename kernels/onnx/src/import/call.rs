//! A node that is being lowered.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, ProgramBuilder, Value};
use tfrt_import::report::UnsupportedKind;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use super::{Known, Scope};
use crate::attribute::Attribute;
use crate::element_type::ElementType;
use crate::graph::Node;
use crate::tensor::{Tensor, TensorData, malloc};

/// A node, its values, and the program that it becomes part of.
pub(super) struct Call<'c, 's> {
    pub(super) op: &'c str,
    /// The version of the op that the model means.
    pub(super) since: i64,
    pub(super) node: &'c Node,
    label: String,
    operands: Vec<Operand>,
    /// Attributes that were turned into operands.
    dropped: Vec<&'static str>,
    scope: &'c mut Scope<'s>,
    builder: &'c mut ProgramBuilder,
    /// The reason why it is not supported, if that is not its op as a whole.
    pub(super) reason: Option<(UnsupportedKind, String)>,
    /// The type of the elements of the first result, if it is known.
    pub(super) result_type: Option<ElementType>,
}

/// Present operands, and the attribute that identifies them, if needed.
pub(super) type Slotted = (Vec<Value>, Option<(&'static str, Attr)>);

#[derive(Clone, Debug)]
enum Operand {
    Absent,
    Named(String),
    Made(Tensor),
}

impl<'c, 's> Call<'c, 's> {
    pub(super) fn new(
        node: &'c Node,
        since: i64,
        _newest: i64,
        scope: &'c mut Scope<'s>,
        builder: &'c mut ProgramBuilder,
    ) -> Self {
        let is_absent = |name: &String| {
            name.is_empty() || matches!(scope.values.get(name), Some(Known::Absent))
        };
        let operands = node.inputs.iter().map(|name| match is_absent(name) {
            true => Operand::Absent,
            false => Operand::Named(name.clone()),
        });
        let operands = operands.collect();
        Self {
            op: &node.op,
            since,
            label: node.label(),
            operands,
            dropped: Vec::new(),
            node,
            scope,
            builder,
            reason: None,
            result_type: None,
        }
    }

    pub(super) fn num_results(&self) -> usize {
        self.node.outputs.len()
    }

    /// Returns `true` if a result is wanted.
    pub(super) fn wants(&self, result: usize) -> bool {
        self.node
            .outputs
            .get(result)
            .is_some_and(|name| !name.is_empty())
    }

    /// Returns `true` if an operand is present.
    pub(super) fn has(&self, index: usize) -> bool {
        !matches!(self.operands.get(index), None | Some(Operand::Absent))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'c Attribute> {
        let node: &'c Node = self.node;
        let is_dropped = self.dropped.contains(&name);
        node.attributes.get(name).filter(|_| !is_dropped)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name) {
            Some(Attribute::Int(value)) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.int(name).unwrap_or(0) != 0
    }

    pub(super) fn float(&self, name: &str) -> Option<f32> {
        match self.attribute(name) {
            Some(Attribute::Float(value)) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'c [i64]> {
        match self.attribute(name) {
            Some(Attribute::Ints(values)) => Some(values),
            _ => None,
        }
    }

    pub(super) fn floats(&self, name: &str) -> Option<&'c [f32]> {
        match self.attribute(name) {
            Some(Attribute::Floats(values)) => Some(values),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.attribute(name) {
            Some(Attribute::Text(value)) => Some(String::from_utf8_lossy(value).into_owned()),
            _ => None,
        }
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&'c Tensor> {
        match self.attribute(name) {
            Some(Attribute::Tensor(tensor)) => Some(tensor),
            _ => None,
        }
    }

    /// Returns our element type for a code in an attribute, if present. Nothing if we do not have
    /// the type, which is then the reason why the node is not supported.
    pub(super) fn dtype(&mut self, name: &str) -> Result<Option<DType>, ImportError> {
        let code = self.int(name).unwrap_or(0);
        let found = i32::try_from(code).ok().and_then(ElementType::from_code);
        let found = found.ok_or_else(|| {
            ImportError::new(format!("attribute `{name}`: {code} is not an element type"))
        })?;
        let dtype = found.dtype().filter(|dtype| dtype.size_bytes().is_some());
        if dtype.is_none() {
            let what = format!("{} to {found}", self.op);
            self.reason = Some((UnsupportedKind::Type, what));
        }
        Ok(dtype)
    }

    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        match self.attribute(name) {
            Some(Attribute::Texts(values)) => {
                let texts = values
                    .iter()
                    .map(|text| String::from_utf8_lossy(text).into_owned());
                Some(texts.collect())
            }
            _ => None,
        }
    }

    /// Puts a tensor in the place of an attribute, as an operand.
    pub(super) fn attribute_to_operand(
        &mut self,
        name: &'static str,
        index: usize,
        tensor: DenseHostTensor,
    ) -> Result<(), ImportError> {
        self.dropped.push(name);
        while self.operands.len() <= index {
            self.operands.push(Operand::Absent);
        }
        self.operands[index] = Operand::Made(Tensor::of(name, tensor)?);
        Ok(())
    }

    /// Returns the constant tensor of an operand, if the file contains it.
    pub(super) fn constant(&self, index: usize) -> Option<&DenseHostTensor> {
        match self.operands.get(index)? {
            Operand::Made(tensor) => tensor.dense(),
            Operand::Named(name) => match self.scope.values.get(name)? {
                Known::Constant(tensor) => tensor.dense(),
                _ => None,
            },
            Operand::Absent => None,
        }
    }

    /// Returns the known properties of an operand.
    pub(super) fn known(&mut self, index: usize) -> Result<Known, ImportError> {
        match self.operands.get(index) {
            Some(Operand::Named(name)) => {
                let known = self.scope.values.get(name).cloned();
                known.ok_or_else(|| ImportError::new("an operand is unknown"))
            }
            _ => self.operand(index).map(Known::Value),
        }
    }

    /// Returns an operand that must be present.
    pub(super) fn operand(&mut self, index: usize) -> Result<Value, ImportError> {
        let found = self.optional(index)?;
        found.ok_or_else(|| ImportError::new(format!("operand {index} is missing")))
    }

    /// Returns an operand, if it is present.
    pub(super) fn optional(&mut self, index: usize) -> Result<Option<Value>, ImportError> {
        match self.operands.get(index).cloned() {
            None | Some(Operand::Absent) => Ok(None),
            Some(Operand::Named(name)) => {
                let value = self.scope.value(&name, self.builder);
                let unsupported =
                    || ImportError::new(format!("operand {index} has an unsupported type"));
                value.map(Some).ok_or_else(unsupported)
            }
            Some(Operand::Made(tensor)) => match tensor.data {
                TensorData::Dense(dense) => Ok(Some(self.builder.weight(&tensor.name, dense))),
                _ => Ok(None),
            },
        }
    }

    /// Returns all present operands, in order.
    pub(super) fn operands(&mut self) -> Result<Vec<Value>, ImportError> {
        let found = (0..self.operands.len()).map(|index| self.optional(index));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the present operands, and the attribute that identifies them if one is omitted
    /// before others.
    pub(super) fn slots(&mut self) -> Result<Slotted, ImportError> {
        let present: Vec<usize> = (0..self.operands.len())
            .filter(|&index| self.has(index))
            .collect();
        let is_plain = present.iter().enumerate().all(|(at, &index)| at == index);
        let slots = present.iter().map(|&index| index as i64).collect();
        let attr = (!is_plain).then_some(("slots", Attr::Ints(slots)));
        Ok((self.operands()?, attr))
    }

    /// Adds a constant.
    pub(super) fn weight(&mut self, tensor: DenseHostTensor) -> Value {
        self.builder.weight("", tensor)
    }

    /// Adds calls of an op.
    pub(super) fn emit(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
    ) -> Vec<Value> {
        self.builder
            .call(op, operands, attrs, num_results, &self.label)
    }

    /// Adds a call of an op with one result.
    pub(super) fn emit_one(
        &mut self,
        op: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Value {
        self.emit(op, operands, attrs, 1)[0]
    }
}

/// Returns a vector of integers.
pub(super) fn numbers_tensor(numbers: &[i64]) -> Result<DenseHostTensor, ImportError> {
    DenseHostTensor::vector(numbers).map_err(|error| ImportError::new(error.to_string()))
}

/// Returns a scalar.
pub(super) fn scalar<T: tfrt_tensor::Element>(value: T) -> Result<DenseHostTensor, ImportError> {
    DenseHostTensor::from_elements(&malloc(), Shape::scalar(), &[value])
        .map_err(|error| ImportError::new(error.to_string()))
}
