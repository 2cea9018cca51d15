//! The end of what a tool writes to standard error.

use std::collections::VecDeque;
use std::fmt;

/// Bytes that are kept.
const MOST: usize = 64 << 10;
/// Lines that are shown, and characters of each.
const LINES: usize = 20;
const WIDTH: usize = 300;

/// The last bytes of a stream of any length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    last: VecDeque<u8>,
    total: u64,
}

impl Tail {
    /// Adds bytes at the end.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len().try_into().unwrap_or(u64::MAX));
        self.last.extend(bytes);
        self.last.drain(..self.last.len().saturating_sub(MOST));
    }

    /// The bytes that are kept, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let (front, back) = self.last.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// How many bytes there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// The last lines, each indented, so that none of them can look like one of ours.
impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() {
            return f.write_str("  its standard error is empty");
        }
        let shown = &lines[lines.len().saturating_sub(LINES)..];
        write!(f, "  its standard error, {} bytes, ends with", self.total)?;
        for line in shown {
            let cut: String = line.chars().take(WIDTH).collect();
            write!(f, "\n    {cut}{}", if cut.len() < line.len() { "…" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_flood_is_kept() {
        let mut tail = Tail::default();
        for _ in 0..100 {
            tail.push(&[b'a'; 1000]);
        }
        tail.push(b"\nlast");
        assert_eq!((tail.total(), tail.text().len()), (100_005, 65_536));
        assert_eq!(
            tail.to_string(),
            format!("  its standard error, 100005 bytes, ends with\n    {}…\n    last", "a".repeat(300))
        );
        assert_eq!(Tail::default().to_string(), "  its standard error is empty");
        let mut tail = Tail::default();
        tail.push("é\ns ACCEPTED\n".repeat(30).as_bytes());
        assert_eq!(tail.to_string().lines().count(), 21);
        assert!(tail.to_string().lines().skip(1).all(|line| line.starts_with("    ")));
    }
}
