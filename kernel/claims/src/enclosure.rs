//! Kind `enclosure`: every value of a query lies in the ball that an answer gives for it. One JSON document holds both, and the answer names the
//! digest of the query that it answers.

use crate::bundle::finish;
use certkern_core::expr::{Expressions, Node};
use certkern_core::num::{Dyadic, Rational};
use certkern_core::rules::{ClaimedBall, Enclosure, Scaled, Unenclosed};
use certkern_seal::Theorem;
use certkern_wire::digest::{AnswerDigest, QueryDigest, answer_digest, query_digest};
use certkern_wire::fields::{Fields, element, member};
use certkern_wire::json::{self, Json, Value};
use certkern_wire::limits::{Limits, within};
use certkern_wire::number;
use certkern_wire::reason::{Fault, Reason, Rejection, Role};
use num_traits::{Signed, ToPrimitive};
use std::sync::Arc;

pub(crate) const FORMAT: &str = "certkern.enclosure.v1";
/// The bits that the kernel computes with at most where the certificate does not say.
const PRECISION: usize = 1024;
/// The bits that it computes with at least.
const LEAST: usize = 64;
/// Shorter numbers are shown in decimals too.
const SHORT: u64 = 4096;

/// A query as it was read: expressions, their nodes as JSON, and the precision that is asked for.
struct Query<'a> {
    expressions: Arc<Expressions>,
    nodes: &'a [Json<'a>],
    precision: Option<usize>,
}

pub(crate) fn check(document: &Json, limits: &Limits) -> Result<Theorem, Rejection> {
    let (budget, query, answer) = open(document, limits)?;
    within("expression-bits", query.nodes.len().saturating_mul(budget), limits.expression_bits)?;
    let (values, balls) = read_answer(answer, &query, bind, limits)?;
    let budget = u64::try_from(budget).unwrap_or(u64::MAX);
    let enclosure = Enclosure::prove(Arc::clone(&query.expressions), balls, budget)
        .map_err(|(index, why)| query.unproved(index, why, values, budget))?;
    Ok(Theorem::enclosed(&enclosure))
}

/// The digests of the query and of the answer of an enclosure, whatever query the answer names.
///
/// # Errors
/// What the readers refuse.
pub fn enclosure_digests(document: &[u8], limits: &Limits) -> Result<(QueryDigest, AnswerDigest), Rejection> {
    let document = json::parse(document, limits)?;
    let (_, query, answer) = open(&document, limits)?;
    let (_, balls) = read_answer(answer, &query, |_, _| Ok(()), limits)?;
    Ok((query_digest(&query.expressions), answer_digest(&balls)))
}

/// The bits to compute with at most, the query, and the answer.
fn open<'a>(document: &'a Json, limits: &Limits) -> Result<(usize, Query<'a>, &'a Json<'a>), Rejection> {
    let mut fields = document.object("")?;
    fields.required("format")?.expect("format", FORMAT)?;
    let budget = precision(&mut fields, limits)?.unwrap_or(PRECISION).max(LEAST);
    let (query, answer) = (fields.required("query")?, fields.required("answer")?);
    finish(fields)?;
    Ok((budget, Query::read(query, limits)?, answer))
}

impl<'a> Query<'a> {
    fn read(query: &'a Json<'a>, limits: &Limits) -> Result<Self, Rejection> {
        let mut fields = query.object("query")?;
        fields.required("format")?.expect("query.format", "certkern.enclosure-query.v1")?;
        let precision = precision(&mut fields, limits)?;
        let nodes = fields.required("nodes")?.array("query.nodes")?;
        let outputs = fields.required("outputs")?.array("query.outputs")?;
        finish(fields)?;
        for list in [nodes, outputs] {
            within("expression-nodes", list.len(), limits.expression_nodes)?;
        }
        let path = |place| element("query.nodes", place);
        let (mut read, mut bits) = (Vec::with_capacity(nodes.len()), 0);
        for (place, json) in nodes.iter().enumerate() {
            let node = read_node(json, &path(place), limits)?;
            spend(&mut bits, node.numbers(), limits)?;
            read.push(node);
        }
        let expressions = Expressions::new(read, places(outputs, "query.outputs")?).map_err(|(place, what)| {
            let json = place.and_then(|place| nodes.get(place)).unwrap_or(query);
            json.fault(Reason::EnclosureQuery(what), &place.map_or("query.outputs".to_owned(), path))
        })?;
        Ok(Self { expressions: Arc::new(expressions), nodes, precision })
    }

