//! Layouts of memory: affine maps and strides.
//!
//! A layout is kept as text, in the form in which MLIR prints it: dimensions are `d0`, `d1`, …,
//! symbols `s0`, `s1`, …, constants come last in sums and products, and there are parentheses only
//! where they are needed.

use std::collections::HashMap;
use std::fmt::Write;

use super::lexer::Kind;
use super::parser::{Parse, Parser};
use crate::attribute::{AttrId, Attribute};

/// The maximum number of bytes of a layout's text.
const MAX_TEXT: usize = 1 << 16;

/// The maximum number of operations of an affine map, which bounds the depth of its expressions.
const MAX_OPERATIONS: usize = 512;

/// An expression of dimensions, symbols and constants.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expr {
    /// `d0` or `s0`.
    Name(String),
    Constant(i64),
    Sum(Box<Expr>, Box<Expr>),
    Product(Box<Expr>, Box<Expr>),
    /// A quotient or a remainder, with its word.
    Division(&'static str, Box<Expr>, Box<Expr>),
}

/// A map that is being read.
#[derive(Default)]
struct Map<'s> {
    /// The names, and how they are printed.
    names: HashMap<&'s str, String>,
    num_operations: usize,
}

impl<'s> Parser<'s, '_> {
    /// `'affine_map' '<' '(' names ')' ('[' names ']')? '->' '(' expressions ')' '>'`
    pub(super) fn affine_map(&mut self) -> Parse<AttrId> {
        let offset = self.advance().start;
        self.expect(Kind::Less, "expected '<' in affine map")?;
        let mut map = Map::default();
        let num_dims = self.affine_names((Kind::LParen, Kind::RParen), 'd', &mut map)?;
        let num_symbols = match self.is(Kind::LSquare) {
            true => self.affine_names((Kind::LSquare, Kind::RSquare), 's', &mut map)?,
            false => 0,
        };
        self.expect(Kind::Arrow, "expected '->' in affine map")?;
        let mut results = Vec::new();
        self.delimited((Kind::LParen, Kind::RParen), " in affine map", |this| {
            results.push(this.affine_sum(&mut map)?);
            Ok(())
        })?;
        self.expect(Kind::Greater, "expected '>' in affine map")?;
        let mut text = format!("affine_map<({})", numbered('d', num_dims));
        if num_symbols > 0 {
            let _ = write!(text, "[{}]", numbered('s', num_symbols));
        }
        text.push_str(" -> (");
        for (index, result) in results.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            result.print(false, &mut text);
        }
        text.push_str(")>");
        if text.len() > MAX_TEXT {
            return Err(self.error_at(offset, "affine map is too long"));
        }
        let is_identity = num_symbols == 0
            && results.len() == num_dims
            && (0..num_dims)
                .zip(&results)
                .all(|(index, result)| *result == Expr::Name(format!("d{index}")));
        let layout = Attribute::Layout {
            text: text.into(),
            num_dims,
            is_identity,
        };
        Ok(self.module.intern_attribute(layout))
    }

    /// `'strided' '<' '[' strides ']' (',' 'offset' ':' offset)? '>'`
    pub(super) fn strided_layout(&mut self) -> Parse<AttrId> {
        let offset = self.advance().start;
        self.expect(Kind::Less, "expected '<' in strided layout")?;
        let mut strides = Vec::new();
        self.delimited(
            (Kind::LSquare, Kind::RSquare),
            " in strided layout",
            |this| {
                strides.push(this.stride()?);
                Ok(())
            },
        )?;
        let mut start = None;
        if self.opt(Kind::Comma) {
            if !self.opt_word("offset") {
                return Err(self.error("expected 'offset' after comma"));
            }
            self.expect(Kind::Colon, "expected ':' after 'offset'")?;
            start = Some(self.stride()?).filter(|start| *start != "0");
        }
        self.expect(Kind::Greater, "expected '>' in strided layout")?;
        let mut text = format!("strided<[{}]", strides.join(", "));
        if let Some(start) = start {
            let _ = write!(text, ", offset: {start}");
        }
        text.push('>');
        if text.len() > MAX_TEXT {
            return Err(self.error_at(offset, "strided layout is too long"));
        }
        let layout = Attribute::Layout {
            text: text.into(),
            num_dims: strides.len(),
            is_identity: false,
        };
        Ok(self.module.intern_attribute(layout))
    }

    /// `'?' | '-'? integer`
    fn stride(&mut self) -> Parse<String> {
        if self.opt(Kind::Question) {
            return Ok("?".to_owned());
        }
        let sign = if self.opt(Kind::Minus) { "-" } else { "" };
        let token = self.expect(Kind::Integer, "expected a 64-bit signed integer or '?'")?;
        let number = format!("{sign}{}", self.spelling(token)).parse::<i64>();
        match number {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err(self.error_at(token.start, "expected a 64-bit signed integer or '?'")),
        }
    }

    /// Parses a list of names, and returns their number.
    fn affine_names(
        &mut self,
        brackets: (Kind, Kind),
        letter: char,
        map: &mut Map<'s>,
    ) -> Parse<usize> {
        let mut count = 0;
        self.delimited(brackets, " in affine map", |this| {
            let token = this.token();
            if !matches!(token.kind, Kind::Bare | Kind::IntType) {
                return Err(this.error("expected bare identifier"));
            }
            let name = this.spelling(token);
            if map.names.insert(name, format!("{letter}{count}")).is_some() {
                return Err(this.error(format!("redefinition of identifier '{name}'")));
            }
            this.advance();
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// `sum ::= product (('+' | '-') product)*`
    fn affine_sum(&mut self, map: &mut Map<'s>) -> Parse<Expr> {
        self.nested(|this| {
            let mut sum = this.affine_product(map)?;
            loop {
                let is_difference = this.is(Kind::Minus);
                if !is_difference && !this.is(Kind::Plus) {
                    return Ok(sum);
                }
                this.affine_operator(map)?;
                let next = this.affine_product(map)?;
                let next = match is_difference {
                    true => this.affine_times(next, Expr::Constant(-1))?,
                    false => next,
                };
                sum = match (sum, next) {
                    (Expr::Constant(a), Expr::Constant(b)) => {
                        Expr::Constant(this.small(a.checked_add(b))?)
                    }
                    (a, Expr::Constant(0)) | (Expr::Constant(0), a) => a,
                    (a @ Expr::Constant(_), b) => Expr::Sum(b.into(), a.into()),
                    (a, b) => Expr::Sum(a.into(), b.into()),
                };
            }
        })
    }

    /// `product ::= operand (('*' | 'mod' | 'floordiv' | 'ceildiv') operand)*`
    fn affine_product(&mut self, map: &mut Map<'s>) -> Parse<Expr> {
        let mut product = self.affine_operand(map)?;
        loop {
            if self.is(Kind::Star) {
                self.affine_operator(map)?;
                let factor = self.affine_operand(map)?;
                product = self.affine_times(product, factor)?;
                continue;
            }
            let words = ["mod", "floordiv", "ceildiv"];
            let Some(word) = words.into_iter().find(|word| self.is_word(word)) else {
                return Ok(product);
            };
            self.affine_operator(map)?;
            let divisor = self.affine_operand(map)?;
            product = Expr::Division(word, product.into(), divisor.into());
        }
    }

    /// Consumes the sign or the word of an operation.
    fn affine_operator(&mut self, map: &mut Map<'s>) -> Parse<()> {
        map.num_operations += 1;
        if map.num_operations > MAX_OPERATIONS {
            return Err(self.error("affine map is too long"));
        }
        self.advance();
        Ok(())
    }

    fn affine_times(&mut self, one: Expr, other: Expr) -> Parse<Expr> {
        Ok(match (one, other) {
            (Expr::Constant(a), Expr::Constant(b)) => Expr::Constant(self.small(a.checked_mul(b))?),
            (a, Expr::Constant(1)) | (Expr::Constant(1), a) => a,
            (a @ Expr::Constant(_), b) => Expr::Product(b.into(), a.into()),
            (a, b) => Expr::Product(a.into(), b.into()),
        })
    }

    /// `operand ::= name | integer | '-' operand | '(' sum ')'`
    fn affine_operand(&mut self, map: &mut Map<'s>) -> Parse<Expr> {
        let token = self.token();
        match token.kind {
            Kind::Integer => {
                self.advance();
                let number = self.spelling(token).parse().ok();
                self.small(number).map(Expr::Constant)
            }
            Kind::Minus => {
                self.advance();
                let operand = self.nested(|this| this.affine_operand(map))?;
                self.affine_times(operand, Expr::Constant(-1))
            }
            Kind::LParen => {
                self.advance();
                let sum = self.affine_sum(map)?;
                self.expect(Kind::RParen, "expected ')'")?;
                Ok(sum)
            }
            Kind::Bare | Kind::IntType => match map.names.get(self.spelling(token)) {
                Some(name) => {
                    self.advance();
                    Ok(Expr::Name(name.clone()))
                }
                None => Err(self.error("use of undeclared identifier")),
            },
            _ => Err(self.error("expected affine expression")),
        }
    }

    /// Refuses a number of more than 64 bits, and the one whose opposite has more: its text could
    /// not be parsed.
    fn small(&mut self, number: Option<i64>) -> Parse<i64> {
        let number = number.filter(|&number| number != i64::MIN);
        number.ok_or_else(|| self.error("constant too large for index"))
    }
}

/// Returns the names of dimensions or symbols.
fn numbered(letter: char, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("{letter}{index}")).collect();
    names.join(", ")
}

impl Expr {
    /// Appends the text; in parentheses if `is_factor` and they are needed in a product.
    fn print(&self, is_factor: bool, out: &mut String) {
        let (left, right) = match self {
            Self::Name(name) => return out.push_str(name),
            Self::Constant(number) => {
                let _ = write!(out, "{number}");
                return;
            }
            Self::Sum(..) | Self::Product(..) | Self::Division(..) if is_factor => {
                out.push('(');
                self.print(false, out);
                return out.push(')');
            }
            Self::Product(left, right) if **right == Self::Constant(-1) => {
                out.push('-');
                return left.print(true, out);
            }
            Self::Product(left, right) => (left, (" * ", right)),
            Self::Division(word, left, right) => {
                left.print(true, out);
                let _ = write!(out, " {word} ");
                return right.print(true, out);
            }
            Self::Sum(left, right) => {
                left.print(false, out);
                return right.print_addend(out);
            }
        };
        let (sign, right) = right;
        left.print(true, out);
        out.push_str(sign);
        right.print(true, out);
    }

    /// Appends what is added to a sum. A negative multiple is subtracted.
    fn print_addend(&self, out: &mut String) {
        match self {
            Self::Constant(number @ ..0) => {
                let _ = write!(out, " - {}", number.unsigned_abs());
            }
            Self::Product(factor, other) => match **other {
                Self::Constant(-1) => {
                    out.push_str(" - ");
                    factor.print(matches!(**factor, Self::Sum(..)), out);
                }
                Self::Constant(number @ ..0) => {
                    out.push_str(" - ");
                    factor.print(true, out);
                    let _ = write!(out, " * {}", number.unsigned_abs());
                }
                _ => {
                    out.push_str(" + ");
                    self.print(false, out);
                }
            },
            _ => {
                out.push_str(" + ");
                self.print(false, out);
            }
        }
    }
}
