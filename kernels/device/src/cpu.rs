//! Kernels of device functions on host tensors.
//!
//! The loops are compiled for the instructions of the processor that is found, and the function is
//! inlined into them, so that the compiler vectorises it. All functions run on the calling thread.

use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Element, Elements, I1};

use crate::axes::{self, AxesPlan};
use crate::broadcast::CommonShape;
use crate::kernel::{FunctionKernel, KernelForm, ReductionPlan, check_equal};
use crate::ptx::BLOCK_THREADS;

/// A type of device functions, and that of tensor elements.
#[doc(hidden)]
pub trait DeviceNumber: Copy {
    /// The element type.
    type Element: Element;
    /// Returns the number of an element.
    fn of_element(element: Self::Element) -> Self;
    /// Returns the element.
    fn to_element(self) -> Self::Element;
}

macro_rules! device_number {
    ($($ty:ident)+) => {$(
        impl DeviceNumber for $ty {
            type Element = $ty;
            #[inline(always)]
            fn of_element(element: $ty) -> Self {
                element
            }
            #[inline(always)]
            fn to_element(self) -> $ty {
                self
            }
        }
    )+};
}

device_number! { i32 u32 i64 u64 f32 f64 }

impl DeviceNumber for bool {
    type Element = I1;
    #[inline(always)]
    fn of_element(element: I1) -> Self {
        element.into()
    }
    #[inline(always)]
    fn to_element(self) -> I1 {
        self.into()
    }
}

/// As many elements are computed at once: repeated operands are spread into arrays of this size.
const CHUNK: usize = 256;

/// The parameters of a device function, as a tuple.
#[doc(hidden)]
pub trait ArgumentTuple: Sized {
    /// The borrowed elements of the tensors.
    type Borrowed<'t>;

    /// Borrows the elements.
    fn borrow<'t>(tensors: &[&'t DenseHostTensor]) -> Result<Self::Borrowed<'t>, Error>;

    /// Computes all elements of a result.
    fn apply<R: DeviceNumber, F: Fn(Self) -> R>(
        operands: &Self::Borrowed<'_>,
        broadcast: &CommonShape,
        result: &mut [R::Element],
        function: &F,
    );

    /// Combines the results of the function for a block of lanes into one for each lane: lane `i`
    /// takes the elements `start + i`, `start + i + step`, and so on.
    fn accumulate<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
        operands: &Self::Borrowed<'_>,
        elements: Strided,
        lanes: &mut [R; LANES],
        function: &F,
        combine: &Join,
    );

    /// Combines the results of the function for neighbouring elements: element `i` goes to lane
    /// `first + i`, modulo their number.
    fn fold_run<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
        operands: &Self::Borrowed<'_>,
        run: Run,
        lanes: &mut [R; axes::LANES],
        function: &F,
        combine: &Join,
    );

    /// Combines each sum with the result of the function for an element: sum `i` with that of
    /// element `start + i`.
    fn fold_rows<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
        operands: &Self::Borrowed<'_>,
        start: usize,
        sums: &mut [R],
        function: &F,
        combine: &Join,
    );
}

/// Neighbouring elements that become one result.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Run {
    start: usize,
    len: usize,
    /// The number of the first one among all elements of the result.
    first: usize,
}

/// The lanes of a block.
const LANES: usize = BLOCK_THREADS as usize;

/// The elements of a block of lanes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    start: usize,
    step: usize,
    count: usize,
}

