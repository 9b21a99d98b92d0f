//! Metadata functions for partially known metadata. Compilers call them, before any tensor exists,
//! for functions whose shapes are partially known.
//!
//! Each function returns everything that holds for all tensors with the known metadata, and an
//! error if the op accepts no such tensors. If everything is known, the function returns the same
//! as its namesake in the parent module.
//!
//! ```
//! use tfrt_core::metadata::partial::{self, PartialMetadata};
//! use tfrt_support::DType;
//!
//! let rows = PartialMetadata::new(DType::F32, [None, Some(3)]);
//! let weights = PartialMetadata::new(DType::F32, [Some(3), Some(5)]);
//! assert_eq!(partial::matmul(&rows, &weights, false, false)?.to_string(), "f32 [?, 5]");
//! let error = partial::matmul(&weights, &weights, false, false).unwrap_err();
//! assert_eq!(error.message(), "cannot multiply f32 [3, 5] and f32 [3, 5]");
//! # Ok::<(), tfrt_support::Error>(())
//! ```

use std::fmt;

use smallvec::SmallVec;
use tfrt_support::{DType, Error, TensorMetadata};

use super::invalid;

/// The extents of a tensor of known rank, outermost first; `None` for an unknown extent.
pub type PartialExtents = SmallVec<[Option<usize>; 6]>;

/// The known part of the metadata of a tensor.
///
/// ```
/// use tfrt_core::metadata::partial::PartialMetadata;
/// use tfrt_support::{DType, TensorMetadata};
///
/// let some_rows = PartialMetadata::new(DType::F32, [None, Some(3)]);
/// assert_eq!(some_rows.to_string(), "f32 [?, 3]");
/// assert_eq!(some_rows.known(), None);
///
/// let two_rows = PartialMetadata::from(TensorMetadata::new(DType::F32, [2, 3]));
/// assert_eq!(some_rows.and(&two_rows), Some(two_rows.clone()));
/// assert_eq!(PartialMetadata::of_dtype(DType::I32).and(&two_rows), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartialMetadata {
    /// The element type; `None` if it is unknown.
    pub dtype: Option<DType>,
    /// The extents; `None` if the rank is unknown.
    pub extents: Option<PartialExtents>,
}

impl From<TensorMetadata> for PartialMetadata {
    fn from(known: TensorMetadata) -> Self {
        Self::new(
            known.dtype,
            known.extents.iter().map(|&extent| Some(extent)),
        )
    }
}

/// Without metadata, nothing is known.
impl From<Option<TensorMetadata>> for PartialMetadata {
    fn from(known: Option<TensorMetadata>) -> Self {
        known.map_or(Self::UNKNOWN, Self::from)
    }
}

impl PartialMetadata {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        dtype: None,
        extents: None,
    };

    /// Creates metadata with a known element type and rank.
    #[must_use]
    pub fn new(dtype: DType, extents: impl IntoIterator<Item = Option<usize>>) -> Self {
        Self {
            dtype: Some(dtype),
            extents: Some(extents.into_iter().collect()),
        }
    }

    /// Creates metadata with a known element type.
    #[must_use]
    pub const fn of_dtype(dtype: DType) -> Self {
        Self {
            dtype: Some(dtype),
            extents: None,
        }
    }

    /// Returns the metadata, if all of it is known.
    #[must_use]
    pub fn known(&self) -> Option<TensorMetadata> {
        let extents = self.extents.as_ref()?.iter().copied();
        let extents: SmallVec<[usize; 6]> = extents.collect::<Option<_>>()?;
        Some(TensorMetadata::new(self.dtype?, &extents[..]))
    }

    /// Combines what both know; returns `None` if no tensor satisfies both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Option<Self> {
        let extents = match (&self.extents, &other.extents) {
            (Some(left), Some(right)) if left.len() == right.len() => {
                let both = left.iter().zip(right).map(|(&a, &b)| both(a, b));
                Some(both.collect::<Option<PartialExtents>>()?)
            }
            (Some(_), Some(_)) => return None,
            (left, right) => left.as_ref().or(right.as_ref()).cloned(),
        };
        Some(Self {
            dtype: both(self.dtype, other.dtype)?,
            extents,
        })
    }
}

