//! The first phase: what a program consists of, in the order in which files list it, and what is wrong with it.
//!
//! Ops are visited inner ones first. Compiled modules are passed over with all that is in them, and returns enter no table.

use std::collections::{HashMap, HashSet};

use tfrt_attr::{AttrValue, SymbolRefAttr};
use tfrt_bef::write::{AttributeId, BefBuilder, WriteOptions};
use tfrt_bef::{FunctionId, FunctionKind};
use tfrt_ir::{
    AttrId, Attribute, BlockId, Module, OpDiagnostics, OpId, PrintOptions, RegionId, SymbolTable,
    TypeId, print_op,
};
use tfrt_support::Diagnostic;

use super::attributes::{attribute_value, expanded_bytes};
use crate::{
    COMPILED_ATTRIBUTE, COST_ATTRIBUTE, NATIVE_ATTRIBUTE, NON_STRICT_ATTRIBUTE, RETURN_OP,
    SYNC_ATTRIBUTE,
};

/// The tables of a program, filled, and where in them its parts are.
pub(super) struct Collection {
    pub(super) builder: BefBuilder,
    /// The attributes that are values in the file; a symbol that is not here means a function.
    pub(super) attributes: HashMap<AttrId, AttributeId>,
    /// The functions that have names.
    pub(super) functions: HashMap<String, FunctionId>,
    /// The functions that are regions of kernels.
    pub(super) regions: HashMap<RegionId, FunctionId>,
    /// The bodies, in the order of their functions.
    pub(super) bodies: Vec<PlannedBody>,
}

/// A body that is to be defined: one block that ends in a return.
pub(super) struct PlannedBody {
    pub(super) function: FunctionId,
    /// The function, or the op that has the region.
    pub(super) owner: OpId,
    pub(super) block: BlockId,
}

/// How many bytes a file may have because a program states once what the file holds many times: elements that are all equal,
/// and the texts of compiled modules, which each reference carries. So a small program does not make a huge file.
pub const MAX_EXPANDED_BYTES: u64 = 1 << 28;

/// What is wrong with an op.
enum Problem {
    /// It is reported.
    Error(Diagnostic),
    /// It is reported unless something was reported before.
    UnsupportedAttribute(Diagnostic),
}

type Visit = Result<(), Problem>;

/// Fills the tables.
pub(super) fn collect(
    module: &Module,
    options: WriteOptions,
    notes: bool,
) -> Result<Collection, Vec<Diagnostic>> {
    let mut collector = Collector {
        module,
        diagnostics: OpDiagnostics { shows_op: notes },
        collection: Collection {
            builder: BefBuilder::new(options),
            attributes: HashMap::new(),
            functions: HashMap::new(),
            regions: HashMap::new(),
            bodies: Vec::new(),
        },
        symbols: SymbolTable::default(),
        unit_texts: HashMap::new(),
        references: Vec::new(),
        expanded_bytes: 0,
    };
    let mut errors = Vec::new();
    let compiled = ops_of_compiled_modules(module);
    for op in module.walk_post_order(module.root()) {
        if op == module.root() || compiled.contains(&op) {
            continue;
        }
        match collector.visit(op) {
            Ok(()) => {}
            Err(Problem::Error(error)) => errors.push(error),
            Err(Problem::UnsupportedAttribute(error)) if errors.is_empty() => errors.push(error),
            Err(Problem::UnsupportedAttribute(_)) => {}
        }
    }
    if errors.is_empty() {
        errors.extend(collector.undefined_function());
    }
    if errors.is_empty() {
        Ok(collector.collection)
    } else {
        Err(errors)
    }
}

/// The modules marked as compiled that stand where they may, directly in the program, and everything in them.
fn ops_of_compiled_modules(module: &Module) -> HashSet<OpId> {
    let is_compiled =
        |op: &&OpId| module.is_module(**op) && module.has_attr(**op, COMPILED_ATTRIBUTE);
    let compiled = module.block_ops(module.body()).iter().filter(is_compiled);
    compiled.flat_map(|&op| module.walk(op)).collect()
}

struct Collector<'a> {
    module: &'a Module,
    diagnostics: OpDiagnostics,
    collection: Collection,
    symbols: SymbolTable,
    /// The texts of compiled modules that something refers into.
    unit_texts: HashMap<OpId, String>,
    /// Symbols that have to be functions, with the ops that carry them.
    references: Vec<(OpId, AttrId)>,
    /// How many bytes the file has beyond those of the program: see [`MAX_EXPANDED_BYTES`].
    expanded_bytes: u64,
}

