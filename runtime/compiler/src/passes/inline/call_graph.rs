//! The call graph of the functions of a module.
//!
//! Edges are all calls inside a function, also those that are never inlined. Functions that can
//! reach each other form a component (Tarjan's algorithm, without recursion); components are found
//! callees first.

use std::collections::{HashMap, HashSet};

use tfrt_ir::symbols::SymbolTable;
use tfrt_ir::{Module, OpId};
use tfrt_ods::{FunctionForm, OpTraits};

use crate::passes::has_traits;

/// The functions of a module, in order of their calls.
pub(super) struct CallGraph {
    callees: HashMap<OpId, OpId>,
    bottom_up: Vec<OpId>,
    recursive: HashSet<OpId>,
}

impl CallGraph {
    /// Builds the call graph from the ops of a module.
    pub(super) fn new(module: &Module, table: OpId) -> Self {
        let functions: Vec<OpId> = module.functions(table).collect();
        let mut symbols = SymbolTable::default();
        let mut callee_of = HashMap::new();
        let mut callees_in: HashMap<OpId, Vec<OpId>> = HashMap::new();
        for &func in &functions {
            let callees = callees_in.entry(func).or_default();
            for op in module.walk(func) {
                if has_traits(module, op, OpTraits::CALL)
                    && let Some(name) = callee_name(module, op)
                    && let Some(callee) = symbols.lookup(module, table, name)
                    && module.is_func(callee)
                {
                    callee_of.insert(op, callee);
                    callees.push(callee);
                }
            }
        }
        let mut search = Search {
            callees_in: &callees_in,
            visits: HashMap::new(),
            open: Vec::new(),
            graph: Self {
                callees: callee_of,
                bottom_up: Vec::new(),
                recursive: HashSet::new(),
            },
        };
        for func in functions {
            search.visit_from(func);
        }
        search.graph
    }

    /// Returns the function of the module that an op calls, if it is a call.
    pub(super) fn callee(&self, call: OpId) -> Option<OpId> {
        self.callees.get(&call).copied()
    }

    /// Returns the functions, callees before their callers.
    pub(super) fn bottom_up(&self) -> &[OpId] {
        &self.bottom_up
    }

    /// Returns `true` if calls lead from the function back to it.
    pub(super) fn is_recursive(&self, func: OpId) -> bool {
        self.recursive.contains(&func)
    }
}

/// Returns the name of the function that a call refers to.
fn callee_name(module: &Module, call: OpId) -> Option<&str> {
    let functions = module.op_def(call)?.functions;
    let callee = functions
        .iter()
        .find(|function| function.form == FunctionForm::Symbol)?;
    module.attribute_flat_symbol(module.attr(call, callee.name)?)
}

/// The state of a depth-first search.
struct Search<'a> {
    callees_in: &'a HashMap<OpId, Vec<OpId>>,
    visits: HashMap<OpId, Visit>,
    /// The functions whose components are not known yet, in order of discovery.
    open: Vec<OpId>,
    graph: CallGraph,
}

struct Visit {
    /// Its position in the order of discovery.
    number: usize,
    /// The lowest number that is known to be reachable through functions that are still open.
    lowest: usize,
    is_open: bool,
}

impl Search<'_> {
    fn visit_from(&mut self, root: OpId) {
        if self.visits.contains_key(&root) {
            return;
        }
        self.discover(root);
        // The functions on the current path, each with the number of its callees that were visited.
        let mut path = vec![(root, 0)];
        while let Some((func, next)) = path.last_mut() {
            let func = *func;
            let callee = self.callees_in.get(&func).and_then(|all| all.get(*next));
            *next += 1;
            match callee.copied() {
                Some(callee) => match self.visits.get(&callee) {
                    None => {
                        self.discover(callee);
                        path.push((callee, 0));
                    }
                    Some(visit) if visit.is_open => self.reach(func, visit.number),
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    self.leave(func);
                    let lowest = self.visits[&func].lowest;
                    if let Some(&(caller, _)) = path.last() {
                        self.reach(caller, lowest);
                    }
                }
            }
        }
    }

    fn discover(&mut self, func: OpId) {
        let number = self.visits.len();
        let visit = Visit {
            number,
            lowest: number,
            is_open: true,
        };
        self.visits.insert(func, visit);
        self.open.push(func);
    }

    fn reach(&mut self, func: OpId, number: usize) {
        if let Some(visit) = self.visits.get_mut(&func) {
            visit.lowest = visit.lowest.min(number);
        }
    }

    /// Closes the component of `func`, if `func` is its first discovered function.
    fn leave(&mut self, func: OpId) {
        let Visit { number, lowest, .. } = self.visits[&func];
        if lowest != number {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == func);
        let component = self.open.split_off(start.unwrap_or(0));
        let calls_itself = self.callees_in[&func].contains(&func);
        for &member in &component {
            if let Some(visit) = self.visits.get_mut(&member) {
                visit.is_open = false;
            }
            if component.len() > 1 || calls_itself {
                self.graph.recursive.insert(member);
            }
        }
        self.graph.bottom_up.extend(component.into_iter().rev());
    }
}
