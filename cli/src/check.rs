//! `certkern check`: the kernel's verdict on a certificate, and where the user gives them, the comparison with the user's own files.

use crate::budget::Budget;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::import::onnx::Freeze;
use crate::input::{self, Input, Named};
use crate::outcome::{Outcome, Presentation};
use crate::own_files::OwnFiles;
use crate::parts;
use crate::probes;
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

With --probe outputs that the user's network gave in floats, at one point each, are compared with the graph:
  {\"format\": \"certkern.probe.v1\", \"arith\": \"float32\", \"x\": [0.1, 2], \"y\": [0.7], \"producer\": \"torch 2.8\"}
Outputs that no run of the graph in that format can give, in whatever order it sums, are a rejection `bind.graph`;
`certkern eval --probe` shows the differences.

With --arith auto every leaf is first tried in binary64, each rounding charged to its bound, and what that does
not close is decided in exact numbers; the report counts both and says what is assumed of the floating-point
unit. With --arith exact no floating-point unit is trusted. Verdict, claim digest and report do not depend on
--jobs; the hints are read while they are used and do not lie in memory.

With --max-memory and --max-time a watch looks every 5 ms what this process holds and how long it has run,
and ends it with `s LIMIT memory` or `s LIMIT time`: never with another verdict.";

/// The arguments of `certkern check`.
#[derive(Clone, clap::Args)]
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
    /// Compare the graph with outputs that the user's network gave at a point; may stand several times
    #[arg(long, value_name = "FILE")]
    probe: Vec<PathBuf>,
    /// Which arithmetic decides
    #[arg(long, value_enum, default_value = "auto")]
    arith: Tiers,
    /// Threads to check on [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    budget: Budget,
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
    probes: Vec<Named>,
}

impl Check {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        self.presentation.check(&self.paths())?;
        if self.onnx.is_none() && !self.freeze.is_empty() {
            return Err(Failure::Usage("--freeze is about the network of --onnx, which is not given".to_owned()));
        }
        let limits = Limits::default();
        let start = Instant::now();
        let own = self.clone();
        let tell = move |verdict| own.presentation.tell(&own.outcome(verdict, Texts::new(), String::new(), start));
        let watch = self.budget.watch(tell)?;
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
        drop(watch);
        let way_out = match (&sources, &verdict) {
            (Ok(Read { input: Input::File(bytes), .. }), Verdict::Rejected(_)) => {
                crate::import::torchlean::way_out(bytes, &limits)
            }
            _ => String::new(),
        };
        self.presentation.tell(&self.outcome(verdict, texts, way_out, start))
    }

    /// A verdict with what is said around it; `text` comes after the kernel's report.
    fn outcome<'a>(&self, verdict: Verdict, texts: Texts<'a>, text: String, start: Instant) -> Outcome<'a> {
        let shown = |path: &Path| path.display().to_string();
        Outcome {
            command: "check",
            verdict,
            texts,
            unnamed: shown(&self.input),
            text,
            members: vec![
                ("input", json!(shown(&self.input))),
                ("onnx", json!(self.onnx.as_deref().map(shown))),
                ("frozen", json!(self.freeze.given())),
                ("property", json!(self.property.as_deref().map(shown))),
                ("probes", json!(self.probe.iter().map(|path| shown(path)).collect::<Vec<_>>())),
            ],
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    /// The files that are read.
    fn paths(&self) -> Vec<&Path> {
        let paths = [Some(&self.input), self.onnx.as_ref(), self.property.as_ref()];
        paths.into_iter().flatten().chain(&self.probe).map(PathBuf::as_path).collect()
    }

    fn read(&self, limits: &Limits) -> Result<Read, Failure> {
        let named = |path: &PathBuf| input::named(path, limits);
        let onnx = self.onnx.as_ref().map(named).transpose()?;
        let property = self.property.as_ref().map(named).transpose()?;
        let probes = self.probe.iter().map(named).collect::<Result<_, _>>()?;
        let input = Input::read(&self.input, input::STREAMED, limits)?;
        Ok(Read { input, own: OwnFiles { onnx, frozen: self.freeze.read(limits)?, property }, probes })
    }

    fn verdict(&self, sources: &Read, limits: &Limits) -> Result<Verdict, Failure> {
        let verdict = match &sources.input {
            Input::Folder(folder) => self.check(folder, limits)?,
            Input::File(bytes) => certkern_claims::check_document(bytes, limits),
        };
        let verdict = sources.own.compare(verdict, limits);
        Ok(probes::compare(verdict, &sources.probes, &sources.input, limits))
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
        texts.extend(self.probes.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
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
