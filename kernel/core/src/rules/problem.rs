//! PROGRAM and PROPERTY: what is to be decided.

use super::RuleError;
use crate::num::Rational;
use crate::program::Program;
use crate::property::{Property, Row, Variable};
use crate::region::Region;
use num_traits::{One, Signed, Zero};
use std::sync::Arc;

/// A program and a property that fit each other. The proposition: for every `x` in the region `F(x)` is defined and `(x, F(x))`
/// lies in no disjunct of the unsafe set.
#[derive(Debug)]
pub struct Problem {
    program: Program,
    property: Property,
    region: Arc<Region>,
    /// For each disjunct, whether its region is the whole region.
    whole: Vec<bool>,
}

impl Problem {
    /// The problem of `property` for `program`.
    ///
    /// # Errors
    /// [`RuleError::Mismatch`] if widths differ, a row names a variable that does not exist or has a coefficient of zero, there is no disjunct, or the region is empty.
    pub fn new(program: Program, property: Property) -> Result<Self, RuleError> {
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
        let rows = property.disjuncts.iter().flatten();
        if !rows.flat_map(|row| &row.terms).all(|(variable, _)| known(variable)) {
            return Err(RuleError::Mismatch("a row names a variable that does not exist"));
        }
        let rows = property.disjuncts.iter().flatten();
        if rows.flat_map(|row| &row.terms).any(|(_, coefficient)| coefficient.is_zero()) {
            return Err(RuleError::Mismatch("a row has a coefficient of zero"));
        }
        let whole = property.disjuncts.iter().map(|rows| !cuts(rows).any(|cut| cut.cuts_off(&region))).collect();
        Ok(Self { program, property, region: Arc::new(region), whole })
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

    /// The region of inputs.
    #[must_use]
    pub fn region(&self) -> &Arc<Region> {
        &self.region
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
        let region = Region::new(lower, upper);
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
fn cuts(rows: &[Row]) -> impl Iterator<Item = Cut> {
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
