//! Lowers models to programs of our ops.
//!
//! ```text
//!  function ──inline calls──► ops ──lower──► calls of our ops
//!                              │
//!                              └─ regions of reductions, scatters, sorts ──► scalar programs
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `attributes` | attributes of ops: lists, numbers, names |
//! | `bodies` | scalar programs, and regions as such |
//! | `element_wise` | element-wise ops |
//! | `calls` | the lowering of each other op |
//! | `dynamic` | ops of tensors whose shapes are known only at run time |
//! | `checks` | comparisons of tests, and assertions |
//! | `constants` | constants |
//! | `control` | calls of functions, branches, loops |
//! | `scan` | loops over slices of tensors |
//! | `selection` | the greatest elements |
//! | `products` | dot products and convolutions |
//! | `solve` | systems of equations |
//! | `normalization` | batch normalization |
//!
//! An import collects all unsupported ops and types, and reports them together.

mod attributes;

mod bodies;

mod calls;

mod checks;

mod constants;

mod control;

mod dynamic;

mod element_wise;

mod normalization;

mod products;

mod scan;

mod selection;

mod solve;

use std::collections::HashMap;

use tfrt_import::program::{Attr, Program, ProgramBuilder, Value};
use tfrt_import::report::{Unsupported, UnsupportedKind};
use tfrt_import::{ImportError, InputDim, InputType, Limit, Limits};
use tfrt_ir::{BlockId, Module, OpId, ValueId};
use tfrt_tensor::DenseHostTensor;

use crate::check::Check;
use crate::model::{HloModel, MAIN, TensorType, is_token, tensor_type};

pub use calls::supported_ops;

/// The options of an import.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The function that becomes the program.
    pub function: String,
    /// Whether the program keeps the comparisons of tests.
    pub has_checks: bool,
    /// The limits on the size of the program.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            function: MAIN.to_owned(),
            has_checks: false,
            limits: Limits::default(),
        }
    }
}

/// An imported program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Imported {
    /// The program. Its inputs are named `arg0`, `arg1`, …; its outputs `result0`, `result1`, …
    pub program: Program,
    /// The number of outputs that are results of the function. The others are compared tensors.
    pub num_results: usize,
    /// The comparisons, if the import keeps them.
    pub checks: Vec<Check>,
}

/// The reason why an import failed.
#[derive(Clone, Debug)]
pub enum HloImportFailure {
    /// The model is invalid.
    Broken(ImportError),
    /// The model uses unsupported ops or types.
    Unsupported(Unsupported),
}

impl std::fmt::Display for HloImportFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(error) => error.fmt(f),
            Self::Unsupported(unsupported) => unsupported.fmt(f),
        }
    }
}

impl std::error::Error for HloImportFailure {}

impl From<ImportError> for HloImportFailure {
    fn from(error: ImportError) -> Self {
        Self::Broken(error)
    }
}

