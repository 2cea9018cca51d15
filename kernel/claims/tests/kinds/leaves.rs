//! Kind `leaves` on a network small enough to be solved by hand: `y = relu(x − 1/4) − relu(−x)` on `x ∈ [−1, 1]`.
//!
//! The pre-activations are `a = x − 1/4 ∈ [−5/4, 3/4]` and `b = −x ∈ [−1, 1]`. The greatest output is `3/4` (at 1), the least `−1` (at −1).

use crate::support::{Array, Bundle, GRAPH, above, f64s, u8s, u32s};
use certkern_report::Report;
use certkern_seal::Verdict;
use certkern_wire::limits::Limits;

fn bundle(property: String) -> Bundle {
    let certificate = r#"{"format":"certkern.leaves.v1","trees":[0]}"#.to_owned();
    Bundle { kind: "leaves", graph: GRAPH.to_owned(), property, certificate, hints: Default::default() }
}

/// The same with one split of pre-activation `a` at 0.
fn split(property: String) -> Bundle {
    bundle(property)
        .hint("tree.offset", u32s(&[0, 3]))
        .hint("tree.kind", u8s(&[1, 0, 0]))
        .hint("tree.node", u32s(&[1, 0, 0]))
        .hint("tree.coordinate", u32s(&[0, 0, 0]))
        .hint("tree.threshold", u32s(&[0, 0, 0]))
        .hint("threshold.value", f64s(&[1], &[0.0]))
}

#[track_caller]
fn line(verdict: &Verdict) -> String {
    let line = verdict.line();
    let words: Vec<&str> = line.split(' ').take(3).collect();
    words.join(" ")
}

#[track_caller]
fn accepted(bundle: &Bundle) {
    let verdict = bundle.check();
    assert!(verdict.line().starts_with("s ACCEPTED unsat "), "{}\n{}", verdict.line(), Report::of(&verdict).text());
    assert_eq!(verdict.exit_code(), 0);
}

#[track_caller]
fn refused(bundle: &Bundle, code: &str) {
    let verdict = bundle.check();
    assert_eq!(line(&verdict), format!("s REJECTED {code}"), "{}", Report::of(&verdict).text());
}

#[test]
fn a_bound_that_holds_is_accepted_and_one_that_is_reached_is_not() {
    // By hand with the default slopes: relu(a) ≤ 3/8·(a + 5/4), relu(b) ≥ 0, so y ≤ 3/8·(x + 1) ≤ 3/4.
    accepted(&bundle(above("0.76")));
    refused(&bundle(above("0.75")), "leaf.unproved");
    accepted(&split(above("0.76")));
    refused(&split(above("0.75")), "leaf.unproved");
}

#[test]
fn an_open_row_that_touches_is_accepted() {
    accepted(&bundle(above("0.75").replace("false", "true")));
    refused(&bundle(above("0.74").replace("false", "true")), "leaf.unproved");
}

