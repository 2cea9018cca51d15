//! Values of nodes where numbers are not points: forms over a box, directions, or nothing but shapes. What the evaluator of the fuzz targets decides by
//! comparing with zero has its own formula here.

use super::line::{End, Form};
use crate::number::{Rational, whole};
use certkern_fuzz::meaning::{self, Array, Number};
use certkern_fuzz::net::{Net, Node};
use num_traits::{Signed, Zero};
use std::cmp::Ordering;

/// A number that stands for many.
pub(super) trait Abstract: Number {
    /// A function of one number that is rising, if it is known here.
    fn rising(&self, name: &str) -> Option<Self>;

    /// The value of a node without a meaning in numbers.
    fn opaque(_: &Node) -> Option<Array<Self>> {
        None
    }
}

impl<E: End> Abstract for Form<E> {
    fn rising(&self, name: &str) -> Option<Self> {
        self.curve(name)
    }
}

/// The value of every node, with the shape that is declared.
pub(super) fn values<N: Abstract>(net: &Net, x: Vec<N>) -> Option<Vec<Array<N>>> {
    let mut values: Vec<Array<N>> = Vec::new();
    for (id, node) in net.nodes.iter().enumerate() {
        let value = if id == net.input {
            Array { shape: node.shape.clone(), values: x.clone() }
        } else {
            let parents: Vec<&Array<N>> =
                node.parents.iter().map(|parent| values.get(*parent)).collect::<Option<_>>()?;
            value(node, &parents)?
        };
        if value.shape != node.shape || value.values.len() != node.shape.iter().product::<usize>() {
            return None;
        }
        values.push(value);
    }
    Some(values)
}

fn value<N: Abstract>(node: &Node, parents: &[&Array<N>]) -> Option<Array<N>> {
    let number = |name: &str| meaning::numbers::<N>(node.field(name)?).values.first().cloned();
    let each = |f: &dyn Fn(&N) -> Option<N>| {
        let x = parents.first()?;
        Some(Array { shape: x.shape.clone(), values: x.values.iter().map(f).collect::<Option<_>>()? })
    };
    let bent = |x: &N, slope: &N| x.clone().greater(N::zero()).plus(&x.clone().lesser(N::zero()).times(slope));
    let elu = |x: &N, alpha: &N| {
        let below = x.clone().lesser(N::zero()).apply("exp")?.minus(&N::one()).times(alpha);
        Some(x.clone().greater(N::zero()).plus(&below))
    };
    match node.kind {
        // The last has constants that binary64 does not hold.
        "sigmoid" | "softplus" | "gelu_tanh" => each(&|x| x.rising(node.kind)),
        "silu" => each(&|x| Some(x.times(&x.rising("sigmoid")?))),
        "mish" => each(&|x| Some(x.times(&x.rising("softplus")?.apply("tanh")?))),
        "leaky_relu" => each(&|x| Some(bent(x, &number("alpha")?))),
        "elu" => each(&|x| elu(x, &number("alpha")?)),
        "selu" => each(&|x| Some(elu(x, &number("alpha")?)?.times(&number("gamma")?))),
        "prelu" => {
            let (axis, slope) = (node.number("channel_axis")?, meaning::numbers::<N>(node.field("slope")?));
            Array::from_fn(&parents.first()?.shape, |at| {
                Some(bent(parents.first()?.at(at), slope.at(&at[axis..=axis])))
            })
        }
        "safe_log" => {
            let epsilon = parents.get(1)?.values.first()?;
            each(&|x| x.rising("softplus")?.plus(epsilon).apply("log"))
        }
        "sign" | "floor" | "rand_uniform" | "bernoulli_mask" => N::opaque(node),
        _ => meaning::of(node, parents),
    }
}

/// Nothing: only shapes are computed.
#[derive(Clone, PartialEq)]
pub(super) struct Blank;

impl PartialOrd for Blank {
    fn partial_cmp(&self, _: &Self) -> Option<Ordering> {
        None
    }
}

impl Number for Blank {
    fn of(_: f64) -> Self {
        Self
    }

    fn ratio(_: &Rational) -> Self {
        Self
    }

    fn plus(&self, _: &Self) -> Self {
        Self
    }

    fn minus(&self, _: &Self) -> Self {
        Self
    }

    fn times(&self, _: &Self) -> Self {
        Self
    }

