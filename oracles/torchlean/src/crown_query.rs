//! `crown_query_v1`: a network in the artifact, a box, and rows `W·y + b` that are claimed to lie below zero on it, or not above.

use crate::Certificate;
use crate::bundle::{Network, Source, Specification, single_leaf};
use crate::chain::{Chain, Layer, affine, texts};
use crate::error::ImportError;
use crate::numbers::{ends, unfit};
use certkern_core::num::Rational;
use certkern_onnx::{Dtype, write_safetensors};
use certkern_wire::Limits;
use certkern_wire::json::Json;
use num_traits::{ToPrimitive, Zero};
use serde_json::{Map, Value, json};

/// A tensor of a certificate: name, type, shape, little-endian elements.
type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// A bundle of kind `leaves` with a single leaf: one disjunct for each row, and the slopes of the artifact as hints.
///
/// # Errors
/// `json.*` with the place in the artifact.
pub(crate) fn convert(document: &Json, source: &Source<'_>, limits: &Limits) -> Result<Certificate, ImportError> {
    let mut fields = document.object("")?;
    fields.required("format")?;
    let inputs = fields.required("input_dim")?;
    let [region, layers, query] = [fields.required("input")?, fields.required("layers")?, fields.required("query")?];
    fields.finish().map_err(certkern_wire::Rejection::from)?;
    let dimension = inputs.index("input_dim")?;
    if dimension == 0 {
        return Err(unfit(inputs, "input_dim", "a coordinate at least", "none").into());
    }
    let mut corners = region.object("input")?;
    let (lo, hi) = (corners.required("lo")?, corners.required("hi")?);
    corners.finish().map_err(certkern_wire::Rejection::from)?;
    let [lower, upper] = ends((lo, "input.lo"), (hi, "input.hi"), dimension, limits)?;
    let chain = Chain::read(layers, dimension, true, limits)?;
    let mut fields = query.object("query")?;
    let [weights, bias, strict] = [fields.required("weights")?, fields.required("bias")?, fields.required("strict")?];
    fields.finish().map_err(certkern_wire::Rejection::from)?;
    let (weights, bias) = affine((weights, bias), "query", chain.width(), limits)?;
    let strict = strict.boolean("query.strict")?;
    let unsafe_set: Vec<Value> = weights.iter().zip(&bias).map(|(row, b)| json!([violation(row, b, strict)])).collect();
    let rows = unsafe_set.len();
    let property = json!({
        "format": "certkern.property.v1", "outputs": chain.width(), "lower": lower, "upper": upper, "unsafe": unsafe_set
    });
    let specification = Specification::Property("property.json", property.to_string().into_bytes());
    let (hints, kind) = hints(&chain, rows);
    let certificate = single_leaf(rows, kind);
    let network = Network::alone(chain.graph().to_string(), limits)?;
    network.claim(specification, certificate, hints, source, limits)
}

/// The row that holds where `w·y + b` does not lie below zero (`strict`), or lies above: `−w·y ≤ b`, or `−w·y < b`.
fn violation(weights: &[Rational], bias: &Rational, strict: bool) -> Value {
    let terms = weights.iter().enumerate().filter(|(_, weight)| !weight.is_zero());
    let terms: Map<String, Value> =
        terms.map(|(place, weight)| (place.to_string(), json!((-weight).to_string()))).collect();
    json!({"y": terms, "bound": texts(std::slice::from_ref(bias))[0], "strict": !strict})
}

/// `cert.safetensors` with the slopes of all relus: at the leaf for every row, and in the passes that bound the arguments of later relus; and the kind of the bound set.
fn hints(chain: &Chain, rows: usize) -> (Option<Vec<u8>>, &'static str) {
    let mut tensors: Vec<Tensor> = Vec::new();
    let mut earlier: Vec<(usize, &[Rational])> = Vec::new();
    let mut kind = "plain";
    for (start, layer) in chain.layers.iter().enumerate() {
        let Layer::Relu { alpha } = layer else { continue };
        let node = start + 1;
        if !earlier.is_empty() {
            kind = "slopes";
            tensors.push(places(format!("bounds.0.{start}.rows"), alpha.len()));
            for (act, slopes) in &earlier {
                let name = |field: &str| format!("bounds.0.{start}.{act}.{field}");
                tensors.push(places(name("columns"), slopes.len()));
                tensors.extend(["lower", "upper"].map(|pass| repeated(name(pass), slopes, alpha.len())));
            }
        }
        tensors.push(places(format!("leaf.{node}.columns"), alpha.len()));
        tensors.push(repeated(format!("leaf.{node}.slope"), alpha, rows));
        earlier.push((node, alpha));
    }
    ((!tensors.is_empty()).then(|| write_safetensors(&tensors)), kind)
}

/// The coordinates below `count`.
fn places(name: String, count: usize) -> Tensor {
    let places = (0..count).map(|place| u32::try_from(place).unwrap_or(u32::MAX));
    (name, Dtype::U32, vec![count], places.flat_map(u32::to_le_bytes).collect())
}

/// Slopes, rounded to binary64 (any slope is good), in each of some rows.
fn repeated(name: String, slopes: &[Rational], rows: usize) -> Tensor {
    let row: Vec<u8> = slopes.iter().flat_map(|slope| slope.to_f64().unwrap_or(f64::NAN).to_le_bytes()).collect();
    (name, Dtype::F64, vec![rows, slopes.len()], row.repeat(rows))
}
