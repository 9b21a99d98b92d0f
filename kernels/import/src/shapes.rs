//! The types and shapes that values of a program have, as far as they follow from its inputs.

use std::collections::HashMap;
use std::fmt;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use crate::dim_expr::DimExpr;
use crate::names::shown;
use crate::program::{Constant, OpKind, Program, Value};
use crate::rewrite::budget::{self, KnownElements};
use crate::rewrite::infer::{Dim, Known};
use crate::rewrite::known_inputs;
use crate::rewrite::shape_values::Elements;
use crate::rewrite::symbols::Symbols;
use crate::types::InputDim;

/// The type of a value, as far as it follows from the types of the inputs.
///
/// ```
/// use tfrt_import::program::{Attr, ProgramBuilder};
/// use tfrt_import::{InputDim, InputType};
///
/// let mut builder = ProgramBuilder::default();
/// let rows = |name: &str| InputType {
///     dtype: Some(tfrt_support::DType::F32),
///     dims: Some(vec![InputDim::Symbol(name.into()), InputDim::Fixed(64)]),
/// };
/// let past = builder.declared_input("past", rows("past"));
/// let step = builder.declared_input("step", rows("step"));
/// let axis = [("axis", Attr::Int(0))];
/// let all = builder.call("nn.Concat", &[past, step], &axis, 1, "node 'all'");
/// let program = builder.finish(&[("all", all[0])]);
/// assert_eq!(program.inferred_outputs()[0].to_string(), "f32 [past+step, 64]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferredType {
    /// The type of its elements, if it is known.
    pub dtype: Option<DType>,
    /// Its dimensions, if their number is known.
    pub dims: Option<Vec<DimExpr>>,
}

impl InferredType {
    /// Returns the size in bytes, if it follows from the dimensions of the inputs.
    #[must_use]
    pub fn len_bytes(&self) -> Option<DimExpr> {
        let width = i64::try_from(self.dtype?.size_bytes()?).ok()?;
        let mut dims = self.dims.as_ref()?.iter();
        let all = dims.try_fold(DimExpr::number(width), |all, dim| all.times(dim))?;
        all.is_known().then_some(all)
    }
}

impl fmt::Display for InferredType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => write!(f, "{dtype}")?,
            None => f.write_str("tensor")?,
        }
        let Some(dims) = &self.dims else {
            return Ok(());
        };
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        write!(f, " [{}]", dims.join(", "))
    }
}

/// What is known of the values of a program's function.
pub(crate) struct Shapes {
    known: HashMap<Value, Known>,
    symbols: Symbols,
}

impl Shapes {
    /// Infers the types of all values.
    pub(crate) fn of(program: &Program) -> Self {
        let mut symbols = Symbols::default();
        let mut known = known_inputs(program, &mut symbols);
        let weights = program.body.weights.iter().zip(&program.weights);
        let weights: HashMap<Value, &Constant> = weights
            .map(|(&value, weight)| (value, &weight.constant))
            .collect();
        for (&value, constant) in &weights {
            known.insert(value, Known::of_constant(constant));
        }
        let mut made = KnownElements::default();
        for op in &program.body.ops {
            let OpKind::Call { name, attrs } = &op.kind else {
                continue;
            };
            let operands = op.operands.iter();
            let of_operands: Vec<Known> = operands
                .clone()
                .map(|value| known.get(value).cloned().unwrap_or_default())
                .collect();
            let constants: Vec<Option<&DenseHostTensor>> = operands
                .clone()
                .map(|value| weights.get(value)?.ready())
                .collect();
            let elements: Vec<Option<&Elements>> = operands.map(|&value| made.get(value)).collect();
            let inferred = budget::inferred(
                name,
                attrs,
                &of_operands,
                &constants,
                &elements,
                &mut symbols,
            );
            if let (Some(elements), Some(&result)) = (inferred.elements, op.results.first()) {
                made.insert(result, elements, &mut symbols);
            }
            known.extend(op.results.iter().copied().zip(inferred.told));
        }
        Self { known, symbols }
    }

    /// Returns the type of a value.
    pub(crate) fn type_of(&self, value: Value) -> InferredType {
        let Some(known) = self.known.get(&value) else {
            return InferredType::default();
        };
        let extent = |&dim: &Dim| self.symbols.extent(dim);
        let dims = known.dims.as_ref();
        InferredType {
            dtype: known.dtype,
            dims: dims.map(|dims| dims.iter().map(extent).collect()),
        }
    }
}

impl Program {
    /// Returns the types of the outputs, as far as they follow from the inputs, in the order of
    /// [`outputs`](Self::outputs). They are claims of what an output is unless the run fails.
    #[must_use]
    pub fn inferred_outputs(&self) -> Vec<InferredType> {
        let shapes = Shapes::of(self);
        let results = self.body.results.iter();
        results.map(|&value| shapes.type_of(value)).collect()
    }

    /// Returns what a run requires of the dimensions of its inputs, one sentence each: those of one
    /// symbol are equal, and those that are numbers are these.
    #[must_use]
    pub fn constraints(&self) -> Vec<String> {
        let mut uses: Vec<(&str, Vec<String>)> = Vec::new();
        let mut places_of: HashMap<&str, usize> = HashMap::new();
        let mut numbers = Vec::new();
        for (input, declared) in self.inputs.iter().zip(&self.input_types) {
            let dims = declared.iter().filter_map(|ty| ty.dims.as_ref()).flatten();
            for (axis, dim) in dims.enumerate() {
                let place = format!("dimension {axis} of `{}`", shown(input));
                match dim {
                    InputDim::Fixed(extent) => numbers.push(format!("{place} is {extent}")),
                    InputDim::Symbol(name) => {
                        let at = *places_of.entry(name).or_insert(uses.len());
                        if at == uses.len() {
                            uses.push((name, Vec::new()));
                        }
                        uses[at].1.push(place);
                    }
                    InputDim::Unknown => {}
                }
            }
        }
        let shared = uses.into_iter().filter(|(_, places)| places.len() > 1);
        let shared = shared.map(|(name, places)| {
            let (last, others) = places.split_last().expect("there are several");
            format!("`{}` is {} and {last}", shown(name), others.join(", "))
        });
        shared.chain(numbers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ProgramBuilder;
    use crate::types::InputType;

    #[test]
    fn constraints_name_the_dimensions_that_are_equal() {
        let mut builder = ProgramBuilder::default();
        let declared = |dims: Vec<InputDim>| InputType {
            dtype: None,
            dims: Some(dims),
        };
        let length = || InputDim::Symbol("length".into());
        let x = builder.declared_input("ids", declared(vec![InputDim::Fixed(1), length()]));
        builder.declared_input("mask", declared(vec![InputDim::Unknown, length()]));
        let program = builder.finish(&[("y", x)]);
        assert_eq!(
            program.constraints(),
            [
                "`length` is dimension 1 of `ids` and dimension 1 of `mask`",
                "dimension 0 of `ids` is 1"
            ]
        );
        assert_eq!(
            program.inferred_outputs()[0].to_string(),
            "tensor [1, length]"
        );
    }
}
