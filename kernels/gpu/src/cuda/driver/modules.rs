//! Modules, launches of their kernels, and graphs.
#![expect(unsafe_code, reason = "calls the driver")]

use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUfunction, CUjit_option, CUmodule, CUstream};

use super::super::keep::Held;
use super::super::object::{Function, Kind, Object};
use super::memory::Memory;
use super::{CudaDriver, same_context, text_of};
use crate::api::driver::{Argument, LaunchConfig, ModuleCalls, check_argument, check_count};
use crate::api::handle::{FunctionHandle, GraphHandle, ModuleHandle, StreamHandle};
use crate::api::known::KnownFunction;
use crate::api::{Current, DevicePtr, GpuResult, Status};
use crate::cuda::{call, unknown};

/// The arguments of a launch that take no memory of the heap.
const NUM_INLINE: usize = 16;

/// The place of a pointer to an argument. Those that a launch does not use are never written.
type Pointer = MaybeUninit<*mut c_void>;

/// Bytes of each log of the compiler.
const LOG_BYTES: usize = 4096;

/// The call of launches, in errors.
const LAUNCH: &str = "cuLaunchKernel(function, grid, block, shared, stream, arguments)";

impl CudaDriver {
    /// Returns the sizes of a kernel's parameters.
    fn parameters(&self, function: CUfunction) -> Option<Arc<[usize]>> {
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            let result = call!(
                self.functions,
                "cuFuncGetParamInfo(function, index, &offset, &size)",
                cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size)
            );
            match result {
                Ok(()) => sizes.push(size),
                // Behind the last one.
                Err(error) if error.status == Status::INVALID_VALUE => return Some(sizes.into()),
                Err(_) => return None,
            }
        }
    }
}

impl ModuleCalls for CudaDriver {
    fn module_load(&self, current: &Current, image: &[u8]) -> GpuResult<ModuleHandle> {
        const CALL: &str = "cuModuleLoadDataEx(&module, image, options)";
        let context = self.of(CALL, current)?;
        // The driver reads up to a NUL.
        let mut image = image.to_vec();
        image.push(0);
        let (mut info, mut errors) = ([0u8; LOG_BYTES], [0u8; LOG_BYTES]);
        let mut options = [
            CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_LOG_VERBOSE,
        ];
        // Numbers are passed as pointers.
        let mut values: [*mut c_void; 5] = [
            info.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            errors.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG_BYTES),
            ptr::without_provenance_mut(1),
        ];
        let mut module: CUmodule = ptr::null_mut();
        let loaded = call!(
            self.functions,
            "cuModuleLoadDataEx(&module, image, options)",
            cuModuleLoadDataEx(
                &mut module,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        );
        if let Err(error) = loaded {
            let logs = [text_of(&errors), text_of(&info)].join("\n");
            return Err(match logs.trim() {
                "" => error,
                logs => error.with_details(format!("GPU JIT error log: {logs}")),
            });
        }
        self.add_object(module as u64, Kind::Module, context);
        Ok(ModuleHandle(module as u64))
    }

    fn module_unload(&self, module: ModuleHandle) -> GpuResult<()> {
        self.blocks
            .retain(|kind| !matches!(kind, Memory::Global { module: owner } if *owner == module.0));
        self.kernels
            .retain(|function| function.module.number != module.0);
        self.end("cuModuleUnload(module)", Kind::Module, module.0)
    }

    fn module_function(&self, module: ModuleHandle, name: &str) -> GpuResult<FunctionHandle> {
        const CALL: &str = "cuModuleGetFunction(&function, module, name)";
        let module = self.object(CALL, Kind::Module, module.0)?;
        let name = c_name(name);
        let mut function: CUfunction = ptr::null_mut();
        call!(
            self.functions,
            "cuModuleGetFunction(&function, module, name)",
            cuModuleGetFunction(&mut function, module.number as CUmodule, name.as_ptr())
        )?;
        let listed = self.kernels.get(function as u64);
        if listed.is_some_and(|listed| Arc::ptr_eq(&listed.module, &module)) {
            // What is known of it stays so.
            return Ok(FunctionHandle(function as u64));
        }
        let parameters = self.parameters(function);
        self.kernels.add(
            function as u64,
            Function {
                number: function as u64,
                module,
                parameters,
            },
        );
        Ok(FunctionHandle(function as u64))
    }

