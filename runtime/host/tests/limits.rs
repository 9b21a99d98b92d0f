//! Limits of programs: exceeding one is an error with its location, and is reported to the handler
//! once.
#![cfg(not(loom))]

use std::alloc::Layout;
use std::sync::{Arc, Mutex};

use tfrt_host::__runtime::LocationSource;
use tfrt_host::allocator::{FixedSizeAllocator, HostAllocator};
use tfrt_host::{ExecutionContext, HostContext, Limits, RequestContextBuilder};
use tfrt_support::{Error, ErrorCode, Place};

/// A file whose tokens are lines.
#[derive(Debug)]
struct Lines;

impl LocationSource for Lines {
    fn place(&self, token: u32) -> Place {
        Place::file("p.mlir", token, 1)
    }

    fn debug_name(&self, _token: u32) -> Option<String> {
        None
    }
}

/// Creates a host that keeps reported errors, and the context of a kernel in line 7, inside one
/// call.
struct Bench {
    host: Arc<HostContext>,
    told: Arc<Mutex<Vec<String>>>,
    ctx: ExecutionContext,
}

impl Bench {
    fn new(limits: Limits, allocator: Arc<dyn HostAllocator>) -> Self {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let in_handler = Arc::clone(&told);
        let host = HostContext::builder()
            .limits(limits)
            .allocator(allocator)
            .diagnostic_handler(move |error| {
                let mut told = in_handler.lock().expect("no panic under the lock");
                told.push(format!("{}: {}", error.place(), error.message()));
            })
            .build();
        let request = RequestContextBuilder::new(Arc::clone(&host)).build();
        let ctx = ExecutionContext::new(request).for_callee(Arc::new(Lines));
        ctx.set_location_token(7);
        Self { host, told, ctx }
    }

    fn with_limits(limits: Limits) -> Self {
        Self::new(limits, Arc::new(FixedSizeAllocator::new(1024)))
    }

    /// Checks that an error has the code of limits, and that it alone was reported, with this text.
    fn check(&self, refused: Result<(), Error>, expected: &str) {
        let error = refused.expect_err("beyond the limit");
        assert_eq!(error.code(), ErrorCode::ResourceExhausted);
        let told = self.told.lock().expect("no panic under the lock").clone();
        assert_eq!(told, [expected]);
        assert_eq!(format!("{}: {}", error.place(), error.message()), expected);
    }
}

#[test]
fn calls_nested_too_deep_are_told_with_their_place() {
    let bench = Bench::with_limits(Limits {
        max_call_depth: 1,
        ..Limits::default()
    });
    bench.check(
        bench.ctx.enter_invocation(0),
        "p.mlir:7:1: function calls are nested more than 1 levels deep",
    );
}

#[test]
fn too_many_invocations_are_told_with_their_place() {
    let bench = Bench::with_limits(Limits {
        max_live_invocations: 2,
        ..Limits::default()
    });
    for _ in 0..2 {
        bench.ctx.enter_invocation(0).expect("within the limit");
    }
    bench.check(
        bench.ctx.enter_invocation(0),
        "p.mlir:7:1: more than 2 function calls are unfinished",
    );
    bench.host.leave_invocation();
    bench.ctx.enter_invocation(0).expect("there is room again");
}

#[test]
fn too_much_memory_is_told_with_its_place() {
    let limits = Limits {
        max_request_bytes: 100,
        ..Limits::default()
    };
    let bench = Bench::with_limits(limits);
    let refused = bench.ctx.allocate(Layout::new::<[u8; 101]>());
    bench.check(
        refused.map(drop),
        "p.mlir:7:1: the request holds 0 of at most 100 bytes and cannot allocate 101 more",
    );
}

#[test]
fn a_limit_is_told_once_for_each_request() {
    let limits = Limits {
        max_call_depth: 0,
        max_request_bytes: 100,
        ..Limits::default()
    };
    let told = Arc::new(Mutex::new(Vec::new()));
    let handler = Arc::clone(&told);
    let host = HostContext::builder()
        .limits(limits)
        .diagnostic_handler(move |error| handler.lock().unwrap().push(error.message().to_owned()))
        .build();
    for _ in 0..2 {
        let request = RequestContextBuilder::new(Arc::clone(&host)).build();
        let ctx = ExecutionContext::new(request);
        for _ in 0..2 {
            assert!(ctx.enter_invocation(0).is_err());
            assert!(ctx.allocate(Layout::new::<[u8; 101]>()).is_err());
            // A kernel that only knows that there is no memory.
            assert!(
                ctx.allocator()
                    .allocate(Layout::new::<[u8; 102]>())
                    .is_none()
            );
            let error = Error::new("no room").with_code(ErrorCode::ResourceExhausted);
            let error = ctx.emit_error(error);
            assert_eq!(
                error.message(),
                "no room; `a kernel` requested it, and the request already holds 0 of at most 100 \
                 bytes"
            );
        }
        // Errors with another cause are reported as usual.
        ctx.emit_error(Error::new("no room").with_code(ErrorCode::ResourceExhausted));
    }
    let of_a_request = [
        "function calls are nested more than 0 levels deep",
        "the request holds 0 of at most 100 bytes and cannot allocate 101 more",
        "no room",
    ];
    assert_eq!(*told.lock().unwrap(), of_a_request.repeat(2));
}

#[test]
fn a_host_without_memory_is_told_with_its_place() {
    let bench = Bench::with_limits(Limits::default());
    let refused = bench.ctx.allocate(Layout::new::<[u8; 2048]>());
    bench.check(
        refused.map(drop),
        "p.mlir:7:1: the host cannot allocate 2048 bytes",
    );
}

#[test]
fn each_request_has_an_account_of_its_own() {
    let host = HostContext::builder()
        .limits(Limits {
            max_request_bytes: 100,
            ..Limits::default()
        })
        .build();
    let builder = || RequestContextBuilder::new(Arc::clone(&host));
    let (one, other, large) = (
        builder().build(),
        builder().build(),
        builder().max_bytes(1000).build(),
    );
    for request in [&one, &other] {
        request.memory().charge(100).expect("up to the limit");
        assert!(request.memory().charge(1).is_err());
    }
    large.memory().charge(1000).expect("the builder said so");
    assert!(large.memory().charge(1).is_err());
}

#[test]
fn memory_may_outlive_its_request() {
    let host = HostContext::builder().build();
    let request = RequestContextBuilder::new(host).build();
    let allocator = Arc::clone(request.allocator());
    let account = Arc::clone(request.memory());
    let layout = Layout::new::<u64>();
    let memory = allocator.allocate(layout).expect("there is memory");
    drop(request);
    assert_eq!(account.num_bytes(), 8);
    // SAFETY: 1: the memory came from this allocator, with this layout; 2: it is not used
    // afterwards.
    #[expect(unsafe_code, reason = "gives memory back")]
    unsafe {
        allocator.deallocate(memory, layout);
    }
    assert_eq!(account.num_bytes(), 0);
}
