//! BACK: backward bounding, with literals (LITERAL, BETA) and rows of bounded length (ABSORB).
//!
//! Invariant of a pass: `c·z + constant ≥ Σ_v rows[v]·v(x) + d` for every `x` of the scope. Every step keeps it; at the end only the input's row is left.

use super::RuleError;
use super::lines::{INTERCEPT_DIGITS, Lines, SLOPE_EXPONENT};
use super::planes::{MaxPlanes, ProductPlanes};
use super::quotient::Quotient;
use super::scope::{Scope, Side};
use crate::affine::Affine;
use crate::func::Function;
use crate::num::denominator::common_denominator;
use crate::num::{Dyadic, Planes, Rational};
use crate::program::{Groups, NodeId, Primitive, Program};
use crate::property::Row;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed};
use std::collections::BTreeMap;

/// The longest common denominator of a combination of rows.
const DENOMINATOR_BITS: u64 = 1 << 14;

/// Slopes by univariate node: `(coordinate, slope)` by ascending coordinate.
#[derive(Clone, Debug, Default)]
pub struct Slopes {
    lower: BTreeMap<NodeId, Vec<(usize, Dyadic)>>,
    upper: BTreeMap<NodeId, Vec<(usize, Dyadic)>>,
}

/// Multipliers for EMPTY.
#[derive(Clone, Debug, Default)]
pub struct Multipliers {
    /// `(row, multiplier)`: the rows of the disjunct, then those of the region.
    pub rows: Vec<(usize, Dyadic)>,
    /// `(place in the scope's literals, multiplier)`.
    pub literals: Vec<(usize, Dyadic)>,
}

impl Slopes {
    /// Gives the lower lines of `node` the slopes `(coordinate, slope)`, by ascending coordinate, in the stead of earlier ones.
    pub fn set(&mut self, node: NodeId, slopes: Vec<(usize, Dyadic)>) {
        self.lower.insert(node, slopes);
    }

    /// As [`Slopes::set`], for the upper lines.
    pub fn set_upper(&mut self, node: NodeId, slopes: Vec<(usize, Dyadic)>) {
        self.upper.insert(node, slopes);
    }

    /// Whether every slope belongs to a coordinate of a univariate node, in ascending order, and lies in the domain of its function.
    pub(super) fn check(&self, program: &Program) -> Result<(), RuleError> {
        for (node, slopes) in self.lower.iter().chain(&self.upper) {
            let Some(Primitive::Univariate { function, .. }) = program.nodes().get(*node).map(|n| &n.primitive) else {
                return Err(RuleError::NoSuch("univariate node"));
            };
            let ascending = slopes.is_sorted_by(|(earlier, _), (later, _)| earlier < later);
            if !ascending || slopes.last().is_some_and(|(coordinate, _)| *coordinate >= program.width(*node)) {
                return Err(RuleError::NoSuch("coordinate of a slope, or slopes out of order"));
            }
            let Some((least, most)) = function.slope_domain() else { continue };
            if let Some((coordinate, _)) = slopes.iter().find(|(_, slope)| *slope < least || *slope > most) {
                return Err(RuleError::SlopeDomain { node: *node, coordinate: *coordinate });
            }
        }
        Ok(())
    }
}

impl Multipliers {
    /// Whether every row and literal exists, and no multiplier is below zero.
    pub(super) fn check(&self, rows: usize, literals: usize) -> Result<(), RuleError> {
        if self.rows.iter().any(|(row, _)| *row >= rows) {
            return Err(RuleError::NoSuch("row of the disjunct"));
        }
        if self.literals.iter().any(|(literal, _)| *literal >= literals) {
            return Err(RuleError::NoSuch("literal on the path"));
        }
        let negative = self.rows.iter().chain(&self.literals).any(|(_, beta)| beta.is_negative());
        if negative { Err(RuleError::NegativeMultiplier) } else { Ok(()) }
    }
}

/// A pass under way.
struct Pass<'a> {
    scope: &'a Scope,
    slopes: &'a Slopes,
    rows: Vec<Option<Planes>>,
    d: Dyadic,
}

/// A number that `factor · v` never falls below, for coordinate `coordinate` of `node`.
pub(super) fn coordinate(
    scope: &Scope,
    node: NodeId,
    coordinate: usize,
    factor: Dyadic,
    slopes: &Slopes,
) -> Result<Quotient, RuleError> {
    let mut form = Form::default();
    form.add(node, coordinate, &factor.to_rational());
    form.bound(scope, slopes)
}