    fn known_function(&self, function: FunctionHandle) -> Option<KnownFunction> {
        self.function_of(function)
    }

    fn module_global(&self, module: ModuleHandle, name: &str) -> GpuResult<(DevicePtr, usize)> {
        const CALL: &str = "cuModuleGetGlobal(&ptr, &size, module, name)";
        let object = self.object(CALL, Kind::Module, module.0)?;
        let name = c_name(name);
        let (mut pointer, mut num_bytes) = (0, 0);
        call!(
            self.functions,
            "cuModuleGetGlobal(&ptr, &size, module, name)",
            cuModuleGetGlobal_v2(
                &mut pointer,
                &mut num_bytes,
                object.number as CUmodule,
                name.as_ptr()
            )
        )?;
        let pointer = DevicePtr::new(pointer);
        self.blocks
            .add(pointer, num_bytes, Memory::Global { module: module.0 });
        Ok((pointer, num_bytes))
    }

    fn launch(
        &self,
        _current: &Current,
        function: FunctionHandle,
        config: LaunchConfig,
        stream: StreamHandle,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        let function = self
            .kernels
            .get_again(function.0)
            .ok_or_else(|| unknown(LAUNCH))?;
        let stream = self.stream(LAUNCH, stream)?;
        let Function {
            number,
            module,
            parameters,
        } = &*function;
        same_context(
            LAUNCH,
            &module.context,
            &stream.context,
            Status::INVALID_HANDLE,
        )?;
        // A graph keeps the module of each of its kernels.
        stream.in_capture(|capture| {
            let module = Held::object(Box::new(Arc::clone(module)));
            capture.held.push(module);
        });
        match parameters {
            Some(parameters) => launch_on(&stream, *number, parameters, &config, arguments),
            None => launch_packed(&stream, *number, &config, arguments),
        }
    }

    fn capture_begin(&self, _current: &Current, stream: StreamHandle) -> GpuResult<()> {
        self.begin_capture(stream)
    }

    fn capture_end(&self, _current: &Current, stream: StreamHandle) -> GpuResult<GraphHandle> {
        self.end_capture(stream)
    }

    fn graph_launch(
        &self,
        _current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        self.launch_graph(graph, stream)
    }

    fn graph_destroy(&self, graph: GraphHandle) -> GpuResult<()> {
        self.destroy_graph(graph)
    }
}

/// Launches a kernel on a stream, both of which the caller keeps. The kernel has parameters of
/// these sizes.
#[inline(always)]
pub(super) fn launch_on(
    stream: &Object,
    function: u64,
    parameters: &[usize],
    config: &LaunchConfig,
    arguments: &[Argument],
) -> GpuResult<()> {
    config.check(LAUNCH)?;
    check_count(LAUNCH, parameters.len(), arguments)?;
    let mut few = [const { Pointer::uninit() }; NUM_INLINE];
    let Some(few) = few.get_mut(..arguments.len()) else {
        return launch_many(stream, function, parameters, config, arguments);
    };
    // The driver reads as much behind each pointer as the parameter has.
    let pointers = pointers_to(arguments, parameters, few)?;
    call_launch(stream, function, config, pointers, ptr::null_mut())
}

/// Launches a kernel with more arguments than most have.
#[cold]
fn launch_many(
    stream: &Object,
    function: u64,
    parameters: &[usize],
    config: &LaunchConfig,
    arguments: &[Argument],
) -> GpuResult<()> {
    let mut many = vec![Pointer::uninit(); arguments.len()];
    let pointers = pointers_to(arguments, parameters, &mut many)?;
    call_launch(stream, function, config, pointers, ptr::null_mut())
}

/// Launches a kernel whose parameters the driver does not tell: it gets one block of bytes, and its
/// length.
#[cold]
fn launch_packed(
    stream: &Object,
    function: u64,
    config: &LaunchConfig,
    arguments: &[Argument],
) -> GpuResult<()> {
    config.check(LAUNCH)?;
    let mut block = pack(arguments);
    let mut len = block.len();
    let mut extra: [*mut c_void; 5] = [
        ptr::without_provenance_mut(1),
        block.as_mut_ptr().cast(),
        ptr::without_provenance_mut(2),
        ptr::from_mut(&mut len).cast(),
        ptr::null_mut(),
    ];
    let extra = extra.as_mut_ptr();
    call_launch(stream, function, config, ptr::null_mut(), extra)
}

