//! Tests of the reader, the verifier and the writer from outside.

mod common;

mod dumps;

mod golden;

mod rules;

mod damage;

mod listings;

mod programs;

mod memory_safety;
