//! Recurrent layers, before opset 7.

use super::*;

/// Returns one example of two steps of one number, and weights that are one, for a layer of so many
/// gates.
fn operands(num_gates: usize) -> [(&'static str, DenseHostTensor); 3] {
    let ones = vec![1.0_f32; num_gates];
    [
        ("x", tensor(&[2, 1, 1], &[0.5_f32, -0.25])),
        ("w", tensor(&[1, num_gates, 1], &ones)),
        ("r", tensor(&[1, num_gates, 1], &ones)),
    ]
}

/// Runs a layer with both of its first results.
fn run_layer(
    opset: i64,
    op: &str,
    num_gates: usize,
    attributes: &[AttributeProto],
) -> Result<Vec<String>, String> {
    let outputs = ["y", "last"];
    let layer = with(
        node(op, &["x", "w", "r"], &outputs),
        &[&[int("hidden_size", 1)], attributes].concat(),
    );
    let mut old = model(graph(&["x", "w", "r"], vec![layer], &outputs));
    old.opset_import[0].version = Some(opset);
    run_model(&old, &operands(num_gates))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Checks the states of a layer after each step, in the first versions and in that of opset 7.
#[track_caller]
fn check_layer(op: &str, num_gates: usize, opsets: &[i64], states: [f64; 2]) {
    let states = states.map(|state| state as f32);
    for &opset in opsets {
        // The attribute says whether the first result is wanted; the file says so anyway.
        let sequence = [int("output_sequence", 1)];
        let attributes = if opset < 7 { &sequence[..] } else { &[] };
        let found = run_layer(opset, op, num_gates, attributes).unwrap();
        assert_near(&found[0], "f32 [2, 1, 1, 1]", &states, op);
        assert_near(&found[1], "f32 [1, 1, 1]", &states[1..], op);
    }
    let error = run_layer(7, op, num_gates, &[int("output_sequence", 1)]).unwrap_err();
    assert!(error.contains("output_sequence"), "{error}");
}

#[test]
fn simple_layers_said_whether_they_return_all_states() {
    let first = 0.5_f64.tanh();
    check_layer("RNN", 1, &[1, 6, 7], [first, (first - 0.25).tanh()]);
}

#[test]
fn long_short_term_memory_said_whether_it_returns_all_states() {
    let step = |x: f64, state: f64, cell: f64| {
        let sum = x + state;
        let cell = sigmoid(sum) * cell + sigmoid(sum) * sum.tanh();
        (sigmoid(sum) * cell.tanh(), cell)
    };
    let (first, cell) = step(0.5, 0.0, 0.0);
    let (second, _) = step(-0.25, first, cell);
    check_layer("LSTM", 4, &[1, 6, 7], [first, second]);
}

#[test]
fn gated_units_reset_before_the_product_in_their_first_version() {
    // The state is reset before it meets the weights, which are one, or after: the same here but
    // for the bias, which there is none of.
    let step = |x: f64, state: f64| {
        let gate = sigmoid(x + state);
        let new = (x + gate * state).tanh();
        (1.0 - gate) * new + gate * state
    };
    let first = step(0.5, 0.0);
    check_layer("GRU", 3, &[1, 3, 6, 7], [first, step(-0.25, first)]);
    let reset = [int("linear_before_reset", 1)];
    // The second version asks; the first does not.
    assert!(run_layer(3, "GRU", 3, &reset).is_ok());
    let error = run_layer(1, "GRU", 3, &reset).unwrap_err();
    assert!(error.contains("linear_before_reset"), "{error}");
}

#[test]
fn gated_units_of_opset_3_may_reset_after_the_product() {
    let layer = |opset: i64, attributes: &[AttributeProto]| {
        let outputs = ["y", "last"];
        let layer = with(
            node("GRU", &["x", "w", "r", "b"], &outputs),
            &[&[int("hidden_size", 1)], attributes].concat(),
        );
        let mut old = model(graph(&["x", "w", "r", "b"], vec![layer], &outputs));
        old.opset_import[0].version = Some(opset);
        let [x, w, r] = operands(3);
        // The bias of the recurrence of the new state is one.
        let bias = tensor(&[1, 6], &[0.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0]);
        run_model(&old, &[x, w, r, ("b", bias)]).unwrap()
    };
    let states = |is_after: bool| {
        let step = |x: f64, state: f64| {
            let gate = sigmoid(x + state);
            let reset = if is_after {
                gate * (state + 1.0)
            } else {
                gate * state + 1.0
            };
            (1.0 - gate) * (x + reset).tanh() + gate * state
        };
        let first = step(0.5, 0.0);
        [first as f32, step(-0.25, first) as f32]
    };
    for opset in [1, 3] {
        let found = layer(opset, &[]);
        assert_near(&found[0], "f32 [2, 1, 1, 1]", &states(false), "before");
    }
    let found = layer(3, &[int("linear_before_reset", 1)]);
    assert_near(&found[0], "f32 [2, 1, 1, 1]", &states(true), "after");
}
