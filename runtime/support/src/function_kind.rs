//! The kinds of the functions of a program.

/// The kind of a function.
///
/// ```
/// use tfrt_support::FunctionKind;
///
/// assert_eq!(FunctionKind::from_raw(2), Some(FunctionKind::Sync));
/// assert_eq!(FunctionKind::from_raw(3), None);
/// assert!(!FunctionKind::Native.has_body());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FunctionKind {
    /// A graph of kernels that run when their operands are available.
    Async = 0,
    /// A Rust function of the host, found by its name.
    Native = 1,
    /// A list of kernels that run one after another.
    Sync = 2,
}

impl FunctionKind {
    /// Returns the kind with this code in files, if there is one.
    #[must_use]
    pub const fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(Self::Async),
            1 => Some(Self::Native),
            2 => Some(Self::Sync),
            _ => None,
        }
    }

    /// Returns `true` if functions of this kind have a body in the file.
    #[must_use]
    pub const fn has_body(self) -> bool {
        !matches!(self, Self::Native)
    }
}
