//! Reductions along axes, in the order of [`AxesPlan`](crate::axes::AxesPlan).
//!
//! Neighbouring threads read neighbouring elements. If the elements of one result are not
//! neighbours, each thread computes a result. If they are, eight threads share a result, and each
//! of them computes a lane:
//!
//! ```text
//!                    a result each               a lane each
//!   thread           0    1    2    …            0 1 2 3 4 5 6 7   8 9 …
//!                    ▼    ▼    ▼                 ▼ ▼ ▼ ▼ ▼ ▼ ▼ ▼   ▼ ▼
//!   element of row 0 0    0    0     result 0 →  0 1 2 3 4 5 6 7   ▼ ▼
//!                  1 1    1    1                 8 9 …             ▼ ▼
//!                                    result 1 →                    0 1 …
//! ```
//!
//! Both compute the same bits.

use tfrt_support::Error;

use super::body::{Class, Code, Register, line};
use super::entry::{Entry, check_combination};
use crate::axes::LANES;
use crate::kernel::KernelForm;
use crate::tree::{Function, Scalar, Value};

/// The registers of a group.
#[derive(Clone, Copy)]
struct Group {
    extent: Register,
    stride: Register,
}

/// The parameters of a reduction, and its functions.
struct Reduction {
    /// The number of results.
    count: Register,
    result: Register,
    operands: Vec<(Register, Scalar)>,
    /// The number of elements of a result.
    num_reduced: Register,
    kept: Vec<Group>,
    reduced: Vec<Group>,
    identity: fn() -> Value,
    combine: &'static Function,
}

impl Code {
    /// Returns the value of the thread that is `distance` behind this one, within the [`LANES`]
    /// threads of a group of a warp. All of them must get here. Without such a thread, the value is
    /// the thread's own.
    fn value_of_lane_behind(
        &mut self,
        value: Register,
        ty: Scalar,
        distance: usize,
        group: Register,
    ) -> Register {
        /// The last lane of a group, and the bits of a lane's number that tell groups apart.
        const WITHIN_GROUP: usize = (32 - LANES) << 8 | 31;
        let exchanged = |code: &mut Self, word: Register| {
            let other = code.register(Class::Word);
            line!(
                code,
                "shfl.sync.down.b32 {other}, {word}, {distance}, {WITHIN_GROUP}, {group}"
            );
            other
        };
        let to = self.register(Class::of(ty));
        match Class::of(ty) {
            Class::Predicate => {
                let word = self.register(Class::Word);
                line!(self, "selp.u32 {word}, 1, 0, {value}");
                let word = exchanged(self, word);
                line!(self, "setp.ne.u32 {to}, {word}, 0");
            }
            Class::Word | Class::Float => {
                let word = self.register(Class::Word);
                line!(self, "mov.b32 {word}, {value}");
                let word = exchanged(self, word);
                line!(self, "mov.b32 {to}, {word}");
            }
            Class::Long | Class::Double => {
                let [low, high] = [(); 2].map(|()| self.register(Class::Word));
                line!(self, "mov.b64 {{{low}, {high}}}, {value}");
                let (low, high) = (exchanged(self, low), exchanged(self, high));
                line!(self, "mov.b64 {to}, {{{low}, {high}}}");
            }
        }
        to
    }
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

    pub(super) fn along(
        &mut self,
        kept: usize,
        reduced: usize,
        is_shared: bool,
    ) -> Result<(), Error> {
        let KernelForm::ReduceAlong {
            identity, combine, ..
        } = self.kernel.form
        else {
            return Ok(());
        };
        check_combination(self.kernel, combine, identity())?;
        let reduction = Reduction {
            count: self.parameter("count"),
            result: self.pointer("result"),
            operands: self.operands(),
            num_reduced: self.parameter("num_reduced"),
            kept: self.groups("kept", kept),
            reduced: self.groups("reduced", reduced),
            identity,
            combine,
        };
        match is_shared {
            true => self.along_together(&reduction),
            false => self.along_alone(&reduction),
        }
    }

    /// Computes the value of the element with a number among those of a result, and combines it
    /// with `sum`.
    fn combine_next(
        &mut self,
        reduction: &Reduction,
        base: Register,
        number: Register,
        sum: Register,
    ) -> Result<(), Error> {
        let offset = self.offset(&reduction.reduced, number);
        let index = self.code.register(Class::Long);
        line!(self.code, "add.u64 {index}, {base}, {offset}");
        let mut arguments = Vec::with_capacity(reduction.operands.len());
        for (base, ty) in &reduction.operands {
            let address = self.code.element(*base, index, *ty);
            arguments.push(self.code.load("global", address, *ty));
        }
        let value = self.code.call(self.kernel.function, &arguments)?;
        let next = self.code.call(reduction.combine, &[sum, value])?;
        self.code.copy(sum, next);
        Ok(())
    }

