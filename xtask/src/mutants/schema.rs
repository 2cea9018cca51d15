//! A file in which many changes stand at once: the body of each function is written once for every change to it, behind a switch.
//!
//! Functions are found by their lines, as rustfmt writes them: one ends with the first line of its indentation that closes it. The entries
//! `name: |…| …` of declarations, which lie in no function, are found likewise.

use super::listing::Mutant;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

/// The variable that names the change, by its number; 0, or none, is no change.
pub(super) const VARIABLE: &str = "CERTKERN_MUTANT";

/// A number at which every place with a switch ends the process.
pub(super) const ALARM: usize = 999_999;

/// A number at which every place is noted, with the thread that comes there, in the file that the other variable names. Libtest calls the
/// thread of a test by its name.
pub(super) const NOTING: usize = 999_998;
pub(super) const NOTES: &str = "CERTKERN_MUTANT_NOTES";

/// What the root of each package that is changed has at its end. A place has the number of its first change.
pub(super) const SWITCH: &str = r#"
pub(crate) fn chosen_mutant(place: u32) -> u32 {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = *CHOSEN.get_or_init(|| std::env::var("CERTKERN_MUTANT").map_or(0, |text| text.parse().unwrap_or(0)));
    match chosen {
        999_998 => note_place(place),
        999_999 => std::process::abort(),
        _ => {}
    }
    chosen
}

#[cold]
fn note_place(place: u32) {
    use std::io::Write;
    std::thread_local! {
        static SEEN: std::cell::RefCell<std::collections::BTreeSet<u32>> = const { std::cell::RefCell::new(std::collections::BTreeSet::new()) };
    }
    if SEEN.try_with(|seen| seen.borrow_mut().insert(place)) != Ok(false) {
        let line = format!("{place} {}\n", std::thread::current().name().unwrap_or_default());
        let path = std::env::var("CERTKERN_MUTANT_NOTES").expect("it is set");
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.expect("it can be opened").write_all(line.as_bytes()).expect("it can be written");
    }
}
"#;

/// A file with changes behind switches.
pub(super) struct Schema {
    pub(super) text: String,
    /// Lines, counted from 0, with the numbers of the changes that an error there may be of: the narrowest first.
    blame: Vec<(Range<usize>, Vec<usize>)>,
    /// The places of changes.
    pub(super) places: BTreeMap<usize, usize>,
    /// The changes that lie where no switch can stand.
    pub(super) homeless: Vec<usize>,
}

impl Schema {
    /// Writes the changes, each with its number, into the text of their file.
    pub(super) fn new(source: &str, mutants: &[(usize, &Mutant)]) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let mut places: BTreeMap<usize, (Place, Vec<(usize, String)>)> = BTreeMap::new();
        let mut schema = Self { text: String::new(), blame: Vec::new(), places: BTreeMap::new(), homeless: Vec::new() };
        for &(number, mutant) in mutants {
            let body = mutant.change().and_then(|(old, new)| {
                let place = Place::around(&lines, &old)?;
                let body = [&lines[place.lines.start..old.start], &new[..], &lines[old.end..place.lines.end]].concat();
                Some((place.body(&body), place))
            });
            match body {
                Some((body, place)) => {
                    places.entry(place.lines.start).or_insert((place, Vec::new())).1.push((number, body));
                }
                None => schema.homeless.push(number),
            }
        }
        let mut at = 0;
        for (place, bodies) in places.into_values() {
            schema.copy(&lines[at..place.lines.start]);
            at = place.lines.end;
            schema.place(&place, &bodies, &lines);
        }
        schema.copy(&lines[at..]);
        schema
    }

    fn copy(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| {
            let _ = writeln!(self.text, "{line}");
        });
    }

    fn place(&mut self, place: &Place, bodies: &[(usize, String)], lines: &[&str]) {
        let start = self.text.lines().count();
        let first = bodies.first().map_or(0, |(number, _)| *number);
        self.places.extend(bodies.iter().map(|(number, _)| (*number, first)));
        let _ = writeln!(self.text, "{}match crate::chosen_mutant({first}) {{", place.opening);
        for (number, body) in bodies {
            let start = self.text.lines().count();
            let _ = writeln!(self.text, "{number} => {{\n{body}\n}}");
            self.blame.push((start..self.text.lines().count(), vec![*number]));
        }
        let whole = place.body(&lines[place.lines.clone()]);
        let _ = writeln!(self.text, "_ => {{\n{whole}\n}}\n}}{}", place.closing);
        let all = bodies.iter().map(|(number, _)| *number).collect();
        self.blame.push((start.saturating_sub(1)..self.text.lines().count(), all));
    }

    /// The changes that an error in this line is of.
    pub(super) fn blamed(&self, line: usize) -> &[usize] {
        self.blame.iter().find(|(lines, _)| lines.contains(&line)).map_or(&[], |(_, numbers)| numbers)
    }
}

/// Lines that are written once for each change to them.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    lines: Range<usize>,
    /// What stands before the body in the first line, and after it in the last.
    opening: String,
    closing: &'static str,
}

impl Place {
    /// The outermost function around the lines, else the entry of a declaration.
    fn around(lines: &[&str], inner: &Range<usize>) -> Option<Self> {
        let around = |place: &Self| place.lines.start <= inner.start && inner.end <= place.lines.end;
        let places = |at: fn(&[&str], usize) -> Option<Self>| (0..=inner.start).filter_map(move |line| at(lines, line));
        places(Self::function).find(around).or_else(|| places(Self::entry).find(around))
    }

