//! The conformance suite of back ends: every member of a group runs it, and checks its results
//! against formulas that one thread computes.
//!
//! All members start the same operations, many at a time, each in an order of its own. The results
//! of reductions must have the bits of the formula with a fixed order. For back ends whose engines
//! have an order of their own, they may differ by what the rounding of another order can change;
//! integers may not.

use half::{bf16, f16};
use tfrt_async::AnyRef;
use tfrt_host::HostContext;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape};

use super::split::chunk;
use super::{AllReduceKeepsInput, GroupMember, Reducible, Reduction, UserReduction};

/// The number of operations in progress at a time.
const AT_A_TIME: usize = 32;

const REDUCTIONS: [Reduction; 6] = [
    Reduction::Sum,
    Reduction::Prod,
    Reduction::Min,
    Reduction::Max,
    Reduction::Mean,
    Reduction::User(&TWICE),
];

/// A function that shows the order in which elements are combined.
const TWICE: UserReduction = UserReduction::new("conformance_twice")
    .with_i8(twice)
    .with_i16(twice)
    .with_i32(twice)
    .with_i64(twice)
    .with_u8(twice)
    .with_u16(twice)
    .with_u32(twice)
    .with_u64(twice)
    .with_f16(twice)
    .with_bf16(twice)
    .with_f32(twice)
    .with_f64(twice);

inventory::submit!(TWICE);

fn twice<T: Reducible>(so_far: T, own: T) -> T {
    so_far.sum(so_far).sum(own)
}

/// The number of elements in the larger tensors of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Up to a thousand, for tests that run often.
    Short,
    /// Also a million.
    Long,
}

impl Extent {
    /// Returns the extent for this process: long if the variable `TFRT_LONG_TESTS` is set.
    #[must_use]
    pub fn from_environment() -> Self {
        match std::env::var_os("TFRT_LONG_TESTS") {
            Some(_) => Self::Long,
            None => Self::Short,
        }
    }
}

/// Runs the suite as this member, and waits for its end. Every member of the group calls this. The
/// number of checked operations is returned.
///
/// # Errors
/// The first operation that failed or had a wrong result.
pub fn run(host: &HostContext, member: &dyn GroupMember, extent: Extent) -> Result<usize, Error> {
    let cases = cases(member.size(), extent, &REDUCTIONS);
    let suite = Suite {
        host,
        member,
        has_order: true,
    };
    suite.run(&cases)
}

/// Runs the suite likewise, as a member of a back end whose engine combines elements in an order of
/// its own, and none by functions of programs.
///
/// # Errors
/// Those of [`run`].
pub fn run_without_order(
    host: &HostContext,
    member: &dyn GroupMember,
    extent: Extent,
) -> Result<usize, Error> {
    let known = &REDUCTIONS[..REDUCTIONS.len() - 1];
    let suite = Suite {
        host,
        member,
        has_order: false,
    };
    suite.run(&cases(member.size(), extent, known))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    AllReduce(Reduction),
    ReduceScatter(Reduction),
    /// The position of the sender.
    Broadcast(usize),
    /// The axis.
    AllGather(u64),
    AllGatherAny(u64),
    AllToAll,
    /// Each member sends to the one this far to the right.
    SendRecv(usize),
    Barrier,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    operation: Operation,
    dtype: DType,
    len: usize,
    in_place: bool,
}

fn cases(size: usize, extent: Extent, reductions: &[Reduction]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |operation, dtype, len| {
        let in_place = cases.len().is_multiple_of(2);
        cases.push(Case {
            operation,
            dtype,
            len,
            in_place,
        });
    };
    let lens = [0, 1, size - 1, size, size + 1];
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        for (turn, reduction) in reductions.iter().copied().enumerate() {
            for len in lens {
                add(Operation::AllReduce(reduction), dtype, len);
                add(Operation::ReduceScatter(reduction), dtype, len);
            }
            if (turn + number).is_multiple_of(reductions.len()) {
                add(Operation::AllReduce(reduction), dtype, 1000);
                add(Operation::ReduceScatter(reduction), dtype, 1000);
            }
        }
        for len in lens {
            let member = (len + number) % size;
            add(Operation::Broadcast(member), dtype, len);
            add(
                Operation::AllGather(u64::from(len.is_multiple_of(2))),
                dtype,
                len,
            );
            add(
                Operation::AllGatherAny(u64::from(len.is_multiple_of(2))),
                dtype,
                len,
            );
            add(Operation::AllToAll, dtype, len);
            add(Operation::SendRecv(member), dtype, len);
        }
        add(Operation::Barrier, dtype, 0);
    }
    let large = match extent {
        // Chunks are larger than what is combined at a time.
        Extent::Short => 2100 * size + 3,
        Extent::Long => (1 << 20) + 3,
    };
    for dtype in [DType::F32, DType::Bf16, DType::I64] {
        add(Operation::AllReduce(Reduction::Mean), dtype, large);
        add(Operation::ReduceScatter(Reduction::Sum), dtype, large);
        add(Operation::Broadcast(size / 2), dtype, large);
        add(Operation::AllGather(0), dtype, large);
        add(Operation::AllGatherAny(1), dtype, large);
        add(Operation::AllToAll, dtype, large);
        add(Operation::SendRecv(1), dtype, large);
    }
    cases
}

