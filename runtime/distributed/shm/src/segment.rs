//! Blocks of shared memory.
//!
//! Invariant S1: a block is written by its owner alone, and only while no member reads it. Upheld
//! by [`Segment::write`], which takes free blocks, and by [`Segment::was_read`], which frees a
//! block when all readers have said that they read it, or have ended their connection. Blocks of a
//! reader that was cut off, and may be alive, are retired. A peer that breaks the rule sends wrong
//! elements, as it could anyway; memory is safe, since the kernel copies blocks, and nothing maps
//! them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};

use crate::wire::malformed;

/// The size of a block. With 256 KiB, a block that was written is still in the cache of the core
/// when it is read; smaller blocks need more system calls.
pub(crate) const BLOCK_BYTES: usize = 256 << 10;

/// The number of blocks of a segment.
pub(crate) const NUM_BLOCKS: usize = 16;

const SEGMENT_BYTES: u64 = (BLOCK_BYTES * NUM_BLOCKS) as u64;

/// The size of a segment does not change any more: reads never find that it has shrunk.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// The segment of this member.
#[derive(Debug)]
pub(crate) struct Segment {
    file: File,
    /// The members that have to read each block.
    readers: [Vec<usize>; NUM_BLOCKS],
    /// The blocks that are not written any more: a member that was cut off may still read them.
    is_retired: [bool; NUM_BLOCKS],
}

