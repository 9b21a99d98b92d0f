//! The programs that tasks are sent.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use prost::bytes::Bytes;
use tfrt_compiler::{EncodeOptions, encode};
use tfrt_distributed::message::{ProgramKind, RegisterFunctionRequest};

use crate::programs;

/// Each has one function, which has the name of the program.
pub const PROGRAMS: [(&str, &str); 4] = [
    (
        "same",
        "func @same(%a: !t.tensor) -> !t.tensor {\n  tfrt.return %a : !t.tensor\n}\n",
    ),
    (
        "chain",
        "func @chain() -> !tfrt.chain {\n  %c = tfrt.new.chain\n  tfrt.return %c : !tfrt.chain\n}\n",
    ),
    (
        "swap",
        "func @swap(%a: !t.tensor, %b: !t.tensor) -> (!t.tensor, !t.tensor) {\n  \
         tfrt.return %b, %a : !t.tensor, !t.tensor\n}\n",
    ),
    (
        "told",
        "func @told(%x: !tfrt_dist.dist_context, %i: !tfrt_dist.remote_object_id) -> \
         !tfrt_dist.remote_object_id {\n  tfrt.return %i : !tfrt_dist.remote_object_id\n}\n",
    ),
];

/// The file of a program; none if the text is not one. Remembers the texts that are.
pub fn encoded(text: &str) -> Option<Vec<u8>> {
    /// More are not remembered.
    const MAX_KNOWN: usize = 64;
    static KNOWN: OnceLock<Mutex<HashMap<String, Vec<u8>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = lock().get(text) {
        return Some(file.clone());
    }
    let file = encode(&programs::read(text).ok()?, &EncodeOptions::default()).ok()?;
    let mut known = lock();
    if known.len() < MAX_KNOWN {
        known.insert(text.to_owned(), file.clone());
    }
    Some(file)
}

/// The request that sends a program.
///
/// # Panics
/// If the program is not sound.
#[must_use]
pub fn registration(context_id: u64, (name, text): (&str, &str)) -> RegisterFunctionRequest {
    let program = encoded(text).unwrap_or_else(|| panic!("`{name}` is a program"));
    RegisterFunctionRequest {
        context_id,
        program_name: name.to_owned(),
        program: Bytes::from(program),
        need_compilation: false,
        program_kind: ProgramKind::Bef as i32,
    }
}
