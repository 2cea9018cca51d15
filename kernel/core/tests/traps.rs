//! The traps of the rules, one test each.

mod support;

use certkern_core::num::{Dyadic, Rational};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{Judgement, Multipliers, Problem, RuleError, Scope, Slopes};
use std::sync::Arc;
use support::{Net, Op, RELU, Random, d, dense, power, q};

fn row(terms: &[(Variable, Rational)], bound: Rational, strict: bool) -> Row {
    Row { terms: terms.to_vec(), bound, strict }
}

fn y(i: usize, c: i64) -> (Variable, Rational) {
    (Variable::Y(i), q(c, 1))
}

fn x(i: usize, c: i64) -> (Variable, Rational) {
    (Variable::X(i), q(c, 1))
}

/// `y = relu(x)` over one input; node 1 is the pre-activation.
fn relu() -> Net {
    let ops = vec![Op::Input(1), Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None), Op::Relu(1)];
    Net { ops, outputs: vec![2] }
}

fn problem(net: &Net, lower: Rational, upper: Rational, disjuncts: Vec<Vec<Row>>) -> Arc<Problem> {
    let outputs = net.outputs.iter().map(|id| net.width(*id)).sum();
    let disjuncts = disjuncts.into_iter().map(disjunct).collect();
    let property = Property { lower: vec![lower], upper: vec![upper], outputs, disjuncts };
    Arc::new(Problem::new(net.build(), property).unwrap())
}

fn hints(rows: &[(usize, i64)], literals: &[(usize, i64)]) -> Multipliers {
    let all = |list: &[(usize, i64)]| list.iter().map(|(at, beta)| (*at, d(*beta, 0))).collect();
    Multipliers { rows: all(rows), literals: all(literals) }
}

fn is_unproved(result: Result<Judgement, RuleError>) -> bool {
    matches!(result, Err(RuleError::Unproved(_)))
}

/// Every small combination of multipliers fails.
fn nothing_closes(scope: &Scope, rows: usize) {
    assert!(!scope.is_empty());
    let literals = scope.literals().len();
    for code in 0..3_usize.pow((rows + literals) as u32) {
        let beta = |at: usize| (code / 3_usize.pow(at as u32) % 3) as i64;
        let rows: Vec<_> = (0..rows).map(|at| (at, beta(at))).collect();
        let literals: Vec<_> = (0..literals).map(|at| (at, beta(rows.len() + at))).collect();
        assert!(is_unproved(scope.refute(&hints(&rows, &literals), &Slopes::default())));
    }
}

#[test]
fn scope_bounds_of_one_half_do_not_serve_the_other() {
    // A table by network node would hand the clamp of the leaf z ≤ 0 to its sibling z ≥ 0, where y = x reaches 1.
    let problem = problem(&relu(), q(-1, 1), q(1, 1), vec![vec![row(&[y(0, -1)], q(-1, 2), false)]]);
    let root = Scope::root(&problem, Some(0), 3).unwrap();
    let (at_least, mut at_most) = root.split(1, 0, &q(0, 1)).unwrap();
    at_most.interval_bounds().unwrap();
    at_most.tighten_unstable(1, &RELU).unwrap();
    assert!(at_most.refute(&hints(&[(0, 1)], &[]), &Slopes::default()).is_ok());
    assert_eq!(at_least.interval(1, 0).unwrap().upper, d(1, 0));
    nothing_closes(&at_least, 1);
    // Nor does the parent learn from its half.
    assert_eq!(root.interval(2, 0).unwrap().upper, d(1, 0));
    nothing_closes(&root, 1);
    // The sides that a split returns are the sides that it states, so a half cannot stand for both.
    let closed = || at_most.refute(&hints(&[(0, 1)], &[]), &Slopes::default()).unwrap();
    assert!(matches!(Judgement::split(closed(), closed()), Err(RuleError::Mismatch(_))));
}

