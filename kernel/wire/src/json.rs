//! JSON (RFC 8259), strictly: one UTF-8 document, no duplicate keys, numbers kept as text, the place of every value.

use crate::fields::element;
use crate::limits::{Limits, within};
use crate::number::Spelling;
use crate::reason::{Fault, Place, Reason, Rejection};
use std::borrow::Cow;
use std::mem::take;

/// A value and where it stands. Its texts lie in the document, and its lists have no spare room: a value and each member of an object take 32 and 24 bytes.
///
/// Dropping it is iterative, so a document of any depth may be dropped.
#[derive(Debug)]
pub struct Json<'a> {
    /// What it is.
    pub value: Value<'a>,
    /// The byte offset where the value starts.
    pub offset: usize,
}

/// A JSON value. The keys of an object are distinct and stand in the order of the document.
#[derive(Debug)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The text of a number, by the grammar and within the budgets `digits` and `exponent`.
    Number(&'a str),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Box<[Json<'a>]>),
    /// An object.
    Object(Box<[Member<'a>]>),
}

/// A member of an object: its key, unescaped, and its value.
pub type Member<'a> = (Cow<'a, str>, Json<'a>);

/// Reads one JSON document.
///
/// # Errors
/// `json.encoding`, `json.syntax`, `json.trailing` or `json.duplicate-key` with path and byte offset, or `limit.json-bytes`,
/// `limit.json-depth`, `limit.json-values`, `limit.digits`, `limit.exponent`.
pub fn parse<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Json<'a>, Rejection> {
    within("json-bytes", bytes.len(), limits.json_bytes.min(limits.bytes))?;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(Fault::at(Reason::JsonEncoding("a byte order mark"), "", 0).into());
    }
    let text =
        std::str::from_utf8(bytes).map_err(|e| Fault::at(Reason::JsonEncoding("not UTF-8"), "", e.valid_up_to()))?;
    let mut reader = Reader {
        text,
        at: 0,
        limits,
        values: 0,
        open: Vec::new(),
        items: Vec::new(),
        members: Vec::new(),
        keys: Vec::new(),
    };
    reader.document().map_err(|(reason, offset)| {
        let path = reader.path();
        Rejection::one(reason, Place { path, offset: Some(offset), ..Place::default() })
    })
}

/// A reason and a byte offset; the path is that of the containers that are open.
type Stop = (Reason, usize);

/// A container that is being read, and how many items or members are complete: they stand last among those of all open containers.
enum Open<'a> {
    Array { offset: usize, items: usize },
    Object { offset: usize, members: usize, key: Option<Cow<'a, str>> },
}

struct Reader<'a, 'l> {
    text: &'a str,
    at: usize,
    limits: &'l Limits,
    values: usize,
    open: Vec<Open<'a>>,
    items: Vec<Json<'a>>,
    members: Vec<Member<'a>>,
    /// Where the keys of the members stand.
    keys: Vec<usize>,
}

