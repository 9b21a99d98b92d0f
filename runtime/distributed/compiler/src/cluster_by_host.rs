//! Functions of other tasks: makes the ops of each of them a function that runs there.
//!
//! Preconditions: the program is verified, and no task uses a value of another one:
//! `insert-send-recv` sees to that.
//!
//! ```text
//!  func @f() {
//!    %y = corert.executeop(%h) "a"() {device = "/job:w/task:1/device:CPU:0"} : 1
//!    …
//!
//!  becomes
//!
//!  func private @f.job_w_task_1(%c: !tfrt.chain) -> !tfrt.chain attributes {host = "/job:w/task:1"} {
//!    %y = corert.executeop(%h) "a"() {device = "/job:w/task:1/device:CPU:0"} : 1
//!    …
//!  func @f() {
//!    %ctx = tfrt_dist.begin_invocation …
//!    %m = tfrt_dist.test_create_remote_chain_manager %ctx
//!    %ch = tfrt.new.chain
//!    %t = tfrt_dist.get_task_handle %ctx {task_name = "/job:w/task:1"}
//!    %i = tfrt_dist.get_chain_for_task_handle %ch, %m, %t
//!    %d, %j = tfrt_dist.remote_execute_func [%ch, %ctx, %t] @f.job_w_task_1(%i)
//!    tfrt_dist.set_chain_for_task_handle %ch, %m, %t, %j
//!    %e = tfrt_dist.cancel_if_error %d
//!    …
//! ```
//!
//! The ops keep their order. A remote function starts at once: its ops wait for what they receive.
//! Its chain is ready once all sends have arrived and all effects have ended that nobody waits for.
//! If a send or an execution fails as such, the request is cancelled on all tasks, because others
//! may wait for its values. An error of an op is a value like others. Chains that the function
//! returns follow all its executions and sends. They follow the results of `cancel_if_error`, not
//! its operands: a remote function whose send has failed is answered after its request is
//! cancelled, with the error.
//!
//! Running the pass again changes nothing. A function that is refused stays as it is. Cost: linear
//! in the number of ops and uses, times the number of tasks.

use tfrt_ir::symbols::{
    ARGUMENT_ATTRIBUTES, FUNC_OP, FUNCTION_TYPE, RESULT_ATTRIBUTES, SYMBOL_NAME, SYMBOL_VISIBILITY,
};
use tfrt_ir::{Attribute, Module, OpId, OpState, ValueId};
use tfrt_support::Diagnostic;

use crate::builder::{Builder, dialect_type, is_of_type};
use crate::names;
use crate::send_recv::invocation_of;
use crate::task::{Body, describe};

/// Makes functions of the ops of other tasks, for every function in `root`. Returns what is
/// refused.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed_compiler::cluster_by_host;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
///
/// let registry = Arc::new(Registry::new([], [])?);
/// let source = r#"
///   func @f() {
///     "my.op"() {device = "/job:w/task:1/device:CPU:0"} : () -> ()
///     "tfrt.return"() : () -> ()
///   }"#;
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let mut module = parse(source, "p.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let root = module.root();
/// assert!(cluster_by_host(&mut module, root).is_empty());
/// let text = print(&module, &PrintOptions::default());
/// assert!(text.contains(r#"attributes {host = "/job:w/task:1"}"#), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cluster_by_host(module: &mut Module, root: OpId) -> Vec<Diagnostic> {
    let functions = module.walk(root).into_iter();
    let functions: Vec<OpId> = functions.filter(|op| module.is_func(*op)).collect();
    let mut refused = Vec::new();
    for func in functions {
        let Some(body) = Body::of(module, func) else {
            continue;
        };
        match body.tasks(module) {
            Ok(tasks) if tasks.is_empty() => {}
            Ok(tasks) => {
                let crossing = crossing_values(module, &body);
                match crossing.is_empty() {
                    true => split(module, &body, &tasks),
                    false => refused.extend(crossing),
                }
            }
            Err(wrong) => refused.extend(wrong),
        }
    }
    refused
}

/// Returns the values that ops of other tasks use.
fn crossing_values(module: &Module, body: &Body) -> Vec<Diagnostic> {
    let crossings = body.crossings(module).into_iter();
    let refused = crossings.map(|(value, receivers)| {
        let op = module.defining_op(value).unwrap_or(body.func);
        let message = format!(
            "a value of type `{}` of {} is used on {}; `insert-send-recv` sends it there",
            module.type_spelling(module.value_type(value)),
            describe(&body.task_of_value(module, value)),
            describe(&receivers[0])
        );
        Diagnostic::error(module.place(module.op_location(op)), message)
    });
    refused.collect()
}

fn split(module: &mut Module, body: &Body, tasks: &[String]) {
    let ops = module.block_ops(body.block).to_vec();
    let context = invocation_of(module, body, ops[0]);
    // The first op behind the context that stays here; the op that ends the body does.
    let begin = module.defining_op(context);
    let begin = begin.and_then(|op| module.op_index(op)).unwrap_or(0);
    let mut behind = module.block_ops(body.block)[begin + 1..].iter();
    let Some(&anchor) = behind.find(|op| body.task(module, **op).is_none()) else {
        return;
    };
    let of_task: Vec<Vec<OpId>> = tasks
        .iter()
        .map(|task| {
            let own = ops.iter().copied();
            own.filter(|op| body.task(module, *op).as_ref() == Some(task))
                .collect()
        })
        .collect();
    let mut build = Builder::before(module, anchor);
    let chain = build.value(names::NEW_CHAIN, Vec::new(), Vec::new(), names::CHAIN_TYPE);
    let chains = build.value(
        names::CREATE_CHAINS,
        vec![context],
        Vec::new(),
        names::CHAINS_TYPE,
    );
    for (task, ops) in tasks.iter().zip(of_task) {
        let callee = outline(module, body, task, &ops);
        let build = Builder::before(module, anchor);
        execute(build, [chain, context, chains], (task, &callee));
    }
    return_behind_requests(module, body);
}

