//! Standard output, standard error, and files that are never seen half written.

use crate::failure::Failure;
use crate::source::shown;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes `text` to standard output. A reader that has closed its end is no error: the exit code still tells the verdict.
///
/// # Errors
/// A usage error if the text cannot be written for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a complaint to standard error, without characters that move the cursor; nobody is told if that fails.
pub(crate) fn complain(text: &str) {
    let text: String = text.chars().map(|c| if c == '\n' { c } else { shown(c) }).collect();
    let _ = writeln!(io::stderr(), "certkern: {text}");
}

/// Writes a file under a temporary name beside it and renames it, so that nobody sees half of it.
///
/// # Errors
/// A usage error if that is not possible.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io("write", path, &error);
    let name = path.file_name().ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".partial-{}", std::process::id()));
    let partial = path.with_file_name(hidden);
    fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path)).map_err(|error| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
        failed(error)
    })
}

/// Refuses to write where an input lies: to one of them, into a folder among them, or over a folder that holds one.
///
/// # Errors
/// A usage error.
pub(crate) fn keep_clear(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let target = resolve(output).map_err(|error| Failure::io("write", output, &error))?;
    for input in inputs {
        let source = fs::canonicalize(input).map_err(|error| Failure::io("read", input, &error))?;
        if target.starts_with(&source) || source.starts_with(&target) {
            let text =
                format!("{} would overwrite the input {}; choose another name", output.display(), input.display());
            return Err(Failure::Usage(text));
        }
    }
    Ok(())
}

/// Refuses a folder that holds anything but files of these names, which are to be written there; it may be absent.
///
/// # Errors
/// A usage error.
pub(crate) fn keep_other_files(folder: &Path, names: &[&str]) -> Result<(), Failure> {
    let refuse = |what: String| Failure::Usage(format!("{} {what}; choose another folder", folder.display()));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(refuse("is no folder".to_owned())),
        Err(error) => return Err(Failure::io("write", folder, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io("read", folder, &error))?;
        let name = entry.file_name();
        let known = names.iter().any(|known| *known == name);
        if !known || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Err(refuse(format!("holds {}", name.to_string_lossy())));
        }
    }
    Ok(())
}

/// The path without links and dots, where only its beginning need exist.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let (mut existing, mut rest) = (absolute.as_path(), Vec::new());
    loop {
        match fs::canonicalize(existing) {
            Ok(start) => return Ok(rest.iter().rev().fold(start, |path, part| path.join(part))),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(error) => match (existing.parent(), existing.file_name()) {
                (Some(parent), Some(name)) => {
                    rest.push(name.to_owned());
                    existing = parent;
                }
                _ => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stay_clear_of_outputs() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir(root.join("dump")).unwrap();
        fs::write(root.join("dump/tensors"), "").unwrap();
        fs::write(root.join("net"), "").unwrap();
        let inputs = [root.join("dump"), root.join("net")];
        let inputs = [inputs[0].as_path(), inputs[1].as_path()];
        for refused in ["net", "dump", "dump/new", "dump/new/deep", ".", "new/../dump/x"] {
            // `new` does not exist, so the last one is refused as a path, whatever the reason.
            assert!(keep_clear(&root.join(refused), &inputs).is_err(), "{refused}");
        }
        for allowed in ["new", "dump2", "net.json", "new/net"] {
            keep_clear(&root.join(allowed), &inputs).unwrap();
        }
        std::os::unix::fs::symlink(root.join("dump"), root.join("link")).unwrap();
        assert!(keep_clear(&root.join("link/x"), &inputs).is_err());
    }

    #[test]
    fn nothing_is_left_beside_a_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("report.txt");
        write_file(&path, b"one").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        assert!(write_file(&scratch.path().join("absent/report.txt"), b"").is_err());
    }
}
