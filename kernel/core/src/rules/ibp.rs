//! IBP: the interval extension of each primitive, rounded outward.

use super::RuleError;
use crate::interval::Interval;
use crate::program::{Node, NodeId, Primitive};
use crate::region::Region;

/// Contains the value of each coordinate of `node`, which has the place `id`, whenever the input lies in `region` and every earlier node in the intervals that `of` gives for it.
///
/// # Errors
/// [`RuleError::Undefined`] if a function is not defined on all of its argument's interval (DOMAIN); [`RuleError::RowLength`], [`RuleError::Budget`]; [`RuleError::Internal`] if the program is not what its constructor checked.
pub(super) fn image<'b>(
    (id, node): (NodeId, &Node),
    region: &Region,
    of: impl Fn(NodeId) -> Result<&'b [Interval], RuleError>,
) -> Result<Vec<Interval>, RuleError> {
    let computed: Option<Vec<Interval>> = match &node.primitive {
        Primitive::Input => return Ok(region.intervals()),
        Primitive::Affine(affine) => {
            let parents = affine.terms().iter().map(|term| of(term.parent));
            let parents = parents.collect::<Result<Vec<_>, _>>()?;
            return affine.interval(node.width, &parents).ok_or(RuleError::RowLength);
        }
        Primitive::Univariate { function, argument } => {
            let argument = of(*argument)?;
            if let Some(coordinate) = argument.iter().position(|z| !function.is_defined_on(z)) {
                return Err(RuleError::Undefined { node: id, coordinate });
            }
            argument.iter().map(|z| function.image(z)).collect()
        }
        Primitive::Product { left, right } if left == right => of(*left)?.iter().map(Interval::square).collect(),
        Primitive::Product { left, right } => {
            of(*left)?.iter().zip(of(*right)?).map(|(left, right)| left.product(right)).collect()
        }
        Primitive::Max { argument, groups } => {
            let argument = of(*argument)?;
            let maximum = |group: &[usize]| {
                let members = group.iter().map(|member| argument.get(*member).cloned()).collect::<Option<Vec<_>>>()?;
                members.into_iter().reduce(Interval::larger)
            };
            let maxima = groups.iter().map(maximum).collect::<Option<_>>();
            return maxima.ok_or(RuleError::Internal("a maximum over nothing, or over what is not there"));
        }
    };
    computed.ok_or(RuleError::Budget)
}
