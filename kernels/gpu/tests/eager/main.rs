//! Ops on GPUs, on the host device.

mod common;

mod arrays;

mod context;

mod devices;

mod failures;

mod library_ops;

mod ops;

tfrt::link!(tfrt_kernels, tfrt_gpu);
