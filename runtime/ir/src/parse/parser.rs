//! The parts shared by all productions: the current token, locations, errors, lists.

use std::collections::HashMap;
use std::sync::Arc;

use tfrt_support::entity::SecondaryMap;
use tfrt_support::{Diagnostic, Place};

use super::lexer::{Kind, Lexer, Token, unescape};
use super::options::{MAX_NESTING, ParseOptions};
use super::scopes::{Scopes, ScopesMark};
use crate::attribute::AttrId;
use crate::location::LocationId;
use crate::module::{Module, OpId};
use crate::registry::Registry;
use crate::types::TypeId;

/// The marker of an error, which is among the diagnostics of the parser.
#[derive(Debug)]
pub(super) struct Failure(());

/// The return type of a production.
pub(super) type Parse<T> = Result<T, Failure>;

/// The size of a location that is made of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocationExtent {
    pub(super) depth: usize,
    pub(super) len: usize,
}

impl Default for LocationExtent {
    /// The size of a location that is not made of others.
    fn default() -> Self {
        Self { depth: 0, len: 1 }
    }
}

/// A saved state of the parser.
pub(super) struct Mark {
    offset: usize,
    previous_end: usize,
    scopes: ScopesMark,
    num_diagnostics: usize,
    num_deferred_locations: usize,
    nesting: usize,
    return_op: &'static str,
}

/// The state of parsing one text.
pub(super) struct Parser<'s, 'm> {
    pub(super) source: &'s str,
    file_name: &'s str,
    file: Arc<str>,
    /// The offset of the first byte of each line.
    line_starts: Vec<usize>,
    pub(super) lexer: Lexer<'s>,
    token: Token,
    /// The end of the token before the current one.
    pub(super) previous_end: usize,
    pub(super) module: &'m mut Module,
    pub(super) registry: Arc<Registry>,
    pub(super) options: ParseOptions,
    /// `true` to accept types that text may not spell.
    pub(super) is_lenient: bool,
    pub(super) scopes: Scopes<'s>,
    /// The number of open compiled modules.
    pub(super) num_compiled: usize,
    /// `true` if the error is an op with unknown custom syntax.
    pub(super) met_unknown_syntax: bool,
    /// The number of groups of results that are named in front of the current op.
    pub(super) num_named_results: usize,
    /// The op that `return` denotes: that of the dialect of the enclosing function.
    pub(super) return_op: &'static str,
    pub(super) attribute_aliases: HashMap<&'s str, AttrId>,
    pub(super) type_aliases: HashMap<&'s str, TypeId>,
    /// Ops whose location is an alias that is not defined yet, with the offset of the alias.
    pub(super) deferred_locations: Vec<(OpId, &'s str, usize)>,
    /// The sizes of locations that are made of others.
    pub(super) location_extents: HashMap<LocationId, LocationExtent>,
    /// The number of attributes in each attribute, with aliases expanded.
    pub(super) attribute_sizes: SecondaryMap<AttrId, u64>,
    diagnostics: Vec<Diagnostic>,
    nesting: usize,
}

impl<'s, 'm> Parser<'s, 'm> {
    pub(super) fn new(
        source: &'s str,
        file_name: &'s str,
        module: &'m mut Module,
        options: ParseOptions,
    ) -> Self {
        let line_starts = std::iter::once(0)
            .chain(source.match_indices('\n').map(|(offset, _)| offset + 1))
            .collect();
        let mut lexer = Lexer::new(source);
        let token = lexer.next();
        Self {
            source,
            file_name,
            file: file_name.into(),
            line_starts,
            lexer,
            token,
            previous_end: 0,
            registry: Arc::clone(module.registry()),
            module,
            options,
            is_lenient: false,
            scopes: Scopes::new(),
            num_compiled: 0,
            met_unknown_syntax: false,
            num_named_results: 0,
            return_op: "std.return",
            attribute_aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            deferred_locations: Vec::new(),
            location_extents: HashMap::new(),
            attribute_sizes: SecondaryMap::with_default(1),
            diagnostics: Vec::new(),
            nesting: 0,
        }
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    // Tokens.

    pub(super) fn token(&self) -> Token {
        self.token
    }

    pub(super) fn spelling(&self, token: Token) -> &'s str {
        &self.source[token.start..token.end]
    }

    /// Returns the spelling of the current token.
    pub(super) fn current(&self) -> &'s str {
        self.spelling(self.token)
    }

