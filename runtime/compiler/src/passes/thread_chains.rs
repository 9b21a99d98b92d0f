//! Threading chains: adds the chains that keep the order of a program that is written without them.
//!
//! Preconditions: the program is verified as one that may [omit chains](Module::leaves_out_chains).
//! Everything this pass knows about an op comes from its declaration. Afterwards all chains are
//! present, and under any work queue the program behaves as if it ran op by op on one thread.
//! Running the pass twice changes nothing more.
//!
//! # How chains are derived
//!
//! Two ops keep their order if exchanging them could be observed:
//!
//! - *effects*: both have an effect of the same class ([`Effect::Ordered`](tfrt_ods::Effect)), or
//!   one of them has such an effect and the other one [reads](tfrt_ods::Effect::Reads) it.
//!   Different classes do not order each other.
//! - *memory*: both use the same value, or values that may share memory, and one of them writes it
//!   ([`is_mutated`](tfrt_ods::OperandDef)). Readers between two writers run in parallel. Every use
//!   of a value counts as a read, except for a reference of any type, which is only passed on: then
//!   the result is the operand. A result that is declared to [alias](tfrt_ods::ResultDef) an
//!   operand is that operand, too.
//!
//! An op waits for another one by a chain operand: the declared one, or an additional one at its
//! end if it accepts that. It signals its completion by the chains that it returns, or by all of
//! its results if it returns no chains. So what it has to wait for is a set of values. It gets
//!
//! - no chain if it only reads, and either does not have to wait or its other operands wait for the
//!   same;
//! - the chain that it waits for, if that is a single chain;
//! - a merge of several chains, or of values that are not chains;
//! - a new chain if it is declared to take one and there is nothing to wait for.
//!
//! The pass omits every wait that other waits or the op's other operands imply: an op starts when
//! all of its operands are available, so an available value implies that everything it depends on
//! is done. (A call implies nothing of the kind: inlining may replace it by a body that waits for
//! less.)
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
//! A body takes part in an order if something in it does, at any depth: effects of a class, or
//! memory that goes in or out. It gains a chain for each order, before its arguments and before its
//! results: first those of the classes in the order of their names, then that of the memory. The
//! same applies to ops that run the body, if declarations specify how values are passed to it
//! ([`FORWARDS`](tfrt_ods::OpTraits::FORWARDS), [`LOOPS`](tfrt_ods::OpTraits::LOOPS)). All
//! functions that an op chooses from gain the same chains.
//!
//! A function that has no arguments and that nothing in the program refers to does not gain
//! arguments; its orders start inside. It gains the results, so that its caller knows when it is
//! done.
//!
//! Each run of a [`PARALLEL`](tfrt_ods::OpTraits::PARALLEL) op is in order by itself, and all of
//! them run between what comes before and what comes after the op. Runs are not ordered among each
//! other, as the op promises. They share one chain, after the two indices, and may read memory but
//! not write it.
//!
//! Synchronous functions run in program order and do not change. An op that runs one has its
//! effects.
//!
//! # Existing chains
//!
//! An op with a chain among its operands has the order that its author chose: it does not change,
//! and does not wait for anything more. Ops after it that get a chain from this pass wait for it.
//! An op that is declared without a chain (`chain = none`) does not change either. If only such ops
//! write a type, ordering the accesses to it is left to the author.
//!
//! # Errors
//!
//! All errors are reported, at their locations, and the program does not change: undeclared ops
//! without a chain; effects in functions that are run in an undeclared way, in native functions,
//! and behind synchronous functions; an op that would have to wait but takes no chain, or for which
//! something would have to wait and that returns nothing; parallel runs that write memory that they
//! share.
//!
//! At run time, errors propagate along chains: an op that is ordered after a failed one is skipped.
//!
//! # Phases
//!
//! 1. *collect* the bodies and the ops that run them ([`bodies`]);
//! 2. *group* the values that may share memory, and find the orders in which each body takes part,
//!    up to a fixed point ([`memory`], [`needs`]);
//! 3. *check* that everything that needs a chain can have one ([`check`]);
//! 4. *rewrite* the bodies, op by op ([`order`], [`rewrite`]).
//!
//! Cost: phases 2 and 3 look at every op once for each level of calls, more often in recursion. For
//! phase 4, let an op's reach be the ops between it and the earliest one that it waits for, which
//! is mostly the previous op in its order: the cost is linear in the sum of reaches.

mod bodies;

mod declared;

mod memory;

mod needs;

mod check;

mod order;

mod rewrite;

use std::collections::HashMap;

use tfrt_ir::parse_type;
use tfrt_ir::{Module, OpId};
use tfrt_ods::verify::{leaves_out_operands, leaves_out_results};
use tfrt_support::{Diagnostic, Diagnostics};

use crate::CHAIN_TYPE;
use bodies::{Bodies, BodyKind, Problem, ends_body};
use check::{chain_ops, check};
use declared::{ChainPolicy, spellings};
use needs::Needs;
use rewrite::rewrite;

/// Threads chains through every function inside `root`.
///
/// # Errors
/// Returns the reasons why this is impossible, in program order. The program then does not change.
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

/// Returns the diagnostics in the order of their ops.
fn in_order(module: &Module, root: OpId, mut problems: Vec<Problem>) -> Vec<Diagnostic> {
    let ops = module.walk(root).into_iter().enumerate();
    let positions: HashMap<OpId, usize> = ops.map(|(position, op)| (op, position)).collect();
    problems.sort_by_key(|problem| positions.get(&problem.op).copied());
    problems
        .into_iter()
        .map(|problem| problem.finding)
        .collect()
}

/// Returns `true` if some op lacks a chain.
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
