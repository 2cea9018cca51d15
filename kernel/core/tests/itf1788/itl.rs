//! A reader of the language of the suite: test cases of assertions `operation argument… = result… [signal name];`.

use std::fmt;
use std::iter::Peekable;
use std::vec::IntoIter;

/// What a result says beside its numbers: how the function goes on the arguments, from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decoration {
    Trv,
    Def,
    Dac,
    Com,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Empty(Option<Decoration>),
    /// Ends, which may be infinite.
    Interval(f64, f64, Option<Decoration>),
    Nai,
    Number(f64),
    Numbers(Vec<f64>),
    Text,
    Word(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub(crate) operation: String,
    pub(crate) arguments: Vec<Value>,
    pub(crate) results: Vec<Value>,
    line: usize,
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, arguments, results, line } = self;
        write!(f, "line {line}: {operation} {arguments:?} = {results:?}")
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text,
    Sign(char),
}

/// The tokens with their lines.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let (mut found, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let (length, token) = if rest.starts_with("/*") {
            (rest.find("*/").unwrap() + 2, None)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), None)
        } else if first == '"' {
            (rest[1..].find('"').unwrap() + 2, Some(Token::Text))
        } else if in_word(first) {
            let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            (length, Some(Token::Word(rest[..length].to_owned())))
        } else {
            (first.len_utf8(), (!first.is_whitespace()).then_some(Token::Sign(first)))
        };
        found.extend(token.map(|token| (line, token)));
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

struct Reader {
    tokens: Peekable<IntoIter<(usize, Token)>>,
}

impl Reader {
    fn next(&mut self) -> Token {
        self.tokens.next().expect("the text ends too early").1
    }

    fn word(&mut self) -> String {
        match self.next() {
            Token::Word(word) => word,
            other => panic!("{other:?} for a word"),
        }
    }

    /// Whether this sign is next; then it is taken.
    fn takes(&mut self, sign: char) -> bool {
        self.tokens.next_if(|(_, token)| *token == Token::Sign(sign)).is_some()
    }

    fn value(&mut self) -> Value {
        match self.next() {
            Token::Text => Value::Text,
            Token::Word(word) => number(&word).map_or(Value::Word(word), Value::Number),
            Token::Sign('{') => {
                let mut numbers = Vec::new();
                while !self.takes('}') {
                    numbers.push(number(&self.word()).unwrap());
                    self.takes(',');
                }
                Value::Numbers(numbers)
            }
            Token::Sign('[') => self.interval(),
            other => panic!("{other:?} for a value"),
        }
    }

    fn interval(&mut self) -> Value {
        let first = self.word();
        let last = if self.takes(',') { Some(self.word()) } else { None };
        assert!(self.takes(']'));
        let decoration = self.tokens.next_if(|(_, token)| matches!(token, Token::Word(word) if word.starts_with('_')));
        let decoration = decoration.map(|(_, token)| match token {
            Token::Word(word) if word == "_trv" => Decoration::Trv,
            Token::Word(word) if word == "_def" => Decoration::Def,
            Token::Word(word) if word == "_dac" => Decoration::Dac,
            Token::Word(word) if word == "_com" => Decoration::Com,
            other => panic!("{other:?} for a decoration"),
        });
        match (first.as_str(), last) {
            ("empty", None) => Value::Empty(decoration),
            ("entire", None) => Value::Interval(f64::NEG_INFINITY, f64::INFINITY, decoration),
            ("nai", None) => Value::Nai,
            (first, Some(last)) => Value::Interval(number(first).unwrap(), number(&last).unwrap(), decoration),
            other => panic!("{other:?} for an interval"),
        }
    }

    /// The assertion that begins with this operation.
    fn assertion(&mut self, line: usize, operation: String) -> Assertion {
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        while !self.takes('=') {
            arguments.push(self.value());
        }
        while !self.takes(';') {
            match self.value() {
                // What it says is in the result, too.
                Value::Word(word) if word == "signal" => drop(self.word()),
                value => results.push(value),
            }
        }
        assert!(!results.is_empty(), "line {line}");
        Assertion { operation, arguments, results, line }
    }
}

/// The assertions of a file in order.
pub(crate) fn assertions(text: &str) -> Vec<Assertion> {
    let mut reader = Reader { tokens: tokens(text).into_iter().peekable() };
    let mut found = Vec::new();
    while let Some((line, token)) = reader.tokens.next() {
        match token {
            Token::Word(word) if word == "testcase" => {
                reader.word();
                assert!(reader.takes('{'), "line {line}");
            }
            Token::Word(operation) => found.push(reader.assertion(line, operation)),
            Token::Sign('}') => {}
            other => panic!("line {line}: {other:?}"),
        }
    }
    found
}

/// A decimal number as the nearest double, a hexadecimal one exactly, an infinity or NaN; `None` for another word.
fn number(word: &str) -> Option<f64> {
    let (negative, size) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let lower = size.to_ascii_lowercase();
    let size = match lower.strip_prefix("0x") {
        Some(digits) => hexadecimal(digits),
        None if lower.starts_with(|c: char| c.is_ascii_digit()) || ["inf", "infinity", "nan"].contains(&&*lower) => {
            lower.parse().ok()?
        }
        None => return None,
    };
    Some(if negative { -size } else { size })
}

/// `h.hhhp±d`, whose value must be a double.
fn hexadecimal(digits: &str) -> f64 {
    let (digits, exponent) = digits.split_once('p').unwrap_or((digits, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - 4 * i32::try_from(fraction.len()).unwrap();
    assert!(mantissa >> mantissa.trailing_zeros().min(63) < 1 << 53, "{digits}");
    // Two steps: the half alone is a double in any case, and the result is one.
    mantissa as f64 * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
}

#[test]
fn a_file_is_read() {
    let text = "/* [1,\n */ testcase a.b_c { // d;\n add [-0x1.8P-1, 2.5]_com [entire]_dac= [empty]_trv;\n b-f \"[1\" = [nai] signal X;}
        testcase e { sum {1.0, -infinity,NaN} = +infinity; overlap [0X0.0000000000001P-1022 ,0x1p1023] [nai] = before 2; }";
    let found = assertions(text);
    let (com, dac, trv) = (Some(Decoration::Com), Some(Decoration::Dac), Some(Decoration::Trv));
    assert_eq!((found[0].operation.as_str(), found[0].line), ("add", 3));
    let entire = Value::Interval(f64::NEG_INFINITY, f64::INFINITY, dac);
    assert_eq!(found[0].arguments, [Value::Interval(-0.75, 2.5, com), entire]);
    assert_eq!(found[0].results, [Value::Empty(trv)]);
    assert_eq!(
        (found[1].operation.as_str(), &found[1].arguments, &found[1].results),
        ("b-f", &vec![Value::Text], &vec![Value::Nai])
    );
    let Value::Numbers(numbers) = &found[2].arguments[0] else { panic!("{}", found[2]) };
    assert!(numbers[0] == 1.0 && numbers[1] == f64::NEG_INFINITY && numbers[2].is_nan());
    assert_eq!(found[2].results, [Value::Number(f64::INFINITY)]);
    let least = f64::from_bits(1);
    assert_eq!(found[3].arguments, [Value::Interval(least, f64::from_bits(0x7fe0_0000_0000_0000), None), Value::Nai]);
    assert_eq!(found[3].results, [Value::Word("before".to_owned()), Value::Number(2.0)]);
    assert_eq!(found.len(), 4);
}
