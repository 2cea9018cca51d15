//! Byte offsets as lines and columns, and the line at fault for people.

use certkern_wire::Fault;
use std::collections::BTreeMap;

/// Characters that are shown on each side of a fault.
const AROUND: usize = 60;

/// The texts in which faults may lie, by the names that faults use; the empty name is the document itself.
pub(crate) type Texts<'a> = BTreeMap<&'a str, &'a [u8]>;

/// Where a fault lies in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location<'a> {
    /// The name of the text.
    pub(crate) file: &'a str,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
    before: &'a str,
    after: &'a str,
}

impl<'a> Location<'a> {
    /// The location of a fault, if it has an offset in a text that is at hand and is UTF-8 around the fault.
    pub(crate) fn of(fault: &'a Fault, texts: &Texts<'a>) -> Option<Self> {
        let file = fault.place.file.as_deref().unwrap_or_default();
        if file.ends_with(".safetensors") {
            return None;
        }
        let bytes = *texts.get(file)?;
        let (before, after) = bytes.split_at_checked(fault.place.offset?)?;
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let before = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let after = after.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let (before, after) = (std::str::from_utf8(before).ok()?, std::str::from_utf8(after).ok()?);
        Some(Self { file, line, column: before.chars().count() + 1, before, after })
    }

    /// The place, the line and a caret under the column. Lines that quote are indented and controls are replaced, so that no document and no
    /// name can write a verdict line.
    pub(crate) fn text(&self, name: &str) -> String {
        let name: String = name.chars().map(shown).collect();
        let skipped = self.before.chars().count().saturating_sub(AROUND);
        let mut left: String = self.before.chars().skip(skipped).map(shown).collect();
        if skipped > 0 {
            left.insert(0, '…');
        }
        let mut right: String = self.after.trim_end_matches('\r').chars().take(AROUND + 1).map(shown).collect();
        if right.chars().count() > AROUND {
            right.pop();
            right.push('…');
        }
        let caret = " ".repeat(left.chars().count());
        format!("{name}:{}:{}\n  {left}{right}\n  {caret}^\n", self.line, self.column)
    }
}

/// The character, or a replacement for one that could move the cursor of a terminal.
pub(crate) fn shown(c: char) -> char {
    if c.is_control() || is_format(c) { char::REPLACEMENT_CHARACTER } else { c }
}

/// Characters that change how a terminal shows the text around them: separators of lines, marks and overrides of direction.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use certkern_wire::{Place, Reason};

    fn fault(file: Option<&str>, offset: usize) -> Fault {
        let place = Place { file: file.map(str::to_owned), path: String::new(), offset: Some(offset) };
        Fault { reason: Reason::JsonTrailing, place }
    }

    #[test]
    fn offsets_are_lines_and_columns() {
        let text = "{\n  \"é\": 1\n}x".as_bytes();
        let texts = Texts::from([("", text)]);
        let place = |offset| Location::of(&fault(None, offset), &texts).map(|l| (l.line, l.column));
        assert_eq!(place(0), Some((1, 1)));
        assert_eq!(place(1), Some((1, 2)));
        assert_eq!(place(2), Some((2, 1)));
        // `é` is two bytes and one column.
        assert_eq!(place(10), Some((2, 8)));
        assert_eq!(place(13), Some((3, 2)));
        assert_eq!(place(14), Some((3, 3)));
        assert_eq!(place(15), None);
        assert_eq!(Location::of(&fault(Some("other"), 0), &texts), None);
    }

    #[test]
    fn the_line_is_shown_with_a_caret() {
        let texts = Texts::from([("a.json", b"{\n  \"a\" 1\n}".as_slice())]);
        let fault = fault(Some("a.json"), 8);
        let text = Location::of(&fault, &texts).unwrap().text("a.json");
        assert_eq!(text, "a.json:2:7\n    \"a\" 1\n        ^\n");
    }

    #[test]
    fn long_lines_are_cut_and_controls_are_replaced() {
        let long = format!("{}\u{1b}!\u{202e}{}", "a".repeat(100), "b".repeat(100));
        let texts = Texts::from([("", long.as_bytes())]);
        let fault = fault(None, 101);
        let text = Location::of(&fault, &texts).unwrap().text("x");
        let expected =
            format!("x:1:102\n  …{}\u{fffd}!\u{fffd}{}…\n  {}^\n", "a".repeat(59), "b".repeat(58), " ".repeat(61));
        assert_eq!(text, expected);
    }

    #[test]
    fn a_document_cannot_write_a_verdict_line() {
        let texts = Texts::from([("", b"s ACCEPTED unsat 00\r\ns ACCEPTED unsat 00".as_slice())]);
        let fault = fault(None, 21);
        for name in ["x", "x\ns ACCEPTED unsat 00"] {
            let text = Location::of(&fault, &texts).unwrap().text(name);
            assert!(text.lines().count() == 3 && text.lines().all(|line| !line.starts_with("s ")), "{text}");
        }
    }
}
