//! Einstein summation.
//!
//! Every dimension has a letter. Letters that occur only in one operand, and not in the result, are
//! summed first. Then pairs of operands are multiplied as matrices, the pair with the smallest
//! product first; of many operands, only the last ones are compared.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::number::{Number, with_number};
use crate::products::multiply_batches;
use crate::shapes::permuted;
use crate::{advance, allocate, dense, invalid, made, pieces, product, strides};

/// A dimension: a letter, or one of those that an ellipsis stands for, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Hidden(usize),
    Named(char),
}

/// An operand and the letters of its dimensions, each once.
#[derive(Clone)]
struct Term {
    letters: Vec<Letter>,
    tensor: DenseHostTensor,
}

/// How often letters occur, in the order in which they were first added.
#[derive(Default)]
struct Counts(Vec<(Letter, usize)>);

impl Counts {
    fn add(&mut self, letters: &[Letter]) {
        for &letter in letters {
            match self.0.iter_mut().find(|(known, _)| *known == letter) {
                Some((_, count)) => *count += 1,
                None => self.0.push((letter, 1)),
            }
        }
    }

    fn remove(&mut self, letters: &[Letter]) {
        for (known, count) in &mut self.0 {
            let found = letters.iter().filter(|letter| *letter == known);
            *count = count.saturating_sub(found.count());
        }
    }

    fn of(&self, letter: &Letter) -> usize {
        let found = self.0.iter().find(|(known, _)| known == letter);
        found.map_or(0, |&(_, count)| count)
    }

    /// Returns the letters that occur, each once.
    fn letters(&self) -> impl Iterator<Item = Letter> + '_ {
        let present = self.0.iter().filter(|&&(_, count)| count > 0);
        present.map(|&(letter, _)| letter)
    }
}

const OP: &str = "nn.Einsum";

/// Computes sums of products of tensors. The equation assigns a letter to each dimension, as in
/// `ij,jk->ik`. A letter in several operands denotes the same index in all of them, and letters
/// that are not in the result are summed over. An operand with a repeated letter is read along its
/// diagonal; `...` stands for all other dimensions, which are broadcast to one shape. Without `->`,
/// the result has the letters that occur once, in alphabetical order.
///
/// # Errors
/// If the equation is malformed, or the operands do not match it.
#[tfrt_op("nn.Einsum")]
fn einsum(
    operands: &[AnyRef],
    #[attr] equation: &str,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let equation: String = equation.split_whitespace().collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let spelled: Vec<&str> = left.split(',').collect();
    if spelled.len() != operands.len() {
        return Err(invalid(format!(
            "`{OP}`: expected {} operands for `{equation}`, found {}",
            spelled.len(),
            operands.len()
        )));
    }
    let mut terms = Vec::with_capacity(operands.len());
    let mut extents: Vec<(Letter, usize)> = Vec::new();
    let mut counts = Counts::default();
    for (spelled, operand) in spelled.iter().zip(operands) {
        let tensor = dense(operand)?;
        let letters = letters_of(&equation, spelled, Some(tensor.shape().rank()))?;
        counts.add(&letters);
        for (&letter, &extent) in letters.iter().zip(tensor.shape().dims()) {
            match extents.iter_mut().find(|(known, _)| *known == letter) {
                None => extents.push((letter, extent)),
                Some((_, known)) if *known == 1 => *known = extent,
                Some((_, known)) if *known == extent || extent == 1 => {}
                Some((_, known)) => {
                    return Err(invalid(format!(
                        "`{OP}`: a letter of `{equation}` stands for dimensions of size {known} \
                         and {extent}"
                    )));
                }
            }
        }
        terms.push(diagonal(&letters, &tensor, ctx)?);
    }
    let mut result = match right {
        Some(right) => {
            let hidden = counts.letters().filter_map(|letter| match letter {
                Letter::Hidden(number) => Some(number + 1),
                Letter::Named(_) => None,
            });
            let named = right.chars().filter(char::is_ascii_alphabetic).count();
            let rank = match right.contains("...") {
                true => named + hidden.max().unwrap_or(0),
                false => named,
            };
            letters_of(&equation, right, Some(rank))?
        }
        None => {
            let once = |letter: &Letter| match letter {
                Letter::Hidden(_) => true,
                Letter::Named(_) => counts.of(letter) == 1,
            };
            let mut letters: Vec<Letter> = counts.letters().filter(once).collect();
            letters.sort_by_key(|letter| match letter {
                Letter::Hidden(number) => (0, usize::MAX - number),
                Letter::Named(name) => (1, *name as usize),
            });
            letters
        }
    };
    let is_known = |letter: &Letter| extents.iter().any(|(known, _)| known == letter);
    let mut sorted = result.clone();
    sorted.sort_unstable();
    if !result.iter().all(is_known) || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(invalid(format!(
            "`{OP}`: expected distinct letters of operands in the result of `{equation}`"
        )));
    }
    let extent = |letter: &Letter| {
        let found = extents.iter().find(|(known, _)| known == letter);
        found.map_or(1, |(_, extent)| *extent)
    };
    // In how many of the terms, and of the result, each letter is.
    let mut counts = Counts::default();
    counts.add(&result);
    terms.iter().for_each(|term| counts.add(&term.letters));
    while terms.len() > 1 {
        let (a, b) = cheapest(&terms, &counts, &extent);
        let second = terms.remove(b);
        let first = terms.remove(a);
        counts.remove(&first.letters);
        counts.remove(&second.letters);
        let needed: Vec<Letter> = counts.letters().collect();
        let product = multiplied(first, second, &needed, &extent, ctx)?;
        counts.add(&product.letters);
        terms.push(product);
    }
    let Some(term) = terms.pop() else {
        return Err(invalid(format!(
            "`{OP}`: expected at least one operand, found none"
        )));
    };
    let term = summed(term, &result, ctx)?;
    // Dimensions of extent 1 in the only operand that has them stay so.
    let order: Vec<usize> = result
        .drain(..)
        .filter_map(|letter| term.letters.iter().position(|&own| own == letter))
        .collect();
    permuted(OP, &term.tensor, &order, ctx)
}

