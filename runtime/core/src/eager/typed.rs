//! The parts of functions that call an op: `#[tfrt_op("my.Op", function = name)]` generates a
//! function that begins a call, passes operands and attributes in the order of the signature, and
//! ends the call.

use std::sync::Arc;

use smallvec::SmallVec;
use tfrt_attr::ToOpAttr;
use tfrt_support::Error;

use super::{EagerContext, Op, at_caller};
use crate::handle::TensorHandle;

/// Most ops have at most this many operands.
const NUM_IN_PLACE: usize = 4;

/// A call of an op under construction.
#[derive(Debug)]
pub struct TypedCall<'a> {
    op: Op,
    operands: SmallVec<[&'a TensorHandle; NUM_IN_PLACE]>,
}

impl<'a> TypedCall<'a> {
    /// Begins a call.
    ///
    /// # Errors
    /// If no device has the op.
    #[track_caller]
    pub fn new(eager: &Arc<EagerContext>, name: &str) -> Result<Self, Error> {
        Ok(Self {
            op: eager.op(name)?,
            operands: SmallVec::new(),
        })
    }

    /// Passes the next operand.
    pub fn operand(&mut self, operand: &'a TensorHandle) {
        self.operands.push(operand);
    }

    /// Passes the next operand, or omits it. An op has at most one such operand, so the number of
    /// operands shows whether it is present.
    pub fn operand_if_given(&mut self, operand: Option<&'a TensorHandle>) {
        self.operands.extend(operand);
    }

    /// Passes all remaining operands.
    pub fn operands(&mut self, operands: &[&'a TensorHandle]) {
        self.operands.extend_from_slice(operands);
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// Those of [`Op::attr`].
    #[track_caller]
    pub fn attribute(&mut self, name: &str, value: impl ToOpAttr) -> Result<(), Error> {
        self.op.set_attr(name, value).map_err(at_caller())
    }

    /// Sets an attribute, or omits it.
    ///
    /// # Errors
    /// Those of [`Op::attr`].
    #[track_caller]
    pub fn attribute_if_given(
        &mut self,
        name: &str,
        value: Option<impl ToOpAttr>,
    ) -> Result<(), Error> {
        match value {
            Some(value) => self.attribute(name, value),
            None => Ok(()),
        }
    }

    /// Calls an op without results.
    ///
    /// # Errors
    /// Those of [`ReadyOp::call`](super::ReadyOp::call).
    #[track_caller]
    pub fn nothing(self) -> Result<(), Error> {
        let [] = self.several()?;
        Ok(())
    }

    /// Calls an op with one result.
    ///
    /// # Errors
    /// Those of [`ReadyOp::call`](super::ReadyOp::call).
    #[track_caller]
    pub fn one(self) -> Result<TensorHandle, Error> {
        self.op.call(&self.operands)
    }

    /// Calls an op with `N` results.
    ///
    /// # Errors
    /// Those of [`ReadyOp::call_array`](super::ReadyOp::call_array).
    #[track_caller]
    pub fn several<const N: usize>(self) -> Result<[TensorHandle; N], Error> {
        self.op.ready()?.call_array(&self.operands)
    }

    /// Calls an op whose number of results the caller chooses.
    ///
    /// # Errors
    /// Those of [`ReadyOp::call`](super::ReadyOp::call).
    #[track_caller]
    pub fn any_number(self, num_results: usize) -> Result<Vec<TensorHandle>, Error> {
        let op = self.op.results(num_results);
        op.ready()?.call_all(&self.operands)
    }
}
