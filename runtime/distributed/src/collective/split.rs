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
    let elements = chunk(num_elements, num_chunks, index);
    elements.start * element_bytes..elements.end * element_bytes
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
