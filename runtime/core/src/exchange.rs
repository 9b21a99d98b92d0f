//! The exchange between the parts of a function that runs on several devices.

use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Rendezvous, Value};

use crate::identity;

/// A [`Rendezvous`] as a value. Cloning shares it.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_async::{AnyRef, Rendezvous};
/// use tfrt_core::RendezvousRef;
///
/// let rendezvous = AnyRef::available(RendezvousRef(Arc::new(Rendezvous::new(1))));
/// assert_eq!(rendezvous.get::<RendezvousRef>().map(|found| found.0.num_edges()), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct RendezvousRef(pub Arc<Rendezvous>);

impl Value for RendezvousRef {
    const MLIR_TYPE: &'static str = "!corert.rendezvous";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for RendezvousRef {}
