//! Payload fields that parametrise an operator, and what they must satisfy.

use super::{PayloadField, Refusal, Site};
use certkern_core::func::Elementary;
use certkern_core::num::Rational;
use certkern_core::tensor::Tensor;

/// A field of one number.
pub(super) const fn number(name: &'static str) -> PayloadField {
    PayloadField { name, shape: |_, _| Ok(Vec::new()) }
}

/// The numbers of an operator whose fields are one number each.
pub(super) fn all(site: &Site) -> Option<Vec<Rational>> {
    site.payload.iter().map(|tensor| tensor.get(0)).collect()
}

/// Refuses a field if the numbers are no parameters of the function of the library.
pub(super) fn admitted(site: &Site, function: &str, field: &'static str, detail: &str) -> Result<(), Refusal> {
    let parameters = all(site).ok_or(Refusal::Internal("a field without a number"))?;
    match Elementary::new(function, parameters) {
        Some(_) => Ok(()),
        None => Err(Refusal::Payload(field, detail.to_owned())),
    }
}

/// Refuses an `eps` that is not above zero.
pub(super) fn positive_eps(eps: &Tensor) -> Result<(), Refusal> {
    satisfied("eps", eps, |value| *value > Rational::default(), "must be above zero")
}

/// Refuses a field with a number that does not hold.
pub(super) fn satisfied(
    field: &'static str,
    tensor: &Tensor,
    holds: fn(&Rational) -> bool,
    detail: &str,
) -> Result<(), Refusal> {
    match (0..tensor.len()).find(|place| !tensor.get(*place).is_some_and(|value| holds(&value))) {
        None => Ok(()),
        Some(place) => Err(Refusal::Payload(field, format!("element {place} {detail}"))),
    }
}

/// Refuses a mask with a number other than 0 and 1.
pub(super) fn is_mask(mask: &Tensor) -> Result<(), Refusal> {
    satisfied("mask", mask, |value| *value == Rational::default() || *value == one(), "is neither 0 nor 1")
}

/// The number 1.
pub(super) fn one() -> Rational {
    Rational::from_integer(1.into())
}

/// Whether each element of a mask is 1.
pub(super) fn bits(mask: &Tensor) -> Vec<bool> {
    (0..mask.len()).map(|place| mask.get(place).is_some_and(|value| value == one())).collect()
}
