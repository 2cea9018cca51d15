//! Regions of inputs: boxes with rational ends.

use crate::interval::Interval;
use crate::num::denominator::{common_denominator, odd_part};
use crate::num::{Dyadic, Planes, Rational};
use num_bigint::BigInt;
use num_traits::One;

/// Digits that box ends keep in the last step of backward bounding; more are rounded outward.
const DIGITS: usize = 24;

/// The longest common denominator that is kept exactly; beyond it the ends are rounded outward to dyadics.
const DENOMINATOR_BITS: u64 = 1024;

/// Ends that do not belong together, or a coordinate that does not exist. It is no empty box: emptiness proves things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchBox;

/// The box of all `x` with `lower ≤ x ≤ upper`. Not empty: there is no constructor that gives an empty one.
#[derive(Clone, Debug)]
pub struct Region {
    lower: Vec<Rational>,
    upper: Vec<Rational>,
    /// The ends times `denominator`, rounded outward.
    ends: (Planes, Planes),
    denominator: BigInt,
}

impl Region {
    /// The box between the ends; `None` if it is empty.
    ///
    /// # Errors
    /// [`NoSuchBox`] if the ends differ in number.
    pub fn new(lower: Vec<Rational>, upper: Vec<Rational>) -> Result<Option<Self>, NoSuchBox> {
        if lower.len() != upper.len() {
            return Err(NoSuchBox);
        }
        if lower.iter().zip(&upper).any(|(l, u)| l > u) {
            return Ok(None);
        }
        let odd = lower.iter().chain(&upper).map(|end| odd_part(end.denom()));
        let denominator = common_denominator(odd, DENOMINATOR_BITS).unwrap_or_else(BigInt::one);
        let scale = Rational::from_integer(denominator.clone());
        let scaled = |ends: &[Rational]| -> Vec<Interval> {
            ends.iter().map(|end| end * &scale).map(|end| Interval::around(&end, &end)).collect()
        };
        let below: Vec<Dyadic> = scaled(&lower).into_iter().map(|end| end.lower).collect();
        let above: Vec<Dyadic> = scaled(&upper).into_iter().map(|end| end.upper).collect();
        let ends = (Planes::floor(&below, DIGITS), Planes::ceil(&above, DIGITS));
        Ok(Some(Self { lower, upper, ends, denominator }))
    }

    /// The number of coordinates.
    #[must_use]
    pub fn width(&self) -> usize {
        self.lower.len()
    }

    /// The lower ends.
    #[must_use]
    pub fn lower(&self) -> &[Rational] {
        &self.lower
    }

    /// The upper ends.
    #[must_use]
    pub fn upper(&self) -> &[Rational] {
        &self.upper
    }

    /// The part where coordinate `coordinate` is at least `threshold` (or at most, if not `at_least`); `None` if that is empty.
    /// Touching is not empty: a coordinate fixed at the threshold stays on both sides.
    ///
    /// # Errors
    /// [`NoSuchBox`] if there is no such coordinate.
    pub fn half(&self, coordinate: usize, threshold: &Rational, at_least: bool) -> Result<Option<Self>, NoSuchBox> {
        let (mut lower, mut upper) = (self.lower.clone(), self.upper.clone());
        if at_least {
            let end = lower.get_mut(coordinate).ok_or(NoSuchBox)?;
            *end = (*end).clone().max(threshold.clone());
        } else {
            let end = upper.get_mut(coordinate).ok_or(NoSuchBox)?;
            *end = (*end).clone().min(threshold.clone());
        }
        Self::new(lower, upper)
    }

    /// Intervals around the coordinates.
    #[must_use]
    pub fn intervals(&self) -> Vec<Interval> {
        self.lower.iter().zip(&self.upper).map(|(l, u)| Interval::around(l, u)).collect()
    }

    /// At most the minimum of `denominator · row · x` over the box: the lower end where the entry is not negative, else the upper end.
    /// `None` if it is too long to be summed safely.
    #[must_use]
    pub(crate) fn minimum(&self, row: &Planes) -> Option<Dyadic> {
        let at_lower = row.dot_where(&self.ends.0, |negative| !negative)?;
        let at_upper = row.dot_where(&self.ends.1, |negative| negative)?;
        Some(at_lower.sum_down(&at_upper))
    }

    /// The positive integer that [`Region::minimum`] is multiplied by.
    #[must_use]
    pub(crate) fn denominator(&self) -> &BigInt {
        &self.denominator
    }
}
