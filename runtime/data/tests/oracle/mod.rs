//! What a pipeline is, one element after the other: no results that are outstanding, no draws ahead
//! but those that are defined.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

use tfrt_data::Philox;

/// A pipeline of numbers.
#[derive(Clone, Debug)]
pub enum Tree {
    Range(i64, i64, i64),
    Values(Vec<i64>),
    /// Adds, and fails on every so many numbers.
    Map(Box<Tree>, i64, i64),
    /// As a map, with so many calls under way.
    ParallelMap(Box<Tree>, i64, i64, i64),
    /// Multiples, and fails on every so many numbers.
    Filter(Box<Tree>, i64, i64),
    /// The sums of batches.
    BatchSum(Box<Tree>, usize),
    /// The sums of the batches of a map, with so many results under way.
    MapAndBatchSum(Box<Tree>, (i64, i64), usize, Option<i64>),
    Prefetch(Box<Tree>, usize),
    Repeat(Box<Tree>, i64),
    Skip(Box<Tree>, i64),
    Shuffle(Box<Tree>, usize, i64),
    /// Of the inner trees of the numbers.
    Interleave(Box<Tree>, usize, usize),
    Memory(Box<Tree>),
    Take(Box<Tree>, i64),
    /// Numbers below a bound, and fails on every fifth number.
    TakeWhile(Box<Tree>, i64),
    Shard(Box<Tree>, u64, u64),
    /// The sums of the components of a zip.
    ZipSum(Box<Tree>, Box<Tree>),
    Concatenate(Box<Tree>, Box<Tree>),
    /// Batches, taken apart again.
    Unbatch(Box<Tree>, usize),
    /// Each number and its own number.
    Number(Box<Tree>),
    /// Sums of all numbers so far.
    Scan(Box<Tree>),
    Cache(Box<Tree>, Kept),
    /// Windows, one after the other: of so many elements, so far apart.
    Windows(Box<Tree>, usize, usize),
    /// Another order in each pass.
    Reshuffle(Box<Tree>, usize, i64, Rc<Cell<i64>>),
    IgnoreErrors(Box<Tree>),
    /// Skips so many errors.
    OnError(Box<Tree>, u64),
    Unique(Box<Tree>),
    /// The share of a worker, padded or not.
    EvenShard(Box<Tree>, usize, usize, bool),
    /// Numbers with the same remainder together, so many at a time, each with the remainder added.
    Group(Box<Tree>, i64, usize),
    /// Even numbers, and one in three of the odd ones.
    Resample(Box<Tree>, i64),
    /// The squares below a number.
    Generator(i64),
    /// Of the first tree twice as often as of the second.
    Sample(Box<Tree>, Box<Tree>, i64),
}

/// What a cache keeps once a whole pass was there.
pub type Kept = Rc<RefCell<Option<Vec<Item>>>>;

/// What a map makes of a number.
pub fn map(x: i64, plus: i64, fails: i64) -> Result<i64, String> {
    match x.rem_euclid(fails) {
        1 => Err(format!("no image of {x}")),
        _ => Ok(x + plus),
    }
}

/// What a filter says of a number.
pub fn accepts(x: i64, modulus: i64, fails: i64) -> Result<bool, String> {
    match x.rem_euclid(fails) {
        2 => Err(format!("no verdict on {x}")),
        _ => Ok(x.rem_euclid(modulus) == 0),
    }
}

/// Whether a number is below a bound.
pub fn is_below(x: i64, bound: i64) -> Result<bool, String> {
    match x.rem_euclid(5) {
        3 => Err(format!("no telling {x}")),
        _ => Ok(x < bound),
    }
}

/// The dataset that an interleave opens for a number.
pub fn inner_tree(x: i64) -> Result<Tree, String> {
    let range = Tree::Range(x * 10, x * 10 + x.rem_euclid(4), 1);
    match x.rem_euclid(6) {
        1 => Err(format!("nothing inside {x}")),
        2 => Ok(Tree::Filter(Box::new(range), 2, 7)),
        3 => Ok(Tree::Repeat(Box::new(range), 2)),
        _ => Ok(Tree::Map(Box::new(range), 100, 50)),
    }
}

