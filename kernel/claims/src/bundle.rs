//! Bundles: the manifest, the files that it names, and the binding of documents to digests.

use crate::leaves::Leaves;
use crate::{Arith, witness};
use certkern_core::num::Rational;
use certkern_core::property::Property;
use certkern_graph::Graph;
use certkern_seal::{Digests, Documents, Stated};
use certkern_wire::digest::{GraphDigest, InputDigest, OutputDigest, PayloadDigest};
use certkern_wire::fields::Fields;
use certkern_wire::json::{self, Json};
use certkern_wire::limits::Limits;
use certkern_wire::reason::{Fault, Reason, Rejection, Role, SHOWN};
use certkern_wire::tensors::Source;
use certkern_wire::{bound, nodes, property, region, vnnlib};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a bundle by name.
pub type Files<'a> = BTreeMap<String, &'a [u8]>;

/// The files of a bundle that do not lie in memory, by name.
pub type Sources<'a> = BTreeMap<String, &'a dyn Source>;

/// The name of the manifest.
const MANIFEST: &str = "bundle.json";

/// A file by name.
pub(crate) type Named<'a> = (&'a str, &'a [u8]);

/// The certificate kinds that come as bundles.
#[derive(Clone, Copy)]
enum Kind {
    Bound,
    Leaves,
    Nodes,
    Witness,
}

/// The files that say what is claimed.
enum Specification {
    /// A region and an unsafe set.
    Property(String),
    /// A region, and bounds of the outputs or of nodes.
    Bounds { region: String, bounds: String },
}

/// What a manifest says.
struct Manifest {
    kind: Kind,
    graph: String,
    payload: String,
    specification: Specification,
    certificate: String,
    hints: Option<String>,
    digests: Digests,
    outside: Vec<String>,
}

/// What a bundle claims about its documents, read as far as it is not streamed.
#[derive(Debug)]
pub(crate) enum Claim<'a> {
    Leaves(Box<Leaves<'a>>),
    Witness(Vec<Rational>),
}

/// Reads and binds the documents and opens the certificate.
pub(crate) fn open<'a>(
    files: &'a Files<'_>,
    sources: &'a Sources<'a>,
    limits: &Limits,
    arith: Arith,
) -> Result<(Documents, Claim<'a>), Rejection> {
    let manifest = file(files, MANIFEST)?;
    let manifest = read_manifest(manifest, limits).map_err(|rejection| rejection.in_file(MANIFEST))?;
    no_strangers(files.keys().chain(sources.keys()).map(String::as_str), &manifest)?;
    let graph = Graph::read(file(files, &manifest.graph)?, Some(source(files, sources, &manifest.payload)?), limits);
    let graph = graph.map_err(|rejection| named_payload(rejection, &manifest.payload).in_file(&manifest.graph))?;
    let mut documents = match &manifest.specification {
        Specification::Property(name) => {
            let property = read_property_about(name, file(files, name)?, Some(&graph.interface()), limits)?;
            Documents::new(graph, property).map_err(|rejection| rejection.in_file(name))?
        }
        Specification::Bounds { region: name, bounds } => {
            let (region, claimed) = ((name.as_str(), *file(files, name)?), (bounds.as_str(), *file(files, bounds)?));
            let stated = read_bounds(region, claimed, matches!(manifest.kind, Kind::Nodes), limits)?;
            Documents::new(graph, stated).map_err(|rejection| rejection.in_file(bounds))?
        }
    };
    documents.outside = manifest.outside;
    documents.bind(&manifest.digests).map_err(|rejection| rejection.in_file(MANIFEST))?;
    let certificate = (manifest.certificate.as_str(), *file(files, &manifest.certificate)?);
    let hints = manifest.hints.as_deref();
    let hints = hints.map(|name| Ok::<_, Rejection>((name, source(files, sources, name)?))).transpose()?;
    let claim = match (manifest.kind, hints) {
        (Kind::Bound | Kind::Leaves | Kind::Nodes, hints) => {
            Claim::Leaves(Box::new(Leaves::open(&documents, certificate, hints, limits, arith)?))
        }
        (Kind::Witness, None) => Claim::Witness(witness::open(&documents, certificate, limits)?),
        (Kind::Witness, Some((name, _))) => {
            return Err(Reason::BundleFile { name: name.to_owned(), detail: "a witness has no hints" }.into());
        }
    };
    Ok((documents, claim))
}

/// Faults of the payload come with the name of its role; here it has a file name.
fn named_payload(rejection: Rejection, name: &str) -> Rejection {
    rejection.map(|mut fault| {
        if fault.place.file.as_deref() == Some(Role::Payload.name()) {
            fault.place.file = Some(name.to_owned());
        }
        fault
    })
}

/// Reads a property in VNN-LIB, or in JSON by the ending `.json` of its name.
///
/// # Errors
/// What the reader refuses, with the name as the file of each fault.
pub fn read_property(name: &str, bytes: &[u8], limits: &Limits) -> Result<Property, Rejection> {
    read_property_about(name, bytes, None, limits)
}

/// Reads a property of a network with these shapes, as [`vnnlib::parse_about`] does; JSON has none to compare.
///
/// # Errors
/// As for [`read_property`].
pub fn read_property_about(
    name: &str,
    bytes: &[u8],
    network: Option<&[Vec<usize>]>,
    limits: &Limits,
) -> Result<Property, Rejection> {
    let json = name.ends_with(".json");
    let parsed = if json { property::parse(bytes, limits) } else { vnnlib::parse_about(bytes, network, limits) };
    parsed.map_err(|rejection| rejection.in_file(name))
}

