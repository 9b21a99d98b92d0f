//! Writing: collects a compiled program and emits it byte for byte as TFRT does.
//!
//! A [`BefBuilder`] is filled in two steps. The first walks the program and *collects* strings,
//! types, kernel names, attributes and functions; the order of these calls determines the order of
//! the tables. The second sets the [`Body`] of every function that has one. Derived data is
//! computed: use counts, used-by lists, offsets, section forms.
//!
//! One file per section, with the same names as the readers.

mod attribute_names;

mod attribute_types;

mod function_index;

mod body_error;

mod functions;

mod kernel_flags;

mod location_strings;

mod locations;

mod names;

mod register_types;

mod sections;

mod strings;

use std::collections::HashMap;
use std::fmt;

use tfrt_attr::{AttrEncoder, AttrTypeCode, AttrValue, EncodeError};
use tfrt_support::define_id;
use tfrt_support::entity::{EntityId, PrimaryMap};

pub use body_error::{BodyError, OperationError};
pub use functions::{Body, BodyKernel, KernelAttribute};

use crate::format::{RECORD_ALIGNMENT, SectionId};
use crate::ids::{AttributeOffset, FunctionId, KernelCode, TypeNameId};
use function_index::FunctionEntry;
use locations::LocationWriter;
use names::NameTable;
use sections::FileWriter;
use strings::StringSet;
use tfrt_support::FunctionKind;

define_id! {
    /// An attribute of the program: its position in the attribute list.
    pub struct AttributeId("attr");
}

/// Options for writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// `true` to write the sections that only decoding needs, which is the default.
    pub optional_sections: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            optional_sections: true,
        }
    }
}

/// The error for a program that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// A name or spelling contains a zero byte, which the format cannot express.
    ZeroByteInString(String),
    /// An attribute has no encoding.
    Attribute(EncodeError),
    /// A function of a kind that has bodies has none.
    MissingBody(FunctionId),
    /// The signature of a function has a type that was not added.
    UnknownType {
        /// The function.
        function: FunctionId,
        /// The type.
        index: TypeNameId,
    },
    /// A native function has a body.
    NativeBody(FunctionId),
    /// A body refers to something that does not exist, or does not define a register exactly once.
    InvalidBody {
        /// The function.
        function: FunctionId,
        /// The problem in the body.
        problem: BodyError,
    },
    /// A section exceeds the range of 32-bit offsets.
    TooLong(SectionId),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroByteInString(text) => {
                write!(f, "expected a name without zero bytes, found {text:?}")
            }
            Self::Attribute(error) => write!(f, "attribute: {error}"),
            Self::MissingBody(function) => {
                write!(f, "expected a body for function {}", function.index())
            }
            Self::UnknownType { function, index } => {
                write!(
                    f,
                    "signature of function {}: expected a known type, found {index:?}",
                    function.index()
                )
            }
            Self::NativeBody(function) => {
                write!(
                    f,
                    "expected no body for function {}, which is native",
                    function.index()
                )
            }
            Self::InvalidBody { function, problem } => {
                write!(f, "body of function {}: {problem}", function.index())
            }
            Self::TooLong(section) => write!(
                f,
                "expected at most 4294967295 bytes in the {section} section"
            ),
        }
    }
}

impl std::error::Error for WriteError {}

tfrt_support::convert_errors!(WriteError);

/// Builds a file.
///
/// ```
/// use tfrt_attr::Scalar;
/// use tfrt_bef::write::{BefBuilder, Body, BodyKernel, KernelAttribute, WriteOptions};
/// use tfrt_bef::{BefFile, FunctionKind, BefLocation, RegisterId};
/// use tfrt_support::entity::EntityId;
///
/// let mut builder = BefBuilder::new(WriteOptions::default());
/// let i32_type = builder.add_type("i32");
/// let constant = builder.add_kernel_name("tfrt.constant.i32");
/// let seven = builder.add_attribute(Scalar::i32(7).into())?;
/// let f = builder.declare_function(FunctionKind::Async, "f", vec![], vec![i32_type]);
///
/// let register = RegisterId::from_index(0);
/// builder.define_body(f, Body {
///     location: Some(BefLocation::Unknown),
///     root_stream: 0,
///     num_arguments: 0,
///     register_types: vec![i32_type],
///     kernels: vec![BodyKernel {
///         location: Some(BefLocation::Unknown),
///         attributes: vec![KernelAttribute { name: "value".into(), value: seven }],
///         results: vec![register],
///         ..BodyKernel::new(constant)
///     }],
///     results: vec![register],
/// });
/// let bytes = builder.finish()?;
/// let bef = BefFile::from_bytes(&bytes).verify()?;
/// assert_eq!(bef.find_function("f").map(|f| bef.kernel_name(constant)), Some("tfrt.constant.i32"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BefBuilder {
    options: WriteOptions,
    strings: StringSet,
    kernels: NameTable<KernelCode>,
    types: NameTable<TypeNameId>,
    attributes: PrimaryMap<AttributeId, AttributeEntry>,
    encoder: AttrEncoder,
    attribute_ids: HashMap<AttrValue, AttributeId>,
    functions: PrimaryMap<FunctionId, FunctionEntry>,
    bodies: HashMap<FunctionId, Body>,
}

/// The offset and type of an attribute.
#[derive(Clone, Copy, Debug)]
struct AttributeEntry {
    offset: AttributeOffset,
    code: AttrTypeCode,
}

