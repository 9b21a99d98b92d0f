//! Handles: typed numbers by which an implementation identifies its objects.

use std::fmt;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// The number is meaningful only to the implementation that created it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u64);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x} (CUDA)", self.0)
            }
        }
    )*};
}

handles! {
    /// A context of a device.
    ContextHandle;
    /// A stream: a queue of work that runs in order.
    StreamHandle;
    /// An event: a place in a stream.
    EventHandle;
    /// A loaded module of device code.
    ModuleHandle;
    /// A kernel in a module.
    FunctionHandle;
    /// A graph of captured work.
    GraphHandle;
    /// A handle of the BLAS library.
    BlasHandle;
    /// A handle of the DNN library.
    DnnHandle;
    /// A descriptor of the DNN library.
    DescriptorHandle;
    /// An execution plan of the DNN library.
    PlanHandle;
    /// A handle of the solver library.
    SolverHandle;
    /// A plan of the FFT library.
    FftHandle;
    /// A communicator.
    CommHandle;
}

/// A device, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(pub i32);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (CUDA)", self.0)
    }
}

/// A device address: of device memory, pinned host memory or registered host memory.
///
/// An implementation creates it, and offsets stay inside of its block, which buffers check. So a
/// program cannot address memory that it did not receive.
// Launches point to addresses where they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct DevicePtr(u64);

impl DevicePtr {
    /// No address.
    pub const NULL: Self = Self(0);

    /// Returns the address `address`, which the driver has returned.
    #[must_use]
    #[allow(dead_code, reason = "implementations need it")]
    pub(crate) const fn new(address: u64) -> Self {
        Self(address)
    }

    /// Creates an address of memory that the embedder owns.
    ///
    /// # Safety
    /// 1. The driver that receives it may read and write the memory of buffers at this address, for
    ///    as long as they exist.
    #[must_use]
    #[allow(unsafe_code, reason = "it promises what no driver checks")]
    pub const unsafe fn from_raw(address: u64) -> Self {
        Self(address)
    }

    /// Returns the number.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.0
    }

    /// Returns `true` if the address is null.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Returns the address `bytes` further, which is inside of the same block.
    #[must_use]
    #[allow(dead_code, reason = "views need it")]
    pub(crate) const fn offset(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl fmt::Debug for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_null() {
            return f.write_str("0x0 (CUDA)");
        }
        write!(f, "{:#x} (CUDA)", self.0)
    }
}
