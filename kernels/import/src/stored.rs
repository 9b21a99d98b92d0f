//! Programs in files: the text of a program, with a table of its inputs, weights and outputs.
//!
//! ```text
//! func @model() {
//!   "model.program"() {version = 1 : i64} : () -> ()
//!   "model.file"() {path = "model.onnx", size = 97 : i64, sha256 = "…"} : () -> ()
//!   "model.input"() {name = "x", type = f32, rank = 2 : i64, dims = [-1 : i64, 3 : i64],
//!                    symbols = ["n", ""]} : () -> ()
//!   "model.weight"() {name = "w", type = f32, rank = 1 : i64, dims = [512 : i64], file = 0 : i64,
//!                     offset = 64 : i64} : () -> ()
//!   "model.constant"() {name = "b", type = f32, rank = 1 : i64, dims = [2 : i64],
//!                       value = dense<[…]> : tensor<2xf32>} : () -> ()
//!   "model.output"() {name = "y", type = f32} : () -> ()
//!   tfrt.return
//! }
//! func @main(…) … { … }
//! ```
//!
//! The arguments of `main` are the inputs, then the weights and constants in the order of the
//! table. Weights are bytes of files in the folder of the program; constants are small and part of
//! it. A BEF file has the same functions.
//!
//! A program may have its weights in packed form, too, for processors of one kind:
//!
//! ```text
//!   "model.packed"() {layout = "panels of 32 columns of f32, version 1"} : () -> ()
//!   "model.packed_weight"() {name = "packed/w", weight = 0 : i64, type = f32, rank = 1 : i64,
//!                            dims = [512 : i64], file = 1 : i64, offset = 0 : i64} : () -> ()
//! …
//! func @packed(…) … { … }
//! ```
//!
//! Then a function `packed` takes these in place of the weights of the same number. Where the
//! layout is another one, `main` runs instead, and the packed weights are not read.

mod digest;

mod elements;

mod table;

use std::collections::{HashMap, HashSet};

use tfrt_bef::BefFile;
use tfrt_bef::format::SectionId;
use tfrt_function_ops::FunctionProgram;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::error::ImportError;
use crate::files::FolderFiles;
use crate::limits::Limits;
use crate::names::shown;
use crate::packing::{PACKED_FUNCTION, PackedForm};
use crate::program::{Attr, FUNCTION, Program, Weight, quoted_text, spelled, spelled_dtype};
use crate::types::{InputDim, InputType, ListType};

pub use digest::sha256_of_file;

/// Larger weights are not part of a program.
const MAX_CONSTANT_BYTES: usize = 1 << 10;

/// The op that each table begins with.
const MARK: &str = "model.program";

/// The op that says how weights are packed.
const PACKED_MARK: &str = "model.packed";

/// The op of a packed weight.
const PACKED_WEIGHT: &str = "model.packed_weight";

/// The function that is the table.
const TABLE: &str = "model";

/// The first byte of a BEF file, which no text has.
const FIRST_OF_BEF: u8 = 0x0B;

/// The version of the table that is written and read.
const VERSION: i64 = 1;

/// A file that weights of a program are in.
///
/// ```
/// use tfrt_import::stored::WeightFile;
///
/// let file = WeightFile {
///     path: "model.onnx".into(),
///     len_bytes: 3,
///     sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
/// };
/// assert_eq!(file.sha256.len(), 64);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightFile {
    /// Its path from the folder of the program, with `/` between parts.
    pub path: String,
    /// Its size.
    pub len_bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// The place of a weight in a file.
///
/// ```
/// use tfrt_import::stored::WeightPlace;
///
/// let place = WeightPlace { file: 0, offset: 64 };
/// assert_eq!(place.file, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightPlace {
    /// The number of its file in the table.
    pub file: usize,
    /// Its first byte.
    pub offset: u64,
}

impl Weight {
    /// Returns `true` if programs in files contain the weight itself.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.len_bytes() <= MAX_CONSTANT_BYTES
    }
}

