//! The activations whose hints a dump can hold: ReLU, by slopes, and the S-shaped ones, by tangent points.
//!
//! An S-shaped function `f` bends up below 0 and down above it, and `f′` is even. On `[l, u]` one of its lines is the chord where `f` bends one way, the
//! other a tangent. Where `l < 0 < u` both are tangents, as far out as they may go, unless the chord is valid. Floats are no matter here:
//! only slopes are passed on, and with any slope the kernel finds the best line.

/// An activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    Relu,
    Sigmoid,
    Tanh,
}

/// The tangent points that a dump has for one neuron: for the upper line where `l ≥ 0`, the lower line where `u ≤ 0`, the lower and the upper line
/// where `l < 0 < u`.
pub(crate) type Tangents = [f64; 4];

/// Halvings in the search for the tangent through a point of the curve.
const HALVINGS: usize = 60;

/// Chords over less than this are tangents.
const SHORT: f64 = 1e-6;

impl Activation {
    /// Each with its operator in graphs and its type in auto_LiRPA.
    const NAMES: [(Self, &str, &str); 3] = [
        (Self::Relu, "relu", "BoundRelu"),
        (Self::Sigmoid, "sigmoid", "BoundSigmoid"),
        (Self::Tanh, "tanh", "BoundTanh"),
    ];

