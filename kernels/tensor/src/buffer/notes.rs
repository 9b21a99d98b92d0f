//! Data derived from bytes that do not change, kept with them.
//!
//! Weights are read many times, so data derived from them, such as the same numbers in the order
//! that suits the processor, is worth keeping for their lifetime. An allocation has a list of
//! notes, each about a range of its bytes. The list only grows, and is dropped with the allocation:
//! reading it takes no lock.
//!
//! ```text
//!  Borrows ─ notes ─► (range, number of writes, note) ─► (range, number of writes, note) ─► …
//! ```
//!
//! A reader of notes holds a read borrow, so the bytes are not written meanwhile. A note is valid
//! only if the bytes were not written after it was made. If they were, the bytes are a variable: no
//! more notes are made about them, so the list does not grow with each of their values.
//!
//! Invariant N1: a note is never moved or dropped before its allocation.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// The notes about one allocation.
#[derive(Default)]
pub(super) struct Notes(OnceLock<Box<Note>>);

struct Note {
    /// Addresses.
    range: Range<usize>,
    num_writes: u32,
    note: Box<dyn Any + Send + Sync>,
    next: OnceLock<Box<Note>>,
}

impl Notes {
    /// Returns the accepted note about these bytes, and makes it if there is none. Returns `None`
    /// if there was one about an earlier value.
    pub(super) fn get_or_make<N: Any + Send + Sync>(
        &self,
        range: &Range<usize>,
        num_writes: u32,
        is_wanted: impl Fn(&N) -> bool,
        make: impl FnOnce() -> N,
    ) -> Option<&N> {
        let mut place = &self.0;
        let mut make = Some(make);
        let mut made: Option<Box<Note>> = None;
        loop {
            let Some(entry) = place.get() else {
                let new = made.take().unwrap_or_else(|| {
                    let make = make.take().expect("an entry is made once, and then kept");
                    Box::new(Note {
                        range: range.clone(),
                        num_writes,
                        note: Box::new(make()),
                        next: OnceLock::new(),
                    })
                });
                // Somebody else may have been first: then theirs is looked at, and ours goes behind
                // it.
                made = place.set(new).err();
                continue;
            };
            if entry.range == *range {
                let note = entry.note.downcast_ref::<N>();
                if let Some(note) = note.filter(|note| is_wanted(note)) {
                    return (entry.num_writes == num_writes).then_some(note);
                }
            }
            place = &entry.next;
        }
    }
}

impl Drop for Notes {
    // One after the other: a long list would exhaust the stack if each entry dropped the next one.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut entry) = next {
            next = entry.next.take();
        }
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_notes = std::iter::successors(self.0.get(), |entry| entry.next.get()).count();
        write!(f, "{num_notes} notes")
    }
}

#[cfg(test)]
mod tests {
    use super::super::HostBuffer;
    use crate::testing::malloc;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Notes the number and returns what is noted.
    fn note(buffer: &HostBuffer, number: i32) -> Option<i32> {
        let elements = buffer.elements_owned::<u8>().unwrap();
        elements.note(|_| true, || number).copied()
    }

    #[test]
    fn a_note_holds_until_the_bytes_are_written() {
        let mut buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        assert_eq!(note(&buffer, 1), Some(1));
        assert_eq!(note(&buffer.clone(), 2), Some(1));
        drop(buffer.write().unwrap());
        assert_eq!(note(&buffer, 3), None, "the bytes are a variable");
        assert_eq!(note(&buffer, 4), None);
    }

    #[test]
    fn writes_before_the_first_note_do_not_matter() {
        let mut buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        buffer.write().unwrap().fill(1);
        assert_eq!(note(&buffer, 1), Some(1));
        assert_eq!(note(&buffer, 2), Some(1));
    }

    #[test]
    fn notes_of_parts_are_told_apart() {
        let buffer = HostBuffer::from_owner([0_u8; 16]).unwrap();
        let parts = [0, 4, 8].map(|start| buffer.slice(start, 4).unwrap());
        for round in 0..2 {
            for (index, part) in parts.iter().enumerate() {
                assert_eq!(note(part, index as i32 + 10 * round), Some(index as i32));
            }
        }
        assert_eq!(note(&buffer, 7), Some(7), "the whole is another range");
    }

    #[test]
    fn notes_of_other_kinds_are_passed_over() {
        let buffer = HostBuffer::from_owner([0_u8; 4]).unwrap();
        let elements = buffer.elements_owned::<u8>().unwrap();
        for wanted in [3, 5, 3, 5] {
            let noted = elements.note(|number: &i32| *number == wanted, || wanted);
            assert_eq!(noted, Some(&wanted));
        }
        assert_eq!(
            elements
                .note(|_: &String| true, String::new)
                .map(String::len),
            Some(0)
        );
    }

    #[test]
    fn threads_agree_on_one_note() {
        let buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        let noted: Vec<Option<i32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    let buffer = buffer.clone();
                    scope.spawn(move || note(&buffer, number))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(
            noted.iter().all(|note| note.is_some() && *note == noted[0]),
            "{noted:?}"
        );
    }

    /// Counts how many of its kind are alive.
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn notes_go_with_the_memory_however_many_there_are() {
        const MANY: usize = 20_000;
        let live = Arc::new(AtomicUsize::new(0));
        let buffer = HostBuffer::zeroed(&malloc(), 8, 8).unwrap();
        let elements = buffer.elements_owned::<u8>().unwrap();
        let mut chain = super::Notes::default();
        // The list itself, as looking through all of it for each note would take long.
        let mut place = &mut chain.0;
        for _ in 0..MANY {
            let entry = super::Note {
                range: 0..8,
                num_writes: 0,
                note: Box::new(()),
                next: std::sync::OnceLock::new(),
            };
            assert!(place.set(Box::new(entry)).is_ok());
            place = &mut place.get_mut().unwrap().next;
        }
        drop(chain);
        live.fetch_add(1, Ordering::Relaxed);
        elements.note(|_: &Counted| true, || Counted(live.clone()));
        drop(elements);
        assert_eq!(live.load(Ordering::Relaxed), 1);
        drop(buffer);
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }
}
