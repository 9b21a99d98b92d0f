//! Jumps through tables, and calls.

use crate::instruction::*;
use crate::types::ScalarType;

use super::{Decoded, Decoder, Refusal, unsupported};

impl Decoder<'_, '_, '_, '_, '_> {
    pub(super) fn branch_table(&mut self) -> Decoded<Op> {
        if !self.modifiers.take("idx") {
            return unsupported("`brx` without `.idx` is not supported");
        }
        self.modifiers.take("uni");
        let index = self.body.source(ScalarType::U32)?;
        self.body.comma()?;
        let name = self.body.cursor.name()?;
        let Some(labels) = self.body.table(name)? else {
            return Err(Refusal::Text(self.body.cursor.error_at_last(format!(
                "`.branchtargets` named `{name}` are not defined"
            ))));
        };
        for (entry, label) in labels.iter().enumerate() {
            self.body.jump_to(label, entry);
        }
        Ok(Op::BranchTable {
            index,
            targets: vec![0; labels.len()].into(),
        })
    }

    pub(super) fn call(&mut self) -> Decoded<Op> {
        self.modifiers.take("uni");
        let results = if self.body.cursor.is_sign(b'(') {
            let results = self.arguments()?;
            self.body.comma()?;
            results
        } else {
            Box::default()
        };
        let callee = match self
            .body
            .cursor
            .peek_word()
            .and_then(|name| self.body.function_named(name))
        {
            Some(id) => {
                self.body.cursor.any()?;
                Callee::Function(id)
            }
            None => {
                self.body.function.calls_pointers = true;
                Callee::Pointer(self.body.source(ScalarType::B64)?)
            }
        };
        let mut arguments = Box::default();
        if self.body.cursor.eat(b',') {
            if self.body.cursor.is_sign(b'(') {
                arguments = self.arguments()?;
                if self.body.cursor.eat(b',') {
                    self.body.cursor.name()?;
                }
            } else {
                // A prototype or a list of targets.
                self.body.cursor.name()?;
            }
        }
        if let Callee::Function(id) = callee {
            let known = &self.body.module.functions[id as usize];
            // A function that calls itself is still being parsed; its head is in the module.
            let (expected, found) = (
                (known.results.len(), known.parameters.len()),
                (results.len(), arguments.len()),
            );
            if expected != found {
                let text = format!(
                    "`{}` has {} results and {} parameters, found {} and {}",
                    known.name, expected.0, expected.1, found.0, found.1
                );
                return Err(Refusal::Text(self.body.cursor.error_at_last(text)));
            }
        }
        Ok(Op::Call {
            callee,
            results,
            arguments,
        })
    }

    fn arguments(&mut self) -> Decoded<Box<[Operand]>> {
        self.body.cursor.expect(b'(')?;
        let mut arguments = Vec::new();
        while !self.body.cursor.eat(b')') {
            arguments.push(self.body.source(ScalarType::B64)?);
            if !self.body.cursor.is_sign(b')') {
                self.body.comma()?;
            }
        }
        Ok(arguments.into())
    }
}
