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
    "f32",
    "f64",
    "include!",
    "env!",
];

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
        let shown = path.strip_prefix(root).unwrap_or(path).display();
        found.extend(denied(&text).into_iter().map(|(line, word)| format!("{shown}:{line}: `{word}` in trusted code")));
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

/// The sources under `src` folders, without files of tests.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if path.is_dir() && name != "tests" {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" && name != "laws.rs" {
            files.push(path);
        }
    }
    Ok(())
}

/// Lines and denied words outside comments, up to the tests at the foot of the file.
fn denied(text: &str) -> Vec<(usize, &'static str)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or("");
        for word in DENIED {
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
        assert_eq!(denied(text), [(1, "std::fs"), (4, "f64")]);
    }
}
