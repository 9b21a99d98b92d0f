//! The host device that all functions call, and what the emulator knows beyond it.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tfrt_gpu::api::{ContextHandle, Current, GpuError, GpuResult, Status};
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;

use crate::dnn::Descriptors;
use crate::fft::FftPlan;
use crate::plans::BackendDescriptors;

thread_local! {
    /// The current context of this thread.
    static CONTEXT: Cell<Option<ContextHandle>> = const { Cell::new(None) };
    /// The number of breaches that calls of this thread have reported.
    static NUM_BREACHES: Cell<usize> = const { Cell::new(0) };
    /// The number of this thread in the log.
    static THREAD: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The first address of the host device, and the one after the last.
const DEVICE_ADDRESSES: std::ops::Range<u64> = 0x0a00_0000_0000..0x1a00_0000_0000;

/// The kind of a memory block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Device,
    Pinned,
    Registered,
}

/// The state behind the functions.
#[derive(Debug)]
pub(crate) struct Emulator {
    pub(crate) device: Arc<HostDevice>,
    pub(crate) gpu: Arc<Gpu>,
    /// The sizes and kinds of memory blocks, by address.
    pub(crate) blocks: Mutex<BTreeMap<u64, (usize, BlockKind)>>,
    /// Plans of the FFT library, by their numbers.
    pub(crate) plans: Mutex<HashMap<i32, FftPlan>>,
    /// Descriptors of the library for neural networks.
    pub(crate) descriptors: Mutex<Descriptors>,
    /// Those of its backend API.
    pub(crate) backend: Mutex<BackendDescriptors>,
    /// The graphs that captures have returned, and whether an executable graph was made of each.
    pub(crate) templates: Mutex<HashMap<u64, bool>>,
    log: Option<Mutex<File>>,
}

/// Returns the emulator, which the first call creates.
pub(crate) fn emulator() -> &'static Emulator {
    static EMULATOR: OnceLock<Emulator> = OnceLock::new();
    EMULATOR.get_or_init(|| {
        let mut options = Options::default();
        let max_steps = std::env::var(crate::MAX_STEPS_VARIABLE).ok();
        if let Some(max_steps) = max_steps.and_then(|text| text.parse().ok()) {
            options.max_steps = max_steps;
        }
        let device = HostDevice::new(options);
        Emulator {
            gpu: HostDevice::gpu(&device),
            device,
            blocks: Mutex::default(),
            plans: Mutex::default(),
            descriptors: Mutex::default(),
            backend: Mutex::default(),
            templates: Mutex::default(),
            log: open_log(),
        }
    })
}

fn open_log() -> Option<Mutex<File>> {
    let path = std::env::var_os(crate::LOG_VARIABLE)?;
    match OpenOptions::new().append(true).create(true).open(&path) {
        Ok(file) => Some(Mutex::new(file)),
        Err(error) => {
            eprintln!("emulated CUDA: {}: {error}", path.display());
            None
        }
    }
}

/// Returns what a lock guards. A panic under a lock is a bug of the emulator, and is reported where
/// it happens.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports a call that a real library would answer with undefined behaviour, or not at all.
pub(crate) fn report_breach(symbol: &str, text: &str) {
    NUM_BREACHES.set(NUM_BREACHES.get() + 1);
    eprintln!("emulated CUDA: `{symbol}`: {text}");
}

/// Returns the number of breaches that calls of this thread have reported.
#[cfg(test)]
pub(crate) fn num_breaches() -> usize {
    NUM_BREACHES.get()
}

impl Emulator {
    /// Returns the current context of this thread.
    pub(crate) fn current(&self, call: &'static str) -> GpuResult<Current> {
        let Some(context) = CONTEXT.get() else {
            return Err(GpuError::new(call, Status::INVALID_CONTEXT)
                .with_details("no context is current on this thread"));
        };
        Current::set(&*self.gpu.driver, context)
    }

    /// Notes the current context of this thread.
    pub(crate) fn set_current(context: Option<ContextHandle>) {
        CONTEXT.set(context);
    }

    /// Notes that a context is gone.
    pub(crate) fn forget_context(context: ContextHandle) {
        if CONTEXT.get() == Some(context) {
            CONTEXT.set(None);
        }
    }

    /// Returns the kind of the block that an address lies in.
    pub(crate) fn kind_at(&self, address: u64) -> Option<BlockKind> {
        let blocks = lock(&self.blocks);
        if let Some((start, (num_bytes, kind))) = blocks.range(..=address).next_back()
            && address - start < *num_bytes as u64
        {
            return Some(*kind);
        }
        drop(blocks);
        // Variables of modules, and memory that was freed, whose use the host device reports.
        DEVICE_ADDRESSES
            .contains(&address)
            .then_some(BlockKind::Device)
    }

    /// Forgets a block of a kind. Others are breaches.
    pub(crate) fn take_block(
        &self,
        call: &'static str,
        address: u64,
        kind: BlockKind,
    ) -> GpuResult<()> {
        let mut blocks = lock(&self.blocks);
        match blocks.get(&address) {
            Some((_, found)) if *found == kind => {
                blocks.remove(&address);
                Ok(())
            }
            _ => {
                report_breach(call, &format!("no block of this kind at {address:#x}"));
                Err(GpuError::new(call, Status::INVALID_VALUE))
            }
        }
    }

    /// Writes the log, and reports breaches.
    pub(crate) fn log(&self, symbol: &'static str, code: u32, error: Option<GpuError>) {
        let is_breach = error.as_ref().is_some_and(|error| {
            matches!(
                error.status,
                Status::INVALID_HANDLE | Status::INVALID_CONTEXT | Status::NOT_INITIALIZED
            )
        });
        if let Some(error) = &error
            && is_breach
        {
            report_breach(symbol, &error.to_string());
        }
        let Some(log) = &self.log else {
            return;
        };
        let templates = lock(&self.templates).len();
        let num_empty = lock(&self.descriptors).num_empty() + lock(&self.backend).len();
        let num_plans = lock(&self.plans).len();
        let num_live = self.device.num_live() + num_plans + num_empty + templates;
        let mut lines = format!("{} {symbol} {code} {num_live}\n", thread_number());
        for detail in error.iter().flat_map(|error| error.details.lines()) {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "# {detail}");
        }
        // In one piece: another thread may write at the same time.
        if let Err(error) = lock(log).write_all(lines.as_bytes()) {
            report_breach(symbol, &format!("cannot write the log: {error}"));
        }
    }
}

/// Returns the number by which the system knows this thread, or 0.
pub(crate) fn thread_number() -> u32 {
    THREAD.get().unwrap_or_else(|| {
        let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        let number = link.file_name().and_then(|name| name.to_str());
        let number = number.and_then(|name| name.parse().ok()).unwrap_or(0);
        THREAD.set(Some(number));
        number
    })
}
