//! One function of a program while it is rewritten.
//!
//! Ops have numbers that stay the same while others come and go. A new op is placed directly before
//! the op that it was made for, so that values are always made before they are used.

use std::collections::{BTreeMap, HashMap};

use tfrt_tensor::DenseHostTensor;

use super::Missed;
use super::budget::{self, KnownElements};
use super::infer::Known;
use super::shape_values::Elements;
use super::symbols::Symbols;
use crate::program::{Attr, Constant, Function, Op, OpKind, Value, Weight};

/// A function, its constants, and what is known of its values.
pub(crate) struct Graph {
    ops: Vec<Entry>,
    /// For each value that an op makes: the op, and which of its results the value is.
    makers: HashMap<Value, (usize, usize)>,
    users: HashMap<Value, Vec<usize>>,
    results: Vec<Value>,
    constants: HashMap<Value, Constant>,
    /// The names of weights that rules made, as long as they are used.
    new_weights: BTreeMap<Value, String>,
    /// Weights that are made from a weight alone, by that weight and what they are for.
    derived: HashMap<(Value, &'static str), Value>,
    /// How many bytes of weights that other ops use may still be copied.
    copies_left_bytes: usize,
    known: HashMap<Value, Known>,
    num_values: u32,
    /// The symbols that dimensions are.
    symbols: Symbols,
    /// The elements of tensors that are made from shapes.
    elements: KnownElements,
    /// Ops that were made since the last call of [`take_made`](Self::take_made), or of whose
    /// results more is known.
    made: Vec<usize>,
    /// Ops that a rule nearly applied to: the rule, and why it did not.
    missed: BTreeMap<usize, (&'static str, &'static str)>,
}

/// Returns `true` if an element type or dimensions are known that were not before.
fn says_more(now: &Known, before: &Known) -> bool {
    let of_dims = now.dims.is_some() && before.dims.is_none();
    of_dims || now.dtype.is_some() && before.dtype.is_none()
}

/// A function that was rewritten.
pub(crate) struct Rewritten {
    /// Its ops, in order.
    pub(crate) ops: Vec<Op>,
    pub(crate) results: Vec<Value>,
    /// The weights that it had and may still use.
    pub(crate) constants: HashMap<Value, Constant>,
    /// The weights that rules made.
    pub(crate) new_weights: Vec<(Value, Weight)>,
    pub(crate) missed: Vec<Missed>,
    pub(crate) symbols: Symbols,
    /// The number of the next new value.
    pub(crate) num_values: u32,
}

struct Entry {
    /// `None` once it is removed.
    op: Option<Op>,
    order: (usize, usize),
    /// Where the op is among the users of each of its operands, so that it is not searched for
    /// among all of them when it is removed.
    places: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(
        ops: Vec<Op>,
        results: Vec<Value>,
        constants: HashMap<Value, Constant>,
        known: HashMap<Value, Known>,
        symbols: Symbols,
        num_values: u32,
    ) -> Self {
        let all_bytes = constants.values().map(Constant::len_bytes);
        let mut graph = Self {
            copies_left_bytes: all_bytes.fold(0, usize::saturating_add),
            derived: HashMap::new(),
            ops: Vec::with_capacity(ops.len()),
            makers: HashMap::new(),
            users: HashMap::new(),
            results,
            constants,
            new_weights: BTreeMap::new(),
            known,
            num_values,
            symbols,
            elements: KnownElements::default(),
            made: Vec::new(),
            missed: BTreeMap::new(),
        };
        for (index, op) in ops.into_iter().enumerate() {
            graph.add(op, (index, usize::MAX));
        }
        graph.made.clear();
        graph
    }

    fn add(&mut self, op: Op, order: (usize, usize)) -> usize {
        let number = self.ops.len();
        let places = op.operands.iter().map(|&operand| {
            let users = self.users.entry(operand).or_default();
            users.push(number);
            users.len() - 1
        });
        let places = places.collect();
        for (index, &result) in op.results.iter().enumerate() {
            self.makers.insert(result, (number, index));
        }
        self.ops.push(Entry {
            op: Some(op),
            order,
            places,
        });
        self.made.push(number);
        self.infer(number);
        number
    }

