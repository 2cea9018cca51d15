//! Kind `monotone`: networks whose direction is known by hand.

use certkern_claims::check_document;
use certkern_report::Report;
use certkern_seal::Verdict;
use certkern_wire::limits::Limits;

/// A claim about a network of two inputs; `nodes` are those after the input, the last of which is the output.
fn check(nodes: &[&str]) -> Verdict {
    let nodes: Vec<String> = nodes
        .iter()
        .enumerate()
        .map(|(place, node)| {
            let (kind, rest) = node.split_once(' ').unwrap();
            let place = place + 1;
            let parents = if kind == "const" { String::new() } else { (place - 1).to_string() };
            let parents =
                if rest.contains("\"parents\"") { String::new() } else { format!(r#""parents":[{parents}],"#) };
            format!(r#"{{"id":{place},"kind":"{kind}",{parents}{rest}}}"#)
        })
        .collect();
    let document = format!(
        r#"{{"format":"certkern.monotone.v1","graph":{{"format":"certkern.ir.v1","input_id":0,"output_ids":[{}],
            "nodes":[{{"id":0,"kind":"input","parents":[],"shape":[2]}},{}]}}}}"#,
        nodes.len(),
        nodes.join(",")
    );
    check_document(document.as_bytes(), &Limits::default())
}

const DIFFERENCE: &str = r#"linear "shape":[1],"weight":[["1","-1"]],"bias":["0"]"#;
const NEGATED: &str = r#"neg "shape":[2]"#;

#[test]
fn what_rises_is_accepted() {
    let rises: &[&[&str]] = &[
        // A coefficient that is no binary number, and one that is zero.
        &[r#"linear "shape":[1],"weight":[["1/3","0"]],"bias":["-7"]"#, r#"relu "shape":[1]"#],
        // −relu(−x) = min(x, 0).
        &[NEGATED, r#"relu "shape":[2]"#, NEGATED],
        &[r#"tanh "shape":[2]"#, r#"leaky_relu "shape":[2],"alpha":0"#, r#"exp "shape":[2]"#],
        &[r#"clip "shape":[2],"low":-1,"high":1"#, r#"hard_sigmoid "shape":[2],"alpha":0.25,"beta":0.5"#],
        &[r#"reduce_max "shape":[],"axes":[0],"keepdim":false"#],
        &[r#"const "shape":[2],"values":["3","7"]"#, r#"div "parents":[0,1],"shape":[2]"#],
        // What falls, times zero.
        &[DIFFERENCE, r#"linear "shape":[1],"weight":[["0"]],"bias":["1"]"#],
        // A constant rises as well as it falls.
        &[r#"const "shape":[2],"values":[-1,1]"#, r#"neg "shape":[2]"#],
    ];
    for nodes in rises {
        let verdict = check(nodes);
        assert!(verdict.line().starts_with("s ACCEPTED monotone "), "{nodes:?}: {}", Report::of(&verdict).text());
        assert!(Report::of(&verdict).text().starts_with("For all x ≤ x′ in every coordinate"));
    }
}

#[test]
fn what_falls_or_is_not_known_to_rise_is_refused() {
    // The nodes, and where the refusal lies: the value of the lowered network and its coordinate.
    let refused: &[(&[&str], &str)] = &[
        (
            &[DIFFERENCE],
            "value 1 of the lowered network is not shown to be nondecreasing in every input, at coordinate 0",
        ),
        // The second of two outputs falls.
        (&[r#"linear "shape":[2],"weight":[["1","0"],["0","-1/1000000"]],"bias":["0","0"]"#], "at coordinate 1"),
        (&[NEGATED, r#"relu "shape":[2]"#], "value 2"),
        (&[NEGATED, r#"tanh "shape":[2]"#, NEGATED, NEGATED], "value 4"),
        // x − x/2 rises, but not by the signs of its terms.
        (
            &[
                r#"linear "shape":[2],"weight":[["1/2","0"],["0","1/2"]],"bias":["0","0"]"#,
                r#"sub "parents":[0,1],"shape":[2]"#,
            ],
            "value 2",
        ),
        (&[r#"abs "shape":[2]"#], "value 1"),
        (&[r#"sin "shape":[2]"#], "value 1"),
        (&[r#"leaky_relu "shape":[2],"alpha":-0.01"#], "value 1"),
        (&[r#"elu "shape":[2],"alpha":-0.01"#], "value 1"),
        (&[r#"mul_elem "parents":[0,0],"shape":[2]"#], "value 1"),
        // Not defined everywhere, though it rises where it is.
        (&[r#"sqrt "shape":[2]"#], "value 1"),
        (&[r#"log "shape":[2]"#], "value 1"),
        // The greatest of x and −y.
        (
            &[
                r#"linear "shape":[2],"weight":[["1","0"],["0","-1"]],"bias":["0","0"]"#,
                r#"reduce_max "shape":[],"axes":[0],"keepdim":false"#,
            ],
            "value 2",
        ),
        (&[r#"const "shape":[2],"values":["3","-7"]"#, r#"div "parents":[0,1],"shape":[2]"#], "at coordinate 1"),
        // Dead, but where it is not defined the network is not.
        (&[r#"log "shape":[2]"#, r#"relu "parents":[0],"shape":[2]"#], "value 1"),
    ];
    for (nodes, text) in refused {
        let verdict = check(nodes);
        let said = (verdict.line(), verdict.exit_code());
        assert_eq!(said, ("s REJECTED monotone.unproved".to_owned(), 1), "{nodes:?}: {}", Report::of(&verdict).text());
        assert!(Report::of(&verdict).text().contains(text), "{nodes:?}: {}", Report::of(&verdict).text());
    }
}

#[test]
fn what_is_no_claim_is_refused() {
    let limits = Limits::default();
    let refused = |document: &str, code: &str, path: &str| {
        let Verdict::Rejected(rejection) = check_document(document.as_bytes(), &limits) else { panic!("{document}") };
        let first = rejection.first();
        assert_eq!((first.reason.code().as_str(), first.place.path.as_str()), (code, path), "{document}");
    };
    refused(r#"{"format":"certkern.monotone.v1"}"#, "json.missing-key", "");
    refused(r#"{"format":"certkern.monotone.v1","graph":{},"inputs":[0]}"#, "json.unknown-key", "inputs");
    refused(r#"{"format":"certkern.monotone.v1","graph":[]}"#, "json.type", "graph");
    refused(r#"{"format":"certkern.monotone.v1","graph":{}}"#, "json.missing-key", "graph");
    let graph = r#"{"format":"certkern.ir.v1","input_id":0,"output_ids":[0],"nodes":[{"id":0,"kind":"input","parents":[0],"shape":[1]}]}"#;
    refused(
        &format!(r#"{{"format":"certkern.monotone.v1","graph":{graph}}}"#),
        "graph.parent-order",
        "graph.nodes[0].parents",
    );
}
