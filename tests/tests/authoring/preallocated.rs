//! Results that are allocated before the call, workspace, and what is known without a call.

use tfrt::ods::{MetadataQuery, NoMetadata};
use tfrt::prelude::*;
use tfrt::testing;

use super::loading::refusal;

/// A matrix of numbers.
#[derive(Clone, Debug, PartialEq, Value)]
#[value("!prealloc.matrix", mutable)]
struct Matrix {
    extents: [usize; 2],
    elements: Vec<f32>,
}

impl Shaped for Matrix {
    fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(DType::F32, self.extents)
    }
}

impl Preallocated for Matrix {
    fn allocate(_ctx: &ExecutionContext, metadata: &TensorMetadata) -> Result<Self> {
        let extents = metadata.extents.as_ref().try_into();
        let extents = extents.map_err(|_| Error::new(format!("{metadata} is no matrix")))?;
        let elements = vec![f32::NAN; metadata.num_elements().unwrap_or_default()];
        Ok(Self { extents, elements })
    }
}

#[tfrt_kernel("prealloc.iota", metadata = iota_metadata)]
fn iota(#[attr] rows: i64, #[attr] columns: i64, #[out] matrix: &mut Matrix) {
    let numbers = (0..u8::MAX).map(f32::from);
    matrix
        .elements
        .iter_mut()
        .zip(numbers)
        .for_each(|(element, number)| *element = number);
    assert_eq!(i64::try_from(matrix.elements.len()), Ok(rows * columns));
}

fn iota_metadata(rows: i64, columns: i64) -> Result<TensorMetadata> {
    let extent = |extent: i64| {
        usize::try_from(extent).map_err(|_| Error::new(format!("no extent is {extent}")))
    };
    Ok(TensorMetadata::new(
        DType::F32,
        [extent(rows)?, extent(columns)?],
    ))
}

/// Returns the product of two matrices.
#[tfrt_kernel("prealloc.matmul", metadata = matmul_metadata, workspace = column_len)]
fn matmul(
    a: &Matrix,
    b: &Matrix,
    #[workspace] column: &mut [f32],
    scale: f32,
    #[out] c: &mut Matrix,
) -> Result<()> {
    let [rows, depth] = a.extents;
    let columns = b.extents[1];
    for j in 0..columns {
        column
            .iter_mut()
            .enumerate()
            .for_each(|(k, element)| *element = b.elements[k * columns + j]);
        for i in 0..rows {
            let row = &a.elements[i * depth..][..depth];
            c.elements[i * columns + j] =
                scale * row.iter().zip(&*column).map(|(a, b)| a * b).sum::<f32>();
        }
    }
    if scale.is_nan() {
        Err(Error::new("not a scale"))
    } else {
        Ok(())
    }
}

fn matmul_metadata(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
    match (&*a.extents, &*b.extents) {
        (&[rows, depth], &[found, columns]) if depth == found => {
            Ok(TensorMetadata::new(a.dtype, [rows, columns]))
        }
        _ => {
            Err(Error::new(format!("cannot multiply {a} by {b}"))
                .with_code(ErrorCode::InvalidArgument))
        }
    }
}

fn column_len(_a: &TensorMetadata, b: &TensorMetadata) -> usize {
    b.extents[0]
}

/// Splits into the first row and the others.
#[tfrt_kernel("prealloc.split", metadata = split_metadata, side_effecting)]
async fn split(whole: &Matrix, #[out] head: &mut Matrix, #[out] tail: &mut Matrix) {
    let (first, rest) = whole.elements.split_at(whole.extents[1]);
    head.elements.copy_from_slice(first);
    tail.elements.copy_from_slice(rest);
}

fn split_metadata(whole: &TensorMetadata) -> (TensorMetadata, TensorMetadata) {
    let of = |rows| TensorMetadata::new(whole.dtype, [rows, whole.extents[1]]);
    (of(1), of(whole.extents[0] - 1))
}

/// Reverses the elements in place.
#[tfrt_kernel("prealloc.reverse", workspace = reverse_len, blocking)]
fn reverse(matrix: &mut Matrix, #[workspace] copy: &mut [f32]) {
    copy.copy_from_slice(&matrix.elements);
    matrix
        .elements
        .iter_mut()
        .zip(copy.iter().rev())
        .for_each(|(to, from)| *to = *from);
}

fn reverse_len(matrix: &TensorMetadata) -> Result<usize> {
    matrix.num_elements().ok_or_else(|| Error::new("too large"))
}

/// Returns an element.
#[tfrt_kernel("prealloc.element", sync = "prealloc_sync.element")]
fn element(matrix: &Matrix, index: i64) -> f32 {
    usize::try_from(index)
        .ok()
        .and_then(|index| matrix.elements.get(index))
        .copied()
        .unwrap_or(f32::NAN)
}

