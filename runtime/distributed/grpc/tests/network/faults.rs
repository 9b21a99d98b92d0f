//! Bad networks, and receivers that take nothing. `TFRT_LONG_TESTS` makes the tests long.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::{
    DistributedContextConfiguration, KeepAliveResponse, RemoteExecuteRequest,
    RemoteExecuteResponse, Request, SendDataRequest, SendDataResponse,
};
use tfrt_distributed::{Answer, Server, ServerConfig};
use tfrt_grpc::{GrpcOptions, TYPE_NAME};

use super::proxy::{Behaviour, Proxy};
use super::{MINUTE, begin, call, fake, free_address, host, is_long, ping, text};

/// The time after which a test of this file has failed.
fn limit() -> Duration {
    MINUTE * if is_long() { 15 } else { 1 }
}

#[test]
fn executions_over_a_bad_network_run_once() {
    let (count, behaviour) = match is_long() {
        true => (
            2000,
            Behaviour {
                delay: Duration::from_millis(50),
                bytes_per_second: Some(1_000_000),
                cuts_per_mille: 10,
                seed: 1,
                is_old: false,
            },
        ),
        false => (
            60,
            Behaviour {
                delay: Duration::from_millis(2),
                bytes_per_second: Some(1_000_000),
                cuts_per_mille: 30,
                seed: 1,
                is_old: false,
            },
        ),
    };
    let host = host();
    let runs: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    let counted = Arc::clone(&runs);
    let task = fake(&host, &GrpcOptions::default(), move |request, reply| {
        if let Request::RemoteExecute(request) = request {
            let mut runs = counted.lock().unwrap();
            *runs.entry(request.program_name).or_default() += 1;
        }
        reply.send(Ok(RemoteExecuteResponse::default().into()));
    });
    let proxy = Proxy::with(task.communicator.address(), behaviour);
    let client = task.communicator.client(&proxy.address);
    let end = Instant::now() + limit();
    let (mut num_successes, mut num_errors) = (0, 0);
    // Some at a time, and some without retries: a cut is then an error.
    for batch in (0..count).collect::<Vec<usize>>().chunks(8) {
        let answers = batch.iter().map(|number| {
            let request = RemoteExecuteRequest {
                program_name: format!("f{number}"),
                ..RemoteExecuteRequest::default()
            };
            let options = CallOptions {
                max_retries: if number % 4 == 0 { 0 } else { 100 },
                ..CallOptions::default()
            };
            (number, begin(&*client, options, request))
        });
        let answers: Vec<_> = answers.collect();
        for (number, answer) in answers {
            let left = end.saturating_duration_since(Instant::now());
            let answer: Answer<RemoteExecuteResponse> =
                answer.recv_timeout(left).expect("every call ends");
            let name = format!("f{number}");
            let num_runs = runs.lock().unwrap().get(&name).copied().unwrap_or(0);
            match answer {
                Ok(_) => assert_eq!(num_runs, 1, "{name} succeeded"),
                Err(errors) => assert!(num_runs <= 1, "{name} ran {num_runs} times: {errors}"),
            }
            match num_runs {
                1 => num_successes += 1,
                _ => num_errors += 1,
            }
        }
    }
    let num_cuts = proxy.num_cuts();
    println!("{num_successes} executions, {num_errors} without one, {num_cuts} cuts");
    assert!(num_cuts > 0, "the network was too good");
    // None runs twice, not even later.
    assert!(runs.lock().unwrap().values().all(|runs| *runs == 1));
}

#[test]
fn any_number_of_answers_may_be_lost() {
    // More than there are answers in a small buffer.
    const COUNT: usize = 10_000;
    let host = host();
    let num_runs: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&num_runs);
    let (held, replies) = channel();
    let held = Mutex::new(held);
    let task = fake(&host, &GrpcOptions::default(), move |_, reply| {
        // The test takes those of the first runs.
        if counted.fetch_add(1, Ordering::SeqCst) < COUNT {
            held.lock().unwrap().send(reply).unwrap();
        } else {
            reply.send(Ok(RemoteExecuteResponse::default().into()));
        }
    });
    let proxy = Proxy::to(task.communicator.address());
    let client = task.communicator.client(&proxy.address);
    let options = CallOptions {
        max_retries: 100,
        ..CallOptions::default()
    };
    let answers: Vec<_> = (0..COUNT)
        .map(|_| begin(&*client, options.clone(), RemoteExecuteRequest::default()))
        .collect();
    let replies: Vec<_> = (0..COUNT)
        .map(|_| replies.recv_timeout(MINUTE).unwrap())
        .collect();
    // All have run, and no answer arrives.
    proxy.freeze();
    for reply in replies {
        reply.send(Ok(RemoteExecuteResponse::default().into()));
    }
    proxy.cut();
    proxy.thaw();
    for answer in answers {
        let answer: Answer<RemoteExecuteResponse> = answer.recv_timeout(MINUTE).unwrap();
        assert!(answer.is_ok(), "{answer:?}");
    }
    assert_eq!(num_runs.load(Ordering::SeqCst), COUNT);
}

