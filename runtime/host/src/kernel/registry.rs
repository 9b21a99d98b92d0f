//! The registry: kernels, declarations and native functions by name.
//!
//! `#[tfrt_kernel]` registers kernels at link time; [`KernelRegistry::from_link`] collects those
//! that were linked. A registry can also be filled explicitly. Names are resolved once, when a file
//! is loaded.

use std::fmt;
use std::sync::{Arc, LazyLock};

use tfrt_ods::{OpDef, OpTable, SourcePlace};
use tfrt_support::name_table::{NameTable, Named};
use tfrt_support::nearest::nearest;

use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::library::loaded::LoadedLibrary;
use crate::kernel::native::NativeFunction;
use crate::kernel::registration::{DeclaredOps, KernelRegistration, KernelSet};
use crate::services::host::{HostContext, HostContextBuilder};

/// All kernels that programs can name.
///
/// ```
/// use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
/// use tfrt_ods::OpDef;
///
/// static OP: OpDef = OpDef::new("my.noop");
///
/// let mut registry = KernelRegistry::new();
/// registry.add(KernelDescriptor::raw(&OP, |_frame| ()))?;
/// assert!(registry.get("my.noop").is_some());
/// assert_eq!(registry.suggest("my.nop"), ["my.noop"]);
/// # Ok::<(), tfrt_host::kernel::DuplicateKernels>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelRegistry {
    ops: NameTable<Op>,
    natives: NameTable<NativeFunction>,
    libraries: Vec<LoadedLibrary>,
}

/// An op, and its kernel if it has one.
#[derive(Clone, Debug)]
struct Op {
    def: &'static OpDef,
    kernel: OpKernel,
}

/// The kernel of an op.
#[derive(Clone, Debug)]
enum OpKernel {
    None,
    /// One of hundreds that were linked; they are not copied.
    Linked(&'static KernelDescriptor),
    Added(Arc<KernelDescriptor>),
}

impl Op {
    fn kernel(&self) -> Option<&KernelDescriptor> {
        match &self.kernel {
            OpKernel::None => None,
            OpKernel::Linked(kernel) => Some(kernel),
            OpKernel::Added(kernel) => Some(kernel),
        }
    }
}

impl Named for Op {
    fn name(&self) -> &'static str {
        self.def.name
    }
}

