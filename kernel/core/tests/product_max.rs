//! Products and maxima in the exact tier: worked by hand, and against plain rational arithmetic.

mod support;

use certkern_core::NoValue;
use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{Groups, Node, Primitive, Program, ProgramError};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{Multipliers, Problem, RuleError, Scope, Slopes};
use certkern_core::tensor::{Tensor, Values};
use num_traits::{Signed, Zero};
use std::sync::Arc;
use support::back::dual;
use support::case::case_of;
use support::{Map, Net, Op, Random, d, dense, mixed_net, power, q};

/// The bound that `c·y` reaches on a box, with default slopes.
fn least(net: &Net, ends: &[(Rational, Rational)], c: i64) -> Rational {
    // c·y ≤ −1000 is not refuted by less, so the bound reached is that of c·y + 1000.
    let rows = vec![Row { terms: vec![(Variable::Y(0), q(c, 1))], bound: q(1000, 1), strict: false }];
    let (lower, upper) = ends.iter().cloned().unzip();
    let property = Property { lower, upper, outputs: 1, disjuncts: vec![disjunct(rows)] };
    let problem = Arc::new(Problem::new(net.build(), property).unwrap());
    let one = Multipliers { rows: vec![(0, d(1, 0))], literals: vec![] };
    match Scope::root(&problem, Some(0), 8).unwrap().refute(&one, &Slopes::default()) {
        Err(RuleError::Unproved(bound)) => bound + q(1000, 1),
        other => panic!("{other:?}"),
    }
}

/// The bounds of `y` from below and above.
fn range(net: &Net, ends: &[(i64, i64)]) -> (Rational, Rational) {
    let ends: Vec<_> = ends.iter().map(|(l, u)| (q(*l, 1), q(*u, 1))).collect();
    (least(net, &ends, 1), -least(net, &ends, -1))
}

fn whole((lower, upper): (i64, i64)) -> (Rational, Rational) {
    (q(lower, 1), q(upper, 1))
}

/// Input coordinate `at` of `width`.
fn coordinate(at: usize, width: usize) -> Op {
    Op::Affine(vec![(0, Map::Select(vec![Some(at)], width))], None)
}

#[test]
fn a_product_worked_by_hand() {
    // p ∈ [−1, 2], q ∈ [1, 3]. (p + 1)(q − 1) ≥ 0: pq ≥ p − q + 1 ≥ −3. (p + 1)(3 − q) ≥ 0: pq ≤ 3p − q + 3 ≤ 8.
    let ops = vec![Op::Input(2), coordinate(0, 2), coordinate(1, 2), Op::Product(1, 2)];
    let net = Net { ops, outputs: vec![3] };
    assert_eq!(range(&net, &[(-1, 2), (1, 3)]), whole((-3, 8)));
    // A factor that is one number: 3p.
    assert_eq!(range(&net, &[(-1, 2), (3, 3)]), whole((-3, 6)));
    // The sum of a product and of its factors: pq − p + q ≥ 1, where intervals give −3 − 2 + 1.
    let sum = Op::Affine([(3, 1), (1, -1), (2, 1)].map(|(parent, c)| (parent, dense(1, 1, &[c], 1))).to_vec(), None);
    let net = Net { ops: net.ops.into_iter().chain([sum]).collect(), outputs: vec![4] };
    assert_eq!(least(&net, &[(q(-1, 1), q(2, 1)), (q(1, 1), q(3, 1))], 1), q(1, 1));
}

