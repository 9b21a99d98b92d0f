//! Limits on the expressions that are followed through a function.
//!
//! A file of a few kilobytes can name many large expressions: lists of 64 elements, each of many
//! parts, that each op computes and keeps anew. Beyond a limit, the elements of tensors are not
//! followed any more, and dimensions that would need new expressions are unknown ones. Functions of
//! real models stay far below: they compute a few elements for each shape.

use std::collections::HashMap;

use tfrt_tensor::DenseHostTensor;

use super::infer::Known;
use super::infer::sizes::{self, Inferred};
use super::shape_values::{Elements, MAX_ELEMENTS};
use super::symbols::Symbols;
use crate::dim_expr::{DimExpr, MAX_PARTS};
use crate::program::{Attr, Value};

/// The most parts of expressions that are computed for the functions of a program.
const MAX_COMPUTED: usize = 1 << 20;

/// The most parts of expressions that a function has at once.
const MAX_KEPT: usize = 1 << 20;

/// The most operands of an op that has elements or constants to be looked at.
const MAX_OPERANDS: usize = 256;

/// How many parts take the memory of an expression without any.
const EMPTY_PARTS: usize = 8;

/// How much was computed so far, and is kept for a function, in parts of expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    computed: usize,
    kept: usize,
}

impl Budget {
    /// Returns `true` once no more expressions are followed.
    pub(super) fn is_spent(&self) -> bool {
        self.computed > MAX_COMPUTED
    }

    /// Counts parts to be computed. Returns `false` if those are too many, from then on for good.
    fn compute(&mut self, num_parts: usize) -> bool {
        self.computed = self.computed.saturating_add(num_parts);
        !self.is_spent()
    }

    /// Counts parts to be kept. Returns `false` if there is no room for them.
    pub(super) fn keep(&mut self, num_parts: usize) -> bool {
        let kept = self.kept.saturating_add(num_parts);
        let has_room = kept <= MAX_KEPT;
        if has_room {
            self.kept = kept;
        }
        has_room
    }

    /// Returns the budget of the next function of a program, which keeps nothing yet.
    pub(super) fn of_next(&self) -> Self {
        Self {
            computed: self.computed,
            kept: 0,
        }
    }

    fn give_back(&mut self, num_parts: usize) {
        self.kept = self.kept.saturating_sub(num_parts);
    }
}

/// Returns how much memory an expression takes, in parts.
pub(super) fn weight(extent: &DimExpr) -> usize {
    EMPTY_PARTS + extent.num_parts()
}

fn weight_of(elements: &Elements) -> usize {
    let weights = elements.iter().flatten().map(weight);
    weights.sum::<usize>() + elements.len()
}

/// The elements of the values of a function that are made from shapes.
#[derive(Debug, Default)]
pub(crate) struct KnownElements(HashMap<Value, Elements>);

impl KnownElements {
    pub(crate) fn get(&self, value: Value) -> Option<&Elements> {
        self.0.get(&value)
    }

    /// Keeps the elements of a value, if there is room for them.
    pub(crate) fn insert(&mut self, value: Value, elements: Elements, symbols: &mut Symbols) {
        self.remove(value, symbols);
        if symbols.budget.keep(weight_of(&elements)) {
            self.0.insert(value, elements);
        }
    }

    pub(crate) fn remove(&mut self, value: Value, symbols: &mut Symbols) {
        if let Some(elements) = self.0.remove(&value) {
            symbols.budget.give_back(weight_of(&elements));
        }
    }
}

/// Returns what is known of the results of a call. `made` are the elements of operands that are
/// made from shapes.
pub(crate) fn inferred(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    made: &[Option<&Elements>],
    symbols: &mut Symbols,
) -> Inferred {
    // Ops with so many operands are sums, concatenations and the like.
    let has_many = operands.len() > MAX_OPERANDS;
    let none = vec![None; constants.len()];
    let constants = if has_many { &none } else { constants };
    let is_followed = !has_many
        && !symbols.budget.is_spent()
        && symbols.budget.compute(num_computed(name, constants, made));
    let made = made.iter().map(|elements| {
        let elements = elements.filter(|_| is_followed);
        elements.cloned()
    });
    let made = made.collect();
    let mut inferred = sizes::inferred(name, attrs, operands, constants, made, symbols);
    inferred.elements = inferred.elements.filter(|_| is_followed);
    inferred
}

