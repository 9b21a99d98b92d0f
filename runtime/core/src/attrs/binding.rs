//! Where the declaration of a kernel finds its attributes in a set.
//!
//! A set caches this for the first kernel that asks: later calls with the set neither search for
//! names nor check kinds.

use std::sync::OnceLock;

use smallvec::SmallVec;
use tfrt_attr::{AttrValue, Scalar};
use tfrt_host::__runtime::{AttributeList, check_kind, stored_code};
use tfrt_ods::FloatKind;
use tfrt_ods::binding::ABSENT;
use tfrt_ods::{AttrDef, AttrDefault, AttrKind, OpDef};
use tfrt_support::rounding::round_to_odd;
use tfrt_support::{DType, Error, ErrorCode};

use super::OpAttrs;

/// Most kernels have no more attributes.
const NUM_IN_PLACE: usize = 6;

/// The binding that a set remembers.
#[derive(Clone, Default)]
pub(super) struct KeptBinding {
    /// The binding from before the set was shared.
    first: Option<Binding>,
    /// Otherwise, the binding of the first kernel that asked.
    later: OnceLock<Binding>,
}

impl KeptBinding {
    pub(super) const fn new() -> Self {
        Self {
            first: None,
            later: OnceLock::new(),
        }
    }

    /// Forgets the binding, because the set changes.
    #[inline]
    pub(super) fn forget(&mut self) {
        if self.get().is_some() {
            *self = Self::new();
        }
    }

    #[inline]
    fn get(&self) -> Option<&Binding> {
        self.first.as_ref().or_else(|| self.later.get())
    }
}

/// Where each attribute of a declaration is.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    op: &'static OpDef,
    /// In place of the set, if a default is needed.
    with_defaults: Option<Box<OpAttrs>>,
    offsets: SmallVec<[u32; NUM_IN_PLACE]>,
}

/// The attributes of a set, as a kernel takes them.
#[derive(Debug)]
pub(crate) struct BoundAttrs<'a> {
    given: &'a OpAttrs,
    binding: BindingRef<'a>,
}

#[derive(Debug)]
enum BindingRef<'a> {
    Kept(&'a Binding),
    Made(Binding),
}

impl BoundAttrs<'_> {
    fn binding(&self) -> &Binding {
        match &self.binding {
            BindingRef::Kept(binding) => binding,
            BindingRef::Made(binding) => binding,
        }
    }

    /// Returns the offset of each attribute, in the order of the declaration.
    pub(crate) fn offsets(&self) -> &[u32] {
        &self.binding().offsets
    }

    /// Returns the bytes that the offsets are in.
    pub(crate) fn section(&self) -> &[u8] {
        match &self.binding().with_defaults {
            Some(completed) => completed.section(),
            None => self.given.section(),
        }
    }
}

impl OpAttrs {
    /// Returns the attributes that `op` declares with a default and the set lacks: their names and
    /// defaults.
    #[must_use]
    pub fn missing_defaults(&self, op: &OpDef) -> Vec<(&'static str, AttrValue)> {
        let missing = op
            .attributes
            .iter()
            .filter(|declared| !self.contains(declared.name));
        missing
            .filter_map(|declared| Some((declared.name, default_value(declared)?)))
            .collect()
    }

