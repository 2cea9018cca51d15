//! DOMAIN: a program is defined on the whole region by interval bounds, or nothing is proved about it; lines of functions up to the ends of their domains.

use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::{Elementary, Function};
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::{Node, NodeId, Primitive, Program};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{
    Attempt, Filter, FilterScope, Judgement, Multipliers, Problem, RuleError, Scope, Slopes, Statement,
};
use certkern_core::tensor::{Tensor, Values};
use std::sync::Arc;

type Ends = (Rational, Rational);

fn q(numer: i64, denom: i64) -> Rational {
    Rational::new(numer.into(), denom.into())
}

fn node(width: usize, primitive: Primitive) -> Node {
    Node { width, primitive }
}

fn function(name: &str, parameters: &[(i64, i64)], argument: NodeId) -> Node {
    let parameters = parameters.iter().map(|(p, d)| q(*p, *d)).collect();
    node(1, Primitive::Univariate { function: Function::library(name, parameters).unwrap(), argument })
}

/// `Σ parents + constant`.
fn sum(parents: &[NodeId], constant: Rational) -> Node {
    let terms = parents.iter().map(|parent| Term { parent: *parent, map: LinearMap::identity(1) }).collect();
    let constant = Tensor::new(vec![1], Values::Exact(vec![constant])).unwrap();
    node(1, Primitive::Affine(Affine::new(1, terms, Some(&constant)).unwrap()))
}

/// Unsafe: `sign·y ≤ bound` for the last of `nodes`, which follow the input.
fn problem(nodes: Vec<Node>, (lower, upper): Ends, sign: i64, bound: Rational) -> Arc<Problem> {
    let last = nodes.len();
    let nodes = std::iter::once(node(1, Primitive::Input)).chain(nodes).collect();
    let rows = vec![Row { terms: vec![(Variable::Y(0), q(sign, 1))], bound, strict: false }];
    let property = Property { lower: vec![lower], upper: vec![upper], outputs: 1, disjuncts: vec![disjunct(rows)] };
    Arc::new(Problem::new(Program::new(nodes, vec![last]).unwrap(), property).unwrap())
}

fn one() -> Multipliers {
    Multipliers { rows: vec![(0, Dyadic::new(1, 0))], literals: vec![] }
}

/// Whether each tier proves the property in one pass.
fn proved(problem: &Arc<Problem>) -> Result<[bool; 2], RuleError> {
    let exact = match Scope::root(problem, Some(0), 8)?.refute(&one(), &Slopes::default()) {
        Ok(judgement) => Judgement::cases(problem, &[judgement])?.statement() == Statement::Unsat,
        Err(RuleError::Unproved(_)) => false,
        Err(other) => return Err(other),
    };
    let filter = Filter::new(problem, &[]).unwrap();
    let scope = FilterScope::root(&filter, Some(0))?;
    let found = FilterScope::refute(&[Attempt { scope: &scope, multipliers: &one(), slopes: &[] }]);
    Ok([exact, found[0].is_some()])
}

/// Name, parameters, an interval in the domain, one that leaves it.
type Case<'a> = (&'a str, &'a [(i64, i64)], Ends, Ends);

#[test]
fn arguments_must_lie_in_the_domain() {
    let tiny = q(1, 1 << 62);
    let cases: [Case<'_>; 15] = [
        ("log", &[], (tiny.clone(), q(2, 1)), (q(0, 1), q(2, 1))),
        ("log", &[], (q(1, 3), q(2, 1)), (-&tiny, q(2, 1))),
        ("log2", &[], (q(1, 3), q(2, 1)), (q(-1, 1), q(2, 1))),
        ("log1p", &[], (q(-99, 100), q(2, 1)), (q(-1, 1), q(2, 1))),
        ("sqrt", &[], (q(0, 1), q(2, 1)), (-&tiny, q(2, 1))),
        ("rsqrt", &[], (tiny.clone(), q(2, 1)), (q(0, 1), q(2, 1))),
        ("inv", &[], (tiny.clone(), q(2, 1)), (q(0, 1), q(2, 1))),
        ("inv", &[], (q(-2, 1), -&tiny), (q(-2, 1), q(0, 1))),
        ("inv", &[], (q(-2, 1), q(-1, 3)), (q(-1, 1), q(1, 1))),
        ("power", &[(1, 2)], (q(0, 1), q(2, 1)), (-&tiny, q(2, 1))),
        ("power", &[(-2, 1)], (q(-2, 1), q(-1, 1)), (q(-2, 1), q(1, 1))),
        ("power", &[(-1, 2)], (tiny.clone(), q(1, 1)), (q(0, 1), q(1, 1))),
        ("acosh", &[], (q(1, 1), q(2, 1)), (q(9, 10), q(2, 1))),
        ("asin", &[], (q(-1, 1), q(1, 1)), (q(-1, 1), q(1, 1) + &tiny)),
        ("tan", &[], (q(-3, 2), q(3, 2)), (q(-3, 2), q(8, 5))),
    ];
    for (name, parameters, inside, outside) in cases {
        let of = |ends| problem(vec![function(name, parameters, 0)], ends, 1, q(-1_000_000, 1));
        assert!(proved(&of(inside.clone())).is_ok(), "{name} {inside:?}");
        let problem = of(outside.clone());
        let refused = Some(RuleError::Undefined { node: 1, coordinate: 0 });
        assert_eq!(proved(&problem).err(), refused, "{name} {outside:?}");
        let filter = Filter::new(&problem, &[]).unwrap();
        assert_eq!(FilterScope::root(&filter, None).err(), refused, "{name} {outside:?}");
    }
}

