//! Inference: what is known of tensors before anything runs.
//!
//! Preconditions: the program is verified. The attribute `corert.arguments` of a function has the
//! metadata of its arguments; missing metadata is unknown.
//!
//! The metadata function of each op is called with the known metadata of its operands and with its
//! attributes, in program order; the result becomes its attribute `corert.results`. If an operand
//! is only partially known, the partial metadata function of the op is called, if it has one. An
//! error, or metadata that contradicts the previous attribute, is an error at the op. Running the
//! pass twice changes nothing more.
//!
//! What a metadata function returns depends only on the metadata of the operands and on the
//! attributes. So its result is reused for later ops that have the same ones, which are found by
//! the ids of metadata and attributes.
//!
//! Cost: linear in the number of ops, and one run of a metadata function for each op that differs
//! from the ones before it.

use tfrt_attr::AttrValue;
use tfrt_compiler::attribute_value;
use tfrt_compiler::element_type::dtype_of;
use tfrt_core::OpRegistry;
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_ir::{AttrId, Attribute, Module, NameId, OpId, Type, TypeId, ValueId};
use tfrt_support::entity::EntityId;
use tfrt_support::id_map::IdMap;
use tfrt_support::{DType, Diagnostic, TensorMetadata};

use crate::call::{Call, error_at, is_handle, known_results};
use crate::known::{Known, MetadataId};
use crate::names;

/// Infers the metadata of every handle of a function. Returns what contradicts.
pub fn infer_metadata(module: &mut Module, func: OpId, ops: &OpRegistry) -> Vec<Diagnostic> {
    let Some(block) = module.entry_block(func) else {
        return Vec::new();
    };
    let block_ops = module.block_ops(block).to_vec();
    let mut inference = Inference {
        ops,
        results: module.intern_name(names::RESULTS),
        ignored: [names::NAME, names::COLOCATE_WITH].map(|name| module.find_name(name)),
        handle_type: module.known_type(names::HANDLE_TYPE),
        known: Known::of_arguments(module, func),
        outcomes: IdMap::default(),
        key: Vec::new(),
        findings: Vec::new(),
    };
    inference.known.reserve(block_ops.len());
    for op in block_ops {
        inference.infer(module, op);
    }
    inference.findings
}

struct Inference<'a> {
    ops: &'a OpRegistry,
    /// The attribute that metadata is written to.
    results: NameId,
    /// Attributes that say nothing of the results of an op, and differ from op to op.
    ignored: [Option<NameId>; 2],
    /// The type that nearly all handles have.
    handle_type: Option<TypeId>,
    known: Known,
    /// What was inferred of ops, by everything that it depends on.
    outcomes: IdMap<Box<[u32]>, Outcome>,
    /// The key of the current op among them.
    key: Vec<u32>,
    findings: Vec<Diagnostic>,
}

/// What was inferred of an op.
struct Outcome {
    /// The metadata of its handles, in order.
    metadata: Box<[MetadataId]>,
    /// The same as an attribute, unless nothing is known.
    attribute: Option<AttrId>,
}

