//! Ops with domains of their own, which other crates register.
//!
//! ```text
//!  #[onnx_op] ──inventory──► OnnxOp ─┐
//!  kernel library ──extension──────► OnnxOps ──find(domain, name, version)──► what a node becomes
//! ```
//!
//! A kernel library has its own copy of this crate. Its ops pass to the program as text, one op in
//! each record: see [`extension`]. A function cannot be a part of it: an importer works on types
//! that the copies of this crate do not share. So an importer of a library is known, but refused
//! where a node needs it.

use std::fmt;

use tfrt_async::{AnyRef, ByteString};
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::library::{LibraryExtension, LoadedLibrary};
use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::Value;
use tfrt_ods::SourcePlace;
use tfrt_support::nearest::nearest;

use crate::import::onnx_call::OnnxCall;

/// Imports a node: emits ops, and returns the results of the node.
pub type OnnxFunction = fn(&mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError>;

/// An op with a domain of its own, as [`#[onnx_op]`](macro@crate::onnx_op) registers it.
///
/// ```
/// use tfrt_onnx::{OnnxLowering, OnnxOp, OnnxOps};
/// use tfrt_ods::SourcePlace;
///
/// let frob = OnnxOp {
///     domain: "com.example",
///     name: "Frob",
///     since: 1,
///     lowering: OnnxLowering::Op("my.Frob"),
///     place: SourcePlace { file: file!(), line: line!() },
/// };
/// let mut ops = OnnxOps::new();
/// ops.add(frob);
/// assert_eq!(ops.names().collect::<Vec<_>>(), ["com.example.Frob"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnnxOp {
    /// The domain, which is not ONNX's own.
    pub domain: &'static str,
    /// The name in the domain.
    pub name: &'static str,
    /// The version of the domain since which this is the meaning of the op.
    pub since: i64,
    /// What a node becomes.
    pub lowering: OnnxLowering,
    /// Where it is registered.
    pub place: SourcePlace,
}

inventory::collect!(OnnxOp);

inventory::submit!(EXTENSION);

/// What a node of an [`OnnxOp`] becomes.
///
/// ```
/// use tfrt_import::ImportError;
/// use tfrt_import::program::Value;
/// use tfrt_onnx::{OnnxCall, OnnxLowering};
///
/// fn identity(call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
///     Ok(vec![call.operand(0)?])
/// }
///
/// let lowering = OnnxLowering::Function(identity);
/// assert!(matches!(lowering, OnnxLowering::Function(_)));
/// ```
#[derive(Clone, Copy)]
pub enum OnnxLowering {
    /// A call of the op with this name, with the results of the node and its attributes, by name:
    /// integers as `i64`, numbers as `f32`, texts as `&str`, lists of integers as `&[i64]`, and
    /// lists of numbers as `&[f32]`. Empty lists are left out, and attributes of other types are
    /// errors. If an operand is omitted and others follow it, the present ones are passed, and
    /// their indices as the attribute `slots`, which is `&[i64]`.
    Op(&'static str),
    /// What a function makes of it.
    Function(OnnxFunction),
}

impl fmt::Debug for OnnxLowering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Op(name) => f.debug_tuple("Op").field(name).finish(),
            Self::Function(_) => f.debug_struct("Function").finish_non_exhaustive(),
        }
    }
}

/// The ops with domains of their own that an import knows.
///
/// ```
/// use tfrt_host::kernel::KernelRegistry;
/// use tfrt_onnx::OnnxOps;
/// use tfrt_onnx::import::Options;
///
/// // What is linked, and what the kernel libraries of a host bring along.
/// let kernels = KernelRegistry::from_link()?;
/// let mut options = Options::default();
/// options.ops = OnnxOps::of_kernels(&kernels);
/// # Ok::<(), tfrt_host::kernel::DuplicateKernels>(())
/// ```
#[derive(Clone, Debug)]
pub struct OnnxOps(Vec<KnownOp>);

/// An op, from this copy of the crate or from that of a kernel library.
#[derive(Clone, Debug)]
pub(crate) struct KnownOp {
    domain: String,
    name: String,
    pub(crate) since: i64,
    pub(crate) lowering: KnownLowering,
    pub(crate) place: String,
}

#[derive(Clone, Debug)]
pub(crate) enum KnownLowering {
    Op(String),
    Function(OnnxFunction),
    /// A function of the kernel library with this path.
    FunctionOfLibrary(String),
}

