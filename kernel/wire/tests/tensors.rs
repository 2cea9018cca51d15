//! The safetensors reader: each trap of the format, real files, typed access.

mod shared;

use certkern_core::tensor::Values;
use certkern_wire::tensors::{Dtype, TensorFile};
use certkern_wire::{Limits, Reason};

/// A file with this header and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn code(bytes: &[u8]) -> String {
    TensorFile::parse(bytes, &Limits::default()).expect_err("a rejection").first().reason.code()
}

const GOOD: &str = r#"{"__metadata__":{"by":"hand"},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#;
const DATA: [u8; 11] = [0, 0, 0xc0, 0x3f, 0, 0, 0, 0x80, 7, 8, 9];

#[test]
fn a_good_file_is_cut_into_its_tensors() {
    let bytes = file(GOOD, &DATA);
    let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap();
    assert_eq!(tensors.names().collect::<Vec<_>>(), ["a", "b"]);
    let a = tensors.take("a").unwrap();
    let floats = a.floats().unwrap();
    assert_eq!((floats.shape(), floats.values()), (&[2, 1][..], &Values::Binary32(vec![0x3fc0_0000, 0x8000_0000])));
    assert_eq!(a.u32s().unwrap_err().reason.code(), "tensors.dtype");
    assert_eq!(a.u8s().unwrap_err().reason.code(), "tensors.dtype");
    assert!(tensors.take("a").is_none());
    let unused = tensors.finish().unwrap_err();
    assert_eq!(unused.first().reason, Reason::TensorsUnused("b".to_owned()));
}

#[test]
fn each_type_is_read_little_endian() {
    let header = r#"{"d":{"dtype":"F64","shape":[],"data_offsets":[0,8]},"n":{"dtype":"F16","shape":[1,0],"data_offsets":[16,16]},"u":{"dtype":"U32","shape":[2],"data_offsets":[8,16]}}"#;
    let data = [&0.1_f64.to_le_bytes()[..], &[1, 2, 0, 0, 255, 255, 255, 255]].concat();
    let bytes = file(header, &data);
    let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap();
    assert_eq!(tensors.take("d").unwrap().floats().unwrap().values(), &Values::Binary64(vec![0.1_f64.to_bits()]));
    assert_eq!(tensors.take("u").unwrap().u32s().unwrap(), [513, u32::MAX]);
    let n = tensors.take("n").unwrap();
    assert_eq!((&n.dtype, n.data.len()), (&Dtype::Other("F16".to_owned()), 0));
    assert_eq!(n.floats().unwrap_err().reason.code(), "tensors.dtype");
    assert!(tensors.finish().is_ok());
}

#[test]
fn nan_and_infinity_are_refused_where_they_stand() {
    let header = r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}"#;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let data = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes(), bad.to_le_bytes()].concat();
        let bytes = file(header, &data);
        let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap();
        let reason = tensors.take("a").unwrap().floats().unwrap_err().reason;
        assert_eq!(reason, Reason::TensorsNotFinite { name: "a".to_owned(), index: 2 });
    }
}

