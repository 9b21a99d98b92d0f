//! The network that recognises digits, op by op: the example, against the same network as a graph.

#[path = "../../examples/digits_op_by_op.rs"]
#[expect(dead_code, reason = "its `main` trains for longer than a test may")]
mod example;

use std::sync::Arc;

use example::{BATCH, Network};
use tfrt::core::{EagerContext, TensorHandle};
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

#[test]
fn stored_weights_recognise_op_by_op_what_they_recognise_as_a_graph() {
    let mut network = Network::new(eager("s")).unwrap();
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
    let [images, labels] = network.draw(0, 300, 2).unwrap();
    let accuracy = network.accuracy(&images, &labels).unwrap();
    assert!(accuracy > 0.96, "{accuracy}");
}
