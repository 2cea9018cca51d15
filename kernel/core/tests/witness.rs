//! WITNESS in balls: what is accepted is a witness by other evaluations, what is refused is none, and what no ball decides is left open.

mod support;

use certkern_core::affine::{Affine, LinearMap, Term};
use certkern_core::func::Function;
use certkern_core::num::Rational;
use certkern_core::program::{Node, Primitive, Program};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::rules::{Judgement, Problem, RuleError, Statement};
use num_traits::{FromPrimitive, ToPrimitive};
use std::sync::Arc;
use support::{Random, exact, power, q};

/// One layer: a matrix by rows, a bias, and the function after it.
struct Layer {
    weight: Vec<Vec<Rational>>,
    bias: Vec<Rational>,
    function: &'static str,
}

impl Layer {
    /// In binary64, with the functions of the standard library.
    fn floats(&self, x: &[f64]) -> Vec<f64> {
        let float = |value: &Rational| value.to_f64().unwrap();
        let sum = |(row, bias): (&Vec<Rational>, &Rational)| {
            float(bias) + row.iter().zip(x).map(|(w, x)| float(w) * x).sum::<f64>()
        };
        let apply = |z: f64| match self.function {
            "relu" if z > 0.0 => z,
            "relu" => 0.0,
            "sigmoid" => 1.0 / (1.0 + (-z).exp()),
            "tanh" => z.tanh(),
            "softplus" => z.exp().ln_1p(),
            "sin" => z.sin(),
            "exp" => z.exp(),
            other => panic!("{other}"),
        };
        self.weight.iter().zip(&self.bias).map(sum).map(apply).collect()
    }
}

fn program(inputs: usize, layers: &[Layer]) -> Program {
    let mut nodes = vec![Node { width: inputs, primitive: Primitive::Input }];
    for Layer { weight, bias, function } in layers {
        let width = weight.len();
        let map = LinearMap::dense(&exact(&[width, weight[0].len()], &weight.concat()), 1).unwrap();
        let terms = vec![Term { parent: nodes.len() - 1, map }];
        let affine = Affine::new(width, terms, Some(&exact(&[width], bias))).unwrap();
        let function = match *function {
            "relu" => Function::Relu,
            name => Function::library(name, Vec::new()).unwrap(),
        };
        let argument = nodes.len();
        nodes.push(Node { width, primitive: Primitive::Affine(affine) });
        nodes.push(Node { width, primitive: Primitive::Univariate { function, argument } });
    }
    let last = nodes.len() - 1;
    Program::new(nodes, vec![last]).unwrap()
}

/// Unsafe where all rows hold, for inputs from −1 to 1.
fn problem(inputs: usize, layers: &[Layer], rows: Vec<Row>) -> Arc<Problem> {
    let outputs = layers.last().unwrap().weight.len();
    let (lower, upper) = (vec![q(-1, 1); inputs], vec![q(1, 1); inputs]);
    let property = Property { lower, upper, outputs, disjuncts: vec![disjunct(rows)] };
    Arc::new(Problem::new(program(inputs, layers), property).unwrap())
}

/// `y_index ≤ bound`.
fn at_most(index: usize, bound: Rational) -> Row {
    Row { terms: vec![(Variable::Y(index), q(1, 1))], bound, strict: false }
}

/// `y_index ≥ bound`.
fn at_least(index: usize, bound: &Rational) -> Row {
    Row { terms: vec![(Variable::Y(index), q(-1, 1))], bound: -bound, strict: false }
}

fn open(row: Row) -> Row {
    Row { strict: true, ..row }
}

/// One function of one input.
fn alone(function: &'static str) -> Vec<Layer> {
    vec![Layer { weight: vec![vec![q(1, 1)]], bias: vec![q(0, 1)], function }]
}

/// Whether the point is accepted: `None` where it is not decided.
fn verdict(problem: &Arc<Problem>, x: &[Rational]) -> Option<bool> {
    let standing = problem.standing(x).unwrap();
    let verdict = match Judgement::witness(problem, x) {
        Ok(judgement) => {
            assert_eq!(judgement.statement(), Statement::Sat);
            assert!(standing.in_region() && standing.disjunct().is_some());
            return Some(true);
        }
        Err(RuleError::Mismatch(_)) => standing.undecided().is_none().then_some(false),
        Err(other) => panic!("{other:?}"),
    };
    assert!(!standing.in_region() || standing.disjunct().is_none());
    verdict
}

