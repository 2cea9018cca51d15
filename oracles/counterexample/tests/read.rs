//! What is read as a counterexample, and what is refused with which words.

use certkern_core::num::Rational;
use certkern_counterexample::{Counterexample, Entry};
use certkern_wire::Limits;

fn read(text: &str) -> Result<Counterexample<'_>, String> {
    Counterexample::read(text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())
}

fn rational(p: i64, q: i64) -> Rational {
    Rational::new(p.into(), q.into())
}

fn values(entries: &[Entry]) -> Vec<Rational> {
    entries.iter().map(|entry| entry.value.clone()).collect()
}

#[track_caller]
fn refuses(text: &str, message: &str) {
    let error = read(text).unwrap_err();
    assert!(error.contains(message), "{text:?}: {error}");
}

#[test]
fn texts_of_many_tools() {
    let x = [rational(-29, 100), rational(1, 1000), rational(3, 16)];
    let y = [rational(5, 2)];
    for text in [
        "((X_0 -0.29)\n(X_1 1e-3)\n(X_2 0.1875)\n(Y_0 2.5))",
        "((X_0 -0.29) (X_1 1e-03) (X_2 0.1875) (Y_0 2.5))\n",
        "sat\n((X_0  -0.29)\n (X_1  1E-3)\n (X_2 1875e-4)\n (Y_0 25e-1))\n\n",
        "sat\r\n(\t(X_0 -29/100)\r\n(X_1 1/1000)(X_2 0x1.8p-3)( Y_0 0x5p-1 )\r\n)\r\n",
        "((X_0 -0.29) (X_1 1e-3) (X_2 0.1875) (Y_0 2.5)\n",
        "((Y_0 2.50)(X_2 0.18750)(X_1 0.001)(X_0 -0.290))",
        r#"{"format": "certkern.counterexample.v1", "x": [-0.29, "1e-3", "0x1.8p-3"], "y": ["5/2"]}"#,
        "\n{\"y\": [2.5],\n \"x\": [-29e-2, 0.001, \"3/16\"], \"format\": \"certkern.counterexample.v1\"}\n",
    ] {
        let read = read(text).unwrap();
        assert_eq!(values(read.x()), x, "{text:?}");
        assert_eq!(values(read.y().unwrap()), y, "{text:?}");
        read.fit(3, 1).unwrap();
    }
}

#[test]
fn outputs_may_be_absent() {
    for text in ["((X_0 1))", r#"{"format": "certkern.counterexample.v1", "x": [1]}"#] {
        let read = read(text).unwrap();
        assert_eq!((values(read.x()), read.y()), (vec![rational(1, 1)], None));
        read.fit(1, 7).unwrap();
    }
}

/// 0.1 is a tenth, and not the binary64 number beside it.
#[test]
fn numbers_are_exact() {
    let tenth = read("((X_0 0.1) (X_1 0x1.999999999999ap-4))").unwrap();
    assert_eq!(tenth.x()[0].value, rational(1, 10));
    assert_eq!(tenth.x()[1].value, rational(0x0019_9999_9999_999a, 1 << 56));
    assert_ne!(tenth.x()[0].value, tenth.x()[1].value);
}

#[test]
fn broken_texts() {
    for (text, message) in [
        ("", "the file is empty"),
        (" \n\t", "the file is empty"),
        ("unsat", "line 1, column 1: the file begins with `unsat`"),
        ("timeout\n", "the file begins with `timeout`"),
        ("sat", "line 1, column 4: the text ends where `(` should follow; the file is cut off"),
        ("((X_0 1)\n(X_1 2", "line 2, column 7: the text ends where `)` should follow"),
        ("((X_0 1)\n(X_1", "the text ends where a number should follow"),
        ("((X_0 1)\n(", "the text ends where a variable should follow"),
        ("((X_0 1)) x", "line 1, column 11: expected the end of the file, found `x`"),
        ("((X_0 1)))", "line 1, column 10: expected the end of the file, found `)`"),
        ("((X_0 1 2))", "line 1, column 9: expected `)`, found `2`"),
        ("(X_0 1)", "line 1, column 2: expected `(` or `)`, found `X_0`"),
        ("((X_0 (- 1)))", "line 1, column 7: expected a number, found `(`"),
        ("((X_0))", "line 1, column 6: expected a number, found `)`"),
        ("((Z_0 1))", "line 1, column 3: `Z_0` is no variable"),
        ("((x_0 1))", "`x_0` is no variable"),
        ("((X_00 1))", "`X_00` is no variable"),
        ("((X_01 1))", "`X_01` is no variable"),
        ("((X_ 1))", "`X_` is no variable"),
        ("((X_+1 1))", "`X_+1` is no variable"),
        ("((X_99999999999999999999999 1))", "is no variable"),
    ] {
        refuses(text, message);
    }
}

#[test]
fn variables_stand_once_and_without_gaps() {
    refuses("((X_0 1)\n (X_1 2)\n (X_0 1))", "line 3, column 3: X_0 is given twice, first in line 1, column 3");
    refuses("((X_0 1) (Y_0 2) (Y_0 2))", "line 1, column 19: Y_0 is given twice");
    refuses("((X_0 1)\n(X_2 2))", "line 2, column 2: X_1 is missing before this one");
    refuses("((X_1 1))", "line 1, column 3: X_0 is missing");
    refuses("((X_0 1) (Y_1 2))", "line 1, column 11: Y_0 is missing");
    // An index costs no memory.
    refuses("((X_0 1) (X_9999999999999 1))", "X_1 is missing");
}

