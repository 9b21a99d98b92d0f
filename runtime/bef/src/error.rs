//! Errors in files: their kinds, their locations, and the messages of TFRT.

use std::fmt;
use std::sync::Arc;

use crate::format::SectionId;

/// The error for a file that is rejected.
///
/// Displays the message of TFRT, followed by what was found and where:
///
/// ```
/// use tfrt_bef::BefFile;
/// use tfrt_bef::format::SectionId;
///
/// let error = BefFile::from_bytes(b"\x0b\xef\0\x02\x90\0").verify().unwrap_err();
/// assert_eq!(error.reference_message(), "BEF file section header corrupted");
/// assert_eq!(
///     error.to_string(),
///     "BEF file section header corrupted: Kernels section, at offset 0x4: \
///      expected at most the 0 remaining bytes of data, found a length of 1024"
/// );
/// assert_eq!((error.section(), error.offset()), (Some(SectionId::Kernels), 4));
/// ```
#[derive(Clone)]
pub struct BefError(Arc<ErrorData>);

#[derive(Debug)]
struct ErrorData {
    reason: Reason,
    fault: Fault,
}

/// The kind of an error, in the categories of TFRT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The file is empty.
    Empty,
    /// The file does not start with the magic bytes.
    Magic,
    /// The version of the format is not supported.
    Version,
    /// The header of a section contradicts the file.
    SectionHeader,
    /// A section other than the following is malformed.
    Section(SectionId),
    /// The Kernels section is absent or malformed.
    Kernels,
    /// The Types section is absent or malformed.
    Types,
    /// The FunctionIndex section is absent or malformed.
    FunctionIndex,
    /// The body of an asynchronous function is not where the index says.
    AsyncBodyOffset,
    /// The body of a synchronous function is not where the index says.
    SyncBodyOffset,
    /// The body of an asynchronous function is malformed.
    AsyncBody(BodyPart),
    /// The body of a synchronous function is malformed.
    SyncBody(BodyPart),
    /// The body of a native function was requested, which has none.
    NoBody,
}

/// The malformed part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyPart {
    /// The location, or the number of registers.
    Head,
    /// The use counts of the registers.
    UseCounts,
    /// The number of kernels.
    NumKernels,
    /// The table of kernels.
    KernelTable,
    /// The result registers.
    Results,
    /// The result registers of a synchronous function: one is an argument, or occurs twice.
    SharedResult,
    /// The padding before the records.
    Alignment,
    /// The kernel records, or the relations between them.
    Records,
}

impl fmt::Display for Reason {
    /// Writes the message of TFRT.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INDEX: &str = "invalid FunctionIndex section in BEF file";
        match self {
            Self::Empty | Self::Magic => f.write_str("invalid BEF file header detected"),
            Self::Version => f.write_str("Unknown BEF format version detected"),
            Self::SectionHeader => f.write_str("BEF file section header corrupted"),
            Self::Section(section) => write!(f, "invalid {section} section in BEF file"),
            Self::Kernels => f.write_str("invalid Kernels section in BEF file"),
            Self::Types => f.write_str("invalid Types section in BEF file"),
            Self::FunctionIndex => write!(f, "{INDEX}: Failed to read the FunctionIndex section"),
            Self::AsyncBodyOffset => write!(f, "{INDEX}: Invalid offset found for BEFFunction"),
            Self::SyncBodyOffset => write!(f, "{INDEX}: Invalid offset found for SyncBEFFunction"),
            Self::AsyncBody(_) => f.write_str("invalid Function section in BEF file"),
            Self::SyncBody(part) => write!(f, "{INDEX}: Invalid SyncBEFFunction({part})"),
            Self::NoBody => f.write_str("native function has no body"),
        }
    }
}

impl fmt::Display for BodyPart {
    /// Writes the message of TFRT.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "Failed to read location_offset or num_registers",
            Self::UseCounts => "Failed to read register user_count",
            Self::NumKernels => "Failed to read num_kernels",
            Self::KernelTable => "Failed to read kernel offset or num_operands",
            Self::Results => "Failed to read result_reg",
            Self::SharedResult => "Result cannot be an argument or another result",
            Self::Alignment => "Failed to align BEF to kKernelEntryAlignment",
            Self::Records => "Failed to read kernel records",
        })
    }
}

/// A finding and its location; the caller decides its consequence for the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(crate) section: Option<SectionId>,
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Fault {
    /// Creates a fault at byte `offset` of the file.
    #[cold]
    pub(crate) fn new(
        section: impl Into<Option<SectionId>>,
        offset: usize,
        message: impl Into<String>,
    ) -> Self {
        Self {
            section: section.into(),
            offset,
            message: message.into(),
        }
    }

    /// Converts the fault to an error.
    #[cold]
    pub(crate) fn because(self, reason: Reason) -> BefError {
        BefError(Arc::new(ErrorData {
            reason,
            fault: self,
        }))
    }
}

impl BefError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// Returns the message of TFRT when it loads such a file.
    #[must_use]
    pub fn reference_message(&self) -> String {
        self.0.reason.to_string()
    }

    /// Returns the message of TFRT when it decodes such a file.
    #[must_use]
    pub fn decoder_message(&self) -> String {
        match self.0.reason {
            Reason::Empty => "BEF file is empty.".into(),
            Reason::Magic => "Invalid BEF file header detected".into(),
            Reason::Version => "Unknown BEF format version detected".into(),
            Reason::SectionHeader => "Invalid BEF section header.".into(),
            Reason::Section(section) => format!("Invalid {section} section."),
            Reason::Kernels => "Invalid Kernels section.".into(),
            Reason::Types => "Invalid Types section.".into(),
            Reason::FunctionIndex | Reason::AsyncBodyOffset | Reason::SyncBodyOffset => {
                "Invalid FunctionIndex section.".into()
            }
            Reason::AsyncBody(_) | Reason::SyncBody(_) | Reason::NoBody => {
                "Invalid Functions section.".into()
            }
        }
    }

    /// Returns the section of the error, or `None` for the file header and unknown sections.
    #[must_use]
    pub fn section(&self) -> Option<SectionId> {
        self.0.fault.section
    }

    /// Returns the offset of the error in the file, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.0.fault.offset
    }

    /// Returns what was expected and what was found.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.fault.message
    }
}

impl fmt::Display for BefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorData { reason, fault } = &*self.0;
        write!(f, "{reason}: ")?;
        if let Some(section) = fault.section {
            write!(f, "{section} section, ")?;
        }
        write!(f, "at offset {:#x}: {}", fault.offset, fault.message)
    }
}

impl fmt::Debug for BefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for BefError {}

tfrt_support::convert_errors!(BefError);
