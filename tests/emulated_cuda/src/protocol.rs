//! Tests of the checks: what a real driver answers with undefined behaviour, or not at all.

use std::ptr::null_mut;

use crate::driver::{
    cuCtxCreate_v2, cuCtxDestroy_v2, cuCtxSetCurrent, cuInit, cuStreamCreate, cuStreamDestroy_v2,
    cuStreamSynchronize,
};
use crate::emulator::num_breaches;
use crate::memory::{
    cuMemAlloc_v2, cuMemFree_v2, cuMemFreeHost, cuMemHostAlloc, cuMemcpyAsync, cuMemsetD32Async,
};
use crate::plans::{
    cudnnBackendCreateDescriptor, cudnnBackendDestroyDescriptor, cudnnBackendFinalize,
    cudnnBackendSetAttribute,
};

/// Calls a function with pointers to variables of the test.
macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        // SAFETY: A1; the pointers are those of variables with the function's types, or null.
        unsafe { $function($($argument),*) }
    };
}

use crate::abi::{In, Out};

/// Returns a context that is current, and a stream.
fn start() -> (u64, u64) {
    let (mut context, mut stream) = (0, 0);
    assert_eq!(call!(cuInit(0)), 0);
    assert_eq!(call!(cuCtxCreate_v2(Out::to(&mut context), 0, 0)), 0);
    assert_eq!(call!(cuStreamCreate(Out::to(&mut stream), 1)), 0);
    (context, stream)
}

/// Returns the breaches that some calls make, which are those of this thread alone.
fn breaches_of(calls: impl FnOnce()) -> usize {
    let before = num_breaches();
    calls();
    num_breaches() - before
}

#[test]
fn a_call_without_a_current_context_is_a_breach() {
    let mut pointer = 0;
    assert_eq!(call!(cuInit(0)), 0);
    let num = breaches_of(|| assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 4)), 201));
    assert_eq!(num, 1);
    let (context, stream) = start();
    assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 4)), 0);
    assert_eq!(call!(cuMemFree_v2(pointer)), 0);
    assert_eq!(call!(cuCtxSetCurrent(0)), 0);
    assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 4)), 201);
    assert_eq!(call!(cuStreamDestroy_v2(stream)), 0);
    assert_eq!(call!(cuCtxDestroy_v2(context)), 0);
}

#[test]
fn freeing_twice_is_a_breach() {
    let (context, stream) = start();
    let (mut pointer, mut pinned) = (0, 0);
    assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 4)), 0);
    assert_eq!(call!(cuMemHostAlloc(Out::to(&mut pinned), 4, 2)), 0);
    let num = breaches_of(|| {
        // Memory of the other kind.
        assert_eq!(call!(cuMemFree_v2(pinned)), 1);
        assert_eq!(call!(cuMemFreeHost(pointer)), 1);
    });
    assert_eq!(num, 2);
    assert_eq!(call!(cuMemFree_v2(pointer)), 0);
    assert_eq!(call!(cuMemFreeHost(pinned)), 0);
    assert_eq!(call!(cuStreamDestroy_v2(stream)), 0);
    let num = breaches_of(|| {
        assert_eq!(call!(cuMemFree_v2(pointer)), 1);
        assert_eq!(call!(cuMemFreeHost(pinned)), 1);
        assert_eq!(call!(cuStreamDestroy_v2(stream)), 400);
    });
    assert_eq!(num, 3);
    assert_eq!(call!(cuCtxDestroy_v2(context)), 0);
}

#[test]
fn a_use_after_free_is_an_error_of_the_stream() {
    let (context, stream) = start();
    let mut pointer = 0;
    assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 4)), 0);
    assert_eq!(call!(cuMemFree_v2(pointer)), 0);
    assert_eq!(call!(cuMemsetD32Async(pointer, 1, 1, stream)), 0);
    assert_eq!(call!(cuStreamSynchronize(stream)), 700);
    assert_eq!(call!(cuStreamDestroy_v2(stream)), 0);
    assert_eq!(call!(cuCtxDestroy_v2(context)), 0);
}

