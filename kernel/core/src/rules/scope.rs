//! SCOPE: what is proved at one node of a split tree, and the rules that work there.

use super::back::{self, Multipliers, Slopes};
use super::bounds::Bounds;
use super::ibp::image;
use super::judgement::Judgement;
use super::planes;
use super::problem::Problem;
use super::quotient::Quotient;
use super::{RuleError, Statement};
use crate::func::Function;
use crate::interval::{Interval, above, below};
use crate::num::{Dyadic, Rational};
use crate::program::{NodeId, Primitive};
use crate::property::Row;
use crate::region::Region;
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::sync::Arc;

/// Which half of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The coordinate is at least the threshold.
    AtLeast,
    /// The coordinate is at most the threshold.
    AtMost,
}

/// A split literal: a coordinate of a node is at least, or at most, a threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The node.
    pub node: NodeId,
    /// The coordinate in it.
    pub coordinate: usize,
    /// The threshold.
    pub threshold: Rational,
    /// The half.
    pub side: Side,
}

/// The assumptions at a tree node and the bounds proved under them. Bounds hold for every input in the region that satisfies the
/// literals; they are handed to scopes below and to no other.
#[derive(Clone, Debug)]
pub struct Scope {
    problem: Arc<Problem>,
    disjunct: Option<usize>,
    literals: Vec<Arc<Literal>>,
    /// `None`: no input satisfies the assumptions.
    region: Option<Arc<Region>>,
    bounds: Vec<Arc<Bounds>>,
    digits: usize,
}

impl Scope {
    /// The whole region (without a disjunct) or the region of a disjunct, without literals, with interval bounds (IBP). Rows keep `digits` digits of 52 bits.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct; [`RuleError::Undefined`] if the program is not shown to be defined on the whole region; as [`Scope::interval_bounds`].
    pub fn root(problem: &Arc<Problem>, disjunct: Option<usize>, digits: usize) -> Result<Self, RuleError> {
        let region = match disjunct {
            None => Some(Arc::clone(problem.region())),
            Some(disjunct) => problem.region_of(disjunct)?,
        };
        // DOMAIN: what is defined on the whole region is defined below.
        let bounds = problem.defined()?.to_vec();
        let problem = Arc::clone(problem);
        let mut scope = Self { problem, disjunct, literals: Vec::new(), region, bounds, digits };
        scope.interval_bounds()?;
        Ok(scope)
    }

    /// The same assumptions for one disjunct: bounds that used no disjunct serve all.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct; [`RuleError::Mismatch`] if this scope is another disjunct's.
    pub fn for_disjunct(&self, disjunct: usize) -> Result<Self, RuleError> {
        if self.disjunct.is_some_and(|own| own != disjunct) {
            return Err(RuleError::Mismatch("bounds of one disjunct do not serve another"));
        }
        if disjunct >= self.problem.property().disjuncts.len() {
            return Err(RuleError::NoSuch("disjunct"));
        }
        Ok(Self { disjunct: Some(disjunct), ..self.clone() })
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The literals on the way to this tree node, from the root.
    #[must_use]
    pub fn literals(&self) -> &[Arc<Literal>] {
        &self.literals
    }

    /// Whether it is already known that no input satisfies the assumptions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.region.is_none()
    }

    pub(super) fn region(&self) -> Option<&Region> {
        self.region.as_deref()
    }

    pub(super) fn digits(&self) -> usize {
        self.digits
    }

    pub(super) fn bounds(&self, node: NodeId) -> Result<&Arc<Bounds>, RuleError> {
        self.bounds.get(node).ok_or(RuleError::Internal("a node has no bounds"))
    }

    /// The proved bounds of a coordinate; `None` if there is no such coordinate or the scope is empty.
    #[must_use]
    pub fn interval(&self, node: NodeId, coordinate: usize) -> Option<&Interval> {
        self.region.as_ref()?;
        self.bounds.get(node)?.intervals().get(coordinate)
    }

    /// IBP: bounds of every node from those of its parents on the scope's region, intersected with the bounds that were known.
    ///
    /// # Errors
    /// [`RuleError::Undefined`]; [`RuleError::RowLength`] if a sum is too long; [`RuleError::Budget`]; [`RuleError::Internal`] if the program is not what its constructor checked.
    pub fn interval_bounds(&mut self) -> Result<(), RuleError> {
        let Some(region) = self.region.clone() else { return Ok(()) };
        let problem = Arc::clone(&self.problem);
        let mut bounds: Vec<Arc<Bounds>> = Vec::with_capacity(problem.program().nodes().len());
        for (id, node) in problem.program().nodes().iter().enumerate() {
            let of = |id: NodeId| bounds.get(id).map(|b| b.intervals()).ok_or(RuleError::Internal("order of nodes"));
            let computed = image((id, node), &region, of)?;
            let met = match self.bounds.get(id) {
                None => computed,
                Some(known) => computed.into_iter().zip(known.intervals()).map(|(c, k)| c.meet(k.clone())).collect(),
            };
            if met.iter().any(Interval::is_empty) {
                return self.close();
            }
            bounds.push(Arc::new(Bounds::new(met)));
        }
        self.bounds = bounds;
        Ok(())
    }

