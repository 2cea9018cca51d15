//! Targets that read bytes: every reader ends with a value or a rejection that has a code, and what it accepts keeps its promises.

use crate::net::Net;
use crate::tally::count;
use crate::{limits, lowering, roundtrip};
use certkern_core::num::Rational;
use certkern_graph::Graph;
use certkern_report::Words;
use certkern_seal::Verdict;
use certkern_wire::json::{self, Json, Value};
use certkern_wire::tensors::TensorFile;
use certkern_wire::{Rejection, property, vnnlib};
use std::collections::BTreeMap;

/// Counts a rejection, which must be one: with a code, a text, and places within the document.
pub(crate) fn refused(target: &'static str, rejection: &Rejection, length: usize) {
    for fault in rejection.faults() {
        assert_ne!(fault.reason.code(), "internal", "{rejection:?}");
        assert!(fault.place.offset.is_none_or(|offset| offset <= length), "{rejection:?}");
    }
    assert!(!Words(rejection).to_string().is_empty());
    count(target, &rejection.first().reason.code());
}

/// What the reader accepts, `serde_json` accepts with the same value.
pub(crate) fn json(data: &[u8]) {
    match json::parse(data, &limits()) {
        Ok(document) => {
            count("json", "accepted");
            let other: serde_json::Value = match serde_json::from_slice(data) {
                Ok(other) => other,
                // It has no numbers beyond binary64.
                Err(error) if error.to_string().starts_with("number out of range") => return,
                Err(error) => panic!("accepted, and serde_json says {error}"),
            };
            same(&document, &other);
        }
        Err(rejection) => refused("json", &rejection, data.len()),
    }
}

/// Compares in lists, not by recursion. The document is within the depth that `serde_json` allows.
fn same(document: &Json<'_>, other: &serde_json::Value) {
    use serde_json::Value as Other;
    let mut open = vec![(document, other)];
    while let Some((json, other)) = open.pop() {
        match (&json.value, other) {
            (Value::Null, Other::Null) => {}
            (Value::Bool(a), Other::Bool(b)) => assert_eq!(a, b),
            (Value::Number(text), Other::Number(number)) => {
                let expected: f64 = text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
                assert_eq!(number.as_f64().map(f64::to_bits), Some(expected.to_bits()), "{text}");
                number_is(json, expected);
            }
            (Value::String(a), Other::String(b)) => assert_eq!(&**a, b.as_str()),
            (Value::Array(a), Other::Array(b)) => {
                assert_eq!(a.len(), b.len());
                open.extend(a.iter().zip(b));
            }
            (Value::Object(a), Other::Object(b)) => {
                assert_eq!(a.len(), b.len());
                open.extend(a.iter().map(|(key, json)| (json, &b[&**key])));
            }
            (_, other) => panic!("read as another type than {other}"),
        }
    }
}

/// The typed readings of a number agree with the standard library's.
fn number_is(json: &Json<'_>, expected: f64) {
    match json.binary64("", &limits()) {
        Ok(bits) => assert_eq!(bits, expected.to_bits()),
        Err(_) => assert!(expected.is_infinite()),
    }
    if let Ok(exact) = json.rational("", &limits()) {
        let nearest = certkern_wire::number::nearest_binary64(&exact).map_or(f64::INFINITY, f64::from_bits);
        assert!(nearest == expected || (expected.is_infinite() && nearest.is_infinite()), "{exact} for {expected}");
    }
    if let Ok(index) = json.index("") {
        assert!(index as f64 == expected);
    }
}

/// Tensors have the elements that their shapes say, and reading by rows gives what reading whole gives.
pub(crate) fn tensors(data: &[u8]) {
    let limits = limits();
    let read = TensorFile::parse(&data, &limits).and_then(|mut file| {
        let names: Vec<String> = file.names().map(str::to_owned).collect();
        for name in names {
            let Some(tensor) = file.take(&name) else { panic!("{name} is listed and absent") };
            let elements: usize = tensor.shape.iter().product();
            let lengths =
                [tensor.u8s().map(|v| v.len()), tensor.u32s().map(|v| v.len()), tensor.floats().map(|v| v.len())];
            assert!(lengths.into_iter().flatten().all(|length| length == elements));
            if let (Ok(whole), Some(rows)) = (tensor.u32s(), tensor.shape.first()) {
                let half = rows / 2;
                let parts = [0..half, half..*rows].map(|rows| tensor.rows(rows).ok().and_then(|part| part.u32s().ok()));
                let [Some(first), Some(second)] = parts else { panic!("rows of {name} are not read") };
                assert_eq!([first, second].concat(), whole);
            }
        }
        file.finish()
    });
    match read {
        Ok(()) => count("tensors", "accepted"),
        Err(rejection) => refused("tensors", &rejection, data.len()),
    }
}

/// VNN-LIB, and the same property as JSON.
pub(crate) fn vnnlib(data: &[u8]) {
    match vnnlib::parse(data, &limits()) {
        Ok(property) => {
            count("vnnlib", "accepted");
            assert!(property.lower.iter().zip(&property.upper).all(|(low, high)| low <= high));
            assert!(!property.disjuncts.is_empty() && property.inputs() == property.upper.len());
            roundtrip::property("vnnlib", &property);
        }
        Err(rejection) => refused("vnnlib", &rejection, data.len()),
    }
}

