//! What a command says of a verdict: on standard output, and in a report file.

use crate::Format;
use crate::failure::{Failure, INTERNAL};
use crate::output;
use crate::source::{Location, Texts};
use certkern_report::Report;
use certkern_seal::Verdict;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How a verdict is told.
#[derive(Clone, clap::Args)]
pub(crate) struct Presentation {
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

/// A verdict with what the command line adds to it.
pub(crate) struct Outcome<'a> {
    /// The name of the command.
    pub(crate) command: &'static str,
    /// The kernel's verdict.
    pub(crate) verdict: Verdict,
    /// The texts in which its faults may lie.
    pub(crate) texts: Texts<'a>,
    /// The name of the text that has the empty name.
    pub(crate) unnamed: String,
    /// What stands after the kernel's report.
    pub(crate) text: String,
    /// Members of the JSON object.
    pub(crate) members: Vec<(&'static str, Value)>,
    /// How long it took.
    pub(crate) seconds: f64,
}

impl Presentation {
    /// Refuses a report file that cannot be written, or that would overwrite an input, before any work is done.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<(), Failure> {
        let Some(path) = &self.report else { return Ok(()) };
        report_format(path)?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() || !folder.is_dir() {
            return Err(Failure::Usage(format!("--report {}: not a file in an existing folder", path.display())));
        }
        output::keep_clear(path, inputs)
    }

    /// Tells the outcome; the exit code is that of the verdict.
    pub(crate) fn tell(&self, outcome: &Outcome<'_>) -> Result<u8, Failure> {
        if let Some(path) = &self.report {
            output::write_file(path, outcome.document(report_format(path)?).as_bytes())?;
        }
        output::print(&if self.quiet { outcome.line() } else { outcome.document(self.format) })?;
        let code = outcome.verdict.exit_code();
        if code == INTERNAL {
            output::complain(Report::of(&outcome.verdict).text().trim_end());
        }
        Ok(code)
    }
}

/// The format of a report file by its ending.
fn report_format(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("txt") => Ok(Format::Text),
        Some("json") => Ok(Format::Json),
        _ => Err(Failure::Usage(format!("--report {}: the name must end in .txt or .json", path.display()))),
    }
}

impl Outcome<'_> {
    /// The verdict line with its end; empty for an internal error, which is no verdict.
    fn line(&self) -> String {
        let line = self.verdict.line();
        if line.is_empty() { line } else { line + "\n" }
    }

    /// All that is said about the verdict; its line is the last.
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

    /// The kernel's report, for each fault in a text the line at fault, and what the command adds.
    fn text(&self) -> String {
        let mut text = Report::of(&self.verdict).text();
        for location in self.locations().iter().flatten() {
            text.push('\n');
            text.push_str(&location.text(if location.file.is_empty() { &self.unnamed } else { location.file }));
        }
        text + &self.text
    }

    /// The kernel's report within what the command line knows, on one line.
    fn json(&self) -> String {
        let location = |location: &Option<Location<'_>>| match location {
            Some(location) => json!({"line": location.line, "column": location.column}),
            None => Value::Null,
        };
        let locations: Vec<Value> = self.locations().iter().map(location).collect();
        let first = [("certkern", json!(env!("CARGO_PKG_VERSION"))), ("command", json!(self.command))];
        let last = [("seconds", json!(self.seconds)), ("locations", json!(locations))];
        let members = first.iter().chain(&self.members).chain(&last);
        let members: String = members.map(|(name, value)| format!("\"{name}\":{value},")).collect();
        format!("{{{members}\"report\":{}}}", Report::of(&self.verdict).json())
    }
}
