//! Kind `enclosure`: expressions, balls for their values, and numbers of the intervals at which the values are known.

use super::statement::list;
use crate::limits;
use crate::meaning::Number;
use crate::source::{Choices, extended};
use crate::tally::count;
use certkern_claims::{check_document, enclosure_digests};
use certkern_core::num::Rational;
use certkern_seal::Verdict;
use num_traits::Signed;

const TARGET: &str = "soundness_enclosure";

/// A node: the operation, its arguments and its numbers.
struct Node {
    op: &'static str,
    arguments: Vec<usize>,
    numbers: Vec<Rational>,
}

const FUNCTIONS: [&str; 24] = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "atan",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "softplus",
    "erf",
    "expm1",
    "log1p",
    "relu",
    "power",
    "clip",
    "leaky_relu",
];

/// A ball that does not hold the value at some numbers of the intervals must not be accepted.
pub(crate) fn body(data: &[u8]) {
    let bytes = extended(data);
    let mut u = Choices::new(&bytes);
    let nodes = expression(&mut u);
    let mut samples = Vec::new();
    for choice in 0..3 {
        let part = Rational::new(
            if choice < 2 { choice } else { u.between(0, 8) }.into(),
            if choice < 2 { 1 } else { 8 }.into(),
        );
        samples.extend(value(&nodes, &part));
    }
    let Some((low, high)) = samples.first().cloned() else {
        count(TARGET, "no claim");
        return;
    };
    let precision = u.pick(&[64, 64, 128, 256]);
    let (midpoint, radius) = match u.below(4) {
        // Around the value, or all values that are known.
        0 => {
            let low = samples.iter().map(|(low, _)| low).min().unwrap_or(&low);
            let high = samples.iter().map(|(_, high)| high).max().unwrap_or(&high);
            ((low + high) / Rational::from_integer(2.into()), (high - low) + u.room())
        }
        // Beside it, by next to nothing.
        1 => (&high + Rational::new(1.into(), (1_u64 << 40).into()), Rational::from_integer(0.into())),
        2 => {
            let radius = u.room();
            (low - &radius - Rational::new(1.into(), (1_u64 << 40).into()), radius)
        }
        _ => (low + u.ratio(), u.room()),
    };
    let document = document(&nodes, (&midpoint, &radius), precision);
    match check_document(document.as_bytes(), &limits()) {
        Verdict::Accepted(_) => {
            count(TARGET, "accepted");
            for (low, high) in &samples {
                let apart = *high < &midpoint - &radius || *low > &midpoint + &radius;
                assert!(!apart, "accepted, and a value lies in [{low}, {high}]: {document}");
            }
        }
        Verdict::Rejected(rejection) => {
            let code = rejection.first().reason.code();
            assert_ne!(code, "internal", "{document}: {rejection:?}");
            count(TARGET, &code);
        }
    }
}

fn expression(u: &mut Choices<'_>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let count = 2 + u.below(5);
    for _ in 0..1 + u.below(2) {
        let low = u.ratio();
        let numbers = if u.below(3) == 0 { vec![low] } else { vec![low.clone(), low + u.room()] };
        let op = if numbers.len() == 1 { "rational" } else { "interval" };
        nodes.push(Node { op, arguments: vec![], numbers });
    }
    if u.one_in(4) {
        nodes.push(Node { op: u.pick(&["pi", "e", "ln2"]), arguments: vec![], numbers: vec![] });
    }
    while nodes.len() < count {
        let any =
            |u: &mut Choices<'_>, nodes: &[Node]| if u.below(2) == 0 { nodes.len() - 1 } else { u.below(nodes.len()) };
        let (first, second) = (any(u, &nodes), any(u, &nodes));
        let node = match u.below(2) {
            0 => {
                let op = u.pick(&["add", "sub", "mul", "div", "neg"]);
                Node { op, arguments: if op == "neg" { vec![first] } else { vec![first, second] }, numbers: vec![] }
            }
            _ => {
                let op = u.pick(&FUNCTIONS);
                let numbers = match op {
                    "power" => vec![Rational::new(u.between(-3, 5).into(), u.pick(&[1, 1, 2]).into())],
                    "clip" => {
                        let low = u.ratio();
                        vec![low.clone(), low + u.room()]
                    }
                    "leaky_relu" => vec![u.ratio()],
                    _ => vec![],
                };
                // `leaky_relu` with 0 is what other formats call `relu`.
                let (op, numbers) =
                    if op == "relu" { ("leaky_relu", vec![u.ratio().abs() - u.ratio().abs()]) } else { (op, numbers) };
                Node { op, arguments: vec![first], numbers }
            }
        };
        nodes.push(node);
    }
    used(nodes)
}

/// The nodes that the last one uses.
fn used(nodes: Vec<Node>) -> Vec<Node> {
    let mut used = vec![false; nodes.len()];
    used[nodes.len() - 1] = true;
    for (place, node) in nodes.iter().enumerate().rev() {
        if used[place] {
            node.arguments.iter().for_each(|argument| used[*argument] = true);
        }
    }
    let place = |old: usize| used[..old].iter().filter(|used| **used).count();
    let kept = nodes.into_iter().enumerate().filter(|(old, _)| used[*old]);
    kept.map(|(_, node)| Node { arguments: node.arguments.iter().map(|old| place(*old)).collect(), ..node }).collect()
}

