//! `certkern import onnx`: a network as a graph and a payload.

use super::exit_codes;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{digest, input, output};
use certkern_graph::Graph;
use certkern_onnx::Imported;
use certkern_wire::Limits;
use std::fs;
use std::path::PathBuf;

pub(crate) const HELP: &str = concat!(
    "Example:\n  certkern import onnx net.onnx -o net\n\n\
     Writes net/graph.json and net/payload.safetensors and prints their digests. A folder that holds anything else is refused.",
    exit_codes!()
);

pub(crate) const GRAPH: &str = "graph.json";
pub(crate) const PAYLOAD: &str = "payload.safetensors";

/// The arguments of `certkern import onnx`.
#[derive(clap::Args)]
pub(crate) struct Onnx {
    /// The network
    #[arg(value_name = "NET")]
    network: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Onnx {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let progress = Progress::start("importing");
        let bytes = input::file(&self.network, &limits)?;
        output::keep_clear(&self.output, &[&self.network])?;
        output::keep_other_files(&self.output, &[GRAPH, PAYLOAD])?;
        let imported = import(&self.network.display().to_string(), &bytes)?;
        let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &limits)?;
        fs::create_dir_all(&self.output).map_err(|error| Failure::io("write", &self.output, &error))?;
        // The graph comes last: where it stands, its payload does.
        output::write_file(&self.output.join(PAYLOAD), &imported.payload)?;
        output::write_file(&self.output.join(GRAPH), imported.graph.as_bytes())?;
        let digests = digest::text(&digest::of_graph(&graph));
        let (nodes, from, to) = (graph.nodes().len(), &imported.input_shape, &imported.output_shape);
        drop(progress);
        output::print(&format!("{digests}nodes    {nodes}\ninput    {from:?}\noutput   {to:?}\n"))?;
        Ok(0)
    }
}

/// Imports the bytes of the file `name`.
pub(crate) fn import(name: &str, bytes: &[u8]) -> Result<Imported, Failure> {
    certkern_onnx::import(bytes).map_err(|error| Failure::Import(format!("{name}: {error}")))
}
