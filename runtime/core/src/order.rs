//! The order of ops that write to tensors with the other ops that use the same tensors.
//!
//! ```text
//!   y = add(x, late)   reads x, and is not done        group of x: readers {1}
//!   increment(x)       writes x, and waits for 1       group of x: writers {2}
//!   z = relu(x)        reads x, and waits for 2        group of x: writers {2}, readers {3}
//! ```
//!
//! A call that is done when it returns leaves nothing here. Any other call is entered with the
//! tensors that it uses, until its results and its chain are available. A call that must wait gets
//! copies of handles whose tensors become available when the earlier calls are done; it then waits
//! as it does for any pending operand.
//!
//! Tensors are known by addresses: of the value of the handle, of the tensor, and of its elements.
//! An address holds no reference, so an op can still reuse the memory of an operand. An address
//! that is used again for another tensor can only make a call wait for an earlier one without
//! need.
//!
//! It is unknown which memory a pending result will have: it may be that of an operand. So a
//! pending result belongs to the group of all operands of its call until the call is done, and a
//! pending operand joins the group of its tensor when it becomes available.
//!
//! Waiting cannot be circular, because a call waits only for calls that were made before it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, IndirectPromise, run_when_ready};
use tfrt_tensor::DenseHostTensor;

use crate::handle::TensorHandle;
use crate::op::OperandSet;

/// An address that a tensor is known by.
type Key = usize;

type Keys = SmallVec<[Key; 4]>;

/// Most ops have at most this many operands.
const NUM_IN_PLACE: usize = 4;

/// Values that become available when calls are done.
type Dones = SmallVec<[AnyRef; 2]>;

/// The calls that are not done, by the tensors that they use.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The number of calls that write to tensors and are not done.
    num_writers: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next call or group.
    next_number: u64,
    places: HashMap<Key, Place>,
    groups: HashMap<u64, Group>,
}

/// What is known of an address.
#[derive(Debug)]
struct Place {
    group: u64,
    /// The number of calls and links that keep the address.
    num_users: usize,
    /// The addresses of the tensor that a pending operand with this address became. The place keeps
    /// them.
    links: Keys,
}

/// Tensors that may share memory, and the calls that use them.
#[derive(Debug, Default)]
struct Group {
    keys: HashSet<Key>,
    /// The calls that the next reader waits for, each with the value that says that it is done.
    writers: BTreeMap<u64, AnyRef>,
    /// The other calls that the next writer waits for.
    readers: BTreeMap<u64, AnyRef>,
}

/// The tensors that a call uses.
#[derive(Debug)]
pub(crate) struct Uses {
    operands: SmallVec<[Use; NUM_IN_PLACE]>,
    /// The calls that a writer waits for, each with the value that says that it is done.
    awaited: Vec<(u64, AnyRef)>,
}

#[derive(Debug)]
struct Use {
    keys: Keys,
    is_written: bool,
    /// The addresses of the tensor, for an operand that was pending.
    resolved: Option<Arc<OnceLock<Keys>>>,
}

impl Use {
    fn all_keys(&self) -> impl Iterator<Item = Key> {
        let resolved = self.resolved.as_ref().and_then(|resolved| resolved.get());
        let resolved = resolved.map_or(&[][..], |keys| &keys[..]);
        self.keys.iter().chain(resolved).copied()
    }
}

/// A call that is not done. Its results and its chain own it until they are available.
///
/// A writer is not done before the calls that it waits for: who waits for the writer need not wait
/// for them. A writer that fails early would be.
struct Unfinished {
    order: Arc<Order>,
    number: u64,
    /// The addresses that it keeps.
    keys: Vec<Key>,
    is_writer: bool,
    done: Option<IndirectPromise>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.order.lock().finish(self.number, &self.keys);
        if self.is_writer {
            // Release: pairs with the acquire in `has_writers`.
            self.order.num_writers.fetch_sub(1, Ordering::Release);
        }
        // Outside of the lock: calls that wait may run now.
        if let Some(done) = self.done.take() {
            done.forward_to(AnyRef::ready_chain());
        }
    }
}

