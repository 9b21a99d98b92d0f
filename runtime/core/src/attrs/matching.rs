//! Attributes that are compared with those of an earlier set while they are set.
//!
//! A caller that names an op and sets its attributes mostly sets the same ones again. As long as
//! each has the value that it has in an earlier set, the new set is stored as that set and a mask
//! of the attributes that were set.

use tfrt_attr::AttrTypeCode;
use tfrt_attr::OpAttrArgument;

use super::value::AttrPlace;
use super::{AttrEntry, OpAttrs, Section};

/// Which attributes of a set were set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Matched {
    mask: u32,
    /// The number of ones, which would take longer to count than all else does.
    len: u32,
}

impl Matched {
    /// Returns the number of attributes.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.len as usize
    }

    #[inline]
    fn contains(self, index: usize) -> bool {
        self.mask >> index & 1 != 0
    }

    /// Adds an attribute that is not contained.
    #[inline]
    fn with(self, index: usize) -> Self {
        Self {
            mask: self.mask | 1 << index,
            len: self.len + 1,
        }
    }
}

/// The outcome of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The set has the attribute.
    Same(Matched),
    /// The attribute was set before.
    Twice,
    /// The set does not have the attribute, or it cannot be compared.
    Other,
}

impl OpAttrs {
    /// Looks for an attribute with this name and value, while others were set.
    #[inline]
    pub(crate) fn match_next(
        &self,
        matched: Matched,
        name: &str,
        argument: &OpAttrArgument<'_>,
    ) -> Match {
        // Callers often set attributes in the order of their names.
        let expected = matched.len();
        let is_expected = |entry: &AttrEntry| entry.name.as_str() == name;
        let index = match self.entries.get(expected) {
            Some(entry) if is_expected(entry) => expected,
            _ => match self.position(name) {
                Ok(index) => index,
                Err(_) => return Match::Other,
            },
        };
        if index >= u32::BITS as usize {
            return Match::Other;
        }
        if matched.contains(index) {
            return Match::Twice;
        }
        let (code, word) = match argument {
            OpAttrArgument::Scalar(scalar) => (scalar.code(), scalar.bits()),
            OpAttrArgument::DType(dtype) => (AttrTypeCode::TYPE, dtype.code().into()),
            OpAttrArgument::Value(_) => return Match::Other,
        };
        if self.word(self.entries[index].place, code) == Some(word.to_le()) {
            Match::Same(matched.with(index))
        } else {
            Match::Other
        }
    }

    /// Returns the word of a value of this type.
    #[inline]
    fn word(&self, place: AttrPlace, code: AttrTypeCode) -> Option<u64> {
        let Section::Own(own) = &self.section else {
            return None;
        };
        let index = place.offset as usize / size_of::<u64>();
        (place.code == code).then(|| own.words().get(index).copied())?
    }

    /// Returns `true` if these attributes of the set are also at the same positions of another set.
    pub(crate) fn agrees_on(&self, matched: Matched, other: &Self) -> bool {
        let entries = self.entries.iter().zip(&other.entries).enumerate();
        let agreeing = entries.filter(|&(index, (a, b))| {
            matched.contains(index) && a.name == b.name && {
                let word = self.word(a.place, a.place.code);
                word.is_some() && word == other.word(b.place, a.place.code)
            }
        });
        agreeing.count() == matched.len()
    }

