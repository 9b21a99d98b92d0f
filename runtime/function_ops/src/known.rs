//! What is known of the tensors of a function before it runs.
//!
//! Functions have many values and few shapes. So equal metadata is stored once, and has an id: two
//! values have the same metadata if they have the same id.

use std::collections::HashMap;

use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_ir::{AttrId, Attribute, Module, OpId, ValueId};
use tfrt_support::TensorMetadata;
use tfrt_support::entity::{EntityId, PrimaryMap};
use tfrt_support::id_map::IdMap;

use crate::call::handle_arguments;
use crate::{metadata, names};

tfrt_support::define_id! {
    /// Metadata of values of a function; equal ids mean equal metadata.
    pub(crate) struct MetadataId("metadata");
}

/// The known metadata of the values of a function.
#[derive(Debug)]
pub(crate) struct Known {
    of_values: IdMap<ValueId, MetadataId>,
    distinct: PrimaryMap<MetadataId, Distinct>,
    /// Consulted only for metadata that was just inferred or read. A program chooses its shapes, so
    /// the hasher is the standard one, whose keys are random.
    ids: HashMap<PartialMetadata, MetadataId>,
}

/// Metadata, in the forms that it is needed in.
#[derive(Debug)]
struct Distinct {
    partial: PartialMetadata,
    /// The same, if all of it is known.
    full: Option<TensorMetadata>,
    /// The type that describes it, once a program needs it.
    ty: Option<AttrId>,
}

impl Known {
    /// Returns the known metadata of the arguments of a function.
    pub(crate) fn of_arguments(module: &Module, func: OpId) -> Self {
        let mut known = Self {
            of_values: IdMap::default(),
            distinct: PrimaryMap::new(),
            ids: HashMap::default(),
        };
        // It is the first one: see `id`.
        known.intern(PartialMetadata::UNKNOWN);
        let said = match module.attr(func, names::ARGUMENTS) {
            Some(said) => metadata::from_attribute(module, said),
            None => Vec::new(),
        };
        for (argument, said) in handle_arguments(module, func).into_iter().zip(said) {
            let said = known.intern(said);
            known.set(argument, said);
        }
        known
    }

    /// Returns the metadata that was inferred before, for all values of a function.
    pub(crate) fn inferred(module: &Module, func: OpId) -> Self {
        let mut known = Self::of_arguments(module, func);
        let results = module.find_name(names::RESULTS);
        let (Some(results), Some(block)) = (results, module.entry_block(func)) else {
            return known;
        };
        let mut of_types: IdMap<AttrId, MetadataId> = IdMap::default();
        for &op in module.block_ops(block) {
            let mut attributes = module.attributes(op).iter();
            let said = attributes.find(|(name, _)| *name == results);
            let Some(Attribute::Array(types)) = said.map(|(_, said)| module.attribute(*said))
            else {
                continue;
            };
            let values = module.results(op).iter().copied();
            let handles = values.filter(|&value| crate::call::is_handle(module, value));
            for (handle, &ty) in handles.zip(types) {
                let told = of_types
                    .entry(ty)
                    .or_insert_with(|| known.intern(metadata::of_type_attribute(module, ty)));
                known.of_values.insert(handle, *told);
            }
        }
        known
    }

    /// Makes room for the metadata of so many values.
    pub(crate) fn reserve(&mut self, num_values: usize) {
        self.of_values.reserve(num_values);
    }

    /// Returns the metadata of a value, if all of it is known.
    pub(crate) fn full(&self, value: ValueId) -> Option<&TensorMetadata> {
        self.distinct[self.id(value)].full.as_ref()
    }

    /// Returns the known part of the metadata of a value.
    pub(crate) fn partial(&self, value: ValueId) -> &PartialMetadata {
        self.of_id(self.id(value))
    }

    /// Returns the metadata with an id.
    pub(crate) fn of_id(&self, metadata: MetadataId) -> &PartialMetadata {
        &self.distinct[metadata].partial
    }

    /// Returns the id of the metadata of a value.
    pub(crate) fn id(&self, value: ValueId) -> MetadataId {
        let known = self.of_values.get(&value).copied();
        known.unwrap_or_else(|| MetadataId::from_index(0))
    }

    /// Returns the id of metadata.
    pub(crate) fn intern(&mut self, metadata: PartialMetadata) -> MetadataId {
        if let Some(&known) = self.ids.get(&metadata) {
            return known;
        }
        let id = self.distinct.push(Distinct {
            full: metadata.known(),
            partial: metadata.clone(),
            ty: None,
        });
        self.ids.insert(metadata, id);
        id
    }

    /// Sets the metadata of a value.
    pub(crate) fn set(&mut self, value: ValueId, metadata: MetadataId) {
        self.of_values.insert(value, metadata);
    }

    /// Sets the metadata of a value, all of which is known.
    pub(crate) fn set_full(&mut self, value: ValueId, metadata: TensorMetadata) {
        let metadata = self.intern(metadata.into());
        self.set(value, metadata);
    }

    /// Returns the list of the types that describe metadata, as an attribute.
    pub(crate) fn attribute_of(&mut self, module: &mut Module, all: &[MetadataId]) -> AttrId {
        let types = all.iter().map(|&id| {
            let Distinct { partial, ty, .. } = &mut self.distinct[id];
            *ty.get_or_insert_with(|| metadata::to_type_attribute(module, partial))
        });
        let types = types.collect();
        module.intern_attribute(Attribute::Array(types))
    }
}
