//! Verification of a body, and the accessors that it permits.
//!
//! 1. The tables and the padding are within the body. The kernel table has at least the pseudo
//!    kernel.
//! 2. Kernel records start at words, are in the order of the table, and do not overlap.
//! 3. Kernel codes, registers, function ids and users are in range; an attribute starts in the
//!    Attributes section.
//! 4. The pseudo kernel is marked as such, has no operands, attributes and functions, and its
//!    results are the register after the last one, which has no value, and the arguments.
//! 5. Every register is defined exactly once, by an argument or by a kernel.
//! 6. The users of a register are the kernels that have it as an operand, once for each occurrence;
//!    the users of the pseudo result are the kernels without operands, once each. So a kernel is
//!    notified once per operand, or once if it has none.
//! 7. The use count of a register is the number of its users plus its occurrences among the
//!    results; the kernel table has the number of operands of each kernel.
//! 8. Every kernel of an asynchronous function becomes ready: there is no cycle. The operands of
//!    every kernel of a synchronous function are defined by earlier kernels or arguments.
//! 9. Results of a synchronous function are not arguments, and are distinct.
//! 10. KernelFlags names existing kernels.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use tfrt_support::entity::EntityId;
use zerocopy::FromBytes;

use super::{BefFunction, VerifiedBef};
use crate::cursor::Cursor;
use crate::error::{BefError, BodyPart, Fault, Reason};
use crate::format::{
    KernelFlags, PSEUDO_KERNEL, PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION, RECORD_ALIGNMENT,
    SectionId,
};
use crate::ids::{FunctionId, KernelId, LocationOffset, RegisterId, id, raw};
use crate::invariant;
use crate::read::functions::{KernelRecord, RawBody};
use crate::read::kernel_flags::FlagTable;
use tfrt_support::FunctionKind;

/// The kernel table entry of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelEntry {
    /// The number of its operands.
    pub num_operands: u32,
    /// The stream it runs on.
    pub stream: u32,
    /// Its flags.
    pub flags: KernelFlags,
    /// The word at which its record starts.
    record_start: u32,
}

impl KernelEntry {
    /// Returns the number of notifications that make the kernel ready: one for each operand, or one
    /// from the pseudo kernel.
    #[must_use]
    pub fn ready_count(self) -> u32 {
        self.num_operands.max(1)
    }
}

/// A body that satisfies the rules.
#[derive(Debug)]
pub(crate) struct VerifiedBody {
    location: LocationOffset,
    use_counts: Box<[u32]>,
    kernels: Box<[KernelEntry]>,
    results: Box<[RegisterId]>,
    /// The range of the records in the file.
    records: Range<usize>,
}

/// A function whose body was checked. Clones share it; the file lives as long as any clone.
///
/// ```
/// use tfrt_bef::write::{BefBuilder, Body, WriteOptions};
/// use tfrt_bef::{BefFile, FunctionKind, BefLocation, RegisterId};
/// use tfrt_support::entity::EntityId;
///
/// let mut builder = BefBuilder::new(WriteOptions::default());
/// let i32_type = builder.add_type("i32");
/// let same = builder.declare_function(FunctionKind::Async, "same", vec![i32_type], vec![i32_type]);
/// let x = RegisterId::from_index(0);
/// builder.define_body(same, Body {
///     location: Some(BefLocation::Unknown),
///     root_stream: 0,
///     num_arguments: 1,
///     register_types: vec![i32_type],
///     kernels: vec![],
///     results: vec![x],
/// });
/// let bef = BefFile::from_bytes(&builder.finish()?).verify()?;
///
/// let same = bef.function(same)?;
/// assert_eq!((same.num_registers(), same.num_kernels()), (1, 1));
/// assert_eq!(same.results(), [x]);
/// let arguments: Vec<RegisterId> = same.argument_users().map(|(register, _)| register).collect();
/// assert_eq!(arguments, [x]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct VerifiedFunction {
    bef: VerifiedBef,
    id: FunctionId,
    body: Arc<VerifiedBody>,
}

