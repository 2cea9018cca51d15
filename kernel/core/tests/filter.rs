//! The filter tier from outside: what it accepts is true, whatever the hints, and it accepts nearly all that the exact tier does.

mod support;

use certkern_core::affine::Convolution;
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::NodeId;
use certkern_core::property::{Property, Range, Row, Variable, disjunct};
use certkern_core::rules::{
    Attempt, Filter, FilterScope, Judgement, Literal, Multipliers, NodeSlopes, Problem, RuleError, Scope, Side, Slopes,
    Statement,
};
use certkern_core::tensor::{Tensor, TensorError, Values};
use num_traits::{Signed, Zero};
use std::sync::Arc;
use support::case::{Case, case, case_of};
use support::wild::{wild_net, wild_property};
use support::{Map, Net, Op, RELU, Random, d, dense, mixed_net, power, q, random_net};

/// `Σ c·y ≤ bound`.
fn row(coefficients: &[(usize, Rational)], bound: Rational) -> Row {
    Row { terms: coefficients.iter().map(|(i, c)| (Variable::Y(*i), c.clone())).collect(), bound, strict: false }
}

fn problem(net: &Net, ends: (&[Rational], &[Rational]), disjuncts: Vec<Vec<Row>>) -> Arc<Problem> {
    let outputs = net.outputs.iter().map(|id| net.width(*id)).sum();
    let disjuncts = disjuncts.into_iter().map(disjunct).collect();
    let property = Property { lower: ends.0.to_vec(), upper: ends.1.to_vec(), outputs, disjuncts };
    Arc::new(Problem::new(net.build(), property).unwrap())
}

fn hints(rows: &[(usize, i64)], literals: &[(usize, i64)]) -> Multipliers {
    let all = |list: &[(usize, i64)]| list.iter().map(|(at, beta)| (*at, d(*beta, 0))).collect();
    Multipliers { rows: all(rows), literals: all(literals) }
}

fn attempt(scope: &FilterScope, multipliers: &Multipliers) -> Option<Judgement> {
    FilterScope::refute(&[Attempt { scope, multipliers, slopes: &[] }]).pop().flatten()
}

fn root(problem: &Arc<Problem>, disjunct: Option<usize>) -> FilterScope {
    FilterScope::root(&Filter::new(problem, &[]).unwrap(), disjunct).unwrap()
}

/// Every small combination of multipliers fails.
fn nothing_closes(scope: &FilterScope, rows: usize, literals: usize) {
    let choices: Vec<Multipliers> = (0..3_usize.pow((rows + literals) as u32))
        .map(|code| {
            let beta = |at: usize| (code / 3_usize.pow(at as u32) % 3) as i64;
            let row_part: Vec<_> = (0..rows).map(|at| (at, beta(at))).collect();
            let literal_part: Vec<_> = (0..literals).map(|at| (at, beta(rows + at))).collect();
            hints(&row_part, &literal_part)
        })
        .collect();
    let batch: Vec<_> = choices.iter().map(|multipliers| Attempt { scope, multipliers, slopes: &[] }).collect();
    assert!(FilterScope::refute(&batch).iter().all(Option::is_none));
}

/// `y = relu(x)` over one input; node 1 is the pre-activation.
fn relu() -> Net {
    let ops = vec![Op::Input(1), Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None), Op::Relu(1)];
    Net { ops, outputs: vec![2] }
}

/// Slopes for some coordinates of some ReLUs, one row each.
struct Hints(Vec<(NodeId, Vec<usize>, Tensor)>);

impl Hints {
    fn random(random: &mut Random, net: &Net) -> Self {
        let mut all = Vec::new();
        for (id, op) in net.ops.iter().enumerate() {
            if matches!(op, Op::Relu(_)) && random.chance(70) {
                let columns: Vec<usize> = (0..net.width(id)).filter(|_| random.chance(80)).collect();
                let values = columns.iter().map(|_| (random.between(0, 16) as f64 / 16.0).to_bits()).collect();
                let tensor = Tensor::new(vec![1, columns.len()], Values::Binary64(values)).unwrap();
                all.push((id, columns, tensor));
            }
        }
        Self(all)
    }

    fn given(&self) -> Vec<NodeSlopes<'_>> {
        self.0
            .iter()
            .map(|(node, columns, values)| NodeSlopes { node: *node, columns, values, upper: None, row: 0 })
            .collect()
    }

    fn exact(&self) -> Slopes {
        let mut slopes = Slopes::default();
        for (node, columns, values) in &self.0 {
            let of = |at: usize| values.dyadic(at).unwrap();
            slopes.set(*node, columns.iter().enumerate().map(|(at, column)| (*column, of(at))).collect());
        }
        slopes
    }
}

/// A scope in both tiers.
struct Both {
    exact: Scope,
    filter: FilterScope,
}

/// A split at a place of the filter's thresholds.
type Cut = (NodeId, usize, Rational);

impl Both {
    fn root(problem: &Arc<Problem>, filter: &Arc<Filter>, disjunct: Option<usize>) -> Self {
        let exact = Scope::root(problem, disjunct, 8).unwrap();
        Self { exact, filter: FilterScope::root(filter, disjunct).unwrap() }
    }

    fn improve(&mut self, random: &mut Random, net: &Net, relus: &[(NodeId, NodeId)]) {
        match random.below(4) {
            0 => {
                self.exact.interval_bounds().unwrap();
                self.filter.interval_bounds().unwrap();
            }
            1 if !relus.is_empty() => {
                let node = relus[random.below(relus.len())].1;
                self.exact.tighten_unstable(node, &RELU).unwrap();
                self.filter.tighten_unstable(node, &RELU).unwrap();
            }
            2 => {
                let node = random.below(net.ops.len());
                let hints = Hints::random(random, net);
                for coordinate in 0..net.width(node) {
                    let slopes = hints.exact();
                    let known = self.exact.interval(node, coordinate);
                    let taken = net.ops.iter().any(|op| matches!(op, Op::Relu(argument) if *argument == node));
                    if taken && known.is_some_and(|i| i.lower.is_negative() && i.upper.is_positive()) {
                        self.exact.tighten(node, coordinate, &slopes, &slopes).unwrap();
                    }
                    let pairs: Vec<_> = hints.given().into_iter().map(|s| (s, s)).collect();
                    self.filter.tighten(node, &[coordinate], &pairs).unwrap();
                }
            }
            _ => (),
        }
    }

