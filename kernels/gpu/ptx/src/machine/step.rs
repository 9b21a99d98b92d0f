//! Instructions of one thread.

use super::*;
use crate::arithmetic::{
    atomic, binary, compare, insert_bits, is_of_class, logic3, ternary, unary,
};
use crate::convert::{convert, extend};
use crate::float::flush;
use crate::instruction::{Callee, Instruction, Join, Op, Operand, Test};
use crate::program::{CODE, LOCAL, PARAM, SHARED, WINDOW};
use crate::types::Special;

use thread::Frame;

/// After so many instructions the next thread has its turn, so that one that waits for another does
/// not wait forever.
const TURN: u64 = 1 << 16;
/// The deepest nest of calls.
const MAX_CALLS: usize = 10_000;

/// The position at which a thread continues.
enum Next {
    Following,
    At(u32),
    /// At another instruction, or not at all, as set in the thread.
    Set,
    /// It waits at this instruction.
    Meet(State),
}

impl<'a> Machine<'a> {
    /// Runs a thread up to its next meeting point, its end, or the end of its turn.
    pub(super) fn run_thread(&mut self, thread: &mut Thread) -> Result<(), Fault> {
        let end = self.steps.saturating_add(TURN);
        while self.steps < end {
            let instruction = self.instruction(thread);
            self.steps += 1;
            if self.steps > self.launch.max_steps {
                let text = format!(
                    "expected the launch to end within {} steps",
                    self.launch.max_steps
                );
                return Err(self.fault(thread, FaultKind::StepLimit, text));
            }
            if let Some(guard) = instruction.guard {
                let predicate =
                    thread.registers[thread.frame.registers + guard.register as usize] & 1 == 1;
                if predicate == guard.is_negated {
                    thread.frame.pc += 1;
                    continue;
                }
            }
            match self.step(thread, instruction)? {
                Next::Following => thread.frame.pc += 1,
                Next::At(pc) => thread.frame.pc = pc,
                Next::Set if thread.state == State::Done => return Ok(()),
                Next::Set => {}
                Next::Meet(state) => {
                    thread.state = state;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the bits of an operand that belong to `ty`.
    #[inline]
    pub(super) fn value(&self, thread: &Thread, operand: &Operand, ty: ScalarType) -> u64 {
        match *operand {
            Operand::Register(register) => {
                ty.truncate(thread.registers[thread.frame.registers + register as usize])
            }
            Operand::Immediate(bits) => ty.truncate(bits),
            Operand::Not(register) => {
                (thread.registers[thread.frame.registers + register as usize] & 1) ^ 1
            }
            Operand::Special(special) => ty.truncate(self.special(thread, special)),
            Operand::Function(id) => CODE | u64::from(id),
            Operand::Local(_) | Operand::Param(_) | Operand::Variable { .. } => {
                ty.truncate(self.variable_address(thread, operand))
            }
        }
    }

    fn special(&self, thread: &Thread, special: Special) -> u64 {
        let (grid, block) = (self.launch.grid, self.launch.block);
        let lane = thread.lane();
        let below = (1u32 << lane) - 1;
        let num_threads = block[0] * block[1] * block[2];
        u64::from(match special {
            Special::ThreadIndex(axis) => thread.position[axis],
            Special::BlockSize(axis) => block[axis],
            Special::BlockIndex(axis) => self.block[axis],
            Special::GridSize(axis) => grid[axis],
            Special::Lane => lane,
            Special::Warp => thread.index / 32,
            Special::NumWarps => num_threads.div_ceil(32),
            Special::Multiprocessor | Special::GridId => 0,
            Special::NumMultiprocessors => 1,
            Special::MaskEq => 1 << lane,
            Special::MaskLt => below,
            Special::MaskLe => below | 1 << lane,
            Special::MaskGt => !(below | 1 << lane),
            Special::MaskGe => !below,
            Special::DynamicShared => self.launch.dynamic_shared,
            Special::TotalShared => self.shared.len() as u32,
            Special::WarpSize => 32,
            Special::Clock => return self.steps,
            Special::ClockHigh => return self.steps >> 32,
        })
    }

    fn step(&mut self, thread: &mut Thread, instruction: &'a Instruction) -> Result<Next, Fault> {
        match &instruction.op {
            Op::Move { ty, to, from } => {
                let value = self.value(thread, from, *ty);
                thread.set(*to, value);
            }
            Op::Pack {
                to,
                part_bits,
                parts,
            } => {
                let mask = u64::MAX >> (64 - part_bits);
                let all = parts.iter().enumerate();
                let value = all.fold(0, |all, (index, part)| {
                    all | (self.value(thread, part, ScalarType::B64) & mask)
                        << (index as u32 * part_bits)
                });
                thread.set(*to, value);
            }
            Op::Unpack {
                to,
                part_bits,
                from,
            } => {
                let value = self.value(thread, from, ScalarType::B64);
                let mask = u64::MAX >> (64 - part_bits);
                for (index, to) in to.iter().enumerate() {
                    thread.set(*to, value >> (index as u32 * part_bits) & mask);
                }
            }
            Op::Load {
                ty,
                space,
                to,
                from,
                is_weak,
            } => {
                let mut bytes = [0; 32];
                let size = ty.size();
                let address = self.address(thread, from);
                self.read(
                    thread,
                    *space,
                    address,
                    &mut bytes[..size * to.len()],
                    *is_weak,
                )?;
                for (to, bytes) in to.iter().zip(bytes.chunks_exact(size)) {
                    let mut value = [0; 8];
                    value[..size].copy_from_slice(bytes);
                    thread.set(*to, extend(*ty, u64::from_le_bytes(value)));
                }
            }
            Op::Store {
                ty,
                space,
                to,
                from,
                is_weak,
            } => {
                let mut bytes = [0; 32];
                let size = ty.size();
                for (operand, bytes) in from.iter().zip(bytes.chunks_exact_mut(size)) {
                    bytes.copy_from_slice(&self.value(thread, operand, *ty).to_le_bytes()[..size]);
                }
                let address = self.address(thread, to);
                self.write(
                    thread,
                    *space,
                    address,
                    &bytes[..size * from.len()],
                    *is_weak,
                )?;
            }
            Op::ToGeneric { space, to, from } => {
                let value = self.value(thread, from, ScalarType::B64);
                let value = match space {
                    Space::Shared => value | SHARED,
                    Space::Local => value | LOCAL,
                    Space::Param => value.wrapping_add(thread.frame.params as u64) | PARAM,
                    _ => value,
                };
                thread.set(*to, value);
            }
            Op::FromGeneric { space, to, from } => {
                let value = self.value(thread, from, ScalarType::B64);
                let value = match space {
                    Space::Shared | Space::Local => value & !WINDOW,
                    Space::Param => (value & !WINDOW).wrapping_sub(thread.frame.params as u64),
                    _ => value,
                };
                thread.set(*to, value);
            }
            Op::IsSpace { space, to, from } => {
                let window = match space {
                    Space::Shared => SHARED,
                    Space::Local => LOCAL,
                    Space::Param => PARAM,
                    _ => 0,
                };
                let is_there = self.value(thread, from, ScalarType::B64) & WINDOW == window;
                thread.set(*to, is_there.into());
            }
            Op::Unary {
                op,
                ty,
                mode,
                to,
                a,
            } => {
                let value = unary(*op, *ty, *mode, self.value(thread, a, *ty));
                thread.set(*to, value);
            }
            Op::Binary {
                op,
                ty,
                mode,
                to,
                a,
                b,
            } => {
                use crate::instruction::Binary;
                // The amount of a shift has a width of its own.
                let b_ty = if matches!(op, Binary::ShiftLeft | Binary::ShiftRight) {
                    ScalarType::U32
                } else {
                    *ty
                };
                let value = binary(
                    *op,
                    *ty,
                    *mode,
                    self.value(thread, a, *ty),
                    self.value(thread, b, b_ty),
                );
                thread.set(*to, value);
            }
            Op::Ternary {
                op,
                ty,
                mode,
                to,
                operands: [a, b, c],
            } => {
                use crate::instruction::Ternary;
                let (b_ty, c_ty) = match op {
                    Ternary::MulAddWide => (*ty, ScalarType::B64),
                    Ternary::ExtractBits => (ScalarType::U32, ScalarType::U32),
                    _ => (*ty, *ty),
                };
                let operands = [
                    self.value(thread, a, *ty),
                    self.value(thread, b, b_ty),
                    self.value(thread, c, c_ty),
                ];
                thread.set(*to, ternary(*op, *ty, *mode, operands));
            }
            Op::InsertBits {
                ty,
                to,
                operands: [a, b, position, length],
            } => {
                let (a, b) = (self.value(thread, a, *ty), self.value(thread, b, *ty));
                let range =
                    [position, length].map(|operand| self.value(thread, operand, ScalarType::U32));
                thread.set(*to, insert_bits(*ty, [a, b, range[0], range[1]]));
            }
            Op::Logic3 {
                to,
                operands,
                table,
            } => {
                let operands = [0, 1, 2]
                    .map(|index: usize| self.value(thread, &operands[index], ScalarType::B32));
                thread.set(*to, logic3(*table, operands));
            }
            Op::SetPredicate { test, to, opposite } => {
                let (holds, does_not) = self.test(thread, test);
                thread.set(*to, holds.into());
                thread.set(*opposite, does_not.into());
            }
            Op::Set { test, ty, to } => {
                let (holds, _) = self.test(thread, test);
                let one = if ty.is_float() {
                    convert(*ty, ScalarType::U32, Default::default(), None, 1)
                } else {
                    ty.truncate(u64::MAX)
                };
                thread.set(*to, if holds { one } else { 0 });
            }
            Op::Select {
                ty,
                to,
                a,
                b,
                predicate,
            } => {
                let chosen = if self.value(thread, predicate, ScalarType::Pred) == 1 {
                    a
                } else {
                    b
                };
                let value = self.value(thread, chosen, *ty);
                thread.set(*to, value);
            }
            Op::SelectBySign {
                ty,
                by,
                mode,
                to,
                a,
                b,
                sign,
            } => {
                let bits = self.value(thread, sign, *by);
                let is_first = match by {
                    ScalarType::F32 => {
                        f32::from_bits(if mode.flushes { flush(bits) } else { bits } as u32) >= 0.0
                    }
                    _ => bits as i32 >= 0,
                };
                let value = self.value(thread, if is_first { a } else { b }, *ty);
                thread.set(*to, value);
            }
            Op::Convert {
                to_ty,
                from_ty,
                mode,
                integral,
                to,
                from,
                low,
            } => {
                let value = self.value(thread, from, *from_ty);
                let value = match (to_ty.half(), low) {
                    (Some(half), Some(low)) => {
                        let low = self.value(thread, low, *from_ty);
                        convert(half, *from_ty, *mode, *integral, value) << 16
                            | convert(half, *from_ty, *mode, *integral, low)
                    }
                    _ => convert(*to_ty, *from_ty, *mode, *integral, value),
                };
                thread.set(*to, value);
            }
            Op::TestFloat { class, ty, to, a } => {
                let value = is_of_class(*class, *ty, self.value(thread, a, *ty));
                thread.set(*to, value.into());
            }
            Op::Branch(target) => return Ok(Next::At(*target)),
            Op::BranchTable { index, targets } => {
                let index = self.value(thread, index, ScalarType::U32);
                match targets.get(index as usize) {
                    Some(&target) => return Ok(Next::At(target)),
                    None => {
                        let text = format!(
                            "expected an index below {} in a table of branch targets, found \
                             {index}",
                            targets.len()
                        );
                        return Err(self.fault(thread, FaultKind::InvalidCall, text));
                    }
                }
            }
            Op::Call {
                callee,
                results,
                arguments,
            } => return self.call(thread, callee, results, arguments),
            Op::Return => return self.return_from(thread),
            Op::Exit => {
                thread.state = State::Done;
                return Ok(Next::Set);
            }
            Op::Trap => {
                return Err(self.fault(thread, FaultKind::Trap, "the kernel executed `trap`"));
            }
            Op::Barrier {
                id,
                num_threads,
                gather,
                ..
            } => {
                let id = self.value(thread, id, ScalarType::U32) as u32;
                let num_threads = num_threads
                    .as_ref()
                    .map(|count| self.value(thread, count, ScalarType::U32) as u32);
                if id > 15
                    || num_threads.is_some_and(|count| count == 0 || !count.is_multiple_of(32))
                {
                    let text = format!(
                        "expected a barrier from 0 to 15 and a multiple of 32 threads, found {id} \
                         and {num_threads:?}"
                    );
                    return Err(self.fault(thread, FaultKind::Deadlock, text));
                }
                if let Some((_, _, predicate)) = gather {
                    thread.vote = self.value(thread, predicate, ScalarType::Pred) == 1;
                }
                return Ok(Next::Meet(State::Barrier { id, num_threads }));
            }
            Op::WarpBarrier { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Reduce { .. }
            | Op::Elect { .. }
            | Op::MatrixMulAdd { .. } => return Ok(Next::Meet(State::Warp)),
            Op::Fence => self.at_fence(thread),
            // Threads run one at a time.
            Op::ActiveMask { to } => thread.set(*to, 1 << thread.lane()),
            Op::Atomic {
                op,
                ty,
                space,
                to,
                address,
                b,
                c,
                is_fence,
            } => {
                if *is_fence {
                    self.at_fence(thread);
                }
                let address = self.address(thread, address);
                let (b, c) = (self.value(thread, b, *ty), self.value(thread, c, *ty));
                let old = self.update(thread, *space, address, ty.size(), &mut |old| {
                    atomic(*op, *ty, old, b, c)
                })?;
                thread.set(*to, extend(*ty, old));
            }
            Op::CopyAsync {
                to,
                from,
                num_bytes,
                num_read,
            } => {
                let len = self.value(thread, num_bytes, ScalarType::U32) as usize;
                let num_read = num_read.as_ref().map_or(len, |count| {
                    self.value(thread, count, ScalarType::U32) as usize
                });
                if !matches!(len, 4 | 8 | 16) || num_read > len {
                    return Err(self.fault(
                        thread,
                        FaultKind::IllegalAddress,
                        format!(
                            "cannot copy {len} bytes, of which {num_read} are read from memory"
                        ),
                    ));
                }
                let (to, from) = (self.address(thread, to), self.address(thread, from));
                self.check_alignment(thread, Space::Global, from, len)?;
                let mut bytes = [0; 16];
                for at in 0..num_read {
                    self.read(
                        thread,
                        Space::Global,
                        from.wrapping_add(at as u64),
                        &mut bytes[at..=at],
                        true,
                    )?;
                }
                self.write(thread, Space::Shared, to & !WINDOW, &bytes[..len], true)?;
            }
            Op::Nothing => {}
            Op::Unsupported(reason) => {
                return Err(self.fault(thread, FaultKind::Unsupported, &**reason));
            }
        }
        Ok(Next::Following)
    }

    /// Returns the result of a comparison, and that of its opposite, both joined with the
    /// predicate.
    fn test(&self, thread: &Thread, test: &Test) -> (bool, bool) {
        let holds = compare(
            test.comparison,
            test.ty,
            test.flushes,
            self.value(thread, &test.a, test.ty),
            self.value(thread, &test.b, test.ty),
        );
        let Some((join, predicate)) = &test.join else {
            return (holds, !holds);
        };
        let predicate = self.value(thread, predicate, ScalarType::Pred) == 1;
        let joined = |value: bool| match join {
            Join::And => value && predicate,
            Join::Or => value || predicate,
            Join::Xor => value ^ predicate,
        };
        (joined(holds), joined(!holds))
    }

    fn at_fence(&mut self, thread: &Thread) {
        if let Some(races) = &mut self.races {
            races.at_fence(thread.index);
        }
    }

    fn call(
        &mut self,
        thread: &mut Thread,
        callee: &Callee,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<Next, Fault> {
        let program: &'a Program = self.program;
        let id = match callee {
            Callee::Function(id) => *id,
            Callee::Pointer(operand) => {
                let address = self.value(thread, operand, ScalarType::B64);
                match u32::try_from(address & !WINDOW)
                    .ok()
                    .filter(|_| address & WINDOW == CODE)
                {
                    Some(id) => id,
                    None => {
                        return Err(self.fault(
                            thread,
                            FaultKind::InvalidCall,
                            format!("no function at address {address:#x}"),
                        ));
                    }
                }
            }
        };
        let Some(function) = program
            .module
            .functions
            .get(id as usize)
            .filter(|function| !function.is_kernel)
        else {
            return Err(self.fault(
                thread,
                FaultKind::InvalidCall,
                format!("function {id} cannot be called"),
            ));
        };
        if !function.is_defined {
            self.call_runtime(thread, &function.name, results, arguments)?;
            return Ok(Next::Following);
        }
        if function.parameters.len() != arguments.len() || function.results.len() != results.len() {
            let text = format!(
                "the parameters or results of `{}` differ from this call",
                function.name
            );
            return Err(self.fault(thread, FaultKind::InvalidCall, text));
        }
        let params = thread.params.len().next_multiple_of(16);
        let local = thread.local.len().next_multiple_of(16);
        let registers = thread.registers.len();
        let more = function.num_registers * 8 + function.param_bytes + function.local_bytes + 32;
        if thread.callers.len() >= MAX_CALLS || thread.num_bytes() + more > self.max_thread_state {
            let text = format!(
                "{} nested calls, the last of `{}`",
                thread.callers.len(),
                function.name
            );
            return Err(self.fault(thread, FaultKind::StackOverflow, text));
        }
        thread.params.resize(params + function.param_bytes, 0);
        thread.local.resize(local, 0);
        thread.local.resize(local + function.local_bytes, 0xaa);
        thread
            .registers
            .resize(registers + function.num_registers, 0);
        for (formal, argument) in function.parameters.iter().zip(arguments) {
            let mut value = [0; 8];
            match *argument {
                Operand::Param(offset) if formal.register.is_none() => {
                    let start = thread.frame.params + offset as usize;
                    if start + formal.size > params {
                        return Err(self.fault(
                            thread,
                            FaultKind::InvalidCall,
                            format!("expected a larger parameter for `{}`", function.name),
                        ));
                    }
                    thread
                        .params
                        .copy_within(start..start + formal.size, params + formal.offset);
                    continue;
                }
                Operand::Param(offset) => {
                    let start = thread.frame.params + offset as usize;
                    let known = thread.params.get(start..params).unwrap_or_default();
                    let size = formal.size.min(8).min(known.len());
                    value[..size].copy_from_slice(&known[..size]);
                }
                ref operand => value = self.value(thread, operand, ScalarType::B64).to_le_bytes(),
            }
            match formal.register {
                Some(register) => {
                    thread.registers[registers + register as usize] =
                        formal.ty.truncate(u64::from_le_bytes(value))
                }
                None => {
                    let size = formal.size.min(8);
                    thread.params[params + formal.offset..][..size].copy_from_slice(&value[..size]);
                }
            }
        }
        thread.callers.push(thread.frame);
        thread.frame = Frame {
            function: id,
            pc: 0,
            registers,
            params,
            local,
        };
        Ok(Next::Set)
    }

    fn return_from(&mut self, thread: &mut Thread) -> Result<Next, Fault> {
        let program: &'a Program = self.program;
        let Some(caller) = thread.callers.pop() else {
            thread.state = State::Done;
            return Ok(Next::Set);
        };
        let callee = std::mem::replace(&mut thread.frame, caller);
        let function = &program.module.functions[callee.function as usize];
        let Op::Call { results, .. } = &self.instruction(thread).op else {
            return Ok(Next::Following);
        };
        for (formal, result) in function.results.iter().zip(results) {
            let start = callee.params + formal.offset;
            let in_register = formal
                .register
                .map(|register| thread.registers[callee.registers + register as usize]);
            match (*result, in_register) {
                (Operand::Param(offset), None) => {
                    let to = caller.params + offset as usize;
                    if to + formal.size > callee.params {
                        return Err(self.fault(
                            thread,
                            FaultKind::InvalidCall,
                            format!("expected a larger result for `{}`", function.name),
                        ));
                    }
                    thread.params.copy_within(start..start + formal.size, to);
                }
                (Operand::Param(offset), Some(value)) => {
                    let place = thread
                        .params
                        .get_mut(caller.params + offset as usize..callee.params)
                        .unwrap_or_default();
                    let size = formal.size.min(8).min(place.len());
                    place[..size].copy_from_slice(&value.to_le_bytes()[..size]);
                }
                (Operand::Register(register), value) => {
                    let size = formal.size.min(8);
                    let mut bytes = [0; 8];
                    bytes[..size].copy_from_slice(&thread.params[start..start + size]);
                    let value = value.unwrap_or(u64::from_le_bytes(bytes));
                    thread.registers[caller.registers + register as usize] = value;
                }
                _ => {}
            }
        }
        thread.registers.truncate(callee.registers);
        thread.params.truncate(callee.params);
        thread.local.truncate(callee.local);
        Ok(Next::Following)
    }
}
