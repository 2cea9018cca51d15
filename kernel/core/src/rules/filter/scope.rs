//! SCOPE in binary64: bounds of every node under the assumptions of a tree node.

use super::boxes::{FloatBox, Met};
use super::lines::{FloatLines, bends};
use super::pass::{self, Start};
use super::refute::NodeSlopes;
use super::{Edge, Ends, Filter, FloatPrimitive};
use crate::filter::round::{down, power_of_two, up};
use crate::filter::unit::rounds_to_nearest;
use crate::program::{NodeId, Primitive};
use crate::rules::RuleError;
use crate::rules::planes::unsettled;
use crate::rules::scope::{Literal, Side};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows of one backward pass.
const BATCH: usize = 64;

/// The assumptions at a tree node and bounds proved under them, in binary64; see [`Scope`](crate::rules::Scope). Cheap to clone.
#[derive(Clone, Debug)]
pub struct FilterScope {
    filter: Arc<Filter>,
    disjunct: Option<usize>,
    literals: Vec<FloatLiteral>,
    /// No input satisfies the assumptions.
    empty: bool,
    /// Every bound is in the range of CHARGE, and the unit rounded as it must whenever it was asked.
    in_range: bool,
    bounds: Vec<Arc<FloatBox>>,
    /// For each edge `|L|·B` with the magnitudes `B` of its parent, or more.
    reach: Vec<Arc<Vec<f64>>>,
    /// For each univariate node its lines over the bounds of its argument.
    lines: Vec<Option<Arc<FloatLines>>>,
}

/// A literal, its threshold rounded down and up.
#[derive(Clone, Debug)]
pub(super) struct FloatLiteral {
    pub(super) exact: Arc<Literal>,
    pub(super) below: f64,
    pub(super) above: f64,
}

/// A coordinate with the slopes of its passes from below and from above.
type Open<'a> = (usize, [Vec<NodeSlopes<'a>>; 2]);

/// Row `row` of slopes from below and from above.
fn at_row<'a>(slopes: &[(NodeSlopes<'a>, NodeSlopes<'a>)], row: usize) -> [Vec<NodeSlopes<'a>>; 2] {
    [slopes.iter().map(|(lower, _)| lower.at(row)).collect(), slopes.iter().map(|(_, upper)| upper.at(row)).collect()]
}

const BROKEN: RuleError = RuleError::Internal("the filter's program is not that of its problem");

impl FilterScope {
    /// As [`Scope::root`](crate::rules::Scope::root).
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct; [`RuleError::Undefined`], and what else DOMAIN refuses.
    pub fn root(filter: &Arc<Filter>, disjunct: Option<usize>) -> Result<Self, RuleError> {
        let problem = &filter.problem;
        let region = match disjunct {
            None => Some(Arc::clone(problem.region())),
            Some(disjunct) => problem.region_of(disjunct)?,
        };
        // DOMAIN: its bounds hold here too, rounded outward.
        let defined = problem.defined()?.iter().map(|bounds| Arc::new(FloatBox::around(bounds.intervals())));
        let mut scope = Self {
            filter: Arc::clone(filter),
            disjunct,
            literals: Vec::new(),
            empty: region.is_none(),
            in_range: true,
            bounds: defined.collect(),
            reach: vec![Arc::default(); filter.edges],
            lines: vec![None; filter.nodes.len()],
        };
        let Some(region) = region else { return Ok(scope) };
        let (lower, upper) = (region.lower().iter().map(down), region.upper().iter().map(up));
        let input = FloatBox::new(lower.collect(), upper.collect());
        scope.propagate(Some(input))?;
        Ok(scope)
    }

    /// As [`Scope::for_disjunct`](crate::rules::Scope::for_disjunct).
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct; [`RuleError::Mismatch`] if this scope is another disjunct's.
    pub fn for_disjunct(&self, disjunct: usize) -> Result<Self, RuleError> {
        if self.disjunct.is_some_and(|own| own != disjunct) {
            return Err(RuleError::Mismatch("bounds of one disjunct do not serve another"));
        }
        if disjunct >= self.filter.disjuncts.len() {
            return Err(RuleError::NoSuch("disjunct"));
        }
        Ok(Self { disjunct: Some(disjunct), ..self.clone() })
    }

    pub(super) fn filter(&self) -> &Arc<Filter> {
        &self.filter
    }

    pub(super) fn disjunct(&self) -> Option<usize> {
        self.disjunct
    }

