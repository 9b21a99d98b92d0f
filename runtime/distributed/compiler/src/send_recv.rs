//! Sends and receives: lets the tasks of a function send each other the values that they use.
//!
//! Preconditions: the program is verified.
//!
//! ```text
//!  %y = corert.executeop(%h) "a"() {device = "/job:w/task:1/device:CPU:0"} : 1
//!  %z = corert.executeop(%h) "b"(%y) {device = "/job:w/task:2/device:CPU:0"} : 1
//!
//!  becomes, with the task of each op, which is in its attribute `tfrt.device`, on the left
//!
//!  1  %y = corert.executeop(%h1) "a"() …
//!  1  %p = tfrt_dist.serialize_th %y
//!  1  %k = tfrt_dist.invocation_key %ctx1 {name = "f/0/job:w/task:2"}
//!  1  %s = tfrt_dist.send_bytes %ctx1, %task2, %k, %p
//!  1  %e = tfrt_dist.cancel_if_error %s
//!  2  %l = tfrt_dist.invocation_key %ctx2 {name = "f/0/job:w/task:2"}
//!  2  %q = tfrt_dist.recv_bytes %ctx2, %task1, %l
//!  2  %x = tfrt_dist.deserialize_th %q
//!  2  %z = corert.executeop(%h2) "b"(%x) …
//! ```
//!
//! A key has the name of the function, the number of the value, the task that receives it and, at
//! run time, the number of the invocation: invocations may overlap. The function's own task draws
//! that number; the remote functions that `cluster-by-host` makes are given it.
//!
//! Handles and chains can be sent, so that a chain orders ops of several tasks, too. Each task
//! looks up handlers itself, by the name that `corert.get_op_handler` has and after its chain. An
//! error is sent like a value: otherwise the receiver would wait for ever.
//!
//! Afterwards no task uses a value of another one, and running the pass again changes nothing. A
//! function with a value that cannot be sent stays as it is. Cost: linear in the number of ops and
//! uses, times the number of tasks.

use std::collections::HashMap;

use tfrt_ir::{Module, OpId, ValueId};
use tfrt_support::{Diagnostic, Place};

use crate::builder::{Builder, is_of_type};
use crate::names;
use crate::task::{Body, Task, describe};

/// Sends values of a function between the tasks of its ops. Returns what cannot be sent.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_distributed_compiler::insert_send_recv;
/// use tfrt_ir::{ParseOptions, PrintOptions, Registry, parse, print};
///
/// let registry = Arc::new(Registry::new([], [])?);
/// let source = r#"
///   func @f(%c: !tfrt.chain) attributes {host = "/job:w/task:0"} {
///     "my.op"(%c) {device = "/job:w/task:1/device:CPU:0"} : (!tfrt.chain) -> ()
///   }"#;
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let mut module = parse(source, "p.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
/// let func = module.functions(module.root()).next().ok_or("no function")?;
/// assert!(insert_send_recv(&mut module, func).is_empty());
/// let text = print(&module, &PrintOptions::default());
/// assert!(text.contains(r#"{name = "f/0/job:w/task:1"}"#), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn insert_send_recv(module: &mut Module, func: OpId) -> Vec<Diagnostic> {
    let Some(body) = Body::of(module, func) else {
        return Vec::new();
    };
    match body.tasks(module) {
        Ok(tasks) if tasks.is_empty() => return Vec::new(),
        Ok(_) => {}
        Err(refused) => return refused,
    }
    let refused = refused_values(module, &body);
    if !refused.is_empty() {
        return refused;
    }
    // Chains last: those that the copies of look-ups follow.
    repeat_on_each_task(module, &body, names::GET_HANDLER);
    repeat_on_each_task(module, &body, names::NEW_CHAIN);
    let Some(&first) = module.block_ops(body.block).first() else {
        return Vec::new();
    };
    let mut sending = Sending {
        function: module.symbol_name(func).unwrap_or_default().to_owned(),
        body,
        first,
        contexts: HashMap::new(),
        tasks: HashMap::new(),
    };
    let crossings = sending.body.crossings(module).into_iter().enumerate();
    for (number, (value, receivers)) in crossings {
        sending.send(module, number, value, &receivers);
    }
    Vec::new()
}

