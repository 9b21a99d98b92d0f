//! Dimensions as expressions over the symbols of a model.
//!
//! An expression is a sum of products, each with a whole factor. What else there is, quotients,
//! least and greatest values, counts as a symbol in it:
//!
//! ```text
//!   2*length + 1        min(length, 512)        (length + 1) floordiv 2
//! ```
//!
//! Equal expressions are normalised to one form as far as the rules of sums and products go, so
//! that comparing them is comparing their parts. A symbol stands for a number that is at least 0.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::names::shown;

/// The most symbols and operations in an expression. Larger ones are not followed: a file could
/// let them double with every op.
pub(crate) const MAX_PARTS: usize = 64;

/// The most terms of a sum.
const MAX_TERMS: usize = 16;

/// The most numbers that a number is the least or the greatest of: each new one is compared with
/// all others.
const MAX_CHOICES: usize = 8;

/// A dimension of a tensor, or another number that follows from the dimensions of the inputs.
///
/// ```
/// use tfrt_import::DimExpr;
///
/// let (past, step) = (DimExpr::symbol("past"), DimExpr::symbol("step"));
/// let all = past.plus(&step).unwrap();
/// assert_eq!(all.to_string(), "past+step");
/// assert_eq!(all, step.plus(&past).unwrap());
/// let half = all.plus(&all).unwrap().divided(&DimExpr::number(4)).unwrap();
/// assert_eq!(half.to_string(), "(2*past+2*step) floordiv 4");
/// let value = half.value(&|name| if name == "past" { Some(7) } else { Some(2) });
/// assert_eq!(value, Some(4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DimExpr {
    /// The factors of products, none of which is 0. The symbols of a product are in order; that of
    /// no symbols is 1.
    terms: BTreeMap<Vec<Atom>, i64>,
}

/// A symbol, or what counts as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Atom {
    /// A name of the model.
    Named(Arc<str>),
    /// A dimension that is not known before a run.
    Made(u32),
    /// A quotient, rounded down.
    Quotient(Arc<[DimExpr; 2]>),
    /// The least of some numbers.
    Least(Arc<[DimExpr]>),
    /// The greatest of some numbers.
    Greatest(Arc<[DimExpr]>),
}

impl Atom {
    fn num_parts(&self) -> usize {
        match self {
            Self::Named(_) | Self::Made(_) => 1,
            Self::Quotient(of) => 1 + of.iter().map(DimExpr::num_parts).sum::<usize>(),
            Self::Least(of) | Self::Greatest(of) => {
                1 + of.iter().map(DimExpr::num_parts).sum::<usize>()
            }
        }
    }

    fn is_known(&self) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Made(_) => false,
            Self::Quotient(of) => of.iter().all(DimExpr::is_known),
            Self::Least(of) | Self::Greatest(of) => of.iter().all(DimExpr::is_known),
        }
    }

    fn is_non_negative(&self) -> bool {
        match self {
            Self::Named(_) | Self::Made(_) => true,
            Self::Quotient(of) => of.iter().all(DimExpr::is_non_negative),
            Self::Least(of) => of.iter().all(DimExpr::is_non_negative),
            Self::Greatest(of) => of.iter().any(DimExpr::is_non_negative),
        }
    }

    fn value(&self, of_symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let values = |of: &[DimExpr]| -> Option<Vec<i64>> {
            of.iter().map(|extent| extent.value(of_symbol)).collect()
        };
        match self {
            Self::Named(name) => of_symbol(name),
            Self::Made(_) => None,
            Self::Quotient(of) => match values(&of[..])?[..] {
                [dividend, divisor] if divisor > 0 => Some(dividend.div_euclid(divisor)),
                _ => None,
            },
            Self::Least(of) => values(of)?.into_iter().min(),
            Self::Greatest(of) => values(of)?.into_iter().max(),
        }
    }
}

impl DimExpr {
    /// Returns a number.
    #[must_use]
    pub fn number(number: i64) -> Self {
        let term = (number != 0).then(|| (Vec::new(), number));
        Self {
            terms: term.into_iter().collect(),
        }
    }

    /// Returns a symbol of the model.
    #[must_use]
    pub fn symbol(name: &str) -> Self {
        Self::of_atom(Atom::Named(name.into()))
    }

