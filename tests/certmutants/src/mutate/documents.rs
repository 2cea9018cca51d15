//! Changes of JSON documents.

use super::{Changed, Draw, Way, natural};
use crate::bundle::Bundle;
use crate::json::Json;
use crate::number::{exact, in_manner_of};
use crate::random::Random;

/// Texts that mean something somewhere.
const WORDS: [&str; 32] = [
    "leaves",
    "bound",
    "nodes",
    "witness",
    "unsat",
    "plain",
    "slopes",
    "relu",
    "tanh",
    "abs",
    "neg",
    "detach",
    "linear",
    "add",
    "sub",
    "max_elem",
    "sigmoid",
    "exp",
    "sin",
    "l1",
    "l2",
    "input",
    "torchlean.ir.v1",
    "certkern.ir.v1",
    "certkern.leaves.v1",
    "certkern.witness.v1",
    "ok",
    "mul",
    "1/3",
    "0x1p-3",
    "tensor",
    "",
];

pub(super) fn edit(draw: &mut Draw<'_>, name: &str, content: &[u8]) -> Option<Changed> {
    let json = Json::parse(content)?;
    let random = &mut *draw.random;
    let (family, json, keeps) = match random.below(24) {
        0 => one_of(json, random, "deletion", |list, random| drop(list.remove(random.below(list.len()))))?,
        1 => one_of(json, random, "duplication", |list, random| {
            let item = list[random.below(list.len())].clone();
            list.insert(random.below(list.len() + 1), item);
        })?,
        2 => one_of(json, random, "order", |list, random| {
            let (a, b) = (random.below(list.len()), random.below(list.len()));
            match random.below(3) {
                0 => list.rotate_left(1),
                _ => list.swap(a, b),
            }
        })?,
        3..=6 => fields(json, random)?,
        7 => kind(json, random)?,
        8 => text(json, random)?,
        9 | 10 => splice(json, draw.others, name, draw.random)?,
        11 => same(json, random)?,
        _ => number(json, random)?,
    };
    Some((family, json.bytes(), keeps))
}

