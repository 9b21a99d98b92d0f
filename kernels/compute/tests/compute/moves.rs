//! Routines that only move elements: each element must arrive where its index says.

use tfrt_compute::assemble;
use tfrt_compute::resize;
use tfrt_compute::transpose::transpose;

use crate::support::{Random, indices, place};

fn numbered(len: usize) -> Vec<u32> {
    (0..len as u32).collect()
}

#[test]
fn transposition_moves_every_element() {
    let mut random = Random::new(8);
    for round in 0..400 {
        let mut shape = random.shape(5, if round % 4 == 0 { 40 } else { 6 });
        // Keep large ones small enough.
        while shape.iter().product::<usize>() > 20_000 {
            shape.pop();
        }
        let mut permutation: Vec<usize> = (0..shape.len()).collect();
        for last in (1..permutation.len()).rev() {
            permutation.swap(last, random.below(last + 1));
        }
        let input = numbered(shape.iter().product());
        let mut output = vec![u32::MAX; input.len()];
        transpose(&shape, &permutation, &input, &mut output).expect("a permutation");
        let permuted: Vec<usize> = permutation.iter().map(|&axis| shape[axis]).collect();
        for index in indices(&shape) {
            let target: Vec<usize> = permutation.iter().map(|&axis| index[axis]).collect();
            assert_eq!(
                output[place(&permuted, &target)],
                input[place(&shape, &index)],
                "{shape:?} by {permutation:?}"
            );
        }
    }
}

#[test]
fn what_is_no_permutation_is_refused() {
    let mut output = [0; 4];
    for permutation in [&[0, 0][..], &[0], &[0, 2], &[0, 1, 2]] {
        assert!(
            transpose(&[2, 2], permutation, &[1, 2, 3, 4], &mut output).is_err(),
            "{permutation:?}"
        );
    }
    transpose(&[], &[], &[5], &mut output[..1]).expect("a scalar has no axis to permute");
    assert_eq!(output, [5, 0, 0, 0]);
}

#[test]
fn slices_and_padding_are_inverse() {
    let mut random = Random::new(9);
    for _ in 0..300 {
        let shape = random.shape(4, 5);
        let padding: Vec<(usize, usize)> = shape
            .iter()
            .map(|_| (random.below(3), random.below(3)))
            .collect();
        let padded: Vec<usize> = shape
            .iter()
            .zip(&padding)
            .map(|(extent, (before, after))| before + extent + after)
            .collect();
        let input = numbered(shape.iter().product());
        let mut surrounded = vec![0; padded.iter().product()];
        assemble::pad(&shape, &padding, u32::MAX, &input, &mut surrounded)
            .expect("one pair for each axis");
        for (index, &element) in indices(&padded).iter().zip(&surrounded) {
            let inside: Option<Vec<usize>> = index
                .iter()
                .zip(&padding)
                .zip(&shape)
                .map(|((&index, &(before, _)), &extent)| {
                    index.checked_sub(before).filter(|&index| index < extent)
                })
                .collect();
            assert_eq!(
                element,
                inside.map_or(u32::MAX, |index| input[place(&shape, &index)]),
                "{shape:?} by {padding:?}"
            );
        }
        let begin: Vec<usize> = padding.iter().map(|&(before, _)| before).collect();
        let mut back = vec![0; input.len()];
        assemble::slice(&padded, &begin, &shape, &surrounded, &mut back).expect("within");
        assert_eq!(back, input);
    }
    assert!(assemble::slice(&[3], &[2], &[2], &[1, 2, 3], &mut [0; 2]).is_err());
    assert!(assemble::slice(&[3], &[usize::MAX], &[1], &[1, 2, 3], &mut [0]).is_err());
    assert!(assemble::pad(&[1], &[(usize::MAX, 1)], 0, &[1], &mut []).is_err());
}

