//! The failure if a rule that reading or verification established does not hold.

/// Ends a call because `rule` does not hold for a file that was read.
///
/// Only a bug in this crate can cause this: whatever a file contains, verification either
/// establishes the rule or returns an error. There is no value to continue with, so this panics,
/// and the panic becomes the error of the kernel or request.
#[cold]
#[track_caller]
pub(crate) fn broken(rule: &str) -> ! {
    panic!("broken invariant of a BEF file: {rule}")
}
