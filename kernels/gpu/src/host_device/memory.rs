//! The memory of the device: blocks at addresses that mean nothing to the host.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use tfrt::host::log;
use tfrt_ptx::{AccessError, Memory};
use tfrt_tensor::HostBuffer;

use super::HostMemory;
use super::fault::Fault;
use super::order::{self, Moment, Write};
use crate::api::handle::{ContextHandle, DeviceId, StreamHandle};

/// The first address of device memory.
const FIRST: u64 = 0x0a00_0000_0000;

/// No block comes nearer to the end of the one before it.
const GAP: u64 = 0x1_0000;

/// The byte that fills new memory: NaN as a float, and an invalid address.
const POISON: u8 = 0xFF;

/// The number of freed blocks that are kept for messages.
const MAX_FREED: usize = 4096;

/// All blocks.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    blocks: BTreeMap<u64, Block>,
    /// The blocks that were freed last, and their sizes.
    freed: BTreeMap<u64, u64>,
    next: u64,
    /// The number of allocated bytes of each device.
    used: HashMap<i32, usize>,
    /// The memory of each device, in bytes.
    limit: usize,
    /// Whether unordered accesses are reported.
    checks_order: bool,
    /// The reports, at most one for a block.
    unordered: RefCell<Vec<String>>,
}

/// The most reports of unordered accesses.
const MAX_REPORTS: usize = 100;

/// The kind of a block's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Memory of the device.
    Device,
    /// Pinned memory of the host.
    Pinned,
    /// Memory of the host that was registered.
    Registered,
    /// A variable of a module.
    Global,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    owner: Owner,
    bytes: Bytes,
    /// The last write by a stream.
    last_write: Option<Write>,
    is_reported: Cell<bool>,
}

/// Whose a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) context: ContextHandle,
    /// The device of the context.
    pub(super) device: DeviceId,
}

enum Bytes {
    Own(Vec<u8>),
    Host(Box<dyn HostMemory>),
}

/// Shows what the bytes are, not the bytes: a device has billions of them.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(bytes) => f.debug_tuple("Own").field(&bytes.len()).finish(),
            Self::Host(memory) => f.debug_tuple("Host").field(&memory.len_bytes()).finish(),
        }
    }
}

impl Block {
    fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::Own(bytes) => bytes.len() as u64,
            Bytes::Host(memory) => memory.len_bytes() as u64,
        }
    }
}

