//! Reads attributes of ops: lists, numbers, names.
//!
//! Versions of StableHLO write the same attribute in different forms. Each reader accepts them all.

use tfrt_import::{ImportError, Limit};
use tfrt_ir::{AttrId, Attribute, DenseElements, OpId, Type};

use super::Lowering;
use crate::text::enumeration_name;
use crate::text::structured::{body, entries, entry, numbers};

/// The entries of an attribute such as `#stablehlo.gather<…>`.
pub(super) struct Structured<'m> {
    name: &'static str,
    entries: Vec<(&'m str, &'m str)>,
}

impl Structured<'_> {
    /// Returns a list of integers, which is empty if the entry is omitted.
    pub(super) fn list(&self, name: &str) -> Result<Vec<i64>, ImportError> {
        let Some(text) = entry(&self.entries, name) else {
            return Ok(Vec::new());
        };
        numbers(text).ok_or_else(|| {
            ImportError::new(format!(
                "attribute `{}`: expected a list of integers as `{name}`",
                self.name
            ))
        })
    }

    /// Returns an integer, which is 0 if the entry is omitted.
    pub(super) fn number(&self, name: &str) -> Result<i64, ImportError> {
        let text = entry(&self.entries, name).unwrap_or("0");
        text.parse().map_err(|_| {
            ImportError::new(format!(
                "attribute `{}`: expected an integer as `{name}`",
                self.name
            ))
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

    /// Returns a list of integers, if the op has the attribute.
    pub(super) fn optional_ints(
        &self,
        op: OpId,
        name: &str,
    ) -> Result<Option<Vec<i64>>, ImportError> {
        let Some(attribute) = self.attribute(op, name) else {
            return Ok(None);
        };
        let found = self.ints_of(attribute)?;
        found.map(Some).ok_or_else(|| {
            ImportError::new(format!("attribute `{name}`: expected a list of integers"))
        })
    }

    /// Returns a required list of integers.
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

    /// Returns an integer, if the op has the attribute.
    pub(super) fn optional_int(&self, op: OpId, name: &str) -> Result<Option<i64>, ImportError> {
        let Some(attribute) = self.attribute(op, name) else {
            return Ok(None);
        };
        let number = self.module.attribute_int(attribute);
        let number = number.and_then(|number| i64::try_from(number).ok());
        let wrong = || ImportError::new(format!("attribute `{name}`: expected an integer"));
        number.map(Some).ok_or_else(wrong)
    }

    /// Returns a required integer.
    pub(super) fn int(&self, op: OpId, name: &str) -> Result<i64, ImportError> {
        let found = self.optional_int(op, name)?;
        found.ok_or_else(|| ImportError::new(format!("the attribute `{name}` is missing")))
    }

    /// Returns an integer in a dictionary, if the op has the attribute.
    pub(super) fn nested_int(&self, op: OpId, dictionary: &str, name: &str) -> Option<i64> {
        let found = self.attribute(op, dictionary)?;
        let Attribute::Dictionary(entries) = self.module.attribute(found) else {
            return None;
        };
        let entry = entries
            .iter()
            .find(|entry| self.module.name(entry.0) == name)?;
        i64::try_from(self.module.attribute_int(entry.1)?).ok()
    }

    /// Returns a Boolean, which is false if the attribute is omitted.
    pub(super) fn flag(&self, op: OpId, name: &str) -> Result<bool, ImportError> {
        Ok(self.optional_int(op, name)?.unwrap_or(0) != 0)
    }

    /// Returns a required floating point number.
    pub(super) fn float(&self, op: OpId, name: &str) -> Result<f64, ImportError> {
        let found = self
            .attribute(op, name)
            .map(|found| self.module.attribute(found));
        let wrong = || ImportError::new(format!("attribute `{name}`: expected an f32 or f64"));
        match found {
            Some(Attribute::Float { bits, ty }) => match self.module.ty(*ty) {
                Type::Float(format) => Ok(match format.width() {
                    32 => f64::from(f32::from_bits(*bits as u32)),
                    64 => f64::from_bits(*bits),
                    _ => return Err(wrong()),
                }),
                _ => Err(wrong()),
            },
            Some(_) => Err(wrong()),
            None => Err(ImportError::new(format!(
                "the attribute `{name}` is missing"
            ))),
        }
    }

    /// Returns a string or symbol name, if the op has the attribute.
    pub(super) fn text(&self, op: OpId, name: &str) -> Option<&'a str> {
        let attribute = self.attribute(op, name)?;
        let module: &'a tfrt_ir::Module = self.module;
        module
            .attribute_str(attribute)
            .or_else(|| module.attribute_flat_symbol(attribute))
    }

    /// Returns the case of an enumeration, such as `LT`, if the op has the attribute.
    pub(super) fn name_of_kind(&self, op: OpId, name: &str, kind: &str) -> Option<&'a str> {
        let module: &'a tfrt_ir::Module = self.module;
        enumeration_name(module, self.attribute(op, name)?, kind)
    }

    /// Returns the text between the angle brackets of an attribute.
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

    /// Returns the entries between the angle brackets of an attribute.
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

/// Reads bytes as integers of a width.
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
