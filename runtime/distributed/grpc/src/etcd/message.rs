//! The messages of etcd's API, version 3, with the fields that are used here.

use prost::Message;

/// What every response begins with.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResponseHeader {
    /// The number of changes to the store so far.
    #[prost(int64, tag = "3")]
    pub(crate) revision: i64,
}

/// A key with its value.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) value: Vec<u8>,
    /// The key is deleted with this lease.
    #[prost(int64, tag = "6")]
    pub(crate) lease: i64,
}

/// Asks for the keys from `key` to before `range_end`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) range_end: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) kvs: Vec<KeyValue>,
}

/// Sets a key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(crate) lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PutResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<ResponseHeader>,
}

/// Compares a key, and does one thing or another in the same step.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TxnRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) success: Vec<RequestOp>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) failure: Vec<RequestOp>,
}

impl TxnRequest {
    /// Sets a key that does not exist, or returns it.
    pub(crate) fn put_if_absent(put: PutRequest) -> Self {
        let read = RangeRequest {
            key: put.key.clone(),
            range_end: Vec::new(),
        };
        Self {
            compare: vec![Compare {
                result: EQUAL,
                target: CREATE,
                key: put.key.clone(),
                create_revision: Some(0),
            }],
            success: vec![RequestOp {
                put: Some(put),
                ..RequestOp::default()
            }],
            failure: vec![RequestOp {
                range: Some(read),
                ..RequestOp::default()
            }],
        }
    }
}

/// The value of [`Compare::result`] that demands equality.
pub(crate) const EQUAL: i32 = 0;

/// The value of [`Compare::target`] for the revision that created a key.
pub(crate) const CREATE: i32 = 1;

/// A condition of a key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Compare {
    #[prost(int32, tag = "1")]
    pub(crate) result: i32,
    #[prost(int32, tag = "2")]
    pub(crate) target: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key: Vec<u8>,
    /// Part of a choice, so that 0 is sent. A key that does not exist has 0.
    #[prost(int64, optional, tag = "5")]
    pub(crate) create_revision: Option<i64>,
}

/// A request in a transaction: one of its fields.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RequestOp {
    #[prost(message, optional, tag = "1")]
    pub(crate) range: Option<RangeRequest>,
    #[prost(message, optional, tag = "2")]
    pub(crate) put: Option<PutRequest>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TxnResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<ResponseHeader>,
    /// Whether the conditions were met.
    #[prost(bool, tag = "2")]
    pub(crate) succeeded: bool,
    #[prost(message, repeated, tag = "3")]
    pub(crate) responses: Vec<ResponseOp>,
}

impl TxnResponse {
    /// Returns the keys that were read.
    pub(crate) fn found(&self) -> impl Iterator<Item = &KeyValue> {
        let ranges = self.responses.iter().filter_map(|op| op.range.as_ref());
        ranges.flat_map(|range| &range.kvs)
    }
}

/// A response in a transaction.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResponseOp {
    #[prost(message, optional, tag = "1")]
    pub(crate) range: Option<RangeResponse>,
    #[prost(message, optional, tag = "2")]
    pub(crate) put: Option<PutResponse>,
}

/// Asks for a lease.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseGrantRequest {
    /// The number of seconds until it ends, unless it is kept alive.
    #[prost(int64, tag = "1")]
    pub(crate) ttl: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseGrantResponse {
    #[prost(int64, tag = "2")]
    pub(crate) id: i64,
    #[prost(int64, tag = "3")]
    pub(crate) ttl: i64,
    #[prost(string, tag = "4")]
    pub(crate) error: String,
}

/// Ends a lease.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseRevokeRequest {
    #[prost(int64, tag = "1")]
    pub(crate) id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseRevokeResponse {}

/// Keeps a lease alive.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseKeepAliveRequest {
    #[prost(int64, tag = "1")]
    pub(crate) id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LeaseKeepAliveResponse {
    #[prost(int64, tag = "2")]
    pub(crate) id: i64,
    /// 0 if the lease has ended.
    #[prost(int64, tag = "3")]
    pub(crate) ttl: i64,
}

/// Begins to watch keys.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WatchRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) create_request: Option<WatchCreateRequest>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct WatchCreateRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) range_end: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct WatchResponse {
    #[prost(bool, tag = "3")]
    pub(crate) created: bool,
    #[prost(bool, tag = "4")]
    pub(crate) canceled: bool,
    #[prost(message, repeated, tag = "11")]
    pub(crate) events: Vec<Event>,
}

/// A change of a key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Event {
    /// 0 if the key was set, 1 if it was deleted.
    #[prost(int32, tag = "1")]
    pub(crate) kind: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) kv: Option<KeyValue>,
}
