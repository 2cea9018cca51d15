//! Reports: the proposition in words, and for each part of it the kind of evidence and the assumptions that are left.

use crate::documents::Claimed;
use crate::json::Object;
use crate::theorem::{Proposition, Subject, Theorem};
use crate::verdict::Verdict;
use certkern_core::num::Rational;
use certkern_wire::reason::Rejection;
use certkern_wire::{Shown, number};
use std::borrow::Cow;
use std::fmt::Write;

/// How a part of a report is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The kernel derived it.
    Proved,
    /// A structural check of the kernel guards it.
    Guarded,
    /// A test agreed.
    Compared,
    /// Another program is believed.
    Delegated,
    /// Nobody checked it.
    Assumed,
}

/// A count of what was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted.
    pub name: &'static str,
    /// How many.
    pub number: usize,
}

/// A part of what was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The part.
    pub field: &'static str,
    /// How it is known.
    pub evidence: Evidence,
    /// In words.
    pub text: String,
}

/// What ties the proposition to the user's system and is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// A stable name.
    pub name: &'static str,
    /// `Assumed`, or `Compared` where a test agreed.
    pub evidence: Evidence,
    /// In words.
    pub text: Cow<'static, str>,
}

/// All that a verdict says, as data; text and JSON are made from it.
#[derive(Debug)]
pub struct Report<'a> {
    verdict: &'a Verdict,
}

impl Evidence {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Guarded => "guarded",
            Self::Compared => "compared",
            Self::Delegated => "delegated",
            Self::Assumed => "assumed",
        }
    }
}

impl<'a> Report<'a> {
    pub(crate) fn new(verdict: &'a Verdict) -> Self {
        Self { verdict }
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        match self.verdict {
            Verdict::Accepted(theorem) => accepted_text(theorem),
            Verdict::Rejected(rejection) => rejected_text(rejection),
        }
    }

    /// The report for scripts: `certkern.report.v1`.
    #[must_use]
    pub fn json(&self) -> String {
        let mut report = Object::default();
        report.string("format", "certkern.report.v1");
        report.string("verdict", self.verdict.name());
        report.string("line", &self.verdict.line());
        report.number("exit_code", usize::from(self.verdict.exit_code()));
        match self.verdict {
            Verdict::Accepted(theorem) => accepted_json(theorem, &mut report),
            Verdict::Rejected(rejection) => rejected_json(rejection, &mut report),
        }
        report.finish()
    }
}

/// The most balls or bounds that a statement shows, rounded; the digest covers all of them exactly.
const SHOWN: usize = 4;

/// A number for people: exactly if that is short.
pub(crate) fn shown(value: &Rational) -> String {
    let exact = value.to_string();
    if exact.len() <= 24 { exact } else { format!("≈{}", number::about(value)) }
}