    fn over(&self, _: &Self) -> Option<Self> {
        Some(Self)
    }

    fn apply(&self, _: &str) -> Option<Self> {
        Some(Self)
    }

    fn power(&self, _: &Self) -> Option<Self> {
        Some(Self)
    }
}

impl Abstract for Blank {
    fn rising(&self, _: &str) -> Option<Self> {
        Some(Self)
    }

    /// Of the declared shape.
    fn opaque(node: &Node) -> Option<Array<Self>> {
        Array::from_fn(&node.shape, |_| Some(Self))
    }
}

/// Whether every node has the shape that its operator gives it.
pub(super) fn well_shaped(net: &Net) -> bool {
    let width = net.nodes[net.input].shape.iter().product();
    net.nodes.iter().all(|node| node.shape.iter().all(|extent| *extent > 0))
        && values(net, vec![Blank; width]).is_some()
}

/// How a value moves when the inputs rise.
#[derive(Clone)]
pub(super) struct Direction {
    number: Option<Rational>,
    rises: bool,
    falls: bool,
}

impl Direction {
    pub(super) fn input() -> Self {
        Self { number: None, rises: true, falls: false }
    }

    fn along(number: Option<Rational>, rises: bool, falls: bool) -> Self {
        let fixed = number.is_some();
        Self { number, rises: rises || fixed, falls: falls || fixed }
    }
}

impl PartialEq for Direction {
    fn eq(&self, other: &Self) -> bool {
        self.number.is_some() && self.number == other.number
    }
}

impl PartialOrd for Direction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.number.as_ref()?.cmp(other.number.as_ref()?))
    }
}

impl Number for Direction {
    fn of(value: f64) -> Self {
        Self::ratio(&Rational::from_float(value).unwrap_or_else(|| whole(1)))
    }

    fn ratio(value: &Rational) -> Self {
        Self::along(Some(value.clone()), true, true)
    }

    fn plus(&self, other: &Self) -> Self {
        let number = self.number.as_ref().zip(other.number.as_ref()).map(|(a, b)| a + b);
        Self::along(number, self.rises && other.rises, self.falls && other.falls)
    }

    fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&Self::ratio(&-whole(1))))
    }

    fn times(&self, other: &Self) -> Self {
        match (&self.number, &other.number) {
            (Some(a), Some(b)) => Self::ratio(&(a * b)),
            (None, None) => Self::along(None, false, false),
            (Some(factor), None) if factor.is_zero() => Self::ratio(&whole(0)),
            (Some(factor), None) if factor.is_negative() => Self::along(None, other.falls, other.rises),
            (Some(_), None) => other.clone(),
            (None, Some(_)) => other.times(self),
        }
    }

    fn over(&self, other: &Self) -> Option<Self> {
        let divisor = other.number.as_ref().filter(|divisor| !divisor.is_zero())?;
        Some(self.times(&Self::ratio(&divisor.recip())))
    }

    fn apply(&self, name: &str) -> Option<Self> {
        if let Some(value) = self.number.as_ref().and_then(|number| Number::apply(number, name)) {
            return Some(Self::ratio(&value));
        }
        ["exp", "tanh", "erf"].contains(&name).then(|| self.clone())
    }

    fn power(&self, _: &Self) -> Option<Self> {
        None
    }

    fn greater(self, other: Self) -> Self {
        let number = self.number.as_ref().zip(other.number.as_ref()).map(|(a, b)| a.max(b).clone());
        Self::along(number, self.rises && other.rises, self.falls && other.falls)
    }

    fn lesser(self, other: Self) -> Self {
        let number = self.number.as_ref().zip(other.number.as_ref()).map(|(a, b)| a.min(b).clone());
        Self::along(number, self.rises && other.rises, self.falls && other.falls)
    }
}

impl Abstract for Direction {
    fn rising(&self, name: &str) -> Option<Self> {
        ["sigmoid", "softplus"].contains(&name).then(|| Self { number: None, ..self.clone() })
    }
}

/// Whether all outputs rise with the inputs by the directions of their parts.
pub(super) fn monotone(net: &Net) -> bool {
    let width = net.nodes[net.input].shape.iter().product();
    let Some(values) = values(net, vec![Direction::input(); width]) else { return false };
    net.outputs.iter().all(|output| values[*output].values.iter().all(|value| value.rises))
}
