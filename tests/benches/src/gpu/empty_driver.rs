//! A driver of CUDA that does nothing: `libcuda.so.1`, whose calls succeed. Handles and addresses
//! are numbers. It exists to count what enqueueing work costs beside the calls of the driver.
#![allow(non_snake_case)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// The last number that was handed out.
static LAST: AtomicU64 = AtomicU64::new(0x1000);

/// Hands out an address of its own.
unsafe fn hand_out(to: *mut u64, num_bytes: u64) -> c_uint {
    // ordering: the numbers need only differ.
    let number = LAST.fetch_add(num_bytes.next_multiple_of(256), Ordering::Relaxed);
    unsafe { to.write(number) };
    0
}

macro_rules! makes {
    ($($name:ident($($ty:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(to: *mut u64 $(, _: $ty)*) -> c_uint {
            unsafe { hand_out(to, 256) }
        }
    )*};
}

makes! {
    cuDevicePrimaryCtxRetain(c_int);
    cuStreamCreate(c_uint);
    cuEventCreate(c_uint);
    cuModuleLoadDataEx(*const c_void, c_uint, *mut c_void, *mut c_void);
}

macro_rules! does_nothing {
    ($($name:ident($($ty:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $ty),*) -> c_uint {
            0
        }
    )*};
}

does_nothing! {
    cuInit(c_uint);
    cuDevicePrimaryCtxRelease_v2(c_int);
    cuCtxSetCurrent(u64);
    cuCtxSynchronize();
    cuStreamDestroy_v2(u64);
    cuStreamSynchronize(u64);
    cuStreamQuery(u64);
    cuStreamWaitEvent(u64, u64, c_uint);
    cuEventDestroy_v2(u64);
    cuEventRecord(u64, u64);
    cuEventQuery(u64);
    cuEventSynchronize(u64);
    cuMemFree_v2(u64);
    cuMemcpyAsync(u64, u64, usize, u64);
    cuMemsetD32Async(u64, c_uint, usize, u64);
    cuModuleUnload(u64);
    cuLaunchKernel(
        u64, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, u64, *mut c_void, *mut c_void
    );
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_uint {
    unsafe { version.write(12_080) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_uint {
    unsafe { count.write(1) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_uint {
    unsafe { device.write(ordinal) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, _: c_uint, _: c_int) -> c_uint {
    unsafe { value.write(9) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_uint {
    unsafe { free.write(1 << 30) };
    unsafe { total.write(1 << 30) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(to: *mut u64, num_bytes: usize) -> c_uint {
    unsafe { hand_out(to, num_bytes as u64) }
}

/// The handle of the kernel of the name `kernel` is even.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut u64,
    _: u64,
    name: *const c_char,
) -> c_uint {
    unsafe { hand_out(function, 256) };
    if unsafe { CStr::from_ptr(name) } != c"kernel" {
        unsafe { *function += 1 };
    }
    0
}

/// The kernel of the name `kernel` has two parameters: an address and a number of 32 bits. The
/// others are those of ops on one tensor: the number of elements, the addresses of the result and
/// of the operand, and the extent and the stride of its one dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: u64,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> c_uint {
    let sizes: &[usize] = if function % 2 == 0 { &[8, 4] } else { &[8; 5] };
    let Some(of_parameter) = sizes.get(index) else {
        return 1;
    };
    unsafe { offset.write(8 * index) };
    unsafe { size.write(*of_parameter) };
    0
}
