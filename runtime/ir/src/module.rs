//! The program itself: dense tables of ops, blocks, regions and values, and the edits that keep
//! them consistent.
//!
//! An op has operands, results, attributes, regions and successors; a region has blocks; a block
//! has arguments and ops; a value is a result of an op or an argument of a block. There are no
//! references into the tables: everything is accessed through ids, which are never reused. Erased
//! entries stay in their tables, unlinked.
//!
//! Invariants, upheld by the editing methods:
//! - M1: `parent` links mirror the lists of ops, blocks and regions.
//! - M2: a value lists each of its uses once, the newest first: see the module `uses`.
//! - M3: the attributes of an op are in ascending byte order of their names.

mod use_list;

mod uses;

mod attributes;

mod locations;

pub(crate) mod resources;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tfrt_ods::OpDef;
use tfrt_support::entity::PrimaryMap;

use crate::attribute::{AttrId, Attribute};
use crate::intern::Interner;
use crate::location::{Location, LocationId};
use crate::registry::{OpEntry, Registry};
use crate::types::{Type, TypeId};
use use_list::{Neighbours, UseList};

pub(crate) use crate::ids::{BlockId, NameId, OpId, RegionId, ValueId};
pub use attributes::dense_element_bytes;
pub(crate) use resources::Resource;

/// The name of the module op.
pub const MODULE_OP: &str = "builtin.module";

/// A program: one op, a `builtin.module`, and everything inside it.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_ir::{Module, OpState, PrintOptions, Registry, Type, Signedness, print};
///
/// let mut module = Module::new(Arc::new(Registry::default()));
/// let i32 = module.intern_type(Type::Integer { width: 32, signedness: Signedness::Signless });
/// let location = module.unknown_location();
/// let mut state = OpState::new("my.constant", location);
/// state.result_types.push(i32);
/// state.attributes.push(("value".into(), module.integer_attr(7, 32)));
/// let op = module.create_op(state);
/// module.append_op(module.body(), op);
/// assert_eq!(module.op_name(op), "my.constant");
/// assert_eq!(print(&module, &PrintOptions::default()), "module {\n  %0 = \"my.constant\"() {value = 7 : i32} : () -> i32\n}\n");
/// ```
#[derive(Clone, Debug)]
pub struct Module {
    registry: Arc<Registry>,
    names: Interner<NameId, Box<str>>,
    types: Interner<TypeId, Type>,
    spellings: PrimaryMap<TypeId, Box<str>>,
    types_by_spelling: HashMap<Box<str>, TypeId>,
    attributes: Interner<AttrId, Attribute>,
    locations: Interner<LocationId, Location>,
    ops: PrimaryMap<OpId, OpData>,
    blocks: PrimaryMap<BlockId, BlockData>,
    regions: PrimaryMap<RegionId, RegionData>,
    values: PrimaryMap<ValueId, ValueData>,
    root: OpId,
    leaves_out_chains: bool,
    /// The contents of modules that are kept as text.
    texts: HashMap<OpId, Box<str>>,
    /// The attributes of ops that are written as properties.
    properties: HashMap<OpId, Box<[NameId]>>,
    /// What stands at the end of the text, in its order.
    resources: Vec<Resource>,
}

#[derive(Clone, Debug)]
struct OpData {
    name: NameId,
    def: Option<&'static OpDef>,
    operands: Vec<ValueId>,
    /// For each operand, its neighbours among the uses of its value.
    neighbours: Vec<Neighbours>,
    results: Vec<ValueId>,
    attributes: Vec<(NameId, AttrId)>,
    regions: Vec<RegionId>,
    successors: Vec<BlockId>,
    location: LocationId,
    parent: Option<BlockId>,
}

#[derive(Clone, Debug)]
struct BlockData {
    arguments: Vec<ValueId>,
    ops: Vec<OpId>,
    parent: RegionId,
}

#[derive(Clone, Debug, Default)]
struct RegionData {
    blocks: Vec<BlockId>,
    parent: Option<OpId>,
}

#[derive(Clone, Debug)]
struct ValueData {
    ty: TypeId,
    def: ValueDef,
    uses: UseList,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result number `index` of `op`.
    Result {
        /// The op.
        op: OpId,
        /// The number of the result.
        index: usize,
    },
    /// Argument number `index` of `block`.
    Argument {
        /// The block.
        block: BlockId,
        /// The number of the argument.
        index: usize,
    },
}