/// What the last node's value surely lies between where every interval is at this part of it.
fn value(nodes: &[Node], part: &Rational) -> Option<(Rational, Rational)> {
    if let Some(value) = evaluate::<Rational>(nodes, part) {
        let exact = value.last()?.clone();
        return Some((exact.clone(), exact));
    }
    let values = evaluate::<f64>(nodes, part)?;
    let largest = values.iter().fold(1.0, |most: f64, x| if x.abs() > most { x.abs() } else { most });
    let tolerance = 1e-9 * largest;
    let fits = values.iter().all(|x| x.is_finite()) && tolerance < 1e-2;
    let value = *values.last()?;
    fits.then(|| (Rational::of(value - tolerance), Rational::of(value + tolerance)))
}

fn evaluate<N: Number + Function>(nodes: &[Node], part: &Rational) -> Option<Vec<N>> {
    let mut values: Vec<N> = Vec::new();
    for node in nodes {
        let argument = |place: usize| node.arguments.get(place).map(|argument| &values[*argument]);
        let value = match (node.op, node.numbers.as_slice()) {
            ("rational", [number]) => N::ratio(number),
            ("interval", [low, high]) => N::ratio(&(low + (high - low) * part)),
            ("add", _) => argument(0)?.plus(argument(1)?),
            ("sub", _) => argument(0)?.minus(argument(1)?),
            ("mul", _) => argument(0)?.times(argument(1)?),
            ("div", _) => argument(0)?.over(argument(1)?)?,
            ("neg", _) => N::zero().minus(argument(0)?),
            ("power", [exponent]) => argument(0)?.power(&N::ratio(exponent))?,
            ("clip", [low, high]) => argument(0)?.clone().greater(N::ratio(low)).lesser(N::ratio(high)),
            ("leaky_relu", [slope]) => {
                let x = argument(0)?;
                if *x < N::zero() { x.times(&N::ratio(slope)) } else { x.clone() }
            }
            (op, _) => N::function(op, node.arguments.first().map(|argument| &values[*argument]))?,
        };
        values.push(value);
    }
    Some(values)
}

/// Constants and functions beyond those of networks.
trait Function: Sized {
    fn function(op: &str, x: Option<&Self>) -> Option<Self>;
}

impl Function for Rational {
    fn function(op: &str, x: Option<&Self>) -> Option<Self> {
        x?.apply(op)
    }
}

impl Function for f64 {
    /// Away from the ends of the domain, where the standard library's functions are good to a few units in the last place.
    fn function(op: &str, x: Option<&Self>) -> Option<Self> {
        Some(match (op, x.copied()) {
            ("pi", None) => std::f64::consts::PI,
            ("e", None) => std::f64::consts::E,
            ("ln2", None) => std::f64::consts::LN_2,
            ("tan", Some(x)) if x.cos().abs() > 0.05 => x.tan(),
            ("atan", Some(x)) => x.atan(),
            ("asin", Some(x)) if x.abs() < 0.99 => x.asin(),
            ("acos", Some(x)) if x.abs() < 0.99 => x.acos(),
            ("sinh", Some(x)) => x.sinh(),
            ("cosh", Some(x)) => x.cosh(),
            ("asinh", Some(x)) => x.asinh(),
            ("acosh", Some(x)) if x > 1.01 => x.acosh(),
            ("atanh", Some(x)) if x.abs() < 0.99 => x.atanh(),
            ("sigmoid", Some(x)) => 1.0 / (1.0 + (-x).exp()),
            ("softplus", Some(x)) if x.abs() < 30.0 => x.exp().ln_1p(),
            ("expm1", Some(x)) => x.exp_m1(),
            ("log1p", Some(x)) if x > -0.95 => x.ln_1p(),
            (_, Some(x)) => return x.apply(op),
            (_, None) => return None,
        })
    }
}

/// The document, with the digest that the kernel computes of its query.
fn document(nodes: &[Node], (midpoint, radius): (&Rational, &Rational), precision: usize) -> String {
    let node = |node: &Node| {
        let numbers = if node.numbers.is_empty() {
            String::new()
        } else {
            format!(r#","numbers":{}"#, list(node.numbers.iter()))
        };
        format!(r#"{{"op":"{}","args":{:?}{numbers}}}"#, node.op, node.arguments)
    };
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    let with = |digest: &str| {
        format!(
            r#"{{"format":"certkern.enclosure.v1","precision":{precision},"query":{{"format":"certkern.enclosure-query.v1","nodes":[{}],"outputs":[{}]}},"answer":{{"format":"certkern.enclosure-answer.v1","query":"{digest}","status":"ok","values":[{{"mid":"{midpoint}","rad":"{radius}"}}]}}}}"#,
            nodes.join(","),
            nodes.len() - 1
        )
    };
    let draft = with(&"0".repeat(64));
    match enclosure_digests(draft.as_bytes(), &limits()) {
        Ok((query, _)) => with(&query.to_string()),
        Err(_) => draft,
    }
}
