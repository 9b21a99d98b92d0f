//! The two ends of a body: the chains that go in and out, and the function type that includes them.

use tfrt_ir::symbols::{ARGUMENT_ATTRIBUTES, FUNCTION_TYPE, RESULT_ATTRIBUTES};
use tfrt_ir::{Attribute, Module, OpId, TypeId, ValueId};

use super::{Resource, Threader};
use crate::passes::thread_chains::declared::is_chain;
use crate::passes::thread_chains::needs::Class;
use crate::passes::thread_chains::order::PendingStep;

impl Threader<'_> {
    /// Adds the chain arguments of the body, which stand for the effects before it.
    pub(super) fn enter(&mut self) {
        if self.body.is_root {
            return;
        }
        let outside: Vec<TypeId> = self
            .module
            .block_arguments(self.block())
            .iter()
            .filter_map(|argument| self.needs.group_of(self.module.value_type(*argument)))
            .collect();
        let position = self.body.position;
        let chains: Vec<ValueId> = (0..self.num_chains())
            .map(|index| {
                self.module
                    .insert_block_argument(self.body.block, position + index, self.chain)
            })
            .collect();
        for (index, class) in self.classes.clone().into_iter().enumerate() {
            let step = PendingStep {
                op: self.body.holder,
                tokens: vec![chains[index.min(chains.len() - 1)]],
                is_owed: true,
            };
            match class {
                Class::Effect(class) => self.advance(Resource::Effect(class), step, true),
                Class::Memory => {
                    for &group in &outside {
                        self.advance(Resource::Outside(group), step.clone(), true);
                    }
                }
            }
        }
    }

    /// Makes the end of the body return its chains.
    pub(super) fn leave(&mut self, op: OpId) {
        let mut returned: Vec<ValueId> = Vec::new();
        let mut together: Vec<PendingStep> = Vec::new();
        for class in self.classes.clone() {
            let resources = match class {
                Class::Effect(name) => vec![(Resource::Effect(name), true)],
                Class::Memory => self.visible_outside(op),
            };
            let steps = self.before(&resources);
            if self.body.has_one_chain {
                together.extend(steps);
            } else {
                let needed = self.positions.needed(self.module, steps, &[]);
                returned.push(self.chain_after(op, Some(class), &needed));
            }
        }
        let mut operands = self.module.operands(op).to_vec();
        if self.body.has_one_chain && !self.classes.is_empty() {
            if let Some(&own) = operands
                .first()
                .filter(|own| is_chain(self.module, **own, self.chain))
            {
                // A body that runs many times at once returns at most one chain.
                together.push(PendingStep {
                    op,
                    tokens: vec![own],
                    is_owed: false,
                });
                operands.remove(0);
            }
            let needed = self.positions.needed(self.module, together, &[]);
            returned.push(self.chain_after(op, self.classes.first().copied(), &needed));
        }
        returned.extend(operands);
        self.module.set_operands(op, returned);
    }

    /// Returns the memory that is visible to callers of the body: the memory passed to it, and that
    /// of its results.
    fn visible_outside(&self, end: OpId) -> Vec<(Resource, bool)> {
        let arguments = self.module.block_arguments(self.block()).iter();
        let groups =
            arguments.filter_map(|value| self.needs.group_of(self.module.value_type(*value)));
        let mut resources: Vec<(Resource, bool)> = groups
            .map(|group| (Resource::Outside(group), true))
            .collect();
        for &value in self.module.operands(end) {
            let labels = self.needs.labels_of(value);
            resources.extend(labels.filter_map(|label| Some((self.resource_of(label)?, true))));
        }
        resources
    }

    /// Updates the type of a function to match its body.
    pub(super) fn sign(&mut self) {
        let func = self.body.holder;
        let num_chains = self.num_chains();
        let types_of = |module: &Module, values: &[ValueId]| -> Vec<TypeId> {
            values
                .iter()
                .map(|value| module.value_type(*value))
                .collect()
        };
        let inputs = types_of(self.module, self.module.block_arguments(self.body.block));
        let end = self.module.last_op(self.body.block);
        let results = end.map(|end| types_of(self.module, self.module.operands(end)));
        let results = results.unwrap_or_default();
        let num_results_before = self
            .module
            .signature(func)
            .map_or(0, |(_, results)| results.len());
        let num_new_results = results.len().saturating_sub(num_results_before);
        let ty = self.module.function_type(&inputs, &results);
        let ty = self.module.intern_attribute(Attribute::Type(ty));
        self.module.set_attr(func, FUNCTION_TYPE, ty);
        if !self.body.is_root {
            self.shift_entries(ARGUMENT_ATTRIBUTES, self.body.position, num_chains);
        }
        self.shift_entries(RESULT_ATTRIBUTES, 0, num_new_results);
    }

    /// Inserts `count` empty entries into a list of dictionaries, one for each argument or result.
    fn shift_entries(&mut self, name: &str, position: usize, count: usize) {
        let func = self.body.holder;
        let entries = self
            .module
            .attr(func, name)
            .map(|list| self.module.attribute(list));
        let Some(Attribute::Array(entries)) = entries else {
            return;
        };
        let mut entries = entries.to_vec();
        let empty = self.module.dictionary_attr(Vec::new());
        let position = position.min(entries.len());
        entries.splice(position..position, std::iter::repeat_n(empty, count));
        let list = self
            .module
            .intern_attribute(Attribute::Array(entries.into()));
        self.module.set_attr(func, name, list);
    }
}
