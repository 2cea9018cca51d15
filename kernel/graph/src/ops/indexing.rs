//! Index maps that work on each axis by itself.

use crate::shape;

/// What stands at each place of one axis of the result: this place of the axis of the parent, or nothing.
pub(super) type Picks = Vec<Option<usize>>;

/// Every place of an axis in its own place.
pub(super) fn all(extent: usize) -> Picks {
    (0..extent).map(Some).collect()
}

/// The picks of every axis of a shape: those of `axis` are given, the others stay.
pub(super) fn on_axis(shape: &[usize], axis: usize, picks: &Picks) -> Vec<Picks> {
    let own = |(place, extent): (usize, &usize)| if place == axis { picks.clone() } else { all(*extent) };
    shape.iter().enumerate().map(own).collect()
}

/// For each element of the result the element of the parent that stands there.
pub(super) fn sources(parent: &[usize], picks: &[Picks]) -> Option<Picks> {
    let mut places = vec![Some(0_usize)];
    for (stride, picks) in shape::strides(parent)?.into_iter().zip(picks) {
        let mut next = Vec::with_capacity(places.len().checked_mul(picks.len())?);
        for start in places {
            for pick in picks {
                next.push(match start.zip(*pick) {
                    Some((start, pick)) => Some(pick.checked_mul(stride)?.checked_add(start)?),
                    None => None,
                });
            }
        }
        places = next;
    }
    Some(places)
}
