//! Verification: the rules for files that allow an executor to skip checks.
//!
//! Rules for the tables, checked by [`BefFile::verify`](crate::BefFile::verify):
//!
//! 1. The header is that of the format, and every section is within the file.
//! 2. Kernels, Types and FunctionIndex are present, and refer to strings in Strings that are
//!    complete and UTF-8.
//! 3. A function is asynchronous, native or synchronous, and the types of its signature exist.
//! 4. A body starts in the Functions section, which is aligned to words. Bodies start at distinct
//!    offsets; a body ends where the next one starts.
//! 5. KernelFlags, if present, names functions with a body, kernels in ascending order, and known
//!    flags.
//!
//! Rules for a body, checked on its first look-up: see [`body`].
//!
//! Sections that are used only for messages and decoding, and the names of attributes, are checked
//! on first use. A file with damage there is accepted.
//!
//! All checks together take time linear in the file (except for sorting the offsets of bodies, and
//! the users of a register), since no two bodies, and no two records of a body, share bytes. They
//! allocate a small multiple of the file.

mod body;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tfrt_attr::{AttrError, FromAttr};
use tfrt_support::Place;
use tfrt_support::entity::{EntityId, PrimaryMap};

pub use body::{KernelEntry, VerifiedFunction};

use crate::error::{BefError, Fault, Reason};
use crate::file::BefFile;
use crate::format::{RECORD_ALIGNMENT, SectionId};
use crate::ids::{
    AttributeOffset, FunctionId, KernelCode, LocationOffset, StringOffset, TypeNameId, raw,
};
use crate::invariant;
use crate::location::{self, BefLocation};
use crate::read::attribute_names::{self, BodyShape, NamesSoFar};
use crate::read::attribute_types::AttributeTypes;
use crate::read::entries::Checks;
use crate::read::function_index::{FunctionEntry, FunctionIndex};
use crate::read::kernel_flags::{self, FlagTable};
use crate::read::register_types::{self, RegisterTypes};
use crate::read::sections::SectionTable;
use crate::read::strings::{Strings, string_at};
use crate::read::{locations, names};
use body::VerifiedBody;
use tfrt_support::FunctionKind;

/// A file whose tables were checked. Clones share it; the bytes live as long as any clone.
///
/// See `crate::verify` for the rules.
#[derive(Clone)]
pub struct VerifiedBef {
    data: Arc<BefData>,
}

struct BefData {
    file: BefFile,
    sections: SectionTable,
    kernels: PrimaryMap<KernelCode, StringOffset>,
    types: PrimaryMap<TypeNameId, StringOffset>,
    index: FunctionIndex,
    /// The ranges of the bodies in the file; empty for native functions.
    body_ranges: PrimaryMap<FunctionId, Range<usize>>,
    /// By function, ascending.
    flags: Vec<FlagTable>,
    bodies: PrimaryMap<FunctionId, OnceLock<Result<Arc<VerifiedBody>, BefError>>>,
    /// The optional sections, each read on first use.
    attribute_types: OnceLock<Result<AttributeTypes, BefError>>,
    attribute_names: OnceLock<NamesSoFar>,
    register_types: OnceLock<Result<RegisterTypes, BefError>>,
}

/// The index entry of a function.
///
/// ```
/// use tfrt_bef::write::{BefBuilder, WriteOptions};
/// use tfrt_bef::{BefFile, FunctionKind};
///
/// let mut builder = BefBuilder::new(WriteOptions::default());
/// let i32_type = builder.add_type("i32");
/// builder.declare_function(FunctionKind::Native, "sink", vec![i32_type], vec![]);
/// let bef = BefFile::from_bytes(&builder.finish()?).verify()?;
///
/// let sink = bef.function_entry(bef.find_function("sink").unwrap());
/// assert_eq!((sink.name, sink.kind), ("sink", FunctionKind::Native));
/// assert_eq!((sink.arguments, sink.results), (&[i32_type][..], &[][..]));
/// assert_eq!(bef.type_name(i32_type), "i32");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BefFunction<'a> {
    /// Its position in the index.
    pub id: FunctionId,
    /// Its kind.
    pub kind: FunctionKind,
    /// Its name; empty for a region.
    pub name: &'a str,
    /// The types of its arguments.
    pub arguments: &'a [TypeNameId],
    /// The types of its results.
    pub results: &'a [TypeNameId],
}