impl Program {
    /// Returns the text of the program with a table of its inputs, weights and outputs. `places`
    /// has the place of each weight, which [small](Weight::is_small) ones need not have. `packed`
    /// has the places of all packed weights, if the program is to have them.
    ///
    /// # Errors
    /// If a large or packed weight has no place, or a small one has elements that attributes cannot
    /// have.
    pub fn to_stored_text(
        &self,
        files: &[WeightFile],
        places: &[Option<WeightPlace>],
        packed: Option<(&PackedForm, &[WeightPlace])>,
    ) -> Result<String, ImportError> {
        let mut text = format!("func @{TABLE}() {{\n");
        let mut line = |op: &str, attrs: &[(&str, String)]| {
            let attrs = attrs
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            let attrs = attrs.collect::<Vec<_>>().join(", ");
            text.push_str(&format!("  \"{op}\"() {{{attrs}}} : () -> ()\n"));
        };
        line(MARK, &[("version", spelled(&Attr::Int(VERSION)))]);
        for file in files {
            let size = i64::try_from(file.len_bytes).unwrap_or(i64::MAX);
            line(
                "model.file",
                &[
                    ("path", quoted_text(&file.path)),
                    ("size", spelled(&Attr::Int(size))),
                    ("sha256", quoted_text(&file.sha256)),
                ],
            );
        }
        for (name, declared) in self.inputs.iter().zip(&self.input_types) {
            let mut attrs = value_attrs(name, declared.as_ref());
            attrs.extend(list_attrs(self.lists.get(name)));
            line("model.input", &attrs);
        }
        for (weight, place) in self.weights.iter().zip(places) {
            let mut attrs = tensor_attrs(&weight.name, weight.dtype(), weight.shape());
            let place = place.filter(|_| !weight.is_small());
            match place {
                Some(place) => {
                    attrs.extend(place_attrs(place));
                    line("model.weight", &attrs);
                }
                None if weight.is_small() => {
                    let tensor = weight.tensor().map_err(|error| {
                        let weight = format!("weight `{}`", shown(&weight.name));
                        ImportError::new(error.to_string()).within(weight)
                    })?;
                    attrs.push(("value", elements::spelled(tensor)?));
                    line("model.constant", &attrs);
                }
                None => {
                    let message = format!("the weight `{}` is in no file", shown(&weight.name));
                    return Err(ImportError::new(message));
                }
            }
        }
        for (name, declared) in self.outputs.iter().zip(&self.output_types) {
            let mut attrs = value_attrs(name, declared.as_ref());
            attrs.extend(list_attrs(self.lists.get(name)));
            line("model.output", &attrs);
        }
        if let Some((form, places)) = packed {
            line(PACKED_MARK, &[("layout", quoted_text(form.layout()))]);
            if form.weights().len() != places.len() {
                return Err(ImportError::new(
                    "expected the places of all packed weights",
                ));
            }
            for ((index, tensor), place) in form.weights().zip(places) {
                let name = packed_name(&self.weights[index].name, index);
                let mut attrs = tensor_attrs(&name, tensor.dtype(), tensor.shape());
                attrs.insert(1, ("weight", spelled(&Attr::Int(index as i64))));
                attrs.extend(place_attrs(*place));
                line(PACKED_WEIGHT, &attrs);
            }
        }
        text.push_str("  tfrt.return\n}\n");
        text.push_str(&self.text);
        if let Some((form, _)) = packed {
            text.push_str(&form.function);
        }
        Ok(text)
    }
}

/// Returns the name of a packed weight in files.
#[must_use]
pub fn packed_name(weight: &str, index: usize) -> String {
    match weight {
        "" => format!("packed/{index}"),
        name => format!("packed/{name}"),
    }
}

/// Returns the attributes of a value that is not a tensor.
fn list_attrs(list: Option<&ListType>) -> Vec<(&'static str, String)> {
    let Some(list) = list else {
        return Vec::new();
    };
    let elements = list.dtype.map(|dtype| ("elements", spelled_dtype(dtype)));
    let form = ("form", quoted_text(list.form()));
    [form].into_iter().chain(elements).collect()
}

/// Returns the attributes of a tensor: its name and its type.
fn tensor_attrs(name: &str, dtype: DType, shape: &Shape) -> Vec<(&'static str, String)> {
    let dims = shape.dims().iter().copied();
    let ty = InputType {
        dtype: Some(dtype),
        dims: Some(dims.map(InputDim::Fixed).collect()),
    };
    value_attrs(name, Some(&ty))
}

