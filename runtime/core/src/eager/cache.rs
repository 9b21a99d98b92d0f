//! The cache of made ops, by device and name.
//!
//! Readers take no lock: they read a [`Published`] table. A new op is added to a copy of the table,
//! which replaces the table. This is rare, because programs reuse few ops. The cache limits the
//! number of its ops and their bytes. It evicts the least recently used eighth at once, so that
//! copies for evictions are rare as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_async::Published;
use tfrt_support::id_map::IdMap;

use super::known::KnownOp;

/// The contents of the cache of ops, and its hit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheStats {
    /// The number of ops.
    pub entries: usize,
    /// The approximate number of bytes that they take.
    pub bytes: usize,
    /// The number of lookups that found an op.
    pub hits: u64,
    /// The number of lookups that had to make an op.
    pub misses: u64,
}

/// The number of bytes of an op without its name, the sets of attributes that it keeps, and what
/// the op itself owns.
const NUM_OWN_BYTES: usize = size_of::<CachedOp>() + size_of::<KnownOp>();

/// The limits of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheLimits {
    pub(super) max_ops: usize,
    pub(super) max_bytes: usize,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self {
            max_ops: 4096,
            max_bytes: 64 << 20,
        }
    }
}

/// A cache of made ops.
pub(super) struct OpCache {
    table: Published<Table>,
    limits: CacheLimits,
    /// A clock that counts uses.
    time: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Clone, Default)]
struct Table {
    /// The ops by name, at the index of their device.
    ops: Vec<OpsByName>,
    num_ops: usize,
    num_bytes: usize,
}

/// The names are those of ops, so that nobody can choose them to collide.
type OpsByName = IdMap<Arc<str>, Arc<CachedOp>>;

struct CachedOp {
    op: Arc<KnownOp>,
    num_bytes: usize,
    /// The time of the last use.
    used: AtomicU64,
}

