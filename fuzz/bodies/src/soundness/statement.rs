//! What is claimed: an unsafe set, or bounds of outputs or of any nodes.

use super::sample::{Range, Sample};
use crate::source::Choices;
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Property, Row, Variable, disjunct};
use num_traits::Zero;
use std::fmt::Write;
use std::sync::Arc;

/// A row that holds at a sample, closed ones with equality more often than not; with `room` it fails there by some.
pub(super) fn row(u: &mut Choices<'_>, ids: &[usize], samples: &[Sample], room: bool) -> Row {
    let sample = if u.one_in(4) { &samples[u.below(samples.len())] } else { &samples[0] };
    let outputs = sample.of(ids).len();
    let y = (0..outputs).filter(|_| u.below(3) > 0).map(Variable::Y).collect::<Vec<_>>();
    let x = (0..sample.x.len()).filter(|_| u.one_in(5)).map(Variable::X).collect::<Vec<_>>();
    let terms = x.into_iter().chain(y).map(|variable| (variable, u.ratio())).filter(|(_, c)| !c.is_zero()).collect();
    let mut row = Row { terms, bound: Rational::default(), strict: u.one_in(3) };
    let (low, high) = sample.excess(ids, &row);
    let apart = low != high || row.strict;
    row.bound = match room {
        true => low - u.room() - Rational::new(u.between(0, 40).into(), 4.into()),
        false if apart => high + u.room() + Rational::new(1.into(), (1_u64 << 40).into()),
        false => high + if u.below(2) == 0 { Rational::default() } else { u.room() },
    };
    row
}

/// A lower or an upper bound: `slopes·x + constant`.
pub(super) struct Bound {
    slopes: Vec<Rational>,
    constant: Rational,
}

/// A lower and an upper bound of a coordinate.
pub(super) type Pair = [Bound; 2];

/// Bounds for coordinates with these values at the point `x`, with slopes if there are `slopes`. One of them is wrong there unless there is `room`.
pub(super) fn pairs(u: &mut Choices<'_>, x: &[Rational], values: &[Range], slopes: bool, room: bool) -> Vec<Pair> {
    let wrong = u.below(2 * values.len());
    let tiny = Rational::new(1.into(), (1_u64 << 40).into());
    let mut pairs = Vec::new();
    for (place, (low, high)) in values.iter().enumerate() {
        let wide = Rational::from_integer(u.between(0, 20).into());
        let (mut lower, mut upper) = (low - u.room() - &wide, high + u.room() + &wide);
        match wrong {
            w if room || w / 2 != place => {}
            w if w % 2 == 0 => {
                lower = high + &tiny + u.room();
                upper = upper.max(lower.clone());
            }
            _ => {
                upper = low - &tiny - u.room();
                lower = lower.min(upper.clone());
            }
        }
        pairs.push([lower, upper].map(|value| {
            let slopes: Vec<Rational> = x.iter().map(|_| if slopes { u.ratio() } else { Rational::zero() }).collect();
            let constant = x.iter().zip(&slopes).fold(value, |rest, (x, slope)| rest - x * slope);
            Bound { slopes, constant }
        }));
    }
    pairs
}

/// Where the bounds of the coordinates from `first` on fail: below the lower one of each, and above the upper.
pub(super) fn outside(first: usize, pairs: &[Pair]) -> Vec<Disjunct> {
    let mut disjuncts = Vec::new();
    for (place, pair) in pairs.iter().enumerate() {
        for (bound, sign) in pair.iter().zip([1, -1]) {
            let sign = Rational::from_integer(sign.into());
            let x = bound.slopes.iter().enumerate().filter(|(_, slope)| !slope.is_zero());
            let mut terms: Vec<_> = x.map(|(i, slope)| (Variable::X(i), -(slope * &sign))).collect();
            terms.push((Variable::Y(first + place), sign.clone()));
            disjuncts.push(disjunct([Row { bound: &bound.constant * sign, terms, strict: true }]));
        }
    }
    disjuncts
}

/// `bound.json`.
pub(super) fn bound_document(pairs: &[Pair]) -> String {
    let [lower, upper] = [0, 1].map(|side| constants(pairs, side));
    format!(r#"{{"format":"torchlean.bound.v1","lower":{lower},"upper":{upper}}}"#)
}

/// The bounds of a node, with slopes or without, in `nodes.json`.
pub(super) fn form_document(pairs: &[Pair], slopes: bool) -> String {
    let [low, high] = [0, 1].map(|side| constants(pairs, side));
    if !slopes {
        return format!(r#""ibp":{{"lo":{low},"hi":{high}}}"#);
    }
    let matrix = |side: usize| pairs.iter().map(|pair| list(pair[side].slopes.iter())).collect::<Vec<_>>().join(",");
    let (below, above) = (matrix(0), matrix(1));
    format!(r#""crown":{{"loA":[{below}],"loC":{low},"hiA":[{above}],"hiC":{high}}}"#)
}

fn constants(pairs: &[Pair], side: usize) -> String {
    list(pairs.iter().map(|pair| &pair[side].constant))
}

/// A list of exact numbers.
pub(super) fn list<'r>(numbers: impl Iterator<Item = &'r Rational>) -> String {
    format!("[{}]", numbers.map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(","))
}

/// A property in JSON.
pub(crate) fn document(property: &Property) -> String {
    let side = |row: &Row, x: bool| {
        let mut text = String::new();
        for (variable, c) in &row.terms {
            let (own, index) = match variable {
                Variable::X(index) => (true, index),
                Variable::Y(index) => (false, index),
            };
            if own == x {
                let _ = write!(text, "{}\"{index}\":\"{c}\"", if text.is_empty() { "" } else { "," });
            }
        }
        text
    };
    let row = |row: &Arc<Row>| {
        let (x, y) = (side(row, true), side(row, false));
        format!(r#"{{"x":{{{x}}},"y":{{{y}}},"bound":"{}","strict":{}}}"#, row.bound, row.strict)
    };
    let disjunct = |rows: &Disjunct| format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(","));
    let disjuncts: Vec<String> = property.disjuncts.iter().map(disjunct).collect();
    format!(
        r#"{{"format":"certkern.property.v1","outputs":{},"lower":{},"upper":{},"unsafe":[{}]}}"#,
        property.outputs,
        list(property.lower.iter()),
        list(property.upper.iter()),
        disjuncts.join(",")
    )
}

/// `cert.json` of a witness.
pub(super) fn witness(x: &[Rational]) -> String {
    format!(r#"{{"format":"certkern.witness.v1","x":{}}}"#, list(x.iter()))
}
