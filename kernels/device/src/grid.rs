//! Grid kernels: device functions with indices of their own, shared memory and barriers.
//!
//! ```text
//!  grid            block (1, 0)                   between two barriers
//!  ┌─────┬─────┐   ┌───────────────────────┐      processor: the threads of a block, one by one
//!  │ 0,0 │ 1,0 │   │ threads · · · · · · · │      GPU:       all threads of a block, together
//!  ├─────┼─────┤   │ shared arrays         │
//!  │ 0,1 │ 1,1 │   └───────────────────────┘
//!  └─────┴─────┘
//! ```
//!
//! Axis 0 is the one along which neighbouring threads run together: let it index the last dimension
//! of a tensor. The rules:
//!
//! - An index out of bounds is an error. On the processor it names the array, the block and the
//!   thread; on a GPU, the thread executes `trap`, which appears at the next synchronization.
//! - All threads of a block reach every barrier equally often. The macro checks it.
//! - Between two barriers, no thread uses an element of shared memory that another one writes,
//!   except by atomic operations. No two threads of a launch write one element of the result,
//!   except by atomic operations. The host device of `tfrt-gpu` reports races in shared memory.
//! - Shared arrays start as zeros. The result starts as the initial value, if there is one; else
//!   the kernel writes all of it.
//!
//! A kernel that follows them computes the same bits on every device.

#[doc(hidden)]
pub mod host;

use tfrt_support::{Error, ErrorCode};

use crate::cpu::DeviceNumber;
use crate::kernel::FunctionKernel;
use crate::tree::{Scalar, Value};

/// The place of a thread in the grid: the first parameter of a grid kernel.
///
/// | in a kernel | value |
/// |---|---|
/// | `grid.index(axis)` | the place of the thread among those of all blocks |
/// | `grid.thread(axis)`, `grid.threads(axis)` | its place in its block, and the threads of a block |
/// | `grid.block(axis)`, `grid.blocks(axis)` | the place of its block, and the number of blocks |
/// | `grid.barrier()` | waits until all threads of the block are here |
///
/// ```
/// use tfrt_device::grid::Grid;
///
/// let grid = Grid::new([2, 0, 0], [5, 0, 0], [32, 1, 1], [10, 1, 1]);
/// assert_eq!(grid.index(0), 2 * 32 + 5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    block: [u32; 3],
    thread: [u32; 3],
    threads: [u32; 3],
    blocks: [u32; 3],
}

impl Grid {
    /// Returns the place of a thread.
    #[must_use]
    pub fn new(block: [u32; 3], thread: [u32; 3], threads: [u32; 3], blocks: [u32; 3]) -> Self {
        Self {
            block,
            thread,
            threads,
            blocks,
        }
    }

    /// Returns the place of the thread among those of all blocks.
    ///
    /// # Panics
    /// If the axis is not 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub fn index(&self, axis: usize) -> u32 {
        let before = self.block[axis].wrapping_mul(self.threads[axis]);
        before.wrapping_add(self.thread[axis])
    }

    /// Returns the place of the thread in its block.
    ///
    /// # Panics
    /// If the axis is not 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub fn thread(&self, axis: usize) -> u32 {
        self.thread[axis]
    }

    /// Returns the number of threads of a block.
    ///
    /// # Panics
    /// If the axis is not 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub fn threads(&self, axis: usize) -> u32 {
        self.threads[axis]
    }

    /// Returns the place of the block.
    ///
    /// # Panics
    /// If the axis is not 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub fn block(&self, axis: usize) -> u32 {
        self.block[axis]
    }

    /// Returns the number of blocks.
    ///
    /// # Panics
    /// If the axis is not 0, 1 or 2.
    #[must_use]
    #[inline(always)]
    pub fn blocks(&self, axis: usize) -> u32 {
        self.blocks[axis]
    }

    /// Returns the number of the thread in its block.
    #[must_use]
    #[inline(always)]
    pub fn lane(&self) -> usize {
        let [x, y, z] = self.thread.map(|place| place as usize);
        let [width, height, _] = self.threads.map(|count| count as usize);
        (z.wrapping_mul(height).wrapping_add(y))
            .wrapping_mul(width)
            .wrapping_add(x)
    }
}

