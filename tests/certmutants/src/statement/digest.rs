//! Canonical bytes and digests, section 6 of the specification.

use super::{Enclosure, Problem, Region, Row};
use crate::number::Rational;
use certkern_fuzz::net::{Net, Numbers};
use certkern_graph::Attribute;
use num_bigint::Sign;
use sha2::{Digest, Sha256};

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn tagged(tag: &str) -> Self {
        Self::default().str(&format!("certkern/{tag}"))
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn natural(self, value: usize) -> Self {
        self.raw(&(value as u64).to_le_bytes())
    }

    fn str(self, text: &str) -> Self {
        self.natural(text.len()).raw(text.as_bytes())
    }

    fn list<T>(
        self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        item: impl Fn(Self, T) -> Self,
    ) -> Self {
        let items = items.into_iter();
        let sized = self.natural(items.len());
        items.fold(sized, item)
    }

    fn naturals(self, values: &[usize]) -> Self {
        self.list(values, |bytes, value| bytes.natural(*value))
    }

    fn rational(self, value: &Rational) -> Self {
        [value.numer(), value.denom()].into_iter().fold(self, |bytes, integer| {
            let (sign, magnitude) = integer.to_bytes_le();
            match sign {
                Sign::NoSign => bytes.raw(&[0]),
                Sign::Plus => bytes.raw(&[1]).natural(magnitude.len()).raw(&magnitude),
                Sign::Minus => bytes.raw(&[2]).natural(magnitude.len()).raw(&magnitude),
            }
        })
    }

    fn row(self, row: &Row) -> Self {
        let term = |bytes: Self, ((output, index), coefficient): &((bool, usize), Rational)| {
            bytes.raw(&[u8::from(*output)]).natural(*index).rational(coefficient)
        };
        self.list(&row.terms, term).rational(&row.bound).raw(&[u8::from(row.strict)])
    }

    fn hash(self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

fn claim(kind: &str, proposition: &str, parts: &[[u8; 32]]) -> String {
    let bytes = Bytes::tagged("claim/1").str(kind).str(proposition);
    let hash = parts.iter().fold(bytes, |bytes, part| bytes.raw(part)).hash();
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn graph(net: &Net) -> [u8; 32] {
    let bytes = Bytes::tagged("graph/1").natural(net.input).naturals(&net.outputs);
    let node = |bytes: Bytes, node: &certkern_fuzz::net::Node| {
        let mut attributes: Vec<_> = node.attributes.iter().collect();
        attributes.sort_by_key(|(name, _)| *name);
        let attribute = |bytes: Bytes, (name, value): &(&str, Attribute)| match value {
            Attribute::Number(number) => bytes.str(name).raw(&[0]).natural(*number),
            Attribute::List(list) => bytes.str(name).raw(&[1]).naturals(list),
        };
        bytes.str(node.kind).naturals(&node.parents).naturals(&node.shape).list(attributes, attribute)
    };
    bytes.list(&net.nodes, node).hash()
}

fn payload(net: &Net) -> [u8; 32] {
    let mut tensors: Vec<(usize, &str, &Numbers)> = Vec::new();
    for (id, node) in net.nodes.iter().enumerate() {
        let mut own: Vec<_> = node.payload.iter().map(|(field, numbers)| (id, *field, numbers)).collect();
        own.sort_by_key(|(_, field, _)| *field);
        tensors.extend(own);
    }
    let tensor = |bytes: Bytes, (id, field, numbers): (usize, &str, &Numbers)| {
        let kind = if numbers.exact.is_some() {
            "exact"
        } else if numbers.single {
            "binary32"
        } else {
            "binary64"
        };
        let bytes = bytes.natural(id).str(field).str(kind).naturals(&numbers.shape);
        match &numbers.exact {
            Some(exact) => exact.iter().fold(bytes, Bytes::rational),
            None => numbers.values.iter().fold(bytes, |bytes, value| match numbers.single {
                true => bytes.raw(&(*value as f32).to_le_bytes()),
                false => bytes.raw(&value.to_le_bytes()),
            }),
        }
    };
    Bytes::tagged("payload/1").list(tensors, tensor).hash()
}

fn input(Region { ends, ball, constraints }: &Region) -> [u8; 32] {
    let whole = ball.is_none() && constraints.is_empty();
    let bytes = Bytes::tagged(if whole { "input/1" } else { "input/2" });
    let bytes = bytes.list(ends, |bytes, (low, high)| bytes.rational(low).rational(high));
    if whole {
        return bytes.hash();
    }
    let bytes = match ball {
        Some(ball) => ball
            .center
            .iter()
            .fold(bytes.raw(&[if ball.euclid { 2 } else { 1 }]), Bytes::rational)
            .rational(&ball.radius),
        None => bytes.raw(&[0]),
    };
    bytes.list(constraints, Bytes::row).hash()
}

pub(super) fn of_graph(kind: &str, proposition: &str, net: &Net) -> String {
    claim(kind, proposition, &[graph(net), payload(net)])
}

pub(super) fn of_problem(kind: &str, proposition: &str, problem: &Problem) -> String {
    let output =
        Bytes::tagged("output/1").naturals(&problem.about).natural(problem.region.ends.len()).natural(problem.outputs);
    let output = output.list(&problem.disjuncts, |bytes, rows| bytes.list(rows, Bytes::row)).hash();
    claim(kind, proposition, &[graph(&problem.net), payload(&problem.net), input(&problem.region), output])
}

pub(super) fn of_enclosure(enclosure: &Enclosure) -> String {
    let query = Bytes::tagged("query/1").list(&enclosure.nodes, |bytes, node| {
        bytes.str(&node.name).naturals(&node.arguments).list(&node.numbers, Bytes::rational)
    });
    let query = query.naturals(&enclosure.outputs).hash();
    let answer =
        Bytes::tagged("answer/1").list(&enclosure.balls, |bytes, (mid, rad)| bytes.rational(mid).rational(rad)).hash();
    claim("enclosure", "enclosure", &[query, answer])
}
