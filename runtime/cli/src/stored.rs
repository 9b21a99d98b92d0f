//! Files of imported programs: where their weights lie, and how they are read again.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use tfrt_bef::BefFile;
use tfrt_function_ops::FunctionProgram;
use tfrt_host::kernel::KernelRegistry;
use tfrt_import::files::FolderFiles;
use tfrt_import::program::Program;
use tfrt_import::stored::{
    StoredProgram, WeightCheck, WeightFile, WeightPlace, packed_name, sha256_of_file, weight_files,
};
use tfrt_import::{Limit, Limits, PackedForm};
use tfrt_support::DType;
use tfrt_support::escape::escaped;
use tfrt_tensor::file::{NamedTensor, safetensors};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

use crate::failure::Failure;
use crate::input::{Input, Kind};

/// The files of the model that a program was made from.
#[derive(Debug, Default)]
pub(crate) struct ModelFiles {
    /// The name of the model's file, without its folder.
    pub(crate) name: String,
    /// The model's file.
    pub(crate) path: PathBuf,
    /// The files and offsets of tensors, by the addresses and sizes of their elements.
    pub(crate) places: HashMap<(usize, usize), (PathBuf, u64)>,
}

/// The files that weights of a program lie in, and their places.
#[derive(Debug, Default)]
struct Places {
    files: Vec<WeightFile>,
    numbers: HashMap<PathBuf, usize>,
}

impl Places {
    /// Returns the number of a file in the folder of the program, or `None` if it is elsewhere.
    fn file(&mut self, folder: &Path, path: &Path) -> Result<Option<usize>, Failure> {
        if let Some(&number) = self.numbers.get(path) {
            return Ok(Some(number));
        }
        let whole = path.canonicalize().map_err(|error| wrong(path, error))?;
        let Some(inside) = whole.strip_prefix(folder).ok().and_then(Path::to_str) else {
            return Ok(None);
        };
        let (len_bytes, sha256) = sha256_of_file(path).map_err(|error| wrong(path, error))?;
        self.files.push(WeightFile {
            path: inside.replace(std::path::MAIN_SEPARATOR, "/"),
            len_bytes,
            sha256,
        });
        let number = self.files.len() - 1;
        self.numbers.insert(path.to_owned(), number);
        Ok(Some(number))
    }
}

/// Returns the text of a program for a file, with the places of its weights. Weights that are not
/// in files of the model below the folder of the program are written to another file: `weights`, or
/// one with the program's name. So are packed weights.
pub(crate) fn text(
    program: &Program,
    target: &str,
    weights: Option<&str>,
    model: &ModelFiles,
    packed: Option<&PackedForm>,
) -> Result<String, Failure> {
    let target = Path::new(target);
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder
        .canonicalize()
        .map_err(|error| wrong(folder, error))?;
    let mut places = Places::default();
    let mut found: Vec<Option<WeightPlace>> = Vec::with_capacity(program.weights.len());
    let mut names = Names::of(program);
    let mut distinct = Distinct::default();
    // Weights, and the number of the tensor that has their elements.
    let mut written = Vec::new();
    let mut tensors = Vec::new();
    for (index, weight) in program.weights.iter().enumerate() {
        found.push(None);
        if weight.is_small() {
            continue;
        }
        let tensor = weight.tensor().map_err(|error| wrong(target, error))?;
        let buffer = tensor.buffer();
        let place = model.places.get(&(buffer.address(), buffer.len_bytes()));
        if let (Some((path, offset)), None) = (place, weights)
            && let Some(file) = places.file(&folder, path)?
        {
            let offset = *offset;
            found[index] = Some(WeightPlace { file, offset });
        } else {
            let known = distinct.number(tensor, tensors.len());
            written.push((index, known));
            if known == tensors.len() {
                let name = names.unused(weight.name.clone(), "weight", index);
                tensors.push(NamedTensor::new(&name, tensor.clone()));
            }
        }
    }
    let num_plain = tensors.len();
    for (index, tensor) in packed.iter().flat_map(|form| form.weights()) {
        let name = packed_name(&program.weights[index].name, index);
        let name = names.unused(name, "packed", index);
        tensors.push(NamedTensor::new(&name, tensor.clone()));
    }
    let mut offsets = Vec::new();
    if !tensors.is_empty() {
        let path = weights.map_or_else(|| target.with_extension("safetensors"), PathBuf::from);
        let is_replaceable = || weights.is_some() || has_weights_in(target, &path);
        check_target(&path, is_replaceable, model)?;
        let written = write_weights(&tensors, &path, model)?;
        drop(tensors);
        let file = places.file(&folder, &path)?.ok_or_else(|| {
            wrong(
                &path,
                "the weights must be in the folder of the program or below it",
            )
        })?;
        let written = written.into_iter();
        offsets.extend(written.map(|offset| WeightPlace { file, offset }));
    }
    let (plain, packed_places) = offsets.split_at(num_plain);
    for (index, number) in written {
        found[index] = plain.get(number).copied();
    }
    let packed = packed.map(|form| (form, packed_places));
    let text = program.to_stored_text(&places.files, &found, packed);
    text.map_err(|error| Failure::caused("error", error))
}

