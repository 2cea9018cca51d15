//! Intervals for the values of expressions, in integers over a power of two: each operation is rounded outward.

use crate::number::{Rational, power};
use crate::statement::{Enclosure, Operation};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::sync::LazyLock;

/// Places of two.
const BITS: u32 = 900;

/// All numbers between two multiples of `2^−BITS`.
#[derive(Clone, Debug)]
struct Interval {
    low: BigInt,
    high: BigInt,
}

/// Euler's constant to 100 places (Abramowitz and Stegun, table 1.1, has 24 of them).
const GAMMA: &str =
    "0.5772156649015328606065120900824024310421593359399235988057672348848677267776646709369470632917467495";

/// Whether every output is shown to lie in its ball.
pub(super) fn holds(Enclosure { nodes, outputs, balls }: &Enclosure) -> bool {
    let mut values: Vec<Option<Interval>> = Vec::new();
    for node in nodes {
        let arguments: Option<Vec<&Interval>> = node.arguments.iter().map(|place| values[*place].as_ref()).collect();
        let value = arguments.and_then(|arguments| operation(node, &arguments));
        values.push(value);
    }
    // Every node must be defined, not those alone that are outputs.
    values.iter().all(Option::is_some)
        && outputs.iter().zip(balls).all(|(place, (mid, rad))| {
            let ball = Interval::between(&(mid - rad), &(mid + rad));
            // The ends of the ball were rounded outward; so one unit more is asked for.
            values[*place].as_ref().is_some_and(|value| ball.low < value.low && value.high < ball.high)
                || exact(nodes, *place).is_some_and(|(low, high)| mid - rad <= low && high <= mid + rad)
        })
}

/// The ends of a node's range in rationals, where all on the way is arithmetic.
fn exact(nodes: &[Operation], place: usize) -> Option<(Rational, Rational)> {
    let node = &nodes[place];
    if nodes.len() > 200 || ["interval", "rational"].contains(&node.name.as_str()) {
        return Some((node.numbers.first()?.clone(), node.numbers.last()?.clone()));
    }
    let arguments = node.arguments.iter().map(|argument| exact(nodes, *argument)).collect::<Option<Vec<_>>>()?;
    let hull = |values: &[Rational]| Some((values.iter().min()?.clone(), values.iter().max()?.clone()));
    match (node.name.as_str(), arguments.as_slice()) {
        ("neg", [(a, b)]) => Some((-b, -a)),
        ("add", [(a, b), (c, d)]) => Some((a + c, b + d)),
        ("sub", [(a, b), (c, d)]) => Some((a - d, b - c)),
        ("mul", [(a, b), (c, d)]) => hull(&[a * c, a * d, b * c, b * d]),
        ("div", [(a, b), (c, d)]) if c.is_positive() || d.is_negative() => hull(&[a / c, a / d, b / c, b / d]),
        ("leaky_relu", [(a, b)]) => {
            let slope = node.numbers.first()?;
            let bent = |x: &Rational| if x.is_negative() { x * slope } else { x.clone() };
            let mut ends = vec![bent(a), bent(b)];
            if a.is_negative() && b.is_positive() {
                ends.push(Rational::zero());
            }
            hull(&ends)
        }
        ("power", [(a, b)]) => {
            let exponent = node
                .numbers
                .first()
                .filter(|exponent| exponent.is_integer())?
                .to_integer()
                .to_i32()
                .filter(|e| e.abs() <= 64)?;
            if exponent < 0 && !a.is_positive() && !b.is_negative() {
                return None;
            }
            let mut ends = vec![a.pow(exponent), b.pow(exponent)];
            if a.is_negative() && b.is_positive() && exponent > 0 {
                ends.push(Rational::zero());
            }
            hull(&ends)
        }
        _ => None,
    }
}

