//! A function under construction, kernel by kernel.

use tfrt_attr::AttrValue;
use tfrt_support::entity::EntityId;

use super::BuildError;
use super::handle::{self, DeclaredFunction, DeclaredType, Register};
use crate::format::KernelFlags;
use crate::ids::{RegisterId, TypeNameId};
use crate::location::BefLocation;
use tfrt_support::FunctionKind;

/// A kernel to be [added](FunctionBuilder::add) to a function.
///
/// Kernels see their attributes sorted by name, regardless of the order here.
///
/// ```
/// use tfrt_attr::{AttrValue, Scalar};
/// use tfrt_bef::BefLocation;
/// use tfrt_bef::builder::KernelBuilder;
///
/// let kernel = KernelBuilder::new("my.resize")
///     .attribute("method", AttrValue::string("bilinear"))
///     .attribute("factor", Scalar::i32(2))
///     .stream(1)
///     .location(BefLocation::File { file: "model.py".into(), line: 7, column: 3 });
/// # let _ = kernel;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a kernel does nothing until it is added to a function"]
pub struct KernelBuilder {
    pub(super) name: String,
    pub(super) location: Option<BefLocation>,
    pub(super) stream: u32,
    pub(super) flags: KernelFlags,
    pub(super) operands: Vec<Register>,
    pub(super) attributes: Vec<(String, Reference)>,
    pub(super) regions: Vec<DeclaredFunction>,
}

/// The content of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    Value(AttrValue),
    Function(DeclaredFunction),
    FunctionList(Vec<DeclaredFunction>),
}

