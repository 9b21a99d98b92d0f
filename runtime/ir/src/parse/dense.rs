//! Dense elements, and opaque elements.

use super::attributes::{float_literal, integer_value};
use super::lexer::{Kind, Token, hex_digit, unescape};
use super::parser::{Parse, Parser};
use crate::attribute::{AttrId, Attribute, DenseElements};
use crate::module::dense_element_bytes;
use crate::print::attributes::fixed_dims;
use crate::print::number::float_bits;
use crate::types::{FloatType, Signedness, Type, TypeId};

/// The content of the brackets of `dense<…>`, before its type is known.
#[derive(Default)]
struct Literal {
    /// The tokens of the elements, each with `true` if a minus precedes it.
    elements: Vec<(bool, Token)>,
    /// The sizes of the nested lists; empty for a single element, which is repeated any number of
    /// times.
    dims: Vec<u64>,
    /// `true` if it is a single string that represents all elements.
    is_string: bool,
}

impl Parser<'_, '_> {
    /// `'dense' '<' literal? '>' ':' type`
    pub(super) fn dense_attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        let start = self.advance().start;
        self.expect(Kind::Less, "expected '<' after 'dense'")?;
        let literal = self.literal_until_greater()?;
        let offset = if ty.is_some() {
            start
        } else {
            self.token().start
        };
        let ty = self.elements_type(ty)?;
        let elements = self.dense_elements(&literal, offset, ty)?;
        Ok(self
            .module
            .intern_attribute(Attribute::Dense { ty, elements }))
    }

    /// `'sparse' '<' … '>' ':' type`, `'opaque' '<' … '>' ':' type`
    pub(super) fn raw_elements_attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        let word = self.advance();
        let name = self.spelling(word);
        self.expect(Kind::Less, &format!("expected '<' after '{name}'"))?;
        let mut text = format!("{name}<");
        if name == "sparse" {
            while !self.is(Kind::Greater) {
                let start = self.token().start;
                self.literal()?;
                text.push_str(&self.source[start..self.previous_end]);
                if !self.opt(Kind::Comma) {
                    break;
                }
                text.push_str(", ");
            }
        } else {
            let dialect = self.expect(Kind::String, "expected dialect namespace")?;
            self.expect(Kind::Comma, "expected ','")?;
            let data = self.expect(Kind::String, "elements hex string should start with '0x'")?;
            text.push_str(&format!(
                "{}, {}",
                self.spelling(dialect),
                self.spelling(data)
            ));
        }
        self.expect(Kind::Greater, "expected '>'")?;
        text.push('>');
        let ty = self.elements_type(ty)?;
        Ok(self.module.intern_attribute(Attribute::Elements {
            text: text.into(),
            ty,
        }))
    }

    /// `'array' '<' type (':' element (',' element)*)? '>'`
    pub(super) fn dense_array_attribute(&mut self) -> Parse<AttrId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'array'")?;
        let offset = self.token().start;
        let element = self.ty()?;
        let size = match self.module.ty(element) {
            Type::Integer { .. } | Type::Float(_) => dense_element_bytes(self.module, element),
            _ => None,
        };
        let Some(size) = size else {
            return Err(self.error_at(offset, "expected integer or float type"));
        };
        let mut elements = Vec::new();
        if self.opt(Kind::Colon) {
            self.comma_list(|this| {
                if this.is(Kind::LParen) {
                    return Err(this.error("expected integer or float literal"));
                }
                this.literal_element(&mut elements)
            })?;
        }
        self.expect(Kind::Greater, "expected '>'")?;
        let mut bytes = Vec::with_capacity(elements.len() * size);
        for (is_negative, token) in elements {
            let raw = match *self.module.ty(element) {
                Type::Float(format) => {
                    u128::from(self.float_element(token, is_negative, format)?)
                }
                _ => self.integer_element(token, is_negative, element)?,
            };
            // Wider types than any literal are filled up with zeros, as in dense elements.
            let raw = raw.to_le_bytes().into_iter().chain(std::iter::repeat(0));
            bytes.extend(raw.take(size));
        }
        Ok(self.module.intern_attribute(Attribute::DenseArray {
            element,
            bytes: bytes.into(),
        }))
    }

    /// `'dense_resource' '<' (word | string) '>' ':' type`
    pub(super) fn resource_attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' after 'dense_resource'")?;
        let key = self.resource_name()?;
        self.expect(Kind::Greater, "expected '>'")?;
        let ty = self.elements_type(ty)?;
        let key = key.into();
        Ok(self
            .module
            .intern_attribute(Attribute::Resource { key, ty }))
    }

    fn elements_type(&mut self, ty: Option<TypeId>) -> Parse<TypeId> {
        let ty = match ty {
            Some(ty) => ty,
            None => {
                self.expect(Kind::Colon, "expected ':'")?;
                self.ty()?
            }
        };
        match self.module.ty(ty) {
            Type::Tensor { dims, .. } if dims.contains(&None) => {
                Err(self.error("elements literal type must have static shape"))
            }
            Type::Tensor { .. } | Type::Vector { .. } => Ok(ty),
            _ => Err(self.error("elements literal must be a ranked tensor or vector type")),
        }
    }

    fn literal_until_greater(&mut self) -> Parse<Literal> {
        if self.opt(Kind::Greater) {
            return Ok(Literal::default());
        }
        let literal = self.literal()?;
        self.expect(Kind::Greater, "expected '>'")?;
        Ok(literal)
    }

    /// `literal ::= list | element`
    fn literal(&mut self) -> Parse<Literal> {
        let mut literal = Literal {
            is_string: self.is(Kind::String),
            ..Literal::default()
        };
        if self.is(Kind::LSquare) {
            literal.dims = self.literal_list(&mut literal.elements)?;
        } else {
            self.literal_element(&mut literal.elements)?;
        }
        Ok(literal)
    }

    /// `list ::= '[' ((list | element) (',' (list | element))*)? ']'`; returns the sizes, outermost
    /// first.
    fn literal_list(&mut self, elements: &mut Vec<(bool, Token)>) -> Parse<Vec<u64>> {
        self.nested(|this| {
            let mut size = 0;
            let mut inner: Option<Vec<u64>> = None;
            this.delimited((Kind::LSquare, Kind::RSquare), "", |this| {
                let dims = if this.is(Kind::LSquare) {
                    this.literal_list(elements)?
                } else {
                    this.literal_element(elements)?;
                    Vec::new()
                };
                size += 1;
                match &inner {
                    Some(inner) if *inner != dims => Err(this.error(
                        "tensor literal is invalid; ranks are not consistent between elements",
                    )),
                    Some(_) => Ok(()),
                    None => {
                        inner = Some(dims);
                        Ok(())
                    }
                }
            })?;
            let mut dims = vec![size];
            dims.extend(inner.unwrap_or_default());
            Ok(dims)
        })
    }

    fn literal_element(&mut self, elements: &mut Vec<(bool, Token)>) -> Parse<()> {
        match self.token().kind {
            Kind::Integer | Kind::Float | Kind::String => elements.push((false, self.advance())),
            Kind::Bare if matches!(self.current(), "true" | "false") => {
                elements.push((false, self.advance()))
            }
            Kind::Minus => {
                self.advance();
                if !matches!(self.token().kind, Kind::Integer | Kind::Float) {
                    return Err(self.error("expected integer or floating point literal"));
                }
                elements.push((true, self.advance()));
            }
            Kind::LParen => {
                self.nested(|this| {
                    this.advance();
                    this.literal_element(elements)?;
                    this.expect(Kind::Comma, "expected ',' between complex elements")?;
                    this.literal_element(elements)?;
                    this.expect(Kind::RParen, "expected ')' after complex elements")
                })?;
            }
            _ => return Err(self.error("expected element literal of primitive type")),
        }
        Ok(())
    }

    fn dense_elements(
        &mut self,
        literal: &Literal,
        offset: usize,
        ty: TypeId,
    ) -> Parse<DenseElements> {
        let dims = fixed_dims(self.module.ty(ty));
        let (Type::Tensor { element, .. } | Type::Vector { element, .. }) = *self.module.ty(ty)
        else {
            return Err(self.error_at(
                offset,
                "elements literal must be a ranked tensor or vector type",
            ));
        };
        let size = dense_element_bytes(self.module, element);
        if literal.is_string
            && let Some(size) = size
        {
            return self.elements_from_digits(literal, element, size, offset, &dims);
        }
        if !literal.dims.is_empty() && literal.dims != dims {
            let list = |dims: &[u64]| {
                dims.iter()
                    .map(u64::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let message = format!(
                "inferred shape of elements literal ([{}]) does not match type ([{}])",
                list(&literal.dims),
                list(&dims)
            );
            return Err(self.error_at(offset, message));
        }
        if literal.elements.is_empty() && !dims.contains(&0) {
            let message = format!(
                "parsed zero elements, but type ('{}') expected at least 1",
                self.module.type_spelling(ty)
            );
            return Err(self.error_at(offset, message));
        }
        let Some(size) = size else {
            return self.string_elements(literal, offset);
        };
        let (part, parts) = match *self.module.ty(element) {
            Type::Complex(part) => (part, 2),
            _ => (element, 1),
        };
        let mut bytes = Vec::with_capacity(literal.elements.len() * size / parts);
        for &(is_negative, token) in &literal.elements {
            let raw = match *self.module.ty(part) {
                Type::Float(format) => {
                    u128::from(self.float_element(token, is_negative, format)?)
                }
                _ => self.integer_element(token, is_negative, part)?,
            };
            let part_bytes = size / parts;
            bytes.extend(
                raw.to_le_bytes()
                    .iter()
                    .copied()
                    .chain(std::iter::repeat(0))
                    .take(part_bytes),
            );
        }
        if bytes.len() % size != 0 || parts == 1 && literal.dims.is_empty() && bytes.len() > size {
            let message = format!(
                "expected elements of type '{}'",
                self.module.type_spelling(element)
            );
            return Err(self.error_at(offset, message));
        }
        let listed: u64 = literal.dims.iter().product();
        if !literal.dims.is_empty() && bytes.len() as u64 / size as u64 != listed {
            let message = format!(
                "expected elements of type '{}'",
                self.module.type_spelling(element)
            );
            return Err(self.error_at(offset, message));
        }
        Ok(DenseElements::from_bytes(bytes, size))
    }

    fn string_elements(&mut self, literal: &Literal, offset: usize) -> Parse<DenseElements> {
        let mut texts: Vec<Box<[u8]>> = Vec::with_capacity(literal.elements.len());
        for &(_, token) in &literal.elements {
            if token.kind != Kind::String {
                return Err(self.error_at(offset, "expected string tensor elements"));
            }
            texts.push(unescape(self.spelling(token)).into());
        }
        Ok(DenseElements::Strings(texts.into()))
    }

    fn integer_element(&mut self, token: Token, is_negative: bool, ty: TypeId) -> Parse<u128> {
        let is_unsigned = matches!(
            self.module.ty(ty),
            Type::Integer {
                signedness: Signedness::Unsigned,
                ..
            }
        );
        if is_negative && is_unsigned {
            return Err(self.error_at(
                token.start,
                "expected unsigned integer elements, but parsed negative value",
            ));
        }
        match token.kind {
            Kind::Float => Err(self.error_at(
                token.start,
                "expected integer elements, but parsed floating-point",
            )),
            Kind::Bare => {
                let is_bool = matches!(
                    self.module.ty(ty),
                    Type::Integer {
                        width: 1,
                        signedness: Signedness::Signless
                    }
                );
                if !is_bool {
                    return Err(
                        self.error_at(token.start, "expected i1 type for 'true' or 'false' values")
                    );
                }
                Ok(u128::from(self.spelling(token) == "true"))
            }
            Kind::Integer => {
                match integer_value(self.module.ty(ty), self.spelling(token), is_negative) {
                    Some(value) => Ok(value as u128),
                    None => {
                        Err(self.error_at(token.start, "integer constant out of range for type"))
                    }
                }
            }
            _ => Err(self.error_at(token.start, "expected integer elements, but parsed string")),
        }
    }

    fn float_element(&mut self, token: Token, is_negative: bool, format: FloatType) -> Parse<u64> {
        match token.kind {
            Kind::Integer if self.spelling(token).starts_with("0x") => {
                self.float_from_integer(token, is_negative, format)
            }
            Kind::Float => match float_literal(self.spelling(token)) {
                Some(value) => Ok(float_bits(format, if is_negative { -value } else { value })),
                None => Err(self.error("floating point value too large for attribute")),
            },
            _ => Err(self.error("expected floating-point elements, but parsed integer")),
        }
    }

    /// Parses the elements of `dense<"0x…">`: the bytes of one element or of all.
    fn elements_from_digits(
        &mut self,
        literal: &Literal,
        element: TypeId,
        size: usize,
        offset: usize,
        dims: &[u64],
    ) -> Parse<DenseElements> {
        let token = literal.elements[0].1;
        let text = self.string_bytes(token);
        let digits = text
            .strip_prefix(b"0x")
            .filter(|digits| digits.len() % 2 == 0 && digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.error_at(token.start, "elements hex string only contains hex digits"));
        };
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1]))
            .collect();
        let count = dims
            .iter()
            .try_fold(1u64, |product, dim| product.checked_mul(*dim))
            .unwrap_or(u64::MAX);
        let bytes = match self.module.ty(element) {
            Type::Integer { width: 1, .. } => boolean_digits(bytes, count),
            _ => bytes,
        };
        let is_whole = count.checked_mul(size as u64) == Some(bytes.len() as u64);
        if bytes.len() != size && !is_whole {
            let message = format!(
                "elements hex data size is invalid for provided type: '{}'",
                self.module.type_spelling(element)
            );
            return Err(self.error_at(offset, message));
        }
        Ok(DenseElements::from_bytes(bytes, size))
    }
}

/// Returns the Booleans that bytes hold: one, which is repeated, or `count` of them. Older versions
/// of MLIR pack eight into a byte, low bits first; newer ones write a byte for each. Returns no
/// Booleans if the number of bytes fits neither.
fn boolean_digits(bytes: Vec<u8>, count: u64) -> Vec<u8> {
    let is_boolean = |byte: &u8| matches!(byte, 0 | 1 | 0xFF);
    let is_listed = bytes.len() as u64 == count && bytes.iter().all(is_boolean);
    let is_repeated = match bytes[..] {
        [0 | 0xFF] => true,
        // A byte has at most eight packed Booleans.
        [1] => count > 8,
        _ => false,
    };
    if is_listed || is_repeated {
        return bytes.into_iter().map(|byte| byte & 1).collect();
    }
    if bytes.len() as u64 != count.div_ceil(8) {
        return Vec::new();
    }
    let bits = 0..count as usize;
    bits.map(|bit| bytes[bit / 8] >> (bit % 8) & 1).collect()
}
