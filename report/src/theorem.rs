//! The report of a theorem: the proposition in words, and for each part of it the kind of evidence and the assumptions that are left.

use crate::decimal::{self, Side, about};
use crate::json::Object;
use crate::{Shown, Words};
use certkern_core::num::Rational;
use certkern_core::rules::ClaimedBall;
use certkern_seal::{Claimed, Evidence, Part, Premise, Proposition, Subject, Theorem};
use num_traits::Zero;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Words<'_, Evidence> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self.0 {
            Evidence::Proved => "proved",
            Evidence::Guarded => "guarded",
            Evidence::Compared => "compared",
            Evidence::Delegated => "delegated",
            Evidence::Assumed => "assumed",
        })
    }
}

/// The most balls or bounds that a statement shows, rounded; the digest covers all of them exactly.
const SHOWN: usize = 4;

/// The most characters of a number that is shown exactly, and the digits of decimals in its place.
const LONGEST: usize = 24;
const DIGITS: i32 = 17;
/// The digits of the middle of a ball.
const MIDDLE: i32 = 40;

/// A number for people: exactly if that is short, else the decimal on this side of it.
fn shown(value: &Rational, side: Side) -> String {
    let exact = value.to_string();
    if exact.len() <= LONGEST { exact } else { about(value, DIGITS, side) }
}

/// A value in a ball: in decimals a ball around that, so that the sentence follows from what was proved.
fn within(index: usize, ball: &ClaimedBall) -> String {
    let exact = ball.midpoint.to_string();
    if ball.radius.is_zero() && exact.len() <= LONGEST {
        return format!("value {index} = {exact}");
    }
    let (middle, radius) = decimal::ball(&(&ball.midpoint - &ball.radius), &(&ball.midpoint + &ball.radius), MIDDLE);
    format!("|value {index} − ({middle})| ≤ {radius}")
}

/// The proposition in words and symbols.
fn statement(theorem: &Theorem) -> String {
    // A region that is rounded must say less.
    let some = theorem.proposition() == Proposition::Sat;
    let region = region(theorem.subject(), if some { Side::Above } else { Side::Below });
    match theorem.subject() {
        Subject::Graph { .. } if theorem.proposition() == Proposition::Monotone => {
            "For all x ≤ x′ in every coordinate, F(x) and F(x′) are defined and F(x) ≤ F(x′) in every coordinate, \
             where F is the meaning of the graph with this payload in real arithmetic."
                .to_owned()
        }
        Subject::Graph { nodes, input, outputs, .. } => {
            let outputs: Vec<String> = outputs.iter().map(ToString::to_string).collect();
            format!("The graph is well-shaped: nodes={nodes}, input={input}, outputs=#[{}].", outputs.join(", "))
        }
        Subject::Enclosure { intervals, balls, .. } => {
            let mut text = match intervals {
                0 => "Every value of the query is defined and lies in its ball".to_owned(),
                _ => "For every choice of numbers from the intervals of the query, every value is defined and lies in its ball".to_owned(),
            };
            for (index, ball) in balls.iter().take(SHOWN).enumerate() {
                let mark = if index == 0 { ':' } else { ',' };
                let _ = write!(text, "{mark} {}", within(index, ball));
            }
            text + if balls.len() > SHOWN { ", …" } else { "." }
        }
        Subject::Problem { disjuncts, .. } if theorem.proposition() == Proposition::Sat => format!(
            "For some x in {region}, (x, F(x)) lies in one of the {disjuncts} disjuncts of the unsafe set U, \
             where F is the meaning of the graph with this payload in real arithmetic."
        ),
        Subject::Problem { claimed: Claimed::Nodes(listed), disjuncts, .. } => {
            let nodes: Vec<String> = listed.iter().take(SHOWN).map(|(id, _)| id.to_string()).collect();
            let more = if listed.len() > SHOWN { ", …" } else { "" };
            format!(
                "For every x in {region}, every value of the graph is defined and those of {} nodes (#[{}{more}]) lie within their {disjuncts} bounds, \
                 where the graph with this payload means real arithmetic.",
                listed.len(),
                nodes.join(", ")
            )
        }
        Subject::Problem { claimed: Claimed::Bounds((lower, upper)), .. } => {
            let mut text = format!(
                "For every x in {region}, F(x) is defined and each of its {} coordinates lies within its bounds, \
                 where F is the meaning of the graph with this payload in real arithmetic",
                lower.len()
            );
            for (index, (low, high)) in lower.iter().zip(upper).take(SHOWN).enumerate() {
                let mark = if index == 0 { ':' } else { ',' };
                let _ =
                    write!(text, "{mark} {} ≤ F(x)[{index}] ≤ {}", shown(low, Side::Below), shown(high, Side::Above));
            }
            text + if lower.len() > SHOWN { ", …" } else { "." }
        }
        Subject::Problem { disjuncts, vacuous, .. } => {
            let mut text = String::new();
            if *vacuous {
                text.push_str("VACUOUS: no input of the region satisfies the input rows of any disjunct. ");
            }
            let _ = write!(
                text,
                "For every x in {region}, F(x) is defined and (x, F(x)) lies in none of the {disjuncts} \
                 disjuncts of the unsafe set U, where F is the meaning of the graph with this payload in real arithmetic."
            );
            text
        }
    }
}