/// The [linked](Self::linked) ops.
impl Default for OnnxOps {
    fn default() -> Self {
        Self::linked()
    }
}

impl OnnxOps {
    /// Returns no ops.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the ops that are linked.
    #[must_use]
    pub fn linked() -> Self {
        let mut ops = Self::new();
        for op in inventory::iter::<OnnxOp> {
            ops.add(*op);
        }
        ops
    }

    /// Returns the ops that are linked, and those of the kernel libraries of a registry.
    #[must_use]
    pub fn of_kernels(kernels: &KernelRegistry) -> Self {
        let mut ops = Self::linked();
        for library in kernels.libraries() {
            ops.add_library(library);
        }
        ops
    }

    /// Adds an op. Two of one domain, name and version are an error where a node needs one of them.
    pub fn add(&mut self, op: OnnxOp) {
        self.0.push(KnownOp {
            domain: op.domain.to_owned(),
            name: op.name.to_owned(),
            since: op.since,
            lowering: match op.lowering {
                OnnxLowering::Op(name) => KnownLowering::Op(name.to_owned()),
                OnnxLowering::Function(function) => KnownLowering::Function(function),
            },
            place: format!("{}:{}", op.place.file, op.place.line),
        });
    }

    fn add_library(&mut self, library: &LoadedLibrary) {
        let items = library.extension(EXTENSION.name);
        let Some(text) = items.as_ref().and_then(AnyRef::get::<ByteString>) else {
            return;
        };
        let path = library.path().to_string_lossy();
        for op in decoded(&String::from_utf8_lossy(text.as_bytes()), &path) {
            // A crate that is linked into both is known already.
            let is_linked = |known: &KnownOp| known.key() == op.key() && known.place == op.place;
            if !self.0.iter().any(is_linked) {
                self.0.push(op);
            }
        }
    }

    /// Returns the names of the ops with their domains, sorted.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let mut names: Vec<String> = self.0.iter().map(KnownOp::qualified).collect();
        names.sort();
        names.dedup();
        names.into_iter()
    }

    /// Returns the names of a domain that are most similar to `name`, with the domain.
    pub(crate) fn nearest(&self, domain: &str, name: &str) -> Vec<String> {
        let known = self.0.iter().filter(|op| op.domain == domain);
        let mut known: Vec<&str> = known.map(|op| op.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let near = nearest(name, known).into_iter();
        near.map(|name| format!("{domain}.{name}")).collect()
    }

    /// Returns the version since which an op exists, if it is known.
    pub(crate) fn first_version(&self, domain: &str, name: &str) -> Option<i64> {
        self.versions(domain, name).map(|op| op.since).min()
    }

    /// Returns the op that a version of a domain means: that with the greatest version not above
    /// it.
    ///
    /// # Errors
    /// If it is registered twice.
    pub(crate) fn find(
        &self,
        domain: &str,
        name: &str,
        version: i64,
    ) -> Result<Option<&KnownOp>, ImportError> {
        let meant = self.versions(domain, name);
        let meant = meant.filter(|op| op.since <= version);
        let Some(newest) = meant.clone().map(|op| op.since).max() else {
            return Ok(None);
        };
        let mut meant: Vec<&KnownOp> = meant.filter(|op| op.since == newest).collect();
        // The order of registrations differs from one linking to the next.
        meant.sort_by(|a, b| a.place.cmp(&b.place));
        match meant[..] {
            [first, second, ..] => Err(ImportError::new(format!(
                "version {newest} of the operator `{}` is registered twice: at {} and at {}",
                shown(&first.qualified()),
                first.place,
                second.place
            ))),
            _ => Ok(meant.first().copied()),
        }
    }

    fn versions(&self, domain: &str, name: &str) -> impl Iterator<Item = &KnownOp> + Clone {
        let ops = self.0.iter();
        ops.filter(move |op| (op.domain.as_str(), op.name.as_str()) == (domain, name))
    }
}

impl KnownOp {
    fn key(&self) -> (&str, &str, i64) {
        (&self.domain, &self.name, self.since)
    }

    /// Returns the name with the domain.
    fn qualified(&self) -> String {
        format!("{}.{}", self.domain, self.name)
    }
}

/// Separates the fields of a record. No name has control characters.
const FIELD: char = '\u{1f}';

/// Separates records.
const RECORD: char = '\u{1e}';

