//! Learns to recognise digits, op by op:
//! `cargo run --release -p tfrt-models --example digits_op_by_op [EPOCHS]`.
//!
//! The network, the digits and the steps are those of `digits/digits_train.mlir`, which is the same
//! as a graph.

use std::sync::Arc;

use tfrt::core::{EagerContext, Op, TensorHandle};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_models::random::Random;

// The ops of the standard library, and the one that draws digits.
tfrt::link!(tfrt_kernels, tfrt_models);

/// The number of digits in a step.
pub const BATCH: i64 = 128;

/// A layer.
#[derive(Debug)]
pub struct Layer {
    /// The weights: a row for each input.
    pub weights: TensorHandle,
    /// The number that is added to each output.
    pub bias: TensorHandle,
    /// The change of the weights in the last step.
    pub velocity: TensorHandle,
}

/// A network of 784 pixels, 512 hidden numbers and 10 digits.
#[derive(Debug)]
pub struct Network {
    /// The context that runs the ops.
    pub eager: Arc<EagerContext>,
    /// The hidden layer and the output layer.
    pub layers: [Layer; 2],
}

impl Network {
    /// Creates a network that knows nothing yet.
    pub fn new(eager: Arc<EagerContext>) -> Result<Self> {
        let random = |rows: i64, columns: i64, bound: f32, seed: u64| {
            let mut random = Random::new(seed, 0);
            let numbers: Vec<f32> = (0..rows * columns)
                .map(|_| random.between(-bound, bound))
                .collect();
            eager
                .op("tf.Reshape")?
                .call(&[&eager.tensor(numbers)?, &eager.tensor([rows, columns])?])
        };
        let layer = |rows, columns, bound, seed| -> Result<Layer> {
            Ok(Layer {
                weights: random(rows, columns, bound, seed)?,
                bias: eager.tensor(vec![0.0_f32; columns as usize])?,
                velocity: random(rows, columns, 0.0, seed)?,
            })
        };
        let layers = [layer(784, 512, 0.0875, 3)?, layer(512, 10, 0.1083, 4)?];
        Ok(Self { eager, layers })
    }

    fn op(&self, name: &str) -> Result<Op> {
        self.eager.op(name)
    }

    /// Returns `a · b`, with either matrix turned if so asked.
    fn product(
        &self,
        a: &TensorHandle,
        b: &TensorHandle,
        turned: [bool; 2],
    ) -> Result<TensorHandle> {
        let product = self.op("tf.MatMul")?.attr("transpose_a", turned[0])?;
        product.attr("transpose_b", turned[1])?.call(&[a, b])
    }

    /// `x · weights + bias` of a layer.
    fn apply(&self, layer: usize, x: &TensorHandle) -> Result<TensorHandle> {
        let Layer { weights, bias, .. } = &self.layers[layer];
        self.op("tf.BiasAdd")?
            .call(&[&self.product(x, weights, [false, false])?, bias])
    }

    /// Runs the network on images. Returns the hidden numbers, and the scores of each digit for
    /// each image.
    pub fn run(&self, images: &TensorHandle) -> Result<[TensorHandle; 2]> {
        let hidden = self.op("tf.Relu")?.call(&[&self.apply(0, images)?])?;
        let logits = self.apply(1, &hidden)?;
        Ok([hidden, logits])
    }

    /// Learns from images and their labels. Returns how wrong the network was about each.
    pub fn learn(
        &mut self,
        images: &TensorHandle,
        labels: &TensorHandle,
        rate: f32,
    ) -> Result<TensorHandle> {
        let [hidden, logits] = self.run(images)?;
        let entropy = self
            .op("tf.SparseSoftmaxCrossEntropyWithLogits")?
            .results(2)
            .ready()?;
        let [losses, gradient] = entropy.call_array(&[&logits, labels])?;
        let back = self.product(&gradient, &self.layers[1].weights, [false, true])?;
        let hidden_gradient = self.op("tf.ReluGrad")?.call(&[&back, &hidden])?;
        self.follow(0, images, &hidden_gradient, rate)?;
        self.follow(1, &hidden, &gradient, rate)?;
        Ok(losses)
    }