/// What a consumer sees of a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Number(i64),
    /// An element that is an error.
    Error(String),
    /// A draw that failed.
    Failed(String),
    End,
}

/// The state of one pass.
pub struct Oracle {
    state: State,
    num_draws: Rc<Cell<usize>>,
}

enum State {
    List(VecDeque<i64>),
    Map(Box<Oracle>, i64, i64),
    Filter(Box<Oracle>, i64, i64),
    BatchSum(Box<Oracle>, usize),
    Prefetch(Box<Oracle>, usize, VecDeque<Item>),
    Repeat {
        of: Tree,
        pass: Box<Oracle>,
        left: i64,
        is_empty: bool,
        has_drawn: bool,
    },
    Skip(Box<Oracle>, i64),
    Shuffle {
        of: Box<Oracle>,
        size: usize,
        ring: Vec<Option<Item>>,
        start: usize,
        numbers: Philox,
        has_ended: bool,
    },
    Interleave {
        of: Box<Oracle>,
        block: usize,
        cycle: Vec<Option<Box<Oracle>>>,
        opened: VecDeque<Result<Box<Oracle>, Item>>,
        has_ended: bool,
        at: usize,
        taken: usize,
    },
    Memory(Box<Oracle>, Vec<Item>, Option<usize>),
    IgnoreErrors(Box<Oracle>),
    OnError(Box<Oracle>, Option<u64>),
    Unique(Box<Oracle>, HashSet<i64>),
    EvenShard(Box<Oracle>, usize, usize, bool, bool),
    Group {
        of: Box<Oracle>,
        modulus: i64,
        size: usize,
        groups: BTreeMap<i64, Vec<i64>>,
        current: VecDeque<i64>,
        has_ended: bool,
    },
    Resample(Box<Oracle>, Philox),
    Sample([Option<Box<Oracle>>; 2], Philox),
    Take(Box<Oracle>, i64),
    TakeWhile(Box<Oracle>, i64, bool),
    Shard(Box<Oracle>, u64, u64),
    ZipSum(Box<Oracle>, Box<Oracle>),
    Concatenate(Vec<Oracle>),
    Unbatch(Box<Oracle>, usize, VecDeque<i64>),
    Number(Box<Oracle>, i64),
    Scan(Box<Oracle>, i64),
    CacheFirst(Box<Oracle>, Vec<Item>, Kept),
    CacheKept(Kept, usize),
    Windows {
        of: Box<Oracle>,
        size: usize,
        shift: usize,
        buffer: VecDeque<Item>,
        to_drop: usize,
        has_ended: bool,
        opened: VecDeque<Option<VecDeque<Item>>>,
        current: Option<VecDeque<Item>>,
        has_noticed_end: bool,
    },
}

impl Oracle {
    pub fn new(tree: &Tree) -> Self {
        Self::counting(tree, &Rc::default())
    }

    /// How often sources were drawn from.
    pub fn num_draws(&self) -> usize {
        self.num_draws.get()
    }