impl Inference<'_> {
    fn infer(&mut self, module: &mut Module, op: OpId) {
        let num_handles = handles(module, op, self.handle_type).count();
        if num_handles == 0 {
            return;
        }
        self.write_key(module, op, num_handles);
        if let Some(outcome) = self.outcomes.get(&self.key[..]) {
            return outcome.write(module, op, self.results, self.handle_type, &mut self.known);
        }
        let num_findings = self.findings.len();
        let Some(outcome) = self.outcome(module, op, num_handles) else {
            return;
        };
        outcome.write(module, op, self.results, self.handle_type, &mut self.known);
        // A later op like this one has an error of its own.
        if self.findings.len() == num_findings {
            self.outcomes.insert(self.key.as_slice().into(), outcome);
        }
    }

    /// Writes everything that the metadata of the results of an op depends on to the key.
    fn write_key(&mut self, module: &Module, op: OpId, num_handles: usize) {
        // Ids have 32 bits, and an op has no more parts than there are ids.
        let word = |number: usize| number as u32;
        let key = &mut self.key;
        key.clear();
        key.push(word(module.op_name_id(op).index()));
        key.extend([word(module.results(op).len()), word(num_handles)]);
        for (name, value) in module.attributes(op) {
            if !self.ignored.contains(&Some(*name)) {
                key.extend([word(name.index()), word(value.index())]);
            }
        }
        // It ends the attributes: no name has this number.
        key.push(u32::MAX);
        if let Some((first, others)) = module.operands(op).split_first() {
            // The first one may be a handler, which is for devices of some type.
            key.push(word(first.index()));
            key.extend(
                others
                    .iter()
                    .map(|&other| word(self.known.id(other).index())),
            );
        }
    }

    /// Infers what an op returns. Reports what contradicts; returns `None` if nothing could be
    /// inferred for that reason.
    fn outcome(&mut self, module: &mut Module, op: OpId, num_handles: usize) -> Option<Outcome> {
        let told = match told_results(module, op, self.ops, &self.known) {
            Ok(told) => told,
            Err(finding) => {
                self.findings.push(finding);
                return None;
            }
        };
        let said = known_results(module, op);
        let mut metadata = Vec::with_capacity(num_handles);
        for index in 0..num_handles {
            let told = told.get(index).unwrap_or(&PartialMetadata::UNKNOWN);
            let said = said.get(index).unwrap_or(&PartialMetadata::UNKNOWN);
            let both = told.and(said).unwrap_or_else(|| {
                let message = format!(
                    "result {index}: inferred {told}, but `{}` declares {said}",
                    names::RESULTS
                );
                self.findings.push(error_at(module, op, message));
                told.clone()
            });
            metadata.push(self.known.intern(both));
        }
        // A type of tensors cannot say less than the type of their elements.
        let has_dtype = |&id: &MetadataId| self.known.of_id(id).dtype.is_some();
        let is_known = metadata.iter().any(has_dtype);
        Some(Outcome {
            attribute: is_known.then(|| self.known.attribute_of(module, &metadata)),
            metadata: metadata.into(),
        })
    }
}

impl Outcome {
    /// Sets what is known of the handles of an op, and the attribute of the op.
    fn write(
        &self,
        module: &mut Module,
        op: OpId,
        results: NameId,
        handle_type: Option<TypeId>,
        known: &mut Known,
    ) {
        for (handle, &metadata) in handles(module, op, handle_type).zip(&self.metadata) {
            known.set(handle, metadata);
        }
        if let Some(attribute) = self.attribute {
            module.set_attr_by_id(op, results, attribute);
        }
    }
}

/// Returns the handles that an op returns. Nearly all of them have the type `handle_type`.
fn handles(
    module: &Module,
    op: OpId,
    handle_type: Option<TypeId>,
) -> impl Iterator<Item = ValueId> {
    let values = module.results(op).iter().copied();
    values.filter(move |&value| {
        Some(module.value_type(value)) == handle_type || is_handle(module, value)
    })
}

/// Returns the fully known metadata of the results of an op; `None` for others.
pub(crate) fn results_of(
    module: &Module,
    op: OpId,
    ops: &OpRegistry,
    known: &Known,
) -> Result<Vec<Option<TensorMetadata>>, Diagnostic> {
    let told = told_results(module, op, ops, known)?;
    Ok(told.iter().map(PartialMetadata::known).collect())
}

/// Returns the inferred metadata of the results of an op.
fn told_results(
    module: &Module,
    op: OpId,
    ops: &OpRegistry,
    known: &Known,
) -> Result<Vec<PartialMetadata>, Diagnostic> {
    let Some(call) = Call::of(module, op) else {
        return Ok(vec![of_other_op(module, op, known)]);
    };
    let registered = call.device_type(module, ops).and_then(|ty| {
        // Before the op is placed, its device may be a part of a name that says no type. What an op
        // returns does not depend on its device.
        let on_any = || {
            let mut types = ops.device_types();
            types.find_map(|ty| call.registered(ops, ty))
        };
        call.registered(ops, &ty).or_else(on_any)
    });
    let (Some(registered), Some(attrs)) = (registered, call.attrs(module)) else {
        return Ok(Vec::new());
    };
    let operands = call.arguments(module);
    let full = operands.iter().map(|&value| known.full(value).cloned());
    let full = full.collect::<Option<Vec<TensorMetadata>>>();
    let partial: Vec<PartialMetadata> = match full {
        Some(_) => Vec::new(),
        None => {
            let partial = operands.iter().map(|&value| known.partial(value));
            partial.cloned().collect()
        }
    };
    if full.is_none() && !registered.tells_of(&partial) {
        return Ok(Vec::new());
    }
    let counts = registered.check_counts(operands.len(), call.results(module).len());
    let told = counts.and_then(|()| match full {
        Some(full) => {
            let told = registered.result_metadata(&full, &attrs)?;
            Ok(told.into_iter().map(PartialMetadata::from).collect())
        }
        None => registered.partial_metadata(&partial, &attrs),
    });
    told.map_err(|error| {
        let message = format!("`{}`: {}", call.name, error.message());
        let mut finding = error_at(module, op, message);
        for (index, &operand) in operands.iter().enumerate() {
            let place = crate::call::place(module, op);
            let operand = known.partial(operand);
            finding = finding.with_note(place, format!("operand {index} is {operand}"));
        }
        finding
    })
}