    pub(super) fn literals(&self) -> &[FloatLiteral] {
        &self.literals
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    pub(super) fn in_range(&self) -> bool {
        self.in_range
    }

    pub(super) fn bounds(&self, node: NodeId) -> Option<&FloatBox> {
        self.bounds.get(node).map(Arc::as_ref)
    }

    pub(super) fn reach(&self, edge: usize) -> Option<&[f64]> {
        self.reach.get(edge).map(|reach| reach.as_slice())
    }

    pub(super) fn lines(&self, node: NodeId) -> Option<&FloatLines> {
        self.lines.get(node)?.as_deref()
    }

    /// IBP, as [`Scope::interval_bounds`](crate::rules::Scope::interval_bounds).
    ///
    /// # Errors
    /// [`RuleError::Internal`].
    pub fn interval_bounds(&mut self) -> Result<(), RuleError> {
        self.propagate(None)
    }

    /// IBP from the bounds of the input: those that are known, or `input` at a root.
    fn propagate(&mut self, input: Option<FloatBox>) -> Result<(), RuleError> {
        if !self.usable() {
            return Ok(());
        }
        let filter = Arc::clone(&self.filter);
        let known = std::mem::take(&mut self.bounds);
        for (id, node) in filter.nodes.iter().enumerate() {
            let computed = match &node.primitive {
                FloatPrimitive::Input => match &input {
                    Some(input) => input.clone(),
                    None => known.get(id).ok_or(BROKEN)?.as_ref().clone(),
                },
                FloatPrimitive::Affine { terms, bias } => self.affine(node.width, terms, bias).ok_or(BROKEN)?,
                FloatPrimitive::Univariate { function, argument } => {
                    self.bounds(*argument).ok_or(BROKEN)?.image(function)
                }
                FloatPrimitive::Product { left, right } if left == right => self.bounds(*left).ok_or(BROKEN)?.square(),
                FloatPrimitive::Product { left, right } => {
                    self.bounds(*left).ok_or(BROKEN)?.product(self.bounds(*right).ok_or(BROKEN)?)
                }
                FloatPrimitive::Max { argument, groups } => self.bounds(*argument).ok_or(BROKEN)?.maxima(groups),
            };
            let met = match known.get(id) {
                None => computed,
                Some(known) => {
                    let mut met = known.as_ref().clone();
                    if met.meet_all(&computed).ok_or(BROKEN)? == Met::Empty {
                        return self.close();
                    }
                    met
                }
            };
            self.in_range &= met.in_range();
            self.bounds.push(Arc::new(met));
            if let FloatPrimitive::Univariate { .. } = &node.primitive {
                self.draw_lines(id).ok_or(BROKEN)?;
            }
        }
        self.in_range &= rounds_to_nearest();
        Ok(())
    }

    /// Whether there is something to bound: not known to be empty, every number in range, and the unit rounds as it must.
    fn usable(&mut self) -> bool {
        self.in_range &= rounds_to_nearest();
        self.in_range && !self.empty
    }

    /// Bounds that exclude each other prove that no input satisfies the assumptions; without literals it is a fault where the region is a box.
    fn close(&mut self) -> Result<(), RuleError> {
        if self.literals.is_empty() && self.filter.problem.restriction().is_all() {
            return Err(RuleError::Internal("crossed bounds on a nonempty region"));
        }
        self.empty = true;
        Ok(())
    }

    /// The interval image of the parents' bounds; keeps `|L|·B` of each edge.
    ///
    /// With midpoints `c`, radii `ρ` rounded up and magnitudes `B`: `L·c`, `|L|·ρ` and `|L|·B` are computed, the first two within
    /// `(N + 2)·ε` of `|L|·B` and twice that, so each end is within `(3·(N + 2) + 8)·ε·(|L|·B + |b|)`, the last sums included.
    fn affine(&mut self, width: usize, terms: &[Edge], bias: &Ends) -> Option<FloatBox> {
        let zeros = || vec![0.0; width];
        let (mut middle, mut radius, mut size) = (zeros(), zeros(), zeros());
        let mut count = 0_usize;
        for Edge { parent, map, number } in terms {
            let bounds = Arc::clone(self.bounds.get(*parent)?);
            let ends = || bounds.lower.iter().zip(&bounds.upper);
            let midpoints: Vec<f64> = ends().map(|(l, u)| (l + u) * 0.5).collect();
            let radii = ends().zip(&midpoints).map(|((l, u), c)| {
                let (below, above) = ((c - l).next_up(), (u - c).next_up());
                if below > above { below } else { above }
            });
            map.add_image(&midpoints, false, &mut middle)?;
            map.add_image(&radii.collect::<Vec<_>>(), true, &mut radius)?;
            let mut reach = zeros();
            map.add_image(&bounds.magnitude, true, &mut reach)?;
            size.iter_mut().zip(&reach).for_each(|(sum, reach)| *sum += reach);
            *self.reach.get_mut(*number)? = Arc::new(reach);
            count = count.checked_add(map.image_terms)?.checked_add(1)?;
        }
        let factor = (3.0 * (count as f64 + 2.0) + 8.0) * power_of_two(-53) * (1.0 + power_of_two(-20));
        let rows = middle.iter().zip(&radius).zip(&size).zip(bias.lower.iter().zip(&bias.upper));
        let ends = rows.map(|(((middle, radius), size), (bias_below, bias_above))| {
            let charge = factor * (size + bias_below.abs() + bias_above.abs()) + power_of_two(-900);
            ((middle - radius) + bias_below - charge, (middle + radius) + bias_above + charge)
        });
        let (lower, upper) = ends.unzip();
        Some(FloatBox::new(lower, upper))
    }

    /// The lines of a univariate node over the bounds of its argument.
    fn draw_lines(&mut self, id: NodeId) -> Option<()> {
        let FloatPrimitive::Univariate { function, argument } = &self.filter.nodes.get(id)?.primitive else {
            return None;
        };
        let lines = FloatLines::new(function, self.bounds.get(*argument)?);
        *self.lines.get_mut(id)? = Some(Arc::new(lines));
        Some(())
    }

    /// As [`Scope::tighten_unstable`](crate::rules::Scope::tighten_unstable).
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] node.
    pub fn tighten_unstable(&mut self, node: NodeId, consumer: &Primitive) -> Result<(), RuleError> {
        let open = self.unsettled(node, consumer).into_iter().map(|coordinate| (coordinate, [Vec::new(), Vec::new()]));
        self.improve(node, &open.collect::<Vec<_>>())
    }

