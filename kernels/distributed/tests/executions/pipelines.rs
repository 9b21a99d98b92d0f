//! Input pipelines that the members of a group share, and that stop together.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tfrt::data::Dataset;
use tfrt::distributed::DistContext;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_distributed_kernels::input_pipelines::stop_together;

use crate::cluster::{Cluster, cluster};

const GROUP: &str = "group1";
const NUM_MEMBERS: usize = 4;

fn context_of(cluster: &Cluster, member: usize) -> DistContext {
    DistContext::new(cluster.servers[member].context(7).unwrap())
}

fn ctx_of(context: &DistContext) -> ExecutionContext {
    let host = Arc::clone(context.context().host());
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// The pipeline of a member with this many elements: `0, 1, 2, …`.
fn pipeline(context: &DistContext, key: &str, len: i64) -> Dataset {
    let own = Dataset::range(0, len, 1).unwrap();
    stop_together(&own, context, GROUP, key).unwrap()
}

/// Runs a function on all members at once, and returns its results.
fn on_all<T: Send + 'static>(
    cluster: &Cluster,
    run: impl Fn(usize, &DistContext, &ExecutionContext) -> T + Send + Sync + 'static,
) -> Vec<T> {
    let run = Arc::new(run);
    let members: Vec<_> = (0..NUM_MEMBERS)
        .map(|member| {
            let (run, context) = (Arc::clone(&run), context_of(cluster, member));
            let (sender, receiver) = channel();
            thread::spawn(move || sender.send(run(member, &context, &ctx_of(&context))));
            receiver
        })
        .collect();
    // A member that waits for another one for ever must not block the test.
    let results = members.into_iter().map(|member| {
        let result = member.recv_timeout(Duration::from_secs(60));
        result.expect("a member has panicked, or it does not end")
    });
    results.collect()
}

/// Draws until the end or an error.
fn count(elements: impl Iterator<Item = Result<i64>>) -> Result<usize> {
    let mut num_found = 0;
    for element in elements {
        assert_eq!(element? as usize, num_found);
        num_found += 1;
    }
    Ok(num_found)
}

#[test]
fn all_members_stop_where_the_first_one_does() {
    let cluster = cluster("in_process");
    let cases = [
        [0, 0, 0, 0],
        [5, 5, 5, 4],
        [16, 16, 16, 16],
        [100, 17, 100, 33],
        [1000, 1000, 32, 1000],
        [40, 0, 40, 40],
    ];
    for (number, lens) in cases.into_iter().enumerate() {
        let key = format!("case {number}");
        let found = on_all(&cluster, move |member, context, ctx| {
            let stops = pipeline(context, &key, lens[member]);
            // Every pass agrees anew.
            [(); 2].map(|()| count(stops.elements(ctx)).unwrap())
        });
        let least = *lens.iter().min().unwrap() as usize;
        assert_eq!(found, [[least; 2]; NUM_MEMBERS], "{lens:?}");
    }
}

#[test]
fn a_member_that_leaves_early_lets_the_others_fail() {
    let cluster = cluster("in_process");
    for (number, num_taken) in [0, 1, 16, 20].into_iter().enumerate() {
        let key = format!("leaves {number}");
        let found = on_all(&cluster, move |member, context, ctx| {
            let stops = pipeline(context, &key, 1000);
            match member {
                2 => count(stops.take(num_taken).unwrap().elements(ctx)),
                _ => count(stops.elements(ctx)),
            }
        });
        for (member, found) in found.into_iter().enumerate() {
            if member == 2 {
                assert_eq!(found.unwrap() as i64, num_taken);
                continue;
            }
            let error = found.unwrap_err();
            let expected = "task:2 has stopped before the end of its elements";
            assert!(error.message().contains(expected), "{error}");
        }
    }
}

/// Saves every member behind its number of elements, and returns what the members deliver after
/// they are restored in another cluster.
fn rests(num_ahead: i64, num_before: [i64; NUM_MEMBERS]) -> Vec<Vec<i64>> {
    let staged = move |context: &DistContext, key: &str, member: usize| {
        let stops = pipeline(context, key, 50 + member as i64);
        stops.prefetch(num_ahead).unwrap()
    };
    let saving = cluster("in_process");
    let checkpoints = on_all(&saving, move |member, context, ctx| {
        let mut elements = staged(context, "save", member).elements::<i64, _>(ctx);
        for expected in 0..num_before[member] {
            assert_eq!(elements.next().unwrap().unwrap(), expected);
        }
        let checkpoint = elements.save().unwrap();
        // Members that save later need this one until then.
        assert_eq!(elements.map(Result::unwrap).last().unwrap_or(49), 49);
        checkpoint
    });
    let restoring = cluster("in_process");
    on_all(&restoring, move |member, context, ctx| {
        let staged = staged(context, "restore", member);
        let rest = staged.elements_from::<i64, _>(&checkpoints[member], ctx);
        rest.unwrap().collect::<Result<_>>().unwrap()
    })
}

#[test]
fn members_go_on_from_their_checkpoints() {
    // In one block, in several, at the edges of blocks, and behind the end.
    let cases = [
        [0, 0, 0, 0],
        [3, 3, 3, 3],
        [16, 16, 16, 16],
        [3, 20, 33, 47],
        [50, 15, 16, 17],
    ];
    for num_before in cases {
        for (rest, num_before) in rests(0, num_before).into_iter().zip(num_before) {
            assert!(rest.into_iter().eq(num_before..50), "{num_before}");
        }
    }
    for num_before in [0, 14, 30] {
        for rest in rests(5, [num_before; NUM_MEMBERS]) {
            assert!(rest.into_iter().eq(num_before..50), "{num_before}");
        }
    }
}

#[test]
fn tasks_outside_of_the_group_are_refused() {
    let cluster = cluster("in_process");
    let context = context_of(&cluster, 0);
    let numbers = Dataset::range(0, 1, 1).unwrap();
    let error = stop_together(&numbers, &context, "nobody", "key").unwrap_err();
    assert!(
        error
            .message()
            .contains("No collective group with name nobody")
    );
}