impl Order {
    /// Returns `true` if a call that writes to a tensor is not done.
    #[inline]
    pub(crate) fn has_writers(&self) -> bool {
        // Acquire: pairs with the release in the drop of `Unfinished`: who sees no writer sees what
        // the last one wrote, and that it no longer borrows the tensor.
        self.num_writers.load(Ordering::Acquire) != 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tensors that a call on these operands uses.
    pub(crate) fn uses<'a>(
        self: &Arc<Self>,
        operands: impl IntoIterator<Item = &'a TensorHandle>,
        written: OperandSet,
    ) -> Uses {
        let operands = operands.into_iter().enumerate();
        let operands = operands.filter_map(|(index, operand)| {
            let tensor = operand.tensor()?;
            let mut keys = Keys::from_slice(&[tensor.address()]);
            let resolved = if tensor.is_available() {
                keys.extend(keys_of(tensor));
                None
            } else {
                Some(self.resolve_later(tensor))
            };
            let is_written = written.contains(index);
            Some(Use {
                keys,
                is_written,
                resolved,
            })
        });
        Uses {
            operands: operands.collect(),
            awaited: Vec::new(),
        }
    }

    /// Returns a place for the addresses of a pending tensor, which is filled when it is available.
    fn resolve_later(self: &Arc<Self>, tensor: &AnyRef) -> Arc<OnceLock<Keys>> {
        let resolved = Arc::new(OnceLock::new());
        let (order, place) = (Arc::clone(self), Arc::clone(&resolved));
        let pending = tensor.address();
        tensor.watch(move |tensor| {
            let keys = keys_of(tensor);
            let mut state = order.lock();
            // Under the lock, so that a call that is entered meanwhile sees the addresses here, or
            // its place gets the link.
            let keys = place.get_or_init(|| keys);
            state.link(pending, keys);
        });
        resolved
    }

    /// Returns the operands of a call with those that must wait for earlier calls replaced, or
    /// `None` if none must.
    pub(crate) fn follow<'a>(
        &self,
        uses: &mut Uses,
        operands: impl IntoIterator<Item = &'a TensorHandle>,
    ) -> Option<SmallVec<[TensorHandle; NUM_IN_PLACE]>> {
        let is_writer = uses.operands.iter().any(|operand| operand.is_written);
        if !is_writer && !self.has_writers() {
            return None;
        }
        let Uses {
            operands: of,
            awaited,
        } = uses;
        let dones: SmallVec<[Dones; NUM_IN_PLACE]> = {
            let state = self.lock();
            of.iter()
                .map(|operand| state.awaited(operand, awaited))
                .collect()
        };
        if dones.iter().all(SmallVec::is_empty) {
            return None;
        }
        // Invalid handles have no use; the call will refuse them.
        let mut dones = dones.into_iter();
        let follow = |operand: &'a TensorHandle| match operand.tensor() {
            Some(_) => operand.after(&dones.next().unwrap_or_default()),
            None => operand.clone(),
        };
        Some(operands.into_iter().map(follow).collect())
    }

    /// Returns values that become available when the calls that write to a tensor are done.
    pub(crate) fn writers_of(self: &Arc<Self>, handle: &TensorHandle) -> Dones {
        if !self.has_writers() {
            return Dones::new();
        }
        let uses = self.uses([handle], OperandSet::NONE);
        let state = self.lock();
        let dones = uses.operands.iter();
        dones
            .flat_map(|operand| state.awaited(operand, &mut Vec::new()))
            .collect()
    }

    /// Enters a call that has begun, if a result or its chain is pending.
    pub(crate) fn enter(
        self: &Arc<Self>,
        uses: &Uses,
        results: &[TensorHandle],
        chain: Option<&AnyRef>,
    ) {
        let is_pending = |value: &&AnyRef| !value.is_available();
        let results = results.iter().filter_map(TensorHandle::tensor);
        let results: SmallVec<[&AnyRef; NUM_IN_PLACE]> = results.filter(is_pending).collect();
        let chain = chain.filter(is_pending);
        if results.is_empty() && chain.is_none() {
            return;
        }
        let (promise, done) = AnyRef::indirect();
        let is_writer = uses.operands.iter().any(|operand| operand.is_written);
        let unfinished = {
            let mut state = self.lock();
            let (number, keys) = state.enter(uses, &results, &done);
            // Relaxed: who must see the writer is told of it by this thread.
            self.num_writers
                .fetch_add(usize::from(is_writer), Ordering::Relaxed);
            Arc::new(Unfinished {
                order: Arc::clone(self),
                number,
                keys,
                is_writer,
                done: Some(promise),
            })
        };
        let awaited = uses.awaited.iter().map(|(_, done)| done);
        for value in results.into_iter().chain(chain).chain(awaited) {
            let share = Arc::clone(&unfinished);
            value.and_then(move |_| drop(share));
        }
    }
}

