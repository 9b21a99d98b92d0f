//! The sink that sums up the times of kernels, and of the executor between them.
//!
//! Memory does not grow with time: each thread keeps a sum for every name, and the open scopes.
//! Time between kernels counts as the executor's only if the executor is known to be at work: after
//! the start of a path, or between two kernels of one invocation on one thread. Between paths a
//! thread may have waited, and that time is not counted.
//!
//! ```text
//! begin_path   begin      end        begin                                   end
//!     │ dispatch │ kernel 1 │ dispatch │  self  │ dispatch │ kernel 3 │  self  │
//!                                      └─────────────── kernel 2 ──────────────┘
//! ```

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tfrt_support::Place;

use super::sink::{Activity, Arrival, TracingSink, Work};
use crate::kernel::location::LocationSource;

/// For each kernel name, sums up the number of runs, their times, and the executor's dispatch
/// times.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::tracing::{self, KernelProfiler, KernelRun, Scope, TracingLevel};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
///
/// let host = HostContext::builder().build();
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
/// let profiler = Arc::new(KernelProfiler::new());
/// tracing::set_sink(Some(Arc::clone(&profiler) as _));
/// tracing::enable(TracingLevel::Debug);
/// for _ in 0..3 {
///     // As an executor does.
///     let _scope = Scope::enter_kernel(&ctx, || KernelRun {
///         name: "my.kernel",
///         ctx: &ctx,
///         location_token: 0,
///         invocation: 1,
///         stream: None,
///         operands: &[],
///         results: &[],
///     });
/// }
/// tracing::disable();
/// tracing::set_sink(None);
///
/// let times = profiler.kernels()["my.kernel"];
/// assert_eq!((times.num_runs, times.num_dispatches), (3, 2));
/// ```
pub struct KernelProfiler {
    /// Unique among profilers.
    number: u64,
    start: Instant,
    /// Whether kernels of one name at different places have sums of their own.
    keeps_places: bool,
    accounts: Mutex<Vec<Arc<Mutex<Account>>>>,
}

/// The total times of the runs of a kernel. All of them include the cost of recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTimes {
    /// The number of runs.
    pub num_runs: u64,
    /// From start to end, including nested kernels.
    pub total_ns: u64,
    /// From start to end, excluding kernels that ran inside it on the same thread and the
    /// executor's time between those.
    pub self_ns: u64,
    /// The number of kernels that ran inside it on the same thread, at any depth.
    pub num_nested: u64,
    /// The executor's time to reach it: from the end of the previous kernel, or from the start of
    /// the path.
    pub dispatch_ns: u64,
    /// The number of these times that follow another kernel.
    pub num_dispatches: u64,
    /// The number of these times that follow the start of a path.
    pub num_path_begins: u64,
    /// The number of its results that were unavailable when it returned.
    pub num_waits: u64,
    /// The time until they became available: what tasks and timers took to produce them, and the
    /// executor to reach those. Results of one run count individually.
    pub waited_ns: u64,
    /// The work that its runs have reported.
    pub work: Work,
}

/// The activities of one thread.
struct Account {
    /// The open scopes, innermost last, preceded by one that is always open.
    open: Vec<Open>,
    times: Vec<Times>,
    /// The index of the times of each kernel. Names are identified by address; equal names at
    /// different addresses are merged at the end.
    indices: HashMap<Key, usize>,
}

/// The times of a kernel.
struct Times {
    name: &'static str,
    /// Its location in a program. The source lives as long as its address stands for it.
    location: Option<Location>,
    sum: KernelTimes,
}

type Location = (Arc<dyn LocationSource>, u32);

/// The addresses of a kernel's name and of its location source, the length of the name, and the
/// location token.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    name: (usize, usize),
    location: Option<(usize, u32)>,
}

impl Times {
    fn place(&self) -> Place {
        let location = self.location.as_ref();
        location.map_or(Place::Unknown, |(source, token)| source.place(*token))
    }
}

/// An open scope.
struct Open {
    /// The index of its times and its invocation; `None` if it is not a kernel.
    kernel: Option<(usize, u64)>,
    start_ns: u64,
    /// The time of nested kernels and between them.
    nested_ns: u64,
    num_nested: u64,
    since: Since,
}

/// The start of the time to the next kernel.
#[derive(Clone, Copy)]
enum Since {
    Nothing,
    Path { at_ns: u64 },
    Kernel { invocation: u64, at_ns: u64 },
}

impl Since {
    /// Returns when the executor began to look for a kernel of `invocation`.
    fn at_ns(self, invocation: u64) -> Option<u64> {
        match self {
            Self::Path { at_ns } => Some(at_ns),
            Self::Kernel {
                invocation: before,
                at_ns,
            } => (before == invocation).then_some(at_ns),
            Self::Nothing => None,
        }
    }
}