    fn split(&self, cut: &Cut, place: usize) -> [Self; 2] {
        let (node, coordinate, threshold) = cut;
        let exact = self.exact.split(*node, *coordinate, threshold).unwrap();
        let filter = self.filter.split(*node, *coordinate, place).unwrap();
        [Self { exact: exact.0, filter: filter.0 }, Self { exact: exact.1, filter: filter.1 }]
    }
}

#[derive(Debug, Default)]
struct Seen {
    refuted: usize,
    open: usize,
    exact_only: usize,
    filter_only: usize,
}

fn cuts(random: &mut Random, case: &Case, count: usize) -> Vec<Cut> {
    let cut = |random: &mut Random| {
        let node = random.below(case.net.ops.len());
        let coordinate = random.below(case.net.width(node));
        let threshold = match random.below(6) {
            0 => Rational::zero(),
            1 => q(1, 3),
            2 => q(1, 10),
            3 => random.rational(true),
            // The counterexample lies on the threshold: it belongs to both halves.
            _ => case.samples[0].values[node][coordinate].clone(),
        };
        (node, coordinate, threshold)
    };
    (0..count).map(|_| cut(random)).collect()
}

fn explore(random: &mut Random, case: &Case, mut both: Both, cuts: &[Cut], depth: usize, seen: &mut Seen) {
    let relus: Vec<_> = case.relus().collect();
    for _ in 0..random.below(3) {
        both.improve(random, &case.net, &relus);
    }
    let multipliers = case.multipliers(random, &both.exact, 0);
    let hints = Hints::random(random, &case.net);
    let slopes = hints.given();
    let found = FilterScope::refute(&[Attempt { scope: &both.filter, multipliers: &multipliers, slopes: &slopes }]);
    let exact = both.exact.refute(&multipliers, &hints.exact());
    if let [Some(judgement)] = found.as_slice() {
        seen.refuted += 1;
        seen.filter_only += usize::from(exact.is_err());
        assert!(judgement.statement() == Statement::Empty && !judgement.is_closed());
        assert!(Arc::ptr_eq(judgement.problem(), &case.problem));
        for sample in case.inside(&both.exact, Some(0)) {
            let rows = &case.problem.property().disjuncts[0];
            assert!(!sample.lies_in(&case.net, rows), "refuted at the counterexample {:?}", sample.x);
        }
    } else {
        seen.open += 1;
        seen.exact_only += usize::from(exact.is_ok());
    }
    if depth > 0 {
        for half in both.split(&cuts[depth - 1], depth - 1) {
            explore(random, case, half, cuts, depth - 1, seen);
        }
    }
}

fn trials(net: fn(&mut Random, bool) -> Net, seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut random = Random::new(seed);
        let net = net(&mut random, seed % 2 == 0);
        let case = case_of(&mut random, net, seed % 2 == 0);
        let cuts = cuts(&mut random, &case, 3);
        let thresholds: Vec<Rational> = cuts.iter().map(|cut| cut.2.clone()).collect();
        let filter = Filter::new(&case.problem, &thresholds).unwrap();
        let disjunct = random.chance(50).then_some(0);
        let mut both = Both::root(&case.problem, &filter, disjunct);
        if disjunct.is_none() {
            both = Both { exact: both.exact.for_disjunct(0).unwrap(), filter: both.filter.for_disjunct(0).unwrap() };
        }
        explore(&mut random, &case, both, &cuts, 3, &mut seen);
    }
    seen
}

#[test]
fn no_judgement_where_a_counterexample_is_known_of_products_and_maxima() {
    let seen = trials(mixed_net, 0..900);
    assert!(seen.refuted > 300 && seen.open > 3000, "{seen:?}");
    // The filter also tightens what products and maxima take.
    assert!(seen.exact_only * 4 < seen.refuted, "{seen:?}");
}

#[test]
fn no_judgement_where_a_counterexample_is_known() {
    let seen = trials(random_net, 0..1500);
    assert!(seen.refuted > 500 && seen.open > 5000, "{seen:?}");
    // What only the exact tier refutes touches, or has huge or tiny multipliers.
    assert!(seen.filter_only * 200 < seen.refuted && seen.exact_only * 4 < seen.refuted, "{seen:?}");
}

