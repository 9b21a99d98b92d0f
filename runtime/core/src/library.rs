//! The ops of kernel libraries.
//!
//! A library collects its ops in its own copy of this crate; a program gets them as a value. The
//! functions of such an op are called by [code of the library](OpCode), which alone can catch their
//! panics.

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_host::kernel::library::{LibraryExtension, LoadedLibrary};

use crate::attrs::OpAttrs;
use crate::code::{OF_THIS_COPY, OpCode};
use crate::identity;
use crate::metadata::partial::PartialMetadata;
use crate::op::{OpCall, OpQuery, OpRegistration, PartialQuery, ResultMetadata};
use crate::registry::RegisteredOp;

const NAME: &str = "registered ops";

/// The ops that are linked into a copy of this crate.
struct LinkedOps {
    code: &'static OpCode,
    ops: Vec<OpRegistration>,
}

impl Value for LinkedOps {
    const MLIR_TYPE: &'static str = "!corert.linked_ops";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for LinkedOps {}

const fn layout<T>() -> (usize, usize) {
    (size_of::<T>(), align_of::<T>())
}

tfrt_host::__private::submit! {
    LibraryExtension {
        name: NAME,
        layouts: &[
            layout::<LinkedOps>(),
            layout::<OpCode>(),
            layout::<OpRegistration>(),
            layout::<RegisteredOp>(),
            layout::<OpCall<'_>>(),
            layout::<OpQuery<'_>>(),
            layout::<PartialQuery<'_>>(),
            layout::<OpAttrs>(),
            layout::<ResultMetadata>(),
            layout::<PartialMetadata>(),
        ],
        items: || AnyRef::available(LinkedOps {
            code: &OF_THIS_COPY,
            ops: OpRegistration::linked().copied().collect(),
        }),
    }
}

/// Returns the ops of a library, and the code that calls their functions. Ops that are linked into
/// the program, too, are not among them.
pub(crate) fn ops_of(library: &LoadedLibrary) -> Vec<(OpRegistration, &'static OpCode)> {
    let items = library.extension(NAME);
    let Some(linked) = items.as_ref().and_then(AnyRef::get::<LinkedOps>) else {
        return Vec::new();
    };
    let is_of_program = |op: &&OpRegistration| {
        let key = |op: &OpRegistration| (op.name, op.device_type, op.place.file, op.place.line);
        OpRegistration::linked().any(|own| key(own) == key(op))
    };
    let brought = linked.ops.iter().filter(|op| !is_of_program(op));
    brought.map(|op| (*op, linked.code)).collect()
}
