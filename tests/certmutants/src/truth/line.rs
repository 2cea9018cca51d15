//! Lower and upper lines of values over a box, with exact ends or with binary64 ends that are rounded outward.

use crate::number::{Rational, near, whole};
use certkern_fuzz::meaning::Number;
use num_traits::{FromPrimitive, One};
use std::cell::Cell;
use std::cmp::Ordering;

thread_local! {
    /// Whether a number has left binary64 since this was last asked. What was computed with it proves nothing.
    static LOST: Cell<bool> = const { Cell::new(false) };
    static NEXT: Cell<u64> = const { Cell::new(1) };
}

/// Whether a number has left binary64, and forgets it.
pub(super) fn lost() -> bool {
    LOST.replace(false)
}

fn kept(value: f64) -> f64 {
    if !value.is_finite() {
        LOST.set(true);
    }
    value
}

/// What bends: the slope of two lines, the intercepts below and above, and the range.
pub(super) struct Bent<E> {
    pub(super) slope: E,
    pub(super) below: E,
    pub(super) above: E,
    pub(super) least: E,
    pub(super) most: E,
}

/// Ends of intervals. `up` says to which side a result may be rounded.
pub(super) trait End: Clone + PartialOrd {
    fn of(value: &Rational, up: bool) -> Self;
    fn exact(&self) -> Rational;
    fn plus(&self, other: &Self, up: bool) -> Self;
    fn times(&self, other: &Self, up: bool) -> Self;
    fn negative(&self) -> Self;
    /// A sum, and at least how far off it is.
    fn near_plus(&self, other: &Self) -> (Self, Self);
    fn near_times(&self, other: &Self) -> (Self, Self);
    /// Bounds of 1/x for x in a range without 0.
    fn inverse(least: &Self, most: &Self) -> (Self, Self);
    /// The multiplier λ with a + λb near 0.
    fn vanishing(a: &Self, b: &Self) -> Self;
    fn float(&self) -> f64;
    /// Lines of a function over a range; `None` where it is not known to be defined, or not known here.
    fn bend(name: &str, least: &Self, most: &Self) -> Option<Bent<Self>>;

    fn zero() -> Self {
        Self::of(&whole(0), false)
    }

    fn size(&self) -> Self {
        if *self < Self::zero() { self.negative() } else { self.clone() }
    }
}

impl End for Rational {
    fn of(value: &Rational, _: bool) -> Self {
        value.clone()
    }

    fn exact(&self) -> Rational {
        self.clone()
    }

    fn plus(&self, other: &Self, _: bool) -> Self {
        self + other
    }

    fn times(&self, other: &Self, _: bool) -> Self {
        self * other
    }

    fn negative(&self) -> Self {
        -self
    }

    fn near_plus(&self, other: &Self) -> (Self, Self) {
        (self + other, whole(0))
    }

    fn near_times(&self, other: &Self) -> (Self, Self) {
        (self * other, whole(0))
    }

    fn inverse(least: &Self, most: &Self) -> (Self, Self) {
        (most.recip(), least.recip())
    }

    fn vanishing(a: &Self, b: &Self) -> Self {
        -a / b
    }

    fn float(&self) -> f64 {
        near(self)
    }

    fn bend(_: &str, _: &Self, _: &Self) -> Option<Bent<Self>> {
        None
    }
}

/// Products below this may have lost bits below the least number.
const TINY: f64 = 1e-280;

impl End for f64 {
    fn of(value: &Rational, up: bool) -> Self {
        let nearest = kept(near(value));
        match Rational::from_float(nearest).map(|found| found.cmp(value)) {
            Some(Ordering::Less) if up => nearest.next_up(),
            Some(Ordering::Greater) if !up => nearest.next_down(),
            _ => nearest,
        }
    }

    fn exact(&self) -> Rational {
        Rational::from_float(*self).unwrap_or_else(|| {
            LOST.set(true);
            whole(0)
        })
    }

