//! PRODUCT and MAX: a lower and an upper plane over the box of the proved bounds, with default slopes and constants that are rounded outward.

use super::lines::{INTERCEPT_DIGITS, SLOPE_EXPONENT, chord, quantized};
use crate::func::Function;
use crate::interval::Interval;
use crate::num::{Dyadic, Planes};
use crate::program::{Groups, Primitive};
use num_traits::ToPrimitive;

/// Bits of the largest slope of a node.
const SLOPE_BITS: i64 = 52;

/// Planes of products: `Σ slopes · factors + constant`.
#[derive(Debug)]
pub(super) struct ProductPlanes {
    pub(super) left: Slopes,
    pub(super) right: Slopes,
    /// Rounded down.
    pub(super) below: Planes,
    /// Rounded up.
    pub(super) above: Planes,
}

/// Slopes at one factor, in units of `2^exponent`.
#[derive(Debug, Default)]
pub(super) struct Slopes {
    pub(super) lower: Vec<i64>,
    pub(super) upper: Vec<i64>,
    pub(super) exponent: i64,
}

impl Slopes {
    /// None yet, for slopes that are ends of `intervals` or between them.
    fn like(intervals: &[Interval]) -> Self {
        let ends = intervals.iter().flat_map(|interval| [interval.lower.magnitude(), interval.upper.magnitude()]);
        let top = ends.flatten().max().unwrap_or(0);
        Self { exponent: top.saturating_sub(SLOPE_BITS), ..Self::default() }
    }

    /// `slope` rounded down, in units and as a number.
    fn round(&self, slope: &Dyadic) -> (i64, Dyadic) {
        let units = slope.floor_at(self.exponent).to_i64().unwrap_or(0);
        (units, Dyadic::new(units, self.exponent))
    }
}

/// At most `value − a − b`; at least it, if `up`.
fn less(value: &Dyadic, [a, b]: [&Dyadic; 2], up: bool) -> Dyadic {
    let (a, b) = (-a, -b);
    if up { value.sum_up(&a).sum_up(&b) } else { value.sum_down(&a).sum_down(&b) }
}

impl ProductPlanes {
    /// Planes over `left × right`, which have one length; with `square` both factors are one node, and the planes need only hold where they are equal.
    ///
    /// Default slopes: `(p − l_p)(q − l_q) ≥ 0` is the lower plane with slopes `(l_q, l_p)`, `(p − l_p)(u_q − q) ≥ 0` the upper one with `(u_q, l_p)` (McCormick, *Mathematical
    /// Programming* 10, 1976); of a square the tangent in the middle, and the chord. They are rounded, and the constants follow the rounded slopes.
    pub(super) fn new(left: &[Interval], right: &[Interval], square: bool) -> Self {
        let (mut at_left, mut at_right) = (Slopes::like(right), Slopes::like(left));
        let (mut below, mut above) = (Vec::with_capacity(left.len()), Vec::with_capacity(left.len()));
        for (p, q) in left.iter().zip(right) {
            let middle = &p.lower.sum_down(&p.upper) * &Dyadic::new(1, -1);
            let (low, high) = if square {
                ((&middle, &middle), (&p.lower, &p.upper))
            } else {
                ((&q.lower, &p.lower), (&q.upper, &p.lower))
            };
            let mut take = |(s, t): (&Dyadic, &Dyadic), upper: bool| {
                let ((left, s), (right, t)) = (at_left.round(s), at_right.round(t));
                if upper {
                    at_left.upper.push(left);
                    at_right.upper.push(right);
                } else {
                    at_left.lower.push(left);
                    at_right.lower.push(right);
                }
                if square { of_square(p, &(&s + &t), upper) } else { of_corners(p, q, (&s, &t), upper) }
            };
            below.push(take(low, false));
            above.push(take(high, true));
        }
        let (below, above) = (Planes::floor(&below, INTERCEPT_DIGITS), Planes::ceil(&above, INTERCEPT_DIGITS));
        Self { left: at_left, right: at_right, below, above }
    }
}

