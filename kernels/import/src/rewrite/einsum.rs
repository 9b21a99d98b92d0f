//! Einstein summations that are products of matrices.

use super::graph::Graph;
use super::matching::is_real;
use super::{Phase, RewriteRule};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "product-from-einsum",
    summary: "Computes an Einstein summation over one letter as a product of matrices.",
    phase: Phase::Simplify,
    roots: &["nn.Einsum"],
    apply: product,
}];

/// The letters of a factor or of the result.
type Letters = Vec<char>;

/// A product of matrices: what the letters of an equation are in it.
struct Product {
    /// The letters of both factors and of the result, in the order of the result.
    batch: Letters,
    row: char,
    column: char,
    summed: char,
}

fn product(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[mut a, mut b] = graph.operands(number) else {
        return None;
    };
    let [mut of_a, mut of_b, of_result] = letters(graph.text(number, "equation")?)?;
    // The last letter of the result is a column.
    let last = *of_result.last()?;
    if of_a.contains(&last) {
        (a, b, of_a, of_b) = (b, a, of_b, of_a);
    }
    let found = Product::of(&of_a, &of_b, &of_result)?;
    if !is_real(graph, a) || !is_real(graph, b) {
        return None;
    }
    let (dims_a, dims_b) = (graph.known(a).dims?, graph.known(b).dims?);
    if dims_a.len() != of_a.len() || dims_b.len() != of_b.len() {
        return None;
    }
    // A summation broadcasts what it sums over, too; products do not.
    let place_of = |letters: &[char], letter: char| letters.iter().position(|&own| own == letter);
    if dims_a[place_of(&of_a, found.summed)?] != dims_b[place_of(&of_b, found.summed)?] {
        return None;
    }
    let is_transposed = of_b.last() == Some(&found.summed);
    let wanted_b = match is_transposed {
        true => [found.column, found.summed],
        false => [found.summed, found.column],
    };
    let place = graph.place(number).to_owned();
    let wanted_a = [&found.batch[..], &[found.row, found.summed]].concat();
    let wanted_b = [&found.batch[..], &wanted_b].concat();
    let made = [&found.batch[..], &[found.row, found.column]].concat();
    let a = transposed(graph, number, a, &of_a, &wanted_a, &place)?;
    let b = transposed(graph, number, b, &of_b, &wanted_b, &place)?;
    let mut attrs = Vec::new();
    if is_transposed {
        attrs.push(("transpose_b".to_owned(), Attr::Bool(true)));
    }
    let y = graph.make(number, "nn.MatMul", &[a, b], attrs, 1, &place)[0];
    transposed(graph, number, y, &made, &of_result, &place)
}

impl Product {
    fn of(a: &[char], b: &[char], result: &[char]) -> Option<Self> {
        let only = |letters: Vec<char>| match letters[..] {
            [letter] => Some(letter),
            _ => None,
        };
        let of = |has: [bool; 3]| -> Letters {
            let all = result
                .iter()
                .chain(a.iter().filter(|letter| !result.contains(letter)));
            let is_wanted =
                |letter: &&char| [a, b, result].map(|side| side.contains(letter)) == has;
            all.filter(is_wanted).copied().collect()
        };
        let found = Self {
            batch: of([true, true, true]),
            row: only(of([true, false, true]))?,
            column: only(of([false, true, true]))?,
            summed: only(of([true, true, false]))?,
        };
        // Nothing is summed but the one letter, and nothing is new.
        let len = found.batch.len() + 2;
        ([a, b, result].iter().all(|side| side.len() == len)).then_some(found)
    }
}

/// Returns the letters of an equation of two factors, if each has every letter once.
fn letters(equation: &str) -> Option<[Letters; 3]> {
    let equation: String = equation.split_whitespace().collect();
    let (factors, result) = equation.split_once("->")?;
    let (a, b) = factors.split_once(',')?;
    let sides = [a, b, result].map(|side| side.chars().collect::<Letters>());
    let is_plain = |letters: &Letters| {
        let mut sorted = letters.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == letters.len() && letters.iter().all(char::is_ascii_alphabetic)
    };
    sides.iter().all(is_plain).then_some(sides)
}

/// Returns a value with its dimensions in another order, if that differs.
fn transposed(
    graph: &mut Graph,
    number: usize,
    value: Value,
    own: &[char],
    wanted: &[char],
    place: &str,
) -> Option<Value> {
    if own == wanted {
        return Some(value);
    }
    let places = wanted
        .iter()
        .map(|letter| own.iter().position(|own| own == letter));
    let perm: Vec<i64> = places
        .map(|place| Some(place? as i64))
        .collect::<Option<_>>()?;
    let attrs = vec![("perm".to_owned(), Attr::Ints(perm))];
    Some(graph.make(number, "nn.Transpose", &[value], attrs, 1, place)[0])
}
