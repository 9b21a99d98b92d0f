//! Errors of calls.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use tfrt::support::{Error, ErrorCode};

/// The result of a call.
pub type GpuResult<T> = Result<T, GpuError>;

/// A call that failed.
///
/// ```
/// use tfrt_gpu::api::{GpuError, Status};
///
/// let error = GpuError::new("cuDeviceGet(&device, ordinal)", Status::Driver(101));
/// assert_eq!(
///     error.to_string(),
///     "'cuDeviceGet(&device, ordinal)': CUDA_ERROR_INVALID_DEVICE (invalid device ordinal)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuError(Box<FailedCall>);

/// What is known of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    /// The call, in C syntax.
    pub call: Cow<'static, str>,
    /// The status that it returned.
    pub status: Status,
    /// Further details, such as the log of a compiler; may be empty. They start on a new line.
    pub details: String,
    /// The whole text, where it differs from that of other errors.
    text: Option<String>,
}

/// The status of a call, by library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// A `CUresult`.
    Driver(u32),
    /// A `cublasStatus_t`.
    Blas(u32),
    /// A `cudnnStatus_t`.
    Dnn(u32),
    /// A `cusolverStatus_t`.
    Solver(u32),
    /// A `cufftResult`.
    Fft(u32),
    /// An `ncclResult_t`.
    Ccl(u32),
}

impl GpuError {
    /// Creates an error of a call.
    #[cold]
    pub fn new(call: impl Into<Cow<'static, str>>, status: Status) -> Self {
        Self(Box::new(FailedCall {
            call: call.into(),
            status,
            details: String::new(),
            text: None,
        }))
    }

    /// Creates an error of a call of the driver.
    pub fn driver(call: impl Into<Cow<'static, str>>, status: Status) -> Self {
        Self::new(call, status)
    }

    /// Returns the same error with more lines.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.0.details = details.into();
        self
    }

    /// Returns the error for `wanted` bytes of device memory that are not available; `info`
    /// contains the free and the total bytes.
    #[must_use]
    pub fn out_of_memory(wanted: usize, info: Option<(usize, usize)>, device: i32) -> Self {
        let space = info.map_or_else(String::new, |(free, total)| {
            format!(" ({} of {} available)", ByteSize(free), ByteSize(total))
        });
        let wanted = ByteSize(wanted);
        let mut error = Self::new("cuMemAlloc(&ptr, size)", Status::OUT_OF_MEMORY);
        error.0.text = Some(format!(
            "Out of memory trying to allocate {wanted}{space} on GPU {device} (CUDA)."
        ));
        error
    }
}

impl Deref for GpuError {
    type Target = FailedCall;

    fn deref(&self) -> &FailedCall {
        &self.0
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.write_str(text)?,
            None => write!(f, "'{}': {}", self.call, self.status)?,
        }
        if !self.details.is_empty() {
            write!(f, "\n{}", self.details)?;
        }
        Ok(())
    }
}

impl std::error::Error for GpuError {}

impl From<GpuError> for Error {
    #[cold]
    fn from(error: GpuError) -> Self {
        let code = match error.status {
            Status::OUT_OF_MEMORY => ErrorCode::ResourceExhausted,
            Status::INVALID_VALUE | Status::INVALID_DEVICE => ErrorCode::InvalidArgument,
            Status::NOT_FOUND => ErrorCode::NotFound,
            Status::SHARED_OBJECT_SYMBOL_NOT_FOUND => ErrorCode::Unavailable,
            _ => ErrorCode::Internal,
        };
        Self::new(error.to_string()).with_code(code)
    }
}

/// A number of bytes as messages tell it: `512`, `1.5KiB`, `1.50MiB`.
pub(crate) struct ByteSize(pub(crate) usize);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1024 => write!(f, "{}", self.0),
            1024..0x10_0000 => write!(f, "{:.1}KiB", bytes / 1024.0),
            0x10_0000..0x4000_0000 => write!(f, "{:.2}MiB", bytes / 1_048_576.0),
            _ => write!(f, "{:.2}GiB", bytes / 1_073_741_824.0),
        }
    }
}

