//! Requests to tasks that nobody vouches for: damaged messages of each method, and sequences of
//! messages that a model foretells. `TFRT_LONG_TESTS` sends a million messages of each method.
//!
//! Live values are counted for the whole process, so that tests run one after the other.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tfrt_distributed::message::Method;
use tfrt_fuzz::catalog::{Feed, find};
use tfrt_fuzz::programs::{self, Printing};
use tfrt_fuzz::requests;
use tfrt_fuzz::seeds::Seeds;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn is_long() -> bool {
    std::env::var_os("TFRT_LONG_TESTS").is_some()
}

#[test]
fn damaged_messages_of_every_method_are_answered_and_leave_nothing_behind() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    programs::set_up(Printing::Silent);
    let num_messages = if is_long() { 1_000_000 } else { 400 };
    for (seed, method) in (20_261_130..).zip(Method::ALL) {
        let (start, before) = (Instant::now(), requests::num_sent());
        let num_accepted = requests::flood(*method, num_messages, seed);
        let num_sent = requests::num_sent() - before;
        let seconds = start.elapsed().as_secs();
        println!("{}: {num_sent} messages, {seconds} s", method.name());
        assert!(num_accepted > 0, "{}: nothing was accepted", method.name());
    }
}

#[test]
fn sequences_of_requests_are_answered_as_a_model_says() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    programs::set_up(Printing::Silent);
    let target = find("request_sequences").expect("a target of that name");
    let golden = Seeds {
        texts: Vec::new(),
        files: Vec::new(),
        left_out: Vec::new(),
    };
    let mut feed = Feed::new(target.food, &golden, 4096, 20_261_130);
    let (num_inputs, mut num_under_way) = (if is_long() { 400_000 } else { 2_000 }, 0);
    for _ in 0..num_inputs {
        let input = feed.next_input();
        if (target.run)(&input) {
            num_under_way += 1;
            feed.keep(input);
        }
    }
    println!("{num_inputs} sequences, {num_under_way} with requests under way at the end");
    assert!(num_under_way > num_inputs / 5, "only {num_under_way}");
}
