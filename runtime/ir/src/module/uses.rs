//! The users of a value: a list linked through the operands, so that adding and removing a use
//! takes constant time.
//!
//! ```text
//!  value ──newest──► operand 1 of op 7 ──older──► operand 0 of op 7 ──older──► operand 0 of op 3
//!                                      ◄──newer──                   ◄──newer──
//! ```
//!
//! Invariant U1: operand `i` of an op is in the list of its value exactly once, and the list stores
//! its own length. Upheld by `link` and `unlink` alone.

use super::use_list::{Neighbours, Place};
use super::{Module, Use};
use crate::ids::{OpId, ValueId};

impl From<Place> for Use {
    fn from(place: Place) -> Self {
        Self {
            op: place.op,
            operand: place.operand as usize,
        }
    }
}

/// An iterator over the uses of a value, newest first.
struct Uses<'a> {
    module: &'a Module,
    next: Option<Place>,
    len: usize,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    fn next(&mut self) -> Option<Use> {
        let place = self.next?;
        self.next = self.module.neighbours(place).older;
        self.len -= 1;
        Some(place.into())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl ExactSizeIterator for Uses<'_> {}

impl Module {
    /// Returns the uses of a value, newest first: in reverse order of the text for a parsed
    /// program.
    pub fn uses(&self, value: ValueId) -> impl ExactSizeIterator<Item = Use> + '_ {
        let list = &self.values[value].uses;
        Uses {
            module: self,
            next: list.newest,
            len: list.len,
        }
    }

    /// Replaces one operand of an op.
    pub fn set_operand(&mut self, op: OpId, operand: usize, value: ValueId) {
        let place = place(op, operand);
        self.unlink(place);
        self.ops[op].operands[operand] = value;
        self.link(place);
    }

    /// Replaces all operands of an op.
    pub fn set_operands(&mut self, op: OpId, operands: Vec<ValueId>) {
        for operand in 0..self.ops[op].operands.len() {
            self.unlink(place(op, operand));
        }
        self.ops[op].neighbours = vec![Neighbours::default(); operands.len()];
        self.ops[op].operands = operands;
        for operand in 0..self.ops[op].operands.len() {
            self.link(place(op, operand));
        }
    }

    /// Replaces all uses of `old` with `new`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        for _ in 0..self.values[old].uses.len {
            if let Some(Place { op, operand }) = self.values[old].uses.newest {
                self.set_operand(op, operand as usize, new);
            }
        }
    }

    /// Makes an operand, which is not in a list, the newest use of its value.
    fn link(&mut self, place: Place) {
        let value = self.ops[place.op].operands[place.operand as usize];
        let list = &mut self.values[value].uses;
        let older = list.newest.replace(place);
        list.len += 1;
        *self.neighbours_mut(place) = Neighbours { newer: None, older };
        if let Some(older) = older {
            self.neighbours_mut(older).newer = Some(place);
        }
    }

    /// Removes an operand from the list of its value.
    fn unlink(&mut self, place: Place) {
        let Neighbours { newer, older } = *self.neighbours(place);
        if let Some(older) = older {
            self.neighbours_mut(older).newer = newer;
        }
        if let Some(newer) = newer {
            self.neighbours_mut(newer).older = older;
        }
        let value = self.ops[place.op].operands[place.operand as usize];
        let list = &mut self.values[value].uses;
        list.len -= 1;
        if newer.is_none() {
            list.newest = older;
        }
    }

    fn neighbours(&self, place: Place) -> &Neighbours {
        &self.ops[place.op].neighbours[place.operand as usize]
    }

    fn neighbours_mut(&mut self, place: Place) -> &mut Neighbours {
        &mut self.ops[place.op].neighbours[place.operand as usize]
    }
}

fn place(op: OpId, operand: usize) -> Place {
    let operand = u32::try_from(operand).expect("an op has less than 2^32 operands");
    Place { op, operand }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{OpState, Registry, Type};

    /// Creates an op with these operands and one result.
    fn op(module: &mut Module, operands: &[ValueId]) -> OpId {
        let ty = module.intern_type(Type::None);
        let mut state = OpState::new("my.op", module.unknown_location());
        state.operands = operands.to_vec();
        state.result_types.push(ty);
        module.create_op(state)
    }

    fn uses(module: &Module, value: ValueId) -> Vec<(OpId, usize)> {
        let uses = module.uses(value);
        assert_eq!(uses.len(), module.uses(value).count());
        uses.map(|Use { op, operand }| (op, operand)).collect()
    }

    #[test]
    fn uses_come_and_go_wherever_they_are_in_the_list() {
        let mut module = Module::new(Arc::new(Registry::default()));
        let [x, y] = [(); 2].map(|()| {
            let op = op(&mut module, &[]);
            module.results(op)[0]
        });
        let a = op(&mut module, &[x, y]);
        let b = op(&mut module, &[x, x]);
        let c = op(&mut module, &[x]);
        assert_eq!(uses(&module, x), [(c, 0), (b, 1), (b, 0), (a, 0)]);
        // From the middle of one list to the front of another.
        module.set_operand(b, 0, y);
        assert_eq!(uses(&module, x), [(c, 0), (b, 1), (a, 0)]);
        assert_eq!(uses(&module, y), [(b, 0), (a, 1)]);
        // The oldest, then the newest.
        module.set_operands(a, vec![y]);
        module.set_operands(c, Vec::new());
        assert_eq!(uses(&module, x), [(b, 1)]);
        assert_eq!(uses(&module, y), [(a, 0), (b, 0)]);
        module.set_operand(b, 1, y);
        assert_eq!(uses(&module, x), []);
        assert_eq!(module.operands(b), [y, y]);
        // Each use in turn becomes the newest, so the order is reversed.
        module.replace_all_uses(y, x);
        assert_eq!(uses(&module, x), [(b, 0), (a, 0), (b, 1)]);
        assert_eq!(uses(&module, y), []);
        module.replace_all_uses(x, x);
        assert_eq!(uses(&module, x).len(), 3);
    }
}
