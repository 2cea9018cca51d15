//! Lines of the functions of the library, by UNIVARIATE: they hold at many points and touch, and the traps of that rule stay shut.

use super::planes::unsettled;
use super::univariate::{lower_intercept, upper_intercept};
use crate::func::{Curvature, Elementary, Function, Piece, Univariate};
use crate::interval::Interval;
use crate::num::{Ball, Dyadic, Rational};
use crate::program::{Groups, Primitive};

const BITS: u64 = 100;

/// A function of the library on an interval of its domain.
struct Over {
    function: Elementary,
    pieces: Vec<Piece>,
}

impl Over {
    fn new(function: &Elementary, z: &Interval) -> Self {
        Self { function: function.clone(), pieces: function.pieces(z, BITS).unwrap() }
    }
}

impl Univariate for Over {
    fn value(&self, z: &Ball) -> Option<Ball> {
        self.function.value(z, BITS).ok()
    }

    fn derivative(&self, z: &Ball, place: usize, piece: &Piece) -> Option<Ball> {
        let z = Interval { lower: z.lower(), upper: z.upper() };
        let image = self.function.derivative(&z, place, piece, BITS).ok()?;
        Ball::between(&image.lower, &image.upper)
    }

    fn pieces(&self, _: &Interval) -> Option<Vec<Piece>> {
        Some(self.pieces.clone())
    }
}

fn d(m: i64, e: i64) -> Dyadic {
    Dyadic::new(m, e)
}

fn named(name: &str, parameters: &[(i64, i64)]) -> Elementary {
    let parameters = parameters.iter().map(|(p, q)| Rational::new((*p).into(), (*q).into())).collect();
    Elementary::new(name, parameters).unwrap()
}

/// Points of an interval, ends included.
fn points(z: &Interval) -> Vec<Dyadic> {
    (0..=128).map(|step| &z.lower + &(&(&z.upper - &z.lower) * &d(step, -7))).collect()
}

/// The least that `f − line` surely exceeds, and the least that it surely does not, over the points.
fn gap(function: &Elementary, slope: &Dyadic, intercept: &Dyadic, z: &Interval) -> (Dyadic, Dyadic) {
    let gaps = points(z).into_iter().map(|x| {
        let (value, line) = (function.at(&x, BITS).unwrap(), &(slope * &x) + intercept);
        (&value.lower() - &line, &value.upper() - &line)
    });
    gaps.reduce(|(a, b), (c, d)| (a.min(c), b.min(d))).unwrap()
}

#[test]
fn lines_hold_and_touch() {
    let shorter = [(-4, 4), (-20, -3), (-2, 9), (0, 5), (-1, 0), (-9, -1)];
    let cases: [(Elementary, &[(i64, i64)]); 26] = [
        (named("exp", &[]), &shorter),
        (named("log", &[]), &[(1, 9), (3, 30)]),
        (named("sin", &[]), &[(-4, 4), (-20, -3), (0, 3), (100, 137), (5, 6)]),
        (named("cos", &[]), &[(-4, 4), (-20, -3), (0, 3), (100, 137), (5, 6)]),
        (named("tan", &[]), &[(-6, 6), (0, 6), (-5, 1)]),
        (named("atan", &[]), &shorter),
        (named("asin", &[]), &[(-3, 3), (1, 3), (-3, -2)]),
        (named("acos", &[]), &[(-3, 3), (1, 3), (-3, -2)]),
        (named("tanh", &[]), &shorter),
        (named("sigmoid", &[]), &shorter),
        (named("softplus", &[]), &shorter),
        (named("erf", &[]), &shorter),
        (named("erfc", &[]), &shorter),
        (named("gelu", &[]), &shorter),
        (named("gelu_tanh", &[]), &shorter),
        (named("silu", &[]), &shorter),
        (named("mish", &[]), &shorter),
        (named("softsign", &[]), &shorter),
        (named("elu", &[(3, 2)]), &shorter),
        (named("elu", &[(-1, 2)]), &shorter),
        (named("selu", &[(1673, 1000), (1051, 1000)]), &shorter),
        (named("hard_sigmoid", &[(1, 6), (1, 2)]), &shorter),
        (named("hard_swish", &[]), &shorter),
        (named("clip", &[(-1, 3), (2, 3)]), &shorter),
        (named("power", &[(3, 1)]), &shorter),
        (named("power", &[(3, 2)]), &[(1, 9), (3, 30)]),
    ];
    for (function, intervals) in cases {
        // In quarters.
        for (lower, upper) in intervals {
            let z = Interval { lower: d(*lower, -2), upper: d(*upper, -2) };
            let over = Over::new(&function, &z);
            for slope in -6..=6 {
                let (name, slope) = (function.name(), d(slope, -2));
                let below = lower_intercept(&over, &over.pieces, &slope, &z).unwrap();
                let above = upper_intercept(&over, &over.pieces, &slope, &z).unwrap();
                let (sure, possible) = gap(&function, &slope, &below, &z);
                // Rounding makes the enclosure of a value that touches cross by a little.
                assert!(possible >= Dyadic::zero() && sure >= d(-1, -80), "{name} [{lower}, {upper}]/4 {slope:?}");
                // Between grid points the optimum is lower by at most f″h²/8.
                assert!(sure <= d(1, -5), "{name} [{lower}, {upper}]/4 {slope:?}: {sure:?}");
                let turned = |x: &Dyadic| {
                    let (value, line) = (function.at(x, BITS).unwrap(), &(&slope * x) + &above);
                    (&line - &value.upper(), &line - &value.lower())
                };
                let (sure, possible) =
                    points(&z).iter().map(turned).reduce(|(a, b), (c, d)| (a.min(c), b.min(d))).unwrap();
                assert!(possible >= Dyadic::zero() && sure >= d(-1, -80), "{name} [{lower}, {upper}]/4 {slope:?}");
                assert!(sure <= d(1, -5), "{name} [{lower}, {upper}]/4 {slope:?}: {sure:?}");
            }
        }
    }
}