/// The functions of the standard library are wrong by some units in the last place, and the sums of these networks by some more: 10⁻⁹ is far above.
#[test]
fn random_networks_agree_with_floats() {
    let mut random = Random::new(7);
    let margin = q(1, 1_000_000_000);
    for round in 0..300 {
        let (inputs, depth) = (1 + random.below(3), 1 + random.below(3));
        let mut layers: Vec<Layer> = Vec::new();
        for _ in 0..depth {
            let (columns, rows) = (layers.last().map_or(inputs, |layer| layer.weight.len()), 1 + random.below(4));
            let mut row = |count: usize| (0..count).map(|_| random.rational(round % 2 == 0) / q(4, 1)).collect();
            let weight: Vec<Vec<Rational>> = (0..rows).map(|_| row(columns)).collect();
            let bias = row(rows);
            let function = ["sigmoid", "tanh", "softplus", "relu", "sin"][random.below(5)];
            layers.push(Layer { weight, bias, function });
        }
        layers[0].function = ["sigmoid", "tanh"][random.below(2)];
        let x: Vec<Rational> = (0..inputs).map(|_| random.rational(true) / q(12, 1)).collect();
        let floats = x.iter().map(|x| x.to_f64().unwrap()).collect();
        let near = layers.iter().fold(floats, |x: Vec<f64>, layer| layer.floats(&x));
        let index = random.below(near.len());
        let value = Rational::from_f64(near[index]).unwrap();

        let coarse = &program(inputs, &layers).enclose(&x, 64).unwrap()[index];
        let fine = &program(inputs, &layers).enclose(&x, 512).unwrap()[index];
        assert!(coarse.lower <= fine.upper && fine.lower <= coarse.upper, "two enclosures of one number are apart");
        assert!((&coarse.upper - &coarse.lower).to_rational() < power(-50), "round {round}: {coarse:?}");
        assert!((&fine.upper - &fine.lower).to_rational() < power(-498), "round {round}");
        assert!((fine.lower.to_rational() - &value) < margin && (&value - fine.upper.to_rational()) < margin);

        let of = |rows| verdict(&problem(inputs, &layers, rows), &x);
        let (above, below) = (&value + &margin, &value - &margin);
        assert_eq!(of(vec![at_most(index, above.clone()), open(at_least(index, &below))]), Some(true), "round {round}");
        assert_eq!(of(vec![at_most(index, below)]), Some(false), "round {round}");
        assert_eq!(of(vec![at_most(index, value.clone() + q(1, 1)), open(at_least(index, &above))]), Some(false));
    }
}

/// `y = tanh(sigmoid(x0 + x1)), tanh(sigmoid(x0 − x1 + 1/2))`.
fn twice() -> Vec<Layer> {
    let rows = |a: i64, b: i64, c: i64, d: i64| vec![vec![q(a, 1), q(b, 1)], vec![q(c, 1), q(d, 1)]];
    vec![
        Layer { weight: rows(1, 1, 1, -1), bias: vec![q(0, 1), q(1, 2)], function: "sigmoid" },
        Layer { weight: rows(1, 0, 0, 1), bias: vec![q(0, 1), q(0, 1)], function: "tanh" },
    ]
}

/// mpmath 1.3.0 at 70 digits: `tanh(1/(1+exp(-(x0+x1))))` and `tanh(1/(1+exp(-(x0-x1+mpf(1)/2))))` at `x0 = mpf(1)/3`, `x1 = mpf(1)/5`.
#[test]
fn values_of_mpmath_decide_by_their_last_digits() {
    let digits = [
        "558231373243286582717267829741107791850447747272745314008098",
        "573850359684528387589509263241453042104565327911100247665376",
    ];
    let x = [q(1, 3), q(1, 5)];
    for (index, digits) in digits.iter().enumerate() {
        let scale = Rational::from_integer(num_bigint::BigInt::from(10).pow(60));
        let value = Rational::from_integer(digits.parse().unwrap()) / &scale;
        let last = q(1, 1) / scale;
        for (rows, accepted) in [
            (vec![at_most(index, &value + &last)], true),
            (vec![at_most(index, &value - &last)], false),
            (vec![at_least(index, &(&value - &last))], true),
            (vec![at_least(index, &(&value + &last))], false),
        ] {
            let problem = problem(2, &twice(), rows);
            assert_eq!(verdict(&problem, &x), Some(accepted), "output {index}");
            // 10^-60 is about 2^-199.
            assert_eq!(problem.standing(&x).unwrap().bits, Some(256));
        }
    }
}

