//! Judgements combine only where they speak of the same thing; hints that fit nothing have their errors, also in an empty scope.

mod support;

use certkern_core::num::{Dyadic, Rational};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{Judgement, Multipliers, Problem, RuleError, Scope, Slopes, Statement};
use std::sync::Arc;
use support::{Net, Op, d, dense, q};

/// `y = relu(x₁ − x₂) + relu(x₁)` on `[−1, 1]²`, always ≥ 0 and ≥ −3 with any slopes: two disjuncts that any hints refute.
fn problem() -> Arc<Problem> {
    let ops = vec![
        Op::Input(2),
        Op::Affine(vec![(0, dense(2, 2, &[1, -1, 1, 0], 1))], None),
        Op::Relu(1),
        Op::Affine(vec![(2, dense(1, 2, &[1, 1], 1))], None),
    ];
    let row = |bound: Rational| disjunct([Row { terms: vec![(Variable::Y(0), q(1, 1))], bound, strict: false }]);
    let property = Property {
        lower: vec![q(-1, 1); 2],
        upper: vec![q(1, 1); 2],
        outputs: 1,
        disjuncts: vec![row(q(-10, 1)), row(q(-20, 1))],
    };
    Arc::new(Problem::new(Net { ops, outputs: vec![3] }.build(), property).unwrap())
}

fn hints() -> Multipliers {
    Multipliers { rows: vec![(0, d(1, 0))], literals: vec![] }
}

fn proved(scope: &Scope) -> Judgement {
    scope.refute(&hints(), &Slopes::default()).unwrap()
}

fn root(problem: &Arc<Problem>, disjunct: usize) -> Scope {
    Scope::root(problem, Some(disjunct), 3).unwrap()
}

/// Judgements of the halves at `threshold` of a coordinate.
fn halves(scope: &Scope, node: usize, coordinate: usize, threshold: &Rational) -> (Judgement, Judgement) {
    let (up, down) = scope.split(node, coordinate, threshold).unwrap();
    (proved(&up), proved(&down))
}

fn mismatch(result: Result<Judgement, RuleError>) -> bool {
    matches!(result, Err(RuleError::Mismatch(_)))
}

#[test]
fn a_tree_for_each_disjunct_proves_the_property() {
    let problem = problem();
    let trees: Vec<Judgement> = (0..2)
        .map(|disjunct| {
            let scope = root(&problem, disjunct);
            let (up, down) = scope.split(1, 0, &q(0, 1)).unwrap();
            let (left, right) = halves(&down, 0, 1, &q(1, 3));
            Judgement::split(proved(&up), Judgement::split(left, right).unwrap()).unwrap()
        })
        .collect();
    assert!(trees.iter().all(|tree| tree.statement() == Statement::Empty && !tree.is_closed()));
    let whole = Judgement::cases(&problem, &trees).unwrap();
    assert!(whole.is_closed() && whole.statement() == Statement::Unsat && Arc::ptr_eq(whole.problem(), &problem));
    // What is closed discharges nothing and is no case.
    let again = Judgement::cases(&problem, &trees).unwrap();
    assert!(mismatch(Judgement::split(whole, again)));
}

#[test]
fn split_wants_the_two_halves_of_one_split() {
    let problem = problem();
    let scope = root(&problem, 0);
    let (zero, third) = (q(0, 1), q(1, 3));
    let at = |node, coordinate, threshold: &Rational| halves(&scope, node, coordinate, threshold);
    assert!(Judgement::split(at(1, 0, &zero).0, at(1, 0, &zero).1).is_ok());
    assert!(mismatch(Judgement::split(at(1, 0, &zero).1, at(1, 0, &zero).0)), "sides exchanged");
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, at(1, 0, &zero).0)), "one side twice");
    assert!(mismatch(Judgement::split(at(1, 0, &zero).1, at(1, 0, &zero).1)), "one side twice");
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, at(1, 0, &third).1)), "thresholds with a gap or not");
    assert!(mismatch(Judgement::split(at(1, 0, &third).0, at(1, 0, &zero).1)));
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, at(1, 1, &zero).1)), "coordinates");
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, at(0, 0, &zero).1)), "nodes");
    assert!(mismatch(Judgement::split(proved(&scope), proved(&scope))), "no literal");
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, proved(&scope))));
    assert!(mismatch(Judgement::split(proved(&scope), at(1, 0, &zero).1)));
    let other = halves(&root(&problem, 1), 1, 0, &zero);
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, other.1)), "disjuncts");
    // An equal problem is another problem: identity, not likeness.
    let elsewhere = halves(&root(&self::problem(), 0), 1, 0, &zero);
    assert!(mismatch(Judgement::split(at(1, 0, &zero).0, elsewhere.1)));
}