/// Writes text such as `f32 [2, ?]`, or `? [*]` if nothing is known.
impl fmt::Display for PartialMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => write!(f, "{dtype} [")?,
            None => f.write_str("? [")?,
        }
        match &self.extents {
            None => f.write_str("*")?,
            Some(extents) => {
                for (index, extent) in extents.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    match extent {
                        Some(extent) => write!(f, "{comma}{extent}")?,
                        None => write!(f, "{comma}?")?,
                    }
                }
            }
        }
        f.write_str("]")
    }
}

/// Combines what two sources know of one thing; returns `None` if they contradict each other.
fn both<T: Copy + PartialEq>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.or(b)),
    }
}

/// Returns the metadata of the operand for the result.
#[must_use]
pub fn same_as(x: &PartialMetadata) -> PartialMetadata {
    x.clone()
}

/// Returns the metadata that both operands and the result share, combined from both operands.
///
/// # Errors
/// If they differ in element type or shape.
pub fn same_as_both(a: &PartialMetadata, b: &PartialMetadata) -> Result<PartialMetadata, Error> {
    a.and(b).ok_or_else(|| super::not_alike(a, b))
}

/// Returns the metadata of a result that is one number.
#[must_use]
pub fn scalar(dtype: Option<DType>) -> PartialMetadata {
    PartialMetadata {
        dtype,
        extents: Some(PartialExtents::new()),
    }
}

/// Does the same as [`broadcast`](super::broadcast): a known extent other than 1 is the extent of
/// the result, even if the other extent is unknown.
///
/// # Errors
/// If the element types differ, or two extents do and neither is 1.
pub fn broadcast(a: &PartialMetadata, b: &PartialMetadata) -> Result<PartialMetadata, Error> {
    let dtype = both(a.dtype, b.dtype);
    let dtype = dtype.ok_or_else(|| invalid("incompatible dtypes for binary operation"))?;
    let (Some(left), Some(right)) = (&a.extents, &b.extents) else {
        // The unknown rank may be the larger one.
        return Ok(PartialMetadata {
            dtype,
            extents: None,
        });
    };
    let rank = left.len().max(right.len());
    let extent = |extents: &PartialExtents, from_end: usize| {
        let index = extents.len().checked_sub(from_end + 1);
        index.map_or(Some(1), |index| extents[index])
    };
    let mut stretched = PartialExtents::new();
    for from_end in 0..rank {
        stretched.push(match (extent(left, from_end), extent(right, from_end)) {
            (Some(1), other) | (other, Some(1)) => other,
            (Some(left), Some(right)) if left != right => {
                return Err(invalid(format!(
                    "Dimensions must be equal, but are {left} and {right}"
                )));
            }
            (left, right) => left.or(right),
        });
    }
    stretched.reverse();
    Ok(PartialMetadata {
        dtype,
        extents: Some(stretched),
    })
}

/// Does the same as [`comparison`](super::comparison).
///
/// # Errors
/// As [`broadcast`].
pub fn comparison(a: &PartialMetadata, b: &PartialMetadata) -> Result<PartialMetadata, Error> {
    Ok(PartialMetadata {
        dtype: Some(DType::I1),
        ..broadcast(a, b)?
    })
}

