//! The ids of the parts of a function body.

use tfrt_support::define_id;

define_id! {
    /// A kernel of a body. The ids follow the order in which the kernels run if that is known, and
    /// program order otherwise.
    pub(crate) struct KernelId("kernel");
}

define_id! {
    /// A register of a body. Argument `i` is register `i`.
    pub(crate) struct RegisterId("register");
}

define_id! {
    /// A stream: kernels of one stream prefer to run one after another on one thread.
    pub(crate) struct StreamId("stream");
}
