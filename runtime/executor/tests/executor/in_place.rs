//! Kernels that run in place, and framed twins of them.
//!
//! A twin is the same function, declared with an additional tail that a chain may follow, so that
//! it needs a frame. Whether a kernel runs in place must change neither the results of a program,
//! nor the order in which a single-threaded queue runs it, nor what is reported.

mod corners;

mod passing;

mod programs;

mod shared;

use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, ByteString};
use tfrt_host::__private::{
    AnyOperand, AnyRest, AnyResult, AsStr, AsString, ByRef, ByValue, Declared, Execution, Fallible,
    Later, LentFunction, Nothing, Parts, Payload, Text, TextResult, WithChain,
};
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_host::tracing::{self, Activity, TracingLevel, TracingSink};
use tfrt_ods::{OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};
use tfrt_support::Error;

use crate::support::{ASYNC_SUM, CALL, CALL_EARLY, SELECT, SUM, registry as raw_registry};

const ANY: &[OperandDef] = &[OperandDef::variadic("values", TypeConstraint::Any)];
const RESULTS: &[ResultDef] = &[ResultDef::variadic("results", TypeConstraint::Any)];

const fn op(name: &'static str, traits: OpTraits) -> OpDef {
    OpDef {
        operands: ANY,
        results: RESULTS,
        traits,
        ..OpDef::new(name)
    }
}

/// The kernels that have run, in order. Constants are left out: in place, they run once for a body.
static LOG: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn log(name: &'static str, traits: OpTraits) {
    if !traits.contains(OpTraits::PURE) {
        let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(name);
    }
}

/// Declares a function twice: as a kernel that runs in place, and as its twin.
macro_rules! twins {
    ($($module:ident $name:literal [$traits:expr] ($($arg:ident: $marker:ty),*) $tail:literal -> $result:ty { $body:expr })*) => {
        $(mod $module {
            use super::*;

            pub static DIRECT: OpDef = op(concat!("test.", $name), $traits);
            pub static FRAMED: OpDef = op(concat!("test.framed_", $name), $traits);

            struct Direct;
            impl Declared for Direct {
                const OP: &'static OpDef = &DIRECT;
            }
            struct Framed;
            impl Declared for Framed {
                const OP: &'static OpDef = &FRAMED;
            }

            pub fn descriptors() -> [KernelDescriptor; 2] {
                let direct = KernelDescriptor::new::<Direct, ($($marker,)*), $result, _>(|($($arg,)*)| {
                    log($name, $traits);
                    $body
                });
                let framed = KernelDescriptor::new::<Framed, ($($marker,)* AnyRest<$tail, true>,), $result, _>(
                    |($($arg,)* _tail,)| {
                        log($name, $traits);
                        $body
                    },
                );
                assert!(direct.direct().is_some() && framed.direct().is_none());
                [direct, framed]
            }
        })*

        const TWINS: &[[&OpDef; 2]] = &[$([&$module::DIRECT, &$module::FRAMED]),*];

        fn descriptors() -> Vec<KernelDescriptor> {
            [$($module::descriptors()),*].into_iter().flatten().collect()
        }
    };
}

fn shortened(mut text: String) -> String {
    text.truncate(24);
    text
}

fn panic_quietly() -> ! {
    // Unlike `panic!`, this does not call the hook, which would clutter the output of a test that
    // passes.
    std::panic::resume_unwind(Box::new("out of cheese"))
}

