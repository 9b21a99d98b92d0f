//! Types.

use tfrt_ods::UnknownTypes;

use super::lexer::Kind;
use super::parser::{Parse, Parser};
use crate::attribute::{AttrId, Attribute};
use crate::types::{FloatType, Signedness, Type, TypeId};

/// The maximum width of an integer type.
const MAX_INTEGER_WIDTH: u32 = (1 << 24) - 1;
/// The maximum length of a type's spelling.
const MAX_SPELLING: usize = 1 << 20;

const ANGLES: (Kind, Kind) = (Kind::Less, Kind::Greater);

impl<'s> Parser<'s, '_> {
    /// `type ::= function-type | non-function-type`
    pub(super) fn ty(&mut self) -> Parse<TypeId> {
        if self.is(Kind::LParen) {
            self.function_type()
        } else {
            self.non_function_type()
        }
    }

    fn intern_bounded(&mut self, ty: Type, parts: &[TypeId]) -> Parse<TypeId> {
        // With aliases, a short text can denote a long type.
        let length: usize = parts
            .iter()
            .map(|part| self.module.type_spelling(*part).len())
            .sum();
        if length > MAX_SPELLING {
            return Err(self.error("type is too long"));
        }
        Ok(self.module.intern_type(ty))
    }

    /// `function-type ::= type-list-parens '->' function-result-types`
    fn function_type(&mut self) -> Parse<TypeId> {
        self.nested(|this| {
            let inputs = this.type_list_parens()?;
            this.expect(Kind::Arrow, "expected '->' in function type")?;
            let results = this.function_result_types()?;
            let parts = [&inputs[..], &results[..]].concat();
            this.intern_bounded(
                Type::Function {
                    inputs: inputs.into(),
                    results: results.into(),
                },
                &parts,
            )
        })
    }

    /// `type-list-parens ::= '(' (type (',' type)*)? ')'`
    pub(super) fn type_list_parens(&mut self) -> Parse<Vec<TypeId>> {
        self.expect(Kind::LParen, "expected '('")?;
        if self.opt(Kind::RParen) {
            return Ok(Vec::new());
        }
        let types = self.type_list()?;
        self.expect(Kind::RParen, "expected ')'")?;
        Ok(types)
    }

    /// `type-list ::= type (',' type)*`
    pub(super) fn type_list(&mut self) -> Parse<Vec<TypeId>> {
        let mut types = Vec::new();
        self.comma_list(|this| {
            types.push(this.ty()?);
            Ok(())
        })?;
        Ok(types)
    }

    /// `function-result-types ::= type-list-parens | non-function-type`
    pub(super) fn function_result_types(&mut self) -> Parse<Vec<TypeId>> {
        if self.is(Kind::LParen) {
            self.type_list_parens()
        } else {
            Ok(vec![self.non_function_type()?])
        }
    }

    pub(super) fn non_function_type(&mut self) -> Parse<TypeId> {
        self.nested(|this| match this.token().kind {
            Kind::IntType => this.integer_type(),
            Kind::Exclamation => this.extended_type(),
            Kind::Bare => this.builtin_type(),
            _ => Err(this.error("expected non-function type")),
        })
    }

    fn integer_type(&mut self) -> Parse<TypeId> {
        let spelling = self.current();
        let (signedness, digits) = match spelling.as_bytes()[0] {
            b's' => (Signedness::Signed, &spelling[2..]),
            b'u' => (Signedness::Unsigned, &spelling[2..]),
            _ => (Signedness::Signless, &spelling[1..]),
        };
        let width = match digits.parse::<u32>() {
            Ok(width) if width <= MAX_INTEGER_WIDTH => width,
            Ok(_) => {
                return Err(self.error(format!(
                    "integer bitwidth is limited to {MAX_INTEGER_WIDTH} bits"
                )));
            }
            Err(_) => return Err(self.error("invalid integer width")),
        };
        self.advance();
        Ok(self.module.intern_type(Type::Integer { width, signedness }))
    }

    fn builtin_type(&mut self) -> Parse<TypeId> {
        let word = self.current();
        if let Some(float) = FloatType::from_spelling(word) {
            self.advance();
            return Ok(self.module.intern_type(Type::Float(float)));
        }
        match word {
            "index" => {
                self.advance();
                Ok(self.module.intern_type(Type::Index))
            }
            "none" => {
                self.advance();
                Ok(self.module.intern_type(Type::None))
            }
            "complex" => self.complex_type(),
            "tuple" => self.tuple_type(),
            "tensor" => self.tensor_type(),
            "vector" => self.vector_type(),
            "memref" => self.memref_type(),
            _ => Err(self.error("expected non-function type")),
        }
    }

    fn complex_type(&mut self) -> Parse<TypeId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' in complex type")?;
        let offset = self.token().start;
        let element = self.ty()?;
        self.expect(Kind::Greater, "expected '>' in complex type")?;
        if !matches!(
            self.module.ty(element),
            Type::Integer { .. } | Type::Float(_)
        ) {
            return Err(self.error_at(offset, "invalid element type for complex"));
        }
        self.intern_bounded(Type::Complex(element), &[element])
    }

    fn tuple_type(&mut self) -> Parse<TypeId> {
        self.advance();
        let mut elements = Vec::new();
        self.delimited(ANGLES, " in tuple type", |this| {
            elements.push(this.ty()?);
            Ok(())
        })?;
        let parts = elements.clone();
        self.intern_bounded(Type::Tuple(elements.into()), &parts)
    }

    fn tensor_type(&mut self) -> Parse<TypeId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' in tensor type")?;
        let dims = self.opt_unranked_or_dims()?;
        let offset = self.token().start;
        let element = self.ty()?;
        let encoding = self.opt_trailing_attribute()?;
        self.expect(Kind::Greater, "expected '>' in tensor type")?;
        if matches!(
            self.module.ty(element),
            Type::Function { .. } | Type::Tuple(_) | Type::None
        ) || matches!(
            self.module.ty(element),
            Type::Tensor { .. } | Type::UnrankedTensor(_) | Type::MemRef { .. }
        ) {
            return Err(self.error_at(offset, "invalid tensor element type"));
        }
        let ty = match dims {
            Some(dims) => Type::Tensor {
                dims: dims.into(),
                element,
                encoding,
            },
            None if encoding.is_some() => {
                return Err(self.error("cannot apply encoding to unranked tensor"));
            }
            None => Type::UnrankedTensor(element),
        };
        self.intern_bounded(ty, &[element])
    }

    fn vector_type(&mut self) -> Parse<TypeId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' in vector type")?;
        let offset = self.token().start;
        let Some(dims) = self.dims()?.into_iter().collect::<Option<Vec<u64>>>() else {
            return Err(self.error_at(offset, "expected static dimensions in vector type"));
        };
        let element = self.ty()?;
        self.expect(Kind::Greater, "expected '>' in vector type")?;
        self.intern_bounded(
            Type::Vector {
                dims: dims.into(),
                element,
            },
            &[element],
        )
    }

    fn memref_type(&mut self) -> Parse<TypeId> {
        self.advance();
        self.expect(Kind::Less, "expected '<' in memref type")?;
        let dims = self.opt_unranked_or_dims()?;
        let element = self.ty()?;
        let (mut layout, mut memory_space) = (None, None);
        while memory_space.is_none() && self.opt(Kind::Comma) {
            let offset = self.token().start;
            let attribute = self.attribute(None)?;
            let Attribute::Layout {
                num_dims,
                is_identity,
                ..
            } = *self.module.attribute(attribute)
            else {
                memory_space = Some(attribute);
                continue;
            };
            if layout.is_some() {
                return Err(self.error_at(offset, "expected one layout in memref type"));
            }
            match dims.as_ref().map(Vec::len) {
                None => return Err(self.error_at(offset, "unranked memref has no layout")),
                Some(rank) if rank != num_dims => {
                    let message = format!(
                        "memref layout mismatch between rank and affine map: {rank} != {num_dims}"
                    );
                    return Err(self.error_at(offset, message));
                }
                Some(_) => layout = Some((!is_identity).then_some(attribute)),
            }
        }
        self.expect(Kind::Greater, "expected '>' in memref type")?;
        self.intern_bounded(
            Type::MemRef {
                dims: dims.map(Into::into),
                element,
                layout: layout.flatten(),
                memory_space,
            },
            &[element],
        )
    }

    fn opt_trailing_attribute(&mut self) -> Parse<Option<AttrId>> {
        if self.opt(Kind::Comma) {
            self.attribute(None).map(Some)
        } else {
            Ok(None)
        }
    }

    /// `'*' 'x' | dimension-list`
    fn opt_unranked_or_dims(&mut self) -> Parse<Option<Vec<Option<u64>>>> {
        if self.opt(Kind::Star) {
            self.x_in_dims()?;
            return Ok(None);
        }
        self.dims().map(Some)
    }

    /// `dimension-list ::= (('?' | integer) 'x')*`
    fn dims(&mut self) -> Parse<Vec<Option<u64>>> {
        let mut dims = Vec::new();
        loop {
            self.plain_dims(&mut dims);
            match self.token().kind {
                Kind::Question => {
                    self.advance();
                    dims.push(None);
                }
                Kind::Integer => dims.push(Some(self.dim()?)),
                _ => return Ok(dims),
            }
            self.x_in_dims()?;
        }
    }

    /// Reads the dimensions that follow one another without blanks, as they usually do.
    ///
    /// To the lexer, everything after the first `x` is one word: read token by token, a list would
    /// be scanned once for each dimension.
    fn plain_dims(&mut self, dims: &mut Vec<Option<u64>>) {
        let bytes = self.source.as_bytes();
        let mut offset = self.token().start;
        loop {
            let rest = &bytes[offset..];
            let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (dim, len) = match rest.first() {
                Some(b'?') => (None, 1),
                _ => match self.source[offset..offset + len].parse::<i64>() {
                    Ok(dim) => (Some(dim.unsigned_abs()), len),
                    // No dimension, or one that is reported as an error.
                    Err(_) => break,
                },
            };
            if rest.get(len) != Some(&b'x') {
                break;
            }
            dims.push(dim);
            offset += len + 1;
        }
        if offset != self.token().start {
            self.reset(offset);
        }
    }

    fn dim(&mut self) -> Parse<u64> {
        let token = self.token();
        let spelling = self.spelling(token);
        if spelling.starts_with("0x") {
            // `0xf32` is the number `0`, then `x`, then a type.
            self.reset(token.start + 1);
            return Ok(0);
        }
        match spelling.parse::<i64>() {
            Ok(dim) => {
                self.advance();
                Ok(dim.unsigned_abs())
            }
            Err(_) => Err(self.error("invalid dimension")),
        }
    }

    /// Consumes the `x` after a dimension, which may start a word.
    fn x_in_dims(&mut self) -> Parse<()> {
        let token = self.token();
        if token.kind != Kind::Bare || !self.spelling(token).starts_with('x') {
            return Err(self.error("expected 'x' in dimension list"));
        }
        self.reset(token.start + 1);
        Ok(())
    }

    /// `'!' alias | '!' dialect '.' body | '!' dialect '<' (string | body) '>'`
    fn extended_type(&mut self) -> Parse<TypeId> {
        let token = self.advance();
        let identifier = &self.spelling(token)[1..];
        if !identifier.contains('.') && !self.is(Kind::Less) {
            return match self.type_aliases.get(identifier) {
                Some(&ty) => Ok(ty),
                None => Err(self.error(format!("undefined symbol alias id '{identifier}'"))),
            };
        }
        let (dialect, body, offset) = self.dialect_symbol(token.start + 1, identifier)?;
        self.check_dialect_type(dialect, &body, offset)?;
        let def = self.registry.dialect(dialect);
        let present = def.map_or(&*body, |def| def.present_type(&body));
        let body = Box::from(present);
        Ok(self.module.intern_type(Type::Dialect {
            dialect: dialect.into(),
            body,
        }))
    }

    fn check_dialect_type(&mut self, dialect: &str, body: &str, offset: usize) -> Parse<()> {
        if self.is_lenient {
            return Ok(());
        }
        let registry = std::sync::Arc::clone(&self.registry);
        if let Some(def) = registry.dialect(dialect) {
            return match def.unknown_types {
                UnknownTypes::Rejected(text) if !def.accepts_type(body) => {
                    Err(self.error_at(offset, format!("{text}{body}")))
                }
                _ => Ok(()),
            };
        }
        if self.options.allow_unregistered_dialects || registry.knows_dialect(dialect) {
            return Ok(());
        }
        Err(self.error_at(
            offset,
            format!(
                "`!\"{dialect}\"<\"{body}\">` type created with unregistered dialect. If this is \
                 intended, please call allowUnregisteredDialects() on the MLIRContext, or use \
                 -allow-unregistered-dialect with the MLIR opt tool used"
            ),
        ))
    }

    /// Returns the dialect and the body of `dialect.body`, `dialect<"body">` or `dialect<body>`,
    /// whose identifier has been read, and the offset of the body. Without a dot and quotes, the
    /// brackets belong to the body.
    pub(super) fn dialect_symbol(
        &mut self,
        start: usize,
        identifier: &'s str,
    ) -> Parse<(&'s str, String, usize)> {
        let Some((dialect, name)) = identifier.split_once('.') else {
            let open = self
                .expect(Kind::Less, "expected '<' in dialect type")?
                .start;
            let token = self.token();
            if token.kind != Kind::String {
                let close = self.matching_bracket(open)?;
                self.reset(close);
                return Ok((identifier, self.source[open..close].to_owned(), open));
            }
            self.advance();
            let body = self.string_text(token)?;
            self.expect(Kind::Greater, "expected '>' in dialect symbol")?;
            return Ok((identifier, body, token.start + 1));
        };
        let offset = start + dialect.len() + 1;
        let end = offset + name.len();
        if self.is(Kind::Less) && self.token().start == end {
            let close = self.matching_bracket(end)?;
            self.reset(close);
            return Ok((dialect, self.source[offset..close].to_owned(), offset));
        }
        Ok((dialect, name.to_owned(), offset))
    }

    /// Returns the offset after the bracket that closes the one at `start`.
    pub(super) fn matching_bracket(&mut self, start: usize) -> Parse<usize> {
        let mut open = Vec::new();
        let mut lexer = self.lexer;
        let bytes = self.source.as_bytes();
        let mut offset = start;
        while let Some(&byte) = bytes.get(offset) {
            let is_arrow = byte == b'-' && bytes.get(offset + 1) == Some(&b'>');
            match byte {
                b'<' | b'[' | b'(' | b'{' => open.push(byte),
                b'>' | b']' | b')' | b'}' => {
                    let expected = match byte {
                        b'>' => b'<',
                        b']' => b'[',
                        b')' => b'(',
                        _ => b'{',
                    };
                    if open.pop() != Some(expected) {
                        let message = format!(
                            "unbalanced '{}' character in pretty dialect name",
                            char::from(byte)
                        );
                        return Err(self.error_at(offset, message));
                    }
                    if open.is_empty() {
                        return Ok(offset + 1);
                    }
                }
                b'"' => {
                    lexer.reset(offset);
                    let string = lexer.next();
                    if string.kind != Kind::String {
                        break;
                    }
                    offset = string.end;
                    continue;
                }
                _ => {}
            }
            offset += if is_arrow { 2 } else { 1 };
        }
        Err(self.error_at(start, "unexpected nul or EOF in pretty dialect name"))
    }
}