#[test]
fn splits_prove_what_the_root_cannot() {
    let property = r#"{"format":"certkern.property.v1","outputs":1,"lower":[-1],"upper":[1],
        "unsafe":[[{"y":{"0":"-1"},"bound":"-1/100","strict":false},{"y":{"0":"1"},"x":{"0":"-1"},"bound":"-1/4","strict":false}]]}"#;
    // On y ≥ 1/100 and y ≤ x − 1/4: x = 1 gives y = 3/4 = x − 1/4: satisfiable, so nothing may accept it.
    refused(&bundle(property.to_owned()), "leaf.unproved");
    refused(&split(property.into()), "leaf.unproved");
    // With y ≤ x − 3/10 it is empty: where a ≥ 0, y = x − 1/4 − relu(−x) = x − 1/4.
    let property = property.replace("\"-1/4\"", "\"-3/10\"");
    refused(&bundle(property.clone()), "leaf.unproved");
    let hinted = split(property)
        .hint("leaf.rows.offset", u32s(&[0, 1, 2]))
        .hint("leaf.rows.index", u32s(&[1, 0]))
        .hint("leaf.rows.multiplier", f64s(&[2], &[1.0, 1.0]));
    // Leaf a ≥ 0: y − x + 3/10 = 1/20 − relu(b), and b = −x ≤ −1/4 there, which a split on x knows and this one does not.
    refused(&hinted, "leaf.unproved");
    let by_input = hinted
        .hint("tree.node", u32s(&[0, 0, 0]))
        .hint("threshold.value", f64s(&[1], &[0.25]))
        .hint("tree.bounds", u32s(&[0, 1, 1]));
    // Leaf x ≤ 1/4: 1/100 − y = 1/100 + relu(b) ≥ 1/100 + s·b, and b ≥ −1/4: closed by s = 0, not by the default s = 1.
    refused(&by_input, "leaf.unproved");
    let slopes = by_input.hint("leaf.2.columns", u32s(&[1])).hint("leaf.2.slope", f64s(&[2, 1], &[0.0, 0.0]));
    accepted(&slopes);
}

#[test]
fn trees_that_are_none_are_malformed() {
    let base = split(above("0.76"));
    refused(&base.clone().hint("tree.offset", u32s(&[0, 2])), "tree.malformed");
    refused(&base.clone().hint("tree.offset", u32s(&[1, 3])), "tree.malformed");
    refused(&base.clone().hint("tree.offset", u32s(&[0, 2, 1, 3])), "tree.malformed");
    refused(&base.clone().hint("tree.kind", u8s(&[0, 0, 0])), "tree.malformed");
    refused(&base.clone().hint("tree.kind", u8s(&[1, 1, 0])), "tree.malformed");
    refused(&base.clone().hint("tree.kind", u8s(&[1, 0, 2])), "tree.malformed");
    refused(&base.clone().hint("tree.bounds", u32s(&[2, 0, 0])), "tree.malformed");
    refused(&base.clone().hint("tree.node", u32s(&[1, 0, 1])), "tree.malformed");
    refused(&base.clone().hint("tree.coordinate", u32s(&[0, 1, 0])), "tree.malformed");
    let flat = |array: Array| Array { shape: vec![1, array.shape[0]], ..array };
    refused(&base.clone().hint("tree.kind", flat(u8s(&[1, 0, 0]))), "tensors.shape");
    refused(&base.clone().hint("tree.node", flat(u32s(&[1, 0, 0]))), "tensors.shape");
    refused(&base.clone().hint("threshold.value", f64s(&[1, 1], &[0.0])), "tensors.shape");
    refused(&base.clone().hint("tree.node", u32s(&[9, 0, 0])), "tree.literal");
    refused(&base.clone().hint("tree.coordinate", u32s(&[2, 0, 0])), "tree.literal");
    refused(&base.clone().hint("tree.threshold", u32s(&[1, 0, 0])), "tree.literal");
    let mut two = base.clone();
    two.certificate = two.certificate.replace("[0]", "[0,0]");
    refused(&two, "tree.malformed");
    let mut other = base;
    other.certificate = other.certificate.replace("[0]", "[1]");
    refused(&other, "tree.malformed");
}

