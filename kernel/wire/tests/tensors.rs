//! The safetensors reader: each trap of the format, real files, typed access.

mod shared;

use certkern_core::tensor::Values;
use certkern_wire::tensors::{Dtype, Source, TensorFile};
use certkern_wire::{Limits, Reason};
use std::ops::Range;

/// A file with this header and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn code(bytes: &[u8]) -> String {
    TensorFile::parse(&bytes, &Limits::default()).expect_err("a rejection").first().reason.code()
}

fn accepts(bytes: &[u8]) -> bool {
    TensorFile::parse(&bytes, &Limits::default()).is_ok()
}

const GOOD: &str = r#"{"__metadata__":{"by":"hand"},"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#;
const DATA: [u8; 11] = [0, 0, 0xc0, 0x3f, 0, 0, 0, 0x80, 7, 8, 9];

#[test]
fn a_good_file_is_cut_into_its_tensors() {
    let bytes = &file(GOOD, &DATA)[..];
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
    let bytes = &file(header, &data)[..];
    let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap();
    assert_eq!(tensors.take("d").unwrap().floats().unwrap().values(), &Values::Binary64(vec![0.1_f64.to_bits()]));
    assert_eq!(tensors.take("u").unwrap().u32s().unwrap(), [513, u32::MAX]);
    let n = tensors.take("n").unwrap();
    assert_eq!((&n.dtype, &*n.shape), (&Dtype::Other("F16".to_owned()), &[1, 0][..]));
    assert_eq!(n.floats().unwrap_err().reason.code(), "tensors.dtype");
    assert!(tensors.finish().is_ok());
}

#[test]
fn nan_and_infinity_are_refused_where_they_stand() {
    let header = r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}"#;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let data = [1.0_f32.to_le_bytes(), 2.0_f32.to_le_bytes(), bad.to_le_bytes()].concat();
        let bytes = &file(header, &data)[..];
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
    assert!(accepts(&file(&with(good), &[1, 2])));
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
        let accepted = accepts(&file(&padded, &[1, 2]));
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
    assert!(accepts(&file(&two("[2,4]", "[0,2]"), &[0; 4])));
    assert_eq!(code(&file(&two("[0,2]", "[3,5]"), &[0; 5])), "tensors.layout");
    assert_eq!(code(&file(&two("[0,2]", "[1,3]"), &[0; 3])), "tensors.layout");
    // Empty tensors may stand at any seam, but not inside another or beyond the end.
    let empty = |at: usize| {
        format!(
            r#"{{"a":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}},"e":{{"dtype":"F64","shape":[0],"data_offsets":[{at},{at}]}}}}"#
        )
    };
    let accepted = |at| accepts(&file(&empty(at), &[0; 2]));
    assert_eq!([0, 1, 2, 3].map(accepted), [true, false, true, false]);
    let small = Limits { tensors: 1, ..Limits::default() };
    let fault = TensorFile::parse(&whole.as_slice(), &small).unwrap_err();
    assert_eq!(fault.first().reason.code(), "limit.tensors");
}

#[test]
fn faults_name_tensor_and_byte() {
    let header = r#"{"a":{"dtype":"U8","shape":[2.5],"data_offsets":[0,2]}}"#;
    let bytes = &file(header, &[1, 2])[..];
    let rejection = TensorFile::parse(&bytes, &Limits::default()).unwrap_err();
    let place = &rejection.first().place;
    assert_eq!((&*place.path, place.offset), ("a.shape[0]", Some(8 + header.find("2.5").unwrap())));
}

/// What follows the header of a file.
fn data(file: &[u8]) -> &[u8] {
    let (length, rest) = file.split_first_chunk::<8>().unwrap();
    &rest[usize::try_from(u64::from_le_bytes(*length)).unwrap()..]
}

/// Where a tensor lies in the data, by the text of the header.
fn places(file: &[u8], name: &str) -> Range<usize> {
    let header = String::from_utf8_lossy(&file[8..file.len() - data(file).len()]).into_owned();
    let entry = header.split(&format!("\"{name}\":")).nth(1).unwrap();
    let places = entry.split("\"data_offsets\":[").nth(1).unwrap().split(']').next().unwrap();
    let (begin, end) = places.split_once(',').unwrap();
    begin.trim().parse().unwrap()..end.trim().parse().unwrap()
}

