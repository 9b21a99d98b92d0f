//! The choice of the allocators that programs create.

use std::str::FromStr;

use tfrt::prelude::*;

/// The environment variable that chooses the allocators of programs.
pub const VARIABLE: &str = "TFRT_GPU_ALLOCATOR";

/// What `tfrt_gpu.allocator.create` makes. A host has one choice: the embedder's, by
/// [`install`](Self::install), else that of the environment variable `TFRT_GPU_ALLOCATOR`, which is
/// `driver` or `stream`, else the default.
///
/// ```
/// use tfrt::prelude::*;
/// use tfrt_gpu::values::GpuAllocatorKind;
///
/// let host = HostContext::builder().build();
/// assert!(GpuAllocatorKind::StreamOrdered.install(&host));
/// assert_eq!(GpuAllocatorKind::of_host(&host)?, GpuAllocatorKind::StreamOrdered);
/// let error = "pool".parse::<GpuAllocatorKind>().unwrap_err();
/// assert_eq!(error.message(), "expected `driver` or `stream` as the allocator, found `pool`");
/// # Ok::<(), tfrt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuAllocatorKind {
    /// Every buffer is an allocation of the driver, and freeing one waits for the device.
    #[default]
    Driver,
    /// A [`StreamAllocator`](super::StreamAllocator): memory that is given back is used again in
    /// the order of streams. A program that uses a buffer on another stream than it was allocated
    /// on must order the two streams before the buffer is dropped.
    StreamOrdered,
}

/// The choice of a host, or the reason why there is none.
struct Installed(Result<GpuAllocatorKind>);

impl GpuAllocatorKind {
    /// Sets the choice of a host. Returns whether the host had none before.
    pub fn install(self, host: &HostContext) -> bool {
        let mut is_new = false;
        host.shared_context(|| {
            is_new = true;
            Installed(Ok(self))
        });
        is_new
    }

    /// Returns the choice of a host.
    ///
    /// # Errors
    /// If the environment variable has an unknown value.
    pub fn of_host(host: &HostContext) -> Result<Self> {
        let installed = host.shared_context(|| Installed(Self::from_environment()));
        installed.0.clone()
    }

    fn from_environment() -> Result<Self> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => text.parse(),
            _ => Ok(Self::default()),
        }
    }
}

impl FromStr for GpuAllocatorKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "driver" => Ok(Self::Driver),
            "stream" => Ok(Self::StreamOrdered),
            other => Err(Error::new(format!(
                "expected `driver` or `stream` as the allocator, found `{other}`"
            ))
            .with_code(ErrorCode::InvalidArgument)),
        }
    }
}