impl DeviceMemory {
    /// Creates a memory without blocks.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            blocks: BTreeMap::new(),
            freed: BTreeMap::new(),
            next: FIRST,
            used: HashMap::new(),
            limit,
            checks_order: false,
            unordered: RefCell::default(),
        }
    }

    /// Reports unordered accesses from now on, or not.
    pub(super) fn with_order_checks(mut self, checks_order: bool) -> Self {
        self.checks_order = checks_order;
        self
    }

    /// Returns the accesses that nothing orders after the last write of another stream.
    pub(super) fn unordered_accesses(&self) -> Vec<String> {
        self.unordered.borrow().clone()
    }

    /// Reports an access by the work of this thread if nothing orders it after the last write.
    fn check_order(&self, what: &str, start: u64, address: u64, num_bytes: usize) {
        let Some(block) = self.blocks.get(&start) else {
            return;
        };
        let Some(write) = &block.last_write else {
            return;
        };
        let stream = order::running(|moment| {
            let moment = moment.filter(|moment| !moment.is_after(write))?;
            Some(moment.life.stream())
        });
        let mut reports = self.unordered.borrow_mut();
        if let Some(stream) = stream
            && reports.len() < MAX_REPORTS
            && !block.is_reported.replace(true)
        {
            let (reader, writer) = (StreamHandle(stream), StreamHandle(write.life.stream()));
            let len = block.len();
            let report = format!(
                "{what} of {num_bytes} bytes at {address:#x} on the stream {reader}: nothing orders \
                 it after the last write to the buffer of {len} bytes at {start:#x}, on the stream \
                 {writer}"
            );
            log::warning!("{report}");
            reports.push(report);
        }
    }

    /// Returns the free and the total bytes of a device.
    pub(super) fn info(&self, device: DeviceId) -> (usize, usize) {
        let used = self.used.get(&device.0).copied().unwrap_or(0);
        (self.limit.saturating_sub(used), self.limit)
    }

    /// Returns a new block at a multiple of `align`, or `None` if there is no room for it. Pinned
    /// memory is the host's, which has as much.
    pub(super) fn allocate(
        &mut self,
        num_bytes: usize,
        align: u64,
        kind: Kind,
        owner: Owner,
    ) -> Option<u64> {
        let room = match kind {
            Kind::Pinned => self.limit,
            _ => self.info(owner.device).0,
        };
        if num_bytes > room {
            return None;
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(num_bytes).ok()?;
        bytes.resize(num_bytes, POISON);
        let address = self.next.next_multiple_of(align.max(1));
        self.next = (address + num_bytes as u64 + GAP).next_multiple_of(512);
        if kind != Kind::Pinned {
            *self.used.entry(owner.device.0).or_default() += num_bytes;
        }
        let block = Block {
            kind,
            owner,
            bytes: Bytes::Own(bytes),
            last_write: None,
            is_reported: Cell::default(),
        };
        self.blocks.insert(address, block);
        Some(address)
    }

    /// Makes memory of the host a block. Returns `false` if it already is one, completely or in
    /// part.
    pub(super) fn register(
        &mut self,
        start: u64,
        memory: Box<dyn HostMemory>,
        owner: Owner,
    ) -> bool {
        let Some(end) = start.checked_add(memory.len_bytes() as u64) else {
            return false;
        };
        let before = self.blocks.range(..end).next_back();
        if before.is_some_and(|(address, block)| address + block.len() > start) {
            return false;
        }
        let block = Block {
            kind: Kind::Registered,
            owner,
            bytes: Bytes::Host(memory),
            last_write: None,
            is_reported: Cell::default(),
        };
        self.blocks.insert(start, block);
        true
    }

    /// Returns the number of blocks that programs have to free.
    pub(super) fn num_blocks(&self) -> usize {
        let blocks = self.blocks.values();
        blocks.filter(|block| block.kind != Kind::Global).count()
    }

    /// Removes the block of a kind that starts at an address. Whether there was one.
    pub(super) fn free(&mut self, address: u64, kind: Kind) -> bool {
        if self
            .blocks
            .get(&address)
            .is_none_or(|block| block.kind != kind)
        {
            return false;
        }
        let Some(block) = self.blocks.remove(&address) else {
            return false;
        };
        if let Bytes::Own(bytes) = &block.bytes {
            if kind != Kind::Pinned
                && let Some(used) = self.used.get_mut(&block.owner.device.0)
            {
                *used -= bytes.len();
            }
            if self.freed.len() == MAX_FREED {
                self.freed.pop_first();
            }
            self.freed.insert(address, block.len());
        }
        true
    }

    /// Returns the kind of the block that an address lies in.
    pub(super) fn kind_at(&self, address: u64) -> Option<Kind> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.len()).then_some(block.kind)
    }

    /// Returns the context of the block that starts at an address.
    pub(super) fn context_of(&self, address: u64) -> Option<ContextHandle> {
        Some(self.blocks.get(&address)?.owner.context)
    }

    /// Returns the blocks of a context that the program should have freed.
    pub(super) fn left_by(&self, context: ContextHandle) -> Vec<u64> {
        let blocks = self.blocks.iter();
        blocks
            .filter(|(_, block)| block.owner.context == context && block.kind != Kind::Global)
            .map(|(address, _)| *address)
            .collect()
    }

    /// Returns the block of an access, and the offset in it.
    fn find(&self, what: &str, address: u64, num_bytes: usize) -> Result<(u64, usize), Fault> {
        let access = || format!("{what} of {num_bytes} bytes at {address:#x}");
        if let Some((&start, block)) = self.blocks.range(..=address).next_back() {
            let offset = address - start;
            let end = offset.checked_add(num_bytes as u64);
            if end.is_some_and(|end| end <= block.len()) {
                return Ok((start, offset as usize));
            }
            let past = end.unwrap_or(u64::MAX).saturating_sub(block.len());
            if offset < block.len() + GAP && block.kind != Kind::Registered {
                let len = block.len();
                return Err(Fault::illegal_address(format!(
                    "{}: {past} bytes past the end of the buffer of {len} bytes at {start:#x}",
                    access()
                )));
            }
        }
        if let Some((&start, &len)) = self.freed.range(..=address).next_back()
            && address - start < len
        {
            return Err(Fault::illegal_address(format!(
                "{}: the buffer of {len} bytes at {start:#x} was freed",
                access()
            )));
        }
        Err(Fault::illegal_address(format!(
            "{}: no buffer contains this address",
            access()
        )))
    }

    /// Checks that an access lies in one block.
    pub(super) fn check(&self, what: &str, address: u64, num_bytes: usize) -> Result<(), Fault> {
        match num_bytes {
            0 => Ok(()),
            _ => self.find(what, address, num_bytes).map(drop),
        }
    }

    /// Fills memory with copies of a word.
    pub(super) fn fill(&mut self, address: u64, word: u32, count: usize) -> Result<(), Fault> {
        const PIECE: usize = 4096;
        let num_bytes = count.checked_mul(4);
        self.check("write", address, num_bytes.unwrap_or(usize::MAX))?;
        let piece = word.to_le_bytes().repeat(count.min(PIECE));
        let mut left = num_bytes.unwrap_or(0);
        let mut at = address;
        while left > 0 {
            let len = left.min(piece.len());
            self.write(at, &piece[..len])?;
            at += len as u64;
            left -= len;
        }
        Ok(())
    }

    /// Copies bytes from the device.
    pub(super) fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, offset) = self.find("read", address, bytes.len())?;
        if self.checks_order {
            self.check_order("read", start, address, bytes.len());
        }
        match self.blocks.get(&start).map(|block| &block.bytes) {
            Some(Bytes::Own(own)) => bytes.copy_from_slice(&own[offset..offset + bytes.len()]),
            Some(Bytes::Host(memory)) => memory.read(offset, bytes).map_err(in_use)?,
            None => {}
        }
        Ok(())
    }

    /// Copies bytes to the device.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, offset) = self.find("write", address, bytes.len())?;
        if self.checks_order {
            self.check_order("write", start, address, bytes.len());
            if let Some(block) = self.blocks.get_mut(&start) {
                let write = order::running(|moment| moment.map(Moment::as_write));
                block.last_write = write.or(block.last_write.take());
            }
        }
        match self.blocks.get_mut(&start).map(|block| &mut block.bytes) {
            Some(Bytes::Own(own)) => own[offset..offset + bytes.len()].copy_from_slice(bytes),
            Some(Bytes::Host(memory)) => memory.write(offset, bytes).map_err(in_use)?,
            None => {}
        }
        Ok(())
    }
}

