//! Building programs in Rust: functions of kernels, without MLIR text and without a compiler.
//!
//! This is a layer above [`crate::write`], which takes table positions unchecked and detects
//! mistakes late. Here everything is named by a handle that identifies its owner: a
//! [`DeclaredType`] and a [`DeclaredFunction`] belong to their program, a [`Register`], which also
//! has a type, to its function. A register exists only after its kernel, so programs are in order
//! and acyclic; defining a function consumes its [`FunctionBuilder`], so it happens at most once.
//! Every other misuse returns an error. So a finished program satisfies every rule of
//! `crate::verify`.
//!
//! Whether a kernel exists and accepts its operands is checked when the program is loaded.
//!
//! ```
//! use tfrt_attr::Scalar;
//! use tfrt_bef::BefFile;
//! use tfrt_bef::builder::{KernelBuilder, ProgramBuilder};
//!
//! let mut program = ProgramBuilder::new();
//! let i32_type = program.add_type("i32");
//!
//! // func @twice(%x: i32) -> i32
//! let (twice, mut body) = program.add_function("twice", &[i32_type], &[i32_type])?;
//! let x = body.arguments()[0];
//! let [sum] = body.add(KernelBuilder::new("tfrt.add.i32").operands(&[x, x]), [i32_type])?;
//! program.define(body, &[sum])?;
//!
//! // func @main() -> i32
//! let (_, mut body) = program.add_function("main", &[], &[i32_type])?;
//! let seven = KernelBuilder::new("tfrt.constant.i32").attribute("value", Scalar::i32(7));
//! let [seven] = body.add(seven, [i32_type])?;
//! let call = KernelBuilder::new("tfrt.call").operands(&[seven]).function("callee", twice);
//! let [result] = body.add(call, [i32_type])?;
//! program.define(body, &[result])?;
//!
//! let bef = BefFile::from_bytes(&program.finish()?).verify()?;
//! bef.verify_functions()?;
//! assert!(bef.find_function("main").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A register cannot be used in another function:
//!
//! ```
//! use tfrt_bef::builder::{BuildError, KernelBuilder, ProgramBuilder};
//!
//! let mut program = ProgramBuilder::new();
//! let i32_type = program.add_type("i32");
//! let (_, f) = program.add_function("f", &[i32_type], &[])?;
//! let (_, mut g) = program.add_function("g", &[], &[])?;
//! let print = KernelBuilder::new("tfrt.print.i32").operands(f.arguments());
//! assert!(matches!(g.add(print, []), Err(BuildError::ForeignRegister { .. })));
//! # Ok::<(), BuildError>(())
//! ```
//!
//! A function cannot be defined twice, which the compiler checks:
//!
//! ```compile_fail,E0382
//! # use tfrt_bef::builder::ProgramBuilder;
//! let mut program = ProgramBuilder::new();
//! let (_, body) = program.add_function("f", &[], &[])?;
//! program.define(body, &[])?;
//! program.define(body, &[])?;
//! # Ok::<(), tfrt_bef::builder::BuildError>(())
//! ```

mod function;

mod handle;

use std::fmt;

use tfrt_support::entity::EntityId;

pub use function::{FunctionBuilder, KernelBuilder};
pub use handle::{DeclaredFunction, DeclaredType, Register};

use crate::ids::{RegisterId, TypeNameId};
use crate::write::{BefBuilder, Body, WriteError, WriteOptions};
use function::Reference;
use handle::ProgramKey;
use tfrt_support::FunctionKind;

