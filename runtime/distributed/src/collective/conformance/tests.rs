use std::sync::Arc;
use std::thread;

use super::*;
use crate::collective::{
    Collectives, RecursiveDoublingCollectives, RingCollectives, TreeCollectives,
};
use crate::context::DistributedContext;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::message::ANY_ORDER;
use crate::testing::Cluster;

/// Runs the suite with a thread for each member.
pub(in crate::collective) fn check(back_end: &dyn Collectives, cluster: &Cluster) {
    check_with(super::run, back_end, cluster);
}

type Run = fn(&HostContext, &dyn GroupMember, Extent) -> Result<usize, Error>;

fn check_with(run: Run, back_end: &dyn Collectives, cluster: &Cluster) {
    let contexts = cluster.contexts();
    let run = |context: &Arc<DistributedContext>| {
        let member = back_end.open("group1", context).unwrap();
        run(context.host(), &*member, Extent::from_environment())
    };
    let outcomes: Vec<Result<usize, Error>> = thread::scope(|scope| {
        let running: Vec<_> = contexts
            .iter()
            .map(|context| scope.spawn(|| run(context)))
            .collect();
        let outcomes = running.into_iter().map(|one| one.join().unwrap());
        outcomes.collect()
    });
    for outcome in outcomes {
        assert!(outcome.unwrap() > 500);
    }
    for context in &contexts {
        let rendezvous = context.rendezvous();
        assert!(rendezvous.is_empty(), "{rendezvous:?}");
    }
}

#[test]
fn the_ring_conforms() {
    for size in 1..=8 {
        check(&RingCollectives, &Cluster::new("mstd:2", size));
    }
}

#[test]
fn the_ring_conforms_if_messages_overtake_each_other() {
    let network = InProcessNetwork::with_faults(Faults {
        seed: 5,
        max_delay: std::time::Duration::from_micros(200),
        ..Faults::default()
    });
    check(&RingCollectives, &Cluster::on("mstd:2", network, 3));
}

/// Returns a cluster whose group allows any order.
fn in_any_order(network: InProcessNetwork, size: usize) -> Cluster {
    let mut cluster = Cluster::on("mstd:2", network, size);
    for config in &mut cluster.configs {
        config.collective_groups[0].order = ANY_ORDER.to_owned();
    }
    cluster
}

#[test]
fn algorithms_with_an_order_of_their_own_conform() {
    for size in 1..=8 {
        let cluster = || in_any_order(InProcessNetwork::default(), size);
        check_with(run_without_order, &TreeCollectives, &cluster());
        check_with(run_without_order, &RecursiveDoublingCollectives, &cluster());
    }
}

#[test]
fn algorithms_conform_if_messages_overtake_each_other() {
    let network = || {
        InProcessNetwork::with_faults(Faults {
            seed: 6,
            max_delay: std::time::Duration::from_micros(200),
            ..Faults::default()
        })
    };
    for size in [3, 6] {
        let cluster = || in_any_order(network(), size);
        check_with(run_without_order, &TreeCollectives, &cluster());
        check_with(run_without_order, &RecursiveDoublingCollectives, &cluster());
    }
}
