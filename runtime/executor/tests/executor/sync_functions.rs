//! Synchronous functions: how deeply they may nest.

use std::sync::Arc;

use tfrt_bef::write::{BefBuilder, Body, BodyKernel, WriteOptions};
use tfrt_bef::{BefFile, FunctionKind};
use tfrt_executor::Program;
use tfrt_host::kernel::{KernelDescriptor, KernelFrame, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::ErrorCode;

use crate::support::alone;

static CALL: OpDef = OpDef {
    traits: OpTraits::SYNC,
    ..OpDef::new("test.call_s")
};

fn run_call(frame: &mut KernelFrame<'_>) {
    let called = frame
        .function(0)
        .and_then(|function| function.execute_sync(frame.exec_ctx(), &[], &mut []));
    if let Err(error) = called {
        frame.report_error(error);
    }
}

/// A program with `nothing`, which does nothing, and `forever`, which calls itself.
fn program() -> (Arc<HostContext>, Arc<Program>) {
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    let call = builder.add_kernel_name(CALL.name);
    let empty = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![],
        kernels: vec![],
        results: vec![],
    };
    let nothing = builder.declare_function(FunctionKind::Sync, "nothing", vec![], vec![]);
    builder.define_body(nothing, empty.clone());
    let forever = builder.declare_function(FunctionKind::Sync, "forever", vec![], vec![]);
    let itself = BodyKernel {
        functions: vec![forever],
        ..BodyKernel::new(call)
    };
    builder.define_body(
        forever,
        Body {
            kernels: vec![itself],
            ..empty
        },
    );
    let file = BefFile::from_bytes(&builder.finish().expect("the bodies are well formed"));
    let mut registry = KernelRegistry::new();
    registry
        .add(KernelDescriptor::raw(&CALL, run_call))
        .expect("it is the only one");
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let program = Program::load(&host, &file).expect("the kernel exists");
    (host, program)
}

#[test]
fn calls_around_a_synchronous_function_are_not_its_nesting() {
    let _alone = alone();
    let (host, program) = program();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let deep = (0..1000).fold(ctx, |ctx, _| ctx.for_callee(Arc::clone(&program) as _));
    let nothing = program.function("nothing").expect("the file has it");
    assert!(nothing.execute_sync(&deep, &[], &mut []).is_ok());
}

#[test]
fn a_synchronous_function_that_calls_itself_is_stopped() {
    let _alone = alone();
    let (host, program) = program();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let forever = program.function("forever").expect("the file has it");
    for _ in 0..2 {
        let error = forever.execute_sync(&ctx, &[], &mut []);
        let error = error.expect_err("it never ends");
        assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        assert_eq!(
            error.message(),
            "calls of synchronous functions are nested more than 256 levels deep"
        );
    }
}
