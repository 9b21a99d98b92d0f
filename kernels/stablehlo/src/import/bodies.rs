//! Scalar programs, and regions of ops such as reductions, scatters and sorts as such programs.
//!
//! A region on scalars becomes the text of a small program for ops such as `hlo.Apply`. Their crate
//! documents its grammar. The program has the arguments of the region, in the same order. A complex
//! number is two values: its real part and its imaginary part. Elements narrower than those of
//! tensors are converted from these at the start, and to them at the end.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use tfrt_import::program::Value;
use tfrt_import::{ImportError, Limit};
use tfrt_ir::{BlockId, OpId, RegionId, ValueId};

use super::{Lowering, element_wise};
use crate::model::{ElementType, tensor_type};

/// The values of a scalar program that represent an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Plain(usize),
    /// The real and the imaginary part.
    Complex(usize, usize),
}

impl Scalar {
    /// Returns the value, or the real part.
    pub(super) fn real(self) -> usize {
        match self {
            Self::Plain(value) | Self::Complex(value, _) => value,
        }
    }

    /// Returns the numbers of the values, one or two.
    pub(super) fn parts(self) -> Vec<usize> {
        match self {
            Self::Plain(value) => vec![value],
            Self::Complex(real, imaginary) => vec![real, imaginary],
        }
    }
}

/// A scalar program under construction.
#[derive(Default)]
pub(super) struct Body {
    text: String,
    values: HashMap<ValueId, Scalar>,
    /// The results of ops that were reported as unsupported.
    missing: HashSet<ValueId>,
    num_values: usize,
}

impl Body {
    /// Begins a program with arguments of these types. Returns the arguments.
    pub(super) fn new(types: &[ElementType]) -> (Self, Vec<Scalar>) {
        let mut body = Self::default();
        let mut arguments = Vec::new();
        for ty in types {
            let first = body.num_values;
            arguments.push(match ty.is_complex() {
                true => Scalar::Complex(first, first + 1),
                false => Scalar::Plain(first),
            });
            body.num_values += if ty.is_complex() { 2 } else { 1 };
        }
        for (argument, ty) in arguments.iter_mut().zip(types) {
            if ty.wider().is_some() {
                let value = argument.real();
                *argument = Scalar::Plain(body.add(&format!("convert {} {value}", ty.name)));
            }
        }
        (body, arguments)
    }

    /// Adds an instruction, and returns the number of its result.
    pub(super) fn add(&mut self, instruction: &str) -> usize {
        self.text.push_str(instruction);
        self.text.push(';');
        self.num_values += 1;
        self.num_values - 1
    }

    /// Defines a value. A function that is called again defines its values again.
    fn define(&mut self, value: ValueId, scalar: Scalar) {
        self.missing.remove(&value);
        self.values.insert(value, scalar);
    }

    /// Leaves a value undefined. An op that uses it is unsupported.
    fn undefine(&mut self, value: ValueId) {
        self.missing.remove(&value);
        self.values.remove(&value);
    }

    /// Leaves a value undefined, for a reason that was already reported.
    fn miss(&mut self, value: ValueId) {
        self.values.remove(&value);
        self.missing.insert(value);
    }

    /// Adds a constant of which all bits are zero.
    pub(super) fn zero(&mut self, ty: ElementType) -> usize {
        self.add(&format!("const {} 0", ty.name))
    }

    /// Adds a constant from the bytes of an element.
    pub(super) fn constant(&mut self, ty: ElementType, bytes: &[u8]) -> Scalar {
        let mut part = |bytes: &[u8]| {
            let digits = bytes.iter().rev().map(|byte| format!("{byte:02x}"));
            self.add(&format!("const {} {}", ty.name, digits.collect::<String>()))
        };
        match ty.is_complex() {
            true => {
                let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                Scalar::Complex(part(real), part(imaginary))
            }
            false => Scalar::Plain(part(bytes)),
        }
    }

    /// Ends the program with results of these types, and returns its text.
    pub(super) fn finish(mut self, results: &[(Scalar, ElementType)]) -> String {
        let mut parts = Vec::new();
        for &(result, ty) in results {
            match ty.wider() {
                Some(name) => parts.push(self.add(&format!("convert {name} {}", result.real()))),
                None => parts.extend(result.parts()),
            }
        }
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        let _ = write!(self.text, "ret {}", parts.join(" "));
        self.text
    }
}