/// At most the minimum of `pq − sp − tq` over the box, which is taken in a corner; or at least the maximum.
fn of_corners(p: &Interval, q: &Interval, (s, t): (&Dyadic, &Dyadic), upper: bool) -> Dyadic {
    let ends = [(&p.lower, &q.lower), (&p.lower, &q.upper), (&p.upper, &q.lower), (&p.upper, &q.upper)];
    let [a, b, c, d] = ends.map(|(p, q)| less(&(p * q), [&(s * p), &(t * q)], upper));
    if upper { a.max(b).max(c.max(d)) } else { a.min(b).min(c.min(d)) }
}

/// At most `p² − slope·p` for every number, whose minimum is `−(slope/2)²`; or at least it over the interval, where the ends decide.
fn of_square(p: &Interval, slope: &Dyadic, upper: bool) -> Dyadic {
    if !upper {
        let half = slope * &Dyadic::new(1, -1);
        return -(&half * &half);
    }
    let at = |p: &Dyadic| (p * p).sum_up(&-&(slope * p));
    at(&p.lower).max(at(&p.upper))
}

/// Planes of maxima. The lower ones are one member each, slope 1 and constant 0; the upper ones a line over one member.
#[derive(Debug, Default)]
pub(super) struct MaxPlanes {
    pub(super) lower_members: Vec<Option<usize>>,
    pub(super) upper_members: Vec<Option<usize>>,
    /// In units of `2^SLOPE_EXPONENT`.
    pub(super) lower_slopes: Vec<i64>,
    pub(super) upper_slopes: Vec<i64>,
    /// Constants of upper planes.
    pub(super) above: Vec<Dyadic>,
}

impl MaxPlanes {
    /// Planes over the bounds of the argument; `None` if a group is empty or names a coordinate that is not there.
    ///
    /// Let `j` have the greatest upper end `u`, `l` its lower end and `m` the greatest upper end of the others. For any slope `a` from 0 to 1 the constant `max(m − a·l, u − a·u)` will do: it
    /// is at least `m − a·p_j` and `p_j − a·p_j`. The best slope at the centre of the box is that of the chord of `max(p_j, m)`.
    pub(super) fn new(bounds: &[Interval], groups: &Groups) -> Option<Self> {
        let mut planes = Self::default();
        for group in groups.iter() {
            let leaders = Leaders::of(group, |member| bounds.get(member).map(|z| (&z.lower, &z.upper)))?;
            let (slope, constant) = match leaders.second {
                Some(second) => {
                    let Interval { lower, upper } = bounds.get(leaders.high)?;
                    let slope = quantized(&chord(&upper.sum_down(&-second), &upper.sum_up(&-lower))).clamp(0, ONE);
                    let units = Dyadic::new(slope, SLOPE_EXPONENT);
                    let at = |value: &Dyadic, z: &Dyadic| value.sum_up(&-&(&units * z));
                    (slope, at(second, lower).max(at(upper, upper)))
                }
                None => (ONE, Dyadic::zero()),
            };
            planes.lower_members.push(Some(leaders.low));
            planes.lower_slopes.push(ONE);
            planes.upper_members.push(Some(leaders.high));
            planes.upper_slopes.push(slope);
            planes.above.push(constant);
        }
        Some(planes)
    }
}

/// The slope 1.
const ONE: i64 = 1 << -SLOPE_EXPONENT;

/// The members of a group that its planes are made of.
#[derive(Debug)]
pub(super) struct Leaders<T> {
    /// The one with the greatest lower end; of equal ones the first, as in auto_LiRPA, even where another is the maximum everywhere.
    pub(super) low: usize,
    /// The one with the greatest upper end, of equal ones the first; `low` where that is the maximum everywhere.
    pub(super) high: usize,
    /// The greatest upper end of the members beside `high`; `None` where `high` is the maximum everywhere.
    pub(super) second: Option<T>,
}

