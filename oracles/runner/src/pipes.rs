//! The three pipes of a tool, moved by one thread: a tool that reads nothing, writes too much or keeps a pipe open blocks nobody.

use crate::error::Fault;
use crate::tail::Tail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

/// Bytes that are moved at a time, the size of a pipe on many systems.
const CHUNK: usize = 64 << 10;

/// The ends of the pipes that are still open, what is to be written, and what was read.
pub(crate) struct Pipes<'a> {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    query: &'a [u8],
    most: usize,
    /// What came to standard output.
    pub(crate) answer: Vec<u8>,
    /// The end of what came to standard error.
    pub(crate) said: Tail,
}

impl<'a> Pipes<'a> {
    /// The pipes of a child: `query` goes in, at most `most` bytes come out.
    pub(crate) fn of(child: &mut Child, query: &'a [u8], most: usize) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        stdin.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        stdout.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        stderr.as_ref().map_or(Ok(()), |pipe| ioctl_fionbio(pipe, true))?;
        Ok(Self { stdin, stdout, stderr, query, most, answer: Vec::new(), said: Tail::default() })
    }

    /// Whether all of standard output has come.
    pub(crate) fn is_answered(&self) -> bool {
        self.stdout.is_none()
    }

    /// Whether all that can come has come.
    pub(crate) fn are_done(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits until something can be moved, not longer than `patience`, and moves some.
    pub(crate) fn step(&mut self, patience: Duration) -> Result<(), Fault> {
        self.wait(patience).map_err(Fault::Pipe)?;
        self.write().map_err(Fault::Pipe)?;
        let Self { stdout, stderr, answer, said, .. } = self;
        // Standard error first: what ends the run should find its words.
        read(stderr, |bytes| said.push(bytes)).map_err(Fault::Pipe)?;
        read(stdout, |bytes| answer.extend_from_slice(bytes)).map_err(Fault::Pipe)?;
        if self.answer.len() > self.most { Err(Fault::Output { limit: self.most }) } else { Ok(()) }
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let mut open = Vec::with_capacity(3);
        open.extend(self.stdin.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        open.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        open.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        match poll(&mut open, Some(&patience)) {
            Err(error) if error != Errno::INTR => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Writes some of the query; closes the pipe after the last of it, or when nobody reads any more, which is no error.
    fn write(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.stdin else { return Ok(()) };
        match pipe.write(&self.query[..self.query.len().min(CHUNK)]) {
            Ok(written) => self.query = &self.query[written..],
            Err(error) if is_later(&error) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.query = &[],
            Err(error) => return Err(error),
        }
        if self.query.is_empty() {
            self.stdin = None;
        }
        Ok(())
    }
}

/// Reads some; drops the pipe at its end.
fn read(pipe: &mut Option<impl Read>, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let Some(open) = pipe else { return Ok(()) };
    let mut bytes = [0; CHUNK];
    match open.read(&mut bytes) {
        Ok(0) => *pipe = None,
        Ok(count) => take(&bytes[..count]),
        Err(error) if is_later(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Whether to try again later.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