impl Collector<'_> {
    fn visit(&mut self, op: OpId) -> Visit {
        let module = self.module;
        for &result in module.results(op) {
            self.add_type(module.value_type(result));
        }
        let region = module.op_block(op).map(|block| module.block_region(block));
        let is_from_outside = |&value| {
            module
                .value_block(value)
                .map(|block| module.block_region(block))
                != region
        };
        if module.operands(op).iter().any(is_from_outside) {
            return Err(self.error(
                op,
                "BEF executor only supports references to kernels within the current region",
            ));
        }

        let parent = module.parent_op(op);
        let is_at_top = parent == Some(module.root());
        if module.is_module(op) {
            return Err(self.error(
                op,
                format!("BEF files cannot hold a module that is not both at the top and marked `{COMPILED_ATTRIBUTE}`"),
            ));
        }
        if !is_at_top && parent.is_some_and(|parent| module.is_module(parent)) {
            // That module is what is wrong, and gets its error when its turn comes.
            return Ok(());
        }
        if module.is_func(op) {
            return if is_at_top {
                self.visit_function(op)
            } else {
                Err(self.error(op, "BEF files cannot hold a function inside of another op"))
            };
        }
        if is_at_top {
            return Err(self.error(op, "BEF files cannot hold a kernel outside of any function"));
        }
        if is_return(module, op) {
            let is_last = module.op_block(op).and_then(|block| module.last_op(block)) == Some(op);
            return if is_last {
                Ok(())
            } else {
                Err(self.error(op, "return op must be at the end of its block"))
            };
        }
        self.visit_kernel(op)
    }

    fn visit_function(&mut self, func: OpId) -> Visit {
        let module = self.module;
        let (Some(name), Some((inputs, results))) =
            (module.symbol_name(func), module.signature(func))
        else {
            return Err(self.error(func, "expected a function with a name and a type"));
        };
        self.check_name(func, name)?;
        if name.is_empty() {
            // An empty name is how a file marks the region of an op.
            return Err(self.error(func, "BEF files cannot hold a function with an empty name"));
        }
        let block = module.entry_block(func);
        if module.has_attr(func, NATIVE_ATTRIBUTE) {
            if block.is_some() {
                return Err(self.error(func, "native functions have no body"));
            }
            let arguments = inputs.iter().map(|&ty| self.add_type(ty)).collect();
            let results = results.iter().map(|&ty| self.add_type(ty)).collect();
            let function = self.collection.builder.declare_function(
                FunctionKind::Native,
                name,
                arguments,
                results,
            );
            self.collection.functions.insert(name.to_owned(), function);
            return Ok(());
        }

        let Some(block) = block else {
            return Err(self.error(func, "external functions are not allowed"));
        };
        let terminator = match module.last_op(block) {
            Some(op) if is_return(module, op) => op,
            other => {
                return Err(self.error(
                    other.unwrap_or(func),
                    "all functions need to have a tfrt.return",
                ));
            }
        };
        self.check_single_blocks(func)?;
        let is_sync = module.has_attr(func, SYNC_ATTRIBUTE);
        if is_sync {
            self.check_sync_returns(terminator)?;
        }
        let kind = if is_sync {
            FunctionKind::Sync
        } else {
            FunctionKind::Async
        };
        let function = self.declare_body(func, block, terminator, kind, name);
        self.collection.functions.insert(name.to_owned(), function);
        Ok(())
    }

    /// The interpreter moves each result out of its register: it must be there, and only once.
    fn check_sync_returns(&self, terminator: OpId) -> Visit {
        let module = self.module;
        let mut seen = HashSet::new();
        for (index, value) in module.operands(terminator).iter().enumerate() {
            if module.defining_op(*value).is_none() {
                let message = format!("return value {index} is an argument in a sync function");
                return Err(self.error(terminator, message));
            }
            if !seen.insert(value) {
                return Err(self.error(
                    terminator,
                    format!("return value {index} is duplicated in a sync function"),
                ));
            }
        }
        Ok(())
    }

    fn visit_kernel(&mut self, op: OpId) -> Visit {
        let module = self.module;
        let is_last = module.op_block(op).and_then(|block| module.last_op(block)) == Some(op);
        if !module.successors(op).is_empty() && !is_last {
            return Err(self.error(op, "BEF files cannot hold a branch"));
        }
        self.check_name(op, module.op_name(op))?;
        self.collection.builder.add_kernel_name(module.op_name(op));
        for &(name, attribute) in module.attributes(op) {
            self.visit_attribute(op, module.name(name), attribute)?;
        }

        self.check_single_blocks(op)?;
        for &region in module.regions(op) {
            let block = module.blocks(region)[0];
            let terminator = match module.last_op(block) {
                Some(last) if is_return(module, last) => last,
                other => {
                    return Err(self.error(
                        other.unwrap_or(op),
                        "all regions need to have a tfrt.return",
                    ));
                }
            };
            let function = self.declare_body(op, block, terminator, FunctionKind::Async, "");
            self.collection.regions.insert(region, function);
        }
        Ok(())
    }

    fn check_single_blocks(&self, op: OpId) -> Visit {
        let module = self.module;
        if module
            .regions(op)
            .iter()
            .all(|&region| module.blocks(region).len() == 1)
        {
            Ok(())
        } else {
            // Said at the place of the op, not of the op: without the note that shows it.
            let place = module.place(module.op_location(op));
            let message = "multi-block regions cannot be emitted to BEF files";
            Err(Problem::Error(Diagnostic::error(place, message)))
        }
    }

    fn declare_body(
        &mut self,
        owner: OpId,
        block: BlockId,
        terminator: OpId,
        kind: FunctionKind,
        name: &str,
    ) -> FunctionId {
        let module = self.module;
        let mut types = |values: &[_]| {
            values
                .iter()
                .map(|&value| self.add_type(module.value_type(value)))
                .collect()
        };
        let arguments = types(module.block_arguments(block));
        let results = types(module.operands(terminator));
        let function = self
            .collection
            .builder
            .declare_function(kind, name, arguments, results);
        self.collection.bodies.push(PlannedBody {
            function,
            owner,
            block,
        });
        function
    }

    fn visit_attribute(&mut self, op: OpId, name: &str, attribute: AttrId) -> Visit {
        let module = self.module;
        if name == COST_ATTRIBUTE {
            return Ok(());
        }
        if name == NON_STRICT_ATTRIBUTE {
            let is_flag = *module.attribute(attribute) == Attribute::Unit;
            return if is_flag {
                Ok(())
            } else {
                Err(self.unsupported(op, name, None))
            };
        }
        self.check_name(op, name)?;
        match module.attribute(attribute) {
            Attribute::SymbolRef { root, nested } => {
                match self.compilation_unit(op, root, nested) {
                    Some(unit) => {
                        if !self.collection.attributes.contains_key(&attribute) {
                            self.expand(op, name, unit.text.len() as u64)?;
                        }
                        self.visit_value(op, name, attribute, Some(AttrValue::SymbolRef(unit)))
                    }
                    None => {
                        self.references.push((op, attribute));
                        Ok(())
                    }
                }
            }
            Attribute::Array(elements) if is_symbol_list(module, elements) => {
                if !elements
                    .iter()
                    .all(|&element| module.attribute_flat_symbol(element).is_some())
                {
                    return Err(self.unsupported(op, name, None));
                }
                self.collection.builder.add_attribute_name(name);
                self.references
                    .extend(elements.iter().map(|&element| (op, element)));
                Ok(())
            }
            _ if self.collection.attributes.contains_key(&attribute) => {
                // Written already, and its types are known.
                self.collection.builder.add_attribute_name(name);
                Ok(())
            }
            _ => {
                self.expand(op, name, expanded_bytes(module, attribute))?;
                let value = attribute_value(module, attribute);
                self.visit_value(op, name, attribute, value)
            }
        }
    }

    /// Counts bytes that a file holds more often than the program, before they are made.
    fn expand(&mut self, op: OpId, name: &str, num_bytes: u64) -> Visit {
        self.expanded_bytes = self.expanded_bytes.saturating_add(num_bytes);
        if self.expanded_bytes <= MAX_EXPANDED_BYTES {
            return Ok(());
        }
        let reason = format!(
            "splat constants would expand to at least {} bytes, more than {MAX_EXPANDED_BYTES}",
            self.expanded_bytes
        );
        Err(self.unsupported(op, name, Some(reason)))
    }

    fn visit_value(
        &mut self,
        op: OpId,
        name: &str,
        attribute: AttrId,
        value: Option<AttrValue>,
    ) -> Visit {
        let Some(value) = value else {
            return Err(self.unsupported(op, name, None));
        };
        self.collection.builder.add_attribute_name(name);
        self.add_number_types(attribute);
        if !self.collection.attributes.contains_key(&attribute) {
            // Attributes of equal values may differ in what files do not hold: they stay apart.
            let id = self
                .collection
                .builder
                .push_attribute(&value)
                .map_err(|error| self.unsupported(op, name, Some(error.to_string())))?;
            self.collection.attributes.insert(attribute, id);
        }
        Ok(())
    }

    /// Adds the types of the numbers in an attribute to the type list.
    fn add_number_types(&mut self, attribute: AttrId) {
        let module = self.module;
        match module.attribute(attribute) {
            Attribute::Integer { ty, .. } | Attribute::Float { ty, .. } => {
                self.collection
                    .builder
                    .add_attribute_type(module.type_spelling(*ty));
            }
            Attribute::Array(elements) => elements
                .iter()
                .for_each(|&element| self.add_number_types(element)),
            _ => {}
        }
    }

    /// The value of a symbol that means something in a compiled module.
    fn compilation_unit(
        &mut self,
        op: OpId,
        root: &str,
        nested: &[Box<str>],
    ) -> Option<SymbolRefAttr> {
        let module = self.module;
        let mut target = self
            .symbols
            .lookup(module, module.nearest_symbol_table(op)?, root)?;
        for name in nested {
            if module.text_of(target).is_some() {
                // What is in a module that stayed text is for the kernel to find.
                break;
            }
            target = if module.is_module(target) {
                self.symbols.lookup(module, target, name)?
            } else {
                return None;
            };
        }
        let is_inside_text = module.text_of(target).is_some() && !nested.is_empty();
        let unit = match is_inside_text {
            true => target,
            false => module
                .ancestors(target)
                .find(|&ancestor| module.is_module(ancestor))?,
        };
        if !module.has_attr(unit, COMPILED_ATTRIBUTE) {
            return None;
        }
        let print = || {
            print_op(
                module,
                unit,
                &PrintOptions {
                    generic: true,
                    ..PrintOptions::default()
                },
            )
        };
        let text = self.unit_texts.entry(unit).or_insert_with(print).clone();
        let nested = nested.iter().map(|name| (**name).to_owned()).collect();
        Some(SymbolRefAttr {
            root: root.to_owned(),
            nested,
            text,
        })
    }

    /// The error of the first symbol that should be a function and is none.
    fn undefined_function(&self) -> Option<Diagnostic> {
        let module = self.module;
        let is_undefined = |attribute: AttrId| {
            module
                .attribute_flat_symbol(attribute)
                .is_none_or(|name| !self.collection.functions.contains_key(name))
        };
        let &(op, attribute) = self
            .references
            .iter()
            .find(|(_, attribute)| is_undefined(*attribute))?;
        let mut symbol = String::new();
        tfrt_ir::print::attributes::print_attribute(module, attribute, &mut symbol);
        let place = module.place(module.op_location(op));
        Some(Diagnostic::error(
            place,
            format!("function {symbol} not defined"),
        ))
    }

    fn add_type(&mut self, ty: TypeId) -> tfrt_bef::TypeIndex {
        self.collection
            .builder
            .add_type(self.module.type_spelling(ty))
    }

    /// Names end at a zero byte in files.
    fn check_name(&self, op: OpId, name: &str) -> Visit {
        if name.contains('\0') {
            return Err(self.error(
                op,
                format!("BEF files cannot hold the name {name:?}, which has a zero byte"),
            ));
        }
        Ok(())
    }

    #[cold]
    fn error(&self, op: OpId, message: impl Into<String>) -> Problem {
        Problem::Error(self.diagnostics.error(self.module, op, message))
    }

    #[cold]
    fn unsupported(&self, op: OpId, name: &str, reason: Option<String>) -> Problem {
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        let message = format!("BEF files cannot encode the '{name}' attribute{reason}");
        Problem::UnsupportedAttribute(self.diagnostics.error(self.module, op, message))
    }
}

/// Whether the op ends a body.
pub(super) fn is_return(module: &Module, op: OpId) -> bool {
    module.op_name(op) == RETURN_OP
}

/// Whether a list is one of functions: it starts with a symbol.
pub(super) fn is_symbol_list(module: &Module, elements: &[AttrId]) -> bool {
    elements
        .first()
        .is_some_and(|&first| matches!(module.attribute(first), Attribute::SymbolRef { .. }))
}