/// An operand of a grid kernel: a tensor of `RANK` dimensions. `view[[y, x]]` reads an element,
/// `view[i]` one of a vector, and `view.extent(axis)` is a `u32`.
///
/// ```
/// use tfrt_device::grid::{View, extent_of};
///
/// let view = View::<f32, 2>::new("x", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
/// assert_eq!(extent_of(&view, 1), 3);
/// ```
#[derive(Debug)]
pub struct View<'t, T: DeviceNumber, const RANK: usize> {
    name: &'static str,
    /// As many as the product of the extents.
    elements: &'t [T::Element],
    extents: [u32; RANK],
}

impl<'t, T: DeviceNumber, const RANK: usize> View<'t, T, RANK> {
    /// Returns a view of elements, row-major; none if their number is not the product of the
    /// extents.
    #[must_use]
    pub fn new(
        name: &'static str,
        elements: &'t [T::Element],
        extents: [u32; RANK],
    ) -> Option<Self> {
        (count(&extents) == Some(elements.len())).then_some(Self {
            name,
            elements,
            extents,
        })
    }
}

/// The result of a grid kernel: a tensor of `RANK` dimensions, which is only written.
///
/// `result[[y, x]] = …` writes an element. With `initial = …` among the options, there are
/// `result.atomic_add([y, x], …)`, `atomic_min`, `atomic_max`, `atomic_and`, `atomic_or` and
/// `atomic_xor` for integers.
///
/// ```
/// use tfrt_device::grid::OutView;
///
/// let mut elements = [0_i32; 6];
/// assert!(OutView::<i32, 2>::new("y", &mut elements, [2, 3]).is_some());
/// assert!(OutView::<i32, 1>::new("y", &mut elements, [5]).is_none());
/// ```
#[derive(Debug)]
pub struct OutView<'t, T: DeviceNumber, const RANK: usize> {
    name: &'static str,
    /// As many as the product of the extents.
    elements: &'t mut [T::Element],
    extents: [u32; RANK],
}

impl<'t, T: DeviceNumber, const RANK: usize> OutView<'t, T, RANK> {
    /// Returns a view of elements, row-major; none if their number is not the product of the
    /// extents.
    #[must_use]
    pub fn new(
        name: &'static str,
        elements: &'t mut [T::Element],
        extents: [u32; RANK],
    ) -> Option<Self> {
        (count(&extents) == Some(elements.len())).then_some(Self {
            name,
            elements,
            extents,
        })
    }
}

/// An array that the threads of a block share. `tile[i]` reads and writes elements, and there are
/// the atomic operations of [`OutView`].
///
/// ```
/// use tfrt_device::grid::{Shared, extent_of};
///
/// assert_eq!(extent_of(&Shared::<f32, 272>::new("tile"), 0), 272);
/// ```
#[derive(Debug)]
pub struct Shared<T: DeviceNumber, const LEN: usize> {
    name: &'static str,
    /// `LEN` of them.
    elements: Vec<T::Element>,
}

impl<T: DeviceNumber, const LEN: usize> Shared<T, LEN> {
    /// Returns an array of zeros.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            elements: vec![<T::Element as tfrt_tensor::Element>::ZERO; LEN],
        }
    }

    /// Writes zeros.
    pub fn clear(&mut self) {
        self.elements
            .fill(<T::Element as tfrt_tensor::Element>::ZERO);
    }
}

/// Something with extents.
///
/// ```
/// use tfrt_device::grid::HasExtents;
///
/// /// Returns the number of elements.
/// fn count(of: &impl HasExtents) -> u32 {
///     of.extents().iter().product()
/// }
/// ```
pub trait HasExtents {
    /// Returns the extents, outermost first.
    fn extents(&self) -> &[u32];
}

impl<T: DeviceNumber, const RANK: usize> HasExtents for View<'_, T, RANK> {
    #[inline(always)]
    fn extents(&self) -> &[u32] {
        &self.extents
    }
}

impl<T: DeviceNumber, const RANK: usize> HasExtents for OutView<'_, T, RANK> {
    #[inline(always)]
    fn extents(&self) -> &[u32] {
        &self.extents
    }
}

impl<T: DeviceNumber, const LEN: usize> HasExtents for Shared<T, LEN> {
    #[inline(always)]
    fn extents(&self) -> &[u32] {
        const { &[LEN as u32] }
    }
}

