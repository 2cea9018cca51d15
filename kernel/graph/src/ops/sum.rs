//! The sum of all elements, a scalar.

use super::{Arity, Operator, reduction};
use crate::shape;

pub(super) const OPERATOR: Operator = Operator::new(
    "sum",
    Arity::Exactly(1),
    |_, _| Ok(Vec::new()),
    |site, parents, program| {
        let axes: Vec<usize> = (0..site.shapes.first().len()).collect();
        reduction::total(*parents.first()?, site.shapes.first(), &axes, false, program)
    },
)
.entries(|shapes, _| shape::elements(shapes.first())?.checked_mul(3));