impl Lowering<'_> {
    /// Lowers a region of an op to a scalar program. Returns `None` after it records why that is
    /// unsupported.
    pub(super) fn element_function(
        &mut self,
        op: OpId,
        region: usize,
    ) -> Result<Option<String>, ImportError> {
        let found = self.module.regions(op).get(region).copied();
        let region = found.ok_or_else(|| ImportError::new("a region is missing"))?;
        let block = self.only_block(region)?;
        self.block_function(op, block)
    }

    /// Lowers a block to a scalar program, as [`Self::element_function`] does.
    pub(super) fn block_function(
        &mut self,
        op: OpId,
        block: BlockId,
    ) -> Result<Option<String>, ImportError> {
        self.capturing_function(op, block, &[])
    }

    /// Lowers a block to a scalar program whose arguments are those of the block, then values from
    /// outside it.
    pub(super) fn capturing_function(
        &mut self,
        op: OpId,
        block: BlockId,
        captured: &[ValueId],
    ) -> Result<Option<String>, ImportError> {
        let arguments = [self.module.block_arguments(block), captured].concat();
        let types = arguments.iter().map(|&value| self.element_of(value));
        let Some(types) = types.collect::<Option<Vec<_>>>() else {
            self.lacks(
                op,
                "with a region on values that are not tensors of numbers",
            )?;
            return Ok(None);
        };
        let (mut body, scalars) = Body::new(&types);
        body.values.extend(arguments.into_iter().zip(scalars));
        let Some(results) = self.body_of(block, &mut body, 0)? else {
            return Ok(None);
        };
        Ok(Some(body.finish(&results)))
    }

    /// Converts operands to the types with which a region computes, which may be wider. `argument`
    /// returns the index of the argument of the region that an operand becomes, if it becomes one.
    pub(super) fn promoted(
        &mut self,
        op: OpId,
        region: usize,
        operands: &[Value],
        argument: impl Fn(usize) -> Option<usize>,
    ) -> Result<Vec<Value>, ImportError> {
        let found = self.module.regions(op).get(region).copied();
        let region = found.ok_or_else(|| ImportError::new("a region is missing"))?;
        let arguments = self.module.block_arguments(self.only_block(region)?);
        let mut promoted = operands.to_vec();
        for (index, value) in promoted.iter_mut().enumerate() {
            let wanted = argument(index).and_then(|argument| arguments.get(argument));
            if let Some(wanted) = wanted.and_then(|&wanted| self.element_of(wanted)) {
                let own = self.operand(op, index)?.element;
                *value = self.convert(op, *value, own, wanted);
            }
        }
        Ok(promoted)
    }

    /// Returns the scalars from outside a block that its ops use, and their lowered forms.
    /// Constants are none of them, because they are a part of the program.
    pub(super) fn captured_scalars(&self, block: BlockId) -> Vec<(ValueId, Value)> {
        let module = self.module;
        let ops = module.block_ops(block);
        let arguments = module.block_arguments(block).iter();
        let own = ops.iter().flat_map(|&op| module.results(op));
        let mut known: HashSet<ValueId> = arguments.chain(own).copied().collect();
        let mut captured = Vec::new();
        for &value in ops.iter().flat_map(|&op| module.operands(op)) {
            let defining = module.defining_op(value).map(|op| module.op_name(op));
            if defining != Some("stablehlo.constant")
                && self.tensor(value).is_ok_and(|ty| ty.dims.is_empty())
                && let Some(&Some(lowered)) = self.values.get(&value)
                && known.insert(value)
            {
                captured.push((value, lowered));
            }
        }
        captured
    }

    /// Returns the type of the elements of a value, if it is a tensor.
    fn element_of(&self, value: ValueId) -> Option<ElementType> {
        Some(tensor_type(self.module, self.module.value_type(value))?.element)
    }

    /// Returns the only block of a region.
    pub(super) fn only_block(&self, region: RegionId) -> Result<BlockId, ImportError> {
        match self.module.blocks(region) {
            &[block] => Ok(block),
            blocks => Err(ImportError::new(format!(
                "expected a region of one block, found {}",
                blocks.len()
            ))),
        }
    }

    fn body_of(
        &mut self,
        block: BlockId,
        body: &mut Body,
        depth: u64,
    ) -> Result<Option<Vec<(Scalar, ElementType)>>, ImportError> {
        self.options.limits.check(Limit::Subgraphs, depth)?;
        let Some((&last, ops)) = self.module.block_ops(block).split_last() else {
            return Err(ImportError::new(
                "expected a terminator, found an empty region",
            ));
        };
        let mut is_whole = true;
        for &op in ops {
            self.num_ops += 1;
            self.options.limits.check(Limit::Nodes, self.num_ops)?;
            if !self.instruction(op, body, depth)? {
                is_whole = false;
                for &result in self.module.results(op) {
                    body.miss(result);
                }
            }
        }
        if !is_whole {
            return Ok(None);
        }
        let mut results = Vec::new();
        for &value in self.module.operands(last) {
            match (self.element(value, last, body)?, self.element_of(value)) {
                (Some(scalar), Some(ty)) => results.push((scalar, ty)),
                _ => return Ok(None),
            }
        }
        Ok(Some(results))
    }

    /// Returns an element: an argument, a result, or a constant from outside the region.
    fn element(
        &mut self,
        value: ValueId,
        user: OpId,
        body: &mut Body,
    ) -> Result<Option<Scalar>, ImportError> {
        let found = self.optional_element(value, body)?;
        if found.is_none() && !body.missing.contains(&value) {
            self.lacks(user, "within a region, on values captured from outside it")?;
        }
        Ok(found)
    }

    /// Returns an element, or `None` for a value that a program cannot have.
    fn optional_element(
        &mut self,
        value: ValueId,
        body: &mut Body,
    ) -> Result<Option<Scalar>, ImportError> {
        if !body.values.contains_key(&value)
            && let Some(op) = self.module.defining_op(value)
            && self.module.op_name(op) == "stablehlo.constant"
            && self.tensor(value).is_ok_and(|ty| ty.is_scalar())
        {
            self.instruction(op, body, 0)?;
        }
        Ok(body.values.get(&value).copied())
    }

    /// Adds an op of a region to the program. Returns `true` if the op is supported.
    fn instruction(&mut self, op: OpId, body: &mut Body, depth: u64) -> Result<bool, ImportError> {
        let module = self.module;
        let name = module.op_name(op);
        if matches!(name, "func.call" | "std.call") {
            return self.called(op, body, depth);
        }
        let mut operands = Vec::new();
        for &value in module.operands(op) {
            match self.element(value, op, body)? {
                Some(scalar) => operands.push(scalar),
                None => return Ok(false),
            }
        }
        let &[result] = module.results(op) else {
            self.lacks(op, "within a region")?;
            return Ok(false);
        };
        let is_scalar = |value: ValueId| self.tensor(value).is_ok_and(|ty| ty.is_scalar());
        if !is_scalar(result) || !module.operands(op).iter().all(|&value| is_scalar(value)) {
            self.lacks(op, "within a region, on tensors that are not scalars")?;
            return Ok(false);
        }
        let scalar = match (name, &operands[..]) {
            ("stablehlo.constant", []) => {
                let (ty, bytes) = self.constant_bytes(op)?;
                let size = ty.dtype.size_bytes().unwrap_or(1).min(bytes.len());
                Some(body.constant(ty, &bytes[..size]))
            }
            (
                "stablehlo.reshape"
                | "stablehlo.broadcast_in_dim"
                | "stablehlo.optimization_barrier",
                &[x],
            ) => Some(x),
            ("stablehlo.bitcast_convert", &[Scalar::Plain(x)]) => {
                let (from, to) = (self.operand(op, 0)?.element, self.result(op, 0)?.element);
                let is_same_width = from.bits() == to.bits() && from.name != "i1";
                let is_held = [from, to].map(ElementType::small_float) == [None, None];
                let instruction = format!("bitcast {} {x}", to.name);
                (is_same_width && is_held).then(|| Scalar::Plain(body.add(&instruction)))
            }
            _ => match element_wise::function_name(name) {
                Some(function) => element_wise::add(self, op, function, &operands, body)?,
                None => None,
            },
        };
        match scalar {
            Some(scalar) => {
                body.define(result, scalar);
                Ok(true)
            }
            None => {
                self.lacks(op, "within a region")?;
                Ok(false)
            }
        }
    }

    /// Adds the ops of a function. It may have arguments from outside the region that it does not
    /// use; an op that uses one is unsupported.
    fn called(&mut self, op: OpId, body: &mut Body, depth: u64) -> Result<bool, ImportError> {
        let block = self.callee_block(op)?;
        let (arguments, operands) = (self.module.block_arguments(block), self.module.operands(op));
        if arguments.len() != operands.len() {
            return Err(ImportError::new(format!(
                "expected {} operands, found {}",
                arguments.len(),
                operands.len()
            )));
        }
        for (&argument, &operand) in arguments.iter().zip(operands) {
            match self.optional_element(operand, body)? {
                Some(scalar) => body.define(argument, scalar),
                None if body.missing.contains(&operand) => body.miss(argument),
                None => body.undefine(argument),
            }
        }
        let Some(results) = self.body_of(block, body, depth + 1)? else {
            return Ok(false);
        };
        for (&result, (scalar, _)) in self.module.results(op).iter().zip(results) {
            body.define(result, scalar);
        }
        Ok(true)
    }
}
