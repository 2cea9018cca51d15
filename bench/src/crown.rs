//! CROWN bounds of a chain of dense layers in binary64: a guide for the generator, and no proof.

/// Weight `[out][in]`, row-major, and bias of a dense layer.
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Bounds of the values of one node.
#[derive(Clone, Debug)]
pub(crate) struct Box {
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
}

impl Box {
    /// The coordinates whose sign is not known.
    pub(crate) fn unstable(&self) -> impl Iterator<Item = usize> {
        let ends = self.lower.iter().zip(&self.upper).enumerate();
        ends.filter(|(_, (lower, upper))| **lower < 0.0 && **upper > 0.0).map(|(at, _)| at)
    }
}

/// The slope of the lower line where none is given.
pub(crate) fn default_slope(lower: f64, upper: f64) -> f64 {
    f64::from(upper > -lower)
}

impl Layer {
    fn interval(&self, values: &Box) -> Box {
        let mut bounds = Box { lower: Vec::new(), upper: Vec::new() };
        for (row, bias) in self.weight.chunks(self.inputs).zip(&self.bias) {
            let (mut lower, mut upper) = (f64::from(*bias), f64::from(*bias));
            for (weight, (low, high)) in row.iter().zip(values.lower.iter().zip(&values.upper)) {
                let weight = f64::from(*weight);
                let (down, up) = if weight >= 0.0 { (low, high) } else { (high, low) };
                lower += weight * down;
                upper += weight * up;
            }
            bounds.lower.push(lower);
            bounds.upper.push(upper);
        }
        bounds
    }
}

/// Bounds of the pre-activations of all layers but the last: interval bounds, then plain CROWN on coordinates without a sign.
pub(crate) fn root(layers: &[Layer], region: &Box) -> Vec<Box> {
    let mut values = region.clone();
    let mut bounds: Vec<Box> = Vec::new();
    for (start, layer) in layers[..layers.len() - 1].iter().enumerate() {
        let mut found = layer.interval(&values);
        values = Box {
            lower: found.lower.iter().map(|end| end.max(0.0)).collect(),
            upper: found.upper.iter().map(|end| end.max(0.0)).collect(),
        };
        if start > 0 {
            let slope = |layer: usize, at: usize| default_slope(bounds[layer].lower[at], bounds[layer].upper[at]);
            for at in found.unstable().collect::<Vec<_>>() {
                let mut row = vec![0.0; layer.bias.len()];
                row[at] = 1.0;
                let lower = backward(layers, start, row.clone(), region, &bounds, slope, |_, _| 0.0);
                row[at] = -1.0;
                let upper = -backward(layers, start, row, region, &bounds, slope, |_, _| 0.0);
                found.lower[at] = found.lower[at].max(lower);
                found.upper[at] = found.upper[at].min(upper);
            }
        }
        bounds.push(found);
    }
    bounds
}

/// A lower bound of `row · z`, where `z` is the result of layer `start`. `slope(k, j)` is that of the lower line of neuron `j` behind layer `k`,
/// `pull(k, j)` what the splits there take from the row.
pub(crate) fn backward(
    layers: &[Layer],
    start: usize,
    mut row: Vec<f64>,
    region: &Box,
    bounds: &[Box],
    slope: impl Fn(usize, usize) -> f64,
    pull: impl Fn(usize, usize) -> f64,
) -> f64 {
    let mut constant = 0.0;
    for k in (0..=start).rev() {
        let layer = &layers[k];
        let mut next = vec![0.0; layer.inputs];
        for (entry, (weights, bias)) in row.iter().zip(layer.weight.chunks(layer.inputs).zip(&layer.bias)) {
            if *entry != 0.0 {
                constant += entry * f64::from(*bias);
                next.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += entry * f64::from(*weight));
            }
        }
        row = next;
        let Some(before) = k.checked_sub(1) else { break };
        let Box { lower, upper } = &bounds[before];
        for (j, entry) in row.iter_mut().enumerate() {
            let (l, u) = (lower[j], upper[j]);
            if l >= 0.0 {
            } else if u <= 0.0 {
                *entry = 0.0;
            } else if *entry >= 0.0 {
                *entry *= slope(before, j);
            } else {
                let chord = u / (u - l);
                constant -= *entry * chord * l;
                *entry *= chord;
            }
            *entry -= pull(before, j);
        }
    }
    let ends = row.iter().zip(region.lower.iter().zip(&region.upper));
    constant + ends.map(|(entry, (low, high))| if *entry >= 0.0 { entry * low } else { entry * high }).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `relu(x)` for x in [−1, 2], and minus it: by hand 0 (slope 0), −1 (slope 1), and −2 with the chord 2/3 (z + 1).
    #[test]
    fn one_neuron_by_hand() {
        let layers = [
            Layer { inputs: 1, weight: vec![1.0], bias: vec![0.0] },
            Layer { inputs: 1, weight: vec![1.0], bias: vec![0.0] },
        ];
        let region = Box { lower: vec![-1.0], upper: vec![2.0] };
        let bounds = root(&layers, &region);
        assert_eq!((bounds[0].lower[0], bounds[0].upper[0]), (-1.0, 2.0));
        let bound = |sign: f64, slope: f64, pull: f64| {
            backward(&layers, 1, vec![sign], &region, &bounds, |_, _| slope, |_, _| pull)
        };
        assert_eq!((bound(1.0, 0.0, 0.0), bound(1.0, 1.0, 0.0), bound(-1.0, 0.0, 0.0)), (0.0, -1.0, -2.0));
        // The row 1 less 1/2 is 1/2, at its least −1/2.
        assert_eq!(bound(1.0, 1.0, 0.5), -0.5);
    }
}
