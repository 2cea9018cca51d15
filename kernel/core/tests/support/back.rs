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

/// `value` rounded down to a multiple of `2^unit`.
fn down_to(value: &Rational, unit: i64) -> Rational {
    (value * power(-unit)).floor() * power(unit)
}

/// Bounds.
type Ends = (Rational, Rational);

/// The unit of slopes of which the largest are ends of `bounds`: 52 bits below the first power of two above them all.
fn slope_unit(bounds: &[Ends]) -> i64 {
    let most = bounds.iter().flat_map(|(l, u)| [l.abs(), u.abs()]).max().unwrap_or_default();
    if most.is_zero() { -52 } else { (-1100..1100).find(|e| most < power(*e)).unwrap() - 52 }
}

/// Slopes at the two factors and a constant.
type Plane = (Rational, Rational, Rational);

/// The lower and the upper plane of product `j`: `(l_q, l_p)` and `(u_q, l_p)`, of a square the tangent in the middle and the chord; slopes are rounded down, constants
/// are extremes over the corners, of a square over the ends and the vertex.
pub(crate) fn product_planes(p: &[Ends], q: &[Ends], j: usize, square: bool) -> (Plane, Plane) {
    let ((pl, pu), (ql, qu)) = (&p[j], &q[j]);
    let middle = (pl + pu) / super::q(2, 1);
    let (low, high) = if square {
        ((middle.clone(), middle), (pl.clone(), pu.clone()))
    } else {
        ((ql.clone(), pl.clone()), (qu.clone(), pl.clone()))
    };
    let round = |(s, t): (Rational, Rational)| (down_to(&s, slope_unit(q)), down_to(&t, slope_unit(p)));
    let rest = |s: &Rational, t: &Rational, x: &Rational, y: &Rational| x * y - s * x - t * y;
    let ((ls, lt), (us, ut)) = (round(low), round(high));
    let corners = |s: &Rational, t: &Rational| -> Vec<Rational> {
        match square {
            true => vec![rest(s, t, pl, pl), rest(s, t, pu, pu)],
            false => [(pl, ql), (pl, qu), (pu, ql), (pu, qu)].map(|(x, y)| rest(s, t, x, y)).to_vec(),
        }
    };
    let least = match square {
        true => -(&ls + &lt) * (&ls + &lt) / super::q(4, 1),
        false => corners(&ls, &lt).into_iter().min().unwrap(),
    };
    let most = corners(&us, &ut).into_iter().max().unwrap();
    ((ls, lt, least), (us, ut, most))
}

/// The member, slope and constant of the lower and of the upper plane of a maximum.
pub(crate) fn max_planes(bounds: &[Ends], group: &[usize]) -> ((usize, Line), (usize, Line)) {
    let (one, zero) = (q(1, 1), Rational::zero());
    // Of equal ones the first.
    let first = |better: &dyn Fn(&Ends, &Ends) -> bool| {
        group.iter().copied().reduce(|a, b| if better(&bounds[b], &bounds[a]) { b } else { a }).unwrap()
    };
    let low = first(&|b, a| b.0 > a.0);
    let high = first(&|b, a| b.1 > a.1);
    let beside = |member: usize| {
        let at = group.iter().position(|m| *m == member).unwrap();
        let others = group.iter().enumerate().filter(|(place, _)| *place != at);
        others.map(|(_, m)| bounds[*m].1.clone()).max()
    };
    if beside(low).is_none_or(|others| bounds[low].0 >= others) {
        return ((low, (one.clone(), zero.clone())), (low, (one, zero)));
    }
    let (second, (l, u)) = (beside(high).unwrap(), &bounds[high]);
    let slope = if u > l { down_to(&((u - &second) / (u - l)), -40) } else { Rational::zero() };
    let constant = (&second - &slope * l).max(u - &slope * u);
    ((low, (one, zero)), (high, (slope, constant)))
}

/// `rowᵀ L` from `L` on the basis.
fn adjoint(map: &Map, row: &[Rational]) -> Vec<Rational> {
    let column = |j: usize| {
        let basis: Vec<Rational> = (0..map.input_width()).map(|i| q(i64::from(i == j), 1)).collect();
        map.apply(&basis).iter().zip(row).map(|(a, b)| a * b).sum()
    };
    (0..map.input_width()).map(column).collect()
}

/// The bounds of a node that `scope` holds.
fn ends(net: &Net, scope: &Scope, node: NodeId) -> Vec<Ends> {
    let end = |j| scope.interval(node, j).map(|z| (z.lower.to_rational(), z.upper.to_rational())).unwrap();
    (0..net.width(node)).map(end).collect()
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
            Op::Product(left, right) => {
                let (p, q) = (ends(net, scope, *left), ends(net, scope, *right));
                for (j, a) in row.iter().enumerate() {
                    let (low, high) = product_planes(&p, &q, j, left == right);
                    let (s, t, constant) = if a.is_negative() { high } else { low };
                    d += a * constant;
                    rows[*left][j] += a * s;
                    rows[*right][j] += a * t;
                }
            }
            Op::Max(argument, groups) => {
                let bounds = ends(net, scope, *argument);
                for (group, a) in groups.iter().zip(&row) {
                    let (low, high) = max_planes(&bounds, group);
                    let (member, (slope, constant)) = if a.is_negative() { high } else { low };
                    d += a * constant;
                    rows[*argument][member] += a * slope;
                }
            }
        }
    }
    d
}
