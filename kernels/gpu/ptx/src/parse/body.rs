//! Bodies of functions: scopes, registers, labels, variables.
//!
//! Registers get slots when they are first used, not when they are declared, so
//! `.reg .b32 %r<4000000000>` costs nothing. Labels belong to the innermost braces, because inline
//! assembly repeats its labels; a branch searches outwards.

use std::collections::HashMap;

use crate::error::ParseError;
use crate::instruction::{Guard, Instruction, Op, Operand, Register, Target};
use crate::module::{Function, Module, Variable};
use crate::types::{ScalarType, Space, Special};

use super::cursor::{Cursor, Literal};
use super::{Declared, MAX_FRAME, declared_type, space_of, variable};

/// The meaning of a name in a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Register { register: Register, ty: ScalarType },
    Local(u32),
    Param(u32),
    Variable(u32),
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<String, Name>,
    /// Registers `%r0`, `%r1`, … that are declared together: prefix, number, type.
    ranges: Vec<(&'a str, u64, ScalarType)>,
    labels: HashMap<&'a str, u32>,
    /// Targets of `brx.idx`: where the list begins.
    tables: HashMap<&'a str, usize>,
    pending: Vec<Jump<'a>>,
}

/// A branch to a label that may come later.
struct Jump<'a> {
    instruction: usize,
    /// The index in a table of targets.
    entry: usize,
    label: &'a str,
    position: usize,
}

pub(super) struct Body<'a, 'c, 'm> {
    pub(super) module: &'m mut Module,
    pub(super) cursor: &'c mut Cursor<'a>,
    pub(super) function: Function,
    scopes: Vec<Scope<'a>>,
}

/// Parses the body of a function whose head is known; the cursor stands at its `{`.
pub(super) fn parse(
    module: &mut Module,
    cursor: &mut Cursor<'_>,
    id: u32,
    names: HashMap<String, Name>,
) -> Result<(), ParseError> {
    let function = module.functions[id as usize].clone();
    let scopes = vec![Scope {
        names,
        ..Scope::default()
    }];
    let mut body = Body {
        module,
        cursor,
        function,
        scopes,
    };
    body.statements()?;
    let function = body.function;
    module.functions[id as usize] = function;
    Ok(())
}

impl<'a> Body<'a, '_, '_> {
    fn statements(&mut self) -> Result<(), ParseError> {
        loop {
            if self.cursor.eat(b'{') {
                self.scopes.push(Scope::default());
            } else if self.cursor.eat(b'}') {
                self.close_scope()?;
                if self.scopes.len() == 1 {
                    break;
                }
            } else if self.cursor.eat(b';') {
                continue;
            } else {
                self.statement()?;
            }
        }
        let line = self.cursor.line();
        self.function.code.push(Instruction {
            guard: None,
            op: Op::Return,
            line,
            span: (0, 0),
        });
        Ok(())
    }

    fn close_scope(&mut self) -> Result<(), ParseError> {
        let Some(scope) = self.scopes.pop() else {
            return Ok(());
        };
        let is_outermost = self.scopes.len() == 1;
        for jump in scope.pending {
            match scope.labels.get(jump.label) {
                Some(&to) => match &mut self.function.code[jump.instruction].op {
                    Op::Branch(target) => *target = to,
                    Op::BranchTable { targets, .. } => targets[jump.entry] = to,
                    _ => {}
                },
                None if is_outermost => {
                    self.cursor.jump(jump.position);
                    return Err(self.cursor.error(format!("unknown label `{}`", jump.label)));
                }
                None => self.scope().pending.push(jump),
            }
        }
        Ok(())
    }

