//! A library, but none of kernels.

#[unsafe(no_mangle)]
pub extern "C" fn something_else() {}