    /// Changes a layer against its gradient, with nine tenths of the momentum that it has.
    fn follow(
        &mut self,
        layer: usize,
        x: &TensorHandle,
        gradient: &TensorHandle,
        rate: f32,
    ) -> Result<()> {
        let scaled = |x: TensorHandle, factor: f32| {
            self.op("tf.Mul")?
                .ready()?
                .call_owned([x, self.eager.tensor(factor)?])
        };
        let each = 1.0 / BATCH as f32;
        let slope = self.product(x, gradient, [true, false])?;
        let Layer {
            weights,
            bias,
            velocity,
        } = &self.layers[layer];
        let faster = self
            .op("tf.AddV2")?
            .call(&[&scaled(velocity.clone(), 0.9)?, &scaled(slope, each)?])?;
        let bias_slope = self.op("tf.BiasAddGrad")?.call(&[gradient])?;
        self.layers[layer] = Layer {
            weights: self
                .op("tf.Sub")?
                .call(&[weights, &scaled(faster.clone(), rate)?])?,
            bias: self
                .op("tf.Sub")?
                .call(&[bias, &scaled(bias_slope, each * rate)?])?,
            velocity: faster,
        };
        Ok(())
    }

    /// Images of digits from `first` on, and which digits they are.
    pub fn draw(&self, first: i64, count: i64, seed: i64) -> Result<[TensorHandle; 2]> {
        let draw = self
            .op("digits.Draw")?
            .attr("first", first)?
            .attr("count", count)?;
        draw.attr("seed", seed)?.results(2).ready()?.call_array(&[])
    }

    /// Returns which share of images the network recognises.
    pub fn accuracy(&self, images: &TensorHandle, labels: &TensorHandle) -> Result<f32> {
        let [_, logits] = self.run(images)?;
        self.share_of_right(&logits, labels)
    }

    /// Returns which share of labels is what images look most like.
    pub fn share_of_right(&self, logits: &TensorHandle, labels: &TensorHandle) -> Result<f32> {
        let found = self.op("tf.ArgMax")?.attr("output_type", DType::I32)?;
        let found = found.call(&[logits, &self.eager.tensor(1)?])?;
        let right = self.op("tf.Equal")?.call(&[&found, labels])?;
        let right = self
            .op("tfrt.Cast")?
            .attr("DstT", DType::F32)?
            .call(&[&right])?;
        let share = self
            .op("tf.Mean")?
            .call(&[&right, &self.eager.tensor([0])?])?;
        Ok(self.eager.to_vec::<f32>(&share)?[0])
    }
}

fn main() -> Result<()> {
    let epochs = std::env::args()
        .nth(1)
        .map_or(Ok(2), |count| count.parse())
        .map_err(Error::other)?;
    let registry = KernelRegistry::from_link().map_err(Error::other)?;
    let queue = create_queue("mstd").map_err(Error::other)?;
    let host = HostContext::builder()
        .registry(Arc::new(registry))
        .queue(queue)
        .build();
    let mut network = Network::new(EagerContext::builder(host).build()?)?;
    let [images, labels] = network.draw(0, 2000, 2)?;
    let (mut rate, mut first) = (0.1_f32, 0);
    for epoch in 1..=epochs {
        let mut losses = Vec::new();
        for _ in 0..250 {
            let [images, labels] = network.draw(first, BATCH, 1)?;
            losses.push(network.learn(&images, &labels, rate)?);
            first += BATCH;
        }
        let losses = losses
            .iter()
            .map(|losses| network.eager.to_vec::<f32>(losses));
        let losses = losses.collect::<Result<Vec<_>>>()?.concat();
        let loss = losses.iter().sum::<f32>() / losses.len() as f32;
        let share = 100.0 * network.accuracy(&images, &labels)?;
        println!("epoch {epoch}: loss {loss:.4}, {share:.2}% of 2000 unseen digits are recognised");
        rate *= 0.7;
    }
    Ok(())
}