const OP: &str = "op";

const FUNCTION: &str = "function";

/// What a kernel library brings along: for each op that is linked into it domain, name, version,
/// place, kind, and the name of our op if it is one. The name has the version of the form.
const EXTENSION: LibraryExtension = LibraryExtension {
    name: "ONNX ops, form 1",
    layouts: &[],
    items: || {
        AnyRef::available(ByteString::from(encoded(
            inventory::iter::<OnnxOp>.into_iter(),
        )))
    },
};

fn encoded<'o>(ops: impl Iterator<Item = &'o OnnxOp>) -> String {
    let records = ops.map(|op| {
        let since = op.since.to_string();
        let place = format!("{}:{}", op.place.file, op.place.line);
        let (kind, name) = match op.lowering {
            OnnxLowering::Op(name) => (OP, name),
            OnnxLowering::Function(_) => (FUNCTION, ""),
        };
        [op.domain, op.name, &since, &place, kind, name].join(&FIELD.to_string())
    });
    let records: Vec<String> = records.collect();
    records.join(&RECORD.to_string())
}

/// Returns the ops of the library at `path`.
fn decoded(text: &str, path: &str) -> Vec<KnownOp> {
    let records = text.split(RECORD).filter_map(|record| {
        let mut fields = record.split(FIELD);
        let mut field = || fields.next().map(str::to_owned);
        Some(KnownOp {
            domain: field()?,
            name: field()?,
            since: field()?.parse().ok()?,
            place: field()?,
            lowering: match (field()?.as_str(), field()?) {
                (OP, name) => KnownLowering::Op(name),
                _ => KnownLowering::FunctionOfLibrary(path.to_owned()),
            },
        })
    });
    records.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn op(since: i64, line: u32) -> OnnxOp {
        OnnxOp {
            domain: "com.example",
            name: "Frob",
            since,
            lowering: OnnxLowering::Op("my.Frob"),
            place: SourcePlace {
                file: "ops.rs",
                line,
            },
        }
    }

    fn ops(all: &[OnnxOp]) -> OnnxOps {
        let mut ops = OnnxOps::new();
        all.iter().for_each(|op| ops.add(*op));
        ops
    }

    #[test]
    fn ops_of_a_library_pass_as_text() {
        fn importer(_call: &mut OnnxCall<'_>) -> Result<Vec<Value>, ImportError> {
            Ok(Vec::new())
        }
        let function = OnnxOp {
            name: "Twist",
            lowering: OnnxLowering::Function(importer),
            ..op(2, 9)
        };
        let text = encoded([op(1, 3), function].iter());
        let found = decoded(&text, "libmine.so");
        let shown: Vec<String> = found.iter().map(|op| format!("{op:?}")).collect();
        assert_eq!(
            shown,
            [
                "KnownOp { domain: \"com.example\", name: \"Frob\", since: 1, \
                 lowering: Op(\"my.Frob\"), place: \"ops.rs:3\" }",
                "KnownOp { domain: \"com.example\", name: \"Twist\", since: 2, \
                 lowering: FunctionOfLibrary(\"libmine.so\"), place: \"ops.rs:9\" }",
            ]
        );
        assert!(decoded(&encoded([].iter()), "libmine.so").is_empty());
    }

    #[test]
    fn a_version_means_the_greatest_that_is_not_above_it() {
        let ops = ops(&[op(4, 1), op(2, 2), op(7, 3)]);
        let since = |version| {
            let found = ops.find("com.example", "Frob", version).unwrap();
            found.map(|op| op.since)
        };
        assert_eq!(
            [1, 2, 3, 4, 6, 9].map(since),
            [None, Some(2), Some(2), Some(4), Some(4), Some(7)]
        );
        assert_eq!(ops.first_version("com.example", "Frob"), Some(2));
        assert_eq!(ops.first_version("com.other", "Frob"), None);
    }

    #[test]
    fn an_op_that_is_registered_twice_is_told_of_with_both_places() {
        let ops = ops(&[op(2, 8), op(1, 1), op(2, 5)]);
        let found = |version| ops.find("com.example", "Frob", version).map(drop);
        assert_eq!(found(1), Ok(()));
        assert_eq!(
            found(2).unwrap_err().to_string(),
            "version 2 of the operator `com.example.Frob` is registered twice: at ops.rs:5 and at \
             ops.rs:8"
        );
    }
}
