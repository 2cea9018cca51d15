//! Expressions over exact rationals and intervals, as directed acyclic graphs.
//!
//! A graph is a list of nodes, each after its arguments, so reading, evaluation and `Drop` walk along a list whatever the depth, and a node that
//! many others share is evaluated once. An interval is a number that is only known to lie in it: all nodes that share it speak of the same number.

mod arithmetic;

pub(crate) use arithmetic::{Arithmetic, Balls, Exact, Range};

use crate::func::{Constant, Elementary, Refusal};
use crate::num::Rational;
use arithmetic::corners;
use num_traits::Zero;

/// A node: an operation on the values of earlier nodes.
pub struct Node {
    name: String,
    operation: Operation,
    arguments: Vec<usize>,
    numbers: Vec<Rational>,
}

enum Operation {
    /// The numbers from the first to the last of the node.
    Leaf,
    Constant(Constant),
    Negate,
    Binary(Binary),
    Apply(Elementary),
}

/// An operation of arithmetic. It is monotone in each operand, so on intervals its extremes are at their ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
}

impl Node {
    /// The node of the operation with this name: a leaf (`rational`, `interval`), a constant, arithmetic, or a function of the library.
    ///
    /// # Errors
    /// What is wrong, if there is no such operation with so many arguments and these numbers.
    pub fn new(name: &str, arguments: Vec<usize>, numbers: Vec<Rational>) -> Result<Self, &'static str> {
        let operation = match (name, arguments.len(), numbers.as_slice()) {
            ("rational", 0, [_]) => Operation::Leaf,
            ("interval", 0, [lower, upper]) if lower <= upper => Operation::Leaf,
            ("interval", 0, [_, _]) => return Err("the lower end of the interval is above its upper end"),
            ("pi", 0, []) => Operation::Constant(Constant::Pi),
            ("e", 0, []) => Operation::Constant(Constant::E),
            ("ln2", 0, []) => Operation::Constant(Constant::Ln2),
            ("gamma", 0, []) => Operation::Constant(Constant::Gamma),
            ("neg", 1, []) => Operation::Negate,
            ("add", 2, []) => Operation::Binary(Binary::Add),
            ("sub", 2, []) => Operation::Binary(Binary::Sub),
            ("mul", 2, []) => Operation::Binary(Binary::Mul),
            ("div", 2, []) => Operation::Binary(Binary::Div),
            (_, 1, _) => {
                // Numbers that a function does not look at have no place in a query.
                let idle = !numbers.is_empty() && Elementary::new(name, Vec::new()).is_some();
                let function = Elementary::new(name, numbers.clone()).filter(|_| !idle);
                Operation::Apply(function.ok_or("there is no function of this name that takes these numbers")?)
            }
            _ => return Err("there is no operation of this name that takes so many arguments and numbers"),
        };
        Ok(Self { name: name.to_owned(), operation, arguments, numbers })
    }

    /// The name of the operation.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The places of the nodes that it takes.
    #[must_use]
    pub fn arguments(&self) -> &[usize] {
        &self.arguments
    }

    /// The number of a rational, the two ends of an interval, the parameters of a function.
    #[must_use]
    pub fn numbers(&self) -> &[Rational] {
        &self.numbers
    }

    /// Whether it is an interval with more than one number.
    fn is_wide(&self) -> bool {
        matches!(self.operation, Operation::Leaf) && self.numbers.first() != self.numbers.last()
    }

    fn value<A: Arithmetic>(
        &self,
        arithmetic: &A,
        choice: Choice,
        arguments: &[&Range<A::Number>],
    ) -> Result<Range<A::Number>, Refusal> {
        match (&self.operation, arguments, self.numbers.as_slice()) {
            (Operation::Leaf, [], [lower, ..]) => {
                let upper = self.numbers.last().unwrap_or(lower);
                let (lower, upper) = match choice {
                    Choice::All => (lower, upper),
                    Choice::Lower => (lower, lower),
                    Choice::Upper => (upper, upper),
                };
                Ok((arithmetic.rational(lower)?.0, arithmetic.rational(upper)?.1))
            }
            (Operation::Constant(constant), [], _) => arithmetic.constant(*constant),
            (Operation::Negate, [z], _) => {
                corners(arithmetic, Binary::Sub, &arithmetic.rational(&Rational::zero())?, z)
            }
            (Operation::Binary(binary), [y, z], _) => corners(arithmetic, *binary, y, z),
            (Operation::Apply(function), [z], _) => arithmetic.apply(function, z),
            _ => Err(Refusal::Undefined),
        }
    }
}