/// Returns the letters of a tensor of a rank, as the equation spells them.
fn letters_of(equation: &str, spelled: &str, rank: Option<usize>) -> Result<Vec<Letter>> {
    let refused = |what: &str| {
        Err(invalid(format!(
            "`{OP}`: `{spelled}` of `{equation}` {what}"
        )))
    };
    let (before, after) = match spelled.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (spelled, None),
    };
    let all = before.chars().chain(after.unwrap_or_default().chars());
    if !all.clone().all(|letter| letter.is_ascii_alphabetic()) {
        return refused("contains a character that is not a letter");
    }
    let (named, rank) = (all.count(), rank.unwrap_or(0));
    let fits = if after.is_some() {
        named <= rank
    } else {
        named == rank
    };
    if !fits {
        return refused(&format!("does not match a tensor of rank {rank}"));
    }
    let mut letters: Vec<Letter> = before.chars().map(Letter::Named).collect();
    if let Some(after) = after {
        letters.extend((0..rank - named).rev().map(Letter::Hidden));
        letters.extend(after.chars().map(Letter::Named));
    }
    Ok(letters)
}

/// Returns a tensor with each letter once: where one is repeated, its diagonal.
fn diagonal(letters: &[Letter], tensor: &DenseHostTensor, ctx: &ExecutionContext) -> Result<Term> {
    let mut unique: Vec<Letter> = Vec::new();
    for letter in letters {
        if !unique.contains(letter) {
            unique.push(*letter);
        }
    }
    if unique.len() == letters.len() {
        return Ok(Term {
            letters: unique,
            tensor: tensor.clone(),
        });
    }
    let own = strides(tensor.shape().dims());
    let mut dims = Vec::new();
    let mut steps = Vec::new();
    for letter in &unique {
        let axes = (0..letters.len()).filter(|&axis| letters[axis] == *letter);
        let found: Vec<usize> = axes
            .clone()
            .map(|axis| tensor.shape().dims()[axis])
            .collect();
        if found.iter().any(|&extent| extent != found[0]) {
            return Err(invalid(format!(
                "`{OP}`: expected equal dimensions for a diagonal, found {found:?}"
            )));
        }
        dims.push(found[0]);
        steps.push(axes.map(|axis| own[axis]).sum::<usize>());
    }
    let mut index = vec![0; dims.len()];
    let tensor = with_number!(OP, tensor.dtype(), T => {
        let from = tensor.elements::<T>()?;
        made(ctx, &dims, |_| {
            let at: usize = index.iter().zip(&steps).map(|(index, step)| index * step).sum();
            advance(&mut index, &dims);
            from[at]
        })
    })?;
    Ok(Term {
        letters: unique,
        tensor,
    })
}