impl HloModel {
    /// Imports a function as a program.
    ///
    /// ```
    /// use tfrt_stablehlo::HloModel;
    /// use tfrt_stablehlo::import::Options;
    ///
    /// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ///   %y = stablehlo.abs %x : tensor<2xf32>
    ///   return %y : tensor<2xf32>
    /// }";
    /// let model = HloModel::from_text(text, "model.mlir")?;
    /// let imported = model.import(&Options::default())?;
    /// assert_eq!(imported.program.inputs, ["arg0"]);
    /// assert_eq!(imported.program.outputs, ["result0"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first fault of an invalid model, with its place, or everything unsupported.
    pub fn import(&self, options: &Options) -> Result<Imported, HloImportFailure> {
        let function = self.function(&options.function)?;
        let mut lowering = Lowering {
            module: &self.module,
            options,
            builder: ProgramBuilder::default(),
            unsupported: Unsupported::default(),
            values: HashMap::new(),
            num_ops: 0,
            depth: 0,
            callers: Vec::new(),
            checks: Vec::new(),
            expectations: Vec::new(),
            tuples: HashMap::new(),
            probes: HashMap::new(),
        };
        let block = self.module.entry_block(function.op);
        let block = block.ok_or_else(|| {
            ImportError::new(format!("the function `@{}` has no body", function.name))
        })?;
        for (index, &argument) in self.module.block_arguments(block).iter().enumerate() {
            let ty = self.module.value_type(argument);
            let name = format!("arg{index}");
            let tensor = tensor_type(&self.module, ty);
            let value = match &tensor {
                Some(ty) => lowering.builder.declared_input(&name, declared(ty)),
                None => lowering.builder.input(&name),
            };
            if tensor.is_none() {
                let what = format!("values of type {}", self.module.type_spelling(ty));
                let place = format!("argument {index}");
                let kind = UnsupportedKind::Type;
                lowering.unsupported.add(kind, what, &place, "");
                lowering.values.insert(argument, None);
            } else {
                lowering.values.insert(argument, Some(value));
            }
        }
        lowering.callers.push(function.op);
        let results = lowering.block(block)?;
        let expectations = std::mem::take(&mut lowering.expectations);
        let results = lowering.after(function.op, results, &expectations);
        let num_results = results.len();
        let mut outputs: Vec<(String, Option<Value>)> = results
            .into_iter()
            .enumerate()
            .map(|(index, value)| (format!("result{index}"), value))
            .collect();
        let mut checks = Vec::new();
        for (index, (check, found, expected)) in lowering.checks.drain(..).enumerate() {
            let check = Check {
                found: format!("found{index}"),
                expected: format!("expected{index}"),
                ..check
            };
            outputs.push((check.found.clone(), Some(found)));
            outputs.push((check.expected.clone(), Some(expected)));
            checks.push(check);
        }
        if num_results == 0 {
            // Without results, only the assertions themselves show that they hold.
            let shown = expectations.iter().enumerate();
            let shown = shown.map(|(index, &value)| (format!("expectation{index}"), Some(value)));
            outputs.extend(shown);
        }
        if !lowering.unsupported.is_empty() {
            return Err(HloImportFailure::Unsupported(lowering.unsupported));
        }
        let outputs = outputs.iter();
        let outputs = outputs.map(|(name, value)| Some((name.as_str(), (*value)?)));
        let outputs: Option<Vec<(&str, Value)>> = outputs.collect();
        let outputs =
            outputs.ok_or_else(|| ImportError::new("expected a value for every result"))?;
        let mut program = lowering.builder.finish(&outputs);
        let types = self.module.signature(function.op);
        // Tests compare the types, too.
        let types = types.filter(|_| !options.has_checks);
        let types = types.map_or(&[][..], |(_, results)| results);
        for (declared_type, &ty) in program.output_types.iter_mut().zip(types) {
            *declared_type = tensor_type(&self.module, ty).as_ref().map(declared);
        }
        Ok(Imported {
            program,
            num_results,
            checks,
        })
    }
}

/// Returns a type as programs declare it.
fn declared(ty: &TensorType) -> InputType {
    let dims = ty.dims.iter();
    let dims = dims.map(|dim| dim.map_or(InputDim::Unknown, InputDim::Fixed));
    InputType {
        dtype: Some(ty.element.dtype),
        dims: Some(dims.collect()),
    }
}

/// The results of a lowered op, or `None` if the op is unsupported.
type Lowered = Result<Option<Vec<Value>>, ImportError>;

struct Lowering<'a> {
    module: &'a Module,
    options: &'a Options,
    builder: ProgramBuilder,
    unsupported: Unsupported,
    /// The values so far; `None` for results of unsupported ops.
    values: HashMap<ValueId, Option<Value>>,
    num_ops: u64,
    /// The number of regions and calls around the current op.
    depth: u64,
    /// The functions being inlined, outermost first.
    callers: Vec<OpId>,
    /// The comparisons, each with its found and expected values.
    checks: Vec<(Check, Value, Value)>,
    /// The assertions of the function that is being written.
    expectations: Vec<Value>,
    /// The elements of tuples, which only other tuples and `get_tuple_element` take.
    tuples: HashMap<ValueId, Vec<ValueId>>,
    /// The values of probes, by their blocks and names. Other blocks may be other functions of the
    /// program.
    probes: HashMap<(Option<BlockId>, &'a str), Value>,
}

