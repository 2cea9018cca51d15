//! Random problems with a known exact counterexample, and what is known of every point of them.

use super::back::Form;
use super::{Net, Op, Random, q, random_box, random_net, random_point};
use certkern_core::num::{Dyadic, Rational};
use certkern_core::program::NodeId;
use certkern_core::property::{Disjunct, Property, Row, Variable, disjunct};
use certkern_core::rules::{Literal, Multipliers, Problem, Scope, Side, Slopes};
use num_traits::Zero;
use std::sync::Arc;

/// A point and the value of every node there.
pub(crate) struct Sample {
    pub(crate) x: Vec<Rational>,
    pub(crate) values: Vec<Vec<Rational>>,
}

/// A problem whose disjunct 0 holds at the first sample: the property is false.
pub(crate) struct Case {
    pub(crate) net: Net,
    pub(crate) problem: Arc<Problem>,
    pub(crate) samples: Vec<Sample>,
}

fn sample(net: &Net, x: Vec<Rational>) -> Sample {
    let values = net.values(&x);
    Sample { x, values }
}

impl Sample {
    pub(crate) fn satisfies(&self, literal: &Literal) -> bool {
        let value = &self.values[literal.node][literal.coordinate];
        match literal.side {
            Side::AtLeast => *value >= literal.threshold,
            Side::AtMost => *value <= literal.threshold,
        }
    }

    /// `Σ c·v − bound`.
    pub(crate) fn excess(&self, net: &Net, row: &Row) -> Rational {
        let y = net.output(&self.values);
        let value = |variable: &Variable| match variable {
            Variable::X(i) => self.x[*i].clone(),
            Variable::Y(i) => y[*i].clone(),
        };
        row.terms.iter().map(|(variable, c)| c * value(variable)).sum::<Rational>() - &row.bound
    }

    pub(crate) fn lies_in(&self, net: &Net, rows: &[Arc<Row>]) -> bool {
        rows.iter().all(|row| {
            let excess = self.excess(net, row);
            if row.strict { excess < Rational::zero() } else { excess <= Rational::zero() }
        })
    }
}

/// A random row that holds at `sample`; a closed one with equality more often than not.
fn row_at(random: &mut Random, net: &Net, sample: &Sample, odd: bool) -> Row {
    let outputs = net.output(&sample.values).len();
    let mut variables: Vec<Variable> = (0..outputs).map(Variable::Y).filter(|_| random.chance(70)).collect();
    variables.extend((0..sample.x.len()).map(Variable::X).filter(|_| random.chance(25)));
    variables.sort();
    let terms = variables.into_iter().map(|v| (v, random.rational(odd))).filter(|(_, c)| !c.is_zero()).collect();
    let strict = random.chance(30);
    let row = Row { terms, bound: Rational::zero(), strict };
    let room = if strict || random.chance(30) { q(random.between(1, 3), 1 << random.below(40)) } else { q(0, 1) };
    Row { bound: sample.excess(net, &row) + room, ..row }
}

pub(crate) fn case(random: &mut Random, odd: bool) -> Case {
    let net = random_net(random, odd);
    case_of(random, net, odd)
}

pub(crate) fn case_of(random: &mut Random, net: Net, odd: bool) -> Case {
    let (lower, upper) = random_box(random, net.width(0), odd);
    let points = (0..6).map(|_| random_point(random, &lower, &upper)).collect::<Vec<_>>();
    let samples: Vec<Sample> = points.into_iter().map(|x| sample(&net, x)).collect();
    let rows = |random: &mut Random, at: usize| -> Disjunct {
        let count = 1 + random.below(3);
        disjunct((0..count).map(|_| row_at(random, &net, &samples[at], odd)))
    };
    let first = rows(random, 0);
    let second = rows(random, 1);
    let property = Property {
        lower,
        upper,
        outputs: net.output(&samples[0].values).len(),
        disjuncts: if random.chance(40) { vec![first, second] } else { vec![first] },
    };
    let problem = Arc::new(Problem::new(net.build(), property).unwrap());
    Case { net, problem, samples }
}

impl Case {
    /// The samples that satisfy the literals of a scope and the single-input rows of its disjunct.
    pub(crate) fn inside(&self, scope: &Scope, disjunct: Option<usize>) -> Vec<&Sample> {
        let rows = disjunct.map_or(&[] as &[Arc<Row>], |disjunct| &self.problem.property().disjuncts[disjunct]);
        let single: Disjunct = rows.iter().filter(|row| row.single_input().is_some()).cloned().collect();
        let holds = |s: &&Sample| {
            let closed = single.iter().all(|row| s.excess(&self.net, row) <= Rational::zero());
            closed && scope.literals().iter().all(|literal| s.satisfies(literal))
        };
        self.samples.iter().filter(holds).collect()
    }

