//! Tests of the public interface of reader, verifier and writer.

mod common;

mod dumps;

mod golden;

mod rules;

mod damage;

mod listings;

mod programs;

mod memory_safety;