/// Tensors that differ, by what they are told apart by.
#[derive(Default)]
struct Distinct(HashMap<Key, Vec<(usize, DenseHostTensor)>>);

/// The element type and extents of a tensor, and the first of its bytes.
type Key = (DType, Vec<usize>, Vec<u8>);

/// The number of bytes in a key.
const KEY_BYTES: usize = 256;

/// The number of different tensors of one key that another one is compared with.
const MAX_COMPARED: usize = 8;

impl Distinct {
    /// Returns the number of the first tensor with the same elements, which is `next` if that is
    /// this one.
    fn number(&mut self, tensor: &DenseHostTensor, next: usize) -> usize {
        let Ok(bytes) = tensor.buffer().read() else {
            return next;
        };
        let first = bytes[..bytes.len().min(KEY_BYTES)].to_vec();
        let key = (tensor.dtype(), tensor.shape().dims().to_vec(), first);
        let known = self.0.entry(key).or_default();
        let is_same = |(_, other): &&(usize, DenseHostTensor)| {
            let other = other.buffer().read();
            other.is_ok_and(|other| *other == *bytes)
        };
        if let Some((number, _)) = known.iter().find(is_same) {
            return *number;
        }
        if known.len() < MAX_COMPARED {
            known.push((next, tensor.clone()));
        }
        next
    }
}

