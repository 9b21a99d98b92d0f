//! Tensors that one member sends to another, over a network that loses them.

use std::sync::Arc;

use tfrt_async::AsyncValueRef;

use super::*;
use crate::fabric::in_process::PayloadLoss;

struct Pair {
    cluster: Cluster,
    contexts: Vec<Arc<DistributedContext>>,
    members: Vec<Arc<dyn GroupMember>>,
}

impl Pair {
    fn new() -> Self {
        Self::on("mstd:2")
    }

    fn on(queue: &str) -> Self {
        let cluster = Cluster::new(queue, 2);
        let contexts = cluster.contexts();
        let members = open_all(&contexts);
        Self {
            cluster,
            contexts,
            members,
        }
    }

    /// Loses so many payloads from the first member to the second one.
    fn lose(&self, num_before: u64, count: u64, answers: bool) {
        let address = |member: usize| self.contexts[member].config().own_address().unwrap();
        let loss = PayloadLoss {
            num_before,
            count,
            answers,
        };
        let network = &self.cluster.network;
        network.lose_payloads(address(0), address(1), loss);
    }

    fn send(&self, number: i32) -> Result<(), String> {
        let sent = self.members[0].send("k", 1, &DenseHostTensor::vector(&[number]).unwrap());
        let outcome = self.cluster.host.await_values(&[sent.into()]);
        outcome.map_err(|error| error.message().to_owned())
    }

    fn begin_to_receive(&self) -> AsyncValueRef<DenseHostTensor> {
        self.members[1].recv("k", 0)
    }

    fn end(&self, received: &AsyncValueRef<DenseHostTensor>) -> Result<i32, String> {
        let outcome = self.cluster.host.await_values(&[received.clone().into()]);
        outcome.map_err(|error| error.message().to_owned())?;
        Ok(received.as_result().unwrap().elements::<i32>().unwrap()[0])
    }

    fn receive(&self) -> Result<i32, String> {
        self.end(&self.begin_to_receive())
    }
}

const LOST: &str = "RpcUnavailable: SendData to in-process:1: the request was lost (from task: \
                    /job:worker/task:1)";

#[test]
fn a_lost_tensor_is_an_error_of_its_receive_and_the_next_one_arrives() {
    let pair = Pair::new();
    for waits in [true, false] {
        // The second time, the first abandonments are lost, too.
        pair.lose(0, if waits { 1 } else { 3 }, false);
        let waiting = waits.then(|| pair.begin_to_receive());
        assert_eq!(pair.send(1), Err(LOST.to_owned()));
        let received = waiting.unwrap_or_else(|| pair.begin_to_receive());
        assert_eq!(pair.end(&received), Err(LOST.to_owned()));
        for number in 2..5 {
            let received = pair.begin_to_receive();
            assert_eq!(pair.send(number), Ok(()));
            assert_eq!(pair.end(&received), Ok(number));
        }
    }
}

#[test]
fn a_tensor_that_comes_before_the_abandonment_of_another_one_is_the_next_one() {
    let pair = Pair::new();
    let received = pair.begin_to_receive();
    // The tensor, and the first attempts to say so: the next tensor passes them.
    pair.lose(0, 2, false);
    assert_eq!(pair.send(1), Err(LOST.to_owned()));
    assert_eq!(pair.send(2), Ok(()));
    let error = pair.end(&received).unwrap_err();
    let passed = "receive key k of group group1: the send of member 0 failed";
    assert!(error == passed || error == LOST, "{error}");
    assert_eq!(pair.receive(), Ok(2));
    // The abandonment has come by now, or comes later: it is not that of a later use.
    assert_eq!(pair.send(3), Ok(()));
    assert_eq!(pair.receive(), Ok(3));
}

#[test]
fn a_tensor_whose_answer_is_lost_is_received_once() {
    let pair = Pair::new();
    let lost = LOST.replace("request", "response");
    for waits in [true, false] {
        let waiting = waits.then(|| pair.begin_to_receive());
        pair.lose(0, 1, true);
        assert_eq!(pair.send(1), Err(lost.clone()));
        let received = waiting.unwrap_or_else(|| pair.begin_to_receive());
        assert_eq!(pair.end(&received), Ok(1));
        // Nothing of the abandonment is left for the next one.
        let received = pair.begin_to_receive();
        assert_eq!(pair.send(2), Ok(()));
        assert_eq!(pair.end(&received), Ok(2));
    }
}

#[test]
fn a_tensor_that_is_refused_takes_no_part() {
    let pair = Pair::new();
    pair.send(1).unwrap();
    let refused = pair.send(2).unwrap_err();
    let expected = "AlreadyExists: Value for key ~sent:group1~epoch0:k:0:1 was set twice.";
    assert!(refused.starts_with(expected), "{refused}");
    assert_eq!(pair.receive(), Ok(1));
    // Both members count the same uses, also when they compare them.
    pair.lose(0, 1, false);
    assert_eq!(pair.send(3), Err(LOST.to_owned()));
    assert_eq!(pair.receive(), Err(LOST.to_owned()));
    pair.send(4).unwrap();
    assert_eq!(pair.receive(), Ok(4));
}

#[test]
fn a_tensor_that_cannot_be_read_is_an_error_of_its_receive() {
    let pair = Pair::new();
    let tensor = DenseHostTensor::vector(&[1_i32]).unwrap();
    let mut other = tensor.clone();
    let written = other.buffer_mut().write().unwrap();
    let received = pair.begin_to_receive();
    let sent = pair.members[0].send("k", 1, &tensor);
    drop(written);
    let error = sent.as_result().err().unwrap();
    assert_eq!(pair.end(&received), Err(error.message().to_owned()));
}

#[test]
fn a_key_is_used_by_one_send_at_a_time() {
    // Nothing runs before something is waited for.
    let pair = Pair::on("s");
    let tensor = DenseHostTensor::vector(&[1_i32]).unwrap();
    let sends = [0, 1].map(|_| pair.members[0].send("k", 1, &tensor));
    // Another member is another receiver.
    let own = pair.members[0].send("k", 0, &tensor);
    let outcomes = sends.map(|sent| {
        let outcome = pair.cluster.host.await_values(&[sent.into()]);
        outcome.map_err(|error| error.message().to_owned())
    });
    let refused = "send key k of group group1 is in use";
    assert_eq!(outcomes, [Ok(()), Err(refused.to_owned())]);
    pair.cluster.host.await_values(&[own.into()]).unwrap();
    assert_eq!(pair.receive(), Ok(1));
}