/// Programs with numbers of every magnitude whose rows touch a point: nothing may be refuted where the point is.
#[test]
fn no_judgement_at_a_point_whatever_the_magnitudes() {
    let (mut filters, mut refuted, mut tried) = (0, 0, 0);
    for seed in 0..1200 {
        let mut random = Random::new(seed);
        let size = 2 + random.below(8);
        let net = wild_net(&mut random, size);
        let mut property = wild_property(&mut random, &net, 3);
        let point: Vec<Rational> = property
            .lower
            .iter()
            .zip(&property.upper)
            .map(|(l, u)| l + (u - l) * q([0, 1, 1, 2][random.below(4)], 2))
            .collect();
        let values = net.values(&point);
        let y: Vec<Range> = net.output(&values).into_iter().map(Range::exact).collect();
        for row in &mut property.disjuncts[0] {
            let row = Arc::make_mut(row);
            row.bound = &row.bound - row.slack(&point, &y).unwrap().lower;
        }
        let problem = Arc::new(Problem::new(net.build(), property).unwrap());
        let mut cuts: Vec<Cut> = Vec::new();
        for node in (0..4).map(|_| random.below(net.ops.len())).collect::<Vec<_>>() {
            if net.width(node) > 0 {
                let coordinate = random.below(net.width(node));
                let threshold = if random.chance(70) { values[node][coordinate].clone() } else { q(0, 1) };
                cuts.push((node, coordinate, threshold));
            }
        }
        let thresholds: Vec<Rational> = cuts.iter().map(|cut| cut.2.clone()).collect();
        let Some(filter) = Filter::new(&problem, &thresholds) else { continue };
        filters += 1;
        let mut scope = FilterScope::root(&filter, Some(0)).unwrap();
        let mut literals: Vec<Literal> = Vec::new();
        for (place, (node, coordinate, threshold)) in cuts.iter().enumerate() {
            match random.below(3) {
                0 => scope.interval_bounds().unwrap(),
                1 => scope.tighten_unstable(random.below(net.ops.len()), &RELU).unwrap(),
                _ => (),
            }
            let (up, down) = scope.split(*node, *coordinate, place).unwrap();
            let up_half = random.chance(50);
            scope = if up_half { up } else { down };
            let side = if up_half { Side::AtLeast } else { Side::AtMost };
            literals.push(Literal { node: *node, coordinate: *coordinate, threshold: threshold.clone(), side });
        }
        let inside = literals.iter().all(|literal| {
            let value = &values[literal.node][literal.coordinate];
            if literal.side == Side::AtLeast { *value >= literal.threshold } else { *value <= literal.threshold }
        });
        for _ in 0..8 {
            let beta = |random: &mut Random| match random.below(4) {
                0 => Dyadic::new(random.bits() >> 11, random.between(-300, 10)),
                1 => Dyadic::new(0, 0),
                _ => Dyadic::new(random.between(1, 8), -2),
            };
            let multipliers = Multipliers {
                rows: (0..3).map(|at| (at, beta(&mut random))).collect(),
                literals: (0..literals.len()).map(|at| (at, beta(&mut random))).collect(),
            };
            let hints = Hints::random(&mut random, &net);
            let slopes = hints.given();
            let found = FilterScope::refute(&[Attempt { scope: &scope, multipliers: &multipliers, slopes: &slopes }]);
            tried += 1;
            refuted += usize::from(found[0].is_some());
            assert!(!inside || found[0].is_none(), "seed {seed}: refuted at a point of the unsafe set");
        }
    }
    assert!(filters > 600 && refuted > 300 && tried > 5000, "{filters} {refuted} {tried}");
}

/// The bound that the exact tier reaches for `c·y` on a scope made by `steps`; the filter must decide as it does, but close to the edge.
#[test]
fn the_filter_decides_what_the_exact_tier_decides_with_room() {
    let (mut above, mut accepted, mut below, mut wrong) = (0, 0, 0, 0);
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let case = case(&mut random, seed % 3 == 0);
        let relus: Vec<_> = case.relus().collect();
        let cuts = cuts(&mut random, &case, 2);
        let thresholds: Vec<Rational> = cuts.iter().map(|cut| cut.2.clone()).collect();
        let outputs = case.problem.property().outputs;
        let terms: Vec<_> = (0..outputs).map(|i| (i, random.rational(true))).filter(|(_, c)| !c.is_zero()).collect();
        let with = |bound: Rational| {
            let property = case.problem.property();
            problem(&case.net, (&property.lower, &property.upper), vec![vec![row(&terms, bound)]])
        };
        let hints = Hints::random(&mut random, &case.net);
        let steps = random.bits();
        let scopes = |problem: &Arc<Problem>| {
            let mut random = Random::new(steps);
            let filter = Filter::new(problem, &thresholds).unwrap();
            let mut both = Both::root(problem, &filter, Some(0));
            for (place, cut) in cuts.iter().enumerate() {
                both.improve(&mut random, &case.net, &relus);
                if random.chance(60) {
                    let [up, down] = both.split(cut, place);
                    both = if random.chance(50) { up } else { down };
                    both.exact.interval_bounds().unwrap();
                    both.filter.interval_bounds().unwrap();
                }
            }
            both
        };
        let multipliers = self::hints(&[(0, 1)], &[]);
        let far = q(1 << 40, 1);
        let both = scopes(&with(far.clone()));
        let Err(RuleError::Unproved(reached)) = both.exact.refute(&multipliers, &hints.exact()) else { continue };
        let edge = reached + far;
        let unit = edge.abs() + q(100, 1);
        for room in [q(1, 1_000_000_000), q(1, 100), q(-1, 1_000_000_000), q(-1, 100)] {
            let problem = with(&edge - &room * &unit);
            let both = scopes(&problem);
            let slopes = hints.given();
            let found =
                FilterScope::refute(&[Attempt { scope: &both.filter, multipliers: &multipliers, slopes: &slopes }]);
            if room.is_positive() {
                above += 1;
                accepted += usize::from(found[0].is_some());
            } else {
                below += 1;
                wrong += usize::from(found[0].is_some());
            }
        }
    }
    assert!(above > 600 && accepted * 100 >= above * 99, "{accepted} of {above}");
    // A default slope may turn over where both are as good; nothing else lets the filter see more.
    assert!(wrong * 100 <= below, "{wrong} of {below}");
}

/// `s + v₁ − v₂` for `v₁ = v₂ = x` on `[−1, 1]`, where `s` sums up `tiny` copies of `v₁`, times 2^-53: the row of `v₁` is rounded to that of `v₂`, and both
/// vanish at the input.
fn cancelling(consumers: Vec<Op>, tiny: usize) {
    let mut ops = vec![Op::Input(1), Op::Affine(vec![(0, Map::Identity(1))], None)];
    ops.push(Op::Affine(vec![(0, Map::Identity(1))], None));
    ops.extend(consumers);
    let net = Net { outputs: vec![], ops };
    let sum = |id: usize| (id, Map::Dense(1, 1, net.width(id), vec![power(-53); net.width(id)]));
    let sum = Op::Affine((3..net.ops.len()).map(sum).collect(), None);
    let outputs = vec![1, 2, net.ops.len()];
    let net = Net { ops: net.ops.into_iter().chain([sum]).collect(), outputs };
    let terms = [(0, q(1, 1)), (1, q(-1, 1)), (2, q(1, 1))];
    // At x = −1 the sum is −tiny·2^-53.
    let lowest = -q(tiny as i64, 1) * power(-53);
    let ends = (&[q(-1, 1)][..], &[q(1, 1)][..]);
    let sat = problem(&net, ends, vec![vec![row(&terms, lowest.clone())]]);
    let y: Vec<Range> = net.output(&net.values(&[q(-1, 1)])).into_iter().map(Range::exact).collect();
    assert_eq!(row(&terms, lowest.clone()).slack(&[q(-1, 1)], &y), Some(Range::exact(q(0, 1))));
    nothing_closes(&root(&sat, Some(0)), 1, 0);
    // With the room that the charges need, it is refuted.
    let room = problem(&net, ends, vec![vec![row(&terms, lowest * q(1000, 1))]]);
    assert!(attempt(&root(&room, Some(0)), &hints(&[(0, 1)], &[])).is_some());
}

