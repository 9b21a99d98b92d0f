//! The Functions section: the bodies.
//!
//! ```text
//!  body := vbr location
//!          vbr R   (vbr use count) × R                        registers: arguments first, then results
//!          vbr K   (vbr record offset, vbr operands, vbr stream) × K       kernels; entry 0 is the pseudo kernel
//!          (vbr register) × results                           as many as the index says
//!          padding to a word
//!          records
//!
//!  record := code | location | arguments | attributes | functions | results      the header, six words
//!            users of a result × results | argument register × arguments | attribute offset × attributes
//!            function id × functions | result register × results | kernel × users, by result
//! ```
//!
//! Record offsets are in bytes from the first record.

use std::ops::Range;

use tfrt_support::entity::EntityId;

use crate::cursor::Cursor;
use crate::error::{BodyPart, Fault};
use crate::format::{RECORD_ALIGNMENT, RECORD_HEADER_WORDS, SectionId};
use crate::ids::{
    AttributeOffset, FunctionId, Ids, KernelCode, KernelId, LocationOffset, RegisterId, id,
};

/// An entry of a kernel table, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawKernelEntry {
    pub(crate) record_offset: u32,
    pub(crate) num_operands: u32,
    pub(crate) stream: u32,
    /// The offset of the entry in the file.
    pub(crate) offset_in_file: usize,
}

/// A body that is parsed but not checked.
#[derive(Clone, Debug)]
pub(crate) struct RawBody {
    pub(crate) location: LocationOffset,
    pub(crate) use_counts: Vec<u32>,
    /// The offset of the use counts in the file.
    pub(crate) use_counts_in_file: usize,
    pub(crate) kernels: Vec<RawKernelEntry>,
    pub(crate) results: Vec<RegisterId>,
    /// The offset of the results in the file.
    pub(crate) results_in_file: usize,
    /// The range of the records in the file: whole words.
    pub(crate) records: Range<usize>,
}

/// A part of the head of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyItem {
    Location(LocationOffset),
    NumRegisters(usize),
    UseCount {
        register: usize,
        count: u32,
    },
    NumKernels(usize),
    Kernel {
        kernel: usize,
        entry: RawKernelEntry,
    },
    Result {
        position: usize,
        register: RegisterId,
    },
    Padding,
}

impl RawBody {
    /// Reads the head of the body at `cursor`, which ends at or before the end of the cursor's
    /// bytes. The section starts at `base` in the file.
    ///
    /// A fault is returned with the part of the body that it is in.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        base: usize,
        num_results: usize,
    ) -> Result<Self, (BodyPart, Fault)> {
        Self::read_with(cursor, base, num_results, |_, _| Ok(()))
    }

    /// Like [`read`](Self::read); calls `visit` with each part and its range in the file, as soon
    /// as it is read. An error of `visit` ends reading.
    pub(crate) fn read_with<E: From<(BodyPart, Fault)>>(
        cursor: &mut Cursor<'_>,
        base: usize,
        num_results: usize,
        mut visit: impl FnMut(Range<usize>, BodyItem) -> Result<(), E>,
    ) -> Result<Self, E> {
        let within = |part: BodyPart| move |fault: Fault| (part, fault);

        let start = cursor.offset();
        let location = id(cursor
            .vbr_u32("a location")
            .map_err(within(BodyPart::Head))?);
        visit(start..cursor.offset(), BodyItem::Location(location))?;
        let start = cursor.offset();
        let num_registers = cursor
            .count("a number of registers")
            .map_err(within(BodyPart::Head))?;
        visit(
            start..cursor.offset(),
            BodyItem::NumRegisters(num_registers),
        )?;
        let use_counts_in_file = cursor.offset();
        // `count` has checked that there is a byte for each.
        let mut use_counts = Vec::with_capacity(num_registers);
        for register in 0..num_registers {
            let start = cursor.offset();
            let count = cursor.vbr_u32("a use count");
            let count = count.map_err(within(BodyPart::UseCounts))?;
            use_counts.push(count);
            visit(
                start..cursor.offset(),
                BodyItem::UseCount { register, count },
            )?;
        }

        let at = cursor.clone();
        let num_kernels = cursor
            .count("a number of kernels")
            .map_err(within(BodyPart::NumKernels))?;
        visit(
            at.offset()..cursor.offset(),
            BodyItem::NumKernels(num_kernels),
        )?;
        if num_kernels == 0 {
            let fault = at.fault("expected at least the pseudo kernel, found no kernels");
            return Err((BodyPart::NumKernels, fault).into());
        }
        // Each entry has three fields of at least one byte.
        let mut kernels = Vec::with_capacity(num_kernels.min(cursor.remaining() / 3));
        for kernel in 0..num_kernels {
            let start = cursor.offset();
            let entry = Self::read_kernel(cursor).map_err(within(BodyPart::KernelTable))?;
            kernels.push(entry);
            visit(start..cursor.offset(), BodyItem::Kernel { kernel, entry })?;
        }

        let results_in_file = cursor.offset();
        let mut results = Vec::new();
        for position in 0..num_results {
            let start = cursor.offset();
            let register = cursor.vbr_below("a result register", num_registers as u64);
            let register = id(register.map_err(within(BodyPart::Results))?);
            results.push(register);
            visit(
                start..cursor.offset(),
                BodyItem::Result { position, register },
            )?;
        }

        let start = cursor.offset();
        let padding = (start - base).next_multiple_of(RECORD_ALIGNMENT) - (start - base);
        if cursor.take(padding).is_none() {
            let message = format!(
                "expected {padding} bytes of padding, found {}",
                cursor.remaining()
            );
            return Err((BodyPart::Alignment, cursor.fault(message)).into());
        }
        visit(start..cursor.offset(), BodyItem::Padding)?;
        let start = cursor.offset();
        let whole_words = cursor.remaining() / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
        let records = start..start + whole_words;
        Ok(Self {
            location,
            use_counts,
            use_counts_in_file,
            kernels,
            results,
            results_in_file,
            records,
        })
    }

    /// Locates the records in their `words`, in the order of the kernel table: each starts at a
    /// word after the previous one. Ends at the first fault.
    pub(crate) fn locate<'a>(
        &'a self,
        words: &'a [u32],
    ) -> impl Iterator<Item = Result<LocatedRecord<'a>, Fault>> {
        let mut end = 0;
        self.kernels.iter().enumerate().map(move |(number, entry)| {
            let offset = entry.record_offset as usize;
            let fault = |expected: &str| {
                let message = format!(
                    "kernel {number}: expected {expected}, found a record offset of {offset}"
                );
                Fault::new(SectionId::Functions, entry.offset_in_file, message)
            };
            if !offset.is_multiple_of(RECORD_ALIGNMENT) {
                return Err(fault("a multiple of 4"));
            }
            let start = offset / RECORD_ALIGNMENT;
            if start < end {
                return Err(fault("a record after that of the previous kernel"));
            }
            let (record, record_end) = KernelRecord::read(words, start)
                .ok_or_else(|| fault("a record within the body"))?;
            end = record_end;
            Ok(LocatedRecord {
                record,
                words: start..end,
            })
        })
    }

    fn read_kernel(cursor: &mut Cursor<'_>) -> Result<RawKernelEntry, Fault> {
        Ok(RawKernelEntry {
            offset_in_file: cursor.offset(),
            record_offset: cursor.vbr_u32("the offset of a kernel record")?,
            num_operands: cursor.vbr_u32("a number of operands")?,
            stream: cursor.vbr_u32("a stream")?,
        })
    }
}