/// An edited document: family, document, whether the claim stays.
type Made = Option<(&'static str, Json, bool)>;

/// A change of one list that is not empty.
fn one_of(
    mut json: Json,
    random: &mut Random,
    family: &'static str,
    change: impl Fn(&mut Vec<Json>, &mut Random),
) -> Made {
    let places = json.places(|value| value.list().is_some_and(|list| !list.is_empty()));
    let place = random.pick(&places)?;
    if let Json::List(list) = json.at(place) {
        change(list, random);
    }
    Some((family, json, false))
}

fn fields(mut json: Json, random: &mut Random) -> Made {
    let places = json.places(|value| matches!(value, Json::Object(members) if !members.is_empty()));
    let place = random.pick(&places)?;
    let Json::Object(members) = json.at(place) else { return None };
    let (a, b) = (random.below(members.len()), random.below(members.len()));
    let family = match random.below(5) {
        0 => {
            drop(members.remove(a));
            "field deleted"
        }
        1 => {
            let copy = members[a].clone();
            members.insert(random.below(members.len() + 1), copy);
            "field doubled"
        }
        2 => {
            let other = members[b].0.clone();
            members[a].0 = if random.one_in(2) && a != b { other } else { format!("{}_", members[a].0) };
            "field renamed"
        }
        3 => {
            let names = ["note", "precision", "strict", "bounds", "thresholds", "outside", "constraints", "value_kind"];
            let values = [
                Json::Null,
                Json::Number("3".to_owned()),
                Json::Bool(true),
                Json::List(vec![Json::Text("x".to_owned())]),
            ];
            members.push((names[random.below(names.len())].to_owned(), random.pick(&values)?.clone()));
            "field unknown"
        }
        _ => {
            (a != b).then_some(())?;
            let value = members[a].1.clone();
            members[a].1 = members[b].1.clone();
            members[b].1 = value;
            "field exchanged"
        }
    };
    Some((family, json, false))
}

/// Another type of value.
fn kind(mut json: Json, random: &mut Random) -> Made {
    let places = json.places(|_| true);
    let place = random.pick(&places)?.clone();
    let value = json.at(&place);
    let changed = match (&value, random.below(4)) {
        (Json::Bool(flag), _) => Json::Bool(!*flag),
        (Json::Number(text), 0) => Json::Text(text.clone()),
        (Json::Text(text), 0) if exact(value).is_some() => Json::Number(text.clone()),
        (_, 1) => Json::Null,
        (_, 2) => Json::List(vec![value.clone()]),
        _ => Json::Object(Vec::new()),
    };
    *value = changed;
    Some(("type", json, false))
}

fn text(mut json: Json, random: &mut Random) -> Made {
    let places = json.places(|value| matches!(value, Json::Text(_)));
    let place = random.pick(&places)?.clone();
    let texts: Vec<String> = places.iter().filter_map(|place| json.at(place).text().map(str::to_owned)).collect();
    let Json::Text(text) = json.at(&place) else { return None };
    match random.below(5) {
        0 => text.push('0'),
        1 => drop(text.pop()),
        2 => *text = text.to_uppercase(),
        3 => random.pick(&texts)?.clone_into(text),
        _ => WORDS[random.below(WORDS.len())].clone_into(text),
    }
    Some(("text", json, false))
}

fn number(mut json: Json, random: &mut Random) -> Made {
    let places = json.places(|value| exact(value).is_some());
    let place = random.pick(&places)?;
    let old = json.at(place);
    let value = exact(old)?;
    // Half of the natural numbers are changed by one: they may be places.
    let way = if natural(&value) && random.one_in(2) { Way::One } else { Way::draw(random) };
    let changed = way.exact(&value, random)?;
    *old = in_manner_of(old, &changed)?;
    Some((way.family(), json, false))
}

/// A value of another certificate in the place of one of its type.
fn splice(mut json: Json, others: &[Bundle], name: &str, random: &mut Random) -> Made {
    let foreign = random.pick(others)?;
    let documents: Vec<Json> = foreign
        .files
        .iter()
        .filter(|(own, _)| *own == name || random_name(own))
        .filter_map(|(_, bytes)| Json::parse(bytes))
        .collect();
    let mut other = random.pick(&documents)?.clone();
    let places = json.places(|_| true);
    let place = random.pick(&places)?.clone();
    let target = json.at(&place);
    let alike = |value: &Json| std::mem::discriminant(value) == std::mem::discriminant(target);
    let sources = other.places(alike);
    let source = random.pick(&sources)?;
    *target = other.at(source).clone();
    Some(("splice of a value", json, false))
}

/// Documents whose parts are tried in any other.
fn random_name(name: &str) -> bool {
    ["graph.json", "property.json", "nodes.json"].contains(&name)
}

/// Another spelling of the same document.
fn same(mut json: Json, random: &mut Random) -> Made {
    match random.below(4) {
        0 => {
            reorder(&mut json, random);
            Some(("same: members reordered", json, true))
        }
        1 => {
            let places = json.places(
                |value| matches!(value, Json::Number(text) if text.contains('.') && !text.contains(['e', 'E'])),
            );
            if let Json::Number(text) = json.at(random.pick(&places)?) {
                text.push('0');
            }
            Some(("same: spelling", json, true))
        }
        2 => {
            let named = producer_names(&mut json, "n/a");
            named.then_some(("same: names of a producer", json, true))
        }
        _ => Some(("same: spelling", json, true)),
    }
}

/// The members of every object in another order.
pub(crate) fn reorder(json: &mut Json, random: &mut Random) {
    match json {
        Json::List(items) => items.iter_mut().for_each(|item| reorder(item, random)),
        Json::Object(members) => {
            for place in (1..members.len()).rev() {
                members.swap(place, random.below(place + 1));
            }
            members.iter_mut().for_each(|(_, value)| reorder(value, random));
        }
        _ => {}
    }
}

/// Gives the nodes of a graph the names of a producer, or a manifest a provenance; whether there was any.
pub(crate) fn producer_names(json: &mut Json, name: &str) -> bool {
    let manifest = json.get("digests").is_some() && json.get("files").is_some();
    if manifest {
        json.set("provenance", Json::Object(vec![("producer".to_owned(), Json::Text(name.to_owned()))]));
        return true;
    }
    let graphs = json.places(|value| value.get("input_id").is_some());
    for place in &graphs {
        let Json::Object(members) = json.at(place) else { continue };
        if let Some((_, Json::List(nodes))) = members.iter_mut().find(|(key, _)| key == "nodes") {
            for node in nodes {
                for key in ["onnx_name", "debug_target", "onnx_op_type"] {
                    node.set(key, Json::Text(name.to_owned()));
                }
            }
        }
    }
    !graphs.is_empty()
}
