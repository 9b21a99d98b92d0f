//! The first phase: collects the parts of a program, in the order in which files list them, and its
//! errors.
//!
//! Inner ops are visited first. Compiled modules are skipped with everything inside, and returns do
//! not enter any table.

use std::collections::{HashMap, HashSet};

use tfrt_attr::{AttrValue, SymbolRefAttr};
use tfrt_bef::write::{AttributeId, BefBuilder, WriteOptions};
use tfrt_bef::{FunctionId, FunctionKind};
use tfrt_ir::symbols::SymbolTable;
use tfrt_ir::{
    AttrId, Attribute, BlockId, Module, OpDiagnostics, OpId, PrintOptions, RegionId, TypeId,
    print_op,
};
use tfrt_support::Diagnostic;

use super::attributes::{attribute_value, expanded_bytes};
use crate::{
    COMPILED_ATTRIBUTE, COST_ATTRIBUTE, NATIVE_ATTRIBUTE, NON_STRICT_ATTRIBUTE, RETURN_OP,
    SYNC_ATTRIBUTE,
};

/// The filled tables of a program, and the positions of its parts in them.
pub(super) struct Collection {
    pub(super) builder: BefBuilder,
    /// The attributes that are values in the file. A symbol that is missing here refers to a
    /// function.
    pub(super) attributes: HashMap<AttrId, AttributeId>,
    /// The named functions.
    pub(super) functions: HashMap<String, FunctionId>,
    /// The functions that are regions of kernels.
    pub(super) regions: HashMap<RegionId, FunctionId>,
    /// The bodies, in the order of their functions.
    pub(super) bodies: Vec<PlannedBody>,
}

/// A body to be defined: one block that ends in a return.
pub(super) struct PlannedBody {
    pub(super) function: FunctionId,
    /// The function, or the op that has the region.
    pub(super) owner: OpId,
    pub(super) block: BlockId,
}

/// The number of bytes that a file may have because the program states once what the file holds
/// many times: elements that are all equal, and the texts of compiled modules, of which each
/// reference holds a copy. The limit keeps a small program from making a huge file.
pub const MAX_EXPANDED_BYTES: u64 = 1 << 28;

/// The error of an op.
enum Problem {
    /// An error that is always reported.
    Error(Diagnostic),
    /// An error that is reported only if it is the first one.
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

/// Returns the modules marked as compiled, where they are allowed, and everything in them: modules
/// directly in the program, and the program itself.
fn ops_of_compiled_modules(module: &Module) -> HashSet<OpId> {
    let is_compiled =
        |op: &&OpId| module.is_module(**op) && module.has_attr(**op, COMPILED_ATTRIBUTE);
    if is_compiled(&&module.root()) {
        return module.walk(module.root()).into_iter().collect();
    }
    let compiled = module.block_ops(module.body()).iter().filter(is_compiled);
    compiled.flat_map(|&op| module.walk(op)).collect()
}

struct Collector<'a> {
    module: &'a Module,
    diagnostics: OpDiagnostics,
    collection: Collection,
    symbols: SymbolTable,
    /// The texts of compiled modules that symbols refer into.
    unit_texts: HashMap<OpId, String>,
    /// Symbols that must be functions, with the ops that hold them.
    references: Vec<(OpId, AttrId)>,
    /// The number of bytes that the file has beyond those of the program: see
    /// [`MAX_EXPANDED_BYTES`].
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
                format!(
                    "BEF files cannot contain modules, except at the top level and with the \
                     attribute `{COMPILED_ATTRIBUTE}`"
                ),
            ));
        }
        if !is_at_top && parent.is_some_and(|parent| module.is_module(parent)) {
            // The module itself is at fault, and is reported when it is visited.
            return Ok(());
        }
        if module.is_func(op) {
            return if is_at_top {
                self.visit_function(op)
            } else {
                Err(self.error(
                    op,
                    "BEF files cannot contain a function inside of another op",
                ))
            };
        }
        if is_at_top {
            return Err(self.error(op, "BEF files cannot contain a kernel outside of functions"));
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
            // An empty name marks the region of an op in a file.
            return Err(self.error(
                func,
                "BEF files cannot contain a function with an empty name",
            ));
        }
        let block = module.entry_block(func);
        if module.has_attr(func, NATIVE_ATTRIBUTE) {
            if block.is_some() {
                return Err(self.error(func, "native functions cannot have a body"));
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

    /// Checks that the interpreter can move each result out of its register: no result is an
    /// argument or is returned twice.
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
            return Err(self.error(op, "BEF files cannot contain a branch"));
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
            // Reported at the location of the op, but without the note that shows the op.
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

    /// Counts bytes that a file holds more often than the program, before they are written.
    fn expand(&mut self, op: OpId, name: &str, num_bytes: u64) -> Visit {
        self.expanded_bytes = self.expanded_bytes.saturating_add(num_bytes);
        if self.expanded_bytes <= MAX_EXPANDED_BYTES {
            return Ok(());
        }
        let reason = format!(
            "splat constants would expand to at least {} bytes, but the limit is \
             {MAX_EXPANDED_BYTES} bytes",
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
            // Attributes of equal values may differ in parts that files do not hold, so they stay
            // separate.
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

    /// Returns the value of a symbol that refers into a compiled module.
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
                // The kernel looks up names inside a module that is kept as text.
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

    /// Returns the error of the first symbol that should be a function but is not.
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
        tfrt_ir::print_attribute(module, attribute, &mut symbol);
        let place = module.place(module.op_location(op));
        Some(Diagnostic::error(
            place,
            format!("function {symbol} not defined"),
        ))
    }

    fn add_type(&mut self, ty: TypeId) -> tfrt_bef::TypeNameId {
        self.collection
            .builder
            .add_type(self.module.type_spelling(ty))
    }

    /// Checks that a name does not contain a zero byte, which ends names in files.
    fn check_name(&self, op: OpId, name: &str) -> Visit {
        if name.contains('\0') {
            return Err(self.error(
                op,
                format!("BEF files cannot contain the name {name:?}, which has a zero byte"),
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

/// Returns `true` if the op ends a body.
pub(super) fn is_return(module: &Module, op: OpId) -> bool {
    module.op_name(op) == RETURN_OP
}

/// Returns `true` if a list is one of functions: its first element is a symbol.
pub(super) fn is_symbol_list(module: &Module, elements: &[AttrId]) -> bool {
    elements
        .first()
        .is_some_and(|&first| matches!(module.attribute(first), Attribute::SymbolRef { .. }))
}
