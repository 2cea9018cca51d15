//! The operators: for each of them the nodes that mean the same in the graph.

mod affine;
mod elementwise;
mod layout;
mod source;

use std::rc::Rc;

use crate::attributes::{Attributes, attribute_error};
use crate::builder::{Builder, NodeDraft, NodeValue, Origin, Value};
use crate::constant::Constant;
use crate::error::{ImportError, fault};

/// One operator.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// The least and the greatest number of inputs, over all operator sets.
    inputs: (usize, usize),
    /// The greatest number of outputs; the first is the one that is made, the others may not be read by any node.
    outputs: usize,
    lower: fn(&mut Call<'_>) -> Result<Value, ImportError>,
}

const fn operator(
    name: &'static str,
    inputs: (usize, usize),
    lower: fn(&mut Call<'_>) -> Result<Value, ImportError>,
) -> Operator {
    Operator { name, inputs, outputs: 1, lower }
}

const MANY: usize = usize::MAX;

/// The supported operators of the default domain.
pub(crate) const OPERATORS: &[Operator] = &[
    operator("Add", (2, 2), elementwise::add),
    operator("Concat", (1, MANY), layout::concat),
    operator("Constant", (0, 0), source::constant),
    operator("Conv", (2, 3), affine::conv),
    operator("Cos", (1, 1), elementwise::cos),
    Operator { name: "Dropout", inputs: (1, 3), outputs: 2, lower: source::dropout },
    operator("Flatten", (1, 1), layout::flatten),
    operator("Gemm", (2, 3), affine::gemm),
    operator("Identity", (1, 1), source::identity),
    operator("MatMul", (2, 2), affine::matmul),
    operator("Relu", (1, 1), elementwise::relu),
    operator("Reshape", (2, 2), layout::reshape),
    operator("Sigmoid", (1, 1), elementwise::sigmoid),
    operator("Sin", (1, 1), elementwise::sin),
    operator("Softplus", (1, 1), elementwise::softplus),
    operator("Squeeze", (1, 2), layout::squeeze),
    operator("Sub", (2, 2), elementwise::sub),
    operator("Tanh", (1, 1), elementwise::tanh),
    operator("Transpose", (1, 1), layout::transpose),
    operator("Unsqueeze", (1, 2), layout::unsqueeze),
];

impl Operator {
    /// Lowers a node: checks arities, and that all its attributes are used.
    ///
    /// # Errors
    /// Any [`ImportError`] of an operator.
    pub(crate) fn apply(&self, mut call: Call<'_>, outputs: usize) -> Result<Value, ImportError> {
        let (least, most) = self.inputs;
        let count = call.inputs.len();
        if count < least || count > most {
            return Err(call.operand(format!("{} has {count} inputs", self.name), "write the file anew with onnx"));
        }
        if outputs == 0 || outputs > self.outputs {
            return Err(call.operand(format!("{} has {outputs} outputs", self.name), "write the file anew with onnx"));
        }
        let value = (self.lower)(&mut call)?;
        call.attributes.finish()?;
        Ok(value)
    }
}

/// A node to be lowered.
pub(crate) struct Call<'a> {
    /// The version of the operator set.
    pub(crate) opset: i64,
    pub(crate) origin: Origin<'a>,
    /// The inputs with their names; an input left out is `None`.
    pub(crate) inputs: Vec<(&'a str, Option<Value>)>,
    pub(crate) attributes: Attributes<'a>,
    pub(crate) builder: &'a mut Builder,
}

impl Call<'_> {
    /// Input `place`.
    ///
    /// # Errors
    /// [`ImportError::Operand`] if it is left out.
    fn input(&self, place: usize) -> Result<Value, ImportError> {
        let value = self.optional(place);
        value.ok_or_else(|| self.operand(format!("input {place} is left out"), "write the file anew with onnx"))
    }

    fn optional(&self, place: usize) -> Option<Value> {
        self.inputs.get(place).and_then(|(_, value)| value.clone())
    }

    fn input_name(&self, place: usize) -> &str {
        self.inputs.get(place).map_or("", |(name, _)| name)
    }

    /// Input `place` as numbers of a file, for operators that cannot take computed values there.
    fn numbers(&self, place: usize) -> Result<Rc<Constant>, ImportError> {
        match self.input(place)? {
            Value::Constant(constant) => Ok(constant),
            Value::Node(_) => {
                let detail = format!("input `{}` is computed", self.input_name(place));
                Err(self.operand(detail, "only a constant is supported there"))
            }
        }
    }

    /// Input `place` as a constant list of integers: a shape or axes.
    fn integers(&self, place: usize) -> Result<Vec<i64>, ImportError> {
        let constant = self.numbers(place)?;
        let integers = constant.integers().filter(|_| constant.shape.len() <= 1);
        integers.ok_or_else(|| {
            let detail = format!("input `{}` is no list of int64", constant.name);
            self.operand(detail, "write the file anew with onnx")
        })
    }

    /// A value as a node of the graph; a constant gets one.
    fn node(&mut self, value: &Value) -> Result<NodeValue, ImportError> {
        match value {
            Value::Node(node) => Ok(node.clone()),
            Value::Constant(constant) => self.builder.constant(constant, &constant.shape, self.origin.place),
        }
    }

    /// Adds a node with one parent and no payload.
    fn unary(
        &mut self,
        kind: &'static str,
        parent: &NodeValue,
        shape: Vec<usize>,
        attributes: Vec<(&'static str, serde_json::Value)>,
    ) -> Result<NodeValue, ImportError> {
        let draft = NodeDraft { kind, parents: &[parent.id], shape, element: parent.element, attributes };
        self.builder.push(self.origin, draft, &[])
    }

    /// The constant under the name of this node's output.
    fn derived(&self, constant: Constant) -> Value {
        Value::Constant(Rc::new(Constant { name: self.origin.value_name.to_owned(), ..constant }))
    }

    fn same_element(&self, values: &[&Value]) -> Result<(), ImportError> {
        let mut elements = values.iter().map(|value| value.element());
        let first = elements.next();
        match elements.find(|element| Some(*element) != first) {
            None => Ok(()),
            Some(element) => {
                let first = first.map_or("nothing", |element| element.name());
                let detail = format!("its inputs are of {first} and of {}", element.name());
                Err(self.operand(detail, "export the model in one type of numbers"))
            }
        }
    }

    /// An axis of a value of this rank; a negative one counts from the end, which operator sets before 11 do not know.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, ImportError> {
        let from_end = axis < 0 && self.opset >= 11;
        let counted =
            if from_end { i64::try_from(rank).ok().and_then(|rank| axis.checked_add(rank)) } else { Some(axis) };
        let place = counted.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
        place.ok_or_else(|| {
            let detail = format!("axis {axis} is not one of {rank} axes in operator set {}", self.opset);
            self.shape(detail, "write the file anew with onnx")
        })
    }

    fn attribute(&self, name: &str, detail: &str, way_out: &str) -> ImportError {
        attribute_error(self.origin.place, name, detail, way_out)
    }

    fn operand(&self, detail: String, way_out: &str) -> ImportError {
        ImportError::Operand(fault(self.origin.place, detail, way_out))
    }

    fn shape(&self, detail: String, way_out: &str) -> ImportError {
        ImportError::Shape(fault(self.origin.place, detail, way_out))
    }
}
