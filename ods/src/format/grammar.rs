//! The grammar of the language: text to nodes.
//!
//! This parser also runs in constants, so that a format is checked where it is written.
//! [`super::build`] converts its nodes to [`Element`](super::Element)s.

use super::DictKeyword;
use super::lexer::{Lexer, Token};
use super::nodes::{MAX_PARTS, Named, Names, Node, Nodes, What};
use crate::check::{DeclarationError, attempt};
use crate::const_text::same;
use crate::op::{FunctionForm, OpDef};

/// The maximum nesting depth of groups.
const MAX_DEPTH: usize = 8;

/// The maximum length of a format in bytes.
const MAX_LEN: usize = 4096;

pub(super) type Parse<T> = Result<T, DeclarationError>;

/// Parses the format of a declaration.
pub(super) const fn parse(def: &OpDef, text: &'static str) -> Parse<Nodes> {
    if def.operands.len() > MAX_PARTS
        || def.results.len() > MAX_PARTS
        || def.attributes.len() > MAX_PARTS
        || def.functions.len() > MAX_PARTS
    {
        return Err(DeclarationError::named(
            "an op with so many parts has no format",
            "",
            "",
        ));
    }
    if text.len() > MAX_LEN {
        return Err(DeclarationError::named("the format is too long", "", ""));
    }
    let mut parser = Parser {
        def,
        tokens: Lexer::new(text),
        out: Nodes::new(),
    };
    attempt!(parser.elements(0));
    match attempt!(parser.tokens.next()) {
        Token::End => Ok(parser.out),
        _ => Err(parser.tokens.error("unexpected end of a group")),
    }
}

struct Parser<'a> {
    def: &'a OpDef,
    tokens: Lexer,
    out: Nodes,
}

