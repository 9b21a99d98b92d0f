//! A loaded program: a verified file whose names are resolved.
//!
//! Loading resolves the name of every kernel once. A body is verified, proven and decoded when it is first looked up.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use tfrt_async::{AnyRef, TypeIndex};
use tfrt_attr::AttrTypeCode;
use tfrt_bef::read::attribute_types::AttributeTypes;
use tfrt_bef::{AttributeOffset, BefFile, FunctionId, KernelCode, LocationOffset, VerifiedBef};
use tfrt_host::function::{FunctionKind, FunctionTable, PreparedFunction};
use tfrt_host::kernel::registry::NativeFunction;
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_host::{ExecutionContext, FunctionRef, HostContext, LocationSource};
use tfrt_support::entity::{EntityId, PrimaryMap};
use tfrt_support::nearest::did_you_mean;
use tfrt_support::{Error, ErrorCode, Place};

use crate::body::Body;
use crate::call_loop::PreparedLoop;
use crate::decode;
use crate::interpreter::{self, SyncBody};
use crate::invoke;
use crate::signature;

/// A loaded program.
///
/// Its functions are looked up by name and executed through [`FunctionRef`], which keeps the program alive.
///
/// ```
/// use tfrt_bef::BefFile;
/// use tfrt_bef::write::{BefBuilder, WriteOptions};
/// use tfrt_executor::Program;
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let empty = BefBuilder::new(WriteOptions::default()).finish()?;
/// let program = Program::load(&host, &BefFile::from_bytes(&empty)).unwrap();
/// assert!(program.function("main").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Program {
    bef: VerifiedBef,
    /// What the file says of the types of its attributes, if it does.
    attribute_types: OnceLock<Option<AttributeTypes>>,
    kernels: PrimaryMap<KernelCode, KernelDescriptor>,
    functions: PrimaryMap<FunctionId, Function>,
    /// The functions that have names; the last one of a name wins.
    by_name: HashMap<Box<str>, FunctionId>,
}

/// One function of the file.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Box<str>,
    pub(crate) kind: FunctionKind,
    pub(crate) argument_types: Box<[Box<str>]>,
    pub(crate) result_types: Box<[Box<str>]>,
    /// For each argument, the payload type that its spelling fixes.
    pub(crate) fixed_arguments: Box<[Option<TypeIndex>]>,
    /// Filled at load for native functions, else at the first look-up.
    body: OnceLock<Result<FunctionBody, Error>>,
}

/// A function in the form that runs.
#[derive(Debug)]
pub(crate) enum FunctionBody {
    Async(Box<Body>),
    Sync(Box<SyncBody>),
    Native(NativeFunction),
}

impl Program {
    /// Verifies the tables of `file` and resolves its kernels and native functions among those of `host`.
    ///
    /// # Errors
    /// If the file is malformed, or names something that the host does not have. The error is not reported to the host's
    /// diagnostic handler.
    pub fn load(host: &HostContext, file: &BefFile) -> Result<Arc<Self>, Error> {
        let bef = file.verify().map_err(malformed)?;
        let registry = host.registry();
        let kernels = bef
            .kernels()
            .map(|code| resolve_kernel(&bef, registry, code))
            .collect::<Result<_, _>>()?;
        let mut functions = PrimaryMap::new();
        let mut by_name = HashMap::new();
        for function in bef.functions() {
            let spellings = |types: &[tfrt_bef::TypeIndex]| {
                types.iter().map(|&ty| bef.type_name(ty).into()).collect()
            };
            let body = OnceLock::new();
            let kind = match function.kind {
                tfrt_bef::FunctionKind::Async => FunctionKind::Async,
                tfrt_bef::FunctionKind::Sync => FunctionKind::Sync,
                tfrt_bef::FunctionKind::Native => {
                    let native = resolve_native(registry, function.name)?;
                    let _ = body.set(Ok(FunctionBody::Native(native)));
                    FunctionKind::Native
                }
            };
            let argument_types: Box<[Box<str>]> = spellings(function.arguments);
            let id = functions.push(Function {
                name: function.name.into(),
                kind,
                fixed_arguments: signature::fixed_payloads(&argument_types),
                argument_types,
                result_types: spellings(function.results),
                body,
            });
            if !function.name.is_empty() {
                by_name.insert(function.name.into(), id);
            }
        }
        Ok(Arc::new(Self {
            bef,
            attribute_types: OnceLock::new(),
            kernels,
            functions,
            by_name,
        }))
    }

    /// Verifies, proves and decodes every function, in index order, so that no look-up fails later.
    ///
    /// # Errors
    /// What is wrong with the first function that has something wrong.
    pub fn verify_all(&self) -> Result<(), Error> {
        self.functions
            .ids()
            .try_for_each(|id| self.body(id).map(drop))
    }

