//! How a point stands to box, property and reported outputs, for people and for scripts.

use certkern_core::num::Rational;
use certkern_core::property::Range;
use certkern_core::rules::Standing;
use certkern_counterexample::{Comparison, Counterexample, Entry, RowSlack, compare};
use certkern_seal::{Digests, Documents};
use certkern_wire::number;
use serde_json::{Value, json};
use std::fmt::Write;

/// Outputs that are listed for people.
const MOST_OUTPUTS: usize = 16;
/// Characters of an exact number that are shown beside its decimal.
const MOST_DIGITS: usize = 48;

/// A point with all that is known about it but the verdict.
pub(super) struct Examined<'a> {
    pub(super) counterexample: Counterexample<'a>,
    pub(super) digests: Digests,
    standing: Standing,
    comparison: Comparison,
}

/// A number for scripts: exactly, and for reading.
fn number(value: &Rational) -> Value {
    json!({"exact": value.to_string(), "about": number::about(value)})
}

/// A number for scripts, or the exact ends of its enclosure.
fn numbers(range: &Range) -> Value {
    if range.is_exact() {
        return number(&range.lower);
    }
    json!({"lower": range.lower.to_string(), "upper": range.upper.to_string(), "about": about(range)})
}

/// A number for people, with the exact one where that is short.
fn shown(value: &Rational) -> String {
    let (about, exact) = (number::about(value), value.to_string());
    if exact.len() > MOST_DIGITS { about } else { format!("{about} (exactly {exact})") }
}

/// A number for people, or its enclosure.
fn shown_range(range: &Range) -> String {
    if range.is_exact() {
        return shown(&range.lower);
    }
    let width = &range.upper - &range.lower;
    // 2^(bits(p) − bits(q) + 1) is more than p/q.
    let bits = i128::from(width.numer().bits()) - i128::from(width.denom().bits()) + 1;
    format!("{} (enclosed to 2^{bits})", about(range))
}

/// The digits that the ends of an enclosure share, as a number, else both ends.
fn about(range: &Range) -> String {
    let (lower, upper) = (number::about(&range.lower), number::about(&range.upper));
    if lower == upper { lower } else { format!("{lower} to {upper}") }
}

/// A number as it was written, unless that is long.
fn spelled(entry: &Entry) -> String {
    if entry.spelling.len() > MOST_DIGITS { number::about(&entry.value) } else { entry.spelling.clone() }
}

impl<'a> Examined<'a> {
    /// The counterexample must fit the documents.
    pub(super) fn new(counterexample: Counterexample<'a>, standing: Standing, documents: &Documents) -> Self {
        let comparison = compare(&counterexample, &documents.problem().property().disjuncts, &standing);
        let digests = documents.digests().clone();
        Self { counterexample, digests, standing, comparison }
    }

    /// A few lines, none of which begins like a verdict line.
    pub(super) fn text(&self) -> String {
        let (how, column) = match self.standing.bits {
            None => ("exactly".to_owned(), "exact"),
            Some(bits) => (format!("in balls of {bits} bits"), "enclosed"),
        };
        let mut text =
            format!("\nThe point, {how}:\n  box        {}\n  property   {}\n", self.region(), self.property());
        let _ = writeln!(text, "  {:<10} {column:<24} {:<24} difference", "output", "reported");
        let reported = self.counterexample.y();
        for (index, exact) in self.standing.outputs.iter().enumerate().take(MOST_OUTPUTS) {
            let name = format!("Y_{index}");
            let reported = reported.and_then(|y| y.get(index)).map_or("-".to_owned(), spelled);
            let difference = self.comparison.differences.as_ref().and_then(|differences| differences.get(index));
            let difference = difference.map_or("-".to_owned(), about);
            let _ = writeln!(text, "  {name:<10} {:<24} {reported:<24} {difference}", about(exact));
        }
        let more = self.standing.outputs.len().saturating_sub(MOST_OUTPUTS);
        if more > 0 {
            let _ = writeln!(text, "  … and {more} more: --format json has them all");
        }
        let _ = writeln!(text, "  reported   {}", self.reported());
        let _ = writeln!(text, "  tolerance  {}", self.tolerance());
        text
    }

    fn region(&self) -> String {
        let (coordinate, slack) = &self.standing.region;
        match &self.comparison.region_miss {
            Some((coordinate, miss)) => format!("OUTSIDE by {} in X_{coordinate}", shown(miss)),
            None => format!("inside; nearest to a side in X_{coordinate}, by {}", shown(slack)),
        }
    }