#[test]
fn hints_outside_their_domain_are_named() {
    let slopes = |value: f64| {
        split(above("0.76")).hint("leaf.2.columns", u32s(&[1])).hint("leaf.2.slope", f64s(&[2, 1], &[0.0, value]))
    };
    // On the leaf a ≤ 0: 0.76 − y = 0.76 + relu(b) ≥ 0.76 + s·b ≥ 0.76 − s.
    accepted(&slopes(0.0));
    accepted(&slopes(0.75));
    refused(&slopes(1.0), "leaf.unproved");
    refused(&slopes(1.0000001), "hint.domain");
    refused(&slopes(-1e-30), "hint.domain");
    refused(&slopes(f64::NAN), "hint.domain");
    refused(&slopes(f64::INFINITY), "hint.domain");
    let multiplier = |value: f64| {
        split(above("0.76"))
            .hint("leaf.splits.offset", u32s(&[0, 1, 1]))
            .hint("leaf.splits.depth", u32s(&[0]))
            .hint("leaf.splits.multiplier", f64s(&[1], &[value]))
    };
    accepted(&multiplier(0.0));
    refused(&multiplier(-1e-300), "hint.domain");
    refused(&multiplier(f64::NAN), "hint.domain");
    // In its domain but useless: the bound becomes 1000·(0 − a) + … on the leaf a ≥ 0.
    refused(&multiplier(1000.0), "leaf.unproved");
    refused(&multiplier(0.0).hint("leaf.splits.depth", u32s(&[1])), "hint.shape");
    let set = |value: f64| {
        let mut bundle = bundle(above("0.76"))
            .hint("bounds.0.1.rows", u32s(&[0]))
            .hint("bounds.0.1.2.columns", u32s(&[0]))
            .hint("bounds.0.1.2.lower", f64s(&[1, 1], &[0.5]))
            .hint("bounds.0.1.2.upper", f64s(&[1, 1], &[value]));
        bundle.certificate = r#"{"format":"certkern.leaves.v1","trees":[0],"bounds":["slopes"]}"#.to_owned();
        bundle
    };
    accepted(&set(1.0));
    for outside in [1.5, -0.5, f64::NAN] {
        refused(&set(outside), "hint.domain");
        // x ≥ 1/2: no unit is unstable, and no pass uses the slope.
        let mut settled = set(outside);
        settled.property = settled.property.replace(r#""lower":[-1]"#, r#""lower":[0.5]"#);
        refused(&settled, "hint.domain");
    }
}

#[test]
fn hints_that_fit_nothing_are_refused() {
    let base = split(above("0.76"));
    refused(&base.clone().hint("leaf.1.columns", u32s(&[0])), "hint.shape");
    refused(&base.clone().hint("leaf.2.columns", u32s(&[0])), "tensors.missing");
    let columns = |columns: &[u32]| {
        base.clone().hint("leaf.2.columns", u32s(columns)).hint("leaf.2.slope", f64s(&[2, 2], &[0.0; 4]))
    };
    accepted(&columns(&[0, 1]));
    refused(&columns(&[1, 0]), "hint.shape");
    refused(&columns(&[0, 2]), "hint.shape");
    refused(&columns(&[0]), "tensors.shape");
    refused(&base.clone().hint("leaf.row.offset", u32s(&[0])), "tensors.unused");
    refused(&base.hint("bounds.0.1.rows", u32s(&[0])), "tensors.unused");
}

#[test]
fn the_claim_digest_does_not_depend_on_hints() {
    let (plain, split) = (bundle(above("0.76")).check().line(), split(above("0.76")).check().line());
    assert_eq!(plain, split);
    assert_ne!(plain, bundle(above("0.77")).check().line());
}

#[test]
fn changed_documents_are_unbound() {
    let base = bundle(above("0.76"));
    let edits = [
        ("graph.json", "\"output_ids\":[3]", "\"output_ids\":[2]", "property.widths"),
        ("graph.json", "[1,-1]", "[1,-2]", "bind.payload"),
        ("property.json", "\"upper\":[1]", "\"upper\":[0.5]", "bind.input"),
        ("property.json", "-0.76", "-0.77", "bind.output"),
        ("property.json", "false", "true", "bind.output"),
    ];
    for (file, from, to, code) in edits {
        let mut files = base.files();
        let text = String::from_utf8(files[file].clone()).unwrap();
        assert!(text.contains(from));
        files.insert(file.to_owned(), text.replacen(from, to, 1).into_bytes());
        assert_eq!(line(&crate::support::check(&files)), format!("s REJECTED {code}"), "{file}: {from} to {to}");
    }
    let mut files = base.files();
    let graph = base.graph.replace("{\"id\":2,\"kind\":\"relu\"", "{\"id\":2,\"kind\":\"detach\"");
    files.insert("graph.json".to_owned(), graph.into_bytes());
    assert_eq!(line(&crate::support::check(&files)), "s REJECTED bind.graph");
}

#[test]
fn strange_bundles_are_refused() {
    let base = bundle(above("0.76"));
    for (name, code) in
        [("graph.json", "bundle.file"), ("cert.safetensors", "bundle.file"), ("bundle.json", "bundle.file")]
    {
        let mut files = base.files();
        files.remove(name);
        assert_eq!(line(&crate::support::check(&files)), format!("s REJECTED {code}"));
    }
    let mut files = base.files();
    files.insert("notes.txt".to_owned(), Vec::new());
    assert_eq!(line(&crate::support::check(&files)), "s REJECTED bundle.file");
    let manifest = String::from_utf8(base.files()["bundle.json"].clone()).unwrap();
    for (from, to, code) in [
        ("\"leaves\"", "\"trees\"", "bundle.format"),
        ("bundle.v1", "bundle.v2", "bundle.format"),
        ("cert.safetensors", "cert.json", "bundle.file"),
        ("\"digests\"", "\"digest\"", "json.missing-key"),
        ("\"kind\"", "\"note\":1,\"kind\"", "json.unknown-key"),
        ("\"graph\":\"", "\"graph\":\"Z", "bundle.file"),
        ("\"input\":\"", "\"input\":\"0", "bundle.digest"),
    ] {
        let mut files = base.files();
        files.insert("bundle.json".to_owned(), manifest.replacen(from, to, 1).into_bytes());
        assert_eq!(line(&crate::support::check(&files)), format!("s REJECTED {code}"), "{from} to {to}");
    }
}

#[test]
fn a_tree_shared_by_disjuncts_serves_each_of_them_and_hides_none() {
    let both = |second: &str| {
        format!(
            r#"{{"format":"certkern.property.v1","outputs":1,"lower":[-1],"upper":[1],"unsafe":[
            [{{"y":{{"0":"-1"}},"bound":"-0.76","strict":false}}],[{{"y":{{"0":"1"}},"bound":"{second}","strict":false}}]]}}"#
        )
    };
    let share = |property: String| {
        let mut bundle = split(property);
        bundle.certificate = r#"{"format":"certkern.leaves.v1","trees":[0,0]}"#.to_owned();
        bundle
    };
    // By hand, with relu(b) ≤ (b + 1)/2: y ≥ 3/2·x − 3/4 ≥ −9/4 on the leaf a ≥ 0. And y ≤ −1 is unsafe at x = −1.
    accepted(&share(both("-2.26")));
    refused(&share(both("-2.25")), "leaf.unproved");
    refused(&share(both("-1")), "leaf.unproved");
}

