//! Attributes except dense ones.

use super::lexer::{Kind, Token};
use super::parser::{Failure, Parse, Parser};
use crate::attribute::{AttrId, Attribute};
use crate::module::NameId;
use crate::print::number::float_bits;
use crate::types::{FloatType, Signedness, Type, TypeId};

/// The maximum number of attributes within one attribute, with aliases expanded. Aliases could make
/// it far larger.
const MAX_ATTRIBUTES: u64 = 1 << 22;

impl Parser<'_, '_> {
    /// Parses an attribute. If `ty` is given, it is the type of a number, which then has no type of
    /// its own.
    pub(super) fn attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        self.nested(|this| match this.token().kind {
            Kind::LSquare => this.array_attribute(),
            Kind::LBrace => this.dictionary_attribute(),
            Kind::Hash => this.extended_attribute(),
            Kind::Float => this.float_attribute(ty, false),
            Kind::Integer => this.integer_attribute(ty, false),
            Kind::Minus => {
                this.advance();
                match this.token().kind {
                    Kind::Integer => this.integer_attribute(ty, true),
                    Kind::Float => this.float_attribute(ty, true),
                    _ => Err(this.error("expected constant integer or floating point value")),
                }
            }
            Kind::String => this.string_attribute(ty),
            Kind::At => this.symbol_attribute(),
            Kind::Bare => this.word_attribute(ty),
            _ => this.type_attribute(),
        })
    }

    fn word_attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        match self.current() {
            "true" | "false" => {
                let is_true = self.current() == "true";
                self.advance();
                Ok(self.module.bool_attr(is_true))
            }
            "unit" => {
                self.advance();
                Ok(self.module.intern_attribute(Attribute::Unit))
            }
            "dense" => self.dense_attribute(ty),
            "dense_resource" => self.resource_attribute(ty),
            "array" => self.dense_array_attribute(),
            "affine_map" => self.affine_map(),
            "strided" => self.strided_layout(),
            "sparse" | "opaque" => self.raw_elements_attribute(ty),
            "loc" => {
                self.advance();
                self.expect(Kind::LParen, "expected '(' in inline location")?;
                let location = self.location_instance()?;
                self.expect(Kind::RParen, "expected ')' in inline location")?;
                Ok(self.module.intern_attribute(Attribute::Location(location)))
            }
            _ => self.type_attribute(),
        }
    }

    fn type_attribute(&mut self) -> Parse<AttrId> {
        let ty = self.ty()?;
        Ok(self.module.intern_attribute(Attribute::Type(ty)))
    }

    /// `'[' (attribute (',' attribute)*)? ']'`
    fn array_attribute(&mut self) -> Parse<AttrId> {
        self.advance();
        let mut elements = Vec::new();
        self.list_until(Kind::RSquare, |this| {
            elements.push(this.attribute(None)?);
            Ok(())
        })?;
        let size = self.size_of(elements.iter().copied())?;
        let array = self
            .module
            .intern_attribute(Attribute::Array(elements.into()));
        self.attribute_sizes[array] = size;
        Ok(array)
    }

    fn dictionary_attribute(&mut self) -> Parse<AttrId> {
        let entries = self.dictionary()?;
        let size = self.size_of(entries.iter().map(|entry| entry.1))?;
        let dictionary = self.module.dictionary_attr(entries);
        self.attribute_sizes[dictionary] = size;
        Ok(dictionary)
    }

    /// Returns the number of attributes in one with these members, including itself.
    fn size_of(&mut self, members: impl Iterator<Item = AttrId>) -> Parse<u64> {
        let size = members.fold(1u64, |sum, member| {
            sum.saturating_add(self.attribute_sizes[member])
        });
        if size > MAX_ATTRIBUTES {
            Err(self.error("attribute is too large"))
        } else {
            Ok(size)
        }
    }

    /// `attribute-dict ::= '{' (entry (',' entry)*)? '}'`, `entry ::= (word | string) ('='
    /// attribute)?`, in the order written.
    pub(super) fn dictionary(&mut self) -> Parse<Vec<(NameId, AttrId)>> {
        let mut entries: Vec<(NameId, AttrId)> = Vec::new();
        let mut names = std::collections::HashSet::new();
        self.delimited(
            (Kind::LBrace, Kind::RBrace),
            " in attribute dictionary",
            |this| {
                let token = this.token();
                let name = match token.kind {
                    Kind::String => this.string_text(token)?,
                    Kind::Bare | Kind::IntType => this.spelling(token).to_owned(),
                    _ => return Err(this.error("expected attribute name")),
                };
                let id = this.module.intern_name(&name);
                if !names.insert(id) {
                    return Err(
                        this.error(format!("duplicate key '{name}' in dictionary attribute"))
                    );
                }
                this.advance();
                let value = if this.opt(Kind::Equal) {
                    this.attribute(None)?
                } else {
                    this.module.intern_attribute(Attribute::Unit)
                };
                entries.push((id, value));
                Ok(())
            },
        )?;
        Ok(entries)
    }

    /// `string (':' type)?`
    fn string_attribute(&mut self, ty: Option<TypeId>) -> Parse<AttrId> {
        let token = self.advance();
        let text = self.string_bytes(token);
        // The type of a string is not used anywhere.
        if ty.is_none() && self.opt(Kind::Colon) {
            self.ty()?;
        }
        Ok(self.module.string_attr(text))
    }

    /// `'@' name ('::' '@' name)*`
    fn symbol_attribute(&mut self) -> Parse<AttrId> {
        let token = self.advance();
        let root = self.symbol(token)?;
        let mut nested: Vec<Box<str>> = Vec::new();
        while self.is(Kind::Colon) {
            let start = self.token().start;
            self.advance();
            if !self.opt(Kind::Colon) {
                self.reset(start);
                break;
            }
            if !self.is(Kind::At) {
                return Err(self.error("expected nested symbol reference identifier"));
            }
            let token = self.advance();
            nested.push(self.symbol(token)?.into());
        }
        Ok(self.module.intern_attribute(Attribute::SymbolRef {
            root: root.into(),
            nested: nested.into(),
        }))
    }

    /// `'#' alias | '#' dialect ('.' body | '<' body '>') (':' type)?`
    fn extended_attribute(&mut self) -> Parse<AttrId> {
        let token = self.advance();
        let identifier = &self.spelling(token)[1..];
        if !identifier.contains('.') && !self.is(Kind::Less) {
            return match self.attribute_aliases.get(identifier) {
                Some(&attribute) => Ok(attribute),
                None => Err(self.error(format!("undefined symbol alias id '{identifier}'"))),
            };
        }
        let (dialect, body, offset) = self.dialect_symbol(token.start + 1, identifier)?;
        let ty = if self.opt(Kind::Colon) {
            Some(self.ty()?)
        } else {
            None
        };
        let registry = std::sync::Arc::clone(&self.registry);
        if let Some(def) = registry.dialect(dialect) {
            let Some(keyword) = def.shape_attribute else {
                let message = format!("dialect '{dialect}' provides no attribute parsing hook");
                return Err(self.error_at(offset, message));
            };
            return match body.strip_prefix(keyword).and_then(shape_dims) {
                Some(dims) => {
                    let notation = format!("{dialect}.{keyword}").into();
                    Ok(self
                        .module
                        .intern_attribute(Attribute::Shape { notation, dims }))
                }
                None => Err(self.error_at(
                    offset,
                    format!("unknown {dialect} {keyword} attribute: {body}"),
                )),
            };
        }
        if !self.options.allow_unregistered_dialects && !registry.knows_dialect(dialect) {
            return Err(self.error_at(
                offset,
                format!(
                    "`#\"{dialect}\"<\"{body}\">` attribute created with unregistered dialect. If \
                     this is intended, please call allowUnregisteredDialects() on the \
                     MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used"
                ),
            ));
        }
        Ok(self.module.intern_attribute(Attribute::Opaque {
            dialect: dialect.into(),
            body: body.into(),
            ty,
        }))
    }

    /// Returns the type of a number: the given one, the one after a colon, or the default.
    fn number_type(&mut self, ty: Option<TypeId>, default: Type) -> Parse<TypeId> {
        match ty {
            Some(ty) => Ok(ty),
            None if self.opt(Kind::Colon) => self.ty(),
            None => Ok(self.module.intern_type(default)),
        }
    }

    fn float_attribute(&mut self, ty: Option<TypeId>, is_negative: bool) -> Parse<AttrId> {
        let Some(value) = float_literal(self.current()) else {
            return Err(self.error("floating point value too large for attribute"));
        };
        self.advance();
        let ty = self.number_type(ty, Type::Float(FloatType::F64))?;
        let Type::Float(format) = *self.module.ty(ty) else {
            return Err(self.error("floating point value not valid for specified type"));
        };
        let bits = float_bits(format, if is_negative { -value } else { value });
        Ok(self.module.intern_attribute(Attribute::Float { bits, ty }))
    }

    fn integer_attribute(&mut self, ty: Option<TypeId>, is_negative: bool) -> Parse<AttrId> {
        let token = self.advance();
        let default = Type::Integer {
            width: 64,
            signedness: Signedness::Signless,
        };
        let ty = self.number_type(ty, default)?;
        if let Type::Float(format) = *self.module.ty(ty) {
            let bits = self.float_from_integer(token, is_negative, format)?;
            return Ok(self.module.intern_attribute(Attribute::Float { bits, ty }));
        }
        match *self.module.ty(ty) {
            Type::Integer {
                signedness: Signedness::Unsigned,
                ..
            } if is_negative => Err(self.error_at(
                token.start,
                "negative integer literal not valid for unsigned integer type",
            )),
            Type::Integer { .. } | Type::Index => {
                match integer_value(self.module.ty(ty), self.spelling(token), is_negative) {
                    Some(value) => Ok(self
                        .module
                        .intern_attribute(Attribute::Integer { value, ty })),
                    None => {
                        Err(self
                            .error_at(token.start, "integer constant out of range for attribute"))
                    }
                }
            }
            _ => Err(self.error_at(token.start, "integer literal not valid for specified type")),
        }
    }

    /// Returns the bits of a float written in hexadecimal digits.
    pub(super) fn float_from_integer(
        &mut self,
        token: Token,
        is_negative: bool,
        format: FloatType,
    ) -> Parse<u64> {
        let Some(digits) = self.spelling(token).strip_prefix("0x") else {
            return Err(self.error_with_note(
                token.start,
                "unexpected decimal integer literal for a floating point value",
                token.start,
                "add a trailing dot to make the literal a float",
            ));
        };
        if is_negative {
            return Err(self.error_at(
                token.start,
                "hexadecimal float literal should not have a leading minus",
            ));
        }
        match u64::from_str_radix(digits, 16) {
            Ok(bits) if format.width() >= 64 || bits >> format.width() == 0 => Ok(bits),
            _ => Err(self.out_of_range_float(token)),
        }
    }

    fn out_of_range_float(&mut self, token: Token) -> Failure {
        self.error_at(
            token.start,
            "hexadecimal float constant out of range for type",
        )
    }
}

