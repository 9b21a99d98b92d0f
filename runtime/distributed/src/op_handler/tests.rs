use std::sync::Mutex;
use std::time::{Duration, Instant};

use tfrt_tensor::DenseHostTensor;

use super::*;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::testing::Cluster;

/// Notes the attribute `number` of each call, and returns vectors.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<i64>>>);

impl RunOp for Notes {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        let number = invocation.attrs.get::<i64>("number").unwrap_or(0);
        self.0.lock().unwrap().push(number);
        let device = CoreRuntime::of(invocation.ctx.host()).host_device().clone();
        for result in &mut *invocation.results {
            let tensor = DenseHostTensor::vector(&[number]).unwrap();
            *result = TensorHandle::of_tensor(device.clone(), tensor);
        }
    }
}

impl OpHandler for Notes {
    fn name(&self) -> &str {
        "notes"
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        match op_name {
            "note" => Ok(CoreRuntimeOp::new(self.clone())),
            _ => Err(Error::new("only notes are known")),
        }
    }
}

const DEVICE: &str = "/job:worker/task:1/device:CPU:0";

/// A cluster of two, the notes of the second, and the op of the first that writes them.
struct Setup {
    cluster: Cluster,
    worker: Arc<DistributedContext>,
    notes: Notes,
    op: CoreRuntimeOp,
    unknown: CoreRuntimeOp,
    ctx: ExecutionContext,
}

fn set_up(network: InProcessNetwork) -> Setup {
    let cluster = Cluster::on("mstd:2", network, 2);
    let contexts = cluster.contexts();
    let notes = Notes::default();
    let runtime = CoreRuntime::of(&cluster.host);
    runtime.register_handler(DEVICE, tfrt_core::OpHandlerRef::new(notes.clone()));
    let client = Arc::clone(&contexts[0]);
    let device = client.devices().get_ref(DEVICE).unwrap();
    let chains = RemoteChains::new(&client);
    let handler = RemoteOpHandler::new(&DistContext::new(client), chains, &device).unwrap();
    let request = RequestContextBuilder::new(Arc::clone(&cluster.host)).build();
    Setup {
        worker: Arc::clone(&contexts[1]),
        op: handler.make_op("note").unwrap(),
        unknown: handler.make_op("unknown").unwrap(),
        ctx: ExecutionContext::new(request),
        notes,
        cluster,
    }
}

impl Setup {
    fn call(&self, number: i64, argument: TensorHandle) -> (AnyRef, TensorHandle) {
        let mut attrs = OpAttrs::new();
        attrs.set("number", number).unwrap();
        let mut chain = AnyRef::ready_chain();
        let [result] = self
            .op
            .call(&self.ctx, [argument], &attrs, Some(&mut chain));
        (chain, result)
    }

    fn first(&self) -> (AnyRef, TensorHandle) {
        let mut chain = AnyRef::ready_chain();
        let [result] = self
            .op
            .call(&self.ctx, [], &OpAttrs::new(), Some(&mut chain));
        (chain, result)
    }
}

#[test]
fn ops_on_one_task_run_in_the_order_of_their_calls() {
    for seed in 0..10 {
        let setup = set_up(InProcessNetwork::with_faults(Faults {
            seed,
            max_delay: Duration::from_micros(500),
            ..Faults::default()
        }));
        let (_, mut tensor) = setup.first();
        let mut chains = Vec::new();
        for number in 1..50 {
            let (chain, result) = setup.call(number, tensor);
            chains.push(chain);
            tensor = result;
        }
        setup.cluster.host.await_values(&chains).unwrap();
        let expected: Vec<i64> = (0..50).collect();
        assert_eq!(*setup.notes.0.lock().unwrap(), expected);
        assert_eq!(
            tensor.metadata().map(|metadata| metadata.to_string()),
            Some("i64 [1]".to_owned())
        );
    }
}

#[test]
fn objects_are_deleted_once_nobody_has_their_ids() {
    let setup = set_up(InProcessNetwork::default());
    let (_, mut tensor) = setup.first();
    let mut last = AnyRef::ready_chain();
    for round in 0..100 {
        for number in 0..100 {
            (last, tensor) = setup.call(round * 100 + number, tensor);
        }
        let host = &setup.cluster.host;
        host.await_values(std::slice::from_ref(&last)).unwrap();
        let num_objects = setup.worker.objects().len();
        // A round makes 200. Deletions are tasks of the same queue, and may be late by some rounds.
        assert!(
            num_objects <= 5000,
            "{num_objects} objects in round {round}"
        );
    }
    assert_eq!(setup.notes.0.lock().unwrap().len(), 10_001);
    drop((last, tensor));
    let deadline = Instant::now() + Duration::from_secs(60);
    // What stays is the first chain of the task, and the one that the next op would follow.
    while setup.worker.objects().len() > 2 {
        assert!(Instant::now() < deadline, "objects stay");
        std::thread::yield_now();
    }
}

#[test]
fn an_op_that_is_not_known_fails_with_its_results() {
    let setup = set_up(InProcessNetwork::default());
    let mut chain = AnyRef::ready_chain();
    let [result] = setup
        .unknown
        .call(&setup.ctx, [], &OpAttrs::new(), Some(&mut chain));
    let tensor = result.tensor().unwrap().clone();
    setup
        .cluster
        .host
        .await_available(&[chain.clone(), tensor.clone()])
        .unwrap();
    for value in [chain, tensor] {
        let error = value.error_if_present().unwrap();
        assert_eq!(error.message(), "Unknown: only notes are known");
    }
}

#[test]
fn an_op_with_a_failed_argument_lets_others_pass() {
    let setup = set_up(InProcessNetwork::default());
    let failed = TensorHandle::error(Error::new("no argument"));
    let (chain, _result) = setup.call(1, failed);
    assert_eq!(chain.error_if_present().unwrap().message(), "no argument");
    let (chain, _result) = setup.first();
    let host = &setup.cluster.host;
    host.await_available(std::slice::from_ref(&chain)).unwrap();
    assert!(chain.is_concrete(), "{chain:?}");
    assert_eq!(*setup.notes.0.lock().unwrap(), [0]);
}

#[test]
fn an_op_on_another_task_needs_a_chain() {
    let setup = set_up(InProcessNetwork::default());
    let [result] = setup.op.call::<0, 1>(&setup.ctx, [], &OpAttrs::new(), None);
    let error = result.error_if_present().unwrap();
    assert_eq!(
        error.message(),
        "`note` runs on another task and needs a chain"
    );
}
