//! The attributes of an op: names with values, fixed when the op is called.
//!
//! ```text
//!  OpAttrs ── freeze ──► OpAttrsRef          mutable ──► shared, immutable, sorted by name
//!     │
//!     ├─ entries: name, type code, offset
//!     └─ section: the bytes, as a program's attribute section has them: its own, or the program's
//! ```
//!
//! Values have the same layout in memory as in a file, so ops of the Core Runtime and kernels of a
//! graph read them in the same way, and the attributes of a program are read in place.

mod binding;

mod matching;

mod print;

mod value;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;
use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_attr::{
    AggregateView, AttrError, AttrRef, AttrTypeCode, AttrValue, EncodeError, FromAttr,
    OpAttrArgument, ToOpAttr,
};
use tfrt_host::__runtime::FunctionTable;
use tfrt_host::FunctionRef;
use tfrt_ods::OpDef;
use tfrt_support::{Error, ErrorCode};

pub(crate) use binding::BoundAttrs;
use binding::KeptBinding;
pub(crate) use matching::{Match, Matched};
use value::{AttrPlace, OwnSection};

use crate::identity;

/// Most ops have no more attributes; so many entries lie in the set itself.
const NUM_IN_PLACE: usize = 6;

/// A set of op attributes.
///
/// ```
/// use tfrt_core::OpAttrs;
/// use tfrt_support::DType;
///
/// let mut attrs = OpAttrs::new();
/// assert!(attrs.set("transpose_a", true)?);
/// assert!(attrs.set("T", DType::F32)?);
/// assert!(attrs.set("strides", &[1_i64, 2, 2, 1][..])?);
/// // The first value of a name stays.
/// assert!(!attrs.set("transpose_a", false)?);
///
/// assert_eq!(attrs.get::<bool>("transpose_a"), Some(true));
/// assert_eq!(attrs.get::<&[i64]>("strides"), Some(&[1, 2, 2, 1][..]));
/// // The type must be exactly right.
/// assert_eq!(attrs.get::<i64>("transpose_a"), None);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct OpAttrs {
    /// In the order of their names.
    entries: SmallVec<[AttrEntry; NUM_IN_PLACE]>,
    section: Section,
    /// The copy that [`freeze`](Self::freeze) made last, until something changes.
    frozen: Option<OpAttrsRef>,
    /// Where the kernel that uses the set finds its attributes, until something changes.
    binding: KeptBinding,
    /// Whether it is the set that all ops without attributes have.
    is_shared_by_all: bool,
}

/// One attribute: where its bytes are.
#[derive(Clone)]
pub(crate) struct AttrEntry {
    name: SmolStr,
    place: AttrPlace,
}

/// Where the bytes of values are.
#[derive(Clone)]
enum Section {
    Own(OwnSection),
    /// The attribute section of a program, which is kept alive.
    Program(Arc<dyn FunctionTable>),
}

impl Default for Section {
    fn default() -> Self {
        Self::Own(OwnSection::default())
    }
}

impl OpAttrs {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an attribute. Returns `true` if it is new: an attribute that is already set keeps its
    /// value.
    ///
    /// # Errors
    /// If the value has no encoding, because it is too large, for instance.
    pub fn set(&mut self, name: impl Into<SmolStr>, value: impl ToOpAttr) -> Result<bool, Error> {
        self.set_argument(name.into(), &value.to_argument())
    }

    /// Does the work of [`set`](Self::set).
    pub(crate) fn set_argument(
        &mut self,
        name: SmolStr,
        argument: &OpAttrArgument<'_>,
    ) -> Result<bool, Error> {
        let position = match self.entries.last() {
            // Callers often set attributes in the order of their names.
            None => 0,
            Some(last) if last.name < name => self.entries.len(),
            Some(_) => match self.position(&name) {
                Ok(_) => return Ok(false),
                Err(position) => position,
            },
        };
        let place = self.own_section()?.push_argument(argument)?;
        self.frozen = None;
        self.binding.forget();
        let entry = AttrEntry { name, place };
        if position == self.entries.len() {
            self.entries.push(entry);
        } else {
            self.entries.insert(position, entry);
        }
        Ok(true)
    }