const PROGRAM: &str = r#"
    func @product(%scale: f32, %index: i64) -> f32 {
      %a = "prealloc.iota"() {rows = 2, columns = 3} : () -> !prealloc.matrix
      %b = "prealloc.iota"() {rows = 3, columns = 2} : () -> !prealloc.matrix
      %c = "prealloc.matmul"(%a, %b, %scale) : (!prealloc.matrix, !prealloc.matrix, f32) -> !prealloc.matrix
      %element = "prealloc.element"(%c, %index) : (!prealloc.matrix, i64) -> f32
      tfrt.return %element : f32
    }
    func @halves(%index: i64) -> (f32, f32) {
      %ch = "tfrt.new.chain"() : () -> !tfrt.chain
      %a = "prealloc.iota"() {rows = 2, columns = 3} : () -> !prealloc.matrix
      %ch0 = "prealloc.reverse"(%a, %ch) : (!prealloc.matrix, !tfrt.chain) -> !tfrt.chain
      %head, %tail, %ch1 = "prealloc.split"(%a, %ch0) : (!prealloc.matrix, !tfrt.chain) -> (!prealloc.matrix, !prealloc.matrix, !tfrt.chain)
      %x = "prealloc.element"(%head, %index) : (!prealloc.matrix, i64) -> f32
      %y = "prealloc.element"(%tail, %index) : (!prealloc.matrix, i64) -> f32
      tfrt.return %x, %y : f32, f32
    }
    "#;

#[test]
fn results_are_there_before_the_call() {
    let program = testing::program(PROGRAM).under_every_queue();
    // [0 1 2; 3 4 5] times [0 1; 2 3; 4 5] is [10 13; 28 40].
    program
        .call("product", (1.0_f32, 3_i64))
        .expect_value(40.0_f32);
    program
        .call("product", (0.5_f32, 0_i64))
        .expect_value(5.0_f32);
    program
        .call("product", (f32::NAN, 0_i64))
        .expect_error("not a scale");
}

#[test]
fn several_results_and_workspace_go_with_every_form() {
    let program = testing::program(PROGRAM).under_every_queue();
    program
        .call("halves", (0_i64,))
        .expect_values((5.0_f32, 2.0_f32));
    program
        .call("halves", (2_i64,))
        .expect_values((3.0_f32, 0.0_f32));
}

#[test]
fn metadata_is_known_without_the_kernel() {
    let registry = KernelRegistry::from_link().unwrap();
    let matmul = registry.op("prealloc.matmul").unwrap();
    assert!(matmul.metadata.is_some() && matmul.workspace.is_some());
    assert_eq!((matmul.operands.len(), matmul.results[0].name), (3, "c"));

    let of = |extents: [usize; 2]| Some(TensorMetadata::new(DType::F32, extents));
    let operands = [of([4, 7]), of([7, 2]), None];
    let query = MetadataQuery {
        operands: &operands,
        section: &[],
        attributes: &[],
    };
    assert_eq!(
        matmul.infer_metadata(&query).unwrap(),
        [TensorMetadata::new(DType::F32, [4, 2])]
    );
    assert_eq!(matmul.infer_workspace_bytes(&query).unwrap(), 7 * 4);

    let operands = [of([4, 7]), None, None];
    let unknown = matmul.infer_metadata(&MetadataQuery {
        operands: &operands,
        ..query
    });
    assert!(matches!(unknown, Err(NoMetadata::Unknown)));

    let operands = [of([4, 7]), of([4, 7]), None];
    let refused = matmul.infer_metadata(&MetadataQuery {
        operands: &operands,
        ..query
    });
    assert!(
        matches!(refused, Err(NoMetadata::Refused(error)) if error.message() == "cannot multiply f32 [4, 7] by f32 [4, 7]")
    );
}

#[test]
fn shapes_that_do_not_fit_are_found_before_anything_runs() {
    let (message, line) = refusal(
        r#"
        func @wrong(%scale: f32) -> !prealloc.matrix {
          %a = "prealloc.iota"() {rows = 2, columns = 3} : () -> !prealloc.matrix
          %b = "prealloc.iota"() {rows = 2, columns = 3} : () -> !prealloc.matrix
          %c = "prealloc.matmul"(%a, %b, %scale) : (!prealloc.matrix, !prealloc.matrix, f32) -> !prealloc.matrix
          tfrt.return %c : !prealloc.matrix
        }
        "#,
    );
    assert_eq!(message, "cannot multiply f32 [2, 3] by f32 [2, 3]");
    assert!(line.starts_with("%c ="), "{line}");
}

#[test]
fn attributes_that_do_not_fit_are_found_before_anything_runs() {
    let (message, _) = refusal(
        r#"
        func @wrong() -> !prealloc.matrix {
          %a = "prealloc.iota"() {rows = 2, columns = -3} : () -> !prealloc.matrix
          tfrt.return %a : !prealloc.matrix
        }
        "#,
    );
    assert_eq!(message, "no extent is -3");
}

#[test]
fn shapes_that_are_not_known_are_found_when_the_kernel_runs() {
    let program = testing::program(
        r#"
        func @product(%a: !prealloc.matrix, %b: !prealloc.matrix, %scale: f32) -> !prealloc.matrix {
          %c = "prealloc.matmul"(%a, %b, %scale) : (!prealloc.matrix, !prealloc.matrix, f32) -> !prealloc.matrix
          tfrt.return %c : !prealloc.matrix
        }
        "#,
    );
    let row = || {
        testing::value_from(|| Matrix {
            extents: [1, 2],
            elements: vec![1.0, 2.0],
        })
    };
    program
        .call("product", (row(), row(), 1.0_f32))
        .expect_error("cannot multiply f32 [1, 2] by f32 [1, 2]")
        .with_code(ErrorCode::InvalidArgument)
        .from_kernel("prealloc.matmul");
}