impl VerifiedBef {
    pub(crate) fn new(file: BefFile) -> Result<Self, BefError> {
        let sections = file.sections()?.into_table();
        let bytes = file.bytes();
        let table = |id: SectionId| sections.required(bytes, id);
        let strings = strings_of(bytes, &sections);
        let checks = |num_types: usize, num_functions: usize| Checks::Rules {
            strings,
            num_types,
            num_functions,
        };

        let kernels = table(SectionId::Kernels)
            .and_then(|cursor| names::read(cursor, checks(0, 0), names::KERNELS))
            .map_err(|fault| fault.because(Reason::Kernels))?;
        let types: PrimaryMap<TypeNameId, StringOffset> = table(SectionId::Types)
            .and_then(|cursor| names::read(cursor, checks(0, 0), names::TYPES))
            .map_err(|fault| fault.because(Reason::Types))?;
        let index = table(SectionId::FunctionIndex)
            .and_then(|cursor| FunctionIndex::read(cursor, checks(types.len(), 0)))
            .map_err(|fault| fault.because(Reason::FunctionIndex))?;
        let body_ranges = body_ranges(&sections, &index)?;
        let checks = checks(types.len(), index.functions.len());
        let flags = read_flags(bytes, &sections, &index, checks)?;
        let bodies = index.functions.ids().map(|_| OnceLock::new()).collect();
        let data = BefData {
            file,
            sections,
            kernels,
            types,
            index,
            body_ranges,
            flags,
            bodies,
            attribute_types: OnceLock::new(),
            attribute_names: OnceLock::new(),
            register_types: OnceLock::new(),
        };
        Ok(Self {
            data: Arc::new(data),
        })
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &BefFile {
        &self.data.file
    }

    /// Returns the codes of the kernels, in order.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = KernelCode> + use<> {
        self.data.kernels.ids()
    }

    /// Returns the name of a kernel, which is empty if there is no such code.
    #[must_use]
    pub fn kernel_name(&self, code: KernelCode) -> &str {
        self.data
            .kernels
            .get(code)
            .map_or("", |&name| self.string(name))
    }

    /// Returns the types, in order.
    pub fn types(&self) -> impl ExactSizeIterator<Item = TypeNameId> + use<> {
        self.data.types.ids()
    }

    /// Returns the spelling of a type, which is empty if there is no such type.
    #[must_use]
    pub fn type_name(&self, index: TypeNameId) -> &str {
        self.data
            .types
            .get(index)
            .map_or("", |&name| self.string(name))
    }