/// "F is defined on X" is part of the proposition: a disjunct whose own region lies inside the domain, or is empty, proves nothing where the region does not.
#[test]
fn the_whole_region_counts_not_that_of_a_disjunct() {
    let of = |lower: Rational, own: Rational| {
        let nodes = vec![node(1, Primitive::Input), function("log", &[], 0)];
        let above = Row { terms: vec![(Variable::X(0), q(-1, 1))], bound: -own, strict: false };
        let row = Row { terms: vec![(Variable::Y(0), q(1, 1))], bound: q(-1, 1), strict: false };
        let property =
            Property { lower: vec![lower], upper: vec![q(2, 1)], outputs: 1, disjuncts: vec![disjunct([above, row])] };
        Arc::new(Problem::new(Program::new(nodes, vec![1]).unwrap(), property).unwrap())
    };
    // log x ≤ −1 and x ≥ 1/2: −0.69 is the least.
    let hints = Multipliers { rows: vec![(1, Dyadic::new(1, 0))], literals: vec![] };
    let judged = |problem: &Arc<Problem>| {
        let judgement = Scope::root(problem, Some(0), 8)?.refute(&hints, &Slopes::default())?;
        Judgement::cases(problem, &[judgement]).map(|judgement| judgement.statement())
    };
    assert_eq!(judged(&of(q(1, 100), q(1, 2))), Ok(Statement::Unsat));
    assert_eq!(judged(&of(q(1, 100), q(3, 1))), Ok(Statement::Unsat));
    let undefined = RuleError::Undefined { node: 1, coordinate: 0 };
    assert_eq!(judged(&of(q(0, 1), q(1, 2))), Err(undefined.clone()));
    assert_eq!(judged(&of(q(-1, 1), q(3, 1))), Err(undefined));
}

/// A split at `log x ≥ τ` and `log x ≤ τ` does not cover the points where `log x` is undefined: there is no scope to split.
#[test]
fn a_point_without_a_value_is_in_neither_half() {
    let nodes = || vec![function("log", &[], 0)];
    let inside = problem(nodes(), (q(1, 2), q(2, 1)), 1, q(-1, 1));
    let scope = Scope::root(&inside, Some(0), 8).unwrap();
    let (up, down) = scope.split(1, 0, &q(0, 1)).unwrap();
    let halves = [up, down].map(|half| half.refute(&one(), &Slopes::default()).unwrap());
    let [up, down] = halves;
    let joined = Judgement::split(up, down).unwrap();
    assert!(Judgement::cases(&inside, &[joined]).is_ok());
    let across = problem(nodes(), (q(-1, 2), q(2, 1)), 1, q(-1, 1));
    assert_eq!(Scope::root(&across, None, 8).err(), Some(RuleError::Undefined { node: 1, coordinate: 0 }));
}

#[test]
fn squares_are_known_not_to_be_negative() {
    // log(1 + x²) and √(x²) on [−2, 2], the square as one node's; of two nodes that are always equal nothing is known.
    let square = |left, right| node(1, Primitive::Product { left, right });
    let nodes = |right, name| vec![sum(&[0], q(0, 1)), square(0, right), sum(&[2], q(1, 1)), function(name, &[], 3)];
    let ends = || (q(-2, 1), q(2, 1));
    assert_eq!(proved(&problem(nodes(0, "log"), ends(), 1, q(-1, 2))), Ok([true, true]));
    assert_eq!(
        proved(&problem(nodes(1, "log"), ends(), 1, q(-1, 2))),
        Err(RuleError::Undefined { node: 4, coordinate: 0 })
    );
    let root = vec![square(0, 0), function("sqrt", &[], 1)];
    // √ is steep at 0; −√ ≥ −9/4 is met by the chord's parallel.
    assert_eq!(proved(&problem(root, ends(), -1, q(-3, 1))), Ok([true, true]));
}

