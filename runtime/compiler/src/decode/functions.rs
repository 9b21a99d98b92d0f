//! Decodes functions: turns the index and the bodies into `func` ops, blocks and regions.

use std::collections::{BTreeSet, HashMap, HashSet};

use tfrt_attr::AttrValue;
use tfrt_bef::read::functions::KernelRecord;
use tfrt_bef::read::register_types::RegisterTypes;
use tfrt_bef::{
    BefFunction, FunctionId, FunctionKind, LocationOffset, RegisterId, TypeNameId, VerifiedBef,
    VerifiedFunction,
};
use tfrt_ir::parse_type;
use tfrt_ir::symbols::{FUNC_OP, FUNCTION_TYPE, MODULE_OP, SYMBOL_NAME, SYMBOL_VISIBILITY};
use tfrt_ir::{
    AttrId, Attribute, LocationId, Module, OpEntry, OpState, RegionId, Type, TypeId, ValueId,
};
use tfrt_ods::OpTraits;
use tfrt_support::entity::{EntityId, PrimaryMap};

use super::attributes::attribute_of;
use super::locations::ir_location;
use super::names::{SlotShape, function_slots};
use super::{Refusal, Reporter};
use crate::{COST_ATTRIBUTE, NATIVE_ATTRIBUTE, NON_STRICT_ATTRIBUTE, RETURN_OP, SYNC_ATTRIBUTE};

/// The maximum nesting depth of regions.
const MAX_REGION_NESTING: usize = 256;

/// The message of TFRT if regions and kernels do not fit together.
const UNRESOLVED: &str = "Failed to resolve functions.";

/// The value of an attribute that the file does not describe.
const UNKNOWN_ATTRIBUTE: i128 = 0xdead_beef_u32.cast_signed() as i128;

/// Appends every function of the file to `module`.
pub(super) fn decode_functions(
    bef: &VerifiedBef,
    values: &[(u32, AttrValue)],
    mut module: Module,
    reporter: &mut Reporter<'_>,
) -> Result<Module, Refusal> {
    let is_taken = |name: &&str| name.is_empty() || [FUNC_OP, MODULE_OP, RETURN_OP].contains(name);
    if let Some(name) = bef
        .kernels()
        .map(|code| bef.kernel_name(code))
        .find(is_taken)
    {
        let detail = format!("expected the name of a kernel, found `{name}`");
        return Err(reporter.detailed_error("Invalid Kernels section.", &detail));
    }
    let types = bef
        .types()
        .map(|index| spelled_type(&mut module, bef.type_name(index)))
        .collect::<Option<_>>();
    let Some(types) = types else {
        return Err(reporter.detailed_error("Invalid Types section.", "expected types"));
    };
    let attributes = values
        .iter()
        .map(|(offset, value)| (*offset, attribute_of(&mut module, value)))
        .collect();
    let mut decoder = FunctionDecoder {
        bef,
        types,
        attributes,
        attribute_names: bef
            .attribute_names()
            .map_err(|error| reporter.refusal(&error))?,
        register_types: bef
            .register_types()
            .map_err(|error| reporter.refusal(&error))?,
        owned_regions: HashSet::new(),
        module,
        reporter,
    };
    for function in bef.functions().filter(|function| !is_region(function)) {
        decoder.function(&function)?;
    }
    let orphans = bef
        .functions()
        .filter(|function| is_region(function) && !decoder.owned_regions.contains(&function.id));
    let orphans: Vec<FunctionId> = orphans.map(|function| function.id).collect();
    for orphan in orphans {
        decoder.reporter.warn(format!(
            "function {} has no name, and no kernel refers to it",
            orphan.index()
        ));
    }
    Ok(decoder.module)
}

/// Returns the type of a spelling. Dialects may have types that can only be inferred, not written:
/// those stay as they are spelled.
fn spelled_type(module: &mut Module, spelling: &str) -> Option<TypeId> {
    if let Some(ty) = parse_type(module, spelling) {
        return Some(ty);
    }
    let (dialect, body) = spelling.strip_prefix('!')?.split_once('.')?;
    Some(module.intern_type(Type::Dialect {
        dialect: dialect.into(),
        body: body.into(),
    }))
}

