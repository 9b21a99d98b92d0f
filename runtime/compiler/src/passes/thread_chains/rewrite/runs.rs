//! Ops that pass chains to the bodies that they run, and receive chains from them.

use std::collections::BTreeSet;

use tfrt_ir::OpId;

use super::{Resource, Threader};
use crate::passes::thread_chains::bodies::Runs;
use crate::passes::thread_chains::declared::Flow;
use crate::passes::thread_chains::needs::{Class, bodies_of};
use crate::passes::thread_chains::order::PendingStep;

/// A chain that goes into a body, and comes out of it.
struct Lane {
    class: Class,
    /// The steps that must be done before.
    needed: Vec<PendingStep>,
    /// The resources that the body may access, and whether it may write them.
    resources: Vec<(Resource, bool)>,
}

impl Threader<'_> {
    /// Threads chains through an op that passes them to the bodies that it runs.
    pub(super) fn thread_runs(&mut self, op: OpId, runs: &Runs) {
        let classes = self.needs.classes_of_runs(runs);
        let Some(target) = bodies_of(&runs.targets)
            .next()
            .filter(|_| !classes.is_empty())
        else {
            self.complete_results(op, false);
            return;
        };
        let target = &self.bodies.all[target];
        let has_one_chain =
            bodies_of(&runs.targets).any(|body| self.bodies.all[body].has_one_chain);
        let lanes = self.lanes(op, runs, &classes, has_one_chain);
        let mut operands = self.module.operands(op).to_vec();
        let offset = operands.len().saturating_sub(target.num_arguments);
        let mut chains = Vec::new();
        for (index, lane) in lanes.iter().enumerate() {
            let chain = self.chain_after(op, Some(lane.class), &lane.needed);
            chains.push(chain);
            let position = offset + target.position + index;
            operands.insert(position.min(operands.len()), chain);
        }
        self.module.set_operands(op, operands);

        if runs.flow == Some(Flow::Parallel) {
            self.complete_results(op, true);
        } else {
            for index in 0..lanes.len() {
                self.module.insert_result(op, index, self.chain);
            }
        }
        let results = self.module.results(op).to_vec();
        for (index, lane) in lanes.into_iter().enumerate() {
            let tokens = match runs.flow {
                Some(Flow::Parallel) => self.tokens_of(op),
                _ => {
                    self.positions.push_lane(chains[index], results[index]);
                    vec![results[index]]
                }
            };
            let step = PendingStep {
                op,
                tokens,
                is_owed: true,
            };
            for (resource, is_write) in lane.resources {
                self.advance(resource, step.clone(), is_write);
            }
        }
    }

    /// Returns the chains to pass: one for each order, or one for all of them.
    fn lanes(
        &self,
        op: OpId,
        runs: &Runs,
        classes: &BTreeSet<Class>,
        has_one_chain: bool,
    ) -> Vec<Lane> {
        let accesses = self.needs.accesses_of_runs(self.module, op, runs);
        let known = self.known_at(op);
        let mut lanes: Vec<Lane> = Vec::new();
        for &class in classes {
            let (resources, known) = match class {
                Class::Effect(name) => (vec![(Resource::Effect(name), true)], &[][..]),
                Class::Memory => (self.resources_of(&accesses), &known[..]),
            };
            let steps = self.before(&resources);
            let needed = self.positions.needed(self.module, steps, known);
            match lanes.first_mut().filter(|_| has_one_chain) {
                Some(common) => {
                    common.needed.extend(needed);
                    let steps = std::mem::take(&mut common.needed);
                    common.needed = self.positions.needed(self.module, steps, &[]);
                    common.resources.extend(resources);
                }
                None => lanes.push(Lane {
                    class,
                    needed,
                    resources,
                }),
            }
        }
        lanes
    }
}
