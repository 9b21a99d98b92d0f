//! The declarations that text is read against: ops by name, and facts of dialects.

use std::collections::{HashMap, HashSet};
use std::fmt;

use tfrt_ods::OpDef;
use tfrt_ods::dialect::DialectDef;
use tfrt_ods::format::{Format, FormatError};
use tfrt_support::nearest::nearest;

/// The ops and dialects that a program may use. There is no global registry: each tool collects them and passes them on.
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
#[derive(Debug, Default)]
pub struct Registry {
    ops: HashMap<&'static str, RegisteredOp>,
    dialects: HashMap<&'static str, DialectDef>,
    op_dialects: HashSet<&'static str>,
}

/// An op of a [`Registry`]: its declaration, and its custom syntax made ready.
#[derive(Debug)]
pub struct RegisteredOp {
    /// The declaration.
    pub def: &'static OpDef,
    /// The custom syntax, if it has one.
    pub format: Option<Format>,
}

impl Registry {
    /// A registry of these ops and dialects. A dialect is also known through its ops.
    ///
    /// # Errors
    /// If a name is declared twice, or an assembly format is not well formed.
    pub fn new(
        ops: impl IntoIterator<Item = &'static OpDef>,
        dialects: impl IntoIterator<Item = DialectDef>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for def in ops {
            registry.add_op(def)?;
        }
        for dialect in dialects {
            if registry.dialects.insert(dialect.name, dialect).is_some() {
                return Err(RegistryError::DuplicateDialect(dialect.name));
            }
        }
        Ok(registry)
    }

    fn add_op(&mut self, def: &'static OpDef) -> Result<(), RegistryError> {
        let format = match def.assembly_format {
            Some(_) => Some(Format::parse(def).map_err(|error| RegistryError::Format {
                op: def.name,
                error,
            })?),
            None => None,
        };
        self.op_dialects.insert(def.dialect());
        match self.ops.insert(def.name, RegisteredOp { def, format }) {
            Some(first) => Err(RegistryError::DuplicateOp {
                first: first.def,
                second: def,
            }),
            None => Ok(()),
        }
    }

    /// The op of this name.
    #[must_use]
    pub fn op(&self, name: &str) -> Option<&RegisteredOp> {
        self.ops.get(name)
    }

    /// What a program may have meant by `name`: the names of ops and of built-in forms that are closest, nearest first.
    #[must_use]
    pub fn suggest(&self, name: &str) -> Vec<&str> {
        nearest(name, self.ops.keys().copied().chain(["func", "module"]))
    }

    /// The declaration of a dialect, if there is one.
    #[must_use]
    pub fn dialect(&self, name: &str) -> Option<&DialectDef> {
        self.dialects.get(name)
    }

    /// Whether facts of the dialect are stated, or one of its ops is declared.
    #[must_use]
    pub fn knows_dialect(&self, name: &str) -> bool {
        name == "builtin" || self.dialects.contains_key(name) || self.op_dialects.contains(name)
    }

    /// The ops, in no order.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.ops.values().map(|op| op.def)
    }

    /// The names of the dialects whose facts are stated, and that tools list, in ascending byte order.
    #[must_use]
    pub fn dialect_names(&self) -> Vec<&'static str> {
        let listed = self.dialects.values().filter(|dialect| dialect.is_listed);
        let mut names: Vec<_> = listed.map(|dialect| dialect.name).collect();
        names.sort_unstable();
        names
    }
}

/// Why there is no [`Registry`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two declarations have one name.
    DuplicateOp {
        /// The one that came first.
        first: &'static OpDef,
        /// The other one.
        second: &'static OpDef,
    },
    /// The facts of a dialect are stated twice.
    DuplicateDialect(&'static str),
    /// The assembly format of an op is not well formed.
    Format {
        /// The op.
        op: &'static str,
        /// What is wrong with it.
        error: FormatError,
    },
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
            Self::DuplicateDialect(name) => write!(f, "dialect `{name}` is stated twice"),
            Self::Format { op, error } => write!(f, "assembly format of `{op}`: {error}"),
        }
    }
}

impl std::error::Error for RegistryError {}

tfrt_support::convert_errors!(RegistryError);
