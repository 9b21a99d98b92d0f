//! Attributes of ops: lists, numbers, names.
//!
//! Texts of different age write the same attribute in different forms; each reader takes all.

use tfrt_import::{ImportError, Limit};
use tfrt_ir::{AttrId, Attribute, DenseElements, OpId, Type};

use super::Lowering;
use crate::text::enumeration_name;
use crate::text::structured::{body, entries, entry, numbers};

/// An attribute that is text in brackets, by its entries.
pub(super) struct Structured<'m> {
    name: &'static str,
    entries: Vec<(&'m str, &'m str)>,
}

impl Structured<'_> {
    /// A list of numbers; empty, if it is left out.
    pub(super) fn list(&self, name: &str) -> Result<Vec<i64>, ImportError> {
        let Some(text) = entry(&self.entries, name) else {
            return Ok(Vec::new());
        };
        numbers(text).ok_or_else(|| {
            ImportError::new(format!(
                "attribute `{}`: `{name}` is no list of numbers",
                self.name
            ))
        })
    }

    /// A number; 0, if it is left out.
    pub(super) fn number(&self, name: &str) -> Result<i64, ImportError> {
        let text = entry(&self.entries, name).unwrap_or("0");
        text.parse().map_err(|_| {
            ImportError::new(format!("attribute `{}`: `{name}` is no number", self.name))
        })
    }
}

impl<'a> Lowering<'a> {
    fn attribute(&self, op: OpId, name: &str) -> Option<AttrId> {
        self.module.attr(op, name)
    }

    pub(super) fn has(&self, op: OpId, name: &str) -> bool {
        self.attribute(op, name).is_some()
    }

    /// A list of numbers, if it is there.
    pub(super) fn optional_ints(
        &self,
        op: OpId,
        name: &str,
    ) -> Result<Option<Vec<i64>>, ImportError> {
        let Some(attribute) = self.attribute(op, name) else {
            return Ok(None);
        };
        let found = self.ints_of(attribute)?;
        found
            .map(Some)
            .ok_or_else(|| ImportError::new(format!("attribute `{name}` is no list of integers")))
    }

    /// A list of numbers that must be there.
    pub(super) fn ints(&self, op: OpId, name: &str) -> Result<Vec<i64>, ImportError> {
        let found = self.optional_ints(op, name)?;
        found.ok_or_else(|| ImportError::new(format!("the attribute `{name}` is missing")))
    }

    /// Returns a list of integers, which is empty if the attribute is missing.
    pub(super) fn ints_or_empty(&self, op: OpId, name: &str) -> Result<Vec<i64>, ImportError> {
        Ok(self.optional_ints(op, name)?.unwrap_or_default())
    }

    fn ints_of(&self, attribute: AttrId) -> Result<Option<Vec<i64>>, ImportError> {
        let module = self.module;
        let limits = &self.options.limits;
        Ok(match module.attribute(attribute) {
            Attribute::DenseArray { element, bytes } => {
                limits.check(Limit::ListElements, bytes.len() as u64)?;
                let Type::Integer { width, .. } = *module.ty(*element) else {
                    return Ok(None);
                };
                whole_numbers(bytes, width)
            }
            Attribute::Dense { ty, elements } => {
                let (Type::Tensor { element, .. } | Type::Vector { element, .. }) = module.ty(*ty)
                else {
                    return Ok(None);
                };
                let Type::Integer { width, .. } = *module.ty(*element) else {
                    return Ok(None);
                };
                let count = match module.ty(*ty) {
                    Type::Tensor { dims, .. } => dims
                        .iter()
                        .try_fold(1_u64, |product, dim| product.checked_mul((*dim)?)),
                    Type::Vector { dims, .. } => dims
                        .iter()
                        .try_fold(1_u64, |product, &dim| product.checked_mul(dim)),
                    _ => None,
                };
                let count = count.unwrap_or(u64::MAX);
                limits.check(Limit::ListElements, count)?;
                match elements {
                    DenseElements::Splat(bytes) => whole_numbers(bytes, width)
                        .and_then(|one| Some(vec![*one.first()?; count as usize])),
                    DenseElements::List(bytes) => whole_numbers(bytes, width),
                    DenseElements::Strings(_) => None,
                }
            }
            Attribute::Array(elements) => {
                let numbers = elements.iter().map(|&element| {
                    let number = module.attribute_int(element)?;
                    i64::try_from(number).ok()
                });
                numbers.collect()
            }
            _ => None,
        })
    }

