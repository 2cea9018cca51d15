//! The operators: one file each, one line each in [`REGISTRY`].

mod abs;
mod add;
mod add_n;
mod avg_pool;
mod batch_norm_eval;
mod bernoulli_mask;
mod blocks;
mod broadcast_to;
mod channels;
mod clip;
mod concat;
mod constant;
mod contraction;
mod conv;
mod conv_transpose;
mod cos;
mod detach;
mod div;
mod elu;
mod erf;
mod exp;
mod expand;
mod extremum;
mod flatten;
mod floor;
mod gather;
mod gelu;
mod gelu_tanh;
mod global_avg_pool;
mod hard_masked_softmax;
mod hard_sigmoid;
mod hard_swish;
mod indexing;
mod input;
mod inv;
mod layernorm;
mod leaky_relu;
mod linear;
mod log;
mod matmul;
mod max_elem;
mod max_n;
mod max_pool;
mod min_elem;
mod min_n;
mod mish;
mod mse_loss;
mod mul_elem;
pub(crate) mod multihead_attention;
mod neg;
mod numbers;
mod pad;
mod permute;
mod pooling;
mod pow;
mod prelu;
mod rand_uniform;
mod reduce_max;
mod reduce_mean;
mod reduce_min;
mod reduce_sum;
mod reduction;
mod relu;
mod reshape;
mod safe_log;
mod select_where;
mod selu;
mod sigmoid;
mod sign;
mod silu;
mod sin;
mod slice;
mod softmax;
mod softplus;
mod split;
mod sqrt;
mod squeeze;
mod sub;
mod sum;
mod tanh;
mod transpose;
pub(crate) mod tuple_getitem;
mod unsqueeze;
mod upsample;
mod window;

#[cfg(test)]
mod laws;

use crate::attributes::{AttributeSpec, Attributes};
use crate::lowering::Lowering;
use crate::shape;
use certkern_core::program::NodeId;
use certkern_core::tensor::{Tensor, Values};

macro_rules! registry {
    ($($room:ident)*) => { &[$(&$room::OPERATOR),*] };
}

/// Every operator that is known here, by ascending spelling. A spelling that is not in this list is refused.
pub(crate) const REGISTRY: &[&Operator] = registry! {
    abs add add_n avg_pool batch_norm_eval bernoulli_mask broadcast_to clip concat constant conv conv_transpose cos
    detach div elu erf exp expand flatten floor gather gelu gelu_tanh global_avg_pool hard_masked_softmax hard_sigmoid
    hard_swish input inv layernorm leaky_relu linear log matmul max_elem max_n max_pool min_elem min_n mish mse_loss
    mul_elem multihead_attention neg pad permute pow prelu rand_uniform reduce_max reduce_mean reduce_min reduce_sum
    relu reshape safe_log selu sigmoid sign silu sin slice softmax softplus split sqrt squeeze sub sum tanh transpose
    tuple_getitem unsqueeze upsample select_where
};

/// The operator with this spelling.
pub(crate) fn find(kind: &str) -> Option<&'static Operator> {
    REGISTRY.iter().copied().find(|operator| operator.kind == kind)
}

/// Adds the meaning of an operator to a program, given the nodes that hold its parents' values: gives the node that holds its own. `None` if
/// sizes do not fit, which the other rules exclude.
pub(crate) type Lower = fn(&Site, &[NodeId], &mut Lowering) -> Option<NodeId>;

