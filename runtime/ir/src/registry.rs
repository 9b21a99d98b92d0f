//! The declarations that text is parsed against: ops by name, and properties of dialects.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use tfrt_ods::DialectDef;
use tfrt_ods::format::Format;
use tfrt_ods::{DeclarationError, OpDef, OpTable};
use tfrt_support::name_table::{NameTable, Named};
use tfrt_support::nearest::nearest;

/// The ops and dialects that a program may use. There is no global registry: each tool collects
/// them and passes them on.
///
/// A registry contains hundreds of ops, of which a program uses few. So it shares the table of
/// whoever collected them ([`of_table`](Self::of_table)), and an op costs something only when a
/// program first uses it: then its entry is created, and its custom syntax is parsed when it is
/// first read or printed.
///
/// ```
/// use tfrt_ir::Registry;
/// use tfrt_ods::OpDef;
///
/// static NOP: OpDef = OpDef { assembly_format: Some("attr-dict"), ..OpDef::new("my.nop") };
/// let registry = Registry::new([&NOP], [])?;
/// assert!(registry.op("my.nop").is_some() && registry.op("my.other").is_none());
/// # Ok::<(), tfrt_ir::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Registry {
    ops: Arc<dyn OpTable>,
    /// The entries of the ops that were looked up, by the position of the op.
    entries: Box<[OnceLock<Box<OpEntry>>]>,
    dialects: HashMap<&'static str, DialectDef>,
    /// The hand-written custom forms, by the name of the op. They work on programs, which refer to
    /// the registry; so it keeps them as objects, whose type is known where they are added and
    /// looked up.
    pub(crate) syntaxes: HashMap<&'static str, &'static (dyn Any + Send + Sync)>,
    /// The dialects of all ops. Collected on first use.
    op_dialects: OnceLock<HashSet<&'static str>>,
}

/// An op of a [`Registry`]: its declaration and its custom syntax.
#[derive(Debug)]
pub struct OpEntry {
    def: &'static OpDef,
    format: OnceLock<Result<Box<Format>, DeclarationError>>,
}

impl OpEntry {
    /// Returns the declaration.
    #[must_use]
    pub fn def(&self) -> &'static OpDef {
        self.def
    }

    /// Returns the custom syntax, if the op has one.
    ///
    /// # Errors
    /// If the assembly format is not well formed. The macros that declare ops check it at compile
    /// time; only a declaration written as a constant can be wrong.
    pub fn format(&self) -> Result<Option<&Format>, &DeclarationError> {
        if self.def.assembly_format.is_none() {
            return Ok(None);
        }
        let format = self
            .format
            .get_or_init(|| Format::parse(self.def).map(Box::new));
        format.as_ref().map(|format| Some(&**format))
    }
}

/// The ops of a registry that shares no table.
#[derive(Debug, Default)]
struct OwnOps(NameTable<OwnOp>);

#[derive(Debug)]
struct OwnOp(&'static OpDef);

impl Named for OwnOp {
    fn name(&self) -> &'static str {
        self.0.name
    }
}

impl OpTable for OwnOps {
    fn num_ops(&self) -> usize {
        self.0.entries().len()
    }

    fn op_at(&self, position: usize) -> &'static OpDef {
        self.0.entries()[position].0
    }

    fn position_of_op(&self, name: &str) -> Option<usize> {
        self.0.position(name)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::of_ops(Arc::new(OwnOps::default()))
    }
}

impl Registry {
    /// Creates a registry of these ops and dialects. A dialect is also known through its ops.
    ///
    /// # Errors
    /// If a name is declared twice.
    pub fn new(
        ops: impl IntoIterator<Item = &'static OpDef>,
        dialects: impl IntoIterator<Item = DialectDef>,
    ) -> Result<Self, RegistryError> {
        let mut own = OwnOps::default();
        for def in ops {
            let added = own.0.add(OwnOp(def));
            added.map_err(|first| RegistryError::DuplicateOp {
                first: first.0,
                second: def,
            })?;
        }
        Self::of_table(Arc::new(own), dialects)
    }

    /// Creates a registry of the ops of a table that others share, and of these dialects.
    ///
    /// # Errors
    /// If a dialect is declared twice.
    pub fn of_table(
        ops: Arc<dyn OpTable>,
        dialects: impl IntoIterator<Item = DialectDef>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::of_ops(ops);
        for dialect in dialects {
            if registry.dialects.insert(dialect.name, dialect).is_some() {
                return Err(RegistryError::DuplicateDialect(dialect.name));
            }
        }
        Ok(registry)
    }

    fn of_ops(ops: Arc<dyn OpTable>) -> Self {
        let entries = (0..ops.num_ops()).map(|_| OnceLock::new()).collect();
        Self {
            ops,
            entries,
            dialects: HashMap::new(),
            syntaxes: HashMap::new(),
            op_dialects: OnceLock::new(),
        }
    }

    /// Returns the op with this name.
    #[must_use]
    pub fn op(&self, name: &str) -> Option<&OpEntry> {
        let position = self.ops.position_of_op(name)?;
        let entry = self.entries[position].get_or_init(|| {
            Box::new(OpEntry {
                def: self.ops.op_at(position),
                format: OnceLock::new(),
            })
        });
        Some(entry)
    }

    /// Returns the names of ops and built-in forms that are most similar to `name`, closest first.
    #[must_use]
    pub fn suggest(&self, name: &str) -> Vec<&str> {
        nearest(name, self.ops().map(|op| op.name).chain(["func", "module"]))
    }

    /// Returns the declaration of a dialect, if there is one.
    #[must_use]
    pub fn dialect(&self, name: &str) -> Option<&DialectDef> {
        self.dialects.get(name)
    }

    /// Returns `true` if the dialect is declared, or one of its ops is.
    #[must_use]
    pub fn knows_dialect(&self, name: &str) -> bool {
        let of_ops = || {
            self.op_dialects
                .get_or_init(|| self.ops().map(OpDef::dialect).collect())
        };
        name == "builtin" || self.dialects.contains_key(name) || of_ops().contains(name)
    }

    /// Returns the ops, in the order in which they were declared.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        (0..self.ops.num_ops()).map(|position| self.ops.op_at(position))
    }

    /// Returns the names of the declared dialects that tools list, in ascending byte order.
    #[must_use]
    pub fn dialect_names(&self) -> Vec<&'static str> {
        let listed = self.dialects.values().filter(|dialect| dialect.is_listed);
        let mut names: Vec<_> = listed.map(|dialect| dialect.name).collect();
        names.sort_unstable();
        names
    }
}

/// The error for a [`Registry`] that could not be created.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two declarations have the same name.
    DuplicateOp {
        /// The first one.
        first: &'static OpDef,
        /// The other one.
        second: &'static OpDef,
    },
    /// A dialect is declared twice.
    DuplicateDialect(&'static str),
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateOp { first, second } => write!(
                f,
                "op `{}` is declared at {}:{} and again at {}:{}",
                first.name,
                first.place.file,
                first.place.line,
                second.place.file,
                second.place.line
            ),
            Self::DuplicateDialect(name) => write!(f, "dialect `{name}` is declared twice"),
        }
    }
}

impl std::error::Error for RegistryError {}

tfrt_support::convert_errors!(RegistryError);
