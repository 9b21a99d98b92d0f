//! The element types of operands, as far as a file says them.
//!
//! ONNX's declarations of ops say which operands have one element type. The types of constants and
//! of declared inputs are known, and those of results follow from them. Operands whose types are
//! known must be as declared; whatever is not known is left to the kernels.

use std::collections::HashMap;
use std::sync::OnceLock;

use tfrt_import::ImportError;
use tfrt_import::program::Value;
use tfrt_support::DType;

use super::{Known, Scope};
use crate::attribute::Attribute;
use crate::element_type::ElementType;
use crate::graph::Node;

/// The ops of one kind, and the types of their operands and results: a capital stands for one type
/// wherever it occurs, `b` for Booleans, `l` for 64-bit integers, `i` for 32-bit ones, `.` for any
/// type. A `*` repeats the type before it.
const OPS: &[(&str, &str)] = &[
    (
        "T>T",
        "Abs Acos Acosh Asin Asinh Atan Atanh AveragePool BitwiseNot Ceil Celu Cos Cosh \
         DepthToSpace Elu Erf Exp Flatten Floor Gelu GlobalAveragePool GlobalLpPool \
         GlobalMaxPool HardSigmoid HardSwish Hardmax Identity LRN LeakyRelu Log LogSoftmax \
         LpNormalization LpPool MeanVarianceNormalization Mish Neg Not Reciprocal Relu \
         Round Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign SpaceToDepth \
         Sqrt Swish Tan Tanh ThresholdedRelu Transpose",
    ),
    (
        "TT>T",
        "Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div MatMul Mod Mul PRelu Sub",
    ),
    ("bb>b", "And Or Xor"),
    ("TT>b", "Equal Greater GreaterOrEqual Less LessOrEqual"),
    ("T*>T", "Concat Einsum Max Mean Min Sum"),
    (
        "TTT>T",
        "Clip Conv ConvTranspose Gemm GroupNormalization InstanceNormalization Range",
    ),
    ("TTT>T..", "LayerNormalization"),
    ("TUUVV>T", "BatchNormalization"),
    (".T>T", "CastLike"),
    ("TU>T", "Pow"),
    ("TU>U", "RMSNormalization"),
    ("bTT>T", "Where"),
    ("TTTTiT>TT", "GRU RNN"),
    ("TTTTiTTT>TTT", "LSTM"),
    (
        "T.>T",
        "Compress CumSum Gather GatherElements GatherND ReduceL1 ReduceL2 ReduceLogSum \
         ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum \
         ReduceSumSquare Trilu",
    ),
    ("T.>T*", "Split"),
    ("T.>Tl", "TopK"),
    ("T>Tl", "MaxPool"),
    ("Tl>T", "Expand Reshape Squeeze Tile Unsqueeze"),
    ("TUUUU>T", "Slice"),
    ("TlT.>T", "Pad"),
    ("T.T>T", "Scatter ScatterElements ScatterND"),
    ("T...>T", "Resize"),
    ("T.b>Tb", "Dropout"),
    ("..T>T", "OneHot"),
    (".>b", "IsInf IsNaN"),
    (".>l", "ArgMax ArgMin NonZero Shape Size"),
];

/// Those of them whose types that a capital stands for are real numbers, in every version.
const REAL: &str = "\
    Acos Acosh Asin Asinh Atan Atanh AveragePool BatchNormalization Ceil Celu Conv \
    ConvTranspose Cos Cosh Elu Exp Floor GRU Gelu GlobalAveragePool GlobalLpPool \
    GlobalMaxPool GroupNormalization HardSigmoid HardSwish Hardmax \
    InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Log LogSoftmax \
    LpNormalization LpPool MeanVarianceNormalization Mean Mish RMSNormalization RNN \
    Reciprocal Round Selu Sigmoid Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan \
    Tanh ThresholdedRelu";

/// The element types of values of the program.
#[derive(Debug, Default)]
pub(super) struct Types(HashMap<Value, ElementType>);

impl Types {
    pub(super) fn declare(&mut self, value: Value, element_type: ElementType) {
        self.0.insert(value, element_type);
    }

    fn of(&self, known: &Known) -> Option<ElementType> {
        match known {
            Known::Value(value) => self.0.get(value).copied(),
            Known::Constant(tensor) => Some(tensor.element_type),
            Known::Absent | Known::Missing => None,
        }
    }

