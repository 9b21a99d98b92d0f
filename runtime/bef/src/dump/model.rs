//! The readable content of a file: [tables](super::table) that may end early, and names that may be
//! missing.

use std::collections::HashMap;
use std::ops::Range;

use tfrt_attr::{AttrTypeCode, decode, verify};
use tfrt_support::entity::EntityId;

use super::table::Table;
use super::text;
use crate::cursor::Cursor;
use crate::error::{BefError, Fault};
use crate::format::{KernelFlags, RECORD_ALIGNMENT, SECTION_ALIGNED_BIT, SectionId};
use crate::ids::{LocationOffset, id};
use crate::read::functions::{KernelRecord, RawBody};
use crate::read::strings::string_at;
use crate::read::{locations, sections};
use tfrt_support::FunctionKind;

/// The frame of a section.
pub(super) struct Frame {
    /// The id.
    pub(super) raw_id: u8,
    /// From the id to the data.
    pub(super) header: Range<usize>,
    pub(super) data: Range<usize>,
}

/// The index entry of a function.
pub(super) struct IndexEntry {
    pub(super) raw_kind: u8,
    pub(super) body_offset: u64,
    pub(super) name: u32,
    pub(super) arguments: Vec<u32>,
    pub(super) results: Vec<u32>,
}

impl IndexEntry {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        Ok(Self {
            raw_kind: cursor.u8("the kind of a function")?,
            body_offset: cursor.vbr("the offset of a body")?,
            name: cursor.vbr_u32("the name of a function")?,
            arguments: read_types(cursor)?,
            results: read_types(cursor)?,
        })
    }

    pub(super) fn has_body(&self) -> bool {
        FunctionKind::from_raw(self.raw_kind).is_some_and(FunctionKind::has_body)
    }
}