macro_rules! driver_statuses {
    ($($constant:ident = $code:literal, $description:literal;)*) => {
        impl Status {
            $(
                #[doc = concat!("`CUDA_ERROR_", stringify!($constant), "`: ", $description, ".")]
                pub const $constant: Self = Self::Driver($code);
            )*
        }

        /// Returns the name and the description of a `CUresult`.
        fn driver_text(code: u32) -> Option<(&'static str, &'static str)> {
            match code {
                0 => Some(("CUDA_SUCCESS", "no error")),
                $($code => Some((concat!("CUDA_ERROR_", stringify!($constant)), $description)),)*
                _ => None,
            }
        }
    };
}

driver_statuses! {
    INVALID_VALUE = 1, "invalid argument";
    OUT_OF_MEMORY = 2, "out of memory";
    NOT_INITIALIZED = 3, "initialization error";
    DEINITIALIZED = 4, "driver shutting down";
    STUB_LIBRARY = 34, "CUDA driver is a stub library";
    DEVICE_UNAVAILABLE = 46, "CUDA-capable device(s) is/are busy or unavailable";
    NO_DEVICE = 100, "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "invalid device ordinal";
    INVALID_IMAGE = 200, "device kernel image is invalid";
    INVALID_CONTEXT = 201, "invalid device context";
    MAP_FAILED = 205, "mapping of buffer object failed";
    ALREADY_MAPPED = 208, "resource already mapped";
    NO_BINARY_FOR_GPU = 209, "no kernel image is available for execution on the device";
    PEER_ACCESS_UNSUPPORTED = 217, "peer access is not supported between these two devices";
    INVALID_PTX = 218, "a PTX JIT compilation failed";
    JIT_COMPILER_NOT_FOUND = 221, "PTX JIT compiler library not found";
    UNSUPPORTED_PTX_VERSION = 222, "the provided PTX was compiled with an unsupported toolchain.";
    FILE_NOT_FOUND = 301, "file not found";
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302, "shared object symbol not found";
    SHARED_OBJECT_INIT_FAILED = 303, "shared object initialization failed";
    OPERATING_SYSTEM = 304, "OS call failed or operation not supported on this OS";
    INVALID_HANDLE = 400, "invalid resource handle";
    ILLEGAL_STATE = 401, "the operation cannot be performed in the present state";
    NOT_FOUND = 500, "named symbol not found";
    NOT_READY = 600, "device not ready";
    ILLEGAL_ADDRESS = 700, "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "the launch timed out and was terminated";
    PEER_ACCESS_ALREADY_ENABLED = 704, "peer access is already enabled";
    CONTEXT_IS_DESTROYED = 709, "context is destroyed";
    ASSERT = 710, "device-side assert triggered";
    HOST_MEMORY_ALREADY_REGISTERED = 712, "part or all of the requested memory range is already \
                                           mapped";
    HOST_MEMORY_NOT_REGISTERED = 713, "pointer does not correspond to a registered memory region";
    HARDWARE_STACK_ERROR = 714, "hardware stack error";
    ILLEGAL_INSTRUCTION = 715, "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "misaligned address";
    INVALID_ADDRESS_SPACE = 717, "operation not supported on global/shared address space";
    INVALID_PC = 718, "invalid program counter";
    LAUNCH_FAILED = 719, "unspecified launch failure";
    NOT_PERMITTED = 800, "operation not permitted";
    NOT_SUPPORTED = 801, "operation not supported";
    STREAM_CAPTURE_UNSUPPORTED = 900, "operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED = 901, "operation failed due to a previous error during capture";
    STREAM_CAPTURE_UNMATCHED = 903, "the capture was not initiated in this stream";
    UNKNOWN = 999, "unknown error";
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, family, code) = match *self {
            Self::Driver(code) => {
                return match driver_text(code) {
                    Some((name, description)) => write!(f, "{name} ({description})"),
                    None => write!(f, "CUresult({code})"),
                };
            }
            Self::Blas(code) => (blas_name(code), "cublasStatus_t", code),
            Self::Dnn(code) => (dnn_name(code), "cudnnStatus_t", code),
            Self::Solver(code) => (solver_name(code), "cusolverStatus_t", code),
            Self::Fft(code) => (fft_name(code), "cufftResult", code),
            Self::Ccl(code) => (ccl_name(code), "ncclResult_t", code),
        };
        match name {
            Some(name) => f.write_str(name),
            None => write!(f, "{family}({code})"),
        }
    }
}

