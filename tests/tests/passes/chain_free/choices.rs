//! What is chosen at random: lines of functions, with numbers that pick values and functions among
//! those that are there.

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop};
use proptest::prop_oneof;

/// A function that others may call.
#[derive(Clone, Debug)]
pub struct Choices {
    pub is_private: bool,
    /// Whether it is the body of a loop, not one to call.
    pub is_loop_body: bool,
    pub block: Block,
}

/// Lines, and a number and a cell to give.
#[derive(Clone, Debug)]
pub struct Block {
    pub lines: Vec<Line>,
    pub number: u8,
    pub cell: u8,
}

/// Picks: two numbers and two cells.
pub type Picks = (u8, u8, u8, u8);

#[derive(Clone, Debug)]
pub enum Line {
    Constant(i8),
    Binary(&'static str, u8, u8),
    Later(u8),
    /// The line, whose number arrives late, so that it happens late if it can.
    Late(Box<Line>),
    Record(&'static str, u8),
    Draw,
    Make(u8),
    Set(u8, u8),
    Get(u8),
    GetPlus(u8, u8),
    Sum(u8, u8),
    Same(u8),
    View(u8),
    Call {
        callee: u8,
        picks: Picks,
        is_strict: bool,
    },
    /// `cond` or, with a number, `case`.
    CallOneOf {
        callees: (u8, u8),
        takes_second: bool,
        is_case: bool,
        picks: Picks,
    },
    If {
        condition: bool,
        picks: Picks,
        branches: Box<(Block, Block)>,
    },
    Repeat {
        count: u8,
        picks: Picks,
        body: Box<Block>,
    },
    While {
        body: u8,
        count: u8,
        picks: Picks,
    },
    Async {
        picks: Picks,
        body: Box<Block>,
    },
    ParallelFor {
        end: u8,
        number: u8,
        cell: u8,
    },
}

pub fn function() -> impl Strategy<Value = Choices> {
    (any::<bool>(), prop::bool::weighted(0.2), block(2)).prop_map(
        |(is_private, is_loop_body, block)| Choices {
            is_private,
            is_loop_body,
            block,
        },
    )
}

/// A block with regions nested this deep.
fn block(depth: u32) -> BoxedStrategy<Block> {
    let lines = prop::collection::vec(line(depth), 0..8);
    (lines, any::<u8>(), any::<u8>())
        .prop_map(|(lines, number, cell)| Block {
            lines,
            number,
            cell,
        })
        .boxed()
}

fn line(depth: u32) -> BoxedStrategy<Line> {
    let timed = prop_oneof![
        5 => (
            prop::sample::select(&["record", "record_later", "record_blocking", "record_chained", "tell"][..]),
            any::<u8>()
        )
            .prop_map(|(op, a)| Line::Record(op, a)),
        5 => (any::<u8>(), any::<u8>()).prop_map(|(cell, a)| Line::Set(cell, a)),
        5 => (any::<u8>(), any::<u8>()).prop_map(|(cell, a)| Line::GetPlus(cell, a)),
    ];
    let timed = (timed, any::<bool>()).prop_map(|(line, is_late)| match is_late {
        true => Line::Late(Box::new(line)),
        false => line,
    });
    let plain = prop_oneof![
        15 => timed,
        1 => any::<i8>().prop_map(Line::Constant),
        2 => (prop::sample::select(&["tfrt.add.i32", "tfrt.mul.i32"][..]), any::<u8>(), any::<u8>())
            .prop_map(|(op, a, b)| Line::Binary(op, a, b)),
        2 => any::<u8>().prop_map(Line::Later),
        2 => Just(Line::Draw),
        1 => any::<u8>().prop_map(Line::Make),
        2 => any::<u8>().prop_map(Line::Get),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Line::Sum(a, b)),
        1 => any::<u8>().prop_map(Line::Same),
        1 => any::<u8>().prop_map(Line::View),
        5 => (any::<u8>(), any::<Picks>(), prop::bool::weighted(0.7))
            .prop_map(|(callee, picks, is_strict)| Line::Call { callee, picks, is_strict }),
        1 => (any::<(u8, u8)>(), any::<bool>(), any::<bool>(), any::<Picks>()).prop_map(
            |(callees, takes_second, is_case, picks)| Line::CallOneOf {
                callees,
                takes_second,
                is_case,
                picks
            }
        ),
        1 => (any::<u8>(), 0..4_u8, any::<Picks>())
            .prop_map(|(body, count, picks)| Line::While { body, count, picks }),
        1 => (0..5_u8, any::<u8>(), any::<u8>())
            .prop_map(|(end, number, cell)| Line::ParallelFor { end, number, cell }),
    ];
    if depth == 0 {
        return plain.boxed();
    }
    let inner = || block(depth - 1);
    prop_oneof![
        20 => plain,
        1 => (any::<bool>(), any::<Picks>(), inner(), inner()).prop_map(|(condition, picks, a, b)| Line::If {
            condition,
            picks,
            branches: Box::new((a, b))
        }),
        1 => (0..4_u8, any::<Picks>(), inner())
            .prop_map(|(count, picks, body)| Line::Repeat { count, picks, body: Box::new(body) }),
        1 => (any::<Picks>(), inner()).prop_map(|(picks, body)| Line::Async { picks, body: Box::new(body) }),
    ]
    .boxed()
}
