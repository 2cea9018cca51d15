//! Lines of code of Rust sources: without blank lines, comments and tests. The build script of `cli` counts with this file too.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder with the numbers of their lines of code, without the files that are modules of tests.
pub(crate) fn weigh(folder: &Path) -> Result<Vec<(PathBuf, Vec<usize>)>, String> {
    let (mut files, mut tests) = (Vec::new(), Vec::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let counted = code(&text);
                let home = home(&path);
                tests.extend(counted.test_files.iter().map(|name| home.join(name).with_extension("rs")));
                files.push((path, counted.lines));
            }
        }
    }
    files.retain(|(path, _)| !tests.contains(path));
    Ok(files)
}

/// The folder where the modules of a file lie.
fn home(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(path).to_owned();
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "mod" | "main") | None => folder,
        Some(stem) => folder.join(stem),
    }
}

/// The paths in a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries: Result<Vec<PathBuf>, _> = fs::read_dir(folder).map_err(failed)?.map(|e| e.map(|e| e.path())).collect();
    let mut entries = entries.map_err(failed)?;
    entries.sort();
    Ok(entries)
}

/// The lines of code of a file, counted from 1, and the modules in other files that are for tests only.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    lines: Vec<usize>,
    test_files: Vec<String>,
}

/// Counts the lines of a file as rustfmt writes it: an item ends with the first line of the same indentation that closes it.
fn code(text: &str) -> Counted {
    let mut counted = Counted::default();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let code = line.trim_start();
        if code == "#[cfg(test)]" {
            let indentation = line.len() - code.len();
            for (line, _) in lines.by_ref() {
                let code = line.trim_start();
                let at_the_same = line.len() - code.len() == indentation;
                if let Some(name) = code.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                    counted.test_files.push(name.to_owned());
                }
                if at_the_same && (code.starts_with('}') || code.ends_with(';') || code.ends_with("{}")) {
                    break;
                }
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            counted.lines.push(number);
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_comments_and_tests_weigh_nothing() {
        let text = "\
//! A module.

/// A function.
fn f() {
    // Why.
    g(); // counts
}

#[cfg(test)]
mod laws;

#[cfg(test)]
mod tests {
    use super::*;

    fn t() {
        f();
    }
}

impl A {
    #[cfg(test)]
    fn only_for_tests() {
        f();
    }

    fn h() {}
}
";
        assert_eq!(code(text), Counted { lines: vec![4, 6, 7, 21, 27, 28], test_files: vec!["laws".to_owned()] });
    }

    #[test]
    fn modules_lie_beside_their_file() {
        assert_eq!(home(Path::new("src/lib.rs")), Path::new("src"));
        assert_eq!(home(Path::new("src/ops/mod.rs")), Path::new("src/ops"));
        assert_eq!(home(Path::new("src/ops.rs")), Path::new("src/ops"));
    }
}
