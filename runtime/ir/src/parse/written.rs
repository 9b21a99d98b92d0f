//! The parser interface of hand-written custom forms: see [`crate::syntax`].

use super::lexer::Kind;
use super::parse_type;
use super::parser::{Failure, Parser};
use super::values::Name;
use crate::attribute::{AttrId, Attribute};
use crate::module::{BlockId, Module, OpState, RegionId, ValueId};
use crate::types::TypeId;

/// The marker of an error, which the parser reports.
#[derive(Debug)]
pub struct SyntaxError(pub(super) Failure);

impl From<Failure> for SyntaxError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

/// A value as the text names it. Its type may not be known yet.
#[derive(Clone, Copy, Debug)]
pub struct NamedValue<'s>(pub(super) Name<'s>);

/// The parser of the text of one op, after its name.
pub struct OpParser<'p, 's, 'm> {
    pub(super) parser: &'p mut Parser<'s, 'm>,
    pub(super) op: &'p str,
    pub(super) start: usize,
    pub(super) has_named_results: bool,
}

impl std::fmt::Debug for OpParser<'_, '_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpParser")
            .field("op", &self.op)
            .finish_non_exhaustive()
    }
}

type Result<T> = std::result::Result<T, SyntaxError>;

impl<'s> OpParser<'_, 's, '_> {
    /// Returns the program that is being read, for its types and attributes.
    pub fn module(&mut self) -> &mut Module {
        self.parser.module
    }

    /// Returns `true` if the next token is this keyword or punctuation.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.parser.is_literal(text)
    }

    /// Returns `true` if the text names a result of the op.
    #[must_use]
    pub fn has_named_results(&self) -> bool {
        self.has_named_results
    }

    /// Returns `true` if the next token names a value.
    #[must_use]
    pub fn is_value(&self) -> bool {
        self.parser.is(Kind::Percent)
    }

    /// Returns `true` if the next token is a string.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.parser.is(Kind::String)
    }

    /// Reads a keyword or punctuation if present, and returns whether it was.
    pub fn opt(&mut self, text: &str) -> bool {
        let is_there = self.is(text);
        if is_there {
            self.parser.advance();
        }
        is_there
    }

    /// Reads a keyword or punctuation.
    ///
    /// # Errors
    /// If it is not there.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.opt(text) {
            return Ok(());
        }
        Err(self.error(format!("expected '{text}'")))
    }

    /// Reports an error at the next token. The message follows the name of the op.
    pub fn error(&mut self, message: impl std::fmt::Display) -> SyntaxError {
        let offset = self.parser.token().start;
        self.error_at(offset, message)
    }

    /// Reports an error at the op. The message follows the name of the op.
    pub fn error_at_op(&mut self, message: impl std::fmt::Display) -> SyntaxError {
        self.error_at(self.start, message)
    }

    fn error_at(&mut self, offset: usize, message: impl std::fmt::Display) -> SyntaxError {
        let message = format!("custom op '{}' {message}", self.op);
        SyntaxError(self.parser.error_at(offset, message))
    }

    /// Reads a value: `%name`.
    ///
    /// # Errors
    /// If there is none.
    pub fn value(&mut self) -> Result<NamedValue<'s>> {
        Ok(NamedValue(self.parser.value_name()?))
    }

    /// Reads values separated by commas, or nothing.
    ///
    /// # Errors
    /// If a comma is not followed by a value.
    pub fn values(&mut self) -> Result<Vec<NamedValue<'s>>> {
        let names = self.parser.opt_value_names()?;
        Ok(names.into_iter().map(NamedValue).collect())
    }

    /// Reads elements separated by commas, up to a closing bracket, which is read as well.
    ///
    /// # Errors
    /// If an element is wrong, or the bracket is missing.
    pub fn list_until(
        &mut self,
        close: &str,
        mut element: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.opt(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.opt(",") {
                return self.expect(close);
            }
        }
    }

    /// Returns the value with a name, which is used with this type.
    ///
    /// # Errors
    /// If the value has another type.
    pub fn resolve(&mut self, value: NamedValue<'s>, ty: TypeId) -> Result<ValueId> {
        Ok(self.parser.resolve_value(value.0, ty)?)
    }

    /// Reads a type.
    ///
    /// # Errors
    /// If there is none.
    pub fn ty(&mut self) -> Result<TypeId> {
        Ok(self.parser.ty()?)
    }

    /// Reads `-> T`, `-> (T, …)`, or nothing.
    ///
    /// # Errors
    /// If the arrow is not followed by types.
    pub fn opt_arrow_types(&mut self) -> Result<Vec<TypeId>> {
        match self.opt("->") {
            true => Ok(self.parser.function_result_types()?),
            false => Ok(Vec::new()),
        }
    }

    /// Returns the type with a spelling.
    ///
    /// # Panics
    /// If it is not a type: spellings come from the dialect, not from the text.
    #[must_use]
    pub fn known_type(&mut self, spelling: &str) -> TypeId {
        parse_type(self.parser.module, spelling).expect("the spelling is a type")
    }

    /// Reads an attribute. If `ty` is given, it is the type of a number or of dense elements, which
    /// then have no type of their own.
    ///
    /// # Errors
    /// If there is none.
    pub fn attribute(&mut self, ty: Option<TypeId>) -> Result<AttrId> {
        Ok(self.parser.attribute(ty)?)
    }

    /// Reads a word.
    ///
    /// # Errors
    /// If there is none.
    pub fn word(&mut self) -> Result<&'s str> {
        if !self.parser.is(Kind::Bare) && !self.parser.is(Kind::IntType) {
            return Err(self.error("expected a word"));
        }
        let token = self.parser.advance();
        Ok(self.parser.spelling(token))
    }

    /// Reads an integer, which may be negative.
    ///
    /// # Errors
    /// If there is none, or it has more than 64 bits.
    pub fn integer(&mut self) -> Result<i64> {
        let is_negative = self.opt("-");
        let token = self.parser.token();
        if token.kind != Kind::Integer {
            return Err(self.error("expected an integer"));
        }
        let sign = if is_negative { "-" } else { "" };
        let value = format!("{sign}{}", self.parser.spelling(token)).parse();
        let value = value.map_err(|_| self.error("expected an integer of 64 bits"))?;
        self.parser.advance();
        Ok(value)
    }

    /// Reads a text between brackets, whatever it is, and returns it with them.
    ///
    /// # Errors
    /// If there is no bracket, or those of the text do not match.
    pub fn bracketed(&mut self) -> Result<&'s str> {
        let token = self.parser.token();
        if !matches!(
            token.kind,
            Kind::Less | Kind::LSquare | Kind::LParen | Kind::LBrace
        ) {
            return Err(self.error("expected a bracket"));
        }
        let close = self.parser.matching_bracket(token.start)?;
        let text = &self.parser.source[token.start..close];
        self.parser.reset(close);
        Ok(text)
    }

    /// Reads `@name`, and returns the name.
    ///
    /// # Errors
    /// If there is none.
    pub fn symbol(&mut self) -> Result<String> {
        if !self.parser.is(Kind::At) {
            return Err(self.error("expected valid '@'-identifier for symbol name"));
        }
        let token = self.parser.advance();
        Ok(self.parser.symbol(token)?)
    }

    /// Reads a dictionary of attributes into `state`, if there is one.
    ///
    /// # Errors
    /// If it is not well formed.
    pub fn opt_attributes(&mut self, state: &mut OpState) -> Result<()> {
        if self.parser.is(Kind::LBrace) {
            for (name, value) in self.parser.dictionary()? {
                let name = self.parser.module.name(name).to_owned();
                state.attributes.push((name, value));
            }
        }
        Ok(())
    }

    /// Reads a dictionary after the word `attributes`, if there is one.
    ///
    /// # Errors
    /// As for [`opt_attributes`](Self::opt_attributes).
    pub fn opt_attributes_with_keyword(&mut self, state: &mut OpState) -> Result<()> {
        match self.opt("attributes") {
            true => self.opt_attributes(state),
            false => Ok(()),
        }
    }

    /// Reads a region. Its first block has these arguments, or those that its label lists if there
    /// are none.
    ///
    /// # Errors
    /// If it is not well formed.
    pub fn region(&mut self, arguments: Vec<(NamedValue<'s>, TypeId)>) -> Result<RegionId> {
        let region = self.parser.module.create_region();
        let arguments = arguments.into_iter().map(|(name, ty)| (name.0, ty));
        self.parser.region(region, arguments.collect(), false)?;
        Ok(region)
    }

    /// Reads the location of an argument, if there is one. It is not kept.
    ///
    /// # Errors
    /// If it is not well formed.
    pub fn opt_location(&mut self) -> Result<()> {
        Ok(self.parser.opt_trailing_location(None)?)
    }

    /// Reads the name of a block of this region: `^name`.
    ///
    /// # Errors
    /// If there is none.
    pub fn successor(&mut self) -> Result<BlockId> {
        let token = self.parser.token();
        if token.kind != Kind::Caret {
            return Err(self.error("expected block name"));
        }
        let name = self.parser.spelling(token);
        let block = self.parser.block_named(name, token.start)?;
        self.parser.advance();
        Ok(block)
    }

    /// Adds the sizes of groups of operands, as the generic form has them.
    pub fn push_segment_sizes(&mut self, state: &mut OpState, sizes: &[usize]) {
        let value = segment_sizes(self.parser.module, sizes);
        state.attributes.push((SEGMENT_SIZES.into(), value));
    }
}

