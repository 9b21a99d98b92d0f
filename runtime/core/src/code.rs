//! The code that calls the functions of ops.
//!
//! A program and each kernel library in it have their own copies of this crate and of the standard
//! library. A copy of the standard library catches only its own panics, so the functions of an op
//! are called by the copy that contains them.

use std::fmt;

use tfrt_host::__runtime::catch;
use tfrt_support::Error;

use crate::device_op::kernel;
use crate::metadata::partial::PartialMetadata;
use crate::op::{
    OpCall, OpCostFunction, OpFunction, OpPartialFunction, OpQuery, PartialQuery, ResultMetadata,
};
use crate::registry::{RegisteredOp, Runner};

/// The functions of one copy of this crate that call functions of ops. They return panics as
/// errors.
pub(crate) struct OpCode {
    pub(crate) result_metadata: fn(&RegisteredOp, &OpQuery<'_>) -> Result<ResultMetadata, Error>,
    pub(crate) partial_metadata:
        fn(OpPartialFunction, &PartialQuery<'_>) -> Result<Vec<PartialMetadata>, Error>,
    pub(crate) cost: fn(OpCostFunction, &OpQuery<'_>) -> Result<f64, Error>,
    pub(crate) run: fn(OpFunction, &mut OpCall<'_>) -> Result<(), Error>,
}

/// The code of this copy.
pub(crate) static OF_THIS_COPY: OpCode = OpCode {
    result_metadata: |op, query| catch(query.op, || result_metadata(op, query)),
    partial_metadata: |function, query| catch(query.op, || function(query)),
    cost: |function, query| catch(query.op, || function(query)),
    run: |function, call| catch(call.op, || function(call)),
};

fn result_metadata(op: &RegisteredOp, query: &OpQuery<'_>) -> Result<ResultMetadata, Error> {
    match (op.metadata_function(), &op.runner) {
        (Some(function), _) => function(query),
        (None, Runner::Kernel(kernel)) => {
            kernel::metadata(*kernel.descriptor(), query.operands, query.attrs)
        }
        (None, _) => Ok(ResultMetadata::new()),
    }
}

impl fmt::Debug for OpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpCode").finish_non_exhaustive()
    }
}
