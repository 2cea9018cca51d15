//! The samples of TorchLean in `../shared`, against the table in `docs/torchlean.md`.

use certkern_claims::{Files, check_bundle, check_document};
use certkern_seal::Verdict;
use certkern_torchlean::{Artifact, Certificate, Given, ImportError, convert};
use certkern_wire::Limits;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table: by the name of a file what it is, what becomes of it, and why.
fn table() -> BTreeMap<String, [String; 3]> {
    let text = fs::read_to_string(root().join("docs/torchlean.md")).unwrap();
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"))
        .filter(|row| row.contains(".json` |"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [name, what, outcome, reason] = cells.as_slice() else { panic!("{row}") };
        (name.trim_end_matches('`').to_owned(), [*what, *outcome, *reason].map(str::to_owned))
    })
    .collect()
}

/// The verdict on a certificate.
fn verdict(certificate: &Certificate) -> Verdict {
    let limits = Limits::default();
    match certificate {
        Certificate::Bundle(bundle) => {
            let files: Files<'_> = bundle.files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
            check_bundle(&files, &limits, &())
        }
        Certificate::Document { bytes, .. } => check_document(bytes, &limits),
    }
}

#[test]
fn every_sample_has_the_outcome_of_its_row() {
    let folder = root().join("../shared/data/torchlean");
    if !folder.is_dir() {
        let required = std::env::var_os("CERTKERN_REQUIRE_SHARED").is_some_and(|value| value == "1");
        assert!(!required, "../shared is absent");
        eprintln!("SKIPPED: ../shared is absent");
        return;
    }
    let mut rows = table();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".json") {
            assert_eq!(name, "INDEX.md");
            continue;
        }
        let [what, outcome, reason] =
            rows.remove(&name).unwrap_or_else(|| panic!("{name} has no row in docs/torchlean.md"));
        let bytes = fs::read(&path).unwrap();
        match convert((&name, &bytes), &Given::default(), &Limits::default()) {
            Ok(imported) => {
                let line = verdict(&imported.certificate).line();
                let proposition = reason.split('`').nth(1).unwrap();
                assert!(line.starts_with(&format!("s ACCEPTED {proposition} ")), "{name}: {line}");
                assert_eq!((imported.artifact.name(), "accepted"), (what.as_str(), outcome.as_str()), "{name}");
            }
            Err(ImportError::NoClaim(artifact)) => {
                let told = (artifact.name(), "refused", artifact.without_claim().unwrap());
                assert_eq!(told, (what.as_str(), outcome.as_str(), reason.as_str()), "{name}");
            }
            Err(error) => {
                assert_eq!((error.to_string(), "refused"), (format!("{what} {reason}"), outcome.as_str()), "{name}");
            }
        }
    }
    assert!(rows.is_empty(), "rows without a sample: {:?}", rows.keys());
}

#[test]
fn the_mlp_sample_holds_for_the_network_that_its_exporter_names() {
    let path = root().join("../shared/data/torchlean/Examples__Verification__LiRPA__mlp_cert.json");
    let Ok(bytes) = fs::read(path) else {
        let required = std::env::var_os("CERTKERN_REQUIRE_SHARED").is_some_and(|value| value == "1");
        assert!(!required, "../shared is absent");
        eprintln!("SKIPPED: ../shared is absent");
        return;
    };
    // 3-4-2 with weights 1 + i + j and 2 + i + j, biases 1 + i and i.
    let graph = r#"{"format":"torchlean.ir.v1","input_id":0,"output_ids":[3],"nodes":[
        {"id":0,"kind":"input","parents":[],"shape":[3]},
        {"id":1,"kind":"linear","parents":[0],"shape":[4],"weight":[[1,2,3],[2,3,4],[3,4,5],[4,5,6]],"bias":[1,2,3,4]},
        {"id":2,"kind":"relu","parents":[1],"shape":[4]},
        {"id":3,"kind":"linear","parents":[2],"shape":[2],"weight":[[2,3,4,5],[3,4,5,6]],"bias":[0,1]}]}"#;
    let check = |graph: &str, bytes: &[u8]| {
        let given = Given { graph: Some(("graph.json", graph.as_bytes())), ..Given::default() };
        let imported = convert(("mlp.json", bytes), &given, &Limits::default()).unwrap();
        assert_eq!(imported.artifact, Artifact::Lirpa);
        verdict(&imported.certificate).line()
    };
    assert!(check(graph, &bytes).starts_with("s ACCEPTED bound "), "{}", check(graph, &bytes));
    // All weights and inputs are positive, so the exact ends are the values at the corners, 230 and 554.
    let inward = String::from_utf8(bytes.clone()).unwrap().replace("554.0000000000007", "553.9999999999999");
    assert_eq!(check(graph, inward.as_bytes()), "s REJECTED leaf.unproved");
    assert_eq!(check(&graph.replace("[2,3,4,5]", "[2,3,4,6]"), &bytes), "s REJECTED leaf.unproved");
}