/// A use of a value: operand number `operand` of `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The op that uses it.
    pub op: OpId,
    /// The index of the operand.
    pub operand: usize,
}

/// The parts of an op that is to be created.
#[derive(Clone, Debug)]
pub struct OpState {
    /// The full name.
    pub name: String,
    /// The operands.
    pub operands: Vec<ValueId>,
    /// The types of the results.
    pub result_types: Vec<TypeId>,
    /// The attributes, in any order; the first of several with the same name is used.
    pub attributes: Vec<(String, AttrId)>,
    /// The regions, which do not belong to an op yet.
    pub regions: Vec<RegionId>,
    /// The successors.
    pub successors: Vec<BlockId>,
    /// The location.
    pub location: LocationId,
}

impl OpState {
    /// Creates a state with only a name and a location.
    #[must_use]
    pub fn new(name: impl Into<String>, location: LocationId) -> Self {
        Self {
            name: name.into(),
            operands: Vec::new(),
            result_types: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            location,
        }
    }
}

impl Module {
    /// Creates an empty program: a module without a name, at an unknown location, with one block.
    #[must_use]
    pub fn new(registry: Arc<Registry>) -> Self {
        let mut module = Self {
            registry,
            names: Interner::new(),
            types: Interner::new(),
            spellings: PrimaryMap::new(),
            types_by_spelling: HashMap::new(),
            attributes: Interner::new(),
            locations: Interner::new(),
            ops: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            regions: PrimaryMap::new(),
            values: PrimaryMap::new(),
            root: tfrt_support::entity::EntityId::from_index(0),
            leaves_out_chains: false,
            texts: HashMap::new(),
            properties: HashMap::new(),
            resources: Vec::new(),
        };
        let location = module.unknown_location();
        let body = module.create_region();
        module.create_block(body, &[]);
        let root = module.create_op(OpState {
            regions: vec![body],
            ..OpState::new(MODULE_OP, location)
        });
        module.root = root;
        module
    }

    /// Returns the declarations that the ops refer to.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Returns the outermost op, a `builtin.module`.
    #[must_use]
    pub fn root(&self) -> OpId {
        self.root
    }

    /// Makes `op`, a `builtin.module` that is not in a block, the outermost op.
    pub fn set_root(&mut self, op: OpId) {
        debug_assert!(self.ops[op].parent.is_none() && self.op_name(op) == MODULE_OP);
        self.root = op;
    }

    /// Returns `true` if ops may omit the chains that they are declared to take and return, until a
    /// pass adds them.
    #[must_use]
    pub fn leaves_out_chains(&self) -> bool {
        self.leaves_out_chains
    }

    /// Sets whether ops may omit their chains, which [`verify()`](crate::verify()) takes into
    /// account.
    pub fn set_leaves_out_chains(&mut self, leaves_out_chains: bool) {
        self.leaves_out_chains = leaves_out_chains;
    }

    /// Returns the block of the outermost op.
    ///
    /// # Panics
    /// If an edit removed it.
    #[must_use]
    pub fn body(&self) -> BlockId {
        let region = self.ops[self.root].regions[0];
        self.regions[region].blocks[0]
    }
}

/// Types, attributes, locations and names.
impl Module {
    /// Returns the id of a type.
    pub fn intern_type(&mut self, ty: Type) -> TypeId {
        let (id, is_new) = self.types.intern(ty);
        if is_new {
            let spelling: Box<str> = self.spell(self.types.get(id)).into();
            self.types_by_spelling.entry(spelling.clone()).or_insert(id);
            self.spellings.push(spelling);
        }
        id
    }

    /// Returns the id of a function type.
    pub fn function_type(&mut self, inputs: &[TypeId], results: &[TypeId]) -> TypeId {
        self.intern_type(Type::Function {
            inputs: inputs.into(),
            results: results.into(),
        })
    }

    /// Returns the type with an id.
    #[must_use]
    pub fn ty(&self, ty: TypeId) -> &Type {
        self.types.get(ty)
    }

    /// Returns the spelling of a type, including the `!` of a dialect's type.
    #[must_use]
    pub fn type_spelling(&self, ty: TypeId) -> &str {
        &self.spellings[ty]
    }

