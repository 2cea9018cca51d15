//! What the JSON reader reads, for comparison with another one.
//!
//! Each line of standard input is a document, its bytes in hexadecimal. Each line of standard output is `refused CODE`, or the value: `null`, `true`,
//! `false`, a number as `p/q` in lowest terms, a string as `"` and its UTF-8 bytes in hexadecimal, `[value,…]`, `{string:value,…}` in the order of the document.

use certkern_wire::Limits;
use certkern_wire::json::{Json, Value, parse};
use std::fmt::Write as _;
use std::io::{BufRead, BufWriter, Error, ErrorKind, Write};

fn main() -> Result<(), Error> {
    let mut output = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let bytes = bytes(&line).ok_or_else(|| Error::new(ErrorKind::InvalidData, "no hexadecimal bytes"))?;
        match parse(&bytes, &Limits::default()) {
            Ok(document) => writeln!(output, "{}", shown(&document))?,
            Err(rejection) => writeln!(output, "refused {}", rejection.first().reason.code())?,
        }
    }
    output.flush()
}

fn bytes(line: &str) -> Option<Vec<u8>> {
    let pairs = line.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

/// Not deeper than the reader reads.
fn shown(json: &Json<'_>) -> String {
    match &json.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(_) => match json.rational("", &Limits::default()) {
            Ok(number) => format!("{}/{}", number.numer(), number.denom()),
            Err(fault) => format!("refused {}", fault.reason.code()),
        },
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{}:{}", quoted(key), shown(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    text.bytes().fold("\"".to_owned(), |mut shown, byte| {
        let _ = write!(shown, "{byte:02x}");
        shown
    })
}