macro_rules! arguments {
    ($($T:ident $t:ident $index:tt),+) => {
        impl<$($T: DeviceNumber),+> ArgumentTuple for ($($T,)+) {
            type Borrowed<'t> = ($(Elements<'t, $T::Element>,)+);

            fn borrow<'t>(tensors: &[&'t DenseHostTensor]) -> Result<Self::Borrowed<'t>, Error> {
                Ok(($(tensors[$index].elements::<$T::Element>()?,)+))
            }

            #[inline(always)]
            fn apply<R: DeviceNumber, F: Fn(Self) -> R>(
                operands: &Self::Borrowed<'_>,
                broadcast: &CommonShape,
                result: &mut [R::Element],
                function: &F,
            ) {
                let row_len = broadcast.extents().last().copied().unwrap_or(1);
                let mut starts = [0_usize; MAX_OPERANDS];
                let mut spread = ($([<$T::Element as Element>::ZERO; CHUNK],)+);
                for (row, result) in result.chunks_mut(row_len).enumerate() {
                    broadcast.starts(row, &mut starts);
                    $(
                        let repeats = broadcast.strides($index).last().is_none_or(|stride| *stride == 0);
                        let start = starts[$index];
                        let $t = if repeats {
                            spread.$index[..row_len.min(CHUNK)].fill(operands.$index[start]);
                            None
                        } else {
                            Some(&operands.$index[start..start + row_len])
                        };
                    )+
                    for (chunk, result) in result.chunks_mut(CHUNK).enumerate() {
                        let len = result.len();
                        $(
                            let $t = match $t {
                                Some(row) => &row[chunk * CHUNK..chunk * CHUNK + len],
                                None => &spread.$index[..len],
                            };
                        )+
                        for (index, result) in result.iter_mut().enumerate() {
                            let arguments = ($($T::of_element($t[index]),)+);
                            *result = function(arguments).to_element();
                        }
                    }
                }
            }

            #[inline(always)]
            fn accumulate<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
                operands: &Self::Borrowed<'_>,
                elements: Strided,
                lanes: &mut [R; LANES],
                function: &F,
                combine: &Join,
            ) {
                let Strided { mut start, step, count } = elements;
                while start < count {
                    let len = (count - start).min(LANES);
                    $(let $t = &operands.$index[start..start + len];)+
                    for (index, lane) in lanes[..len].iter_mut().enumerate() {
                        let arguments = ($($T::of_element($t[index]),)+);
                        *lane = combine(*lane, function(arguments));
                    }
                    start = start.saturating_add(step);
                }
            }

            #[inline(always)]
            fn fold_run<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
                operands: &Self::Borrowed<'_>,
                Run { start, len, first }: Run,
                lanes: &mut [R; axes::LANES],
                function: &F,
                combine: &Join,
            ) {
                $(let $t = &operands.$index[start..start + len];)+
                let result = |at: usize| function(($($T::of_element($t[at]),)+));
                // Up to the first lane, then all lanes at once, then the rest.
                let head = ((axes::LANES - first % axes::LANES) % axes::LANES).min(len);
                for at in 0..head {
                    let lane = &mut lanes[(first + at) % axes::LANES];
                    *lane = combine(*lane, result(at));
                }
                let rounds = (len - head) / axes::LANES;
                for round in 0..rounds {
                    let start = head + round * axes::LANES;
                    $(let $t = &$t[start..start + axes::LANES];)+
                    for (at, lane) in lanes.iter_mut().enumerate() {
                        let arguments = ($($T::of_element($t[at]),)+);
                        *lane = combine(*lane, function(arguments));
                    }
                }
                let tail = head + rounds * axes::LANES;
                for (lane, at) in lanes.iter_mut().zip(tail..len) {
                    *lane = combine(*lane, result(at));
                }
            }

            #[inline(always)]
            fn fold_rows<R: DeviceNumber, F: Fn(Self) -> R, Join: Fn(R, R) -> R>(
                operands: &Self::Borrowed<'_>,
                start: usize,
                sums: &mut [R],
                function: &F,
                combine: &Join,
            ) {
                $(let $t = &operands.$index[start..start + sums.len()];)+
                for (at, sum) in sums.iter_mut().enumerate() {
                    let arguments = ($($T::of_element($t[at]),)+);
                    *sum = combine(*sum, function(arguments));
                }
            }
        }
    };
}

/// The largest number of parameters of a kernel.
const MAX_OPERANDS: usize = 8;

arguments!(A a 0);
arguments!(A a 0, B b 1);
arguments!(A a 0, B b 1, C c 2);
arguments!(A a 0, B b 1, C c 2, D d 3);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4, G g 5);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4, G g 5, H h 6);
arguments!(A a 0, B b 1, C c 2, D d 3, E e 4, G g 5, H h 6, I i 7);

/// Computes `result = function(operands)`, element by element. Operands are broadcast.
///
/// # Errors
/// If the element types or shapes do not fit, or elements are in use.
#[doc(hidden)]
#[inline]
pub fn elementwise<A: ArgumentTuple, R: DeviceNumber>(
    kernel: &FunctionKernel,
    operands: &[&DenseHostTensor],
    result: &mut DenseHostTensor,
    function: impl Fn(A) -> R,
) -> Result<(), Error> {
    let shapes: Vec<&[usize]> = operands
        .iter()
        .map(|tensor| tensor.shape().dims())
        .collect();
    let broadcast = CommonShape::new(kernel.name, &shapes)?;
    result.expect_shape(&tfrt_tensor::Shape::new(broadcast.shape())?)?;
    let borrowed = A::borrow(operands)?;
    let mut elements = result.elements_mut::<R::Element>()?;
    let elements: &mut [R::Element] = &mut elements;
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || A::apply(&borrowed, &broadcast, elements, &function),
    );
    Ok(())
}

