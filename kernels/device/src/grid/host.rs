//! Grid kernels on host tensors: what expansions call.
//!
//! Blocks run one after the other. A block is a function that the macro writes: a loop over the
//! threads for each part between two barriers.

use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use super::{Grid, GridPlan, GridRules, HasExtents, OutView, Shared, View, plan};
use crate::cpu::DeviceNumber;
use crate::kernel::{FunctionKernel, KernelForm};
use crate::numbers::{Integer, Number};

/// An access out of bounds.
#[derive(Debug)]
pub struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    array: &'static str,
    index: u32,
    axis: usize,
    extent: u32,
    grid: Grid,
}

impl Fault {
    /// Returns the error of a kernel.
    #[cold]
    pub fn into_error(self, kernel: &FunctionKernel) -> Error {
        let Parts {
            array,
            index,
            axis,
            extent,
            grid,
        } = *self.0;
        let ([a, b, c], [x, y, z]) = (grid.block, grid.thread);
        Error::new(format!(
            "`{}`: index {index} of axis {axis} of `{array}` is out of bounds: the extent is \
             {extent}; block ({a}, {b}, {c}), thread ({x}, {y}, {z})",
            kernel.name
        ))
        .with_code(ErrorCode::OutOfRange)
    }
}

/// An array of a kernel.
pub trait Array<const RANK: usize>: HasExtents {
    /// The type of its elements.
    type Number: DeviceNumber;
    /// Returns its name.
    fn name(&self) -> &'static str;
}

/// An array that is read.
pub trait Readable<const RANK: usize>: Array<RANK> {
    /// Returns an element.
    fn get(&self, offset: usize) -> Self::Number;
}

/// An array that is written.
pub trait Writable<const RANK: usize>: Array<RANK> {
    /// Replaces an element by what the function returns for it.
    fn update(&mut self, offset: usize, new: impl FnOnce(Self::Number) -> Self::Number);
}

impl<T: DeviceNumber, const RANK: usize> Array<RANK> for View<'_, T, RANK> {
    type Number = T;
    fn name(&self) -> &'static str {
        self.name
    }
}

impl<T: DeviceNumber, const RANK: usize> Readable<RANK> for View<'_, T, RANK> {
    #[inline(always)]
    fn get(&self, offset: usize) -> T {
        T::of_element(self.elements[offset])
    }
}

impl<T: DeviceNumber, const RANK: usize> Array<RANK> for OutView<'_, T, RANK> {
    type Number = T;
    fn name(&self) -> &'static str {
        self.name
    }
}

impl<T: DeviceNumber, const RANK: usize> Writable<RANK> for OutView<'_, T, RANK> {
    #[inline(always)]
    fn update(&mut self, offset: usize, new: impl FnOnce(T) -> T) {
        let element = &mut self.elements[offset];
        *element = new(T::of_element(*element)).to_element();
    }
}

impl<T: DeviceNumber, const LEN: usize> Array<1> for Shared<T, LEN> {
    type Number = T;
    fn name(&self) -> &'static str {
        self.name
    }
}

impl<T: DeviceNumber, const LEN: usize> Readable<1> for Shared<T, LEN> {
    #[inline(always)]
    fn get(&self, offset: usize) -> T {
        T::of_element(self.elements[offset])
    }
}

impl<T: DeviceNumber, const LEN: usize> Writable<1> for Shared<T, LEN> {
    #[inline(always)]
    fn update(&mut self, offset: usize, new: impl FnOnce(T) -> T) {
        let element = &mut self.elements[offset];
        *element = new(T::of_element(*element)).to_element();
    }
}

/// Returns the place of an element, if its indices are within the extents.
#[inline(always)]
fn offset<A: Array<RANK>, const RANK: usize>(
    grid: &Grid,
    array: &A,
    at: [u32; RANK],
) -> Result<usize, Fault> {
    let mut offset = 0_usize;
    for (axis, (index, extent)) in at.into_iter().zip(array.extents()).enumerate() {
        if index >= *extent {
            return Err(fault(grid, array, index, axis));
        }
        offset = offset * *extent as usize + index as usize;
    }
    Ok(offset)
}

#[cold]
fn fault<A: Array<RANK>, const RANK: usize>(
    grid: &Grid,
    array: &A,
    index: u32,
    axis: usize,
) -> Fault {
    Fault(Box::new(Parts {
        array: array.name(),
        index,
        axis,
        extent: array.extents()[axis],
        grid: *grid,
    }))
}

/// Reads an element.
#[inline(always)]
pub fn load<A: Readable<RANK>, const RANK: usize>(
    grid: &Grid,
    array: &A,
    at: [u32; RANK],
) -> Result<A::Number, Fault> {
    Ok(array.get(offset(grid, array, at)?))
}

/// Writes an element.
#[inline(always)]
pub fn store<A: Writable<RANK>, const RANK: usize>(
    grid: &Grid,
    array: &mut A,
    at: [u32; RANK],
    value: A::Number,
) -> Result<(), Fault> {
    let offset = offset(grid, array, at)?;
    array.update(offset, |_| value);
    Ok(())
}

/// Integers that threads combine without interruption.
#[diagnostic::on_unimplemented(
    message = "device functions have atomic operations for integers only, found `{Self}`",
    label = "expected `i32`, `u32`, `i64` or `u64`: sums of floats would depend on the order of \
             the threads"
)]
pub trait Atomic: Integer + DeviceNumber {
    /// Returns the common bits.
    fn and(self, other: Self) -> Self;
    /// Returns all bits.
    fn or(self, other: Self) -> Self;
    /// Returns the bits that differ.
    fn xor(self, other: Self) -> Self;
}

