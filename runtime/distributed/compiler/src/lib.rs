//! Passes that spread programs over tasks and devices.
//!
//! | pass | does |
//! |---|---|
//! | `tfrt-dist-remote-run-encapsulate` | replaces the execution of a function of the program on another task by ops that send the function there and execute it |
//! | `tfrt-cross-device-transfer` | copies the handles that an op takes to its device |
//!
//! Link the crate to make the passes available, as the tool `tfrt` does.
#![forbid(unsafe_code)]

mod encapsulate;

mod cross_device_transfer;

mod builder;

mod names;

use tfrt_compiler::passes::{Pass, PassScope};

pub use cross_device_transfer::transfer_across_devices;
pub use encapsulate::encapsulate;

inventory::submit! {
    Pass {
        name: "tfrt-cross-device-transfer",
        summary: "Copy handles to the devices of the ops that take them",
        scope: PassScope::Function,
        fills_in_chains: false,
        options: &[],
        run: |module, func, _| {
            transfer_across_devices(module, func);
            Vec::new()
        },
    }
}

inventory::submit! {
    Pass {
        name: "tfrt-dist-remote-run-encapsulate",
        summary: "Send the functions that run on other tasks there",
        scope: PassScope::Module,
        fills_in_chains: false,
        options: &[],
        run: |module, root, _| encapsulate(module, root),
    }
}