/// An operation in progress.
struct Check {
    what: String,
    done: AnyRef,
    verify: Box<dyn FnOnce() -> Result<(), Error>>,
}

/// An element of test tensors.
trait Sample: Reducible {
    /// The largest relative error of rounding, and the distance of the smallest numbers.
    const ROUNDING: (f64, f64);

    /// Returns the element for a small number.
    fn of(number: i64) -> Self;

    fn to_number(self) -> f64;
}

macro_rules! samples {
    ($($ty:ty: $dtype:ident, $rounding:expr, |$number:ident| $element:expr, $to_number:expr;)+) => {
        $(impl Sample for $ty {
            const ROUNDING: (f64, f64) = $rounding;

            fn of($number: i64) -> Self {
                $element
            }

            fn to_number(self) -> f64 {
                $to_number(self)
            }
        })+

        const DTYPES: [DType; 12] = [$(DType::$dtype),+];

        impl Suite<'_> {
            fn start(&self, key: &str, case: Case) -> Result<Check, Error> {
                match case.dtype {
                    $(DType::$dtype => self.start_with::<$ty>(key, case),)+
                    other => Err(Error::new(format!("no tensors of type {other}"))),
                }
            }
        }
    };
}

samples! {
    i8: I8, (0.0, 0.0), |number| number as i8, |one| one as f64;
    i16: I16, (0.0, 0.0), |number| number as i16, |one| one as f64;
    i32: I32, (0.0, 0.0), |number| number as i32, |one| one as f64;
    i64: I64, (0.0, 0.0), |number| number, |one| one as f64;
    u8: Ui8, (0.0, 0.0), |number| number as u8, |one| one as f64;
    u16: Ui16, (0.0, 0.0), |number| number as u16, |one| one as f64;
    u32: Ui32, (0.0, 0.0), |number| number as u32, |one| one as f64;
    u64: Ui64, (0.0, 0.0), |number| number as u64, |one| one as f64;
    f16: F16, (1.0 / 1024.0, 6.0e-8), |number| f16::from_f64(number as f64 / 7.0), f16::to_f64;
    bf16: Bf16, (1.0 / 128.0, 1.0e-40), |number| bf16::from_f64(number as f64 / 7.0), bf16::to_f64;
    f32: F32, (f32::EPSILON as f64, 1.5e-45), |number| number as f32 / 7.0, f64::from;
    f64: F64, (f64::EPSILON, 5.0e-324), |number| number as f64 / 7.0, |one| one;
}

/// Returns element `index` of the tensor of a member: small numbers, chosen so that the
/// order of a reduction is visible in the bits.
fn element<T: Sample>(member: usize, index: usize) -> T {
    let mixed = (member * 31 + index * 17 + member * index) % 23;
    T::of(mixed as i64 - 11)
}

fn elements<T: Sample>(member: usize, len: usize) -> Vec<T> {
    (0..len).map(|index| element(member, index)).collect()
}

/// Returns element `index` of the reduction of tensors of `len` elements: with G members and
/// element x_m of member m, it is `(((x_c ⊕ x_{c+1}) ⊕ x_{c+2}) …) ⊕ x_{c−1}`, where c is the
/// number of the chunk.
fn expected<T: Sample>(reduction: Reduction, size: usize, len: usize, index: usize) -> T {
    let (short, longer) = (len / size, len % size);
    // The first chunks have one more element.
    let owner = match index < longer * (short + 1) {
        true => index / (short + 1),
        false => longer + (index - longer * (short + 1)) / short,
    };
    let combined = (1..size).fold(element::<T>(owner, index), |so_far, distance| {
        reduction.combine(so_far, element((owner + distance) % size, index))
    });
    reduction.finish(combined, size)
}

