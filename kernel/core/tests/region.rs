//! Regions that are no boxes: balls and linear constraints. Expected values are computed by hand.

mod support;

use certkern_core::num::Rational;
use certkern_core::property::{Norm, NormBall, Property, Row, Variable, Within, disjunct};
use certkern_core::rules::{
    Attempt, Filter, FilterScope, Judgement, Multipliers, Problem, RuleError, Scope, Slopes, Standing,
};
use std::sync::Arc;
use support::{Map, Net, Op, RELU, Random, d, dense, power, q};

/// `y = W·x` over two inputs, or three.
fn linear(weights: &[i64]) -> Net {
    let ops = vec![Op::Input(weights.len()), Op::Affine(vec![(0, dense(1, weights.len(), weights, 1))], None)];
    Net { ops, outputs: vec![1] }
}

fn ball(norm: Norm, center: &[i64], radius: Rational) -> Within {
    let center = center.iter().map(|c| q(*c, 1)).collect();
    Within { ball: Some(NormBall { norm, center, radius }), rows: Vec::new() }
}

fn constraint(row: &[i64], rhs: Rational) -> Row {
    let terms = row.iter().enumerate().filter(|(_, c)| **c != 0).map(|(i, c)| (Variable::X(i), q(*c, 1)));
    Row { terms: terms.collect(), bound: rhs, strict: false }
}

/// Whether the kernel shows that `y < bound` on the box `[−10, 10]ⁿ` within: the unsafe set is `y ≥ bound`, or `y > bound` if `open`.
fn problem(net: &Net, within: Within, bound: Rational, open: bool) -> Result<Arc<Problem>, RuleError> {
    let width = net.width(0);
    let unsafe_row = Row { terms: vec![(Variable::Y(0), q(-1, 1))], bound: -bound, strict: open };
    let ends = |end| vec![q(end, 1); width];
    let property = Property { lower: ends(-10), upper: ends(10), outputs: 1, disjuncts: vec![disjunct([unsafe_row])] };
    Problem::within(net.build(), property, within).map(Arc::new)
}

fn rows(rows: &[(usize, i64)]) -> Multipliers {
    Multipliers { rows: rows.iter().map(|(at, beta)| (*at, d(*beta, 0))).collect(), literals: Vec::new() }
}