    /// Returns a set of these attributes.
    pub(crate) fn part(&self, matched: Matched) -> Self {
        let mut part = Self::new();
        let Section::Own(own) = &mut part.section else {
            return part;
        };
        let entries = self.entries.iter().enumerate();
        for (_, entry) in entries.filter(|&(index, _)| matched.contains(index)) {
            let code = entry.place.code;
            // Only values that are words match, so that none is lost here, and there are few.
            let word = self.word(entry.place, code).map(u64::from_le);
            if let Some(Ok(place)) = word.map(|word| own.push_word(code, word)) {
                let name = entry.name.clone();
                part.entries.push(AttrEntry { name, place });
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use tfrt_attr::ToOpAttr;
    use tfrt_support::DType;

    use super::*;

    fn set(entries: &[(&'static str, i64)]) -> OpAttrs {
        let mut attrs = OpAttrs::new();
        for (name, value) in entries {
            attrs.set(*name, *value).unwrap();
        }
        attrs
    }

    /// Returns which attributes of a set these are, if all of them are attributes of it.
    fn matched(attrs: &OpAttrs, entries: &[(&str, i64)]) -> Option<Matched> {
        entries
            .iter()
            .try_fold(Matched::default(), |matched, (name, value)| {
                match attrs.match_next(matched, name, &value.to_argument()) {
                    Match::Same(matched) => Some(matched),
                    Match::Twice | Match::Other => None,
                }
            })
    }

    #[test]
    fn attributes_match_in_any_order() {
        let kept = set(&[("a", 1), ("b", -2), ("c", 3)]);
        for order in [
            [("a", 1), ("b", -2), ("c", 3)],
            [("c", 3), ("b", -2), ("a", 1)],
            [("b", -2), ("c", 3), ("a", 1)],
        ] {
            assert_eq!(
                matched(&kept, &order).map(Matched::len),
                Some(3),
                "{order:?}"
            );
        }
        for other in [("a", 2), ("d", 1), ("", 1)] {
            assert_eq!(matched(&kept, &[other]), None);
        }
    }

    #[test]
    fn types_and_values_must_be_the_same() {
        let mut kept = set(&[("a", 1)]);
        kept.set("list", &[1_i64][..]).unwrap();
        kept.set("zero", 0.0_f32).unwrap();
        kept.set("t", DType::F32).unwrap();
        let is_same = |name: &str, argument: OpAttrArgument<'_>| {
            let outcome = kept.match_next(Matched::default(), name, &argument);
            matches!(outcome, Match::Same(_))
        };
        assert!(is_same("a", 1_i64.to_argument()));
        assert!(!is_same("a", 1_i32.to_argument()));
        assert!(!is_same("a", 1_u64.to_argument()));
        assert!(!is_same("list", 1_i64.to_argument()));
        assert!(is_same("zero", 0.0_f32.to_argument()));
        assert!(!is_same("zero", (-0.0_f32).to_argument()));
        assert!(is_same("t", DType::F32.to_argument()));
        assert!(!is_same("t", DType::F64.to_argument()));
        let number = u64::from(DType::F32.code());
        assert!(!is_same("t", number.to_argument()));
    }

    #[test]
    fn an_attribute_that_was_set_is_told() {
        let kept = set(&[("a", 1), ("b", 2)]);
        let first = matched(&kept, &[("b", 2)]).unwrap();
        for value in [2_i64, 7] {
            let again = kept.match_next(first, "b", &value.to_argument());
            assert_eq!(again, Match::Twice);
        }
    }

    #[test]
    fn a_part_is_a_set_of_the_matched_attributes() {
        let mut kept = set(&[("a", 1), ("b", -2), ("c", 3)]);
        kept.set("bool", true).unwrap();
        let two = matched(&kept, &[("c", 3), ("b", -2)]).unwrap();
        let mut part = kept.part(two);
        assert_eq!(part.names().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!((part.get("b"), part.get("c")), (Some(-2_i64), Some(3_i64)));
        assert!(part.set("a", 5_i64).unwrap());
        assert_eq!(part.get("a"), Some(5_i64));
    }

    #[test]
    fn sets_agree_on_equal_attributes() {
        let kept = set(&[("a", 1), ("b", 2)]);
        let first = matched(&kept, &[("a", 1)]).unwrap();
        assert!(kept.agrees_on(first, &set(&[("a", 1), ("b", 3)])));
        assert!(kept.agrees_on(first, &set(&[("a", 1)])));
        assert!(!kept.agrees_on(first, &set(&[("a", 2), ("b", 2)])));
        assert!(!kept.agrees_on(first, &OpAttrs::new()));
        assert!(kept.agrees_on(Matched::default(), &OpAttrs::new()));
    }
}
