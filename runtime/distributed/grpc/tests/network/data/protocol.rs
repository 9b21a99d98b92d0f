//! The frames of data connections, whole and damaged.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use tfrt_grpc::{GrpcOptions, Token};

use super::{frame, greeting, payload, say, small_call, small_payload, taking};
use crate::{MINUTE, call};

#[test]
fn the_protocol_is_as_documented() {
    let (task, keys) = taking(&GrpcOptions::default());
    let bytes = [greeting(b""), small_payload(9), frame(6, 0, b"")].concat();
    let expected = [frame(4, 0, b""), frame(4, 9, b"")].concat();
    assert_eq!(say(&task, &bytes), expected);
    assert_eq!(*keys.lock().unwrap(), ["k"]);
    // What was aborted does not arrive, and what follows does.
    let half = &small_payload(1)[..31];
    let bytes = [
        &greeting(b"")[..],
        half,
        &frame(3, 0, b""),
        &small_payload(2),
    ]
    .concat();
    let expected = [frame(4, 0, b""), frame(4, 2, b"")].concat();
    assert_eq!(say(&task, &bytes), expected);
    assert_eq!(*keys.lock().unwrap(), ["k", "k"]);
    let bytes = [greeting(b""), small_payload(1), small_call(2, 5)];
    let said = say(&task, &bytes.concat());
    // In any order.
    let [first, second] = [frame(4, 1, b""), frame(4, 2, b"")];
    let answers = &said[frame(4, 0, b"").len()..];
    let orders = [
        [&first[..], &second].concat(),
        [&second[..], &first].concat(),
    ];
    assert!(orders.iter().any(|order| order == answers), "{said:?}");
    assert_eq!(keys.lock().unwrap()[2..], ["k", "f"]);
}

#[test]
fn a_data_connection_needs_the_token() {
    let options = GrpcOptions {
        token: Some(Token::new("0123456789abcdef").unwrap()),
        ..GrpcOptions::default()
    };
    let (task, keys) = taking(&options);
    for secret in [&b""[..], b"Bearer 0123456789abcdeg", b"0123456789abcdef"] {
        let answer = say(&task, &[greeting(secret), small_payload(1)].concat());
        assert_eq!(answer[0], 5, "a failure");
        let said = String::from_utf8_lossy(&answer);
        let expected = match secret {
            b"" => "the request has no token",
            _ => "the token of the request is wrong",
        };
        assert!(said.ends_with(expected), "{said}");
    }
    assert!(keys.lock().unwrap().is_empty());
    // The same task as a client has it.
    assert!(call(&*task.own_client(), payload("k", 1)).is_ok());
    assert_eq!(*keys.lock().unwrap(), ["k"]);
}

#[test]
fn damaged_frames_hurt_nobody() {
    let (task, _) = taking(&GrpcOptions::default());
    let whole = [
        greeting(b""),
        small_payload(1),
        small_call(3, 1),
        small_payload(2),
        small_call(4, 2),
    ]
    .concat();
    let mut seed = 1_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let rounds: Vec<Vec<u8>> = (0..128)
        .map(|_| {
            let mut bytes = whole.clone();
            for _ in 0..=random() % 3 {
                let at = random() % bytes.len();
                match random() % 3 {
                    0 => bytes[at] = random() as u8,
                    1 => bytes.truncate(at + 1),
                    _ => bytes.insert(at, random() as u8),
                }
            }
            bytes
        })
        .collect();
    std::thread::scope(|scope| {
        for bytes in &rounds {
            scope.spawn(|| say(&task, bytes));
        }
    });
    let wrong_sum = [
        greeting(b""),
        frame(1, 1, b"\x1a\x01\x03"),
        frame(2, 7, b"abc"),
        small_payload(2),
    ];
    let said = say(&task, &wrong_sum.concat());
    let text = String::from_utf8_lossy(&said);
    assert!(text.contains("element 0 has a wrong checksum"), "{text}");
    assert!(said.ends_with(&frame(4, 2, b"")), "the next one arrives");
    assert!(call(&*task.own_client(), payload("k", 1)).is_ok());
}

#[test]
fn calls_that_cannot_be_understood_are_answered() {
    let options = GrpcOptions {
        max_message_bytes: 10,
        ..GrpcOptions::default()
    };
    let (task, names) = taking(&options);
    for (body, expected) in [
        (
            &b""[..],
            "malformed call: expected a name of 0 bytes, found 0 bytes",
        ),
        (
            b"\x0dRemoteExecut",
            "malformed call: expected a name of 13 bytes, found 12 bytes",
        ),
        (b"\x04None", "unknown method"),
        (b"\x05Hello", "unknown method"),
        (
            b"\x0dRemoteExecute\x12",
            "malformed RemoteExecute request: ",
        ),
        (
            b"\x0dRemoteExecute\xa0\x06",
            "malformed RemoteExecute request: ",
        ),
        (
            b"\x0dRemoteExecute\x12\x09abcdefghi",
            "a request of 11 bytes exceeds the limit of 10 bytes",
        ),
    ] {
        let said = say(
            &task,
            &[greeting(b""), frame(8, 7, body), small_call(8, 1)].concat(),
        );
        let (_, said) = said.split_at(frame(4, 0, b"").len());
        assert_eq!((said[0], said[8]), (5, 7), "a failure of the call");
        let text = String::from_utf8_lossy(said);
        assert!(text.contains(expected), "{text}");
        assert!(
            said.ends_with(&frame(4, 8, b"")),
            "the next one is answered"
        );
    }
    // The same number of a request each time.
    assert_eq!(*names.lock().unwrap(), ["f"]);
}

#[test]
fn calls_where_none_may_be_end_their_connection() {
    let (task, names) = taking(&GrpcOptions::default());
    let accepted = frame(4, 0, b"");
    // Too large, which its header says; within a payload; and what only a server sends.
    let too_large = &frame(8, 1, &[0; (64 << 10) + 1])[..16];
    let within = [&small_payload(1)[..31], &small_call(2, 1)].concat();
    for bytes in [too_large, &within, &frame(4, 1, b"")] {
        let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
        stream.set_read_timeout(Some(MINUTE)).unwrap();
        stream.write_all(&[&greeting(b""), bytes].concat()).unwrap();
        let mut said = Vec::new();
        // It ends, maybe before all that was written to it is read.
        if let Err(error) = stream.read_to_end(&mut said) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert_eq!(said, accepted);
    }
    assert!(names.lock().unwrap().is_empty());
}
