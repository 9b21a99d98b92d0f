//! The readable content of a file: [tables](super::table) that may end early, and names that may be
//! missing.

use std::collections::HashMap;
use std::ops::Range;

use tfrt_attr::decode;
use tfrt_support::entity::EntityId;

use super::table::Table;
use super::text;
use crate::cursor::Cursor;
use crate::error::{BefError, Fault};
use crate::format::{SECTION_ALIGNED_BIT, SectionId};
use crate::ids::{KernelCode, LocationOffset, StringOffset, TypeNameId, id, raw};
use crate::invariant;
use crate::read::attribute_types::{self, AttributeChecker, AttributeEntry};
use crate::read::entries::{Checks, StoredFlags};
use crate::read::function_index::{self, FunctionEntry};
use crate::read::functions::RawBody;
use crate::read::kernel_flags::{self, FlagTable};
use crate::read::sections::{self, Frame};
use crate::read::strings::string_at;
use crate::read::{attribute_names, locations, names, register_types};

/// An attribute, according to the AttributeTypes section.
pub(super) struct Attribute {
    pub(super) entry: AttributeEntry,
    /// The end of the value in the file, and its text.
    pub(super) value: Result<(usize, String), Fault>,
}

/// A body: its function, and the maximum range of its bytes in the file.
#[derive(Clone)]
pub(super) struct BodyPlace {
    pub(super) function: usize,
    pub(super) range: Range<usize>,
}

/// The readable content of a file.
pub(super) struct Model<'a> {
    pub(super) file: &'a [u8],
    /// The error in the header of the file, if any.
    pub(super) header: Result<(), BefError>,
    pub(super) frames: Vec<Frame>,
    /// The effective frame of each id: the last one with that id.
    counting_frames: HashMap<u8, usize>,
    /// The fault that ends the list of sections early, and the section whose header it is in.
    pub(super) frame_fault: Option<(Frame, Fault)>,
    pub(super) kernels: Table<StringOffset>,
    pub(super) types: Table<StringOffset>,
    pub(super) functions: Table<FunctionEntry>,
    /// The types of all signatures, concatenated.
    signatures: Vec<TypeNameId>,
    /// In file order.
    pub(super) bodies: Vec<BodyPlace>,
    pub(super) attributes: Table<Attribute>,
    attribute_texts: HashMap<u32, String>,
    /// For each function, the names of the attributes of all its kernels.
    pub(super) attribute_names: Table<Vec<StringOffset>>,
    /// For each function, the types of its registers.
    pub(super) register_types: Table<Vec<TypeNameId>>,
    pub(super) flags: Table<FlagTable>,
    /// By function and kernel.
    flags_of_kernels: HashMap<(usize, usize), StoredFlags>,
}

impl<'a> Model<'a> {
    pub(super) fn read(file: &'a [u8]) -> Self {
        let mut model = Self {
            file,
            header: Ok(()),
            frames: Vec::new(),
            counting_frames: HashMap::new(),
            frame_fault: None,
            kernels: Table::default(),
            types: Table::default(),
            functions: Table::default(),
            signatures: Vec::new(),
            bodies: Vec::new(),
            attributes: Table::default(),
            attribute_texts: HashMap::new(),
            attribute_names: Table::default(),
            register_types: Table::default(),
            flags: Table::default(),
            flags_of_kernels: HashMap::new(),
        };
        model.read_frames();
        let cursor = |id| model.cursor(id);
        let names = |section, wording: names::Wording| {
            Table::read(cursor(section), wording.count, |cursor| {
                names::read_name(cursor, Checks::Form, wording)
            })
        };
        let kernels = names(SectionId::Kernels, names::KERNELS);
        let types = names(SectionId::Types, names::TYPES);
        let mut signatures = Vec::new();
        let functions = Table::read(
            cursor(SectionId::FunctionIndex),
            function_index::COUNT,
            |cursor| FunctionEntry::read(cursor, Checks::Form, &mut signatures),
        );
        let flags = Table::read(
            cursor(SectionId::KernelFlags),
            kernel_flags::COUNT,
            |cursor| FlagTable::read(cursor, Checks::Form, None),
        );
        model.kernels = kernels;
        model.types = types;
        model.functions = functions;
        model.signatures = signatures;
        model.flags = flags;
        model.bodies = model.find_bodies();
        model.flags_of_kernels = model.find_flags();
        model.read_attributes();
        let num_attributes = model.count_attributes();
        model.attribute_names = model.read_by_function(
            SectionId::AttributeNames,
            "a number of kernels",
            |cursor, function, _| {
                let num_attributes = *num_attributes.get(&function)?;
                let mut names = Vec::new();
                let read =
                    attribute_names::read_names(cursor, Checks::Form, num_attributes, &mut names);
                Some(read.map(|()| names))
            },
        );
        model.register_types = model.read_by_function(
            SectionId::RegisterTypes,
            "a number of registers",
            |cursor, _, num_registers| {
                Some(register_types::read_types(
                    cursor,
                    Checks::Form,
                    num_registers,
                ))
            },
        );
        model
    }