impl BefBuilder {
    /// Creates an empty program.
    #[must_use]
    pub fn new(options: WriteOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> WriteOptions {
        self.options
    }

    /// Adds a type to the type list, unless it is already there.
    pub fn add_type(&mut self, spelling: &str) -> TypeNameId {
        self.strings.add(spelling);
        self.types.add(spelling)
    }

    /// Adds the name of a kernel to the kernel list, unless it is already there.
    pub fn add_kernel_name(&mut self, name: &str) -> KernelCode {
        self.strings.add(name);
        self.kernels.add(name)
    }

    /// Adds the name of an attribute that is not in a body: one of a list of functions. Does
    /// nothing without optional sections.
    pub fn add_attribute_name(&mut self, name: &str) {
        if self.options.optional_sections {
            self.strings.add(name);
        }
    }

    /// Adds the element type of a number in an attribute to the type list. Does nothing without
    /// optional sections.
    pub fn add_attribute_type(&mut self, spelling: &str) {
        if self.options.optional_sections {
            self.add_type(spelling);
        }
    }

    /// Adds an attribute to the attribute list, unless this method has already added an equal one.
    ///
    /// MLIR may distinguish attributes with equal values, such as `1 : i8` and `1 : si8`: a
    /// compiler that distinguishes them deduplicates itself and calls
    /// [`push_attribute`](Self::push_attribute).
    ///
    /// # Errors
    /// If the value has no encoding.
    pub fn add_attribute(&mut self, value: AttrValue) -> Result<AttributeId, WriteError> {
        if let Some(&id) = self.attribute_ids.get(&value) {
            return Ok(id);
        }
        let id = self.push_attribute(&value)?;
        self.attribute_ids.insert(value, id);
        Ok(id)
    }

    /// Adds an attribute to the attribute list, even if it is already there.
    ///
    /// # Errors
    /// If the value has no encoding.
    pub fn push_attribute(&mut self, value: &AttrValue) -> Result<AttributeId, WriteError> {
        let offset = self.encoder.encode(value).map_err(WriteError::Attribute)?;
        let offset = AttributeOffset::from_index(offset as usize);
        Ok(self.attributes.push(AttributeEntry {
            offset,
            code: value.code(),
        }))
    }

    /// Appends a function to the function list; a region has an empty name.
    pub fn declare_function(
        &mut self,
        kind: FunctionKind,
        name: &str,
        arguments: Vec<TypeNameId>,
        results: Vec<TypeNameId>,
    ) -> FunctionId {
        self.strings.add(name);
        self.functions.push(FunctionEntry {
            kind,
            name: name.to_owned(),
            arguments,
            results,
        })
    }

    /// Sets the body of a function, replacing an earlier one. Adds the names of its attributes.
    pub fn define_body(&mut self, function: FunctionId, body: Body) {
        for attribute in body.kernels.iter().flat_map(|kernel| &kernel.attributes) {
            self.add_attribute_name(&attribute.name);
        }
        self.bodies.insert(function, body);
    }

    /// Returns the bytes of the file.
    ///
    /// # Errors
    /// If a body is missing or refers to something that does not exist, a name contains a zero
    /// byte, or a section is too long.
    pub fn finish(&self) -> Result<Vec<u8>, WriteError> {
        let strings = self.strings.encode()?;
        let mut locations = LocationWriter::default();
        let functions = functions::encode(self, &mut locations)?;

        let mut file = FileWriter::new();
        file.section(SectionId::Strings, strings.bytes(), 1)?;
        file.section(
            SectionId::Attributes,
            self.encoder.as_bytes(),
            self.encoder.alignment(),
        )?;
        file.section(SectionId::Kernels, &self.kernels.encode(&strings), 1)?;
        file.section(SectionId::Types, &self.types.encode(&strings), 1)?;
        file.section(
            SectionId::FunctionIndex,
            &function_index::encode(self, &functions.offsets, &strings),
            1,
        )?;
        let functions_alignment = if functions.bytes.is_empty() {
            1
        } else {
            RECORD_ALIGNMENT
        };
        file.section(SectionId::Functions, &functions.bytes, functions_alignment)?;
        if locations.has_records() {
            file.section(SectionId::LocationStrings, locations.strings(), 1)?;
            file.section(SectionId::Locations, locations.records(), 1)?;
        }
        if self.options.optional_sections {
            file.section(SectionId::AttributeTypes, &attribute_types::encode(self), 1)?;
            file.section(
                SectionId::AttributeNames,
                &attribute_names::encode(self, &strings),
                1,
            )?;
            file.section(SectionId::RegisterTypes, &register_types::encode(self), 1)?;
        }
        let flags = kernel_flags::encode(self);
        if !flags.is_empty() {
            file.section(SectionId::KernelFlags, &flags, 1)?;
        }
        Ok(file.finish())
    }

    /// Returns the functions that have a body, in order.
    fn bodies(&self) -> impl Iterator<Item = (FunctionId, &Body)> {
        self.functions
            .ids()
            .filter_map(|id| Some((id, self.bodies.get(&id)?)))
    }
}

/// Appends an offset or an id, as an integer of variable length.
fn push_id<K: EntityId>(bytes: &mut Vec<u8>, id: K) {
    tfrt_attr::vbr::write(bytes, id.index() as u64);
}
