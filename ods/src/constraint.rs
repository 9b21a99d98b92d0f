//! Constraints on the types of values and on the values of attributes.

/// The spelling of the type of chains.
pub const CHAIN_TYPE: &str = "!tfrt.chain";

/// The types that an operand or a result may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeConstraint {
    /// Exactly the type of this spelling.
    Exact(&'static str),
    /// Any of the types of these spellings.
    OneOf(&'static [&'static str]),
    /// Any type; each occurrence independently.
    Any,
    /// The type of the operand of this name.
    SameAs(&'static str),
}

impl TypeConstraint {
    /// Returns `true` if only chains satisfy it.
    #[must_use]
    pub const fn is_chain(&self) -> bool {
        matches!(self, Self::Exact(spelling) if same(spelling, CHAIN_TYPE))
    }
}

/// Returns `true` if two texts are equal, in constants too.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}

/// The values that an attribute may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// An integer of this width in bits, signless or, if `is_unsigned`, unsigned. Width 1 is a
    /// Boolean.
    Int {
        /// The width in bits: 1, 8, 16, 32 or 64.
        width: u8,
        /// `true` for an unsigned type, such as `ui32`.
        is_unsigned: bool,
    },
    /// A floating point number of this type.
    Float(FloatKind),
    /// A string.
    String,
    /// A type that has a dtype.
    Type,
    /// A list whose elements are all of this kind.
    Array(&'static AttrKind),
    /// A list of anything, nested or not.
    Aggregate,
    /// Dense elements of a tensor.
    Dense,
    /// A tensor shape: `#corert.shape<…>`.
    Shape,
    /// A reference to a compilation unit: `@module::@function` into a compiled module.
    CompilationUnit,
    /// One of several cases, each with its own keyword.
    Enum(&'static EnumDef),
    /// Any attribute that a file can represent.
    Any,
}

/// The cases of an [`AttrKind::Enum`].
///
/// In files and generic forms the value of the attribute is a signless or signed integer; custom
/// forms show the keyword. A case with the value of an earlier one is an additional keyword for it,
/// which is parsed but never printed.
///
/// ```
/// use tfrt_ods::{EnumCase, EnumDef};
///
/// static PADDING: EnumDef = EnumDef {
///     cases: &[EnumCase { keyword: "same", value: 0 }, EnumCase { keyword: "valid", value: 1 }],
///     ..EnumDef::new("Padding")
/// };
/// assert_eq!(PADDING.value_of("valid"), Some(1));
/// assert_eq!(PADDING.keyword_of(0), Some("same"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumDef {
    /// Its name in documentation.
    pub name: &'static str,
    /// The width of the integer in bits: 8, 16, 32 or 64.
    pub width: u8,
    /// The cases, in the order in which they are documented.
    pub cases: &'static [EnumCase],
    /// The error for a keyword that is not a case: one line for each of these texts, each followed
    /// by the keyword. If there are none, the error lists the cases.
    pub refusals: &'static [&'static str],
    /// The integers that represent values without a keyword, if any.
    pub numbers: Option<EnumNumbers>,
    /// The sign of the integer's type, as custom forms produce it. Generic forms may contain any.
    pub sign: EnumSign,
    /// The types of operands that cases determine, for formats that say `known(… by …)`.
    pub operand_types: Option<EnumOperandTypes>,
}

/// The types of operands that the cases of an [`EnumDef`] determine.
///
/// ```
/// use tfrt_ods::EnumOperandTypes;
///
/// const SCALARS: EnumOperandTypes = EnumOperandTypes {
///     of_cases: &[("single", &["f32"]), ("double", &["f64"])],
///     refusal: "unknown precision",
/// };
/// assert_eq!(SCALARS.of("double"), Some(&["f64"][..]));
/// assert_eq!(SCALARS.of("octuple"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumOperandTypes {
    /// Keywords with the spellings of the types that an operand may have. Errors name the last.
    /// Other cases determine no type.
    pub of_cases: &'static [(&'static str, &'static [&'static str])],
    /// The last line of the error for a keyword that is not a case.
    pub refusal: &'static str,
}

impl EnumOperandTypes {
    /// Returns the types that a case determines.
    #[must_use]
    pub fn of(&self, keyword: &str) -> Option<&'static [&'static str]> {
        let mut cases = self.of_cases.iter();
        cases
            .find(|(case, _)| *case == keyword)
            .map(|(_, types)| *types)
    }
}