/// Returns the attributes of a place in a file.
fn place_attrs(WeightPlace { file, offset }: WeightPlace) -> [(&'static str, String); 2] {
    [("file", file as u64), ("offset", offset)].map(|(name, number)| {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        (name, spelled(&Attr::Int(number)))
    })
}

/// Returns the attributes of a value of the program: its name and its type.
fn value_attrs(name: &str, declared: Option<&InputType>) -> Vec<(&'static str, String)> {
    let mut attrs = vec![("name", quoted_text(name))];
    let Some(declared) = declared else {
        return attrs;
    };
    attrs.extend((declared.dtype).map(|dtype| ("type", spelled(&Attr::Type(dtype)))));
    let Some(dims) = &declared.dims else {
        return attrs;
    };
    attrs.push(("rank", spelled(&Attr::Int(dims.len() as i64))));
    if dims.is_empty() {
        return attrs;
    }
    let extents = dims.iter().map(|dim| match dim {
        InputDim::Fixed(extent) => i64::try_from(*extent).unwrap_or(i64::MAX),
        InputDim::Symbol(_) | InputDim::Unknown => -1,
    });
    attrs.push(("dims", spelled(&Attr::Ints(extents.collect()))));
    if dims.iter().any(|dim| matches!(dim, InputDim::Symbol(_))) {
        let symbols = dims.iter().map(|dim| match dim {
            InputDim::Symbol(name) => quoted_text(name),
            InputDim::Fixed(_) | InputDim::Unknown => quoted_text(""),
        });
        let symbols = symbols.collect::<Vec<_>>().join(", ");
        attrs.push(("symbols", format!("[{symbols}]")));
    }
    attrs
}

/// Returns `true` if the bytes of a file, MLIR text or BEF, are those of a program with a table: if
/// a line of the text begins with the op that a table begins with, or the file has its name.
///
/// ```
/// use tfrt_import::stored::may_be_stored;
///
/// let text = b"func @model() {\n  \"model.program\"() {version = 1 : i64} : () -> ()\n";
/// assert!(may_be_stored(text));
/// assert!(!may_be_stored(b"func @main() { // \"model.program\"()\n  tfrt.return }"));
/// ```
#[must_use]
pub fn may_be_stored(bytes: &[u8]) -> bool {
    let mark = MARK.as_bytes();
    if bytes.first() == Some(&FIRST_OF_BEF) {
        let file = BefFile::from_bytes(bytes);
        let Ok(sections) = file.sections() else {
            return false;
        };
        let names = sections.bytes(SectionId::Strings).unwrap_or_default();
        return names.split(|&byte| byte == 0).any(|name| name == mark);
    }
    let op = format!("\"{MARK}\"(");
    let mut lines = bytes.split(|&byte| byte == b'\n');
    lines.any(|line| line.trim_ascii_start().starts_with(op.as_bytes()))
}

/// A program that was read from a file, with its weights.
#[derive(Debug)]
pub struct StoredProgram {
    pub(crate) functions: FunctionProgram,
    pub(crate) inputs: Vec<String>,
    pub(crate) input_types: Vec<Option<InputType>>,
    pub(crate) outputs: Vec<String>,
    pub(crate) output_types: Vec<Option<InputType>>,
    pub(crate) lists: HashMap<String, ListType>,
    pub(crate) weights: Vec<DenseHostTensor>,
    /// The bytes of those that are packed.
    pub(crate) packed_bytes: usize,
    /// The function that takes these weights.
    pub(crate) function: &'static str,
}

/// How the files of weights are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightCheck {
    /// By their sizes.
    Size,
    /// By their sizes and their SHA-256.
    Digest,
}