#[test]
fn a_square_worked_by_hand() {
    // p ∈ [−1, 3]: p² ≥ 2p − 1 ≥ −3 by the tangent at 1, p² ≤ 2p + 3 ≤ 9 by the chord; intervals know that it is in [0, 9].
    let net = Net { ops: vec![Op::Input(1), coordinate(0, 1), Op::Product(1, 1)], outputs: vec![2] };
    assert_eq!(range(&net, &[(-1, 3)]), whole((-3, 9)));
    let rows = vec![Row { terms: vec![], bound: q(0, 1), strict: false }];
    let property =
        Property { lower: vec![q(-1, 1)], upper: vec![q(3, 1)], outputs: 1, disjuncts: vec![disjunct(rows)] };
    let problem = Arc::new(Problem::new(net.build(), property).unwrap());
    let interval = Scope::root(&problem, None, 3).unwrap().interval(2, 0).cloned().unwrap();
    assert_eq!((interval.lower, interval.upper), (Dyadic::zero(), d(9, 0)));
    // p² − 2p ≥ −1, with both planes at one node.
    let terms = vec![(2, dense(1, 1, &[1], 1)), (1, dense(1, 1, &[-2], 1))];
    let net = Net { ops: net.ops.into_iter().chain([Op::Affine(terms, None)]).collect(), outputs: vec![3] };
    assert_eq!(least(&net, &[(q(-1, 1), q(3, 1))], 1), q(-1, 1));
}

#[test]
fn a_maximum_worked_by_hand() {
    // [0, 4], [1, 2], [−1, 3]: the second has the greatest lower end. The first has the greatest upper end; the others stay below 3, and p/4 + 3 is the chord of max(p, 3).
    let net = Net { ops: vec![Op::Input(3), Op::Max(0, vec![vec![0, 1, 2]])], outputs: vec![1] };
    let ends = [(0, 4), (1, 2), (-1, 3)];
    assert_eq!(range(&net, &ends), whole((1, 4)));
    let minus = |member: usize| {
        let member = (0..3).map(|j| q(-i64::from(j == member), 1)).collect();
        let terms = vec![(1, Map::Identity(1)), (0, Map::Dense(1, 1, 3, member))];
        let ops = vec![Op::Input(3), Op::Max(0, vec![vec![0, 1, 2]]), Op::Affine(terms, None)];
        Net { ops, outputs: vec![2] }
    };
    // max − p₂ ≥ 0, and max − p₁ ≤ 3 − 3p₁/4 ≤ 3.
    assert_eq!(range(&minus(1), &ends).0, q(0, 1));
    assert_eq!(range(&minus(0), &ends).1, q(3, 1));
    // Decided: the third is never below another, so the difference is zero.
    assert_eq!(range(&minus(2), &[(0, 4), (1, 2), (4, 7)]), whole((0, 0)));
    // Ties: nothing is known but the ends.
    assert_eq!(range(&net, &[(0, 4), (0, 4), (0, 4)]), whole((0, 4)));
    // Of equal lower ends the first: max − p₀ ≥ 0, though the second reaches further up.
    assert_eq!(range(&minus(0), &[(0, 2), (0, 4), (-1, 3)]).0, q(0, 1));
    // From above the second, which is never below another: max − p₁ ≤ 0.
    assert_eq!(range(&minus(1), &[(0, 0), (0, 4), (-1, 0)]).1, q(0, 1));
    // Decided by the second, though the first reaches as far up.
    assert_eq!(range(&minus(1), &[(0, 4), (4, 4), (-1, 3)]), whole((0, 0)));
    // One member is the maximum.
    let net = Net { ops: vec![Op::Input(3), Op::Max(0, vec![vec![1]])], outputs: vec![1] };
    assert_eq!(range(&net, &ends), whole((1, 2)));
}

