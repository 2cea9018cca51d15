//! Large files that stay in the file system: read in pieces, by many threads at a time.

use certkern_wire::tensors::Source;
use std::fs::File;
use std::io;
use std::sync::OnceLock;

/// An open file.
pub(crate) struct Streamed {
    file: File,
    length: u64,
    /// Why a piece could not be read, other than that the file ends before it.
    fault: OnceLock<io::Error>,
}

impl Streamed {
    pub(crate) fn of(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, fault: OnceLock::new() })
    }

    /// Why a piece could not be read, if it was not for the file's end.
    pub(crate) fn fault(&self) -> Option<&io::Error> {
        self.fault.get()
    }

    #[cfg(unix)]
    fn piece(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, into, offset)
    }

    #[cfg(not(unix))]
    fn piece(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        use std::sync::{Mutex, PoisonError};
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(offset))?;
        (&self.file).read_exact(into)
    }
}

impl Source for Streamed {
    fn length(&self) -> u64 {
        self.length
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        match self.piece(offset, into) {
            Ok(()) => true,
            Err(error) => {
                if error.kind() != io::ErrorKind::UnexpectedEof {
                    // The first fault is the one to tell.
                    let _ = self.fault.set(error);
                }
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_the_file_and_none_beyond_its_end() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("streamed");
        std::fs::write(&path, b"0123456789").unwrap();
        let streamed = Streamed::of(File::open(&path).unwrap()).unwrap();
        assert_eq!(streamed.length(), 10);
        let mut piece = [0; 3];
        assert!(streamed.read(7, &mut piece) && &piece == b"789");
        assert!(streamed.read(0, &mut piece) && &piece == b"012");
        assert!(!streamed.read(8, &mut piece) && !streamed.read(1 << 40, &mut piece));
        assert!(streamed.fault().is_none());
        // A file that becomes shorter.
        std::fs::write(&path, b"01").unwrap();
        assert!(!streamed.read(0, &mut piece));
        assert!(!Streamed::of(File::open(scratch.path()).unwrap()).unwrap().read(0, &mut piece));
    }
}