    /// Returns the functions, in order of their ids.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = BefFunction<'_>> {
        self.data
            .index
            .functions
            .iter()
            .map(|(id, entry)| self.describe(id, entry))
    }

    /// Returns the index entry of a function.
    ///
    /// # Panics
    /// If there is no such function: passing the id of another file is a bug in the caller.
    #[must_use]
    pub fn function_entry(&self, id: FunctionId) -> BefFunction<'_> {
        self.describe(id, &self.data.index.functions[id])
    }

    /// Returns the last function with this name. No function has the empty name.
    ///
    /// Takes time linear in the number of functions.
    #[must_use]
    pub fn find_function(&self, name: &str) -> Option<FunctionId> {
        let strings = self.section(SectionId::Strings);
        let is_named = |offset: StringOffset| {
            let rest = strings.get(offset.index()..).unwrap_or_default();
            rest.strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.first() == Some(&0))
        };
        let mut functions = self.data.index.functions.iter().rev();
        functions
            .find(|(_, entry)| !name.is_empty() && is_named(entry.name))
            .map(|(id, _)| id)
    }

    /// Returns the checked body of a function. The first look-up takes time linear in its size.
    ///
    /// # Errors
    /// If the body violates a rule, or the function is native and has no body.
    ///
    /// # Panics
    /// If there is no such function: passing the id of another file is a bug in the caller.
    pub fn function(&self, id: FunctionId) -> Result<VerifiedFunction, BefError> {
        let body = self.data.bodies[id].get_or_init(|| self.verify_body(id).map(Arc::new));
        match body {
            Ok(body) => Ok(VerifiedFunction::new(self.clone(), id, Arc::clone(body))),
            Err(error) => Err(error.clone()),
        }
    }

    /// Checks every body.
    ///
    /// # Errors
    /// That of the first body that violates a rule.
    pub fn verify_functions(&self) -> Result<(), BefError> {
        self.functions()
            .filter(|function| function.kind.has_body())
            .try_for_each(|function| self.function(function.id).map(drop))
    }

    /// Returns the location of the first kernel with this code, among functions with valid bodies.
    #[must_use]
    pub fn first_use(&self, code: KernelCode) -> Option<LocationOffset> {
        let bodies = self
            .functions()
            .filter_map(|function| self.function(function.id).ok());
        for body in bodies {
            let mut records = body.kernels().map(|kernel| body.record(kernel));
            if let Some(record) = records.find(|record| record.code == code) {
                return Some(record.location);
            }
        }
        None
    }

    /// Returns the data of a section, which is empty if the file does not have the section.
    #[must_use]
    pub fn section(&self, id: SectionId) -> &[u8] {
        self.data
            .sections
            .range(id)
            .map_or(&[], |range| &self.data.file.bytes()[range])
    }

    /// Returns the attributes, for reading with [`tfrt_attr`]; empty if there are none.
    #[must_use]
    pub fn attributes(&self) -> &[u8] {
        self.section(SectionId::Attributes)
    }

    /// Reads the attribute at `offset` as a `T`.
    ///
    /// # Errors
    /// If the bytes there are not such an attribute.
    pub fn attribute<'a, T: FromAttr<'a>>(
        &'a self,
        offset: AttributeOffset,
    ) -> Result<T, AttrError> {
        T::read(self.attributes(), raw(offset))
    }

    /// Returns the location recorded at `offset`, or `None` if it is out of range or malformed.
    #[must_use]
    pub fn location(&self, offset: LocationOffset) -> Option<BefLocation> {
        let strings = self.section(SectionId::LocationStrings);
        locations::read(self.section(SectionId::Locations), strings, offset.index())
    }

    /// Returns the place recorded at `offset`, or one with an empty file name and line and column
    /// `u32::MAX` if it is out of range or malformed.
    #[must_use]
    pub fn place(&self, offset: LocationOffset) -> Place {
        self.location(offset)
            .map_or_else(location::out_of_range, |location| location.place())
    }

    /// Returns the debug name of the operation at `offset`, if it has one.
    #[must_use]
    pub fn debug_name(&self, offset: LocationOffset) -> Option<String> {
        self.location(offset)?.debug_name().map(str::to_owned)
    }

    /// Returns the type codes of the attributes, or `None` if the section is absent or empty. The
    /// first call reads the section and checks the attributes.
    ///
    /// # Errors
    /// If the section is malformed, or does not match an attribute.
    pub fn attribute_types(&self) -> Result<Option<&AttributeTypes>, BefError> {
        let Some(cursor) = self.optional(SectionId::AttributeTypes) else {
            return Ok(None);
        };
        let read = || {
            let attributes = self.data.sections.range(SectionId::Attributes);
            let base = attributes.map_or(0, |range| range.start);
            AttributeTypes::read(cursor, self.attributes(), base)
                .map_err(|fault| fault.because(Reason::Section(SectionId::AttributeTypes)))
        };
        let types = self.data.attribute_types.get_or_init(read);
        types.as_ref().map(Some).map_err(BefError::clone)
    }

    /// Returns for every function the names of the attributes of its kernels, in the order of the
    /// records, or `None` if the section is absent or empty.
    ///
    /// # Errors
    /// If the section, or a body, is malformed.
    pub fn attribute_names(&self) -> Result<Option<PrimaryMap<FunctionId, Vec<&str>>>, BefError> {
        let Some(names) = self.names_so_far() else {
            return Ok(None);
        };
        names.check()?;
        let of_function = |id| {
            let names = names.of(id)?.iter();
            Ok(names.map(|&name| self.string(name)).collect())
        };
        let all: Result<_, BefError> = self.data.index.functions.ids().map(of_function).collect();
        all.map(Some)
    }

    /// Returns the names of the attributes of a function's kernels, in the order of the records, or
    /// `None` if the section is absent or empty.
    ///
    /// The names of a function follow those of the functions before it, so the first call checks
    /// every body.
    ///
    /// # Errors
    /// If the section, or the body of this function or of one before it, is malformed.
    ///
    /// # Panics
    /// If there is no such function: passing the id of another file is a bug in the caller.
    pub fn attribute_names_of(
        &self,
        id: FunctionId,
    ) -> Result<Option<impl ExactSizeIterator<Item = &str>>, BefError> {
        let Some(names) = self.names_so_far() else {
            return Ok(None);
        };
        let names = names.of(id)?;
        Ok(Some(names.iter().map(|&name| self.string(name))))
    }

    /// Returns the names of attributes, unless the section is absent or empty.
    fn names_so_far(&self) -> Option<&NamesSoFar> {
        let cursor = self.optional(SectionId::AttributeNames)?;
        let read = || {
            let shapes = self
                .functions()
                .map(|function| match function.kind.has_body() {
                    true => self
                        .function(function.id)
                        .map(|body| Some(body_shape(&body))),
                    false => Ok(None),
                });
            attribute_names::read_so_far(
                cursor,
                self.checks(),
                self.data.index.functions.len(),
                shapes,
            )
        };
        Some(self.data.attribute_names.get_or_init(read))
    }

    /// Returns the types of the registers of every function, or `None` if the section is absent or
    /// empty. The first call reads the section and checks every body.
    ///
    /// # Errors
    /// If the section, or a body, is malformed.
    pub fn register_types(&self) -> Result<Option<&RegisterTypes>, BefError> {
        let Some(cursor) = self.optional(SectionId::RegisterTypes) else {
            return Ok(None);
        };
        let read = || {
            let num_registers = self.of_bodies(VerifiedFunction::num_registers)?;
            register_types::read(cursor, self.checks(), &num_registers)
                .map_err(|fault| fault.because(Reason::Section(SectionId::RegisterTypes)))
        };
        let types = self.data.register_types.get_or_init(read);
        types.as_ref().map(Some).map_err(BefError::clone)
    }

    /// Returns the data that entries of optional sections are checked against.
    fn checks(&self) -> Checks<'_> {
        Checks::Rules {
            strings: strings_of(self.data.file.bytes(), &self.data.sections),
            num_types: self.data.types.len(),
            num_functions: self.data.index.functions.len(),
        }
    }

    /// Computes something for the body of every function that has one.
    fn of_bodies<T>(
        &self,
        describe: impl Fn(&VerifiedFunction) -> T,
    ) -> Result<PrimaryMap<FunctionId, Option<T>>, BefError> {
        self.functions()
            .map(|function| match function.kind.has_body() {
                true => self.function(function.id).map(|body| Some(describe(&body))),
                false => Ok(None),
            })
            .collect()
    }

    fn optional(&self, id: SectionId) -> Option<crate::cursor::Cursor<'_>> {
        self.data
            .sections
            .cursor(self.data.file.bytes(), id)
            .filter(|cursor| cursor.remaining() != 0)
    }

    fn describe<'a>(&'a self, id: FunctionId, entry: &FunctionEntry) -> BefFunction<'a> {
        let types = &self.data.index.types;
        BefFunction {
            id,
            kind: entry.kind(),
            name: self.string(entry.name),
            arguments: &types[entry.arguments.clone()],
            results: &types[entry.results.clone()],
        }
    }

    /// Returns a string that a table refers to; it is complete and UTF-8 by rule 2.
    fn string(&self, offset: StringOffset) -> &str {
        match str::from_utf8(string_at(self.section(SectionId::Strings), offset.index())) {
            Ok(text) => text,
            Err(_) => invariant::broken("rule 2: strings are UTF-8"),
        }
    }

    fn flags(&self, id: FunctionId) -> Option<&FlagTable> {
        let index = self
            .data
            .flags
            .binary_search_by_key(&id, |table| table.function)
            .ok()?;
        Some(&self.data.flags[index])
    }

    fn verify_body(&self, id: FunctionId) -> Result<VerifiedBody, BefError> {
        let function = self.function_entry(id);
        if !function.kind.has_body() {
            let entry = &self.data.index.functions[id];
            let message = format!("expected a function with a body, found `{}`", function.name);
            let fault = Fault::new(SectionId::FunctionIndex, entry.offset_in_file, message);
            return Err(fault.because(Reason::NoBody));
        }
        let context = body::Context {
            file: self.data.file.bytes(),
            section_start: self
                .data
                .sections
                .range(SectionId::Functions)
                .map_or(0, |section| section.start),
            range: self.data.body_ranges[id].clone(),
            function,
            num_kernel_codes: self.data.kernels.len(),
            num_functions: self.data.index.functions.len(),
            attributes_len: self.attributes().len(),
            flags: self.flags(id),
        };
        body::verify(&context)
    }
}

