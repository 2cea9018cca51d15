//! A small writer of JSON objects.

use std::fmt::Write;

/// A JSON object under way; members stand in the order in which they were added.
#[derive(Default)]
pub(crate) struct Object {
    text: String,
}

impl Object {
    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        quote(key, &mut self.text);
        self.text.push(':');
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        quote(value, &mut self.text);
    }

    pub(crate) fn number(&mut self, key: &str, value: usize) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    pub(crate) fn boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.text.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn object(&mut self, key: &str, value: Self) {
        self.key(key);
        self.text.push_str(&value.finish());
    }

    pub(crate) fn array(&mut self, key: &str, values: impl Iterator<Item = Self>) {
        self.key(key);
        let values: Vec<String> = values.map(Self::finish).collect();
        let _ = write!(self.text, "[{}]", values.join(","));
    }

    pub(crate) fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// Whether a character steers the direction of text, so that a terminal would show something else than it says.
fn steers(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// RFC 8259 section 7: quotation mark, reverse solidus and control characters are escaped; here also what steers text.
fn quote(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if c.is_control() || steers(c) => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut object = Object::default();
        object.string("a\"b", "c\\d\n\u{1}é\u{9b}\u{202e}");
        assert_eq!(object.finish(), "{\"a\\\"b\":\"c\\\\d\\u000a\\u0001é\\u009b\\u202e\"}");
        assert_eq!(Object::default().finish(), "{}");
    }
}
