//! Images in folders that are named after their labels.
//!
//! ```text
//! photos/cat/1.jpg    an element: the bytes of the file, label 0
//! photos/cat/2.jpg    label 0
//! photos/dog/1.png    label 1
//! ```
//!
//! Labels are the places of the subfolders in the order of their names. Subfolders and files whose
//! names begin with `.` or `_` are left out.

use std::path::Path;
use std::sync::OnceLock;

use tfrt_async::{AnyRef, ByteString, Value};
use tfrt_data::{Dataset, ElementTypes, StageDescription, Values};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::files::{self, Files, OpenFile};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};

/// The extensions of images, unless the options name others.
pub const EXTENSIONS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// How a folder of images is read.
///
/// ```
/// use tfrt_readers::image_folder::ImageFolderOptions;
///
/// let pictures = ImageFolderOptions::default().dataset("photos")?;
/// assert_eq!(pictures.name(), "image_folder");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImageFolderOptions {
    /// The extensions of the files to read, without the dot. Upper and lower case are the same.
    pub extensions: Vec<String>,
    /// What follows an error.
    pub on_error: OnError,
}

impl Default for ImageFolderOptions {
    fn default() -> Self {
        Self {
            extensions: EXTENSIONS.map(str::to_owned).to_vec(),
            on_error: OnError::Fail,
        }
    }
}

impl ImageFolderOptions {
    /// The dataset of the images of a folder of this machine, with two components: the bytes of a
    /// file, a string, and its label of type i64. The order is that of the labels, then that of the
    /// names of the files. The labels are looked up once for a dataset, with the first image.
    ///
    /// # Errors
    /// None at present: what is wrong with the folder shows when it is read.
    pub fn dataset(&self, folder: &str) -> Result<Dataset, Error> {
        let format = ImageFolder {
            folder: folder.to_owned(),
            extensions: self.extensions.clone(),
            labels: OnceLock::new(),
        };
        read_ahead::dataset(format, &Files::in_subfolders(folder), self.on_error)
    }
}

/// The labels of a folder of images: the names of its subfolders, in order.
///
/// # Errors
/// If the folder cannot be listed.
pub fn labels(folder: &str) -> Result<Vec<String>, Error> {
    let subfolders = files::subfolders(folder)?;
    let names = subfolders.iter().map(|path| name_of(path).to_owned());
    Ok(names.collect())
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

#[derive(Debug)]
struct ImageFolder {
    folder: String,
    extensions: Vec<String>,
    labels: OnceLock<Result<Vec<String>, Error>>,
}

impl ImageFolder {
    fn label_of(&self, file: &OpenFile) -> Result<i64, Error> {
        let labels = self.labels.get_or_init(|| labels(&self.folder));
        let labels = labels.as_ref().map_err(Clone::clone)?;
        let parent = Path::new(&**file.path()).parent().and_then(Path::to_str);
        let name = name_of(parent.unwrap_or_default());
        let found = labels.binary_search_by(|label| label.as_str().cmp(name));
        found
            .map(|label| label as i64)
            .map_err(|_| file.error("the folder of the file appeared while others were read"))
    }
}

impl Format for ImageFolder {
    fn name(&self) -> &'static str {
        "image_folder"
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::new([Some(ByteString::MLIR_TYPE), Some(i64::MLIR_TYPE)])
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        if self.extensions != EXTENSIONS {
            to.attribute("extensions", self.extensions.join(", "));
        }
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let extension = Path::new(&**file.path()).extension();
        let is_image = extension.is_some_and(|found| {
            let mut extensions = self.extensions.iter();
            extensions.any(|extension| found.eq_ignore_ascii_case(extension))
        });
        if !is_image {
            return Ok(Box::new(Image(None)));
        }
        let label = self.label_of(&file)?;
        let contents = file.read_whole()?;
        let len_bytes = contents.len();
        let mut values = Values::new();
        values.push(AnyRef::available(ByteString::from(contents)));
        values.push(AnyRef::available(label));
        Ok(Box::new(Image(Some(Element { values, len_bytes }))))
    }
}

/// The image of a file, if it is one.
struct Image(Option<Element>);

impl ReadElements for Image {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        self.0.take().map(Ok)
    }
}
