//! The borrows of an allocation's bytes.
//!
//! For an allocation that has not been cut, one word counts the borrows: a number of readers, or a
//! writer. When a part of the allocation gets a separate handle, the word is permanently marked as
//! *cut*. From then on each borrow is an entry in a table, with its range, so disjoint parts may be
//! written at the same time. Earlier borrows stay in the word, and count as borrows of all bytes.
//!
//! The table is under a mutex. Only cut allocations pay for it: tensors do not cut their buffers.
//!
//! A counter of write borrows tells whether a note about the bytes is still valid (`notes`).
//!
//! Invariant G1: if a borrow that writes a byte is held, no other borrow of that byte is. Invariant
//! G2: while a byte is borrowed for reading, the counter is at least the number of its write
//! borrows.
#![expect(unsafe_code, reason = "a borrow may be dropped with what it lies in")]

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::conflict::BufferConflict;
use super::notes::Notes;

/// The mark of an allocation that was cut.
const CUT: u32 = 1 << 31;
/// The mark of a writer, in the bits below.
const WRITER: u32 = CUT - 1;
const MAX_READERS: u32 = WRITER - 1;

/// The borrows of one allocation.
#[derive(Debug, Default)]
pub(super) struct Borrows {
    word: AtomicU32,
    /// The number of write borrows. Only writers change it, one at a time: the word ensures this
    /// for the whole allocation, and the lock for parts.
    num_writes: AtomicU32,
    extras: OnceLock<Box<Extras>>,
}

/// Data that few allocations need.
#[derive(Debug, Default)]
struct Extras {
    parts: Mutex<Vec<Part>>,
    notes: Notes,
}

/// A borrow of a part of an allocation that was cut.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// Addresses.
    range: Range<usize>,
    is_write: bool,
}

impl Part {
    /// Returns the reason why `self` cannot be held together with `other`.
    fn conflict(&self, other: &Self) -> Option<BufferConflict> {
        let overlaps = self.range.start < other.range.end && other.range.start < self.range.end;
        match (overlaps, self.is_write, other.is_write) {
            (true, _, true) => Some(BufferConflict::Written),
            (true, true, false) => Some(BufferConflict::Read),
            _ => None,
        }
    }
}

impl Borrows {
    /// Returns `true` if the destructor has something to free.
    #[inline]
    pub(super) fn own_memory(&self) -> bool {
        self.extras.get().is_some()
    }

    /// Marks the allocation as cut.
    pub(super) fn cut(&self) {
        self.extras.get_or_init(Box::default);
        // Release pairs with the acquire loads in `read` and `write`: who sees the mark sees the
        // table.
        self.word.fetch_or(CUT, Ordering::Release);
    }

    /// Borrows the bytes at these addresses to read them.
    #[inline]
    pub(super) fn read(&self, range: Range<usize>) -> Result<Borrow<'_, READ>, BufferConflict> {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            match word {
                _ if word & CUT != 0 => return self.borrow_part(range),
                WRITER => return Err(BufferConflict::Written),
                MAX_READERS => return Err(BufferConflict::Read),
                _ => {}
            }
            // Acquire pairs with the release of a writer in `Borrow::drop`: the reader sees what
            // was written.
            match self.word.compare_exchange_weak(
                word,
                word + 1,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Ok(Borrow::whole(self)),
                Err(changed) => word = changed,
            }
        }
    }

    /// Borrows the bytes at these addresses to write them.
    #[inline]
    pub(super) fn write(&self, range: Range<usize>) -> Result<Borrow<'_, WRITE>, BufferConflict> {
        // Acquire pairs with the releases in `Borrow::drop`, of readers and of writers, and with
        // that in `cut`.
        let exchanged = self
            .word
            .compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Acquire);
        match exchanged {
            Ok(_) => {
                self.count_write();
                Ok(Borrow::whole(self))
            }
            Err(word) if word & CUT != 0 => self.borrow_part(range),
            Err(WRITER) => Err(BufferConflict::Written),
            Err(_) => Err(BufferConflict::Read),
        }
    }

    #[cold]
    fn borrow_part<const IS_WRITE: bool>(
        &self,
        range: Range<usize>,
    ) -> Result<Borrow<'_, IS_WRITE>, BufferConflict> {
        let part = Part {
            range,
            is_write: IS_WRITE,
        };
        let mut parts = self.lock_parts();
        // Nobody is added to the word once it is marked. Acquire pairs with the releases in
        // `Borrow::drop`.
        match self.word.load(Ordering::Acquire) & !CUT {
            0 => {}
            WRITER => return Err(BufferConflict::Written),
            _ if IS_WRITE => return Err(BufferConflict::Read),
            _ => {}
        }
        if let Some(conflict) = parts.iter().find_map(|held| part.conflict(held)) {
            return Err(conflict);
        }
        if IS_WRITE {
            self.count_write();
        }
        let range = part.range.clone();
        parts.push(part);
        Ok(Borrow {
            borrows: NonNull::from(self),
            lifetime: PhantomData,
            part: Some(Box::new(range)),
        })
    }

    fn lock_parts(&self) -> std::sync::MutexGuard<'_, Vec<Part>> {
        let extras = self.extras.get_or_init(Box::default);
        extras.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write borrow. The counter saturates.
    #[inline]
    fn count_write(&self) {
        // Relaxed, and no exchange: there is one writer at a time (see the field), each after the
        // one before it by the acquires and releases of its borrow.
        let before = self.num_writes.load(Ordering::Relaxed);
        self.num_writes
            .store(before.saturating_add(1), Ordering::Relaxed);
    }

    /// Returns how often bytes of the allocation were lent to be written, unless that is more than
    /// can be counted.
    pub(super) fn num_writes(&self) -> Option<u32> {
        // Relaxed: what the caller has borrowed was written before, so that the count of that is
        // seen (G2). Writes of other parts may be missed, which say nothing about it.
        let count = self.num_writes.load(Ordering::Relaxed);
        (count != u32::MAX).then_some(count)
    }

    /// Returns the notes about bytes of the allocation.
    pub(super) fn notes(&self) -> &Notes {
        &self.extras.get_or_init(Box::default).notes
    }
}

