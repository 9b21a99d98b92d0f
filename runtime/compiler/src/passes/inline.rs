//! Inlining: replaces calls by the bodies of the called functions.
//!
//! Preconditions: the program is verified. An op is a call if its declaration says so
//! ([`OpTraits::CALL`](tfrt_ods::OpTraits::CALL)): its operands are the arguments, its results
//! those of the function that its symbol names.
//!
//! A call is inlined if it is directly in the body of a function and calls a function of the same
//! module that has a body, unless
//! - I1: the callee is recursive, by itself or through others;
//! - I2: an op in the callee, at any depth, is of a dialect that does not allow inlining, or the
//!   callee or a region in it has more than one block;
//! - I3: one of the two functions is synchronous and the other is not, so that their kernels are of
//!   different kinds;
//! - I4: an effect of the callee would no longer wait for an argument that the call waits for;
//! - I5: the caller would grow by more than [`MAX_GROWTH_OPS`];
//! - I6: the program would grow by more than [`MAX_TOTAL_GROWTH_OPS`], and by more than
//!   [`MAX_TOTAL_GROWTH`] times its size. A remark reports this.
//!
//! Phases, for each module, the innermost first:
//! 1. *order*: callees before their callers, see [`call_graph`];
//! 2. for each function: canonicalize it, replace its calls, and canonicalize it again if there
//!    were any;
//! 3. *prune*: private functions without references are removed.
//!
//! An op that moves gets the location `callsite(its own at that of the call)`.
//!
//! Errors: a call returns errors only if an argument is an error. An inlined body returns an error
//! only where that argument was used. Effects are skipped as before, by I4.
//!
//! Cost: linear in the size of the result, which I5 and I6 bound.

mod call_graph;

mod callee;

mod clone;

mod prune;

use std::collections::HashMap;

use tfrt_ir::{BlockId, Module, OpId};
use tfrt_support::{Diagnostic, Place};

use super::canonicalize;
use call_graph::CallGraph;
use callee::Callee;

pub use clone::clone_body;

/// The number of ops that a function may gain, which bounds the inlining of nested calls.
pub const MAX_GROWTH_OPS: usize = 10_000;

/// The number of ops that a program may gain, unless it is large.
pub const MAX_TOTAL_GROWTH_OPS: usize = 50_000;

/// The number of ops that a large program may gain for each of its ops.
pub const MAX_TOTAL_GROWTH: usize = 4;

/// Inlines calls in every module inside `root`, and in `root` itself. Returns a remark if I6
/// prevented the inlining of calls.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::passes::inline;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
/// use tfrt_ods::{DialectDef, FunctionDef, FunctionForm, OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
///
/// const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];
/// static RETURN: OpDef = OpDef {
///     operands: ANY,
///     traits: OpTraits::TERMINATOR,
///     assembly_format: Some("(operands `:` type(operands))?"),
///     ..OpDef::new("my.return")
/// };
/// static CALL: OpDef = OpDef {
///     operands: ANY,
///     functions: &[FunctionDef { name: "callee", form: FunctionForm::Symbol }],
///     results: &[ResultDef::variadic("results", TypeConstraint::Any)],
///     traits: OpTraits::CALL,
///     ..OpDef::new("my.call")
/// };
///
/// let dialect = DialectDef { allows_inlining: true, ..DialectDef::new("my") };
/// let registry = Arc::new(Registry::new([&RETURN, &CALL], [dialect])?);
/// let source = r#"
///   func private @swap(%a: i32, %b: i32) -> (i32, i32) { my.return %b, %a : i32, i32 }
///   func @f(%x: i32, %y: i32) -> i32 {
///     %r:2 = "my.call"(%x, %y) {callee = @swap} : (i32, i32) -> (i32, i32)
///     my.return %r#0 : i32
///   }"#;
/// let mut module = parse(source, "p.mlir", &registry, &ParseOptions::default()).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// inline(&mut module, root);
/// assert_eq!(
///     print(&module, &PrintOptions::default()),
///     "module {\n  func @f(%arg0: i32, %arg1: i32) -> i32 {\n    my.return %arg1 : i32\n  }\n}\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn inline(module: &mut Module, root: OpId) -> Vec<Diagnostic> {
    let ops = module.walk_post_order(root);
    let mut growth = Growth {
        num_gained: 0,
        limit: MAX_TOTAL_GROWTH_OPS.max(MAX_TOTAL_GROWTH.saturating_mul(ops.len())),
        first_left: None,
        num_left: 0,
    };
    for op in ops {
        if module.is_module(op) {
            inline_in_module(module, op, &mut growth);
        }
    }
    prune::prune(module, root);
    growth.remark().into_iter().collect()
}