/// Computes `function(operands)` for all elements, and combines the results into one, in the order
/// of [`ReductionPlan`].
///
/// # Errors
/// If the element types or shapes do not fit, or elements are in use.
#[doc(hidden)]
#[inline]
pub fn reduce<A: ArgumentTuple, R: DeviceNumber>(
    kernel: &FunctionKernel,
    operands: &[&DenseHostTensor],
    result: &mut DenseHostTensor,
    identity: R,
    function: impl Fn(A) -> R,
    combine: impl Fn(R, R) -> R,
) -> Result<(), Error> {
    let shapes: Vec<&[usize]> = operands
        .iter()
        .map(|tensor| tensor.shape().dims())
        .collect();
    check_equal(kernel, &shapes)?;
    result.expect_shape(&tfrt_tensor::Shape::scalar())?;
    let count = operands.first().map_or(0, |first| first.num_elements());
    let borrowed = A::borrow(operands)?;
    let reduced = pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let num_blocks = ReductionPlan::new(count).num_blocks as usize;
            let mut parts = Vec::with_capacity(num_blocks);
            for block in 0..num_blocks {
                let mut lanes = [identity; LANES];
                let elements = Strided {
                    start: block * LANES,
                    step: num_blocks * LANES,
                    count,
                };
                A::accumulate(&borrowed, elements, &mut lanes, &function, &combine);
                parts.push(tree(&mut lanes, &combine));
            }
            if let [only] = parts[..] {
                return only;
            }
            let mut lanes = [identity; LANES];
            for row in parts.chunks(LANES) {
                for (lane, part) in lanes.iter_mut().zip(row) {
                    *lane = combine(*lane, *part);
                }
            }
            tree(&mut lanes, &combine)
        },
    );
    if let Some(element) = result.elements_mut::<R::Element>()?.first_mut() {
        *element = reduced.to_element();
    }
    Ok(())
}

/// Computes `function(operands)` for all elements, and combines the results along the axes of the
/// kernel, in the order of [`AxesPlan`].
///
/// # Errors
/// If the element types or shapes do not fit, or elements are in use.
#[doc(hidden)]
#[inline]
pub fn reduce_along<A: ArgumentTuple, R: DeviceNumber>(
    kernel: &FunctionKernel,
    operands: &[&DenseHostTensor],
    result: &mut DenseHostTensor,
    identity: R,
    function: impl Fn(A) -> R,
    combine: impl Fn(R, R) -> R,
) -> Result<(), Error> {
    let KernelForm::ReduceAlong { axes, .. } = kernel.form else {
        return Err(Error::new(format!(
            "`{}` does not reduce along axes",
            kernel.name
        )));
    };
    let shapes: Vec<&[usize]> = operands
        .iter()
        .map(|tensor| tensor.shape().dims())
        .collect();
    check_equal(kernel, &shapes)?;
    let plan = AxesPlan::new(
        kernel.name,
        axes,
        shapes.first().copied().unwrap_or_default(),
    )?;
    result.expect_shape(&tfrt_tensor::Shape::new(&plan.extents)?)?;
    let borrowed = A::borrow(operands)?;
    let mut elements = result.elements_mut::<R::Element>()?;
    let elements: &mut [R::Element] = &mut elements;
    let single = axes::AxisGroup {
        extent: 1,
        stride: 0,
    };
    let (run, outer_runs) = match plan.reduced.split_last() {
        Some((run, outer)) => (*run, outer),
        None => (single, &[][..]),
    };
    // Without elements, a long outer axis is not walked.
    let num_runs = match run.extent {
        0 => 0,
        _ => axes::num_elements(outer_runs),
    };
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || match plan.kept.split_last() {
            _ if elements.is_empty() => {}
            // Neighbours belong to different results: several of them are computed at once.
            Some((inner, outer)) if inner.stride == 1 => {
                for (row, results) in elements.chunks_mut(inner.extent).enumerate() {
                    let mut start = axes::offset(outer, row);
                    for results in results.chunks_mut(WIDTH) {
                        let len = results.len();
                        let mut lanes = [[identity; WIDTH]; axes::LANES];
                        for number in 0..num_runs {
                            let base = start + axes::offset(outer_runs, number);
                            for at in 0..run.extent {
                                let lane = (number * run.extent + at) % axes::LANES;
                                let sums = &mut lanes[lane][..len];
                                let start = base + at * run.stride;
                                A::fold_rows(&borrowed, start, sums, &function, &combine);
                            }
                        }
                        for (at, result) in results.iter_mut().enumerate() {
                            let lanes = std::array::from_fn(|lane| lanes[lane][at]);
                            *result = halves(lanes, &combine).to_element();
                        }
                        start += len;
                    }
                }
            }
            // Neighbours become one result.
            _ => {
                for (index, result) in elements.iter_mut().enumerate() {
                    let base = axes::offset(&plan.kept, index);
                    let mut lanes = [identity; axes::LANES];
                    for number in 0..num_runs {
                        let run = Run {
                            start: base + axes::offset(outer_runs, number),
                            len: run.extent,
                            first: number * run.extent,
                        };
                        A::fold_run(&borrowed, run, &mut lanes, &function, &combine);
                    }
                    *result = halves(lanes, &combine).to_element();
                }
            }
        },
    );
    Ok(())
}

/// So many neighbouring results are computed at once.
const WIDTH: usize = 64;

/// Combines each lane of the first half with one of the other half, until one is left.
#[inline(always)]
fn halves<R: Copy>(mut lanes: [R; axes::LANES], combine: &impl Fn(R, R) -> R) -> R {
    let mut half = axes::LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = combine(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Combines each lane of the first half with one of the other half, until one is left.
#[inline(always)]
fn tree<R: Copy>(lanes: &mut [R; LANES], combine: &impl Fn(R, R) -> R) -> R {
    let mut half = LANES / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low = combine(*low, *high);
        }
        half /= 2;
    }
    lanes[0]
}
