//! Matrix products.

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulElement, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_kernels::numeric::{after, report_work, start, width};
use tfrt_kernels::packed_weights::{self, Order};
use tfrt_tensor::{DenseHostTensor, Element, OwnedElements, OwnedElementsMut, Shape};

use crate::epilogue::{Epilogue, bias_of};
use crate::number::{Number, with_number, with_real};
use crate::pairs::{Stretched, common};
use crate::{Slots, allocate, dense, extents, invalid, made, product, real_numbers, unspecified};

/// Multiplies matrices like NumPy: those in the last two dimensions, for each index of the other
/// dimensions, which are broadcast to one shape. A vector is a row on the left and a column on the
/// right. Either factor may be given with its last two dimensions transposed. With `packed_b`,
/// which has the extents of a matrix, the right factor is the result of `nn.PackFactor`. Then adds
/// the third operand, a bias for each column, and the fourth operand, if they are present, and
/// applies the function `activation`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.MatMul")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn mat_mul(
    operands: &[AnyRef],
    #[attr(default = false)] transpose_a: bool,
    #[attr(default = false)] transpose_b: bool,
    #[attr] packed_b: Option<&[i64]>,
    #[attr] activation: Option<&str>,
    #[attr(default = 0.0)] activation_alpha: f32,
    #[attr(default = 0.0)] activation_beta: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.MatMul";
    let slots = Slots::new(OP, operands, slots);
    let (mut a, mut b) = (slots.need(0, "a")?, slots.need(1, "b")?);
    let bias = slots.get(2)?;
    let epilogue = Epilogue::new(&slots, activation, activation_alpha, activation_beta)?;
    let (left, right) = (a.metadata(), b.metadata());
    let refused = || invalid(format!("`{OP}`: {left} and {right} cannot be multiplied"));
    if a.dtype() != b.dtype() {
        return Err(refused());
    }
    // Other types have no routines that read transposed factors.
    let is_single = a.dtype() == DType::F32;
    for (factor, is_transposed) in [(&mut a, transpose_a), (&mut b, transpose_b)] {
        let rank = factor.shape().rank();
        if is_transposed && rank < 2 {
            return Err(refused());
        }
        if is_transposed && !is_single {
            let mut perm: Vec<usize> = (0..rank).collect();
            perm.swap(rank - 1, rank - 2);
            *factor = crate::shapes::permuted(OP, factor, &perm, ctx)?;
        }
    }
    let packed_b = packed_extents(OP, packed_b, &b, transpose_b)?;
    let b_dims = match &packed_b {
        Some(extents) => &extents[..],
        None => b.shape().dims(),
    };
    let product = Product::new(
        [a.shape().dims(), b_dims],
        [transpose_a && is_single, transpose_b && is_single],
    );
    let product = product.ok_or_else(refused)?.broadcast(OP)?;
    epilogue.check(a.dtype())?;
    if is_single {
        let b = Factor {
            tensor: b,
            is_packed: packed_b.is_some(),
        };
        return product.start(OP, a, b, bias, epilogue, ctx);
    }
    if bias.is_some() {
        return Err(invalid(format!(
            "`{OP}`: a bias needs elements of type f32, found {}",
            a.dtype()
        )));
    }
    let mut c = allocate(ctx, a.dtype(), &product.dims)?;
    let places = product.places();
    match a.dtype() {
        DType::F64 => multiply_fast::<f64>(product.shape, &a, &b, &mut c, places)?,
        dtype => {
            with_number!(OP, dtype, T => multiply::<T>(product.shape, &a, &b, &mut c, places))?
        }
    }
    Ok(AnyRef::available(c))
}

/// A product of matrices, or of many.
struct Product {
    shape: MatmulShape,
    left_batch: Vec<usize>,
    right_batch: Vec<usize>,
    /// The dimensions of the products before the matrices.
    batch: Vec<usize>,
    /// The dimensions of the result.
    dims: Vec<usize>,
    is_row: bool,
    is_column: bool,
}

impl Product {
    /// Returns the product of two tensors of these extents, if they can be multiplied; their
    /// batches are not checked.
    fn new([a, b]: [&[usize]; 2], [transposes_a, transposes_b]: [bool; 2]) -> Option<Self> {
        let (mut left, mut right) = (a.to_vec(), b.to_vec());
        if left.is_empty() || right.is_empty() {
            return None;
        }
        let (is_row, is_column) = (left.len() == 1, right.len() == 1);
        if is_row {
            left.insert(0, 1);
        }
        if is_column {
            right.push(1);
        }
        let (left_batch, &[mut m, mut k]) = left.split_last_chunk::<2>()?;
        let (right_batch, &[mut inner, mut n]) = right.split_last_chunk::<2>()?;
        if transposes_a {
            (m, k) = (k, m);
        }
        if transposes_b {
            (inner, n) = (n, inner);
        }
        (k == inner).then(|| Self {
            shape: MatmulShape::new(m, n, k).transposed(transposes_a, transposes_b),
            left_batch: left_batch.to_vec(),
            right_batch: right_batch.to_vec(),
            batch: Vec::new(),
            dims: Vec::new(),
            is_row,
            is_column,
        })
    }