    /// Moved only where something was rounded: the error of a sum is a number of binary64 itself (Knuth's TwoSum).
    fn plus(&self, other: &Self, up: bool) -> Self {
        let sum = kept(self + other);
        let part = sum - self;
        let error = (self - (sum - part)) + (other - part);
        outward(sum, error, up)
    }

    fn times(&self, other: &Self, up: bool) -> Self {
        let product = kept(self * other);
        if product.abs() < TINY && *self != 0.0 && *other != 0.0 {
            return if up { product.next_up() } else { product.next_down() };
        }
        outward(product, self.mul_add(*other, -product), up)
    }

    fn negative(&self) -> Self {
        -self
    }

    fn near_plus(&self, other: &Self) -> (Self, Self) {
        let sum = kept(self + other);
        let part = sum - self;
        (sum, ((self - (sum - part)) + (other - part)).abs())
    }

    fn near_times(&self, other: &Self) -> (Self, Self) {
        let product = kept(self * other);
        (
            product,
            self.mul_add(*other, -product).abs()
                + if product.abs() < TINY && *self != 0.0 && *other != 0.0 { 5e-324 } else { 0.0 },
        )
    }

    fn inverse(least: &Self, most: &Self) -> (Self, Self) {
        ((1.0 / most).next_down(), (1.0 / least).next_up())
    }

    fn vanishing(a: &Self, b: &Self) -> Self {
        kept(-a / b)
    }

    fn float(&self) -> f64 {
        *self
    }

    fn bend(name: &str, least: &Self, most: &Self) -> Option<Bent<Self>> {
        bent(name, *least, *most)
    }
}

fn outward(value: f64, error: f64, up: bool) -> f64 {
    if error > 0.0 && up {
        value.next_up()
    } else if error < 0.0 && !up {
        value.next_down()
    } else {
        value
    }
}

/// A function, its derivative, and a bound of its second derivative over a range.
type Function = (fn(f64) -> f64, fn(f64) -> f64, f64);

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn erf(x: f64) -> f64 {
    Number::apply(&x, "erf").unwrap_or(f64::NAN)
}

fn function(name: &str, least: f64, most: f64) -> Option<Function> {
    Some(match name {
        "exp" => (f64::exp, f64::exp, most.exp() * 1.01),
        "log" if least > 0.0 => (f64::ln, f64::recip, 1.01 / (least * least)),
        "sqrt" if least > 0.0 => (f64::sqrt, |x| 0.5 / x.sqrt(), 0.26 / (least * least.sqrt())),
        "sin" => (f64::sin, f64::cos, 1.0),
        "cos" => (f64::cos, |x| -x.sin(), 1.0),
        "tanh" => (f64::tanh, |x| 1.0 - x.tanh() * x.tanh(), 0.78),
        "sigmoid" => (sigmoid, |x| sigmoid(x) * (1.0 - sigmoid(x)), 0.1),
        "softplus" => (|x| x.max(0.0) + (-x.abs()).exp().ln_1p(), sigmoid, 0.26),
        "erf" => (erf, |x| std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp(), 0.98),
        "inv" if least > 0.0 || most < 0.0 => {
            (f64::recip, |x| -1.0 / (x * x), 2.02 / least.abs().min(most.abs()).powi(3))
        }
        _ => return None,
    })
}

/// Values of the standard library's functions are believed to this relative error, about 128 of their last places.
const LIBRARY: f64 = 1.0 / (1_u64 << 45) as f64;

/// Both lines have the slope of the chord. Over short pieces `f(x) − slope·x` is monotone, or within the derivative times half a piece of its ends.
fn bent(name: &str, least: f64, most: f64) -> Option<Bent<f64>> {
    let (f, derivative, second) = function(name, least, most)?;
    let chord = (f(most) - f(least)) / (most - least);
    let slope = if most - least > 1e-9 { chord } else { derivative(least) };
    let (below, above) = between(f, derivative, second, slope, least, most)?;
    let (mut lowest, mut highest) = between(f, derivative, second, 0.0, least, most)?;
    // Of odd functions that grow, the sign is known without an error.
    if matches!(name, "tanh" | "erf") {
        lowest = if least >= 0.0 { lowest.max(0.0) } else { lowest };
        highest = if most <= 0.0 { highest.min(0.0) } else { highest };
    }
    Some(Bent { slope, below, above, least: lowest, most: highest })
}

