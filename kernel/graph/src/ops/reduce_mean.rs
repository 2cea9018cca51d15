//! The mean over some axes.

use super::reduction;
use super::{Arity, Operator};

pub(super) const OPERATOR: Operator =
    Operator::new("reduce_mean", Arity::Exactly(1), reduction::shape_rule, |site, parents, program| {
        reduction::lower(site, parents, true, program)
    })
    .attributes(reduction::ATTRIBUTES)
    .attribute_rule(reduction::attribute_rule)
    .entries(reduction::entries);
