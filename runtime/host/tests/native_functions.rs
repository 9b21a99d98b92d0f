//! Native functions in the registry.
#![cfg(not(loom))]

use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::NativeFunction;
use tfrt_ods::SourcePlace;

fn native(line: u32) -> NativeFunction {
    NativeFunction {
        name: "native_sink",
        place: SourcePlace {
            file: "src/sinks.rs",
            line,
        },
        execute: |_call| (),
    }
}

#[test]
fn a_second_native_function_of_a_name_is_refused_with_both_places() {
    let mut registry = KernelRegistry::new();
    registry.add_native(native(3)).expect("the first");
    let error = registry.add_native(native(14)).expect_err("the second");
    assert_eq!(
        error.to_string(),
        "`native_sink` is registered twice: at src/sinks.rs:14 and at src/sinks.rs:3"
    );
    let kept = registry.native("native_sink").expect("the first one stays");
    assert_eq!(kept.place.line, 3);
}