impl KernelBuilder {
    /// Creates a kernel with this name, on stream 0 and without a location.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            location: None,
            stream: 0,
            flags: KernelFlags::NONE,
            operands: Vec::new(),
            attributes: Vec::new(),
            regions: Vec::new(),
        }
    }

    /// Appends operands.
    pub fn operands(mut self, operands: &[Register]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// Adds an attribute that holds a value.
    pub fn attribute(self, name: &str, value: impl Into<AttrValue>) -> Self {
        self.named(name, Reference::Value(value.into()))
    }

    /// Adds an attribute that refers to a function.
    pub fn function(self, name: &str, function: DeclaredFunction) -> Self {
        self.named(name, Reference::Function(function))
    }

    /// Adds an attribute that is a list of functions.
    pub fn function_list(self, name: &str, functions: &[DeclaredFunction]) -> Self {
        self.named(name, Reference::FunctionList(functions.to_vec()))
    }

    /// Appends a region.
    pub fn region(mut self, region: DeclaredFunction) -> Self {
        self.regions.push(region);
        self
    }

    /// Sets the stream that the kernel runs on.
    pub fn stream(mut self, stream: u32) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the flags of the kernel.
    pub fn flags(mut self, flags: KernelFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Sets the location of the kernel.
    pub fn location(mut self, location: BefLocation) -> Self {
        self.location = Some(location);
        self
    }

    fn named(mut self, name: &str, reference: Reference) -> Self {
        self.attributes.push((name.to_owned(), reference));
        self
    }

    /// Returns every function that the kernel refers to.
    fn functions(&self) -> impl Iterator<Item = DeclaredFunction> {
        let of_attributes = self
            .attributes
            .iter()
            .flat_map(|(_, reference)| match reference {
                Reference::Value(_) => &[],
                Reference::Function(function) => std::slice::from_ref(function),
                Reference::FunctionList(functions) => &functions[..],
            });
        of_attributes.chain(&self.regions).copied()
    }
}

/// A kernel that was added to a function.
#[derive(Clone, Debug)]
pub(super) struct PlacedKernel {
    /// Its attributes are sorted by name, and the names are unique.
    pub(super) kernel: KernelBuilder,
    pub(super) results: Vec<RegisterId>,
}

/// A function under construction. [`ProgramBuilder::define`](super::ProgramBuilder::define) makes
/// it part of the program.
///
/// It borrows nothing, so the functions of a program can be built side by side.
#[derive(Debug)]
#[must_use = "a function that is not defined keeps its program from being finished"]
pub struct FunctionBuilder {
    pub(super) handle: DeclaredFunction,
    pub(super) kind: FunctionKind,
    pub(super) name: String,
    pub(super) location: Option<BefLocation>,
    pub(super) root_stream: u32,
    pub(super) arguments: Vec<Register>,
    pub(super) results: Vec<DeclaredType>,
    pub(super) register_types: Vec<TypeNameId>,
    pub(super) kernels: Vec<PlacedKernel>,
}

impl FunctionBuilder {
    pub(super) fn new(
        handle: DeclaredFunction,
        kind: FunctionKind,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Self {
        let mut builder = Self {
            handle,
            kind,
            name: name.to_owned(),
            location: None,
            root_stream: 0,
            arguments: Vec::new(),
            results: results.to_vec(),
            register_types: Vec::new(),
            kernels: Vec::new(),
        };
        builder.arguments = arguments.iter().map(|&ty| builder.register(ty)).collect();
        builder
    }

    /// Returns the handle by which kernels refer to the function.
    #[must_use]
    pub fn function(&self) -> DeclaredFunction {
        self.handle
    }

    /// Returns the arguments.
    #[must_use]
    pub fn arguments(&self) -> &[Register] {
        &self.arguments
    }

    /// Sets the location of the function.
    pub fn set_location(&mut self, location: BefLocation) {
        self.location = Some(location);
    }

    /// Sets the stream of the arguments; the default is stream 0.
    pub fn set_root_stream(&mut self, stream: u32) {
        self.root_stream = stream;
    }

    /// Appends a kernel, and returns its results, which have these types.
    ///
    /// # Errors
    /// If an operand belongs to another function, a type or function belongs to another program, or
    /// two attributes have the same name. The function is unchanged then.
    pub fn add<const N: usize>(
        &mut self,
        kernel: KernelBuilder,
        results: [DeclaredType; N],
    ) -> Result<[Register; N], BuildError> {
        self.place(kernel, &results)?;
        Ok(results.map(|ty| self.register(ty)))
    }

    /// Appends a kernel like [`add`](Self::add), if the number of results is known only at run
    /// time.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn add_with_results(
        &mut self,
        kernel: KernelBuilder,
        results: &[DeclaredType],
    ) -> Result<Vec<Register>, BuildError> {
        self.place(kernel, results)?;
        Ok(results.iter().map(|&ty| self.register(ty)).collect())
    }

    /// Appends the kernel; its results must be the next registers.
    fn place(
        &mut self,
        mut kernel: KernelBuilder,
        results: &[DeclaredType],
    ) -> Result<(), BuildError> {
        if let Some(&register) = kernel
            .operands
            .iter()
            .find(|register| register.function != self.handle)
        {
            return Err(BuildError::ForeignRegister {
                kernel: Some(kernel.name),
                register,
            });
        }
        handle::indices(self.handle.program, results)?;
        handle::check_functions(self.handle.program, kernel.functions())?;
        kernel
            .attributes
            .sort_by(|(left, _), (right, _)| left.cmp(right));
        if let Some(pair) = kernel
            .attributes
            .windows(2)
            .find(|pair| pair[0].0 == pair[1].0)
        {
            return Err(BuildError::DuplicateAttribute {
                attribute: pair[0].0.clone(),
                kernel: kernel.name,
            });
        }
        let results = handle::register_ids(self.register_types.len(), results.len()).collect();
        self.kernels.push(PlacedKernel { kernel, results });
        Ok(())
    }

    /// Creates the next register.
    fn register(&mut self, ty: DeclaredType) -> Register {
        let id = RegisterId::from_index(self.register_types.len());
        self.register_types.push(ty.index);
        Register {
            function: self.handle,
            id,
            ty,
        }
    }
}
