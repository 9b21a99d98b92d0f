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
    let debug_assertions = if cfg!(debug_assertions) { ON } else { OFF };
    format!(
        "{}, {}, {}-bit, tfrt {} (source {}), panic {}, {debug_assertions}",
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
    )
}

const ON: &str = "debug assertions on";
const OFF: &str = "debug assertions off";

/// What to do about a library of another fingerprint, where that is known.
pub(super) fn advice(expected: &str, found: &str) -> Option<&'static str> {
    let is_optimised = |fingerprint: &str| fingerprint.ends_with(OFF);
    match (is_optimised(expected), is_optimised(found)) {
        (true, false) if found.ends_with(ON) => {
            Some(": build the library with `cargo build --release`")
        }
        (false, true) => Some(": build the library without `--release`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_profile_is_what_the_advice_is_about() {
        let own = fingerprint();
        let (on, off) = match own.strip_suffix(ON) {
            Some(rest) => (own.clone(), format!("{rest}{OFF}")),
            None => (own.replace(OFF, ON), own.clone()),
        };
        assert_eq!(
            advice(&off, &on),
            Some(": build the library with `cargo build --release`")
        );
        assert_eq!(
            advice(&on, &off),
            Some(": build the library without `--release`")
        );
        assert_eq!(advice(&on, "rustc 1.0.0, of another time"), None);
        assert_eq!(advice(&off, "rustc 1.0.0, of another time"), None);
    }
}
