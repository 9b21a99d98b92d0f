//! Passes that spread programs over tasks and devices.
//!
//! | pass | does |
//! |---|---|
//! | `insert-send-recv` | lets the tasks whose ops a function has send each other values |
//! | `cluster-by-host` | makes the ops of each other task a function that runs there |
//! | `tfrt-dist-remote-run-encapsulate` | replaces the execution of a function of the program on another task by ops that send the function there and execute it |
//! | `tfrt-cross-device-transfer` | copies the handles that an op takes to its device |
//!
//! The first three in this order make a program over several tasks of one whose ops name devices of
//! those.
//!
//! Link the crate to make the passes available, as the tool `tfrt` does.
#![forbid(unsafe_code)]

mod send_recv;

mod cluster_by_host;

mod encapsulate;

mod cross_device_transfer;

mod task;

mod builder;

mod names;

use tfrt_compiler::passes::{Pass, PassScope};

pub use cluster_by_host::cluster_by_host;
pub use cross_device_transfer::transfer_across_devices;
pub use encapsulate::encapsulate;
pub use send_recv::insert_send_recv;

inventory::submit! {
    Pass {
        name: "cluster-by-host",
        summary: "Make the ops of each other task a function that runs there",
        scope: PassScope::Module,
        fills_in_chains: false,
        options: &[],
        run: |module, root, _| cluster_by_host(module, root),
    }
}

inventory::submit! {
    Pass {
        name: "insert-send-recv",
        summary: "Let the tasks of a function send each other values",
        scope: PassScope::Function,
        fills_in_chains: false,
        options: &[],
        run: |module, func, _| insert_send_recv(module, func),
    }
}

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
