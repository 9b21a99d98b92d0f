//! Functions of shared libraries, looked up by name.
//!
//! `cudarc` provides the C types and finds the libraries. Its own functions are not called, for two
//! reasons: they panic if a library or a symbol is missing, and they return C codes as Rust
//! enumerations, so a code of a newer library would be undefined behaviour. Here a missing function
//! is `None`, and a code is a number.
//!
//! Invariant L1: a function pointer has the signature that `cudarc` has for the symbol of its name.
//! The macro makes the compiler check that.
#![expect(unsafe_code, reason = "symbols of C libraries have no types")]

use std::sync::OnceLock;

use crate::api::{GpuError, GpuResult, Status};

macro_rules! functions {
    ($(#[$doc:meta])* struct $table:ident of $name:literal in $bindings:ident -> $status:ident {
        $($function:ident($($ty:ty),* $(,)?);)*
    }) => {
        $(#[$doc])*
        pub(in crate::cuda) struct $table {
            $(pub(in crate::cuda) $function: Option<unsafe extern "C" fn($($ty),*) -> u32>,)*
        }

        impl $table {
            /// Opens the library and looks all functions up. Without a library there is nothing.
            pub(in crate::cuda) fn open() -> Option<Self> {
                // SAFETY: initialising a vendor's library has no duties.
                if !unsafe { $bindings::is_culib_present() } {
                    return None;
                }
                // SAFETY: as above; the library is there, so this does not panic.
                let library = unsafe { $bindings::culib() };
                $(
                    // L1: the enumeration that C returns is a number of 32 bits.
                    const _: () = {
                        let _: unsafe fn($($ty),*) -> $bindings::$status = $bindings::$function;
                        assert!(size_of::<$bindings::$status>() == size_of::<u32>());
                    };
                    // SAFETY: L1, and the library is never closed.
                    let symbol = unsafe { library.get::<unsafe extern "C" fn($($ty),*) -> u32>(stringify!($function).as_bytes()) };
                    let $function = symbol.ok().map(|symbol| *symbol);
                )*
                Some(Self { $($function,)* })
            }

            /// Returns the functions that the library does not have.
            pub(in crate::cuda) fn missing(&self) -> Vec<&'static str> {
                let all = [$(self.$function.is_none().then_some(stringify!($function))),*];
                all.into_iter().flatten().collect()
            }
        }

        impl std::fmt::Debug for $table {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name).field("missing", &self.missing()).finish()
            }
        }
    };
}

pub(super) use functions;

/// A library that is opened when it is first needed.
#[derive(Debug)]
pub(super) struct Library<T> {
    functions: OnceLock<Option<T>>,
    open: fn() -> Option<T>,
    name: &'static str,
    /// The status of calls if the library is missing.
    missing: Status,
}

impl<T> Library<T> {
    pub(super) const fn new(name: &'static str, open: fn() -> Option<T>, missing: Status) -> Self {
        Self {
            functions: OnceLock::new(),
            open,
            name,
            missing,
        }
    }

    /// Returns the functions, for a call.
    pub(super) fn get(&self, call: &'static str) -> GpuResult<&T> {
        let functions = self.functions.get_or_init(self.open).as_ref();
        functions.ok_or_else(|| {
            GpuError::new(call, self.missing)
                .with_details(format!("the library `{}` is not installed", self.name))
        })
    }
}

/// Calls a function of a library, with the duties of [`call`](super::call).
macro_rules! library_call {
    ($library:expr, $status:path, $text:literal, $function:ident($($argument:expr),* $(,)?)) => {
        $library.get($text).and_then(|functions| match functions.$function {
            Some(function) => {
                let code = match $crate::cuda::requested_failure(stringify!($function)) {
                    Some(code) => code,
                    // SAFETY: L1 for the signature; C1, C2 and C3 for the arguments.
                    None => unsafe { function($($argument),*) },
                };
                match code {
                    0 => Ok(()),
                    code => Err($crate::api::GpuError::new($text, $status(code))),
                }
            }
            None => Err($crate::api::GpuError::new($text, $crate::api::Status::SHARED_OBJECT_SYMBOL_NOT_FOUND)
                .with_details("the installed library is too old for this function")),
        })
    };
}