#[test]
fn points_without_values_are_named() {
    let problem = problem(vec![function("log", &[], 0), function("inv", &[], 1)], (q(1, 1), q(2, 1)), 1, q(0, 1));
    assert_eq!(problem.standing(&[q(-1, 3)]).err(), Some(RuleError::Undefined { node: 1, coordinate: 0 }));
    assert_eq!(problem.standing(&[q(0, 1)]).err(), Some(RuleError::Undefined { node: 1, coordinate: 0 }));
    // A ball around ln 1 holds 0 at any precision.
    assert_eq!(problem.standing(&[q(1, 1)]).err(), Some(RuleError::Budget));
    assert_eq!(Judgement::witness(&problem, &[q(-1, 3)]).err(), Some(RuleError::Undefined { node: 1, coordinate: 0 }));
}

/// What a function is at points of an interval is never refuted by either tier; a little beyond its least or greatest value on the side where it bends away, it is.
#[test]
fn lines_reach_to_the_ends_of_domains() {
    let whole = |l: i64, u: i64| (Dyadic::new(l, -4), Dyadic::new(u, -4));
    // In sixteenths; the sign on whose side the chord is the best line.
    let cases = [
        ("sqrt", vec![], whole(0, 64), 1),
        ("sqrt", vec![], whole(0, 1), 1),
        ("sqrt", vec![], whole(0, 0), 1),
        ("log", vec![], whole(1, 64), 1),
        ("log1p", vec![], whole(-15, 64), 1),
        ("inv", vec![], whole(1, 40), -1),
        ("inv", vec![], whole(-40, -3), 1),
        ("rsqrt", vec![], whole(1, 40), -1),
        ("power", vec![(1, 2)], whole(0, 33), 1),
        ("power", vec![(3, 2)], whole(0, 33), -1),
        ("power", vec![(-2, 1)], whole(-33, -4), -1),
        ("acosh", vec![], whole(16, 50), 1),
        ("asin", vec![], whole(0, 16), -1),
        ("asin", vec![], whole(-16, 0), 1),
        ("acos", vec![], whole(-16, 0), -1),
        ("acos", vec![], whole(0, 16), 1),
    ];
    for (name, parameters, (lower, upper), side) in cases {
        let own = Elementary::new(name, parameters.iter().map(|(p, d)| q(*p, *d)).collect()).unwrap();
        let at = |x: &Dyadic| own.at(x, 100).unwrap().midpoint().to_rational();
        let of = |sign: i64, bound: Rational| {
            let nodes = vec![function(name, &parameters, 0)];
            problem(nodes, (lower.to_rational(), upper.to_rational()), sign, bound)
        };
        let points: Vec<Dyadic> =
            (0..=16).map(|step| &lower + &(&(&upper - &lower) * &Dyadic::new(step, -4))).collect();
        let slack = q(1, 1 << 30);
        for sign in [1, -1] {
            let values = points.iter().map(|x| at(x) * q(sign, 1));
            for value in values.clone() {
                assert_eq!(proved(&of(sign, value + &slack)), Ok([false, false]), "{name} {lower:?} {sign}");
            }
            if sign == side || lower == upper {
                let least = values.min().unwrap();
                assert_eq!(proved(&of(sign, least - &slack)), Ok([true, true]), "{name} {lower:?} {sign}");
            }
        }
    }
}

/// Halving does not come from 2^20 to the point where √ is as steep as 2^12: the point of the tangent is not the end, where there is none.
#[test]
fn a_line_steeper_than_every_tangent_point_that_is_tried_is_a_line() {
    let problem = problem(vec![function("sqrt", &[], 0)], (q(0, 1), q(1 << 20, 1)), -1, -q(1 << 33, 1));
    let mut slopes = Slopes::default();
    slopes.set_upper(1, vec![(0, Dyadic::new(1, 12))]);
    assert!(Scope::root(&problem, Some(0), 8).unwrap().refute(&one(), &slopes).is_ok());
}

/// `e^x/(e^x + 1)` as a product with an inverse, by lines and planes of both tiers.
#[test]
fn a_softmax_of_products_is_bounded() {
    let product = |left, right| node(1, Primitive::Product { left, right });
    let softmax = || vec![function("exp", &[], 0), sum(&[1], q(1, 1)), function("inv", &[], 2), product(1, 3)];
    // x in [−1/4, 1/4]: e^x/(e^x + 1) from 0.4378 to 0.5622.
    let ends = || (q(-1, 4), q(1, 4));
    assert_eq!(proved(&problem(softmax(), ends(), 1, q(2, 5))), Ok([true, true]));
    assert_eq!(proved(&problem(softmax(), ends(), -1, q(-13, 20))), Ok([true, true]));
    assert_eq!(proved(&problem(softmax(), ends(), 1, q(4379, 10_000))), Ok([false, false]));
    assert_eq!(proved(&problem(softmax(), ends(), -1, q(-5621, 10_000))), Ok([false, false]));
}