/// Pieces as if `cos` were cut at multiples of π: on each it is neither convex nor concave.
#[test]
fn cos_cut_at_multiples_of_pi_would_accept_a_false_line() {
    let cos = named("cos", &[]);
    let z = Interval { lower: Dyadic::zero(), upper: d(25, -3) };
    let mut over = Over::new(&cos, &z);
    let slope = d(-41, -6);
    let good = lower_intercept(&over, &over.pieces, &slope, &z).unwrap();
    assert!(gap(&cos, &slope, &good, &z).1 >= Dyadic::zero());
    over.pieces = named("sin", &[]).pieces(&z, BITS).unwrap();
    assert!(over.pieces.iter().any(|piece| piece.curvature == Curvature::Concave));
    let bad = lower_intercept(&over, &over.pieces, &slope, &z).unwrap();
    // 0.17 too high, and more.
    assert!(gap(&cos, &slope, &bad, &z).1 < d(-11, -6));
}

/// The tangent of `tanh` at 1, where it is concave, is no lower line on `[−1, 1]`; the tangent at −1 is one up to −1/2 at least.
#[test]
fn a_tangent_point_outside_its_piece_would_be_false() {
    let tanh = named("tanh", &[]);
    let z = Interval { lower: d(-1, 0), upper: d(1, 0) };
    let over = Over::new(&tanh, &z);
    let slope = over.derivative(&Ball::exact(d(1, 0)), 1, &over.pieces[1]).unwrap().midpoint().round_down(40);
    let tangent = &tanh.at(&d(1, 0), BITS).unwrap().lower() - &slope;
    let kept = lower_intercept(&over, &over.pieces, &slope, &z).unwrap();
    // tanh 1 = 0.7616, its slope there 0.42: at −1 the line would be at −0.078, far above −0.7616.
    assert!(gap(&tanh, &slope, &tangent, &z).1 < d(-1, -1));
    assert!(gap(&tanh, &slope, &kept, &z).1 >= Dyadic::zero() && kept < tangent);
}

/// A line with the slope that SELU has right of its kink, 1.05, is a tangent there, and a tangent left of it would have slope 1.76: across the
/// kink neither decides for the other side.
#[test]
fn a_tangent_across_the_kink_of_selu_would_be_false() {
    let selu = named("selu", &[(1_673_263, 1_000_000), (1_050_701, 1_000_000)]);
    let z = Interval { lower: d(-1, 0), upper: d(1, 0) };
    let over = Over::new(&selu, &z);
    let left = over.derivative(&Ball::exact(Dyadic::zero()), 0, &over.pieces[0]).unwrap().lower();
    let right = over.derivative(&Ball::exact(Dyadic::zero()), 1, &over.pieces[1]).unwrap().upper();
    assert!(left > d(7, -2) && right < d(17, -4));
    // The tangent from the left at 0 lies above SELU on the right.
    assert!(gap(&selu, &left, &Dyadic::zero(), &z).1 < d(-1, -1));
    let kept = lower_intercept(&over, &over.pieces, &left, &z).unwrap();
    assert!(gap(&selu, &left, &kept, &z).1 >= Dyadic::zero());
    // Its highest point over the line is the kink: 0 exactly.
    assert_eq!(upper_intercept(&over, &over.pieces, &d(3, -1), &z).map(|i| i >= Dyadic::zero()), Some(true));
}

/// Coordinates whose bounds matter, by hand.
#[test]
fn settled_coordinates_are_those_that_no_plane_leans_on() {
    let open = |consumer: &Primitive, ends: &[(i64, i64)]| {
        let known = |coordinate: usize| ends.get(coordinate).copied();
        unsettled(consumer, ends.len(), known, |_, lower, upper| lower < 0 && upper > 0)
    };
    let product = Primitive::Product { left: 0, right: 1 };
    assert_eq!(open(&product, &[(1, 1), (1, 2), (0, 0), (-1, 0)]), Some(vec![1, 3]));
    let relu = Primitive::Univariate { function: Function::Relu, argument: 0 };
    assert_eq!(open(&relu, &[(-1, 1), (0, 1), (-1, 0), (-3, 2)]), Some(vec![0, 3]));
    let max = |groups: &[&[usize]]| Primitive::Max {
        argument: 0,
        groups: Groups::new(groups.iter().map(|group| group.iter().copied())),
    };
    // Member 1 is the least sure to be large: it reaches 4 at least, and members that reach more may be the maximum.
    let ends = [(0, 1), (4, 6), (3, 5), (0, 4), (7, 8)];
    assert_eq!(open(&max(&[&[0, 1, 2, 3]]), &ends), Some(vec![1, 2]));
    // Twice the same group: open once and open twice are the same.
    assert_eq!(open(&max(&[&[0, 1, 2], &[2, 1, 3]]), &ends), Some(vec![1, 2]));
    // 4 is the maximum everywhere, whoever is beside it; a group that is settled opens nothing, and closes nothing.
    assert_eq!(open(&max(&[&[0, 1, 2, 4]]), &ends), Some(vec![]));
    assert_eq!(open(&max(&[&[1, 2], &[1, 4]]), &ends), Some(vec![1, 2]));
    assert_eq!(open(&max(&[&[0, 5]]), &ends), None);
}
