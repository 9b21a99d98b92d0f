//! Operations of a warp, which the lanes of a mask perform together.

use super::*;
use crate::arithmetic::atomic;
use crate::float::{Rounding, narrow, widen};
use crate::instruction::{Op, Operand, Shuffle, Target, Vote};

impl Machine<'_> {
    /// Performs every operation that all its lanes have reached, and returns whether there was one.
    pub(super) fn warp_operations(&mut self, threads: &mut [Thread]) -> Result<bool, Fault> {
        let mut has_moved = false;
        for warp in threads.chunks_mut(32) {
            for lane in 0..warp.len() {
                if warp[lane].state == State::Warp {
                    has_moved |= self.warp_operation(warp, lane)?;
                }
            }
        }
        Ok(has_moved)
    }

    /// Performs the operation that a lane has reached, if all lanes of its mask have reached it or
    /// ended.
    fn warp_operation(&mut self, warp: &mut [Thread], lane: usize) -> Result<bool, Fault> {
        let thread = &warp[lane];
        let op = &self.instruction(thread).op;
        let Some(mask_operand) = op.warp_mask() else {
            return Ok(false);
        };
        let mask = self.value(thread, &mask_operand, ScalarType::B32) as u32;
        if mask >> lane & 1 == 0 {
            return Err(self.fault(
                thread,
                FaultKind::Deadlock,
                format!("the mask {mask:#010x} of lane {lane} does not contain the lane"),
            ));
        }
        let place = (thread.frame.function, thread.frame.pc);
        let mut lanes = Vec::with_capacity(32);
        for (index, other) in warp
            .iter()
            .enumerate()
            .filter(|(index, _)| mask >> index & 1 == 1)
        {
            if other.state == State::Done {
                continue;
            }
            if other.state != State::Warp || (other.frame.function, other.frame.pc) != place {
                return Ok(false);
            }
            let others_mask = self.value(other, &mask_operand, ScalarType::B32) as u32;
            if others_mask != mask {
                let text = format!(
                    "lane {index} has the mask {others_mask:#010x}, but lane {lane} has the mask \
                     {mask:#010x}"
                );
                return Err(self.fault(other, FaultKind::Deadlock, text));
            }
            lanes.push(index);
        }
        self.together(warp, &lanes, op)?;
        if let Some(races) = &mut self.races {
            races.at_warp_operation(lanes.iter().map(|&index| warp[index].index as usize));
        }
        for &index in &lanes {
            warp[index].frame.pc += 1;
            warp[index].state = State::Ready;
        }
        Ok(true)
    }

    fn together(&mut self, warp: &mut [Thread], lanes: &[usize], op: &Op) -> Result<(), Fault> {
        match op {
            Op::Shuffle {
                op,
                to,
                is_in_range,
                a,
                b,
                clamp,
                ..
            } => {
                let values: Vec<Option<u64>> = (0..32)
                    .map(|lane| {
                        lanes
                            .contains(&lane)
                            .then(|| self.value(&warp[lane], a, ScalarType::B32))
                    })
                    .collect();
                for &lane in lanes {
                    let thread = &warp[lane];
                    let (b, c) = (
                        self.value(thread, b, ScalarType::B32) as i64,
                        self.value(thread, clamp, ScalarType::B32) as i64,
                    );
                    let (source, is_inside) = source_lane(*op, lane as i64, b & 31, c);
                    let source = if is_inside { source } else { lane };
                    let Some(value) = values[source] else {
                        let text = format!(
                            "lane {lane} reads the value of lane {source}, which is not in the \
                             mask or has ended"
                        );
                        return Err(self.fault(thread, FaultKind::Deadlock, text));
                    };
                    warp[lane].set(*to, value);
                    warp[lane].set(*is_in_range, is_inside.into());
                }
            }
            Op::Vote {
                op, to, predicate, ..
            } => {
                let ballot = lanes
                    .iter()
                    .filter(|&&lane| self.value(&warp[lane], predicate, ScalarType::Pred) == 1)
                    .fold(0u32, |bits, lane| bits | 1 << lane);
                let num_true = ballot.count_ones() as usize;
                let value = match op {
                    Vote::All => u64::from(num_true == lanes.len()),
                    Vote::Any => u64::from(num_true > 0),
                    Vote::Uniform => u64::from(num_true == 0 || num_true == lanes.len()),
                    Vote::Ballot => ballot.into(),
                };
                lanes.iter().for_each(|&lane| warp[lane].set(*to, value));
            }
            Op::Match {
                is_all,
                ty,
                to,
                is_match,
                a,
                ..
            } => {
                let values: Vec<u64> = lanes
                    .iter()
                    .map(|&lane| self.value(&warp[lane], a, *ty))
                    .collect();
                for (&lane, value) in lanes.iter().zip(&values) {
                    let same = lanes
                        .iter()
                        .zip(&values)
                        .filter(|(_, other)| *other == value)
                        .fold(0u32, |bits, (lane, _)| bits | 1 << lane);
                    let are_all = same.count_ones() as usize == lanes.len();
                    warp[lane].set(*to, if *is_all && !are_all { 0 } else { same.into() });
                    warp[lane].set(*is_match, are_all.into());
                }
            }
            Op::Reduce { op, ty, to, a, .. } => {
                let values = lanes.iter().map(|&lane| self.value(&warp[lane], a, *ty));
                let value = values
                    .reduce(|all, one| atomic(*op, *ty, all, one, 0))
                    .unwrap_or(0);
                lanes.iter().for_each(|&lane| warp[lane].set(*to, value));
            }
            Op::Elect { to, is_elected, .. } => {
                let leader = lanes.first().copied().unwrap_or(0);
                for &lane in lanes {
                    warp[lane].set(*to, leader as u64);
                    warp[lane].set(*is_elected, u64::from(lane == leader));
                }
            }
            Op::MatrixMulAdd { ty, d, a, b, c } => {
                if lanes.len() != 32 {
                    return Err(self.fault(
                        &warp[lanes[0]],
                        FaultKind::Deadlock,
                        format!("`mma` needs 32 lanes, found {}", lanes.len()),
                    ));
                }
                self.matrix_mul_add(warp, *ty, d, (a, b, c));
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds the product of a 16 x 16 and a 16 x 8 matrix to a 16 x 8 matrix. Lane `4 g + t` holds
    /// rows `g` and `g + 8` of the first one, columns `2 t`, `2 t + 1` and those 8 further; column
    /// `g` of the second one, and columns `2 t`, `2 t + 1` of the sum.
    fn matrix_mul_add(
        &self,
        warp: &mut [Thread],
        ty: ScalarType,
        d: &[Target; 4],
        (a, b, c): (&[Operand; 4], &[Operand; 2], &[Operand; 4]),
    ) {
        let (mut first, mut second) = ([[0f64; 16]; 16], [[0f64; 8]; 16]);
        let halves = |bits: u64| [widen(bits & 0xffff, ty), widen(bits >> 16, ty)];
        for (lane, thread) in warp.iter().enumerate() {
            let (group, member) = (lane / 4, lane % 4);
            for (index, operand) in a.iter().enumerate() {
                let (row, column) = (group + 8 * (index & 1), 2 * member + 8 * (index >> 1));
                [first[row][column], first[row][column + 1]] =
                    halves(self.value(thread, operand, ScalarType::B32));
            }
            for (index, operand) in b.iter().enumerate() {
                let row = 2 * member + 8 * index;
                [second[row][group], second[row + 1][group]] =
                    halves(self.value(thread, operand, ScalarType::B32));
            }
        }
        for (lane, thread) in warp.iter_mut().enumerate() {
            let sums: [u64; 4] = std::array::from_fn(|index| {
                let (row, column) = (lane / 4 + 8 * (index >> 1), 2 * (lane % 4) + (index & 1));
                let start = widen(
                    self.value(thread, &c[index], ScalarType::F32),
                    ScalarType::F32,
                );
                let sum = (0..16).fold(start, |sum, k| sum + first[row][k] * second[k][column]);
                narrow(sum, ScalarType::F32, Rounding::Nearest)
            });
            for (to, sum) in d.iter().zip(sums) {
                thread.set(*to, sum);
            }
        }
    }
}

/// Returns which lane a shuffle reads, and whether it lies in the segment.
fn source_lane(op: Shuffle, lane: i64, b: i64, c: i64) -> (usize, bool) {
    let segment = c >> 8 & 31;
    let clamp = c & 31;
    let last = (lane & segment) | (clamp & !segment);
    let (source, is_inside) = match op {
        Shuffle::Up => (lane - b, lane - b >= last),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Index => {
            let source = (lane & segment) | (b & !segment);
            (source, source <= last)
        }
    };
    ((source & 31) as usize, is_inside)
}
