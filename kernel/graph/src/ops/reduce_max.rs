//! The greatest element over some axes.

use super::extremum::Extremum;
use super::reduction;
use super::{Arity, Operator};

pub(super) const OPERATOR: Operator =
    Operator::new("reduce_max", Arity::Exactly(1), reduction::shape_rule, |site, parents, program| {
        let groups = reduction::groups(site)?;
        Extremum::Max.of(*parents.first()?, groups, program)
    })
    .attributes(reduction::ATTRIBUTES)
    .attribute_rule(reduction::attribute_rule)
    .entries(reduction::entries)
    .extension();
