//! A block: threads run up to their meeting points, then they meet.

use super::*;
use crate::instruction::{Gather, Instruction, Op};

impl<'a> Machine<'a> {
    pub(super) fn run_block(&mut self, threads: &mut [Thread]) -> Result<(), Fault> {
        loop {
            let mut has_moved = false;
            for thread in threads
                .iter_mut()
                .filter(|thread| thread.state == State::Ready)
            {
                self.run_thread(thread)?;
                has_moved = true;
            }
            has_moved |= self.warp_operations(threads)?;
            if has_moved {
                continue;
            }
            if threads.iter().all(|thread| thread.state == State::Done) {
                return Ok(());
            }
            if !self.barriers(threads)? {
                return Err(self.deadlock(threads));
            }
        }
    }

    /// Returns the instruction at which a thread stands.
    pub(super) fn instruction(&self, thread: &Thread) -> &'a Instruction {
        let program: &'a Program = self.program;
        &program.module.functions[thread.frame.function as usize].code[thread.frame.pc as usize]
    }

    /// Opens every barrier that enough threads have reached.
    fn barriers(&mut self, threads: &mut [Thread]) -> Result<bool, Fault> {
        let num_done = threads
            .iter()
            .filter(|thread| thread.state == State::Done)
            .count();
        let mut has_opened = false;
        for barrier in 0..16 {
            let at_it = |thread: &Thread| matches!(thread.state, State::Barrier { id, .. } if id == barrier);
            let arrived: Vec<usize> = (0..threads.len())
                .filter(|&index| at_it(&threads[index]))
                .collect();
            let Some(&first) = arrived.first() else {
                continue;
            };
            let State::Barrier { num_threads, .. } = threads[first].state else {
                continue;
            };
            // Threads that have ended count as arrived where all are waited for.
            let is_open = match num_threads {
                None => arrived.len() + num_done == threads.len(),
                Some(count) => arrived.len() >= count as usize,
            };
            if is_open {
                self.check_together(threads, &arrived)?;
                self.open(threads, &arrived);
                has_opened = true;
            }
        }
        Ok(has_opened)
    }

    /// Checks that all threads of a warp reach the same instruction of an aligned barrier, and
    /// agree on the number of threads.
    fn check_together(&self, threads: &[Thread], arrived: &[usize]) -> Result<(), Fault> {
        for pair in arrived.windows(2) {
            let (one, other) = (&threads[pair[0]], &threads[pair[1]]);
            if one.state != other.state {
                return Err(self.fault(
                    other,
                    FaultKind::Deadlock,
                    "the threads of a barrier wait for different numbers of threads",
                ));
            }
            let is_aligned = matches!(
                self.instruction(other).op,
                Op::Barrier {
                    is_aligned: true,
                    ..
                }
            );
            let is_same =
                (one.frame.function, one.frame.pc) == (other.frame.function, other.frame.pc);
            if is_aligned && !is_same && one.index / 32 == other.index / 32 {
                let line = self.instruction(one).line;
                let text = format!(
                    "divergent barrier: thread {} of the same warp waits at line {line}",
                    one.index
                );
                return Err(self.fault(other, FaultKind::Deadlock, text));
            }
        }
        Ok(())
    }

    fn open(&mut self, threads: &mut [Thread], arrived: &[usize]) {
        if let Some(races) = &mut self.races {
            races.at_barrier(arrived.iter().copied());
        }
        let num_true = arrived.iter().filter(|&&index| threads[index].vote).count();
        for &index in arrived {
            let instruction = self.instruction(&threads[index]);
            let thread = &mut threads[index];
            if let Op::Barrier {
                gather: Some((gather, to, _)),
                ..
            } = &instruction.op
            {
                let value = match gather {
                    Gather::Count => num_true as u64,
                    Gather::All => u64::from(num_true == arrived.len()),
                    Gather::Any => u64::from(num_true > 0),
                };
                thread.set(*to, value);
            }
            thread.frame.pc += 1;
            thread.state = State::Ready;
        }
    }

    #[cold]
    fn deadlock(&self, threads: &[Thread]) -> Fault {
        let waiting = threads.iter().filter(|thread| thread.state != State::Done);
        let places: Vec<String> = waiting
            .clone()
            .take(4)
            .map(|thread| {
                format!(
                    "thread {} at line {}",
                    thread.index,
                    self.instruction(thread).line
                )
            })
            .collect();
        let num_done = threads.len() - waiting.clone().count();
        let more = if waiting.clone().count() > 4 {
            ", …"
        } else {
            ""
        };
        let text = format!(
            "divergent barrier or wrong mask: {num_done} threads have ended, but others wait: \
             {}{more}",
            places.join(", ")
        );
        match waiting.clone().next() {
            Some(first) => self.fault(first, FaultKind::Deadlock, text),
            None => Fault::new(FaultKind::Deadlock, "", text),
        }
    }
}