    /// Infers the types of the results of an op again, after its operands have become constants.
    /// The elements of a shape are known only if `is_seen` returns true for the value that has it.
    pub(crate) fn infer_again(&mut self, number: usize, is_seen: impl Fn(Value) -> bool) {
        let results = self.op(number).map(|op| op.results.clone());
        for result in results.into_iter().flatten() {
            self.elements.remove(result, &mut self.symbols);
        }
        self.infer(number);
        let shape = self.name(number).filter(|&name| name == "nn.Shape");
        if let (Some(_), Some(of), Some(result)) =
            (shape, self.operand(number, 0), self.result(number))
            && !is_seen(of)
        {
            self.elements.remove(result, &mut self.symbols);
        }
    }

    /// Returns the symbols that dimensions are.
    pub(crate) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Returns the elements of a value that is made from shapes, as far as they are known.
    pub(crate) fn elements(&self, value: Value) -> Option<&Elements> {
        self.elements.get(value)
    }

    /// Infers the types of the results of an op.
    fn infer(&mut self, number: usize) {
        let Some(op) = &self.ops[number].op else {
            return;
        };
        let OpKind::Call { name, attrs } = &op.kind else {
            return;
        };
        let operands: Vec<Known> = op.operands.iter().map(|&value| self.known(value)).collect();
        let constants: Vec<Option<&DenseHostTensor>> = op
            .operands
            .iter()
            .map(|value| self.constants.get(value)?.ready())
            .collect();
        let made = op.operands.iter().map(|&value| self.elements.get(value));
        let made: Vec<Option<&Elements>> = made.collect();
        let inferred =
            budget::inferred(name, attrs, &operands, &constants, &made, &mut self.symbols);
        let results = op.results.clone();
        if let (Some(made), Some(&result)) = (inferred.elements, results.first()) {
            self.elements.insert(result, made, &mut self.symbols);
        }
        self.known.extend(results.into_iter().zip(inferred.told));
    }

    /// Returns how many ops there are.
    pub(crate) fn num_ops(&self) -> usize {
        self.ops.iter().filter(|entry| entry.op.is_some()).count()
    }

    /// Returns how many ops there were or are, which is the next number of an op.
    pub(crate) fn num_numbers(&self) -> usize {
        self.ops.len()
    }

    pub(crate) fn op(&self, number: usize) -> Option<&Op> {
        self.ops.get(number)?.op.as_ref()
    }

    /// Returns the name of the library's op that an op calls.
    pub(crate) fn name(&self, number: usize) -> Option<&str> {
        match &self.op(number)?.kind {
            OpKind::Call { name, .. } => Some(name),
            _ => None,
        }
    }

    pub(crate) fn operand(&self, number: usize, index: usize) -> Option<Value> {
        self.op(number)?.operands.get(index).copied()
    }

    pub(crate) fn operands(&self, number: usize) -> &[Value] {
        self.op(number).map_or(&[], |op| &op.operands)
    }

    pub(crate) fn result(&self, number: usize) -> Option<Value> {
        self.op(number)?.results.first().copied()
    }

    pub(crate) fn place(&self, number: usize) -> &str {
        self.op(number).map_or("", |op| &op.place)
    }

    pub(crate) fn attrs(&self, number: usize) -> &[(String, Attr)] {
        match self.op(number).map(|op| &op.kind) {
            Some(OpKind::Call { attrs, .. }) => attrs,
            _ => &[],
        }
    }

    pub(crate) fn attr(&self, number: usize, name: &str) -> Option<&Attr> {
        let attrs = self.attrs(number).iter();
        attrs
            .into_iter()
            .find_map(|(known, attr)| (known == name).then_some(attr))
    }

    pub(crate) fn flag(&self, number: usize, name: &str) -> bool {
        matches!(self.attr(number, name), Some(Attr::Bool(true)))
    }

