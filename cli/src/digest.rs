//! `certkern digest`: the digests of documents, computed by the kernel's code from their bytes.

use crate::Format;
use crate::failure::Failure;
use crate::folder::{self, Folder, MANIFEST};
use crate::input::{self, Input, Named};
use crate::output;
use crate::streamed::Streamed;
use certkern_graph::Graph;
use certkern_seal::Stated;
use certkern_wire::tensors::Source;
use certkern_wire::{Limits, Rejection, Role, json};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Examples:
  certkern digest bundle/
  certkern digest graph.json payload.safetensors
  certkern digest graph.json payload.safetensors spec.vnnlib
  certkern digest claim.json

A file ending in .safetensors is a payload, one in .vnnlib a property; a .json file is what its `format`
says. A payload has a digest only with its graph, and the output digest needs graph and property, because
it covers the output ids. Of a bundle the digests of the documents are printed, whatever its manifest names;
of an enclosure those of query and answer, whatever query the answer names.";

/// The arguments of `certkern digest`.
#[derive(clap::Args)]
pub(crate) struct Digest {
    /// A bundle (a folder), or a graph, a payload, a property, an enclosure
    #[arg(required = true, num_args = 1..=3)]
    files: Vec<PathBuf>,
    /// How the digests are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// The ending of the name of a payload.
const PAYLOAD: &str = ".safetensors";

/// A document by its role, with its name.
#[derive(Default)]
struct Documents {
    graph: Option<Named>,
    payload: Option<(String, Box<dyn Source>)>,
    property: Option<Named>,
    /// A region, and bounds of outputs, or of nodes where so said.
    bounds: Option<(Named, Named, bool)>,
    enclosure: Option<Named>,
}

/// Digests by the names of their roles.
pub(crate) type Digests = Vec<(&'static str, String)>;

impl Digest {
    pub(crate) fn run(&self) -> Result<u8, Failure> {
        let limits = Limits::default();
        let digests = self.read(&limits)?.digests(&limits)?;
        output::print(&match self.format {
            Format::Text => text(&digests),
            Format::Json => {
                let digests = digests.iter().map(|(role, digest)| ((*role).to_owned(), json!(digest)));
                let digests: Map<String, Value> = digests.collect();
                format!("{}\n", json!({"certkern": env!("CARGO_PKG_VERSION"), "command": "digest", "digests": digests}))
            }
        })?;
        Ok(0)
    }

    fn read(&self, limits: &Limits) -> Result<Documents, Failure> {
        let mut documents = Documents::default();
        for path in &self.files {
            let name = path.display().to_string();
            if name.ends_with(PAYLOAD) && path.is_file() {
                documents.add_payload(name, input::streamed_file(path)?)?;
                continue;
            }
            match Input::read(path, input::STREAMED, limits)? {
                Input::Folder(folder) if self.files.len() == 1 => return Documents::of_bundle(folder, limits),
                Input::Folder(_) => return Err(Failure::Usage(format!("{name} is a folder: give a bundle alone"))),
                Input::File(bytes) => documents.add(name, bytes, limits)?,
            }
        }
        Ok(documents)
    }
}

/// One line for each digest.
pub(crate) fn text(digests: &Digests) -> String {
    digests.iter().map(|(role, digest)| format!("{role:<8} {digest}\n")).collect()
}

/// The digests of the documents of a bundle.
pub(crate) fn of_bundle(files: BTreeMap<String, Vec<u8>>, limits: &Limits) -> Result<Digests, Failure> {
    Documents::of_bundle(Folder { files, streamed: BTreeMap::new() }, limits)?.digests(limits)
}

/// The digests of a graph.
pub(crate) fn of_graph(graph: &Graph) -> Digests {
    vec![(Role::Graph.name(), graph.digest().to_string()), (Role::Payload.name(), graph.payload_digest().to_string())]
}

impl Documents {
    /// The documents that the manifest names.
    fn of_bundle(Folder { mut files, mut streamed }: Folder, limits: &Limits) -> Result<Self, Failure> {
        let manifest =
            files.remove(MANIFEST).ok_or_else(|| Failure::Usage("the folder has no bundle.json".to_owned()))?;
        let named = |role| folder::named_in(&manifest, role, limits).map_err(|rejection| rejection.in_file(MANIFEST));
        let missing =
            |name: &str, role: &str| Failure::Usage(format!("the bundle has no file {name:?} for its {role}"));
        let mut take = |role| -> Result<_, Failure> {
            let name: String = named(role)?;
            let bytes = files.remove(&name).ok_or_else(|| missing(&name, role))?;
            Ok(Some((name, bytes)))
        };
        let graph = take("graph")?;
        let role = ["bound", "nodes"].into_iter().find(|role| named(role).is_ok());
        let (property, bounds) = match role {
            Some(role) => (None, take("region")?.zip(take(role)?).map(|(region, own)| (region, own, role == "nodes"))),
            None => (take("property")?, None),
        };
        let name: String = named("payload")?;
        let payload: Box<dyn Source> = match streamed.remove(&name) {
            Some(file) => Box::new(file),
            None => Box::new(files.remove(&name).ok_or_else(|| missing(&name, "payload"))?),
        };
        Ok(Self { graph, payload: Some((name, payload)), property, bounds, enclosure: None })
    }

    fn add_payload(&mut self, name: String, file: Streamed) -> Result<(), Failure> {
        if self.payload.is_some() {
            return Err(twice(&name));
        }
        self.payload = Some((name, Box::new(file)));
        Ok(())
    }

    fn add(&mut self, name: String, bytes: Vec<u8>, limits: &Limits) -> Result<(), Failure> {
        let slot = if name.ends_with(".vnnlib") {
            &mut self.property
        } else {
            match format(&bytes, limits).map_err(|rejection| rejection.in_file(&name))?.as_str() {
                "certkern.property.v1" => &mut self.property,
                "certkern.enclosure.v1" => &mut self.enclosure,
                _ => &mut self.graph,
            }
        };
        if slot.is_some() {
            return Err(twice(&name));
        }
        *slot = Some((name, bytes));
        Ok(())
    }

    fn digests(&self, limits: &Limits) -> Result<Digests, Failure> {
        let graph = match (&self.graph, &self.payload) {
            (Some((name, bytes)), payload) => {
                let payload = payload.as_ref().map(|(_, source)| source.as_ref());
                Some(Graph::read(bytes, payload, limits).map_err(|rejection| rejection.in_file(name))?)
            }
            (None, Some((name, _))) => {
                return Err(Failure::Usage(format!("{name}: a payload has a digest only with its graph")));
            }
            (None, None) => None,
        };
        let stated: Option<Stated> = match (&self.property, &self.bounds) {
            (Some((name, bytes)), _) => {
                let network = graph.as_ref().map(Graph::interface);
                Some(certkern_claims::read_property_about(name, bytes, network.as_deref(), limits)?.into())
            }
            (None, Some(((region, ends), (name, bytes), of_nodes))) => {
                Some(certkern_claims::read_bounds((region, ends), (name, bytes), *of_nodes, limits)?)
            }
            (None, None) => None,
        };
        let mut digests = graph.as_ref().map(of_graph).unwrap_or_default();
        if let Some(stated) = &stated {
            digests.push((Role::Input.name(), stated.input_digest().to_string()));
            if let Some(graph) = &graph {
                digests.push((Role::Output.name(), stated.output_digest(graph).to_string()));
            }
        }
        if let Some((name, bytes)) = &self.enclosure {
            let read = certkern_claims::enclosure_digests(bytes, limits);
            let (query, answer) = read.map_err(|rejection| rejection.in_file(name))?;
            digests.extend([(Role::Query.name(), query.to_string()), ("answer", answer.to_string())]);
        }
        Ok(digests)
    }
}

fn twice(name: &str) -> Failure {
    Failure::Usage(format!("{name}: there is such a document already"))
}

/// The member `format` of a JSON document.
fn format(bytes: &[u8], limits: &Limits) -> Result<String, Rejection> {
    let document = json::parse(bytes, limits)?;
    Ok(document.object("")?.required("format")?.string("format")?.to_owned())
}