/// Each header differs in one point from one that is accepted.
#[test]
fn traps_of_the_header() {
    let with = |entry: &str| format!("{{\"a\":{entry}}}");
    let good = r#"{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
    assert!(TensorFile::parse(&file(&with(good), &[1, 2]), &Limits::default()).is_ok());
    let entries = [
        (r#"{"dtype":"U8","shape":[3],"data_offsets":[0,2]}"#, "tensors.shape"),
        (r#"{"dtype":"F32","shape":[2],"data_offsets":[0,2]}"#, "tensors.shape"),
        (r#"{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,2]}"#, "limit.elements"),
        (r#"{"dtype":"F64","shape":[1073741824],"data_offsets":[0,2]}"#, "tensors.shape"),
        (r#"{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,2]}"#, "limit.rank"),
        (r#"{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}"#, "json.number"),
        (r#"{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}"#, "json.number"),
        (r#"{"dtype":"U8","shape":2,"data_offsets":[0,2]}"#, "json.type"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[2,0]}"#, "tensors.layout"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[1,3]}"#, "tensors.layout"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[0,18446744073709551615]}"#, "tensors.layout"),
        (r#"{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#, "tensors.layout"),
        (r#"{"dtype":"U8","shape":[1],"data_offsets":[1,2]}"#, "tensors.layout"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[0]}"#, "tensors.header"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[0,2,2]}"#, "tensors.header"),
        (r#"{"dtype":"U9","shape":[2],"data_offsets":[0,2]}"#, "tensors.dtype"),
        (r#"{"dtype":"u8","shape":[2],"data_offsets":[0,2]}"#, "tensors.dtype"),
        (r#"{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":0}"#, "json.unknown-key"),
        (r#"{"dtype":"U8","shape":[2]}"#, "json.missing-key"),
        (r#"{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}"#, "json.duplicate-key"),
        (r#"["U8",[2],[0,2]]"#, "json.type"),
    ];
    for (entry, expected) in entries {
        assert_eq!(code(&file(&with(entry), &[1, 2])), expected, "{entry}");
    }
    let headers = [
        (format!(r#"{{"a":{good},"a":{good}}}"#), "tensors.duplicate"),
        (format!(r#"{{"a":{good},"\u0061":{good}}}"#), "tensors.duplicate"),
        (format!(r#"{{"a":{good},"b":{good}}}"#), "tensors.layout"),
        (format!(r#"{{"__metadata__":[],"a":{good}}}"#), "json.type"),
        (format!(r#"{{"__metadata__":{{"v":1}},"a":{good}}}"#), "json.type"),
        (format!(r#"{{"__metadata__":null,"a":{good}}}"#), "json.type"),
        (format!(" {}", with(good)), "tensors.header"),
        (format!("{} ", with(good)), "tensors.header"),
        (format!("{}\n", with(good)), "tensors.header"),
        (with(good) + "{}", "json.trailing"),
        ("[]".to_owned(), "tensors.header"),
        (String::new(), "tensors.header"),
        ("{\"a\":}".to_owned(), "json.syntax"),
    ];
    for (header, expected) in headers {
        assert_eq!(code(&file(&header, &[1, 2])), expected, "{header}");
    }
}

/// Seven spaces at most, and only those that bring the header to a multiple of eight, as the format's own writers do.
#[test]
fn alignment_spaces_and_no_others() {
    let header = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    for spaces in 0..20 {
        let padded = format!("{header}{}", " ".repeat(spaces));
        let accepted = TensorFile::parse(&file(&padded, &[1, 2]), &Limits::default()).is_ok();
        // 53 bytes: three spaces make 56.
        assert_eq!(accepted, spaces == 0 || spaces == 3, "{spaces}");
    }
}

#[test]
fn traps_of_the_file() {
    let whole = file(GOOD, &DATA);
    assert_eq!(code(&whole[..whole.len() - 1]), "tensors.layout");
    assert_eq!(code(&[&whole[..], &[0]].concat()), "tensors.layout");
    assert_eq!(code(&whole[..7]), "tensors.header");
    assert_eq!(code(&whole[..20]), "tensors.header");
    assert_eq!(code(&[]), "tensors.header");
    assert_eq!(code(&[0xff; 16]), "limit.header-bytes");
    // A hole between two tensors, and an overlap of the same total size.
    let two = |first: &str, second: &str| {
        format!(
            r#"{{"a":{{"dtype":"U8","shape":[2],"data_offsets":{first}}},"b":{{"dtype":"U8","shape":[2],"data_offsets":{second}}}}}"#
        )
    };
    assert!(TensorFile::parse(&file(&two("[2,4]", "[0,2]"), &[0; 4]), &Limits::default()).is_ok());
    assert_eq!(code(&file(&two("[0,2]", "[3,5]"), &[0; 5])), "tensors.layout");
    assert_eq!(code(&file(&two("[0,2]", "[1,3]"), &[0; 3])), "tensors.layout");
    // Empty tensors may stand at any seam, but not inside another or beyond the end.
    let empty = |at: usize| {
        format!(
            r#"{{"a":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}},"e":{{"dtype":"F64","shape":[0],"data_offsets":[{at},{at}]}}}}"#
        )
    };
    let accepted = |at| TensorFile::parse(&file(&empty(at), &[0; 2]), &Limits::default()).is_ok();
    assert_eq!([0, 1, 2, 3].map(accepted), [true, false, true, false]);
    let small = Limits { tensors: 1, ..Limits::default() };
    let fault = TensorFile::parse(&whole, &small).unwrap_err();
    assert_eq!(fault.first().reason.code(), "limit.tensors");
}

#[test]
fn faults_name_tensor_and_byte() {
    let header = r#"{"a":{"dtype":"U8","shape":[2.5],"data_offsets":[0,2]}}"#;
    let bytes = file(header, &[1, 2]);
    let rejection = TensorFile::parse(&bytes, &Limits::default()).unwrap_err();
    let place = &rejection.first().place;
    assert_eq!((&*place.path, place.offset), ("a.shape[0]", Some(8 + header.find("2.5").unwrap())));
}

#[test]
fn real_files_read_to_the_last_tensor() {
    let Some(folder) = shared::folder("abcrown_dumps") else { return };
    let files = shared::files(&folder, "safetensors");
    assert!(files.len() >= 8);
    for path in files {
        let bytes = shared::read(&path);
        let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let names: Vec<String> = tensors.names().map(str::to_owned).collect();
        for name in &names {
            let tensor = tensors.take(name).unwrap();
            // Bounds of unbounded domains are infinite in some of these files.
            let finite = match tensor.dtype {
                Dtype::F32 => tensor.data.chunks(4).all(|b| f32::from_le_bytes(b.try_into().unwrap()).is_finite()),
                Dtype::F64 => tensor.data.chunks(8).all(|b| f64::from_le_bytes(b.try_into().unwrap()).is_finite()),
                _ => false,
            };
            assert_eq!(tensor.floats().is_ok(), finite, "{name}");
        }
        assert!(!names.is_empty() && tensors.finish().is_ok());
    }
}
