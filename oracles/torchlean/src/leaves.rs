//! `abcrown_leaf_artifact_v0_1`: boxes that are said to tile a root box and to have been closed. Network and property are given beside it.

use crate::bundle::{Network, Source, Specification};
use crate::error::ImportError;
use crate::numbers::{binary64, list, unfit};
use crate::{Certificate, Given};
use certkern_abcrown::{certificate_of_boxes, rounds_to};
use certkern_core::num::Rational;
use certkern_wire::fields::element;
use certkern_wire::json::Json;
use certkern_wire::{Fault, Limits, Rejection};
use num_traits::ToPrimitive;

/// Lower and upper corners of one box or more, one after the other.
type Corners = (Vec<f64>, Vec<f64>);

/// A bundle of kind `leaves` with one tree for all disjuncts of the property, whose leaves are the boxes.
///
/// # Errors
/// `json.*` with the place in the artifact, [`ImportError::Boxes`] if the boxes are no tree, [`ImportError::Mismatch`] if the root does not cover the region of the property.
pub(crate) fn convert(
    document: &Json,
    source: &Source<'_>,
    given: &Given<'_>,
    limits: &Limits,
) -> Result<Certificate, ImportError> {
    let (root, boxes) = read(document, limits)?;
    let network = Network::given(given, source.kind, limits)?;
    let missing = || ImportError::Lacks { kind: source.kind, missing: vec!["--property"] };
    let (name, bytes) = given.property.ok_or_else(missing)?;
    let property = certkern_claims::read_property(name, bytes, limits)?;
    let (inputs, dimension) = (property.inputs(), root.0.len());
    if inputs != dimension {
        return Err(ImportError::Mismatch(format!(
            "the boxes have {dimension} coordinates, the region of {name} has {inputs}"
        )));
    }
    covers(&root, (&property.lower, &property.upper), name)?;
    let corners = (root.0.as_slice(), root.1.as_slice());
    let made =
        certificate_of_boxes((&boxes.0, &boxes.1), corners, network.meaning.input_id(), property.disjuncts.len());
    let (certificate, hints) = made.map_err(ImportError::Boxes)?;
    let own = if name.ends_with(".json") { "property.json" } else { "property.vnnlib" };
    network.claim(Specification::Property(own, bytes.to_vec()), certificate, Some(hints), source, limits)
}

/// The root box and the leaves, at least one.
fn read(document: &Json, limits: &Limits) -> Result<(Corners, Corners), Rejection> {
    let mut fields = document.object("")?;
    fields.required("format")?;
    let [dimension, root, leaves] =
        [fields.required("input_dim")?, fields.required("root")?, fields.required("leaves")?];
    fields.finish()?;
    let width = dimension.index("input_dim")?;
    if width == 0 {
        return Err(unfit(dimension, "input_dim", "a coordinate at least", "none").into());
    }
    let mut ends = root.object("root")?;
    let (lo, hi) = (ends.required("lo")?, ends.required("hi")?);
    ends.finish()?;
    let root = (numbers(lo, "root.lo", width, limits)?, numbers(hi, "root.hi", width, limits)?);
    let mut boxes = (Vec::new(), Vec::new());
    for (place, leaf) in leaves.array("leaves")?.iter().enumerate() {
        let (lower, upper) = read_leaf(leaf, &element("leaves", place), width, limits)?;
        boxes.0.extend(lower);
        boxes.1.extend(upper);
    }
    if boxes.0.is_empty() {
        return Err(unfit(leaves, "leaves", "a leaf at least", "none").into());
    }
    Ok((root, boxes))
}

/// One leaf. What it says of its bounds is read, so that a damaged document is refused, and dropped.
fn read_leaf(leaf: &Json, path: &str, width: usize, limits: &Limits) -> Result<Corners, Rejection> {
    let mut fields = leaf.object(path)?;
    let [lo, hi, lb, threshold] =
        [fields.required("lo")?, fields.required("hi")?, fields.required("lb")?, fields.required("threshold")?];
    let [low, high, bounds, sides, index, margin] =
        ["lo", "hi", "lb", "threshold", "witness_idx", "witness_margin"].map(|key| fields.path(key));
    let (witness, claimed) = (fields.optional("witness_idx"), fields.optional("witness_margin"));
    fields.finish()?;
    let rows = lb.array(&bounds)?.len();
    numbers(lb, &bounds, rows, limits)?;
    numbers(threshold, &sides, rows, limits)?;
    if let Some(witness) = witness
        && witness.index(&index)? >= rows
    {
        return Err(unfit(witness, &index, &format!("one of {rows} rows"), "another").into());
    }
    claimed.map(|claimed| binary64(claimed, &margin, limits)).transpose()?;
    Ok((numbers(lo, &low, width, limits)?, numbers(hi, &high, width, limits)?))
}

fn numbers(json: &Json, path: &str, count: usize, limits: &Limits) -> Result<Vec<f64>, Fault> {
    list(json, path, count, |json, path| binary64(json, path, limits))
}

/// Checks that the root box covers the region, but for the rounding of its ends to binary32 or binary64.
fn covers(root: &Corners, region: (&[Rational], &[Rational]), name: &str) -> Result<(), ImportError> {
    let sides = [("lower", &root.0, region.0), ("upper", &root.1, region.1)];
    for (side, own, exact) in sides {
        for (coordinate, (&own, exact)) in own.iter().zip(exact).enumerate() {
            let exact = exact.to_f64().unwrap_or(f64::NAN);
            let outside = if side == "lower" { own <= exact } else { own >= exact };
            if !outside && !rounds_to(exact, own as f32) {
                return Err(ImportError::Mismatch(format!(
                    "the {side} end of x[{coordinate}] is {own} in the root box and {exact} in {name}: the leaves do not cover the region"
                )));
            }
        }
    }
    Ok(())
}