#[test]
fn scope_bounds_of_one_disjunct_do_not_serve_another() {
    // Disjunct 0 keeps x ≤ 0, where the ReLU is off; disjunct 1 (y ≥ 1/2) is satisfiable at x = 1. They share a tree.
    let rows = vec![
        vec![row(&[x(0, 1)], q(0, 1), false), row(&[y(0, -1)], q(-1, 2), false)],
        vec![row(&[y(0, -1)], q(-1, 2), false)],
    ];
    let problem = problem(&relu(), q(-1, 1), q(1, 1), rows);
    let clamped = Scope::root(&problem, Some(0), 3).unwrap();
    assert_eq!(clamped.interval(2, 0).unwrap().upper, d(0, 0));
    assert!(clamped.refute(&hints(&[(1, 1)], &[]), &Slopes::default()).is_ok());
    assert!(matches!(clamped.for_disjunct(1), Err(RuleError::Mismatch(_))));
    assert!(clamped.for_disjunct(0).is_ok());
    let shared = Scope::root(&problem, None, 3).unwrap();
    nothing_closes(&shared.for_disjunct(1).unwrap(), 1);
    let (at_least, at_most) = shared.split(0, 0, &q(0, 1)).unwrap();
    let mut at_most = at_most;
    at_most.interval_bounds().unwrap();
    assert!(at_most.for_disjunct(0).unwrap().refute(&hints(&[(1, 1)], &[]), &Slopes::default()).is_ok());
    assert!(at_most.for_disjunct(1).unwrap().refute(&hints(&[(0, 1)], &[]), &Slopes::default()).is_ok());
    nothing_closes(&at_least.for_disjunct(1).unwrap(), 1);
}

#[test]
fn empty_a_fixed_input_split_at_its_value_stays_in_both_halves() {
    // Reading "not below" as "above" would leave both halves empty and prove anything.
    for value in [q(1, 2), q(1, 3), q(1, 10)] {
        let problem = problem(&relu(), value.clone(), value.clone(), vec![vec![row(&[y(0, 1)], value.clone(), false)]]);
        let root = Scope::root(&problem, Some(0), 3).unwrap();
        for node in 0..3 {
            let (mut at_least, mut at_most) = root.split(node, 0, &value).unwrap();
            at_least.interval_bounds().unwrap();
            at_most.interval_bounds().unwrap();
            nothing_closes(&at_least, 1);
            nothing_closes(&at_most, 1);
        }
        // Strictly beyond the value one half is empty, exactly.
        let (above, below) = root.split(0, 0, &(&value + power(-400))).unwrap();
        assert!(above.is_empty() && !below.is_empty());
        assert_eq!(above.interval(0, 0), None);
        let (above, below) = root.split(0, 0, &(&value - power(-400))).unwrap();
        assert!(!above.is_empty() && below.is_empty());
    }
}

#[test]
fn empty_a_literal_contradicts_bounds_only_strictly() {
    let problem = problem(&relu(), q(-1, 1), q(1, 1), vec![vec![row(&[y(0, -1)], q(0, 1), false)]]);
    let root = Scope::root(&problem, Some(0), 3).unwrap();
    // Bounds of the output are [0, 1]: y ≤ 0 and y ≥ 1 touch them.
    assert!(!root.split(2, 0, &q(0, 1)).unwrap().1.is_empty());
    assert!(!root.split(2, 0, &q(1, 1)).unwrap().0.is_empty());
    assert!(root.split(2, 0, &-power(-300)).unwrap().1.is_empty());
    assert!(root.split(2, 0, &(q(1, 1) + power(-300))).unwrap().0.is_empty());
}