/// A [`Borrow`] for reading.
pub(super) const READ: bool = false;
/// A [`Borrow`] for writing.
pub(super) const WRITE: bool = true;

/// The right to read some bytes, or to write them, until it is dropped.
// A pointer, because a reference would have to stay valid until the end of the function that drops
// the borrow, and what owns the borrow may hold the last handle of the allocation, too.
#[derive(Debug)]
#[must_use]
pub(super) struct Borrow<'a, const IS_WRITE: bool> {
    borrows: NonNull<Borrows>,
    lifetime: PhantomData<&'a Borrows>,
    /// The entry of the table; none if the borrow is in the word. In a box, so that borrows, which
    /// are moved around, are small.
    part: Option<Box<Range<usize>>>,
}

impl<'a, const IS_WRITE: bool> Borrow<'a, IS_WRITE> {
    #[inline]
    fn whole(borrows: &'a Borrows) -> Self {
        Self {
            borrows: NonNull::from(borrows),
            lifetime: PhantomData,
            part: None,
        }
    }

    #[inline]
    fn borrows(&self) -> &Borrows {
        // SAFETY: made of a reference that is valid as long as the borrow is, by its lifetime or by
        // O1 (`owned`).
        unsafe { self.borrows.as_ref() }
    }

    /// Removes the entry from the table.
    #[cold]
    fn end_part(&mut self) {
        if let Some(range) = self.part.take() {
            let ended = Part {
                range: *range,
                is_write: IS_WRITE,
            };
            let mut parts = self.borrows().lock_parts();
            if let Some(position) = parts.iter().position(|part| *part == ended) {
                parts.swap_remove(position);
            }
        }
    }
}

impl<const IS_WRITE: bool> Drop for Borrow<'_, IS_WRITE> {
    #[inline]
    fn drop(&mut self) {
        if self.part.is_some() {
            self.end_part();
        } else if IS_WRITE {
            // Release pairs with the acquires in `read`, `write` and `borrow_part`. The mark of a
            // cut stays.
            self.borrows().word.fetch_and(CUT, Ordering::Release);
        } else {
            // Release pairs with the acquires in `write` and `borrow_part`: the writer comes after
            // what was read.
            self.borrows().word.fetch_sub(1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Range<usize> = 0..100;

    #[test]
    fn readers_exclude_a_writer() {
        let borrows = Borrows::default();
        let first = borrows.read(ALL).unwrap();
        let second = borrows.read(ALL).unwrap();
        drop(first);
        assert_eq!(borrows.write(ALL).unwrap_err(), BufferConflict::Read);
        drop(second);
        assert!(borrows.write(ALL).is_ok());
    }

    #[test]
    fn a_writer_excludes_everybody() {
        let borrows = Borrows::default();
        let writer = borrows.write(ALL).unwrap();
        assert_eq!(borrows.read(ALL).unwrap_err(), BufferConflict::Written);
        assert_eq!(borrows.write(ALL).unwrap_err(), BufferConflict::Written);
        drop(writer);
        assert!(borrows.read(ALL).is_ok());
    }

    #[test]
    fn parts_that_do_not_overlap_are_written_at_once() {
        let borrows = Borrows::default();
        borrows.cut();
        let first = borrows.write(0..50).unwrap();
        let second = borrows.write(50..100).unwrap();
        assert_eq!(borrows.read(49..51).unwrap_err(), BufferConflict::Written);
        drop(first);
        assert!(borrows.read(0..50).is_ok());
        assert_eq!(borrows.write(ALL).unwrap_err(), BufferConflict::Written);
        drop(second);
        assert!(borrows.write(ALL).is_ok());
    }

    #[test]
    fn borrows_from_before_a_cut_count_as_the_whole() {
        let borrows = Borrows::default();
        let reader = borrows.read(0..1).unwrap();
        borrows.cut();
        assert_eq!(borrows.write(50..60).unwrap_err(), BufferConflict::Read);
        assert!(borrows.read(50..60).is_ok());
        drop(reader);
        let writer = borrows.write(50..60).unwrap();
        drop(writer);

        let borrows = Borrows::default();
        let writer = borrows.write(0..1).unwrap();
        borrows.cut();
        assert_eq!(borrows.read(50..60).unwrap_err(), BufferConflict::Written);
        drop(writer);
        assert!(borrows.write(ALL).is_ok());
    }

    #[test]
    fn equal_readers_of_a_part_end_one_by_one() {
        let borrows = Borrows::default();
        borrows.cut();
        let first = borrows.read(0..8).unwrap();
        let second = borrows.read(0..8).unwrap();
        drop(first);
        assert_eq!(borrows.write(0..8).unwrap_err(), BufferConflict::Read);
        drop(second);
        assert!(borrows.write(0..8).is_ok());
    }
}
