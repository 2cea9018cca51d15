//! Digests: values from an independent computation, and what must and must not change them.

use certkern_core::num::{Dyadic, Rational};
use certkern_core::property::{Property, Row, Variable, disjunct};
use certkern_core::tensor::{Tensor, Values};
use certkern_wire::digest::{
    Canonical, ClaimDigest, GraphDigest, claim_digest, input_digest, output_digest, payload_digest,
};
use std::collections::BTreeMap;
use std::sync::Arc;

fn q(p: i64, d: i64) -> Rational {
    Rational::new(p.into(), d.into())
}

fn property() -> Property {
    let row = |terms, bound, strict| Row { terms, bound, strict };
    Property {
        lower: vec![q(-1, 1), q(1, 2)],
        upper: vec![q(1, 1), Dyadic::new(1, 80).to_rational() + q(1, 3)],
        outputs: 2,
        disjuncts: vec![
            disjunct([row(vec![(Variable::X(0), q(1, 1)), (Variable::Y(1), q(-1, 2))], q(0, 1), false)]),
            disjunct([row(vec![(Variable::Y(0), q(3, 1))], q(-1, 4), true), row(vec![], q(1, 1), false)]),
        ],
    }
}

/// The expected values were computed from section 6 of `schemas/SPEC.md` by a few lines of Python: `struct.pack('<Q', n)` for `u64`,
/// `int.to_bytes(…, 'little')` for magnitudes, `fractions.Fraction` for lowest terms, `hashlib.sha256` over the joined bytes.
#[test]
fn digests_are_those_of_the_specification() {
    let weight = Tensor::new(vec![1, 2], Values::Binary32(vec![1.5_f32.to_bits(), (-0.0_f32).to_bits()])).unwrap();
    let bias = Tensor::new(vec![1], Values::Binary64(vec![0.1_f64.to_bits()])).unwrap();
    let values = Tensor::new(vec![], Values::Exact(vec![q(-1, 3)])).unwrap();
    let payload = BTreeMap::from([((10, "values"), &values), ((1, "weight"), &weight), ((1, "bias"), &bias)]);
    assert_eq!(
        payload_digest(&payload).to_string(),
        "faddeed9f60376c89ba7bed1144016b27f511ee63d53768741da2c0898eb571a"
    );
    assert_eq!(
        input_digest(&property()).to_string(),
        "7e7373f4bc760082e77826d695a2a066e837705f2834ebe94f4bf5e5afa81fb7"
    );
    assert_eq!(
        output_digest(&[2], &property()).to_string(),
        "4d844622451149664e5598a411c44eff627c57cd6ea4cd1526e279e13331ad89"
    );
    assert_eq!(
        Canonical::new("certkern/graph/1").graph().to_string(),
        "fc63dfdb2576c844d8049e4237647173d2452bf6661126348270022f7242702d"
    );
    let digests = [[0; 32], [1; 32], [2; 32], [3; 32]];
    assert_eq!(
        claim_digest("leaves", "unsat", &digests.each_ref()).to_string(),
        "c2074ef10016519a28e28bc4ced95629ce863e48d995f656d03390cb0293939b"
    );
}

/// Every single change of meaning changes the digest of its role.
#[test]
fn digests_see_every_part() {
    let (input, output) = (input_digest(&property()), output_digest(&[2], &property()));
    type Change = (fn(&mut Property), bool);
    let changes: [Change; 9] = [
        (|p| p.lower[0] = q(-2, 1), true),
        (|p| p.upper[1] = q(3, 1), true),
        (|p| p.lower.swap(0, 1), true),
        (|p| p.outputs = 3, false),
        (|p| p.disjuncts.swap(0, 1), false),
        (|p| p.disjuncts[1].swap(0, 1), false),
        (|p| Arc::make_mut(&mut p.disjuncts[0][0]).terms[0] = (Variable::X(1), q(1, 1)), false),
        (|p| Arc::make_mut(&mut p.disjuncts[0][0]).strict = true, false),
        (|p| Arc::make_mut(&mut p.disjuncts[1][1]).bound = q(-1, 1), false),
    ];
    for (change, in_region) in changes {
        let mut other = property();
        change(&mut other);
        assert_eq!((input_digest(&other) != input, output_digest(&[2], &other) != output), (in_region, !in_region));
    }
    assert_ne!(output_digest(&[1], &property()), output);
    // Moving a row to the other disjunct keeps all rows and their order, but not the lists.
    let mut other = property();
    let row = other.disjuncts[1].remove(0);
    other.disjuncts[0].push(row);
    assert_ne!(output_digest(&[2], &other), output);
}

#[test]
fn digests_are_read_from_lower_case_hexadecimal_only() {
    let text = "00ff".repeat(16);
    assert_eq!(ClaimDigest::parse(&text).unwrap().to_string(), text);
    assert_eq!(&GraphDigest::parse(&text).unwrap().bytes()[..2], [0, 255]);
    for bad in [
        "",
        "00",
        &"00fF".repeat(16),
        &text[1..],
        &format!("{text}0"),
        &"0x".repeat(32),
        &"é".repeat(32),
        &"+f".repeat(32),
    ] {
        assert_eq!(ClaimDigest::parse(bad).unwrap_err().code(), "bundle.digest", "{bad}");
    }
}

#[test]
fn the_digest_of_a_region_tells_its_forms_apart() {
    let limits = certkern_wire::Limits::default();
    let forms = [
        r#"{"lo": [-1, -1], "hi": [1, 1]}"#,
        r#"{"ball": "l1", "center": [0, 0], "radius": 1}"#,
        r#"{"ball": "l2", "center": [0, 0], "radius": 1}"#,
        r#"{"ball": "l2", "center": [0, 0], "radius": 2}"#,
        r#"{"ball": "l2", "center": [0, 1], "radius": 1}"#,
        r#"{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 0], "rhs": 0}]}"#,
        r#"{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [0, 1], "rhs": 0}]}"#,
        r#"{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 0], "rhs": 1}]}"#,
        r#"{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [0, 0], "rhs": 0}]}"#,
        r#"{"lo": [-1, -1], "hi": [1, 1], "constraints": [{"row": [1, 0], "rhs": 0}, {"row": [0, 1], "rhs": 0}]}"#,
        r#"{"ball": "l1", "center": [0, 0], "radius": 1, "constraints": [{"row": [1, 0], "rhs": 0}]}"#,
    ];
    let of = |text: &str| {
        let ((lower, upper), within) = certkern_wire::region::parse(text.as_bytes(), &limits).unwrap();
        let property = Property { lower, upper, outputs: 0, disjuncts: Vec::new() };
        certkern_wire::digest::region_digest(&property, &within).to_string()
    };
    let digests: std::collections::BTreeSet<String> = forms.iter().map(|text| of(text)).collect();
    assert_eq!(digests.len(), forms.len());
    // Spelling is no part of it, and no constraint at all is the box.
    assert_eq!(of(forms[0]), of(r#"{"hi": [1, "0x1p0"], "lo": ["-1", -1], "dim": 2, "constraints": []}"#));
    assert_eq!(of(forms[0]), of(r#"{"center": [0, 0], "eps": "1"}"#));
    assert_eq!(of(forms[2]), of(r#"{"radius": "2/2", "center": [0, 0.0], "ball": "l2", "dim": 2}"#));
}
