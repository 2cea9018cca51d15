//! `robust_margin_cert_v0_1`: bounds of the logits of a linear classifier around points. The report holds neither weights nor points; both are given beside it, and are those that it names
//! by their SHA-256. Each example gives a certificate of its own.

use crate::bundle::{Network, Source, Specification, single_leaf};
use crate::error::ImportError;
use crate::numbers::{binary64, ends, list, spelled, unfit};
use crate::{Certificate, Given, Named};
use certkern_abcrown::hex_sha256;
use certkern_core::num::Rational;
use certkern_wire::fields::{Fields, element, member};
use certkern_wire::json::{self, Json};
use certkern_wire::{Fault, Limits, Rejection};
use num_traits::{One, Signed, Zero};
use serde_json::{Value, json};

/// What is claimed of an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarginClaim {
    /// The logits lie within the bounds of the report.
    #[default]
    Bound,
    /// The logit of the label is above all others.
    Margin,
}

/// What the report says, as far as a claim is made of it.
struct Report {
    radius: Rational,
    inputs: usize,
    classes: usize,
    weights: String,
    dataset: String,
}

/// An example of the report.
struct Example {
    label: usize,
    lower: Vec<String>,
    upper: Vec<String>,
    certified: bool,
}

/// A bundle of kind `bound`, or of kind `leaves` for the margin.
///
/// # Errors
/// `json.*` with the place; [`ImportError::Mismatch`] if the files are not those that the report names, or if the example is not in them, has another label or claims no margin.
pub(crate) fn convert(
    document: &Json,
    source: &Source<'_>,
    given: &Given<'_>,
    limits: &Limits,
) -> Result<Certificate, ImportError> {
    let (Some(weights), Some(dataset), Some(id)) = (given.weights, given.dataset, given.example) else {
        return Err(ImportError::Lacks { kind: source.kind, missing: vec!["--weights", "--dataset", "--example"] });
    };
    let (report, example) = read(document, id, limits)?;
    same_file(weights, &report.weights, "meta.weights_sha256")?;
    same_file(dataset, &report.dataset, "meta.dataset_sha256")?;
    let graph = graph(weights, &report, limits).map_err(|rejection| rejection.in_file(weights.0))?;
    let network = Network::alone(graph.to_string(), limits)?;
    let found = point(dataset.1, id, report.inputs, limits).map_err(|rejection| rejection.in_file(dataset.0))?;
    let (point, label) = found.ok_or_else(|| ImportError::Mismatch(format!("{} has no example {id}", dataset.0)))?;
    if label != example.label {
        let text = format!("example {id} has the label {} in the report and {label} in {}", example.label, dataset.0);
        return Err(ImportError::Mismatch(text));
    }
    // The box of radius ε, within the range of pixels.
    let clamped = |value: Rational| value.max(Rational::zero()).min(Rational::one()).to_string();
    let lower: Vec<String> = point.iter().map(|x| clamped(x - &report.radius)).collect();
    let upper: Vec<String> = point.iter().map(|x| clamped(x + &report.radius)).collect();
    let bytes = |document: Value| document.to_string().into_bytes();
    if given.claim.unwrap_or_default() == MarginClaim::Bound {
        let region = bytes(json!({"lo": lower, "hi": upper}));
        let bounds = bytes(json!({"format": "torchlean.bound.v1", "lower": example.lower, "upper": example.upper}));
        let certificate = single_leaf(2 * report.classes, "plain");
        return network.claim(Specification::Bounds { region, bounds }, certificate, None, source, limits);
    }
    if !example.certified {
        return Err(ImportError::Mismatch(format!(
            "example {id} is not `certified`: the report claims no margin of it"
        )));
    }
    let others = (0..report.classes).filter(|class| *class != label);
    let unsafe_set: Vec<Value> = others.map(|class| json!([not_below(class, label)])).collect();
    let certificate = single_leaf(unsafe_set.len(), "plain");
    let property = json!({
        "format": "certkern.property.v1", "outputs": report.classes, "lower": lower, "upper": upper, "unsafe": unsafe_set
    });
    network.claim(Specification::Property("property.json", bytes(property)), certificate, None, source, limits)
}

/// The row `y_label − y_class ≤ 0`.
fn not_below(class: usize, label: usize) -> Value {
    json!({"y": {label.to_string(): 1, class.to_string(): -1}, "bound": 0, "strict": false})
}

fn same_file((name, bytes): Named<'_>, expected: &str, field: &str) -> Result<(), ImportError> {
    let found = hex_sha256(bytes);
    if found == expected {
        return Ok(());
    }
    Err(ImportError::Mismatch(format!(
        "{name} is not the file of the report: its SHA-256 is {found}, {field} is {expected}"
    )))
}