    /// Returns the attributes that `op` declares, defaults included.
    ///
    /// # Errors
    /// If an attribute is missing or has another kind.
    pub(crate) fn bind(&self, op: &'static OpDef) -> Result<BoundAttrs<'_>, Error> {
        static NO_ATTRIBUTES: Binding = Binding {
            op: &OpDef::new(""),
            with_defaults: None,
            offsets: SmallVec::new_const(),
        };
        let binding = match self.binding.get() {
            _ if op.attributes.is_empty() => BindingRef::Kept(&NO_ATTRIBUTES),
            Some(kept) if std::ptr::eq(kept.op, op) => BindingRef::Kept(kept),
            _ => self.keep(Binding::new(op, self)?),
        };
        let given = self;
        Ok(BoundAttrs { given, binding })
    }

    /// Returns the attributes that `op` declares, if the set has cached their positions.
    // Always inlined: its result would go through memory.
    #[inline(always)]
    pub(crate) fn bound(&self, op: &'static OpDef) -> Option<AttributeList<'_>> {
        if op.attributes.is_empty() {
            return Some(AttributeList::EMPTY);
        }
        let kept = self.binding.get()?;
        let set = kept.with_defaults.as_deref().unwrap_or(self);
        std::ptr::eq(kept.op, op).then(|| AttributeList {
            section: set.section(),
            offsets: &kept.offsets,
        })
    }

    /// Caches the positions of the attributes of `op`.
    ///
    /// # Errors
    /// If an attribute is missing or has another kind.
    pub(crate) fn bind_first(&mut self, op: &'static OpDef) -> Result<(), Error> {
        self.binding.first = Some(Binding::new(op, self)?);
        Ok(())
    }

    /// Remembers a binding, unless the set remembers another one.
    fn keep(&self, binding: Binding) -> BindingRef<'_> {
        if self.is_shared_by_all || self.binding.first.is_some() {
            return BindingRef::Made(binding);
        }
        match self.binding.later.set(binding) {
            Ok(()) => BindingRef::Kept(self.binding.later.get().expect("it was set above")),
            Err(binding) => BindingRef::Made(binding),
        }
    }
}

impl Binding {
    fn new(op: &'static OpDef, given: &OpAttrs) -> Result<Self, Error> {
        let lacks_default = |declared: &&AttrDef| {
            declared
                .default
                .is_some_and(|default| !matches!(default, AttrDefault::Absent))
                && !given.contains(declared.name)
        };
        let mut with_defaults: Option<Box<OpAttrs>> = None;
        for declared in op.attributes.iter().filter(lacks_default) {
            if let Some(value) = default_value(declared) {
                let completed = with_defaults.get_or_insert_with(|| Box::new(given.clone()));
                completed.set(declared.name, &value)?;
            }
        }
        let attrs = with_defaults.as_deref().unwrap_or(given);
        let mut offsets = SmallVec::with_capacity(op.attributes.len());
        for (index, declared) in op.attributes.iter().enumerate() {
            offsets.push(place(op, index, declared, attrs)?);
        }
        Ok(Self {
            op,
            with_defaults,
            offsets,
        })
    }
}

fn place(op: &OpDef, index: usize, declared: &AttrDef, attrs: &OpAttrs) -> Result<u32, Error> {
    let name = declared.name;
    // Both are sorted by name. Usually all attributes are set, and no others.
    let found = attrs.place_at(index, name).or_else(|| attrs.place(name));
    match found {
        Some(found) => {
            check_kind(op, declared, found.code, attrs.section(), found.offset)?;
            Ok(found.offset)
        }
        None if declared.is_optional() => Ok(ABSENT),
        None => Err(missing(op, name)),
    }
}

/// Returns the default of an attribute, as a value.
fn default_value(declared: &AttrDef) -> Option<AttrValue> {
    let scalar = |dtype, bits| Scalar::new(dtype, bits).map(AttrValue::from);
    match declared.default? {
        AttrDefault::Bool(value) => Some(Scalar::bool(value).into()),
        AttrDefault::Int(value) => {
            let code = stored_code(&declared.kind)?;
            let tfrt_attr::AttrTypeKind::Scalar(dtype) = code.kind() else {
                return None;
            };
            let width = 8 * u32::try_from(dtype.size_bytes()?).ok()?;
            let mask = u64::MAX >> (u64::BITS - width);
            // Two's complement, cut to the width of the type, which the declaration was checked to
            // hold.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let bits = value as u64 & mask;
            scalar(dtype, bits)
        }
        AttrDefault::Float(value) => match declared.kind {
            AttrKind::Float(FloatKind::F64) => Some(Scalar::f64(value).into()),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest number is meant"
            )]
            AttrKind::Float(FloatKind::F32) => Some(Scalar::f32(value as f32).into()),
            AttrKind::Float(FloatKind::F16) => {
                Some(Scalar::f16(half::f16::from_f32(round_to_odd(value))).into())
            }
            AttrKind::Float(FloatKind::Bf16) => {
                Some(Scalar::bf16(half::bf16::from_f32(round_to_odd(value))).into())
            }
            _ => scalar(DType::F64, value.to_bits()),
        },
        AttrDefault::String(text) => Some(AttrValue::string(text)),
        AttrDefault::EmptyArray => Some(AttrValue::Array(Vec::new())),
        AttrDefault::Absent => None,
    }
}

#[cold]
fn missing(op: &OpDef, name: &str) -> Error {
    Error::new(format!("`{}`: the attribute `{name}` is missing", op.name))
        .with_code(ErrorCode::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attrs::OpAttrsRef;

    static AXIS: OpDef = OpDef {
        attributes: &[AttrDef::new("axis", AttrKind::I32)],
        ..OpDef::new("my.axis")
    };
    static BOTH: OpDef = OpDef {
        attributes: &[
            AttrDef::new("axis", AttrKind::I32),
            AttrDef {
                default: Some(AttrDefault::Bool(true)),
                ..AttrDef::new("keep", AttrKind::BOOL)
            },
        ],
        ..OpDef::new("my.both")
    };

    fn read<T: for<'a> tfrt_attr::FromAttr<'a>>(bound: &BoundAttrs<'_>, index: usize) -> T {
        T::read(bound.section(), bound.offsets()[index]).unwrap()
    }

    #[test]
    fn each_kernel_finds_its_own_attributes() {
        let mut attrs = OpAttrs::new();
        attrs.set("axis", 3_i32).unwrap();
        // The first one is remembered; the other one is bound anew, each time.
        for _ in 0..2 {
            assert_eq!(read::<i32>(&attrs.bind(&AXIS).unwrap(), 0), 3);
            let both = attrs.bind(&BOTH).unwrap();
            assert_eq!(both.offsets().len(), 2);
            assert_eq!(read::<i32>(&both, 0), 3);
            assert!(read::<bool>(&both, 1));
        }
    }

    #[test]
    fn what_is_remembered_follows_the_set() {
        let mut attrs = OpAttrs::new();
        attrs.set("axis", 3_i32).unwrap();
        assert!(read::<bool>(&attrs.bind(&BOTH).unwrap(), 1));
        attrs.set("keep", false).unwrap();
        assert!(!read::<bool>(&attrs.bind(&BOTH).unwrap(), 1));
    }

    #[test]
    fn the_empty_set_belongs_to_no_kernel() {
        let empty = OpAttrsRef::default();
        let error = empty.bind(&AXIS).unwrap_err();
        assert_eq!(
            error.message(),
            "`my.axis`: the attribute `axis` is missing"
        );
        static KEEP: OpDef = OpDef {
            attributes: &[AttrDef {
                default: Some(AttrDefault::Bool(true)),
                ..AttrDef::new("keep", AttrKind::BOOL)
            }],
            ..OpDef::new("my.keep")
        };
        assert!(read::<bool>(&empty.bind(&KEEP).unwrap(), 0));
        assert!(empty.binding.get().is_none());
    }
}