/// Does the same as [`matmul`](super::matmul): the result is always a matrix.
///
/// # Errors
/// If an operand cannot be a matrix, or element types or inner extents differ.
pub fn matmul(
    a: &PartialMetadata,
    b: &PartialMetadata,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<PartialMetadata, Error> {
    let turned = |side: &PartialMetadata, is_turned: bool| match side.extents.as_deref() {
        None => Some((None, None)),
        Some(&[columns, rows]) if is_turned => Some((rows, columns)),
        Some(&[rows, columns]) => Some((rows, columns)),
        Some(_) => None,
    };
    let refused = || invalid(format!("cannot multiply {a} and {b}"));
    let (rows, inner) = turned(a, transpose_a).ok_or_else(refused)?;
    let (found, columns) = turned(b, transpose_b).ok_or_else(refused)?;
    both(inner, found).ok_or_else(refused)?;
    Ok(PartialMetadata {
        dtype: both(a.dtype, b.dtype).ok_or_else(refused)?,
        extents: Some([rows, columns].into_iter().collect()),
    })
}

/// Does the same as [`reduce`](super::reduce): if the rank is unknown, so are the remaining
/// extents.
///
/// # Errors
/// If an axis does not exist, or is named twice.
pub fn reduce(
    x: &PartialMetadata,
    axes: &[i64],
    keeps_axes: bool,
) -> Result<PartialMetadata, Error> {
    let Some(extents) = &x.extents else {
        return Ok(x.clone());
    };
    let mut is_reduced = vec![false; extents.len()];
    for &axis in axes {
        let dimension = dimension(axis, x, extents.len())?;
        if std::mem::replace(&mut is_reduced[dimension], true) {
            return Err(invalid(format!("axis {axis} is given twice in {axes:?}")));
        }
    }
    let extents = extents.iter().zip(is_reduced);
    let extents = extents.filter_map(|(&extent, is_reduced)| match is_reduced {
        false => Some(extent),
        true => keeps_axes.then_some(Some(1)),
    });
    Ok(PartialMetadata {
        dtype: x.dtype,
        extents: Some(extents.collect()),
    })
}

/// Does the same as [`concat`](super::concat): an extent off the axis is known if any tensor has
/// it.
///
/// # Errors
/// If there is no tensor, the axis does not exist, or the tensors differ in element type or in
/// another dimension.
pub fn concat(axis: i64, tensors: &[PartialMetadata]) -> Result<PartialMetadata, Error> {
    let (first, rest) = tensors
        .split_first()
        .ok_or_else(|| invalid("expected at least one tensor to concatenate"))?;
    let refused = |tensor| {
        invalid(format!(
            "cannot concatenate {first} and {tensor} along axis {axis}"
        ))
    };
    // Returns the extent along the axis, and the metadata without it.
    let apart = |tensor: &PartialMetadata| -> Result<(Option<usize>, PartialMetadata), Error> {
        let mut others = tensor.clone();
        let along = match &mut others.extents {
            Some(extents) => {
                let dimension = dimension(axis, first, extents.len())?;
                extents[dimension].replace(0)
            }
            None => None,
        };
        Ok((along, others))
    };
    let (mut total, mut joined) = apart(first)?;
    for tensor in rest {
        let (along, others) = apart(tensor).map_err(|_| refused(tensor))?;
        joined = joined.and(&others).ok_or_else(|| refused(tensor))?;
        total = match (total, along) {
            (Some(total), Some(along)) => {
                Some(total.checked_add(along).ok_or_else(|| refused(tensor))?)
            }
            _ => None,
        };
    }
    if let Some(extents) = &mut joined.extents {
        let dimension = dimension(axis, first, extents.len())?;
        extents[dimension] = total;
    }
    Ok(joined)
}

/// Returns the dimension that an axis names.
fn dimension(axis: i64, x: &PartialMetadata, rank: usize) -> Result<usize, Error> {
    super::dimension_of(axis, rank)
        .ok_or_else(|| invalid(format!("axis {axis} is out of range for {x}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata;

    /// A random number generator whose numbers depend only on the seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            // The multiplier and the increment of PCG's generator.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }

        fn metadata(&mut self) -> TensorMetadata {
            let dtype = [DType::F32, DType::F32, DType::F32, DType::I32][self.below(4)];
            let rank = self.below(4);
            let extents = (0..rank).map(|_| self.below(4)).collect::<Vec<_>>();
            TensorMetadata::new(dtype, &extents[..])
        }

        /// Returns the same metadata with random parts unknown.
        fn veiled(&mut self, known: &TensorMetadata) -> PartialMetadata {
            let mut partial = PartialMetadata::from(known.clone());
            if self.below(6) == 0 {
                partial.dtype = None;
            }
            match &mut partial.extents {
                extents if self.below(5) == 0 => *extents = None,
                Some(extents) => {
                    for extent in extents {
                        if self.below(3) == 0 {
                            *extent = None;
                        }
                    }
                }
                None => {}
            }
            partial
        }
    }

    fn text<T: ToString>(outcome: &Result<T, Error>) -> String {
        match outcome {
            Ok(told) => told.to_string(),
            Err(error) => format!("error: {}", error.message()),
        }
    }

    /// A function on known metadata, and its namesake on partially known metadata.
    struct Both {
        name: &'static str,
        known: fn(&[TensorMetadata; 2]) -> Result<TensorMetadata, Error>,
        partial: fn(&[PartialMetadata; 2]) -> Result<PartialMetadata, Error>,
    }

    const FUNCTIONS: [Both; 10] = [
        Both {
            name: "same_as",
            known: |[a, _]| Ok(metadata::same_as(a)),
            partial: |[a, _]| Ok(same_as(a)),
        },
        Both {
            name: "same_as_both",
            known: |[a, b]| metadata::same_as_both(a, b),
            partial: |[a, b]| same_as_both(a, b),
        },
        Both {
            name: "broadcast",
            known: |[a, b]| metadata::broadcast(a, b),
            partial: |[a, b]| broadcast(a, b),
        },
        Both {
            name: "comparison",
            known: |[a, b]| metadata::comparison(a, b),
            partial: |[a, b]| comparison(a, b),
        },
        Both {
            name: "matmul",
            known: |[a, b]| metadata::matmul(a, b, false, false),
            partial: |[a, b]| matmul(a, b, false, false),
        },
        Both {
            name: "matmul, both transposed",
            known: |[a, b]| metadata::matmul(a, b, true, true),
            partial: |[a, b]| matmul(a, b, true, true),
        },
        Both {
            name: "reduce",
            known: |[a, _]| metadata::reduce(a, &[0], false),
            partial: |[a, _]| reduce(a, &[0], false),
        },
        Both {
            name: "reduce, axes kept",
            known: |[a, _]| metadata::reduce(a, &[0, -1], true),
            partial: |[a, _]| reduce(a, &[0, -1], true),
        },
        Both {
            name: "concat",
            known: |both| metadata::concat(0, both),
            partial: |both| concat(0, both),
        },
        Both {
            name: "concat along the last axis",
            known: |[a, b]| metadata::concat(-1, &[a.clone(), b.clone(), a.clone()]),
            partial: |[a, b]| concat(-1, &[a.clone(), b.clone(), a.clone()]),
        },
    ];

    #[test]
    fn what_is_said_of_partly_known_operands_holds_for_all_that_fit() {
        let mut random = Random(1);
        for Both {
            name,
            known,
            partial,
        } in FUNCTIONS
        {
            let mut num_told = 0;
            for _ in 0..20_000 {
                let mut operands = [random.metadata(), random.metadata()];
                if random.below(2) == 0 {
                    operands[1] = operands[0].clone();
                }
                let exact = operands.clone().map(PartialMetadata::from);
                let veiled = [random.veiled(&operands[0]), random.veiled(&operands[1])];
                let truth = known(&operands);
                assert_eq!(
                    text(&partial(&exact)),
                    text(&truth),
                    "{name} of {operands:?}"
                );
                let Ok(truth) = truth else {
                    continue;
                };
                let told = partial(&veiled);
                let told = told.unwrap_or_else(|error| panic!("{name} of {veiled:?}: {error:?}"));
                let truth = PartialMetadata::from(truth);
                assert_eq!(
                    told.and(&truth),
                    Some(truth),
                    "{name} of {veiled:?}: {told}"
                );
                num_told += 1;
            }
            assert!(num_told > 500, "{name}: {num_told}");
        }
    }

    #[test]
    fn the_most_that_can_be_said_is_said() {
        let of =
            |extents: &[Option<usize>]| PartialMetadata::new(DType::F32, extents.iter().copied());
        let any = PartialMetadata::of_dtype(DType::F32);
        let check = |told: Result<PartialMetadata, Error>, expected: &str| {
            assert_eq!(text(&told), expected);
        };
        let (x, y) = (of(&[None, Some(3)]), of(&[Some(4), None]));
        check(broadcast(&x, &y), "f32 [4, 3]");
        check(broadcast(&of(&[Some(1)]), &of(&[None])), "f32 [?]");
        check(broadcast(&any, &x), "f32 [*]");
        check(
            broadcast(&x, &of(&[Some(2)])),
            "error: Dimensions must be equal, but are 3 and 2",
        );
        check(comparison(&PartialMetadata::UNKNOWN, &x), "i1 [*]");
        check(same_as_both(&x, &y), "f32 [4, 3]");
        check(
            same_as_both(&x, &of(&[None])),
            "error: expected operands of the same type and shape, found f32 [?, 3] and f32 [?]",
        );
        check(matmul(&x, &any, false, false), "f32 [?, ?]");
        check(matmul(&y, &x, false, false), "f32 [4, 3]");
        check(
            matmul(&x, &y, false, false),
            "error: cannot multiply f32 [?, 3] and f32 [4, ?]",
        );
        check(reduce(&x, &[1], true), "f32 [?, 1]");
        check(reduce(&any, &[1], true), "f32 [*]");
        check(
            concat(0, &[x.clone(), any.clone(), y.clone()]),
            "f32 [?, 3]",
        );
        check(concat(1, &[x, y, any]), "f32 [4, ?]");
        assert_eq!(scalar(None).to_string(), "? []");
    }
}