    /// As [`Scope::unsettled`](crate::rules::Scope::unsettled); none where bounds are not known.
    fn unsettled(&self, node: NodeId, consumer: &Primitive) -> Vec<usize> {
        let Some(bounds) = self.bounds(node) else { return Vec::new() };
        let ends = |coordinate: usize| Some((*bounds.lower.get(coordinate)?, *bounds.upper.get(coordinate)?));
        unsettled(consumer, bounds.lower.len(), ends, bends).unwrap_or_default()
    }

    /// As [`Scope::tighten`](crate::rules::Scope::tighten) for each of `coordinates` whose bounds matter to a node that takes `node`: row `i` of the slopes serves
    /// `coordinates[i]`, the first of a pair from below, the second from above.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] coordinate or row of slopes; [`RuleError::SlopeDomain`].
    pub fn tighten(
        &mut self,
        node: NodeId,
        coordinates: &[usize],
        slopes: &[(NodeSlopes<'_>, NodeSlopes<'_>)],
    ) -> Result<(), RuleError> {
        let filter = Arc::clone(&self.filter);
        let uses = filter.uses.get(node).cloned().unwrap_or_default();
        let consumers = uses.univariate.iter().chain(uses.planes.iter().map(|(id, _)| id));
        let consumers = consumers.filter_map(|id| filter.problem.program().nodes().get(*id));
        let matter: BTreeSet<usize> =
            consumers.flat_map(|consumer| self.unsettled(node, &consumer.primitive)).collect();
        let mut open = Vec::with_capacity(coordinates.len());
        for (row, coordinate) in coordinates.iter().enumerate() {
            let of_row = at_row(slopes, row);
            of_row.iter().flatten().try_for_each(|slopes| slopes.check(&filter))?;
            if matter.contains(coordinate) {
                open.push((*coordinate, of_row));
            }
        }
        self.improve(node, &open)
    }

    /// What [`FilterScope::tighten`] would find before it meets what is known, for any coordinates and whether functions bend there or not. `None` if a
    /// number is out of range. It proves nothing: how wide the bounds are is measured with it.
    #[cfg(feature = "measure")]
    #[must_use]
    pub fn tightened(
        &self,
        node: NodeId,
        coordinates: &[usize],
        slopes: &[(NodeSlopes<'_>, NodeSlopes<'_>)],
    ) -> Option<Vec<[f64; 2]>> {
        let open = coordinates.iter().enumerate().map(|(row, coordinate)| (*coordinate, at_row(slopes, row)));
        let found = self.passes(node, &open.collect::<Vec<_>>());
        found.filter(|_| self.in_range && !self.empty && rounds_to_nearest())
    }

