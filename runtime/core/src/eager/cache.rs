//! The cache of made ops, by device and name.
//!
//! Readers take no lock: they read a [`Published`] table. A new op is added to a copy of the table,
//! which replaces the table. This is rare, because programs reuse few ops. The cache limits the
//! number of its ops and their bytes. It evicts the least recently used eighth at once, so that
//! copies for evictions are rare as well.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_async::Published;

use crate::core_op::CoreRuntimeOp;

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
    ops: Vec<HashMap<Arc<str>, Arc<CachedOp>>>,
    num_ops: usize,
    num_bytes: usize,
}

struct CachedOp {
    op: CoreRuntimeOp,
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
    pub(super) fn get(&self, device: usize, name: &str) -> Option<CoreRuntimeOp> {
        let found = self.table.read(|table| {
            let cached = table.ops[device].get(name)?;
            // Relaxed: the order of uses need not be exact.
            let now = self.time.fetch_add(1, Ordering::Relaxed);
            cached.used.store(now, Ordering::Relaxed);
            Some(cached.op.clone())
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
    pub(super) fn insert(&self, device: usize, name: &str, op: &CoreRuntimeOp) {
        let name: Arc<str> = name.into();
        let added = Arc::new(CachedOp {
            op: op.clone(),
            num_bytes: size_of::<CachedOp>() + name.len() + op.num_bytes(),
            used: AtomicU64::new(self.time.fetch_add(1, Ordering::Relaxed)),
        });
        self.table.replace(|table| {
            let mut table = table.clone();
            table.remove(device, &name);
            let has_room = |table: &Table| {
                table.num_ops < self.limits.max_ops.max(1)
                    && table.num_bytes.saturating_add(added.num_bytes) <= self.limits.max_bytes
            };
            while table.num_ops != 0 && !has_room(&table) {
                table.remove_oldest();
            }
            table.num_ops += 1;
            table.num_bytes += added.num_bytes;
            table.ops[device].insert(name, added);
            table
        });
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
            ops: vec![HashMap::new(); num_devices],
            ..Self::default()
        }
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
    use super::*;
    use crate::core_op::{OpInvocation, RunOp};

    /// An op that reports a given size.
    #[derive(Debug)]
    struct Large(usize);

    impl RunOp for Large {
        fn run(&self, _invocation: &mut OpInvocation<'_>) {}

        fn num_bytes(&self) -> usize {
            self.0
        }
    }

    fn kept(cache: &OpCache) -> String {
        let mut names: Vec<String> = cache.table.read(|table| {
            let names = table.ops.iter().flat_map(HashMap::keys);
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
        let own = size_of::<CachedOp>() + 1;
        let op = |bytes: usize| CoreRuntimeOp::new(Large(bytes - own));
        cache.insert(0, "a", &op(400));
        cache.insert(1, "b", &op(400));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ab", 800));
        assert!(cache.get(0, "a").is_some());
        assert!(cache.get(1, "a").is_none(), "on another device");
        cache.insert(0, "c", &op(300));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ac", 700));
        // Another thread made the op as well: it is kept once.
        cache.insert(0, "c", &op(500));
        assert_eq!((kept(&cache).as_str(), cache.stats().bytes), ("ac", 900));
        // One op is always kept.
        cache.insert(1, "d", &op(5000));
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
                                assert!(format!("{op:?}").contains(&format!("Large({name})")))
                            }
                            None => {
                                let op = CoreRuntimeOp::new(Large((step * 7 + thread) % 9));
                                cache.insert(0, &name, &op);
                            }
                        }
                        assert!(cache.stats().entries <= 4);
                    }
                });
            }
        });
    }
}
