//! Executions of functions on other tasks, from Rust.

mod cluster;

mod cancel;

mod closing;

mod sequence;

mod pipelines;

tfrt::link!(tfrt_kernels, tfrt_distributed_kernels, tfrt_grpc);
