//! A library of another profile than the program that loads it. Whoever compiles it chooses the
//! profile.

#[repr(C)]
pub struct Header {
    abi_version: u32,
    fingerprint: *const u8,
    fingerprint_len: usize,
    exports: *const u8,
}

unsafe impl Sync for Header {}

const FINGERPRINT: &str = env!("FINGERPRINT");

static HEADER: Header = Header {
    abi_version: 1,
    fingerprint: FINGERPRINT.as_ptr(),
    fingerprint_len: FINGERPRINT.len(),
    exports: std::ptr::null(),
};

#[unsafe(no_mangle)]
pub extern "C" fn tfrt_kernel_library() -> *const Header {
    &HEADER
}
