//! Files as bytes: strict about what a bundle may hold, and never more than the limits in memory.

use crate::failure::Failure;
use crate::streamed::Streamed;
use certkern_wire::limits::{Limits, within};
use certkern_wire::{Fault, Place, Reason, Rejection, json};
use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::Path;

/// Files that are read from one folder. A bundle has at most six; of a folder with more, no file is read.
const MOST_FILES: usize = 16;

/// The file that says what the others are.
pub(crate) const MANIFEST: &str = "bundle.json";

/// What stands at a path given on the command line.
pub(crate) enum Input {
    /// A folder of plain files.
    Folder(Folder),
    /// One file.
    File(Vec<u8>),
}

/// A folder whose manifest may name files of tensors, which stay in the file system.
pub(crate) struct Folder {
    /// The other files by name.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Payload and hints by name.
    pub(crate) streamed: BTreeMap<String, Streamed>,
}

/// The roles of files that need not be read whole.
pub(crate) const STREAMED: &[&str] = &["payload", "hints"];

impl Input {
    /// Reads a file, or a folder of plain files, of which those that its manifest names for the roles `streamed` are only opened.
    ///
    /// # Errors
    /// A usage error if the path cannot be read; `bundle.file` for each entry of a folder that is no plain file, `limit.bytes` for a
    /// file above the limit.
    pub(crate) fn read(path: &Path, streamed: &[&'static str], limits: &Limits) -> Result<Self, Failure> {
        let metadata = fs::metadata(path).map_err(|error| Failure::io("read", path, &error))?;
        if metadata.is_dir() {
            Folder::read(path, streamed, limits).map(Self::Folder)
        } else {
            file(path, limits).map(Self::File)
        }
    }
}

impl Folder {
    fn read(path: &Path, streamed: &[&'static str], limits: &Limits) -> Result<Self, Failure> {
        let mut names = names(path)?;
        let manifest: Vec<String> = names.extract_if(.., |name| name == MANIFEST).collect();
        let mut files = contents(path, &manifest, limits)?;
        // What is wrong with a manifest is for the kernel to say.
        let named = |role| files.get(MANIFEST).and_then(|manifest| named_in(manifest, role, limits).ok());
        let known: Vec<String> = streamed.iter().filter_map(|role| named(role)).collect();
        let streamed: Vec<String> = names.extract_if(.., |name| known.contains(name)).collect();
        files.extend(contents(path, &names, limits)?);
        let open = |name: String| Ok::<_, Failure>((name.clone(), streamed_file(&path.join(name))?));
        Ok(Self { files, streamed: streamed.into_iter().map(open).collect::<Result<_, _>>()? })
    }
}

/// The file that a manifest names for a role.
pub(crate) fn named_in(manifest: &[u8], role: &'static str, limits: &Limits) -> Result<String, Rejection> {
    let document = json::parse(manifest, limits)?;
    let mut files = document.object("")?.required("files")?.object("files")?;
    Ok(files.required(role)?.string(&format!("files.{role}"))?.to_owned())
}

/// Opens a file that is not read whole.
///
/// # Errors
/// A usage error if the path cannot be opened.
pub(crate) fn streamed_file(path: &Path) -> Result<Streamed, Failure> {
    Streamed::open(path).map_err(|error| Failure::io("read", path, &error))
}

/// A file of the user by the name under which it was given.
pub(crate) type Named = (String, Vec<u8>);

/// Reads one file, with its name.
///
/// # Errors
/// As for `file`.
pub(crate) fn named(path: &Path, limits: &Limits) -> Result<Named, Failure> {
    Ok((path.display().to_string(), file(path, limits)?))
}

/// Reads one file.
///
/// # Errors
/// A usage error if the path cannot be read, `limit.bytes` if the file is above the limit.
pub(crate) fn file(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    capped(path, limits).map_err(|error| Failure::io("read", path, &error))?.map_err(|reason| {
        let place = Place { file: Some(path.display().to_string()), ..Place::default() };
        Rejection::one(reason, place).into()
    })
}

/// The bytes of a file, if there are not too many; the length is asked first and held to while reading.
fn capped(path: &Path, limits: &Limits) -> io::Result<Result<Vec<u8>, Reason>> {
    let file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if let Err(reason) = within("bytes", length, limits.bytes) {
        return Ok(Err(reason));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let most = u64::try_from(limits.bytes).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(within("bytes", bytes.len(), limits.bytes).map(|()| bytes))
}

/// The names of the plain files that a folder consists of.
fn names(path: &Path) -> Result<Vec<String>, Failure> {
    let unreadable = |error: io::Error| Failure::io("read", path, &error);
    let entries: io::Result<Vec<DirEntry>> = fs::read_dir(path).map_err(unreadable)?.take(MOST_FILES + 1).collect();
    let mut entries = entries.map_err(unreadable)?;
    entries.sort_by_key(DirEntry::file_name);
    let mut faults = Vec::new();
    let mut names = Vec::with_capacity(entries.len());
    for entry in &entries {
        match plain(entry).map_err(unreadable)? {
            Ok(name) => names.push(name),
            Err(reason) => faults.push(Fault { reason, place: Place::default() }),
        }
    }
    if entries.len() > MOST_FILES {
        let name = path.display().to_string();
        let reason = Reason::BundleFile { name, detail: "is a folder with too many files for a bundle" };
        faults.push(Fault { reason, place: Place::default() });
    }
    Rejection::of(faults).map_or(Ok(names), |rejection| Err(rejection.into()))
}

/// Files of a folder by name.
fn contents(path: &Path, names: &[String], limits: &Limits) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let read = |name: &String| {
        let path = path.join(name);
        let bytes = capped(&path, limits).map_err(|error| Failure::io("read", &path, &error))?;
        let bytes = bytes.map_err(|reason| Rejection::from(reason).in_file(name))?;
        Ok((name.clone(), bytes))
    };
    names.iter().map(read).collect()
}

/// The name of an entry that is a regular file. Links are not followed: what they lead to is outside the folder.
fn plain(entry: &DirEntry) -> io::Result<Result<String, Reason>> {
    let kind = entry.file_type()?;
    let refuse = |name: String, detail| Ok(Err(Reason::BundleFile { name, detail }));
    let name = match entry.file_name().into_string() {
        Ok(name) => name,
        Err(name) => return refuse(name.to_string_lossy().into_owned(), "has a name that is not UTF-8"),
    };
    if kind.is_symlink() {
        return refuse(name, "is a symbolic link; a bundle holds plain files");
    }
    if kind.is_dir() {
        return refuse(name, "is a folder; a bundle holds plain files");
    }
    if !kind.is_file() {
        return refuse(name, "is a special file; a bundle holds plain files");
    }
    Ok(Ok(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_limit_is_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("five");
        fs::write(&path, "12345").unwrap();
        let limits = |bytes| Limits { bytes, ..Limits::default() };
        assert_eq!(file(&path, &limits(5)).unwrap(), b"12345");
        let Err(Failure::Rejected(rejection)) = file(&path, &limits(4)) else { panic!() };
        assert_eq!(rejection.first().reason.code(), "limit.bytes");
        let Err(Failure::Rejected(rejection)) = Input::read(scratch.path(), STREAMED, &limits(4)).map(|_| ()) else {
            panic!()
        };
        assert_eq!(rejection.first().place.file.as_deref(), Some("five"));
    }

    #[test]
    fn a_file_whose_length_is_unknown_is_held_to_the_limit_while_reading() {
        // The length of this one is 0 in its metadata.
        let path = Path::new("/dev/zero");
        if path.exists() {
            let limits = Limits { bytes: 1000, ..Limits::default() };
            assert!(matches!(file(path, &limits), Err(Failure::Rejected(_))));
        }
    }
}