#[test]
fn what_is_no_number() {
    for text in ["NaN", "nan", "inf", "-inf", "Infinity", "-NAN"] {
        refuses(&format!("((X_0 1)\n(X_1 {text}))"), &format!("line 2, column 6: X_1 is `{text}`, which is no point"));
    }
    for text in ["1.", ".5", "+1", "1e", "01", "1,5", "0x1.8", "1/0", "1/-2", "true", "--1", "1_000", "½"] {
        refuses(&format!("((X_0 {text}))"), &format!("line 1, column 7: X_0 is `{text}`, which is not a number"));
    }
    refuses("((X_0 1e999999999))", "line 1, column 7: the number of X_0: the budget `exponent`");
    refuses(&format!("((X_0 {}))", "1".repeat(5000)), "the number of X_0: the budget `digits`");
}

#[test]
fn broken_documents() {
    let document = |rest: &str| format!("{{\"format\": \"certkern.counterexample.v1\",\n {rest}}}");
    for (rest, message) in [
        (r#""y": [1]"#, "missing field `x`"),
        (r#""x": [1], "z": [1]"#, "line 2, column 17: z: unknown field `z`"),
        (r#""x": [1], "x": [1]"#, "the key `x` stands twice"),
        (r#""x": 1"#, "line 2, column 7: x: expected array, found number"),
        (r#""x": [1, null]"#, "line 2, column 11: X_1 is `null`, which is not a number"),
        (r#""x": [1, [2]]"#, "X_1 is `[…]`, which is not a number"),
        (r#""x": [1], "y": ["NaN"]"#, "line 2, column 18: Y_0 is `NaN`, which is no point"),
        (r#""x": [1, NaN]"#, "line 2, column 11: x[1]: not JSON"),
        (r#""x": ["1e-3x"]"#, "X_0 is `1e-3x`, which is not a number"),
        (r#""x": [1"#, "not JSON"),
    ] {
        refuses(&document(rest), message);
    }
    refuses(
        r#"{"format": "certkern.witness.v1", "x": [1]}"#,
        "line 1, column 12: format: `certkern.witness.v1` is not known here (expected `certkern.counterexample.v1`)",
    );
    refuses("{", "not JSON");
    refuses("[1]", "the file begins with `[1]`");
    let bytes = Counterexample::read(b"((X_0 1)\n \xff)", &Limits::default()).unwrap_err();
    assert_eq!(bytes.to_string(), "line 2, column 2: not UTF-8 text; write plain text without a byte order mark");
    refuses("\u{feff}((X_0 1))", "the file begins with");
}

#[test]
fn another_network_has_other_counts() {
    let text = "((X_0 1)\n(X_1 2)\n(X_2 3)\n(Y_0 4)\n(Y_1 5))";
    let fit = |inputs, outputs| read(text).unwrap().fit(inputs, outputs).map_err(|error| error.to_string());
    assert_eq!(fit(3, 2), Ok(()));
    // Of the outputs some tools leave out the last.
    assert_eq!(fit(3, 3), Ok(()));
    let cases = [
        (
            fit(2, 2),
            "line 3, column 2: wrong_input_count 3/2: 3 input variables are given and the network has 2 inputs",
        ),
        (fit(4, 2), "wrong_input_count 3/4: 3 input variables are given and the network has 4 inputs"),
        (fit(3, 1), "line 5, column 2: wrong_output_count 2/1: 2 output variables are given"),
    ];
    for (fit, message) in cases {
        let error = fit.unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
    assert!(read("()").unwrap().fit(1, 1).unwrap_err().to_string().starts_with("wrong_input_count 0/1"));
}

/// Every prefix and every text with one byte changed is read or refused, and never a panic; what is cut off is never another point.
#[test]
fn cut_off_and_altered_files() {
    let text = "sat\n((X_0 -0.29)\n (X_1 1e-3)\n (Y_0 0x1.8p-3))";
    let whole = read(text).unwrap().point();
    let mut read_as_whole = 0;
    for end in 0..text.len() {
        let prefix = Counterexample::read(&text.as_bytes()[..end], &Limits::default());
        if let Ok(prefix) = prefix.and_then(|read| read.fit(2, 1).map(|()| read)) {
            assert_eq!(prefix.point(), whole, "{end}");
            read_as_whole += 1;
        }
    }
    // After `(X_1 1e-3)`, the line and the space that follow it, and after the last but one parenthesis.
    assert_eq!(read_as_whole, 4);
    for place in 0..text.len() {
        for byte in [b'(', b')', b' ', b'X', b'0', b'\n', b'{', 0, 0xff] {
            let mut bytes = text.as_bytes().to_vec();
            bytes[place] = byte;
            if let Ok(read) = Counterexample::read(&bytes, &Limits::default()) {
                let _ = read.fit(2, 1);
            }
        }
    }
}
