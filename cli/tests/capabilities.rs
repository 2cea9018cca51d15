//! Nothing that certkern can do is lost without a word: `docs/capabilities.json` lists it, and what was given up, with date and reason.

use crate::support::{certkern, entries, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What there must be at least, given up or not: a line that is deleted from the list is missed here.
const LEAST: usize = 133;

/// Capabilities by group.
type Groups = BTreeMap<String, BTreeSet<String>>;

/// The strings below every member `kind` of a schema.
fn kinds(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(kind) = members.get("kind") {
                let choices = kind["enum"].as_array().into_iter().flatten().chain(kind.get("const"));
                found.extend(choices.filter_map(Value::as_str).map(str::to_owned));
            }
            members.values().for_each(|member| kinds(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| kinds(item, found)),
        _ => {}
    }
}

/// The names of the commands of `certkern <command>`.
fn commands(command: &[&str]) -> Vec<String> {
    let help = certkern(command.iter().chain(&["--help"])).stdout;
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    let listed = listed.lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// What there is now: certificate kinds with a case that is accepted, operators of the schema (which a law ties to the registry), functions of the library,
/// commands.
fn current() -> Groups {
    let name = |path: &std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut operators = BTreeSet::new();
    let schema = fs::read_to_string(root().join("schemas/graph.schema.json")).unwrap();
    kinds(&serde_json::from_str(&schema).unwrap(), &mut operators);
    let top = commands(&[]);
    let nested = top.iter().flat_map(|command| {
        commands(&[command]).into_iter().map(move |name| format!("{command} {name}")).collect::<Vec<_>>()
    });
    let commands = nested.chain(top.iter().cloned()).collect();
    [
        ("certificate kind", entries(&root().join("certs/accept")).iter().map(name).collect()),
        ("operator", operators),
        ("function", certkern_core::func::names().map(str::to_owned).collect()),
        ("command", commands),
    ]
    .map(|(group, names)| (group.to_owned(), names))
    .into()
}

/// What is wrong between the list, what there is, and what was given up.
fn faults(listed: &Groups, current: &Groups, given_up: &Groups) -> Vec<String> {
    let none = BTreeSet::new();
    let groups: BTreeSet<&String> = listed.keys().chain(current.keys()).chain(given_up.keys()).collect();
    let mut faults = Vec::new();
    for group in groups {
        let [listed, current, given_up] = [listed, current, given_up].map(|groups| groups.get(group).unwrap_or(&none));
        let mut say = |names: Vec<&String>, what: &str| {
            faults.extend(names.into_iter().map(|name| format!("{group} `{name}` {what}")));
        };
        say(current.difference(listed).filter(|name| !given_up.contains(*name)).collect(), "is new: list it");
        say(listed.difference(current).collect(), "is lost: give it back, or say since when and why it is given up");
        say(given_up.intersection(current).collect(), "is given up, and yet it is there: the entry is stale");
    }
    faults
}

#[test]
fn no_capability_is_lost_unsaid() {
    let document: Value =
        serde_json::from_str(&fs::read_to_string(root().join("docs/capabilities.json")).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listed: Groups = document["capabilities"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(group, names)| (group.clone(), names.as_array().unwrap().iter().map(text).collect()))
        .collect();
    let mut given_up = Groups::new();
    for entry in document["given_up"].as_array().unwrap() {
        let date = text(&entry["date"]);
        let digits: Vec<usize> = date.split('-').map(str::len).collect();
        assert!(digits == [4, 2, 2] && date.bytes().all(|b| b == b'-' || b.is_ascii_digit()), "{entry}");
        assert!(text(&entry["reason"]).len() > 20, "{entry}");
        given_up.entry(text(&entry["group"])).or_default().insert(text(&entry["name"]));
    }
    assert_eq!(faults(&listed, &current(), &given_up), Vec::<String>::new());
    let count = |groups: &Groups| groups.values().map(BTreeSet::len).sum::<usize>();
    assert!(count(&listed) + count(&given_up) >= LEAST, "entries were deleted");
}

#[test]
fn losses_and_stale_entries_are_found() {
    let groups =
        |names: &[&str]| Groups::from([("operator".to_owned(), names.iter().map(|name| (*name).to_owned()).collect())]);
    let faults = |listed, current, given_up| faults(&groups(listed), &groups(current), &groups(given_up)).join("|");
    assert_eq!(faults(&["a", "b"], &["a", "b"], &[]), "");
    assert!(faults(&["a", "b"], &["a"], &[]).starts_with("operator `b` is lost"));
    assert_eq!(faults(&["a"], &["a"], &["b"]), "");
    assert!(faults(&["a"], &["a", "b"], &["b"]).ends_with("the entry is stale"));
    assert!(faults(&["a"], &["a", "b"], &[]).starts_with("operator `b` is new"));
}
