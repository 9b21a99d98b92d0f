//! Races in shared memory.
//!
//! Each byte remembers its last writer and two readers, with their clocks. A barrier of the block
//! moves the block clock of its threads beyond all of theirs, an operation of a warp the warp
//! clocks of its lanes. An access is ordered after another one only if the clock has moved since.
//! So a report is always right, but a race can be missed if there were more readers, or if other
//! threads moved the clock. Accesses of a thread before its own fence are ignored, because it may
//! pass data by a flag.

/// An access to a byte.
#[derive(Clone, Copy)]
struct Access {
    thread: u32,
    block_clock: u32,
    warp_clock: u32,
    fences: u32,
    line: u32,
}

const NOBODY: Access = Access {
    thread: u32::MAX,
    block_clock: 0,
    warp_clock: 0,
    fences: 0,
    line: 0,
};

#[derive(Clone, Copy)]
struct Cell {
    writer: Access,
    readers: [Access; 2],
}

/// The clocks of a thread.
#[derive(Clone, Copy, Default)]
struct Clock {
    block: u32,
    warp: u32,
    fences: u32,
}

pub(super) struct Races {
    cells: Vec<Cell>,
    clocks: Vec<Clock>,
}

/// The earlier one of two accesses that race.
pub(super) struct Race {
    pub(super) offset: usize,
    pub(super) thread: u32,
    pub(super) line: u32,
    pub(super) was_write: bool,
}

impl Races {
    pub(super) fn new(num_bytes: usize, num_threads: usize) -> Self {
        Self {
            cells: vec![
                Cell {
                    writer: NOBODY,
                    readers: [NOBODY; 2]
                };
                num_bytes
            ],
            clocks: vec![Clock::default(); num_threads],
        }
    }

    /// Blocks run one after another: a new one is ordered behind all before it.
    pub(super) fn start_block(&mut self) {
        self.at_barrier(0..self.clocks.len());
    }

    pub(super) fn at_barrier(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        let latest = threads
            .clone()
            .map(|thread| self.clocks[thread].block)
            .max()
            .unwrap_or(0);
        threads.for_each(|thread| self.clocks[thread].block = latest.saturating_add(1));
    }

    pub(super) fn at_warp_operation(&mut self, threads: impl Iterator<Item = usize> + Clone) {
        let latest = threads
            .clone()
            .map(|thread| self.clocks[thread].warp)
            .max()
            .unwrap_or(0);
        threads.for_each(|thread| self.clocks[thread].warp = latest.saturating_add(1));
    }

    pub(super) fn at_fence(&mut self, thread: u32) {
        let fences = &mut self.clocks[thread as usize].fences;
        *fences = fences.saturating_add(1);
    }

    /// Notes an access, and returns one that races with it.
    pub(super) fn access(
        &mut self,
        thread: u32,
        line: u32,
        offset: usize,
        num_bytes: usize,
        is_write: bool,
    ) -> Result<(), Race> {
        let clock = self.clocks[thread as usize];
        let access = Access {
            thread,
            block_clock: clock.block,
            warp_clock: clock.warp,
            fences: clock.fences,
            line,
        };
        for at in offset..offset + num_bytes {
            let Cell { writer, readers } = self.cells[at];
            let race = |earlier: &Access, was_write| {
                Err(Race {
                    offset: at,
                    thread: earlier.thread,
                    line: earlier.line,
                    was_write,
                })
            };
            if self.is_race(&writer, &access) {
                return race(&writer, true);
            }
            if !is_write {
                // The newest two of different threads.
                let [newest, _] = readers;
                self.cells[at].readers = if newest.thread == thread {
                    [access, readers[1]]
                } else {
                    [access, newest]
                };
                continue;
            }
            if let Some(reader) = readers.iter().find(|reader| self.is_race(reader, &access)) {
                return race(reader, false);
            }
            self.cells[at] = Cell {
                writer: access,
                readers: [NOBODY; 2],
            };
        }
        Ok(())
    }

    fn is_race(&self, earlier: &Access, later: &Access) -> bool {
        if earlier.thread == later.thread || earlier.thread == u32::MAX {
            return false;
        }
        let same_warp = earlier.thread / 32 == later.thread / 32;
        let is_ordered = later.block_clock > earlier.block_clock
            || (same_warp && later.warp_clock > earlier.warp_clock)
            || self.clocks[earlier.thread as usize].fences > earlier.fences;
        !is_ordered
    }
}
