//! Programs on the host device, and the device itself: one binary, since linking one for each
//! module would take much longer.

mod allocators;
mod executor;
mod graphs;
mod host_device;
mod order;