pub(super) use library_call;

/// The value of an enumeration of C that has this number, if the bindings know it. Others would be
/// undefined behaviour as a Rust enumeration.
macro_rules! enumeration {
    ($number:expr, $call:literal, $status:expr, $ty:ident { $($value:ident),* $(,)? }) => {
        [$($ty::$value),*].into_iter().find(|value| i64::from(*value as i32) == i64::from($number)).ok_or_else(|| {
            $crate::api::GpuError::new($call, $status).with_details(format!("{} is not a value of `{}`", $number, stringify!($ty)))
        })
    };
}

pub(super) use enumeration;

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod driver {
    //! `libcuda`.

    use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

    use cudarc::driver::sys as bindings;
    use cudarc::driver::sys::*;

    super::functions! {
        /// The driver's functions.
        struct Functions of "libcuda" in bindings -> CUresult {
            cuInit(c_uint);
            cuDriverGetVersion(*mut c_int);
            cuDeviceGetCount(*mut c_int);
            cuDeviceGet(*mut CUdevice, c_int);
            cuDeviceGetName(*mut c_char, c_int, CUdevice);
            cuDeviceTotalMem_v2(*mut usize, CUdevice);
            cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
            cuDeviceCanAccessPeer(*mut c_int, CUdevice, CUdevice);
            cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
            cuDevicePrimaryCtxRelease_v2(CUdevice);
            cuCtxCreate_v2(*mut CUcontext, c_uint, CUdevice);
            cuCtxDestroy_v2(CUcontext);
            cuCtxSetCurrent(CUcontext);
            cuCtxGetDevice(*mut CUdevice);
            cuCtxSynchronize();
            cuStreamCreate(*mut CUstream, c_uint);
            cuStreamDestroy_v2(CUstream);
            cuStreamSynchronize(CUstream);
            cuStreamQuery(CUstream);
            cuStreamWaitEvent(CUstream, CUevent, c_uint);
            cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
            cuStreamEndCapture(CUstream, *mut CUgraph);
            cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
            cuGraphDestroy(CUgraph);
            cuGraphLaunch(CUgraphExec, CUstream);
            cuGraphExecDestroy(CUgraphExec);
            cuEventCreate(*mut CUevent, c_uint);
            cuEventDestroy_v2(CUevent);
            cuEventRecord(CUevent, CUstream);
            cuEventQuery(CUevent);
            cuEventSynchronize(CUevent);
            cuEventElapsedTime(*mut f32, CUevent, CUevent);
            cuMemAlloc_v2(*mut CUdeviceptr, usize);
            cuMemFree_v2(CUdeviceptr);
            cuMemGetInfo_v2(*mut usize, *mut usize);
            cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
            cuMemFreeHost(*mut c_void);
            cuMemHostRegister_v2(*mut c_void, usize, c_uint);
            cuMemHostUnregister(*mut c_void);
            cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint);
            cuPointerGetAttribute(*mut c_void, CUpointer_attribute, CUdeviceptr);
            cuMemcpyAsync(CUdeviceptr, CUdeviceptr, usize, CUstream);
            cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream);
            cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void);
            cuModuleUnload(CUmodule);
            cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
            cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char);
            cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
            cuLaunchKernel(
                CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void, *mut *mut c_void
            );
        }
    }
}

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod blas {
    //! `libcublas`.

    use std::ffi::{c_int, c_longlong, c_void};

    use cudarc::cublas::sys as bindings;
    use cudarc::cublas::sys::*;

    super::functions! {
        /// The functions of the BLAS library.
        struct Functions of "libcublas" in bindings -> cublasStatus_t {
            cublasGetProperty(libraryPropertyType, *mut c_int);
            cublasCreate_v2(*mut cublasHandle_t);
            cublasDestroy_v2(cublasHandle_t);
            cublasSetStream_v2(cublasHandle_t, cudaStream_t);
            cublasAxpyEx(
                cublasHandle_t, c_int, *const c_void, cudaDataType, *const c_void, cudaDataType, c_int, *mut c_void, cudaDataType, c_int,
                cudaDataType
            );
            cublasScalEx(cublasHandle_t, c_int, *const c_void, cudaDataType, *mut c_void, cudaDataType, c_int, cudaDataType);
            cublasGemmEx(
                cublasHandle_t, cublasOperation_t, cublasOperation_t, c_int, c_int, c_int, *const c_void, *const c_void, cudaDataType, c_int,
                *const c_void, cudaDataType, c_int, *const c_void, *mut c_void, cudaDataType, c_int, cublasComputeType_t, cublasGemmAlgo_t
            );
            cublasGemmStridedBatchedEx(
                cublasHandle_t, cublasOperation_t, cublasOperation_t, c_int, c_int, c_int, *const c_void, *const c_void, cudaDataType, c_int,
                c_longlong, *const c_void, cudaDataType, c_int, c_longlong, *const c_void, *mut c_void, cudaDataType, c_int, c_longlong, c_int,
                cublasComputeType_t, cublasGemmAlgo_t
            );
            cublasStrsmBatched(
                cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, c_int, c_int, *const f32,
                *const *const f32, c_int, *const *mut f32, c_int, c_int
            );
            cublasDtrsmBatched(
                cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, c_int, c_int, *const f64,
                *const *const f64, c_int, *const *mut f64, c_int, c_int
            );
            cublasCtrsmBatched(
                cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, c_int, c_int, *const cuComplex,
                *const *const cuComplex, c_int, *const *mut cuComplex, c_int, c_int
            );
            cublasZtrsmBatched(
                cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, c_int, c_int,
                *const cuDoubleComplex, *const *const cuDoubleComplex, c_int, *const *mut cuDoubleComplex, c_int, c_int
            );
        }
    }
}

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod dnn {
    //! `libcudnn`.

    use std::ffi::{c_int, c_void};

    use cudarc::cudnn::sys as bindings;
    use cudarc::cudnn::sys::*;

    super::functions! {
        /// The functions of the library for neural networks.
        struct Functions of "libcudnn" in bindings -> cudnnStatus_t {
            cudnnGetProperty(libraryPropertyType, *mut c_int);
            cudnnCreate(*mut cudnnHandle_t);
            cudnnDestroy(cudnnHandle_t);
            cudnnSetStream(cudnnHandle_t, cudaStream_t);
            cudnnCreateTensorDescriptor(*mut cudnnTensorDescriptor_t);
            cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t, cudnnDataType_t, c_int, *const c_int, *const c_int);
            cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t, cudnnTensorFormat_t, cudnnDataType_t, c_int, *const c_int);
            cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
            cudnnCreateFilterDescriptor(*mut cudnnFilterDescriptor_t);
            cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t, cudnnTensorFormat_t, c_int, *const c_int);
            cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
            cudnnCreateConvolutionDescriptor(*mut cudnnConvolutionDescriptor_t);
            cudnnSetConvolutionNdDescriptor(
                cudnnConvolutionDescriptor_t, c_int, *const c_int, *const c_int, *const c_int, cudnnConvolutionMode_t, cudnnDataType_t
            );
            cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t);
            cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
            cudnnCreatePoolingDescriptor(*mut cudnnPoolingDescriptor_t);
            cudnnSetPoolingNdDescriptor(
                cudnnPoolingDescriptor_t, cudnnPoolingMode_t, cudnnNanPropagation_t, c_int, *const c_int, *const c_int, *const c_int
            );
            cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t);
            cudnnCreateActivationDescriptor(*mut cudnnActivationDescriptor_t);
            cudnnSetActivationDescriptor(cudnnActivationDescriptor_t, cudnnActivationMode_t, cudnnNanPropagation_t, f64);
            cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t);
            cudnnPoolingForward(
                cudnnHandle_t, cudnnPoolingDescriptor_t, *const c_void, cudnnTensorDescriptor_t, *const c_void, *const c_void,
                cudnnTensorDescriptor_t, *mut c_void
            );
            cudnnPoolingBackward(
                cudnnHandle_t, cudnnPoolingDescriptor_t, *const c_void, cudnnTensorDescriptor_t, *const c_void, cudnnTensorDescriptor_t,
                *const c_void, cudnnTensorDescriptor_t, *const c_void, *const c_void, cudnnTensorDescriptor_t, *mut c_void
            );
            cudnnConvolutionForward(
                cudnnHandle_t, *const c_void, cudnnTensorDescriptor_t, *const c_void, cudnnFilterDescriptor_t, *const c_void,
                cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t, *mut c_void, usize, *const c_void, cudnnTensorDescriptor_t,
                *mut c_void
            );
            cudnnConvolutionBackwardData(
                cudnnHandle_t, *const c_void, cudnnFilterDescriptor_t, *const c_void, cudnnTensorDescriptor_t, *const c_void,
                cudnnConvolutionDescriptor_t, cudnnConvolutionBwdDataAlgo_t, *mut c_void, usize, *const c_void,
                cudnnTensorDescriptor_t, *mut c_void
            );
            cudnnConvolutionBackwardFilter(
                cudnnHandle_t, *const c_void, cudnnTensorDescriptor_t, *const c_void, cudnnTensorDescriptor_t, *const c_void,
                cudnnConvolutionDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, *mut c_void, usize, *const c_void,
                cudnnFilterDescriptor_t, *mut c_void
            );
            cudnnConvolutionBiasActivationForward(
                cudnnHandle_t, *const c_void, cudnnTensorDescriptor_t, *const c_void, cudnnFilterDescriptor_t, *const c_void,
                cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t, *mut c_void, usize, *const c_void, cudnnTensorDescriptor_t,
                *const c_void, cudnnTensorDescriptor_t, *const c_void, cudnnActivationDescriptor_t, cudnnTensorDescriptor_t,
                *mut c_void
            );
            cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t, *mut cudnnBackendDescriptor_t);
            cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t);
            cudnnBackendSetAttribute(
                cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, i64, *const c_void
            );
            cudnnBackendGetAttribute(
                cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, i64, *mut i64, *mut c_void
            );
            cudnnBackendFinalize(cudnnBackendDescriptor_t);
            cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t);
        }
    }
}

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod solver {
    //! `libcusolver`.

    use std::ffi::c_int;

    use cudarc::cusolver::sys as bindings;
    use cudarc::cusolver::sys::*;

    super::functions! {
        /// The functions of the solver library.
        struct Functions of "libcusolver" in bindings -> cusolverStatus_t {
            cusolverGetVersion(*mut c_int);
            cusolverDnCreate(*mut cusolverDnHandle_t);
            cusolverDnDestroy(cusolverDnHandle_t);
            cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t);
            cusolverDnSpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut f32, c_int, *mut c_int);
            cusolverDnDpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut f64, c_int, *mut c_int);
            cusolverDnCpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut cuComplex, c_int, *mut c_int);
            cusolverDnZpotrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut cuDoubleComplex, c_int, *mut c_int);
            cusolverDnSpotrf(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut f32, c_int, *mut f32, c_int, *mut c_int);
            cusolverDnDpotrf(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut f64, c_int, *mut f64, c_int, *mut c_int);
            cusolverDnCpotrf(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut cuComplex, c_int, *mut cuComplex, c_int, *mut c_int);
            cusolverDnZpotrf(
                cusolverDnHandle_t, cublasFillMode_t, c_int, *mut cuDoubleComplex, c_int, *mut cuDoubleComplex, c_int, *mut c_int
            );
            cusolverDnSpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut *mut f32, c_int, *mut c_int, c_int);
            cusolverDnDpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut *mut f64, c_int, *mut c_int, c_int);
            cusolverDnCpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut *mut cuComplex, c_int, *mut c_int, c_int);
            cusolverDnZpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, c_int, *mut *mut cuDoubleComplex, c_int, *mut c_int, c_int);
        }
    }
}

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod fft {
    //! `libcufft`.

    use std::ffi::{c_int, c_longlong, c_void};

    use cudarc::cufft::sys as bindings;
    use cudarc::cufft::sys::*;

    super::functions! {
        /// The functions of the FFT library.
        struct Functions of "libcufft" in bindings -> cufftResult {
            cufftGetVersion(*mut c_int);
            cufftCreate(*mut cufftHandle);
            cufftDestroy(cufftHandle);
            cufftSetAutoAllocation(cufftHandle, c_int);
            cufftMakePlanMany64(
                cufftHandle, c_int, *mut c_longlong, *mut c_longlong, c_longlong, c_longlong, *mut c_longlong, c_longlong, c_longlong,
                cufftType, c_longlong, *mut usize
            );
            cufftGetSize(cufftHandle, *mut usize);
            cufftSetStream(cufftHandle, cudaStream_t);
            cufftSetWorkArea(cufftHandle, *mut c_void);
            cufftExecC2C(cufftHandle, *mut cufftComplex, *mut cufftComplex, c_int);
            cufftExecR2C(cufftHandle, *mut cufftReal, *mut cufftComplex);
            cufftExecC2R(cufftHandle, *mut cufftComplex, *mut cufftReal);
            cufftExecZ2Z(cufftHandle, *mut cufftDoubleComplex, *mut cufftDoubleComplex, c_int);
            cufftExecD2Z(cufftHandle, *mut cufftDoubleReal, *mut cufftDoubleComplex);
            cufftExecZ2D(cufftHandle, *mut cufftDoubleComplex, *mut cufftDoubleReal);
        }
    }
}

