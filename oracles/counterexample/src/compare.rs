//! How a counterexample compares with the exact values: what the reported outputs differ by, and the competition's tolerance. Apart from any
//! verdict.

use crate::point::Counterexample;
use certkern_core::num::Rational;
use certkern_core::property::{self, Range, Row};
use certkern_core::rules::Standing;
use num_traits::{Signed, Zero};
use std::sync::Arc;

/// An output and the distance of its reported value from the exact one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The output.
    pub output: usize,
    /// |reported − exact|.
    pub size: Range,
}

/// The parts of the competition's tolerance, and whether each holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// The point lies in the box with every side moved out by 10⁻⁴.
    pub region: bool,
    /// In some disjunct every row is violated by at most 10⁻⁴ at the exact outputs.
    pub property: bool,
    /// Every reported output is within `10⁻⁴ + 10⁻³·|exact|` of the exact one; `None` if none are reported.
    pub outputs: Option<bool>,
}

impl Tolerance {
    /// Whether the competition's rule would pass the counterexample: VNN-COMP 2023 to 2025 take a witness for `sat` within an absolute
    /// tolerance of 10⁻⁴ on box and property and a relative one of 10⁻³ on what the network is said to give. Precisely, and in
    /// exact arithmetic throughout:
    ///
    /// - `lower − 10⁻⁴ ≤ x ≤ upper + 10⁻⁴` in every coordinate, where the box is that of the whole property;
    /// - there is a disjunct with `Σ c·v ≤ bound + 10⁻⁴` for each of its rows, open rows taken as closed, at `x` and the *exact* outputs;
    /// - `|reported − exact| ≤ 10⁻⁴ + 10⁻³·|exact|` for each output, if outputs are reported.
    ///
    /// The competition runs the network in floats, here the exact outputs stand in their place; where they are only enclosed, each part holds for every
    /// number of the enclosures. This is a statement about a tolerance, never
    /// a proof: a point that passes may be no witness at all.
    #[must_use]
    pub fn within_competition_tolerance(&self) -> bool {
        self.region && self.property && self.outputs != Some(false)
    }
}

/// A row of the unsafe set and how far inside it the point and its exact outputs lie; below zero they miss it by that much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSlack {
    /// The disjunct.
    pub disjunct: usize,
    /// The row in it.
    pub row: usize,
    /// `bound − Σ c·v`.
    pub slack: Range,
}

impl RowSlack {
    /// The size of the slack, whichever side the point is on.
    #[must_use]
    pub fn distance(&self) -> Range {
        magnitude(self.slack.clone())
    }
}

/// The sizes of the numbers of a range.
fn magnitude(range: Range) -> Range {
    let Range { lower, upper } = range;
    match (lower.is_negative(), upper.is_negative()) {
        (false, _) => Range { lower, upper },
        (true, true) => Range { lower: -upper, upper: -lower },
        (true, false) => Range { lower: Rational::zero(), upper: upper.max(-lower) },
    }
}

/// What a counterexample is, beside a witness or not. In VNN-LIB the box stands in every disjunct again; to tell box and property apart, the
/// rows on one input alone are kept from the others here, which are called the rows on outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// By how much the point lies outside the box, and in which coordinate; `None` inside.
    pub region_miss: Option<(usize, Rational)>,
    /// A disjunct whose rows on outputs are all known to hold: the one that the point lies in, else the one whose rows on inputs come nearest.
    pub reached: Option<usize>,
    /// The row on outputs with the least slack, in the disjunct where that is greatest; `None` if no disjunct has such rows.
    pub nearest: Option<RowSlack>,
    /// The row on outputs with the least slack in the disjunct that is reached.
    pub spare: Option<RowSlack>,
    /// The row on one input alone with the least slack in the disjunct that is reached.
    pub own_box: Option<RowSlack>,
    /// For each output that is reported the distance from the exact one; `None` if none are.
    pub differences: Option<Vec<Range>>,
    /// The competition's tolerance.
    pub tolerance: Tolerance,
}