impl fmt::Debug for VerifiedBef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedBef")
            .field("file", &self.data.file)
            .field("kernels", &self.data.kernels.len())
            .field("types", &self.data.types.len())
            .field("functions", &self.data.index.functions.len())
            .finish()
    }
}

fn strings_of<'a>(file: &'a [u8], sections: &SectionTable) -> Strings<'a> {
    Strings::new(
        sections
            .range(SectionId::Strings)
            .map_or(&[], |range| &file[range]),
    )
}

/// Returns the shape of a body that determines its attribute names.
fn body_shape(body: &VerifiedFunction) -> BodyShape {
    BodyShape {
        num_kernels: body.num_kernels(),
        num_attributes: body
            .kernels()
            .map(|kernel| body.record(kernel).attributes.len())
            .sum(),
    }
}

/// Checks rule 4 and returns the ranges of the bodies in the file.
fn body_ranges(
    sections: &SectionTable,
    index: &FunctionIndex,
) -> Result<PrimaryMap<FunctionId, Range<usize>>, BefError> {
    let section = sections.range(SectionId::Functions).unwrap_or_default();
    let mut ranges: PrimaryMap<FunctionId, Range<usize>> =
        index.functions.ids().map(|_| 0..0).collect();
    let mut starts = Vec::new();
    for (id, entry) in index.functions.iter().filter(|(_, entry)| entry.has_body()) {
        let offset = usize::try_from(entry.body_offset)
            .ok()
            .filter(|&offset| offset < section.len());
        let Some(offset) = offset else {
            let message = format!(
                "expected the offset of a body below {}, found {} for function {}",
                section.len(),
                entry.body_offset,
                id.index()
            );
            return Err(body_offset_error(entry, message));
        };
        starts.push((section.start + offset, id));
    }
    if let Some(&(_, id)) = starts.first()
        && !section.start.is_multiple_of(RECORD_ALIGNMENT)
    {
        let message = format!(
            "expected the Functions section at a multiple of {RECORD_ALIGNMENT}, found it at {:#x}",
            section.start
        );
        return Err(body_offset_error(&index.functions[id], message));
    }
    starts.sort_unstable();
    for (position, &(start, id)) in starts.iter().enumerate() {
        let end = starts
            .get(position + 1)
            .map_or(section.end, |&(next, _)| next);
        if start == end {
            let message = format!(
                "expected a separate body for function {}, found the body of another function",
                id.index()
            );
            return Err(body_offset_error(&index.functions[id], message));
        }
        ranges[id] = start..end;
    }
    Ok(ranges)
}

#[cold]
fn body_offset_error(entry: &FunctionEntry, message: String) -> BefError {
    let reason = match entry.kind() {
        FunctionKind::Sync => Reason::SyncBodyOffset,
        FunctionKind::Async | FunctionKind::Native => Reason::AsyncBodyOffset,
    };
    Fault::new(SectionId::FunctionIndex, entry.offset_in_file, message).because(reason)
}

/// Checks rule 5.
fn read_flags(
    file: &[u8],
    sections: &SectionTable,
    index: &FunctionIndex,
    checks: Checks<'_>,
) -> Result<Vec<FlagTable>, BefError> {
    let Some(cursor) = sections.cursor(file, SectionId::KernelFlags) else {
        return Ok(Vec::new());
    };
    let invalid = |fault: Fault| fault.because(Reason::Section(SectionId::KernelFlags));
    let tables = kernel_flags::read(cursor, checks).map_err(invalid)?;
    for table in &tables {
        if !index.functions[table.function].has_body() {
            let message = format!(
                "expected a function with a body, found function {}",
                table.function.index()
            );
            return Err(invalid(Fault::new(
                SectionId::KernelFlags,
                table.offset_in_file,
                message,
            )));
        }
    }
    Ok(tables)
}
