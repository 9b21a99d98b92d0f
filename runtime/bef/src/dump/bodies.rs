//! The lines of the Functions section.

use std::io;
use std::ops::Range;

use tfrt_support::entity::EntityId;

use super::DumpOptions;
use super::listing::Listing;
use super::model::{BodyPlace, Model, flags_text, words};
use super::text::{self, count};
use crate::cursor::Cursor;
use crate::error::{BodyPart, Fault};
use crate::format::{KernelFlags, PSEUDO_KERNEL, RECORD_ALIGNMENT};
use crate::ids::{StringOffset, raw};
use crate::read::functions::{BodyItem, KernelRecord, LocatedRecord, RawBody};

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

impl From<(BodyPart, Fault)> for Stop {
    fn from((_, fault): (BodyPart, Fault)) -> Self {
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
    listing.bytes(1, data.start..first, "outside of functions")?;
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
    names: std::slice::Iter<'a, StringOffset>,
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
    let num_results = model
        .functions
        .get(function)
        .map_or(0, |entry| entry.results.len());
    let read = RawBody::read_with(cursor, model.bodies_start(), num_results, |range, item| {
        Ok::<_, Stop>(head_item(model, function, range, item, listing)?)
    });
    records(model, place, cursor, &read?, names, options, listing)
}

/// Prints a part of a body in front of its records.
fn head_item<W: io::Write>(
    model: &Model<'_>,
    function: usize,
    range: Range<usize>,
    item: BodyItem,
    listing: &mut Listing<'_, W>,
) -> io::Result<()> {
    match item {
        BodyItem::Location(location) => {
            let (name, at) = (model.function_name(function), model.place(raw(location)));
            listing.line(1, range, format_args!("{name} at {at}"))
        }
        BodyItem::NumRegisters(number) => listing.line(2, range, count(number, "register")),
        BodyItem::UseCount {
            register,
            count: uses,
        } => {
            let ty = register_type(model, function, register)
                .map_or_else(String::new, |ty| format!(" {ty}"));
            let what = count(uses as usize, "use");
            listing.line(3, range, format_args!("r{register}{ty}, {what}"))
        }
        BodyItem::NumKernels(number) => listing.line(2, range, count(number, "kernel")),
        BodyItem::Kernel { kernel, entry } => {
            let (offset, stream) = (entry.record_offset, entry.stream);
            let operands = count(entry.num_operands as usize, "operand");
            let what = format_args!("k{kernel} at +{offset:#x}, {operands}, stream {stream}");
            listing.line(3, range, what)
        }
        BodyItem::Result { position, register } => {
            listing.line(2, range, format_args!("result {position} is {register:?}"))
        }
        BodyItem::Padding => listing.bytes(2, range, "of padding"),
    }
}

/// Prints the records, which start at the cursor.
fn records<W: io::Write>(
    model: &Model<'_>,
    place: &BodyPlace,
    cursor: &mut Cursor<'_>,
    body: &RawBody,
    names: &mut Names<'_>,
    options: DumpOptions<'_>,
    listing: &mut Listing<'_, W>,
) -> Result<(), Stop> {
    let base = cursor.offset();
    let words = words(cursor.rest());
    for (kernel, located) in body.locate(&words).enumerate() {
        let LocatedRecord { record, words } = located?;
        let start = base + words.start * RECORD_ALIGNMENT;
        let range = start..start + words.len() * RECORD_ALIGNMENT;
        let gap = cursor.offset()..range.start;
        listing.bytes(2, gap.clone(), "outside of kernels")?;
        let lines = match kernel == PSEUDO_KERNEL as usize {
            true => pseudo_kernel(&record),
            false => kernel_lines(model, place.function, kernel, &record, names),
        };
        // In bounds: the record was read from the words after the cursor.
        let _ = cursor.take(gap.len() + range.len());
        listing.record(2, range, &lines)?;
        if kernel != PSEUDO_KERNEL as usize {
            remarks(model, place.function, &record, options, listing)?;
        }
    }
    listing.bytes(2, cursor.offset()..place.range.end, "outside of kernels")?;
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
    head += &model.kernel_name(record.code);
    head += &format!("({})", registers(record.operands.as_words()));
    if let Some(flags) = model.kernel_flags(function, kernel)
        && flags.known() != Some(KernelFlags::NONE)
    {
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
    let kernel = model.kernel_name(record.code);
    for (position, register) in record.results.iter().enumerate() {
        let recorded = register_type(model, function, register.index());
        let declared = declared_results(&kernel, position);
        if let (Some(recorded), Some(declared)) = (recorded, declared)
            && recorded != declared
        {
            listing.remark(format_args!(
                "RegisterTypes records {register:?} as {recorded}, but `{kernel}` returns \
                 {declared}"
            ))?;
        }
    }
    Ok(())
}