impl State {
    /// Lists what a call waits for before it uses an operand. The calls that a writer waits for are
    /// noted.
    fn awaited(&self, operand: &Use, noted: &mut Vec<(u64, AnyRef)>) -> Dones {
        let mut groups: SmallVec<[u64; 2]> = SmallVec::new();
        let mut dones = Dones::new();
        for key in operand.all_keys() {
            let Some(place) = self.places.get(&key) else {
                continue;
            };
            if groups.contains(&place.group) {
                continue;
            }
            groups.push(place.group);
            let group = &self.groups[&place.group];
            dones.extend(group.writers.values().cloned());
            if operand.is_written {
                dones.extend(group.readers.values().cloned());
                let awaited = group.writers.iter().chain(&group.readers);
                noted.extend(awaited.map(|(&number, done)| (number, done.clone())));
            }
        }
        dones
    }

    /// Enters a call, and returns its number and the addresses that it keeps.
    fn enter(&mut self, uses: &Uses, results: &[&AnyRef], done: &AnyRef) -> (u64, Vec<Key>) {
        let number = self.new_number();
        let mut keys = Vec::new();
        for operand in &uses.operands {
            let first = keys.len();
            keys.extend(operand.all_keys());
            let group = self.group_of(&keys[first..]);
            let group = self.group(group);
            if operand.is_written {
                for (awaited, _) in &uses.awaited {
                    group.writers.remove(awaited);
                    group.readers.remove(awaited);
                }
                group.writers.insert(number, done.clone());
            } else {
                group.readers.insert(number, done.clone());
            }
        }
        if !results.is_empty() {
            keys.extend(results.iter().map(|result| result.address()));
            self.group_of(&keys);
        }
        for key in &keys {
            self.keep(*key);
        }
        (number, keys)
    }

    /// Removes a call that is done.
    fn finish(&mut self, number: u64, keys: &[Key]) {
        for key in keys {
            let group = self.places[key].group;
            let group = self.group(group);
            group.writers.remove(&number);
            group.readers.remove(&number);
        }
        for &key in keys {
            self.release(key);
        }
    }

    /// Adds the addresses of a tensor to the group of a pending operand that has become it, if a
    /// call that is not done uses the operand.
    fn link(&mut self, pending: Key, keys: &[Key]) {
        if !self.places.contains_key(&pending) {
            return;
        }
        let mut all = Keys::from_slice(keys);
        all.push(pending);
        self.group_of(&all);
        for &key in keys {
            self.keep(key);
        }
        if let Some(place) = self.places.get_mut(&pending) {
            place.links.extend_from_slice(keys);
        }
    }

    /// Returns the group of these addresses, which belong to one group afterwards.
    fn group_of(&mut self, keys: &[Key]) -> u64 {
        let mut found: Option<u64> = None;
        for key in keys {
            if let Some(group) = self.places.get(key).map(|place| place.group) {
                found = Some(match found {
                    None => group,
                    Some(first) => self.merge(first, group),
                });
            }
        }
        let group = found.unwrap_or_else(|| {
            let number = self.new_number();
            self.groups.insert(number, Group::default());
            number
        });
        for &key in keys {
            self.places.entry(key).or_insert(Place {
                group,
                num_users: 0,
                links: Keys::new(),
            });
            self.group(group).keys.insert(key);
        }
        group
    }

