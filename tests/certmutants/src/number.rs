//! Numbers by their spelling, exactly.

use crate::json::Json;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

/// An exact number.
pub(crate) type Rational = BigRational;

/// No written exponent of a document that is accepted is longer than this.
const EXPONENT: i64 = 5000;

/// The sign, the digits without the point, and the exponent of ten of a number by the grammar of JSON.
pub(crate) fn parts(text: &str) -> Option<(bool, String, i64)> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // One that does not fit is far beyond what a document may have.
            let value = digits.parse::<i64>().unwrap_or(i64::MAX / 4);
            (mantissa, plain.then_some(if exponent.starts_with('-') { -value } else { value })?)
        }
        None => (rest, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (mantissa, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let good = !whole.is_empty() && digits(whole) && digits(fraction) && (whole == "0" || !whole.starts_with('0'));
    good.then(|| (negative, format!("{whole}{fraction}"), exponent - fraction.len() as i64))
}

/// The number that a decimal by the grammar of JSON spells.
pub(crate) fn decimal(text: &str) -> Option<Rational> {
    let (negative, digits, exponent) = parts(text)?;
    if exponent.abs() > EXPONENT {
        return None;
    }
    let magnitude = Rational::from_integer(digits.parse::<BigInt>().ok()?) * power(10, exponent);
    Some(if negative { -magnitude } else { magnitude })
}

/// `base^exponent`.
pub(crate) fn power(base: i64, exponent: i64) -> Rational {
    let magnitude = Rational::from_integer(BigInt::from(base).pow(exponent.unsigned_abs()));
    if exponent < 0 { magnitude.recip() } else { magnitude }
}

/// The number that a decimal, `p/q` or a hexadecimal float spells.
pub(crate) fn spelled(text: &str) -> Option<Rational> {
    if let Some((p, q)) = text.split_once('/') {
        let [p, q] = [integer(p)?, integer(q)?];
        return q.is_positive().then(|| Rational::new(p, q));
    }
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let Some(hexadecimal) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) else { return decimal(text) };
    let (mantissa, exponent) = hexadecimal.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let magnitude =
        BigInt::parse_bytes(digits.as_bytes(), 16).filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    let exponent = exponent
        .strip_prefix('+')
        .unwrap_or(exponent)
        .parse::<i64>()
        .ok()
        .filter(|exponent| exponent.abs() <= EXPONENT)?;
    let magnitude = Rational::from_integer(magnitude) * power(2, exponent - 4 * fraction.len() as i64);
    Some(if negative { -magnitude } else { magnitude })
}

/// An integer in decimal digits.
pub(crate) fn integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// An exact number in a document: a JSON number, or a text that spells one.
pub(crate) fn exact(json: &Json) -> Option<Rational> {
    match json {
        Json::Number(text) => decimal(text),
        Json::Text(text) => spelled(text),
        _ => None,
    }
}

pub(crate) fn exacts(json: &Json) -> Option<Vec<Rational>> {
    json.list()?.iter().map(exact).collect()
}

/// A decimal that spells this number exactly, if there is one.
pub(crate) fn as_decimal(value: &Rational) -> Option<String> {
    let (mut rest, mut places) = (value.denom().clone(), 0_u32);
    for prime in [2_u8, 5] {
        let mut count = 0;
        while (&rest % prime).is_zero() {
            rest /= prime;
            count += 1;
        }
        places = places.max(count);
    }
    if !rest.is_one() || places > 1500 {
        return None;
    }
    let scaled = (value * power(10, places.into())).to_integer();
    let digits = format!("{:0>width$}", scaled.abs().to_string(), width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let sign = if scaled.is_negative() { "-" } else { "" };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// The same number, spelled in the manner of the old value.
pub(crate) fn in_manner_of(old: &Json, value: &Rational) -> Option<Json> {
    match old {
        Json::Text(_) => {
            Some(Json::Text(if value.is_integer() { value.numer().to_string() } else { value.to_string() }))
        }
        _ => as_decimal(value).map(Json::Number),
    }
}

/// A number near it in binary64.
pub(crate) fn near(value: &Rational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// A whole number.
pub(crate) fn whole(value: i64) -> Rational {
    Rational::from_integer(value.into())
}
