//! Kernel libraries given on the command line.
#![expect(unsafe_code, reason = "loads code that the user names")]

use std::path::PathBuf;

use clap::Args;
use tfrt_host::kernel::KernelRegistry;

use crate::failure::{Failure, WithCauses};

/// Which kernel libraries to load.
#[derive(Args, Clone, Debug)]
pub(crate) struct LibraryArguments {
    /// The kernel libraries to load: crates of type `cdylib` that contain
    /// `tfrt::export_kernels!()`. Load only libraries that you trust: loading one runs its code
    #[arg(
        long = "kernel-library",
        visible_alias = "shared_libs",
        value_name = "PATH,…",
        value_delimiter = ','
    )]
    kernel_libraries: Vec<PathBuf>,
}

impl LibraryArguments {
    /// Returns the libraries, in the order in which they are loaded.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.kernel_libraries
    }

    /// Loads the libraries into `registry`. `program` is the name that error messages start with.
    pub(crate) fn load(&self, program: &str, registry: &mut KernelRegistry) -> Result<(), Failure> {
        for path in &self.kernel_libraries {
            // SAFETY: 1 to 3: whoever names a library on the command line asks for its code to be
            // run, as by starting a program, and answers for what it is.
            let library = unsafe { registry.load_library(path) }.map_err(|error| {
                let error = WithCauses(&error);
                Failure::new(format!("{program}: couldn't load library {error}"))
            })?;
            library.set_panic_hook(crate::log_panic);
        }
        Ok(())
    }
}