/// Returns how far the element of a reduction may be from the expected one if elements are combined
/// in another order. Each step of either result rounds once: relative to the sum of magnitudes or
/// to the product, and in products also by the distance of the smallest numbers, which later
/// factors may enlarge.
fn tolerance<T: Sample>(reduction: Reduction, size: usize, index: usize) -> f64 {
    let (relative, smallest) = T::ROUNDING;
    let magnitudes = (0..size).map(|member| element::<T>(member, index).to_number().abs());
    let rounding: f64 = match reduction {
        Reduction::Sum | Reduction::Mean => relative * magnitudes.sum::<f64>(),
        Reduction::Prod => {
            let enlarged: f64 = magnitudes.clone().map(|one| one.max(1.0)).product();
            relative * magnitudes.product::<f64>() + smallest * enlarged
        }
        Reduction::Min | Reduction::Max | Reduction::User(_) => 0.0,
    };
    2.0 * size as f64 * rounding
}

fn require_close<T: Sample>(
    tensor: &DenseHostTensor,
    expected: &[T],
    tolerances: &[f64],
) -> Result<(), Error> {
    if tolerances.is_empty() || T::ROUNDING.0 == 0.0 {
        return require_bits(tensor, expected);
    }
    let found = tensor.elements::<T>()?;
    if found.len() != expected.len() {
        let (expected, found) = (expected.len(), found.len());
        return Err(Error::new(format!(
            "expected {expected} elements, found {found}"
        )));
    }
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let (found, expected) = (found.to_number(), expected.to_number());
        let is_close = (found - expected).abs() <= tolerances[index];
        if !is_close {
            return Err(Error::new(format!(
                "expected {expected} as element {index}, found {found}"
            )));
        }
    }
    Ok(())
}

fn require_bits<T: Sample>(tensor: &DenseHostTensor, expected: &[T]) -> Result<(), Error> {
    let found = tensor.elements::<T>()?;
    let bits = |elements: &[T]| {
        elements
            .iter()
            .map(|one| one.to_bytes())
            .collect::<Vec<_>>()
    };
    let (found, expected) = (bits(&found), bits(expected));
    let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
    match differs {
        None if found.len() == expected.len() => Ok(()),
        Some(index) => Err(Error::new(format!("wrong bits in element {index}"))),
        None => Err(Error::new(format!(
            "expected {} elements, found {}",
            expected.len(),
            found.len()
        ))),
    }
}

struct Suite<'a> {
    host: &'a HostContext,
    member: &'a dyn GroupMember,
    /// Whether elements are combined in the order of the formula.
    has_order: bool,
}