impl Segment {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("tfrt", flags)?);
        file.set_len(SEGMENT_BYTES)?;
        fcntl_add_seals(&file, SEALS)?;
        Ok(Self {
            file,
            readers: Default::default(),
            is_retired: [false; NUM_BLOCKS],
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Writes elements into a free block, to be read by these members. Returns the number of the
    /// block, or `None` if no block is free.
    pub(crate) fn write(&mut self, elements: &[u8], readers: &[usize]) -> io::Result<Option<u32>> {
        debug_assert!(elements.len() <= BLOCK_BYTES, "elements fit into a block");
        let mut blocks = self.readers.iter_mut().enumerate();
        let is_free =
            |number: usize, readers: &[usize]| readers.is_empty() && !self.is_retired[number];
        let Some((number, block)) = blocks.find(|(number, readers)| is_free(*number, readers))
        else {
            return Ok(None);
        };
        self.file
            .write_all_at(elements, (number * BLOCK_BYTES) as u64)?;
        block.extend_from_slice(readers);
        // There are few blocks.
        Ok(Some(u32::try_from(number).unwrap_or(u32::MAX)))
    }

    /// Records that a member has read a block.
    ///
    /// # Errors
    /// If the member did not have to read it.
    pub(crate) fn was_read(&mut self, number: u32, reader: usize) -> io::Result<()> {
        let block = self.readers.get_mut(number as usize);
        let block = block.ok_or_else(malformed)?;
        let position = block.iter().position(|one| *one == reader);
        block.swap_remove(position.ok_or_else(malformed)?);
        Ok(())
    }

    /// Stops writing the blocks that this member may still read.
    pub(crate) fn retire_reader(&mut self, reader: usize) {
        for (block, is_retired) in self.readers.iter_mut().zip(&mut self.is_retired) {
            *is_retired |= block.contains(&reader);
            block.retain(|one| *one != reader);
        }
    }

    /// Returns `true` if no block will be written any more.
    pub(crate) fn is_used_up(&self) -> bool {
        self.is_retired.iter().all(|is_retired| *is_retired)
    }

    /// Frees the blocks that only wait for this member, which reads nothing any more.
    pub(crate) fn forget_reader(&mut self, reader: usize) {
        for block in &mut self.readers {
            block.retain(|one| *one != reader);
        }
    }
}

/// The segment of another member.
#[derive(Debug)]
pub(crate) struct PeerSegment(File);

impl PeerSegment {
    /// Accepts the segment of another member.
    ///
    /// # Errors
    /// If it is not memory of the expected size that stays as it is.
    pub(crate) fn accept(file: File) -> io::Result<Self> {
        // Only memory files have seals: reads never wait for a device or another process.
        let has_seals = fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        if !has_seals || file.metadata()?.len() != SEGMENT_BYTES {
            let message = "expected shared memory, found another file";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Self(file))
    }

    /// Reads the start of a block.
    ///
    /// # Errors
    /// If there is no such block, or it is smaller.
    pub(crate) fn read(&self, number: u32, elements: &mut [u8]) -> io::Result<()> {
        let number = number as usize;
        if number >= NUM_BLOCKS || elements.len() > BLOCK_BYTES {
            return Err(malformed());
        }
        self.0
            .read_exact_at(elements, (number * BLOCK_BYTES) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer_of(segment: &Segment) -> PeerSegment {
        PeerSegment::accept(segment.file().try_clone().unwrap()).unwrap()
    }

    #[test]
    fn a_block_is_free_when_all_have_read_it() {
        let mut segment = Segment::new().unwrap();
        let peer = peer_of(&segment);
        for number in 0..NUM_BLOCKS {
            let block = segment.write(&[number as u8; 3], &[1, 2]).unwrap();
            assert_eq!(block, Some(number as u32));
        }
        assert_eq!(segment.write(&[9], &[1]).unwrap(), None);
        segment.was_read(5, 1).unwrap();
        assert_eq!(
            segment.write(&[9], &[1]).unwrap(),
            None,
            "member 2 reads it"
        );
        let mut elements = [0; 3];
        peer.read(5, &mut elements).unwrap();
        assert_eq!(elements, [5; 3]);
        segment.was_read(5, 2).unwrap();
        assert_eq!(segment.write(&[9], &[1]).unwrap(), Some(5));
        segment.forget_reader(1);
        assert_eq!(segment.write(&[9], &[2]).unwrap(), Some(5));
    }

    #[test]
    fn blocks_of_a_reader_that_was_cut_off_are_not_written_again() {
        let mut segment = Segment::new().unwrap();
        let peer = peer_of(&segment);
        assert_eq!(segment.write(&[7], &[1, 2]).unwrap(), Some(0));
        segment.retire_reader(1);
        segment.was_read(0, 2).unwrap();
        for number in 1..NUM_BLOCKS {
            assert!(!segment.is_used_up());
            let block = segment.write(&[9], &[2]).unwrap();
            assert_eq!(block, Some(number as u32));
        }
        assert_eq!(segment.write(&[9], &[2]).unwrap(), None);
        let mut elements = [0];
        peer.read(0, &mut elements).unwrap();
        assert_eq!(elements, [7]);
        segment.retire_reader(2);
        assert!(segment.is_used_up());
    }

    #[test]
    fn numbers_of_peers_are_checked() {
        let mut segment = Segment::new().unwrap();
        assert_eq!(segment.write(&[1], &[1]).unwrap(), Some(0));
        assert!(segment.was_read(0, 2).is_err(), "another member reads it");
        assert!(segment.was_read(NUM_BLOCKS as u32, 1).is_err());
        assert!(segment.was_read(0, 1).is_ok());
        assert!(segment.was_read(0, 1).is_err(), "it has read the block");
        let peer = peer_of(&segment);
        assert!(peer.read(NUM_BLOCKS as u32, &mut [0]).is_err());
        assert!(peer.read(u32::MAX, &mut [0]).is_err());
        let mut large = vec![0; BLOCK_BYTES + 1];
        assert!(peer.read(0, &mut large).is_err());
        assert!(peer.read(15, &mut large[1..]).is_ok());
    }

    #[test]
    fn only_sealed_memory_is_accepted() {
        let file = File::from(memfd_create("other", MemfdFlags::ALLOW_SEALING).unwrap());
        file.set_len(SEGMENT_BYTES).unwrap();
        assert!(PeerSegment::accept(file.try_clone().unwrap()).is_err());
        fcntl_add_seals(&file, SEALS).unwrap();
        assert!(PeerSegment::accept(file).is_ok());
        assert!(PeerSegment::accept(File::open("/dev/zero").unwrap()).is_err());
        let (pipe, _other) = std::io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(pipe));
        assert!(PeerSegment::accept(pipe).is_err());
    }
}