impl Open {
    fn new(kernel: Option<(usize, u64)>, start_ns: u64) -> Self {
        Self {
            kernel,
            start_ns,
            nested_ns: 0,
            num_nested: 0,
            since: Since::Nothing,
        }
    }
}

impl Account {
    fn new() -> Self {
        Self {
            open: vec![Open::new(None, 0)],
            times: Vec::new(),
            indices: HashMap::new(),
        }
    }

    /// Returns the index of the times of a kernel.
    fn index(
        &mut self,
        name: &'static str,
        location: Option<(&Arc<dyn LocationSource>, u32)>,
    ) -> usize {
        let address = |source: &Arc<dyn LocationSource>| Arc::as_ptr(source).cast::<()>().addr();
        let key = Key {
            name: (name.as_ptr().addr(), name.len()),
            location: location.map(|(source, token)| (address(source), token)),
        };
        *self.indices.entry(key).or_insert_with(|| {
            self.times.push(Times {
                name,
                location: location.map(|(source, token)| (Arc::clone(source), token)),
                sum: KernelTimes::default(),
            });
            self.times.len() - 1
        })
    }

    fn innermost(&mut self) -> &mut Open {
        self.open
            .last_mut()
            .expect("the scope in front is always open")
    }

    fn begin(&mut self, kernel: Option<(usize, u64)>, now_ns: u64) {
        if let Some((index, invocation)) = kernel {
            let around = self.innermost();
            let since = around.since;
            if let Some(at_ns) = since.at_ns(invocation) {
                let dispatch_ns = now_ns.saturating_sub(at_ns);
                around.nested_ns += dispatch_ns;
                let times = &mut self.times[index].sum;
                times.dispatch_ns += dispatch_ns;
                match since {
                    Since::Path { .. } => times.num_path_begins += 1,
                    _ => times.num_dispatches += 1,
                }
            }
        }
        self.open.push(Open::new(kernel, now_ns));
    }

    fn end(&mut self, now_ns: u64) {
        // The first scope has no begin: what ends here may have begun before this profiler was
        // created.
        if self.open.len() == 1 {
            return;
        }
        let Some(ended) = self.open.pop() else {
            return;
        };
        let Some((index, invocation)) = ended.kernel else {
            // Not a kernel: its nested kernels count towards the enclosing scope.
            let around = self.innermost();
            around.nested_ns += ended.nested_ns;
            around.num_nested += ended.num_nested;
            return;
        };
        let total_ns = now_ns.saturating_sub(ended.start_ns);
        let times = &mut self.times[index].sum;
        times.num_runs += 1;
        times.total_ns += total_ns;
        times.self_ns += total_ns.saturating_sub(ended.nested_ns);
        times.num_nested += ended.num_nested;
        let around = self.innermost();
        around.nested_ns += total_ns;
        around.num_nested += ended.num_nested + 1;
        around.since = Since::Kernel {
            invocation,
            at_ns: now_ns,
        };
    }

    /// Adds work to the innermost kernel, regardless of other scopes open inside it.
    fn work(&mut self, work: Work) {
        let kernel = self.open.iter().rev().find_map(|open| open.kernel);
        if let Some((index, _)) = kernel {
            let done = &mut self.times[index].sum.work;
            done.flops = done.flops.saturating_add(work.flops);
            done.bytes = done.bytes.saturating_add(work.bytes);
        }
    }

    fn begin_path(&mut self, now_ns: u64) {
        self.innermost().since = Since::Path { at_ns: now_ns };
    }
}

thread_local! {
    /// The account of this thread, and the number of its profiler.
    static ACCOUNT: RefCell<Option<(u64, Arc<Mutex<Account>>)>> = const { RefCell::new(None) };
}

impl KernelProfiler {
    /// Creates a profiler that sums up the times of all kernels of one name.
    #[must_use]
    pub fn new() -> Self {
        Self::with_places(false)
    }

    /// Creates a profiler that also sums up the times of each kernel in a program by itself.
    #[must_use]
    pub fn per_place() -> Self {
        Self::with_places(true)
    }

