//! What a campaign came to, in text.

use crate::campaign::{Case, Kept, Outcome, Result};
use crate::mutate::FAMILIES;
use crate::statement::{Body, Problem, Row, Statement};
use crate::truth::Standing;
use std::fmt::Write;

/// Everything but what somebody should look at.
pub(crate) fn table(result: &Result) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} mutants, {} of them with new digests; {:.0} s checking, {:.0} s judging",
        result.mutants,
        result.sealed,
        result.checking.as_secs_f64(),
        result.judging.as_secs_f64()
    );
    let standings = [
        (Standing::Same, "the claim of the case, digest for digest"),
        (Standing::Follows, "a claim that follows from it by comparing numbers"),
        (Standing::Near, "a claim so near to it that the room which that has suffices"),
        (Standing::Proved, "another claim, proved or evaluated apart"),
        (Standing::Sampled, "another claim, of which no proof was found apart"),
        (Standing::False, "A FALSE CLAIM"),
    ];
    for (standing, what) in standings {
        let _ =
            writeln!(text, "{:>8} accepted: {what}", result.number(|outcome| *outcome == Outcome::Accepted(standing)));
    }
    let others = [
        (result.number(|outcome| *outcome == Outcome::Misnamed), "accepted under another name than the documents have"),
        (result.number(|outcome| *outcome == Outcome::Unread), "accepted, and not read apart"),
        (
            result.number(|outcome| matches!(outcome, Outcome::RefusedSame(_))),
            "refused, although the same in other words",
        ),
        (result.number(|outcome| *outcome == Outcome::Panicked), "panics"),
        (result.number(|outcome| *outcome == Outcome::Endless), "given up after two minutes"),
        (result.number(|outcome| matches!(outcome, Outcome::Refused(_))), "refused"),
    ];
    for (count, what) in others {
        let _ = writeln!(text, "{count:>8} {what}");
    }
    let _ = writeln!(text, "\n{:<28} {:>10} {:>10}", "refused with", "as they are", "new digests");
    let mut codes: Vec<&String> = result.outcomes.keys().filter_map(|(_, outcome)| code(outcome)).collect();
    codes.sort();
    codes.dedup();
    for name in codes {
        let count = |sealed| -> usize {
            let own =
                result.outcomes.iter().filter(|((own, outcome), _)| *own == sealed && code(outcome) == Some(name));
            own.map(|(_, count)| count).sum()
        };
        let _ = writeln!(text, "{name:<28} {:>10} {:>10}", count(false), count(true));
    }
    let _ = writeln!(text, "\n{:<28} {:>10} {:>10}", "edit", "mutants", "accepted");
    for family in FAMILIES {
        let [count, accepted] = result.families.get(family).copied().unwrap_or_default();
        let _ = writeln!(text, "{family:<28} {count:>10} {accepted:>10}");
    }
    let _ = writeln!(text, "\n{:<40} {:>10} {:>10}", "case", "mutants", "accepted, another claim");
    for (case, [count, accepted]) in &result.cases {
        let _ = writeln!(text, "{case:<40} {count:>10} {accepted:>10}");
    }
    if let Some(slowest) = &result.slowest {
        let _ = writeln!(text, "\nslowest: {:.2} s, {}", slowest.seconds, line(slowest));
    }
    text
}

fn code(outcome: &Outcome) -> Option<&String> {
    match outcome {
        Outcome::Refused(code) | Outcome::RefusedSame(code) => Some(code),
        _ => None,
    }
}

/// A mutant in one line.
pub(crate) fn line(kept: &Kept) -> String {
    let sealed = if kept.sealed { ", new digests" } else { "" };
    format!("{:?}: {} draw {}: {}{sealed}", kept.outcome, kept.case, kept.draw, kept.families)
}

/// What the claim of a mutant states otherwise than that of its case, so that a person can judge it.
pub(crate) fn difference(kept: &Kept, cases: &[Case]) -> String {
    let original = cases.iter().find(|case| case.name == kept.case).map(|case| &case.statement);
    let (Some(original), Some(mutant)) = (original, Statement::read(&kept.bundle)) else { return String::new() };
    let (Body::Problem(old), Body::Problem(new)) = (&original.body, &mutant.body) else {
        return format!("  from {:?}\n  to   {:?}", original.body, mutant.body).chars().take(2000).collect();
    };
    problems(old, new)
}

fn problems(old: &Problem, new: &Problem) -> String {
    let mut text = String::new();
    for (id, (a, b)) in old.net.nodes.iter().zip(&new.net.nodes).enumerate() {
        if a.kind != b.kind || a.parents != b.parents || a.shape != b.shape || a.attributes != b.attributes {
            let _ = writeln!(
                text,
                "  node {id}: {} {:?} {:?} {:?} -> {} {:?} {:?} {:?}",
                a.kind, a.parents, a.shape, a.attributes, b.kind, b.parents, b.shape, b.attributes
            );
        }
        for ((field, a), (_, b)) in a.payload.iter().zip(&b.payload) {
            let changed = a.values.iter().zip(&b.values).enumerate().filter(|(_, (a, b))| a != b);
            for (place, (a, b)) in changed.take(4) {
                let _ = writeln!(text, "  node {id}: {field}[{place}] {a:e} -> {b:e}");
            }
        }
    }
    if old.net.nodes.len() != new.net.nodes.len() || old.about != new.about {
        let _ = writeln!(
            text,
            "  {} nodes, about {:?} -> {} nodes, about {:?}",
            old.net.nodes.len(),
            old.about,
            new.net.nodes.len(),
            new.about
        );
    }
    if old.region != new.region {
        for (place, (a, b)) in
            old.region.ends.iter().zip(&new.region.ends).enumerate().filter(|(_, (a, b))| a != b).take(4)
        {
            let _ = writeln!(text, "  x{place}: [{}, {}] -> [{}, {}]", a.0, a.1, b.0, b.1);
        }
        if old.region.ball != new.region.ball || old.region.constraints != new.region.constraints {
            let _ = writeln!(
                text,
                "  {:?} {:?} -> {:?} {:?}",
                old.region.ball, old.region.constraints, new.region.ball, new.region.constraints
            );
        }
    }
    let shown = |rows: &[Row]| {
        let term = |((output, index), c): &((bool, usize), crate::number::Rational)| {
            format!("{c}*{}{index}", if *output { "y" } else { "x" })
        };
        let row = |row: &Row| {
            format!(
                "{} {} {}",
                row.terms.iter().map(term).collect::<Vec<_>>().join(" + "),
                if row.strict { "<" } else { "<=" },
                row.bound
            )
        };
        rows.iter().map(row).collect::<Vec<_>>().join(" and ")
    };
    for (place, (a, b)) in old.disjuncts.iter().zip(&new.disjuncts).enumerate().filter(|(_, (a, b))| a != b).take(3) {
        let cut = |text: String| text.chars().take(300).collect::<String>();
        let _ = writeln!(text, "  disjunct {place}: {} -> {}", cut(shown(a)), cut(shown(b)));
    }
    if old.disjuncts.len() != new.disjuncts.len() {
        let _ = writeln!(text, "  {} disjuncts -> {}", old.disjuncts.len(), new.disjuncts.len());
    }
    text
}