/// The sign of the type of the integers of an [`EnumDef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumSign {
    /// `i32`
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// The values of an [`EnumDef`] that have no keyword. Custom forms contain them as numbers,
/// starting at 0.
///
/// ```
/// use tfrt_ods::EnumNumbers;
///
/// let numbers = EnumNumbers { scale: 4, offset: 2 };
/// assert_eq!(numbers.value_of(3), Some(14));
/// assert_eq!(numbers.number_of(14), Some(3));
/// assert_eq!(numbers.number_of(13), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumNumbers {
    /// The difference between the integers of two consecutive numbers. Positive.
    pub scale: i128,
    /// The integer that represents 0.
    pub offset: i128,
}

impl EnumNumbers {
    /// Returns the integer that represents a number, or `None` if the number is negative or too
    /// large.
    #[must_use]
    pub fn value_of(&self, number: i128) -> Option<i128> {
        if number < 0 {
            return None;
        }
        number.checked_mul(self.scale)?.checked_add(self.offset)
    }

    /// Returns the number that an integer represents.
    #[must_use]
    pub fn number_of(&self, value: i128) -> Option<i128> {
        let distance = value.checked_sub(self.offset)?;
        let is_one = distance >= 0 && distance.checked_rem(self.scale) == Some(0);
        is_one.then(|| distance / self.scale)
    }
}

/// One case of an [`EnumDef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumCase {
    /// Its spelling in custom forms: a bare identifier.
    pub keyword: &'static str,
    /// The integer that represents it.
    pub value: i128,
}

impl EnumDef {
    /// Creates an enumeration of 32 bits without cases.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            width: 32,
            cases: &[],
            refusals: &[],
            numbers: None,
            sign: EnumSign::Signless,
            operand_types: None,
        }
    }

    /// Returns `true` if an integer fits in the width, as a signed integer: files do not tell how
    /// it is signed.
    #[must_use]
    pub fn has_room_for(&self, value: i128) -> bool {
        let limit = 1 << (u32::from(self.width).clamp(1, 127) - 1);
        (-limit..limit).contains(&value)
    }

    /// Returns `true` if an integer represents a case, or a value without a keyword.
    #[must_use]
    pub fn contains(&self, value: i128) -> bool {
        self.keyword_of(value).is_some() || self.number_of(value).is_some()
    }

    /// Returns the number of a value that has no keyword.
    #[must_use]
    pub fn number_of(&self, value: i128) -> Option<i128> {
        self.numbers.and_then(|numbers| numbers.number_of(value))
    }

    /// Returns the error message for a keyword that is not a case.
    #[must_use]
    pub fn refusal(&self, keyword: &str) -> String {
        if self.refusals.is_empty() {
            let cases = self.cases.iter().map(|case| format!("'{}'", case.keyword));
            return format!("expected one of {}", cases.collect::<Vec<_>>().join(", "));
        }
        let lines = self.refusals.iter().map(|text| format!("{text}{keyword}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the integer of a keyword.
    #[must_use]
    pub fn value_of(&self, keyword: &str) -> Option<i128> {
        let case = self.cases.iter().find(|case| case.keyword == keyword)?;
        Some(case.value)
    }

    /// Returns the keyword of an integer.
    #[must_use]
    pub fn keyword_of(&self, value: i128) -> Option<&'static str> {
        let case = self.cases.iter().find(|case| case.value == value)?;
        Some(case.keyword)
    }
}

impl AttrKind {
    /// A Boolean.
    pub const BOOL: Self = Self::Int {
        width: 1,
        is_unsigned: false,
    };
    /// A signless integer of 32 bits.
    pub const I32: Self = Self::Int {
        width: 32,
        is_unsigned: false,
    };
    /// A signless integer of 64 bits.
    pub const I64: Self = Self::Int {
        width: 64,
        is_unsigned: false,
    };
    /// A single-precision number.
    pub const F32: Self = Self::Float(FloatKind::F32);
    /// A double-precision number.
    pub const F64: Self = Self::Float(FloatKind::F64);
}

/// A floating point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum FloatKind {
    Bf16,
    F16,
    F32,
    F64,
}
