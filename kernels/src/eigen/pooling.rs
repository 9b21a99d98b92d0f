//! Max pooling.

use tfrt::prelude::*;
use tfrt_compute::convolution::Padding;
use tfrt_compute::pooling::Pooling;
use tfrt_tensor::DenseHostTensor;

use super::window::window;
use crate::numeric::start_rows;

/// Returns the greatest element of each window.
///
/// A window without an element above the smallest positive normal number yields that number, as in
/// the reference.
///
/// # Errors
/// `padding type is not supported` unless it is `SAME`, `same`, `VALID` or `valid`,
/// `strides should have 2 elements`, `ksize should have 2 elements`,
/// `output tensor has the wrong shape`, `Stride must be > 0, but got N`.
#[tfrt_kernel("eigen.max_pooling_2d.f32", results(out_chain), attribute_names = free)]
fn max_pooling_2d(
    input: &DenseHostTensor,
    output: &mut DenseHostTensor,
    _in_chain: Chain,
    #[attr] padding: &str,
    #[attr] pool_size: &[i64],
    #[attr] strides: &[i64],
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let padding = match padding {
        "SAME" | "same" => Padding::Same,
        "VALID" | "valid" => Padding::Valid,
        _ => return Err(Error::new("padding type is not supported")),
    };
    let &[row_stride, column_stride] = strides else {
        return Err(Error::new("strides should have 2 elements"));
    };
    let &[pool_height, pool_width] = pool_size else {
        return Err(Error::new("ksize should have 2 elements"));
    };
    let [batch, height, width, channels] = input.shape().to_array()?;
    let rows = window(height, size(pool_height)?, row_stride, padding)?;
    let columns = window(width, size(pool_width)?, column_stride, padding)?;
    if output.shape().dims() != [batch, rows.output, columns.output, channels] {
        return Err(Error::new("output tensor has the wrong shape"));
    }
    let pooling = Pooling::new(batch, rows, columns, channels)?;
    let operations = pooling
        .output_len()
        .saturating_mul(rows.size.saturating_mul(columns.size));
    let input = input.elements_owned::<f32>()?;
    let output = output.elements_mut_owned()?;
    start_rows(
        ctx,
        output,
        pooling.line_len(),
        operations,
        move |lines, part| {
            pooling
                .max_lines(f32::MIN_POSITIVE, &input, lines, part)
                .expect("the tensors have the shapes of the pooling");
        },
    )
}

fn size(extent: i64) -> Result<usize> {
    usize::try_from(extent).map_err(|_| {
        Error::new(format!("expected a positive window size, found {extent}"))
            .with_code(ErrorCode::InvalidArgument)
    })
}
