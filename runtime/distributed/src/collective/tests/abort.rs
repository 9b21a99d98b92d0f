//! The abort of a group.

use super::*;
use crate::fabric::in_process::PayloadLoss;

#[test]
fn an_abort_ends_everything_on_all_members() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let again = RingCollectives.open("group1", &contexts[0]).unwrap_err();
    assert_eq!(again.message(), "group group1 is open already");
    let number = || tensor(&contexts[0], &[3], &[1_i32, 2, 3]);
    let waiting = [
        members[0].barrier("b"),
        members[1].all_reduce("r", Reduction::Sum, number(), number()),
    ];
    let received = members[1].recv("p", 2);
    let gathered = members[0].all_gather_any("g", number(), 0);
    cluster.host.quiesce().unwrap();
    members[2].abort(&Error::new("the third member gives up"));
    cluster.host.quiesce().unwrap();
    let check = |failure: Error| assert_eq!(failure.message(), "the third member gives up");
    for ended in &waiting {
        check(ended.as_result().unwrap_err());
    }
    check(received.as_result().unwrap_err());
    check(gathered.as_result().unwrap_err());
    check(members[1].barrier("later").as_result().unwrap_err());
    check(members[2].recv("later", 0).as_result().unwrap_err());
    // Opened again by all, the group works.
    drop(members);
    let members = open_all(&contexts);
    let met: Vec<_> = members.iter().map(|member| member.barrier("new")).collect();
    cluster.host.quiesce().unwrap();
    assert!(met.iter().all(|met| met.as_result().is_ok()));
}

#[test]
fn an_abort_that_is_lost_is_told_again() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let waiting = members[1].barrier("b");
    let address = |member: usize| contexts[member].config().own_address().unwrap();
    let loss = PayloadLoss {
        count: 3,
        ..PayloadLoss::default()
    };
    cluster.network.lose_payloads(address(2), address(1), loss);
    members[2].abort(&Error::new("the third member gives up"));
    let (sender, ended) = channel();
    waiting.and_then(move |ended| {
        let error = ended.as_result().err();
        let _ = sender.send(error.map(|error| error.message().to_owned()));
    });
    let error = wait(&cluster.host, &ended);
    assert_eq!(error.as_deref(), Some("the third member gives up"));
}

/// Lets all members drop the group, and opens it again.
fn reopen(
    contexts: &[Arc<DistributedContext>],
    members: Vec<Arc<dyn GroupMember>>,
) -> Vec<Arc<dyn GroupMember>> {
    drop(members);
    open_all(contexts)
}

#[test]
fn several_aborts_at_a_time_count_as_one() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let mut members = open_all(&contexts);
    for round in 0..3 {
        members[0].abort(&Error::new("the first member gives up"));
        members[1].abort(&Error::new("the second member gives up"));
        cluster.host.quiesce().unwrap();
        members = reopen(&contexts, members);
        let key = format!("k{round}");
        let met: Vec<_> = members.iter().map(|member| member.barrier(&key)).collect();
        cluster.host.quiesce().unwrap();
        for met in &met {
            assert!(met.is_available(), "a member waits for ever");
            assert!(met.as_result().is_ok(), "{:?}", met.as_result().err());
        }
    }
    drop(members);
    for context in &contexts {
        let rendezvous = context.rendezvous();
        assert!(rendezvous.is_empty(), "{rendezvous:?}");
    }
}

#[test]
fn messages_of_aborted_operations_are_not_those_of_later_ones() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let number = |number: i32| tensor(&contexts[0], &[2], &[number; 2]);
    // Chunks and a payload of the first member wait at the second one, which never starts.
    let aborted = [
        members[0].all_reduce("step 7", Reduction::Sum, number(1), number(1)),
        members[0].all_to_all("all", number(1), number(1)),
    ];
    let sent = members[0].send("payload", 1, &number(1));
    cluster.host.quiesce().unwrap();
    assert!(sent.as_result().is_ok());
    assert!(contexts[1].rendezvous().num_payloads() >= 3);
    members[1].abort(&Error::new("the second member gives up"));
    cluster.host.quiesce().unwrap();
    for aborted in &aborted {
        let failure = aborted.as_result().unwrap_err();
        assert_eq!(failure.message(), "the second member gives up");
    }
    assert_eq!(contexts[1].rendezvous().num_payloads(), 0);
    // The same keys again, with other elements.
    let members = reopen(&contexts, members);
    let sums: Vec<_> = (0..2).map(|index| number(10 + 90 * index)).collect();
    let swapped: Vec<_> = (0..2).map(|index| number(10 + 90 * index)).collect();
    let mut done = Vec::new();
    for (member, (sum, swapped)) in members.iter().zip(sums.iter().zip(&swapped)) {
        done.push(member.all_reduce("step 7", Reduction::Sum, sum.clone(), sum.clone()));
        done.push(member.all_to_all("all", swapped.clone(), swapped.clone()));
    }
    done.push(members[0].send("payload", 1, &number(10)));
    let received = members[1].recv("payload", 0);
    cluster.host.quiesce().unwrap();
    for done in &done {
        assert!(done.as_result().is_ok(), "{:?}", done.as_result().err());
    }
    for (sum, swapped) in sums.iter().zip(&swapped) {
        assert_eq!(*sum.elements::<i32>().unwrap(), [110, 110]);
        assert_eq!(*swapped.elements::<i32>().unwrap(), [10, 100]);
    }
    let received = received.as_result().unwrap();
    assert_eq!(*received.elements::<i32>().unwrap(), [10, 10]);
}

#[test]
fn an_operation_that_starts_with_the_abort_ends() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let member = RingCollectives.open("group1", &contexts[0]).unwrap();
    member.abort(&Error::new("the member gives up"));
    // As one that was entered before the abort, and joins the ring after it.
    let late = Collective {
        group: epoch::epoch_name("group1", 0),
        ..collective(&contexts[0], "late")
    };
    let (sender, outcome) = channel();
    barrier(late, tell(sender));
    let failure = wait(&cluster.host, &outcome).unwrap_err();
    assert_eq!(failure, "the member gives up");
}