#[test]
fn charge_an_inner_entry_under_thousands_of_tiny_consumers() {
    let copies = |count: usize| Map::Dense(1, count, 1, vec![q(1, 1); count]);
    cancelling((0..2000).map(|_| Op::Affine(vec![(1, copies(1))], None)).collect(), 2000);
    cancelling(vec![Op::Affine(vec![(1, copies(2000))], None)], 2000);
    cancelling(vec![Op::Affine(vec![(1, Map::Select(vec![Some(0); 2000], 1))], None)], 2000);
    // Three consumers.
    cancelling((0..3).map(|_| Op::Affine(vec![(1, copies(500))], None)).collect(), 1500);
    let geometry = Convolution {
        batch: 1,
        in_channels: 1,
        out_channels: 1,
        input: vec![1],
        kernel: vec![400],
        stride: vec![1],
        padding: vec![399],
        dilation: vec![1],
        output: vec![400],
    };
    let convolution = Map::Convolution(Box::new(geometry), vec![q(1, 1); 400]);
    cancelling(vec![Op::Affine(vec![(1, convolution)], None)], 400);
}

#[test]
fn charge_an_underflow_of_four_layers_or_twelve() {
    // 2^±540 is out of range: for the exact tier.
    let chain = |steps: &[i64]| {
        let mut ops = vec![Op::Input(1)];
        ops.extend(
            steps.iter().enumerate().map(|(id, e)| Op::Affine(vec![(id, Map::Dense(1, 1, 1, vec![power(*e)]))], None)),
        );
        ops
    };
    for steps in [[540, 540, -540, -540], [-540, -540, 540, 540], [-540, 540, -540, 540]] {
        let net = Net { ops: chain(&steps), outputs: vec![4] };
        let problem = problem(&net, (&[q(-1, 1)], &[q(1, 1)]), vec![vec![row(&[(0, q(1, 1))], q(0, 1))]]);
        assert!(Filter::new(&problem, &[]).is_none());
    }
    // y = 2^-982 − 2^-1080·x < 0 at x = 2^98 … 2^99, though the row of x underflows to nothing.
    let mut ops = chain(&[-90; 12]);
    ops.push(Op::Affine(vec![(12, Map::Negation(1))], Some(vec![power(-983)])));
    let net = Net { ops, outputs: vec![13] };
    let sat = problem(&net, (&[power(98)], &[power(98)]), vec![vec![row(&[(0, q(1, 1))], q(0, 1))]]);
    nothing_closes(&root(&sat, Some(0)), 1, 0);
}

#[test]
fn charge_numbers_out_of_range_are_for_the_exact_tier() {
    let with = |weight: Rational, bias: Rational, bound: Rational, coefficient: Rational| {
        let ops = vec![Op::Input(1), Op::Affine(vec![(0, Map::Dense(1, 1, 1, vec![weight]))], Some(vec![bias]))];
        let net = Net { ops, outputs: vec![1] };
        problem(&net, (&[q(0, 1)], &[q(1, 1)]), vec![vec![row(&[(0, coefficient)], bound)]])
    };
    let one = || q(1, 1);
    let ten = |e: i32| num_traits::Pow::pow(&q(10, 1), e);
    let made = |problem: &Arc<Problem>| Filter::new(problem, &[]).is_some();
    assert!(made(&with(one(), one(), one(), one())));
    assert!(made(&with(power(100), power(100), power(100), power(100))));
    for huge in [ten(38), -ten(38), power(101), power(100) + power(47) * q(3, 1)] {
        assert!(!made(&with(huge.clone(), one(), one(), one())), "weight {huge}");
        assert!(!made(&with(one(), huge.clone(), one(), one())), "bias {huge}");
        assert!(!made(&with(one(), one(), huge.clone(), one())), "bound {huge}");
        assert!(!made(&with(one(), one(), one(), huge.clone())), "coefficient {huge}");
        assert!(Filter::new(&with(one(), one(), one(), one()), &[huge]).is_none(), "threshold");
    }
    // Exact subnormal weights are in range, others not; a bias is enclosed.
    assert!(made(&with(power(-1074), one(), one(), one())));
    assert!(!made(&with(ten(-400), one(), one(), one())));
    assert!(!made(&with(ten(-310), one(), one(), one())));
    assert!(!made(&with(one(), one(), one(), ten(-400))));
    assert!(made(&with(one(), ten(-400), one(), one())));
    // y = x·10^-400·10^400 as a scale and its inverse must not vanish: out of range both.
    assert!(!made(&with(ten(400), one(), one(), one())));
    // A region of 1e38: no scope decides.
    let net = relu();
    let far = problem(&net, (&[ten(38)], &[ten(38) * q(2, 1)]), vec![vec![row(&[(0, q(1, 1))], q(0, 1))]]);
    let mut scope = root(&far, Some(0));
    nothing_closes(&scope, 1, 0);
    scope.interval_bounds().unwrap();
    scope.tighten_unstable(1, &RELU).unwrap();
    nothing_closes(&scope, 1, 0);
    assert!(Scope::root(&far, Some(0), 3).unwrap().refute(&hints(&[(0, 1)], &[]), &Slopes::default()).is_ok());
    // Its halves neither, empty ones included.
    let filter = Filter::new(&far, &[q(0, 1)]).unwrap();
    let (up, down) = FilterScope::root(&filter, Some(0)).unwrap().split(0, 0, 0).unwrap();
    nothing_closes(&up, 1, 1);
    nothing_closes(&down, 1, 1);
}