    fn scope(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn statement(&mut self) -> Result<(), ParseError> {
        let word = self.cursor.peek_word();
        if let Some(label) =
            word.filter(|word| !word.starts_with('.') && self.cursor.is_second_sign(b':'))
        {
            return self.label(label);
        }
        match word {
            Some(".reg") => self.registers(),
            Some(".param") => self.argument(),
            Some(space @ (".local" | ".shared" | ".global" | ".const")) => {
                self.cursor.any()?;
                let variable = variable(self.cursor, space_of(space), false)?;
                self.add_variable(variable)
            }
            Some(".pragma" | ".noreturn") => self.cursor.skip_statement(),
            _ => self.instruction(),
        }
    }

    fn label(&mut self, label: &'a str) -> Result<(), ParseError> {
        let to = self.function.code.len() as u32;
        if self.scope().labels.contains_key(label) {
            return Err(self
                .cursor
                .error(format!("label `{label}` is defined twice")));
        }
        self.cursor.any()?;
        self.cursor.expect(b':')?;
        match self.cursor.peek_word() {
            Some(".branchtargets") => {
                self.cursor.any()?;
                let list = self.cursor.position();
                self.scope().tables.insert(label, list);
                self.cursor.skip_statement()
            }
            Some(".callprototype" | ".calltargets") => self.cursor.skip_statement(),
            _ => {
                self.scope().labels.insert(label, to);
                Ok(())
            }
        }
    }

    fn registers(&mut self) -> Result<(), ParseError> {
        self.cursor.any()?;
        let Declared { ty, vector, .. } = declared_type(self.cursor)?;
        if vector > 1 {
            return Err(self
                .cursor
                .error_at_last("vector registers are not supported"));
        }
        loop {
            let name = self.cursor.name()?;
            if self.cursor.eat(b'<') {
                let count = self.cursor.unsigned("a number of registers")?;
                self.cursor.expect(b'>')?;
                self.scope().ranges.push((name, count, ty));
            } else {
                let register = self.new_register();
                self.scope()
                    .names
                    .insert(name.to_owned(), Name::Register { register, ty });
            }
            if !self.cursor.eat(b',') {
                return self.cursor.expect(b';');
            }
        }
    }

    fn new_register(&mut self) -> Register {
        self.function.num_registers += 1;
        self.function.num_registers as Register - 1
    }

    /// `.param` in a body: an argument or a result of a call.
    fn argument(&mut self) -> Result<(), ParseError> {
        self.cursor.any()?;
        let Declared { ty, align, .. } = declared_type(self.cursor)?;
        let name = self.cursor.name()?;
        let mut size = ty.size() as u64;
        if self.cursor.eat(b'[') {
            size = size.saturating_mul(self.cursor.unsigned("a size")?);
            self.cursor.expect(b']')?;
        }
        self.cursor.expect(b';')?;
        let align = align.unwrap_or(1).max(ty.size() as u64);
        let offset = self.reserve(true, align, size)?;
        self.scope()
            .names
            .insert(name.to_owned(), Name::Param(offset));
        Ok(())
    }

    fn reserve(&mut self, is_param: bool, align: u64, size: u64) -> Result<u32, ParseError> {
        let frame = if is_param {
            &mut self.function.param_bytes
        } else {
            &mut self.function.local_bytes
        };
        let offset = (*frame as u64).next_multiple_of(align);
        match offset
            .checked_add(size)
            .filter(|&end| end <= MAX_FRAME as u64)
        {
            Some(end) => {
                *frame = end as usize;
                Ok(offset as u32)
            }
            None => Err(self.cursor.error_at_last(format!(
                "expected at most {MAX_FRAME} bytes of variables in a frame"
            ))),
        }
    }

    fn add_variable(&mut self, variable: Variable) -> Result<(), ParseError> {
        let name = variable.name.clone();
        let place = if variable.space == Space::Local {
            Name::Local(self.reserve(false, variable.align, variable.size)?)
        } else {
            self.module.variables.push(variable);
            Name::Variable(self.module.variables.len() as u32 - 1)
        };
        self.scope().names.insert(name, place);
        Ok(())
    }

    fn instruction(&mut self) -> Result<(), ParseError> {
        let (first, line) = (self.cursor.position(), self.cursor.line());
        let guard = match self.cursor.eat(b'@') {
            false => None,
            true => {
                let is_negated = self.cursor.eat(b'!');
                let name = self.cursor.name()?;
                match self.find(name) {
                    Some(Name::Register {
                        register,
                        ty: ScalarType::Pred,
                    }) => Some(Guard {
                        register,
                        is_negated,
                    }),
                    _ => {
                        return Err(self
                            .cursor
                            .error_at_last(format!("expected a predicate, found `{name}`")));
                    }
                }
            }
        };
        let op = super::instruction::parse(self)?;
        let span = self.cursor.span_from(first);
        self.function.code.push(Instruction {
            guard,
            op,
            line,
            span,
        });
        Ok(())
    }

    /// Looks a name up, innermost scope first.
    fn find(&mut self, name: &str) -> Option<Name> {
        for index in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[index];
            if let Some(&found) = scope.names.get(name) {
                return Some(found);
            }
            let ty = scope.ranges.iter().find_map(|&(prefix, count, ty)| {
                let number = name.strip_prefix(prefix)?;
                let is_plain = number.bytes().all(|digit| digit.is_ascii_digit())
                    && (number == "0" || !number.starts_with('0'));
                (is_plain && number.parse::<u64>().is_ok_and(|number| number < count)).then_some(ty)
            });
            if let Some(ty) = ty {
                let register = self.new_register();
                let found = Name::Register { register, ty };
                self.scopes[index].names.insert(name.to_owned(), found);
                return Some(found);
            }
        }
        self.module
            .variable_by_name
            .get(name)
            .map(|&index| Name::Variable(index))
    }

