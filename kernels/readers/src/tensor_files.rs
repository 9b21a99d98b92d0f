//! Files of tensors: BTF, npy, npz and safetensors.
//!
//! Every file is one element, with one component for each tensor. [`Dataset::unbatch`] makes an
//! element of each row.

use tfrt_async::{AnyRef, Value};
use tfrt_data::{Dataset, ElementTypes, StageDescription, Values};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;
use tfrt_tensor::file::{FileFormat, NamedTensor, Source, Stream};
use tfrt_tensor::{CooHostTensor, DenseHostTensor, HostBuffer, StringHostTensor};

use crate::files::{Files, OpenFile};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};

/// How tensor files are read.
///
/// ```
/// use tfrt_readers::tensor_files::TensorFileOptions;
///
/// let rows = TensorFileOptions::default().dataset("images.npy")?.unbatch()?;
/// assert_eq!(rows.name(), "unbatch");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct TensorFileOptions {
    /// The tensors that are read, in the order of the components; by default all of them, in the
    /// order of the file.
    pub names: Option<Vec<String>>,
    /// The format; by default the beginning of a file tells. Formats whose feature is off are
    /// errors.
    pub format: Option<TensorFormat>,
    /// What follows an error.
    pub on_error: OnError,
}

/// A format of tensor files, whether or not its feature is on.
///
/// ```
/// use tfrt_readers::tensor_files::TensorFormat;
///
/// assert_eq!(TensorFormat::from_name("npz"), Some(TensorFormat::Npz));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorFormat {
    /// Binary tensor files.
    Btf,
    /// One NumPy array.
    Npy,
    /// NumPy arrays in a ZIP archive; needs the feature `formats`.
    Npz,
    /// Dense tensors behind a JSON header; needs the feature `formats`.
    Safetensors,
}

impl TensorFormat {
    /// The name, which is the extension of files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Btf => "btf",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Safetensors => "safetensors",
        }
    }

    /// The format of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Btf, Self::Npy, Self::Npz, Self::Safetensors];
        all.into_iter().find(|format| format.name() == name)
    }

    pub(crate) fn file_format(self) -> Result<FileFormat, Error> {
        FileFormat::from_name(self.name())
            .ok_or_else(|| crate::feature::missing(&format!("{} files", self.name()), "formats"))
    }
}

impl TensorFileOptions {
    /// The dataset of the tensors of each file.
    ///
    /// # Errors
    /// If the feature of the format is off. What is wrong with a file shows when it is read.
    pub fn dataset(&self, files: impl Into<Files>) -> Result<Dataset, Error> {
        let format = TensorFiles {
            names: self.names.clone(),
            format: self.format.map(TensorFormat::file_format).transpose()?,
        };
        read_ahead::dataset(format, &files.into(), self.on_error)
    }
}

#[derive(Debug)]
struct TensorFiles {
    names: Option<Vec<String>>,
    format: Option<FileFormat>,
}

impl Format for TensorFiles {
    fn name(&self) -> &'static str {
        self.format.map_or("tensor_file", FileFormat::name)
    }

    fn element_types(&self) -> ElementTypes {
        match &self.names {
            Some(names) => {
                ElementTypes::new(names.iter().map(|_| Some(DenseHostTensor::MLIR_TYPE)))
            }
            None => ElementTypes::UNKNOWN,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        if let Some(names) = &self.names {
            to.attribute("tensors", names.join(", "));
        }
    }

    fn open(&self, file: OpenFile, ctx: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
        let mut tensors = read_tensors(&file, self.format, ctx)?;
        if let Some(names) = &self.names {
            let position = |name: &String| {
                let found = tensors.iter().position(|tensor| tensor.name == *name);
                found.ok_or_else(|| {
                    file.error(format_args!("expected a tensor `{name}`, found none"))
                })
            };
            let positions = names.iter().map(position).collect::<Result<Vec<_>, _>>()?;
            let mut found: Vec<Option<NamedTensor>> = tensors.into_iter().map(Some).collect();
            let chosen = positions.into_iter().map(|position| found[position].take());
            tensors = chosen
                .collect::<Option<_>>()
                .ok_or_else(|| file.error("a tensor is requested twice"))?;
        }
        let mut values = Values::new();
        let mut len_bytes = 0;
        for NamedTensor { name, tensor } in &tensors {
            let value = if let Some(tensor) = tensor.downcast_ref::<DenseHostTensor>() {
                len_bytes += tensor.buffer().len_bytes();
                AnyRef::available(tensor.clone())
            } else if let Some(tensor) = tensor.downcast_ref::<StringHostTensor>() {
                len_bytes += tensor.strings().iter().map(Vec::len).sum::<usize>();
                AnyRef::available(tensor.clone())
            } else if let Some(tensor) = tensor.downcast_ref::<CooHostTensor>() {
                AnyRef::available(tensor.clone())
            } else {
                let kind = tensor.tensor_type().name();
                return Err(file.error(format_args!("`{name}` is a tensor of kind {kind}")));
            };
            values.push(value);
        }
        Ok(Box::new(Whole(Some(Element { values, len_bytes }))))
    }
}

/// The tensors of a file, in its order. They share its memory where they can.
///
/// # Errors
/// If the file cannot be opened or read, or is damaged: the error says where.
pub fn read_tensors(
    file: &OpenFile,
    format: Option<FileFormat>,
    ctx: &ExecutionContext,
) -> Result<Vec<NamedTensor>, Error> {
    let allocator = ctx.allocator();
    let bytes = match file.open_file()? {
        Some(local) => {
            let mut stream =
                Stream::new(local, allocator).map_err(|error| file.read_error(&error))?;
            let len_bytes = stream.len_bytes();
            let bytes = stream.buffer_at(0, len_bytes);
            bytes.map_err(|error| file.error(error))?
        }
        None => HostBuffer::from_owner(file.read_whole()?)?,
    };
    let format = match format {
        Some(format) => format,
        None => detect(&bytes.read()?).map_err(|error| file.error(error.message()))?,
    };
    format
        .read(&bytes, allocator)
        .map_err(|error| file.error(error))
}

/// The format of a file, which must be one whose feature is on.
fn detect(bytes: &[u8]) -> Result<FileFormat, Error> {
    let format = match bytes {
        [b'P', b'K', 3 | 5, ..] => TensorFormat::Npz,
        [_, _, _, _, _, _, _, _, b'{', ..] => TensorFormat::Safetensors,
        _ => return Ok(FileFormat::detect(bytes)),
    };
    format.file_format()
}

/// The only element of a file.
struct Whole(Option<Element>);

impl ReadElements for Whole {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        self.0.take().map(Ok)
    }
}