impl<'a> Reader<'a, '_> {
    fn document(&mut self) -> Result<Json<'a>, Stop> {
        loop {
            let Some(mut done) = self.begin()? else { continue };
            loop {
                if self.open.is_empty() {
                    return match self.peek() {
                        None => Ok(done),
                        Some(_) => Err((Reason::JsonTrailing, self.at)),
                    };
                }
                match self.end(done)? {
                    Some(closed) => done = closed,
                    None => break,
                }
            }
        }
    }

    /// Reads a value that is complete here, or opens a container that has a first value.
    fn begin(&mut self) -> Result<Option<Json<'a>>, Stop> {
        let first = self.peek();
        let offset = self.at;
        self.values = self.values.saturating_add(1);
        within("json-values", self.values, self.limits.json_values).map_err(|r| (r, offset))?;
        let value = match first {
            Some(b'[') => {
                self.deeper()?;
                if self.next_is(b']') {
                    Value::Array(Box::default())
                } else {
                    self.open.push(Open::Array { offset, items: 0 });
                    return Ok(None);
                }
            }
            Some(b'{') => {
                self.deeper()?;
                if self.next_is(b'}') {
                    Value::Object(Box::default())
                } else {
                    self.open.push(Open::Object { offset, members: 0, key: None });
                    self.key()?;
                    return Ok(None);
                }
            }
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err((Reason::JsonSyntax("expected a value"), offset)),
            None => return Err((Reason::JsonSyntax("the document ends where a value is expected"), offset)),
        };
        Ok(Some(Json { value, offset }))
    }

    /// Puts a complete value into the innermost container, and gives back that container if it ends here.
    fn end(&mut self, done: Json<'a>) -> Result<Option<Json<'a>>, Stop> {
        let in_array = match self.open.last_mut() {
            Some(Open::Array { items, .. }) => {
                *items = items.saturating_add(1);
                self.items.push(done);
                true
            }
            Some(Open::Object { members, key, .. }) => {
                *members = members.saturating_add(1);
                self.members.push((key.take().unwrap_or_default(), done));
                false
            }
            None => return Err((Reason::Internal("a container is open"), self.at)),
        };
        if self.next_is(b',') {
            if !in_array {
                self.key()?;
            }
            return Ok(None);
        }
        let (close, expected) = if in_array { (b']', "expected `,` or `]`") } else { (b'}', "expected `,` or `}`") };
        if !self.next_is(close) {
            return Err((Reason::JsonSyntax(expected), self.at));
        }
        self.distinct()?;
        Ok(self.open.pop().map(|open| match open {
            Open::Array { offset, items } => Json { value: Value::Array(last(&mut self.items, items)), offset },
            Open::Object { offset, members, .. } => {
                last(&mut self.keys, members);
                Json { value: Value::Object(last(&mut self.members, members)), offset }
            }
        }))
    }

    /// Refuses a repeated key of the innermost object.
    fn distinct(&mut self) -> Result<(), Stop> {
        let Some(Open::Object { members, key, .. }) = self.open.last_mut() else { return Ok(()) };
        let both = self.members.iter().rev().zip(self.keys.iter().rev()).take(*members);
        let mut sorted: Vec<(&str, usize)> = both.map(|((key, _), offset)| (&**key, *offset)).collect();
        sorted.sort_unstable();
        let repeated = sorted.windows(2).filter_map(|pair| match pair {
            [(a, _), (b, offset)] if a == b => Some((*offset, *b)),
            _ => None,
        });
        match repeated.min() {
            None => Ok(()),
            Some((offset, name)) => {
                let name = name.to_owned();
                *key = Some(name.clone().into());
                Err((Reason::JsonDuplicateKey(name), offset))
            }
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), Stop> {
        if self.peek() != Some(b'"') {
            return Err((Reason::JsonSyntax("expected a key in double quotes"), self.at));
        }
        let offset = self.at;
        let name = self.string()?;
        if let Some(Open::Object { key, .. }) = self.open.last_mut() {
            self.keys.push(offset);
            *key = Some(name);
        }
        if self.next_is(b':') { Ok(()) } else { Err((Reason::JsonSyntax("expected `:`"), self.at)) }
    }

    /// Steps over an opening bracket.
    fn deeper(&mut self) -> Result<(), Stop> {
        let depth = self.open.len().saturating_add(1);
        within("json-depth", depth, self.limits.depth).map_err(|r| (r, self.at))?;
        self.at = self.at.saturating_add(1);
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Stop> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err((Reason::JsonSyntax("expected a value"), self.at));
        }
        self.at = self.at.saturating_add(word.len());
        Ok(value)
    }

    fn number(&mut self) -> Result<&'a str, Stop> {
        let start = self.at;
        let end = |rest: &[u8]| self.text.len().saturating_sub(rest.len());
        let spelling =
            Spelling::read(self.rest()).map_err(|(expected, rest)| (Reason::JsonSyntax(expected), end(rest)))?;
        spelling.within(self.limits).map_err(|r| (r, start))?;
        let stop = end(spelling.rest);
        self.at = stop;
        self.text.get(start..stop).ok_or((Reason::Internal("digits are characters"), start))
    }

    /// Reads a string, from its opening to its closing quote.
    fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        let mut out = Cow::Borrowed("");
        self.at = self.at.saturating_add(1);
        loop {
            let plain = self.rest().iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..=0x1f)).count();
            let stop = self.at.saturating_add(plain);
            let text = self.text.get(self.at..stop).ok_or((Reason::Internal("quotes are characters"), self.at))?;
            if out.is_empty() {
                out = Cow::Borrowed(text);
            } else {
                out.to_mut().push_str(text);
            }
            self.at = stop;
            match self.rest() {
                [b'"', ..] => {
                    self.at = self.at.saturating_add(1);
                    return Ok(out);
                }
                [b'\\', b'u', ..] => {
                    let c = self.unicode()?;
                    out.to_mut().push(c);
                }
                [b'\\', letter, ..] => {
                    out.to_mut().push(unescaped(*letter).ok_or((Reason::JsonSyntax("unknown escape"), stop))?);
                    self.at = stop.saturating_add(2);
                }
                [] | [b'\\'] => return Err((Reason::JsonSyntax("the document ends inside a string"), stop)),
                _ => return Err((Reason::JsonSyntax("a control character in a string must be escaped"), stop)),
            }
        }
    }

    /// Reads `\uXXXX`, or two of them that are a surrogate pair.
    fn unicode(&mut self) -> Result<char, Stop> {
        let start = self.at;
        let lone = (Reason::JsonEncoding("a lone surrogate"), start);
        let first = self.unit()?;
        let code = match first {
            0xd800..=0xdbff => {
                if !self.rest().starts_with(b"\\u") {
                    return Err(lone);
                }
                let second = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400);
                let Some(low) = second else { return Err(lone) };
                0x1_0000_u32.saturating_add(first.saturating_sub(0xd800) << 10).saturating_add(low)
            }
            _ => first,
        };
        char::from_u32(code).ok_or(lone)
    }

    /// Reads `\uXXXX`.
    fn unit(&mut self) -> Result<u32, Stop> {
        let start = self.at.saturating_add(2);
        let stop = start.saturating_add(4);
        let digits = self.text.as_bytes().get(start..stop).unwrap_or_default();
        let code = digits.iter().try_fold(0_u32, |code, b| Some((code << 4) | char::from(*b).to_digit(16)?));
        match code.filter(|_| digits.len() == 4) {
            Some(code) => {
                self.at = stop;
                Ok(code)
            }
            None => Err((Reason::JsonSyntax("expected four hexadecimal digits"), self.at)),
        }
    }

    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let space = self.rest().iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at = self.at.saturating_add(space);
        self.rest().first().copied()
    }

    /// Steps over white space, and over `byte` if it is next.
    fn next_is(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at = self.at.saturating_add(usize::from(is));
        is
    }

    /// The path to the value that is being read.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match open {
                Open::Array { items, .. } => path.push_str(&element("", *items)),
                Open::Object { key: Some(key), .. } if path.is_empty() => path.push_str(key),
                Open::Object { key: Some(key), .. } => path.extend([".", key]),
                Open::Object { key: None, .. } => {}
            }
        }
        path
    }
}

/// Takes the last `count` items.
fn last<T>(items: &mut Vec<T>, count: usize) -> Box<[T]> {
    items.split_off(items.len().saturating_sub(count)).into()
}

fn unescaped(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

impl<'a> Value<'a> {
    /// Moves the containers directly inside to `out` and drops the rest.
    fn unnest(&mut self, out: &mut Vec<Json<'a>>) {
        let nested = |json: &Json<'_>| matches!(json.value, Value::Array(_) | Value::Object(_));
        match self {
            Self::Array(items) => out.extend(take(items).into_iter().filter(nested)),
            Self::Object(members) => out.extend(take(members).into_iter().map(|(_, json)| json).filter(nested)),
            _ => {}
        }
    }
}

impl Drop for Json<'_> {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        self.value.unnest(&mut pending);
        while let Some(mut json) = pending.pop() {
            json.value.unnest(&mut pending);
        }
    }
}