fn between(
    f: fn(f64) -> f64,
    derivative: fn(f64) -> f64,
    second: f64,
    slope: f64,
    least: f64,
    most: f64,
) -> Option<(f64, f64)> {
    const PIECES: usize = 24;
    let place = |j: usize| if j == PIECES { most } else { least + (most - least) * (j as f64 / PIECES as f64) };
    let value = |x: f64| {
        let (y, line) = (f(x), slope * x);
        (y - line, (y.abs() + line.abs() + (derivative(x).abs() + slope.abs()) * x.abs()) * LIBRARY + 1e-300)
    };
    let (mut below, mut above) = (f64::INFINITY, f64::NEG_INFINITY);
    for j in 0..PIECES {
        let (a, b) = (place(j), place(j + 1));
        let ((left, first), (right, last)) = (value(a), value(b));
        let width = b - a;
        let middle = derivative(a + width / 2.0);
        let change = second * width * 0.51 + (middle.abs() + slope.abs()) * LIBRARY;
        let inclination = (middle - slope).abs();
        let slack = if inclination > change { 0.0 } else { (inclination + change) * width * 0.51 };
        let off = slack + first.max(last);
        if !(off.is_finite() && left.is_finite() && right.is_finite()) {
            return None;
        }
        below = below.min((left.min(right) - off).next_down());
        above = above.max((left.max(right) + off).next_up());
    }
    Some((below, above))
}

/// `k + Σ c·t` over `t` in `[−1, 1]ⁿ`; no `c` is as good as zeros.
#[derive(Clone)]
pub(super) struct Line<E> {
    pub(super) c: Vec<E>,
    pub(super) k: E,
}

impl<E: End> Line<E> {
    fn constant(k: E) -> Self {
        Self { c: Vec::new(), k }
    }

    pub(super) fn plus(&self, other: &Self, up: bool) -> Self {
        let mut error = E::zero();
        let sum = |(a, b): (&E, &E)| {
            let (sum, off) = a.near_plus(b);
            error = error.plus(&off, true);
            sum
        };
        let c = match (self.c.is_empty(), other.c.is_empty()) {
            (true, _) => other.c.clone(),
            (_, true) => self.c.clone(),
            _ => self.c.iter().zip(&other.c).map(sum).collect(),
        };
        Self { c, k: moved(self.k.plus(&other.k, up), error, up) }
    }

    /// Times an exact number.
    pub(super) fn times(&self, factor: &E, up: bool) -> Self {
        let mut error = E::zero();
        let product = |c: &E| {
            let (product, off) = c.near_times(factor);
            error = error.plus(&off, true);
            product
        };
        let c = self.c.iter().map(product).collect();
        Self { c, k: moved(self.k.times(factor, up), error, up) }
    }

    pub(super) fn shifted(&self, by: &E, up: bool) -> Self {
        Self { c: self.c.clone(), k: self.k.plus(by, up) }
    }

    pub(super) fn least(&self) -> E {
        self.c.iter().fold(self.k.clone(), |least, c| least.plus(&c.size().negative(), false))
    }

    pub(super) fn most(&self) -> E {
        self.c.iter().fold(self.k.clone(), |most, c| most.plus(&c.size(), true))
    }
}

fn moved<E: End>(value: E, error: E, up: bool) -> E {
    value.plus(&if up { error } else { error.negative() }, up)
}

/// A value between two lines, and between two numbers.
#[derive(Clone)]
pub(super) struct Form<E> {
    /// Values of one number are the same value.
    id: u64,
    pub(super) low: Line<E>,
    pub(super) high: Line<E>,
    pub(super) least: E,
    pub(super) most: E,
}

