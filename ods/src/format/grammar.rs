//! The grammar of the language: text to elements.
//!
//! While it parses, the parser checks that each element fits the declaration, and records what the
//! element shows; at the end it checks that everything is shown.

use super::lexer::{Lexer, Token};
use super::shown::Shown;
use super::{DictKeyword, Element, Group};
use crate::check::{DeclarationError, DeclarationPart};
use crate::constraint::{AttrKind, TypeConstraint};
use crate::op::{Arity, AttrDef, FunctionForm, OpDef, OperandDef};

/// The maximum nesting depth of groups.
const MAX_DEPTH: usize = 8;

/// The maximum number of elements in a format, including those in groups.
const MAX_ELEMENTS: usize = 64;

/// The maximum length of a format in bytes.
const MAX_LEN: usize = 4096;

pub(super) type Parse<T> = Result<T, DeclarationError>;

/// Parses the format of a declaration.
pub(super) fn parse(def: &OpDef, text: &'static str) -> Parse<Vec<Element>> {
    if text.len() > MAX_LEN {
        let message = format!("the format is too long: expected at most {MAX_LEN} bytes");
        return Err(DeclarationError::new(
            DeclarationPart::Format(Some(MAX_LEN)),
            message,
        ));
    }
    let mut parser = Parser {
        def,
        tokens: Lexer::new(text),
        shown: Shown::new(def),
        num_elements: 0,
        follows_dictionary: false,
    };
    let list = parser.elements(0)?;
    if parser.tokens.next()? != Token::End {
        return parser.tokens.error("unexpected end of a group");
    }
    parser.shown.check(def)?;
    Ok(list.elements)
}

struct Parser<'a> {
    def: &'a OpDef,
    tokens: Lexer,
    shown: Shown,
    num_elements: usize,
    /// `true` if the last element is a dictionary without a keyword.
    follows_dictionary: bool,
}

/// Elements up to the end of a group or of the format.
struct List {
    elements: Vec<Element>,
    /// The element that decides whether the group is written, and the location of each element
    /// that is marked so.
    anchors: Vec<(usize, usize)>,
}

