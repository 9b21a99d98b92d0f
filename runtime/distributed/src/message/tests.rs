//! The bytes and the text of messages.

use prost::Message;
use prost::bytes::Bytes;

use super::*;

/// The bytes of a message, which other versions must read.
fn check(request: impl Into<Request>, expected: &[u8]) {
    let request = request.into();
    let bytes = request.encode();
    assert_eq!(bytes, expected, "{request:?}");
    let decoded = Request::decode(request.method(), bytes.into()).unwrap();
    assert_eq!(decoded, request);
}

fn id() -> RemoteObjectIdProto {
    RemoteObjectIdProto {
        prefix_id: 300,
        local_id: 2,
        device: "d".to_owned(),
        ..RemoteObjectIdProto::default()
    }
}

#[test]
fn messages_keep_their_bytes() {
    check(GetDevicesRequest {}, &[]);
    check(
        KeepAliveRequest { context_id: 5 },
        b"\x09\x05\0\0\0\0\0\0\0",
    );
    check(
        SendDataRequest {
            context_id: 1,
            instance_key: "k".to_owned(),
            payload: vec![Bytes::from_static(b"ab"), Bytes::new()],
        },
        b"\x09\x01\0\0\0\0\0\0\0\x12\x01k\x1a\x02ab\x1a\x00",
    );
    check(
        RegisterFunctionRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            program: Bytes::from_static(b"x"),
            need_compilation: true,
            program_kind: ProgramKind::Bef.into(),
        },
        b"\x09\x01\0\0\0\0\0\0\0\x12\x01f\x1a\x01x\x20\x01\xa8\x06\x01",
    );
    check(
        RemoteExecuteRequest {
            context_id: 0,
            program_name: "f".to_owned(),
            input: vec![id()],
            output: vec![RemoteOutput {
                id: Some(id()),
                need_metadata: true,
            }],
            execution_id: 0,
            invocation: 0,
        },
        b"\x12\x01f\x1a\x08\x08\xac\x02\x10\x02\x1a\x01d\x22\x0c\x0a\x08\x08\xac\x02\x10\x02\x1a\x01d\x10\x01",
    );
    let configuration = &DistributedContextConfiguration::local_cluster(&["a".to_owned()])[0];
    check(
        CreateContextRequest {
            context_id: 0,
            dist_config: Some(configuration.clone()),
            devices: vec![DeviceInfo {
                name: "n".to_owned(),
                r#type: "t".to_owned(),
            }],
            is_multi_client: true,
            ..CreateContextRequest::default()
        },
        b"\x12\x4b\x0a\x23\x0a\x0d\x0a\x06worker\x12\x03\x12\x01a\x12\x12/job:worker/task:0\
          \x12\x1c\x0a\x06group1\x12\x12/job:worker/task:0\x1a\x06worker\x1a\x06\x0a\x01n\x12\x01t\x20\x01",
    );
}

#[test]
fn messages_about_contexts_keep_their_bytes() {
    check(
        CloseContextRequest { context_id: 1 },
        b"\x09\x01\0\0\0\0\0\0\0",
    );
    check(
        SendReadyChainsRequest {
            context_id: 1,
            ready_chains: vec![id()],
        },
        b"\x09\x01\0\0\0\0\0\0\0\x12\x08\x08\xac\x02\x10\x02\x1a\x01d",
    );
    check(
        HeartbeatRequest {
            context_id: 1,
            sender: "s".to_owned(),
            lost: vec![LostTask {
                name: "l".to_owned(),
                cause: "c".to_owned(),
            }],
        },
        b"\x09\x01\0\0\0\0\0\0\0\x12\x01s\x1a\x06\x0a\x01l\x12\x01c",
    );
    check(
        CancelExecutionRequest {
            context_id: 1,
            execution_id: 2,
        },
        b"\x09\x01\0\0\0\0\0\0\0\x11\x02\0\0\0\0\0\0\0",
    );
}

#[test]
fn messages_about_objects_keep_their_bytes() {
    const OBJECT: &[u8] = b"\x08\xac\x02\x10\x02\x1a\x01d";
    check(
        RemoteExecuteOpRequest {
            context_id: 0,
            op_handler_name: "h".to_owned(),
            op_name: "o".to_owned(),
            in_chain: Some(id()),
            out_chain: Some(id()),
            input: vec![id()],
            output: vec![RemoteOutput {
                id: Some(id()),
                need_metadata: true,
            }],
            attributes: vec![OpAttribute {
                name: "a".to_owned(),
                value: vec![1, 300],
                is_array: true,
            }],
            attribute_set: None,
        },
        &[
            b"\x12\x01h\x1a\x01o\x22\x08",
            OBJECT,
            b"\x2a\x08",
            OBJECT,
            b"\x32\x08",
            OBJECT,
            b"\x3a\x0c\x0a\x08",
            OBJECT,
            b"\x10\x01\x42\x0a\x0a\x01a\x12\x03\x01\xac\x02\x18\x01",
        ]
        .concat(),
    );
    let produced = RemoteObjectIdProto {
        producer: "t".to_owned(),
        ..id()
    };
    check(
        DeleteRemoteObjectsRequest {
            context_id: 0,
            input: vec![produced],
        },
        &[b"\x12\x0c", OBJECT, b"\xaa\x06\x01t"].concat(),
    );
    let fetch = FetchObjectRequest {
        context_id: 0,
        object: Some(id()),
        receiver: "r".to_owned(),
        instance_key: "k".to_owned(),
    };
    let rest: &[u8] = b"\x1a\x01r\x22\x01k";
    check(fetch, &[b"\x12\x08", OBJECT, rest].concat());
    let put = PutObjectRequest {
        context_id: 0,
        object: Some(id()),
        sender: "r".to_owned(),
        instance_key: "k".to_owned(),
    };
    check(put, &[b"\x12\x08", OBJECT, rest].concat());
    let delete = DeleteRemoteObjectsRequest {
        context_id: 0,
        input: vec![id(), id()],
    };
    check(delete, &[b"\x12\x08", OBJECT, b"\x12\x08", OBJECT].concat());
}

