//! The folder of a program, to find files next to it.

use std::path::{Path, PathBuf};

use crate::services::request::RequestContext;

/// The folder of the program that a request runs: a [datum of it](RequestContext::context_data).
///
/// Kernels that take the name of a file next to the program, such as its weights, find the file
/// regardless of the current folder of the process. `tfrt` sets this for every program that it
/// reads from a file.
///
/// ```
/// use std::path::Path;
/// use tfrt_host::{HostContext, ProgramFolder, RequestContextBuilder};
///
/// let host = HostContext::builder().build();
/// let request = RequestContextBuilder::new(host.clone()).context_data(ProgramFolder::of_file("models/net.mlir")).build();
/// assert_eq!(ProgramFolder::beside(&request, "weights.btf"), Path::new("models/weights.btf"));
/// // Without one, files are looked for where the process was started.
/// let request = RequestContextBuilder::new(host).build();
/// assert_eq!(ProgramFolder::beside(&request, "weights.btf"), Path::new("weights.btf"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFolder(PathBuf);

impl ProgramFolder {
    /// Returns the folder of the program at `path`.
    pub fn of_file(path: impl AsRef<Path>) -> Self {
        Self(path.as_ref().parent().unwrap_or(Path::new("")).to_owned())
    }

    /// Returns the path of a file next to the program of `request`. An absolute path is returned
    /// unchanged.
    pub fn beside(request: &RequestContext, file: impl AsRef<Path>) -> PathBuf {
        match request.context_data::<Self>() {
            Some(Self(folder)) => folder.join(file),
            None => file.as_ref().to_owned(),
        }
    }
}
