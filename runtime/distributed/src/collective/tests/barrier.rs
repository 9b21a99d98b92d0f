//! Barrier.

use super::*;

#[test]
fn a_barrier_ends_when_all_members_are_there() {
    let cluster = Cluster::new("s", 4);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    for last in 0..members.len() {
        let key = format!("k{last}");
        let early = members.iter().filter(|member| member.index() != last);
        let early: Vec<_> = early.map(|member| member.barrier(&key)).collect();
        cluster.host.quiesce().unwrap();
        assert!(early.iter().all(|met| !met.is_available()));
        let met = members[last].barrier(&key);
        cluster.host.quiesce().unwrap();
        assert!(
            early
                .iter()
                .chain([&met])
                .all(|met| met.as_result().is_ok())
        );
    }
}
