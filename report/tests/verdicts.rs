//! The report and the verdict are one value.

use certkern_graph::Graph;
use certkern_report::Report;
use certkern_seal::{Theorem, Verdict};
use certkern_wire::{Limits, Place, Reason, Rejection};

const GRAPH: &str = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
{"id":0,"kind":"input","parents":[],"shape":[2]},{"id":1,"kind":"linear","parents":[0],"shape":[1],"weight":[[1,2]],"bias":[3]}]}"#;

#[test]
fn a_report_has_the_line_and_the_exit_code_of_its_verdict() {
    let table = [
        (
            Reason::EnclosureUnproved(64),
            r#""verdict":"unproved","line":"s REJECTED enclosure.unproved","exit_code":1,"#,
        ),
        (Reason::JsonTrailing, r#""verdict":"malformed","line":"s REJECTED json.trailing","exit_code":2,"#),
        (Reason::Limit { name: "nodes", limit: 5 }, r#""verdict":"limit","line":"s LIMIT nodes","exit_code":3,"#),
        (Reason::Internal("x"), r#""verdict":"internal","line":"","exit_code":70,"#),
    ];
    for (reason, members) in table {
        let verdict = Verdict::Rejected(Rejection::one(reason, Place::path("a.b")));
        let json = Report::of(&verdict).json();
        assert!(json.contains(members), "{json}");
        assert!(json.contains(r#""path":"a.b""#), "{json}");
        assert!(Report::of(&verdict).text().starts_with("a.b: "));
    }
}

#[test]
fn the_parts_and_assumptions_of_the_theorem_stand_in_both_reports() {
    let graph = Graph::read(GRAPH.as_bytes(), None, &Limits::default()).unwrap();
    let verdict = Verdict::Accepted(Box::new(Theorem::monotone(&graph).unwrap()));
    let (text, json) = (Report::of(&verdict).text(), Report::of(&verdict).json());
    assert!(text.starts_with("For all x ≤ x′ in every coordinate, F(x) and F(x′) are defined"), "{text}");
    let table = [
        ("guarded   shape", r#"{"field":"shape","evidence":"guarded","#),
        ("guarded   binding", r#"{"field":"binding","evidence":"guarded","#),
        ("proved    signs", r#"{"field":"signs","evidence":"proved","#),
        ("proved    arithmetic", r#"{"field":"arithmetic","evidence":"proved","#),
        ("assumed   model", r#"{"name":"model","evidence":"assumed","#),
        ("assumed   real-arithmetic", r#"{"name":"real-arithmetic","evidence":"assumed","#),
        ("assumed   outside-the-graph", r#"{"name":"outside-the-graph","evidence":"assumed","#),
        ("assumed   trusted-base", r#"{"name":"trusted-base","evidence":"assumed","#),
    ];
    for (line, object) in table {
        assert!(text.contains(&format!("\n  {line}: ")), "{line}: {text}");
        assert!(json.contains(object), "{object}: {json}");
    }
    assert_eq!(text.matches("\n  ").count(), table.len(), "{text}");
    assert_eq!(json.matches(r#""evidence":""#).count(), table.len(), "{json}");
}
