//! Settings of all pipelines of a host.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_host::HostContext;

/// Settings of the pipelines of a host. They do not change the elements.
///
/// ```
/// use tfrt_data::PipelineOptions;
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// PipelineOptions::default().with_skipped_end_calls(true).install(&host);
/// assert!(PipelineOptions::of(&host).skips_end_calls());
/// ```
#[derive(Clone, Debug, Default)]
pub struct PipelineOptions {
    skips_end_calls: bool,
    ram_budget: Option<u64>,
    cpu_budget: Option<usize>,
}

impl PipelineOptions {
    /// Sets whether functions of maps, filters and interleaves are called only for elements. By
    /// default, they are also called for ends and failed draws, with errors as arguments, as in the
    /// reference.
    #[must_use]
    pub fn with_skipped_end_calls(mut self, skips_end_calls: bool) -> Self {
        self.skips_end_calls = skips_end_calls;
        self
    }

    /// Sets the memory for the elements of stages that tune their own parallelism, in bytes. The
    /// default is half of the free memory.
    #[must_use]
    pub fn with_ram_budget(mut self, num_bytes: u64) -> Self {
        self.ram_budget = Some(num_bytes);
        self
    }

    /// Sets how many calls all stages that tune their own parallelism together may have under way.
    /// Each of them may have one at least. By default, each may have as many as its own maximum.
    #[must_use]
    pub fn with_cpu_budget(mut self, num_calls: usize) -> Self {
        self.cpu_budget = Some(num_calls);
        self
    }

    /// Returns `true` if functions are called only for elements.
    #[must_use]
    pub fn skips_end_calls(&self) -> bool {
        self.skips_end_calls
    }

    /// Returns the memory for the elements of self-tuning stages, in bytes.
    #[must_use]
    pub fn ram_budget(&self) -> u64 {
        self.ram_budget.unwrap_or_else(half_of_free_memory)
    }

    /// Returns how many calls all self-tuning stages together may have under way, if there is a
    /// limit.
    #[must_use]
    pub fn cpu_budget(&self) -> Option<usize> {
        self.cpu_budget
    }

    /// Installs the settings in a host. Passes that have already started may keep their budget.
    pub fn install(self, host: &HostContext) {
        *installed(host)
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(self);
    }

    /// Returns the settings of a host.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        let installed = installed(host);
        let options = installed.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&options)
    }
}

#[derive(Debug, Default)]
struct Installed(Mutex<Arc<PipelineOptions>>);

fn installed(host: &HostContext) -> Arc<Installed> {
    host.shared_context(Installed::default)
}

/// Returns half of the free memory, or one gibibyte if the system does not report it.
fn half_of_free_memory() -> u64 {
    const DEFAULT: u64 = 1 << 30;
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    free_memory(&info).map_or(DEFAULT, |num_bytes| num_bytes / 2)
}

/// Parses the available memory in `/proc/meminfo`, in bytes.
fn free_memory(info: &str) -> Option<u64> {
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The memory that the self-tuning stages of a host share.
#[derive(Debug)]
pub(crate) struct RamBudget {
    num_bytes: u64,
    /// The bytes that stages hold. It orders nothing, so all accesses are relaxed.
    num_held: AtomicU64,
}

impl RamBudget {
    pub(crate) fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| Self::new(PipelineOptions::of(host).ram_budget()))
    }

    fn new(num_bytes: u64) -> Self {
        Self {
            num_bytes,
            num_held: AtomicU64::new(0),
        }
    }

    /// Returns how many bytes are left. Another stage may take them first, so that the budget can
    /// be exceeded by one element per stage.
    pub(crate) fn num_left(&self) -> u64 {
        let held = self.num_held.load(Ordering::Relaxed);
        self.num_bytes.saturating_sub(held)
    }

    /// Returns `true` if this many bytes are left.
    pub(crate) fn has_left(&self, num_bytes: u64) -> bool {
        num_bytes <= self.num_left()
    }

    /// Takes bytes from the budget.
    pub(crate) fn take(&self, num_bytes: u64) {
        self.num_held.fetch_add(num_bytes, Ordering::Relaxed);
    }

    /// Returns bytes to the budget.
    pub(crate) fn give_back(&self, num_bytes: u64) {
        self.num_held.fetch_sub(num_bytes, Ordering::Relaxed);
    }
}

/// The calls that the self-tuning stages of a host may have under way together.
#[derive(Debug)]
pub(crate) struct CpuBudget {
    num_calls: usize,
    /// What stages have taken. It orders nothing, so all accesses are relaxed.
    num_taken: AtomicUsize,
}

impl CpuBudget {
    /// Returns the budget of a host, if it has one.
    pub(crate) fn of(host: &HostContext) -> Option<Arc<Self>> {
        let num_calls = PipelineOptions::of(host).cpu_budget()?;
        Some(host.shared_context(|| Self {
            num_calls,
            num_taken: AtomicUsize::new(0),
        }))
    }
}

/// The part of a [`CpuBudget`] that a stage has taken.
#[derive(Debug)]
pub(crate) struct TakenCalls {
    budget: Arc<CpuBudget>,
    num_taken: usize,
}

impl TakenCalls {
    pub(crate) fn none_of(budget: Arc<CpuBudget>) -> Self {
        let num_taken = 0;
        Self { budget, num_taken }
    }

    /// Takes as many calls in place of those taken before, or as many as are left. Returns their
    /// number, or one if there are none: a stage without calls would stand still.
    pub(crate) fn take(&mut self, wanted: usize) -> usize {
        if wanted != self.num_taken {
            let own = std::mem::take(&mut self.num_taken);
            self.budget.num_taken.fetch_sub(own, Ordering::Relaxed);
            let num_calls = self.budget.num_calls;
            let allowed = |taken: usize| wanted.min(num_calls.saturating_sub(taken));
            let taken =
                self.budget
                    .num_taken
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                        Some(taken + allowed(taken))
                    });
            self.num_taken = taken.map_or(0, allowed);
        }
        self.num_taken.max(1)
    }
}

impl Drop for TakenCalls {
    fn drop(&mut self) {
        self.take(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_share_the_calls_of_a_budget() {
        let budget = Arc::new(CpuBudget {
            num_calls: 5,
            num_taken: AtomicUsize::new(0),
        });
        let [mut first, mut second, mut third] =
            [0; 3].map(|_| TakenCalls::none_of(Arc::clone(&budget)));
        assert_eq!((first.take(4), second.take(4), third.take(4)), (4, 1, 1));
        assert_eq!((first.take(2), second.take(4), third.take(4)), (2, 3, 1));
        drop(second);
        assert_eq!((third.take(4), first.take(4)), (3, 2));
    }

    #[test]
    fn free_memory_is_what_the_system_says() {
        let info = "MemTotal:       16 kB\nMemAvailable:       8 kB\nBuffers: 1 kB\n";
        assert_eq!(free_memory(info), Some(8192));
        assert_eq!(free_memory("MemAvailable: much\n"), None);
        assert_eq!(free_memory(""), None);
    }

    #[test]
    fn what_was_taken_is_not_there_for_others() {
        let budget = RamBudget::new(100);
        budget.take(60);
        assert!(budget.has_left(40) && !budget.has_left(41) && !budget.has_left(u64::MAX));
        budget.give_back(60);
        assert!(budget.has_left(100));
    }
}
