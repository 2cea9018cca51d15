//! `certkern witness`: the kernel's verdict on a counterexample, and how the point stands to box, property and reported outputs.

mod standing;

use crate::failure::Failure;
use crate::input::{self, Named};
use crate::network::Network;
use crate::outcome::{Outcome, Presentation};
use crate::output;
use crate::own_files::OwnFiles;
use crate::progress::Progress;
use crate::source::Texts;
use certkern_abcrown::Bundle;
use certkern_claims::Files;
use certkern_counterexample::{Counterexample, Parts, Source};
use certkern_graph::Graph;
use certkern_seal::{Documents, Verdict};
use certkern_wire::Limits;
use serde_json::{Value, json};
use standing::Examined;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const HELP: &str = "\
Examples:
  certkern witness net.onnx spec.vnnlib result.counterexample
  certkern witness net/ spec.vnnlib point.json -o bundle

NET is an ONNX file, or the folder that `certkern import onnx` wrote. COUNTEREXAMPLE is either of
  ((X_0 0.5) (X_1 1e-3) (Y_0 2.25))                             with `sat` before it or not
  {\"format\": \"certkern.counterexample.v1\", \"x\": [0.5, \"1/3\"], \"y\": [\"0x1.2p+1\"]}
Every input is given once; the outputs may be left out, all or the last ones. Every number is taken exactly
as it is written.

The kernel evaluates the network at the point and compares exactly; a network with functions such as sigmoid is
evaluated in balls, at increasing precision until they decide:
  s ACCEPTED sat <claim digest>    the point lies in the box and in the unsafe set
  s REJECTED witness.region        it lies outside the box, by however little
  s REJECTED witness.property      it lies in the box, and its outputs in no disjunct of the unsafe set
  s REJECTED witness.undecided     balls at the highest precision do not decide
Box and property are reported apart, each with what it misses by or has to spare, then what the reported
outputs differ by from the exact ones, which are the only ones that count. The last line of that says whether
the tolerance of VNN-COMP 2023 to 2025 would pass the point (10^-4 on box and rows, 10^-4 + 10^-3 |exact| on
reported outputs). That is no proof and has no part in the verdict.

There is no `s` line where COUNTEREXAMPLE cannot be read or is of another network, or NET cannot be imported
(exit code 2). With -o the certificate is written too, accepted or not: `certkern check BUNDLE` gives the
same verdict.";

/// The arguments of `certkern witness`.
#[derive(clap::Args)]
pub(crate) struct Witness {
    /// The network: an ONNX file, or a folder with graph.json and payload.safetensors
    #[arg(value_name = "NET")]
    network: PathBuf,
    /// The property: VNN-LIB, or JSON by the ending .json
    #[arg(value_name = "PROPERTY")]
    property: PathBuf,
    /// The counterexample: VNN-COMP's text, or JSON
    #[arg(value_name = "COUNTEREXAMPLE")]
    counterexample: PathBuf,
    /// Write the certificate as a bundle
    #[arg(short, long, value_name = "BUNDLE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    presentation: Presentation,
}

/// The bytes that the command reads.
struct Sources {
    network: Network,
    property: Named,
    counterexample: Named,
}

impl Witness {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let paths = [&self.network, &self.property, &self.counterexample].map(PathBuf::as_path);
        self.presentation.check(&paths)?;
        if let Some(output) = &self.output {
            output::keep_clear(output, &paths)?;
        }
        let (limits, start) = (Limits::default(), Instant::now());
        let sources = match self.read(&limits) {
            Ok(sources) => sources,
            Err(failure) => return self.tell(Verdict::Rejected(failure.rejection()?), Texts::new(), None, start),
        };
        let examined = match sources.examine(&limits) {
            Ok(examined) => examined,
            Err(failure) => return self.tell(Verdict::Rejected(failure.rejection()?), sources.texts(), None, start),
        };
        let bundle = sources.bundle(&examined);
        let files: Files<'_> = bundle.files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let verdict = certkern_claims::check_bundle(&files, &limits, &Progress::start("checking"));
        let verdict = sources.own_files().compare(verdict, &limits);
        if let Some(output) = &self.output {
            certkern_abcrown::write(&bundle, output).map_err(|error| Failure::io("write", output, &error))?;
        }
        self.tell(verdict, sources.texts(), Some(&examined), start)
    }

    fn read(&self, limits: &Limits) -> Result<Sources, Failure> {
        Ok(Sources {
            network: Network::read(&self.network, limits)?,
            property: input::named(&self.property, limits)?,
            counterexample: input::named(&self.counterexample, limits)?,
        })
    }

    fn tell(
        &self,
        verdict: Verdict,
        texts: Texts<'_>,
        examined: Option<&Examined<'_>>,
        start: Instant,
    ) -> Result<u8, Failure> {
        let shown = |path: &Path| json!(path.display().to_string());
        let outcome = Outcome {
            command: "witness",
            verdict,
            texts,
            unnamed: String::new(),
            text: examined.map(Examined::text).unwrap_or_default(),
            members: vec![
                ("network", shown(&self.network)),
                ("property", shown(&self.property)),
                ("counterexample", shown(&self.counterexample)),
                ("standing", examined.map_or(Value::Null, Examined::json)),
            ],
            seconds: start.elapsed().as_secs_f64(),
        };
        self.presentation.tell(&outcome)
    }
}