    /// The activation that is this operator of a graph.
    pub(crate) fn of_graph(operator: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name, _)| *name == operator).map(|(activation, ..)| *activation)
    }

    /// The activation of this type in auto_LiRPA.
    pub(crate) fn of_dump(kind: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(.., name)| *name == kind).map(|(activation, ..)| *activation)
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Self::Relu => x.max(0.0),
            Self::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Self::Tanh => x.tanh(),
        }
    }

    fn derivative(self, x: f64) -> f64 {
        match self {
            Self::Relu => f64::from(u8::from(x > 0.0)),
            Self::Sigmoid => {
                let e = (-x.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Self::Tanh => 1.0 / (x.cosh() * x.cosh()),
        }
    }

    fn chord(self, lower: f64, upper: f64) -> f64 {
        if upper - lower < SHORT {
            return self.derivative(f64::midpoint(lower, upper));
        }
        (self.value(upper) - self.value(lower)) / (upper - lower)
    }

    /// The largest `d` in `[lower, 0]` whose tangent lies below the curve at `upper`, if that holds at `lower`.
    fn reach(self, lower: f64, upper: f64) -> f64 {
        let (mut valid, mut beyond) = (lower, 0.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(valid, beyond);
            if self.value(middle) + self.derivative(middle) * (upper - middle) <= self.value(upper) {
                valid = middle;
            } else {
                beyond = middle;
            }
        }
        valid
    }

    /// The slopes of the lower and of the upper line of an S-shaped function on `[lower, upper]` with these tangent points.
    pub(crate) fn slopes(self, (lower, upper): (f64, f64), [above, below, low, high]: Tangents) -> [f64; 2] {
        let chord = self.chord(lower, upper);
        if lower >= 0.0 {
            return [chord, self.derivative(between(above, lower, upper))];
        }
        if upper <= 0.0 {
            return [self.derivative(between(below, lower, upper)), chord];
        }
        // The curve turned by half a turn is itself (up to a shift), and upper lines are lower lines there.
        let line = |tangent: f64, (lower, upper): (f64, f64)| {
            if chord <= self.derivative(lower) {
                return chord;
            }
            self.derivative(between(tangent, lower, self.reach(lower, upper)))
        };
        [line(low, (lower, upper)), line(-high, (-upper, -lower))]
    }

    /// The slopes that α,β-CROWN starts from: tangents in the middle, as far as they may go there.
    pub(crate) fn default_slopes(self, (lower, upper): (f64, f64)) -> [f64; 2] {
        match self {
            Self::Relu => [f64::from(u8::from(upper > -lower)), self.chord(lower, upper)],
            Self::Sigmoid | Self::Tanh => self.slopes((lower, upper), [f64::midpoint(lower, upper); 4]),
        }
    }
}

/// The nearest number of the interval; NaN stays.
fn between(x: f64, lower: f64, upper: f64) -> f64 {
    if x < lower {
        lower
    } else if x > upper {
        upper
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `max (or min) of f(z) − s·z` over a fine grid is what a line of slope `s` needs; how far it is from the curve in all, divided by the number of points.
    fn gap(f: fn(f64) -> f64, (l, u): (f64, f64), slope: f64, below: bool) -> f64 {
        let grid: Vec<f64> = (0..=2000).map(|i| l + (u - l) * f64::from(i) / 2000.0).collect();
        let rest: Vec<f64> = grid.iter().map(|z| f(*z) - slope * z).collect();
        let worst = if below {
            rest.iter().copied().fold(f64::INFINITY, f64::min)
        } else {
            rest.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        };
        rest.iter().map(|r| (r - worst).abs()).sum::<f64>() / 2001.0
    }

    #[test]
    fn names_are_those_of_both_sides() {
        assert_eq!(Activation::of_graph("tanh"), Some(Activation::Tanh));
        assert_eq!(Activation::of_dump("BoundSigmoid"), Some(Activation::Sigmoid));
        assert_eq!((Activation::of_graph("sin"), Activation::of_dump("BoundSin")), (None, None));
    }

    #[test]
    fn chords_and_tangents_of_one_sign() {
        // tanh on [0, 1]: chord 0.76159415595576, tangent at 1/2: 1 − 0.46211715726001² = 0.78644773296593.
        let [low, high] = Activation::Tanh.slopes((0.0, 1.0), [0.5, 9.0, 9.0, 9.0]);
        assert!((low - 0.761_594_155_955_76).abs() < 1e-13 && (high - 0.786_447_732_965_93).abs() < 1e-13);
        let [low, high] = Activation::Tanh.slopes((-1.0, 0.0), [9.0, -0.5, 9.0, 9.0]);
        assert!((low - 0.786_447_732_965_93).abs() < 1e-13 && (high - 0.761_594_155_955_76).abs() < 1e-13);
        // Sigmoid: tangent at ln 2: 2/9; a point outside is moved to the end 0: 1/4.
        let [_, high] = Activation::Sigmoid.slopes((0.0, 2.0), [2.0_f64.ln(), 0.0, 0.0, 0.0]);
        assert!((high - 2.0 / 9.0).abs() < 1e-15);
        assert_eq!(Activation::Sigmoid.slopes((0.0, 2.0), [-3.0, 0.0, 0.0, 0.0])[1], 0.25);
    }

    #[test]
    fn tangents_on_both_sides_go_no_further_than_they_may() {
        let tanh = |x: f64| x.tanh();
        // On [−3, 2] tangents at 0 cross the curve. The best tangents touch at d with tanh d + (1 − tanh² d)(e − d) = tanh e, e the other end.
        let [low, high] = Activation::Tanh.slopes((-3.0, 2.0), [0.0; 4]);
        for (slope, below, end) in [(low, true, 2.0_f64), (high, false, -3.0)] {
            let intercept = tanh(end) - slope * end;
            // The line through that end touches the curve: nothing is lost by moving it onto the curve.
            let side = if below { 1.0 } else { -1.0 };
            let worst = (0..=5000)
                .map(|i| -3.0 + f64::from(i) / 1000.0)
                .map(|z| side * (tanh(z) - slope * z - intercept))
                .fold(f64::INFINITY, f64::min);
            assert!(worst.abs() < 1e-6, "{worst}");
        }
        // Points further out are kept.
        let [low, high] = Activation::Tanh.slopes((-3.0, 2.0), [0.0, 0.0, -2.5, 1.5]);
        assert!(
            (low - (1.0 - 2.5_f64.tanh().powi(2))).abs() < 1e-14
                && (high - (1.0 - 1.5_f64.tanh().powi(2))).abs() < 1e-14
        );
        // On [−1/10, 3] the chord is flatter than the curve at −1/10: it is the lower line.
        let chord = (3.0_f64.tanh() + 0.1_f64.tanh()) / 3.1;
        let [low, high] = Activation::Tanh.slopes((-0.1, 3.0), [0.0; 4]);
        assert!((low - chord).abs() < 1e-14);
        assert!(gap(tanh, (-0.1, 3.0), high, false) < gap(tanh, (-0.1, 3.0), high * 1.2, false));
        // Turned over, it is the upper line.
        let turned = Activation::Tanh.slopes((-3.0, 0.1), [0.0; 4]);
        assert!((turned[1] - chord).abs() < 1e-14 && (turned[0] - high).abs() < 1e-12);
    }

    #[test]
    fn default_slopes_are_good_lines() {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        for ends in [(-3.0, 2.0), (-0.5, 4.0), (0.25, 3.0), (-6.0, -1.0), (-2.0, 2.0), (-8.0, 0.5)] {
            let [low, high] = Activation::Sigmoid.default_slopes(ends);
            // No other slope is better by much: half of the area of the best horizontal line is a coarse measure, all slopes on a grid a fine one.
            for (slope, below) in [(low, true), (high, false)] {
                let best = (0..=1000)
                    .map(|i| gap(sigmoid, ends, 0.25 * f64::from(i) / 1000.0, below))
                    .fold(f64::INFINITY, f64::min);
                assert!(gap(sigmoid, ends, slope, below) <= 1.05 * best + 1e-4, "{ends:?} {below}");
            }
        }
    }

    #[test]
    fn numbers_that_are_none_stay() {
        assert!(Activation::Tanh.slopes((0.5, 1.0), [f64::NAN; 4])[1].is_nan());
        assert!(Activation::Tanh.slopes((-1.0, 1.0), [f64::NAN; 4]).iter().all(|slope| slope.is_nan()));
        // No width: the derivative at 0.
        assert_eq!(Activation::Tanh.slopes((0.0, 0.0), [0.0; 4]), [1.0; 2]);
    }
}
