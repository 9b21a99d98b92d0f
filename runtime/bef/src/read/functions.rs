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
use crate::format::{RECORD_ALIGNMENT, RECORD_HEADER_WORDS};
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

impl RawBody {
    /// Reads the body at `cursor`, which ends at or before the end of the cursor's bytes.
    ///
    /// A fault is returned with the part of the body that it is in.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        num_results: usize,
    ) -> Result<Self, (BodyPart, Fault)> {
        let within = |part: BodyPart| move |fault: Fault| (part, fault);

        let location = id(cursor
            .vbr_u32("a location")
            .map_err(within(BodyPart::Head))?);
        let num_registers = cursor
            .count("a number of registers")
            .map_err(within(BodyPart::Head))?;
        let use_counts_in_file = cursor.offset();
        // `count` has checked that there is a byte for each.
        let mut use_counts = Vec::with_capacity(num_registers);
        for _ in 0..num_registers {
            let count = cursor.vbr_u32("a use count");
            use_counts.push(count.map_err(within(BodyPart::UseCounts))?);
        }

        let at = cursor.clone();
        let num_kernels = cursor
            .count("a number of kernels")
            .map_err(within(BodyPart::NumKernels))?;
        if num_kernels == 0 {
            return Err((
                BodyPart::NumKernels,
                at.fault("expected at least the pseudo kernel, found no kernel"),
            ));
        }
        // Each entry has three fields of at least one byte.
        let mut kernels = Vec::with_capacity(num_kernels.min(cursor.remaining() / 3));
        for _ in 0..num_kernels {
            let entry = Self::read_kernel(cursor);
            kernels.push(entry.map_err(within(BodyPart::KernelTable))?);
        }

        let results_in_file = cursor.offset();
        let results = (0..num_results)
            .map(|_| {
                cursor
                    .vbr_below("a result register", num_registers as u64)
                    .map(id)
            })
            .collect::<Result<Vec<RegisterId>, Fault>>()
            .map_err(within(BodyPart::Results))?;

        // The section is aligned to words, as `crate::verify` checks, so aligning the offset in the
        // file also aligns the offset in the section.
        let padding = cursor.offset().next_multiple_of(RECORD_ALIGNMENT) - cursor.offset();
        if cursor.take(padding).is_none() {
            let message = format!(
                "expected {padding} bytes of padding, found {}",
                cursor.remaining()
            );
            return Err((BodyPart::Alignment, cursor.fault(message)));
        }
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

    fn read_kernel(cursor: &mut Cursor<'_>) -> Result<RawKernelEntry, Fault> {
        Ok(RawKernelEntry {
            offset_in_file: cursor.offset(),
            record_offset: cursor.vbr_u32("the offset of a kernel record")?,
            num_operands: cursor.vbr_u32("a number of operands")?,
            stream: cursor.vbr_u32("a stream")?,
        })
    }
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