impl OpCache {
    pub(super) fn new(num_devices: usize, limits: CacheLimits) -> Self {
        Self {
            table: Published::new(Table::new(num_devices)),
            limits,
            time: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the op of this name on a device, if it is in the cache.
    pub(super) fn get(&self, device: usize, name: &str) -> Option<Arc<KnownOp>> {
        let found = self.table.read(|table| {
            let cached = table.ops[device].get(name)?;
            // Relaxed: the order of uses need not be exact.
            let now = self.time.fetch_add(1, Ordering::Relaxed);
            cached.used.store(now, Ordering::Relaxed);
            Some(Arc::clone(&cached.op))
        });
        // Relaxed: statistics.
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Keeps an op, and evicts others if the cache is full. This op is always kept.
    pub(super) fn insert(&self, device: usize, op: &Arc<KnownOp>) {
        let added = self.cached(op);
        self.table.replace(|table| {
            let mut table = table.clone();
            table.put(device, added, self.limits);
            table
        });
    }

    /// Counts the bytes of an op again, after they have grown, and evicts other ops if the cache is
    /// full. Does nothing if the op has been evicted.
    pub(super) fn recount(&self, device: usize, op: &Arc<KnownOp>) {
        self.table.replace(|table| {
            let mut table = table.clone();
            let kept = table.ops[device].get(op.name.as_str());
            if kept.is_some_and(|kept| Arc::ptr_eq(&kept.op, op)) {
                // Counted under the lock of the writers: the last one counts all bytes.
                table.put(device, self.cached(op), self.limits);
            }
            table
        });
    }

    fn cached(&self, op: &Arc<KnownOp>) -> CachedOp {
        CachedOp {
            op: Arc::clone(op),
            num_bytes: NUM_OWN_BYTES + op.name.len() + op.num_set_bytes() + op.op.num_bytes(),
            // Relaxed: as in `get`.
            used: AtomicU64::new(self.time.fetch_add(1, Ordering::Relaxed)),
        }
    }

    pub(super) fn clear(&self) {
        self.table.replace(|table| Table::new(table.ops.len()));
    }

    pub(super) fn stats(&self) -> CacheStats {
        let (entries, bytes) = self.table.read(|table| (table.num_ops, table.num_bytes));
        // Relaxed: statistics.
        CacheStats {
            entries,
            bytes,
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

impl Table {
    fn new(num_devices: usize) -> Self {
        Self {
            ops: vec![IdMap::default(); num_devices],
            ..Self::default()
        }
    }

    /// Adds an op in place of the one of its name, and evicts others if the table is full.
    fn put(&mut self, device: usize, added: CachedOp, limits: CacheLimits) {
        let name: Arc<str> = added.op.name.as_str().into();
        self.remove(device, &name);
        let has_room = |table: &Self| {
            table.num_ops < limits.max_ops.max(1)
                && table.num_bytes.saturating_add(added.num_bytes) <= limits.max_bytes
        };
        while self.num_ops != 0 && !has_room(self) {
            self.remove_oldest();
        }
        self.num_ops += 1;
        self.num_bytes += added.num_bytes;
        self.ops[device].insert(name, Arc::new(added));
    }

    fn remove(&mut self, device: usize, name: &str) {
        if let Some(removed) = self.ops[device].remove(name) {
            self.num_ops -= 1;
            self.num_bytes -= removed.num_bytes;
        }
    }

    /// Removes the least recently used eighth of the ops.
    fn remove_oldest(&mut self) {
        // Ops are used meanwhile: reading each time once keeps the order consistent.
        let mut times = Vec::with_capacity(self.num_ops);
        for (device, ops) in self.ops.iter().enumerate() {
            let used = ops
                .iter()
                .map(|(name, cached)| (cached.used.load(Ordering::Relaxed), device, name));
            times.extend(used.map(|(time, device, name)| (time, device, Arc::clone(name))));
        }
        times.sort_unstable();
        let num_removed = (times.len() / 8).max(1);
        for (_, device, name) in times.into_iter().take(num_removed) {
            self.remove(device, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::{AttributeSet, Facts};
    use super::*;
    use crate::attrs::OpAttrsRef;
    use crate::core_op::{CoreRuntimeOp, OpInvocation, RunOp};

    /// An op that reports a given size.
    #[derive(Debug)]
    struct Large(usize);

    impl RunOp for Large {
        fn run(&self, _invocation: &mut OpInvocation<'_>) {}

        fn num_bytes(&self) -> usize {
            self.0
        }
    }

    fn large(name: &str, num_bytes: usize) -> Arc<KnownOp> {
        let op = CoreRuntimeOp::new(Large(num_bytes));
        Arc::new(KnownOp::new(name.into(), op, Facts::of(None)))
    }

    fn kept(cache: &OpCache) -> String {
        let mut names: Vec<String> = cache.table.read(|table| {
            let names = table.ops.iter().flat_map(IdMap::keys);
            names.map(|name| name.to_string()).collect()
        });
        names.sort_unstable();
        names.concat()
    }

    #[test]
    fn bytes_are_bounded_and_what_was_used_last_stays() {
        let limits = CacheLimits {
            max_bytes: 1000,
            ..CacheLimits::default()
        };
        let cache = OpCache::new(2, limits);
        let op = |name: &str, num_bytes: usize| large(name, num_bytes - NUM_OWN_BYTES - 1);
        cache.insert(0, &op("a", 400));
        cache.insert(1, &op("b", 400));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ab", 800));
        assert!(cache.get(0, "a").is_some());
        assert!(cache.get(1, "a").is_none(), "on another device");
        cache.insert(0, &op("c", 300));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ac", 700));
        // Another thread made the op as well: it is kept once.
        cache.insert(0, &op("c", 500));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ac", 900));
        // One op is always kept.
        cache.insert(1, &op("d", 5000));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("d", 5000));
        cache.clear();
        let expected = CacheStats {
            entries: 0,
            bytes: 0,
            hits: 1,
            misses: 1,
        };
        assert_eq!(cache.stats(), expected);
    }

    #[test]
    fn kept_sets_of_attributes_count() {
        let with_room_for = |max_bytes: usize| {
            let limits = CacheLimits {
                max_bytes,
                ..CacheLimits::default()
            };
            OpCache::new(1, limits)
        };
        let (a, b) = (large("a", 0), large("b", 0));
        let num_bytes = 2 * (NUM_OWN_BYTES + 1);
        let set = AttributeSet::new(OpAttrsRef::default());
        let cache = with_room_for(num_bytes + set.num_bytes());
        cache.insert(0, &a);
        cache.insert(0, &b);
        assert!(a.keep_set(&set));
        cache.recount(0, &a);
        assert_eq!(cache.stats().bytes, num_bytes + set.num_bytes());
        // There is no room for a second set: the op that was used least recently goes.
        assert!(a.keep_set(&set));
        cache.recount(0, &a);
        assert_eq!(
            (kept(&cache).as_str(), cache.stats().bytes),
            ("a", num_bytes / 2 + 2 * set.num_bytes())
        );
        // An evicted op does not come back, and neither does one whose name another op has now.
        cache.recount(0, &b);
        cache.recount(0, &large("a", 7));
        assert_eq!(
            (kept(&cache).as_str(), cache.stats().bytes),
            ("a", num_bytes / 2 + 2 * set.num_bytes())
        );
    }

    #[test]
    fn threads_find_ops_while_others_evict_them() {
        let limits = CacheLimits {
            max_ops: 4,
            ..CacheLimits::default()
        };
        let cache = OpCache::new(1, limits);
        std::thread::scope(|scope| {
            for thread in 0..3_usize {
                let cache = &cache;
                scope.spawn(move || {
                    for step in 0..2000_usize {
                        let name = ((step * 7 + thread) % 9).to_string();
                        match cache.get(0, &name) {
                            Some(op) => {
                                assert!(format!("{op:?}").contains(&format!("Large({name})")));
                            }
                            None => {
                                cache.insert(0, &large(&name, (step * 7 + thread) % 9));
                            }
                        }
                        assert!(cache.stats().entries <= 4);
                    }
                });
            }
        });
    }
}
