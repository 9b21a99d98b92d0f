use std::sync::Arc;
use std::thread;

use super::*;
use crate::collective::{Collectives, RingCollectives};
use crate::context::DistributedContext;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::testing::Cluster;

/// Runs the suite with a thread for each member.
pub(in crate::collective) fn check(back_end: &dyn Collectives, cluster: &Cluster) {
    let contexts = cluster.contexts();
    let run = |context: &Arc<DistributedContext>| {
        let member = back_end.open("group1", context).unwrap();
        super::run(context.host(), &*member, Extent::from_environment())
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