/// The importer ends, and what it makes of a file the kernel reads, or refuses for its own reasons.
pub(crate) fn onnx(data: &[u8]) {
    match certkern_onnx::import(data) {
        Ok(imported) => {
            count("onnx", "imported");
            let payload = imported.payload;
            match Graph::read(imported.graph.as_bytes(), Some(&payload), &limits()) {
                Ok(graph) => meaning("onnx", &graph),
                Err(rejection) => refused("onnx", &rejection, imported.graph.len().max(payload.len())),
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            count("onnx", "refused");
        }
    }
}

/// A graph with its numbers in the nodes: its meaning where its input is a point, and that it comes back.
pub(crate) fn graph(data: &[u8]) {
    match Graph::read(data, None, &limits()) {
        Ok(graph) => {
            count("graph", "accepted");
            meaning("graph", &graph);
            roundtrip::graph("graph", &graph);
        }
        Err(rejection) => refused("graph", &rejection, data.len()),
    }
}

/// Compares a small graph with its meaning, at a point with thirds and at zero.
fn meaning(target: &'static str, graph: &Graph) {
    let net = Net::of(graph);
    let work: usize = net.nodes.iter().map(|node| node.shape.iter().product::<usize>()).sum();
    if work > 512 {
        return;
    }
    match graph.lower() {
        Ok(lowered) => {
            let width: usize = net.nodes[net.input].shape.iter().product();
            for scale in [0, 1] {
                let x = (0..width)
                    .map(|i| Rational::new((scale * (i as i64 % 7 - 3)).into(), 3.into()))
                    .collect::<Vec<_>>();
                lowering::compare(target, &net, &lowered, &x);
            }
        }
        Err(rejection) => refused(target, &rejection, usize::MAX),
    }
}

/// An enclosure, read and proved; what is read comes back.
pub(crate) fn enclosure(data: &[u8]) {
    match certkern_claims::check_document(data, &limits()) {
        Verdict::Accepted(_) => count("enclosure", "accepted"),
        Verdict::Rejected(rejection) => refused("enclosure", &rejection, data.len()),
    }
}

/// What stands before the name of each file.
const MARK: &str = "\n%%%";

/// A bundle: files one after the other, each after a line `%%%name`. In the manifest `@graph` and its like stand for the digests of the
/// documents as they are, so that a document that was edited is still bound.
pub(crate) fn bundle(data: &[u8]) {
    let mut files = unpacked(data);
    let named = digests(&files);
    if let (Some(manifest), Some(named)) = (files.get_mut("bundle.json"), named) {
        let mut text = String::from_utf8_lossy(manifest).into_owned();
        for (role, hex) in named {
            text = text.replace(&format!("@{role}"), &hex);
        }
        *manifest = text.into_bytes();
    }
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    match certkern_claims::check_bundle(&files, &limits(), &()) {
        Verdict::Accepted(theorem) => count("bundle", &format!("accepted {}", theorem.proposition().name())),
        Verdict::Rejected(rejection) => refused("bundle", &rejection, data.len()),
    }
}

/// The files by name.
fn unpacked(data: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let starts: Vec<usize> =
        data.windows(MARK.len()).enumerate().filter(|(_, w)| *w == MARK.as_bytes()).map(|(i, _)| i).collect();
    let ends = starts.iter().skip(1).copied().chain([data.len()]);
    let mut files = BTreeMap::new();
    for (start, end) in starts.iter().zip(ends) {
        let part = &data[start + MARK.len()..end];
        let line = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
        let name = String::from_utf8_lossy(&part[..line]).into_owned();
        files.insert(name, part.get(line + 1..).unwrap_or_default().to_vec());
    }
    files
}

/// The digests of the documents under their usual names.
fn digests(files: &BTreeMap<String, Vec<u8>>) -> Option<Vec<(&'static str, String)>> {
    let file = |name: &str| files.get(name).map(Vec::as_slice);
    let payload = file("payload.safetensors")?;
    let graph = Graph::read(file("graph.json")?, Some(&payload), &limits()).ok()?;
    let about = |name, of_nodes| {
        let region = ("region.json", file("region.json")?);
        certkern_claims::read_bounds(region, (name, file(name)?), of_nodes, &limits()).ok()
    };
    let stated = match (file("property.json"), file("property.vnnlib"), file("nodes.json")) {
        (Some(bytes), ..) => property::parse(bytes, &limits()).ok()?.into(),
        (_, Some(bytes), _) => vnnlib::parse(bytes, &limits()).ok()?.into(),
        (_, _, Some(_)) => about("nodes.json", true)?,
        _ => about("bound.json", false)?,
    };
    let digests = certkern_seal::Digests::of(&graph, &stated);
    Some(digests.by_role().into_iter().map(|(role, hex)| (role.name(), hex)).collect())
}

/// Files as one input of the target `bundle`.
#[must_use]
pub fn packed(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    files.iter().flat_map(|(name, bytes)| [MARK.as_bytes(), name.as_bytes(), b"\n", bytes].concat()).collect()
}
