//! The modifiers of an instruction, which follow the first dot of its name.

use crate::float::Rounding;
use crate::instruction::{Integral, Mode};
use crate::types::{ScalarType, Space};

/// Modifiers that are not consumed yet. What is left when an instruction is decoded is not known.
pub(super) struct Modifiers<'a> {
    words: Vec<&'a str>,
    pub(super) types: Vec<ScalarType>,
}

/// They change when and how an access is seen by others, or where it is cached; here each access is
/// seen at once.
const WITHOUT_EFFECT: &[&str] = &[
    "weak", "volatile", "relaxed", "mmio", "cta", "cluster", "gpu", "sys", "ca", "cg", "cs", "cv",
    "lu", "wb", "wt", "nc", "noftz",
];

impl<'a> Modifiers<'a> {
    /// Splits the name of an instruction into its first word and the rest.
    pub(super) fn of(name: &'a str) -> (&'a str, Self) {
        let mut parts = name.split('.');
        let base = parts.next().unwrap_or_default();
        let mut modifiers = Self {
            words: Vec::new(),
            types: Vec::new(),
        };
        for part in parts {
            match ScalarType::parse(part) {
                Some(ty) => modifiers.types.push(ty),
                None => modifiers.words.push(part),
            }
        }
        (base, modifiers)
    }

    /// Consumes the modifier if it is present, and returns whether it was.
    pub(super) fn take(&mut self, word: &str) -> bool {
        match self.words.iter().position(|found| *found == word) {
            Some(index) => {
                self.words.remove(index);
                true
            }
            None => false,
        }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// Takes all modifiers of an instruction that none of them changes.
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// Returns the value of the first modifier that the table knows.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let (index, value) = self.words.iter().enumerate().find_map(|(index, word)| {
            let known = table.iter().find(|(name, _)| name == word)?;
            Some((index, known.1))
        })?;
        self.words.remove(index);
        Some(value)
    }

    pub(super) fn space(&mut self) -> Space {
        self.one_of(&[
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
            ("local", Space::Local),
            ("const", Space::Const),
            ("param", Space::Param),
            ("param::entry", Space::Param),
            ("param::func", Space::Param),
        ])
        .unwrap_or(Space::Generic)
    }

    /// Rounding of a number to its format, if the instruction names one.
    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        let table = [
            ("rn", Rounding::Nearest),
            ("rna", Rounding::Nearest),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
        ];
        self.one_of(&table)
    }

    pub(super) fn integral(&mut self) -> Option<Integral> {
        self.one_of(&[
            ("rni", Integral::Nearest),
            ("rzi", Integral::Zero),
            ("rmi", Integral::Down),
            ("rpi", Integral::Up),
        ])
    }

    /// Everything that says how to compute.
    pub(super) fn mode(&mut self) -> Mode {
        Mode {
            rounding: self.rounding().unwrap_or_default(),
            flushes: self.take("ftz"),
            saturates: self.take("sat") | self.take("satfinite"),
            keeps_nan: self.take("NaN"),
            relu: self.take("relu"),
        }
    }

    /// Returns `true` if the access is a plain one, which takes part in races.
    pub(super) fn is_weak(&self) -> bool {
        !self.words.iter().any(|word| {
            matches!(
                *word,
                "volatile" | "relaxed" | "acquire" | "release" | "mmio"
            )
        })
    }

    /// Removes the modifiers that order an access, and returns whether there were any.
    pub(super) fn take_fence(&mut self) -> bool {
        self.take("acquire") | self.take("release") | self.take("acq_rel") | self.take("sc")
    }

    /// Returns a significant modifier that was not consumed.
    pub(super) fn leftover(&self) -> Option<&'a str> {
        let matters = |word: &&&str| {
            !WITHOUT_EFFECT.contains(word) && !word.starts_with("L1::") && !is_prefetch(word)
        };
        self.words.iter().find(matters).copied()
    }
}

fn is_prefetch(word: &str) -> bool {
    matches!(
        word,
        "L2::64B"
            | "L2::128B"
            | "L2::256B"
            | "L2::evict_last"
            | "L2::evict_normal"
            | "L2::evict_first"
    )
}