    fn counting(tree: &Tree, num_draws: &Rc<Cell<usize>>) -> Self {
        let of = |tree: &Tree| Box::new(Self::counting(tree, num_draws));
        let state = match tree {
            &Tree::Range(start, stop, step) => {
                let numbers = (0..100).map(|index| start + index * step);
                let is_before = |x: &i64| (step > 0 && *x < stop) || (step < 0 && *x > stop);
                State::List(numbers.take_while(is_before).collect())
            }
            Tree::Values(numbers) => State::List(numbers.iter().copied().collect()),
            Tree::Map(tree, plus, fails) | Tree::ParallelMap(tree, plus, fails, _) => {
                State::Map(of(tree), *plus, *fails)
            }
            Tree::Filter(tree, modulus, fails) => State::Filter(of(tree), *modulus, *fails),
            Tree::BatchSum(tree, size) => State::BatchSum(of(tree), *size),
            Tree::MapAndBatchSum(tree, (plus, fails), size, _) => {
                let mapped = State::Map(of(tree), *plus, *fails);
                let num_draws = Rc::clone(num_draws);
                let mapped = Self {
                    state: mapped,
                    num_draws,
                };
                State::BatchSum(Box::new(mapped), *size)
            }
            Tree::Prefetch(tree, ahead) => State::Prefetch(of(tree), *ahead, VecDeque::new()),
            Tree::Repeat(tree, count) => State::Repeat {
                of: (**tree).clone(),
                pass: of(tree),
                left: *count,
                is_empty: true,
                has_drawn: false,
            },
            Tree::Skip(tree, count) => State::Skip(of(tree), *count),
            Tree::Shuffle(tree, size, seed) => State::Shuffle {
                of: of(tree),
                size: *size,
                ring: vec![None; *size],
                start: 0,
                numbers: Philox::new(*seed, 7),
                has_ended: false,
            },
            Tree::Interleave(tree, cycle, block) => State::Interleave {
                of: of(tree),
                block: *block,
                cycle: (0..*cycle).map(|_| None).collect(),
                opened: VecDeque::new(),
                has_ended: false,
                at: 0,
                taken: 0,
            },
            Tree::Memory(tree) => State::Memory(of(tree), Vec::new(), None),
            Tree::IgnoreErrors(tree) => State::IgnoreErrors(of(tree)),
            Tree::OnError(tree, max) => State::OnError(of(tree), Some(*max)),
            Tree::EvenShard(tree, num, index, pads) => {
                State::EvenShard(of(tree), *num, *index, *pads, false)
            }
            Tree::Unique(tree) => State::Unique(of(tree), HashSet::new()),
            Tree::Group(tree, modulus, size) => State::Group {
                of: of(tree),
                modulus: *modulus,
                size: *size,
                groups: BTreeMap::new(),
                current: VecDeque::new(),
                has_ended: false,
            },
            Tree::Resample(tree, seed) => State::Resample(of(tree), Philox::new(*seed, 5)),
            Tree::Generator(bound) => {
                let squares = (0..).map(|x| x * x).take_while(|x| x < bound);
                State::List(squares.collect())
            }
            Tree::Sample(tree, other, seed) => {
                State::Sample([Some(of(tree)), Some(of(other))], Philox::new(*seed, 3))
            }
            Tree::Take(tree, count) => State::Take(of(tree), *count),
            Tree::TakeWhile(tree, bound) => State::TakeWhile(of(tree), *bound, false),
            Tree::Shard(tree, num_shards, index) => State::Shard(of(tree), *num_shards, *index),
            Tree::ZipSum(tree, other) => State::ZipSum(of(tree), of(other)),
            Tree::Concatenate(tree, other) => State::Concatenate(vec![*of(other), *of(tree)]),
            Tree::Unbatch(tree, size) => State::Unbatch(of(tree), *size, VecDeque::new()),
            Tree::Number(tree) => State::Number(of(tree), 0),
            Tree::Scan(tree) => State::Scan(of(tree), 0),
            Tree::Cache(tree, kept) => match &*kept.borrow() {
                Some(_) => State::CacheKept(Rc::clone(kept), 0),
                None => State::CacheFirst(of(tree), Vec::new(), Rc::clone(kept)),
            },
            Tree::Windows(tree, size, shift) => State::Windows {
                of: of(tree),
                size: *size,
                shift: *shift,
                buffer: VecDeque::new(),
                to_drop: 0,
                has_ended: false,
                opened: VecDeque::new(),
                current: None,
                has_noticed_end: false,
            },
            Tree::Reshuffle(tree, size, seed, passes) => {
                let pass = passes.replace(passes.get() + 1);
                State::Shuffle {
                    of: of(tree),
                    size: *size,
                    ring: vec![None; *size],
                    start: 0,
                    numbers: Philox::new(*seed, 7 + pass),
                    has_ended: false,
                }
            }
        };
        Self {
            state,
            num_draws: Rc::clone(num_draws),
        }
    }