impl Sources {
    /// The point and its exact standing.
    fn examine(&self, limits: &Limits) -> Result<Examined<'_>, Failure> {
        let ((graph, bytes), (_, payload)) = (&self.network.graph, &self.network.payload);
        let graph = Graph::read(bytes, Some(payload), limits).map_err(|rejection| rejection.in_file(graph))?;
        let (name, bytes) = &self.property;
        let network = Some(graph.interface());
        let property = certkern_claims::read_property_about(name, bytes, network.as_deref(), limits)?;
        let documents = Documents::new(graph, property).map_err(|rejection| rejection.in_file(name))?;
        let (name, bytes) = &self.counterexample;
        let refused = |error| Failure::Import(format!("{name}: {error}"));
        let counterexample = Counterexample::read(bytes, limits).map_err(refused)?;
        let property = documents.problem().property();
        counterexample.fit(property.inputs(), property.outputs).map_err(refused)?;
        let standing = documents.problem().standing(&counterexample.point());
        let standing = standing.map_err(|error| Failure::Rejected(certkern_claims::unevaluated(&error).into()))?;
        Ok(Examined::new(counterexample, standing, &documents))
    }

    fn bundle(&self, examined: &Examined<'_>) -> Bundle {
        let Self { network: Network { graph, payload, onnx }, property, counterexample } = self;
        let network = match onnx {
            Some(onnx) => vec![("onnx", onnx)],
            None => vec![("graph", graph), ("payload", payload)],
        };
        let named = network.into_iter().chain([("property", property), ("counterexample", counterexample)]);
        let sources: Vec<Source<'_>> =
            named.map(|(role, (path, bytes))| Source { role, name: last_part(path), bytes }).collect();
        let parts = Parts {
            graph: &graph.1,
            payload: &payload.1,
            property: (&property.0, &property.1),
            digests: &examined.digests,
            sources: &sources,
        };
        Bundle { files: certkern_counterexample::bundle(&parts, &examined.counterexample) }
    }

    /// What the user gave, to be compared as `certkern check` compares it.
    fn own_files(&self) -> OwnFiles {
        OwnFiles { onnx: self.network.onnx.clone(), frozen: Vec::new(), property: Some(self.property.clone()) }
    }

    /// The texts in which faults may lie.
    fn texts(&self) -> Texts<'_> {
        let mut texts = Texts::from([(self.property.0.as_str(), self.property.1.as_slice())]);
        if self.network.onnx.is_none() {
            texts.insert(&self.network.graph.0, &self.network.graph.1);
        }
        texts
    }
}

/// The last part of a path, for provenance.
fn last_part(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}
