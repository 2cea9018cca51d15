//! PROGRAM and PROPERTY: what is to be decided.

use super::RuleError;
use crate::num::Rational;
use crate::program::Program;
use crate::property::{Property, Row, Variable};
use crate::region::Region;
use num_traits::{Signed, Zero};

/// A program and a property that fit each other. The proposition: for every `x` in the region `F(x)` is defined and `(x, F(x))`
/// lies in no disjunct of the unsafe set.
#[derive(Debug)]
pub struct Problem {
    program: Program,
    property: Property,
    region: Region,
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
        Ok(Self { program, property, region })
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
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The region cut down to the box of a disjunct's single-input rows (CASES; open rows are taken as closed): `None` if that is empty.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct.
    pub fn region_of(&self, disjunct: usize) -> Result<Option<Region>, RuleError> {
        let (mut lower, mut upper) = (self.region.lower().to_vec(), self.region.upper().to_vec());
        for Cut { coordinate, end, upward } in self.cuts(disjunct)? {
            let ends = if upward { &mut lower } else { &mut upper };
            let old = ends.get_mut(coordinate).ok_or(RuleError::NoSuch("coordinate"))?;
            if beyond(&end, old, upward) {
                *old = end;
            }
        }
        Region::new(lower, upper).map_err(|_| RuleError::Internal("the ends of a region differ in number"))
    }

    /// Whether the disjunct's region is the whole region.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct.
    pub fn has_whole_region(&self, disjunct: usize) -> Result<bool, RuleError> {
        let tighter = |Cut { coordinate, end, upward }: Cut| {
            let ends = if upward { self.region.lower() } else { self.region.upper() };
            ends.get(coordinate).is_none_or(|old| beyond(&end, old, upward))
        };
        Ok(!self.cuts(disjunct)?.any(tighter))
    }

    /// What the rows of a disjunct that speak of one input alone say: `c·x ≤ b` is `x ≤ b/c` for `c > 0` and `x ≥ b/c` for `c < 0`.
    fn cuts(&self, disjunct: usize) -> Result<impl Iterator<Item = Cut>, RuleError> {
        let rows = self.property.disjuncts.get(disjunct).ok_or(RuleError::NoSuch("disjunct"))?;
        let cut = |row: &Row| {
            let (coordinate, coefficient) = row.single_input()?;
            Some(Cut { coordinate, end: &row.bound / coefficient, upward: coefficient.is_negative() })
        };
        Ok(rows.iter().filter_map(cut))
    }
}

/// An end of the box of a disjunct.
struct Cut {
    coordinate: usize,
    end: Rational,
    /// A lower end.
    upward: bool,
}

/// Whether an end cuts off more than another one.
fn beyond(end: &Rational, old: &Rational, upward: bool) -> bool {
    if upward { end > old } else { end < old }
}