/// Returns at most how many parts are computed for the elements of a result.
fn num_computed(
    name: &str,
    constants: &[Option<&DenseHostTensor>],
    made: &[Option<&Elements>],
) -> usize {
    let of_constants = constants.iter().flatten().map(|tensor| {
        let len = tensor.num_elements();
        if len > MAX_ELEMENTS { (0, 0) } else { (len, 1) }
    });
    let of_made = made.iter().flatten().map(|elements| {
        let parts = elements.iter().flatten().map(DimExpr::num_parts);
        (elements.len(), parts.max().unwrap_or(0))
    });
    let (mut count, mut longest, mut largest) = (0_usize, 0, 0);
    for (len, num_parts) in of_constants.chain(of_made) {
        count += 1;
        longest = longest.max(len);
        largest = largest.max(num_parts);
    }
    // Each of several numbers is compared with the others.
    if matches!(name, "nn.Min" | "nn.Max") {
        largest = MAX_PARTS;
    }
    count.saturating_mul(longest).saturating_mul(1 + largest)
}

#[cfg(test)]
mod tests {
    use tfrt_support::DType;

    use super::*;
    use crate::rewrite::infer::Dim;

    /// Returns a list of elements, each a symbol.
    fn list(len: usize, symbols: &mut Symbols) -> Elements {
        let symbol = |index| Dim::Symbol(symbols.named(&format!("x{index}")));
        let dims: Vec<Dim> = (0..len).map(symbol).collect();
        dims.into_iter()
            .map(|dim| Some(symbols.extent(dim)))
            .collect()
    }

    fn integers(rank: Option<usize>) -> Known {
        Known {
            dtype: Some(DType::I64),
            dims: rank.map(|rank| vec![Dim::Fixed(MAX_ELEMENTS); rank]),
        }
    }

    #[test]
    fn elements_are_kept_up_to_a_limit() {
        let mut symbols = Symbols::default();
        let elements = list(MAX_ELEMENTS, &mut symbols);
        let mut known = KnownElements::default();
        let num_values = MAX_KEPT / weight_of(&elements) + 100;
        for number in 0..num_values {
            known.insert(Value(number as u32), elements.clone(), &mut symbols);
        }
        let kept: usize = known.0.values().map(weight_of).sum();
        assert!(kept <= MAX_KEPT && kept > MAX_KEPT / 2, "{kept}");
        // There is room once others are gone.
        let last = Value(num_values as u32 - 1);
        assert!(known.get(last).is_none());
        known.remove(Value(0), &mut symbols);
        known.insert(last, elements, &mut symbols);
        assert!(known.get(last).is_some());
    }

    #[test]
    fn elements_are_computed_up_to_a_limit() {
        let mut symbols = Symbols::default();
        let elements = list(MAX_ELEMENTS, &mut symbols);
        let one = vec![Some(DimExpr::number(7))];
        let operands = [integers(Some(1)), integers(Some(1))];
        let least = |symbols: &mut Symbols| {
            let made = [Some(&elements), Some(&one)];
            inferred("nn.Min", &[], &operands, &[None; 2], &made, symbols).elements
        };
        let mut num_followed = 0_usize;
        while let Some(computed) = least(&mut symbols) {
            assert_eq!(computed.len(), MAX_ELEMENTS);
            num_followed += 1;
            assert!(
                num_followed * MAX_ELEMENTS * MAX_PARTS <= MAX_COMPUTED,
                "each counts with all parts"
            );
        }
        assert!(num_followed > 30);
        // Dimensions are new ones from then on, and known ones stay.
        let [x, y] = ["x0", "x1"].map(|name| Dim::Symbol(symbols.named(name)));
        assert_eq!(symbols.extent(x).to_string(), "x0");
        let product = symbols.extent(x).times(&symbols.extent(y)).unwrap();
        let dim = symbols.dim(&product);
        assert!(!symbols.extent(dim).is_known());
        assert_eq!(
            least(&mut symbols.of_next()),
            None,
            "one budget for all functions"
        );
    }

    #[test]
    fn ops_with_many_operands_are_not_followed() {
        let mut symbols = Symbols::default();
        let elements = list(2, &mut symbols);
        let mut followed = |count: usize| {
            let (operands, made) = (vec![integers(Some(1)); count], vec![Some(&elements); count]);
            let constants = vec![None; count];
            inferred("nn.Max", &[], &operands, &constants, &made, &mut symbols).elements
        };
        assert_eq!(followed(MAX_OPERANDS).as_ref(), Some(&elements));
        assert_eq!(followed(MAX_OPERANDS + 1), None);
    }
}