#[test]
fn real_files_read_to_the_last_tensor() {
    let Some(folder) = shared::folder("abcrown_dumps") else { return };
    let files = shared::files(&folder, "safetensors");
    assert!(files.len() >= 8);
    for path in files {
        let bytes = &shared::read(&path)[..];
        let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap_or_else(|e| panic!("{path:?}: {e:?}"));
        let names: Vec<String> = tensors.names().map(str::to_owned).collect();
        for name in &names {
            let tensor = tensors.take(name).unwrap();
            let data = &data(bytes)[places(bytes, name)];
            // Bounds of unbounded domains are infinite in some of these files.
            let finite = match tensor.dtype {
                Dtype::F32 => data.chunks(4).all(|b| f32::from_le_bytes(b.try_into().unwrap()).is_finite()),
                Dtype::F64 => data.chunks(8).all(|b| f64::from_le_bytes(b.try_into().unwrap()).is_finite()),
                _ => false,
            };
            assert_eq!(tensor.floats().is_ok(), finite, "{name}");
        }
        assert!(!names.is_empty() && tensors.finish().is_ok());
    }
}

/// A file that tells a length and fails to read beyond another.
struct Cut<'a> {
    bytes: &'a [u8],
    told: usize,
}

impl Source for Cut<'_> {
    fn length(&self) -> u64 {
        u64::try_from(self.told).unwrap()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        self.bytes.read(offset, into)
    }
}

#[test]
fn rows_are_read_alone() {
    let header = r#"{"m":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},"s":{"dtype":"U8","shape":[],"data_offsets":[24,25]}}"#;
    let numbers = [1.0_f32, 2.0, 3.0, 4.0, f32::NAN, 6.0];
    let data = [&numbers.map(f32::to_le_bytes).concat()[..], &[7]].concat();
    let bytes = &file(header, &data)[..];
    let mut tensors = TensorFile::parse(&bytes, &Limits::default()).unwrap();
    let (m, s) = (tensors.take("m").unwrap(), tensors.take("s").unwrap());
    let floats = m.rows(1..2).unwrap().floats().unwrap();
    let bits = Values::Binary32(vec![3.0_f32.to_bits(), 4.0_f32.to_bits()]);
    assert_eq!((floats.shape(), floats.values()), (&[1, 2][..], &bits));
    assert!(m.rows(3..3).unwrap().floats().unwrap().is_empty());
    // The place is that in the whole tensor, however the rows were reached.
    let reason = Reason::TensorsNotFinite { name: "m".to_owned(), index: 4 };
    assert_eq!(m.rows(1..3).unwrap().rows(1..2).unwrap().floats().unwrap_err().reason, reason);
    assert_eq!(m.rows(0..0).unwrap().u32s().unwrap_err().reason.code(), "tensors.dtype");
    for none in [2..4, 4..4, Range { start: 2, end: 1 }] {
        assert_eq!(m.rows(none).unwrap_err().reason.code(), "internal");
    }
    assert_eq!(s.rows(0..0).unwrap_err().reason.code(), "internal");
}

#[test]
fn a_file_that_becomes_shorter_is_a_fault_where_it_is_read() {
    let whole = file(GOOD, &DATA);
    let told = whole.len();
    for length in 0..told {
        let source = Cut { bytes: &whole[..length], told };
        let read = || {
            let mut tensors = TensorFile::parse(&source, &Limits::default())?;
            tensors.take("a").unwrap().floats()?;
            tensors.take("b").unwrap().u8s()?;
            Ok::<_, certkern_wire::Rejection>(())
        };
        let expected = if length < told - DATA.len() { "tensors.header" } else { "tensors.layout" };
        assert_eq!(read().unwrap_err().first().reason.code(), expected, "{length}");
    }
    // A length that is a lie costs nothing: the tensors do not tile it.
    let source = Cut { bytes: &whole, told: usize::MAX };
    let rejection = TensorFile::streamed(&source, &Limits { hint_bytes: usize::MAX, ..Limits::default() }, |_| true);
    assert_eq!(rejection.unwrap_err().first().reason.code(), "tensors.layout");
}

#[test]
fn what_is_read_by_rows_has_a_budget_of_its_own() {
    let header = r#"{"whole":{"dtype":"U8","shape":[1000],"data_offsets":[0,1000]},"rows":{"dtype":"U8","shape":[2000],"data_offsets":[1000,3000]}}"#;
    let bytes = &file(header, &[0; 3000])[..];
    let code = |limits: &Limits, streamed: &str| match TensorFile::streamed(&bytes, limits, |name| name == streamed) {
        Ok(_) => "ok".to_owned(),
        Err(rejection) => rejection.first().reason.code(),
    };
    let limits = Limits { hint_bytes: bytes.len(), bytes: 1000, elements: 1000, ..Limits::default() };
    assert_eq!(code(&limits, "rows"), "ok");
    assert_eq!(code(&limits, "whole"), "limit.elements");
    assert_eq!(code(&Limits { elements: 2000, ..limits.clone() }, "whole"), "limit.bytes");
    assert_eq!(code(&Limits { bytes: 999, ..limits.clone() }, "rows"), "limit.bytes");
    assert_eq!(code(&Limits { hint_bytes: bytes.len() - 1, ..limits }, "rows"), "limit.hint-bytes");
}