impl<E: End> Form<E> {
    fn new(low: Line<E>, high: Line<E>, range: Option<(E, E)>) -> Self {
        let (mut least, mut most) = (low.least(), high.most());
        if let Some((a, b)) = range {
            least = if a > least { a } else { least };
            most = if b < most { b } else { most };
        }
        Self { id: NEXT.replace(NEXT.get() + 1), low, high, least, most }
    }

    pub(super) fn between(least: E, most: E) -> Self {
        Self::new(Line::constant(least), Line::constant(most), None)
    }

    /// An input: the ends of its interval, and its place among `n`.
    pub(super) fn input(low: &Rational, high: &Rational, place: usize, n: usize) -> Self {
        let middle = E::of(&((low + high) / whole(2)), true);
        let exact = middle.exact();
        let radius = E::of(&(high - &exact).max(exact - low), true);
        let mut c = vec![E::zero(); n];
        c[place] = radius;
        let line = Line { c, k: middle };
        Self::new(line.clone(), line, Some((E::of(low, false), E::of(high, true))))
    }

    /// The exact number that this is.
    fn number(&self) -> Option<&E> {
        (self.least == self.most).then_some(&self.least)
    }

    /// The lines of a multiple.
    fn scaled(&self, factor: &E) -> (Line<E>, Line<E>) {
        let (low, high) = if *factor < E::zero() { (&self.high, &self.low) } else { (&self.low, &self.high) };
        (low.times(factor, false), high.times(factor, true))
    }

    fn times_number(&self, factor: &E) -> Self {
        let (low, high) = self.scaled(factor);
        let ends = [&self.least, &self.most];
        let (a, b) = if *factor < E::zero() { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
        Self::new(low, high, Some((a.times(factor, false), b.times(factor, true))))
    }

    fn square(&self) -> Self {
        let (l, u) = (&self.least, &self.most);
        let half = E::of(&Rational::new(1.into(), 2.into()), false);
        let middle = l.near_plus(u).0.near_times(&half).0;
        let twice = middle.near_plus(&middle).0;
        // (x − m)² ≥ 0, and 2m is exact in binary64.
        let low = self.scaled(&twice).0.shifted(&middle.times(&middle, true).negative(), false);
        // x² ≤ s·x + max over the ends of (e² − s·e), for any s.
        let slope = l.near_plus(u).0;
        let over = |end: &E| end.times(end, true).plus(&end.times(&slope, false).negative(), true);
        let (a, b) = (over(l), over(u));
        let high = self.scaled(&slope).1.shifted(if a > b { &a } else { &b }, true);
        let [a, b] = [l, u].map(|end| (end.times(end, false), end.times(end, true)));
        let most = if a.1 > b.1 { a.1 } else { b.1 };
        let least = if *l <= E::zero() && *u >= E::zero() {
            E::zero()
        } else if a.0 < b.0 {
            a.0
        } else {
            b.0
        };
        Self::new(low, high, Some((least, most)))
    }

    /// McCormick's planes.
    fn product(&self, other: &Self) -> Self {
        let plane = |p: &E, q: &E, up: bool| {
            let sides = [self.scaled(q), other.scaled(p)].map(|(low, high)| if up { high } else { low });
            sides[0].plus(&sides[1], up).shifted(&p.times(q, !up).negative(), up)
        };
        let (p, q) = ([&self.least, &self.most], [&other.least, &other.most]);
        let lows = [plane(p[0], q[0], false), plane(p[1], q[1], false)];
        let highs = [plane(p[0], q[1], true), plane(p[1], q[0], true)];
        let [low, other_low] = lows;
        let low = if other_low.least() > low.least() { other_low } else { low };
        let [high, other_high] = highs;
        let high = if other_high.most() < high.most() { other_high } else { high };
        let corners = |up| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| p[i].times(q[j], up));
        let least = corners(false).into_iter().reduce(|a, b| if b < a { b } else { a });
        let most = corners(true).into_iter().reduce(|a, b| if b > a { b } else { a });
        Self::new(low, high, least.zip(most))
    }