impl Parser<'_> {
    // Elements.

    /// Parses elements up to a mark that closes or divides a group, or to the end.
    fn elements(&mut self, depth: usize) -> Parse<List> {
        let mut list = List {
            elements: Vec::new(),
            anchors: Vec::new(),
        };
        while !matches!(self.tokens.peek()?, Token::End | Token::Mark(')' | '|')) {
            self.element(depth, &mut list)?;
        }
        Ok(list)
    }

    fn element(&mut self, depth: usize, list: &mut List) -> Parse<()> {
        let token = self.tokens.next()?;
        let offset = self.tokens.start();
        let element = match token {
            Token::Literal("") => Element::Blank { is_written: false },
            Token::Literal(" ") => Element::Blank { is_written: true },
            Token::Literal(text) if is_literal(text) => Element::Literal(text.into()),
            Token::Literal(text) => {
                return self
                    .tokens
                    .error(format!("`{text}` is neither a keyword nor punctuation"));
            }
            Token::Variable(name) => self.variable(name)?,
            Token::Word("regions") => return self.regions(offset, depth, list),
            Token::Word(word) => self.directive(word)?,
            Token::Mark('(') if depth < MAX_DEPTH => {
                // The group counts before its elements do.
                self.count()?;
                self.follows_dictionary = false;
                list.elements.push(self.group(offset, depth)?);
                return Ok(());
            }
            Token::Mark('(') => return self.tokens.error("groups nest too deeply"),
            _ => return self.tokens.error("expected an element"),
        };
        self.push(element, offset, depth, list)
    }

    /// Adds an element, with the anchor that may follow it.
    fn push(
        &mut self,
        element: Element,
        offset: usize,
        depth: usize,
        list: &mut List,
    ) -> Parse<()> {
        let is_anchor = self.tokens.opt_mark('^')?;
        if is_anchor && depth == 0 {
            return self.tokens.error("expected an anchor inside of a group");
        }
        self.count()?;
        if is_anchor {
            list.anchors.push((list.elements.len(), offset));
        }
        self.show(&element, offset)?;
        list.elements.push(element);
        Ok(())
    }

    fn count(&mut self) -> Parse<()> {
        self.num_elements += 1;
        if self.num_elements > MAX_ELEMENTS {
            return self.tokens.error("too many elements");
        }
        Ok(())
    }

    /// Parses `(… | …)`, `(…)?`, and MLIR's forms of both: `(… anchor^ …) : (…)?`, `(… anchor^
    /// …)?`.
    fn group(&mut self, offset: usize, depth: usize) -> Parse<Element> {
        let first = self.elements(depth + 1)?;
        let Some(leading) = first.elements.first() else {
            return Err(at(offset, "expected an element in the group"));
        };
        let is_told = is_told(self.def, leading);
        let second = if self.tokens.opt_mark('|')? {
            let second = self.elements(depth + 1)?;
            self.tokens.expect(')')?;
            Some(second)
        } else {
            self.tokens.expect(')')?;
            let second = if self.tokens.opt_mark(':')? {
                self.tokens.expect('(')?;
                let second = self.elements(depth + 1)?;
                self.tokens.expect(')')?;
                Some(second)
            } else {
                None
            };
            self.tokens.expect('?')?;
            second
        };
        let others = second.iter().flat_map(|list| &list.anchors);
        if let Some((_, extra)) = first.anchors.iter().skip(1).chain(others).next() {
            return Err(at(*extra, "expected at most one anchor in a group"));
        }
        if !is_told {
            return Err(at(
                offset,
                "expected a literal that marks the group as present",
            ));
        }
        let anchor = first.anchors.first().map(|(index, _)| *index);
        Ok(match second {
            Some(second) => Element::Either {
                first: first.elements,
                second: second.elements,
                anchor,
            },
            None => Element::Optional {
                elements: first.elements,
                anchor,
            },
        })
    }

    fn variable(&mut self, name: &'static str) -> Parse<Element> {
        if let Some(attribute) = self.def.attribute_index(name) {
            return Ok(Element::Attribute {
                attribute,
                is_typed: false,
            });
        }
        if let Some(operand) = self.def.operand_index(name) {
            return Ok(Element::Operands(vec![operand]));
        }
        match self.def.function_index(name) {
            Some(function) if self.is_region(function) => Ok(Element::WholeRegion(function)),
            Some(function) => Ok(Element::Function(function)),
            None => self.tokens.error(format!(
                "there is no operand, attribute or function named `{name}`"
            )),
        }
    }

    fn directive(&mut self, word: &'static str) -> Parse<Element> {
        // A blank before the parenthesis makes it a group.
        let has_arguments = self.tokens.has_arguments();
        match word {
            "attr-dict" => return Ok(Element::AttrDict(DictKeyword::No)),
            "attr-dict-with-keyword" => return Ok(Element::AttrDict(DictKeyword::Yes)),
            "attr-dict-or-keyword" => return Ok(Element::AttrDict(DictKeyword::Either)),
            "operands" if !has_arguments => {
                return Ok(Element::Operands((0..self.def.operands.len()).collect()));
            }
            _ => {}
        }
        let Some(directive) = DIRECTIVES.iter().find(|(name, _)| *name == word) else {
            return self.tokens.error(format!("unknown directive `{word}`"));
        };
        self.tokens.expect('(')?;
        let (_, parse) = directive;
        let element = parse(self)?;
        self.tokens.expect(')')?;
        Ok(element)
    }

    /// Adds all regions in order.
    fn regions(&mut self, offset: usize, depth: usize, list: &mut List) -> Parse<()> {
        for function in 0..self.def.functions.len() {
            if self.is_region(function) {
                self.push(Element::WholeRegion(function), offset, depth, list)?;
            }
        }
        Ok(())
    }

    fn is_region(&self, function: usize) -> bool {
        self.def.functions[function].form == FunctionForm::Region
    }

    // Directives with arguments.

    fn typed(&mut self) -> Parse<Element> {
        Ok(Element::Attribute {
            attribute: self.attribute()?,
            is_typed: true,
        })
    }

    fn key_values(&mut self) -> Parse<Element> {
        let mut attributes = vec![self.attribute()?];
        while self.tokens.opt_mark(',')? {
            attributes.push(self.attribute()?);
        }
        Ok(Element::KeyValues(attributes))
    }

    fn type_list(&mut self) -> Parse<Element> {
        let mut types = vec![self.groups()?];
        while self.tokens.opt_mark(',')? {
            types.push(self.groups()?);
        }
        Ok(Element::Types(types))
    }

    fn function_type(&mut self, is_parenthesised: bool) -> Parse<Element> {
        let inputs = self.groups()?;
        self.tokens.expect(',')?;
        Ok(Element::FunctionType {
            inputs,
            results: self.groups()?,
            is_parenthesised,
        })
    }

    fn shared_type(&mut self) -> Parse<Element> {
        let attribute = self.attribute()?;
        self.tokens.expect(',')?;
        Ok(Element::SharedType {
            attribute,
            result: self.result()?,
        })
    }

    fn known_types(&mut self) -> Parse<Element> {
        let operands = self.operand_list()?;
        let is_determined = matches!(self.tokens.peek()?, Token::Word("by"));
        let by = if is_determined {
            self.tokens.next()?;
            Some(self.attribute()?)
        } else {
            None
        };
        Ok(Element::KnownTypes { operands, by })
    }

    fn region_of_operands(&mut self) -> Parse<Element> {
        Ok(Element::Region {
            function: self.region()?,
            arguments: if self.tokens.opt_mark(',')? {
                self.operand_list()?
            } else {
                Vec::new()
            },
        })
    }

    fn empty_region(&mut self) -> Parse<Element> {
        let function = self.region()?;
        self.tokens.expect(',')?;
        let mut arguments = Vec::new();
        while matches!(self.tokens.peek()?, Token::Variable(_)) {
            arguments.push(self.operand()?);
            self.tokens.expect(',')?;
        }
        Ok(Element::EmptyRegion {
            function,
            arguments,
            terminator: self.quoted()?,
        })
    }

    fn expectation(&mut self) -> Parse<Element> {
        let operand = self.operand()?;
        self.tokens.expect(',')?;
        Ok(Element::Expect {
            operand,
            what: self.quoted()?,
        })
    }

    // Names.

    fn quoted(&mut self) -> Parse<String> {
        match self.tokens.next()? {
            Token::Text(text) => Ok(text.into()),
            _ => self.tokens.error("expected a string in double quotes"),
        }
    }

    fn operand_list(&mut self) -> Parse<Vec<usize>> {
        let mut operands = vec![self.operand()?];
        while self.tokens.opt_mark(',')? {
            operands.push(self.operand()?);
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Parse<usize> {
        let index = |def: &OpDef, name: &str| def.operand_index(name);
        self.part("operand", "an operand", index)
    }

    fn attribute(&mut self) -> Parse<usize> {
        let index = |def: &OpDef, name: &str| def.attribute_index(name);
        self.part("attribute", "an attribute", index)
    }

    fn region(&mut self) -> Parse<usize> {
        let is_region =
            |def: &OpDef, index: &usize| def.functions[*index].form == FunctionForm::Region;
        let index = |def: &OpDef, name: &str| {
            def.function_index(name)
                .filter(|index| is_region(def, index))
        };
        self.part("region", "a region", index)
    }

    /// Parses the name of a part.
    fn part(
        &mut self,
        kind: &str,
        expected: &str,
        index: impl Fn(&OpDef, &str) -> Option<usize>,
    ) -> Parse<usize> {
        let Token::Variable(name) = self.tokens.next()? else {
            return self.tokens.error(format!("expected {expected}"));
        };
        match index(self.def, name) {
            Some(index) => Ok(index),
            None => self
                .tokens
                .error(format!("there is no {kind} named `{name}`")),
        }
    }

    /// Parses one result.
    fn result(&mut self) -> Parse<usize> {
        match self.groups()?[..] {
            [Group::Result(result)] => Ok(result),
            _ => self.tokens.error("expected a result"),
        }
    }

    /// Parses one group, or all groups of a kind.
    fn groups(&mut self) -> Parse<Vec<Group>> {
        match self.tokens.next()? {
            Token::Word("operands") => {
                Ok((0..self.def.operands.len()).map(Group::Operand).collect())
            }
            Token::Word("results") => Ok((0..self.def.results.len()).map(Group::Result).collect()),
            Token::Variable(name) => {
                if let Some(operand) = self.def.operand_index(name) {
                    Ok(vec![Group::Operand(operand)])
                } else if let Some(result) = self.def.result_index(name) {
                    Ok(vec![Group::Result(result)])
                } else {
                    self.tokens
                        .error(format!("there is no operand or result named `{name}`"))
                }
            }
            _ => self.tokens.error("expected an operand or a result"),
        }
    }

    // Whether elements fit.

    /// Records what an element shows, and checks that the declaration has it in a form that the
    /// element can show.
    fn show(&mut self, element: &Element, offset: usize) -> Parse<()> {
        let fail = |message: String| Err(at(offset, message));
        let follows_dictionary = std::mem::replace(
            &mut self.follows_dictionary,
            *element == Element::AttrDict(DictKeyword::No),
        );
        if follows_dictionary && starts_with_brace(element) {
            return fail(
                "this is ambiguous with the attribute dictionary: use attr-dict-with-keyword"
                    .into(),
            );
        }
        match element {
            Element::Operands(operands) => {
                for operand in operands {
                    self.show_operand(*operand, offset)?;
                }
                let is_open = |operand: &&usize| self.operand_def(**operand).arity != Arity::One;
                if operands.iter().filter(is_open).count() > 1 {
                    return fail("a list has two variadic operands".into());
                }
            }
            Element::TypedOperands(operand) => {
                self.show_operand(*operand, offset)?;
                self.shown.types(&[Group::Operand(*operand)]);
            }
            Element::Attribute { attribute, .. } | Element::Pairs(attribute) => {
                self.show_attribute(*attribute, offset)?;
            }
            Element::KeyValues(attributes) => {
                for attribute in attributes {
                    let def = self.show_attribute(*attribute, offset)?;
                    if !matches!(def.kind, AttrKind::Int { .. }) {
                        return fail(format!("attribute `{}` is not an integer", def.name));
                    }
                }
            }
            Element::Function(function) | Element::WholeRegion(function) => {
                if !self.shown.function(*function) {
                    let name = self.def.functions[*function].name;
                    return fail(format!("function `{name}` is shown twice"));
                }
            }
            Element::Region { function, .. } | Element::EmptyRegion { function, .. } => {
                // A region may appear in each list of a group.
                self.shown.function(*function);
            }
            Element::AttrDict(_) => {
                if !self.shown.dictionary() {
                    return fail("the attribute dictionary is shown twice".into());
                }
            }
            Element::Types(types) => types.iter().for_each(|groups| self.shown.types(groups)),
            Element::FunctionType {
                inputs, results, ..
            } => {
                self.shown.types(inputs);
                self.shown.types(results);
            }
            Element::ResultCount(result) => {
                let def = &self.def.results[*result];
                if def.arity != Arity::Variadic || !matches!(def.ty, TypeConstraint::Exact(_)) {
                    return fail(format!(
                        "expected a variadic result of a single type, found result `{}`",
                        def.name
                    ));
                }
                self.shown.types(&[Group::Result(*result)]);
            }
            Element::KnownTypes { operands, by } => {
                if let Some(by) = by {
                    let AttrDef { name, kind, .. } = &self.def.attributes[*by];
                    // Macros know an enumeration only by its name, and take it for an integer.
                    let is_fit = match kind {
                        AttrKind::Enum(def) => def.operand_types.is_some(),
                        AttrKind::Int { .. } => true,
                        _ => false,
                    };
                    if !is_fit {
                        return fail(format!("attribute `{name}` determines no types"));
                    }
                }
                self.show_types(operands);
            }
            Element::LastType(operands) => {
                self.show_types(operands);
                for (index, operand) in operands.iter().enumerate() {
                    let OperandDef {
                        name, ty, arity, ..
                    } = self.operand_def(*operand);
                    if *arity != Arity::One {
                        return fail(format!(
                            "expected a single operand, found the variadic or optional operand \
                             `{name}`"
                        ));
                    }
                    let is_last = index + 1 == operands.len();
                    if !is_last && !matches!(ty, TypeConstraint::Exact(_)) {
                        return fail(format!(
                            "the type of operand `{name}` is optional, but has no declared \
                             default"
                        ));
                    }
                }
            }
            Element::SharedType { attribute, result } => {
                let def = self.show_attribute(*attribute, offset)?;
                if def.kind != AttrKind::Type {
                    return fail(format!("attribute `{}` is not a type", def.name));
                }
                self.shown.types(&[Group::Result(*result)]);
            }
            Element::Literal(_)
            | Element::Blank { .. }
            | Element::Expect { .. }
            | Element::Optional { .. }
            | Element::Either { .. } => {}
        }
        Ok(())
    }

    fn operand_def(&self, operand: usize) -> &OperandDef {
        &self.def.operands[operand]
    }

    fn show_operand(&mut self, operand: usize, offset: usize) -> Parse<()> {
        if self.shown.operand(operand) {
            return Ok(());
        }
        let name = self.operand_def(operand).name;
        Err(at(offset, format!("operand `{name}` is shown twice")))
    }

    fn show_attribute(&mut self, attribute: usize, offset: usize) -> Parse<&AttrDef> {
        let def = &self.def.attributes[attribute];
        if self.shown.attribute(attribute) {
            return Ok(def);
        }
        let message = format!("attribute `{}` is shown twice", def.name);
        Err(at(offset, message))
    }

    fn show_types(&mut self, operands: &[usize]) {
        let groups: Vec<Group> = operands.iter().copied().map(Group::Operand).collect();
        self.shown.types(&groups);
    }
}

/// Returns an error at a byte of the format.
fn at(offset: usize, message: impl Into<String>) -> DeclarationError {
    DeclarationError::new(DeclarationPart::Format(Some(offset)), message)
}

/// Parses the arguments of a directive.
type Directive = fn(&mut Parser<'_>) -> Parse<Element>;

/// The directives that take arguments.
const DIRECTIVES: &[(&str, Directive)] = &[
    ("operands", |parser| {
        Ok(Element::Operands(parser.operand_list()?))
    }),
    ("typed-operands", |parser| {
        Ok(Element::TypedOperands(parser.operand()?))
    }),
    ("typed", |parser| parser.typed()),
    ("key-values", |parser| parser.key_values()),
    ("pairs", |parser| Ok(Element::Pairs(parser.attribute()?))),
    ("type", |parser| Ok(Element::Types(vec![parser.groups()?]))),
    ("type-list", |parser| parser.type_list()),
    ("functional-type", |parser| parser.function_type(false)),
    ("signature", |parser| parser.function_type(true)),
    ("result-count", |parser| {
        Ok(Element::ResultCount(parser.result()?))
    }),
    ("known", |parser| parser.known_types()),
    ("last-type", |parser| {
        Ok(Element::LastType(parser.operand_list()?))
    }),
    ("shared-type", |parser| parser.shared_type()),
    ("region", |parser| parser.region_of_operands()),
    ("empty-region", |parser| parser.empty_region()),
    ("expect", |parser| parser.expectation()),
];

/// Returns `true` if the text of an element starts like a dictionary.
fn starts_with_brace(element: &Element) -> bool {
    match element {
        Element::Literal(text) => text == "{",
        Element::Region { .. } | Element::WholeRegion(_) | Element::Pairs(_) => true,
        _ => false,
    }
}

/// Returns `true` if the first token of an element shows that it is present.
fn is_told(def: &OpDef, element: &Element) -> bool {
    match element {
        Element::Literal(_)
        | Element::Operands(_)
        | Element::TypedOperands(_)
        | Element::Function(_)
        | Element::Pairs(_)
        | Element::Region { .. }
        | Element::WholeRegion(_) => true,
        Element::Attribute { attribute, .. } => matches!(
            def.attributes[*attribute].kind,
            AttrKind::String
                | AttrKind::Int { .. }
                | AttrKind::Float(_)
                | AttrKind::Array(_)
                | AttrKind::Aggregate
                | AttrKind::Dense
                | AttrKind::Enum(_)
        ),
        _ => false,
    }
}

/// Returns `true` if a literal is a single token of programs: a keyword or punctuation.
fn is_literal(text: &str) -> bool {
    const PUNCTUATION: &[&str] = &[
        ":", ",", "=", "<", ">", "(", ")", "{", "}", "[", "]", "->", "?", "+", "*", "-", "|",
    ];
    let is_fit = |char: char| char.is_ascii_alphanumeric() || "_$.".contains(char);
    let is_keyword = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(is_fit);
    PUNCTUATION.contains(&text) || is_keyword
}
