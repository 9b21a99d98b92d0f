//! What a program that does nothing takes, built alike.

fn main() {}