#[test]
fn charge_rows_that_overflow_or_are_no_numbers_decide_nothing() {
    // y = 1 − 2^1080·x, and the same with +2^1080·x beside it: rows reach 2^1080, so infinity and infinity − infinity.
    for x_end in [q(0, 1), power(-1100), power(-1079)] {
        for both in [false, true] {
            let mut ops = vec![Op::Input(1)];
            ops.extend((0..12).map(|id| Op::Affine(vec![(id, Map::Dense(1, 1, 1, vec![power(90)]))], None)));
            let mut terms = vec![(12, Map::Negation(1))];
            if both {
                terms.push((12, Map::Identity(1)));
            }
            ops.push(Op::Affine(terms, Some(vec![q(1, 1)])));
            let net = Net { ops, outputs: vec![13] };
            let y = net.output(&net.values(std::slice::from_ref(&x_end)));
            let sat = problem(
                &net,
                (&[q(0, 1)], std::slice::from_ref(&x_end)),
                vec![vec![row(&[(0, q(1, 1))], y[0].clone())]],
            );
            nothing_closes(&root(&sat, Some(0)), 1, 0);
        }
    }
}

#[test]
fn charge_the_line_follows_the_sign_of_a_tiny_entry() {
    // c·relu(x) on [−1, 1] with c = ±10^-300 and ±2^-1074: the minimum is 0 or −|c|.
    let tiny: Rational = num_traits::Pow::pow(&q(10, 1), -300);
    for c in [tiny.clone(), power(-1074), power(-1070)] {
        for sign in [1, -1] {
            let c = &c * q(sign, 1);
            let minimum = if sign > 0 { q(0, 1) } else { c.clone() };
            let ends = (&[q(-1, 1)][..], &[q(1, 1)][..]);
            let sat = problem(&relu(), ends, vec![vec![row(&[(0, c.clone())], minimum.clone())]]);
            nothing_closes(&root(&sat, Some(0)), 1, 0);
            let multipliers = Multipliers { rows: vec![(0, power_dyadic(90))], literals: vec![] };
            assert!(attempt(&root(&sat, Some(0)), &multipliers).is_none());
        }
    }
    // With room it is seen: relu(x)·10^-100 > −10^-110 and −relu(x)·10^-100 > −1.01·10^-100, up to 2^-900.
    let c: Rational = num_traits::Pow::pow(&q(10, 1), -100);
    for (c, bound) in [(c.clone(), -&c / q(10_000_000, 1)), (-&c, -&c * q(101, 100))] {
        let unsat = problem(&relu(), (&[q(-1, 1)], &[q(1, 1)]), vec![vec![row(&[(0, c)], bound)]]);
        assert!(attempt(&root(&unsat, Some(0)), &hints(&[(0, 1)], &[])).is_some());
    }
}

fn power_dyadic(exponent: i64) -> Dyadic {
    Dyadic::new(1, exponent)
}

#[test]
fn a_split_at_a_third_or_a_tenth_keeps_the_point_on_it() {
    // The only counterexample is x = τ. A τ rounded inward, in either direction, would lose it in one of the halves.
    for tau in [q(1, 3), q(1, 10), q(-1, 3), q(-7, 10)] {
        let ops = vec![
            Op::Input(1),
            Op::Affine(vec![(0, dense(1, 1, &[1], 1))], None),
            Op::Affine(vec![(1, Map::Identity(1))], None),
        ];
        let net = Net { ops, outputs: vec![2] };
        let rows = vec![row(&[(0, q(1, 1))], tau.clone()), row(&[(0, q(-1, 1))], -&tau)];
        let sat = problem(&net, (&[q(-1, 1)], &[q(1, 1)]), vec![rows]);
        let filter = Filter::new(&sat, std::slice::from_ref(&tau)).unwrap();
        for node in 0..3 {
            let (mut up, mut down) = FilterScope::root(&filter, Some(0)).unwrap().split(node, 0, 0).unwrap();
            for half in [&mut up, &mut down] {
                nothing_closes(half, 2, 1);
                half.interval_bounds().unwrap();
                nothing_closes(half, 2, 1);
                let (upper, lower) = half.split(0, 0, 0).unwrap();
                nothing_closes(&upper, 2, 2);
                nothing_closes(&lower, 2, 2);
            }
        }
        // A box that ends at τ on one side, so that the threshold and the end are rounded apart.
        for (lower, upper) in [(tau.clone(), q(2, 1)), (q(-2, 1), tau.clone()), (tau.clone(), tau.clone())] {
            let rows = vec![row(&[(0, q(1, 1))], tau.clone()), row(&[(0, q(-1, 1))], -&tau)];
            let sat = problem(&net, (&[lower], &[upper]), vec![rows]);
            let filter = Filter::new(&sat, std::slice::from_ref(&tau)).unwrap();
            for node in 0..3 {
                let (mut up, mut down) = FilterScope::root(&filter, Some(0)).unwrap().split(node, 0, 0).unwrap();
                for half in [&mut up, &mut down] {
                    half.interval_bounds().unwrap();
                    nothing_closes(half, 2, 1);
                }
            }
        }
    }
}

#[test]
fn scope_a_half_changes_neither_its_parent_nor_its_sibling() {
    // y ≥ 1/2 at x = 1: only where x ≤ 0 is it refuted.
    let sat = problem(&relu(), (&[q(-1, 1)], &[q(1, 1)]), vec![vec![row(&[(0, q(-1, 1))], q(-1, 2))]]);
    let filter = Filter::new(&sat, &[q(0, 1)]).unwrap();
    for node in 0..2 {
        let parent = FilterScope::root(&filter, Some(0)).unwrap();
        let twin = parent.clone();
        let (mut up, mut down) = parent.split(node, 0, 0).unwrap();
        let sibling = up.clone();
        down.interval_bounds().unwrap();
        down.tighten_unstable(1, &RELU).unwrap();
        assert!(attempt(&down, &hints(&[(0, 1)], &[])).is_some());
        for (scope, literals) in [(&parent, 0), (&twin, 0), (&up, 1), (&sibling, 1)] {
            nothing_closes(scope, 1, literals);
        }
        up.interval_bounds().unwrap();
        up.tighten_unstable(1, &RELU).unwrap();
        nothing_closes(&up, 1, 1);
        // The judgements say which half they are of.
        let closed = || attempt(&down, &hints(&[(0, 1)], &[])).unwrap();
        assert!(matches!(Judgement::split(closed(), closed()), Err(RuleError::Mismatch(_))));
    }
}

