//! Why a dump was not converted.

use crate::box_tree::BoxFault;
use crate::manifest::FORMAT;
use std::fmt;

/// What was found and where. The text of each says what can be done about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConvertError {
    /// A node of the dump is an activation that has no meaning in the graph language.
    Activation {
        /// The node of the dump.
        node: String,
        /// Its type in auto_LiRPA.
        kind: String,
    },
    /// The activations of the dump are not those of the graph, in order.
    Activations {
        /// The nodes of the dump and their types.
        dump: Vec<String>,
        /// The nodes of the graph and what they are.
        graph: Vec<String>,
    },
    /// The leaf boxes of a disjunct that are not the leaves of a tree.
    Boxes {
        /// The disjunct.
        disjunct: usize,
        /// Why not; boxes are rows of `box/x_L` and `box/x_U`.
        fault: BoxFault,
    },
    /// A tensor file of another length than the manifest says.
    CutOff {
        /// Its length.
        found: usize,
        /// What the manifest says.
        wanted: usize,
    },
    /// A disjunct without leaves that the root bounds do not close.
    DisjunctOpen {
        /// The disjunct.
        disjunct: usize,
        /// Its rows.
        rows: String,
        /// The best root margin that the dump claims; `None` if it claims none.
        margin: Option<f64>,
    },
    /// Atoms in the dump that are not the rows of any disjunct of the property.
    ForeignAtoms {
        /// Where in the dump the atoms stand.
        place: String,
        /// The atoms.
        atoms: String,
    },
    /// A document of another format, as JSON spells it.
    Format(String),
    /// A part of the region that no leaf covers.
    Gap {
        /// The disjunct.
        disjunct: usize,
        /// The literals on the way to the uncovered part.
        path: Path,
        /// The last literal: nothing covers it under `path`.
        missing: SplitLiteral,
    },
    /// The kernel cannot read the graph that the ONNX file became.
    Graph(String),
    /// A disjunct of the property that the dump does not speak of.
    LackingDisjunct {
        /// The disjunct.
        disjunct: usize,
        /// Its rows.
        rows: String,
    },
    /// A leaf whose id names no row of the tensors of leaves, or one that another leaf has.
    LeafId {
        /// The place of the leaf in the manifest.
        index: usize,
        /// Its id.
        id: u64,
        /// How many rows there are.
        rows: usize,
    },
    /// A leaf with another number of bounds or right-hand sides than rows.
    LeafNumbers {
        /// The id of the leaf.
        leaf: u64,
        /// `lb` or `rhs`.
        key: &'static str,
        /// How many numbers stand there.
        found: usize,
        /// How many rows the leaf has.
        rows: usize,
    },
    /// The manifest is not JSON of the expected form.
    Manifest(String),
    /// A tensor of the dump that is needed and absent.
    MissingTensor(String),
    /// A dump with both ReLU splits and input splits.
    MixedSplits,
    /// Leaves without a common split: no neuron and threshold is decided on all of them.
    NoCommonSplit {
        /// The disjunct.
        disjunct: usize,
        /// The literals on the way to these leaves.
        path: Path,
        /// The ids of the first few of them.
        leaves: Vec<u64>,
    },
    /// A node of the dump stands before one that it reads.
    NodeOrder(String),
    /// A node of the dump and its counterpart in the graph have different sizes.
    NodeSize {
        /// The node of the dump.
        dump: String,
        /// How many numbers it holds.
        size: usize,
        /// The node of the graph.
        graph: usize,
        /// How many numbers that holds.
        width: usize,
    },
    /// A region that is not a box.
    Norm(String),
    /// The ONNX file was not imported.
    Onnx(String),
    /// The tensor file is not the one that the manifest was written with.
    OtherTensors,
    /// Two leaves that cover the same region.
    Overlap {
        /// The disjunct.
        disjunct: usize,
        /// The literals that both leaves share.
        path: Path,
        /// The ids of the leaves; the first is the whole region of `path`.
        leaves: (u64, u64),
    },
    /// The property was not read.
    Property(String),
    /// The dump speaks of another input region than the property.
    Region {
        /// The coordinate of the input.
        coordinate: usize,
        /// `lower` or `upper`.
        side: &'static str,
        /// The number in the dump.
        dump: f32,
        /// The number in the property, rounded.
        property: f64,
    },
    /// A leaf that decides one neuron twice.
    RepeatedLiteral {
        /// The id of the leaf.
        leaf: u64,
        /// The second decision.
        literal: SplitLiteral,
    },
    /// The slopes for the bounds of one node speak of other coordinates for one activation than for another.
    RowsDiffer {
        /// The node that is bounded.
        start: String,
        /// The two activations.
        activations: (String, String),
    },
    /// A split sign that is neither 1 nor −1.
    Sign {
        /// The id of the leaf.
        leaf: u64,
        /// The neuron, as `layer[index]`.
        neuron: String,
        /// What stands there.
        sign: i64,
    },
    /// A slope outside [0, 1] by more than rounding.
    Slope {
        /// The tensor.
        tensor: String,
        /// The row-major place in it.
        index: usize,
        /// The slope.
        value: f32,
    },
    /// A tensor of the dump whose shape is not as expected.
    TensorShape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What is expected.
        wanted: String,
    },
    /// A tensor of the dump with a type that does not fit.
    TensorType {
        /// The tensor.
        name: String,
        /// Its type.
        found: String,
        /// What is expected.
        wanted: &'static str,
    },
    /// An index in a tensor of the dump that is negative, too large or stands twice.
    TensorIndex {
        /// The tensor.
        name: String,
        /// The row-major place in it.
        index: usize,
        /// What stands there.
        value: i64,
        /// Indices are below this.
        width: usize,
    },
    /// The tensors are not a safetensors file.
    Tensors(String),
    /// A split threshold that is NaN or infinite.
    Threshold {
        /// The id of the leaf.
        leaf: u64,
        /// The neuron, as `layer[index]`.
        neuron: String,
        /// What stands there.
        threshold: f64,
    },
    /// Leaves that decide one neuron at different thresholds where they should share one.
    ThresholdMoved {
        /// The disjunct.
        disjunct: usize,
        /// The literals that the leaves share.
        path: Path,
        /// Two leaves, each with its literal for the same neuron.
        leaves: Box<[(u64, SplitLiteral); 2]>,
    },
    /// A name in the dump that names no node that it could mean.
    UnknownNode {
        /// Where the name stands.
        place: String,
        /// The name.
        name: String,
    },
    /// A disjunct that the dump format cannot hold: without a row on outputs, or with a row on inputs and outputs.
    UnsupportedDisjunct {
        /// The disjunct.
        disjunct: usize,
        /// Its rows.
        rows: String,
    },
}