    pub(super) fn comma(&mut self) -> Result<(), ParseError> {
        self.cursor.expect(b',')
    }

    /// Returns a register that is written, or `_`. `is_predicate` gives its kind.
    pub(super) fn target_of(&mut self, is_predicate: bool) -> Result<Target, ParseError> {
        let name = self.cursor.name()?;
        if name == "_" {
            return Ok(None);
        }
        match self.find(name) {
            Some(Name::Register { register, ty }) if (ty == ScalarType::Pred) == is_predicate => {
                Ok(Some(register))
            }
            _ => {
                let expected = if is_predicate {
                    "a predicate"
                } else {
                    "a register"
                };
                Err(self
                    .cursor
                    .error_at_last(format!("expected {expected}, found `{name}`")))
            }
        }
    }

    pub(super) fn target(&mut self) -> Result<Target, ParseError> {
        self.target_of(false)
    }

    /// `{a, b}` or `a`.
    pub(super) fn targets(&mut self) -> Result<Box<[Target]>, ParseError> {
        if !self.cursor.eat(b'{') {
            return Ok([self.target()?].into());
        }
        let mut targets = vec![self.target()?];
        while self.cursor.eat(b',') {
            targets.push(self.target()?);
        }
        self.cursor.expect(b'}')?;
        Ok(targets.into())
    }

    /// `{a, b}` or `a`, as values.
    pub(super) fn sources(&mut self, ty: ScalarType) -> Result<Box<[Operand]>, ParseError> {
        if !self.cursor.eat(b'{') {
            return Ok([self.source(ty)?].into());
        }
        let mut sources = vec![self.source(ty)?];
        while self.cursor.eat(b',') {
            sources.push(self.source(ty)?);
        }
        self.cursor.expect(b'}')?;
        Ok(sources.into())
    }

