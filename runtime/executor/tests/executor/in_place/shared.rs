//! Registers that many kernels use, whose references are shared.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_executor::{Program, follow_schedules};
use tfrt_host::__private::{AnyOperand, ByValue, Declared, Fallible, Payload, TextResult};
use tfrt_host::kernel::KernelDescriptor;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::Error;

use super::corners::execute;
use super::{Outcome, cancel, check, later, op, outcome, registry, text_of};
use crate::support::{ASYNC_SUM, Graph, Node, alone, build_sync};

/// Returns twice the second operand, and one more if no one else has the first one.
struct SeeUnique;

impl Declared for SeeUnique {
    const OP: &'static OpDef = &op("test.see_unique", OpTraits::NONE);
}

fn see_unique() -> KernelDescriptor {
    KernelDescriptor::new::<SeeUnique, (AnyOperand<0, true>, ByValue<i64, 1>), Payload<i64>, _>(
        |(value, number)| 2 * number + i64::from(value.is_unique()),
    )
}

/// Fails, and still has its operands.
struct FailWithText;

impl Declared for FailWithText {
    const OP: &'static OpDef = &op("test.fail_with_text", OpTraits::NONE);
}

fn fail_with_text() -> KernelDescriptor {
    type Params = (AnyOperand<0, true>, ByValue<i64, 1>);
    type Results = Fallible<Payload<i64>, Result<i64, Error>>;
    KernelDescriptor::new::<FailWithText, Params, Results, _>(|(_, _)| Err(Error::new("failed")))
}

#[test]
fn only_the_last_of_many_uses_is_alone_wherever_the_schedule_is_left() {
    const NUM_USES: usize = 6;
    let _alone = alone();
    let kernels = [see_unique(), fail_with_text()];
    let [number, text] = [0, 1];
    let interruptions = [
        None,
        Some(&later::DIRECT),
        Some(&ASYNC_SUM),
        Some(&check::DIRECT),
        Some(&cancel::DIRECT),
        Some(FailWithText::OP),
    ];
    for interruption in interruptions {
        for place in 0..=NUM_USES {
            let mut nodes = vec![Node::new(&text_of::DIRECT, &[number])];
            // Each use needs the result of the one before, so the order is known.
            let mut last = number;
            for index in 0..=NUM_USES {
                if let Some(op) = interruption.filter(|_| index == place) {
                    let operands = [text, last];
                    let first = usize::from(!std::ptr::eq(op, FailWithText::OP));
                    nodes.push(Node::new(op, &operands[first..]));
                    last = nodes.len();
                }
                if index < NUM_USES {
                    nodes.push(Node::new(SeeUnique::OP, &[text, last]));
                    last = nodes.len();
                }
            }
            let graph = Graph {
                num_arguments: 1,
                nodes,
                returns: vec![last],
            };
            let run = |is_followed| {
                follow_schedules(is_followed);
                let arguments = [AnyRef::available(0_i64)];
                let (_host, results) = execute(&kernels, std::slice::from_ref(&graph), &arguments);
                follow_schedules(true);
                outcome(&results[0])
            };
            let found = run(true);
            assert_eq!(found, run(false), "{interruption:?} before use {place}");
            if interruption.is_none() {
                assert_eq!(found, Outcome::Number(1), "only the last use is alone");
            }
        }
    }
}

/// Makes a text of a number, in a synchronous function.
struct SyncText;

impl Declared for SyncText {
    const OP: &'static OpDef = &op("test.sync_text", OpTraits::SYNC);
}

/// As [`SeeUnique`], but an error if the second operand is the third one.
struct SyncSee;

impl Declared for SyncSee {
    const OP: &'static OpDef = &op("test.sync_see", OpTraits::SYNC);
}

fn sync_kernels() -> [KernelDescriptor; 2] {
    type Params = (AnyOperand<0, true>, ByValue<i64, 1>, ByValue<i64, 2>);
    type Results = Fallible<Payload<i64>, Result<i64, Error>>;
    let text = KernelDescriptor::new::<SyncText, (ByValue<i64, 0>,), TextResult, _>(|(number,)| {
        number.to_string()
    });
    let see =
        KernelDescriptor::new::<SyncSee, Params, Results, _>(
            |(value, number, refused)| match number == refused {
                true => Err(Error::new("failed")),
                false => Ok(2 * number + i64::from(value.is_unique())),
            },
        );
    [text, see]
}

#[test]
fn a_synchronous_function_that_fails_drops_what_uses_have_shared() {
    const NUM_USES: u32 = 6;
    // Values that are left over are an error at the end.
    let _alone = alone();
    let mut nodes = vec![Node::new(SyncText::OP, &[0])];
    for index in 0..NUM_USES as usize {
        let last = if index == 0 { 0 } else { index + 2 };
        nodes.push(Node::new(SyncSee::OP, &[2, last, 1]));
    }
    let graph = Graph {
        num_arguments: 2,
        returns: vec![NUM_USES as usize + 2],
        nodes,
    };
    let host = HostContext::builder()
        .registry(registry(&sync_kernels()))
        .build();
    let program = Program::load(&host, &build_sync(&[graph])).expect("the kernels exist");
    program.verify_all().expect("the body is well formed");
    let function = program.function("f0").expect("the only one");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    // The numbers that uses see are powers of two, and the last one is alone.
    for place in 0..=NUM_USES {
        let arguments = [1_i64, 1 << place].map(AnyRef::available);
        let mut results = [None];
        let done = function.execute_sync(&ctx, &arguments, &mut results);
        if place < NUM_USES {
            assert_eq!(done.expect_err("a use fails").message(), "failed");
        } else {
            done.expect("no use fails");
            let found = results[0].take().expect("there is a result");
            assert_eq!(outcome(&found), Outcome::Number((1 << NUM_USES) + 1));
        }
    }
}
