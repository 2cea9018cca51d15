//! Bundles: folders of plain files, read through one open handle of the folder, so that nothing that happens to its name while it is read can lead elsewhere.

use crate::failure::Failure;
use crate::input::capped;
use crate::streamed::Streamed;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, OpenOptions};
use certkern_wire::limits::Limits;
use certkern_wire::{Fault, Place, Reason, Rejection, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

/// Files that are read from one folder. A bundle has at most six; of a folder with more, no file is read.
const MOST_FILES: usize = 16;

/// The file that says what the others are.
pub(crate) const MANIFEST: &str = "bundle.json";

/// A folder whose manifest may name files of tensors, which stay in the file system.
pub(crate) struct Folder {
    /// The other files by name.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Payload and hints by name.
    pub(crate) streamed: BTreeMap<String, Streamed>,
}

impl Folder {
    /// Reads a folder of plain files, of which those that its manifest names for the roles `streamed` are only opened.
    ///
    /// # Errors
    /// A usage error if something cannot be read; `bundle.file` for each entry that is no plain file, `limit.bytes` for a file above the limit.
    pub(crate) fn read(path: &Path, streamed: &[&'static str], limits: &Limits) -> Result<Self, Failure> {
        let opened = Dir::open_ambient_dir(path, ambient_authority());
        let handle = Handle { path, dir: opened.map_err(|error| Failure::io("read", path, &error))? };
        let mut names = handle.names()?;
        let manifest: Vec<String> = names.extract_if(.., |name| name == MANIFEST).collect();
        let mut files = handle.contents(&manifest, limits)?;
        // What is wrong with a manifest is for the kernel to say.
        let named = |role| files.get(MANIFEST).and_then(|manifest| named_in(manifest, role, limits).ok());
        let known: Vec<String> = streamed.iter().filter_map(|role| named(role)).collect();
        let streamed: Vec<String> = names.extract_if(.., |name| known.contains(name)).collect();
        files.extend(handle.contents(&names, limits)?);
        let open = |name: String| {
            let file = handle.open(&name)?;
            let streamed = Streamed::of(file).map_err(|error| Failure::io("read", &path.join(&name), &error))?;
            Ok::<_, Failure>((name, streamed))
        };
        Ok(Self { files, streamed: streamed.into_iter().map(open).collect::<Result<_, _>>()? })
    }
}

/// The file that a manifest names for a role.
pub(crate) fn named_in(manifest: &[u8], role: &'static str, limits: &Limits) -> Result<String, Rejection> {
    let document = json::parse(manifest, limits)?;
    let mut files = document.object("")?.required("files")?.object("files")?;
    Ok(files.required(role)?.string(&format!("files.{role}"))?.to_owned())
}

/// A folder that was opened once, and the name by which that was done.
struct Handle<'a> {
    path: &'a Path,
    dir: Dir,
}

impl Handle<'_> {
    /// The names of the plain files that the folder consists of.
    fn names(&self) -> Result<Vec<String>, Failure> {
        let unreadable = |error: io::Error| Failure::io("read", self.path, &error);
        let entries = self.dir.entries().map_err(unreadable)?;
        let entries: io::Result<Vec<DirEntry>> = entries.take(MOST_FILES + 1).collect();
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
            let name = self.path.display().to_string();
            let reason = Reason::BundleFile { name, detail: "is a folder with too many files for a bundle" };
            faults.push(Fault { reason, place: Place::default() });
        }
        Rejection::of(faults).map_or(Ok(names), |rejection| Err(rejection.into()))
    }

    /// Opens a plain file. What has become something else since it was listed is refused, and no link is followed.
    fn open(&self, name: &str) -> Result<File, Failure> {
        let unreadable = |error: io::Error| Failure::io("read", &self.path.join(name), &error);
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(name, &options).map_err(unreadable)?.into_std();
        if !file.metadata().map_err(unreadable)?.is_file() {
            let reason = Reason::BundleFile { name: name.to_owned(), detail: "is no longer a plain file" };
            return Err(Rejection::from(reason).into());
        }
        Ok(file)
    }

    /// Files of the folder by name.
    fn contents(&self, names: &[String], limits: &Limits) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let read = |name: &String| {
            let bytes = capped(self.open(name)?, limits);
            let bytes = bytes.map_err(|error| Failure::io("read", &self.path.join(name), &error))?;
            Ok((name.clone(), bytes.map_err(|reason| Rejection::from(reason).in_file(name))?))
        };
        names.iter().map(read).collect()
    }
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn handle(path: &Path) -> Handle<'_> {
        Handle { path, dir: Dir::open_ambient_dir(path, ambient_authority()).unwrap() }
    }

    #[test]
    fn a_file_that_becomes_a_link_after_it_was_listed_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (bundle, outside) = (scratch.path().join("bundle"), scratch.path().join("outside"));
        fs::create_dir(&bundle).unwrap();
        fs::write(&outside, "outside").unwrap();
        fs::write(bundle.join("a"), "inside").unwrap();
        let handle = handle(&bundle);
        assert_eq!(handle.names().unwrap(), ["a"]);
        fs::remove_file(bundle.join("a")).unwrap();
        for target in [outside.clone(), "../outside".into(), "b".into()] {
            fs::write(bundle.join("b"), "beside").unwrap();
            symlink(target, bundle.join("a")).unwrap();
            assert!(matches!(handle.open("a"), Err(Failure::Usage(_))));
            fs::remove_file(bundle.join("a")).unwrap();
        }
        assert!(matches!(handle.open("../outside"), Err(Failure::Usage(_))));
        fs::create_dir(bundle.join("a")).unwrap();
        assert!(matches!(handle.open("a"), Err(Failure::Rejected(_))));
    }

    #[test]
    fn a_folder_that_is_replaced_while_it_is_read_is_read_all_the_same() {
        let scratch = tempfile::tempdir().unwrap();
        let [bundle, moved] = ["bundle", "moved"].map(|name| scratch.path().join(name));
        fs::create_dir(&bundle).unwrap();
        fs::write(bundle.join("a"), "first").unwrap();
        let handle = handle(&bundle);
        fs::rename(&bundle, &moved).unwrap();
        fs::create_dir(&bundle).unwrap();
        fs::write(bundle.join("a"), "second").unwrap();
        let files = handle.contents(&["a".to_owned()], &Limits::default()).unwrap();
        assert_eq!(files["a"], b"first");
    }
}