#[test]
fn requests_under_way_have_a_limit() {
    let host = host();
    let options = GrpcOptions {
        max_pending_bytes: 16 << 10,
        ..GrpcOptions::default()
    };
    let (held, replies) = channel();
    let held = Mutex::new(held);
    let task = fake(&host, &options, move |request, reply| match request {
        Request::RemoteExecute(_) => held.lock().unwrap().send(reply).unwrap(),
        _ => reply.send(Ok(KeepAliveResponse {}.into())),
    });
    let client = task.communicator.client(task.communicator.address());
    let execute = |max_retries| {
        let options = CallOptions {
            max_retries,
            ..CallOptions::default()
        };
        begin(&*client, options, RemoteExecuteRequest::default())
    };
    let waiting: Vec<_> = (0..15).map(|_| execute(16)).collect();
    let replies: Vec<_> = (0..15)
        .map(|_| replies.recv_timeout(MINUTE).unwrap())
        .collect();
    // Whether or not it would be sent again.
    for max_retries in [0, 16] {
        let refused: Answer<RemoteExecuteResponse> =
            execute(max_retries).recv_timeout(MINUTE).unwrap();
        let message = text(refused);
        let expected = "the requests under way would exceed the limit of 16384 bytes";
        assert!(message.ends_with(expected), "{message}");
    }
    // The task still hears what ends requests.
    assert!(call(&*client, ping()).is_ok());
    for reply in replies {
        reply.send(Ok(RemoteExecuteResponse::default().into()));
    }
    for answer in waiting {
        assert!(answer.recv_timeout(MINUTE).unwrap().is_ok());
    }
}

#[test]
fn a_heartbeat_does_not_wait_for_payloads() {
    let host = host();
    let task = fake(&host, &GrpcOptions::default(), |request, reply| {
        reply.send(match request {
            Request::SendData(_) => Ok(SendDataResponse {}.into()),
            _ => Ok(KeepAliveResponse {}.into()),
        });
    });
    // The first payload takes a minute and more.
    let behaviour = Behaviour {
        bytes_per_second: Some(50_000),
        ..Behaviour::default()
    };
    let proxy = Proxy::with(task.communicator.address(), behaviour);
    let client = task.communicator.client(&proxy.address);
    // More than both ends take before anybody reads it.
    let payloads: Vec<_> = (0..16)
        .map(|number| {
            let request = SendDataRequest {
                context_id: 1,
                instance_key: format!("k{number}"),
                payload: vec![vec![7; 4 << 20].into()],
            };
            begin(&*client, CallOptions::default(), request)
        })
        .collect();
    for _ in 0..3 {
        assert!(call(&*client, ping()).is_ok());
    }
    for payload in payloads {
        let found = payload.try_recv();
        assert!(
            matches!(found, Err(TryRecvError::Empty)),
            "the network was too good"
        );
    }
}

/// Returns the memory of this process, in bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kibibytes.unwrap_or(0_usize) * 1024
}

#[test]
fn a_receiver_that_takes_nothing_holds_the_sender_up() {
    const PAYLOAD: usize = 1 << 20;
    // 10 GiB, or 96 MiB.
    let count: usize = if is_long() { 10 << 10 } else { 96 };
    let limit_bytes = 16 << 20;
    let host = host();
    let addresses = [free_address(), free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String| {
        let config = ServerConfig {
            max_unclaimed_bytes: limit_bytes,
            ..ServerConfig::new(TYPE_NAME, address)
        };
        Server::new(&host, config).unwrap()
    };
    let servers = addresses.each_ref().map(start);
    let (sender, done) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap();
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let receiver = servers[1].context(7).unwrap();
    let to = context.cluster().find_task("worker", 1).unwrap();
    let from = receiver.cluster().find_task("worker", 0).unwrap();
    let before = resident_bytes();
    // The sender has the same memory for all of them.
    let payload = Bytes::from(vec![7; PAYLOAD]);
    let (sender, ended) = channel();
    for number in 0..count {
        let sender = sender.clone();
        context.send_data(
            to,
            format!("k{number}"),
            vec![payload.clone()],
            move |answer| {
                // A test that failed does not wait any more.
                let _ = sender.send(answer);
            },
        );
    }
    // As many as have room arrive, and no more: each needs a little more than its bytes.
    let room = limit_bytes / PAYLOAD - 1;
    let mut num_ended = 0;
    while num_ended < room {
        ended.recv_timeout(MINUTE).unwrap().unwrap();
        num_ended += 1;
    }
    let another = ended.recv_timeout(Duration::from_millis(300));
    assert!(another.is_err(), "{room} payloads have room: {another:?}");
    assert_eq!(receiver.rendezvous().num_payloads(), room);
    // Another one does not wait for ever.
    let (late, answer) = channel();
    let timeout = Some(Duration::from_millis(200));
    context.send_data_within(timeout, to, "late", vec![payload], move |outcome| {
        let _ = late.send(outcome);
    });
    let error = answer
        .recv_timeout(MINUTE)
        .unwrap()
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("RpcDeadlineExceeded: "), "{error}");
    // What is on its way, in buffers of both sides, and what waits.
    let grown = resident_bytes().saturating_sub(before);
    let most = limit_bytes + 2 * (256 << 20);
    assert!(grown < most, "{grown} bytes of memory for {limit_bytes}");
    // Once payloads are taken, the others come.
    let end = Instant::now() + limit();
    for number in 0..count {
        let (sender, received) = channel();
        let take = move |payload: Result<tfrt_distributed::Payload, _>| {
            let _ = sender.send(payload.map(|payload| payload.buffers()[0].len_bytes()));
        };
        receiver.receive(from, &format!("k{number}"), Box::new(take));
        let left = end.saturating_duration_since(Instant::now());
        let len = received.recv_timeout(left).expect("it comes").unwrap();
        assert_eq!(len, PAYLOAD);
    }
    while num_ended < count {
        ended.recv_timeout(MINUTE).unwrap().unwrap();
        num_ended += 1;
    }
    // The payload whose deadline passed may still have arrived, as after any deadline.
    let unclaimed = format!("{:?}", receiver.rendezvous());
    assert!(["{}", "{\"late\"}"].contains(&&*unclaimed), "{unclaimed}");
    println!("{count} payloads; {} MiB more memory at most", grown >> 20);
}