    /// Advances to the next token and returns the previous one.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.end;
        self.token = self.lexer.next();
        token
    }

    /// Continues with the token that starts at a byte.
    pub(super) fn reset(&mut self, offset: usize) {
        self.lexer.reset(offset);
        self.token = self.lexer.next();
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.token.kind == kind
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is(Kind::Bare) && self.current() == word
    }

    pub(super) fn opt(&mut self, kind: Kind) -> bool {
        let is_there = self.is(kind);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn opt_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn expect(&mut self, kind: Kind, message: &str) -> Parse<Token> {
        if self.is(kind) {
            Ok(self.advance())
        } else {
            Err(self.error(message))
        }
    }

    /// Returns the bytes of a string token.
    pub(super) fn string_bytes(&self, token: Token) -> Vec<u8> {
        unescape(self.spelling(token))
    }

    /// Returns the text of a string token, which must be UTF-8.
    pub(super) fn string_text(&mut self, token: Token) -> Parse<String> {
        String::from_utf8(self.string_bytes(token))
            .map_err(|_| self.error_at(token.start, "expected UTF-8 text"))
    }

    /// Returns the name of an `@name` token.
    pub(super) fn symbol(&mut self, token: Token) -> Parse<String> {
        let name = &self.spelling(token)[1..];
        if !name.starts_with('"') {
            return Ok(name.to_owned());
        }
        String::from_utf8(unescape(name))
            .map_err(|_| self.error_at(token.start, "expected UTF-8 text"))
    }

    // Backtracking.

    /// Saves the state of the parser.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            offset: self.token.start,
            previous_end: self.previous_end,
            scopes: self.scopes.mark(),
            num_diagnostics: self.diagnostics.len(),
            num_deferred_locations: self.deferred_locations.len(),
            nesting: self.nesting,
            return_op: self.return_op,
        }
    }

    /// Restores `mark` and forgets the errors since then. Everything read after it must be isolated
    /// from what came before. Objects created from the text stay in the tables of the module,
    /// unreferenced.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.reset(mark.offset);
        self.previous_end = mark.previous_end;
        self.scopes.rewind(mark.scopes);
        self.diagnostics.truncate(mark.num_diagnostics);
        self.deferred_locations
            .truncate(mark.num_deferred_locations);
        self.nesting = mark.nesting;
        self.return_op = mark.return_op;
    }

    /// Skips to after the brace that closes the one at the current token.
    pub(super) fn skip_braces(&mut self) -> Parse<&'s str> {
        let start = self.token.start;
        let mut num_open = 0_usize;
        loop {
            match self.token.kind {
                Kind::LBrace => num_open += 1,
                Kind::RBrace => num_open -= 1,
                Kind::Eof => return Err(self.error("expected '}' to end a module")),
                Kind::Error => {
                    let rest = &self.source[self.token.start..];
                    let Some(letter) = rest.chars().next().filter(|&letter| letter != '"') else {
                        return Err(self.error("expected text of a finite length"));
                    };
                    self.lexer.error = None;
                    self.reset(self.token.start + letter.len_utf8());
                    continue;
                }
                _ => {}
            }
            let token = self.advance();
            if num_open == 0 {
                return Ok(&self.source[start..token.end]);
            }
        }
    }

    // Locations and errors.

    fn line_and_column(&self, offset: usize) -> (u32, u32) {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let column = offset - self.line_starts[line - 1] + 1;
        (
            u32::try_from(line).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        let (line, column) = self.line_and_column(offset);
        Place::file(Arc::clone(&self.file), line, column)
    }

    /// Returns the location of a byte, for ops.
    pub(super) fn location(&mut self, offset: usize) -> LocationId {
        let (line, column) = self.line_and_column(offset);
        self.module.file_location(self.file_name, line, column)
    }

    /// Returns the location of the file as a whole.
    pub(super) fn file_location(&mut self) -> LocationId {
        self.module.file_location(self.file_name, 0, 0)
    }

    /// Reports an error at the current token.
    #[cold]
    pub(super) fn error(&mut self, message: impl Into<String>) -> Failure {
        self.error_at(self.token.start, message)
    }

    #[cold]
    pub(super) fn error_at(&mut self, offset: usize, message: impl Into<String>) -> Failure {
        let diagnostic = Diagnostic::error(self.place(offset), message);
        self.report(diagnostic)
    }

    #[cold]
    pub(super) fn error_with_note(
        &mut self,
        offset: usize,
        message: impl Into<String>,
        note_offset: usize,
        note: &str,
    ) -> Failure {
        let diagnostic =
            Diagnostic::error(self.place(offset), message).with_note(self.place(note_offset), note);
        self.report(diagnostic)
    }

    /// Records a diagnostic. If the current token is invalid, its error comes first.
    fn report(&mut self, diagnostic: Diagnostic) -> Failure {
        match self.lexer.error {
            Some(error) if self.is(Kind::Error) => {
                self.diagnostics
                    .push(Diagnostic::error(self.place(error.offset), error.message));
            }
            _ => self.diagnostics.push(diagnostic),
        }
        Failure(())
    }

    // Common forms of productions.

    /// Runs a production one level deeper.
    pub(super) fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting == MAX_NESTING {
            return Err(self.error(format!("expected at most {MAX_NESTING} levels of nesting")));
        }
        self.nesting += 1;
        let result = production(self);
        self.nesting -= 1;
        result
    }

    /// Parses one or more elements separated by commas.
    pub(super) fn comma_list(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Parse<()>,
    ) -> Parse<()> {
        element(self)?;
        while self.opt(Kind::Comma) {
            element(self)?;
        }
        Ok(())
    }

    /// Parses any number of elements between brackets. `context` ends the messages about the
    /// brackets.
    pub(super) fn delimited(
        &mut self,
        (open, close): (Kind, Kind),
        context: &str,
        element: impl FnMut(&mut Self) -> Parse<()>,
    ) -> Parse<()> {
        self.expect(open, &format!("expected '{}'{context}", open.spelling()))?;
        if self.opt(close) {
            return Ok(());
        }
        self.comma_list(element)?;
        self.expect(close, &format!("expected '{}'{context}", close.spelling()))?;
        Ok(())
    }

    /// Parses any number of elements up to a closing bracket, after the opening one.
    pub(super) fn list_until(
        &mut self,
        close: Kind,
        element: impl FnMut(&mut Self) -> Parse<()>,
    ) -> Parse<()> {
        if self.opt(close) {
            return Ok(());
        }
        self.comma_list(element)?;
        self.expect(close, &format!("expected ',' or '{}'", close.spelling()))?;
        Ok(())
    }
}