/// Returns the values that ops of other tasks use and that cannot be sent.
fn refused_values(module: &Module, body: &Body) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    let mut needs_host = false;
    for (value, receivers) in body.crossings(module) {
        let defining = module.defining_op(value);
        let is_by = |name| defining.is_some_and(|op| module.op_name(op) == name);
        let sender = body.task_of_value(module, value);
        let of_type = |spelling| is_of_type(module, value, spelling);
        if of_type(names::HANDLER_TYPE) {
            if is_by(names::GET_HANDLER) {
                // Each of the tasks looks it up after the same chain, which is sent there.
                needs_host |= follows_local_chain(module, body, defining, &receivers);
            } else {
                let message = format!(
                    "expected the handler of an op on {} from `{}`, found another one",
                    describe(&receivers[0]),
                    names::GET_HANDLER
                );
                refused.push(Diagnostic::error(place(module, body, value), message));
            }
        } else if of_type(names::HANDLE_TYPE) || of_type(names::CHAIN_TYPE) {
            let is_local = sender.is_none() || receivers.contains(&None);
            needs_host |= is_local && !is_by(names::NEW_CHAIN);
        } else {
            let message = format!(
                "a value of type `{}` cannot be sent from {} to {}",
                module.type_spelling(module.value_type(value)),
                describe(&sender),
                describe(&receivers[0])
            );
            refused.push(Diagnostic::error(place(module, body, value), message));
        }
    }
    if needs_host && body.host.is_none() {
        let name = module.symbol_name(body.func).unwrap_or_default();
        let message = format!("function {name} should have the host attribute");
        let place = module.place(module.op_location(body.func));
        refused.push(Diagnostic::error(place, message));
    }
    refused
}

/// Returns `true` if an op follows a chain between the local task and one of `receivers`. Tasks
/// start new chains themselves.
fn follows_local_chain(module: &Module, body: &Body, op: Option<OpId>, receivers: &[Task]) -> bool {
    let operands = op.into_iter().flat_map(|op| module.operands(op));
    let mut sent = operands.filter(|operand| {
        let defining = module.defining_op(**operand);
        defining.is_none_or(|op| module.op_name(op) != names::NEW_CHAIN)
    });
    sent.any(|operand| {
        let sender = body.task_of_value(module, *operand);
        let mut others = receivers.iter().filter(|receiver| **receiver != sender);
        others.any(|receiver| sender.is_none() || receiver.is_none())
    })
}

/// Returns where a value is defined.
fn place(module: &Module, body: &Body, value: ValueId) -> Place {
    let op = module.defining_op(value).unwrap_or(body.func);
    module.place(module.op_location(op))
}

/// Gives each task that uses the result of ops of this name an op of its own.
fn repeat_on_each_task(module: &mut Module, body: &Body, name: &str) {
    for (value, receivers) in body.crossings(module) {
        let Some(op) = module.defining_op(value) else {
            continue;
        };
        if module.op_name(op) != name {
            continue;
        }
        for task in &receivers {
            let attributes = module.attributes(op).iter();
            let attributes =
                attributes.map(|(name, value)| (module.name(*name).to_owned(), *value));
            let of_place = [names::DEVICE, names::VALUE_DEVICE];
            let attributes = attributes
                .filter(|(name, _)| !of_place.contains(&name.as_str()))
                .collect();
            let (operands, ty) = (module.operands(op).to_vec(), module.value_type(value));
            let mut build = Builder::before(module, op).on_task(task.as_deref());
            let copy = build.op(name, operands, attributes, vec![ty]);
            let copy = module.results(copy)[0];
            replace_uses_on(module, body, value, task, copy);
        }
        if module.uses(value).len() == 0 {
            module.erase_op(op);
        }
    }
}

/// Lets the ops of a task use another value.
fn replace_uses_on(module: &mut Module, body: &Body, old: ValueId, task: &Task, new: ValueId) {
    let uses: Vec<_> = module.uses(old).collect();
    for used in uses {
        if body.task_around(module, used.op) == *task {
            module.set_operand(used.op, used.operand, new);
        }
    }
}

struct Sending {
    function: String,
    body: Body,
    /// The first op of the body before there are sends.
    first: OpId,
    /// The context on each task.
    contexts: HashMap<Task, ValueId>,
    /// The handle that a task, which comes first, has of another one.
    tasks: HashMap<(Task, Task), ValueId>,
}

impl Sending {
    /// Sends a value to other tasks.
    fn send(&mut self, module: &mut Module, number: usize, value: ValueId, receivers: &[Task]) {
        let sender = self.body.task_of_value(module, value);
        let (ty, [to_payload, from_payload]) = match is_of_type(module, value, names::CHAIN_TYPE) {
            true => (names::CHAIN_TYPE, names::CONVERT_CHAIN),
            false => (names::HANDLE_TYPE, names::CONVERT_HANDLE),
        };
        let behind = self.behind(module, value);
        let mut build = Builder::before(module, behind).on_task(sender.as_deref());
        let attributes = build.non_strict();
        let payload = build.value(to_payload, vec![value], attributes, names::PAYLOAD_TYPE);
        for receiver in receivers {
            let first_use = self.first_use(module, value, receiver);
            let name = self.name(receiver).trim_start_matches('/').to_owned();
            let name = format!("{}/{number}/{name}", self.function);

            let (to, from) = (
                self.other_end(module, &sender, receiver, &name, behind),
                self.other_end(module, receiver, &sender, &name, first_use),
            );
            let mut build = Builder::before(module, behind).on_task(sender.as_deref());
            let mut operands = to.to_vec();
            operands.push(payload);
            let sent = build.value(names::SEND, operands, Vec::new(), names::CHAIN_TYPE);
            build.cancel_if_error(sent);

            let mut build = Builder::before(module, first_use).on_task(receiver.as_deref());
            let received = build.value(
                names::RECEIVE,
                from.to_vec(),
                Vec::new(),
                names::PAYLOAD_TYPE,
            );
            let received = build.value(from_payload, vec![received], Vec::new(), ty);
            replace_uses_on(module, &self.body, value, receiver, received);
        }
    }

