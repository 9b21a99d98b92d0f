//! What the second of three tasks does with the steps of a sequence: the contexts that it has, and
//! which requests are answered, and how.
//!
//! Values are nodes of a graph. A node that forwards to another one is what that one is; a shield
//! is, too, unless it is broken before: by the cancellation of an execution.

use std::collections::{BTreeMap, HashMap};

use tfrt_support::ErrorCode;

use super::SHARED;
use super::step::{ARITIES, Action, Content, Execution, Form, Op, OpName, Source, Step};

/// The only owner of contexts.
const OWNER: i32 = 0;

/// The task that answers.
const OWN: i32 = 1;

/// The numbers of the tasks: no other one is part of a context.
const TASKS: std::ops::Range<i32> = 0..3;

/// How a request is answered; the code of the error, if it is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    Done,
    Failed(Option<ErrorCode>),
    /// In one of both ways.
    Ended,
}

use Answered::{Done, Ended, Failed};

const TAKEN: Answered = Failed(Some(ErrorCode::AlreadyExists));
const INVALID: Answered = Failed(Some(ErrorCode::InvalidArgument));
const REFUSED: Answered = Failed(Some(ErrorCode::FailedPrecondition));
const NO_CONTEXT: Answered = Failed(Some(ErrorCode::InvalidDistributedContextId));

type NodeId = usize;

/// Whether a value is an error.
type IsError = bool;

#[derive(Clone, Debug)]
enum Node {
    /// Somebody will set it, or nobody.
    Unset,
    Forward(NodeId),
    Shield {
        source: NodeId,
        is_broken: bool,
    },
    Value(IsError),
}

#[derive(Debug, Default)]
struct Nodes(Vec<Node>);

impl Nodes {
    fn add(&mut self, node: Node) -> NodeId {
        self.0.push(node);
        self.0.len() - 1
    }

    /// What a node is; none if that is not known yet, perhaps because it waits for itself.
    fn find(&self, node: NodeId) -> Option<IsError> {
        let mut at = node;
        for _ in 0..=self.0.len() {
            at = match self.0[at] {
                Node::Unset => return None,
                Node::Value(is_error) => return Some(is_error),
                Node::Shield {
                    is_broken: true, ..
                } => return Some(true),
                Node::Forward(next) | Node::Shield { source: next, .. } => next,
            };
        }
        None
    }
}

/// An object of a context.
#[derive(Clone, Copy, Debug)]
struct Slot {
    node: NodeId,
    is_placeholder: bool,
    /// The third task makes it, and is watched.
    is_watched: bool,
}

#[derive(Debug)]
enum Waiting {
    Payload(Content),
    /// The request that waits, its object, and the task that it waits for.
    Receiver(usize, u8, i32),
}

/// Requests that are not answered yet.
#[derive(Debug)]
enum UnderWay {
    Execution {
        number: u64,
        starter: Option<i32>,
        shields: Vec<NodeId>,
        outcome: Answered,
    },
    Op(Op, [NodeId; 2]),
    Fetch(NodeId),
}

#[derive(Debug, Default)]
struct Context {
    objects: HashMap<u8, Slot>,
    keys: HashMap<u8, Waiting>,
    /// The source of each program.
    programs: HashMap<usize, Source>,
    /// The cancellations that came before their executions, oldest first, and who sent them.
    cancelled: Vec<(u64, Option<i32>)>,
    under_way: BTreeMap<usize, UnderWay>,
    is_third_lost: bool,
}

/// The state of the task.
#[derive(Debug, Default)]
pub(super) struct Model {
    contexts: HashMap<u64, Context>,
    nodes: Nodes,
    answers: HashMap<usize, Answered>,
}

impl Model {
    /// How a request is answered by now.
    pub(super) fn answer(&self, number: usize) -> Option<Answered> {
        self.answers.get(&number).copied()
    }