    /// Makes one group of two, and returns it.
    fn merge(&mut self, one: u64, other: u64) -> u64 {
        if one == other {
            return one;
        }
        // The larger group stays, so that an address moves only a few times.
        let (kept, moved) = match self.groups[&one].keys.len() < self.groups[&other].keys.len() {
            true => (other, one),
            false => (one, other),
        };
        let moved = self.groups.remove(&moved).unwrap_or_default();
        for key in &moved.keys {
            if let Some(place) = self.places.get_mut(key) {
                place.group = kept;
            }
        }
        let group = self.group(kept);
        group.keys.extend(moved.keys);
        group.writers.extend(moved.writers);
        group.readers.extend(moved.readers);
        kept
    }

    fn group(&mut self, number: u64) -> &mut Group {
        let group = self.groups.get_mut(&number);
        group.expect("a place has a group, and a group lasts as long as its places")
    }

    fn keep(&mut self, key: Key) {
        if let Some(place) = self.places.get_mut(&key) {
            place.num_users += 1;
        }
    }

    /// Lets go of an address. The last user removes it, with its links.
    fn release(&mut self, key: Key) {
        let mut released = Keys::from_slice(&[key]);
        while let Some(key) = released.pop() {
            let Some(place) = self.places.get_mut(&key) else {
                continue;
            };
            place.num_users -= 1;
            if place.num_users != 0 {
                continue;
            }
            let place = self.places.remove(&key);
            let place = place.expect("it was found");
            released.extend(place.links);
            let group = self.group(place.group);
            group.keys.remove(&key);
            if group.keys.is_empty() {
                self.groups.remove(&place.group);
            }
        }
    }

    fn new_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}

/// Returns the addresses of an available tensor beyond that of its value. Only dense tensors share
/// memory.
fn keys_of(tensor: &AnyRef) -> Keys {
    let mut keys = Keys::new();
    if let Some(dense) = tensor.get::<DenseHostTensor>() {
        keys.push(std::ptr::from_ref(dense).addr());
        // All empty buffers may have the same address.
        if !dense.buffer().is_empty() {
            keys.push(dense.buffer().address());
        }
    }
    keys
}

impl TensorHandle {
    /// Returns the handle with a tensor that becomes available after these values.
    fn after(&self, dones: &[AnyRef]) -> Self {
        // An error is nothing that is read.
        let is_error = self.error_if_present().is_some();
        let mut handle = self.clone();
        if !dones.is_empty() && !is_error {
            handle.map_tensor(|tensor| {
                let (promise, later) = AnyRef::indirect();
                run_when_ready(dones, move || promise.forward_to(tensor));
                later
            });
        }
        handle
    }
}

#[cfg(test)]
mod tests {
    use tfrt_host::device::{CpuDevice, DeviceRef};
    use tfrt_support::{DType, TensorMetadata};

    use super::*;

    fn cpu() -> DeviceRef {
        DeviceRef(Arc::new(CpuDevice::new("CPU:0")))
    }

    fn tensor() -> TensorHandle {
        TensorHandle::of_tensor(cpu(), DenseHostTensor::vector(&[1.0_f32]).unwrap())
    }

    fn pending() -> (IndirectPromise, TensorHandle) {
        let (promise, later) = AnyRef::indirect();
        let metadata = TensorMetadata::new(DType::F32, [1]);
        (promise, TensorHandle::new(cpu(), metadata, later))
    }

    /// Returns `true` if a call on this operand must wait.
    fn waits(order: &Arc<Order>, operand: &TensorHandle, written: OperandSet) -> bool {
        let mut uses = order.uses([operand], written);
        order.follow(&mut uses, [operand]).is_some()
    }

    fn reader_waits(order: &Arc<Order>, operand: &TensorHandle) -> bool {
        waits(order, operand, READS)
    }

    fn writer_waits(order: &Arc<Order>, operand: &TensorHandle) -> bool {
        waits(order, operand, WRITES)
    }

    const READS: OperandSet = OperandSet::NONE;
    const WRITES: OperandSet = OperandSet::NONE.with(0);

