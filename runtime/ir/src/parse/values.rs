//! Names of values and blocks, and their definitions.
//!
//! A value may be used before it is defined: a placeholder represents it until then. A region opens
//! a scope in which its names end; a region whose block arguments have the names of operands opens
//! an isolated one that cannot see outer names.

use super::lexer::Kind;
use super::parser::{Parse, Parser};
use super::scopes::{BlockScope, Definition, IsolatedScope};
use crate::module::{BlockId, OpState, RegionId, ValueId};
use crate::types::TypeId;

/// A value named in text: `%name#number`, at a byte offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'s> {
    pub(super) name: &'s str,
    pub(super) number: u64,
    pub(super) offset: usize,
}

impl<'s> Parser<'s, '_> {
    pub(super) fn push_scope(&mut self, region: RegionId, is_isolated: bool) {
        if is_isolated {
            self.scopes.isolated.push(IsolatedScope::default());
        }
        if let Some(scope) = self.scopes.isolated.last_mut() {
            scope.regions.push(Vec::new());
        }
        self.scopes.blocks.push(BlockScope {
            region: Some(region),
            ..BlockScope::default()
        });
    }

    pub(super) fn pop_scope(&mut self) -> Parse<()> {
        let blocks = self.scopes.blocks.pop().unwrap_or_default();
        let mut offsets: Vec<usize> = blocks.undefined.into_values().collect();
        offsets.sort_unstable();
        let mut failure = None;
        for offset in offsets {
            failure = Some(self.error_at(offset, "reference to an undefined block"));
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if let Some(scope) = self.scopes.isolated.last_mut() {
            for name in scope.regions.pop().unwrap_or_default() {
                scope.values.remove(name);
            }
            if scope.regions.is_empty() {
                self.scopes.isolated.pop();
            }
        }
        Ok(())
    }

    /// Reports every value that was used and never defined.
    pub(super) fn check_values(&mut self) -> Parse<()> {
        let mut offsets: Vec<usize> = self.scopes.undefined.values().copied().collect();
        offsets.sort_unstable();
        let mut result = Ok(());
        for offset in offsets {
            result = Err(self.error_at(offset, "use of undeclared SSA value name"));
        }
        result
    }

    /// `value-use ::= '%' name ('#' number)?`
    pub(super) fn value_name(&mut self) -> Parse<Name<'s>> {
        let token = self.expect(Kind::Percent, "expected SSA operand")?;
        let mut number = 0;
        if self.is(Kind::Hash) {
            number = match self.current()[1..].parse() {
                Ok(number) => number,
                Err(_) => return Err(self.error("invalid SSA value result number")),
            };
            self.advance();
        }
        Ok(Name {
            name: self.spelling(token),
            number,
            offset: token.start,
        })
    }

    /// `(value-use (',' value-use)*)?`
    pub(super) fn opt_value_names(&mut self) -> Parse<Vec<Name<'s>>> {
        let mut names = Vec::new();
        if self.is(Kind::Percent) {
            self.comma_list(|this| {
                names.push(this.value_name()?);
                Ok(())
            })?;
        }
        Ok(names)
    }

    fn definition(&self, name: &str, number: u64) -> Option<Definition> {
        self.scopes
            .isolated
            .last()?
            .values
            .get(name)?
            .get(&number)
            .copied()
    }

    fn set_definition(&mut self, name: Name<'s>, definition: Definition) {
        if let Some(scope) = self.scopes.isolated.last_mut() {
            scope
                .values
                .entry(name.name)
                .or_default()
                .insert(name.number, definition);
        }
    }

    /// Returns the offset where the name was defined or first used.
    pub(super) fn reference_offset(&self, name: Name<'s>) -> Option<usize> {
        self.definition(name.name, name.number)
            .map(|definition| definition.offset)
    }

    /// Returns the type of a name, if it was defined or used before.
    pub(super) fn known_type_of(&self, name: Name<'s>) -> Option<TypeId> {
        self.definition(name.name, name.number)
            .map(|definition| self.module.value_type(definition.value))
    }

    /// Returns the value of a name that is used with a type.
    pub(super) fn resolve_value(&mut self, name: Name<'s>, ty: TypeId) -> Parse<ValueId> {
        if let Some(definition) = self.definition(name.name, name.number) {
            let found = self.module.value_type(definition.value);
            if found == ty {
                return Ok(definition.value);
            }
            let message = format!(
                "use of value '{}' expects different type than prior uses: '{}' vs '{}'",
                name.name,
                self.module.type_spelling(ty),
                self.module.type_spelling(found)
            );
            return Err(self.error_with_note(
                name.offset,
                message,
                definition.offset,
                "prior use here",
            ));
        }
        if self
            .definition(name.name, 0)
            .is_some_and(|first| !first.is_placeholder)
        {
            return Err(self.error_at(name.offset, "reference to invalid result number"));
        }
        let location = self.module.unknown_location();
        let state = OpState {
            result_types: vec![ty],
            ..OpState::new("builtin.placeholder", location)
        };
        let op = self.module.create_op(state);
        let value = self.module.results(op)[0];
        self.scopes.undefined.insert(value, name.offset);
        self.set_definition(
            name,
            Definition {
                value,
                offset: name.offset,
                is_placeholder: true,
            },
        );
        Ok(value)
    }

    /// Defines a name as a value.
    pub(super) fn define_value(&mut self, name: Name<'s>, value: ValueId) -> Parse<()> {
        if let Some(existing) = self.definition(name.name, name.number) {
            if !existing.is_placeholder {
                let message = format!("redefinition of SSA value '{}'", name.name);
                return Err(self.error_with_note(
                    name.offset,
                    message,
                    existing.offset,
                    "previously defined here",
                ));
            }
            let (used, defined) = (
                self.module.value_type(existing.value),
                self.module.value_type(value),
            );
            if used != defined {
                let message = format!(
                    "definition of SSA value '{}#{}' has type '{}'",
                    name.name,
                    name.number,
                    self.module.type_spelling(defined)
                );
                let note = format!(
                    "previously used here with type '{}'",
                    self.module.type_spelling(used)
                );
                return Err(self.error_with_note(name.offset, message, existing.offset, &note));
            }
            self.module.replace_all_uses(existing.value, value);
            self.scopes.undefined.remove(&existing.value);
        }
        self.set_definition(
            name,
            Definition {
                value,
                offset: name.offset,
                is_placeholder: false,
            },
        );
        if let Some(names) = self
            .scopes
            .isolated
            .last_mut()
            .and_then(|scope| scope.regions.last_mut())
        {
            names.push(name.name);
        }
        Ok(())
    }

    /// Returns the block with this name in the current region, defined or not.
    pub(super) fn block_named(&mut self, name: &'s str, offset: usize) -> Parse<BlockId> {
        let Some(scope) = self.scopes.blocks.last_mut() else {
            return Err(self.error_at(offset, "reference to an undefined block"));
        };
        if let Some(&block) = scope.blocks.get(name) {
            return Ok(block);
        }
        // Outside of every region, the block can never be defined.
        let region = match scope.region {
            Some(region) => region,
            None => self.module.create_region(),
        };
        let block = self.module.create_loose_block(region);
        scope.blocks.insert(name, block);
        scope.undefined.insert(block, offset);
        Ok(block)
    }

    /// Returns the block that a label defines: `unnamed` if given, otherwise one that was
    /// referenced before, or a new one.
    pub(super) fn define_block(
        &mut self,
        name: &'s str,
        offset: usize,
        unnamed: Option<BlockId>,
    ) -> Parse<BlockId> {
        let existing = self
            .scopes
            .blocks
            .last()
            .and_then(|scope| scope.blocks.get(name))
            .copied();
        let Some(block) = existing else {
            let block = match unnamed {
                Some(block) => block,
                None => self.block_named(name, offset)?,
            };
            if let Some(scope) = self.scopes.blocks.last_mut() {
                scope.blocks.insert(name, block);
                scope.undefined.remove(&block);
            }
            return Ok(block);
        };
        let was_undefined = self
            .scopes
            .blocks
            .last_mut()
            .and_then(|scope| scope.undefined.remove(&block));
        match was_undefined {
            Some(_) => Ok(block),
            None => Err(self.error_at(offset, format!("redefinition of block '{name}'"))),
        }
    }
}