impl VerifiedFunction {
    pub(crate) fn new(bef: VerifiedBef, id: FunctionId, body: Arc<VerifiedBody>) -> Self {
        Self { bef, id, body }
    }

    /// Returns the file of the function.
    #[must_use]
    pub fn bef(&self) -> &VerifiedBef {
        &self.bef
    }

    /// Returns the position of the function in the index.
    #[must_use]
    pub fn id(&self) -> FunctionId {
        self.id
    }

    /// Returns the index entry of the function.
    #[must_use]
    pub fn entry(&self) -> BefFunction<'_> {
        self.bef.function_entry(self.id)
    }

    /// Returns the location of the function.
    #[must_use]
    pub fn location(&self) -> LocationOffset {
        self.body.location
    }

    /// Returns the number of registers: the arguments, then the results of the kernels.
    #[must_use]
    pub fn num_registers(&self) -> usize {
        self.body.use_counts.len()
    }

    /// Returns for every register how often it is an operand or a result of the function.
    #[must_use]
    pub fn use_counts(&self) -> &[u32] {
        &self.body.use_counts
    }

    /// Returns the number of kernels, including the pseudo kernel.
    #[must_use]
    pub fn num_kernels(&self) -> usize {
        self.body.kernels.len()
    }

    /// Returns the kernels in program order, without the pseudo kernel.
    pub fn kernels(&self) -> impl DoubleEndedIterator<Item = KernelId> + ExactSizeIterator + use<> {
        (1..self.num_kernels()).map(KernelId::from_index)
    }

    /// Returns the kernel table; entry 0 is that of the pseudo kernel, whose stream is the root
    /// stream.
    #[must_use]
    pub fn kernel_table(&self) -> &[KernelEntry] {
        &self.body.kernels
    }

    /// Returns the registers that the function returns.
    #[must_use]
    pub fn results(&self) -> &[RegisterId] {
        &self.body.results
    }

    /// Returns the pseudo kernel: its first result has no value and starts the kernels without
    /// operands, the others are the arguments.
    #[must_use]
    pub fn pseudo_record(&self) -> KernelRecord<'_> {
        self.record(id(PSEUDO_KERNEL))
    }

    /// Returns the arguments with their users.
    pub fn argument_users(
        &self,
    ) -> impl ExactSizeIterator<Item = (RegisterId, crate::ids::Ids<'_, KernelId>)> + use<'_> {
        self.pseudo_record().results_with_users().skip(1)
    }

    /// Returns the record of a kernel.
    ///
    /// # Panics
    /// If there is no such kernel: passing the id of another function is a bug in the caller.
    #[inline]
    #[must_use]
    pub fn record(&self, kernel: KernelId) -> KernelRecord<'_> {
        let entry = &self.body.kernels[kernel.index()];
        let words = record_words(self.bef.file().bytes(), &self.body.records);
        match KernelRecord::read(words, entry.record_start as usize) {
            Some((record, _)) => record,
            None => invariant::broken("rule 2 for bodies: a record is within its body"),
        }
    }
}

impl fmt::Debug for VerifiedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedFunction")
            .field("id", &self.id)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// Returns the words of the records. The range is aligned to words, and so is the file in memory.
fn record_words<'a>(file: &'a [u8], records: &Range<usize>) -> &'a [u32] {
    match <[u32]>::ref_from_bytes(&file[records.clone()]) {
        Ok(words) => words,
        Err(_) => invariant::broken("rule 4: records start at words"),
    }
}

/// The facts about a body from the rest of the file.
pub(crate) struct Context<'a> {
    pub(crate) file: &'a [u8],
    /// The offset of the Functions section in the file.
    pub(crate) section_start: usize,
    /// The maximum range of the body in the file.
    pub(crate) range: Range<usize>,
    pub(crate) function: BefFunction<'a>,
    pub(crate) num_kernel_codes: usize,
    pub(crate) num_functions: usize,
    pub(crate) attributes_len: usize,
    pub(crate) flags: Option<&'a FlagTable>,
}

