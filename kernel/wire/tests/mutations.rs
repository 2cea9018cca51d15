//! Arbitrary and mutated bytes: every reader ends with a value or a rejection, every rejection has a text, and what is accepted keeps
//! its promises.

mod shared;

use certkern_core::property::Property;
use certkern_wire::digest::{input_digest, output_digest};
use certkern_wire::tensors::TensorFile;
use certkern_wire::{Limits, Rejection, json, property, vnnlib};
use shared::Random;

const ROUNDS: usize = 4000;

/// One to four edits: a byte changed, removed, doubled, or a piece of the document copied elsewhere.
fn mutated(random: &mut Random, seed: &[u8], pieces: &[&str]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.next() as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 => {
                let from = random.below(bytes.len() + 1);
                let piece = bytes[from.min(at)..from.max(at)].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => bytes.truncate(at),
            _ => drop(bytes.splice(at..at, pieces[random.below(pieces.len())].bytes())),
        }
    }
    bytes
}

/// Runs `read` on random and on mutated bytes; gives how many were accepted and how many refused.
fn hammer(
    seed: u64,
    documents: &[&[u8]],
    pieces: &[&str],
    mut read: impl FnMut(&[u8]) -> Result<(), Rejection>,
) -> (usize, usize) {
    let mut random = Random(seed);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let bytes = if round % 8 == 0 {
            (0..random.below(64)).map(|_| random.next() as u8).collect()
        } else {
            mutated(&mut random, documents[round % documents.len()], pieces)
        };
        match read(&bytes) {
            Ok(()) => accepted += 1,
            Err(rejection) => {
                refused += 1;
                assert!(rejection.faults().all(|fault| fault.reason.code() != "internal"), "{rejection:?}");
                for offset in rejection.faults().filter_map(|fault| fault.place.offset) {
                    assert!(offset <= bytes.len());
                }
            }
        }
    }
    (accepted, refused)
}

fn small() -> Limits {
    Limits { depth: 16, json_values: 4000, digits: 300, exponent: 300, disjuncts: 200, rows: 2000, ..Limits::default() }
}

/// What a property must be, whoever wrote it.
fn sound(property: &Property) {
    assert!(
        property.lower.len() == property.upper.len() && !property.lower.is_empty() && !property.disjuncts.is_empty()
    );
    assert!(property.lower.iter().zip(&property.upper).all(|(low, high)| low <= high));
    for row in property.disjuncts.iter().flatten() {
        assert!(row.terms.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(row.terms.iter().all(|(_, c)| *c.numer() != 0.into()));
    }
    assert_ne!(input_digest(property).to_string(), output_digest(&[], property).to_string());
}

#[test]
fn json_never_panics() {
    let documents: [&[u8]; 3] = [
        br#"{"format":"torchlean.ir.v1","nodes":[{"id":0,"shape":[1,4]},{"id":1,"parents":[0],"x":-1.5e-3}],"a":[[],{}]}"#,
        b"[\"\\u00e9\\ud834\\udd1e\\n\", true, false, null, 0, -0.0e+10]",
        "{\"é\":{\"é\":[{\"a\":1,\"b\":[2,[3,[4]]]}]}}".as_bytes(),
    ];
    let pieces = ["\"", "\\", "{", "}", "[", "]", ",", ":", "1e", "\\ud800", "\u{feff}", "é", "00", "\"a\":1,"];
    let (accepted, refused) = hammer(1, &documents, &pieces, |bytes| json::parse(bytes, &small()).map(drop));
    assert!(accepted > 50 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn tensors_never_panic() {
    let header = r#"{"__metadata__":{"a":"b"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}"#;
    let document = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 11]].concat();
    let pieces = ["0", "1", "9", "{", "}", " ", "\"a\":", "F64", "[", "]", "18446744073709551615"];
    let (accepted, refused) = hammer(2, &[&document], &pieces, |bytes| {
        // Half of the time the length is put right, so that the mutation of the header is reached.
        let mut bytes = bytes.to_vec();
        if let Some(end) = bytes.windows(2).rposition(|pair| pair == b"}}")
            && bytes.len() % 2 == 0
            && end >= 8
        {
            bytes[..8].copy_from_slice(&(end as u64 - 6).to_le_bytes());
        }
        let bytes = bytes.as_slice();
        let mut tensors = TensorFile::parse(&bytes, &small())?;
        let names: Vec<String> = tensors.names().map(str::to_owned).collect();
        for name in names {
            let tensor = tensors.take(&name).unwrap();
            let elements: usize = tensor.shape.iter().product();
            for length in
                [tensor.u8s().map(|u| u.len()), tensor.u32s().map(|u| u.len()), tensor.floats().map(|f| f.len())]
            {
                assert_eq!(length.unwrap_or(elements), elements);
            }
        }
        tensors.finish()
    });
    assert!(accepted > 10 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn vnnlib_never_panics() {
    let documents: [&[u8]; 2] = [
        b"(declare-const X_0 Real)(declare-const Y_0 Real)(assert (and (<= X_0 1) (>= X_0 -1)))(assert (or (<= Y_0 1) (>= Y_0 2)))",
        b"(declare-const X_0 Real)\n(declare-const Y_0 Real) ; c\n(assert (<= X_0 (* 2 0.5)))(assert (= (- X_0) (+ 1 1e-1)))",
    ];
    let pieces =
        ["(", ")", "(assert ", "(or ", "(and ", "(- ", "(* ", "X_0", " 1e9 ", ";", "\n", " 1 ", "=", "(<= X_0 0)", "-"];
    let (accepted, refused) = hammer(3, &documents, &pieces, |bytes| vnnlib::parse(bytes, &small()).map(|p| sound(&p)));
    assert!(accepted > 50 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn property_never_panics() {
    let document: &[u8] = br#"{"format":"certkern.property.v1","outputs":2,"lower":["-1",0.5],"upper":[1,"2/3"],"unsafe":[[{"x":{"0":"1"},"y":{"1":"0x1p-1"},"bound":0,"strict":false}],[]]}"#;
    let pieces = ["0", "1", "\"0\":1,", "[],", "/", "-", "1e", "[", "]", "{", "}", "\"", "0x"];
    let (accepted, refused) =
        hammer(4, &[document], &pieces, |bytes| property::parse(bytes, &small()).map(|p| sound(&p)));
    assert!(accepted > 5 && refused > 1000, "{accepted} {refused}");
}