fn read_types(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, Fault> {
    let count = cursor.count("a number of types")?;
    read_ids(cursor, count, "a type index")
}

fn read_ids(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<Vec<u32>, Fault> {
    (0..count).map(|_| cursor.vbr_u32(what)).collect()
}

/// An attribute, according to the AttributeTypes section.
pub(super) struct Attribute {
    pub(super) offset: u32,
    pub(super) raw_code: u64,
    /// The end of the value in the file, and its text.
    pub(super) value: Result<(usize, String), Fault>,
}

/// The flags of the kernels of one function.
pub(super) struct FlagEntry {
    pub(super) function: u32,
    /// Kernels with their flags.
    pub(super) flags: Vec<(u32, u64)>,
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
    pub(super) kernels: Table<u32>,
    pub(super) types: Table<u32>,
    pub(super) functions: Table<IndexEntry>,
    /// In file order.
    pub(super) bodies: Vec<BodyPlace>,
    pub(super) attributes: Table<Attribute>,
    attribute_texts: HashMap<u32, String>,
    /// For each function, the names of the attributes of all its kernels.
    pub(super) attribute_names: Table<Vec<u32>>,
    /// For each function, the types of its registers.
    pub(super) register_types: Table<Vec<u32>>,
    pub(super) flags: Table<FlagEntry>,
    /// By function and kernel.
    flag_bits: HashMap<(usize, usize), u64>,
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
            bodies: Vec::new(),
            attributes: Table::default(),
            attribute_texts: HashMap::new(),
            attribute_names: Table::default(),
            register_types: Table::default(),
            flags: Table::default(),
            flag_bits: HashMap::new(),
        };
        model.read_frames();
        let cursor = |id| model.cursor(id);
        let kernels = Table::read(
            cursor(SectionId::Kernels),
            "a number of kernels",
            |cursor| cursor.vbr_u32("the name of a kernel"),
        );
        let types = Table::read(cursor(SectionId::Types), "a number of types", |cursor| {
            cursor.vbr_u32("the name of a type")
        });
        let functions = Table::read(
            cursor(SectionId::FunctionIndex),
            "a number of functions",
            IndexEntry::read,
        );
        let flags = Table::read(
            cursor(SectionId::KernelFlags),
            "a number of functions",
            read_flags,
        );
        model.kernels = kernels;
        model.types = types;
        model.functions = functions;
        model.flags = flags;
        model.bodies = model.find_bodies();
        model.flag_bits = model.find_flags();
        model.read_attributes();
        let num_attributes = model.count_attributes();
        model.attribute_names = model.read_by_function(
            SectionId::AttributeNames,
            "a number of kernels",
            |function, _| num_attributes.get(&function).copied(),
            "the name of an attribute",
        );
        model.register_types = model.read_by_function(
            SectionId::RegisterTypes,
            "a number of registers",
            |_, num_registers| usize::try_from(num_registers).ok(),
            "a type index",
        );
        model
    }

    fn read_frames(&mut self) {
        let mut cursor = Cursor::new(self.file);
        self.header = sections::read_file_header(&mut cursor);
        if self.header.is_err() {
            return;
        }
        while cursor.remaining() != 0 {
            let at = cursor.clone();
            let start = cursor.offset();
            let raw_id = cursor.rest()[0];
            match sections::read_section(&mut cursor) {
                Ok((raw_id, data)) => self.push_frame(Frame {
                    raw_id,
                    header: start..data.start,
                    data,
                }),
                Err(fault) => {
                    let mut frame = Frame {
                        raw_id,
                        header: start..self.file.len(),
                        data: 0..0,
                    };
                    // The available part of a truncated section can still be read.
                    if let Some(data) = cut_off_data(&mut at.clone()) {
                        frame.header.end = data.start;
                        frame.data = data;
                        self.push_frame(frame);
                    } else {
                        self.frame_fault = Some((frame, fault));
                    }
                    return;
                }
            }
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
        let start_of = |entry: &IndexEntry| {
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
        let mut end = 0;
        // An empty section is equivalent to a missing one.
        let cursor = self
            .cursor(SectionId::AttributeTypes)
            .filter(|cursor| cursor.remaining() != 0);
        self.attributes = Table::read(cursor, "a number of attributes", |cursor| {
            let at = cursor.clone();
            let offset = cursor.vbr_u32("the offset of an attribute")?;
            let raw_code = cursor.vbr("the type code of an attribute")?;
            let value = match (offset as usize) < end {
                // Overlapping attributes would be read again and again.
                true => Err(at.fault(format!(
                    "expected an attribute at offset {end} or above, found one at {offset}"
                ))),
                false => read_attribute(data, base, offset, raw_code, &at),
            };
            if let Ok((value_end, _)) = &value {
                end = value_end - base;
            }
            Ok(Attribute {
                offset,
                raw_code,
                value,
            })
        });
        let texts = self.attributes.entries.iter().filter_map(|entry| {
            let (_, text) = entry.value.value.as_ref().ok()?;
            Some((entry.value.offset, text.clone()))
        });
        self.attribute_texts = texts.collect();
    }

    /// Reads a section with a table for every function that has a body: a count, which `what`
    /// describes, and as many ids as `len` returns for the function and the count.
    fn read_by_function(
        &self,
        section: SectionId,
        what: &str,
        len: impl Fn(usize, u64) -> Option<usize>,
        id: &str,
    ) -> Table<Vec<u32>> {
        let mut function = 0;
        let cursor = self
            .cursor(section)
            .filter(|cursor| cursor.remaining() != 0);
        Table::read(cursor, "a number of functions", |cursor| {
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
            let len = len(current, count).ok_or_else(|| {
                at.fault(format!(
                    "expected function {current} with a sound body, found none"
                ))
            })?;
            read_ids(cursor, len, id)
        })
    }

    fn find_flags(&self) -> HashMap<(usize, usize), u64> {
        let entries = self.flags.entries.iter().map(|entry| &entry.value);
        let flags = entries.flat_map(|entry| {
            let function = entry.function as usize;
            entry
                .flags
                .iter()
                .map(move |&(kernel, bits)| ((function, kernel as usize), bits))
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
        let body = RawBody::read(&mut cursor, num_results).ok()?;
        let words = words(&self.file[body.records.clone()]);
        let attributes = body.kernels.iter().map(|kernel| {
            let start = kernel.record_offset as usize / RECORD_ALIGNMENT;
            let (record, _) = KernelRecord::read(&words, start)?;
            Some(record.attributes.len())
        });
        attributes.sum()
    }

    /// Returns a cursor at the start of a body.
    pub(super) fn body_cursor(&self, place: &BodyPlace) -> Cursor<'a> {
        let bytes = &self.file[place.range.clone()];
        Cursor::in_section(bytes, place.range.start, SectionId::Functions)
    }

    /// Returns the string at `offset` of Strings, safe to print.
    pub(super) fn string(&self, offset: u32) -> String {
        match self.data(SectionId::Strings).get(offset as usize..) {
            Some(rest) if !rest.is_empty() => {
                // Bound the search by what is shown: many names may share one long string.
                let rest = &rest[..rest.len().min(text::MAX_TEXT_BYTES)];
                text::plain(string_at(rest, 0))
            }
            _ => format!("(no string at {offset})"),
        }
    }

    pub(super) fn kernel_name(&self, code: u32) -> String {
        self.kernels
            .get(code as usize)
            .map_or_else(|| format!("(no kernel {code})"), |&name| self.string(name))
    }

    pub(super) fn type_name(&self, index: u32) -> String {
        self.types
            .get(index as usize)
            .map_or_else(|| format!("(no type {index})"), |&name| self.string(name))
    }

    /// `fn3 @name`.
    pub(super) fn function_name(&self, function: usize) -> String {
        match self.functions.get(function) {
            None => format!("fn{function} (no function)"),
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
            None => format!("nowhere (loc+{offset})"),
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

    /// Returns the flags of a kernel.
    pub(super) fn kernel_flags(&self, function: usize, kernel: usize) -> u64 {
        self.flag_bits
            .get(&(function, kernel))
            .copied()
            .unwrap_or_default()
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

/// Reads the attribute at `offset` of the section `data`, which starts at `base` in the file; `at`
/// is at the entry of the attribute.
fn read_attribute(
    data: &[u8],
    base: usize,
    offset: u32,
    raw_code: u64,
    at: &Cursor<'_>,
) -> Result<(usize, String), Fault> {
    let code = u8::try_from(raw_code)
        .ok()
        .and_then(AttrTypeCode::from_raw)
        .ok_or_else(|| at.fault(format!("expected an attribute type code, found {raw_code}")))?;
    let invalid = |error: tfrt_attr::AttrError| {
        let offset = base + error.offset();
        Fault::new(SectionId::Attributes, offset, format!("{code}: {error}"))
    };
    let end = verify::verify(data, offset, code).map_err(invalid)?;
    let value = decode::decode(data, offset, code).map_err(invalid)?;
    Ok((base + end, text::attribute(&value)))
}

fn read_flags(cursor: &mut Cursor<'_>) -> Result<FlagEntry, Fault> {
    let function = cursor.vbr_u32("a function id")?;
    let count = cursor.count("a number of kernels")?;
    let flags = (0..count)
        .map(|_| {
            let kernel = cursor.vbr_u32("a kernel index")?;
            Ok((kernel, cursor.vbr("flags of a kernel")?))
        })
        .collect::<Result<_, Fault>>()?;
    Ok(FlagEntry { function, flags })
}

/// Formats flags.
pub(super) fn flags_text(bits: u64) -> String {
    match KernelFlags::from_bits(bits) {
        Some(flags) if flags.is_non_strict() => "non-strict".to_owned(),
        Some(_) => "no flag".to_owned(),
        None => format!("unknown flags {bits:#x}"),
    }
}

/// Returns the words of the records of a body, which may be unaligned.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|&word| u32::from_le_bytes(word)).collect()
}
