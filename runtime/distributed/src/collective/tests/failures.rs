//! Collectives that cannot start, and members that fail or differ.

use super::*;

#[test]
fn members_that_do_different_things_are_told_so() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let check = |key: &str, expected: [&str; 2]| {
        let mut outcomes: Outcomes = Vec::new();
        for (member, context) in contexts.iter().enumerate() {
            let input = tensor(context, &[2, 2], &[1_i32, 2, 3, 4]);
            let output = tensor(context, &[4, 2], &[0_i32; 8]);
            let (sender, outcome) = channel();
            let (start, tell) = (collective(context, key), tell(sender));
            match (key, member) {
                ("axes", 0) => all_gather_fixed_shape(start, input, output, 0, tell),
                ("axes", _) => {
                    let output = tensor(context, &[2, 4], &[0_i32; 8]);
                    all_gather_fixed_shape(start, input, output, 1, tell);
                }
                ("kinds", 0) => all_gather_fixed_shape(start, input, output, 0, tell),
                ("kinds", _) => {
                    let sender = context.cluster().find("/job:worker/task:0").unwrap();
                    broadcast(start, input, sender, tell);
                }
                ("scatter", 0) => {
                    all_reduce(start, Reduction::Sum, input.clone(), input, tell);
                }
                _ => {
                    let output = tensor(context, &[2], &[0_i32; 2]);
                    reduce_scatter(start, Reduction::Sum, input, output, tell);
                }
            }
            outcomes.push(outcome);
        }
        for outcome in &outcomes {
            let failure = wait(&cluster.host, outcome).unwrap_err();
            for expected in expected {
                assert!(failure.contains(expected), "{key}: {failure}");
            }
        }
    };
    check(
        "axes",
        ["an allgather along axis 0", "an allgather along axis 1"],
    );
    check(
        "kinds",
        ["an allgather along axis 0", "a broadcast of member 0"],
    );
    check("scatter", ["an allreduce", "a reducescatter"]);
}

/// Starts an all-reduce of a number of elements that one member differs in, and checks that all
/// are told so, and that nothing is left.
fn check_that_differences_are_named(size: usize, odd: usize, odd_len: usize, len: usize) {
    let cluster = Cluster::new("s", size);
    let contexts = cluster.contexts();
    let mut outcomes: Outcomes = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let len = if member == odd { odd_len } else { len };
        let tensor = tensor(context, &[len], &vec![0.0_f32; len]);
        let (sender, outcome) = channel();
        let (start, output) = (collective(context, "k"), tensor.clone());
        all_reduce(start, Reduction::Sum, tensor, output, tell(sender));
        outcomes.push(outcome);
    }
    for failure in failures(&cluster, outcomes) {
        let (start, members) = failure.split_once(": ").unwrap();
        assert_eq!(start, "allreduce key k of group group1");
        let expected = [
            format!("member {odd} has f32[{odd_len}]"),
            format!("has f32[{len}]"),
        ];
        let is_named = expected.iter().all(|expected| members.contains(expected));
        assert!(is_named, "{failure}");
    }
    cluster.host.quiesce().unwrap();
    for context in &contexts {
        let rendezvous = context.rendezvous();
        assert!(rendezvous.is_empty(), "{rendezvous:?}");
    }
}

#[test]
fn tensors_that_differ_are_named_on_all_members() {
    for odd in 0..3 {
        check_that_differences_are_named(3, odd, 8, 7);
        check_that_differences_are_named(3, odd, LARGE + 1, LARGE);
    }
}

#[test]
fn members_that_disagree_about_rounds_are_told_so() {
    for odd in 0..4 {
        check_that_differences_are_named(4, odd, LARGE, 7);
        check_that_differences_are_named(4, odd, 7, LARGE);
    }
}

#[test]
fn a_member_that_fails_again_and_again_ends_as_many_collectives_of_the_others() {
    const TIMES: usize = 3;
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    let start = |member: usize, expected_len: usize| {
        let context = &contexts[member];
        let input = tensor(context, &[6], &[1.0_f32; 6]);
        let output = tensor(context, &[expected_len], &vec![0.0_f32; expected_len]);
        let (sender, outcome) = channel();
        let start = collective(context, "k");
        reduce_scatter(start, Reduction::Sum, input, output, tell(sender));
        outcome
    };
    // The others have not begun any of them.
    for _ in 0..TIMES {
        let failure = wait(&cluster.host, &start(1, 5)).unwrap_err();
        assert!(failure.contains("expected an output"), "{failure}");
    }
    for _ in 0..TIMES {
        let outcomes = [start(0, 2), start(2, 2)];
        for outcome in outcomes {
            let failure = wait(&cluster.host, &outcome).unwrap_err();
            assert!(failure.contains("expected an output"), "{failure}");
        }
    }
    let outcomes = [0, 1, 2].map(|member| start(member, 2));
    for outcome in outcomes {
        wait(&cluster.host, &outcome).unwrap();
    }
}

