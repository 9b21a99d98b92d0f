//! The functions of stages: which of them may be merged, and the merged ones.

use std::collections::{HashMap, HashSet};

use tfrt_compiler::passes::clone_body;
use tfrt_ir::symbols::{FUNC_OP, FUNCTION_TYPE, SYMBOL_NAME, SYMBOL_VISIBILITY};
use tfrt_ir::{
    AttrId, Attribute, BlockId, LocationId, Module, OpId, OpState, RegionId, TypeId, ValueId,
};
use tfrt_ods::OpTraits;

use crate::stage::{ELEMENTWISE, FUNCTION, STATE};

const RETURN: &str = "tfrt.return";
const IF: &str = "tfrt.if";
const FALSE: &str = "tfrt.constant.i1";

/// The largest merged function, in ops: what a chain of merges copies stays linear in the size of
/// the program.
const MAX_NUM_OPS: usize = 200;

/// A function of one block, all of whose ops are pure.
#[derive(Clone, Debug)]
pub(crate) struct PureFunction {
    name: String,
    func: OpId,
    body: BlockId,
    pub(crate) inputs: Vec<TypeId>,
    pub(crate) results: Vec<TypeId>,
    /// The function is declared to compute each element of its results from the elements at the
    /// same place of its arguments.
    pub(crate) is_elementwise: bool,
    num_ops: usize,
}

/// The functions of a module.
#[derive(Debug)]
pub(crate) struct Functions {
    root: OpId,
    by_name: HashMap<String, OpId>,
    names: HashSet<String>,
    /// What is known of functions: nothing for those that are not pure.
    known: HashMap<OpId, Option<PureFunction>>,
}

impl Functions {
    pub(crate) fn new(module: &Module, root: OpId) -> Self {
        let functions = module.functions(root);
        let named = functions.filter_map(|func| {
            let name = module.symbol_name(func)?;
            Some((name.to_owned(), func))
        });
        let ops = module.entry_block(root).map(|body| module.block_ops(body));
        let symbols = ops.into_iter().flatten();
        let symbols = symbols.filter_map(|&op| module.symbol_name(op));
        Self {
            root,
            by_name: named.collect(),
            names: symbols.map(str::to_owned).collect(),
            known: HashMap::new(),
        }
    }

    /// Returns the function of a stage, if it may be merged with others.
    pub(crate) fn of(&mut self, module: &Module, stage: OpId) -> Option<PureFunction> {
        let declares_state = STATE.iter().any(|name| module.has_attr(stage, name));
        if declares_state || module.nearest_symbol_table(stage) != Some(self.root) {
            return None;
        }
        let name = module.attribute_flat_symbol(module.attr(stage, FUNCTION)?)?;
        let &func = self.by_name.get(name)?;
        let known = self.known.entry(func);
        known.or_insert_with(|| pure_function(module, func)).clone()
    }

    /// Returns a function that calls `first` and then `second` with its results. Each function
    /// takes its number of bound values, then components; the new one takes the bound values of the
    /// first, those of the second, and the components.
    pub(crate) fn in_sequence(
        &mut self,
        module: &mut Module,
        (first, num_first): (&PureFunction, usize),
        (second, num_second): (&PureFunction, usize),
    ) -> Option<AttrId> {
        let (bound, components) = first.inputs.split_at_checked(num_first)?;
        let (more_bound, passed_on) = second.inputs.split_at_checked(num_second)?;
        if *passed_on != *first.results || first.num_ops + second.num_ops > MAX_NUM_OPS {
            return None;
        }
        let inputs = [bound, more_bound, components].concat();
        let (name, func, block) = self.create(module, [first, second], &inputs, &second.results);
        let arguments = module.block_arguments(block).to_vec();
        let (of_first, rest) = arguments.split_at(num_first);
        let (of_second, components) = rest.split_at(num_second);
        let of_first = [of_first, components].concat();
        let location = module.op_location(func);
        let passed_on = clone_body(module, first.body, of_first, location, block);
        let of_second = [of_second, &passed_on].concat();
        let results = clone_body(module, second.body, of_second, location, block);
        append_return(module, block, results, location);
        Some(self.add(module, name, func))
    }

