//! `mish`, `x·tanh(softplus(x))`.
//!
//! With `q = exp(x)` and `D = q² + 2q + 2` it is `x·t`, `t = q(q + 2)/D`, and `f′ = t + x·4q(q + 1)/D²`, `f″ = 8q(q + 1)/D²·(1 − x·R)` with
//! `R = (2q³ + 3q² − 2q − 2)/(2(q + 1)D)`. `R` rises with `q`: the numerator of its derivative is `6q⁴ + 40q³ + 72q² + 48q + 8`. It is below 0 up to some
//! `x₀ < 0` and above 0 from there on, so `x·R` is at most 0 on `[x₀, 0]`, rises from 0 for `x > 0`, and falls to 0 for `x < x₀`: `x·R = 1` once on each side. `f′` has the sign
//! of `x + (q² + 3q + 3)/4 + 1/(4(q + 1))`, which rises: one turn.

use super::{Curvature, Cut, Cuts, Declaration, Domain, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "mish",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Few(&[Cut::Root(-0x0131_432c_0d12_d843_7e63_22a9_b442_09dd)]),
            bends: Cuts::Few(&[
                Cut::Root(-0x0241_a1e2_2dd6_0027_b663_2495_2628_9dee),
                Cut::Root(0x017d_9612_a440_0405_2285_91c5_df50_a6e2),
            ]),
            curvatures: &[Curvature::Concave, Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| x * parts(x).0,
    slope: |x, _, _| {
        let (t, steepness) = parts(x);
        x * steepness + t
    },
};

/// `t` and `t′ = 4q(q + 1)/D²`; above 0 in terms of `1/q`.
fn parts(x: &Real) -> (Real, Real) {
    let q = x.downward().exp();
    let (square, up) = (&q * &q, &q + 1);
    if x.seems_negative() {
        let d = &square + q.shifted(1) + 2;
        ((square + q.shifted(1)) / &d, (q * up).shifted(2) / d.power(2))
    } else {
        let d = square.shifted(1) + q.shifted(1) + 1;
        ((q.shifted(1) + 1) / &d, (square * up).shifted(2) / d.power(2))
    }
}
