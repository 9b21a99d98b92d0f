//! Lowers calls of functions, branches and loops.
//!
//! | op | becomes |
//! |---|---|
//! | `call`, `composite` | the ops of the callee |
//! | `if`, `case` | a binary tree of calls, each of one of two functions |
//! | `while` | a function that is called while a second one returns true |

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{RegionBody, Value};
use tfrt_ir::{Attribute, BlockId, OpId, RegionId};

use super::{Lowered, Lowering};

impl Lowering<'_> {
    /// Returns the body of the callee of an op.
    pub(super) fn callee_block(&self, op: OpId) -> Result<BlockId, ImportError> {
        let name = self
            .text(op, "callee")
            .or_else(|| self.text(op, "decomposition"));
        let name = name.ok_or_else(|| ImportError::new("expected the name of a function"))?;
        self.function_block(op, name)
    }

    /// Returns the body of the function in the attribute `called_computations`.
    pub(super) fn called_computation(&self, op: OpId) -> Result<BlockId, ImportError> {
        let names = self.module.attr(op, "called_computations");
        let names = names.map(|names| self.module.attribute(names));
        let name = match names {
            Some(Attribute::Array(names)) => match names[..] {
                [name] => self.module.attribute_flat_symbol(name),
                _ => None,
            },
            _ => None,
        };
        let name = name.ok_or_else(|| {
            ImportError::new("attribute `called_computations`: expected the name of a function")
        })?;
        self.function_block(op, name)
    }

    fn function_block(&self, op: OpId, name: &str) -> Result<BlockId, ImportError> {
        let module = self.module;
        let table = module.nearest_symbol_table(op);
        let found = table.and_then(|table| module.lookup_symbol(table, name));
        let found = found.filter(|&found| module.is_func(found));
        let block = found.and_then(|found| module.entry_block(found));
        block.ok_or_else(|| {
            ImportError::new(format!(
                "there is no function `@{}` with a body",
                shown(name)
            ))
        })
    }

    /// Inlines the callee of an op.
    pub(super) fn inlined(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let block = self.callee_block(op)?;
        let callee = self.module.region_op(self.module.block_region(block));
        let callee = callee.ok_or_else(|| ImportError::new("a function has no region"))?;
        if self.callers.contains(&callee) {
            let name = self.module.symbol_name(callee).unwrap_or_default();
            let name = shown(name);
            return Err(ImportError::new(format!(
                "the function `@{name}` calls itself"
            )));
        }
        self.callers.push(callee);
        // Shapes are checked before they are relied on.
        let expectations = std::mem::take(&mut self.expectations);
        let operands = operands.iter().copied().map(Some).collect();
        let operands = self.after(op, operands, &expectations);
        let operands: Vec<Value> = operands.into_iter().flatten().collect();
        let results = self.nested(block, &operands);
        let own = std::mem::replace(&mut self.expectations, expectations);
        self.expectations.extend(own);
        self.callers.pop();
        self.all(results?)
    }

    /// Lowers a block with these values as its arguments.
    pub(super) fn nested(
        &mut self,
        block: BlockId,
        arguments: &[Value],
    ) -> Result<Vec<Option<Value>>, ImportError> {
        let names = self.module.block_arguments(block);
        if names.len() != arguments.len() {
            return Err(ImportError::new(format!(
                "expected {} arguments, found {}",
                arguments.len(),
                names.len()
            )));
        }
        for (&name, &value) in names.iter().zip(arguments) {
            self.values.insert(name, Some(value));
        }
        self.depth += 1;
        let results = self.block(block);
        self.depth -= 1;
        results
    }

    /// Returns the values, or `None` if one is missing. Its defining op was already reported.
    fn all(&self, values: Vec<Option<Value>>) -> Lowered {
        Ok(values.into_iter().collect())
    }

    /// Lowers a region to a separate function. Returns `None` if it contains an unsupported op.
    fn region(
        &mut self,
        op: OpId,
        region: RegionId,
        num_arguments: usize,
    ) -> Result<Option<RegionBody>, ImportError> {
        let block = self.only_block(region)?;
        let outer = std::mem::take(&mut self.expectations);
        let arguments = self.builder.begin(num_arguments);
        let results = self.nested(block, &arguments);
        let own = std::mem::replace(&mut self.expectations, outer);
        let results = results.map(|results| self.after(op, results, &own));
        // The function must end before the error propagates: the builder pairs `begin` and `end`.
        let values: Option<Vec<Value>> = match &results {
            Ok(results) => results.iter().copied().collect(),
            Err(_) => None,
        };
        let body = self.builder.end(values.as_deref().unwrap_or_default());
        results?;
        Ok(values.is_some().then_some(body))
    }

    pub(super) fn while_loop(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let &[condition, body] = self.module.regions(op) else {
            return Err(ImportError::new("expected two regions"));
        };
        let num_checks = self.checks.len();
        let condition = self.region(op, condition, operands.len())?;
        let body = self.region(op, body, operands.len())?;
        if self.checks.len() > num_checks {
            self.checks.truncate(num_checks);
            return self.lacks(op, "with comparisons inside");
        }
        let (Some(condition), Some(body)) = (condition, body) else {
            return self.told();
        };
        let label = self.label(op);
        Ok(Some(self.builder.repeat(operands, condition, body, &label)))
    }

    /// Returns `None` for a reason that was already reported.
    fn told(&mut self) -> Lowered {
        Ok(None)
    }

    pub(super) fn branch(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let (&[then, otherwise], &[condition]) = (self.module.regions(op), operands) else {
            return Err(ImportError::new("expected a condition and two regions"));
        };
        let num_checks = self.checks.len();
        let then = self.region(op, then, 0)?;
        let otherwise = self.region(op, otherwise, 0)?;
        if self.checks.len() > num_checks {
            self.checks.truncate(num_checks);
            return self.lacks(op, "with comparisons inside");
        }
        let (Some(then), Some(otherwise)) = (then, otherwise) else {
            return self.told();
        };
        let label = self.label(op);
        let results = self.builder.conditional(condition, then, otherwise, &label);
        Ok(Some(results))
    }

    pub(super) fn case(&mut self, op: OpId, operands: &[Value]) -> Lowered {
        let regions = self.module.regions(op).to_vec();
        let &[index] = operands else {
            return Err(ImportError::new("expected an index"));
        };
        if regions.is_empty() {
            return Err(ImportError::new("expected at least one branch"));
        }
        let num_checks = self.checks.len();
        let last = regions.len() - 1;
        // An index out of range selects the last branch.
        let program = format!(
            "const i32 00000000;const i32 {last:08x};cmp lt 0 1;cmp gt 0 2;or 3 4;select 5 2 0;ret 6"
        );
        let index = self.apply(op, &program, &[index]);
        let results = self.one_of(op, &regions, 0, index)?;
        if self.checks.len() > num_checks {
            self.checks.truncate(num_checks);
            return self.lacks(op, "with comparisons inside");
        }
        Ok(results)
    }

    /// Lowers branches numbered from `first`, and returns the results of the selected one. It
    /// halves them, so that functions nest only to the logarithm of the number of branches.
    fn one_of(&mut self, op: OpId, regions: &[RegionId], first: usize, index: Value) -> Lowered {
        if let &[region] = regions {
            let block = self.only_block(region)?;
            let results = self.nested(block, &[])?;
            return self.all(results);
        }
        let (low, high) = regions.split_at(regions.len() / 2);
        let middle = first + low.len();
        let program = format!("const i32 {middle:08x};cmp lt 0 1;ret 2");
        let is_low = self.apply(op, &program, &[index]);
        let mut bodies = Vec::new();
        for (regions, first) in [(low, first), (high, middle)] {
            let outer = std::mem::take(&mut self.expectations);
            self.builder.begin(0);
            let results = self.one_of(op, regions, first, index);
            let own = std::mem::replace(&mut self.expectations, outer);
            let values = match &results {
                Ok(Some(values)) => values.iter().copied().map(Some).collect(),
                _ => Vec::new(),
            };
            let values = self.after(op, values, &own);
            let values: Vec<Value> = values.into_iter().flatten().collect();
            let body = self.builder.end(&values);
            bodies.push(results?.map(|_| body));
        }
        let mut bodies = bodies.into_iter();
        let (Some(Some(low)), Some(Some(high))) = (bodies.next(), bodies.next()) else {
            return self.told();
        };
        let label = self.label(op);
        Ok(Some(self.builder.conditional(is_low, low, high, &label)))
    }
}