/// Returns a term with only these letters: the others are summed over.
fn summed(term: Term, kept: &[Letter], ctx: &ExecutionContext) -> Result<Term> {
    let (stays, goes): (Vec<usize>, Vec<usize>) =
        (0..term.letters.len()).partition(|&axis| kept.contains(&term.letters[axis]));
    if goes.is_empty() {
        return Ok(term);
    }
    let order = [&stays[..], &goes[..]].concat();
    let tensor = permuted(OP, &term.tensor, &order, ctx)?;
    let dims = &tensor.shape().dims()[..stays.len()];
    let each = product(&tensor.shape().dims()[stays.len()..]);
    let sums = with_number!(OP, tensor.dtype(), T => {
        let from = tensor.elements::<T>()?;
        made(ctx, dims, |at| {
            let set = from[at * each..][..each].iter();
            if T::IS_REAL {
                T::of_f64(set.map(|x| x.to_f64()).sum())
            } else {
                set.fold(T::of_f64(0.0), |sum, &x| sum.plus(x))
            }
        })
    })?;
    Ok(Term {
        letters: stays.iter().map(|&axis| term.letters[axis]).collect(),
        tensor: sums,
    })
}

/// The most terms that are compared to choose a pair.
const MAX_COMPARED: usize = 32;

/// Returns the pair of terms whose product has the fewest elements, among the last terms.
/// `counts` has the letters of all terms and of the result.
fn cheapest(terms: &[Term], counts: &Counts, extent: &impl Fn(&Letter) -> usize) -> (usize, usize) {
    let cost = |a: usize, b: usize| -> u128 {
        let (a, b) = (&terms[a].letters, &terms[b].letters);
        let only_b = b.iter().filter(|letter| !a.contains(letter));
        let kept = a.iter().chain(only_b).filter(|letter| {
            let own = usize::from(a.contains(letter)) + usize::from(b.contains(letter));
            counts.of(letter) > own
        });
        kept.fold(1_u128, |product, letter| {
            product.saturating_mul(extent(letter) as u128)
        })
    };
    let first = terms.len().saturating_sub(MAX_COMPARED);
    let pairs = (first..terms.len()).flat_map(|a| (a + 1..terms.len()).map(move |b| (a, b)));
    pairs.min_by_key(|&(a, b)| cost(a, b)).unwrap_or((0, 1))
}

/// Returns the product of two terms, with the letters that are needed.
fn multiplied(
    a: Term,
    b: Term,
    needed: &[Letter],
    extent: &impl Fn(&Letter) -> usize,
    ctx: &ExecutionContext,
) -> Result<Term> {
    let union = |own: &[Letter]| [needed, own].concat();
    let (a, b) = (
        summed(a.clone(), &union(&b.letters), ctx)?,
        summed(b, &union(&a.letters), ctx)?,
    );
    if a.tensor.dtype() != b.tensor.dtype() {
        return Err(invalid(format!(
            "`{OP}`: expected operands of the same type, found {} and {}",
            a.tensor.dtype(),
            b.tensor.dtype()
        )));
    }
    let has = |term: &Term, letter: &Letter| term.letters.contains(letter);
    let shared: Vec<Letter> = a.letters.iter().filter(|l| has(&b, l)).copied().collect();
    let (batch, inner): (Vec<Letter>, Vec<Letter>) =
        shared.iter().partition(|letter| needed.contains(letter));
    let own = |term: &Term| -> Vec<Letter> {
        let own = term
            .letters
            .iter()
            .filter(|letter| !shared.contains(letter));
        own.copied().collect()
    };
    let (rows, columns) = (own(&a), own(&b));
    let sizes = |letters: &[Letter]| letters.iter().map(extent).collect::<Vec<usize>>();
    // Dimensions of extent 1 are stretched where the other term has more.
    let laid_out = |term: &Term, order: &[&[Letter]]| -> Result<DenseHostTensor> {
        let letters = order.concat();
        let axes: Vec<usize> = letters
            .iter()
            .filter_map(|letter| term.letters.iter().position(|own| own == letter))
            .collect();
        let tensor = permuted(OP, &term.tensor, &axes, ctx)?;
        let wanted = sizes(&letters);
        Shape::new(&wanted)?;
        if tensor.shape().dims() == wanted {
            return Ok(tensor);
        }
        crate::shapes::stretched(OP, &tensor, &wanted, ctx)
    };
    let left = laid_out(&a, &[&batch, &rows, &inner])?;
    let right = laid_out(&b, &[&batch, &inner, &columns])?;
    let dims = [sizes(&batch), sizes(&rows), sizes(&columns)].concat();
    let counts = [&batch, &rows, &inner, &columns].map(|letters| product(&sizes(letters)));
    let mut c = allocate(ctx, left.dtype(), &dims)?;
    multiply_batches(OP, counts, &left, &right, &mut c)?;
    Ok(Term {
        letters: [batch, rows, columns].concat(),
        tensor: pieces::with_dims(&c, &dims)?,
    })
}