    fn read_frames(&mut self) {
        let mut cursor = Cursor::new(self.file);
        self.header = sections::read_file_header(&mut cursor);
        if self.header.is_err() {
            return;
        }
        let mut start = cursor.offset();
        for frame in sections::frames(cursor) {
            match frame {
                Ok(frame) => {
                    start = frame.data.end;
                    self.push_frame(frame);
                }
                Err(fault) => self.push_cut_off_frame(start, fault),
            }
        }
    }

    /// Adds the last section, which starts at `start` and has a fault. The available part of a
    /// truncated section can still be read.
    fn push_cut_off_frame(&mut self, start: usize, fault: Fault) {
        let mut cursor = Cursor::new(self.file);
        let (Some(_), Some(&raw_id)) = (cursor.take(start), self.file.get(start)) else {
            invariant::broken("a section that was read has an id")
        };
        let mut frame = Frame {
            raw_id,
            header: start..self.file.len(),
            data: 0..0,
        };
        match cut_off_data(&mut cursor) {
            Some(data) => {
                frame.header.end = data.start;
                frame.data = data;
                self.push_frame(frame);
            }
            None => self.frame_fault = Some((frame, fault)),
        }
    }

    fn push_frame(&mut self, frame: Frame) {
        self.counting_frames.insert(frame.raw_id, self.frames.len());
        self.frames.push(frame);
    }

    /// Returns the effective frame of the sections with this id.
    pub(super) fn frame(&self, id: SectionId) -> Option<&Frame> {
        let &index = self.counting_frames.get(&(id as u8))?;
        self.frames.get(index)
    }