/// Checks a body against every rule.
pub(crate) fn verify(context: &Context<'_>) -> Result<VerifiedBody, BefError> {
    let kind = context.function.kind;
    let error = |part: BodyPart, fault: Fault| {
        fault.because(match kind {
            FunctionKind::Sync => Reason::SyncBody(part),
            FunctionKind::Async | FunctionKind::Native => Reason::AsyncBody(part),
        })
    };
    let bytes = &context.file[context.range.clone()];
    let mut cursor = Cursor::in_section(bytes, context.range.start, SectionId::Functions);
    let body = RawBody::read(
        &mut cursor,
        context.section_start,
        context.function.results.len(),
    )
    .map_err(|(part, fault)| error(part, fault))?;
    let mut checker =
        BodyChecker::new(context, &body).map_err(|fault| error(BodyPart::Records, fault))?;
    checker
        .check_pseudo_kernel()
        .map_err(|fault| error(BodyPart::Records, fault))?;
    checker
        .check_kernels()
        .map_err(|fault| error(BodyPart::Records, fault))?;
    checker
        .check_definitions()
        .map_err(|fault| error(BodyPart::Records, fault))?;
    checker
        .check_users()
        .map_err(|fault| error(BodyPart::Records, fault))?;
    checker
        .check_use_counts()
        .map_err(|fault| error(BodyPart::UseCounts, fault))?;
    match kind {
        FunctionKind::Sync => {
            checker
                .check_program_order()
                .map_err(|fault| error(BodyPart::Records, fault))?;
            checker
                .check_sync_results()
                .map_err(|fault| error(BodyPart::SharedResult, fault))?;
        }
        FunctionKind::Async | FunctionKind::Native => {
            checker
                .check_acyclic()
                .map_err(|fault| error(BodyPart::Records, fault))?;
        }
    }
    let mut kernels: Box<[KernelEntry]> = body
        .kernels
        .iter()
        .zip(&checker.record_starts)
        .map(|(entry, &record_start)| KernelEntry {
            num_operands: entry.num_operands,
            stream: entry.stream,
            flags: KernelFlags::NONE,
            record_start,
        })
        .collect();
    if let Some(table) = context.flags {
        set_flags(&mut kernels, table)?;
    }
    Ok(VerifiedBody {
        location: body.location,
        use_counts: body.use_counts.into(),
        kernels,
        results: body.results.into(),
        records: body.records,
    })
}

/// Rule 10.
fn set_flags(kernels: &mut [KernelEntry], table: &FlagTable) -> Result<(), BefError> {
    let num_kernels = kernels.len();
    for &(kernel, flags) in &table.flags {
        let Some(entry) = kernels.get_mut(kernel.index()) else {
            let message = format!(
                "expected a kernel index below {num_kernels}, found {}",
                kernel.index()
            );
            let fault = Fault::new(SectionId::KernelFlags, table.offset_in_file, message);
            return Err(fault.because(Reason::Section(SectionId::KernelFlags)));
        };
        entry.flags = match flags.known() {
            Some(flags) => flags,
            None => invariant::broken("rule 5: flags are known"),
        };
    }
    Ok(())
}

/// The register is not defined (yet).
const UNDEFINED: u32 = u32::MAX;

struct BodyChecker<'a> {
    context: &'a Context<'a>,
    body: &'a RawBody,
    words: &'a [u32],
    /// For each kernel, the word at which its record starts.
    record_starts: Vec<u32>,
    /// For each register, the kernel that defines it.
    definers: Vec<u32>,
    /// For each register, the number of its occurrences as an operand.
    operand_counts: Vec<u32>,
    /// The first kernel with an operand that no earlier kernel defines, and that operand; `None` if
    /// the body is in program order.
    first_late: Option<(usize, RegisterId)>,
}