#[test]
fn budgets_of_trees_are_named() {
    let base = split(above("0.76"));
    let line = |limits: &Limits| crate::support::check_within(&base.files(), limits).line();
    assert!(line(&Limits { tree_nodes: 3, ..Limits::default() }).starts_with("s ACCEPTED"));
    assert_eq!(line(&Limits { tree_nodes: 2, ..Limits::default() }), "s LIMIT tree-nodes");
    // A comb of 4096 splits is walked; one of 4097 is refused before any bound is computed.
    let comb = |splits: usize| {
        let kinds: Vec<u8> = (0..splits).map(|_| 1).chain((0..=splits).map(|_| 0)).collect();
        let zeros = vec![0; kinds.len()];
        bundle(above("0.76"))
            .hint("tree.offset", u32s(&[0, kinds.len() as u32]))
            .hint("tree.kind", u8s(&kinds))
            .hint("tree.node", u32s(&zeros))
            .hint("tree.coordinate", u32s(&zeros))
            .hint("tree.threshold", u32s(&zeros))
            .hint("threshold.value", f64s(&[1], &[0.0]))
    };
    accepted(&comb(4096));
    assert_eq!(comb(4097).check().line(), "s LIMIT tree-depth");
}

#[test]
fn a_sum_that_is_too_long_is_a_limit() {
    // Two million and one equal coordinates, summed: one more product than an accumulator holds safely.
    let graph = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[2],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[]},
        {"id":1,"kind":"broadcast_to","parents":[0],"shape":[2097153],"from_shape":[],"to_shape":[2097153]},
        {"id":2,"kind":"sum","parents":[1],"shape":[]}]}"#;
    let long = Bundle { graph: graph.to_owned(), ..bundle(above("1")) };
    let limits = Limits { graph_elements: 1 << 25, ..Limits::default() };
    assert_eq!(crate::support::check_within(&long.files(), &limits).line(), "s LIMIT row-length");
}