#[expect(non_snake_case, reason = "the names are those of the library")]
pub(super) mod ccl {
    //! `libnccl`.

    use std::ffi::{c_int, c_void};

    use cudarc::nccl::sys as bindings;
    use cudarc::nccl::sys::*;

    super::functions! {
        /// The functions of the library of collectives.
        struct Functions of "libnccl" in bindings -> ncclResult_t {
            ncclGetVersion(*mut c_int);
            ncclGetUniqueId(*mut ncclUniqueId);
            ncclCommInitRank(*mut ncclComm_t, c_int, ncclUniqueId, c_int);
            ncclCommInitRankConfig(*mut ncclComm_t, c_int, ncclUniqueId, c_int, *mut ncclConfig_t);
            ncclCommGetAsyncError(ncclComm_t, *mut ncclResult_t);
            ncclCommAbort(ncclComm_t);
            ncclCommDestroy(ncclComm_t);
            ncclCommCount(ncclComm_t, *mut c_int);
            ncclGroupStart();
            ncclGroupEnd();
            ncclAllGather(*const c_void, *mut c_void, usize, ncclDataType_t, ncclComm_t, cudaStream_t);
            ncclAllReduce(*const c_void, *mut c_void, usize, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
            ncclReduceScatter(*const c_void, *mut c_void, usize, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
            ncclSend(*const c_void, usize, ncclDataType_t, c_int, ncclComm_t, cudaStream_t);
            ncclRecv(*mut c_void, usize, ncclDataType_t, c_int, ncclComm_t, cudaStream_t);
        }
    }
}
