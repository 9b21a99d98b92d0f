//! Where kernels run: those of the current stream inline, those of other streams as one task for
//! each stream.

use std::sync::{Arc, Mutex};

use tfrt_async::AnyRef;
use tfrt_executor::Program;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OperandDef, ResultDef, TypeConstraint};
use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, Task, WouldDeadlock};

use crate::support::{Graph, Node, alone, build};

static NOTE: OpDef = OpDef {
    operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
    results: &[ResultDef::new("number", TypeConstraint::Any)],
    ..OpDef::new("test.note")
};

/// The events, in order: tasks added (`+`), begun (`[`) and ended (`]`), kernels run (the number of
/// their operands), and the return of execute (`|`).
type Log = Mutex<String>;

/// The single-threaded queue, with a log of its tasks.
#[derive(Debug)]
struct Logging {
    inner: SingleThreadedQueue,
    log: Arc<Log>,
}

impl ConcurrentWorkQueue for Logging {
    fn name(&self) -> String {
        "logging".into()
    }

    fn add_task(&self, task: Task) {
        self.log.lock().unwrap().push('+');
        let log = Arc::clone(&self.log);
        self.inner.add_task(Task::new(move || {
            log.lock().unwrap().push('[');
            task.run();
            log.lock().unwrap().push(']');
        }));
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.inner.add_blocking_task(task, allow_queuing)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.inner.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.inner.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        1
    }

    fn is_in_worker_thread(&self) -> bool {
        self.inner.is_in_worker_thread()
    }
}

/// Records its number of operands.
fn run_note(frame: &mut KernelFrame<'_>) {
    let num_operands = frame.num_arguments();
    if let Some(log) = frame.exec_ctx().request().context_data::<Arc<Log>>() {
        log.lock().unwrap().push_str(&num_operands.to_string());
    }
    frame.set_result(0, AnyRef::available(0_i64));
}

/// Runs a function whose kernels are identified by their numbers of operands. Returns the log.
fn log_of(nodes: Vec<Node>) -> String {
    let _alone = alone();
    let log: Arc<Log> = Arc::default();
    let mut registry = KernelRegistry::new();
    registry
        .add(KernelDescriptor::raw(&NOTE, run_note))
        .expect("the only kernel");
    let queue = Logging {
        inner: SingleThreadedQueue::new(),
        log: Arc::clone(&log),
    };
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(Arc::new(queue))
        .build();
    let graph = Graph {
        nodes,
        ..Graph::default()
    };
    let program = Program::load(&host, &build(&[graph])).expect("the kernel exists");
    let request = RequestContextBuilder::new(Arc::clone(&host))
        .context_data(Arc::clone(&log))
        .build();
    let _ = program
        .function("f0")
        .expect("the function")
        .execute(&ExecutionContext::new(request), &[]);
    log.lock().unwrap().push('|');
    host.quiesce().expect("not a thread of the queue");
    log.lock().unwrap().clone()
}

fn note(operands: &[usize]) -> Node {
    Node::new(&NOTE, operands)
}

#[test]
fn kernels_of_the_current_stream_run_before_execute_returns() {
    assert_eq!(log_of(vec![note(&[]), note(&[0]), note(&[0, 1])]), "012|");
}

#[test]
fn kernels_of_other_streams_become_one_task_ordered_by_stream() {
    let nodes = vec![
        note(&[]),
        note(&[0]).on(2),
        note(&[0, 0]).on(1),
        note(&[0, 0, 0]).on(1),
        note(&[0, 0, 0, 0]),
    ];
    // Kernel 4 is of the current stream; then come those of streams 1 and 2, in that order.
    assert_eq!(log_of(nodes), "0+4|[231]");
}

#[test]
fn a_path_that_has_nothing_else_moves_over_to_the_first_other_stream() {
    let nodes = vec![note(&[]), note(&[0]).on(2), note(&[0, 0]).on(1)];
    // Users are listed in reverse program order: stream 1 is the first of the others, and is run
    // inline.
    assert_eq!(log_of(nodes), "0+2|[1]");
}

#[test]
fn the_first_user_in_program_order_runs_first() {
    let nodes = vec![note(&[]), note(&[0]), note(&[0, 0]), note(&[0, 0, 0])];
    assert_eq!(log_of(nodes), "0123|");
}