#[test]
fn a_split_at_a_third_or_a_tenth_keeps_the_point_on_it() {
    // The only counterexample is x = τ. A τ that is rounded, in either direction, would lose it in one of the halves.
    for tau in [q(1, 3), q(1, 10)] {
        let rows = |strict| vec![row(&[y(0, 1)], tau.clone(), strict), row(&[y(0, -1)], -&tau, false)];
        for node in 0..3 {
            let sat = problem(&relu(), q(0, 1), q(1, 1), vec![rows(false)]);
            let (mut up, mut down) = Scope::root(&sat, Some(0), 3).unwrap().split(node, 0, &tau).unwrap();
            up.interval_bounds().unwrap();
            down.interval_bounds().unwrap();
            nothing_closes(&up, 2);
            nothing_closes(&down, 2);
            // The same tree twice over.
            let (upper, lower) = up.split(0, 0, &tau).unwrap();
            nothing_closes(&upper, 2);
            nothing_closes(&lower, 2);
        }
        // With y < τ ≤ y there is none, and exact thirds and tenths see it: −y + τ + y − τ = 0, with an open row.
        let unsat = problem(&relu(), q(0, 1), q(1, 1), vec![rows(true)]);
        let root = Scope::root(&unsat, Some(0), 3).unwrap();
        assert!(root.refute(&hints(&[(0, 1), (1, 1)], &[]), &Slopes::default()).is_ok());
        let (up, down) = root.split(0, 0, &tau).unwrap();
        assert!(up.refute(&hints(&[(0, 1)], &[]), &Slopes::default()).is_ok());
        assert!(is_unproved(down.refute(&hints(&[(1, 1)], &[]), &Slopes::default())), "closed at τ");
        assert!(down.refute(&hints(&[(0, 1), (1, 1)], &[]), &Slopes::default()).is_ok());
        // The literal itself in the stead of the box: (y − τ) + (τ − z), y = z for z ≥ 0.
        let (up, _) = root.split(1, 0, &tau).unwrap();
        assert!(up.refute(&hints(&[(0, 1)], &[(0, 1)]), &Slopes::default()).is_ok());
    }
}

#[test]
fn lines_a_float_chord_is_often_no_upper_line() {
    // s = u/(u − l) and b = −s·l in binary64, read as exact numbers: below relu at l or at u more often than not.
    let mut random = Random::new(1);
    let mut wrong = 0;
    let total = 2000;
    for _ in 0..total {
        let unit = |random: &mut Random| (random.bits() >> 11) as f64 / (1_u64 << 53) as f64 + f64::MIN_POSITIVE;
        let (l, u) = (-unit(&mut random) * 3.0, unit(&mut random) * 3.0);
        let s = u / (u - l);
        let b = -s * l;
        let exact = |v: f64| Rational::from_float(v).unwrap();
        let (l, u, s, b) = (exact(l), exact(u), exact(s), exact(b));
        wrong += usize::from(&s * &l + &b < q(0, 1) || &s * &u + &b < u);
        // Ours over the same bounds: −y + (s z + b) ≥ 0 must come out as a bound of −y that never passes the true −u.
        let rows = vec![row(&[y(0, -1)], -&u, false)];
        let problem = problem(&relu(), l.clone(), u.clone(), vec![rows]);
        let scope = Scope::root(&problem, Some(0), 3).unwrap();
        let Err(RuleError::Unproved(bound)) = scope.refute(&hints(&[(0, 1)], &[]), &Slopes::default()) else {
            panic!("refuted although y = u at x = u")
        };
        assert!(bound <= q(0, 1) && bound >= -power(-30), "the chord touches at u, up to its slope's rounding");
    }
    assert!(wrong * 2 > total, "{wrong} of {total}");
}

