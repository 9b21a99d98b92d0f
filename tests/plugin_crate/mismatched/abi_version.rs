//! A library whose table has another layout: nothing but its version may be read.

static VERSION: u32 = 4_000_000;

#[unsafe(no_mangle)]
pub extern "C" fn tfrt_kernel_library() -> *const u32 {
    &VERSION
}