#[test]
fn a_member_that_cannot_start_ends_the_collective_of_the_others() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    // The second member starts first, in the middle, and last.
    for (round, order) in [[1, 0, 2], [0, 1, 2], [2, 0, 1]].into_iter().enumerate() {
        let mut outcomes: Outcomes = Vec::new();
        for member in order {
            let context = &contexts[member];
            let input = tensor(context, &[7], &[0.0_f32; 7]);
            let len = if member == 1 { 6 } else { 7 };
            let output = tensor(context, &[len], &vec![0.0_f32; len]);
            let (sender, outcome) = channel();
            let collective = collective(context, &format!("k{round}"));
            all_reduce(collective, Reduction::Sum, input, output, tell(sender));
            outcomes.push(outcome);
        }
        let failures = failures(&cluster, outcomes);
        assert!(
            failures.iter().all(|failure| *failure == failures[0]),
            "{failures:?}"
        );
        assert!(
            failures[0].contains('6') && failures[0].contains('7'),
            "{failures:?}"
        );
    }
}

#[test]
fn a_member_that_cannot_start_tells_so_even_if_the_buffer_of_another_is_full() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let servers = addresses.each_ref().map(|address| {
        let mut config = crate::ServerConfig::new("test", address);
        if *address == addresses[1] {
            config.max_unclaimed_bytes = 1000;
        }
        crate::Server::on_network(&host, config, |handler| {
            network.listen(&host, address, handler)
        })
        .unwrap()
    });
    let first = crate::testing::finish(&host, |done| {
        servers[0].initialize_single_client(Some(1), &configs[0], done);
    });
    let (first, second) = (first.unwrap(), servers[1].context(1).unwrap());
    let to = first.group("group1").unwrap()[1];
    let filled = crate::testing::finish(&host, |done| {
        first.send_data(to, "unclaimed", vec![Bytes::from(vec![0; 300])], done);
    });
    filled.unwrap();
    let start = |context: &Arc<DistributedContext>, output: usize| {
        let input = tensor(context, &[7], &[0.0_f32; 7]);
        let output = tensor(context, &[output], &vec![0.0_f32; output]);
        let (sender, outcome) = channel();
        let collective = collective(context, "k");
        all_reduce(collective, Reduction::Sum, input, output, tell(sender));
        outcome
    };
    let failure = wait(&host, &start(&first, 6)).unwrap_err();
    // The first attempt to tell the other member has failed.
    host.quiesce().unwrap();
    assert_eq!(second.rendezvous().num_payloads(), 1);
    assert_eq!(wait(&host, &start(&second, 7)), Err(failure));
}

#[test]
fn a_key_is_used_by_one_collective_at_a_time() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let start = |member: usize| {
        let tensor = tensor(&contexts[member], &[2], &[1_i32, 2]);
        let (sender, outcome) = channel();
        let collective = collective(&contexts[member], "k");
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            tell(sender),
        );
        outcome
    };
    for _ in 0..3 {
        let first = start(0);
        let second = wait(&cluster.host, &start(0)).unwrap_err();
        assert_eq!(second, "allreduce key k of group group1 is in use");
        let other = start(1);
        // The one that was refused does not end the others.
        assert_eq!(wait(&cluster.host, &first), Ok(()));
        assert_eq!(wait(&cluster.host, &other), Ok(()));
    }
}

#[test]
fn a_key_in_use_is_not_abandoned() {
    use crate::collective::{RecursiveDoublingCollectives, TreeCollectives};
    use crate::message::ANY_ORDER;

    let mut cluster = Cluster::new("mstd:2", 2);
    for config in &mut cluster.configs {
        config.collective_groups[0].order = ANY_ORDER.to_owned();
    }
    let contexts = cluster.contexts();
    let back_ends: [&dyn Collectives; 3] = [
        &RingCollectives,
        &TreeCollectives,
        &RecursiveDoublingCollectives,
    ];
    let refused = "cannot abandon key k of group group1: it is in use";
    let why = Error::new("no");
    for back_end in back_ends {
        let members: Vec<_> = contexts
            .iter()
            .map(|context| back_end.open("group1", context).unwrap())
            .collect();
        let number = || DenseHostTensor::vector(&[1_i32]).unwrap();
        for gathers in [false, true] {
            let start = |member: usize| -> tfrt_async::AnyRef {
                match gathers {
                    true => members[member].all_gather_any("k", number(), 0).into(),
                    false => members[member].barrier("k").into(),
                }
            };
            let first = start(0);
            let error = members[0].abandon("k", &why).unwrap_err();
            assert_eq!(error.message(), refused);
            assert_eq!(error.code(), tfrt_support::ErrorCode::AlreadyExists);
            // What is in progress goes on.
            let second = start(1);
            cluster.host.await_values(&[first, second]).unwrap();
            // The key is free again: then the other member is told.
            members[0].abandon("k", &why).unwrap();
            let told = cluster.host.await_values(&[start(1)]).unwrap_err();
            assert_eq!(told.message(), "no");
        }
    }
    // A kernel abandons without an open group.
    let (sender, outcome) = channel();
    let all_reduce_of = |member: usize, sender| {
        let input = tensor(&contexts[member], &[1], &[1_i32]);
        let (start, output) = (collective(&contexts[member], "k"), input.clone());
        all_reduce(start, Reduction::Sum, input, output, tell(sender));
    };
    all_reduce_of(0, sender.clone());
    for abandon in [abandon, abandon_all_gather_any_shape] {
        let error = abandon(&collective(&contexts[0], "k"), &why).unwrap_err();
        assert_eq!(error.message(), refused);
    }
    all_reduce_of(1, sender);
    for _ in 0..2 {
        assert_eq!(wait(&cluster.host, &outcome), Ok(()));
    }
}