    /// Each thread computes all lanes of a result.
    fn along_alone(&mut self, reduction: &Reduction) -> Result<(), Error> {
        let (ty, num_reduced) = (self.result(), reduction.num_reduced);
        let threads = self.threads();
        let results = self.begin_loop(&threads, reduction.count);
        let base = self.offset(&reduction.kept, threads.index);
        let lanes = [(); LANES].map(|()| self.code.constant((reduction.identity)()));

        // Each round takes an element for each lane; the last one may have too few.
        let number = self.code.register(Class::Long);
        line!(self.code, "mov.b64 {number}, 0");
        let (head, end) = (self.code.label(), self.code.label());
        self.code.place(head);
        for lane in lanes {
            let is_done = self.code.register(Class::Predicate);
            line!(self.code, "setp.ge.u64 {is_done}, {number}, {num_reduced}");
            line!(self.code, "@{is_done} bra {end}");
            self.combine_next(reduction, base, number, lane)?;
            line!(self.code, "add.u64 {number}, {number}, 1");
        }
        line!(self.code, "bra {head}");
        self.code.place(end);

        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                let next = self
                    .code
                    .call(reduction.combine, &[lanes[lane], lanes[lane + half]])?;
                self.code.copy(lanes[lane], next);
            }
            half /= 2;
        }
        let address = self.code.element(reduction.result, threads.index, ty);
        self.code.store("global", address, lanes[0], ty);
        self.end_loop(&threads, results);
        Ok(())
    }

    /// Each of [`LANES`] neighbouring threads computes a lane of a result. They take part in the
    /// same rounds over the results, so that they can exchange their lanes.
    fn along_together(&mut self, reduction: &Reduction) -> Result<(), Error> {
        const SHIFT: u32 = LANES.trailing_zeros();
        let (ty, num_reduced) = (self.result(), reduction.num_reduced);
        let threads = self.threads();
        // The threads of a warp that share the result of this one.
        let [thread, first, group] = [(); 3].map(|()| self.code.register(Class::Word));
        line!(self.code, "mov.u32 {thread}, %tid.x");
        line!(self.code, "and.b32 {first}, {thread}, {}", 32 - LANES);
        line!(
            self.code,
            "shl.b32 {group}, {}, {first}",
            (1_u32 << LANES) - 1
        );
        let [lane, end] = [(); 2].map(|()| self.code.register(Class::Long));
        line!(
            self.code,
            "and.b64 {lane}, {}, {}",
            threads.index,
            LANES - 1
        );
        line!(self.code, "shl.b64 {end}, {}, {SHIFT}", reduction.count);
        let results = self.begin_loop(&threads, end);
        let [result, number] = [(); 2].map(|()| self.code.register(Class::Long));
        line!(self.code, "shr.u64 {result}, {}, {SHIFT}", threads.index);
        let base = self.offset(&reduction.kept, result);
        let sum = self.code.constant((reduction.identity)());

        line!(self.code, "mov.b64 {number}, {lane}");
        let (head, end) = (self.code.label(), self.code.label());
        self.code.place(head);
        let is_done = self.code.register(Class::Predicate);
        line!(self.code, "setp.ge.u64 {is_done}, {number}, {num_reduced}");
        line!(self.code, "@{is_done} bra {end}");
        self.combine_next(reduction, base, number, sum)?;
        line!(self.code, "add.u64 {number}, {number}, {LANES}");
        line!(self.code, "bra {head}");
        self.code.place(end);

        // What the second half of the lanes computes here is not used.
        let mut half = LANES / 2;
        while half > 0 {
            let other = self.code.value_of_lane_behind(sum, ty, half, group);
            let next = self.code.call(reduction.combine, &[sum, other])?;
            self.code.copy(sum, next);
            half /= 2;
        }
        let skip = self.code.label();
        let is_other = self.code.register(Class::Predicate);
        line!(self.code, "setp.ne.u64 {is_other}, {lane}, 0");
        line!(self.code, "@{is_other} bra {skip}");
        let address = self.code.element(reduction.result, result, ty);
        self.code.store("global", address, sum, ty);
        self.code.place(skip);
        self.end_loop(&threads, results);
        Ok(())
    }
}