/// A number that `Σ β_r (row_r − bound_r) + Σ β_l·(±(τ − g))` never falls below on the scope, up to a positive factor; every summand is ≤ 0
/// in the disjunct under the literals (multipliers are checked by the caller), so a number above zero refutes them. Also whether an open row takes part.
pub(super) fn combination(
    scope: &Scope,
    disjunct: usize,
    multipliers: &Multipliers,
    slopes: &Slopes,
) -> Result<(Quotient, bool), RuleError> {
    let mut form = Form::default();
    let mut open = false;
    for (index, multiplier) in &multipliers.rows {
        let row = scope.problem().row(disjunct, *index).ok_or(RuleError::NoSuch("row of the disjunct"))?;
        let beta = multiplier.to_rational();
        open |= row.strict && beta.is_positive();
        form.add_row(scope, row, &beta)?;
    }
    for (place, multiplier) in &multipliers.literals {
        let literal = scope.literals().get(*place).ok_or(RuleError::NoSuch("literal on the path"))?;
        let beta = multiplier.to_rational();
        // g ≥ τ: the summand β(τ − g); g ≤ τ: the summand β(g − τ).
        let sign = match literal.side {
            Side::AtLeast => -beta,
            Side::AtMost => beta,
        };
        form.add(literal.node, literal.coordinate, &sign);
        form.constant -= sign * &literal.threshold;
    }
    Ok((form.bound(scope, slopes)?, open))
}

/// A linear form over node values plus a constant.
#[derive(Default)]
struct Form {
    terms: BTreeMap<(NodeId, usize), Rational>,
    constant: Rational,
}

impl Form {
    fn add(&mut self, node: NodeId, coordinate: usize, factor: &Rational) {
        *self.terms.entry((node, coordinate)).or_default() += factor;
    }

    /// The least common denominator of the coefficients, and a check that neither it nor that of the constant is excessively long.
    fn denominator(&self) -> Result<BigInt, RuleError> {
        let coefficients = self.terms.values().map(|coefficient| coefficient.denom());
        let lcm = common_denominator(coefficients, DENOMINATOR_BITS).ok_or(RuleError::DenominatorBits)?;
        if self.constant.denom().bits() > DENOMINATOR_BITS { Err(RuleError::DenominatorBits) } else { Ok(lcm) }
    }

    fn add_row(&mut self, scope: &Scope, row: &Row, beta: &Rational) -> Result<(), RuleError> {
        for (variable, coefficient) in &row.terms {
            let place = scope.problem().place_of(variable);
            let (node, coordinate) = place.ok_or(RuleError::NoSuch("output coordinate"))?;
            self.add(node, coordinate, &(coefficient * beta));
        }
        self.constant -= beta * &row.bound;
        Ok(())
    }

    /// BACK over the whole program. The form is first multiplied by the common denominator of its coefficients, so that rows are dyadic; the
    /// result is divided again.
    fn bound(self, scope: &Scope, slopes: &Slopes) -> Result<Quotient, RuleError> {
        let scale = Rational::from_integer(self.denominator()?);
        let program = scope.problem().program();
        let mut entries: BTreeMap<NodeId, Vec<Dyadic>> = BTreeMap::new();
        for ((node, coordinate), coefficient) in &self.terms {
            let row = entries.entry(*node).or_insert_with(|| vec![Dyadic::zero(); program.width(*node)]);
            let entry = row.get_mut(*coordinate).ok_or(RuleError::NoSuch("coordinate"))?;
            *entry =
                Dyadic::from_rational(&(coefficient * &scale)).ok_or(RuleError::Internal("a scaled coefficient"))?;
        }
        let rows = program.nodes().iter().map(|_| None).collect();
        let mut pass = Pass { scope, slopes, rows, d: Dyadic::zero() };
        for (node, row) in entries {
            pass.start(node, row)?;
        }
        Ok(pass.run()?.over_plus(scale.numer().clone(), &self.constant))
    }
}