/// The error for a misused part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A register of another function.
    ForeignRegister {
        /// The kernel that was to read it; `None` if it was to be returned.
        kernel: Option<String>,
        /// The register.
        register: Register,
    },
    /// A type of another program.
    ForeignType(DeclaredType),
    /// A function of another program.
    ForeignFunction(DeclaredFunction),
    /// A kernel has two attributes with the same name.
    DuplicateAttribute {
        /// The kernel.
        kernel: String,
        /// The name.
        attribute: String,
    },
    /// The types that a function returns differ from those it was added with.
    ResultTypes {
        /// The name of the function.
        function: String,
        /// The spellings of the types that it was added with.
        expected: Vec<String>,
        /// The spellings of the types that it returns.
        found: Vec<String>,
    },
    /// A synchronous function returns an argument, or the same register twice.
    SharedResult {
        /// The name of the function.
        function: String,
        /// The register.
        register: Register,
    },
    /// The program cannot be expressed in a file.
    Write(WriteError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignRegister {
                kernel: Some(kernel),
                register,
            } => write!(
                f,
                "operand of `{kernel}`: expected a register of this function, found {register:?} \
                 of another function"
            ),
            Self::ForeignRegister {
                kernel: None,
                register,
            } => write!(
                f,
                "expected a register of this function as its result, found {register:?} of \
                 another function"
            ),
            Self::ForeignType(ty) => write!(
                f,
                "expected a type of this program, found {ty:?} of another program"
            ),
            Self::ForeignFunction(function) => write!(
                f,
                "expected a function of this program, found {function:?} of another program"
            ),
            Self::DuplicateAttribute { kernel, attribute } => write!(
                f,
                "attributes of `{kernel}`: expected distinct names, found `{attribute}` twice"
            ),
            Self::ResultTypes {
                function,
                expected,
                found,
            } => write!(
                f,
                "results of `{function}`: expected types ({}), found ({})",
                expected.join(", "),
                found.join(", ")
            ),
            Self::SharedResult { function, register } => write!(
                f,
                "results of synchronous `{function}`: expected a distinct register for every \
                 result, found {register:?} twice"
            ),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its text is that of the error below, whose cause is the next one.
            Self::Write(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

tfrt_support::convert_errors!(BuildError);

impl From<WriteError> for BuildError {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

/// A program under construction; see [the module](self) for an example.
///
/// Functions are numbered in the order in which they are added; the other tables follow the order
/// in which functions are defined.
#[derive(Debug)]
pub struct ProgramBuilder {
    key: ProgramKey,
    builder: BefBuilder,
    /// The spellings of the types, by index.
    spellings: Vec<String>,
}

impl Default for ProgramBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ProgramBuilder {
    /// Creates an empty program that is written with every section.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(WriteOptions::default())
    }

    /// Creates an empty program.
    #[must_use]
    pub fn with_options(options: WriteOptions) -> Self {
        Self {
            key: ProgramKey::new(),
            builder: BefBuilder::new(options),
            spellings: Vec::new(),
        }
    }

    /// Adds the type with this spelling, such as `i32` or `!tfrt.chain`.
    pub fn add_type(&mut self, spelling: &str) -> DeclaredType {
        let index = self.builder.add_type(spelling);
        if index.index() == self.spellings.len() {
            self.spellings.push(spelling.to_owned());
        }
        DeclaredType {
            program: self.key,
            index,
        }
    }

    /// Adds an asynchronous function. It can be referred to immediately, and must be
    /// [defined](Self::define) later.
    ///
    /// # Errors
    /// If a type belongs to another program.
    pub fn add_function(
        &mut self,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<(DeclaredFunction, FunctionBuilder), BuildError> {
        self.add(FunctionKind::Async, name, arguments, results)
    }

    /// Adds a synchronous function. It can be referred to immediately, and must be
    /// [defined](Self::define) later.
    ///
    /// # Errors
    /// If a type belongs to another program.
    pub fn add_sync_function(
        &mut self,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<(DeclaredFunction, FunctionBuilder), BuildError> {
        self.add(FunctionKind::Sync, name, arguments, results)
    }

    /// Adds the function for a [region](KernelBuilder::region) of a kernel. It has no name, and its
    /// only access to the enclosing function is through the arguments that the kernel passes.
    ///
    /// # Errors
    /// If a type belongs to another program.
    pub fn add_region(
        &mut self,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<(DeclaredFunction, FunctionBuilder), BuildError> {
        self.add(FunctionKind::Async, "", arguments, results)
    }

    /// Adds a function that the host provides under this name.
    ///
    /// # Errors
    /// If a type belongs to another program.
    pub fn add_native_function(
        &mut self,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<DeclaredFunction, BuildError> {
        self.declare(FunctionKind::Native, name, arguments, results)
    }

    /// Defines a function: the kernels added so far are its body, and `results` are its results.
    ///
    /// # Errors
    /// If the function, or something that it refers to, belongs to another program, or the results
    /// are not registers of this function or differ in type from those it was added with. A
    /// synchronous function must not return an argument, or a register twice. After an error the
    /// function is lost, and the program cannot be finished.
    pub fn define(
        &mut self,
        function: FunctionBuilder,
        results: &[Register],
    ) -> Result<(), BuildError> {
        if function.handle.program != self.key {
            return Err(BuildError::ForeignFunction(function.handle));
        }
        self.check_results(&function, results)?;
        let kernels = function
            .kernels
            .into_iter()
            .map(|placed| self.lower(placed))
            .collect::<Result<_, _>>()?;
        let body = Body {
            location: function.location,
            root_stream: function.root_stream,
            num_arguments: function.arguments.len(),
            register_types: function.register_types,
            kernels,
            results: results.iter().map(|register| register.id).collect(),
        };
        self.builder.define_body(function.handle.id, body);
        Ok(())
    }

    /// Returns the bytes of the file, which the verifier accepts.
    ///
    /// # Errors
    /// If a function is not defined, a name contains a zero byte, or a section is too long.
    pub fn finish(self) -> Result<Vec<u8>, BuildError> {
        Ok(self.builder.finish()?)
    }

    fn add(
        &mut self,
        kind: FunctionKind,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<(DeclaredFunction, FunctionBuilder), BuildError> {
        let handle = self.declare(kind, name, arguments, results)?;
        let body = FunctionBuilder::new(handle, kind, name, arguments, results);
        Ok((handle, body))
    }

    fn declare(
        &mut self,
        kind: FunctionKind,
        name: &str,
        arguments: &[DeclaredType],
        results: &[DeclaredType],
    ) -> Result<DeclaredFunction, BuildError> {
        let arguments = handle::indices(self.key, arguments)?;
        let results = handle::indices(self.key, results)?;
        Ok(DeclaredFunction {
            program: self.key,
            id: self
                .builder
                .declare_function(kind, name, arguments, results),
        })
    }

    fn check_results(
        &self,
        function: &FunctionBuilder,
        results: &[Register],
    ) -> Result<(), BuildError> {
        if let Some(&register) = results
            .iter()
            .find(|register| register.function != function.handle)
        {
            return Err(BuildError::ForeignRegister {
                kernel: None,
                register,
            });
        }
        let found = results.iter().map(|register| register.ty);
        if !found.clone().eq(function.results.iter().copied()) {
            return Err(BuildError::ResultTypes {
                function: function.name.clone(),
                expected: self.spell(function.results.iter().copied()),
                found: self.spell(found),
            });
        }
        if function.kind == FunctionKind::Sync {
            let is_argument = |register: &Register| function.arguments.contains(register);
            let mut sorted: Vec<RegisterId> = results.iter().map(|register| register.id).collect();
            sorted.sort_unstable();
            let is_twice = |register: &Register| {
                let after = sorted.partition_point(|&id| id <= register.id);
                after >= 2 && sorted[after - 2] == register.id
            };
            if let Some(&register) = results
                .iter()
                .find(|register| is_argument(register) || is_twice(register))
            {
                return Err(BuildError::SharedResult {
                    function: function.name.clone(),
                    register,
                });
            }
        }
        Ok(())
    }

    /// Adds everything that the kernel refers to to the tables.
    fn lower(
        &mut self,
        placed: function::PlacedKernel,
    ) -> Result<crate::write::BodyKernel, BuildError> {
        let function::PlacedKernel { kernel, results } = placed;
        let code = self.builder.add_kernel_name(&kernel.name);
        let mut lowered = crate::write::BodyKernel {
            location: kernel.location,
            stream: kernel.stream,
            flags: kernel.flags,
            operands: kernel.operands.iter().map(|register| register.id).collect(),
            results,
            ..crate::write::BodyKernel::new(code)
        };
        for (name, reference) in kernel.attributes {
            match reference {
                Reference::Value(value) => {
                    let value = self.builder.add_attribute(value)?;
                    lowered
                        .attributes
                        .push(crate::write::KernelAttribute { name, value });
                }
                Reference::Function(function) => {
                    lowered.functions.push(function.id);
                }
                Reference::FunctionList(functions) => {
                    self.builder.add_attribute_name(&name);
                    lowered
                        .functions
                        .extend(functions.iter().map(|function| function.id));
                }
            }
        }
        lowered
            .functions
            .extend(kernel.regions.iter().map(|region| region.id));
        Ok(lowered)
    }

    fn spell(&self, types: impl Iterator<Item = DeclaredType>) -> Vec<String> {
        let spelling = |index: TypeNameId| self.spellings.get(index.index()).cloned();
        types
            .map(|ty| spelling(ty.index).unwrap_or_default())
            .collect()
    }
}
