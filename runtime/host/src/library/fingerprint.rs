//! What tells builds apart.

/// What must be equal in a program and in a library that is loaded into it.
///
/// - The compiler and the target, which decide on the layout of Rust types and on how functions are called.
/// - The version of the runtime, and the digest of its source where that is at hand.
/// - Whether debug assertions are on: with them, live values are counted.
/// - What a panic does.
///
/// The runtime's crates have no features, which could be listed here. No type of another crate lies in what crosses the
/// boundary, but for payloads, whose types are compared one by one.
pub(super) fn fingerprint() -> String {
    let yes_or_no = |is_so| if is_so { "on" } else { "off" };
    format!(
        "{}, {}, {}-bit, tfrt {} (source {}), panic {}, debug assertions {}",
        env!("TFRT_RUSTC_VERSION"),
        env!("TFRT_TARGET"),
        usize::BITS,
        env!("CARGO_PKG_VERSION"),
        env!("TFRT_SOURCE_DIGEST"),
        if cfg!(panic = "unwind") {
            "unwind"
        } else {
            "abort"
        },
        yes_or_no(cfg!(debug_assertions)),
    )
}
