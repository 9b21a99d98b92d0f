//! The functions of a program, as kernels and embedders see them.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_bef::{BefFile, FunctionId};
use tfrt_host::__runtime::{FunctionTable, PreparedFunction};
use tfrt_host::{ExecutionContext, FunctionRef, HostContext, Rounds};
use tfrt_ods::OpDef;
use tfrt_support::Error;
use tfrt_support::FunctionKind;
use tfrt_support::entity::EntityId;

use super::digest::{digest_of, named_functions};
use super::program::Program;
use super::sequence;
use super::start;
use super::synchronous::{self, PreparedCode};
use crate::load::to_number;

impl Program {
    /// Verifies the tables of `file` and resolves its kernels and native functions among those of
    /// `host`.
    ///
    /// # Errors
    /// Fails if the file is malformed, or if it names a kernel or function that the host does not
    /// have. The error is not reported to the host's diagnostic handler.
    pub fn load(host: &HostContext, file: &BefFile) -> Result<Arc<Self>, Error> {
        Self::new(host, file, start::call_in_place).map(Arc::new)
    }

    /// Returns the functions in index order. Regions, which have empty names, come before the
    /// functions that contain them.
    pub fn functions(self: &Arc<Self>) -> impl ExactSizeIterator<Item = FunctionRef> {
        self.tables.function_ids().map(|id| self.function_ref(id))
    }

    /// Returns the function of this name.
    #[must_use]
    pub fn function(self: &Arc<Self>, name: &str) -> Option<FunctionRef> {
        self.tables.id_of(name).map(|id| self.function_ref(id))
    }

    fn function_ref(self: &Arc<Self>, id: FunctionId) -> FunctionRef {
        FunctionRef::new(Arc::clone(self) as _, to_number(id))
    }
}

fn id(number: u32) -> FunctionId {
    FunctionId::from_index(number as usize)
}

impl FunctionTable for Program {
    fn name(&self, number: u32) -> &str {
        &self.entry(id(number)).name
    }

    fn kind(&self, number: u32) -> FunctionKind {
        self.entry(id(number)).kind
    }

    fn argument_types(&self, number: u32) -> Vec<&str> {
        self.entry(id(number))
            .argument_types
            .iter()
            .map(|spelling| &**spelling)
            .collect()
    }

    fn result_types(&self, number: u32) -> Vec<&str> {
        self.entry(id(number))
            .result_types
            .iter()
            .map(|spelling| &**spelling)
            .collect()
    }

    fn num_arguments(&self, number: u32) -> usize {
        self.entry(id(number)).argument_types.len()
    }

    fn num_results(&self, number: u32) -> usize {
        self.entry(id(number)).result_types.len()
    }

    fn ops(&self, number: u32) -> Option<Vec<(&'static OpDef, Vec<u32>)>> {
        if self.entry(id(number)).kind == FunctionKind::Native {
            return None;
        }
        let body = self.tables.bef.function(id(number)).ok()?;
        let ops = body.kernels().map(|kernel| {
            let record = body.record(kernel);
            let named = named_functions(self, record.attributes.iter());
            let functions = record.functions.iter().chain(named);
            let functions = functions.map(to_number).collect();
            (self.tables.kernel(record.code).op(), functions)
        });
        Some(ops.collect())
    }

    fn digest(&self, number: u32) -> Option<u64> {
        self.digest_or_compute(id(number), || digest_of(self, id(number)))
    }

    fn attribute_section(&self) -> &[u8] {
        Program::attribute_section(self)
    }

    fn number_of(&self, name: &str) -> Option<u32> {
        self.tables.id_of(name).map(to_number)
    }

    fn execute(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        start::execute(self, id(number), ctx, arguments, results);
    }

    fn execute_rounds(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        rounds: Rounds,
        values: &mut Vec<AnyRef>,
    ) -> u32 {
        sequence::run_rounds(&self, id(number), ctx, rounds, values)
    }

    fn execute_sync(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error> {
        synchronous::execute(&self, id(number), ctx, arguments, results)
    }

    fn prepare_sync(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> Result<Option<Box<dyn PreparedFunction>>, Error> {
        let prepared = PreparedCode::new(self, id(number), ctx, arguments)?;
        Ok(prepared.map(|prepared| Box::new(prepared) as _))
    }
}
