//! Elements that a member lends to another one, which copies them from memory to memory.
//!
//! ```text
//!  sender                                         receiver
//!   ── "message: n bytes at A, number, seal" ──►   hands the loan to the operation
//!      elements and seal stay as they are          copies the elements, and then the seal
//!   ◄── "the loan with this number has ended" ──   drops the loan
//!      breaks the seal, releases the elements
//! ```
//!
//! Both copies are calls of `process_vm_readv`.
//!
//! Each loan has a *seal*: a word in memory of the sender, with a number that no other seal of the
//! connection has.
//!
//! L1. The seal holds its number only while the elements are there and do not change. Upheld by
//! [`Lent`]: it keeps the message, which borrows the elements, and its end breaks the seal first.
//!
//! L2. A read that returns `Ok` has copied elements that were lent all the time. Upheld by
//! [`Loan::read`], which checks the seal after it has copied them. The order is that of a sequence
//! lock: the sender breaks the seal, passes a fence, and only then may the elements change; the
//! receiver copies elements, passes a fence, and then copies the seal. If it finds the number, the
//! elements had not changed before.
//!
//! So a sender does not wait for a receiver that it has given up: it breaks the seal, and a
//! receiver that still reads finds it broken. The seal also tells the process of the sender from
//! another one that has got the same process number after its end, and memory that was unmapped is
//! an error of the kernel. The receiver's own memory is safe whatever the sender says: the kernel
//! copies, from any address, into a slice. A member could lend memory that a device or another
//! process provides, and so make a read wait: members belong to one user, who can stop each of them
//! anyway.
//!
//! The kernel lets a process read the memory of another one of the same user, unless a security
//! module (Yama, with a `ptrace_scope` of 1 or more) or the filter of a container forbids it.
//! Members find out once, when they meet: each tries to read the *probe* of the other one, a word
//! whose number came with the greeting. If it finds the number, it says so, and the other one lends
//! from then on. Otherwise elements pass through segments.
//!
//! The kernel may begin to refuse later, for example when a process installs a filter. The
//! operation whose elements cannot be read fails. The receiver withdraws what it said, so later
//! elements pass through segments.

use std::io::{self, IoSliceMut};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use tfrt_distributed::collective::direct::{LentElements, Message};

use crate::greeting;
use crate::links::{Command, Shared};
use crate::wire::{LoanPlace, WordPlace};

/// Messages with fewer bytes are not lent, if the kernel lets members read each other's memory: two
/// copies are cheaper than the system calls and the answer.
pub(crate) const MIN_LENT_BYTES: usize = 128 << 10;

/// A word that other members read to see whether it has its number.
#[derive(Debug)]
pub(crate) struct Word {
    cell: Box<AtomicU64>,
    number: u64,
}

impl Word {
    pub(crate) fn new(number: u64) -> Self {
        Self {
            cell: Box::new(AtomicU64::new(number)),
            number,
        }
    }

    pub(crate) fn place(&self) -> WordPlace {
        WordPlace {
            // Exposed: another process reads it.
            address: (&raw const *self.cell).expose_provenance() as u64,
            number: self.number,
        }
    }

    /// Takes the number away, before whatever follows.
    fn clear(&self) {
        self.cell.store(!self.number, Ordering::Relaxed);
        // Pairs with the fence in `Loan::read`, in another process.
        fence(Ordering::SeqCst);
    }
}

/// A message whose elements are lent. Its end breaks the seal and then releases the elements.
#[derive(Debug)]
pub(crate) struct Lent<M = Message> {
    message: M,
    seal: Word,
}

impl<M> Lent<M> {
    /// Lends the elements of a message. No other loan has the number.
    pub(crate) fn new(message: M, number: u64) -> Self {
        Self {
            message,
            seal: Word::new(number),
        }
    }

    pub(crate) fn message(&self) -> &M {
        &self.message
    }
}

impl Lent {
    pub(crate) fn place(&self) -> LoanPlace {
        let elements = &self.message.elements;
        LoanPlace {
            address: elements.as_ptr().expose_provenance() as u64,
            len_bytes: elements.len() as u64,
            seal: self.seal.place(),
        }
    }
}

impl<M> Drop for Lent<M> {
    fn drop(&mut self) {
        // L1. The message is dropped after this.
        self.seal.clear();
    }
}

/// The memory of another process, which the kernel lets this one read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerMemory {
    process: Pid,
}

impl PeerMemory {
    /// Finds out whether the memory of the process at the other end of a connection can be read.
    pub(crate) fn probe(stream: &UnixStream, probe: WordPlace) -> Option<Self> {
        let memory = Self::of(greeting::credentials(stream).ok()?.pid())?;
        memory.has(probe).ok()?.then_some(memory)
    }