/// An operator of the graph language.
#[derive(Debug)]
pub(crate) struct Operator {
    /// The spelling in documents.
    pub(crate) kind: &'static str,
    /// The number of parents.
    pub(crate) arity: Arity,
    /// The keys of its attributes.
    pub(crate) attributes: &'static [AttributeSpec],
    /// What its attributes must satisfy among themselves; those that may be absent need not be there yet.
    pub(crate) attribute_rule: fn(&Attributes) -> Result<(), Refusal>,
    /// The shape of its value. Runs when the arity holds and every attribute is there.
    pub(crate) shape_rule: fn(&Shapes, &Attributes) -> Result<Vec<usize>, Refusal>,
    /// The numbers that it needs.
    pub(crate) payload: &'static [PayloadField],
    /// How many numbers and indices its lowering holds besides its payload; `None` if more than fits `usize`.
    pub(crate) entries: fn(&Shapes, &Attributes) -> Option<usize>,
    /// What its numbers must satisfy beyond their shapes.
    pub(crate) payload_rule: fn(&Site) -> Result<(), Refusal>,
    /// The meaning.
    pub(crate) lower: Lower,
    /// Whether `torchlean.ir.v1` does not know it.
    pub(crate) extension: bool,
    /// Why no claim about values can use it; then it has no meaning here.
    pub(crate) opaque: Option<&'static str>,
}

/// How many parents an operator has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
}

/// One tensor of numbers that an operator needs.
#[derive(Debug)]
pub(crate) struct PayloadField {
    /// The key in the node, and after `<id>.` the name in the payload file.
    pub(crate) name: &'static str,
    /// Its shape. Runs when the shape rule holds.
    pub(crate) shape: fn(&Shapes, &Attributes) -> Result<Vec<usize>, Refusal>,
}

/// The shapes around a node.
pub(crate) struct Shapes<'a> {
    /// The shapes of the parents, in order.
    pub(crate) parents: &'a [&'a [usize]],
    /// The shape that the node declares.
    pub(crate) declared: &'a [usize],
}

/// All that is known about a node: shapes, attributes with defaults, numbers.
pub(crate) struct Site<'a> {
    /// The shapes around it.
    pub(crate) shapes: Shapes<'a>,
    /// Its attributes.
    pub(crate) attributes: &'a Attributes,
    /// Its numbers, in the order of the operator's fields.
    pub(crate) payload: &'a [Tensor],
}

/// Why an operator refuses a node; the reader adds where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// This attribute is out of range.
    Attribute(&'static str, String),
    /// The shapes do not fit.
    Shape(String),
    /// This payload field is not what it must be.
    Payload(&'static str, String),
    /// An operator disagrees with its own table.
    Internal(&'static str),
}

impl Operator {
    /// An operator without attributes and numbers.
    const fn new(
        kind: &'static str,
        arity: Arity,
        shape_rule: fn(&Shapes, &Attributes) -> Result<Vec<usize>, Refusal>,
        lower: Lower,
    ) -> Self {
        Self {
            kind,
            arity,
            attributes: &[],
            attribute_rule: |_| Ok(()),
            shape_rule,
            payload: &[],
            entries: index_maps,
            payload_rule: |_| Ok(()),
            lower,
            extension: false,
            opaque: None,
        }
    }

    /// An operator that no claim about values can use, for this reason.
    const fn opaque(
        kind: &'static str,
        arity: Arity,
        shape_rule: fn(&Shapes, &Attributes) -> Result<Vec<usize>, Refusal>,
        detail: &'static str,
    ) -> Self {
        Self { opaque: Some(detail), ..Self::new(kind, arity, shape_rule, |_, _, _| None) }
    }

    /// The same operator, which `torchlean.ir.v1` does not know.
    const fn extension(self) -> Self {
        Self { extension: true, ..self }
    }

    /// The same operator with these attributes.
    const fn attributes(self, attributes: &'static [AttributeSpec]) -> Self {
        Self { attributes, ..self }
    }

    /// The same operator with a rule for its attributes.
    const fn attribute_rule(self, attribute_rule: fn(&Attributes) -> Result<(), Refusal>) -> Self {
        Self { attribute_rule, ..self }
    }

    /// The same operator with these numbers.
    const fn payload(self, payload: &'static [PayloadField]) -> Self {
        Self { payload, ..self }
    }

    /// The same operator with a lowering of another size than one index map for each parent.
    const fn entries(self, entries: fn(&Shapes, &Attributes) -> Option<usize>) -> Self {
        Self { entries, ..self }
    }

    /// The same operator with a rule for its numbers.
    const fn payload_rule(self, payload_rule: fn(&Site) -> Result<(), Refusal>) -> Self {
        Self { payload_rule, ..self }
    }
}

impl Arity {
    /// Whether this many parents are right.
    pub(crate) fn allows(self, parents: usize) -> bool {
        match self {
            Self::Exactly(count) => parents == count,
            Self::AtLeast(count) => parents >= count,
        }
    }

    /// The arity in words.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Exactly(count) => count.to_string(),
            Self::AtLeast(count) => format!("at least {count}"),
        }
    }
}

