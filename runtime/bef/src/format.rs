//! The constants of the format, each defined once.

use std::fmt;

/// The first two bytes of every file.
pub const MAGIC: [u8; 2] = [0x0b, 0xef];

/// The third byte: the version of the format. There is only one.
pub const VERSION: u8 = 0;

/// The bit of a section's length field which indicates that an alignment byte follows.
pub const SECTION_ALIGNED_BIT: u64 = 1;

/// The alignment of kernel records in a body, in bytes: they consist of words.
pub const RECORD_ALIGNMENT: usize = 4;

/// The number of words in a kernel record before its lists: code, location, and the numbers of
/// arguments, attributes, functions and results.
pub const RECORD_HEADER_WORDS: usize = 6;

/// The kernel code of the pseudo kernel, which is at position 0 of a kernel table and publishes the
/// arguments.
pub const PSEUDO_KERNEL_CODE: u32 = 0xabab_abab;

/// The location word of the pseudo kernel.
pub const PSEUDO_KERNEL_LOCATION: u32 = 0xcdcd_cdcd;

/// The position of the pseudo kernel in a kernel table.
pub const PSEUDO_KERNEL: u32 = 0;

/// One above the offset of the first operation without an encodable location; later ones get lower
/// offsets.
pub const VIRTUAL_LOCATIONS_END: u32 = u32::MAX;

/// Tags of location records.
pub mod location_tag {
    /// An unknown location.
    pub const UNKNOWN: u8 = 0;
    /// A position in a file.
    pub const FILE: u8 = 1;
    /// A name for another location.
    pub const NAME: u8 = 2;
    /// A callee with its caller.
    pub const CALL_SITE: u8 = 3;
    /// Several locations at once.
    pub const FUSED: u8 = 4;
}

macro_rules! section_ids {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// A section that this crate knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SectionId {
            $($(#[$doc])* $name = $id,)*
        }

        impl SectionId {
            /// Every known section, in the order in which a writer emits them.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$name),*];

            /// Returns the section with this id, if it is known.
            #[must_use]
            pub const fn from_raw(raw: u8) -> Option<Self> {
                match raw {
                    $($id => Some(Self::$name),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for SectionId {
            /// Writes the name of the section.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => stringify!($name),)*
                })
            }
        }
    };
}

section_ids! {
    /// Names and type spellings, sorted, each ended by a zero byte.
    Strings = 0,
    /// Attribute values, one after the other.
    Attributes = 1,
    /// The names of the kernels.
    Kernels = 2,
    /// The spellings of the types.
    Types = 3,
    /// Kind, body, name and signature of every function.
    FunctionIndex = 4,
    /// The bodies of the functions.
    Functions = 5,
    /// The names in locations, each ended by a zero byte.
    LocationStrings = 6,
    /// Location records.
    Locations = 7,
    /// The type codes of the attributes.
    AttributeTypes = 8,
    /// The names of the attributes of every kernel.
    AttributeNames = 9,
    /// The types of the registers of every function.
    RegisterTypes = 10,
    /// Which kernels run non-strictly; an extension.
    KernelFlags = 64,
}

/// Properties of a kernel that are not in its record.
///
/// ```
/// use tfrt_bef::format::KernelFlags;
///
/// assert!(KernelFlags::NON_STRICT.is_non_strict());
/// assert_eq!(KernelFlags::from_bits(2), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KernelFlags(u8);

impl KernelFlags {
    /// No flags: an ordinary kernel.
    pub const NONE: Self = Self(0);
    /// The kernel runs before all its operands are available.
    pub const NON_STRICT: Self = Self(1);

    /// Returns the flags stored as `bits`, if all of them are known.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        if bits & !1 == 0 {
            Some(Self(bits as u8))
        } else {
            None
        }
    }

    /// Returns the stored form of the flags.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 as u64
    }

    /// Returns `true` if the kernel runs before all its operands are available.
    #[must_use]
    pub const fn is_non_strict(self) -> bool {
        self.0 & Self::NON_STRICT.0 != 0
    }
}
