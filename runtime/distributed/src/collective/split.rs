//! The division of a tensor into chunks.

use std::ops::Range;

/// Returns the elements of chunk `index` of `num_elements` in `num_chunks`: as many as in every
/// other chunk, and one more in the first ones if the division has a remainder.
pub(super) fn chunk(num_elements: usize, num_chunks: usize, index: usize) -> Range<usize> {
    let (len, rest) = (num_elements / num_chunks, num_elements % num_chunks);
    let start = index * len + index.min(rest);
    start..start + len + usize::from(index < rest)
}

/// Returns the same in bytes.
pub(super) fn chunk_bytes(
    num_elements: usize,
    num_chunks: usize,
    index: usize,
    element_bytes: usize,
) -> Range<usize> {
    byte_range(chunk(num_elements, num_chunks, index), element_bytes)
}

/// Returns where a range of elements is among all bytes.
pub(super) fn byte_range(elements: Range<usize>, element_bytes: usize) -> Range<usize> {
    elements.start * element_bytes..elements.end * element_bytes
}

/// The most bytes of a segment. Larger ones would keep the next member waiting, and smaller ones
/// need more messages: with four tasks on two processors, segments of 256 KiB take 1.5 times as
/// long. Tests have tensors of several segments that are small.
const SEGMENT_BYTES: usize = if cfg!(test) { 1 << 10 } else { 4 << 20 };

/// Returns the number of segments of every chunk of `num_elements` in `num_chunks`.
pub(super) fn num_segments(num_elements: usize, num_chunks: usize, element_bytes: usize) -> usize {
    // The first chunk is a largest one.
    let largest = chunk_bytes(num_elements, num_chunks, 0, element_bytes);
    largest.len().div_ceil(SEGMENT_BYTES).max(1)
}

/// Returns the elements of a segment of a chunk.
pub(super) fn segment(
    chunk_range: Range<usize>,
    num_segments: usize,
    index: usize,
) -> Range<usize> {
    let within = chunk(chunk_range.len(), num_segments, index);
    chunk_range.start + within.start..chunk_range.start + within.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_goes_to_the_first_chunks() {
        let lens = |num_elements, num_chunks| -> Vec<usize> {
            let chunks = (0..num_chunks).map(|index| chunk(num_elements, num_chunks, index));
            chunks.map(|range| range.len()).collect()
        };
        assert_eq!(lens(7, 4), [2, 2, 2, 1]);
        assert_eq!(lens(8, 4), [2; 4]);
        assert_eq!(lens(2, 4), [1, 1, 0, 0]);
        assert_eq!(lens(0, 3), [0; 3]);
    }

    #[test]
    fn segments_cover_chunks_in_order_and_are_small() {
        for (num_elements, num_chunks) in [(0, 3), (1, 3), (5, 4), (10_003, 3), (1 << 12, 2)] {
            let count = num_segments(num_elements, num_chunks, 4);
            let mut covered = 0;
            for index in 0..num_chunks {
                for number in 0..count {
                    let range = segment(chunk(num_elements, num_chunks, index), count, number);
                    assert_eq!(range.start, covered);
                    assert!(range.len() * 4 <= SEGMENT_BYTES);
                    covered = range.end;
                }
            }
            assert_eq!(covered, num_elements);
        }
        assert_eq!(num_segments(4 * SEGMENT_BYTES, 4, 4), 4);
    }

    #[test]
    fn chunks_cover_everything_in_order() {
        for num_chunks in 1..9 {
            for num_elements in 0..40 {
                let covered: Vec<usize> = (0..num_chunks)
                    .flat_map(|index| chunk(num_elements, num_chunks, index))
                    .collect();
                assert!(covered.into_iter().eq(0..num_elements));
            }
        }
    }
}