#[test]
fn scope_bounds_of_one_disjunct_do_not_serve_another() {
    // Disjunct 0 keeps x ≤ 0, where the ReLU is off; disjunct 1 is satisfiable at x = 1.
    let x_row = Row { terms: vec![(Variable::X(0), q(1, 1))], bound: q(0, 1), strict: false };
    let y_row = || row(&[(0, q(-1, 1))], q(-1, 2));
    let sat = problem(&relu(), (&[q(-1, 1)], &[q(1, 1)]), vec![vec![x_row, y_row()], vec![y_row()]]);
    let filter = Filter::new(&sat, &[q(0, 1)]).unwrap();
    let clamped = FilterScope::root(&filter, Some(0)).unwrap();
    assert!(attempt(&clamped, &hints(&[(1, 1)], &[])).is_some());
    assert!(matches!(clamped.for_disjunct(1), Err(RuleError::Mismatch(_))));
    assert!(clamped.for_disjunct(0).is_ok());
    let shared = FilterScope::root(&filter, None).unwrap();
    assert!(attempt(&shared, &hints(&[], &[])).is_none(), "no disjunct");
    assert!(matches!(shared.for_disjunct(2), Err(RuleError::NoSuch(_))));
    assert!(matches!(FilterScope::root(&filter, Some(2)), Err(RuleError::NoSuch(_))));
    nothing_closes(&shared.for_disjunct(1).unwrap(), 1, 0);
    let (at_least, mut at_most) = shared.split(0, 0, 0).unwrap();
    at_most.interval_bounds().unwrap();
    assert!(attempt(&at_most.for_disjunct(0).unwrap(), &hints(&[(1, 1)], &[])).is_some());
    assert!(attempt(&at_most.for_disjunct(1).unwrap(), &hints(&[(0, 1)], &[])).is_some());
    nothing_closes(&at_least.for_disjunct(1).unwrap(), 1, 1);
}

#[test]
fn empty_an_empty_region_and_contradicting_literals() {
    let apart = Row { terms: vec![(Variable::X(0), q(1, 1))], bound: q(-2, 1), strict: false };
    let touching = Row { bound: q(-1, 1), ..apart.clone() };
    for (x_row, closed) in [(apart, true), (touching, false)] {
        let problem = problem(&relu(), (&[q(-1, 1)], &[q(1, 1)]), vec![vec![x_row]]);
        let filter = Filter::new(&problem, &[q(0, 1)]).unwrap();
        let mut scope = FilterScope::root(&filter, Some(0)).unwrap();
        assert_eq!(attempt(&scope, &hints(&[], &[])).is_some(), closed);
        scope.interval_bounds().unwrap();
        scope.tighten_unstable(1, &RELU).unwrap();
        // x = −1 is all that is left, strictly below 0.
        let (up, down) = scope.split(1, 0, 0).unwrap();
        assert!(attempt(&up, &hints(&[], &[])).is_some());
        assert_eq!(attempt(&down, &hints(&[], &[])).is_some(), closed);
        // Wrong hints are not accepted even where nothing needs them.
        assert!(attempt(&scope, &hints(&[(7, 1)], &[])).is_none());
        assert!(attempt(&scope, &hints(&[], &[(0, 1)])).is_none());
        assert!(attempt(&scope, &hints(&[(0, -1)], &[])).is_none());
    }
    // z ≥ 1 and then z ≤ 1/2.
    let problem = problem(&relu(), (&[q(-1, 1)], &[q(2, 1)]), vec![vec![]]);
    let filter = Filter::new(&problem, &[q(1, 1), q(1, 2)]).unwrap();
    let root = FilterScope::root(&filter, Some(0)).unwrap();
    let (up, _) = root.split(1, 0, 0).unwrap();
    assert!(attempt(&up.split(1, 0, 1).unwrap().1, &hints(&[], &[])).is_some());
    assert!(attempt(&up.split(1, 0, 0).unwrap().1, &hints(&[], &[])).is_none(), "z = 1 is left");
    assert!(attempt(&up.split(1, 0, 1).unwrap().0, &hints(&[], &[])).is_none());
}

