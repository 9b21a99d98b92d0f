//! The symbols that dimensions are while a program is rewritten, and what they stand for.
//!
//! A dimension is a number or a symbol, so that rules compare dimensions like numbers. A symbol may
//! stand for an expression; equal expressions have one symbol.

use std::collections::HashMap;

use super::budget::{self, Budget};
use super::infer::Dim;
use crate::dim_expr::DimExpr;

/// The symbols of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    /// The number of the last one.
    pub(crate) last: u32,
    /// What they stand for, unless they are dimensions that are not known before a run.
    extents: HashMap<u32, DimExpr>,
    numbers: HashMap<DimExpr, u32>,
    /// How much is followed of the expressions of the function.
    pub(super) budget: Budget,
}

impl Symbols {
    /// Returns the symbols of the next function of a program, none yet.
    pub(crate) fn of_next(&self) -> Self {
        Self {
            budget: self.budget.of_next(),
            ..Self::default()
        }
    }

    /// Returns a symbol for a dimension that is not known before a run.
    pub(crate) fn unknown(&mut self) -> Dim {
        self.last = self.last.saturating_add(1);
        Dim::Symbol(self.last)
    }

    /// Returns the symbol of a name.
    pub(crate) fn named(&mut self, name: &str) -> u32 {
        let extent = DimExpr::symbol(name);
        match self.numbers.get(&extent) {
            Some(&number) => number,
            None => self.add(&extent),
        }
    }

    /// Returns the symbol that an expression has or gets, unless no more are followed.
    fn number(&mut self, extent: &DimExpr) -> Option<u32> {
        if let Some(&number) = self.numbers.get(extent) {
            return Some(number);
        }
        // Both maps have it.
        let is_kept = !self.budget.is_spent() && self.budget.keep(2 * budget::weight(extent));
        is_kept.then(|| self.add(extent))
    }

    fn add(&mut self, extent: &DimExpr) -> u32 {
        self.last = self.last.saturating_add(1);
        self.extents.insert(self.last, extent.clone());
        self.numbers.insert(extent.clone(), self.last);
        self.last
    }

    /// Returns what a dimension is.
    pub(crate) fn extent(&self, dim: Dim) -> DimExpr {
        match dim {
            Dim::Fixed(extent) => {
                i64::try_from(extent).map_or_else(|_| DimExpr::made(u32::MAX), DimExpr::number)
            }
            Dim::Symbol(number) => match self.extents.get(&number) {
                Some(extent) => extent.clone(),
                None => DimExpr::made(number),
            },
        }
    }

    /// Returns the dimension that an expression is: an unknown one if it is negative, or
    /// if no more expressions are followed.
    pub(crate) fn dim(&mut self, extent: &DimExpr) -> Dim {
        if let Some(number) = extent.as_number() {
            return match usize::try_from(number) {
                Ok(extent) => Dim::Fixed(extent),
                Err(_) => self.unknown(),
            };
        }
        match extent.as_made() {
            Some(number) => Dim::Symbol(number),
            None => match self.number(extent) {
                Some(number) => Dim::Symbol(number),
                None => self.unknown(),
            },
        }
    }

    /// Returns the dimension that an expression is, or an unknown one.
    pub(crate) fn dim_or_unknown(&mut self, extent: Option<DimExpr>) -> Dim {
        match extent {
            Some(extent) => self.dim(&extent),
            None => self.unknown(),
        }
    }

    /// Returns the product of dimensions.
    pub(crate) fn product(&self, dims: &[Dim]) -> Option<DimExpr> {
        let mut dims = dims.iter();
        dims.try_fold(DimExpr::number(1), |all, &dim| all.times(&self.extent(dim)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_dimension() {
        let mut symbols = Symbols::default();
        let (a, b) = (Dim::Symbol(symbols.named("a")), symbols.unknown());
        let sum = symbols.extent(a).plus(&symbols.extent(b)).unwrap();
        let dim = symbols.dim(&sum);
        let other = symbols.extent(b).plus(&symbols.extent(a)).unwrap();
        assert_eq!(symbols.dim(&other), dim);
        assert_ne!(dim, a);
        let back = sum.minus(&symbols.extent(a)).unwrap();
        assert_eq!(symbols.dim(&back), b);
        let none = sum.minus(&sum).unwrap();
        assert_eq!(symbols.dim(&none), Dim::Fixed(0));
        assert_eq!(
            symbols.product(&[Dim::Fixed(2), Dim::Fixed(3)]),
            Some(DimExpr::number(6))
        );
    }
}