    /// INTERMEDIATE: for each coordinate a pass from below and one from above.
    fn improve(&mut self, node: NodeId, open: &[Open<'_>]) -> Result<(), RuleError> {
        if open.is_empty() || !self.usable() {
            return Ok(());
        }
        let Some(found) = self.passes(node, open) else { return Ok(()) };
        self.in_range &= rounds_to_nearest();
        let mut improved = self.bounds(node).ok_or(BROKEN)?.clone();
        for ((coordinate, _), [below, above]) in open.iter().zip(found) {
            if improved.meet(*coordinate, below, above).ok_or(BROKEN)? == Met::Empty {
                return self.close();
            }
        }
        self.settle(node, improved).ok_or(BROKEN)
    }

    /// The ends that a pass from below and one from above give for each coordinate.
    fn passes(&self, node: NodeId, open: &[Open<'_>]) -> Option<Vec<[f64; 2]>> {
        let mut found = Vec::with_capacity(open.len());
        for batch in open.chunks(BATCH / 2) {
            let start = |coordinate, sign, slopes| Start {
                scope: self,
                slopes,
                entries: vec![(node, coordinate, sign)],
                constants: Vec::new(),
            };
            let starts: Vec<_> = batch
                .iter()
                .flat_map(|(at, [below, above])| [start(*at, 1.0, &below[..]), start(*at, -1.0, &above[..])])
                .collect();
            let bounds = pass::bounds::<true>(&self.filter, &starts)?;
            found.extend(bounds.as_chunks::<2>().0.iter().map(|[below, above]| [*below, -above]));
        }
        Some(found)
    }

    /// Sets new bounds of a node: with them the lines over it, the bounds of its images, and the reach of what takes them.
    fn settle(&mut self, node: NodeId, improved: FloatBox) -> Option<()> {
        self.in_range &= improved.in_range();
        *self.bounds.get_mut(node)? = Arc::new(improved);
        self.measure(node)?;
        let filter = Arc::clone(&self.filter);
        for user in &filter.uses.get(node)?.univariate {
            self.draw_lines(*user)?;
            let image = self.bounds(node)?.image(filter.function(*user)?);
            let mut met = self.bounds(*user)?.clone();
            // The image of a proved box meets every proved box of the same values.
            if met.meet_all(&image)? == Met::Nonempty {
                *self.bounds.get_mut(*user)? = Arc::new(met);
                self.measure(*user)?;
            }
        }
        Some(())
    }

    /// The reach of the edges from a node, from its bounds.
    fn measure(&mut self, node: NodeId) -> Option<()> {
        let filter = Arc::clone(&self.filter);
        for (id, place) in &filter.uses.get(node)?.terms {
            let FloatPrimitive::Affine { terms, .. } = &filter.nodes.get(*id)?.primitive else { return None };
            let edge = terms.get(*place)?;
            let mut reach = vec![0.0; filter.width(*id)];
            edge.map.add_image(&self.bounds(node)?.magnitude, true, &mut reach)?;
            *self.reach.get_mut(edge.number)? = Arc::new(reach);
        }
        Some(())
    }

    /// As [`Scope::split`](crate::rules::Scope::split), at a threshold of the filter.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] coordinate or threshold.
    pub fn split(&self, node: NodeId, coordinate: usize, threshold: usize) -> Result<(Self, Self), RuleError> {
        if coordinate >= self.filter.width(node) {
            return Err(RuleError::NoSuch("coordinate"));
        }
        let half = |side| self.half(node, coordinate, threshold, side);
        Ok((half(Side::AtLeast)?, half(Side::AtMost)?))
    }

    /// The threshold enters rounded outward: `g ≥ τ` as `g ≥ τ⁻`, `g ≤ τ` as `g ≤ τ⁺`.
    fn half(&self, node: NodeId, coordinate: usize, threshold: usize, side: Side) -> Result<Self, RuleError> {
        let threshold = self.filter.thresholds.get(threshold).ok_or(RuleError::NoSuch("threshold"))?;
        let exact = Literal { node, coordinate, threshold: threshold.exact.clone(), side };
        let mut half = self.clone();
        let (below, above) = (threshold.below, threshold.above);
        half.literals.push(FloatLiteral { exact: Arc::new(exact), below, above });
        if self.empty || !self.in_range {
            return Ok(half);
        }
        let (lower, upper) = match side {
            Side::AtLeast => (below, f64::INFINITY),
            Side::AtMost => (f64::NEG_INFINITY, above),
        };
        let bounds = Arc::make_mut(half.bounds.get_mut(node).ok_or(BROKEN)?);
        if bounds.meet(coordinate, lower, upper).ok_or(BROKEN)? == Met::Empty {
            half.empty = true;
            return Ok(half);
        }
        for user in &self.filter.uses.get(node).ok_or(BROKEN)?.univariate {
            let function = self.filter.function(*user).ok_or(BROKEN)?;
            let lines = half.lines.get_mut(*user).and_then(Option::as_mut).ok_or(BROKEN)?;
            Arc::make_mut(lines).update(function, coordinate, bounds, [None; 2]).ok_or(BROKEN)?;
        }
        Ok(half)
    }
}