/// The growth that I6 limits.
struct Growth {
    num_gained: usize,
    limit: usize,
    /// The location of the first call that is not inlined because of the limit.
    first_left: Option<Place>,
    num_left: usize,
}

impl Growth {
    /// Returns `true` if the size of the program allows the body of a callee to replace a call.
    /// Counts the growth or the remaining call.
    fn takes(&mut self, module: &Module, call: OpId, num_ops: usize) -> bool {
        if self.num_gained + num_ops <= self.limit {
            self.num_gained += num_ops;
            return true;
        }
        self.first_left
            .get_or_insert_with(|| module.place(module.op_location(call)));
        self.num_left += 1;
        false
    }

    fn remark(self) -> Option<Diagnostic> {
        let Self {
            limit, num_left, ..
        } = self;
        let calls = if num_left == 1 { "call" } else { "calls" };
        let message = format!(
            "{num_left} {calls} from here on are not inlined: the program would grow by more than \
             {limit} ops"
        );
        self.first_left
            .map(|place| Diagnostic::remark(place, message))
    }
}

fn inline_in_module(module: &mut Module, table: OpId, growth: &mut Growth) {
    let graph = CallGraph::new(module, table);
    // The processed functions that may be inlined: I1 and I2 hold.
    let mut callees = HashMap::new();
    for &func in graph.bottom_up() {
        canonicalize(module, func);
        if inline_calls(module, &graph, &callees, func, growth) {
            canonicalize(module, func);
        }
        if !graph.is_recursive(func) {
            callees.extend(Callee::new(module, func).map(|callee| (func, callee)));
        }
    }
}

/// Replaces the calls directly in the body of a function. Returns `true` if there were any.
fn inline_calls(
    module: &mut Module,
    graph: &CallGraph,
    callees: &HashMap<OpId, Callee>,
    func: OpId,
    growth: &mut Growth,
) -> bool {
    let mut num_gained = 0;
    let mut has_inlined = false;
    let regions = module.regions(func).iter();
    let blocks: Vec<BlockId> = regions
        .flat_map(|region| module.blocks(*region).to_vec())
        .collect();
    for block in blocks {
        let mut targets = HashMap::new();
        for &op in module.block_ops(block) {
            if let Some(callee) = graph.callee(op).and_then(|callee| callees.get(&callee))
                && callee.may_replace(module, func, op)
                && num_gained + callee.num_ops() <= MAX_GROWTH_OPS
                && growth.takes(module, op, callee.num_ops())
            {
                num_gained += callee.num_ops();
                targets.insert(op, callee);
            }
        }
        if targets.is_empty() {
            continue;
        }
        has_inlined = true;
        for op in module.take_block_ops(block) {
            match targets.get(&op) {
                Some(callee) => replace_call(module, op, callee, block),
                None => module.append_op(block, op),
            }
        }
    }
    has_inlined
}

/// Appends a copy of the body of `callee` to `block`, instead of `call`, which has been removed
/// from its block.
fn replace_call(module: &mut Module, call: OpId, callee: &Callee, block: BlockId) {
    let returned = clone_body(
        module,
        callee.body(),
        module.operands(call).to_vec(),
        module.op_location(call),
        block,
    );
    for (index, value) in returned.into_iter().enumerate() {
        module.replace_all_uses(module.results(call)[index], value);
    }
    module.erase_op(call);
}