/// Reads a region and bounds of outputs, or of nodes.
///
/// # Errors
/// What the readers refuse, with the name as the file of each fault.
pub fn read_bounds(
    region: (&str, &[u8]),
    bounds: (&str, &[u8]),
    of_nodes: bool,
    limits: &Limits,
) -> Result<Stated, Rejection> {
    let read = region::parse(region.1, limits).map_err(|rejection| rejection.in_file(region.0))?;
    let inputs = read.0.0.len();
    let stated = json::parse(bounds.1, limits).and_then(|json| match of_nodes {
        true => Ok(Stated::nodes(read, nodes::read(&json, inputs, limits)?)),
        false => Ok(Stated::bounds(read, bound::read(&json, limits)?)),
    });
    stated.map_err(|rejection| rejection.in_file(bounds.0))
}

fn file<'f, 'a>(files: &'f Files<'a>, name: &str) -> Result<&'f &'a [u8], Rejection> {
    let found = files.get(name);
    found.ok_or_else(|| Reason::BundleFile { name: name.to_owned(), detail: "is not in the bundle" }.into())
}

/// A file of tensors, wherever it lies.
fn source<'a>(files: &'a Files<'_>, sources: &'a Sources<'a>, name: &str) -> Result<&'a dyn Source, Rejection> {
    match sources.get(name) {
        Some(source) => Ok(*source),
        None => file(files, name).map(|bytes| bytes as &dyn Source),
    }
}

/// Every file is named exactly once.
fn no_strangers<'f>(mut files: impl Iterator<Item = &'f str>, manifest: &Manifest) -> Result<(), Rejection> {
    let mut known = BTreeSet::from([MANIFEST]);
    let Manifest { graph, payload, specification, certificate, hints, .. } = manifest;
    let specification = match specification {
        Specification::Property(property) => vec![property],
        Specification::Bounds { region, bounds } => vec![region, bounds],
    };
    for name in [graph, payload, certificate].into_iter().chain(specification).chain(hints) {
        if !known.insert(name) {
            return Err(Reason::BundleFile { name: name.clone(), detail: "is named twice" }.into());
        }
    }
    match files.find(|name| !known.contains(name)) {
        Some(name) => Err(Reason::BundleFile { name: name.to_owned(), detail: "is not named by the manifest" }.into()),
        None => Ok(()),
    }
}

fn read_manifest(bytes: &[u8], limits: &Limits) -> Result<Manifest, Rejection> {
    let document = json::parse(bytes, limits)?;
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", "certkern.bundle.v1")?;
    let kind = fields.required("kind")?;
    let kind = match kind.string("kind")? {
        "bound" => Kind::Bound,
        "leaves" => Kind::Leaves,
        "nodes" => Kind::Nodes,
        "witness" => Kind::Witness,
        found => {
            let reason = Reason::BundleFormat { found: found.to_owned(), expected: "bound, leaves, nodes or witness" };
            return Err(kind.fault(reason, "kind").into());
        }
    };
    let mut names = fields.required("files")?.object("files")?;
    let mut name = |key| names.required(key)?.string(&format!("files.{key}")).map(ToOwned::to_owned);
    let (graph, payload) = (name("graph")?, name("payload")?);
    let specification = match kind {
        Kind::Bound => Specification::Bounds { region: name("region")?, bounds: name("bound")? },
        Kind::Nodes => Specification::Bounds { region: name("region")?, bounds: name("nodes")? },
        Kind::Leaves | Kind::Witness => Specification::Property(name("property")?),
    };
    let certificate = name("certificate")?;
    let hints = names.optional("hints").map(|hints| hints.string("files.hints").map(ToOwned::to_owned)).transpose()?;
    finish(names)?;
    let mut named = fields.required("digests")?.object("digests")?;
    let digests = Digests {
        graph: digest(&mut named, "graph", GraphDigest::parse)?,
        payload: digest(&mut named, "payload", PayloadDigest::parse)?,
        input: digest(&mut named, "input", InputDigest::parse)?,
        output: digest(&mut named, "output", OutputDigest::parse)?,
    };
    finish(named)?;
    if let Some(provenance) = fields.optional("provenance") {
        provenance.members("provenance")?;
    }
    let outside = fields.optional("outside").map_or_else(|| Ok(Vec::new()), read_outside)?;
    finish(fields)?;
    Ok(Manifest { kind, graph, payload, specification, certificate, hints, digests, outside })
}

/// What is named that lies outside the graph: every text is shown whole, or refused.
fn read_outside(json: &Json) -> Result<Vec<String>, Fault> {
    let read = |(place, item): (usize, &Json)| {
        let path = format!("outside[{place}]");
        let (text, expected) = (item.string(&path)?, format!("1 to {} characters", SHOWN));
        let found = text.chars().count();
        let fits = (1..=SHOWN).contains(&found).then(|| text.to_owned());
        fits.ok_or_else(|| item.fault(Reason::JsonValue { expected, found: found.to_string() }, &path))
    };
    json.array("outside")?.iter().enumerate().map(read).collect()
}

fn digest<D>(fields: &mut Fields<'_>, role: &str, parse: impl Fn(&str) -> Result<D, Reason>) -> Result<D, Fault> {
    let (json, path) = (fields.required(role)?, fields.path(role));
    parse(json.string(&path)?).map_err(|reason| json.fault(reason, &path))
}

/// No field is left over.
pub(crate) fn finish(fields: Fields<'_>) -> Result<(), Rejection> {
    fields.finish().map_err(|faults| Rejection::of(faults).unwrap_or_else(|| Reason::Internal("no fault").into()))
}
