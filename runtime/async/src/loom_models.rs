//! Models of the protocols, over the shipped source:
//! `RUSTFLAGS="--cfg loom" cargo test -p tfrt-async --release --lib loom`.
//!
//! Each names the edges of the drawing in the crate documentation that it lets race. Payloads are
//! loom cells, so reading a payload that was not published fails the model.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use tfrt_support::Error;

use crate::pool::PooledArc;
use crate::{
    AnyRef, AsyncValueRef, BlockOwners, Chain, Immutable, Published, Rendezvous, Value,
    run_when_ready,
};

/// Counts its drops.
struct Token(Arc<AtomicUsize>);

impl Value for Token {
    const MLIR_TYPE: &'static str = "!test.token";
}

impl Immutable for Token {}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Cellar(usize);

impl Value for Cellar {
    const MLIR_TYPE: &'static str = "!test.cellar";
    const IS_MUTABLE: bool = true;
}

/// A model of three threads, preempted at most three times: without a bound it takes longer than is
/// practical.
fn bounded_model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

fn counter() -> Arc<AtomicUsize> {
    Arc::new(AtomicUsize::new(0))
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

#[test]
fn loom_2_against_3_a_waiter_runs_once_and_sees_the_payload() {
    loom::model(|| {
        let runs = counter();
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let waiting = thread::spawn({
            let (value, runs) = (value.clone(), runs.clone());
            move || {
                // This thread writes what the waiter captures; the publishing thread reads it.
                let captured = UnsafeCell::new(0);
                captured.with_mut(|_| ());
                value.and_then(move |value| {
                    captured.with(|_| ());
                    assert_eq!(value.get(), Some(&7));
                    runs.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        promise.emplace(7);
        waiting.join().unwrap();
        assert_eq!(count(&runs), 1);
    });
}

#[test]
fn loom_2_against_2_and_3_no_registration_is_lost() {
    bounded_model(|| {
        let runs = counter();
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let threads = [(); 2].map(|()| {
            let (value, runs) = (value.clone(), runs.clone());
            thread::spawn(move || {
                value.and_then(move |_| {
                    runs.fetch_add(1, Ordering::Relaxed);
                });
            })
        });
        promise.emplace(7);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count(&runs), 2);
    });
}

#[test]
fn loom_3_link_against_3_an_indirect_value_arrives() {
    loom::model(|| {
        let runs = counter();
        let (later, target) = AsyncValueRef::<i32>::unconstructed();
        let (promise, value) = AnyRef::indirect();
        value.and_then({
            let runs = runs.clone();
            move |value| {
                assert_eq!(value.get::<i32>(), Some(&7));
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        let forwarding = thread::spawn(move || promise.forward_to(target.into_any()));
        later.emplace(7);
        forwarding.join().unwrap();
        assert_eq!(count(&runs), 1);
        assert!(value.is_unique_through_links());
    });
}

#[test]
fn loom_3_against_4_one_outcome_wins_and_the_payload_is_dropped_once() {
    loom::model(|| {
        let (drops, runs) = (counter(), counter());
        let (promise, value) = AsyncValueRef::<Token>::unconstructed();
        value.and_then({
            let runs = runs.clone();
            move |_| {
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        let failing = thread::spawn({
            let value = value.clone();
            move || value.try_set_error(Error::new("first"))
        });
        promise.emplace(Token(drops.clone()));
        let is_error = failing.join().unwrap();
        assert_eq!(value.is_error(), is_error);
        assert_eq!((count(&runs), count(&drops)), (1, usize::from(is_error)));
        drop(value);
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn loom_3_against_4_an_indirect_value_of_a_type_has_one_outcome() {
    loom::model(|| {
        let drops = counter();
        let (promise, value) = AnyRef::indirect_of::<Token>();
        let failing = thread::spawn({
            let value = value.clone();
            move || value.try_set_error(Error::new("first"))
        });
        promise.emplace(Token(drops.clone()));
        let is_error = failing.join().unwrap();
        assert_eq!(value.is_error(), is_error);
        assert_eq!(count(&drops), usize::from(is_error));
        drop(value);
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn loom_3_link_against_4_one_outcome_wins_and_the_target_is_let_go() {
    loom::model(|| {
        let drops = counter();
        let (promise, value) = AnyRef::indirect();
        let failing = thread::spawn({
            let value = value.clone();
            move || value.try_set_error(Error::new("first"))
        });
        promise.forward_to(AnyRef::available(Token(drops.clone())));
        assert_eq!(failing.join().unwrap(), value.is_error());
        drop(value);
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn loom_4_against_4_one_error_wins() {
    loom::model(|| {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let failing = thread::spawn({
            let value = value.clone();
            move || value.try_set_error(Error::new("first"))
        });
        drop(promise);
        let is_first = failing.join().unwrap();
        assert_eq!(
            value.error_if_present().map(Error::message) == Some("first"),
            is_first
        );
    });
}

#[test]
fn loom_5_against_2_and_3_the_last_reference_goes_after_the_waiter() {
    loom::model(|| {
        let (drops, runs) = (counter(), counter());
        let (promise, value) = AsyncValueRef::<Token>::unconstructed();
        let leaving = thread::spawn({
            let (drops, runs) = (drops.clone(), runs.clone());
            move || {
                value.and_then(move |_| {
                    assert_eq!(drops.load(Ordering::Relaxed), 0);
                    runs.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        promise.emplace(Token(drops.clone()));
        leaving.join().unwrap();
        assert_eq!((count(&runs), count(&drops)), (1, 1));
    });
}

#[test]
fn loom_5_against_5_the_payload_is_dropped_once() {
    loom::model(|| {
        let drops = counter();
        let value = AnyRef::available(Token(drops.clone()));
        let leaving = thread::spawn({
            let value = value.clone();
            move || {
                assert!(value.is::<Token>());
                drop(value);
            }
        });
        drop(value);
        leaving.join().unwrap();
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn loom_5_uniqueness_orders_what_other_owners_did() {
    loom::model(|| {
        let value = AnyRef::available(Cellar(0));
        let writing = thread::spawn({
            let value = value.clone();
            move || {
                value
                    .try_write::<Cellar>()
                    .map(|mut cellar| cellar.0 = 1)
                    .is_ok()
            }
        });
        if value.is_unique() {
            assert_eq!(value.try_read::<Cellar>().map(|cellar| cellar.0), Ok(1));
        }
        assert!(writing.join().unwrap());
    });
}

#[test]
fn loom_borrows_exclude_each_other_and_order_what_they_do() {
    loom::model(|| {
        let value = AnyRef::available(Cellar(0));
        let writing = thread::spawn({
            let value = value.clone();
            move || {
                value
                    .try_write::<Cellar>()
                    .map(|mut cellar| cellar.0 = 1)
                    .is_ok()
            }
        });
        let read = value.try_read::<Cellar>().map(|cellar| cellar.0);
        let has_written = writing.join().unwrap();
        assert!(has_written || read == Ok(0));
        assert_eq!(
            value.try_read::<Cellar>().map(|cellar| cellar.0),
            Ok(usize::from(has_written))
        );
    });
}

#[test]
fn loom_2_a_consumer_that_registers_before_it_lets_go_is_seen() {
    loom::model(|| {
        let runs = counter();
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        value.as_any().watch(|_| ());
        let leaving = thread::spawn({
            let runs = runs.clone();
            move || {
                value.as_any().and_then(move |_| {
                    runs.fetch_add(1, Ordering::Relaxed);
                });
                drop(value);
            }
        });
        assert!(promise.has_consumer());
        leaving.join().unwrap();
        assert!(promise.has_consumer());
        promise.emplace(1);
        assert_eq!(count(&runs), 1);
    });
}

#[test]
fn loom_a_join_runs_once() {
    loom::model(|| {
        let runs = counter();
        let (first, a) = AsyncValueRef::<i32>::unconstructed();
        let (second, b) = AsyncValueRef::<i32>::unconstructed();
        let publishing = thread::spawn(move || first.emplace(1));
        run_when_ready(&[a.into_any(), b.into_any()], {
            let runs = runs.clone();
            move || {
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        second.emplace(2);
        publishing.join().unwrap();
        assert_eq!(count(&runs), 1);
    });
}

#[test]
fn loom_deferred_waiters_run_before_the_first_publication_returns() {
    loom::model(|| {
        // Deeper than publications nest under the model checker.
        let (first, mut last) = AsyncValueRef::<i32>::unconstructed();
        for _ in 0..5 {
            let (promise, value) = AsyncValueRef::<i32>::unconstructed();
            last.and_then(move |previous| {
                promise.emplace(previous.get().map_or(0, |count| count + 1))
            });
            last = value;
        }
        let publishing = thread::spawn(move || first.emplace(0));
        publishing.join().unwrap();
        assert_eq!(last.get(), Some(&5));
    });
}

#[test]
fn loom_the_ready_chain_is_one_and_never_goes() {
    loom::model(|| {
        let other = thread::spawn(|| drop(AnyRef::available(Chain)));
        assert!(AnyRef::ready_chain().ptr_eq(&AnyRef::available(Chain)));
        other.join().unwrap();
    });
}

/// Counts its wakes.
struct CountWakes(AtomicUsize);

impl std::task::Wake for CountWakes {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn loom_3_against_an_await_the_last_waker_is_woken_or_the_value_is_seen() {
    loom::model(|| {
        let (promise, value) = AsyncValueRef::<i32>::unconstructed();
        let mut future = value.into_future();
        let mut poll = |task: &std::sync::Arc<CountWakes>| {
            let waker = Waker::from(std::sync::Arc::clone(task));
            Pin::new(&mut future).poll(&mut Context::from_waker(&waker))
        };
        let tasks = [(); 2].map(|()| std::sync::Arc::new(CountWakes(AtomicUsize::new(0))));
        let publishing = thread::spawn(move || promise.emplace(7));
        // The task moves from one waker to another while the value becomes available.
        let polls = [poll(&tasks[0]), poll(&tasks[1])];
        publishing.join().unwrap();
        match &polls {
            [Poll::Pending, Poll::Pending] => assert_eq!(count(&tasks[1].0), 1),
            [Poll::Ready(Err(_)), _] | [_, Poll::Ready(Err(_))] => panic!("it is no error"),
            _ => {}
        }
    });
}

#[test]
fn loom_two_readers_exclude_a_writer_until_both_are_done() {
    bounded_model(|| {
        let value = AnyRef::available(Cellar(0));
        let reading = [(); 2].map(|()| {
            let value = value.clone();
            thread::spawn(move || {
                let Ok(cellar) = value.try_read::<Cellar>() else {
                    return None;
                };
                let found = cellar.0;
                thread::yield_now();
                // The payload does not change while it is borrowed for reading.
                assert_eq!(cellar.0, found);
                Some(found)
            })
        });
        let has_written = value
            .try_write::<Cellar>()
            .map(|mut cellar| cellar.0 = 1)
            .is_ok();
        let found = reading.map(|reader| reader.join().unwrap());
        assert!(has_written || found.iter().all(|found| *found != Some(1)));
        // The count is back at zero: all borrows have ended.
        let mut cellar = value.try_write::<Cellar>().unwrap();
        assert_eq!(cellar.0, usize::from(has_written));
        cellar.0 = 2;
    });
}

/// Checks on drop that every use of the cell came before.
struct Watched(
    UnsafeCell<()>,
    #[expect(dead_code, reason = "counts drops")] Token,
);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.with_mut(|_| ());
    }
}

#[test]
fn loom_an_upgrade_against_the_last_owner_finds_the_value_whole_or_gone() {
    loom::model(|| {
        let drops = counter();
        let owner = PooledArc::new(Watched(UnsafeCell::new(()), Token(drops.clone())));
        let weak = PooledArc::downgrade(&owner);
        let upgrading = thread::spawn(move || {
            if let Some(owner) = weak.upgrade() {
                owner.0.with(|_| ());
            }
        });
        owner.0.with(|_| ());
        drop(owner);
        upgrading.join().unwrap();
        assert_eq!(count(&drops), 1);
    });
}

/// A value that threads share.
struct Seen(Watched);

// SAFETY: loom fails a model whose threads access the cell at once, unless all of them read it.
#[expect(
    unsafe_code,
    reason = "a cell that loom watches stands for any shared value"
)]
unsafe impl Sync for Seen {}

impl Seen {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        Self(Watched(UnsafeCell::new(()), Token(drops.clone())))
    }

    fn read(&self) {
        self.0.0.with(|_| ());
    }
}

#[test]
fn loom_published_1_to_3_against_4_to_6_a_reader_finds_the_value_whole() {
    loom::model(|| {
        let drops = counter();
        let published = Arc::new(Published::new(Seen::new(&drops)));
        let reader = thread::spawn({
            let published = published.clone();
            // Writing to the cell, as dropping it does, would fail the model.
            move || published.read(Seen::read)
        });
        published.replace(|_| Seen::new(&drops));
        published.read(Seen::read);
        reader.join().unwrap();
        // A value that could not be freed then is freed with the next replacement.
        published.replace(|_| Seen::new(&drops));
        assert_eq!(count(&drops), 2);
        drop(published);
        assert_eq!(count(&drops), 3);
    });
}

#[test]
fn loom_published_two_writers_against_a_reader_each_value_is_freed_once() {
    bounded_model(|| {
        let drops = counter();
        let published = Arc::new(Published::new(Seen::new(&drops)));
        let reader = thread::spawn({
            let published = published.clone();
            move || published.read(Seen::read)
        });
        let writer = thread::spawn({
            let (published, drops) = (published.clone(), drops.clone());
            move || published.replace(|_| Seen::new(&drops))
        });
        published.replace(|_| Seen::new(&drops));
        reader.join().unwrap();
        writer.join().unwrap();
        drop(published);
        assert_eq!(count(&drops), 3);
    });
}

#[test]
fn loom_rendezvous_a_value_that_is_sent_arrives_once() {
    loom::model(|| {
        let (runs, drops) = (counter(), counter());
        let rendezvous = Arc::new(Rendezvous::new(1));
        let sender = thread::spawn({
            let (rendezvous, token) = (rendezvous.clone(), Token(drops.clone()));
            move || rendezvous.send(0, AnyRef::available(token)).unwrap()
        });
        let received = rendezvous.receive(0).unwrap();
        received.and_then({
            let runs = runs.clone();
            move |value| {
                assert!(value.error_if_present().is_none());
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        sender.join().unwrap();
        drop((received, rendezvous));
        assert_eq!((count(&runs), count(&drops)), (1, 1));
    });
}

#[test]
fn loom_rendezvous_sending_against_aborting_has_one_outcome() {
    bounded_model(|| {
        let (runs, drops) = (counter(), counter());
        let rendezvous = Arc::new(Rendezvous::new(1));
        let received = rendezvous.receive(0).unwrap();
        received.and_then({
            let runs = runs.clone();
            move |_| {
                runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        let sender = thread::spawn({
            let (rendezvous, token) = (rendezvous.clone(), Token(drops.clone()));
            move || rendezvous.send(0, AnyRef::available(token)).unwrap()
        });
        let aborter = thread::spawn({
            let rendezvous = rendezvous.clone();
            move || rendezvous.abort(&Error::new("aborted"))
        });
        sender.join().unwrap();
        aborter.join().unwrap();
        assert!(received.is_available());
        drop((received, rendezvous));
        assert_eq!((count(&runs), count(&drops)), (1, 1));
    });
}

#[test]
fn loom_rendezvous_nobody_waits_for_a_value_that_nobody_sends() {
    loom::model(|| {
        let runs = counter();
        let rendezvous = Arc::new(Rendezvous::new(1));
        let received = rendezvous.receive(0).unwrap();
        let waiting = thread::spawn({
            let (received, runs) = (received.clone(), runs.clone());
            move || {
                received.and_then(move |value| {
                    assert!(value.is_error());
                    runs.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        drop(rendezvous);
        waiting.join().unwrap();
        assert_eq!(count(&runs), 1);
    });
}

#[test]
fn loom_rendezvous_of_two_senders_one_is_refused() {
    loom::model(|| {
        let rendezvous = Arc::new(Rendezvous::new(1));
        let sender = thread::spawn({
            let rendezvous = rendezvous.clone();
            move || rendezvous.send(0, AnyRef::available(1_i32)).is_ok()
        });
        let is_first = rendezvous.send(0, AnyRef::available(2_i32)).is_ok();
        let is_other_first = sender.join().unwrap();
        assert!(is_first ^ is_other_first);
        let received = rendezvous.receive(0).unwrap();
        let expected = if is_first { 2 } else { 1 };
        assert_eq!(received.get::<i32>(), Some(&expected));
    });
}

/// A block with room for a value. Loom fails a model in which uses of its parts race.
struct Block {
    owners: BlockOwners,
    room: UnsafeCell<()>,
    data: UnsafeCell<()>,
    num_frees: AtomicUsize,
}

// SAFETY: loom fails a model whose threads access a cell at once, unless all of them read it.
#[expect(unsafe_code, reason = "cells that loom watches stand for memory")]
unsafe impl Sync for Block {}

impl Block {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            owners: BlockOwners::with_room(),
            room: UnsafeCell::new(()),
            data: UnsafeCell::new(()),
            num_frees: AtomicUsize::new(0),
        })
    }

    /// Puts a value into the room, if it is free.
    fn claim(&self) -> bool {
        let is_claimed = self.owners.claim_room();
        if is_claimed {
            self.room.with_mut(|_| ());
        }
        is_claimed
    }

    /// Destroys the value in the room.
    fn release(&self) {
        self.room.with_mut(|_| ());
        if self.owners.release_room() {
            self.free();
        }
    }

    /// Drops a handle through which the data was read.
    fn drop_handle(&self) {
        self.data.with(|_| ());
        if self.owners.remove_handle() {
            self.data.with_mut(|_| ());
            if self.owners.end_handles() {
                self.free();
            }
        }
    }

    fn free(&self) {
        self.room.with_mut(|_| ());
        self.data.with_mut(|_| ());
        self.num_frees.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn loom_room_1_against_2_a_value_follows_only_one_that_is_gone() {
    loom::model(|| {
        let block = Block::new();
        assert!(block.claim());
        let releasing = thread::spawn({
            let block = block.clone();
            move || block.release()
        });
        let is_claimed = block.claim();
        releasing.join().unwrap();
        assert!(is_claimed || block.claim(), "nobody else claims it");
        assert_eq!(count(&block.num_frees), 0);
    });
}

#[test]
fn loom_room_2_against_3_the_block_is_freed_once() {
    loom::model(|| {
        let block = Block::new();
        assert!(block.claim());
        let releasing = thread::spawn({
            let block = block.clone();
            move || block.release()
        });
        block.drop_handle();
        releasing.join().unwrap();
        assert_eq!(count(&block.num_frees), 1);
    });
}

#[test]
fn loom_room_2_then_1_against_3_the_second_value_has_the_room_to_itself() {
    loom::model(|| {
        let block = Block::new();
        assert!(block.claim());
        let releasing = thread::spawn({
            let block = block.clone();
            move || block.release()
        });
        let second = block.claim().then(|| {
            thread::spawn({
                let block = block.clone();
                move || block.release()
            })
        });
        block.drop_handle();
        releasing.join().unwrap();
        if let Some(second) = second {
            second.join().unwrap();
        }
        assert_eq!(count(&block.num_frees), 1);
    });
}

#[test]
fn loom_room_3_of_two_handles_the_last_one_ends_the_data() {
    loom::model(|| {
        let block = Block::new();
        block.owners.add_handle();
        let leaving = thread::spawn({
            let block = block.clone();
            move || block.drop_handle()
        });
        if block.owners.is_unique() {
            block.data.with_mut(|_| ());
        }
        block.drop_handle();
        leaving.join().unwrap();
        assert_eq!(count(&block.num_frees), 1);
    });
}
