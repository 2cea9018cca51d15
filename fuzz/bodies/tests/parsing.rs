//! What the JSON reader accepts, `serde_json` accepts with the same value: every document of the repository, the JSON test suite, and seeded mutants.

use certkern_fuzz::{TARGETS, counted, line};
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder with this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|own| own == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Documents, and the headers of files of tensors.
fn documents(root: &Path) -> Vec<Vec<u8>> {
    let folders = ["certs", "schemas", "docs"].map(|name| root.join(name));
    let read = |path: PathBuf| fs::read(path).unwrap();
    let mut documents: Vec<Vec<u8>> = folders.iter().flat_map(|folder| files(folder, "json")).map(read).collect();
    for file in files(&root.join("certs"), "safetensors").into_iter().map(read) {
        let length = file.first_chunk::<8>().map_or(0, |length| u64::from_le_bytes(*length));
        documents.extend(
            usize::try_from(length).ok().and_then(|length| Some(file.get(8..length.checked_add(8)?)?.to_vec())),
        );
    }
    documents
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// A document with one part of it, or of another, in another place.
fn mutant(document: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    const PARTS: [&str; 24] = [
        "1.",
        "-0",
        "-0.0",
        "1e5",
        "1E-7",
        "123456789012345678901234567890",
        "0.1",
        "5e-324",
        "1.7976931348623157e308",
        "2.2250738585072011e-308",
        "9007199254740993",
        "\"\\u00e9\"",
        "\"\\ud834\\udd1e\"",
        "\"\\ud800\"",
        "\\n",
        "\"é\"",
        "[]",
        "{}",
        "{\"a\":1,\"a\":2}",
        "null",
        ",",
        "\u{a0}",
        "true",
        "\u{0}",
    ];
    let mut data = document.to_vec();
    let at = random.below(data.len() + 1);
    let end = (at + random.below(6)).min(data.len());
    let from = random.below(other.len() + 1);
    let part = &other[from..(from + random.below(40)).min(other.len())];
    match random.below(5) {
        0 => drop(data.splice(at..end, PARTS[random.below(PARTS.len())].bytes())),
        1 => drop(data.splice(at..end, part.iter().copied())),
        2 => drop(data.drain(at..end)),
        3 => drop(data.splice(at..at, document[at..end].iter().copied())),
        _ => {
            // A number in the place of a number is accepted most often.
            let digits: Vec<usize> = (0..data.len()).filter(|place| data[*place].is_ascii_digit()).collect();
            if !digits.is_empty() {
                let place = digits[random.below(digits.len())];
                let number = PARTS[2 + random.below(9)];
                drop(data.splice(place..=place, number.bytes()));
            }
        }
    }
    data
}

#[test]
fn serde_json_reads_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = TARGETS.iter().find(|target| target.name == "json").unwrap();
    let mut documents = documents(&root);
    let own = documents.len();
    let suite = root.join("../shared/data/jsontestsuite/test_parsing");
    if suite.is_dir() {
        documents.extend(files(&suite, "json").into_iter().map(|path| fs::read(path).unwrap()));
    } else {
        let required = std::env::var("CERTKERN_REQUIRE_SHARED").is_ok_and(|value| value == "1");
        assert!(!required, "../shared is absent");
        println!("SKIPPED: ../shared is absent");
    }
    documents.iter().for_each(|document| target.run(document));
    let accepted = counted("json", "accepted");
    assert!(own > 1500 && accepted > 1500, "{own} documents, {accepted} accepted");
    let mut random = Random(1);
    for place in 0..40_000 {
        let (document, other) = (&documents[place % documents.len()], &documents[random.below(documents.len())]);
        if document.len() < 20_000 {
            target.run(&mutant(document, other, &mut random));
        }
    }
    let mutants = counted("json", "accepted") - accepted;
    println!(
        "{own} documents, {accepted} accepted with those of the suite; {mutants} mutants accepted; {}",
        line("json")
    );
    assert!(mutants > 4000, "{mutants}");
}