impl Parser<'_> {
    // Elements.

    /// Parses elements up to a mark that closes or divides a group, or to the end.
    const fn elements(&mut self, depth: usize) -> Parse<()> {
        while !matches!(
            attempt!(self.tokens.peek()),
            Token::End | Token::Mark(b')' | b'|')
        ) {
            attempt!(self.element(depth));
        }
        Ok(())
    }

    const fn element(&mut self, depth: usize) -> Parse<()> {
        let token = attempt!(self.tokens.next());
        let offset = self.tokens.start();
        let what = match token {
            Token::Literal(text) if text.is_empty() => What::Blank(false),
            Token::Literal(text) if same(text, " ") => What::Blank(true),
            Token::Literal(text) => {
                if !is_literal(text) {
                    return Err(self.tokens.error_named(
                        "`",
                        text,
                        "` is neither a keyword nor punctuation",
                    ));
                }
                What::Literal(text)
            }
            Token::Variable(name) => attempt!(self.variable(name, false)),
            Token::Word(word) => return self.directive(word, offset, depth),
            Token::Mark(b'(') if depth < MAX_DEPTH => return self.group(depth),
            Token::Mark(b'(') => return Err(self.tokens.error("groups nest too deeply")),
            _ => return Err(self.tokens.error("expected an element")),
        };
        self.push(what, offset, depth)
    }

    /// Adds an element, with the anchor that may follow it.
    const fn push(&mut self, what: What, offset: usize, depth: usize) -> Parse<()> {
        let is_anchor = attempt!(self.tokens.opt_mark(b'^'));
        if is_anchor && depth == 0 {
            return Err(self
                .tokens
                .error("only an element of a group decides whether it is written"));
        }
        let node = Node {
            what,
            offset: offset as u16,
            is_anchor,
        };
        if self.out.push(node) {
            Ok(())
        } else {
            Err(self.tokens.error("too many elements"))
        }
    }

    /// Parses `(… | …)`, `(…)?`, and MLIR's forms of both: `(… anchor^ …) : (…)?`, `(… anchor^
    /// …)?`.
    const fn group(&mut self, depth: usize) -> Parse<()> {
        let (group, offset) = (self.out.len(), self.tokens.start());
        // A placeholder; the end of the group determines its kind.
        attempt!(self.push(What::Optional(0), offset, 0));
        attempt!(self.elements(depth + 1));
        let num_first = self.out.len() - group - 1;
        if num_first == 0 {
            return Err(self.tokens.error("expected an element in the group"));
        }
        let is_either = if attempt!(self.tokens.opt_mark(b'|')) {
            attempt!(self.elements(depth + 1));
            attempt!(self.tokens.expect(b')'));
            true
        } else {
            attempt!(self.tokens.expect(b')'));
            let has_other = attempt!(self.tokens.opt_mark(b':'));
            if has_other {
                attempt!(self.tokens.expect(b'('));
                attempt!(self.elements(depth + 1));
                attempt!(self.tokens.expect(b')'));
            }
            attempt!(self.tokens.expect(b'?'));
            has_other
        };
        let num_second = self.out.len() - group - 1 - num_first;
        let what = if is_either {
            What::Either(num_first as u8, num_second as u8)
        } else {
            What::Optional(num_first as u8)
        };
        self.out.set(group, what);
        self.one_anchor(group, num_first)
    }

    /// Rejects a second anchor among the direct elements of a group, and any in the second list.
    const fn one_anchor(&self, group: usize, num_first: usize) -> Parse<()> {
        let mut has_anchor = false;
        let mut index = group + 1;
        while index < self.out.len() {
            let node = self.out.get(index);
            if node.is_anchor {
                if has_anchor || index > group + num_first {
                    let error = DeclarationError::named(
                        "one element decides whether a group is written",
                        "",
                        "",
                    );
                    return Err(error.at(node.offset as usize));
                }
                has_anchor = true;
            }
            index = self.out.after(index);
        }
        Ok(())
    }

    const fn variable(&mut self, name: &'static str, is_typed: bool) -> Parse<What> {
        if let Some(attribute) = self.def.attribute_index(name) {
            return Ok(What::Attribute {
                attribute: attribute as u8,
                is_typed,
            });
        }
        if is_typed {
            return Err(self
                .tokens
                .error_named("no attribute is called `", name, "`"));
        }
        if let Some(operand) = self.def.operand_index(name) {
            return Ok(What::Operands(attempt!(
                self.name(Named::Operand(operand as u8))
            )));
        }
        match self.def.function_index(name) {
            Some(function) if matches!(self.def.functions[function].form, FunctionForm::Region) => {
                Ok(What::WholeRegion(function as u8))
            }
            Some(function) => Ok(What::Function(function as u8)),
            None => Err(self.tokens.error_named(
                "no operand, attribute or function is called `",
                name,
                "`",
            )),
        }
    }

    const fn directive(&mut self, word: &'static str, offset: usize, depth: usize) -> Parse<()> {
        // A blank before the parenthesis makes it a group.
        let has_arguments = self.tokens.has_arguments();
        let what = if same(word, "attr-dict") {
            What::AttrDict(DictKeyword::No)
        } else if same(word, "attr-dict-with-keyword") {
            What::AttrDict(DictKeyword::Yes)
        } else if same(word, "attr-dict-or-keyword") {
            What::AttrDict(DictKeyword::Either)
        } else if same(word, "operands") && !has_arguments {
            let start = self.out.num_names();
            let mut operand = 0;
            while operand < self.def.operands.len() {
                attempt!(self.name(Named::Operand(operand as u8)));
                operand += 1;
            }
            What::Operands(self.out.names_from(start))
        } else if same(word, "regions") {
            return self.regions(offset, depth);
        } else if !is_directive(word) {
            return Err(self.tokens.error_named("unknown directive `", word, "`"));
        } else {
            attempt!(self.tokens.expect(b'('));
            let what = attempt!(self.directive_with_arguments(word));
            attempt!(self.tokens.expect(b')'));
            what
        };
        self.push(what, offset, depth)
    }

    /// Adds all regions in order.
    const fn regions(&mut self, offset: usize, depth: usize) -> Parse<()> {
        let mut function = 0;
        while function < self.def.functions.len() {
            if matches!(self.def.functions[function].form, FunctionForm::Region) {
                attempt!(self.push(What::WholeRegion(function as u8), offset, depth));
            }
            function += 1;
        }
        Ok(())
    }

    const fn directive_with_arguments(&mut self, word: &'static str) -> Parse<What> {
        Ok(if same(word, "operands") {
            What::Operands(attempt!(self.operand_list()))
        } else if same(word, "typed-operands") {
            What::TypedOperands(attempt!(self.operand()) as u8)
        } else if same(word, "typed") {
            match attempt!(self.tokens.next()) {
                Token::Variable(name) => attempt!(self.variable(name, true)),
                _ => return Err(self.tokens.error("expected an attribute")),
            }
        } else if same(word, "key-values") {
            let start = self.out.num_names();
            loop {
                let attribute = attempt!(self.attribute());
                attempt!(self.name(Named::Attribute(attribute as u8)));
                if !attempt!(self.tokens.opt_mark(b',')) {
                    break;
                }
            }
            What::KeyValues(self.out.names_from(start))
        } else if same(word, "pairs") {
            What::Pairs(attempt!(self.attribute()) as u8)
        } else if same(word, "type") {
            What::Types(attempt!(self.groups()))
        } else if same(word, "type-list") {
            let start = self.out.num_names();
            attempt!(self.groups());
            while attempt!(self.tokens.opt_mark(b',')) {
                attempt!(self.name(Named::Comma));
                attempt!(self.groups());
            }
            What::Types(self.out.names_from(start))
        } else if same(word, "functional-type") || same(word, "signature") {
            let inputs = attempt!(self.groups());
            attempt!(self.tokens.expect(b','));
            let results = attempt!(self.groups());
            What::FunctionType {
                inputs,
                results,
                is_parenthesised: same(word, "signature"),
            }
        } else if same(word, "result-count") {
            let groups = attempt!(self.groups());
            match self.out.names(groups) {
                [Named::Result(result)] => What::ResultCount(*result),
                _ => return Err(self.tokens.error("expected a result")),
            }
        } else if same(word, "known") {
            What::KnownTypes(attempt!(self.operand_list()))
        } else if same(word, "last-type") {
            What::LastType(attempt!(self.operand_list()))
        } else if same(word, "shared-type") {
            let attribute = attempt!(self.attribute()) as u8;
            attempt!(self.tokens.expect(b','));
            let groups = attempt!(self.groups());
            match self.out.names(groups) {
                [Named::Result(result)] => What::SharedType {
                    attribute,
                    result: *result,
                },
                _ => return Err(self.tokens.error("expected a result")),
            }
        } else if same(word, "region") {
            let function = attempt!(self.region()) as u8;
            let start = self.out.num_names();
            if attempt!(self.tokens.opt_mark(b',')) {
                attempt!(self.operand_list());
            }
            What::Region {
                function,
                arguments: self.out.names_from(start),
            }
        } else if same(word, "empty-region") {
            let function = attempt!(self.region()) as u8;
            attempt!(self.tokens.expect(b','));
            let start = self.out.num_names();
            while matches!(attempt!(self.tokens.peek()), Token::Variable(_)) {
                let operand = attempt!(self.operand());
                attempt!(self.name(Named::Operand(operand as u8)));
                attempt!(self.tokens.expect(b','));
            }
            What::EmptyRegion {
                function,
                arguments: self.out.names_from(start),
                terminator: attempt!(self.quoted()),
            }
        } else {
            let operand = attempt!(self.operand()) as u8;
            attempt!(self.tokens.expect(b','));
            What::Expect {
                operand,
                what: attempt!(self.quoted()),
            }
        })
    }

    // Names.

    /// Adds one name. Returns the list of only that name.
    const fn name(&mut self, name: Named) -> Parse<Names> {
        let start = self.out.num_names();
        if self.out.push_name(name) {
            Ok(self.out.names_from(start))
        } else {
            Err(self.tokens.error("too many operands and results"))
        }
    }

    const fn quoted(&mut self) -> Parse<&'static str> {
        match attempt!(self.tokens.next()) {
            Token::Text(text) => Ok(text),
            _ => Err(self.tokens.error("expected a string in double quotes")),
        }
    }

    const fn operand_list(&mut self) -> Parse<Names> {
        let start = self.out.num_names();
        loop {
            let operand = attempt!(self.operand());
            attempt!(self.name(Named::Operand(operand as u8)));
            if !attempt!(self.tokens.opt_mark(b',')) {
                return Ok(self.out.names_from(start));
            }
        }
    }

    const fn operand(&mut self) -> Parse<usize> {
        match attempt!(self.tokens.next()) {
            Token::Variable(name) => match self.def.operand_index(name) {
                Some(operand) => Ok(operand),
                None => Err(self.tokens.error_named("no operand is called `", name, "`")),
            },
            _ => Err(self.tokens.error("expected an operand")),
        }
    }

    const fn attribute(&mut self) -> Parse<usize> {
        match attempt!(self.tokens.next()) {
            Token::Variable(name) => match self.def.attribute_index(name) {
                Some(attribute) => Ok(attribute),
                None => Err(self
                    .tokens
                    .error_named("no attribute is called `", name, "`")),
            },
            _ => Err(self.tokens.error("expected an attribute")),
        }
    }

    const fn region(&mut self) -> Parse<usize> {
        match attempt!(self.tokens.next()) {
            Token::Variable(name) => match self.def.function_index(name) {
                Some(function)
                    if matches!(self.def.functions[function].form, FunctionForm::Region) =>
                {
                    Ok(function)
                }
                _ => Err(self.tokens.error_named("no region is called `", name, "`")),
            },
            _ => Err(self.tokens.error("expected a region")),
        }
    }

    /// Parses one group, or all groups of a kind.
    const fn groups(&mut self) -> Parse<Names> {
        let start = self.out.num_names();
        match attempt!(self.tokens.next()) {
            Token::Word(word) if same(word, "operands") => {
                let mut operand = 0;
                while operand < self.def.operands.len() {
                    attempt!(self.name(Named::Operand(operand as u8)));
                    operand += 1;
                }
            }
            Token::Word(word) if same(word, "results") => {
                let mut result = 0;
                while result < self.def.results.len() {
                    attempt!(self.name(Named::Result(result as u8)));
                    result += 1;
                }
            }
            Token::Variable(name) => {
                let group = if let Some(operand) = self.def.operand_index(name) {
                    Named::Operand(operand as u8)
                } else if let Some(result) = self.def.result_index(name) {
                    Named::Result(result as u8)
                } else {
                    return Err(self.tokens.error_named(
                        "no operand or result is called `",
                        name,
                        "`",
                    ));
                };
                attempt!(self.name(group));
            }
            _ => return Err(self.tokens.error("expected an operand or a result")),
        }
        Ok(self.out.names_from(start))
    }
}

/// Returns `true` if a word is a directive that takes arguments.
const fn is_directive(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "operands",
        "typed-operands",
        "typed",
        "key-values",
        "pairs",
        "type",
        "type-list",
        "functional-type",
        "signature",
        "result-count",
        "known",
        "last-type",
        "shared-type",
        "region",
        "empty-region",
        "expect",
    ];
    let mut index = 0;
    while index < WORDS.len() {
        if same(WORDS[index], word) {
            return true;
        }
        index += 1;
    }
    false
}

/// Returns `true` if a literal is a single token of programs: a keyword or punctuation.
const fn is_literal(text: &str) -> bool {
    const PUNCTUATION: &[&str] = &[
        ":", ",", "=", "<", ">", "(", ")", "{", "}", "[", "]", "->", "?", "+", "*", "-", "|",
    ];
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < PUNCTUATION.len() {
        if same(PUNCTUATION[index], text) {
            return true;
        }
        index += 1;
    }
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte == b'.') {
            return false;
        }
        index += 1;
    }
    bytes[0].is_ascii_alphabetic() || bytes[0] == b'_'
}