impl<'a> BodyChecker<'a> {
    /// Locates the records, by rule 2.
    fn new(context: &'a Context<'a>, body: &'a RawBody) -> Result<Self, Fault> {
        let words = record_words(context.file, &body.records);
        let mut record_starts = Vec::with_capacity(body.kernels.len());
        for located in body.locate(words) {
            // A section has fewer than 2^32 bytes.
            record_starts.push(located?.words.start as u32);
        }
        Ok(Self {
            context,
            body,
            words,
            record_starts,
            definers: vec![UNDEFINED; body.use_counts.len()],
            operand_counts: vec![0; body.use_counts.len()],
            first_late: None,
        })
    }

    fn num_registers(&self) -> usize {
        self.body.use_counts.len()
    }

    fn num_kernels(&self) -> usize {
        self.body.kernels.len()
    }

    fn record(&self, kernel: usize) -> KernelRecord<'a> {
        match KernelRecord::read(self.words, self.record_starts[kernel] as usize) {
            Some((record, _)) => record,
            None => invariant::broken("rule 2 for bodies: a record is within its body"),
        }
    }

    /// Returns the kernels with their records, without the pseudo kernel.
    fn records(&self) -> impl Iterator<Item = (usize, KernelRecord<'a>)> {
        (1..self.num_kernels()).map(|kernel| (kernel, self.record(kernel)))
    }

    /// Creates a fault in the record of `kernel`.
    #[cold]
    fn fault(&self, kernel: usize, message: impl fmt::Display) -> Fault {
        let offset =
            self.body.records.start + self.record_starts[kernel] as usize * RECORD_ALIGNMENT;
        Fault::new(
            SectionId::Functions,
            offset,
            format!("kernel {kernel}: {message}"),
        )
    }

    fn check_below(
        &self,
        kernel: usize,
        what: &str,
        words: &[u32],
        limit: usize,
    ) -> Result<(), Fault> {
        match words.iter().find(|&&word| word as usize >= limit) {
            None => Ok(()),
            Some(found) => Err(self.fault(
                kernel,
                format_args!("expected {what} below {limit}, found {found}"),
            )),
        }
    }

    fn check_users_in_range(&self, kernel: usize, record: &KernelRecord<'_>) -> Result<(), Fault> {
        let users = record.users().as_words();
        if users.contains(&PSEUDO_KERNEL) {
            return Err(self.fault(kernel, "expected kernels as users, found the pseudo kernel"));
        }
        self.check_below(kernel, "a user", users, self.num_kernels())
    }

    /// Records that `kernel` defines `registers`, which are in range.
    fn define(&mut self, kernel: usize, registers: &[u32]) -> Result<(), Fault> {
        for &register in registers {
            let definer = &mut self.definers[register as usize];
            if *definer != UNDEFINED {
                let message = format!(
                    "expected a register that is defined once, found another definition of \
                     register {register}"
                );
                return Err(self.fault(kernel, message));
            }
            // A body has fewer than `UNDEFINED` kernels, since each takes 24 bytes of a section
            // with 32-bit offsets.
            *definer = kernel as u32;
        }
        Ok(())
    }

    /// Rule 4, and rule 3 for the pseudo kernel.
    fn check_pseudo_kernel(&mut self) -> Result<(), Fault> {
        let pseudo = PSEUDO_KERNEL as usize;
        let record = self.record(pseudo);
        let marks = (raw(record.code), raw(record.location));
        let num_arguments = self.context.function.arguments.len();
        if marks != (PSEUDO_KERNEL_CODE, PSEUDO_KERNEL_LOCATION) {
            return Err(self.fault(
                pseudo,
                format_args!("expected the marks of the pseudo kernel, found {marks:x?}"),
            ));
        }
        let inputs = record.operands.len() + record.attributes.len() + record.functions.len();
        if inputs != 0 || self.body.kernels[pseudo].num_operands != 0 {
            return Err(self.fault(
                pseudo,
                "expected a pseudo kernel without operands, attributes and functions",
            ));
        }
        let results = record.results.as_words();
        let expected = std::iter::once(self.num_registers()).chain(0..num_arguments);
        if num_arguments > self.num_registers()
            || !results.iter().map(|&result| result as usize).eq(expected)
        {
            let message = format!(
                "expected register {} and {num_arguments} arguments as results, found {} results",
                self.num_registers(),
                results.len()
            );
            return Err(self.fault(pseudo, message));
        }
        self.check_users_in_range(pseudo, &record)?;
        self.define(pseudo, &results[1..])
    }

    /// Rule 3, and rule 7 for the kernel table.
    fn check_kernels(&mut self) -> Result<(), Fault> {
        for kernel in 1..self.num_kernels() {
            let record = self.record(kernel);
            let num_operands = self.body.kernels[kernel].num_operands;
            if num_operands as usize != record.operands.len() {
                let found = record.operands.len();
                return Err(self.fault(
                    kernel,
                    format_args!("expected {num_operands} operands, found {found}"),
                ));
            }
            let num_registers = self.num_registers();
            self.check_below(
                kernel,
                "a kernel code",
                &[raw(record.code)],
                self.context.num_kernel_codes,
            )?;
            self.check_below(
                kernel,
                "an operand register",
                record.operands.as_words(),
                num_registers,
            )?;
            self.check_below(
                kernel,
                "a result register",
                record.results.as_words(),
                num_registers,
            )?;
            let attributes = record.attributes.as_words();
            self.check_below(
                kernel,
                "an attribute offset",
                attributes,
                self.context.attributes_len,
            )?;
            self.check_below(
                kernel,
                "a function id",
                record.functions.as_words(),
                self.context.num_functions,
            )?;
            self.check_users_in_range(kernel, &record)?;
            self.note_operands(kernel, &record);
            self.define(kernel, record.results.as_words())?;
        }
        Ok(())
    }

    /// Records the operands of `kernel`, which are in range. Earlier kernels have been recorded,
    /// including their results.
    fn note_operands(&mut self, kernel: usize, record: &KernelRecord<'_>) {
        for operand in record.operands.iter() {
            self.operand_counts[operand.index()] += 1;
            if self.first_late.is_none() && self.definers[operand.index()] == UNDEFINED {
                self.first_late = Some((kernel, operand));
            }
        }
    }

    /// Rule 5: every register is defined. Double definitions were already excluded.
    fn check_definitions(&self) -> Result<(), Fault> {
        match self
            .definers
            .iter()
            .position(|&definer| definer == UNDEFINED)
        {
            None => Ok(()),
            Some(register) => {
                let message = format!("expected a definition of register {register}, found none");
                Err(Fault::new(
                    SectionId::Functions,
                    self.body.use_counts_in_file,
                    message,
                ))
            }
        }
    }

    /// Rule 6.
    fn check_users(&self) -> Result<(), Fault> {
        let operand_users = OperandUsers::of(self);
        let roots: Vec<u32> = (1..)
            .zip(&self.body.kernels[1..])
            .filter(|(_, entry)| entry.num_operands == 0)
            .map(|(k, _)| k)
            .collect();
        let mut sorted = Vec::new();
        for kernel in 0..self.num_kernels() {
            let results = self.record(kernel).results_with_users();
            for (position, (register, users)) in results.enumerate() {
                let expected = match kernel == PSEUDO_KERNEL as usize && position == 0 {
                    true => &roots[..],
                    false => operand_users.of_register(register.index()),
                };
                // The order in which TFRT writes them. A list in any other order is sorted; sorting
                // a reversed sorted list takes linear time.
                if users.as_words().iter().rev().eq(expected) {
                    continue;
                }
                sorted.clear();
                sorted.extend_from_slice(users.as_words());
                sorted.sort_unstable();
                if sorted != expected {
                    let message = format!(
                        "expected the {} kernels that use register {} as its users, found a list \
                         of {} kernels",
                        expected.len(),
                        register.index(),
                        users.len()
                    );
                    return Err(self.fault(kernel, message));
                }
            }
        }
        Ok(())
    }

    /// Rule 7 for the registers. By rule 6 the users are complete.
    fn check_use_counts(&self) -> Result<(), Fault> {
        let mut counts = self.operand_counts.clone();
        for result in &self.body.results {
            counts[result.index()] += 1;
        }
        match counts
            .iter()
            .zip(&self.body.use_counts)
            .position(|(found, stated)| found != stated)
        {
            None => Ok(()),
            Some(register) => {
                let (found, stated) = (counts[register], self.body.use_counts[register]);
                let message = format!(
                    "expected {found} uses of register {register}, found a use count of {stated}"
                );
                Err(Fault::new(
                    SectionId::Functions,
                    self.body.use_counts_in_file,
                    message,
                ))
            }
        }
    }

    /// Rule 8 for an asynchronous function: a body in program order has no cycles; otherwise
    /// simulates a run.
    fn check_acyclic(&self) -> Result<(), Fault> {
        if self.first_late.is_none() {
            return Ok(());
        }
        let mut missing: Vec<u32> = self
            .body
            .kernels
            .iter()
            .map(|entry| entry.num_operands.max(1))
            .collect();
        let mut ready = vec![PSEUDO_KERNEL];
        let mut num_done = 0;
        while let Some(kernel) = ready.pop() {
            num_done += 1;
            for &user in self.record(kernel as usize).users().as_words() {
                // Does not underflow: by rule 6 there is one notification per operand, and each
                // register is defined once.
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    ready.push(user);
                }
            }
        }
        if num_done == self.num_kernels() {
            return Ok(());
        }
        let Some(waiting) = (1..self.num_kernels()).find(|&kernel| missing[kernel] != 0) else {
            invariant::broken("rule 6: a kernel that was not started waits for an operand")
        };
        Err(self.fault(
            waiting,
            "expected operands that do not depend on the results of the kernel, found a cycle",
        ))
    }

    /// Rule 8 for a synchronous function.
    fn check_program_order(&self) -> Result<(), Fault> {
        match self.first_late {
            None => Ok(()),
            Some((kernel, operand)) => {
                let message = format!(
                    "expected operands that are defined earlier, found register {}",
                    operand.index()
                );
                Err(self.fault(kernel, message))
            }
        }
    }

    /// Rule 9.
    fn check_sync_results(&self) -> Result<(), Fault> {
        let mut is_result = vec![false; self.num_registers()];
        let num_arguments = self.context.function.arguments.len();
        for &result in &self.body.results {
            if result.index() < num_arguments
                || std::mem::replace(&mut is_result[result.index()], true)
            {
                let message = format!(
                    "expected a distinct register for every result, found {} twice",
                    result.index()
                );
                return Err(Fault::new(
                    SectionId::Functions,
                    self.body.results_in_file,
                    message,
                ));
            }
        }
        Ok(())
    }
}

/// For each register, the kernels that have it as an operand, ascending, once for each occurrence.
struct OperandUsers {
    /// The start of the users of each register, and finally the end of those of the last one.
    starts: Vec<u32>,
    users: Vec<u32>,
}

impl OperandUsers {
    fn of(checker: &BodyChecker<'_>) -> Self {
        let mut starts = Vec::with_capacity(checker.num_registers() + 1);
        starts.push(0);
        starts.extend_from_slice(&checker.operand_counts);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut users = vec![0; total as usize];
        let mut next = starts.clone();
        for (kernel, record) in checker.records() {
            for operand in record.operands.iter() {
                let slot = &mut next[operand.index()];
                users[*slot as usize] = kernel as u32;
                *slot += 1;
            }
        }
        Self { starts, users }
    }

    fn of_register(&self, register: usize) -> &[u32] {
        &self.users[self.starts[register] as usize..self.starts[register + 1] as usize]
    }
}
