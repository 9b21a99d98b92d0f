//! `libcusolver`.

use std::ffi::c_int;

use tfrt_gpu::api::SolverHandle;
use tfrt_gpu::api::StreamHandle;
use tfrt_gpu::api::solver::Potrf;

use crate::abi::{Out, device, exports};

exports! { Solver:
    fn cusolverGetVersion(version: Out<c_int>) |_emulator, CALL| {
        version.set(CALL, 11702)
    }

    fn cusolverDnCreate(handle: Out<u64>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        handle.set(CALL, emulator.gpu.solver.create(&current)?.0)
    }

    fn cusolverDnDestroy(handle: u64) |emulator, CALL| {
        emulator.gpu.solver.destroy(SolverHandle(handle))
    }

    fn cusolverDnSetStream(handle: u64, stream: u64) |emulator, CALL| {
        emulator.gpu.solver.set_stream(SolverHandle(handle), StreamHandle(stream))
    }
}

/// Exports the Cholesky factorization of a type of elements, by the number of its `cudaDataType`.
macro_rules! potrf {
    ($($data_type:literal: $buffer_size:ident $potrf:ident $batched:ident)*) => {
        exports! { Solver: $(
            fn $buffer_size(handle: u64, fill: c_int, n: c_int, a: u64, height: c_int, len: Out<c_int>) |emulator, CALL| {
                let current = emulator.current(CALL)?;
                let call = Potrf { data_type: $data_type, fill, n, a: device(a), height };
                let solver = &emulator.gpu.solver;
                len.set(CALL, solver.potrf_buffer_size(&current, SolverHandle(handle), &call)?)
            }

            fn $potrf(
                handle: u64, fill: c_int, n: c_int, a: u64, height: c_int, workspace: u64, len: c_int, info: u64,
            ) |emulator, CALL| {
                let current = emulator.current(CALL)?;
                let call = Potrf { data_type: $data_type, fill, n, a: device(a), height };
                let (workspace, info) = (device(workspace), device(info));
                let solver = &emulator.gpu.solver;
                solver.potrf(&current, SolverHandle(handle), &call, workspace, len, info)
            }

            fn $batched(
                handle: u64, fill: c_int, n: c_int, a: u64, height: c_int, infos: u64, batch_count: c_int,
            ) |emulator, CALL| {
                let current = emulator.current(CALL)?;
                let call = Potrf { data_type: $data_type, fill, n, a: device(a), height };
                let solver = &emulator.gpu.solver;
                solver.potrf_batched(&current, SolverHandle(handle), &call, device(infos), batch_count)
            }
        )* }
    };
}

potrf! {
    0: cusolverDnSpotrf_bufferSize cusolverDnSpotrf cusolverDnSpotrfBatched
    1: cusolverDnDpotrf_bufferSize cusolverDnDpotrf cusolverDnDpotrfBatched
    4: cusolverDnCpotrf_bufferSize cusolverDnCpotrf cusolverDnCpotrfBatched
    5: cusolverDnZpotrf_bufferSize cusolverDnZpotrf cusolverDnZpotrfBatched
}
