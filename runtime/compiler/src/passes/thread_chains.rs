//! Threading chains: a program that is written without chains gets those that keep it in order.
//!
//! Preconditions: the program is verified, as one that may [leave out chains](Module::leaves_out_chains). Everything this pass knows of
//! an op comes from its declaration. Afterwards no chain is left out, and under any work queue the program does what it would do
//! run op by op on one thread. Running the pass twice changes nothing more.
//!
//! # How chains are derived
//!
//! Two ops keep their order if one could notice that they were exchanged:
//!
//! - *effects*: both have an effect of the same class ([`Effect::Ordered`](tfrt_ods::Effect)), or one of them has, and the other one
//!   [reads](tfrt_ods::Effect::Reads) what it does. Classes do not order each other.
//! - *memory*: both use the same value, or values that may share memory, and one of them writes it
//!   ([`is_mutated`](tfrt_ods::OperandDef)). Readers between two writers run in parallel. Every use of a value counts as reading it, but
//!   that of a reference of any type, which is only handed on: then the result is the operand. What is declared to
//!   [alias](tfrt_ods::ResultDef) an operand is that operand, too.
//!
//! An op waits for another one by a chain operand: the one that it declares, or one more at its end if it takes that. It says that it is
//! done by the chains that it returns, or if it returns none, by everything that it returns. What it has to wait for is thus a set of values.
//! It gets
//!
//! - no chain if it only reads, and waits for nothing or for what its other operands wait for anyway;
//! - the chain that it waits for, if that is one;
//! - a merge of several, or of values that are not chains;
//! - a new chain if it is declared to take one and there is nothing to wait for.
//!
//! Of what it has to wait for, everything is left out that follows from the rest, or from the op's other operands: an op starts when all
//! of its operands are available, so that an available value says that everything is done that was waited for on the way to it. (A call
//! does not count for that: inlining may put a body in its place that waits for less.)
//!
//! ```text
//!   %t = make                               %t = make
//!   fill %t                                 %c = new.chain     %c1 = fill %t, %c
//!   %a = sum %t                             %a = sum %t, %c1           readers wait for the writer
//!   %b = max %t                     ──►     %b = max %t, %c1           … and not for each other
//!   scale %t, %a                            %c2 = merge %b             %a is waited for in any case
//!                                           %c3 = scale %t, %a, %c2
//!   print %b                                %c4 = new.chain    %c5 = print %b, %c4
//! ```
//!
//! # Functions and regions
//!
//! A body takes part in an order if something in it does, at any depth: effects of a class, or memory that goes in or out. It gains
//! a chain for each order, in front of its arguments and of its results: first those of the classes in the order of their names, then
//! that of the memory. The same goes for whoever runs it, as far as declarations say how values get there
//! ([`FORWARDS`](tfrt_ods::OpTraits::FORWARDS), [`LOOPS`](tfrt_ods::OpTraits::LOOPS)). All functions that an op chooses from gain the same.
//!
//! A function that takes nothing, and that nothing in the program refers to, gains no arguments; its orders start inside. It gains the results, so
//! that who runs it knows when it is done.
//!
//! Of a [`PARALLEL`](tfrt_ods::OpTraits::PARALLEL) op, each run is in order by itself, and all of them are between what comes before and what comes after;
//! one run has no order to another, as the op promises. They share one chain, behind the two indices, and may read memory but not write it.
//!
//! Synchronous functions run in program order and stay as they are. An op that runs one has its effects.
//!
//! # Chains that are there
//!
//! An op with a chain among its operands is in the order that its author gave it: it stays as it is, and waits for nothing more. What
//! comes after it, and gets a chain from this pass, waits for it. An op that is declared to take no chain at all (`chain = none`) stays
//! as it is, too. Types that only such ops write are theirs to order.
//!
//! # Errors
//!
//! At their places, all of them, and the program stays as it was: ops that nobody declared and that have no chain; effects in functions that
//! are run in a way that no declaration tells, in native functions, and behind synchronous functions; an op that would have to
//! wait and takes no chain, or that something would have to wait for and that returns nothing; parallel runs that write what they share.
//!
//! At run time an error goes along chains: what is ordered behind an op that failed does not happen.
//!
//! # Phases
//!
//! 1. *collect* the bodies and who runs them ([`bodies`]);
//! 2. *group* the values that may share memory, and find which orders each body takes part in, until nothing changes ([`memory`],
//!    [`needs`]);
//! 3. *check* that everything that needs a chain can have it ([`check`]);
//! 4. *rewrite* the bodies, op by op ([`order`], [`rewrite`]).
//!
//! Cost: phases 2 and 3 look at every op once for each level of calls, more often in recursion. For phase 4, let an op's reach be the ops between it and the
//! earliest one it waits for, which is mostly the op before it in its order: the cost is linear in the sum of reaches.

mod bodies;

mod declared;

mod memory;

mod needs;

mod check;

mod order;

mod rewrite;

use std::collections::HashMap;