fn operation(Operation { name, numbers, arguments }: &Operation, values: &[&Interval]) -> Option<Interval> {
    match (name.as_str(), values, numbers.as_slice()) {
        ("rational", [], [number]) => Some(Interval::between(number, number)),
        ("interval", [], [low, high]) if low <= high => Some(Interval::between(low, high)),
        ("pi", [], []) => Some(PI.clone()),
        ("e", [], []) => exp(&Interval::whole(1)),
        ("ln2", [], []) => Some(LN2.clone()),
        ("gamma", [], []) => {
            let digits = crate::number::decimal(GAMMA)?;
            Some(Interval::between(&digits, &(&digits + power(10, -100))))
        }
        ("neg", [x], []) => Some(x.negative()),
        ("add", [x, y], []) => Some(x.plus(y)),
        ("sub", [x, y], []) => Some(x.plus(&y.negative())),
        ("mul", [x, _], []) if arguments[0] == arguments[1] => Some(x.times(x).max_zero()),
        ("mul", [x, y], []) => Some(x.times(y)),
        ("div", [x, y], []) => Some(x.times(&y.inverse()?)),
        ("power", [x], [exponent]) => x.power(exponent),
        ("leaky_relu" | "prelu", [x], [slope]) => {
            let zero = Interval::whole(0);
            let (above, below) = (x.clamped(Some(&zero), None), x.clamped(None, Some(&zero)));
            Some(above.plus(&below.times(&Interval::between(slope, slope))))
        }
        ("exp", [x], []) => exp(x),
        ("log", [x], []) => log(x),
        ("sqrt", [x], []) => x.root(),
        ("tanh", [x], []) => {
            // 1 − 2/(e^2x + 1).
            let power = exp(&x.plus(x))?;
            let share = power.plus(&Interval::whole(1)).inverse()?;
            Some(Interval::whole(1).plus(&share.plus(&share).negative()))
        }
        ("sigmoid", [x], []) => exp(&x.negative())?.plus(&Interval::whole(1)).inverse(),
        ("erf", [x], []) => {
            Some(Interval { low: erf(&Interval::point(&x.low))?.low, high: erf(&Interval::point(&x.high))?.high })
        }
        _ => None,
    }
}

fn unit() -> BigInt {
    BigInt::one() << BITS
}

/// Quotient rounded down or up.
fn divided(a: &BigInt, b: &BigInt, up: bool) -> BigInt {
    if up { Integer::div_ceil(a, b) } else { Integer::div_floor(a, b) }
}

impl Interval {
    fn between(low: &Rational, high: &Rational) -> Self {
        let scale = power(2, BITS.into());
        Self { low: (low * &scale).floor().to_integer(), high: (high * scale).ceil().to_integer() }
    }

    fn whole(value: i64) -> Self {
        Self::point(&(BigInt::from(value) * unit()))
    }

    fn point(value: &BigInt) -> Self {
        Self { low: value.clone(), high: value.clone() }
    }

    fn negative(&self) -> Self {
        Self { low: -&self.high, high: -&self.low }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { low: &self.low + &other.low, high: &self.high + &other.high }
    }

    fn times(&self, other: &Self) -> Self {
        let corners =
            [&self.low * &other.low, &self.low * &other.high, &self.high * &other.low, &self.high * &other.high];
        // A shift rounds down.
        let low = corners.iter().min().map_or_else(BigInt::zero, |low| low >> BITS);
        let high = corners.iter().max().map_or_else(BigInt::zero, |high| (high >> BITS) + 1);
        Self { low, high }
    }

    /// What is not below zero.
    fn max_zero(self) -> Self {
        Self { low: self.low.max(BigInt::zero()), high: self.high }
    }

    fn inverse(&self) -> Option<Self> {
        let clear = self.low.is_positive() || self.high.is_negative();
        let one = unit() << BITS;
        clear.then(|| Self { low: divided(&one, &self.high, false), high: divided(&one, &self.low, true) })
    }

    fn clamped(&self, low: Option<&Self>, high: Option<&Self>) -> Self {
        let clamp = |end: &BigInt| {
            let end = low.map_or_else(|| end.clone(), |low| end.clone().max(low.low.clone()));
            high.map_or_else(|| end.clone(), |high| end.clone().min(high.high.clone()))
        };
        Self { low: clamp(&self.low), high: clamp(&self.high) }
    }

    fn root(&self) -> Option<Self> {
        (!self.low.is_negative())
            .then(|| Self { low: (&self.low << BITS).sqrt(), high: (&self.high << BITS).sqrt() + 1 })
    }

    fn power(&self, exponent: &Rational) -> Option<Self> {
        if !exponent.is_integer() {
            // Zero to a power is left out.
            return exp(&log(self)?.times(&Self::between(exponent, exponent)));
        }
        let exponent = exponent.to_integer().to_i32().filter(|exponent| exponent.abs() <= 64)?;
        let ends = [&self.low, &self.high]
            .map(|end| (0..exponent.abs()).fold(Self::whole(1), |product, _| product.times(&Self::point(end))));
        let mut value =
            Self { low: (&ends[0].low).min(&ends[1].low).clone(), high: (&ends[0].high).max(&ends[1].high).clone() };
        if self.low.is_negative() && self.high.is_positive() {
            value.low = value.low.min(BigInt::zero());
        }
        if exponent % 2 == 0 {
            value = value.max_zero();
        }
        if exponent < 0 {
            let clear = self.low.is_positive() || self.high.is_negative();
            return if clear { value.inverse() } else { None };
        }
        Some(value)
    }
}