#[test]
fn split_wants_the_same_earlier_literals_in_the_same_order() {
    let problem = problem();
    let scope = root(&problem, 0);
    let (zero, third) = (q(0, 1), q(1, 3));
    let (up, down) = scope.split(1, 0, &zero).unwrap();
    let below_up = halves(&up, 0, 1, &third);
    let below_down = halves(&down, 0, 1, &third);
    let bare = halves(&scope, 0, 1, &third);
    assert!(mismatch(Judgement::split(below_up.0, below_down.1)), "different branches");
    assert!(mismatch(Judgement::split(bare.0, below_down.0)), "different depths");
    // The same two literals met in the other order are another path.
    let (other, _) = scope.split(0, 1, &third).unwrap();
    let swapped = halves(&other, 1, 0, &zero);
    assert!(mismatch(Judgement::split(below_up.1, swapped.0)));
    // A path through the same literals built separately is the same path.
    let (rebuilt, _) = scope.split(1, 0, &zero).unwrap();
    let (first, second) = (halves(&up, 0, 1, &third), halves(&rebuilt, 0, 1, &third));
    let joined = Judgement::split(first.0, second.1).unwrap();
    assert!(mismatch(Judgement::cases(&problem, &[joined, proved(&root(&problem, 1))])), "a literal is left");
}

#[test]
fn cases_want_every_disjunct_once_in_order() {
    let problem = problem();
    let one = |disjunct| proved(&root(&problem, disjunct));
    assert!(Judgement::cases(&problem, &[one(0), one(1)]).is_ok());
    assert!(mismatch(Judgement::cases(&problem, &[])));
    assert!(mismatch(Judgement::cases(&problem, &[one(0)])), "one is missing");
    assert!(mismatch(Judgement::cases(&problem, &[one(1), one(0)])), "order");
    assert!(mismatch(Judgement::cases(&problem, &[one(0), one(0)])), "one twice");
    assert!(mismatch(Judgement::cases(&problem, &[one(0), one(1), one(1)])), "one too many");
    assert!(mismatch(Judgement::cases(&self::problem(), &[one(0), one(1)])), "another problem");
    let (leaf, _) = halves(&root(&problem, 1), 1, 0, &q(0, 1));
    assert!(mismatch(Judgement::cases(&problem, &[one(0), leaf])), "rests on a literal");
    let whole = Judgement::cases(&problem, &[one(0), one(1)]).unwrap();
    assert!(mismatch(Judgement::cases(&problem, &[one(0), whole])), "another statement");
}

#[test]
fn a_scope_is_of_a_disjunct_that_exists() {
    let problem = problem();
    assert!(matches!(Scope::root(&problem, Some(2), 3), Err(RuleError::NoSuch(_))));
    let shared = Scope::root(&problem, None, 3).unwrap();
    assert!(matches!(shared.for_disjunct(2), Err(RuleError::NoSuch(_))));
    assert!(mismatch(shared.refute(&hints(), &Slopes::default())), "whose rows?");
    assert!(shared.for_disjunct(1).unwrap().refute(&hints(), &Slopes::default()).is_ok());
    assert!(matches!(problem.region_of(2), Err(RuleError::NoSuch(_))));
}

/// A scope with inputs, and one known to be empty with as many literals.
fn open_and_empty() -> [Scope; 2] {
    let scope = root(&problem(), 0);
    let empty = scope.split(0, 0, &q(2, 1)).unwrap().0;
    let open = scope.split(0, 0, &q(0, 1)).unwrap().0;
    assert!(empty.is_empty() && !open.is_empty());
    [open, empty]
}

