//! A context that is closed cancels executions, and waits for their kernels.

use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use tfrt::prelude::*;

use crate::cluster::{MINUTE, cluster_with, wait};

/// Where kernels wait until the test lets them go on.
#[derive(Default)]
struct Hold {
    state: Mutex<Held>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Held {
    #[default]
    Nobody,
    Waits,
    GoesOn,
}

impl Hold {
    fn set(&self, held: Held) {
        *self.state.lock().unwrap() = held;
        self.changed.notify_all();
    }

    fn wait_until(&self, expected: Held) {
        let state = self.state.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(state, MINUTE, |held| *held != expected);
        assert!(!waited.unwrap().1.timed_out(), "the other side is missing");
    }
}

/// Runs on a thread of its own. The hosts of tests are different ones, so each has a place of its
/// own.
#[tfrt_kernel("closing_test.hold")]
fn hold(ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, value) = AsyncValueRef::unconstructed();
    let ctx = ctx.clone();
    std::thread::spawn(move || {
        let hold = ctx.host().shared_context(Hold::default);
        hold.set(Held::Waits);
        hold.wait_until(Held::GoesOn);
        promise.emplace(1);
    });
    value
}

const HOLD: &str = r#"
func @hold() -> i32 {
  %x = "closing_test.hold"() : () -> i32
  tfrt.return %x : i32
}
"#;

/// Waits for a payload that nobody sends.
const WAIT: &str = r#"
func @wait(%context: !tfrt_dist.dist_context) -> !tfrt_dist.payload {
  %client = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string { value = "never" }
  %payload = tfrt_dist.recv_bytes %context, %client, %key
  tfrt.return %payload : !tfrt_dist.payload
}
"#;

fn message(value: &AnyRef) -> String {
    value.error_if_present().unwrap().message().to_owned()
}

#[test]
fn a_server_that_shuts_down_waits_for_its_kernels() {
    for communicator in ["in_process", "grpc_communicator"] {
        let cluster = cluster_with(communicator, |config| config.drain_timeout = MINUTE);
        cluster.register(1, "hold", HOLD);
        let worker = &cluster.servers[1];
        let hold = worker.host().shared_context(Hold::default);
        let chain: AnyRef = cluster
            .execute(&cluster.ctx(), (1, "hold"), vec![], 1)
            .chain
            .into();
        hold.wait_until(Held::Waits);
        let (sender, drained) = channel();
        worker.shut_down_then(move |outcome| sender.send(outcome).unwrap());
        // The client is told at once, on a connection that is still there.
        wait(cluster.context.host(), &chain);
        let error = message(&chain);
        assert!(
            error.contains("Cancelled: context 7 is closed"),
            "{communicator}: {error}"
        );
        assert!(drained.try_recv().is_err(), "{communicator}");
        hold.set(Held::GoesOn);
        assert_eq!(drained.recv_timeout(MINUTE).unwrap(), Ok(()));
    }
}

#[test]
fn a_server_that_shuts_down_waits_for_contexts_that_were_closed_before() {
    let cluster = cluster_with("in_process", |config| config.drain_timeout = MINUTE);
    cluster.register(1, "hold", HOLD);
    let worker = &cluster.servers[1];
    let hold = worker.host().shared_context(Hold::default);
    let _results = cluster.execute(&cluster.ctx(), (1, "hold"), vec![], 1);
    hold.wait_until(Held::Waits);
    worker.close_context(7).unwrap();
    let drained = [(); 2].map(|()| {
        let (sender, drained) = channel();
        worker.shut_down_then(move |outcome| sender.send(outcome).unwrap());
        drained
    });
    for drained in &drained {
        assert!(drained.try_recv().is_err(), "the kernel runs");
    }
    hold.set(Held::GoesOn);
    for drained in &drained {
        assert_eq!(drained.recv_timeout(MINUTE).unwrap(), Ok(()));
    }
}

#[test]
fn a_server_that_shuts_down_does_not_wait_beyond_its_limit() {
    let limit = Duration::from_millis(1);
    let cluster = cluster_with("in_process", |config| config.drain_timeout = limit);
    cluster.register(1, "hold", HOLD);
    let worker = &cluster.servers[1];
    let hold = worker.host().shared_context(Hold::default);
    let _results = cluster.execute(&cluster.ctx(), (1, "hold"), vec![], 1);
    hold.wait_until(Held::Waits);
    let (sender, drained) = channel();
    worker.shut_down_then(move |outcome| sender.send(outcome).unwrap());
    let error = drained.recv_timeout(MINUTE).unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "DeadlineExceeded: requests under way had not ended after 1ms"
    );
    hold.set(Held::GoesOn);
}

#[test]
fn a_client_that_closes_its_context_ends_its_executions() {
    for communicator in ["in_process", "grpc_communicator"] {
        // The executions end long before they would be cut, or the client would be lost.
        let cluster = cluster_with(communicator, |config| {
            config.drain_timeout = 10 * MINUTE;
            config.failure_timeout = 10 * MINUTE;
        });
        cluster.register(1, "wait", WAIT);
        let chain: AnyRef = cluster
            .execute(&cluster.ctx(), (1, "wait"), vec![], 1)
            .chain
            .into();
        cluster.wait_until_running([1, 0, 0]);
        let worker = cluster.servers[1].context(7).unwrap();
        cluster.servers[0].close_context(7).unwrap();
        wait(cluster.context.host(), &chain);
        let error = message(&chain);
        assert!(error.contains("Cancelled"), "{communicator}: {error}");
        let end = std::time::Instant::now() + MINUTE;
        while !worker.executions().is_empty() {
            assert!(std::time::Instant::now() < end, "it runs on");
            std::thread::yield_now();
        }
    }
}