#[test]
fn hints_that_fit_nothing_are_not_decided() {
    // y ≤ −1/8 is unsafe: closed with any slopes for which the default ones do.
    let ends = (&[q(-1, 1)][..], &[q(1, 1)][..]);
    let unsat = problem(&relu(), ends, vec![vec![row(&[(0, q(1, 1))], q(-1, 8))]]);
    let filter = Filter::new(&unsat, &[q(0, 1)]).unwrap();
    let scope = FilterScope::root(&filter, Some(0)).unwrap();
    let good = hints(&[(0, 1)], &[]);
    let tensor = |values: &[f64]| {
        Tensor::new(vec![1, values.len()], Values::Binary64(values.iter().map(|v| v.to_bits()).collect())).unwrap()
    };
    let with = |node: NodeId, columns: &[usize], values: &Tensor, row: usize, multipliers: &Multipliers| {
        let slopes = [NodeSlopes { node, columns, values, upper: None, row }];
        FilterScope::refute(&[Attempt { scope: &scope, multipliers, slopes: &slopes }])[0].is_some()
    };
    assert!(with(2, &[0], &tensor(&[0.0]), 0, &good));
    assert!(with(2, &[], &tensor(&[]), 0, &good));
    for slope in [-f64::MIN_POSITIVE, -1.0, 1.0 + f64::EPSILON, 2.0, 1e300, -1e-320, f64::MAX] {
        assert!(!with(2, &[0], &tensor(&[slope]), 0, &good), "slope {slope}");
        let pair = NodeSlopes { node: 2, columns: &[0], values: &tensor(&[slope]), upper: None, row: 0 };
        let tightened = scope.clone().tighten(1, &[0], &[(pair, pair)]);
        assert!(matches!(tightened, Err(RuleError::SlopeDomain { node: 2, coordinate: 0 })));
    }
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Tensor::new(vec![1], Values::Binary64(vec![wrong.to_bits()])), Err(TensorError::NotFinite(0)));
    }
    assert!(!with(2, &[1], &tensor(&[0.0]), 0, &good), "column");
    assert!(!with(2, &[0], &tensor(&[0.0]), 1, &good), "row");
    assert!(!with(2, &[0], &tensor(&[0.0]), usize::MAX, &good), "row");
    for node in [0, 1, 3, usize::MAX] {
        assert!(!with(node, &[0], &tensor(&[0.0]), 0, &good), "node {node}");
    }
    let rational = Tensor::new(vec![1, 1], Values::Exact(vec![q(0, 1)])).unwrap();
    assert!(!with(2, &[0], &rational, 0, &good), "no floats");
    // Multipliers: negative, too large, no double, of rows and literals that do not exist.
    let multipliers = |rows: Vec<(usize, Dyadic)>, literals: Vec<(usize, Dyadic)>| Multipliers { rows, literals };
    let one = || d(1, 0);
    for wrong in [
        multipliers(vec![(0, d(-1, 0))], vec![]),
        multipliers(vec![(0, one()), (0, d(-1, -10))], vec![]),
        multipliers(vec![(1, one())], vec![]),
        multipliers(vec![(0, one())], vec![(0, one())]),
        multipliers(vec![(0, one())], vec![(usize::MAX, d(0, 0))]),
        multipliers(vec![(0, d(1, 127))], vec![]),
        multipliers(vec![(0, d(1, 2000))], vec![]),
        multipliers(vec![(0, d((1 << 53) + 1, 0))], vec![]),
        multipliers(vec![(0, d(1, -1075))], vec![]),
    ] {
        assert!(attempt(&scope, &wrong).is_none(), "{wrong:?}");
    }
    let (up, _) = scope.split(1, 0, 0).unwrap();
    // Below z ≥ 0: y + 1/8 + (0 − z) = 1/8.
    assert!(attempt(&up, &multipliers(vec![(0, one())], vec![(0, one())])).is_some());
    assert!(attempt(&up, &multipliers(vec![(0, one())], vec![(0, one()), (0, d(-1, -60))])).is_none());
    assert!(attempt(&up, &multipliers(vec![(0, one())], vec![(0, one()), (1, d(0, 0))])).is_none());
    assert!(attempt(&up, &multipliers(vec![(0, d(1, 127))], vec![(0, d(1, 127))])).is_none());
    // Splits.
    assert!(matches!(scope.split(1, 1, 0), Err(RuleError::NoSuch(_))));
    assert!(matches!(scope.split(3, 0, 0), Err(RuleError::NoSuch(_))));
    assert!(matches!(scope.split(1, 0, 1), Err(RuleError::NoSuch(_))));
    // Tightening of what is not there is no proof.
    let mut odd = scope.clone();
    let _ = odd.tighten(9, &[0, 5], &[]);
    let _ = odd.tighten(1, &[5], &[]);
    let _ = odd.tighten_unstable(9, &RELU);
    let more = problem(&relu(), ends, vec![vec![row(&[(0, q(1, 1))], q(0, 1))]]);
    nothing_closes(&root(&more, Some(0)), 1, 0);
}

#[test]
fn an_attempt_is_decided_alone_as_in_a_batch() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let case = case(&mut random, true);
        let cuts = cuts(&mut random, &case, 3);
        let thresholds: Vec<Rational> = cuts.iter().map(|cut| cut.2.clone()).collect();
        let filter = Filter::new(&case.problem, &thresholds).unwrap();
        let other = Filter::new(&case.problem, &thresholds).unwrap();
        let mut scopes = vec![Both::root(&case.problem, &filter, Some(0))];
        for (place, cut) in cuts.iter().enumerate() {
            scopes = scopes.iter().flat_map(|scope| scope.split(cut, place)).collect();
        }
        let chosen: Vec<_> = (0..64)
            .map(|_| {
                let scope = &scopes[random.below(scopes.len())];
                let mut multipliers = case.multipliers(&mut random, &scope.exact, 0);
                if random.chance(10) {
                    multipliers.rows.push((99, d(1, 0)));
                }
                (scope, multipliers, Hints::random(&mut random, &case.net))
            })
            .collect();
        let slopes: Vec<_> = chosen.iter().map(|(_, _, hints)| hints.given()).collect();
        let attempts: Vec<_> = chosen
            .iter()
            .zip(&slopes)
            .map(|((scope, multipliers, _), slopes)| Attempt { scope: &scope.filter, multipliers, slopes })
            .collect();
        let together: Vec<bool> = FilterScope::refute(&attempts).iter().map(Option::is_some).collect();
        let alone: Vec<bool> = attempts.iter().map(|a| FilterScope::refute(&[*a])[0].is_some()).collect();
        assert_eq!(together, alone, "seed {seed}");
        let turned: Vec<_> = attempts.iter().rev().copied().collect();
        let turned: Vec<bool> = FilterScope::refute(&turned).iter().rev().map(Option::is_some).collect();
        assert_eq!(together, turned, "seed {seed}");
        yes += together.iter().filter(|decided| **decided).count();
        no += together.iter().filter(|decided| !**decided).count();
        // Attempts of another filter, even of the same problem, are not decided in the same batch.
        let Some(accepted) = together.iter().position(|decided| *decided) else { continue };
        let stranger = FilterScope::root(&other, Some(0)).unwrap();
        let strange = Attempt { scope: &stranger, multipliers: &Multipliers::default(), slopes: &[] };
        let mixed: Vec<_> = [strange].into_iter().chain([attempts[accepted]]).collect();
        assert!(FilterScope::refute(&mixed).iter().all(Option::is_none));
        let mixed: Vec<_> = attempts.iter().copied().chain([strange]).collect();
        let mixed: Vec<bool> = FilterScope::refute(&mixed).iter().map(Option::is_some).collect();
        assert_eq!(mixed[..64], together);
    }
    assert!(yes > 200 && no > 200, "{yes} {no}");
    assert!(FilterScope::refute(&[]).is_empty());
}

