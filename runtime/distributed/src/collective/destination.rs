//! The memory that a collective writes while messages arrive, piece by piece.
//!
//! A piece that has just arrived is still in the cache, and its own memory is used again for a
//! later one. A collective that fails may have written parts of the memory.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tfrt_tensor::{HostBuffer, TensorError};

/// Memory that is written piece by piece.
///
/// A piece that cannot be written, for example because the program reads the memory, does not end
/// the collective: the other members do not depend on it. The first such error is the outcome.
pub(super) struct Destination(Mutex<State>);

struct State {
    memory: HostBuffer,
    failure: Option<TensorError>,
}

impl Destination {
    pub(super) fn new(memory: HostBuffer) -> Self {
        let failure = None;
        Self(Mutex::new(State { memory, failure }))
    }

    /// Calls `write` with all bytes, unless a piece before could not be written. One piece is
    /// written at a time: a borrow is one of all bytes.
    pub(super) fn write(&self, write: impl FnOnce(&mut [u8]) -> Result<(), TensorError>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_none() {
            let written = state.memory.write();
            state.failure = written.and_then(|mut bytes| write(&mut bytes)).err();
        }
    }

    /// Returns the memory, once all pieces are there.
    ///
    /// # Errors
    /// If a piece could not be written.
    pub(super) fn finish(&self) -> Result<HostBuffer, TensorError> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.failure {
            Some(error) => Err(error.clone()),
            None => Ok(state.memory.clone()),
        }
    }
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tfrt_tensor::DenseHostTensor;

    use super::*;

    #[test]
    fn the_first_piece_that_cannot_be_written_is_the_outcome() {
        let tensor = DenseHostTensor::vector(&[0_u8; 4]).unwrap();
        let destination = Destination::new(tensor.buffer().clone());
        let write = |index: usize| {
            destination.write(|bytes| {
                bytes[index] = 1;
                Ok(())
            });
        };
        write(0);
        write(1);
        assert!(destination.finish().is_ok());
        let reader = tensor.elements::<u8>().unwrap();
        write(2);
        drop(reader);
        write(3);
        assert!(matches!(
            destination.finish(),
            Err(TensorError::Conflict(_))
        ));
        assert_eq!(*tensor.elements::<u8>().unwrap(), [1, 1, 0, 0]);
    }
}