    fn relu(&self) -> Self {
        let (l, u) = (&self.least, &self.most);
        if *l >= E::zero() {
            return self.clone();
        }
        if *u <= E::zero() {
            return Self::between(E::zero(), E::zero());
        }
        let low = if *u > l.negative() { self.low.clone() } else { Line::constant(E::zero()) };
        // Any slope s in [0, 1]: relu(x) − s·x is greatest at an end.
        let slope = u.near_times(&E::inverse(&u.plus(&l.negative(), true), &u.plus(&l.negative(), true)).0).0;
        let (a, b) = (slope.times(l, false).negative(), u.plus(&slope.times(u, false).negative(), true));
        let high = self.high.times(&slope, true).shifted(if a > b { &a } else { &b }, true);
        Self::new(low, high, Some((E::zero(), u.clone())))
    }

    /// The values of a function of this one.
    pub(super) fn curve(&self, name: &str) -> Option<Self> {
        let bent = E::bend(name, &self.least, &self.most)?;
        let (low, high) = self.scaled(&bent.slope);
        Some(Self::new(low.shifted(&bent.below, false), high.shifted(&bent.above, true), Some((bent.least, bent.most))))
    }
}

impl<E: End> PartialEq for Form<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number().is_some() && self.number() == other.number()
    }
}

impl<E: End> PartialOrd for Form<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other {
            Some(Ordering::Equal)
        } else if self.most < other.least {
            Some(Ordering::Less)
        } else if self.least > other.most {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}

impl<E: End> Number for Form<E> {
    fn of(value: f64) -> Self {
        Self::ratio(&Rational::from_f64(value).unwrap_or_else(|| whole(1)))
    }

    fn ratio(value: &Rational) -> Self {
        Self::between(E::of(value, false), E::of(value, true))
    }

    fn plus(&self, other: &Self) -> Self {
        let range = (self.least.plus(&other.least, false), self.most.plus(&other.most, true));
        Self::new(self.low.plus(&other.low, false), self.high.plus(&other.high, true), Some(range))
    }

    fn minus(&self, other: &Self) -> Self {
        if self.id == other.id {
            return Self::between(E::zero(), E::zero());
        }
        self.plus(&other.times_number(&E::of(&-whole(1), false)))
    }

    fn times(&self, other: &Self) -> Self {
        match (self.number(), other.number()) {
            (Some(factor), _) => other.times_number(factor),
            (_, Some(factor)) => self.times_number(factor),
            _ if self.id == other.id => self.square(),
            _ => self.product(other),
        }
    }

    fn over(&self, other: &Self) -> Option<Self> {
        if other.least <= E::zero() && other.most >= E::zero() {
            return None;
        }
        let (least, most) = E::inverse(&other.least, &other.most);
        let inverse = other.curve("inv").unwrap_or_else(|| Self::between(least, most));
        Some(self.times(&inverse))
    }

    fn apply(&self, name: &str) -> Option<Self> {
        if let Some(value) = self.number().and_then(|number| Number::apply(&number.exact(), name)) {
            return Some(Self::ratio(&value));
        }
        self.curve(name)
    }

    fn power(&self, exponent: &Self) -> Option<Self> {
        let exponent = exponent.number()?.exact();
        if exponent == whole(2) { Some(self.square()) } else { exponent.is_one().then(|| self.clone()) }
    }

    fn greater(self, other: Self) -> Self {
        if self.least >= other.most {
            self
        } else if other.least >= self.most {
            other
        } else if other.number().is_some_and(|number| *number == E::zero()) {
            self.relu()
        } else {
            other.plus(&self.minus(&other).relu())
        }
    }

    fn lesser(self, other: Self) -> Self {
        let negative = |form: &Self| form.times_number(&E::of(&-whole(1), false));
        negative(&negative(&self).greater(negative(&other)))
    }
}