    /// Returns the attributes that a program lists as pairs of a name and a value; those in
    /// `functions` are names of functions. They are read in place if they are in the attribute
    /// section of `program`, and copied otherwise.
    ///
    /// # Errors
    /// If an element is not a pair that begins with a name, or a function is not named by a text.
    pub fn of_pairs(
        program: Option<&Arc<dyn FunctionTable>>,
        ordinary: AggregateView<'_>,
        functions: Option<AggregateView<'_>>,
    ) -> Result<Self, Error> {
        let Some(program) = program else {
            return Self::copied(ordinary, functions);
        };
        let mut attrs = Self::new();
        for pair in ordinary.iter() {
            let (name, value) = split(pair.read()?)?;
            attrs.push(name, value.code(), value.offset());
        }
        for pair in functions.into_iter().flat_map(AggregateView::iter) {
            let (name, function) = split(pair.read()?)?;
            function_name(name, function)?;
            attrs.push(name, AttrTypeCode::FUNC, function.offset());
        }
        attrs.sort();
        if !attrs.entries.is_empty() {
            attrs.section = Section::Program(Arc::clone(program));
        }
        Ok(attrs)
    }

    /// Does the work of [`of_pairs`](Self::of_pairs), with copies.
    fn copied(
        ordinary: AggregateView<'_>,
        functions: Option<AggregateView<'_>>,
    ) -> Result<Self, Error> {
        let mut attrs = Self::new();
        let mut section = OwnSection::default();
        for pair in ordinary.iter() {
            let (name, value) = split(pair.read()?)?;
            let AttrPlace { code, offset } = section.push(&value.decode()?)?;
            attrs.push(name, code, offset);
        }
        for pair in functions.into_iter().flat_map(AggregateView::iter) {
            let (name, function) = split(pair.read()?)?;
            let function = function_name(name, function)?.to_owned();
            let AttrPlace { code, offset } = section.push(&AttrValue::Func(function))?;
            attrs.push(name, code, offset);
        }
        attrs.sort();
        attrs.section = Section::Own(section);
        Ok(attrs)
    }

    /// Adds an attribute whose bytes are in the section. [`sort`](Self::sort) follows the last one.
    fn push(&mut self, name: &str, code: AttrTypeCode, offset: u32) {
        let (name, place) = (name.into(), AttrPlace { code, offset });
        self.entries.push(AttrEntry { name, place });
    }

    /// Puts attributes in the order of their names. The first one of a name stays.
    fn sort(&mut self) {
        let is_sorted = |pair: &[AttrEntry]| pair[0].name < pair[1].name;
        if self.entries.windows(2).all(is_sorted) {
            return;
        }
        // Stable: of one name, the first one comes first.
        self.entries.sort_by(|a, b| a.name.cmp(&b.name));
        self.entries
            .dedup_by(|later, first| later.name == first.name);
    }

