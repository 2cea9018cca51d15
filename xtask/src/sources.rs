//! What the kernel's sources may not name. Lints deny single functions; this denies the whole modules of the standard library, and float types.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that stand nowhere in trusted code outside tests and comments.
const DENIED: &[&str] = &[
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::time",
    "RandomState",
    "HashMap",
    "HashSet",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "eprint!",
    "print!",
    "unreachable!",
    "include!",
    "env!",
];

/// Float types. They are denied likewise, but for the folders of the filter tier.
const FLOATS: &[&str] = &["f32", "f64"];
const FLOAT_FOLDERS: &[&str] = &["kernel/core/src/filter", "kernel/core/src/rules/filter"];

/// Looks for denied words in the sources of the kernel.
///
/// # Errors
/// Each place where one stands.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    collect(&root.join("kernel"), &mut files)?;
    let mut found = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let inside = path.strip_prefix(root).unwrap_or(path);
        let shown = inside.display();
        let words = denied(&text, may_name_floats(inside)).into_iter();
        found.extend(words.map(|(line, word)| format!("{shown}:{line}: `{word}` in trusted code")));
    }
    if files.len() < 50 {
        return Err(format!("only {} sources of the kernel were found", files.len()));
    }
    if found.is_empty() {
        Ok(format!("{} sources name nothing that is denied", files.len()))
    } else {
        Err(found.join("\n"))
    }
}

/// The sources below a folder, without tests and examples.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if path.is_dir() {
            if !["tests", "examples"].contains(&name) {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" && name != "laws.rs" {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a source, by its path from the root, belongs to the filter tier.
fn may_name_floats(path: &Path) -> bool {
    FLOAT_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Lines and denied words outside comments, up to the tests at the foot of the file.
fn denied(text: &str, floats: bool) -> Vec<(usize, &'static str)> {
    let words = || DENIED.iter().chain(if floats { &[] } else { FLOATS });
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or("");
        for word in words() {
            if stands_in(line, word) {
                found.push((number + 1, *word));
            }
        }
    }
    found
}

/// Whether `word` stands in `line` and is no part of a longer name.
fn stands_in(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
        !part(before) && !part(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_code_alone() {
        let text = "use std::fs::read_dir;\n// std::fs\nlet x = from_f64_bits(3); // f64\nlet y: f64 = z;\n#[cfg(test)]\nmod tests {\n assert!(true);";
        assert_eq!(denied(text, false), [(1, "std::fs"), (4, "f64")]);
        assert_eq!(denied(text, true), [(1, "std::fs")]);
    }

    #[test]
    fn the_filter_tier_alone_may_name_floats() {
        let allowed = ["kernel/core/src/filter/round.rs", "kernel/core/src/rules/filter/mod.rs"];
        let denied = ["kernel/core/src/rules/back.rs", "kernel/core/src/filter.rs", "kernel/wire/src/filter/mod.rs"];
        assert!(allowed.iter().all(|path| may_name_floats(Path::new(path))));
        assert!(!denied.iter().any(|path| may_name_floats(Path::new(path))));
    }
}