    /// Why a value is not proved, at the value or at the node that is the cause.
    fn unproved(&self, index: usize, why: Unenclosed, values: &[Json], budget: u64) -> Rejection {
        let (node, reason) = match why {
            Unenclosed::Refuted { lower, upper } => {
                (None, Reason::EnclosureRefuted { lower: shown(&lower), upper: shown(&upper) })
            }
            Unenclosed::Unproved => (None, Reason::EnclosureUnproved(budget)),
            Unenclosed::Undefined(node) => {
                let operation = self.expressions.nodes().get(node).map(|node| node.name().to_owned());
                (Some(node), Reason::EnclosureUndefined { index, operation: operation.unwrap_or_default() })
            }
            Unenclosed::Reach(node) => (Some(node), Reason::Limit { name: "magnitude", limit: 1 << 48 }),
            Unenclosed::Mismatch => (None, Reason::Internal("balls that were checked")),
        };
        let (json, path) = match node {
            Some(node) => (self.nodes.get(node), element("query.nodes", node)),
            None => (values.get(index), element("answer.values", index)),
        };
        match json {
            Some(json) => json.fault(reason, &path).into(),
            None => reason.into(),
        }
    }
}

/// The balls of an answer to this query, and where they stand; `bind` looks at the digest that the answer names.
fn read_answer<'a>(
    answer: &'a Json,
    query: &Query<'_>,
    bind: impl Fn(&Json, &Expressions) -> Result<(), Fault>,
    limits: &Limits,
) -> Result<(&'a [Json<'a>], Vec<ClaimedBall>), Rejection> {
    let mut fields = answer.object("answer")?;
    fields.required("format")?.expect("answer.format", "certkern.enclosure-answer.v1")?;
    let refuse = |text: String| Rejection::from(answer.fault(Reason::EnclosureAnswer(text), "answer"));
    match fields.required("status")?.string("answer.status")? {
        "ok" => {}
        status => return Err(refuse(format!("its status is `{status}`"))),
    }
    bind(fields.required("query")?, &query.expressions)?;
    let stated = precision(&mut fields, limits)?;
    if stated != query.precision {
        let bits = |bits: Option<usize>| bits.map_or("no precision".to_owned(), |bits| format!("{bits} bits"));
        return Err(refuse(format!(
            "the query asks for {}, the answer states {}",
            bits(query.precision),
            bits(stated)
        )));
    }
    let values = fields.required("values")?.array("answer.values")?;
    finish(fields)?;
    let outputs = query.expressions.outputs().len();
    if values.len() != outputs {
        return Err(refuse(format!("{} values for {outputs} outputs", values.len())));
    }
    let (mut balls, mut bits) = (Vec::with_capacity(values.len()), 0);
    for (index, json) in values.iter().enumerate() {
        let ball = ball(json, &element("answer.values", index), limits)?;
        spend(&mut bits, [&ball.midpoint, &ball.radius], limits)?;
        balls.push(ball);
    }
    Ok((values, balls))
}

/// The bits of a field `precision`, if it is there.
fn precision(fields: &mut Fields<'_>, limits: &Limits) -> Result<Option<usize>, Fault> {
    let path = fields.path("precision");
    let Some(json) = fields.optional("precision") else { return Ok(None) };
    let bits = json.index(&path)?;
    within("precision", bits, limits.precision).map_err(|reason| json.fault(reason, &path))?;
    Ok(Some(bits))
}

/// `{"op": name, "args": [earlier node, …], "numbers": [number, …]}`, where empty lists may be left out.
fn read_node(json: &Json, path: &str, limits: &Limits) -> Result<Node, Rejection> {
    let mut fields = json.object(path)?;
    let name = fields.required("op")?.string(&member(path, "op"))?;
    let mut list = |key| {
        let path = member(path, key);
        let items = fields.optional(key).map_or(Ok(&[][..]), |json| json.array(&path))?;
        Ok::<_, Fault>((items, path))
    };
    let ((arguments, its), (numbers, path_of_numbers)) = (list("args")?, list("numbers")?);
    finish(fields)?;
    let numbers = numbers.iter().enumerate().map(|(i, json)| json.rational(&element(&path_of_numbers, i), limits));
    let node = Node::new(name, places(arguments, &its)?, numbers.collect::<Result<_, _>>()?);
    Ok(node.map_err(|what| json.fault(Reason::EnclosureQuery(what), path))?)
}

