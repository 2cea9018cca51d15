//! `certkern check`: the kernel's verdict on a certificate, and where the user gives them, the comparison with the user's own files.

use crate::Format;
use crate::failure::{Failure, INTERNAL};
use crate::input::{self, Input};
use crate::output;
use crate::progress::Progress;
use crate::source::{Location, Texts};
use certkern_claims::Files;
use certkern_graph::Graph;
use certkern_seal::{Theorem, Verdict};
use certkern_wire::{Limits, Reason, Rejection, Role};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
kernel has accepted it. A difference, or an ONNX file that cannot be imported, is a rejection `bind.<role>`.";

/// The arguments of `certkern check`.
#[derive(clap::Args)]
pub(crate) struct Check {
    /// A bundle (a folder), or a graph in one JSON document
    #[arg(value_name = "BUNDLE|FILE")]
    input: PathBuf,
    /// Import this network afresh and compare it with the graph and the payload
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    /// Read this property afresh (VNN-LIB, or JSON by the ending .json) and compare it with the region and the unsafe set
    #[arg(long, value_name = "FILE")]
    property: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write the result to a file too: text by the ending .txt, JSON by .json
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print the verdict line only
    #[arg(long)]
    quiet: bool,
}

/// The bytes that a check reads.
struct Sources {
    input: Input,
    onnx: Option<Named>,
    property: Option<Named>,
}

/// A file of the user by the name under which it was given.
type Named = (String, Vec<u8>);

/// A verdict with what the command line adds to it.
struct Outcome<'a> {
    check: &'a Check,
    verdict: Verdict,
    texts: Texts<'a>,
    seconds: f64,
}

impl Check {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let report = self.report.as_deref().map(|path| self.report_format(path)).transpose()?;
        let limits = Limits::default();
        let start = Instant::now();
        let sources = match self.read(&limits) {
            Ok(sources) => Ok(sources),
            Err(Failure::Rejected(rejection)) => Err(rejection),
            Err(failure) => return Err(failure),
        };
        let (verdict, texts) = match &sources {
            Ok(sources) => (sources.check(&limits), sources.texts()),
            Err(rejection) => (Verdict::Rejected(rejection.clone()), Texts::new()),
        };
        let outcome = Outcome { check: self, verdict, texts, seconds: start.elapsed().as_secs_f64() };
        if let (Some(path), Some(format)) = (&self.report, report) {
            output::write_file(path, outcome.document(format).as_bytes())?;
        }
        output::print(&if self.quiet { outcome.line() } else { outcome.document(self.format) })?;
        let code = outcome.verdict.exit_code();
        if code == INTERNAL {
            output::complain(outcome.verdict.report().text().trim_end());
        }
        Ok(code)
    }

    /// The format of the report file by its ending; refused before any work is done.
    fn report_format(&self, path: &Path) -> Result<Format, Failure> {
        let inputs: Vec<&Path> = [Some(&self.input), self.onnx.as_ref(), self.property.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("txt") => Format::Text,
            Some("json") => Format::Json,
            _ => {
                let text = format!("--report {}: the name must end in .txt or .json", path.display());
                return Err(Failure::Usage(text));
            }
        };
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() || !folder.is_dir() {
            return Err(Failure::Usage(format!("--report {}: not a file in an existing folder", path.display())));
        }
        output::keep_clear(path, &inputs)?;
        Ok(format)
    }

    fn read(&self, limits: &Limits) -> Result<Sources, Failure> {
        let named =
            |path: &PathBuf| -> Result<Named, Failure> { Ok((path.display().to_string(), input::file(path, limits)?)) };
        let onnx = self.onnx.as_ref().map(named).transpose()?;
        let property = self.property.as_ref().map(named).transpose()?;
        Ok(Sources { input: Input::read(&self.input, limits)?, onnx, property })
    }
}

impl Sources {
    fn check(&self, limits: &Limits) -> Verdict {
        let verdict = match &self.input {
            Input::Folder(files) => {
                let files: Files<'_> = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
                certkern_claims::check_bundle(&files, limits, &mut Progress::start())
            }
            Input::File(bytes) => certkern_claims::check_document(bytes, limits),
        };
        match verdict {
            Verdict::Accepted(theorem) => self.compare(*theorem, limits).into(),
            rejected @ Verdict::Rejected(_) => rejected,
        }
    }

    /// The theorem with the user's own files compared, if they are what it is about.
    fn compare(&self, mut theorem: Theorem, limits: &Limits) -> Result<Theorem, Rejection> {
        if let Some((name, bytes)) = &self.onnx {
            let imported = certkern_onnx::import(bytes).map_err(|error| Reason::BindUnreadable {
                role: Role::Graph,
                file: name.clone(),
                detail: error.to_string(),
            })?;
            let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), limits);
            theorem = theorem.compared_with_model(&graph.map_err(|rejection| rejection.in_file(name))?, name)?;
        }
        if let Some((name, bytes)) = &self.property {
            let property = certkern_claims::read_property(name, bytes, limits)?;
            theorem = theorem.compared_with_property(&property, name)?;
        }
        Ok(theorem)
    }

    /// The texts in which faults may lie.
    fn texts(&self) -> Texts<'_> {
        let mut texts = Texts::new();
        if let Some((name, bytes)) = &self.property {
            texts.insert(name, bytes);
        }
        // The files of the certificate come last: theirs are the names in a bundle.
        match &self.input {
            Input::Folder(files) => texts.extend(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))),
            Input::File(bytes) => drop(texts.insert("", bytes)),
        }
        texts
    }
}

impl Outcome<'_> {
    /// The verdict line with its end; empty for an internal error, which is no verdict.
    fn line(&self) -> String {
        let line = self.verdict.line();
        if line.is_empty() { line } else { line + "\n" }
    }

    /// All that is said about the check; the verdict line is the last.
    fn document(&self, format: Format) -> String {
        let said = match format {
            Format::Text => self.text(),
            Format::Json => format!("{}\n", self.json()),
        };
        said + &self.line()
    }

    fn locations(&self) -> Vec<Option<Location<'_>>> {
        match &self.verdict {
            Verdict::Accepted(_) => Vec::new(),
            Verdict::Rejected(rejection) => rejection.faults().map(|fault| Location::of(fault, &self.texts)).collect(),
        }
    }

    /// The kernel's report, then for each fault in a text the line at fault.
    fn text(&self) -> String {
        let mut text = self.verdict.report().text();
        let input = self.check.input.display().to_string();
        for location in self.locations().iter().flatten() {
            text.push('\n');
            text.push_str(&location.text(if location.file.is_empty() { &input } else { location.file }));
        }
        text
    }

    /// The kernel's report within what the command line knows, on one line.
    fn json(&self) -> String {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let location = |location: &Option<Location<'_>>| match location {
            Some(location) => json!({"line": location.line, "column": location.column}),
            None => Value::Null,
        };
        let locations: Vec<Value> = self.locations().iter().map(location).collect();
        let members = [
            ("certkern", json!(env!("CARGO_PKG_VERSION"))),
            ("command", json!("check")),
            ("input", json!(self.check.input.display().to_string())),
            ("onnx", json!(path(&self.check.onnx))),
            ("property", json!(path(&self.check.property))),
            ("seconds", json!(self.seconds)),
            ("locations", json!(locations)),
        ];
        let members: String = members.iter().map(|(name, value)| format!("\"{name}\":{value},")).collect();
        format!("{{{members}\"report\":{}}}", self.verdict.report().json())
    }
}
