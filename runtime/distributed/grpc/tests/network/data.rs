//! Data connections between tasks, when something goes wrong.

mod calls;

mod ends;

mod payloads;

mod protocol;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tfrt_distributed::fabric::Reply;
use tfrt_distributed::message::{
    DeleteRemoteObjectsResponse, RemoteExecuteRequest, RemoteExecuteResponse, Request, Response,
    SendDataRequest, SendDataResponse,
};
use tfrt_grpc::GrpcOptions;

use super::{Fake, fake, host};

fn payload(key: &str, num_bytes: usize) -> SendDataRequest {
    SendDataRequest {
        context_id: 1,
        instance_key: key.to_owned(),
        payload: vec![vec![7; num_bytes].into()],
    }
}

fn execute(program: &str) -> RemoteExecuteRequest {
    RemoteExecuteRequest {
        program_name: program.to_owned(),
        ..RemoteExecuteRequest::default()
    }
}

/// Answers a payload or a call.
fn answer(request: &Request, reply: Reply<Response>) {
    reply.send(Ok(match request {
        Request::SendData(_) => SendDataResponse {}.into(),
        Request::DeleteRemoteObjects(_) => DeleteRemoteObjectsResponse {}.into(),
        _ => RemoteExecuteResponse::default().into(),
    }));
}

/// A task that answers payloads and calls, and notes the keys and the names of the programs.
fn taking(options: &GrpcOptions) -> (Fake, Arc<Mutex<Vec<String>>>) {
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&names);
    let task = fake(&host(), options, move |request, reply| {
        match &request {
            Request::SendData(request) => {
                noted.lock().unwrap().push(request.instance_key.clone());
            }
            Request::RemoteExecute(request) => {
                noted.lock().unwrap().push(request.program_name.clone());
            }
            _ => {}
        }
        answer(&request, reply);
    });
    (task, names)
}

const PREFACE: &[u8] = b"TFRT data 1\n";

/// A frame as the protocol has it.
fn frame(kind: u8, value: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind, 0, 0, 0];
    frame.extend((body.len() as u32).to_le_bytes());
    frame.extend(value.to_le_bytes());
    frame.extend_from_slice(body);
    frame
}

/// Sends bytes to a task, and returns what it says until it closes the connection or says no more.
fn say(task: &Fake, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(task.communicator.address()).unwrap();
    let timeout = Some(Duration::from_millis(100));
    stream.set_read_timeout(timeout).unwrap();
    // The task may have closed it.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fn greeting(secret: &[u8]) -> Vec<u8> {
    [PREFACE, &(secret.len() as u32).to_le_bytes(), secret].concat()
}

/// A payload of three bytes, `abc`, under the key `k`.
fn small_payload(number: u64) -> Vec<u8> {
    let head = b"\x09\x01\0\0\0\0\0\0\0\x12\x01k\x1a\x01\x03";
    [frame(1, number, head), frame(2, 0x364b_3fb7, b"abc")].concat()
}

/// An execution of the program `f`, with the number of a request.
fn small_call(number: u64, request_id: u8) -> Vec<u8> {
    let request = b"\x0dRemoteExecute\x12\x01f\xa0\x06";
    frame(8, number, &[&request[..], &[request_id]].concat())
}
