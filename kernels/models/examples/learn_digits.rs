//! Learns to recognise digits in forty lines, from Rust, one op after another:
//! `cargo run --release -p tfrt-models --example learn_digits`.

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;
use tfrt_kernels::ops::element_wise::{mul, relu, sub};
use tfrt_kernels::ops::gradients::{relu_grad, sparse_softmax_cross_entropy};
use tfrt_kernels::ops::{layout::reshape, products::matmul, reductions::argmax};
use tfrt_models::random::Random;

tfrt::link!(tfrt_kernels, tfrt_models);

fn main() -> Result<()> {
    let registry = KernelRegistry::from_link().map_err(Error::other)?;
    let host = HostContext::builder().registry(registry.into()).build();
    let eager = &EagerContext::builder(host).build()?;
    let digits = |first: i64, count: i64, seed: i64| -> Result<[TensorHandle; 2]> {
        let draw = eager.op("digits.Draw")?.attr("first", first)?;
        let draw = draw.attr("count", count)?.attr("seed", seed)?;
        draw.results(2).ready()?.call_array(&[])
    };
    let product = |a: &TensorHandle, b: &TensorHandle, turned: [bool; 2]| {
        matmul(eager, a, b, Some(turned[0]), Some(turned[1]))
    };
    let weights = |rows: i64, columns: i64, bound: f32| {
        let mut random = Random::new(rows.unsigned_abs(), 0);
        let numbers = (0..rows * columns).map(|_| random.between(-bound, bound));
        let numbers = eager.tensor(numbers.collect::<Vec<f32>>())?;
        reshape(eager, &numbers, &eager.tensor([rows, columns])?)
    };
    let (mut first, mut second) = (weights(784, 128, 0.08)?, weights(128, 10, 0.2)?);
    let rate = eager.tensor(0.002_f32)?;
    for step in 0..400 {
        let [images, labels] = digits(128 * step, 128, 1)?;
        let hidden = relu(eager, &product(&images, &first, [false, false])?)?;
        let guesses = product(&hidden, &second, [false, false])?;
        let [_, slope] = sparse_softmax_cross_entropy(eager, &guesses, &labels)?;
        let back = product(&slope, &second, [false, true])?;
        let back = relu_grad(eager, &back, &hidden)?;
        let change = |x: &TensorHandle, slope: &TensorHandle| {
            mul(eager, &product(x, slope, [true, false])?, &rate)
        };
        second = sub(eager, &second, &change(&hidden, &slope)?)?;
        first = sub(eager, &first, &change(&images, &back)?)?;
    }
    let [images, labels] = digits(0, 1000, 2)?;
    let hidden = relu(eager, &product(&images, &first, [false, false])?)?;
    let guesses = product(&hidden, &second, [false, false])?;
    let guesses = argmax(eager, &guesses, &eager.tensor(1)?, Some(DType::I32))?;
    let (guesses, labels) = (
        eager.to_vec::<i32>(&guesses)?,
        eager.to_vec::<i32>(&labels)?,
    );
    let right = guesses.iter().zip(&labels).filter(|(a, b)| a == b).count();
    println!("{right} of {} unseen digits are recognised", labels.len());
    assert!(right > 500, "a guess would be right for one in ten");
    Ok(())
}
