//! Programs, ops, regions and blocks.

use tfrt_ods::FloatKind;
use tfrt_ods::{AttrDefault, AttrKind, EnumDef, EnumSign, OpDef, OpTraits};
use tfrt_support::nearest::did_you_mean;

use super::lexer::{Kind, Token};
use super::parser::{Failure, Parse, Parser};
use super::values::Name;
use super::written::OpParser;
use crate::attribute::{AttrId, Attribute};
use crate::module::{BlockId, OpId, OpState, RegionId};
use crate::registry::{OpEntry, Registry};
use crate::symbols::{
    FUNC_OP, FUNCTION_TYPE, LATER_FUNC_OP, LATER_FUNCTION_TYPE, LATER_RETURN_OP, MODULE_OP,
};
use crate::syntax::OpSyntax;
use crate::types::{FloatType, Signedness, Type, TypeId};

/// Block arguments by name, with their types.
pub(super) type NamedArguments<'s> = Vec<(Name<'s>, TypeId)>;

impl<'s> Parser<'s, '_> {
    /// `program ::= (op | attribute-alias | type-alias | file-metadata)*`. A single module is the
    /// program; anything else is wrapped in one.
    pub(super) fn program(&mut self) -> Parse<()> {
        let body = self.module.body();
        loop {
            match self.token().kind {
                Kind::Eof => break,
                Kind::Hash => self.attribute_alias()?,
                Kind::Exclamation => self.type_alias()?,
                Kind::MetadataBegin => self.file_metadata()?,
                _ => {
                    let op = self.op()?;
                    self.module.append_op(body, op);
                }
            }
        }
        self.check_values()?;
        self.resolve_locations()?;
        self.pop_scope()?;
        match *self.module.block_ops(body) {
            [op] if self.module.is_module(op) => {
                self.module.detach_op(op);
                self.module.set_root(op);
            }
            _ => {
                let location = self.file_location();
                let root = self.module.root();
                self.module.set_op_location(root, location);
            }
        }
        Ok(())
    }

    /// `'#' name '=' attribute`
    fn attribute_alias(&mut self) -> Parse<()> {
        let name = &self.current()[1..];
        if self.attribute_aliases.contains_key(name) {
            return Err(self.error(format!("redefinition of attribute alias id '{name}'")));
        }
        if name.contains('.') {
            return Err(
                self.error("attribute names with a '.' are reserved for dialect-defined names")
            );
        }
        self.advance();
        self.expect(Kind::Equal, "expected '=' in attribute alias definition")?;
        let attribute = self.attribute(None)?;
        self.attribute_aliases.insert(name, attribute);
        Ok(())
    }

    /// `'!' name '=' 'type' type`
    fn type_alias(&mut self) -> Parse<()> {
        let name = &self.current()[1..];
        if self.type_aliases.contains_key(name) {
            return Err(self.error(format!("redefinition of type alias id '{name}'")));
        }
        if name.contains('.') {
            return Err(self.error("type names with a '.' are reserved for dialect-defined names"));
        }
        self.advance();
        self.expect(Kind::Equal, "expected '=' in type alias definition")?;
        if !self.opt_word("type") {
            return Err(self.error("expected 'type' in type alias definition"));
        }
        let ty = self.ty()?;
        self.type_aliases.insert(name, ty);
        Ok(())
    }

    /// `op ::= (results '=')? (custom-op | generic-op) trailing-location`
    fn op(&mut self) -> Parse<OpId> {
        let start = self.token().start;
        let names = if self.is(Kind::Percent) {
            self.result_names()?
        } else {
            Vec::new()
        };
        self.num_named_results = names.len();
        let op = match self.token().kind {
            Kind::Bare => self.custom_op()?,
            Kind::String => self.generic_op()?,
            _ => return Err(self.error("expected operation name in quotes")),
        };
        self.opt_trailing_location(Some(op))?;
        if names.is_empty() {
            return Ok(op);
        }
        let count = self.module.results(op).len();
        if count == 0 {
            return Err(self.error_at(start, "cannot name an operation with no results"));
        }
        let expected = names
            .iter()
            .fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        if expected != count as u64 {
            let message =
                format!("operation defines {count} results but was provided {expected} to bind");
            return Err(self.error_at(start, message));
        }
        let mut results = self.module.results(op).to_vec().into_iter();
        for (name, count) in names {
            for (number, value) in (0..count).zip(results.by_ref()) {
                self.define_value(Name { number, ..name }, value)?;
            }
        }
        Ok(op)
    }

    /// `results ::= '%' name (':' number)? (',' …)* '='`
    fn result_names(&mut self) -> Parse<Vec<(Name<'s>, u64)>> {
        let mut names = Vec::new();
        self.comma_list(|this| {
            let token = this.expect(Kind::Percent, "expected valid ssa identifier")?;
            let mut count = 1;
            if this.opt(Kind::Colon) {
                if !this.is(Kind::Integer) {
                    return Err(this.error("expected integer number of results"));
                }
                count = this.current().parse().unwrap_or(0);
                if count == 0 {
                    return Err(this.error("expected named operation to have atleast 1 result"));
                }
                this.advance();
            }
            names.push((
                Name {
                    name: this.spelling(token),
                    number: 0,
                    offset: token.start,
                },
                count,
            ));
            Ok(())
        })?;
        self.expect(Kind::Equal, "expected '=' after SSA name")?;
        Ok(names)
    }

    fn custom_op(&mut self) -> Parse<OpId> {
        let token = self.advance();
        let name = self.spelling(token);
        match name {
            "func" | FUNC_OP | LATER_FUNC_OP => return self.func(token),
            "module" | MODULE_OP => return self.module_op(token),
            "return" if self.num_compiled > 0 || self.return_op == LATER_RETURN_OP => {
                return self.plain_return(token, self.return_op);
            }
            "call" if self.return_op == LATER_RETURN_OP => {
                return self.plain_call(token, "func.call");
            }
            LATER_RETURN_OP => return self.plain_return(token, name),
            "func.call" => return self.plain_call(token, name),
            _ => {}
        }
        let registry = std::sync::Arc::clone(&self.registry);
        let op = registry.op(name);
        // The ops of a compiled module belong to its compiler, whose version of a dialect may
        // differ from ours.
        let may_be_written = op.is_some() || self.num_compiled == 0;
        if let Some(syntax) = registry.syntax(name)
            && may_be_written
            && op.is_none_or(|op| op.def().assembly_format.is_none())
        {
            return self.written_op(token, syntax, op.map(OpEntry::def));
        }
        match op {
            Some(op) => match op.format() {
                Ok(Some(format)) => self.declared_op(token, op.def(), format),
                Ok(None) => Err(self.error_at(
                    token.start,
                    format!("custom op '{name}' has no custom assembly form"),
                )),
                Err(error) => Err(self.error_at(
                    token.start,
                    format!("the assembly format of `{name}` is malformed: {error}"),
                )),
            },
            None => {
                self.met_unknown_syntax = true;
                Err(self.unknown_custom_op(token, name, &registry))
            }
        }
    }

    /// Parses an op whose name is `token` in its hand-written custom form.
    fn written_op(
        &mut self,
        token: Token,
        syntax: &'static OpSyntax,
        def: Option<&'static OpDef>,
    ) -> Parse<OpId> {
        let mut state = OpState::new(syntax.op, self.location(token.start));
        let mut parser = OpParser {
            has_named_results: self.num_named_results != 0,
            parser: self,
            op: syntax.op,
            start: token.start,
        };
        (syntax.parse)(&mut parser, &mut state).map_err(|error| error.0)?;
        if let Some(def) = def {
            self.add_defaults(def, &mut state);
        }
        Ok(self.module.create_op(state))
    }

    #[cold]
    fn unknown_custom_op(&mut self, token: Token, name: &str, registry: &Registry) -> Failure {
        let message = format!(
            "custom op '{name}' is unknown{}",
            did_you_mean(&registry.suggest(name))
        );
        self.error_at(token.start, message)
    }

    /// `generic-op ::= string '(' values ')' successors? properties? regions? attribute-dict? ':'
    /// function-type`, `properties ::= '<' attribute-dict '>'`
    fn generic_op(&mut self) -> Parse<OpId> {
        let token = self.token();
        let name = self.string_text(token)?;
        if name.is_empty() {
            return Err(self.error("empty operation name is invalid"));
        }
        if name.contains('\0') {
            return Err(self.error("null character not allowed in operation name"));
        }
        self.advance();
        let def = self.registry.op(&name).map(OpEntry::def);
        let is_later_func = name == LATER_FUNC_OP;
        if def.is_none() && !is_later_func {
            self.check_dialect_of(&name)?;
        }
        let name = if is_later_func { FUNC_OP.into() } else { name };
        let location = self.location(token.start);
        let mut state = OpState::new(name, location);

        self.expect(Kind::LParen, "expected '(' to start operand list")?;
        let operands = self.opt_value_names()?;
        self.expect(Kind::RParen, "expected ')' to end operand list")?;
        if self.is(Kind::LSquare) {
            if def.is_some_and(|def| !def.traits.contains(OpTraits::TERMINATOR)) {
                return Err(self.error("successors in non-terminator"));
            }
            state.successors = self.successors()?;
        }
        let mut properties = Vec::new();
        if self.opt(Kind::Less) {
            for (name, value) in self.dictionary()? {
                properties.push(name);
                let name = self.module.name(name).to_owned();
                state.attributes.push((name, value));
            }
            self.expect(Kind::Greater, "expected '>' to close properties")?;
        }
        if self.opt(Kind::LParen) {
            self.comma_list(|this| {
                let region = this.module.create_region();
                state.regions.push(region);
                this.region(region, Vec::new(), false)
            })?;
            self.expect(Kind::RParen, "expected ')' to end region list")?;
        }
        if self.is(Kind::LBrace) {
            let offset = self.token().start;
            for (name, value) in self.dictionary()? {
                if properties.contains(&name) {
                    let name = self.module.name(name);
                    let message = format!("'{name}' is a property and an attribute");
                    return Err(self.error_at(offset, message));
                }
                let name = match self.module.name(name) {
                    LATER_FUNCTION_TYPE if is_later_func => FUNCTION_TYPE,
                    name => name,
                };
                state.attributes.push((name.to_owned(), value));
            }
        }
        self.expect(Kind::Colon, "expected ':' followed by operation type")?;
        self.operands_of_function_type(operands, &mut state)?;
        if let Some(def) = def {
            self.add_defaults(def, &mut state);
        }
        let op = self.module.create_op(state);
        self.module.set_properties(op, properties);
        Ok(op)
    }

    /// Rejects ops of an unknown dialect unless the options allow them.
    pub(super) fn check_dialect_of(&mut self, name: &str) -> Parse<()> {
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        if self.options.allow_unregistered_dialects || self.registry.knows_dialect(dialect) {
            return Ok(());
        }
        Err(self.error(
            "operation being parsed with an unregistered dialect. If this is intended, please use \
             -allow-unregistered-dialect with the MLIR tool used",
        ))
    }

    /// `'(' types ')' '->' types`, which are the types of these operands and of the results.
    pub(super) fn operands_of_function_type(
        &mut self,
        operands: Vec<Name<'s>>,
        state: &mut OpState,
    ) -> Parse<()> {
        let type_offset = self.token().start;
        let ty = self.ty()?;
        let Type::Function { inputs, results } = self.module.ty(ty).clone() else {
            return Err(self.error_at(type_offset, "expected function type"));
        };
        if inputs.len() != operands.len() {
            let plural = if operands.len() == 1 { "" } else { "s" };
            let message = format!(
                "expected {} operand type{plural} but had {}",
                operands.len(),
                inputs.len()
            );
            return Err(self.error_at(type_offset, message));
        }
        state.result_types = results.into_vec();
        for (name, &ty) in operands.into_iter().zip(&inputs) {
            state.operands.push(self.resolve_value(name, ty)?);
        }
        Ok(())
    }

    /// `successors ::= '[' '^' name (',' '^' name)* ']'`
    fn successors(&mut self) -> Parse<Vec<BlockId>> {
        self.advance();
        if self.is(Kind::RSquare) {
            return Err(self.error("expected list element"));
        }
        let mut blocks = Vec::new();
        self.list_until(Kind::RSquare, |this| {
            if !this.is(Kind::Caret) {
                return Err(this.error("expected block name"));
            }
            let token = this.token();
            blocks.push(this.block_named(this.spelling(token), token.start)?);
            this.advance();
            Ok(())
        })?;
        Ok(blocks)
    }

    /// Adds every attribute that the text omits and for which the declaration has a default.
    pub(super) fn add_defaults(&mut self, def: &'static OpDef, state: &mut OpState) {
        for attribute in def.attributes {
            if let Some(default) = attribute.default
                && state
                    .attributes
                    .iter()
                    .all(|(name, _)| name != attribute.name)
                && let Some(value) = self.default_value(&attribute.kind, default)
            {
                state.attributes.push((attribute.name.to_owned(), value));
            }
        }
    }

    /// Returns the default of an attribute, unless it is optional.
    fn default_value(&mut self, kind: &AttrKind, default: AttrDefault) -> Option<AttrId> {
        let ty = self.kind_type(kind);
        Some(match (default, ty) {
            (AttrDefault::Absent, _) => return None,
            (AttrDefault::Bool(value), _) => self.module.bool_attr(value),
            (AttrDefault::Int(value), Some(ty)) => self
                .module
                .intern_attribute(Attribute::Integer { value, ty }),
            (AttrDefault::Int(value), None) => self.module.integer_attr(value, 64),
            (AttrDefault::Float(value), Some(ty)) => match *self.module.ty(ty) {
                Type::Float(format) => {
                    let bits = crate::print::number::float_bits(format, value);
                    self.module.intern_attribute(Attribute::Float { bits, ty })
                }
                _ => self.module.f64_attr(value),
            },
            (AttrDefault::Float(value), None) => self.module.f64_attr(value),
            (AttrDefault::String(text), _) => self.module.string_attr(text),
            (AttrDefault::EmptyArray, _) => {
                self.module.intern_attribute(Attribute::Array([].into()))
            }
        })
    }

    /// Returns the type of the numbers of a kind of attribute.
    pub(super) fn kind_type(&mut self, kind: &AttrKind) -> Option<TypeId> {
        let ty = match kind {
            AttrKind::Enum(def) => enum_type(def),
            AttrKind::Int { width, is_unsigned } => Type::Integer {
                width: u32::from(*width),
                signedness: if *is_unsigned {
                    Signedness::Unsigned
                } else {
                    Signedness::Signless
                },
            },
            AttrKind::Float(float) => Type::Float(match float {
                FloatKind::Bf16 => FloatType::Bf16,
                FloatKind::F16 => FloatType::F16,
                FloatKind::F32 => FloatType::F32,
                FloatKind::F64 => FloatType::F64,
            }),
            _ => return None,
        };
        Some(self.module.intern_type(ty))
    }

    /// `region ::= '{' block* '}'`. The first block may omit its label, and has these arguments.
    pub(super) fn region(
        &mut self,
        region: RegionId,
        arguments: NamedArguments<'s>,
        is_isolated: bool,
    ) -> Parse<()> {
        self.expect(Kind::LBrace, "expected '{' to begin a region")?;
        if arguments.is_empty() && self.opt(Kind::RBrace) {
            return Ok(());
        }
        self.nested(|this| {
            this.push_scope(region, is_isolated);
            this.blocks(region, arguments)?;
            this.pop_scope()
        })
    }

    fn blocks(&mut self, region: RegionId, arguments: NamedArguments<'s>) -> Parse<()> {
        let entry = self.module.create_block(region, &[]);
        if !arguments.is_empty() {
            if self.is(Kind::Caret) {
                return Err(self.error("invalid block name in region with named arguments"));
            }
            for (name, ty) in arguments {
                if let Some(offset) = self.reference_offset(name) {
                    let message =
                        format!("region entry argument '{}' is already in use", name.name);
                    return Err(self.error_with_note(
                        name.offset,
                        message,
                        offset,
                        "previously referenced here",
                    ));
                }
                let value = self.module.add_block_argument(entry, ty);
                self.define_value(name, value)?;
            }
        }
        if self.is(Kind::Caret) {
            self.labelled_block(Some(entry))?;
        } else {
            self.block_body(entry)?;
        }
        while !self.opt(Kind::RBrace) {
            self.labelled_block(None)?;
        }
        Ok(())
    }

    /// `block ::= '^' name ('(' (value ':' type (',' …)*)? ')')? ':' op*`
    fn labelled_block(&mut self, entry: Option<BlockId>) -> Parse<()> {
        let token = self.expect(Kind::Caret, "expected block name")?;
        let block = self.define_block(self.spelling(token), token.start, entry)?;
        if entry.is_none() {
            self.module.link_block(block);
        }
        if self.is(Kind::LParen) {
            self.delimited((Kind::LParen, Kind::RParen), "", |this| {
                let name = this.value_name()?;
                this.expect(Kind::Colon, "expected ':' and type for SSA operand")?;
                let ty = this.ty()?;
                let value = this.module.add_block_argument(block, ty);
                this.opt_trailing_location(None)?;
                this.define_value(name, value)
            })?;
        }
        self.expect(Kind::Colon, "expected ':' after block name")?;
        self.block_body(block)
    }

    fn block_body(&mut self, block: BlockId) -> Parse<()> {
        while !matches!(self.token().kind, Kind::Caret | Kind::RBrace) {
            let op = self.op()?;
            self.module.append_op(block, op);
        }
        Ok(())
    }
}

/// Returns the type of the integers of an enumeration.
pub(super) fn enum_type(def: &EnumDef) -> Type {
    Type::Integer {
        width: u32::from(def.width),
        signedness: match def.sign {
            EnumSign::Signless => Signedness::Signless,
            EnumSign::Signed => Signedness::Signed,
            EnumSign::Unsigned => Signedness::Unsigned,
        },
    }
}