    /// Returns the type with a spelling, if the program already contains it.
    #[must_use]
    pub fn known_type(&self, spelling: &str) -> Option<TypeId> {
        self.types_by_spelling.get(spelling).copied()
    }

    /// Returns the id of an attribute.
    pub fn intern_attribute(&mut self, attribute: Attribute) -> AttrId {
        self.attributes.intern(attribute).0
    }

    /// Returns the attribute with an id.
    #[must_use]
    pub fn attribute(&self, attribute: AttrId) -> &Attribute {
        self.attributes.get(attribute)
    }

    /// Returns the id of a dictionary of these entries, in any order.
    pub fn dictionary_attr(&mut self, mut entries: Vec<(NameId, AttrId)>) -> AttrId {
        entries.sort_by(|a, b| self.name(a.0).as_bytes().cmp(self.name(b.0).as_bytes()));
        self.intern_attribute(Attribute::Dictionary(entries.into()))
    }

    /// Returns the id of a location.
    pub fn intern_location(&mut self, location: Location) -> LocationId {
        self.locations.intern(location).0
    }

    /// Returns the location with an id.
    #[must_use]
    pub fn location(&self, location: LocationId) -> &Location {
        self.locations.get(location)
    }

    /// Returns the id of a name.
    pub fn intern_name(&mut self, name: &str) -> NameId {
        match self.names.find(name) {
            Some(id) => id,
            None => self.names.intern(name.into()).0,
        }
    }

    /// Returns the name with an id.
    #[must_use]
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name)
    }

    /// Returns the id of a name, if the program already contains it.
    #[must_use]
    pub fn find_name(&self, name: &str) -> Option<NameId> {
        self.names.find(name)
    }
}

/// Ops.
impl Module {
    /// Creates an op that is not in a block yet. It takes over its regions and becomes a user of
    /// its operands.
    pub fn create_op(&mut self, state: OpState) -> OpId {
        let name = self.intern_name(&state.name);
        let def = self.registry.op(&state.name).map(OpEntry::def);
        let mut attributes: Vec<(NameId, AttrId)> = Vec::with_capacity(state.attributes.len());
        let mut seen = HashSet::with_capacity(state.attributes.len());
        for (name, value) in &state.attributes {
            let name = self.intern_name(name);
            if seen.insert(name) {
                attributes.push((name, *value));
            }
        }
        attributes.sort_by(|a, b| self.name(a.0).as_bytes().cmp(self.name(b.0).as_bytes()));
        let op = self.ops.push(OpData {
            name,
            def,
            operands: Vec::new(),
            neighbours: Vec::new(),
            results: Vec::with_capacity(state.result_types.len()),
            attributes,
            regions: state.regions,
            successors: state.successors,
            location: state.location,
            parent: None,
        });
        self.set_operands(op, state.operands);
        for (index, ty) in state.result_types.into_iter().enumerate() {
            let value = self.values.push(ValueData {
                ty,
                def: ValueDef::Result { op, index },
                uses: UseList::default(),
            });
            self.ops[op].results.push(value);
        }
        for index in 0..self.ops[op].regions.len() {
            let region = self.ops[op].regions[index];
            debug_assert!(
                self.regions[region].parent.is_none(),
                "a region belongs to one op"
            );
            self.regions[region].parent = Some(op);
        }
        op
    }

    /// Returns the full name of an op: `tfrt.add.i32`, `builtin.func`.
    #[must_use]
    pub fn op_name(&self, op: OpId) -> &str {
        self.name(self.ops[op].name)
    }

    /// Returns the id of the full name of an op.
    #[must_use]
    pub fn op_name_id(&self, op: OpId) -> NameId {
        self.ops[op].name
    }

