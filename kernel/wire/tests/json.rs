//! The JSON reader: the JSON test suite, places of faults, budgets, typed access.

mod shared;

use certkern_wire::json::{Json, Value, parse};
use certkern_wire::{Limits, Reason};

fn read(text: &str) -> Json<'_> {
    parse(text.as_bytes(), &Limits::default()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

/// Code, path and byte offset of the first fault.
fn fault(bytes: impl AsRef<[u8]>) -> (String, String, Option<usize>) {
    let rejection = parse(bytes.as_ref(), &Limits::default()).expect_err("a rejection");
    let first = rejection.first();
    (first.reason.code(), first.place.path.clone(), first.place.offset)
}

/// Accepted by the suite, refused here: duplicate keys are an error in every document of this project.
const STRICTER: [&str; 2] = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

#[test]
fn json_test_suite() {
    let Some(folder) = shared::folder("jsontestsuite") else { return };
    let mut seen = [0, 0];
    for path in shared::files(&folder, "json") {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = shared::read(&path);
        let result = parse(&text, &Limits::default());
        match name.split_once('_').unwrap().0 {
            "y" if STRICTER.contains(&&*name) => {
                assert_eq!(result.unwrap_err().first().reason.code(), "json.duplicate-key", "{name}");
            }
            "y" => {
                assert!(result.is_ok(), "{name}: {result:?}");
                seen[0] += 1;
            }
            "n" => {
                assert!(result.is_err(), "{name}");
                seen[1] += 1;
            }
            // Free: only that it ends.
            _ => {}
        }
    }
    assert!(seen[0] > 50 && seen[1] > 130, "{seen:?}");
}

#[test]
fn faults_have_code_path_and_offset() {
    let table: [(&[u8], &str, &str, usize); 31] = [
        (b"", "json.syntax", "", 0),
        (b"  ", "json.syntax", "", 2),
        (b"\xef\xbb\xbf{}", "json.encoding", "", 0),
        (b"\"\xff\"", "json.encoding", "", 1),
        (b"{}{}", "json.trailing", "", 2),
        (b"1 // one", "json.trailing", "", 2),
        (b"{\"a\":1,\"a\":2}", "json.duplicate-key", "a", 7),
        (b"{\"n\":[0,{\"b\":1,\"\\u0062\":2}]}", "json.duplicate-key", "n[1].b", 15),
        (
            b"{\"z\":{\"y\":0},\"n\":[{\"a\":[[],1,{}]},{\"a\":{\"z\":0},\"b\":1,\"b\":2}]}",
            "json.duplicate-key",
            "n[1].b",
            53,
        ),
        (b"{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", "json.duplicate-key", "b", 13),
        (b"[1,]", "json.syntax", "[1]", 3),
        (b"{\"a\":1,}", "json.syntax", "", 7),
        (b"{\"nodes\":[{\"shape\":[1,+1]}]}", "json.syntax", "nodes[0].shape[1]", 22),
        (b"[.5]", "json.syntax", "[0]", 1),
        (b"[1.]", "json.syntax", "[0]", 3),
        (b"[01]", "json.syntax", "[0]", 3),
        (b"[NaN]", "json.syntax", "[0]", 1),
        (b"[-Infinity]", "json.syntax", "[0]", 2),
        (b"[1 /* c */]", "json.syntax", "[1]", 3),
        (b"{a:1}", "json.syntax", "", 1),
        (b"{\"a\" 1}", "json.syntax", "a", 5),
        (b"[tru]", "json.syntax", "[0]", 1),
        (b"[\"\x01\"]", "json.syntax", "[0]", 2),
        (b"[\"\\x\"]", "json.syntax", "[0]", 2),
        (b"[\"\\u12g4\"]", "json.syntax", "[0]", 2),
        (b"[\"\\ud800\"]", "json.encoding", "[0]", 2),
        (b"[\"\\udc00\"]", "json.encoding", "[0]", 2),
        (b"[\"\\ud800\\ud800\"]", "json.encoding", "[0]", 2),
        (b"{\"\\ud800\":1}", "json.encoding", "", 2),
        (b"[\"abc", "json.syntax", "[0]", 5),
        (b"[1}", "json.syntax", "[1]", 2),
    ];
    for (bytes, code, path, offset) in table {
        let expected = (code.to_owned(), path.to_owned(), Some(offset));
        assert_eq!(fault(bytes), expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn values_keep_text_place_and_order() {
    let json = read(" {\"b\": [1.50, -0e+1], \"a\": \"\\u00e9\\ud834\\udd1e\\n\\/\", \"c\": [true, null]} ");
    assert_eq!(json.offset, 1);
    let members = json.members("").unwrap();
    assert_eq!(members.iter().map(|(key, _)| &**key).collect::<Vec<_>>(), ["b", "a", "c"]);
    let [first, second] = members[0].1.array("b").unwrap() else { panic!("two items") };
    assert!(matches!(&first.value, Value::Number("1.50")));
    assert!(matches!(&second.value, Value::Number("-0e+1")));
    assert_eq!((first.offset, second.offset), (8, 14));
    assert_eq!(members[1].1.string("a").unwrap(), "é𝄞\n/");
}

#[test]
fn budgets_are_named() {
    let limit = |limits: &Limits, text: &str| parse(text.as_bytes(), limits).unwrap_err().first().reason.code();
    let small = Limits { depth: 3, json_values: 5, json_bytes: 30, digits: 4, exponent: 9, ..Limits::default() };
    assert!(parse(b"[[[1,2]]]", &small).is_ok());
    assert_eq!(limit(&small, "[[[[]]]]"), "limit.json-depth");
    assert_eq!(limit(&small, "[1,2,3,4,5]"), "limit.json-values");
    assert_eq!(limit(&small, "\"0123456789012345678901234567890\""), "limit.json-bytes");
    assert_eq!(limit(&small, "[12345]"), "limit.digits");
    assert_eq!(limit(&small, "[1e10]"), "limit.exponent");
    assert!(parse(b"1e999", &Limits::default()).is_ok());
    assert_eq!(limit(&Limits::default(), "1e1000000000"), "limit.exponent");
    assert_eq!(limit(&Limits::default(), &"[".repeat(100_000)), "limit.json-depth");
}

/// Two hundred thousand levels are read and dropped without recursion where the budget allows them.
#[test]
fn depth_costs_no_stack() {
    let deep = Limits { depth: usize::MAX, ..Limits::default() };
    let n = 200_000;
    let text = format!("{}{}", "[".repeat(n), "]".repeat(n));
    drop(parse(text.as_bytes(), &deep).unwrap());
    let text = format!("{}1{}", "{\"a\":[".repeat(n), "]}".repeat(n));
    drop(parse(text.as_bytes(), &deep).unwrap());
    assert!(parse("[".repeat(n).as_bytes(), &deep).is_err());
}

#[test]
fn typed_access_wants_one_type() {
    let limits = Limits::default();
    for (text, value) in
        [("0", 0), ("7", 7), ("1e2", 100), ("2E+1", 20), ("0e400", 0), ("18446744073709551615", usize::MAX)]
    {
        assert_eq!(read(text).index("p").unwrap(), value, "{text}");
    }
    for text in ["1.0", "-1", "-0", "1e-0", "100e-2", "1.5e1", "18446744073709551616", "1e20", "0.0"] {
        let fault = read(text).index("p").unwrap_err();
        assert_eq!((fault.reason, &*fault.place.path), (Reason::JsonNumber(text.to_owned()), "p"));
    }
    for text in ["\"1\"", "null", "[1]", "true", "{}"] {
        assert_eq!(read(text).index("p").unwrap_err().reason.code(), "json.type");
        assert_eq!(read(text).binary64("p", &limits).unwrap_err().reason.code(), "json.type");
    }
    let reason = read("[]").object("p").err().unwrap().reason;
    assert_eq!(reason, Reason::JsonType { expected: "object", found: "array" });
    assert_eq!(read("0").boolean("p").unwrap_err().reason.code(), "json.type");
    assert_eq!(read("{}").array("p").unwrap_err().reason.code(), "json.type");
    assert_eq!(read("1").string("p").unwrap_err().reason.code(), "json.type");
    assert_eq!(read("null").rational("p", &limits).unwrap_err().reason.code(), "json.type");
    assert_eq!(read("\"x\"").rational("p", &limits).unwrap_err().reason.code(), "json.number");
}

/// Bits as by the standard library, the sign of zero included.
#[test]
fn binary64_is_rounded_once() {
    let limits = Limits::default();
    for text in ["0.1", "-0.1", "-0", "-0.0", "-1e-400", "1e-400", "9007199254740993", "1.7976931348623158e308", "3"] {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(read(text).binary64("p", &limits).unwrap(), expected.to_bits(), "{text}");
    }
    for text in ["1e309", "-1e999", "1.7976931348623159e308"] {
        assert_eq!(read(text).binary64("p", &limits).unwrap_err().reason.code(), "json.number");
    }
}

#[test]
fn unknown_and_missing_fields_are_named() {
    let json = read("{\"a\": 1, \"x\": 2, \"b\": 3, \"y\": {}}");
    let mut fields = json.object("root").unwrap();
    assert_eq!(fields.required("a").unwrap().index("").unwrap(), 1);
    assert!(fields.optional("c").is_none());
    let missing = fields.required("z").unwrap_err();
    assert_eq!((missing.reason, &*missing.place.path), (Reason::JsonMissingKey("z".to_owned()), "root"));
    assert!(fields.optional("b").is_some());
    let faults = fields.finish().unwrap_err();
    let places: Vec<_> = faults.iter().map(|f| (f.reason.code(), &*f.place.path, f.place.offset)).collect();
    let unknown = || "json.unknown-key".to_owned();
    assert_eq!(places, [(unknown(), "root.x", Some(14)), (unknown(), "root.y", Some(30))]);
}
