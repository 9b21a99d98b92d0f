//! Archives of samples, in the layout of WebDataset (feature `tar`).
//!
//! ```text
//! cat/0001.jpg    sample `cat/0001`: the files `jpg` and `cls`
//! cat/0001.cls
//! cat/0002.jpg    sample `cat/0002`
//! cat/0002.cls
//! ```
//!
//! The *key* of a file is its path up to the first dot of its name; what follows the dot is its
//! *extension*, in lower case. Files of the same key that follow each other are a sample. Folders,
//! links, names without an extension, and names such as `__info__.json` belong to no sample. The
//! layout is that of <https://github.com/webdataset/webdataset>.
//!
//! An archive that lacks its end mark, a block of zeros, may have been cut off: that is an error,
//! after all samples in front.

#[cfg(feature = "tar")]
mod read;

use tfrt_data::Dataset;
use tfrt_support::{Error, ErrorCode};

use crate::files::{Compression, Files};
use crate::policy::OnError;

/// The greatest size of a sample, in bytes, unless the options say otherwise.
pub const MAX_SAMPLE_BYTES: u64 = 1 << 28;

/// How archives are read.
///
/// ```
/// use tfrt_readers::tar::TarOptions;
///
/// let options = TarOptions {
///     extensions: vec!["jpg|jpeg|png".into(), "cls".into()],
///     ..TarOptions::default()
/// };
/// # if cfg!(feature = "tar") {
/// assert_eq!(options.dataset("train-*.tar")?.name(), "tar");
/// # }
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TarOptions {
    /// The extensions of the files of a sample, without the first dot. `jpg|png` stands for either.
    /// An element has the key of a sample and the contents of a file for each. Without extensions,
    /// each file of an archive is an element: its path and its contents.
    pub extensions: Vec<String>,
    /// How the archives are compressed.
    pub compression: Compression,
    /// What follows an error.
    pub on_error: OnError,
    /// A larger sample is an error: a small compressed archive may have enormous files.
    pub max_sample_bytes: u64,
}

impl Default for TarOptions {
    fn default() -> Self {
        Self {
            extensions: Vec::new(),
            compression: Compression::Auto,
            on_error: OnError::Fail,
            max_sample_bytes: MAX_SAMPLE_BYTES,
        }
    }
}

impl TarOptions {
    /// The dataset of the samples of archives, or of their files. All components are strings.
    ///
    /// # Errors
    /// If an extension is empty or is requested twice, or the feature `tar` is off. What is wrong
    /// with an archive shows when it is read.
    pub fn dataset(&self, files: impl Into<Files>) -> Result<Dataset, Error> {
        let lower_case: Vec<String> = (self.extensions.iter())
            .map(|one| one.to_ascii_lowercase())
            .collect();
        let mut names: Vec<&str> = lower_case.iter().flat_map(|one| one.split('|')).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        let message = if names.contains(&"") {
            "expected an extension, found none".to_owned()
        } else if let Some(pair) = twice {
            format!("extension `{}` is requested twice", pair[0])
        } else {
            return self.dataset_of(&files.into());
        };
        Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
    }

    #[cfg(feature = "tar")]
    fn dataset_of(&self, files: &Files) -> Result<Dataset, Error> {
        crate::read_ahead::dataset(read::Tar::new(self.clone()), files, self.on_error)
    }

    #[cfg(not(feature = "tar"))]
    fn dataset_of(&self, _files: &Files) -> Result<Dataset, Error> {
        Err(crate::feature::missing("tar archives", "tar"))
    }
}