/// One disjunct, its rows on outputs and those on one input alone kept apart.
struct Disjunct {
    outputs_hold: bool,
    outputs: Option<RowSlack>,
    inputs: Option<RowSlack>,
}

impl Disjunct {
    fn of(disjunct: usize, rows: &[Arc<Row>], x: &[Rational], y: &[Range]) -> Self {
        let mut apart = Self { outputs_hold: true, outputs: None, inputs: None };
        for (row, each) in rows.iter().enumerate() {
            // A problem has no row on a variable that does not exist.
            let Some(slack) = each.slack(x, y) else { continue };
            let on_input = each.single_input().is_some();
            apart.outputs_hold &= on_input || each.holds(&slack) == Some(true);
            let least = if on_input { &mut apart.inputs } else { &mut apart.outputs };
            if least.as_ref().is_none_or(|known| slack < known.slack) {
                *least = Some(RowSlack { disjunct, row, slack });
            }
        }
        apart
    }
}

impl Comparison {
    /// The output that differs most, the first of those that do.
    #[must_use]
    pub fn largest_difference(&self) -> Option<Difference> {
        let mut largest: Option<Difference> = None;
        for (output, size) in self.differences.iter().flatten().enumerate() {
            if largest.as_ref().is_none_or(|known| *size > known.size) {
                largest = Some(Difference { output, size: size.clone() });
            }
        }
        largest
    }
}

/// Compares a counterexample that fits the network with its exact standing to a problem with these disjuncts.
#[must_use]
pub fn compare(
    counterexample: &Counterexample<'_>,
    disjuncts: &[property::Disjunct],
    standing: &Standing,
) -> Comparison {
    let (coordinate, slack) = &standing.region;
    let region_miss = (!standing.in_region()).then(|| (*coordinate, -slack));
    let x = counterexample.point();
    let apart = disjuncts.iter().enumerate().map(|(index, rows)| Disjunct::of(index, rows, &x, &standing.outputs));
    let apart: Vec<Disjunct> = apart.collect();
    let reached = standing.disjunct().or_else(|| {
        let reached = apart.iter().enumerate().filter(|(_, disjunct)| disjunct.outputs_hold);
        let own_box = |disjunct: &Disjunct| disjunct.inputs.as_ref().map(|least| least.slack.clone());
        reached.max_by(|(_, a), (_, b)| own_box(a).cmp(&own_box(b))).map(|(index, _)| index)
    });
    let nearest = apart.iter().filter_map(|disjunct| disjunct.outputs.as_ref());
    let nearest = nearest.max_by(|a, b| a.slack.cmp(&b.slack)).cloned();
    let (spare, own_box) = reached
        .and_then(|reached| apart.into_iter().nth(reached))
        .map_or((None, None), |disjunct| (disjunct.outputs, disjunct.inputs));
    let pairs = counterexample.y().map(|y| y.iter().zip(&standing.outputs));
    let difference = |reported: &Rational, exact: &Range| {
        magnitude(Range { lower: reported - &exact.upper, upper: reported - &exact.lower })
    };
    let differences: Option<Vec<Range>> =
        pairs.map(|pairs| pairs.map(|(reported, exact)| difference(&reported.value, exact)).collect());
    let outputs = differences.as_ref().map(|differences| {
        let allowed = |exact: &Range| absolute() + relative() * magnitude(exact.clone()).lower;
        differences.iter().zip(&standing.outputs).all(|(difference, exact)| difference.upper <= allowed(exact))
    });
    let near = |slack: &Rational| *slack >= -absolute();
    let tolerance = Tolerance {
        region: near(slack),
        property: standing.disjuncts.iter().any(|(inside, least)| match least {
            Some((_, slack)) => near(&slack.lower),
            None => *inside == Some(true),
        }),
        outputs,
    };
    Comparison { region_miss, reached, nearest, spare, own_box, differences, tolerance }
}

/// 10⁻⁴.
fn absolute() -> Rational {
    Rational::new(1.into(), 10_000.into())
}

/// 10⁻³.
fn relative() -> Rational {
    Rational::new(1.into(), 1_000.into())
}