impl<'a> Lowering<'a> {
    /// Lowers the ops of a block, and returns the operands of its terminator.
    fn block(&mut self, block: BlockId) -> Result<Vec<Option<Value>>, ImportError> {
        let limits = &self.options.limits;
        limits.check(Limit::Subgraphs, self.depth)?;
        let ops = self.module.block_ops(block);
        let Some((&last, ops)) = ops.split_last() else {
            return Err(ImportError::new(
                "expected a terminator, found an empty block",
            ));
        };
        for &op in ops {
            self.num_ops += 1;
            let checked = limits.check(Limit::Nodes, self.num_ops);
            let lowered = checked.and_then(|()| self.op(op));
            let num_ops = self.builder.num_ops() as u64;
            lowered
                .and_then(|()| limits.check(Limit::Nodes, num_ops))
                .and_then(|()| limits.check(Limit::ProgramBytes, self.builder.len_bytes()))
                .map_err(
                    |error| match error.to_string().starts_with(&self.place(op)) {
                        true => error,
                        false => error.within(self.label(op)),
                    },
                )?;
        }
        let name = self.module.op_name(last);
        if !matches!(name, "stablehlo.return" | "func.return" | "std.return") {
            let message = format!("expected a return at the end of a block, found `{name}`");
            return Err(ImportError::new(message).within(self.place(last)));
        }
        let operands = self.module.operands(last);
        if operands.iter().any(|value| self.tuples.contains_key(value)) {
            self.lacks(last, "of tuples")?;
        }
        let operands = operands.iter();
        operands.map(|&value| self.known(value, last)).collect()
    }

    /// Returns the place of an op in the text.
    fn place(&self, op: OpId) -> String {
        self.module.place(self.module.op_location(op)).to_string()
    }

    /// Returns the place and name of an op.
    fn label(&self, op: OpId) -> String {
        format!("{}: `{}`", self.place(op), self.module.op_name(op))
    }

    /// Returns the lowered form of a value, or `None` if its defining op is unsupported.
    fn known(&self, value: ValueId, user: OpId) -> Result<Option<Value>, ImportError> {
        let found = self.values.get(&value).copied();
        found.ok_or_else(|| {
            ImportError::new("an operand is used before its definition").within(self.label(user))
        })
    }

    fn op(&mut self, op: OpId) -> Result<(), ImportError> {
        let module = self.module;
        if matches!(
            module.op_name(op),
            "stablehlo.tuple" | "stablehlo.get_tuple_element"
        ) {
            return self.tuple(op);
        }
        let mut operands = Vec::new();
        let mut is_missing = false;
        for &value in module.operands(op) {
            match self.known(value, op)? {
                Some(value) => operands.push(value),
                None => is_missing = true,
            }
            if self.tuples.contains_key(&value) {
                self.lacks(op, "on tuples")?;
            }
        }
        for &result in module.results(op) {
            let ty = module.value_type(result);
            if tensor_type(module, ty).is_none() && !is_token(module, ty) {
                let what = format!("values of type {}", module.type_spelling(ty));
                let place = self.place(op);
                self.unsupported
                    .add(UnsupportedKind::Type, what, &place, "");
                is_missing = true;
            }
        }
        let lowered = if is_missing {
            // Missing operands were reported at their definitions. Only an unknown op is reported
            // here.
            if !calls::is_known(module.op_name(op)) {
                self.missing(op);
            }
            None
        } else {
            let lowered = calls::lower(self, op, &operands)?;
            if lowered.is_none() && !calls::is_known(module.op_name(op)) {
                self.missing(op);
            }
            lowered
        };
        let results = module.results(op);
        match lowered {
            Some(values) if values.len() == results.len() => {
                for (&result, value) in results.iter().zip(values) {
                    self.values.insert(result, Some(value));
                }
            }
            Some(values) => {
                return Err(ImportError::new(format!(
                    "expected {} results, found {}",
                    values.len(),
                    results.len()
                )));
            }
            None => {
                for &result in results {
                    self.values.insert(result, None);
                }
            }
        }
        Ok(())
    }