    /// Returns a value that is read as one of type `ty`.
    pub(super) fn source(&mut self, ty: ScalarType) -> Result<Operand, ParseError> {
        if self.cursor.eat(b'!') {
            // One name follows, so that a long run of `!` cannot exhaust the stack.
            let name = self.cursor.name()?;
            return match self.find(name) {
                Some(Name::Register {
                    register,
                    ty: ScalarType::Pred,
                }) if ty == ScalarType::Pred => Ok(Operand::Not(register)),
                _ => Err(self.cursor.error_at_last("expected a predicate after `!`")),
            };
        }
        let is_negative = self.cursor.eat(b'-');
        if let Some(word) = self.cursor.peek_word()
            && let Some(literal) = Literal::parse(word)
        {
            self.cursor.any()?;
            let bits = literal.bits(ty, is_negative);
            return bits.map(Operand::Immediate).ok_or_else(|| {
                self.cursor
                    .error_at_last(format!("`{word}` is not a value of this type"))
            });
        }
        if is_negative {
            return Err(self.cursor.error("expected a number after `-`"));
        }
        let name = self.cursor.name()?;
        let operand = match self.find(name) {
            Some(Name::Register {
                register,
                ty: register_ty,
            }) => {
                if (register_ty == ScalarType::Pred) != (ty == ScalarType::Pred) {
                    let (expected, found) = if ty == ScalarType::Pred {
                        ("a predicate", "a register")
                    } else {
                        ("a register", "a predicate")
                    };
                    return Err(self
                        .cursor
                        .error_at_last(format!("expected {expected}, found {found}, `{name}`")));
                }
                return Ok(Operand::Register(register));
            }
            Some(Name::Local(offset)) => Operand::Local(offset),
            Some(Name::Param(offset)) => Operand::Param(offset),
            Some(Name::Variable(index)) => {
                if self.module.variables[index as usize].space == Space::Shared
                    && !self.function.shared.contains(&index)
                {
                    self.function.shared.push(index);
                }
                Operand::Variable { index, offset: 0 }
            }
            None => {
                if let Some(special) = Special::parse(name) {
                    return Ok(Operand::Special(special));
                }
                match self.function_named(name) {
                    Some(id) => return Ok(Operand::Function(id)),
                    None => {
                        return Err(self.cursor.error_at_last(format!("unknown name `{name}`")));
                    }
                }
            }
        };
        if !self.cursor.eat(b'+') {
            return Ok(operand);
        }
        let more = self.cursor.unsigned("an offset")?;
        let inside = |offset: u32| {
            u32::try_from(more)
                .ok()
                .and_then(|more| offset.checked_add(more))
        };
        let moved = match operand {
            Operand::Local(offset) => inside(offset).map(Operand::Local),
            Operand::Param(offset) => inside(offset).map(Operand::Param),
            Operand::Variable { index, .. } => Some(Operand::Variable {
                index,
                offset: more as i64,
            }),
            other => Some(other),
        };
        moved.ok_or_else(|| {
            self.cursor
                .error_at_last("expected an offset inside of the variable")
        })
    }

    /// Returns the function of that name, which this one then may call.
    pub(super) fn function_named(&mut self, name: &str) -> Option<u32> {
        let id = *self.module.function_by_name.get(name)?;
        if !self.function.callees.contains(&id) {
            self.function.callees.push(id);
        }
        Some(id)
    }

    /// Notes that the instruction to come jumps to `label`.
    pub(super) fn jump_to(&mut self, label: &'a str, entry: usize) {
        let (instruction, position) = (
            self.function.code.len(),
            self.cursor.position().saturating_sub(1),
        );
        self.scope().pending.push(Jump {
            instruction,
            entry,
            label,
            position,
        });
    }

    /// Returns the labels of a table of targets.
    pub(super) fn table(&mut self, name: &str) -> Result<Option<Vec<&'a str>>, ParseError> {
        let Some(start) = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.tables.get(name).copied())
        else {
            return Ok(None);
        };
        let back = self.cursor.position();
        self.cursor.jump(start);
        let mut labels = vec![self.cursor.name()?];
        while self.cursor.eat(b',') {
            labels.push(self.cursor.name()?);
        }
        self.cursor.jump(back);
        Ok(Some(labels))
    }
}
