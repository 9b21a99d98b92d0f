//! `libcuda`: modules and launches.

use std::ffi::c_uint;

use tfrt_gpu::api::driver::{Argument, LaunchConfig};
use tfrt_gpu::api::{FunctionHandle, ModuleHandle};
use tfrt_gpu::api::{GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{In, Out, exports, read_host, write_host};
use crate::emulator::Emulator;

/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const ERROR_LOG: [c_uint; 2] = [5, 6];

/// Writes the log of the compiler to the caller's buffer, if the options have one.
fn write_error_log(
    call: &'static str,
    text: &str,
    num_options: c_uint,
    options: In<c_uint>,
    values: In<u64>,
) -> GpuResult<()> {
    let (mut buffer, mut len) = (0, 0);
    for index in 0..num_options as usize {
        let value = values.get(call, index)?;
        match options.get(call, index)? {
            option if option == ERROR_LOG[0] => buffer = value,
            // The number is in the place of a pointer.
            option if option == ERROR_LOG[1] => len = value as usize,
            _ => {}
        }
    }
    if buffer != 0 && len > 0 {
        let mut text = text.as_bytes().to_vec();
        text.truncate(len - 1);
        text.push(0);
        write_host(buffer, &text);
    }
    Ok(())
}

fn parameters(
    emulator: &Emulator,
    call: &'static str,
    function: u64,
) -> GpuResult<Vec<(usize, usize)>> {
    let found = emulator.device.parameters(FunctionHandle(function));
    found.ok_or_else(|| GpuError::new(call, Status::INVALID_HANDLE))
}

/// Returns an argument of a number of bytes.
fn argument(call: &'static str, bytes: &[u8]) -> GpuResult<Argument> {
    match bytes.len() {
        4 => Ok(Argument::Bits32(u32::from_le_bytes(std::array::from_fn(
            |index| bytes[index],
        )))),
        8 => Ok(Argument::Bits64(u64::from_le_bytes(std::array::from_fn(
            |index| bytes[index],
        )))),
        len => Err(
            GpuError::new(call, Status::NOT_SUPPORTED).with_details(format!(
                "the emulator does not support arguments of {len} bytes"
            )),
        ),
    }
}

/// Returns the block of arguments that `extra` describes: a list of keys and values.
fn packed(call: &'static str, extra: In<u64>) -> GpuResult<Vec<u8>> {
    let (mut buffer, mut len) = (0, 0);
    for index in (0..).step_by(2) {
        match extra.get(call, index)? {
            // `CU_LAUNCH_PARAM_END`, `…_BUFFER_POINTER` and `…_BUFFER_SIZE`.
            0 => break,
            1 => buffer = extra.get(call, index + 1)?,
            2 => len = extra.get(call, index + 1)?,
            _ => return Err(GpuError::new(call, Status::INVALID_VALUE)),
        }
    }
    let len = In::<u64>::at(len).get(call, 0)?;
    Ok(read_host(buffer, len as usize))
}

exports! { Driver:
    fn cuModuleLoadDataEx(
        module: Out<u64>,
        image: In<u8>,
        num_options: c_uint,
        options: In<c_uint>,
        values: In<u64>,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let mut text = image.text(CALL)?;
        text.push(0);
        match emulator.gpu.driver.module_load(&current, &text) {
            Ok(handle) => module.set(CALL, handle.0),
            Err(error) => {
                let log = error.details.trim_start_matches("GPU JIT error log: ");
                write_error_log(CALL, log, num_options, options, values)?;
                Err(error)
            }
        }
    }

    fn cuModuleUnload(module: u64) |emulator, CALL| {
        emulator.gpu.driver.module_unload(ModuleHandle(module))
    }

    fn cuModuleGetFunction(function: Out<u64>, module: u64, name: In<u8>) |emulator, CALL| {
        let name = String::from_utf8_lossy(&name.text(CALL)?).into_owned();
        let handle = emulator.gpu.driver.module_function(ModuleHandle(module), &name)?;
        function.set(CALL, handle.0)
    }

    fn cuModuleGetGlobal_v2(
        pointer: Out<u64>,
        num_bytes: Out<usize>,
        module: u64,
        name: In<u8>,
    ) |emulator, CALL| {
        let name = String::from_utf8_lossy(&name.text(CALL)?).into_owned();
        let (address, len) = emulator.gpu.driver.module_global(ModuleHandle(module), &name)?;
        pointer.set(CALL, address.address())?;
        num_bytes.set(CALL, len)
    }

    fn cuFuncGetParamInfo(
        function: u64,
        index: usize,
        offset: Out<usize>,
        num_bytes: Out<usize>,
    ) |emulator, CALL| {
        let parameters = parameters(emulator, CALL, function)?;
        let Some((found_offset, found_size)) = parameters.get(index) else {
            return Err(GpuError::new(CALL, Status::INVALID_VALUE));
        };
        offset.set(CALL, *found_offset)?;
        num_bytes.set(CALL, *found_size)
    }

    fn cuLaunchKernel(
        function: u64,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: u64,
        pointers: In<u64>,
        extra: In<u64>,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let parameters = parameters(emulator, CALL, function)?;
        let block = match pointers.is_null() && !extra.is_null() {
            true => Some(packed(CALL, extra)?),
            false => None,
        };
        let mut arguments = Vec::with_capacity(parameters.len());
        for (index, (offset, size)) in parameters.iter().copied().enumerate() {
            let bytes = match &block {
                Some(block) => block
                    .get(offset..offset + size)
                    .ok_or_else(|| GpuError::new(CALL, Status::INVALID_VALUE))?
                    .to_vec(),
                None => read_host(pointers.get(CALL, index)?, size),
            };
            arguments.push(argument(CALL, &bytes)?);
        }
        let config = LaunchConfig {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
        };
        let (function, stream) = (FunctionHandle(function), StreamHandle(stream));
        emulator.gpu.driver.launch(&current, function, config, stream, &arguments)
    }
}
