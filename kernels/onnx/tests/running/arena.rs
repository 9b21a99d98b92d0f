//! The memory of sessions, which runs use again.

use super::*;
use tfrt_import::program::Program;

/// Returns a network of products that become wider by a step, or narrower, after every second one.
fn network(step: isize) -> Program {
    let mut nodes = Vec::new();
    let mut weights = Vec::new();
    let mut last = "x".to_owned();
    for layer in 0..8_usize {
        let width = 64_usize.saturating_add_signed(step * (layer / 2) as isize);
        let next = 64_usize.saturating_add_signed(step * layer.div_ceil(2) as isize);
        let numbers: Vec<f32> = (0..width * next)
            .map(|at| (at * 37 % 101) as f32 / 1000.0 - 0.05)
            .collect();
        let weight = format!("w{layer}");
        let mut tensor = floats(&weight, &numbers);
        tensor.dims = vec![width as i64, next as i64];
        weights.push(tensor);
        let (product, result) = (format!("p{layer}"), format!("y{layer}"));
        nodes.push(node("MatMul", &[&last, &weight], &[&product]));
        nodes.push(match layer % 2 {
            0 => node("Softmax", &[&product], &[&result]),
            _ => node("Relu", &[&product], &[&result]),
        });
        last = result;
    }
    let mut graph = graph(&["x"], nodes, &[&last]);
    graph.initializer = weights;
    imported(&model(graph)).unwrap()
}

fn session() -> Session {
    session_of(network(-8))
}

fn session_of(program: Program) -> Session {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    Session::load(program, "model.onnx", &host).unwrap()
}

fn input(rows: usize) -> DenseHostTensor {
    let numbers: Vec<f32> = (0..rows * 64).map(|at| (at % 29) as f32 / 29.0).collect();
    tensor(&[rows, 64], &numbers)
}

fn outputs(session: &Session, rows: usize) -> Vec<DenseHostTensor> {
    session.run(&[("x", input(rows))]).unwrap()
}

fn bytes(outputs: &[DenseHostTensor]) -> Vec<u8> {
    outputs[0].buffer().read().unwrap().to_vec()
}

#[test]
fn later_runs_need_no_new_memory() {
    let session = session();
    let first = bytes(&outputs(&session, 100));
    for _ in 0..5 {
        outputs(&session, 100);
    }
    let settled = session.memory();
    assert!(settled.num_allocations > 0);
    for _ in 0..4 {
        assert_eq!(bytes(&outputs(&session, 100)), first);
    }
    let memory = session.memory();
    assert_eq!(memory.num_chunks, settled.num_chunks);
    assert!(memory.num_allocations > settled.num_allocations);
    assert!(
        memory.held_bytes * 10 <= memory.peak_bytes * 11,
        "{memory:?}"
    );
}

#[test]
fn runs_with_inputs_of_several_shapes_that_take_turns_need_no_new_memory() {
    let session = session();
    let shapes = [100, 30, 250, 60];
    let expected = shapes.map(|rows| bytes(&outputs(&session, rows)));
    for rows in shapes.repeat(3) {
        outputs(&session, rows);
    }
    let settled = session.memory();
    for (rows, expected) in shapes.iter().zip(&expected).cycle().take(12) {
        assert_eq!(bytes(&outputs(&session, *rows)), *expected);
    }
    let memory = session.memory();
    assert_eq!(memory.num_chunks, settled.num_chunks);
    // As much as the largest shape needs alone.
    assert!(
        memory.held_bytes * 10 <= memory.peak_bytes * 11,
        "{memory:?}"
    );
}

#[test]
fn requests_that_are_refused_take_the_place_of_no_plan() {
    // Without a plan, what is freed has no room for the results of wider products.
    let session = session_of(network(8));
    for _ in 0..5 {
        outputs(&session, 100);
        outputs(&session, 250);
    }
    let settled = session.memory();
    for rows in 1..20 {
        let inputs = [("x", input(rows)), ("z", input(rows))];
        let error = session.run(&inputs).unwrap_err();
        assert_eq!(error.message(), "unknown input `z`; did you mean `x`?");
    }
    outputs(&session, 250);
    outputs(&session, 100);
    assert_eq!(session.memory().num_chunks, settled.num_chunks);
}

#[test]
fn outputs_that_are_kept_do_not_change() {
    let session = session();
    let kept: Vec<_> = (0..5).map(|_| outputs(&session, 100)).collect();
    let first = bytes(&kept[0]);
    outputs(&session, 130);
    assert!(kept.iter().all(|outputs| bytes(outputs) == first));
    // The arena lives as long as its memory is used.
    drop(session);
    assert!(kept.iter().all(|outputs| bytes(outputs) == first));
}

#[test]
fn runs_at_one_time_share_no_memory() {
    let session = session();
    let rows = [90, 100, 110, 120];
    let expected = rows.map(|rows| bytes(&outputs(&session, rows)));
    std::thread::scope(|scope| {
        for (rows, expected) in rows.into_iter().zip(&expected) {
            let session = &session;
            scope.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(bytes(&outputs(session, rows)), *expected);
                }
            });
        }
    });
    assert_eq!(session.memory().live_bytes, 0);
}

#[test]
fn requests_of_a_session_use_its_memory_and_keep_their_limits() {
    let session = session();
    for _ in 0..4 {
        let request = session.request().build();
        session
            .run_in_request(&request, &[("x", input(100))])
            .unwrap();
    }
    assert!(session.memory().num_allocations > 0);
    let request = session.request().max_bytes(1000).build();
    let error = session.run_in_request(&request, &[("x", input(100))]);
    let error = error.unwrap_err();
    assert!(
        error.message().starts_with("cannot allocate "),
        "{}",
        error.message()
    );
}