/// As `check`, for a response.
fn check_response(response: impl Into<Response>, method: Method, expected: &[u8]) {
    let response = response.into();
    assert_eq!(response.encode(), expected, "{response:?}");
    let decoded = Response::decode(method, Bytes::copy_from_slice(expected)).unwrap();
    assert_eq!(decoded, response);
}

#[test]
fn responses_keep_their_bytes() {
    check_response(
        GetDevicesResponse {
            devices: vec![DeviceInfo {
                name: "n".to_owned(),
                r#type: "t".to_owned(),
            }],
            load: Some(TaskLoad {
                num_contexts: 1,
                num_objects: 2,
                num_unclaimed: 3,
                programs: vec![SentProgram {
                    context_id: 4,
                    name: "p".to_owned(),
                    num_bytes: 5,
                }],
                num_unserved: 6,
            }),
        },
        Method::GetDevices,
        b"\x0a\x06\x0a\x01n\x12\x01t\xaa\x06\x11\x08\x01\x10\x02\x18\x03\x22\x07\x08\x04\x12\x01p\x18\x05\x28\x06",
    );
    check_response(
        CreateContextResponse {
            ready_chain: Some(id()),
        },
        Method::CreateContext,
        b"\x0a\x08\x08\xac\x02\x10\x02\x1a\x01d",
    );
    check_response(
        HeartbeatResponse {
            incarnation: 1,
            is_lost: true,
            lost: Vec::new(),
        },
        Method::Heartbeat,
        b"\x09\x01\0\0\0\0\0\0\0\x10\x01",
    );
    check_response(
        HeartbeatResponse {
            incarnation: 1,
            is_lost: false,
            lost: vec![LostTask {
                name: "l".to_owned(),
                cause: "c".to_owned(),
            }],
        },
        Method::Heartbeat,
        b"\x09\x01\0\0\0\0\0\0\0\x1a\x06\x0a\x01l\x12\x01c",
    );
    check_response(
        RegisterFunctionResponse {
            output_device: vec!["d".to_owned()],
        },
        Method::RegisterFunction,
        b"\x0a\x01d",
    );
    let error = || OutputError {
        index: 1,
        code: 2,
        message: "m".to_owned(),
    };
    let metadata: &[u8] = b"\x0a\x02ab\xaa\x06\x07\x08\x01\x10\x02\x1a\x01m";
    check_response(
        RemoteExecuteResponse {
            metadata: vec![Bytes::from_static(b"ab")],
            metadata_errors: vec![error()],
        },
        Method::RemoteExecute,
        metadata,
    );
    check_response(
        RemoteExecuteOpResponse {
            metadata: vec![Bytes::from_static(b"ab")],
            metadata_errors: vec![error()],
        },
        Method::RemoteExecuteOp,
        metadata,
    );
    check_response(CloseContextResponse {}, Method::CloseContext, b"");
    check_response(SendReadyChainsResponse {}, Method::SendReadyChains, b"");
    check_response(KeepAliveResponse {}, Method::KeepAlive, b"");
    check_response(SendDataResponse {}, Method::SendData, b"");
    check_response(CancelExecutionResponse {}, Method::CancelExecution, b"");
    check_response(FetchObjectResponse {}, Method::FetchObject, b"");
    check_response(PutObjectResponse {}, Method::PutObject, b"");
    check_response(
        DeleteRemoteObjectsResponse {},
        Method::DeleteRemoteObjects,
        b"",
    );
}

#[test]
fn unknown_fields_are_ignored() {
    let bytes = b"\x09\x05\0\0\0\0\0\0\0\xfa\x07\x03new";
    let decoded = Request::decode(Method::KeepAlive, Bytes::from_static(bytes)).unwrap();
    assert_eq!(decoded, KeepAliveRequest { context_id: 5 }.into());
}

#[test]
fn the_order_of_tasks_does_not_count() {
    let one = b"\x0a\x01j\x12\x05\x08\x01\x12\x01a\x12\x05\x08\x02\x12\x01b";
    let other = b"\x0a\x01j\x12\x05\x08\x02\x12\x01b\x12\x05\x08\x01\x12\x01a";
    let decode = |bytes: &'static [u8]| JobConfiguration::decode(bytes).unwrap();
    assert_eq!(decode(one), decode(other));
}