#[test]
fn a_leaf_with_products_and_maxima_reaches_the_dual_value() {
    let (mut compared, mut equal) = (0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let net = mixed_net(&mut random, false);
        let case = case_of(&mut random, net, false);
        let mut scope = Scope::root(&case.problem, Some(0), 64).unwrap();
        for _ in 0..random.below(3) {
            let node = random.below(case.net.ops.len());
            let (up, down) = scope.split(node, random.below(case.net.width(node)), &random.rational(false)).unwrap();
            scope = if random.chance(50) { up } else { down };
            scope.interval_bounds().unwrap();
        }
        let multipliers = case.multipliers(&mut random, &scope, 0);
        let (slopes, lower) = case.slopes(&mut random);
        if scope.is_empty() {
            continue;
        }
        let (lower_ends, upper_ends) = case.region(&scope, 0);
        let (form, constant) = case.form(&scope, 0, &multipliers);
        let expected = dual(&case.net, &scope, (&lower_ends, &upper_ends), &form, &lower) + constant;
        match scope.refute(&multipliers, &slopes) {
            Err(RuleError::Unproved(bound)) => {
                compared += 1;
                equal += usize::from(bound == expected);
                assert!(bound <= expected, "seed {seed}: {bound} above {expected}");
                assert!(
                    &expected - &bound <= (expected.abs() + q(1, 1)) * power(-80),
                    "seed {seed}: {bound} {expected}"
                );
            }
            Ok(_) => assert!(expected >= Rational::zero(), "refuted although the dual value is {expected}"),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(compared > 250 && equal * 10 > compared * 8, "{equal} of {compared}");
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let node = |width, primitive| Node { width, primitive };
    let program = |width, primitive| {
        Program::new(
            vec![
                node(2, Primitive::Input),
                node(1, Primitive::Max { argument: 0, groups: Groups::new([[0]]) }),
                node(width, primitive),
            ],
            vec![2],
        )
        .map(|_| ())
    };
    let product = |left, right| Primitive::Product { left, right };
    assert_eq!(program(2, product(0, 0)), Ok(()));
    assert_eq!(program(2, product(0, 1)), Err(ProgramError::Width(2)));
    assert_eq!(program(1, product(0, 0)), Err(ProgramError::Width(2)));
    assert_eq!(program(2, product(0, 2)), Err(ProgramError::Order(2)));
    let max = |argument, groups: &[&[usize]]| Primitive::Max {
        argument,
        groups: Groups::new(groups.iter().map(|g| g.to_vec())),
    };
    assert_eq!(program(2, max(0, &[&[0, 1], &[1]])), Ok(()));
    assert_eq!(program(1, max(0, &[&[0, 1], &[1]])), Err(ProgramError::Groups(2)));
    assert_eq!(program(2, max(0, &[&[0, 1], &[]])), Err(ProgramError::Groups(2)));
    assert_eq!(program(2, max(0, &[&[0, 1], &[2]])), Err(ProgramError::Groups(2)));
    assert_eq!(program(2, max(3, &[&[0, 1], &[1]])), Err(ProgramError::Order(2)));
    let relu = |argument| Primitive::Univariate { function: Function::Relu, argument };
    assert_eq!(program(2, relu(0)), Ok(()));
    assert_eq!(program(2, relu(1)), Err(ProgramError::Width(2)));
    assert_eq!(program(2, Primitive::Input), Err(ProgramError::Input));
    let identity = |parent, width, bias| {
        let bias = vec![0; bias];
        let bias = Tensor::new(vec![bias.len()], Values::Binary64(bias)).unwrap();
        let affine = Affine::new(width, vec![Term { parent, map: LinearMap::identity(width) }], Some(&bias));
        affine.map(Primitive::Affine)
    };
    assert_eq!(program(2, identity(0, 2, 2).unwrap()), Ok(()));
    assert_eq!(program(2, identity(1, 2, 2).unwrap()), Err(ProgramError::Width(2)));
    assert_eq!(program(1, identity(1, 2, 2).unwrap()), Err(ProgramError::Width(2)));
    assert_eq!(program(2, identity(2, 2, 2).unwrap()), Err(ProgramError::Order(2)));
    assert!(identity(0, 2, 3).is_none());
    let alone = || vec![node(2, Primitive::Input)];
    for outputs in [vec![], vec![1]] {
        assert_eq!(Program::new(alone(), outputs).map(|_| ()), Err(ProgramError::Output));
    }
    assert_eq!(Program::new(Vec::new(), vec![0]).map(|_| ()), Err(ProgramError::Input));
    let two = Program::new(vec![node(2, Primitive::Input), node(2, relu(0))], vec![1, 0]).unwrap();
    let places: Vec<_> = (0..5).map(|index| two.output_coordinate(index)).collect();
    assert_eq!(places, [Some((1, 0)), Some((1, 1)), Some((0, 0)), Some((0, 1)), None]);
}

/// 60 squares of one number: values of 2^60 bits are neither held nor computed.
#[test]
fn repeated_squares_are_beyond_the_budget() {
    let mut ops = vec![Op::Input(1), coordinate(0, 1)];
    ops.extend((1..=60).map(|id| Op::Product(id, id)));
    let net = Net { outputs: vec![61], ops };
    let rows = vec![Row { terms: vec![(Variable::Y(0), q(1, 1))], bound: q(0, 1), strict: false }];
    let squared = |x: Rational| {
        let property = Property {
            lower: vec![x.clone()],
            upper: vec![x.clone()],
            outputs: 1,
            disjuncts: vec![disjunct(rows.clone())],
        };
        let problem = Arc::new(Problem::new(net.build(), property).unwrap());
        (
            Scope::root(&problem, Some(0), 3).map(|scope| scope.interval(61, 0).cloned()),
            problem.standing(&[x]).map(|_| ()),
        )
    };
    for (x, large) in [(q(3, 1), true), (q(1, 3), false), (q(2, 1), true), (q(1, 2), false), (q(-5, 4), true)] {
        let (bounds, standing) = squared(x.clone());
        match bounds {
            Ok(interval) => {
                // Between 0 and the finest number that is told from it.
                let interval = interval.unwrap();
                assert!(!large && !interval.lower.is_negative() && interval.upper <= d(1, -1024), "{x}: {interval:?}");
            }
            Err(error) => assert!(large && error == RuleError::Budget, "{x}: {error:?}"),
        }
        assert_eq!(standing, Err(RuleError::DenominatorBits), "{x}");
    }
    // 0 and 1 stay as they are.
    assert_eq!(squared(q(1, 1)).1, Ok(()));
    assert_eq!(squared(q(0, 1)).1, Ok(()));
}

#[test]
fn values_at_points_are_those_of_the_definition() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let net = mixed_net(&mut random, true);
        let x: Vec<Rational> = (0..net.width(0)).map(|_| random.rational(true)).collect();
        let program = net.build();
        assert_eq!(program.evaluate(&x), Ok(net.output(&net.values(&x))));
        assert_eq!(program.evaluate(&x[1..]), Err(NoValue::Width));
    }
}

#[test]
fn slopes_for_products_and_maxima_are_refused() {
    let ops = vec![Op::Input(1), Op::Product(0, 0), Op::Max(0, vec![vec![0]]), Op::Relu(0)];
    let net = Net { ops, outputs: vec![1] };
    let rows = vec![Row { terms: vec![(Variable::Y(0), q(1, 1))], bound: q(-1, 1), strict: false }];
    let property =
        Property { lower: vec![q(-1, 1)], upper: vec![q(3, 1)], outputs: 1, disjuncts: vec![disjunct(rows)] };
    let problem = Arc::new(Problem::new(net.build(), property).unwrap());
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    let one = Multipliers { rows: vec![(0, d(1, 0))], literals: vec![] };
    for (node, known) in [(0, false), (1, false), (2, false), (3, true)] {
        for upper in [false, true] {
            let mut slopes = Slopes::default();
            let given = vec![(0, d(1, -1))];
            if upper {
                slopes.set_upper(node, given)
            } else {
                slopes.set(node, given)
            }
            let named = matches!(scope.refute(&one, &slopes), Err(RuleError::NoSuch("univariate node")));
            assert_eq!(named, !known, "{node}");
        }
    }
}