impl Default for KernelRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ops: NameTable::new(),
            natives: NameTable::new(),
            libraries: Vec::new(),
        }
    }

    /// Creates a registry of everything that was linked.
    ///
    /// # Errors
    /// Lists all names that were registered more than once.
    pub fn from_link() -> Result<Self, DuplicateKernels> {
        let mut registry = Self::new();
        let kernels = || inventory::iter::<KernelRegistration>.into_iter();
        let ops = || inventory::iter::<DeclaredOps>.into_iter();
        let natives = inventory::iter::<NativeFunction>.into_iter();
        let num_kernels = kernels().map(|registration| registration.kernels().len());
        let num_ops = ops().map(|registration| registration.0.len());
        registry.ops.reserve(num_kernels.chain(num_ops).sum());
        registry.add_many(
            kernels().flat_map(KernelRegistration::kernels),
            ops().flat_map(|registration| registration.0.iter().copied()),
            natives.copied(),
        )?;
        Ok(registry)
    }

    /// Adds the items collected at link time.
    ///
    /// # Errors
    /// Lists all names that are taken; everything else was added.
    pub(crate) fn add_many(
        &mut self,
        kernels: impl Iterator<Item = &'static KernelDescriptor>,
        ops: impl Iterator<Item = &'static OpDef>,
        natives: impl Iterator<Item = NativeFunction>,
    ) -> Result<(), DuplicateKernels> {
        // The linker determines the order of collection. Messages are sorted so they do not depend
        // on it.
        let mut duplicates: Vec<Duplicate> = Vec::new();
        let mut note = |added: Result<(), DuplicateKernels>| {
            if let Err(DuplicateKernels(added)) = added {
                for duplicate in added {
                    let index = duplicates.partition_point(|other| *other <= duplicate);
                    duplicates.insert(index, duplicate);
                }
            }
        };
        kernels.for_each(|kernel| {
            note(self.add_entry(kernel.op(), OpKernel::Linked(kernel)));
        });
        ops.for_each(|op| note(self.add_op(op)));
        natives.for_each(|native| note(self.add_native(native)));
        if duplicates.is_empty() {
            return Ok(());
        }
        Err(DuplicateKernels(duplicates))
    }

    /// Adds a kernel and its declaration.
    ///
    /// # Errors
    /// If the name is taken; the registry is then unchanged.
    pub fn add(&mut self, kernel: KernelDescriptor) -> Result<(), DuplicateKernels> {
        self.add_entry(kernel.op(), OpKernel::Added(Arc::new(kernel)))
    }

    /// Adds all instances of a function marked with `#[tfrt_kernel]`; its option `kernel_set` names
    /// the type.
    ///
    /// # Errors
    /// If one of the names is taken; the instances before it stay.
    pub fn add_all<S: KernelSet>(&mut self) -> Result<(), DuplicateKernels> {
        let mut kernels = S::KERNELS.iter();
        kernels.try_for_each(|kernel| self.add_entry(kernel.op(), OpKernel::Linked(kernel)))
    }

    /// Adds a declaration that has no kernel.
    ///
    /// # Errors
    /// If the name is taken; the registry is then unchanged.
    #[doc(hidden)]
    pub fn add_op(&mut self, op: &'static OpDef) -> Result<(), DuplicateKernels> {
        self.add_entry(op, OpKernel::None)
    }

    fn add_entry(&mut self, def: &'static OpDef, kernel: OpKernel) -> Result<(), DuplicateKernels> {
        self.ops.add(Op { def, kernel }).map_err(|taken| {
            let places = [def.place, taken.def.place];
            DuplicateKernels(vec![Duplicate::new(def.name, places)])
        })
    }

    /// Adds a native function.
    ///
    /// # Errors
    /// If the name is taken; the registry is then unchanged.
    pub fn add_native(&mut self, native: NativeFunction) -> Result<(), DuplicateKernels> {
        self.natives.add(native).map_err(|taken| {
            let places = [native.place, taken.place];
            DuplicateKernels(vec![Duplicate::new(native.name, places)])
        })
    }

    /// Returns the kernel with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&KernelDescriptor> {
        self.ops.get(name)?.kernel()
    }

    /// Returns the declaration with this name, whether it has a kernel or not.
    #[must_use]
    pub fn op(&self, name: &str) -> Option<&'static OpDef> {
        self.ops.get(name).map(|op| op.def)
    }

    /// Returns the native function with this name.
    #[must_use]
    pub fn native(&self, name: &str) -> Option<&NativeFunction> {
        self.natives.get(name)
    }

    /// Returns the names of kernels that are most similar to `name`, closest first.
    #[must_use]
    pub fn suggest(&self, name: &str) -> Vec<&'static str> {
        let kernels = self.ops.entries().iter().filter_map(Op::kernel);
        nearest(name, kernels.map(KernelDescriptor::name))
    }

    /// Returns the kernels, sorted by name.
    pub fn kernels(&self) -> impl Iterator<Item = &KernelDescriptor> {
        self.ops.sorted().filter_map(Op::kernel)
    }

    /// Returns all declarations, sorted by name.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> {
        self.ops.sorted().map(|op| op.def)
    }

    /// Returns the libraries that were loaded into the registry, in load order.
    #[must_use]
    pub fn libraries(&self) -> &[LoadedLibrary] {
        &self.libraries
    }

    /// Adds a library whose kernels were added.
    pub(crate) fn add_library(&mut self, library: LoadedLibrary) -> &LoadedLibrary {
        self.libraries.push_mut(library)
    }

    /// Returns the dialects that have kernels, sorted: they show which libraries are linked.
    #[must_use]
    pub fn dialects(&self) -> Vec<&'static str> {
        let mut dialects = Vec::new();
        for kernel in self.ops.entries().iter().filter_map(Op::kernel) {
            let dialect = kernel.op().dialect();
            if let Err(index) = dialects.binary_search(&dialect) {
                dialects.insert(index, dialect);
            }
        }
        dialects
    }
}

/// The declarations, in the order in which they were added.
impl OpTable for KernelRegistry {
    fn num_ops(&self) -> usize {
        self.ops.entries().len()
    }

    fn op_at(&self, position: usize) -> &'static OpDef {
        self.ops.entries()[position].def
    }

    fn position_of_op(&self, name: &str) -> Option<usize> {
        self.ops.position(name)
    }
}

/// The kernels of a host, which keeps them as an object: services do not know kernels.
impl HostContextBuilder {
    /// Sets the kernels; the default is none.
    #[must_use]
    pub fn registry(self, registry: Arc<KernelRegistry>) -> Self {
        self.kernels(Box::new(registry))
    }
}

impl HostContext {
    /// Returns the kernels that programs may use.
    #[must_use]
    pub fn registry(&self) -> &Arc<KernelRegistry> {
        static NONE: LazyLock<Arc<KernelRegistry>> = LazyLock::new(Arc::default);
        match self.kernels() {
            Some(kernels) => kernels
                .downcast_ref()
                .expect("only `HostContextBuilder::registry` sets the kernels"),
            None => &NONE,
        }
    }
}

/// Names that were registered more than once.
///
/// Displays one line for each, with the places of both declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKernels(Vec<Duplicate>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Duplicate {
    name: &'static str,
    /// As `file:line`, sorted.
    places: [String; 2],
}

impl Duplicate {
    fn new(name: &'static str, places: [SourcePlace; 2]) -> Self {
        let [one, other] = places.map(|place| format!("{}:{}", place.file, place.line));
        let places = if one <= other {
            [one, other]
        } else {
            [other, one]
        };
        Self { name, places }
    }
}

impl fmt::Display for DuplicateKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            index,
            Duplicate {
                name,
                places: [first, second],
            },
        ) in self.0.iter().enumerate()
        {
            let separator = if index == 0 { "" } else { "\n" };
            write!(
                f,
                "{separator}`{name}` is registered twice: at {first} and at {second}"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for DuplicateKernels {}

tfrt_support::convert_errors!(DuplicateKernels);
