//! A program in flat buffers: all values of a run lie in one arena, every step knows its place there, and coefficients are rounded once.

use crate::backend::Failure;
use crate::number::Number;
use certkern_core::affine::{Affine, Kind, LinearMap};
use certkern_core::func::Function;
use certkern_core::num::Matrix;
use certkern_core::program::{Groups, NodeId, Primitive, Program};
use num_bigint::BigInt;
use std::ops::Range;

/// The coordinate that stands for none.
pub const NONE: u32 = u32::MAX;

/// A program in numbers of one format.
#[derive(Clone, Debug)]
pub struct Layout<T> {
    /// One for each node of the program, in order.
    pub steps: Vec<Step<T>>,
    /// The input's place.
    pub input: Range<usize>,
    /// The places of the outputs, in order.
    pub outputs: Vec<Range<usize>>,
    /// The length of the arena.
    pub size: usize,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Step<T> {
    /// Its place in the arena.
    pub place: Range<usize>,
    /// What it does.
    pub operation: Operation<T>,
}

/// What a step does. Sources are places of earlier steps.
#[derive(Clone, Debug)]
pub enum Operation<T> {
    /// The input.
    Input,
    /// The sum of the images and of the bias.
    Affine {
        /// Linear maps of earlier values.
        terms: Vec<Term<T>>,
        /// The constant.
        bias: Option<Vec<T>>,
    },
    /// A function of each coordinate.
    Univariate {
        /// Its name in the kernel's library; `relu` for `max(x, 0)`.
        name: &'static str,
        /// Its parameters.
        parameters: Vec<T>,
        /// What it is applied to.
        source: Range<usize>,
    },
    /// The product, coordinate by coordinate.
    Product {
        /// One factor.
        left: Range<usize>,
        /// The other.
        right: Range<usize>,
    },
    /// For each group the greatest member.
    Max {
        /// What the members are coordinates of.
        source: Range<usize>,
        /// Where each group ends among the members.
        ends: Vec<u32>,
        /// The coordinates.
        members: Vec<u32>,
    },
}

/// A linear map of an earlier value.
#[derive(Clone, Debug)]
pub struct Term<T> {
    /// The value.
    pub source: Range<usize>,
    /// The map.
    pub map: Map<T>,
}

/// A linear map.
#[derive(Clone, Debug)]
pub enum Map<T> {
    /// `factor · x`.
    Multiple(T),
    /// `factors[i] · x[i]`.
    Diagonal(Vec<T>),
    /// `factor · x[sources[i]]`, zero at [`NONE`].
    Select {
        /// The coordinates.
        sources: Vec<u32>,
        /// The factor.
        factor: T,
    },
    /// Copies of a matrix side by side, each for the next `columns` coordinates.
    Dense {
        /// The length of a row.
        columns: usize,
        /// Row-major.
        weights: Vec<T>,
    },
    /// A convolution, spatial axes taken together.
    Convolution {
        /// Channels of the input.
        in_channels: usize,
        /// Channels of the output.
        out_channels: usize,
        /// Places of the input.
        inputs: usize,
        /// Places of the output.
        outputs: usize,
        /// Places of the kernel.
        kernel: usize,
        /// For each output place and kernel place the input place, [`NONE`] in the padding.
        taps: Vec<u32>,
        /// `[out_channels, in_channels, kernel]`.
        weights: Vec<T>,
    },
}

impl<T: Number> Layout<T> {
    /// The layout of a program.
    ///
    /// # Errors
    /// [`Failure::Range`] if a coefficient is beyond the format, [`Failure::Size`] if a coordinate does not fit 32 bits.
    pub fn new(program: &Program) -> Result<Self, Failure> {
        let mut places: Vec<Range<usize>> = Vec::with_capacity(program.nodes().len());
        let mut steps = Vec::with_capacity(program.nodes().len());
        let mut size = 0_usize;
        for node in program.nodes() {
            let at = |id: NodeId| places.get(id).cloned().ok_or(Failure::Program);
            let operation = match &node.primitive {
                Primitive::Input => Operation::Input,
                Primitive::Affine(affine) => {
                    let denominator = affine.denominator();
                    let term = |term: &certkern_core::affine::Term| {
                        Ok(Term { source: at(term.parent)?, map: map(&term.map, denominator)? })
                    };
                    let terms = affine.terms().iter().map(term).collect::<Result<_, Failure>>()?;
                    Operation::Affine { terms, bias: bias(affine)? }
                }
                Primitive::Univariate { function, argument } => {
                    let (name, parameters): (_, &[_]) = match function {
                        Function::Relu => ("relu", &[]),
                        Function::Library(function) => (function.name(), function.parameters()),
                    };
                    let parameters = parameters.iter().map(|p| T::nearest(p).ok_or(Failure::Range));
                    Operation::Univariate {
                        name,
                        parameters: parameters.collect::<Result<_, _>>()?,
                        source: at(*argument)?,
                    }
                }
                Primitive::Product { left, right } => Operation::Product { left: at(*left)?, right: at(*right)? },
                Primitive::Max { argument, groups } => max(at(*argument)?, groups)?,
            };
            let end = size.checked_add(node.width).ok_or(Failure::Size)?;
            let place = size..end;
            size = end;
            places.push(place.clone());
            steps.push(Step { place, operation });
        }
        let at = |id: NodeId| places.get(id).cloned().ok_or(Failure::Program);
        let outputs = program.outputs().iter().map(|id| at(*id)).collect::<Result<_, _>>()?;
        Ok(Self { steps, input: at(program.input())?, outputs, size })
    }
}

fn short(index: usize) -> Result<u32, Failure> {
    u32::try_from(index).ok().filter(|index| *index != NONE).ok_or(Failure::Size)
}

fn places(sources: &[Option<usize>]) -> Result<Vec<u32>, Failure> {
    sources.iter().map(|source| source.map_or(Ok(NONE), short)).collect()
}

fn bias<T: Number>(affine: &Affine) -> Result<Option<Vec<T>>, Failure> {
    let Some(bias) = affine.bias() else { return Ok(None) };
    let entry = |i| {
        let value = bias.get(i).ok_or(Failure::Program)?;
        T::quotient(&value, affine.denominator()).ok_or(Failure::Range)
    };
    (0..bias.len()).map(entry).collect::<Result<_, _>>().map(Some)
}

fn max<T>(source: Range<usize>, groups: &Groups) -> Result<Operation<T>, Failure> {
    let (mut ends, mut members) = (Vec::new(), Vec::new());
    for group in groups.iter() {
        for member in group {
            members.push(short(*member)?);
        }
        ends.push(short(members.len())?);
    }
    Ok(Operation::Max { source, ends, members })
}

/// The map over `denominator`.
fn map<T: Number>(map: &LinearMap, denominator: &BigInt) -> Result<Map<T>, Failure> {
    let factor = |factor: &BigInt| {
        T::quotient(&certkern_core::num::Dyadic::new(factor.clone(), 0), denominator).ok_or(Failure::Range)
    };
    Ok(match map.kind() {
        Kind::Multiple { factor: own } => Map::Multiple(factor(own)?),
        Kind::Diagonal { factors } => {
            let factors = factors.iter().map(|own| T::quotient(own, denominator).ok_or(Failure::Range));
            Map::Diagonal(factors.collect::<Result<_, _>>()?)
        }
        Kind::Select { sources, factor: own } => Map::Select { sources: places(sources)?, factor: factor(own)? },
        Kind::Dense { matrix, .. } => Map::Dense { columns: matrix.columns(), weights: weights(matrix, denominator)? },
        Kind::Convolution { geometry, taps, matrix } => {
            let (kernel, inputs, outputs) = geometry.volumes().ok_or(Failure::Size)?;
            Map::Convolution {
                in_channels: geometry.in_channels,
                out_channels: geometry.out_channels,
                inputs,
                outputs,
                kernel,
                taps: places(taps)?,
                weights: weights(matrix, denominator)?,
            }
        }
    })
}

fn weights<T: Number>(matrix: &Matrix, denominator: &BigInt) -> Result<Vec<T>, Failure> {
    let entry = |i| {
        let value = matrix.get(i).ok_or(Failure::Program)?;
        T::quotient(&value, denominator).ok_or(Failure::Range)
    };
    (0..matrix.rows() * matrix.columns()).map(entry).collect()
}
