//! The kernels `tfrt_gpu.*`.
//!
//! A kernel that puts work on a stream returns a chain as soon as the work is enqueued. Chains
//! order the work on one stream, and events order the work on two streams. Memory that work uses is
//! kept until the work is done.

pub mod device;

pub mod stream;

pub mod memory;

pub mod tensors;

pub mod modules;

pub mod blas;

pub mod ccl;

pub mod dnn;

pub mod solver;

pub mod fft;

pub mod graphs;

pub mod entry_point;

mod frame;

mod scalar;

mod op_verifiers;

use tfrt::ods::DialectDef;

const DIALECTS: &[DialectDef] = &[DialectDef {
    summary: "Kernels for GPUs.",
    types: &[
        "device",
        "context",
        "stream",
        "event",
        "module",
        "function",
        "allocator",
        "buffer",
        "blas.handle",
        "blas.gemm.algo",
        "ccl.id",
        "ccl.handle",
        "dnn.handle",
        "dnn.activation.descriptor",
        "dnn.convolution.descriptor",
        "dnn.filter.descriptor",
        "dnn.pooling.descriptor",
        "dnn.tensor.descriptor",
        "dnn.convolution.plan",
        "dnn.convolution.algorithm",
        "solver.handle",
        "fft.handle",
        "entry_point",
    ],
    older_types: &[("dnn.convolution_plan", "dnn.convolution.plan")],
    ..DialectDef::new("tfrt_gpu")
}];

tfrt::declare_dialects!(DIALECTS);

/// `rows * columns` and the like, of numbers that programs give; none if one is negative or the
/// product too large.
pub(crate) fn product(factors: &[i64]) -> Option<usize> {
    factors.iter().try_fold(1_usize, |product, &factor| {
        product.checked_mul(usize::try_from(factor).ok()?)
    })
}
