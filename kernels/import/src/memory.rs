//! How much memory the intermediate results of a program take.
//!
//! Ops run in the order of the program, as they do on one thread. The results of an op live from
//! then on until their last user has run, and outputs until the end. Results that are views of
//! their operand have its memory. Sizes are expressions over the symbols of the inputs; what ops
//! need besides their results, and gaps for alignment, do not count.

use std::collections::{BTreeSet, HashMap};

use crate::dim_expr::DimExpr;
use crate::program::{OpKind, Program, Value};
use crate::rewrite::VIEWS;
use crate::shapes::Shapes;

/// The most sums that a bound is the greatest of, where none of them is always the greatest.
const MAX_BOUNDS: usize = 8;

/// The memory of the intermediate results and outputs of a program.
///
/// ```
/// use tfrt_import::program::ProgramBuilder;
/// use tfrt_import::{InputDim, InputType};
///
/// let mut builder = ProgramBuilder::default();
/// let dims = Some(vec![InputDim::Symbol("n".into())]);
/// let dtype = Some(tfrt_support::DType::F32);
/// let mut x = builder.declared_input("x", InputType { dtype, dims });
/// for _ in 0..5 {
///     x = builder.call("nn.Exp", &[x], &[], 1, "node")[0];
/// }
/// let memory = builder.finish(&[("y", x)]).memory();
/// // Two of the five results at a time.
/// assert_eq!(memory.arena_bytes.unwrap().to_string(), "8*n");
/// assert_eq!(memory.lower_bound_bytes.unwrap().to_string(), "8*n");
/// assert_eq!(memory.num_unknown, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramMemory {
    /// The size of a block of memory in which all results have places; `None` if the expression is
    /// too large.
    pub arena_bytes: Option<DimExpr>,
    /// The largest sum of the sizes of results that exist at once.
    pub lower_bound_bytes: Option<DimExpr>,
    /// The number of results whose size is not known before a run. They do not count.
    pub num_unknown: usize,
}

/// A result in memory.
struct Block {
    bytes: DimExpr,
    /// The first and the last op while it exists.
    lives: [usize; 2],
}

impl Block {
    fn overlaps(&self, other: &Self) -> bool {
        self.lives[0] <= other.lives[1] && other.lives[0] <= self.lives[1]
    }
}

impl Program {
    /// Returns how much memory the results of its ops take. Those of inner functions do not count.
    #[must_use]
    pub fn memory(&self) -> ProgramMemory {
        let (blocks, num_unknown) = self.blocks();
        ProgramMemory {
            arena_bytes: arena(&blocks),
            lower_bound_bytes: lower_bound(&blocks, self.body.ops.len()),
            num_unknown,
        }
    }

    /// Returns the results, in the order in which they are made, and how many have unknown sizes.
    fn blocks(&self) -> (Vec<Block>, usize) {
        let shapes = Shapes::of(self);
        let mut blocks: Vec<Block> = Vec::new();
        let mut places: HashMap<Value, usize> = HashMap::new();
        let mut num_unknown = 0;
        for (index, op) in self.body.ops.iter().enumerate() {
            for operand in &op.operands {
                if let Some(&place) = places.get(operand) {
                    blocks[place].lives[1] = index;
                }
            }
            let is_view = match &op.kind {
                OpKind::Call { name, .. } => VIEWS.contains(&name.as_str()),
                _ => false,
            };
            if is_view {
                let of = op.operands.first().and_then(|operand| places.get(operand));
                if let (Some(&place), Some(&result)) = (of, op.results.first()) {
                    places.insert(result, place);
                }
                continue;
            }
            for &result in &op.results {
                match shapes.type_of(result).len_bytes() {
                    Some(bytes) => {
                        places.insert(result, blocks.len());
                        let lives = [index, index];
                        blocks.push(Block { bytes, lives });
                    }
                    None => num_unknown += 1,
                }
            }
        }
        for result in &self.body.results {
            if let Some(&place) = places.get(result) {
                blocks[place].lives[1] = self.body.ops.len();
            }
        }
        (blocks, num_unknown)
    }
}

/// Returns the greatest sum of the sizes of blocks that exist at once. If several sums can be the
/// greatest, the first [`MAX_BOUNDS`] of them count.
fn lower_bound(blocks: &[Block], num_ops: usize) -> Option<DimExpr> {
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); num_ops + 1];
    let mut sum = DimExpr::number(0);
    let mut greatest = vec![sum.clone()];
    let mut blocks_left = blocks.iter().enumerate().peekable();
    for index in 0..=num_ops {
        while let Some((place, block)) = blocks_left.next_if(|(_, block)| block.lives[0] == index) {
            sum = sum.plus(&block.bytes)?;
            ends[block.lives[1]].push(place);
        }
        let is_covered = greatest.iter().any(|other| other.is_at_least(&sum));
        if !is_covered {
            greatest.retain(|other| !sum.is_at_least(other));
            if greatest.len() < MAX_BOUNDS {
                greatest.push(sum.clone());
            }
        }
        for place in std::mem::take(&mut ends[index]) {
            sum = sum.minus(&blocks[place].bytes)?;
        }
    }
    let mut greatest = greatest.into_iter();
    let first = greatest.next()?;
    greatest.try_fold(first, |all, sum| all.greatest(&sum))
}

