//! Bundles on disk.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

/// The files of a bundle by name, `bundle.json` among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The files.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Writes a bundle as the folder `dir`: first to another name beside it, then renamed, so that no half bundle is ever seen under the name.
/// An earlier bundle of that name is replaced.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if `dir` is anything but absent, an empty folder, or a folder of plain files that its `bundle.json` all names;
/// [`ErrorKind::InvalidInput`] if a file name is a path; and what the file system gives.
pub fn write(bundle: &Bundle, dir: &Path) -> io::Result<()> {
    let plain = |name: &String| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name.as_str())
    };
    if let Some(name) = bundle.files.keys().find(|name| !plain(name)) {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{name:?} is no plain file name")));
    }
    let name = dir
        .file_name()
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, format!("{} has no last part", dir.display())))?;
    refuse_other_folder(dir)?;
    let beside = |what: &str| {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{what}-{}", std::process::id()));
        dir.with_file_name(hidden)
    };
    let (partial, old) = (beside("partial"), beside("old"));
    fs::create_dir(&partial)?;
    let moved = fill(bundle, &partial).and_then(|()| {
        if fs::symlink_metadata(dir).is_ok() {
            fs::rename(dir, &old)?;
        }
        fs::rename(&partial, dir)
    });
    if let Err(error) = moved {
        // The first error is the one to tell. An earlier bundle that was moved away goes back.
        let _ = fs::remove_dir_all(&partial);
        let _ = fs::rename(&old, dir);
        return Err(error);
    }
    match fs::remove_dir_all(&old) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn fill(bundle: &Bundle, dir: &Path) -> io::Result<()> {
    bundle.files.iter().try_for_each(|(name, bytes)| fs::write(dir.join(name), bytes))
}

/// Refuses a path that holds anything but an earlier bundle or an empty folder.
fn refuse_other_folder(dir: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(dir) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let refuse = |what: String| {
        let text = format!("{} {what}; choose another folder", dir.display());
        Err(io::Error::new(ErrorKind::AlreadyExists, text))
    };
    if !kind.is_dir() {
        return refuse("is no folder".to_owned());
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        entries.push((entry.file_name(), entry.file_type()?.is_file()));
    }
    if entries.is_empty() {
        return Ok(());
    }
    let mut known = vec!["bundle.json".to_owned()];
    if let Ok(bytes) = fs::read(dir.join("bundle.json")) {
        let manifest: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let files = manifest.get("files").and_then(Value::as_object);
        known.extend(files.into_iter().flat_map(|files| files.values()).filter_map(Value::as_str).map(str::to_owned));
    } else {
        return refuse("exists and is no bundle".to_owned());
    }
    let foreign = entries.iter().find(|(name, file)| !file || !known.iter().any(|known| name == known.as_str()));
    match foreign {
        Some((name, _)) => refuse(format!("holds {}, which is no file of its bundle", name.to_string_lossy())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fresh folder below the folder for temporary files; removed when dropped.
    struct Scratch(std::path::PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let dir = std::env::temp_dir().join(format!("certkern-abcrown-{test}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            fs::create_dir(&dir).unwrap();
            Self(dir)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn bundle(cert: &str) -> Bundle {
        let files = [("bundle.json", r#"{"files": {"certificate": "cert.json"}}"#), ("cert.json", cert)];
        Bundle { files: files.iter().map(|(n, t)| ((*n).to_owned(), t.as_bytes().to_vec())).collect() }
    }

    #[test]
    fn a_bundle_replaces_a_bundle_and_leaves_nothing_beside_it() {
        let scratch = Scratch::new("replace");
        let dir = scratch.0.join("b");
        write(&bundle("one"), &dir).unwrap();
        write(&bundle("two"), &dir).unwrap();
        assert_eq!(fs::read(dir.join("cert.json")).unwrap(), b"two");
        assert_eq!(scratch.names(), ["b"]);
    }

    #[test]
    fn other_folders_and_files_stay() {
        let scratch = Scratch::new("refuse");
        let dir = scratch.0.join("b");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("notes"), "mine").unwrap();
        let error = write(&bundle("one"), &dir).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        // A bundle with a file of another kind in it is no bundle to replace either.
        fs::write(dir.join("bundle.json"), r#"{"files": {}}"#).unwrap();
        let error = write(&bundle("one"), &dir).unwrap_err();
        assert!(error.to_string().contains("holds notes"), "{error}");
        assert_eq!(fs::read(dir.join("notes")).unwrap(), b"mine");
        let file = scratch.0.join("file");
        fs::write(&file, "mine").unwrap();
        assert_eq!(write(&bundle("one"), &file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"mine");
    }

    #[test]
    fn names_that_are_paths_are_refused() {
        let scratch = Scratch::new("paths");
        for name in ["../x", "a/b", "/x", "..", "."] {
            let files = [(name.to_owned(), Vec::new())].into();
            let error = write(&Bundle { files }, &scratch.0.join("b")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
        }
        assert!(scratch.names().is_empty());
    }
}
