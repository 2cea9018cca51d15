//! What one version of VNN-LIB has and another has not; the element types of safetensors, with the sizes of its format.

use certkern_wire::Limits;
use certkern_wire::tensors::{Dtype, TensorFile};
use certkern_wire::vnnlib::parse;

#[test]
fn the_first_version_has_no_inequality_sign() {
    let with = |assertion: &str| {
        let head = "(declare-const X_0 Real) (declare-const Y_0 Real) (assert (<= X_0 1)) (assert (>= X_0 -1))";
        parse(format!("{head} (assert {assertion})").as_bytes(), &Limits::default())
    };
    assert!(with("(or (<= Y_0 -1) (>= Y_0 1))").is_ok());
    assert_eq!(with("(!= Y_0 0)").unwrap_err().first().reason.code(), "property.unsupported");
}

#[test]
fn elements_have_the_sizes_of_the_format() {
    let sizes = [
        (1, &["BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"][..]),
        (2, &["I16", "U16", "F16", "BF16"]),
        (4, &["I32", "U32", "F32"]),
        (8, &["I64", "U64", "F64", "C64"]),
    ];
    for (size, names) in sizes {
        for name in names {
            let bytes = |length: usize| {
                let header = format!(r#"{{"a":{{"dtype":"{name}","shape":[1],"data_offsets":[0,{length}]}}}}"#);
                [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; length]].concat()
            };
            let whole = bytes(size);
            let whole = &whole[..];
            let mut tensors = TensorFile::parse(&whole, &Limits::default()).unwrap();
            assert_eq!(tensors.take("a").unwrap().dtype.name(), *name);
            assert!(TensorFile::parse(&&bytes(size + 1)[..], &Limits::default()).is_err(), "{name}");
            assert!(tensors.finish().is_ok(), "{name}");
        }
    }
    assert_eq!(Dtype::Other("I64".to_owned()).name(), "I64");
}
