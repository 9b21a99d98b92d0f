//! Faults of running work.

use tfrt_ptx::FaultKind;

use crate::api::Status;

/// Work that failed. It makes its context unusable.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) status: Status,
    pub(super) message: String,
}

impl Fault {
    /// Creates an access outside of all blocks.
    pub(super) fn illegal_address(message: impl Into<String>) -> Self {
        Self {
            status: Status::ILLEGAL_ADDRESS,
            message: message.into(),
        }
    }

    /// Work that failed for another reason.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            status: Status::LAUNCH_FAILED,
            message: message.into(),
        }
    }
}

impl From<tfrt_ptx::Fault> for Fault {
    fn from(fault: tfrt_ptx::Fault) -> Self {
        let status = match fault.kind() {
            FaultKind::InvalidLaunch => Status::INVALID_VALUE,
            FaultKind::OutOfResources => Status::LAUNCH_OUT_OF_RESOURCES,
            FaultKind::IllegalAddress => Status::ILLEGAL_ADDRESS,
            FaultKind::MisalignedAddress => Status::MISALIGNED_ADDRESS,
            FaultKind::Assertion => Status::ASSERT,
            FaultKind::StepLimit => Status::LAUNCH_TIMEOUT,
            FaultKind::StackOverflow => Status::HARDWARE_STACK_ERROR,
            FaultKind::InvalidCall => Status::INVALID_PC,
            FaultKind::Unsupported => Status::NOT_SUPPORTED,
            _ => Status::LAUNCH_FAILED,
        };
        Self {
            status,
            message: fault.to_string(),
        }
    }
}
