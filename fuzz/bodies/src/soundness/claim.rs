//! Claims about small networks, with points where the values are known.

use super::network::network;
use super::region::Region;
use super::sample::Sample;
use super::statement::{bound_document, document, form_document, outside, pairs, row};
use crate::limits;
use crate::net::Net;
use crate::source::Choices;
use certkern_core::num::Rational;
use certkern_core::property::{Disjunct, Property, Row, disjunct};
use certkern_graph::Graph;
use certkern_seal::{Digests, Stated};
use certkern_wire::{Rejection, bound, json, nodes, region};
use num_traits::Signed;
use std::collections::BTreeMap;

/// How the claim is stated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By an unsafe set.
    Rows,
    /// As bounds of the outputs.
    Bounds,
    /// As bounds of some nodes.
    Nodes,
}

pub(super) struct Claim {
    pub(super) net: Net,
    pub(super) property: Property,
    pub(super) region: Region,
    pub(super) samples: Vec<Sample>,
    /// The nodes whose values are the output variables.
    ids: Vec<usize>,
    /// For each sample whether it surely lies in each disjunct.
    violated: Vec<Vec<bool>>,
    form: Form,
    /// The bounds, as they are written.
    stated: String,
}

impl Claim {
    /// A claim that fails at a sample as a rule; `None` if the values are not known there.
    pub(super) fn new(u: &mut Choices<'_>, form: Form) -> Option<Self> {
        let width = 1 + u.below(3);
        let x: Vec<Rational> = (0..width).map(|_| u.ratio()).collect();
        let mut region = if form == Form::Rows { Region::boxed(u, &x) } else { Region::of_any_kind(u, &x) };
        let net = network(u, &x);
        let mut samples = vec![Sample::new(&net, x)?];
        samples.extend(region.points(u).into_iter().filter_map(|point| Sample::new(&net, point)));
        if form != Form::Rows {
            region.constrain(u, samples.iter().map(|sample| sample.x.as_slice()));
        }
        // Now and then the claim has room, and may be true: that the harness can see something accepted.
        let honest = u.below(3) == 0;
        let ids = if form == Form::Nodes { listed(u, &net) } else { net.outputs.clone() };
        let (disjuncts, stated) = match form {
            Form::Rows => {
                let disjuncts = (0..1 + u.below(2))
                    .map(|_| disjunct((0..1 + u.below(2)).map(|_| row(u, &ids, &samples, honest))))
                    .collect();
                (disjuncts, String::new())
            }
            Form::Bounds => {
                let pairs = pairs(u, &samples[0].x, &samples[0].of(&ids), false, honest);
                (outside(0, &pairs), bound_document(&pairs))
            }
            Form::Nodes => transcript(u, &ids, &samples[0], honest),
        };
        let outputs = samples[0].of(&ids).len();
        let property = Property { lower: region.lower.clone(), upper: region.upper.clone(), outputs, disjuncts };
        let holds = |sample: &Sample, row: &Row| {
            let (_, high) = sample.excess(&ids, row);
            if row.strict { high.is_negative() } else { !high.is_positive() }
        };
        let inside = |sample: &Sample, rows: &Disjunct| rows.iter().all(|row| holds(sample, row));
        let all = |sample: &Sample| property.disjuncts.iter().map(|rows| inside(sample, rows)).collect();
        let violated = samples.iter().map(all).collect();
        Some(Self { net, property, region, samples, ids, violated, form, stated })
    }

    /// Whether the sample of this number surely lies in this disjunct.
    pub(super) fn violates(&self, sample: usize, disjunct: usize) -> bool {
        self.violated[sample][disjunct]
    }

    /// Whether the sample surely lies outside this disjunct.
    pub(super) fn misses(&self, sample: &Sample, disjunct: usize) -> bool {
        self.property.disjuncts[disjunct].iter().any(|row| {
            let (low, _) = sample.excess(&self.ids, row);
            if row.strict { !low.is_negative() } else { low.is_positive() }
        })
    }

    pub(super) fn is_false(&self) -> bool {
        self.violated.iter().flatten().any(|violated| *violated)
    }

