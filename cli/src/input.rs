//! Files as bytes, never more than the limits in memory.

use crate::failure::Failure;
use crate::folder::Folder;
use crate::streamed::Streamed;
use certkern_wire::limits::{Limits, within};
use certkern_wire::{Place, Reason, Rejection};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// What stands at a path given on the command line.
pub(crate) enum Input {
    /// A folder of plain files.
    Folder(Folder),
    /// One file.
    File(Vec<u8>),
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

/// Opens a file that is not read whole.
///
/// # Errors
/// A usage error if the path cannot be opened.
pub(crate) fn streamed_file(path: &Path) -> Result<Streamed, Failure> {
    File::open(path).and_then(Streamed::of).map_err(|error| Failure::io("read", path, &error))
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
    File::open(path).and_then(|file| capped(file, limits)).map_err(|error| Failure::io("read", path, &error))?.map_err(
        |reason| {
            let place = Place { file: Some(path.display().to_string()), ..Place::default() };
            Rejection::one(reason, place).into()
        },
    )
}

/// The bytes of a file, if there are not too many; the length is asked first and held to while reading.
pub(crate) fn capped(file: File, limits: &Limits) -> io::Result<Result<Vec<u8>, Reason>> {
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