fn below(net: &Net, within: Within, bound: Rational, open: bool) -> bool {
    let problem = problem(net, within, bound, open).unwrap();
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    match scope.refute(&rows(&[(0, 1)]), &Slopes::default()) {
        Ok(_) => true,
        Err(RuleError::Unproved(_)) => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn the_greatest_value_on_a_ball_is_the_dual_norm() {
    let net = linear(&[3, 4]);
    for (norm, size) in [(Norm::Two, 5), (Norm::One, 4)] {
        for (center, radius) in [([0, 0], q(1, 1)), ([1, -2], q(1, 3)), ([0, 0], q(0, 1)), ([-1, 1], q(7, 5))] {
            let most = q(3 * center[0] + 4 * center[1], 1) + q(size, 1) * &radius;
            let within = || ball(norm, &center, radius.clone());
            // Attained: not above it, but not below it either; inward by 2^-200 it is refused.
            assert!(below(&net, within(), most.clone(), true), "{norm:?} {center:?}");
            assert!(!below(&net, within(), most.clone(), false), "{norm:?} {center:?}");
            assert!(!below(&net, within(), most - d(1, -200).to_rational(), true), "{norm:?} {center:?}");
        }
    }
    // On its box 3 + 4 = 7 is attained: the bound of the ball is false there.
    assert!(!below(&net, Within::default(), q(5, 1), true));
}

#[test]
fn a_root_that_is_no_dyadic_is_not_below_the_true_one() {
    // ‖(1, 1)‖ = √2 = 1.41421356237309504880168872420969807856967187537694…, by hand from the digits of √2.
    let net = linear(&[1, 1]);
    let digits = |text: &str| {
        let scale = num_bigint::BigInt::from(10).pow(u32::try_from(text.len()).unwrap() - 1);
        Rational::new(text.parse().unwrap(), scale)
    };
    let within = || ball(Norm::Two, &[0, 0], q(1, 1));
    // Cut off so far down that a root of 128 bits, rounded down, would be below it.
    let cut = digits("1414213562373095048801688724209698078569671875376948073176679");
    assert!(!below(&net, within(), cut, true), "cut off");
    assert!(below(&net, within(), digits("1414213562373095048801688724210"), true), "rounded up");
}

#[test]
fn squares_far_below_the_doubles_count() {
    // y = 2⁻⁶⁰⁰·(x₀ + x₁ + x₂ + x₃) on the unit ball is at most 2⁻⁶⁰⁰·2; the squares are 2⁻¹²⁰⁰.
    let (sum, scale) = (dense(1, 4, &[1, 1, 1, 1], 1), Map::Diagonal(vec![power(-600)]));
    let ops = vec![Op::Input(4), Op::Affine(vec![(0, sum)], None), Op::Affine(vec![(1, scale)], None)];
    let net = Net { ops, outputs: vec![2] };
    let most = d(1, -599).to_rational();
    let within = || ball(Norm::Two, &[0, 0, 0, 0], q(1, 1));
    assert!(below(&net, within(), most.clone(), true));
    assert!(!below(&net, within(), &most - d(1, -700).to_rational(), true));
    assert!(!below(&net, within(), q(0, 1), true), "a sum that underflowed to zero");
}

#[test]
fn the_better_of_ball_and_box_counts() {
    // A large ball says nothing inside the box [−10, 10]²: y = x₀ + x₁ ≤ 20.
    let net = linear(&[1, 1]);
    assert!(below(&net, ball(Norm::Two, &[0, 0], q(1000, 1)), q(20, 1), true));
    assert!(!below(&net, ball(Norm::Two, &[0, 0], q(1000, 1)), q(39, 2), true));
}

#[test]
fn splits_of_inputs_keep_the_ball() {
    // Where x₀ ≥ 0 in the unit disk, x₀ + x₁ ≤ √2 < 3/2 still; on the half of its box it would be 20.
    let problem = problem(&linear(&[1, 1]), ball(Norm::Two, &[0, 0], q(1, 1)), q(3, 2), true).unwrap();
    let root = Scope::root(&problem, Some(0), 3).unwrap();
    let (up, down) = root.split(0, 0, &q(0, 1)).unwrap();
    let close = |scope: &Scope| scope.refute(&rows(&[(0, 1)]), &Slopes::default()).unwrap();
    let whole = Judgement::split(close(&up), close(&down)).unwrap();
    assert!(Judgement::cases(&problem, &[whole]).is_ok());
}

#[test]
fn bounds_of_nodes_see_the_ball() {
    // z = x₀ + x₁ − 3/2 < 0 on the unit disk, so relu(z) is 0: by intervals z ≤ 18.5.
    let bias = Some(vec![q(-3, 2)]);
    let ops = vec![Op::Input(2), Op::Affine(vec![(0, dense(1, 2, &[1, 1], 1))], bias), Op::Relu(1)];
    let net = Net { ops, outputs: vec![2] };
    let problem = problem(&net, ball(Norm::Two, &[0, 0], q(1, 1)), q(0, 1), true).unwrap();
    let mut scope = Scope::root(&problem, Some(0), 3).unwrap();
    assert!(scope.exclude().is_err());
    scope.tighten_unstable(1, &RELU).unwrap();
    assert!(scope.interval(1, 0).unwrap().upper.is_negative());
    scope.interval_bounds().unwrap();
    assert!(scope.exclude().is_ok(), "the value is 0 and `y > 0` fails");
}

#[test]
fn bounds_alone_decide_one_row_over_one_value() {
    // y = relu(x₀) ≥ 0 by intervals: `y < 0` fails, `y ≤ 0` may hold.
    let ops = vec![Op::Input(1), Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None), Op::Relu(1)];
    let net = Net { ops, outputs: vec![2] };
    let row = |strict| Row { terms: vec![(Variable::Y(0), q(2, 1))], bound: q(0, 1), strict };
    let scope = |rows: Vec<Row>| {
        let (lower, upper) = (vec![q(-10, 1)], vec![q(10, 1)]);
        let property = Property { lower, upper, outputs: 1, disjuncts: vec![disjunct(rows)] };
        Scope::root(&Arc::new(Problem::new(net.build(), property).unwrap()), Some(0), 3).unwrap()
    };
    assert!(scope(vec![row(true)]).exclude().is_ok());
    assert_eq!(scope(vec![row(false)]).exclude().unwrap_err(), RuleError::Unproved(q(0, 1)));
    // Two rows, one over two values, and none: for BACK.
    let two = Row { terms: vec![(Variable::X(0), q(1, 1)), (Variable::Y(0), q(1, 1))], ..row(true) };
    for rows in [vec![row(true), row(true)], vec![two], vec![]] {
        assert!(matches!(scope(rows).exclude(), Err(RuleError::NoSuch(_))));
    }
    let whole = Scope::root(scope(vec![row(true)]).problem(), None, 3).unwrap();
    assert!(matches!(whole.exclude(), Err(RuleError::NoSuch(_))), "no disjunct");
}

#[test]
fn a_constraint_counts_with_a_multiplier_and_not_without() {
    // y = x₀ + x₁ where x₀ + x₁ ≤ 1 and x₀ − x₁ ≤ 0: y ≤ 1 is attained.
    let net = linear(&[1, 1]);
    let within = Within { ball: None, rows: vec![constraint(&[1, 1], q(1, 1)), constraint(&[1, -1], q(0, 1))] };
    let of = |bound| problem(&net, within.clone(), bound, true).unwrap();
    let tried = |bound: Rational, multipliers: &Multipliers| {
        let problem = of(bound);
        let exact = Scope::root(&problem, Some(0), 3).unwrap().refute(multipliers, &Slopes::default());
        if let Some(filter) = Filter::new(&problem, &[]) {
            let scope = FilterScope::root(&filter, Some(0)).unwrap();
            let attempt = Attempt { scope: &scope, multipliers, slopes: &[] };
            // What the filter shows, the exact tier shows.
            assert!(FilterScope::refute(&[attempt])[0].is_none() || exact.is_ok());
        }
        exact
    };
    assert!(tried(q(1, 1), &rows(&[(0, 1), (1, 1)])).is_ok());
    assert!(tried(q(9, 8), &rows(&[(0, 1), (1, 1)])).is_ok());
    assert!(matches!(tried(q(1, 1), &rows(&[(0, 1)])), Err(RuleError::Unproved(_))));
    assert!(matches!(tried(q(1, 1), &rows(&[(0, 1), (2, 1)])), Err(RuleError::Unproved(_))));
    assert!(matches!(tried(q(7, 8), &rows(&[(0, 1), (1, 1)])), Err(RuleError::Unproved(_))));
    assert!(matches!(tried(q(1, 1), &rows(&[(0, 1), (3, 1)])), Err(RuleError::NoSuch(_))));
    assert!(matches!(tried(q(1, 1), &rows(&[(0, 1), (1, -1)])), Err(RuleError::NegativeMultiplier)));
}

#[test]
fn constraints_that_exclude_each_other_leave_nothing_to_show() {
    let within = Within { ball: None, rows: vec![constraint(&[1, 0], q(-1, 1)), constraint(&[-1, 0], q(0, 1))] };
    let problem = problem(&linear(&[1, 1]), within, q(-100, 1), true).unwrap();
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    // x₀ ≤ −1 and x₀ ≥ 0: their sum is 0 ≤ −1.
    assert!(scope.refute(&rows(&[(1, 1), (2, 1)]), &Slopes::default()).is_ok());
}

#[test]
fn a_ball_beside_its_box_leaves_nothing_to_show() {
    // The box is [−10, 10]², the ball lies around (30, 0): what the bounds of x₀ say crosses, which is no fault here.
    let net = linear(&[1, 0]);
    let problem = problem(&net, ball(Norm::Two, &[30, 0], q(1, 1)), q(0, 1), true).unwrap();
    let mut scope = Scope::root(&problem, Some(0), 3).unwrap();
    scope.tighten(1, 0, &Slopes::default(), &Slopes::default()).unwrap();
    assert!(scope.is_empty());
}

#[test]
fn regions_that_fit_nothing_are_refused() {
    let net = linear(&[1, 1]);
    let refused = |within: Within| matches!(problem(&net, within, q(0, 1), true), Err(RuleError::Mismatch(_)));
    assert!(refused(ball(Norm::Two, &[0], q(1, 1))), "one coordinate");
    assert!(refused(ball(Norm::One, &[0, 0, 0], q(1, 1))), "three coordinates");
    assert!(refused(ball(Norm::One, &[0, 0], q(-1, 7))), "a radius below zero");
    let with = |row: Row| Within { ball: None, rows: vec![row] };
    assert!(refused(with(constraint(&[0, 0, 1], q(0, 1)))), "a third input");
    assert!(refused(with(Row { strict: true, ..constraint(&[1, 0], q(0, 1)) })), "an open row");
    assert!(refused(with(Row { terms: vec![(Variable::Y(0), q(1, 1))], ..constraint(&[1, 0], q(0, 1)) })), "an output");
    assert!(refused(with(Row { terms: vec![(Variable::X(0), q(0, 1))], ..constraint(&[1, 0], q(0, 1)) })), "zero");
}

#[test]
fn witnesses_are_looked_for_in_boxes() {
    // (10, 10) lies in the box and y = 20 there, but not in the ball.
    let problem = problem(&linear(&[1, 1]), ball(Norm::Two, &[0, 0], q(1, 1)), q(2, 1), true).unwrap();
    let point = [q(10, 1), q(10, 1)];
    let standing: Standing = problem.standing(&point).unwrap();
    assert!(standing.disjunct().is_some());
    assert!(matches!(Judgement::witness(&problem, &point), Err(RuleError::Mismatch(_))));
}

/// Random networks on random balls: what is shown holds at points of the ball, its axes and its surface among them.
#[test]
fn what_is_shown_holds_at_points_of_the_ball() {
    let mut random = Random::new(29);
    let (mut shown, mut points) = (0, 0);
    for _ in 0..300 {
        let weights: Vec<i64> = (0..3).map(|_| random.between(-4, 4)).collect();
        let ops = vec![
            Op::Input(2),
            Op::Affine(vec![(0, dense(3, 2, &(0..6).map(|_| random.between(-3, 3)).collect::<Vec<_>>(), 2))], None),
            Op::Relu(1),
            Op::Affine(vec![(2, dense(1, 3, &weights, 1))], None),
        ];
        let net = Net { ops, outputs: vec![3] };
        let norm = if random.chance(50) { Norm::Two } else { Norm::One };
        let (center, radius) = ([random.between(-2, 2), random.between(-2, 2)], q(random.between(0, 9), 4));
        let within = ball(norm, &center, radius.clone());
        // The least bound that the kernel shows, to one.
        let Some(bound) = (-50..50).map(|n| q(n, 1)).find(|bound| below(&net, within.clone(), bound.clone(), true))
        else {
            continue;
        };
        shown += 1;
        // (3/5, 4/5), (5/13, 12/13) and the axes have length 1.
        for (a, b, c) in [(3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (1, 0, 1), (0, 1, 1)] {
            for (sa, sb) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
                let scale = match norm {
                    Norm::Two => q(1, c),
                    Norm::One => q(1, a + b),
                };
                let direction = [q(sa * a, 1) * &scale, q(sb * b, 1) * &scale];
                let x: Vec<Rational> =
                    center.iter().zip(&direction).map(|(c, step)| q(*c, 1) + step * &radius).collect();
                let value = net.output(&net.values(&x));
                assert!(value[0] <= bound, "{x:?}");
                points += 1;
            }
        }
    }
    assert!(shown > 200 && points > 4000, "{shown} {points}");
}