    /// Broadcasts the batches.
    fn broadcast(mut self, op: &str) -> Result<Self> {
        self.batch = common(op, &self.left_batch, &self.right_batch)?;
        self.dims = self.batch.clone();
        if !self.is_row {
            self.dims.push(self.shape.m);
        }
        if !self.is_column {
            self.dims.push(self.shape.n);
        }
        // One matrix on the right: all rows of the left at once.
        let has_one_right = product(&self.right_batch) == 1 && self.left_batch == self.batch;
        if has_one_right && !self.shape.transposes_a {
            self.shape.m *= product(&self.batch);
            self.left_batch.clear();
            self.right_batch.clear();
            self.batch.clear();
        }
        Ok(self)
    }

    /// Returns the factors of each product, by their numbers.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let left = Stretched::new(&self.left_batch, &self.batch).places();
        let right = Stretched::new(&self.right_batch, &self.batch).places();
        left.zip(right)
    }

    /// Starts products of single precision.
    fn start(
        self,
        op: &'static str,
        a: DenseHostTensor,
        b: Factor,
        bias: Option<DenseHostTensor>,
        mut epilogue: Epilogue,
        ctx: &ExecutionContext,
    ) -> Result<AnyRef> {
        let bias = bias_of(op, bias.as_ref(), self.shape.n)?;
        let (mut c, adds, activation) = epilogue.begin(&self.dims, ctx)?;
        if c.num_elements() == 0 {
            return Ok(AnyRef::available(epilogue.finish(c, ctx)?));
        }
        let is_batch = self.left_batch == self.batch && self.right_batch == self.batch;
        let a = a.elements_owned::<f32>()?;
        let fused = Fused {
            bias,
            beta: if adds { 1.0 } else { 0.0 },
            alpha: 1.0,
            activation,
        };
        if is_batch {
            let shape = self.shape.batched(product(&self.batch));
            let output = c.elements_mut_owned::<f32>()?;
            let done = start_product(shape, a, b, fused, output, ctx)?;
            return finish_later(done, c, epilogue, ctx);
        }
        if b.is_packed {
            return Err(invalid(format!(
                "`{op}`: expected a left factor that is not transposed with a packed right factor"
            )));
        }
        let b = b.tensor.elements::<f32>()?;
        {
            let plan = Matmul::<f32>::new(self.shape, 1)?;
            let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
            let MatmulShape { m, n, k, .. } = self.shape;
            let mut elements = c.elements_mut::<f32>()?;
            for (c, (left, right)) in elements.chunks_exact_mut(m * n).zip(self.places()) {
                let factors =
                    MatmulOperands::new(&a[left * m * k..][..m * k], &b[right * k * n..][..k * n]);
                plan.run(&Serial, fused.on(factors), c, &mut workspace)?;
            }
        }
        Ok(AnyRef::available(epilogue.finish(c, ctx)?))
    }
}

/// What is done to the sums of a product.
struct Fused {
    bias: Option<Vec<f32>>,
    alpha: f32,
    beta: f32,
    activation: Activation,
}

impl Fused {
    fn on<'a>(&'a self, operands: MatmulOperands<'a, f32>) -> MatmulOperands<'a, f32> {
        let operands = operands
            .alpha(self.alpha)
            .beta(self.beta)
            .activation(self.activation);
        match &self.bias {
            Some(bias) => operands.shift(bias),
            None => operands,
        }
    }
}

/// The right factor of a product.
struct Factor {
    tensor: DenseHostTensor,
    is_packed: bool,
}

/// Products with fewer rows read the right factor where it is.
pub(crate) const MIN_PACKED_ROWS: usize = 13;