/// What an op tells that runs no other op: a constant, or a copy.
fn of_other_op(module: &Module, op: OpId, known: &Known) -> PartialMetadata {
    let name = module.op_name(op);
    if name == names::COPY_TO_DEVICE || name.starts_with("corert.transfer") {
        let operand = module.operands(op).first();
        return operand.map_or(PartialMetadata::UNKNOWN, |&operand| {
            known.partial(operand).clone()
        });
    }
    of_constant(module, op).into()
}

/// Returns the metadata of a constant.
fn of_constant(module: &Module, op: OpId) -> Option<TensorMetadata> {
    let name = module.op_name(op);
    if name == names::CONSTANT {
        return of_dense(module, module.attr(op, "value")?);
    }
    let dtype = name.strip_prefix("corert.create_dense_tensor.")?;
    let AttrValue::Array(dims) = attribute_value(module, module.attr(op, "shape")?)? else {
        return None;
    };
    let extents = dims.iter().map(|dim| match dim {
        AttrValue::Scalar(dim) => usize::try_from(i64::try_from(dim.bits()).ok()?).ok(),
        _ => None,
    });
    let extents: Vec<usize> = extents.collect::<Option<_>>()?;
    Some(TensorMetadata::new(dtype_named(dtype)?, &extents[..]))
}

/// Returns the metadata of a dense attribute, if it has elements that tensors can have. Its
/// elements are not looked at: there may be many.
fn of_dense(module: &Module, value: AttrId) -> Option<TensorMetadata> {
    let Attribute::Dense { ty, .. } = module.attribute(value) else {
        return None;
    };
    let (dims, element) = match module.ty(*ty) {
        Type::Tensor { dims, element, .. } => (
            dims.iter().copied().collect::<Option<Vec<u64>>>()?,
            *element,
        ),
        Type::Vector { dims, element } => (dims.to_vec(), *element),
        _ => return None,
    };
    let dtype = dtype_of(module, element)?;
    let is_number = dtype.code() <= DType::Bf16.code();
    let extents = dims.into_iter().map(|dim| usize::try_from(dim).ok());
    let extents: Vec<usize> = extents.collect::<Option<_>>()?;
    is_number.then(|| TensorMetadata::new(dtype, &extents[..]))
}

