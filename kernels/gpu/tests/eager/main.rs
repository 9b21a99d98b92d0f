//! Ops on GPUs, on the host device.

mod common;

mod devices;