#[test]
fn a_deep_tree_on_a_wide_network_is_a_limit() {
    // The widest value has 2 coordinates, the tree one split.
    let base = split(above("0.76"));
    let line = |path_elements| {
        crate::support::check_within(&base.files(), &Limits { path_elements, ..Limits::default() }).line()
    };
    assert!(line(2).starts_with("s ACCEPTED"));
    assert_eq!(line(1), "s LIMIT path-elements");
}

/// y[i, j] = relu(x[i, j]) on [0, 1]^(2×2), where x[0, 1] ≤ 1/4: then y[0, 1] ≤ 1/4, and y[1, 0] may be 1.
#[test]
fn a_property_of_tensors_is_about_the_network_of_its_shapes() {
    let graph = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[1],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[2,2]},{"id":1,"kind":"relu","parents":[0],"shape":[2,2]}]}"#;
    let property = |shape: &str, element: &str| {
        format!(
            "(vnnlib-version <2.0>) (declare-network n (declare-input X Real {shape}) (declare-output Y Real {shape}))
            (assert (and (>= X[0,0] 0) (<= X[0,0] 1) (>= X[0,1] 0) (<= X[0,1] 0.25)
                (>= X[1,0] 0) (<= X[1,0] 1) (>= X[1,1] 0) (<= X[1,1] 1)))
            (assert (>= {element} 0.26))"
        )
    };
    let json = |place: usize| {
        format!(
            r#"{{"format":"certkern.property.v1","outputs":4,"lower":[0,0,0,0],"upper":[1,0.25,1,1],
            "unsafe":[[{},{{"y":{{"{place}":"-1"}},"bound":"-0.26","strict":false}}]]}}"#,
            // The rows of the region stay in the disjunct, each as the document has it.
            [(0, "1"), (1, "0.25"), (2, "1"), (3, "1")].map(|(x, upper)| format!(
                r#"{{"x":{{"{x}":"-1"}},"bound":0,"strict":false}},{{"x":{{"{x}":"1"}},"bound":{upper},"strict":false}}"#
            )).join(",")
        )
    };
    let run = |place: usize, text: String| {
        let base = Bundle { graph: graph.to_owned(), ..bundle(json(place)) };
        let mut files = base.files();
        let manifest = String::from_utf8(files["bundle.json"].clone()).unwrap();
        files.insert("bundle.json".to_owned(), manifest.replace("property.json", "property.vnnlib").into_bytes());
        files.remove("property.json");
        files.insert("property.vnnlib".to_owned(), text.into_bytes());
        line(&crate::support::check(&files)).to_owned()
    };
    assert_eq!(run(1, property("[2,2]", "Y[0,1]")), "s ACCEPTED unsat");
    assert_eq!(run(2, property("[2,2]", "Y[1,0]")), "s REJECTED leaf.unproved");
    assert_eq!(run(2, property("[2,2]", "Y[0,1]")), "s REJECTED bind.output");
    for shape in ["[4]", "[1,4]", "[2,1,2]", "[1,2,2]"] {
        assert_eq!(run(1, property(shape, "Y[0,1]")), "s REJECTED property.shape");
    }
}
