//! The network of 784, 512 and 10 neurons that recognises digits, in three forms: as a graph of
//! kernels, op by op, and as a function that is an op.
//!
//! The forms take turns, so that whatever else the machine does meets all of them alike; the least
//! time of each is what is told. What they compute is compared first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt::core::{EagerContext, ReadyOp, TensorHandle};
use tfrt::executor::Program;
use tfrt::function_ops::{FunctionOps, FunctionProgram};
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_tensor::{DenseHostTensor, Shape};

const TEXT: &str = include_str!("../../../kernels/models/digits/digits_ops.mlir");

/// The forms, in the order in which they are shown.
pub const FORMS: [&str; 3] = ["graph", "op by op", "function as an op"];

/// The network in its three forms, with weights and images.
struct Forms {
    eager: Arc<EagerContext>,
    ctx: ExecutionContext,
    graph: FunctionRef,
    whole: ReadyOp,
    product: ReadyOp,
    bias_add: ReadyOp,
    relu: ReadyOp,
    /// The images, and of each layer the weights and the bias.
    operands: [TensorHandle; 5],
}

/// Numbers between -1 and 1, the same for the same dimensions.
fn numbers(dims: [usize; 2]) -> impl Iterator<Item = f32> {
    let mut state = (dims[0] * 31 + dims[1]) as u64;
    std::iter::repeat_with(move || {
        // The multiplier and the increment of PCG's generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    })
}

impl Forms {
    fn new(num_images: usize, queue: &str) -> Result<Self> {
        let registry = Arc::new(KernelRegistry::from_link().map_err(Error::other)?);
        let host = HostContext::builder()
            .registry(Arc::clone(&registry))
            .queue(create_queue(queue).map_err(Error::other)?)
            .build();
        let eager = EagerContext::builder(Arc::clone(&host)).build()?;
        let text = TEXT.replace("[128 : i64", &format!("[{num_images} : i64"));
        let file =
            tfrt::text::compile(&text, "digits_ops.mlir", &registry).map_err(Error::other)?;
        let program = Program::load(&host, &file)?;
        let missing = || Error::new("the program has no function `graph`");
        let graph = program.function("graph").ok_or_else(missing)?;
        let program = FunctionProgram::from_text(&text, "digits_ops.mlir", &registry);
        let whole = eager.function_op(&program.map_err(Error::other)?, "network")?;
        let product = eager.op("tf.MatMul")?.attr("transpose_a", false)?;
        let tensor = |dims: [usize; 2], is_vector: bool| {
            let bound = 1.0 / (dims[0] as f32).sqrt();
            let elements = numbers(dims).map(|number| bound * number);
            let elements: Vec<f32> = elements.take(dims[0] * dims[1]).collect();
            let shape = Shape::new(if is_vector { &dims[1..] } else { &dims[..] })?;
            let tensor = DenseHostTensor::from_elements(host.allocator(), shape, &elements)?;
            eager.tensor(tensor)
        };
        let operands = [
            tensor([num_images, 784], false)?,
            tensor([784, 512], false)?,
            tensor([1, 512], true)?,
            tensor([512, 10], false)?,
            tensor([1, 10], true)?,
        ];
        Ok(Self {
            ctx: ExecutionContext::new(RequestContextBuilder::new(host).build()),
            graph,
            whole,
            product: product.attr("transpose_b", false)?.ready()?,
            bias_add: eager.op("tf.BiasAdd")?.ready()?,
            relu: eager.op("tf.Relu")?.ready()?,
            operands,
            eager,
        })
    }

    /// What the network makes of the images, in one of the [forms](FORMS).
    fn run(&self, form: usize) -> Result<AnyRef> {
        let [images, w1, b1, w2, b2] = &self.operands;
        let logits = match form {
            0 => {
                let tensors = self.operands.iter().filter_map(TensorHandle::tensor);
                let tensors: Vec<AnyRef> = tensors.cloned().collect();
                let results = self.graph.execute(&self.ctx, &tensors);
                self.ctx.host().await_values(&results)?;
                return Ok(results[1].clone());
            }
            1 => {
                let sum = self
                    .bias_add
                    .call(&[&self.product.call(&[images, w1])?, b1])?;
                let hidden = self.relu.call_owned([sum])?;
                self.bias_add
                    .call(&[&self.product.call(&[&hidden, w2])?, b2])?
            }
            _ => self.whole.call(&[images, w1, b1, w2, b2])?,
        };
        self.eager.wait(&logits).cloned()
    }

    fn elements(&self, form: usize) -> Result<Vec<f32>> {
        let logits = self.run(form)?;
        let logits = logits.try_read::<DenseHostTensor>()?;
        Ok(logits.elements::<f32>()?.to_vec())
    }

    /// That all forms compute the same, but for the order in which numbers are added.
    fn compare(&self) -> Result<()> {
        let expected = self.elements(0)?;
        for (form, name) in FORMS.iter().enumerate() {
            let found = self.elements(form)?;
            let is_close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
            if found.len() != expected.len() || !found.iter().zip(&expected).all(is_close) {
                let message = format!("the form `{name}` computes something else than the graph");
                return Err(Error::new(message));
            }
        }
        Ok(())
    }

    /// The least time of each form.
    fn times(&self, num_runs: usize) -> Result<[Duration; FORMS.len()]> {
        let mut least = [Duration::MAX; FORMS.len()];
        for _ in 0..num_runs {
            for (form, least) in least.iter_mut().enumerate() {
                let start = Instant::now();
                drop(self.run(form)?);
                *least = start.elapsed().min(*least);
            }
        }
        Ok(least)
    }
}

/// Prints how long each form takes for one image and for many.
///
/// # Errors
/// If the forms do not compute the same.
pub fn print(num_runs: usize) -> Result<()> {
    println!(
        "{:<8} {:<20} {:>12}   of the graph",
        "images", "form", "time"
    );
    for num_images in [1, 16, 128] {
        let forms = Forms::new(num_images, "s")?;
        forms.compare()?;
        let times = forms.times(num_runs.max(1))?;
        for (name, time) in FORMS.iter().zip(times) {
            let micros = time.as_secs_f64() * 1e6;
            let ratio = time.as_secs_f64() / times[0].as_secs_f64();
            println!("{num_images:<8} {name:<20} {micros:>9.1} us   {ratio:.2}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_compute_the_same() {
        for queue in ["s", "mstd:2"] {
            let forms = Forms::new(2, queue).unwrap();
            forms.compare().unwrap();
        }
    }
}
