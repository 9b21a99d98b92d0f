//! Modules, launches of their kernels, and graphs.

use std::io::Write;
use std::sync::Arc;

use tfrt_ptx::{KernelId, Launch, Module, Program};

use super::super::fault::Fault;
use super::super::memory::Kind;
use super::{CAPABILITY, HostModule, Shared, error, invalid, two_contexts};
use crate::api::driver::{Argument, LaunchConfig, ModuleCalls, check_arguments};
use crate::api::handle::{FunctionHandle, GraphHandle, ModuleHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuResult, Status};
use crate::values::lock;

/// The most threads of a block.
const MAX_BLOCK_THREADS: u64 = 1024;

/// The most dynamic shared memory of a launch, in bytes.
const MAX_SHARED_BYTES: u32 = 232_448;

/// The newest version of PTX that the host device reads.
const NEWEST_PTX: (u32, u32) = (9, 5);

impl ModuleCalls for Shared {
    fn module_load(&self, current: &Current, image: &[u8]) -> GpuResult<ModuleHandle> {
        const CALL: &str = "cuModuleLoadDataEx(&module, image, options)";
        self.0.enter_context("cuModuleLoadDataEx", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let end = image.iter().position(|byte| *byte == 0);
        let image = &image[..end.unwrap_or(image.len())];
        if image.starts_with(b"\x7fELF") {
            let details = "the host device runs PTX, not machine code";
            return Err(error(CALL, Status::NO_BINARY_FOR_GPU).with_details(details));
        }
        let text = std::str::from_utf8(image).map_err(|_| error(CALL, Status::INVALID_IMAGE))?;
        if !starts_as_ptx(text) {
            return Err(error(CALL, Status::INVALID_IMAGE));
        }
        let invalid = |log: String| {
            error(CALL, Status::INVALID_PTX).with_details(format!("GPU JIT error log: {log}"))
        };
        let module = Module::parse(text).map_err(|error| invalid(error.to_string()))?;
        if module.version() > NEWEST_PTX {
            let ((major, minor), (newest_major, newest_minor)) = (module.version(), NEWEST_PTX);
            let details = format!(
                "expected at most PTX {newest_major}.{newest_minor}, found {major}.{minor}"
            );
            return Err(error(CALL, Status::UNSUPPORTED_PTX_VERSION).with_details(details));
        }
        check_target(module.target()).map_err(invalid)?;
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        let mut variables = Vec::new();
        let mut is_full = false;
        let placed = Program::place(module, |variable| {
            if variable.is_extern() {
                return None;
            }
            let num_bytes = usize::try_from(variable.size()).ok()?.max(1);
            let address = memory.allocate(num_bytes, variable.align(), Kind::Global, owner);
            is_full |= address.is_none();
            variables.extend(address);
            address
        });
        let initialised = placed
            .map_err(|error| invalid(error.to_string()))
            .and_then(|program| match program.initialise(&mut *memory) {
                Ok(()) => Ok(program),
                Err(error) => Err(invalid(error.to_string())),
            });
        let program = initialised.map_err(|failure| {
            for address in &variables {
                memory.free(*address, Kind::Global);
            }
            match is_full {
                true => error(CALL, Status::OUT_OF_MEMORY),
                false => failure,
            }
        })?;
        drop(memory);
        let handle = self.0.new_handle();
        let module = HostModule {
            context: current.context(),
            program: Arc::new(program),
            variables,
        };
        lock(&self.0.objects).modules.insert(handle, module);
        Ok(ModuleHandle(handle))
    }

    fn module_unload(&self, module: ModuleHandle) -> GpuResult<()> {
        const CALL: &str = "cuModuleUnload(module)";
        self.0.enter("cuModuleUnload", CALL)?;
        self.0.refuse_in_capture(CALL)?;
        let found = lock(&self.0.objects)
            .modules
            .get(&module.0)
            .map(|module| module.context);
        if let Some(context) = found {
            self.0.wait_for_context(context);
        }
        let mut objects = lock(&self.0.objects);
        let Some(removed) = objects.modules.remove(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        objects.functions.retain(|_, (_, _, of)| *of != module.0);
        drop(objects);
        let mut memory = lock(&self.0.memory);
        for address in removed.variables {
            memory.free(address, Kind::Global);
        }
        Ok(())
    }

    fn module_function(&self, module: ModuleHandle, name: &str) -> GpuResult<FunctionHandle> {
        const CALL: &str = "cuModuleGetFunction(&function, module, name)";
        self.0.enter("cuModuleGetFunction", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some(found) = objects.modules.get(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let program = Arc::clone(&found.program);
        let Some(kernel) = program.module().kernel(name) else {
            return Err(error(CALL, Status::NOT_FOUND));
        };
        let handle = self.0.new_handle();
        objects
            .functions
            .insert(handle, (program, kernel, module.0));
        Ok(FunctionHandle(handle))
    }

    fn module_global(&self, module: ModuleHandle, name: &str) -> GpuResult<(DevicePtr, usize)> {
        const CALL: &str = "cuModuleGetGlobal(&ptr, &size, module, name)";
        self.0.enter("cuModuleGetGlobal", CALL)?;
        let objects = lock(&self.0.objects);
        let Some(module) = objects.modules.get(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let mut variables = module.program.module().variables();
        let variable = variables.find(|variable| variable.name() == name);
        let address = module.program.address(name);
        match (variable, address) {
            (Some(variable), Some(address)) => Ok((
                DevicePtr::new(address),
                usize::try_from(variable.size()).unwrap_or(0),
            )),
            _ => Err(error(CALL, Status::NOT_FOUND)),
        }
    }

    fn launch(
        &self,
        current: &Current,
        function: FunctionHandle,
        config: LaunchConfig,
        stream: StreamHandle,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        const CALL: &str = "cuLaunchKernel(function, grid, block, shared, stream, arguments)";
        self.0.enter_context("cuLaunchKernel", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        let (program, kernel) = {
            let objects = lock(&self.0.objects);
            let unknown = || error(CALL, Status::INVALID_HANDLE);
            let found = objects.functions.get(&function.0).cloned();
            let (program, kernel, module) = found.ok_or_else(unknown)?;
            let module = objects.modules.get(&module).ok_or_else(unknown)?;
            if module.context != queue.context {
                return Err(two_contexts(CALL, Status::INVALID_HANDLE));
            }
            (program, kernel)
        };
        check_launch(CALL, config)?;
        if let Some((line, instruction)) = program.module().unsupported(kernel) {
            return Err(error(CALL, Status::NOT_SUPPORTED).with_details(format!(
                "line {line}: the host device does not support the instruction `{instruction}`"
            )));
        }
        let parameters = parameters(CALL, &program, kernel, arguments)?;
        let max_steps = self.0.options.max_steps;
        self.push(CALL, &queue, move |device| {
            let launch = Launch {
                dynamic_shared: config.shared_bytes,
                max_steps,
                ..Launch::new(config.grid, config.block, &parameters)
            };
            let mut memory = lock(&device.memory);
            let (printed, result) = match program.launch(kernel, &launch, &mut *memory) {
                Ok(report) => (report.printed, Ok(())),
                Err(fault) => (fault.printed().to_owned(), Err(fault.into())),
            };
            drop(memory);
            if !printed.is_empty() {
                let mut out = std::io::stdout().lock();
                let written = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
                written.map_err(|error| Fault::failed(format!("cannot print: {error}")))?;
            }
            result
        })
    }

    fn capture_begin(&self, current: &Current, stream: StreamHandle) -> GpuResult<()> {
        self.begin_capture(current, stream)
    }

    fn capture_end(&self, current: &Current, stream: StreamHandle) -> GpuResult<GraphHandle> {
        self.end_capture(current, stream)
    }

    fn graph_launch(
        &self,
        current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        self.launch_graph(current, graph, stream)
    }

    fn graph_destroy(&self, graph: GraphHandle) -> GpuResult<()> {
        self.destroy_graph(graph)
    }
}

fn check_launch(call: &'static str, config: LaunchConfig) -> GpuResult<()> {
    let LaunchConfig {
        grid,
        block,
        shared_bytes,
    } = config;
    let num_threads: u64 = block.iter().map(|size| u64::from(*size)).product();
    config.check(call)?;
    if num_threads > MAX_BLOCK_THREADS || block[2] > 64 {
        return Err(invalid(
            call,
            format!("expected a block of at most {MAX_BLOCK_THREADS} threads, found {num_threads}"),
        ));
    }
    if grid[0] > 0x7fff_ffff || grid[1] > 0xffff || grid[2] > 0xffff {
        return Err(invalid(call, format!("the grid {grid:?} is too large")));
    }
    if shared_bytes > MAX_SHARED_BYTES {
        return Err(invalid(
            call,
            format!(
                "expected at most {MAX_SHARED_BYTES} bytes of shared memory, found {shared_bytes}"
            ),
        ));
    }
    Ok(())
}

/// Returns the block of parameters of a kernel.
fn parameters(
    call: &'static str,
    program: &Program,
    kernel: KernelId,
    arguments: &[Argument],
) -> GpuResult<Vec<u8>> {
    let places = program.module().parameters(kernel);
    check_arguments(call, places.iter().map(|place| place.size), arguments)?;
    let len = places.iter().map(|place| place.offset + place.size).max();
    let mut block = vec![0; len.unwrap_or(0)];
    for (place, argument) in places.iter().zip(arguments) {
        block[place.offset..place.offset + place.size].copy_from_slice(&argument.to_bytes());
    }
    Ok(block)
}

/// Checks that PTX is for an architecture that the host device has: its own, or an older one.
fn check_target(target: &str) -> Result<(), String> {
    let (major, minor) = CAPABILITY;
    let own = major * 10 + minor;
    let digits = target.strip_prefix("sm_").unwrap_or_default();
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
    match digits.parse::<i32>() {
        Ok(number) if number <= own => Ok(()),
        Ok(_) => Err(format!(
            "`.target {target}` is newer than the architecture of the device, which is `sm_{own}`"
        )),
        Err(_) => Err(format!(
            "expected a `.target` such as `sm_{own}`, found `{target}`"
        )),
    }
}

/// Returns `true` if the first word of a text is that of PTX. As drivers do, others are taken for
/// images of no known kind, and not compiled.
fn starts_as_ptx(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = match rest.get(..2) {
            Some("//") => rest.find('\n').map(|at| at + 1),
            Some("/*") => rest[2..].find("*/").map(|at| at + 4),
            _ => return rest.starts_with(".version"),
        };
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
}
