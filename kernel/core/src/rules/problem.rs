//! PROGRAM and PROPERTY: what is to be decided.

use super::RuleError;
use crate::program::Program;
use crate::property::{Property, Variable};
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
        let rows = self.property.disjuncts.get(disjunct).ok_or(RuleError::NoSuch("disjunct"))?;
        let (mut lower, mut upper) = (self.region.lower().to_vec(), self.region.upper().to_vec());
        for row in rows {
            // c·x ≤ b is x ≤ b/c for c > 0 and x ≥ b/c for c < 0.
            if let Some((coordinate, coefficient)) = row.single_input() {
                let end = &row.bound / coefficient;
                let upward = coefficient.is_negative();
                let ends = if upward { &mut lower } else { &mut upper };
                let old = ends.get_mut(coordinate).ok_or(RuleError::NoSuch("coordinate"))?;
                let tighter = if upward { end > *old } else { end < *old };
                if tighter {
                    *old = end;
                }
            }
        }
        Region::new(lower, upper).map_err(|_| RuleError::Internal("the ends of a region differ in number"))
    }

    /// Whether the disjunct's region is the whole region.
    ///
    /// # Errors
    /// [`RuleError::NoSuch`] disjunct.
    pub fn has_whole_region(&self, disjunct: usize) -> Result<bool, RuleError> {
        let region = self.region_of(disjunct)?;
        Ok(region.is_some_and(|r| r.lower() == self.region.lower() && r.upper() == self.region.upper()))
    }
}
