//! `gelu_tanh`, `x·(1 + tanh g)/2 = x·sigmoid(2g)` with `g = √(2/π)·(x + b·x³)`, `b = 0.044715`.
//!
//! `f″` is `4g′ + 2x·g″ − 4x·g′²·tanh g` times something above 0. With `a = √(2/π)` that is `4a(1 + 6bx²)·(1 − h)`, `h = a·x·tanh g·(1 + 9b²x⁴/(1 + 6bx²))`, and
//! `h` is even and rises from 0 with `|x|`: one pair of inflections. `f′` has the sign of `1 + exp(2g) + 2x·g′`, which rises where it is not above 0: one turn.

use super::{Constant, Curvature, Cut, Cuts, Declaration, Domain, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "gelu_tanh",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Few(&[Cut::Root(-0x00c0_a14f_cf4b_f265_615b_8251_0484_8d33)]),
            bends: Cuts::Few(&[
                Cut::Root(-0x016b_2314_2700_6295_d434_beb4_b012_ad29),
                Cut::Root(0x016b_2314_2700_6295_d434_beb4_b012_ad28),
            ]),
            curvatures: &[Curvature::Concave, Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| x * inner(x).0.sigmoid(),
    slope: |x, _, _| {
        let (g, steepness) = inner(x);
        g.sigmoid() * (x * steepness * (-&g).sigmoid() + 1)
    },
};

/// `2g` and `2g′`.
fn inner(x: &Real) -> (Real, Real) {
    let twice = (x.integer(8) / Constant::Pi.real(x.precision())).sqrt();
    let cubic = x * x * 44_715 / 1_000_000;
    (&twice * x * (&cubic + 1), twice * (cubic * 3 + 1))
}