macro_rules! atomic {
    ($($ty:ident)+) => {$(
        impl Atomic for $ty {
            fn and(self, other: Self) -> Self {
                self & other
            }
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )+};
}

atomic! { i32 u32 i64 u64 }

macro_rules! atomic_operations {
    ($($name:ident $combine:expr;)+) => {$(
        /// Combines an element with a value.
        #[inline(always)]
        pub fn $name<A: Writable<RANK>, const RANK: usize>(
            grid: &Grid,
            array: &mut A,
            at: [u32; RANK],
            value: A::Number,
        ) -> Result<(), Fault>
        where
            A::Number: Atomic,
        {
            let offset = offset(grid, array, at)?;
            array.update(offset, |element| $combine(element, value));
            Ok(())
        }
    )+};
}

atomic_operations! {
    atomic_add Number::add;
    atomic_min Number::min;
    atomic_max Number::max;
    atomic_and Atomic::and;
    atomic_or Atomic::or;
    atomic_xor Atomic::xor;
}

/// Returns the places of the threads of a block.
#[inline]
pub fn threads(grid: &Grid) -> impl Iterator<Item = Grid> + use<> {
    let grid = *grid;
    let [width, height, depth] = grid.threads;
    (0..depth).flat_map(move |z| {
        (0..height).flat_map(move |y| {
            (0..width).map(move |x| Grid {
                thread: [x, y, z],
                ..grid
            })
        })
    })
}

/// Returns the extent of an operand, for rules.
#[must_use]
pub fn extent(shapes: &[&[usize]], operand: usize, axis: usize) -> i64 {
    let extent = shapes.get(operand).and_then(|shape| shape.get(axis));
    extent.map_or(0, |extent| *extent as i64)
}

/// Plans a launch on host tensors.
///
/// # Errors
/// Those of [`plan`].
pub fn grid_plan(
    kernel: &'static FunctionKernel,
    operands: &[&DenseHostTensor],
    result: &DenseHostTensor,
) -> Result<HostLaunch, Error> {
    let KernelForm::Grid(rules) = kernel.form else {
        return Err(Error::new(format!(
            "`{}` is not a grid kernel",
            kernel.name
        )));
    };
    let shapes: Vec<&[usize]> = operands
        .iter()
        .map(|tensor| tensor.shape().dims())
        .collect();
    let plan = plan(kernel, rules, &shapes)?;
    result.expect_shape(&tfrt_tensor::Shape::new(&plan.extents)?)?;
    Ok(HostLaunch {
        kernel,
        rules,
        plan,
    })
}

/// A launch on host tensors.
#[derive(Debug)]
pub struct HostLaunch {
    kernel: &'static FunctionKernel,
    rules: &'static GridRules,
    plan: GridPlan,
}

impl HostLaunch {
    /// Returns a view of an operand.
    ///
    /// # Errors
    /// If the extents are others.
    pub fn view<'t, T: DeviceNumber, const RANK: usize>(
        &self,
        name: &'static str,
        tensor: &DenseHostTensor,
        elements: &'t [T::Element],
    ) -> Result<View<'t, T, RANK>, Error> {
        let extents = self.extents(tensor.shape().dims())?;
        View::new(name, elements, extents).ok_or_else(|| self.mismatch())
    }

    /// Returns a view of the result, after its elements have their initial value.
    ///
    /// # Errors
    /// If the extents are others.
    pub fn out<'t, T: DeviceNumber, const RANK: usize>(
        &self,
        name: &'static str,
        initial: Option<T>,
        elements: &'t mut [T::Element],
    ) -> Result<OutView<'t, T, RANK>, Error> {
        if let Some(initial) = initial {
            elements.fill(initial.to_element());
        }
        let extents = self.extents(&self.plan.extents)?;
        OutView::new(name, elements, extents).ok_or_else(|| self.mismatch())
    }

    fn extents<const RANK: usize>(&self, extents: &[usize]) -> Result<[u32; RANK], Error> {
        let narrow: Vec<u32> = extents.iter().map(|extent| *extent as u32).collect();
        narrow.try_into().map_err(|_| self.mismatch())
    }

    #[cold]
    fn mismatch(&self) -> Error {
        Error::new(format!(
            "`{}`: the shapes are not those of the plan",
            self.kernel.name
        ))
        .with_code(ErrorCode::Internal)
    }

    /// Runs all blocks.
    ///
    /// # Errors
    /// The first access out of bounds.
    pub fn run(&self, mut block: impl FnMut(&Grid) -> Result<(), Fault>) -> Result<(), Error> {
        let (blocks, threads) = (self.plan.blocks, self.rules.threads);
        let [width, height, depth] = blocks;
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let grid = Grid::new([x, y, z], [0; 3], threads, blocks);
                    block(&grid).map_err(|fault| fault.into_error(self.kernel))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the number of a tensor with one element.
///
/// # Errors
/// If there is another number of elements, or they are in use.
pub fn number<T: DeviceNumber>(tensor: &DenseHostTensor) -> Result<T, Error> {
    let elements = tensor.elements::<T::Element>()?;
    match elements[..] {
        [only] => Ok(T::of_element(only)),
        _ => Err(
            Error::new(format!("expected one number, found {}", elements.len()))
                .with_code(ErrorCode::InvalidArgument),
        ),
    }
}
