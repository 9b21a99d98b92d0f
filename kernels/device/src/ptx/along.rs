//! Reductions along axes: each thread computes results of its own, in the order of
//! [`AxesPlan`](crate::axes::AxesPlan).

use tfrt_support::Error;

use super::body::{Class, Register, line};
use super::entry::{Entry, check_combination};
use crate::axes::LANES;
use crate::kernel::KernelForm;

/// The registers of a group.
#[derive(Clone, Copy)]
struct Group {
    extent: Register,
    stride: Register,
}

impl Entry<'_> {
    fn groups(&mut self, role: &str, count: usize) -> Vec<Group> {
        let groups = 0..count;
        groups
            .map(|index| Group {
                extent: self.parameter(&format!("{role}_extent{index}")),
                stride: self.parameter(&format!("{role}_stride{index}")),
            })
            .collect()
    }

    /// Returns the place of an element by its number.
    fn offset(&mut self, groups: &[Group], number: Register) -> Register {
        let code = &mut self.code;
        let (mut rest, offset) = (number, code.register(Class::Long));
        line!(code, "mov.b64 {offset}, 0");
        for (index, Group { extent, stride }) in groups.iter().enumerate().rev() {
            let mut coordinate = rest;
            // The outermost group takes what is left.
            if index > 0 {
                let [quotient, covered, here] = [(); 3].map(|()| code.register(Class::Long));
                line!(code, "div.u64 {quotient}, {rest}, {extent}");
                line!(code, "mul.lo.u64 {covered}, {quotient}, {extent}");
                line!(code, "sub.u64 {here}, {rest}, {covered}");
                coordinate = here;
                rest = quotient;
            }
            line!(
                code,
                "mad.lo.u64 {offset}, {coordinate}, {stride}, {offset}"
            );
        }
        offset
    }

    pub(super) fn along(&mut self, kept: usize, reduced: usize) -> Result<(), Error> {
        let KernelForm::ReduceAlong {
            identity, combine, ..
        } = self.kernel.form
        else {
            return Ok(());
        };
        let ty = self.result();
        check_combination(self.kernel, combine, identity())?;
        let count = self.parameter("count");
        let result = self.pointer("result");
        let operands = self.operands();
        let num_reduced = self.parameter("num_reduced");
        let (kept, reduced) = (self.groups("kept", kept), self.groups("reduced", reduced));
        let threads = self.threads();
        let results = self.begin_loop(&threads, count);
        let base = self.offset(&kept, threads.index);
        let lanes = [(); LANES].map(|()| self.code.constant(identity()));

        // Each round takes an element for each lane; the last one may have too few.
        let number = self.code.register(Class::Long);
        line!(self.code, "mov.b64 {number}, 0");
        let (head, end) = (self.code.label(), self.code.label());
        self.code.place(head);
        for lane in lanes {
            let is_done = self.code.register(Class::Predicate);
            line!(self.code, "setp.ge.u64 {is_done}, {number}, {num_reduced}");
            line!(self.code, "@{is_done} bra {end}");
            let offset = self.offset(&reduced, number);
            let index = self.code.register(Class::Long);
            line!(self.code, "add.u64 {index}, {base}, {offset}");
            let mut arguments = Vec::with_capacity(operands.len());
            for (base, ty) in &operands {
                let address = self.code.element(*base, index, *ty);
                arguments.push(self.code.load("global", address, *ty));
            }
            let value = self.code.call(self.kernel.function, &arguments)?;
            let next = self.code.call(combine, &[lane, value])?;
            self.code.copy(lane, next);
            line!(self.code, "add.u64 {number}, {number}, 1");
        }
        line!(self.code, "bra {head}");
        self.code.place(end);

        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                let next = self
                    .code
                    .call(combine, &[lanes[lane], lanes[lane + half]])?;
                self.code.copy(lanes[lane], next);
            }
            half /= 2;
        }
        let address = self.code.element(result, threads.index, ty);
        self.code.store("global", address, lanes[0], ty);
        self.end_loop(&threads, results);
        Ok(())
    }
}