/// The region in words; empty where there is none.
fn region(subject: &Subject, side: Side) -> String {
    let Subject::Problem { inputs, ball, rows, .. } = subject else { return String::new() };
    let ball = ball.as_ref().map_or_else(String::new, |(norm, radius)| {
        format!(" in the ball of radius {} in the {}-norm", shown(radius, side), *norm as u8)
    });
    let rows = if *rows == 0 { String::new() } else { format!(" where {rows} linear constraints hold") };
    format!("the box X of {inputs} coordinates{ball}{rows}")
}

fn digests(theorem: &Theorem) -> Vec<(&'static str, String)> {
    match theorem.subject() {
        Subject::Graph { graph, payload, .. } => vec![("graph", graph.to_string()), ("payload", payload.to_string())],
        Subject::Problem { digests, .. } => {
            digests.by_role().into_iter().map(|(role, digest)| (role.name(), digest)).collect()
        }
        Subject::Enclosure { query, answer, .. } => vec![("query", query.to_string()), ("answer", answer.to_string())],
    }
}

/// The stable name of what was shown, and the words for it.
fn part(theorem: &Theorem, part: Part) -> (&'static str, &'static str) {
    match part {
        Part::Shape => ("shape", "every node of the graph has the shape that its operator gives"),
        Part::Binding => ("binding", "the digests were computed from the documents that were checked"),
        Part::Signs => ("signs", "by the signs of all coefficients, functions that rise everywhere and maxima"),
        Part::Coverage => ("coverage", "the leaves of each tree cover the region, for every disjunct"),
        Part::Leaves => ("leaves", "each leaf is closed by a bound that the kernel computed itself"),
        Part::Witness => (
            "witness",
            "the point lies in the region and its outputs, exact or in balls that decide every comparison, in the unsafe set",
        ),
        Part::Domain => ("domain", "every operation is defined on all values of its arguments"),
        Part::Values => ("values", "the range that the kernel computed lies in the ball, exactly compared"),
        Part::Arithmetic => match theorem.binary64() {
            None => ("arithmetic", "exact: integers and rationals, no floating-point unit"),
            Some(_) => (
                "arithmetic",
                "binary64 with every rounding charged to the bound, and exact where that does not suffice (see the counts)",
            ),
        },
    }
}

