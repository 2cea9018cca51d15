//! `certkern import onnx`: a network as a graph and a payload.

use super::exit_codes;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{digest, input, output};
use certkern_graph::Graph;
use certkern_onnx::{Frozen, ImportError, Imported};
use certkern_wire::Limits;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = concat!(
    "Examples:\n  certkern import onnx net.onnx -o net\n  certkern import onnx net.onnx --freeze scale=scale.npy -o net\n\n\
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
    #[command(flatten)]
    freeze: Freeze,
}

/// The graph inputs that are frozen.
#[derive(Clone, clap::Args)]
pub(crate) struct Freeze {
    /// A graph input that becomes a constant, with the file of its tensor (.npy, or a TensorProto); may stand several times
    #[arg(long, value_name = "NAME=FILE")]
    freeze: Vec<String>,
}

/// The file of the tensor that an input is frozen to.
pub(crate) struct FrozenFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    bytes: Vec<u8>,
}

impl Onnx {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let progress = Progress::start("importing");
        let bytes = input::file(&self.network, &limits)?;
        let frozen = self.freeze.read(&limits)?;
        let read: Vec<&Path> =
            frozen.iter().map(|tensor| tensor.path.as_path()).chain([self.network.as_path()]).collect();
        output::keep_clear(&self.output, &read)?;
        output::keep_other_files(&self.output, &[GRAPH, PAYLOAD])?;
        let imported = import(&self.network.display().to_string(), &bytes, &frozen)?;
        let graph = Graph::read(imported.graph.as_bytes(), Some(&imported.payload), &limits)?;
        fs::create_dir_all(&self.output).map_err(|error| Failure::io("write", &self.output, &error))?;
        // The graph comes last: where it stands, its payload does.
        output::write_file(&self.output.join(PAYLOAD), &imported.payload)?;
        output::write_file(&self.output.join(GRAPH), imported.graph.as_bytes())?;
        let digests = digest::text(&digest::of_graph(&graph));
        let (nodes, from) = (graph.nodes().len(), &imported.input_shape);
        let to: String = imported.output_shapes.iter().map(|shape| format!("output   {shape:?}\n")).collect();
        drop(progress);
        output::print(&format!("{digests}nodes    {nodes}\ninput    {from:?}\n{to}"))?;
        Ok(0)
    }
}

impl Freeze {
    /// What was given, each `NAME=FILE`.
    pub(crate) fn given(&self) -> &[String] {
        &self.freeze
    }

    /// Whether no input is frozen.
    pub(crate) fn is_empty(&self) -> bool {
        self.freeze.is_empty()
    }

    /// The tensors of frozen inputs. A name may hold `=`, a path after it may not.
    pub(crate) fn read(&self, limits: &Limits) -> Result<Vec<FrozenFile>, Failure> {
        let mut frozen = Vec::with_capacity(self.freeze.len());
        for text in &self.freeze {
            let Some((name, path)) = text.rsplit_once('=') else {
                return Err(Failure::Usage(format!("--freeze {text} is not NAME=FILE")));
            };
            let path = PathBuf::from(path);
            frozen.push(FrozenFile { name: name.to_owned(), bytes: input::file(&path, limits)?, path });
        }
        Ok(frozen)
    }
}

/// Imports the bytes of the file `name`.
pub(crate) fn import(name: &str, bytes: &[u8], frozen: &[FrozenFile]) -> Result<Imported, Failure> {
    import_frozen(bytes, frozen).map_err(|error| Failure::Import(format!("{name}: {error}")))
}

/// Imports a network of which some inputs are frozen.
pub(crate) fn import_frozen(bytes: &[u8], frozen: &[FrozenFile]) -> Result<Imported, ImportError> {
    let frozen: Vec<Frozen> = frozen.iter().map(|FrozenFile { name, bytes, .. }| Frozen { name, bytes }).collect();
    certkern_onnx::import_frozen(bytes, &frozen)
}
