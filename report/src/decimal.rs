//! Rational numbers as decimals, rounded to a side.

use certkern_core::num::Rational;
use num_traits::{Signed, ToPrimitive, Zero};

/// Where a decimal lies that is not the number itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

/// A number rounded to `digits` significant decimal digits: itself where it has no more, else the next decimal on this side.
#[must_use]
pub fn rounded(value: &Rational, digits: i32, side: Side) -> Rational {
    if value.is_zero() {
        return value.clone();
    }
    let unit = power(exponent(value).saturating_sub(digits.saturating_sub(1)));
    let scaled = value / &unit;
    let whole = match side {
        Side::Below => scaled.floor(),
        Side::Above => scaled.ceil(),
    };
    whole * unit
}

/// The decimal that a number is: plainly, or with an exponent where that is shorter. The number must be a decimal.
#[must_use]
pub fn text(value: &Rational) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let first = exponent(value);
    let mut last = first;
    // The last digit that is not 0.
    while !(value / power(last)).is_integer() {
        last -= 1;
    }
    let digits = (value.abs() / power(last)).to_integer().to_string();
    let digits = digits.trim_end_matches('0');
    let sign = if value.is_negative() { "-" } else { "" };
    let (count, place) = (i32::try_from(digits.len()).unwrap_or(i32::MAX), usize::try_from(first).unwrap_or(0));
    let body = match first {
        0..=20 if count <= first + 1 => format!("{digits:0<width$}", width = place + 1),
        0..=20 => format!("{}.{}", &digits[..=place], &digits[place + 1..]),
        -5..=-1 => format!("0.{}{digits}", "0".repeat(usize::try_from(-first - 1).unwrap_or(0))),
        _ if count == 1 => format!("{digits}e{first}"),
        _ => format!("{}.{}e{first}", &digits[..1], &digits[1..]),
    };
    format!("{sign}{body}")
}

/// The decimal of `digits` digits on a side of a number.
#[must_use]
pub fn about(value: &Rational, digits: i32, side: Side) -> String {
    text(&rounded(value, digits, side))
}

/// A ball around an interval, in decimals: a middle of about as many digits as the interval tells, `most` at most, and how far anything in the
/// interval can be from that, rounded up.
#[must_use]
pub fn ball(lower: &Rational, upper: &Rational, most: i32) -> (String, String) {
    let (middle, width) = ((lower + upper) / Rational::from_integer(2.into()), upper - lower);
    let told = exponent(&middle).saturating_sub(exponent(&width)).saturating_add(3).max(3);
    let digits = if width.is_positive() { told.min(most) } else { most };
    let middle = rounded(&middle, digits, Side::Below);
    let radius = (&middle - lower).abs().max((upper - &middle).abs());
    (text(&middle), about(&radius, 3, Side::Above))
}

/// The `e` with `10^e ≤ |value| < 10^(e+1)`; 0 for 0.
#[must_use]
pub fn exponent(value: &Rational) -> i32 {
    if value.is_zero() {
        return 0;
    }
    let magnitude = value.abs();
    let bits = |n: u64| n.to_f64().unwrap_or(0.0);
    let estimate = (bits(magnitude.numer().bits()) - bits(magnitude.denom().bits())) * std::f64::consts::LOG10_2;
    let mut exponent = estimate.floor().to_i32().unwrap_or(0);
    while power(exponent) > magnitude {
        exponent -= 1;
    }
    while power(exponent + 1) <= magnitude {
        exponent += 1;
    }
    exponent
}

/// `10^exponent`.
fn power(exponent: i32) -> Rational {
    Rational::from_integer(10.into()).pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(numer: i64, denom: i64) -> Rational {
        Rational::new(numer.into(), denom.into())
    }

    #[test]
    fn decimals_lie_on_their_side() {
        let third = rational(1, 3);
        assert_eq!((about(&third, 4, Side::Below), about(&third, 4, Side::Above)), ("0.3333".into(), "0.3334".into()));
        let third = rational(-1, 3);
        assert_eq!(
            (about(&third, 4, Side::Below), about(&third, 4, Side::Above)),
            ("-0.3334".into(), "-0.3333".into())
        );
        // A carry into another digit, and what has few digits.
        assert_eq!(about(&rational(99_999, 100), 3, Side::Above), "1000");
        assert_eq!(about(&rational(-3, 4), 20, Side::Below), "-0.75");
    }

    #[test]
    fn decimals_are_plain_where_they_are_short() {
        for (numer, denom, expected) in [
            (0, 1, "0"),
            (1200, 1, "1200"),
            (123_456, 100, "1234.56"),
            (1, 1000, "0.001"),
            (-25, 100_000_000, "-2.5e-7"),
            (1, 10_000_000, "1e-7"),
            (1, 1, "1"),
        ] {
            assert_eq!(text(&rational(numer, denom)), expected);
        }
        assert_eq!(text(&(rational(11, 1) * power(30))), "1.1e31");
        assert_eq!((exponent(&power(-300)), exponent(&power(300))), (-300, 300));
    }
}