    fn property(&self) -> String {
        let Comparison { reached, nearest, spare, own_box, .. } = &self.comparison;
        let count = self.standing.disjuncts.len();
        let row = |what: &str, least: &Option<RowSlack>| match least {
            Some(least) => format!("; {what} row {}, {}", least.row, shown_range(&least.distance())),
            None => String::new(),
        };
        if let Some(disjunct) = self.standing.undecided() {
            let open = self.standing.disjuncts.get(disjunct).and_then(|(_, least)| least.as_ref());
            let open = open.map(|(row, slack)| format!("; the slack of row {row} lies from {}", about(slack)));
            return format!("NOT DECIDED for disjunct {disjunct} of {count}{}", open.unwrap_or_default());
        }
        let Some(disjunct) = reached else {
            let least = nearest.as_ref().map_or(0, |nearest| nearest.disjunct);
            let missed = row(&format!("disjunct {least} is missed least, by"), nearest);
            return format!("NOT MET: the outputs lie in none of {count} disjuncts{missed}");
        };
        let spare = row("least to spare in", spare);
        if self.standing.disjunct().is_some() {
            return format!("met: in disjunct {disjunct} of {count}{spare}");
        }
        if !self.standing.in_region() {
            return format!("met by the outputs: disjunct {disjunct} of {count}{spare}");
        }
        let missed = row("missed in", own_box);
        format!("NOT MET: the outputs lie in disjunct {disjunct} of {count}, the point outside its own box{missed}")
    }

    fn reported(&self) -> String {
        let Some(largest) = self.comparison.largest_difference() else { return "no outputs are reported".to_owned() };
        let (given, count) = (self.counterexample.y().map_or(0, <[Entry]>::len), self.standing.outputs.len());
        let missing = if given < count { format!("only {given} of {count} outputs; ") } else { String::new() };
        format!("{missing}at most {} from the exact value, in Y_{}", about(&largest.size), largest.output)
    }

    fn tolerance(&self) -> String {
        let tolerance = &self.comparison.tolerance;
        if tolerance.within_competition_tolerance() {
            return "VNN-COMP's tolerance would pass this point, which is no proof".to_owned();
        }
        let parts = [
            (tolerance.region, "box"),
            (tolerance.property, "property"),
            (tolerance.outputs != Some(false), "reported outputs"),
        ];
        let failed: Vec<&str> = parts.into_iter().filter(|(held, _)| !held).map(|(_, name)| name).collect();
        format!("VNN-COMP's tolerance would not pass this point: {}", failed.join(", "))
    }

    /// Every number exactly.
    pub(super) fn json(&self) -> Value {
        let (coordinate, slack) = &self.standing.region;
        let row = |least: &Option<RowSlack>| {
            let least = least.as_ref();
            least.map(
                |RowSlack { disjunct, row, slack }| json!({"disjunct": disjunct, "row": row, "slack": numbers(slack)}),
            )
        };
        let Comparison { reached, nearest, own_box, .. } = &self.comparison;
        let outputs = self.standing.outputs.iter().enumerate().map(|(index, exact)| {
            let reported = self.counterexample.y().and_then(|y| y.get(index));
            let difference = self.comparison.differences.as_ref().and_then(|differences| differences.get(index));
            json!({
                "exact": numbers(exact),
                "reported": reported.map(|entry| number(&entry.value)),
                "difference": difference.map(numbers),
            })
        });
        let largest = self.comparison.largest_difference();
        let tolerance = &self.comparison.tolerance;
        json!({
            "bits": self.standing.bits,
            "region": {"inside": self.standing.in_region(), "coordinate": coordinate, "slack": number(slack)},
            "property": {
                "disjunct": self.standing.disjunct(),
                "undecided": self.standing.undecided(),
                "disjuncts": self.standing.disjuncts.len(),
                "outputs": {"reached": reached, "nearest": row(nearest)},
                "own_box": row(own_box),
            },
            "outputs": outputs.collect::<Vec<Value>>(),
            "largest_difference": largest.map(|largest| json!({"output": largest.output, "size": numbers(&largest.size)})),
            "within_competition_tolerance": tolerance.within_competition_tolerance(),
            "tolerance": {"region": tolerance.region, "property": tolerance.property, "outputs": tolerance.outputs},
        })
    }
}