    /// Returns the memory of a process, unless that is one of another namespace, with the number 0.
    fn of(process: i32) -> Option<Self> {
        (process > 0).then(|| Self {
            process: Pid::from_raw(process),
        })
    }

    /// Copies memory.
    fn read(self, address: u64, mut out: &mut [u8]) -> io::Result<()> {
        let mut base = usize::try_from(address).map_err(io::Error::other)?;
        while !out.is_empty() {
            let len = out.len();
            let remote = [RemoteIoVec { base, len }];
            let num_read = process_vm_readv(self.process, &mut [IoSliceMut::new(out)], &remote)?;
            if num_read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // Only a part: the next call says why.
            out = &mut out[num_read..];
            base = base.wrapping_add(num_read);
        }
        Ok(())
    }

    /// Returns `true` if a word has its number.
    fn has(self, word: WordPlace) -> io::Result<bool> {
        let mut found = [0; 8];
        self.read(word.address, &mut found)?;
        Ok(u64::from_ne_bytes(found) == word.number)
    }
}

/// Elements that another member lends to this one. Its end tells the other member.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(crate) memory: PeerMemory,
    pub(crate) place: LoanPlace,
    pub(crate) from: usize,
    /// The number of the loan.
    pub(crate) number: u32,
    pub(crate) shared: Arc<Shared>,
}

impl LentElements for Loan {
    fn len_bytes(&self) -> usize {
        // Compared with what is expected before anything is allocated.
        usize::try_from(self.place.len_bytes).unwrap_or(usize::MAX)
    }

