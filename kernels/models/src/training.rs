//! Kernels for training in addition to the standard ones: initial weights, the loss with its
//! gradient, and the accuracy.

use tfrt::prelude::*;
use tfrt_compute::softmax;
use tfrt_tensor::DenseHostTensor;

use crate::error::invalid;
use crate::random::Random;

/// Sets each element to a random number between `-bound` and `bound`, all of them as likely: the
/// same numbers for the same seed, on every machine.
#[tfrt_kernel("models.fill_uniform.f32", format = "operands attr-dict")]
fn fill_uniform(tensor: &mut DenseHostTensor, #[attr] bound: f32, #[attr] seed: i64) -> Result<()> {
    let mut random = Random::new(seed as u64, 0);
    let mut elements = tensor.elements_mut::<f32>()?;
    elements.fill_with(|| random.between(-bound, bound));
    Ok(())
}

/// Computes how wrong a classifier is, and which way is better.
///
/// Row i of the logits, which are a matrix, is the output of the classifier for example i, whose
/// class is `labels[i]`, a number of type i32 or i64. The loss is the cross entropy of
/// `softmax(logits)` and the labels, as the mean of all examples. Row i of the gradient is that of
/// the loss of example i alone, `softmax(logits[i])` less one at the label: it is not divided by
/// the number of examples.
///
/// # Errors
/// If shapes differ, there are no examples, or a label is not a class.
#[tfrt_kernel(
    "models.softmax_cross_entropy.f32",
    results(loss),
    format = "operands attr-dict"
)]
fn softmax_cross_entropy(
    logits: &DenseHostTensor,
    labels: &DenseHostTensor,
    gradient: &mut DenseHostTensor,
) -> Result<f32> {
    let [num_examples, num_classes] = logits.shape().to_array()?;
    gradient.expect_shape(logits.shape())?;
    let labels = match labels.dtype() {
        DType::I64 => labels.elements::<i64>()?.to_vec(),
        _ => labels
            .elements::<i32>()?
            .iter()
            .map(|&label| label.into())
            .collect(),
    };
    let expected = one_of_each(&labels, num_examples, num_classes)?;
    let mut losses = vec![0.0; num_examples];
    softmax::softmax_cross_entropy(
        num_classes,
        &logits.elements::<f32>()?,
        &expected,
        &mut losses,
        &mut gradient.elements_mut::<f32>()?,
    )?;
    mean(&losses)
}

/// Returns the labels as rows of zeros, with a one at the place of each label.
fn one_of_each(labels: &[i64], num_examples: usize, num_classes: usize) -> Result<Vec<f32>> {
    if labels.len() != num_examples {
        return Err(invalid(format!(
            "expected a label for each of {num_examples} examples, found {}",
            labels.len()
        )));
    }
    let mut rows = vec![0.0; num_examples * num_classes];
    for (example, &label) in labels.iter().enumerate() {
        let class = usize::try_from(label)
            .ok()
            .filter(|class| *class < num_classes);
        let class = class.ok_or_else(|| {
            invalid(format!(
                "example {example}: expected a label below {num_classes}, found {label}"
            ))
        })?;
        rows[example * num_classes + class] = 1.0;
    }
    Ok(rows)
}

fn mean(numbers: &[f32]) -> Result<f32> {
    if numbers.is_empty() {
        return Err(invalid("expected examples, found none"));
    }
    Ok(numbers.iter().sum::<f32>() / numbers.len() as f32)
}

/// Tells how much of two tensors of one shape is equal, from 0 to 1: the accuracy of predictions
/// with respect to labels.
///
/// # Errors
/// If shapes differ, or there are no elements.
#[tfrt_kernel(
    "models.share_of_equal.i32",
    results(share),
    format = "operands attr-dict"
)]
fn share_of_equal(a: &DenseHostTensor, b: &DenseHostTensor) -> Result<f32> {
    b.expect_shape(a.shape())?;
    let (a, b) = (a.elements::<i32>()?, b.elements::<i32>()?);
    if a.is_empty() {
        return Err(invalid("expected elements, found none"));
    }
    let num_equal = a.iter().zip(&*b).filter(|(a, b)| a == b).count();
    Ok((num_equal as f64 / a.len() as f64) as f32)
}
