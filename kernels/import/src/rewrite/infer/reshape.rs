//! The dimension of a reshaped tensor that takes whatever there is.

use super::Dim;

/// Returns the one dimension that is missing beside others, so that there are as many elements as
/// in a tensor of shape `own`, if it is certain.
pub(super) fn rest(own: &[Dim], others: &[Dim]) -> Option<Dim> {
    let product = |dims: &[Dim]| {
        let mut extents = dims.iter().filter_map(|dim| dim.fixed());
        extents.try_fold(1_usize, usize::checked_mul)
    };
    let symbols = |dims: &[Dim]| -> Vec<Dim> {
        let is_symbol = |dim: &&Dim| dim.fixed().is_none();
        dims.iter().filter(is_symbol).copied().collect()
    };
    let mut left = symbols(own);
    for symbol in symbols(others) {
        let at = left.iter().position(|&own| own == symbol)?;
        left.swap_remove(at);
    }
    let (all, known) = (product(own)?, product(others).filter(|&known| known > 0)?);
    match left[..] {
        // Of no elements, a symbol that both shapes have says nothing.
        [] if all > 0 && all.is_multiple_of(known) => Some(Dim::Fixed(all / known)),
        [symbol] if all == known => Some(symbol),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_known_if_the_others_are() {
        use Dim::{Fixed, Symbol};
        let (batch, row) = (Symbol(1), Symbol(2));
        let found = rest(&[Fixed(2), Fixed(6), Fixed(16)], &[Fixed(6), Fixed(8)]);
        assert_eq!(found, Some(Fixed(4)));
        let own = [batch, row, Fixed(16)];
        assert_eq!(rest(&own, &[batch, Fixed(2), Fixed(8)]), Some(row));
        assert_eq!(rest(&own, &[batch, row, Fixed(8)]), Some(Fixed(2)));
        for others in [
            &[batch, Fixed(8)][..],
            &[batch, batch, Fixed(16)],
            &[batch, row, Fixed(5)],
            &[batch, Fixed(0)],
        ] {
            assert_eq!(rest(&own, others), None, "{others:?}");
        }
    }
}
