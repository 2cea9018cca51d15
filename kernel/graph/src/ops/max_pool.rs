//! The greatest element of a window over the last axes. Padding takes no part.

use super::{Arity, Operator, pooling};
use crate::attributes::{list, number};

pub(super) const OPERATOR: Operator =
    Operator::new("max_pool", Arity::Exactly(1), pooling::shape_rule, |site, parents, program| {
        Some(program.max(*parents.first()?, pooling::groups(site)?))
    })
    .attributes(&[
        number("spatial_rank"),
        list("kernel"),
        list("stride"),
        list("padding"),
        pooling::AFTER,
        pooling::DILATION,
    ])
    .attribute_rule(pooling::attribute_rule)
    .entries(pooling::entries);
