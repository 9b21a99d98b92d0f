//! Loads, stores and atomic operations on all spaces.

use super::*;
use crate::instruction::{Address, Operand};
use crate::memory::AccessError;
use crate::program::{LOCAL, PARAM, SHARED, WINDOW};

impl Machine<'_> {
    /// Returns the address that an instruction names, in its space.
    pub(super) fn address(&self, thread: &Thread, address: &Address) -> u64 {
        self.value(thread, &address.base, ScalarType::B64)
            .wrapping_add_signed(address.offset)
    }

    /// Returns the space of an address; a generic address contains it.
    fn resolve(&self, thread: &Thread, space: Space, address: u64) -> (Space, u64) {
        match space {
            Space::Generic => match address & WINDOW {
                SHARED => (Space::Shared, address & !WINDOW),
                LOCAL => (Space::Local, address & !WINDOW),
                PARAM => (Space::Param, address & !WINDOW),
                _ => (Space::Global, address),
            },
            Space::Param => (space, address.wrapping_add(thread.frame.params as u64)),
            _ => (space, address),
        }
    }

    pub(super) fn check_alignment(
        &self,
        thread: &Thread,
        space: Space,
        address: u64,
        num_bytes: usize,
    ) -> Result<(), Fault> {
        if address.is_multiple_of(num_bytes as u64) {
            return Ok(());
        }
        let text = format!(
            "an access of {num_bytes} bytes to {} memory at {address:#x}: expected a multiple of \
             {num_bytes}",
            space.name()
        );
        Err(self
            .fault(thread, FaultKind::MisalignedAddress, text)
            .with_address(address))
    }

    /// Reads up to 32 bytes. `is_weak` says that the access takes part in races.
    pub(super) fn read(
        &mut self,
        thread: &Thread,
        space: Space,
        address: u64,
        bytes: &mut [u8],
        is_weak: bool,
    ) -> Result<(), Fault> {
        let (space, at) = self.resolve(thread, space, address);
        let len = bytes.len();
        self.check_alignment(thread, space, at, len)?;
        let place = match space {
            Space::Global | Space::Const | Space::Generic => {
                let result = if at & WINDOW == 0 {
                    self.memory.read(at, bytes)
                } else {
                    Err(outside())
                };
                return result
                    .map_err(|error| self.refused(thread, "read", len, space, at, &error));
            }
            Space::Shared => {
                self.note(thread, at, len, false, is_weak)?;
                piece(&self.shared, at, len)
            }
            Space::Local => piece(&thread.local, at, len),
            Space::Param => piece(&thread.params, at, len),
        };
        match place {
            Some(place) => bytes.copy_from_slice(place),
            None => return Err(self.outside_of(thread, "read", len, space, at)),
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        thread: &mut Thread,
        space: Space,
        address: u64,
        bytes: &[u8],
        is_weak: bool,
    ) -> Result<(), Fault> {
        let (space, at) = self.resolve(thread, space, address);
        let len = bytes.len();
        self.check_alignment(thread, space, at, len)?;
        let place = match space {
            Space::Global | Space::Generic => {
                let result = if at & WINDOW == 0 {
                    self.memory.write(at, bytes)
                } else {
                    Err(outside())
                };
                return result
                    .map_err(|error| self.refused(thread, "write", len, space, at, &error));
            }
            Space::Const => {
                return Err(self.refused(
                    thread,
                    "write",
                    len,
                    space,
                    at,
                    &AccessError::new("kernels can only read constant memory"),
                ));
            }
            Space::Shared => {
                self.note(thread, at, len, true, is_weak)?;
                piece_mut(&mut self.shared, at, len)
            }
            Space::Local => piece_mut(&mut thread.local, at, len),
            Space::Param => piece_mut(&mut thread.params, at, len),
        };
        match place {
            Some(place) => place.copy_from_slice(bytes),
            None => return Err(self.outside_of(thread, "write", len, space, at)),
        }
        Ok(())
    }

    /// Reads an integer of 1, 2, 4 or 8 bytes.
    pub(super) fn read_integer(
        &mut self,
        thread: &Thread,
        space: Space,
        address: u64,
        size: usize,
    ) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(thread, space, address, &mut bytes[..size], true)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Replaces an integer by what `change` makes of it, and returns the old one.
    pub(super) fn update(
        &mut self,
        thread: &mut Thread,
        space: Space,
        address: u64,
        size: usize,
        change: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, Fault> {
        let (space, at) = self.resolve(thread, space, address);
        if matches!(space, Space::Global | Space::Generic) {
            self.check_alignment(thread, space, at, size)?;
            let result = if at & WINDOW == 0 {
                self.memory.update(at, size, change)
            } else {
                Err(outside())
            };
            return result.map_err(|error| self.refused(thread, "update", size, space, at, &error));
        }
        // Parameters are addressed from the frame's own again.
        let at = if space == Space::Param {
            at.wrapping_sub(thread.frame.params as u64)
        } else {
            at
        };
        let mut old = [0; 8];
        self.read(thread, space, at, &mut old[..size], false)?;
        let old = u64::from_le_bytes(old);
        self.write(thread, space, at, &change(old).to_le_bytes()[..size], false)?;
        Ok(old)
    }

    /// Tells the search for races about an access to shared memory that lies inside of it.
    fn note(
        &mut self,
        thread: &Thread,
        at: u64,
        len: usize,
        is_write: bool,
        is_weak: bool,
    ) -> Result<(), Fault> {
        let is_inside = at
            .checked_add(len as u64)
            .is_some_and(|end| end <= self.shared.len() as u64);
        let Some(races) = self.races.as_mut().filter(|_| is_weak && is_inside) else {
            return Ok(());
        };
        let line = self.program.module.functions[thread.frame.function as usize].code
            [thread.frame.pc as usize]
            .line;
        let Err(race) = races.access(thread.index, line, at as usize, len, is_write) else {
            return Ok(());
        };
        let [x, y, _] = self.launch.block;
        let other = [race.thread % x, race.thread / x % y, race.thread / x / y];
        let (verb, before) = (
            if is_write { "writes" } else { "reads" },
            if race.was_write { "wrote" } else { "read" },
        );
        let text = format!(
            "this thread {verb} byte {} of shared memory, which thread ({}, {}, {}) {before} at \
             line {} without a barrier in between",
            race.offset, other[0], other[1], other[2], race.line
        );
        Err(self.fault(thread, FaultKind::Race, text).with_address(at))
    }

    #[cold]
    fn refused(
        &self,
        thread: &Thread,
        verb: &str,
        len: usize,
        space: Space,
        at: u64,
        error: &AccessError,
    ) -> Fault {
        let text = format!(
            "cannot {verb} {len} bytes of {} memory at {at:#x}: {error}",
            space.name()
        );
        self.fault(thread, FaultKind::IllegalAddress, text)
            .with_address(at)
    }

    #[cold]
    fn outside_of(&self, thread: &Thread, verb: &str, len: usize, space: Space, at: u64) -> Fault {
        let has = match space {
            Space::Shared => self.shared.len(),
            Space::Local => thread.local.len(),
            _ => thread.params.len(),
        };
        self.refused(
            thread,
            verb,
            len,
            space,
            at,
            &AccessError::new(format!("the memory has {has} bytes")),
        )
    }

    /// Returns where a variable of any kind lies.
    pub(super) fn variable_address(&self, thread: &Thread, operand: &Operand) -> u64 {
        match *operand {
            Operand::Local(offset) => thread.frame.local as u64 + u64::from(offset),
            Operand::Param(offset) => u64::from(offset),
            Operand::Variable { index, offset } => {
                let index = index as usize;
                let base = match self.program.module.variables[index].space {
                    Space::Shared => self.shared_offsets[index],
                    _ => self.program.addresses[index],
                };
                base.wrapping_add_signed(offset)
            }
            _ => 0,
        }
    }
}

#[cold]
fn outside() -> AccessError {
    AccessError::new("the address is not in device memory")
}

fn piece(bytes: &[u8], at: u64, len: usize) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(len)?)
}

fn piece_mut(bytes: &mut [u8], at: u64, len: usize) -> Option<&mut [u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get_mut(at..at.checked_add(len)?)
}