/// Adds up the bits of numbers: an exponent of four digits makes a number of thousands.
fn spend<'a>(bits: &mut usize, numbers: impl IntoIterator<Item = &'a Rational>, limits: &Limits) -> Result<(), Reason> {
    for number in numbers {
        let length = number.numer().bits().saturating_add(number.denom().bits());
        *bits = bits.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    }
    within("expression-bits", *bits, limits.expression_bits)
}

/// A list of places of nodes.
fn places(items: &[Json], path: &str) -> Result<Vec<usize>, Fault> {
    items.iter().enumerate().map(|(i, json)| json.index(&element(path, i))).collect()
}

/// The answer must be one to these expressions.
fn bind(named: &Json, expressions: &Expressions) -> Result<(), Fault> {
    let path = "answer.query";
    let expected = QueryDigest::parse(named.string(path)?).map_err(|reason| named.fault(reason, path))?;
    let actual = query_digest(expressions);
    if expected == actual {
        return Ok(());
    }
    let (expected, actual) = (expected.to_string(), actual.to_string());
    Err(named.fault(Reason::Bind { role: Role::Query, expected, actual }, path))
}

/// `{"mid": m, "rad": r}`; the same integers times `10^exp` with `"exp"`; or Arb's `[m, e, r, f]` for `m·2^e ± r·2^f`.
fn ball(json: &Json, path: &str, limits: &Limits) -> Result<ClaimedBall, Fault> {
    let refuse = |text: &str| json.fault(Reason::EnclosureAnswer(text.to_owned()), path);
    let (midpoint, radius) = if let Value::Array(items) = &json.value {
        let [m, e, r, f] = &**items else { return Err(refuse("Arb's integers are four")) };
        // As many bits as a number may have decimals.
        let most = limits.digits.saturating_mul(4);
        let number = |mantissa: &Json, exponent: &Json| {
            let exponent = exponent_of(exponent, path, most, limits)?;
            Ok::<_, Fault>(Dyadic::new(integer(mantissa, path, limits)?.to_integer(), exponent).to_rational())
        };
        (number(m, e)?, number(r, f)?)
    } else {
        let mut fields = json.object(path)?;
        let (mid, rad, exp) = (fields.required("mid")?, fields.required("rad")?, fields.optional("exp"));
        fields.finish().map_err(|faults| faults.into_iter().next().unwrap_or_else(|| refuse("unknown field")))?;
        match exp {
            None => (mid.rational(&member(path, "mid"), limits)?, rad.rational(&member(path, "rad"), limits)?),
            Some(exp) => {
                let most = usize::try_from(limits.exponent).unwrap_or(usize::MAX);
                let exponent = exponent_of(exp, path, most, limits)?.to_i32().unwrap_or(0);
                let scale = Rational::from_integer(10.into()).pow(exponent);
                (integer(mid, path, limits)? * &scale, integer(rad, path, limits)? * scale)
            }
        }
    };
    if radius.is_negative() { Err(refuse("the radius is below zero")) } else { Ok(ClaimedBall { midpoint, radius }) }
}

/// An integer, as a number or a string.
fn integer(json: &Json, path: &str, limits: &Limits) -> Result<Rational, Fault> {
    let value = json.rational(path, limits)?;
    if value.is_integer() { Ok(value) } else { Err(json.fault(Reason::JsonNumber(value.to_string()), path)) }
}

/// An integer of magnitude at most `most`.
fn exponent_of(json: &Json, path: &str, most: usize, limits: &Limits) -> Result<i64, Fault> {
    let value = integer(json, path, limits)?;
    let magnitude = value.to_i64().and_then(|exponent| usize::try_from(exponent.unsigned_abs()).ok());
    within("exponent", magnitude.unwrap_or(usize::MAX), most).map_err(|reason| json.fault(reason, path))?;
    value.to_i64().ok_or_else(|| json.fault(Reason::Internal("an exponent within its limit"), path))
}

/// A number for people: exactly, and in decimals where it has a reasonable size.
fn shown((number, exponent): &Scaled) -> String {
    if exponent.unsigned_abs() > SHORT {
        return format!("{number}*2^{exponent}");
    }
    let value = number * Dyadic::new(1, *exponent).to_rational();
    let about = number::about(&value);
    if *exponent == 0 { format!("{number} ≈ {about}") } else { format!("{number}*2^{exponent} ≈ {about}") }
}