impl Pass<'_> {
    /// Removes the rows of all nodes in reverse order: each after all its consumers, since consumers come later.
    fn run(mut self) -> Result<Quotient, RuleError> {
        let problem = self.scope.problem();
        let program = problem.program();
        let region = self.scope.region().ok_or(RuleError::Internal("a pass in an empty scope"))?;
        let mut at_input = (Dyadic::zero(), BigInt::one());
        for (id, node) in program.nodes().iter().enumerate().rev() {
            let Some(mut row) = self.rows.get_mut(id).and_then(Option::take) else { continue };
            self.absorb(id, &mut row)?;
            if row.is_zero() {
                continue;
            }
            match &node.primitive {
                Primitive::Input => at_input = region.minimum(&row).ok_or(RuleError::RowLength)?,
                Primitive::Affine(affine) => self.affine(id, affine, row)?,
                Primitive::Univariate { function, argument } => self.univariate(id, function, *argument, &row)?,
                Primitive::Product { left, right } => self.product(*left, *right, &row)?,
                Primitive::Max { argument, groups } => self.max(*argument, groups, &row)?,
            }
        }
        if self.rows.iter().any(Option::is_some) {
            return Err(RuleError::Internal("a row is left over"));
        }
        let (at_input, denominator) = at_input;
        let numerator = (&self.d * &Dyadic::new(denominator.clone(), 0)).sum_down(&at_input);
        Ok(Quotient { numerator, denominator })
    }

    /// The row that `node` starts with. ABSORB: bits far below the digits that are kept are rounded down before they cost memory.
    fn start(&mut self, node: NodeId, mut entries: Vec<Dyadic>) -> Result<(), RuleError> {
        let reach =
            i64::try_from(self.scope.digits()).map_or(i64::MAX, |digits| digits.saturating_add(2).saturating_mul(52));
        let least = entries.iter().filter_map(Dyadic::magnitude).max().unwrap_or(0).saturating_sub(reach);
        if entries.iter().any(|entry| entry.exponent() < least) {
            entries = entries.iter().map(|entry| Dyadic::new(entry.floor_at(least), least)).collect();
            self.charge(node, &Dyadic::new(1, least))?;
        }
        self.add(node, Planes::exact(&entries))
    }

    /// Adds to the row of `node`. ABSORB: of the smaller row, digits far below those that the sum will keep are dropped before they cost memory.
    fn add(&mut self, node: NodeId, mut row: Planes) -> Result<(), RuleError> {
        let slot = self.rows.get_mut(node).ok_or(RuleError::Internal("a parent that is no node"))?;
        if row.is_zero() {
            return Ok(());
        }
        let Some(mut sum) = slot.take().filter(|sum| !sum.is_zero()) else {
            *slot = Some(row);
            return Ok(());
        };
        let kept = i64::try_from(self.scope.digits()).map_or(i64::MAX, |digits| digits.saturating_add(1));
        let low = sum.top().max(row.top()).saturating_sub(kept);
        let lost = [sum.raise(low), row.raise(low)];
        *slot = Some(sum.plus(&row));
        lost.into_iter().flatten().try_for_each(|unit| self.charge(node, &Dyadic::new(1, unit)))
    }

    /// ABSORB: keeps the highest digits of a row. Each entry falls by some `δ` with `0 ≤ δ < 2^e`, and `δ·v ≥ −2^e·max(0, −l)`.
    fn absorb(&mut self, node: NodeId, row: &mut Planes) -> Result<(), RuleError> {
        if let Some(unit) = row.truncate(self.scope.digits()) {
            self.charge(node, &Dyadic::new(1, unit))?;
        }
        Ok(())
    }

    /// Lowers `d` by `unit · Σ_j max(0, −l_j)` over the bounds of `node`.
    fn charge(&mut self, node: NodeId, unit: &Dyadic) -> Result<(), RuleError> {
        self.d = self.d.sum_down(&-(unit * self.scope.bounds(node)?.shortfall()));
        Ok(())
    }

    /// `A·v = (A/D)·(Σ L p + b)`.
    fn affine(&mut self, id: NodeId, affine: &Affine, row: Planes) -> Result<(), RuleError> {
        let row = self.divide(id, row, affine.denominator())?;
        if let Some(bias) = affine.bias() {
            self.d = self.d.sum_down(&row.dot(bias).ok_or(RuleError::RowLength)?);
        }
        for term in affine.terms() {
            self.add(term.parent, term.map.adjoint(&row).ok_or(RuleError::RowLength)?)?;
        }
        Ok(())
    }

    /// `A/D` rounded down to multiples of `2^e`: the rest `δ < 2^e` stands before `D·v ≥ D·l`, so `d` falls by `2^e·D·Σ max(0, −l)`.
    fn divide(&mut self, id: NodeId, row: Planes, denominator: &BigInt) -> Result<Planes, RuleError> {
        if denominator.is_one() {
            return Ok(row);
        }
        let bits = i64::try_from(denominator.bits()).map_err(|_| RuleError::DenominatorBits)?;
        let unit = row.unit().saturating_sub(bits).saturating_sub(64);
        // The unit is below every entry's last bit, so the only floor is that of the quotient.
        let quotient = |j| row.get(j).map(|entry| Dyadic::new(entry.floor_at(unit).div_floor(denominator), unit));
        let quotients = (0..row.len()).map_while(quotient).collect::<Vec<_>>();
        self.charge(id, &Dyadic::new(denominator.clone(), unit))?;
        Ok(Planes::exact(&quotients))
    }

    /// A lower line where the stored entry is not negative, an upper line where it is.
    fn univariate(&mut self, id: NodeId, function: &Function, argument: NodeId, row: &Planes) -> Result<(), RuleError> {
        let bounds = self.scope.bounds(argument)?;
        let own;
        let (lower, upper) = (self.slopes.lower.get(&id), self.slopes.upper.get(&id));
        let default = if lower.is_none() && upper.is_none() { bounds.default_lines(function)? } else { None };
        let lines = match default {
            Some(lines) => lines,
            None => {
                let (lower, upper) = (lower.map_or(&[][..], Vec::as_slice), upper.map_or(&[][..], Vec::as_slice));
                own = Lines::new(function, bounds.intervals(), lower, upper)?;
                &own
            }
        };
        let factors = chosen(row, &lines.lower_slopes, &lines.upper_slopes);
        self.constants(row, Some(&lines.lower_intercepts), &lines.upper_intercepts)?;
        self.add(argument, row.times(&factors, SLOPE_EXPONENT))
    }

    /// Adds the constants of lines or planes: lower ones where the entry is not negative, upper ones where it is.
    fn constants(&mut self, row: &Planes, lower: Option<&Planes>, upper: &Planes) -> Result<(), RuleError> {
        if let Some(lower) = lower {
            let below = row.dot_where(lower, |negative| !negative).ok_or(RuleError::RowLength)?;
            self.d = self.d.sum_down(&below);
        }
        let above = row.dot_where(upper, |negative| negative).ok_or(RuleError::RowLength)?;
        self.d = self.d.sum_down(&above);
        Ok(())
    }

    /// PRODUCT: a lower plane where the stored entry is not negative, an upper plane where it is.
    fn product(&mut self, left: NodeId, right: NodeId, row: &Planes) -> Result<(), RuleError> {
        let (p, q) = (self.scope.bounds(left)?, self.scope.bounds(right)?);
        let planes = ProductPlanes::new(p.intervals(), q.intervals(), left == right);
        self.constants(row, Some(&planes.below), &planes.above)?;
        for (parent, slopes) in [(left, &planes.left), (right, &planes.right)] {
            let factors = chosen(row, &slopes.lower, &slopes.upper);
            self.add(parent, row.times(&factors, slopes.exponent))?;
        }
        Ok(())
    }

    /// MAX: likewise. The constants of lower planes are zero.
    fn max(&mut self, argument: NodeId, groups: &Groups, row: &Planes) -> Result<(), RuleError> {
        let bounds = self.scope.bounds(argument)?.intervals();
        let planes = MaxPlanes::new(bounds, groups).ok_or(RuleError::Internal("a maximum over what is not there"))?;
        self.constants(row, None, &Planes::ceil(&planes.above, INTERCEPT_DIGITS))?;
        let factors = chosen(row, &planes.lower_slopes, &planes.upper_slopes);
        let members = chosen(row, &planes.lower_members, &planes.upper_members);
        let scattered = row.times(&factors, SLOPE_EXPONENT).scatter(&members, bounds.len());
        self.add(argument, scattered.ok_or(RuleError::RowLength)?)
    }
}

/// For each entry of a row what belongs to its sign.
fn chosen<T: Copy>(row: &Planes, lower: &[T], upper: &[T]) -> Vec<T> {
    let sides = lower.iter().zip(upper);
    row.negative().zip(sides).map(|(negative, (low, high))| if negative { *high } else { *low }).collect()
}
