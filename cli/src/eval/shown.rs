//! What `certkern eval` prints: values, and what floats differ from them by.

use crate::digest::{self, Digests};
use certkern_core::interval::Interval;
use certkern_core::num::Rational;
use certkern_cudakern::Difference;
use certkern_report::Words;
use certkern_report::decimal::{Side, about, ball, rounded, text};
use certkern_seal::Evidence;
use serde_json::{Map, json};
use std::fmt::Write;

/// Digits of decimals for people, and the longest fraction that they see.
const DIGITS: i32 = 20;
const LONGEST: usize = 40;
/// The most digits of the middle of a ball.
const MOST: i32 = 3000;

/// A number as it is known.
pub(super) enum Value {
    /// The number itself.
    Exact(Rational),
    /// Some number between these.
    Ball(Interval),
    /// A float, as Rust prints it.
    Float(String),
}

/// The value of a node.
pub(super) struct Output {
    pub(super) node: usize,
    pub(super) kind: &'static str,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<Value>,
}

/// Floats beside the kernel's values.
pub(super) struct Comparison {
    pub(super) format: certkern_cudakern::Format,
    pub(super) producer: String,
    pub(super) numbers: Vec<Difference>,
}

/// All that is printed.
pub(super) struct Evaluation {
    pub(super) digests: Digests,
    pub(super) arith: String,
    pub(super) outputs: Vec<Output>,
    pub(super) comparison: Option<Comparison>,
}

/// The indices of element `place` of a tensor.
fn indices(shape: &[usize], mut place: usize) -> Vec<usize> {
    let mut indices: Vec<usize> = shape.iter().rev().map(|extent| (place % extent, place /= extent).0).collect();
    indices.reverse();
    indices
}

/// A ball around an interval, in decimals.
fn around(interval: &Interval) -> (String, String) {
    ball(&interval.lower.to_rational(), &interval.upper.to_rational(), MOST)
}

impl Value {
    /// For people.
    fn text(&self) -> String {
        match self {
            Self::Exact(value) => {
                let [lower, upper] = [Side::Below, Side::Above].map(|side| rounded(value, DIGITS, side));
                let exact = value.to_string();
                if lower == upper {
                    let decimal = text(&lower);
                    return if exact == decimal || exact.len() > LONGEST {
                        decimal
                    } else {
                        format!("{exact} = {decimal}")
                    };
                }
                let fraction = if exact.len() > LONGEST { String::new() } else { format!("{exact}, ") };
                let width = about(&(&upper - &lower), 3, Side::Above);
                format!("{fraction}in [{}, {}], width {width}", text(&lower), text(&upper))
            }
            Self::Ball(ball) => {
                let (middle, radius) = around(ball);
                format!("{middle} ± {radius}")
            }
            Self::Float(float) => float.clone(),
        }
    }

    /// For scripts: the number, or the ends, as exact fractions, and decimals around.
    fn json(&self) -> serde_json::Value {
        match self {
            Self::Exact(value) => json!({
                "exact": value.to_string(),
                "lower": about(value, DIGITS, Side::Below),
                "upper": about(value, DIGITS, Side::Above),
            }),
            Self::Ball(ball) => {
                let (middle, radius) = around(ball);
                let exact = [&ball.lower, &ball.upper].map(|end| end.to_rational().to_string());
                json!({"mid": middle, "rad": radius, "lower": exact[0], "upper": exact[1]})
            }
            Self::Float(float) => json!({ "float": float }),
        }
    }
}

impl Comparison {
    /// Whether every number lies within its bound.
    pub(super) fn is_within(&self) -> bool {
        self.numbers.iter().all(Difference::is_within)
    }

    /// One line for each number that is out of its bound, and the sum.
    fn text(&self) -> String {
        let mut said = String::new();
        for (place, number) in self.numbers.iter().enumerate().filter(|(_, number)| !number.is_within()) {
            let (distance, bound) = (number.about(), number.bound);
            let _ = writeln!(said, "  number {place} differs by {distance:e}, and a run may differ by {bound:e}");
        }
        let (count, format, producer) = (self.numbers.len(), self.format, &self.producer);
        let largest = self.numbers.iter().max_by(|a, b| a.about().total_cmp(&b.about()));
        let largest = largest.map(|number| (number.about(), number.bound)).unwrap_or_default();
        let sum = if self.is_within() {
            format!("all {count} numbers lie within the bound of a run in {format}")
        } else {
            format!("NOT all {count} numbers lie within the bound of a run in {format}")
        };
        let (distance, bound) = largest;
        let _ = writeln!(
            said,
            "  {:<9} {producer}: {sum}; the largest difference is {distance:e}, where {bound:e} is granted",
            Words(&Evidence::Compared)
        );
        said
    }

    fn json(&self) -> serde_json::Value {
        let number = |number: &Difference| {
            json!({
                "found": number.found.as_ref().map(ToString::to_string),
                "difference": number.found.as_ref().map(|_| number.about()),
                "bound": number.bound.is_finite().then_some(number.bound),
                "within": number.is_within(),
            })
        };
        json!({
            "evidence": Words(&Evidence::Compared).to_string(),
            "arith": self.format.to_string(),
            "producer": self.producer,
            "within": self.is_within(),
            "numbers": self.numbers.iter().map(number).collect::<Vec<_>>(),
        })
    }
}

impl Evaluation {
    pub(super) fn text(&self) -> String {
        let mut said = digest::text(&self.digests);
        let _ = writeln!(said, "values   {}", self.arith);
        for Output { node, kind, shape, values } in &self.outputs {
            let _ = writeln!(said, "node {node} ({kind}) {shape:?}");
            for (place, value) in values.iter().enumerate() {
                let _ = writeln!(said, "  {:?}  {}", indices(shape, place), value.text());
            }
        }
        said + &self.comparison.as_ref().map(Comparison::text).unwrap_or_default()
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let digests = self.digests.iter().map(|(role, digest)| ((*role).to_owned(), json!(digest)));
        let output = |Output { node, kind, shape, values }: &Output| {
            let values: Vec<_> = values.iter().map(Value::json).collect();
            json!({"node": node, "kind": kind, "shape": shape, "values": values})
        };
        json!({
            "certkern": env!("CARGO_PKG_VERSION"),
            "command": "eval",
            "digests": digests.collect::<Map<_, _>>(),
            "arith": self.arith,
            "outputs": self.outputs.iter().map(output).collect::<Vec<_>>(),
            "comparison": self.comparison.as_ref().map(Comparison::json),
        })
    }
}
