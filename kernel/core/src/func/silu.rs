//! `silu`, `x·sigmoid(x)`.
//!
//! `f″ = s(1 − s)(2 − x·tanh(x/2))` with `s = sigmoid(x)`, and `x·tanh(x/2)` is even and rises with `|x|`: one pair of inflections. `f′` has the sign
//! of `1 + x + exp(x)`, which rises: one turn.

use super::{Curvature, Cut, Cuts, Declaration, Domain, Shape};

pub(super) const FUNCTION: Declaration = Declaration {
    name: "silu",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Few(&[Cut::Root(-0x0147_4973_c841_20b7_e35d_2f26_b055_144b)]),
            bends: Cuts::Few(&[
                Cut::Root(-0x0266_3c47_5b3b_c22d_4e2a_f781_e3a5_059d),
                Cut::Root(0x0266_3c47_5b3b_c22d_4e2a_f781_e3a5_059c),
            ]),
            curvatures: &[Curvature::Concave, Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| x * x.sigmoid(),
    slope: |x, _, _| x.sigmoid() * (x * (-x).sigmoid() + 1),
};
