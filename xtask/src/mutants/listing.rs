//! The changes that cargo-mutants lists, and the order in which they are drawn.

use crate::members::KERNEL;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// The area `rules`; what else the kernel has is the area `rest`.
const RULES: [&str; 3] = ["kernel/core/src/rules/", "kernel/seal/", "kernel/claims/"];

/// A change that cargo-mutants lists.
pub(super) struct Mutant {
    /// File, change, the line before it and, of several that agree in these, which: what names it although lines move.
    pub(super) name: String,
    pub(super) file: String,
    pub(super) patch: String,
}

impl Mutant {
    /// The package that it changes.
    pub(super) fn package(&self) -> &'static str {
        let inside = |folder: &str| self.file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        KERNEL.iter().find(|(folder, _)| inside(folder)).map_or("", |(_, package)| package)
    }

    /// The lines that change, counted from 0, and what stands in their place.
    pub(super) fn change(&self) -> Option<(Range<usize>, Vec<&str>)> {
        let mut hunk = self.patch.lines().skip(2);
        // @@ -76,17 +76,17 @@
        let place = hunk.next()?.strip_prefix("@@ -")?;
        let first: usize = place.split([',', ' ']).next()?.parse().ok()?;
        let (old, new): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let (old, new) = hunk.fold((old, new), |(mut old, mut new), line| {
            let rest = line.get(1..).unwrap_or_default();
            if !line.starts_with('+') {
                old.push(rest);
            }
            if !line.starts_with('-') {
                new.push(rest);
            }
            (old, new)
        });
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let ends = old[before..].iter().rev().zip(new[before..].iter().rev());
        let after = ends.take_while(|(old, new)| old == new).count();
        let start = first.checked_sub(1)?;
        Some((start + before..start + old.len() - after, new[before..new.len() - after].to_vec()))
    }
}

/// All changes to the kernel.
pub(super) fn listed(root: &Path) -> Result<Vec<Mutant>, String> {
    let mut cargo = Command::new("cargo-mutants");
    cargo.args(["mutants", "--list", "--diff", "--colors", "never"]).current_dir(root);
    cargo.args(KERNEL.iter().flat_map(|(_, package)| ["-p", *package]));
    let output = cargo.output().map_err(|error| format!("cargo-mutants: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo mutants --list: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(parsed(&String::from_utf8_lossy(&output.stdout)))
}

/// The list of cargo-mutants: lines `file:line:column: change`, a diff after each. The second line of each diff becomes one that git reads.
pub(super) fn parsed(text: &str) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut file, mut change, mut patch) = ("", "", String::new());
    // A line more, which ends the last diff.
    for line in text.lines().chain(["kernel/:::"]) {
        if line.starts_with("kernel/") {
            if !patch.is_empty() {
                let old = patch.lines().skip(2).find_map(|line| line.strip_prefix('-')).unwrap_or_default().trim();
                let name = format!("{file}: {change}\t{old}");
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                let name = if *count == 1 { name } else { format!("{name}\t{count}") };
                mutants.push(Mutant { name, file: file.to_owned(), patch: std::mem::take(&mut patch) });
            }
            let mut parts = line.splitn(4, ':');
            file = parts.next().unwrap_or_default();
            change = parts.nth(2).unwrap_or_default().trim();
        } else if line.starts_with("--- ") {
            let _ = writeln!(patch, "--- a/{file}");
        } else if line.starts_with("+++ ") {
            let _ = writeln!(patch, "+++ b/{file}");
        } else if !line.is_empty() {
            let _ = writeln!(patch, "{line}");
        }
    }
    mutants
}

/// Those of the area, in an order that the seed gives. It depends on each name alone: a changed line leaves the rest of the sample as it is.
pub(super) fn drawn(mutants: Vec<Mutant>, area: &str, seed: u64) -> Vec<Mutant> {
    let mut mutants = mutants;
    mutants.retain(|mutant| RULES.iter().any(|folder| mutant.file.starts_with(folder)) == (area == "rules"));
    mutants.sort_by_key(|mutant| key(seed, &mutant.name));
    mutants
}

/// FNV-1a of the name, mixed with the seed by the last steps of SplitMix64.
fn key(seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = hash.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
kernel/seal/src/a.rs:3:9: replace f -> bool with true
--- kernel/seal/src/a.rs
+++ replace f -> bool with true
@@ -1,4 +1,4 @@
 fn f() -> bool {
 
-    g()
+    true /* ~ changed by cargo-mutants ~ */
 }

kernel/wire/src/b.rs:1:9: replace + with - in h
--- kernel/wire/src/b.rs
+++ replace + with - in h
@@ -1,1 +1,1 @@
-x + x + 1
+x - x + 1

kernel/wire/src/b.rs:1:13: replace + with - in h
--- kernel/wire/src/b.rs
+++ replace + with - in h
@@ -1,1 +1,1 @@
-x + x + 1
+x + x - 1
";

    #[test]
    fn changes_are_named_without_their_lines_and_told_apart() {
        let mutants = parsed(LIST);
        let names: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        let second = "kernel/wire/src/b.rs: replace + with - in h\tx + x + 1";
        let third = format!("{second}\t2");
        assert_eq!(names, ["kernel/seal/src/a.rs: replace f -> bool with true\tg()", second, &third]);
        assert!(mutants[2].patch.starts_with("--- a/kernel/wire/src/b.rs\n+++ b/kernel/wire/src/b.rs\n@@ "));
        assert_eq!((mutants[0].package(), mutants[2].package()), ("certkern-seal", "certkern-wire"));
    }

    #[test]
    fn a_change_is_the_lines_that_differ() {
        let mutants = parsed(LIST);
        assert_eq!(mutants[0].change(), Some((2..3, vec!["    true /* ~ changed by cargo-mutants ~ */"])));
        assert_eq!(mutants[2].change(), Some((0..1, vec!["x + x - 1"])));
    }

    #[test]
    fn areas_part_the_kernel_and_the_seed_orders() {
        let area = |area: &str| drawn(parsed(LIST), area, 1).len();
        assert_eq!((area("rules"), area("rest")), (1, 2));
        let first = |seed: u64| key(seed, "one") < key(seed, "two");
        assert!((0..64).any(first) && !(0..64).all(first));
    }
}