/// One decision: `layer[neuron] ≥ threshold` or `layer[neuron] ≤ threshold`.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitLiteral {
    /// The pre-activation node, as the dump names it.
    pub layer: String,
    /// The flat coordinate in it.
    pub neuron: usize,
    /// `≥` if set, else `≤`.
    pub at_least: bool,
    /// The threshold.
    pub threshold: f64,
}

/// The literals from the root of a tree to a place in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path(pub Vec<SplitLiteral>);

impl fmt::Display for SplitLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = if self.at_least { "≥" } else { "≤" };
        write!(f, "{}[{}] {relation} {}", self.layer, self.neuron, self.threshold)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, "at the root");
        }
        write!(f, "under ")?;
        for (place, literal) in self.0.iter().enumerate() {
            write!(f, "{}{literal}", if place == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

const DUMP_ALL: &str = "dump every leaf that the run closed, and only those";

impl ConvertError {
    /// The file of the dump in which the fault lies, or from which what is missing is missing. `None` where another file is at fault.
    fn file(&self) -> Option<&'static str> {
        match self {
            Self::Activation { .. }
            | Self::Activations { .. }
            | Self::DisjunctOpen { .. }
            | Self::Format(_)
            | Self::Gap { .. }
            | Self::LeafId { .. }
            | Self::LeafNumbers { .. }
            | Self::Manifest(_)
            | Self::MixedSplits
            | Self::NoCommonSplit { .. }
            | Self::NodeOrder(_)
            | Self::NodeSize { .. }
            | Self::Norm(_)
            | Self::Overlap { .. }
            | Self::RepeatedLiteral { .. }
            | Self::Sign { .. }
            | Self::Threshold { .. }
            | Self::ThresholdMoved { .. }
            | Self::UnknownNode { .. } => Some("manifest.json"),
            Self::Boxes { .. }
            | Self::CutOff { .. }
            | Self::ForeignAtoms { .. }
            | Self::LackingDisjunct { .. }
            | Self::MissingTensor(_)
            | Self::OtherTensors
            | Self::Region { .. }
            | Self::RowsDiffer { .. }
            | Self::Slope { .. }
            | Self::TensorIndex { .. }
            | Self::TensorShape { .. }
            | Self::TensorType { .. }
            | Self::Tensors(_) => Some("tensors.safetensors"),
            Self::Graph(_) | Self::Onnx(_) | Self::Property(_) | Self::UnsupportedDisjunct { .. } => None,
        }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.file() {
            write!(f, "{file}: ")?;
        }
        match self {
            Self::Activation { node, kind } => {
                write!(f, "node {node} is a {kind}; only ReLU, sigmoid and tanh can be converted")
            }
            Self::Activations { dump, graph } => write!(
                f,
                "the activations of the dump are [{}], those of the graph [{}]; use the ONNX file of the run",
                dump.join(", "),
                graph.join(", ")
            ),
            Self::Boxes { disjunct, fault } => {
                write!(f, "disjunct {disjunct}: {fault}; ")?;
                match fault {
                    BoxFault::Gap(_) => write!(f, "{DUMP_ALL}, with input clipping off"),
                    BoxFault::Malformed { .. } => write!(f, "dump the boxes as the run held them"),
                    BoxFault::NoCut { .. } => write!(f, "dump a run that bisects one coordinate at a time"),
                    BoxFault::Overlap { .. } => write!(f, "{DUMP_ALL}"),
                }
            }
            Self::CutOff { found, wanted } => write!(
                f,
                "{found} bytes where manifest.json says {wanted}; the file is cut off, or of another run: write the dump again"
            ),
            Self::DisjunctOpen { disjunct, rows, margin: Some(margin) } => write!(
                f,
                "disjunct {disjunct} ({rows}) has no leaves, and its root bound misses by {margin}; {DUMP_ALL}"
            ),
            Self::DisjunctOpen { disjunct, rows, margin: None } => {
                write!(f, "disjunct {disjunct} ({rows}) has no leaves and no root bound; {DUMP_ALL}")
            }
            Self::ForeignAtoms { place, atoms } => write!(
                f,
                "{place} speaks of {atoms}, which is no disjunct of the property; use the property of the run"
            ),
            Self::Format(found) => {
                write!(
                    f,
                    "format is {found}; this converter reads {FORMAT:?}: write the dump again with the hook of this version"
                )
            }
            Self::Gap { disjunct, path, missing } => {
                write!(f, "disjunct {disjunct}: {path} no leaf covers {missing}; {DUMP_ALL}")
            }
            Self::Graph(text) => write!(f, "the graph of the ONNX file was refused: {text}"),
            Self::LackingDisjunct { disjunct, rows } => write!(
                f,
                "the dump does not speak of disjunct {disjunct} ({rows}) of the property; use the property of the run"
            ),
            Self::LeafId { index, id, rows } => write!(
                f,
                "leaves[{index}] has the id {id}, which stands twice or is not in 0 .. {rows}, the rows of leaf/C; write the dump again"
            ),
            Self::LeafNumbers { leaf, key, found, rows } => {
                write!(f, "leaf {leaf} has {found} numbers in {key} for {rows} rows of leaf/C; write the dump again")
            }
            Self::Manifest(text) => write!(f, "{text}; write the dump again"),
            Self::MissingTensor(name) => {
                write!(f, "tensor {name} is absent; write the dump again")
            }
            Self::MixedSplits => {
                write!(f, "the dump holds leaves of ReLU splits and leaf boxes; dump one run of one kind")
            }
            Self::NoCommonSplit { disjunct, path, leaves } => write!(
                f,
                "disjunct {disjunct}: {path} the leaves {leaves:?} have no split in common, so they cover no region as a tree; {DUMP_ALL}"
            ),
            Self::NodeOrder(node) => {
                write!(f, "node {node} stands before one that it reads; write the nodes in evaluation order")
            }
            Self::NodeSize { dump, size, graph, width } => write!(
                f,
                "node {dump} holds {size} numbers, node {graph} of the graph {width}; use the ONNX file of the run"
            ),
            Self::Norm(norm) => {
                write!(f, "norm is {norm}; only boxes (\"inf\") can be converted: run with `specification.norm: .inf`")
            }
            Self::Onnx(text) => write!(f, "the ONNX file was not imported: {text}"),
            Self::OtherTensors => {
                write!(
                    f,
                    "not the file that manifest.json was written with; copy both files of one dump, or write it again"
                )
            }
            Self::Overlap { disjunct, path, leaves: (a, b) } => {
                write!(f, "disjunct {disjunct}: {path} leaf {a} covers everything, leaf {b} too; {DUMP_ALL}")
            }
            Self::Property(text) => write!(f, "the property was refused: {text}"),
            Self::Region { coordinate, side, dump, property } => write!(
                f,
                "the {side} end of x[{coordinate}] is {dump} in the dump and {property} in the property; use the property of the run"
            ),
            Self::RepeatedLiteral { leaf, literal } => {
                write!(f, "leaf {leaf} decides a neuron twice, the second time by {literal}; {DUMP_ALL}")
            }
            Self::RowsDiffer { start, activations: (a, b) } => write!(
                f,
                "the slopes for bounds of {start} have other rows for {a} than for {b}; write the dump again with equal rows"
            ),
            Self::Sign { leaf, neuron, sign } => {
                write!(f, "leaf {leaf} splits {neuron} with sign {sign}; signs are 1 and -1: write the dump again")
            }
            Self::Slope { tensor, index, value } => {
                write!(
                    f,
                    "slope {value} at place {index} of {tensor} is outside [0, 1]; write the dump again with clipped slopes"
                )
            }
            Self::TensorShape { name, found, wanted } => {
                write!(f, "tensor {name} has shape {found:?}, not {wanted}; write the dump again")
            }
            Self::TensorType { name, found, wanted } => {
                write!(f, "tensor {name} is of type {found}, not {wanted}; write the dump again")
            }
            Self::TensorIndex { name, index, value, width } => write!(
                f,
                "index {value} at place {index} of tensor {name} stands twice or is not in 0 .. {width}; write the dump again"
            ),
            Self::Tensors(text) => write!(f, "no safetensors file, or cut off: {text}; write the dump again"),
            Self::Threshold { leaf, neuron, threshold } => {
                write!(f, "leaf {leaf} splits {neuron} at {threshold}; points are finite: write the dump again")
            }
            Self::ThresholdMoved { disjunct, path, leaves } => {
                let [(a, first), (b, second)] = &**leaves;
                write!(
                    f,
                    "disjunct {disjunct}: {path} leaf {a} has {first} but leaf {b} has {second}; siblings share one threshold: write the dump again"
                )
            }
            Self::UnknownNode { place, name } => {
                write!(f, "{place} names {name:?}, which is no node that it could mean; write the dump again")
            }
            Self::UnsupportedDisjunct { disjunct, rows } => write!(
                f,
                "disjunct {disjunct} ({rows}) needs a row on outputs and no row on inputs and outputs together; a dump cannot speak of it"
            ),
        }
    }
}

impl std::error::Error for ConvertError {}