/// Starts products of single precision. The right factor is packed once if it is used again.
fn start_product(
    shape: MatmulShape,
    a: OwnedElements<f32>,
    b: Factor,
    fused: Fused,
    output: OwnedElementsMut<f32>,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let plan = Matmul::<f32>::new(shape, width(ctx))?;
    let operations = (2 * shape.k).saturating_mul(output.len());
    let is_packed = b.is_packed;
    let b = b.tensor.elements_owned::<f32>()?;
    report_work::<f32>(ctx, operations, a.len() + b.len() + output.len());
    if is_packed {
        return start(ctx, plan, output, move |job, block, workspace| {
            let operands = MatmulOperands::packed(&a, &b);
            job.run_block(block, fused.on(operands), workspace)
        });
    }
    if shape.batch == 1 && shape.m >= MIN_PACKED_ROWS {
        let order = Order::Matmul {
            k: shape.k,
            n: shape.n,
            transposed: shape.transposes_b,
        };
        let pack = |packed: &mut [f32]| Ok(plan.pack_b(&b, packed)?);
        if let Some(packed) = packed_weights::find(ctx, &b, order, plan.packed_b_len(), pack)? {
            return start(ctx, plan, output, move |job, block, workspace| {
                job.run_block(
                    block,
                    fused.on(MatmulOperands::packed(&a, &packed)),
                    workspace,
                )
            });
        }
    }
    start(ctx, plan, output, move |job, block, workspace| {
        job.run_block(block, fused.on(MatmulOperands::new(&a, &b)), workspace)
    })
}

/// Returns the extents of a right factor that is packed. The attribute states them.
fn packed_extents(
    op: &str,
    given: Option<&[i64]>,
    b: &DenseHostTensor,
    is_transposed: bool,
) -> Result<Option<[usize; 2]>> {
    let Some(given) = given else {
        return Ok(None);
    };
    let refused = || {
        let found = b.metadata();
        invalid(format!(
            "`{op}`: expected a packed factor of f32 {given:?} that is not transposed, found \
             {found}"
        ))
    };
    let extents = extents(op, given)?;
    let [k, n] = extents.try_into().map_err(|_| refused())?;
    let len = Matmul::<f32>::new(MatmulShape::new(1, n, k), 1)?.packed_b_len();
    let is_packed = b.dtype() == DType::F32 && b.shape().dims() == [len];
    match is_packed && !is_transposed {
        true => Ok(Some([k, n])),
        false => Err(refused()),
    }
}

/// Packs the right factor of a product, a matrix that may be given transposed, for `nn.MatMul` and
/// `nn.Gemm`, which take it with the attribute `packed_b`. Returns the factor as it is if it would
/// take several times the memory.
///
/// The order depends on the processor: do not store it.
///
/// # Errors
/// If the operand is not a matrix of single precision.
#[tfrt_op("nn.PackFactor")]
fn pack_factor(
    b: &AnyRef,
    #[attr(default = false)] transposed: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.PackFactor";
    let b = dense(b)?;
    let (&[mut k, mut n], DType::F32) = (b.shape().dims(), b.dtype()) else {
        return Err(invalid(format!(
            "`{OP}`: expected a matrix of f32, found {}",
            b.metadata()
        )));
    };
    if transposed {
        (k, n) = (n, k);
    }
    if b.num_elements() == 0 {
        return Ok(b);
    }
    let plan = Matmul::<f32>::new(MatmulShape::new(1, n, k).transposed(false, transposed), 1)?;
    if is_mostly_padding(plan.packed_b_len(), b.num_elements()) {
        return Ok(b);
    }
    let mut packed = allocate(ctx, DType::F32, &[plan.packed_b_len()])?;
    plan.pack_b(&b.elements::<f32>()?, &mut packed.elements_mut::<f32>()?)?;
    Ok(packed)
}

/// Returns `true` if packing would take several times the memory of a weight: its columns are
/// padded to those that a kernel reads at once.
pub(crate) fn is_mostly_padding(packed_len: usize, len: usize) -> bool {
    packed_len > len.saturating_mul(2).saturating_add(4096)
}

/// Returns a result that is available when the kernel is done and what it left is done, too.
pub(crate) fn finish_later(
    done: AsyncValueRef<Chain>,
    result: DenseHostTensor,
    epilogue: Epilogue,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    if epilogue.is_empty() {
        return Ok(after(done, result));
    }
    let (promise, later) = AnyRef::indirect();
    let ctx = ctx.clone();
    done.and_then(move |done| {
        promise.forward_to(match done.error_if_present() {
            Some(error) => AnyRef::error(error.clone()),
            None => match epilogue.finish(result, &ctx) {
                Ok(result) => AnyRef::available(result),
                Err(error) => AnyRef::error(ctx.emit_error(error)),
            },
        });
    });
    Ok(later)
}