/// Machin: 16 arctan(1/5) − 4 arctan(1/239).
static PI: LazyLock<Interval> = LazyLock::new(|| {
    let times = |factor: i64, value: Interval| value.times(&Interval::whole(factor));
    times(16, arctangent(5, -1)).plus(&times(4, arctangent(239, -1)).negative())
});

static LN2: LazyLock<Interval> = LazyLock::new(|| {
    let half = arctangent(3, 1);
    half.plus(&half)
});

/// `Σ sign^n / ((2n+1) q^(2n+1))`: arctan(1/q) for −1, artanh(1/q) for 1.
fn arctangent(q: i64, sign: i64) -> Interval {
    let one = Interval::whole(1);
    let inverse = |number: i64| one.times(&Interval::whole(number)).inverse().unwrap_or_else(|| one.clone());
    odd_series(&inverse(q), sign)
}

/// `Σ sign^n z^(2n+1)/(2n+1)` for `|z| ≤ 1/2`; the rest after the last term is below the last place.
fn odd_series(z: &Interval, sign: i64) -> Interval {
    let square = z.times(z);
    let (mut power, mut sum) = (z.clone(), z.clone());
    for n in 1..=i64::from(BITS / 2 + 8) {
        power = power.times(&square).times(&Interval::whole(sign));
        let odd = BigInt::from(2 * n + 1);
        sum = sum.plus(&Interval { low: divided(&power.low, &odd, false), high: divided(&power.high, &odd, true) });
    }
    widened(&sum)
}

fn widened(value: &Interval) -> Interval {
    Interval { low: &value.low - 16, high: &value.high + 16 }
}

/// Of an argument below 2^12: halved until it is small, Taylor's series, squared again.
fn exp(x: &Interval) -> Option<Interval> {
    const HALVINGS: u32 = 24;
    let most = unit() << 12;
    if x.low.abs() > most || x.high.abs() > most {
        return None;
    }
    let end = |end: &BigInt| {
        let small = Interval { low: end >> HALVINGS, high: (end >> HALVINGS) + 1 };
        let (mut term, mut sum) = (Interval::whole(1), Interval::whole(1));
        for n in 1..=90_i64 {
            let n = BigInt::from(n);
            term = term.times(&small);
            term = Interval { low: divided(&term.low, &n, false), high: divided(&term.high, &n, true) };
            sum = sum.plus(&term);
        }
        (0..HALVINGS).fold(widened(&sum), |power, _| power.times(&power))
    };
    Some(Interval { low: end(&x.low).low.max(BigInt::zero()), high: end(&x.high).high })
}

/// `k ln 2 + 2 artanh((m − 1)/(m + 1))` for `x = m·2^k`, `m` in [3/4, 3/2).
fn log(x: &Interval) -> Option<Interval> {
    if !x.low.is_positive() {
        return None;
    }
    let end = |end: &BigInt| {
        let mut shift = end.bits() as i64 - i64::from(BITS);
        if Rational::new(end.clone(), BigInt::one()) * power(2, -shift - i64::from(BITS))
            < Rational::new(3.into(), 4.into())
        {
            shift -= 1;
        }
        let mantissa = Rational::from_integer(end.clone()) * power(2, -shift - i64::from(BITS));
        let z = (&mantissa - Rational::one()) / (mantissa + Rational::one());
        let half = odd_series(&Interval::between(&z, &z), 1);
        LN2.times(&Interval::whole(shift)).plus(&half).plus(&half)
    };
    Some(Interval { low: end(&x.low).low, high: end(&x.high).high })
}

/// `2/√π Σ (−1)^n x^(2n+1)/(n!(2n+1))` of a number of magnitude below 6.
fn erf(x: &Interval) -> Option<Interval> {
    if x.low.abs() > unit() * 6 {
        return None;
    }
    let square = x.times(x).negative();
    let (mut power, mut sum) = (x.clone(), x.clone());
    for n in 1..=600_i64 {
        power = power.times(&square);
        let divide = |value: &Interval, by: i64| {
            let by = BigInt::from(by);
            Interval { low: divided(&value.low, &by, false), high: divided(&value.high, &by, true) }
        };
        power = divide(&power, n);
        sum = sum.plus(&divide(&power, 2 * n + 1));
    }
    let factor = Interval::whole(2).times(&PI.root()?.inverse()?);
    Some(factor.times(&widened(&sum)))
}