#[test]
fn what_is_exact_in_balls_touches() {
    // tanh 0 = 0 and softplus is above 0; every row of a disjunct counts.
    let zero = [q(0, 1)];
    for (rows, accepted) in [
        (vec![at_most(0, q(0, 1))], true),
        (vec![at_least(0, &q(0, 1))], true),
        (vec![open(at_most(0, q(0, 1)))], false),
        (vec![at_most(0, q(0, 1)), open(at_least(0, &q(0, 1)))], false),
    ] {
        assert_eq!(verdict(&problem(1, &alone("tanh"), rows), &zero), Some(accepted));
    }
}

#[test]
fn what_no_ball_decides_is_left_open() {
    // At x1 = 1/4 both arguments are 7/12: equal outputs, of which no ball knows.
    let difference =
        Row { terms: vec![(Variable::Y(0), q(1, 1)), (Variable::Y(1), q(-1, 1))], bound: q(0, 1), strict: false };
    let x = [q(1, 3), q(1, 4)];
    let undecided = problem(2, &twice(), vec![difference.clone()]);
    assert_eq!(verdict(&undecided, &x), None);
    let standing = undecided.standing(&x).unwrap();
    assert_eq!((standing.bits, standing.undecided()), (Some(1024), Some(0)));
    // Another row fails, which is enough; the row that is told is that one.
    let refused = problem(2, &twice(), vec![difference, at_most(1, q(1, 2))]);
    assert_eq!(verdict(&refused, &x), Some(false));
    assert_eq!(refused.standing(&x).unwrap().disjuncts[0].1.as_ref().unwrap().0, 1);
}

#[test]
fn small_and_large_numbers_stay_short() {
    let scaled = |factor: i64| vec![Layer { weight: vec![vec![q(factor, 1)]], bias: vec![q(0, 1)], function: "exp" }];
    let one = [q(1, 1)];
    let positive = || vec![open(at_least(0, &q(0, 1)))];
    // exp(−2000) is about 2^-2885.
    assert_eq!(verdict(&problem(1, &scaled(-2000), positive()), &one), Some(true));
    // exp(−10^12) is above 0, but nothing so small is computed with; it is not below 0.
    let tiny = scaled(-1_000_000_000_000);
    assert_eq!(verdict(&problem(1, &tiny, positive()), &one), None);
    assert_eq!(verdict(&problem(1, &tiny, vec![at_least(0, &q(0, 1))]), &one), Some(true));
    // exp(10^6) is beyond 2^4096, and an exponential of it beyond any memory.
    let huge = problem(1, &scaled(1_000_000), positive());
    assert_eq!(Judgement::witness(&huge, &one).unwrap_err(), RuleError::Budget);
    let tower = problem(1, &[scaled(1000), scaled(1)].into_iter().flatten().collect::<Vec<_>>(), positive());
    assert_eq!(Judgement::witness(&tower, &one).unwrap_err(), RuleError::Budget);
}

#[test]
fn balls_are_exact_where_exact_values_are_short() {
    let mut random = Random::new(11);
    for _ in 0..50 {
        let mut entry = || random.rational(false);
        let weight: Vec<Vec<Rational>> = (0..3).map(|_| vec![entry(), entry()]).collect();
        let layer = Layer { weight, bias: vec![entry(), entry(), entry()], function: "relu" };
        let x = [entry(), entry()];
        let program = program(2, &[layer]);
        let balls = program.enclose(&x, 64).unwrap();
        let ends: Vec<Rational> = balls.iter().map(|ball| ball.lower.to_rational()).collect();
        assert!(balls.iter().all(|ball| ball.lower == ball.upper));
        assert_eq!(ends, program.evaluate(&x).unwrap());
    }
}

/// The unsafe set is reached only beyond the region: at its end a point counts, 10⁻³⁰ beyond it none does.
#[test]
fn a_point_outside_the_region_is_no_witness() {
    let end = problem(1, &alone("relu"), vec![at_least(0, &q(0, 1))]).region().upper()[0].clone();
    let reached = problem(1, &alone("relu"), vec![at_least(0, &end)]);
    let hair = Rational::new(1.into(), num_bigint::BigInt::from(10).pow(30));
    assert_eq!(verdict(&reached, std::slice::from_ref(&end)), Some(true));
    for beyond in [&end + hair, &end + q(1, 1)] {
        assert_eq!(Judgement::witness(&reached, &[beyond]).err(), Some(RuleError::Mismatch("the point is no witness")));
    }
}