    /// Checks that the set has the attributes that a kernel of this declaration needs.
    ///
    /// # Errors
    /// If one is missing, or of another kind.
    pub fn check(&self, op: &'static OpDef) -> Result<(), Error> {
        self.bind(op).map(drop)
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if no attribute is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns `true` if an attribute of this name is set, whatever its type.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_ok()
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Returns the attribute of this name, if it is set and has this type. A number is not a list,
    /// and types must match exactly.
    #[must_use]
    pub fn get<'a, T: FromAttr<'a>>(&'a self, name: &str) -> Option<T> {
        self.read(name)?.ok()
    }

    /// Returns the attribute of this name as a `T`, if it is set.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn try_get<'a, T: FromAttr<'a>>(&'a self, name: &str) -> Result<Option<T>, Error> {
        match self.read(name) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(error)) => Err(mismatched(&format!("attribute `{name}`"), &error)),
        }
    }

    fn read<'a, T: FromAttr<'a>>(&'a self, name: &str) -> Option<Result<T, AttrError>> {
        let place = self.place(name)?;
        Some(T::read_as(self.section(), place.offset, place.code))
    }

    /// Returns the name of the function that an attribute is.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&str> {
        let place = self.place(name)?;
        (place.code == AttrTypeCode::FUNC)
            .then(|| FromAttr::read(self.section(), place.offset).ok())
            .flatten()
    }

    /// Returns the function that an attribute names, in the program that lists the attribute.
    ///
    /// # Errors
    /// If the attribute is not set, or does not name a function; if the program has no function of
    /// this name.
    pub fn called_function(&self, name: &str) -> Result<FunctionRef, Error> {
        let function = self.function(name).ok_or_else(|| {
            let message = format!("missing function attribute `{name}`");
            Error::new(message).with_code(ErrorCode::InvalidArgument)
        })?;
        let found = match &self.section {
            Section::Program(table) => table
                .number_of(function)
                .map(|number| FunctionRef::new(Arc::clone(table), number)),
            Section::Own(_) => None,
        };
        found.ok_or_else(|| {
            let message = format!("attribute `{name}`: unknown function `{function}`");
            Error::new(message).with_code(ErrorCode::NotFound)
        })
    }

    /// Prints the set exactly as programs print it: text is a list of bytes, which need not be
    /// characters.
    ///
    /// ```
    /// use tfrt_core::OpAttrs;
    ///
    /// let mut attrs = OpAttrs::new();
    /// attrs.set("axis", -1)?;
    /// assert_eq!(attrs.to_bytes(), b"OpAttrs contains 1 entries:\n  'axis' type=I32 value=-1\n\n");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        print::to_bytes(self)
    }

    /// Returns the type of the attribute of this name.
    #[must_use]
    pub fn code(&self, name: &str) -> Option<AttrTypeCode> {
        Some(self.place(name)?.code)
    }

    /// Returns the attribute of this name, as a value by itself.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<AttrValue> {
        let place = self.place(name)?;
        tfrt_attr::decode::decode(self.section(), place.offset, place.code).ok()
    }

    /// Returns an immutable copy, which can be shared. It is made once, until an attribute is set.
    ///
    /// ```
    /// use tfrt_core::OpAttrs;
    ///
    /// let mut attrs = OpAttrs::new();
    /// attrs.set("axis", -1)?;
    /// let frozen = attrs.freeze();
    /// attrs.set("keep_dims", true)?;
    /// assert_eq!((frozen.len(), attrs.len()), (1, 2));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    pub fn freeze(&mut self) -> OpAttrsRef {
        let frozen = self.to_frozen();
        self.frozen = Some(frozen.clone());
        frozen
    }

    /// Does the same as [`freeze`](Self::freeze), without keeping the copy.
    #[must_use]
    pub fn to_frozen(&self) -> OpAttrsRef {
        if let Some(frozen) = &self.frozen {
            return frozen.clone();
        }
        let copy = || Self {
            entries: self.entries.clone(),
            section: self.section.clone(),
            ..Self::default()
        };
        OpAttrsRef((!self.is_empty()).then(|| Arc::new(copy())))
    }

    /// Returns `true` if both sets have the same bytes for the same names, and both own them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (Section::Own(own), Section::Own(others)) = (&self.section, &other.section) else {
            return false;
        };
        // Names are nearly always those of a declaration, which are the same text.
        let is_same_name = |a: &str, b: &str| std::ptr::eq(a, b) || a == b;
        let is_same = |(a, b): (&AttrEntry, &AttrEntry)| {
            a.place == b.place && is_same_name(a.name.as_str(), b.name.as_str())
        };
        self.entries.len() == other.entries.len()
            && own.words() == others.words()
            && self.entries.iter().zip(&other.entries).all(is_same)
    }

    /// Returns the number of bytes that the values take.
    pub(crate) fn num_bytes(&self) -> usize {
        self.section().len()
    }

    pub(crate) fn place(&self, name: &str) -> Option<AttrPlace> {
        let position = self.position(name).ok()?;
        Some(self.entries[position].place)
    }

    /// Returns the bytes that the offsets of places are in.
    pub(crate) fn section(&self) -> &[u8] {
        match &self.section {
            Section::Own(own) => own.bytes(),
            Section::Program(table) => table.attribute_section(),
        }
    }

    /// Returns the position of the attribute at `index`, if it has this name.
    #[inline]
    fn place_at(&self, index: usize, name: &str) -> Option<AttrPlace> {
        let entry = self.entries.get(index)?;
        (entry.name == *name).then_some(entry.place)
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|entry| entry.name.as_str().cmp(name))
    }

    /// Returns the set's own section. What lies in a program's is copied to it first.
    #[inline]
    fn own_section(&mut self) -> Result<&mut OwnSection, EncodeError> {
        if matches!(self.section, Section::Program(_)) {
            self.copy_section()?;
        }
        match &mut self.section {
            Section::Own(own) => Ok(own),
            Section::Program(_) => unreachable!("it was replaced above"),
        }
    }

    /// Copies what lies in a program's section to one of the set's own.
    #[cold]
    fn copy_section(&mut self) -> Result<(), EncodeError> {
        if let Section::Program(table) = &self.section {
            let mut own = OwnSection::default();
            let mut entries = self.entries.clone();
            for entry in &mut entries {
                let AttrPlace { code, offset } = entry.place;
                let value = tfrt_attr::decode::decode(table.attribute_section(), offset, code)
                    .expect("loading a program checks all of its attributes");
                entry.place = own.push(&value)?;
            }
            (self.entries, self.section) = (entries, Section::Own(own));
        }
        Ok(())
    }
}