/// The attribute with the sizes of the groups of operands, for ops with several groups of variable
/// length.
pub const SEGMENT_SIZES: &str = "operand_segment_sizes";

/// Returns the attribute of these sizes of groups: `dense<[1, 2]> : vector<2xi32>`.
pub fn segment_sizes(module: &mut Module, sizes: &[usize]) -> AttrId {
    let spelling = format!("vector<{}xi32>", sizes.len());
    let ty = parse_type(module, &spelling).expect("the spelling is a type");
    let bytes = sizes
        .iter()
        .flat_map(|&size| i32::try_from(size).unwrap_or(i32::MAX).to_le_bytes())
        .collect();
    let elements = crate::attribute::DenseElements::from_bytes(bytes, 4);
    module.intern_attribute(Attribute::Dense { ty, elements })
}

impl Module {
    /// Returns the sizes of the groups of operands that an op states, if there are `count` of them
    /// and they fit its operands.
    #[must_use]
    pub fn operand_segments(&self, op: crate::OpId, count: usize) -> Option<Vec<usize>> {
        let Attribute::Dense { elements, .. } = self.attribute(self.attr(op, SEGMENT_SIZES)?)
        else {
            return None;
        };
        let read = |bytes: &[u8]| -> Option<usize> {
            usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        let sizes: Option<Vec<usize>> = match elements {
            crate::attribute::DenseElements::Splat(bytes) => {
                read(bytes).map(|size| vec![size; count])
            }
            crate::attribute::DenseElements::List(bytes) => bytes.chunks(4).map(read).collect(),
            crate::attribute::DenseElements::Strings(_) => None,
        };
        let fits = |sizes: &Vec<usize>| {
            let sum = sizes
                .iter()
                .try_fold(0_usize, |sum, size| sum.checked_add(*size));
            sizes.len() == count && sum == Some(self.operands(op).len())
        };
        sizes.filter(fits)
    }
}
