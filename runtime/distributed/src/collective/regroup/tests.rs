use std::sync::mpsc::{Receiver, channel};

use tfrt_tensor::DenseHostTensor;

use super::*;
use crate::collective::{Collective, Reduction, all_reduce};
use crate::testing::{Cluster, wait};

type Met = Receiver<Result<String, String>>;

fn start(context: &Arc<DistributedContext>, group: &str) -> Met {
    let (sender, met) = channel();
    regroup(context, group, move |outcome| {
        let _ = sender.send(outcome.map_err(|error| error.message().to_owned()));
    });
    met
}

/// Lets a task find out that another one is lost.
fn lose(context: &Arc<DistributedContext>, number: i32) {
    let task = context.cluster().find_task("worker", number).unwrap();
    let message = format!("task /job:worker/task:{number} is lost: it was cut off");
    let error = RemoteError::new(ErrorCode::Unavailable, message);
    for callback in context.health().mark_lost(task, error) {
        callback();
    }
}

/// Adds the numbers of members. Returns the outcome and the sum.
fn sum(
    context: &Arc<DistributedContext>,
    group: &str,
    key: &str,
    number: i32,
) -> (Receiver<Result<(), String>>, DenseHostTensor) {
    let tensor = DenseHostTensor::vector(&[number; 5]).unwrap();
    let collective = Collective {
        context: Arc::clone(context),
        group: group.to_owned(),
        key: key.to_owned(),
    };
    let (sender, outcome) = channel();
    let (input, output) = (tensor.clone(), tensor.clone());
    all_reduce(collective, Reduction::Sum, input, output, move |done| {
        let _ = sender.send(done.map_err(|error| error.message().to_owned()));
    });
    (outcome, tensor)
}

fn cut(cluster: &Cluster, task: usize) {
    let address = cluster.configs[task].own_address().unwrap();
    cluster.network.cut(address);
}

#[test]
fn survivors_go_on_in_a_group_of_their_own() {
    for queue in ["s", "mstd:2"] {
        let cluster = Cluster::new(queue, 4);
        let contexts = cluster.contexts();
        // The third task dies before it takes part.
        let under_way: Vec<_> = [0, 1, 3]
            .map(|member| sum(&contexts[member], "group1", "k", 1))
            .into();
        cut(&cluster, 2);
        for member in [0, 1, 3] {
            lose(&contexts[member], 2);
        }
        for (outcome, _) in &under_way {
            let failure = wait(&cluster.host, outcome).unwrap_err();
            assert!(failure.contains("task:2"), "{failure}");
        }
        let meeting = [0, 3, 1].map(|member| start(&contexts[member], "group1"));
        for met in &meeting {
            assert_eq!(wait(&cluster.host, met), Ok("group1~2".to_owned()));
        }
        // The same key again.
        let sums = [0, 1, 3].map(|member| {
            let number = 10_i32.pow(u32::try_from(member).unwrap());
            sum(&contexts[member], "group1~2", "k", number)
        });
        for (outcome, tensor) in &sums {
            assert_eq!(wait(&cluster.host, outcome), Ok(()));
            assert_eq!(*tensor.elements::<i32>().unwrap(), [1011; 5]);
        }
        // The group of the configuration is of no use any more, and leaves nothing behind.
        let (outcome, _) = sum(&contexts[0], "group1", "later", 1);
        let failure = wait(&cluster.host, &outcome).unwrap_err();
        assert!(
            failure.contains("task /job:worker/task:2 is lost"),
            "{failure}"
        );
        for member in [0, 1, 3] {
            let context = &contexts[member];
            assert!(
                context.rendezvous().is_empty(),
                "{:?}",
                context.rendezvous()
            );
        }
    }
}

#[test]
fn another_loss_begins_the_meeting_again() {
    let cluster = Cluster::new("mstd:2", 4);
    let contexts = cluster.contexts();
    cut(&cluster, 3);
    for context in &contexts[..3] {
        lose(context, 3);
    }
    let first = start(&contexts[0], "group1");
    let second = start(&contexts[1], "group1");
    cluster.host.quiesce().unwrap();
    assert!(first.try_recv().is_err(), "the third task is not there yet");
    cut(&cluster, 2);
    // One of them knows long before the other one, unless a heartbeat is faster.
    lose(&contexts[0], 2);
    cluster.host.quiesce().unwrap();
    lose(&contexts[1], 2);
    assert_eq!(wait(&cluster.host, &first), Ok("group1~2,3".to_owned()));
    assert_eq!(wait(&cluster.host, &second), Ok("group1~2,3".to_owned()));
    // Of a group of survivors, too.
    cut(&cluster, 1);
    lose(&contexts[0], 1);
    let alone = start(&contexts[0], "group1~2,3");
    assert_eq!(wait(&cluster.host, &alone), Ok("group1~1,2,3".to_owned()));
    let (outcome, tensor) = sum(&contexts[0], "group1~1,2,3", "k", 7);
    assert_eq!(wait(&cluster.host, &outcome), Ok(()));
    assert_eq!(*tensor.elements::<i32>().unwrap(), [7; 5]);
}

#[test]
fn without_a_loss_the_group_stays() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    for _ in 0..3 {
        let first = start(&contexts[0], "group1");
        let refused = start(&contexts[0], "group1");
        let expected = "group group1 is being regrouped already";
        assert_eq!(refused.try_recv().unwrap().unwrap_err(), expected);
        let others = [1, 2].map(|member| start(&contexts[member], "group1"));
        for met in [&first, &others[0], &others[1]] {
            assert_eq!(wait(&cluster.host, met), Ok("group1".to_owned()));
        }
    }
    let met = start(&contexts[0], "g");
    let expected = "No collective group with name g.";
    assert_eq!(met.try_recv().unwrap().unwrap_err(), expected);
    let waiting = start(&contexts[1], "group1");
    cluster.servers[1].close_context(1).unwrap();
    let expected = "Cancelled: context 1 is closed";
    assert_eq!(wait(&cluster.host, &waiting).unwrap_err(), expected);
}

#[test]
fn a_task_that_the_others_lost_is_told_so() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    // It lives, but one of the others took it for lost. The next heartbeats say so to both.
    lose(&contexts[0], 2);
    let survivors = [0, 1].map(|member| start(&contexts[member], "group1"));
    for met in &survivors {
        assert_eq!(wait(&cluster.host, met), Ok("group1~2".to_owned()));
    }
    let met = start(&contexts[2], "group1");
    let failure = wait(&cluster.host, &met).unwrap_err();
    assert!(
        failure.starts_with("task /job:worker/task:2 is lost to /job:worker/task:"),
        "{failure}"
    );
    let first = contexts[2].cluster().find_task("worker", 0).unwrap();
    let cause = contexts[2].health().lost(first).map(|error| error.message);
    let expected = "task /job:worker/task:0 is lost: it has lost this task";
    assert_eq!(cause.as_deref().unwrap_or(expected), expected);
}

#[test]
fn a_task_that_refuses_tokens_ends_the_meeting() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let refusal = Error::new("no more payloads");
    contexts[1].rendezvous().close(&refusal);
    let met = start(&contexts[0], "group1");
    let failure = wait(&cluster.host, &met).unwrap_err();
    assert!(failure.contains("no more payloads"), "{failure}");
}
