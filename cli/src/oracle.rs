//! `certkern oracle`: a tool answers a query, and the kernel's verdict on query and answer.

use crate::failure::Failure;
use crate::input;
use crate::outcome::{Outcome, Presentation};
use crate::output;
use crate::progress::Progress;
use crate::source::Texts;
use certkern_runner::{Budget, Document, Fault, Tool, join};
use certkern_seal::Verdict;
use certkern_wire::Limits;
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) const HELP: &str = "\
Examples:
  certkern oracle query.json
  certkern oracle query.json -o claim.json --tool venv/bin/python -- -m certkern_oracles.arb

QUERY is one document in certkern.enclosure-query.v1 with any number of expressions and outputs
(schemas/SPEC.md, section 9). One process answers all of it. The default tool is
`python3 -m certkern_oracles.arb`: Arb through python-flint, where python3 finds both, after
`pip install 'oracles/python[arb]'` or with oracles/python on PYTHONPATH.

The tool is not trusted. It reads the query from standard input, writes the answer, one JSON document and
nothing else, to standard output, and ends with status 0 (docs/oracle-runner.md). Query and answer make a
certificate, and the kernel checks it as `certkern check` does, with the same report, verdict line and codes.

There is no `s` line where the tool gives no answer: exit code 64 if it cannot be started, 2 if it fails,
takes too long, writes too much or writes anything but one JSON document. What it wrote is not used then. The
complaint shows the command, its status and the end of its standard error. In every case the tool and all
processes of its group are gone when this command ends. With -o the certificate is written too, accepted or
not: `certkern check FILE` gives the same verdict.";

/// The arguments of `certkern oracle`.
#[derive(clap::Args)]
pub(crate) struct Oracle {
    /// The query, one JSON document
    #[arg(value_name = "QUERY")]
    query: PathBuf,
    /// The program that answers; its arguments follow after `--` [default: python3 -- -m certkern_oracles.arb]
    #[arg(long, value_name = "CMD")]
    tool: Option<OsString>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS", requires = "tool")]
    arguments: Vec<OsString>,
    /// Kill the tool if it has not ended after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Kill the tool if more comes to its standard output
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    max_output: usize,
    /// The most bits that the kernel computes with [default: 1024]
    #[arg(long, value_name = "BITS")]
    precision: Option<u32>,
    /// Write the certificate, one JSON document
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    presentation: Presentation,
}

impl Oracle {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let inputs = [self.query.as_path()];
        self.presentation.check(&inputs)?;
        if let Some(output) = &self.output {
            output::keep_clear(output, &inputs)?;
        }
        let (limits, start) = (Limits::default(), Instant::now());
        let (name, bytes) = match input::named(&self.query, &limits) {
            Ok(query) => query,
            Err(failure) => return self.tell(Verdict::Rejected(failure.rejection()?), Texts::new(), start),
        };
        let query = match Document::read(&bytes, &limits) {
            Ok(query) => query,
            Err(rejection) => {
                let texts = Texts::from([(name.as_str(), bytes.as_slice())]);
                return self.tell(Verdict::Rejected(rejection.in_file(&name)), texts, start);
            }
        };
        let certificate = self.certificate(&query, &bytes, &limits)?;
        if let Some(output) = &self.output {
            output::write_file(output, &certificate)?;
        }
        let checking = Progress::start("checking");
        let verdict = certkern_claims::check_document(&certificate, &limits);
        drop(checking);
        self.tell(verdict, Texts::from([("", certificate.as_slice())]), start)
    }

    /// The query with the answer of the tool.
    fn certificate(&self, query: &Document<'_>, bytes: &[u8], limits: &Limits) -> Result<Vec<u8>, Failure> {
        let tool = self.tool();
        let budget = Budget { time: Duration::from_secs(self.timeout), output: self.max_output };
        let signals =
            signals::Watched::start().map_err(|error| Failure::Usage(format!("cannot watch for signals: {error}")))?;
        let asking = Progress::start("waiting for the tool");
        let asked = tool.ask(bytes, &budget, &|| signals.came());
        drop(asking);
        signals.end();
        let output = asked.map_err(refused)?;
        let answer = tool.answered(&output, limits).map_err(refused)?;
        Ok(join(query, &answer, self.precision))
    }

    fn tool(&self) -> Tool {
        match &self.tool {
            Some(program) => Tool { program: program.clone(), arguments: self.arguments.clone() },
            None => Tool::default(),
        }
    }

    fn tell(&self, verdict: Verdict, texts: Texts<'_>, start: Instant) -> Result<u8, Failure> {
        let written = self.output.as_ref().map(|path| path.display().to_string());
        let outcome = Outcome {
            command: "oracle",
            verdict,
            texts,
            unnamed: written.clone().unwrap_or_else(|| "query and answer".to_owned()),
            text: String::new(),
            members: vec![
                ("query", json!(self.query.display().to_string())),
                ("tool", json!(self.tool().to_string())),
                ("output", json!(written)),
            ],
            seconds: start.elapsed().as_secs_f64(),
        };
        self.presentation.tell(&outcome)
    }
}

/// Why there is no answer, for people.
fn refused(failure: certkern_runner::Failure) -> Failure {
    match failure.fault {
        Fault::Start(_) | Fault::Platform => Failure::Usage(failure.to_string()),
        _ => Failure::Import(failure.to_string()),
    }
}

/// Signals that end this command. The tool has a process group of its own, which the terminal does not reach, so it is killed first.
#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::low_level::emulate_default_handler;
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Which signal came, 0 for none, and whether signals are no longer held back.
    pub(super) struct Watched {
        came: Arc<AtomicUsize>,
        over: Arc<AtomicBool>,
    }

    impl Watched {
        pub(super) fn start() -> io::Result<Self> {
            let watched = Self { came: Arc::default(), over: Arc::default() };
            for signal in [SIGINT, SIGTERM] {
                flag::register_conditional_default(signal, Arc::clone(&watched.over))?;
                flag::register_usize(signal, Arc::clone(&watched.came), signal.unsigned_abs() as usize)?;
            }
            Ok(watched)
        }

        pub(super) fn came(&self) -> bool {
            self.came.load(Ordering::SeqCst) != 0
        }

        /// Signals end this command again; if one came, now.
        pub(super) fn end(self) {
            self.over.store(true, Ordering::SeqCst);
            if let Ok(signal @ 1..) = i32::try_from(self.came.load(Ordering::SeqCst)) {
                // What fails here leaves the failure of the tool to be told.
                let _ = emulate_default_handler(signal);
            }
        }
    }
}

/// Where there are no signals, none comes.
#[cfg(not(unix))]
mod signals {
    pub(super) struct Watched;

    impl Watched {
        pub(super) fn start() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn came(&self) -> bool {
            false
        }

        pub(super) fn end(self) {}
    }
}