fn multiply_fast<T: Element + MatmulElement>(
    shape: MatmulShape,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    places: impl Iterator<Item = (usize, usize)>,
) -> Result<()> {
    let plan = Matmul::<T>::new(shape, 1)?;
    let mut workspace = vec![T::default(); plan.workspace_len() * plan.blocks()];
    let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
    let (a_len, b_len, c_len) = (shape.m * shape.k, shape.k * shape.n, shape.m * shape.n);
    if c_len == 0 {
        return Ok(());
    }
    let mut c = c.elements_mut::<T>()?;
    for (c, (left, right)) in c.chunks_exact_mut(c_len).zip(places) {
        let (a, b) = (&a[left * a_len..][..a_len], &b[right * b_len..][..b_len]);
        plan.run(&Serial, MatmulOperands::new(a, b), c, &mut workspace)?;
    }
    Ok(())
}

/// Multiplies as many matrices `[rows, inner]` and `[inner, columns]` as `batch` says: `counts` are
/// `[batch, rows, inner, columns]`.
pub(crate) fn multiply_batches(
    op: &'static str,
    [batch, rows, inner, columns]: [usize; 4],
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
) -> Result<()> {
    let shape = MatmulShape::new(rows, columns, inner);
    let places = (0..batch).map(|at| (at, at));
    match a.dtype() {
        DType::F32 => multiply_fast::<f32>(shape, a, b, c, places),
        DType::F64 => multiply_fast::<f64>(shape, a, b, c, places),
        dtype => with_number!(op, dtype, T => multiply::<T>(shape, a, b, c, places)),
    }
}

/// Computes the determinants of square matrices.
///
/// # Errors
/// If the matrices are not square, or the elements are not real numbers.
#[tfrt_op("nn.Det")]
fn det(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.Det";
    let x = dense(x)?;
    let &[ref batch @ .., rows, columns] = x.shape().dims() else {
        return Err(invalid(format!(
            "`{OP}`: expected matrices, found {}",
            x.metadata()
        )));
    };
    if rows != columns {
        return Err(invalid(format!(
            "`{OP}`: expected square matrices, found {}",
            x.metadata()
        )));
    }
    let numbers = real_numbers(OP, &x, ctx)?;
    let size = rows * rows;
    with_real!(OP, x.dtype(), T => made(ctx, batch, |at| {
        T::of_f64(determinant(&mut numbers[at * size..][..size].to_vec(), rows))
    }))
}

/// Returns the determinant of a matrix, by elimination with the greatest pivot of each column.
fn determinant(matrix: &mut [f64], len: usize) -> f64 {
    let mut product = 1.0;
    for column in 0..len {
        let size = |&row: &usize| matrix[row * len + column].abs();
        let pivot = (column..len).max_by(|a, b| size(a).total_cmp(&size(b)));
        let pivot = pivot.unwrap_or(column);
        if matrix[pivot * len + column] == 0.0 {
            return 0.0;
        }
        if pivot != column {
            for at in 0..len {
                matrix.swap(pivot * len + at, column * len + at);
            }
            product = -product;
        }
        product *= matrix[column * len + column];
        for row in column + 1..len {
            let factor = matrix[row * len + column] / matrix[column * len + column];
            for at in column..len {
                matrix[row * len + at] -= factor * matrix[column * len + at];
            }
        }
    }
    product
}

/// Products of other numbers: integers wrap around, half precision is summed in double precision.
fn multiply<T: Number>(
    shape: MatmulShape,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &mut DenseHostTensor,
    places: impl Iterator<Item = (usize, usize)>,
) -> Result<()> {
    let MatmulShape { m, n, k, .. } = shape;
    let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
    if m * n == 0 {
        return Ok(());
    }
    let mut c = c.elements_mut::<T>()?;
    for (c, (left, right)) in c.chunks_exact_mut(m * n).zip(places) {
        let (a, b) = (&a[left * m * k..], &b[right * k * n..]);
        for (at, c) in c.iter_mut().enumerate() {
            let (row, column) = (at / n, at % n);
            let pairs = (0..k).map(|inner| (a[row * k + inner], b[inner * n + column]));
            *c = if T::IS_REAL {
                T::of_f64(pairs.map(|(a, b)| a.to_f64() * b.to_f64()).sum())
            } else {
                pairs.fold(T::of_f64(0.0), |sum, (a, b)| sum.plus(a.times(b)))
            };
        }
    }
    Ok(())
}

