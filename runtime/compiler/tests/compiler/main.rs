//! The compiler from outside: from programs to files, and back.
#![forbid(unsafe_code)]

mod support;

mod golden;

mod passes;

mod thread_chains;

mod encode_errors;

mod round_trip;
