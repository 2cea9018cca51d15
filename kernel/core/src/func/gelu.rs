//! `gelu`, `x·Φ(x)` with the normal distribution `Φ`.
//!
//! `f′ = Φ + x·φ` and `f″ = φ·(2 − x²)`: inflections at `±√2`. `f′` falls from 0 up to `−√2`, then rises up to `√2`, and falls to 1: one turn, right of `−√2`.

use super::erf::Bell;
use super::{Curvature, Cut, Cuts, Declaration, Domain, Shape};
use crate::num::Real;

pub(super) const FUNCTION: Declaration = Declaration {
    name: "gelu",
    shape: |_| {
        Some(Shape {
            domain: Domain::Line,
            turns: Cuts::Few(&[Cut::Root(-0x00c0_7568_cbf8_059e_ec18_b3a7_3525_7d35)]),
            bends: Cuts::Few(&[
                Cut::Root(-0x016a_09e6_67f3_bcc9_08b2_fb13_66ea_957e),
                Cut::Root(0x016a_09e6_67f3_bcc9_08b2_fb13_66ea_957d),
            ]),
            curvatures: &[Curvature::Concave, Curvature::Convex, Curvature::Concave],
        })
    },
    value: |x, _| x * distribution(x),
    slope: |x, _, _| (Bell::normal(x).height() * x).shifted(-1) + distribution(x),
};

/// `Φ(x)`.
fn distribution(x: &Real) -> Real {
    let twice = if x.seems_negative() { Bell::outside(&-x, Bell::normal) } else { Bell::inside(x, Bell::normal) + 1 };
    twice.shifted(-1)
}
