//! Folders of the library `datasets` (Hugging Face) on this machine.
//!
//! Two layouts are read:
//!
//! ```text
//!  what `save_to_disk` writes             what is downloaded from the hub
//!  corpus/dataset_dict.json               corpus/data/train-00000-of-00002.parquet
//!  corpus/train/dataset_info.json         corpus/data/train-00001-of-00002.parquet
//!  corpus/train/state.json                corpus/data/test-00000-of-00001.parquet
//!  corpus/train/data-00000-of-00001.arrow
//! ```
//!
//! `corpus/train` is a *split* of either. The shards of a split follow each other in the order that
//! `state.json` lists, or in that of their names. Columns of images and sounds, which are
//! structures with the fields `bytes` and `path`, are the bytes.
//!
//! The features `parquet` and `arrow` are needed for the files, and one of them for this module.

use tfrt_data::Dataset;
use tfrt_support::Error;

use crate::columnar::Nulls;
use crate::policy::OnError;

#[cfg(feature = "columnar")]
mod layout;

/// How a split is read.
///
/// ```
/// use tfrt_readers::dataset_folder::DatasetFolderOptions;
///
/// let options = DatasetFolderOptions { batch_size: Some(32), ..DatasetFolderOptions::default() };
/// match options.dataset("corpus/train") {
///     Ok(rows) => assert_eq!(rows.name(), "dataset_folder"),
///     Err(error) => assert!(error.message().contains("need the cargo feature")),
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct DatasetFolderOptions {
    /// The columns to read, in the order of the components; by default all of them, in the order of
    /// the files.
    pub columns: Option<Vec<String>>,
    /// The number of rows of an element, whose components are tensors; see
    /// [`ColumnarOptions`](crate::columnar::ColumnarOptions::batch_size).
    pub batch_size: Option<u64>,
    /// The treatment of missing values.
    pub nulls: Nulls,
    /// What follows an error.
    pub on_error: OnError,
}

/// A column, as `dataset_info.json` describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The name of the column.
    pub name: String,
    /// The kind of values, such as `Value`, `ClassLabel` or `Image`.
    pub kind: String,
    /// The names of the classes that the numbers in the column stand for; empty for other columns.
    pub classes: Vec<String>,
}

impl DatasetFolderOptions {
    /// Creates the dataset of the rows of a split: a folder, or a folder and the name of a split in
    /// it.
    ///
    /// # Errors
    /// If the batch size is zero, or the features `parquet` and `arrow` are off. What is wrong with
    /// the folder shows when it is read.
    pub fn dataset(&self, split: &str) -> Result<Dataset, Error> {
        self.dataset_of(split)
    }

    #[cfg(not(feature = "columnar"))]
    fn dataset_of(&self, _split: &str) -> Result<Dataset, Error> {
        Err(missing())
    }
}

/// Returns the columns of a split, in the order of their names, as `dataset_info.json` describes
/// them.
///
/// # Errors
/// If there is no such file, it does not describe columns, or the features `parquet` and `arrow`
/// are off.
pub fn features(split: &str) -> Result<Vec<Feature>, Error> {
    features_of(split)
}

#[cfg(feature = "columnar")]
use layout::features as features_of;

#[cfg(not(feature = "columnar"))]
fn features_of(_split: &str) -> Result<Vec<Feature>, Error> {
    Err(missing())
}

#[cfg(not(feature = "columnar"))]
#[cold]
fn missing() -> Error {
    crate::feature::missing("folders of the library `datasets`", "parquet")
}
