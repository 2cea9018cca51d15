//! Networks that stand in an artifact: linear layers and relus, one after the other, over exact rationals.

use crate::numbers::{list, rational, unfit};
use certkern_core::num::Rational;
use certkern_wire::fields::{element, member};
use certkern_wire::json::Json;
use certkern_wire::{Fault, Limits, Rejection};
use serde_json::{Value, json};

/// A layer; its node in the graph is one more than its place.
pub(crate) enum Layer {
    /// `W x + b`, one row for each output.
    Linear { weights: Vec<Vec<Rational>>, bias: Vec<Rational> },
    /// `max(x, 0)`, with the slopes of its lower lines if the artifact has some.
    Relu { alpha: Vec<Rational> },
}

/// Layers in a row.
pub(crate) struct Chain {
    inputs: usize,
    pub(crate) layers: Vec<Layer>,
}

impl Chain {
    /// Reads `layers`; `with_alpha`: every relu has slopes.
    ///
    /// # Errors
    /// `json.*` with the path: another kind of layer, ragged rows, a width that is not that of the layer before, no output.
    pub(crate) fn read(layers: &Json, inputs: usize, with_alpha: bool, limits: &Limits) -> Result<Self, Rejection> {
        let mut chain = Self { inputs, layers: Vec::new() };
        for (place, layer) in layers.array("layers")?.iter().enumerate() {
            let path = element("layers", place);
            let layer = chain.layer(layer, &path, with_alpha, limits)?;
            chain.layers.push(layer);
        }
        Ok(chain)
    }

    fn layer(&self, json: &Json, path: &str, with_alpha: bool, limits: &Limits) -> Result<Layer, Rejection> {
        let mut fields = json.object(path)?;
        let kind = fields.required("kind")?;
        let layer = match kind.string(&fields.path("kind"))? {
            "linear" => {
                let (weights, bias) = (fields.required("weights")?, fields.required("bias")?);
                let (weights, bias) = affine((weights, bias), path, self.width(), limits)?;
                Layer::Linear { weights, bias }
            }
            "relu" if with_alpha => {
                let alpha = fields.required("alpha")?;
                let slope = |json: &Json, path: &str| rational(json, path, limits);
                Layer::Relu { alpha: list(alpha, &fields.path("alpha"), self.width(), slope)? }
            }
            "relu" => Layer::Relu { alpha: Vec::new() },
            other => return Err(unfit(kind, &fields.path("kind"), "linear or relu", other).into()),
        };
        fields.finish()?;
        Ok(layer)
    }

    /// The number of coordinates after the last layer.
    pub(crate) fn width(&self) -> usize {
        self.width_before(self.layers.len())
    }

    /// The number of coordinates before a layer.
    fn width_before(&self, place: usize) -> usize {
        let linear = self.layers.iter().take(place).rev().find_map(|layer| match layer {
            Layer::Linear { bias, .. } => Some(bias.len()),
            Layer::Relu { .. } => None,
        });
        linear.unwrap_or(self.inputs)
    }

    /// The graph, `certkern.ir.v1`, whose output is the last layer.
    pub(crate) fn graph(&self) -> Value {
        let mut nodes = vec![json!({"id": 0, "kind": "input", "parents": [], "shape": [self.inputs]})];
        for (place, layer) in self.layers.iter().enumerate() {
            let (id, shape) = (place + 1, [self.width_before(place + 1)]);
            nodes.push(match layer {
                Layer::Linear { weights, bias } => {
                    let weights: Vec<Vec<String>> = weights.iter().map(|row| texts(row)).collect();
                    json!({"id": id, "kind": "linear", "parents": [place], "shape": shape, "weight": weights, "bias": texts(bias)})
                }
                Layer::Relu { .. } => json!({"id": id, "kind": "relu", "parents": [place], "shape": shape}),
            });
        }
        json!({"format": "certkern.ir.v1", "input_id": 0, "output_ids": [self.layers.len()], "nodes": nodes})
    }
}

/// A matrix with `columns` columns, and a number for each of its rows, of which there is one at least.
///
/// # Errors
/// `json.*` with the path.
pub(crate) fn affine(
    (weights, bias): (&Json, &Json),
    path: &str,
    columns: usize,
    limits: &Limits,
) -> Result<(Vec<Vec<Rational>>, Vec<Rational>), Fault> {
    let (above, beside) = (member(path, "weights"), member(path, "bias"));
    let rows = weights.array(&above)?.len();
    if rows == 0 {
        return Err(unfit(weights, &above, "a row for each output", "none"));
    }
    let number = |json: &Json, path: &str| rational(json, path, limits);
    let weights = list(weights, &above, rows, |row, path| list(row, path, columns, number))?;
    Ok((weights, list(bias, &beside, rows, number)?))
}

/// Numbers in lowest terms, as text.
pub(crate) fn texts(numbers: &[Rational]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}