    /// The body of the function whose signature begins here.
    fn function(lines: &[&str], at: usize) -> Option<Self> {
        let words = lines[at].trim_start().split(' ');
        let mut words = words.skip_while(|word| word.starts_with("pub") || ["const", "unsafe"].contains(word));
        if words.next() != Some("fn") {
            return None;
        }
        let edge = |line: &&str| indentation(line) == indentation(lines[at]) && !line.is_empty();
        let head = (at..lines.len()).filter(|line| edge(&lines[*line]));
        let opened = head.clone().find(|line| lines[*line].ends_with('{') || lines[*line].ends_with([';', '}']))?;
        let closed = head.skip_while(|line| *line <= opened).find(|line| lines[*line].trim_start().starts_with('}'))?;
        let has_body = lines[opened].ends_with('{');
        has_body.then(|| Self { lines: opened + 1..closed, opening: String::new(), closing: "" })
    }

    /// The closure of an entry `name: |…| …,` that begins here.
    fn entry(lines: &[&str], at: usize) -> Option<Self> {
        let (name, rest) = lines[at].split_once(": |")?;
        let (arguments, body) = rest.split_once("| ")?;
        if name.trim_start().contains(|letter: char| !letter.is_ascii_lowercase()) {
            return None;
        }
        let mut after = (at + 1..lines.len()).skip_while(|line| indentation(lines[*line]) > indentation(lines[at]));
        let last = if body.ends_with(',') { at } else { after.next().filter(|line| lines[*line].trim() == "},")? };
        Some(Self { lines: at..last + 1, opening: format!("{name}: |{arguments}| "), closing: "," })
    }

    /// What the lines are without the opening and the closing.
    fn body(&self, lines: &[&str]) -> String {
        let text = lines.join("\n");
        let text = text.strip_prefix(&self.opening).unwrap_or(&text);
        text.strip_suffix(self.closing).unwrap_or(text).to_owned()
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::super::listing::parsed;
    use super::*;

    const SOURCE: &str = "\
const ONE: u32 = 1;
trait T {
    fn without(&self);
}
impl S {
    pub(crate) fn f(
        &self,
    ) -> u32 {
        fn inner() -> u32 {
            2
        }
        inner() + 1
    }
}
static D: Declaration = Declaration {
    value: |x, _| x + 1,
    slope: |x| match x {
        0 => 1,
        _ => x,
    },
};
";

    /// A change of one line.
    fn mutant(line: usize, new: &str) -> Mutant {
        let old = SOURCE.lines().nth(line).unwrap();
        let line = line + 1;
        let diff = format!("--- k\n+++ k\n@@ -{line},1 +{line},1 @@\n-{old}\n+{new}\n");
        parsed(&format!("kernel/a.rs:{line}:1: c\n{diff}")).remove(0)
    }

    #[test]
    fn bodies_are_written_once_for_each_change() {
        let changes = [mutant(9, "            3"), mutant(11, "        inner() - 1"), mutant(0, "const ONE: u32 = 2;")];
        let numbered: Vec<(usize, &Mutant)> = (4..).zip(&changes).collect();
        let schema = Schema::new(SOURCE, &numbered);
        assert_eq!(schema.homeless, [6]);
        let body = |two: u32, sign: char| {
            format!("        fn inner() -> u32 {{\n            {two}\n        }}\n        inner() {sign} 1\n")
        };
        assert_eq!(schema.places, BTreeMap::from([(4, 4), (5, 4)]));
        let (four, five, whole) = (body(3, '+'), body(2, '-'), body(2, '+'));
        let written = format!(
            "    ) -> u32 {{\nmatch crate::chosen_mutant(4) {{\n4 => {{\n{four}}}\n5 => {{\n{five}}}\n_ => {{\n{whole}}}\n}}\n    }}\n}}\n"
        );
        assert!(schema.text.contains(&written), "{}", schema.text);
        // The line of the switch, then the arms.
        assert_eq!(
            [schema.blamed(8), schema.blamed(10), schema.blamed(16), schema.blamed(24)],
            [&[4, 5][..], &[4], &[5], &[4, 5]]
        );
        assert_eq!(schema.blamed(1), &[] as &[usize]);
        assert_eq!(schema.text.lines().count(), SOURCE.lines().count() + 2 * 6 + 4);
    }

    #[test]
    fn entries_of_declarations_have_switches_too() {
        let changes = [mutant(15, "    value: |x, _| x - 1,"), mutant(17, "        0 => 2,")];
        let numbered: Vec<(usize, &Mutant)> = (1..).zip(&changes).collect();
        let schema = Schema::new(SOURCE, &numbered);
        let value = "    value: |x, _| match crate::chosen_mutant(1) {\n1 => {\nx - 1\n}\n_ => {\nx + 1\n}\n},\n";
        assert!(schema.text.contains(value), "{}", schema.text);
        assert!(schema.text.contains(
            "2 => {\nmatch x {\n        0 => 2,\n        _ => x,\n    }\n}\n_ => {\nmatch x {\n        0 => 1,"
        ));
        assert!(schema.homeless.is_empty());
    }

    #[test]
    fn the_switch_reads_the_variable() {
        let words = [format!("\"{VARIABLE}\""), format!("\"{NOTES}\""), "999_998".to_owned(), "999_999".to_owned()];
        assert!(words.iter().all(|word| SWITCH.contains(word)));
        assert_eq!((NOTING, ALARM), (999_998, 999_999));
    }
}