    pub(crate) fn float(&self, number: usize, name: &str) -> Option<f32> {
        match self.attr(number, name)? {
            Attr::Float(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn int(&self, number: usize, name: &str) -> Option<i64> {
        match self.attr(number, name)? {
            Attr::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn ints(&self, number: usize, name: &str) -> Option<&[i64]> {
        match self.attr(number, name)? {
            Attr::Ints(values) => Some(values),
            _ => None,
        }
    }

    pub(crate) fn text(&self, number: usize, name: &str) -> Option<&str> {
        match self.attr(number, name)? {
            Attr::Text(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the operand of a slot, of an op whose operands may be omitted.
    pub(crate) fn slot(&self, number: usize, slot: usize) -> Option<Value> {
        let position = match self.ints(number, "slots") {
            Some(slots) => slots.iter().position(|&found| found == slot as i64)?,
            None => slot,
        };
        self.operand(number, position)
    }

    /// Returns the op that makes a value as its first result, if it calls the op of this name.
    pub(crate) fn made_by(&self, value: Value, name: &str) -> Option<usize> {
        let &(number, index) = self.makers.get(&value)?;
        (index == 0 && self.name(number) == Some(name)).then_some(number)
    }

    /// Returns the op of a name that makes a value, and which of its results the value is.
    pub(crate) fn piece(&self, value: Value, name: &str) -> Option<(usize, usize)> {
        let &(number, index) = self.makers.get(&value)?;
        (self.name(number) == Some(name)).then_some((number, index))
    }

    /// Returns the op that makes a value as its first result.
    pub(crate) fn maker(&self, value: Value) -> Option<usize> {
        let &(number, index) = self.makers.get(&value)?;
        (index == 0 && self.op(number).is_some()).then_some(number)
    }

    /// Returns the op that makes a value, as any of its results.
    pub(crate) fn maker_of(&self, value: Value) -> Option<usize> {
        let &(number, _) = self.makers.get(&value)?;
        self.op(number).is_some().then_some(number)
    }

    /// Returns the results of the program.
    pub(crate) fn results(&self) -> &[Value] {
        &self.results
    }

    /// Returns the ops that use a value, each as often as it does.
    pub(crate) fn users(&self, value: Value) -> &[usize] {
        self.users.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if a value is a result of the program.
    pub(crate) fn is_result(&self, value: Value) -> bool {
        self.results.contains(&value)
    }

    /// Returns `true` if a value is used by one operand, and is not a result.
    pub(crate) fn is_used_once(&self, value: Value) -> bool {
        self.users(value).len() == 1 && !self.results.contains(&value)
    }

    /// Returns `true` if a result of an op is used.
    pub(crate) fn is_used(&self, number: usize) -> bool {
        let results = self.op(number).map_or(&[][..], |op| &op.results);
        let is_used =
            |value: &Value| !self.users(*value).is_empty() || self.results.contains(value);
        results.iter().any(is_used)
    }

    /// Returns `true` if only the first result of an op is used.
    pub(crate) fn has_one_result(&self, number: usize) -> bool {
        let results = self.op(number).map_or(&[][..], |op| &op.results);
        let is_used =
            |value: &Value| !self.users(*value).is_empty() || self.results.contains(value);
        !results.iter().skip(1).any(is_used)
    }

    /// Returns the tensor of a constant. Returns `None` if filters cannot be changed now, so that
    /// rules do not apply.
    pub(crate) fn constant(&self, value: Value) -> Option<&DenseHostTensor> {
        self.constants.get(&value)?.tensor().ok()
    }

    /// Returns a constant without changing filters, for rules that only need its type.
    pub(crate) fn lazy_constant(&self, value: Value) -> Option<&Constant> {
        self.constants.get(&value)
    }

    pub(crate) fn known(&self, value: Value) -> Known {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        self.constants
            .get(&value)
            .map_or_else(Known::default, Known::of_constant)
    }

    /// Returns the position of an op among those of the function.
    pub(crate) fn order(&self, number: usize) -> (usize, usize) {
        self.ops[number].order
    }

    /// Makes an op before another one, with the location of a third one. Returns its results.
    pub(crate) fn make(
        &mut self,
        before: usize,
        name: &str,
        operands: &[Value],
        attrs: Vec<(String, Attr)>,
        num_results: usize,
        place: &str,
    ) -> Vec<Value> {
        let results: Vec<Value> = (0..num_results).map(|_| self.new_value()).collect();
        let op = Op {
            kind: OpKind::Call {
                name: name.to_owned(),
                attrs,
            },
            operands: operands.to_vec(),
            results: results.clone(),
            place: place.to_owned(),
        };
        // Numbers grow, so that later ones come later.
        let order = (self.ops[before].order.0, self.ops.len());
        self.add(op, order);
        results
    }

    fn new_value(&mut self) -> Value {
        let value = Value(self.num_values);
        self.num_values = self.num_values.saturating_add(1);
        value
    }

    /// Adds a weight.
    pub(crate) fn weight(&mut self, name: &str, weight: impl Into<Constant>) -> Value {
        let value = self.new_value();
        self.new_weights.insert(value, name.to_owned());
        self.constants.insert(value, weight.into());
        value
    }

    /// Returns a weight that is made from another one alone, for some purpose: the same one for all
    /// ops that need it.
    pub(crate) fn derived_weight(
        &mut self,
        of: Value,
        purpose: &'static str,
        derive: impl FnOnce(&Constant) -> Option<Constant>,
    ) -> Option<Value> {
        let known = self.derived.get(&(of, purpose));
        // It is gone if the ops that used it are.
        if let Some(&known) = known.filter(|known| self.constants.contains_key(known)) {
            return Some(known);
        }
        let weight = derive(self.constants.get(&of)?)?;
        let value = self.weight("", weight);
        self.derived.insert((of, purpose), value);
        Some(value)
    }

    /// Returns `true` if an op may have a changed copy of a weight. Copies of weights that other
    /// ops keep take memory of their own: all of them at most as much as the weights of the
    /// function.
    pub(crate) fn may_copy(&mut self, weight: Value) -> bool {
        if self.users(weight).len() <= 1 {
            return true;
        }
        let Some(constant) = self.constants.get(&weight) else {
            return false;
        };
        let left = self.copies_left_bytes.checked_sub(constant.len_bytes());
        if let Some(left) = left {
            self.copies_left_bytes = left;
        }
        left.is_some()
    }

    /// Drops a weight if nothing uses it any more.
    fn drop_if_unused(&mut self, value: Value) {
        if self.users(value).is_empty() && !self.results.contains(&value) {
            if let Some(constant) = self.constants.remove(&value) {
                constant.give_back();
            }
            self.new_weights.remove(&value);
        }
    }

    /// Uses `new` wherever `old` is used, and removes what is then unused.
    pub(crate) fn replace(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let users = self.users.remove(&old).unwrap_or_default();
        let users_of_new = self.users.entry(new).or_default();
        for user in users {
            let Entry { op, places, .. } = &mut self.ops[user];
            let operands = op.iter_mut().flat_map(|op| &mut op.operands);
            // The first time that a user is met, all of its operands are replaced.
            for (operand, place) in operands.zip(places).filter(|(operand, _)| **operand == old) {
                *operand = new;
                *place = users_of_new.len();
                users_of_new.push(user);
            }
        }
        for result in &mut self.results {
            if *result == old {
                *result = new;
            }
        }
        if says_more(&self.known(new), &self.known(old)) {
            self.refine_users(new);
        }
        if let Some(&(number, _)) = self.makers.get(&old) {
            self.remove_if_unused(number);
        }
    }

    /// Infers the types of what is computed from a value again, as far as they become known. A
    /// value becomes known once, so that this takes linear time in all.
    fn refine_users(&mut self, value: Value) {
        let mut pending = self.users(value).to_vec();
        while let Some(number) = pending.pop() {
            let results = self.op(number).map(|op| op.results.clone());
            let results = results.unwrap_or_default();
            let before: Vec<Known> = results.iter().map(|&value| self.known(value)).collect();
            self.infer(number);
            for (value, before) in results.into_iter().zip(before) {
                if says_more(&self.known(value), &before) {
                    pending.extend(self.users(value));
                    self.made.push(number);
                } else {
                    // The symbols of its dimensions stay the same.
                    self.known.insert(value, before);
                }
            }
        }
    }

    /// Removes an op without users, and what only it used.
    pub(crate) fn remove_if_unused(&mut self, number: usize) {
        let mut pending = vec![number];
        while let Some(number) = pending.pop() {
            let Some(op) = &self.ops[number].op else {
                continue;
            };
            let is_used =
                |value: &Value| !self.users(*value).is_empty() || self.results.contains(value);
            if op.results.iter().any(is_used) {
                continue;
            }
            // From the last one on, so that the uses of one value by an op do not move each other.
            for index in (0..op.operands.len()).rev() {
                self.remove_use(number, index);
            }
            let Some(op) = self.ops[number].op.take() else {
                continue;
            };
            for result in &op.results {
                self.makers.remove(result);
            }
            for operand in op.operands {
                self.drop_if_unused(operand);
                pending.extend(self.makers.get(&operand).map(|(maker, _)| *maker));
            }
        }
    }

    /// Removes an op from the users of one of its operands. The last user takes its place.
    fn remove_use(&mut self, number: usize, index: usize) {
        let Some(operand) = self.operand(number, index) else {
            return;
        };
        let Some(users) = self.users.get_mut(&operand) else {
            return;
        };
        // The place is in no list, so that it is not taken for that of another use.
        let place = std::mem::replace(&mut self.ops[number].places[index], usize::MAX);
        users.swap_remove(place);
        let (Some(&moved), from) = (users.get(place), users.len()) else {
            return;
        };
        let Entry { op, places, .. } = &mut self.ops[moved];
        let operands = op.iter().flat_map(|op| &op.operands);
        let mut uses = operands.zip(places);
        if let Some((_, of_moved)) = uses.find(|(value, at)| **value == operand && **at == from) {
            *of_moved = place;
        }
    }

    /// Notes that a rule nearly applied to an op, and why it did not. Only the last reason counts:
    /// other rules may have changed the operands since an earlier one.
    pub(crate) fn miss(&mut self, number: usize, rule: &'static str, reason: &'static str) {
        self.missed.insert(number, (rule, reason));
    }

    /// Returns the ops that were made since the last call, or of whose results more is known.
    pub(crate) fn take_made(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.made)
    }

    /// Adds the ops of an inner function in the place of an op that calls it with these operands.
    /// Returns the numbers of the ops, in order.
    pub(crate) fn inline(
        &mut self,
        number: usize,
        function: &Function,
        operands: &[Value],
    ) -> Vec<usize> {
        let Some(results) = self.op(number).map(|op| op.results.clone()) else {
            return Vec::new();
        };
        let first = self.order(number).0;
        let arguments = function.arguments.iter().copied();
        let mut places: HashMap<Value, Value> = arguments.zip(operands.iter().copied()).collect();
        let mut numbers = Vec::with_capacity(function.ops.len());
        for op in &function.ops {
            let mut op = op.clone();
            for operand in &mut op.operands {
                *operand = places.get(operand).copied().unwrap_or(*operand);
            }
            for result in &mut op.results {
                let own = self.new_value();
                places.insert(*result, own);
                *result = own;
            }
            // Numbers grow, so that later ones come later.
            numbers.push(self.add(op, (first, self.ops.len())));
        }
        for (result, inner) in results.into_iter().zip(&function.results) {
            self.replace(result, places.get(inner).copied().unwrap_or(*inner));
        }
        self.remove_if_unused(number);
        numbers
    }

    /// Returns the rewritten function.
    pub(crate) fn finish(mut self) -> Rewritten {
        let missed = std::mem::take(&mut self.missed);
        let missed = missed.into_iter().filter_map(|(number, (rule, reason))| {
            let place = self.op(number)?.place.clone();
            Some(Missed {
                rule,
                place,
                reason,
            })
        });
        let missed = missed.collect();
        let mut pending: Vec<usize> = (0..self.ops.len()).collect();
        pending.sort_by_key(|&number| std::cmp::Reverse(self.ops[number].order));
        let mut ops = Vec::new();
        // An op that replaces one that a rule made may come after the users of its results: ops
        // follow those that make their operands.
        while let Some(&number) = pending.last() {
            let operands = self.ops[number].op.iter().flat_map(|op| &op.operands);
            let missing = operands
                .filter_map(|value| self.makers.get(value))
                .map(|&(maker, _)| maker)
                .find(|&maker| self.ops[maker].op.is_some());
            match missing {
                Some(maker) => pending.push(maker),
                None => {
                    pending.pop();
                    ops.extend(self.ops[number].op.take());
                }
            }
        }
        let mut constants = self.constants;
        let new_weights = self.new_weights.into_iter().filter_map(|(value, name)| {
            let constant = constants.remove(&value)?;
            Some((value, Weight { name, constant }))
        });
        Rewritten {
            ops,
            results: self.results,
            new_weights: new_weights.collect(),
            constants,
            missed,
            symbols: self.symbols,
            num_values: self.num_values,
        }
    }
}
