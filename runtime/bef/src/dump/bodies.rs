//! The lines of the Functions section.

use std::io;
use std::ops::Range;

use tfrt_support::entity::EntityId;

use super::DumpOptions;
use super::listing::Listing;
use super::model::{BodyPlace, Model, flags_text, words};
use super::table::{TableEntry, entry};
use super::text::{self, count};
use crate::cursor::Cursor;
use crate::error::Fault;
use crate::format::{PSEUDO_KERNEL, RECORD_ALIGNMENT, SectionId};
use crate::ids::raw;
use crate::read::functions::KernelRecord;

/// The reason why printing a body stopped: the body is damaged, or the output cannot be written.
enum Stop {
    Fault(Fault),
    Output(io::Error),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Prints every body, and the bytes between them.
pub(super) fn print<W: io::Write>(
    model: &Model<'_>,
    data: &Range<usize>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let first = model
        .bodies
        .first()
        .map_or(data.end, |place| place.range.start);
    listing.bytes(1, data.start..first, "of no function")?;
    for place in &model.bodies {
        let mut names = Names::of(model, place.function);
        let mut cursor = model.body_cursor(place);
        match body(model, place, &mut cursor, &mut names, options, listing) {
            Ok(()) => {}
            Err(Stop::Output(error)) => return Err(error),
            Err(Stop::Fault(fault)) => {
                let rest = cursor.offset()..place.range.end;
                listing.bytes(2, rest, "that cannot be read")?;
                listing.fault(&fault)?;
            }
        }
    }
    Ok(())
}

/// The remaining names of attributes, if there are any.
struct Names<'a> {
    names: std::slice::Iter<'a, u32>,
    has_names: bool,
}

impl<'a> Names<'a> {
    fn of(model: &'a Model<'_>, function: usize) -> Self {
        let names = model.attribute_names.get(function);
        Self {
            names: names.map_or(&[][..], Vec::as_slice).iter(),
            has_names: names.is_some(),
        }
    }

    fn next(&mut self, model: &Model<'_>) -> String {
        match self.names.next() {
            Some(&name) if self.has_names => format!("{} = ", model.string(name)),
            _ => String::new(),
        }
    }
}

fn body<W: io::Write>(
    model: &Model<'_>,
    place: &BodyPlace,
    cursor: &mut Cursor<'_>,
    names: &mut Names<'_>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> Result<(), Stop> {
    let function = place.function;
    let location = entry(cursor, |cursor| cursor.vbr_u32("a location"))?;
    let name = model.function_name(function);
    let at = model.place(location.value);
    listing.line(1, location.range, format_args!("{name} at {at}"))?;

    let num_registers = entry(cursor, |cursor| cursor.count("a number of registers"))?;
    let what = count(num_registers.value, "register");
    listing.line(2, num_registers.range, what)?;
    for register in 0..num_registers.value {
        let uses = entry(cursor, |cursor| cursor.vbr_u32("a use count"))?;
        let ty = register_type(model, function, register)
            .map_or_else(String::new, |ty| format!(" {ty}"));
        let what = count(uses.value as usize, "use");
        listing.line(3, uses.range, format_args!("r{register}{ty}, {what}"))?;
    }

    let num_kernels = entry(cursor, |cursor| cursor.count("a number of kernels"))?;
    let what = count(num_kernels.value, "kernel");
    listing.line(2, num_kernels.range, what)?;
    let mut record_offsets = Vec::new();
    for kernel in 0..num_kernels.value {
        let TableEntry {
            range,
            value: [offset, operands, stream],
        } = entry(cursor, |cursor| {
            Ok([
                cursor.vbr_u32("the offset of a kernel record")?,
                cursor.vbr_u32("a number of operands")?,
                cursor.vbr_u32("a stream")?,
            ])
        })?;
        let operands = count(operands as usize, "operand");
        listing.line(
            3,
            range.clone(),
            format_args!("k{kernel} at +{offset:#x}, {operands}, stream {stream}"),
        )?;
        record_offsets.push((range.start, offset as usize));
    }

    let num_results = model
        .functions
        .get(function)
        .map_or(0, |function| function.results.len());
    for result in 0..num_results {
        let register = entry(cursor, |cursor| {
            cursor.vbr_below("a result register", num_registers.value as u64)
        })?;
        listing.line(
            2,
            register.range,
            format_args!("result {result} is r{}", register.value),
        )?;
    }

    // Padding is relative to the start of the section.
    let base = model
        .frame(SectionId::Functions)
        .map_or(0, |frame| frame.data.start);
    let start = cursor.offset();
    let padding = (start - base).next_multiple_of(RECORD_ALIGNMENT) - (start - base);
    if cursor.take(padding).is_none() {
        let remaining = cursor.remaining();
        let message = format!("expected {padding} bytes of padding, found {remaining}");
        return Err(cursor.fault(message).into());
    }
    listing.bytes(2, start..start + padding, "of padding")?;
    records(
        model,
        place,
        cursor,
        &record_offsets,
        names,
        options,
        listing,
    )
}

