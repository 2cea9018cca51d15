//! Changes of properties in VNN-LIB.

use super::{Changed, Draw, Way};
use crate::number::{as_decimal, decimal};
use crate::random::Random;

pub(super) fn edit(draw: &mut Draw<'_>, content: &[u8]) -> Option<Changed> {
    let text = std::str::from_utf8(content).ok()?;
    let random = &mut *draw.random;
    match random.below(12) {
        0..=5 => word(text, random),
        6 => {
            let comment = ["; a comment\n", "\n\n", " ", "\t"][random.below(4)];
            let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
            let at = *random.pick(&lines)?;
            Some(("same: comments", format!("{}{comment}{}", &text[..at], &text[at..]).into_bytes(), true))
        }
        7 => foreign(text, draw),
        _ => part(text, random),
    }
}

fn word(text: &str, random: &mut Random) -> Option<Changed> {
    let words: Vec<(usize, &str)> = words(text);
    let (at, word) = *random.pick(&words)?;
    let (family, changed) = if let Some(value) = decimal(word) {
        let way = Way::draw(random);
        (way.family(), as_decimal(&way.exact(&value, random)?)?)
    } else if let Some((side, index)) = word.split_once('_').filter(|(side, _)| ["X", "Y"].contains(side)) {
        let index: usize = index.parse().ok()?;
        let other = if random.one_in(3) { if side == "X" { "Y" } else { "X" } } else { side };
        let moved = if other == side { (index + 1) ^ usize::from(random.one_in(2)) } else { index };
        ("number by one", format!("{other}_{moved}"))
    } else {
        const WORDS: [&str; 10] = ["<=", ">=", "<", ">", "=", "and", "or", "+", "-", "*"];
        ("text", WORDS[random.below(WORDS.len())].to_owned())
    };
    Some((family, format!("{}{changed}{}", &text[..at], &text[at + word.len()..]).into_bytes(), false))
}

fn words(text: &str) -> Vec<(usize, &str)> {
    let stop = |letter: char| letter.is_whitespace() || "()".contains(letter);
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split(stop) {
        if !word.is_empty() {
            words.push((at, word));
        }
        // Every stop is one byte long in what is split.
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    words
}

/// The ranges of what stands in brackets.
fn brackets(text: &str) -> Vec<(usize, usize)> {
    let (mut open, mut ranges) = (Vec::new(), Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open.push(at),
            ')' => ranges.extend(open.pop().map(|from| (from, at + 1))),
            _ => {}
        }
    }
    ranges
}

/// A part in brackets left out, doubled, or exchanged with another.
fn part(text: &str, random: &mut Random) -> Option<Changed> {
    let ranges = brackets(text);
    let (from, to) = *random.pick(&ranges)?;
    let (family, changed) = match random.below(3) {
        0 => ("deletion", format!("{}{}", &text[..from], &text[to..])),
        1 => ("duplication", format!("{}{}{}", &text[..to], &text[from..to], &text[to..])),
        _ => {
            let (other, end) = *random.pick(&ranges)?;
            let ((a, b), (c, d)) = if to <= other { ((from, to), (other, end)) } else { ((other, end), (from, to)) };
            (b <= c).then_some(())?;
            ("order", format!("{}{}{}{}{}", &text[..a], &text[c..d], &text[b..c], &text[a..b], &text[d..]))
        }
    };
    Some((family, changed.into_bytes(), false))
}

/// A part of another property.
fn foreign(text: &str, draw: &mut Draw<'_>) -> Option<Changed> {
    let ranges = brackets(text);
    let (from, to) = *draw.random.pick(&ranges)?;
    let texts: Vec<&str> =
        draw.others.iter().filter_map(|other| std::str::from_utf8(other.files.get("property.vnnlib")?).ok()).collect();
    let other = *draw.random.pick(&texts)?;
    let parts = brackets(other);
    let (a, b) = *draw.random.pick(&parts)?;
    Some(("splice of a value", format!("{}{}{}", &text[..from], &other[a..b], &text[to..]).into_bytes(), false))
}