#[test]
fn judgements_of_both_tiers_make_one_proof() {
    // relu(x₁ + x₂) + relu(x₁ − x₂) ≥ −1/8 and ≤ 33/16 on [−1, 1]²: splits at both ReLUs.
    let ops = vec![
        Op::Input(2),
        Op::Affine(vec![(0, dense(2, 2, &[1, 1, 1, -1], 1))], None),
        Op::Relu(1),
        Op::Affine(vec![(2, dense(1, 2, &[1, 1], 1))], None),
    ];
    let net = Net { ops, outputs: vec![3] };
    let ends = (&[q(-1, 1), q(-1, 1)][..], &[q(1, 1), q(1, 1)][..]);
    let disjuncts = vec![vec![row(&[(0, q(1, 1))], q(-1, 8))], vec![row(&[(0, q(-1, 1))], q(-33, 16))]];
    let problem = problem(&net, ends, disjuncts);
    let filter = Filter::new(&problem, &[q(0, 1)]).unwrap();
    let first = attempt(&FilterScope::root(&filter, Some(0)).unwrap(), &hints(&[(0, 1)], &[])).unwrap();
    let shared = FilterScope::root(&filter, None).unwrap().for_disjunct(1).unwrap();
    assert!(attempt(&shared, &hints(&[(0, 1)], &[])).is_none(), "the triangles alone reach 3");
    let exact = Scope::root(&problem, Some(1), 3).unwrap();
    let leaf = |scope: &FilterScope, one: usize, two: usize| {
        // β = 1/2 for a ReLU that is off takes its pre-activation into the sum.
        let choices: Vec<Multipliers> = (0..9)
            .map(|code| Multipliers {
                rows: vec![(0, d(1, 0))],
                literals: vec![(one, d(code % 3, -1)), (two, d(code / 3, -1))],
            })
            .collect();
        let batch: Vec<_> = choices.iter().map(|multipliers| Attempt { scope, multipliers, slopes: &[] }).collect();
        FilterScope::refute(&batch).into_iter().flatten().next()
    };
    let (up, down) = shared.split(1, 0, 0).unwrap();
    let half = |scope: &FilterScope| {
        let (up, down) = scope.split(1, 1, 0).unwrap();
        Judgement::split(leaf(&up, 0, 1)?, leaf(&down, 0, 1)?).ok()
    };
    let upper = half(&up).unwrap();
    let lower = half(&down).unwrap();
    let second = Judgement::split(upper, lower).unwrap();
    assert!(Judgement::cases(&problem, &[first, second]).unwrap().statement() == Statement::Unsat);
    // A leaf of the filter beside one of the exact tier.
    let (exact_up, _) = exact.split(1, 0, &q(0, 1)).unwrap();
    let (exact_up, _) = exact_up.split(1, 1, &q(0, 1)).unwrap();
    let by_exact = exact_up.refute(&hints(&[(0, 1)], &[]), &Slopes::default()).unwrap();
    let (_, by_filter) = up.split(1, 1, 0).unwrap();
    assert!(Judgement::split(by_exact, leaf(&by_filter, 0, 1).unwrap()).is_ok());
}

#[test]
fn layers_of_no_coordinates_are_nothing() {
    // relu over an empty node, an empty dense layer and its consumer; y = x beside them.
    let ops = vec![
        Op::Input(1),
        Op::Affine(vec![(0, Map::Dense(1, 0, 1, vec![]))], None),
        Op::Relu(1),
        Op::Affine(vec![(2, Map::Dense(1, 1, 0, vec![])), (0, Map::Identity(1))], Some(vec![q(1, 1)])),
        Op::Affine(vec![(1, Map::Select(vec![None, None], 0))], None),
    ];
    let net = Net { ops, outputs: vec![1, 3, 4] };
    let terms = [(0, q(1, 1)), (1, q(1, 1)), (2, q(-3, 1))];
    for (bound, closed) in [(q(0, 1), false), (-power(-40), true)] {
        let problem = problem(&net, (&[q(-1, 1)], &[q(1, 1)]), vec![vec![row(&terms, bound)]]);
        let mut scope = root(&problem, Some(0));
        assert_eq!(attempt(&scope, &hints(&[(0, 1)], &[])).is_some(), closed);
        scope.interval_bounds().unwrap();
        scope.tighten_unstable(1, &RELU).unwrap();
        assert_eq!(attempt(&scope, &hints(&[(0, 1)], &[])).is_some(), closed);
        assert!(matches!(scope.split(1, 0, 0), Err(RuleError::NoSuch(_))));
    }
}

#[test]
fn a_zero_beside_tiny_weights_is_a_zero() {
    // Entries of 2^-1000 and 0 in one matrix, as numbers of one scale.
    let ops = vec![
        Op::Input(2),
        Op::Affine(
            vec![(0, Map::Dense(1, 2, 2, vec![power(-1000), q(0, 1), q(0, 1), power(-1074)]))],
            Some(vec![q(1, 1), q(1, 1)]),
        ),
    ];
    let net = Net { ops, outputs: vec![1] };
    let problem = problem(
        &net,
        (&[q(0, 1), q(0, 1)], &[q(1, 1), q(1, 1)]),
        vec![vec![row(&[(0, q(1, 1)), (1, q(1, 1))], q(1, 1))]],
    );
    assert!(attempt(&root(&problem, Some(0)), &hints(&[(0, 1)], &[])).is_some());
}

#[test]
#[ignore = "needs two gigabytes of memory"]
fn charge_more_terms_than_are_counted_are_for_the_exact_tier() {
    for (sources, made) in [(1 << 25, true), ((1 << 25) + 1, false)] {
        let ops = vec![Op::Input(1), Op::Affine(vec![(0, Map::Select(vec![Some(0); sources], 1))], None)];
        let net = Net { ops, outputs: vec![1] };
        let problem = problem(&net, (&[q(0, 1)], &[q(1, 1)]), vec![vec![row(&[(0, q(1, 1))], q(-1, 1))]]);
        assert_eq!(Filter::new(&problem, &[]).is_some(), made);
    }
}
