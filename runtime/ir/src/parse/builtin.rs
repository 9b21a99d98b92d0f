//! The custom forms of `func` and `module`.

use super::lexer::{Kind, Token};
use super::ops::NamedArguments;
use super::parser::{Parse, Parser};
use crate::attribute::{AttrId, Attribute};
use crate::module::{NameId, OpId, OpState};
use crate::symbols::{
    ARGUMENT_ATTRIBUTES, FUNC_OP, FUNCTION_TYPE, MODULE_OP, RESULT_ATTRIBUTES, SYMBOL_NAME,
    SYMBOL_VISIBILITY,
};
use crate::types::TypeId;

/// The attributes of an argument or result.
type Entries = Vec<(NameId, AttrId)>;

/// What a function takes: types, names unless it is a list of types alone, and attributes.
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
        let region = self.module.create_region();
        self.region(region, Vec::new(), false)?;
        if self.module.blocks(region).is_empty() {
            self.module.create_block(region, &[]);
        }
        state.regions.push(region);
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
    pub(super) fn func(&mut self, token: Token) -> Parse<OpId> {
        let location = self.location(token.start);
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
                    "custom op '{FUNC_OP}' '{inferred}' is an inferred attribute and should not be specified in the \
                     explicit attribute dictionary"
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
            self.region(region, parameters.named, false)?;
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
