//! Operators that a run may compute by another formula than the program of the kernel: what holds for both.

use crate::bounds::Known;
use crate::number::{Format, Number};
use certkern_core::tensor::Tensor;
use certkern_graph::{Attribute, Node};

/// Operators that select one of their arguments, or its negative: nothing is rounded, however the program spells it.
const SELECTIONS: &[&str] = &["max_elem", "min_elem", "max_n", "min_n", "abs"];

const NORMALISATIONS: &[&str] = &["softmax", "hard_masked_softmax", "layernorm", "batch_norm_eval"];

/// Whether a run may compute the operator of a node otherwise.
pub(crate) fn is_one(node: &Node) -> bool {
    SELECTIONS.contains(&node.kind()) || NORMALISATIONS.contains(&node.kind())
}

/// Makes the bounds of a node those of every formula. `middles` are its values.
pub(crate) fn adjust(node: &Node, parents: &[Known<'_>], middles: &[f64], errors: &mut [f64], format: Format) {
    if SELECTIONS.contains(&node.kind()) {
        for (i, error) in errors.iter_mut().enumerate() {
            *error = parents.iter().map(|parent| parent.errors[i]).fold(0.0, f64::max);
        }
        return;
    }
    let [parent, ..] = parents else { return };
    let rounded = match node.kind() {
        "layernorm" => layer_norm(node, parent, middles),
        "batch_norm_eval" => batch_norm(node, parent),
        _ => return softmax(node, parent, middles, errors, format),
    };
    errors.iter_mut().zip(rounded).for_each(|(error, rounded)| *error += format.unit() * rounded);
}

fn number(node: &Node, name: &str) -> usize {
    let found = node.attributes().iter().find(|(own, _)| *own == name);
    if let Some((_, Attribute::Number(number))) = found { *number } else { 0 }
}

/// The numbers of a field.
fn field(node: &Node, name: &str) -> Vec<f64> {
    let numbers = |tensor: &Tensor| {
        let number = |i| tensor.get(i).and_then(|number| f64::nearest(&number)).unwrap_or(f64::INFINITY);
        (0..tensor.len()).map(number).collect()
    };
    node.payload().find(|(own, _)| *own == name).map(|(_, tensor)| numbers(tensor)).unwrap_or_default()
}

/// `exp(x_i − m)/Σ exp(x_j − m)` with the greatest `m`, or `1/(1 + Σ exp(x_j − x_i))` as in the kernel's program, which may overflow where the
/// result vanishes. Errors `e` of the arguments change `y_i` by a factor of at most `exp(e_i + max e)` either way. Each power is off by a relative
/// `u·d`, `d = m − x`, what the difference is rounded by (in the second form by no more than `d_i + d_j`), and 8 u of its own; so is their sum, by the
/// mean of that with the weights `y`, and by `n` roundings; the quotient is rounded once, or twice as a product with the reciprocal.
fn softmax(node: &Node, x: &Known<'_>, y: &[f64], errors: &mut [f64], format: Format) {
    let (shape, axis) = (node.shape(), number(node, "axis"));
    let mask = field(node, "mask");
    let (extent, stride) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    errors.fill(0.0);
    for line in 0..y.len() / extent {
        let start = line / stride * stride * extent + line % stride;
        let places: Vec<usize> = (0..extent).map(|k| start + k * stride).collect();
        let places: Vec<usize> = places.into_iter().filter(|i| mask.is_empty() || mask[*i] != 0.0).collect();
        let top = places.iter().map(|i| x.middles[*i] + x.errors[*i]).fold(f64::NEG_INFINITY, f64::max);
        let largest = places.iter().map(|i| x.errors[*i]).fold(0.0, f64::max);
        let below = |i: usize| top - (x.middles[i] - x.errors[i]);
        let weight = |i: usize| (y[i] * (x.errors[i] + largest).exp()).min(1.0);
        let mean: f64 = places.iter().map(|i| weight(*i) * below(*i)).sum();
        let count = places.len() as f64;
        for i in &places {
            let rounded = format.unit() * (below(*i) + mean + 18.0 + count);
            let relative = x.errors[*i] + largest + rounded / (1.0 - rounded).max(0.0);
            errors[*i] = y[*i] * relative.exp_m1() + (count + 2.0) * format.least();
        }
    }
}

/// `(x − m)·r·γ + β` or `(x·r − m·r)·γ + β`, with a variance by Welford's recurrence, which is off by a relative `n·u·√(1 + m²/v)` (Chan, Golub and
/// LeVeque 1983), half of which reaches `r = 1/√(v + ε)`.
fn layer_norm(node: &Node, x: &Known<'_>, y: &[f64]) -> Vec<f64> {
    let (gamma, beta, eps) = (field(node, "gamma"), field(node, "beta"), field(node, "eps"));
    let (length, eps) = (gamma.len(), eps.first().copied().unwrap_or(0.0));
    let mut rounded = Vec::with_capacity(y.len());
    for (group, values) in x.middles.chunks(length).enumerate() {
        let count = length as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
        let inverse = (variance + eps).sqrt().recip();
        let recurrence = count / 2.0 * (variance * (variance + mean * mean)).sqrt() * inverse * inverse;
        for (i, value) in values.iter().enumerate() {
            let place = group * length + i;
            let size = value.abs() + x.errors[place];
            let scaled = inverse * (3.0 * (size + mean.abs()) + (value - mean).abs() * (recurrence + 4.0));
            rounded.push(gamma[i].abs() * scaled + 2.0 * (y[place].abs() + beta[i].abs()));
        }
    }
    rounded
}

/// `x·α + (β − mean·α)` with `α = γ/√(var + ε)`, which takes at most three roundings, or `(x − mean)·α + β`: no more than six roundings of any term.
fn batch_norm(node: &Node, x: &Known<'_>) -> Vec<f64> {
    let [gamma, beta, mean, var, eps] = ["gamma", "beta", "mean", "var", "eps"].map(|name| field(node, name));
    let axis = number(node, "channel_axis");
    let stride: usize = node.shape()[axis + 1..].iter().product();
    let eps = eps.first().copied().unwrap_or(0.0);
    let rounded = |(place, (value, error)): (usize, (&f64, &f64))| {
        let channel = place / stride % gamma.len();
        let scale = gamma[channel].abs() / (var[channel] + eps).sqrt();
        6.0 * (scale * (value.abs() + error + mean[channel].abs()) + beta[channel].abs())
    };
    x.middles.iter().zip(x.errors).enumerate().map(rounded).collect()
}
