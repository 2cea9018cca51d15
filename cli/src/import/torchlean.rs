//! `certkern import torchlean`: an artifact of TorchLean as a certificate.

use super::exit_codes;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{digest, input, output};
use certkern_torchlean::{Certificate, Given, MarginClaim};
use certkern_wire::Limits;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = concat!(
    "Examples:\n  certkern import torchlean query.json -o bundle\n  \
     certkern import torchlean leaves.json --graph net/graph.json --payload net/payload.safetensors --property spec.vnnlib -o bundle\n  \
     certkern check bundle\n\n\
     Reads crown_query_v1, monotonicity_v1 (which becomes one JSON document), abcrown_leaf_artifact_v0_1, robust_margin_cert_v0_1, torchlean.bound.v1 and LiRPA IBP certificates. What an \
     artifact states about a result is a claim, for `certkern check` to decide; what it lacks is told by name. docs/torchlean.md says what becomes of each.",
    exit_codes!()
);

/// The arguments of `certkern import torchlean`.
#[derive(clap::Args)]
pub(crate) struct Torchlean {
    /// The artifact
    #[arg(value_name = "ARTIFACT")]
    artifact: PathBuf,
    /// The graph that it is about
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// The numbers of the graph, where they do not stand in it
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// The property (VNN-LIB, or JSON by the ending .json)
    #[arg(long, value_name = "FILE")]
    property: Option<PathBuf>,
    /// The region of bounds, a box in JSON
    #[arg(long, value_name = "FILE")]
    region: Option<PathBuf>,
    /// The weights of a margin report
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// The points of a margin report
    #[arg(long, value_name = "FILE")]
    dataset: Option<PathBuf>,
    /// The example of a margin report, by its id
    #[arg(long, value_name = "ID")]
    example: Option<usize>,
    /// What is claimed of the example [default: bound]
    #[arg(long, value_enum)]
    claim: Option<Claim>,
    /// The bundle, or the document, to write
    #[arg(short, long, visible_alias = "out", value_name = "BUNDLE")]
    output: PathBuf,
}

/// What is claimed of an example of a margin report.
#[derive(Clone, Copy, ValueEnum)]
enum Claim {
    /// The logits lie within their bounds
    Bound,
    /// The logit of the label is above all others
    Margin,
}

impl Torchlean {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let progress = Progress::start("importing");
        let named = |path: &PathBuf| input::named(path, &limits);
        let read = |path: &Option<PathBuf>| path.as_ref().map(named).transpose();
        let artifact = named(&self.artifact)?;
        let (graph, payload, property) = (read(&self.graph)?, read(&self.payload)?, read(&self.property)?);
        let (region, weights, dataset) = (read(&self.region)?, read(&self.weights)?, read(&self.dataset)?);
        output::keep_clear(&self.output, &self.inputs())?;
        let given = Given {
            graph: borrowed(&graph),
            payload: borrowed(&payload),
            property: borrowed(&property),
            region: borrowed(&region),
            weights: borrowed(&weights),
            dataset: borrowed(&dataset),
            example: self.example,
            claim: self.claim.map(|claim| match claim {
                Claim::Bound => MarginClaim::Bound,
                Claim::Margin => MarginClaim::Margin,
            }),
        };
        let imported = certkern_torchlean::convert((&artifact.0, &artifact.1), &given, &limits)
            .map_err(|error| Failure::Import(format!("{}: {error}", self.artifact.display())))?;
        let digests = match imported.certificate {
            Certificate::Bundle(bundle) => {
                certkern_torchlean::write(&bundle, &self.output)
                    .map_err(|error| Failure::io("write", &self.output, &error))?;
                digest::of_bundle(bundle.files, &limits)?
            }
            Certificate::Document { bytes, digests } => {
                output::write_file(&self.output, &bytes)?;
                digests
            }
        };
        drop(progress);
        if !imported.dropped.is_empty() {
            output::complain(&format!("{}: {}", self.artifact.display(), imported.dropped));
        }
        output::print(&digest::text(&digests))?;
        Ok(0)
    }

    /// The files that are read.
    fn inputs(&self) -> Vec<&Path> {
        let given = [&self.graph, &self.payload, &self.property, &self.region, &self.weights, &self.dataset];
        let given = given.into_iter().flatten().chain([&self.artifact]);
        given.map(PathBuf::as_path).collect()
    }
}

fn borrowed(named: &Option<input::Named>) -> Option<certkern_torchlean::Named<'_>> {
    named.as_ref().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
}

/// What can be done with a document that is an artifact and no certificate; empty if it is none.
pub(crate) fn way_out(bytes: &[u8], limits: &Limits) -> String {
    use certkern_torchlean::Artifact;
    let Ok(document) = certkern_wire::json::parse(bytes, limits) else { return String::new() };
    match Artifact::of(&document) {
        None | Some(Artifact::Graph) => String::new(),
        Some(artifact) => match artifact.without_claim() {
            None => format!(
                "\nThis is {}, not a certificate: `certkern import torchlean` makes one of it (docs/torchlean.md).\n",
                artifact.name()
            ),
            Some(why) => format!("\nThis is {}: {why} (docs/torchlean.md).\n", artifact.name()),
        },
    }
}
