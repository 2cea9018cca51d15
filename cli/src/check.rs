//! `certkern check`: the kernel's verdict on a certificate, and where the user gives them, the comparison with the user's own files.

use crate::failure::Failure;
use crate::import::onnx::Freeze;
use crate::input::{self, Folder, Input};
use crate::outcome::{Outcome, Presentation};
use crate::own_files::OwnFiles;
use crate::parts;
use crate::progress::Progress;
use crate::source::Texts;
use certkern_claims::{Arith, Files, Opened, Sources};
use certkern_seal::Verdict;
use certkern_wire::Limits;
use certkern_wire::tensors::Source;
use clap::ValueEnum;
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

pub(crate) const HELP: &str = "\
Example:
  certkern check bundle/ --onnx net.onnx --property spec.vnnlib

The last line on standard output is the verdict, one of
  s ACCEPTED <proposition> <claim digest>
  s REJECTED <code>
  s LIMIT <name>
With --format json the line before it is one JSON object. Its member `report` is the kernel's; the members
around it (times, file names, line and column of each fault) are the command line's. There is no `s` line
after a usage error or an internal error.

With --onnx and --property the files are read afresh and compared with those of the certificate, after the
kernel has accepted it. A difference, or an ONNX file that cannot be imported, is a rejection `bind.<role>`.
A network that was imported with --freeze is imported afresh with the same --freeze: a frozen tensor is part of the
payload, so another one is `bind.payload`.

With --arith auto every leaf is first tried in binary64, each rounding charged to its bound, and what that does
not close is decided in exact numbers; the report counts both and says what is assumed of the floating-point
unit. With --arith exact no floating-point unit is trusted. Verdict, claim digest and report do not depend on
--jobs; the hints are read while they are used and do not lie in memory.";

/// The arguments of `certkern check`.
#[derive(clap::Args)]
pub(crate) struct Check {
    /// A bundle (a folder), or a graph or an enclosure in one JSON document
    #[arg(value_name = "BUNDLE|FILE")]
    input: PathBuf,
    /// Import this network afresh and compare it with the graph and the payload
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    #[command(flatten)]
    freeze: Freeze,
    /// Read this property afresh (VNN-LIB, or JSON by the ending .json) and compare it with the region and the unsafe set
    #[arg(long, value_name = "FILE")]
    property: Option<PathBuf>,
    /// Which arithmetic decides
    #[arg(long, value_enum, default_value = "auto")]
    arith: Tiers,
    /// Threads to check on [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    presentation: Presentation,
}

/// Which arithmetic decides.
#[derive(Clone, Copy, ValueEnum)]
enum Tiers {
    /// binary64 where it suffices, else exact numbers
    Auto,
    /// Exact numbers alone
    Exact,
}

/// The bytes that a check reads.
struct Read {
    input: Input,
    own: OwnFiles,
}

impl Check {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        self.presentation.check(&self.paths())?;
        if self.onnx.is_none() && !self.freeze.is_empty() {
            return Err(Failure::Usage("--freeze is about the network of --onnx, which is not given".to_owned()));
        }
        let limits = Limits::default();
        let start = Instant::now();
        let reading = Progress::start("reading");
        let sources = self.read(&limits);
        drop(reading);
        let sources = match sources {
            Ok(sources) => Ok(sources),
            Err(failure) => Err(failure.rejection()?),
        };
        let (verdict, texts) = match &sources {
            Ok(sources) => (self.verdict(sources, &limits)?, sources.texts()),
            Err(rejection) => (Verdict::Rejected(rejection.clone()), Texts::new()),
        };
        let shown = |path: &Path| path.display().to_string();
        let frozen: Vec<String> = match &sources {
            Ok(sources) => {
                sources.own.frozen.iter().map(|file| format!("{}={}", file.name, shown(&file.path))).collect()
            }
            Err(_) => Vec::new(),
        };
        let outcome = Outcome {
            command: "check",
            verdict,
            texts,
            unnamed: shown(&self.input),
            text: String::new(),
            members: vec![
                ("input", json!(shown(&self.input))),
                ("onnx", json!(self.onnx.as_deref().map(shown))),
                ("frozen", json!(frozen)),
                ("property", json!(self.property.as_deref().map(shown))),
            ],
            seconds: start.elapsed().as_secs_f64(),
        };
        self.presentation.tell(&outcome)
    }

    /// The files that are read.
    fn paths(&self) -> Vec<&Path> {
        let paths = [Some(&self.input), self.onnx.as_ref(), self.property.as_ref()];
        paths.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    fn read(&self, limits: &Limits) -> Result<Read, Failure> {
        let named = |path: &PathBuf| input::named(path, limits);
        let onnx = self.onnx.as_ref().map(named).transpose()?;
        let property = self.property.as_ref().map(named).transpose()?;
        Ok(Read {
            input: Input::read(&self.input, input::STREAMED, limits)?,
            own: OwnFiles { onnx, frozen: self.freeze.read(limits)?, property },
        })
    }

    fn verdict(&self, sources: &Read, limits: &Limits) -> Result<Verdict, Failure> {
        let verdict = match &sources.input {
            Input::Folder(folder) => self.check(folder, limits)?,
            Input::File(bytes) => certkern_claims::check_document(bytes, limits),
        };
        Ok(sources.own.compare(verdict, limits))
    }

    fn check(&self, Folder { files, streamed }: &Folder, limits: &Limits) -> Result<Verdict, Failure> {
        let arith = match self.arith {
            Tiers::Auto => Arith::Auto,
            Tiers::Exact => Arith::Exact,
        };
        let jobs = self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let files: Files<'_> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let sources: Sources<'_> = streamed.iter().map(|(name, file)| (name.clone(), file as &dyn Source)).collect();
        let progress = Progress::start("checking");
        let verdict = match Opened::new(&files, &sources, limits, arith) {
            Ok(opened) => {
                progress.expect(opened.entries());
                parts::check(&opened, jobs, &progress)?
            }
            Err(rejection) => Verdict::Rejected(rejection),
        };
        let fault = streamed.iter().find_map(|(name, file)| Some((name, file.fault()?)));
        match (&verdict, fault) {
            (Verdict::Rejected(_), Some((name, error))) => Err(Failure::io("read", &self.input.join(name), error)),
            _ => Ok(verdict),
        }
    }
}

impl Read {
    /// The texts in which faults may lie.
    fn texts(&self) -> Texts<'_> {
        let mut texts = Texts::new();
        if let Some((name, bytes)) = &self.own.property {
            texts.insert(name, bytes);
        }
        // The files of the certificate come last: theirs are the names in a bundle.
        match &self.input {
            Input::Folder(folder) => {
                texts.extend(folder.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
            }
            Input::File(bytes) => drop(texts.insert("", bytes)),
        }
        texts
    }
}