/// Returns the name and the value that a pair is.
fn split(pair: AggregateView<'_>) -> Result<(&str, AttrRef<'_>), Error> {
    match (pair.get(0), pair.get(1), pair.len()) {
        (Some(name), Some(value), 2) => Ok((name.read::<&str>()?, value)),
        _ => Err(not_a_pair()),
    }
}

/// Returns the name of the function that the attribute `name` is.
fn function_name<'a>(name: &str, value: AttrRef<'a>) -> Result<&'a str, Error> {
    value
        .read::<&str>()
        .map_err(|error| mismatched(&format!("function attribute `{name}`"), &error))
}

/// That an attribute is of another type than asked for. Where its bytes are is of no interest here.
#[cold]
fn mismatched(attribute: &str, error: &AttrError) -> Error {
    Error::new(format!("{attribute}: {}", error.problem())).with_code(ErrorCode::InvalidArgument)
}

#[cold]
fn not_a_pair() -> Error {
    Error::new("expected a name and a value for each op attribute")
        .with_code(ErrorCode::InvalidArgument)
}

impl fmt::Display for OpAttrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

impl fmt::Debug for OpAttrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.names().map(|name| (name, self.value(name)));
        f.debug_map().entries(values).finish()
    }
}

/// The set is printed, set and frozen by kernels that take it in turn.
impl Value for OpAttrs {
    const MLIR_TYPE: &'static str = "!corert.opattrs";
    const IS_MUTABLE: bool = true;
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

/// Op attributes that do not change any more. Cloning shares them.
///
/// ```
/// use tfrt_core::{OpAttrs, OpAttrsRef};
///
/// let mut attrs = OpAttrs::new();
/// attrs.set("axis", 1_i32)?;
/// let frozen: OpAttrsRef = attrs.freeze();
/// assert_eq!(frozen.get::<i32>("axis"), Some(1));
/// assert_eq!(frozen.to_string(), "OpAttrs contains 1 entries:\n  'axis' type=I32 value=1\n\n");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpAttrsRef(Option<Arc<OpAttrs>>);

impl OpAttrsRef {
    /// Returns the attributes of one op: they remember where its kernel finds them, even if there
    /// are none.
    pub(crate) fn of_one_op(attrs: Arc<OpAttrs>) -> Self {
        Self(Some(attrs))
    }
}

impl Deref for OpAttrsRef {
    type Target = OpAttrs;

