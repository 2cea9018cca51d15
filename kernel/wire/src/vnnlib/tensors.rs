//! VNN-LIB 2.0: one network with one input and its outputs as tensors, whose elements are the variables in row-major order.

use super::expression::{Command, Id, Kind};
use crate::limits::{Limits, within};
use crate::property::coordinate;
use crate::reason::{Fault, Reason};
use certkern_core::property::Variable;

/// The tensors of the declared network: the input first, then the outputs in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensors(Vec<Tensor>);

#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
    /// The elements of earlier outputs; the elements of this one follow.
    start: usize,
    output: bool,
}

/// A name, and in brackets a list of numbers, if it has one.
fn parts(atom: &str) -> Option<(&str, Option<Vec<usize>>)> {
    let Some((name, list)) = atom.split_once('[') else { return Some((atom, None)) };
    let list = list.strip_suffix(']')?.trim();
    let numbers = if list.is_empty() {
        Some(Vec::new())
    } else {
        list.split(',').map(|number| coordinate(number.trim()).filter(|_| !number.trim().is_empty())).collect()
    };
    Some((name.trim_end(), Some(numbers?)))
}

/// Whether it is a letter and then letters, digits and underscores.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Tensors {
    /// Reads `(declare-network name (declare-input X Real [shape]) (declare-output Y Real [shape]) …)`. `network` is what is known of the shapes.
    ///
    /// # Errors
    /// `property.syntax`, `property.unsupported`, `property.variable` or `property.shape`, or the limit `variables`.
    pub(super) fn read(command: &Command<'_>, network: Option<&[Vec<usize>]>, limits: &Limits) -> Result<Self, Fault> {
        let fault = |reason| Fault::at(reason, "", command.offset());
        let [_, name, declarations @ ..] = command.arguments() else {
            return Err(fault(Reason::PropertySyntax("`declare-network` takes a name and declarations")));
        };
        let mut names = vec![Self::name(command, *name)?];
        let mut tensors = Self::default();
        for id in declarations {
            let tensor = tensors.declaration(command, *id, network, limits)?;
            if names.contains(&tensor.name) {
                return Err(Fault::at(Reason::PropertyVariable(tensor.name), "", command.get(*id).1));
            }
            names.push(tensor.name.clone());
            tensors.0.push(tensor);
        }
        if tensors.0.len() < 2 {
            return Err(fault(Reason::PropertySyntax("a network has an input and an output")));
        }
        Ok(tensors)
    }

    fn name(command: &Command<'_>, id: Id) -> Result<String, Fault> {
        match command.get(id) {
            (Kind::Atom(name), _) if is_name(name) => Ok((*name).to_owned()),
            (_, at) => Err(Fault::at(Reason::PropertySyntax("a name is expected"), "", at)),
        }
    }

    /// The next tensor. An input has to be the first, and no other may be one.
    fn declaration(
        &self,
        command: &Command<'_>,
        id: Id,
        network: Option<&[Vec<usize>]>,
        limits: &Limits,
    ) -> Result<Tensor, Fault> {
        let (kind, offset) = command.get(id);
        let fault = |reason| Fault::at(reason, "", offset);
        let Kind::List(items) = kind else {
            return Err(fault(Reason::PropertySyntax("a declaration is expected")));
        };
        let head = items.first().map(|head| command.get(*head).0);
        let output = match (head, self.0.is_empty()) {
            (Some(Kind::Atom("declare-input")), true) => false,
            (Some(Kind::Atom("declare-output")), false) => true,
            (Some(Kind::Atom("declare-input")), false) => {
                return Err(fault(Reason::PropertyUnsupported("a network of several inputs".to_owned())));
            }
            (Some(Kind::Atom("declare-output")), true) => {
                return Err(fault(Reason::PropertySyntax("an output before the input")));
            }
            (Some(Kind::Atom(other)), _) => return Err(fault(Reason::PropertyUnsupported((*other).to_owned()))),
            _ => return Err(fault(Reason::PropertySyntax("a declaration is expected"))),
        };
        let [_, name, sort] = items.as_slice() else {
            return Err(fault(match items.len() {
                4 => Reason::PropertyUnsupported("a name of the ONNX model".to_owned()),
                _ => Reason::PropertySyntax("a declaration takes a name, a type and a shape"),
            }));
        };
        let name = Self::name(command, *name)?;
        let (sort, sort_at) = match command.get(*sort) {
            (Kind::Atom(sort), at) => (*sort, at),
            (Kind::List(_), at) => return Err(Fault::at(Reason::PropertySyntax("a type is expected"), "", at)),
        };
        let shape = match parts(sort) {
            Some(("Real", Some(shape))) => shape,
            Some((_, Some(_))) => {
                return Err(Fault::at(Reason::PropertyUnsupported("a type other than Real".to_owned()), "", sort_at));
            }
            _ => return Err(Fault::at(Reason::PropertySyntax("a type and a shape are expected"), "", sort_at)),
        };
        if shape.contains(&0) {
            return Err(Fault::at(Reason::PropertySyntax("an extent of zero"), "", sort_at));
        }
        let start = if output { self.outputs() } else { 0 };
        let tensor = Tensor { name, shape, start, output };
        within("variables", start.saturating_add(tensor.elements()), limits.variables).map_err(fault)?;
        let refused = match network.map(|shapes| shapes.get(self.0.len())) {
            Some(Some(actual)) if *actual != tensor.shape => {
                let (property, network) = (tensor.shape.clone(), actual.clone());
                Reason::PropertyShape { tensor: tensor.name, property, network }
            }
            // Where the shape is not known, the order of elements is the same in every shape only along a single axis.
            None if tensor.shape.iter().filter(|extent| **extent > 1).count() > 1 => {
                let what = "a tensor with several axes longer than 1, without a network whose shapes could be compared";
                Reason::PropertyUnsupported(what.to_owned())
            }
            // An output that the network does not have makes other widths.
            _ => return Ok(tensor),
        };
        Err(Fault::at(refused, "", sort_at))
    }

    /// The number of elements of the input.
    pub(super) fn inputs(&self) -> usize {
        self.0.first().map_or(0, Tensor::elements)
    }

    /// The number of elements of all outputs.
    pub(super) fn outputs(&self) -> usize {
        self.0.iter().filter(|tensor| tensor.output).map(Tensor::elements).fold(0, usize::saturating_add)
    }

    /// The element `X[i, j, …]`; that of a tensor without axes is `X`.
    pub(super) fn variable(&self, atom: &str) -> Option<Variable> {
        let (name, index) = parts(atom)?;
        let tensor = self.0.iter().find(|tensor| tensor.name == name)?;
        let index = match index {
            Some(index) if !index.is_empty() => index,
            None => Vec::new(),
            Some(_) => return None,
        };
        if index.len() != tensor.shape.len() {
            return None;
        }
        let place = index.iter().zip(&tensor.shape).try_fold(0_usize, |place, (index, extent)| {
            (index < extent).then(|| place.checked_mul(*extent)?.checked_add(*index))?
        })?;
        let place = place.checked_add(tensor.start)?;
        Some(if tensor.output { Variable::Y(place) } else { Variable::X(place) })
    }
}

impl Tensor {
    fn elements(&self) -> usize {
        self.shape.iter().copied().fold(1, usize::saturating_mul)
    }
}