    /// The functions in index order. Regions, which have empty names, come before the functions that contain them.
    pub fn functions(self: &Arc<Self>) -> impl ExactSizeIterator<Item = FunctionRef> {
        self.functions.ids().map(|id| self.function_ref(id))
    }

    /// The function of this name.
    #[must_use]
    pub fn function(self: &Arc<Self>, name: &str) -> Option<FunctionRef> {
        self.by_name.get(name).map(|&id| self.function_ref(id))
    }

    fn function_ref(self: &Arc<Self>, id: FunctionId) -> FunctionRef {
        FunctionRef::new(Arc::clone(self) as _, to_number(id))
    }

    pub(crate) fn entry(&self, id: FunctionId) -> &Function {
        &self.functions[id]
    }

    /// The body of a function; made now if this is its first look-up.
    pub(crate) fn body(&self, id: FunctionId) -> Result<&FunctionBody, Error> {
        self.functions[id]
            .body
            .get_or_init(|| decode::decode(self, id))
            .as_ref()
            .map_err(Error::clone)
    }

    pub(crate) fn bef(&self) -> &VerifiedBef {
        &self.bef
    }

    /// What the file says of the type of the attribute at an offset. Nothing if it does not say, or says what cannot be: it is there to
    /// help, and nobody relies on it.
    pub(crate) fn attribute_code(&self, offset: u32) -> Option<AttrTypeCode> {
        let types = self
            .attribute_types
            .get_or_init(|| self.bef.attribute_types().ok().flatten());
        let offset = AttributeOffset::from_index(offset as usize);
        types.as_ref()?.code(offset)
    }

    pub(crate) fn kernel(&self, code: KernelCode) -> KernelDescriptor {
        self.kernels[code]
    }
}

/// The error for a malformed file: what TFRT says, then what was found where.
pub(crate) fn malformed(error: tfrt_bef::BefError) -> Error {
    Error::new(error.to_string()).with_code(ErrorCode::DataLoss)
}

/// The number of an id.
pub(crate) fn to_number(id: impl EntityId) -> u32 {
    u32::try_from(id.index()).expect("an id holds 32 bits")
}

fn resolve_kernel(
    bef: &VerifiedBef,
    registry: &KernelRegistry,
    code: KernelCode,
) -> Result<KernelDescriptor, Error> {
    let name = bef.kernel_name(code);
    if let Some(kernel) = registry.get(name) {
        return Ok(*kernel);
    }
    let error = Error::new(unknown_kernel(registry, name)).with_code(ErrorCode::NotFound);
    if let Some(location) = bef.first_use(code) {
        error.set_place_if_unset(bef.place(location));
    }
    Err(error)
}

#[cold]
fn unknown_kernel(registry: &KernelRegistry, name: &str) -> String {
    let mut message = format!("unknown kernel name '{name}'");
    let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
    let dialects = registry.dialects();
    message.push_str(&did_you_mean(&registry.suggest(name)));
    if !dialects.contains(&dialect) {
        let linked = if dialects.is_empty() {
            String::from("none")
        } else {
            dialects.join(", ")
        };
        message.push_str(&format!(
            "; no kernel of `{dialect}` is linked (linked: {linked}): a kernel crate that nothing refers to is left out by \
             the linker, so name it with `tfrt::link!`, or load it as a kernel library"
        ));
    }
    message
}

fn resolve_native(registry: &KernelRegistry, name: &str) -> Result<NativeFunction, Error> {
    registry.native(name).copied().ok_or_else(|| {
        Error::new(format!(
            "invalid FunctionIndex section in BEF file: unable to find native function in global registry: `{name}`"
        ))
        .with_code(ErrorCode::NotFound)
    })
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

    fn attribute_section(&self) -> &[u8] {
        self.bef.attributes()
    }

    fn execute(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        invoke::execute(self, id(number), ctx, arguments, results);
    }

    fn execute_sync(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error> {
        interpreter::execute(&self, id(number), ctx, arguments, results)
    }

    fn prepare_sync(
        self: Arc<Self>,
        number: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> Result<Option<Box<dyn PreparedFunction>>, Error> {
        let function = self.entry(id(number));
        function.check_counts(arguments.len(), function.result_types.len())?;
        function.check_present(arguments)?;
        if ctx.call_depth() >= ctx.host().limits().max_call_depth {
            return Ok(None);
        }
        let prepared = PreparedLoop::new(self, id(number), arguments);
        Ok(prepared.map(|prepared| Box::new(prepared) as _))
    }
}

impl LocationSource for Program {
    fn place(&self, token: u32) -> Place {
        self.bef.place(LocationOffset::from_index(token as usize))
    }

    fn debug_name(&self, token: u32) -> Option<String> {
        self.bef
            .debug_name(LocationOffset::from_index(token as usize))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.functions.values().map(|function| &function.name);
        f.debug_struct("Program")
            .field("functions", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