impl Status {
    /// `CUBLAS_STATUS_NOT_INITIALIZED`.
    pub const BLAS_NOT_INITIALIZED: Self = Self::Blas(1);
    /// `CUBLAS_STATUS_INVALID_VALUE`.
    pub const BLAS_INVALID_VALUE: Self = Self::Blas(7);
    /// `CUBLAS_STATUS_NOT_SUPPORTED`.
    pub const BLAS_NOT_SUPPORTED: Self = Self::Blas(15);
    /// `CUDNN_STATUS_NOT_INITIALIZED`.
    pub const DNN_NOT_INITIALIZED: Self = Self::Dnn(1001);
    /// `CUDNN_STATUS_BAD_PARAM`.
    pub const DNN_BAD_PARAM: Self = Self::Dnn(2000);
    /// `CUDNN_STATUS_NOT_SUPPORTED`.
    pub const DNN_NOT_SUPPORTED: Self = Self::Dnn(3000);
    /// `CUSOLVER_STATUS_NOT_INITIALIZED`.
    pub const SOLVER_NOT_INITIALIZED: Self = Self::Solver(1);
    /// `CUSOLVER_STATUS_INVALID_VALUE`.
    pub const SOLVER_INVALID_VALUE: Self = Self::Solver(3);
    /// `CUFFT_INVALID_PLAN`.
    pub const FFT_INVALID_PLAN: Self = Self::Fft(1);
    /// `CUFFT_INVALID_VALUE`.
    pub const FFT_INVALID_VALUE: Self = Self::Fft(4);
    /// `CUFFT_NO_WORKSPACE`.
    pub const FFT_NO_WORKSPACE: Self = Self::Fft(14);
    /// `CUFFT_INVALID_SIZE`.
    pub const FFT_INVALID_SIZE: Self = Self::Fft(8);
    /// `ncclInternalError`.
    pub const CCL_INTERNAL: Self = Self::Ccl(3);
    /// `ncclInvalidArgument`.
    pub const CCL_INVALID_ARGUMENT: Self = Self::Ccl(4);
    /// `ncclInvalidUsage`.
    pub const CCL_INVALID_USAGE: Self = Self::Ccl(5);
}

fn blas_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "CUBLAS_STATUS_SUCCESS",
        1 => "CUBLAS_STATUS_NOT_INITIALIZED",
        3 => "CUBLAS_STATUS_ALLOC_FAILED",
        7 => "CUBLAS_STATUS_INVALID_VALUE",
        8 => "CUBLAS_STATUS_ARCH_MISMATCH",
        11 => "CUBLAS_STATUS_MAPPING_ERROR",
        13 => "CUBLAS_STATUS_EXECUTION_FAILED",
        14 => "CUBLAS_STATUS_INTERNAL_ERROR",
        15 => "CUBLAS_STATUS_NOT_SUPPORTED",
        16 => "CUBLAS_STATUS_LICENSE_ERROR",
        _ => return None,
    })
}

fn dnn_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "CUDNN_STATUS_SUCCESS",
        1001 => "CUDNN_STATUS_NOT_INITIALIZED",
        2000 => "CUDNN_STATUS_BAD_PARAM",
        2003 => "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED",
        3000 => "CUDNN_STATUS_NOT_SUPPORTED",
        4000 => "CUDNN_STATUS_INTERNAL_ERROR",
        5000 => "CUDNN_STATUS_EXECUTION_FAILED",
        _ => return None,
    })
}