    /// What the kernel reads of the region and the statement, whose digests the bundle names.
    fn read(&self, region: &str) -> Result<Stated, Rejection> {
        if self.form == Form::Rows {
            return Ok(self.property.clone().into());
        }
        let region = region::parse(region.as_bytes(), &limits())?;
        let document = json::parse(self.stated.as_bytes(), &limits())?;
        Ok(match self.form {
            Form::Nodes => Stated::nodes(region, nodes::read(&document, self.property.inputs(), &limits())?),
            _ => Stated::bounds(region, bound::read(&document, &limits())?),
        })
    }

    /// The files of the bundle with this certificate: a witness if it has no hints.
    pub(super) fn bundle(&self, certificate: String, hints: Option<Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
        let (graph, region) = (self.net.document(true), self.region.document());
        let read = Graph::read(&graph, None, &limits());
        let read = read.unwrap_or_else(|rejection| panic!("{rejection:?}: {}", String::from_utf8_lossy(&graph)));
        let stated = self.read(&region);
        let stated = stated.unwrap_or_else(|rejection| panic!("{rejection:?}: {region} {}", self.stated));
        let digests = Digests::of(&read, &stated).by_role();
        let digests: Vec<String> = digests.iter().map(|(role, hex)| format!("\"{}\":\"{hex}\"", role.name())).collect();
        let mut files = BTreeMap::from([
            ("graph.json".to_owned(), graph),
            ("payload.safetensors".to_owned(), certkern_onnx::write_safetensors(&[])),
            ("cert.json".to_owned(), certificate.into_bytes()),
        ]);
        let (kind, role) = match (&hints, self.form) {
            (None, _) => ("witness", "property"),
            (Some(_), Form::Rows) => ("leaves", "property"),
            (Some(_), Form::Bounds) => ("bound", "bound"),
            (Some(_), Form::Nodes) => ("nodes", "nodes"),
        };
        let mut named = r#""graph":"graph.json","payload":"payload.safetensors","certificate":"cert.json""#.to_owned();
        let mut add = |role: &str, name: &str, bytes: Vec<u8>| {
            named.push_str(&format!(r#","{role}":"{name}""#));
            files.insert(name.to_owned(), bytes);
        };
        if let Some(hints) = hints {
            add("hints", "cert.safetensors", hints);
        }
        if self.form == Form::Rows {
            add(role, "property.json", document(&self.property).into_bytes());
        } else {
            add("region", "region.json", region.into_bytes());
            add(role, "stated.json", self.stated.clone().into_bytes());
        }
        let manifest = format!(
            r#"{{"format":"certkern.bundle.v1","kind":"{kind}","files":{{{named}}},"digests":{{{}}}}}"#,
            digests.join(",")
        );
        files.insert("bundle.json".to_owned(), manifest.into_bytes());
        files
    }
}

/// One or two nodes by ascending id.
fn listed(u: &mut Choices<'_>, net: &Net) -> Vec<usize> {
    let first = u.below(net.nodes.len());
    let rest = net.nodes.len() - 1 - first;
    if rest > 0 && u.one_in(3) { vec![first, first + 1 + u.below(rest)] } else { vec![first] }
}

/// Bounds of the nodes, as numbers or as forms of the input or both: where they fail, and the document.
fn transcript(u: &mut Choices<'_>, ids: &[usize], sample: &Sample, honest: bool) -> (Vec<Disjunct>, String) {
    // Of all forms one is wrong.
    let wrong = u.below(ids.len());
    let (mut disjuncts, mut nodes, mut first) = (Vec::new(), Vec::new(), 0);
    for (place, id) in ids.iter().enumerate() {
        let values = sample.of(&[*id]);
        let forms: &[bool] = [&[false][..], &[true], &[false, true]][u.below(3)];
        let last = forms.len() - 1;
        let mut texts = Vec::new();
        for (form, slopes) in forms.iter().enumerate() {
            let room = honest || place != wrong || form != last;
            let pairs = pairs(u, &sample.x, &values, *slopes, room);
            disjuncts.extend(outside(first, &pairs));
            texts.push(form_document(&pairs, *slopes));
        }
        first += values.len();
        nodes.push(format!(r#"{{"id":{id},{}}}"#, texts.join(",")));
    }
    (disjuncts, format!(r#"{{"format":"certkern.nodes.v1","nodes":[{}]}}"#, nodes.join(",")))
}
