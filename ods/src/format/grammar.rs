//! The grammar of the language: text to elements.

use super::{DictKeyword, Element, FormatError, Group};
use crate::op::{FunctionForm, OpDef};

/// How deep groups may nest.
const MAX_DEPTH: usize = 8;

pub(super) fn parse(def: &OpDef, text: &str) -> Result<Vec<Element>, FormatError> {
    let mut parser = Parser {
        def,
        text,
        offset: 0,
        start: 0,
    };
    let elements = parser.elements(0)?;
    match parser.next()? {
        Token::End => Ok(elements),
        _ => Err(parser.error("unexpected end of a group")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// `` `text` ``
    Literal(&'a str),
    /// `"text"`
    Text(&'a str),
    /// `$name`
    Variable(&'a str),
    /// `word-of-the-language`
    Word(&'a str),
    /// One of `()?|,`.
    Mark(char),
    End,
}

struct Parser<'a> {
    def: &'a OpDef,
    text: &'a str,
    /// Where the next token starts, or blanks before it.
    offset: usize,
    /// Where the last token started.
    start: usize,
}

impl<'a> Parser<'a> {
    #[cold]
    fn error(&self, message: impl Into<String>) -> FormatError {
        FormatError {
            message: message.into(),
            offset: Some(self.start),
        }
    }

    fn next(&mut self) -> Result<Token<'a>, FormatError> {
        let rest = self.text[self.offset..].trim_start();
        self.start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.offset = self.text.len();
            return Ok(Token::End);
        };
        let (token, length) = match first {
            '`' | '"' => {
                let Some(length) = rest[1..].find(first) else {
                    return Err(self.error(format!("expected a closing {first}")));
                };
                let text = &rest[1..=length];
                if text.is_empty() {
                    return Err(self.error("expected a text that is not empty"));
                }
                (
                    if first == '`' {
                        Token::Literal(text)
                    } else {
                        Token::Text(text)
                    },
                    length + 2,
                )
            }
            '$' => {
                let length = word_length(&rest[1..], |c| c.is_ascii_alphanumeric() || c == '_');
                if length == 0 {
                    return Err(self.error("expected a name after `$`"));
                }
                (Token::Variable(&rest[1..=length]), length + 1)
            }
            '(' | ')' | '?' | '|' | ',' => (Token::Mark(first), 1),
            c if c.is_ascii_alphabetic() => {
                let length = word_length(rest, |c| c.is_ascii_alphanumeric() || c == '-');
                (Token::Word(&rest[..length]), length)
            }
            other => return Err(self.error(format!("unexpected character `{other}`"))),
        };
        self.offset = self.start + length;
        Ok(token)
    }

    fn peek(&mut self) -> Result<Token<'a>, FormatError> {
        let (offset, start) = (self.offset, self.start);
        let token = self.next();
        (self.offset, self.start) = (offset, start);
        token
    }

    fn expect(&mut self, mark: char) -> Result<(), FormatError> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            _ => Err(self.error(format!("expected `{mark}`"))),
        }
    }

    /// Elements up to a mark that closes or divides a group, or to the end.
    fn elements(&mut self, depth: usize) -> Result<Vec<Element>, FormatError> {
        let mut elements = Vec::new();
        while !matches!(self.peek()?, Token::End | Token::Mark(')' | '|')) {
            elements.push(self.element(depth)?);
        }
        Ok(elements)
    }

    fn element(&mut self, depth: usize) -> Result<Element, FormatError> {
        match self.next()? {
            Token::Literal(text) => Ok(Element::Literal(text.into())),
            Token::Variable(name) => self.variable(name, false),
            Token::Word(word) => self.directive(word),
            Token::Mark('(') if depth < MAX_DEPTH => self.group(depth),
            Token::Mark('(') => Err(self.error("groups nest too deeply")),
            _ => Err(self.error("expected an element")),
        }
    }

    fn group(&mut self, depth: usize) -> Result<Element, FormatError> {
        let first = self.elements(depth + 1)?;
        if first.is_empty() {
            return Err(self.error("expected an element in the group"));
        }
        if self.peek()? == Token::Mark('|') {
            self.expect('|')?;
            let second = self.elements(depth + 1)?;
            self.expect(')')?;
            return Ok(Element::Either(first, second));
        }
        self.expect(')')?;
        self.expect('?')?;
        Ok(Element::Optional(first))
    }

    fn variable(&mut self, name: &str, is_typed: bool) -> Result<Element, FormatError> {
        if let Some(attribute) = self
            .def
            .attributes
            .iter()
            .position(|attribute| attribute.name == name)
        {
            return Ok(Element::Attribute {
                attribute,
                is_typed,
            });
        }
        if is_typed {
            return Err(self.error(format!("no attribute is called `{name}`")));
        }
        if let Some(operand) = self
            .def
            .operands
            .iter()
            .position(|operand| operand.name == name)
        {
            return Ok(Element::Operands(vec![operand]));
        }
        match self
            .def
            .functions
            .iter()
            .position(|function| function.name == name)
        {
            Some(function) if self.def.functions[function].form != FunctionForm::Region => {
                Ok(Element::Function(function))
            }
            Some(_) => Err(self.error(format!("region `{name}` is written as `region(${name})`"))),
            None => Err(self.error(format!(
                "no operand, attribute or function is called `{name}`"
            ))),
        }
    }

    fn directive(&mut self, word: &str) -> Result<Element, FormatError> {
        match word {
            "attr-dict" => return Ok(Element::AttrDict(DictKeyword::No)),
            "attr-dict-with-keyword" => return Ok(Element::AttrDict(DictKeyword::Yes)),
            "attr-dict-or-keyword" => return Ok(Element::AttrDict(DictKeyword::Either)),
            // A blank before the parenthesis makes it one of a group.
            "operands" if !self.text[self.offset..].starts_with('(') => {
                return Ok(Element::Operands((0..self.def.operands.len()).collect()));
            }
            _ => {}
        }
        let known = [
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
            "region",
            "empty-region",
            "expect",
        ];
        if !known.contains(&word) {
            return Err(self.error(format!("unknown directive `{word}`")));
        }
        self.expect('(')?;
        let element = self.directive_with_arguments(word)?;
        self.expect(')')?;
        Ok(element)
    }

    fn directive_with_arguments(&mut self, word: &str) -> Result<Element, FormatError> {
        Ok(match word {
            "operands" => Element::Operands(self.operand_list()?),
            "typed-operands" => Element::TypedOperands(self.operand()?),
            "typed" => match self.next()? {
                Token::Variable(name) => self.variable(name, true)?,
                _ => return Err(self.error("expected an attribute")),
            },
            "key-values" => {
                let mut attributes = vec![self.attribute()?];
                while self.opt_comma()? {
                    attributes.push(self.attribute()?);
                }
                Element::KeyValues(attributes)
            }
            "pairs" => Element::Pairs(self.attribute()?),
            "type" => Element::Types(vec![self.groups()?]),
            "type-list" => {
                let mut lists = vec![self.groups()?];
                while self.opt_comma()? {
                    lists.push(self.groups()?);
                }
                Element::Types(lists)
            }
            "functional-type" | "signature" => {
                let inputs = self.groups()?;
                self.expect(',')?;
                let results = self.groups()?;
                Element::FunctionType {
                    inputs,
                    results,
                    is_parenthesised: word == "signature",
                }
            }
            "result-count" => match self.groups()?[..] {
                [Group::Result(result)] => Element::ResultCount(result),
                _ => return Err(self.error("expected a result")),
            },
            "region" => {
                let function = self.region()?;
                let arguments = if self.opt_comma()? {
                    self.operand_list()?
                } else {
                    Vec::new()
                };
                Element::Region {
                    function,
                    arguments,
                }
            }
            "empty-region" => {
                let function = self.region()?;
                self.expect(',')?;
                let mut arguments = Vec::new();
                while matches!(self.peek()?, Token::Variable(_)) {
                    arguments.push(self.operand()?);
                    self.expect(',')?;
                }
                Element::EmptyRegion {
                    function,
                    arguments,
                    terminator: self.quoted()?,
                }
            }
            _ => {
                let operand = self.operand()?;
                self.expect(',')?;
                Element::Expect {
                    operand,
                    what: self.quoted()?,
                }
            }
        })
    }

    fn opt_comma(&mut self) -> Result<bool, FormatError> {
        let is_there = self.peek()? == Token::Mark(',');
        if is_there {
            self.expect(',')?;
        }
        Ok(is_there)
    }

    fn quoted(&mut self) -> Result<String, FormatError> {
        match self.next()? {
            Token::Text(text) => Ok(text.into()),
            _ => Err(self.error("expected a text in double quotes")),
        }
    }

    fn operand_list(&mut self) -> Result<Vec<usize>, FormatError> {
        let mut operands = vec![self.operand()?];
        while self.opt_comma()? {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<usize, FormatError> {
        match self.next()? {
            Token::Variable(name) => self
                .def
                .operands
                .iter()
                .position(|operand| operand.name == name)
                .ok_or_else(|| self.error(format!("no operand is called `{name}`"))),
            _ => Err(self.error("expected an operand")),
        }
    }

    fn attribute(&mut self) -> Result<usize, FormatError> {
        match self.next()? {
            Token::Variable(name) => self
                .def
                .attributes
                .iter()
                .position(|attribute| attribute.name == name)
                .ok_or_else(|| self.error(format!("no attribute is called `{name}`"))),
            _ => Err(self.error("expected an attribute")),
        }
    }

    fn region(&mut self) -> Result<usize, FormatError> {
        match self.next()? {
            Token::Variable(name) => self
                .def
                .functions
                .iter()
                .position(|function| function.name == name && function.form == FunctionForm::Region)
                .ok_or_else(|| self.error(format!("no region is called `{name}`"))),
            _ => Err(self.error("expected a region")),
        }
    }

    /// One group, or all groups of a kind.
    fn groups(&mut self) -> Result<Vec<Group>, FormatError> {
        match self.next()? {
            Token::Word("operands") => {
                Ok((0..self.def.operands.len()).map(Group::Operand).collect())
            }
            Token::Word("results") => Ok((0..self.def.results.len()).map(Group::Result).collect()),
            Token::Variable(name) => {
                if let Some(operand) = self
                    .def
                    .operands
                    .iter()
                    .position(|operand| operand.name == name)
                {
                    return Ok(vec![Group::Operand(operand)]);
                }
                match self
                    .def
                    .results
                    .iter()
                    .position(|result| result.name == name)
                {
                    Some(result) => Ok(vec![Group::Result(result)]),
                    None => Err(self.error(format!("no operand or result is called `{name}`"))),
                }
            }
            _ => Err(self.error("expected an operand or a result")),
        }
    }
}

fn word_length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}