fn solver_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "CUSOLVER_STATUS_SUCCESS",
        1 => "CUSOLVER_STATUS_NOT_INITIALIZED",
        2 => "CUSOLVER_STATUS_ALLOC_FAILED",
        3 => "CUSOLVER_STATUS_INVALID_VALUE",
        4 => "CUSOLVER_STATUS_ARCH_MISMATCH",
        6 => "CUSOLVER_STATUS_EXECUTION_FAILED",
        7 => "CUSOLVER_STATUS_INTERNAL_ERROR",
        9 => "CUSOLVER_STATUS_NOT_SUPPORTED",
        _ => return None,
    })
}

fn fft_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "CUFFT_SUCCESS",
        1 => "CUFFT_INVALID_PLAN",
        2 => "CUFFT_ALLOC_FAILED",
        3 => "CUFFT_INVALID_TYPE",
        4 => "CUFFT_INVALID_VALUE",
        5 => "CUFFT_INTERNAL_ERROR",
        6 => "CUFFT_EXEC_FAILED",
        7 => "CUFFT_SETUP_FAILED",
        8 => "CUFFT_INVALID_SIZE",
        9 => "CUFFT_UNALIGNED_DATA",
        11 => "CUFFT_INVALID_DEVICE",
        14 => "CUFFT_NO_WORKSPACE",
        15 => "CUFFT_NOT_IMPLEMENTED",
        16 => "CUFFT_NOT_SUPPORTED",
        _ => return None,
    })
}

fn ccl_name(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "ncclSuccess",
        1 => "ncclUnhandledCudaError",
        2 => "ncclSystemError",
        3 => "ncclInternalError",
        4 => "ncclInvalidArgument",
        5 => "ncclInvalidUsage",
        6 => "ncclRemoteError",
        7 => "ncclInProgress",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_call_name_and_description() {
        let error = GpuError::new("cuMemFree(ptr)", Status::INVALID_VALUE);
        assert_eq!(
            error.to_string(),
            "'cuMemFree(ptr)': CUDA_ERROR_INVALID_VALUE (invalid argument)"
        );
        let error = GpuError::new("cublasCreate(&handle)", Status::BLAS_NOT_INITIALIZED);
        assert_eq!(
            error.with_details("no library").to_string(),
            "'cublasCreate(&handle)': CUBLAS_STATUS_NOT_INITIALIZED\nno library"
        );
    }

    #[test]
    fn an_unknown_code_is_told_as_a_number() {
        let text = |status: Status| status.to_string();
        assert_eq!(text(Status::Driver(4711)), "CUresult(4711)");
        assert_eq!(text(Status::Blas(4711)), "cublasStatus_t(4711)");
        assert_eq!(text(Status::Dnn(4711)), "cudnnStatus_t(4711)");
        assert_eq!(text(Status::Solver(4711)), "cusolverStatus_t(4711)");
        assert_eq!(text(Status::Fft(4711)), "cufftResult(4711)");
        assert_eq!(text(Status::Ccl(4711)), "ncclResult_t(4711)");
    }

    #[test]
    fn missing_memory_is_told_in_readable_sizes() {
        let gib = 1 << 30;
        let error = GpuError::out_of_memory(2 * gib, Some((gib + gib / 5, 79 * gib)), 0);
        assert_eq!(
            error.to_string(),
            "Out of memory trying to allocate 2.00GiB (1.20GiB of 79.00GiB available) on GPU 0 \
             (CUDA)."
        );
        let error = GpuError::out_of_memory(512, None, 1);
        assert_eq!(
            error.to_string(),
            "Out of memory trying to allocate 512 on GPU 1 (CUDA)."
        );
        assert_eq!(ByteSize(1536).to_string(), "1.5KiB");
        assert_eq!(ByteSize(3 << 19).to_string(), "1.50MiB");
    }
}
