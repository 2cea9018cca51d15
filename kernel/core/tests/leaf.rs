//! The value that a refutation reaches: worked by hand, and against plain rational arithmetic; with rows of few digits it only falls.

mod support;

use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{Node, Primitive, Program};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{Multipliers, Problem, RuleError, Scope, Slopes};
use num_traits::{Signed, Zero};
use std::sync::Arc;
use support::back::{Lower, dual};
use support::case::{Case, case};
use support::{Map, Net, Op, Random, d, dense, power, q};

fn row(terms: &[(Variable, i64)], bound: Rational, strict: bool) -> Row {
    Row { terms: terms.iter().map(|(v, c)| (*v, q(*c, 1))).collect(), bound, strict }
}

fn problem(net: &Net, ends: &[(i64, i64)], disjuncts: Vec<Vec<Row>>) -> Arc<Problem> {
    let (lower, upper) = ends.iter().map(|(l, u)| (q(*l, 1), q(*u, 1))).unzip();
    let outputs = net.outputs.iter().map(|id| net.width(*id)).sum();
    let disjuncts = disjuncts.into_iter().map(disjunct).collect();
    Arc::new(Problem::new(net.build(), Property { lower, upper, outputs, disjuncts }).unwrap())
}

/// `y = relu(x₁ + x₂) + relu(x₁ − x₂)` on `[−1, 1]²`. Both pre-activations lie in `[−2, 2]`: the upper lines are `z/2 + 1`.
fn diamond() -> Net {
    let ops = vec![
        Op::Input(2),
        Op::Affine(vec![(0, dense(2, 2, &[1, 1, 1, -1], 1))], None),
        Op::Relu(1),
        Op::Affine(vec![(2, dense(1, 2, &[1, 1], 1))], None),
    ];
    Net { ops, outputs: vec![3] }
}

/// `sin x + cos x` on `[0, 1]` is below 3: two functions take one argument, and each has lines of its own.
#[test]
fn two_functions_of_one_argument_have_lines_each() {
    let node = |width, primitive| Node { width, primitive };
    let function = |name| Primitive::Univariate { function: Function::library(name, Vec::new()).unwrap(), argument: 0 };
    let terms = [1, 2].map(|parent| Term { parent, map: LinearMap::identity(1) }).into();
    let sum = Primitive::Affine(Affine::new(1, terms, None).unwrap());
    let nodes = vec![node(1, Primitive::Input), node(1, function("sin")), node(1, function("cos")), node(1, sum)];
    let program = Program::new(nodes, vec![3]).unwrap();
    // Unsafe: sin x + cos x ≥ 3, written as −y ≤ −3; and ≥ 1, which is reached.
    let at_least = |bound: i64| disjunct([row(&[(Variable::Y(0), -1)], q(-bound, 1), false)]);
    let disjuncts = vec![at_least(3), at_least(1)];
    let property = Property { lower: vec![q(0, 1)], upper: vec![q(1, 1)], outputs: 1, disjuncts };
    let problem = Arc::new(Problem::new(program, property).unwrap());
    let root = Scope::root(&problem, None, 4).unwrap();
    let refute = |disjunct| root.for_disjunct(disjunct).unwrap().refute(&one_row(), &Slopes::default());
    assert!(refute(0).is_ok());
    assert!(matches!(refute(1), Err(RuleError::Unproved(_))), "{:?}", refute(1));
}

fn one_row() -> Multipliers {
    Multipliers { rows: vec![(0, d(1, 0))], literals: vec![] }
}

fn slope(first: Dyadic, second: Dyadic) -> Slopes {
    let mut slopes = Slopes::default();
    slopes.set(2, vec![(0, first), (1, second)]);
    slopes
}