/// Returns the value of a float token, unless it is too large.
pub(super) fn float_literal(spelling: &str) -> Option<f64> {
    spelling
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
}

/// Returns the value of an integer token of this type, if it is in range. For a signless type,
/// every bit pattern is.
pub(super) fn integer_value(ty: &Type, spelling: &str, is_negative: bool) -> Option<i128> {
    let magnitude = match spelling.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16),
        None => spelling.parse::<u128>(),
    }
    .ok()?;
    let (width, signedness) = match ty {
        Type::Integer { width, signedness } => (*width, *signedness),
        _ => (64, Signedness::Signed),
    };
    if width < 128 && magnitude >> width != 0 || width == 0 && is_negative {
        return None;
    }
    if signedness == Signedness::Unsigned {
        return i128::try_from(magnitude).ok();
    }
    // Beyond 128 bits, a literal cannot reach the sign bit.
    let sign = if (1..=128).contains(&width) {
        1u128 << (width - 1)
    } else {
        0
    };
    if is_negative {
        if magnitude == 0 || sign != 0 && magnitude > sign {
            return None;
        }
        return if width == 1 {
            Some(1)
        } else {
            Some((magnitude as i128).wrapping_neg())
        };
    }
    if magnitude & sign == 0 {
        return i128::try_from(magnitude).ok();
    }
    match signedness {
        Signedness::Signless if width == 1 => Some(1),
        Signedness::Signless => {
            Some((magnitude as i128).wrapping_sub((sign as i128).wrapping_mul(2)))
        }
        _ => None,
    }
}

/// Parses the sizes in `<2x?x3>`, `<>` or `<*>`, if the text has this form.
fn shape_dims(text: &str) -> Option<Option<Box<[Option<u64>]>>> {
    let inner = text.strip_prefix('<')?.strip_suffix('>')?;
    match inner {
        "*" => return Some(None),
        "" => return Some(Some([].into())),
        _ => {}
    }
    let dims: Option<Vec<Option<u64>>> = inner
        .split('x')
        .map(|dim| match dim {
            "?" => Some(None),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
                .parse::<i64>()
                .ok()
                .map(|size| Some(size.unsigned_abs())),
            _ => None,
        })
        .collect();
    dims.map(|dims| Some(dims.into()))
}
