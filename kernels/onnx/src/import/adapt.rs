//! Conversion of older versions of ops to the newest one: attributes that became operands.
//!
//! The lowering of an op handles other changes of meaning.

use tfrt_import::ImportError;
use tfrt_tensor::DenseHostTensor;

use super::call::{Call, numbers_tensor, scalar};

/// An attribute that became an operand: the op, the first version with the operand, the attribute,
/// the place of the operand.
const MOVED: &[(&str, i64, &str, usize)] = &[
    ("Reshape", 5, "shape", 1),
    ("Slice", 10, "starts", 1),
    ("Slice", 10, "ends", 2),
    ("Slice", 10, "axes", 3),
    ("TopK", 10, "k", 1),
    ("Clip", 11, "min", 1),
    ("Clip", 11, "max", 2),
    ("Pad", 11, "pads", 1),
    ("Pad", 11, "paddings", 1),
    ("Pad", 11, "value", 2),
    ("Squeeze", 13, "axes", 1),
    ("Unsqueeze", 13, "axes", 1),
    ("Split", 13, "split", 1),
    ("ReduceSum", 13, "axes", 1),
    ("ReduceMean", 18, "axes", 1),
    ("ReduceMax", 18, "axes", 1),
    ("ReduceMin", 18, "axes", 1),
    ("ReduceProd", 18, "axes", 1),
    ("ReduceL1", 18, "axes", 1),
    ("ReduceL2", 18, "axes", 1),
    ("ReduceLogSum", 18, "axes", 1),
    ("ReduceLogSumExp", 18, "axes", 1),
    ("ReduceSumSquare", 18, "axes", 1),
    ("Upsample", 9, "scales", 1),
];

/// Brings a node to the form of the newest version of its op.
pub(super) fn adapt(call: &mut Call<'_, '_>) -> Result<(), ImportError> {
    if (call.op, call.since) == ("Upsample", 1) {
        // Images only: a factor for their height and one for their width.
        let [height, width] =
            ["height_scale", "width_scale"].map(|name| call.float(name).unwrap_or(1.0));
        let scales = DenseHostTensor::vector(&[1.0, 1.0, height, width]);
        let scales = scales.map_err(|error| ImportError::new(error.to_string()))?;
        call.attribute_to_operand("height_scale", 1, scales)?;
    }
    for &(op, since, name, index) in MOVED {
        if op != call.op || call.since >= since {
            continue;
        }
        let tensor: Option<DenseHostTensor> = if let Some(numbers) = call.ints(name) {
            Some(numbers_tensor(numbers)?)
        } else if let Some(number) = call.int(name) {
            Some(numbers_tensor(&[number])?)
        } else if let Some(number) = call.float(name) {
            // Zeros are what is padded with anyway.
            let is_missing = (op, name) == ("Pad", "value") && number.to_bits() == 0;
            match is_missing {
                true => None,
                false => Some(scalar(number)?),
            }
        } else if let Some(numbers) = call.floats(name) {
            let made = DenseHostTensor::vector(numbers);
            Some(made.map_err(|error| ImportError::new(error.to_string()))?)
        } else {
            None
        };
        if let Some(tensor) = tensor {
            call.attribute_to_operand(name, index, tensor)?;
        }
    }
    Ok(())
}
