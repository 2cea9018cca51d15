//! Backward bounding once more, in plain rationals, from the rules' text: what a pass must reach.

use super::{Map, Net, Op, power, q};
use certkern_core::num::Rational;
use certkern_core::program::NodeId;
use certkern_core::rules::Scope;
use num_traits::{Signed, Zero};
use std::collections::BTreeMap;

/// A linear form over node values.
pub(crate) type Form = BTreeMap<(NodeId, usize), Rational>;

/// Slopes of lower lines, multiples of `2^-40`.
pub(crate) type Lower = BTreeMap<(NodeId, usize), Rational>;

/// A line over `z`: slope and value at zero.
type Line = (Rational, Rational);

/// The lower and the upper line of ReLU on `[l, u]` with the slope given, or with the default one. The upper slope is the chord's,
/// rounded down to a multiple of `2^-40`; each intercept is the extreme of `relu(p) − s·p` over the ends and 0.
pub(crate) fn relu_lines(l: &Rational, u: &Rational, given: Option<&Rational>) -> (Line, Line) {
    let zero = Rational::zero();
    if !l.is_negative() {
        return ((q(1, 1), zero.clone()), (q(1, 1), zero));
    }
    if !u.is_positive() {
        return ((zero.clone(), zero.clone()), (zero.clone(), zero));
    }
    let low = given.cloned().unwrap_or_else(|| if *u > -l { q(1, 1) } else { q(0, 1) });
    let high = (u / (u - l) * power(40)).floor() * power(-40);
    let at = |s: &Rational| [l, &zero, u].map(|p| p.clone().max(Rational::zero()) - s * p);
    let (below, above) = (at(&low).into_iter().min().unwrap(), at(&high).into_iter().max().unwrap());
    ((low, below), (high, above))
}

/// `rowᵀ L` from `L` on the basis.
fn adjoint(map: &Map, row: &[Rational]) -> Vec<Rational> {
    let column = |j: usize| {
        let basis: Vec<Rational> = (0..map.input_width()).map(|i| q(i64::from(i == j), 1)).collect();
        map.apply(&basis).iter().zip(row).map(|(a, b)| a * b).sum()
    };
    (0..map.input_width()).map(column).collect()
}

/// The dual value of `form` over the box with the bounds that `scope` holds and the slopes `lower`.
pub(crate) fn dual(
    net: &Net,
    scope: &Scope,
    region: (&[Rational], &[Rational]),
    form: &Form,
    lower: &Lower,
) -> Rational {
    let mut rows: Vec<Vec<Rational>> = (0..net.ops.len()).map(|id| vec![Rational::zero(); net.width(id)]).collect();
    for ((node, coordinate), c) in form {
        rows[*node][*coordinate] += c;
    }
    let mut d = Rational::zero();
    for (id, op) in net.ops.iter().enumerate().rev() {
        let row = std::mem::take(&mut rows[id]);
        match op {
            Op::Input(_) => {
                for (j, a) in row.iter().enumerate() {
                    d += a * if a.is_negative() { &region.1[j] } else { &region.0[j] };
                }
            }
            Op::Affine(terms, bias) => {
                d += bias.iter().flatten().zip(&row).map(|(b, a)| a * b).sum::<Rational>();
                for (parent, map) in terms {
                    rows[*parent].iter_mut().zip(adjoint(map, &row)).for_each(|(sum, a)| *sum += a);
                }
            }
            Op::Relu(argument) => {
                for (j, a) in row.iter().enumerate() {
                    let bounds = scope.interval(*argument, j).unwrap();
                    let (l, u) = (bounds.lower.to_rational(), bounds.upper.to_rational());
                    let (below, above) = relu_lines(&l, &u, lower.get(&(id, j)));
                    let (slope, intercept) = if a.is_negative() { above } else { below };
                    d += a * intercept;
                    rows[*argument][j] += a * slope;
                }
            }
        }
    }
    d
}