#[test]
fn cases_a_box_misses_a_disjunct_only_if_strictly_apart() {
    let with = |c: i64, bound: Rational, strict| {
        let problem = problem(&relu(), q(-1, 1), q(1, 1), vec![vec![row(&[x(0, c)], bound, strict)]]);
        Scope::root(&problem, Some(0), 3).unwrap()
    };
    // x ≤ −1 touches, x ≤ −1 − 2^-300 is apart; −x ≤ −1 likewise on the other side; 3x ≤ −3 is the same as x ≤ −1.
    nothing_closes(&with(1, q(-1, 1), false), 1);
    nothing_closes(&with(3, q(-3, 1), false), 1);
    nothing_closes(&with(-1, q(-1, 1), false), 1);
    for apart in [with(1, q(-1, 1) - power(-300), false), with(-1, q(-1, 1) - power(-300), false)] {
        assert!(apart.is_empty());
        assert!(apart.refute(&Multipliers::default(), &Slopes::default()).is_ok());
    }
    // An open row that touches is refuted by its own multiplier, not by the box.
    let open = with(1, q(-1, 1), true);
    assert!(!open.is_empty());
    assert!(is_unproved(open.refute(&Multipliers::default(), &Slopes::default())));
    assert!(open.refute(&hints(&[(0, 1)], &[]), &Slopes::default()).is_ok());
}

#[test]
fn property_a_disjunct_without_rows_is_the_whole_space() {
    let problem = problem(&relu(), q(-1, 1), q(1, 1), vec![vec![]]);
    let root = Scope::root(&problem, Some(0), 3).unwrap();
    nothing_closes(&root, 0);
    let (up, down) = root.split(1, 0, &q(1, 3)).unwrap();
    nothing_closes(&up, 0);
    nothing_closes(&down, 0);
}

#[test]
fn property_what_does_not_fit_the_program_is_refused() {
    let good = || Property {
        lower: vec![q(0, 1)],
        upper: vec![q(1, 1)],
        outputs: 1,
        disjuncts: vec![disjunct([row(&[y(0, 1)], q(0, 1), false)])],
    };
    let refused = |property: Property| matches!(Problem::new(relu().build(), property), Err(RuleError::Mismatch(_)));
    assert!(!refused(good()));
    assert!(refused(Property { lower: vec![q(2, 1)], ..good() }), "empty region");
    assert!(refused(Property { lower: vec![q(0, 1), q(0, 1)], ..good() }), "ends differ in number");
    assert!(refused(Property { lower: vec![q(0, 1); 2], upper: vec![q(1, 1); 2], ..good() }), "two inputs");
    assert!(refused(Property { outputs: 2, ..good() }));
    assert!(refused(Property { disjuncts: vec![], ..good() }), "no disjunct");
    assert!(refused(Property { disjuncts: vec![disjunct([row(&[y(1, 1)], q(0, 1), false)])], ..good() }));
    assert!(refused(Property { disjuncts: vec![disjunct([row(&[x(1, 1)], q(0, 1), false)])], ..good() }));
    // A coefficient of zero would be divided by where a row speaks of one input alone.
    assert!(refused(Property { disjuncts: vec![disjunct([row(&[x(0, 0)], q(-1, 1), false)])], ..good() }));
}

#[test]
fn beta_tau_keeps_its_exact_value_below_the_slopes_rounding() {
    // A threshold of 1/3 times a multiplier of 2^-200 still decides a sum of 2^-300.
    let tau = q(1, 3);
    let edge = problem(&relu(), q(0, 1), q(1, 1), vec![vec![row(&[y(0, 1)], &tau - power(-300), false)]]);
    let (up, _) = Scope::root(&edge, Some(0), 3).unwrap().split(1, 0, &tau).unwrap();
    let tiny = Dyadic::new(1, -200);
    let both = Multipliers { rows: vec![(0, tiny.clone())], literals: vec![(0, tiny)] };
    assert!(up.refute(&both, &Slopes::default()).is_ok());
    let touching = problem(&relu(), q(0, 1), q(1, 1), vec![vec![row(&[y(0, 1)], tau.clone(), false)]]);
    let (up, _) = Scope::root(&touching, Some(0), 3).unwrap().split(1, 0, &tau).unwrap();
    let Err(RuleError::Unproved(bound)) = up.refute(&both, &Slopes::default()) else {
        panic!("y = τ is a counterexample")
    };
    assert_eq!(bound, q(0, 1));
}
