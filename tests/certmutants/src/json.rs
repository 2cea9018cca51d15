//! JSON as it is written: numbers keep their spelling, members their order and their repetitions. It is edited here, and read for what a
//! document states, by other code than the kernel's.

use std::fmt::{self, Display, Write};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As it is spelled.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

use Json::{Bool, List, Null, Number, Object, Text};

/// The places of a value below the root, one number for each level.
pub(crate) type Path = Vec<usize>;

impl Json {
    /// Reads one document; `None` if it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    /// The member of this name; `None` if it is not there or there twice.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Object(members) = self else { return None };
        let mut found = members.iter().filter(|(key, _)| key == name);
        let first = found.next()?;
        found.next().is_none().then_some(&first.1)
    }

    /// The members of an object in which no name stands twice.
    pub(crate) fn members(&self) -> Option<&[(String, Self)]> {
        let Object(members) = self else { return None };
        members.iter().all(|(key, _)| self.get(key).is_some()).then_some(members)
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        if let List(items) = self { Some(items) } else { None }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Text(text) = self { Some(text) } else { None }
    }

    /// A natural number.
    pub(crate) fn natural(&self) -> Option<usize> {
        let Number(text) = self else { return None };
        if text.starts_with('-') || text.contains(['.', '-']) {
            return None;
        }
        let value = crate::number::decimal(text)?;
        value.to_integer().try_into().ok()
    }

    pub(crate) fn naturals(&self) -> Option<Vec<usize>> {
        self.list()?.iter().map(Self::natural).collect()
    }

    /// Sets a member, which is added if it is not there.
    pub(crate) fn set(&mut self, name: &str, value: Self) {
        let Object(members) = self else { return };
        match members.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => members.push((name.to_owned(), value)),
        }
    }

    /// The values right below this one.
    fn children(&self) -> Vec<&Self> {
        match self {
            List(items) => items.iter().collect(),
            Object(members) => members.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// Where the values that satisfy a condition stand, the root included.
    pub(crate) fn places(&self, wanted: impl Fn(&Self) -> bool) -> Vec<Path> {
        let mut open = vec![(Vec::new(), self)];
        let mut found = Vec::new();
        while let Some((path, value)) = open.pop() {
            if wanted(value) {
                found.push(path.clone());
            }
            open.extend(
                value.children().into_iter().enumerate().map(|(place, child)| ([&path[..], &[place]].concat(), child)),
            );
        }
        found
    }

    /// The value at a place.
    pub(crate) fn at(&mut self, path: &[usize]) -> &mut Self {
        path.iter().fold(self, |value, place| match value {
            List(items) => &mut items[*place],
            Object(members) => &mut members[*place].1,
            _ => panic!("no place {place}"),
        })
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

impl Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Null => f.write_str("null"),
            Bool(value) => write!(f, "{value}"),
            Number(text) => f.write_str(text),
            Text(text) => quoted(f, text),
            List(items) => {
                f.write_char('[')?;
                for (place, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Object(members) => {
                f.write_char('{')?;
                for (place, (key, value)) in members.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    quoted(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(f, "\\{letter}")?,
            '\0'..=' ' if letter != ' ' => write!(f, "\\u{:04x}", u32::from(letter))?,
            _ => f.write_char(letter)?,
        }
    }
    f.write_char('"')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// Deeper documents are no statements.
const DEPTH: usize = 200;

impl Reader<'_> {
    fn space(&mut self) {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\n', '\r']);
        self.at = self.text.len() - rest.len();
    }

    fn take(&mut self, expected: &str) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        if depth > DEPTH {
            return None;
        }
        match self.text[self.at..].chars().next()? {
            '{' => self
                .series("{", "}", |reader| {
                    reader.space();
                    let key = reader.string()?;
                    reader.space();
                    reader.take(":").then_some(())?;
                    Some((key, reader.value(depth + 1)?))
                })
                .map(Object),
            '[' => self.series("[", "]", |reader| reader.value(depth + 1)).map(List),
            '"' => self.string().map(Text),
            'n' => self.take("null").then_some(Null),
            't' => self.take("true").then_some(Bool(true)),
            'f' => self.take("false").then_some(Bool(false)),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter));
                let number = &rest[..end.unwrap_or(rest.len())];
                crate::number::parts(number)?;
                self.at += number.len();
                Some(Number(number.to_owned()))
            }
        }
    }

    /// Items between two marks, with commas between them.
    fn series<T>(&mut self, open: &str, close: &str, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.take(open).then_some(())?;
        let mut items = Vec::new();
        self.space();
        if self.take(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            self.space();
            if self.take(close) {
                return Some(items);
            }
            self.take(",").then_some(())?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"").then_some(())?;
        let mut text = String::new();
        loop {
            let letter = self.text[self.at..].chars().next()?;
            self.at += letter.len_utf8();
            match letter {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                '\0'..='\u{1f}' => return None,
                _ => text.push(letter),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let letter = self.text[self.at..].chars().next()?;
        self.at += letter.len_utf8();
        Some(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                let units = if (0xd800..0xdc00).contains(&first) && self.take("\\u") {
                    vec![first, self.unit()?]
                } else {
                    vec![first]
                };
                let mut decoded = char::decode_utf16(units);
                let letter = decoded.next()?.ok()?;
                decoded.next().is_none().then_some(letter)?
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) { u16::from_str_radix(digits, 16).ok() } else { None }
    }
}
