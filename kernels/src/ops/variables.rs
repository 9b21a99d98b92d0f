//! Variables: tensors that ops change, as resources.
//!
//! ```text
//!  tfrt.NewVariable(value) ──► variable ─┬─ tf.ReadVariableOp ──► value
//!                                        ├─ tf.AssignVariableOp
//!                                        └─ tf.AssignAddVariableOp, tf.AssignSubVariableOp
//! ```
//!
//! A value that was read never changes: a variable adds in its own memory only if there are no
//! other references to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tfrt::prelude::*;
use tfrt_compute::binary::Binary;
use tfrt_tensor::{DenseHostTensor, ResourceTensor};

use super::element_wise::arithmetic;
use super::{dense, invalid};

/// A mutable tensor with a fixed element type and shape.
#[derive(Debug)]
pub struct TensorVariable {
    value: Mutex<DenseHostTensor>,
}

impl TensorVariable {
    fn lock(&self) -> MutexGuard<'_, DenseHostTensor> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a variable with this value. Its element type and shape are fixed.
#[tfrt_op("tfrt.NewVariable", metadata = a_resource, function = new_variable)]
pub fn make_variable(value: &DenseHostTensor) -> ResourceTensor {
    let value = Mutex::new(value.clone());
    ResourceTensor::new(TensorVariable { value })
}

fn a_resource(_value: &TensorMetadata) -> TensorMetadata {
    TensorMetadata::new(DType::Resource, [])
}

/// Returns the value of a variable.
#[tfrt_op("tf.ReadVariableOp", reads = "variables", function = read_variable)]
pub fn value_of(#[resource] variable: &TensorVariable) -> DenseHostTensor {
    variable.lock().clone()
}

/// Assigns another value to a variable.
///
/// # Errors
/// If the element type or the shape differs.
#[tfrt_op("tf.AssignVariableOp", effect = "variables", function = assign)]
pub fn set_value(#[resource] variable: &TensorVariable, value: &DenseHostTensor) -> Result<()> {
    let mut current = variable.lock();
    check("tf.AssignVariableOp", &current, value)?;
    *current = value.clone();
    Ok(())
}

/// Adds to the value of a variable; integers wrap around.
///
/// # Errors
/// If the element type or the shape differs, or the type does not support addition.
#[tfrt_op("tf.AssignAddVariableOp", effect = "variables", function = assign_add)]
pub fn add_to_value(
    #[resource] variable: &TensorVariable,
    value: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<()> {
    update("tf.AssignAddVariableOp", Binary::Add, variable, value, ctx)
}

/// Subtracts from the value of a variable; integers wrap around.
///
/// # Errors
/// Those of `tf.AssignAddVariableOp`.
#[tfrt_op("tf.AssignSubVariableOp", effect = "variables", function = assign_sub)]
pub fn subtract_from_value(
    #[resource] variable: &TensorVariable,
    value: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<()> {
    update("tf.AssignSubVariableOp", Binary::Sub, variable, value, ctx)
}

fn check(op: &str, current: &DenseHostTensor, value: &DenseHostTensor) -> Result<()> {
    let (expected, found) = (current.metadata(), value.metadata());
    if expected == found {
        return Ok(());
    }
    Err(invalid(format!(
        "`{op}`: expected a value {expected}, like the variable, found {found}"
    )))
}

fn update(
    op: &str,
    function: Binary,
    variable: &TensorVariable,
    value: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<()> {
    let mut current = variable.lock();
    let operand = dense(value)?;
    check(op, &current, &operand)?;
    // The sum takes the memory of its first operand where this is the only reference.
    let before = AnyRef::available(std::mem::replace(&mut *current, operand));
    let updated = arithmetic(function, &before, value, ctx).and_then(|sum| dense(&sum));
    match updated {
        Ok(sum) => {
            *current = sum;
            Ok(())
        }
        Err(error) => {
            *current = dense(&before)?;
            Err(error)
        }
    }
}