    /// Checks the operands of a node, whose op has the version `since`. Returns the types of its
    /// results, as far as they are known.
    pub(super) fn check(
        &self,
        node: &Node,
        scope: &Scope<'_>,
        since: i64,
    ) -> Result<Vec<Option<ElementType>>, ImportError> {
        if let ("Cast", Some(Attribute::Int(to))) = (node.op.as_str(), node.attributes.get("to")) {
            let to = i32::try_from(*to).ok().and_then(ElementType::from_code);
            return Ok(vec![to]);
        }
        let Some(signature) = signature(&node.op, since) else {
            return Ok(Vec::new());
        };
        let (operands, results) = signature.split_once('>').unwrap_or((signature, ""));
        let mut bound: HashMap<char, (usize, ElementType)> = HashMap::new();
        for ((index, name), letter) in node.inputs.iter().enumerate().zip(letters(operands)) {
            let known = scope.values.get(name).filter(|_| !name.is_empty());
            let Some(found) = known.and_then(|known| self.of(known)) else {
                continue;
            };
            if let Some(expected) = fixed(letter) {
                if found != expected {
                    return Err(ImportError::new(format!(
                        "operand {index}: expected elements of {expected}, found {found}"
                    )));
                }
            } else if letter != '.' {
                let &mut (first, expected) = bound.entry(letter).or_insert((index, found));
                if found != expected {
                    return Err(ImportError::new(format!(
                        "operand {index}: expected elements of {expected} like operand {first}, \
                         found {found}"
                    )));
                }
                if !is_real(found) && REAL.split(' ').any(|op| op == node.op) {
                    return Err(ImportError::new(format!(
                        "operand {index}: expected real numbers, found {found}"
                    )));
                }
            }
        }
        let results = letters(results).take(node.outputs.len());
        let results = results.map(|letter| {
            fixed(letter).or_else(|| bound.get(&letter).map(|&(_, element_type)| element_type))
        });
        Ok(results.collect())
    }

    /// Keeps the types of results.
    pub(super) fn bind<'r>(
        &mut self,
        results: impl Iterator<Item = &'r Known>,
        types: Vec<Option<ElementType>>,
    ) {
        for (result, element_type) in results.zip(types) {
            if let (Known::Value(value), Some(element_type)) = (result, element_type) {
                // An op that does nothing has the value of its operand.
                self.0.entry(*value).or_insert(element_type);
            }
        }
    }
}

fn signature(op: &str, since: i64) -> Option<&'static str> {
    match (op, since) {
        ("Dropout", ..10) => return Some("T>TT"),
        ("Tile", ..6) => return Some("TTT>T"),
        _ => {}
    }
    static TABLE: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let lines = OPS.iter();
        lines
            .flat_map(|&(signature, ops)| ops.split(' ').map(move |op| (op, signature)))
            .collect()
    });
    table.get(op).copied()
}

/// Returns `false` for elements that we have and that have no fractions.
fn is_real(element_type: ElementType) -> bool {
    let dtype = element_type.dtype();
    dtype.is_none_or(|dtype| matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64))
}

fn fixed(letter: char) -> Option<ElementType> {
    match letter {
        'b' => Some(ElementType::BOOL),
        'i' => Some(ElementType::INT32),
        'l' => Some(ElementType::INT64),
        _ => None,
    }
}

/// Returns the letters of operands or results, the last of them without end if a `*` follows it.
fn letters(text: &'static str) -> impl Iterator<Item = char> {
    let repeated = text.strip_suffix('*').and_then(|text| text.chars().last());
    let plain = text.chars().filter(|&letter| letter != '*');
    plain.chain(repeated.into_iter().flat_map(std::iter::repeat))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_op_has_one_line_and_exists() {
        let mut seen = std::collections::HashSet::new();
        for op in OPS.iter().flat_map(|(_, ops)| ops.split(' ')) {
            assert!(seen.insert(op), "{op}");
            assert!(!crate::opset::versions(op).is_empty(), "{op}");
        }
        assert!(REAL.split(' ').all(|op| seen.contains(op)));
    }

    #[test]
    fn stars_repeat_letters() {
        assert_eq!(letters("Tl").collect::<String>(), "Tl");
        assert_eq!(letters("T.*").take(4).collect::<String>(), "T...");
    }
}
