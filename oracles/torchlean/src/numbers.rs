//! Lists of numbers, each checked to be one and kept as it was spelled.

use certkern_core::num::Rational;
use certkern_wire::fields::element;
use certkern_wire::json::{Json, Value};
use certkern_wire::number::nearest_binary64;
use certkern_wire::{Fault, Limits, Reason};

/// The text of a number, which a JSON number or a string spells.
///
/// # Errors
/// `json.type`, `json.number` or a limit.
pub(crate) fn spelled(json: &Json, path: &str, limits: &Limits) -> Result<String, Fault> {
    json.rational(path, limits)?;
    match &json.value {
        Value::Number(text) => Ok((*text).to_owned()),
        _ => json.string(path).map(str::to_owned),
    }
}

/// A rational number in a string.
///
/// # Errors
/// As [`spelled`], and `json.type` for a JSON number.
pub(crate) fn rational(json: &Json, path: &str, limits: &Limits) -> Result<Rational, Fault> {
    json.string(path)?;
    json.rational(path, limits)
}

/// The binary64 number that is nearest to what is spelled.
///
/// # Errors
/// As [`spelled`], and `json.number` if that is an infinity.
pub(crate) fn binary64(json: &Json, path: &str, limits: &Limits) -> Result<f64, Fault> {
    let value = json.rational(path, limits)?;
    let infinite = || json.fault(Reason::JsonNumber(value.to_string()), path);
    nearest_binary64(&value).map(f64::from_bits).ok_or_else(infinite)
}

/// A list of `count` items.
///
/// # Errors
/// `json.type`, `json.value` for another length, and those of `item`.
pub(crate) fn list<T>(
    json: &Json,
    path: &str,
    count: usize,
    item: impl Fn(&Json, &str) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let items = json.array(path)?;
    if items.len() != count {
        return Err(unfit(json, path, &format!("{count} items"), &items.len().to_string()));
    }
    items.iter().enumerate().map(|(place, json)| item(json, &element(path, place))).collect()
}

/// Two lists of `count` numbers, no first one above its second, as they were spelled.
///
/// # Errors
/// Those of [`list`] and [`spelled`], and `json.value` where ends are crossed.
pub(crate) fn ends(
    (low, low_path): (&Json, &str),
    (high, high_path): (&Json, &str),
    count: usize,
    limits: &Limits,
) -> Result<[Vec<String>; 2], Fault> {
    let exact = |json, path| list(json, path, count, |json, path| json.rational(path, limits));
    let pairs = exact(low, low_path)?.into_iter().zip(exact(high, high_path)?);
    if let Some((place, (lower, upper))) = pairs.enumerate().find(|(_, (lower, upper))| lower > upper) {
        let expected = format!("an upper end that is not below the lower end {lower}");
        return Err(unfit(high, &element(high_path, place), &expected, &upper.to_string()));
    }
    let texts = |json, path| list(json, path, count, |json, path| spelled(json, path, limits));
    Ok([texts(low, low_path)?, texts(high, high_path)?])
}

/// `json.value`: what stands here is not what the rest of the document asks for.
pub(crate) fn unfit(json: &Json, path: &str, expected: &str, found: &str) -> Fault {
    json.fault(Reason::JsonValue { expected: expected.to_owned(), found: found.to_owned() }, path)
}