    pub fn next(&mut self) -> Item {
        let num_draws = &self.num_draws;
        match &mut self.state {
            State::List(numbers) => {
                num_draws.set(num_draws.get() + 1);
                numbers.pop_front().map_or(Item::End, Item::Number)
            }
            State::Map(of, plus, fails) => match of.next() {
                Item::Number(x) => map(x, *plus, *fails).map_or_else(Item::Error, Item::Number),
                other => other,
            },
            State::Filter(of, modulus, fails) => loop {
                match of.next() {
                    Item::Number(x) => match accepts(x, *modulus, *fails) {
                        Ok(true) => return Item::Number(x),
                        Ok(false) => {}
                        Err(text) => return Item::Failed(text),
                    },
                    Item::Error(text) => return Item::Failed(text),
                    other => return other,
                }
            },
            State::BatchSum(of, size) => {
                let items: Vec<Item> = (0..*size).map(|_| of.next()).collect();
                if let Item::End | Item::Failed(_) = items[0] {
                    return items[0].clone();
                }
                items
                    .iter()
                    .try_fold(0, |sum, item| match item {
                        Item::Number(x) => Ok(sum + x),
                        Item::End => Ok(sum),
                        Item::Error(text) | Item::Failed(text) => Err(text.clone()),
                    })
                    .map_or_else(Item::Error, Item::Number)
            }
            State::Prefetch(of, ahead, buffer) => {
                while buffer.len() <= *ahead {
                    buffer.push_back(of.next());
                }
                buffer.pop_front().expect("it was just filled")
            }
            State::Repeat {
                of,
                pass,
                left,
                is_empty,
                has_drawn,
            } => loop {
                if *left == 0 {
                    if !std::mem::replace(has_drawn, true) {
                        pass.next();
                    }
                    return Item::End;
                }
                *has_drawn = true;
                match pass.next() {
                    Item::End => {
                        *left = if *is_empty && *left < 0 { 0 } else { *left - 1 };
                        if *left != 0 {
                            **pass = Self::counting(of, num_draws);
                            *is_empty = true;
                        }
                    }
                    item => {
                        // A failed draw is not an element.
                        *is_empty &= matches!(item, Item::Failed(_));
                        return item;
                    }
                }
            },
            State::Skip(of, count) => {
                while *count > 0 {
                    *count -= 1;
                    of.next();
                }
                of.next()
            }
            State::Shuffle {
                of,
                size,
                ring,
                start,
                numbers,
                has_ended,
            } => {
                let mut filled = ring.iter().flatten().count();
                while !*has_ended && filled < *size {
                    match of.next() {
                        Item::End => *has_ended = true,
                        item => {
                            ring[(*start + filled) % *size] = Some(item);
                            filled += 1;
                        }
                    }
                }
                if filled == 0 {
                    return Item::End;
                }
                let chosen = (numbers.next_u32() as usize % filled + *start) % *size;
                let item = ring[chosen].take();
                if chosen != *start {
                    ring[chosen] = ring[*start].take();
                }
                *start = (*start + 1) % *size;
                item.expect("chosen among those that are filled")
            }
            State::Interleave {
                of,
                block,
                cycle,
                opened,
                has_ended,
                at,
                taken,
            } => loop {
                if cycle[*at].is_none() && !*has_ended {
                    let occupied = cycle.iter().flatten().count();
                    while occupied + opened.len() < 2 * cycle.len() {
                        opened.push_back(match of.next() {
                            Item::Number(x) => inner_tree(x)
                                .map(|tree| Box::new(Self::counting(&tree, num_draws)))
                                .map_err(Item::Failed),
                            Item::Error(text) | Item::Failed(text) => Err(Item::Failed(text)),
                            Item::End => Err(Item::End),
                        });
                        // The first element of an inner dataset is requested at once.
                        if let Some(Ok(inner)) = opened.back_mut() {
                            let first = inner.next();
                            inner.state = State::Prefetch(
                                Box::new(Self {
                                    state: std::mem::replace(
                                        &mut inner.state,
                                        State::List(VecDeque::new()),
                                    ),
                                    num_draws: Rc::clone(num_draws),
                                }),
                                0,
                                [first].into(),
                            );
                        }
                    }
                    match opened.pop_front().expect("it was just filled") {
                        Ok(inner) => cycle[*at] = Some(inner),
                        Err(Item::End) => *has_ended = true,
                        Err(failed) => {
                            (*at, *taken) = ((*at + 1) % cycle.len(), 0);
                            return failed;
                        }
                    }
                }
                if *has_ended && cycle.iter().flatten().count() == 0 {
                    return Item::End;
                }
                let item = cycle[*at].as_mut().map_or(Item::End, |inner| inner.next());
                *taken += 1;
                if item == Item::End || *taken == *block {
                    if item == Item::End {
                        cycle[*at] = None;
                    }
                    (*at, *taken) = ((*at + 1) % cycle.len(), 0);
                }
                if item != Item::End {
                    return item;
                }
            },
            State::IgnoreErrors(of) => loop {
                match of.next() {
                    Item::Error(_) | Item::Failed(_) => {}
                    other => return other,
                }
            },
            State::OnError(_, None) => Item::End,
            State::OnError(of, left) => loop {
                match (of.next(), *left) {
                    (Item::Error(_) | Item::Failed(_), Some(num_left @ 1..)) => {
                        *left = Some(num_left - 1);
                    }
                    (item @ (Item::Error(_) | Item::Failed(_)), _) => {
                        *left = None;
                        return item;
                    }
                    (item, _) => return item,
                }
            },
            State::Unique(of, seen) => loop {
                match of.next() {
                    Item::Number(x) if !seen.insert(x) => {}
                    item => return item,
                }
            },
            State::EvenShard(_, _, _, _, true) => Item::End,
            State::EvenShard(of, num, index, pads, has_ended) => {
                let items = (0..*num).map(|_| of.next());
                let group: Vec<Item> = items.take_while(|item| *item != Item::End).collect();
                *has_ended = group.len() < *num;
                match group.len() {
                    len if len == *num || (*pads && len > 0) => group[*index % len].clone(),
                    _ => Item::End,
                }
            }
            State::Group {
                of,
                modulus,
                size,
                groups,
                current,
                has_ended,
            } => loop {
                if let Some(x) = current.pop_front() {
                    return Item::Number(x);
                }
                let (key, window) = if *has_ended {
                    match groups.pop_first() {
                        Some(group) => group,
                        None => return Item::End,
                    }
                } else {
                    match of.next() {
                        Item::Number(x) => {
                            let key = x.rem_euclid(*modulus);
                            let group = groups.entry(key).or_default();
                            group.push(x);
                            if group.len() < *size {
                                continue;
                            }
                            (key, groups.remove(&key).expect("it is there"))
                        }
                        Item::Error(text) | Item::Failed(text) => return Item::Failed(text),
                        Item::End => {
                            *has_ended = true;
                            continue;
                        }
                    }
                };
                current.extend(window.into_iter().map(|x| x + key));
            },
            State::Resample(of, numbers) => loop {
                match of.next() {
                    Item::Number(x) => {
                        let chance = f64::from(numbers.next_u32()) / 2_f64.powi(32);
                        if x.rem_euclid(2) == 0 || chance < 1.0 / 3.0 {
                            return Item::Number(x);
                        }
                    }
                    Item::Error(text) => return Item::Failed(text),
                    other => return other,
                }
            },
            State::Sample(inputs, numbers) => loop {
                let chance = f64::from(numbers.next_u32()) / 2_f64.powi(32);
                let chosen = match (&inputs[0], &inputs[1]) {
                    (None, None) => return Item::End,
                    (Some(_), Some(_)) => usize::from(chance * 3.0 >= 2.0),
                    (first, _) => usize::from(first.is_none()),
                };
                match inputs[chosen]
                    .as_mut()
                    .map_or(Item::End, |input| input.next())
                {
                    Item::End => inputs[chosen] = None,
                    item => return item,
                }
            },
            State::Take(of, left) => match left {
                0 => Item::End,
                _ => {
                    *left -= 1;
                    of.next()
                }
            },
            State::TakeWhile(_, _, true) => Item::End,
            State::TakeWhile(of, bound, has_ended) => match of.next() {
                Item::Number(x) => match is_below(x, *bound) {
                    Ok(true) => Item::Number(x),
                    Ok(false) => {
                        *has_ended = true;
                        Item::End
                    }
                    Err(text) => Item::Failed(text),
                },
                Item::Error(text) => Item::Failed(text),
                Item::End => {
                    *has_ended = true;
                    Item::End
                }
                failed => failed,
            },
            State::Shard(of, num_shards, index) => {
                while *index > 0 {
                    *index -= 1;
                    if of.next() == Item::End {
                        return Item::End;
                    }
                }
                *index = *num_shards - 1;
                of.next()
            }
            State::ZipSum(of, other) => match (of.next(), other.next()) {
                (Item::End, _) | (_, Item::End) => Item::End,
                (Item::Failed(text), _) | (_, Item::Failed(text)) => Item::Failed(text),
                (Item::Error(text), _) | (_, Item::Error(text)) => Item::Error(text),
                (Item::Number(x), Item::Number(y)) => Item::Number(x + y),
            },
            State::Concatenate(inputs) => loop {
                match inputs.last_mut().map_or(Item::End, Self::next) {
                    Item::End if inputs.pop().is_none() => return Item::End,
                    Item::End => {}
                    item => return item,
                }
            },
            State::Unbatch(of, size, rows) => {
                if rows.is_empty() {
                    let items: Vec<Item> = (0..*size).map(|_| of.next()).collect();
                    if let Item::End | Item::Failed(_) = items[0] {
                        return items[0].clone();
                    }
                    for item in items {
                        match item {
                            Item::Number(x) => rows.push_back(x),
                            Item::End => {}
                            Item::Error(text) | Item::Failed(text) => {
                                rows.clear();
                                return Item::Failed(text);
                            }
                        }
                    }
                }
                rows.pop_front().map_or(Item::End, Item::Number)
            }
            State::Number(of, number) => {
                *number += 1;
                match of.next() {
                    Item::Number(x) => Item::Number(x + *number - 1),
                    other => other,
                }
            }
            State::Scan(of, sum) => match of.next() {
                Item::Number(x) => {
                    *sum += x;
                    Item::Number(*sum)
                }
                // The state is that of the element before.
                other => other,
            },
            State::CacheKept(kept, next) => {
                *next += 1;
                let kept = kept.borrow();
                let item = kept.as_ref().and_then(|kept| kept.get(*next - 1));
                item.cloned().unwrap_or(Item::End)
            }
            State::CacheFirst(of, items, kept) => {
                let item = of.next();
                if item != Item::End {
                    items.push(item.clone());
                    return item;
                }
                let (items, kept) = (std::mem::take(items), Rc::clone(kept));
                kept.borrow_mut().get_or_insert(items);
                self.state = State::CacheKept(kept, usize::MAX / 2);
                Item::End
            }
            State::Windows {
                of,
                size,
                shift,
                buffer,
                to_drop,
                has_ended,
                opened,
                current,
                has_noticed_end,
            } => loop {
                if current.is_none() && !*has_noticed_end {
                    while opened.len() < 2 {
                        while !*has_ended && buffer.len() < *size {
                            match of.next() {
                                Item::End => *has_ended = true,
                                _ if *to_drop > 0 => *to_drop -= 1,
                                item => buffer.push_back(item),
                            }
                        }
                        let window = buffer.iter().take(*size).cloned().collect();
                        opened.push_back((!buffer.is_empty()).then_some(window));
                        *to_drop = shift.saturating_sub(buffer.len());
                        buffer.drain(..(*shift).min(buffer.len()));
                    }
                    *current = opened.pop_front().flatten();
                    *has_noticed_end = current.is_none();
                }
                match current.as_mut().map(VecDeque::pop_front) {
                    None => return Item::End,
                    Some(None) => *current = None,
                    Some(Some(item)) => return item,
                }
            },
            State::Memory(of, remembered, next) => {
                if next.is_none() {
                    match of.next() {
                        Item::End => *next = Some(0),
                        item => {
                            remembered.push(item.clone());
                            return item;
                        }
                    }
                }
                if remembered.is_empty() {
                    return Item::End;
                }
                let index = next.map_or(0, |index| index % remembered.len());
                *next = Some(index + 1);
                remembered[index].clone()
            }
        }
    }
}
