//! PROGRAM and PROPERTY: what is to be decided.

use super::RuleError;
use super::bounds::Bounds;
use super::ibp::image;
use crate::num::Rational;
use crate::program::{NodeId, Program};
use crate::property::{Property, Row, Variable, Within};
use crate::region::Region;
use num_traits::{One, Signed, Zero};
use std::sync::{Arc, OnceLock};

/// A program and a property that fit each other. The proposition: for every `x` in the region `F(x)` is defined and `(x, F(x))`
/// lies in no disjunct of the unsafe set. The region is the property's box, or what [`Within`] leaves of it.
#[derive(Debug)]
pub struct Problem {
    program: Program,
    property: Property,
    within: Within,
    region: Arc<Region>,
    /// For each disjunct, whether its region is the whole region.
    whole: Vec<bool>,
    /// See [`Problem::defined`].
    defined: OnceLock<Result<Vec<Arc<Bounds>>, RuleError>>,
}

impl Problem {
    /// The problem of `property` for `program`.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] if widths differ, a row names a variable that does not exist or has a coefficient of zero, there is no disjunct, or the region is empty.
    pub fn new(program: Program, property: Property) -> Result<Self, RuleError> {
        Self::within(program, property, Within::default())
    }

    /// The problem on a part of the property's box.
    ///
    /// # Errors
    /// As for [`Problem::new`]; [`RuleError::Mismatch`] too if the ball has another width or a negative radius, or a row speaks of outputs or is open.
    pub fn within(program: Program, property: Property, within: Within) -> Result<Self, RuleError> {
        let region = Region::new(property.lower.clone(), property.upper.clone());
        let region = region.map_err(|_| RuleError::Mismatch("the ends of the region differ in number"))?;
        let region = region.ok_or(RuleError::Mismatch("the region is empty"))?;
        if region.width() != program.width(program.input()) {
            return Err(RuleError::Mismatch("the region and the input differ in width"));
        }
        if property.outputs != program.output_width() {
            return Err(RuleError::Mismatch("the property and the output differ in width"));
        }
        if property.disjuncts.is_empty() {
            return Err(RuleError::Mismatch("the unsafe set has no disjunct"));
        }
        let known = |variable: &Variable| match variable {
            Variable::X(i) => *i < region.width(),
            Variable::Y(i) => *i < property.outputs,
        };
        let on_outputs = |(variable, _): &(Variable, Rational)| matches!(variable, Variable::Y(_));
        if within.rows.iter().any(|row| row.strict || row.terms.iter().any(on_outputs)) {
            return Err(RuleError::Mismatch("a row of the region is open or speaks of outputs"));
        }
        let rows = property.disjuncts.iter().flatten().map(Arc::as_ref).chain(&within.rows);
        if !rows.flat_map(|row| &row.terms).all(|(variable, _)| known(variable)) {
            return Err(RuleError::Mismatch("a row names a variable that does not exist"));
        }
        let rows = property.disjuncts.iter().flatten().map(Arc::as_ref).chain(&within.rows);
        if rows.flat_map(|row| &row.terms).any(|(_, coefficient)| coefficient.is_zero()) {
            return Err(RuleError::Mismatch("a row has a coefficient of zero"));
        }
        let in_ball = |ball| region.clone().in_ball(ball);
        let region = within.ball.as_ref().map_or_else(|| Some(region.clone()), in_ball);
        let region = region.ok_or(RuleError::Mismatch("a ball of another width, or of a radius below zero"))?;
        let whole = property.disjuncts.iter().map(|rows| !cuts(rows).any(|cut| cut.cuts_off(&region))).collect();
        Ok(Self { program, property, within, region: Arc::new(region), whole, defined: OnceLock::new() })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The property.
    #[must_use]
    pub fn property(&self) -> &Property {
        &self.property
    }

    /// What restricts the region beside the property's box.
    #[must_use]
    pub fn restriction(&self) -> &Within {
        &self.within
    }

    /// The node and the coordinate in it that a variable names.
    pub(super) fn place_of(&self, variable: &Variable) -> Option<(NodeId, usize)> {
        match variable {
            Variable::X(i) => Some((self.program.input(), *i)),
            Variable::Y(i) => self.program.output_coordinate(*i),
        }
    }

    /// The row that a multiplier names: those of a disjunct come first, then those of the region, which hold wherever the property speaks.
    pub(super) fn row(&self, disjunct: usize, index: usize) -> Option<&Row> {
        self.property.disjuncts.get(disjunct)?.iter().map(Arc::as_ref).chain(&self.within.rows).nth(index)
    }

    /// The region of inputs.
    #[must_use]
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// DOMAIN: interval bounds of every node on the whole region, by which every function is defined on its arguments, so `F(x)` is defined for every `x` of it. None are
    /// computed where every function is defined on the whole line.
    ///
    /// # Errors
    /// [`RuleError::Undefined`], and what else IBP refuses.
    pub(super) fn defined(&self) -> Result<&[Arc<Bounds>], RuleError> {
        let bounds = || {
            let mut bounds: Vec<Arc<Bounds>> = Vec::new();
            if self.program.is_total() {
                return Ok(bounds);
            }
            for (id, node) in self.program.nodes().iter().enumerate() {
                let of =
                    |id: NodeId| bounds.get(id).map(|b| b.intervals()).ok_or(RuleError::Internal("order of nodes"));
                let image = image((id, node), &self.region, of)?;
                bounds.push(Arc::new(Bounds::new(image)));
            }
            Ok(bounds)
        };
        self.defined.get_or_init(bounds).as_deref().map_err(Clone::clone)
    }

    /// The region cut down to the box of a disjunct's single-input rows (CASES; open rows are taken as closed): `None` if that is empty.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct.
    pub fn region_of(&self, disjunct: usize) -> Result<Option<Arc<Region>>, RuleError> {
        if self.has_whole_region(disjunct)? {
            return Ok(Some(Arc::clone(&self.region)));
        }
        let (mut lower, mut upper) = (self.region.lower().to_vec(), self.region.upper().to_vec());
        for Cut { coordinate, end, upward } in
            self.property.disjuncts.get(disjunct).into_iter().flat_map(|rows| cuts(rows))
        {
            let ends = if upward { &mut lower } else { &mut upper };
            let old = ends.get_mut(coordinate).ok_or(RuleError::NoSuch("coordinate"))?;
            if beyond(&end, old, upward) {
                *old = end;
            }
        }
        let region = self.region.cut(lower, upper);
        Ok(region.map_err(|_| RuleError::Internal("the ends of a region differ in number"))?.map(Arc::new))
    }

    /// Whether the disjunct's region is the whole region.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct.
    pub fn has_whole_region(&self, disjunct: usize) -> Result<bool, RuleError> {
        self.whole.get(disjunct).copied().ok_or(RuleError::NoSuch("disjunct"))
    }
}

/// What the rows of a disjunct that speak of one input alone say: `c·x ≤ b` is `x ≤ b/c` for `c > 0` and `x ≥ b/c` for `c < 0`.
fn cuts(rows: &[Arc<Row>]) -> impl Iterator<Item = Cut> {
    rows.iter().filter_map(|row| {
        let (coordinate, coefficient) = row.single_input()?;
        // Most coefficients are 1 or −1, and a division of long decimals is slow.
        let end = match coefficient {
            one if one.is_one() => row.bound.clone(),
            minus_one if (-minus_one).is_one() => -&row.bound,
            other => &row.bound / other,
        };
        Some(Cut { coordinate, end, upward: coefficient.is_negative() })
    })
}

/// An end of the box of a disjunct.
struct Cut {
    coordinate: usize,
    end: Rational,
    /// A lower end.
    upward: bool,
}

impl Cut {
    /// Whether a region reaches beyond the end, or has no such coordinate.
    fn cuts_off(&self, region: &Region) -> bool {
        let ends = if self.upward { region.lower() } else { region.upper() };
        ends.get(self.coordinate).is_none_or(|old| beyond(&self.end, old, self.upward))
    }
}

/// Whether an end cuts off more than another one.
fn beyond(end: &Rational, old: &Rational, upward: bool) -> bool {
    if upward { end > old } else { end < old }
}