#[test]
fn concatenation_is_undone_by_slices() {
    let mut random = Random::new(10);
    for _ in 0..300 {
        let mut shape = random.shape(4, 4);
        shape.push(1 + random.below(4));
        let axis = random.below(shape.len());
        let pieces: Vec<(Vec<usize>, Vec<u32>)> = (0..1 + random.below(3))
            .map(|piece| {
                let mut shape = shape.clone();
                shape[axis] = random.below(4);
                let elements = numbered(shape.iter().product())
                    .iter()
                    .map(|x| x + 1000 * piece as u32)
                    .collect();
                (shape, elements)
            })
            .collect();
        let inputs: Vec<(&[usize], &[u32])> = pieces
            .iter()
            .map(|(shape, elements)| (&shape[..], &elements[..]))
            .collect();
        let mut whole = shape.clone();
        whole[axis] = pieces.iter().map(|(shape, _)| shape[axis]).sum();
        let mut output = vec![0; whole.iter().product()];
        assemble::concat(axis as isize, &inputs, &mut output).expect("they fit");
        let mut begin = vec![0; shape.len()];
        for (shape, elements) in &pieces {
            let mut piece = vec![0; elements.len()];
            assemble::slice(&whole, &begin, shape, &output, &mut piece).expect("within");
            assert_eq!(&piece, elements, "{whole:?} along {axis}");
            begin[axis] += shape[axis];
        }
    }
    let error =
        assemble::concat(0, &[(&[1, 2], &[1, 2]), (&[1, 3], &[1, 2, 3])], &mut [0; 5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "concat: expected shapes that differ only along axis 0, found [1, 2] and [1, 3]"
    );
}

#[test]
fn repetition_wraps_around_every_axis() {
    let mut random = Random::new(11);
    for _ in 0..300 {
        let shape = random.shape(4, 4);
        let multiples: Vec<usize> = shape.iter().map(|_| random.below(4)).collect();
        let repeated: Vec<usize> = shape
            .iter()
            .zip(&multiples)
            .map(|(extent, multiple)| extent * multiple)
            .collect();
        let input: Vec<String> = numbered(shape.iter().product())
            .iter()
            .map(u32::to_string)
            .collect();
        let mut output = vec![String::new(); repeated.iter().product()];
        assemble::repeat(&shape, &multiples, &input, &mut output)
            .expect("one multiple for each axis");
        for (index, element) in indices(&repeated).iter().zip(&output) {
            let source: Vec<usize> = index
                .iter()
                .zip(&shape)
                .map(|(index, extent)| index % extent)
                .collect();
            assert_eq!(
                element,
                &input[place(&shape, &source)],
                "{shape:?} by {multiples:?}"
            );
        }
    }
    let mut rows = [0; 6];
    assemble::repeat_row(&[1, 2, 3], &mut rows).expect("whole rows");
    assert_eq!(rows, [1, 2, 3, 1, 2, 3]);
    assert!(assemble::repeat_row(&[1, 2, 3, 4], &mut rows).is_err());
    assert!(assemble::repeat_row(&[], &mut rows).is_err());
}

#[test]
fn gather_refuses_rows_that_are_not_there() {
    let mut output = [9; 2];
    assemble::gather(2, &[1, 2, 3, 4], &[1_i32], &mut output).expect("a row");
    assert_eq!(output, [3, 4]);
    let error = assemble::gather(2, &[1, 2, 3, 4], &[-1_i32], &mut output).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gather: expected an index below 2, found 0"
    );
    assert_eq!(output, [3, 4], "a refused output is untouched");
    assert!(assemble::gather(2, &[1, 2, 3, 4], &[2_u64], &mut output).is_err());
    assemble::gather::<u8, i64>(2, &[], &[], &mut []).expect("nothing of nothing");
}

#[test]
fn one_hot_of_what_is_no_place_is_off() {
    let mut output = [9; 8];
    assemble::one_hot(2, &[0_i64, 1, 2, -1], 5, 7, &mut output).expect("four rows");
    assert_eq!(output, [5, 7, 7, 5, 7, 7, 7, 7]);
    assemble::one_hot::<u8, i32>(0, &[3], 1, 0, &mut []).expect("rows of nothing");
}

#[test]
fn resizing_to_the_same_size_changes_nothing() {
    let mut random = Random::new(12);
    let image: Vec<u8> = (0..4 * 5 * 3).map(|_| random.bits() as u8).collect();
    let mut output = vec![0.0; image.len()];
    resize::bilinear([4, 5, 3], [4, 5], &image, &mut output).expect("lengths");
    assert!(image.iter().zip(&output).all(|(&x, &y)| f32::from(x) == y));
    let mut larger = vec![0.0; 3 * 4];
    resize::bilinear([2, 2, 1], [3, 4], &[0.0_f32, 8.0, 6.0, 14.0], &mut larger).expect("lengths");
    let expected = [
        0.0, 4.0, 8.0, 8.0, 4.0, 8.0, 12.0, 12.0, 6.0, 10.0, 14.0, 14.0,
    ];
    assert!(
        larger
            .iter()
            .zip(expected)
            .all(|(x, y): (&f32, f32)| (x - y).abs() < 1e-5),
        "{larger:?}"
    );
    assert!(resize::bilinear::<u8>([0, 1, 1], [1, 1], &[], &mut [0.0]).is_err());
}