/// Which numbers of the intervals are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// All of them.
    All,
    /// The lower end of each.
    Lower,
    /// The upper end of each.
    Upper,
}

/// A node that has no value, and why.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) node: usize,
    pub(crate) refusal: Refusal,
}

/// All values that a node can have, and perhaps more.
pub(crate) type Value<N> = Result<Range<N>, Fault>;

/// Nodes, and which of them are asked for.
pub struct Expressions {
    nodes: Vec<Node>,
    outputs: Vec<usize>,
}

impl Expressions {
    /// Nodes in order, and the places of those whose values are asked for.
    ///
    /// # Errors
    /// The node at fault, if it is one, and what is wrong: an argument that is not an earlier node, no outputs or one that is no node, a node that no output uses.
    pub fn new(nodes: Vec<Node>, outputs: Vec<usize>) -> Result<Self, (Option<usize>, &'static str)> {
        let late = |(place, node): (usize, &Node)| node.arguments.iter().any(|argument| *argument >= place);
        if let Some(place) = nodes.iter().enumerate().position(late) {
            return Err((Some(place), "an argument is not an earlier node"));
        }
        if outputs.is_empty() || outputs.iter().any(|output| *output >= nodes.len()) {
            return Err((None, "the outputs are not one or more of the nodes"));
        }
        let expressions = Self { nodes, outputs };
        match expressions.cone(expressions.outputs.iter().copied()).iter().position(|used| !used) {
            Some(place) => Err((Some(place), "no output uses the node")),
            None => Ok(expressions),
        }
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The places of the nodes that are asked for, at least one.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// How many leaves are intervals with more than one number.
    #[must_use]
    pub fn intervals(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_wide()).count()
    }

    /// For each node whether these nodes use it.
    fn cone(&self, outputs: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        let mark = |used: &mut Vec<bool>, place: usize| {
            if let Some(used) = used.get_mut(place) {
                *used = true;
            }
        };
        outputs.for_each(|place| mark(&mut used, place));
        for (place, node) in self.nodes.iter().enumerate().rev() {
            if used.get(place) == Some(&true) {
                node.arguments.iter().for_each(|argument| mark(&mut used, *argument));
            }
        }
        used
    }

    /// The values of all nodes that `outputs` use; those of other nodes are faults.
    pub(crate) fn evaluate<A: Arithmetic>(
        &self,
        arithmetic: &A,
        choice: Choice,
        outputs: impl Iterator<Item = usize>,
    ) -> Vec<Value<A::Number>> {
        let mut values: Vec<Value<A::Number>> = Vec::with_capacity(self.nodes.len());
        for (place, (node, used)) in self.nodes.iter().zip(self.cone(outputs)).enumerate() {
            let fault = |refusal| Fault { node: place, refusal };
            let argument = |place: &usize| match values.get(*place) {
                Some(Ok(range)) if used => Ok(range),
                Some(Err(earlier)) if used => Err(*earlier),
                _ => Err(fault(Refusal::Undefined)),
            };
            let arguments = node.arguments.iter().map(argument).collect::<Result<Vec<_>, Fault>>();
            let value = match arguments {
                Ok(arguments) if used => node.value(arithmetic, choice, &arguments).map_err(fault),
                Ok(_) => Err(fault(Refusal::Undefined)),
                Err(earlier) => Err(earlier),
            };
            values.push(value);
        }
        values
    }
}
