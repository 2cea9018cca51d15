//! Certificates in memory, and checkers of them.

use crate::json::Json;
use certkern_claims::{Arith, Opened, Sources};
use certkern_graph::Graph;
use certkern_seal::{Digests, Stated, Verdict};
use certkern_wire::Limits;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const MANIFEST: &str = "bundle.json";

/// The name of the one file of a certificate that is no folder.
const DOCUMENT: &str = "";

/// The files of a certificate by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bundle {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Bundle {
    /// A folder, or one document.
    pub(crate) fn load(path: &Path) -> Self {
        let read = |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if path.is_dir() {
            let files = entries(path).into_iter().map(|file| (name(&file), read(&file)));
            return Self { files: files.collect() };
        }
        Self { files: BTreeMap::from([(DOCUMENT.to_owned(), read(path))]) }
    }

    /// The document, if this is no folder.
    pub(crate) fn document(&self) -> Option<&[u8]> {
        self.files.get(DOCUMENT).map(Vec::as_slice)
    }

    /// The file that the manifest names for a role.
    pub(crate) fn named(&self, role: &str) -> Option<String> {
        Some(Json::parse(self.files.get(MANIFEST)?)?.get("files")?.get(role)?.text()?.to_owned())
    }

    /// The role of a file.
    pub(crate) fn role(&self, name: &str) -> Option<String> {
        let manifest = Json::parse(self.files.get(MANIFEST)?)?;
        let files = manifest.get("files")?.members()?;
        files.iter().find(|(_, own)| own.text() == Some(name)).map(|(role, _)| role.clone())
    }

    /// The same with the digests of its documents as they are now; `None` if they cannot be read, or nothing changes.
    pub(crate) fn sealed(&self) -> Option<Self> {
        let limits = Limits::default();
        let mut sealed = self.clone();
        if let Some(document) = self.document() {
            let mut json = Json::parse(document)?;
            let (query, _) = certkern_claims::enclosure_digests(document, &limits).ok()?;
            if let Json::Object(members) = &mut json {
                let answer = members.iter_mut().find(|(key, _)| key == "answer");
                answer?.1.set("query", Json::Text(query.to_string()));
            }
            sealed.files.insert(DOCUMENT.to_owned(), json.bytes());
        } else {
            let file =
                |role: &str| self.named(role).and_then(|name| Some((name.clone(), self.files.get(&name)?.as_slice())));
            let (_, graph) = file("graph")?;
            let payload = file("payload")?.1;
            let graph = Graph::read(graph, Some(&payload), &limits).ok()?;
            let stated: Stated = match (file("property"), file("region"), file("bound"), file("nodes")) {
                (Some((name, property)), ..) => {
                    certkern_claims::read_property_about(&name, property, Some(&graph.interface()), &limits)
                        .ok()?
                        .into()
                }
                (_, Some(region), Some(bound), None) => bounds(&region, &bound, false, &limits)?,
                (_, Some(region), _, Some(nodes)) => bounds(&region, &nodes, true, &limits)?,
                _ => return None,
            };
            let digests = Digests::of(&graph, &stated).by_role();
            let digests = digests.into_iter().map(|(role, hex)| (role.name().to_owned(), Json::Text(hex))).collect();
            let mut manifest = Json::parse(self.files.get(MANIFEST)?)?;
            manifest.set("digests", Json::Object(digests));
            sealed.files.insert(MANIFEST.to_owned(), manifest.bytes());
        }
        (sealed != *self).then_some(sealed)
    }
}

fn bounds(region: &(String, &[u8]), bounds: &(String, &[u8]), of_nodes: bool, limits: &Limits) -> Option<Stated> {
    certkern_claims::read_bounds((&region.0, region.1), (&bounds.0, bounds.1), of_nodes, limits).ok()
}

/// The entries of a folder in order.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a checker says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    /// The digest of the claim that it accepts.
    Accepted(String),
    /// The code.
    Refused(String),
}

/// A checker of certificates.
pub(crate) trait Checker: Sync {
    fn check(&self, bundle: &Bundle) -> Said;
}

/// The kernel, by the functions that `certkern check` calls.
#[derive(Clone, Copy)]
pub(crate) struct Kernel(pub(crate) Arith);

impl Checker for Kernel {
    fn check(&self, bundle: &Bundle) -> Said {
        let limits = Limits::default();
        let verdict = match bundle.document() {
            Some(document) => certkern_claims::check_document(document, &limits),
            None => {
                let files = bundle.files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
                let sources = Sources::new();
                match Opened::new(&files, &sources, &limits, self.0) {
                    Ok(opened) => match opened.check(0..opened.entries(), &()) {
                        Ok(part) => opened.join([part]),
                        Err((_, rejection)) => Verdict::Rejected(rejection),
                    },
                    Err(rejection) => Verdict::Rejected(rejection),
                }
            }
        };
        match verdict {
            Verdict::Accepted(theorem) => Said::Accepted(theorem.claim().to_string()),
            Verdict::Rejected(rejection) => Said::Refused(rejection.first().reason.code()),
        }
    }
}
