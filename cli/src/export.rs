//! `certkern export`: a graph as a network of another program. Nothing here is trusted.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::{digest, input, output};
use certkern_graph::Graph;
use certkern_wire::Limits;
use certkern_wire::tensors::Source;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Example:
  certkern export torch net/graph.json net/payload.safetensors -o model

Writes model/model.py, a class Model of PyTorch, and model/model.safetensors, its state dictionary, and prints the
digests of graph and payload. A folder that holds anything else is refused. PyTorch is not needed. Numbers keep their
bits; what PyTorch does not compute as the graph means it is refused by name. The way back, which gives the same
digests for a graph that came from there:
  python -m certkern_oracles.torch_export model/model.py:Model --shape 1,3 --state-dict model/model.safetensors -o net

Exit codes: 0 written, 2 the graph is refused, 64 usage, 70 internal error. The inputs are never written to.";

const SOURCE: &str = "model.py";
const STATE: &str = "model.safetensors";

/// The exporters.
#[derive(clap::Subcommand)]
pub(crate) enum Export {
    /// The source of a PyTorch module and its state dictionary
    #[command(after_help = HELP)]
    Torch(Torch),
}

/// The arguments of `certkern export torch`.
#[derive(clap::Args)]
pub(crate) struct Torch {
    /// The graph
    #[arg(value_name = "GRAPH")]
    graph: PathBuf,
    /// Its numbers, where they do not stand in the graph
    #[arg(value_name = "PAYLOAD")]
    payload: Option<PathBuf>,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Export {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        match self {
            Self::Torch(torch) => torch.run(),
        }
    }
}

impl Torch {
    fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let progress = Progress::start("exporting");
        let bytes = input::file(&self.graph, &limits)?;
        let inputs: Vec<&Path> =
            [Some(&self.graph), self.payload.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect();
        output::keep_clear(&self.output, &inputs)?;
        output::keep_other_files(&self.output, &[SOURCE, STATE])?;
        let payload = self.payload.as_deref().map(input::streamed_file).transpose()?;
        let payload = payload.as_ref().map(|file| file as &dyn Source);
        let name = self.graph.display().to_string();
        let graph = Graph::read(&bytes, payload, &limits).map_err(|rejection| rejection.in_file(&name))?;
        let model = certkern_torch::write(&graph).map_err(|refusal| Failure::Import(format!("{name}: {refusal}")))?;
        fs::create_dir_all(&self.output).map_err(|error| Failure::io("write", &self.output, &error))?;
        output::write_file(&self.output.join(STATE), &model.state)?;
        output::write_file(&self.output.join(SOURCE), model.source.as_bytes())?;
        let digests = digest::text(&digest::of_graph(&graph));
        drop(progress);
        output::print(&digests)?;
        Ok(0)
    }
}