/// Prints the records, which start at the cursor; `offsets` are those in the kernel table, each
/// with its own offset in the file.
fn records<W: io::Write>(
    model: &Model<'_>,
    place: &BodyPlace,
    cursor: &mut Cursor<'_>,
    offsets: &[(usize, usize)],
    names: &mut Names<'_>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> Result<(), Stop> {
    let base = cursor.offset();
    let words = words(cursor.rest());
    for (kernel, &(said_at, offset)) in offsets.iter().enumerate() {
        let refused = |expected: &str| {
            let message =
                format!("kernel {kernel}: expected {expected}, found a record offset of {offset}");
            Fault::new(SectionId::Functions, said_at, message)
        };
        if !offset.is_multiple_of(RECORD_ALIGNMENT) {
            return Err(refused("a multiple of 4").into());
        }
        let Some(gap) = (base + offset).checked_sub(cursor.offset()) else {
            return Err(refused("a record behind that of the kernel before").into());
        };
        let Some((record, end)) = KernelRecord::read(&words, offset / RECORD_ALIGNMENT) else {
            return Err(refused("a record that ends in the body").into());
        };
        let range = base + offset..base + end * RECORD_ALIGNMENT;
        listing.bytes(2, cursor.offset()..range.start, "of no kernel")?;
        let lines = match kernel == PSEUDO_KERNEL as usize {
            true => pseudo_kernel(&record),
            false => kernel_lines(model, place.function, kernel, &record, names),
        };
        // In bounds: the record was read from the words after the cursor.
        let _ = cursor.take(gap + range.len());
        listing.record(2, range, &lines)?;
        if kernel != PSEUDO_KERNEL as usize {
            remarks(model, place.function, &record, options, listing)?;
        }
    }
    listing.bytes(2, cursor.offset()..place.range.end, "of no kernel")?;
    Ok(())
}

/// Returns the type of a register according to the RegisterTypes section.
fn register_type(model: &Model<'_>, function: usize, register: usize) -> Option<String> {
    let index = model.register_types.get(function)?.get(register)?;
    Some(model.type_name(*index))
}

fn registers(words: &[u32]) -> String {
    text::list(words, |register| format!("r{register}"))
}

fn kernels(words: &[u32]) -> String {
    text::list(words, |kernel| format!("k{kernel}"))
}

/// Describes the kernel that publishes the arguments.
fn pseudo_kernel(record: &KernelRecord<'_>) -> Vec<String> {
    let mut lines = vec!["k0 publishes the arguments".to_owned()];
    for (number, (register, users)) in record.results_with_users().enumerate() {
        let users = kernels(users.as_words());
        match number {
            _ if users.is_empty() => {}
            0 => lines.push(format!("starts {users}")),
            _ => lines.push(format!("{register:?} used by {users}")),
        }
    }
    lines
}

fn kernel_lines(
    model: &Model<'_>,
    function: usize,
    kernel: usize,
    record: &KernelRecord<'_>,
    names: &mut Names<'_>,
) -> Vec<String> {
    let mut head = format!("k{kernel} ");
    let results = registers(record.results.as_words());
    if !results.is_empty() {
        head += &format!("{results} = ");
    }
    head += &model.kernel_name(raw(record.code));
    head += &format!("({})", registers(record.operands.as_words()));
    let flags = model.kernel_flags(function, kernel);
    if flags != 0 {
        head += &format!(", {}", flags_text(flags));
    }
    let mut lines = vec![head, format!("at {}", model.place(raw(record.location)))];
    for attribute in record.attributes.iter() {
        let name = names.next(model);
        let value = model.attribute(raw(attribute));
        lines.push(format!("attribute {name}{value}"));
    }
    for function in record.functions.iter() {
        lines.push(model.function_name(function.index()));
    }
    for (register, users) in record.results_with_users() {
        if !users.is_empty() {
            lines.push(format!(
                "{register:?} used by {}",
                kernels(users.as_words())
            ));
        }
    }
    lines
}

/// Prints the differences between RegisterTypes and what kernels declare.
fn remarks<W: io::Write>(
    model: &Model<'_>,
    function: usize,
    record: &KernelRecord<'_>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    let Some(declared_results) = options.declared_results else {
        return Ok(());
    };
    let kernel = model.kernel_name(raw(record.code));
    for (position, register) in record.results.iter().enumerate() {
        let recorded = register_type(model, function, register.index());
        let declared = declared_results(&kernel, position);
        if let (Some(recorded), Some(declared)) = (recorded, declared)
            && recorded != declared
        {
            listing.remark(format_args!(
                "RegisterTypes records {register:?} as {recorded}, but `{kernel}` returns {declared}"
            ))?;
        }
    }
    Ok(())
}