impl StoredProgram {
    /// Reads the weights of a program that has a table, the packed ones if they have this layout.
    /// Returns `None` if the program has no table.
    ///
    /// ```
    /// use tfrt_function_ops::FunctionProgram;
    /// use tfrt_host::kernel::KernelRegistry;
    /// use tfrt_import::Limits;
    /// use tfrt_import::files::FolderFiles;
    /// use tfrt_import::stored::{StoredProgram, WeightCheck};
    ///
    /// let text = "func @f() { \"tfrt.return\"() : () -> () }";
    /// let kernels = KernelRegistry::default();
    /// let program = FunctionProgram::from_text(text, "f.mlir", &kernels).unwrap();
    /// let files = FolderFiles::default();
    /// let layout = "panels of 32 columns of f32, version 1";
    /// let limits = Limits::default();
    /// let read = StoredProgram::read(program, &files, &limits, WeightCheck::Size, layout);
    /// assert!(read?.is_none());
    /// # Ok::<(), tfrt_import::ImportError>(())
    /// ```
    ///
    /// # Errors
    /// A damaged table; weights that are not in their files; files of other sizes or, if they are
    /// checked, other contents.
    pub fn read(
        functions: FunctionProgram,
        files: &FolderFiles,
        limits: &Limits,
        check: WeightCheck,
        packed_layout: &str,
    ) -> Result<Option<Self>, ImportError> {
        let Some(table) = table::Table::of(functions.module())? else {
            return Ok(None);
        };
        let mut packed = table.packed_weights(packed_layout)?;
        let mut stored = Self {
            packed_bytes: 0,
            function: match packed {
                Some(_) => PACKED_FUNCTION,
                None => FUNCTION,
            },
            inputs: Vec::new(),
            input_types: Vec::new(),
            outputs: Vec::new(),
            output_types: Vec::new(),
            lists: HashMap::new(),
            weights: Vec::new(),
            functions: functions.clone(),
        };
        let mut known_files: Vec<String> = Vec::new();
        let mut seen_files = HashSet::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for row in table.rows() {
            let op = row.op();
            let place = |error: ImportError| error.within(row.place());
            match op {
                MARK => {
                    let version = row.int("version").map_err(place)?;
                    if version != VERSION {
                        return Err(place(ImportError::new(format!(
                            "expected version {VERSION} of the table, found {version}"
                        ))));
                    }
                }
                "model.file" => {
                    let file = row.file().map_err(place)?;
                    if !seen_files.insert(file.path.clone()) {
                        let message = format!("file `{}` is listed twice", shown(&file.path));
                        return Err(place(ImportError::new(message)));
                    }
                    check_file(files, &file, check).map_err(place)?;
                    known_files.push(file.path);
                }
                "model.input" | "model.output" => {
                    let (name, ty) = row.value(limits).map_err(place)?;
                    let list = row.list().map_err(place)?;
                    stored.lists.extend(list.map(|list| (name.clone(), list)));
                    let is_input = op == "model.input";
                    if is_input && seen.insert(name.clone(), stored.inputs.len()).is_some() {
                        let message = format!("two inputs are named `{}`", shown(&name));
                        return Err(place(ImportError::new(message)));
                    }
                    let (names, types) = match is_input {
                        true => (&mut stored.inputs, &mut stored.input_types),
                        false => (&mut stored.outputs, &mut stored.output_types),
                    };
                    names.push(name);
                    types.push(ty);
                }
                "model.weight" | "model.constant" => {
                    let index = stored.weights.len();
                    let packed = packed.as_mut().and_then(|packed| packed.remove(&index));
                    let used = packed.as_ref().unwrap_or(&row);
                    let tensor = used.tensor(limits, files, &known_files);
                    let tensor = tensor.map_err(|error| error.within(used.place()))?;
                    if packed.is_some() {
                        stored.packed_bytes += tensor.buffer().len_bytes();
                    }
                    stored.weights.push(tensor);
                }
                PACKED_MARK | PACKED_WEIGHT => {}
                other => {
                    let message = format!("unknown op `{}` in the table", shown(other));
                    return Err(ImportError::new(message));
                }
            }
        }
        if let Some(index) = packed.and_then(|packed| packed.into_keys().min()) {
            return Err(ImportError::new(format!(
                "expected the number of one of {} weights, found {index} of a packed weight",
                stored.weights.len()
            )));
        }
        table.check_function(
            stored.function,
            stored.inputs.len() + stored.weights.len(),
            stored.outputs.len(),
        )?;
        Ok(Some(stored))
    }

    /// Returns the inputs, each as it is declared.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, Option<&InputType>)> {
        let types = self.input_types.iter().map(Option::as_ref);
        self.inputs.iter().map(String::as_str).zip(types)
    }

    /// Returns the names of the outputs.
    #[must_use]
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Returns the type of an input or output that is a list or may be absent.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<ListType> {
        self.lists.get(name).copied()
    }

    /// Returns the size of all weights.
    #[must_use]
    pub fn weights_bytes(&self) -> usize {
        let weights = self.weights.iter();
        weights.map(|weight| weight.buffer().len_bytes()).sum()
    }
}

/// Returns the files that the table of a program lists, or none if it has no table.
///
/// ```
/// use tfrt_function_ops::FunctionProgram;
/// use tfrt_host::kernel::KernelRegistry;
/// use tfrt_import::stored::weight_files;
///
/// let text = "func @f() { \"tfrt.return\"() : () -> () }";
/// let kernels = KernelRegistry::default();
/// let program = FunctionProgram::from_text(text, "f.mlir", &kernels).unwrap();
/// assert_eq!(weight_files(&program)?, []);
/// # Ok::<(), tfrt_import::ImportError>(())
/// ```
///
/// # Errors
/// A damaged table.
pub fn weight_files(functions: &FunctionProgram) -> Result<Vec<WeightFile>, ImportError> {
    let table = table::Table::of(functions.module())?;
    let rows = table.iter().flat_map(table::Table::rows);
    let files = rows.filter(|row| row.op() == "model.file");
    files
        .map(|row| row.file().map_err(|error| error.within(row.place())))
        .collect()
}

/// Compares a file of weights with what the table says of it.
fn check_file(
    files: &FolderFiles,
    file: &WeightFile,
    check: WeightCheck,
) -> Result<(), ImportError> {
    let within = |error: ImportError| error.within(format!("file `{}`", shown(&file.path)));
    let found = files.len_bytes(&file.path).map_err(within)?;
    if found != file.len_bytes {
        return Err(within(ImportError::new(format!(
            "expected {} bytes, found {found}: it has changed since the program was written",
            file.len_bytes
        ))));
    }
    if check == WeightCheck::Digest {
        let sha256 = digest::sha256_beside(files, &file.path).map_err(within)?;
        if sha256 != file.sha256 {
            return Err(within(ImportError::new(
                "its SHA-256 is another than when the program was written",
            )));
        }
    }
    Ok(())
}
