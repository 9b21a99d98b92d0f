//! The errors in a body that is to be written.

use std::fmt;

use super::AttributeId;
use crate::ids::{FunctionId, KernelCode, RegisterId, TypeNameId};

/// The problem of a [`Body`](super::Body).
///
/// ```
/// use tfrt_bef::write::BodyError;
///
/// let problem = BodyError::ResultCount { expected: 1, found: 0 };
/// assert_eq!(problem.to_string(), "expected 1 results, found 0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// The body does not have the arguments of its function.
    ArgumentCount {
        /// The number of arguments of the function.
        expected: usize,
        /// The number of arguments of the body.
        found: usize,
    },
    /// The body does not have the results of its function.
    ResultCount {
        /// The number of results of the function.
        expected: usize,
        /// The number of results of the body.
        found: usize,
    },
    /// A register has a type that was not added.
    UnknownType(TypeNameId),
    /// The kernels do not define every register after the arguments once, in order.
    Definitions {
        /// The number of registers.
        num_registers: usize,
    },
    /// An operation refers to something that does not exist.
    Operation {
        /// The number of the operation, from 0.
        operation: usize,
        /// The missing part.
        problem: OperationError,
    },
    /// A result is a register that does not exist.
    UnknownResult {
        /// The number of registers.
        num_registers: usize,
        /// The result.
        result: RegisterId,
    },
}

/// The problem of one operation of a [`Body`](super::Body).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperationError {
    /// An operand is a register that does not exist.
    UnknownRegister {
        /// The number of registers.
        num_registers: usize,
        /// The operand.
        operand: RegisterId,
    },
    /// The kernel was not added.
    UnknownKernel(KernelCode),
    /// A function was not declared.
    UnknownFunction(FunctionId),
    /// An attribute was not added.
    UnknownAttribute(AttributeId),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArgumentCount { expected, found } => {
                write!(f, "expected {expected} arguments, found {found}")
            }
            Self::ResultCount { expected, found } => {
                write!(f, "expected {expected} results, found {found}")
            }
            Self::UnknownType(index) => {
                write!(f, "expected registers of known types, found {index:?}")
            }
            Self::Definitions { num_registers } => write!(
                f,
                "expected one definition for each register below {num_registers}, in order"
            ),
            Self::Operation { operation, problem } => {
                write!(f, "operation {operation}: {problem}")
            }
            Self::UnknownResult {
                num_registers,
                result,
            } => write!(
                f,
                "expected a result register below {num_registers}, found {result:?}"
            ),
        }
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRegister {
                num_registers,
                operand,
            } => write!(
                f,
                "expected a register below {num_registers}, found {operand:?}"
            ),
            Self::UnknownKernel(code) => {
                write!(f, "expected a known kernel, found {code:?}")
            }
            Self::UnknownFunction(function) => {
                write!(f, "expected a declared function, found {function:?}")
            }
            Self::UnknownAttribute(value) => {
                write!(f, "expected a known attribute, found {value:?}")
            }
        }
    }
}

impl std::error::Error for BodyError {}

impl std::error::Error for OperationError {}
