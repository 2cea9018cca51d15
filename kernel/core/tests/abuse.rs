//! Numbers and programs made to cost time or memory: each is refused, or rounded outward before it grows.

mod support;

use certkern_core::num::{Dyadic, Rational};
use certkern_core::property::{Disjunct, Property, Row, Variable, disjunct};
use certkern_core::region::Region;
use certkern_core::rules::{Multipliers, Problem, RuleError, Scope, Slopes};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::sync::Arc;
use support::{Map, Net, Op, RELU, d, power, q};

/// The first primes above 3.
fn primes(count: usize) -> Vec<i64> {
    (5_i64..).filter(|n| (2..*n).take_while(|p| p * p <= *n).all(|p| n % p != 0)).take(count).collect()
}

fn one_row() -> Multipliers {
    Multipliers { rows: vec![(0, d(1, 0))], literals: vec![] }
}

/// The identity on `width` inputs.
fn identity(width: usize) -> Net {
    Net { ops: vec![Op::Input(width), Op::Affine(vec![(0, Map::Identity(width))], None)], outputs: vec![1] }
}

fn sum_row(terms: Vec<(Variable, Rational)>, bound: Rational) -> Vec<Disjunct> {
    vec![disjunct([Row { terms, bound, strict: false }])]
}

#[test]
fn a_region_of_many_prime_denominators_is_rounded_outward() {
    let primes = primes(800);
    let lower: Vec<Rational> = primes.iter().map(|p| q(1, *p)).collect();
    let upper: Vec<Rational> = primes.iter().map(|p| q(2, *p)).collect();
    let region = Region::new(lower.clone(), upper.clone()).unwrap().unwrap();
    assert_eq!(region.width(), 800);
    let minimum: Rational = lower.iter().sum();
    let terms: Vec<_> = (0..800).map(|i| (Variable::Y(i), Rational::one())).collect();
    let property = Property { lower, upper, outputs: 800, disjuncts: sum_row(terms, minimum.clone()) };
    let problem = Arc::new(Problem::new(identity(800).build(), property).unwrap());
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    // The row touches the region in a corner. The rounded ends lose a little, never on the other side.
    let Err(RuleError::Unproved(bound)) = scope.refute(&one_row(), &Slopes::default()) else {
        panic!("the corner is unsafe")
    };
    assert!(bound <= Rational::zero() && bound >= -power(-130));
    let rounded = Dyadic::floor_rational(&minimum, -100).to_rational();
    let property = Property {
        disjuncts: sum_row(problem.property().disjuncts[0][0].terms.clone(), rounded),
        ..problem.property().clone()
    };
    let problem = Arc::new(Problem::new(identity(800).build(), property).unwrap());
    // The minimum lies above the bound by less than 2^-100: proved, since the ends keep more bits.
    assert!(Scope::root(&problem, Some(0), 3).unwrap().refute(&one_row(), &Slopes::default()).is_ok());
}

#[test]
fn ends_beyond_the_digits_that_are_kept_are_rounded_outward() {
    // x₂ ∈ [−2^-13000, 2^-13000] next to x₁ ∈ [−1, 1]: the row touches in x₂'s last point, so the ends must not be rounded to 0.
    let tiny = power(-13_000);
    for side in [1, -1] {
        let property = Property {
            lower: vec![q(-1, 1), -&tiny],
            upper: vec![q(1, 1), tiny.clone()],
            outputs: 2,
            disjuncts: sum_row(vec![(Variable::Y(1), q(side, 1))], -&tiny),
        };
        let problem = Arc::new(Problem::new(identity(2).build(), property).unwrap());
        let scope = Scope::root(&problem, Some(0), 3).unwrap();
        let Err(RuleError::Unproved(bound)) = scope.refute(&one_row(), &Slopes::default()) else { panic!("refuted") };
        assert!(bound <= Rational::zero() && bound >= -power(-1000));
    }
}

#[test]
fn a_region_half_at_an_exotic_threshold_stays_exact() {
    let third = q(1, 3);
    let odd = Rational::new(BigInt::one(), num_traits::Pow::pow(BigInt::from(3), 2000_u32));
    let region = Region::new(vec![q(0, 1)], vec![q(1, 1)]).unwrap().unwrap();
    let at =
        |threshold: &Rational| region.half(0, threshold, true).unwrap().unwrap().half(0, threshold, false).unwrap();
    for threshold in [third, odd] {
        let point = at(&threshold).unwrap();
        assert_eq!((point.lower(), point.upper()), (&[threshold.clone()][..], &[threshold.clone()][..]));
        assert!(point.half(0, &(threshold - power(-13_000)), false).unwrap().is_none());
    }
    assert!(region.half(1, &q(0, 1), true).is_err(), "no such coordinate");
    assert!(Region::new(vec![q(0, 1)], vec![]).is_err(), "ends that do not belong together");
}

