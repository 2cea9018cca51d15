//! Terms as linear forms, and comparisons as rows.

use crate::limits::{Limits, within};
use crate::reason::Reason;
use certkern_core::num::Rational;
use certkern_core::property::{Row, Variable};
use num_traits::Zero;
use std::collections::BTreeMap;

/// `Σ c·v + constant`. Coefficients may be zero.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    terms: BTreeMap<Variable, Rational>,
    constant: Rational,
}

impl Linear {
    /// A constant.
    pub(super) fn constant(constant: Rational) -> Self {
        Self { terms: BTreeMap::new(), constant }
    }

    /// A variable.
    pub(super) fn variable(variable: Variable) -> Self {
        let one = Rational::from_integer(1.into());
        Self { terms: BTreeMap::from([(variable, one)]), constant: Rational::zero() }
    }

    /// The sum of two forms.
    pub(super) fn plus(mut self, other: Self) -> Self {
        for (variable, coefficient) in other.terms {
            *self.terms.entry(variable).or_insert_with(Rational::zero) += coefficient;
        }
        // A sum of fractions seeks common divisors; most constants stand alone.
        if self.constant.is_zero() {
            self.constant = other.constant;
        } else if !other.constant.is_zero() {
            self.constant += other.constant;
        }
        self
    }

    /// The form with every sign turned.
    pub(super) fn negated(mut self) -> Self {
        for coefficient in self.terms.values_mut() {
            *coefficient = -std::mem::take(coefficient);
        }
        self.constant = -self.constant;
        self
    }

    /// The product, if one factor is constant.
    ///
    /// # Errors
    /// `property.unsupported` if both have variables; the limit `digits` if a number of the product is longer than any number that may
    /// be written, so that a chain of products cannot grow without end.
    pub(super) fn times(self, other: Self, limits: &Limits) -> Result<Self, Reason> {
        let (factor, mut form) = match (self.terms.is_empty(), other.terms.is_empty()) {
            (true, _) => (self.constant, other),
            (false, true) => (other.constant, self),
            (false, false) => return Err(Reason::PropertyUnsupported("a product of two variables".to_owned())),
        };
        let longest = limits.digits.saturating_add(usize::try_from(limits.exponent).unwrap_or(usize::MAX));
        for number in form.terms.values_mut().chain(std::iter::once(&mut form.constant)) {
            *number *= &factor;
            let bits = number.numer().bits().max(number.denom().bits());
            // A decimal digit is less than four bits.
            within("digits", usize::try_from(bits >> 2).unwrap_or(usize::MAX), longest)?;
        }
        Ok(form)
    }

    /// The row `self ≤ 0`, or `self < 0`: the constant moved to the right, zero coefficients left out.
    pub(super) fn at_most_zero(self, strict: bool) -> Row {
        let terms = self.terms.into_iter().filter(|(_, coefficient)| !coefficient.is_zero()).collect();
        Row { terms, bound: -self.constant, strict }
    }
}