/// The proposition in words and symbols.
fn statement(theorem: &Theorem) -> String {
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
                let (mark, more) = (if index == 0 { ':' } else { ',' }, number::about(&ball.radius));
                let _ = write!(text, "{mark} |value {index} − ({})| ≤ {more}", number::about(&ball.midpoint));
            }
            text + if balls.len() > SHOWN { ", …" } else { "." }
        }
        Subject::Problem { region, disjuncts, .. } if theorem.proposition() == Proposition::Sat => format!(
            "For some x in {region}, (x, F(x)) lies in one of the {disjuncts} disjuncts of the unsafe set U, \
             where F is the meaning of the graph with this payload in real arithmetic."
        ),
        Subject::Problem { region, claimed: Claimed::Nodes(listed), disjuncts, .. } => {
            let nodes: Vec<String> = listed.iter().take(SHOWN).map(|(id, _)| id.to_string()).collect();
            let more = if listed.len() > SHOWN { ", …" } else { "" };
            format!(
                "For every x in {region}, every value of the graph is defined and those of {} nodes (#[{}{more}]) lie within their {disjuncts} bounds, \
                 where the graph with this payload means real arithmetic.",
                listed.len(),
                nodes.join(", ")
            )
        }
        Subject::Problem { region, claimed: Claimed::Bounds((lower, upper)), .. } => {
            let mut text = format!(
                "For every x in {region}, F(x) is defined and each of its {} coordinates lies within its bounds, \
                 where F is the meaning of the graph with this payload in real arithmetic",
                lower.len()
            );
            for (index, (low, high)) in lower.iter().zip(upper).take(SHOWN).enumerate() {
                let mark = if index == 0 { ':' } else { ',' };
                let _ = write!(text, "{mark} {} ≤ F(x)[{index}] ≤ {}", shown(low), shown(high));
            }
            text + if lower.len() > SHOWN { ", …" } else { "." }
        }
        Subject::Problem { region, disjuncts, vacuous, .. } => {
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

fn digests(theorem: &Theorem) -> Vec<(&'static str, String)> {
    match theorem.subject() {
        Subject::Graph { graph, payload, .. } => vec![("graph", graph.to_string()), ("payload", payload.to_string())],
        Subject::Problem { digests, .. } => {
            digests.by_role().into_iter().map(|(role, digest)| (role.name(), digest)).collect()
        }
        Subject::Enclosure { query, answer, .. } => vec![("query", query.to_string()), ("answer", answer.to_string())],
    }
}

/// What was shown, part by part.
fn items(theorem: &Theorem) -> Vec<Item> {
    let item = |field, evidence, text: &str| Item { field, evidence, text: text.to_owned() };
    let mut items =
        vec![item("binding", Evidence::Guarded, "the digests were computed from the documents that were checked")];
    if theorem.proposition() != Proposition::Enclosure {
        let shape = item("shape", Evidence::Guarded, "every node of the graph has the shape that its operator gives");
        items.insert(0, shape);
    }
    match theorem.proposition() {
        Proposition::WellShaped => {}
        Proposition::Monotone => {
            let text = "by the signs of all coefficients, functions that rise everywhere and maxima";
            items.push(item("signs", Evidence::Proved, text));
        }
        Proposition::Unsat | Proposition::Bound | Proposition::Nodes => {
            items.push(item(
                "coverage",
                Evidence::Proved,
                "the leaves of each tree cover the region, for every disjunct",
            ));
            items.push(item(
                "leaves",
                Evidence::Proved,
                "each leaf is closed by a bound that the kernel computed itself",
            ));
        }
        Proposition::Sat => {
            items.push(item(
                "witness",
                Evidence::Proved,
                "the point lies in the region and its outputs, exact or in balls that decide every comparison, in the unsafe set",
            ));
        }
        Proposition::Enclosure => {
            items.push(item("domain", Evidence::Proved, "every operation is defined on all values of its arguments"));
            items.push(item(
                "values",
                Evidence::Proved,
                "the range that the kernel computed lies in the ball, exactly compared",
            ));
        }
    }
    if theorem.proposition() != Proposition::WellShaped {
        let arithmetic = match theorem.binary64() {
            None => "exact: integers and rationals, no floating-point unit",
            Some(_) => {
                "binary64 with every rounding charged to the bound, and exact where that does not suffice (see the counts)"
            }
        };
        items.push(item("arithmetic", Evidence::Proved, arithmetic));
    }
    items
}

/// What is left to believe.
fn assumptions(theorem: &Theorem) -> Vec<Assumption> {
    let assume = |name, evidence, text: &'static str| Assumption { name, evidence, text: text.into() };
    let model = match theorem.model() {
        Evidence::Compared => {
            "the graph is the user's model: the ONNX file was imported afresh and gave the same graph and payload; the importer is not trusted code"
        }
        _ => "the graph and the payload are the user's model (give --onnx to compare)",
    };
    let mut list = match theorem.subject() {
        Subject::Enclosure { .. } => {
            vec![assume("query", Evidence::Assumed, "the expressions of the query are those that the user means")]
        }
        _ => vec![assume("model", theorem.model(), model)],
    };
    if theorem.probes() > 0 {
        let text = format!(
            "at {} points the outputs that the user's model gave in floating point lie as near to those of the graph as rounding leaves \
             them; the bound on that is not trusted code",
            theorem.probes()
        );
        list.push(Assumption { name: "probes", evidence: Evidence::Compared, text: text.into() });
    }
    if matches!(theorem.subject(), Subject::Problem { .. }) {
        let property = match theorem.specification() {
            Evidence::Compared => {
                "region and unsafe set are the user's property: the file was read afresh and gave the same"
            }
            _ => "region and unsafe set are the user's property (give --property to compare)",
        };
        list.push(assume("property", theorem.specification(), property));
    }
    if !matches!(theorem.proposition(), Proposition::WellShaped | Proposition::Enclosure) {
        list.push(assume(
            "real-arithmetic",
            Evidence::Assumed,
            "the proposition is about real arithmetic: an execution in floating point may differ",
        ));
        list.push(assume(
            "outside-the-graph",
            Evidence::Assumed,
            "what lies outside the graph (normalisation, quantisation, argmax) is not part of the proposition",
        ));
    }
    if let Subject::Problem { nonempty, outside, .. } = theorem.subject() {
        let outside = outside.iter().map(|text| ("outside", Evidence::Assumed, text.clone().into()));
        list.extend(outside.map(|(name, evidence, text)| Assumption { name, evidence, text }));
        if !nonempty {
            let text = "some input lies in the region: if none does, the proposition says nothing";
            list.push(assume("nonempty-region", Evidence::Assumed, text));
        }
    }
    if let Some(product) = theorem.binary64() {
        let text = format!("IEEE binary64, round to nearest, as compiled; matrix product: {product}").into();
        list.push(Assumption { name: "binary64", evidence: Evidence::Assumed, text });
    }
    list.push(assume(
        "trusted-base",
        Evidence::Assumed,
        "the kernel, its dependencies, the compiler and the machine are right (docs/trust.md)",
    ));
    list
}

fn accepted_text(theorem: &Theorem) -> String {
    let mut text = format!("{}\n\n", statement(theorem));
    let _ = writeln!(text, "claim    {}", theorem.claim());
    for (role, digest) in digests(theorem) {
        let _ = writeln!(text, "{role:<8} {digest}");
    }
    let _ = writeln!(text, "\nShown:");
    for item in items(theorem) {
        let _ = writeln!(text, "  {:<9} {}: {}", item.evidence.name(), item.field, item.text);
    }
    let _ = writeln!(text, "Assumed:");
    for assumption in assumptions(theorem) {
        let shown = Shown(&assumption.text);
        let _ = writeln!(text, "  {:<9} {}: {shown}", assumption.evidence.name(), assumption.name);
    }
    if !theorem.counts().is_empty() {
        let counts: Vec<String> = theorem.counts().iter().map(|c| format!("{} {}", c.number, c.name)).collect();
        let _ = writeln!(text, "Counts: {}.", counts.join(", "));
    }
    text
}

fn rejected_text(rejection: &Rejection) -> String {
    let mut text = String::new();
    for fault in rejection.faults() {
        let _ = writeln!(text, "{fault}");
    }
    text
}

fn accepted_json(theorem: &Theorem, report: &mut Object) {
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
        report.array(
            "bounds",
            lower.iter().zip(upper).map(|(lower, upper)| {
                let mut object = Object::default();
                object.string("lower", &lower.to_string());
                object.string("upper", &upper.to_string());
                object
            }),
        );
    }
    if let Subject::Enclosure { balls, .. } = theorem.subject() {
        report.array(
            "values",
            balls.iter().map(|ball| {
                let mut object = Object::default();
                object.string("mid", &ball.midpoint.to_string());
                object.string("rad", &ball.radius.to_string());
                object
            }),
        );
    }
    let evidence = items(theorem).into_iter().map(|item| {
        let mut object = Object::default();
        object.string("field", item.field);
        object.string("evidence", item.evidence.name());
        object.string("text", &item.text);
        object
    });
    report.array("evidence", evidence);
    let left = assumptions(theorem).into_iter().map(|assumption| {
        let mut object = Object::default();
        object.string("name", assumption.name);
        object.string("evidence", assumption.evidence.name());
        object.string("text", &assumption.text);
        object
    });
    report.array("assumptions", left);
    let mut counts = Object::default();
    for count in theorem.counts() {
        counts.number(count.name, count.number);
    }
    report.object("counts", counts);
}

fn rejected_json(rejection: &Rejection, report: &mut Object) {
    report.string("code", &rejection.first().reason.code());
    let faults = rejection.faults().map(|fault| {
        let mut object = Object::default();
        object.string("code", &fault.reason.code());
        if let Some(file) = &fault.place.file {
            object.string("file", file);
        }
        object.string("path", &fault.place.path);
        if let Some(offset) = fault.place.offset {
            object.number("offset", offset);
        }
        object.string("message", &fault.reason.to_string());
        object
    });
    report.array("faults", faults);
}
