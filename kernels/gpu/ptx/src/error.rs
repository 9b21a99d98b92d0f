//! Errors of PTX: in its text, in its symbols, in a launch.

use std::error::Error;
use std::fmt;

/// A text that is not PTX.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    line: u32,
    column: u32,
    message: String,
}

impl ParseError {
    #[cold]
    pub(crate) fn new(line: u32, column: u32, message: impl Into<String>) -> Self {
        Self {
            line,
            column,
            message: message.into(),
        }
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> u32 {
        self.column
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Error for ParseError {}

/// A symbol without an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkError {
    pub(crate) symbol: String,
    pub(crate) reason: &'static str,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variable `{}` {}", self.symbol, self.reason)
    }
}

impl Error for LinkError {}

/// The kind of a failure that ended a launch. A driver has an error code for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Grid, block or parameters that no launch may have.
    InvalidLaunch,
    /// A launch that needs more registers or memory than the machine has.
    OutOfResources,
    /// An access outside of all memory that the kernel may touch.
    IllegalAddress,
    /// An address that is not a multiple of the access's size.
    MisalignedAddress,
    /// A barrier or a warp operation that not all threads reach.
    Deadlock,
    /// Two threads that use the same byte of shared memory without a barrier between.
    Race,
    /// A `trap` instruction.
    Trap,
    /// A failed `assert` of the kernel.
    Assertion,
    /// More steps than the launch allows.
    StepLimit,
    /// Calls nested too deeply.
    StackOverflow,
    /// A call of something that is not a function.
    InvalidCall,
    /// An instruction that PTX has and this machine has not.
    Unsupported,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidLaunch => "invalid launch",
            Self::OutOfResources => "out of launch resources",
            Self::IllegalAddress => "illegal address",
            Self::MisalignedAddress => "misaligned address",
            Self::Deadlock => "deadlock",
            Self::Race => "data race",
            Self::Trap => "trap",
            Self::Assertion => "assertion failed",
            Self::StepLimit => "step limit",
            Self::StackOverflow => "stack overflow",
            Self::InvalidCall => "invalid call",
            Self::Unsupported => "unsupported instruction",
        })
    }
}

/// The failure of a launch, with its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(Box<Details>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Details {
    kind: FaultKind,
    kernel: String,
    message: String,
    place: Option<Place>,
    address: Option<u64>,
    printed: String,
}

/// The thread and the instruction at which a launch failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) instruction: String,
    pub(crate) block: [u32; 3],
    pub(crate) thread: [u32; 3],
}

impl Fault {
    #[cold]
    pub(crate) fn new(kind: FaultKind, kernel: &str, message: impl Into<String>) -> Self {
        let (kernel, message) = (kernel.to_owned(), message.into());
        Self(Box::new(Details {
            kind,
            kernel,
            message,
            place: None,
            address: None,
            printed: String::new(),
        }))
    }

    #[cold]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    pub(crate) fn with_address(mut self, address: u64) -> Self {
        self.0.address = Some(address);
        self
    }

    pub(crate) fn with_printed(mut self, printed: String) -> Self {
        self.0.printed = printed;
        self
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// Returns the name of the launched kernel.
    pub fn kernel(&self) -> &str {
        &self.0.kernel
    }

    /// Returns the message without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the line of the PTX text, from 1, if an instruction failed.
    pub fn line(&self) -> Option<u32> {
        self.0.place.as_ref().map(|place| place.line)
    }

    /// Returns the block of the thread that failed.
    pub fn block(&self) -> Option<[u32; 3]> {
        self.0.place.as_ref().map(|place| place.block)
    }

    /// Returns the thread that failed, by its index in the block.
    pub fn thread(&self) -> Option<[u32; 3]> {
        self.0.place.as_ref().map(|place| place.thread)
    }

    /// Returns the address that could not be used.
    pub fn address(&self) -> Option<u64> {
        self.0.address
    }

    /// Returns the output of the kernel before the failure.
    pub fn printed(&self) -> &str {
        &self.0.printed
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details {
            kind,
            kernel,
            message,
            place,
            ..
        } = &*self.0;
        write!(f, "{kind} in kernel `{kernel}`")?;
        if let Some(Place {
            line,
            instruction,
            block: b,
            thread: t,
        }) = place
        {
            write!(
                f,
                " at line {line}, `{instruction}`, block ({}, {}, {}), thread ({}, {}, {})",
                b[0], b[1], b[2], t[0], t[1], t[2]
            )?;
        }
        write!(f, ": {message}")
    }
}

impl Error for Fault {}
