//! Growth: no path from a text or a file to its results takes more than its fair share of time and
//! memory.
//!
//! Each shape is a family of inputs, one for each size. Every step that such an input goes through
//! is measured at one size and at [`FACTOR`] times that size, and must grow less than
//! [`MAX_DOUBLING`] times for each doubling between the two. Linear work does, with a logarithm or
//! without; quadratic work grows four times.
//!
//! What is measured, and why the result depends neither on how fast the machine is nor on what else
//! it does:
//! - *Allocations* and the bytes that they ask for: the same in every run.
//! - *Processor time of the thread*, for work that allocates nothing. Times are only compared with
//!   times of the same machine, and each is the least of several: a disturbance only ever adds
//!   time. A step that seems to grow too fast is measured again, up to [`ROUNDS`] times, and fails
//!   only if the least times still say so.
//!
//! Three doublings at once leave much room between linear (8 times), what is allowed (15.6 times)
//! and quadratic (64 times). Steps of a few milliseconds are never too long.
//!
//! For a search in a release build: `TFRT_GROWTH_SCALE=8` makes all inputs eight times larger,
//! `TFRT_GROWTH_SHAPE=types` takes only the shapes with that in their names, and
//! `TFRT_GROWTH_SHOW=1` prints all costs.

mod cost;

mod shapes;

mod steps;

use std::env;

use cost::Cost;
use shapes::{SHAPES, Shape};
use steps::Steps;

/// How much larger the larger input is.
const FACTOR: usize = 8;

/// How many times more a step may cost at twice the size.
const MAX_DOUBLING: f64 = 2.5;

/// How often a step is measured that seems to grow too fast.
const ROUNDS: usize = 8;

/// Whether a step costs too much at the larger size.
fn grows_too_fast(small: Cost, large: Cost) -> bool {
    let num_doublings = FACTOR.ilog2() as i32;
    large.exceeds(small, MAX_DOUBLING.powi(num_doublings))
}

/// What is wrong with how a shape grows, a line for each step.
fn complaints(shape: &Shape, scale: usize) -> Vec<String> {
    let size = shape.size * scale;
    let measure = |size| Steps::of(|steps| shape.run(size, steps));
    let (mut small, mut large) = (measure(size), measure(size * FACTOR));
    let name = shape.name;
    if !small.names().eq(large.names()) || large.names().last() != Some(shape.reaches) {
        let found = large.found().or(small.found()).unwrap_or("no error");
        return vec![format!(
            "`{name}` is expected to reach `{}`: {found}",
            shape.reaches
        )];
    }
    for round in 0..ROUNDS {
        small.improve(&measure(size));
        let found = complaints_now(shape, &small, &large);
        if found.is_empty() || round + 1 == ROUNDS {
            if env::var_os("TFRT_GROWTH_SHOW").is_some() {
                show(shape, &small, &large);
            }
            return found;
        }
        large.improve(&measure(size * FACTOR));
    }
    unreachable!("the last round returns")
}

fn complaints_now(shape: &Shape, small: &Steps, large: &Steps) -> Vec<String> {
    let both = small.iter().zip(large.iter());
    both.filter(|((_, small), (_, large))| grows_too_fast(*small, *large))
        .map(|((step, small), (_, large))| {
            let name = shape.name;
            format!("`{name}`, {step}: {FACTOR} times the size makes of {small}:\n    {large}")
        })
        .collect()
}

fn show(shape: &Shape, small: &Steps, large: &Steps) {
    for ((step, small), (_, large)) in small.iter().zip(large.iter()) {
        println!("{:32} {step:20} {small}; {large}", shape.name);
    }
}

#[test]
fn twice_the_size_costs_less_than_two_and_a_half_times_as_much() {
    let scale = env::var("TFRT_GROWTH_SCALE").map_or(1, |scale| {
        scale.parse().expect("`TFRT_GROWTH_SCALE` is a number")
    });
    let only = env::var("TFRT_GROWTH_SHAPE").unwrap_or_default();
    let shapes = SHAPES.iter().filter(|shape| shape.name.contains(&only));
    let complaints: Vec<_> = shapes.flat_map(|shape| complaints(shape, scale)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn quadratic_work_is_noticed() {
    let least = |work: &dyn Fn()| {
        let mut least = cost::measure(work).1;
        for _ in 0..ROUNDS {
            least = least.min(cost::measure(work).1);
        }
        least
    };
    let numbers = |n: usize| least(&|| (0..n).for_each(|i| (0..n + i).for_each(use_it)));
    let vectors = |n: usize| least(&|| (0..n).for_each(|_| use_it(vec![0_u8; n])));
    let linear = |n: usize| least(&|| (0..n).for_each(|i| use_it(vec![i; 100])));
    assert!(grows_too_fast(numbers(2000), numbers(2000 * FACTOR)));
    assert!(grows_too_fast(vectors(500), vectors(500 * FACTOR)));
    assert!(!grows_too_fast(linear(500), linear(500 * FACTOR)));
}

fn use_it<T>(value: T) {
    std::hint::black_box(value);
}
