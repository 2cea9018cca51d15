//! The operators: for each of them the nodes that mean the same in the graph, as `docs/onnx.md` lists them.

mod activation;
mod affine;
mod conv;
mod elementwise;
mod layout;
mod normalise;
mod pieces;
mod pool;
mod power;
mod reduce;
mod scale;
mod source;
mod window;

use std::rc::Rc;

use serde_json::Value as Json;

use crate::attributes::{Attributes, attribute_error};
use crate::builder::{Builder, NodeDraft, NodeValue, Origin, Value};
use crate::constant::{Constant, Element};
use crate::error::{ImportError, fault};

/// One operator.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// The operator set from which on it is understood.
    since: i64,
    /// The least and the greatest number of inputs, over all operator sets.
    inputs: (usize, usize),
    /// The greatest number of outputs.
    outputs: usize,
    lower: Lower,
}

/// How an operator is lowered.
enum Lower {
    /// A function of each element, of this kind.
    Unary(&'static str),
    /// A function of two elements, of this kind.
    Binary(&'static str),
    /// The same of any number of values: the kind for two, and for more.
    Variadic(&'static str, &'static str),
    /// A reduction of this kind; from this operator set on the axes are an input.
    Reduction(&'static str, i64),
    /// The first output; the others may not be read.
    One(fn(&mut Call<'_>) -> Result<Value, ImportError>),
    /// The outputs in order; those that are not read need not be made.
    Each(fn(&mut Call<'_>) -> Result<Vec<Option<Value>>, ImportError>),
}
use Lower::{Binary, Each, One, Reduction, Unary, Variadic};

const fn operator(name: &'static str, since: i64, inputs: (usize, usize), lower: Lower) -> Operator {
    Operator { name, since, inputs, outputs: 1, lower }
}

const MANY: usize = usize::MAX;

/// The supported operators of the default domain.
pub(crate) const OPERATORS: &[Operator] = &[
    operator("Abs", 1, (1, 1), Unary("abs")),
    operator("Add", 7, (2, 2), Binary("add")),
    operator("AveragePool", 1, (1, 1), One(pool::average)),
    operator("BatchNormalization", 7, (5, 5), One(normalise::batch)).outputs(5),
    operator("Cast", 6, (1, 1), One(source::cast)),
    operator("Clip", 6, (1, 3), One(activation::clip)),
    operator("Concat", 4, (1, MANY), One(pieces::concat)),
    operator("Constant", 1, (0, 0), One(source::constant)),
    operator("ConstantOfShape", 9, (1, 1), One(source::constant_of_shape)),
    operator("Conv", 1, (2, 3), One(conv::conv)),
    operator("ConvTranspose", 1, (2, 3), One(conv::conv_transpose)),
    operator("Cos", 7, (1, 1), Unary("cos")),
    operator("Div", 7, (2, 2), Binary("div")),
    operator("Dropout", 7, (1, 3), One(source::dropout)).outputs(2),
    operator("Elu", 1, (1, 1), One(activation::elu)),
    operator("Erf", 9, (1, 1), Unary("erf")),
    operator("Exp", 1, (1, 1), Unary("exp")),
    operator("Expand", 8, (2, 2), One(pieces::expand)),
    operator("Flatten", 1, (1, 1), One(layout::flatten)),
    operator("Gather", 1, (2, 2), One(pieces::gather)),
    operator("Gelu", 20, (1, 1), One(activation::gelu)),
    operator("Gemm", 7, (2, 3), One(affine::gemm)),
    operator("GlobalAveragePool", 1, (1, 1), One(pool::global_average)),
    operator("GlobalMaxPool", 1, (1, 1), One(pool::global_max)),
    operator("HardSigmoid", 1, (1, 1), One(activation::hard_sigmoid)),
    operator("HardSwish", 14, (1, 1), Unary("hard_swish")),
    operator("Identity", 1, (1, 1), One(source::identity)),
    operator("LayerNormalization", 17, (2, 3), Each(normalise::layer)).outputs(3),
    operator("LeakyRelu", 1, (1, 1), One(activation::leaky_relu)),
    operator("Log", 1, (1, 1), Unary("log")),
    operator("LogSoftmax", 1, (1, 1), One(normalise::log_softmax)),
    operator("MatMul", 1, (2, 2), One(affine::matmul)),
    operator("Max", 8, (1, MANY), Variadic("max_elem", "max_n")),
    operator("MaxPool", 1, (1, 1), One(pool::max)).outputs(2),
    operator("Mean", 8, (1, MANY), One(elementwise::mean)),
    operator("Min", 8, (1, MANY), Variadic("min_elem", "min_n")),
    operator("Mul", 7, (2, 2), Binary("mul_elem")),
    operator("Mish", 18, (1, 1), Unary("mish")),
    operator("Neg", 1, (1, 1), Unary("neg")),
    operator("PRelu", 7, (2, 2), One(activation::prelu)),
    operator("Pad", 2, (1, 4), One(pieces::pad)),
    operator("Pow", 7, (2, 2), One(power::pow)),
    operator("Reciprocal", 1, (1, 1), Unary("inv")),
    operator("ReduceMax", 1, (1, 2), Reduction("reduce_max", 18)),
    operator("ReduceMean", 1, (1, 2), Reduction("reduce_mean", 18)),
    operator("ReduceMin", 1, (1, 2), Reduction("reduce_min", 18)),
    operator("ReduceSum", 1, (1, 2), Reduction("reduce_sum", 13)),
    operator("Relu", 1, (1, 1), Unary("relu")),
    operator("Reshape", 5, (2, 2), One(layout::reshape)),
    operator("Resize", 10, (1, 4), One(scale::resize)),
    operator("Selu", 6, (1, 1), One(activation::selu)),
    operator("Shape", 1, (1, 1), One(source::shape)),
    operator("Sigmoid", 1, (1, 1), Unary("sigmoid")),
    operator("Sin", 7, (1, 1), Unary("sin")),
    operator("Size", 1, (1, 1), One(source::size)),
    operator("Slice", 1, (1, 5), One(pieces::slice)),
    operator("Softmax", 1, (1, 1), One(normalise::softmax)),
    operator("Softplus", 1, (1, 1), Unary("softplus")),
    operator("Split", 2, (1, 2), Each(pieces::split)).outputs(MANY),
    operator("Sqrt", 1, (1, 1), Unary("sqrt")),
    operator("Squeeze", 1, (1, 2), One(layout::squeeze)),
    operator("Sub", 7, (2, 2), Binary("sub")),
    operator("Sum", 8, (1, MANY), Variadic("add", "add_n")),
    operator("Tanh", 1, (1, 1), Unary("tanh")),
    operator("Transpose", 1, (1, 1), One(layout::transpose)),
    operator("Unsqueeze", 1, (1, 2), One(layout::unsqueeze)),
    operator("Upsample", 7, (1, 2), One(scale::upsample)),
    operator("Where", 9, (3, 3), One(elementwise::select)),
];

impl Operator {
    const fn outputs(self, outputs: usize) -> Self {
        Self { outputs, ..self }
    }

    /// Lowers a node: checks operator set and arities, and that all its attributes are used. Gives the outputs that are read.
    ///
    /// # Errors
    /// Any [`ImportError`] of an operator.
    pub(crate) fn apply<'a>(&self, mut call: Call<'a>) -> Result<Vec<(&'a str, Value)>, ImportError> {
        if call.opset < self.since {
            let detail = format!("{} of operator set {} is not supported", self.name, call.opset);
            let way_out = format!("export the model with operator set {} or a later one", self.since);
            return Err(ImportError::Version(fault(call.origin.place, detail, way_out)));
        }
        let (least, most) = self.inputs;
        let count = call.inputs.len();
        if count < least || count > most {
            return Err(call.operand(format!("{} has {count} inputs", self.name), "write the file anew with onnx"));
        }
        let outputs = call.outputs.len();
        if outputs > self.outputs {
            return Err(call.operand(format!("{} has {outputs} outputs", self.name), "write the file anew with onnx"));
        }
        let made = match self.lower {
            Unary(kind) => vec![Some(elementwise::unary(&mut call, kind)?)],
            Binary(kind) => vec![Some(elementwise::binary(&mut call, kind)?)],
            Variadic(two, more) => vec![Some(elementwise::variadic(&mut call, two, more)?)],
            Reduction(kind, input_since) => vec![Some(reduce::reduce(&mut call, kind, input_since)?)],
            One(lower) => vec![Some(lower(&mut call)?)],
            Each(lower) => lower(&mut call)?,
        };
        let mut read = Vec::new();
        let mut made = made.into_iter();
        for (name, live) in std::mem::take(&mut call.outputs) {
            match made.next().flatten() {
                Some(value) if live => read.push((name, value)),
                None if live => {
                    let detail = format!("its output `{name}` is read, and is not made here");
                    return Err(call.operand(detail, "export the model for inference, without that output"));
                }
                _ => {}
            }
        }
        call.attributes.finish()?;
        Ok(read)
    }
}

/// A node to be lowered.
pub(crate) struct Call<'a> {
    /// The version of the operator set.
    pub(crate) opset: i64,
    /// Its value is the first output that is read.
    pub(crate) origin: Origin<'a>,
    /// The inputs with their names; an input left out is `None`.
    pub(crate) inputs: Vec<(&'a str, Option<Value>)>,
    /// The names of the outputs, and whether they are read.
    pub(crate) outputs: Vec<(&'a str, bool)>,
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

    /// Input `place` as a constant list of int64: a shape or axes.
    fn integers(&self, place: usize) -> Result<Vec<i64>, ImportError> {
        let constant = self.numbers(place)?;
        let integers = constant.whole().filter(|_| constant.shape.len() <= 1 && constant.element == Element::I64);
        integers.ok_or_else(|| {
            let detail = format!("input `{}` is no list of int64", constant.name);
            self.operand(detail, "write the file anew with onnx")
        })
    }

    /// Input `place` as a constant of int32 or int64: indices.
    fn indices(&self, place: usize) -> Result<(Vec<i64>, Vec<usize>), ImportError> {
        let constant = self.numbers(place)?;
        let indices = constant.whole().map(|indices| (indices, constant.shape.clone()));
        indices.ok_or_else(|| {
            let detail = format!("input `{}` is not of int32 or int64", constant.name);
            self.operand(detail, "write the file anew with onnx")
        })
    }

    /// A list that is an attribute before operator set `input_since`, and then input `place`; `None` where it is absent.
    fn list(&mut self, name: &'static str, place: usize, input_since: i64) -> Result<Option<Vec<i64>>, ImportError> {
        if self.opset >= input_since {
            return if self.optional(place).is_some() { self.integers(place).map(Some) } else { Ok(None) };
        }
        if self.inputs.len() > place {
            let detail = format!("input {place} (`{name}`) is one that operator set {} does not have", self.opset);
            return Err(self.operand(detail, "write the file anew with onnx"));
        }
        Ok(self.attributes.ints(name)?.map(<[i64]>::to_vec))
    }

    /// A float attribute as a generated scalar.
    fn scalar(&mut self, name: &'static str, default: f32) -> Result<Constant, ImportError> {
        let number = self.attributes.float(name)?.unwrap_or(default);
        if !number.is_finite() {
            return Err(self.attribute(name, "is not finite", "export the model with finite numbers"));
        }
        Ok(Constant::scalar(number))
    }

    /// Input `place`, which is a constant of the type of `first` and of this shape.
    fn tensor(&self, place: usize, first: &Value, shape: &[usize]) -> Result<Rc<Constant>, ImportError> {
        let constant = self.numbers(place)?;
        self.same_element(&[first, &Value::Constant(constant.clone())])?;
        if constant.shape == shape {
            return Ok(constant);
        }
        let detail = format!("`{}` of shape {:?} should be of shape {shape:?}", constant.name, constant.shape);
        Err(self.shape(detail, "write the file anew with onnx"))
    }

    /// Input `place`, which is a constant of one element and of the type of `first`, as a scalar; `None` if it is left out.
    fn number(&self, place: usize, first: &Value) -> Result<Option<Constant>, ImportError> {
        if self.optional(place).is_none() {
            return Ok(None);
        }
        let constant = self.numbers(place)?;
        self.same_element(&[first, &Value::Constant(constant.clone())])?;
        if constant.shape.iter().all(|extent| *extent == 1) {
            return Ok(Some(constant.reshaped(Vec::new())));
        }
        let detail = format!("`{}` of shape {:?} should be one number", constant.name, constant.shape);
        Err(self.shape(detail, "write the file anew with onnx"))
    }

    /// A value as a node of the graph; a constant gets one.
    fn node(&mut self, value: &Value) -> Result<NodeValue, ImportError> {
        match value {
            Value::Node(node) => Ok(node.clone()),
            Value::Constant(constant) => self.builder.constant(constant, &constant.shape, self.origin),
        }
    }

    /// Input `place` as a node.
    fn input_node(&mut self, place: usize) -> Result<NodeValue, ImportError> {
        let value = self.input(place)?;
        self.node(&value)
    }

    /// A value repeated to a shape that its own broadcasts to.
    fn spread(&mut self, value: &Value, shape: &[usize]) -> Result<NodeValue, ImportError> {
        match value {
            Value::Constant(constant) => self.builder.constant(constant, shape, self.origin),
            Value::Node(node) if node.shape == shape => Ok(node.clone()),
            Value::Node(node) => {
                let attributes = vec![("from_shape", node.shape.clone().into()), ("to_shape", shape.into())];
                self.make("broadcast_to", &[node], shape.to_vec(), attributes, &[])
            }
        }
    }

    /// Adds a node.
    fn make(
        &mut self,
        kind: &'static str,
        parents: &[&NodeValue],
        shape: Vec<usize>,
        attributes: Vec<(&'static str, Json)>,
        fields: &[(&'static str, &Constant)],
    ) -> Result<NodeValue, ImportError> {
        let element = parents.first().map_or(Element::F32, |parent| parent.element);
        let parents: Vec<usize> = parents.iter().map(|parent| parent.id).collect();
        self.builder.push(self.origin, NodeDraft { kind, parents: &parents, shape, element, attributes }, fields)
    }

    /// Adds a node with one parent, whose shape it keeps, and no attributes.
    fn keep(
        &mut self,
        kind: &'static str,
        parent: &NodeValue,
        fields: &[(&'static str, &Constant)],
    ) -> Result<NodeValue, ImportError> {
        self.make(kind, &[parent], parent.shape.clone(), Vec::new(), fields)
    }

    /// Adds a node with two parents of one shape.
    fn pair(&mut self, kind: &'static str, first: &NodeValue, second: &NodeValue) -> Result<NodeValue, ImportError> {
        self.make(kind, &[first, second], first.shape.clone(), Vec::new(), &[])
    }

    /// Adds a node with one parent and no payload.
    fn unary(
        &mut self,
        kind: &'static str,
        parent: &NodeValue,
        shape: Vec<usize>,
        attributes: Vec<(&'static str, Json)>,
    ) -> Result<NodeValue, ImportError> {
        self.make(kind, &[parent], shape, attributes, &[])
    }

    /// Adds a `reshape`.
    fn reshape(&mut self, node: &NodeValue, shape: Vec<usize>) -> Result<NodeValue, ImportError> {
        let attributes = vec![("in_shape", node.shape.clone().into()), ("out_shape", shape.clone().into())];
        self.unary("reshape", node, shape, attributes)
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
