//! LINES in binary64: slopes are any numbers, intercepts are rounded outward.

use super::boxes::FloatBox;
use crate::filter::round::power_of_two;
use crate::func::Function;

/// A lower line `low·z + below` and an upper line `high·z + above` for each coordinate, with default slopes.
#[derive(Clone, Debug)]
pub(super) struct FloatLines {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) below: Vec<f64>,
    pub(super) above: Vec<f64>,
}

/// `[low, high, below, above]`.
type Line = [f64; 4];

impl FloatLines {
    pub(super) fn new(function: Function, bounds: &FloatBox) -> Self {
        let width = bounds.lower.len();
        let column = || Vec::with_capacity(width);
        let mut lines = Self { low: column(), high: column(), below: column(), above: column() };
        for (lower, upper) in bounds.lower.iter().zip(&bounds.upper) {
            let [low, high, below, above] = line(function, *lower, *upper);
            lines.low.push(low);
            lines.high.push(high);
            lines.below.push(below);
            lines.above.push(above);
        }
        lines
    }

    /// The lines after the bounds of one coordinate changed.
    pub(super) fn update(&mut self, function: Function, coordinate: usize, bounds: &FloatBox) -> Option<()> {
        let lower = bounds.lower.get(coordinate)?;
        let values = line(function, *lower, *bounds.upper.get(coordinate)?);
        let columns = [&mut self.low, &mut self.high, &mut self.below, &mut self.above];
        for (column, value) in columns.into_iter().zip(values) {
            *column.get_mut(coordinate)? = value;
        }
        Some(())
    }
}

/// Whether the function bends between the bounds, so that slopes of lower lines are asked for.
pub(super) fn bends(function: Function, lower: f64, upper: f64) -> bool {
    match function {
        Function::Relu => lower < 0.0 && upper > 0.0,
    }
}

fn line(function: Function, lower: f64, upper: f64) -> Line {
    match function {
        Function::Relu if lower >= 0.0 => [1.0, 1.0, 0.0, 0.0],
        Function::Relu if upper <= 0.0 => [0.0; 4],
        Function::Relu => relu(lower, upper),
    }
}

/// The triangle of ReLU over `l < 0 < u`. A lower line of any slope in `[0, 1]` has the intercept 0. An upper line of slope `s` needs one of at
/// least `T = max(−s·l, u − s·u)`, the larger of what the two ends ask for (at the kink 0 is enough).
///
/// `s = fl(u / fl(u − l))` lies in `[0, 1]`. Each candidate is computed with an error of at most `2ε·(u − l)` plus an underflow, the two sums
/// add at most `3ε·(u − l)`: less than `8ε·(u − l) + 2^−900`.
fn relu(lower: f64, upper: f64) -> Line {
    let width = upper - lower;
    let slope = upper / width;
    let (at_lower, at_upper) = (-(slope * lower), upper - slope * upper);
    let needed = if at_lower > at_upper { at_lower } else { at_upper };
    let above = needed + width * power_of_two(-50) + power_of_two(-900);
    [if upper > -lower { 1.0 } else { 0.0 }, slope, 0.0, above]
}