/// Computes `alpha · a · b + beta · c` of matrices, either of which may be passed transposed; `c`
/// is broadcast to the result, and may be omitted. With `packed_b`, which has the extents of `b`,
/// the right factor is the result of `nn.PackFactor`. Then adds the fourth operand, if it is
/// present, and applies the function `activation`.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Gemm")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn gemm(
    operands: &[AnyRef],
    #[attr(default = 1.0)] alpha: f32,
    #[attr(default = 1.0)] beta: f32,
    #[attr(default = false)] transpose_a: bool,
    #[attr(default = false)] transpose_b: bool,
    #[attr] packed_b: Option<&[i64]>,
    #[attr] activation: Option<&str>,
    #[attr(default = 0.0)] activation_alpha: f32,
    #[attr(default = 0.0)] activation_beta: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.Gemm";
    let slots = Slots::new(OP, operands, slots);
    let mut epilogue = Epilogue::new(&slots, activation, activation_alpha, activation_beta)?;
    let (a, b, c) = (slots.need(0, "a")?, slots.need(1, "b")?, slots.get(2)?);
    let refused = || {
        invalid(format!(
            "`{OP}`: {} and {} cannot be multiplied",
            a.metadata(),
            b.metadata()
        ))
    };
    let packed_b = packed_extents(OP, packed_b, &b, transpose_b)?;
    let b_dims = match &packed_b {
        Some(extents) => &extents[..],
        None => b.shape().dims(),
    };
    let (&[mut m, mut k], &[mut inner, mut n]) = (a.shape().dims(), b_dims) else {
        return Err(refused());
    };
    if transpose_a {
        (m, k) = (k, m);
    }
    if transpose_b {
        (inner, n) = (n, inner);
    }
    if k != inner || a.dtype() != b.dtype() {
        return Err(refused());
    }
    let summand = c.as_ref().map(|c| {
        if c.dtype() != a.dtype() || common(OP, c.shape().dims(), &[m, n])? != [m, n] {
            return Err(invalid(format!(
                "`{OP}`: {} cannot be added to {}",
                c.metadata(),
                Shape::new(&[m, n])?
            )));
        }
        Ok(Stretched::new(c.shape().dims(), &[m, n]))
    });
    let summand = summand.transpose()?;
    epilogue.check(a.dtype())?;
    if a.dtype() == DType::F32 {
        let shape = MatmulShape::new(m, n, k).transposed(transpose_a, transpose_b);
        // A vector for each column is a bias of the kernel.
        let is_bias = beta == 1.0
            && c.as_ref()
                .is_none_or(|c| matches!(*c.shape().dims(), [len] | [1, len] if len == n));
        let (mut y, adds, activation) = match is_bias {
            true => epilogue.begin(&[m, n], ctx)?,
            false => (
                unspecified(ctx, DType::F32, &[m, n])?,
                false,
                Activation::None,
            ),
        };
        if m * n == 0 {
            return Ok(AnyRef::available(epilogue.finish(y, ctx)?));
        }
        let mut fused = Fused {
            bias: None,
            alpha,
            beta: if adds { 1.0 } else { 0.0 },
            activation,
        };
        match (&c, summand) {
            (Some(c), _) if is_bias => fused.bias = Some(c.elements::<f32>()?.to_vec()),
            (Some(c), Some(places)) => {
                let (c, mut to) = (c.elements::<f32>()?, y.elements_mut::<f32>()?);
                for (to, place) in to.iter_mut().zip(places.places()) {
                    *to = c[place];
                }
                fused.beta = beta;
            }
            _ => {}
        }
        let a = a.elements_owned::<f32>()?;
        let b = Factor {
            tensor: b,
            is_packed: packed_b.is_some(),
        };
        let done = start_product(shape, a, b, fused, y.elements_mut_owned()?, ctx)?;
        return finish_later(done, y, epilogue, ctx);
    }
    let dtype = a.dtype();
    let c = c.map(|c| real_numbers(OP, &c, ctx)).transpose()?;
    let mut places = summand.map(Stretched::places);
    let (a, b) = (real_numbers(OP, &a, ctx)?, real_numbers(OP, &b, ctx)?);
    let y = with_number!(OP, dtype, T => made(ctx, &[m, n], |at| {
        let (row, column) = (at / n, at % n);
        let sum: f64 = (0..k).map(|inner| {
            let left = if transpose_a { a[inner * m + row] } else { a[row * k + inner] };
            let right = if transpose_b { b[column * k + inner] } else { b[inner * n + column] };
            left * right
        }).sum();
        let place = places.as_mut().and_then(Iterator::next);
        let summand = match (&c, place) {
            (Some(c), Some(place)) => f64::from(beta) * c[place],
            _ => 0.0,
        };
        <T as Number>::of_f64(f64::from(alpha) * sum + summand)
    }))?;
    Ok(AnyRef::available(y))
}
