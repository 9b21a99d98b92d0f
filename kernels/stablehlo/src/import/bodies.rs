//! Lowers the regions of ops such as reductions, scatters and sorts to scalar programs.
//!
//! A region on scalars becomes the text of a small program for ops such as `hlo.Apply`. Their crate
//! documents its grammar. The program has the arguments of the region, in the same order.

use std::collections::HashMap;
use std::fmt::Write;

use tfrt_import::{ImportError, Limit};
use tfrt_ir::{BlockId, OpId, RegionId, ValueId};
use tfrt_support::DType;

use super::{Lowering, calls};
use crate::model::static_tensor;

/// A scalar program under construction.
#[derive(Default)]
struct Body {
    text: String,
    /// The number of each value in the program.
    values: HashMap<ValueId, usize>,
    num_values: usize,
}

impl Body {
    /// Adds an instruction, and returns the number of its result.
    fn add(&mut self, instruction: &str) -> usize {
        self.text.push_str(instruction);
        self.text.push(';');
        self.num_values += 1;
        self.num_values - 1
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
        let mut body = Body::default();
        for &argument in self.module.block_arguments(block) {
            body.values.insert(argument, body.num_values);
            body.num_values += 1;
        }
        let Some(results) = self.body_of(block, &mut body, 0)? else {
            return Ok(None);
        };
        let results: Vec<String> = results.iter().map(ToString::to_string).collect();
        let _ = write!(body.text, "ret {}", results.join(" "));
        Ok(Some(body.text))
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
    ) -> Result<Option<Vec<usize>>, ImportError> {
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
            is_whole &= self.instruction(op, body, depth)?;
        }
        if !is_whole {
            return Ok(None);
        }
        let results = self.module.operands(last).to_vec().into_iter();
        let results = results.map(|value| self.element(value, last, body));
        results.collect()
    }

    /// Returns the number of a value: an argument, a result, or a constant from outside the region.
    fn element(
        &mut self,
        value: ValueId,
        user: OpId,
        body: &mut Body,
    ) -> Result<Option<usize>, ImportError> {
        if let Some(&number) = body.values.get(&value) {
            return Ok(Some(number));
        }
        let constant = self.module.defining_op(value);
        let constant = constant.filter(|&op| self.module.op_name(op) == "stablehlo.constant");
        if let Some(op) = constant
            && self.instruction(op, body, 0)?
            && let Some(&number) = body.values.get(&value)
        {
            return Ok(Some(number));
        }
        self.lacks(user, "within a region, on values captured from outside it")?;
        Ok(None)
    }

    /// Adds an op of a region to the program. Returns `true` if the op is supported.
    fn instruction(&mut self, op: OpId, body: &mut Body, depth: u64) -> Result<bool, ImportError> {
        let module = self.module;
        let name = module.op_name(op);
        let mut operands = Vec::new();
        for &value in module.operands(op) {
            match self.element(value, op, body)? {
                Some(number) => operands.push(number),
                None => return Ok(false),
            }
        }
        if matches!(name, "func.call" | "std.call") {
            return self.called(op, &operands, body, depth);
        }
        let &[result] = module.results(op) else {
            self.lacks(op, "within a region")?;
            return Ok(false);
        };
        let is_scalar = |value: ValueId| {
            let ty = static_tensor(module, module.value_type(value));
            ty.is_some_and(|(_, dims)| dims.iter().all(|&extent| extent == 1))
        };
        if !is_scalar(result) || !module.operands(op).iter().all(|&value| is_scalar(value)) {
            self.lacks(op, "within a region, on tensors that are not scalars")?;
            return Ok(false);
        }
        let instruction = match (name, &operands[..]) {
            ("stablehlo.constant", []) => {
                let (dtype, bytes) = self.constant_bytes(op)?;
                let size = dtype.size_bytes().unwrap_or(1);
                let digits = bytes.iter().take(size).rev();
                let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
                Some(format!("const {} {digits}", type_name(dtype)))
            }
            (
                "stablehlo.reshape"
                | "stablehlo.broadcast_in_dim"
                | "stablehlo.optimization_barrier",
                &[x],
            ) => {
                body.values.insert(result, x);
                return Ok(true);
            }
            _ => calls::element_instruction(self, op, &operands)?,
        };
        match instruction {
            Some(instruction) => {
                let number = body.add(&instruction);
                body.values.insert(result, number);
                Ok(true)
            }
            None => {
                self.lacks(op, "within a region")?;
                Ok(false)
            }
        }
    }

    fn called(
        &mut self,
        op: OpId,
        operands: &[usize],
        body: &mut Body,
        depth: u64,
    ) -> Result<bool, ImportError> {
        let block = self.callee_block(op)?;
        let arguments = self.module.block_arguments(block);
        if arguments.len() != operands.len() {
            return Err(ImportError::new(format!(
                "expected {} operands, found {}",
                arguments.len(),
                operands.len()
            )));
        }
        for (&argument, &number) in arguments.iter().zip(operands) {
            body.values.insert(argument, number);
        }
        let Some(results) = self.body_of(block, body, depth + 1)? else {
            return Ok(false);
        };
        for (&result, number) in self.module.results(op).iter().zip(results) {
            body.values.insert(result, number);
        }
        Ok(true)
    }
}

/// Returns the name of an element type in scalar programs.
pub(super) fn type_name(dtype: DType) -> String {
    match dtype {
        DType::Ui8 => "ui8".to_owned(),
        DType::Ui16 => "ui16".to_owned(),
        DType::Ui32 => "ui32".to_owned(),
        DType::Ui64 => "ui64".to_owned(),
        other => other.to_string(),
    }
}