    /// Returns the data of a section, which is empty if the section is missing.
    fn data(&self, id: SectionId) -> &'a [u8] {
        self.frame(id)
            .map_or(&[], |frame| &self.file[frame.data.clone()])
    }

    fn cursor(&self, id: SectionId) -> Option<Cursor<'a>> {
        let data = self.frame(id)?.data.clone();
        let start = data.start;
        Some(Cursor::in_section(&self.file[data], start, id))
    }

    fn find_bodies(&self) -> Vec<BodyPlace> {
        let section = self
            .frame(SectionId::Functions)
            .map_or(0..0, |frame| frame.data.clone());
        let start_of = |entry: &FunctionEntry| {
            let offset = usize::try_from(entry.body_offset).ok()?;
            (entry.has_body() && offset < section.len()).then(|| section.start + offset)
        };
        let mut starts: Vec<(usize, usize)> = self
            .functions
            .entries
            .iter()
            .enumerate()
            .filter_map(|(function, entry)| Some((start_of(&entry.value)?, function)))
            .collect();
        starts.sort_unstable();
        starts.dedup_by_key(|&mut (start, _)| start);
        let ends = starts
            .iter()
            .skip(1)
            .map(|&(start, _)| start)
            .chain([section.end]);
        starts
            .iter()
            .zip(ends)
            .map(|(&(start, function), end)| BodyPlace {
                function,
                range: start..end,
            })
            .collect()
    }

    fn read_attributes(&mut self) {
        let data = self.data(SectionId::Attributes);
        let base = self
            .frame(SectionId::Attributes)
            .map_or(0, |frame| frame.data.start);
        let mut checker = AttributeChecker::new(data, base);
        // An empty section is equivalent to a missing one.
        let cursor = self
            .cursor(SectionId::AttributeTypes)
            .filter(|cursor| cursor.remaining() != 0);
        self.attributes = Table::read(cursor, attribute_types::COUNT, |cursor| {
            let at = cursor.clone();
            let entry = AttributeEntry::read(cursor, 1 << u32::BITS)?;
            let value = checker.check(&at, entry).and_then(|(code, end)| {
                let value = decode::decode(data, raw(entry.offset), code);
                let value = value.map_err(|error| checker.fault(code, &error))?;
                Ok((base + end, text::attribute(&value)))
            });
            Ok(Attribute { entry, value })
        });
        let texts = self.attributes.entries.iter().filter_map(|entry| {
            let (_, text) = entry.value.value.as_ref().ok()?;
            Some((raw(entry.value.entry.offset), text.clone()))
        });
        self.attribute_texts = texts.collect();
    }

    /// Reads a section with a table for every function that has a body: a count, which `what`
    /// describes, and what `read` returns for the function and the count, or `None` if it needs a
    /// body that cannot be read.
    fn read_by_function<T>(
        &self,
        section: SectionId,
        what: &str,
        read: impl Fn(&mut Cursor<'a>, usize, u64) -> Option<Result<Vec<T>, Fault>>,
    ) -> Table<Vec<T>> {
        let mut function = 0;
        let cursor = self
            .cursor(section)
            .filter(|cursor| cursor.remaining() != 0);
        Table::read(cursor, function_index::COUNT, |cursor| {
            let at = cursor.clone();
            let current = function;
            function += 1;
            match self.functions.get(current) {
                Some(entry) if !entry.has_body() => return Ok(Vec::new()),
                Some(_) => {}
                None => {
                    let found = self.functions.entries.len();
                    return Err(at.fault(format!(
                        "expected as many functions as in the index, found more than {found}"
                    )));
                }
            }
            let count = cursor.vbr(what)?;
            read(cursor, current, count).unwrap_or_else(|| {
                Err(at.fault(format!(
                    "expected function {current} with a valid body, found none"
                )))
            })
        })
    }

    fn find_flags(&self) -> HashMap<(usize, usize), StoredFlags> {
        let entries = self.flags.entries.iter().map(|entry| &entry.value);
        let flags = entries.flat_map(|entry| {
            let function = entry.function.index();
            entry
                .flags
                .iter()
                .map(move |&(kernel, flags)| ((function, kernel.index()), flags))
        });
        flags.collect()
    }

    /// Returns the total number of attributes of the kernels of every function whose body can be
    /// read.
    fn count_attributes(&self) -> HashMap<usize, usize> {
        self.bodies
            .iter()
            .filter_map(|place| Some((place.function, self.num_attributes(place)?)))
            .collect()
    }

    fn num_attributes(&self, place: &BodyPlace) -> Option<usize> {
        let num_results = self.functions.get(place.function)?.results.len();
        let mut cursor = self.body_cursor(place);
        let body = RawBody::read(&mut cursor, self.bodies_start(), num_results).ok()?;
        let words = words(&self.file[body.records.clone()]);
        let records = body.locate(&words);
        let attributes = records.map(|located| Some(located.ok()?.record.attributes.len()));
        attributes.sum()
    }

    /// Returns the offset of the Functions section in the file.
    pub(super) fn bodies_start(&self) -> usize {
        self.frame(SectionId::Functions)
            .map_or(0, |frame| frame.data.start)
    }

    /// Returns the types of the arguments of a function, and those of its results.
    pub(super) fn signature(&self, entry: &FunctionEntry) -> [&[TypeNameId]; 2] {
        [&entry.arguments, &entry.results].map(|types| &self.signatures[types.clone()])
    }

    /// Returns a cursor at the start of a body.
    pub(super) fn body_cursor(&self, place: &BodyPlace) -> Cursor<'a> {
        let bytes = &self.file[place.range.clone()];
        Cursor::in_section(bytes, place.range.start, SectionId::Functions)
    }

    /// Returns the string at `offset` of Strings, safe to print.
    pub(super) fn string(&self, offset: StringOffset) -> String {
        let offset = offset.index();
        match self.data(SectionId::Strings).get(offset..) {
            Some(rest) if !rest.is_empty() => {
                // Bound the search by what is shown: many names may share one long string.
                let rest = &rest[..rest.len().min(text::MAX_TEXT_BYTES)];
                text::plain(string_at(rest, 0))
            }
            _ => format!("(unknown string at {offset})"),
        }
    }

    pub(super) fn kernel_name(&self, code: KernelCode) -> String {
        let code = code.index();
        self.kernels.get(code).map_or_else(
            || format!("(unknown kernel {code})"),
            |&name| self.string(name),
        )
    }

    pub(super) fn type_name(&self, index: TypeNameId) -> String {
        let index = index.index();
        self.types.get(index).map_or_else(
            || format!("(unknown type {index})"),
            |&name| self.string(name),
        )
    }

    /// `fn3 @name`.
    pub(super) fn function_name(&self, function: usize) -> String {
        match self.functions.get(function) {
            None => format!("fn{function} (unknown function)"),
            Some(entry) => match self.string(entry.name) {
                name if name.is_empty() => format!("fn{function} (region)"),
                name => format!("fn{function} @{name}"),
            },
        }
    }

    /// Returns the place recorded at `offset`, safe to print.
    pub(super) fn place(&self, offset: u32) -> String {
        let location: LocationOffset = id(offset);
        let records = self.data(SectionId::Locations);
        let strings = self.data(SectionId::LocationStrings);
        match locations::read(records, strings, location.index()) {
            Some(location) => text::plain(location.place().to_string().as_bytes()),
            None => format!("unknown location (loc+{offset})"),
        }
    }

    /// Returns the location record at `offset` of Locations, safe to print, and the offset after
    /// it.
    pub(super) fn location(&self, offset: usize) -> Option<(String, usize)> {
        let records = self.data(SectionId::Locations);
        let strings = self.data(SectionId::LocationStrings);
        let (location, end) = locations::read_with_end(records, strings, offset)?;
        Some((text::plain(location.place().to_string().as_bytes()), end))
    }

    /// Returns the text of the attribute at `offset`, or its offset if its type is not known.
    pub(super) fn attribute(&self, offset: u32) -> String {
        match self.attribute_texts.get(&offset) {
            Some(text) => format!("{text}  (attr+{offset})"),
            None => format!("attr+{offset}"),
        }
    }

    /// Returns the flags of a kernel, if it has an entry.
    pub(super) fn kernel_flags(&self, function: usize, kernel: usize) -> Option<StoredFlags> {
        self.flags_of_kernels.get(&(function, kernel)).copied()
    }
}

/// Returns the range of the data of the section at `cursor`, if only its end is missing.
fn cut_off_data(cursor: &mut Cursor<'_>) -> Option<Range<usize>> {
    cursor.u8("a section id").ok()?;
    let length_field = cursor.vbr("a length").ok()?;
    if length_field & SECTION_ALIGNED_BIT != 0 {
        let alignment = cursor.u8("an alignment").ok()?;
        if !alignment.is_power_of_two() {
            return None;
        }
        let offset = cursor.offset();
        cursor.take(offset.next_multiple_of(alignment.into()) - offset)?;
    }
    let start = cursor.offset();
    Some(start..start + cursor.remaining())
}

/// Formats flags.
pub(super) fn flags_text(flags: StoredFlags) -> String {
    match flags.known() {
        Some(flags) if flags.is_non_strict() => "non-strict".to_owned(),
        Some(_) => "no flags".to_owned(),
        None => format!("unknown flags {:#x}", flags.0),
    }
}

/// Returns the words of the records of a body, which may be unaligned.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|&word| u32::from_le_bytes(word)).collect()
}
