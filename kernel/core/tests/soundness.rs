//! No judgement for a property with a known exact counterexample, whatever the hints; every bound holds at every point of its scope.

mod support;

use certkern_core::func::Function;
use certkern_core::num::Rational;
use certkern_core::rules::{RuleError, Scope};
use num_traits::Zero;
use support::case::{Case, case_of};
use support::{Net, Random, mixed_net, q, random_net};

/// What a run has seen, so that a test can tell that it tested something.
#[derive(Default)]
struct Seen {
    refuted: usize,
    unproved: usize,
    empty: usize,
    at_threshold: usize,
}

/// Bounds hold at every sample of the scope, and a scope known to be empty has none.
fn check_bounds(case: &Case, scope: &Scope, disjunct: usize) {
    for sample in case.inside(scope, Some(disjunct)) {
        assert!(!scope.is_empty(), "a point satisfies the assumptions of an empty scope: {:?}", sample.x);
        for (node, values) in sample.values.iter().enumerate() {
            for (coordinate, value) in values.iter().enumerate() {
                let bounds = scope.interval(node, coordinate).unwrap();
                let within = bounds.lower.to_rational() <= *value && *value <= bounds.upper.to_rational();
                assert!(within, "node {node}[{coordinate}] = {value} outside {bounds:?}");
            }
        }
    }
}

/// Random hints; whatever they are, the bound lies below the sum at every sample, and no sample of the scope lies in the disjunct if it is refuted.
fn check_refutation(random: &mut Random, case: &Case, scope: &Scope, disjunct: usize, seen: &mut Seen) {
    let multipliers = case.multipliers(random, scope, disjunct);
    let (slopes, _) = case.slopes(random);
    match scope.refute(&multipliers, &slopes) {
        Ok(judgement) => {
            seen.refuted += 1;
            assert!(!judgement.is_closed());
            for sample in case.inside(scope, Some(disjunct)) {
                let rows = &case.problem.property().disjuncts[disjunct];
                assert!(!sample.lies_in(&case.net, rows), "refuted at the counterexample {:?}", sample.x);
            }
        }
        Err(RuleError::Unproved(bound)) => {
            seen.unproved += 1;
            for sample in case.inside(scope, Some(disjunct)) {
                let sum = case.summed(scope, disjunct, &multipliers, sample);
                assert!(bound <= sum, "the bound {bound} lies above the value {sum}");
            }
        }
        Err(other) => panic!("{other:?}"),
    }
}

fn threshold(random: &mut Random, case: &Case, node: usize, coordinate: usize) -> Rational {
    match random.below(6) {
        0 => Rational::zero(),
        1 => q(1, 3),
        2 => q(1, 10),
        3 => random.rational(true),
        // The counterexample lies on the threshold: it belongs to both halves.
        _ => case.samples[0].values[node][coordinate].clone(),
    }
}

fn explore(random: &mut Random, case: &Case, mut scope: Scope, disjunct: usize, depth: usize, seen: &mut Seen) {
    for _ in 0..random.below(3) {
        match random.below(4) {
            0 => scope.interval_bounds().unwrap(),
            1 => {
                let relus: Vec<_> = case.relus().collect();
                scope.tighten_unstable(relus[random.below(relus.len())].1, &Function::Relu).unwrap();
            }
            _ => {
                let node = random.below(case.net.ops.len());
                let coordinate = random.below(case.net.width(node));
                let (lower, upper) = (case.slopes(random).0, case.slopes(random).0);
                scope.tighten(node, coordinate, &lower, &upper).unwrap();
            }
        }
        check_bounds(case, &scope, disjunct);
    }
    seen.empty += usize::from(scope.is_empty());
    check_bounds(case, &scope, disjunct);
    check_refutation(random, case, &scope, disjunct, seen);
    if depth == 0 {
        return;
    }
    let node = random.below(case.net.ops.len());
    let coordinate = random.below(case.net.width(node));
    let threshold = threshold(random, case, node, coordinate);
    seen.at_threshold += usize::from(case.samples[0].values[node][coordinate] == threshold);
    let (at_least, at_most) = scope.split(node, coordinate, &threshold).unwrap();
    for half in [at_least, at_most] {
        explore(random, case, half, disjunct, depth - 1, seen);
    }
}

fn trials(net: fn(&mut Random, bool) -> Net, odd: bool, seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut random = Random::new(seed);
        let net = net(&mut random, odd);
        let case = case_of(&mut random, net, odd);
        let digits = [1, 2, 3, 64][random.below(4)];
        for disjunct in 0..case.problem.property().disjuncts.len() {
            // On the disjunct's own region, or on the whole region with bounds that serve every disjunct.
            let scope = if random.chance(50) {
                Scope::root(&case.problem, Some(disjunct), digits).unwrap()
            } else {
                Scope::root(&case.problem, None, digits).unwrap().for_disjunct(disjunct).unwrap()
            };
            explore(&mut random, &case, scope, disjunct, 3, &mut seen);
        }
    }
    seen
}

#[test]
fn no_judgement_where_a_counterexample_is_known_dyadic() {
    let seen = trials(random_net, false, 0..1500);
    assert!(seen.refuted > 500 && seen.unproved > 5000 && seen.empty > 100 && seen.at_threshold > 1000);
}

#[test]
fn no_judgement_where_a_counterexample_is_known_with_thirds_and_tenths() {
    let seen = trials(random_net, true, 10_000..11_500);
    assert!(seen.refuted > 500 && seen.unproved > 5000 && seen.empty > 100 && seen.at_threshold > 1000);
}

#[test]
fn no_judgement_where_a_counterexample_is_known_of_products_and_maxima() {
    for odd in [false, true] {
        let seen = trials(mixed_net, odd, 20_000..20_700);
        assert!(seen.refuted > 200 && seen.unproved > 2000 && seen.empty > 40 && seen.at_threshold > 400);
    }
}