    /// Returns the declaration of an op, if the registry has one.
    #[must_use]
    pub fn op_def(&self, op: OpId) -> Option<&'static OpDef> {
        self.ops[op].def
    }

    /// Returns the operands of an op.
    #[must_use]
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        &self.ops[op].operands
    }

    /// Returns the results of an op.
    #[must_use]
    pub fn results(&self, op: OpId) -> &[ValueId] {
        &self.ops[op].results
    }

    /// Returns the attributes of an op, in ascending byte order of their names.
    #[must_use]
    pub fn attributes(&self, op: OpId) -> &[(NameId, AttrId)] {
        &self.ops[op].attributes
    }

    /// Returns the attribute with this name, if the op has it.
    #[must_use]
    pub fn attr(&self, op: OpId, name: &str) -> Option<AttrId> {
        self.ops[op]
            .attributes
            .iter()
            .find(|(id, _)| self.name(*id) == name)
            .map(|(_, value)| *value)
    }

    /// Returns `true` if the op has an attribute with this name.
    #[must_use]
    pub fn has_attr(&self, op: OpId, name: &str) -> bool {
        self.attr(op, name).is_some()
    }

    /// Sets an attribute of the op, replacing one with the same name.
    pub fn set_attr(&mut self, op: OpId, name: &str, value: AttrId) {
        let name = self.intern_name(name);
        self.set_attr_by_id(op, name, value);
    }

    /// Does the same as [`set_attr`](Self::set_attr), for a caller that sets it for many ops.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_ir::{Module, Registry};
    ///
    /// let mut module = Module::new(Arc::new(Registry::default()));
    /// let (name, value) = (module.intern_name("my.note"), module.string_attr("checked"));
    /// module.set_attr_by_id(module.root(), name, value);
    /// assert_eq!(module.attr(module.root(), "my.note"), Some(value));
    /// ```
    pub fn set_attr_by_id(&mut self, op: OpId, name: NameId, value: AttrId) {
        let position = {
            let wanted = self.name(name).as_bytes();
            self.ops[op]
                .attributes
                .binary_search_by(|(id, _)| self.name(*id).as_bytes().cmp(wanted))
        };
        match position {
            Ok(index) => self.ops[op].attributes[index].1 = value,
            Err(index) => self.ops[op].attributes.insert(index, (name, value)),
        }
    }

    /// Removes and returns the attribute with this name.
    pub fn remove_attr(&mut self, op: OpId, name: &str) -> Option<AttrId> {
        let index = self.ops[op]
            .attributes
            .iter()
            .position(|(id, _)| self.name(*id) == name)?;
        Some(self.ops[op].attributes.remove(index).1)
    }

    /// Returns the contents of a module that is kept as text, including the braces: a compiled
    /// module with ops of other dialects in unknown syntax. Its region is empty.
    #[must_use]
    pub fn text_of(&self, op: OpId) -> Option<&str> {
        self.texts.get(&op).map(|text| &**text)
    }

    /// Sets the text of a module.
    pub(crate) fn set_text(&mut self, op: OpId, text: &str) {
        self.texts.insert(op, text.into());
    }

    /// Sets which attributes of an op are written as properties: `<{a = 1 : i32}>`.
    pub(crate) fn set_properties(&mut self, op: OpId, names: Vec<NameId>) {
        if !names.is_empty() {
            self.properties.insert(op, names.into());
        }
    }

    /// Returns `true` if an attribute of an op is written as a property.
    pub(crate) fn is_property(&self, op: OpId, name: NameId) -> bool {
        let names = self.properties.get(&op);
        names.is_some_and(|names| names.contains(&name))
    }

    /// Returns the regions of an op.
    #[must_use]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        &self.ops[op].regions
    }

    /// Returns the blocks to which the op may branch.
    #[must_use]
    pub fn successors(&self, op: OpId) -> &[BlockId] {
        &self.ops[op].successors
    }

    /// Returns the location of the op.
    #[must_use]
    pub fn op_location(&self, op: OpId) -> LocationId {
        self.ops[op].location
    }

    /// Sets the location of the op.
    pub fn set_op_location(&mut self, op: OpId, location: LocationId) {
        self.ops[op].location = location;
    }

    /// Returns the block that contains the op, if there is one.
    #[must_use]
    pub fn op_block(&self, op: OpId) -> Option<BlockId> {
        self.ops[op].parent
    }

    /// Returns the op whose region contains the block of this op.
    #[must_use]
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.regions[self.blocks[self.ops[op].parent?].parent].parent
    }

    /// Returns the ops around `op`, innermost first, without itself.
    pub fn ancestors(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(self.parent_op(op), |&op| self.parent_op(op))
    }

    /// Returns `op` and every op inside it: an op before those in its regions, otherwise in program
    /// order.
    #[must_use]
    pub fn walk(&self, op: OpId) -> Vec<OpId> {
        let mut order = Vec::new();
        let mut pending = vec![op];
        while let Some(next) = pending.pop() {
            order.push(next);
            self.push_children_reversed(next, &mut pending);
        }
        order
    }

    /// Returns `op` and every op inside it: an op after those in its regions, otherwise in program
    /// order.
    #[must_use]
    pub fn walk_post_order(&self, op: OpId) -> Vec<OpId> {
        let mut order = Vec::new();
        let mut pending = vec![(op, false)];
        let mut children = Vec::new();
        while let Some((next, is_done)) = pending.pop() {
            if is_done {
                order.push(next);
                continue;
            }
            pending.push((next, true));
            self.push_children_reversed(next, &mut children);
            pending.extend(children.drain(..).map(|child| (child, false)));
        }
        order
    }

    fn push_children_reversed(&self, op: OpId, out: &mut Vec<OpId>) {
        for &region in self.ops[op].regions.iter().rev() {
            for &block in self.regions[region].blocks.iter().rev() {
                out.extend(self.blocks[block].ops.iter().rev());
            }
        }
    }
}

