//! The operations of arithmetic and the functions, as expressions of this library.

use certkern_core::expr::{Expressions, Node};
use certkern_core::func::Elementary;
use certkern_core::num::{Dyadic, Rational};
use num_traits::{One, Signed, Zero};
use std::sync::Arc;

/// A finite interval with the ends that a test has.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) lower: Rational,
    pub(crate) upper: Rational,
}

impl Ends {
    pub(crate) fn new(lower: f64, upper: f64) -> Self {
        Self { lower: rational(lower), upper: rational(upper) }
    }

    pub(crate) fn has_zero(&self) -> bool {
        !self.lower.is_positive() && !self.upper.is_negative()
    }

    fn is_point(&self) -> bool {
        self.lower == self.upper
    }
}

/// A finite double.
pub(crate) fn dyadic(x: f64) -> Dyadic {
    Dyadic::from_f64_bits(x.to_bits()).unwrap()
}

pub(crate) fn rational(x: f64) -> Rational {
    dyadic(x).to_rational()
}

/// The nodes of an expression; the last one is its value.
#[derive(Default)]
struct Nodes(Vec<Node>);

impl Nodes {
    fn add(&mut self, name: &str, arguments: &[usize], numbers: &[Rational]) -> usize {
        self.0.push(Node::new(name, arguments.to_vec(), numbers.to_vec()).unwrap());
        self.0.len() - 1
    }

    fn leaf(&mut self, ends: &Ends) -> usize {
        self.add("interval", &[], &[ends.lower.clone(), ends.upper.clone()])
    }

    fn number(&mut self, numer: i64, denom: i64) -> usize {
        self.add("rational", &[], &[Rational::new(numer.into(), denom.into())])
    }
}

/// Operations that keep to rationals: their ends are computed exactly.
pub(crate) fn is_exact(operation: &str) -> bool {
    ["pos", "neg", "add", "sub", "mul", "div", "recip", "sqr", "pown", "fma", "abs"].contains(&operation)
}

/// The same function of the library, if there is one.
pub(crate) fn function(operation: &str, n: Option<&Rational>) -> Option<Elementary> {
    let (name, parameters) = match (operation, n) {
        ("recip", None) => ("inv", Vec::new()),
        ("sqr", None) => ("power", vec![Rational::from_integer(2.into())]),
        ("pown", Some(n)) => ("power", vec![n.clone()]),
        (
            "sqrt" | "exp" | "log" | "log2" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh"
            | "tanh" | "asinh" | "acosh" | "atanh",
            None,
        ) => (operation, Vec::new()),
        _ => return None,
    };
    Some(Elementary::new(name, parameters).unwrap())
}

/// Whether the exponent of `pow` is a parameter: one number above zero, and a short one.
pub(crate) fn is_parameter(exponent: &Ends) -> bool {
    let short = exponent.lower.numer().bits() <= 32 && exponent.lower.denom().bits() <= 32;
    exponent.is_point() && exponent.lower.is_positive() && short
}

/// The operation on these arguments as an expression in which each stands once, so that its range is no wider than it must be; `n` is the exponent of
/// `pown`. `None` for an operation that is no such expression.
pub(crate) fn expression(operation: &str, arguments: &[Ends], n: Option<&Rational>) -> Option<Arc<Expressions>> {
    let mut nodes = Nodes::default();
    let one = Rational::one();
    let value = match (operation, arguments, n) {
        ("pos", [x], None) => nodes.leaf(x),
        ("neg", [x], None) => {
            let x = nodes.leaf(x);
            nodes.add("neg", &[x], &[])
        }
        ("add" | "sub" | "mul" | "div", [x, y], None) => {
            let arguments = [nodes.leaf(x), nodes.leaf(y)];
            nodes.add(operation, &arguments, &[])
        }
        ("recip", [x], None) => {
            let arguments = [nodes.number(1, 1), nodes.leaf(x)];
            nodes.add("div", &arguments, &[])
        }
        ("sqr", [x], None) => {
            let x = nodes.leaf(x);
            nodes.add("power", &[x], &[&one + &one])
        }
        ("pown", [x], Some(n)) => {
            let x = nodes.leaf(x);
            nodes.add("power", &[x], std::slice::from_ref(n))
        }
        ("fma", [x, y, z], None) => {
            let factors = [nodes.leaf(x), nodes.leaf(y)];
            let terms = [nodes.add("mul", &factors, &[]), nodes.leaf(z)];
            nodes.add("add", &terms, &[])
        }
        ("abs", [x], None) => {
            let x = nodes.leaf(x);
            nodes.add("leaky_relu", &[x], &[-one])
        }
        ("exp2" | "exp10", [x], None) => {
            let x = nodes.leaf(x);
            let base = if operation == "exp2" {
                nodes.add("ln2", &[], &[])
            } else {
                let ten = nodes.number(10, 1);
                nodes.add("log", &[ten], &[])
            };
            let power = nodes.add("mul", &[x, base], &[]);
            nodes.add("exp", &[power], &[])
        }
        ("log10", [x], None) => {
            let numbers = [nodes.leaf(x), nodes.number(10, 1)];
            let logarithms = numbers.map(|number| nodes.add("log", &[number], &[]));
            nodes.add("div", &logarithms, &[])
        }
        ("pow", [x, y], None) if is_parameter(y) && x.lower.is_zero() => {
            let x = nodes.leaf(x);
            nodes.add("power", &[x], std::slice::from_ref(&y.lower))
        }
        ("pow", [x, y], None) => {
            let (x, y) = (nodes.leaf(x), nodes.leaf(y));
            let logarithm = nodes.add("log", &[x], &[]);
            let power = nodes.add("mul", &[y, logarithm], &[]);
            nodes.add("exp", &[power], &[])
        }
        ("atan2", [y, x], None) => angle(&mut nodes, y, x)?,
        (name, [x], None) if function(name, None).is_some() => {
            let x = nodes.leaf(x);
            nodes.add(name, &[x], &[])
        }
        _ => return None,
    };
    let expressions = Expressions::new(nodes.0, vec![value]);
    Some(Arc::new(expressions.unwrap_or_else(|(_, what)| panic!("{operation}: {what}"))))
}

/// The angle of the points `(x, y)`, on one side of an axis: `atan(y/x)` for `x > 0`, else `±π/2 − atan(x/y)`.
fn angle(nodes: &mut Nodes, y: &Ends, x: &Ends) -> Option<usize> {
    let leaves = [nodes.leaf(y), nodes.leaf(x)];
    if x.lower.is_positive() {
        let quotient = nodes.add("div", &leaves, &[]);
        return Some(nodes.add("atan", &[quotient], &[]));
    }
    if y.has_zero() {
        return None;
    }
    let half = nodes.number(if y.lower.is_positive() { 1 } else { -1 }, 2);
    let pi = nodes.add("pi", &[], &[]);
    let right = nodes.add("mul", &[pi, half], &[]);
    let quotient = nodes.add("div", &[leaves[1], leaves[0]], &[]);
    let rest = nodes.add("atan", &[quotient], &[]);
    Some(nodes.add("sub", &[right, rest], &[]))
}