/// Returns the size of an arena in which blocks that exist at once have places of their own: each
/// gets the smallest place that is free and large enough, or else one that is free grows.
fn arena(blocks: &[Block]) -> Option<DimExpr> {
    if let Some(bytes) = packed(blocks) {
        return i64::try_from(bytes).ok().map(DimExpr::number);
    }
    // The sizes of places, those that are free, and those that become free, by when they do.
    let mut places: Vec<DimExpr> = Vec::new();
    let mut free: BTreeSet<usize> = BTreeSet::new();
    let mut taken: BTreeSet<(usize, usize)> = BTreeSet::new();
    for block in blocks {
        while let Some(&(end, at)) = taken.first()
            && end < block.lives[0]
        {
            taken.pop_first();
            free.insert(at);
        }
        let candidates = || free.iter().copied().take(MAX_CANDIDATES);
        let fitting = candidates().filter(|&at| places[at].is_at_least(&block.bytes));
        let smallest = fitting.reduce(|found, at| match places[found].is_at_least(&places[at]) {
            true => at,
            false => found,
        });
        let growing = || candidates().find(|&at| block.bytes.is_at_least(&places[at]));
        let at = match (smallest, smallest.is_none().then(growing).flatten()) {
            (Some(at), _) => at,
            (None, Some(at)) => {
                places[at] = block.bytes.clone();
                at
            }
            (None, None) => {
                places.push(block.bytes.clone());
                places.len() - 1
            }
        };
        free.remove(&at);
        taken.insert((block.lives[1], at));
    }
    let mut places = places.into_iter();
    places.try_fold(DimExpr::number(0), |sum, bytes| sum.plus(&bytes))
}

/// The most free places that are compared with a block.
const MAX_CANDIDATES: usize = 32;

/// The most blocks that are packed closely, which takes time in proportion to their square.
const MAX_PACKED: usize = 4096;

/// Returns the size of an arena for blocks of known sizes: the largest ones get places first, each
/// the lowest one that is free as long as the block exists.
fn packed(blocks: &[Block]) -> Option<u64> {
    let sizes = blocks.iter().map(|block| {
        let bytes = block.bytes.as_number()?;
        u64::try_from(bytes).ok()
    });
    let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
    if blocks.len() > MAX_PACKED {
        return None;
    }
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(sizes[at]));
    let mut placed: Vec<(u64, usize)> = Vec::new();
    let mut end = 0;
    for at in order {
        let mut taken: Vec<(u64, u64)> = placed
            .iter()
            .filter(|(_, other)| blocks[*other].overlaps(&blocks[at]))
            .map(|&(offset, other)| (offset, offset.saturating_add(sizes[other])))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, stop) in taken {
            if start >= offset && start - offset >= sizes[at] {
                break;
            }
            offset = offset.max(stop);
        }
        placed.push((offset, at));
        end = end.max(offset.saturating_add(sizes[at]));
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: DimExpr, first: usize, last: usize) -> Block {
        Block {
            bytes,
            lives: [first, last],
        }
    }

    #[test]
    fn blocks_that_exist_at_once_have_places_of_their_own() {
        let number = |bytes| DimExpr::number(bytes);
        let blocks = [
            block(number(100), 0, 2),
            block(number(40), 1, 3),
            block(number(60), 3, 5),
            block(number(40), 4, 5),
        ];
        assert_eq!(packed(&blocks), Some(140));
        assert_eq!(lower_bound(&blocks, 6), Some(number(140)));

        let n = DimExpr::symbol("n");
        let times = |factor: i64| n.times(&number(factor)).unwrap();
        let blocks = [
            block(times(4), 0, 1),
            block(times(8), 1, 2),
            block(times(4), 2, 3),
            block(number(100), 3, 3),
        ];
        // The third one has the place of the first. The fourth has its own: neither it nor the
        // second one, which is free by then, is always larger.
        assert_eq!(arena(&blocks).unwrap().to_string(), "12*n+100");
        assert_eq!(
            lower_bound(&blocks, 4).unwrap().to_string(),
            "max(4*n+100, 12*n)"
        );
    }

    #[test]
    fn few_free_places_are_compared_with_a_block() {
        let [n, m] = ["n", "m"].map(DimExpr::symbol);
        let size_of_arena = |num_before: usize| {
            let before = (0..num_before).map(|_| block(n.clone(), 0, 0));
            let last = [block(m.clone(), 0, 0), block(m.clone(), 1, 1)];
            arena(&before.chain(last).collect::<Vec<_>>())
                .unwrap()
                .to_string()
        };
        assert_eq!(size_of_arena(MAX_CANDIDATES - 1), "m+31*n");
        // The place that fits is behind those that do not.
        assert_eq!(size_of_arena(MAX_CANDIDATES), "2*m+32*n");
    }
}