    /// Makes a tuple, or takes an element of one. The program has no tuples, only their elements.
    fn tuple(&mut self, op: OpId) -> Result<(), ImportError> {
        let module = self.module;
        let &[result] = module.results(op) else {
            return Err(ImportError::new("expected one result"));
        };
        let operands = module.operands(op);
        let mut value = None;
        if module.op_name(op) == "stablehlo.tuple" {
            for &operand in operands {
                self.known(operand, op)?;
            }
            self.tuples.insert(result, operands.to_vec());
        } else {
            let index = usize::try_from(self.int(op, "index")?).ok();
            let tuple = operands.first().and_then(|tuple| self.tuples.get(tuple));
            let element = tuple.zip(index).and_then(|(tuple, index)| tuple.get(index));
            if let Some(&element) = element {
                value = self.known(element, op)?;
                if let Some(tuple) = self.tuples.get(&element) {
                    self.tuples.insert(result, tuple.clone());
                }
            } else {
                self.lacks(op, "on a tuple that is not of this function")?;
            }
        }
        self.values.insert(result, value);
        Ok(())
    }

    /// Records an op as unsupported.
    fn missing(&mut self, op: OpId) {
        let place = self.place(op);
        let what = self.module.op_name(op);
        self.unsupported
            .add(UnsupportedKind::Operator, what, &place, "");
    }

    /// Records an unsupported use of an op.
    fn lacks(&mut self, op: OpId, what: &str) -> Lowered {
        let what = format!("{}: {what}", self.module.op_name(op));
        let place = self.place(op);
        self.unsupported
            .add(UnsupportedKind::Form, what, &place, "");
        Ok(None)
    }

    /// Returns the type of a tensor.
    fn tensor(&self, value: ValueId) -> Result<TensorType, ImportError> {
        let ty = self.module.value_type(value);
        tensor_type(self.module, ty).ok_or_else(|| {
            let spelling = self.module.type_spelling(ty);
            ImportError::new(format!("expected a tensor, found {spelling}"))
        })
    }

    /// Returns `true` if the extents of all operands and results of an op are known.
    fn is_static(&self, op: OpId) -> bool {
        let mut values = self
            .module
            .operands(op)
            .iter()
            .chain(self.module.results(op));
        values.all(|&value| self.tensor(value).is_ok_and(|ty| ty.known_dims().is_some()))
    }

    /// Returns `true` if an operand or result has floating point numbers of up to 8 bits.
    fn has_small_floats(&self, op: OpId) -> bool {
        let module = self.module;
        let mut values = module.operands(op).iter().chain(module.results(op));
        values.any(|&value| {
            let ty = self.tensor(value);
            ty.is_ok_and(|ty| ty.element.small_float().is_some())
        })
    }

    /// Returns the operand or result at an index.
    fn nth(values: &[ValueId], index: usize) -> Result<ValueId, ImportError> {
        let found = values.get(index).copied();
        found.ok_or_else(|| {
            ImportError::new(format!(
                "expected more than {index} operands or results, found {}",
                values.len()
            ))
        })
    }

    /// Returns the type of an operand.
    fn operand(&self, op: OpId, index: usize) -> Result<TensorType, ImportError> {
        self.tensor(Self::nth(self.module.operands(op), index)?)
    }

    /// Returns the type of a result.
    fn result(&self, op: OpId, index: usize) -> Result<TensorType, ImportError> {
        self.tensor(Self::nth(self.module.results(op), index)?)
    }

    /// Adds a call of one of our ops.
    fn emit(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        num_results: usize,
    ) -> Vec<Value> {
        let label = self.label(op);
        self.builder
            .call(name, operands, attrs, num_results, &label)
    }

    /// Adds a call of one of our ops with one result.
    fn emit_one(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Value {
        self.emit(op, name, operands, attrs, 1)[0]
    }

    /// Adds a call of `hlo.Apply` with a scalar program.
    fn apply(&mut self, op: OpId, program: &str, operands: &[Value]) -> Value {
        let attrs = [("program", Attr::Text(program.to_owned()))];
        self.emit_one(op, "hlo.Apply", operands, &attrs)
    }

    /// Adds a constant.
    fn weight(&mut self, tensor: DenseHostTensor) -> Value {
        self.builder.weight("", tensor)
    }
}

/// Returns list attributes, without empty lists, which our ops omit.
fn lists(given: Vec<(&str, Vec<i64>)>) -> Vec<(&str, Attr)> {
    let given = given.into_iter().filter(|(_, list)| !list.is_empty());
    given.map(|(name, list)| (name, Attr::Ints(list))).collect()
}

/// Converts extents to the elements of a list attribute.
fn extents(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&extent| extent as i64).collect()
}
