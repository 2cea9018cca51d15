//! Regions of inputs: boxes with rational ends, and what a ball says beside its box.

use crate::interval::Interval;
use crate::num::denominator::{common_denominator, odd_part};
use crate::num::{Dyadic, Planes, Rational};
use crate::property::{Norm, NormBall};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::sync::Arc;

/// Digits that box ends keep in the last step of backward bounding; more are rounded outward.
const DIGITS: usize = 24;

/// The longest common denominator that is kept exactly; beyond it the ends are rounded outward to dyadics.
const DENOMINATOR_BITS: u64 = 1024;

/// Bits of the square of a root, about; any root that is not too small will do.
const SQUARE_BITS: i64 = 256;

/// Ends that do not belong together, or a coordinate that does not exist. It is no empty box: emptiness proves things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchBox;

/// The box of all `x` with `lower ≤ x ≤ upper`, or its part in a ball. The box is not empty: there is no constructor that gives an empty one.
#[derive(Clone, Debug)]
pub struct Region {
    lower: Vec<Rational>,
    upper: Vec<Rational>,
    /// The ends times `denominator`, rounded outward.
    ends: (Planes, Planes),
    denominator: BigInt,
    ball: Option<Arc<Ball>>,
}

/// A ball around a centre, which is a box of one point, with a radius that is not below zero.
#[derive(Debug)]
struct Ball {
    norm: Norm,
    center: Region,
    radius: Rational,
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
        Ok(Some(Self { lower, upper, ends, denominator, ball: None }))
    }

    /// The part in a ball, which may be empty. `None` if the centre has another number of coordinates, or the radius is below zero.
    #[must_use]
    pub(crate) fn in_ball(self, NormBall { norm, center, radius }: &NormBall) -> Option<Self> {
        let fits = center.len() == self.width() && !radius.is_negative();
        let center = Self::new(center.clone(), center.clone()).ok().flatten().filter(|_| fits)?;
        Some(Self { ball: Some(Arc::new(Ball { norm: *norm, center, radius: radius.clone() })), ..self })
    }

    /// The part in the box between the ends, which lies in this box; `None` if that is empty.
    ///
    /// # Errors
    /// [`NoSuchBox`] if the ends differ in number.
    pub(crate) fn cut(&self, lower: Vec<Rational>, upper: Vec<Rational>) -> Result<Option<Self>, NoSuchBox> {
        Ok(Self::new(lower, upper)?.map(|part| Self { ball: self.ball.clone(), ..part }))
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
        self.cut(lower, upper)
    }

    /// Intervals around the coordinates.
    #[must_use]
    pub fn intervals(&self) -> Vec<Interval> {
        self.lower.iter().zip(&self.upper).map(|(l, u)| Interval::around(l, u)).collect()
    }

    /// A number and a positive integer whose quotient is at most the minimum of `row · x`: that over the box, with the lower end where the entry is not negative and
    /// the upper end elsewhere, or that over the ball if it is better. `None` if it is too long to be summed safely.
    #[must_use]
    pub(crate) fn minimum(&self, row: &Planes) -> Option<(Dyadic, BigInt)> {
        let at_lower = row.dot_where(&self.ends.0, |negative| !negative)?;
        let at_upper = row.dot_where(&self.ends.1, |negative| negative)?;
        let on_box = (at_lower.sum_down(&at_upper), self.denominator.clone());
        let Some(ball) = &self.ball else { return Some(on_box) };
        let on_ball = ball.minimum(row)?;
        let better = &on_ball.0 * &integer(&on_box.1) > &on_box.0 * &integer(&on_ball.1);
        Some(if better { on_ball } else { on_box })
    }
}

impl Ball {
    /// As [`Region::minimum`]. By Hölder `row · x ≥ row · center − radius · ‖row‖`, in the greatest magnitude for the 1-norm and in the 2-norm for itself.
    fn minimum(&self, row: &Planes) -> Option<(Dyadic, BigInt)> {
        let size = match self.norm {
            Norm::One => (0..row.len()).filter_map(|j| row.get(j)).fold(Dyadic::zero(), |m, a| m.max(-&a).max(a)),
            Norm::Two => root_above(&row.dot(row)?)?,
        };
        let (at_center, denominator) = self.center.minimum(row)?;
        let reach = &(&size * &integer(self.radius.numer())) * &integer(&denominator);
        let at_center = &at_center * &integer(self.radius.denom());
        Some((at_center.sum_down(&-reach), denominator * self.radius.denom()))
    }
}

/// A number that is not negative and whose square is at least `square`, which is checked.
fn root_above(square: &Dyadic) -> Option<Dyadic> {
    let Some(magnitude) = square.magnitude() else { return Some(Dyadic::zero()) };
    let unit = magnitude.saturating_sub(SQUARE_BITS).div_euclid(2);
    let floor = square.floor_at(unit.checked_mul(2)?).sqrt();
    let roots = [Dyadic::new(floor.clone(), unit), Dyadic::new(floor + 1, unit)];
    roots.into_iter().find(|root| &(root * root) >= square)
}

fn integer(n: &BigInt) -> Dyadic {
    Dyadic::new(n.clone(), 0)
}
