//! Checks for functions that need chains and cannot have them.

use tfrt_ir::{Module, OpId};
use tfrt_ods::OpTraits;
use tfrt_support::Diagnostic;

use super::bodies::{Bodies, BodyId, BodyKind, NUM_INDICES, Problem, Target, problem};
use super::declared::{ChainPolicy, Flow};
use super::needs::{Class, Needs};

/// Returns an error for every such function, at the op because of which it needs chains.
pub(super) fn check(module: &Module, bodies: &Bodies, needs: &Needs<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for body in bodies.all.values() {
        for &op in module.block_ops(body.block) {
            if body.kind == BodyKind::Sync {
                check_sync_op(module, op, &mut problems);
            } else {
                check_runs(module, op, bodies, needs, &mut problems);
            }
        }
    }
    problems
}

/// Checks an op of a synchronous function: it is in order by itself, unless it needs a chain.
fn check_sync_op(module: &Module, op: OpId, problems: &mut Vec<Problem>) {
    let Some(def) = module.op_def(op) else {
        return;
    };
    let is_ordered =
        def.effect.class().is_some() || def.operands.iter().any(|operand| operand.is_mutated);
    if is_ordered && !def.traits.contains(OpTraits::SYNC) {
        let message = "needs a chain to keep its order, but a synchronous function has no chains";
        problems.push(problem(module, op, message));
    }
}

fn check_runs(
    module: &Module,
    op: OpId,
    bodies: &Bodies,
    needs: &Needs<'_>,
    problems: &mut Vec<Problem>,
) {
    let Some(runs) = bodies.runs.get(&op) else {
        return;
    };
    let mut complain = |message: String| problems.push(problem(module, op, message));
    for target in &runs.others {
        let Some((body, class)) = first_need(*target, needs) else {
            continue;
        };
        let is_sync = bodies.all[body].kind == BodyKind::Sync;
        let name = name_of(module, bodies, body);
        if !is_sync {
            complain(format!(
                "refers to {name}, which {class}, but is not declared to pass chains to it"
            ));
        } else if needs.effects(module, op, BodyKind::Function).chain_policy
            == ChainPolicy::OptedOut
        {
            complain(format!("runs {name}, which {class}, but takes no chain"));
        }
    }
    let needed = needs.classes_of_runs(runs).into_iter().next();
    for target in &runs.targets {
        match *target {
            Target::Native(func) => {
                let name = module.symbol_name(func).unwrap_or_default();
                let has_shared_operand = module
                    .operands(op)
                    .iter()
                    .any(|value| needs.group_of(module.value_type(*value)).is_some());
                if needed.is_some() {
                    complain(format!(
                        "needs `@{name}` to take chains, but this function has no body"
                    ));
                } else if has_shared_operand {
                    complain(format!(
                        "passes memory that the program writes to `@{name}`, whose effects are \
                         unknown"
                    ));
                }
            }
            Target::Body(body) if bodies.all[body].kind == BodyKind::Sync => {
                if let Some(class) = needed {
                    let name = name_of(module, bodies, body);
                    complain(format!(
                        "runs {name}, which {class}, without a chain: it is synchronous"
                    ));
                }
            }
            Target::Body(body) => {
                let num_handed = match runs.flow {
                    Some(Flow::Parallel) => module.operands(op).len() + NUM_INDICES,
                    _ => module.operands(op).len(),
                };
                if needed.is_some() && num_handed < bodies.all[body].num_arguments {
                    let name = name_of(module, bodies, body);
                    complain(format!(
                        "has fewer operands than {name} takes, to which it passes them"
                    ));
                }
                if runs.flow == Some(Flow::Parallel) && needs.writes_arguments(body) {
                    let name = name_of(module, bodies, body);
                    complain(format!(
                        "runs {name} concurrently, which writes the same memory each time"
                    ));
                }
            }
        }
    }
}

/// Returns the first order in which a target takes part.
fn first_need(target: Target, needs: &Needs<'_>) -> Option<(BodyId, Class)> {
    let Target::Body(body) = target else {
        return None;
    };
    let class = needs.classes(body).first()?;
    Some((body, *class))
}

/// Returns `` `@f` `` or `a region`.
fn name_of(module: &Module, bodies: &Bodies, body: BodyId) -> String {
    let holder = bodies.all[body].holder;
    match module
        .symbol_name(holder)
        .filter(|_| module.is_func(holder))
    {
        Some(name) => format!("`@{name}`"),
        None => "a region".into(),
    }
}

/// Finds the ops that start and merge chains, by the traits in their declarations.
///
/// # Errors
/// Fails unless there is exactly one linked op with each trait.
pub(super) fn chain_ops(module: &Module) -> Result<ChainOps, Vec<Problem>> {
    let find = |part: OpTraits, what: &str| {
        let mut names: Vec<&'static str> = module
            .registry()
            .ops()
            .filter(|def| def.traits.contains(part))
            .map(|def| def.name)
            .collect();
        names.sort_unstable();
        match names[..] {
            [name] => Ok(name),
            [] => Err(format!("no declared op {what}")),
            _ => Err(format!(
                "several declared ops {what}: `{}`",
                names.join("`, `")
            )),
        }
    };
    let found = (
        find(OpTraits::CHAIN_SOURCE, "starts chains"),
        find(OpTraits::CHAIN_MERGE, "merges chains"),
    );
    match found {
        (Ok(source), Ok(merge)) => Ok(ChainOps { source, merge }),
        (source, merge) => Err([source.err(), merge.err()]
            .into_iter()
            .flatten()
            .map(|message| {
                let op = module.root();
                let place = module.place(module.op_location(op));
                let finding = Diagnostic::error(place, message);
                Problem { op, finding }
            })
            .collect()),
    }
}

/// The names of the ops that start and merge chains.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainOps {
    pub(super) source: &'static str,
    pub(super) merge: &'static str,
}