/// A kernel record, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct LocatedRecord<'a> {
    pub(crate) record: KernelRecord<'a>,
    /// Its range in the words of the records.
    pub(crate) words: Range<usize>,
}

/// The content of a kernel record, in place; see
/// [`VerifiedFunction::record`](crate::VerifiedFunction::record).
///
/// ```
/// use tfrt_bef::VerifiedFunction;
///
/// /// One line for every kernel of a function.
/// fn listing(function: &VerifiedFunction) -> Vec<String> {
///     let line = |kernel| {
///         let record = function.record(kernel);
///         let name = function.bef().kernel_name(record.code);
///         format!("{:?} = {name} {:?}", record.results, record.operands)
///     };
///     function.kernels().map(line).collect()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KernelRecord<'a> {
    /// The kernel that it runs. Meaningless for the pseudo kernel.
    pub code: KernelCode,
    /// Its location, which also identifies the operation. Meaningless for the pseudo kernel.
    pub location: LocationOffset,
    /// The registers it reads.
    pub operands: Ids<'a, RegisterId>,
    /// Its attributes, sorted by name.
    pub attributes: Ids<'a, AttributeOffset>,
    /// The functions it refers to: by attributes sorted by name, then by regions.
    pub functions: Ids<'a, FunctionId>,
    /// The registers it defines.
    pub results: Ids<'a, RegisterId>,
    /// The number of users of each result.
    user_counts: &'a [u32],
    users: &'a [u32],
}

impl<'a> KernelRecord<'a> {
    /// Returns the record that starts at word `start` of `words`, and the word after it, or `None`
    /// if it does not fit.
    #[inline]
    pub(crate) fn read(words: &'a [u32], start: usize) -> Option<(Self, usize)> {
        let words = words.get(start..)?;
        let ([code, location, operands, attributes, functions, results], rest) =
            words.split_first_chunk::<RECORD_HEADER_WORDS>()?;
        let split = |rest: &'a [u32], len: u32| rest.split_at_checked(len as usize);
        let (user_counts, rest) = split(rest, *results)?;
        let (operands, rest) = split(rest, *operands)?;
        let (attributes, rest) = split(rest, *attributes)?;
        let (functions, rest) = split(rest, *functions)?;
        let (results, rest) = split(rest, *results)?;
        let num_users = user_counts
            .iter()
            .map(|&count| u64::from(count))
            .sum::<u64>();
        let (users, rest) = rest.split_at_checked(usize::try_from(num_users).ok()?)?;
        let record = Self {
            code: KernelCode::from_index(*code as usize),
            location: LocationOffset::from_index(*location as usize),
            operands: Ids::new(operands),
            attributes: Ids::new(attributes),
            functions: Ids::new(functions),
            results: Ids::new(results),
            user_counts,
            users,
        };
        Some((record, start + words.len() - rest.len()))
    }

    /// Returns the results, each with the kernels that use it: once for each use, in reverse
    /// program order.
    ///
    /// The first result of the pseudo kernel has no value: its users are the kernels without
    /// operands, in program order. Its other results are the arguments.
    #[inline]
    pub fn results_with_users(
        &self,
    ) -> impl ExactSizeIterator<Item = (RegisterId, Ids<'a, KernelId>)> + use<'a> {
        let mut users = self.users;
        self.results
            .iter()
            .zip(self.user_counts)
            .map(move |(register, &count)| {
                // `read` has checked that the list is as long as the sum of the counts.
                let (own, rest) = users.split_at(count as usize);
                users = rest;
                (register, Ids::new(own))
            })
    }

    /// Returns the users of all results, concatenated.
    #[must_use]
    pub fn users(&self) -> Ids<'a, KernelId> {
        Ids::new(self.users)
    }
}
