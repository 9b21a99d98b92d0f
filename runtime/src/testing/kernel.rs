//! Tests of single kernels: a program with one op.

use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, Chain, Value};
use tfrt_host::RequestContextBuilder;
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_ods::{Arity, OpDef, TypeConstraint};
use tfrt_support::nearest::did_you_mean;

use super::attribute::{AttrText, IntoAttribute};
use super::operand::{IntoOperand, IntoOperands, Operand};
use super::outcome::TestOutcome;
use super::program::{self, TestProgram};

const CHAIN: &str = Chain::MLIR_TYPE;

/// Creates a test of one kernel, which runs with operands and attributes.
///
/// ```
/// use tfrt::prelude::*;
/// use tfrt::testing;
///
/// /// Repeats a text.
/// #[tfrt_kernel("my.repeat")]
/// fn repeat(text: &str, #[attr(default = 2)] times: i64) -> String {
///     text.repeat(usize::try_from(times).unwrap_or(0))
/// }
///
/// testing::kernel("my.repeat").operands(("ab",)).run().expect_value("abab");
/// testing::kernel("my.repeat").operands(("ab",)).attribute("times", 1_i64).run().expect_value("ab");
/// ```
///
/// # Panics
/// If no kernel of this name is linked into the test.
#[track_caller]
#[must_use = "a kernel does nothing until it is run"]
pub fn kernel(name: &str) -> KernelTest {
    let kernels = program::linked();
    let descriptor = find(&kernels, name);
    KernelTest {
        kernels,
        descriptor,
        operands: Vec::new(),
        attributes: Vec::new(),
        result_types: None,
        is_strict: true,
        arrange: Vec::new(),
    }
}

#[track_caller]
fn find(kernels: &KernelRegistry, name: &str) -> KernelDescriptor {
    match kernels.get(name) {
        Some(kernel) => *kernel,
        None if kernels.op(name).is_some() => {
            panic!("`{name}` has no kernel and cannot be run")
        }
        None => panic!(
            "the kernel `{name}` is not linked into the test{}\nkernels of these crates are \
             linked: {}; link other crates with `tfrt::link!`",
            did_you_mean(&kernels.suggest(name)),
            kernels.dialects().join(", ")
        ),
    }
}

/// A kernel under test, created by [`kernel`].
pub struct KernelTest {
    kernels: Arc<KernelRegistry>,
    descriptor: KernelDescriptor,
    operands: Vec<Operand>,
    attributes: Vec<(String, String)>,
    result_types: Option<Vec<String>>,
    is_strict: bool,
    /// Changes to the program around the op.
    arrange: Vec<Box<dyn FnOnce(TestProgram) -> TestProgram>>,
}

impl KernelTest {
    /// Sets the operands, as a tuple or a `Vec`. A chain at the end may be omitted.
    #[must_use]
    pub fn operands<How>(mut self, operands: impl IntoOperands<How>) -> Self {
        self.operands = operands.into_operands();
        self
    }

