//! Target `roundtrip`: what a reader accepts, written out again, is read with the same digests.

use crate::limits;
use crate::net::Net;
use crate::readers::refused;
use crate::soundness;
use crate::tally::count;
use certkern_claims::enclosure_digests;
use certkern_core::property::Property;
use certkern_graph::Graph;
use certkern_wire::digest::{input_digest, output_digest};
use certkern_wire::json::{self, Json, Value};
use certkern_wire::property;

const TARGET: &str = "roundtrip";

/// A document of any kind by its first byte.
pub(crate) fn body(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let rejection = match kind {
        b'g' => Graph::read(rest, None, &limits()).map(|read| graph(TARGET, &read)),
        b'v' => certkern_wire::vnnlib::parse(rest, &limits()).map(|read| property(TARGET, &read)),
        b'p' => property::parse(rest, &limits()).map(|read| property(TARGET, &read)),
        b'e' => enclosure_digests(rest, &limits()).map(|digests| enclosure(rest, &digests)),
        _ => json::parse(rest, &limits()).map(|document| text(&document)),
    };
    match rejection {
        Ok(()) => count(TARGET, &format!("{} comes back", char::from(*kind).escape_default())),
        Err(rejection) => refused(TARGET, &rejection, rest.len()),
    }
}

/// A graph, its numbers in the nodes and in a file of their own.
pub(crate) fn graph(target: &'static str, read: &Graph) {
    let net = Net::of(read);
    let payload = net.payload();
    let mut again = vec![Graph::read(&net.document(false), Some(&payload), &limits())];
    // Numbers in nodes are binary64.
    if net.nodes.iter().flat_map(|node| &node.payload).all(|(_, numbers)| !numbers.single) {
        again.push(Graph::read(&net.document(true), None, &limits()));
    }
    for again in again {
        let again = again.unwrap_or_else(|rejection| panic!("written again it is refused: {rejection:?}"));
        assert_eq!(again.digest(), read.digest());
        assert_eq!(again.payload_digest(), read.payload_digest());
    }
    count(target, "graph comes back");
}

/// A property as JSON.
pub(crate) fn property(target: &'static str, read: &Property) {
    let text = soundness::document(read);
    match property::parse(text.as_bytes(), &limits()) {
        Ok(again) => {
            assert_eq!(input_digest(&again), input_digest(read));
            assert_eq!(output_digest(&[0], &again), output_digest(&[0], read));
            count(target, "property comes back");
        }
        // A quotient may have more digits than its decimal, and stand in a longer document.
        Err(rejection) => assert!(rejection.first().reason.code().starts_with("limit."), "{rejection:?}"),
    }
}

/// An enclosure's document with other white space and the members of its objects in another order.
fn enclosure(bytes: &[u8], digests: &(certkern_wire::digest::QueryDigest, certkern_wire::digest::AnswerDigest)) {
    let document = json::parse(bytes, &limits()).unwrap_or_else(|rejection| panic!("{rejection:?}"));
    let mut text = String::new();
    write(&document, &mut text);
    let again = enclosure_digests(text.as_bytes(), &limits());
    assert_eq!(again.unwrap_or_else(|rejection| panic!("written again it is refused: {rejection:?}")), *digests);
}

/// Any document: written again it is the same text as written once.
fn text(document: &Json<'_>) {
    let (mut once, mut twice) = (String::new(), String::new());
    write(document, &mut once);
    let again = json::parse(once.as_bytes(), &limits()).unwrap_or_else(|rejection| panic!("{rejection:?}: {once}"));
    write(&again, &mut twice);
    let reversed = json::parse(twice.as_bytes(), &limits()).unwrap_or_else(|rejection| panic!("{rejection:?}"));
    let mut thrice = String::new();
    write(&reversed, &mut thrice);
    // Objects are turned round each time.
    assert_eq!(once, thrice);
}

/// Writes a value with the members of every object the other way round. It recurses as deep as the limit on depth.
fn write(json: &Json<'_>, text: &mut String) {
    let string = |string: &str| serde_json::Value::from(string).to_string();
    match &json.value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => text.push_str(number),
        Value::String(value) => text.push_str(&string(value)),
        Value::Array(items) => {
            text.push_str("[ ");
            for (place, item) in items.iter().enumerate() {
                text.push_str(if place > 0 { " ,\n" } else { "" });
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (place, (key, value)) in members.iter().rev().enumerate() {
                text.push_str(if place > 0 { ",\t" } else { "" });
                text.push_str(&string(key));
                text.push_str(" : ");
                write(value, text);
            }
            text.push('}');
        }
    }
}
