//! A tensor in pieces: its elements in the memory that they arrived in, until all of them can be
//! written.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::write_by;

/// The pieces of a tensor, in order. Some may be missing, if they are not those of the tensor that
/// is written in the end.
pub(super) struct Pieces(Mutex<Vec<Option<HostBuffer>>>);

impl Pieces {
    /// Creates so many pieces, which are missing.
    pub(super) fn new(count: usize) -> Self {
        Self(Mutex::new(vec![None; count]))
    }

    /// Keeps a piece. Nobody writes it any more.
    pub(super) fn put(&self, index: usize, piece: HostBuffer) {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pieces[index] = Some(piece);
    }

    /// Calls `read` with each piece that is there, in order.
    ///
    /// # Errors
    /// The first error of `read`, and [`TensorError::Conflict`] if a piece is being written.
    fn each(
        &self,
        mut read: impl FnMut(usize, &[u8]) -> Result<(), TensorError>,
    ) -> Result<(), TensorError> {
        let pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, piece) in pieces.iter().enumerate() {
            if let Some(piece) = piece {
                read(index, &piece.read()?)?;
            }
        }
        Ok(())
    }

    /// Writes all pieces, one after the other.
    ///
    /// # Errors
    /// [`TensorError::WrongBufferSize`] if they are not as large as the tensor; then some elements
    /// may have been written. [`TensorError::Conflict`] if the tensor cannot be written.
    pub(super) fn write(&self, tensor: &DenseHostTensor) -> Result<(), TensorError> {
        write_by(tensor, |bytes| {
            let expected = bytes.len();
            let mut rest = bytes;
            self.each(|_, piece| {
                let found = expected - rest.len() + piece.len();
                let room = rest.split_off_mut(..piece.len());
                let room = room.ok_or(TensorError::WrongBufferSize { expected, found })?;
                room.copy_from_slice(piece);
                Ok(())
            })?;
            match rest.len() {
                0 => Ok(()),
                missing => Err(TensorError::WrongBufferSize {
                    expected,
                    found: expected - missing,
                }),
            }
        })
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Pieces").field(&pieces.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_in_order_if_they_fit() {
        let tensor = DenseHostTensor::vector(&[0_u8; 4]).unwrap();
        let write = |pieces: &[&[u8]]| {
            let all = Pieces::new(pieces.len() + 1);
            for (index, piece) in pieces.iter().enumerate().rev() {
                all.put(index, HostBuffer::from_owner(piece.to_vec()).unwrap());
            }
            all.write(&tensor)
        };
        assert_eq!(write(&[&[1], &[], &[2, 3, 4]]), Ok(()));
        assert_eq!(*tensor.elements::<u8>().unwrap(), [1, 2, 3, 4]);
        let wrong = |found| Err(TensorError::WrongBufferSize { expected: 4, found });
        assert_eq!(write(&[&[1], &[2, 3]]), wrong(3));
        assert_eq!(write(&[&[1, 2, 3], &[4, 5]]), wrong(5));
    }
}