/// Returns `true` if a function is the region of a kernel.
fn is_region(function: &BefFunction<'_>) -> bool {
    function.name.is_empty() && function.kind.has_body()
}

struct FunctionDecoder<'a, 'r> {
    bef: &'a VerifiedBef,
    types: PrimaryMap<TypeNameId, TypeId>,
    /// The attributes that the file describes, by offset.
    attributes: HashMap<u32, AttrId>,
    attribute_names: Option<PrimaryMap<FunctionId, Vec<&'a str>>>,
    register_types: Option<&'a RegisterTypes>,
    /// The regions that already belong to a kernel. A region belongs to only one kernel, so that
    /// decoding terminates.
    owned_regions: HashSet<FunctionId>,
    module: Module,
    reporter: &'a mut Reporter<'r>,
}

impl<'a> FunctionDecoder<'a, '_> {
    fn function(&mut self, function: &BefFunction<'a>) -> Result<(), Refusal> {
        let unit = self.module.intern_attribute(Attribute::Unit);
        let region = self.module.create_region();
        let inputs = self.types_of(function.arguments);
        let mut state = OpState::new(FUNC_OP, self.module.unknown_location());
        state.regions.push(region);
        let results = match function.kind {
            FunctionKind::Native => {
                state.attributes.push((NATIVE_ATTRIBUTE.to_owned(), unit));
                state.attributes.push((
                    SYMBOL_VISIBILITY.to_owned(),
                    self.module.string_attr("private"),
                ));
                self.types_of(function.results)
            }
            FunctionKind::Async | FunctionKind::Sync => {
                if function.kind == FunctionKind::Sync {
                    state.attributes.push((SYNC_ATTRIBUTE.to_owned(), unit));
                }
                let body = self.body(function.id)?;
                state.location = self.location(body.location());
                self.decode_body(&body, region, 0)?
            }
        };
        let ty = self.module.function_type(&inputs, &results);
        let ty = self.module.intern_attribute(Attribute::Type(ty));
        state.attributes.push((FUNCTION_TYPE.to_owned(), ty));
        state.attributes.push((
            SYMBOL_NAME.to_owned(),
            self.module.string_attr(function.name),
        ));
        let op = self.module.create_op(state);
        self.module.append_op(self.module.body(), op);
        Ok(())
    }

    /// Fills `region` with the body. Returns the types of the results of the body.
    fn decode_body(
        &mut self,
        body: &VerifiedFunction,
        region: RegionId,
        depth: usize,
    ) -> Result<Vec<TypeId>, Refusal> {
        if depth == MAX_REGION_NESTING {
            let detail =
                format!("expected regions nested less than {MAX_REGION_NESTING} levels deep");
            return Err(self.reporter.detailed_error(UNRESOLVED, &detail));
        }
        let argument_types = self.types_of(body.entry().arguments);
        let block = self.module.create_block(region, &argument_types);
        let mut registers = Registers {
            values: vec![None; body.num_registers()],
        };
        for (index, &argument) in self.module.block_arguments(block).iter().enumerate() {
            registers.values[index] = Some(argument);
        }

        let mut names = self
            .attribute_names
            .as_ref()
            .map(|names| names[body.id()].clone())
            .map(Vec::into_iter);
        let entries = body.kernel_table();
        for kernel in body.kernels() {
            let record = body.record(kernel);
            let mut state = OpState::new(
                self.bef.kernel_name(record.code),
                self.location(record.location),
            );
            let operands = record
                .operands
                .iter()
                .map(|register| registers.value(register))
                .collect::<Option<_>>();
            state.operands =
                operands.ok_or_else(|| self.reporter.error("Using undefined registers."))?;
            for (index, offset) in record.attributes.iter().enumerate() {
                let known = names.as_mut().and_then(Iterator::next);
                let name = known.map_or_else(|| format!("attr{index}"), str::to_owned);
                let value = self.attribute(offset.index() as u32);
                state.attributes.push((name, value));
            }
            self.functions(&record, &mut state, depth)?;
            if entries[kernel.index()].flags.is_non_strict() {
                let unit = self.module.intern_attribute(Attribute::Unit);
                state
                    .attributes
                    .push((NON_STRICT_ATTRIBUTE.to_owned(), unit));
            }
            self.restore_cost(&mut state);
            state.result_types = record
                .results
                .iter()
                .map(|register| self.register_type(body.id(), register))
                .collect();

            let op = self.module.create_op(state);
            self.module.append_op(block, op);
            for (register, &result) in record.results.iter().zip(self.module.results(op)) {
                registers.values[register.index()] = Some(result);
            }
        }

        let mut state = OpState::new(RETURN_OP, self.location(body.location()));
        let operands = body
            .results()
            .iter()
            .map(|&register| registers.value(register))
            .collect::<Option<_>>();
        state.operands = operands.ok_or_else(|| {
            self.reporter
                .error("Using an undefined register in return op.")
        })?;
        let types = state
            .operands
            .iter()
            .map(|&value| self.module.value_type(value))
            .collect();
        let op = self.module.create_op(state);
        self.module.append_op(block, op);
        Ok(types)
    }

    /// Adds the functions of an op's record to the op, as attributes and regions.
    fn functions(
        &mut self,
        record: &KernelRecord<'_>,
        state: &mut OpState,
        depth: usize,
    ) -> Result<(), Refusal> {
        let mut symbols = Vec::new();
        for id in record.functions.iter() {
            let function = self.bef.function_entry(id);
            if !is_region(&function) {
                symbols.push(self.module.flat_symbol_attr(function.name));
                continue;
            }
            if !self.owned_regions.insert(id) {
                let detail = format!(
                    "expected one kernel with function {} as its region, found two",
                    id.index()
                );
                return Err(self.reporter.detailed_error(UNRESOLVED, &detail));
            }
            let body = self.body(id)?;
            let region = self.module.create_region();
            self.decode_body(&body, region, depth + 1)?;
            state.regions.push(region);
        }

        let def = self.module.registry().op(&state.name).map(OpEntry::def);
        let taken: BTreeSet<&str> = state
            .attributes
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        let slots = function_slots(def, symbols.len(), &taken);
        let mut symbols = symbols.into_iter();
        for slot in slots {
            let value = match slot.shape {
                SlotShape::Symbol => symbols.next(),
                SlotShape::List(len) => Some(
                    self.module
                        .intern_attribute(Attribute::Array(symbols.by_ref().take(len).collect())),
                ),
            };
            state
                .attributes
                .extend(value.map(|value| (slot.name, value)));
        }
        Ok(())
    }

    /// Adds a cost to an op that must have one. Files do not hold costs, so it is the lowest one.
    fn restore_cost(&mut self, state: &mut OpState) {
        let def = self.module.registry().op(&state.name).map(OpEntry::def);
        if def.is_some_and(|def| def.traits.contains(OpTraits::COST_ATTRIBUTE)) {
            state
                .attributes
                .push((COST_ATTRIBUTE.to_owned(), self.module.integer_attr(1, 64)));
        }
    }

    fn attribute(&mut self, offset: u32) -> AttrId {
        match self.attributes.get(&offset) {
            Some(&attribute) => attribute,
            None => self.module.integer_attr(UNKNOWN_ATTRIBUTE, 32),
        }
    }

    fn register_type(&mut self, function: FunctionId, register: RegisterId) -> TypeId {
        let known = self
            .register_types
            .and_then(|types| types[function].get(register.index()));
        match known {
            Some(&index) => self.types[index],
            None => self.module.intern_type(Type::None),
        }
    }

    fn types_of(&self, indices: &[TypeNameId]) -> Vec<TypeId> {
        indices.iter().map(|&index| self.types[index]).collect()
    }

    fn location(&mut self, offset: LocationOffset) -> LocationId {
        match self.bef.location(offset) {
            Some(location) => ir_location(&mut self.module, &location),
            None => self.module.unknown_location(),
        }
    }

    fn body(&self, function: FunctionId) -> Result<VerifiedFunction, Refusal> {
        self.bef
            .function(function)
            .map_err(|error| self.reporter.refusal(&error))
    }
}

/// The values that the registers of a body have so far.
struct Registers {
    values: Vec<Option<ValueId>>,
}

impl Registers {
    fn value(&self, register: RegisterId) -> Option<ValueId> {
        self.values[register.index()]
    }
}