/// The report and its example `id`. All examples are read, so that a damaged report is refused whichever is asked for.
fn read(document: &Json, id: usize, limits: &Limits) -> Result<(Report, Example), ImportError> {
    let mut fields = document.object("")?;
    let [_, norm, method, eps, input_dim, num_classes, meta, summary, examples] = taken(
        &mut fields,
        ["format", "norm", "method", "eps", "input_dim", "num_classes", "meta", "summary", "examples"],
    )?;
    fields.finish().map_err(Rejection::from)?;
    if norm.string("norm")? != "linf" {
        return Err(unfit(norm, "norm", "linf", norm.string("norm")?).into());
    }
    method.string("method")?;
    let radius = eps.rational("eps", limits)?;
    if radius.is_negative() {
        return Err(unfit(eps, "eps", "a radius of at least 0", &radius.to_string()).into());
    }
    let (inputs, classes) = (input_dim.index("input_dim")?, num_classes.index("num_classes")?);
    let mut fields = meta.object("meta")?;
    let [_, _, weights, dataset] =
        taken(&mut fields, ["weights_path", "dataset_path", "weights_sha256", "dataset_sha256"])?;
    fields.finish().map_err(Rejection::from)?;
    let weights = weights.string("meta.weights_sha256")?.to_owned();
    let dataset = dataset.string("meta.dataset_sha256")?.to_owned();
    summary.members("summary")?;
    let mut wanted = None;
    for (place, json) in examples.array("examples")?.iter().enumerate() {
        let (own, example) = read_example(json, &element("examples", place), classes, limits)?;
        if own == id && wanted.replace(example).is_some() {
            return Err(ImportError::Mismatch(format!("example {id} stands twice in the report")));
        }
    }
    let example = wanted.ok_or_else(|| ImportError::Mismatch(format!("the report has no example {id}")))?;
    Ok((Report { radius, inputs, classes, weights, dataset }, example))
}

fn read_example(json: &Json, path: &str, classes: usize, limits: &Limits) -> Result<(usize, Example), Rejection> {
    let mut fields = json.object(path)?;
    let keys = ["id", "label", "pred", "logits_lo", "logits_hi", "certified"];
    let [id, label, pred, lo, hi, certified] = taken(&mut fields, keys)?;
    fields.finish()?;
    let [id_path, label_path, pred_path, low, high, flag] = keys.map(|key| member(path, key));
    let number = label.index(&label_path)?;
    if number >= classes {
        return Err(unfit(label, &label_path, &format!("one of {classes} classes"), &number.to_string()).into());
    }
    pred.index(&pred_path)?;
    let [lower, upper] = ends((lo, &low), (hi, &high), classes, limits)?;
    let certified = certified.boolean(&flag)?;
    Ok((id.index(&id_path)?, Example { label: number, lower, upper, certified }))
}

/// Fields that must be there.
fn taken<'a, const N: usize>(fields: &mut Fields<'a>, keys: [&str; N]) -> Result<[&'a Json<'a>; N], Fault> {
    let mut found = Vec::with_capacity(N);
    for key in keys {
        found.push(fields.required(key)?);
    }
    let count = found.len();
    found.try_into().map_err(|_| Fault::at(certkern_wire::Reason::JsonMissingKey(format!("{count} of {N}")), "", 0))
}

/// The member `key` of an object that may have others.
fn get<'a>(json: &'a Json<'a>, path: &str, key: &str) -> Result<&'a Json<'a>, Fault> {
    json.object(path)?.required(key)
}

/// The classifier, from `layers.0.weight` and `layers.0.bias`; its numbers are binary64, as all of TorchLean's.
fn graph((_, bytes): Named<'_>, report: &Report, limits: &Limits) -> Result<Value, Rejection> {
    let document = json::parse(bytes, limits)?;
    let members = document.members("")?;
    if let Some((key, json)) =
        members.iter().find(|(key, _)| key.starts_with("layers.") && !key.starts_with("layers.0."))
    {
        return Err(unfit(json, key, "a single linear layer", "another layer").into());
    }
    let (weight, bias) = (get(&document, "", "layers.0.weight")?, get(&document, "", "layers.0.bias")?);
    let number = |json: &Json, path: &str| {
        let value = binary64(json, path, limits)?;
        spelled(json, path, limits).map(|_| value)
    };
    let rows = list(weight, "layers.0.weight", report.classes, |row, path| list(row, path, report.inputs, number))?;
    let bias = list(bias, "layers.0.bias", report.classes, number)?;
    let (inputs, outputs) = ([report.inputs], [report.classes]);
    Ok(json!({"format": "torchlean.ir.v1", "input_id": 0, "output_ids": [1], "nodes": [
        {"id": 0, "kind": "input", "parents": [], "shape": inputs},
        {"id": 1, "kind": "linear", "parents": [0], "shape": outputs, "weight": rows, "bias": bias},
    ]}))
}

/// The point and the label of an example, whose id is its place where it has none.
fn point(bytes: &[u8], id: usize, inputs: usize, limits: &Limits) -> Result<Option<(Vec<Rational>, usize)>, Rejection> {
    let document = json::parse(bytes, limits)?;
    for (place, example) in get(&document, "", "examples")?.array("examples")?.iter().enumerate() {
        let path = element("examples", place);
        let mut fields = example.object(&path)?;
        let own = fields.optional("id").map(|json| json.index(&member(&path, "id"))).transpose()?;
        if own.unwrap_or(place) == id {
            let (x, y) = (fields.required("x")?, fields.required("y")?);
            let x = list(x, &member(&path, "x"), inputs, |json, path| json.rational(path, limits))?;
            return Ok(Some((x, y.index(&member(&path, "y"))?)));
        }
    }
    Ok(None)
}