/// Each access borrows the buffer, so that the host cannot use it at the same time unnoticed.
impl HostMemory for HostBuffer {
    fn len_bytes(&self) -> usize {
        HostBuffer::len_bytes(self)
    }

    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), String> {
        let part = HostBuffer::read(self).map_err(|error| error.to_string())?;
        bytes.copy_from_slice(&part[offset..offset + bytes.len()]);
        Ok(())
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), String> {
        let mut part = HostBuffer::write(self).map_err(|error| error.to_string())?;
        part[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// Returns the fault of an access to host memory that the host uses at the same time.
pub(super) fn in_use(reason: impl fmt::Display) -> Fault {
    Fault::failed(format!("host memory is in use by the host: {reason}"))
}

impl Memory for DeviceMemory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        DeviceMemory::read(self, address, bytes).map_err(refused)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), AccessError> {
        DeviceMemory::write(self, address, bytes).map_err(refused)
    }

    fn update(
        &mut self,
        address: u64,
        size: usize,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, AccessError> {
        let mut bytes = [0; 8];
        let part = &mut bytes[..size.min(8)];
        DeviceMemory::read(self, address, part).map_err(refused)?;
        let old = u64::from_le_bytes(bytes);
        let new = change(old).to_le_bytes();
        DeviceMemory::write(self, address, &new[..size.min(8)]).map_err(refused)?;
        Ok(old)
    }
}

fn refused(fault: Fault) -> AccessError {
    AccessError::new(fault.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner {
        context: ContextHandle(1),
        device: DeviceId(0),
    };

    #[test]
    fn an_access_past_a_block_tells_which_block() {
        let mut memory = DeviceMemory::new(1 << 20);
        let address = memory.allocate(8, 1, Kind::Device, OWNER).unwrap();
        let mut bytes = [0; 4];
        memory.read(address + 4, &mut bytes).unwrap();
        assert_eq!(bytes, [POISON; 4]);
        let fault = memory.read(address + 6, &mut bytes).unwrap_err();
        assert_eq!(
            fault.message,
            "read of 4 bytes at 0xa0000000006: 2 bytes past the end of the buffer of 8 bytes at \
             0xa0000000000"
        );
    }

    #[test]
    fn an_access_to_freed_memory_says_so() {
        let mut memory = DeviceMemory::new(1 << 20);
        let first = memory.allocate(8, 1, Kind::Device, OWNER).unwrap();
        assert!(memory.free(first, Kind::Device) && !memory.free(first, Kind::Device));
        let second = memory.allocate(8, 1, Kind::Device, OWNER).unwrap();
        assert_ne!(first, second, "addresses are not used again");
        let fault = memory.write(first, &[0; 4]).unwrap_err();
        assert!(fault.message.ends_with("was freed"), "{}", fault.message);
    }

    #[test]
    fn bytes_are_not_shown() {
        let mut memory = DeviceMemory::new(1 << 20);
        memory.allocate(1000, 1, Kind::Device, OWNER).unwrap();
        let shown = format!("{memory:?}");
        assert!(shown.contains("Own(1000)") && shown.len() < 500, "{shown}");
    }

    #[test]
    fn memory_ends() {
        let mut memory = DeviceMemory::new(100);
        let first = memory.allocate(60, 1, Kind::Device, OWNER).unwrap();
        assert_eq!(memory.allocate(60, 1, Kind::Device, OWNER), None);
        assert!(memory.free(first, Kind::Device));
        assert!(memory.allocate(60, 1, Kind::Device, OWNER).is_some());
        assert_eq!(memory.info(OWNER.device), (40, 100));
    }

    #[test]
    fn each_device_has_memory_of_its_own() {
        let mut memory = DeviceMemory::new(100);
        let other = Owner {
            device: DeviceId(1),
            ..OWNER
        };
        assert!(memory.allocate(80, 1, Kind::Device, OWNER).is_some());
        assert!(memory.allocate(80, 1, Kind::Device, other).is_some());
        assert!(memory.allocate(80, 1, Kind::Pinned, OWNER).is_some());
        assert_eq!(
            [OWNER, other].map(|owner| memory.info(owner.device).0),
            [20, 20]
        );
    }

    #[test]
    fn blocks_are_aligned_as_asked() {
        let mut memory = DeviceMemory::new(1 << 20);
        memory.allocate(8, 1, Kind::Device, OWNER).unwrap();
        let address = memory.allocate(8, 65536, Kind::Global, OWNER).unwrap();
        assert_eq!(address % 65536, 0);
    }

    #[test]
    fn a_fill_writes_all_words_or_none() {
        let mut memory = DeviceMemory::new(1 << 20);
        let address = memory.allocate(40_004, 1, Kind::Device, OWNER).unwrap();
        memory.fill(address, 7, 10_001).unwrap();
        let mut word = [0; 4];
        memory.read(address + 40_000, &mut word).unwrap();
        assert_eq!(word, [7, 0, 0, 0]);
        assert!(memory.fill(address, 9, usize::MAX / 2).is_err());
        assert!(memory.fill(address, 9, 10_002).is_err());
        memory.read(address, &mut word).unwrap();
        assert_eq!(word, [7, 0, 0, 0]);
    }
}