    /// How much a context has, if it exists.
    pub(super) fn counts(&self, id: u64) -> Option<[(&'static str, usize); 5]> {
        let context = self.contexts.get(&id)?;
        let waiting = context.keys.values();
        let num_payloads = waiting
            .filter(|waiting| matches!(waiting, Waiting::Payload(_)))
            .count();
        let executions = context.under_way.values();
        let is_execution = |one: &&UnderWay| matches!(one, UnderWay::Execution { .. });
        Some([
            ("objects", context.objects.len()),
            ("payloads", num_payloads),
            ("receivers", context.keys.len() - num_payloads),
            ("programs", context.programs.len()),
            ("executions", executions.filter(is_execution).count()),
        ])
    }

    /// Returns `true` for a step after which it depends on time what is answered: for one that may
    /// become ready together with others and makes the same object as one of them, and for a loss
    /// that the other task hears of.
    pub(super) fn is_ambiguous(&self, step: &Step) -> bool {
        let made = match &step.action {
            Action::Op(op) => op.outputs().to_vec(),
            Action::Put { object, .. } => vec![*object],
            // What waits for the first one comes before the second one is set.
            Action::Execute(execution) if execution.outputs.len() > 1 => execution.outputs.clone(),
            // The first task has such a context, too, and keeps it: it hears of the loss at some
            // time, and tells a context that is made here later.
            Action::Heartbeat { lost: Some(2), .. } => return SHARED.contains(&step.context_id),
            _ => return false,
        };
        let Some(context) = self.contexts.get(&step.context_id) else {
            return false;
        };
        let of_ops = context.under_way.values().flat_map(|one| match one {
            UnderWay::Op(op, _) => op.outputs().to_vec(),
            UnderWay::Execution { .. } | UnderWay::Fetch(_) => Vec::new(),
        });
        let of_receivers = context.keys.values().filter_map(|waiting| match waiting {
            Waiting::Receiver(_, object, _) => Some(*object),
            Waiting::Payload(_) => None,
        });
        of_ops
            .chain(of_receivers)
            .any(|object| made.contains(&object))
    }

    /// Takes a step, which has this number.
    pub(super) fn take(&mut self, number: usize, step: &Step) {
        let id = step.context_id;
        let answer = match self.refusal(step) {
            Some(answer) => Some(answer),
            None => self.act(number, step),
        };
        if let Some(answer) = answer {
            self.answers.insert(number, answer);
        }
        self.proceed(id);
    }

    /// Why a request is refused before anything of it is done.
    fn refusal(&self, step: &Step) -> Option<Answered> {
        if let Action::Create(_) = step.action {
            let is_owner = step.caller.is_none_or(|caller| caller == OWNER);
            return (!is_owner).then_some(REFUSED);
        }
        if !self.contexts.contains_key(&step.context_id) {
            return Some(NO_CONTEXT);
        }
        let caller = step.caller?;
        let is_allowed = match &step.action {
            _ if !TASKS.contains(&caller) => false,
            Action::Close | Action::ReadyChains | Action::Delete { .. } | Action::Op(_) => {
                caller == OWNER
            }
            Action::Heartbeat { sender, .. } => caller == *sender,
            _ => true,
        };
        (!is_allowed).then_some(REFUSED)
    }

    /// Does what a request asks for. Returns the answer, unless it comes later.
    fn act(&mut self, number: usize, step: &Step) -> Option<Answered> {
        let id = step.context_id;
        if let Action::Create(form) = step.action {
            return Some(self.create(id, form));
        }
        let context = self.contexts.get_mut(&id)?;
        Some(match &step.action {
            Action::Close => {
                self.close(id);
                Done
            }
            Action::Create(_) | Action::KeepAlive | Action::ReadyChains => Done,
            Action::Heartbeat { sender, lost } => {
                if !(*sender == 2 && context.is_third_lost) {
                    self.lose(id, *lost);
                }
                Done
            }
            Action::Send { key, content } => match context.keys.remove(key) {
                None => {
                    context.keys.insert(*key, Waiting::Payload(*content));
                    Done
                }
                Some(Waiting::Receiver(of, object, _)) => {
                    self.arrive(id, of, object, Some(*content));
                    Done
                }
                Some(payload) => {
                    context.keys.insert(*key, payload);
                    TAKEN
                }
            },
            Action::Put {
                object,
                sender,
                key,
            } => {
                return self.put(id, number, *object, *sender, *key);
            }
            Action::Register { program, source } => match (context.programs.get(program), source) {
                (_, Source::Damaged) => Failed(Some(ErrorCode::MalformattedMlirFile)),
                (Some(known), _) if known != source => {
                    Failed(Some(ErrorCode::RemoteFunctionAlreadyExists))
                }
                _ => {
                    context.programs.insert(*program, *source);
                    Done
                }
            },
            Action::Execute(execution) => {
                return self.execute(id, number, step.caller, execution);
            }
            Action::Cancel { execution } => {
                self.cancel(id, *execution, step.caller);
                Done
            }
            Action::Fetch { object } => {
                let node = self.object(id, *object, false);
                self.under_way(id).insert(number, UnderWay::Fetch(node));
                return None;
            }
            Action::Delete { objects } => self.delete(id, objects),
            Action::Op(op) if op.name == OpName::Unknown => {
                self.set(id, op.out_chain, Node::Value(true));
                self.set(id, op.output, Node::Value(true));
                Failed(None)
            }
            Action::Op(op) => {
                let input = self.object(id, op.input, false);
                let chain = self.object(id, op.in_chain, false);
                let under_way = UnderWay::Op(op.clone(), [input, chain]);
                self.under_way(id).insert(number, under_way);
                return None;
            }
        })
    }

    fn create(&mut self, id: u64, form: Form) -> Answered {
        if self.contexts.contains_key(&id) {
            return Failed(Some(ErrorCode::DistributedContextAlreadyExists));
        }
        match form {
            Form::UnknownTask => Failed(Some(ErrorCode::TaskNotFound)),
            Form::UnknownDevice => Failed(Some(ErrorCode::Unimplemented)),
            Form::Sound => {
                self.contexts.insert(id, Context::default());
                Done
            }
        }
    }

    /// Ends a context: whatever waits in it fails.
    fn close(&mut self, id: u64) {
        let Some(context) = self.contexts.remove(&id) else {
            return;
        };
        for waiting in context.keys.into_values() {
            if let Waiting::Receiver(number, ..) = waiting {
                self.answers.insert(number, Failed(None));
            }
        }
        for (number, one) in context.under_way {
            // The end of an object may be sent before the end of the context.
            let is_fetch = matches!(one, UnderWay::Fetch(_));
            let answer = if is_fetch { Ended } else { Failed(None) };
            self.answers.insert(number, answer);
        }
    }

    fn lose(&mut self, id: u64, lost: Option<i32>) {
        match lost {
            Some(OWNER) => self.close(id),
            Some(2) => self.lose_third(id),
            // Nobody loses itself, or a task that is not a member.
            Some(OWN..) | None => {}
            Some(other) => unreachable!("no step names task {other}"),
        }
    }

    fn lose_third(&mut self, id: u64) {
        let Some(context) = self.contexts.get_mut(&id) else {
            return;
        };
        context.is_third_lost = true;
        for slot in context.objects.values_mut().filter(|slot| slot.is_watched) {
            self.nodes.0[slot.node] = Node::Value(true);
            (slot.is_placeholder, slot.is_watched) = (false, false);
        }
        let of_third = |_: &u8, waiting: &mut Waiting| matches!(waiting, Waiting::Receiver(.., 2));
        let lost: Vec<_> = context.keys.extract_if(of_third).collect();
        for (_, waiting) in lost {
            if let Waiting::Receiver(number, object, _) = waiting {
                self.arrive(id, number, object, None);
            }
        }
    }

    fn under_way(&mut self, id: u64) -> &mut BTreeMap<usize, UnderWay> {
        &mut self.contexts.entry(id).or_default().under_way
    }

    /// The value of an object, which the third task makes or nobody in particular.
    fn object(&mut self, id: u64, object: u8, has_producer: bool) -> NodeId {
        let context = self.contexts.entry(id).or_default();
        let slot = context.objects.entry(object).or_insert_with(|| Slot {
            node: self.nodes.add(Node::Unset),
            is_placeholder: true,
            is_watched: false,
        });
        if slot.is_placeholder && has_producer {
            if context.is_third_lost {
                self.nodes.0[slot.node] = Node::Value(true);
                slot.is_placeholder = false;
            } else {
                slot.is_watched = true;
            }
        }
        slot.node
    }

    /// Sets an object. Returns `false` if it is set already.
    fn set(&mut self, id: u64, object: u8, node: Node) -> bool {
        let context = self.contexts.entry(id).or_default();
        match context.objects.get_mut(&object) {
            None => {
                let slot = Slot {
                    node: self.nodes.add(node),
                    is_placeholder: false,
                    is_watched: false,
                };
                context.objects.insert(object, slot);
                true
            }
            Some(slot) if slot.is_placeholder => {
                self.nodes.0[slot.node] = node;
                (slot.is_placeholder, slot.is_watched) = (false, false);
                true
            }
            Some(_) => false,
        }
    }

    /// A payload arrives for a receiver, or none does. Answers the request of the receiver.
    fn arrive(&mut self, id: u64, number: usize, object: u8, content: Option<Content>) {
        let failure = match content {
            Some(Content::Tensor) => None,
            Some(Content::Error) => Some(Failed(Some(ErrorCode::NotFound))),
            Some(Content::Malformed) => Some(INVALID),
            None => Some(Failed(None)),
        };
        let is_set = self.set(id, object, Node::Value(failure.is_some()));
        let answer = failure.unwrap_or(if is_set { Done } else { TAKEN });
        self.answers.insert(number, answer);
    }

    fn put(
        &mut self,
        id: u64,
        number: usize,
        object: u8,
        sender: i32,
        key: u8,
    ) -> Option<Answered> {
        let context = self.contexts.get_mut(&id)?;
        match context.keys.remove(&key) {
            Some(Waiting::Payload(content)) => self.arrive(id, number, object, Some(content)),
            Some(other) => {
                context.keys.insert(key, other);
                // The request fails, and so does its object.
                self.arrive(id, number, object, None);
                return Some(TAKEN);
            }
            None if sender == 2 && context.is_third_lost => {
                self.arrive(id, number, object, None);
            }
            None => {
                let receiver = Waiting::Receiver(number, object, sender);
                context.keys.insert(key, receiver);
            }
        }
        None
    }

    fn execute(
        &mut self,
        id: u64,
        number: usize,
        starter: Option<i32>,
        execution: &Execution,
    ) -> Option<Answered> {
        let answer = match self.start(id, number, starter, execution) {
            Ok(()) => return None,
            Err(answer) => answer,
        };
        for output in &execution.outputs {
            self.set(id, *output, Node::Value(true));
        }
        Some(answer)
    }

    fn start(
        &mut self,
        id: u64,
        number: usize,
        starter: Option<i32>,
        execution: &Execution,
    ) -> Result<(), Answered> {
        let (num_inputs, num_outputs) = ARITIES[execution.program];
        let context = self.contexts.entry(id).or_default();
        if !context.programs.contains_key(&execution.program)
            || execution.outputs.len() != num_outputs
        {
            return Err(INVALID);
        }
        // From here on the execution has begun, even if it fails.
        let mut cancelled = context.cancelled.iter();
        let early = cancelled
            .position(|(of, by)| *of == execution.number && *of != 0 && may_cancel(starter, *by));
        if let Some(early) = early {
            context.cancelled.remove(early);
        }
        if execution.inputs.len() != num_inputs {
            return Err(INVALID);
        }
        let inputs = execution.inputs.iter();
        let inputs: Vec<NodeId> = inputs
            .map(|object| self.object(id, *object, execution.has_producer))
            .collect();
        let results = match num_inputs {
            0 => vec![self.nodes.add(Node::Value(false))],
            // One is returned as it is, two change places.
            _ => inputs.into_iter().rev().collect(),
        };
        let is_cancelled = early.is_some();
        let shields: Vec<NodeId> = results
            .into_iter()
            .map(|source| {
                let is_pending = self.nodes.find(source).is_none();
                let is_broken = is_cancelled && is_pending;
                self.nodes.add(Node::Shield { source, is_broken })
            })
            .collect();
        for (output, shield) in execution.outputs.iter().zip(&shields) {
            if !self.set(id, *output, Node::Forward(*shield)) {
                break_shields(&mut self.nodes, &shields);
                return Err(TAKEN);
            }
        }
        let is_tensor = ["same", "swap"].contains(&name(execution.program));
        let under_way = UnderWay::Execution {
            number: execution.number,
            starter,
            shields,
            outcome: match execution.wants_metadata && !is_tensor {
                _ if is_cancelled => Failed(None),
                true => INVALID,
                false => Done,
            },
        };
        self.under_way(id).insert(number, under_way);
        Ok(())
    }

    fn cancel(&mut self, id: u64, cancelled: u64, canceller: Option<i32>) {
        let context = self.contexts.entry(id).or_default();
        let is_it = |one: &UnderWay| match one {
            UnderWay::Execution { number, .. } => *number == cancelled && cancelled != 0,
            UnderWay::Op(..) | UnderWay::Fetch(_) => false,
        };
        let answer = match context.under_way.values().filter(|one| is_it(one)).count() {
            0 => return context.cancelled.push((cancelled, canceller)),
            1 => Failed(None),
            // If one waits for another one, it ends before it is cancelled itself.
            _ => Ended,
        };
        for one in context.under_way.values_mut().filter(|one| is_it(one)) {
            if let UnderWay::Execution {
                starter,
                shields,
                outcome,
                ..
            } = one
                && may_cancel(*starter, canceller)
            {
                *outcome = answer;
                break_shields(&mut self.nodes, shields);
            }
        }
    }

    fn delete(&mut self, id: u64, objects: &[u8]) -> Answered {
        let mut answer = Done;
        for object in objects {
            let context = self.contexts.entry(id).or_default();
            match context.objects.remove(object) {
                Some(slot) if slot.is_placeholder => self.nodes.0[slot.node] = Node::Value(true),
                Some(_) => {}
                None => answer = INVALID,
            }
        }
        answer
    }

    /// Does all that has become possible in a context.
    fn proceed(&mut self, id: u64) {
        loop {
            let Some(context) = self.contexts.get(&id) else {
                return;
            };
            let nodes = &self.nodes;
            let is_known = |node: &NodeId| nodes.find(*node).is_some();
            let ready = context.under_way.iter().find(|(_, one)| match one {
                UnderWay::Execution { shields, .. } => shields.iter().all(is_known),
                UnderWay::Op(_, inputs) => inputs.iter().all(is_known),
                UnderWay::Fetch(node) => is_known(node),
            });
            let Some(number) = ready.map(|(number, _)| *number) else {
                return;
            };
            let ready = self.under_way(id).remove(&number);
            let answer = match ready {
                None => return,
                Some(UnderWay::Execution { outcome, .. }) => outcome,
                Some(UnderWay::Fetch(_)) if SHARED.contains(&id) => Done,
                Some(UnderWay::Fetch(_)) => NO_CONTEXT,
                Some(UnderWay::Op(op, inputs)) => self.run_op(id, &op, inputs),
            };
            self.answers.insert(number, answer);
        }
    }

    fn run_op(&mut self, id: u64, op: &Op, [input, chain]: [NodeId; 2]) -> Answered {
        if op.name == OpName::None {
            return match self.set(id, op.out_chain, Node::Forward(chain)) {
                true => Done,
                false => TAKEN,
            };
        }
        let is_error = |node| self.nodes.find(node) == Some(true);
        let has_failed = is_error(input) || is_error(chain);
        let (chain, output) = match has_failed {
            true => (Node::Value(true), Node::Value(true)),
            false => (Node::Forward(chain), Node::Forward(input)),
        };
        let is_set = self.set(id, op.out_chain, chain);
        match self.set(id, op.output, output) && is_set {
            false => TAKEN,
            true if has_failed => Failed(Some(ErrorCode::Unknown)),
            true => Done,
        }
    }
}

fn name(program: usize) -> &'static str {
    crate::requests::programs_of_tasks::PROGRAMS[program].0
}

fn may_cancel(starter: Option<i32>, canceller: Option<i32>) -> bool {
    starter.is_none() || canceller.is_none() || starter == canceller
}

/// Breaks the shields whose sources are not known.
fn break_shields(nodes: &mut Nodes, shields: &[NodeId]) {
    let pending: Vec<NodeId> = shields
        .iter()
        .copied()
        .filter(|shield| match nodes.0[*shield] {
            Node::Shield { source, .. } => nodes.find(source).is_none(),
            _ => false,
        })
        .collect();
    for shield in pending {
        if let Node::Shield { is_broken, .. } = &mut nodes.0[shield] {
            *is_broken = true;
        }
    }
}
