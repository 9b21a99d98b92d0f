//! The sections in file order, and the lines of each except Functions.

use std::io;
use std::ops::Range;

use tfrt_support::entity::EntityId;

use super::listing::Listing;
use super::model::{Model, flags_text};
use super::table::Table;
use super::text::{self, count};
use super::{DumpOptions, bodies};
use crate::error::Fault;
use crate::format::{MAGIC, SectionId, VERSION};
use crate::ids::raw;
use crate::read::entries::TableEntry;
use crate::read::sections::Frame;
use crate::read::strings::string_at;
use tfrt_support::FunctionKind;

/// Prints the whole file.
pub(super) fn print<W: io::Write>(
    model: &Model<'_>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let num_bytes = model.file.len();
    let size = count(num_bytes, "byte");
    let header_bytes = num_bytes.min(MAGIC.len() + 1);
    if model.header.is_err() {
        let what = match model.file.starts_with(&MAGIC) {
            true => "BEF of an unknown format version",
            false => "not a BEF file",
        };
        return listing.line(0, 0..num_bytes, format_args!("{what}, {size}"));
    }
    listing.line(
        0,
        0..header_bytes,
        format_args!("BEF, format version {VERSION}, {size}"),
    )?;
    for frame in &model.frames {
        section(model, frame, options, listing)?;
    }
    if let Some((frame, fault)) = &model.frame_fault {
        let name = section_name(frame.raw_id);
        listing.line(
            0,
            frame.header.clone(),
            format_args!("section {} {name}", frame.raw_id),
        )?;
        listing.fault(fault)?;
    }
    Ok(())
}

fn section_name(raw_id: u8) -> String {
    SectionId::from_raw(raw_id).map_or_else(|| "(unknown)".to_owned(), |id| id.to_string())
}

fn section<W: io::Write>(
    model: &Model<'_>,
    frame: &Frame,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let (id, data) = (frame.raw_id, frame.data.clone());
    let (name, size) = (section_name(id), count(data.len(), "byte"));
    let Some(id) = SectionId::from_raw(id) else {
        listing.line(
            0,
            frame.header.clone(),
            format_args!("section {id} {name}, {size}"),
        )?;
        return listing.bytes(1, data, "of an unknown section");
    };
    let counts = model
        .frame(id)
        .is_some_and(|last| std::ptr::eq(last, frame));
    let note = if counts { "" } else { ", replaced below" };
    listing.line(
        0,
        frame.header.clone(),
        format_args!("section {} {name}, {size}{note}", id as u8),
    )?;
    if !counts {
        return listing.bytes(1, data, "that are ignored");
    }
    match id {
        SectionId::Strings => strings(model, &data, "str", listing),
        SectionId::LocationStrings => strings(model, &data, "lstr", listing),
        SectionId::Attributes => attributes(model, &data, listing),
        SectionId::Kernels => table(&model.kernels, "kernel", &data, listing, |number, &name| {
            format!("kernel {number} {}", model.string(name))
        }),
        SectionId::Types => table(&model.types, "type", &data, listing, |number, &name| {
            format!("type {number} {}", model.string(name))
        }),
        SectionId::FunctionIndex => {
            table(&model.functions, "function", &data, listing, |number, _| {
                function(model, number)
            })
        }
        SectionId::Functions => bodies::print(model, &data, options, listing),
        SectionId::Locations => locations(model, &data, listing),
        SectionId::AttributeTypes => table(
            &model.attributes,
            "attribute",
            &data,
            listing,
            |_, attribute| {
                let code = attribute.entry.code().map_or_else(
                    || format!("unknown code {}", attribute.entry.raw_code),
                    |code| code.to_string(),
                );
                format!("attr+{} {code}", raw(attribute.entry.offset))
            },
        ),
        SectionId::AttributeNames => {
            by_function(model, &model.attribute_names, &data, listing, |&name| {
                model.string(name)
            })
        }
        SectionId::RegisterTypes => {
            by_function(model, &model.register_types, &data, listing, |&index| {
                model.type_name(index)
            })
        }
        SectionId::KernelFlags => table(&model.flags, "function", &data, listing, |_, entry| {
            let flags = text::list(&entry.flags, |&(kernel, flags)| {
                format!("{kernel:?} {}", flags_text(flags))
            });
            format!("{}: {flags}", model.function_name(entry.function.index()))
        }),
    }
}

