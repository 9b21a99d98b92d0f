//! Kernels whose order can be seen: what they do is recorded, or changes what others give.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tfrt::ods::DialectDef;
use tfrt::prelude::*;

/// What the effects of a program were, by class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Class `io`: the numbers that were recorded.
    pub recorded: Vec<i32>,
    /// Class `tell`: the numbers that were told.
    pub told: Vec<i32>,
    /// Class `random`: how many numbers were drawn.
    pub num_drawn: i32,
}

static EFFECTS: Mutex<Effects> = Mutex::new(Effects {
    recorded: Vec::new(),
    told: Vec::new(),
    num_drawn: 0,
});

static RUNNING: Mutex<()> = Mutex::new(());

fn effects() -> MutexGuard<'static, Effects> {
    EFFECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program, while no other one runs and returns its effects.
pub fn observe<T>(run: impl FnOnce() -> T) -> (T, Effects) {
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    *effects() = Effects::default();
    let outcome = run();
    (outcome, std::mem::take(&mut *effects()))
}

/// The number that is drawn when `num_drawn` were drawn with it.
pub fn drawn(num_drawn: i32) -> i32 {
    num_drawn.wrapping_mul(7)
}

/// What a cell holds after a number was put into it.
pub fn after_set(held: i32, number: i32) -> i32 {
    held.wrapping_mul(31).wrapping_add(number)
}

/// What two cells are worth together.
pub fn sum_of(a: i32, b: i32) -> i32 {
    a.wrapping_add(b.wrapping_mul(3))
}

/// Records a number.
#[tfrt_kernel("check.record", side_effecting)]
fn record(value: i32) {
    effects().recorded.push(value);
}

/// Records a number in a task and returns the chain there.
#[tfrt_kernel("check.record_later", effect = "io")]
fn record_later(value: i32, ctx: &ExecutionContext) -> AsyncValueRef<Chain> {
    let (promise, done) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || {
        effects().recorded.push(value);
        promise.emplace(Chain);
    });
    done
}

/// Records a number on the blocking pool.
#[tfrt_kernel("check.record_blocking", side_effecting, blocking)]
fn record_blocking(value: i32) {
    effects().recorded.push(value);
}

/// Records a number, with a chain that is a parameter like others.
#[tfrt_kernel("check.record_chained", effect = "io")]
fn record_chained(chain: Chain, value: i32) -> Chain {
    effects().recorded.push(value);
    chain
}

/// Tells a number.
#[tfrt_kernel("check.tell", effect = "tell")]
fn tell(value: i32) {
    effects().told.push(value);
}

/// Draws a number.
#[tfrt_kernel("check.draw", effect = "random")]
fn draw() -> i32 {
    let mut effects = effects();
    effects.num_drawn += 1;
    drawn(effects.num_drawn)
}

/// Returns the number, in a task.
#[tfrt_kernel("check.later")]
fn later(value: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(value));
    result
}

/// A number that kernels change in place.
#[derive(Debug, Value)]
#[value("!check.cell", mutable)]
struct Cell(i32);

/// Makes a cell.
#[tfrt_kernel("check.make")]
fn make(value: i32) -> Cell {
    Cell(value)
}

/// Puts a number into a cell.
#[tfrt_kernel("check.set")]
fn set(cell: &mut Cell, value: i32) {
    cell.0 = after_set(cell.0, value);
}

/// Returns what a cell holds.
#[tfrt_kernel("check.get")]
fn get(cell: &Cell) -> i32 {
    cell.0
}

/// Returns the sum of what a cell holds and a number.
#[tfrt_kernel("check.get_plus")]
fn get_plus(cell: &Cell, number: i32) -> i32 {
    cell.0.wrapping_add(number)
}

/// Returns what two cells are worth together.
#[tfrt_kernel("check.sum")]
fn sum(a: &Cell, b: &Cell) -> i32 {
    sum_of(a.0, b.0)
}

/// Returns the value itself.
#[tfrt_kernel("check.same")]
fn same(value: AnyRef) -> AnyRef {
    value
}

/// Returns the cell itself.
#[tfrt_kernel("check.view", alias(view = cell), results(view))]
fn view(cell: AsyncValueRef<Cell>) -> AsyncValueRef<Cell> {
    cell
}

const DIALECTS: &[DialectDef] = &[DialectDef {
    allows_inlining: true,
    ..DialectDef::new("check")
}];

tfrt::declare_dialects!(DIALECTS);