twins! {
    constant "constant" [OpTraits::PURE] () 0 -> Payload<i64> { 7 }
    constant_text "constant_text" [OpTraits::PURE] () 0 -> TextResult { "seven".into() }
    add "add" [OpTraits::NONE] (a: ByValue<i64, 0>, b: ByValue<i64, 1>) 2 -> Payload<i64> { a.wrapping_add(b) }
    text_of "text_of" [OpTraits::NONE] (a: ByValue<i64, 0>) 1 -> TextResult { a.to_string() }
    length "length" [OpTraits::NONE] (a: Text<AsStr, 0>) 1 -> Payload<i64> { a.len() as i64 }
    join "join" [OpTraits::NONE] (a: Text<AsStr, 0>, b: Text<AsStr, 1>) 2 -> TextResult {
        shortened(format!("{a}{b}"))
    }
    split "split" [OpTraits::NONE] (a: ByValue<i64, 0>) 1 -> Parts<(Payload<i64>, TextResult, Payload<i64>)> {
        (a / 2, a.to_string(), a % 2)
    }
    chained "chained" [OpTraits::NONE] (a: ByRef<i64, 0>) 1 -> WithChain<Payload<i64>> { a ^ 1 }
    consume "consume" [OpTraits::NONE] (a: Text<AsStr, 0>) 1 -> Nothing { drop(a.to_owned()) }
    check "check" [OpTraits::NONE] (a: ByValue<i64, 0>) 1 -> Fallible<Payload<i64>, Result<i64, Error>> {
        if a % 3 == 0 { Err(Error::new("a multiple of three")) } else { Ok(a) }
    }
    check_text "check_text" [OpTraits::NONE] (a: Text<AsString, 0>) 1
        -> Fallible<Parts<(TextResult, Payload<i64>)>, Result<(String, i64), Error>> {
        if a.len() % 3 == 0 { Err(Error::new("a length that is a multiple of three")) } else { Ok((a, 1)) }
    }
    burst "burst" [OpTraits::NONE] (a: ByValue<i64, 0>, b: Text<AsStr, 1>) 2 -> Parts<(TextResult, Payload<i64>)> {
        if a % 4 == 0 { panic_quietly() } else { (b.into(), a) }
    }
    pick "pick" [OpTraits::NONE] (a: ByValue<i64, 0>, b: AnyOperand<1, true>, c: AnyOperand<2, false>) 3 -> AnyResult {
        if a % 2 == 0 { b.clone() } else { c }
    }
    peek "peek" [OpTraits::NONE] (a: AnyOperand<0, true>, b: ByValue<i64, 1>) 2 -> Payload<i64> {
        b.wrapping_add(i64::from(a.is::<ByteString>()))
    }
    gather "gather" [OpTraits::NONE] (a: ByValue<i64, 0>, rest: AnyRest<1, false>) 1 -> Payload<i64> {
        rest.iter().fold(a, |sum, value| {
            let number = value.get::<i64>().copied();
            sum.wrapping_mul(3).wrapping_add(number.unwrap_or(i64::from(value.is::<ByteString>())))
        })
    }
    later "later" [OpTraits::NONE] (a: ByValue<i64, 0>, ctx: Execution) 1 -> Later<i64> {
        {
            let (promise, value) = AsyncValueRef::unconstructed();
            ctx.enqueue(move || promise.emplace(a.wrapping_mul(3)));
            value
        }
    }
    later_text "later_text" [OpTraits::NONE] (a: ByValue<i64, 0>, ctx: Execution) 1 -> Later<ByteString> {
        {
            let (promise, value) = AsyncValueRef::unconstructed();
            ctx.enqueue(move || promise.emplace(a.to_string().into()));
            value
        }
    }
    cancel "cancel" [OpTraits::NONE] (a: ByValue<i64, 0>, ctx: Execution) 1 -> Payload<i64> {
        { ctx.request().cancel(); a }
    }
    depth "depth" [OpTraits::NONE] (ctx: Execution) 0 -> Payload<i64> { i64::from(ctx.call_depth()) }
    call_now "call_now" [OpTraits::NONE] (function: LentFunction<0, false>, a: ByValue<i64, 0>, ctx: Execution) 1
        -> Payload<i64> {
        {
            let mut results = vec![None; function.num_results()];
            let arguments = vec![AnyRef::available(a); function.num_arguments()];
            function.execute_into(ctx, &arguments, &mut results);
            a
        }
    }
}

/// Returns a registry of the kernels above, those of `support`, and `more`.
fn registry(more: &[KernelDescriptor]) -> Arc<KernelRegistry> {
    let mut registry = KernelRegistry::new();
    let raw = raw_registry();
    let of_support = [&SUM, &ASYNC_SUM, &CALL, &CALL_EARLY, &SELECT];
    let of_support = of_support.map(|op| *raw.get(op.name).expect("it is there"));
    for kernel in descriptors().iter().chain(&of_support).chain(more) {
        registry.add(*kernel).expect("the names differ");
    }
    registry
        .add_native(passing::NATIVE)
        .expect("there is no other");
    Arc::new(registry)
}

/// The outcome of a value.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Number(i64),
    Text(String),
    Chain,
    Error(String),
}

/// Removes the marks of twins: kernels have their names in their messages, and those of twins
/// differ.
fn without_twins(message: &str) -> String {
    message.replace("framed_", "")
}

fn outcome(value: &AnyRef) -> Outcome {
    assert!(value.is_available(), "{value:?}");
    if let Some(error) = value.error_if_present() {
        return Outcome::Error(without_twins(error.message()));
    }
    if let Some(&number) = value.get::<i64>() {
        return Outcome::Number(number);
    }
    if let Some(text) = value.get::<ByteString>() {
        return Outcome::Text(text.to_string());
    }
    assert!(value.is::<tfrt_async::Chain>(), "{value:?}");
    Outcome::Chain
}

/// A sink that discards everything.
#[derive(Debug)]
struct Deaf;

impl TracingSink for Deaf {
    fn begin(&self, _: Activity<'_>) {}

    fn end(&self) {}

    fn event(&self, _: &str) {}
}

/// Traces every kernel while it lives: every kernel is inspected, and no function runs as a plain
/// loop of calls.
struct Traced;

impl Traced {
    fn start() -> Self {
        tracing::set_sink(Some(Arc::new(Deaf)));
        tracing::enable(TracingLevel::Debug);
        Self
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        tracing::disable();
        tracing::set_sink(None);
    }
}
