//! A node on its way into source: what it has, and the names of its parents.

use certkern_core::tensor::{Tensor, Values};
use certkern_graph::{Attribute, Graph, Node};
use std::fmt;

/// What cannot be written, where, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The node and its operator.
    pub place: String,
    /// What was found.
    pub detail: String,
    /// What the user can do.
    pub way_out: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.detail, self.way_out)
    }
}

impl std::error::Error for Refusal {}

/// The type of a module's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Float {
    Binary32,
    Binary64,
}

impl Float {
    pub(crate) fn of(tensor: &Tensor) -> Option<Self> {
        match tensor.values() {
            Values::Binary32(_) => Some(Self::Binary32),
            Values::Binary64(_) => Some(Self::Binary64),
            Values::Exact(_) => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Binary32 => "torch.float32",
            Self::Binary64 => "torch.float64",
        }
    }

    /// The last argument of a constructor, where it is not PyTorch's default.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Binary32 => "",
            Self::Binary64 => ", dtype=torch.float64",
        }
    }
}

/// A node, and Python expressions for its parents.
pub(crate) struct Site<'a> {
    pub(crate) id: usize,
    pub(crate) node: &'a Node,
    pub(crate) graph: &'a Graph,
    pub(crate) parents: Vec<String>,
    pub(crate) float: Float,
}

impl Site<'_> {
    pub(crate) fn refuse(&self, detail: impl Into<String>, way_out: &'static str) -> Refusal {
        Refusal { place: format!("node {} ({})", self.id, self.node.kind()), detail: detail.into(), way_out }
    }

    /// The expression of a parent.
    pub(crate) fn parent(&self, number: usize) -> &str {
        self.parents.get(number).map_or("", String::as_str)
    }

    /// The shape of the first parent.
    pub(crate) fn source_shape(&self) -> &[usize] {
        let id = self.node.parents().first().copied().unwrap_or_default();
        self.graph.nodes().get(id).map_or(&[], Node::shape)
    }

    /// An attribute that is a number or a Boolean; the graph has it, since it is well-shaped.
    pub(crate) fn number(&self, name: &str) -> usize {
        match self.attribute(name) {
            Some(Attribute::Number(value)) => *value,
            _ => 0,
        }
    }

    /// An attribute that is a list.
    pub(crate) fn list(&self, name: &str) -> &[usize] {
        match self.attribute(name) {
            Some(Attribute::List(values)) => values,
            _ => &[],
        }
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.node.attributes().iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// A payload field.
    pub(crate) fn tensor(&self, name: &str) -> Result<&Tensor, Refusal> {
        let found = self.node.payload().find(|(field, _)| *field == name).map(|(_, tensor)| tensor);
        found.ok_or_else(|| self.refuse(format!("no field {name}"), "please report it"))
    }

    /// A payload field of one number, as Python reads it back.
    pub(crate) fn literal(&self, name: &str) -> Result<String, Refusal> {
        let tensor = self.tensor(name)?;
        decimal(tensor).ok_or_else(|| self.refuse(format!("{name} is no float"), "give it as binary32 or binary64"))
    }

    /// The name of what belongs to the node in the module.
    pub(crate) fn name(&self, what: &str) -> String {
        format!("{what}_{}", self.id)
    }
}

/// The first number of a tensor in the shortest decimal that reads back as the same binary64 number.
pub(crate) fn decimal(tensor: &Tensor) -> Option<String> {
    let value = match tensor.values() {
        Values::Binary32(bits) => f64::from(f32::from_bits(*bits.first()?)),
        Values::Binary64(bits) => f64::from_bits(*bits.first()?),
        Values::Exact(_) => return None,
    };
    Some(format!("{value:?}"))
}

/// A Python tuple.
pub(crate) fn tuple(items: &[usize]) -> String {
    match items {
        [one] => format!("({one},)"),
        _ => format!("({})", items.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