impl<T: PartialOrd + Copy> Leaders<T> {
    /// The leaders of a group with these ends; `None` if it is empty, or if a member has none.
    pub(super) fn of(group: &[usize], ends: impl Fn(usize) -> Option<(T, T)>) -> Option<Self> {
        let mut members = group.iter();
        let first = *members.next()?;
        let ((mut lower, mut upper), mut second) = (ends(first)?, None);
        let (mut low, mut high) = (first, first);
        for member in members {
            let (l, u) = ends(*member)?;
            if l > lower {
                (low, lower) = (*member, l);
            }
            if u > upper {
                (second, high, upper) = (Some(upper), *member, u);
            } else if second.is_none_or(|second| u > second) {
                second = Some(u);
            }
        }
        let others = if low == high { second } else { Some(upper) };
        if others.is_none_or(|others| lower >= others) {
            return Some(Self { low, high: low, second: None });
        }
        Some(Self { low, high, second })
    }
}

/// The coordinates of a node whose bounds matter to `consumer`, which takes it: those on which a function `bends`, factors that are not one number, members of
/// groups whose maximum is not known that may be it. `width` is the node's, `ends` are its bounds. `None` if bounds are not there.
pub(super) fn unsettled<T: PartialOrd + Copy>(
    consumer: &Primitive,
    width: usize,
    ends: impl Fn(usize) -> Option<(T, T)>,
    bends: impl Fn(&Function, T, T) -> bool,
) -> Option<Vec<usize>> {
    let mut open = vec![false; width];
    match consumer {
        Primitive::Input | Primitive::Affine(_) => (),
        Primitive::Univariate { function, .. } => {
            for (coordinate, open) in open.iter_mut().enumerate() {
                let (lower, upper) = ends(coordinate)?;
                *open = bends(function, lower, upper);
            }
        }
        Primitive::Product { .. } => {
            for (coordinate, open) in open.iter_mut().enumerate() {
                let (lower, upper) = ends(coordinate)?;
                *open = lower < upper;
            }
        }
        Primitive::Max { groups, .. } => {
            for group in groups.iter() {
                let leaders = Leaders::of(group, &ends)?;
                let (most, _) = ends(leaders.low)?;
                for member in group.iter().filter(|_| leaders.second.is_some()) {
                    *open.get_mut(*member)? |= ends(*member)?.1 > most;
                }
            }
        }
    }
    Some(open.iter().enumerate().filter(|(_, open)| **open).map(|(coordinate, _)| coordinate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(m: i64, e: i64) -> Dyadic {
        Dyadic::new(m, e)
    }

    /// Seeded intervals of magnitudes from 2^-40 to 2^40, points among them.
    fn intervals(count: usize) -> Vec<Interval> {
        let mut state = 1_u64;
        let mut below = move |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut interval = || {
            let scale = [0, 0, 0, 40, -40][below(5) as usize];
            // More digits than slopes keep, at times.
            let fine = [0, 0, 1 << 20][below(3) as usize];
            let coarse = [below(2001) as i64 - 1000, (below(6) * below(200)) as i64];
            let [lower, width] = coarse.map(|n| Dyadic::new(n, scale - 8) + Dyadic::new(below(1 + fine), scale - 80));
            Interval { upper: &lower + &width, lower }
        };
        (0..count).map(|_| interval()).collect()
    }

    /// Points of an interval, ends included.
    fn points(z: &Interval) -> Vec<Dyadic> {
        (0..=8).map(|step| &z.lower + &(&(&z.upper - &z.lower) * &d(step, -3))).collect()
    }

    /// The plane of a side of product 0, and what it is at a pair of factors.
    fn at(planes: &ProductPlanes, upper: bool, (p, q): (&Dyadic, &Dyadic)) -> Dyadic {
        let slope =
            |slopes: &Slopes| Dyadic::new(if upper { slopes.upper[0] } else { slopes.lower[0] }, slopes.exponent);
        let constant = if upper { &planes.above } else { &planes.below };
        &(&(&slope(&planes.left) * p) + &(&slope(&planes.right) * q)) + &constant.get(0).unwrap()
    }

    #[test]
    fn planes_of_products_hold_and_touch() {
        let intervals = intervals(600);
        for (pair, square) in intervals.chunks(2).flat_map(|pair| [(pair, false), (pair, true)]) {
            let (p, q) = if square { (&pair[0], &pair[0]) } else { (&pair[0], &pair[1]) };
            let planes = ProductPlanes::new(std::slice::from_ref(p), std::slice::from_ref(q), square);
            let mut arguments: Vec<(Dyadic, Dyadic)> = if square {
                points(p).into_iter().map(|p| (p.clone(), p)).collect()
            } else {
                points(p).iter().flat_map(|p| points(q).into_iter().map(|q| (p.clone(), q))).collect()
            };
            for upper in [false, true] {
                let gap = |(p, q): &(Dyadic, Dyadic)| {
                    let (value, plane) = (p * q, at(&planes, upper, (p, q)));
                    if upper { &plane - &value } else { &value - &plane }
                };
                assert!(arguments.iter().all(|pair| !gap(pair).is_negative()), "{p:?} {q:?} {upper}");
                // It touches, up to the last digit of a constant: moved inward by one unit it would fail.
                let touch = d(planes.left.lower[0], planes.left.exponent);
                if square && !upper {
                    arguments.push((touch.clone(), touch));
                }
                let size = [p, q].map(|z| z.lower.magnitude().max(z.upper.magnitude()).unwrap_or(0));
                let unit = d(1, size[0] + size[1] - 100);
                assert!(arguments.iter().any(|pair| gap(pair) < unit), "{p:?} {q:?} {upper}");
            }
        }
    }

    #[test]
    fn planes_of_maxima_hold_and_touch() {
        let mut decided = 0;
        for members in intervals(900).chunks(3) {
            let planes = MaxPlanes::new(members, &Groups::new([[0, 1, 2]])).unwrap();
            let (low, high) = (planes.lower_members[0].unwrap(), planes.upper_members[0].unwrap());
            let slope = Dyadic::new(planes.upper_slopes[0], SLOPE_EXPONENT);
            assert_eq!(planes.lower_slopes, [1 << 40]);
            decided += usize::from(planes.upper_slopes == [1 << 40] && low == high);
            let all = members.iter().map(points).collect::<Vec<_>>();
            let mut touched = [false, false];
            let place = |index: usize| [index % 9, index / 9 % 9, index / 81];
            for point in (0..729).map(place) {
                let point: Vec<Dyadic> = point.iter().zip(&all).map(|(at, points)| points[*at].clone()).collect();
                let value = point.iter().cloned().reduce(Dyadic::max).unwrap();
                let above = &(&slope * &point[high]) + &planes.above[0];
                assert!(point[low] <= value && value <= above, "{members:?} at {point:?}");
                touched[0] |= point[low] == value;
                touched[1] |= above == value;
            }
            assert_eq!(touched, [true, true], "{members:?}");
        }
        assert!(decided > 50, "{decided}");
    }

    /// Vertices decide nothing for a lower plane: `(p + 1)/2` meets `max(p, q)` in both corners of `[0, 1] × {1/2}`, and at `p = 1/2` it lies above. The planes made here
    /// are a member each.
    #[test]
    fn a_lower_plane_of_a_maximum_is_one_of_its_members() {
        let unit = Interval { lower: Dyadic::zero(), upper: d(1, 0) };
        let planes = MaxPlanes::new(&[unit.clone(), Interval::point(d(1, -1))], &Groups::new([[0, 1]])).unwrap();
        assert_eq!((planes.lower_members, planes.lower_slopes), (vec![Some(1)], vec![1 << 40]));
        // From above it is the chord of max(p, 1/2).
        assert_eq!(
            (planes.upper_members, planes.upper_slopes, planes.above),
            (vec![Some(0)], vec![1 << 39], vec![d(1, -1)])
        );
        let planes = MaxPlanes::new(&[unit.clone(), unit], &Groups::new([[0, 1]])).unwrap();
        // Of the upper one: neither member is known to be below 1.
        assert_eq!((planes.upper_slopes, planes.above), (vec![0], vec![d(1, 0)]));
        assert!(MaxPlanes::new(&[], &Groups::new([[0]])).is_none());
        assert!(MaxPlanes::new(&[], &Groups::new([[]])).is_none());
    }
}