    /// Returns a predicate that holds if both do. It asks the second one only if the first one
    /// holds.
    pub(crate) fn both(
        &mut self,
        module: &mut Module,
        first: &PureFunction,
        second: &PureFunction,
    ) -> Option<AttrId> {
        let is_alike = first.inputs == second.inputs && first.results == second.results;
        let [truth] = first.results[..] else {
            return None;
        };
        if !is_alike || first.num_ops + second.num_ops + 4 > MAX_NUM_OPS {
            return None;
        }
        let (name, func, block) =
            self.create(module, [first, second], &first.inputs, &first.results);
        let arguments = module.block_arguments(block).to_vec();
        let location = module.op_location(func);
        let held = clone_body(module, first.body, arguments.clone(), location, block);

        let (then, then_block) = open_region(module, &first.inputs);
        let parameters = module.block_arguments(then_block).to_vec();
        let both_held = clone_body(module, second.body, parameters, location, then_block);
        append_return(module, then_block, both_held, location);

        let (otherwise, else_block) = open_region(module, &first.inputs);
        let mut state = OpState::new(FALSE, location);
        let is_false = module.intern_attribute(Attribute::Integer {
            value: 0,
            ty: truth,
        });
        state.attributes.push(("value".to_owned(), is_false));
        state.result_types.push(truth);
        let is_false = module.create_op(state);
        module.append_op(else_block, is_false);
        let is_false = module.results(is_false).to_vec();
        append_return(module, else_block, is_false, location);

        let mut state = OpState::new(IF, location);
        state.operands = [held, arguments].concat();
        state.result_types.push(truth);
        state.regions = vec![then, otherwise];
        let choice = module.create_op(state);
        module.append_op(block, choice);
        let results = module.results(choice).to_vec();
        append_return(module, block, results, location);
        Some(self.add(module, name, func))
    }

    /// Creates an empty private function in front of the second of two functions.
    fn create(
        &mut self,
        module: &mut Module,
        [first, second]: [&PureFunction; 2],
        inputs: &[TypeId],
        results: &[TypeId],
    ) -> (String, OpId, BlockId) {
        let mut name = format!("{}.{}", first.name, second.name);
        let mut number = 2;
        while self.names.contains(&name) {
            name = format!("{}.{}.{number}", first.name, second.name);
            number += 1;
        }
        self.names.insert(name.clone());
        let ty = module.function_type(inputs, results);
        let mut attributes = vec![
            (SYMBOL_NAME, module.string_attr(&name)),
            (FUNCTION_TYPE, module.intern_attribute(Attribute::Type(ty))),
            (SYMBOL_VISIBILITY, module.string_attr("private")),
        ];
        if first.is_elementwise && second.is_elementwise {
            attributes.push((ELEMENTWISE, module.intern_attribute(Attribute::Unit)));
        }
        let (region, block) = open_region(module, inputs);
        let mut state = OpState::new(FUNC_OP, module.op_location(second.func));
        let attributes = attributes.into_iter();
        state.attributes = attributes
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        state.regions.push(region);
        let func = module.create_op(state);
        if let (Some(body), Some(index)) =
            (module.op_block(second.func), module.op_index(second.func))
        {
            module.insert_op(body, index, func);
        }
        (name, func, block)
    }

    /// Adds a function that is complete, and returns a reference to it.
    fn add(&mut self, module: &mut Module, name: String, func: OpId) -> AttrId {
        let reference = module.flat_symbol_attr(&name);
        self.by_name.insert(name, func);
        reference
    }
}

fn open_region(module: &mut Module, inputs: &[TypeId]) -> (RegionId, BlockId) {
    let region = module.create_region();
    let block = module.create_block(region, inputs);
    (region, block)
}

/// Ends a block by returning values.
fn append_return(module: &mut Module, block: BlockId, values: Vec<ValueId>, location: LocationId) {
    let mut state = OpState::new(RETURN, location);
    state.operands = values;
    let op = module.create_op(state);
    module.append_op(block, op);
}

/// Returns what is known of a function whose ops are pure.
fn pure_function(module: &Module, func: OpId) -> Option<PureFunction> {
    let &[region] = module.regions(func) else {
        return None;
    };
    let &[body] = module.blocks(region) else {
        return None;
    };
    // Other attributes, such as the one of synchronous functions, may mean that callers expect
    // more.
    let known = [SYMBOL_NAME, FUNCTION_TYPE, SYMBOL_VISIBILITY, ELEMENTWISE];
    let names = module.attributes(func).iter();
    let is_plain = names
        .clone()
        .all(|&(name, _)| known.contains(&module.name(name)));
    let is_elementwise = names
        .clone()
        .any(|&(name, _)| module.name(name) == ELEMENTWISE);
    let ops = module.walk(func);
    let inside = ops.iter().filter(|&&op| op != func);
    let is_pure = inside.clone().all(|&op| is_pure(module, op));
    let (inputs, results) = module.signature(func)?;
    (is_plain && is_pure).then(|| PureFunction {
        name: module.symbol_name(func).unwrap_or_default().to_owned(),
        func,
        body,
        inputs: inputs.to_vec(),
        results: results.to_vec(),
        is_elementwise,
        num_ops: inside.count(),
    })
}

/// Returns `true` if an op has no effect beyond those of the ops in its regions, which are examined
/// on their own.
fn is_pure(module: &Module, op: OpId) -> bool {
    let is_declared_pure = module.op_def(op).is_some_and(|def| {
        let traits = def.traits;
        traits.contains(OpTraits::PURE) || traits.contains(OpTraits::EFFECT_FREE)
    });
    let has_one_block = |&region: &RegionId| module.blocks(region).len() == 1;
    match module.op_name(op) {
        RETURN => true,
        IF => module.regions(op).iter().all(has_one_block),
        _ => is_declared_pure && module.regions(op).is_empty(),
    }
}
