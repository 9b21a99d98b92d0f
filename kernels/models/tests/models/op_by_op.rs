//! The network that recognises digits, op by op and as one op: the example, against the same
//! network as a graph.

#[path = "../../examples/digits_op_by_op.rs"]
#[expect(dead_code, reason = "its `main` trains for longer than a test may")]
mod example;

use std::sync::Arc;

use example::{BATCH, Layer, Network};
use tfrt::core::{EagerContext, ReadyOp, TensorHandle};
use tfrt::function_ops::{FunctionOps, FunctionProgram};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt::testing;
use tfrt_tensor::DenseHostTensor;

use crate::digits::{mean_loss, small_numbers};

fn eager(queue: &str) -> Arc<EagerContext> {
    let host = HostContext::builder()
        .registry(Arc::new(KernelRegistry::from_link().unwrap()))
        .queue(create_queue(queue).unwrap())
        .build();
    EagerContext::builder(host).build().unwrap()
}

fn matrix(eager: &Arc<EagerContext>, dims: [i64; 2], elements: Vec<f32>) -> TensorHandle {
    let operands = [eager.tensor(elements).unwrap(), eager.tensor(dims).unwrap()];
    let reshape = eager.op("tf.Reshape").unwrap().ready().unwrap();
    reshape.call_owned(operands).unwrap()
}

#[test]
fn training_op_by_op_is_training_as_a_graph() {
    for queue in ["s", "mstd:2"] {
        let mut network = Network::new(eager(queue)).unwrap();
        let [hidden, output] = [
            small_numbers(&[784, 512], 0.0875),
            small_numbers(&[512, 10], 0.1083),
        ];
        network.layers[0].weights = matrix(&network.eager, [784, 512], hidden);
        network.layers[1].weights = matrix(&network.eager, [512, 10], output);
        let mut losses = Vec::new();
        for step in 0..3 {
            let [images, labels] = network.draw(step * BATCH, BATCH, 1).unwrap();
            let of_step = network.learn(&images, &labels, 0.1).unwrap();
            losses.extend(network.eager.to_vec::<f32>(&of_step).unwrap());
        }
        let mean = losses.iter().sum::<f32>() / losses.len() as f32;
        let expected = mean_loss(3);
        assert!(
            (mean - expected).abs() < 1e-4,
            "{queue}: {mean} and {expected}"
        );
    }
}

/// Returns the stored weights: of each layer the weights and the bias.
fn stored_network(queue: &str) -> Network {
    let mut network = Network::new(eager(queue)).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/digits/weights.safetensors");
    let stored = |name: &str, dims: &[i64]| {
        let read = testing::kernel("models.read_tensor.f32").operands((file,));
        let outcome = read.attribute("name", name).attribute("shape", dims).run();
        let mut elements = Vec::new();
        outcome.with_value(0, |tensor: &DenseHostTensor| {
            elements = tensor.elements::<f32>().unwrap().to_vec();
        });
        elements
    };
    let eager = Arc::clone(&network.eager);
    network.layers[0].weights = matrix(&eager, [784, 512], stored("hidden.weight", &[784, 512]));
    network.layers[0].bias = eager.tensor(stored("hidden.bias", &[512])).unwrap();
    network.layers[1].weights = matrix(&eager, [512, 10], stored("output.weight", &[512, 10]));
    network.layers[1].bias = eager.tensor(stored("output.bias", &[10])).unwrap();
    network
}

/// Returns a function of `digits_ops.mlir`, as an op.
fn function_op(eager: &Arc<EagerContext>, name: &str) -> ReadyOp {
    let text = include_str!("../../digits/digits_ops.mlir");
    let program = FunctionProgram::from_text(text, "digits_ops.mlir", eager.host().registry());
    let program = program.unwrap_or_else(|found| panic!("{found}"));
    eager.function_op(&program, name).unwrap()
}

fn bits(eager: &EagerContext, handle: &TensorHandle) -> Vec<u32> {
    let elements = eager.to_vec::<f32>(handle).unwrap();
    elements.into_iter().map(f32::to_bits).collect()
}

#[test]
fn stored_weights_recognise_as_much_op_by_op_and_as_one_op_as_in_the_graph() {
    // What the README shows of the graph.
    const RECORDED: &str = "99.2 % of 1000 digits are recognised";
    assert!(include_str!("../../../../README.md").contains(RECORDED));
    for queue in ["s", "mstd:2"] {
        let network = stored_network(queue);
        let eager = &network.eager;
        let [images, labels] = network.draw(0, 1000, 2).unwrap();
        let [_, logits] = network.run(&images).unwrap();
        let [hidden, output] = &network.layers;
        let whole = function_op(eager, "network")
            .call(&[
                &images,
                &hidden.weights,
                &hidden.bias,
                &output.weights,
                &output.bias,
            ])
            .unwrap();
        assert_eq!(bits(eager, &whole), bits(eager, &logits), "under {queue}");
        for logits in [&logits, &whole] {
            let share = network.share_of_right(logits, &labels).unwrap();
            let found = format!("{:.1} % of 1000 digits are recognised", 100.0 * share);
            assert_eq!(found, RECORDED, "under {queue}");
        }
    }
}

#[test]
fn training_as_one_op_is_training_op_by_op() {
    for queue in ["s", "mstd:2"] {
        let mut network = Network::new(eager(queue)).unwrap();
        let eager = Arc::clone(&network.eager);
        let learn = function_op(&eager, "learn");
        let rate = eager.tensor(0.1_f32).unwrap();
        let mut layers: Vec<TensorHandle> = Vec::new();
        for Layer {
            weights,
            bias,
            velocity,
        } in &network.layers
        {
            layers.extend([weights.clone(), bias.clone(), velocity.clone()]);
        }
        for step in 0..2 {
            let [images, labels] = network.draw(step * BATCH, BATCH, 1).unwrap();
            let mut arguments = vec![&images, &labels, &rate];
            arguments.extend(&layers);
            let mut results = learn.call_all(&arguments).unwrap();
            layers = results.split_off(1);
            let losses = network.learn(&images, &labels, 0.1).unwrap();
            assert_eq!(
                bits(&eager, &results[0]),
                bits(&eager, &losses),
                "step {step}"
            );
        }
        let [hidden, output] = &network.layers;
        let one_by_one = [
            &hidden.weights,
            &hidden.bias,
            &hidden.velocity,
            &output.weights,
            &output.bias,
            &output.velocity,
        ];
        for (whole, one_by_one) in layers.iter().zip(one_by_one) {
            assert_eq!(
                bits(&eager, whole),
                bits(&eager, one_by_one),
                "under {queue}"
            );
        }
    }
}