    pub(crate) fn relus(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.net.ops.iter().enumerate().filter_map(|(id, op)| match op {
            Op::Relu(argument) => Some((id, *argument)),
            _ => None,
        })
    }

    /// Random slopes in [0, 1] for some coordinates, as the rules take them and as rationals.
    pub(crate) fn slopes(&self, random: &mut Random) -> (Slopes, super::back::Lower) {
        let (mut slopes, mut plain) = (Slopes::default(), super::back::Lower::new());
        for (id, _) in self.relus() {
            if random.chance(70) {
                let mut given = Vec::new();
                for coordinate in 0..self.net.width(id) {
                    if random.chance(80) {
                        let slope = Dyadic::new(random.between(0, 16), -4);
                        plain.insert((id, coordinate), slope.to_rational());
                        given.push((coordinate, slope));
                    }
                }
                slopes.set(id, given);
            }
        }
        (slopes, plain)
    }

    /// Random multipliers for some rows and literals, tiny and huge ones among them.
    pub(crate) fn multipliers(&self, random: &mut Random, scope: &Scope, disjunct: usize) -> Multipliers {
        let number = |random: &mut Random| match random.below(6) {
            0 => Dyadic::new(0, 0),
            1 => Dyadic::new(random.between(1, 1000), random.between(-200, 200)),
            _ => Dyadic::new(random.between(1, 64), -4),
        };
        let rows = (0..self.problem.property().disjuncts[disjunct].len()).filter(|_| random.chance(80));
        let rows: Vec<usize> = rows.collect();
        let literals: Vec<usize> = (0..scope.literals().len()).filter(|_| random.chance(60)).collect();
        Multipliers {
            rows: rows.into_iter().map(|row| (row, number(random))).collect(),
            literals: literals.into_iter().map(|place| (place, number(random))).collect(),
        }
    }

    /// `Σ β (row − bound) + Σ β·(the excess of a literal)` at a sample: what a refutation bounds from below.
    pub(crate) fn summed(&self, scope: &Scope, disjunct: usize, m: &Multipliers, sample: &Sample) -> Rational {
        let rows = &self.problem.property().disjuncts[disjunct];
        let mut sum: Rational =
            m.rows.iter().map(|(row, beta)| beta.to_rational() * sample.excess(&self.net, &rows[*row])).sum();
        for (place, beta) in &m.literals {
            let literal = &scope.literals()[*place];
            let over = &sample.values[literal.node][literal.coordinate] - &literal.threshold;
            sum += beta.to_rational() * if literal.side == Side::AtLeast { -over } else { over };
        }
        sum
    }

    /// The same sum as a linear form over node values and a constant.
    pub(crate) fn form(&self, scope: &Scope, disjunct: usize, m: &Multipliers) -> (Form, Rational) {
        let (mut form, mut constant) = (Form::new(), Rational::zero());
        for (row, beta) in &m.rows {
            let (row, beta) = (&self.problem.property().disjuncts[disjunct][*row], beta.to_rational());
            for (variable, c) in &row.terms {
                let place = match variable {
                    Variable::X(i) => (0, *i),
                    Variable::Y(i) => self.output_place(*i),
                };
                *form.entry(place).or_default() += &beta * c;
            }
            constant -= beta * &row.bound;
        }
        for (place, beta) in &m.literals {
            let literal = &scope.literals()[*place];
            let beta = if literal.side == Side::AtLeast { -beta.to_rational() } else { beta.to_rational() };
            constant -= &beta * &literal.threshold;
            *form.entry((literal.node, literal.coordinate)).or_default() += beta;
        }
        (form, constant)
    }

    fn output_place(&self, index: usize) -> (NodeId, usize) {
        let places = self.net.outputs.iter().flat_map(|id| (0..self.net.width(*id)).map(move |j| (*id, j)));
        places.collect::<Vec<_>>()[index]
    }

    /// The box of a scope: the region, the single-input rows of the disjunct, the literals on inputs.
    pub(crate) fn region(&self, scope: &Scope, disjunct: usize) -> (Vec<Rational>, Vec<Rational>) {
        let property = self.problem.property();
        let (mut lower, mut upper) = (property.lower.clone(), property.upper.clone());
        let mut cut = |at: usize, end: Rational, at_least: bool| {
            let slot = if at_least { &mut lower[at] } else { &mut upper[at] };
            *slot = if at_least { slot.clone().max(end) } else { slot.clone().min(end) };
        };
        for row in &property.disjuncts[disjunct] {
            if let [(Variable::X(at), c)] = row.terms.as_slice() {
                cut(*at, &row.bound / c, *c < Rational::zero());
            }
        }
        for literal in scope.literals().iter().filter(|literal| literal.node == 0) {
            cut(literal.coordinate, literal.threshold.clone(), literal.side == Side::AtLeast);
        }
        (lower, upper)
    }
}
