//! The elements of a message that has arrived: here, or lent by the member that sent it.

use std::fmt;
use std::io;
use std::sync::{Arc, Weak};

use tfrt_host::allocator::HostAllocator;
use tfrt_support::Error;
use tfrt_tensor::HostBuffer;

use super::member::DirectMember;

/// Elements in the memory of another member, which does not change them until this is dropped.
///
/// They are copied once, to where they belong, by the operation that receives them: see
/// [`LinkEvents::lent`](super::LinkEvents::lent).
pub trait LentElements: Send + Sync + fmt::Debug {
    /// Returns the number of bytes.
    fn len_bytes(&self) -> usize;

    /// Copies the bytes from `start` on. Does not wait for the other member.
    ///
    /// # Errors
    /// If the other member has ended, or does not lend the elements any more. The content of `out`
    /// is then unspecified.
    fn read(&self, start: usize, out: &mut [u8]) -> io::Result<()>;
}

/// The elements of a message.
#[derive(Debug)]
pub(super) enum Elements {
    Here(HostBuffer),
    Lent(MemberLoan),
}

/// Elements that another member lends.
pub(super) struct MemberLoan {
    elements: Box<dyn LentElements>,
    /// The member that they are lent to.
    member: Weak<DirectMember>,
    from: usize,
}

impl Elements {
    pub(super) fn len_bytes(&self) -> usize {
        match self {
            Self::Here(buffer) => buffer.len_bytes(),
            Self::Lent(loan) => loan.len_bytes(),
        }
    }

    pub(super) fn is_lent(&self) -> bool {
        matches!(self, Self::Lent(_))
    }

    /// Returns the elements in memory of this process.
    pub(super) fn fetch(self, memory: &Arc<dyn HostAllocator>) -> Result<HostBuffer, Error> {
        match self {
            Self::Here(buffer) => Ok(buffer),
            Self::Lent(loan) => {
                let mut buffer = HostBuffer::unspecified(memory, loan.len_bytes())?;
                loan.read(0, &mut buffer.write()?)?;
                Ok(buffer)
            }
        }
    }
}

impl MemberLoan {
    pub(super) fn new(
        elements: Box<dyn LentElements>,
        member: Weak<DirectMember>,
        from: usize,
    ) -> Self {
        Self {
            elements,
            member,
            from,
        }
    }

    pub(super) fn len_bytes(&self) -> usize {
        self.elements.len_bytes()
    }

    /// Copies the bytes from `start` on.
    ///
    /// # Errors
    /// As for [`LentElements::read`], with the name of the other task.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<(), Error> {
        let read = self.elements.read(start, out);
        read.map_err(|error| match self.member.upgrade() {
            Some(member) => member.loan_error(self.from, &error),
            None => Error::other(error),
        })
    }
}

impl fmt::Debug for MemberLoan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberLoan")
            .field("from", &self.from)
            .field("elements", &self.elements)
            .finish_non_exhaustive()
    }
}
