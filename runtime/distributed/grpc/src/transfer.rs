//! Large payloads in chunks.
//!
//! ```text
//!  key, sizes of the elements │ bytes │ bytes │ bytes + checksum │ bytes + checksum │ …
//!                             └──── first element ─────┘└──── second ────┘
//! ```
//!
//! The connection sends the bytes of elements from where they are, and makes each chunk when there
//! is room for it. The receiver copies them once: from the buffers of the connection to where they
//! stay. The size of an element is announced before its bytes: the receiver allocates that much
//! once an eighth of it has arrived, or at once if it is at most a chunk.
//!
//! | module | contents |
//! |---|---|
//! | `sending` | a payload as the body of a request |
//! | `chunk` | chunks as they arrive, in parts |
//! | `assembly` | the payload of chunks |

mod sending;

mod chunk;

mod assembly;

pub(crate) use assembly::{Assembly, receive};
pub(crate) use sending::{PayloadBody, WithBody};

/// The most bytes of an element in a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// Parts with fewer bytes are copied while they wait: they would keep more memory than they have.
const MIN_KEPT_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests;
