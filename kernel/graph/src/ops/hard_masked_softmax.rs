//! Softmax along one axis over the places where a constant mask is 1; 0 where it is 0.

use super::{Arity, Operator, PayloadField, Refusal, Site, keeps_shape, numbers, softmax};
use crate::attributes::number;
use crate::shape;

pub(super) const OPERATOR: Operator =
    Operator::new("hard_masked_softmax", Arity::Exactly(1), softmax::shape_rule, |site, parents, program| {
        let mask = numbers::bits(site.payload.first()?);
        let axis = site.attributes.number("axis").ok()?;
        softmax::along(*parents.first()?, site.shapes.declared, axis, Some(&mask), program)
    })
    .attributes(&[number("axis")])
    .payload(&[PayloadField { name: "mask", shape: keeps_shape }])
    .entries(|shapes, attributes| softmax::entries(shapes.declared, attributes.number("axis").ok()?))
    .payload_rule(payload_rule);

/// A line of the axis without a 1 has no meaning.
fn payload_rule(site: &Site) -> Result<(), Refusal> {
    const UNFIT: Refusal = Refusal::Internal("a mask that does not fit its shape");
    let mask = site.payload.first().ok_or(UNFIT)?;
    numbers::is_mask(mask)?;
    let bits = numbers::bits(mask);
    let (shape, axis) = (site.shapes.declared, site.attributes.number("axis")?);
    let line = |(place, extent): (usize, &usize)| (place != axis).then_some(*extent);
    let strides = shape::strides(shape).ok_or(UNFIT)?;
    let stride = *strides.get(axis).ok_or(UNFIT)?;
    let lines: Vec<(usize, usize)> =
        shape.iter().enumerate().zip(&strides).filter_map(|(axis, stride)| Some((line(axis)?, *stride))).collect();
    let extent = *shape.get(axis).ok_or(UNFIT)?;
    for start in shape::offsets(lines).ok_or(UNFIT)? {
        let open = bits.iter().skip(start).step_by(stride.max(1)).take(extent).any(|bit| *bit);
        if !open {
            return Err(Refusal::Payload(
                "mask",
                format!("the line of the axis from element {start} on is masked throughout"),
            ));
        }
    }
    Ok(())
}