    /// Sets an attribute. Attributes with a default may be omitted.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: impl IntoAttribute) -> Self {
        let AttrText(text) = value.into_attribute();
        self.attributes.push((name.to_owned(), text));
        self
    }

    /// Sets the types of the results, in MLIR syntax, for kernels whose declaration leaves them
    /// open.
    #[must_use]
    pub fn results<'a>(mut self, types: impl IntoIterator<Item = &'a str>) -> Self {
        self.result_types = Some(types.into_iter().map(str::to_owned).collect());
        self
    }

    /// Lets the kernel start before operands are available, as `bef.nonstrict` does in a program.
    #[must_use]
    pub fn non_strict(mut self) -> Self {
        self.is_strict = false;
        self
    }

    /// See [`TestProgram::with_kernels`].
    ///
    /// # Panics
    /// If the kernel is not one of them.
    #[track_caller]
    #[must_use]
    pub fn with_kernels(mut self, kernels: Arc<KernelRegistry>) -> Self {
        self.descriptor = find(&kernels, self.descriptor.name());
        self.kernels = Arc::clone(&kernels);
        self.arranged(move |program| program.with_kernels(kernels))
    }

    /// See [`TestProgram::under`].
    #[must_use]
    pub fn under<'a>(self, queues: impl IntoIterator<Item = &'a str>) -> Self {
        let queues: Vec<String> = queues.into_iter().map(str::to_owned).collect();
        self.arranged(move |program| program.under(queues.iter().map(String::as_str)))
    }

    /// See [`TestProgram::under_every_queue`].
    #[must_use]
    pub fn under_every_queue(self) -> Self {
        self.arranged(TestProgram::under_every_queue)
    }

    /// See [`TestProgram::request`].
    #[must_use]
    pub fn request(
        self,
        prepare: impl Fn(RequestContextBuilder) -> RequestContextBuilder + 'static,
    ) -> Self {
        self.arranged(|program| program.request(prepare))
    }

    /// Runs the kernel, under every queue that was named.
    ///
    /// # Panics
    /// If the op is refused because its operands, attributes or results do not match the
    /// declaration.
    #[track_caller]
    #[must_use = "an outcome must be checked: call `expect_value`, `expect_error` or \
                  `expect_done`"]
    pub fn run(self) -> TestOutcome {
        let (program, operands) = self.into_program();
        program.0.call_with(program.1, "main", &operands)
    }

    /// Expects that the op is refused before it runs; see [`TestProgram::expect_refused`].
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn expect_refused(self, text: &str) {
        let (program, _) = self.into_program();
        program.0.expect_refused(text);
    }

    fn arranged(mut self, step: impl FnOnce(TestProgram) -> TestProgram + 'static) -> Self {
        self.arrange.push(Box::new(step));
        self
    }

    #[track_caller]
    fn into_program(mut self) -> ((TestProgram, &'static str), Vec<Operand>) {
        let op = self.descriptor.op();
        let operand_types = self.complete_operands(op);
        let result_types = self.result_types(op, &operand_types);
        let source = self.source(op, &operand_types, &result_types);
        let program = self
            .arrange
            .into_iter()
            .fold(program::program(&source), |program, step| step(program));
        ((program, op.name), self.operands)
    }

    /// Returns the types of the operands, after adding an omitted chain.
    fn complete_operands(&mut self, op: &OpDef) -> Vec<String> {
        let ends_in_chain = |op: &OpDef| {
            op.operands
                .last()
                .is_some_and(|last| last.ty == TypeConstraint::Exact(CHAIN))
        };
        let is_variadic = op
            .operands
            .iter()
            .any(|operand| operand.arity == Arity::Variadic);
        let has_chain = self
            .operands
            .last()
            .is_some_and(|last| last.ty() == Some(CHAIN));
        let lacks_one = is_variadic || self.operands.len() + 1 == op.operands.len();
        if ends_in_chain(op) && lacks_one && !has_chain {
            self.operands.push(AnyRef::ready_chain().into_operand());
        }
        let declared = |index: usize| match op.operands.get(index).map(|operand| operand.ty) {
            Some(TypeConstraint::Exact(ty)) => Some(ty),
            _ => None,
        };
        let operands = self.operands.iter().enumerate();
        operands
            .map(|(index, operand)| operand.ty().or(declared(index)).unwrap_or("i32").to_owned())
            .collect()
    }

    #[track_caller]
    fn result_types(&self, op: &OpDef, operand_types: &[String]) -> Vec<String> {
        if let Some(types) = &self.result_types {
            return types.clone();
        }
        let mut types = Vec::new();
        for result in op.results {
            let ty = match (result.ty, result.arity) {
                (TypeConstraint::Exact(ty), Arity::One) => Some(ty.to_owned()),
                (TypeConstraint::SameAs(operand), Arity::One) => op
                    .operands
                    .iter()
                    .position(|declared| declared.name == operand)
                    .and_then(|index| operand_types.get(index).cloned()),
                _ => None,
            };
            match ty {
                Some(ty) => types.push(ty),
                None => panic!(
                    "the declaration of `{}` does not fix the type of result `{}`: pass the types \
                     of all results with `.results([\"…\"])`",
                    op.name, result.name
                ),
            }
        }
        types
    }

    fn source(&self, op: &OpDef, operand_types: &[String], result_types: &[String]) -> String {
        let named = |letter: char, len: usize| -> Vec<String> {
            (0..len).map(|index| format!("%{letter}{index}")).collect()
        };
        let (operands, results) = (
            named('a', operand_types.len()),
            named('r', result_types.len()),
        );
        let arguments: Vec<_> = operands
            .iter()
            .zip(operand_types)
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let mut attributes: Vec<_> = self
            .attributes
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if !self.is_strict {
            attributes.push(String::from("bef.nonstrict"));
        }
        let (arguments, operands) = (arguments.join(", "), operands.join(", "));
        let (operand_types, result_types) = (operand_types.join(", "), result_types.join(", "));
        let name = op.name;
        let function_attributes = match self.descriptor.is_sync() {
            true => " attributes {tfrt.sync}",
            false => "",
        };
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" {{{}}}", attributes.join(", ")),
        };
        let (given, returned) = match results.is_empty() {
            true => (String::new(), String::new()),
            false => {
                let results = results.join(", ");
                (
                    format!("{results} = "),
                    format!(" {results} : {result_types}"),
                )
            }
        };
        format!(
            "func @main({arguments}) -> ({result_types}){function_attributes} {{\n\
             \x20 {given}\"{name}\"({operands}){attributes} : ({operand_types}) -> ({result_types})\n\
             \x20 tfrt.return{returned}\n\
             }}\n"
        )
    }
}

impl fmt::Debug for KernelTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelTest")
            .field("name", &self.descriptor.name())
            .field("operands", &self.operands)
            .field("attributes", &self.attributes)
            .finish_non_exhaustive()
    }
}