fn reached(scope: &Scope, multipliers: &Multipliers, slopes: &Slopes) -> Rational {
    match scope.refute(multipliers, slopes) {
        Err(RuleError::Unproved(bound)) => bound,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lower_bound_worked_by_hand() {
    // y ≤ −1/8 is unsafe. y ≥ α₁(x₁ + x₂) + α₂(x₁ − x₂) ≥ −|α₁ + α₂| − |α₁ − α₂|.
    let problem = problem(&diamond(), &[(-1, 1), (-1, 1)], vec![vec![row(&[(Variable::Y(0), 1)], q(-1, 8), false)]]);
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    for (first, second, bound) in
        [((1, -2), (1, -2), q(-1, 2)), ((1, 0), (1, 0), q(-2, 1)), ((3, -2), (1, -3), q(-3, 2))]
    {
        let slopes = slope(d(first.0, first.1), d(second.0, second.1));
        assert_eq!(reached(&scope, &one_row(), &slopes), bound + q(1, 8));
    }
    // With both slopes 0: y ≥ 0, and 0 + 1/8 > 0 proves it.
    assert!(scope.refute(&one_row(), &slope(d(0, 0), d(0, 0))).is_ok());
    // The default where u = −l is 0 as well.
    assert!(scope.refute(&one_row(), &Slopes::default()).is_ok());
    // Multipliers scale the sum: 3·(−1/2 + 1/8).
    let three = Multipliers { rows: vec![(0, d(1, 0)), (0, d(1, 1))], literals: vec![] };
    assert_eq!(reached(&scope, &three, &slope(d(1, -2), d(1, -2))), q(-9, 8));
}

#[test]
fn an_upper_bound_worked_by_hand_and_the_edge_at_zero() {
    // −y ≥ −(z₁/2 + 1) − (z₂/2 + 1) = −x₁ − 2 ≥ −3, whatever the lower slopes; so y ≥ t is refuted above t = 3, and at 3 only where it is open.
    let unsafe_at = |t: Rational, strict| {
        let rows = vec![row(&[(Variable::Y(0), -1)], -t, strict)];
        let problem = problem(&diamond(), &[(-1, 1), (-1, 1)], vec![rows]);
        Scope::root(&problem, Some(0), 3).unwrap()
    };
    assert_eq!(reached(&unsafe_at(q(5, 2), false), &one_row(), &slope(d(1, 0), d(1, -1))), q(-1, 2));
    assert!(unsafe_at(q(5, 1), false).refute(&one_row(), &Slopes::default()).is_ok());
    // EMPTY at exactly 0: an open row is refuted, a closed one is not.
    assert_eq!(reached(&unsafe_at(q(3, 1), false), &one_row(), &Slopes::default()), q(0, 1));
    assert!(unsafe_at(q(3, 1), true).refute(&one_row(), &Slopes::default()).is_ok());
    // An open row with multiplier zero takes no part.
    let nothing = Multipliers { rows: vec![(0, d(0, 0))], literals: vec![] };
    assert_eq!(reached(&unsafe_at(q(3, 1), true), &nothing, &Slopes::default()), q(0, 1));
    assert_eq!(reached(&unsafe_at(q(3, 1), true), &Multipliers::default(), &Slopes::default()), q(0, 1));
    let tiny = unsafe_at(q(3, 1) - power(-100), true);
    assert_eq!(reached(&tiny, &one_row(), &Slopes::default()), -power(-100));
}

#[test]
fn a_literal_worked_by_hand() {
    // Below z₁ ≥ 0 relu(z₁) = z₁, and β takes the literal: y ≥ (1 − β)(x₁ + x₂) + α(x₁ − x₂) ≥ −|1 − β + α| − |1 − β − α|.
    let problem = problem(&diamond(), &[(-1, 1), (-1, 1)], vec![vec![row(&[(Variable::Y(0), 1)], q(-1, 8), false)]]);
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    let (at_least, at_most) = scope.split(1, 0, &q(0, 1)).unwrap();
    let hints = |beta| Multipliers { rows: vec![(0, d(1, 0))], literals: vec![(0, beta)] };
    let slopes = slope(d(0, 0), d(1, -2));
    assert_eq!(reached(&at_least, &hints(d(1, -1)), &slopes), q(-1, 1) + q(1, 8));
    assert_eq!(reached(&at_least, &hints(d(0, 0)), &slopes), q(-2, 1) + q(1, 8));
    assert!(at_least.refute(&hints(d(1, 0)), &slope(d(0, 0), d(0, 0))).is_ok());
    // Below z₁ ≤ 0 relu(z₁) = 0 and β(z₁ − 0) is added: β(x₁ + x₂) + α(x₁ − x₂).
    assert_eq!(reached(&at_most, &hints(d(1, -1)), &slopes), q(-1, 1) + q(1, 8));
}

#[test]
fn a_literal_on_a_sibling_output_counts() {
    // Rules, wrong implementations 3: a walk over the ancestors of one output alone would miss it. y₁ = x and y₂ = 2x − 1 are
    // different nodes; below y₂ ≥ 0 y₁ ≥ 1/2, since x − ½(2x − 1) = 1/2.
    for sibling_last in [true, false] {
        let (y1, y2) = (
            Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None),
            Op::Affine(vec![(0, dense(1, 1, &[2], 1))], Some(vec![q(-1, 1)])),
        );
        let (ops, outputs) = if sibling_last {
            (vec![Op::Input(1), y1, y2], vec![1, 2])
        } else {
            (vec![Op::Input(1), y2, y1], vec![2, 1])
        };
        let net = Net { ops, outputs };
        let problem = problem(&net, &[(-1, 1)], vec![vec![row(&[(Variable::Y(0), 1)], q(1, 2), false)]]);
        let scope = Scope::root(&problem, Some(0), 3).unwrap();
        let (at_least, _) = scope.split(net.outputs[1], 0, &q(0, 1)).unwrap();
        let hints = |beta| Multipliers { rows: vec![(0, d(1, 0))], literals: vec![(0, beta)] };
        assert_eq!(reached(&at_least, &hints(d(1, -1)), &Slopes::default()), q(0, 1));
        assert_eq!(reached(&at_least, &hints(d(1, -2)), &Slopes::default()), q(-3, 4));
        assert_eq!(reached(&at_least, &hints(d(1, 0)), &Slopes::default()), q(-1, 2));
        assert_eq!(reached(&at_least, &hints(d(0, 0)), &Slopes::default()), q(-3, 2));
    }
}

#[test]
fn a_row_over_inputs_outputs_and_inner_nodes_is_one_form() {
    // relu(x) − x with the lower slope 1 is 0 on the form, not −1 as a sum of two bounds would be.
    let net = Net { ops: vec![Op::Input(1), Op::Relu(0)], outputs: vec![1, 0] };
    let rows = vec![row(&[(Variable::X(0), -1), (Variable::Y(0), 2), (Variable::Y(1), -1)], q(0, 1), true)];
    let problem = problem(&net, &[(-1, 1)], vec![rows]);
    let mut slopes = Slopes::default();
    slopes.set(1, vec![(0, d(1, 0))]);
    assert!(Scope::root(&problem, Some(0), 3).unwrap().refute(&one_row(), &slopes).is_ok());
}

fn splits(random: &mut Random, case: &Case, mut scope: Scope) -> Scope {
    for _ in 0..random.below(4) {
        let node = random.below(case.net.ops.len());
        let coordinate = random.below(case.net.width(node));
        let (up, down) = scope.split(node, coordinate, &random.rational(false)).unwrap();
        scope = if random.chance(50) { up } else { down };
        scope.interval_bounds().unwrap();
    }
    scope
}

/// The bound that was reached and the dual value in rationals; `None` where the scope is empty or refuted.
fn both(random: &mut Random, case: &Case, scope: &Scope) -> Option<(Rational, Rational)> {
    let multipliers = case.multipliers(random, scope, 0);
    let (slopes, lower) = case.slopes(random);
    if scope.is_empty() {
        return None;
    }
    let (lower_ends, upper_ends) = case.region(scope, 0);
    let (form, constant) = case.form(scope, 0, &multipliers);
    let expected = dual(&case.net, scope, (&lower_ends, &upper_ends), &form, &lower) + constant;
    match scope.refute(&multipliers, &slopes) {
        Err(RuleError::Unproved(bound)) => Some((bound, expected)),
        Ok(_) => {
            assert!(expected >= Rational::zero(), "refuted although the dual value is {expected}");
            None
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn a_leaf_reaches_exactly_the_dual_value() {
    let (mut compared, mut equal) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let case = case(&mut random, false);
        let scope = splits(&mut random, &case, Scope::root(&case.problem, Some(0), 64).unwrap());
        if let Some((bound, expected)) = both(&mut random, &case, &scope) {
            compared += 1;
            equal += usize::from(bound == expected);
            // Bounds of thirds have 160 bits, and intercepts from them are rounded outward.
            assert!(bound <= expected, "seed {seed}");
            let slack = (expected.abs() + q(1, 1)) * power(-80);
            assert!(&expected - &bound <= slack, "seed {seed}: {bound} against {expected}");
        }
    }
    assert!(compared > 600 && equal * 10 > compared * 9, "{equal} of {compared}");
}

#[test]
fn rational_coefficients_reach_the_dual_value_up_to_rounding() {
    let mut compared = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let case = case(&mut random, true);
        let scope = splits(&mut random, &case, Scope::root(&case.problem, Some(0), 8).unwrap());
        if let Some((bound, expected)) = both(&mut random, &case, &scope) {
            compared += 1;
            assert!(bound <= expected, "seed {seed}");
            assert!(
                &expected - &bound <= (expected.abs() + q(1, 1)) * power(-50),
                "seed {seed}: {bound} against {expected}"
            );
        }
    }
    assert!(compared > 300);
}

/// The same network with weights of wildly different magnitude.
fn wild(random: &mut Random, net: &Net, reach: i64) -> Net {
    let mut net = net.clone();
    for op in &mut net.ops {
        if let Op::Affine(terms, _) = op {
            for (_, map) in terms {
                if let Map::Dense(_, _, _, weight) | Map::Convolution(_, weight) | Map::Diagonal(weight) = map {
                    weight.iter_mut().for_each(|w| *w *= power(random.between(-reach, reach)));
                }
            }
        }
    }
    net
}

/// The same network without its ReLUs, so that the dual value is the minimum itself.
fn linear(net: &Net) -> Net {
    let plain = |(id, op): (usize, &Op)| match op {
        Op::Relu(argument) => Op::Affine(vec![(*argument, Map::Identity(net.width(id)))], None),
        other => other.clone(),
    };
    Net { ops: net.ops.iter().enumerate().map(plain).collect(), outputs: net.outputs.clone() }
}

/// A problem for `net` whose one closed row is touched at the first of some points, so that no bound of its sum may be above 0; the
/// values of the sum at the points.
fn touched(random: &mut Random, net: &Net, like: &Case) -> (Arc<Problem>, Vec<Rational>) {
    let outputs = net.output(&net.values(&like.samples[0].x)).len();
    let terms: Vec<_> = (0..outputs).map(|i| (Variable::Y(i), q(random.between(1, 9), 3))).collect();
    let value =
        |x: &[Rational]| -> Rational { terms.iter().zip(net.output(&net.values(x))).map(|((_, c), v)| c * v).sum() };
    let bound = value(&like.samples[0].x);
    let sums = like.samples.iter().map(|sample| value(&sample.x) - &bound).collect();
    let rows = vec![Row { terms: terms.clone(), bound, strict: false }];
    let property = Property { disjuncts: vec![disjunct(rows)], ..like.problem.property().clone() };
    (Arc::new(Problem::new(net.build(), property).unwrap()), sums)
}

#[test]
fn short_rows_stay_below_the_value() {
    let mut below = [0, 0];
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let like = case(&mut random, false);
        let reach = [5, 60, 200][random.below(3)];
        let net = wild(&mut random, &like.net, reach);
        let (problem, sums) = touched(&mut random, &net, &like);
        let reach = |digits| reached(&Scope::root(&problem, Some(0), digits).unwrap(), &one_row(), &Slopes::default());
        let long = reach(64);
        for (place, digits) in [1, 2].into_iter().enumerate() {
            let short = reach(digits);
            assert!(sums.iter().all(|sum| short <= *sum), "seed {seed}, {digits} digits");
            below[place] += usize::from(short < long);
        }
    }
    assert!(below[0] > 100 && below[1] > 20, "rounding took place: {below:?}");
}

/// ABSORB along a chain, where no row is added to another: `y = (1 + 2⁻⁵⁰)⁴·x` on `[−1, 1]` has 200 bits, of which two digits keep
/// 52 at least.
#[test]
fn rows_of_a_chain_keep_the_digits_they_may() {
    let weight = q(1, 1) + power(-50);
    let layer = |parent| Op::Affine(vec![(parent, Map::Dense(1, 1, 1, vec![weight.clone()]))], None);
    let net = Net { ops: vec![Op::Input(1), layer(0), layer(1), layer(2), layer(3)], outputs: vec![4] };
    let problem = problem(&net, &[(-1, 1)], vec![vec![row(&[(Variable::Y(0), 1)], q(0, 1), false)]]);
    let reach = |digits| reached(&Scope::root(&problem, Some(0), digits).unwrap(), &one_row(), &Slopes::default());
    let exact = -(&weight * &weight * &weight * &weight);
    assert_eq!(reach(64), exact);
    assert!(reach(1) < reach(2) && reach(2) < exact && reach(2) > exact - power(-40), "{}", reach(2));
}

#[test]
fn short_rows_of_a_linear_program_stay_below_its_minimum() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let like = case(&mut random, false);
        let reach = [5, 60, 200][random.below(3)];
        let net = wild(&mut random, &linear(&like.net), reach);
        let (problem, _) = touched(&mut random, &net, &like);
        let reach = |digits| reached(&Scope::root(&problem, Some(0), digits).unwrap(), &one_row(), &Slopes::default());
        let long = reach(64);
        let property = problem.property();
        let row = &property.disjuncts[0][0];
        let place = |v: &Variable| match v {
            Variable::Y(i) => problem.program().output_coordinate(*i).unwrap(),
            Variable::X(i) => (0, *i),
        };
        let form = row.terms.iter().map(|(v, c)| (place(v), c.clone())).collect();
        let region = (property.lower.as_slice(), property.upper.as_slice());
        let scope = Scope::root(&problem, Some(0), 64).unwrap();
        let minimum = dual(&net, &scope, region, &form, &Lower::new()) - &row.bound;
        assert_eq!(long, minimum, "seed {seed}");
        for digits in [1, 2, 3] {
            assert!(reach(digits) <= minimum, "seed {seed}, {digits} digits");
        }
    }
}

#[test]
fn three_digits_lose_almost_nothing_on_ordinary_weights() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let case = case(&mut random, true);
        let bound = |digits| {
            let scope = Scope::root(&case.problem, Some(0), digits).unwrap();
            match scope.refute(&one_row(), &Slopes::default()) {
                Err(RuleError::Unproved(bound)) => Some(bound),
                _ => None,
            }
        };
        if let (Some(short), Some(long)) = (bound(3), bound(64)) {
            assert!((&long - &short).abs() <= power(-50), "seed {seed}: {short} against {long}");
        }
    }
}
