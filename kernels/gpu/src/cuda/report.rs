//! The libraries of CUDA on this machine, for people.
#![expect(unsafe_code, reason = "calls the libraries")]

use std::ffi::c_int;
use std::fmt;

use cudarc::cublas::sys::libraryPropertyType;
use cudarc::cudnn::sys::libraryPropertyType as DnnProperty;

use super::library;

/// What is known of a library of CUDA.
///
/// ```
/// for library in tfrt_gpu::cuda::libraries() {
///     println!("{library}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryReport {
    /// Its name, without a version.
    pub name: &'static str,
    /// Whether the library is installed.
    pub is_installed: bool,
    /// Its version, if it tells.
    pub version: Option<String>,
    /// The functions that it lacks, of those that this crate calls.
    pub missing: Vec<&'static str>,
    /// The kernels that fail without it.
    pub kernels: &'static str,
}

impl fmt::Display for LibraryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, kernels) = (self.name, self.kernels);
        if !self.is_installed {
            return write!(f, "{name}: not installed; {kernels} fail");
        }
        match &self.version {
            Some(version) => write!(f, "{name}: version {version}")?,
            None => write!(f, "{name}: installed, version unknown")?,
        }
        if !self.missing.is_empty() {
            write!(f, ", without {}", self.missing.join(", "))?;
        }
        Ok(())
    }
}

/// Returns the number that a function writes.
fn number(function: Option<unsafe extern "C" fn(*mut c_int) -> u32>) -> Option<i32> {
    let mut number = 0;
    // SAFETY: the function takes a pointer to a number, which it writes (C2).
    let code = unsafe { function?(&mut number) };
    (code == 0).then_some(number)
}

/// Returns the parts of a version of the form `major * 1000 + minor * 100 + patch`.
fn split(number: i32) -> String {
    format!("{}.{}.{}", number / 1000, number / 100 % 10, number % 100)
}

/// Returns the libraries that the CUDA implementation calls, in a fixed order. It opens them.
#[must_use]
pub fn libraries() -> Vec<LibraryReport> {
    let driver = library::driver::Functions::open();
    let blas = library::blas::Functions::open();
    let dnn = library::dnn::Functions::open();
    let solver = library::solver::Functions::open();
    let fft = library::fft::Functions::open();
    let ccl = library::ccl::Functions::open();
    let driver_version = driver.as_ref().and_then(|it| number(it.cuDriverGetVersion));
    let blas_version = blas.as_ref().and_then(|it| {
        let property = it.cublasGetProperty?;
        let part = |kind| {
            let mut value = 0;
            // SAFETY: the function writes a number (C2).
            let code = unsafe { property(kind, &mut value) };
            (code == 0).then_some(value)
        };
        let major = part(libraryPropertyType::MAJOR_VERSION)?;
        let minor = part(libraryPropertyType::MINOR_VERSION)?;
        let patch = part(libraryPropertyType::PATCH_LEVEL)?;
        Some(format!("{major}.{minor}.{patch}"))
    });
    let dnn_version = dnn.as_ref().and_then(|it| {
        let property = it.cudnnGetProperty?;
        let part = |kind| {
            let mut value = 0;
            // SAFETY: the function writes a number (C2).
            let code = unsafe { property(kind, &mut value) };
            (code == 0).then_some(value)
        };
        let major = part(DnnProperty::MAJOR_VERSION)?;
        let minor = part(DnnProperty::MINOR_VERSION)?;
        let patch = part(DnnProperty::PATCH_LEVEL)?;
        Some(format!("{major}.{minor}.{patch}"))
    });
    let solver_version = solver.as_ref().and_then(|it| number(it.cusolverGetVersion));
    let fft_version = fft.as_ref().and_then(|it| number(it.cufftGetVersion));
    let ccl_version = ccl.as_ref().and_then(|it| number(it.ncclGetVersion));
    let report = |name, version, missing: Option<Vec<&'static str>>, kernels| LibraryReport {
        name,
        is_installed: missing.is_some(),
        version,
        missing: missing.unwrap_or_default(),
        kernels,
    };
    vec![
        report(
            "libcuda",
            driver_version.map(|number| format!("{}.{}", number / 1000, number / 10 % 100)),
            driver.map(|it| it.missing()),
            "all kernels that need a device",
        ),
        report(
            "libcublas",
            blas_version,
            blas.map(|it| it.missing()),
            "the kernels `tfrt_gpu.blas.*`",
        ),
        report(
            "libcudnn",
            dnn_version,
            dnn.map(|it| it.missing()),
            "the kernels `tfrt_gpu.dnn.*`",
        ),
        report(
            "libcusolver",
            solver_version.map(split),
            solver.map(|it| it.missing()),
            "the kernels `tfrt_gpu.solver.*`",
        ),
        report(
            "libcufft",
            fft_version.map(split),
            fft.map(|it| it.missing()),
            "the kernels `tfrt_gpu.fft.*`",
        ),
        report(
            "libnccl",
            ccl_version.map(|number| {
                format!(
                    "{}.{}.{}",
                    number / 10_000,
                    number / 100 % 100,
                    number % 100
                )
            }),
            ccl.map(|it| it.missing()),
            "the kernels `tfrt_gpu.ccl.*`",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_is_missing() {
        let mut report = LibraryReport {
            name: "libcufft",
            is_installed: false,
            version: None,
            missing: Vec::new(),
            kernels: "the kernels `tfrt_gpu.fft.*`",
        };
        let text = "libcufft: not installed; the kernels `tfrt_gpu.fft.*` fail";
        assert_eq!(report.to_string(), text);
        report.is_installed = true;
        assert_eq!(report.to_string(), "libcufft: installed, version unknown");
        report.version = Some(split(11_303));
        report.missing = vec!["cufftExecC2C", "cufftExecR2C"];
        let text = "libcufft: version 11.3.3, without cufftExecC2C, cufftExecR2C";
        assert_eq!(report.to_string(), text);
    }
}
