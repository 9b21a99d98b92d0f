//! Markers of context parameters.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use std::sync::Arc;

use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;
use crate::services::execution::ExecutionContext;
use crate::services::host::HostContext;
use crate::services::request::RequestContext;
use tfrt_support::Error;

macro_rules! impl_context_param {
    ($($(#[$meta:meta])* $marker:ident: $argument:ty = |$ctx:ident| $make:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $marker;

        impl Sealed for $marker {}

        impl Param for $marker {
            type Held<'f> = &'f ExecutionContext;
            type Argument<'h, 'f> = $argument;
            const IS_DIRECT: bool = true;
            const READS_CALL: bool = true;
            const READS_FILE: bool = false;

            #[inline]
            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                Ok(source.exec_ctx())
            }

            #[inline]
            fn lend<'h, 'f>(held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
                let $ctx: &'f ExecutionContext = held;
                $make
            }

            fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
                Ok(())
            }

            fn describe(_operands: &mut TypeList) {}
        }
    )*};
}

impl_context_param! {
    /// `&ExecutionContext`.
    Execution: &'f ExecutionContext = |ctx| ctx;
    /// `ExecutionContext`.
    OwnedExecution: ExecutionContext = |ctx| ctx.clone();
    /// `&HostContext`.
    Host: &'f HostContext = |ctx| ctx.host();
    /// `&Arc<HostContext>`.
    SharedHost: &'f Arc<HostContext> = |ctx| ctx.host();
    /// `Arc<HostContext>`.
    OwnedHost: Arc<HostContext> = |ctx| Arc::clone(ctx.host());
    /// `&RequestContext`.
    Request: &'f RequestContext = |ctx| ctx.request();
    /// `&Arc<RequestContext>`.
    SharedRequest: &'f Arc<RequestContext> = |ctx| ctx.request();
    /// `Arc<RequestContext>`.
    OwnedRequest: Arc<RequestContext> = |ctx| Arc::clone(ctx.request());
}