    /// Returns a symbol for a dimension that is not known before a run.
    pub(crate) fn made(number: u32) -> Self {
        Self::of_atom(Atom::Made(number))
    }

    fn of_atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(vec![atom], 1)]),
        }
    }

    /// Returns the number that it is, unless it has symbols.
    #[must_use]
    pub fn as_number(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Returns the number of the symbol that it is, if it is a single one that is not known.
    pub(crate) fn as_made(&self) -> Option<u32> {
        match self.as_atom() {
            Some(Atom::Made(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns `true` if it follows from the dimensions of the inputs.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.terms.keys().flatten().all(Atom::is_known)
    }

    /// Returns `true` if it is at least 0, whatever its symbols are. `false` if that does not
    /// follow from the factors and the atoms alone.
    pub(crate) fn is_non_negative(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.all(|(atoms, &factor)| factor > 0 && atoms.iter().all(Atom::is_non_negative))
    }

    /// Returns the number of its terms, symbols and operations.
    pub(crate) fn num_parts(&self) -> usize {
        let atoms = self.terms.keys().flatten();
        self.terms.len() + atoms.map(Atom::num_parts).sum::<usize>()
    }

    /// Returns it, unless it is too large to be followed.
    fn bounded(self) -> Option<Self> {
        let is_small = self.terms.len() <= MAX_TERMS && self.num_parts() <= MAX_PARTS;
        is_small.then_some(self)
    }

    /// Returns its value, with those of symbols. `None` if one of them is not known, a divisor is
    /// not positive, or a number is too large.
    #[must_use]
    pub fn value(&self, of_symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let mut terms = self.terms.iter();
        terms.try_fold(0_i64, |sum, (atoms, &factor)| {
            let mut atoms = atoms.iter();
            let product = atoms.try_fold(factor, |product, atom| {
                product.checked_mul(atom.value(of_symbol)?)
            });
            sum.checked_add(product?)
        })
    }

    /// Returns a sum, or `None` if it is too large to be followed, as all operations do.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (atoms, &factor) in &other.terms {
            sum.add(atoms.clone(), factor)?;
        }
        sum.bounded()
    }

    fn add(&mut self, atoms: Vec<Atom>, factor: i64) -> Option<()> {
        use std::collections::btree_map::Entry;
        match self.terms.entry(atoms) {
            Entry::Vacant(place) => {
                place.insert(factor);
            }
            Entry::Occupied(mut place) => match place.get().checked_add(factor)? {
                0 => {
                    place.remove();
                }
                sum => *place.get_mut() = sum,
            },
        }
        Some(())
    }

    /// Returns a difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(&Self::number(-1))?)
    }

    /// Returns a product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::number(0);
        if self.terms.len().saturating_mul(other.terms.len()) > MAX_PARTS {
            return None;
        }
        for (a, &m) in &self.terms {
            for (b, &n) in &other.terms {
                let mut atoms = [&a[..], &b[..]].concat();
                atoms.sort_unstable();
                product.add(atoms, m.checked_mul(n)?)?;
            }
        }
        product.bounded()
    }

    /// Returns the quotient by a product, if nothing is left over whatever the symbols are. What
    /// the symbols of the divisor stand for must not be 0.
    #[must_use]
    pub fn divided_exactly(&self, divisor: &Self) -> Option<Self> {
        if self == divisor && !self.terms.is_empty() {
            return Some(Self::number(1));
        }
        let (by, &factor) = divisor.terms.first_key_value()?;
        if divisor.terms.len() > 1 {
            return None;
        }
        let mut quotient = Self::number(0);
        for (atoms, &own) in &self.terms {
            let mut rest = atoms.clone();
            for atom in by {
                let place = rest.iter().position(|own| own == atom)?;
                rest.remove(place);
            }
            if own.checked_rem(factor)? != 0 {
                return None;
            }
            quotient.add(rest, own.checked_div(factor)?)?;
        }
        Some(quotient)
    }

    /// Returns a quotient, rounded down.
    #[must_use]
    pub fn divided(&self, divisor: &Self) -> Option<Self> {
        if divisor.as_number() == Some(0) {
            return None;
        }
        if let Some(quotient) = self.divided_exactly(divisor) {
            return Some(quotient);
        }
        if let Some(number) = divisor.as_number().filter(|&number| number > 0) {
            // What is divisible is taken out: `(2*n + 3) floordiv 2` is `n + 1`.
            let mut whole = Self::number(0);
            let mut rest = Self::number(0);
            for (atoms, &factor) in &self.terms {
                let (taken, left) = match atoms.is_empty() {
                    true => (factor.div_euclid(number), factor.rem_euclid(number)),
                    false if factor % number == 0 => (factor / number, 0),
                    false => (0, factor),
                };
                for (sum, part) in [(&mut whole, taken), (&mut rest, left)] {
                    if part != 0 {
                        sum.add(atoms.clone(), part)?;
                    }
                }
            }
            // What is left of a number alone is less than the divisor.
            if rest.as_number().is_none() {
                let quotient = Atom::Quotient(Arc::new([rest, divisor.clone()]));
                whole.add(vec![quotient], 1)?;
            }
            return whole.bounded();
        }
        let quotient = Atom::Quotient(Arc::new([self.clone(), divisor.clone()]));
        Self::of_atom(quotient).bounded()
    }

    /// Returns a quotient, rounded up.
    #[must_use]
    pub fn divided_up(&self, divisor: &Self) -> Option<Self> {
        let one_less = divisor.minus(&Self::number(1))?;
        if let Some(quotient) = self.divided_exactly(divisor) {
            return Some(quotient);
        }
        self.plus(&one_less)?.divided(divisor)
    }

    /// Returns the least of two numbers.
    #[must_use]
    pub fn least(&self, other: &Self) -> Option<Self> {
        if self == other {
            return Some(self.clone());
        }
        let all = self.parts_of(other, |atom| match atom {
            Atom::Least(parts) => Some(parts),
            _ => None,
        })?;
        let kept = without_bounded(all, |a, b| b.is_at_least(a))?;
        match <[Self; 1]>::try_from(kept) {
            Ok([only]) => Some(only),
            Err(parts) => Self::of_atom(Atom::Least(parts.into())).bounded(),
        }
    }

    /// Returns the greatest of two numbers.
    #[must_use]
    pub fn greatest(&self, other: &Self) -> Option<Self> {
        if self == other {
            return Some(self.clone());
        }
        let all = self.parts_of(other, |atom| match atom {
            Atom::Greatest(parts) => Some(parts),
            _ => None,
        })?;
        let kept = without_bounded(all, Self::is_at_least)?;
        match <[Self; 1]>::try_from(kept) {
            Ok([only]) => Some(only),
            Err(parts) => Self::of_atom(Atom::Greatest(parts.into())).bounded(),
        }
    }

    /// Returns the parts of two least or greatest numbers, in order, each once, unless there are
    /// too many to be compared.
    fn parts_of(
        &self,
        other: &Self,
        parts: fn(&Atom) -> Option<&Arc<[Self]>>,
    ) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        for extent in [self, other] {
            let only = extent.as_atom().and_then(parts);
            match only {
                Some(parts) => all.extend(parts.iter().cloned()),
                None => all.push(extent.clone()),
            }
        }
        all.sort_unstable();
        all.dedup();
        (all.len() <= MAX_CHOICES).then_some(all)
    }

    /// Returns `true` if it is at least another one, whatever the symbols are. `false` if
    /// that is not known.
    pub(crate) fn is_at_least(&self, other: &Self) -> bool {
        let lead = self.minus(other);
        if lead.is_some_and(|lead| lead.is_non_negative()) {
            return true;
        }
        // A part of something is at most that.
        match other.as_atom() {
            Some(Atom::Quotient(of)) => {
                let [whole, divisor] = &**of;
                let is_part = divisor.as_number().is_some_and(|divisor| divisor > 0);
                is_part && whole.is_non_negative() && self.is_at_least(whole)
            }
            _ => false,
        }
    }

    /// Returns the symbol, or what counts as one, that it is.
    fn as_atom(&self) -> Option<&Atom> {
        match self.terms.first_key_value() {
            Some((atoms, 1)) if self.terms.len() == 1 => match &atoms[..] {
                [atom] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns `true` if it is 0 wherever another one is, which is a product.
    pub(crate) fn vanishes_with(&self, product: &Self) -> bool {
        let Some((atoms, _)) = product.terms.first_key_value() else {
            return self.terms.is_empty();
        };
        let is_with = |atom: &Atom| self.terms.keys().all(|own| own.contains(atom));
        product.terms.len() == 1 && atoms.iter().all(is_with)
    }
}

/// Returns the parts without those that another one leads, whatever the symbols are.
fn without_bounded(
    parts: Vec<DimExpr>,
    leads: impl Fn(&DimExpr, &DimExpr) -> bool,
) -> Option<Vec<DimExpr>> {
    let mut kept: Vec<DimExpr> = Vec::new();
    for part in parts {
        if kept.iter().any(|other| leads(other, &part)) {
            continue;
        }
        kept.retain(|other| !leads(&part, other));
        kept.push(part);
    }
    (!kept.is_empty()).then_some(kept)
}

impl fmt::Display for DimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_known() {
            return f.write_str("?");
        }
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        // Symbols first, and what is added before what is subtracted.
        let mut terms: Vec<(&Vec<Atom>, i64)> = self.terms.iter().map(|(a, &n)| (a, n)).collect();
        terms.sort_by_key(|(atoms, factor)| (*factor < 0, atoms.is_empty()));
        for (index, (atoms, factor)) in terms.into_iter().enumerate() {
            match factor {
                ..0 => f.write_str("-")?,
                _ if index > 0 => f.write_str("+")?,
                _ => {}
            }
            let factor = factor.unsigned_abs();
            if factor != 1 || atoms.is_empty() {
                write!(f, "{factor}")?;
            }
            let mut is_first = factor == 1;
            for atom in atoms {
                if !is_first {
                    f.write_str("*")?;
                }
                is_first = false;
                // A quotient within a sum or a product needs parentheses.
                match self.terms.len() == 1 && atoms.len() == 1 && factor == 1 {
                    true => write!(f, "{atom}")?,
                    false if matches!(atom, Atom::Quotient(_)) => write!(f, "({atom})")?,
                    false => write!(f, "{atom}")?,
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, of: &[DimExpr]| {
            let parts: Vec<String> = of.iter().map(ToString::to_string).collect();
            write!(f, "{name}({})", parts.join(", "))
        };
        match self {
            Self::Named(name) => write!(f, "{}", shown(name)),
            Self::Made(_) => f.write_str("?"),
            Self::Quotient(of) => {
                let [dividend, divisor] = of.each_ref().map(|side| match side.num_parts() {
                    ..=2 => side.to_string(),
                    _ => format!("({side})"),
                });
                write!(f, "{dividend} floordiv {divisor}")
            }
            Self::Least(of) => list(f, "min", of),
            Self::Greatest(of) => list(f, "max", of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(number: i64) -> DimExpr {
        DimExpr::number(number)
    }

    fn value(extent: &DimExpr, x: i64, y: i64) -> Option<i64> {
        extent.value(&|name| match name {
            "x" => Some(x),
            "y" => Some(y),
            _ => None,
        })
    }

    #[test]
    fn equal_expressions_have_one_form() {
        let (x, y) = (DimExpr::symbol("x"), DimExpr::symbol("y"));
        let product = |a: &DimExpr, b: &DimExpr| a.times(b).unwrap();
        let sum = |a: &DimExpr, b: &DimExpr| a.plus(b).unwrap();
        // (x + y) * (x + 1) = x * x + x * y + x + y
        let left = product(&sum(&x, &y), &sum(&x, &n(1)));
        let right = sum(&sum(&product(&x, &x), &product(&y, &x)), &sum(&y, &x));
        assert_eq!(left, right);
        assert_eq!(sum(&x, &n(0)), x);
        assert_eq!(left.minus(&right), Some(n(0)));
        let odd = sum(&product(&n(2), &x), &n(3));
        assert_eq!(odd.divided(&n(2)), Some(sum(&x, &n(1))));
        assert_eq!(odd.divided_up(&n(2)), Some(sum(&x, &n(2))));
        let all = product(&product(&x, &y), &n(768));
        assert_eq!(all.divided(&product(&y, &n(64))), Some(product(&x, &n(12))));
        assert_eq!(x.least(&sum(&x, &y)), Some(x.clone()));
        assert_eq!(x.greatest(&n(0)), Some(x.clone()));
        let both = x.greatest(&y).unwrap();
        assert_eq!(both, y.greatest(&x).unwrap().greatest(&x).unwrap());
        assert_eq!(x.divided(&n(0)), None);
        let half = x.divided(&n(2)).unwrap();
        assert_eq!(x.least(&half), Some(half.clone()));
        assert_eq!(half.least(&x.plus(&y).unwrap()), Some(half));
    }

    #[test]
    fn what_is_zero_with_a_product_is_known() {
        let (x, y) = (DimExpr::symbol("x"), DimExpr::symbol("y"));
        let both = x.times(&y).unwrap();
        assert!(x.vanishes_with(&x.times(&n(4)).unwrap()) && both.vanishes_with(&x));
        assert!(!x.vanishes_with(&both) && !n(3).vanishes_with(&x));
        assert!(n(3).vanishes_with(&n(4)), "a number is never 0");
        assert!(!both.vanishes_with(&x.plus(&y).unwrap()));
    }

    #[test]
    fn expressions_are_written_as_they_are_read() {
        let (x, y) = (DimExpr::symbol("x"), DimExpr::symbol("y"));
        let shown = |extent: Option<DimExpr>| extent.unwrap().to_string();
        assert_eq!(shown(n(5).minus(&x)), "5-x");
        assert_eq!(shown(x.minus(&n(3))), "x-3");
        assert_eq!(shown(x.times(&n(2))), "2*x");
        assert_eq!(shown(x.times(&y).unwrap().times(&n(-4))), "-4*x*y");
        assert_eq!(shown(x.divided(&n(2))), "x floordiv 2");
        assert_eq!(
            shown(x.divided_up(&n(2)).unwrap().plus(&n(1))),
            "((x+1) floordiv 2)+1"
        );
        assert_eq!(shown(x.least(&n(512))), "min(512, x)");
        assert_eq!(shown(Some(n(0))), "0");
        assert_eq!(shown(DimExpr::made(7).plus(&x)), "?");
    }

    #[test]
    fn values_are_those_of_whole_numbers() {
        let (x, y) = (DimExpr::symbol("x"), DimExpr::symbol("y"));
        let halves = x.plus(&y).unwrap().divided(&n(2)).unwrap();
        let scaled = halves.times(&n(3)).unwrap().greatest(&y).unwrap();
        for (a, b) in [(0_i64, 0_i64), (1, 0), (5, 2), (2, 19)] {
            assert_eq!(value(&scaled, a, b), Some(((a + b) / 2 * 3).max(b)));
        }
        let by_y = x.divided(&y).unwrap();
        assert_eq!((value(&by_y, 7, 2), value(&by_y, 7, 0)), (Some(3), None));
        assert_eq!(value(&DimExpr::symbol("z"), 1, 2), None);
        assert_eq!(value(&x.times(&x).unwrap(), i64::MAX, 0), None);
    }

    #[test]
    fn expressions_do_not_grow_without_bound() {
        let mut extent = Some(DimExpr::symbol("x"));
        let mut num_steps = 0;
        while let Some(last) = extent {
            let more = last.plus(&n(1)).and_then(|more| more.divided(&n(3)));
            extent = more.and_then(|more| more.times(&more));
            num_steps += 1;
            assert!(num_steps < 100);
        }
        assert_eq!(n(i64::MAX).plus(&n(1)), None);
    }

    #[test]
    fn few_numbers_are_compared_with_each_other() {
        type Join = fn(&DimExpr, &DimExpr) -> Option<DimExpr>;
        let limits: [(Join, usize); 3] = [
            (DimExpr::least, MAX_CHOICES),
            (DimExpr::greatest, MAX_CHOICES),
            (DimExpr::plus, MAX_TERMS),
        ];
        for (join, limit) in limits {
            let mut all = DimExpr::symbol("x0");
            for index in 1..limit {
                all = join(&all, &DimExpr::symbol(&format!("x{index}"))).unwrap();
            }
            assert_eq!(join(&all, &DimExpr::symbol("y")), None);
            // The same ones do not count twice.
            assert!(join(&all, &all).is_some() && join(&all, &DimExpr::symbol("x0")).is_some());
        }
    }
}