    fn read(&self, start: usize, out: &mut [u8]) -> io::Result<()> {
        let LoanPlace {
            address,
            len_bytes,
            seal,
        } = self.place;
        let (start, len) = (start as u64, out.len() as u64);
        if start.checked_add(len).is_none_or(|end| end > len_bytes) {
            let message = format!("expected a part of {len_bytes} bytes, found {len} at {start}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let read = self.memory.read(address.wrapping_add(start), out);
        // L2. Pairs with the fence in `Word::clear`, in another process.
        fence(Ordering::SeqCst);
        let error = match (read, self.memory.has(seal)) {
            (Ok(()), Ok(true)) => return Ok(()),
            // Elements that are not lent any more may be unmapped.
            (_, Ok(false)) => return Err(io::Error::other("the member has ended the operation")),
            (Err(error), _) | (Ok(()), Err(error)) => error,
        };
        let command = Command::CannotRead(self.from);
        self.shared
            .tell(move |commands| commands.list.push(command));
        Err(error)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let command = Command::Return(self.from, self.number);
        self.shared
            .tell(move |commands| commands.list.push(command));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::process::{Child, Command as Program, id};
    use std::rc::Rc;

    use super::*;

    /// The memory of this process, read as that of another one.
    fn own_memory() -> PeerMemory {
        memory_of(id())
    }

    fn memory_of(process: u32) -> PeerMemory {
        PeerMemory::of(process.try_into().unwrap()).unwrap()
    }

    /// Returns `true` if the kernel lets a process read memory by its number: the filter of a
    /// container may forbid it.
    pub(crate) fn can_read() -> bool {
        let can_read = own_memory().has(Word::new(5).place()).is_ok();
        if !can_read {
            println!("skipped: the kernel refuses process_vm_readv");
        }
        can_read
    }

    /// Memory that cannot be read, as if the kernel refused it: there is no such process.
    pub(crate) fn unreadable() -> PeerMemory {
        PeerMemory::of(i32::MAX).unwrap()
    }

    fn loan(memory: PeerMemory, place: LoanPlace) -> (Loan, Arc<Shared>) {
        let (shared, _woken) = Shared::new().unwrap();
        let shared = Arc::new(shared);
        let loan = Loan {
            memory,
            place,
            from: 3,
            number: 7,
            shared: Arc::clone(&shared),
        };
        (loan, shared)
    }

    fn place_of(elements: &[u8], seal: &Word) -> LoanPlace {
        LoanPlace {
            address: elements.as_ptr().expose_provenance() as u64,
            len_bytes: elements.len() as u64,
            seal: seal.place(),
        }
    }

    #[test]
    fn elements_are_read_until_their_seal_is_broken() {
        if !can_read() {
            return;
        }
        let elements: Vec<u8> = (0..=255).collect();
        let seal = Word::new(11);
        let (loan, _shared) = loan(own_memory(), place_of(&elements, &seal));
        assert_eq!(loan.len_bytes(), 256);
        let mut out = [0; 6];
        loan.read(250, &mut out).unwrap();
        assert_eq!(out, [250, 251, 252, 253, 254, 255]);
        seal.clear();
        let error = loan.read(250, &mut out).unwrap_err();
        assert_eq!(error.to_string(), "the member has ended the operation");
    }

    /// Finds out at its end whether a seal has its number.
    struct AtEnd {
        seal: Cell<Option<WordPlace>>,
        is_whole: Rc<Cell<Option<bool>>>,
    }

    impl Drop for AtEnd {
        fn drop(&mut self) {
            let seal = self.seal.get().unwrap();
            self.is_whole.set(Some(own_memory().has(seal).unwrap()));
        }
    }

    #[test]
    fn a_seal_is_broken_before_the_elements_are_released() {
        if !can_read() {
            return;
        }
        let is_whole = Rc::new(Cell::new(None));
        let message = AtEnd {
            seal: Cell::default(),
            is_whole: Rc::clone(&is_whole),
        };
        let lent = Lent::new(message, 11);
        lent.message().seal.set(Some(lent.seal.place()));
        assert!(own_memory().has(lent.seal.place()).unwrap());
        drop(lent);
        assert_eq!(is_whole.get(), Some(false));
    }

    #[test]
    fn nothing_beside_the_elements_is_read() {
        if !can_read() {
            return;
        }
        let elements = [1; 8];
        let seal = Word::new(11);
        let (loan, _shared) = loan(own_memory(), place_of(&elements[..4], &seal));
        for (start, len) in [(0, 5), (4, 1), (usize::MAX, 1), (1, 4)] {
            assert!(
                loan.read(start, &mut vec![0; len]).is_err(),
                "{start}, {len}"
            );
        }
        assert!(loan.read(4, &mut []).is_ok());
    }

    #[test]
    fn the_end_of_a_loan_is_told() {
        let seal = Word::new(11);
        let (loan, shared) = loan(own_memory(), place_of(&[], &seal));
        assert!(shared.take().list.is_empty());
        drop(loan);
        let commands = shared.take().list;
        assert!(
            matches!(commands[..], [Command::Return(3, 7)]),
            "{commands:?}"
        );
    }

    /// A process that does nothing. Its end is that of the value.
    struct Idle(Child);

    impl Idle {
        fn start() -> Self {
            Self(Program::new("sleep").arg("1000").spawn().unwrap())
        }
    }

    impl Drop for Idle {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn wrong_addresses_and_dead_processes_are_errors() {
        let elements = [1; 8];
        let seal = Word::new(11);
        // The addresses of this process mean nothing there.
        let idle = Idle::start();
        let other = memory_of(idle.0.id());
        assert!(!other.has(seal.place()).unwrap_or(false));
        let (read, _shared) = loan(other, place_of(&elements, &seal));
        assert!(read.read(0, &mut [0; 8]).is_err());
        drop(idle);
        assert!(read.read(0, &mut [0; 8]).is_err());
        // Neither the first page nor the end of the address space is mapped.
        for address in [0, 8, u64::MAX - 4, u64::MAX] {
            let place = LoanPlace {
                address,
                ..place_of(&elements, &seal)
            };
            let (read, _shared) = loan(own_memory(), place);
            assert!(read.read(0, &mut [0; 8]).is_err(), "{address:#x}");
        }
    }

    #[test]
    fn a_probe_finds_out_whether_memory_can_be_read() {
        if !can_read() {
            return;
        }
        let (one, _other) = UnixStream::pair().unwrap();
        let probe = Word::new(5);
        assert!(PeerMemory::probe(&one, probe.place()).is_some());
        let wrong = WordPlace {
            number: 6,
            ..probe.place()
        };
        assert!(PeerMemory::probe(&one, wrong).is_none());
        let nowhere = WordPlace {
            address: 0,
            ..probe.place()
        };
        assert!(PeerMemory::probe(&one, nowhere).is_none());
    }

    #[test]
    fn a_process_of_another_namespace_is_unknown() {
        assert!(PeerMemory::of(0).is_none());
    }

    #[test]
    fn only_memory_that_is_still_lent_and_cannot_be_read_ends_lending() {
        let elements = [1; 8];
        let seal = Word::new(11);
        let place = place_of(&elements, &seal);
        let nowhere = LoanPlace {
            address: 0,
            ..place
        };
        for (memory, place) in [(unreadable(), place), (own_memory(), nowhere)] {
            let (loan, shared) = loan(memory, place);
            assert!(loan.read(0, &mut [0; 8]).is_err());
            let commands = shared.take().list;
            assert!(
                matches!(commands[..], [Command::CannotRead(3)]),
                "{commands:?}"
            );
        }
        if !can_read() {
            return;
        }
        seal.clear();
        for place in [place, nowhere] {
            let (loan, shared) = loan(own_memory(), place);
            let error = loan.read(0, &mut [0; 8]).unwrap_err();
            assert_eq!(error.to_string(), "the member has ended the operation");
            let commands = shared.take().list;
            assert!(commands.is_empty(), "{commands:?}");
        }
    }
}