use tfrt_ir::parse::parse_type;
use tfrt_ir::{Module, OpId};
use tfrt_ods::verify::left_out::{leaves_out_operands, leaves_out_results};
use tfrt_support::{Diagnostic, Diagnostics};

use crate::CHAIN_TYPE;
use bodies::{Bodies, BodyKind, Problem, ends_body};
use check::{chain_ops, check};
use declared::{ChainPolicy, spellings};
use needs::Needs;
use rewrite::rewrite;

/// Threads chains through every function inside of `root`.
///
/// # Errors
/// Why it cannot be done, in the order of the program, which then stays as it was.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::passes::thread_chains;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse_without_chains, print};
/// use tfrt_ods::{Effect, OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
///
/// const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");
/// const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];
/// const GIVES_CHAIN: OpDef = OpDef {
///     results: &[ResultDef::new("out", CHAIN)],
///     assembly_format: Some("operands attr-dict (`:` type(operands))?"),
///     ..OpDef::new("")
/// };
/// static OPS: [OpDef; 4] = [
///     OpDef {
///         operands: ANY,
///         traits: OpTraits::TERMINATOR,
///         assembly_format: Some("(operands `:` type(operands))?"),
///         ..OpDef::new("my.return")
///     },
///     OpDef { name: "my.new_chain", traits: OpTraits::CHAIN_SOURCE, assembly_format: Some("attr-dict"), ..GIVES_CHAIN },
///     OpDef { name: "my.merge_chains", operands: ANY, traits: OpTraits::CHAIN_MERGE, ..GIVES_CHAIN },
///     OpDef {
///         operands: &[OperandDef::new("value", TypeConstraint::Exact("i32")), OperandDef::new("in", CHAIN)],
///         results: &[ResultDef::new("out", CHAIN)],
///         effect: Effect::IO,
///         assembly_format: Some("operands attr-dict"),
///         ..OpDef::new("my.print")
///     },
/// ];
///
/// let registry = Arc::new(Registry::new(&OPS, [])?);
/// let source = "
///   func @f(%x: i32) {
///     my.print %x
///     my.print %x
///     my.return
///   }";
/// let options = ParseOptions::default();
/// let mut module = parse_without_chains(source, "p.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// thread_chains(&mut module, root).map_err(|errors| errors[0].to_string())?;
/// assert_eq!(
///     print(&module, &PrintOptions::default()),
///     "module {
///   func @f(%arg0: !tfrt.chain, %arg1: i32) -> !tfrt.chain {
///     %0 = my.print %arg1, %arg0
///     %1 = my.print %arg1, %0
///     my.return %1 : !tfrt.chain
///   }
/// }
/// "
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn thread_chains(module: &mut Module, root: OpId) -> Result<(), Diagnostics> {
    let Some(chain) = parse_type(module, CHAIN_TYPE) else {
        unreachable!("`{CHAIN_TYPE}` is the spelling of a type");
    };
    let (bodies, mut problems) = Bodies::collect(module, root, chain);
    let needs = Needs::new(module, &bodies, chain);
    problems.extend(check(module, &bodies, &needs));
    let mut threaded = None;
    if asks_for_chains(module, &bodies, &needs) {
        match chain_ops(module) {
            Ok(chain_ops) => {
                let copy = threaded.insert(module.clone());
                problems.extend(rewrite(copy, &bodies, &needs, chain_ops, chain));
            }
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(in_order(module, root, problems).into());
    }
    if let Some(threaded) = threaded {
        *module = threaded;
    }
    module.set_leaves_out_chains(false);
    Ok(())
}

/// The findings, in the order of the ops that they are about.
fn in_order(module: &Module, root: OpId, mut problems: Vec<Problem>) -> Vec<Diagnostic> {
    let ops = module.walk(root).into_iter().enumerate();
    let positions: HashMap<OpId, usize> = ops.map(|(position, op)| (op, position)).collect();
    problems.sort_by_key(|problem| positions.get(&problem.op).copied());
    problems
        .into_iter()
        .map(|problem| problem.finding)
        .collect()
}

/// Whether some op lacks a chain.
fn asks_for_chains(module: &Module, bodies: &Bodies, needs: &Needs<'_>) -> bool {
    bodies
        .all
        .values()
        .filter(|body| body.kind != BodyKind::Sync)
        .flat_map(|body| {
            module
                .block_ops(body.block)
                .iter()
                .map(|op| (body.kind, *op))
        })
        .filter(|(_, op)| !ends_body(module, *op))
        .any(|(kind, op)| {
            let lacks_chains = module.op_def(op).is_some_and(|def| {
                leaves_out_operands(def, &spellings(module, module.operands(op)))
                    || leaves_out_results(def, &spellings(module, module.results(op)))
            });
            let is_threaded = needs.flow_of(op).is_none()
                && needs.effects(module, op, kind).chain_policy == ChainPolicy::Threaded;
            lacks_chains || is_threaded
        })
}