    /// A number, if it is there.
    pub(super) fn optional_int(&self, op: OpId, name: &str) -> Result<Option<i64>, ImportError> {
        let Some(attribute) = self.attribute(op, name) else {
            return Ok(None);
        };
        let number = self.module.attribute_int(attribute);
        let number = number.and_then(|number| i64::try_from(number).ok());
        let wrong = || ImportError::new(format!("attribute `{name}` is no integer"));
        number.map(Some).ok_or_else(wrong)
    }

    /// A number that must be there.
    pub(super) fn int(&self, op: OpId, name: &str) -> Result<i64, ImportError> {
        let found = self.optional_int(op, name)?;
        found.ok_or_else(|| ImportError::new(format!("the attribute `{name}` is missing")))
    }

    /// A truth value; false, if it is left out.
    pub(super) fn flag(&self, op: OpId, name: &str) -> Result<bool, ImportError> {
        Ok(self.optional_int(op, name)?.unwrap_or(0) != 0)
    }

    /// A floating point number that must be there.
    pub(super) fn float(&self, op: OpId, name: &str) -> Result<f64, ImportError> {
        let found = self
            .attribute(op, name)
            .map(|found| self.module.attribute(found));
        match found {
            Some(Attribute::Float { bits, ty }) => match self.module.ty(*ty) {
                Type::Float(format) => Ok(match format.width() {
                    32 => f64::from(f32::from_bits(*bits as u32)),
                    64 => f64::from_bits(*bits),
                    _ => return Err(ImportError::new(format!("attribute `{name}` is too short"))),
                }),
                _ => Err(ImportError::new(format!("attribute `{name}` is no number"))),
            },
            Some(_) => Err(ImportError::new(format!("attribute `{name}` is no number"))),
            None => Err(ImportError::new(format!(
                "the attribute `{name}` is missing"
            ))),
        }
    }

    /// A text, if it is there.
    pub(super) fn text(&self, op: OpId, name: &str) -> Option<&'a str> {
        let attribute = self.attribute(op, name)?;
        let module: &'a tfrt_ir::Module = self.module;
        module
            .attribute_str(attribute)
            .or_else(|| module.attribute_flat_symbol(attribute))
    }

    /// A name of a kind, such as `LT` of comparisons, if it is there.
    pub(super) fn name_of_kind(&self, op: OpId, name: &str, kind: &str) -> Option<&'a str> {
        let module: &'a tfrt_ir::Module = self.module;
        enumeration_name(module, self.attribute(op, name)?, kind)
    }

    /// The text of an attribute in brackets.
    pub(super) fn bracketed(
        &self,
        op: OpId,
        name: &'static str,
        kind: &str,
    ) -> Result<&'a str, ImportError> {
        let module: &'a tfrt_ir::Module = self.module;
        let found = self
            .attribute(op, name)
            .and_then(|found| body(module, found, kind));
        found.ok_or_else(|| {
            ImportError::new(format!(
                "expected `#stablehlo.{kind}<…>` as attribute `{name}`"
            ))
        })
    }

    /// An attribute in brackets that has entries.
    pub(super) fn structured(
        &self,
        op: OpId,
        name: &'static str,
        kind: &str,
    ) -> Result<Structured<'a>, ImportError> {
        Ok(Structured {
            name,
            entries: entries(self.bracketed(op, name, kind)?),
        })
    }
}

/// The integers of a width that bytes are.
fn whole_numbers(bytes: &[u8], width: u32) -> Option<Vec<i64>> {
    let size = (width.div_ceil(8) as usize).max(1);
    if size > 8 {
        return None;
    }
    let numbers = bytes.chunks_exact(size).map(|chunk| {
        let mut number = [0; 8];
        number[..size].copy_from_slice(chunk);
        let shift = match width {
            1 => return i64::from(number[0] & 1),
            width => 64 - width,
        };
        (i64::from_le_bytes(number) << shift) >> shift
    });
    Some(numbers.collect())
}
