//! The smaller of two elements, in the form `a − max(a − b, 0)`.

use super::{Arity, Operator, equal_shapes, max_elem};

pub(super) const OPERATOR: Operator =
    Operator::new("min_elem", Arity::Exactly(2), equal_shapes, |_, parents, program| {
        let excess = max_elem::excess(parents, program)?;
        program.difference(*parents.first()?, excess)
    });