    fn with_places(keeps_places: bool) -> Self {
        // Relaxed: only uniqueness matters; it orders no other memory.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            start: Instant::now(),
            keeps_places,
            accounts: Mutex::default(),
        }
    }

    /// Returns the times of each kernel that has ended so far, by name, over all threads.
    #[must_use]
    pub fn kernels(&self) -> BTreeMap<&'static str, KernelTimes> {
        let mut kernels: BTreeMap<&'static str, KernelTimes> = BTreeMap::new();
        for account in &*lock(&self.accounts) {
            for times in &lock(account).times {
                kernels.entry(times.name).or_default().add(times.sum);
            }
        }
        // Results may arrive of runs that ended before this profiler was created.
        kernels.retain(|_, times| times.num_runs > 0);
        kernels
    }

    /// Returns the name, place and times of each kernel in a program that has ended so far, over
    /// all threads, in the order in which a thread first met them. Unless the profiler was made
    /// [for that](Self::per_place), all places are unknown.
    #[must_use]
    pub fn kernels_by_place(&self) -> Vec<(&'static str, Place, KernelTimes)> {
        let mut kernels: Vec<(&'static str, Place, KernelTimes)> = Vec::new();
        let mut indices = HashMap::new();
        for account in &*lock(&self.accounts) {
            for times in &lock(account).times {
                let (name, place) = (times.name, times.place());
                let index = *indices.entry((name, place.clone())).or_insert_with(|| {
                    kernels.push((name, place, KernelTimes::default()));
                    kernels.len() - 1
                });
                kernels[index].2.add(times.sum);
            }
        }
        kernels.retain(|(_, _, times)| times.num_runs > 0);
        kernels
    }

    fn now_ns(&self) -> u64 {
        // 64 bits of nanoseconds are 584 years.
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Changes the account of this thread. Does nothing if the thread is ending.
    fn with_account(&self, change: impl FnOnce(&mut Account)) {
        let _ = ACCOUNT.try_with(|current| {
            let mut current = current.borrow_mut();
            let account = match &mut *current {
                Some((number, account)) if *number == self.number => account,
                other => &mut other.insert((self.number, self.open_account())).1,
            };
            change(&mut lock(account));
        });
    }

    fn open_account(&self) -> Arc<Mutex<Account>> {
        let account = Arc::new(Mutex::new(Account::new()));
        lock(&self.accounts).push(Arc::clone(&account));
        account
    }
}

impl KernelTimes {
    fn add(&mut self, other: Self) {
        self.num_runs += other.num_runs;
        self.total_ns += other.total_ns;
        self.self_ns += other.self_ns;
        self.num_nested += other.num_nested;
        self.dispatch_ns += other.dispatch_ns;
        self.num_dispatches += other.num_dispatches;
        self.num_path_begins += other.num_path_begins;
        self.num_waits += other.num_waits;
        self.waited_ns += other.waited_ns;
        self.work.flops = self.work.flops.saturating_add(other.work.flops);
        self.work.bytes = self.work.bytes.saturating_add(other.work.bytes);
    }
}

impl Default for KernelProfiler {
    fn default() -> Self {
        Self::new()
    }
}

/// Clocks are read last at the start of an activity and first at its end, so that recording is
/// measured between kernels rather than in them.
impl TracingSink for KernelProfiler {
    fn begin(&self, activity: Activity<'_>) {
        self.with_account(|account| {
            let kernel = activity.kernel.map(|run| {
                let source = run.ctx.location_source().filter(|_| self.keeps_places);
                let location = source.map(|source| (source, run.location_token));
                (account.index(run.name, location), run.invocation)
            });
            account.begin(kernel, self.now_ns());
        });
    }

    fn end(&self) {
        let now_ns = self.now_ns();
        self.with_account(|account| account.end(now_ns));
    }

    fn event(&self, _name: &str) {}

    fn arrived(&self, arrival: Arrival) {
        let waited_ns = u64::try_from(arrival.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.with_account(|account| {
            let source = arrival.location_source.as_ref();
            let source = source.filter(|_| self.keeps_places);
            let location = source.map(|source| (source, arrival.location_token));
            let index = account.index(arrival.kernel, location);
            let times = &mut account.times[index].sum;
            times.num_waits += 1;
            times.waited_ns = times.waited_ns.saturating_add(waited_ns);
        });
    }

    fn work(&self, work: Work) {
        self.with_account(|account| account.work(work));
    }

    fn begin_path(&self) {
        self.with_account(|account| account.begin_path(self.now_ns()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that runs under the locks panics half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for KernelProfiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelProfiler")
            .field("num_threads", &lock(&self.accounts).len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(account: &Account, name: &str) -> KernelTimes {
        let found = account.times.iter().find(|times| times.name == name);
        found.expect("the kernel ran").sum
    }

    /// Begins a kernel of invocation 1.
    fn begin(account: &mut Account, name: &'static str, now_ns: u64) {
        begin_of(account, 1, name, now_ns);
    }

    fn begin_of(account: &mut Account, invocation: u64, name: &'static str, now_ns: u64) {
        let index = account.index(name, None);
        account.begin(Some((index, invocation)), now_ns);
    }

    #[test]
    fn the_time_between_kernels_belongs_to_the_second() {
        let mut account = Account::new();
        begin(&mut account, "first", 10);
        account.end(15);
        begin(&mut account, "second", 22);
        account.end(40);
        let first = times(&account, "first");
        assert_eq!((first.self_ns, first.dispatch_ns), (5, 0));
        let second = times(&account, "second");
        assert_eq!((second.self_ns, second.dispatch_ns), (18, 7));
        assert_eq!((second.num_dispatches, second.num_path_begins), (1, 0));
    }

    #[test]
    fn work_is_that_of_the_kernel_that_reports_it() {
        let mut account = Account::new();
        let work = |flops, bytes| Work { flops, bytes };
        account.work(work(1, 1));
        begin(&mut account, "around", 0);
        account.work(work(10, 4));
        begin(&mut account, "inside", 1);
        // A scope that is not a kernel.
        account.begin(None, 2);
        account.work(work(7, 0));
        account.end(3);
        account.end(4);
        account.work(work(10, 4));
        account.end(5);
        assert_eq!(times(&account, "around").work, work(20, 8));
        assert_eq!(times(&account, "inside").work, work(7, 0));
    }

    #[test]
    fn between_paths_the_executor_is_not_at_work() {
        let mut account = Account::new();
        begin(&mut account, "a", 10);
        account.end(15);
        account.begin_path(100);
        begin(&mut account, "a", 103);
        account.end(104);
        let a = times(&account, "a");
        assert_eq!((a.num_runs, a.dispatch_ns), (2, 3));
        assert_eq!((a.num_dispatches, a.num_path_begins), (0, 1));
    }

    #[test]
    fn kernels_of_other_invocations_are_not_connected() {
        let mut account = Account::new();
        begin_of(&mut account, 1, "a", 10);
        account.end(15);
        begin_of(&mut account, 2, "b", 50);
        account.end(51);
        assert_eq!(times(&account, "b").dispatch_ns, 0);
    }

    #[test]
    fn a_caller_is_not_charged_with_what_it_calls() {
        let mut account = Account::new();
        begin(&mut account, "call", 0);
        account.begin_path(10);
        begin_of(&mut account, 2, "leaf", 12);
        account.end(20);
        begin_of(&mut account, 2, "leaf", 25);
        account.end(26);
        account.end(30);
        let call = times(&account, "call");
        // Ten before the path, four after the last kernel.
        assert_eq!((call.total_ns, call.self_ns, call.num_nested), (30, 14, 2));
        let leaf = times(&account, "leaf");
        assert_eq!((leaf.self_ns, leaf.dispatch_ns), (9, 7));
        assert_eq!(call.self_ns + leaf.self_ns + leaf.dispatch_ns, 30);
    }

    #[test]
    fn scopes_that_are_no_kernels_are_seen_through() {
        let mut account = Account::new();
        begin(&mut account, "call", 0);
        account.begin(None, 5);
        begin_of(&mut account, 2, "leaf", 6);
        account.end(8);
        account.end(20);
        account.end(30);
        let call = times(&account, "call");
        assert_eq!((call.self_ns, call.num_nested), (28, 1));
    }

    #[test]
    fn an_end_without_a_begin_is_passed_over() {
        let mut account = Account::new();
        account.end(5);
        begin(&mut account, "a", 10);
        account.end(11);
        assert_eq!(times(&account, "a").num_runs, 1);
    }

    #[derive(Debug)]
    struct Named(&'static str);

    impl LocationSource for Named {
        fn place(&self, token: u32) -> Place {
            Place::Text(format!("{} {token}", self.0).into())
        }

        fn debug_name(&self, _: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn kernels_at_different_places_have_times_of_their_own() {
        let profiler = KernelProfiler::per_place();
        let source: Arc<dyn LocationSource> = Arc::new(Named("conv"));
        let other: Arc<dyn LocationSource> = Arc::new(Named("pool"));
        let places = [(&source, 2), (&source, 1), (&other, 1), (&source, 2)];
        profiler.with_account(|account| {
            for (number, (source, token)) in places.into_iter().enumerate() {
                let index = account.index("a", Some((source, token)));
                account.begin(Some((index, 1)), 10 * number as u64);
                account.end(10 * number as u64 + 4);
            }
        });
        let found = profiler.kernels_by_place();
        let found: Vec<(String, u64)> = found
            .into_iter()
            .map(|(_, place, times)| (place.to_string(), times.num_runs))
            .collect();
        let expected = [("conv 2", 2), ("conv 1", 1), ("pool 1", 1)];
        assert_eq!(
            found,
            expected.map(|(place, runs)| (place.to_owned(), runs))
        );
        assert_eq!(profiler.kernels()["a"].num_runs, 4);
    }

    #[test]
    fn threads_are_added_up() {
        let profiler = KernelProfiler::new();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    profiler.with_account(|account| {
                        begin(account, "a", 1);
                        account.end(4);
                    });
                });
            }
        });
        let a = profiler.kernels()["a"];
        assert_eq!((a.num_runs, a.self_ns), (2, 6));
    }
}