    fn deref(&self) -> &OpAttrs {
        static EMPTY: OpAttrs = OpAttrs {
            entries: SmallVec::new_const(),
            section: Section::Own(OwnSection::EMPTY),
            frozen: None,
            binding: KeptBinding::new(),
            is_shared_by_all: true,
        };
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl fmt::Display for OpAttrsRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Value for OpAttrsRef {
    const MLIR_TYPE: &'static str = "!corert.opattrs_ref";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for OpAttrsRef {}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_attr::{DenseAttr, DenseView, Scalar, ShapeView};
    use tfrt_support::DType;

    #[test]
    fn getters_see_their_own_type_alone() {
        let mut attrs = OpAttrs::new();
        attrs.set("scalar", 3_i32).unwrap();
        attrs.set("list", &[3_i32][..]).unwrap();
        attrs.set("text", "three").unwrap();
        attrs.set("none", &[][..] as &[f32]).unwrap();
        assert_eq!(attrs.get::<i32>("scalar"), Some(3));
        assert_eq!(attrs.get::<&[i32]>("scalar"), None);
        assert_eq!(attrs.get::<i32>("list"), None);
        assert_eq!(attrs.get::<i64>("scalar"), None);
        assert_eq!(attrs.get::<&str>("text"), Some("three"));
        assert_eq!(attrs.get::<&[f32]>("none"), Some(&[][..]));
        assert_eq!(attrs.function("text"), None);
        let error = attrs.try_get::<bool>("scalar").unwrap_err();
        assert_eq!(
            error.message(),
            "attribute `scalar`: expected i1, found i32"
        );
    }

    #[test]
    fn values_of_every_kind_are_read_back() {
        let dense = DenseAttr {
            dtype: DType::I64,
            dims: vec![2],
            data: [7_i64, -7].map(i64::to_le_bytes).concat(),
        };
        let nested = AttrValue::Array(vec![
            AttrValue::Dense(dense.clone()),
            AttrValue::Array(vec![AttrValue::string("in"), Scalar::i8(1).into()]),
        ]);
        let values = [
            ("b", AttrValue::from(Scalar::bool(true))),
            ("dense", AttrValue::Dense(dense)),
            ("dims", AttrValue::Shape(Some(vec![1, -1]))),
            ("any", AttrValue::Shape(None)),
            ("f", AttrValue::Func("f".to_owned())),
            ("nested", nested),
            ("t", AttrValue::Type(DType::String)),
            ("z", AttrValue::Array(vec![AttrValue::Type(DType::F32)])),
        ];
        let mut attrs = OpAttrs::new();
        for (name, value) in values.iter().rev() {
            assert!(attrs.set(*name, value).unwrap());
        }
        for (name, value) in &values {
            assert_eq!(attrs.value(name).as_ref(), Some(value), "{name}");
        }
        assert_eq!(attrs.function("f"), Some("f"));
        let dims = attrs.get::<ShapeView<'_>>("dims").unwrap();
        assert_eq!(dims.dims(), Some(&[1, -1][..]));
        let view = attrs.get::<DenseView<'_>>("dense").unwrap();
        assert_eq!(view.elements::<i64>().unwrap(), [7, -7]);
        assert!(attrs.names().is_sorted());
    }

    #[test]
    fn an_empty_set_is_frozen_without_memory() {
        let mut attrs = OpAttrs::new();
        assert!(attrs.freeze().0.is_none());
        attrs.set("a", 1_i64).unwrap();
        let (first, second) = (attrs.freeze(), attrs.freeze());
        let address = |frozen: &OpAttrsRef| frozen.0.as_ref().map(Arc::as_ptr);
        assert_eq!(address(&first), address(&second));
    }
}
