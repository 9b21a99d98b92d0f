//! The hash FNV-1a of 64 bits: the same number on every machine and in every version.
//!
//! It tells apart what differs by chance. It does not detect malice, as collisions are easy to
//! make. Source: <http://www.isthe.com/chongo/tech/comp/fnv/>.

use std::fmt;

/// A hash of bytes, which are added in pieces.
///
/// ```
/// use std::fmt::Write;
/// use tfrt_support::fnv::Fnv1a;
///
/// let mut hash = Fnv1a::new();
/// hash.add(b"foo");
/// write!(hash, "{}", "bar")?;
/// assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
/// assert_eq!(hash.finish(), Fnv1a::of(b"foobar"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Fnv1a {
    /// Creates the hash of no bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Returns the hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::new();
        hash.add(bytes);
        hash.finish()
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Returns the hash of all bytes so far.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Write for Fnv1a {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}