/// The names of tensors in a file.
struct Names<'p> {
    /// Those of weights, which only their weights get.
    given: HashSet<&'p str>,
    seen: HashSet<String>,
}

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Self {
        let weights = program.weights.iter();
        Self {
            given: weights.map(|weight| weight.name.as_str()).collect(),
            // The format has a section of this name.
            seen: ["", "__metadata__"].map(str::to_owned).into(),
        }
    }

    /// Returns the name, or a similar one if another tensor has it.
    fn unused(&mut self, name: String, kind: &str, index: usize) -> String {
        if self.seen.insert(name.clone()) {
            return name;
        }
        let mut name = format!("{kind}/{index}");
        while self.given.contains(name.as_str()) || !self.seen.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Returns `true` if a file is a program that an earlier import wrote, whose table lists the file
/// `weights` next to it.
fn has_weights_in(program: &Path, weights: &Path) -> bool {
    let (Some(path), Some(name)) = (program.to_str(), weights.file_name()) else {
        return false;
    };
    let (Ok(input), Ok(kernels)) = (Input::read(path), KernelRegistry::from_link()) else {
        return false;
    };
    let files = functions(&input, path, &kernels).map(|functions| weight_files(&functions));
    matches!(files, Ok(Ok(files)) if files.iter().any(|file| *file.path == *name))
}

/// Refuses to replace a file of the model, and one that may not be replaced.
fn check_target(
    path: &Path,
    is_replaceable: impl FnOnce() -> bool,
    model: &ModelFiles,
) -> Result<(), Failure> {
    let Ok(whole) = path.canonicalize() else {
        return Ok(());
    };
    let is_of_model = |(file, _): &(PathBuf, u64)| {
        let file = file.canonicalize();
        file.is_ok_and(|file| file == whole)
    };
    if model.places.values().any(is_of_model) {
        return Err(wrong(path, "the weights would replace a file of the model"));
    }
    if !is_replaceable() {
        let message = "the file exists: `--weights FILE` names the file to write the weights to";
        return Err(wrong(path, message));
    }
    Ok(())
}

/// Writes tensors to a file. Returns the first byte of each.
fn write_weights(
    tensors: &[NamedTensor],
    path: &Path,
    model: &ModelFiles,
) -> Result<Vec<u64>, Failure> {
    let (_, sha256) = sha256_of_file(&model.path).map_err(|error| wrong(&model.path, error))?;
    let metadata = [("model", model.name.clone()), ("model_sha256", sha256)];
    let bytes = safetensors::write_with_metadata(tensors, &metadata);
    let bytes = bytes.map_err(|error| wrong(path, error))?;
    std::fs::write(path, &bytes).map_err(|error| wrong(path, error))?;
    // Where the format has put them.
    let file = HostBuffer::from_owner(bytes).map_err(|error| wrong(path, error))?;
    let read = safetensors::read(&file).map_err(|error| wrong(path, error))?;
    let offsets: HashMap<&str, u64> = read
        .iter()
        .filter_map(|named| {
            let tensor = &*named.tensor as &dyn tfrt_tensor::Tensor;
            let address = tensor
                .downcast_ref::<tfrt_tensor::DenseHostTensor>()?
                .buffer()
                .address();
            let offset = address.checked_sub(file.address())?;
            (offset < file.len_bytes()).then_some((named.name.as_str(), offset as u64))
        })
        .collect();
    let offsets = tensors.iter().map(|tensor| {
        let offset = offsets.get(tensor.name.as_str()).copied();
        offset.ok_or_else(|| wrong(path, "a weight is not where it was written"))
    });
    offsets.collect()
}

/// Reads a program that `tfrt import` has written, with its weights. Returns `None` if it has no
/// table of them.
pub(crate) fn read(
    path: &str,
    kernels: &KernelRegistry,
    limits: &Limits,
    check: WeightCheck,
) -> Result<Option<StoredProgram>, Failure> {
    let input = Input::read(path)?;
    let fits = limits.check(Limit::ProgramBytes, input.bytes.len() as u64);
    fits.map_err(|error| wrong(Path::new(path), error))?;
    let functions = functions(&input, path, kernels)?;
    let files = FolderFiles::beside(Path::new(path)).mapped_by(map);
    let layout = tfrt_model_ops::packed_layout();
    let stored = StoredProgram::read(functions, &files, limits, check, &layout);
    stored.map_err(|error| Failure::caused(format!("error: {}", escaped(path)), error))
}

/// Maps a file that weights are in.
#[expect(unsafe_code, reason = "maps files that belong to what the user names")]
fn map(path: &Path) -> std::io::Result<HostBuffer> {
    // SAFETY: 1: whoever runs the command must not change the files meanwhile, as the guide says.
    unsafe { tfrt_tensor::file::map(path) }
}

/// Returns the functions of a program, MLIR text or BEF.
fn functions(
    input: &Input,
    path: &str,
    kernels: &KernelRegistry,
) -> Result<FunctionProgram, Failure> {
    let functions = match input.kind() {
        Kind::Bef => {
            let file = BefFile::read_from(&*input.bytes);
            let file = file.map_err(|error| wrong(Path::new(path), error))?;
            FunctionProgram::from_bef(&file, path, kernels)
        }
        _ => FunctionProgram::from_text(input.text()?, path, kernels),
    };
    functions.map_err(|error| Failure::caused("error", error))
}

fn wrong(path: &Path, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    Failure::caused(
        format!("error: {}", escaped(&path.to_string_lossy())),
        cause,
    )
}