/// Returns the element type of a kernel's name.
fn dtype_named(name: &str) -> Option<DType> {
    let all = [
        DType::Ui8,
        DType::Ui16,
        DType::Ui32,
        DType::Ui64,
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::F64,
    ];
    all.into_iter().find(|dtype| dtype.to_string() == name)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tfrt_core::{OpMetadataFunction, OpQuery, OpRegistration, ResultMetadata};
    use tfrt_host::kernel::KernelRegistry;
    use tfrt_support::Error;

    use super::*;
    use crate::FunctionProgram;

    thread_local! {
        /// Counts the calls of the metadata function of `my.Same`.
        static NUM_CALLS: Cell<usize> = const { Cell::new(0) };
    }

    fn same(query: &OpQuery<'_>) -> Result<ResultMetadata, Error> {
        NUM_CALLS.set(NUM_CALLS.get() + 1);
        Ok([Some(query.operand(0)?.clone())].into_iter().collect())
    }

    fn refused(_query: &OpQuery<'_>) -> Result<ResultMetadata, Error> {
        Err(Error::new("not such tensors"))
    }

    /// Infers the metadata of a function of two vectors, `x` and `y`. Returns the metadata of the
    /// result of each op that has some, and what contradicts.
    fn infer(ops: &str) -> (Vec<String>, Vec<String>) {
        let source = format!(
            "func @f(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle)
                 attributes {{corert.arguments = [tensor<2xf32>, tensor<3xf32>]}} {{
               %cpu = \"corert.get_op_handler\"(%c) {{op_handler_name = \"cpu\"}}
                 : (!tfrt.chain) -> !corert.ophandler
               {ops}
               \"tfrt.return\"() : () -> ()
             }}"
        );
        let kernels = KernelRegistry::default();
        let program = FunctionProgram::from_text(&source, "f.mlir", &kernels);
        let program = program.unwrap_or_else(|found| panic!("{found}"));
        let mut module = Module::clone(program.module());
        let func = module.lookup_symbol(module.root(), "f").unwrap();
        let registrations = [
            ("my.Same", same as OpMetadataFunction),
            ("my.Refused", refused),
        ];
        let registrations = registrations.map(|(name, metadata)| OpRegistration {
            metadata: Some(metadata),
            ..OpRegistration::new(name)
        });
        let registry = OpRegistry::new(&registrations, &kernels);
        let findings = infer_metadata(&mut module, func, &registry);
        let findings = findings.iter().map(|found| found.message.clone());
        let block = module.entry_block(func).unwrap();
        let results = module.block_ops(block).iter();
        let results = results.filter_map(|&op| known_results(&module, op).first().cloned());
        (
            results.map(|told| told.to_string()).collect(),
            findings.collect(),
        )
    }

    /// Returns a call of an op on one operand.
    fn call(result: &str, op: &str, operand: &str, attributes: &str) -> String {
        format!(
            "%{result} = \"corert.executeop\"(%cpu, %{operand}) {{{attributes}op_func_attrs = [], \
             op_name = \"{op}\"}} : (!corert.ophandler, !corert.tensorhandle) \
             -> !corert.tensorhandle\n"
        )
    }

    #[test]
    fn metadata_functions_are_called_once_for_equal_operands_and_attributes() {
        const NO_ATTRS: &str = "op_attrs = [], ";
        let one = call("a", "my.Same", "x", NO_ATTRS);
        let count = |more: &[String]| {
            NUM_CALLS.set(0);
            let (results, findings) = infer(&(one.clone() + &more.concat()));
            assert!(findings.is_empty(), "{findings:?}");
            (NUM_CALLS.get(), results.join("; "))
        };
        assert_eq!(count(&[]), (1, "f32 [2]".to_owned()));
        let again = [
            call("b", "my.Same", "x", NO_ATTRS),
            // Another operand of the same metadata, and names, which say nothing of results.
            call("d", "my.Same", "a", NO_ATTRS),
            call("e", "my.Same", "x", "corert.name = \"e\", op_attrs = [], "),
        ];
        let twos = ["f32 [2]"; 4].join("; ");
        assert_eq!(count(&again), (1, twos));
        let other_operand = call("b", "my.Same", "y", NO_ATTRS);
        assert_eq!(count(&[other_operand]), (2, "f32 [2]; f32 [3]".to_owned()));
        let other_attribute = call("b", "my.Same", "x", "op_attrs = [[\"k\", 1 : i32]], ");
        assert_eq!(
            count(&[other_attribute]),
            (2, "f32 [2]; f32 [2]".to_owned())
        );
        // Ops in an order follow different chains.
        let ordered = |out: &str, chain: &str| {
            format!(
                "%{out}, %h{out} = \"corert.executeop.seq\"(%cpu, %{chain}, %x) {{op_attrs = [], \
                 op_func_attrs = [], op_name = \"my.Same\"}} : (!corert.ophandler, !tfrt.chain, \
                 !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)\n"
            )
        };
        let threes = ["f32 [2]"; 3].join("; ");
        assert_eq!(count(&[ordered("d", "c"), ordered("e", "d")]), (2, threes));
    }

    #[test]
    fn each_faulty_op_is_reported() {
        let refused = |result| call(result, "my.Refused", "x", "op_attrs = [], ");
        let (_, findings) = infer(&[refused("a"), refused("b")].concat());
        assert_eq!(findings, ["`my.Refused`: not such tensors"; 2]);
        let attributes = "corert.results = [tensor<4xf32>], op_attrs = [], ";
        let unknown = |result| call(result, "my.Unknown", "x", attributes);
        // Nothing is known of an unknown op, so what the program says of it counts.
        let (results, findings) = infer(&[unknown("a"), unknown("b")].concat());
        assert_eq!(
            (results, findings.len()),
            (vec!["f32 [4]".to_owned(); 2], 0)
        );
        let contradicts = |result| call(result, "my.Same", "x", attributes);
        let (_, findings) = infer(&[contradicts("a"), contradicts("b")].concat());
        let expected = "result 0: inferred f32 [2], but `corert.results` declares f32 [4]";
        assert_eq!(findings, [expected; 2]);
    }
}