// Inlined, as most of what it does is to pass on what its callers have.
#[inline(always)]
fn call_launch(
    stream: &Object,
    function: u64,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> GpuResult<()> {
    let LaunchConfig {
        grid: [gx, gy, gz],
        block: [bx, by, bz],
        shared_bytes,
    } = *config;
    call!(
        stream.context.functions,
        "cuLaunchKernel(function, grid, block, shared, stream, arguments)",
        cuLaunchKernel(
            function as CUfunction,
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared_bytes,
            stream.number as CUstream,
            pointers,
            extra
        )
    )
}

/// Writes pointers to the bytes of arguments, which are only read, and returns the list of them,
/// which has as many places.
///
/// # Errors
/// If an argument does not have the size of its parameter.
#[inline(always)]
fn pointers_to(
    arguments: &[Argument],
    parameters: &[usize],
    pointers: &mut [Pointer],
) -> GpuResult<*mut *mut c_void> {
    let pairs = arguments.iter().zip(parameters);
    for (index, (pointer, (argument, expected))) in pointers.iter_mut().zip(pairs).enumerate() {
        check_argument(LAUNCH, index, *expected, argument)?;
        pointer.write(pointer_to(argument));
    }
    Ok(pointers.as_mut_ptr().cast())
}

/// Returns a pointer to the bytes of an argument, lowest first.
fn pointer_to(argument: &Argument) -> *mut c_void {
    let bytes: *const c_void = match argument {
        Argument::Pointer(pointer) => ptr::from_ref(pointer).cast(),
        Argument::Bits32(bits) => ptr::from_ref(bits).cast(),
        Argument::Bits64(bits) => ptr::from_ref(bits).cast(),
    };
    bytes.cast_mut()
}

/// Arguments in sequence, each at a multiple of its size.
fn pack(arguments: &[Argument]) -> Vec<u8> {
    let mut block = Vec::new();
    for argument in arguments {
        let bytes = argument.to_bytes();
        block.resize(block.len().next_multiple_of(bytes.len()), 0);
        block.extend(bytes);
    }
    block
}

/// Names end at the first NUL.
fn c_name(name: &str) -> CString {
    let name = name.split('\0').next().unwrap_or_default();
    CString::new(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_packed_at_multiples_of_their_size() {
        let arguments = [
            Argument::Bits32(1),
            Argument::Bits64(2),
            Argument::Bits32(3),
        ];
        let mut expected = vec![1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([3, 0, 0, 0]);
        assert_eq!(pack(&arguments), expected);
    }

    #[test]
    fn each_argument_has_a_pointer_to_its_bytes() {
        for len in [0, 1, NUM_INLINE, NUM_INLINE + 1, 60] {
            let argument = |index: u32| match index % 3 {
                0 => Argument::Bits32(index),
                1 => Argument::Bits64(index.into()),
                _ => Argument::Pointer(DevicePtr::new(index.into())),
            };
            let arguments: Vec<Argument> = (0..len as u32).map(argument).collect();
            let mut sizes: Vec<usize> = arguments.iter().map(|it| it.num_bytes()).collect();
            let mut places = vec![Pointer::uninit(); len];
            let pointers = pointers_to(&arguments, &sizes, &mut places).unwrap();
            // SAFETY: there are so many pointers, which live as long as this runs.
            let pointers = unsafe { std::slice::from_raw_parts(pointers, len) };
            for (index, (pointer, argument)) in pointers.iter().zip(&arguments).enumerate() {
                let found = match argument.num_bytes() {
                    // SAFETY: it is to the bytes of an argument, of which there are so many.
                    4 => unsafe { pointer.cast::<u32>().read() }.into(),
                    // SAFETY: as above.
                    _ => unsafe { pointer.cast::<u64>().read() },
                };
                assert_eq!(found, index as u64);
            }
            if let Some(last) = sizes.last_mut() {
                *last += 1;
                let refused = pointers_to(&arguments, &sizes, &mut places);
                let text = format!("argument {}: expected ", len - 1);
                assert!(refused.is_err_and(|error| error.details.starts_with(&text)));
            }
        }
    }

    #[test]
    fn names_and_texts_end_at_the_first_nul() {
        assert_eq!(c_name("kernel\0rest").as_bytes(), b"kernel");
        assert_eq!(text_of(b"log\0rest"), "log");
    }
}
