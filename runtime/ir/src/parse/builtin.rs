//! The custom forms of `func` and `module`.

use super::lexer::{Kind, Token};
use super::ops::NamedArguments;
use super::parser::{Parse, Parser};
use crate::attribute::{AttrId, Attribute};
use crate::module::{NameId, OpId, OpState, RegionId};
use crate::symbols::{
    ARGUMENT_ATTRIBUTES, COMPILED_ATTRIBUTE, FUNC_OP, FUNCTION_TYPE, LATER_FUNC_OP,
    LATER_RETURN_OP, MODULE_OP, RESULT_ATTRIBUTES, SYMBOL_NAME, SYMBOL_VISIBILITY,
};
use crate::types::TypeId;

/// The attributes of an argument or result.
type Entries = Vec<(NameId, AttrId)>;

/// The parameters of a function: types, names unless it is a list of only types, and attributes.
#[derive(Default)]
struct Parameters<'s> {
    types: Vec<TypeId>,
    named: NamedArguments<'s>,
    attributes: Vec<Entries>,
}

impl<'s> Parser<'s, '_> {
    /// `module ::= 'module' ('@' name)? ('attributes' attribute-dict)? region`
    pub(super) fn module_op(&mut self, token: Token) -> Parse<OpId> {
        let location = self.location(token.start);
        let mut state = OpState::new(MODULE_OP, location);
        if self.is(Kind::At) {
            let token = self.advance();
            let name = self.symbol(token)?;
            let name = self.module.string_attr(name);
            state.attributes.push((SYMBOL_NAME.into(), name));
        }
        self.opt_attributes(&mut state)?;
        let is_compiled = state
            .attributes
            .iter()
            .any(|(name, _)| name == COMPILED_ATTRIBUTE);
        let (region, text) = if is_compiled {
            self.compiled_region()?
        } else {
            let region = self.module.create_region();
            self.region(region, Vec::new(), false)?;
            (region, None)
        };
        if self.module.blocks(region).is_empty() {
            self.module.create_block(region, &[]);
        }
        state.regions.push(region);
        let op = self.module.create_op(state);
        if let Some(text) = text {
            self.module.set_text(op, text);
        }
        Ok(op)
    }

    /// Parses the region of a compiled module. If an op in it has unknown custom syntax, the whole
    /// region is kept as text.
    fn compiled_region(&mut self) -> Parse<(RegionId, Option<&'s str>)> {
        let mark = self.mark();
        let region = self.module.create_region();
        self.num_compiled += 1;
        let parsed = self.region(region, Vec::new(), true);
        self.num_compiled -= 1;
        match parsed {
            Ok(()) => Ok((region, None)),
            Err(_) if std::mem::take(&mut self.met_unknown_syntax) => {
                self.rewind(mark);
                let text = self.skip_braces()?;
                Ok((self.module.create_region(), Some(text)))
            }
            Err(failure) => Err(failure),
        }
    }

    /// `('return' | 'func.return') (values ':' types)?`, which ends functions of other dialects.
    pub(super) fn plain_return(&mut self, token: Token, name: &str) -> Parse<OpId> {
        self.check_dialect_of(name)?;
        let mut state = OpState::new(name, self.location(token.start));
        let operands = self.opt_value_names()?;
        if !operands.is_empty() {
            self.expect(Kind::Colon, "expected ':'")?;
            let mut types = Vec::new();
            let offset = self.token().start;
            self.comma_list(|this| {
                types.push(this.ty()?);
                Ok(())
            })?;
            if types.len() != operands.len() {
                let message = format!(
                    "{} operands present, but expected {}",
                    operands.len(),
                    types.len()
                );
                return Err(self.error_at(offset, message));
            }
            for (operand, ty) in operands.into_iter().zip(types) {
                state.operands.push(self.resolve_value(operand, ty)?);
            }
        }
        Ok(self.module.create_op(state))
    }

    /// `('call' | 'func.call') '@' name '(' values ')' attribute-dict? ':' function-type`
    pub(super) fn plain_call(&mut self, token: Token, name: &str) -> Parse<OpId> {
        self.check_dialect_of(name)?;
        let mut state = OpState::new(name, self.location(token.start));
        if !self.is(Kind::At) {
            return Err(self.error("expected a function"));
        }
        let callee = self.advance();
        let callee = self.symbol(callee)?;
        let callee = self.module.flat_symbol_attr(&callee);
        state.attributes.push(("callee".into(), callee));
        self.expect(Kind::LParen, "expected '('")?;
        let operands = self.opt_value_names()?;
        self.expect(Kind::RParen, "expected ')'")?;
        for (name, value) in self.opt_dictionary()? {
            state
                .attributes
                .push((self.module.name(name).to_owned(), value));
        }
        self.expect(Kind::Colon, "expected ':'")?;
        self.operands_of_function_type(operands, &mut state)?;
        Ok(self.module.create_op(state))
    }

    fn opt_attributes(&mut self, state: &mut OpState) -> Parse<()> {
        if self.opt_word("attributes") {
            for (name, value) in self.dictionary()? {
                state
                    .attributes
                    .push((self.module.name(name).to_owned(), value));
            }
        }
        Ok(())
    }

    /// `func ::= 'func' visibility? '@' name '(' parameters ')' ('->' results)? ('attributes' attribute-dict)? region?`
    pub(super) fn func(&mut self, token_of_name: Token) -> Parse<OpId> {
        let location = self.location(token_of_name.start);
        let mut state = OpState::new(FUNC_OP, location);
        for visibility in ["private", "public", "nested"] {
            if self.opt_word(visibility) {
                let value = self.module.string_attr(visibility);
                state.attributes.push((SYMBOL_VISIBILITY.into(), value));
                break;
            }
        }
        if !self.is(Kind::At) {
            return Err(self.error(format!(
                "custom op '{FUNC_OP}' expected valid '@'-identifier for symbol name"
            )));
        }
        let token = self.advance();
        let name = self.symbol(token)?;
        let name = self.module.string_attr(name);
        state.attributes.push((SYMBOL_NAME.into(), name));

        let parameters = self.parameters()?;
        let (results, result_attributes) = self.opt_results()?;
        let ty = self.module.function_type(&parameters.types, &results);
        let ty = self.module.intern_attribute(Attribute::Type(ty));
        state.attributes.push((FUNCTION_TYPE.into(), ty));

        let offset = self.token().start;
        let written = state.attributes.len();
        self.opt_attributes(&mut state)?;
        for inferred in [SYMBOL_VISIBILITY, SYMBOL_NAME, FUNCTION_TYPE] {
            if state.attributes[written..]
                .iter()
                .any(|(name, _)| name == inferred)
            {
                let message = format!(
                    "custom op '{FUNC_OP}' '{inferred}' is an inferred attribute and should not \
                     be specified in the explicit attribute dictionary"
                );
                return Err(self.error_at(offset, message));
            }
        }
        self.value_attributes(ARGUMENT_ATTRIBUTES, parameters.attributes, &mut state);
        self.value_attributes(RESULT_ATTRIBUTES, result_attributes, &mut state);

        let region = self.module.create_region();
        state.regions.push(region);
        if self.is(Kind::LBrace) {
            let offset = self.token().start;
            // In programs, functions of either spelling end in the later op. Compiled modules keep
            // theirs.
            let is_older = self.spelling(token_of_name) != LATER_FUNC_OP;
            let return_op = match is_older && self.num_compiled > 0 {
                true => "std.return",
                false => LATER_RETURN_OP,
            };
            let outer = std::mem::replace(&mut self.return_op, return_op);
            self.region(region, parameters.named, false)?;
            self.return_op = outer;
            if self.module.blocks(region).is_empty() {
                return Err(self.error_at(
                    offset,
                    format!("custom op '{FUNC_OP}' expected non-empty function body"),
                ));
            }
        }
        Ok(self.module.create_op(state))
    }

    /// `parameters ::= (value ':' type attribute-dict? (',' …)*)? | (type attribute-dict? (',' …)*)?`
    fn parameters(&mut self) -> Parse<Parameters<'s>> {
        let mut parameters = Parameters::default();
        self.expect(Kind::LParen, "expected '('")?;
        if self.opt(Kind::RParen) {
            return Ok(parameters);
        }
        self.comma_list(|this| {
            let ty = if this.is(Kind::Percent) {
                if parameters.named.is_empty() && !parameters.types.is_empty() {
                    let message =
                        format!("custom op '{FUNC_OP}' expected type instead of SSA identifier");
                    return Err(this.error(message));
                }
                let name = this.value_name()?;
                this.expect(Kind::Colon, "expected ':'")?;
                let ty = this.ty()?;
                parameters.named.push((name, ty));
                ty
            } else if parameters.named.is_empty() {
                this.ty()?
            } else {
                return Err(this.error(format!("custom op '{FUNC_OP}' expected SSA identifier")));
            };
            parameters.types.push(ty);
            parameters.attributes.push(this.opt_dictionary()?);
            this.opt_trailing_location(None)
        })?;
        self.expect(Kind::RParen, "expected ')'")?;
        Ok(parameters)
    }

    /// `('->' (type | '(' (type attribute-dict? (',' …)*)? ')'))?`
    fn opt_results(&mut self) -> Parse<(Vec<TypeId>, Vec<Entries>)> {
        let (mut types, mut attributes) = (Vec::new(), Vec::new());
        if !self.opt(Kind::Arrow) {
            return Ok((types, attributes));
        }
        if !self.opt(Kind::LParen) {
            types.push(self.ty()?);
            attributes.push(Vec::new());
            return Ok((types, attributes));
        }
        if self.opt(Kind::RParen) {
            return Ok((types, attributes));
        }
        self.comma_list(|this| {
            types.push(this.ty()?);
            attributes.push(this.opt_dictionary()?);
            Ok(())
        })?;
        self.expect(Kind::RParen, "expected ')'")?;
        Ok((types, attributes))
    }

    fn opt_dictionary(&mut self) -> Parse<Entries> {
        if self.is(Kind::LBrace) {
            self.dictionary()
        } else {
            Ok(Vec::new())
        }
    }

    fn value_attributes(&mut self, name: &str, attributes: Vec<Entries>, state: &mut OpState) {
        if attributes.iter().all(Vec::is_empty) {
            return;
        }
        let dictionaries = attributes
            .into_iter()
            .map(|entries| self.module.dictionary_attr(entries))
            .collect();
        let value = self.module.intern_attribute(Attribute::Array(dictionaries));
        state.attributes.push((name.to_owned(), value));
    }
}