/// Starts an all-reduce of so many elements on two members of three, of which the third is gone.
fn start_without_the_third(cluster: &Cluster, len: usize) -> Outcomes {
    let contexts = cluster.contexts();
    cluster
        .network
        .cut(contexts[2].config().own_address().unwrap());
    let start = |context: &Arc<DistributedContext>| {
        let tensor = tensor(context, &[len], &vec![1_i32; len]);
        let (sender, outcome) = channel();
        let (start, output) = (collective(context, "k"), tensor.clone());
        all_reduce(start, Reduction::Sum, tensor, output, tell(sender));
        outcome
    };
    contexts[..2].iter().map(start).collect()
}

const THIRD_IS_GONE: &str = "RpcUnavailable: SendData to in-process:2: no task listens at this \
                             address (from task: /job:worker/task:2)";

#[test]
fn a_neighbour_that_is_gone_ends_the_collective() {
    let cluster = Cluster::new("mstd:2", 3);
    let outcomes = start_without_the_third(&cluster, LARGE);
    // The left neighbour of the one that is gone finds out, and tells the other one.
    for failure in failures(&cluster, outcomes) {
        assert!(failure.contains(THIRD_IS_GONE), "{failure}");
    }
}

#[test]
fn all_members_notice_that_one_is_gone_to_which_all_of_them_send() {
    let cluster = Cluster::new("mstd:2", 3);
    for failure in failures(&cluster, start_without_the_third(&cluster, 3)) {
        assert!(failure.contains(THIRD_IS_GONE), "{failure}");
    }
}

#[test]
fn errors_of_all_sends_are_told() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let gone = contexts[1].config().own_address().unwrap();
    cluster.network.cut(gone);
    let tensor = tensor(&contexts[0], &[3], &[1_i32, 2, 3]);
    let sender = contexts[0].cluster().own_task();
    let (tx, outcome) = channel();
    broadcast(collective(&contexts[0], "k"), tensor, sender, tell(tx));
    let error = wait(&cluster.host, &outcome).unwrap_err();
    let line = format!(
        "RpcUnavailable: SendData to {gone}: no task listens at this address (from task: \
         /job:worker/task:1)"
    );
    let expected = format!("Found 3 errors:\n  (1) {line}\n  (2) {line}\n  (3) {line}");
    assert_eq!(error, expected);
}

#[test]
fn a_task_outside_the_group_is_refused() {
    let mut cluster = Cluster::new("s", 2);
    for config in &mut cluster.configs {
        config.collective_groups[0].members.truncate(1);
    }
    let contexts = cluster.contexts();
    let outsider = &contexts[1];
    let one = tensor(outsider, &[1], &[1_i32]);
    let (sender, outcome) = channel();
    let start = collective(outsider, "k");
    all_reduce(
        start,
        Reduction::Sum,
        one.clone(),
        one.clone(),
        tell(sender),
    );
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "The current task /job:worker/task:1 is not part of the collective group group1"
    );
    let (sender, outcome) = channel();
    let start = collective(outsider, "k");
    all_gather_fixed_shape(start, one.clone(), one.clone(), 0, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "This worker is not part of the collective group "
    );
    let member = &contexts[0];
    let other = member.cluster().find("/job:worker/task:1").unwrap();
    let (sender, outcome) = channel();
    broadcast(collective(member, "k"), one.clone(), other, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "The sender /job:worker/task:1 is not part of the collective group group1"
    );
    let (sender, outcome) = channel();
    let group = Collective {
        group: "g".to_owned(),
        ..collective(member, "k")
    };
    broadcast(group, one, other, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "No collective group with name g."
    );
}

