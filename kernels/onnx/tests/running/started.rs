//! Runs that are awaited, and runs on inputs that stay the same tensors.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use super::*;
use tfrt_import::ModelValue;

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future in this thread until it is ready.
fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future.into_future());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// `y = softmax(x + w)`, where `w` has 64 columns.
fn session(queue: &str) -> Session {
    let numbers: Vec<f32> = (0..64).map(|at| at as f32 / 16.0).collect();
    let nodes = vec![
        node("Add", &["x", "w"], &["s"]),
        node("Softmax", &["s"], &["y"]),
    ];
    let mut graph = graph(&["x"], nodes, &["y"]);
    graph.initializer = vec![floats("w", &numbers)];
    let program = imported(&model(graph)).unwrap();
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let queue = tfrt::queue::create_queue(queue).unwrap();
    let host = HostContext::builder()
        .registry(kernels)
        .queue(queue)
        .build();
    Session::load(program, "model.onnx", &host).unwrap()
}

fn input(first: usize) -> DenseHostTensor {
    let numbers: Vec<f32> = (0..4000 * 64)
        .map(|at| ((at + first) % 13) as f32)
        .collect();
    tensor(&[4000, 64], &numbers)
}

fn bytes(tensor: &DenseHostTensor) -> Vec<u8> {
    tensor.buffer().read().unwrap().to_vec()
}

#[test]
fn started_runs_can_be_awaited_in_any_order() {
    for queue in ["s", "mstd:2"] {
        let session = session(queue);
        let expected =
            [0, 1, 2].map(|first| bytes(&session.run(&[("x", input(first))]).unwrap()[0]));
        let mut runs: Vec<_> = (0..3)
            .map(|first| session.start(&[("x", input(first).into())]).unwrap())
            .collect();
        let last = runs.pop().unwrap();
        let outputs = last.wait().unwrap();
        let found = |outputs: Vec<ModelValue>| match &outputs[..] {
            [ModelValue::Tensor(tensor)] => bytes(tensor),
            other => panic!("{other:?}"),
        };
        assert!(found(outputs) == expected[2], "{queue}");
        for (run, expected) in runs.into_iter().zip(&expected) {
            assert!(found(block_on(run).unwrap()) == *expected, "{queue}");
        }
        // A run that nobody waits for does not disturb later ones.
        drop(session.start(&[("x", input(0).into())]).unwrap());
        let again = session.run(&[("x", input(1))]).unwrap();
        assert!(bytes(&again[0]) == expected[1], "{queue}");
    }
}

#[test]
fn errors_of_started_runs_are_those_of_runs() {
    let session = session("mstd:2");
    let start = |name: &str, x: DenseHostTensor| session.start(&[(name, x.into())]);
    let error = start("z", input(0)).unwrap_err().to_string();
    assert!(error.contains("unknown input `z`"), "{error}");
    let narrow = tensor(&[2, 63], &[0.0; 126]);
    let expected = session.run(&[("x", narrow.clone())]).unwrap_err();
    let found = start("x", narrow).and_then(block_on).unwrap_err();
    assert_eq!(found.message(), expected.message());
}

#[test]
fn bound_inputs_are_read_anew_and_outputs_take_the_same_memory() {
    for queue in ["s", "mstd:2"] {
        let session = session(queue);
        let mut x = input(0);
        let mut bound = session.bind(&[("x", x.clone())]).unwrap();
        let mut addresses = Vec::new();
        for first in 0..6 {
            x.elements_mut::<f32>()
                .unwrap()
                .copy_from_slice(&input(first).elements::<f32>().unwrap());
            let found = bytes(&bound.run().unwrap()[0]);
            let expected = bytes(&session.run(&[("x", input(first))]).unwrap()[0]);
            assert!(found == expected, "{queue}: {first}");
            addresses.push(bound.run().unwrap()[0].buffer().address());
        }
        // The first runs plan the memory.
        assert_eq!(
            addresses[3..]
                .iter()
                .collect::<std::collections::HashSet<_>>()
                .len(),
            1
        );
        let kept = bound.run().unwrap()[0].clone();
        let before = bytes(&kept);
        x.elements_mut::<f32>().unwrap().fill(1.0);
        bound.run().unwrap();
        assert!(
            bytes(&kept) == before,
            "an output that is kept is not overwritten"
        );
        let error = session.bind(&[("z", input(0))]).unwrap_err().to_string();
        assert!(error.contains("unknown input `z`"), "{error}");
    }
}
