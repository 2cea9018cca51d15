//! `Upsample` and `Resize` by whole factors, nearest neighbour.

use super::Call;
use crate::builder::{NodeValue, Value};
use crate::error::{ImportError, fault};

const WHOLE: &str = "export the model with nearest neighbours and whole factors";

pub(super) fn upsample(call: &mut Call<'_>) -> Result<Value, ImportError> {
    if call.opset > 9 {
        let detail = format!("Upsample is no operator of operator set {}", call.opset);
        return Err(ImportError::Version(fault(call.origin.place, detail, "export the model with Resize")));
    }
    nearest(call)?;
    let node = call.input_node(0)?;
    let factors = if call.opset >= 9 {
        numbers(call, 1)?.unwrap_or_default()
    } else {
        call.attributes.floats("scales")?.unwrap_or_default().iter().map(|factor| f64::from(*factor)).collect()
    };
    by_factors(call, &node, &factors)
}

pub(super) fn resize(call: &mut Call<'_>) -> Result<Value, ImportError> {
    nearest(call)?;
    let node = call.input_node(0)?;
    if call.opset < 11 {
        let factors = numbers(call, 1)?.unwrap_or_default();
        return by_factors(call, &node, &factors);
    }
    let coordinates = call.attributes.string("coordinate_transformation_mode")?.unwrap_or(b"half_pixel");
    let rounding = call.attributes.string("nearest_mode")?.unwrap_or(b"round_prefer_floor");
    // With a whole factor s, place i is (i + 1/2)/s − 1/2, whose nearest is ⌊i/s⌋ and never half away.
    let same = matches!(
        (coordinates, rounding),
        (b"asymmetric", b"floor")
            | (b"half_pixel" | b"pytorch_half_pixel", b"round_prefer_floor" | b"round_prefer_ceil")
    );
    if !same {
        return Err(call.attribute("coordinate_transformation_mode", "and `nearest_mode` move places", WHOLE));
    }
    call.attributes.float("cubic_coeff_a")?;
    for name in ["antialias", "exclude_outside"] {
        if call.attributes.int(name)?.unwrap_or(0) != 0 {
            return Err(call.attribute(name, "is not 0", WHOLE));
        }
    }
    let factors = numbers(call, 2)?.filter(|factors| !factors.is_empty());
    let sizes = call.optional(3).map(|_| call.integers(3)).transpose()?.filter(|sizes| !sizes.is_empty());
    match (factors, sizes) {
        (Some(factors), None) => by_factors(call, &node, &factors),
        (None, Some(sizes)) if sizes.len() == node.shape.len() => {
            let factor = |(size, extent): (&i64, &usize)| {
                let size = usize::try_from(*size).ok()?;
                size.is_multiple_of(*extent).then(|| size / extent)
            };
            let factors = sizes.iter().zip(&node.shape).map(factor).collect::<Option<Vec<_>>>();
            let detail = format!("sizes {sizes:?} are no multiples of {:?}", node.shape);
            let factors = factors.ok_or_else(|| call.shape(detail, WHOLE))?;
            scaled(call, &node, factors)
        }
        _ => Err(call.operand("neither scales nor sizes fit, or both are there".to_owned(), WHOLE)),
    }
}

fn nearest(call: &mut Call<'_>) -> Result<(), ImportError> {
    match call.attributes.string("mode")? {
        None | Some(b"nearest") => Ok(()),
        Some(_) => Err(call.attribute("mode", "is not nearest", WHOLE)),
    }
}

/// Input `place` as a list of floats.
fn numbers(call: &Call<'_>, place: usize) -> Result<Option<Vec<f64>>, ImportError> {
    let Some(_) = call.optional(place) else { return Ok(None) };
    let constant = call.numbers(place)?;
    let floats = constant.floats().filter(|_| constant.shape.len() == 1);
    floats.map(Some).ok_or_else(|| call.operand(format!("`{}` is no list of floats", constant.name), WHOLE))
}

fn by_factors(call: &mut Call<'_>, node: &NodeValue, factors: &[f64]) -> Result<Value, ImportError> {
    // Below 2³¹ the conversion is exact for whole numbers.
    let whole =
        |factor: &f64| (factor.fract() == 0.0 && (1.0..2_147_483_648.0).contains(factor)).then_some(*factor as usize);
    let wholes = factors.iter().map(whole).collect::<Option<Vec<_>>>();
    let wholes = wholes.ok_or_else(|| call.operand(format!("scales {factors:?} are not whole"), WHOLE))?;
    scaled(call, node, wholes)
}

fn scaled(call: &mut Call<'_>, node: &NodeValue, factors: Vec<usize>) -> Result<Value, ImportError> {
    if factors.len() != node.shape.len() || factors.contains(&0) {
        let detail = format!("factors {factors:?} for a value of shape {:?}", node.shape);
        return Err(call.shape(detail, WHOLE));
    }
    let shape = node.shape.iter().zip(&factors).map(|(extent, factor)| extent.saturating_mul(*factor)).collect();
    call.unary("upsample", node, shape, vec![("scale", factors.into())]).map(Value::Node)
}