    /// Begins a call with one pending result, and returns its promise and its result.
    fn call(
        order: &Arc<Order>,
        operand: &TensorHandle,
        written: OperandSet,
    ) -> (IndirectPromise, TensorHandle) {
        let mut uses = order.uses([operand], written);
        order.follow(&mut uses, [operand]);
        let (promise, result) = pending();
        order.enter(&uses, std::slice::from_ref(&result), None);
        (promise, result)
    }

    fn is_empty(order: &Order) -> bool {
        let state = order.lock();
        state.places.is_empty() && state.groups.is_empty() && !order.has_writers()
    }

    #[test]
    fn writers_wait_for_readers_and_readers_for_writers() {
        let order = Arc::<Order>::default();
        let (x, other) = (tensor(), tensor());
        let (first, _) = call(&order, &x, READS);
        assert!(!reader_waits(&order, &x), "readers do not wait for readers");
        assert!(writer_waits(&order, &x));
        let (second, _) = call(&order, &x, WRITES);
        assert!(reader_waits(&order, &x) && writer_waits(&order, &x));
        assert!(!reader_waits(&order, &other) && !writer_waits(&order, &other));
        let dones = order.writers_of(&x);
        assert_eq!(dones.len(), 1);
        first.forward_to(AnyRef::ready_chain());
        second.forward_to(AnyRef::ready_chain());
        assert!(dones[0].is_available());
        assert!(!reader_waits(&order, &x) && !writer_waits(&order, &x));
        assert!(is_empty(&order));
    }

    #[test]
    fn a_writer_that_fails_early_is_not_done_before_earlier_readers() {
        let order = Arc::<Order>::default();
        let x = tensor();
        let (reader, _) = call(&order, &x, READS);
        let (writer, _) = call(&order, &x, WRITES);
        drop(writer);
        assert!(writer_waits(&order, &x));
        reader.forward_to(AnyRef::ready_chain());
        assert!(!writer_waits(&order, &x));
        assert!(is_empty(&order));
    }

    #[test]
    fn tensors_that_share_elements_share_their_order() {
        let order = Arc::<Order>::default();
        let x = tensor();
        let dense = x.tensor().unwrap().get::<DenseHostTensor>().unwrap();
        let view = TensorHandle::of_tensor(cpu(), dense.clone());
        let (reader, _) = call(&order, &x, READS);
        assert!(writer_waits(&order, &view));
        reader.forward_to(AnyRef::ready_chain());
        assert!(!writer_waits(&order, &view));
        assert!(is_empty(&order));
    }

    #[test]
    fn a_pending_result_may_share_the_memory_of_an_operand() {
        let order = Arc::<Order>::default();
        let x = tensor();
        let (view, result) = call(&order, &x, READS);
        let (reader, _) = call(&order, &result, READS);
        assert!(writer_waits(&order, &x));
        // The result is the tensor itself, and its reader is not done.
        view.forward_to(x.tensor().unwrap().clone());
        assert!(writer_waits(&order, &x));
        reader.forward_to(AnyRef::ready_chain());
        assert!(!writer_waits(&order, &x));
        assert!(is_empty(&order));
    }

    #[test]
    fn a_promised_operand_joins_the_group_of_its_tensor() {
        let order = Arc::<Order>::default();
        let x = tensor();
        let (promise, promised) = pending();
        let (reader, _) = call(&order, &promised, READS);
        assert!(!writer_waits(&order, &x), "nothing is known of it yet");
        promise.forward_to(x.tensor().unwrap().clone());
        assert!(writer_waits(&order, &x));
        reader.forward_to(AnyRef::ready_chain());
        assert!(!writer_waits(&order, &x));
        assert!(is_empty(&order));
    }

    #[test]
    fn operands_that_wait_are_there_when_earlier_calls_are_done() {
        let order = Arc::<Order>::default();
        let x = tensor();
        let (writer, _) = call(&order, &x, WRITES);
        let mut uses = order.uses([&x], READS);
        let followed = order.follow(&mut uses, [&x]).unwrap();
        let text = followed[0].to_string();
        assert_eq!(text, "future TensorHandle with metadata f32 [1]");
        drop(writer);
        assert_eq!(
            followed[0].to_string(),
            x.to_string(),
            "a failed writer is done"
        );
        assert!(is_empty(&order));
    }
}