#[test]
fn what_a_context_leaves_behind_is_a_breach() {
    let (context, _) = start();
    let num = breaches_of(|| assert_eq!(call!(cuCtxDestroy_v2(context)), 0));
    assert_eq!(num, 1);
    let num = breaches_of(|| assert_eq!(call!(cuCtxDestroy_v2(context)), 201));
    assert_eq!(num, 1);
}

#[test]
fn a_null_pointer_to_a_result_is_an_error() {
    let (context, stream) = start();
    assert_eq!(call!(cuMemAlloc_v2(Out::from_raw(null_mut()), 4)), 1);
    assert_eq!(call!(cuStreamDestroy_v2(stream)), 0);
    // The block that nobody knows is still there.
    let num = breaches_of(|| assert_eq!(call!(cuCtxDestroy_v2(context)), 0));
    assert_eq!(num, 1);
}

#[test]
fn copies_from_and_to_pageable_memory_need_no_wait() {
    let (context, stream) = start();
    let mut pointer = 0;
    let (mut from, mut to) = ([7_u32, 8], [0_u32; 2]);
    let (source, target) = (from.as_mut_ptr() as u64, to.as_mut_ptr() as u64);
    assert_eq!(call!(cuMemAlloc_v2(Out::to(&mut pointer), 8)), 0);
    assert_eq!(call!(cuMemcpyAsync(pointer, source, 8, stream)), 0);
    from = [0; 2];
    assert_eq!(call!(cuMemcpyAsync(target, pointer, 8, stream)), 0);
    assert_eq!((from, to), ([0; 2], [7, 8]));
    assert_eq!(call!(cuMemFree_v2(pointer)), 0);
    assert_eq!(call!(cuStreamDestroy_v2(stream)), 0);
    assert_eq!(call!(cuCtxDestroy_v2(context)), 0);
}

/// Returns a new descriptor of the backend API of `libcudnn`.
fn descriptor(kind: u32) -> u64 {
    let mut descriptor = 0;
    let created = call!(cudnnBackendCreateDescriptor(kind, Out::to(&mut descriptor)));
    assert_eq!(created, 0);
    descriptor
}

/// Sets an attribute of a descriptor to one value.
fn set<T>(descriptor: u64, name: u32, ty: u32, value: &T) {
    let value = In::at(std::ptr::from_ref(value).expose_provenance() as u64);
    let set = call!(cudnnBackendSetAttribute(descriptor, name, ty, 1, value));
    assert_eq!(set, 0);
}

#[test]
fn a_function_in_double_precision_takes_no_scales_in_single_precision() {
    // `CUDNN_DATA_FLOAT`, `CUDNN_DATA_DOUBLE` and `CUDNN_DATA_INT32`.
    for (precision, of_single) in [(0_u32, 0), (1, 2000), (4, 0)] {
        // A sum, with its mode and its precision.
        let sum = descriptor(0);
        set(sum, 0, 14, &0_u32);
        set(sum, 1, 1, &precision);
        assert_eq!(call!(cudnnBackendFinalize(sum)), 0);
        // The operation, with the sum, x, y and the scale of x. The tensors are read with a plan.
        let operation = descriptor(13);
        for name in [750, 751, 753] {
            set(operation, name, 15, &sum);
        }
        set(operation, 754, 4, &0.5_f32);
        assert_eq!(call!(cudnnBackendFinalize(operation)), of_single);
        if of_single != 0 {
            set(operation, 754, 5, &0.5_f64);
            assert_eq!(call!(cudnnBackendFinalize(operation)), 0);
        }
        assert_eq!(call!(cudnnBackendDestroyDescriptor(operation)), 0);
        assert_eq!(call!(cudnnBackendDestroyDescriptor(sum)), 0);
    }
}