impl Suite<'_> {
    fn run(&self, cases: &[Case]) -> Result<usize, Error> {
        for (batch, cases) in cases.chunks(AT_A_TIME).enumerate() {
            let mut checks = Vec::with_capacity(cases.len());
            for turn in 0..cases.len() {
                let number = (turn + 7 * self.member.index()) % cases.len();
                let key = format!("conformance:{batch}:{number}");
                checks.push(self.start(&key, cases[number])?);
            }
            let values: Vec<AnyRef> = checks.iter().map(|check| check.done.clone()).collect();
            self.host.await_available(&values)?;
            for check in checks {
                let outcome = match check.done.error_if_present() {
                    Some(error) => Err(error.clone()),
                    None => (check.verify)(),
                };
                outcome.map_err(|error| {
                    let (index, what, why) = (self.member.index(), check.what, error.message());
                    Error::new(format!("member {index}: {what}: {why}"))
                })?;
            }
        }
        Ok(cases.len())
    }

    fn tensor<T: Sample>(&self, dims: &[usize], elements: &[T]) -> Result<DenseHostTensor, Error> {
        let allocator = self.host.allocator();
        let shape = Shape::new(dims)?;
        Ok(DenseHostTensor::from_elements(allocator, shape, elements)?)
    }

    fn start_with<T: Sample>(&self, key: &str, case: Case) -> Result<Check, Error> {
        let (index, size) = (self.member.index(), self.member.size());
        let Case { len, in_place, .. } = case;
        let own: Vec<T> = elements(index, len);
        let zeros = |len: usize| vec![T::ZERO; len];
        let input = self.tensor(&[len], &own)?;
        // An input beside an output, and what it is in the end unless it is like the output.
        let mut beside: Option<(DenseHostTensor, Option<Vec<T>>)> = None;
        let (done, output, expected): (AnyRef, Option<DenseHostTensor>, Vec<T>) =
            match case.operation {
                Operation::AllReduce(reduction) => {
                    let output = match in_place {
                        true => input.clone(),
                        false => self.tensor(&[len], &zeros(len))?,
                    };
                    if !in_place {
                        let kept = AllReduceKeepsInput::of(self.host).then_some(own);
                        beside = Some((input.clone(), kept));
                    }
                    let done = self
                        .member
                        .all_reduce(key, reduction, input, output.clone());
                    let all = (0..len).map(|at| expected(reduction, size, len, at));
                    (done.into(), Some(output), all.collect())
                }
                Operation::ReduceScatter(reduction) => {
                    let own = chunk(len, size, index);
                    let output = self.tensor(&[own.len()], &zeros(own.len()))?;
                    let result = output.clone();
                    let done = self.member.reduce_scatter(key, reduction, input, result);
                    let own = own.map(|at| expected(reduction, size, len, at));
                    (done.into(), Some(output), own.collect())
                }
                Operation::Broadcast(sender) => {
                    let done = self.member.broadcast(key, input.clone(), sender);
                    (done.into(), Some(input), elements(sender, len))
                }
                Operation::AllGather(axis) => {
                    // Two rows, or two columns.
                    let dims = |long: usize| if axis == 0 { [long, 2] } else { [2, long] };
                    let input = self.tensor(&dims(len), &elements::<T>(index, 2 * len))?;
                    let output = self.tensor(&dims(size * len), &zeros(2 * size * len))?;
                    let done = self.member.all_gather(key, input, output.clone(), axis);
                    let lens = vec![len; size];
                    (done.into(), Some(output), side_by_side(axis, &lens))
                }
                Operation::AllGatherAny(axis) => {
                    let lens: Vec<usize> = (0..size).map(|member| len + member % 3).collect();
                    let dims = match axis {
                        0 => [lens[index], 2],
                        _ => [2, lens[index]],
                    };
                    let input = self.tensor(&dims, &elements::<T>(index, 2 * lens[index]))?;
                    let done = self.member.all_gather_any(key, input, axis);
                    (done.into(), None, side_by_side(axis, &lens))
                }
                Operation::AllToAll => {
                    let own = chunk(len, size, index);
                    let output = self.tensor(&[size * own.len()], &zeros(size * own.len()))?;
                    let done = self.member.all_to_all(key, input, output.clone());
                    let of_member = |member| own.clone().map(move |at| element(member, at));
                    let all = (0..size).flat_map(of_member);
                    (done.into(), Some(output), all.collect())
                }
                Operation::SendRecv(distance) => {
                    let (to, from) = ((index + distance) % size, (index + size - distance) % size);
                    let sent = self.member.send(key, to, &input);
                    let received = self.member.recv(key, from);
                    // The payload of a send that failed never comes.
                    if let Some(error) = sent.error_if_present() {
                        return Err(error.clone());
                    }
                    (received.into(), None, elements(from, len))
                }
                Operation::Barrier => (self.member.barrier(key).into(), None, Vec::new()),
            };
        let value = done.clone();
        let is_barrier = case.operation == Operation::Barrier;
        let of_elements = |reduction, range: std::ops::Range<usize>| -> Vec<f64> {
            let tolerances = range.map(|at| tolerance::<T>(reduction, size, at));
            tolerances.collect()
        };
        let tolerances = match case.operation {
            _ if self.has_order => Vec::new(),
            Operation::AllReduce(reduction) => of_elements(reduction, 0..len),
            Operation::ReduceScatter(reduction) => of_elements(reduction, chunk(len, size, index)),
            _ => Vec::new(),
        };
        Ok(Check {
            what: format!("{:?} of {}[{len}]", case.operation, case.dtype),
            done,
            verify: Box::new(move || match output {
                _ if is_barrier => Ok(()),
                Some(output) => {
                    match beside {
                        Some((input, Some(own))) => require_bits(&input, &own)?,
                        Some((input, None)) => require_bits(&input, &output.elements::<T>()?)?,
                        None => {}
                    }
                    require_close(&output, &expected, &tolerances)
                }
                None => {
                    let tensor = value.try_read::<DenseHostTensor>();
                    let tensor = tensor.map_err(|error| Error::new(error.to_string()))?;
                    require_bits(&tensor, &expected)
                }
            }),
        })
    }
}

/// Returns matrices side by side: of every member one with two rows or columns.
fn side_by_side<T: Sample>(axis: u64, lens: &[usize]) -> Vec<T> {
    let of_member = |member: usize| elements::<T>(member, 2 * lens[member]);
    let members = 0..lens.len();
    if axis == 0 {
        return members.flat_map(of_member).collect();
    }
    let rows = (0..2).flat_map(|row| members.clone().map(move |member| (row, member)));
    rows.flat_map(|(row, member)| {
        let len = lens[member];
        of_member(member)[row * len..][..len].to_vec()
    })
    .collect()
}

#[cfg(test)]
pub(super) mod tests;
