//! Numbers as text: the exact rational that a decimal, a fraction or a hexadecimal float spells, and one rounding to nearest.

use crate::limits::{Limits, within};
use crate::reason::Reason;
use certkern_core::num::ieee::{BINARY32, BINARY64, Format, Rounding};
use certkern_core::num::{Dyadic, Rational};
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

/// A number by the grammar of JSON (RFC 8259 section 6), cut into its parts but not yet computed.
pub(crate) struct Spelling<'a> {
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
    exponent_negative: bool,
    exponent: &'a [u8],
    /// The bytes after the number.
    pub(crate) rest: &'a [u8],
}

impl<'a> Spelling<'a> {
    /// Reads the longest number at the start of `bytes`.
    ///
    /// # Errors
    /// What was expected, and the bytes that stand there instead.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, (&'static str, &'a [u8])> {
        let (negative, bytes) = strip(bytes, b"-");
        let (integer, bytes) = run(bytes, u8::is_ascii_digit);
        match integer {
            [] => return Err(("expected a digit", bytes)),
            [b'0', _, ..] => return Err(("a number has a leading zero", bytes)),
            _ => {}
        }
        let (point, bytes) = strip(bytes, b".");
        let (fraction, bytes) = if point { run(bytes, u8::is_ascii_digit) } else { (&[][..], bytes) };
        if point && fraction.is_empty() {
            return Err(("expected a digit after the decimal point", bytes));
        }
        let (letter, bytes) = strip(bytes, b"eE");
        let (exponent_negative, exponent, rest) = if letter {
            exponent(bytes).ok_or(("expected a digit of the exponent", bytes))?
        } else {
            (false, &[][..], bytes)
        };
        Ok(Self { negative, integer, fraction, exponent_negative, exponent, rest })
    }

    /// `Ok` if digits and exponent are within their budgets.
    ///
    /// # Errors
    /// [`Reason::Limit`] `digits` or `exponent`.
    pub(crate) fn within(&self, limits: &Limits) -> Result<(), Reason> {
        let digits = self.integer.len().saturating_add(self.fraction.len());
        within("digits", digits.saturating_add(self.exponent.len()), limits.digits)?;
        exponent_value(self.exponent_negative, self.exponent, limits).map(drop)
    }

    /// The number spelled. Costs time and memory by the budgets.
    fn value(&self, limits: &Limits) -> Result<Rational, Reason> {
        self.within(limits)?;
        let digits = [self.integer, self.fraction].concat();
        let magnitude = BigUint::parse_bytes(&digits, 10).ok_or(Reason::Internal("digits are digits"))?;
        let exponent = exponent_value(self.exponent_negative, self.exponent, limits)?;
        let places = i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        Ok(power_of_ten(self.negative, magnitude, exponent.saturating_sub(places)))
    }

    /// The natural number spelled by digits alone, or by digits with an exponent that has no minus sign.
    pub(crate) fn natural(&self) -> Option<u64> {
        if self.negative || self.exponent_negative || !self.fraction.is_empty() {
            return None;
        }
        let digit = |n: u64, d: &u8| n.checked_mul(10)?.checked_add(u64::from(d.saturating_sub(b'0')));
        let mantissa = self.integer.iter().try_fold(0, digit)?;
        if mantissa == 0 {
            return Some(0);
        }
        let exponent = self.exponent.iter().try_fold(0, digit)?;
        mantissa.checked_mul(10_u64.checked_pow(u32::try_from(exponent).ok()?)?)
    }
}

/// How much more than an ordinary number `value` costs: 200 times the square of its length in units of 512 bits, since fractions are reduced
/// in quadratic time (a millisecond for a few thousand bits).
#[must_use]
pub fn excess(value: &Rational) -> usize {
    let units = usize::try_from(value.numer().bits().saturating_add(value.denom().bits()) >> 9).unwrap_or(usize::MAX);
    units.saturating_mul(units).saturating_mul(200)
}

/// The decimal number that `text` spells, by the grammar of JSON numbers.
///
/// # Errors
/// [`Reason::JsonNumber`] if `text` is no such number, [`Reason::Limit`] beyond the budgets `digits` and `exponent`.
pub fn decimal(text: &str, limits: &Limits) -> Result<Rational, Reason> {
    match Spelling::read(text.as_bytes()) {
        Ok(spelling) if spelling.rest.is_empty() => spelling.value(limits),
        _ => Err(Reason::JsonNumber(text.to_owned())),
    }
}

/// The rational that `text` spells: a decimal, `p/q` with integers and `q > 0`, or a hexadecimal float such as `-0x1.8p-3`.
///
/// # Errors
/// As for [`decimal`].
pub fn rational_text(text: &str, limits: &Limits) -> Result<Rational, Reason> {
    let unreadable = || Reason::JsonNumber(text.to_owned());
    if let Some((p, q)) = text.split_once('/') {
        let (p, q) = (integer(p, limits, unreadable)?, integer(q, limits, unreadable)?);
        return if q.is_positive() { Ok(Rational::new(p, q)) } else { Err(unreadable()) };
    }
    let (negative, bytes) = strip(text.as_bytes(), b"-");
    match bytes {
        [b'0', b'x' | b'X', hex @ ..] => hexadecimal(negative, hex, limits)?.ok_or_else(unreadable),
        _ => decimal(text, limits),
    }
}

/// A number for people, rounded: 17 digits, or its magnitude where binary64 has none that is near.
#[must_use]
pub fn about(value: &Rational) -> String {
    let near = value.to_f64().filter(|near| near.is_finite() && (*near != 0.0 || value.is_zero()));
    near.map_or_else(
        || {
            let bits = |n: &BigInt| i64::try_from(n.bits()).unwrap_or(i64::MAX);
            let sign = if value.is_negative() { "-" } else { "" };
            format!("{sign}2^{}", bits(value.numer()).saturating_sub(bits(value.denom())))
        },
        |near| format!("{near:e}"),
    )
}