/// The stable name of what is left to believe, and the words for it.
fn premise<'a>(theorem: &Theorem, premise: Premise<'a>, evidence: Evidence) -> (&'static str, Cow<'a, str>) {
    let compared = evidence == Evidence::Compared;
    let of_nodes = matches!(theorem.subject(), Subject::Problem { claimed: Claimed::Nodes(_), .. });
    let (name, text) = match premise {
        Premise::Model if compared => (
            "model",
            "the graph is the user's model: the ONNX file was imported afresh and gave the same graph and payload; the importer is not trusted code",
        ),
        Premise::Model => ("model", "the graph and the payload are the user's model (give --onnx to compare)"),
        Premise::Query => ("query", "the expressions of the query are those that the user means"),
        Premise::Probes(points) => {
            let text = format!(
                "at {points} points the outputs that the user's model gave in floating point lie as near to those of the graph as rounding \
                 leaves them; the bound on that is not trusted code"
            );
            return ("probes", text.into());
        }
        Premise::Property if compared => {
            ("property", "region and unsafe set are the user's property: the file was read afresh and gave the same")
        }
        // No property file says what values inside the network should be.
        Premise::Property if of_nodes => {
            ("property", "the region and the bounds of the nodes are those that the user means")
        }
        Premise::Property => ("property", "region and unsafe set are the user's property (give --property to compare)"),
        Premise::RealArithmetic => {
            ("real-arithmetic", "the proposition is about real arithmetic: an execution in floating point may differ")
        }
        Premise::OutsideTheGraph => (
            "outside-the-graph",
            "what lies outside the graph (normalisation, quantisation, argmax) is not part of the proposition",
        ),
        Premise::Outside(text) => ("outside", text),
        Premise::NonemptyRegion => {
            ("nonempty-region", "some input lies in the region: if none does, the proposition says nothing")
        }
        Premise::Binary64(product) => {
            let text = format!("IEEE binary64, round to nearest, as compiled; matrix product: {product}");
            return ("binary64", text.into());
        }
        Premise::TrustedBase => {
            ("trusted-base", "the kernel, its dependencies, the compiler and the machine are right (docs/trust.md)")
        }
    };
    (name, text.into())
}

/// The report for people.
pub(crate) fn text(theorem: &Theorem) -> String {
    let mut text = format!("{}\n\n", statement(theorem));
    let _ = writeln!(text, "claim    {}", theorem.claim());
    for (role, digest) in digests(theorem) {
        let _ = writeln!(text, "{role:<8} {digest}");
    }
    let _ = writeln!(text, "\nShown:");
    for (shown, evidence) in theorem.shown() {
        let (name, words) = part(theorem, shown);
        let _ = writeln!(text, "  {:<9} {name}: {words}", Words(&evidence));
    }
    let _ = writeln!(text, "Assumed:");
    for (assumed, evidence) in theorem.premises() {
        let (name, words) = premise(theorem, assumed, evidence);
        let _ = writeln!(text, "  {:<9} {name}: {}", Words(&evidence), Shown(&words));
    }
    if !theorem.counts().is_empty() {
        let counts: Vec<String> = theorem.counts().iter().map(|c| format!("{} {}", c.number, c.name)).collect();
        let _ = writeln!(text, "Counts: {}.", counts.join(", "));
    }
    text
}

/// The members of a report that a theorem has.
pub(crate) fn json(theorem: &Theorem, report: &mut Object) {
    report.string("kind", theorem.kind());
    report.string("proposition", theorem.proposition().name());
    report.string("statement", &statement(theorem));
    report.boolean("vacuous", matches!(theorem.subject(), Subject::Problem { vacuous: true, .. }));
    report.string("claim", &theorem.claim().to_string());
    let mut object = Object::default();
    for (role, digest) in digests(theorem) {
        object.string(role, &digest);
    }
    report.object("digests", object);
    if let Subject::Problem { claimed: Claimed::Bounds((lower, upper)), .. } = theorem.subject() {
        let ends = |(lower, upper)| pair(("lower", lower), ("upper", upper));
        report.array("bounds", lower.iter().zip(upper).map(ends));
    }
    if let Subject::Enclosure { balls, .. } = theorem.subject() {
        report.array("values", balls.iter().map(|ball| pair(("mid", &ball.midpoint), ("rad", &ball.radius))));
    }
    let known = |(name_of, name, evidence, text): (&str, &str, Evidence, &str)| {
        let mut object = Object::default();
        object.string(name_of, name);
        object.string("evidence", &Words(&evidence).to_string());
        object.string("text", text);
        object
    };
    let shown = theorem.shown().into_iter().map(|(shown, evidence)| {
        let (name, text) = part(theorem, shown);
        known(("field", name, evidence, text))
    });
    report.array("evidence", shown);
    let left = theorem.premises().into_iter().map(|(assumed, evidence)| {
        let (name, text) = premise(theorem, assumed, evidence);
        known(("name", name, evidence, &text))
    });
    report.array("assumptions", left);
    let mut counts = Object::default();
    for count in theorem.counts() {
        counts.number(count.name, count.number);
    }
    report.object("counts", counts);
}

/// Two numbers, exactly.
fn pair(first: (&str, &Rational), second: (&str, &Rational)) -> Object {
    let mut object = Object::default();
    for (name, number) in [first, second] {
        object.string(name, &number.to_string());
    }
    object
}