/// Regions, blocks and values.
impl Module {
    /// Creates a region without blocks that does not belong to an op yet.
    pub fn create_region(&mut self) -> RegionId {
        self.regions.push(RegionData::default())
    }

    /// Appends a region without blocks to an op.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        let region = self.regions.push(RegionData {
            blocks: Vec::new(),
            parent: Some(op),
        });
        self.ops[op].regions.push(region);
        region
    }

    /// Removes and returns the regions of an op, for an op that is created in its place.
    pub fn take_regions(&mut self, op: OpId) -> Vec<RegionId> {
        let regions = std::mem::take(&mut self.ops[op].regions);
        for &region in &regions {
            self.regions[region].parent = None;
        }
        regions
    }

    /// Removes an argument, which has no uses, from a block.
    pub fn remove_block_argument(&mut self, block: BlockId, index: usize) {
        let removed = self.blocks[block].arguments.remove(index);
        debug_assert!(
            self.uses(removed).len() == 0,
            "a removed argument has no users"
        );
        for position in index..self.blocks[block].arguments.len() {
            let moved = self.blocks[block].arguments[position];
            self.values[moved].def = ValueDef::Argument {
                block,
                index: position,
            };
        }
    }

    /// Returns the blocks of a region.
    #[must_use]
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region].blocks
    }

    /// Returns the op that a region belongs to, if there is one.
    #[must_use]
    pub fn region_op(&self, region: RegionId) -> Option<OpId> {
        self.regions[region].parent
    }

    /// Appends a block to a region.
    pub fn create_block(&mut self, region: RegionId, argument_types: &[TypeId]) -> BlockId {
        let block = self.create_loose_block(region);
        self.link_block(block);
        for &ty in argument_types {
            self.add_block_argument(block, ty);
        }
        block
    }

    /// Creates a block for `region`, to which [`link_block`](Self::link_block) appends it later.
    pub(crate) fn create_loose_block(&mut self, region: RegionId) -> BlockId {
        self.blocks.push(BlockData {
            arguments: Vec::new(),
            ops: Vec::new(),
            parent: region,
        })
    }

    pub(crate) fn link_block(&mut self, block: BlockId) {
        let region = self.blocks[block].parent;
        self.regions[region].blocks.push(block);
    }

    /// Returns the arguments of a block.
    #[must_use]
    pub fn block_arguments(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block].arguments
    }

    /// Appends an argument to a block.
    pub fn add_block_argument(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let index = self.blocks[block].arguments.len();
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Argument { block, index },
            uses: UseList::default(),
        });
        self.blocks[block].arguments.push(value);
        value
    }

    /// Inserts an argument before argument number `index` of a block.
    pub fn insert_block_argument(&mut self, block: BlockId, index: usize, ty: TypeId) -> ValueId {
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Argument { block, index },
            uses: UseList::default(),
        });
        self.blocks[block].arguments.insert(index, value);
        for position in index + 1..self.blocks[block].arguments.len() {
            let moved = self.blocks[block].arguments[position];
            self.values[moved].def = ValueDef::Argument {
                block,
                index: position,
            };
        }
        value
    }

    /// Returns the ops of a block.
    #[must_use]
    pub fn block_ops(&self, block: BlockId) -> &[OpId] {
        &self.blocks[block].ops
    }

    /// Returns the last op of a block.
    #[must_use]
    pub fn last_op(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied()
    }

    /// Returns the region that contains a block.
    #[must_use]
    pub fn block_region(&self, block: BlockId) -> RegionId {
        self.blocks[block].parent
    }

    /// Appends an op that is not in a block.
    pub fn append_op(&mut self, block: BlockId, op: OpId) {
        self.insert_op(block, self.blocks[block].ops.len(), op);
    }

    /// Inserts an op that is not in a block before op number `index` of a block.
    ///
    /// # Panics
    /// If the op is in a block, or the block has fewer than `index` ops.
    pub fn insert_op(&mut self, block: BlockId, index: usize, op: OpId) {
        assert!(self.ops[op].parent.is_none(), "an op stands in one block");
        self.ops[op].parent = Some(block);
        self.blocks[block].ops.insert(index, op);
    }

    /// Returns the position of an op in its block.
    #[must_use]
    pub fn op_index(&self, op: OpId) -> Option<usize> {
        self.blocks[self.ops[op].parent?]
            .ops
            .iter()
            .position(|other| *other == op)
    }

    /// Removes an op from its block.
    pub fn detach_op(&mut self, op: OpId) {
        if let Some(index) = self.op_index(op)
            && let Some(block) = self.ops[op].parent.take()
        {
            self.blocks[block].ops.remove(index);
        }
    }

    /// Removes an op from its block and erases it with everything in its regions. Their results
    /// must not be used elsewhere.
    ///
    /// Takes time linear in the number of ops in the block; see [`erase_ops`](Self::erase_ops).
    pub fn erase_op(&mut self, op: OpId) {
        self.detach_op(op);
        for inner in self.walk(op) {
            self.set_operands(inner, Vec::new());
            self.ops[inner].successors.clear();
        }
        debug_assert!(
            self.ops[op]
                .results
                .iter()
                .all(|result| self.uses(*result).len() == 0),
            "an erased op has no users"
        );
    }

    /// [Erases](Self::erase_op) those ops of a block for which `is_erased` returns `true`, in
    /// order.
    pub fn erase_ops(&mut self, block: BlockId, is_erased: impl Fn(OpId) -> bool) {
        for op in self.take_block_ops(block) {
            if is_erased(op) {
                self.erase_op(op);
            } else {
                self.append_op(block, op);
            }
        }
    }

    /// Removes and returns all ops of a block, in order.
    pub fn take_block_ops(&mut self, block: BlockId) -> Vec<OpId> {
        let ops = std::mem::take(&mut self.blocks[block].ops);
        for &op in &ops {
            self.ops[op].parent = None;
        }
        ops
    }

    /// Moves all ops of block `from` to the end of block `to`.
    pub fn splice_block(&mut self, from: BlockId, to: BlockId) {
        let ops = std::mem::take(&mut self.blocks[from].ops);
        for &op in &ops {
            self.ops[op].parent = Some(to);
        }
        self.blocks[to].ops.extend(ops);
    }

    /// Returns the type of a value.
    #[must_use]
    pub fn value_type(&self, value: ValueId) -> TypeId {
        self.values[value].ty
    }

    /// Returns the definition of a value.
    #[must_use]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value].def
    }

    /// Returns the op that a value is a result of, if there is one.
    #[must_use]
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => Some(op),
            ValueDef::Argument { .. } => None,
        }
    }

    /// Returns the block that a value is defined in: that of its op, or the one it is an argument
    /// of.
    #[must_use]
    pub fn value_block(&self, value: ValueId) -> Option<BlockId> {
        match self.values[value].def {
            ValueDef::Result { op, .. } => self.ops[op].parent,
            ValueDef::Argument { block, .. } => Some(block),
        }
    }

    /// Appends a result to `op`.
    pub fn add_result(&mut self, op: OpId, ty: TypeId) -> ValueId {
        self.insert_result(op, self.ops[op].results.len(), ty)
    }

    /// Inserts a result before result number `index` of `op`.
    pub fn insert_result(&mut self, op: OpId, index: usize, ty: TypeId) -> ValueId {
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Result { op, index },
            uses: UseList::default(),
        });
        self.ops[op].results.insert(index, value);
        for position in index + 1..self.ops[op].results.len() {
            let moved = self.ops[op].results[position];
            self.values[moved].def = ValueDef::Result {
                op,
                index: position,
            };
        }
        value
    }
}
