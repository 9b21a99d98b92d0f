//! The elements of a tensor that this member lends: they are sent from where they are.

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, OwnedElements};

use crate::error::Gather;

/// Elements that are borrowed while they are sent.
struct BorrowedElements {
    elements: OwnedElements<u8>,
    /// Ends after the borrow: fields are dropped in order.
    _work: Gather,
}

impl AsRef<[u8]> for BorrowedElements {
    fn as_ref(&self) -> &[u8] {
        &self.elements
    }
}

/// Borrows the elements of a tensor until they are sent. The work lasts as long.
pub(super) fn lend(tensor: &DenseHostTensor, work: &Gather) -> Result<Bytes, Error> {
    Ok(Bytes::from_owner(BorrowedElements {
        elements: tensor.buffer().elements_owned()?,
        _work: work.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn the_work_lasts_until_the_bytes_are_given_back() {
        let mut tensor = DenseHostTensor::vector(&[1_u8, 2, 3]).unwrap();
        let (sender, ended) = channel();
        let mut writes = tensor.clone();
        let work = Gather::new(move |_| {
            sender.send(writes.elements_mut::<u8>().is_ok()).unwrap();
        });
        let part = lend(&tensor, &work).unwrap().slice(1..);
        drop(work);
        assert!(tensor.elements_mut::<u8>().is_err());
        assert!(ended.try_recv().is_err());
        assert_eq!(part, [2, 3][..]);
        drop(part);
        assert_eq!(ended.try_recv(), Ok(true));
    }
}