    /// Returns what a task needs to exchange a value with another one: its context, the other task
    /// and the key.
    fn other_end(
        &mut self,
        module: &mut Module,
        own: &Task,
        other: &Task,
        name: &str,
        anchor: OpId,
    ) -> [ValueId; 3] {
        let context = self.context(module, own);
        let task = self.task(module, own, other);
        let mut build = Builder::before(module, anchor).on_task(own.as_deref());
        let name = build.module.string_attr(name);
        let name = vec![(names::KEY_NAME.to_owned(), name)];
        let key = build.value(
            names::INVOCATION_KEY,
            vec![context],
            name,
            names::STRING_TYPE,
        );
        [context, task, key]
    }

    fn context(&mut self, module: &mut Module, task: &Task) -> ValueId {
        if let Some(known) = self.contexts.get(task) {
            return *known;
        }
        let context = match task {
            None => invocation_of(module, &self.body, self.first),
            Some(task) => {
                let mut build = Builder::before(module, self.first).on_task(Some(task));
                build.value(
                    names::GET_CONTEXT,
                    Vec::new(),
                    Vec::new(),
                    names::CONTEXT_TYPE,
                )
            }
        };
        self.contexts.insert(task.clone(), context);
        context
    }

    fn task(&mut self, module: &mut Module, own: &Task, other: &Task) -> ValueId {
        let key = (own.clone(), other.clone());
        if let Some(known) = self.tasks.get(&key) {
            return *known;
        }
        let context = self.context(module, own);
        let name = self.name(other).to_owned();
        let mut build = Builder::before(module, self.first).on_task(own.as_deref());
        let task = build.task(context, &name);
        self.tasks.insert(key, task);
        task
    }

    /// Returns the name of a task, as the cluster knows it.
    fn name<'a>(&'a self, task: &'a Task) -> &'a str {
        // Checked before: the local task has a name if it exchanges values.
        let name = task.as_ref().or(self.body.host.as_ref());
        name.map_or(names::LOCALHOST, String::as_str)
    }

    /// Returns the op in front of which a value is known.
    fn behind(&self, module: &Module, value: ValueId) -> OpId {
        let Some(op) = module.defining_op(value) else {
            return self.first;
        };
        let next = module.op_index(op).map_or(0, |index| index + 1);
        // The op that ends the body defines nothing.
        let next = module.block_ops(self.body.block).get(next);
        next.copied().unwrap_or(self.first)
    }

    /// Returns the first op of the body that uses a value on a task.
    fn first_use(&self, module: &Module, value: ValueId, task: &Task) -> OpId {
        let ops = module
            .uses(value)
            .map(|used| self.body.op_around(module, used.op));
        let ops = ops.filter(|op| self.body.task(module, *op) == *task);
        ops.min_by_key(|op| module.op_index(*op))
            .unwrap_or(self.first)
    }
}

/// Returns the context of the function's own task for the invocation that begins in its body, or
/// lets one begin in front of `anchor`.
pub(crate) fn invocation_of(module: &mut Module, body: &Body, anchor: OpId) -> ValueId {
    let mut ops = module.block_ops(body.block).iter();
    let known = ops.find(|op| {
        module.op_name(**op) == names::BEGIN_INVOCATION && body.task(module, **op).is_none()
    });
    if let Some(&known) = known {
        return module.results(known)[0];
    }
    let mut arguments = module.block_arguments(body.block).iter().copied();
    let given = arguments.find(|value| is_of_type(module, *value, names::CONTEXT_TYPE));
    let mut build = Builder::before(module, anchor);
    let context = match given {
        Some(given) => given,
        None => build.value(
            names::GET_CONTEXT,
            Vec::new(),
            Vec::new(),
            names::CONTEXT_TYPE,
        ),
    };
    build.value(
        names::BEGIN_INVOCATION,
        vec![context],
        Vec::new(),
        names::CONTEXT_TYPE,
    )
}