    /// Bounds that exclude each other prove that no input satisfies the assumptions; without literals a box is not empty, so it is a fault.
    fn close(&mut self) -> Result<(), RuleError> {
        if self.literals.is_empty() && self.problem.restriction().is_all() {
            return Err(RuleError::Internal("crossed bounds on a nonempty region"));
        }
        self.region = None;
        Ok(())
    }

    /// INTERMEDIATE: tightens coordinate `coordinate` of `node` by BACK from below (`lower` slopes) and from above (`upper` slopes).
    ///
    /// # Errors
    /// A coordinate that does not exist, or slopes outside their domain.
    pub fn tighten(
        &mut self,
        node: NodeId,
        coordinate: usize,
        lower: &Slopes,
        upper: &Slopes,
    ) -> Result<(), RuleError> {
        let Some(found) = self.tightened(node, coordinate, lower, upper)? else { return Ok(()) };
        self.set_interval(node, &[(coordinate, found)])
    }

    /// What [`Scope::tighten`] would find: bounds of one coordinate under the assumptions of this scope. `None` if the scope is empty.
    ///
    /// # Errors
    /// As [`Scope::tighten`].
    pub fn tightened(
        &self,
        node: NodeId,
        coordinate: usize,
        lower: &Slopes,
        upper: &Slopes,
    ) -> Result<Option<Interval>, RuleError> {
        lower.check(self.problem.program())?;
        upper.check(self.problem.program())?;
        if coordinate >= self.problem.program().width(node) {
            return Err(RuleError::NoSuch("coordinate"));
        }
        if self.is_empty() {
            return Ok(None);
        }
        let one = Dyadic::new(1, 0);
        let from_below = back::coordinate(self, node, coordinate, one.clone(), lower)?;
        let from_above = back::coordinate(self, node, coordinate, -one, upper)?;
        Ok(Some(Interval { lower: from_below.below(), upper: -from_above.below() }))
    }

    /// Tightens every coordinate of `node` whose bounds matter to a later node that takes it, with default slopes; see [`Scope::unsettled`].
    ///
    /// # Errors
    /// As [`Scope::tighten`].
    pub fn tighten_unstable(&mut self, node: NodeId, consumer: &Primitive) -> Result<(), RuleError> {
        let none = Slopes::default();
        let open = self.unsettled(node, consumer)?;
        let mut found = Vec::with_capacity(open.len());
        for coordinate in open {
            if let Some(interval) = self.tightened(node, coordinate, &none, &none)? {
                found.push((coordinate, interval));
            }
        }
        self.set_interval(node, &found)
    }

