//! The choice of an implementation.
//!
//! A host has one [`Gpu`], which [`Gpu::of_host`] opens on first use. It is chosen, in this order,
//! by
//!
//! 1. the embedder, with [`Gpu::install`]; the tool `tfrt run` does so for `--gpu`;
//! 2. the environment variable `TFRT_GPU`: `cuda` or `host`;
//! 3. the default, which is CUDA.
//!
//! The host device never replaces CUDA unless it was requested.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use tfrt::prelude::*;

use crate::api::blas::Blas;
use crate::api::ccl::Ccl;
use crate::api::dnn::Dnn;
use crate::api::driver::Driver;
use crate::api::fft::Fft;
use crate::api::solver::Solver;
use crate::cuda::{self, CudaBlas, CudaCcl, CudaDnn, CudaDriver, CudaFft, CudaSolver};
use crate::failures;
use crate::host_device::{HostDevice, Options};

/// The environment variable that chooses an implementation.
pub const VARIABLE: &str = "TFRT_GPU";

/// An implementation of the driver and its libraries.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The name in messages.
    pub name: &'static str,
    /// The driver.
    pub driver: Arc<dyn Driver>,
    /// The BLAS library.
    pub blas: Arc<dyn Blas>,
    /// The library for networks.
    pub dnn: Arc<dyn Dnn>,
    /// The solver library.
    pub solver: Arc<dyn Solver>,
    /// The FFT library.
    pub fft: Arc<dyn Fft>,
    /// The library of collectives.
    pub ccl: Arc<dyn Ccl>,
}

/// The choice of an implementation.
///
/// ```
/// use tfrt_gpu::platform::GpuChoice;
///
/// assert_eq!("host".parse::<GpuChoice>()?, GpuChoice::Host);
/// let error = "apple".parse::<GpuChoice>().unwrap_err();
/// assert_eq!(error.message(), "expected `cuda` or `host` as the GPU to use, found `apple`");
/// # Ok::<(), tfrt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuChoice {
    /// The CUDA libraries of the system.
    #[default]
    Cuda,
    /// Threads of this process.
    Host,
}

impl FromStr for GpuChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cuda" => Ok(Self::Cuda),
            "host" => Ok(Self::Host),
            other => Err(Error::new(format!(
                "expected `cuda` or `host` as the GPU to use, found `{other}`"
            ))
            .with_code(ErrorCode::InvalidArgument)),
        }
    }
}

impl fmt::Display for GpuChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "cuda",
            Self::Host => "host",
        })
    }
}

/// The implementation of a host, or the reason why it has none.
struct Installed(Result<Arc<Gpu>>);

impl Gpu {
    /// Opens an implementation.
    ///
    /// # Errors
    /// `Unavailable` if a library is missing.
    pub fn open(choice: GpuChoice) -> Result<Arc<Self>> {
        match choice {
            GpuChoice::Cuda => {
                let failures = failures::from_environment()?;
                if !failures.is_empty() {
                    cuda::request_failures(failures);
                }
                Self::cuda()
            }
            GpuChoice::Host => Ok(HostDevice::open(Options::from_environment()?)),
        }
    }

    /// Returns the CUDA libraries of the system. Libraries other than the driver are opened when
    /// they are needed.
    fn cuda() -> Result<Arc<Self>> {
        let driver = CudaDriver::open().map_err(|error| {
            let advice = "`--gpu=host`, or the environment variable `TFRT_GPU=host`, runs GPU \
                          programs on threads of this process";
            Error::new(format!("no GPU: {}; {advice}", error.details))
                .with_code(ErrorCode::Unavailable)
        })?;
        let driver = Arc::new(driver);
        Ok(Arc::new(Self {
            name: "CUDA",
            blas: Arc::new(CudaBlas::new(Arc::clone(&driver))),
            dnn: Arc::new(CudaDnn::new(Arc::clone(&driver))),
            solver: Arc::new(CudaSolver::new(Arc::clone(&driver))),
            fft: Arc::new(CudaFft::new(Arc::clone(&driver))),
            ccl: Arc::new(CudaCcl::new(Arc::clone(&driver))),
            driver,
        }))
    }

    /// Opens the implementation that the environment selects, or CUDA by default.
    ///
    /// # Errors
    /// If the variable has an unknown value, or a library is missing.
    pub fn from_environment() -> Result<Arc<Self>> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => Self::open(text.parse()?),
            _ => Self::open(GpuChoice::default()),
        }
    }

    /// Sets the implementation of a host. Returns whether the host had none before.
    pub fn install(host: &HostContext, gpu: Arc<Self>) -> bool {
        let mut is_new = false;
        host.shared_context(|| {
            is_new = true;
            Installed(Ok(gpu))
        });
        is_new
    }

    /// Returns the implementation of a host. If it has none, opens the one that the environment
    /// selects.
    ///
    /// # Errors
    /// Those of [`from_environment`](Self::from_environment); they are the same each time.
    pub fn of_host(host: &HostContext) -> Result<Arc<Self>> {
        let installed = host.shared_context(|| Installed(Self::from_environment()));
        installed.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Current;

    #[test]
    fn the_contexts_of_a_driver_without_identity_are_made_current_for_every_call() {
        let gpu = Gpu::open(GpuChoice::Host).unwrap();
        let driver = &*gpu.driver;
        driver.init().unwrap();
        let device = driver.device(0).unwrap();
        let context = driver.primary_context_retain(device).unwrap();
        let num_calls = |identities: [usize; 3]| {
            Current::forget();
            let mut num_calls = 0;
            for identity in identities {
                let called = || {
                    num_calls += 1;
                    driver
                };
                Current::set_for(identity, called, context).unwrap();
            }
            num_calls
        };
        let own = driver.identity();
        assert_ne!(own, 0);
        assert_eq!(num_calls([0, 0, 0]), 3);
        assert_eq!(num_calls([own, own, own]), 1);
        assert_eq!(num_calls([own, 0, own]), 3);
    }
}
