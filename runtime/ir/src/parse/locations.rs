//! Locations.

use super::lexer::Kind;
use super::parser::{LocationExtent, Parse, Parser};
use crate::attribute::Attribute;
use crate::location::{Location, LocationId};
use crate::module::OpId;

/// How deep locations may nest: deeper than any call stack that tools record.
const MAX_LOCATION_DEPTH: usize = 1024;

/// The number of locations that a location may be made of.
const MAX_LOCATION_LEN: usize = 1 << 16;

impl Parser<'_, '_> {
    /// `trailing-location ::= ('loc' '(' (location | '#' alias) ')')?`, set on `op` if there is
    /// one.
    pub(super) fn opt_trailing_location(&mut self, op: Option<OpId>) -> Parse<()> {
        if !self.opt_word("loc") {
            return Ok(());
        }
        self.expect(Kind::LParen, "expected '(' in location")?;
        let location = if self.is(Kind::Hash) {
            let token = self.advance();
            let alias = &self.spelling(token)[1..];
            if alias.contains('.') {
                let message = format!("expected location, but found dialect attribute: '#{alias}'");
                return Err(self.error_at(token.start, message));
            }
            if self.attribute_aliases.contains_key(alias) {
                Some(self.aliased_location(alias, token.start)?)
            } else {
                if let Some(op) = op {
                    self.deferred_locations.push((op, alias, token.start));
                }
                None
            }
        } else {
            Some(self.location_instance()?)
        };
        self.expect(Kind::RParen, "expected ')' in location")?;
        if let (Some(op), Some(location)) = (op, location) {
            self.module.set_op_location(op, location);
        }
        Ok(())
    }

    /// Sets the location of every op whose location is an alias defined after it.
    pub(super) fn resolve_locations(&mut self) -> Parse<()> {
        for (op, alias, offset) in std::mem::take(&mut self.deferred_locations) {
            if !self.attribute_aliases.contains_key(alias) {
                return Err(self.error_at(offset, "operation location alias was never defined"));
            }
            let location = self.aliased_location(alias, offset)?;
            self.module.set_op_location(op, location);
        }
        Ok(())
    }

    fn aliased_location(&mut self, alias: &str, offset: usize) -> Parse<LocationId> {
        let attribute = self.attribute_aliases[alias];
        match self.module.attribute(attribute) {
            Attribute::Location(location) => Ok(*location),
            _ => {
                let mut text = String::new();
                crate::print::attributes::print_attribute(self.module, attribute, &mut text);
                Err(self.error_at(offset, format!("expected location, but found '{text}'")))
            }
        }
    }

    /// `location ::= string … | 'callsite' … | 'fused' … | '#' alias | 'unknown'`
    pub(super) fn location_instance(&mut self) -> Parse<LocationId> {
        self.nested(|this| {
            if this.is(Kind::String) {
                return this.name_or_file_location();
            }
            if this.is_word("callsite") {
                return this.call_site_location();
            }
            if this.is_word("fused") {
                return this.fused_location();
            }
            if this.is(Kind::Hash) {
                let token = this.advance();
                let alias = &this.spelling(token)[1..];
                if !this.attribute_aliases.contains_key(alias) {
                    return Err(this.error_at(token.start, "expected location instance"));
                }
                return this.aliased_location(alias, token.start);
            }
            if this.opt_word("unknown") {
                return Ok(this.module.unknown_location());
            }
            Err(this.error("expected location instance"))
        })
    }

    /// `string ':' line ':' column ('to' line? ':' column)? | string ('(' location ')')?`
    fn name_or_file_location(&mut self) -> Parse<LocationId> {
        let token = self.advance();
        let text = self.string_text(token)?;
        if self.opt(Kind::Colon) {
            let line = self.location_number("expected integer line number in FileLineColLoc")?;
            self.expect(Kind::Colon, "expected ':' in FileLineColLoc")?;
            let column =
                self.location_number("expected integer column number in FileLineColLoc")?;
            if !self.opt_word("to") {
                return Ok(self.module.file_location(&text, line, column));
            }
            let end_line = match self.is(Kind::Colon) {
                true => line,
                false => {
                    self.location_number("expected integer line number in FileLineColRange")?
                }
            };
            self.expect(Kind::Colon, "expected ':' in FileLineColRange")?;
            let end_column =
                self.location_number("expected integer column number in FileLineColRange")?;
            return Ok(self.module.intern_location(Location::FileRange {
                file: text.into(),
                line,
                column,
                end_line,
                end_column,
            }));
        }
        let mut child = self.module.unknown_location();
        if self.opt(Kind::LParen) {
            child = self.location_instance()?;
            self.expect(Kind::RParen, "expected ')' after child location of NameLoc")?;
        }
        let location = self.module.intern_location(Location::Name {
            name: text.into(),
            child,
        });
        self.bounded(location, &[child])
    }

    /// Returns a location made of others, if it is not too large. With aliases, a short text can
    /// denote a location that nests without bound, or that is without bound as text.
    fn bounded(&mut self, location: LocationId, parts: &[LocationId]) -> Parse<LocationId> {
        let mut extent = LocationExtent { depth: 0, len: 1 };
        for part in parts {
            let part = self.location_extents.get(part).copied().unwrap_or_default();
            extent.depth = extent.depth.max(part.depth + 1);
            extent.len = extent.len.saturating_add(part.len);
        }
        if extent.depth > MAX_LOCATION_DEPTH || extent.len > MAX_LOCATION_LEN {
            return Err(self.error("location is too long"));
        }
        self.location_extents.insert(location, extent);
        Ok(location)
    }

    fn location_number(&mut self, message: &str) -> Parse<u32> {
        match self.current().parse() {
            Ok(number) if self.is(Kind::Integer) => {
                self.advance();
                Ok(number)
            }
            _ => Err(self.error(message)),
        }
    }

    /// `'callsite' '(' location 'at' location ')'`
    fn call_site_location(&mut self) -> Parse<LocationId> {
        self.advance();
        self.expect(Kind::LParen, "expected '(' in callsite location")?;
        let callee = self.location_instance()?;
        if !self.opt_word("at") {
            return Err(self.error("expected 'at' in callsite location"));
        }
        let caller = self.location_instance()?;
        self.expect(Kind::RParen, "expected ')' in callsite location")?;
        let location = Location::CallSite { callee, caller };
        let location = self.module.intern_location(location);
        self.bounded(location, &[callee, caller])
    }

    /// `'fused' ('<' attribute '>')? '[' (location (',' location)*)? ']'`
    fn fused_location(&mut self) -> Parse<LocationId> {
        self.advance();
        let mut metadata = None;
        if self.opt(Kind::Less) {
            metadata = Some(self.attribute(None)?);
            self.expect(Kind::Greater, "expected '>' after fused location metadata")?;
        }
        let mut members = Vec::new();
        self.delimited(
            (Kind::LSquare, Kind::RSquare),
            " in fused location",
            |this| {
                members.push(this.location_instance()?);
                Ok(())
            },
        )?;
        let location = self.module.fused_location(&members, metadata);
        self.bounded(location, &members)
    }
}
