//! Build fingerprints.

use half::{bf16, f16};
use tfrt_async::{AnyRef, ByteString, Chain};
use tfrt_ods::DialectDef;
use tfrt_ods::OpDef;
use tfrt_queue::{RequestTag, Task};
use tfrt_support::Error;
use tfrt_support::TensorMetadata;

use super::extension::{Layout, LibraryExtension};
use super::table::{Exports, HostServices, Registrations};
use crate::kernel::direct::DirectCall;
use crate::kernel::inputs::FileInputs;
use crate::kernel::native::{NativeCall, NativeFunction};
use crate::kernel::{KernelDescriptor, KernelFrame};
use crate::{
    ExecutionContext, FunctionRef, HostContext, Limits, RequestContext, ResourceContext, TimerQueue,
};

/// Returns the properties that must be equal in a program and in a library loaded into it.
///
/// - The compiler and the target, which determine type layouts and calling conventions.
/// - The version of the runtime, and the digest of its source if available.
/// - The layouts of types that cross the boundary. They follow from the above as long as only the
///   runtime's own source determines them; a version or feature of another crate, or a compiler
///   flag, that changes a layout changes this, too.
/// - Whether debug assertions are on: with them, live values are counted.
/// - The panic strategy.
///
/// The features of the runtime's crates add functions, but change no type. Payload types of other
/// crates are not listed: they are identified by their `TypeId`, which differs with the version and
/// the features of their crate and of all its dependencies.
pub(super) fn fingerprint() -> String {
    let debug_assertions = if cfg!(debug_assertions) { ON } else { OFF };
    format!(
        "{}, {}, {}-bit, tfrt {} (source {}, layouts {:016x}), panic {}, {debug_assertions}",
        env!("TFRT_RUSTC_VERSION"),
        env!("TFRT_TARGET"),
        usize::BITS,
        env!("CARGO_PKG_VERSION"),
        env!("TFRT_SOURCE_DIGEST"),
        digest(LAYOUTS),
        if cfg!(panic = "unwind") {
            "unwind"
        } else {
            "abort"
        },
    )
}

const fn layout<T>() -> Layout {
    (size_of::<T>(), align_of::<T>())
}

/// The layouts of what both copies of the runtime access: the tables that they exchange, contexts,
/// frames and values.
const LAYOUTS: &[Layout] = &[
    layout::<Exports>(),
    layout::<HostServices>(),
    layout::<Registrations>(),
    layout::<LibraryExtension>(),
    layout::<KernelDescriptor>(),
    layout::<OpDef>(),
    layout::<DialectDef>(),
    layout::<NativeFunction>(),
    layout::<NativeCall<'_>>(),
    layout::<KernelFrame<'_>>(),
    layout::<DirectCall<'_>>(),
    layout::<FileInputs<'_>>(),
    layout::<HostContext>(),
    layout::<RequestContext>(),
    layout::<ResourceContext>(),
    layout::<ExecutionContext>(),
    layout::<FunctionRef>(),
    layout::<TimerQueue>(),
    layout::<Limits>(),
    layout::<Task>(),
    layout::<RequestTag>(),
    layout::<AnyRef>(),
    layout::<ByteString>(),
    layout::<Chain>(),
    layout::<Error>(),
    layout::<TensorMetadata>(),
    // From another crate, but payload types of the runtime.
    layout::<f16>(),
    layout::<bf16>(),
];

/// Returns the 64-bit FNV-1a hash of layouts, in order.
const fn digest(layouts: &[Layout]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut index = 0;
    while index < layouts.len() {
        let (size, align) = layouts[index];
        hash = (hash ^ size as u64).wrapping_mul(0x100_0000_01b3);
        hash = (hash ^ align as u64).wrapping_mul(0x100_0000_01b3);
        index += 1;
    }
    hash
}

const ON: &str = "debug assertions on";
const OFF: &str = "debug assertions off";

/// Returns advice about a library with a different fingerprint, if there is any.
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
    fn a_layout_that_differs_makes_another_fingerprint() {
        let own = format!("layouts {:016x})", digest(LAYOUTS));
        assert!(fingerprint().contains(&own), "{}", fingerprint());
        for index in 0..LAYOUTS.len() {
            let (mut larger, mut aligned) = (LAYOUTS.to_vec(), LAYOUTS.to_vec());
            larger[index].0 += 8;
            aligned[index].1 *= 2;
            assert_ne!(digest(&larger), digest(LAYOUTS), "{index}");
            assert_ne!(digest(&aligned), digest(LAYOUTS), "{index}");
        }
    }

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