#[test]
fn groups_may_have_names_of_protocol_keys() {
    let mut cluster = Cluster::new("mstd:2", 2);
    for config in &mut cluster.configs {
        for name in ["sent", "aborted", "card", "abandoned"] {
            let group = CollectiveGroupConfiguration {
                name: name.to_owned(),
                ..config.collective_groups[0].clone()
            };
            config.collective_groups.push(group);
        }
    }
    let contexts = cluster.contexts();
    let members: Vec<_> = contexts
        .iter()
        .map(|context| RingCollectives.open("group1", context).unwrap())
        .collect();
    for name in ["sent", "aborted", "card", "abandoned"] {
        // Messages of member 0 wait or arrive, under keys that end like those of the group that is
        // aborted.
        let start = |member: usize, tensor: DenseHostTensor| {
            let (sender, outcome) = channel();
            let collective = Collective {
                context: Arc::clone(&contexts[member]),
                group: name.to_owned(),
                key: "group1~epoch0".to_owned(),
            };
            let sum = tensor.clone();
            all_reduce(collective, Reduction::Sum, tensor, sum, tell(sender));
            outcome
        };
        let tensors = [1, 2].map(|number| tensor(&contexts[0], &[2], &[number, 10 * number]));
        let first = start(0, tensors[0].clone());
        members[1].abort(&Error::new("enough"));
        let second = start(1, tensors[1].clone());
        for outcome in [first, second] {
            assert_eq!(wait(&cluster.host, &outcome), Ok(()), "{name}");
        }
        for tensor in tensors {
            assert_eq!(*tensor.elements::<i32>().unwrap(), [3, 30], "{name}");
        }
    }
}

#[test]
fn a_lost_member_ends_what_is_received_from_any_member() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let before = members[0].recv("before", 1);
    let lost = contexts[0].cluster().find("/job:worker/task:2").unwrap();
    let error = crate::RemoteError::new(tfrt_support::ErrorCode::Unavailable, "task 2 is lost");
    for callback in contexts[0].health().mark_lost(lost, error) {
        callback();
    }
    let after = members[0].recv("after", 1);
    for received in [before, after] {
        let error = cluster.host.await_values(&[received.into()]).unwrap_err();
        assert_eq!(error.message(), "Unavailable: task 2 is lost");
    }
    // What has come before is received.
    let sent = members[1].send("sent", 0, &DenseHostTensor::vector(&[7]).unwrap());
    cluster.host.await_values(&[sent.into()]).unwrap();
    let received = members[0].recv("sent", 1);
    cluster
        .host
        .await_values(&[received.clone().into()])
        .unwrap();
}

#[test]
fn elements_of_another_task_than_the_expected_member_are_dropped() {
    use crate::collective::header::{Header, Kind, Operation, Part};
    use crate::collective::uses::KeyUse;
    use crate::fabric::{Reply, RequestHandler};
    use crate::message::SendDataRequest;
    use crate::name::TaskName;

    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    let outputs: Vec<_> = contexts
        .iter()
        .map(|context| tensor(context, &[3], &[0_u8; 3]))
        .collect();
    let start = |member: usize| {
        let context = &contexts[member];
        let input = tensor(context, &[1], &[member as u8 + 1]);
        let (sender, outcome) = channel();
        let start = collective(context, "k");
        all_gather_fixed_shape(start, input, outputs[member].clone(), 0, tell(sender));
        outcome
    };
    let header = Header {
        kind: Kind::Elements,
        part: Part {
            operation: Operation::AllGather(0),
            dtype: tfrt_support::DType::Ui8,
            num_elements: 1,
            reduction: None,
            in_rounds: false,
        },
        member: 0,
        key_use: KeyUse::default(),
    };
    // In place of what member 0 sends to member 1.
    let forged = SendDataRequest {
        context_id: 1,
        instance_key: "group1:group1:k:0:1".to_owned(),
        payload: vec![header.to_bytes().to_vec().into(), vec![99].into()],
    };
    let forge = |forger: usize| {
        let name = TaskName::parse(&format!("/job:worker/task:{forger}")).unwrap();
        let (request, server) = (forged.clone().into(), Arc::clone(&cluster.servers[1]));
        let (sender, answer) = channel();
        server.handle_from(
            &name,
            request,
            Reply::new(move |answer: crate::Answer<_>| sender.send(answer.is_ok()).unwrap()),
        );
        assert!(wait(&cluster.host, &answer));
    };
    let second = start(1);
    forge(2);
    let outcomes = [start(0), second, start(2)];
    for outcome in outcomes {
        assert_eq!(wait(&cluster.host, &outcome), Ok(()));
    }
    for output in &outputs {
        assert_eq!(*output.elements::<u8>().unwrap(), [1, 2, 3]);
    }
}