/// Returns an extent; 0 if there is no such axis.
#[inline(always)]
pub fn extent_of(array: &impl HasExtents, axis: usize) -> u32 {
    array.extents().get(axis).copied().unwrap_or(0)
}

/// An array of shared memory.
///
/// ```
/// use tfrt_device::grid::SharedArray;
/// use tfrt_device::tree::Scalar;
///
/// const TILE: SharedArray = SharedArray::new("tile", Scalar::F32, 33);
/// assert_eq!(TILE.num_bytes(), 136);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SharedArray {
    /// Its name.
    pub name: &'static str,
    /// The type of its elements.
    pub ty: Scalar,
    /// Their number.
    pub len: u32,
}

/// The largest size of all shared arrays of a kernel, in bytes: that of every GPU.
pub const MAX_SHARED_BYTES: usize = 48 << 10;

impl SharedArray {
    /// Returns an array.
    ///
    /// # Panics
    /// If it is empty, or larger than the memory of a block.
    #[must_use]
    pub const fn new(name: &'static str, ty: Scalar, len: usize) -> Self {
        assert!(len > 0, "a shared array has at least one element");
        assert!(
            len <= MAX_SHARED_BYTES / ty.size_bytes(),
            "a shared array has at most 49152 bytes"
        );
        Self {
            name,
            ty,
            len: len as u32,
        }
    }

    /// Returns its size, in bytes, with room up to the next array.
    #[must_use]
    pub const fn num_bytes(&self) -> usize {
        (self.len as usize * self.ty.size_bytes()).next_multiple_of(8)
    }

    /// Returns the arrays of a kernel.
    ///
    /// # Panics
    /// If they are larger than the memory of a block.
    #[doc(hidden)]
    #[must_use]
    pub const fn all<const COUNT: usize>(arrays: [Self; COUNT]) -> [Self; COUNT] {
        let (mut num_bytes, mut index) = (0, 0);
        while index < COUNT {
            num_bytes += arrays[index].num_bytes();
            index += 1;
        }
        assert!(
            num_bytes <= MAX_SHARED_BYTES,
            "the shared arrays of a kernel have at most 49152 bytes"
        );
        arrays
    }
}

/// Returns numbers for the extents of the operands.
pub type ExtentsRule = fn(&[&[usize]]) -> Vec<i64>;

/// How a grid kernel is launched. The macro writes them from the options.
///
/// ```
/// use tfrt_device::grid::GridRules;
///
/// // A thread for each element of a vector.
/// static RULES: GridRules = GridRules {
///     threads: [256, 1, 1],
///     axes: 1,
///     ranks: &[Some(1)],
///     result_rank: 1,
///     extents: |operands| vec![operands[0][0] as i64],
///     blocks: None,
///     shared: &[],
///     initial: None,
/// };
/// assert_eq!((RULES.extents)(&[&[7]]), [7]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GridRules {
    /// The threads of a block along each axis.
    pub threads: [u32; 3],
    /// The number of axes that were given.
    pub axes: usize,
    /// The number of dimensions of each operand; none for a number.
    pub ranks: &'static [Option<usize>],
    /// The number of dimensions of the result.
    pub result_rank: usize,
    /// Returns the extents of the result for those of the operands.
    pub extents: ExtentsRule,
    /// Returns the number of blocks along each axis. By default, there is a thread for each
    /// element of the result: in its order for one axis, else along its dimensions.
    pub blocks: Option<ExtentsRule>,
    /// The shared arrays.
    pub shared: &'static [SharedArray],
    /// What every element of the result is at first.
    pub initial: Option<fn() -> Value>,
}

/// A launch of a grid kernel: it is the same on every device.
///
/// ```
/// use tfrt_device::grid::GridPlan;
///
/// let plan = GridPlan { extents: vec![1000], blocks: [4, 1, 1] };
/// assert!(!plan.blocks.contains(&0), "some threads run");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridPlan {
    /// The extents of the result.
    pub extents: Vec<usize>,
    /// The number of blocks along each axis. If one is 0, no thread runs.
    pub blocks: [u32; 3],
}