impl Shapes<'_> {
    /// The shape of parent `index`, which the arity promises.
    fn parent(&self, index: usize) -> Result<&[usize], Refusal> {
        self.parents.get(index).copied().ok_or(Refusal::Internal("a parent beyond the arity"))
    }

    /// The shape of the first parent; that of a scalar where there is none.
    fn first(&self) -> &[usize] {
        self.parents.first().copied().unwrap_or_default()
    }
}

/// The shape rule of operators that keep the shape of their one parent.
fn keeps_shape(shapes: &Shapes, _: &Attributes) -> Result<Vec<usize>, Refusal> {
    shapes.parent(0).map(<[usize]>::to_vec)
}

/// The shape rule of operators on tensors of one shape. There is no implicit broadcast.
fn equal_shapes(shapes: &Shapes, _: &Attributes) -> Result<Vec<usize>, Refusal> {
    let first = shapes.parent(0)?;
    match shapes.parents.iter().find(|other| **other != first) {
        None => Ok(first.to_vec()),
        Some(other) => {
            let (first, other) = (shape::text(first), shape::text(other));
            Err(Refusal::Shape(format!("the parents' shapes {first} and {other} are not equal")))
        }
    }
}

/// Refuses an attribute that repeats the parent's shape and is not it.
fn repeats_parent(shapes: &Shapes, attributes: &Attributes, name: &str) -> Result<(), Refusal> {
    let (stated, actual) = (attributes.list(name)?, shapes.parent(0)?);
    if stated == actual {
        Ok(())
    } else {
        let (stated, actual) = (shape::text(stated), shape::text(actual));
        Err(Refusal::Shape(format!("`{name}` is {stated}, but the parent's shape is {actual}")))
    }
}

/// Refuses an axis that a tensor of this rank does not have.
fn axis_within(name: &str, axis: usize, rank: usize) -> Result<(), Refusal> {
    if axis < rank {
        Ok(())
    } else {
        Err(Refusal::Shape(format!("`{name}` is {axis}, but the parent's rank is {rank}")))
    }
}

/// The value, and an index map of its size for each parent beyond the first.
fn index_maps(shapes: &Shapes, _: &Attributes) -> Option<usize> {
    shape::elements(shapes.declared)?.checked_mul(shapes.parents.len().max(1))
}

/// The same coordinates in the same order: the meaning of every operator that moves no number.
fn identity(_: &Site, parents: &[NodeId], program: &mut Lowering) -> Option<NodeId> {
    program.copy(*parents.first()?)
}

/// The coordinates of the one parent, picked by `sources`.
fn selection(parents: &[NodeId], sources: Vec<usize>, program: &mut Lowering) -> Option<NodeId> {
    program.select(*parents.first()?, sources.into_iter().map(Some).collect())
}

/// The vector in which each number of `tensor` stands `each` times in a row, and all of that `times` times.
fn repeated(tensor: &Tensor, each: usize, times: usize) -> Option<Tensor> {
    let period = tensor.len().checked_mul(each)?;
    let length = period.checked_mul(times)?;
    let values = match tensor.values() {
        Values::Binary32(values) => Values::Binary32(repeated_slice(values, each, times)),
        Values::Binary64(values) => Values::Binary64(repeated_slice(values, each, times)),
        Values::Exact(values) => Values::Exact(repeated_slice(values, each, times)),
    };
    Tensor::new(vec![length], values).ok()
}

fn repeated_slice<T: Clone>(values: &[T], each: usize, times: usize) -> Vec<T> {
    let period = || values.iter().flat_map(|value| std::iter::repeat_n(value.clone(), each));
    (0..times).flat_map(|_| period()).collect()
}
