//! A slot for one record of a table that is read without a lock.
//!
//! The tables are statics, which loom's atomics cannot be part of. So a macro defines the slot: the
//! tables use it with `std`'s atomics, and the model below with loom's.
#![expect(unsafe_code, reason = "follows the pointer that an atomic holds")]

macro_rules! define_slot {
    ($atomics:path) => {
        use std::ptr;

        use $atomics::{AtomicPtr, Ordering};

        /// A slot for one record. Invariant S1: it holds null or a pointer made from a `&'static
        /// T`. Upheld by `set`.
        pub(crate) struct Slot<T: 'static>(pub(super) AtomicPtr<T>);

        impl<T: 'static> Slot<T> {
            #[inline]
            pub(crate) fn get(&self) -> Option<&'static T> {
                // Acquire pairs with the release in `set`: the record is complete.
                let record = self.0.load(Ordering::Acquire);
                // SAFETY: S1, and no mutable reference to a record is ever created.
                unsafe { record.as_ref() }
            }

            pub(crate) fn set(&self, record: &'static T) {
                // Release pairs with the acquire in `get`.
                self.0
                    .store(ptr::from_ref(record).cast_mut(), Ordering::Release);
            }
        }
    };
}

mod table {
    define_slot!(std::sync::atomic);

    impl<T: 'static> Slot<T> {
        pub(crate) const fn empty() -> Self {
            Self(AtomicPtr::new(ptr::null_mut()))
        }
    }
}

pub(super) use table::Slot;

#[cfg(all(test, loom))]
mod loom_models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    mod modelled {
        define_slot!(loom::sync::atomic);

        impl<T: 'static> Slot<T> {
            pub(crate) fn empty() -> Self {
                Self(AtomicPtr::new(ptr::null_mut()))
            }
        }
    }

    use modelled::Slot;

    /// A record as written by a thread.
    struct Record(UnsafeCell<u32>);

    // SAFETY: a record is written before it is shared, which the model verifies.
    unsafe impl Sync for Record {}

    #[test]
    fn loom_who_finds_a_record_finds_it_complete() {
        loom::model(|| {
            let slot = Arc::new(Slot::<Record>::empty());
            let registering = thread::spawn({
                let slot = Arc::clone(&slot);
                move || {
                    let record = Box::leak(Box::new(Record(UnsafeCell::new(0))));
                    // SAFETY: the record is not shared yet.
                    record.0.with_mut(|number| unsafe { *number = 7 });
                    slot.set(record);
                }
            });
            if let Some(record) = slot.get() {
                // SAFETY: a shared record is never written.
                assert_eq!(record.0.with(|number| unsafe { *number }), 7);
            }
            registering.join().unwrap();
            assert!(slot.get().is_some());
        });
    }
}