/// Prints a table: its count, its entries, the fault that ends it early, and the bytes after it.
fn table<T, W: io::Write>(
    table: &Table<T>,
    what: &str,
    data: &Range<usize>,
    listing: &mut Listing<'_, W>,
    mut text: impl FnMut(usize, &T) -> String,
) -> io::Result<()> {
    let mut end = data.start;
    if let Some(TableEntry { range, value }) = &table.count {
        let number = usize::try_from(*value).unwrap_or(usize::MAX);
        listing.line(1, range.clone(), count(number, what))?;
        end = range.end;
    }
    for (number, entry) in table.entries.iter().enumerate() {
        listing.line(1, entry.range.clone(), text(number, &entry.value))?;
        end = entry.range.end;
    }
    match &table.fault {
        Some(fault) => {
            listing.bytes(1, end..data.end, "that cannot be read")?;
            listing.fault(fault)
        }
        None => listing.bytes(1, end..data.end, "after the table"),
    }
}

/// Prints a table of ids for every function.
fn by_function<T, W: io::Write>(
    model: &Model<'_>,
    ids: &Table<Vec<T>>,
    data: &Range<usize>,
    listing: &mut Listing<'_, W>,
    text: impl Fn(&T) -> String,
) -> io::Result<()> {
    table(ids, "function", data, listing, |function, ids| {
        let texts = text::list(ids, &text);
        let line = format!("{}: {texts}", model.function_name(function));
        line.trim_end_matches([' ', ':']).to_owned()
    })
}

fn strings<W: io::Write>(
    model: &Model<'_>,
    data: &Range<usize>,
    prefix: &str,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let mut start = data.start;
    while start < data.end {
        let bytes = string_at(&model.file[start..data.end], 0);
        let end = start + bytes.len();
        let offset = start - data.start;
        let string = text::quoted(bytes);
        listing.line(
            1,
            start..data.end.min(end + 1),
            format_args!("{prefix}+{offset} {string}"),
        )?;
        if end == data.end {
            let message = "expected a zero byte after the string, found the end of the section";
            return listing.fault(&Fault::new(None, start, message));
        }
        start = end + 1;
    }
    Ok(())
}

fn attributes<W: io::Write>(
    model: &Model<'_>,
    data: &Range<usize>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let mut end = data.start;
    for entry in &model.attributes.entries {
        let attribute = &entry.value;
        match &attribute.value {
            Ok((value_end, text)) => {
                let offset = raw(attribute.entry.offset);
                let start = data.start + offset as usize;
                listing.bytes(1, end..start, "of padding")?;
                listing.line(1, start..*value_end, format_args!("attr+{offset} {text}"))?;
                end = *value_end;
            }
            Err(fault) if fault.section == Some(SectionId::Attributes) => {
                listing.fault(fault)?;
            }
            // The error is in the AttributeTypes section.
            Err(_) => {}
        }
    }
    listing.bytes(1, end..data.end, "without a recorded type")
}

fn function(model: &Model<'_>, number: usize) -> String {
    let Some(entry) = model.functions.get(number) else {
        return String::new();
    };
    let kind = match entry.stored_kind.known() {
        Some(FunctionKind::Async) => "async".to_owned(),
        Some(FunctionKind::Native) => "native".to_owned(),
        Some(FunctionKind::Sync) => "sync".to_owned(),
        None => format!("unknown kind {}", entry.stored_kind.0),
    };
    let [arguments, results] = model
        .signature(entry)
        .map(|types| text::list(types, |&index| model.type_name(index)));
    let place = match entry.has_body() {
        true => format!(", body+{:#x}", entry.body_offset),
        false => String::new(),
    };
    format!(
        "{} {kind} ({arguments}) -> ({results}){place}",
        model.function_name(number)
    )
}

fn locations<W: io::Write>(
    model: &Model<'_>,
    data: &Range<usize>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let mut offset = 0;
    while offset < data.len() {
        let start = data.start + offset;
        let Some((text, end)) = model.location(offset) else {
            listing.bytes(1, start..data.end, "that cannot be read")?;
            let message = "expected a location record, found none";
            return listing.fault(&Fault::new(SectionId::Locations, start, message));
        };
        listing.line(
            1,
            start..data.start + end,
            format_args!("loc+{offset} {text}"),
        )?;
        offset = end;
    }
    Ok(())
}