/// The largest numbers of blocks: those of every GPU.
const MAX_BLOCKS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// Plans a launch for operands of these shapes.
///
/// ```
/// use tfrt_device::grid::{GridRules, plan};
/// use tfrt_device::kernel::{FunctionKernel, KernelForm};
/// use tfrt_device::math::sigmoid;
/// use tfrt_device::tree::DeviceFunction;
///
/// // A thread for each element of a vector, in blocks of 256.
/// static RULES: GridRules = GridRules {
///     threads: [256, 1, 1],
///     axes: 1,
///     ranks: &[Some(1)],
///     result_rank: 1,
///     extents: |operands| vec![operands[0][0] as i64],
///     blocks: None,
///     shared: &[],
///     initial: None,
/// };
/// static KERNEL: FunctionKernel = FunctionKernel {
///     name: "my.sigmoid",
///     form: KernelForm::Grid(&RULES),
///     function: <sigmoid as DeviceFunction>::FUNCTION,
/// };
/// let plan = plan(&KERNEL, &RULES, &[&[1000]])?;
/// assert_eq!((plan.extents, plan.blocks), (vec![1000], [4, 1, 1]));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
///
/// # Errors
/// If the number of dimensions of an operand is another one, an extent is negative or does not fit
/// into 32 bits, or there are more blocks than GPUs can launch.
pub fn plan(
    kernel: &FunctionKernel,
    rules: &GridRules,
    shapes: &[&[usize]],
) -> Result<GridPlan, Error> {
    let invalid = |message: String| {
        Err(Error::new(format!("`{}`: {message}", kernel.name))
            .with_code(ErrorCode::InvalidArgument))
    };
    if shapes.len() != rules.ranks.len() {
        let (expected, found) = (rules.ranks.len(), shapes.len());
        return invalid(format!("expected {expected} operands, found {found}"));
    }
    let parameters = kernel.function.parameters.iter();
    for ((shape, rank), parameter) in shapes.iter().zip(rules.ranks).zip(parameters) {
        let name = parameter.name;
        match rank {
            Some(rank) if shape.len() != *rank => {
                let found = shape.len();
                return invalid(format!(
                    "expected {rank} dimensions of `{name}`, found {found}"
                ));
            }
            None if shape.iter().any(|extent| *extent != 1) => {
                return invalid(format!("expected one number for `{name}`, found {shape:?}"));
            }
            _ => {}
        }
        if let Some(extent) = shape.iter().find(|extent| u32::try_from(**extent).is_err()) {
            return invalid(format!(
                "expected extents of `{name}` below 2^32, found {extent}"
            ));
        }
    }
    let mut extents = Vec::with_capacity(rules.result_rank);
    for extent in (rules.extents)(shapes) {
        match u32::try_from(extent) {
            Ok(extent) => extents.push(extent as usize),
            Err(_) => {
                return invalid(format!(
                    "expected extents of the result from 0 to 2^32 - 1, found {extent}"
                ));
            }
        }
    }
    let wanted: Vec<i64> = match rules.blocks {
        Some(blocks) => blocks(shapes),
        None => {
            let count = |extent: usize, threads: u32| extent.div_ceil(threads as usize) as i64;
            if rules.axes == 1 {
                let elements = extents
                    .iter()
                    .try_fold(1, |product: usize, extent| product.checked_mul(*extent));
                let Some(elements) = elements else {
                    return invalid(format!("a result of the shape {extents:?} is too large"));
                };
                vec![count(elements, rules.threads[0])]
            } else {
                let inner = extents.iter().rev().zip(rules.threads);
                inner
                    .map(|(extent, threads)| count(*extent, threads))
                    .collect()
            }
        }
    };
    let mut blocks = [1; 3];
    for (axis, wanted) in wanted.iter().enumerate().take(3) {
        // The places of threads fit into 32 bits.
        let most = MAX_BLOCKS[axis].min(u32::MAX / rules.threads[axis]);
        match u32::try_from(*wanted) {
            Ok(number) if number <= most => blocks[axis] = number,
            _ => {
                return invalid(format!(
                    "expected from 0 to {most} blocks along axis {axis}, found {wanted}"
                ));
            }
        }
    }
    // No thread has an element to write.
    if extents.contains(&0) {
        blocks = [0; 3];
    }
    Ok(GridPlan { extents, blocks })
}

/// Returns the number of elements.
fn count(extents: &[u32]) -> Option<usize> {
    extents.iter().try_fold(1_usize, |product, extent| {
        product.checked_mul(*extent as usize)
    })
}
