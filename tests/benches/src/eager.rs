//! Ops called from Rust, one by one: what a call costs beside the little that it computes.
//!
//! Each case calls one op of the library on tensors of a few elements, again and again, and drops
//! the result.

use std::sync::Arc;

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;
use tfrt::queue::create_queue;

/// What is called, and how.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name that the command line and the baseline know it by.
    pub name: &'static str,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// An op of one operand that is made once.
    Relu,
    /// The same, waiting for each result.
    ReluSync,
    /// An op of two operands, of which one is stretched.
    Add,
    /// An op that is found by its name, and given its attributes, for each call.
    ByName,
    /// A product of small matrices.
    Product,
}

/// What is measured.
pub const CASES: &[Case] = &[
    case("eager/relu", Form::Relu),
    case("eager/relu_sync", Form::ReluSync),
    case("eager/add", Form::Add),
    case("eager/by_name", Form::ByName),
    case("eager/matmul", Form::Product),
];

const fn case(name: &'static str, form: Form) -> Case {
    Case { name, form }
}

impl Case {
    /// The case of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CASES.iter().copied().find(|case| case.name == name)
    }

    /// Calls the op so often, on a work queue of this name.
    ///
    /// # Errors
    /// If the op fails.
    pub fn run(&self, num_calls: usize, queue: &str) -> Result<()> {
        let registry = KernelRegistry::from_link().map_err(Error::other)?;
        let host = HostContext::builder()
            .registry(Arc::new(registry))
            .queue(create_queue(queue).map_err(Error::other)?)
            .build();
        let eager = EagerContext::builder(host).build()?;
        let product = |eager: &Arc<EagerContext>| {
            eager
                .op("tf.MatMul")?
                .attr("transpose_a", false)?
                .attr("transpose_b", false)
        };
        let vector = eager.tensor([-1.0_f32])?;
        let matrix = eager.tensor([[0.5_f32; 4]; 4])?;
        let repeat = |call: &dyn Fn() -> Result<TensorHandle>| -> Result<()> {
            (0..num_calls).try_for_each(|_| call().map(drop))
        };
        match self.form {
            Form::Relu => {
                let relu = eager.op("tf.Relu")?.ready()?;
                repeat(&|| relu.call(&[&vector]))
            }
            Form::ReluSync => {
                let relu = eager.op("tf.Relu")?.ready()?;
                let _sync = eager.sync_mode();
                repeat(&|| relu.call(&[&vector]))
            }
            Form::Add => {
                let (add, scalar) = (eager.op("tf.AddV2")?.ready()?, eager.tensor(2.0_f32)?);
                repeat(&|| add.call(&[&vector, &scalar]))
            }
            Form::ByName => repeat(&|| product(&eager)?.call(&[&matrix, &matrix])),
            Form::Product => {
                let product = product(&eager)?.ready()?;
                repeat(&|| product.call(&[&matrix, &matrix]))
            }
        }
    }
}
