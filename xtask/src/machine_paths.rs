//! No tracked file holds an absolute path of this machine.

use crate::tracked_files;
use std::fs;
use std::path::Path;

/// Looks through all tracked files for the folder that holds the repository and for the home folder.
///
/// # Errors
/// The files that hold one.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let names = tracked_files(root)?;
    let home = std::env::var("HOME").unwrap_or_default();
    let folders = [root.parent().and_then(Path::to_str).unwrap_or_default(), &home];
    let marks: Vec<String> =
        folders.iter().filter(|folder| folder.len() > 1).map(|folder| format!("{folder}/")).collect();
    let names = names.iter().filter(|name| *name != "Cargo.lock");
    let (mut seen, mut found) = (0, Vec::new());
    for name in names {
        // A file that is tracked and deleted holds nothing.
        let Ok(bytes) = fs::read(root.join(name)) else { continue };
        seen += 1;
        if marks.iter().any(|mark| holds(&bytes, mark.as_bytes())) {
            found.push(name.clone());
        }
    }
    if found.is_empty() {
        Ok(format!("{seen} files without a path of this machine"))
    } else {
        Err(format!("paths of this machine in {found:?}"))
    }
}

/// Whether `mark` stands in `bytes` as the beginning of a path, not within a longer one.
fn holds(bytes: &[u8], mark: &[u8]) -> bool {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-*/".contains(byte);
    (0..bytes.len().saturating_sub(mark.len() - 1)).any(|start| {
        bytes[start..].starts_with(mark) && !start.checked_sub(1).is_some_and(|before| inner(&bytes[before]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_path_counts() {
        assert!(holds(b"in /src/net.onnx", b"/src/"));
        assert!(holds(b"/src/", b"/src/"));
        for text in ["kernel/src/lib.rs", "kernel/*/src/x", "/src", ""] {
            assert!(!holds(text.as_bytes(), b"/src/"), "{text}");
        }
    }
}
