//! LINES in binary64: slopes are any numbers, intercepts are rounded outward.

use super::boxes::{FloatBox, columns, interval};
use crate::filter::round::{LIMIT, around, exact, power_of_two};
use crate::func::Function;
use crate::num::Dyadic;
use crate::rules::lines::{SLOPE_EXPONENT, pair};
use num_bigint::BigInt;
use num_traits::One;

/// A lower line `low·z + below` and an upper line `high·z + above` for each coordinate, with default slopes.
#[derive(Clone, Debug, Default)]
pub(super) struct FloatLines {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) below: Vec<f64>,
    pub(super) above: Vec<f64>,
}

/// `[low, high, below, above]`.
type Line = [f64; 4];

impl FloatLines {
    pub(super) fn new(function: &Function, bounds: &FloatBox) -> Self {
        let lines = bounds.ends().map(|(lower, upper)| line(function, (*lower, *upper), [None; 2]));
        let [low, high, below, above] = columns(lines);
        Self { low, high, below, above }
    }

    /// The lines of one coordinate, after its bounds changed or with slopes that are `given` for the lower and the upper one.
    pub(super) fn update(
        &mut self,
        function: &Function,
        coordinate: usize,
        bounds: &FloatBox,
        given: [Option<f64>; 2],
    ) -> Option<()> {
        let ends = (*bounds.lower.get(coordinate)?, *bounds.upper.get(coordinate)?);
        let columns = [&mut self.low, &mut self.high, &mut self.below, &mut self.above];
        for (column, value) in columns.into_iter().zip(line(function, ends, given)) {
            *column.get_mut(coordinate)? = value;
        }
        Some(())
    }
}

/// Whether the function bends between the bounds, so that slopes of lines are asked for.
pub(super) fn bends(function: &Function, lower: f64, upper: f64) -> bool {
    match function {
        Function::Relu => lower < 0.0 && upper > 0.0,
        Function::Library(_) => true,
    }
}

/// Lines with the slopes that are given, default ones otherwise; NaN if that is beyond the budget or out of range.
fn line(function: &Function, (lower, upper): (f64, f64), given: [Option<f64>; 2]) -> Line {
    match function {
        Function::Relu if lower >= 0.0 => [1.0, 1.0, 0.0, 0.0],
        Function::Relu if upper <= 0.0 => [0.0; 4],
        Function::Relu => relu(lower, upper, given),
        Function::Library(_) => enclosed(function, (lower, upper), given).unwrap_or([f64::NAN; 4]),
    }
}

/// The exact tier's lines, intercepts rounded outward; its slopes are doubles.
fn enclosed(function: &Function, (lower, upper): (f64, f64), given: [Option<f64>; 2]) -> Option<Line> {
    let [low, high] = given.map(|slope| slope.and_then(|slope| Dyadic::from_f64_bits(slope.to_bits())));
    let ((low, below), (high, above)) = pair(function, &interval(lower, upper)?, low.as_ref(), high.as_ref())?;
    let slope = |units: i64| exact(&Dyadic::new(units, SLOPE_EXPONENT));
    let one = BigInt::one();
    let (below, above) = (around(&below, &one).0, around(&above, &one).1);
    let in_range = below.abs() <= LIMIT && above.abs() <= LIMIT;
    if in_range { Some([slope(low)?, slope(high)?, below, above]) } else { None }
}

/// The triangle of ReLU over `l < 0 < u`. A lower line of any slope in `[0, 1]` has the intercept 0. An upper line of slope `s` in `[0, 1]` needs one of
/// at least `T = max(−s·l, u − s·u)`, the larger of what the two ends ask for (at the kink 0 is enough).
///
/// By default `s = fl(u / fl(u − l))`. Each candidate is computed with an error of at most `2ε·(u − l)` plus an underflow, the two sums
/// add at most `3ε·(u − l)`: less than `8ε·(u − l) + 2^−900`.
fn relu(lower: f64, upper: f64, [low, high]: [Option<f64>; 2]) -> Line {
    let width = upper - lower;
    let slope = high.unwrap_or(upper / width);
    let (at_lower, at_upper) = (-(slope * lower), upper - slope * upper);
    let needed = if at_lower > at_upper { at_lower } else { at_upper };
    let above = needed + width * power_of_two(-50) + power_of_two(-900);
    [low.unwrap_or(if upper > -lower { 1.0 } else { 0.0 }), slope, 0.0, above]
}
