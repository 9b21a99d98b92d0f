//! A function that is being built, kernel by kernel.

use tfrt_attr::AttrValue;
use tfrt_support::entity::EntityId;

use super::BuildError;
use super::handle::{self, Function, Register, Type};
use crate::format::{FunctionKind, KernelFlags};
use crate::ids::{RegisterId, TypeIndex};
use crate::location::Location;

/// A kernel to be [added](FunctionBuilder::add) to a function.
///
/// Kernels see their attributes in order of the attributes' names, whatever the order here.
///
/// ```
/// use tfrt_attr::{AttrValue, Scalar};
/// use tfrt_bef::Location;
/// use tfrt_bef::builder::KernelBuilder;
///
/// let kernel = KernelBuilder::new("my.resize")
///     .attribute("method", AttrValue::string("bilinear"))
///     .attribute("factor", Scalar::i32(2))
///     .stream(1)
///     .location(Location::File { file: "model.py".into(), line: 7, column: 3 });
/// # let _ = kernel;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a kernel does nothing until it is added to a function"]
pub struct KernelBuilder {
    pub(super) name: String,
    pub(super) location: Option<Location>,
    pub(super) stream: u32,
    pub(super) flags: KernelFlags,
    pub(super) operands: Vec<Register>,
    pub(super) attributes: Vec<(String, Reference)>,
    pub(super) regions: Vec<Function>,
}

/// What an attribute holds.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    Value(AttrValue),
    Function(Function),
    FunctionList(Vec<Function>),
}

impl KernelBuilder {
    /// The kernel of that name, on stream 0 and from nowhere.
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

    /// Adds registers to those that the kernel reads.
    pub fn operands(mut self, operands: &[Register]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// Adds an attribute that holds a value.
    pub fn attribute(self, name: &str, value: impl Into<AttrValue>) -> Self {
        self.named(name, Reference::Value(value.into()))
    }

    /// Adds an attribute that names a function.
    pub fn function(self, name: &str, function: Function) -> Self {
        self.named(name, Reference::Function(function))
    }

    /// Adds an attribute that is a list of functions.
    pub fn function_list(self, name: &str, functions: &[Function]) -> Self {
        self.named(name, Reference::FunctionList(functions.to_vec()))
    }

    /// Adds a region, to those that were added before.
    pub fn region(mut self, region: Function) -> Self {
        self.regions.push(region);
        self
    }

    /// The stream that the kernel runs on.
    pub fn stream(mut self, stream: u32) -> Self {
        self.stream = stream;
        self
    }

    /// What is said of the kernel beside all this.
    pub fn flags(mut self, flags: KernelFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Where the kernel comes from.
    pub fn location(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    fn named(mut self, name: &str, reference: Reference) -> Self {
        self.attributes.push((name.to_owned(), reference));
        self
    }

    /// Every function that the kernel refers to.
    fn functions(&self) -> impl Iterator<Item = Function> {
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

/// A kernel in its place.
#[derive(Clone, Debug)]
pub(super) struct PlacedKernel {
    /// Its attributes are sorted by name, each name once.
    pub(super) kernel: KernelBuilder,
    pub(super) results: Vec<RegisterId>,
}

/// A function that is being built; it becomes part of the program by
/// [`ProgramBuilder::define`](super::ProgramBuilder::define).
///
/// It borrows nothing, so that the functions of a program can be built side by side.
#[derive(Debug)]
#[must_use = "a function that is not defined keeps its program from being finished"]
pub struct FunctionBuilder {
    pub(super) handle: Function,
    pub(super) kind: FunctionKind,
    pub(super) name: String,
    pub(super) location: Option<Location>,
    pub(super) root_stream: u32,
    pub(super) arguments: Vec<Register>,
    pub(super) results: Vec<Type>,
    pub(super) register_types: Vec<TypeIndex>,
    pub(super) kernels: Vec<PlacedKernel>,
}

impl FunctionBuilder {
    pub(super) fn new(
        handle: Function,
        kind: FunctionKind,
        name: &str,
        arguments: &[Type],
        results: &[Type],
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

    /// The function, as kernels refer to it.
    #[must_use]
    pub fn function(&self) -> Function {
        self.handle
    }

    /// The arguments.
    #[must_use]
    pub fn arguments(&self) -> &[Register] {
        &self.arguments
    }

    /// Says where the function comes from.
    pub fn set_location(&mut self, location: Location) {
        self.location = Some(location);
    }

    /// Says which stream the arguments are on; without that it is stream 0.
    pub fn set_root_stream(&mut self, stream: u32) {
        self.root_stream = stream;
    }

    /// Adds a kernel behind those there are, and returns its results, which have these types.
    ///
    /// # Errors
    /// If an operand is of another function, a type or a function of another program, or a name that of two attributes. The
    /// function is then as it was.
    pub fn add<const N: usize>(
        &mut self,
        kernel: KernelBuilder,
        results: [Type; N],
    ) -> Result<[Register; N], BuildError> {
        self.place(kernel, &results)?;
        Ok(results.map(|ty| self.register(ty)))
    }

    /// Adds a kernel as [`add`](Self::add) does, where the number of results is known only at run time.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_with_results(
        &mut self,
        kernel: KernelBuilder,
        results: &[Type],
    ) -> Result<Vec<Register>, BuildError> {
        self.place(kernel, results)?;
        Ok(results.iter().map(|&ty| self.register(ty)).collect())
    }

    /// Appends the kernel; its results are to be the next registers.
    fn place(&mut self, mut kernel: KernelBuilder, results: &[Type]) -> Result<(), BuildError> {
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

    /// The next register.
    fn register(&mut self, ty: Type) -> Register {
        let id = RegisterId::from_index(self.register_types.len());
        self.register_types.push(ty.index);
        Register {
            function: self.handle,
            id,
            ty,
        }
    }
}