/// Lets the chains that the function returns wait for its sends and executions: a caller that
/// closes the context after them does not interrupt those.
fn return_behind_requests(module: &mut Module, body: &Body) {
    let Some(last) = module.last_op(body.block) else {
        return;
    };
    let ops = module.block_ops(body.block).iter();
    let watched = ops.filter(|op| module.op_name(**op) == names::CANCEL_IF_ERROR);
    let requests: Vec<ValueId> = watched
        .flat_map(|op| module.results(*op))
        .copied()
        .collect();
    for (index, value) in module.operands(last).to_vec().into_iter().enumerate() {
        if is_of_type(module, value, names::CHAIN_TYPE) {
            let mut merged = vec![value];
            merged.extend(&requests);
            let mut build = Builder::before(module, last);
            let merged = build.value(names::MERGE_CHAINS, merged, Vec::new(), names::CHAIN_TYPE);
            module.set_operand(last, index, merged);
        }
    }
}

/// Moves ops to a new function of a task, and returns its name.
fn outline(module: &mut Module, body: &Body, task: &str, ops: &[OpId]) -> String {
    let name = free_name(module, body, task);
    let chain_type = dialect_type(module, names::CHAIN_TYPE);
    let region = module.create_region();
    let block = module.create_block(region, &[chain_type]);
    for &op in ops {
        module.detach_op(op);
        module.append_op(block, op);
        // The function says where they run.
        module.remove_attr(op, names::VALUE_DEVICE);
    }
    let location = module.op_location(body.func);
    let append = |module: &mut Module, name: &str, operands: Vec<ValueId>, results| {
        let mut state = OpState::new(name, location);
        state.operands = operands;
        state.result_types = results;
        let op = module.create_op(state);
        module.append_op(block, op);
        op
    };
    // What nobody waits for ends before the chain does.
    let mut last = module.block_arguments(block).to_vec();
    let results = ops.iter().flat_map(|op| module.results(*op));
    let unused = results.filter(|result| {
        is_of_type(module, **result, names::CHAIN_TYPE) && module.uses(**result).len() == 0
    });
    last.extend(unused);
    if last.len() > 1 {
        let merged = append(module, names::MERGE_CHAINS, last, vec![chain_type]);
        last = module.results(merged).to_vec();
    }
    append(module, names::RETURN, last, Vec::new());

    let ty = module.function_type(&[chain_type], &[chain_type]);
    let device = format!("{task}{}", names::FIRST_CPU);
    let device = module.string_attr(device);
    let key = module.intern_name(names::VALUE_DEVICE);
    let of_chain = module.dictionary_attr(vec![(key, device)]);
    let of_chain = module.intern_attribute(Attribute::Array([of_chain].into()));
    let attributes = [
        (SYMBOL_NAME, module.string_attr(&name)),
        (FUNCTION_TYPE, module.intern_attribute(Attribute::Type(ty))),
        (SYMBOL_VISIBILITY, module.string_attr("private")),
        (ARGUMENT_ATTRIBUTES, of_chain),
        (RESULT_ATTRIBUTES, of_chain),
        (names::HOST, module.string_attr(task)),
    ];
    let attributes = attributes.into_iter();
    let mut state = OpState::new(FUNC_OP, location);
    state.attributes = attributes
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    state.regions.push(region);
    let func = module.create_op(state);
    if let (Some(around), Some(index)) = (module.op_block(body.func), module.op_index(body.func)) {
        module.insert_op(around, index, func);
    }
    name
}

/// Returns a name for the function of a task that no symbol has.
fn free_name(module: &Module, body: &Body, task: &str) -> String {
    let own = module.symbol_name(body.func).unwrap_or_default();
    let task = task.replace("/job:", "job_").replace("/task:", "_task_");
    let table = module.nearest_symbol_table(body.func);
    let is_taken =
        |name: &str| table.is_some_and(|table| module.lookup_symbol(table, name).is_some());
    let first = format!("{own}.{task}");
    let others = (2..).map(|number| format!("{first}.{number}"));
    let mut names = std::iter::once(first.clone()).chain(others);
    names.find(|name| !is_taken(name)).unwrap_or(first)
}

/// Executes the function of a task.
fn execute(
    mut build: Builder<'_>,
    [chain, context, chains]: [ValueId; 3],
    (task, callee): (&str, &str),
) {
    let task = build.task(context, task);
    let place = vec![chain, chains, task];
    let remote = build.value(names::GET_CHAIN, place, Vec::new(), names::ID_TYPE);
    let callee = build.module.flat_symbol_attr(callee);
    let callee = vec![(names::CALLEE.to_owned(), callee)];
    let types = [names::CHAIN_TYPE, names::ID_TYPE];
    let types = types.map(|ty| dialect_type(build.module, ty)).to_vec();
    let operands = vec![chain, context, task, remote];
    let execution = build.op(names::REMOTE_EXECUTE_FUNC, operands, callee, types);
    let [done, remote] = build.module.results(execution) else {
        return;
    };
    let (done, remote) = (*done, *remote);
    let place = vec![chain, chains, task, remote];
    build.value(names::SET_CHAIN, place, Vec::new(), names::CHAIN_TYPE);
    build.cancel_if_error(done);
}