    /// The coordinates of `node` whose bounds matter to a later node that takes it: none in an empty scope.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] coordinate of a maximum, if another node is meant.
    pub fn unsettled(&self, node: NodeId, consumer: &Primitive) -> Result<Vec<usize>, RuleError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let intervals = self.bounds(node)?.intervals();
        let ends = |coordinate: usize| intervals.get(coordinate).map(|z| (&z.lower, &z.upper));
        let bends = |function: &Function, lower: &Dyadic, upper: &Dyadic| function.linear_slope(lower, upper).is_none();
        planes::unsettled(consumer, intervals.len(), ends, bends).ok_or(RuleError::NoSuch("coordinate of a maximum"))
    }

    /// Intersects bounds of `node` with bounds proved in this scope.
    fn set_interval(&mut self, node: NodeId, found: &[(usize, Interval)]) -> Result<(), RuleError> {
        if found.is_empty() {
            return Ok(());
        }
        let mut intervals = self.bounds(node)?.intervals().to_vec();
        for (coordinate, interval) in found {
            let known = intervals.get_mut(*coordinate).ok_or(RuleError::NoSuch("coordinate"))?;
            *known = known.clone().meet(interval.clone());
            if known.is_empty() {
                return self.close();
            }
        }
        let slot = self.bounds.get_mut(node).ok_or(RuleError::NoSuch("node"))?;
        *slot = Arc::new(Bounds::new(intervals));
        Ok(())
    }

    /// The two halves of this scope at `threshold` of a coordinate: at least, and at most. Each keeps the bounds proved here and clamps
    /// those of the coordinate. A half is empty only if the coordinate's bounds strictly exclude it.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] coordinate.
    pub fn split(&self, node: NodeId, coordinate: usize, threshold: &Rational) -> Result<(Self, Self), RuleError> {
        if coordinate >= self.problem.program().width(node) {
            return Err(RuleError::NoSuch("coordinate"));
        }
        let half = |side| self.half(Literal { node, coordinate, threshold: threshold.clone(), side });
        Ok((half(Side::AtLeast)?, half(Side::AtMost)?))
    }

    fn half(&self, literal: Literal) -> Result<Self, RuleError> {
        let mut half = self.clone();
        let Literal { node, coordinate, threshold, side } = literal.clone();
        half.literals.push(Arc::new(literal));
        let Some(region) = &self.region else { return Ok(half) };
        let known = self.interval(node, coordinate).ok_or(RuleError::NoSuch("coordinate"))?.clone();
        let excluded = match side {
            Side::AtLeast => known.upper.to_rational() < threshold,
            Side::AtMost => known.lower.to_rational() > threshold,
        };
        if excluded {
            half.region = None;
            return Ok(half);
        }
        if node == self.problem.program().input() {
            let part = region.half(coordinate, &threshold, side == Side::AtLeast);
            half.region = part.map_err(|_| RuleError::NoSuch("input coordinate"))?.map(Arc::new);
        }
        let clamped = match side {
            Side::AtLeast => Interval { lower: below(&threshold), ..known },
            Side::AtMost => Interval { upper: above(&threshold), ..known },
        };
        half.set_interval(node, &[(coordinate, clamped)])?;
        Ok(half)
    }

    /// EMPTY: no input that satisfies the assumptions lies in the scope's disjunct. Each row of the disjunct and of the region, and each literal, enters with
    /// a multiplier ≥ 0; the bound of the sum must come out above zero (or be zero with an open row).
    ///
    /// # Errors
    /// [`RuleError::Unproved`] with the bound that was reached; hints that fit nothing or lie outside their domain.
    pub fn refute(&self, multipliers: &Multipliers, slopes: &Slopes) -> Result<Judgement, RuleError> {
        let disjunct = self.disjunct.ok_or(RuleError::Mismatch("a refutation needs a disjunct"))?;
        slopes.check(self.problem.program())?;
        let rows = self.problem.property().disjuncts.get(disjunct).ok_or(RuleError::NoSuch("disjunct"))?;
        let rows = rows.len().saturating_add(self.problem.restriction().rows.len());
        multipliers.check(rows, self.literals.len())?;
        if !self.is_empty() {
            let (bound, open) = back::combination(self, disjunct, multipliers, slopes)?;
            if !(bound.numerator.is_positive() || (open && bound.numerator.is_zero())) {
                return Err(RuleError::Unproved(bound.to_rational()));
            }
        }
        Ok(self.closed(disjunct))
    }

    /// EMPTY by the proved bounds alone: the only row of the scope's disjunct is over one value, and fails for all values between them.
    ///
    /// # Errors
    /// [`RuleError::Unproved`] with the bound that was reached; [`RuleError::NoSuch`] if there is no such row, or no disjunct.
    pub fn exclude(&self) -> Result<Judgement, RuleError> {
        let disjuncts = &self.problem.property().disjuncts;
        let found = self.disjunct.and_then(|disjunct| Some((disjunct, disjuncts.get(disjunct)?.as_slice())));
        let Some((disjunct, [row])) = found else { return Err(RuleError::NoSuch("lone row")) };
        let Row { terms, bound, strict } = row.as_ref();
        let [(variable, c)] = terms.as_slice() else { return Err(RuleError::NoSuch("row over one value")) };
        let place = self.problem.place_of(variable).ok_or(RuleError::NoSuch("output coordinate"))?;
        if let Some(Interval { lower, upper }) = self.interval(place.0, place.1) {
            let end = if c.is_negative() { upper } else { lower };
            let numerator = end * &Dyadic::new(c.numer().clone(), 0);
            let reached = Quotient { numerator, denominator: c.denom().clone() }.over_plus(BigInt::one(), &-bound);
            if !(reached.numerator.is_positive() || *strict && reached.numerator.is_zero()) {
                return Err(RuleError::Unproved(reached.to_rational()));
            }
        } else if !self.is_empty() {
            return Err(RuleError::NoSuch("bounds"));
        }
        Ok(self.closed(disjunct))
    }

    fn closed(&self, disjunct: usize) -> Judgement {
        Judgement::made(Arc::clone(&self.problem), Some(disjunct), self.literals.clone(), Statement::Empty)
    }
}