/// Binary64 bits of the number nearest to `value`, ties to even (IEEE 754-2019 section 4.3.1); `None` if that is an infinity.
/// A negative number that rounds to zero gives the negative zero.
#[must_use]
pub fn nearest_binary64(value: &Rational) -> Option<u64> {
    let magnitude = nearest(value, BINARY64)?;
    Some(magnitude | (u64::from(value.is_negative()) << 63))
}

/// Binary32 bits of the number nearest to `value`, as [`nearest_binary64`].
#[must_use]
pub fn nearest_binary32(value: &Rational) -> Option<u32> {
    let magnitude = u32::try_from(nearest(value, BINARY32)?).ok()?;
    Some(magnitude | (u32::from(value.is_negative()) << 31))
}

/// The bits of the magnitude of the nearest number; `None` for infinity.
fn nearest(value: &Rational, format: Format) -> Option<u64> {
    let rounded = format.round(value.numer().magnitude(), value.denom().magnitude(), 0, Rounding::Nearest);
    (rounded.bits < format.infinity()).then_some(rounded.bits)
}

/// `± magnitude · 10^exponent` in lowest terms. The denominator has only the primes 2 and 5, so no general divisor is sought: that
/// would cost a thousand times the reading of `1e-1100`.
fn power_of_ten(negative: bool, mut magnitude: BigUint, exponent: i64) -> Rational {
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let mut power = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
    let Some(twos) = magnitude.trailing_zeros().filter(|_| exponent < 0) else {
        if magnitude.is_zero() {
            power = 0;
        }
        let integer = magnitude * BigUint::from(10_u32).pow(power);
        return Rational::from_integer(BigInt::from_biguint(sign, integer));
    };
    let twos = u32::try_from(twos).unwrap_or(u32::MAX).min(power);
    magnitude >>= twos;
    let mut fives = power;
    while fives > 0 {
        let (quotient, remainder) = magnitude.div_rem(&BigUint::from(5_u32));
        if !remainder.is_zero() {
            break;
        }
        (magnitude, fives) = (quotient, fives.saturating_sub(1));
    }
    let denom = BigUint::from(5_u32).pow(fives) << power.saturating_sub(twos);
    Rational::new_raw(BigInt::from_biguint(sign, magnitude), denom.into())
}

/// The integer that `text` spells.
fn integer(text: &str, limits: &Limits, unreadable: impl Fn() -> Reason) -> Result<BigInt, Reason> {
    match Spelling::read(text.as_bytes()) {
        Ok(part) if part.fraction.is_empty() && part.exponent.is_empty() && part.rest.is_empty() => {
            Ok(part.value(limits)?.to_integer())
        }
        _ => Err(unreadable()),
    }
}

/// C99 section 6.4.4.2: hexadecimal digits with an optional point, then `p` and a decimal exponent of two. `None` if it is not that.
fn hexadecimal(negative: bool, bytes: &[u8], limits: &Limits) -> Result<Option<Rational>, Reason> {
    let (integer, bytes) = run(bytes, u8::is_ascii_hexdigit);
    let (point, bytes) = strip(bytes, b".");
    let (fraction, bytes) = if point { run(bytes, u8::is_ascii_hexdigit) } else { (&[][..], bytes) };
    let (letter, bytes) = strip(bytes, b"pP");
    let Some((exponent_negative, power, [])) = exponent(bytes).filter(|_| letter) else {
        return Ok(None);
    };
    let digits = integer.len().saturating_add(fraction.len());
    within("digits", digits.saturating_add(power.len()), limits.digits)?;
    let exponent = exponent_value(exponent_negative, power, limits)?;
    let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX).saturating_mul(4);
    let magnitude = BigUint::parse_bytes(&[integer, fraction].concat(), 16);
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    Ok(magnitude.map(|magnitude| {
        Dyadic::new(BigInt::from_biguint(sign, magnitude), exponent.saturating_sub(places)).to_rational()
    }))
}

/// An optional sign and at least one digit: whether it is negative, the digits, and what follows. `None` if there is no digit.
fn exponent(bytes: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    let (negative, unsigned) = strip(bytes, b"-");
    let unsigned = if negative { unsigned } else { strip(bytes, b"+").1 };
    let (digits, rest) = run(unsigned, u8::is_ascii_digit);
    (!digits.is_empty()).then_some((negative, digits, rest))
}

/// The exponent that `digits` spell, within its budget.
fn exponent_value(negative: bool, digits: &[u8], limits: &Limits) -> Result<i64, Reason> {
    let digit = |n: i64, d: &u8| n.saturating_mul(10).saturating_add(i64::from(d.saturating_sub(b'0')));
    let magnitude = digits.iter().fold(0, digit);
    if magnitude > i64::from(limits.exponent) {
        return Err(Reason::Limit { name: "exponent", limit: u64::from(limits.exponent) });
    }
    Ok(if negative { magnitude.saturating_neg() } else { magnitude })
}

/// Whether `bytes` begin with one of `any`, and the bytes after it.
fn strip<'a>(bytes: &'a [u8], any: &[u8]) -> (bool, &'a [u8]) {
    match bytes {
        [first, rest @ ..] if any.contains(first) => (true, rest),
        _ => (false, bytes),
    }
}

/// The longest run of bytes of a `kind` at the start of `bytes`, and the bytes after it.
fn run(bytes: &[u8], kind: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().take_while(|byte| kind(byte)).count();
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}