fn slopes(node: usize, list: &[(usize, Dyadic)]) -> Slopes {
    let mut slopes = Slopes::default();
    slopes.set(node, list.to_vec());
    slopes
}

#[test]
fn slopes_that_fit_nothing_are_refused_everywhere() {
    let (half, one, zero) = (d(1, -1), d(1, 0), d(0, 0));
    let above = &one + &d(1, -200);
    for mut scope in open_and_empty() {
        assert!(
            scope.refute(&hints(), &slopes(2, &[(0, zero.clone()), (1, one.clone())])).is_ok(),
            "both ends are in the domain"
        );
        let outside = |s: &Dyadic| slopes(2, &[(0, half.clone()), (1, s.clone())]);
        for slope in [above.clone(), d(-1, -200), d(2, 0), d(-1, 0)] {
            let error = RuleError::SlopeDomain { node: 2, coordinate: 1 };
            assert_eq!(scope.refute(&hints(), &outside(&slope)).unwrap_err(), error);
            assert_eq!(scope.tightened(3, 0, &outside(&slope), &Slopes::default()).unwrap_err(), error);
            assert_eq!(scope.tighten(3, 0, &Slopes::default(), &outside(&slope)).unwrap_err(), error);
        }
        let misfits = [
            slopes(1, &[(0, half.clone())]),
            slopes(0, &[]),
            slopes(9, &[]),
            slopes(2, &[(2, half.clone())]),
            slopes(2, &[(1, half.clone()), (0, half.clone())]),
            slopes(2, &[(0, half.clone()), (0, half.clone())]),
            slopes(2, &[(usize::MAX, half.clone())]),
        ];
        for misfit in misfits {
            assert!(matches!(scope.refute(&hints(), &misfit), Err(RuleError::NoSuch(_))), "{misfit:?}");
            // Also where no row reaches the node: the input's bounds need no ReLU.
            assert!(matches!(scope.tightened(0, 0, &misfit, &Slopes::default()), Err(RuleError::NoSuch(_))));
        }
    }
}

#[test]
fn multipliers_that_fit_nothing_are_refused_everywhere() {
    let with = |rows: &[(usize, i64)], literals: &[(usize, i64)]| Multipliers {
        rows: rows.iter().map(|(at, beta)| (*at, d(*beta, -200))).collect(),
        literals: literals.iter().map(|(at, beta)| (*at, d(*beta, -200))).collect(),
    };
    for scope in open_and_empty() {
        let refused = |m: &Multipliers| scope.refute(m, &Slopes::default()).unwrap_err();
        assert_eq!(refused(&with(&[(0, -1)], &[])), RuleError::NegativeMultiplier);
        assert_eq!(refused(&with(&[(0, 1)], &[(0, -1)])), RuleError::NegativeMultiplier);
        for m in [with(&[(1, 1)], &[]), with(&[(0, 1)], &[(1, 1)]), with(&[(usize::MAX, 0)], &[])] {
            assert!(matches!(refused(&m), RuleError::NoSuch(_)));
        }
    }
}

#[test]
fn coordinates_that_do_not_exist_are_refused_everywhere() {
    let none = Slopes::default();
    for mut scope in open_and_empty() {
        for (node, coordinate) in [(0, 2), (3, 1), (4, 0), (usize::MAX, usize::MAX)] {
            assert!(matches!(scope.split(node, coordinate, &q(0, 1)), Err(RuleError::NoSuch(_))));
            assert!(matches!(scope.tightened(node, coordinate, &none, &none), Err(RuleError::NoSuch(_))));
            assert!(matches!(scope.tighten(node, coordinate, &none, &none), Err(RuleError::NoSuch(_))));
            assert_eq!(scope.interval(node, coordinate), None);
        }
    }
}

#[test]
fn an_empty_scope_stays_empty_below() {
    let [_, empty] = open_and_empty();
    let (up, down) = empty.split(1, 0, &q(0, 1)).unwrap();
    assert!(up.is_empty() && down.is_empty());
    assert!(Judgement::split(proved(&up), proved(&down)).is_ok());
}