#[test]
fn rows_of_many_prime_denominators_are_refused() {
    let primes = primes(3000);
    let width = primes.len();
    let terms: Vec<_> = primes.iter().enumerate().map(|(i, p)| (Variable::Y(i), q(1, *p))).collect();
    let property = Property {
        lower: vec![q(0, 1); width],
        upper: vec![q(1, 1); width],
        outputs: width,
        disjuncts: sum_row(terms, q(-1, 1)),
    };
    let problem = Arc::new(Problem::new(identity(width).build(), property).unwrap());
    let scope = Scope::root(&problem, Some(0), 3).unwrap();
    assert_eq!(scope.refute(&one_row(), &Slopes::default()).unwrap_err(), RuleError::DenominatorBits);
    // Without the row there is nothing to sum.
    assert_eq!(scope.refute(&Multipliers::default(), &Slopes::default()).unwrap_err(), RuleError::Unproved(q(0, 1)));
}

#[test]
fn a_row_over_thousands_of_bits_is_shortened_and_stays_below() {
    // x₀·2^13000 + x₁·2^-13000 ≥ 0 on [0, 1]; on [−1, 1] its minimum is −2^13000 − 2^-13000.
    let terms = vec![(Variable::Y(0), power(13_000)), (Variable::Y(1), power(-13_000))];
    for low in [0, -1] {
        let bound = q(-1, 1);
        let property = Property {
            lower: vec![q(low, 1); 2],
            upper: vec![q(1, 1); 2],
            outputs: 2,
            disjuncts: sum_row(terms.clone(), bound),
        };
        let problem = Arc::new(Problem::new(identity(2).build(), property).unwrap());
        let scope = Scope::root(&problem, Some(0), 3).unwrap();
        match scope.refute(&one_row(), &Slopes::default()) {
            Ok(_) => assert_eq!(low, 0),
            Err(RuleError::Unproved(bound)) => {
                let minimum = -power(13_000) - power(-13_000) + q(1, 1);
                assert!(low == -1 && bound <= minimum && &minimum - bound <= power(12_900));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// A chain `x ↦ 2^step · relu(x)` of `depth` layers whose end is added to the input again.
fn chain(depth: usize, step: i64) -> Net {
    let mut ops = vec![Op::Input(1)];
    for _ in 0..depth {
        let last = ops.len() - 1;
        ops.push(Op::Affine(vec![(last, Map::Dense(1, 1, 1, vec![power(step)]))], Some(vec![q(1, 1)])));
        ops.push(Op::Relu(last + 1));
    }
    let last = ops.len() - 1;
    ops.push(Op::Affine(vec![(last, Map::Identity(1)), (0, Map::Identity(1))], None));
    Net { outputs: vec![last + 1], ops }
}

#[test]
fn deep_chains_of_extreme_weights_stay_short() {
    // 400 layers of 2^±1000: rows and bounds reach 2^±400000 next to 1.
    for step in [-1000, 1000] {
        let net = chain(400, step);
        let property = Property {
            lower: vec![q(-1, 1)],
            upper: vec![q(1, 1)],
            outputs: 1,
            disjuncts: sum_row(vec![(Variable::Y(0), q(1, 1))], q(-3, 1)),
        };
        let problem = Arc::new(Problem::new(net.build(), property).unwrap());
        let mut scope = Scope::root(&problem, Some(0), 3).unwrap();
        for node in 0..net.ops.len() {
            let interval = scope.interval(node, 0).unwrap();
            assert!(interval.lower.mantissa().bits() <= 160 && interval.upper.mantissa().bits() <= 160);
        }
        scope.tighten_unstable(1, &RELU).unwrap();
        let last = net.ops.len() - 1;
        scope.tighten(last, 0, &Slopes::default(), &Slopes::default()).unwrap();
        // The output is relu(…) + x ≥ −1 > −3 with the slope 0 at the first ReLU, the only one that is not stable.
        let mut slopes = Slopes::default();
        slopes.set(2, vec![(0, Dyadic::zero())]);
        assert!(scope.refute(&one_row(), &slopes).is_ok());
    }
}

#[test]
fn a_sum_of_rows_that_lie_far_apart_is_bounded_from_below() {
    // y = x + 2^-1000·(… 400 times …)·x without ReLUs: the row of x is 1 + 2^-400000.
    let mut net = chain(400, -1000);
    for op in &mut net.ops {
        match op {
            Op::Relu(argument) => *op = Op::Affine(vec![(*argument, Map::Identity(1))], None),
            Op::Affine(_, bias) => *bias = None,
            Op::Input(_) | Op::Product(..) | Op::Max(..) => (),
        }
    }
    let reach = |low: i64, high: i64| {
        let property = Property {
            lower: vec![q(low, 1)],
            upper: vec![q(high, 1)],
            outputs: 1,
            disjuncts: sum_row(vec![(Variable::Y(0), q(1, 1))], q(low, 1)),
        };
        let problem = Arc::new(Problem::new(net.build(), property).unwrap());
        Scope::root(&problem, Some(0), 3).unwrap().refute(&one_row(), &Slopes::default()).map(|_| ())
    };
    // On [−1, 1] the minimum is −1 − 2^-400000 < −1: what the digits lose must show.
    match reach(-1, 1) {
        Err(RuleError::Unproved(bound)) => assert!(bound < Rational::zero() && bound > -power(-100)),
        other => panic!("{other:?}"),
    }
    // On [1, 2] it is 1 + 2^-400000 > 1, which three digits cannot see.
    assert!(matches!(reach(1, 2), Err(RuleError::Unproved(bound)) if bound <= power(-300_000)));
}
